"""Whether a replay gives what the function gives: when they are compared, and how."""

import copy
import math
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from threading import get_ident
from time import perf_counter
from typing import Any, ClassVar

import numpy as np
from attrs import define, evolve, field, frozen

from tape_ad.base.arrays.interpreter import unwrapped
from tape_ad.base.arrays.overridable import ACTIVE
from tape_ad.base.errors import ProgramMismatchError
from tape_ad.base.trees import map_leaves, paired
from tape_ad.programs.capture.capture import Capture
from tape_ad.programs.capture.comparison import alike_functions
from tape_ad.programs.capture.constants import Constants
from tape_ad.programs.capture.generators import access_to, generator_of
from tape_ad.programs.capture.opaque_calls import is_opaque
from tape_ad.programs.engines import engine_named
from tape_ad.programs.program import (
    Guard,
    Program,
    Step,
    Value,
    listed,
    replaced,
    root_of,
    values_before,
    written,
)
from tape_ad.programs.program.keys import GENERATORS, varies
from tape_ad.programs.program.loops import unrolled
from tape_ad.programs.replay.explaining import title
from tape_ad.programs.replay.paths import Path, Untested, near_by, still_untested
from tape_ad.record.messages.callers import caller
from tape_ad.rules.maps.memory import writeable_copy

Values = dict[Value, Any]

# What tells a replay from the function


@define(eq=False)
class CallSites:
    """What stands in place of a comparison, and notes the line of each step."""

    earlier: ClassVar[bool] = True  # so each step is shown to it
    lines: list[str] = field(factory=list)

    def check(self, capture: Capture, step: Step) -> None:
        """Note where a step is from."""
        self.lines.append(caller())


def first_difference(program: Program, function: Callable[..., Any], given: "Arguments") -> str:
    """Name the first call of a program that gives something else than the function has there.

    Parameters
    ----------
    program : Program
        As it was captured.
    function : callable
    given : Arguments

    Returns
    -------
    str
        The value, the call and the line; nothing where all are alike.
    """
    lines = CallSites()
    comparison: Any = lines
    capture = Capture(program.name, comparison, Constants(program.name, ()))
    copies = [list(map(with_generator_copied, given.leaves)) for _ in range(2)]
    inputs = zip(given.leaves, program.inputs, strict=True)
    args, kwargs = given.rebuild([capture.input(leaf, value.name) for leaf, value in inputs])
    try:
        now = capture.program(capture.run(function, args, kwargs))
    except Exception as error:
        return f"when it is captured once more, it raises {type(error).__name__}: {error}"
    ours, theirs = values_before(program, copies[0]), values_before(now, copies[1])
    for step, other, line in zip(program.steps, now.steps, lines.lines, strict=False):
        with np.errstate(all="ignore"):
            try:
                what = difference_at(program, step, ours, now, other, theirs)
            except Exception as error:
                what = f"there, the program raises {type(error).__name__}: {error}"
        if what:
            return f"they part in {line}: {what}"
    if len(program.steps) != len(now.steps):
        return f"the function does {len(now.steps)} steps now, in place of {len(program.steps)}"
    if differ(replaced(program.output, ours), replaced(now.output, theirs)):
        return "the calls are the same, and what is no result of them has changed"
    return ""


def with_generator_copied(leaf: Any) -> Any:
    """Copy a generator; anything else stays."""
    return copy.deepcopy(leaf) if isinstance(leaf, GENERATORS) else leaf


def difference_at(
    program: Program, step: Step, ours: Values, now: Program, other: Step, theirs: Values
) -> str:
    """Run a step of the program and the same of the function; say in what they differ."""
    if isinstance(step, Guard) or isinstance(other, Guard):
        both = isinstance(step, Guard) and isinstance(other, Guard)
        return "" if both else "Python asks for a value in one of them only"
    if not alike_functions(step.function, other.function):
        mine, given = listed(step, program.numbers()), written(other, now.numbers())
        return f"{mine} in the program is {given} in the function now"
    for one, two in zip(step.run(ours), other.run(theirs), strict=False):
        if what := difference_of(one, two, same_bits):
            return f"{listed(step, program.numbers())} gives another value: {what}"
    return ""


