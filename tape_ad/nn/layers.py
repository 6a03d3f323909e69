"""Dense layers, embeddings, dropout, and layers composed of layers."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from attrs import field, frozen

from tape_ad.errors import ShapeError
from tape_ad.extend.arrays import Array, as_array, as_constant, item, primal
from tape_ad.nn.calls import Params, Rng, layer_call, of_two
from tape_ad.nn.initializers import normal, uniform
from tape_ad.nn.stores import (
    Layer,
    Parameter,
    Shape,
    as_dtype,
    as_input,
    as_length,
    check_probability,
    check_step,
    drawn_alike,
    floating,
    named,
    positive,
    probability,
)
from tape_ad.rules.nn.activations import inexact
from tape_ad.rules.nn.affine import linear

__all__ = [
    "Dropout",
    "Embedding",
    "Flatten",
    "Linear",
    "Residual",
    "Sequential",
    "dropout",
    "embedding",
]

FLOAT64 = np.dtype(np.float64)


@frozen
class Linear(Layer):
    """The affine layer ``x @ weight + bias``: a name and two lengths, and no data.

    Its parameters live in a store, a dict from names to arrays, as ``"{name}.weight"`` of shape
    (in_features, out_features) and ``"{name}.bias"`` of shape (out_features,).

    Parameters
    ----------
    name : str
        What the names of its parameters begin with.
    in_features, out_features : int
        The length of the last axis of the input and of the output.
    bias : bool
        Whether it has a bias.
    dtype : floating dtype
        In which `init` makes the parameters.

    Notes
    -----
    Weights and biases are drawn from U(-1/sqrt(in_features), 1/sqrt(in_features)). It is what
    PyTorch's ``Linear.reset_parameters`` does (``torch/nn/modules/linear.py``): the uniform
    initialisation of He, Zhang, Ren & Sun, https://arxiv.org/abs/1502.01852, with a = sqrt(5).

    Examples
    --------
    >>> import tape_ad as ta
    >>> layer = ta.nn.Linear("hidden", 3, 2)
    >>> params = {}
    >>> layer.init(params, np.random.default_rng(0))
    >>> {name: array.shape for name, array in params.items()}
    {'hidden.weight': (3, 2), 'hidden.bias': (2,)}
    >>> p = ta.ComputationRecord().bind(params)
    >>> layer(p, np.ones((5, 3))).shape
    (5, 2)
    """

    name: str = field(validator=named)
    in_features: int = field(converter=as_length, validator=positive)
    out_features: int = field(converter=as_length, validator=positive)
    bias: bool = True
    dtype: np.dtype[Any] = field(default=FLOAT64, converter=as_dtype, validator=floating)

    @property
    def own_parameters(self) -> dict[str, Parameter]:
        """The weight, and the bias if there is one."""
        shapes: dict[str, Shape] = {"weight": (self.in_features, self.out_features)}
        if self.bias:
            shapes["bias"] = (self.out_features,)
        return drawn_alike(self, shapes, uniform(1 / math.sqrt(self.in_features)))

    @layer_call
    def __call__(
        self, store: Params, x: Array, *, rng: Rng = None, training: bool = False
    ) -> Array:
        """Compute ``x @ weight + bias`` with the parameters that the store has.

        Parameters
        ----------
        store : dict of str to Tensor, or to array
            What `ComputationRecord.bind` returned, or the plain store for plain NumPy.
        x : array or Tensor, shape (..., in_features)
        rng : numpy.random.Generator, optional
            If the parameters are not in a plain store, initialise them there first, as `init`
            does. What is there is used, be it this layer's or that of another of the same name;
            only `init` can tell that two layers were given one name by accident.
        training : bool
            Of no effect.

        Returns
        -------
        array or Tensor, shape (..., out_features)

        Raises
        ------
        MissingParameterError
            When a parameter is not in the store.
        ShapeError
            When the last axis of `x` has another length than `in_features`.
        StoreMismatchError
            When a parameter has another shape than the layer says.
        """
        given = getattr(x, "shape", None)
        if given is None:
            x = as_input(x)
            given = x.shape
        if given[-1:] != (self.in_features,):
            raise ShapeError(
                f"the layer {self.name!r} takes an input of shape (..., {self.in_features}), got "
                f"one of shape {given}"
            )
        shape = (self.in_features, self.out_features)
        weight = self._read(store, f"{self.name}.weight", shape, rng)
        if not self.bias:
            return x @ weight
        return linear(x, weight, self._read(store, f"{self.name}.bias", shape[1:], rng))


@frozen
class Embedding(Layer):
    """A table of vectors, ``"{name}.weight"``, that are looked up by number.

    Parameters
    ----------
    name : str
        What the name of its parameter begins with.
    num_embeddings, embedding_dim : int
        How many vectors there are, and their length.
    padding_idx : int, optional
        A number whose vector is zeros at first and is not trained: its gradient is zero.
    dtype : floating dtype
        In which `init` makes the parameter, drawn from N(0, 1).

    Examples
    --------
    >>> import tape_ad as ta
    >>> layer = ta.nn.Embedding("words", 10, 3)
    >>> params = ta.nn.init(layer, np.random.default_rng(0))
    >>> layer(params, np.array([[1, 2], [2, 9]])).shape
    (2, 2, 3)
    """

    name: str = field(validator=named)
    num_embeddings: int = field(converter=as_length, validator=positive)
    embedding_dim: int = field(converter=as_length, validator=positive)
    padding_idx: int | None = None
    dtype: np.dtype[Any] = field(default=FLOAT64, converter=as_dtype, validator=floating)

    def __attrs_post_init__(self) -> None:
        check_padding_idx(self.padding_idx, self.num_embeddings)

    @property
    def own_parameters(self) -> dict[str, Parameter]:
        """The parameters of the layer itself: its table of embeddings."""
        shape = (self.num_embeddings, self.embedding_dim)
        return {f"{self.name}.weight": Parameter(shape, self.dtype, self._draw)}

    def _draw(self, rng: np.random.Generator, shape: tuple[int, ...], dtype: Any) -> Array:
        table = normal(1.0)(rng, shape, dtype)
        if self.padding_idx is not None:
            table[self.padding_idx] = 0
        return table

    @layer_call
    def __call__(
        self, store: Params, x: Array, *, rng: Rng = None, training: bool = False
    ) -> Array:
        """Look numbers up: int of any shape -> shape (..., embedding_dim); see `embedding`."""
        shape = (self.num_embeddings, self.embedding_dim)
        weight = self._read(store, f"{self.name}.weight", shape, rng)
        return embedding(x, weight, self.padding_idx)


@of_two
def embedding(input: Array, weight: Array, padding_idx: int | None = None) -> Array:  # noqa: A002 - PyTorch's name
    """Take rows of a matrix by number.

    The gradient with respect to the matrix is worked out for the rows that are used; the others
    are memory full of zeros that nothing is done with.

    Parameters
    ----------
    input : array of int, any shape
        The numbers, from 0.
    weight : array or Tensor, shape (rows, width)
    padding_idx : int, optional
        A number whose row gets no gradient.

    Returns
    -------
    array or Tensor, shape ``(*input.shape, width)``

    Raises
    ------
    IndexError
        When a number, or `padding_idx`, is not one of the rows.
    TypeError
        When the numbers are not integers.

    Examples
    --------
    >>> embedding(np.array([1, 1]), np.array([[1.0, 2.0], [3.0, 4.0]]))
    array([[3., 4.],
           [3., 4.]])
    """
    numbers = as_constant(input)
    if numbers.dtype.kind not in "iu" and numbers.size:
        raise TypeError(f"embedding: the numbers must be integers, got dtype {numbers.dtype}")
    numbers = numbers.astype(np.intp, copy=False)
    rows = weight.shape[0]
    if numbers.size and not 0 <= numbers.min() <= numbers.max() < rows:
        raise IndexError(
            f"embedding: the numbers must lie in 0..{rows - 1}, "
            f"got {numbers.min()}..{numbers.max()}"
        )
    check_padding_idx(padding_idx, rows)
    vectors = item(weight, numbers)
    if padding_idx is None:
        return vectors
    padding = np.equal(numbers, padding_idx % rows)[..., None]
    return np.where(padding, primal(vectors), vectors)


def check_padding_idx(padding_idx: int | None, rows: int) -> None:
    """Check the number of the row that gets no gradient; a negative one counts from the end."""
    if padding_idx is not None and not -rows <= padding_idx < rows:
        raise IndexError(
            f"embedding: padding_idx must lie in {-rows}..{rows - 1}, got {padding_idx}"
        )


@frozen
class Dropout(Layer):
    """Zeros in place of randomly chosen elements while training, and the input itself otherwise.

    Parameters
    ----------
    p : float
        The probability of an element to be left out.

    Examples
    --------
    >>> layer, x = Dropout(0.5), np.ones(8)
    >>> layer({}, x, rng=np.random.default_rng(0), training=True)
    array([2., 2., 2., 0., 0., 0., 0., 0.])
    >>> layer({}, x)
    array([1., 1., 1., 1., 1., 1., 1., 1.])
    """

    p: float = field(default=0.5, validator=probability)

    def __call__(
        self, store: Params, x: Array, *, rng: Rng = None, training: bool = False
    ) -> Array:
        """Apply `dropout`; in training, to what the generator chooses."""
        return dropout(x, self.p, training, rng=rng)


def check_generator(name: str, rng: Any) -> None:
    """Refuse what is no generator of random numbers, even where none is needed.

    Raises
    ------
    TypeError
    """
    if not (rng is None or hasattr(rng, "random")):
        raise TypeError(f"{name}: rng= is a numpy.random.Generator, not {rng!r}")


def dropout(x: Array, p: float = 0.5, training: bool = True, *, rng: Rng = None) -> Array:
    """Put zeros in place of randomly chosen elements, and divide the others by 1 - p.

    Parameters
    ----------
    x : array or Tensor, any shape
    p : float
        The probability of an element to be left out.
    training : bool
        If not, `x` is given back.
    rng : numpy.random.Generator
        What chooses; there is no hidden one.

    Returns
    -------
    array or Tensor, shape of `x`

    Raises
    ------
    TypeError
        When there is no generator to choose.
    ValueError
        When `p` is no probability.

    Notes
    -----
    Srivastava, Hinton, Krizhevsky, Sutskever & Salakhutdinov, "Dropout", 2014.

    Examples
    --------
    >>> dropout(np.ones(4), 0.25, rng=np.random.default_rng(1)).round(2)
    array([1.33, 1.33, 1.33, 1.33])
    """
    check_probability("dropout: p", p)
    check_generator("dropout", rng)
    if not training or p == 0:
        return x
    if rng is None:
        raise TypeError(
            "dropout in training needs a generator to choose with; write layer(store, x, rng=rng, "
            "training=True) or dropout(x, p, rng=rng)"
        )
    x = inexact(as_array(x))
    kept = rng.random(x.shape, np.float32) >= p
    scale = 0.0 if p == 1 else 1 / (1 - p)
    return x * np.where(kept, x.dtype.type(scale), x.dtype.type(0))


@frozen
class Flatten(Layer):
    """All axes from one on made one, as between images and a dense layer.

    Parameters
    ----------
    start_dim : int
        The first of the axes that are merged.

    Examples
    --------
    >>> Flatten()({}, np.zeros((5, 3, 2, 2))).shape
    (5, 12)
    """

    start_dim: int = 1

    def __call__(
        self, store: Params, x: Array, *, rng: Rng = None, training: bool = False
    ) -> Array:
        """Reshape: (n, ...) -> (n, k)."""
        x = as_input(x)
        kept = x.shape[: self.start_dim]
        return np.reshape(x, (*kept, math.prod(x.shape[self.start_dim :])))


Step = Layer | Callable[[Array], Array]


def run(step: Step, store: Params, x: Array, rng: Rng, training: bool) -> Array:
    """Call a layer, or a plain function of its input."""
    if isinstance(step, Layer):
        return step(store, x, rng=rng, training=training)
    return step(x)


@frozen(init=False)
class Sequential(Layer):
    """One layer after another; a function of one array, such as `relu`, counts as a layer.

    Parameters
    ----------
    *layers : Layer, or callable

    Examples
    --------
    >>> import tape_ad as ta
    >>> model = ta.nn.Sequential(
    ...     ta.nn.Linear("encoder.0", 4, 8), ta.nn.relu, ta.nn.Linear("encoder.2", 8, 2)
    ... )
    >>> params = ta.nn.init(model, np.random.default_rng(0))
    >>> list(params)
    ['encoder.0.weight', 'encoder.0.bias', 'encoder.2.weight', 'encoder.2.bias']
    >>> model(params, np.ones((5, 4))).shape
    (5, 2)
    """

    layers: tuple[Step, ...]

    def __init__(self, *layers: Step) -> None:
        for step in layers:
            check_step("Sequential takes", step)
        self.__attrs_init__(layers)

    @layer_call
    def __call__(
        self, store: Params, x: Array, *, rng: Rng = None, training: bool = False
    ) -> Array:
        """Call each layer with what the one before gives."""
        for step in self.layers:
            x = run(step, store, x, rng, training)
        return x


@frozen
class Residual(Layer):
    """``x + layer(x)``, for a layer that keeps the shape.

    Parameters
    ----------
    layer : Layer, or callable

    Notes
    -----
    He, Zhang, Ren & Sun, "Deep residual learning for image recognition",
    https://arxiv.org/abs/1512.03385.

    Examples
    --------
    >>> Residual(np.tanh)({}, np.zeros(3))
    array([0., 0., 0.])
    """

    layer: Step

    def __attrs_post_init__(self) -> None:
        check_step("Residual takes", self.layer)

    @layer_call
    def __call__(
        self, store: Params, x: Array, *, rng: Rng = None, training: bool = False
    ) -> Array:
        """Add what the layer gives to its input."""
        return x + run(self.layer, store, x, rng, training)
