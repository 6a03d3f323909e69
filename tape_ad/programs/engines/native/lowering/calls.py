"""Lowering one call: what it becomes in the loop IR, or the reason why it cannot be lowered."""

import math
import operator
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

import numpy as np
from attrs import define, field

from tape_ad.programs.engines.native.codegen import elementwise, vectors
from tape_ad.programs.engines.native.codegen.compositions import COMPOSITIONS
from tape_ad.programs.engines.native.codegen.elementwise import (
    UFUNCS,
    Bound,
    Failing,
    can_lower,
    operands_of,
)
from tape_ad.programs.engines.native.codegen.floats import CLIP, clipped_by_two, power_by_one
from tape_ad.programs.engines.native.codegen.integers import known_power
from tape_ad.programs.engines.native.codegen.ir_builder import BOOL
from tape_ad.programs.engines.native.codegen.loops import lanes_of
from tape_ad.programs.engines.native.ir import (
    SIMPLE,
    Argument,
    Callee,
    ExternalCall,
    Literal,
    LoopCall,
    LoopNest,
    MemoryMap,
    MemRef,
    RuntimeCheck,
)
from tape_ad.programs.engines.native.runtime.compiling import inner_loop
from tape_ad.programs.engines.plans import can_be_placed
from tape_ad.programs.passes.inlining import kind_of, resolved
from tape_ad.programs.program import Call, Constant, Value, values_in

Work = LoopNest | ExternalCall | LoopCall | RuntimeCheck


class NotLowerable(Exception):  # noqa: N818 - no error: a call is left to NumPy
    """Why a call cannot be lowered, so that NumPy runs it."""


