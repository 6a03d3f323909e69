"""The programs of one key, a tree that branches at guards, and the way through it."""

import math
import operator
from collections.abc import Callable, Sequence
from threading import get_ident
from time import perf_counter
from typing import Any

import numpy as np
from attrs import define, evolve, field

from tape_ad.programs.capture.constants import contents, fingerprint, same_memory
from tape_ad.programs.capture.free_variables import FreeVariables
from tape_ad.programs.capture.generators import Rewindable, rewinding
from tape_ad.programs.capture.tracers import (
    NUMBERS,
    complex_code,
    exact_question,
    filling_code,
    float_code,
)
from tape_ad.programs.engines.plans import Report
from tape_ad.programs.program import Diverged, Guard, Program, Value
from tape_ad.programs.program.keys import GENERATORS, Key
from tape_ad.programs.program.trace import Trace
from tape_ad.programs.replay.matching import builder

SMALL = 4096
"""How many bytes of an array are kept."""
SAMPLES = 512
"""About how many elements of a larger one are kept, with a sum over all."""


Untested = dict[int, Any]
"""The inputs whose numbers have been the same so far, by their places, with what tells these from
others."""


def untested_inputs(leaves: Sequence[Any]) -> Untested:
    """Note the numbers of a first call."""
    leaves_at = enumerate(leaves)
    return {at: mark_of(leaf) for at, leaf in leaves_at if not isinstance(leaf, GENERATORS)}


def without_pinned(untested: Untested, program: Program) -> Untested:
    """Keep the untested inputs whose numbers no guard of the program fixes."""
    pinned = {guard.value for guard in program.guards if is_pinning(guard)}
    return {at: mark for at, mark in untested.items() if program.inputs[at] not in pinned}


def is_pinning(guard: Guard) -> bool:
    """Tell whether a guard holds for one number alone."""
    if guard.question is int:
        return guard.value.kind is int
    return guard.question in (operator.index, float_code, complex_code, filling_code)


def still_untested(untested: Untested, leaves: Sequence[Any]) -> Untested:
    """Keep the inputs that are untested after a call with these leaves too."""
    return {at: mark for at, mark in untested.items() if mark_of(leaves[at]) == mark}