def check_alike(name: str, ours: Any, theirs: Any, exactly: bool = True) -> None:
    """Compare what a replay gives with what the function gives.

    Parameters
    ----------
    name : str
        The function's.
    ours, theirs : tree
        The replay's result first.
    exactly : bool
        To the bit; else up to what rounding may have done, half of the digits of an array's
        largest number.

    Raises
    ------
    ProgramMismatchError
    """
    try:
        pairs = paired(theirs, ours)
    except ValueError as error:
        raise ProgramMismatchError(
            f"a replay of {name} gives another structure than the function: {error}"
        ) from None
    for path, wanted, got in pairs:
        difference = difference_of(got, wanted, same_bits if exactly else same_but_rounding)
        if difference:
            where = f" at {path}" if path else ""
            raise ProgramMismatchError(
                f"a replay of {name} gives other numbers than the function{where}: {difference}"
            )


def differ(one: Any, other: Any) -> bool:
    """Tell whether two results are not the same bits."""
    try:
        check_alike("", one, other)
    except ProgramMismatchError:
        return True
    return False


NUMPYS: dict[type, type] = {float: np.float64, complex: np.complex128}
"""What a copy of other people's code may give where the code itself gives a number of Python's."""


def with_kinds_of(
    found: Any, build: Callable[..., Any], out: tuple[Any, ...]
) -> Callable[..., Any]:
    """Let results be Python's numbers where those of the function are, which gave `found`."""
    pairs = paired(found, build(out))
    places = {path for path, wanted, got in pairs if type(got) is NUMPYS.get(type(wanted))}
    if not places:
        return build
    return lambda out: map_leaves(
        lambda leaf, path: leaf.item() if path in places else leaf, build(out)
    )


@np.errstate(all="ignore")  # the caller has asked about the function's numbers, not these
def difference_of(got: Any, wanted: Any, same: Callable[[Any, Any], Any]) -> str:
    """Say in what two leaves differ; nothing where they do not."""
    if type(got) not in (type(wanted), NUMPYS.get(type(wanted))):
        return f"a {type(got).__name__} in place of a {type(wanted).__name__}"
    if not isinstance(wanted, (np.ndarray, np.generic, float, complex, int)):
        return "" if got == wanted else f"{got!r} in place of {wanted!r}"
    one, two = np.asarray(got), np.asarray(wanted)
    if (one.shape, one.dtype) != (two.shape, two.dtype):
        return f"{one.dtype}{list(one.shape)} in place of {two.dtype}{list(two.shape)}"
    differs = ~same(one, two)
    if not differs.any():
        return ""
    place = most_different(one, two, differs)
    at = f" at {list(map(int, place))}" if place else ""
    return (
        f"{np.count_nonzero(differs)} of {differs.size}; the largest difference{at} is "
        f"{one[place]!r} in place of {two[place]!r}"
    )


def same_bits(one: Any, two: Any) -> Any:
    """Tell for each element whether it is the same: nan is like nan, and -0.0 unlike 0.0."""
    if one.dtype.kind not in "fc":
        return np.asarray(one == two)
    same = np.asarray((one == two) | (np.isnan(one) & np.isnan(two)))
    for part in (np.real, np.imag) if one.dtype.kind == "c" else (np.real,):
        zero = (part(one) == 0) & (part(two) == 0)
        same &= ~zero | (np.signbit(part(one)) == np.signbit(part(two)))
    return same


def same_but_rounding(one: Any, two: Any) -> Any:
    """Tell for each element whether rounding may have made the difference, signs of 0 included."""
    same = np.asarray(one == two)
    if one.dtype.kind not in "fc":
        return same
    same |= np.isnan(one) & np.isnan(two)
    size = np.abs(two)
    largest = np.max(size, initial=0, where=np.isfinite(size))
    return same | (np.abs(gaps(one, two)) <= np.sqrt(np.finfo(one.dtype).eps) * largest)


def gaps(one: Any, two: Any) -> Any:
    """Subtract in the widest dtype that there is; nan for what is no number, or inf in both."""
    wide = np.complex128 if one.dtype.kind == "c" else np.longdouble
    return np.asarray(one.astype(wide) - two.astype(wide))


def most_different(one: Any, two: Any, differs: Any) -> tuple[Any, ...]:
    """Find where two arrays differ most; a nan on one side only is the most that there is."""
    sizes = np.abs(gaps(one, two))
    sizes = np.where(differs, np.where(np.isnan(sizes), np.inf, sizes), -1.0)
    return tuple(np.unravel_index(int(np.argmax(sizes)), sizes.shape))


