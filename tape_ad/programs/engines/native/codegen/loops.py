"""Inner loops: elementwise functions and reductions fused, as LLVM's text in NumPy's convention."""

from collections.abc import Container, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from attrs import define, field, frozen

from tape_ad.programs.engines.native.codegen.elementwise import lowered
from tape_ad.programs.engines.native.codegen.ir_builder import (
    ComplexVector,
    IRBuilder,
    VectorValue,
    cast,
    iota,
    part_of,
    piece,
    select,
    splat,
)
from tape_ad.programs.engines.native.codegen.loads_stores import (
    SAME,
    UNIT,
    LoadsStores,
    load_element,
    numbers_of,
    store_element,
)
from tape_ad.programs.engines.native.codegen.vectors import library
from tape_ad.programs.engines.native.ir import Argument, Literal, Op, search
from tape_ad.programs.engines.native.ir import cast as conversion
from tape_ad.programs.engines.native.runtime.compiling import host

ASSIGN, JOIN, EACH, ROWS = "assign", "join", "each", "rows"
"""What a reduction does: it stores one result, brings it together with the one that is there, or
brings each element together with the one that is there; or it joins that of all rows of a loop."""


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
    over_rows : bool
        Whether they are those of the loop over rows, which is the outermost level.
    """

    builder: IRBuilder
    epilogues: dict[int, Epilogue]
    over_rows: bool = False
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
            if (epilogue.mode == ROWS) != self.over_rows:
                continue
            width = self.builder.lanes
            builder = IRBuilder(width, library(), prefix=f"%z{number}.")
            value = self._so_far(builder, number, f"{level}.next" if self.over_rows else level)
            while width > 1:
                width //= 2
                inner = IRBuilder(width, library(), prefix=f"%z{number}.{width}.")
                inner.lines, inner.declarations = builder.lines, builder.declarations
                value = joined(epilogue.ufunc, *halves(value, inner))
            last = IRBuilder(1, library(), prefix=f"%y{number}.")
            last.lines, last.declarations = builder.lines, builder.declarations
            value = moved(value, last)
            if epilogue.mode != ASSIGN:
                before = load_element(last, f"%p{number}", epilogue.dtype)
                value = joined(epilogue.ufunc, before, value)
            store_element(value, f"%p{number}", epilogue.dtype)
            self._declarations |= last.declarations
            yield from (f"  {line}" for line in last.lines)

    def _identity(self, epilogue: Epilogue) -> VectorValue:
        return self.builder.constant(identity_of(epilogue.ufunc, epilogue.dtype), epilogue.dtype)

    def _so_far(self, builder: IRBuilder, number: int, level: int | str) -> VectorValue:
        """Give what a level has brought together."""
        dtype = self.epilogues[number].dtype
        if dtype.kind != "c":
            return VectorValue(builder, f"%r{number}x.{level}", dtype)
        names = [f"%r{number}{part}.{level}" for part in ("re", "im")]
        return ComplexVector.of(*(VectorValue(builder, name, part_of(dtype)) for name in names))

    def _named(self, value: VectorValue, number: int, level: int) -> Iterator[str]:
        """Write a value under the name that the beginning of its loop knows."""
        for part, lane in zip(parts_of(value), numbers_of(value), strict=True):
            kind = self.builder.type_of(lane.dtype)
            yield f"%r{number}{part}.{level}.next = bitcast {kind} {lane.name} to {kind}"


def parts_of(value: VectorValue) -> Sequence[str]:
    """Name the real and the imaginary part of a value."""
    return ("re", "im") if isinstance(value, ComplexVector) else ("x",)


def halves(value: VectorValue, inner: IRBuilder) -> Sequence[VectorValue]:
    """Write the division of a vector in two, of which `inner` writes what comes of them."""
    if isinstance(value, ComplexVector):
        pairs = zip(halves(value.re, inner), halves(value.im, inner), strict=True)
        return [ComplexVector.of(re, im) for re, im in pairs]
    width = inner.lanes
    names = [piece(value.builder, value.name, value.dtype, k, width) for k in (0, width)]
    return [VectorValue(inner, name, value.dtype) for name in names]


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


EXTREMES = frozenset({np.maximum, np.minimum, np.fmax, np.fmin})


def identity_of(ufunc: np.ufunc, dtype: np.dtype[Any]) -> Any:
    """Give what NumPy begins with: it changes nothing, but that a sum of -0.0 is 0.0."""
    if ufunc in EXTREMES:
        least = ufunc in (np.maximum, np.fmax)
        if dtype.kind == "f" and ufunc in (np.fmax, np.fmin):  # of nothing but nan they give nan
            return dtype.type(np.nan)
        if dtype.kind == "f":
            return dtype.type(-np.inf if least else np.inf)
        if dtype.kind == "b":
            return not least
        return np.iinfo(dtype).min if least else np.iinfo(dtype).max
    return dtype.type(ufunc.identity)


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
        and the same, with narrower ones. Mere extrema of numbers that may be nan fill several
        registers, so that not every comparison waits for the one before.
        """
        if self.single:
            return 1
        dtypes = [*(dtype for dtype, _ in self.reads), *(op.dtypes[-1] for op in self.ops)]
        joined = [each for each in self.epilogues if each.mode != EACH]
        if any(is_sum(each.ufunc, each.dtype) for each in joined):
            return lanes_of(dtypes, WIDEST)
        mere = not (self.ops or self.writes or self.rows) and len(joined) == len(self.epilogues)
        several = mere and all(each.ufunc in EXTREMES and each.dtype.kind == "f" for each in joined)
        return lanes_of(dtypes, (4 if several else 1) * register_bytes())


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


