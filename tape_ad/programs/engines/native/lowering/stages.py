"""Lowering a function in stages: each is a loop nest, and fusion makes fewer of them."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from attrs import define

from tape_ad.programs.engines.native.codegen import elementwise
from tape_ad.programs.engines.native.ir.loop_nests import Literal
from tape_ad.programs.engines.native.ir.memory_map import MemRef
from tape_ad.programs.engines.native.lowering.lowering import (
    Lowering,
    NotLowerable,
    written_or_found,
)
from tape_ad.programs.engines.native.lowering.reductions import axes_of, ended
from tape_ad.programs.passes.inlining import kind_of, resolved
from tape_ad.programs.program.program import Value

__all__ = ["Stages", "shaped"]


@define(eq=False)
class Stages:
    """Lowers a call stage by stage.

    Attributes
    ----------
    lowering : Lowering
    """

    lowering: Lowering

    def ref(self, arg: Any) -> Any:
        """Give the memory reference of an operand; a Python number stays what it is."""
        return self.lowering.ref(arg) if type(arg) is Value else arg

    def do(self, function: Any, *args: Any, out: MemRef | None = None) -> MemRef:
        """Do a ufunc, of memory references and numbers.

        Parameters
        ----------
        function : numpy.ufunc
        *args : Place or number
            Numbers are weak.
        out : MemRef, optional
            Where the result belongs; else it is kept as long as it is needed here.
        """
        dtypes = resolved(function, tuple(map(dtype_of, args)))
        if dtypes is None:
            raise NotLowerable(f"{function.__name__} of such dtypes")
        shape = np.broadcast_shapes(*(arg.shape for arg in args if isinstance(arg, MemRef)))
        target = self.target(shape, dtypes[-1], out)
        nest = self.lowering.nest(shape)
        given = [
            nest.cast(nest.read(arg.broadcast(shape)), dtype)
            if isinstance(arg, MemRef)
            else Literal.of(arg, dtype)
            for arg, dtype in zip(args, dtypes, strict=False)
        ]
        done = written_or_found(function, dtypes, math.prod(shape))
        nest.write(nest.op(done, dtypes, *given), target)
        return target

    def target(self, shape: tuple[int, ...], dtype: np.dtype[Any], out: MemRef | None) -> MemRef:
        """Give the memory reference of a result, and see to it that it is what eager gives."""
        if out is None:
            return self.lowering.temporary(shape, dtype)
        if (out.shape, out.dtype) != (shape, dtype):
            raise NotLowerable("operands of such shapes and dtypes")
        return out

    def choose(self, condition: MemRef, x: Any, y: Any) -> MemRef:
        """Do what `numpy.where` does; one of both is a reference, and the other like it."""
        args = [condition, x, y]
        shape = np.broadcast_shapes(*(arg.shape for arg in args if isinstance(arg, MemRef)))
        dtype = next(arg.dtype for arg in (x, y) if isinstance(arg, MemRef))
        nest, target = self.lowering.nest(shape), self.lowering.temporary(shape, dtype)
        where: Any = elementwise.Bound(np.where)  # which stands for a function here
        dtypes = (condition.dtype, dtype, dtype, dtype)
        given = [
            nest.read(arg.broadcast(shape)) if isinstance(arg, MemRef) else Literal.of(arg, dtype)
            for arg in args
        ]
        nest.write(nest.op(where, dtypes, *given), target)
        return target

    def cast(self, ref: MemRef, dtype: np.dtype[Any], out: MemRef | None = None) -> MemRef:
        """Convert elements."""
        if ref.dtype == dtype and out is None:
            return ref
        target = self.target(ref.shape, dtype, out)
        nest = self.lowering.nest(ref.shape)
        nest.write(nest.read(ref), target)
        return target

    def reduce(self, ufunc: np.ufunc, ref: MemRef, axes: Any, out: MemRef | None = None) -> MemRef:
        """Bring elements together along axes, which are kept with length one."""
        axes = axes_of(axes, len(ref.shape))
        shape = tuple(1 if k in axes else n for k, n in enumerate(ref.shape))
        if out is not None and out.shape != shape:
            if len(out.shape) != len(shape) - len(axes):
                raise NotLowerable("operands of such shapes and dtypes")
            target = out
        else:
            target = self.target(shape, ref.dtype, out)
        nest = self.lowering.nest(ref.shape)
        ended(nest, ufunc, nest.read(ref), axes, target)
        return target

    def average(self, ref: MemRef, axes: Sequence[int]) -> MemRef:
        """Add up along axes, which are kept, and divide by the number of elements."""
        count = math.prod(ref.shape[axis] for axis in axes)
        return self.do(np.divide, self.reduce(np.add, ref, tuple(axes)), count)

    def inner(self, x: MemRef, y: MemRef, axes: Sequence[int]) -> MemRef:
        """Add up products along axes, negative ones, which are kept with length one."""
        return self.reduce(np.add, self.do(np.multiply, x, y), tuple(axes))


def dtype_of(arg: Any) -> Any:
    """Say of what dtype an operand is."""
    return arg.dtype if isinstance(arg, MemRef) else kind_of(arg)


def shaped(ref: MemRef, shape: tuple[int, ...]) -> MemRef:
    """Leave out or insert axes of one element."""
    strides = iter([s for n, s in zip(ref.shape, ref.strides, strict=True) if n != 1])
    kept = tuple([next(strides) if n != 1 else 0 for n in shape])
    return MemRef(ref.root, ref.offset, shape, kept, ref.dtype)
