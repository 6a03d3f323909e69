"""Inlining: a function that is a few lines of NumPy becomes the calls that its lines make.

The lines are the body among the function's facts, most often the function's own. They are run once,
on symbols: arrays of which only the shape and the dtype are known. What asks a symbol for a value
fails, and the function stays what it is.
"""

import functools
import math
import operator
from collections.abc import Callable, Container, Mapping, Sequence
from typing import Any, ClassVar, NoReturn

import numpy as np
from attrs import define, evolve, field
from numpy.lib.mixins import NDArrayOperatorsMixin

from tape_ad.base.arrays.overridable import SYMBOLS
from tape_ad.base.naming import function_name
from tape_ad.programs.capture.tracers import cast
from tape_ad.programs.passes.rewriting import alike
from tape_ad.programs.program import Call, Program, Step, Value, rebuilt
from tape_ad.rules import RULES, facts_of, known_facts, load_lazy_tables
from tape_ad.rules.base import Rule
from tape_ad.rules.facts import UNKNOWN

Function = Callable[..., Any]


class NotInlined(Exception):  # noqa: N818 - no error: the call stays as it is
    """Why a body cannot be written as calls."""


def body_of(function: Function) -> Function | None:
    """Find the lines of NumPy that a function is made of; None if nobody says so.

    A helper that is noted as one call says it of itself, as `composition` has marked it.
    """
    own: Function | None = getattr(function, "composition", None)
    if own is not None:
        return own
    known = facts_of(function)
    if known is UNKNOWN and hasattr(function, "_implementation"):
        load_lazy_tables()  # where a function of ours may be that no handle has met yet
        known = facts_of(function)
    return known.body


def elementwise_body(function: Function) -> tuple[Function | None, int]:
    """Find the body of a function of elements, and how many of its first arguments are operands."""
    body = body_of(function) if hasattr(function, "__wrapped__") else None
    entry = RULES.get(function)
    if body is None or not isinstance(entry, Rule) or not entry.facts.is_elementwise:
        return None, 0
    count, operands = sum(maker is not None for maker in entry.makers), entry.facts.operands
    shares = operands and count > len(operands)  # some of them are not broadcast
    return (None, 0) if shares else (body, count)


@functools.cache
def resolved(
    ufunc: np.ufunc, kinds: tuple[Any, ...], wanted: np.dtype[Any] | None = None
) -> tuple[np.dtype[Any], ...] | None:
    """Find the dtypes of the loop that NumPy would take, where one is `wanted` of the result."""
    asked: dict[str, Any] = {}
    if wanted is not None:
        asked["signature"] = (*(None,) * ufunc.nin, *(wanted,) * ufunc.nout)
    try:
        return tuple(ufunc.resolve_dtypes((*kinds, *(None,) * ufunc.nout), **asked))
    except TypeError:
        return None


def kind_of(arg: Any) -> Any:
    """Say of what dtype an operand is; Python's numbers are weak."""
    if type(arg) is Value:
        return arg.kind if arg.dtype is None else arg.dtype
    if type(arg) in (int, float, complex):
        return type(arg)
    return np.asarray(arg).dtype


def stand_in(
    shape: tuple[int, ...], strides: tuple[int, ...], dtype: np.dtype[Any]
) -> tuple[Any, int]:
    """Make an array of zeros with these strides, and say where it begins."""
    few = math.prod(shape) <= FEW  # many would take memory for as long as they are kept
    return (kept_stand_in if few else new_stand_in)(shape, strides, dtype)


def new_stand_in(
    shape: tuple[int, ...], strides: tuple[int, ...], dtype: np.dtype[Any]
) -> tuple[Any, int]:
    """Make an array of these strides anew; see `stand_in`."""
    ways = [(length - 1) * stride for length, stride in zip(shape, strides, strict=True)]
    before = -sum(way for way in ways if way < 0)
    after = sum(way for way in ways if way > 0) + dtype.itemsize
    array: Any = np.ndarray(shape, dtype, np.zeros(before + after, "u1"), before, strides)
    return array, array.__array_interface__["data"][0]


kept_stand_in = functools.lru_cache(maxsize=256)(new_stand_in)
FEW = 1024


