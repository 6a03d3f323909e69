"""Functions that batches are tried with, and what they are compared by."""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from tape_ad import nn

Array = Any
RNG = np.random.default_rng(0)
X = RNG.normal(size=(5, 3))
A = RNG.normal(size=(4, 3))
GRIDS = RNG.normal(size=(5, 3, 3)) + 3 * np.eye(3)


def filled(x: Array) -> Array:
    out = np.zeros_like(x)
    out[1:] = x[:-1] * x[1:]
    out[0] += x[-1]
    out[[0, 2]] *= 2.0
    return out


def kept(x: Array) -> Array:
    y = x * 1.0
    part = y[1:]
    part[...] = 7.0
    number = y[0]
    number += 1.0
    return y + number


def without_names(x: Array) -> Array:
    y = 2 * x
    y += x[0]
    y -= 1
    return y


def filled_like_it(x: Array) -> Array:
    out = np.zeros((2, 3), like=x)
    out[0] = x[::-1]
    out[1, 1:] = x[0] * np.asarray(x, like=x)[:2]
    return out


FUNCTIONS: dict[str, Callable[[Array], Array]] = {
    "elementwise": lambda x: np.sin(x) * x**2 - 1 / (2 + x),
    "a number": lambda x: np.sum(x**2),
    "np.newaxis": lambda x: x[:, np.newaxis] * x,
    "x.T": lambda x: (x[:, None] * A.T).T,
    "len and shape": lambda x: x / len(x) + x.shape[0] + x.ndim + x.size,
    "from the end": lambda x: x[..., 0] * x[-1] + x[::-1],
    "numbers by numbers": lambda x: [a * b for a, b in itertools.pairwise(x)],
    "a matrix and a vector": lambda x: A @ x,
    "a vector and a matrix": lambda x: x @ A.T,
    "two vectors": lambda x: x @ x,
    "a vector and itself as a matrix": lambda x: np.outer(x, x) @ x,
    "np.linalg.solve": lambda x: np.linalg.solve(np.outer(x, x) + np.eye(3), x),
    "np.linalg.norm": lambda x: np.linalg.norm(x) + np.linalg.norm(np.outer(x, x), axis=0),
    "np.einsum": lambda x: np.einsum("ij,j->i", A, x) + np.einsum("i,i", x, x),
    "np.stack": lambda x: np.stack([x[0], x[1] * x[2], np.sum(x)]),
    "np.concatenate": lambda x: np.concatenate([x, np.ones(2), x[:1]]),
    "np.where": lambda x: np.where(x > 0, x, x**2),
    "a constant": lambda x: np.arange(3.0),
    "a number that is constant": lambda x: 3.0,
    "several": lambda x: {"a": x, "b": (np.sum(x), x.max())},
    "a batched place": lambda x: x[np.argmin(x)] * np.outer(x, x)[:, np.argmax(x)],
    "batched places": lambda x: np.exp(np.outer(x, x)[np.argsort(x), ::2] + x[np.argsort(x)[:1]]),
    "np.take of batched places": lambda x: np.exp(np.take(x, np.argsort(x)[:2])),
    "an order": lambda x: np.take_along_axis(A, np.argsort(x)[np.newaxis], axis=1) * np.sort(x),
    "assignment": filled,
    "views": kept,
    "in place": without_names,
    "np.split": lambda x: np.split(x, [1])[1],
    "booleans": lambda x: np.where(np.isfinite(x) & ~(x < 0), x, 0),
    "reshape": lambda x: np.outer(x, x).reshape(-1)[2:4].reshape((2, 1)),
    "masked by what is the same": lambda x: x[np.array([True, False, True])],
    "complex": lambda x: np.abs(x * np.exp(1j * x)) + np.real(x + 2j),
    "indices apart": lambda x: np.multiply.outer(x, A)[[0, 2], :, [1, 2]],
    "a fill": lambda x: np.full_like(x, 2.0) * x,
    "np.zeros(like=)": filled_like_it,
    "activations": lambda x: [
        each(x) for each in (nn.relu, nn.sigmoid, nn.gelu, nn.elu, nn.selu, nn.silu, nn.softplus)
    ],
    "a slope": lambda x: nn.leaky_relu(x, 0.2),
    "softmax": lambda x: nn.softmax(np.outer(x, x)) * nn.log_softmax(np.outer(x, x), (0, 1)),
    "logsumexp": lambda x: nn.logsumexp(x) + nn.logsumexp(np.outer(x, x), 0, keepdims=True),
    "np.convolve": lambda x: [np.convolve(x, x), np.convolve([2.0, 1, 3, 4], x, "same")],
    "np.convolve of a long one": lambda x: np.convolve(x, [2.0, 1.0, 0.0, 3.0, 5.0], "valid"),
    "np.correlate": lambda x: [
        np.correlate(x, x[:2]),
        np.correlate(x, x[:2], "same"),
        np.correlate(A[:, 0], x, "full"),
    ],
    "np.block": lambda x: np.block([[np.outer(x, x), x[:, None]], [x, 1.0]]),
    "np.insert": lambda x: [np.insert(x, 1, x[:2]), np.insert(np.outer(x, x), 1, x, axis=1)],
    "np.insert at several": lambda x: np.insert(np.outer(x, x), [0, -1], [[1.0], [2.0]], axis=0),
    "np.insert in a slice": lambda x: np.insert(np.arange(3), slice(0, 2), 10 * x[:2]) + x[0],
    "np.linspace": lambda x: [np.linspace(x[0], 1, 4), np.linspace(0, x, num=3, axis=-1)],
}


def leaves(tree: Any) -> list[Any]:
    """List the arrays in a structure."""
    if isinstance(tree, dict):
        tree = list(tree.values())
    if isinstance(tree, (list, tuple)):
        return [leaf for each in tree for leaf in leaves(each)]
    return [tree]


def same(found: Any, each: list[Any]) -> None:
    """Compare a batched result with those of one after the other."""
    for leaf, parts in zip(leaves(found), zip(*map(leaves, each), strict=True), strict=True):
        expected = np.stack([np.asarray(part) for part in parts])
        assert leaf.dtype == expected.dtype
        np.testing.assert_allclose(leaf, expected, rtol=1e-12, atol=1e-14)


def total(tree: Any) -> Any:
    """Add up everything in a structure, each with a factor of its own."""
    return sum(
        np.sum(leaf * np.cos(np.arange(np.size(leaf))).reshape(np.shape(leaf)))
        for leaf in leaves(tree)
    )
