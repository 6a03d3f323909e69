"""What a compiled function takes besides its program: to match the key and to bind the inputs."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

import tape_ad as ta
from benchmarks.results import Target
from benchmarks.timing import seconds_of

__all__ = ["OVERHEADS", "overhead_seconds", "overhead_targets"]

FEW, FEW_SECONDS, SECONDS_PER_CALL = 5, 2e-6, 0.3e-6
"""The most seconds for up to so many arrays, and for each further one."""

X = [np.ones(3) for _ in range(20)]


def first_of_arrays(*arrays: Any) -> Any:
    return np.negative(arrays[0])


def first_of_dict(arrays: dict[str, Any]) -> Any:
    return np.negative(arrays["w0"])


OVERHEADS: dict[str, tuple[int, Callable[..., Any], tuple[Any, ...]]] = {
    "1 array": (1, first_of_arrays, (X[0],)),
    "5 arrays": (5, first_of_arrays, tuple(X[:5])),
    "20 arrays": (20, first_of_arrays, tuple(X)),
    "a dict of 10 arrays": (10, first_of_dict, ({f"w{i}": x for i, x in enumerate(X[:10])},)),
}
"""How many arrays there are, a function that does next to nothing, and its arguments."""


def overhead_seconds(name: str, engine: str) -> float:
    """Time replays of a program of one call, less that call of NumPy's: the least of many."""
    _, function, arguments = OVERHEADS[name]
    x = X[0]
    replayed = ta.compile(function, engine=engine)
    for _ in range(3):
        replayed(*arguments)
    rounds = [
        (
            seconds_of(lambda: replayed(*arguments), 2_000),
            seconds_of(lambda: np.negative(x), 2_000),
        )
        for _ in range(25)
    ]
    return min(taken for taken, _ in rounds) - min(alone for _, alone in rounds)


def overhead_targets(overheads: Mapping[str, float], engine: str) -> list[Target]:
    """Give the bounds on what was found for an engine, in microseconds."""
    return [
        Target(
            f"overhead of a call by engine={engine!r}, microseconds: {name}",
            1e6 * seconds,
            1e6 * (FEW_SECONDS + max(0, OVERHEADS[name][0] - FEW) * SECONDS_PER_CALL),
        )
        for name, seconds in overheads.items()
    ]
