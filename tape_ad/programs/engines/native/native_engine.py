"""The engine that has LLVM compile a program: as close to eager as rounding allows, and quicker."""

import functools
from collections import Counter
from collections.abc import Iterator
from time import perf_counter
from typing import Any

from attrs import evolve

from tape_ad.base.naming import called
from tape_ad.programs.capture.op_facts import is_view, type_of
from tape_ad.programs.engines.native.fusion import eliminate_dead_stores, fuse, reuse_memory
from tape_ad.programs.engines.native.lowering import lower
from tape_ad.programs.engines.native.lowering.calls import NotLowerable
from tape_ad.programs.engines.native.schedule import Assembled, compile_schedule, schedule
from tape_ad.programs.engines.native.schedule.loops import with_native_loops
from tape_ad.programs.engines.native.stencils import write_in_one_pass
from tape_ad.programs.engines.numpy import by_numpy
from tape_ad.programs.engines.numpy import replay_of as replay_of_plan
from tape_ad.programs.engines.plans import Plan, Report, reporting
from tape_ad.programs.passes.rewriting import Rewriting, alike
from tape_ad.programs.passes.rolling import unroll
from tape_ad.programs.program import Call, Diverged, Guard, Program, Value
from tape_ad.record.gradients import through_buffer

Replay = Any
EXACT = frozenset({float, complex, str, bytes})
"""What the answers to questions are that any rounding changes, but for those about dtypes."""


def replay_of(program: Program, threads: int = 1) -> Replay:
    """Make a program something to call.

    Parameters
    ----------
    program : Program
    threads : int
        How many may share a large nest.

    Returns
    -------
    callable
        ``replay(*inputs)``: a tuple of outputs, or Diverged. It may run in several threads. Its
        `report` tells what is native.
    """
    fine = fine_guards(program)
    if fine:
        return reporting(by_numpy(program), Report(0, 0, 0, {"guards ask for bits": fine}))
    start = perf_counter()
    native = assembled(program, threads)
    if native.segments:
        plan = Plan.of(native.program)
        numbers = {guard: number for number, guard in enumerate(native.guards)}
        replay = replay_of_plan(plan, otherwise(program, native), numbers)
    else:
        replay = by_numpy(program)
    return reporting(replay, reported(program, native, perf_counter() - start))


def listings(program: Program) -> Iterator[tuple[str, str]]:
    """Give the listing of a program after each pass, and the text of its loops for LLVM.

    Parameters
    ----------
    program : Program

    Yields
    ------
    name : str
        Of the pass.
    listing : str
    """
    made: Any = None
    for name, made in passes(program):
        yield name, str(made)
    yield "code generation", made.llvm


def assembled(program: Program, threads: int = 1) -> Assembled:
    """Make native calls of what can be native: run all passes.

    Parameters
    ----------
    program : Program
        Simplified.
    threads : int
        How many may share a nest.
    """
    *_, (_, last) = passes(program, threads)
    return compile_schedule(last)


def passes(program: Program, threads: int = 1) -> Iterator[tuple[str, Any]]:
    """Run the passes of the compiler, and give the name of each with what it makes.

    Parameters
    ----------
    program : Program
        Simplified.
    threads : int
        How many may share a nest.

    Yields
    ------
    name : str
    made : Lowered, Fused or Schedule
        Whose text is its listing.
    """
    program, bodies = with_native_loops(read_only_last(program))
    try:
        lowered = lower(program, bodies)
    except NotLowerable:  # of what is known in the whole program alone
        lowered = lower(unroll(program))
    yield "lowering", lowered
    lowered = reuse_memory(lowered)
    yield "memory reuse", lowered
    lowered = write_in_one_pass(lowered)
    yield "stencils", lowered
    fused = fuse(lowered)
    yield "fusion", fused
    fused = eliminate_dead_stores(fused)
    yield "dead store elimination", fused
    yield "scheduling", schedule(fused, threads)


def read_only_last(program: Program) -> Program:
    """Let calls use what others are shown read-only as it is; NumPy shows it behind all else."""
    program = writable_within(program)
    shown: dict[Value, Any] = {}
    for call in program.calls:
        if call.function is through_buffer and type(call.args[0]) is Value:
            (source,), (out,) = call.args, call.outputs
            if alike(source, out):
                shown[out] = shown.get(source, source)
    for step in program.steps if shown else ():
        if isinstance(step, Guard) or (step.function is not through_buffer and may_view(step)):
            for value in step.operands:  # of which a view is read-only too
                shown.pop(value, None)
    steps, last = [], []
    for step in program.steps if shown else ():
        if isinstance(step, Call) and step.outputs[:1] and step.outputs[0] in shown:
            last.append(step)
        else:
            steps.append(step if shown.keys().isdisjoint(step.operands) else step.replaced(shown))
    if not shown:
        return program
    returned = set(program.outputs)
    last = [step for step in last if step.outputs[0] in returned]
    last = [
        step if shown.keys().isdisjoint(step.operands) else step.replaced(shown) for step in last
    ]
    return evolve(program, steps=(*steps, *last))


def writable_within(program: Program) -> Program:
    """Show nothing read-only that the caller does not get, neither itself nor through a view."""
    given = set(program.outputs)
    for call in reversed(program.calls):
        if may_view(call) and not given.isdisjoint(call.outputs):
            given.update(call.operands)
    rewriting = Rewriting(program)
    for each in program.steps:
        step = rewriting.rewired(each)
        if isinstance(each, Call) and each.function is through_buffer:
            (source,), (out,) = step.args, step.outputs
            if out not in given and type(source) is Value and alike(source, out):
                rewriting.replace(out, source)
                continue
        rewriting.keep(step)
    return rewriting.finished()


def may_view(call: Call) -> bool:
    """Tell whether a call may show the memory of an operand."""
    return is_view(call) or any(out.owner is not None for out in call.outputs)


def fine_guards(program: Program) -> Counter[str]:
    """Name the questions of guards that ask for the bits of what is computed with rounding."""
    given = {*program.inputs, *(constant.value for constant in program.constants)}
    return Counter(
        called(guard.question)
        for guard in program.guards
        if guard.question is not type_of
        and (guard.question is hash or not EXACT.isdisjoint(type(guard.answer).__mro__))
        and given.isdisjoint((guard.value, guard.value.owner))
    )


def reported(program: Program, native: Assembled, seconds: float) -> Report:
    """Say what is native, and what is not."""
    left: dict[str, Counter[str]] = {}
    for step, reason in native.left:
        function = step.question if isinstance(step, Guard) else step.function
        left.setdefault(reason, Counter())[called(function)] += 1
    others = {step for step, _ in native.left}
    native_calls = sum(not shows_memory(call) and call not in others for call in program.calls)
    loops = {id(loop) for segment in native.segments for loop in segment.loops}
    return Report(native_calls, len(native.segments), len(loops), left, seconds)


def shows_memory(call: Call) -> bool:
    """Tell whether what a call gives lies in the memory of another value."""
    return bool(call.outputs) and call.outputs[0].owner is not None


def otherwise(program: Program, native: Assembled) -> Replay:
    """Make what goes on where native code has found something else than it was made for.

    A guard that is a bool has the other answer. Of all else NumPy knows what to do.
    """
    answers: dict[int, bool] = {}
    for segment in native.segments:
        answers |= segment.answers

    once = functools.cache(by_numpy)

    def go_on(number: int, *inputs: Any) -> Any:
        if number > 0:
            return Diverged(number - 1, not answers[number])
        return once(program)(*inputs)

    return go_on
