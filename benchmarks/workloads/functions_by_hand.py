"""Functions and their derivatives in the best NumPy: what no library on top of it can undercut.

Each takes the cotangent and the operands, and gives the value, as NumPy or SciPy computes it, and
the operands' cotangents.
"""

import math
from typing import Any

import numpy as np
from scipy import special
from scipy.linalg import lapack

__all__ = [
    "cos",
    "cube",
    "cumsum",
    "erf",
    "expm1",
    "gelu",
    "hypot",
    "layer_norm",
    "logaddexp",
    "sigmoid",
    "sin",
    "softplus",
    "solve",
]

Array = np.ndarray[Any, Any]


def cube(ct: Array, x: Array) -> tuple[Array, ...]:
    slope = x * x
    slope *= 3
    slope *= ct
    return x**3, slope


def sin(ct: Array, x: Array) -> tuple[Array, ...]:
    slope = np.cos(x)
    slope *= ct
    return np.sin(x), slope


def cos(ct: Array, x: Array) -> tuple[Array, ...]:
    slope = np.sin(x)
    slope *= ct
    return np.cos(x), np.negative(slope, out=slope)


def expm1(ct: Array, x: Array) -> tuple[Array, ...]:
    value = np.expm1(x)
    slope = value + 1
    slope *= ct
    return value, slope


def erf(ct: Array, x: Array) -> tuple[Array, ...]:
    slope = x * x
    np.negative(slope, out=slope)
    np.exp(slope, out=slope)
    slope *= 2 / math.sqrt(math.pi)
    slope *= ct
    return special.erf(x), slope


def hypot(ct: Array, x: Array, y: Array) -> tuple[Array, ...]:
    value = np.hypot(x, y)
    scaled = ct / value
    return value, scaled * x, scaled * y


def logaddexp(ct: Array, x: Array, y: Array) -> tuple[Array, ...]:
    value = np.logaddexp(x, y)
    by_x = x - value
    np.exp(by_x, out=by_x)
    by_x *= ct
    return value, by_x, ct - by_x


def sigmoid(ct: Array, x: Array) -> tuple[Array, ...]:
    value = np.negative(x)
    np.exp(value, out=value)
    value += 1
    np.reciprocal(value, out=value)
    slope = value * value
    np.subtract(value, slope, out=slope)
    slope *= ct
    return value, slope


def softplus(ct: Array, x: Array) -> tuple[Array, ...]:
    value = np.abs(x)
    np.negative(value, out=value)
    np.exp(value, out=value)
    np.log1p(value, out=value)
    value += np.maximum(x, 0)
    slope = x - value
    np.exp(slope, out=slope)
    slope *= ct
    return value, slope


def gelu(ct: Array, x: Array) -> tuple[Array, ...]:
    gate = x * math.sqrt(0.5)
    special.erf(gate, out=gate)
    gate += 1
    gate *= 0.5
    slope = x * x
    slope *= -0.5
    np.exp(slope, out=slope)
    slope *= x
    slope *= 1 / math.sqrt(2 * math.pi)
    slope += gate
    slope *= ct
    gate *= x
    return gate, slope


def solve(ct: Array, a: Array, b: Array) -> tuple[Array, ...]:
    value = np.linalg.solve(a, b)
    factorize, solve_factorized = lapack.get_lapack_funcs(("getrf", "getrs"), (a, b))
    factors, pivots, _ = factorize(a)  # NumPy keeps its own to itself
    by_b, _ = solve_factorized(factors, pivots, ct, trans=1)
    by_a = by_b @ value.T
    return value, np.negative(by_a, out=by_a), by_b


def cumsum(ct: Array, x: Array) -> tuple[Array, ...]:
    return np.cumsum(x, axis=1), np.cumsum(ct[:, ::-1], axis=1)[:, ::-1]


def layer_norm(ct: Array, x: Array, weight: Array, bias: Array) -> tuple[Array, ...]:
    n, ones = x.shape[1], np.full((x.shape[1], 1), 1 / x.shape[1], x.dtype)
    normal = x - x @ ones
    scale = 1 / np.sqrt(np.einsum("ij,ij->i", normal, normal)[:, None] / n + 1e-5)
    scale = scale.astype(x.dtype)
    normal *= scale
    value = normal * weight
    value += bias
    by_x = ct * weight
    slope = np.einsum("ij,ij->i", by_x, normal)[:, None] / n
    by_x -= by_x @ ones
    by_x -= normal * slope
    by_x *= scale
    return value, by_x, np.einsum("ij,ij->j", ct, normal), np.add.reduce(ct, axis=0)
