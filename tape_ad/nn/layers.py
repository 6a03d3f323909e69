"""Layers: what their parameters are called and which shapes they have. The data is in a store."""

import math
import operator
from collections.abc import Mapping, MutableMapping
from typing import Any, cast

import numpy as np
import numpy.typing as npt
from attrs import Attribute, field, frozen

from tape_ad.errors import MissingParameterError, ShapeError, StoreMismatchError
from tape_ad.linear_maps import Array
from tape_ad.tensor import Tensor

__all__ = ["Linear"]

Shape = tuple[int, ...]


def named(layer: Any, attribute: "Attribute[str]", value: Any) -> None:
    """Check that a name is there to tell one layer's parameters from another's."""
    if not isinstance(value, str) or not value:
        raise ValueError(f"Linear: the name must be a string that is not empty, got {value!r}")


def positive(layer: Any, attribute: "Attribute[int]", value: int) -> None:
    """Check a length of an axis."""
    if value < 1:
        raise ValueError(f"Linear: {attribute.name} must be at least 1, got {value}")


def as_dtype(dtype: npt.DTypeLike) -> np.dtype[Any]:
    """Make a dtype of what NumPy takes for one."""
    return np.dtype(dtype)


def floating(layer: Any, attribute: "Attribute[Any]", value: np.dtype[Any]) -> None:
    """Check a dtype to draw random numbers in."""
    if value.kind != "f":
        raise ValueError(f"Linear: the dtype must be a real floating one, got {value}")


@frozen
class Linear:
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
    in_features: int = field(converter=operator.index, validator=positive)
    out_features: int = field(converter=operator.index, validator=positive)
    bias: bool = True
    dtype: np.dtype[Any] = field(
        default=np.dtype(np.float64), converter=as_dtype, validator=floating
    )

    @property
    def shapes(self) -> dict[str, Shape]:
        """The shape of each parameter, by the parameter's name."""
        shapes: dict[str, Shape] = {f"{self.name}.weight": (self.in_features, self.out_features)}
        if self.bias:
            shapes[f"{self.name}.bias"] = (self.out_features,)
        return shapes

    def init(
        self, store: MutableMapping[str, Any], rng: np.random.Generator, *, keep: bool = False
    ) -> None:
        """Put freshly drawn parameters into a store.

        Parameters
        ----------
        store : dict of str to array
            The plain store, not what `ComputationRecord.bind` makes of it.
        rng : numpy.random.Generator
        keep : bool
            Keep the parameters that are there already, loaded from a file for example, and make
            only those that are absent.

        Raises
        ------
        StoreMismatchError
            When a parameter is there already and is not to be kept, when one that is to be kept
            has another shape, or when the store holds handles. Nothing is changed then.

        Notes
        -----
        Weights and biases are drawn from U(-1/sqrt(in_features), 1/sqrt(in_features)). It is what
        PyTorch's ``Linear.reset_parameters`` does (``torch/nn/modules/linear.py``): the uniform
        initialisation of He, Zhang, Ren & Sun, https://arxiv.org/abs/1502.01852, with a = sqrt(5).
        """
        if holds_handles(store):
            raise StoreMismatchError(
                f"the layer {self.name!r} cannot initialise a bound store, for its handles belong "
                "to a record; write layer.init(params, rng) on the plain store, before rec.bind"
            )
        there = [name for name in self.shapes if name in store]
        if there and not keep:
            raise StoreMismatchError(
                f"the store has a parameter {there[0]!r} already; give the layer a name that no "
                "other layer has, or write layer.init(store, rng, keep=True) to keep what is there"
            )
        for name in there:
            check_shape(name, store[name], self.shapes[name])
        bound = 1 / math.sqrt(self.in_features)
        absent = {
            name: rng.uniform(-bound, bound, shape).astype(self.dtype)
            for name, shape in self.shapes.items()
            if name not in store
        }
        store.update(absent)

    def __call__(
        self, store: Mapping[str, Any], x: Array, *, rng: np.random.Generator | None = None
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
        x = x if hasattr(x, "shape") else np.asarray(x)
        if x.shape[-1:] != (self.in_features,):
            raise ShapeError(
                f"the layer {self.name!r} takes an input of shape (..., {self.in_features}), got "
                f"one of shape {x.shape}"
            )
        weight, bias = f"{self.name}.weight", f"{self.name}.bias"
        if rng is not None and weight not in store and not holds_handles(store):
            self.init(cast("MutableMapping[str, Any]", store), rng)
        out = x @ self._read(store, weight, (self.in_features, self.out_features))
        return out + self._read(store, bias, (self.out_features,)) if self.bias else out

    def _read(self, store: Mapping[str, Any], name: str, shape: Shape) -> Array:
        value = store.get(name)
        if value is None:
            raise MissingParameterError(
                f"the layer {self.name!r} needs the parameter {name!r} of shape {shape}, which is "
                "not in the store; write layer.init(params, rng) on the plain store, before "
                "rec.bind(params)"
            )
        check_shape(name, value, shape)
        return value


def holds_handles(store: Mapping[str, Any]) -> bool:
    """Tell a bound store from a plain one."""
    return any(type(value) is Tensor for value in store.values())


def check_shape(name: str, value: Any, shape: Shape) -> None:
    """Check that a parameter has the shape that its layer gives it."""
    actual = value.shape if hasattr(value, "shape") else np.shape(value)
    if actual != shape:
        raise StoreMismatchError(
            f"the parameter {name!r} has shape {actual} in the store, but its layer says {shape}; "
            "make the layer with the lengths that the store was made with"
        )
