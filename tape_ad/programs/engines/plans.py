"""Plans: a program in the order in which it is run, and where and how long its values lie."""

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from attrs import define, field, frozen

from tape_ad.programs.engines.segments import Segment, placed_number
from tape_ad.programs.engines.storage import Block, LiveRanges, placed, size_of
from tape_ad.programs.passes.inlining import inline
from tape_ad.programs.passes.rewriting import alike
from tape_ad.programs.passes.rolling import unroll
from tape_ad.programs.program import Call, Guard, Program, Step, Value, root_of, values_in
from tape_ad.rules import known_facts
from tape_ad.rules.base import NO_VALUE
from tape_ad.rules.maps.indexing import FEW, Index, added_at, scatter
from tape_ad.rules.maps.memory import names_each_once
from tape_ad.rules.maps.reductions import filled_with
from tape_ad.rules.nn.activations import relu, sigmoid
from tape_ad.rules.nn.affine import linear, two_linear
from tape_ad.rules.nn.rectifiers import elu, gelu, glu, leaky_relu, selu, silu
from tape_ad.rules.numpy.updates import updated

JOINS = frozenset({np.concatenate, np.stack})
OTHERWISE = frozenset({"where", "out", "order", "subok", "initial"})
"""Options with which a call is left as it is."""


def fills(call: Call) -> bool:
    """Tell whether a call can write its one result, an array, into memory that it is given."""
    if call.several or not OTHERWISE.isdisjoint(call.kwargs):
        return False
    out, function = call.outputs[0], call.function
    if out.kind is not np.ndarray or out.owner is not None or not can_be_placed(out):
        return False
    if type(function) is np.ufunc:
        return function.nout == 1 and len(call.args) == function.nin
    return type(function).__hash__ is not None and fills_by_table(call, function, out)


def fills_by_table(call: Call, function: Any, out: Value) -> bool:
    """Tell whether a call of what is no ufunc can write its result into memory that it is given."""
    if function is scatter:
        return added_once(call)
    if function is added_at:
        return is_c(out) and added_in_place(call)
    if function is relu:
        (x,) = call.args
        return type(x) is Value and x.dtype == out.dtype and np.dtype(out.dtype).kind == "f"
    if function is placed_number:
        return True
    if function is updated or function is filled_with or function in JOINS:
        return is_c(out)  # a window on another needs the memory that `clone` gives
    return len(call.args) <= 3 and reduction_of(call) is not None


def reduction_of(call: Call) -> tuple[Any, list[Any]] | None:
    """Take a reduction or a scan by a ufunc apart.

    Returns
    -------
    tuple, or None
        The ufunc's method that it calls; and array, axis, dtype and keepdims. None where there are
        other options, and of any other call.
    """
    function = call.function
    ufunc, of_ufunc = known_facts(function).reduces, type(getattr(function, "__self__", None))
    if ufunc is None and (of_ufunc is not np.ufunc or function.__name__ not in REDUCING):
        return None
    options = named(call, "array" if ufunc is None else "a", "axis", "dtype", "out", "keepdims")
    if options is None or options.get("out") is not None:
        return None
    axis: int | None = 0
    reduce, dtype = function, None
    if ufunc is not None:
        reduce, axis = ufunc.reduce, None
        dtype = bool if ufunc in (np.logical_or, np.logical_and) else None  # as NumPy's own lines
    array = options.get("array", options.get("a"))
    keeps = options.get("keepdims", NO_VALUE)
    keeps = keeps is not NO_VALUE and bool(keeps)
    return reduce, [array, options.get("axis", axis), options.get("dtype", dtype), keeps]


REDUCING = frozenset({"reduce", "accumulate"})
"""The methods of ufuncs that take an array, an axis and a dtype."""


def named(call: Call, *parameters: str) -> dict[str, Any] | None:
    """Give a call's arguments by name; None if there are others."""
    if len(call.args) > len(parameters) or not set(call.kwargs) <= set(parameters):
        return None
    return dict(zip(parameters, call.args, strict=False)) | dict(call.kwargs)


