"""Solvers in compiled functions: each is one call of the program, and so is its derivative."""

import functools
import importlib
import types
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from attrs import define

import tape_ad as ta
from tape_ad.base.trees import flatten
from tape_ad.errors import CaptureError, CompileWarning
from tests.programs.replaying import Counted

pytest.importorskip("scipy")

from tape_ad.scipy import integrate, interpolate, optimize

Array = Any
Function = Callable[..., Any]

TIMES = np.linspace(0, 2, 8)
SAMPLES = 0.1 * np.sin(9 * TIMES)


def cubic(x: Array, a: Array) -> Array:
    return x**3 + x - a


def decay(t: Any, y: Array, a: Array) -> Array:
    return -a * y


def fitted(a: Array) -> Array:
    samples = np.exp(-a[0] * TIMES) * a[1] + SAMPLES
    return optimize.curve_fit(lambda t, p, q: p * np.exp(-q * t), TIMES, samples, p0=[1.0, 1.0])[0]


def boundary(a: Array) -> Array:
    def slope(x: Array, y: Array) -> Array:
        return np.stack([y[1], -a[0] * y[0]])

    def ends(left: Array, right: Array) -> Array:
        return np.stack([left[0] - a[1], right[0] - a[2]])

    return integrate.solve_bvp(slope, ends, np.linspace(0, 1, 5), np.zeros((2, 5))).y


def solve_ivp(a: Array, **options: Any) -> Array:
    return integrate.solve_ivp(decay, (0, 1.0), np.ones(3), t_eval=[0.5, 1.0], **options).y


SOLVERS: dict[str, Function] = {
    "root, closed over": lambda a: optimize.root(lambda x: cubic(x, a), np.ones_like(a)).x,
    "root, args": lambda a: optimize.root(cubic, np.ones(3), args=(a,)).x,
    "fsolve": lambda a: optimize.fsolve(cubic, np.ones(3), args=(a,)),
    "newton": lambda a: optimize.newton(lambda x: cubic(x, a), np.ones(3)),
    "fixed_point": lambda a: optimize.fixed_point(lambda x: np.cos(x) * a * 0.3, np.ones(3)),
    "brentq": lambda a: optimize.brentq(lambda x: cubic(x, a[0] * a[1]), -10, 30) * a,
    "minimize": lambda a: (
        optimize.minimize(
            lambda x: np.sum((x - a) ** 4 + (x - a) ** 2 * a), np.zeros(3), tol=1e-10
        ).x
    ),
    "minimize_scalar": lambda a: optimize.minimize_scalar(lambda x: np.cosh(x - a[0])).x * a,
    "least_squares": lambda a: (
        optimize.least_squares(lambda x: np.concatenate([x**2 - a, x - 1]), np.ones(3)).x
    ),
    "curve_fit": fitted,
    "linprog": lambda a: optimize.linprog(a, A_ub=-np.eye(3), b_ub=-a * 2).fun,
    "nnls": lambda a: optimize.nnls(np.vander(a + 1, 3), a)[0],
    "quad": lambda a: integrate.quad(lambda x: np.exp(-a[0] * x) * a[1], 0.0, a[2])[0],
    "quad_vec": lambda a: integrate.quad_vec(lambda x: np.exp(-a * x), 0.0, 2.0)[0],
    "RK45": lambda a: solve_ivp(a, args=(a,)),
    "LSODA": lambda a: solve_ivp(a, args=(a,), method="LSODA"),
    "odeint": lambda a: integrate.odeint(decay, np.ones(3), [0.0, 1.0], (a,), tfirst=True),
    "solve_bvp": boundary,
}
if hasattr(importlib.import_module("scipy.optimize"), "elementwise"):  # from SciPy 1.15 on
    SOLVERS["find_root"] = lambda a: (
        optimize.elementwise.find_root(cubic, (-9 * np.ones(3), 9 * np.ones(3)), args=(a,)).x
    )
WITHOUT_SECOND = {"LSODA", "odeint", "solve_bvp", "quad_vec"}
"""Those whose second derivatives take long, and go the same way."""

POINTS = [np.array([0.7, 1.1, 0.9]) * scale for scale in (1.0, 1.3, 0.8, 1.7)]


def loss(solver: Function) -> Function:
    def summed(a: Array) -> Array:
        return np.sum(np.sin(solver(a)) * np.cos(a[0])) + np.sum(a)

    return summed


