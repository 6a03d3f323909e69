"""Functions of our own that answer NEP 18, as NumPy's functions do."""

import functools
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Concatenate, NoReturn, ParamSpec, Protocol, TypeVar, cast

import numpy as np
from attrs import define, evolve

from tape_ad.base.arrays.adapters import adapter, operand_of

PLAIN = frozenset({np.ndarray, np.float64, float, int, bool, str, type(None)})
"""Types that take nothing over, known without a look."""

TRACERS: set[type] = set()
"""Types of arrays that note every call made with them; `tape_ad.programs` adds its own."""

SYMBOLS: set[type] = set()
"""Types of arrays of which only shape and dtype are known, with which a compiler looks into a
function; `tape_ad.programs` adds its own. No derivative is taken through them."""


@define(eq=False)
class Active:
    """What is going on in a thread or task, that what is called there has to know.

    Attributes
    ----------
    capture : Capture or None
        What notes the calls of the function that is compiled; see `tape_ad.programs`.
    record : ComputationRecord or None
        The record that the function of the innermost transform is traced in.
    wishes : Wishes or None
        What fresh records are asked to see to; see `tape_ad.record.inspection.observing`.
    batches : tuple of Batch
        Those that functions are being run over.
    """

    capture: Any = None
    record: Any = None
    wishes: Any = None
    batches: tuple[Any, ...] = ()


NOBODY = Active()
ACTIVE: ContextVar[Active] = ContextVar("tape_ad_active", default=NOBODY)
"""The interpreters that are active here. What puts itself there puts back what it has found."""

F = TypeVar("F", bound=Callable[..., Any])
Operand = TypeVar("Operand")
Options = ParamSpec("Options")


class SameKind(Protocol[Options]):
    """A function that makes a handle of a handle, and an array of an array."""

    __name__: str

    def __call__(self, x: Operand, /, *args: Options.args, **kwargs: Options.kwargs) -> Operand:
        """Compute it."""
        ...


def same_kind(function: Callable[Concatenate[Any, Options], Any]) -> SameKind[Options]:
    """Say to checkers that a function makes handles of handles; at run time it stays as it is."""
    same: SameKind[Options] = function
    return same


def overridable(function: F, *, prepare: Callable[..., Any] | None = None) -> F:
    """Let a function of arrays be taken over by the array types that it is called with.

    Called with plain arrays, `function` simply runs. When an argument speaks NEP 18 (a handle
    does), that argument's ``__array_function__`` gets the call, so a function of our own is
    recorded, looked up in the rule tables and differentiated exactly like one of NumPy's.

    Parameters
    ----------
    function : callable
        A function of arrays, written for plain ones.
    prepare : callable, optional
        ``prepare(args, kwargs)`` gives what the function, or an argument of it, is to be called
        with instead.

    Returns
    -------
    callable
        The function to publish, and to use as a key in a rule table.

    Notes
    -----
    The protocol is NEP 18, https://numpy.org/neps/nep-0018-array-function-protocol.html.

    Examples
    --------
    >>> @overridable
    ... def logistic(x):
    ...     return 1 / (1 + np.exp(-x))
    >>> logistic(0.0)
    np.float64(0.5)
    """
    signature = inspect.signature(function)
    if prepare is not None and not callable(prepare):
        raise TypeError(f"prepare= is a function of args and kwargs, not {prepare!r}")

    @functools.wraps(function)
    def public(*args: Any, **kwargs: Any) -> Any:
        if prepare is not None:
            args, kwargs = prepare(args, kwargs)
        found = None
        several = False
        for argument in args:
            kind = type(argument)
            if kind not in PLAIN and kind is not found and takes_over(kind):
                several = found is not None
                found, first = kind, argument
        for argument in kwargs.values():
            kind = type(argument)
            if kind not in PLAIN and kind is not found and takes_over(kind):
                several = True
        if several:
            if kwargs:
                bound = signature.bind(*args, **kwargs)  # rules take their operands by position
                args, kwargs = bound.args, bound.kwargs
            return first_answer(public, args, kwargs)
        if found is None:
            return function(*args, **kwargs)
        out = first.__array_function__(public, (found,), args, kwargs)
        return declined(public, (found,)) if out is NotImplemented else out

    public._implementation = function  # type: ignore[attr-defined]  # ndarray's method calls it
    return cast("F", public)