@define(eq=False)
class Lowering:
    """The lowering of one call, and the work that it has become so far.

    Attributes
    ----------
    call : Call
    memory_map : MemoryMap
    work : list
        What is to be done for it.
    """

    call: Call
    memory_map: MemoryMap
    work: list[Work] = field(factory=list)

    @property
    def out(self) -> MemRef:
        """The memory reference of the one result."""
        if len(self.call.outputs) != 1:
            raise NotLowerable("it has several results")
        return self.outs[0]

    @property
    def outs(self) -> list[MemRef]:
        """The memory references of all results."""
        for value in self.call.outputs:
            if value.owner is not None:
                raise NotLowerable("a view of an operand")
            if value.shape and not can_be_placed(value):
                raise NotLowerable("a result with gaps, or without elements")
        return [self.ref(value) for value in self.call.outputs]

    def sources(self, *names: str) -> list[MemRef]:
        """Give the memory references of the call's arguments, which are all arrays."""
        return list(map(self.source, self.arguments(*names)))

    def arguments(self, *names: str) -> list[Any]:
        """Give the call's arguments in the order of their names; None for one that is missing."""
        found = self.options(*names)
        return [found.get(name) for name in names]

    def source(self, arg: Any) -> MemRef:
        """Give the memory reference of an operand that has to be an array of the program."""
        if type(arg) is not Value:
            raise NotLowerable(f"{type(arg).__name__} as an operand")
        return self.ref(arg)

    def temporary(self, shape: tuple[int, ...], dtype: Any) -> MemRef:
        """Give memory for what is needed only on the way."""
        return MemRef.new(shape, np.dtype(dtype))

    def ref(self, value: Value) -> MemRef:
        """Give the memory reference of an operand or a result."""
        return self.memory_map.of(value) or known_ref(value, self.memory_map)

    def nest(self, shape: tuple[int, ...]) -> LoopNest:
        """Begin a loop nest over a space."""
        nest = LoopNest(shape)
        self.work.append(nest)
        return nest

    def apply(
        self,
        function: Any,
        dtypes: Sequence[np.dtype[Any]],
        args: Sequence[MemRef | Literal],
        out: MemRef,
        *,
        apart: bool = False,
    ) -> None:
        """Store what a function gives of elements, in a nest of its own."""
        nest = self.nest(out.shape)
        nest.apart = apart
        given = [
            arg
            if isinstance(arg, Literal)
            else nest.cast(nest.read(arg.broadcast(out.shape)), dtype)
            for arg, dtype in zip(args, dtypes, strict=False)
        ]
        nest.write(nest.op(function, dtypes, *given), out)

    def loop(
        self,
        callee: Callee,
        shape: tuple[int, ...],
        reads: Sequence[MemRef],
        writes: Sequence[MemRef],
        *,
        ordered: bool,
    ) -> None:
        """Go over a space with one inner loop, whose operands these are."""
        nest = LoopNest(shape, list(reads), callee=callee, ordered=ordered)
        nest.writes = [(-1, ref) for ref in writes]
        self.work.append(nest)

    def require(self, nest: LoopNest, fact: Argument, by: np.ufunc = np.logical_and) -> None:
        """Leave everything to NumPy where something is not true of each element of a nest."""
        word = self.temporary((), BOOL)
        nest.reduce(by, fact, range(len(nest.shape)), word)
        self.work.append(RuntimeCheck(word, 1))

    def require_all(self, function: Any, *args: MemRef | Literal) -> None:
        """Leave everything to NumPy unless a function is true of all elements of some arrays."""
        nest = self.nest(next(arg.shape for arg in args if isinstance(arg, MemRef)))
        given = [arg if isinstance(arg, Literal) else nest.read(arg) for arg in args]
        self.require(nest, nest.op(function, [*(arg.dtype for arg in args), BOOL], *given))

    def operand(self, nest: LoopNest, arg: Any, dtype: np.dtype[Any]) -> Argument:
        """Read an operand of an elementwise function as elements of a dtype."""
        if type(arg) is Value:
            return nest.cast(nest.read(self.ref(arg).broadcast(nest.shape)), dtype)
        if isinstance(arg, (bool, int, float, complex, np.generic)) or is_element(arg):
            return Literal.of(arg, dtype)
        raise NotLowerable(f"{type(arg).__name__} as an operand")

    def is_aligned(self, arg: Any) -> bool:
        """Tell whether the elements of an operand lie where NumPy's loops may read them."""
        if type(arg) is not Value:
            return True
        ref = self.ref(arg)
        return not any(stride % ref.dtype.alignment for stride in ref.strides)

    def array(self, arg: Any) -> MemRef:
        """Give the memory reference of an array, or of numbers that stand in the program."""
        if type(arg) is Value:
            return self.ref(arg)
        array = np.empty((), object) if values_in((arg,)) else np.asarray(arg)
        if array.dtype.hasobject:
            raise NotLowerable(f"{type(arg).__name__} among arrays")
        return self.constant(array)

    def constant(self, array: Any) -> MemRef:
        """Give the memory reference of an array that is the same at every replay."""
        value = Value.like(array)
        self.memory_map.constants.append(Constant(value, array, "the native engine"))
        return MemRef.whole(value)

    def options(self, *names: str) -> dict[str, Any]:
        """Name the arguments of the call; only these may be there."""
        found = dict(zip(names, self.call.args, strict=False)) | dict(self.call.kwargs)
        if len(self.call.args) > len(names) or not found.keys() <= set(names):
            raise NotLowerable(f"options {', '.join(sorted(found.keys() - set(names)))}")
        return found


def known_ref(value: Value, memory_map: MemoryMap) -> MemRef:
    """Give the memory reference of a value, which native code is to compute with."""
    ref = memory_map.of(value)
    if ref is None:
        raise NotLowerable(f"{value} is nothing for native code")
    return ref


def is_element(arg: Any) -> bool:
    """Tell whether an array is one element, of a dtype of its own."""
    return type(arg) is np.ndarray and arg.ndim == 0 and arg.dtype.char in SIMPLE


def as_ufunc(lowering: Lowering) -> None:
    """Lower a ufunc to one elementwise nest."""
    call = lowering.call
    ufunc: Any = call.function
    if call.kwargs.keys() - {"dtype"} or len(call.args) != ufunc.nin or ufunc.nout != 1:
        raise NotLowerable("it has options")
    wanted = call.kwargs.get("dtype")
    dtypes = loop_dtypes(ufunc, call.args, None if wanted is None else np.dtype(wanted))
    check_numbers(call.args, dtypes)
    elementwise_call(lowering, ufunc, dtypes)


