"""`tape_ad.batched` against JAX's vmap, of the same functions along the same axes."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tests.oracle.oracles import oracle

jax: Any = oracle("jax")
jax.config.update("jax_enable_x64", True)

Array = Any
RNG = np.random.default_rng(0)
X = RNG.normal(size=(5, 4))
Y = RNG.normal(size=(3, 5, 4))
M = RNG.normal(size=(4, 4, 5)) + 4 * np.eye(4)[..., None]

CALLS: dict[str, tuple[Callable[[Any], Any], tuple[Any, ...], Any, Any]] = {
    "elementwise": (lambda np: lambda x: np.sin(x) * x[0] - np.cumsum(x), (X,), 0, 0),
    "along the last axis": (lambda np: lambda x: x[::-1] * np.max(x), (X,), -1, -1),
    "a product": (lambda np: lambda m, x: m @ x, (M, X), (2, 0), 0),
    "the same for each": (lambda np: lambda m, x: x @ m[..., 0], (M, X), (None, 0), 1),
    "axes that differ": (lambda np: lambda x, y: np.outer(x, y @ x), (X, Y), (0, 1), 1),
    "a solve": (lambda np: np.linalg.solve, (M, X), (-1, 0), 0),
    "a determinant": (lambda np: lambda m: np.linalg.slogdet(m)[1], (M,), 2, 0),
    "einsum": (lambda np: lambda x, y: np.einsum("i,ji->j", x, y), (X, Y), (0, 1), 0),
    "a choice": (lambda np: lambda x: np.where(x > 0, x**2, np.exp(x)), (X,), 0, 1),
    "sorted": (lambda np: lambda x: np.sort(x)[1:] * x[np.argmax(x)], (X,), 0, 0),
    "windows": (lambda np: lambda x, y: np.convolve(x, y[0]), (X, Y), (0, 1), 0),
    "blocks": (lambda np: lambda x: np.block([[np.outer(x, x)], [x]]), (X,), 0, 0),
    "a tree": (
        lambda np: lambda p: {"a": p["x"] @ p["m"][..., 0], "b": np.sum(p["x"])},
        ({"x": X, "m": M},),
        ({"x": 0, "m": None},),
        0,
    ),
}


def total(np: Any, tree: Any) -> Any:
    """Add up everything in a structure, each element with a factor of its own."""
    leaves = list(tree.values()) if isinstance(tree, dict) else [tree]
    return sum(np.sum(x * np.cos(np.arange(x.size)).reshape(x.shape)) for x in leaves)


def close(got: Any, expected: Any) -> None:
    leaves, structure = jax.tree.flatten(got)
    theirs, their_structure = jax.tree.flatten(expected)
    assert structure == their_structure
    for one, other in zip(leaves, theirs, strict=True):
        assert one.shape == other.shape
        np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("name", CALLS)
def test_values(name: str) -> None:
    function, args, in_axes, out_axes = CALLS[name]
    ours = ta.batched(function(np), in_axes, out_axes)
    close(ours(*args), jax.vmap(function(jax.numpy), in_axes, out_axes)(*args))


@pytest.mark.parametrize("name", CALLS)
def test_gradients_of_each(name: str) -> None:
    function, args, in_axes, _ = CALLS[name]

    def slopes(np: Any, grad: Any) -> Any:
        def of_one(*args: Any) -> Any:
            return total(np, function(np)(*args))

        return grad(of_one, tuple(range(len(args))))

    ours = ta.batched(slopes(np, ta.grad), in_axes)
    close(ours(*args), jax.vmap(slopes(jax.numpy, jax.grad), in_axes)(*args))


@pytest.mark.parametrize("name", CALLS)
def test_the_gradient_of_all(name: str) -> None:
    function, args, in_axes, out_axes = CALLS[name]

    def slopes(np: Any, grad: Any, batched: Any) -> Any:
        all_of = batched(function(np), in_axes, out_axes)
        return grad(lambda *args: total(np, all_of(*args)), tuple(range(len(args))))(*args)

    close(slopes(np, ta.grad, ta.batched), slopes(jax.numpy, jax.grad, jax.vmap))


@pytest.mark.parametrize("name", ["elementwise", "a choice", "sorted"])
def test_jacobians_and_hessians_of_each(name: str) -> None:
    function = CALLS[name][0]
    ours, theirs = function(np), function(jax.numpy)
    close(ta.batched(ta.jacobian(ours))(X), jax.vmap(jax.jacobian(theirs))(X))

    def our_total(x: Array) -> Array:
        return total(np, ours(x))

    def their_total(x: Array) -> Array:
        return total(jax.numpy, theirs(x))

    close(ta.batched(ta.hessian(our_total))(X), jax.vmap(jax.hessian(their_total))(X))


def test_one_batch_in_another() -> None:
    def distances(np: Any, batched: Any) -> Any:
        between = batched(lambda x, y: np.sum((x - y) ** 2), (None, 0))
        return batched(between, (0, None))(X, X[:3])

    close(distances(np, ta.batched), distances(jax.numpy, jax.vmap))