@define(eq=False, repr=False)
class Symbol(NDArrayOperatorsMixin):
    """An array of which only the shape and the dtype are known; it notes what is called with it.

    Attributes
    ----------
    value : Value
    trace : Trace
        What notes the calls.
    """

    value: Value
    trace: "Trace"

    __hash__: ClassVar[Any] = object.__hash__
    __array_priority__: ClassVar[float] = 1000.0

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of the axes."""
        return self.value.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the elements; a Python number has none."""
        if self.value.dtype is None:
            raise NotInlined("the dtype of a Python number")
        return self.value.dtype

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.value.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.value.shape)

    def __len__(self) -> int:
        return self.value.shape[0]

    def __getitem__(self, key: Any) -> "Symbol":
        return self.trace.view(operator.getitem, self, key)

    def astype(self, dtype: Any) -> "Symbol":
        """Cast; see `ndarray.astype`."""
        dtype = np.dtype(dtype)
        if self.dtype == dtype:
            return self
        return self.trace.note(cast, (self, dtype), {}, self.shape, dtype)

    def reshape(self, *shape: Any) -> "Symbol":
        """Reshape, where no copy is needed; see `ndarray.reshape`."""
        return self.trace.view(np.reshape, self, shape[0] if len(shape) == 1 else shape)

    def __array_ufunc__(self, ufunc: Any, method: str, *args: Any, **kwargs: Any) -> Any:
        if method == "__call__" and not kwargs:
            return self.trace.elementwise(ufunc, args)
        if method == "__call__" and kwargs.keys() == {"out"}:
            return self.trace.changed(kwargs["out"][0], ufunc, args)
        if method != "reduce":
            raise NotInlined(f"{ufunc.__name__} with options")
        return self.trace.reduction(ufunc.reduce, 0, *args, **kwargs)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return self.trace.call(function, args, kwargs)

    def _refuse(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise NotInlined("a body that asks for values")

    __bool__ = __float__ = __int__ = __index__ = __complex__ = __array__ = _refuse


SYMBOLS.add(Symbol)


@define(eq=False)
class Trace:
    """What notes the calls that a body makes.

    Attributes
    ----------
    errors : mapping or None
        The `numpy.errstate` that the body as a whole runs in, where it is not the caller's own.
    calls : list of Call
    """

    errors: Mapping[str, Any] | None = None
    calls: list[Call] = field(factory=list)
    _before: Mapping[str, Any] = field(factory=np.geterr)

    def note(
        self,
        function: Function,
        args: tuple[Any, ...],
        kwargs: Mapping[str, Any],
        shape: tuple[int, ...],
        dtype: np.dtype[Any],
        owner: Value | None = None,
        strides: tuple[int, ...] | None = None,
    ) -> Symbol:
        """Note a call, whose result has a shape and a dtype."""
        if strides is None:
            strides = tuple([dtype.itemsize * math.prod(shape[k + 1 :]) for k in range(len(shape))])
        kind = np.ndarray if shape or owner is not None else dtype.type
        out = Value(kind, shape, dtype, strides, owner)
        now = np.geterr()
        errors = self.errors if now == self._before else now
        args, kwargs = rebuilt(value_of, args), rebuilt(value_of, dict(kwargs))
        self.calls.append(Call(function, args, kwargs, (out,), errors=errors))
        return Symbol(out, self)

    def elementwise(self, ufunc: Any, args: tuple[Any, ...]) -> Symbol:
        """Note a call of a ufunc."""
        if ufunc is np.matmul:
            return self.product(*args)
        if ufunc.nout != 1 or ufunc.signature is not None:
            raise NotInlined(f"{ufunc.__name__}, whose results have shapes of their own")
        dtypes = resolved(ufunc, tuple([kind_of(value_of(arg)) for arg in args]))
        if dtypes is None:
            raise NotInlined(f"{ufunc.__name__} of such dtypes")
        for arg, dtype in zip(args, dtypes, strict=False):
            whole = type(arg) is int and dtype.kind in "iu"
            if whole and not np.iinfo(dtype).min <= arg <= np.iinfo(dtype).max:
                raise NotInlined(f"{arg} beside {dtype}")
        return self.note(ufunc, args, {}, shape_of(*args), dtypes[-1])

    def changed(self, target: Symbol, ufunc: Any, args: tuple[Any, ...]) -> Symbol:
        """Note ``x -= y`` of what the body has made itself: all its names are of the new array."""
        made = [out for call in self.calls for out in call.outputs]
        seen = any(out.owner is target.value for out in made)
        found = self.elementwise(ufunc, args)
        if target.value.kind is not np.ndarray:  # a number, which others have as it is
            return found
        if seen or target.value not in made or not alike(found.value, target.value):
            raise NotInlined("an array that is changed")
        target.value = found.value
        return target

    def product(self, x: Any, y: Any) -> Symbol:
        """Note a product of matrices or vectors."""
        if not x.ndim or not y.ndim:
            raise NotInlined("a product with a number")
        rows, columns = x.shape[:-1], y.shape[-1:] if y.ndim > 1 else ()
        stack = np.broadcast_shapes(rows[:-1], y.shape[:-2])
        shape = (*stack, *rows[-1:], *columns)
        return self.note(np.matmul, (x, y), {}, shape, common_dtype(x, y))

    def reduction(
        self,
        function: Function,
        default: int | None,
        array: Any,
        axis: Any = NotImplemented,
        dtype: Any = None,
        out: Any = None,
        keepdims: bool = False,
        **first: Any,
    ) -> Symbol:
        """Note a reduction along axes, which may begin with an `initial` number."""
        if dtype is not None or out is not None or type(array) is not Symbol:
            raise NotInlined("a reduction with options")
        if not first.keys() <= {"initial"} or type(first.get("initial", 0)) not in (int, float):
            raise NotInlined("a reduction with options")
        axis = default if axis is NotImplemented else axis
        ndim, shape = array.ndim, array.shape
        axes = range(ndim) if axis is None else axis if type(axis) is tuple else (axis,)
        gone = {operator.index(each) % max(ndim, 1) for each in axes}
        kept = [1 if k in gone else n for k, n in enumerate(shape) if keepdims or k not in gone]
        words = {"axis": axis, "keepdims": True} if keepdims else {"axis": axis}
        words |= first
        found = reduced_dtype(function, array.dtype)
        return self.note(function, (array,), words, tuple(kept), found)

    def view(self, function: Function, array: Any, *args: Any, **kwargs: Any) -> Symbol:
        """Note what shows the memory of a symbol."""
        source = array.value
        if function is operator.getitem:
            (key,) = args
            if type(key) is Symbol and key.dtype.kind in "iu":
                shape = (*key.shape, *array.shape[1:])
                return self.note(function, (array, key), {}, shape, array.dtype)
            key = key if type(key) is tuple else (key,)
            args = (key if any(each is Ellipsis for each in key) else (*key, Ellipsis),)
        given, _ = stand_in(source.shape, source.strides, array.dtype)
        shown = function(given, *args, **kwargs)
        owner = source if source.owner is None else source.owner
        if not np.may_share_memory(given, shown):  # it is a copy
            owner = None
        return self.note(
            function, (array, *args), kwargs, shown.shape, shown.dtype, owner, shown.strides
        )

    def tried(self, function: Function, *args: Any, **kwargs: Any) -> Symbol:
        """Note a call of a function, whose result has the shape that zeros give."""
        found = function(*rebuilt(zeros_like, args), **rebuilt(zeros_like, kwargs))
        return self.note(function, args, kwargs, found.shape, found.dtype)

    def call(self, function: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """Note a call of a function that is no ufunc, or the calls of its own body."""
        facts = known_facts(function)
        if facts.view:
            return self.view(function, *args, **kwargs)
        if facts.reduces is not None or function in (np.mean, np.ptp):
            return self.reduction(function, None, *args, **kwargs)
        if function in ABOUT_SHAPES and len(args) == 1:
            return getattr(args[0], ABOUT_SHAPES[function])
        if function is np.broadcast_arrays and not kwargs:
            shape = shape_of(*args)
            return tuple([x if np.shape(x) == shape else np.broadcast_to(x, shape) for x in args])
        if function in (np.where, np.clip) and len(args) == 3 and not kwargs:
            dtype = common_dtype(*args[function is np.where :])
            return self.note(function, args, {}, shape_of(*args), dtype)
        tried = function in TRIED
        body = functools.partial(self.tried, function) if tried else body_of(function)
        if body is None:
            raise NotInlined(f"{function_name(function)} in a body")
        return body(*args, **kwargs)


ABOUT_SHAPES: Mapping[Any, str] = {np.shape: "shape", np.ndim: "ndim", np.size: "size"}


ALONG_ONE_AXIS: frozenset[Any] = frozenset({np.fft.fft, np.fft.ifft, np.fft.rfft, np.fft.irfft})
"""Fourier transforms that others are made of."""

TRIED = ALONG_ONE_AXIS | {
    *(np.concatenate, np.stack, np.pad, np.zeros_like, np.searchsorted),
}
"""Functions whose results have shapes and dtypes that are quickest found by a call of them."""


def zeros_like(leaf: Any) -> Any:
    """Give zeros that lie as a symbol does; what is none as it is."""
    if type(leaf) is not Symbol:
        return leaf
    return stand_in(leaf.shape, leaf.value.strides, leaf.dtype)[0]


def value_of(leaf: Any) -> Any:
    """Give the value of a symbol; what is none as it is."""
    return leaf.value if type(leaf) is Symbol else leaf


def shape_of(*args: Any) -> tuple[int, ...]:
    """Give the shape to which operands broadcast."""
    return np.broadcast_shapes(*(arg.shape for arg in args if hasattr(arg, "shape")))


def common_dtype(*args: Any) -> np.dtype[Any]:
    """Give the dtype of operands together; Python's numbers are weak."""
    kinds = [kind_of(value_of(arg)) for arg in args]
    return np.result_type(*(kind(0) if isinstance(kind, type) else kind for kind in kinds))


@functools.cache
def reduced_dtype(function: Function, dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Find the dtype of what a function reduces elements of a dtype to."""
    found: np.dtype[Any] = function(np.ones(1, dtype)).dtype
    return found


def traced_body(
    body: Function,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    errors: Mapping[str, Any] | None = None,
) -> tuple[list[Call], list[Value]]:
    """Run the lines of a body on symbols.

    Parameters
    ----------
    body : callable
    args, kwargs
        What it is called with: trees with values in them.
    errors : mapping or None
        The `numpy.errstate` of the call that it stands for.

    Returns
    -------
    calls : list of Call
    results : list of Value
        What the body gives, one or several.

    Raises
    ------
    NotInlined
        When that cannot be said by calls.
    """
    trace = Trace(errors)

    def as_symbol(leaf: Any) -> Any:
        return Symbol(leaf, trace) if type(leaf) is Value else leaf

    try:
        found = body(*rebuilt(as_symbol, tuple(args)), **rebuilt(as_symbol, dict(kwargs)))
    except NotInlined:
        raise
    except Exception as error:  # of a body that refuses such arguments, as the function will
        raise NotInlined(f"its body fails with {type(error).__name__}: {error}") from error
    results = found if type(found) is tuple else (found,)
    if not all(type(each) is Symbol for each in results):
        raise NotInlined("a result that is no array")
    return trace.calls, [each.value for each in results]


def inline(
    program: Program,
    functions: Container[Function],
    is_better: Callable[[Call, Sequence[Call]], bool],
) -> Program:
    """Put the calls of their bodies in place of the calls of some functions.

    Parameters
    ----------
    program : Program
    functions : container of callable
        Those whose bodies give the same bits as they do.
    is_better : callable
        Tells whether these calls may stand in place of that one.

    Returns
    -------
    Program
        The very program, where there is no call of them.
    """
    steps: list[Step] = []
    for step in program.steps:
        if type(step) is Call and (calls := calls_in_place_of(step, functions)):
            steps += calls if is_better(step, calls) else [step]
        else:
            steps.append(step)
    return program if len(steps) == len(program.steps) else evolve(program, steps=tuple(steps))


def calls_in_place_of(call: Call, functions: Container[Function]) -> list[Call]:
    """Give what can stand in place of a call, of which the last gives its result; else nothing."""
    body = body_of(call.function) if call.function in functions else None
    if body is None:
        return []
    try:
        calls, (found,) = traced_body(body, call.args, call.kwargs, call.errors)
    except NotInlined:
        return []
    if found not in calls[-1].outputs or not alike(found, call.outputs[0]):
        return []
    last = calls.pop()
    return [*calls, Call(last.function, last.args, last.kwargs, call.outputs, errors=last.errors)]
