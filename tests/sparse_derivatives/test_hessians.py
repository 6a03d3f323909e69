"""Sparse Hessians are the dense ones, and symmetric to the bit."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad.errors import OutputError, PatternError

Array = Any
X = np.array([0.3, -1.2, 2.0, 0.7, -0.4, 1.1])

FUNCTIONS: dict[str, Callable[[Array], Array]] = {
    "apart": lambda x: np.sum(np.sin(x) * x),
    "a chain": lambda x: np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2),
    "pairs": lambda x: np.sum(100 * (x[1::2] - x[::2] ** 2) ** 2),
    "one with all": lambda x: np.sum(x[0] * x[1:] ** 2),
    "all with all": lambda x: np.sum(x) ** 3,
    "linear": lambda x: np.sum(2 * x),
    "constant": lambda x: 3.0 + 0 * x[0],
    "two by two": lambda x: np.sum(np.prod(x.reshape(3, 2), axis=1) ** 2),
    "a sum of logarithms": lambda x: np.log(np.sum(np.exp(x[:3]))) + np.sum(x[3:] ** 4),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_sparse_hessian_is_the_dense_one(name: str) -> None:
    f = FUNCTIONS[name]
    hessian = ta.sparse_hessian(f, check=True)
    for x in (X, X[::-1].copy()):
        found = hessian(x).toarray()
        np.testing.assert_allclose(found, ta.hessian(f)(x), rtol=1e-13, atol=1e-13)
        np.testing.assert_array_equal(found, found.T)


@pytest.mark.parametrize(
    ("name", "colors"), [("apart", 1), ("a chain", 3), ("pairs", 2), ("one with all", 2)]
)
def test_colours_are_few(name: str, colors: int) -> None:
    hessian = ta.sparse_hessian(FUNCTIONS[name])
    hessian(X)
    assert hessian.colors == colors


def test_one_side_of_a_pattern_is_enough() -> None:
    hessian = ta.sparse_hessian(FUNCTIONS["a chain"], pattern=np.eye(6) + np.eye(6, k=1))
    np.testing.assert_allclose(
        hessian(X).toarray(), ta.hessian(FUNCTIONS["a chain"])(X), rtol=1e-13
    )


def test_a_missing_entry_is_named() -> None:
    hessian = ta.sparse_hessian(FUNCTIONS["a chain"], pattern=np.eye(6), check=True)
    with pytest.raises(PatternError, match="no entry"):
        hessian(X)


def test_trees() -> None:
    def f(p: dict[str, Array]) -> Array:
        return np.sum(p["a"] ** 2 * p["b"][:, None])

    p = {"a": np.arange(6.0).reshape(2, 3), "b": np.array([1.0, 2.0])}
    found = ta.sparse_hessian(f)(p).toarray()
    assert found.shape == (8, 8)
    np.testing.assert_array_equal(np.diag(found), [2, 2, 2, 4, 4, 4, 0, 0])
    np.testing.assert_array_equal(found[6], [0, 2, 4, 0, 0, 0, 0, 0])


def test_one_number_is_asked_for() -> None:
    with pytest.raises(OutputError):
        ta.sparse_hessian(np.sin)(X)


def test_a_rule_of_ones_own_has_all_depend_on_all() -> None:
    square = ta.custom_rule(pull=lambda ct, out, x: 2 * x * ct)(lambda x: x**2)
    found = ta.sparse_jacobian(square, mode="reverse")
    np.testing.assert_array_equal(found(X).toarray(), np.diag(2 * X))
    assert found.colors == 6
