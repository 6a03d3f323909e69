"""Random programs with diamonds, broadcasting, reuse, indexing and mixed dtypes."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tape_ad as ta
from tape_ad.record.sweeps import forward_sweep, reverse_sweep

pytestmark = pytest.mark.usefixtures("memory_used_again")

SETTINGS = settings(
    max_examples=150,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)

SHAPES = [(), (1,), (3,), (2, 3), (2, 1), (1, 3), (2, 2, 3)]

Instruction = tuple[int, int, int]
"""Which function, and two numbers from which it chooses its operands and options."""


def fitting(x: Any, y: Any) -> Any:
    """Give `y`, or its mean where it does not broadcast with `x`."""
    try:
        np.broadcast_shapes(x.shape, y.shape)
    except ValueError:
        return np.mean(y)
    return y


def as_matrix(x: Any) -> Any:
    return x.reshape(-1, x.shape[-1]) if x.ndim else x.reshape(1, 1)


# Each is smooth, and keeps values of about 1 at about 1, so that differences are trustworthy.
FUNCTIONS: list[Callable[[Any, Any, int], Any]] = [
    lambda x, y, k: x + fitting(x, y),
    lambda x, y, k: x - fitting(x, y),
    lambda x, y, k: 0.7 * x * fitting(x, y),
    lambda x, y, k: x * x,
    lambda x, y, k: x / (2.0 + fitting(x, y) * fitting(x, y).conj()).real,
    lambda x, y, k: np.sin(x),
    lambda x, y, k: np.exp(-np.square(x.real)),
    lambda x, y, k: np.hypot(1.0 + x.real, fitting(x, y).imag + 2.0),
    lambda x, y, k: np.where(np.arange(x.shape[-1] if x.ndim else 1) > k, x, fitting(x, y)),
    lambda x, y, k: np.sum(x, axis=k % x.ndim if x.ndim else None),
    lambda x, y, k: np.mean(x, axis=None if k else (), keepdims=bool(k)),
    lambda x, y, k: np.var(x, axis=k % x.ndim if x.ndim else None),
    lambda x, y, k: x.reshape(-1)[: 1 + k],
    lambda x, y, k: x.T,
    lambda x, y, k: x[..., ::-1] if x.ndim else x[None],
    lambda x, y, k: x[np.array([0, -1, 0])] if x.ndim else x,
    lambda x, y, k: x[..., None] if x.ndim < 3 else x[0],
    lambda x, y, k: x[np.arange(len(x)) >= k % len(x)] if x.ndim else x,
    lambda x, y, k: as_matrix(x).T @ as_matrix(x) / (1 + x.size),
    lambda x, y, k: np.einsum("ij,kj->ik", as_matrix(x), np.conj(as_matrix(x))) / (1 + x.size),
    lambda x, y, k: np.outer(x, y)[: 2 + k, : 3 - k],
    lambda x, y, k: np.concatenate([x.reshape(-1), y.reshape(-1)])[::2],
    lambda x, y, k: np.stack([x, x * 0.5, x], axis=k % (x.ndim + 1))[0],
    lambda x, y, k: np.broadcast_to(x, (2, *x.shape)) if x.ndim < 3 else x,
]


def run(instructions: list[Instruction], leaves: list[Any]) -> Any:
    """Run a program: each instruction appends a value, and the mean of all is the result."""
    values = list(leaves)
    for which, a, b in instructions:
        x, y = values[-1 - a % len(values)], values[-1 - b % len(values)]
        values.append(FUNCTIONS[which](x, y, b % 3))
    return sum(np.mean(np.sin(v)) for v in values)


programs = st.lists(
    st.tuples(st.integers(0, len(FUNCTIONS) - 1), st.integers(0, 20), st.integers(0, 20)),
    min_size=1,
    max_size=12,
)
leaf_shapes = st.lists(st.sampled_from(SHAPES), min_size=1, max_size=3)
seeds = st.integers(0, 2**16)


def draw(rng: np.random.Generator, shape: tuple[int, ...], dtype: str) -> Any:
    values = rng.uniform(-1, 1, shape)
    if np.dtype(dtype).kind == "c":
        values = values + 1j * rng.uniform(-1, 1, shape)
    return np.asarray(values, dtype)


def inner(u: Any, v: Any) -> float:
    return float(np.sum(np.conj(u) * v, dtype=complex).real)


@SETTINGS
@given(programs, leaf_shapes, seeds)
def test_gradients_are_central_differences(
    instructions: list[Instruction], shapes: list[tuple[int, ...]], seed: int
) -> None:
    rng = np.random.default_rng(seed)
    values = [draw(rng, shape, "f8") for shape in shapes]
    steps = [draw(rng, shape, "f8") for shape in shapes]
    rec: Any = ta.ComputationRecord()
    leaves = rec.bind(values)
    gradients = run(instructions, leaves).grad().wrt(leaves)
    h = 1e-6
    above = run(instructions, [v + h * s for v, s in zip(values, steps, strict=True)])
    below = run(instructions, [v - h * s for v, s in zip(values, steps, strict=True)])
    slope = sum(inner(g, s) for g, s in zip(gradients, steps, strict=True))
    np.testing.assert_allclose(slope, (above - below) / (2 * h), rtol=1e-6, atol=1e-7)


@SETTINGS
@given(
    programs,
    st.lists(
        st.tuples(st.sampled_from(SHAPES), st.sampled_from(["f8", "c16", "f4", "c8", "f2"])),
        min_size=1,
        max_size=3,
    ),
    st.sampled_from([(), (2,), (2, 2)]),
    seeds,
)
def test_forward_and_reverse_sweeps_are_adjoint_in_mixed_dtypes(
    instructions: list[Instruction],
    kinds: list[tuple[tuple[int, ...], str]],
    stack: tuple[int, ...],
    seed: int,
) -> None:
    rng = np.random.default_rng(seed)
    rec: Any = ta.ComputationRecord()
    leaves = rec.bind([draw(rng, shape, dtype) for shape, dtype in kinds])
    out = run(instructions, leaves)
    tangents = {h.index: draw(rng, stack + h.shape, h.dtype.str) for h in leaves}
    cotangent = draw(rng, stack, out.dtype.str)
    pushed = forward_sweep(rec, tangents, out.index)[out.index]
    pulled = reverse_sweep(rec, out.index, cotangent)
    forward = inner(cotangent, pushed)
    backward = sum(inner(pulled[i], t) for i, t in tangents.items())
    eps = max(float(np.finfo(dtype).eps) for _, dtype in kinds)
    np.testing.assert_allclose(forward, backward, rtol=100 * eps, atol=100 * eps)
    assert all(pulled[h.index].dtype == h.dtype for h in leaves)


@SETTINGS
@given(programs, leaf_shapes, seeds)
def test_second_derivatives_are_symmetric_and_forward_over_reverse(
    instructions: list[Instruction], shapes: list[tuple[int, ...]], seed: int
) -> None:
    rng = np.random.default_rng(seed)
    values = [draw(rng, shape, "f8") for shape in shapes]
    u = [draw(rng, shape, "f8") for shape in shapes]
    v = [draw(rng, shape, "f8") for shape in shapes]

    outer: Any = ta.ComputationRecord()
    leaves = outer.bind(values)
    handles: Any = ta.ComputationRecord(within=outer).bind(leaves)
    gradients = run(instructions, handles).grad().wrt(handles)
    along_u = sum(np.sum(g * d) for g, d in zip(gradients, u, strict=True))
    along_v = sum(np.sum(g * d) for g, d in zip(gradients, v, strict=True))
    u_h = along_u.grad().wrt(leaves)
    v_h = along_v.grad().wrt(leaves)
    tangents = {h.index: d for h, d in zip(leaves, v, strict=True)}
    pushed = forward_sweep(outer, tangents, along_u.index)[along_u.index]

    u_h_v = sum(inner(g, d) for g, d in zip(u_h, v, strict=True))
    v_h_u = sum(inner(g, d) for g, d in zip(v_h, u, strict=True))
    np.testing.assert_allclose(u_h_v, v_h_u, rtol=1e-10, atol=1e-11)
    np.testing.assert_allclose(u_h_v, pushed, rtol=1e-10, atol=1e-11)
