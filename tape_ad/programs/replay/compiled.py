"""A function that is captured by its first calls and replayed by all later ones."""

import functools
import inspect
import sys
import traceback
import types
import warnings
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from threading import get_ident
from time import perf_counter
from typing import Any

import numpy as np
from attrs import define, field

from tape_ad.base.arrays.adapters import adapter
from tape_ad.base.arrays.interpreter import is_box
from tape_ad.base.arrays.overridable import ACTIVE
from tape_ad.base.errors import (
    CaptureError,
    CompileWarning,
    NoRuleError,
    ProgramMismatchError,
    TapeError,
)
from tape_ad.base.memory import uncollected
from tape_ad.base.naming import counted, global_name
from tape_ad.base.trees import flatten
from tape_ad.programs.capture.constants import same_program
from tape_ad.programs.capture.free_variables import FOLLOWED, FreeVariables, objects_in
from tape_ad.programs.capture.reads import Reads
from tape_ad.programs.capture.tracers import filling_code
from tape_ad.programs.capture.variables import asks_identity, asks_type
from tape_ad.programs.engines import engine_named
from tape_ad.programs.engines.numpy.source import source_of
from tape_ad.programs.passes import simplified
from tape_ad.programs.passes.simplifications import literals_of
from tape_ad.programs.program import Program
from tape_ad.programs.program.keys import GENERATORS, ForeignError, key_of
from tape_ad.programs.replay.capturing import Captured, Function, capture, is_capturing
from tape_ad.programs.replay.explaining import asked, explained, progress, title
from tape_ad.programs.replay.matching import matcher
from tape_ad.programs.replay.paths import (
    Path,
    Paths,
    Search,
    replayed,
    still_untested,
    untested_inputs,
    without_pinned,
)
from tape_ad.programs.replay.splitting import Split
from tape_ad.programs.replay.verifying import (
    Arguments,
    Verification,
    can_be_proved,
    check_alike,
    may_draw,
    run_eagerly,
)
from tape_ad.record.inspection.pages.figures import shown_by_repr, tag
from tape_ad.record.messages.callers import caller, is_library
from tape_ad.record.primals import is_number_like, primal
from tape_ad.record.tensor import Tensor

# What is done at a call that is not simply replayed


PATIENCE = 4
"""How often a path may be another than before until its function is given up."""
RECENT = 4
"""How many keys are tried quickly, one after the other."""
KEYS = 256
"""How many keys are kept; a function has many if an argument is a new object at each call."""