def loop_dtypes(
    ufunc: np.ufunc, args: Sequence[Any], wanted: np.dtype[Any] | None = None
) -> tuple[np.dtype[Any], ...]:
    """Give the dtypes of the loop that NumPy would take, if native code knows them all."""
    dtypes = resolved(ufunc, tuple(map(kind_of, args)), wanted)
    if dtypes is None or not SIMPLE.issuperset([dtype.char for dtype in dtypes]):
        raise NotLowerable("of such dtypes")
    return dtypes


def check_numbers(args: Sequence[Any], dtypes: Sequence[np.dtype[Any]]) -> None:
    """Leave a Python integer to NumPy that may be too large for the elements beside it."""
    for arg, dtype in zip(args, dtypes, strict=False):
        if dtype.kind not in "iu" or dtype == np.dtype(np.int64):
            continue
        given = arg if type(arg) is int else None
        if type(arg) is Value and arg.kind is int and arg.dtype is None:
            raise NotLowerable(f"a Python integer beside {dtype}")
        if given is not None and not np.iinfo(dtype).min <= given <= np.iinfo(dtype).max:
            raise NotLowerable(f"{given} beside {dtype}")


def elementwise_call(
    lowering: Lowering, function: Any, dtypes: Sequence[np.dtype[Any]], args: Any = None
) -> None:
    """Lower an elementwise function, to code of our own or to NumPy's loop."""
    out = lowering.out
    nest = lowering.nest(out.shape)
    args = lowering.call.args if args is None else args
    operands = [
        lowering.operand(nest, arg, dtype) for arg, dtype in zip(args, dtypes, strict=False)
    ]
    done = written_or_found(function, tuple(dtypes), math.prod(out.shape))
    if type(done) is Callee and not all(map(lowering.is_aligned, args)):
        raise NotLowerable("elements that are not aligned, as NumPy's loops take them")
    nest.write(nest.op(done, dtypes, *operands), out)


MANY = 64
"""From how many elements on it matters that a loop takes several at once."""
NEVER_TOGETHER = frozenset({np.fmod, np.remainder, np.floor_divide, np.nextafter})
"""Functions that NumPy's loops, too, take the elements of one by one; all of SciPy's do so."""


def written_or_found(function: Any, dtypes: tuple[np.dtype[Any], ...], size: int) -> Any:
    """Choose what does a function: instructions, or a loop of NumPy's where those are slow."""
    library = vectors.library()
    ours = elementwise.can_lower(function, dtypes, library)
    of_numpy = getattr(np, getattr(function, "__name__", ""), None) is function
    if ours and (size < MANY or function in NEVER_TOGETHER or not of_numpy):
        return function
    if ours and elementwise.can_lower(function, dtypes, library, lanes_of(dtypes)):
        return function
    found = inner_loop(function, dtypes) if type(function) is np.ufunc else None
    if not ours and found is None:
        raise NotLowerable("neither native code nor a loop of NumPy's for it")
    return found or function


def copy(lowering: Lowering, source: MemRef, target: MemRef, *, apart: bool = False) -> None:
    """Copy elements from another memory reference."""
    if source == target:
        return
    nest = lowering.nest(target.shape)
    nest.apart = apart
    nest.write(nest.read(source.broadcast(target.shape)), target)


def fill(lowering: Lowering, number: Any, target: MemRef, *, apart: bool = False) -> None:
    """Store one number everywhere."""
    nest = lowering.nest(target.shape)
    nest.apart = apart
    nest.write(Literal.of(number, target.dtype), target)


def assignable(lowering: Lowering, value: Any, dtype: np.dtype[Any]) -> MemRef:
    """Give the memory of what is assigned to elements of a dtype, converted if need be."""
    if type(value) is Value:
        ref = lowering.ref(value)
        weak = value.dtype is None
        if not np.can_cast(ref.dtype, dtype, "same_kind") or (weak and dtype.kind in "iu"):
            raise NotLowerable(f"{value} assigned to {dtype}")
        if ref.dtype == dtype:
            return ref
        there = lowering.temporary(ref.shape, dtype)
        copy(lowering, ref, there)
        return there
    if isinstance(value, (bool, int, float, complex, np.generic)):
        if not can_be_stored(value, dtype):
            raise NotLowerable(f"{value!r} assigned to {dtype}")
        there = lowering.temporary((), dtype)
        fill(lowering, value, there)
        return there
    if isinstance(value, np.ndarray) and np.can_cast(value.dtype, dtype, "same_kind"):
        return lowering.constant(value.astype(dtype))
    raise NotLowerable(f"{type(value).__name__} assigned")


