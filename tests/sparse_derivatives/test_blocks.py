"""Checkpoints and custom rules have the patterns of what they hold."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tape_ad as ta

Array = Any
X = np.array([0.3, -1.2, 2.0, 0.7, -0.4, 1.1])


def spread(x: Array, rate: Array = 0.1) -> Array:
    return x + rate * (np.roll(x, 1) - x)


def counted(state: dict[str, Any], rate: Array) -> dict[str, Any]:
    x = state["x"]
    return {"step": state["step"] + 1, "x": x + rate * x * state["y"][::-1], "y": state["y"]}


def sequence(x: Array) -> Array:
    start = {"step": 0, "x": x[:3], "y": x[3:]}
    return ta.checkpoint_sequential(counted, 2, start, x[0])["x"]


class Reverses:
    """A map that knows no pattern."""

    def push(self, t: Array) -> Array:
        return t[..., ::-1]

    pull = push


def by_partials(*maps: Any) -> Callable[..., Any]:
    return ta.custom_rule(partials=lambda out, *args: maps)


@by_partials(2.0, None)
def twice_the_first(x: Array, y: Array) -> Array:
    return 2 * x + np.sign(y)


@ta.custom_rule(partials=lambda out, x: Reverses())
def turned(x: Array) -> Array:
    return x[::-1].copy()


@ta.custom_rule(pull=lambda ct, out, x: 2 * x * ct, push=lambda t, out, x: 2 * x * t[0])
def square(x: Array) -> Array:
    return x**2


@ta.checkpoint
def several(p: dict[str, Array]) -> dict[str, Any]:
    return {"sine": np.sin(p["a"]), "length": len(p["a"]), "one": 3.0, "product": p["a"] * p["b"]}


def apart(x: Array) -> Array:
    found = several({"a": x[:3], "b": x[3:]})
    return np.concatenate([found["sine"], found["product"]])


FUNCTIONS: dict[str, tuple[Callable[[Array], Array], int]] = {
    "a checkpoint": (ta.checkpoint(np.sin), 6),
    "of neighbours": (ta.checkpoint(spread), 12),
    "of a sum": (lambda x: ta.checkpoint(np.sum)(x) * x[:2], 12),
    "in a checkpoint": (ta.checkpoint(lambda x: ta.checkpoint(np.sin)(2 * x)), 6),
    "one after another": (lambda x: ta.checkpoint(spread)(ta.checkpoint(spread)(x)), 18),
    "a tree": (apart, 9),
    "what depends on nothing": (ta.checkpoint(lambda x: np.sign(x) * 2.0), 0),
    "a sequence": (lambda x: ta.checkpoint_sequential(spread, 3, x, 0.2), 24),
    "a sequence of trees": (sequence, 8),
    "partials": (lambda x: twice_the_first(x, x[::-1]), 6),
    "a map without a pattern": (turned, 36),
    "a pull": (square, 36),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_blocks_are_looked_into(name: str) -> None:
    f, entries = FUNCTIONS[name]
    jacobian = ta.sparse_jacobian(f, check=True)
    for x in (X, X[::-1].copy()):
        np.testing.assert_allclose(jacobian(x).toarray(), ta.jacobian(f)(x), atol=1e-14)
    assert jacobian.pattern.nnz == entries
    compiled = ta.compile(ta.sparse_jacobian(f))
    for x in (X, X[::-1].copy(), X, 2 * X):
        np.testing.assert_allclose(compiled(x).toarray(), ta.jacobian(f)(x), atol=1e-14)


def test_a_branch_within_a_block_is_noticed() -> None:
    @ta.checkpoint
    def f(x: Array) -> Array:
        return x**2 if x[0] > 0 else x * x[int(np.argmax(x))]

    jacobian = ta.sparse_jacobian(f)
    for x in (X, -X, np.array([-1.0, 4, 3, 0, 0, 0])):
        np.testing.assert_allclose(jacobian(x).toarray(), ta.jacobian(f)(x), atol=1e-14)
    assert len(set(np.diff(jacobian.pattern.indptr))) == 2


def test_hessians_look_into_blocks() -> None:
    def f(x: Array) -> Array:
        return np.sum(ta.checkpoint(lambda x: x[1:] ** 2 * x[:-1])(x))

    hessian = ta.sparse_hessian(f, check=True)
    np.testing.assert_allclose(hessian(X).toarray(), ta.hessian(f)(X), atol=1e-14)
    assert hessian.pattern.nnz == 15  # the first is in no square
    assert hessian.colors == 3


def test_a_function_runs_once_more_for_its_pattern_and_says_nothing() -> None:
    calls = []

    @ta.checkpoint
    def f(x: Array) -> Array:
        calls.append(1)
        return np.log(x)

    with np.errstate(divide="ignore"):
        found = ta.sparsity(f)(np.zeros(3))
    assert found.nnz == 3
    assert len(calls) == 2
