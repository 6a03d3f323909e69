"""Mini-batches: every sample once an epoch, and what belongs together stays together."""

from typing import Any

import numpy as np
import pytest

from tape_ad.errors import ShapeError
from tape_ad.training import batches


def test_every_sample_comes_once_an_epoch_with_what_belongs_to_it() -> None:
    x = np.arange(20.0).reshape(10, 2)
    made = batches(x, np.arange(10), size=4, rng=np.random.default_rng(0))
    for _ in range(2):
        parts = list(made)
        assert [len(y) for _, y in parts] == [4, 4, 2]
        assert sorted(np.concatenate([y for _, y in parts])) == list(range(10))
        for part, y in parts:
            np.testing.assert_array_equal(part[:, 0], 2 * y)


def test_an_epoch_has_an_order_of_its_own_and_the_seed_decides_it() -> None:
    def orders(seed: int) -> list[list[int]]:
        made = batches(np.arange(50), np.arange(50), size=50, rng=np.random.default_rng(seed))
        return [next(iter(made))[0].tolist() for _ in range(3)]

    assert orders(0) == orders(0)
    assert orders(0) != orders(1)
    first, second, third = orders(0)
    assert first != second != third


def test_the_order_is_drawn_when_the_iteration_begins() -> None:
    rng, untouched = np.random.default_rng(0), np.random.default_rng(0)
    made = batches(np.arange(5), np.arange(5), size=2, rng=rng)
    epoch = iter(made)
    assert rng.bit_generator.state == untouched.bit_generator.state
    next(epoch)
    untouched.permutation(5)
    assert rng.bit_generator.state == untouched.bit_generator.state


def test_without_a_generator_the_batches_are_views_in_order() -> None:
    x, y = np.arange(5.0), np.arange(5)
    parts = list(batches(x, y, size=3))
    assert [part.tolist() for part, _ in parts] == [[0, 1, 2], [3, 4]]
    assert all(np.shares_memory(part, x) for part, _ in parts)


@pytest.mark.parametrize(("n", "size", "count"), [(10, 4, 3), (8, 4, 2), (3, 100, 1), (0, 4, 0)])
def test_the_number_of_batches(n: int, size: int, count: int) -> None:
    made = batches(np.zeros((n, 2)), np.zeros(n), size=size)
    assert len(made) == len(list(made)) == count


def test_what_is_refused() -> None:
    with pytest.raises(ShapeError) as raised:
        batches(np.zeros((3, 2)), np.zeros(4), size=2)
    assert str(raised.value) == (
        "batches: arrays of shapes (3, 2), (4,) do not have the same number of samples, "
        "which is the length of their first axis"
    )
    with pytest.raises(ShapeError):
        batches(np.array(3.0), np.array(4.0), size=2)
    with pytest.raises(ValueError, match=r"^batches: size must be at least 1, got 0$"):
        batches(np.zeros(3), np.zeros(3), size=0)


def test_any_number_of_arrays() -> None:
    x, weights = np.arange(5.0), np.ones((5, 2))
    assert [part.tolist() for part in batches(x, size=3)] == [[0, 1, 2], [3, 4]]
    shapes = [[part.shape for part in parts] for parts in batches(x, x, weights, size=3)]
    assert shapes == [[(3,), (3,), (3, 2)], [(2,), (2,), (2, 2)]]


@pytest.mark.parametrize(
    ("options", "words"),
    [({}, r"batches\(x, y, size=64\)"), ({"batch_size": 4}, r"'batch_size'; here, size=")],
)
def test_what_to_write_of_the_size(options: dict[str, int], words: str) -> None:
    made: Any = batches
    with pytest.raises(TypeError, match=words):
        made(np.zeros(3), np.zeros(3), **options)
    with pytest.raises(TypeError, match=r"batches\(x, y, size=64\)"):
        made(np.zeros(64), np.zeros(64), 64)
