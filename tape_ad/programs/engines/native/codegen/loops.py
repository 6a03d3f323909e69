"""Inner loops: elementwise functions and reductions fused, as LLVM's text in NumPy's convention."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from attrs import field, frozen

from tape_ad.programs.engines.native.codegen.elementwise import lowered
from tape_ad.programs.engines.native.codegen.ir_builder import IRBuilder, VectorValue, cast
from tape_ad.programs.engines.native.codegen.loads_stores import (
    ANY,
    LoadsStores,
    load_element,
    store_element,
)
from tape_ad.programs.engines.native.codegen.reduction_epilogue import (
    EACH,
    Accumulators,
    Epilogue,
    is_sum,
    joined,
)
from tape_ad.programs.engines.native.codegen.vectors import library
from tape_ad.programs.engines.native.ir.loop_nests import Argument, Literal, Op
from tape_ad.programs.engines.native.ir.loop_nests import cast as conversion
from tape_ad.programs.engines.native.runtime.compiling import host

__all__ = ["BLOCK", "Loop", "lanes_of", "written"]

BLOCK = 4096
"""The most elements of one call that ends in a sum, so that its rounding stays small."""

CHUNK = 10
"""How many vectors are added up one after the other, and how many such sums again."""


@frozen
class Loop:
    """What an inner loop does; equal ones are compiled once.

    Attributes
    ----------
    reads : tuple of (dtype, access)
    ops : tuple of Op
    writes : tuple of (argument, dtype, access)
    epilogues : tuple of Epilogue
    single : bool
        Whether it does one element only, straight on.
    rows : bool
        Whether it goes over several rows: `data` then is an array of int64, how many there are, and
        for each operand how many bytes it is from one to the next.
    """

    reads: tuple[tuple[np.dtype[Any], str], ...]
    ops: tuple[Op, ...]
    writes: tuple[tuple[Argument, np.dtype[Any], str], ...]
    epilogues: tuple[Epilogue, ...] = ()
    single: bool = False
    rows: bool = False
    _hash: int = field(init=False, eq=False, repr=False)

    @_hash.default
    def _(self) -> int:
        return hash((self.reads, self.ops, self.writes, self.epilogues, self.single, self.rows))

    def __hash__(self) -> int:
        return self._hash

    @property
    def lanes(self) -> int:
        """How many elements are done at once: what fits into the widest register.

        Sums always have as many lanes as with registers of 512 bits, so that they are as accurate,
        and the same, with narrower ones.
        """
        if self.single:
            return 1
        dtypes = [*(dtype for dtype, _ in self.reads), *(op.dtypes[-1] for op in self.ops)]
        sums = any(each.mode != EACH and is_sum(each.ufunc, each.dtype) for each in self.epilogues)
        return lanes_of(dtypes, WIDEST if sums else register_bytes())


def lanes_of(dtypes: Iterable[np.dtype[Any]], size: int | None = None) -> int:
    """Say how many elements of such dtypes fit into so many bytes, or into the widest register."""
    size = register_bytes() if size is None else size
    return max(size // max(map(width_of, dtypes), default=8), 1)


WIDEST = 64
"""The bytes of the widest registers that there are anywhere."""


def width_of(dtype: np.dtype[Any]) -> int:
    """Give the bytes of an element, of a complex one's parts."""
    return dtype.itemsize // 2 if dtype.kind == "c" else dtype.itemsize


def register_bytes() -> int:
    """Give the bytes of the widest register."""
    features = host().features
    if features.get("avx512f") and features.get("avx512dq") and features.get("avx512bw"):
        return WIDEST
    return 32 if features.get("avx2") else 16


def written(loop: Loop, name: str) -> tuple[str, dict[str, str]]:
    """Write a loop.

    Parameters
    ----------
    loop : Loop
    name : str
        What the function is called.

    Returns
    -------
    text : str
    declarations : dict of str to str
        What it calls.
    """
    writer = Writer(loop)
    lines = writer.single() if loop.single else writer.looped()
    text = "\n".join([f"define void @{name}({SIGNATURE}) {{", *lines, "  ret void", "}"])
    return text, writer.builder.declarations


