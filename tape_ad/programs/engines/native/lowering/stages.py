"""Functions of several stages: each stage is a nest, and fusion makes fewer of them."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from attrs import define

from tape_ad.programs.engines.native.codegen import elementwise
from tape_ad.programs.engines.native.ir.loop_nests import Literal
from tape_ad.programs.engines.native.ir.memory_map import Place
from tape_ad.programs.engines.native.lowering.lowering import (
    Lowering,
    Refusal,
    kind_of,
    resolved,
    written_or_found,
)
from tape_ad.programs.engines.native.lowering.reductions import axes_of, ended
from tape_ad.programs.program.program import Value

__all__ = ["Stages", "shaped"]


@define(eq=False)
class Stages:
    """What writes the stages of a call.

    Attributes
    ----------
    lowering : Lowering
    """

    lowering: Lowering

    def place(self, arg: Any) -> Any:
        """Give the place of an operand; a Python number stays what it is."""
        return self.lowering.place(arg) if type(arg) is Value else arg

    def do(self, function: Any, *args: Any, out: Place | None = None) -> Place:
        """Do a ufunc, of places and of numbers.

        Parameters
        ----------
        function : numpy.ufunc
        *args : Place or number
            Numbers are weak.
        out : Place, optional
            Where the result belongs; else it is kept as long as it is needed here.
        """
        dtypes = resolved(function, tuple(map(dtype_of, args)))
        if dtypes is None:
            raise Refusal(f"{function.__name__} of such dtypes")
        shape = np.broadcast_shapes(*(arg.shape for arg in args if isinstance(arg, Place)))
        target = self.target(shape, dtypes[-1], out)
        nest = self.lowering.nest(shape)
        given = [
            nest.cast(nest.read(arg.broadcast(shape)), dtype)
            if isinstance(arg, Place)
            else Literal.of(arg, dtype)
            for arg, dtype in zip(args, dtypes, strict=False)
        ]
        done = written_or_found(function, dtypes, math.prod(shape))
        nest.write(nest.op(done, dtypes, *given), target)
        return target

    def target(self, shape: tuple[int, ...], dtype: np.dtype[Any], out: Place | None) -> Place:
        """Give the place of a result, and see to it that it is what eager gives."""
        if out is None:
            return self.lowering.temporary(shape, dtype)
        if (out.shape, out.dtype) != (shape, dtype):
            raise Refusal("operands of such shapes and dtypes")
        return out

    def choose(self, condition: Place, x: Any, y: Any) -> Place:
        """Do what `numpy.where` does; one of both is a place, and the other like it."""
        args = [condition, x, y]
        shape = np.broadcast_shapes(*(arg.shape for arg in args if isinstance(arg, Place)))
        dtype = next(arg.dtype for arg in (x, y) if isinstance(arg, Place))
        nest, target = self.lowering.nest(shape), self.lowering.temporary(shape, dtype)
        where: Any = elementwise.Bound(np.where)  # which stands for a function here
        dtypes = (condition.dtype, dtype, dtype, dtype)
        given = [
            nest.read(arg.broadcast(shape)) if isinstance(arg, Place) else Literal.of(arg, dtype)
            for arg in args
        ]
        nest.write(nest.op(where, dtypes, *given), target)
        return target

    def cast(self, place: Place, dtype: np.dtype[Any], out: Place | None = None) -> Place:
        """Convert elements."""
        if place.dtype == dtype and out is None:
            return place
        target = self.target(place.shape, dtype, out)
        nest = self.lowering.nest(place.shape)
        nest.write(nest.read(place), target)
        return target

    def reduce(self, ufunc: np.ufunc, place: Place, axes: Any, out: Place | None = None) -> Place:
        """Bring elements together along axes, which are kept with length one."""
        axes = axes_of(axes, len(place.shape))
        shape = tuple(1 if k in axes else n for k, n in enumerate(place.shape))
        if out is not None and out.shape != shape:
            if len(out.shape) != len(shape) - len(axes):
                raise Refusal("operands of such shapes and dtypes")
            target = out
        else:
            target = self.target(shape, place.dtype, out)
        nest = self.lowering.nest(place.shape)
        ended(nest, ufunc, nest.read(place), axes, target)
        return target

    def average(self, place: Place, axes: Sequence[int]) -> Place:
        """Add up along axes, which are kept, and divide by the number of elements."""
        count = math.prod(place.shape[axis] for axis in axes)
        return self.do(np.divide, self.reduce(np.add, place, tuple(axes)), count)

    def inner(self, x: Place, y: Place, axes: Sequence[int]) -> Place:
        """Add up products along axes, negative ones, which are kept with length one."""
        return self.reduce(np.add, self.do(np.multiply, x, y), tuple(axes))


def dtype_of(arg: Any) -> Any:
    """Say of what dtype an operand is."""
    return arg.dtype if isinstance(arg, Place) else kind_of(arg)


def shaped(place: Place, shape: tuple[int, ...]) -> Place:
    """Leave out or insert axes of one element."""
    strides = iter([s for n, s in zip(place.shape, place.strides, strict=True) if n != 1])
    kept = tuple([next(strides) if n != 1 else 0 for n in shape])
    return Place(place.root, place.offset, shape, kept, place.dtype)
