"""Functions with rules of their own, compiled: of NumPy calls, and of anything else."""

import math
from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad.base.trees import flatten
from tests.programs.replaying import Counted, assert_replays, same_trees

Array = Any


def points(*shapes: tuple[int, ...]) -> list[tuple[Array, ...]]:
    """Draw arguments for several calls."""
    rng = np.random.default_rng(0)
    return [tuple(rng.uniform(0.5, 2, size=shape) for shape in shapes) for _ in range(4)]


# Of NumPy calls alone: captured call by call


@ta.custom_rule(pull=lambda ct, out, x: ct * (2 * x))
def square(x: Array) -> Array:
    return x * x


@ta.custom_rule(push=lambda tangents, out, x, y: tangents[0] * y + tangents[1] * x)
def product(x: Array, y: Array) -> Array:
    return x * y


@ta.custom_rule(
    pull=lambda ct, out, x: ct * out, push=lambda tangents, out, x: tangents[0] * out, stacked=True
)
def exponential(x: Array) -> Array:
    return np.exp(x)


@ta.custom_rule(partials=lambda out, x, y: (y * np.cos(x * y), x * np.cos(x * y)))
def sine(x: Array, y: Array) -> Array:
    return np.sin(x * y)


@ta.custom_rule(pull=lambda ct, out, tree: {"a": ct["s"] * tree["b"], "b": ct["s"] * tree["a"]})
def of_trees(tree: Any) -> Any:
    return {"s": tree["a"] * tree["b"], "n": 3, "none": None}


RULES = {
    "pull": lambda x: np.sum(square(x) * x),
    "both": lambda x: np.sum(exponential(x) * x),
    "partials": lambda x: np.sum(sine(x, x * x)),
    "trees": lambda x: np.sum(of_trees({"a": x, "b": np.sin(x)})["s"]),
    "twice": lambda x: np.sum(square(square(x)) + exponential(x)),
}


@pytest.mark.parametrize("name", RULES)
def test_values_and_gradients(name: str) -> None:
    assert_replays(RULES[name], *points((3,)))
    assert_replays(ta.value_and_grad(RULES[name]), *points((3,)))


@pytest.mark.parametrize("name", RULES)
def test_second_order(name: str) -> None:
    assert_replays(ta.hessian(RULES[name]), *points((3,)))


@pytest.mark.parametrize("rule", [exponential, square], ids=["stacked", "one by one"])
def test_jacobians(rule: Any) -> None:
    assert_replays(ta.jacobian(lambda x: rule(x) * np.sum(x)), *points((3,)))
    assert_replays(ta.jacobian(ta.grad(lambda x: np.sum(rule(np.sin(x))))), *points((3,)))


def test_pushes() -> None:
    assert_replays(lambda x, t: ta.jvp(product, (x, np.sin(x)), (t, x)), *points((3,), (3,)))
    assert_replays(lambda x, t: ta.jvp(exponential, (x,), (t,)), *points((3,), (3,)))
    assert_replays(ta.jacobian(lambda x: product(x, x), mode="forward"), *points((3,)))


# Of anything else: called as they are at each replay


def slope_at(x: float) -> float:
    return math.exp(x) + math.cos(x)


@ta.custom_rule(pull=lambda ct, out, x: ct * slope_at(float(x)))
def by_math(x: Array) -> Any:
    return math.exp(x) + math.sin(x)


@ta.custom_rule(pull=lambda ct, out, a: ct / (2 * out))
def by_newton(a: Array) -> Array:
    x = np.maximum(a, 1)
    while np.max(np.abs(x * x / a - 1)) > 1e-12:
        x = (x + a / x) / 2
    return x


@ta.custom_rule(pull=lambda ct, out, x: np.asarray(ct)[np.argsort(np.asarray(x).argsort())])
def by_asarray(x: Array) -> Array:
    return np.array(sorted(np.asarray(x).tolist()))


@ta.custom_rule(pull=lambda ct, out, tree: (pulled_by_loop(ct, tree),))
def by_loop(tree: Any) -> Any:
    return {"sum": sum(float(v) for v in tree["x"]), "name": "sum", "parts": [tree["x"] * 2]}


