"""A function that is captured by its first calls and replayed by all later ones."""

import functools
import inspect
import sys
import threading
import types
import warnings
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any

from attrs import define, field

from tape_ad.errors import CaptureError, CompileWarning
from tape_ad.handles.callers import is_library
from tape_ad.programs.bound import Bound
from tape_ad.programs.capture import CAPTURING, capture
from tape_ad.programs.checking import check_alike
from tape_ad.programs.engines import engine_named
from tape_ad.programs.explaining import asked, explained, title
from tape_ad.programs.keys import ForeignError, key_of, rebuilder
from tape_ad.programs.matching import builder, matcher
from tape_ad.programs.paths import Path, Paths, Way, replayed
from tape_ad.programs.plans import Plan
from tape_ad.programs.program import Program
from tape_ad.programs.simplification import simplified
from tape_ad.programs.surroundings import Surroundings, with_attributes

__all__ = ["Compiled"]

Function = Callable[..., Any]
PATIENCE = 4
"""How often a path may be another than before until its function is given up."""
RECENT = 4
"""How many keys are tried quickly, one after the other."""
KEYS = 256
"""How many keys are kept; a function has many if an argument is a new object at each call."""


@define(eq=False, repr=False, slots=False)
class Compiled:
    """A function that is replayed; `compile` makes it.

    Attributes
    ----------
    function : callable
        What it is made of.
    engine : str
        What replays it.
    max_programs : int
        How many programs there may be for arguments of the same structure, shapes and dtypes.

    Notes
    -----
    The quick way, `__call__`, takes no lock: all that it reads is replaced as a whole. Programs are
    captured outside the lock as well, as they run the user's code, and put in their place within.

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

    function: Function
    engine: str = "auto"
    max_programs: int = 16
    _paths: dict[Any, Paths] = field(factory=dict, init=False)
    _recent: tuple[Paths, ...] = field(default=(), init=False)
    _foreign: dict[str, int] = field(factory=dict, init=False)
    _forgotten: int = field(default=0, init=False)
    _lock: Any = field(factory=threading.Lock, init=False)
    _parameters: Sequence[str] = field(default=(), init=False)

    def __attrs_post_init__(self) -> None:
        functools.update_wrapper(self, self.function, updated=())
        if isinstance(self.function, types.FunctionType):
            for name, attribute in vars(self.function).items():
                self.__dict__.setdefault(name, attribute)
        try:
            signature = inspect.signature(self.function)
        except (TypeError, ValueError):  # a function of C, for example
            return
        kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        self._parameters = [p.name for p in signature.parameters.values() if p.kind in kinds]

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        """Replay the function where it has been captured; else capture it."""
        if CAPTURING.get() is not None:
            return self.function(*args, **kwargs)
        for paths in self._recent:
            leaves = paths.match(args, kwargs)
            if leaves is not None and (path := paths.front) is not None:
                try:
                    out = path.replay(*leaves)  # type: ignore[misc]  # those in front have one
                except Exception as error:  # perhaps the function catches it
                    out = error
                if type(out) is tuple:
                    path.replays += 1
                    return path.build(out)
                way = Way(path, out).go_on(paths, leaves)
                return self._arrived(way, paths, args, kwargs, leaves)
        return self._called(args, kwargs)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        """Bind to an instance, as functions of a class do."""
        return self if instance is None else Bound(self, instance)

    def __repr__(self) -> str:
        count = len(self.programs)
        return f"<compiled {title(self.function)}: {count} program{'s' * (count != 1)}>"

    def __reduce__(self) -> Any:
        """Copy and pickle the function alone: each process captures for itself."""
        module = sys.modules.get(getattr(self, "__module__", ""))
        name = getattr(self, "__qualname__", "")
        found: Any = module
        for part in name.split("."):
            found = getattr(found, part, None)
        return (
            name if found is self else (Compiled, (self.function, self.engine, self.max_programs))
        )

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
        known = list(self._paths.values())
        return tuple([path.simple or path.program for paths in known for path in paths.all])

    def explain(self) -> str:
        """Say what was captured when, for which arguments, and what has become of it.

        Returns
        -------
        str
            For each structure of arguments with its shapes: the programs, the calls that captured
            them and the time it took, how often each was replayed, which guards failed how often
            and where, and which arrays are constants. Where nothing is replayed: why.

        Examples
        --------
        >>> import numpy as np, tape_ad as ta
        >>> f = ta.compile(lambda x: x if x > 0 else -x)
        >>> [float(f(np.float64(x))) for x in (1, 2, 3, -1)]
        [1.0, 2.0, 3.0, 1.0]
        >>> print(f.explain())
        <compiled <lambda>: 2 programs>, engine 'auto'
        for x: float64
          program 0: 1 call, 1 guard; captured by calls 1 and 2 (... ms); replayed 1 time
            guard bool %1, line ...: failed 1 time
          program 1: 2 calls, 1 guard; captured by call 4 (... ms); not yet compared
        """
        return explained(self, list(self._paths.values()), self._foreign)

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
        with self._lock:
            self._recent, self._paths, self._foreign, self._forgotten = (), {}, {}, 0

    def check(self, /, *args: Any, **kwargs: Any) -> None:
        """Replay and run the function on the same arguments, and compare.

        What has not been captured for such arguments is captured first, which takes two calls.

        Parameters
        ----------
        *args, **kwargs
            As for a call.

        Raises
        ------
        ProgramMismatchError
            Where they differ: in structure, type, shape, dtype or numbers. It names the place, and
            the largest difference.
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
            done, ours = self._replayed_only(args, kwargs)
            if done:
                break
            self(*args, **kwargs)
        else:
            raise CaptureError(
                f"{name} is not replayed for these arguments, so there is nothing to check; "
                "explain() says why"
            )
        check_alike(name, ours, self.function(*args, **kwargs))

    def _replayed_only(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[bool, Any]:
        """Replay the function if it has been captured, and tell whether it has."""
        try:
            key, leaves = key_of(args, kwargs, self._parameters)
        except ForeignError:
            return False, None
        paths = self._paths.get(key.form)
        if paths is None or paths.exhausted or CAPTURING.get() is not None:
            return False, None
        way = replayed(paths, leaves)
        return way.arrived, way.built() if way.arrived else None

    def _called(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Replay or capture, after a long look at the arguments."""
        try:
            key, leaves = key_of(args, kwargs, self._parameters)
        except ForeignError as reason:
            self._foreign[str(reason)] = self._foreign.get(str(reason), 0) + 1
            return self.function(*args, **kwargs)
        paths = self._paths.get(key.form)
        if paths is None:
            paths = self._new(Paths(key, matcher(args, kwargs)))
        if paths.exhausted:
            paths.eager += 1
            return self.function(*args, **kwargs)
        return self._arrived(replayed(paths, leaves), paths, args, kwargs, leaves)

    def _arrived(
        self,
        way: Way,
        paths: Paths,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        leaves: Sequence[Any],
    ) -> Any:
        """Give what a replay has given, if one has led to the end; else capture."""
        if way.path is not None and way.arrived:
            self._to_front(paths, way.path)
            return way.built()
        return self._captured(paths, way, args, kwargs, leaves)

    def _new(self, paths: Paths) -> Paths:
        """Keep the programs for a new key, and forget the oldest where there are too many."""
        with self._lock:
            paths = self._paths.setdefault(paths.key.form, paths)
            while len(self._paths) > KEYS:
                oldest = self._paths.pop(next(iter(self._paths)))
                self._recent = tuple([each for each in self._recent if each is not oldest])
                self._forgotten += 1
            first = self._forgotten == 1
        if first:
            self._forgotten += 1
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

    def _captured(
        self,
        paths: Paths,
        way: Way,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        leaves: Sequence[Any],
    ) -> Any:
        """Capture the function, and compile it if it has done the same before."""
        known = sorted(paths.held, key=lambda path: path is not way.path)
        before = {path: path.program for path in known}
        number = self._calls() + 1
        around = Surroundings()
        if not known:
            around = Surroundings.of(self.function, with_attributes((*args, *kwargs.values())))
        start = perf_counter()
        program, result, same = capture(
            self.function,
            title(self.function),
            rebuilder(args, kwargs),
            leaves,
            paths.key.names,
            list(before.values()),
        )
        seconds = perf_counter() - start
        around = known[0].surroundings if known else around.forget_changed()
        with self._lock:
            path = paths.like(program)
            if path is None and len(paths.all) < self.max_programs:
                answers = tuple([guard.answer for guard in program.guards])
                path = Path(program, answers, around)
                paths.all += (path,)
                path.captures.append((number, seconds))
                return result
        if path is None:
            self._give_up(paths, program)
            return result
        path.captures.append((number, seconds))
        if path in way.tried:
            self._disagreed(paths, path, way.out)
        elif path.replay is not None:
            return result  # another thread has been quicker
        elif same is not None and same is before.get(path):
            path.confirm(program)
            self._compile(path)
            self._to_front(paths, path)
        elif path.program is before.get(path):  # else another thread has been quicker too
            path.program = program
            path.changes += 1
            if path.changes >= PATIENCE:
                raise CaptureError(
                    f"{title(self.function)} cannot be compiled: it has done something else at "
                    f"each of {path.changes + 1} calls with arguments of the same shapes"
                )
        return result

    def _compile(self, path: Path) -> None:
        """Make a path something to replay."""
        program = simplified(path.program)
        path.simple, path.build = program, builder(program.output)
        path.replay = path.surroundings.guarding(engine_named(self.engine)(Plan.of(program)))

    def _give_up(self, paths: Paths, program: Program) -> None:
        """Run without being compiled from now on, as there are too many paths."""
        changed = paths.all[0].surroundings.changed()
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
        """Count that a replay has not gone the way that the function itself goes."""
        path.changes += 1
        if path.changes < PATIENCE:
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
        with self._lock:
            first = not paths.exhausted
            paths.exhausted = why
            self._recent = tuple([each for each in self._recent if each is not paths])
        if first:
            self._warn(why)

    def _warn(self, what: str) -> None:
        """Warn at the line of the user's that has called."""
        depth, frame = 1, sys._getframe()
        while frame.f_back is not None and is_library(frame):
            depth, frame = depth + 1, frame.f_back
        warnings.warn(f"{title(self.function)} {what}", CompileWarning, stacklevel=depth)

    def _calls(self) -> int:
        """Count the calls with arguments that can be captured."""
        known = list(self._paths.values())
        return sum(
            paths.eager + sum(path.replays + len(path.captures) for path in paths.all)
            for paths in known
        )
