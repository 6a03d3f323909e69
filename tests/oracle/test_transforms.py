"""Transforms against JAX's transforms of the same names, on the same functions."""

from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tests.functions import AT, HESSIANS_OF, numpy_like
from tests.oracle.oracles import oracle

jax: Any = oracle("jax")
jax.config.update("jax_enable_x64", True)

THEIRS = numpy_like(jax.numpy)
V = np.array([1.0, -2.0, 0.5, 3.0])


def close(got: Any, expected: Any) -> None:
    expected = np.asarray(expected)
    np.testing.assert_allclose(got, expected, rtol=0, atol=1e-12 * max(1, np.max(np.abs(expected))))


@pytest.mark.parametrize("name", HESSIANS_OF)
def test_gradients_and_hessians(name: str) -> None:
    ours, theirs = HESSIANS_OF[name], THEIRS[name]
    value, slopes = jax.value_and_grad(theirs)(AT)
    close(ta.value_and_grad(ours)(AT)[0], value)
    close(ta.grad(ours)(AT), slopes)
    expected = jax.jit(jax.hessian(theirs))(AT)
    close(ta.hessian(ours)(AT), expected)
    close(ta.jacobian(ta.jacobian(ours, mode="forward"), mode="reverse")(AT), expected)
    close(ta.hvp(ours, AT, V), expected @ V)
    close(ta.hessian_diag(ours, AT), np.diag(expected))


def test_third_derivatives() -> None:
    ours, theirs = HESSIANS_OF["network"], THEIRS["network"]
    expected = jax.jit(jax.jacfwd(jax.hessian(theirs)))(AT)
    close(ta.jacobian(ta.hessian(ours))(AT), expected)


def test_vjp_jvp_and_linearize_of_trees() -> None:
    def function(np: Any) -> Any:
        return lambda p, y: {"a": np.tanh(p["w"] @ y), "b": (np.sum(p["w"]), y[::-1] * 2)}

    ours, theirs = function(np), function(jax.numpy)
    p, y = {"w": np.arange(12.0).reshape(3, 4) / 10}, AT
    tangents = ({"w": np.ones((3, 4))}, V)
    cts = {"a": np.array([1.0, 2.0, 3.0]), "b": (np.array(4.0), V)}
    out, pull = ta.vjp(ours, p, y)
    their_out, their_pull = jax.vjp(theirs, p, y)
    _, pushed = ta.jvp(ours, (p, y), tangents)
    _, push = ta.linearize(ours, p, y)
    _, their_pushed = jax.jvp(theirs, (p, y), tangents)
    jacobian = ta.jacobian(ours, (0, 1))(p, y)
    theirs_of_both = jax.jacrev(theirs, (0, 1))(p, y)
    pairs = [
        (out, their_out),
        (pull(cts), their_pull(cts)),
        (pushed, their_pushed),
        (push(*tangents), their_pushed),
        (jacobian, theirs_of_both),
    ]
    for got, expected in pairs:
        leaves, structure = jax.tree.flatten(got)
        their_leaves, their_structure = jax.tree.flatten(expected)
        assert structure == their_structure
        for one, other in zip(leaves, their_leaves, strict=True):
            close(one, other)
