"""What JAX's two ways to run have in common."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as xp
import numpy as np
from attrs import frozen
from jax.lax import scan
from jax.nn import logsumexp, relu, sigmoid

from benchmarks.libraries.plain import Data, Formula, Outcome, Program, linear

__all__ = [
    "Programs",
    "cross_entropy",
    "fill_triangles",
    "linear",
    "logsumexp",
    "relu",
    "scan",
    "sigmoid",
    "to_numpy",
    "xp",
]

jax.config.update("jax_enable_x64", True)  # type: ignore[no-untyped-call]  # theirs


def cross_entropy(logits: Any, targets: Any) -> Any:
    picked = xp.take_along_axis(logits, targets[:, None], axis=1)[:, 0]
    return xp.mean(logsumexp(logits, axis=1) - picked)


def fill_triangles(diagonals: Any, below: Any, places: Any) -> Any:
    """Make lower triangular matrices, from what stands on the diagonal and below it."""
    count, d = diagonals.shape
    every = xp.arange(d)
    matrices = xp.zeros((count, d, d), diagonals.dtype).at[:, every, every].set(diagonals)
    return matrices.at[:, places[0], places[1]].set(below)


def to_numpy(array: Any) -> np.ndarray[Any, Any]:
    return np.asarray(array)


def on_device(arrays: Data) -> Data:
    """Hand the arrays to JAX, and keep what is not an array."""
    return {
        name: xp.asarray(array) if isinstance(array, np.ndarray) else array
        for name, array in arrays.items()
    }


def finished(outcome: Any) -> Any:
    """Wait until everything is computed."""
    return jax.block_until_ready(outcome)  # type: ignore[no-untyped-call]  # theirs


@frozen
class Programs:
    """Makes the programs, with a function that compiles or leaves it.

    Attributes
    ----------
    compiled : callable
        `jax.jit`, or what gives a function back as it is.
    """

    compiled: Callable[[Any], Any]

    def gradient(self, formula: Formula, p: Data, data: Data) -> Program:
        """Give the value and the gradient."""
        p, data = on_device(p), on_device(data)
        differentiated = self.compiled(jax.value_and_grad(lambda leaves: formula(leaves, data)))
        return lambda: finished(differentiated(p))

    def step(self, formula: Formula, p: Data, data: Data, rate: float, momentum: float) -> Program:
        """Give them, and take a step."""
        p, data = on_device(p), on_device(data)
        velocity = {name: xp.zeros_like(array) for name, array in p.items()}
        differentiated = jax.value_and_grad(formula)

        @self.compiled
        def update(p: Data, velocity: Data) -> tuple[Any, Data, Data, Data]:
            loss, gradients = differentiated(p, data)
            if momentum:
                velocity = {name: momentum * velocity[name] + g for name, g in gradients.items()}
            else:
                velocity = gradients
            p = {name: array - rate * velocity[name] for name, array in p.items()}
            return loss, gradients, p, velocity

        def program() -> Outcome:
            nonlocal p, velocity
            loss, gradients, p, velocity = finished(update(p, velocity))
            return loss, gradients

        return program

    def jacobian(self, formula: Formula, p: Data, data: Data) -> Program:
        """Give the Jacobian, in the mode that is quicker for few variables."""
        x, data = xp.asarray(p["x"]), on_device(data)
        derivative = self.compiled(jax.jacfwd(lambda x: formula({"x": x}, data)))
        return lambda: (None, {"x": finished(derivative(x))})

    def hessian(self, formula: Formula, p: Data, data: Data) -> Program:
        """Give the Hessian, forward over reverse."""
        x, data = xp.asarray(p["x"]), on_device(data)
        derivative = self.compiled(jax.hessian(lambda x: formula({"x": x}, data)))
        return lambda: (None, {"x": finished(derivative(x))})

    def derivative(self, formula: Formula, p: Data, data: Data) -> Program:
        """Give the derivative of a function of a number."""
        x, data = xp.asarray(p["x"]), on_device(data)
        of_x = self.compiled(jax.grad(lambda x: formula({"x": x}, data)))
        return lambda: (None, {"x": finished(of_x(x))})

    def hvp(self, formula: Formula, p: Data, data: Data) -> Program:
        """Give the Hessian times a vector, forward over reverse."""
        x, data = xp.asarray(p["x"]), on_device(data)
        first = jax.grad(lambda x: formula({"x": x}, data))
        product = self.compiled(lambda x, v: jax.jvp(first, (x,), (v,))[1])
        return lambda: (None, {"x": finished(product(x, data["v"]))})
