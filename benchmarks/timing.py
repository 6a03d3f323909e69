"""Taking times, in turns."""

import statistics
import time
from collections.abc import Callable, Mapping

from attrs import frozen

__all__ = ["BRIEF", "THOROUGH", "Pace", "Times", "in_turns", "seconds_of"]


@frozen
class Pace:
    """How long to look.

    Attributes
    ----------
    seconds : float
        For which calls are repeated in each turn, to be well above the clock's grain.
    turns : int
        How many a program gets whose calls are short.
    """

    seconds: float
    turns: int

    def turns_for(self, seconds: float) -> int:
        """Say how many turns a program gets: fewer where a call takes long."""
        return self.turns if seconds < 0.1 else 9 if seconds < 1 else 3


THOROUGH = Pace(seconds=0.05, turns=25)
BRIEF = Pace(seconds=0.012, turns=11)


@frozen
class Times:
    """The seconds that one call took, turn by turn."""

    turns: list[float]

    @property
    def median(self) -> float:
        """The middle of the turns."""
        return statistics.median(self.turns)

    @property
    def least(self) -> float:
        """The quickest turn: what the call takes when nothing comes in between."""
        return min(self.turns)

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


def in_turns(
    timers: Mapping[str, Callable[[int], float]], pace: Pace = THOROUGH
) -> dict[str, Times]:
    """Time several programs, one after the other, again and again.

    So a machine that turns slow for a while slows all of them. Every round starts with another
    one, so that none always follows the same neighbour.

    Parameters
    ----------
    timers : dict of str to callable
        ``timer(calls)`` gives the seconds for one of that many calls in a row.
    pace : Pace
    """
    once = {name: timer(1) for name, timer in timers.items()}
    once |= {name: timers[name](10) for name, taken in once.items() if taken < 1e-3}  # now warm
    calls = {name: max(1, round(pace.seconds / max(taken, 1e-7))) for name, taken in once.items()}
    turns = {name: pace.turns_for(taken) for name, taken in once.items()}
    names = list(timers)
    seconds: dict[str, list[float]] = {name: [] for name in names}
    for turn in range(max(turns.values())):
        first = turn % len(names)
        for name in names[first:] + names[:first]:
            if turn < turns[name]:
                seconds[name].append(timers[name](calls[name]))
    return {name: Times(taken) for name, taken in seconds.items()}
