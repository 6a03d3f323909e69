"""Stencils: boxes of one array, shifted against one another, that are written one after the other.

So cotangents of a stencil come together, and each in a pass over memory of its own. Where the boxes
overlap, which is nearly everywhere, one loop nest does it all, element by element in their order.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import Any

import numpy as np
from attrs import define, evolve, field, frozen

from tape_ad.programs.engines.native.fusion import FusedNest
from tape_ad.programs.engines.native.ir import LoopNest, MemRef, is_external
from tape_ad.programs.engines.native.lowering import Lowered, canonical
from tape_ad.programs.engines.native.lowering.indexing import outside
from tape_ad.programs.program import Call, Value, root_of

Span = tuple[int, int]
Key = tuple[slice, ...]
Place = tuple[int, int]
"""The number of a step, and that of a part of its work."""
Touch = tuple[Place, LoopNest | None]

SMALL = 4096
"""From how many elements on passes over memory matter more than further loops."""
MOST = 12
"""How many boxes are written in one pass."""


def write_in_one_pass(lowered: Lowered) -> Lowered:
    """Let one nest write to boxes of an array where they overlap, and others to what is left."""
    uses = Uses(lowered)
    by_numpy = [number for number, each in enumerate(lowered.steps) if each.reason is not None]
    new: dict[Place, Sequence[LoopNest]] = {}
    for root, touched in uses.touched.items():
        for terms, core in runs_of(root, touched):
            first, last = terms[0].place[0], terms[-1].place[0]
            if not any(first <= number <= last for number in by_numpy):
                new |= divided(terms, core, uses)
    if not new:
        return lowered
    steps = list(lowered.steps)
    for number in {number for number, _ in new}:
        work = [new.get((number, k), [each]) for k, each in enumerate(steps[number].work)]
        steps[number] = evolve(steps[number], work=[part for parts in work for part in parts])
    return evolve(lowered, steps=steps)


@frozen(eq=False)
class Term:
    """A nest that writes to a box of an array, and reads nothing else of that.

    Attributes
    ----------
    place : (int, int)
    nest : LoopNest
    spans : tuple of (int, int)
        Where the box begins and ends along each axis, in elements of the array.
    """

    place: Place
    nest: LoopNest
    spans: tuple[Span, ...]

    @classmethod
    def of(cls, root: Value, touch: Touch) -> "Term | None":
        """Look at a nest that touches an array; None where it does something else."""
        place, nest = touch
        if nest is None or not is_elementwise(nest):
            return None
        ((_, box),) = nest.writes
        if box.root is not root or any(ref.root is root and ref != box for ref in nest.reads):
            return None
        spans = spans_of(box)
        return None if spans is None else cls(place, nest, spans)

    @property
    def layout(self) -> tuple[tuple[int, ...], np.dtype[Any]]:
        """How far the elements of the box are apart, and their dtype.

        Real parts are as far apart as the complex numbers that they are of.
        """
        ((_, box),) = self.nest.writes
        return box.strides, box.dtype


def is_elementwise(nest: LoopNest) -> bool:
    """Tell whether a nest stores one result, of operands at the same elements alone."""
    others = nest.callee or nest.reductions or len(nest.writes) != 1
    return not others and not any(op.kind.is_gather or is_external(op) for op in nest.ops)


def spans_of(box: MemRef) -> tuple[Span, ...] | None:
    """Say where a box begins and ends along each axis; None where its axes are not told apart."""
    rest, spans, around = box.offset, list[Span](), math.inf
    for length, stride in zip(box.shape, box.strides, strict=True):
        if stride <= 0:
            return None
        begin, rest = divmod(rest, stride)
        if (begin + length) * stride > around:
            return None
        spans.append((begin, begin + length))
        around = stride
    return None if rest else tuple(spans)


def runs_of(root: Value, touched: Sequence[Touch]) -> Iterator[tuple[list[Term], tuple[Span, ...]]]:
    """Give the terms of an array that come one after the other, and the box that they share.

    There are two or more, and that box is not small.
    """
    run: list[Term] = []
    core: tuple[Span, ...] = ()
    for term in (*(Term.of(root, touch) for touch in touched), None):
        shared = None
        if 0 < len(run) < MOST and term is not None and run[-1].layout == term.layout:
            pairs = zip(core, term.spans, strict=True)
            shared = tuple([(max(a, c), max(a, c, min(b, d))) for (a, b), (c, d) in pairs])
            least = max(SMALL, *(volume(each.spans) / 2 for each in (*run, term)))
            shared = shared if volume(shared) >= least else None
        if shared is None and len(run) > 1:
            yield run, core
        if term is not None:
            run, core = ([*run, term], shared) if shared else ([term], term.spans)
        else:
            run = []


def volume(box: Sequence[Span]) -> int:
    """Count the elements of a box."""
    return math.prod(end - begin for begin, end in box)


def divided(
    terms: Sequence[Term], core: Sequence[Span], uses: "Uses"
) -> Mapping[Place, Sequence[LoopNest]]:
    """Give what is done in place of each term: its box but for the core, and at last all of that.

    There is nothing if what a term reads is changed until then, or the nest would be too large.
    """
    last = terms[-1].place
    lengths = tuple([end - begin for begin, end in core if end - begin != 1])  # as `canonical`
    inside, work = FusedNest(lengths), dict[Place, list[LoopNest]]()
    for term in terms:
        shape = term.nest.shape
        key = tuple(
            slice(begin - at, end - at)
            for (begin, end), (at, _) in zip(core, term.spans, strict=True)
        )
        whole = FusedNest(shape)
        take(whole, term.nest, uses, last)
        whole.writes = whole.writes[-1:]
        part = part_of(whole, key)
        if uses.are_changed(term.nest, term.place, last) or not inside.can_take(part):
            return {}
        inside.add(part)  # with what the terms before have stored in place of what is there
        inside.writes = inside.writes[-1:]
        work[term.place] = [part_of(whole, each) for each in outside(key, shape)]
    work[last].append(LoopNest(lengths, inside.reads, inside.ops, inside.writes))
    return work


def take(whole: FusedNest, nest: LoopNest, uses: "Uses", end: Place) -> None:
    """Take a nest, behind those that make what it alone reads."""
    for ref in nest.reads:
        maker = uses.maker(ref, end)
        if maker is not None and whole.can_take(maker):
            take(whole, maker, uses, end)
    whole.add(nest)


def part_of(nest: LoopNest, key: Key) -> LoopNest:
    """Give what a nest does in a part of its space."""
    reads = [ref.part(key) for ref in nest.reads]
    writes = [(arg, ref.part(key)) for arg, ref in nest.writes]
    shape = tuple([each.stop - each.start for each in key])
    part: Any = canonical(LoopNest(shape, reads, nest.ops, writes))
    return part  # type: ignore[no-any-return]  # a nest stays one


@define(eq=False)
class Uses:
    """Who writes and reads memory, and where.

    Attributes
    ----------
    lowered : Lowered
    written : dict of Value to list of (int, int)
    touched : dict of Value to list of ((int, int), LoopNest or None)
        Each nest that reads or writes; None for anything else.
    count : Counter
        How many read, NumPy and the caller among them.
    """

    lowered: Lowered
    written: dict[Value, list[Place]] = field(init=False, factory=dict)
    touched: dict[Value, list[Touch]] = field(init=False, factory=dict)
    count: Counter[Value] = field(init=False, factory=Counter)

    def __attrs_post_init__(self) -> None:
        """Look at all steps."""
        for number, each in enumerate(self.lowered.steps):
            if each.reason is not None:
                made = each.step.outputs if isinstance(each.step, Call) else ()
                self.note(self.memory(each.step.operands), self.memory(made), ((number, 0), None))
            for place, work in enumerate(each.work):
                nest = work if type(work) is LoopNest and not work.ordered else None
                self.note(work.read_roots, work.written_roots, ((number, place), nest))
        self.count.update(self.memory(self.lowered.program.outputs))

    def memory(self, values: Iterable[Value]) -> set[Value]:
        """Give what stands for the memory in which values lie."""
        return {self.lowered.memory(root_of(value)) for value in values}

    def note(self, read: Set[Value], written: Set[Value], touch: Touch) -> None:
        """Note what a part of a step reads and writes."""
        self.count.update(read)
        for root in written:
            self.written.setdefault(root, []).append(touch[0])
        for root in read | written:
            self.touched.setdefault(root, []).append(touch)

    def are_changed(self, nest: LoopNest, begin: Place, end: Place) -> bool:
        """Tell whether anything behind one place, up to another, writes to what a nest reads.

        What the nest itself writes to is of no interest.
        """
        roots = nest.read_roots - nest.written_roots
        written = (place for root in roots for place in self.written.get(root, ()))
        return any(begin < place <= end for place in written)

    def maker(self, ref: MemRef, end: Place) -> LoopNest | None:
        """Give the nest that makes something for one reader alone, if that may do so instead."""
        if self.count[ref.root] != 1 or len(self.written.get(ref.root, ())) != 1:
            return None
        place, nest = self.touched[ref.root][0]
        if nest is None or not is_elementwise(nest) or nest.writes[0][1] != ref:
            return None
        inside = ref.root in nest.read_roots or self.are_changed(nest, place, end)
        return None if inside else nest
