"""The store that parameters live in, and what a layer says about it.

A store is any mutable mapping from names to arrays, a dict for example. Names are paths, such as
``"encoder.0.weight"``. A layer holds configuration and no data: it knows the names of its
parameters, their shapes, and how they are drawn.
"""

import operator
from collections.abc import Iterator, Mapping, MutableMapping
from numbers import Real
from types import FunctionType
from typing import Any, NoReturn, Self, SupportsIndex, TypeVar, cast, overload

import attrs
import numpy as np
import numpy.typing as npt
from attrs import Attribute, frozen

from tape_ad import Tensor
from tape_ad.errors import MissingParameterError, StoreMismatchError
from tape_ad.extend.arrays import Array, as_array, primal
from tape_ad.extend.packages import MissingArgument, may_be_missing, with_hints
from tape_ad.nn.calls import Params, Rng
from tape_ad.nn.initializers import Initializer, Plain
from tape_ad.record.inspection.pages.figures import Summary

__all__ = ["Layer", "Parameter", "init", "partition", "summary"]


def check_generator(rng: Any) -> None:
    """Check what parameters are drawn with."""
    if not isinstance(rng, (np.random.Generator, np.random.RandomState)):
        raise TypeError(
            "parameters are drawn with a generator, such as rng = np.random.default_rng(0), got "
            f"{rng!r}"
        )


def check_step(takes: str, step: Any) -> None:
    """Check that something is a layer, or a function that counts as one."""
    if isinstance(step, type):
        raise TypeError(f"{takes} layers, got the class {step.__name__}; make one of it")
    if isinstance(step, (list, tuple)):
        raise TypeError(f"{takes} layers one by one, not a list of them; write Sequential(*layers)")
    if not callable(step):
        raise TypeError(f"{takes} layers, and functions of one array, got {step!r}")


def as_input(x: Any) -> Array:
    """Make an array of a layer's input, and refuse a store in its place."""
    if isinstance(x, Mapping):
        raise TypeError(ORDER)
    return as_array(x)


def named(layer: Any, attribute: "Attribute[str]", value: Any) -> None:
    """Check that a name is there to tell one layer's parameters from another's."""
    if not isinstance(value, str) or not value:
        raise ValueError(
            f"{type(layer).__name__}: the name must be a string that is not empty, got {value!r}"
        )


def positive(layer: Any, attribute: "Attribute[int]", value: int) -> None:
    """Check a length of an axis."""
    if value < 1:
        raise ValueError(
            f"{type(layer).__name__}: {attribute.name} must be at least 1, got {value}"
        )


def as_length(value: SupportsIndex) -> int:
    """Make a Python number of one that counts something."""
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(
            f"the lengths, steps and numbers of a layer are whole numbers, got {value!r}"
        ) from None


def as_dtype(dtype: npt.DTypeLike) -> np.dtype[Any]:
    """Make a dtype of what NumPy takes for one."""
    return np.dtype(dtype)


def floating(layer: Any, attribute: "Attribute[Any]", value: np.dtype[Any]) -> None:
    """Check a dtype to draw random numbers in."""
    if value.kind != "f":
        raise ValueError(
            f"{type(layer).__name__}: the dtype must be a real floating one, got {value}"
        )


def probability(layer: Any, attribute: "Attribute[float]", value: float) -> None:
    """Check that an attribute of a layer is a probability."""
    check_probability(f"{type(layer).__name__}: {attribute.name}", value)


def check_probability(what: str, value: float) -> None:
    """Check that a number is a probability."""
    if not is_number(value) or not 0 <= value <= 1:
        raise ValueError(f"{what} must lie in [0, 1], got {value!r}")


def is_number(value: Any) -> bool:
    """Tell whether something is a number, or an array or a handle of some."""
    return isinstance(value, Real) or hasattr(value, "dtype")


