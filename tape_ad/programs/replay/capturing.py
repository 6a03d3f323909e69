"""A run of a function, or of a copy of it, on captured arrays: it gives the program."""

import inspect
import traceback
import types
from collections.abc import Callable, Container, Sequence
from contextlib import suppress
from typing import Any

from attrs import define, field

from tape_ad.base.arrays.adapters import adapter
from tape_ad.base.arrays.overridable import ACTIVE
from tape_ad.base.errors import CaptureError, NoRuleError, TapeError
from tape_ad.base.trees import flatten, map_leaves, structure_of
from tape_ad.programs.capture.capture import Capture
from tape_ad.programs.capture.code_names import asks_type
from tape_ad.programs.capture.comparison import Comparison
from tape_ad.programs.capture.constants import Constants
from tape_ad.programs.capture.free_variables import FreeVariables
from tape_ad.programs.capture.reads import Reads
from tape_ad.programs.capture.tracers import concrete, filling_code, with_plain_keys
from tape_ad.programs.passes.simplifications import with_returned_copied
from tape_ad.programs.program import Program
from tape_ad.programs.program.keys import GENERATORS
from tape_ad.programs.program.trace import Trace
from tape_ad.programs.replay.explaining import title
from tape_ad.programs.replay.verifying import Arguments, check_alike, run_eagerly
from tape_ad.record.messages.callers import caller

Function = Callable[..., Any]
Captured = tuple[Program, Any, Program | None]
"""What `capture` gives."""


def capture(
    function: Function,
    name: str,
    given: Arguments,
    names: Sequence[str],
    earlier: Sequence[Program],
    outgrown: Sequence[Program] = (),
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
    outgrown : sequence of Program
        Further ones, of paths that are not for now, as other numbers are in arrays that they read.
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
    earlier = [*earlier, *outgrown]
    constants = Constants(name, earlier, reads)
    trace = Capture(name, Comparison(list(earlier), outgrown), constants, outside)
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
    result = map_leaves(concrete, output)
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


PYTHONS = (types.FunctionType, types.MethodType)
"""What there are copies of, and of what is made of them, such as a gradient."""


@define(eq=False, repr=False)
class Capturable:
    """A function to be captured, or the copy of it that is where it converts arrays.

    Attributes
    ----------
    function : callable
    """

    function: Function
    _copy: Any = field(default=None, init=False)
    _copy_tried: bool = field(default=False, init=False)

    def captured(
        self, run: Callable[[Function], Captured], free: FreeVariables, given: Arguments
    ) -> Captured:
        """Capture the function by `run`; or a copy that converts arrays, if it is one that does.

        Raises
        ------
        CaptureError
        """
        if self._copy is not None:
            with suppress(NoRuleError):  # it asks what only the function itself is to ask
                return run(self._copy)
        if free.asks(asks_type):
            found = self.by_copy(run, given)
            if found is not None:
                return found
            found = run(self.function)
            if not self.is_alike(found[1], given):
                raise CaptureError(
                    f"{title(self.function)} cannot be compiled: it asks for type(x), which is "
                    "another one for what is captured; write isinstance(x, np.ndarray)"
                )
            return found
        try:
            found = run(self.function)
        except NoRuleError:
            raise
        except (CaptureError, TypeError) as error:
            in_copies = not isinstance(error, CaptureError) or error.in_copies
            found = self.by_copy(run, given) if in_copies else None
            if found is None:
                if not isinstance(error, TapeError):
                    self.require_own(error, given)
                raise
            return found
        filling = any(guard.question is filling_code for guard in found[0].guards)
        return (filling and self.by_copy(run, given)) or found

    def require_own(self, error: Exception, given: Arguments) -> None:
        """Refuse a function that raises an error where it is captured, and does not by itself.

        Raises
        ------
        CaptureError
        """
        try:
            run_eagerly(self.function, given.args, given.kwargs)
        except Exception:  # which is an error of the function, and raised as it is
            return
        *_, (frame, _) = traceback.walk_tb(error.__traceback__)
        raise CaptureError(
            f"{title(self.function)} cannot be compiled: what stands for its arguments is given to "
            f"code that does not take it ({caller(frame)}), which says: {error}; write float(x) or "
            "int(x) there, which makes a program for each number, or compute with NumPy"
        ) from error

    def by_copy(self, run: Callable[[Function], Captured], given: Arguments) -> Captured | None:
        """Capture a copy of the function from now on, if that gives what the function gives."""
        drawing = any(isinstance(leaf, GENERATORS) for leaf in given.leaves)
        python = isinstance(inspect.unwrap(self.function), PYTHONS)
        if self._copy_tried or drawing or not python:
            return None
        self._copy_tried = True
        try:
            copy = adapter("copies").differentiable(self.function)
            found = run(copy)
        except Exception:  # of which the function's own error tells more
            return None
        if not self.is_alike(found[1], given):
            return None
        self._copy = copy
        return found

    def is_alike(self, result: Any, given: Arguments) -> bool:
        """Tell whether a capture has given what the function gives, in types too."""
        try:
            wanted = run_eagerly(self.function, given.args, given.kwargs)
            check_alike("", result, wanted)
        except Exception:
            return False
        return list(map(type, flatten(result))) == list(map(type, flatten(wanted)))


def is_capturing() -> bool:
    """Tell whether a function is being captured; an asyncio task may outlive what started it."""
    current = ACTIVE.get().capture
    return current is not None and not current.ended
