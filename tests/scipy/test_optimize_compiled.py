"""SciPy's optimizers with compiled objectives: by NumPy to the bit the way that eager ones go.

Native code rounds otherwise, and gets to the same place.
"""

from typing import Any

import numpy as np
import pytest
from scipy.optimize import NonlinearConstraint

from tape_ad.errors import CompileWarning, DtypeError, OutputError
from tape_ad.programs import engines
from tape_ad.scipy.optimize import minimize, scipy_objective

START: dict[str, Any] = {
    "x": np.array([1.1, 1.21, 1.5, 2.1]),
    "rest": [2, None],
    "name": "start",
    "flag": True,
}


@pytest.fixture(autouse=True)
def _without_llvm(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "has_llvm", lambda: False)


@pytest.fixture
def native(_without_llvm: None, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("llvmlite")
    monkeypatch.setattr(engines, "has_llvm", lambda: True)


def rosenbrock(p: Any) -> Any:
    x = p["x"]
    assert p["name"] == "start"
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2) + (p["rest"][0] - 3) ** 2


def far(p: Any) -> Any:
    return np.sum((p["x"] - 3) ** 2) + p["y"] ** 2


P: dict[str, Any] = {"x": np.ones(2) / 2, "y": 0.1}


def way(f: Any, x0: Any, method: str | None, **options: Any) -> tuple[list[Any], Any]:
    """Minimize, and give all points on the way and the result."""
    points: list[Any] = []
    vector = scipy_objective(f, x0).vector
    result = minimize(
        f, x0, method, callback=lambda xk, *more: points.append(vector(xk)), **options
    )
    return points, result


def assert_same_way(f: Any, x0: Any, method: str | None, **options: Any) -> None:
    """Minimize eagerly and compiled, and compare every bit."""
    points, result = way(f, x0, method, **options)
    others, other = way(f, x0, method, compile=True, **options)
    assert len(points) > 3  # two calls capture, and the others replay
    np.testing.assert_array_equal(others, points, strict=True)
    assert (other.fun, other.nit, other.nfev) == (result.fun, result.nit, result.nfev)


METHODS = (
    *(None, "Nelder-Mead", "Powell", "CG", "BFGS", "L-BFGS-B", "TNC", "SLSQP", "Newton-CG"),
    *("trust-ncg", "trust-krylov", "trust-constr", "dogleg", "trust-exact"),
)


@pytest.mark.parametrize("method", METHODS)
def test_a_compiled_objective_goes_the_same_way_in_every_method(method: str | None) -> None:
    assert_same_way(rosenbrock, START, method)


@pytest.mark.usefixtures("native")
@pytest.mark.parametrize("method", METHODS)
def test_native_code_gets_to_the_same_place(method: str | None) -> None:
    def near(p: Any) -> Any:
        return np.sum(np.cosh(p["x"] - 1) + np.sin(p["x"]) ** 2)

    eager, compiled = (minimize(near, START, method, compile=which) for which in (False, True))
    assert compiled.success == eager.success
    np.testing.assert_allclose(compiled.x["x"], eager.x["x"], rtol=1e-4)


def test_a_compiled_objective_is_called_twice() -> None:
    calls = []

    def f(p: Any) -> Any:
        calls.append(1)
        return rosenbrock(p)

    result = minimize(f, START, "L-BFGS-B", compile=True)
    assert result.nfev > 20
    assert len(calls) == 2


def test_a_compiled_objective_with_branches() -> None:
    def f(x: Any) -> Any:
        if x[0] > 0:
            return np.sum(np.cosh(x - 1)) + np.exp(x[0])
        while np.sum(x * x) > 4:
            x = x / 2
        return np.sum(x**2) + np.cos(x[1])

    for start in ([2.0, -3.0], [-3.0, 5.0]):
        assert_same_way(f, np.array(start), "Nelder-Mead")
        assert_same_way(f, np.array(start), "L-BFGS-B", options={"ftol": 0.0, "gtol": 1e-12})
    objective = scipy_objective(f, np.ones(2), compile=True)
    points = [[1.0, 2.0], [-0.5, 1.0], [-3.0, 1.0], [-9.0, 1.0]] * 4
    for x in map(np.array, points):
        value, slopes = scipy_objective(f, x)(x)
        found, replayed = objective(x)
        assert found == value
        np.testing.assert_array_equal(replayed, slopes)
    assert len(objective.compiled["value_and_grad"].programs) == 4


def test_a_compiled_objective_where_it_is_nan() -> None:
    def f(x: Any) -> Any:
        with np.errstate(all="ignore"):
            return np.sum(x - np.log(x))

    start = np.array([0.05, 3.0])
    seen = []

    def watched(x: Any) -> Any:
        value = f(x)
        seen.append(value.item())
        return value

    minimize(watched, start, "CG")
    assert np.isnan(seen).any()  # the line search goes there
    assert_same_way(f, start, "CG")
    eager, replayed = scipy_objective(f, start), scipy_objective(f, start, compile=True)
    for x in (start, start, start, np.array([-1.0, 0.01]), np.array([np.nan, 1.0]), start):
        (value, slopes), (other, others) = eager(x), replayed(x)
        np.testing.assert_array_equal(other, value)
        np.testing.assert_array_equal(others, slopes)