def pulled_by_loop(ct: Any, tree: Any) -> Any:
    return {"x": np.array([float(ct["sum"]) + 2 * float(c) for c in ct["parts"][0]])}


OPAQUE = {
    "math": lambda x: by_math(x[0]) * np.sum(x),
    "a loop until it is done": lambda x: np.sum(by_newton(x) * x),
    "a plain array": lambda x: np.sum(by_asarray(x) * np.arange(3.0)),
    "a tree": lambda x: by_loop({"x": x})["sum"] * np.sum(by_loop({"x": x})["parts"][0]),
}


@pytest.mark.parametrize("name", OPAQUE)
def test_rules_that_ask_for_values(name: str) -> None:
    assert_replays(OPAQUE[name], *points((3,)))
    compiled = assert_replays(ta.value_and_grad(OPAQUE[name]), *points((3,)))
    assert compiled.programs[0].guards == []


def test_a_solver_takes_as_many_steps_as_it_needs() -> None:
    compiled = ta.compile(ta.value_and_grad(lambda x: np.sum(by_newton(x))))
    for scale in (1.0, 1.0, 1e6, 1e-3, 1e12):
        x = scale * np.array([1.0, 2.0])
        same_trees(compiled(x), ta.value_and_grad(lambda x: np.sum(by_newton(x)))(x))
    assert len(compiled.programs) == 1


def test_a_function_that_draws_is_called_at_each_replay() -> None:
    rng = np.random.default_rng(0)

    @ta.custom_rule(pull=lambda ct, out, x: ct)
    def jittered(x: Array) -> Array:
        return np.asarray(x) + rng.normal(size=3)

    compiled = ta.compile(lambda x: (jittered(x), jittered(x)))
    found = [compiled(np.zeros(3)) for _ in range(5)]
    numbers = np.concatenate([each for pair in found for each in pair])
    assert len(np.unique(numbers)) == numbers.size


def test_a_rule_that_closes_over_an_argument() -> None:
    def f(x: Array, w: Array) -> Array:
        @ta.custom_rule(pull=lambda ct, out, x: ct * w)
        def scaled(x: Array) -> Array:
            return w * x

        return np.sum(scaled(x) * x)

    assert_replays(ta.grad(f), *points((3,), (3,)))


def test_a_pull_may_not_write_to_its_cotangent() -> None:
    def pull(ct: Array, out: Array, x: Array) -> Array:
        np.asarray(ct)
        ct *= 2
        return ct

    rule = ta.custom_rule(pull=pull)(lambda x: x * 1)
    compiled = ta.compile(ta.grad(lambda x: np.sum(rule(x) * x)))
    with pytest.raises(ValueError, match="read-only"):
        compiled(np.ones(3))


def test_what_a_function_raises_is_raised() -> None:
    @ta.custom_rule(pull=lambda ct, out, x: ct)
    def positive(x: Array) -> Array:
        if not (np.asarray(x) > 0).all():
            raise ValueError("not positive")
        return x * 1

    compiled = ta.compile(lambda x: np.sum(positive(x)))
    for x in (1.0, 2.0, 3.0):
        same_trees(compiled(np.array([x])), np.float64(x))
    with pytest.raises(ValueError, match="not positive"):
        compiled(np.array([-1.0]))
    same_trees(compiled(np.array([4.0])), np.float64(4))


def test_a_function_of_numpy_calls_runs_in_no_replay() -> None:
    inside = Counted(lambda x: x * np.sin(x))
    rule = ta.custom_rule(pull=lambda ct, out, x: ct * np.cos(x))(inside)
    compiled = ta.compile(ta.grad(lambda x: np.sum(rule(x))))
    for (x,) in points((3,)):
        compiled(x)
    runs = inside.runs
    compiled(np.ones(3))
    assert inside.runs == runs


# Rules that differentiate in their turn


def solved_by_math(p: Any) -> np.float64:
    """Solve x exp(x) = p by Newton's method."""
    x = 1.0
    for _ in range(60):
        x -= (x * math.exp(x) - float(p)) / (math.exp(x) * (1 + x))
    return np.float64(x)


