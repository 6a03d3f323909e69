"""Least squares, a determinant by its definition, Jacobians, decompositions and transforms."""

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


def evidence(library: Any, p: Data, data: Data) -> Array:
    """Compute the negative logarithm of the likelihood of a Gaussian process."""
    xp = library.xp
    kernel = xp.exp(p["scale"] - data["squares"] * xp.exp(p["width"]))
    covariance = kernel + xp.exp(p["noise"]) * data["one"]
    solved = xp.linalg.solve(covariance, data["y"])
    return 0.5 * xp.sum(data["y"] * solved) + 0.5 * xp.linalg.slogdet(covariance)[1]


def points_in_plane(count: int) -> tuple[Data, Data]:
    x, y = seeded((count, 2), (count,))
    squares = np.sum((x[:, None] - x) ** 2, axis=-1)
    p = {"scale": np.zeros(()), "width": np.zeros(()), "noise": np.full((), -2.0)}
    return p, {"squares": squares, "y": y, "one": np.eye(count)}


def filtered(library: Any, p: Data, data: Data) -> Array:
    """Compute the negative logarithm of the likelihood of a series by Kalman's filter."""
    xp = library.xp
    motion, seen, one = data["motion"], data["seen"], data["one"]
    process, noise = xp.exp(p["process"]) * one, xp.exp(p["noise"]) * data["few"]
    mean, spread, total = data["zero"], one, 0.0
    for y in data["series"]:
        mean = xp.matmul(motion, mean)
        spread = xp.matmul(xp.matmul(motion, spread), motion.T) + process
        variance = xp.matmul(xp.matmul(seen, spread), seen.T) + noise
        error = y - xp.matmul(seen, mean)
        total = total + xp.log(xp.linalg.det(variance))
        total = total + xp.sum(error * xp.linalg.solve(variance, error))
        gain = xp.linalg.solve(variance, xp.matmul(seen, spread)).T
        mean = mean + xp.matmul(gain, error)
        spread = spread - xp.matmul(xp.matmul(gain, seen), spread)
    return 0.5 * total


def series_of(states: int, measured: int, steps: int) -> tuple[Data, Data]:
    turning, series, seen = seeded((states, states), (steps, measured), (measured, states))
    data = {
        "motion": np.eye(states) + 0.1 * turning / math.sqrt(states),
        "seen": seen,
        "one": np.eye(states),
        "few": np.eye(measured),
        "zero": np.zeros(states),
        "series": series,
    }
    return {"process": np.full((), -1.0), "noise": np.zeros(())}, data


def volumes(library: Any, p: Data, data: Data) -> Array:
    """Add up determinants, and solutions of equations, of a stack of small matrices."""
    xp = library.xp
    m = p["m"] + data["one"]
    return xp.sum(xp.linalg.det(m) ** 2) + xp.sum(xp.linalg.solve(m, data["b"]) ** 2)


def small_matrices(count: int) -> tuple[Data, Data]:
    m, b = seeded((count, 3, 3), (count, 3, 1))
    return {"m": m}, {"b": b, "one": 4 * np.eye(3)}


def blurred(library: Any, p: Data, data: Data) -> Array:
    """Compare a blurred image with another, blurring being a product of transforms."""
    xp = library.xp
    found = xp.fft.ifft2(xp.fft.fft2(p["image"]) * data["blur"])
    difference = xp.abs(found) - data["seen"]
    return xp.sum(difference * difference)


def image(size: int) -> tuple[Data, Data]:
    x, seen = seeded((size, size), (size, size))
    far = np.fft.fftfreq(size)
    blur = np.exp(-20 * (far[:, None] ** 2 + far**2)) + 0j
    return {"image": x}, {"blur": blur, "seen": np.abs(seen)}


def smoothed(library: Any, p: Data, data: Data) -> Array:
    """Compare a series with its convolution, computed by real transforms."""
    xp = library.xp
    found = xp.fft.irfft(xp.fft.rfft(p["x"]) * xp.fft.rfft(p["kernel"]), len(p["x"]))
    difference = found - data["y"]
    return xp.sum(difference * difference)


def long_series(size: int) -> tuple[Data, Data]:
    x, kernel, y = seeded((size,), (size,), (size,))
    return {"x": x, "kernel": kernel / size}, {"y": y}


NO_LINALG = dict.fromkeys(("my_grad", "micro_grad"), "it has no such functions")

OF_LIBRARIES = [
    Workload(
        f"{name}, {size:,}",
        title.format(size=f"{size:,}"),
        formula,
        functools.partial(inputs, *arguments),
        cannot=NO_LINALG | (COMPILES_LONG if formula is filtered else {}),
        not_quick=frozenset({"jax_jit"} if formula is filtered else {}),
        native=1.0,
    )
    for name, title, formula, inputs, sizes in (
        (
            *("Gaussian process", "the likelihood of {size} points under a Gaussian process"),
            *(evidence, points_in_plane, [(20, 20), (300, 300)]),
        ),
        (
            *(
                "Kalman filter",
                "the likelihood of 50 steps by Kalman's filter, {size} states",
            ),
            *(filtered, series_of, [(4, 4, 2, 50), (30, 30, 10, 50)]),
        ),
        (
            *("3x3 matrices", "determinants and solutions of {size} small systems"),
            *(volumes, small_matrices, [(8, 8), (3_000, 3_000)]),
        ),
        (
            *("image blurred", "the distance of a blurred image of {size} by {size} to another"),
            *(blurred, image, [(16, 16), (512, 512)]),
        ),
        (
            *("convolution by transforms", "the distance of a series of {size} to a convolved one"),
            *(smoothed, long_series, [(64, 64), (2**17, 2**17)]),
        ),
    )
    for size, *arguments in sizes
]

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
    *OF_LIBRARIES,
]