def first_answer(public: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """Ask the types among a call's arguments one after the other, as NumPy does.

    Each type is asked once, in the order in which they stand, but a subclass before what it is
    one of.
    """
    asked: list[Any] = []
    for argument in (*args, *kwargs.values()):
        kind = type(argument)
        if takes_over(kind) and all(kind is not type(other) for other in asked):
            behind = (i for i, other in enumerate(asked) if issubclass(kind, type(other)))
            asked.insert(next(behind, len(asked)), argument)
    types = tuple(map(type, asked))
    for argument in asked:
        out = argument.__array_function__(public, types, args, kwargs)
        if out is not NotImplemented:
            return out
    return declined(public, types)


def declined(public: Callable[..., Any], types: tuple[type, ...]) -> NoReturn:
    """Say what NumPy says when every type has declined a call."""
    raise TypeError(
        f"no implementation found for '{public.__module__}.{public.__name__}' on types that "
        f"implement __array_function__: {list(types)}"
    )


def has_protocol(kind: type) -> bool:
    """Tell whether a type has an ``__array_function__`` of its own.

    The one that NumPy's subclasses of ndarray inherit (`numpy.memmap`) would call us again.

    Examples
    --------
    >>> takes_over(np.ndarray), takes_over(list)
    (False, False)
    """
    own = getattr(kind, "__array_function__", None)
    return own is not None and own is not np.ndarray.__array_function__


takes_over = cast("Callable[[Any], bool]", functools.lru_cache(4096)(has_protocol))
"""`has_protocol`, which remembers the types that it was asked for."""


def is_traced(value: Any) -> bool:
    """Tell whether something notes the calls that are made with it, for a program."""
    return type(value) in TRACERS


def is_plain(array: Any) -> bool:
    """Tell whether an array is NumPy's own, or a tracer, which is one when it is replayed."""
    kind = type(array)
    return kind is np.ndarray or kind in TRACERS


def is_handle(value: Any) -> bool:
    """Tell whether something is an array that records what is done with it, and no tracer."""
    kind = type(value)
    return not (is_plain(value) or lies_below(kind)) and takes_over(kind)


def holds(tree: Any) -> bool:
    """Tell whether something is a list or tuple with an array in it that takes calls over."""
    if not isinstance(tree, (list, tuple)):
        return False
    kinds = set(map(type, tree))
    return any(map(takes_over, kinds)) or (
        any(issubclass(kind, (list, tuple)) for kind in kinds) and any(map(holds, tree))
    )


def joined(tree: Any) -> Any:
    """Stack what stands in a list or tuple, if there are handles in it."""
    return np.stack([joined(each) for each in tree]) if holds(tree) else tree


def array_of(values: Any) -> Any:
    """Turn what a user's function returns into an array, also lists with handles in them.

    Examples
    --------
    >>> array_of([1.0, 2.0])
    array([1., 2.])
    """
    values = joined(values)
    return values if hasattr(values, "__array_function__") else np.asarray(values)


def lift(tree: Any) -> Any:
    """Take the plain arrays in a tree to arrays that note calls, while a capture is going on.

    What is computed of them by a rule or a sweep is noted then too. Else it would be frozen, and
    would not follow when a user changes such an array in place.
    """
    capture = ACTIVE.get().capture
    return tree if capture is None else capture.lift(tree)


def lift_number(number: Any) -> Any:
    """Take the number that a sweep starts from to a tracer, while a capture is going on."""
    capture = ACTIVE.get().capture
    return number if capture is None else capture.lift_constant(number)


@contextmanager
def apart() -> Iterator[None]:
    """Let nothing be noted in a ``with`` block, which has plain arrays alone."""
    before = ACTIVE.get()
    ACTIVE.set(evolve(before, capture=None))
    try:
        yield
    finally:
        ACTIVE.set(before)


def whole(function: F, *, shape_by_values: bool = False) -> F:
    """Let a helper be noted as one call by a capture that is going on, not as those it makes.

    A helper that goes other ways for plain arrays than for others (into BLAS, in place, or by what
    the values are) gives the same bits when it is replayed only if it is noted as a whole. With a
    handle among its arguments it runs as it is.

    Parameters
    ----------
    function : callable
        Of the module's own level, written in NumPy. Its arguments are trees with arrays in them.
    shape_by_values : bool
        Whether the shape of what it gives depends on values, which replays then look at.
    """
    if shape_by_values:
        function.shape_by_values = True  # type: ignore[attr-defined]  # for captures

    @functools.wraps(function)
    def dispatched(*args: Any, **kwargs: Any) -> Any:
        capture = ACTIVE.get().capture
        if capture is not None:
            noted = capture.whole(function, args, kwargs)
            if noted is not NotImplemented:
                return noted
        return function(*args, **kwargs)

    return cast("F", dispatched)


shaped_by_values = functools.partial(whole, shape_by_values=True)


def composition(function: F) -> F:
    """Let a helper be noted as one call, as `whole` does, into which a compiler may look.

    Its lines are NumPy on whatever they are called with, and never branch on values.
    """
    noted = whole(function)
    for each in (function, noted):  # of which programs have the first
        each.composition = function  # type: ignore[attr-defined]  # for `body_of` of programs
    return noted


def batch_in(key: Any) -> Any:
    """Give the batch whose arrays are in a key, if there are any."""
    for entry in key:
        if type(entry) is not slice and (batch := getattr(entry, "batch_here", None)) is not None:
            return batch
    return None


def as_in_key(array: Any, key: Any) -> Any:
    """Give a plain array as one of the batch whose arrays are in a key, if there are any.

    NumPy asks a plain array alone what is at a key, while handles and batched ones are asked here.
    """
    batch = batch_in(key)
    apart = batch is None or hasattr(array, "record") or hasattr(array, "batch_here")
    return array if apart else batch.spread(batch, array)


def is_dask(kind: type) -> bool:
    """Tell whether a type is one of Dask's collections, and not of a package that may hold one.

    pint's quantities and xarray's arrays follow Dask's protocol whatever is in them.
    """
    return hasattr(kind, "__dask_graph__") and any(
        owner.__module__.partition(".")[0] in OF_DASK for owner in kind.__mro__
    )


OF_DASK = frozenset({"dask", "dask_expr"})
"""The packages with Dask's collections."""


def is_later(array: Any) -> bool:
    """Tell whether an array is described only, and computed later; see `tape_ad.interop.dask`."""
    return hasattr(type(array), "as_gradient")


def lies_below(kind: type) -> bool:
    """Tell whether an adapter takes arrays of a type below records: Dask's, and other packages'."""
    return is_dask(kind) or operand_of(kind) is not None


def below_records(array: Any) -> Any:
    """Give an array of Dask's, or of a package with an adapter, as it lies below records.

    Anything else stays.

    Raises
    ------
    UnsupportedArgumentError
        For what Dask has that is no array, or of a shape that is not known.
    """
    kind: Any = type(array)
    if is_dask(kind):
        return array if is_later(array) else adapter("dask").operand(array)  # which loads Dask
    operand = operand_of(kind)
    return array if operand is None else operand(array)


def certainly(answer: Any) -> bool:
    """Tell whether something is known to be true; of what is not computed yet, nothing is."""
    return not is_later(answer) and bool(answer)


def anywhere(condition: Any) -> bool:
    """Tell whether a condition holds anywhere, for any of a batch too.

    It is for a branch that is right for all elements and only takes longer, or an error.
    """
    while getattr(condition, "batch_here", None) is not None:
        condition = condition.stack
    return bool(np.any(condition))


def possibly(condition: Any) -> bool:
    """Tell whether a condition may hold anywhere, which it may in an array that is computed later.

    It is for a branch that is right for all elements and only takes longer.
    """
    return is_later(condition) or anywhere(condition)


def is_differentiated(value: Any) -> bool:
    """Tell whether an array is a record's, of whatever batch it holds the values."""
    while hasattr(value, "batch_here"):
        value = value.stack
    return takes_over(type(value)) and type(value) not in TRACERS


def foreign(function: Callable[..., Any], args: Any, kwargs: Any, shielded: int = 0) -> Any:
    """Call a function of the user's that may be made of anything, and expects plain arrays.

    While a capture is going on it is noted as one call, unless it is made of NumPy calls alone.

    Parameters
    ----------
    function : callable
    args, kwargs
        What it takes: trees with arrays in them.
    shielded : int
        How many of the first arguments it may not write to.

    Returns
    -------
    any
        What it gives.
    """
    capture = ACTIVE.get().capture
    if capture is None:
        return function(*args, **kwargs)
    return capture.call_opaque(function, args, kwargs, shielded)


asarray = whole(np.asarray)
"""`numpy.asarray`, which arrays and numbers that note calls take as well."""
