"""Time functions of one, batched and compiled natively, beside JAX's and beside code by hand.

::

    python -m benchmarks.batches                # two minutes
    python -m benchmarks.batches --only chains  # what has "chains" in its name

Each program is written once, for one member of the batch, in NumPy's and SciPy's names; JAX runs
the same lines under `jax.vmap` and `jax.jit`. By hand it is written with a leading axis, and
compiled by tape_ad too, so that this shows what batching costs. All in one process on one core, in
turns; the ratios are of the least times. Results are compared before they are timed, those of the
first call and those of a replay; the exit status is 1 when two disagree. A missed time is printed,
and changes nothing.
"""

import argparse
import functools
import os
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

from benchmarks.__main__ import ONE_THREAD

if __name__ == "__main__":
    os.environ |= ONE_THREAD  # before NumPy and its linear algebra
    os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false"
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})

import jax
import jax.numpy as jnp
import jax.scipy
import numpy as np
from attrs import frozen

import tape_ad as ta
import tape_ad.scipy as tsp
from benchmarks.tables import duration, table
from benchmarks.timing import BRIEF, THOROUGH, Pace, in_turns

Array = Any
Function = Callable[..., Any]

JAX_GOAL, HAND_GOAL = 1.2, 1.5

CALLS = 5
"""After so many, a compiled function has been captured twice, and replays."""


@frozen
class Library:
    """The names that the programs are written in."""

    xp: Any
    scipy: Any
    grad: Callable[..., Function]
    jacobian: Callable[..., Function]


OURS = Library(np, tsp, ta.grad, ta.jacobian)
THEIRS = Library(jnp, jax.scipy, jax.grad, jax.jacobian)


@frozen
class Program:
    """What is computed for each of a batch.

    Attributes
    ----------
    one : callable
        ``one(library)`` gives the function of one.
    every : callable
        The same of all, by hand.
    arguments : tuple of arrays
    in_axes : tuple of int or None
    """

    one: Callable[[Library], Function]
    every: Function
    arguments: tuple[Any, ...]
    in_axes: Any = 0


RNG = np.random.default_rng(0)


def normal(*shape: int) -> Array:
    """Draw numbers."""
    return RNG.normal(size=shape)


def covariance(*shape: int) -> Array:
    """Draw symmetric positive matrices."""
    factors = normal(*shape)
    return factors @ factors.mT + shape[-1] * np.eye(shape[-1])


# Chains of Hamiltonian Monte Carlo: ten leapfrog steps in a correlated normal distribution

MEAN = normal(8)
FACTOR = np.linalg.cholesky(covariance(8, 8))
STEP = 0.1


def chains(library: Library) -> Function:
    """Move one chain."""

    def log_density(q: Array) -> Array:
        white = library.scipy.linalg.solve_triangular(FACTOR, q - MEAN, lower=True)
        return library.xp.sum(library.scipy.stats.norm.logpdf(white))

    slope = library.grad(log_density)

    def moved(q: Array, p: Array) -> Array:
        p = p + STEP / 2 * slope(q)
        for _ in range(9):
            q = q + STEP * p
            p = p + STEP * slope(q)
        q = q + STEP * p
        return q, p + STEP / 2 * slope(q)

    return moved


def all_chains(q: Array, p: Array) -> Array:
    """Move all chains; the gradient is written out."""

    def slopes(q: Array) -> Array:
        white = tsp.linalg.solve_triangular(FACTOR, (q - MEAN).T, lower=True)
        return -tsp.linalg.solve_triangular(FACTOR, white, lower=True, trans="T").T

    p = p + STEP / 2 * slopes(q)
    for _ in range(9):
        q = q + STEP * p
        p = p + STEP * slopes(q)
    q = q + STEP * p
    return q, p + STEP / 2 * slopes(q)


# Gradients of each example of a network


def network(xp: Any, weights: Any, x: Array) -> Array:
    """Compute a network with one hidden layer."""
    return xp.tanh(x @ weights["w"] + weights["b"]) @ weights["v"]


def examples(library: Library) -> Function:
    """Differentiate the loss of one example by all weights."""

    def loss(weights: Any, x: Array, y: Array) -> Array:
        return (network(library.xp, weights, x) - y) ** 2

    return library.grad(loss)


