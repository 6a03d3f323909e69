"""Taking times, in turns, and peaks of memory."""

import statistics
import time
import tracemalloc
from collections.abc import Callable, Mapping

from attrs import frozen

__all__ = ["Times", "measure", "peak_memory"]


@frozen
class Times:
    """The seconds that one call took, round by round."""

    rounds: list[float]

    @property
    def median(self) -> float:
        """The middle of the rounds."""
        return statistics.median(self.rounds)

    @property
    def quartiles(self) -> tuple[float, float]:
        """What a quarter of the rounds stayed below, and a quarter exceeded."""
        low, _, high = statistics.quantiles(self.rounds, n=4)
        return low, high

    def over(self, other: "Times") -> float:
        """The median ratio to another program's times, each taken in the same round.

        A machine that turns slow for a second slows both sides of a round, so this is steadier
        than the ratio of the medians.
        """
        return statistics.median(
            ours / theirs for ours, theirs in zip(self.rounds, other.rounds, strict=True)
        )


def measure(
    programs: Mapping[str, Callable[[], object]], *, rounds: int, calls: int
) -> dict[str, Times]:
    """Time programs in turns: `rounds` times each, `calls` calls in a row.

    Every round starts with another program, so that none always follows the same neighbour and
    its caches. The garbage collector stays on, as users have it.
    """
    names = list(programs)
    seconds: dict[str, list[float]] = {name: [] for name in names}
    for round_ in range(-1, rounds):  # the first round warms up and is not counted
        turn = round_ % len(names)
        for name in names[turn:] + names[:turn]:
            program = programs[name]
            start = time.perf_counter()
            for _ in range(calls):
                program()
            taken = (time.perf_counter() - start) / calls
            if round_ >= 0:
                seconds[name].append(taken)
    return {name: Times(taken) for name, taken in seconds.items()}


def peak_memory(program: Callable[[], object]) -> int:
    """Give the largest number of bytes that a call holds beyond what was there before.

    NumPy reports its arrays to `tracemalloc`, and Python its objects.
    """
    program()  # so that what is made once and kept is there before
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        program()
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    return peak - before
