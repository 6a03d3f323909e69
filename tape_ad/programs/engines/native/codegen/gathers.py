"""Scatter and scatter-add loops, and others that are written by hand, as LLVM text.

The operands of those are, in this order: an int64 for each array of integers, the length of its
axis in elements; those arrays, of int64; for `MIXED` a byte
that tells whether elements are added; what is read; what is written; and a byte that becomes 1
where an integer is out of bounds. What the integers lead into has a stride of 0 along their axes.
"""

import functools
from collections.abc import Iterator
from typing import Any

import numpy as np

from tape_ad.programs.engines.native.codegen.ir_builder import element_type, part_of, vector_type
from tape_ad.programs.engines.native.ir import LLVMFunction
from tape_ad.programs.engines.native.runtime.compiling import with_fields

PUT, ADD, MIXED = "put", "add", "mixed"
"""What is stored there, added to what is there, or added only if a byte says so."""

FRAME = """define void @loop(ptr %args, ptr %dims, ptr %steps, ptr %data) {
entry:
  %n = load i64, ptr %dims
<ahead>
  br label %head
head:
  %i = phi i64 [0, %entry], [%i.next, %next]
<carried>
  %more = icmp slt i64 %i, %n
  br i1 %more, label %body, label %done
body:
<body>
next:
  %i.next = add i64 %i, 1
<further>
  br label %head
done:
  ret void
}
"""
"""A loop over elements: its body goes on to `next`."""


def framed(operands: int, ahead: str, body: str, carried: str = "") -> LLVMFunction:
    """Write a loop, with where its operands are, and how far their elements are apart.

    In its body, the element of operand k is at ``%ak``.
    """
    given = [
        f"  %p{number} = field ptr %args, {number}\n  %s{number} = field i64 %steps, {number}"
        for number in range(operands)
    ]
    used = [k for k in range(operands) if f"%a{k}" in body]
    places = [f"  %a{k} = phi ptr [%p{k}, %entry], [%a{k}.next, %next]" for k in used]
    steps = [f"  %a{k}.next = getelementptr i8, ptr %a{k}, i64 %s{k}" for k in used]
    parts = {
        "ahead": "\n".join([*given, ahead]),
        "carried": "\n".join([*places, carried]),
        "body": body,
        "further": "\n".join(steps),
    }
    text = functools.reduce(lambda text, part: text.replace(f"<{part}>", parts[part]), parts, FRAME)
    return LLVMFunction(with_fields(text))


@functools.cache
def scattering(
    what: str,
    dtype: np.dtype[Any],
    strides: tuple[int, ...],
    columns: int = 1,
    *,
    from_end: bool = True,
) -> LLVMFunction:
    """Write a loop that stores or adds elements where their indices lead.

    Parameters
    ----------
    what : str
    dtype : numpy.dtype
        Of the elements.
    strides : tuple of int
        For each array of integers, the stride in bytes of its axis.
    columns : int
        How many elements, side by side, each index leads to.
    from_end : bool
        Whether indices below 0 count from the end.
    """
    count = len(strides)
    operands = 1 + count + (what == MIXED) + 3
    source, target, status = operands - 3, operands - 2, operands - 1
    ahead = [f"  %length{k} = field i64 %p0, {k}" for k in range(count)]
    if what == MIXED:
        ahead.append(f"  %mode.byte = load i8, ptr %p{count + 1}")
        ahead.append("  %mode = icmp ne i8 %mode.byte, 0")
    body = [
        *leading(strides, from_end),
        "  br i1 %bad, label %outside, label %inside",
        "outside:",
        f"  store i8 1, ptr %p{status}",
        "  br label %next",
        "inside:",
        f"  %to = getelementptr i8, ptr %a{target}, i64 %way",
        *moving(what, dtype, columns, f"%a{source}"),
        "  br label %next",
    ]
    return framed(operands, "\n".join(ahead), "\n".join(body))


