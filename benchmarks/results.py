"""What a run finds out about one workload, and what it had to be."""

from attrs import define, field, frozen

from benchmarks.growth import RecordCost
from benchmarks.libraries import BY_HAND, LIBRARIES, OURS, PLAIN, TORCH
from benchmarks.timing import Times
from benchmarks.workloads import Workload
from tape_ad.programs.engines import Report

__all__ = ["Result", "Target"]

FREE = RecordCost(0.0, 0.0)

SMALL_TARGETS = {"hips_autograd": 0.2, "my_grad": 0.2}
"""For the small workloads: at least five times faster than those."""


@frozen
class Target:
    """A bound, and what was found instead.

    Attributes
    ----------
    what : str
    measured, bound : float
    by_hand : float
        What NumPy takes by hand for the same, where that is known.
    recorded : float
        The same with a record of as many nodes as ours has.
    nodes : int
        How many those are.
    """

    what: str
    measured: float
    bound: float
    by_hand: float = field(default=0.0, kw_only=True)
    recorded: float = field(default=0.0, kw_only=True)
    nodes: int = field(default=0, kw_only=True)

    @property
    def met(self) -> bool:
        """Whether it is kept."""
        return self.measured <= self.bound

    @property
    def dropped(self) -> bool:
        """Whether it is none, as NumPy written by hand does not keep it either."""
        return not self.met and self.by_hand > self.bound


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
    nodes : int
        How many nodes we record; 0 where that was not looked at.
    first : dict of str to float
        The seconds of the calls that compiled, where something is.
    calls : int
        How many calls our compiled program is.
    report : Report or None
        What the native engine says of it.
    """

    workload: Workload
    absent: dict[str, str] = field(factory=dict)
    problems: list[str] = field(factory=list)
    times: dict[str, Times] = field(factory=dict)
    peaks: dict[str, int] = field(factory=dict)
    resident: dict[str, int] = field(factory=dict)
    input_bytes: int = 0
    nodes: int = 0
    first: dict[str, float] = field(factory=dict)
    calls: int = 0
    report: Report | None = None

    def ratio(self, library: str) -> float:
        """Our median, as a fraction of another library's."""
        return self.times[OURS].median / self.times[library].median

    def time_targets(self, cost: RecordCost = FREE) -> list[Target]:
        """The bounds on times that were taken, and what NumPy by hand and a record would take."""
        bounds = dict(self.workload.targets)
        if self.workload.small:
            bounds = SMALL_TARGETS | bounds
        return [
            self.time_target(name, bound, cost)
            for name, bound in bounds.items()
            if name in self.times and OURS in self.times
        ]

    def time_target(self, name: str, bound: float, cost: RecordCost) -> Target:
        """Make one of them."""
        what, theirs = f"{self.workload.name}: time", self.times[name].median
        if name == PLAIN:
            return Target(f"{what} in plain NumPy / with nn", 1 / self.ratio(name), bound)
        by_hand = self.times[BY_HAND].median if BY_HAND in self.times else 0.0
        recorded = by_hand + cost.of(self.nodes) if by_hand and self.nodes else 0.0
        return Target(
            f"{what} / {LIBRARIES[name].title}",
            self.ratio(name),
            bound,
            by_hand=by_hand / theirs,
            recorded=recorded / theirs,
            nodes=self.nodes,
        )

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