@define(eq=False, repr=False, slots=False)
class Replayer:
    """A function with its programs.

    Threads share it without a lock, which an interrupt could leave locked, and which would be held
    while the user's code runs: what others read is replaced as a whole, or added to by one
    operation of a dict or a list.

    Its attributes are those of `Compiled`, which is what users get.
    """

    function: Function
    engine: str = "auto"
    max_programs: int = 16
    threads: int = 1
    check_every: int | None = None
    _paths: dict[Any, Paths] = field(factory=dict, init=False)
    _recent: tuple[Paths, ...] = field(default=(), init=False)
    _not_captured: dict[str, int] = field(factory=dict, init=False)
    _forgotten: int = field(default=0, init=False)
    _said: list[str] = field(factory=list, init=False)
    _parameters: Sequence[str] = field(default=(), init=False)
    _may_be_node: bool = field(default=True, init=False)
    _drew: bool = field(default=False, init=False)
    _asks_is: bool | None = field(default=None, init=False)
    _copy: Any = field(default=None, init=False)
    _copy_tried: bool = field(default=False, init=False)
    _derived: dict[Any, Any] = field(factory=dict, init=False)
    _splits: list[Split] = field(factory=list, init=False)

    def __attrs_post_init__(self) -> None:
        me: Any = self
        functools.update_wrapper(me, self.function, updated=())
        if isinstance(self.function, types.FunctionType):
            for name, attribute in vars(self.function).items():
                self.__dict__.setdefault(name, attribute)
        try:
            signature = inspect.signature(self.function)
        except (TypeError, ValueError):  # a function of C, for example
            return
        kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        self._parameters = [p.name for p in signature.parameters.values() if p.kind in kinds]

    def _replay_only(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Search | None:
        """Replay the function if it has been captured."""
        try:
            key, leaves = key_of(args, kwargs, self._parameters)
        except ForeignError:
            return None
        paths = self._paths.get(key.form)
        if paths is None or paths.exhausted or is_capturing():
            return None
        search = replayed(paths, leaves)
        return search if search.succeeded else None

    def _dispatch(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Replay or capture, after a long look at the arguments."""
        try:
            key, leaves = key_of(args, kwargs, self._parameters)
        except ForeignError as reason:
            if self._may_be_node and may_be_node(args, kwargs):
                try:
                    return adapter("compiled").called_as_node(self, args, kwargs)
                except CaptureError:  # it closes over a handle, perhaps, or writes to one
                    self._may_be_node = False
            return self._as_it_is(str(reason), args, kwargs)
        if self._asks_is and repeated(leaves):
            return self._as_it_is(TWICE, args, kwargs)
        paths = self._paths.get(key.form)
        if paths is None:
            paths = self._new(Paths(key, matcher(args, kwargs)))
        if paths.exhausted:
            paths.eager += 1
            return self.function(*args, **kwargs)
        return self._finish(replayed(paths, leaves), paths, Arguments(args, kwargs, leaves))

    def _finish(self, search: Search, paths: Paths, given: Arguments) -> Any:
        """Give what a replay has given, if one has led to the end; else capture."""
        if search.path is not None and search.succeeded:
            self._to_front(paths, search.path)
            if search.path.replays >= search.path.due:
                self._check_if_due(paths, search.path, given, search.out)
            return search.built()
        return self._capture(paths, search, given)

    def _check_if_due(
        self, paths: Paths, path: Path, given: Arguments, out: tuple[Any, ...]
    ) -> None:
        """Compare a replay with the function, if that is due."""
        try:
            Verification(path, self.function, given).after(out)
        except ProgramMismatchError:
            paths.forget(path)
            raise

    def _new(self, paths: Paths) -> Paths:
        """Keep the programs for a new key, and forget the oldest where there are too many."""
        paths = self._paths.setdefault(paths.key.form, paths)
        while len(self._paths) > KEYS:
            oldest = self._paths.pop(list(self._paths)[0], None)  # noqa: RUF015 - all at once
            self._recent = tuple([each for each in self._recent if each is not oldest])
            self._forgotten += 1
            if self._forgotten > 1:
                continue
            self._warn(
                f"has been called with more than {KEYS} kinds of arguments, so that the oldest "
                "programs are forgotten. Is there an argument that is neither array nor number, "
                "and a new object at each call (a lambda, for example)? Make it once"
            )
        return paths

    def _to_front(self, paths: Paths, path: Path) -> None:
        """Let the next call try this path of this key first."""
        paths.front = path
        if paths not in self._recent:
            self._recent = (paths, *self._recent[: RECENT - 1])

    def _capture(self, paths: Paths, search: Search, given: Arguments) -> Any:
        """Capture the function, and compile it if it has done the same before."""
        known = sorted(paths.held, key=lambda path: path is not search.path)
        before = {path: path.program for path in known}
        number = self._calls() + 1
        leaves, others = given.leaves, (*given.args, *given.kwargs.values())
        free = FreeVariables.of(self.function, objects_in(others))
        if self._asks_identity(free) and repeated(leaves):
            return self._as_it_is(TWICE, given.args, given.kwargs)
        drawn = free.draws()
        path, proof = search.path if search.tried else next(iter(known), None), None
        if path is not None and can_be_proved(path, leaves):
            proof = self._prove(path, given)
            if proof is not None and proof[2]:
                self._look_at(free, path.program, drawn)
                path.captures.append((number, proof[1]))
                self._trust(paths, path, free, drawn, leaves)
                return proof[0]
        numbers = [one for each in paths.all for one in each.free_variables.numbers]
        reads = Reads(
            [each.array for each in numbers if each.changes == FOLLOWED - 1 and not each.holds()]
        )
        start = perf_counter()

        def captured(function: Function) -> Captured:
            return capture(
                function,
                title(self.function),
                given,
                paths.key.names,
                list(before.values()),
                self._parameters,
                free.places(),
                reads,
            )

        program, result, same = self._captured(captured, free, given)
        seconds = perf_counter() - start
        self._check_bound(free)
        self._look_at(free, program, drawn)
        for each in paths.all:
            if each.free_variables.outgrown() and same_program(each.program, program):
                self._follow(paths, each, reads)
                return result
        answers = tuple([guard.answer for guard in program.guards])
        untested = untested_inputs(leaves)
        path = paths.placed(Path(program, answers, free, untested=untested), self.max_programs)
        if path is None:
            self._give_up(paths, program)
            return result
        path.captures.append((number, seconds))
        if path in search.tried:
            self._disagreed(paths, path, search.out)
        elif path.replay is not None:
            return result  # another thread has been quicker
        elif same is not None and same is before.get(path):
            if proof is not None:
                self._require_repeated(proof[0], result)
            path.confirm(program)
            self._trust(paths, path, free, drawn, leaves)
        elif path.program is before.get(path):  # else another thread has been quicker too
            path.take(program)
            path.untested = untested
            path.changes += 1
            if path.changes >= PATIENCE:
                raise CaptureError(
                    f"{title(self.function)} cannot be compiled: it has done something else at "
                    f"each of {path.changes + 1} calls with arguments of the same shapes"
                )
        return result

    def _follow(self, paths: Paths, path: Path, reads: Reads) -> None:
        """Go on with a path that is the same one with other numbers in arrays from elsewhere."""
        variables = path.free_variables
        variables.follow_numbers(reads, effectless=not paths.vary_beside(path))
        often = variables.unfollowed(path.replays, self.max_programs)
        if often:
            self._exhaust(
                paths,
                f"has been captured more than {self.max_programs} times, as the numbers in {often} "
                "change again and again, and it may go by them without a call that a replay does. "
                "It runs without being compiled from now on; pass that as an argument",
            )

    def _prove(self, path: Path, given: Arguments) -> tuple[Any, float, bool] | None:
        """Compare a replay of a path that was captured once with the function.

        Returns
        -------
        tuple or None
            What the function gives, the seconds that it took, and whether a replay gives the same;
            None where that goes another way, or would prove nothing: what is multiplied by zeros
            may be anything.
        """
        if all(map(is_zero, given.leaves)):
            return None
        if path.made is None:
            path.kept = {*literals_of(path.program)}  # which nobody else refers to so far
            self._make(path)
        verification = Verification(path, self.function, given)
        out = verification.replayed(path.made)
        if type(out) is not tuple or any(map(is_zero, out)):
            return None
        start = perf_counter()
        arrays = [
            leaf for leaf in given.leaves if type(leaf) is np.ndarray and leaf.flags.writeable
        ]
        # The collector would look into the program again and again.
        result = uncollected(run_eagerly, self.function, given.args, given.kwargs, quiet=False)
        for each in arrays:
            if not each.flags.writeable:  # which a replay leaves as it is
                each.flags.writeable = True
        seconds = perf_counter() - start
        return result, seconds, verification.is_right(out, result)

    def _require_repeated(self, first: Any, second: Any) -> None:
        """Refuse a function that has given two results in one call, the second one as before.

        Raises
        ------
        CaptureError
        """
        one, two = (list(filter(is_number_like, flatten(each))) for each in (second, first))
        try:
            check_alike(title(self.function), one, two, exactly=False)
        except ProgramMismatchError:
            raise CaptureError(
                f"{title(self.function)} cannot be compiled: it has given other numbers when it "
                "was called again with the same arguments; pass what it draws, counts or reads as "
                "an argument"
            ) from None

    def _look_at(self, free: FreeVariables, program: Program, drawn: dict[str, bytes]) -> None:
        """See what the function has done to its variables, when it has run."""
        self._drew |= free.draws() != drawn
        free.forget_changed()
        if free.full:
            self._warn_once(
                "reads more variables than are watched: a change of others is not seen. Is there "
                "a large structure in its closure, its module or its instance? Pass it as an "
                "argument"
            )
        free.watch_numbers(constant.data for constant in program.constants)

    def _trust(
        self,
        paths: Paths,
        path: Path,
        free: FreeVariables,
        drawn: dict[str, bytes],
        leaves: Sequence[Any],
    ) -> None:
        """Replay a path from now on, unless the function goes by what it changes or draws."""
        if not may_draw(path.program):
            self._check_draws(drawn, free.draws())
        if free.state:
            self._exhaust(
                paths,
                f"changes {free.state[0].title} and goes by it, which no replay does. It runs "
                "without being compiled; pass that as an argument, and return its new value",
            )
            return
        path.untested = without_pinned(still_untested(path.untested, leaves), path.program)
        free.follow_as(path.free_variables)
        path.free_variables = free  # the first call may have set attributes that are read now
        if path.made is None:
            self._make(path)
        path.start(self.check_every)
        self._to_front(paths, path)

    def _asks_identity(self, free: FreeVariables) -> bool:
        """Tell whether the function asks if one thing is another; remember it."""
        if self._asks_is is None:
            self._asks_is = free.asks(asks_identity)
        return self._asks_is

    def _captured(
        self, captured: Callable[[Function], Captured], free: FreeVariables, given: Arguments
    ) -> Captured:
        """Capture the function; or a copy that converts arrays, if it is one that does.

        Raises
        ------
        CaptureError
        """
        if self._copy is not None:
            with suppress(NoRuleError):  # it asks what only the function itself is to ask
                return captured(self._copy)
        if free.asks(asks_type):
            found = self._by_copy(captured, given)
            if found is not None:
                return found
            found = captured(self.function)
            if not self._is_alike(found[1], given):
                raise CaptureError(
                    f"{title(self.function)} cannot be compiled: it asks for type(x), which is "
                    "another one for what is captured; write isinstance(x, np.ndarray)"
                )
            return found
        try:
            found = captured(self.function)
        except NoRuleError:
            raise
        except (CaptureError, TypeError) as error:
            in_copies = not isinstance(error, CaptureError) or error.in_copies
            found = self._by_copy(captured, given) if in_copies else None
            if found is None:
                if not isinstance(error, TapeError):
                    self._require_own(error, given)
                raise
            return found
        filling = any(guard.question is filling_code for guard in found[0].guards)
        return (filling and self._by_copy(captured, given)) or found

    def _require_own(self, error: Exception, given: Arguments) -> None:
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

    def _by_copy(
        self, captured: Callable[[Function], Captured], given: Arguments
    ) -> Captured | None:
        """Capture a copy of the function from now on, if that gives what the function gives."""
        drawing = any(isinstance(leaf, GENERATORS) for leaf in given.leaves)
        python = isinstance(inspect.unwrap(self.function), PYTHONS)
        if self._copy_tried or drawing or not python:
            return None
        self._copy_tried = True
        try:
            copy = adapter("copies").differentiable(self.function)
            found = captured(copy)
        except Exception:  # of which the function's own error tells more
            return None
        if not self._is_alike(found[1], given):
            return None
        self._copy = copy
        return found

    def _is_alike(self, result: Any, given: Arguments) -> bool:
        """Tell whether a capture has given what the function gives, in types too."""
        try:
            wanted = run_eagerly(self.function, given.args, given.kwargs)
            check_alike("", result, wanted)
        except Exception:
            return False
        return list(map(type, flatten(result))) == list(map(type, flatten(wanted)))

    def _as_it_is(self, why: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run the function without being compiled, and count why."""
        self._not_captured[why] = self._not_captured.get(why, 0) + 1
        return self.function(*args, **kwargs)

    def _check_bound(self, free: FreeVariables) -> None:
        """Refuse a function that binds a variable outside to what is captured."""
        if bound := free.bound_to_tracer():
            raise CaptureError(
                f"{title(self.function)} cannot be compiled: it binds {bound} to what depends on "
                "an argument, which no replay does; return that, and bind it outside"
            )

    def _check_draws(self, before: dict[str, bytes], after: dict[str, bytes]) -> None:
        """Refuse a function that has drawn random numbers, even if the program has none of them."""
        for name, state in before.items():
            if after.get(name) != state:
                raise CaptureError(
                    f"{title(self.function)} cannot be compiled: it draws random numbers from "
                    f"{name}, which no replay does; draw what is needed outside, and pass it as an "
                    "argument"
                )

    def _make(self, path: Path, engine: str = "") -> None:
        """Compile a path."""
        steps = counted(len(path.program.steps), "step")
        with progress(f"tape_ad compiles {title(self.function)}, {steps}"):
            simple = uncollected(simplified, path.program)
            replay = uncollected(engine_named(engine or self.engine), simple, self.threads)
            path.take_replay(simple, replay)
            path.program.forget_operands()  # of long ones they take megabytes

    def _give_up(self, paths: Paths, program: Program) -> None:
        """Run without being compiled from now on, as there are too many paths."""
        changed = paths.all[0].free_variables.changed()
        if changed:
            self._exhaust(
                paths,
                f"has {self.max_programs} programs for arguments of these shapes, as the variable "
                f"{changed} is bound to something else again and again. It runs without being "
                "compiled from now on; pass that as an argument",
            )
            return
        guard = paths.branching(program.guards)
        self._exhaust(
            paths,
            f"has {self.max_programs} programs for arguments of these shapes, and would need "
            f"another one: {asked(guard.question)} in {guard.line}, and the answer was "
            f"{guard.answer!r} this time. It runs without being compiled from now on. Is a number "
            "taken out there, for a log line perhaps? Return the array instead. If so many ways "
            "are meant, write compile(f, max_programs=...)",
        )

    def _disagreed(self, paths: Paths, path: Path, out: Any) -> None:
        """Count that a replay has not gone the way that the function itself goes.

        In native code a guard may be another one by rounding. NumPy's engine has eager's bits.
        """
        path.changes += 1
        if path.changes < PATIENCE:
            return
        if path.report is not None and path.report.native:
            path.changes = 0
            self._make(path, "numpy")
            path.start(self.check_every)
            return
        found = (
            f"raised {type(out).__name__}: {out}" if isinstance(out, Exception) else "turned off"
        )
        self._exhaust(
            paths,
            f"has not gone the way of its replay for {path.changes} times, as that {found}; it "
            "runs without being compiled from now on. Does it depend on something that is no "
            "argument, such as numpy.errstate or warnings.simplefilter outside of it?",
        )

    def _exhaust(self, paths: Paths, why: str) -> None:
        """Replay nothing for arguments of a key any more."""
        paths.exhausted.append(why)
        self._recent = tuple([each for each in self._recent if each is not paths])
        if paths.exhausted[0] is why:
            self._warn(why)

    def _warn(self, what: str) -> None:
        """Warn at the line of the user's that has called."""
        depth, frame = 1, sys._getframe()
        while frame.f_back is not None and is_library(frame):
            depth, frame = depth + 1, frame.f_back
        warnings.warn(f"{title(self.function)} {what}", CompileWarning, stacklevel=depth)

    def _warn_once(self, what: str) -> None:
        """Warn unless that has been said before."""
        if what not in self._said:
            self._said.append(what)
            self._warn(what)

    @property
    def _all(self) -> list[Path]:
        """The paths of all keys that are there at the moment."""
        return [path for paths in list(self._paths.values()) for path in paths.all]

    def _calls(self) -> int:
        """Count the calls with arguments that can be captured."""
        eager = sum(paths.eager for paths in list(self._paths.values()))
        return eager + sum(path.replays + len(path.captures) for path in self._all)


PYTHONS = (types.FunctionType, types.MethodType)
"""What there are copies of, and of what is made of them, such as a gradient."""
TWICE = "one array is given twice, and the function asks whether one thing is another"


def is_zero(value: Any) -> bool:
    """Tell whether there are numbers, and nothing but zeros."""
    return np.asarray(value).dtype.kind in "biufc" and not np.any(value)


def repeated(leaves: Sequence[Any]) -> bool:
    """Tell whether one array is given twice."""
    arrays = [id(leaf) for leaf in leaves if type(leaf) is np.ndarray]
    return len(set(arrays)) < len(arrays)


def may_be_node(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Tell whether a call is one with handles of plain arrays, which is recorded as one node.

    What draws random numbers would draw again for its derivative.
    """
    handles, others = 0, False
    for leaf in flatten((args, kwargs)):
        if type(leaf) is Tensor:
            handles += 1
            others |= not isinstance(primal(leaf), (np.ndarray, np.generic))
        else:
            others |= is_box(leaf) or isinstance(leaf, GENERATORS)
    return handles > 0 and not others


# What users are given


@define(eq=False, repr=False, slots=False)
class Bound:
    """A compiled method of an instance.

    Attributes
    ----------
    compiled : Compiled
    instance : any
        Its first argument.
    """

    compiled: Any
    instance: Any

    def __attrs_post_init__(self) -> None:
        functools.update_wrapper(self, types.MethodType(self.compiled, self.instance), updated=())

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        """Call the compiled function with the instance as its first argument."""
        return self.compiled(self.instance, *args, **kwargs)

    def check(self, /, *args: Any, **kwargs: Any) -> None:
        """Compare a replay with the function itself; see `Compiled.check`."""
        self.compiled.check(self.instance, *args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.compiled, name)

    def __repr__(self) -> str:
        return f"<method of {self.instance!r}: {self.compiled!r}>"


@shown_by_repr
@define(eq=False, repr=False, slots=False)
class Compiled(Replayer):
    """A function that is replayed; `compile` makes it.

    Attributes
    ----------
    function : callable
        What it is made of.
    engine : str
        What replays it.
    max_programs : int
        How many programs there may be for arguments of the same structure, shapes and dtypes.
    threads : int
        How many may share the work on large arrays.
    check_every : int or None
        After how many replays the function is run beside one, and compared; see `compile`.

    Examples
    --------
    >>> import tape_ad as ta
    >>> @ta.compile
    ... def half(x):
    ...     return x / 2
    >>> half(1.0), half(2.0), half(3.0)
    (0.5, 1.0, 1.5)
    >>> half
    <compiled half: 1 program>
    """

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        """Replay the function where it has been captured; else capture it."""
        active = ACTIVE.get()
        if active.capture is not None and is_capturing():
            return self.function(*args, **kwargs)
        if active.wishes is not None:
            if active.wishes.nans:  # a replay has no nodes to tell of
                return self.function(*args, **kwargs)
            if active.wishes.profiles:
                return self._profiled(active.wishes.profiles, args, kwargs)
        for paths in self._recent:
            leaves = paths.match(args, kwargs)
            if leaves is not None and (path := paths.front) is not None:
                if self._asks_is and repeated(leaves):
                    break
                try:
                    out = path.replay(*leaves)  # type: ignore[misc]  # those in front have one
                except Exception as error:  # perhaps the function catches it
                    out = error
                if type(out) is tuple:
                    path.replays = count = path.replays + 1
                    if count >= path.due:
                        self._check_if_due(paths, path, Arguments(args, kwargs, leaves), out)
                    return path.build(out)
                search = Search(path, out).follow_guards(paths, leaves)
                return self._finish(search, paths, Arguments(args, kwargs, leaves))
        return self._dispatch(args, kwargs)

    def _profiled(self, profiles: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call the function, and let profiles take the time of it."""
        with ExitStack() as stack:
            for each in profiles:
                stack.enter_context(each.calling(f"compiled {title(self.function)}"))
            return self._dispatch(args, kwargs)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        """Bind to an instance, as functions of a class do; ufuncs, for example, do not."""
        if instance is None or isinstance(self.function, functools.partial):
            return self  # Python 3.13 warns that it will bind a partial one day
        return Bound(self, instance) if hasattr(type(self.function), "__get__") else self

    def __repr__(self) -> str:
        count = len(self.programs)
        return f"<compiled {title(self.function)}: {count} program{'s' * (count != 1)}>"

    def _repr_html_(self) -> str:
        """Show in a notebook what `explain` says, folded up."""
        return tag(
            "details",
            tag("summary", tag("code", repr(self)), style="cursor:pointer"),
            tag("pre", self.explain(), style="margin:.3em 0 0 1em"),
        )

    def __reduce__(self) -> Any:
        """Copy and pickle the function alone: each process captures for itself."""
        if name := global_name(self):
            return name
        return Compiled, (self.function, *self._options)

    @property
    def _options(self) -> tuple[Any, ...]:
        return self.engine, self.max_programs, self.threads, self.check_every

    @property
    def programs(self) -> tuple[Program, ...]:
        """The programs, simplified where they are replayed, in the order of their capture.

        Examples
        --------
        >>> import numpy as np, tape_ad as ta
        >>> f = ta.compile(lambda x, y: np.sum(x * y))
        >>> f(np.ones(3), np.ones(3))
        np.float64(3.0)
        >>> print(f.programs[0])
        %0: float64[3] = input x
        %1: float64[3] = input y
        %2: float64[3] = multiply %0 %1
        %3: float64 = sum %2
        return %3
        """
        return tuple([path.simple or path.program for path in self._all])

    def explain(self, *, passes: bool = False) -> str:
        """Say what was captured when, for which arguments, and what has become of it.

        Parameters
        ----------
        passes : bool
            List each program also as it was captured, and after every pass that has changed it:
            first those that simplify it, then those of the native compiler, if it runs natively.

        Returns
        -------
        str
            For each structure of arguments with its shapes: the programs, the calls that captured
            them and the time it took, how often each was replayed, the memory that takes, which
            guards failed how often and where, and which arrays are constants. Of native code: how
            many calls it does, and which are left to NumPy and why. Where nothing is replayed: why.

        Examples
        --------
        >>> import numpy as np, tape_ad as ta
        >>> f = ta.compile(lambda x: x if x > 0 else -x, engine="numpy")
        >>> [float(f(np.float64(x))) for x in (1, 2, 3, -1)]
        [1.0, 2.0, 3.0, 1.0]
        >>> print(f.explain())
        <compiled <lambda>: 2 programs>, engine 'numpy'
        for x: float64
          program 0: 1 call, 1 guard; captured by calls 1 and 2 (... ms); replayed 1 time; ... bytes
            guard bool %1, line ...: failed 1 time
          program 1: 2 calls, 1 guard; captured by call 4 (... ms); not yet compared
        """
        return explained(self, list(self._paths.values()), self._not_captured, passes=passes)

    def to_source(self, number: int | None = None) -> str:
        """Write a program as a Python module that needs NumPy alone.

        Parameters
        ----------
        number : int, optional
            Which of `programs`. Where there is but one, it need not be said.

        Returns
        -------
        str
            A module with one function, which takes the leaves of the arguments one after the other
            and gives what the compiled function gives, to the bit. Where a guard gets another
            answer, it raises ValueError.

        Raises
        ------
        ValueError
            When there is no such program, or there are several and none is named.
        CaptureError
            When the program has a call that cannot be written so: of a function of your own that
            NumPy calls back, for example.

        Examples
        --------
        >>> import numpy as np, tape_ad as ta
        >>> def wave(x):
        ...     return np.sum(np.sin(x))
        >>> slope = ta.compile(ta.grad(wave))
        >>> slope(np.zeros(2)), slope(np.zeros(2))
        (array([1., 1.]), array([1., 1.]))
        >>> print(slope.to_source().partition("import numpy as np")[2])
        <BLANKLINE>
        ...def wave(...
            return ...
        """
        programs = self.programs
        name = title(self.function)
        if not programs:
            raise ValueError(f"{name} has no program yet; call it with arguments first")
        if number is None and len(programs) > 1:
            raise ValueError(
                f"{name} has {len(programs)} programs, of which explain() tells; name one of them, "
                f"from to_source(0) to to_source({len(programs) - 1})"
            )
        if number is not None and number not in range(len(programs)):
            raise ValueError(
                f"{name} has {counted(len(programs), 'program')}, counted from 0, and not one of "
                f"number {number!r}"
            )
        return source_of(programs[number or 0])

    def derived(self, key: Any, make: Callable[[Function], Function]) -> "Compiled":
        """Give a derivative of the function as it was compiled; it is made when first needed.

        Parameters
        ----------
        key : hashable
        make : callable
            Makes the derivative of the function.
        """
        found = self._derived.get(key)
        if found is None:
            found = self._derived.setdefault(key, Compiled(make(self.function), *self._options))
        made: Compiled = found
        return made

    def may_draw(self) -> bool:
        """Tell whether a program has a call that may be another one each time."""
        return self._drew or any(may_draw(path.program) for path in self._all)

    def watched(self) -> list[FreeVariables]:
        """List the variables that programs read, where they are now what those read."""
        return [path.free_variables for path in self._all if path.free_variables.hold()]

    def forward(self, *args: Any) -> Any:
        """Replay the first part of a program that gives a value and a pull.

        Returns
        -------
        tuple, or None
            The value; ``pull(seeds)``, which gives the rest, or None where the seeds are of another
            kind; and the variables that are read. None where no such program has been `split` for
            these arguments, and where it is time to look at it as a whole.
        """
        for split in self._splits:
            found = split.run(args)
            if found is not None:
                return found
        return None

    def split(self, *args: Any) -> None:
        """Divide the program for some arguments, the first of them the seeds, if there is one."""
        for paths in self._recent:
            path = paths.front
            if path is None or path.untested or paths.match(args, {}) is None:
                continue
            if all(each.path is not path for each in self._splits):
                made = Split.of(paths, path, args, self.engine, self.threads)
                self._splits = [*self._splits[1 - RECENT :], *filter(None, [made])]
            return

    def clear(self) -> None:
        """Forget all programs, as if the function had never been called.

        Examples
        --------
        >>> import tape_ad as ta
        >>> f = ta.compile(lambda x: x + 1)
        >>> f(1), f(2), len(f.programs)
        (2, 3, 1)
        >>> f.clear()
        >>> len(f.programs)
        0
        """
        self._recent, self._paths, self._not_captured, self._forgotten = (), {}, {}, 0
        self._derived, self._may_be_node, self._splits = {}, True, []

    def check(self, /, *args: Any, **kwargs: Any) -> None:
        """Replay and run the function on the same arguments, and compare.

        What has not been captured for such arguments is captured first, which takes two calls.

        Parameters
        ----------
        *args, **kwargs
            Those of a call of the function.

        Raises
        ------
        ProgramMismatchError
            Where they differ: in structure, type, shape, dtype or numbers. It names the place, and
            the largest difference. Numbers that native code has computed may differ in the second
            half of the digits that the largest one of an array has.
        CaptureError
            When such arguments are not replayed at all.

        Examples
        --------
        >>> import numpy as np, tape_ad as ta
        >>> scale = np.ones(3)
        >>> f = ta.compile(lambda x: np.exp(scale) * x)
        >>> f.check(np.arange(3.0))
        >>> scale[:] = 3.0  # np.exp is not called again, as scale is no argument
        >>> f.check(np.arange(3.0))
        Traceback (most recent call last):
        ...
        tape_ad.errors.ProgramMismatchError: a replay of <lambda> gives other numbers than ...
        """
        name = title(self.function)
        for _ in range(PATIENCE):
            search = self._replay_only(args, kwargs)
            if search is not None:
                break
            self(*args, **kwargs)
        else:
            raise CaptureError(
                f"{name} is not replayed for these arguments, so there is nothing to check; "
                "explain() says why"
            )
        got, path = search.built(), search.path
        for each in () if path is None else path.states.get(get_ident(), ()):
            each.rewind()
        check_alike(name, got, run_eagerly(self.function, args, kwargs), search.exact)