def leading(strides: tuple[int, ...], from_end: bool) -> Iterator[str]:
    """Write where the integers lead for an element, and whether one of them is out of bounds."""
    way, bad = "0", "false"
    for k, stride in enumerate(strides):
        yield f"  %given{k} = load i64, ptr %a{k + 1}, align 1"
        index = f"%index{k}" if from_end else f"%given{k}"
        if from_end:
            yield f"  %below{k} = icmp slt i64 %given{k}, 0"
            yield f"  %from.end{k} = add i64 %given{k}, %length{k}"
            yield f"  {index} = select i1 %below{k}, i64 %from.end{k}, i64 %given{k}"
        yield f"  %bad.one{k} = icmp uge i64 {index}, %length{k}"
        yield f"  %far{k} = mul i64 {index}, {stride}"
        last = k == len(strides) - 1
        ways, bads = ("%way", "%bad") if last else (f"%way.{k}", f"%bad.{k}")
        yield f"  {ways} = add i64 {way}, %far{k}"
        yield f"  {bads} = or i1 {bad}, %bad.one{k}"
        way, bad = ways, bads


def moving(what: str, dtype: np.dtype[Any], columns: int, source: str) -> Iterator[str]:
    """Write what is done with elements that are side by side."""
    part, lanes = (part_of(dtype), 2 * columns) if dtype.kind == "c" else (dtype, columns)
    kind = vector_type("i8" if dtype.kind == "b" else element_type(part), lanes)
    add = {"f": "fadd", "b": "or"}.get(part.kind, "add")
    yield f"  %x = load {kind}, ptr {source}, align 1"
    found = "%x"
    if what != PUT:
        yield f"  %y = load {kind}, ptr %to, align 1"
        yield f"  %sum = {add} {kind} %y, %x"
        found = "%sum"
    if what == MIXED:
        yield f"  %one = select i1 %mode, {kind} %sum, {kind} %x"
        found = "%one"
    yield f"  store {kind} {found}, ptr %to, align 1"


MARKING = """  %given = load i64, ptr %a1, align 1
  %below = icmp slt i64 %given, 0
  %from.end = add i64 %given, %length
  %index = select i1 %below, i64 %from.end, i64 %given
  %bad = icmp uge i64 %index, %length
  br i1 %bad, label %next, label %inside
inside:
  %mark = getelementptr i8, ptr %p2, i64 %index
  %before = load i8, ptr %mark
  store i8 1, ptr %mark
  %twice = load i8, ptr %p3
  %now = or i8 %twice, %before
  store i8 %now, ptr %p3
  br label %next"""


@functools.cache
def marking() -> LLVMFunction:
    """Write the loop that tells whether integers name a place twice.

    Its operands are the length of the axis, the integers, a byte for each place, and one that
    becomes 1.
    """
    return framed(4, "  %length = load i64, ptr %p0", MARKING)


COLLECTING = """  %mark = load i64, ptr %a1
  %index = load i64, ptr %index.at
  %index.next = add i64 %index, 1
  store i64 %index.next, ptr %index.at
  %is = icmp sge i64 %mark, 0
  br i1 %is, label %found, label %next
found:
  %count = load i64, ptr %p4
  %count.next = add i64 %count, 1
  store i64 %count.next, ptr %p4
  %fits = icmp slt i64 %count, %most
  br i1 %fits, label %keep, label %next
keep:
  %mark.at = getelementptr i64, ptr %p2, i64 %count
  store i64 %mark, ptr %mark.at
  %place.at = getelementptr i64, ptr %p3, i64 %count
  store i64 %index, ptr %place.at
  br label %next"""


@functools.cache
def collecting() -> LLVMFunction:
    """Write the loop that collects marks which are not negative, and where they are.

    Its operands are how many there is room for; the marks, of int64; where they go, and where
    their places do; and how many there have been so far, of how many elements.
    """
    ahead = "  %most = load i64, ptr %p0\n  %index.at = getelementptr i64, ptr %p4, i64 1"
    return framed(5, ahead, COLLECTING)


