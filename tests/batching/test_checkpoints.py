"""Checkpoints in a batch."""

import warnings
from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad.errors import BatchWarning
from tests.batching.cases import Array, X, same


@pytest.mark.parametrize("size", [4, 40])
def test_gradients_of_checkpoints_in_a_batch(size: int) -> None:
    x = np.random.default_rng(0).random((3, size))

    @ta.checkpoint
    def loss(z: Any) -> Any:
        return np.sum(np.sin(z) * z)

    batched = ta.batched(ta.grad(loss))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BatchWarning)
        found = batched(x)
    np.testing.assert_allclose(found, np.sin(x) + x * np.cos(x))


def remembered(x: Array, t: dict[str, Array], *, scale: float) -> dict[str, Array]:
    return {"sum": np.sum(np.sin(x) * x) * scale, "rows": t["w"] * x}


def loss_of_checkpoint(x: Array, t: dict[str, Array]) -> Array:
    out = ta.checkpoint(remembered)(x, t, scale=2.0)
    return out["sum"] ** 2 + np.sum(out["rows"] ** 2)


def loss_without_checkpoint(x: Array, t: dict[str, Array]) -> Array:
    out = remembered(x, t, scale=2.0)
    return out["sum"] ** 2 + np.sum(out["rows"] ** 2)


def test_a_checkpoint_is_batched_at_once_in_every_order() -> None:
    t = {"w": np.array([0.5, -1.0, 2.0])}
    for transform in (ta.grad, ta.hessian):
        found = ta.batched(transform(loss_of_checkpoint), (0, None))
        same(found(X, t), [transform(loss_without_checkpoint)(x, t) for x in X])
        assert found.looped == {}


def wave_of_both(x: Array, b: Array) -> Array:
    return np.sum(np.sin(x * b) * b)


BESIDE: dict[str, Any] = {
    "checkpoint": lambda x, b: ta.checkpoint(wave_of_both)(x, b) ** 2,
    "by keyword": lambda x, b: ta.checkpoint(wave_of_both)(b=b, x=x),
    "checkpoint_sequential": lambda x, b: np.sum(
        ta.checkpoint_sequential(lambda state, b: np.sin(state * b), 5, x, b, slots=2)
    ),
}


@pytest.mark.parametrize("argnums", [0, 1])
@pytest.mark.parametrize("name", BESIDE)
def test_what_a_checkpoint_is_not_differentiated_by_may_be_one_of_a_batch(
    name: str, argnums: int
) -> None:
    def twice(x: Array, b: Array) -> Array:
        return np.sum(ta.grad(BESIDE[name], argnums)(x, b) ** 2)

    def pushed(x: Array, b: Array) -> Array:
        return ta.jvp(lambda x: BESIDE[name](x, b), (x,), (b,))[1]

    other = np.cos(X) + 0.5
    for function in (ta.grad(BESIDE[name], argnums), ta.grad(twice, 1), pushed):
        found = ta.batched(function)(X, other)
        same(found, [function(x, b) for x, b in zip(X, other, strict=True)])


def test_a_batch_of_a_checkpoint_is_one_node() -> None:
    def wave(x: Array) -> Array:
        return np.sin(np.cos(np.exp(x)))

    record = ta.ComputationRecord()
    handle = record.tensor(X)
    out = ta.batched(ta.checkpoint(wave))(handle)
    assert len(record) == 2
    slope = -np.exp(X) * np.sin(np.exp(X)) * np.cos(np.cos(np.exp(X)))
    np.testing.assert_allclose(np.sum(out).grad().wrt(handle), slope, rtol=1e-12)
