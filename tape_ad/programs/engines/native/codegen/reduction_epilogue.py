"""Reductions at the end of a loop: lane by lane on the way, and the lanes together behind it."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from attrs import define, field, frozen

from tape_ad.programs.engines.native.codegen.elementwise import lowered
from tape_ad.programs.engines.native.codegen.ir_builder import ComplexLane, Emitter, Lane, select
from tape_ad.programs.engines.native.codegen.loads_stores import SAME, load_element, store_element
from tape_ad.programs.engines.native.codegen.notation import element_type, part_of
from tape_ad.programs.engines.native.codegen.vectors import library
from tape_ad.programs.engines.native.ir.loop_nests import Argument

__all__ = [
    "ASSIGN",
    "EACH",
    "JOIN",
    "Accumulators",
    "Ending",
    "identity_of",
    "is_sum",
    "joined",
]

ASSIGN, JOIN, EACH = "assign", "join", "each"
"""What a reduction does: it stores one result, brings it together with the one that is there, or
brings each element together with the one that is there."""


@frozen
class Ending:
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
    emitter : Emitter
        What writes the body of the loop.
    endings : dict of int to Ending
        By the number of the operand that is the result.
    """

    emitter: Emitter
    endings: dict[int, Ending]
    _declarations: dict[str, str] = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._declarations = self.emitter.declarations

    @property
    def have_sum(self) -> bool:
        """Whether sums are among them, which are to be summed in parts."""
        return any(is_sum(each.ufunc, each.dtype) for each in self.endings.values())

    def begun(self, level: int, before: str, back: str) -> Iterator[str]:
        """Write what there is at the beginning of a turn of a level's loop."""
        for number, ending in self.endings.items():
            identity = self._identity(ending)
            for part, start in zip(parts_of(identity), numbers_of(identity), strict=True):
                name, kind = f"%r{number}{part}.{level}", self.emitter.type_of(start.dtype)
                yield f"  {name} = phi {kind} [{start.name}, %{before}], [{name}.next, %{back}]"

    def take(self, number: int, value: Lane, mask: Lane) -> None:
        """Write, in the body, that the lanes of a mask are brought together with what there is."""
        ending = self.endings[number]
        value = select(mask, value, self._identity(ending))
        both = joined(ending.ufunc, self._so_far(self.emitter, number, 0), value)
        self.emitter.lines += self._named(both, number, 0)

    def carried(self, level: int) -> Iterator[str]:
        """Write that a level takes in what the one within it has brought together."""
        for number, ending in self.endings.items():
            emitter = Emitter(self.emitter.lanes, library(), prefix=f"%l{level}.{number}.")
            mine = self._so_far(emitter, number, level)
            both = joined(ending.ufunc, mine, self._so_far(emitter, number, level - 1))
            self._declarations |= emitter.declarations
            yield from (f"  {line}" for line in [*emitter.lines, *self._named(both, number, level)])

    def finished(self, level: int) -> Iterator[str]:
        """Write that the lanes of the outermost level come together, and go."""
        for number, ending in self.endings.items():
            width = self.emitter.lanes
            emitter = Emitter(width, library(), prefix=f"%z{number}.")
            value = self._so_far(emitter, number, level)
            while width > 1:
                width //= 2
                inner = Emitter(width, library(), prefix=f"%z{number}.{width}.")
                inner.lines, inner.declarations = emitter.lines, emitter.declarations
                value = joined(ending.ufunc, *halves(value, emitter, inner))
            last = Emitter(1, library(), prefix=f"%y{number}.")
            last.lines, last.declarations = emitter.lines, emitter.declarations
            value = moved(value, last)
            if ending.mode == JOIN:
                before = load_element(last, f"%p{number}", ending.dtype)
                value = joined(ending.ufunc, before, value)
            store_element(value, f"%p{number}", ending.dtype)
            self._declarations |= last.declarations
            yield from (f"  {line}" for line in last.lines)

    def _identity(self, ending: Ending) -> Lane:
        return self.emitter.constant(identity_of(ending.ufunc, ending.dtype), ending.dtype)

    def _so_far(self, emitter: Emitter, number: int, level: int) -> Lane:
        """Give what a level has brought together."""
        dtype = self.endings[number].dtype
        if dtype.kind != "c":
            return Lane(emitter, f"%r{number}x.{level}", dtype)
        re, im = (
            Lane(emitter, f"%r{number}{part}.{level}", part_of(dtype)) for part in ("re", "im")
        )
        return ComplexLane.of(re, im)

    def _named(self, value: Lane, number: int, level: int) -> Iterator[str]:
        """Write a value under the name that the beginning of its loop knows."""
        for part, lane in zip(parts_of(value), numbers_of(value), strict=True):
            kind = self.emitter.type_of(lane.dtype)
            yield f"%r{number}{part}.{level}.next = bitcast {kind} {lane.name} to {kind}"


def numbers_of(value: Lane) -> Sequence[Lane]:
    """Give the parts of a complex value, else the value."""
    return (value.re, value.im) if isinstance(value, ComplexLane) else (value,)


def parts_of(value: Lane) -> Sequence[str]:
    """Name them."""
    return ("re", "im") if isinstance(value, ComplexLane) else ("x",)


def halves(value: Lane, emitter: Emitter, inner: Emitter) -> tuple[Lane, Lane]:
    """Write the division of a vector in two, of which another emitter writes what comes of them."""
    if isinstance(value, ComplexLane):
        re, im = halves(value.re, emitter, inner), halves(value.im, emitter, inner)
        return ComplexLane.of(re[0], im[0]), ComplexLane.of(re[1], im[1])
    width, one = inner.lanes, element_type(value.dtype)
    whole, found = f"<{2 * width} x {one}>", []
    for start in (0, width):
        if width == 1:
            name = emitter.emit(f"extractelement {whole} {value.name}, i64 {start}")
        else:
            picked = ", ".join(f"i32 {i}" for i in range(start, start + width))
            name = emitter.emit(
                f"shufflevector {whole} {value.name}, {whole} poison, <{width} x i32> <{picked}>"
            )
        found.append(Lane(inner, name, value.dtype))
    return found[0], found[1]


def moved(value: Lane, emitter: Emitter) -> Lane:
    """Give a value to what writes the next lines."""
    if isinstance(value, ComplexLane):
        return ComplexLane.of(moved(value.re, emitter), moved(value.im, emitter))
    return Lane(emitter, value.name, value.dtype)


def joined(ufunc: np.ufunc, x: Lane, y: Lane) -> Lane:
    """Write a ufunc of two values of one dtype."""
    return lowered(x.emitter, ufunc, (x.dtype, x.dtype, x.dtype), [x, y])


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