MASKING = """define void @loop(ptr %args, ptr %dims, ptr %steps, ptr %data) {
entry:
  %n = load i64, ptr %dims
  %most = field i64 %dims, 1
  %last = sub i64 %most, 1
  %mask = field ptr %args, 0
  %given = field ptr %args, 1
  %target = field ptr %args, 2
  %count.at = field ptr %args, 3
  %aside = alloca <kind>
  br label %head
head:
  %i = phi i64 [0, %entry], [%i.one, %one], [%i.eight, %eight]
  %j = phi i64 [0, %entry], [%j.one, %one], [%j.eight, %eight]
  %more = icmp slt i64 %i, %n
  br i1 %more, label %body, label %done
body:
  %byte.at = getelementptr i8, ptr %mask, i64 %i
  %i.eight = add i64 %i, 8
  %j.most = add i64 %j, 8
  %fits.i = icmp sle i64 %i.eight, %n
  %fits.j = icmp sle i64 %j.most, %most
  %fits.eight = and i1 %fits.i, %fits.j
  br i1 %fits.eight, label %eight, label %one
eight:
  %bytes = load <8 x i8>, ptr %byte.at, align 1
  %are = icmp ne <8 x i8> %bytes, zeroinitializer
<lanes>
  %chosen = zext i8 %chosen8 to i64
  %j.eight = add i64 %j, %chosen
  br label %head
one:
  %byte = load i8, ptr %byte.at
  %is = icmp ne i8 %byte, 0
  %step = zext i1 %is to i64
  %fits = icmp slt i64 %j, %most
  %at = select i1 %fits, i64 %j, i64 %last
<moving>
  %i.one = add i64 %i, 1
  %j.one = add i64 %j, %step
  br label %head
done:
  store i64 %j, ptr %count.at
  ret void
}
"""
CHOSEN = """  %from = getelementptr <kind>, ptr %given, i64 %i
  %x = load <kind>, ptr %from, align 1
  %there = getelementptr <kind>, ptr %target, i64 %at
  %kept = and i1 %is, %fits
  %to = select i1 %kept, ptr %there, ptr %aside
  store <kind> %x, ptr %to, align 1"""
SPREAD = """  %from = getelementptr <kind>, ptr %given, i64 %at
  %x = load <kind>, ptr %from, align 1
  %bits = sext i1 %is to <kind>
  %y = and <kind> %x, %bits
  %to = getelementptr <kind>, ptr %target, i64 %i
  store <kind> %y, ptr %to, align 1"""


@functools.cache
def masking(dtype: np.dtype[Any], *, spreads: bool, registers: bool) -> LLVMFunction:
    """Write the loop that collects what a mask chooses, or spreads it again, with 0 elsewhere.

    Its operands, which lie side by side, are the mask, what is read, what is written, and how many
    elements the mask has chosen. Its lengths are those of the mask and of what is chosen. While
    there is room it takes eight at once, and stores what is not chosen where the next one goes;
    or has the processor move them within `registers`.
    """
    kind, how = f"i{8 * dtype.itemsize}", "expand" if spreads else "compress"
    moves = f"@llvm.x86.avx512.mask.{how}.v8{kind}"
    eight = f"<8 x {kind}>"
    declarations = {
        "@llvm.ctpop.i8": "declare i8 @llvm.ctpop.i8(i8)",
        moves: f"declare {eight} {moves}({eight}, {eight}, <8 x i1>)",
    }
    if registers:
        source, target = ("%j", "%i") if spreads else ("%i", "%j")
        lanes = IN_REGISTERS.format(moves=moves, source=source, target=target)
    else:
        moving = lanes_spread() if spreads else lanes_collected()
        lanes = "\n".join([*places_of_lanes(), *moving])
    text = MASKING.replace("<lanes>", lanes)
    text = text.replace("<moving>", SPREAD if spreads else CHOSEN)
    text = with_fields(text.replace("<kind>", kind))
    return LLVMFunction(text, tuple(declarations.items()) if registers else ())


IN_REGISTERS = """  %bits8 = bitcast <8 x i1> %are to i8
  %chosen8 = call i8 @llvm.ctpop.i8(i8 %bits8)
  %from8 = getelementptr <kind>, ptr %given, i64 {source}
  %x8 = load <8 x <kind>>, ptr %from8, align 1
  %v8 = call <8 x <kind>> {moves}(<8 x <kind>> %x8, <8 x <kind>> zeroinitializer, <8 x i1> %are)
  %to8 = getelementptr <kind>, ptr %target, i64 {target}
  store <8 x <kind>> %v8, ptr %to8, align 1"""