def all_examples(weights: Any, x: Array, y: Array) -> Any:
    """Differentiate the losses of all examples."""
    hidden = np.tanh(x @ weights["w"] + weights["b"])
    ct = 2 * (hidden @ weights["v"] - y)
    below = ct[:, None] * weights["v"] * (1 - hidden * hidden)
    return {"w": x[:, :, None] * below[:, None, :], "b": below, "v": ct[:, None] * hidden}


def weights_of(*lead: int) -> dict[str, Array]:
    """Draw weights of a network."""
    return {"w": normal(*lead, 16, 32) / 4, "b": normal(*lead, 32), "v": normal(*lead, 32) / 5}


# Kalman filters: the likelihood of a series, by the noises' logarithms

MOTION = np.array([[1.0, 1.0], [0.0, 1.0]])


def filters(library: Library) -> Function:
    """Differentiate the likelihood of one series."""
    xp = library.xp

    def negative(noises: Array, series: Array) -> Array:
        process, seen = xp.exp(noises[0]), xp.exp(noises[1])
        mean, spread, total = xp.zeros(2), xp.eye(2), 0.0
        for y in series:
            mean = MOTION @ mean
            spread = MOTION @ spread @ MOTION.T + process * xp.eye(2)
            variance = spread[0, 0] + seen
            error = y - mean[0]
            total = total + xp.log(variance) + error * error / variance
            gain = spread[:, 0] / variance
            mean = mean + gain * error
            spread = spread - xp.outer(gain, spread[0])
        return total

    return library.grad(negative)


def all_filters(noises: Array, series: Array) -> Array:
    """Differentiate the likelihoods of all series."""

    def negative(noises: Array) -> Array:
        process, seen = np.exp(noises[:, 0]), np.exp(noises[:, 1])
        mean, spread = np.zeros((len(series), 2)), np.eye(2)[None]
        total: Any = 0.0
        for y in series.T:
            mean = mean @ MOTION.T
            spread = MOTION @ spread @ MOTION.T + process[:, None, None] * np.eye(2)
            variance = spread[:, 0, 0] + seen
            error = y - mean[:, 0]
            total = total + np.log(variance) + error * error / variance
            gain = spread[:, :, 0] / variance[:, None]
            mean = mean + gain * error[:, None]
            spread = spread - gain[:, :, None] * spread[:, 0, None, :]
        return np.sum(total)

    return ta.grad(negative)(noises)


# Newton's method for a system of equations


def newton(library: Library) -> Function:
    """Solve one system, by six steps."""
    xp = library.xp

    def residual(x: Array, a: Array) -> Array:
        return x**3 + a @ x - 1

    slope = library.jacobian(residual)

    def solved(x: Array, a: Array) -> Array:
        for _ in range(6):
            x = x - xp.linalg.solve(slope(x, a), residual(x, a))
        return x

    return solved


def all_newton(x: Array, a: Array) -> Array:
    """Solve all systems; the Jacobian is written out."""
    for _ in range(6):
        slope = 3 * (x * x)[:, :, None] * np.eye(x.shape[1]) + a
        residual = x**3 + (a @ x[:, :, None])[:, :, 0] - 1
        x = x - np.linalg.solve(slope, residual[:, :, None])[:, :, 0]
    return x


# Contrastive losses, each of pairs of embeddings


def contrasts(library: Library) -> Function:
    """Differentiate the loss of one set of pairs."""
    xp, logsumexp = library.xp, library.scipy.special.logsumexp

    def loss(first: Array, second: Array) -> Array:
        first = first / xp.sqrt(xp.sum(first * first, axis=-1, keepdims=True))
        second = second / xp.sqrt(xp.sum(second * second, axis=-1, keepdims=True))
        scores = 10 * first @ second.T
        return xp.mean(logsumexp(scores, axis=-1) - xp.diagonal(scores))

    return library.grad(loss, (0, 1))


def all_contrasts(first: Array, second: Array) -> Any:
    """Differentiate the losses of all sets."""

    def loss(first: Array, second: Array) -> Array:
        first = first / np.sqrt(np.sum(first * first, axis=-1, keepdims=True))
        second = second / np.sqrt(np.sum(second * second, axis=-1, keepdims=True))
        scores = 10 * first @ second.mT
        kept = np.diagonal(scores, axis1=-2, axis2=-1)
        return np.sum(np.mean(tsp.special.logsumexp(scores, axis=-1) - kept, axis=-1))

    return ta.grad(loss, (0, 1))(first, second)


# Ensembles: several networks, the same data


