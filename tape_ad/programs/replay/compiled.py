"""A function that is captured by its first calls and replayed by all later ones."""

import functools
import types
from collections.abc import Callable
from typing import Any

from attrs import define

from tape_ad.base.arrays.active import ACTIVE
from tape_ad.base.errors import CaptureError
from tape_ad.base.naming import global_name
from tape_ad.programs.engines.numpy.source import source_of
from tape_ad.programs.program.program import Program
from tape_ad.programs.replay.checking import check_alike
from tape_ad.programs.replay.explaining import counted, explained, title
from tape_ad.programs.replay.paths import Search
from tape_ad.programs.replay.replaying import PATIENCE, Replayer, is_capturing
from tape_ad.programs.replay.verifying import run_eagerly
from tape_ad.record.inspection.observing import debugging
from tape_ad.record.inspection.pages.figures import shown_by_repr, tag

__all__ = ["Compiled"]


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
        """Call the method."""
        return self.compiled(self.instance, *args, **kwargs)

    def check(self, /, *args: Any, **kwargs: Any) -> None:
        """Compare a replay with the function itself; see `Compiled.check`."""
        self.compiled.check(self.instance, *args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.compiled, name)

    def __repr__(self) -> str:
        return f"<method of {self.instance!r}: {self.compiled!r}>"


Function = Callable[..., Any]


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
        if active.wishes is not None and debugging():  # a replay has no nodes to tell of
            return self.function(*args, **kwargs)
        for paths in self._recent:
            leaves = paths.match(args, kwargs)
            if leaves is not None and (path := paths.front) is not None:
                try:
                    out = path.replay(*leaves)  # type: ignore[misc]  # those in front have one
                except Exception as error:  # perhaps the function catches it
                    out = error
                if type(out) is tuple:
                    path.replays = count = path.replays + 1
                    if count >= path.due:
                        self._check_if_due(paths, path, args, kwargs, leaves, out)
                    return path.build(out)
                search = Search(path, out).follow_guards(paths, leaves)
                return self._finish(search, paths, args, kwargs, leaves)
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
        options = self.engine, self.max_programs, self.threads, self.check_every
        return Compiled, (self.function, *options)

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
        check_alike(name, search.built(), run_eagerly(self.function, args, kwargs), search.exact)
