"""Jacobians that nobody has written: solvers and constraints derive them."""

import functools
import inspect
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.optimize
import scipy.sparse
from scipy.optimize import SR1, NonlinearConstraint

import tape_ad as ta
from tape_ad.errors import ConversionError, OutputError
from tape_ad.scipy import optimize

Array = Any
Call = Callable[..., Any]

X = np.linspace(0.0, 4.0, 20)
Y = 2.5 * np.exp(-1.3 * X) + 0.5


class Counted:
    """A function that counts its calls."""

    def __init__(self, function: Call) -> None:
        self.function, self.calls = function, 0
        self.__signature__ = inspect.signature(function)
        self.__name__ = "counted"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        self.calls += 1
        return self.function(*args, **kwargs)


def neighbours(x: Array) -> Array:
    """Give Broyden's tridiagonal residual."""
    beside = np.concatenate([[0.0], x[:-1]]) + 2 * np.concatenate([x[1:], [0.0]])
    return (3 - 2 * x) * x + 1 - beside


def valley(x: Array) -> Array:
    return np.concatenate([10 * (x[1:] - x[:-1] ** 2), 1 - x[:-1]])


def decay(x: Array, a: Any, b: Any, c: Any) -> Array:
    return a * np.exp(-b * x) + c


START, FAR = -np.ones(30), np.full(20, -1.2)

SOLVERS: dict[str, tuple[Call, Call, dict[str, Any], int]] = {
    "root": (neighbours, lambda lib, f, **o: lib.root(f, START, **o).x, {"jac": False}, 2),
    "root-lm": (
        neighbours,
        lambda lib, f, **o: lib.root(f, START, method="lm", **o).x,
        {"jac": False},
        10,
    ),
    "fsolve": (neighbours, lambda lib, f, **o: lib.fsolve(f, START, **o), {"fprime": False}, 2),
    "least_squares": (
        valley,
        lambda lib, f, **o: lib.least_squares(f, FAR, **o).x,
        {"jac": "2-point"},
        8,
    ),
    "leastsq": (valley, lambda lib, f, **o: lib.leastsq(f, FAR, **o)[0], {"Dfun": False}, 8),
    "curve_fit": (
        decay,
        lambda lib, f, **o: lib.curve_fit(f, X, Y, [1.0, 1.0, 1.0], **o)[0],
        {"jac": "2-point"},
        1,
    ),
    "curve_fit-trf": (
        decay,
        lambda lib, f, **o: lib.curve_fit(f, X, Y, [1.0, 1.0, 1.0], method="trf", **o)[0],
        {"jac": "2-point"},
        1,
    ),
}


@pytest.mark.parametrize("name", SOLVERS)
def test_a_solver_derives_the_jacobian_unasked(name: str) -> None:
    function, solve, differences, times = SOLVERS[name]
    ours, theirs, asked = Counted(function), Counted(function), Counted(function)
    found = solve(optimize, ours)
    np.testing.assert_allclose(found, solve(scipy.optimize, theirs), rtol=1e-6, atol=1e-8)
    assert ours.calls * times < theirs.calls
    solve(optimize, asked, **differences)
    assert asked.calls == theirs.calls


@pytest.mark.parametrize("name", SOLVERS)
def test_compiled_solvers(name: str) -> None:
    function, solve, _, _ = SOLVERS[name]
    counted = Counted(function)
    found = solve(optimize, counted, compile=True)
    np.testing.assert_allclose(found, solve(optimize, function), rtol=1e-6, atol=1e-8)
    assert counted.calls < 12


@pytest.mark.parametrize("name", SOLVERS)
def test_nonsense_in_place_of_a_jacobian_names_the_option(name: str) -> None:
    function, solve, differences, _ = SOLVERS[name]
    (option,) = differences
    for nonsense in ("garbage", 3.0, ["2-point"]):
        with pytest.raises(ValueError, match=f"{name.partition('-')[0]}: {option} is a function"):
            solve(optimize, function, **{option: nonsense})


