"""Two ways to compute the same, timed in turns in a process of their own."""

from attrs import frozen

from benchmarks.results import Target
from benchmarks.tables import duration
from benchmarks.timing import Times

__all__ = ["Beside"]


@frozen
class Beside:
    """What was found, or why nothing.

    Attributes
    ----------
    what : str
        The ratio of the first to the second.
    bound : float
        The most that it may be.
    first, second : Times or None
    how : str
        What there is to know about it.
    reason : str
        Why it was not measured.
    """

    what: str
    bound: float
    first: Times | None = None
    second: Times | None = None
    how: str = ""
    reason: str = ""

    @property
    def target(self) -> Target | None:
        """The bound on the medians, where they were taken."""
        if self.first is None or self.second is None:
            return None
        return Target(self.what, self.first.median / self.second.median, self.bound)

    def row(self) -> tuple[str, ...]:
        """Write it for a table."""
        target = self.target
        if self.first is None or self.second is None or target is None:
            return self.what, "", "", "", f"{self.bound:.3g}", self.reason
        medians = duration(self.first.median), duration(self.second.median)
        measured = f"{target.measured:.3g}" if target.met else f"**{target.measured:.3g}**"
        return self.what, *medians, measured, f"{self.bound:.3g}", self.how