def assert_agrees(function: Function, *points: Any, engine: str = "numpy") -> Any:
    """Capture at two points, replay at all: what the function gives, and one program."""
    counted = Counted(function)
    compiled: Any = ta.compile(counted, engine=engine, check_every=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error", CompileWarning)
        for point in (*points, *points):
            for got, wanted in zip(flatten(compiled(point)), flatten(function(point)), strict=True):
                assert np.asarray(got).dtype == np.asarray(wanted).dtype
                np.testing.assert_allclose(got, wanted, rtol=1e-11, atol=1e-13)
    assert counted.runs == 2
    return compiled


@pytest.mark.parametrize("name", SOLVERS)
def test_value_and_gradient(name: str) -> None:
    program = assert_agrees(ta.value_and_grad(loss(SOLVERS[name])), *POINTS).programs[0]
    assert sum(getattr(call.function, "is_opaque", False) for call in program.calls) == 2


@pytest.mark.parametrize("name", sorted(SOLVERS.keys() - WITHOUT_SECOND))
def test_second_order(name: str) -> None:
    assert_agrees(ta.hessian(loss(SOLVERS[name])), *POINTS[:3])


@pytest.mark.parametrize("name", ["root, args", "minimize", "quad", "RK45"])
def test_forward_mode_and_stacks(name: str) -> None:
    solver = SOLVERS[name]
    assert_agrees(lambda a: ta.jvp(solver, (a,), (np.cos(a),))[1], *POINTS[:3])
    assert_agrees(ta.jacobian(solver), *POINTS[:3])
    assert_agrees(lambda a: ta.hvp(loss(solver), a, np.sin(a)), *POINTS[:3])


@pytest.mark.parametrize("name", ["root, closed over", "minimize", "RK45"])
def test_native(name: str) -> None:
    pytest.importorskip("llvmlite")
    assert_agrees(ta.value_and_grad(loss(SOLVERS[name])), *POINTS, engine="native")


def test_copies_of_scipys_own_code() -> None:
    def area(a: Array) -> Array:
        return integrate.dblquad(lambda x, y: a[0] * x + y, 0, 1, 0, 1, epsabs=0.1)[0]

    program = assert_agrees(area, *POINTS).programs[0]
    assert len(program.calls) == 1


def test_a_copy_of_a_class_that_fills_arrays() -> None:
    spline = ta.differentiable(interpolate.CubicSpline)

    def function(values: Array) -> Array:
        return np.sum(spline(TIMES, values)(0.4))

    fast = ta.compile(function, engine="numpy")
    for values in map(np.sin, (TIMES, TIMES + 1, TIMES, 2 * TIMES)):
        assert fast(values) == function(values)


def test_bits_of_values() -> None:
    fast = ta.compile(SOLVERS["root, closed over"], engine="numpy")
    for point in POINTS:
        assert fast(point).tobytes() == SOLVERS["root, closed over"](point).tobytes()


def test_single_precision_and_other_shapes() -> None:
    slope: Any = ta.grad(lambda a: np.sum(optimize.root(cubic, np.ones(a.size), args=(a,)).x))
    fast: Any = ta.compile(slope, engine="numpy")
    given: list[Any] = [np.ones(3, np.float32), np.ones(2), np.ones(2), np.full(3, 2, np.float32)]
    for a in given * 2:
        assert fast(a).dtype == a.dtype
        np.testing.assert_allclose(fast(a), slope(a), rtol=1e-6)


def test_shapes_that_depend_on_values() -> None:
    def path(a: Array) -> Array:
        return integrate.solve_ivp(decay, (0, 3.0), np.ones(3), args=(a,)).y.T

    fast = ta.compile(path, engine="numpy")
    for scale in (1, 1, 20, 20, 1, 20):
        assert fast(POINTS[0] * scale).tobytes() == path(POINTS[0] * scale).tobytes()
    assert len(fast.programs) == 2


# What the function of a solver holds is given to it anew at each replay


class Model:
    def __init__(self, a: Array) -> None:
        self.a, self.parts = a, {"twice": [a * 2]}

    def residual(self, x: Array) -> Array:
        return x**3 + self.parts["twice"][0] * x - self.a


def recursive(a: Array) -> Array:
    def equation(x: Array, n: int = 2) -> Array:
        return equation(x, n - 1) if n else cubic(x, a)

    return optimize.root(equation, np.ones(3)).x


HOLDING: dict[str, Function] = {
    "a method": lambda a: optimize.root(Model(a).residual, np.ones(3)).x,
    "a partial": lambda a: optimize.root(functools.partial(lambda b, x: x**3 - b, a), a).x,
    "itself": recursive,
    "a loop's variable": lambda a: sum(
        optimize.root(lambda x: f(x) - a / 9, np.ones(3)).x  # noqa: B023 - which is the point
        for f in (np.sin, np.tanh)
    ),
    "a gradient": lambda a: (
        optimize.minimize(
            lambda x: np.sum((x - a) ** 4 + x),
            np.zeros(3),
            jac=ta.grad(lambda x: np.sum((x - a) ** 4 + x)),
        ).x
    ),
    "what is compiled": lambda a: optimize.root(ta.compile(lambda x: cubic(x, a)), np.ones(3)).x,
}


@pytest.mark.parametrize("name", HOLDING)
def test_what_functions_hold(name: str) -> None:
    assert_agrees(HOLDING[name], *POINTS)
    if name != "what is compiled":  # which closes over no handles
        assert_agrees(ta.grad(loss(HOLDING[name])), *POINTS)


def test_lists_that_grow_later() -> None:
    def twice(a: Array) -> Array:
        terms = [a]
        first = optimize.root(lambda x: x**3 + sum(terms) * x - 1, np.ones(3)).x
        terms.append(a * a)
        return first + optimize.root(lambda x: x**3 + sum(terms) * x - 1, np.ones(3)).x

    assert_agrees(twice, *POINTS)


class Slots:
    __slots__ = ("a",)
    a: Array


def in_slots(a: Array) -> Array:
    held, named = Slots(), types.SimpleNamespace(b=a * a)
    held.a = a
    first = optimize.root(lambda x: cubic(x, held.a - named.b), np.ones(3)).x
    del named.b
    return first + held.a


def test_objects_with_slots_and_namespaces() -> None:
    assert_agrees(in_slots, *POINTS)


FOUND_NOWHERE: dict[str, Array] = {}


def test_what_is_read_unseen_is_told_even_where_the_solver_has_an_error_of_its_own() -> None:
    def solve(a: Array) -> Array:
        FOUND_NOWHERE["a"] = a
        return optimize.root(lambda x: eval("FOUND_NOWHERE")["a"] + x, np.ones(3)).x  # noqa: S307 - which no watching sees

    with pytest.raises(CaptureError):
        ta.compile(solve)(POINTS[0])


def with_keys_in_another_order(a: Array) -> Array:
    held, model = {"p": a, "q": a * a}, Model(a)
    first = optimize.root(lambda x: x**3 + 3 * x - held["p"] + 0.3 * held["q"], np.ones(3)).x
    second = optimize.root(model.residual, np.ones(3)).x
    held["p"] = held.pop("p") * 2
    del model.a
    model.a = a
    return first + second + held["p"] * model.a


def test_keys_and_attributes_in_another_order_later() -> None:
    assert_agrees(with_keys_in_another_order, *POINTS)


def test_a_compiled_objective_stays_compiled() -> None:
    inner = ta.compile(cubic, engine="numpy")
    assert_agrees(lambda a: optimize.root(inner, np.ones(3), args=(a,), jac=False).x, *POINTS)
    assert inner.programs


settings = types.SimpleNamespace(power=3)


def powered(x: Array, a: Array) -> Array:
    return x**settings.power + x - a


def test_what_an_objective_reads_is_seen() -> None:
    solve: Any = lambda a: optimize.root(powered, np.ones(3), args=(a,)).x  # noqa: E731
    fast = ta.compile(solve)
    for settings.power in (3, 3, 3, 5, 5, 5):
        np.testing.assert_allclose(fast(POINTS[0]), solve(POINTS[0]), rtol=1e-12)


def test_arrays_that_an_objective_reads_are_read_where_they_are() -> None:
    scale = np.ones(3)
    solve: Any = lambda a: optimize.root(lambda x: scale * x**3 - a, np.ones_like(a)).x  # noqa: E731
    fast = ta.compile(solve)
    for factor in (1.0, 1.0, 1.0, 2.0, 3.0):
        scale[:] = factor
        np.testing.assert_allclose(fast(POINTS[0]), solve(POINTS[0]), rtol=1e-12)


def with_cache(a: Array) -> Array:
    known: dict[str, Array] = {}

    def equation(x: Array) -> Array:
        if "sum" not in known:
            known["sum"] = np.sum(a)
        return cubic(x, a * known["sum"])

    return optimize.root(equation, np.ones(3)).x


def with_count(a: Array) -> Array:
    calls = 0

    def equation(x: Array) -> Array:
        nonlocal calls
        calls += 1
        return cubic(x, a)

    return optimize.root(equation, np.ones(3)).x + calls


@define
class Tally:
    calls: int = 0


def with_tally(a: Array) -> Array:
    tally = Tally()

    def equation(x: Array) -> Array:
        tally.calls += 1
        return cubic(x, a)

    return optimize.root(equation, np.ones(3)).x + tally.calls


@pytest.mark.parametrize(
    ("function", "name"), [(with_cache, "known"), (with_count, "calls"), (with_tally, "tally")]
)
def test_functions_that_change_what_they_hold(function: Function, name: str) -> None:
    with pytest.raises(CaptureError, match=f"root changes {name}"):
        ta.compile(function)(POINTS[0])


def test_a_log_outside_goes_on() -> None:
    log: list[Array] = []

    def note(x: Array) -> None:
        log.append(x)

    def solve(a: Array) -> Array:
        return optimize.minimize(lambda x: np.sum((x - a) ** 2), np.zeros(3), callback=note).x

    fast = ta.compile(solve)
    for count, point in enumerate(POINTS, 1):
        fast(point)
        assert len(log) >= count


@pytest.mark.parametrize(
    ("use", "told"),
    [
        (
            lambda a: optimize.minimize(
                lambda x: np.sum((x - a) ** 2), np.zeros(3), method="L-BFGS-B"
            ).hess_inv.todense(),
            "hess_inv.*LbfgsInvHessProduct",
        ),
        (
            lambda a: integrate.solve_ivp(
                decay, (0, 1), np.ones(3), dense_output=True, args=(a,)
            ).sol(0.5),
            "sol.*OdeSolution",
        ),
    ],
)
def test_objects_that_are_not_made_again(use: Function, told: str) -> None:
    with pytest.raises(CaptureError, match=told):
        ta.compile(use)(POINTS[0])


def test_writing_to_an_argument() -> None:
    def equation(x: Array, a: Array) -> Array:
        a[0] = 1.0
        return x - a

    with pytest.raises(CaptureError, match="writes to its arguments"):
        ta.compile(lambda a: optimize.root(equation, np.ones(3), args=(a * 2,)).x)(POINTS[0])


def test_errors_are_the_solvers_own_and_may_be_caught() -> None:
    def bracketed(a: Array) -> Any:
        return optimize.brentq(lambda x: x - a[0], 0.8, 3.0)

    def caught(a: Array) -> Any:
        try:
            return bracketed(a)
        except ValueError:
            return a[1]

    fast, catching = ta.compile(bracketed), ta.compile(caught)
    for point in POINTS * 3:
        assert catching(point) == caught(point)
        if point[0] < 0.8:
            with pytest.raises(ValueError, match="different signs"):
                fast(point)
        else:
            assert fast(point) == bracketed(point)


def test_results_say_how_it_went() -> None:
    def careful(a: Array) -> Array:
        found = optimize.root(cubic, np.ones(3), args=(a,))
        return found.x if found.success else a

    assert_agrees(careful, *POINTS)
    whole = ta.compile(lambda a: optimize.root(cubic, np.ones(3), args=(a,)))
    for point in POINTS:
        wanted = optimize.root(cubic, np.ones(3), args=(point,))
        found = whole(point)
        assert (found.message, found.success, found.nfev) == (
            wanted.message,
            wanted.success,
            wanted.nfev,
        )


@pytest.mark.filterwarnings("ignore::tape_ad.errors.BatchWarning")
def test_batches_go_their_own_way() -> None:
    slope = ta.batched(ta.grad(loss(SOLVERS["root, closed over"])))
    fast = ta.compile(slope)
    for point in POINTS:
        both = np.stack([point, 2 * point])
        np.testing.assert_allclose(fast(both), slope(both), rtol=1e-6)


@pytest.mark.filterwarnings("ignore::tape_ad.errors.BatchWarning")
def test_checks_allow_for_other_digits_of_batches() -> None:
    function = ta.batched(lambda a: np.sum(SOLVERS["root, closed over"](a)))
    fast = ta.compile(function, engine="numpy", check_every=1)
    for i in range(6):
        both = np.linspace(-1, 1.3 + i, 6).reshape(2, 3)
        np.testing.assert_allclose(fast(both), function(both), rtol=1e-6, atol=1e-8)


def test_checks_allow_for_another_order_of_sums() -> None:
    slope = ta.hessian(loss(SOLVERS["least_squares"]))
    fast = ta.compile(slope, engine="numpy", check_every=1)
    for point in POINTS * 2:
        np.testing.assert_allclose(fast(point), slope(point), rtol=1e-11)


def test_a_root_of_an_equation_in_steps_moves_with_nothing() -> None:
    def height(a: Array) -> Array:
        return a * optimize.brentq(lambda x: x - np.floor(a), 0.0, 4.0)

    fast = ta.compile(ta.grad(height))
    assert [float(fast(a)) for a in (1.5, 2.5, 3.5)] == [1.0, 2.0, 3.0]
