"""JAX compiled: traced once, before any time is taken."""

import jax

from benchmarks.libraries.jax_shared import (
    Programs,
    cross_entropy,
    fill_triangles,
    linear,
    logsumexp,
    relu,
    scan,
    sigmoid,
    to_numpy,
    xp,
)

__all__ = [
    "cross_entropy",
    "derivative",
    "fill_triangles",
    "gradient",
    "hessian",
    "hvp",
    "jacobian",
    "linear",
    "logsumexp",
    "relu",
    "scan",
    "sigmoid",
    "step",
    "to_numpy",
    "xp",
]

programs = Programs(jax.jit)
gradient = programs.gradient
step = programs.step
jacobian = programs.jacobian
hessian = programs.hessian
hvp = programs.hvp
derivative = programs.derivative
