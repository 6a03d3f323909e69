"""Storing elements as they are: what lowerings of many calls begin or end with."""

from typing import Any

import numpy as np

from tape_ad.programs.engines.native.ir.loop_nests import Literal
from tape_ad.programs.engines.native.ir.memory_map import MemRef
from tape_ad.programs.engines.native.lowering.lowering import Lowering, NotLowerable
from tape_ad.programs.program.program import Value

__all__ = ["assignable", "copy", "fill"]


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
