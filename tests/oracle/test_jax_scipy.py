"""Objects of SciPy's against JAX's own."""

from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad.scipy import interpolate
from tape_ad.scipy.spatial import transform
from tests.oracle.oracles import oracle

jax: Any = oracle("jax")
jax_interpolate: Any = oracle("jax.scipy.interpolate")
jax_transform: Any = oracle("jax.scipy.spatial.transform")
jax.config.update("jax_enable_x64", True)
jax.config.update("jax_disable_most_optimizations", True)  # compiling is where the time goes

Array = Any

GRID = (np.array([0.0, 0.7, 1.5, 2.1]), np.array([-1.0, 0.3, 0.9, 2.0, 2.6]))
VALUES = np.sin(np.arange(20.0)).reshape(4, 5)
POINTS = np.array([[0.3, 0.2], [1.7, 1.5], [2.0, 2.5], [0.9, -0.6]])
WEIGHTS = np.array([0.3, -1.2, 0.8, 1.7])


@pytest.mark.parametrize("method", ["linear", "nearest"])
def test_interpolation_on_a_grid(method: str) -> None:
    def loss(module: Any, values: Array, points: Array) -> Array:
        return (WEIGHTS * module.RegularGridInterpolator(GRID, values, method)(points)).sum()

    gradients = ta.grad(lambda v, p: loss(interpolate, v, p), (0, 1))(VALUES, POINTS)
    expected = jax.jit(jax.grad(lambda v, p: loss(jax_interpolate, v, p), (0, 1)))(VALUES, POINTS)
    for gradient, other in zip(gradients, expected, strict=True):
        np.testing.assert_allclose(gradient, other, rtol=1e-12, atol=1e-14)


ROTVECS = np.array([[0.4, -1.1, 0.7], [2.0, 1.5, -1.2]])


def test_rotations() -> None:
    def loss(module: Any, rotvecs: Array) -> Array:
        rotation = module.Rotation.from_rotvec(rotvecs)
        weights = np.sin(np.arange(1.0, 19.0))
        matrices = (weights.reshape(2, 3, 3) * rotation.as_matrix()).sum()
        return matrices + (weights[:6].reshape(2, 3) * rotation.as_rotvec()).sum()

    gradient = ta.grad(lambda x: loss(transform, x))(ROTVECS)
    expected = jax.jit(jax.grad(lambda x: loss(jax_transform, x)))(ROTVECS)
    np.testing.assert_allclose(gradient, expected, rtol=1e-10, atol=1e-12)
