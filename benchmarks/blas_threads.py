"""Time training steps with all the threads that BLAS takes, beside one thread.

Run from the repository's root, on a machine that does nothing else::

    python -m benchmarks.blas_threads            # half a minute
    python -m benchmarks.blas_threads --quick    # a few seconds, for a first impression

Prints a line for each network: how long a step takes with one thread and with all, and the ratio.
The two alternate. A ratio above 1 says that one thread is quicker, which
`tape_ad.training.blas_threads` gives a loop. Needs the extra: pip install 'tape-ad[bench]'.
"""

import argparse
import functools
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
from attrs import frozen

import tape_ad as ta
from benchmarks.timing import BRIEF, THOROUGH, Times, in_turns, seconds_of
from tape_ad import nn, optim, training
from tape_ad.training import threads

__all__ = ["NETWORKS", "Network", "beside_one", "main"]


@frozen
class Network:
    """A dense network with ReLUs, in single precision.

    Attributes
    ----------
    batch : int
        How many rows a step has.
    widths : tuple of int
        Of the input, the hidden layers and the output.
    """

    batch: int
    widths: tuple[int, ...]

    @property
    def title(self) -> str:
        """The batch and the widths, ``"64 rows, 64x128x10"``."""
        return f"{self.batch} rows, {'x'.join(map(str, self.widths))}"

    @property
    def largest(self) -> int:
        """The multiplications of the largest product of matrices."""
        return self.batch * max(a * b for a, b in itertools.pairwise(self.widths))

    def step(self) -> Callable[[], object]:
        """Make the function that takes one step of training."""
        rng = np.random.default_rng(0)
        parts: list[Any] = []
        for i, (inputs, outputs) in enumerate(itertools.pairwise(self.widths)):
            parts += [nn.Linear(f"{i}", inputs, outputs, dtype=np.float32), nn.relu]
        network = nn.Sequential(*parts[:-1])
        params = nn.init(network, rng)
        optimizer = optim.SGD(lr=1e-3)
        x = rng.normal(size=(self.batch, self.widths[0])).astype(np.float32)
        labels = rng.integers(0, self.widths[-1], self.batch)

        def take() -> None:
            p = ta.ComputationRecord().bind(params)
            loss = nn.cross_entropy(network(p, x), labels)
            optimizer.step(params, loss.grad(release=True).wrt(p))

        return take


NETWORKS = (
    Network(1, (3, 16, 1)),
    Network(64, (64, 128, 10)),
    Network(64, (784, 128, 10)),
    Network(64, (784, 256, 256, 10)),
    Network(256, (784, 1024, 10)),
    Network(1024, (1024, 1024, 1024)),
)
"""From one that BLAS itself leaves to one thread, to one that gains from several."""


def beside_one(network: Network, several: int, *, brief: bool = False) -> dict[int, Times]:
    """Time a network's step with one thread and with several, in rounds.

    Returns
    -------
    dict of int to Times
        By the number of threads.
    """
    step = network.step()

    def timer(count: int, calls: int) -> float:
        with training.blas_threads(count):
            return seconds_of(step, calls)

    timers = {str(n): functools.partial(timer, n) for n in (1, several)}
    return {int(n): times for n, times in in_turns(timers, BRIEF if brief else THOROUGH).items()}


def main() -> None:
    parser = argparse.ArgumentParser(description="Time training steps with one BLAS thread.")
    parser.add_argument("--quick", action="store_true", help="fewer and shorter rounds")
    options = parser.parse_args()
    several = threads.blas_thread_count()
    if several == 1:
        print("BLAS has one thread here, or threadpoolctl is missing: there is nothing to compare.")
        return
    print(f"A step of training, BLAS with 1 thread and with {several}; the least and the median:")
    heading = ("1 thread", f"{several} threads", "ratio")
    print(f"{'network':28}{'largest product':>16}" + "".join(f"{each:>22}" for each in heading))
    for network in NETWORKS:
        times = beside_one(network, several, brief=options.quick)
        one, more = times[1], times[several]
        print(
            f"{network.title:28}{network.largest:>16.1e}"
            + "".join(f"{1e6 * t.least:>10.0f}{1e6 * t.median:>9.0f} µs" for t in (one, more))
            + f"{more.least / one.least:>13.2f}{more.median / one.median:>9.2f}"
        )


if __name__ == "__main__":
    main()
