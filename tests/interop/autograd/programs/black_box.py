"""Variational inference by samples, with densities written out."""

from typing import Any

import autograd.numpy as np
import autograd.numpy.random as npr
from autograd import grad, value_and_grad
from autograd.misc.optimizers import adam


def log_normal(x: Any, mean: Any, log_std: Any) -> Any:
    return -0.5 * ((x - mean) / np.exp(log_std)) ** 2 - log_std - 0.5 * np.log(2 * np.pi)


def run() -> Any:
    rs = npr.RandomState(4)

    def log_posterior(x: Any) -> Any:
        mu, log_sigma = x[:, 0], x[:, 1]
        return log_normal(log_sigma, 0, np.log(1.35)) + log_normal(mu, 0, log_sigma)

    def bound(params: Any, t: int) -> Any:
        mean, log_std = params[:2], params[2:]
        samples = rs.randn(10, 2) * np.exp(log_std) + mean
        entropy = 0.5 * 2 * (1.0 + np.log(2 * np.pi)) + np.sum(log_std)
        return -(entropy + np.mean(log_posterior(samples)))

    found = adam(grad(bound), np.array([-1.0, 0.5, -2.0, -2.0]), step_size=0.1, num_iters=20)
    return found, value_and_grad(bound)(found, 0)
