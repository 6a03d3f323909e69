"""Reduction epilogues: lanes are accumulated in a loop, and combined behind it."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from attrs import define, field, frozen

from tape_ad.programs.engines.native.codegen.elementwise import lowered
from tape_ad.programs.engines.native.codegen.ir_builder import (
    ComplexVector,
    IRBuilder,
    VectorValue,
    element_type,
    part_of,
    select,
)
from tape_ad.programs.engines.native.codegen.loads_stores import SAME, load_element, store_element
from tape_ad.programs.engines.native.codegen.vectors import library
from tape_ad.programs.engines.native.ir.loop_nests import Argument

__all__ = [
    "ASSIGN",
    "EACH",
    "JOIN",
    "Accumulators",
    "Epilogue",
    "identity_of",
    "is_sum",
    "joined",
]

ASSIGN, JOIN, EACH = "assign", "join", "each"
"""What a reduction does: it stores one result, brings it together with the one that is there, or
brings each element together with the one that is there."""


@frozen
class Epilogue:
    """A reduction at the end of a loop.

    Attributes
    ----------
    ufunc : numpy.ufunc
    arg : int or Literal
    dtype : numpy.dtype
    mode : str
    access : str
    """

    ufunc: np.ufunc
    arg: Argument
    dtype: np.dtype[Any]
    mode: str
    access: str = SAME


@define(eq=False)
class Accumulators:
    """What writes the reductions of a loop that have one result for all its elements.

    A loop may be several, one in the other, so that a sum is one of sums: ``%r3x.1`` is what the
    loop of level 1 has brought together for operand 3. Level 0 is the innermost one.

    Attributes
    ----------
    builder : IRBuilder
        What writes the body of the loop.
    epilogues : dict of int to Epilogue
        By the number of the operand that is the result.
    """

    builder: IRBuilder
    epilogues: dict[int, Epilogue]
    _declarations: dict[str, str] = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._declarations = self.builder.declarations

    @property
    def have_sum(self) -> bool:
        """Whether sums are among them, which are to be summed in parts."""
        return any(is_sum(each.ufunc, each.dtype) for each in self.epilogues.values())

    def begun(self, level: int, before: str, back: str) -> Iterator[str]:
        """Write what there is at the beginning of an iteration of a level's loop."""
        for number, epilogue in self.epilogues.items():
            identity = self._identity(epilogue)
            for part, start in zip(parts_of(identity), numbers_of(identity), strict=True):
                name, kind = f"%r{number}{part}.{level}", self.builder.type_of(start.dtype)
                yield f"  {name} = phi {kind} [{start.name}, %{before}], [{name}.next, %{back}]"

    def take(self, number: int, value: VectorValue, mask: VectorValue) -> None:
        """Write, in the body, that the lanes of a mask are brought together with what there is."""
        epilogue = self.epilogues[number]
        value = select(mask, value, self._identity(epilogue))
        both = joined(epilogue.ufunc, self._so_far(self.builder, number, 0), value)
        self.builder.lines += self._named(both, number, 0)

    def carried(self, level: int) -> Iterator[str]:
        """Write that a level takes in what the one within it has brought together."""
        for number, epilogue in self.epilogues.items():
            builder = IRBuilder(self.builder.lanes, library(), prefix=f"%l{level}.{number}.")
            mine = self._so_far(builder, number, level)
            both = joined(epilogue.ufunc, mine, self._so_far(builder, number, level - 1))
            self._declarations |= builder.declarations
            yield from (f"  {line}" for line in [*builder.lines, *self._named(both, number, level)])

    def finished(self, level: int) -> Iterator[str]:
        """Write that the lanes of the outermost level come together, and go."""
        for number, epilogue in self.epilogues.items():
            width = self.builder.lanes
            builder = IRBuilder(width, library(), prefix=f"%z{number}.")
            value = self._so_far(builder, number, level)
            while width > 1:
                width //= 2
                inner = IRBuilder(width, library(), prefix=f"%z{number}.{width}.")
                inner.lines, inner.declarations = builder.lines, builder.declarations
                value = joined(epilogue.ufunc, *halves(value, builder, inner))
            last = IRBuilder(1, library(), prefix=f"%y{number}.")
            last.lines, last.declarations = builder.lines, builder.declarations
            value = moved(value, last)
            if epilogue.mode == JOIN:
                before = load_element(last, f"%p{number}", epilogue.dtype)
                value = joined(epilogue.ufunc, before, value)
            store_element(value, f"%p{number}", epilogue.dtype)
            self._declarations |= last.declarations
            yield from (f"  {line}" for line in last.lines)

    def _identity(self, epilogue: Epilogue) -> VectorValue:
        return self.builder.constant(identity_of(epilogue.ufunc, epilogue.dtype), epilogue.dtype)

    def _so_far(self, builder: IRBuilder, number: int, level: int) -> VectorValue:
        """Give what a level has brought together."""
        dtype = self.epilogues[number].dtype
        if dtype.kind != "c":
            return VectorValue(builder, f"%r{number}x.{level}", dtype)
        re, im = (
            VectorValue(builder, f"%r{number}{part}.{level}", part_of(dtype))
            for part in ("re", "im")
        )
        return ComplexVector.of(re, im)

    def _named(self, value: VectorValue, number: int, level: int) -> Iterator[str]:
        """Write a value under the name that the beginning of its loop knows."""
        for part, lane in zip(parts_of(value), numbers_of(value), strict=True):
            kind = self.builder.type_of(lane.dtype)
            yield f"%r{number}{part}.{level}.next = bitcast {kind} {lane.name} to {kind}"


