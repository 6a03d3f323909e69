"""Random generators, which draw for each of a batch."""

import copy
from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad.errors import BatchWarning
from tests.batching.cases import Array, X


def noise(x: Array, rng: Any) -> Array:
    return x + rng.normal(size=3) * rng.uniform(x[0], x[0] + 1.0)


@pytest.mark.parametrize("batch_size", [None, 2])
def test_a_random_generator_draws_for_each_by_itself(batch_size: int | None) -> None:
    found = ta.batched(noise, batch_size=batch_size)(X, np.random.default_rng(7))
    children = np.random.default_rng(7).spawn(5)
    np.testing.assert_array_equal(
        found, [noise(x, rng) for x, rng in zip(X, children, strict=True)]
    )


def test_a_random_generator_in_nested_batches_and_by_name() -> None:
    def inner(x: Array, *, rng: Any) -> Array:
        return ta.batched(lambda number, rng: number * rng.normal())(x, rng)

    found = ta.batched(inner)(X, rng=np.random.default_rng(7))
    expected = [
        [number * rng.normal() for number, rng in zip(x, own.spawn(3), strict=True)]
        for x, own in zip(X, np.random.default_rng(7).spawn(5), strict=True)
    ]
    np.testing.assert_array_equal(found, expected)


def test_a_random_generator_begins_again_where_one_comes_after_the_other() -> None:
    def f(x: Array, rng: Any) -> Array:
        drawn = rng.normal(size=1)
        return ta.scipy.optimize.root(lambda z: z**3 - x[0], np.ones(1), method="lm").x + drawn

    with pytest.warns(BatchWarning):
        found = ta.batched(f)(X, np.random.default_rng(7))
    children = np.random.default_rng(7).spawn(5)
    np.testing.assert_array_equal(found, [f(x, rng) for x, rng in zip(X, children, strict=True)])


def test_a_random_generator_that_is_the_same_for_each_draws_once() -> None:
    shared = ta.batched(lambda x, rng: x + rng.normal(size=3), (0, None))
    found = shared(0 * X, np.random.default_rng(7))
    np.testing.assert_array_equal(found, np.broadcast_to(found[0], (5, 3)))


def test_gradients_with_random_generators() -> None:
    def loss(x: Array, rng: Any) -> Array:
        return np.sum(x**2 * rng.normal(size=3))

    found = ta.batched(ta.grad(loss))(X, np.random.default_rng(7))
    children = np.random.default_rng(7).spawn(5)
    expected = [ta.grad(loss)(x, rng) for x, rng in zip(X, children, strict=True)]
    np.testing.assert_allclose(found, expected, rtol=1e-14)


def shuffled(x: Array, rng: np.random.Generator) -> Array:
    order = np.arange(4)
    rng.shuffle(order)
    return x[order]


def into_buffer(x: Array, rng: np.random.Generator) -> Array:
    return x + rng.random(out=np.empty(4))


def from_any_seed(x: Array, rng: np.random.Generator) -> Array:
    return x + np.random.default_rng(rng).normal() + copy.deepcopy(rng).random()


@pytest.mark.filterwarnings("ignore::tape_ad.errors.BatchWarning")
@pytest.mark.parametrize("draw", [shuffled, into_buffer, from_any_seed])
def test_a_generator_in_a_batch_is_used_as_any(draw: Any) -> None:
    xs = np.arange(12.0).reshape(3, 4)
    found = ta.batched(draw)(xs, np.random.default_rng(1))
    each = zip(xs, np.random.default_rng(1).spawn(3), strict=True)
    assert found.tolist() == [draw(x, rng).tolist() for x, rng in each]
