"""Loads and stores of a loop's operands: whole vectors, and a masked one at the end."""

from typing import Any

import numpy as np
from attrs import define, field

from tape_ad.programs.engines.native.codegen.ir_builder import (
    ComplexVector,
    IRBuilder,
    VectorValue,
    element_type,
    part_of,
)
from tape_ad.programs.engines.native.codegen.vectors import library

__all__ = ["ANY", "SAME", "UNIT", "LoadsStores", "load_element", "store_element"]

UNIT, SAME, ANY = "unit", "same", "any"
"""How an operand lies along the loop: side by side, one element for all, or anyhow else."""


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
            re = self._load_part(number, part, access)
            im = self._load_part(number, part, access, part.itemsize)
            return ComplexVector.of(re, im)
        builder, n = self.builder, self.lanes
        kind, at = element_type(part), builder.emit("mul i64 %i0, 2")
        pointer = builder.emit(f"getelementptr {kind}, ptr %p{number}, i64 {at}")
        wide, mask = f"<{2 * n} x {kind}>", self._pairs()
        one = f"<{', '.join([f'{kind} {one_of(part)}'] * (2 * n))}>"
        suffix = f"v{2 * n}f{8 * part.itemsize}.p0"
        self._declare_load(wide, suffix, 2 * n)
        both = builder.emit(
            f"call {wide} @llvm.masked.load.{suffix}(ptr {pointer}, i32 1, {mask}, {wide} {one})"
        )
        lanes = []
        for first in (0, 1):
            picked = ", ".join(f"i32 {2 * i + first}" for i in range(n))
            name = builder.emit(
                f"shufflevector {wide} {both}, {wide} poison, <{n} x i32> <{picked}>"
            )
            lanes.append(VectorValue(builder, name, part))
        return ComplexVector.of(*lanes)

    def _pairs(self) -> str:
        """Write the mask for pairs of parts."""
        n = self.lanes
        picked = ", ".join(f"i32 {i // 2}" for i in range(2 * n))
        mask = self.builder.emit(
            f"shufflevector <{n} x i1> %mask, <{n} x i1> poison, <{2 * n} x i32> <{picked}>"
        )
        return f"<{2 * n} x i1> {mask}"

    def _load_part(
        self, number: int, dtype: np.dtype[Any], access: str, offset: int = 0
    ) -> VectorValue:
        """Write the reading of one vector of real elements; one stands where there are none."""
        builder, n = self.builder, self.lanes
        kind = memory_type(dtype)
        wide, suffix = f"<{n} x {kind}>", suffix_of(dtype, n)
        one = f"{wide} <{', '.join([f'{kind} {one_of(dtype)}'] * n)}>"
        if access == UNIT:
            pointer = builder.emit(f"getelementptr {kind}, ptr %p{number}, i64 %i0")
            self._declare_load(wide, f"{suffix}.p0", n)
            name = builder.emit(
                f"call {wide} @llvm.masked.load.{suffix}.p0(ptr {pointer}, i32 1, "
                f"<{n} x i1> %mask, {one})"
            )
        else:
            pointers = self._offsets(number, offset)
            function = f"@llvm.masked.gather.{suffix}.v{n}p0"
            builder.declarations[function] = (
                f"declare {wide} {function}(<{n} x ptr>, i32, <{n} x i1>, {wide})"
            )
            name = builder.emit(
                f"call {wide} {function}(<{n} x ptr> {pointers}, i32 1, <{n} x i1> %mask, {one})"
            )
        if dtype.kind == "b":
            name = builder.emit(f"icmp ne {wide} {name}, zeroinitializer")
        return VectorValue(builder, name, dtype)

    def _declare_load(self, wide: str, suffix: str, n: int) -> None:
        """Declare LLVM's reading of some elements."""
        name = f"@llvm.masked.load.{suffix}"
        self.builder.declarations[name] = f"declare {wide} {name}(ptr, i32, <{n} x i1>, {wide})"

    def _splat(self, number: int, dtype: np.dtype[Any]) -> VectorValue:
        """Write, before the loop, the reading of one element for all."""
        if number not in self._splats:
            builder = IRBuilder(1, library(), prefix=f"%e{number}.")
            element = load_element(builder, f"%p{number}", dtype)
            self.ahead += builder.lines
            parts = (element.re, element.im) if isinstance(element, ComplexVector) else (element,)
            lanes = []
            for which, part in enumerate(parts):
                kind = self.builder.type_of(part.dtype)
                name = f"%v{number}.{which}"
                one = element_type(part.dtype)
                zeros = f"<{self.lanes} x i32> zeroinitializer"
                self.ahead += [
                    f"{name}.one = insertelement {kind} poison, {one} {part.name}, i64 0",
                    f"{name} = shufflevector {kind} {name}.one, {kind} poison, {zeros}",
                ]
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
        builder, n = self.builder, self.lanes
        kind, name = memory_type(dtype), value.name
        wide, suffix = f"<{n} x {kind}>", suffix_of(dtype, n)
        if dtype.kind == "b":
            name = builder.emit(f"zext <{n} x i1> {name} to {wide}")
        if access == UNIT:
            pointer = builder.emit(f"getelementptr {kind}, ptr %p{number}, i64 %i0")
            self._store_side_by_side(wide, name, pointer, f"{suffix}.p0", f"<{n} x i1> %mask")
            return
        pointers = self._offsets(number, offset)
        function = f"@llvm.masked.scatter.{suffix}.v{n}p0"
        builder.declarations[function] = (
            f"declare void {function}({wide}, <{n} x ptr>, i32, <{n} x i1>)"
        )
        builder.lines.append(
            f"call void {function}({wide} {name}, <{n} x ptr> {pointers}, i32 1, <{n} x i1> %mask)"
        )

    def _store_side_by_side(
        self, wide: str, name: str, pointer: str, suffix: str, mask: str
    ) -> None:
        """Write LLVM's storing of some elements."""
        function = f"@llvm.masked.store.{suffix}"
        kinds = f"{wide}, ptr, i32, {mask.rpartition(' ')[0]}"
        self.builder.declarations[function] = f"declare void {function}({kinds})"
        self.builder.lines.append(
            f"call void {function}({wide} {name}, ptr {pointer}, i32 1, {mask})"
        )

    def _store_complex(self, value: ComplexVector, number: int, access: str) -> None:
        """Write the storing of one vector of complex elements."""
        builder, n, part = self.builder, self.lanes, value.re.dtype
        if access != UNIT:
            self._store_part(value.re, number, part, access)
            self._store_part(value.im, number, part, access, part.itemsize)
            return
        kind, narrow = element_type(part), builder.type_of(part)
        picked = ", ".join(f"i32 {i // 2 + n * (i % 2)}" for i in range(2 * n))
        both = builder.emit(
            f"shufflevector {narrow} {value.re.name}, {narrow} {value.im.name}, "
            f"<{2 * n} x i32> <{picked}>"
        )
        at = builder.emit("mul i64 %i0, 2")
        pointer = builder.emit(f"getelementptr {kind}, ptr %p{number}, i64 {at}")
        suffix = f"v{2 * n}f{8 * part.itemsize}.p0"
        self._store_side_by_side(f"<{2 * n} x {kind}>", both, pointer, suffix, self._pairs())

    def _offsets(self, number: int, part: int = 0) -> str:
        """Write where the elements of one vector are, if they are not side by side."""
        builder, many = self.builder, f"<{self.lanes} x i64>"
        base = builder.emit(f"mul i64 %i0, %s{number}")
        start = builder.emit(f"getelementptr i8, ptr %p{number}, i64 {base}")
        if part:
            start = builder.emit(f"getelementptr i8, ptr {start}, i64 {part}")
        ways = self._ways(number)
        return builder.emit(f"getelementptr i8, ptr {start}, {many} {ways}")

    def _ways(self, number: int) -> str:
        """Write how far the elements of a vector are from its first, once before the loop."""
        name = f"%w{number}"
        if not any(line.startswith(f"{name} ") for line in self.ahead):
            many = f"<{self.lanes} x i64>"
            iota = f"<{', '.join(f'i64 {i}' for i in range(self.lanes))}>"
            zeros = f"<{self.lanes} x i32> zeroinitializer"
            self.ahead += [
                f"{name}.one = insertelement {many} poison, i64 %s{number}, i64 0",
                f"{name}.all = shufflevector {many} {name}.one, {many} poison, {zeros}",
                f"{name} = mul {many} {name}.all, {iota}",
            ]
        return name


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
    """Write a one."""
    return "1.0" if dtype.kind == "f" else "1"