def overwritten(call: Call) -> list[Value]:
    """List the operands in whose memory a call may write its result, if nothing needs them."""
    function, out = call.function, call.outputs[0]
    if function is updated:
        base, value, *others = call.args
        apart = all(root_of(v) is not root_of(base) for v in values_in((value, others)))
        return [base] if type(base) is Value and apart and alike(base, out) else []
    if function is added_at:
        total, *others = (*call.args, call.kwargs.get("linear"))
        apart = all(root_of(v) is not root_of(total) for v in values_in(tuple(others)))
        return [total] if type(total) is Value and apart and alike(total, out) else []
    elementwise = type(function) is np.ufunc and function.signature is None
    if not (elementwise or function is relu):
        return []
    if function is relu and out.dtype == np.float32:
        return []  # whose zeros it writes there first
    if math.prod(out.shape) == 1:  # which NumPy takes twice as long to write over
        return []
    operands = [arg for arg in call.args if type(arg) is Value]
    return [
        one
        for one in operands
        if one.owner is None
        and alike(one, out)
        and all(other is one or root_of(other) is not one for other in operands)
    ]


def added_once(call: Call) -> bool:
    """Tell whether a call of `scatter` can be written as zeros and one assignment or addition."""
    ct, index = call.named("ct", "index")
    if type(ct) is not Value or values_in((index,)) or math.prod(ct.shape) == 0:
        return False
    stack = len(ct.shape) - len(index.node)
    if stack and index.front:
        return False
    key = (slice(None),) * stack + index.key
    shape = ct.shape[:stack] + index.parent
    if not index.repeats or names_each_once(key, shape):
        return True
    return len(shape) == 1 or (math.prod(ct.shape) < FEW and not index.by_truth)


def added_in_place(call: Call) -> bool:
    """Tell whether a call of `added_at` can be written as one addition to a part of an array."""
    total, ct, index = call.named("total", "ct", "linear")
    if type(total) is not Value or type(ct) is not Value or total.kind is not np.ndarray:
        return False
    if type(index) is not Index or math.prod(ct.shape) == 0:
        return False
    if index.front and len(ct.shape) > len(index.node):
        return False
    few = len(total.shape) == 1 or math.prod(ct.shape) < FEW
    return not index.repeats or (few and not index.by_truth)


def can_be_placed(value: Value) -> bool:
    """Tell whether an array fills its memory without gaps, and can be made by its bytes."""
    dtype = value.dtype
    return dtype is not None and not dtype.hasobject and 0 < size_of(value) == span_of(value)


def is_c(value: Value) -> bool:
    """Tell whether the last axis is that of neighbours in memory, as it is in new arrays."""
    step = np.dtype(value.dtype).itemsize
    for length, stride in zip(reversed(value.shape), reversed(value.strides), strict=True):
        if stride != step:
            return False
        step *= length
    return True


def span_of(value: Value) -> int:
    """Count the bytes from the first element to the last; -1 where axes are turned or repeated."""
    if value.dtype is None:
        return -1
    total = value.dtype.itemsize
    for length, stride in zip(value.shape, value.strides, strict=True):
        if length > 1 and stride <= 0:
            return -1
        total += (length - 1) * stride
    return total


LARGE = 30_000
"""From how many elements on arrays are taken in parts."""

PART = 8_192
"""How many elements a part has, about: eight arrays of parts fit into the second-level cache."""

LINE = 64
"""Of how many elements it has a multiple, so that all parts begin alike in memory."""


@frozen(eq=False)
class Run:
    """Neighbouring steps that are done part by part.

    Attributes
    ----------
    start, stop : int
        The numbers of the first step, and of the one behind the last.
    size : int
        The elements of each array.
    part : int
        The elements of a part; the last one may have fewer.
    """

    start: int
    stop: int
    size: int
    part: int


