"""Train one network in several processes, and lose one of them on the way.

Dask distributed runs the processes, on this machine. In every step each one makes a record of its
own on its part of the batch and sends back a gradient map; the maps are added here, and here the
optimizer takes its step. A gradient is the value of a task, so it cannot be counted twice, and a
task whose process dies is run again: in one step, a process is killed in the middle of its work.
The result is that of a single process, up to rounding. Writes parallel.npz. It takes a quarter of a
minute. Needs the extras: pip install 'tape-ad[examples,distributed]'.
"""

import argparse
import functools
import logging
import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_digits

import tape_ad as ta
from tape_ad import nn, optim, training
from tape_ad.extend.packages import extra

with extra("distributed", "examples/08_parallel_training.py"):
    from distributed import Client, LocalCluster

BATCH = 256
STEPS = 40
WORKERS = 2
PARTS = 4  # of a batch: more than workers, so that a slow one gets fewer
TOLERANCE = 1e-10  # relative; the order of additions is all that differs

Array = np.ndarray[Any, Any]
Params = dict[str, Array]

NETWORK = nn.Sequential(nn.Linear("hidden", 64, 64), nn.relu, nn.Linear("output", 64, 10))


@functools.cache
def digits() -> tuple[Array, Array]:
    """Load the images, once in every process."""
    bunch = load_digits()
    return bunch.data / 16, bunch.target


def gradient(params: Params, rows: Array, share: float, fatal: Path | None = None) -> Params:
    """Compute the gradient of a part of the batch's mean loss, on a record of its own.

    With `fatal`, the first process that comes here is killed half-way, and leaves that file.
    """
    images, labels = digits()
    p = ta.ComputationRecord().bind(params)
    loss = nn.cross_entropy(NETWORK(p, images[rows]), labels[rows]) * share
    if fatal is not None and not fatal.exists():
        fatal.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    gradients: Params = loss.grad(release=True).wrt(p)
    return gradients


def train(gradient_of_batch: Callable[[int, Params, Array], Params]) -> Params:
    """Take all steps; what differs between one process and several is the gradient alone."""
    rng = np.random.default_rng(0)
    params: Params = nn.init(NETWORK, rng)
    optimizer = optim.Adam(lr=1e-2)
    for step, rows in enumerate(batches_of_rows(rng)):
        optimizer.step(params, gradient_of_batch(step, params, rows))
    return params


def batches_of_rows(rng: np.random.Generator) -> Iterator[Array]:
    rows = np.arange(len(digits()[1]))
    taken = 0
    while True:
        for batch in training.batches(rows, size=BATCH, rng=rng):
            if taken == STEPS:
                return
            taken += 1
            yield batch


def in_one_process(step: int, params: Params, rows: Array) -> Params:
    return gradient(params, rows, 1.0)


def in_several(client: Client, fatal_step: int, fatal: Path) -> Callable[..., Params]:
    """Make the function that computes a batch's gradient in the processes of a cluster."""

    def gradient_of_batch(step: int, params: Params, rows: Array) -> Params:
        parts = np.array_split(rows, PARTS)
        futures = [
            client.submit(
                gradient,
                params,
                part,
                len(part) / len(rows),
                fatal if (step, number) == (fatal_step, 1) else None,
                pure=False,
            )
            for number, part in enumerate(parts)
        ]
        maps = client.gather(futures)  # one value for each task, however often it was started
        return {name: sum(each[name] for each in maps) for name in params}

    return gradient_of_batch


def largest_difference(one: Params, other: Params) -> float:
    """Compare two stores, relative to the largest element of each array."""
    return max(
        float(np.max(np.abs(one[name] - other[name])) / np.max(np.abs(one[name]))) for name in one
    )


def accuracy(params: Params) -> float:
    images, labels = digits()
    return float(np.mean(np.argmax(NETWORK(params, images), axis=1) == labels))


def main() -> None:
    parser = argparse.ArgumentParser(description="Train one network in several processes.")
    parser.add_argument("--out", metavar="DIR", type=Path, default=Path(), help="where files go")
    parser.add_argument("--kill-at", metavar="STEP", type=int, default=STEPS // 2)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)

    start = time.perf_counter()
    alone = train(in_one_process)
    print(f"one process: {STEPS} steps in {time.perf_counter() - start:.2f} s")

    with (
        tempfile.TemporaryDirectory() as folder,
        LocalCluster(
            n_workers=WORKERS,
            threads_per_worker=1,
            dashboard_address=":0",
            local_directory=folder,
            silence_logs=logging.CRITICAL,
        ) as cluster,
        Client(cluster) as client,
    ):
        fatal = Path(folder, "killed")
        before = set(client.scheduler_info()["workers"])
        start = time.perf_counter()
        together = train(in_several(client, options.kill_at, fatal))
        seconds = time.perf_counter() - start
        client.wait_for_workers(WORKERS, timeout=60)
        lost = before - set(client.scheduler_info()["workers"])
    print(f"{WORKERS} processes: {STEPS} steps in {seconds:.2f} s, with {len(lost)} killed")
    print("(A step is a few milliseconds of work, for which messages take longer than they save;")
    print("examples/12_distributed.py measures work at which more processes are quicker.)")

    difference = largest_difference(alone, together)
    print(f"largest relative difference between the parameters: {difference:.1e}")
    print(f"digits read correctly: {accuracy(together):.4f}")
    ta.parameters.save(options.out / "parallel.npz", together)
    print(f"wrote {options.out / 'parallel.npz'}")
    if difference > TOLERANCE:
        sys.exit(f"the difference is larger than {TOLERANCE}")
    if len(lost) != (0 <= options.kill_at < STEPS):
        sys.exit(f"{len(lost)} processes were lost, which is not what was planned")


if __name__ == "__main__":
    main()