def residual(x: Array, p: Array) -> Array:
    return x * np.exp(x) - p


def pulled_by_grad(ct: Any, x: Any, p: Any) -> Any:
    float(x)  # so that it is called as it is at each replay
    return ct / ta.grad(residual)(x, p)


def pulled_by_jacobian(ct: Any, x: Any, p: Any) -> Any:
    float(x)
    return ct / ta.jacobian(lambda y: residual(y, p))(np.stack([x, 2 * x]))[0, 0]


def pulled_by_hessian(ct: Any, x: Any, p: Any) -> Any:
    float(x)
    return ct / ta.hessian(lambda y: np.sum((y - 1) * np.exp(y) - p * y))(np.stack([x, x]))[1, 1]


def pulled_by_a_record(ct: Any, x: Any, p: Any) -> Any:
    float(x)
    record = ta.ComputationRecord()
    y = record.tensor(np.array(x))
    return ct / residual(y, p).grad().wrt(y)


def pulled_by_batched(ct: Any, x: Any, p: Any) -> Any:
    float(x)
    return ct / ta.batched(lambda y: ta.grad(residual)(y, p))(np.stack([x, 2 * x]))[0]


def pulled_by_nested_rules(ct: Any, x: Any, p: Any) -> Any:
    float(x)
    rule = ta.custom_rule(pull=pulled_by_grad)(solved_by_math)
    return ct * ta.grad(rule)(np.array(float(p)))


def pulled_by_a_compiled_function(ct: Any, x: Any, p: Any) -> Any:
    float(x)
    return ct / compiled_slope(np.array(x), p)


compiled_slope = ta.compile(ta.grad(residual), engine="numpy")

PULLS = [
    *(pulled_by_grad, pulled_by_jacobian, pulled_by_hessian, pulled_by_a_record),
    *(pulled_by_batched, pulled_by_nested_rules, pulled_by_a_compiled_function),
]


@pytest.mark.parametrize("engine", ["numpy", "native"])
@pytest.mark.parametrize("pull", PULLS)
@pytest.mark.parametrize("wrap", [lambda rule: rule, ta.checkpoint])
def test_a_pull_that_differentiates_is_not_frozen(pull: Any, wrap: Any, engine: str) -> None:
    pytest.importorskip("llvmlite")
    rule = wrap(ta.custom_rule(pull=pull)(solved_by_math))
    function = ta.value_and_grad(lambda p: rule(p) * p)
    compiled = ta.compile(function, engine=engine)
    for p in (2.0, 2.0, 3.0, 5.0, 0.5):
        value, slope = compiled(np.array(p))
        wanted, right = function(np.array(p))
        assert np.isclose(value, wanted, rtol=1e-14)
        assert np.isclose(slope, right, rtol=1e-13)
    assert len(compiled.programs) == 1