def check_eps(name: str, eps: float) -> None:
    """Check what is added to a variance: below 0, it would make a root of a negative number."""
    if not is_number(eps) or not eps >= 0:
        raise ValueError(f"{name}: eps must be a number of at least 0, got {eps!r}")


def not_negative(layer: Any, attribute: "Attribute[float]", value: float) -> None:
    """Check that the epsilon of a layer is not negative."""
    check_eps(type(layer).__name__, value)


Shape = tuple[int, ...]
Store = MutableMapping[str, Any]
Given = TypeVar("Given", bound=Store)


ORDER = (
    "a layer is called with its parameters before its input: layer(p, x), where p is "
    "rec.bind(params), or params itself for plain NumPy"
)
NO_INPUT = MissingArgument(ORDER)
WITH_STATISTICS = "params | statistics, the two parts that nn.partition(layer, store) gives"
"""What a store is to be where running statistics are missing."""


@frozen
class Parameter:
    """What is known of a parameter before there is one.

    Attributes
    ----------
    shape : tuple of int
    dtype : numpy.dtype
    initializer : callable
        ``initializer(rng, shape, dtype)`` makes it.
    trained : bool
        Whether it is trained; running statistics are not.
    """

    shape: Shape
    dtype: np.dtype[Any]
    initializer: Initializer
    trained: bool = True

    def __attrs_post_init__(self) -> None:
        if self.initializer is None:
            raise TypeError(
                "Parameter(shape, dtype, initializer) says what a layer's parameter is like; a "
                "parameter itself is a plain array, in a dict that rec.bind(params) takes"
            )


may_be_missing(Parameter.__init__, None, None)


def drawn_alike(layer: Any, shapes: Mapping[str, Shape], draw: Initializer) -> dict[str, Parameter]:
    """Describe parameters of a layer that are drawn alike, by the ends of their names."""
    dtype = layer.dtype
    return {f"{layer.name}.{end}": Parameter(shapes[end], dtype, draw) for end in shapes}


class ParametersOfLayers(dict[str, Parameter]):
    """Parameters by name, which are read as ``layer.parameters``; calling them says so."""

    def __call__(self) -> NoReturn:
        """Say that this is no method."""
        raise TypeError(
            "layer.parameters is a dict of what its parameters are like, and not called; the "
            "arrays live in a dict of yours: params = ta.nn.init(layer, rng), which "
            "optimizer.step(params, gradients) is given"
        )


class Moved(dict[str, Any]):
    """A copy of a store, in which statistics are replaced, and not written to."""


