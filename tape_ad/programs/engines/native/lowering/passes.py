"""The lowering pass: a program becomes a list of loop nests, external calls and runtime checks."""

from collections.abc import Mapping, Sequence

import numpy as np
from attrs import field, frozen

from tape_ad.base.naming import called
from tape_ad.programs.capture.op_facts import may_fail, type_of
from tape_ad.programs.engines.native.codegen.reduction_epilogue import is_sum
from tape_ad.programs.engines.native.ir.listing import Listing
from tape_ad.programs.engines.native.ir.loop_nests import (
    Argument,
    Literal,
    LoopNest,
    Reduction,
    RuntimeCheck,
)
from tape_ad.programs.engines.native.ir.memory_map import MemoryMap
from tape_ad.programs.engines.native.lowering.cache import LoweringCache
from tape_ad.programs.engines.native.lowering.calls import lowered
from tape_ad.programs.engines.native.lowering.lowering import NotLowerable, Work
from tape_ad.programs.program.program import (
    COMPUTED,
    Call,
    Constant,
    Guard,
    Program,
    Step,
    Value,
)

__all__ = ["Lowered", "LoweredStep", "lower"]

STATIC = frozenset({np.shape, type_of})
"""Questions that are not about values."""


@frozen(eq=False)
class LoweredStep:
    """A step of a program with what it has become.

    Attributes
    ----------
    step : Call or Guard
    work : sequence of LoopNest, ExternalCall and RuntimeCheck
    reason : str or None
        Why it could not be lowered, so that NumPy does it; None where it could.
    is_view : bool
        Whether it computes nothing: references have been resolved to the memory that it shows.
    """

    step: Step
    work: Sequence[Work] = ()
    reason: str | None = None
    is_view: bool = False


@frozen(eq=False)
class Lowered:
    """A program after lowering.

    Attributes
    ----------
    program : Program
    steps : list of LoweredStep
        In the program's order.
    memory_map : MemoryMap
    constants : sequence of Constant
        What native code needs beside the program's own.
    renamed : mapping of Value to Value
        For an array whose memory is used again, the one that is there in the end.
    """

    program: Program
    steps: list[LoweredStep]
    memory_map: MemoryMap
    renamed: Mapping[Value, Value] = field(factory=dict)

    @property
    def constants(self) -> Sequence[Constant]:
        """What native code needs beside the program's own constants."""
        return self.memory_map.constants

    def memory(self, value: Value) -> Value:
        """Give the value that stands for the memory in which a value lies."""
        ref = self.memory_map.of(value)
        root = value if ref is None else ref.root
        return self.renamed.get(root, root)

    def __str__(self) -> str:
        """List the steps, each with what it has become."""
        listing = Listing.of(self.program)
        for each in self.steps:
            listing.step(each.step, each.reason, is_view=each.is_view)
            for work in each.work:
                listing.work(work, indent="  ")
        return listing.text


def lower(program: Program) -> Lowered:
    """Lower a program, step by step; what cannot be lowered is left to NumPy.

    Parameters
    ----------
    program : Program
        Simplified.

    Returns
    -------
    Lowered
    """
    memory_map = MemoryMap()
    cache = LoweringCache(memory_map)
    native = {each.value for each in program.constants if each.line == COMPUTED}
    steps: list[LoweredStep] = []
    guards = 0
    for step in program.steps:
        if type(step) is Guard:
            guards += 1
            steps += lowered_guard(step, guards, memory_map, native)
            continue
        assert type(step) is Call  # noqa: S101 - for mypy: there are no others
        if memory_map.look(step):
            reason = "an index that may be out of bounds" if may_fail(step) else None
            steps.append(LoweredStep(step, reason=reason, is_view=reason is None))
            continue
        key = cache.key_of(step)
        nest = cache.find(key, step)
        if nest is None:
            try:
                work = lowered(step, memory_map)
            except NotLowerable as reason:
                steps.append(LoweredStep(step, reason=str(reason)))
                continue
            cache.remember(key, step, work)
            parts = [canonical(each) for each in work if not is_empty(each)]
            steps.append(LoweredStep(step, parts))
        else:
            steps.append(LoweredStep(step, [nest]))
        native.update(step.outputs)
    return Lowered(program, steps, memory_map)


def lowered_guard(
    guard: Guard, number: int, memory_map: MemoryMap, native: set[Value]
) -> Sequence[LoweredStep]:
    """Lower a guard: to a check of a byte, or to nothing where native code decides no other way.

    Parameters
    ----------
    guard : Guard
    number : int
        Counted from 1.
    memory_map : MemoryMap
    native : set of Value
        What native code computes, and constants of the program's own: it does not make shapes and
        dtypes depend on values.
    """
    if guard.question in STATIC and guard.value in native:
        return ()
    ref = memory_map.of(guard.value)
    if guard.question is bool and ref is not None and ref.dtype.kind == "b":
        return [LoweredStep(guard, [RuntimeCheck(ref, int(guard.answer), number)])]
    return [LoweredStep(guard, reason=f"{called(guard.question)} asks Python")]


def is_empty(work: Work) -> bool:
    """Tell whether a nest has no elements to go over."""
    return type(work) is LoopNest and 0 in work.shape


def canonical(work: Work) -> Work:
    """Leave out axes of one element, and store what is reduced over one element alone."""
    if type(work) is not LoopNest:
        return work
    if 1 not in work.shape:
        return without_trivial_reductions(work)
    reads = [ref.squeezed() for ref in work.reads]
    writes = [(arg, ref.squeezed()) for arg, ref in work.writes]
    reductions = [Reduction(each.ufunc, each.arg, each.ref.squeezed()) for each in work.reductions]
    shape = tuple([length for length in work.shape if length != 1])
    return without_trivial_reductions(
        LoopNest(shape, reads, work.ops, writes, reductions, work.callee, work.apart, work.ordered)
    )


def without_trivial_reductions(nest: LoopNest) -> LoopNest:
    """Store the results of reductions over one element each."""
    if not nest.reductions:
        return nest
    for each in nest.reductions:
        if 0 not in each.ref.strides:
            nest.writes.append((trivial_reduction(nest, each), each.ref))
    nest.reductions = [each for each in nest.reductions if 0 in each.ref.strides]
    return nest


def trivial_reduction(nest: LoopNest, each: Reduction) -> Argument:
    """Give the reduction of one element: that element, but -0.0 has become 0.0 in a sum."""
    dtype = each.ref.dtype
    if not is_sum(each.ufunc, dtype):
        return each.arg
    return nest.op(np.add, (dtype,) * 3, each.arg, Literal.of(0.0, dtype))
