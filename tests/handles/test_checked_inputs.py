"""`ComputationRecord(check_inputs=True)`: arrays that are written to before the sweep."""

from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad.errors import (
    MutatedInputError,
)


def test_by_default_a_mutated_input_is_not_noticed() -> None:
    data = np.array([1.0, 2.0])
    rec: Any = ta.ComputationRecord()
    x = rec.tensor(data)
    y = np.sum(x * x)
    data[0] = 100.0
    assert y.grad().wrt(x)[0] == 200.0


def test_checked_inputs_that_did_not_change() -> None:
    rec: Any = ta.ComputationRecord(check_inputs=True)
    x = rec.tensor([1.0, np.nan])
    y = np.sum(np.sin(x) * np.array([2.0, 3.0]) + x[[0, 0]])
    first, second = y.grad().wrt(x), y.grad().wrt(x)
    np.testing.assert_array_equal(first, second)
    assert first[0] == 2 * np.cos(1.0) + 2


def test_a_mutated_leaf_is_detected() -> None:
    data = np.array([1.0, 2.0])
    rec: Any = ta.ComputationRecord(check_inputs=True)
    y = np.sum(np.sin(rec.tensor(data)))
    data[0] = 100.0
    with pytest.raises(MutatedInputError, match=r"shape \(2,\) was written to after node %1 \(sin"):
        y.grad()


def test_a_leaf_that_changes_before_its_first_use_is_nothing_wrong() -> None:
    data = np.array([1.0, 2.0])
    rec: Any = ta.ComputationRecord(check_inputs=True)
    x = rec.tensor(data)
    data[0] = 3.0
    np.testing.assert_array_equal(np.sum(x * x).grad().wrt(x), [6.0, 4.0])


def test_a_mutated_constant_is_detected() -> None:
    constant = np.array([1.0, 2.0])
    rec: Any = ta.ComputationRecord(check_inputs=True)
    y = np.sum(rec.tensor([3.0, 4.0]) * constant)
    constant *= 2
    with pytest.raises(MutatedInputError, match=r"node %1 \(multiply\)"):
        y.grad()


def test_a_mutated_operand_of_a_reduction_is_detected() -> None:
    data = np.ones((2, 3))
    rec: Any = ta.ComputationRecord(check_inputs=True)
    y = np.max(rec.tensor(data))
    data[0, 0] = 5.0
    with pytest.raises(MutatedInputError, match=r"shape \(2, 3\).*node %1 \(max\)"):
        y.grad()


def test_a_mutated_intermediate_is_detected() -> None:
    rec: Any = ta.ComputationRecord(check_inputs=True)
    y = np.sin(rec.tensor([1.0, 2.0]))
    z = np.sum(y * 2.0)
    y.data[0] = 7.0
    with pytest.raises(
        MutatedInputError, match=r"node %[12] \((sin|multiply)\), made at .* used it"
    ):
        z.grad()


def test_a_mutated_result_that_its_own_partial_holds_is_detected() -> None:
    rec: Any = ta.ComputationRecord(check_inputs=True)
    y = np.exp(rec.tensor([1.0, 2.0]))
    y.data[0] = 7.0
    with pytest.raises(MutatedInputError, match=r"node %1 \(exp\)"):
        y.grad(seed=np.ones(2))


def test_a_mutated_index_is_detected() -> None:
    places = np.array([0, 1])
    rec: Any = ta.ComputationRecord(check_inputs=True)
    y = rec.tensor([1.0, 2.0, 3.0])[places]
    places[0] = 2
    with pytest.raises(MutatedInputError, match=r"node %1 \(getitem\)"):
        y.grad(seed=np.ones(2))
