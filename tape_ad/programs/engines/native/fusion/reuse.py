"""In-place updates: assignments to an array that is dead afterwards write over its memory."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from attrs import evolve

from tape_ad.programs.engines.liveness import LiveRanges
from tape_ad.programs.engines.native.ir.loop_nests import ExternalCall, LoopNest, RuntimeCheck
from tape_ad.programs.engines.native.ir.memory_map import MemRef
from tape_ad.programs.engines.out_support import overwritten
from tape_ad.programs.program.program import Call, Program, Value
from tape_ad.rules.maps.indexing import added_at
from tape_ad.rules.numpy.updates import updated

__all__ = ["last_uses", "renamed"]

IN_PLACE: frozenset[Any] = frozenset({updated, added_at})


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


def renamed(slot: Any, names: Mapping[Value, Value]) -> Any:
    """Give work in which memory has the name of what is in it in the end."""

    def now(ref: MemRef) -> MemRef:
        return ref if ref.root not in names else evolve(ref, root=names[ref.root])

    if isinstance(slot, RuntimeCheck):
        return evolve(slot, ref=now(slot.ref))
    if isinstance(slot, ExternalCall):
        reads, writes = list(map(now, slot.reads)), list(map(now, slot.writes))
        return evolve(slot, reads=reads, writes=writes)
    nest = slot if isinstance(slot, LoopNest) else getattr(slot, "nest", None)
    if nest is not None:
        rename_nest(nest, now)
    return slot


def rename_nest(nest: LoopNest, now: Callable[[MemRef], MemRef]) -> None:
    """Do what `renamed` does, of loops over a space."""
    nest.reads = list(map(now, nest.reads))
    nest.writes = [(arg, now(ref)) for arg, ref in nest.writes]
    nest.reductions = [type(e)(e.ufunc, e.arg, now(e.ref)) for e in nest.reductions]
