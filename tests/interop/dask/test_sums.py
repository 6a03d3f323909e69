"""Sums over partitions: their order depends on the number of partitions alone."""

import numpy as np
import pytest

pytest.importorskip("distributed")

from tape_ad.interop.dask.adding import Failure, Sum, Summing, added

ODD_COUNTS = [1, 2, 3, 5, 8, 13, 64, 100]


def sums(count: int) -> list[Sum]:
    """Numbers whose sum depends on the order of additions."""
    rng = np.random.default_rng(count)
    values = rng.normal(size=count) * 10.0 ** rng.integers(-8, 8, size=count)
    return [
        Sum(i, i + 1, 1, 1.0, value, np.dtype(float), [np.array([value, -value / 3])])
        for i, value in enumerate(values)
    ]


def tree(values: list[float]) -> float:
    """The tree as it is described."""
    if len(values) == 1:
        return values[0]
    left = 1 << ((len(values) - 1).bit_length() - 1)
    return tree(values[:left]) + tree(values[left:])


@pytest.mark.parametrize("count", ODD_COUNTS)
def test_the_tree_is_the_one_described(count: int) -> None:
    total = added(sums(count))
    assert total.value == tree([one.value for one in sums(count)])
    assert (total.first, total.stop, total.rows) == (0, count, count)


@pytest.mark.parametrize("count", ODD_COUNTS)
@pytest.mark.parametrize("size", [1, 2, 4, 32])
def test_blocks_of_any_power_of_two_give_the_same_bits(count: int, size: int) -> None:
    ones = sums(count)
    blocks = [added(ones[i : i + size]) for i in range(0, count, size)]
    whole = added(ones)
    total = added(blocks)
    assert whole.slopes is not None
    assert total.slopes is not None
    assert total.value == whole.value
    assert total.slopes[0].tobytes() == whole.slopes[0].tobytes()


def test_few_sums_are_in_memory_at_a_time() -> None:
    summing = Summing()
    for one in sums(100):
        summing.add(one)
        assert len(summing.sums) <= 7


def test_a_partition_counted_twice_or_never_is_an_error() -> None:
    ones = sums(4)
    for wrong in ([ones[0], ones[0]], [ones[0], ones[2]], [ones[1], ones[0]]):
        with pytest.raises(RuntimeError, match="lost or counted twice"):
            added(wrong)


def test_the_first_failure_is_what_remains() -> None:
    failures = [
        Sum(i, i + 1, failure=Failure(i, "reading", None, "") if i in {2, 5} else None)
        for i in range(7)
    ]
    total = added(failures)
    assert total.failure is not None
    assert total.failure.partition == 2
    assert (total.first, total.stop) == (0, 7)
