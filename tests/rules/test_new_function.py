"""A function that is new is one rule with its facts, as another package writes it down.

It is told nobody else: batching, Dask, the compiler and sparse derivatives read the facts.
"""

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad.extend import facts, rules

Array = Any


@rules.overridable
def bent(x: Array) -> Array:
    """Compute x / (1 + abs(x))."""
    return x / (1 + np.abs(x))


@rules.overridable
def kept(x: Array) -> Array:
    """Keep the elements above 0."""
    return np.asarray(x)[np.asarray(x) > 0]


@rules.overridable
def checked(x: Array) -> Array:
    """Refuse numbers below 0."""
    if np.any(np.asarray(x) < 0):
        raise ValueError("a number is below 0")
    return x


TABLE: dict[Any, rules.Entry] = {
    checked: rules.Constant(),
    kept: rules.Constant(facts.SHAPED_BY_VALUES),
    bent: rules.rule(
        lambda out, x: 1 / (1 + np.abs(x)) ** 2,
        signature=rules.arguments_of(bent, "x"),
        facts=facts.ELEMENTWISE,
    ),
}


@pytest.fixture(autouse=True, scope="module")
def added() -> Iterator[None]:
    rules.add_rules(TABLE)
    yield
    for function in TABLE:
        del rules.RULES[function]  # other tests ask for a row for each function in it


X = np.array([[0.5, -1.5, 2.0], [-0.25, 3.0, 1.0]])


def loss(x: Array) -> Array:
    return np.sum(bent(x) ** 2)


def slope(x: Array) -> Array:
    return 2 * x / (1 + np.abs(x)) ** 3


def test_it_has_derivatives() -> None:
    np.testing.assert_allclose(ta.grad(loss)(X), slope(X))
    second = ta.grad(lambda x: np.sum(ta.grad(loss)(x)))(X)
    np.testing.assert_allclose(second, (2 - 4 * np.abs(X)) / (1 + np.abs(X)) ** 4)


def test_it_is_checked_as_any_other() -> None:
    ta.testing.check_grads(bent, (X,), order=2)
    np.testing.assert_allclose(ta.jvp(lambda x: bent(x=x), (X,), (X,))[1], X / (1 + np.abs(X)) ** 2)
    np.testing.assert_array_equal(bent(X), X / (1 + np.abs(X)))


def test_it_is_batched_at_once() -> None:
    batched = ta.batched(ta.grad(loss))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = batched(X)
    np.testing.assert_allclose(found, slope(X))
    assert "at once" in batched.explain()


def test_it_takes_dask_arrays() -> None:
    da = pytest.importorskip("dask.array")
    found = ta.grad(loss)(da.from_array(X, chunks=(1, 2)))
    np.testing.assert_allclose(np.asarray(found), slope(X))


@pytest.mark.parametrize("engine", ["numpy", "native"])
def test_it_is_compiled(engine: Any) -> None:
    if engine == "native":
        pytest.importorskip("llvmlite")
    fast = ta.compile(ta.grad(loss), engine=engine)
    for scale in (1.0, 2.0, 3.0):
        np.testing.assert_allclose(fast(scale * X), slope(scale * X))
    assert len(fast.programs) == 1


def test_its_jacobian_is_sparse() -> None:
    pattern = ta.sparsity(bent)(X[0])
    np.testing.assert_array_equal(pattern.toarray(), np.eye(3, dtype=bool))


def test_a_program_looks_at_a_shape_that_depends_on_values() -> None:
    fast = ta.compile(lambda x: np.sum(x) * kept(x).size, engine="numpy")
    for x in (X, 2 * X, -X, X, -X):
        np.testing.assert_allclose(fast(x), np.sum(x) * np.sum(x > 0))


def test_a_program_keeps_a_call_that_is_a_check() -> None:
    def sum_of_checked(x: Array) -> Array:
        checked(x)
        return np.sum(x)

    fast = ta.compile(sum_of_checked, engine="numpy")
    for scale in (1.0, 2.0, 3.0):
        fast(scale * np.abs(X))
    with pytest.raises(ValueError, match="a number is below 0"):
        fast(X)