@with_hints
class Layer:
    """A function of a store and an input, that holds configuration and no data.

    A layer of your own is an attrs class that inherits from this one. Its attributes may be layers,
    or tuples, lists and dicts of layers: their parameters are its own as well. It is called as
    ``layer(store, x, rng=None, training=False)`` and passes the last two on.

    Examples
    --------
    >>> import tape_ad as ta
    >>> @frozen
    ... class Classifier(ta.nn.Layer):
    ...     hidden: ta.nn.Linear
    ...     output: ta.nn.Linear
    ...
    ...     def __call__(self, store, x, *, rng=None, training=False):
    ...         return self.output(store, np.tanh(self.hidden(store, x)))
    >>> model = Classifier(ta.nn.Linear("hidden", 3, 4), ta.nn.Linear("output", 4, 2))
    >>> model.shapes
    {'hidden.weight': (3, 4), 'hidden.bias': (4,), 'output.weight': (4, 2), 'output.bias': (2,)}
    """

    __slots__ = ()

    def __init_subclass__(cls) -> None:
        """Let a call without an input say how a layer is called."""
        call: Any = vars(cls).get("__call__")
        options = len(getattr(call, "__defaults__", None) or ())
        if isinstance(call, FunctionType) and call.__code__.co_argcount == 3 + options:
            may_be_missing(call, NO_INPUT)

    def __new__(cls, *args: Any, **_: Any) -> Self:
        """Refuse lengths in the place of the name, which PyTorch's layers do not have."""
        fields = [each.name for each in getattr(cls, "__attrs_attrs__", ())]
        if fields[:1] == ["name"] and args and not isinstance(args[0], str):
            sizes = ", ".join(map(repr, args))
            raise TypeError(
                f"{cls.__name__} takes the name that its parameters have in the store before the "
                f"rest; write {cls.__name__}('hidden', {sizes})"
            )
        return super().__new__(cls)

    def __call__(
        self, store: Params, x: Array, /, *, rng: Rng = None, training: bool = False
    ) -> Array:
        """Apply the layer to an input, with the parameters in a store.

        Parameters
        ----------
        store : dict of str to Tensor, or to array
            What `ComputationRecord.bind` returned, or the plain store for plain NumPy.
        x : array or Tensor
        rng : numpy.random.Generator, optional
            For all that the layer draws: what `Dropout` leaves out while training, and parameters
            that are not in a plain store yet.
        training : bool
            Whether `Dropout` and `BatchNorm1d` behave as they do in training.

        Returns
        -------
        array or Tensor
        """
        raise NotImplementedError

    def apply(
        self, store: Params, x: Array, /, *, rng: Rng = None, training: bool = False
    ) -> tuple[Any, dict[str, Any]]:
        """Apply the layer as a pure function, which gives the statistics that it would move.

        So a whole step of training is a function, which can be compiled.

        Parameters
        ----------
        store : dict of str to Tensor, or to array
            What `ComputationRecord.bind` returned, or the plain store. It is left as it is.
        x : array or Tensor
        rng : numpy.random.Generator, optional
            For what `Dropout` leaves out while training.
        training : bool
            Whether `Dropout` and `BatchNorm1d` behave as they do in training.

        Returns
        -------
        y : array or Tensor
        statistics : dict of str to array
            What of the store is not trained, such as the running statistics of `BatchNorm1d`, as
            it is after the call.

        Raises
        ------
        MissingParameterError
            When a parameter is not in the store.

        Examples
        --------
        >>> import tape_ad as ta
        >>> layer = ta.nn.BatchNorm1d("norm", 2)
        >>> store = ta.nn.init(layer, np.random.default_rng(0))
        >>> x = np.array([[1.0, 2.0], [3.0, 6.0]])
        >>> y, statistics = layer.apply(store, x, training=True)
        >>> statistics["norm.running_mean"], store["norm.running_mean"]
        (array([0.2, 0.4]), array([0., 0.]))
        """
        own = Moved(store)
        y = self(own, x, rng=rng, training=training)
        if len(own) > len(store):
            raise MissingParameterError(
                f"the layer {self._called} needs {sorted(own.keys() - store.keys())}, which apply "
                "does not put into the store; write layer.init(params, rng) before"
            )
        kept = {name for name, each in self.parameters.items() if not each.trained}
        return y, {
            name: primal(value) if type(value) is Tensor else value
            for name, value in own.items()
            if name in kept
        }

    @property
    def parameters(self) -> dict[str, Parameter]:
        """The parameters of the layer and of the layers in it, by name.

        Raises
        ------
        StoreMismatchError
            When two layers give one name to their parameters. One layer may be used twice.
        """
        found = ParametersOfLayers()
        for layer in distinct(self):
            for name, parameter in layer.own_parameters.items():
                if name in found:
                    raise StoreMismatchError(
                        f"two layers have a parameter {name!r}; give each a name of its own, or "
                        "use one layer twice if they are to share it"
                    )
                found[name] = parameter
        return found

    @property
    def own_parameters(self) -> dict[str, Parameter]:
        """The parameters of the layer itself, by name."""
        return {}

    @property
    def shapes(self) -> dict[str, Shape]:
        """The shape of each parameter, by the parameter's name."""
        return {name: parameter.shape for name, parameter in self.parameters.items()}

    def init(self, store: Store, rng: np.random.Generator, *, keep: bool = False) -> None:
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
        TypeError
            When `rng` is no generator.
        """
        check_generator(rng)
        parameters = self.parameters
        if holds_handles(store):
            raise StoreMismatchError(
                f"the layer {self._called} cannot initialise a bound store, for its handles belong "
                "to a record; write layer.init(params, rng) on the plain store, before rec.bind"
            )
        there = [name for name in parameters if name in store]
        if there and not keep:
            raise StoreMismatchError(
                f"the store has a parameter {there[0]!r} already; give the layer a name that no "
                "other layer has, or write layer.init(store, rng, keep=True) to keep what is there"
            )
        for name in there:
            check_shape(name, store[name], parameters[name].shape)
        absent = {
            name: each.initializer(rng, each.shape, each.dtype)
            for name, each in parameters.items()
            if name not in store
        }
        store.update(absent)

    def _read(self, store: Params, name: str, shape: Shape, rng: Rng) -> Array:
        """Look a parameter up, drawing all of the layer's if none is in a plain store yet."""
        try:
            value = store.get(name)
        except AttributeError:
            got = f"the layer {self._called} got a store that is a {type(store).__name__}"
            raise TypeError(f"{got}; {ORDER}") from None
        if value is None:
            own = self.own_parameters
            if rng is not None and name == next(iter(own)) and not holds_handles(store):
                self.init(cast("Store", store), rng)
                return store[name]
            remedy = "layer.init(params, rng) on the plain store, before rec.bind(params)"
            raise MissingParameterError(
                f"the layer {self._called} needs the parameter {name!r} of shape {shape}, which is "
                f"not in the store; write {remedy if own[name].trained else WITH_STATISTICS}"
            )
        if getattr(value, "shape", None) != shape:
            check_shape(name, value, shape)
        return value

    @property
    def _called(self) -> str:
        return repr(getattr(self, "name", type(self).__name__))