@pytest.mark.parametrize("name", SOLVERS)
def test_a_function_without_derivative_says_how_differences_are_taken(name: str) -> None:
    function, solve, differences, _ = SOLVERS[name]
    ((option, value),) = differences.items()

    def shaped(f: Call) -> Call:
        return functools.wraps(decay)(f) if function is decay else f

    @shaped
    def converted(*args: Any) -> Array:
        parameters = args[-1] if function is decay else args[0][0]
        math.exp(0 * parameters)
        return function(*args)

    @shaped
    def read(*args: Any) -> Array:
        return function(*[np.array(getattr(each, "data", each)) for each in args])

    with pytest.raises(ConversionError) as caught:
        solve(optimize, converted)
    (note,) = caught.value.__notes__
    assert f"{option}={value!r} takes differences" in note
    with pytest.raises(OutputError, match=f"does not depend on .*{option}={value!r} takes"):
        solve(optimize, read)
    solve(optimize, read, **differences)


@pytest.mark.parametrize("name", ["fsolve", "leastsq", "root", "curve_fit"])
def test_columns_in_place_of_rows(name: str) -> None:
    function, solve, _, _ = SOLVERS[name]
    options = {"options": {"col_deriv": True}} if name == "root" else {"col_deriv": True}
    np.testing.assert_allclose(
        solve(optimize, function, **options), solve(optimize, function), rtol=1e-8, atol=1e-10
    )


# Trees


def meeting(x: dict[str, Array], p: dict[str, Array]) -> dict[str, Array]:
    return {"one": x["a"] ** 2 - p["s"] * x["b"], "other": [x["b"] - p["t"]]}


@pytest.mark.parametrize("method", ["hybr", "lm", "krylov"])
@pytest.mark.parametrize("compile", [False, True])
def test_a_root_over_a_tree(method: str, compile: bool) -> None:  # noqa: A002 - the option's name
    def found(p: dict[str, Array]) -> Any:
        start = {"b": np.array([1.0, 2.0]), "a": np.ones(2)}
        return optimize.root(meeting, start, (p,), method, compile=compile, tol=1e-10).x

    p = {"s": np.array([2.0, 3.0]), "t": np.array([3.0, 1.0])}
    np.testing.assert_allclose(found(p)["a"], np.sqrt(p["s"] * p["t"]), rtol=1e-8)
    rates = ta.jacobian(lambda p: found(p)["a"])(p)
    np.testing.assert_allclose(rates["s"], np.diag(np.sqrt(p["t"] / p["s"]) / 2), rtol=1e-6)


def test_a_jacobian_and_a_callback_of_ones_own_get_the_tree() -> None:
    seen: list[Any] = []

    def jac(x: dict[str, Array]) -> Array:
        seen.append(x)
        return np.diag(2 * x["a"])

    def both(x: dict[str, Array]) -> Any:
        return x["a"] ** 2 - 4.0, jac(x)

    def alone(x: dict[str, Array]) -> Array:
        return both(x)[0]

    start = {"a": np.array([1.0, 3.0])}
    for function, given in ((alone, jac), (both, True)):
        np.testing.assert_allclose(optimize.root(function, start, jac=given).x["a"], 2.0)
    optimize.root(alone, start, method="krylov", callback=lambda x, f: seen.append(x))
    assert seen
    assert all(each["a"].shape == (2,) for each in seen)
    with pytest.raises(TypeError, match="leave compile=True out"):
        optimize.root(both, start, jac=True, compile=True)


def test_a_start_has_no_influence_and_no_matrix_is_made_for_it() -> None:
    start = ta.ComputationRecord().tensor(np.full(20_000, 0.9))
    pattern = scipy.sparse.eye_array(20_000, format="csr")
    for found in (
        optimize.least_squares(lambda x: x**2 - 1, start, jac_sparsity=pattern).x,
        optimize.leastsq(lambda x: x**2 - 1, start[:3])[0],
        optimize.root(lambda x: x**2 - 1, start[:3]).x,
    ):
        np.testing.assert_allclose(found.data, 1.0)
        assert not np.any(found[0].grad().wrt(start))


# Constraints


def height(x: Array) -> Array:
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def ring(x: Array) -> Array:
    return np.stack([np.sum(x**2), x[0] * x[1]])


