"""Chains and sums of elementwise functions."""

import itertools
from typing import Any

import numpy as np

from benchmarks.libraries import BY_HAND, FORWARD, TORCH
from benchmarks.libraries.plain import Data, Outcome, Program
from benchmarks.workloads.base import COMPILES_LONG, Array, Workload, seeded

__all__ = ["WORKLOADS"]


def chain(library: Any, p: Data, data: Data) -> Array:
    x = y = p["x"]
    for _ in range(data["iterations"]):
        y = library.xp.sin(y) * x + 0.5
    return library.xp.sum(y)


def chain_by_hand(p: Data, data: Data) -> Program:
    x, iterations = p["x"], data["iterations"]

    def program() -> Outcome:
        states, sines, y = [], [], x
        for _ in range(iterations):
            states.append(y)
            sine = np.sin(y)
            sines.append(sine)
            y = sine * x
            y += 0.5
        gradient, ct = np.zeros_like(x), np.ones_like(x)
        for before, sine in zip(reversed(states), reversed(sines), strict=True):
            gradient += sine * ct
            ct *= x
            ct *= np.cos(before)
        gradient += ct
        return np.add.reduce(y), {"x": gradient}

    return program


def scanned_chain(library: Any, p: Data, data: Data) -> Array:
    """Scan, as JAX's users do with loops, rather than compile 300 iterations one by one."""
    x = p["x"]

    def one(y: Array, _: None) -> tuple[Array, None]:
        return library.xp.sin(y) * x + 0.5, None

    y, _ = library.scan(one, x, None, length=data["iterations"])
    return library.xp.sum(y)


def chain_of(size: int, iterations: int) -> tuple[Data, Data]:
    return {"x": np.linspace(0.9, 1.1, size)}, {"iterations": iterations}


def tanh_times_exp(library: Any, p: Data, data: Data) -> Array:
    x = p["x"]
    return library.xp.sum(library.xp.tanh(x) * library.xp.exp(-x * x))


def tanh_times_exp_by_hand(p: Data, data: Data) -> Program:
    x = p["x"]

    def program() -> Outcome:
        t, e = np.tanh(x), np.exp(-x * x)
        gradient = t * t
        np.subtract(1, gradient, out=gradient)
        t *= e
        total = np.sum(t)
        gradient *= e
        t *= x
        t *= 2
        gradient -= t
        return total, {"x": gradient}

    return program


def rosenbrock(library: Any, p: Data, data: Data) -> Array:
    x = p["x"]
    return library.xp.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def rosenbrock_in_numbers(p: Data, data: Data) -> Any:
    x = p["x"]
    return sum(
        100 * (after - before**2) ** 2 + (1 - before) ** 2
        for before, after in itertools.pairwise(x)
    )


def rosenbrock_by_hand(p: Data, data: Data) -> Program:
    x = p["x"]

    def program() -> Outcome:
        before, after = x[:-1], x[1:]
        apart, short = after - before * before, 1 - before
        gradient = np.zeros_like(x)
        gradient[1:] = 200 * apart
        gradient[:-1] -= 400 * apart * before + 2 * short
        return 100 * np.sum(apart * apart) + np.sum(short * short), {"x": gradient}

    return program


def logsumexp(library: Any, p: Data, data: Data) -> Array:
    return library.logsumexp(p["x"], 0)


NO_MEMORY = "its memory is not looked at"
NO_SINE = {"micro_grad": "it has no sine"}

WORKLOADS = [
    Workload(
        "chain, 1 element",
        "300 iterations of y = sin(y) * x + 0.5 on one element",
        chain,
        lambda: chain_of(1, 300),
        own={"jax_jit": scanned_chain, BY_HAND: chain_by_hand},
        cannot=NO_SINE | COMPILES_LONG,
        targets={FORWARD: 11.0, TORCH: 0.45},
        small=True,
        compiled=0.25,
        native=0.5,
    ),
    Workload(
        "chain, 100 elements",
        "the same on 100 elements",
        chain,
        lambda: chain_of(100, 300),
        own={"jax_jit": scanned_chain, BY_HAND: chain_by_hand},
        cannot=NO_SINE | COMPILES_LONG,
        small=True,
        compiled=0.25,
        native=0.5,
    ),
    Workload(
        "chain, 10,000 elements",
        "the same on 10,000 elements",
        chain,
        lambda: chain_of(10_000, 300),
        own={"jax_jit": scanned_chain, BY_HAND: chain_by_hand},
        cannot=NO_SINE | COMPILES_LONG,
        compiled=0.25,
    ),
    Workload(
        "chain of 1,000 steps, 10^5 elements",
        "1,000 iterations on 100,000 elements, for its memory",
        chain,
        lambda: chain_of(100_000, 1_000),
        cannot=NO_SINE | COMPILES_LONG | {"jax_eager": NO_MEMORY, "jax_jit": NO_MEMORY},
        memory=1.01,  # our graph is counted with its arrays, and PyTorch's is not seen
        timed=False,
    ),
    Workload(
        "elementwise, 10^6",
        "sum(tanh(x) * exp(-x*x)) on a million elements",
        tanh_times_exp,
        lambda: ({"x": seeded((1_000_000,))[0]}, {}),
        own={BY_HAND: tanh_times_exp_by_hand},
        targets={TORCH: 0.70},
        arrays=8.0,
        compiled=0.6,
    ),
    Workload(
        "Rosenbrock, 1,000",
        "the Rosenbrock function in 1,000 dimensions",
        rosenbrock,
        lambda: ({"x": seeded((1_000,))[0]}, {}),
        own={BY_HAND: rosenbrock_by_hand, "micro_grad": rosenbrock_in_numbers},
        targets={TORCH: 0.5},
        small=True,
        compiled=0.25,
        native=0.5,
    ),
    Workload(
        "logsumexp, 80,000",
        "log(sum(exp(x))) of 80,000 elements",
        logsumexp,
        lambda: ({"x": seeded((80_000,))[0]}, {}),
    ),
    Workload(
        "Hessian, 50",
        "the Hessian of the Rosenbrock function in 50 dimensions",
        rosenbrock,
        lambda: ({"x": seeded((50,))[0]}, {}),
        kind="hessian",
        targets={TORCH: 0.15},
        compiled=0.25,
        native=0.5,
    ),
    Workload(
        "Hessian-vector product, 10,000",
        "the Hessian of the Rosenbrock function in 10,000 dimensions, times a vector",
        rosenbrock,
        lambda: ({"x": seeded((10_000,))[0]}, {"v": seeded((10_000,), seed=1)[0]}),
        kind="hvp",
    ),
]
