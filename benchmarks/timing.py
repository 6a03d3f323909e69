"""Taking times, in turns."""

import statistics
import time
from collections.abc import Callable, Mapping

from attrs import frozen

__all__ = ["Times", "in_turns", "seconds_of"]

ROUND = 0.05
"""The seconds that calls are repeated for in each turn, to be well above the clock's grain."""


@frozen
class Times:
    """The seconds that one call took, turn by turn."""

    turns: list[float]

    @property
    def median(self) -> float:
        """The middle of the turns."""
        return statistics.median(self.turns)

    @property
    def quartiles(self) -> tuple[float, float]:
        """What a quarter of the turns stayed below, and a quarter exceeded."""
        low, _, high = statistics.quantiles(self.turns, n=4)
        return low, high

    @property
    def spread(self) -> float:
        """The distance between the quartiles, as a fraction of the median."""
        low, high = self.quartiles
        return (high - low) / self.median


def seconds_of(program: Callable[[], object], calls: int) -> float:
    """Time calls in a row; the garbage collector stays on, as users have it.

    Short calls come after one that warms the caches.
    """
    if calls > 1:
        program()
    start = time.perf_counter()
    for _ in range(calls):
        program()
    return (time.perf_counter() - start) / calls


def in_turns(timers: Mapping[str, Callable[[int], float]]) -> dict[str, Times]:
    """Time several programs, one after the other, again and again.

    So a machine that turns slow for a while slows all of them. Every round starts with another
    one, so that none always follows the same neighbour.

    Parameters
    ----------
    timers : dict of str to callable
        ``timer(calls)`` gives the seconds for one of that many calls in a row.
    """
    once = {name: timer(1) for name, timer in timers.items()}
    calls = {name: max(1, round(ROUND / max(taken, 1e-7))) for name, taken in once.items()}
    turns = {name: turns_for(taken) for name, taken in once.items()}
    names = list(timers)
    seconds: dict[str, list[float]] = {name: [] for name in names}
    for turn in range(max(turns.values())):
        first = turn % len(names)
        for name in names[first:] + names[:first]:
            if turn < turns[name]:
                seconds[name].append(timers[name](calls[name]))
    return {name: Times(taken) for name, taken in seconds.items()}


def turns_for(seconds: float) -> int:
    """Say how many turns a program gets: fewer where a call takes long."""
    return 25 if seconds < 0.1 else 9 if seconds < 1 else 3
