"""Transforms, compiled: each alone and in each other, the same as eager to the bit."""

import dataclasses
from collections import namedtuple
from collections.abc import Callable
from typing import Any

import attrs
import numpy as np
import pytest

import tape_ad as ta
from tests.programs.replaying import assert_replays, same_trees

Array = Any


def points(*shapes: tuple[int, ...], seed: int = 0, dtype: Any = np.float64) -> Any:
    """Draw arguments for several calls."""
    rng = np.random.default_rng(seed)
    return [tuple(rng.normal(size=shape).astype(dtype) for shape in shapes) for _ in range(4)]


def curved(x: Array) -> Array:
    return np.sum(np.sin(x) * x**2) + np.prod(x) / (1 + x[0] * x[0])


def field(x: Array) -> Array:
    return np.stack([np.sum(x * x), np.exp(x[0]) * x[-1], np.tanh(x @ x)])


def of_two(x: Array, y: Array) -> Array:
    return np.sum(np.sin(x) @ y) + np.sum(y**3)


checkpointed = ta.checkpoint(curved)


def in_sequence(x: Array) -> Array:
    return np.sum(ta.checkpoint_sequential(lambda h, w: np.sin(h * w) + h, 5, x, x, slots=2))


@ta.custom_rule(pull=lambda ct, out, x: ct * (2 * x))
def square(x: Array) -> Array:
    return x * x


@ta.custom_rule(push=lambda tangents, out, x, y: tangents[0] * y + tangents[1] * x)
def product(x: Array, y: Array) -> Array:
    return x * y


def with_auxiliary(x: Array, t: Array) -> tuple[Array, Array]:
    return np.sum(x * t), {"kept": x - t, "n": 3}


@ta.custom_rule(pull=lambda ct, out, x: ct * out, push=lambda t, out, x: t[0] * out)
def both(x: Array) -> Array:
    return np.exp(x)


def by_hand(x: Array) -> Array:
    rec = ta.ComputationRecord()
    t = rec.tensor(x)
    return curved(t).grad().wrt(t)


def nested_by_hand(x: Array) -> Array:
    outer = ta.ComputationRecord()
    t = outer.tensor(x)
    inner = ta.ComputationRecord(within=outer)
    u = inner.tensor(t)
    slope = curved(u).grad().wrt(u)
    return np.sum(slope * slope).grad().wrt(t)


def stopped(x: Array) -> Array:
    return np.sum(x * ta.stop_gradient(np.sin(x)))


def first_linearized(x: Array, t: Array) -> Array:
    value, push = ta.linearize(field, x)
    return value, push(t), push(2 * t)


def pulled(x: Array, ct: Array) -> Array:
    value, pull = ta.vjp(field, x)
    return value, pull(ct), pull(-ct)


OF_ONE: dict[str, Callable[..., Any]] = {
    "grad": ta.grad(curved),
    "value_and_grad": ta.value_and_grad(curved),
    "grad of grad": ta.grad(lambda x: np.sum(np.sin(ta.grad(curved)(x)))),
    "jacobian": ta.jacobian(field),
    "hessian": ta.hessian(curved),
    "hessian_diag": lambda x: ta.hessian_diag(curved, x),
    "hessian of a checkpoint": ta.hessian(checkpointed),
    "grad of a checkpoint": ta.grad(checkpointed),
    "grad of a sequence": ta.grad(in_sequence),
    "hessian of a sequence": ta.hessian(in_sequence),
    "grad of a rule by pull": ta.grad(lambda x: np.sum(square(x) * x)),
    "hessian of a rule by pull": ta.hessian(lambda x: np.sum(square(x) * x)),
    "hessian of a rule by push": lambda x: ta.jvp(ta.grad(lambda x: np.sum(both(x))), (x,), (x,)),
    "jacobian of the grad of a rule": ta.jacobian(ta.grad(lambda x: np.sum(square(np.sin(x))))),
    "jacobian of a jacobian": ta.jacobian(ta.jacobian(field)),
    "grad of a jacobian": ta.grad(lambda x: np.sum(ta.jacobian(field)(x) ** 2)),
    "a record": by_hand,
    "a record within a record": nested_by_hand,
    "stop_gradient": ta.grad(stopped),
    "jacobian of a stack": ta.jacobian(lambda x: np.sin(x[:, None] * x)),
}

