"""Functions with rules of their own, compiled: of NumPy calls, and of anything else."""

import math
from typing import Any

import numpy as np
import pytest

import tape_ad as ta
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