# When it is due, and what becomes of one that differs


Function = Callable[..., Any]
LOUD = frozenset({"warn", "print", "log"})
"""What NumPy does of a floating-point error where it goes on with the result."""


@define(eq=False)
class EagerContext:
    """What stands in place of a capture, so that compiled functions within run as they are.

    Attributes
    ----------
    ended : bool
        Whether the function has returned, which a task that it has started may outlive.
    rounds : bool
        What is found of a capture, and asked by nobody here.
    """

    ended: bool = False
    rounds: bool = False

    def lift(self, tree: Any) -> Any:
        """Leave plain arrays as they are."""
        return tree

    def lift_constant(self, number: Any) -> Any:
        """Leave a number as it is."""
        return number

    def whole(self, function: Function, args: Any, kwargs: Any) -> Any:
        """Let helpers go the way of plain arrays."""
        return NotImplemented

    def call_opaque(self, function: Function, args: Any, kwargs: Any, shielded: int) -> Any:
        """Call a function of the user's."""
        return function(*args, **kwargs)


def run_eagerly(
    function: Function, args: tuple[Any, ...], kwargs: Mapping[str, Any], *, quiet: bool = True
) -> Any:
    """Call a function without any replay in it, which may give constants of copies of code.

    `quiet`, if NumPy is to tell of no errors.
    """
    settings: dict[str, Any] = {
        kind: "ignore" if quiet and setting in LOUD else setting
        for kind, setting in np.geterr().items()
    }
    context = EagerContext()
    before = ACTIVE.get()
    ACTIVE.set(evolve(before, capture=context))
    try:
        with np.errstate(**settings):
            return unwrapped(function(*args, **kwargs))
    finally:
        ACTIVE.set(before)
        context.ended = True


REPEATS = 8
"""After how many replays with the same numbers others are tried."""
SIZES = (1e-3, 1e-6)
"""By which part the numbers that are tried are others."""
AMPLIFIED = 1e4
"""How many times as far as a few units in the last place of the arguments carry, rounding may."""


def may_draw(program: Program) -> bool:
    """Tell whether a call may draw random numbers itself, at each replay too, as SciPy's may."""
    for function in program.functions:
        module = str(getattr(function, "__module__", None))
        if is_opaque(function) or ".scipy." in f".{module}.":
            return True
    return False


def can_be_proved(path: Path, leaves: Sequence[Any]) -> bool:
    """Tell whether a path that was captured once is proved by a call of the function itself.

    It is captured again where it draws, changes variables and goes by them, or returns an array
    that may be the user's own or made anew at each call.
    """
    program = path.program
    if path.replay is not None or path.free_variables.state:
        return False
    if any(isinstance(leaf, GENERATORS) for leaf in leaves) or may_draw(program):
        return False
    constants = {each.value for each in program.constants}
    return constants.isdisjoint(map(root_of, program.outputs))


