"""Linear least squares that SciPy has found, as handles; see `stationary`."""

from typing import Any

import numpy as np
import scipy.optimize
import scipy.sparse
import scipy.sparse.linalg

from tape_ad.base.errors import SingularJacobianError
from tape_ad.extend.arrays import (
    Array,
    any_handle,
    as_constant_handle,
    joined,
    plain,
    refuse_handles,
)
from tape_ad.extend.solvers import valued, warn_unconverged
from tape_ad.scipy.optimize.constraints import Constraint, box
from tape_ad.scipy.optimize.fits import pair_of, plain_pair
from tape_ad.scipy.optimize.stationary import NEGLIGIBLE, near, stationary, warn_if_not
from tape_ad.scipy.sparse.linalg import spsolve

__all__ = ["isotonic_regression", "lsq_linear", "nnls"]


def nnls(A: Any, b: Any, *args: Any, **options: Any) -> Any:  # noqa: N803 - SciPy's name
    """Minimize ``|A x - b|`` for x without negative elements, as `scipy.optimize.nnls` does.

    Parameters
    ----------
    A : array or Tensor, shape (m, n)
    b : array or Tensor, shape (m,)
    *args, **options
        SciPy's `maxiter`.

    Returns
    -------
    x : array or Tensor, shape (n,)
        Elements that are held at 0 stay there.
    rnorm : float or Tensor
        The norm of the residual.

    Raises
    ------
    SingularJacobianError
        Where the columns for the others are not independent.

    Examples
    --------
    >>> nnls(np.eye(2), np.array([1.0, -1.0]))[0]
    array([1., 0.])
    """
    refuse_handles("nnls", {"maxiter": (args, options)})
    if not any_handle((A, b)):
        return scipy.optimize.nnls(A, b, *args, **options)
    A, b = joined(A), joined(b)  # noqa: N806 - SciPy's name
    x, rnorm = scipy.optimize.nnls(plain(A), plain(b), *args, **options)
    x = linear_minimum("nnls", A, b, x, [box(0.0, np.inf)])
    return x, valued(np.linalg.norm(A @ x - b), rnorm)


def lsq_linear(
    A: Any,  # noqa: N803 - the name that SciPy gives it
    b: Any,
    bounds: Any = (-np.inf, np.inf),
    *args: Any,
    **options: Any,
) -> Any:
    """Minimize ``|A x - b|`` between bounds, as `scipy.optimize.lsq_linear` does.

    Parameters
    ----------
    A : array or Tensor, shape (m, n)
    b : array or Tensor, shape (m,)
    bounds : pair of array or Bounds
        May be handles.
    *args, **options
        As in SciPy.

    Returns
    -------
    scipy.optimize.OptimizeResult
        SciPy's; with handles, `x`, `cost` and `fun` are.

    Raises
    ------
    SingularJacobianError
        Where the columns of what is not held at a bound are not independent.

    Examples
    --------
    >>> lsq_linear(np.eye(2), np.array([1.0, 3.0]), bounds=(0.0, 2.0)).x.round(6)
    array([1., 2.])
    """
    refuse_handles("lsq_linear", {**options, "further arguments": args})
    limits = pair_of(bounds)
    handles = A, b, [(each.lower, each.upper) for each in limits]
    if not any_handle(handles):
        return scipy.optimize.lsq_linear(A, b, bounds, *args, **options)
    sparse = scipy.sparse.issparse(A)
    A, b = A if sparse else joined(A), joined(b)  # noqa: N806 - SciPy's name
    result = scipy.optimize.lsq_linear(plain(A), plain(b), plain_pair(bounds), *args, **options)
    if not result.success:
        warn_unconverged("lsq_linear", result.message)
    if sparse:
        result.x = sparse_minimum(A.tocsc(), b, result.x, limits)
    else:
        result.x = linear_minimum("lsq_linear", A, b, result.x, limits)
    result.fun = valued(A @ result.x - b, result.fun)
    result.cost = valued(np.sum(result.fun**2) / 2, result.cost)
    return result


def linear_minimum(name: str, A: Any, b: Any, x: Array, limits: list[Constraint]) -> Any:  # noqa: N803 - SciPy's name
    """Make a handle of what minimizes |A x - b|."""
    x, holds = stationary(lambda x: A.mT @ (A @ x - b), x, limits, name)
    warn_if_not(holds, name)
    return x


def sparse_minimum(A: Any, b: Any, x: Array, limits: list[Constraint]) -> Any:  # noqa: N803 - SciPy's name
    """Make a handle of what minimizes |A x - b| for a sparse matrix, which is no handle.

    What is held at a bound moves with it, and the rest solves the normal equations.
    """
    slope = A.T @ (A @ x - plain(b))
    low = high = np.zeros(x.shape, bool)
    held: Any = np.zeros(x.shape)
    if limits:
        lower, upper = limits[0].bounds(x.size)
        pushing = abs(slope) > NEGLIGIBLE * np.max(abs(slope))
        low = pushing & (slope > 0) & near(x, plain(lower))
        high = pushing & (slope < 0) & near(x, plain(upper))
        held = np.where(low, lower, np.where(high, upper, 0.0))
    free = ~(low | high)
    chosen, columns = scipy.sparse.eye_array(x.size, format="csr")[:, free], A[:, free]
    normal = (columns.T @ columns).tocsc()
    check_rank(normal)
    moving = spsolve(normal, columns.T @ (b - A @ held)) if free.any() else np.zeros(0)
    return as_constant_handle(valued(held + chosen @ moving, x), b, held)


def check_rank(normal: Any) -> None:
    """Refuse normal equations that have no solution or several.

    Raises
    ------
    SingularJacobianError
    """
    try:
        pivots = abs(scipy.sparse.linalg.splu(normal).U.diagonal())
        regular = np.min(pivots, initial=1.0) > 1e-13 * np.max(pivots, initial=0.0)
    except RuntimeError:
        regular = False
    if not regular:
        raise SingularJacobianError(
            "lsq_linear: the columns of A for what is not held at a bound are not independent, so "
            "that the minimum is not the only one, and has no derivative; leave such columns out, "
            "or pass plain numbers where no gradient is wanted"
        )


def isotonic_regression(y: Any, *, weights: Any = None, increasing: bool = True) -> Any:
    """Fit numbers in order, as `scipy.optimize.isotonic_regression` does.

    Parameters
    ----------
    y : array or Tensor, shape (n,)
    weights : array or Tensor, shape (n,), optional
    increasing : bool

    Returns
    -------
    scipy.optimize.OptimizeResult
        SciPy's; with handles, `x` and `weights` are. The blocks of equal numbers do not change.

    Examples
    --------
    >>> import tape_ad as ta
    >>> last = lambda y: isotonic_regression(y).x[-1]
    >>> ta.grad(last)(np.array([1.0, 4.0, 2.0]))
    array([0. , 0.5, 0.5])
    """
    if not any_handle((y, weights)):
        return scipy.optimize.isotonic_regression(y, weights=weights, increasing=increasing)
    y = np.atleast_1d(joined(y))
    weights = None if weights is None else np.atleast_1d(joined(weights))
    found = scipy.optimize.isotonic_regression(
        plain(y), weights=plain(weights), increasing=increasing
    )
    w = np.ones(y.shape) if weights is None else weights
    starts = found.blocks[:-1]
    total = np.add.reduceat(w, starts)
    means = np.add.reduceat(w * y, starts) / total
    found.x = valued(means[np.repeat(np.arange(starts.size), np.diff(found.blocks))], found.x)
    found.weights = as_constant_handle(valued(total, found.weights), y)
    return found
