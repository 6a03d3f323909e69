"""Plain Python loops, compiled: what their first calls take, and their replays.

Run from the repository's root::

    python -m benchmarks.loops                 # all of them, a few minutes
    python -m benchmarks.loops --only rk4      # what has "rk4" in its name
    python -m benchmarks.loops --unrolled      # without the pass that rolls loops, for comparison

Times are those of the processor, in one thread.
"""

import argparse
import time
import tracemalloc
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

import tape_ad as ta
from tape_ad.programs.passes import PASSES

Workload = tuple[Callable[..., Any], tuple[Any, ...]]
TIMED = 20


def lstm(steps: int) -> Workload:
    size, rng = 8, np.random.default_rng(0)

    def loss(w: Any, b: Any, xs: Any) -> Any:
        h, c, total = np.zeros(size), np.zeros(size), 0.0
        for t in range(steps):
            z = np.concatenate([xs[t], h]) @ w + b
            i, f, o = (1 / (1 + np.exp(-z[k * size : (k + 1) * size])) for k in range(3))
            c = f * c + i * np.tanh(z[3 * size :])
            h = o * np.tanh(c)
            total = total + np.sum(h * h)
        return total

    w = rng.normal(size=(2 * size, 4 * size)) * 0.3
    return loss, (w, np.zeros(4 * size), rng.normal(size=(steps, size)))


def scalars(steps: int) -> Workload:
    def total(x: Any, a: Any, b: Any) -> Any:
        result = 0.0
        for _ in range(steps):
            x = np.sin(x) * a + b
            result = result + x
        return result

    return total, (np.array(0.3), np.array(0.9), np.array(0.1))


def rk4(steps: int) -> Workload:
    def rates(y: Any, p: Any) -> Any:
        prey, hunters = y[0], y[1]
        meet = prey * hunters
        return np.stack([p[0] * prey - p[1] * meet, p[2] * meet - p[3] * hunters])

    def end(y: Any, p: Any) -> Any:
        h = 0.01
        for _ in range(steps):
            k1 = rates(y, p)
            k2 = rates(y + h / 2 * k1, p)
            k3 = rates(y + h / 2 * k2, p)
            y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + rates(y + h * k3, p))
        return np.sum(y * y)

    return end, (np.array([1.0, 0.5]), np.array([1.5, 1.0, 1.0, 3.0]))


def tridiagonal(size: int) -> Workload:
    def solved(lower: Any, diagonal: Any, upper: Any, right: Any) -> Any:
        c, d = [upper[0] / diagonal[0]], [right[0] / diagonal[0]]
        for k in range(1, size):
            pivot = diagonal[k] - lower[k] * c[k - 1]
            c.append(upper[k] / pivot)
            d.append((right[k] - lower[k] * d[k - 1]) / pivot)
        x = total = d[-1]
        for k in range(size - 2, -1, -1):
            x = d[k] - c[k] * x
            total = total + x * x
        return total

    rng = np.random.default_rng(0)
    lower, upper, right = rng.normal(size=(3, size))
    return solved, (lower, 4 + rng.normal(size=size) * 0.1, upper, right)


def kalman(steps: int) -> Workload:
    rng = np.random.default_rng(0)

    def likelihood(f: Any, q: Any, r: Any, ys: Any) -> Any:
        m, p, h, total = np.zeros(4), np.eye(4), np.eye(2, 4), 0.0
        for t in range(steps):
            m, p = f @ m, f @ p @ f.T + np.eye(4) * q
            s = h @ p @ h.T + np.eye(2) * r
            v = ys[t] - h @ m
            gain = np.linalg.solve(s, h @ p).T
            m, p = m + gain @ v, p - gain @ h @ p
            total = total + np.log(np.linalg.det(s)) + v @ np.linalg.solve(s, v)
        return total

    return likelihood, (
        np.eye(4) + rng.normal(size=(4, 4)) * 0.05,
        np.array(0.1),
        np.array(0.5),
        rng.normal(size=(steps, 2)),
    )


GRADIENTS: Mapping[str, Workload] = {
    "lstm, 1,024 steps": lstm(1024),
    "10,000 scalar steps": scalars(10_000),
    "rk4, 500 steps": rk4(500),
    "tridiagonal, 1,000 rows": tridiagonal(1_000),
    "kalman, 100 steps": kalman(100),
}
HESSIANS: Mapping[str, Workload] = {
    "hessian of 1,000 scalar steps": scalars(1_000),
    "hessian of rk4, 100 steps": rk4(100),
    "hessian of tridiagonal, 200 rows": tridiagonal(200),
}


def gradient(function: Callable[..., Any], args: tuple[Any, ...]) -> Callable[..., Any]:
    return ta.grad(function, argnums=tuple(range(len(args))))


def measured(function: Callable[..., Any], args: tuple[Any, ...]) -> str:
    """Compile a function, and write what its calls take."""
    compiled = ta.compile(function, check_every=0)
    start = time.process_time()
    compiled(*args)
    first = time.process_time()
    compiled(*args)
    second = time.process_time()
    replays = []
    for _ in range(TIMED):
        begin = time.perf_counter()
        compiled(*args)
        replays.append(time.perf_counter() - begin)
    program = compiled.programs[0]
    lines = len(str(program).splitlines())
    return (
        f"{first - start:8.2f} {second - first:8.2f} s {min(replays) * 1e6:10.1f} us "
        f"{(program.nbytes or 0) / 2**20:8.2f} MiB {lines:7} lines"
    )


def main() -> None:
    parser = argparse.ArgumentParser("python -m benchmarks.loops", description=__doc__)
    parser.add_argument("--only", default="", help="workloads with this in their names")
    parser.add_argument("--unrolled", action="store_true", help="leave loops unrolled")
    parser.add_argument("--memory", action="store_true", help="what Python keeps, which takes long")
    arguments = parser.parse_args()
    if arguments.unrolled:
        PASSES.pop("rolling of loops")
    measured(gradient(*scalars(10)), scalars(10)[1])  # which loads what all of them need
    print(f"{'':34} {'1st':>8} {'2nd':>8} {'':1} {'replay':>10} {'':4} {'memory':>6}")
    for name, (function, args) in {**GRADIENTS, **HESSIANS}.items():
        if arguments.only not in name:
            continue
        made = gradient(function, args)
        if name.startswith("hessian"):
            made = ta.hessian(function)
        if arguments.memory:
            tracemalloc.start()
        print(f"{name:34} {measured(made, args)}", end="")
        if arguments.memory:
            print(f" {tracemalloc.get_traced_memory()[1] / 2**20:8.1f} MiB at most", end="")
            tracemalloc.stop()
        print(flush=True)


if __name__ == "__main__":
    main()
