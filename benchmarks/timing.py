"""Taking times, in rounds."""

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
        For which calls are repeated in each round, to be well above the clock's grain.
    rounds : int
        How many a program gets whose calls are short.
    """

    seconds: float
    rounds: int

    def rounds_for(self, seconds: float) -> int:
        """Say how many rounds a program gets: fewer where a call takes long."""
        return self.rounds if seconds < 0.1 else 9 if seconds < 1 else 3


THOROUGH = Pace(seconds=0.05, rounds=25)
BRIEF = Pace(seconds=0.012, rounds=11)


@frozen
class Times:
    """The seconds that one call took, round by round."""

    rounds: list[float]

    @property
    def median(self) -> float:
        """The middle of the rounds."""
        return statistics.median(self.rounds)

    @property
    def least(self) -> float:
        """The quickest round: what the call takes when nothing comes in between."""
        return min(self.rounds)

    @property
    def quartiles(self) -> tuple[float, float]:
        """What a quarter of the rounds stayed below, and a quarter exceeded."""
        low, _, high = statistics.quantiles(self.rounds, n=4)
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

    So a machine that becomes slow for a while slows all of them. Every round starts with another
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
    rounds = {name: pace.rounds_for(taken) for name, taken in once.items()}
    names = list(timers)
    seconds: dict[str, list[float]] = {name: [] for name in names}
    for number in range(max(rounds.values())):
        first = number % len(names)
        for name in names[first:] + names[:first]:
            if number < rounds[name]:
                seconds[name].append(timers[name](calls[name]))
    return {name: Times(taken) for name, taken in seconds.items()}
