"""One run of a function on captured arrays, which gives its program."""

from collections.abc import Callable, Container, Sequence
from typing import Any

from tape_ad.base.arrays.overridable import ACTIVE
from tape_ad.base.errors import CaptureError
from tape_ad.base.trees import map_leaves, structure_of
from tape_ad.programs.capture.capture import Capture
from tape_ad.programs.capture.comparison import Comparison
from tape_ad.programs.capture.constants import Constants
from tape_ad.programs.capture.reads import Reads
from tape_ad.programs.capture.tracers import plain, with_plain_keys
from tape_ad.programs.passes.simplifications import with_returned_copied
from tape_ad.programs.program import Program
from tape_ad.programs.program.keys import GENERATORS
from tape_ad.programs.program.trace import Trace
from tape_ad.programs.replay.verifying import Arguments

Function = Callable[..., Any]
Captured = tuple[Program, Any, Program | None]
"""What `capture` gives."""


def capture(
    function: Function,
    name: str,
    given: Arguments,
    names: Sequence[str],
    earlier: Sequence[Program],
    parameters: Sequence[str] = (),
    outside: Container[int] = frozenset(),
    reads: Reads | None = None,
) -> Captured:
    """Run a function on captured arrays.

    Parameters
    ----------
    function : callable
    name : str
        What to call it.
    given : Arguments
    names : sequence of str
        What the user calls each of their leaves.
    earlier : sequence of Program
        What earlier captures gave, on this path or others, to be compared; the likeliest first.
    parameters : sequence of str
        The names of the positional arguments.
    outside : container of int
        The ids of what is watched around the function.
    reads : Reads, optional
        Where to note what the calls read.

    Returns
    -------
    program : Program
    result : any
        What the function returned, with plain arrays.
    same : Program or None
        The earlier program that this is once more.
    """
    reads = reads or Reads()
    constants = Constants(name, earlier, reads)
    trace = Capture(name, Comparison(list(earlier)), constants, outside)
    if not (earlier or any(isinstance(leaf, GENERATORS) for leaf in given.leaves)):
        trace.steps = Trace()  # else it is compared with another capture, step by step
    inputs = [trace.input(x, of) for x, of in zip(given.leaves, names, strict=True)]
    args, kwargs = given.rebuild(inputs)
    trace.comparison.begin(trace)
    before = map_leaves(lambda leaf, path: leaf, (args, kwargs))
    with reads.counting():
        output = with_plain_keys(trace.run(function, args, kwargs))
    program = trace.program(output)
    check_left_alone(name, before, (args, kwargs), parameters)
    constants.check_untouched()
    result = map_leaves(lambda leaf, path: plain(leaf), output)
    same = trace.comparison.finished(trace, program)
    if same is not None:
        program = with_returned_copied(trace.comparison.with_own(program))
    return program, result, same


def check_left_alone(name: str, before: Any, after: Any, parameters: Sequence[str]) -> None:
    """Refuse a function that puts something else into a dict, list or object that it is given.

    Raises
    ------
    CaptureError
    """
    for place, pair in enumerate(zip(before[0], after[0], strict=True)):
        called = parameters[place] if place < len(parameters) else f"args[{place}]"
        check_same(name, called, *pair)
    for called, one in before[1].items():
        check_same(name, called, one, after[1][called])


def check_same(name: str, path: str, one: Any, two: Any) -> None:
    """Refuse a structure in which something has changed; the leaves are the very same ones."""
    structure = structure_of(one.__class__)
    if one is two:
        return
    same = structure is not None and structure is structure_of(two.__class__)
    if structure is None or not same or [*structure.steps(one)] != [*structure.steps(two)]:
        raise CaptureError(
            f"{name} cannot be compiled: it changes its argument {path}, which no replay does; "
            "make a copy and change that, as by dict(p) or list(p), and return it"
        )
    steps = zip(structure.steps(one), structure.values(one), structure.values(two), strict=True)
    for step, ours, theirs in steps:
        check_same(name, path + step, ours, theirs)


def is_capturing() -> bool:
    """Tell whether a function is being captured; an asyncio task may outlive what started it."""
    current = ACTIVE.get().capture
    return current is not None and not current.ended