def can_be_stored(number: Any, dtype: np.dtype[Any]) -> bool:
    """Tell whether a number can be assigned to elements of a dtype without any complaint."""
    whole = type(number) in (bool, int)
    if whole and dtype.kind in "iu":
        limits = np.iinfo(dtype)
        return bool(limits.min <= number <= limits.max)
    if whole:
        return bool(abs(number) < 2**63)
    return bool(np.can_cast(np.asarray(number).dtype, dtype, "same_kind"))


def converted(lowering: Lowering, ref: MemRef, dtype: np.dtype[Any]) -> MemRef:
    """Give elements the dtype and the strides that NumPy's loops take; keep the axes' order."""
    if ref.dtype == dtype and not any(stride % dtype.alignment for stride in ref.strides):
        return ref
    order = sorted(range(len(ref.shape)), key=lambda axis: -abs(ref.strides[axis]))
    packed = lowering.temporary(tuple(ref.shape[axis] for axis in order), dtype)
    target = packed.seen(lambda array: array.transpose(np.argsort(order)))
    copy(lowering, ref, target)
    return target


def moved(ref: MemRef, key: Sequence[int], strides: Sequence[int]) -> MemRef:
    """Give the memory reference at one iteration."""
    return ref.along(ref.shape, ref.strides, sum(map(operator.mul, key, strides)))


def with_axis(ref: MemRef, axis: int, length: int = 1, stride: int = 0) -> MemRef:
    """Insert an axis, by default of one element."""
    shape, strides = list(ref.shape), list(ref.strides)
    shape.insert(axis, length)
    strides.insert(axis, stride)
    return ref.along(tuple(shape), tuple(strides))


PYTHONS = {float: np.dtype(float), int: np.dtype(np.int64)}
"""Python's numbers that native code computes with, and what they are there."""
BOUNDS = np.iinfo(np.int64)
WAYS: Mapping[Any, np.ufunc] = {-1: np.reciprocal, 2: np.square}
"""What NumPy calls for complex numbers in place of `numpy.power`, by the exponent."""


def operated(lowering: Lowering) -> None:
    """Lower an operator between arrays or Python numbers."""
    call = lowering.call
    if call.kwargs:
        raise NotLowerable("it has options")
    if call.outputs[0].dtype is None:
        of_python(lowering)
    elif call.function is operator.pow:
        raised(lowering)
    else:
        as_if(lowering, UFUNCS[call.function], call.args)


def raised(lowering: Lowering) -> None:
    """Lower ``**``, for which NumPy calls other functions where the exponent is one number."""
    base, exponent = lowering.call.args
    one = getattr(exponent, "shape", ()) == () and getattr(base, "kind", None) is np.ndarray
    kind = lowering.out.dtype.kind
    if one and kind == "f" and type(exponent) is Value:
        dtypes = loop_dtypes(np.power, (base, exponent))
        elementwise_call(lowering, Bound(power_by_one), dtypes)
    elif one and kind == "c" and type(exponent) is Value:
        raise NotLowerable("complex powers whose way the exponent decides")
    elif one and base.dtype.kind == "c" and type(exponent) is int and exponent in WAYS:
        as_if(lowering, WAYS[exponent], (base,))
    else:
        as_if(lowering, np.power, lowering.call.args)


def as_if(lowering: Lowering, ufunc: Any, args: tuple[Any, ...], formula: Any = None) -> None:
    """Lower a call as that of a ufunc; powers by a whole number are products, as in NumPy.

    A formula of the same dtypes may stand for the ufunc.
    """
    dtypes = loop_dtypes(ufunc, args)
    check_numbers(args, dtypes)
    if ufunc is np.power and dtypes[0].kind in "iu" and type(args[1]) is int:
        known = Bound(known_power, args[1:])  # of other exponents some may be negative
        elementwise_call(lowering, known, dtypes[1:], args[:1])
    else:
        elementwise_call(lowering, formula or ufunc, dtypes, args)


