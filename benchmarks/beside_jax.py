"""Gradients as scientists write them, of two sizes each: native code beside `jax.jit`, on one core.

Run from the repository's root::

    python -m benchmarks.beside_jax                  # all of them, some minutes
    python -m benchmarks.beside_jax --only mixture   # what has "mixture" in its name

Each is one text for NumPy and for JAX, without functions of ours. The times are the least of rounds
in turns.
"""

import argparse
import functools
import math
import os
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from benchmarks.__main__ import ONE_THREAD

if __name__ == "__main__":
    os.environ |= ONE_THREAD  # before NumPy and its linear algebra
    os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})

import jax
import jax.numpy
import jax.scipy.signal
import numpy as np

import tape_ad as ta

ready: Any = jax.block_until_ready
RNG = np.random.default_rng(0)
Loss = Callable[..., Any]
Made = tuple[Loss, tuple[Any, ...]]


def normal(*shape: int) -> Any:
    return RNG.normal(size=shape)


def positive(*shape: int) -> Any:
    return RNG.uniform(0.5, 2.0, shape)


# Each makes ``loss(xp, x, ...)``, whose gradient by `x` is taken, for a number of elements


def masked(n: int) -> Made:
    return lambda xp, x, y: xp.sum(xp.where(x > 0, xp.exp(-x) * y, 0)), (normal(n), normal(n))


def masked_by_key(n: int) -> Made:
    def loss(xp: Any, x: Any, y: Any) -> Any:
        if xp is np:
            inside = x > 0
            return xp.sum(xp.exp(-x[inside]) * y[inside])
        return xp.sum(xp.where(x > 0, xp.exp(-x) * y, 0))

    return loss, (normal(n), normal(n))


