"""With Python's garbage collector off, nothing of a derivative stays behind."""

import contextlib
import gc
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad import nn
from tape_ad.scipy import integrate, linalg, optimize

Array = Any
X = np.linspace(0.1, 1.0, 4)
A = np.eye(4) * 3.0 + 0.1

inner = ta.checkpoint(lambda x: np.sin(np.exp(x)))
of_trees = ta.checkpoint(lambda d: {"a": np.sin(d["a"]), "b": d["b"] * 2.0})


@ta.custom_rule(pull=lambda ct, out, x: (2.0 * ct * x,))
def square(x: Array) -> Array:
    return x * x


def steps(x: Array) -> Array:
    return np.sum(ta.checkpoint_sequential(lambda state, p: np.sin(state * p), 9, x, x))


def assigned(x: Array) -> Array:
    y = x * 1.0
    y[0] = y[1] * 2.0
    rest = y[1:]
    rest *= 2.0
    y += x
    return np.sum(y * y)


def failing(x: Array) -> Array:
    y = np.sin(x)
    raise ValueError(y.shape)


NETWORK = nn.Sequential(nn.Linear("a", 4, 3), nn.LayerNorm("n", 3), nn.relu, nn.Linear("b", 3, 2))
STORE = nn.init(NETWORK, np.random.default_rng(0))


def total(f: Callable[[Array], Array]) -> Callable[[Array], Array]:
    return lambda x: np.sum(f(x))


ACTIONS: dict[str, Callable[[], Any]] = {
    "a gradient": lambda: ta.grad(total(np.sin))(X),
    "vjp": lambda: ta.vjp(np.sin, X)[1](X),
    "jvp": lambda: ta.jvp(np.sin, (X,), (X,)),
    "linearize": lambda: ta.linearize(np.sin, X)[1](X),
    "jacobians": lambda: [ta.jacobian(np.sin, mode=mode)(X) for mode in ("fwd", "rev")],
    "a Hessian": lambda: ta.hessian(total(np.sin))(X),
    "hvp": lambda: ta.hvp(total(np.sin), X, X),
    "a checkpoint": lambda: ta.grad(total(inner))(X),
    "a checkpoint of trees": lambda: ta.grad(lambda x: np.sum(of_trees({"a": x, "b": x})["a"]))(X),
    "a checkpoint to second order": lambda: ta.hessian(total(inner))(X),
    "a checkpoint to third order": lambda: ta.grad(total(ta.hessian(total(inner))))(X),
    "a checkpoint forward": lambda: ta.jvp(inner, (X,), (X,)),
    "steps": lambda: ta.grad(steps)(X),
    "steps to second order": lambda: ta.hessian(steps)(X),
    "a rule of one's own": lambda: ta.grad(total(square))(X),
    "a rule of one's own to second order": lambda: ta.hessian(total(square))(X),
    "nested": lambda: ta.grad(lambda x: np.sum(ta.grad(lambda y: np.sum(y * x * y))(x)))(X),
    "assignments": lambda: ta.grad(assigned)(X),
    "a network": lambda: ta.grad(lambda p: np.sum(NETWORK(p, np.ones((5, 4)))))(STORE),
    "by hand": lambda: ta.ComputationRecord().bind({"w": X})["w"].sum().grad(),
    "compiled": lambda: ta.compile(ta.grad(total(np.sin)), engine="numpy")(X),
    "a sparse Jacobian": lambda: ta.sparse_jacobian(lambda x: x[1:] * x[:-1])(X),
    "solve": lambda: ta.grad(lambda a: np.sum(np.linalg.solve(a, X)))(A),
    "expm": lambda: ta.grad(total(linalg.expm))(A),
    "minimize": lambda: ta.grad(
        lambda p: np.sum(optimize.minimize(lambda x: np.sum((x - p) ** 2), X).x)
    )(X),
    "root": lambda: ta.grad(lambda p: np.sum(optimize.root(lambda x: x**3 - p, X).x))(X),
    "solve_ivp": lambda: ta.grad(
        lambda p: np.sum(integrate.solve_ivp(lambda t, y: -p * y, (0, 1), X).y)
    )(X),
    "no such axis": lambda: np.sum(ta.ComputationRecord().tensor(A), axis=7),
    "shapes that do not fit": lambda: ta.ComputationRecord().tensor(A) + np.ones(3),
    "no array": lambda: np.asarray(ta.ComputationRecord().tensor(A)),
    "no such argument": lambda: np.sum(ta.ComputationRecord().tensor(A), nonsense=1),  # type: ignore[call-overload]  # that is the point
    "a singular matrix": lambda: ta.grad(lambda a: np.sum(np.linalg.inv(a * 0.0)))(A),
    "a user's error": lambda: ta.grad(failing)(X),
    "a user's error in a checkpoint": lambda: ta.grad(total(ta.checkpoint(failing)))(X),
    "nan": lambda: ta.grad(lambda x: ta.ComputationRecord(debug_nans=True).tensor(x) / 0.0)(X),
}


@pytest.fixture(scope="module")
def frozen() -> Iterator[None]:
    """Spare the collector a look at what was there before, which takes half a second each time."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.fixture
def uncollected(frozen: None) -> Iterator[None]:
    gc.disable()
    yield
    gc.set_debug(0)
    gc.garbage.clear()
    gc.enable()


def run(action: Callable[[], Any]) -> None:
    with contextlib.suppress(Exception), np.errstate(all="ignore"):
        action()


@pytest.mark.usefixtures("uncollected")
@pytest.mark.parametrize("name", ACTIONS)
def test_no_record_waits_for_the_collector(name: str) -> None:
    run(ACTIONS[name])
    gc.collect()  # what a first call keeps for good has been made now
    run(ACTIONS[name])
    gc.set_debug(gc.DEBUG_SAVEALL)
    gc.collect()
    left = [type(each).__name__ for each in gc.garbage]
    ours = {"ComputationRecord", ta.Tensor.__name__, "Gradients", "Use", "Program"}
    assert not ours.intersection(left)