@pytest.mark.parametrize("compile", [False, True])
@pytest.mark.parametrize("kind", ["object", "dict"])
@pytest.mark.parametrize("method", ["trust-constr", "SLSQP"])
def test_constraints_have_exact_derivatives(method: str, kind: str, compile: bool) -> None:  # noqa: A002
    def run(lib: Any, counted: Call, **options: Any) -> Any:
        given: Any = NonlinearConstraint(counted, -np.inf, [2.0, 0.5])
        if kind == "dict":
            given = {"type": "ineq", "fun": lambda x, top: top - counted(x), "args": ([2.0, 0.5],)}
        return lib.minimize(height, np.full(4, 0.1), method=method, constraints=given, **options)

    ours, theirs = Counted(ring), Counted(ring)
    found, plain = run(optimize, ours, compile=compile), run(scipy.optimize, theirs)
    assert found.success
    np.testing.assert_allclose(found.x, plain.x, rtol=1e-3)
    assert ours.calls * 2 < theirs.calls


@pytest.mark.parametrize("compile", [False, True])
def test_products_with_the_second_derivatives_of_a_constraint(compile: bool) -> None:  # noqa: A002
    seen: list[Any] = []

    def kept(x: Array, multipliers: Array) -> Array:
        seen.append((x.copy(), multipliers.copy()))
        return 2 * multipliers[0] * np.eye(3) + multipliers[1] * np.eye(3)[[1, 0, 2]] * [1, 1, 0]

    def run(hess: Any) -> Any:
        ours = NonlinearConstraint(ring, -np.inf, [2.0, 0.5], hess=hess)
        start = np.full(3, 0.1)
        return optimize.minimize(height, start, "trust-constr", constraints=ours, compile=compile)

    exact, given, updated = run(scipy.optimize.BFGS()), run(kept), run(SR1())
    assert seen
    np.testing.assert_allclose(exact.x, given.x, rtol=1e-8)
    assert (exact.nit, exact.cg_niter) == (given.nit, given.cg_niter)
    assert exact.nit < updated.nit


@pytest.mark.parametrize("method", ["trust-constr", "SLSQP"])
@pytest.mark.parametrize("option", [{"jac": "sparse"}, {"finite_diff_jac_sparsity": np.eye(7, 8)}])
def test_sparse_jacobians_of_constraints(method: str, option: dict[str, Any]) -> None:
    if "jac" not in option:
        option = {"finite_diff_jac_sparsity": np.eye(7, 8) + np.eye(7, 8, 1)}

    def run(**more: Any) -> Any:
        chain = NonlinearConstraint(lambda p: p["x"][1:] * p["x"][:-1], 0.5, np.inf, **more)
        start, middle = {"x": np.full(8, 0.9)}, np.linspace(0.5, 0.8, 8)  # around no flat minimum
        return optimize.minimize(
            lambda p: np.sum((p["x"] - middle) ** 2), start, method, constraints=chain, tol=1e-8
        )

    sparse, dense = run(**option), run()
    np.testing.assert_allclose(sparse.x["x"], dense.x["x"], rtol=1e-6)
    if method == "trust-constr":
        assert sparse.jac[0].nnz == 14


@pytest.mark.parametrize("kind", ["object", "dict"])
def test_nonsense_as_a_constraints_jacobian(kind: str) -> None:
    given: Any = NonlinearConstraint(ring, 0, 1, jac="garbage")
    if kind == "dict":
        given = {"type": "ineq", "fun": ring, "jac": "garbage"}
    for method in ("SLSQP", "trust-constr"):
        with pytest.raises(ValueError, match="minimize, a constraint: jac is a function"):
            optimize.minimize(height, np.ones(3), method, constraints=given)


def test_derivatives_go_through_a_minimum_with_second_derivatives_of_constraints() -> None:
    def nearest(r: Any) -> Any:
        disk = NonlinearConstraint(lambda x: np.sum(x**2) / r**2, 0.0, 1.0)
        far = lambda x: np.sum((x - np.array([2.0, 1.0])) ** 2)  # noqa: E731 - it is short
        start, options = np.full(2, 0.1), {"gtol": 1e-10, "xtol": 1e-12}
        return optimize.minimize(far, start, "trust-constr", constraints=disk, options=options).x

    rates = ta.jacobian(nearest)(1.0)
    np.testing.assert_allclose(rates, np.array([2.0, 1.0]) / np.sqrt(5.0), rtol=1e-3)
