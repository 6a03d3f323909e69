"""Bounds of `minimize` in the structure of what they bound."""

from typing import Any

import attrs
import numpy as np
import pytest

import tape_ad as ta
from tape_ad.scipy.optimize import minimize

pytest.importorskip("scipy.optimize")

P = {"a": np.array(0.0), "b": np.zeros((1, 2))}


@attrs.frozen
class Pair:
    a: Any
    b: Any


def far(p: Any) -> Any:
    return (p["a"] - 3.0) ** 2 + np.sum((p["b"] - 2.0) ** 2)


ROW = [(None, 1.0), (0.0, 0.5), (0.0, 1.5)]


@pytest.mark.parametrize(
    "bounds",
    [
        {"a": (None, 1.0), "b": (0.0, np.array([[0.5, 1.5]]))},
        {"b": [[[0.0, 0.0]], [[0.5, 1.5]]], "a": [None, 1.0]},
    ],
)
@pytest.mark.parametrize("method", ["L-BFGS-B", "SLSQP", "trust-constr"])
def test_a_tree_of_bounds_is_as_a_row_of_them(bounds: Any, method: str) -> None:
    found, expected = (minimize(far, P, method, bounds=each).x for each in (bounds, ROW))
    for name in P:
        np.testing.assert_array_equal(found[name], expected[name])
    assert np.all(found["b"] <= [[0.5, 1.5]])


def test_none_bounds_nothing() -> None:
    found = minimize(far, P, bounds={"a": None, "b": (None, 1.0)}).x
    np.testing.assert_allclose([found["a"], *found["b"].ravel()], [3.0, 1.0, 1.0], atol=1e-5)


def test_a_class_has_bounds_in_a_class() -> None:
    found = minimize(
        lambda p: (p.a - 3.0) ** 2 + np.sum((p.b - 2.0) ** 2),
        Pair(np.array(0.0), np.zeros(2)),
        bounds=Pair((0.0, 1.0), (0.0, [0.5, 1.5])),
    ).x
    np.testing.assert_allclose([found.a, *found.b], [1.0, 0.5, 1.5])


def test_bounds_in_a_tree_may_be_handles() -> None:
    def best(limit: Any) -> Any:
        found = minimize(far, P, bounds={"a": (None, 1.0), "b": (None, limit)}).x
        return np.sum(found["b"] * np.array([2.0, 5.0]))

    np.testing.assert_allclose(ta.grad(best)(np.array([0.5, 1.0])), [2.0, 5.0])


@pytest.mark.parametrize(
    ("bounds", "words"),
    [
        ({"a": (0.0, 1.0)}, r"leaves at \['b'\] missing"),
        ({"a": (0.0, 1.0), "b": None, "c": None}, r"leaves at \['c'\] not expected"),
        ({"a": 1.0, "b": None}, r"the bounds of \['a'\] are 1\.0; write a pair"),
        ({"a": (0.0, 1.0, 2.0), "b": None}, r"write a pair \(lower, upper\)"),
        (({"a": 0.0, "b": 0.0}, {"a": 1.0, "b": 1.0}), "are one tree, with a pair"),
        ({"a": (0.0, 1.0), "b": (0.0, np.ones(3))}, r"\['b'\] has shape \(3,\), .* to \(1, 2\)"),
    ],
)
def test_bounds_of_another_structure_are_refused(bounds: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        minimize(far, P, bounds=bounds)