@define(eq=False)
class Schedule:
    """Steps in a new order, and the runs among them."""

    steps: list[Step] = field(factory=list)
    runs: list[Run] = field(factory=list)
    _calls: list[Call] = field(factory=list)
    _held: list[Step] = field(factory=list)
    _of_run: set[Value] = field(factory=set)
    _of_held: set[Value] = field(factory=set)

    def add(self, step: Step) -> None:
        """Take the next step of a program."""
        roots = set(step.operands)
        roots.update([root_of(value) for value in roots])
        if type(step) is Guard:
            self.close()
            self.steps.append(step)
        elif type(step) is Call and can_run(step):
            apart = bool(self._calls) and not taken_alike(
                self._calls[0].outputs[0], step.outputs[0]
            )
            if apart or not roots.isdisjoint(self._of_held):
                self.close()
            self._calls.append(step)
            self._of_run.update(step.outputs)
        elif type(step) is Call:
            if roots.isdisjoint(self._of_run) and roots.isdisjoint(self._of_held):
                if is_large(step):  # until which all that the run goes over would stay as well
                    self.close()
                self.steps.append(step)
            else:
                self._held.append(step)
                self._of_held.update(step.outputs)

    def close(self) -> None:
        """End the run that is going on, and do what waits for it."""
        start = len(self.steps)
        if len(self._calls) > 1:
            size = math.prod(self._calls[0].outputs[0].shape)
            count = max(1, round(size / PART))
            part = -(-size // count // LINE) * LINE
            self.runs.append(Run(start, start + len(self._calls), size, part))
        self.steps += self._calls
        self.steps += self._held
        self._calls, self._held = [], []
        self._of_run, self._of_held = set(), set()


def scheduled(steps: Sequence[Step]) -> tuple[Sequence[Step], list[Run]]:
    """Put elementwise calls on large arrays beside each other.

    Guards stay where they are, and nothing passes them.

    Parameters
    ----------
    steps : sequence of Call and Guard

    Returns
    -------
    steps : sequence of Call and Guard
        In an order in which nothing is used before it is there.
    runs : list of Run
    """
    if not any(type(step) is Call and is_large(step) for step in steps):
        return steps, []
    schedule = Schedule()
    for step in steps:
        schedule.add(step)
    schedule.close()
    return schedule.steps, schedule.runs


def is_large(call: Call) -> bool:
    """Tell whether a call gives an array that is worth taking apart."""
    return math.prod(call.outputs[0].shape) >= LARGE if call.outputs else False


def can_run(call: Call) -> bool:
    """Tell whether a call can be done part by part."""
    function = call.function
    if type(function) is not np.ufunc or not is_large(call) or call.kwargs:
        return False
    out = call.outputs[0]
    if function.signature is not None or not fills(call) or not (is_c(out) or is_f(out)):
        return False
    return all(fits(arg, out) for arg in call.args)


def fits(operand: Any, out: Value) -> bool:
    """Tell whether an operand is a number, or can be taken apart as the result is."""
    if type(operand) is not Value or is_one_element(operand):
        return not hasattr(operand, "__array__") or np.ndim(operand) == 0
    in_step = len(out.shape) == 1 or operand.strides == steps_of(operand, out)
    return operand.shape == out.shape and in_step


def steps_of(operand: Value, out: Value) -> tuple[int, ...]:
    """Say what the strides of an operand are if it lies in memory as the result does."""
    ours, theirs = np.dtype(operand.dtype).itemsize, np.dtype(out.dtype).itemsize
    return tuple(stride // theirs * ours for stride in out.strides)


def is_one_element(operand: Value) -> bool:
    """Tell whether an operand is one element, repeated or not, which is given to each part."""
    return math.prod(operand.shape) == 1 or (bool(operand.shape) and not any(operand.strides))


def is_f(value: Value) -> bool:
    """Tell whether the first axis is that of neighbours in memory."""
    return value.strides == np.empty(value.shape, value.dtype, "F").strides


def taken_alike(one: Value, other: Value) -> bool:
    """Tell whether two results can be taken apart together."""
    return one.shape == other.shape and one.strides == steps_of(one, other)


PRODUCTS: frozenset[Any] = frozenset({linear, two_linear})

INLINED = PRODUCTS | {sigmoid, elu, gelu, glu, leaky_relu, selu, silu}
"""Functions that take less time as the calls of their bodies, each in memory that is there.

Others find the largest of a row, or fill in few elements, in ways that are quicker than those.
"""

FEW_PARTS = 5
"""Up to how many calls on a large array take no less time part by part."""

HEAVY = 2**16
"""From how many bytes on it matters when an array goes."""


@frozen(eq=False)
class Plan:
    """A program made ready for an engine.

    Attributes
    ----------
    program : Program
    steps : sequence of Call and Guard
        The program's, in the order in which they are done.
    runs : mapping of int to Run
        What is done part by part, by the number of the first step.
    last_uses : sequence of list of Value
        For each step, the operands that nothing behind it uses; what is returned never dies.
    used : frozenset of Value
        What any step uses, or the caller gets.
    blocks : mapping of Value to Block
        Where the results of calls that can be told so are written.
    onto : mapping of Value to Value
        The operand in whose memory a result is written.
    workspace : int
        The bytes for all blocks that are not given away.
    live : LiveRanges
        Until when memory is needed.
    """

    program: Program
    steps: Sequence[Step]
    runs: Mapping[int, Run]
    last_uses: Sequence[list[Value]]
    used: frozenset[Value]
    blocks: Mapping[Value, Block]
    onto: Mapping[Value, Value]
    workspace: int
    live: LiveRanges

    @classmethod
    def of(cls, program: Program) -> Self:
        """Find out how long the values of a program are needed, and give them memory."""
        program = inline(unroll(program), INLINED, is_quicker)
        steps, runs = scheduled(program.steps)
        used = set(program.outputs)
        live = LiveRanges.of(steps, used)
        last_uses: list[list[Value]] = []
        for number in range(len(steps) - 1, -1, -1):
            final = []
            for value in steps[number].operands:
                if value not in used:
                    used.add(value)
                    final.append(value)
            last_uses.append(final)
        blocks, onto, order = blocks_of(steps, runs, live)
        workspace = placed([block for block in order if not block.given])
        peak = workspace + peak_of(steps, live, blocks)
        if workspace > HEAVY and peak > peak_of(steps, live, {}):
            for block in order:  # a workspace stays while later arrays have no place in it
                block.given |= HEAVY <= block.size == size_of(block.values[0])
            workspace = placed([block for block in order if not block.given])
        return cls(
            program,
            steps,
            {run.start: run for run in runs},
            last_uses[::-1],
            frozenset(used),
            blocks,
            onto,
            workspace,
            live,
        )

    @property
    def nbytes(self) -> int:
        """The most bytes that a replay needs at once, with what it returns."""
        return self.workspace + peak_of(self.steps, self.live, self.blocks)


def is_quicker(call: Call, calls: Sequence[Call]) -> bool:
    """Tell whether calls take less time than the function that they stand for.

    Of a large array they are done part by part, which does not pay for a few of them.
    """
    out = call.outputs[0]
    return call.function in PRODUCTS or math.prod(out.shape) < LARGE or len(calls) > FEW_PARTS


def peak_of(steps: Sequence[Step], live: LiveRanges, blocks: Mapping[Value, Block]) -> int:
    """Count the bytes of arrays outside of the workspace that are there at once."""
    change = [0] * (len(steps) + 1)
    for number, step in enumerate(steps):
        for value in step.outputs if type(step) is Call else ():
            block = blocks.get(value)
            if value.owner is not None or (block is not None and not block.given):
                continue  # in the memory of another, or in the workspace
            if block is not None and block.values[0] is not value:
                continue
            values = [value] if block is None else block.values
            change[number] += size_of(value)
            if live.kept.isdisjoint(values):
                change[live.ends.get(values[-1], number) + 1] -= size_of(value)
    return max(itertools.accumulate(change))


def blocks_of(
    steps: Sequence[Step], runs: Sequence[Run], live: LiveRanges
) -> tuple[dict[Value, Block], dict[Value, Value], list[Block]]:
    """Give blocks to results, and let a result have that of an operand which nothing needs more.

    What is used only within a run has a block for one part, and an iteration of the run lies
    between two parts of a whole one: so those may not begin or end within it.
    """
    blocks: dict[Value, Block] = {}
    onto: dict[Value, Value] = {}
    run_of = {number: run for run in runs for number in range(run.start, run.stop)}
    shown = {run: shown_in(steps[run.start : run.stop]) for run in runs}
    for number, step in enumerate(steps):
        if type(step) is Call and isinstance(step.function, Segment):
            for out in step.outputs:
                end = live.ends.get(out, number)
                blocks[out] = Block(size_of(out), number, end, out in live.kept, values=[out])
            continue
        if type(step) is not Call or not fills(step):
            continue
        out, run = step.outputs[0], run_of.get(number)
        end = live.ends.get(out, number)
        size = size_of(out)
        if run is not None and out not in live.kept and end < run.stop:
            size = run.part * np.dtype(out.dtype).itemsize
        for operand in overwritten(step):
            block = blocks.get(operand)
            if block is None or not live.is_over(operand, number):
                continue
            if block.size != size or (run and not shown[run].isdisjoint(block.values)):
                continue
            onto[out], blocks[out] = operand, block
            break
        else:
            blocks[out] = Block(size, number, number)
        block = blocks[out]
        block.end = end
        block.given |= out in live.kept
        block.values.append(out)
    order = list(dict.fromkeys(blocks.values()))
    if runs:
        for block in order:
            widen(block, run_of)
        order.sort(key=lambda block: block.start)
    return blocks, onto, order


def shown_in(steps: Sequence[Step]) -> set[Value]:
    """Find what is seen by a view in a run, where other parts may be read than are written."""
    operands = (value for step in steps for value in step.operands)
    return {root_of(value) for value in operands if value.owner is not None}


def widen(block: Block, run_of: Mapping[int, Run]) -> None:
    """Let a whole block be there for all of a run in which it begins or ends."""
    for run in {run_of.get(block.start), run_of.get(block.end)} - {None}:
        assert run is not None  # noqa: S101 - for mypy
        within = run.start <= block.start and block.end < run.stop
        if not (within and is_part(block, run)):
            block.start = min(block.start, run.start)
            block.end = max(block.end, run.stop - 1)


def is_part(block: Block, run: Run) -> bool:
    """Tell whether a block holds one part of an array."""
    first = block.values[0]
    return block.size == run.part * np.dtype(first.dtype).itemsize != size_of(first)


@frozen(eq=False)
class Report:
    """What of a program runs as native code, and what does not.

    An engine that compiles hangs it on what it makes, as ``replay.report``.

    Attributes
    ----------
    native : int
        How many of the program's calls are native.
    segments : int
        In how many runs of native code, between which Python has something to do.
    loops : int
        Of how many loops those consist; several calls may be one.
    left : mapping of str to (mapping of str to int)
        Why calls are left to NumPy: to each reason the names of the functions, and how often each
        is called.
    seconds : float
        How long it took to compile.
    """

    native: int
    segments: int
    loops: int
    left: Mapping[str, Mapping[str, int]] = field(factory=dict)
    seconds: float = 0.0


def reporting(replay: Any, report: Report) -> Any:
    """Hang a report on a replay."""
    replay.report = report
    return replay
