"""`compile`: a function that is captured by its first calls and replayed by all later ones."""

import functools
import inspect
import types
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from attrs import define, field

from tape_ad.errors import CaptureError, CompileWarning, ProgramMismatchError
from tape_ad.naming import called
from tape_ad.programs.capture import CAPTURING, capture
from tape_ad.programs.engines import engine_named
from tape_ad.programs.interpreter import Diverged
from tape_ad.programs.keys import Key, key_of, matcher, rebuilder
from tape_ad.programs.plans import Plan
from tape_ad.programs.program import Program, Value
from tape_ad.programs.simplification import simplified
from tape_ad.trees import map_leaves, with_paths

__all__ = ["Compiled", "compile"]

Function = Callable[..., Any]
PATIENCE = 4
"""How often a path is captured before a function that never does the same twice is given up."""


@define(eq=False, repr=False)
class Path:
    """One program of a key, with what replays it.

    Attributes
    ----------
    program : Program
        As it was captured.
    simple : Program or None
        As it is replayed; None until a second capture has given the same.
    replay : callable or None
        Takes the inputs, and gives the output's leaves or Diverged.
    captures : int
        How often it has been captured.
    replays : int
        How often it has been replayed.
    """

    program: Program
    simple: Program | None = None
    replay: Function | None = None
    build: Function = tuple
    captures: int = 1
    replays: int = 0

    @property
    def answers(self) -> tuple[Any, ...]:
        """The answers of its guards, which say which path it is."""
        return tuple([guard.answer for guard in self.program.guards])


@define(eq=False, repr=False)
class Paths:
    """All programs for arguments of one key: a tree, which branches at guards.

    Attributes
    ----------
    key : Key
    match : callable
        See `matcher`.
    paths : list of Path
        The one that was used last in front.
    exhausted : str
        Why nothing is replayed any more; empty while it is.
    """

    key: Key
    match: Function
    paths: list[Path] = field(factory=list)
    exhausted: str = ""

    def following(self, path: Path, diverged: Diverged) -> Path | None:
        """Find a path that goes the other way at a guard."""
        until = diverged.guard
        taken = (*path.answers[:until], diverged.answer)
        for other in self.paths:
            if other is not path and other.answers[: until + 1] == taken:
                return other
        return None


