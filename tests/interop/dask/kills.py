"""Kill workers at random moments, and count what the gradient holds.

    python -m tests.interop.dask.kills --kills 200

The gradient counts the rows of each partition, so that one that was lost or taken twice shows as a
number, however the kills fell: while a worker received, computed, added or sent.
"""

import argparse
import contextlib
import logging
import os
import signal
import threading
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
from dask import config
from dask.delayed import delayed
from distributed import Client, LocalCluster

import tape_ad as ta

__all__ = ["Kills", "kill_and_count"]

WORKERS = 3
PARTITIONS = 24
ROWS = 7
WIDTH = 4000
"""How many further parameters there are, so that sending takes a while."""


def made(number: int) -> Any:
    """Make a partition: rows that say which it is."""
    time.sleep(0.001)
    return np.full(ROWS + number, number)


def counting(params: Any, rows: Any) -> Any:
    """Have a gradient that counts rows, and takes a while."""
    time.sleep(0.002)
    return np.sum(params["counts"][rows]) + len(rows) * np.sum(params["more"])


class Kills:
    """Kills one worker, or all but one, a random time after a step began."""

    def __init__(self, cluster: Any, rng: np.random.Generator, seconds: float) -> None:
        self.cluster = cluster
        self.rng = rng
        self.seconds = seconds
        self.count = 0

    def alive(self) -> list[int]:
        """List the processes of workers that have started; a nanny gives up on one that has not."""
        nannies = list(self.cluster.workers.values())
        running = [
            each for each in nannies if each.process and each.process.status.name == "running"
        ]
        return [each.pid for each in running if each.pid is not None]

    def __call__(self) -> None:
        """Wait, and kill."""
        time.sleep(self.rng.uniform(0, self.seconds))
        pids = self.alive()
        many = self.rng.random() < 0.2
        for pid in self.rng.permutation(pids)[: max(len(pids) - 1, 1) if many else 1]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)
                self.count += 1


@contextlib.contextmanager
def closed_in_the_end() -> Iterator[Any]:
    """Start a cluster, which waits for workers that take long to come back, and close it."""
    with config.set({"distributed.deploy.lost-worker-timeout": "10 minutes"}):
        cluster = LocalCluster(
            n_workers=WORKERS,
            threads_per_worker=1,
            dashboard_address=":0",
            silence_logs=logging.CRITICAL,
        )
        try:
            yield cluster
        finally:
            with contextlib.suppress(KeyError):  # Dask's own, where it was told of a worker late
                cluster.close()


def gather_workers(cluster: Any, client: Client) -> None:
    """Wait for the workers, and start one more where a nanny has given up on its own."""
    while True:
        try:
            client.wait_for_workers(WORKERS, timeout=10)
        except TimeoutError:
            cluster.scale(len(cluster.workers) + 1)
        else:
            return


def kill_and_count(kills: int, seed: int) -> tuple[int, int]:
    """Take steps during which workers are killed; give the numbers of kills and of steps.

    Raises
    ------
    AssertionError
        When a gradient is not what it is without kills, to the bit.
    """
    rng = np.random.default_rng(seed)
    expected = {
        "counts": np.arange(PARTITIONS) + float(ROWS),
        "more": np.full(WIDTH, float(sum(ROWS + i for i in range(PARTITIONS)))),
    }
    params = {"counts": np.zeros(PARTITIONS), "more": np.zeros(WIDTH)}
    with closed_in_the_end() as cluster, Client(cluster) as client:
        data = {
            False: [delayed(made)(i) for i in range(PARTITIONS)],
            True: client.map(made, range(PARTITIONS)),
        }
        step = {keep: ta.interop.dask.value_and_grad(counting, "sum", keep=keep) for keep in data}
        start = time.perf_counter()
        step[False](params, data[False])
        killer = Kills(cluster, rng, 1.5 * (time.perf_counter() - start))
        steps = 0
        while killer.count < kills:
            gather_workers(cluster, client)
            kind, held = bool(rng.random() < 0.5), bool(rng.random() < 0.3)
            thread = threading.Thread(target=killer)
            thread.start()
            _, counted = step[kind](params, data[held])
            thread.join()
            steps += 1
            for name, numbers in expected.items():
                np.testing.assert_array_equal(counted[name], numbers)
    return killer.count, steps


def main() -> None:
    parser = argparse.ArgumentParser(description="Kill workers, and count.")
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    start = time.perf_counter()
    kills, steps = kill_and_count(options.kills, options.seed)
    print(
        f"{kills} kills in {steps} steps, {time.perf_counter() - start:.0f} s: every gradient was "
        "that without kills, to the bit"
    )


if __name__ == "__main__":
    main()
