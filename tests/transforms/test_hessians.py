"""Hessians in four ways: rows, stacked seeds, forward over reverse, reverse over forward."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad.record.sweeps import forward_sweep
from tests.shorthand import derivative

Function = Callable[[Any], Any]


def hessian_by_rows(function: Function, at: Any) -> Any:
    outer: Any = ta.ComputationRecord()
    x = outer.tensor(at)
    inner: Any = ta.ComputationRecord(within=outer)
    h = inner.tensor(x)
    gradient = function(h).grad().wrt(h)
    return np.stack([gradient[i].grad().wrt(x) for i in range(len(at))])


def hessian_by_stacked_seeds(function: Function, at: Any) -> Any:
    outer: Any = ta.ComputationRecord()
    x = outer.tensor(at)
    inner: Any = ta.ComputationRecord(within=outer)
    h = inner.tensor(x)
    gradient = function(h).grad().wrt(h)
    return gradient.grad(seed=np.eye(len(at))).wrt(x)


def hessian_forward_over_reverse(function: Function, at: Any) -> Any:
    outer: Any = ta.ComputationRecord()
    x = outer.tensor(at)
    inner: Any = ta.ComputationRecord(within=outer)
    h = inner.tensor(x)
    gradient = function(h).grad().wrt(h)
    pushed = forward_sweep(outer, {x.index: np.eye(len(at))}, gradient.index)
    return pushed[gradient.index].T


def hessian_reverse_over_forward(function: Function, at: Any) -> Any:
    outer: Any = ta.ComputationRecord()
    x = outer.tensor(at)
    inner: Any = ta.ComputationRecord(within=outer)
    h = inner.tensor(x)
    y = function(h)
    slopes = forward_sweep(inner, {h.index: np.eye(len(at))}, y.index)[y.index]
    return slopes.grad(seed=np.eye(len(at))).wrt(x)


HESSIANS = [
    hessian_by_rows,
    hessian_by_stacked_seeds,
    hessian_forward_over_reverse,
    hessian_reverse_over_forward,
]


# Hessians, four ways

A = np.array([[3.0, 1.0, 0.5], [1.0, 2.0, -1.0], [0.5, -1.0, 4.0]])
B = np.random.default_rng(8).normal(size=(3, 3))

QUADRATICS: dict[str, Function] = {
    "matmul": lambda x: 0.5 * (x @ A @ x),
    "einsum": lambda x: 0.5 * np.einsum("i,ij,j->", x, A, x),
    "sum": lambda x: 0.5 * np.sum(x * np.sum(A * x, axis=1)),
    "indexing": lambda x: 0.5 * sum(A[i, j] * x[i] * x[j] for i in range(3) for j in range(3)),
    "fancy indexing": lambda x: (
        0.5 * np.sum(A.ravel() * x[np.repeat([0, 1, 2], 3)] * x[np.tile([0, 1, 2], 3)])
    ),
    "joining": lambda x: 0.5 * np.sum(np.stack([x, x, x]) * A * np.concatenate([x, x])[:3, None]),
    "outer": lambda x: 0.5 * np.sum(np.outer(x, x) * A),
    "shaping": lambda x: 0.5 * np.sum(x.reshape(3, 1) * A * np.broadcast_to(x, (3, 3))),
    "where": lambda x: 0.5 * (x @ A @ np.where(np.arange(3) < 5, x, 0.0)),
    "mean": lambda x: 1.5 * np.mean(x[None].T * (A @ x[:, None])),
}


@pytest.mark.parametrize("hessian", HESSIANS)
@pytest.mark.parametrize("name", QUADRATICS)
def test_the_hessian_of_a_quadratic_form(
    name: str, hessian: Callable[[Function, Any], Any]
) -> None:
    got = hessian(QUADRATICS[name], np.array([1.0, -2.0, 0.5]))
    np.testing.assert_allclose(got, A, rtol=1e-14, atol=1e-14)


SMOOTH: dict[str, Function] = {
    "elementwise": lambda x: np.sum(np.sin(x) * np.exp(x[::-1]) / (1 + x * x)),
    "power": lambda x: np.sum((1 + x * x) ** x),
    "prod": lambda x: np.prod(np.cos(x)),
    "var": lambda x: np.var(np.exp(x)) + np.std(x * x),
    "max": lambda x: np.max(x) ** 3 * np.min(x * x),
    "softmax": lambda x: np.sum(np.exp(x) / np.sum(np.exp(x)) * np.arange(3.0)),
    "matmul": lambda x: np.sum(np.tanh(B @ np.tanh(B @ x))),
    "stacked matmul": lambda x: np.sum(np.tanh(np.stack([B, A]) @ (x[:, None] * B)) ** 2),
    "einsum": lambda x: np.einsum("i,j,k,ijk->", x, np.sin(x), x, np.ones((3, 3, 3))) ** 2,
    "indexing": lambda x: np.sum(x[[0, 1, 1, 2]] ** 3 * x[x > -9.0][[2, 1, 0, 0]]),
    "clip": lambda x: np.sum(np.clip(x, -1.0, 0.6) ** 3 * x),
    "where": lambda x: np.sum(np.where(x > 0, np.exp(x), np.sin(x)) * x),
    "concatenate": lambda x: np.sum(np.concatenate([x * x, np.sin(x)]) ** 3),
    "arctan2": lambda x: np.sum(np.arctan2(x, 2 + x[::-1])) + np.sum(np.hypot(x, x[::-1] - 3)),
    "logaddexp": lambda x: np.sum(np.logaddexp(x, x[::-1] * 2)),
    "absolute": lambda x: np.sum(np.abs(x) ** 3) + np.sum(np.fabs(x) * x),
    "extrema": lambda x: np.sum(np.maximum(x, x[::-1] * x)) + np.sum(np.minimum(x * x, 0.1)),
    "remainder": lambda x: np.sum(np.remainder(x * x, 0.7) ** 2),
}


@pytest.mark.parametrize("name", SMOOTH)
def test_four_hessians_agree_with_differences_of_gradients(name: str) -> None:
    function, at = SMOOTH[name], np.array([0.4, -0.7, 1.1])
    h = 1e-6
    differences = np.stack(
        [
            (derivative(function, at + h * e) - derivative(function, at - h * e)) / (2 * h)
            for e in np.eye(3)
        ]
    )
    reference = hessian_by_rows(function, at)
    np.testing.assert_allclose(reference, differences, rtol=2e-8, atol=2e-8)
    for hessian in HESSIANS:
        np.testing.assert_allclose(hessian(function, at), reference, rtol=1e-12, atol=1e-13)


def test_a_hessian_vector_product_in_two_ways() -> None:
    rng = np.random.default_rng(9)
    at, v = rng.normal(size=5), rng.normal(size=5)
    w = rng.normal(size=(5, 5))

    def function(x: Any) -> Any:
        return np.sum(np.tanh(w @ x) ** 2) * np.prod(np.cos(x))

    outer: Any = ta.ComputationRecord()
    x = outer.tensor(at)
    inner: Any = ta.ComputationRecord(within=outer)
    h = inner.tensor(x)
    gradient = function(h).grad().wrt(h)
    by_reverse = (gradient @ v).grad().wrt(x)
    by_forward = forward_sweep(outer, {x.index: v}, gradient.index)[gradient.index]
    step = 1e-6
    by_differences = (derivative(function, at + step * v) - derivative(function, at - step * v)) / (
        2 * step
    )
    np.testing.assert_allclose(by_reverse, by_forward, rtol=1e-12)
    np.testing.assert_allclose(by_reverse, by_differences, rtol=1e-7, atol=1e-8)


def test_the_hessian_of_a_complex_loss_along_the_real_and_imaginary_axes() -> None:
    """For |z**2|**2 = (a*a + b*b)**2, d2/da2 = 12 a*a + 4 b*b and d2/dadb = 8 a b."""
    outer: Any = ta.ComputationRecord()
    z = outer.tensor(1 + 2j)
    inner: Any = ta.ComputationRecord(within=outer)
    h = inner.tensor(z)
    gradient = (np.abs(h * h) ** 2).grad().wrt(h)
    np.testing.assert_allclose(gradient.data, 4 * 5 * (1 + 2j), rtol=1e-14)
    row = gradient.real.grad().wrt(z)
    np.testing.assert_allclose(row, (12 * 1 + 4 * 4) + 1j * (8 * 1 * 2), rtol=1e-14)