def picks_well(dtype: np.dtype[Any]) -> bool:
    """Tell whether registers with masks are quicker than reading one such element at a time."""
    return dtype.kind in "fiu" and dtype.itemsize >= 4 and register_bytes() == WIDEST


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
        self.deep = 3 if self.inner.have_sum else 1
        together = {k: each for k, each in self.inner.epilogues.items() if each.mode == ROWS}
        self.rows = Accumulators(self.builder, together, over_rows=True)

    # One element

    def single(self) -> Iterator[str]:
        """Write the functions of one element."""
        yield from self.pointers()
        reads = [
            load_element(self.builder, f"%p{number}", dtype)
            for number, (dtype, _) in enumerate(self.loop.reads)
        ]  # also of what is gathered from
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
            if access not in (UNIT, SAME) and not self.loop.single:
                yield f"  %s{number}.at = getelementptr i64, ptr %steps, i64 {number}"
                yield f"  %s{number} = load i64, ptr %s{number}.at"

    def computed(self, reads: Sequence[VectorValue]) -> list[VectorValue]:
        """Write the operations."""
        values: list[VectorValue] = []
        alike = self.same_for_all()
        ahead = IRBuilder(self.lanes, library(), prefix="%before.")
        for number, op in enumerate(self.loop.ops):
            builder = ahead if number in alike else self.builder
            args = [
                moved(each, builder) if builder is ahead else each
                for each in (self.argument(arg, reads, values, builder) for arg in op.args)
            ]
            if op.kind.is_gather:
                value = self.gathered(op, args[1:], alike)
            elif op.function is conversion:
                value = cast(args[0], op.dtypes[-1])
            else:
                value = lowered(builder, op.function, op.dtypes, args)
            values.append(moved(value, self.builder) if builder is ahead else value)
        self.operands.ahead += ahead.lines
        self.builder.declarations |= ahead.declarations
        return values

    def gathered(
        self, op: Op, indices: Sequence[VectorValue], alike: Container[Argument]
    ) -> VectorValue:
        """Write an operation that reads where indices lead."""
        base, *given = op.args
        assert isinstance(base, int)  # noqa: S101 - for mypy: it is what is read
        asked: Any = op.function
        read = self.loop.reads[~base]
        if asked.function is search:
            return self.operands.search(~base, read, indices[0], *asked.rest)
        same = all(isinstance(arg, Literal) or arg in alike for arg in given)
        return self.operands.gather(~base, read, indices, asked.rest, alike=same)

    def same_for_all(self) -> set[Argument]:
        """Give the arguments that all elements share; operations among them precede the loop."""
        if self.loop.single:
            return set()
        found: set[Argument] = {
            ~k for k, (_, access) in enumerate(self.loop.reads) if access == SAME
        }
        for number, op in enumerate(self.loop.ops):
            same = all(isinstance(arg, Literal) or arg in found for arg in op.args)
            if same and not op.kind.is_gather:
                found.add(number)
        return found

    def argument(
        self,
        arg: Argument,
        reads: Sequence[VectorValue],
        values: Sequence[VectorValue],
        builder: IRBuilder | None = None,
    ) -> VectorValue:
        """Give what an argument stands for."""
        if isinstance(arg, Literal):
            return (builder or self.builder).constant(arg.number, arg.dtype)
        return values[arg] if arg >= 0 else reads[~arg]

    # Many elements

    def looped(self) -> Iterator[str]:
        """Write the loop: up to three, one in the other, where something is added up."""
        body, deep = self.body(), self.deep
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
        yield from self.rows.begun(self.deep, "entry", "done")

    def next_row(self) -> Iterator[str]:
        """Write the way to the next row, and behind the last one what all rows have one of."""
        yield from self.rows.carried(self.deep)
        for number in range(self.count):
            yield f"  %p{number}.next = getelementptr i8, ptr %p{number}, i64 %q{number}"
        yield "  %k.next = add i64 %k, 1"
        yield "  %k.more = icmp ult i64 %k.next, %rows"
        yield "  br i1 %k.more, label %row, label %end"
        yield "end:"
        yield from self.rows.finished(self.deep)

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
        builder.lines.append("%left = sub i64 %n, %i0")
        builder.lines += splat("%left.all", many, "i64 %left", self.lanes)
        builder.lines.append(f"%mask = icmp ugt {many} %left.all, {iota(self.lanes)}")
        load, store = self.operands.load, self.operands.store
        given = [arg for op in self.loop.ops for arg in op.args[op.kind.is_gather :]]
        given += [arg for arg, _, _ in self.loop.writes]
        given += [each.arg for each in self.loop.epilogues]
        reads = [
            load(number, *read)
            if ~number in given
            else VectorValue(builder, "poison", read[0])  # others are gathered from
            for number, read in enumerate(self.loop.reads)
        ]
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
