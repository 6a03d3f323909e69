"""Measure gradients over data on several workers, each a process of this machine.

    python -m benchmarks.distributed             # all of it
    python -m benchmarks.distributed speed       # one worker beside two
    python -m benchmarks.distributed overhead    # what a step costs beside computing
    python -m benchmarks.distributed tasks       # the scheduler's time, by the number of partitions

Rows are made by a seed, chunk by chunk, in every step anew: they are never whole in memory. The
fastest steps on one worker and on two are compared, of two clusters each, one after the other.
"""

import argparse
import logging
import resource
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import dask.array as da
import numpy as np
from dask.delayed import delayed
from distributed import Client, LocalCluster

import tape_ad as ta

COLUMNS = 20
PARTITIONS = 64
MEBI = 2**20


@contextmanager
def workers(count: int) -> Iterator[Any]:
    with (
        LocalCluster(
            n_workers=count,
            threads_per_worker=1,
            dashboard_address=":0",
            silence_logs=logging.ERROR,
        ) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield client


def loss(w: Any, x: Any, y: Any) -> Any:
    """Compute the loss of logistic regression."""
    return np.mean(np.logaddexp(0, -y * (x @ w)))


def rows(count: int, partitions: int) -> tuple[Any, Any]:
    """Describe the data, which workers make."""
    rng = da.random.default_rng(0)
    x = rng.normal(size=(count, COLUMNS), chunks=(-(-count // partitions), COLUMNS))
    return x, da.sign(x @ np.linspace(-1, 1, COLUMNS))


def seconds(function: Callable[[], Any]) -> float:
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def peak() -> float:
    """Give the largest memory that a worker had, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def speed(count: int, repeats: int) -> None:
    """Compare steps on one worker and on two, twice each, as machines are not always as quick."""
    data = rows(count, PARTITIONS)
    times: dict[int, list[float]] = {1: [], 2: []}
    results: dict[int, Any] = {}
    for number in (1, 2, 1, 2):
        with workers(number) as client:
            before = max(client.run(peak).values())
            step = in_turn(client, ta.interop.dask.value_and_grad(loss), np.zeros(COLUMNS), data)
            results[number] = step()
            times[number] += [seconds(step) for _ in range(repeats)]
            after = max(client.run(peak).values())
    same = all(
        one.tobytes() == two.tobytes() for one, two in zip(results[1], results[2], strict=True)
    )
    fastest = {number: min(each) for number, each in times.items()}
    chunk = 8 * COLUMNS * count / PARTITIONS / MEBI
    print(f"logistic regression, {count} rows of {COLUMNS}, {PARTITIONS} partitions")
    print(f"  one worker {fastest[1]:.2f} s, two {fastest[2]:.2f} s a step")
    print(f"  two are {fastest[1] / fastest[2]:.2f} times as quick; the same bits: {same}")
    print(f"  a worker's memory: {before:.0f} MiB at first, at most {after:.0f}; all of the data: "
          f"{chunk * PARTITIONS:.0f}, a chunk: {chunk:.0f}")  # fmt: skip


def in_turn(client: Client, step: Any, w: Any, data: Any) -> Callable[[], Any]:
    """Make the function that takes one step on the workers of a client."""

    def run() -> Any:
        with client.as_current():
            return step(w, *data)

    return run


def nothing(w: Any, x: Any) -> Any:
    """Compute next to nothing."""
    return np.sum(w) * x[0]


def overhead(repeats: int) -> None:
    """Compare a step with what its losses take by themselves, and with one task of Dask's."""
    w, part = np.zeros(COLUMNS), np.ones(1)
    alone = ta.value_and_grad(nothing)
    with workers(2) as client:
        step = in_turn(
            client,
            ta.interop.dask.value_and_grad(nothing, keep=True),
            w,
            ([delayed(np.ones)(1) for _ in range(PARTITIONS)],),
        )
        step()
        whole, trips, computing = [], [], []
        for _ in range(repeats):
            whole.append(seconds(step))
            trips.append(seconds(lambda: client.submit(int, pure=False).result()))
            computing.append(seconds(lambda: [alone(w, part) for _ in range(PARTITIONS // 2)]))
    print(f"2 workers, {PARTITIONS} partitions without work:")
    print(
        f"  a step {1e3 * np.median(whole):.1f} ms (fastest {1e3 * min(whole):.1f}), of which "
        f"computing {1e3 * min(computing):.1f}"
    )
    print(f"  one task {1e3 * np.median(trips):.1f} ms (fastest {1e3 * min(trips):.1f})")


def tasks(repeats: int) -> None:
    """Measure steps with a task for each partition, and fit what each of them costs."""
    w = np.zeros(COLUMNS)
    counts, times = [10, 30, 100, 300, 1000], []
    print("2 workers, one task for each partition, without work:")
    with workers(2) as client:
        for count in counts:
            held = client.map(np.ones, [1] * count, pure=False)
            step = in_turn(client, ta.interop.dask.value_and_grad(nothing), w, (held,))
            step()
            times.append(min(seconds(step) for _ in range(repeats)))
    tasks_of = np.array([count + sums(count) for count in counts])
    each, fixed = np.polyfit(tasks_of, times, 1, w=1 / np.array(times))
    for count, number, time_taken in zip(counts, tasks_of, times, strict=True):
        model = fixed + each * number
        print(
            f"  {count:5d} partitions, {number:5d} tasks: {1e3 * time_taken:7.1f} ms, model "
            f"{1e3 * model:7.1f} ms"
        )
    print(f"  the model: {1e3 * fixed:.1f} ms + {1e3 * each:.2f} ms for each task")


def sums(count: int) -> int:
    """Count the tasks that add."""
    total = 0
    while count > 1:
        count = -(-count // 8)
        total += count
    return total


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure gradients over data on several workers.")
    parser.add_argument("what", nargs="*", choices=["speed", "overhead", "tasks", []], default=[])
    parser.add_argument("--rows", type=int, default=10**7)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    what = options.what or ["speed", "overhead", "tasks"]
    if "speed" in what:
        speed(options.rows, options.repeats)
    if "overhead" in what:
        overhead(20 * options.repeats)
    if "tasks" in what:
        tasks(options.repeats)


if __name__ == "__main__":
    main()
