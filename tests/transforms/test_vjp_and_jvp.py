"""vjp, jvp and linearize: products with a function's Jacobian, of trees and of stacks."""

import tracemalloc
from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad.errors import SeedError

X = np.array([0.5, -1.5, 2.0])


# vjp


def test_vjp_of_trees() -> None:
    def f(p: Any, y: Any) -> Any:
        return {"product": p["x"] * y, "rest": (p["x"] + y, 7, None)}

    out, pull = ta.vjp(f, {"x": X}, 2.0)
    np.testing.assert_array_equal(out["product"], 2 * X)
    assert out["rest"][1:] == (7, None)
    cts = {"product": np.ones(3), "rest": (10 * np.ones(3), None, None)}
    for _ in range(2):  # any number of times
        p, y = pull(cts)
        np.testing.assert_array_equal(p["x"], [12.0, 12.0, 12.0])
        np.testing.assert_array_equal(y, np.sum(X) + 30)


def test_other_things_in_a_structure_stay_as_they_are() -> None:
    def f(x: Any) -> Any:
        return {"y": x * 2, "name": "y", "flag": True}

    out, pull = ta.vjp(f, X)
    assert (out["name"], out["flag"]) == ("y", True)
    np.testing.assert_array_equal(pull({"y": X, "name": None, "flag": None})[0], 2 * X)
    np.testing.assert_array_equal(pull(out)[0], 4 * X)
    assert ta.jvp(f, (X,), (X,))[1]["name"] == "y"
    assert ta.jacobian(f)(X)["name"] == "y"
    nested = ta.hessian(lambda p: p["a"] ** 3)({"a": 2.0, "name": "p"})
    assert nested == {"a": {"a": 12.0, "name": "p"}, "name": "p"}


def test_vjp_with_a_part_of_the_output_left_out() -> None:
    _, pull = ta.vjp(lambda x: (x * 2, x * 3), 1.0)
    assert pull((None, 1.0)) == (3.0,)
    assert pull((None, None)) == (0.0,)


def test_vjp_of_the_same_handle_twice_in_the_output() -> None:
    _, pull = ta.vjp(lambda x: [x, x, x * x, x], 3.0)
    assert pull([1.0, 10.0, 100.0, 1000.0]) == (1 + 10 + 600 + 1000,)


def test_vjp_with_stacked_cotangents() -> None:
    _, pull = ta.vjp(lambda x: (x**2, np.sum(x)), X)
    cts = (np.eye(3)[:2], np.array([0.0, 5.0]))
    np.testing.assert_array_equal(pull(cts)[0], [[1.0, 0, 0], [5.0, 2.0, 5.0]])


def test_a_cotangent_is_copied_and_not_handed_out() -> None:
    _, pull = ta.vjp(lambda x: x, X)
    ct = np.ones(3)
    (pulled,) = pull(ct)
    ct[:] = 9
    np.testing.assert_array_equal(pulled, np.ones(3))


@pytest.mark.parametrize(
    ("ct", "message"),
    [
        (np.ones(2), r"the cotangent of the output has shape \(2,\); it must be \(3,\)"),
        (1j * np.ones(3), "has dtype complex128, which does not fit float64"),
        (np.array(["a", "b", "c"]), "has dtype <U1"),
        ([1.0, 1.0, 1.0], r"leaves at \[0\], \[1\], \[2\] instead of one array"),
    ],
)
def test_a_cotangent_that_does_not_fit(ct: Any, message: str) -> None:
    _, pull = ta.vjp(np.sin, X)
    with pytest.raises(SeedError, match=message):
        pull(ct)


def test_stacks_that_differ() -> None:
    _, pull = ta.vjp(lambda x: (x, 2 * x), 1.0)
    with pytest.raises(SeedError, match=r"output\[1\] has shape \(3,\); it must be \(\) behind"):
        pull((np.ones(2), np.ones(3)))


# Keys in another order

PARAMS = {"a": 2.0, "inner": {"c": 3.0, "d": 5.0}, "b": 7.0}
OTHER_ORDER = {"inner": {"d": 100.0, "c": 10.0}, "b": 1000.0, "a": 1.0}


def weighted(p: Any) -> Any:
    return p["a"] + 2 * p["inner"]["c"] + 3 * p["inner"]["d"] + 4 * p["b"]


