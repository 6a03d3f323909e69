"""A mixture of Gaussians, fitted with parameters in a dict, by products with its Hessian."""

from typing import Any

import autograd.numpy as np
import autograd.numpy.random as npr
import scipy.optimize
from autograd import grad, hessian_vector_product
from autograd.misc.flatten import flatten_func
from autograd.scipy.special import logsumexp


def run() -> Any:
    rs = npr.RandomState(1)
    data = np.concatenate([rs.randn(15, 2) - 2, rs.randn(15, 2) * 0.5 + 1])
    start = {
        "log proportions": 0.1 * rs.randn(2),
        "means": rs.randn(2, 2),
        "lower triangles": np.zeros((2, 2, 2)) + np.eye(2),
    }

    def log_density(x: Any, mean: Any, root: Any) -> Any:
        scaled = np.dot(x - mean, root)
        determinant = np.linalg.slogdet(root)[1]
        return -0.5 * np.sum(scaled**2, axis=1) + determinant - np.log(2 * np.pi)

    def negative_log_likelihood(params: Any) -> Any:
        shares = params["log proportions"] - logsumexp(params["log proportions"])
        parts = [
            share + log_density(data, mean, root)
            for share, mean, root in zip(
                shares, params["means"], params["lower triangles"], strict=True
            )
        ]
        return -np.sum(logsumexp(np.vstack(parts), axis=0))

    flat, unflatten, x0 = flatten_func(negative_log_likelihood, start)
    objective = lambda x: flat(x)[0]  # noqa: E731 - as such programs are written
    product = hessian_vector_product(objective)
    found = scipy.optimize.minimize(
        objective,
        x0,
        jac=grad(objective),
        hessp=product,
        method="Newton-CG",
        options={"maxiter": 5},
    )
    return objective(x0), grad(objective)(x0), product(x0, np.ones(x0.size)), unflatten(found.x)
