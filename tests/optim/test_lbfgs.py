"""L-BFGS: it finds minima, and an error on the way leaves the store as it was."""

import sys
from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad.errors import InPlaceError, SeedError, StoreMismatchError
from tape_ad.optim import LBFGS

Array = np.ndarray[Any, Any]

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(30, 4)), RNG.normal(size=(30, 2))


def squares(p: dict[str, Any]) -> Any:
    return np.sum((X @ p["w"] + p["b"] - Y) ** 2) + np.sum(p["b"] ** 2)


def test_it_finds_the_minimum_in_place() -> None:
    params: dict[str, Array] = {"w": np.zeros((4, 2)), "b": np.zeros(2)}
    arrays = dict(params)
    result = LBFGS(max_iter=100, tolerance_change=0.0).minimize(params, squares)
    design = np.vstack([np.hstack([X, np.ones((30, 1))]), [[0, 0, 0, 0, 1]]])
    solution = np.linalg.lstsq(design, np.vstack([Y, np.zeros((1, 2))]))[0]
    np.testing.assert_allclose(params["w"], solution[:4], atol=1e-8)
    np.testing.assert_allclose(params["b"], solution[4], atol=1e-8)
    assert all(params[name] is arrays[name] for name in arrays)
    assert result.converged
    assert result.loss == squares(params)


def test_dtypes_stay_and_complex_numbers_are_searched_too() -> None:
    params = {"z": np.array([3 + 4j], np.complex64), "x": np.array(5.0, np.float32)}
    target = np.array([1 - 2j])

    def loss(p: dict[str, Any]) -> Any:
        return np.sum(np.abs(p["z"] - target) ** 2) + (p["x"] - 0.5) ** 2

    LBFGS().minimize(params, loss)
    np.testing.assert_allclose(params["z"], target, rtol=1e-5)
    np.testing.assert_allclose(params["x"], 0.5, rtol=1e-5)
    assert [array.dtype for array in params.values()] == [np.complex64, np.float32]


def test_limits_are_kept() -> None:
    params = {"w": np.zeros((4, 2)), "b": np.zeros(2)}
    result = LBFGS(max_iter=2, max_eval=10).minimize(params, squares)
    assert result.iterations == 2
    assert not result.converged
    assert LBFGS(max_eval=1).minimize(params, squares).evaluations < 4


def test_an_error_in_the_loss_leaves_the_store_alone() -> None:
    params = {"w": np.zeros((4, 2)), "b": np.zeros(2)}
    calls = []

    def failing(p: dict[str, Any]) -> Any:
        calls.append(1)
        if len(calls) == 3:
            raise ArithmeticError("in the third evaluation")
        return squares(p)

    with pytest.raises(ArithmeticError, match="in the third evaluation"):
        LBFGS().minimize(params, failing)
    np.testing.assert_array_equal(params["w"], np.zeros((4, 2)))
    np.testing.assert_array_equal(params["b"], np.zeros(2))


def test_what_is_refused() -> None:
    with pytest.raises(StoreMismatchError, match=r"^LBFGS: the store is empty"):
        LBFGS().minimize({}, squares)
    with pytest.raises(InPlaceError, match=r"^'w' is a handle"):
        LBFGS().minimize(ta.ComputationRecord().bind({"w": np.ones(1)}), squares)
    with pytest.raises(StoreMismatchError, match=r"^the parameter 'w' is an array of dtype int64"):
        LBFGS().minimize({"w": np.ones(1, np.int64)}, squares)
    with pytest.raises(TypeError, match=r"^LBFGS: the loss is a float, not a handle; compute it"):
        LBFGS().minimize({"w": np.ones(1)}, lambda p: 1.0)
    with pytest.raises(SeedError, match=r"of shape \(2,\)"):
        LBFGS().minimize({"w": np.ones(2)}, lambda p: p["w"])
    with pytest.raises(ValueError, match=r"^LBFGS: history_size must be at least 1, got 0$"):
        LBFGS(history_size=0)


def test_the_library_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy.optimize", None)
    with pytest.raises(ImportError) as raised:
        LBFGS().minimize({"w": np.ones(1)}, squares)
    assert str(raised.value) == "LBFGS needs the extra scipy: pip install 'tape-ad[scipy]'"
