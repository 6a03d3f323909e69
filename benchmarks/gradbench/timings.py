"""Time bundle adjustment and hand tracking beside what else one would use for them.

::

    python -m benchmarks.gradbench.timings           # two minutes; jax and torch if there
    python -m benchmarks.gradbench.timings --quick   # smaller

All in one process on one core, in turns, medians. The data are of ADBench's sizes and made up here.
The exit status is 1 when two disagree; a missed time is printed, and changes nothing.
"""

import argparse
import os
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

from benchmarks.__main__ import ONE_THREAD

if __name__ == "__main__":
    os.environ |= ONE_THREAD  # before NumPy and its linear algebra
    os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false"
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})

import numpy as np
import scipy.sparse
from attrs import frozen

import tape_ad as ta
from benchmarks.gradbench import by_hand, peers
from benchmarks.gradbench.evals import ba, ht

Call = Callable[[], Any]


@frozen
class Timing:
    """Two times, in seconds, and how they should compare.

    Attributes
    ----------
    what, beside : str
    ours, theirs : float
    at_most : float
        The greatest ratio of ours to theirs that is aimed at.
    """

    what: str
    beside: str
    ours: float
    theirs: float
    at_most: float

    def __str__(self) -> str:
        ratio = self.ours / self.theirs
        word = "" if ratio <= self.at_most else "  MISSED"
        return (
            f"{self.what:46} {1e3 * self.ours:9.2f} ms  {self.beside:28}"
            f" {1e3 * self.theirs:10.2f} ms  ratio {ratio:.3g}, aim {self.at_most:g}{word}"
        )


def medians(calls: list[Call], rounds: int) -> list[float]:
    """Time calls in turn, so that what else a machine does meets all of them."""
    for call in calls:  # two capture what is compiled
        call()
        call()
    times: list[list[float]] = [[] for _ in calls]
    for _ in range(rounds):
        for call, kept in zip(calls, times, strict=True):
            begin = time.perf_counter()
            call()
            kept.append(time.perf_counter() - begin)
    return [statistics.median(each) for each in times]


def bundle(n: int, m: int, p: int) -> dict[str, Any]:
    """Make an instance of a size of ADBench's, with a camera of the usual kind."""
    camera = [0.0157, -0.0128, -0.0044, -0.034, -0.1075, 1.12, 399.75, 3.1, 2.0, -3.2e-3, 5.9e-4]
    return {"n": n, "m": m, "p": p, "cam": camera, "x": [-0.61, 0.57, -1.85], "w": 0.5} | {
        "feat": [-332.65, 262.09]
    }


def bundle_adjustment(size: tuple[int, int, int], rounds: int, colours: bool) -> list[Timing]:
    """Time the whole matrix: entries, and their places, which stay where they are."""
    arguments = ba.prepare(bundle(*size))
    columns, starts, width = ba.structure(*arguments[:2])

    def filled(blocks: Callable[..., Any]) -> Call:
        shape = len(starts) - 1, width
        return lambda: scipy.sparse.csr_array((blocks(*arguments), columns, starts), shape)

    calls = {"compiled": filled(ta.compile(ba.blocks)), "eager": filled(ba.blocks)}
    if colours:
        coloured = ta.sparse_jacobian(ba.objective)
        replayed = ta.compile(ta.sparse_jacobian(ba.objective))
        calls["sparse_jacobian"] = lambda: coloured(*arguments)
        calls["sparse_jacobian, compiled"] = lambda: replayed(*arguments)
    hand = filled(by_hand.blocks)
    expected = hand()
    for call in calls.values():
        np.testing.assert_allclose((call() - expected).data, 0, atol=1e-8 * abs(expected).max())
    *ours, theirs = medians([*calls.values(), hand], rounds)
    name = f"ba, {size[2]} observations, "
    rows = [
        Timing(name + how, "by hand in NumPy", seconds, theirs, 3)
        for how, seconds in zip(calls, ours, strict=True)
    ]
    some = 100
    torch = peers.torch_blocks(arguments, some)
    if torch is not None:
        given = expected[: 2 * some].data
        np.testing.assert_allclose(torch(), given, atol=1e-8 * abs(given).max())
        whole = medians([torch], 3)[0] * size[2] / some
        rows.append(
            Timing(name + "compiled", f"PyTorch, {some} of them scaled", ours[0], whole, 1 / 50)
        )
    return rows


def hand(count: int, vertices: int) -> dict[str, Any]:
    """Make a hand and as many measured points, on places of triangles."""
    rng = np.random.default_rng(0)
    bones = 22
    nearby = rng.dirichlet(np.full(bones, 0.1), vertices)
    small = np.eye(4) + rng.normal(size=(2, bones, 4, 4), scale=0.05)
    model = {
        "parents": [-1, *(0 if bone % 4 == 1 else bone - 1 for bone in range(1, bones))],
        "base_relatives": small[0],
        "inverse_base_absolutes": small[1],
        "base_positions": np.c_[rng.normal(size=(vertices, 3)), np.ones(vertices)],
        "weights": nearby,
        "triangles": rng.integers(0, vertices, (vertices, 3)),
        "is_mirrored": False,
    }
    data = {
        "model": model,
        "correspondences": rng.integers(0, vertices, count),
        "points": rng.normal(size=(count, 3)),
    }
    us = rng.dirichlet(np.ones(3), count)[:, :2]
    return {"theta": rng.normal(size=26, scale=0.3), "us": us, "data": data}


def hand_tracking(count: int, rounds: int) -> list[Timing]:
    """Time all columns of a complicated hand."""
    arguments = ht.prepare(hand(count, 544))
    compiled = ta.compile(ht.jacobian)
    name = f"ht complicated, {count} points, "
    jax = peers.jax_hand(arguments)
    if jax is None:
        return []
    expected = jax()
    for function in (ht.jacobian, compiled):
        np.testing.assert_allclose(function(*arguments), expected, rtol=1e-8, atol=1e-8)
    ours, eager, theirs = medians(
        [lambda: compiled(*arguments), lambda: ht.jacobian(*arguments), jax], rounds
    )
    return [
        Timing(name + "compiled", "JAX, jit(jacfwd)", ours, theirs, 3),
        Timing(name + "eager", "JAX, jit(jacfwd)", eager, theirs, float("inf")),
    ]


SIZES = [(49, 7776, 31843), (1197, 126327, 563734)]
"""Cameras, points and observations of ADBench's first and tenth."""


def timings(quick: bool = False) -> list[Timing]:
    """Measure all."""
    if quick:
        return [*bundle_adjustment((10, 200, 1000), 5, colours=True), *hand_tracking(100, 5)]
    return [
        *bundle_adjustment(SIZES[0], 9, colours=True),
        *bundle_adjustment(SIZES[1], 3, colours=False),
        *hand_tracking(100, 21),
        *hand_tracking(10_000, 9),
    ]


def main() -> int:
    parser = argparse.ArgumentParser(
        "python -m benchmarks.gradbench.timings",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--quick", action="store_true", help="smaller, in seconds")
    for row in timings(parser.parse_args().quick):
        print(row)
    return 0


if __name__ == "__main__":
    sys.exit(main())