@overload
def init(
    layer: Any, rng: np.random.Generator, store: None = None, *, keep: bool = False
) -> dict[str, Plain]: ...
@overload
def init(layer: Any, rng: np.random.Generator, store: Given, *, keep: bool = False) -> Given: ...
def init(
    layer: Any, rng: np.random.Generator, store: Store | None = None, *, keep: bool = False
) -> Any:
    """Make the parameters of a layer, or of a list or dict of layers.

    Parameters
    ----------
    layer : Layer, or a list, tuple or dict of layers
    rng : numpy.random.Generator
    store : dict of str to array, optional
        Where to put them; a new dict when left out.
    keep : bool
        Keep those that are there already, and make only those that are absent.

    Returns
    -------
    dict of str to array
        The store, running statistics included; `partition` takes them apart.

    Raises
    ------
    StoreMismatchError
        When a parameter is there already, or two layers have one name. Nothing is changed then.
    TypeError
        When there are other things than layers and functions in the structure, or `rng` is no
        generator.

    Examples
    --------
    >>> import tape_ad as ta
    >>> layers = [ta.nn.Linear("encoder.0", 3, 2), ta.nn.Linear("encoder.1", 2, 1, bias=False)]
    >>> list(init(layers, np.random.default_rng(0)))
    ['encoder.0.weight', 'encoder.0.bias', 'encoder.1.weight']
    """
    into: Store = {} if store is None else store
    Together(layer).init(into, rng, keep=keep)
    return into


may_be_missing(init, None)