OF_TWO: dict[str, Callable[..., Any]] = {
    "jvp": lambda x, t: ta.jvp(curved, (x,), (t,)),
    "jvp of grad": lambda x, t: ta.jvp(ta.grad(curved), (x,), (t,)),
    "grad of jvp": ta.grad(lambda x, t: ta.jvp(curved, (x,), (t,))[1]),
    "hvp": lambda x, t: ta.hvp(curved, x, t),
    "hvp of a checkpoint": lambda x, t: ta.hvp(checkpointed, x, t),
    "jvp of a checkpoint": lambda x, t: ta.jvp(checkpointed, (x,), (t,)),
    "jvp of a rule by push": lambda x, t: ta.jvp(lambda x: product(x, np.cos(x)), (x,), (t,)),
    "linearize": first_linearized,
    "a pull with respect to both": ta.grad(
        lambda x, t: np.sum(ta.vjp(np.sin, x)[1](t)[0] ** 2), (0, 1)
    ),
    "several arguments": ta.value_and_grad(lambda x, t: np.sum(np.sin(x * t)), argnums=(0, 1)),
    "hessian of several": ta.hessian(lambda x, t: np.sum(np.sin(x * t) * x), argnums=(0, 1)),
    "jacobian of several": ta.jacobian(lambda x, t: np.sin(x * t[0]), argnums=(1, 0)),
    "auxiliary output": ta.grad(with_auxiliary, has_aux=True),
}


@pytest.mark.parametrize("name", OF_ONE)
def test_transforms_of_functions_of_one_array(name: str) -> None:
    assert_replays(OF_ONE[name], *points((3,)))


@pytest.mark.parametrize("name", OF_ONE)
def test_transforms_in_single_precision(name: str) -> None:
    assert_replays(OF_ONE[name], *points((3,), dtype=np.float32))


@pytest.mark.parametrize("name", OF_TWO)
def test_transforms_of_functions_of_two_arrays(name: str) -> None:
    assert_replays(OF_TWO[name], *points((3,), (3,)))


def test_vjp_with_its_cotangent() -> None:
    assert_replays(pulled, *points((4,), (3,)))


def test_matrices() -> None:
    assert_replays(ta.value_and_grad(of_two, argnums=(0, 1)), *points((2, 3), (3, 4)))
    assert_replays(ta.jacobian(lambda x, y: np.sin(x) @ y, argnums=(0, 1)), *points((2, 3), (3, 4)))


# Arguments that are trees


Pair = namedtuple("Pair", "weight bias")


@attrs.define
class Model:
    weight: Any
    bias: Any
    name: str = "model"
    absent: Any = None


@dataclasses.dataclass
class Data:
    inputs: Any
    rate: float


@attrs.frozen
class Nested:
    model: Model
    pair: Pair
    rest: dict[str, Any]


def affine(model: Any, x: Array) -> Array:
    return np.tanh(x @ model.weight + model.bias)


def tree_loss(tree: Nested, data: Data) -> Array:
    h = affine(tree.pair, affine(tree.model, data.inputs))
    return np.sum(h * h) * data.rate + np.sum(tree.rest["scale"]) * np.sum(h)


def trees() -> list[tuple[Nested, Data]]:
    found = []
    for w, b, v, c, x in points((3, 2), (2,), (2, 2), (2,), (4, 3)):
        model = Model(w, b, "first")
        tree = Nested(model, Pair(v, c), {"scale": np.array([w[0, 0]]), "none": None, "list": [b]})
        found.append((tree, Data(x, float(x[0, 0]))))
    return found


def test_trees_of_every_kind() -> None:
    assert_replays(ta.value_and_grad(tree_loss), *trees())


