"""Sparse Hessians are the dense ones, and symmetric to the bit."""

from collections.abc import Callable
from typing import Any

import attrs
import numpy as np
import pytest

import tape_ad as ta
from tape_ad.errors import OutputError, PatternError
from tape_ad.sparse_derivatives.colouring import star_colors
from tape_ad.sparse_derivatives.jacobians import products_on_copies

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


@pytest.mark.parametrize("engine", ["", "numpy", "native"])
def test_springs_between_neighbours_on_a_grid_take_few_products(engine: str) -> None:
    numbers = np.arange(64).reshape(8, 8)
    pairs = [(numbers[1:], numbers[:-1]), (numbers[:, 1:], numbers[:, :-1])]
    one, other = (np.concatenate([pair[k].ravel() for pair in pairs]) for k in (0, 1))

    def energy(x: Array) -> Array:
        return np.sum((np.sqrt(np.sum((x[one] - x[other]) ** 2, axis=1)) - 1) ** 2)

    if engine == "native":
        pytest.importorskip("llvmlite")
    hessian = ta.sparse_hessian(energy)
    called = ta.compile(hessian, engine=engine) if engine else hessian
    rng = np.random.default_rng(0)
    for _ in range(5):
        x = rng.normal(size=(64, 2))
        found = called(x).toarray()
        dense = ta.hessian(energy)(x).reshape(128, 128)
        np.testing.assert_allclose(found, dense, atol=1e-12 * np.abs(dense).max())
        np.testing.assert_array_equal(found, found.T)
    assert hessian.colors == 4
    assert len(star_colors(hessian.pattern)) == 128
    assert star_colors(hessian.pattern).max() + 1 > 8


def test_an_entry_that_one_side_lacks_is_read_from_the_other() -> None:
    hessian: Any = ta.sparse_hessian(FUNCTIONS["a chain"])
    flat = hessian.traced((X,), {})
    found = hessian.found(flat)
    sides = found.on_copies.copy()
    rows = np.repeat(np.arange(6), np.diff(sides.indptr))
    sides.data = ~((rows == 0) & (found.sources[sides.indices] == 1))
    sides.eliminate_zeros()
    lacking = attrs.evolve(found, on_copies=sides)
    assert sides.nnz < found.on_copies.nnz
    entries = products_on_copies(lacking, np.arange(6)).entries(flat)
    dense = ta.hessian(FUNCTIONS["a chain"])(X)
    np.testing.assert_allclose(entries, dense[found.pattern.toarray()], rtol=1e-13)


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