def ensembles(library: Library) -> Function:
    """Differentiate the loss of one network."""

    def loss(weights: Any, x: Array, y: Array) -> Array:
        return library.xp.mean((network(library.xp, weights, x) - y) ** 2)

    return library.grad(loss)


def all_ensembles(weights: Any, x: Array, y: Array) -> Any:
    """Differentiate the losses of all networks."""

    def loss(weights: Any) -> Array:
        hidden = np.tanh(x @ weights["w"] + weights["b"][:, None])
        out = (hidden @ weights["v"][:, :, None])[:, :, 0]
        return np.sum(np.mean((out - y) ** 2, axis=1))

    return ta.grad(loss)(weights)


# Gaussian processes: marginal likelihoods by their scales


def processes(library: Library) -> Function:
    """Differentiate the likelihood of one data set."""
    xp, solve = library.xp, library.scipy.linalg.solve_triangular

    def negative(scales: Array, x: Array, y: Array) -> Array:
        apart = (x[:, None] - x) / xp.exp(scales[0])
        k = xp.exp(scales[1] - 0.5 * apart * apart) + 0.1 * xp.eye(len(x))
        factor = xp.linalg.cholesky(k)
        white = solve(factor, y, lower=True)
        return 0.5 * white @ white + xp.sum(xp.log(xp.diagonal(factor)))

    return library.grad(negative)


def all_processes(scales: Array, x: Array, y: Array) -> Array:
    """Differentiate the likelihoods of all data sets."""

    def negative(scales: Array) -> Array:
        apart = (x[:, :, None] - x[:, None]) / np.exp(scales[:, 0, None, None])
        k = np.exp(scales[:, 1, None, None] - 0.5 * apart * apart) + 0.1 * np.eye(x.shape[1])
        factor = np.linalg.cholesky(k)
        white = tsp.linalg.solve_triangular(factor, y[:, :, None], lower=True)
        logs = np.log(np.diagonal(factor, axis1=1, axis2=2))
        return 0.5 * np.sum(white * white) + np.sum(logs)

    return ta.grad(negative)(scales)


# Least squares


def fits(library: Library) -> Function:
    """Differentiate a norm of one solution."""
    xp = library.xp

    def size(a: Array, b: Array) -> Array:
        return xp.sum(xp.linalg.lstsq(a, b)[0] ** 2)

    return library.grad(size)


def all_fits(a: Array, b: Array) -> Array:
    """Differentiate the norms of all solutions."""

    def size(a: Array) -> Array:
        x = np.linalg.pinv(a) @ b[:, :, None]
        return np.sum(x * x)

    return ta.grad(size)(a)


# Mahalanobis distances


def distances(library: Library) -> Function:
    """Differentiate one distance by the matrix."""
    xp = library.xp

    def distance(x: Array, spread: Array) -> Array:
        return xp.sqrt(x @ xp.linalg.solve(spread, x))

    return library.grad(distance, (0, 1))


def all_distances(x: Array, spread: Array) -> Any:
    """Differentiate all distances."""

    def total(x: Array, spread: Array) -> Array:
        solved = np.linalg.solve(spread, x[:, :, None])[:, :, 0]
        return np.sum(np.sqrt(np.sum(x * solved, axis=1)))

    return ta.grad(total, (0, 1))(x, spread)


# Densities of a mixture

CENTRES, WIDTHS = normal(8, 2), np.exp(normal(8, 2) / 4)


def mixtures(library: Library) -> Function:
    """Differentiate the logarithm of the density at one point."""

    def log_density(x: Array) -> Array:
        parts = library.xp.sum(library.scipy.stats.norm.logpdf(x, CENTRES, WIDTHS), axis=-1)
        return library.scipy.special.logsumexp(parts)

    return library.grad(log_density)


def all_mixtures(x: Array) -> Array:
    """Differentiate at all points."""

    def total(x: Array) -> Array:
        parts = np.sum(tsp.stats.norm.logpdf(x[:, None], CENTRES, WIDTHS), axis=-1)
        return np.sum(tsp.special.logsumexp(parts, axis=-1))

    return ta.grad(total)(x)