@pytest.mark.parametrize("engine", ["numpy", "native"])
def test_a_push_that_differentiates_is_not_frozen(engine: str) -> None:
    pytest.importorskip("llvmlite")

    def push(tangents: Any, x: Any, p: Any) -> Any:
        return tangents[0] / ta.grad(residual)(x, p) if float(x) > 0 else tangents[0]

    rule = ta.custom_rule(push=push)(solved_by_math)
    function = ta.jacobian(lambda p: rule(p[0]) * p, mode="forward")
    compiled = ta.compile(function, engine=engine)
    for p in (2.0, 2.0, 3.0, 5.0):
        x = np.array([p, 1.0])
        assert np.allclose(compiled(x), function(x), rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("engine", ["numpy", "native"])
@pytest.mark.parametrize("derivative", [ta.grad, ta.hessian])
def test_the_implicit_root_of_the_documentation(derivative: Any, engine: str) -> None:
    pytest.importorskip("llvmlite")
    root = pytest.importorskip("scipy.optimize").root

    def ellipse(point: Array, axes: Any) -> Array:
        x, y = point
        return np.stack([(x / axes["a"]) ** 2 + (y / axes["b"]) ** 2 - 1, y - x**3])

    def pull(ct: Any, x: Any, axes: Any) -> Any:
        u = np.linalg.solve(ta.jacobian(ellipse)(x, axes).T, -ct)
        return ta.vjp(lambda p: ellipse(x, p), axes)[1](u)

    @ta.custom_rule(pull=pull)
    def meeting(axes: Any) -> Any:
        return root(ellipse, np.ones(2), args=(axes,), tol=1e-13).x

    function = derivative(lambda axes: np.sqrt(np.sum(meeting(axes) ** 2)))
    compiled = ta.compile(function, engine=engine)
    for scale in (1.0, 1.0, 1.1, 1.3):
        axes = {"a": 1.5 * scale, "b": 2.0 / scale}
        ours, right = flatten(compiled(axes)), flatten(function(axes))
        assert np.allclose(ours, right, rtol=1e-11)


def test_a_solver_that_takes_derivatives_gets_plain_arrays() -> None:
    minimize = pytest.importorskip("scipy.optimize").minimize

    def objective(x: Array, p: Array) -> Array:
        return np.sum(np.cosh(x - p)) + 0.5 * np.sum(x) ** 2

    @ta.custom_rule(pull=lambda ct, x, p: ta.vjp(ta.grad(objective, argnums=1), x, p)[1](ct)[1])
    def smallest(p: Array) -> Any:
        return minimize(objective, np.zeros(2), args=(p,), jac=ta.grad(objective), tol=1e-10).x

    assert_replays(lambda p: np.sum(smallest(p) * p), *points((2,)))
    assert_replays(ta.grad(lambda p: np.sum(smallest(p) * p)), *points((2,)))


# What else a replay relies on


def fails_below_one(x: Any) -> float:
    if float(x) < 1:
        raise ArithmeticError("below one")
    return float(x) ** 2


@pytest.mark.parametrize("order", [(0.5, 0.5, 2.0, 3.0, 0.5), (2.0, 2.0, 0.5, 3.0, 0.5)])
def test_an_error_of_an_opaque_function_that_is_caught_is_a_branch(order: Any) -> None:
    rule = ta.custom_rule(pull=lambda ct, out, x: 2 * x * ct)(fails_below_one)

    def function(x: Any) -> Any:
        try:
            return rule(x) * 2
        except ArithmeticError:
            return x * 3

    compiled = ta.compile(function, engine="numpy")
    for x in order:
        assert compiled(x) == function(x)


@pytest.mark.parametrize(
    "opaque",
    [
        lambda x: {"value": float(x), "text": "large" if float(x) > 2 else "small"},
        lambda x: np.ones(int(float(x))),
        lambda x: float(x) if float(x) < 2 else np.float32(x),
        lambda x: None if float(x) > 2 else float(x),
    ],
)
@pytest.mark.filterwarnings("ignore:.*has not gone the way of its replay")
def test_what_an_opaque_function_gives_may_be_of_another_form(opaque: Any) -> None:
    rule = ta.custom_rule(pull=lambda ct, out, x: ct)(opaque)
    compiled = ta.compile(lambda x: (rule(x), x * 2), engine="numpy", check_every=0)
    for x in (1.0, 1.5, 1.25, 3.0, 1.0, 4.0, 3.5):
        same_trees(compiled(x), (opaque(x), x * 2))


@pytest.mark.parametrize("engine", ["numpy", "native"])
def test_a_pull_that_closes_over_an_argument_in_a_function_within(engine: str) -> None:
    pytest.importorskip("llvmlite")

    def function(x: Array, w: Array) -> Array:
        def weighted(y: Array) -> Array:
            return w * y * y

        def pull(ct: Any, out: Any, x: Any) -> Any:
            float(x)
            return ct * ta.grad(weighted)(x)

        return ta.custom_rule(pull=pull)(lambda x: x * 2.0)(x) * x

    fast = ta.compile(ta.grad(function), engine=engine)
    for w in (2.0, 2.0, 3.0, 5.0):
        args = np.array(0.5), np.array(w)
        assert np.isclose(fast(*args), ta.grad(function)(*args), rtol=1e-14)
