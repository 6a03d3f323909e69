"""The methods of `scipy.stats.multivariate_normal`, also for a covariance without an inverse."""

from typing import Any

import numpy as np
import scipy.stats

import tape_ad.scipy.stats
from tape_ad.base.errors import UnsupportedArgumentError
from tape_ad.interop.autograd.fallback import falling_back
from tape_ad.interop.autograd.values import holds_handles, plain

__all__ = ["logpdf", "pdf"]

PLAIN = scipy.stats.multivariate_normal


def logpdf(x: Any, mean: Any, cov: Any, allow_singular: bool = False) -> Any:
    """Compute the logarithm of the density.

    Parameters
    ----------
    x : array or Tensor, shape (..., n)
    mean : array or Tensor, shape (n,)
    cov : array or Tensor, shape (n, n)
    allow_singular : bool
        Whether `cov` may have no inverse, and then has no derivative.

    Returns
    -------
    array or Tensor, shape (...)

    Raises
    ------
    UnsupportedArgumentError
        When `cov` is a handle and `allow_singular` is true.
    """
    if not allow_singular or not any(map(holds_handles, (x, mean, cov))):
        return tape_ad.scipy.stats.multivariate_normal.logpdf(x, mean, cov, allow_singular)
    if holds_handles(cov):
        raise UnsupportedArgumentError(
            "multivariate_normal has no derivative with respect to cov for allow_singular=True; "
            "leave that out, and give a covariance matrix that has an inverse"
        )
    away = np.atleast_1d(x - mean)
    greatest = PLAIN.logpdf(np.zeros(away.shape[-1]), cov=cov, allow_singular=True)
    inverse = np.linalg.pinv(cov, hermitian=True)
    exact = PLAIN.logpdf(plain(away), cov=cov, allow_singular=True)
    inside = greatest - 0.5 * np.sum((away @ inverse) * away, axis=-1)
    return np.where(np.isneginf(exact), exact, inside)


def pdf(x: Any, mean: Any, cov: Any, allow_singular: bool = False) -> Any:
    """Compute the density; see `logpdf`."""
    if allow_singular and any(map(holds_handles, (x, mean, cov))):
        return np.exp(logpdf(x, mean, cov, allow_singular))
    return tape_ad.scipy.stats.multivariate_normal.pdf(x, mean, cov, allow_singular)


__getattr__ = falling_back(globals(), tape_ad.scipy.stats.multivariate_normal, PLAIN)
