"""Least squares, a determinant by its definition, and a Jacobian."""

import functools
import itertools
import math
from typing import Any

import numpy as np

from benchmarks.libraries import BY_HAND, LIBRARIES, TORCH, TORCH_COMPILED
from benchmarks.libraries.plain import Data, Outcome, Program
from benchmarks.workloads.base import COMPILES_LONG, Array, Workload, seeded

__all__ = ["WORKLOADS"]


def least_squares(library: Any, p: Data, data: Data) -> Array:
    residual = library.xp.matmul(data["a"], p["x"]) - data["b"]
    return 0.5 * library.xp.sum(residual * residual)


def least_squares_by_hand(p: Data, data: Data) -> Program:
    a, b, x = data["a"], data["b"], p["x"]

    def program() -> Outcome:
        residual = a @ x - b
        return 0.5 * (residual @ residual), {"x": residual @ a}

    return program


def least_squares_inputs() -> tuple[Data, Data]:
    a, b, x = seeded((1_024, 512), (1_024,), (512,))
    return {"x": x}, {"a": a, "b": b}


def laplace(entries: list[list[Array]]) -> Array:
    """Expand the determinant by the last row, minor by minor, each computed once."""
    n = len(entries)
    minors: dict[tuple[int, ...], Array] = {(j,): entry for j, entry in enumerate(entries[0])}
    for i in range(1, n):
        row = entries[i]
        larger: dict[tuple[int, ...], Array] = {}
        for columns in itertools.combinations(range(n), i + 1):
            total: Array = None
            for k, j in enumerate(columns):
                term = row[j] * minors[columns[:k] + columns[k + 1 :]]
                if total is None:
                    total = term if i % 2 == 0 else -term
                elif (i + k) % 2 == 0:
                    total = total + term
                else:
                    total = total - term
            larger[columns] = total
        minors = larger
    return minors[tuple(range(n))]


def determinant(library: Any, p: Data, data: Data) -> Array:
    m = p["m"]
    n = len(m)
    return laplace([[m[i, j] for j in range(n)] for i in range(n)])


def determinant_in_numbers(p: Data, data: Data) -> Any:
    return laplace(p["m"])


def scaled_tanh(library: Any, p: Data, data: Data) -> Array:
    x = p["x"]
    return library.xp.tanh(library.xp.matmul(data["a"], x)) * library.xp.sum(x * x)


def scaled_tanh_by_hand(p: Data, data: Data) -> Program:
    a, x = data["a"], p["x"]

    def program() -> Outcome:
        t, square = np.tanh(a @ x), x @ x
        jacobian = a * (square * (1 - t * t))[:, None]
        jacobian += t[:, None] * (2 * x)
        return None, {"x": jacobian}

    return program


def scaled_tanh_inputs() -> tuple[Data, Data]:
    a, x = seeded((200, 50), (50,))
    return {"x": 0.1 * x}, {"a": a}


def tanh_squares(library: Any, p: Data, data: Data) -> Array:
    t = library.xp.tanh(library.xp.matmul(data["a"], p["x"]))
    return library.xp.sum(t * t)


def tanh_squares_by_hand(p: Data, data: Data) -> Program:
    a, x = data["a"], p["x"]

    def program() -> Outcome:
        t = np.tanh(a @ x)
        slope = 1 - t * t
        curvature = 2 * slope * (slope - 2 * t * t)
        return None, {"x": a.T @ (curvature[:, None] * a)}

    return program


def tanh_of_product(library: Any, p: Data, data: Data) -> Array:
    return library.xp.tanh(library.xp.matmul(data["a"], p["x"]))


def tanh_of_product_by_hand(p: Data, data: Data) -> Program:
    a, x = data["a"], p["x"]

    def program() -> Outcome:
        t = np.tanh(a @ x)
        return None, {"x": (1 - t * t)[:, None] * a}

    return program


def square_inputs(size: int) -> tuple[Data, Data]:
    a, x = seeded((size, size), (size,))
    return {"x": x}, {"a": a / math.sqrt(size)}


STACKED = {
    "hips_autograd": "it makes one sweep for each row",
    "jax_eager": "it is slow in all that is like it",
}
LARGE = {TORCH_COMPILED: "a call takes ten seconds, as uncompiled"}

WORKLOADS = [
    Workload(
        "least squares, 512",
        "half the squared length of A x - b, for 1,024 equations in 512 unknowns",
        least_squares,
        least_squares_inputs,
        own={BY_HAND: least_squares_by_hand},
    ),
    Workload(
        "determinant, 8x8",
        "the determinant by Laplace expansion, in thousands of products of numbers",
        determinant,
        lambda: ({"m": seeded((8, 8))[0]}, {}),
        own={"micro_grad": determinant_in_numbers},
        cannot=COMPILES_LONG,
        not_quick=frozenset({"jax_jit"}),  # it compiles thousands of operations for a minute
        small=True,
        compiled=0.25,
        native=0.5,
        first=0.1,
    ),
    Workload(
        "Jacobian, 200x50",
        "the Jacobian of tanh(A x) * sum(x*x), 200 values of 50 variables",
        scaled_tanh,
        scaled_tanh_inputs,
        kind="jacobian",
        own={BY_HAND: scaled_tanh_by_hand},
        targets={TORCH: 0.5},
        compiled=0.25,
        native=0.5,
    ),
    *(
        Workload(
            f"Hessian of a network, {size:,}",
            f"the Hessian of sum(tanh(A x)**2), by {size:,} variables",
            tanh_squares,
            functools.partial(square_inputs, size),
            kind="hessian",
            own={BY_HAND: tanh_squares_by_hand},
            cannot=STACKED | (LARGE if size > 500 else {}),
            not_quick=frozenset(LIBRARIES) if size > 500 else frozenset(),
            targets={TORCH: 0.5},
        )
        for size in (500, 2_000)
    ),
    Workload(
        "Jacobian, 500x500",
        "the Jacobian of tanh(A x), 500 values of 500 variables",
        tanh_of_product,
        functools.partial(square_inputs, 500),
        kind="jacobian",
        own={BY_HAND: tanh_of_product_by_hand},
        cannot=STACKED,
        targets={TORCH: 0.5},
    ),
]
