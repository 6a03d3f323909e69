"""pymanopt: gradients, products with Hessians, and optimizers, by its autograd backend."""

from typing import Any

import autograd.numpy as np
import pymanopt
from pymanopt import manifolds, optimizers

RS = np.random.RandomState(0)


def symmetric(n: int) -> Any:
    a = RS.randn(n, n)
    return a + a.T


def derivatives(problem: Any, point: Any, direction: Any) -> Any:
    return [
        problem.cost(point),
        problem.euclidean_gradient(point),
        problem.riemannian_gradient(point),
        problem.euclidean_hessian(point, direction),
        problem.riemannian_hessian(point, direction),
    ]


def eigenvector() -> Any:
    """A quadratic form on the sphere, whose maximum is the greatest eigenvalue."""
    a = symmetric(6)
    sphere = manifolds.Sphere(6)
    point = sphere.projection(np.ones(6), RS.randn(6))
    point = point / np.linalg.norm(point)

    @pymanopt.function.autograd(sphere)
    def cost(x: Any) -> Any:
        return -np.sum(x * (a @ x))

    problem = pymanopt.Problem(sphere, cost)
    runs = [
        kind(verbosity=0, max_iterations=60).run(problem, initial_point=point)
        for kind in (
            optimizers.SteepestDescent,
            optimizers.ConjugateGradient,
            optimizers.TrustRegions,
        )
    ]
    greatest = np.linalg.eigvalsh(a)[-1]
    assert all(abs(run.cost + greatest) < 1e-6 for run in runs)
    direction = sphere.projection(point, RS.randn(6))
    return derivatives(problem, point, direction), [(run.cost, run.iterations) for run in runs]


def subspace() -> Any:
    """A weighted trace on the Stiefel manifold, with einsum and diag."""
    a = symmetric(5)
    stiefel = manifolds.Stiefel(5, 2)
    point = np.linalg.qr(RS.randn(5, 2))[0]

    @pymanopt.function.autograd(stiefel)
    def cost(x: Any) -> Any:
        return -np.trace(x.T @ a @ x @ np.diag(np.array([2.0, 1.0])))

    problem = pymanopt.Problem(stiefel, cost)
    direction = stiefel.projection(point, RS.randn(5, 2))
    found = optimizers.TrustRegions(verbosity=0).run(problem, initial_point=point)
    return derivatives(problem, point, direction), found.cost


def phases() -> Any:
    """A Hermitian form on complex numbers of modulus one."""
    a = RS.randn(4, 4) + 1j * RS.randn(4, 4)
    a = a + a.conj().T
    circle = manifolds.ComplexCircle(4)
    point = np.exp(1j * RS.randn(4))

    @pymanopt.function.autograd(circle)
    def cost(z: Any) -> Any:
        return -np.real(np.dot(np.conj(z), a @ z))

    problem = pymanopt.Problem(circle, cost)
    direction = circle.projection(point, RS.randn(4) + 1j * RS.randn(4))
    found = optimizers.ConjugateGradient(verbosity=0).run(problem, initial_point=point)
    return derivatives(problem, point, direction), found.cost


def low_rank() -> Any:
    """The nearest matrix of rank two, whose point is a triple of arrays."""
    matrix = RS.randn(5, 4)
    fixed = manifolds.FixedRankEmbedded(5, 4, 2)
    u, s, vt = np.linalg.svd(RS.randn(5, 4), full_matrices=False)
    np.random.seed(0)
    point = type(fixed.random_point())(u[:, :2], s[:2], vt[:2])

    @pymanopt.function.autograd(fixed)
    def cost(u: Any, s: Any, vt: Any) -> Any:
        return np.linalg.norm(u @ np.diag(s) @ vt - matrix) ** 2

    problem = pymanopt.Problem(fixed, cost)
    found = optimizers.ConjugateGradient(verbosity=0).run(problem, initial_point=point)
    rest = np.sum(np.linalg.svd(matrix)[1][2:] ** 2)
    assert abs(found.cost - rest) < 1e-5
    return list(problem.euclidean_gradient(point)), found.cost


def product() -> Any:
    """Several arguments: a regression with a scale on the positive numbers."""
    x, y = RS.randn(8, 3), RS.randn(8)
    both = manifolds.Product([manifolds.Euclidean(3), manifolds.Positive(1, 1)])
    point = [RS.randn(3), np.array([[0.7]])]

    @pymanopt.function.autograd(both)
    def cost(w: Any, scale: Any) -> Any:
        residuals = (y - x @ w) / scale[0, 0]
        return 0.5 * np.sum(residuals**2) + 8 * np.log(scale[0, 0])

    problem = pymanopt.Problem(both, cost)
    direction = [RS.randn(3), np.array([[0.1]])]
    gradients = problem.euclidean_gradient(point), problem.euclidean_hessian(point, direction)
    return [list(each) for each in gradients]


def run() -> Any:
    return eigenvector(), subspace(), phases(), low_rank(), product()