def of_python(lowering: Lowering) -> None:
    """Lower an operator between Python numbers, with a check that Python has such a result."""
    call = lowering.call
    kinds = {arg.kind if type(arg) is Value else type(arg) for arg in call.args}
    wanted = PYTHONS.get(call.outputs[0].kind)
    if wanted is None or not kinds <= PYTHONS.keys() or not all(map(fits, call.args)):
        raise NotLowerable("Python's numbers of such a kind")
    given = PYTHONS[float if float in kinds else int]
    dtypes = (*[given] * len(call.args), wanted)
    failing: Any = Failing(call.function)  # which stands for a function here
    library = vectors.library()
    if not can_lower(call.function, dtypes, library):
        raise NotLowerable("no native code for it")
    if not can_lower(failing, (*dtypes, BOOL), library):
        raise NotLowerable("Python's numbers may be something else")
    nest = lowering.nest(())
    args = [lowering.operand(nest, arg, given) for arg in call.args]
    result = nest.op(call.function, dtypes, *args)
    word = MemRef.whole(Value(np.ndarray, (), BOOL))
    nest.write(result, lowering.out)
    nest.write(nest.op(failing, (*dtypes, BOOL), *args, result), word)
    lowering.work.append(RuntimeCheck(word, 0))


def fits(arg: Any) -> bool:
    """Tell whether a number that stands in the program has a place in native code."""
    return type(arg) is not int or BOUNDS.min <= arg <= BOUNDS.max


def composed(lowering: Lowering) -> None:
    """Lower a function of elements that is several operations."""
    call = lowering.call
    count = operands_of(call.function) or 0
    args, rest = call.args[:count], call.args[count:]
    asked = Bound(call.function, rest, tuple(call.kwargs.items()))
    if values_in((rest, call.kwargs)) or not all(isinstance(x, Hashable) for x in rest):
        raise NotLowerable("further operands")
    if len(args) < count or call.outputs[0].dtype is None:
        raise NotLowerable("such operands")
    out = call.outputs[0].dtype
    dtypes = [dtype_of(arg, out) for arg in args]
    if call.function is np.where:
        dtypes[1:] = [out, out]
        check_numbers(args[1:], dtypes[1:])
    elementwise_call(lowering, asked, (*dtypes, out), args)


def dtype_of(arg: Any, out: np.dtype[Any]) -> np.dtype[Any]:
    """Say of what dtype an operand is; numbers are weak, and a complex one is complex still."""
    dtype: np.dtype[Any] | None = getattr(arg, "dtype", None)
    if dtype is not None:
        return dtype
    kind = arg.kind if type(arg) is Value else type(arg)
    return np.result_type(out, 1j) if kind is complex else out


def clipped(lowering: Lowering) -> None:
    """Lower `numpy.clip`, of which a bound may be missing."""
    found = lowering.options("a", "a_min", "a_max", "min", "max")
    low, high = (found.get(f"a_{side}", found.get(side)) for side in ("min", "max"))
    if low is None and high is None:
        raise NotLowerable("no bounds")
    if getattr(found["a"], "dtype", None) is None:
        raise NotLowerable("a Python number, which is not weak there")
    if high is None:
        as_if(lowering, np.maximum, (found["a"], low))
    elif low is None:
        as_if(lowering, np.minimum, (found["a"], high))
    elif lowering.out.dtype.kind == "f" and is_one(low) and is_one(high):
        as_if(lowering, CLIP, (found["a"], low, high), Bound(clipped_by_two))
    else:
        as_if(lowering, CLIP, (found["a"], low, high))


def is_one(operand: Any) -> bool:
    """Tell whether an operand is one element for all that are computed."""
    return getattr(operand, "shape", ()) == ()


LOWERINGS: Mapping[Any, Callable[[Lowering], None]] = {
    **dict.fromkeys(UFUNCS.keys() - {np.clip}, operated),
    **dict.fromkeys(COMPOSITIONS, composed),
    np.clip: clipped,
}