@frozen(eq=False)
class Arguments:
    """What a function is called with.

    Attributes
    ----------
    args, kwargs
    leaves : sequence of array and number
        The inputs of a program for it.
    """

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    leaves: Sequence[Any]

    def rebuild(self, leaves: Sequence[Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Put others in place of the leaves."""
        following = iter(leaves)
        args, kwargs = map_leaves(
            lambda leaf, path: next(following) if varies(leaf) else leaf, (self.args, self.kwargs)
        )
        return args, kwargs


@frozen(eq=False)
class Verification:
    """One call whose replay may be compared with the function.

    Attributes
    ----------
    path : Path
        What has been replayed.
    function : callable
    given : Arguments
        Those of the call.
    untelling : tuple of type
        What the function may raise where a replay does not, and is right.
    """

    path: Path
    function: Function
    given: Arguments
    untelling: tuple[type[Exception], ...] = (
        *(MemoryError, RecursionError, FloatingPointError, Warning),
    )

    @property
    def leaves(self) -> Sequence[Any]:
        """The inputs."""
        return self.given.leaves

    def after(self, out: tuple[Any, ...]) -> None:
        """Compare a replay, which gave `out`, with the function itself where that is due.

        Raises
        ------
        ProgramMismatchError
            The function gives something else.
        """
        path = self.path
        try:
            if path.untested:
                self.test_untested(out)
            if path.replays >= path.next_check:
                path.due = path.next_check = math.inf  # for other threads
                self.agrees(out)
        finally:
            path.rest()

    def test_untested(self, out: tuple[Any, ...]) -> None:
        """Find out whether the program is right for other numbers than it was captured with."""
        path = self.path
        left = still_untested(path.untested, self.leaves)
        if len(left) < len(path.untested):
            if self.agrees(out):
                path.untested = left
            return
        path.repeats += 1
        if path.repeats == REPEATS and not self.is_opaque:
            path.untested = self.tested_near_by()

    def tested_near_by(self) -> Untested:
        """Try numbers near by, where replay and function go the same way; list what is left."""
        untested = self.path.untested
        for size in SIZES:
            leaves = list(self.leaves)
            with np.errstate(all="ignore"):
                for place in untested:
                    leaves[place] = near_by(leaves[place], size)
            given = evolve(self.given, leaves=leaves)
            other = evolve(self, given=given, untelling=(Exception,))
            out = other.replayed()
            if type(out) is tuple and other.agrees(out):
                return still_untested(untested, leaves)
        return untested

    @property
    def is_opaque(self) -> bool:
        """Whether there is a function in the program that is no NumPy call."""
        return any(map(is_opaque, self.path.program.functions))

    def replayed(self, replay: Any = None) -> Any:
        """Replay; an error is a result as well."""
        replay = replay or self.path.quick
        try:
            with np.errstate(all="ignore"), self.generators_restored(), self.kept_states():
                self.rewind()
                return replay(*self.leaves)
        except Exception as error:
            return error

    @contextmanager
    def generators_restored(self) -> Iterator[None]:
        """Give what the function may draw from the states back that it had before a ``with`` block.

        It draws from nothing where no call of the program can do so. The generators of NumPy and
        Python that are global belong to other threads as well.
        """
        drawn: list[Any] = [leaf for leaf in self.leaves if isinstance(leaf, GENERATORS)]
        if may_draw(self.path.program):
            read = [each.value for each in self.path.free_variables.variables]
            drawn += [*read, np.random, random]
        found = {id(each): each for each in map(generator_of, drawn) if each is not None}
        states = [(put, get()) for get, put in map(access_to, found.values())]
        try:
            yield
        finally:
            for put, state in states:
                put(state)

    def rewind(self) -> None:
        """Put the generators among the arguments to where they were before the replay."""
        for each in self.path.states.get(get_ident(), ()):
            each.rewind()

    @contextmanager
    def kept_states(self) -> Iterator[None]:
        """Forget what a replay in a ``with`` block tells of the states of generators."""
        before = self.path.states.get(get_ident(), [])
        try:
            yield
        finally:
            self.path.states[get_ident()] = before

    def eager(self) -> Any:
        """Run the function; an error is a result as well."""
        copying = self.is_opaque  # it might write to them
        args, kwargs = self.given.rebuild(
            list(map(copied, self.leaves) if copying else self.leaves)
        )
        try:
            with self.generators_restored():
                self.rewind()
                return run_eagerly(self.function, args, kwargs)
        except Exception as error:
            return error

    def agrees(self, out: tuple[Any, ...]) -> bool:
        """Compare what a replay gave with the function, and say when to do so again.

        Returns
        -------
        bool
            Whether there is a verdict, which is that they agree.
        """
        path, start = self.path, perf_counter()
        try:
            found = self.eager()
            if isinstance(found, self.untelling):
                return False
            path.checks += 1
            if not self.difference(out, found):
                path.build = with_kinds_of(found, path.build, out)
                return True
            return self.agrees_again(found)
        finally:
            path.plan_check(perf_counter() - start)

    def agrees_again(self, found: Any) -> bool:
        """Compare once more, as another thread may have changed what the function reads.

        Raises
        ------
        ProgramMismatchError
        """
        path = self.path
        out, again = self.replayed(), self.eager()
        if type(out) is not tuple or isinstance(again, self.untelling):
            return False
        difference = self.difference(out, again)
        if not difference:
            return True
        if not path.free_variables.hold():
            return False
        drawing = may_draw(path.program)
        if drawing and not isinstance(found, Exception) and differ(found, again):
            return True  # it draws, from where nobody knows, at each replay too
        if not isinstance(again, Exception) and self.is_rounding(out, again):
            return True
        raise ProgramMismatchError(self.told(difference))

    def is_right(self, out: tuple[Any, ...], found: Any) -> bool:
        """Tell whether a replay gives what the function gives, but for rounding."""
        return not self.difference(out, found) or self.is_rounding(out, found)

    def difference(self, out: tuple[Any, ...], found: Any) -> str:
        """Say how a result of the function is another than a replay's; nothing if it is none."""
        name = title(self.function)
        if isinstance(found, Exception):
            return f"{name} raises {type(found).__name__} where a replay of it does not: {found}"
        try:
            check_alike(name, self.path.build(out), found, self.path.exact)
        except ProgramMismatchError as error:
            return str(error)
        return ""

    def is_rounding(self, out: tuple[Any, ...], found: Any) -> bool:
        """Tell whether native code is off by no more than the function makes of rounding."""
        path = self.path
        if path.exact or path.simple is None:
            return False
        replay = engine_named("numpy")(path.simple, 1)
        near = [rounded(leaf) for leaf in self.leaves]
        try:
            with np.errstate(all="ignore"), self.generators_restored():
                self.rewind()
                plain = replay(*self.leaves)
                self.rewind()
                other = replay(*near)
        except Exception:
            return False
        if type(plain) is not tuple or differ(path.build(plain), found):
            return False
        if type(other) is not tuple:
            return True  # so little turns a condition
        if all(map(carried, out, plain, other)):
            return True
        return self.is_rounding_of_calls(path.simple, out, plain)

    def is_rounding_of_calls(
        self, program: Program, out: tuple[Any, ...], plain: tuple[Any, ...]
    ) -> bool:
        """Tell whether it is so by the rounding of what is computed on the way."""
        try:
            with np.errstate(all="ignore"), self.generators_restored():
                self.rewind()
                other = with_rounding(program, self.leaves)
        except Exception:
            return False
        return all(map(carried, out, plain, other))

    def told(self, difference: str) -> str:
        """Say what differs, where the two part, and what to do."""
        path = self.path
        with self.generators_restored():
            self.rewind()
            where = first_difference(path.program, self.function, self.given)
        if where:
            advice = "What is read anew at each call, and is no argument, should be one"
        elif path.program.rounds:
            where = "on plain arrays it runs compiled code, for which the program has lines of ours"
            advice = "They part by more than rounding, so leave that call out of what is compiled"
        else:
            where = "each call that was noted gives what it gives in the function"
            advice = "So it is the engine that fails, which is a bug; write engine='numpy'"
        return f"{difference}; {where}. {advice}. The program has been forgotten"


def copied(leaf: Any) -> Any:
    """Copy an array, in its layout, as a function that is no NumPy call might write to it."""
    own = writeable_copy(leaf) if type(leaf) is np.ndarray else leaf
    return own if own is leaf or own.strides == leaf.strides else leaf


def rounded(leaf: Any) -> Any:
    """Move the floating-point numbers of an input by a few units in the last place."""
    if isinstance(leaf, GENERATORS):
        return leaf
    dtype = getattr(leaf, "dtype", np.dtype(type(leaf)))
    return near_by(leaf, 4 * np.finfo(dtype).eps) if dtype.kind in "fc" else leaf


def with_rounding(program: Program, inputs: Sequence[Any]) -> list[Any]:
    """Compute what a program gives if each of its calls is off by a few units in the last place."""
    values, calls = values_before(program, inputs), unrolled(program).calls
    last = dict.fromkeys(program.outputs, -1)
    last = {value: k for k, call in enumerate(calls) for value in call.operands} | last
    for number, call in enumerate(calls):
        call.run(values)
        values |= {out: rounded(values[out]) for out in call.outputs}
        for value in {*call.operands}:
            if last[value] == number:  # else all arrays of a long chain would be there at once
                del values[value]
    return [values[out] for out in program.outputs]


@np.errstate(all="ignore")
def carried(got: Any, plain: Any, other: Any) -> bool:
    """Tell whether a leaf is as near to NumPy's as that of arguments a little off allows."""
    one, two, off = (np.asarray(each) for each in (got, plain, other))
    if one.shape != two.shape or one.dtype.kind not in "fc":
        return bool(np.array_equal(one, two))
    apart = np.abs(gaps(one, two))[~same_but_rounding(one, two)]
    return bool(np.all(apart <= AMPLIFIED * np.max(np.abs(gaps(off, two)), initial=0)))