SIGNATURE = "ptr %args, ptr %dims, ptr %steps, ptr %data"


class Writer:
    """What writes one loop."""

    def __init__(self, loop: Loop) -> None:
        self.loop, self.lanes = loop, loop.lanes
        self.builder = IRBuilder(self.lanes, library())
        self.operands = LoadsStores(self.builder)
        first = len(loop.reads) + len(loop.writes)
        self.inner = Accumulators(
            self.builder,
            {k: each for k, each in enumerate(loop.epilogues, start=first) if each.mode != EACH},
        )

    # One element

    def single(self) -> Iterator[str]:
        """Write the functions of one element."""
        yield from self.pointers()
        reads = [
            load_element(self.builder, f"%p{number}", dtype)
            for number, (dtype, _) in enumerate(self.loop.reads)
        ]
        values = self.computed(reads)
        for number, (arg, dtype, _) in enumerate(self.loop.writes):
            value = self.argument(arg, reads, values)
            store_element(value, f"%p{len(self.loop.reads) + number}", dtype)
        yield from self.builder.lines

    def pointers(self) -> Iterator[str]:
        """Write where the operands are, and how far their elements are apart."""
        accesses = [access for _, access in self.loop.reads]
        accesses += [access for _, _, access in self.loop.writes]
        accesses += [epilogue.access for epilogue in self.loop.epilogues]
        for number, access in enumerate(accesses):
            yield f"  %a{number} = getelementptr ptr, ptr %args, i64 {number}"
            name = f"%b{number}" if self.loop.rows else f"%p{number}"
            yield f"  {name} = load ptr, ptr %a{number}"
            if access == ANY and not self.loop.single:
                yield f"  %s{number}.at = getelementptr i64, ptr %steps, i64 {number}"
                yield f"  %s{number} = load i64, ptr %s{number}.at"

    def computed(self, reads: Sequence[VectorValue]) -> list[VectorValue]:
        """Write the operations."""
        values: list[VectorValue] = []
        for op in self.loop.ops:
            args = [self.argument(arg, reads, values) for arg in op.args]
            if op.function is conversion:
                values.append(cast(args[0], op.dtypes[-1]))
            else:
                values.append(lowered(self.builder, op.function, op.dtypes, args))
        return values

    def argument(
        self, arg: Argument, reads: Sequence[VectorValue], values: Sequence[VectorValue]
    ) -> VectorValue:
        """Give what an argument stands for."""
        if isinstance(arg, Literal):
            return self.builder.constant(arg.number, arg.dtype)
        return values[arg] if arg >= 0 else reads[~arg]

    # Many elements

    def looped(self) -> Iterator[str]:
        """Write the loop: up to three, one in the other, where something is added up."""
        body = self.body()
        deep = 3 if self.inner.have_sum else 1
        yield "entry:"
        yield from self.pointers()
        yield "  %n = load i64, ptr %dims"
        if self.loop.rows:
            yield from self.row()
        yield from (f"  {line}" for line in self.operands.ahead)
        yield f"  br label %head{deep - 1}"
        stops = {0: "%stop0", 1: "%stop1", 2: "%n"} if deep == 3 else {0: "%n"}
        for level in range(deep - 1, -1, -1):
            yield from self.head(level, deep, stops[level])
        yield "body:"
        yield from (f"  {line}" for line in body)
        yield f"  %i0.next = add i64 %i0, {self.lanes}"
        yield "  br label %head0"
        for level in range(1, deep):
            yield f"latch{level}:"
            yield from self.inner.carried(level)
            yield f"  br label %head{level}"
        yield "done:"
        yield from self.inner.finished(deep - 1)
        if self.loop.rows:
            yield from self.next_row()

    @property
    def start(self) -> str:
        """What the beginning of one row is called."""
        return "row" if self.loop.rows else "entry"

    def row(self) -> Iterator[str]:
        """Write the beginning of a loop over rows."""
        count = self.count
        yield "  %rows = load i64, ptr %data"
        for number in range(count):
            yield f"  %q{number}.at = getelementptr i64, ptr %data, i64 {number + 1}"
            yield f"  %q{number} = load i64, ptr %q{number}.at"
        yield "  br label %row"
        yield "row:"
        yield "  %k = phi i64 [0, %entry], [%k.next, %done]"
        for number in range(count):
            yield f"  %p{number} = phi ptr [%b{number}, %entry], [%p{number}.next, %done]"

    def next_row(self) -> Iterator[str]:
        """Write the way to the next row."""
        for number in range(self.count):
            yield f"  %p{number}.next = getelementptr i8, ptr %p{number}, i64 %q{number}"
        yield "  %k.next = add i64 %k, 1"
        yield "  %k.more = icmp ult i64 %k.next, %rows"
        yield "  br i1 %k.more, label %row, label %end"
        yield "end:"

    @property
    def count(self) -> int:
        """How many operands there are."""
        return len(self.loop.reads) + len(self.loop.writes) + len(self.loop.epilogues)

    def head(self, level: int, deep: int, stop: str) -> Iterator[str]:
        """Write the beginning of one of the loops."""
        outer = self.start if level == deep - 1 else f"pre{level}"
        start = "0" if level == deep - 1 else f"%i{level + 1}"
        back = "body" if level == 0 else f"latch{level}"
        following = "%i0.next" if level == 0 else f"%i{level - 1}"
        if level < deep - 1:
            yield f"pre{level}:"
            step = self.lanes * CHUNK ** (level + 1)
            limit = "%n" if level == deep - 2 else f"%stop{level + 1}"
            yield f"  %far{level} = add i64 %i{level + 1}, {step}"
            yield f"  %near{level} = icmp ult i64 %far{level}, {limit}"
            yield f"  %stop{level} = select i1 %near{level}, i64 %far{level}, i64 {limit}"
            yield f"  br label %head{level}"
        yield f"head{level}:"
        yield f"  %i{level} = phi i64 [{start}, %{outer}], [{following}, %{back}]"
        yield from self.inner.begun(level, outer, back)
        yield f"  %more{level} = icmp ult i64 %i{level}, {stop}"
        inside = "body" if level == 0 else f"pre{level - 1}"
        outside = "done" if level == deep - 1 else f"latch{level + 1}"
        yield f"  br i1 %more{level}, label %{inside}, label %{outside}"

    def body(self) -> list[str]:
        """Write what is done with one vector, or with the beginning of one at the end."""
        builder = self.builder
        many = f"<{self.lanes} x i64>"
        iota = f"<{', '.join(f'i64 {i}' for i in range(self.lanes))}>"
        builder.lines.append("%left = sub i64 %n, %i0")
        builder.lines.append(f"%left.one = insertelement {many} poison, i64 %left, i64 0")
        zeros = f"<{self.lanes} x i32> zeroinitializer"
        builder.lines.append(f"%left.all = shufflevector {many} %left.one, {many} poison, {zeros}")
        builder.lines.append(f"%mask = icmp ugt {many} %left.all, {iota}")
        load, store = self.operands.load, self.operands.store
        reads = [load(number, *read) for number, read in enumerate(self.loop.reads)]
        values = self.computed(reads)
        first = len(reads)
        for number, (arg, dtype, access) in enumerate(self.loop.writes, start=first):
            store(self.argument(arg, reads, values), number, dtype, access)
        first += len(self.loop.writes)
        for number, epilogue in enumerate(self.loop.epilogues, start=first):
            value = self.argument(epilogue.arg, reads, values)
            if epilogue.mode == EACH:
                before = load(number, epilogue.dtype, epilogue.access)
                both = joined(epilogue.ufunc, before, value)
                store(both, number, epilogue.dtype, epilogue.access)
            else:
                self.inner.take(number, value, VectorValue(builder, "%mask", np.dtype(bool)))
        return builder.lines