def gathered(n: int) -> Made:
    i, j = RNG.integers(0, n // 8, (2, n))
    return lambda xp, x: xp.sum((x[i] - x[j]) ** 2), (normal(n // 8),)


def springs(n: int) -> Made:
    i, j = RNG.integers(0, n // 8, (2, n))

    def loss(xp: Any, x: Any, rest: Any) -> Any:
        d = x[i] - x[j]
        return xp.sum((xp.sqrt(xp.sum(d * d, axis=1) + 1e-6) - rest) ** 2)

    return loss, (normal(n // 8, 3), positive(n))


def embedding(n: int) -> Made:
    words = RNG.integers(0, 1000, n // 16)
    return lambda xp, x, w: xp.sum(xp.tanh(x[words] * w)), (normal(1000, 16), normal(16))


def binned(n: int) -> Made:
    k = n // 16
    bins = RNG.integers(0, k, n)

    def loss(xp: Any, x: Any) -> Any:
        length = {"minlength": k} if xp is np else {"length": k}
        return xp.sum(xp.bincount(bins, weights=x * x, **length) ** 2)

    return loss, (normal(n),)


def segments(n: int) -> Made:
    starts = np.arange(0, min(n, 20_000), 16)  # of more, JAX takes seconds

    def loss(xp: Any, x: Any) -> Any:
        return xp.sum(xp.add.reduceat(x * x, starts) ** 2)

    return loss, (normal(min(n, 20_000)),)


def k_means(n: int) -> Made:
    x = normal(n // 8, 8)

    def loss(xp: Any, c: Any) -> Any:
        return xp.sum(xp.min(xp.sum((x[:, None, :] - c[None, :, :]) ** 2, axis=-1), axis=1))

    return loss, (normal(10, 8),)


def total_variation(n: int) -> Made:
    k = int(n**0.5)

    def loss(xp: Any, x: Any) -> Any:
        dx, dy = x[1:, :-1] - x[:-1, :-1], x[:-1, 1:] - x[:-1, :-1]
        return xp.sum(xp.sqrt(dx**2 + dy**2 + 1e-3))

    return loss, (normal(k, k),)


def laplacian(n: int) -> Made:
    k = int(n**0.5)

    def loss(xp: Any, u: Any) -> Any:
        r = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1]
        return xp.sum(r * r)

    return loss, (normal(k, k),)


def windows(n: int) -> Made:
    def loss(xp: Any, x: Any, kernel: Any) -> Any:
        if xp is np:
            parts = np.lib.stride_tricks.sliding_window_view(x, len(kernel))
        else:
            parts = x[xp.arange(len(x) - len(kernel) + 1)[:, None] + xp.arange(len(kernel))]
        return xp.sum((parts @ kernel) ** 2)

    return loss, (normal(n), normal(15))


def windows2(n: int) -> Made:
    k = int(n**0.5)

    def loss(xp: Any, x: Any, kernel: Any) -> Any:
        if xp is np:
            y = np.einsum(
                "ijkl,kl->ij", np.lib.stride_tricks.sliding_window_view(x, (3, 3)), kernel
            )
        else:
            y = jax.scipy.signal.correlate2d(x, kernel, mode="valid")
        return xp.sum(xp.tanh(y))

    return loss, (normal(k, k), normal(3, 3))


def three_operands(n: int) -> Made:
    return lambda xp, x, y, z: xp.sum(xp.einsum("ij,jk,kl->il", x, y, z) ** 2), (
        normal(n // 32, 32),
        normal(32, 32),
        normal(32, 8),
    )


def bilinear(n: int) -> Made:
    return lambda xp, x, y, w: xp.sum(xp.tanh(xp.einsum("bi,ij,bj->b", x, w, y))), (
        normal(n // 16, 16),
        normal(n // 16, 16),
        normal(16, 16),
    )


def mixture(n: int, d: int, k: int) -> Made:
    x = normal(n, d)

    def loss(xp: Any, means: Any, roots: Any, logits: Any) -> Any:
        centred = x[:, None, :] - means[None, :, :]
        whitened = xp.einsum("kij,nkj->nki", roots, centred)
        terms = logits - 0.5 * xp.sum(whitened**2, axis=-1)
        top = xp.max(terms, axis=1, keepdims=True)
        return xp.sum(xp.log(xp.sum(xp.exp(terms - top), axis=1)) + top[:, 0])

    return loss, (normal(k, d), normal(k, d, d) / d, normal(k))


def complex_lanes(n: int) -> Made:
    def loss(xp: Any, x: Any) -> Any:
        z = xp.exp(1j * x) * (1 + 0.5j)
        return xp.sum(xp.abs(z + z * z) ** 2)

    return loss, (normal(n),)


def spectrum(n: int) -> Made:
    def loss(xp: Any, x: Any) -> Any:
        return xp.sum(xp.log1p(xp.abs(xp.fft.rfft(x)) ** 2))

    return loss, (normal(n),)


def spectrum2(n: int) -> Made:
    k = int(n**0.5)
    return lambda xp, x: xp.sum(xp.abs(xp.fft.fft2(x)) ** 2 / (1 + xp.abs(x))), (normal(k, k),)


def gelu(n: int) -> Made:
    return lambda xp, x: xp.sum(0.5 * x * (1 + xp.tanh(0.7978845608 * (x + 0.044715 * x**3)))), (
        normal(n),
    )


def powers(n: int) -> Made:
    return lambda xp, x: xp.sum(x**4 - 3 * x**3 + x**5 / 7 - x**-2), (positive(n),)


def short_rows(n: int) -> Made:
    return lambda xp, x: xp.sum(xp.sqrt(xp.sum(x * x, axis=-1))), (normal(n // 3, 3),)


def distances(n: int) -> Made:
    k = int((n / 3) ** 0.5) + 2

    def loss(xp: Any, x: Any) -> Any:
        d = x[:, None, :] - x[None, :, :]
        r2 = xp.sum(d * d, axis=-1) + xp.eye(k)
        return xp.sum(xp.triu(1 / r2**6 - 1 / r2**3, 1))

    return loss, (normal(k, 3) * 3,)


def convolved(n: int) -> Made:
    return lambda xp, x, k: xp.sum(xp.convolve(x, k, mode="same") ** 2), (normal(n), normal(31))


def convolved_full(n: int) -> Made:
    return lambda xp, x, k: xp.sum(xp.tanh(xp.convolve(x, k))), (normal(n), normal(9))


def median(n: int) -> Made:
    return lambda xp, x: xp.sum(xp.median(x, axis=1) ** 2), (normal(n // 25, 25),)


def whole_median(n: int) -> Made:
    return lambda xp, x: xp.mean(xp.abs(x - xp.median(x))), (normal(n),)


def quantiles(n: int) -> Made:
    return lambda xp, x: xp.sum(xp.quantile(x, xp.array([0.25, 0.75]), axis=0) ** 2), (
        normal(64, n // 64 + 1),
    )


def crossed(n: int) -> Made:
    return lambda xp, x, y: xp.sum(xp.cross(x, y) ** 2), (normal(n // 3, 3), normal(n // 3, 3))


def running_product(n: int) -> Made:
    return lambda xp, x: xp.sum(xp.cumprod(x, axis=1)), (positive(n // 20, 20),)


def running_sum(n: int) -> Made:
    return lambda xp, x: xp.sum(xp.cumsum(x) ** 2), (normal(n),)


def interpolated(n: int) -> Made:
    knots = np.linspace(-3, 3, 30)
    return lambda xp, x, y: xp.sum(xp.interp(x, knots, y) ** 2), (normal(n), normal(30))


def selected(n: int) -> Made:
    def loss(xp: Any, x: Any) -> Any:
        return xp.sum(xp.select([x < -1, x < 1], [-2 * x - 1, x * x], 2 * x - 1))

    return loss, (normal(n),)


def piecewise(n: int) -> Made:
    def loss(xp: Any, x: Any) -> Any:
        return xp.sum(xp.piecewise(x, [x < 0, x >= 0], [xp.exp, lambda v: 1 + v]))

    return loss, (normal(n),)


def traces(n: int) -> Made:
    k = int(n**0.5)
    return lambda xp, x: xp.trace(x @ x) + xp.sum(xp.diag(x) ** 2), (normal(k, k),)


def kronecker(n: int) -> Made:
    k = int(n**0.25)
    return lambda xp, x, y: xp.sum(xp.tanh(xp.kron(x, y))), (normal(k, k), normal(k, k))


def padded(n: int) -> Made:
    k = int(n**0.5)
    return lambda xp, x: xp.sum(xp.pad(x, 2, mode="edge") ** 2), (normal(k, k),)


def padded_zero(n: int) -> Made:
    k = int(n**0.5)

    def loss(xp: Any, x: Any) -> Any:
        p = xp.pad(x, 1)
        return xp.sum(xp.tanh(p[2:, 1:-1] + p[:-2, 1:-1] + p[1:-1, 2:] + p[1:-1, :-2]))

    return loss, (normal(k, k),)


def repeated(n: int) -> Made:
    return lambda xp, x: xp.sum(xp.sin(xp.repeat(x, 4)) + xp.tile(x, 4)), (normal(n // 4),)


def polynomial(n: int) -> Made:
    return lambda xp, p, x: xp.sum(xp.polyval(p, x) ** 2), (normal(6), normal(n) / 2)


def shifted(n: int) -> Made:
    k = int(n**0.5)
    return lambda xp, x: xp.sum(xp.fft.fftshift(x) * xp.roll(x, 3, axis=0)), (normal(k, k),)


def batch_norm(n: int) -> Made:
    def loss(xp: Any, x: Any, g: Any, b: Any) -> Any:
        m, v = xp.mean(x, axis=0), xp.var(x, axis=0)
        return xp.sum(xp.tanh((x - m) / xp.sqrt(v + 1e-5) * g + b))

    return loss, (normal(n // 64, 64), normal(64), normal(64))


def layer_norm(n: int) -> Made:
    def loss(xp: Any, x: Any, g: Any, b: Any) -> Any:
        m, v = xp.mean(x, axis=-1, keepdims=True), xp.var(x, axis=-1, keepdims=True)
        return xp.sum(xp.tanh((x - m) / xp.sqrt(v + 1e-5) * g + b))

    return loss, (normal(n // 64, 64), normal(64), normal(64))


def softmax(n: int) -> Made:
    y = RNG.integers(0, 10, n // 10)

    def loss(xp: Any, x: Any) -> Any:
        z = x - xp.max(x, axis=1, keepdims=True)
        logp = z - xp.log(xp.sum(xp.exp(z), axis=1, keepdims=True))
        return -xp.mean(logp[xp.arange(len(y)), y])

    return loss, (normal(n // 10, 10),)


def determinants(n: int) -> Made:
    return lambda xp, x: xp.sum(xp.linalg.det(x) ** 2), (normal(n // 9, 3, 3),)


def solves(n: int) -> Made:
    return lambda xp, a, b: xp.sum(xp.linalg.solve(a, b) ** 2), (
        normal(n // 9, 3, 3) + 3 * np.eye(3),
        normal(n // 9, 3, 1),
    )


def inverses(n: int) -> Made:
    return lambda xp, x: xp.sum(xp.linalg.inv(x) ** 2), (normal(n // 4, 2, 2) + 3 * np.eye(2),)


def solve_large(n: int) -> Made:
    k = int(n**0.5)
    return lambda xp, a, b: xp.sum(xp.linalg.solve(a, b) ** 2), (
        normal(k, k) / k**0.5 + 3 * np.eye(k),
        normal(k),
    )


def log_determinant(n: int) -> Made:
    k = int(n**0.5)

    def loss(xp: Any, a: Any) -> Any:
        s = a @ a.T + k * xp.eye(k)
        return xp.linalg.slogdet(s)[1] + xp.sum(xp.linalg.inv(s))

    return loss, (normal(k, k),)


def gaussian_process(n: int) -> Made:
    k = int(n**0.5)
    x, y = normal(k, 3), normal(k)

    def loss(xp: Any, scale: Any, noise: Any) -> Any:
        d = (x[:, None, :] - x[None, :, :]) / scale
        kernel = xp.exp(-0.5 * xp.sum(d * d, axis=-1)) + noise * xp.eye(k)
        root = xp.linalg.cholesky(kernel)
        v = xp.linalg.solve(kernel, y)
        return 0.5 * y @ v + xp.sum(xp.log(xp.diagonal(root)))

    return loss, (positive(3), np.array(0.3))


def eigenvalues(n: int) -> Made:
    k = int(n**0.5)
    return lambda xp, a: xp.sum(xp.linalg.eigh(a + a.T)[0] ** 3), (normal(k, k),)


def singular_values(n: int) -> Made:
    k = int(n**0.5)
    return lambda xp, a: xp.sum(xp.linalg.svd(a, full_matrices=False)[1]), (normal(k, k // 2 + 1),)


def perceptron(n: int) -> Made:
    def loss(xp: Any, w1: Any, w2: Any, w3: Any) -> Any:
        return xp.mean((xp.tanh(xp.tanh(x @ w1) @ w2) @ w3) ** 2)

    x = normal(n // 32, 32)
    return loss, (normal(32, 64), normal(64, 64), normal(64, 1))


def attention(n: int) -> Made:
    t = n // 32

    def loss(xp: Any, q: Any, k: Any, v: Any) -> Any:
        s = xp.einsum("hqd,hkd->hqk", q, k) / 4
        e = xp.exp(s - xp.max(s, axis=-1, keepdims=True))
        return xp.sum((e / xp.sum(e, axis=-1, keepdims=True) @ v) ** 2)

    return loss, tuple(normal(2, int(t**0.5) + 1, 16) for _ in range(3))


def lotka(n: int) -> Made:
    def loss(xp: Any, p: Any, y0: Any) -> Any:
        y, total = y0, 0.0
        for _ in range(20):
            dy = xp.stack([p[0] * y[0] - p[1] * y[0] * y[1], p[2] * y[0] * y[1] - p[3] * y[1]])
            y = y + 0.01 * dy
            total = total + xp.sum(y**2)
        return total

    return loss, (positive(4), positive(2, n // 20))


def huber(n: int) -> Made:
    def loss(xp: Any, w: Any, x: Any, y: Any) -> Any:
        r = x @ w - y
        a = xp.abs(r)
        return xp.sum(xp.where(a < 1, 0.5 * r * r, a - 0.5))

    return loss, (normal(8), normal(n // 8, 8), normal(n // 8))


def poisson(n: int) -> Made:
    def loss(xp: Any, w: Any, x: Any, y: Any) -> Any:
        eta = xp.clip(x @ w, -10, 10)
        return xp.sum(xp.exp(eta) - y * eta) + xp.sum(w**2)

    return loss, (normal(8), normal(n // 8, 8), positive(n // 8))


def rotated(n: int) -> Made:
    p = normal(n // 3, 3)

    def loss(xp: Any, r: Any) -> Any:
        theta = xp.sqrt(xp.sum(r * r))
        k = r / theta
        turned = (
            p * xp.cos(theta)
            + xp.cross(k, p) * xp.sin(theta)
            + xp.outer(p @ k, k) * (1 - xp.cos(theta))
        )
        return xp.sum(turned[:, :2] / (turned[:, 2:] + 8))

    return loss, (normal(3),)


SMALL, LARGE = 400, 200_000

WORKLOADS: Mapping[str, Callable[[int], Made]] = {
    "masked by where": masked,
    "x[mask]": masked_by_key,
    "gathers": gathered,
    "springs": springs,
    "embedding": embedding,
    "bincount": binned,
    "reduceat": segments,
    "k-means": k_means,
    "total variation": total_variation,
    "laplacian": laplacian,
    "sliding windows": windows,
    "sliding windows, 2-d": windows2,
    "einsum of three": three_operands,
    "bilinear": bilinear,
    "mixture": lambda n: mixture(n // 40, 4, 5) if n < 1000 else mixture(1000, 20, 25),
    "complex": complex_lanes,
    "rfft": spectrum,
    "fft2": spectrum2,
    "gelu": gelu,
    "powers": powers,
    "short rows": short_rows,
    "distances": distances,
    "convolve same": convolved,
    "convolve full": convolved_full,
    "median": median,
    "whole median": whole_median,
    "quantile": quantiles,
    "cross": crossed,
    "cumprod": running_product,
    "cumsum": running_sum,
    "interp": interpolated,
    "select": selected,
    "piecewise": piecewise,
    "trace": traces,
    "kron": kronecker,
    "pad edge": padded,
    "pad": padded_zero,
    "repeat": repeated,
    "polyval": polynomial,
    "fftshift": shifted,
    "batch norm": batch_norm,
    "layer norm": layer_norm,
    "softmax": softmax,
    "det 3x3": determinants,
    "solve 3x3": solves,
    "inv 2x2": inverses,
    "solve": lambda n: solve_large(min(n, 40_000)),
    "slogdet": lambda n: log_determinant(min(n, 40_000)),
    "gaussian process": lambda n: gaussian_process(min(n, 40_000)),
    "eigh": lambda n: eigenvalues(min(n, 10_000)),
    "svd": lambda n: singular_values(min(n, 10_000)),
    "perceptron": perceptron,
    "attention": attention,
    "lotka": lotka,
    "huber": huber,
    "poisson": poisson,
    "rotations": rotated,
}


def least(calls: Sequence[Callable[[], Any]], seconds: float) -> list[float]:
    """Time calls in turns."""
    begin = time.perf_counter()
    for call in calls:
        call()
    once = time.perf_counter() - begin
    repeats, found = max(1, int(2e-3 / once)), [math.inf] * len(calls)
    for _ in range(max(5, int(seconds / (once * repeats)))):
        for k, call in enumerate(calls):
            start = time.perf_counter()
            for _ in range(repeats):
                call()
            found[k] = min(found[k], (time.perf_counter() - start) / repeats)
    return found


def measured(name: str, made: Made, seconds: float) -> float:
    """Compare value and gradients, and give our time as a fraction of JAX's."""
    loss, args = made
    which = tuple(range(len(args)))
    ours = ta.compile(ta.value_and_grad(functools.partial(loss, np), argnums=which), check_every=0)
    theirs = jax.jit(jax.value_and_grad(functools.partial(loss, jax.numpy), argnums=which))
    given = [jax.numpy.asarray(arg) for arg in args]
    start = time.perf_counter()
    for _ in range(2):  # which capture
        value, gradients = ours(*args)
    between = time.perf_counter()
    expected, slopes = ready(theirs(*given))
    firsts = between - start, time.perf_counter() - between
    np.testing.assert_allclose(value, expected, rtol=1e-7)
    for mine, other in zip(gradients, slopes, strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-6, atol=1e-7 * np.abs(other).max())
    calls = [lambda: ours(*args), lambda: ready(theirs(*given))]
    one, other = least(calls, seconds)
    ratio = one / other
    print(
        f"{name:24} {one * 1e6:10.1f} {other * 1e6:10.1f} us {ratio:7.2f}{' *' * (ratio > 1):2}"
        f"  first calls {firsts[0]:.2f} and {firsts[1]:.2f} s",
        flush=True,
    )
    return ratio


def main() -> None:
    """Run what is asked for, and sum it up."""
    parser = argparse.ArgumentParser(
        "python -m benchmarks.beside_jax",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--only", default="", help="workloads with this in their names")
    parser.add_argument("--seconds", type=float, default=0.3, help="for each, of two sizes")
    arguments = parser.parse_args()
    settings: Any = jax.config
    settings.update("jax_enable_x64", True)
    for size in (SMALL, LARGE):
        ratios = [
            measured(f"{name}, {size}", make(size), arguments.seconds)
            for name, make in WORKLOADS.items()
            if arguments.only in name
        ]
        print(
            f"{len(ratios)} of {size}: median {statistics.median(ratios):.2f}, above 1: "
            f"{sum(ratio > 1 for ratio in ratios)}, above 1.5: "
            f"{sum(ratio > 1.5 for ratio in ratios)}, the largest {max(ratios):.2f}"
        )


if __name__ == "__main__":
    main()
