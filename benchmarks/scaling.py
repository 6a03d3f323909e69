"""What a step over distributed data costs: measured on two workers, and simulated for more.

    python -m benchmarks.scaling             # measure, fit, compare, simulate (two minutes)
    python -m benchmarks.scaling --quick     # fewer repeats and sizes

A step has a task for each block of partitions and one for each sum of eight, which all go through
one scheduler. The constants of that are fitted to steps without work: of 10 to 1,000 partitions,
and with parameters of up to 80 MB. Then a simulation of scheduler, workers and their connections,
with those constants, is compared with the same steps, and asked about clusters that are not here.
docs/scaling.md says what follows.
"""

import argparse
import heapq
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from attrs import evolve, frozen

import tape_ad as ta
from benchmarks.distributed import in_turn, nothing, seconds, workers

TOGETHER = 8
"""How many sums one task adds."""

OUTGOING = 50
"""To how many others a worker sends at once: Dask's distributed.worker.connections.outgoing."""

COUNTS = (10, 30, 100, 300, 1000)
BYTES = (8e4, 8e5, 8e6, 8e7)
ETHERNET = 8e-9
"""Seconds for a byte between machines: one gigabit a second."""


@frozen
class Costs:
    """What a step is made of, in seconds.

    Attributes
    ----------
    step : float
        There and back between the program and the scheduler.
    task : float
        Of the scheduler, for each task, one after the other.
    byte : float
        For one byte from process to process, through serialization and the connection.
    add : float
        To add one byte of a gradient to another, and to multiply it by its weight.
    """

    step: float
    task: float
    byte: float
    add: float = 2.5e-10


@frozen
class Setting:
    """A step on a cluster.

    Attributes
    ----------
    workers : int
    blocks : int
        Tasks that compute: one for each partition whose data workers hold, else about as many as
        there are workers, or four times as many.
    work : float
        Seconds of computing for a block.
    nbytes : float
        Of the parameters, and so of a gradient.
    """

    workers: int
    blocks: int
    work: float = 0.0
    nbytes: float = 0.0


