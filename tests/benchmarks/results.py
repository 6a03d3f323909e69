"""Results made up, for the tests of what is told of them."""

from benchmarks.found import Run
from benchmarks.results import Result
from benchmarks.timing import Times
from benchmarks.workloads import FUNCTIONS, WORKLOADS

__all__ = ["function", "run_of", "timed"]


def run_of(*results: Result) -> Run:
    return Run(setting={}, versions={}, missing={}, results=list(results))


def timed(name: str, **medians: float) -> Result:
    return Result(WORKLOADS[name], times={k: Times([v, v, v]) for k, v in medians.items()})


def function(name: str, **seconds: float) -> Result:
    return Result(FUNCTIONS[name], times={k: Times([v, 9.0, 9.0]) for k, v in seconds.items()})