def test_outputs_are_trees_of_every_kind() -> None:
    def step(tree: Nested, data: Data) -> Any:
        grads = ta.grad(tree_loss)(tree, data)
        model = attrs.evolve(tree.model, weight=tree.model.weight - 0.1 * grads.model.weight)
        return {"new": attrs.evolve(tree, model=model), "at": (data.rate, None, "kept", True)}

    assert_replays(step, *trees())


def test_arguments_by_name() -> None:
    def f(x: Array, *, scale: Any, flag: bool = True) -> Array:
        return np.sum(np.sin(x)) * scale if flag else np.sum(x)

    compiled = ta.compile(ta.value_and_grad(f), engine="numpy")
    for x, s in points((3,), ()):
        for _ in range(2):
            same_trees(compiled(x, scale=s), ta.value_and_grad(f)(x, scale=s))
            same_trees(
                compiled(x, scale=s, flag=False), ta.value_and_grad(f)(x, scale=s, flag=False)
            )
    assert len(compiled.programs) == 2


@pytest.mark.parametrize("number", [2.0, np.float64(2.0), np.float32(2.0), np.array(2.0)])
def test_numbers_are_differentiated(number: Any) -> None:
    kind = type(number)

    def f(x: Any) -> Any:
        return np.sin(x) * x**2 + x

    at = [(kind(x) if kind is not np.ndarray else np.array(x),) for x in (2.0, 0.5, -1.5, 3.0)]
    assert_replays(ta.value_and_grad(f), *at)
    assert_replays(ta.grad(ta.grad(f)), *at)
    assert_replays(lambda x: ta.jvp(f, (x,), (1.0,)), *at)


# Decorators


def test_a_decorated_function_keeps_its_name() -> None:
    @ta.compile(engine="numpy")
    def loss(x: Array) -> Array:
        """Say what it is."""
        return np.sum(x * x)

    @ta.compile(engine="numpy", max_programs=2)
    def other(x: Array) -> Array:
        return np.sum(x)

    assert (loss.__name__, loss.__doc__) == ("loss", "Say what it is.")
    for (x,) in points((3,)):
        same_trees(loss(x), np.sum(x * x))
        same_trees(other(x), np.sum(x))


def test_methods() -> None:
    class Fit:
        scale = 2.0

        def __init__(self, data: Array) -> None:
            self.data = data
            self.runs = 0

        @ta.compile(engine="numpy")
        def loss(self, x: Array) -> Array:
            self.runs += 1
            return np.sum((x - self.data) ** 2) * self.scale

    one, two = Fit(np.arange(3.0)), Fit(np.ones(3))
    for (x,) in points((3,)):
        same_trees(one.loss(x), np.sum((x - one.data) ** 2) * 2.0)
        same_trees(two.loss(x), np.sum((x - two.data) ** 2) * 2.0)
    assert (one.runs, two.runs) == (2, 2)


# Compiled functions in others


def test_a_compiled_function_in_a_compiled_function() -> None:
    inner = ta.compile(lambda x: np.sin(x) * x, engine="numpy")
    compiled = assert_replays(lambda x: np.sum(inner(x) ** 2), *points((3,)))
    assert "sin" in str(compiled.programs[0])


def test_a_compiled_function_of_a_compiled_function() -> None:
    def f(x: Array) -> Array:
        return np.sum(np.sin(x))

    inner = ta.compile(f)
    outer = ta.compile(inner)
    for (x,) in points((3,)):
        same_trees(outer(x), f(x))
    assert len(outer.programs) == 1
    assert inner.programs == ()


@pytest.mark.parametrize("transform", [ta.grad, ta.hessian, ta.value_and_grad, ta.jacobian])
def test_derivatives_of_compiled_functions(transform: Any) -> None:
    compiled = ta.compile(curved, engine="numpy")
    for (x,) in points((3,)):
        compiled(x)  # which is replayed after two
        same_trees(transform(compiled)(x), transform(curved)(x))
        t = ta.ComputationRecord().tensor(x)
        same_trees(compiled(t).grad().wrt(t), ta.grad(curved)(x))


def test_a_compiled_derivative_of_a_compiled_function() -> None:
    inner = ta.compile(curved, engine="numpy")
    assert_replays(ta.grad(lambda x: inner(x) * 2), *points((3,)))