PROGRAMS: dict[str, Program] = {
    "chains of HMC": Program(chains, all_chains, (normal(64, 8), normal(64, 8))),
    "per-example gradients": Program(
        examples, all_examples, (weights_of(), normal(64, 16), normal(64)), (None, 0, 0)
    ),
    "Kalman filters": Program(filters, all_filters, (normal(64, 2), normal(64, 20))),
    "Newton's method": Program(newton, all_newton, (0 * normal(64, 4) + 1, covariance(64, 4, 4))),
    "contrastive losses": Program(
        contrasts, all_contrasts, (normal(16, 32, 16), normal(16, 32, 16))
    ),
    "ensembles": Program(
        ensembles, all_ensembles, (weights_of(16), normal(64, 16), normal(64)), (0, None, None)
    ),
    "Gaussian processes": Program(
        processes, all_processes, (normal(32, 2) / 4, normal(32, 32), normal(32, 32))
    ),
    "least squares": Program(fits, all_fits, (normal(64, 20, 5), normal(64, 20))),
    "Mahalanobis distances": Program(
        distances, all_distances, (normal(500, 6), covariance(500, 6, 6))
    ),
    "mixture densities": Program(mixtures, all_mixtures, (normal(1000, 2),)),
}


def leaves(tree: Any) -> list[Array]:
    """List the arrays in what a program gives."""
    if isinstance(tree, dict):
        return [leaf for key in sorted(tree) for leaf in leaves(tree[key])]
    if isinstance(tree, (tuple, list)):
        return [leaf for each in tree for leaf in leaves(each)]
    return [np.asarray(tree)]


def ways(program: Program) -> dict[str, Callable[[], Any]]:
    """Make what is timed."""
    batched = ta.batched(program.one(OURS), program.in_axes)
    ours = ta.compile(batched, engine="native")
    hand = ta.compile(program.every, engine="native")
    theirs = jax.jit(jax.vmap(program.one(THEIRS), program.in_axes))
    given = jax.tree.map(jnp.asarray, program.arguments)
    wait: Callable[[Any], Any] = jax.block_until_ready
    return {
        "tape_ad": lambda: ours(*program.arguments),
        "by hand": lambda: hand(*program.arguments),
        "JAX": lambda: wait(theirs(*given)),
        "not compiled": lambda: batched(*program.arguments),
    }


def least_of(program: Callable[[], object], calls: int) -> float:
    """Time each of some calls in a row; the least is what one takes when nothing comes between."""
    taken = []
    for _ in range(max(calls, 10)):
        start = time.perf_counter()
        program()
        taken.append(time.perf_counter() - start)
    return min(taken)


def row(name: str, program: Program, pace: Pace) -> tuple[list[str], bool]:
    """Compare, and time; tell whether all agree."""
    made = ways(program)
    expected = leaves(made["JAX"]())
    agree = all(
        np.allclose(one, other, rtol=1e-6, atol=1e-8)
        for call in made.values()
        for _ in range(CALLS)
        for one, other in zip(expected, leaves(call()), strict=True)
    )
    timers = {way: functools.partial(least_of, call) for way, call in made.items()}
    least = {way: times.least for way, times in in_turns(timers, pace).items()}
    ratios = {way: least["tape_ad"] / least[way] for way in ("JAX", "by hand")}
    missed = (ratios["JAX"] > JAX_GOAL, ratios["by hand"] > HAND_GOAL)
    cells = [f"{ratio:.2f}" + "*" * bad for ratio, bad in zip(ratios.values(), missed, strict=True)]
    times = [duration(least[way]) for way in ("tape_ad", "JAX", "by hand", "not compiled")]
    return [name if agree else f"{name} (results differ)", *cells, *times], agree


def report(only: str, pace: Pace) -> Iterator[tuple[list[str], bool]]:
    """Give the row of each program."""
    jax.config.update("jax_enable_x64", True)  # type: ignore[no-untyped-call]  # theirs
    for name, program in PROGRAMS.items():
        if only in name:
            yield row(name, program, pace)


def main() -> int:
    parser = argparse.ArgumentParser(
        "python -m benchmarks.batches",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--only", metavar="NAME", default="", help="programs with NAME in theirs")
    parser.add_argument("--quick", action="store_true", help="fewer turns")
    arguments = parser.parse_args()
    rows = list(report(arguments.only, BRIEF if arguments.quick else THOROUGH))
    head = ["program", "by JAX's", "by hand's", "tape_ad", "JAX", "by hand", "not compiled"]
    print("\n".join(table(head, [cells for cells, _ in rows])))
    print(f"\n* above {JAX_GOAL} of JAX's time, or above {HAND_GOAL} of that by hand")
    return 0 if all(agree for _, agree in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