def test_a_compiled_objective_that_takes_a_number_out_runs_as_it_is_in_the_end() -> None:
    log: list[str] = []

    def f(p: Any) -> Any:
        loss = rosenbrock(p)
        log.append(f"{loss.item():.3f}")
        return loss

    with pytest.warns(CompileWarning, match=r"f has 16 programs .* in line \d+ of test_opt"):
        assert_same_way(f, START, "BFGS")
    log.clear()
    with pytest.warns(CompileWarning):
        result = minimize(f, START, "BFGS", compile=True)
    assert log[-1] == f"{result.fun:.3f}"


def test_a_compiled_objective_keeps_float32() -> None:
    def f(p: Any) -> Any:
        assert p["x"].dtype == np.float32
        return np.sum(np.cosh(p["x"] - p["y"]) * 0.5) + np.sum(np.exp(p["x"])) * 0.1

    start = {"x": np.array([1.5, -0.5, 3.0], np.float32), "y": np.array(0.25), "unused": 1.0}
    assert_same_way(f, start, "L-BFGS-B")
    assert_same_way(f, start, "trust-exact", tol=1e-3)
    assert minimize(f, start, compile=True, tol=1e-3).x["x"].dtype == np.float32


def test_further_arguments_of_a_compiled_objective_may_change() -> None:
    calls = []

    def f(p: Any, a: Any, data: Any) -> Any:
        calls.append(1)
        return np.sum((p["x"] * data["scale"] - a) ** 2)

    data: dict[str, Any] = {"scale": np.array([1.0, 2.0]), "name": "data"}
    objective = scipy_objective(f, {"x": np.ones(2)}, args=(3.0, data), compile=True)
    for _ in range(3):
        assert objective.fun(np.ones(2)) == 5.0
    data["scale"][:] = 0.0
    assert objective.fun(np.ones(2)) == 18.0
    objective.args = (4.0, {"scale": np.ones(2), "name": "data"})
    assert objective.fun(np.ones(2)) == 18.0
    assert len(calls) == 4  # two captures, and beside replays where an argument was another first
    assert scipy_objective(lambda x, a: a * x, 1.0, args=3.0, compile=True).fun(np.ones(1)) == 3.0
    data["scale"][:] = [1.0, 2.0]
    assert_same_way(f, {"x": np.array([1.0, 9.0])}, "L-BFGS-B", args=(3.0, data))


def test_eager_products_with_the_hessian_follow_further_arguments() -> None:
    objective = scipy_objective(lambda x, a: np.sum(a * x**3), np.ones(2), args=2.0)
    assert objective.hessp(np.ones(2), np.ones(2)).tolist() == [12.0, 12.0]
    objective.args = (3.0,)
    assert objective.hessp(np.ones(2), np.ones(2)).tolist() == [18.0, 18.0]


def test_compiled_constraints() -> None:
    calls = []

    def inside(p: Any) -> Any:
        calls.append(1)
        return 1 - np.sum(p["x"] ** 2)

    equal = {"type": "eq", "fun": lambda p, a: p["y"] - a, "args": (0.25,)}
    given = {
        "type": "ineq",
        "fun": lambda p: 5 - p["x"][0],
        "jac": lambda p: np.array([-1.0, 0.0, 0.0]),
    }
    constraints = [{"type": "ineq", "fun": inside}, equal, given]
    assert_same_way(far, P, "SLSQP", constraints=constraints)
    circle = NonlinearConstraint(inside, 0.0, 1.0)
    assert_same_way(far, P, "trust-constr", constraints=circle)
    calls.clear()
    minimize(far, P, "SLSQP", constraints=constraints[0], compile=True)
    # two captures of it, two of its Jacobian, and beside the first replay with other numbers
    assert len(calls) == 5
    assert circle.jac == "2-point"


def test_derivatives_that_are_given_beside_a_compiled_objective_are_called_as_they_are() -> None:
    def jac(p: Any, a: float) -> Any:
        assert type(p["x"]) is np.ndarray
        return {"x": 2 * (p["x"] - a)}

    def f(p: Any, a: float) -> Any:
        return np.sum((p["x"] - a) ** 2)

    start = {"x": np.array([0.1, 9.0])}
    result = minimize(f, start, "BFGS", args=(3.0,), jac=jac, compile=True)
    np.testing.assert_allclose(result.x["x"], 3.0)


def test_what_cannot_be_minimized_compiled() -> None:
    with pytest.raises(OutputError, match=r"returned an array of shape \(2,\)"):
        minimize(lambda x: x, np.ones(2), compile=True)
    with pytest.raises(DtypeError, match="SciPy minimizes over real numbers"):
        minimize(lambda p: np.sum(np.abs(p["z"])), {"z": np.array([1j])}, compile=True)