def mark_of(leaf: Any) -> Any:
    """Sum up what an array or a number holds, quickly.

    Examples
    --------
    >>> mark_of(0.0) == mark_of(-0.0), mark_of(np.ones(3)) == mark_of(np.ones(3))
    (False, True)
    """
    if type(leaf) in NUMBERS:
        return exact_question(leaf)(leaf)
    if type(leaf) is not np.ndarray:
        return contents(np.asarray(leaf))
    if leaf.nbytes <= SMALL:
        return contents(leaf)
    most = max(2, int(SAMPLES ** (1 / leaf.ndim)))
    sample = leaf[tuple([slice(None, None, max(1, length // most)) for length in leaf.shape])]
    return contents(sample), sum_of_bits(leaf)


def sum_of_bits(array: Any) -> Any:
    """Add up an array's bits as whole numbers, which takes as long as to read them."""
    if not array.flags.c_contiguous:
        return sum_of_bits(array.T) if array.flags.f_contiguous else fingerprint(array)
    width = math.gcd(array.dtype.itemsize, 8)
    words = array.reshape(-1).view(f"u{width}")
    return int(np.add.reduce(words, dtype=np.uint64))


def near_by(leaf: Any, size: float) -> Any:
    """Give other numbers than those of an input, near by; the same where there are none.

    Whole numbers in arrays change places, as they may be indices.
    """
    kind = type(leaf)
    if kind is int:
        return leaf + 1
    if kind in NUMBERS:
        return kind(leaf * (1 + size) if leaf else size)
    out = np.empty_like(leaf)
    if out.strides != np.asarray(leaf).strides:
        return leaf
    if out.dtype.kind in "fc":
        length = out.shape[-1] if out.ndim else 1
        wave = size * (1.0 - 0.5 * np.cos(np.arange(length))).reshape(out.shape[-1:])
        out[...] = leaf * (1 + wave).astype(out.real.dtype) if np.any(leaf) else wave
    elif out.ndim:
        out[...] = np.flip(leaf)
        if np.array_equal(out, leaf):
            out[...] = ~leaf if out.dtype.kind == "b" else leaf + 1
    else:
        return leaf
    return out if kind is np.ndarray else out[()]


Function = Callable[..., Any]
SHARE, LATER_SHARE, FIRST_CHECKS = 0.05, 0.01, 8
"""The most of the time of its replays that a program may spend on checks, for the first few of them
and later on."""
SWAPPED = 2**18
"""How many bytes a complex array has whose memory NumPy uses again, and then swaps factors."""
TIMED = 4
"""How many replays are timed before the first comparison is planned."""
NO_FAILURE = ""
"""What `tracers.failure_of` says of a call that raises nothing."""


@define(eq=False)
class Clock:
    """What a replay takes, in seconds: the least of those that were timed."""

    seconds: float = math.inf

    def timing(self, replay: Function) -> Function:
        """Give a replay that is timed."""

        def timed(*inputs: Any) -> Any:
            start = perf_counter()
            out = replay(*inputs)
            if type(out) is tuple:
                self.seconds = min(self.seconds, perf_counter() - start)
            return out

        return timed


@define(eq=False, repr=False)
class Path:
    """One program of a key, with what replays it.

    Attributes
    ----------
    program : Program
        As it was captured last.
    answers : tuple
        What its guards were told, which says which path it is.
    free_variables : FreeVariables
        The variables that the function has read on this path.
    simple : Program or None
        As it is replayed; None until it is compiled.
    made : callable or None
        What an engine has made of it, whatever variables hold now.
    replay : callable or None
        Takes the inputs, and gives the output's leaves or Diverged; None until a second call has
        proved it.
    report : Report or None
        What the engine tells of `replay`; None where NumPy runs all of it.
    build : callable
        Makes what the function returns out of the output's leaves.
    captures : list of (int, float)
        The number of each call that captured it, counted from 1, with the seconds that it took.
    changes : int
        How often it was another program than before, or its replay went another way than the
        function itself.
    replays : int
        How often it has been replayed. Where several threads do so at once, some may be missing.
    failed_guards : dict of int to int
        How often each of its guards has failed.
    successors : dict of (int, any) to Path
        Which path to try next where a guard, counted from 0, gets another answer.
    kept : set of Value
        The constants that the function has made anew at each capture, with the same numbers.
    untested : dict of int to any
        The inputs that no comparison has had other numbers for; see `Untested`.
    repeats : int
        How often it has been replayed with those numbers again.
    due : float
        The number of replays after which there is something to look at: untested inputs, or
        whether the function still gives the same.
    checks : int
        How often that has been compared.
    quick : callable or None
        `replay`, without the clock that may be around it.
    clock : Clock
        What a replay takes.
    exact : bool
        Whether replays give the bits of the function itself, as NumPy alone computes them.
    check_every : int or None
        After how many replays to check; 0 for never, None for as often as `SHARE` allows.
    next_check : float
        The number of replays after which that is next.
    states : dict of int to list of Rewindable
        By thread, the generators of the last replay as they were before it.
    """

    program: Program
    answers: tuple[Any, ...]
    free_variables: FreeVariables = field(factory=FreeVariables)
    simple: Program | None = None
    made: Function | None = None
    replay: Function | None = None
    report: Report | None = None
    build: Function = tuple
    captures: list[tuple[int, float]] = field(factory=list)
    changes: int = 0
    replays: int = 0
    failed_guards: dict[int, int] = field(factory=dict)
    successors: dict[tuple[int, Any], "Path"] = field(factory=dict)
    kept: set[Value] = field(factory=set)
    untested: Untested = field(factory=dict)
    repeats: int = 0
    due: float = 0
    checks: int = 0
    quick: Function | None = None
    clock: Clock = field(factory=Clock)
    exact: bool = True
    check_every: int | None = None
    next_check: float = math.inf
    states: dict[int, list[Rewindable]] = field(factory=dict)

    def take(self, program: Program) -> None:
        """Take another capture, which is not compiled yet."""
        self.program, self.made = program, None

    def take_replay(self, simple: Program, replay: Any) -> None:
        """Take what an engine has made of a program."""
        self.simple, self.made = evolve(simple, nbytes=replay.nbytes), replay
        self.build, self.report = builder(simple.output), getattr(replay, "report", None)
        native = self.report is not None and self.report.native
        self.exact = not native and not swaps(self.program) and not rounds(self.program)

    def start(self, check_every: int | None) -> None:
        """Replay from now on; a few times with a clock, to know how often to check."""
        replay: Any = self.made
        replay = self.free_variables.guarding(replay)
        replay = rewinding(replay, self.program.inputs, self.note_states)
        self.quick, self.check_every = replay, check_every
        self.next_check = self.replays + (check_every or math.inf)
        self.due = 0 if self.untested else TIMED if check_every is None else self.next_check
        self.replay = self.clock.timing(replay) if check_every is None else replay

    def note_states(self, generators: list[Rewindable]) -> None:
        """Remember how the generators of a replay were before it."""
        self.states[get_ident()] = generators

    def plan_check(self, spent: float) -> None:
        """Say after how many replays to check, if that takes so many seconds."""
        period: float = self.check_every or math.inf
        if self.check_every is None:
            period = check_period(spent, min(self.clock.seconds, spent), self.checks)
        self.next_check = self.replays + period

    def rest(self) -> None:
        """Go on until there is something to look at again."""
        if self.replay is not self.quick and self.replays >= TIMED:
            self.replay = self.quick
            if math.isinf(self.next_check):
                self.plan_check(self.captures[-1][1])
        self.due = min(self.next_check, math.inf if self.replay is self.quick else TIMED)
        if self.untested:
            self.due = 0

    def confirm(self, program: Program) -> None:
        """Take a second capture, whose constants are those that the function uses now."""
        pairs = zip(self.program.constants, program.constants, strict=False)
        self.kept = {two.value for one, two in pairs if not same_memory(one.data, two.data)}
        self.take(program)


@define(eq=False, repr=False)
class Paths:
    """All programs for arguments of one key.

    Threads share it without a lock: what is added, is added by one operation of a dict or a list.

    Attributes
    ----------
    key : Key
    match : callable
        See `matching.matcher`.
    known : dict of tuple to Path
        In the order in which they were first captured, by what their guards were told, and where.
    front : Path or None
        The one to be tried first, which can be replayed.
    exhausted : list of str
        Why nothing is replayed any more, first of all; empty while it is.
    eager : int
        How often the function has run by itself since then.
    """

    key: Key
    match: Function
    known: dict[tuple[Any, ...], Path] = field(factory=dict)
    front: Path | None = None
    exhausted: list[str] = field(factory=list)
    eager: int = 0

    @property
    def all(self) -> list[Path]:
        """The paths that are there at the moment."""
        return list(self.known.values())

    @property
    def held(self) -> list[Path]:
        """The paths that are for now: no variable that they have read is bound anew."""
        return [each for each in self.all if each.free_variables.hold()]

    def following(self, path: Path, diverged: Diverged) -> list[Path]:
        """Find the paths that may go the other way at a guard; first those that can be replayed.

        There is one, or none; but a call that has failed when a path was captured, and does not
        now, leads to any path that is like this one before it.
        """
        until = diverged.guard
        taken = path.answers[:until]
        if diverged.answer != NO_FAILURE:
            taken = (*taken, diverged.answer)
        found = [each for each in self.held if each.answers[: len(taken)] == taken]
        return sorted(found, key=lambda each: each.replay is None)

    def forget(self, path: Path) -> None:
        """Take a path out, which has turned out to be wrong."""
        for route, each in list(self.known.items()):
            if each is path:
                self.known.pop(route, None)
            each.successors = {
                branch: to for branch, to in list(each.successors.items()) if to is not path
            }
        if self.front is path:
            self.front = next((each for each in self.all if each.replay is not None), None)

    def placed(self, path: Path, most: int) -> Path | None:
        """Put a path among the others, and give the one that is there.

        It stays outside where there is one whose guards were told the same at the same steps, and
        which is for now; None where there are as many as there may be.
        """
        route, every = route_of(path.program), self.all
        alike = [each for each in every if route_of(each.program) == route]
        held = next((each for each in alike if each.free_variables.hold()), None)
        if held is not None or len(every) >= most:
            return held
        return self.known.setdefault((route, len(alike)), path)

    def vary_beside(self, path: Path) -> bool:
        """Tell whether numbers outside have led to another path than this one, and no guard."""
        route = route_of(path.program)
        return any(
            each.free_variables.bound() and not parted(route, route_of(each.program))
            for each in self.all
            if each is not path
        )

    def branching(self, guards: list[Guard]) -> Guard:
        """Find where a new path leaves those that are known."""
        answers = tuple([guard.answer for guard in guards])
        shared = max(common(answers, each.answers) for each in self.all)
        return guards[min(shared, len(guards) - 1)]


def check_period(spent: float, seconds: float, checks: int = 0) -> int:
    """Count the replays of so many seconds that pay for a check, after so many others.

    Examples
    --------
    >>> check_period(100.0, 1.0), check_period(100.0, 1.0, 8)
    (2000, 10000)
    """
    share = SHARE if checks < FIRST_CHECKS else LATER_SHARE
    return max(1, math.ceil(spent / (share * max(seconds, 1e-9))))


def swaps(program: Program) -> bool:
    """Tell whether NumPy may swap the factors of large complex products, to save memory."""
    return any(is_swapped(value) for step in program.kinds for value in step.outputs)


def rounds(program: Program) -> bool:
    """Tell whether it, or a call in it, adds up in another order than the function itself does."""
    return program.rounds or any(getattr(each, "rounds", False) for each in program.functions)


def is_swapped(value: Value) -> bool:
    """Tell whether a value is a large complex array."""
    if value.dtype is None or value.dtype.kind != "c":
        return False
    return math.prod(value.shape) * value.dtype.itemsize >= SWAPPED


def route_of(program: Program) -> tuple[Any, ...]:
    """List what the guards of a program were told, each with its place among the steps."""
    steps = program.steps if program.guards else ()
    guards = steps.guards.items() if isinstance(steps, Trace) else enumerate(steps)
    return tuple([(place, step.answer) for place, step in guards if isinstance(step, Guard)])


def parted(one: tuple[Any, ...], two: tuple[Any, ...]) -> bool:
    """Tell whether a guard parts two routes: the first difference is its answer, not its place."""
    pairs = zip(one, two, strict=False)
    return next((ours[0] == theirs[0] for ours, theirs in pairs if ours != theirs), False)


def common(one: tuple[Any, ...], two: tuple[Any, ...]) -> int:
    """Count with how many equal items two tuples begin."""
    count = 0
    for ours, theirs in zip(one, two, strict=False):
        if ours != theirs:
            break
        count += 1
    return count


@define(eq=False, repr=False)
class Search:
    """How far replays have come with a call's arguments.

    Attributes
    ----------
    path : Path or None
        The one that was replayed; else the one that is to be captured once more, if it is known.
    out : tuple, Diverged, Exception or None
        What the last replay gave.
    tried : list of Path
        The others, which gave Diverged or raised an error.
    """

    path: Path | None
    out: Any = None
    tried: list[Path] = field(factory=list)

    @property
    def succeeded(self) -> bool:
        """Whether there is a result."""
        return self.path is not None and type(self.out) is tuple

    @property
    def exact(self) -> bool:
        """Whether NumPy alone has computed it, which gives the bits of the function itself."""
        return self.path is None or self.path.exact

    def built(self) -> Any:
        """Give the result, as the function returns it."""
        return None if self.path is None else self.path.build(self.out)

    def follow_guards(self, paths: Paths, leaves: Sequence[Any]) -> "Search":
        """Follow the guards to a path that can be replayed, if there is one."""
        path, out = self.path, self.out
        while path is not None and path.replay is not None and type(out) is not tuple:
            self.tried.append(path)
            if type(out) is Diverged:
                path.failed_guards[out.guard] = path.failed_guards.get(out.guard, 0) + 1
                path = self.next_path(path, out, paths)
            else:  # perhaps there is a path on which this error is caught
                path = self.untried([each for each in paths.all if each.replay is not None])
            if path is not None and path.replay is not None:
                out = attempt(path, leaves)
        self.path, self.out = path, out
        return self

    def next_path(self, path: Path, diverged: Diverged, paths: Paths) -> Path | None:
        """Find where a guard leads to, and remember that."""
        branch = diverged.guard, diverged.answer
        known = path.successors.get(branch)
        if known is not None and known not in self.tried:
            return known
        found = self.untried(paths.following(path, diverged))
        if found is not None and found.replay is not None:
            path.successors[branch] = found
        return found

    def untried(self, paths: Sequence[Path]) -> Path | None:
        """Take the first of some paths that has not been tried."""
        return next((each for each in paths if each not in self.tried), None)


def replayed(paths: Paths, leaves: Sequence[Any]) -> Search:
    """Replay the path that the guards lead to, beginning with the one in front."""
    front = paths.front
    return Search(front, None if front is None else attempt(front, leaves)).follow_guards(
        paths, leaves
    )


def attempt(path: Path, leaves: Sequence[Any]) -> Any:
    """Replay a path; an error is a result as well."""
    try:
        out = path.replay(*leaves)  # type: ignore[misc]  # those that are tried have one
    except Exception as error:  # which the function itself will raise, or catch
        return error
    if type(out) is tuple:
        path.replays += 1
    return out