def places_of_lanes() -> Iterator[str]:
    """Write, for each of eight elements, the place of the next one that is chosen."""
    yield "  %sum0 = zext <8 x i1> %are to <8 x i8>"
    for k in range(3):
        picks = ", ".join(f"i32 {max(lane - 2**k, -1) % 9}" for lane in range(8))
        yield (
            f"  %before{k} = shufflevector <8 x i8> %sum{k}, <8 x i8> zeroinitializer, "
            f"<8 x i32> <{picks}>"
        )
        yield f"  %sum{k + 1} = add <8 x i8> %sum{k}, %before{k}"
    yield "  %chosen8 = extractelement <8 x i8> %sum3, i32 7"
    yield "  %earlier = sub <8 x i8> %sum3, %sum0"
    for k in range(8):
        yield f"  %e{k} = extractelement <8 x i8> %earlier, i32 {k}"
        yield f"  %w{k} = zext i8 %e{k} to i64"
        yield f"  %j{k} = add i64 %j, %w{k}"


def lanes_collected() -> Iterator[str]:
    """Write that eight elements are stored, each where it goes if it is chosen."""
    for k in range(8):
        yield f"  %i{k} = add i64 %i, {k}"
        yield f"  %from{k} = getelementptr <kind>, ptr %given, i64 %i{k}"
        yield f"  %x{k} = load <kind>, ptr %from{k}, align 1"
        yield f"  %to{k} = getelementptr <kind>, ptr %target, i64 %j{k}"
        yield f"  store <kind> %x{k}, ptr %to{k}, align 1"


def lanes_spread() -> Iterator[str]:
    """Write that eight elements are what comes next, or 0."""
    before = "poison"
    for k in range(8):
        yield f"  %from{k} = getelementptr <kind>, ptr %given, i64 %j{k}"
        yield f"  %x{k} = load <kind>, ptr %from{k}, align 1"
        yield f"  %v{k} = insertelement <8 x <kind>> {before}, <kind> %x{k}, i32 {k}"
        before = f"%v{k}"
    yield f"  %v = select <8 x i1> %are, <8 x <kind>> {before}, <8 x <kind>> zeroinitializer"
    yield "  %to8 = getelementptr <kind>, ptr %target, i64 %i"
    yield "  store <8 x <kind>> %v, ptr %to8, align 1"


STEPPING = """  br i1 %near, label %step, label %fetch
fetch:
  %fetched = load <kind>, ptr %a0, align 1
  br label %step
step:
  %x0 = phi <kind> [%before, %body], [%fetched, %fetch]
<now>
  store <kind> %now, ptr %a<last>, align 1
  br label %next"""

NOW = {
    "add": """  %x1 = load <kind>, ptr %a1, align 1
  %now = fadd <kind> %x0, %x1""",
    "multiply": """  %x1 = load <kind>, ptr %a1, align 1
  %now = fmul <kind> %x0, %x1""",
    "recurrence": """  %x1 = load <kind>, ptr %a1, align 1
  %x2 = load <kind>, ptr %a2, align 1
  %product = fmul <kind> %x0, %x1
  %now = fadd <kind> %product, %x2""",
}
"""What becomes of what was before: for a sum, a product, or a product and a sum."""


@functools.cache
def stepping(what: str, dtype: np.dtype[Any]) -> LLVMFunction:
    """Write the loop of a scan, which keeps in a register what was before.

    Its operands are what was before, one number or two, and what is now. Only where what is now is
    not what was before in the next iteration, it is loaded each time.

    Parameters
    ----------
    what : str
        One of `NOW`.
    dtype : numpy.dtype
        Of real numbers.
    """
    last = 3 if what == "recurrence" else 2
    parts = {"<now>": NOW[what], "<last>": str(last), "<kind>": element_type(dtype)}

    def filled(text: str) -> str:
        return functools.reduce(lambda text, part: text.replace(part, parts[part]), parts, text)

    ahead = f"""  %follows = getelementptr i8, ptr %p0, i64 %s0
  %same.place = icmp eq ptr %follows, %p{last}
  %same.step = icmp eq i64 %s0, %s{last}
  %near = and i1 %same.place, %same.step
  %first = load <kind>, ptr %p0, align 1"""
    carried = "  %before = phi <kind> [%first, %entry], [%now, %next]"
    return framed(last + 1, filled(ahead), filled(STEPPING), filled(carried))


