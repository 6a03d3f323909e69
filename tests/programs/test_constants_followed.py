"""Arrays that a function closes over: updated in place, they are seen by derivatives too."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad.base.trees import flatten

X = np.array([0.4, 1.3, -0.7])
W = np.array([1.0, 2.0, 3.0])
A = np.outer(W, W) + np.eye(3)
C = W * (1 + 1j)
MASK = np.array([True, False, True])
PLACES = np.array([0, 1, 1])
LABELS = np.array([0, 1, 2])


def by_hand(function: Callable[[Any], Any], seed: Any = None) -> Callable[[Any], Any]:
    """Differentiate on a record that is made by hand."""

    def gradient(x: Any) -> Any:
        handle = ta.ComputationRecord().tensor(x)
        return function(handle).grad(seed).wrt(handle)

    return gradient


def of_parameters(x: Any) -> Any:
    """Take the gradient with respect to arrays that are closed over, as a training step may."""
    p = ta.ComputationRecord().bind({"a": A, "w": W})
    loss = np.sum(np.tanh(p["a"] @ p["w"] + x) * np.exp(p["w"]))
    return loss.data, loss.grad().wrt(p)


def filled(x: Any, key: Any, value: Any) -> Any:
    out = x * 1.0
    out[key] = value
    return np.sum(out * W)


CASES: dict[str, tuple[np.ndarray[Any, Any], Callable[..., Any]]] = {
    "a linear function": (W, ta.grad(lambda x: np.sum(W * x))),
    "by hand": (W, by_hand(lambda x: np.sum(W * x))),
    "a seed": (W, by_hand(np.sin, W)),
    "parameters": (A, of_parameters),
    "complex": (
        C,
        lambda x: ta.vjp(lambda x: C * x, x + 0j)[1](np.ones(3) + 0j),
    ),
    "a mask of where": (MASK, ta.grad(lambda x: np.sum(np.where(MASK, x * x, 2.0)))),
    "a mask as a key": (MASK, ta.grad(lambda x: np.sum(x[MASK]))),
    "the length of what a mask picks": (MASK, lambda x: np.sum(x[MASK]) / x[MASK].size),
    "places as a key": (PLACES, ta.grad(lambda x: np.sum(x[PLACES] * W))),
    "take": (PLACES, ta.grad(lambda x: np.sum(np.take(x, PLACES) * W))),
    "power": (W, ta.grad(lambda x: np.sum(abs(x) ** W))),
    "base": (W, ta.grad(lambda x: np.sum(W**x))),
    "solve": (A, ta.grad(lambda x: np.sum(np.linalg.solve(A, x)))),
    "reverse Jacobian": (A, ta.jacobian(lambda x: A @ x)),
    "forward Jacobian": (A, ta.jacobian(lambda x: A @ x, mode="forward")),
    "Hessian": (A, ta.hessian(lambda x: x @ (A @ x))),
    "tangent": (W, lambda x: ta.jvp(lambda x: A @ x * W, (x,), (W,))[1]),
    "cotangent": (W, lambda x: ta.vjp(lambda x: A @ x * W, x)[1](W)),
    "product with the Hessian": (A, lambda x: ta.hvp(lambda x: x @ (A @ x), x, W)),
    "einsum": (A, ta.grad(lambda x: np.einsum("ij,j->", A, x))),
    "interp": (W, ta.grad(lambda x: np.sum(np.interp(x, np.arange(3.0), W)))),
    "maximum": (W, ta.grad(lambda x: np.sum(np.maximum(x * 3, W)))),
    "average": (W, ta.grad(lambda x: np.average(x, weights=W))),
    "convolve": (W, ta.grad(lambda x: np.sum(np.convolve(x, W)))),
    "cross entropy": (
        LABELS,
        ta.grad(lambda x: ta.nn.cross_entropy(np.outer(x, [1.0, 2.0, 3.0]), LABELS)),
    ),
    "a rule of one's own": (
        W,
        ta.grad(
            lambda x: np.sum(ta.custom_rule(pull=lambda ct, out, x: ct * W)(lambda x: x * W)(x))
        ),
    ),
    "a checkpoint": (
        MASK,
        ta.grad(lambda x: np.sum(ta.checkpoint(lambda x: np.where(MASK, x * W, x))(x))),
    ),
    "assignment to places": (PLACES, ta.grad(lambda x: filled(x, PLACES, 5.0))),
    "assignment by a mask": (MASK, ta.grad(lambda x: filled(x, MASK, 5.0))),
    "an assigned array": (W, ta.grad(lambda x: filled(x, slice(2), W[:2] * x[:2]))),
}


UPDATES: dict[str, Callable[[Any], Any]] = {
    "b": np.logical_not,
    "i": lambda array: (array + 1) % 3,
    "f": lambda array: array * 0.5 + 0.25,
    "c": lambda array: array * 1j,
}
"""Other values for an array, by the kind of its dtype."""


@pytest.mark.parametrize("name", CASES)
def test_what_is_updated_in_place_is_seen(name: str) -> None:
    array, function = CASES[name]
    fast = ta.compile(function, engine="numpy")
    for _ in range(3):
        fast(X)
    before = array.copy()
    array[...] = UPDATES[array.dtype.kind](array)
    try:
        for _ in range(3):
            found, wanted = fast(X), function(X)
            assert all(map(np.array_equal, flatten(found), flatten(wanted)))
    finally:
        array[...] = before
    assert all(map(np.array_equal, flatten(fast(X)), flatten(function(X))))
