"""SciPy's optimizers over trees: every method gets the derivatives that it takes."""

import builtins
import sys
from typing import Any

import numpy as np
import pytest
import scipy.optimize
from scipy.optimize import Bounds, LinearConstraint, NonlinearConstraint

import tape_ad as ta
from tape_ad.errors import DtypeError, OutputError
from tape_ad.scipy.optimize import minimize, scipy_objective

START: dict[str, Any] = {
    "x": np.array([1.1, 1.21, 1.5, 2.1]),
    "rest": [2, None],
    "name": "start",
    "flag": True,
}


def rosenbrock(p: Any) -> Any:
    x = p["x"]
    assert p["name"] == "start"
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2) + (p["rest"][0] - 3) ** 2


@pytest.mark.parametrize(
    ("method", "passed"),
    [
        (None, {"jac"}),
        ("Nelder-Mead", set()),
        ("Powell", set()),
        ("CG", {"jac"}),
        ("BFGS", {"jac"}),
        ("L-BFGS-B", {"jac"}),
        ("TNC", {"jac"}),
        ("SLSQP", {"jac"}),
        ("Newton-CG", {"jac", "hessp"}),
        ("trust-ncg", {"jac", "hessp"}),
        ("trust-krylov", {"jac", "hessp"}),
        ("trust-constr", {"jac", "hessp"}),
        ("dogleg", {"jac", "hess"}),
        ("trust-exact", {"jac", "hess"}),
    ],
)
def test_every_method(
    method: str | None, passed: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: dict[str, Any] = {}
    real = scipy.optimize.minimize

    def watched(fun: Any, x0: Any, method: Any, **options: Any) -> Any:
        seen.update(options)
        return real(fun, x0, method=method, **options)

    monkeypatch.setattr(scipy.optimize, "minimize", watched)
    limits = {"maxiter": 5000, "maxfev": 5000} if method == "Nelder-Mead" else {}
    limits = {"maxfun": 500} if method == "TNC" else limits
    result = minimize(rosenbrock, START, method, tol=1e-10, options=limits)
    assert seen.keys() - {"tol", "options"} == passed
    np.testing.assert_allclose(result.x["x"], 1.0, atol=2e-3 if method == "TNC" else 1e-5)
    np.testing.assert_allclose(result.x["rest"][0], 3.0, atol=1e-4)
    assert result.x["rest"][1] is None
    assert result.x["name"] == "start"
    assert result.x["flag"] is True


def test_a_bare_array_and_a_number() -> None:
    result = minimize(lambda x: np.sum((x - 2) ** 4), np.zeros((2, 2)), "trust-exact", tol=1e-12)
    assert result.x.shape == (2, 2)
    np.testing.assert_allclose(result.x, 2.0, atol=1e-3)
    assert minimize(lambda x: (x - 2) ** 2, 0.5).x.shape == ()


def test_float32_parameters_stay_float32() -> None:
    def f(p: Any) -> Any:
        assert p["x"].dtype == np.float32
        return np.sum((p["x"] - 2) ** 2)

    for method in ("BFGS", "trust-exact"):
        result = minimize(f, {"x": np.zeros(3, np.float32)}, method, tol=1e-3)
        assert result.x["x"].dtype == np.float32
        np.testing.assert_allclose(result.x["x"], 2.0, atol=1e-3)


def test_further_arguments() -> None:
    result = minimize(lambda x, a, b: np.sum((x - a) ** 2) + b, np.zeros(2), args=(3.0, 1.0))
    np.testing.assert_allclose(result.x, 3.0)
    assert result.fun == pytest.approx(1.0)
    assert minimize(lambda x, a: (x - a) ** 2, 0.0, args=3.0).x == pytest.approx(3.0)


def test_further_arguments_are_for_given_derivatives_too_but_not_for_constraints() -> None:
    def f(p: Any, a: float) -> Any:
        return np.sum((p["x"] - a) ** 2)

    def jac(p: Any, a: float) -> Any:
        return {"x": 2 * (p["x"] - a)}

    def hessp(p: Any, v: Any, a: float) -> Any:
        return {"x": 2 * v["x"]}

    x0 = {"x": np.zeros(2)}
    found = minimize(f, x0, "Newton-CG", args=(3.0,), jac=jac, hessp=hessp)
    np.testing.assert_allclose(found.x["x"], 3.0)
    below = {"type": "ineq", "fun": lambda p: 2.0 - p["x"][0]}
    found = minimize(f, x0, "SLSQP", args=(3.0,), jac=jac, constraints=below)
    np.testing.assert_allclose(found.x["x"], [2.0, 3.0])


def far(p: Any) -> Any:
    return np.sum((p["x"] - 3) ** 2) + p["y"] ** 2


P: dict[str, Any] = {"x": np.ones(2) / 2, "y": 0.1}
HALF = np.full(2, np.sqrt(0.5))


def test_constraints_as_dicts_get_their_jacobians() -> None:
    calls = []

    def inside(p: Any) -> Any:
        calls.append(type(p["x"]))
        return 1 - np.sum(p["x"] ** 2)

    stacked = {"type": "ineq", "fun": lambda p: np.stack([5 - p["x"][0], 2 - p["y"]])}
    equal = {"type": "eq", "fun": lambda p, a: p["y"] - a, "args": (0.25,)}
    constraints = [{"type": "ineq", "fun": inside}, stacked, equal]
    result = minimize(far, P, "SLSQP", constraints=constraints, tol=1e-12)
    np.testing.assert_allclose(result.x["x"], HALF, atol=1e-6)
    assert result.x["y"] == pytest.approx(0.25)
    assert ta.Tensor in calls


def test_a_jacobian_of_a_constraint_that_is_given() -> None:
    given = {
        "type": "ineq",
        "fun": lambda p: 1 - np.sum(p["x"].data ** 2 if hasattr(p["x"], "record") else p["x"] ** 2),
        "jac": lambda p: np.append(-2 * p["x"], 0.0),
    }
    result = minimize(far, P, constraints=given, tol=1e-12)
    np.testing.assert_allclose(result.x["x"], HALF, atol=1e-6)


@pytest.mark.parametrize("method", ["SLSQP", "trust-constr"])
def test_nonlinear_and_linear_constraints(method: str) -> None:
    circle = NonlinearConstraint(lambda p: np.sum(p["x"] ** 2), 0.0, 1.0)
    line = LinearConstraint(np.array([[0.0, 0.0, 1.0]]), 0.5, 0.5)
    options = {"gtol": 1e-10, "maxiter": 3000} if method == "trust-constr" else {}
    result = minimize(far, P, method, constraints=[circle, line], options=options)
    np.testing.assert_allclose(result.x["x"], HALF, atol=1e-3)
    assert result.x["y"] == pytest.approx(0.5, abs=1e-6)
    assert callable(circle.fun)
    assert circle.jac == "2-point"  # the caller's own is as it was


def test_bounds_pass_through() -> None:
    for bounds in ([(0, 1), (0, 2), (None, None)], Bounds([0, 0, -9], [1, 2, 9])):
        result = minimize(far, P, bounds=bounds)
        np.testing.assert_allclose(result.x["x"], [1.0, 2.0])


def test_callbacks_get_trees() -> None:
    points: list[Any] = []
    minimize(far, P, "BFGS", callback=lambda xk: points.append(xk["x"].shape))
    assert points
    assert set(points) == {(2,)}

    def stop(intermediate_result: Any) -> None:
        points.append(intermediate_result.x)
        raise StopIteration

    points.clear()
    result = minimize(far, P, "BFGS", callback=stop)
    assert len(points) == 1
    np.testing.assert_array_equal(points[0]["x"], result.x["x"])
    points.clear()
    minimize(far, P, "trust-constr", callback=lambda xk, state: points.append((xk, state.nit)))
    assert [nit for _, nit in points[:2]] == [1, 2]
    assert points[0][0].keys() == {"x", "y"}
    assert minimize(far, P, callback=None).success


def test_derivatives_that_are_given_are_used() -> None:
    used = []

    def jac(p: Any) -> Any:
        used.append("jac")
        return {"x": 2 * (p["x"] - 3), "y": 2 * p["y"]}

    def hessp(p: Any, v: Any) -> Any:
        used.append("hessp")
        return {"x": 2 * v["x"], "y": 2 * v["y"]}

    def hess(p: Any) -> Any:
        used.append("hess")
        assert p.keys() == P.keys()
        return 2 * np.eye(3)

    result = minimize(far, P, "Newton-CG", jac=jac, hessp=hessp)
    np.testing.assert_allclose(result.x["x"], 3.0)
    assert set(used) == {"jac", "hessp"}
    result = minimize(far, P, "trust-exact", hess=hess)
    np.testing.assert_allclose(result.x["x"], 3.0)
    assert used[-1] == "hess"
    assert minimize(far, P, "BFGS", jac="2-point").nfev > minimize(far, P, "BFGS").nfev


def test_the_parts_of_an_objective() -> None:
    objective = scipy_objective(rosenbrock, START)
    np.testing.assert_array_equal(objective.x0, [1.1, 1.21, 1.5, 2.1, 2.0])
    x = np.array([0.3, -0.2, 0.9, 1.1, 2.5])
    value, slopes = objective(x)
    assert type(value) is float
    assert slopes.flags.writeable
    assert objective.fun(x) == value
    np.testing.assert_array_equal(objective.jac(x), slopes)
    expected = scipy.optimize.rosen_hess(x[:4])
    hessian = objective.hess(x)
    np.testing.assert_allclose(hessian[:4, :4], expected)
    assert hessian[4].tolist() == [0, 0, 0, 0, 2]
    for v in np.eye(5):
        np.testing.assert_allclose(objective.hessp(x, v), hessian @ v)
    np.testing.assert_allclose(objective.hessp(x + 1, x), objective.hess(x + 1) @ x)
    assert objective.tree(x)["rest"] == [2.5, None]
    np.testing.assert_array_equal(objective.vector(objective.tree(x)), x)
    result = scipy.optimize.minimize(
        objective, objective.x0, jac=True, hessp=objective.hessp, method="trust-ncg", tol=1e-10
    )
    np.testing.assert_allclose(objective.tree(result.x)["x"], 1.0, atol=1e-6)


def test_products_at_one_point_share_a_recording() -> None:
    calls = []

    def f(x: Any) -> Any:
        calls.append(1)
        return np.sum(x**4)

    objective = scipy_objective(f, np.ones(3))
    for v in np.eye(3):
        objective.hessp(objective.x0, v)
    assert len(calls) == 1


def test_what_cannot_be_minimized() -> None:
    with pytest.raises(DtypeError, match=r"parameters at \['z'\] have dtype complex128, and SciPy"):
        minimize(lambda p: np.sum(np.abs(p["z"])), {"z": np.array([1j])})
    with pytest.raises(OutputError, match=r"returned an array of shape \(2,\)"):
        minimize(lambda x: x, np.ones(2))
    with pytest.raises(TypeError, match="scipy_objective takes a function"):
        scipy_objective(np.ones(2), np.ones(2))  # type: ignore[arg-type]  # on purpose


@pytest.mark.parametrize("method", [None, "L-BFGS-B", "CG", "Nelder-Mead"])
def test_a_function_may_give_its_gradient_itself(method: str | None) -> None:
    both = ta.value_and_grad(lambda p, a: np.sum((p["x"] - a) ** 2) + (p["y"] - 3) ** 2)
    start = {"x": np.zeros(2), "y": np.float32(0)}
    found = minimize(both, start, method, args=(np.array([1.0, 2.0]),), jac=True)
    np.testing.assert_allclose(found.x["x"], [1, 2], atol=1e-3)
    assert found.x["y"].dtype == np.float32
    plain = minimize(lambda p, a: both(p, a)[0], start, method, args=(np.array([1.0, 2.0]),))
    assert found.nfev == plain.nfev
    assert found.fun == plain.fun


def test_where_a_function_may_not_give_its_gradient_itself() -> None:
    both = ta.value_and_grad(lambda x, a: np.sum((x - a) ** 2))
    start = np.ones(2)
    with pytest.raises(TypeError, match="leave jac=True out, and it is differentiated"):
        minimize(lambda x: np.sum(x**2), start, jac=True)
    with pytest.raises(TypeError, match="leave compile=True out"):
        minimize(both, start, args=(2.0,), jac=True, compile=True)
    for method in ("Newton-CG", "trust-exact"):
        with pytest.raises(TypeError, match="takes second derivatives"):
            minimize(both, start, method, args=(2.0,), jac=True)


@pytest.mark.parametrize("closes", [True, False])
def test_a_minimum_moves_where_the_function_gives_its_gradient(closes: bool) -> None:
    both = ta.value_and_grad(lambda x, a: np.sum(np.cosh(x - a) + a * x**2))
    start = np.ones(2)

    def found(a: Any, jac: Any, function: Any) -> Any:
        if closes:
            result = minimize(lambda x: function(x, a), start, jac=jac, tol=1e-10)
        else:
            result = minimize(function, start, args=(a,), jac=jac, tol=1e-10)
        return result.x[0] * result.fun

    value, slope = ta.value_and_grad(lambda a: found(a, True, both))(2.0)
    expected, own = ta.value_and_grad(lambda a: found(a, None, lambda x, a: both(x, a)[0]))(2.0)
    np.testing.assert_allclose([value, slope], [expected, own], rtol=1e-7)


def test_without_scipy_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *args: Any, **options: Any) -> Any:
        if name.startswith("scipy"):
            raise ImportError(name)
        return real(name, *args, **options)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match=r"pip install 'tape-ad\[scipy\]'"):
        minimize(rosenbrock, START)
    assert scipy_objective(rosenbrock, START).fun(np.ones(5)) == 4.0
    assert "tape_ad.scipy.optimize" in sys.modules


def test_a_gradient_of_ones_own_is_paired_by_key() -> None:
    result = minimize(
        lambda p: (p["a"] - 1) ** 2 + 10 * (p["b"] - 2) ** 2,
        {"a": 0.0, "b": 0.0},
        jac=lambda p: {"b": 20 * (p["b"] - 2), "a": 2 * (p["a"] - 1)},
    )
    assert result.success
    assert result.x["a"] == pytest.approx(1.0, abs=1e-4)
    assert result.x["b"] == pytest.approx(2.0, abs=1e-4)
    objective = scipy_objective(lambda p: p["a"] + p["b"], {"a": 0.0, "b": 0.0})
    with pytest.raises(ValueError, match=r"leaves at \['b'\] missing"):
        objective.vector({"a": 0.0})