PANELS = """define void @loop(ptr %args, ptr %dims, ptr %steps, ptr %data) {
entry:
  %from = field ptr %args, 0
  %number = field ptr %args, 1
  %to = field ptr %args, 2
  %lines = field ptr %args, 3
  %results = field ptr %args, 4
  %count = load i64, ptr %dims
  %n = field i64 %dims, 1
  %m = field i64 %dims, 2
  %width = field i64 %dims, 3
  %side.from = field i64 %steps, 0
  %side.to = field i64 %steps, 2
  %step.from = field i64 %steps, 3
  %step.to = field i64 %steps, 4
  %inner = getelementptr i64, ptr %steps, i64 5
  %line = field i64 %inner, 0
  %result = field i64 %inner, 2
  %element = field i64 %inner, 3
  %element.to = field i64 %inner, 4
  %loop = field ptr %data, 0
  %own = field ptr %data, 1
  %given = alloca [3 x ptr]
  %given.1 = getelementptr ptr, ptr %given, i64 1
  %given.2 = getelementptr ptr, ptr %given, i64 2
  %sizes = alloca [3 x i64]
  %sizes.1 = getelementptr i64, ptr %sizes, i64 1
  %sizes.2 = getelementptr i64, ptr %sizes, i64 2
  store ptr %lines, ptr %given
  store ptr %number, ptr %given.1
  store ptr %results, ptr %given.2
  store i64 %n, ptr %sizes.1
  store i64 %m, ptr %sizes.2
  br label %head
head:
  %i = phi i64 [0, %entry], [%i.next, %body]
  %p = phi ptr [%from, %entry], [%p.next, %body]
  %q = phi ptr [%to, %entry], [%q.next, %body]
  %left = sub i64 %count, %i
  %more = icmp sgt i64 %left, 0
  br i1 %more, label %body, label %done
body:
  %few = icmp slt i64 %left, %width
  %now = select i1 %few, i64 %left, i64 %width
  store i64 %now, ptr %sizes
  call void @loop.read(ptr %p, i64 %step.from, i64 %side.from, ptr %lines, i64 %element,
    i64 %line, i64 %n, i64 %now)
  call void %loop(ptr %given, ptr %sizes, ptr %inner, ptr %own)
  call void @loop.written(ptr %results, i64 %element.to, i64 %result, ptr %q,
    i64 %step.to, i64 %side.to, i64 %m, i64 %now)
  %far.from = mul i64 %side.from, %width
  %far.to = mul i64 %side.to, %width
  %p.next = getelementptr i8, ptr %p, i64 %far.from
  %q.next = getelementptr i8, ptr %q, i64 %far.to
  %i.next = add i64 %i, %width
  br label %head
done:
  ret void
}
"""
MOVED = """define internal void @loop.<name>(ptr %from, i64 %step.from, i64 %side.from,
    ptr %to, i64 %step.to, i64 %side.to, i64 %n, i64 %count) {
entry:
  br label %line
line:
  %i = phi i64 [0, %entry], [%i.next, %end]
  %p = phi ptr [%from, %entry], [%p.next, %end]
  %q = phi ptr [%to, %entry], [%q.next, %end]
  br label %beside
beside:
  %k = phi i64 [0, %line], [%k.next, %beside]
  %s = phi ptr [%p, %line], [%s.next, %beside]
  %t = phi ptr [%q, %line], [%t.next, %beside]
  %x = load <kind>, ptr %s, align 1
  store <kind> %x, ptr %t, align 1
  %s.next = getelementptr i8, ptr %s, i64 %side.from
  %t.next = getelementptr i8, ptr %t, i64 %side.to
  %k.next = add i64 %k, 1
  %again = icmp slt i64 %k.next, %count
  br i1 %again, label %beside, label %end
end:
  %p.next = getelementptr i8, ptr %p, i64 %step.from
  %q.next = getelementptr i8, ptr %q, i64 %step.to
  %i.next = add i64 %i, 1
  %more = icmp slt i64 %i.next, %n
  br i1 %more, label %line, label %done
done:
  ret void
}
"""


@functools.cache
def panels(read: np.dtype[Any], written: np.dtype[Any]) -> LLVMFunction:
    """Write the loop that calls one of lines for a few at once, copied so that each is in a row.

    Its operands are lines of one dtype, a number, and lines of the other; and room for the copies
    of both. Its lengths are those of that loop, and how many lines are copied at once; its steps
    those of that loop, here and among the copies; its data that loop and its data.
    """
    texts = [PANELS]
    for name, dtype in (("read", read), ("written", written)):
        kind = f"<{dtype.itemsize} x i8>"
        texts.append(MOVED.replace("<name>", name).replace("<kind>", kind))
    return LLVMFunction(with_fields("\n".join(texts)))
