"""Engines: what makes a plan something to call.

An engine is a function of a `Program`, and of how many threads may share its work, 1 if that is not
said. It gives a `Replay`: what is called with the inputs of a program, and gives a tuple of its
outputs' leaves, or `Diverged` at a guard that got another answer. Its attribute `nbytes` is the
most bytes that it needs, and one that is not NumPy's alone has a `Report` as its `report`.
"""

import functools
import importlib.util
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from tape_ad.base.errors import extra
from tape_ad.base.naming import called
from tape_ad.programs.engines.numpy import by_numpy
from tape_ad.programs.engines.plans import Report, reporting
from tape_ad.programs.program import Program

__all__ = ["ENGINES", "Report", "compiler_passes", "engine_named"]

Replay = Any
Engine = Callable[..., Replay]


def compiler() -> Any:
    """Load the native compiler, which takes its time, for it loads LLVM.

    Raises
    ------
    ImportError
        LLVM is not there.
    """
    with extra("compile", "engine='native'", instead="engine='numpy'"):
        import llvmlite.binding  # noqa: F401 - to say what is missing, if it is

    from tape_ad.programs.engines.native import native_engine

    return native_engine


def by_compiling(program: Program, threads: int = 1) -> Replay:
    """Have LLVM compile a program; what cannot be native is NumPy's."""
    return compiler().replay_of(program, threads)


def quickest(program: Program, threads: int = 1) -> Replay:
    """Have a program compiled where LLVM is there.

    What it cannot do, NumPy does, and the report says so.
    """
    if not has_llvm():
        return by_numpy(program)
    try:
        return by_compiling(program, threads)
    except Exception as error:  # of a processor, say, for which nobody has tried it
        return reporting(by_numpy(program), failed(program, error))


ENGINES: Mapping[str, Engine] = {"auto": quickest, "numpy": by_numpy, "native": by_compiling}
"""The engines, by the names that users know them by."""


def compiler_passes(name: str, program: Program) -> Iterator[tuple[str, str]]:
    """Give the listing of a program after each pass of the native compiler, and LLVM's text.

    Parameters
    ----------
    name : str
        The engine's; there is nothing for one that does not compile.
    program : Program
        Simplified.

    Yields
    ------
    name : str
        Of the pass.
    listing : str
    """
    if name == "numpy" or not has_llvm():
        return
    yield from compiler().listings(program)


def failed(program: Program, error: Exception) -> Report:
    """Report a program that could not be compiled."""
    functions = Counter(called(call.function) for call in program.calls)
    return Report(0, 0, 0, {f"native code fails with {type(error).__name__}: {error}": functions})


@functools.cache
def has_llvm() -> bool:
    """Tell whether llvmlite is installed, without importing it."""
    return importlib.util.find_spec("llvmlite") is not None


def engine_named(name: str) -> Engine:
    """Find the engine of a name, which turns programs into callables.

    Parameters
    ----------
    name : str
        One of `ENGINES`.

    Returns
    -------
    callable
        Takes a `Program`, and perhaps a number of threads; gives a `Replay`.

    Raises
    ------
    ValueError
        There is none of that name.
    ImportError
        It needs an extra that is not installed.

    Examples
    --------
    >>> engine_named("nmpy")
    Traceback (most recent call last):
    ...
    ValueError: there is no engine 'nmpy'; there are 'auto', 'numpy' and 'native'
    """
    engine = ENGINES.get(str(name))
    if engine is None:
        *names, last = map(repr, ENGINES)
        raise ValueError(f"there is no engine {name!r}; there are {', '.join(names)} and {last}")
    if engine is by_compiling:
        compiler()  # now, not within the first call that compiles
    return engine
