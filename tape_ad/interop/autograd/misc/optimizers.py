"""Plain stochastic optimizers, of structures of parameters; `tape_ad.optim` has more."""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from tape_ad.interop.autograd.misc.flatten import flatten

__all__ = ["adam", "rmsprop", "sgd", "unflatten_optimizer"]

Function = Callable[..., Any]


def unflatten_optimizer(optimize: Function) -> Function:
    """Let an optimizer of vectors take nested dicts, lists and tuples of arrays.

    Parameters
    ----------
    optimize : callable
        ``optimize(grad, x0, callback, ...)``, where ``grad(x, i)`` is the gradient in iteration i,
        and ``callback(x, i, g)`` is called in each; it gives the last x.
    """

    @functools.wraps(optimize)
    def optimize_structure(
        grad: Function, x0: Any, callback: Function | None = None, *args: Any, **kwargs: Any
    ) -> Any:
        start, unflatten = flatten(x0)

        def slope(x: Any, i: int) -> Any:
            return flatten(grad(unflatten(x), i))[0]

        def told(x: Any, i: int, g: Any) -> None:
            if callback is not None:
                callback(unflatten(x), i, unflatten(g))

        return unflatten(optimize(slope, start, told if callback else None, *args, **kwargs))

    return optimize_structure


@unflatten_optimizer
def sgd(
    grad: Function,
    x: Any,
    callback: Function | None = None,
    num_iters: int = 200,
    step_size: float = 0.1,
    mass: float = 0.9,
) -> Any:
    """Descend with momentum, of which each gradient makes the share ``1 - mass``."""
    velocity = np.zeros(len(x))
    for i in range(num_iters):
        g = grad(x, i)
        if callback:
            callback(x, i, g)
        velocity = mass * velocity - (1.0 - mass) * g
        x = x + step_size * velocity
    return x


@unflatten_optimizer
def rmsprop(
    grad: Function,
    x: Any,
    callback: Function | None = None,
    num_iters: int = 100,
    step_size: float = 0.1,
    gamma: float = 0.9,
    eps: float = 10**-8,
) -> Any:
    """Descend by gradients over the root of their mean square, which starts from 1."""
    mean_square = np.ones(len(x))
    for i in range(num_iters):
        g = grad(x, i)
        if callback:
            callback(x, i, g)
        mean_square = gamma * mean_square + (1 - gamma) * g**2
        x = x - step_size * g / (np.sqrt(mean_square) + eps)
    return x


@unflatten_optimizer
def adam(
    grad: Function,
    x: Any,
    callback: Function | None = None,
    num_iters: int = 100,
    step_size: float = 0.001,
    b1: float = 0.9,
    b2: float = 0.999,
    eps: float = 10**-8,
) -> Any:
    """Descend by Adam, https://arxiv.org/abs/1412.6980."""
    mean, mean_square = np.zeros(len(x)), np.zeros(len(x))
    for i in range(num_iters):
        g = grad(x, i)
        if callback:
            callback(x, i, g)
        mean = b1 * mean + (1 - b1) * g
        mean_square = b2 * mean_square + (1 - b2) * g**2
        root = np.sqrt(mean_square / (1 - b2 ** (i + 1)))
        x = x - step_size * mean / (1 - b1 ** (i + 1)) / (root + eps)
    return x
