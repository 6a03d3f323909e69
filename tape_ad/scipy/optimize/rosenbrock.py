"""Rosenbrock's function, with which optimizers are tried, on handles."""

from typing import Any

import numpy as np
import scipy.optimize

from tape_ad.extend.arrays import any_handle, array_of

__all__ = ["rosen", "rosen_der", "rosen_hess", "rosen_hess_prod"]


def rosen(x: Any) -> Any:
    """Compute the sum of 100 (x[i+1] - x[i]²)² + (1 - x[i])², as `scipy.optimize.rosen` does.

    Parameters
    ----------
    x : array or Tensor, shape (n,) or (n, ...)

    Returns
    -------
    float, array or Tensor

    Examples
    --------
    >>> float(rosen(np.array([1.0, 2.0])))
    100.0
    """
    if not any_handle(x):
        return scipy.optimize.rosen(x)
    x = array_of(x)
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2.0) ** 2.0 + (1 - x[:-1]) ** 2.0, axis=0)


def rosen_der(x: Any) -> Any:
    """Compute the gradient of `rosen`, shape (n,), as `scipy.optimize.rosen_der` does.

    Examples
    --------
    >>> rosen_der(np.array([1.0, 2.0]))
    array([-400.,  200.])
    """
    if not any_handle(x):
        return scipy.optimize.rosen_der(x)
    x = array_of(x)
    rise = 200 * (x[1:] - x[:-1] ** 2)
    zero = np.zeros_like(x[:1])
    own = np.concatenate([-2 * x[:-1] * rise - 2 * (1 - x[:-1]), zero])
    return own + np.concatenate([zero, rise])


def rosen_hess(x: Any) -> Any:
    """Compute the Hessian of `rosen`, shape (n, n), as `scipy.optimize.rosen_hess` does.

    Examples
    --------
    >>> rosen_hess(np.array([1.0, 2.0]))
    array([[ 402., -400.],
           [-400.,  200.]])
    """
    if not any_handle(x):
        return scipy.optimize.rosen_hess(x)
    main, beside = diagonals(array_of(x))
    return np.diag(main) + np.diag(beside, 1) + np.diag(beside, -1)


def rosen_hess_prod(x: Any, p: Any) -> Any:
    """Compute the product of the Hessian of `rosen` with a vector, shape (n,), as SciPy does.

    Examples
    --------
    >>> rosen_hess_prod(np.array([1.0, 2.0]), np.array([1.0, 0.0]))
    array([ 402., -400.])
    """
    if not any_handle((x, p)):
        return scipy.optimize.rosen_hess_prod(x, p)
    p, (main, beside) = array_of(p), diagonals(array_of(x))
    zero = np.zeros_like(p[:1])
    return (
        main * p + np.concatenate([beside * p[1:], zero]) + np.concatenate([zero, beside * p[:-1]])
    )


def diagonals(x: Any) -> tuple[Any, Any]:
    """Give the diagonal of the Hessian, and the one beside it."""
    zero = np.zeros_like(x[:1])
    own = np.concatenate([1200 * x[:-1] ** 2 - 400 * x[1:] + 2, zero])
    return own + np.concatenate([zero, np.full_like(x[1:], 200.0)]), -400 * x[:-1]
