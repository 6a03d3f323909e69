"""What a run finds out about one workload, and what it had to be."""

from attrs import define, field, frozen

from benchmarks.libraries import LIBRARIES, OURS, TORCH
from benchmarks.timing import Times
from benchmarks.workloads import Workload

__all__ = ["Result", "Target"]

SMALL_TARGETS = {"hips_autograd": 0.2, "my_grad": 0.2}
"""For the small workloads: at least five times faster than those."""


@frozen
class Target:
    """A bound, and what was found instead."""

    what: str
    measured: float
    bound: float

    @property
    def met(self) -> bool:
        """Whether it is kept."""
        return self.measured <= self.bound


@define
class Result:
    """What was found for one workload.

    Attributes
    ----------
    workload : Workload
    absent : dict of str to str
        Why libraries do not take part.
    problems : list of str
        Disagreements, and errors.
    times : dict of str to Times
    peaks : dict of str to int
        Bytes at the peak of memory, beyond the inputs.
    resident : dict of str to int
        The same as the operating system sees it, where that is fine enough.
    input_bytes : int
        The size of the first input.
    """

    workload: Workload
    absent: dict[str, str] = field(factory=dict)
    problems: list[str] = field(factory=list)
    times: dict[str, Times] = field(factory=dict)
    peaks: dict[str, int] = field(factory=dict)
    resident: dict[str, int] = field(factory=dict)
    input_bytes: int = 0

    def ratio(self, library: str) -> float:
        """Our median, as a fraction of another library's."""
        return self.times[OURS].median / self.times[library].median

    def time_targets(self) -> list[Target]:
        """The bounds on times that were taken."""
        bounds = dict(self.workload.targets)
        if self.workload.small:
            bounds = SMALL_TARGETS | bounds
        return [
            Target(f"{self.workload.name}: time / {LIBRARIES[name].title}", self.ratio(name), bound)
            for name, bound in bounds.items()
            if name in self.times and OURS in self.times
        ]

    def memory_targets(self) -> list[Target]:
        """The bounds on peaks of memory that were looked at."""
        found, workload = [], self.workload
        for kind, peaks in (("allocated", self.peaks), ("resident", self.resident)):
            if workload.memory is not None and {OURS, TORCH} <= peaks.keys():
                what = f"{workload.name}: peak of {kind} memory / PyTorch eager"
                found.append(Target(what, peaks[OURS] / peaks[TORCH], workload.memory))
        if workload.arrays is not None and OURS in self.peaks:
            arrays = self.peaks[OURS] / self.input_bytes
            found.append(
                Target(
                    f"{workload.name}: peak of allocated memory, in arrays", arrays, workload.arrays
                )
            )
        return found
