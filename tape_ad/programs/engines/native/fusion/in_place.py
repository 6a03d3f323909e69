"""The reuse pass: updates of an array that is dead afterwards are done in its own memory.

`updated` and `added_at` give a copy of an array with a part changed. Lowering copies the rest; here
that copy goes, where nothing else needs the array as it was.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from attrs import define, evolve, field

from tape_ad.programs.engines.native.ir.loop_nests import (
    ExternalCall,
    LoopNest,
    Reduction,
    RuntimeCheck,
)
from tape_ad.programs.engines.native.ir.memory_map import MemRef
from tape_ad.programs.engines.native.lowering.lowering import Work
from tape_ad.programs.engines.native.lowering.passes import Lowered, LoweredStep
from tape_ad.programs.engines.out_support import overwritten
from tape_ad.programs.engines.plans import LiveRanges
from tape_ad.programs.program.program import Call, Program, Value, root_of
from tape_ad.rules.maps.indexing import added_at
from tape_ad.rules.numpy.updates import updated

__all__ = ["reuse_memory"]

IN_PLACE: frozenset[Any] = frozenset({updated, added_at})


def reuse_memory(lowered: Lowered) -> Lowered:
    """Let updates write over arrays that nothing else needs.

    Such an array is one that native code has made, and that no call of NumPy's has seen, for that
    may have kept a view.
    """
    dying = last_uses(lowered.program)
    if not dying:
        return lowered
    homes: dict[Value, Value] = {}
    native: set[Value] = set()
    seen: set[Value] = set()
    for each in lowered.steps:
        if each.reason is not None:
            seen.update(map(root_of, each.step.operands))
        elif isinstance(each.step, Call) and not each.is_view:
            base = dying.get(each.step)
            if base is not None and base in native and base not in seen:
                homes[each.step.outputs[0]] = homes.get(base, base)
            native.update(each.step.outputs)
    if not homes:
        return lowered
    last = {home: value for value, home in homes.items()}
    names = {value: last[home] for value, home in homes.items()} | last
    renamed = {value: name for value, name in names.items() if value is not name}
    renaming = Renaming(renamed)
    steps = [in_place(each, homes, renaming) for each in lowered.steps]
    return evolve(lowered, steps=steps, renamed=renamed)


def last_uses(program: Program) -> dict[Call, Value]:
    """Find the calls that change an array which nothing behind them uses.

    Parameters
    ----------
    program : Program

    Returns
    -------
    dict of Call to Value
        The array.
    """
    changing = [
        (number, step)
        for number, step in enumerate(program.steps)
        if type(step) is Call and changes(step)
    ]
    if not changing:
        return {}
    live = LiveRanges.of(program.steps, program.outputs)
    found: dict[Call, Value] = {}
    for number, step in changing:
        for base in overwritten(step):
            if base.owner is None and base.kind is np.ndarray and live.is_over(base, number):
                found[step] = base
                break
    return found


def changes(call: Call) -> bool:
    """Tell whether a call gives an array with a part changed."""
    return type(call.function).__hash__ is not None and call.function in IN_PLACE


@define(eq=False)
class Renaming:
    """Other names for memory.

    Attributes
    ----------
    names : mapping of Value to Value
    """

    names: Mapping[Value, Value]
    _known: dict[MemRef, MemRef] = field(factory=dict)

    def ref(self, ref: MemRef) -> MemRef:
        """Give a memory reference under the new name."""
        name = self.names.get(ref.root)
        if name is None:
            return ref
        known = self._known.get(ref)
        if known is None:
            known = self._known[ref] = MemRef(name, ref.offset, ref.shape, ref.strides, ref.dtype)
        return known

    def work(self, work: Work, *, reuses: bool) -> Work:
        """Give a loop nest, an external call or a runtime check under the new names.

        Where it is of a call that reuses memory, others touch what it writes.
        """
        if not reuses and not any(ref.root in self.names for ref in work.refs):
            return work
        if isinstance(work, RuntimeCheck):
            return evolve(work, ref=self.ref(work.ref))
        reads = list(map(self.ref, work.reads))
        if isinstance(work, ExternalCall):
            return evolve(work, reads=reads, writes=list(map(self.ref, work.writes)))
        return LoopNest(
            work.shape,
            reads,
            work.ops,
            [(arg, self.ref(ref)) for arg, ref in work.writes],
            work.reductions
            and [Reduction(each.ufunc, each.arg, self.ref(each.ref)) for each in work.reductions],
            work.callee,
            work.apart and not reuses,
            work.ordered,
        )


def in_place(each: LoweredStep, homes: Mapping[Value, Value], renaming: Renaming) -> LoweredStep:
    """Give a step with its memory under the new names, without copies of an array to itself."""
    if not each.work:
        return each
    reuses = isinstance(each.step, Call) and each.step.outputs[0] in homes
    work = [renaming.work(part, reuses=reuses) for part in each.work]
    if reuses:
        work = [part for part in work if not is_copy_to_itself(part)]
    return LoweredStep(each.step, work)


def is_copy_to_itself(work: Work) -> bool:
    """Tell whether a nest stores elements where they are already."""
    if not isinstance(work, LoopNest) or work.ops or work.reductions or work.callee:
        return False
    return len(work.reads) == 1 and work.writes == [(-1, work.reads[0])]
