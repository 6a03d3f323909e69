"""What an engine tells of how it runs a program."""

from collections.abc import Mapping
from typing import Any

from attrs import field, frozen

__all__ = ["Report", "reporting"]


@frozen(eq=False)
class Report:
    """What of a program runs as native code, and what does not.

    An engine that compiles hangs it on what it makes, as ``replay.report``.

    Attributes
    ----------
    native : int
        How many of the program's calls are native.
    segments : int
        In how many runs of native code, between which Python has something to do.
    loops : int
        Of how many loops those consist; several calls may be one.
    left : mapping of str to (mapping of str to int)
        Why calls are left to NumPy: to each reason the names of the functions, and how often each
        is called.
    seconds : float
        How long it took to compile.
    """

    native: int
    segments: int
    loops: int
    left: Mapping[str, Mapping[str, int]] = field(factory=dict)
    seconds: float = 0.0


def reporting(replay: Any, report: Report) -> Any:
    """Hang a report on a replay."""
    replay.report = report
    return replay
