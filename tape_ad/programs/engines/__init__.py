"""Engines: what makes a plan something to call.

An engine is a function from a `Plan` to a `Replay`: what is called with the inputs of a program,
and gives a tuple of its outputs' leaves, or `Diverged` at a guard that got another answer.
"""

from collections.abc import Callable, Mapping
from typing import Any

from tape_ad.programs.engines import numpy_engine
from tape_ad.programs.plans import Plan

__all__ = ["ENGINES", "Engine", "Replay", "engine_named"]

Replay = Callable[..., Any]
Engine = Callable[[Plan], Replay]


ENGINES: Mapping[str, Engine] = {
    "auto": numpy_engine.replay_of,
    "numpy": numpy_engine.replay_of,
}
"""By the names that a user gives them; ``auto`` is the quickest that is there."""


def engine_named(name: str) -> Engine:
    """Find an engine.

    Parameters
    ----------
    name : str
        One of `ENGINES`.

    Returns
    -------
    callable
        Takes a `Plan`, gives a `Replay`.

    Raises
    ------
    ValueError
        There is none of that name.
    NotImplementedError
        It is planned, but not there.

    Examples
    --------
    >>> engine_named("nmpy")
    Traceback (most recent call last):
    ...
    ValueError: there is no engine 'nmpy'; there are 'auto' and 'numpy'
    """
    if name == "native":  # which users will have read of
        raise NotImplementedError(
            "engine='native' is not in this version; engine='numpy' needs nothing else, and gives "
            "the same bits as the function itself"
        )
    engine = ENGINES.get(str(name))
    if engine is None:
        raise ValueError(
            f"there is no engine {name!r}; there are {' and '.join(map(repr, ENGINES))}"
        )
    return engine