def numbers_of(value: VectorValue) -> Sequence[VectorValue]:
    """Give the parts of a complex value, else the value."""
    return (value.re, value.im) if isinstance(value, ComplexVector) else (value,)


def parts_of(value: VectorValue) -> Sequence[str]:
    """Name them."""
    return ("re", "im") if isinstance(value, ComplexVector) else ("x",)


def halves(
    value: VectorValue, builder: IRBuilder, inner: IRBuilder
) -> tuple[VectorValue, VectorValue]:
    """Write the division of a vector in two, of which another builder writes what comes of them."""
    if isinstance(value, ComplexVector):
        re, im = halves(value.re, builder, inner), halves(value.im, builder, inner)
        return ComplexVector.of(re[0], im[0]), ComplexVector.of(re[1], im[1])
    width, one = inner.lanes, element_type(value.dtype)
    whole, found = f"<{2 * width} x {one}>", []
    for start in (0, width):
        if width == 1:
            name = builder.emit(f"extractelement {whole} {value.name}, i64 {start}")
        else:
            picked = ", ".join(f"i32 {i}" for i in range(start, start + width))
            name = builder.emit(
                f"shufflevector {whole} {value.name}, {whole} poison, <{width} x i32> <{picked}>"
            )
        found.append(VectorValue(inner, name, value.dtype))
    return found[0], found[1]


def moved(value: VectorValue, builder: IRBuilder) -> VectorValue:
    """Give a value to what writes the next lines."""
    if isinstance(value, ComplexVector):
        return ComplexVector.of(moved(value.re, builder), moved(value.im, builder))
    return VectorValue(builder, value.name, value.dtype)


def joined(ufunc: np.ufunc, x: VectorValue, y: VectorValue) -> VectorValue:
    """Write a ufunc of two values of one dtype."""
    return lowered(x.builder, ufunc, (x.dtype, x.dtype, x.dtype), [x, y])


def is_sum(ufunc: np.ufunc, dtype: np.dtype[Any]) -> bool:
    """Tell whether the order in which a reduction is done changes its rounding much."""
    return ufunc is np.add and dtype.kind in "fc"


def identity_of(ufunc: np.ufunc, dtype: np.dtype[Any]) -> Any:
    """Give what NumPy begins with: it changes nothing, but that a sum of -0.0 is 0.0."""
    if ufunc in (np.maximum, np.minimum, np.fmax, np.fmin):
        least = ufunc in (np.maximum, np.fmax)
        if dtype.kind == "f" and ufunc in (np.fmax, np.fmin):  # of nothing but nan they give nan
            return dtype.type(np.nan)
        if dtype.kind == "f":
            return dtype.type(-np.inf if least else np.inf)
        if dtype.kind == "b":
            return not least
        return np.iinfo(dtype).min if least else np.iinfo(dtype).max
    return dtype.type(ufunc.identity)