def partition(layer: Any, store: Params) -> tuple[dict[str, Any], dict[str, Any]]:
    """Take what is trained apart from running statistics.

    Both parts hold the store's own arrays, so what updates a part updates the store.

    Parameters
    ----------
    layer : Layer, or a list, tuple or dict of layers
    store : dict of str to array

    Returns
    -------
    tuple of two dicts of str to array
        What is to be bound to a record and trained, and what layers update on their own.

    Raises
    ------
    MissingParameterError
        When a parameter is not in the store.

    Examples
    --------
    >>> import tape_ad as ta
    >>> norm = ta.nn.BatchNorm1d("norm", 2)
    >>> params, statistics = partition(norm, init(norm, np.random.default_rng(0)))
    >>> list(params), list(statistics)
    (['norm.weight', 'norm.bias'],
     ['norm.running_mean', 'norm.running_var', 'norm.num_batches_tracked'])
    >>> p = ta.ComputationRecord().bind(params)
    >>> norm(p | statistics, np.array([[1.0, 2.0], [3.0, 2.0]]), training=True).data.round(2)
    array([[-1.,  0.],
           [ 1.,  0.]])
    """
    parts: tuple[dict[str, Any], dict[str, Any]] = ({}, {})
    for name, parameter, value in stored(layer, store):
        parts[not parameter.trained][name] = value
    return parts


def summary(layer: Any, params: Mapping[str, Any]) -> Summary:
    """Describe a layer's parameters: name, shape, dtype, number of elements and range of values.

    Parameters
    ----------
    layer : Layer, or a list, tuple or dict of layers
    params : dict of str to array
        The store, plain or bound. `tape_ad.parameters.summary` describes one without its layer.

    Returns
    -------
    Summary
        It shows as a table where it is the last line of a cell or of an interactive session;
        elsewhere, print it.

    Raises
    ------
    MissingParameterError
        When a parameter is not in the store.

    Examples
    --------
    >>> import tape_ad as ta
    >>> norm = ta.nn.BatchNorm1d("norm", 2)
    >>> summary(norm, init(norm, np.random.default_rng(0)))
    name                       shape   dtype     count   values
    ───────────────────────────────────────────────────────────
    norm.weight                (2,)    float64       2   1
    norm.bias                  (2,)    float64       2   0
    norm.running_mean          (2,)    float64       2   0
    norm.running_var           (2,)    float64       2   1
    norm.num_batches_tracked   ()      int64         1   0
    ───────────────────────────────────────────────────────────
    trained                                          4
    """
    found = list(stored(layer, params))
    trained = sum(value.size for _, parameter, value in found if parameter.trained)
    return Summary.of([(name, primal(value)) for name, _, value in found], "trained", trained)


@frozen
class Together(Layer):
    """Any structure of layers, as one."""

    layers: Any

    def __attrs_post_init__(self) -> None:
        waiting = [self.layers]
        while waiting:
            at = waiting.pop()
            if isinstance(at, CONTAINERS):
                waiting.extend(members(at))
            elif at is not None or self.layers is None:
                check_step("nn.init, partition and summary take", at)


def distinct(root: Any) -> Iterator[Layer]:
    """Yield a layer and all layers among its attributes, each object once."""
    seen: set[int] = set()
    waiting = [root]
    while waiting:
        at = waiting.pop()
        if isinstance(at, Layer):
            if id(at) in seen:
                continue
            seen.add(id(at))
            yield at
            kind: Any = type(at)
            inside = [getattr(at, each.name) for each in attrs.fields(kind)]
        else:
            inside = members(at)
        waiting.extend(reversed(inside))


CONTAINERS = (Mapping, list, tuple)


def members(structure: Any) -> list[Any]:
    """List what a structure of layers holds; nothing for what is none."""
    if isinstance(structure, Mapping):
        return list(structure.values())
    return list(structure) if isinstance(structure, CONTAINERS) else []


def stored(layer: Any, store: Params) -> Iterator[tuple[str, Parameter, Any]]:
    """Yield the name, the description and the array of each parameter of a layer."""
    for name, parameter in Together(layer).parameters.items():
        if name not in store:
            remedy = "nn.init(layer, rng) for a new one, or nn.init(layer, rng, store) to fill it"
            raise MissingParameterError(
                f"the parameter {name!r} of shape {parameter.shape} is not in the store; write "
                f"{remedy if parameter.trained else WITH_STATISTICS}"
            )
        check_shape(name, store[name], parameter.shape)
        yield name, parameter, store[name]


def holds_handles(store: Params) -> bool:
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