def levels_of(blocks: int) -> list[int]:
    """List how many tasks each level of the tree has, from the blocks up."""
    counts = [blocks]
    while counts[-1] > 1:
        counts.append(-(-counts[-1] // TOGETHER))
    return counts


def simulated(setting: Setting, costs: Costs) -> float:
    """Give the seconds of a step, by going through its events in their order."""
    levels = levels_of(setting.blocks)
    waiting = {
        (level, place): min(TOGETHER, levels[level - 1] - TOGETHER * place)
        for level in range(1, len(levels))
        for place in range(levels[level])
    }
    transfer = setting.nbytes * costs.byte
    free = [params_at(worker, transfer, costs) for worker in range(setting.workers)]
    where: dict[tuple[int, int], int] = {}
    ready = [(costs.step / 2, 0, place) for place in range(setting.blocks)]
    heapq.heapify(ready)
    scheduler = done = 0.0
    while ready:
        time, level, place = heapq.heappop(ready)
        scheduler = max(scheduler, time) + costs.task
        if level == 0:
            worker = place * setting.workers // setting.blocks  # as Dask has it
            work = setting.work + setting.nbytes * costs.add
        else:
            worker, work = adding(level, place, levels, where, transfer, setting, costs)
        free[worker] = done = max(free[worker], scheduler) + work
        where[level, place] = worker
        if level + 1 < len(levels):
            parent = level + 1, place // TOGETHER
            waiting[parent] -= 1
            if waiting[parent] == 0:
                heapq.heappush(ready, (done, *parent))
    return done + transfer + costs.step / 2


def params_at(worker: int, transfer: float, costs: Costs) -> float:
    """Give when a worker has the parameters: the first one hands them on, to `OUTGOING` at once.

    Those share its connection, and who comes later finds many that have them.
    """
    if transfer == 0:
        return 0.0
    return costs.step / 2 + costs.task + transfer * (1 + min(worker, OUTGOING))


def adding(
    level: int,
    place: int,
    levels: Sequence[int],
    where: dict[tuple[int, int], int],
    transfer: float,
    setting: Setting,
    costs: Costs,
) -> tuple[int, float]:
    """Choose the worker that has most of what is added, and say how long it fetches and adds."""
    stop = min(TOGETHER * (place + 1), levels[level - 1])
    held = [where[level - 1, child] for child in range(TOGETHER * place, stop)]
    worker = max(set(held), key=held.count)
    fetched = len(held) - held.count(worker)
    return worker, fetched * transfer + (len(held) - 1) * setting.nbytes * costs.add


def measured(repeats: int, counts: Sequence[int], sizes: Sequence[float]) -> Any:
    """Time steps without work on two workers: by the number of partitions, and by bytes."""
    by_count, by_bytes = [], []
    with workers(2) as client:
        for count in counts:
            held = client.map(np.ones, [1] * count, pure=False)
            by_count.append(best(client, held, np.zeros(20), repeats))
        for size in sizes:
            held = client.map(np.ones, [1] * PARTITIONS, pure=False)
            by_bytes.append(best(client, held, np.zeros(int(size) // 8), repeats))
    return np.array(by_count), np.array(by_bytes)


PARTITIONS = 16


def best(client: Any, held: Any, w: Any, repeats: int) -> float:
    """Give the time of the quickest of some steps, after a first one."""
    step: Callable[[], Any] = in_turn(client, ta.interop.dask.value_and_grad(nothing), w, (held,))
    step()
    return min(seconds(step) for _ in range(repeats))


def fitted(by_count: Any, by_bytes: Any, counts: Sequence[int], sizes: Sequence[float]) -> Costs:
    """Fit the constants: a line through steps by tasks, then the byte by the largest steps."""
    tasks = np.array([sum(levels_of(count)) for count in counts])
    task, step = np.polyfit(tasks, by_count, 1, w=1 / by_count)
    costs = Costs(max(float(step), 1e-4), float(task), 0.0)
    setting = Setting(2, PARTITIONS, nbytes=sizes[-1])
    low, high = 0.0, 1e-7
    for _ in range(60):  # the time grows with the cost of a byte
        middle = (low + high) / 2
        if simulated(setting, evolve(costs, byte=middle)) < by_bytes[-1]:
            low = middle
        else:
            high = middle
    return evolve(costs, byte=middle)


def compare(costs: Costs, by_count: Any, by_bytes: Any, counts: Any, sizes: Any) -> None:
    """Print steps as they are and as they are simulated."""
    print(f"a step {1e3 * costs.step:.1f} ms, a task {1e3 * costs.task:.2f} ms, "
          f"1 MB {1e9 * costs.byte:.2f} ms")  # fmt: skip
    print("2 workers, one task for each partition, without work:")
    rows = [(f"{count:5d} partitions", Setting(2, count)) for count in counts]
    rows += [
        (f"{PARTITIONS} partitions, {size / 1e6:6.2f} MB", Setting(2, PARTITIONS, nbytes=size))
        for size in sizes
    ]
    for (name, setting), time in zip(rows, [*by_count, *by_bytes], strict=True):
        model = simulated(setting, costs)
        print(f"  {name:26s} {1e3 * time:8.1f} ms, simulated {1e3 * model:8.1f}")


def ask(costs: Costs) -> None:
    """Simulate clusters that are not here: a second of work in all, by workers and parameters."""
    between = evolve(costs, byte=max(costs.byte, ETHERNET))
    work, sizes = 100.0, (8e3, 8e5, 8e6, 8e7, 8e8)
    print("simulated: 100 seconds of computing, a block for each worker, gigabit connections")
    print("  workers " + "".join(f"{size / 1e6:>11g} MB" for size in sizes))
    for count in (2, 8, 32, 128, 512, 2048):
        times = [simulated(Setting(count, count, work / count, size), between) for size in sizes]
        print(f"  {count:7d} " + "".join(f"{time:12.2f} s" for time in times))


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure and simulate steps over workers.")
    parser.add_argument("--quick", action="store_true", help="fewer repeats and sizes")
    quick = parser.parse_args().quick
    counts, sizes = (COUNTS[:3], BYTES[:3]) if quick else (COUNTS, BYTES)
    by_count, by_bytes = measured(2 if quick else 7, counts, sizes)
    costs = fitted(by_count, by_bytes, counts, sizes)
    compare(costs, by_count, by_bytes, counts, sizes)
    ask(costs)


if __name__ == "__main__":
    main()
