"""What a transform gives is pickled wherever the function can be, and is found by its name."""

import copy
import functools
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tape_ad as ta

X = np.array([1.0, 2.0])


def cubes(x: Any) -> Any:
    return x**3


def total(x: Any) -> Any:
    return np.sum(cubes(x))


def pulled(ct: Any, out: Any, x: Any) -> Any:
    return 3 * ct * x**2


@ta.grad
def decorated(x: Any) -> Any:
    return np.sum(x**3)


@ta.compile
@ta.grad
def decorated_twice(x: Any) -> Any:
    return np.sum(x**3)


MADE: dict[str, Callable[..., Any]] = {
    "grad": ta.grad(total),
    "value_and_grad": ta.value_and_grad(total),
    "jacobian": ta.jacobian(cubes, mode="forward"),
    "hessian": ta.hessian(total),
    "grad of a partial": ta.grad(functools.partial(np.vdot, X)),
    "batched": ta.batched(cubes),
    "batched jacobian": ta.batched(ta.jacobian(np.exp)),
    "checkpoint": ta.checkpoint(cubes),
    "grad of a checkpoint": ta.grad(ta.checkpoint(total)),
    "custom_rule": ta.custom_rule(pull=pulled)(cubes),
    "a decorated function": decorated,
    "a function that is decorated twice": decorated_twice,
}
COMPILED = {f"compiled {name}": ta.compile(made, engine="numpy") for name, made in MADE.items()}


@pytest.mark.parametrize("name", [*MADE, *COMPILED])
def test_it_gives_the_same_after_a_round_trip(name: str) -> None:
    made = (MADE | COMPILED)[name]
    again = pickle.loads(pickle.dumps(made))
    assert str(again(X)) == str(made(X))


def test_a_compiled_function_is_pickled_without_its_programs() -> None:
    fast = ta.compile(ta.grad(total))
    for _ in range(3):
        fast(X)
    assert pickle.loads(pickle.dumps(fast)).programs == ()


@pytest.mark.parametrize("name", ["grad", "jacobian", "checkpoint", "custom_rule"])
def test_it_is_named_and_copied_as_a_function_is(name: str) -> None:
    made: Any = MADE[name]
    assert made.__name__ in ("cubes", "total")
    assert made.__wrapped__ in (cubes, total)
    assert copy.copy(made) is copy.deepcopy(made) is made
    assert repr(made).endswith(f" of {made.__name__}>")


def test_it_binds_as_a_method() -> None:
    class Model:
        factor = 2.0

        def loss(self, x: Any) -> Any:
            return np.sum(x**2) * self.factor

        slope = ta.grad(loss, argnums=1)

    assert np.array_equal(Model().slope(X), 4 * X)


def test_what_a_users_wrapper_copies_are_names_alone() -> None:
    class Wrapper:
        def __init__(self, function: Any) -> None:
            self.function = function
            functools.update_wrapper(self, function)  # type: ignore[arg-type]  # it is not called

    assert Wrapper(MADE["grad"]).function is MADE["grad"]
