"""PyTorch's arrays beside handles: they are taken for the numbers that they hold."""

from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tests.oracle.oracles import oracle

torch: Any = oracle("torch")

A = np.array([1.0, -2.0, 3.0])
B = np.array([1.0, 2.0, 2.0])
T = torch.tensor(B)


def cubes(x: Any) -> Any:
    return x**3


@pytest.mark.parametrize(
    "compare",
    [
        *(np.less, np.greater_equal, np.equal, np.not_equal, np.logical_and, np.logical_xor),
        *(lambda x, y: x < y, lambda x, y: y < x, lambda x, y: x == y, lambda x, y: x != y),
    ],
)
def test_comparisons_give_bools_that_choose_elements(compare: Any) -> None:
    x = ta.ComputationRecord().tensor(A)
    expected = compare(A, B)
    found = compare(x, T)
    assert type(found) is np.ndarray
    assert found.dtype == np.bool_
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(np.sum(x[found]).grad().wrt(x), expected)


@pytest.mark.parametrize(
    "compare",
    [lambda x, y: x < y, lambda x, y: y < x, lambda x, y: x == y, lambda x, y: x != y],
)
def test_comparisons_in_batches(compare: Any) -> None:
    batched = ta.batched(lambda x: compare(x, T))
    np.testing.assert_array_equal(batched(np.stack([A, B])), [compare(A, B), compare(B, B)])


@pytest.mark.parametrize(
    "function",
    [
        lambda b: np.sum(cubes(x := ta.ComputationRecord().tensor(A)) * b).grad().wrt(x),
        lambda b: cubes(x := ta.ComputationRecord().tensor(A)).grad(b).wrt(x),
        lambda b: ta.jvp(cubes, (A,), (b,))[1],
        lambda b: ta.vjp(cubes, A)[1](b)[0],
        ta.batched(cubes),
        lambda b: ta.grad(ta.nn.mse_loss)(A, b),
        lambda b: ta.grad(ta.nn.huber_loss)(b, A),
        lambda b: ta.grad(ta.nn.cross_entropy)(A, b / 5),
    ],
)
def test_they_are_numbers_as_data_seeds_tangents_and_targets(function: Any) -> None:
    found = function(T)
    np.testing.assert_array_equal(np.asarray(found), function(B))


def test_class_numbers_of_a_data_loader() -> None:
    labels = np.array([2, 0])
    logits = np.array([[1.0, 2.0, 3.0], [0.5, 0.0, 1.0]])
    np.testing.assert_array_equal(
        ta.grad(ta.nn.cross_entropy)(logits, torch.tensor(labels)),
        ta.grad(ta.nn.cross_entropy)(logits, labels),
    )
