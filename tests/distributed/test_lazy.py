"""Handles over Dask arrays: NumPy's values and gradients, in the arrays' chunks, and computed late."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

pytest.importorskip("dask")

import dask
import dask.array as da
from dask.delayed import delayed

import tape_ad as ta
from tape_ad import nn
from tape_ad.errors import ConversionError, UnsupportedArgumentError

Array = Any
RNG = np.random.default_rng(0)
X = RNG.normal(size=(6, 4))
W = RNG.normal(size=4)
M = RNG.normal(size=(4, 3))
CHUNKS = (2, 4)


def never(*_: Any, **__: Any) -> Any:
    raise AssertionError("it was computed too early")


FUNCTIONS: dict[str, Callable[[Array], Array]] = {
    "elementwise": lambda x: np.sin(x) * x**2 - 1 / (2 + x**2) + np.exp(-x) + np.tanh(x),
    "powers": lambda x: np.abs(x) ** 2.5 + np.sqrt(np.abs(x)) + np.power(2.0, x),
    "of two": lambda x: np.hypot(x, x[::-1]) + np.arctan2(x, 2.0) + np.logaddexp(x, 0),
    "broadcasting": lambda x: x * W + x[:, :1] + x[0],
    "np.sum": lambda x: np.sum(x**2, axis=0) * np.sum(x, axis=(0, 1), keepdims=True)[0],
    "np.mean": lambda x: x - np.mean(x, axis=0),
    "np.std": lambda x: np.std(x, axis=1) + np.var(x),
    "np.max": lambda x: np.max(x, axis=1) + np.min(x),
    "np.prod": lambda x: np.prod(x, axis=0),
    "np.cumsum": lambda x: np.cumsum(x, axis=0) ** 2,
    "np.linalg.norm": lambda x: np.linalg.norm(x) + np.linalg.norm(x, axis=1),
    "x.sum": lambda x: x.sum(axis=1) * x.mean() + x.max(),
    "x @ w": lambda x: x @ W,
    "w @ x": lambda x: np.ones(6) @ x,
    "x @ m": lambda x: np.tanh(x @ M),
    "x.T @ x": lambda x: x.T @ x,
    "np.dot": lambda x: np.dot(x, M) + np.dot(x, W)[:, None],
    "np.tensordot": lambda x: np.tensordot(x, x, (0, 0)) ** 3,
    "np.einsum": lambda x: np.einsum("ij,kj->ik", x, x) + np.einsum("ij,j->i", x, W),
    "np.outer": lambda x: np.outer(x[:, 0], x[0]),
    "a slice": lambda x: x[1:, 0] * x[:-1, 1],
    "a slice with steps": lambda x: x[::2] * x[1::2, ::-1],
    "an element": lambda x: x[1, 2] ** 2 + x[-1, 0],
    "np.newaxis": lambda x: x[:, np.newaxis] * x[np.newaxis, ..., :2].sum(),
    "a list": lambda x: x[[0, 2, 2]] ** 2,
    "two lists": lambda x: x[[0, 2], [1, 3]] ** 2,
    "a mask": lambda x: x[np.array([True, False] * 3)] ** 2,
    "np.take": lambda x: np.take(x, [0, 2, 2], axis=1) ** 2,
    "np.stack": lambda x: np.stack([x, 2 * x, X]) ** 2,
    "np.concatenate": lambda x: np.concatenate([x, x**2], axis=1) ** 2,
    "np.hstack": lambda x: np.hstack([x, x]) * np.vstack([x, x])[:6, :1],
    "np.where": lambda x: np.where(x > 0, np.log(np.where(x > 0, x, 1)), x**2),
    "np.clip": lambda x: np.clip(x, -0.5, 0.5) * x,
    "np.maximum": lambda x: np.maximum(x, 0.3) * np.minimum(x, x[::-1]),
    "np.transpose": lambda x: np.transpose(x) * W[:, None],
    "np.swapaxes": lambda x: np.swapaxes(x, 0, 1)[1],
    "np.reshape": lambda x: x.reshape(3, 8) ** 2 + np.ravel(x)[:8],
    "np.squeeze": lambda x: np.squeeze(np.expand_dims(x, 1), 1) ** 2,
    "np.broadcast_to": lambda x: np.broadcast_to(x[0], (3, 4)) ** 2,
    "np.flip": lambda x: np.flip(x, 0) * x,
    "np.roll": lambda x: np.roll(x, 1, 0) * x,
    "np.diff": lambda x: np.diff(x, axis=0) ** 2,
    "x.astype": lambda x: x.astype(np.float32) ** 2,
    "complex": lambda x: np.abs(x * np.exp(1j * x)) + np.real((x + 2j) ** 2),
    "activations": lambda x: nn.relu(x) + nn.sigmoid(x) + nn.gelu(x) + nn.softplus(x),
    "softmax": lambda x: nn.softmax(x, 1) + nn.log_softmax(x, 1) + nn.logsumexp(x),
    "a network": lambda x: nn.cross_entropy(nn.linear(x, M, W[:3]), np.tile(np.eye(3), (2, 1))),
    "np.zeros_like": lambda x: np.zeros_like(x) + x * np.ones_like(x),
}


def total(out: Array) -> Array:
    return np.sum(out * np.cos(np.arange(out.size)).reshape(out.shape))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_values_and_gradients_are_numpys(name: str) -> None:
    function = FUNCTIONS[name]
    record = ta.ComputationRecord()
    with dask.config.set(scheduler=never):
        handle = record.tensor(da.from_array(X, CHUNKS))
        out = function(handle)
        gradient = total(out).grad().wrt(handle)
    assert isinstance(out.data, da.Array)
    assert isinstance(gradient, da.Array)
    assert gradient.chunks == handle.data.chunks
    value, found = dask.compute(out.data, gradient, scheduler="synchronous")
    plain = ta.ComputationRecord().tensor(X)
    expected = function(plain)
    assert value.dtype == expected.dtype
    np.testing.assert_allclose(value, expected.data, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(found, total(expected).grad().wrt(plain), rtol=1e-6 if value.dtype == np.float32 else 1e-11, atol=1e-13)
