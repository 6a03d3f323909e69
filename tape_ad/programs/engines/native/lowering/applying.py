"""Calls that do the same to each element and are no ufuncs: operators, choices, our helpers."""

import operator
from collections.abc import Callable, Hashable, Mapping
from typing import Any

import numpy as np

from tape_ad.programs.engines.native.codegen import vectors
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
from tape_ad.programs.engines.native.ir.loop_nests import RuntimeCheck
from tape_ad.programs.engines.native.ir.memory_map import SIMPLE, MemRef
from tape_ad.programs.engines.native.lowering.lowering import (
    Lowering,
    NotLowerable,
    check_numbers,
    elementwise_call,
)
from tape_ad.programs.passes.inlining import kind_of, resolved
from tape_ad.programs.program.program import Value, values_in

__all__ = ["LOWERINGS"]

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
        dtypes = resolved(np.power, (kind_of(base), kind_of(exponent)))
        if dtypes is None or not all(dtype.char in SIMPLE for dtype in dtypes):
            raise NotLowerable("of such dtypes")
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
    dtypes = resolved(ufunc, tuple(map(kind_of, args)))
    if dtypes is None or not all(dtype.char in SIMPLE for dtype in dtypes):
        raise NotLowerable("of such dtypes")
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
    """Say of what dtype an operand is; numbers are weak."""
    dtype: np.dtype[Any] | None = getattr(arg, "dtype", None)
    return out if dtype is None else dtype


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