@define(eq=False, repr=False, slots=False)
class Compiled:
    """A function that is replayed; see `compile`.

    Attributes
    ----------
    function : callable
        What it is made of.
    engine : str
    max_programs : int
    """

    function: Function
    engine: str
    max_programs: int
    _paths: dict[Any, Paths] = field(factory=dict, init=False)
    _recent: Paths | None = field(default=None, init=False)
    _log: list[str] = field(factory=list, init=False)

    def __attrs_post_init__(self) -> None:
        functools.update_wrapper(self, self.function)
        try:
            signature = inspect.signature(self.function)
            kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
            self._parameters = [p.name for p in signature.parameters.values() if p.kind in kinds]
        except (TypeError, ValueError):  # a function of C, for example
            self._parameters = []

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Replay the function where it has been captured; else capture it."""
        recent = self._recent
        if recent is not None and CAPTURING.get() is None:
            leaves = recent.match(args, kwargs)
            if leaves is not None:
                path = recent.paths[0]
                if path.replay is not None:
                    out = path.replay(*leaves)
                    if type(out) is not Diverged:
                        return path.build(out)
        return self._called(args, kwargs)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        """Bind to an instance, as functions of a class do."""
        return self if instance is None else types.MethodType(self, instance)

    def __repr__(self) -> str:
        count = len(self.programs)
        return f"<compiled {called(self.function)}: {count} program{'s' * (count != 1)}>"

    @property
    def programs(self) -> tuple[Program, ...]:
        """The programs, simplified where they are replayed, in the order of their capture."""
        return tuple(p.simple or p.program for paths in self._paths.values() for p in paths.paths)

    def clear(self) -> None:
        """Forget all programs, as if the function had never been called."""
        self._paths, self._recent, self._log = {}, None, []

    def _called(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Replay or capture, after a long look at the arguments."""
        if CAPTURING.get() is not None:
            return self.function(*args, **kwargs)
        found = key_of(args, kwargs, self._parameters)
        if found is None:
            return self.function(*args, **kwargs)
        key, leaves = found
        paths = self._paths.get(key.form)
        if paths is None:
            paths = self._paths[key.form] = Paths(key, matcher(args, kwargs))
        if paths.exhausted:
            return self.function(*args, **kwargs)
        done, out, path = self._replayed(paths, leaves)
        if done:
            self._recent = paths
            return out
        return self._captured(paths, path, args, kwargs, leaves)

    def _replayed(self, paths: Paths, leaves: list[Any]) -> tuple[bool, Any, Path | None]:
        """Replay the path that the guards lead to; else find the one that is still unconfirmed."""
        path = next((each for each in paths.paths if each.replay is not None), None)
        while path is not None and path.replay is not None:
            out = path.replay(*leaves)
            if type(out) is not Diverged:
                paths.paths.remove(path)
                paths.paths.insert(0, path)
                return True, path.build(out), path
            path = paths.following(path, out)
        return False, None, path

    def _captured(
        self,
        paths: Paths,
        path: Path | None,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        leaves: list[Any],
    ) -> Any:
        """Capture the function, and compile it if it did the same before."""
        if path is None and not any(each.replay for each in paths.paths) and paths.paths:
            path = paths.paths[0]
        earlier = None if path is None else path.program
        program, result, same = capture(
            self.function,
            called(self.function),
            rebuilder(args, kwargs),
            leaves,
            paths.key.names,
            earlier,
        )
        answers = tuple([guard.answer for guard in program.guards])
        known = next((each for each in paths.paths if each.answers == answers), None)
        if known is None:
            if len(paths.paths) >= self.max_programs:
                line = program.guards[-1].line
                paths.exhausted = line
                warnings.warn(
                    f"{called(self.function)} has {self.max_programs} programs for arguments of "
                    f"these shapes, and asks for yet another way in {line}; it runs without being "
                    "compiled from now on. Is a number taken out there, by float(...) or in an "
                    "f-string? Return the array instead",
                    CompileWarning,
                    stacklevel=3,
                )
                return result
            paths.paths.insert(0, Path(program))
            return result
        known.captures += 1
        if same and known is path:
            self._compile(known)
            self._recent = paths
        elif known.replay is None:
            known.program = program
            if known.captures > PATIENCE:
                raise CaptureError(
                    f"{called(self.function)} cannot be compiled: it has done something else at "
                    f"each of {known.captures} calls with arguments of the same shapes"
                )
        return result

    def _compile(self, path: Path) -> None:
        program = path.simple = simplified(path.program)
        values = program.outputs
        replay = engine_named(self.engine)(Plan.of(program))

        def build(out: tuple[Any, ...]) -> Any:
            following = dict(zip(values, out, strict=True))
            return map_leaves(
                lambda leaf, path: following[leaf] if type(leaf) is Value else leaf, program.output
            )

        path.replay, path.build = replay, build

    def check(self, *args: Any, **kwargs: Any) -> None:
        """Replay and run the function on the same arguments, and compare.

        Raises
        ------
        ProgramMismatchError
            Where they differ.
        """
        ours, theirs = self(*args, **kwargs), self.function(*args, **kwargs)
        for (path, one), (_, two) in zip(with_paths(ours), with_paths(theirs), strict=True):
            same = (
                np.array_equal(one, two, equal_nan=True)
                if isinstance(two, (np.ndarray, np.generic, float, complex))
                and np.asarray(two).dtype.kind in "fc"
                else np.array_equal(one, two)
            )
            if not same:
                raise ProgramMismatchError(
                    f"the replay of {called(self.function)} gives {one!r}{path and f' at {path}'}, "
                    f"and the function {two!r}"
                )


def compile(  # noqa: A001 - the field's word, and users write ta.compile
    f: Function | None = None, *, engine: str = "auto", max_programs: int = 16
) -> Any:
    """Make a function that is captured by its first two calls and replayed by later ones."""
    if f is None:
        return functools.partial(compile, engine=engine, max_programs=max_programs)
    if not callable(f):
        raise TypeError(
            f"compile takes a function and gives a function, but it got a {type(f).__name__}; "
            "write compile(f)(x)"
        )
    return Compiled(f, engine, max_programs)
