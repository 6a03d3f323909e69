"""Loads and stores of one vector: side by side, one for all, far apart, or where indices lead."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
from attrs import define, field

from tape_ad.programs.engines.native.codegen.ir_builder import (
    BOOL,
    INT64,
    UINT64,
    ComplexVector,
    IRBuilder,
    VectorValue,
    call,
    element_type,
    iota,
    part_of,
    piece,
    resized,
    select,
    shuffled,
    splat,
)
from tape_ad.programs.engines.native.codegen.vectors import library

UNIT, SAME, ANY = "unit", "same", "any"
"""How an operand lies along the loop: side by side, one element for all, or anyhow else."""
STEPS: Mapping[str, int] = MappingProxyType({f"one in {step}": step for step in (2, 3, 4)})
"""Or one in so many of what lies side by side, where that is quickly read whole and picked from."""


@define(eq=False)
class LoadsStores:
    """What writes the reading and writing of one loop.

    It stands in the loop, in which ``%i0`` counts elements; operand k is at ``%pk``, its elements
    are ``%sk`` bytes apart, and ``%mask`` tells which lanes have an element.

    Attributes
    ----------
    builder : IRBuilder
        What writes the body of the loop.
    ahead : list of str
        What is to stand before the loop.
    """

    builder: IRBuilder
    ahead: list[str] = field(factory=list)
    _splats: dict[int, VectorValue] = field(factory=dict)

    @property
    def lanes(self) -> int:
        """How many elements a vector has."""
        return self.builder.lanes

    def load(self, number: int, dtype: np.dtype[Any], access: str) -> VectorValue:
        """Write the reading of one vector."""
        if access == SAME:
            return self._splat(number, dtype)
        if dtype.kind != "c":
            return self._load_part(number, dtype, access)
        part = part_of(dtype)
        if access == ANY:
            parts = [self._load_part(number, part, access, k * part.itemsize) for k in (0, 1)]
            return ComplexVector.of(*parts)
        builder, n = self.builder, self.lanes
        both, kind = self._loaded(part, 2 * n, self._pair_at(number, part), self._pairs())
        picks = (range(first, 2 * n, 2) for first in (0, 1))
        lanes = [VectorValue(builder, shuffled(builder, kind, both, each), part) for each in picks]
        return ComplexVector.of(*lanes)

    def gather(
        self,
        number: int,
        read: tuple[np.dtype[Any], str],
        indices: Sequence[VectorValue],
        axes: Sequence[tuple[int, int]],
        *,
        alike: bool,
    ) -> VectorValue:
        """Write the reading of one vector where indices lead; `alike` if all elements share them.

        An index that is out of bounds leads nowhere; see `ir.gather`.
        """
        builder, (dtype, access) = self.builder, read
        way = builder.constant(0, INT64)
        inside = VectorValue(builder, "%mask" if self.lanes > 1 else "true", BOOL)
        for given, (length, stride) in zip(indices, axes, strict=True):
            index = select(given < 0, given + length, given)
            inside = inside & (resized(index, UINT64) < length)
            way = way + index * stride
        if self.lanes == 1:
            at = select(inside, way, 0).name
            return load_element(builder, self._behind(f"%p{number}", at), dtype)
        if dtype.kind != "c":
            return self._gather_part(number, dtype, access, way, inside, alike and access == UNIT)
        part = part_of(dtype)
        step = dtype.itemsize
        lanes = [
            self._gather_part(number, part, access, way + k * part.itemsize, inside, step=step)
            for k in (0, 1)
        ]
        return ComplexVector.of(*lanes)

    def search(
        self,
        number: int,
        read: tuple[np.dtype[Any], str],
        key: VectorValue,
        count: int,
        stride: int,
        side: str,
    ) -> VectorValue:
        """Write the search for one vector: what is left of the list is halved, for all as often."""
        place = self.builder.constant(0, INT64)
        left = count
        while left:
            half = max(left // 2, 1)
            at = place + (half - 1) if half > 1 else place
            x = self.gather(number, read, [at], [(count, stride)], alike=False)
            behind = x >= key if side == "left" else x > key  # none is behind nan
            place = place + select(behind, place.like(0), half)
            left = left - half if left > 1 else 0
        return place

    def _gather_part(
        self,
        number: int,
        dtype: np.dtype[Any],
        access: str,
        way: VectorValue,
        inside: VectorValue,
        side_by_side: bool = False,
        step: int = 0,
    ) -> VectorValue:
        """Write the reading of one vector of real elements so many bytes from where they would be.

        Where these are side by side all are as far from there, else they may lie anywhere.
        """
        builder, n, start = self.builder, self.lanes, f"%p{number}"
        access = ANY if access in STEPS else access
        if access == ANY:
            start = self._place(number, dtype, access, 0)
        elif access == UNIT:
            step = step or dtype.itemsize
            start = self._behind(start, builder.emit(f"mul i64 %i0, {step}"))
        if side_by_side:
            where = self._behind(start, piece(builder, way.name, INT64, 0, 1))
        else:
            if access == UNIT:
                ways = ", ".join(f"i64 {k * step}" for k in range(n))
                way = way + VectorValue(builder, f"<{ways}>", INT64)
            kind = "ptr" if access != ANY else f"<{n} x ptr>"
            where = builder.emit(f"getelementptr i8, {kind} {start}, <{n} x i64> {way.name}")
        how = "load" if side_by_side else "gather"
        return self._truth(*self._loaded(dtype, n, where, inside.name, how), dtype)

    def _behind(self, pointer: str, way: str) -> str:
        """Write where so many bytes behind a pointer are."""
        return self.builder.emit(f"getelementptr i8, ptr {pointer}, i64 {way}")

    def _truth(self, name: str, kind: str, dtype: np.dtype[Any]) -> VectorValue:
        """Give what has been read, of bools what is not 0."""
        if dtype.kind == "b":
            name = self.builder.emit(f"icmp ne {kind} {name}, zeroinitializer")
        return VectorValue(self.builder, name, dtype)

    def _pair_at(self, number: int, part: np.dtype[Any]) -> str:
        """Write where pairs of parts begin."""
        at = self.builder.emit("mul i64 %i0, 2")
        return self.builder.emit(f"getelementptr {element_type(part)}, ptr %p{number}, i64 {at}")

    def _pairs(self) -> str:
        """Write the mask for pairs of parts."""
        n = self.lanes
        return shuffled(self.builder, f"<{n} x i1>", "%mask", [i // 2 for i in range(2 * n)])

    def _loaded(
        self, dtype: np.dtype[Any], n: int, where: str, mask: str, how: str = "load"
    ) -> tuple[str, str]:
        """Write LLVM's reading of some elements, with 1 where there are none; give their type."""
        name, wide, place = masked(how, dtype, n)
        ones = f"<{', '.join([f'{memory_type(dtype)} {one_of(dtype)}'] * n)}>"
        kinds = [place, "i32", f"<{n} x i1>", wide]
        return call(self.builder, name, wide, kinds, [where, "1", mask, ones]), wide

    def _stored(
        self, value: str, dtype: np.dtype[Any], n: int, where: str, mask: str, how: str = "store"
    ) -> None:
        """Write LLVM's storing of some elements."""
        name, wide, place = masked(how, dtype, n)
        kinds = [wide, place, "i32", f"<{n} x i1>"]
        call(self.builder, name, "void", kinds, [value, where, "1", mask])

    def _load_part(
        self, number: int, dtype: np.dtype[Any], access: str, offset: int = 0
    ) -> VectorValue:
        """Write the reading of one vector of real elements."""
        where, n = self._place(number, dtype, access, offset), self.lanes
        if access in STEPS:
            return self._load_one_in(STEPS[access], dtype, where)
        how = "load" if access == UNIT else "gather"
        return self._truth(*self._loaded(dtype, n, where, "%mask", how), dtype)

    def _load_one_in(self, step: int, dtype: np.dtype[Any], where: str) -> VectorValue:
        """Write the reading of one in so many elements, out of as many vectors."""
        found, kind, n = "", "", self.lanes
        for part in range(step):
            at = self._behind(where, f"{part * n * dtype.itemsize}")
            one, kind = self._loaded(dtype, n, at, self._among(step, part))
            places = [step * i - part * n for i in range(n)]  # in this vector, and those before
            picks = [n + place if 0 <= place < n else i for i, place in enumerate(places)]
            found = shuffled(self.builder, kind, found or one, picks, one)
        return self._truth(found, kind, dtype)

    def _store_one_in(self, step: int, value: str, dtype: np.dtype[Any], where: str) -> None:
        """Write the storing to one in so many elements, as so many vectors."""
        n = self.lanes
        for part in range(step):
            picks = [(part * n + i) // step for i in range(n)]
            spread = shuffled(self.builder, f"<{n} x {memory_type(dtype)}>", value, picks)
            at = self._behind(where, f"{part * n * dtype.itemsize}")
            self._stored(spread, dtype, n, at, self._among(step, part))

    def _among(self, step: int, part: int) -> str:
        """Write the mask of a vector which is one of so many, and has one in as many elements."""
        n = self.lanes
        places = range(part * n, part * n + n)
        never = np.iinfo(np.int64).max
        numbers = [never if place % step else place // step for place in places]
        listed = ", ".join(f"i64 {number}" for number in numbers)
        return self.builder.emit(f"icmp ugt <{n} x i64> %left.all, <{listed}>")

    def _splat(self, number: int, dtype: np.dtype[Any]) -> VectorValue:
        """Write, before the loop, the reading of one element for all."""
        if number not in self._splats:
            builder = IRBuilder(1, library(), prefix=f"%e{number}.")
            parts = numbers_of(load_element(builder, f"%p{number}", dtype))
            self.ahead += builder.lines
            lanes = []
            for which, part in enumerate(parts):
                kind = self.builder.type_of(part.dtype)
                name = f"%v{number}.{which}"
                element = f"{element_type(part.dtype)} {part.name}"
                self.ahead += splat(name, kind, element, self.lanes)
                lanes.append(VectorValue(self.builder, name, part.dtype))
            self._splats[number] = lanes[0] if len(lanes) == 1 else ComplexVector.of(*lanes)
        return self._splats[number]

    def store(self, value: VectorValue, number: int, dtype: np.dtype[Any], access: str) -> None:
        """Write the storing of one vector."""
        if isinstance(value, ComplexVector):
            self._store_complex(value, number, access)
        else:
            self._store_part(value, number, dtype, access)

    def _store_part(
        self, value: VectorValue, number: int, dtype: np.dtype[Any], access: str, offset: int = 0
    ) -> None:
        """Write the storing of one vector of real elements."""
        builder, n, name = self.builder, self.lanes, value.name
        if dtype.kind == "b":
            name = builder.emit(f"zext <{n} x i1> {name} to <{n} x i8>")
        where = self._place(number, dtype, access, offset)
        if access in STEPS:
            self._store_one_in(STEPS[access], name, dtype, where)
            return
        how = "store" if access == UNIT else "scatter"
        self._stored(name, dtype, n, where, "%mask", how)

    def _store_complex(self, value: ComplexVector, number: int, access: str) -> None:
        """Write the storing of one vector of complex elements."""
        builder, n, part = self.builder, self.lanes, value.re.dtype
        if access != UNIT:
            self._store_part(value.re, number, part, access)
            self._store_part(value.im, number, part, access, part.itemsize)
            return
        picks = [i // 2 + n * (i % 2) for i in range(2 * n)]
        kind = builder.type_of(part)
        both = shuffled(builder, kind, value.re.name, picks, value.im.name)
        self._stored(both, part, 2 * n, self._pair_at(number, part), self._pairs())

    def _place(self, number: int, dtype: np.dtype[Any], access: str, part: int) -> str:
        """Write where the elements of one vector are: the first, or each if they lie apart."""
        builder = self.builder
        if access == UNIT:
            return builder.emit(f"getelementptr {memory_type(dtype)}, ptr %p{number}, i64 %i0")
        base = builder.emit(f"mul i64 %i0, %s{number}")
        start = builder.emit(f"getelementptr i8, ptr %p{number}, i64 {base}")
        if access in STEPS:
            return start
        if part:
            start = builder.emit(f"getelementptr i8, ptr {start}, i64 {part}")
        ways = self._ways(number)
        return builder.emit(f"getelementptr i8, ptr {start}, <{self.lanes} x i64> {ways}")

    def _ways(self, number: int) -> str:
        """Write how far the elements of a vector are from its first, once before the loop."""
        name = f"%w{number}"
        if not any(line.startswith(f"{name} ") for line in self.ahead):
            many = f"<{self.lanes} x i64>"
            self.ahead += splat(f"{name}.all", many, f"i64 %s{number}", self.lanes)
            self.ahead.append(f"{name} = mul {many} {name}.all, {iota(self.lanes)}")
        return name


def masked(how: str, dtype: np.dtype[Any], n: int) -> tuple[str, str, str]:
    """Name LLVM's function for some of n elements; give their type, and that of where they are."""
    place, suffix = (f"<{n} x ptr>", f"v{n}p0") if how in ("gather", "scatter") else ("ptr", "p0")
    wide = f"<{n} x {memory_type(dtype)}>"
    return f"@llvm.masked.{how}.{suffix_of(dtype, n)}.{suffix}", wide, place


def load_element(builder: IRBuilder, pointer: str, dtype: np.dtype[Any]) -> VectorValue:
    """Write the reading of one element."""
    if dtype.kind == "c":
        part = part_of(dtype)
        kind = element_type(part)
        re = VectorValue(builder, builder.emit(f"load {kind}, ptr {pointer}, align 1"), part)
        at = builder.emit(f"getelementptr {kind}, ptr {pointer}, i64 1")
        im = VectorValue(builder, builder.emit(f"load {kind}, ptr {at}, align 1"), part)
        return ComplexVector.of(re, im)
    name = builder.emit(f"load {memory_type(dtype)}, ptr {pointer}, align 1")
    if dtype.kind == "b":
        name = builder.emit(f"icmp ne i8 {name}, 0")
    return VectorValue(builder, name, dtype)


def store_element(value: VectorValue, pointer: str, dtype: np.dtype[Any]) -> None:
    """Write the storing of one element."""
    builder = value.builder
    if isinstance(value, ComplexVector):
        kind = element_type(value.re.dtype)
        at = builder.emit(f"getelementptr {kind}, ptr {pointer}, i64 1")
        builder.lines.append(f"store {kind} {value.re.name}, ptr {pointer}, align 1")
        builder.lines.append(f"store {kind} {value.im.name}, ptr {at}, align 1")
        return
    name = value.name
    if dtype.kind == "b":
        name = builder.emit(f"zext i1 {name} to i8")
    builder.lines.append(f"store {memory_type(dtype)} {name}, ptr {pointer}, align 1")


def memory_type(dtype: np.dtype[Any]) -> str:
    """Write the type of an element in memory."""
    return "i8" if dtype.kind == "b" else element_type(dtype)


def suffix_of(dtype: np.dtype[Any], lanes: int) -> str:
    """Write how LLVM's names of functions tell a vector."""
    return f"v{lanes}{'f' if dtype.kind == 'f' else 'i'}{8 * dtype.itemsize}"


def one_of(dtype: np.dtype[Any]) -> str:
    """Write the number 1 of a dtype as LLVM does."""
    return "1.0" if dtype.kind == "f" else "1"


def numbers_of(value: VectorValue) -> Sequence[VectorValue]:
    """Give the parts of a complex value, else the value."""
    return (value.re, value.im) if isinstance(value, ComplexVector) else (value,)
