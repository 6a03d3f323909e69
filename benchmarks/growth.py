"""Whether a node, or an element, costs the same in a long record as in a short one."""

import functools
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from attrs import frozen

import tape_ad as ta
from benchmarks.timing import seconds_of

__all__ = ["GROWTHS", "Growth", "RecordCost", "growth", "nanoseconds_per_element", "record_cost"]


@frozen
class Growth:
    """Something that is done ever more often in one record.

    Attributes
    ----------
    program : callable
        ``program(n)`` records and sweeps it n times.
    sizes : tuple of int
    bound : float
        The most that the slowest size may cost per element, as a multiple of the quickest.
    native : bool
        Whether it needs the native engine.
    """

    program: Callable[[int], object]
    sizes: tuple[int, ...] = (100, 1_000, 10_000, 100_000)
    bound: float = 2.0
    native: bool = False


def leaf(n: int) -> Any:
    return ta.ComputationRecord().tensor(np.linspace(0.5, 1.5, n))


def chain(nodes: int) -> None:
    x = y = leaf(1)
    for _ in range(nodes // 2):
        y = np.sin(y) + 0.5
    y.grad(np.ones(1)).wrt(x)


def elements(n: int) -> None:
    x = leaf(n)
    total = 0.0
    for i in range(n):
        total = total + x[i]
    total.grad().wrt(x)  # type: ignore[attr-defined]  # it is a handle after the first element


def iteration(n: int) -> None:
    x = leaf(n)
    total = 0.0
    for v in x:
        total = total + v
    total.grad().wrt(x)  # type: ignore[attr-defined]  # the same


def uses(n: int) -> None:
    w = leaf(1)
    total = 0.0
    for _ in range(n):
        total = total + w * 0.5
    total.grad(np.ones(1)).wrt(w)  # type: ignore[attr-defined]  # the same


def filled(n: int) -> None:
    x, a = start(n)
    for i in range(n):
        a[i] = np.sin(x[i])
    a.grad(np.ones(n)).wrt(x)


def added(n: int) -> None:
    x, a = start(n)
    for i in range(n):
        a[i] += x[i]
    a.grad(np.ones(n)).wrt(x)


def start(n: int) -> tuple[Any, Any]:
    x = leaf(n)
    return x, x.record.constant(np.zeros(n))


def stack(n: int) -> None:
    rec = ta.ComputationRecord()
    handles = [rec.tensor(row) for row in np.ones((n, 8))]
    total = np.sum(np.stack(handles))
    total.grad().wrt(handles)


def compiled_chain(calls: int) -> None:
    def f(x: Any) -> Any:
        for _ in range(calls // 2):
            x = np.sin(x) + 0.5
        return x

    program, x = ta.compile(f, engine="native"), np.ones(1)
    for _ in range(2):
        program(x)


GROWTHS: dict[str, Growth] = {
    "a chain of cheap functions": Growth(chain, (100, 1_000, 10_000, 100_000, 1_000_000), 1.25),
    "x[i] for every element": Growth(elements),
    "for v in x": Growth(iteration),
    "uses of one parameter": Growth(uses),
    "out[i] = f(x[i])": Growth(filled),
    "out[i] += x[i]": Growth(added),
    "np.stack of handles": Growth(stack),
    "a chain captured and compiled": Growth(compiled_chain, (1_000, 10_000), native=True),
}


def nanoseconds_per_element(name: str) -> dict[int, float]:
    """Time a program for each of its sizes, round by round, and give the least of the rounds."""
    asked = GROWTHS[name]
    taken: dict[int, list[float]] = {size: [] for size in asked.sizes}
    for _ in range(5):
        for size in asked.sizes:
            calls = max(1, 30_000 // size)
            start = time.perf_counter()
            for _ in range(calls):
                asked.program(size)
            taken[size].append((time.perf_counter() - start) / calls / size * 1e9)
    return {size: min(times) for size, times in taken.items()}


@frozen
class RecordCost:
    """What recording and sweeping takes, beyond the arithmetic that is done.

    Attributes
    ----------
    record, node : float
        Seconds for a record with its gradient, and for each node.
    """

    record: float
    node: float

    def of(self, nodes: int) -> float:
        """Give the seconds for a record of so many nodes."""
        return self.record + nodes * self.node


def record_cost() -> RecordCost:
    """Measure it with negations of one element, the least of many rounds."""
    x = np.ones(1)

    def recorded(nodes: int) -> None:
        y = leaf = ta.ComputationRecord().tensor(x)
        for _ in range(nodes):
            y = -y
        y.grad(x).wrt(leaf)

    def by_hand(nodes: int) -> None:
        y = x
        for _ in range(2 * nodes):  # the values and the cotangents
            y = -y

    def seconds(nodes: int) -> float:
        own, arithmetic = (
            min(seconds_of(functools.partial(program, nodes), 10_000 // nodes) for _ in range(20))
            for program in (recorded, by_hand)
        )
        return own - arithmetic

    short, long = seconds(1), seconds(1_000)
    return RecordCost(record=short, node=(long - short) / 999)


def growth(per_element: dict[int, float]) -> float:
    """Give the most that an element costs, as a multiple of the least."""
    return max(per_element.values()) / min(per_element.values())
