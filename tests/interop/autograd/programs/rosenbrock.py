"""The Rosenbrock function: its gradient, Hessian, products, and its minimum by SciPy."""

from typing import Any

import autograd.numpy as np
import scipy.optimize
from autograd import (
    grad,
    hessian,
    hessian_vector_product,
    make_hvp,
    make_jvp,
    make_vjp,
    value_and_grad,
)


def rosenbrock(x: Any) -> Any:
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def run() -> Any:
    x0 = np.array([-1.2, 1.0, 0.7])
    v = np.array([1.0, -2.0, 0.5])
    found = scipy.optimize.minimize(value_and_grad(rosenbrock), x0, jac=True, method="BFGS")
    newton = scipy.optimize.minimize(
        rosenbrock, x0, jac=grad(rosenbrock), hess=hessian(rosenbrock), method="Newton-CG"
    )
    return {
        "gradient": grad(rosenbrock)(x0),
        "hessian": hessian(rosenbrock)(x0),
        "product": hessian_vector_product(rosenbrock)(x0, v),
        "made": make_hvp(rosenbrock)(x0)[0](v),
        "jvp": make_jvp(rosenbrock)(x0)(v),
        "vjp": make_vjp(rosenbrock)(x0)[0](2.0),
        "minimum": np.round(found.x, 4),
        "newton": np.round(newton.x, 4),
    }