def test_tangents_are_paired_by_key_at_every_level() -> None:
    assert ta.jvp(weighted, (PARAMS,), (OTHER_ORDER,))[1] == 1 + 20 + 300 + 4000
    assert ta.linearize(weighted, PARAMS)[1](OTHER_ORDER) == 1 + 20 + 300 + 4000
    square = ta.hvp(lambda p: weighted(p) ** 2 / 2, PARAMS, OTHER_ORDER)
    assert square == {"a": 4321.0, "inner": {"c": 8642.0, "d": 12963.0}, "b": 17284.0}


def test_cotangents_are_paired_by_key_at_every_level() -> None:
    _, pull = ta.vjp(lambda x: {"y": x, "rest": [{"u": 2 * x, "v": 3 * x}]}, 1.0)
    assert pull({"rest": [{"v": 100.0, "u": 10.0}], "y": 1.0}) == (1 + 20 + 300,)


@pytest.mark.parametrize(
    ("ct", "message"),
    [
        ({"u": 1.0}, r"than they need: leaves at \['v'\] missing$"),
        ({"u": 1.0, "v": 1.0, "w": 1.0}, r"than they need: leaves at \['w'\] not expected$"),
        ({"w": 1.0, "u": 1.0}, r"leaves at \['v'\] missing and leaves at \['w'\] not expected$"),
        ({}, r"than they need: leaves at \['u'\], \['v'\] missing$"),
        (1.0, r"than they need: one array instead of leaves at \['u'\], \['v'\]$"),
        ({"v": (1.0,), "u": 1.0}, r"\['v'\] missing and leaves at \['v'\]\[0\] not expected$"),
    ],
)
def test_keys_that_differ_are_named(ct: Any, message: str) -> None:
    _, pull = ta.vjp(lambda x: {"u": x, "v": x}, 1.0)
    with pytest.raises(SeedError, match=message):
        pull(ct)


# jvp and linearize


def test_jvp_of_trees() -> None:
    out, tangent = ta.jvp(
        lambda p, y: [p["x"] * y, np.sum(p["x"]), 3, None],
        ({"x": X}, 2.0),
        ({"x": np.ones(3)}, 10.0),
    )
    np.testing.assert_array_equal(out[0], 2 * X)
    np.testing.assert_array_equal(tangent[0], 2 + 10 * X)
    assert tangent[1:] == [3.0, 0.0, None]


def test_jvp_with_stacked_tangents_and_a_zero() -> None:
    _, tangent = ta.jvp(lambda x, y: x * y, (X, 2.0), (np.eye(3), None))
    np.testing.assert_array_equal(tangent, 2 * np.eye(3))
    _, tangent = ta.jvp(lambda x, y: np.ones(4), (X, 2.0), (np.eye(3), None))
    np.testing.assert_array_equal(tangent, np.zeros((3, 4)))


def test_jvp_takes_tuples() -> None:
    with pytest.raises(TypeError, match=r"jvp\(f, \(x,\), \(t,\)\)"):
        ta.jvp(np.sin, X, X)
    with pytest.raises(SeedError, match=r"tangents for np\.sin have another structure"):
        ta.jvp(np.sin, (X,), (X, X))
    with pytest.raises(SeedError, match=r"the tangent of the argument \[0\] has shape \(2,\)"):
        ta.jvp(np.sin, (X,), (X[:2],))


def test_linearize_runs_the_function_once() -> None:
    calls = []

    def f(x: Any) -> Any:
        calls.append(1)
        return np.sin(x)

    out, push = ta.linearize(f, X)
    np.testing.assert_array_equal(out, np.sin(X))
    for t in np.eye(3):
        np.testing.assert_array_equal(push(t), np.cos(X) * t)
    np.testing.assert_array_equal(push(np.eye(3)), np.diag(np.cos(X)))
    assert len(calls) == 1


def test_a_forward_sweep_gives_tangents_up_after_their_last_use() -> None:
    def f(x: Any) -> Any:
        y = x
        for _ in range(100):
            y = np.sin(y) * x
        return y

    x = np.ones(1000)
    _, push = ta.linearize(f, x)
    tangents = np.ones((50, 1000))
    tracemalloc.start()
    pushed = push(tangents)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 10 * tangents.nbytes
    np.testing.assert_allclose(pushed, np.broadcast_to(push(np.ones(1000)), (50, 1000)))


def test_push_and_pull_are_adjoint() -> None:
    rng = np.random.default_rng(0)
    w = rng.normal(size=(4, 3))

    def f(x: Any) -> Any:
        return np.tanh(w @ x) * np.sum(x)

    t, ct = rng.normal(size=3), rng.normal(size=4)
    _, push = ta.linearize(f, X)
    _, pull = ta.vjp(f, X)
    np.testing.assert_allclose(ct @ push(t), pull(ct)[0] @ t, rtol=1e-14)
