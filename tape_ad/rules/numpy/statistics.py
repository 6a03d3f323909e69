"""Weighted averages, covariances and correlations, as compositions that are recorded."""

import warnings
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple

from tape_ad.base.arrays.overridable import certainly
from tape_ad.base.errors import ShapeError
from tape_ad.rules.base import NO_VALUE, Derivation, Entry, as_array, axes_of
from tape_ad.rules.maps import Array
from tape_ad.rules.numpy.continued import within

__all__ = ["STATISTICS"]

Axis = int | tuple[int, ...] | None


def average(
    a: Array,
    axis: Axis = None,
    weights: Any = None,
    returned: bool = False,
    *,
    keepdims: Any = False,
) -> Any:
    """Average with weights, which may be handles too, and give their sum as well if asked."""
    a = as_array(a)
    keepdims = keepdims is not NO_VALUE and keepdims
    if axis is not None:
        axis = normalize_axis_tuple(axis, a.ndim, argname="axis")
    if weights is None:
        mean = np.mean(a, axis=axis, keepdims=keepdims)
        total = mean.dtype.type(a.size / mean.size)
    else:
        weights = weights_like(a, as_array(weights), axis)
        dtype = np.result_type(a.dtype, weights.dtype, *["float64"] * (a.dtype.kind in "biu"))
        total = np.sum(weights, axis=axis, dtype=dtype, keepdims=keepdims)
        if certainly(np.any(total == 0)):
            raise ZeroDivisionError("Weights sum to zero, can't be normalized")
        mean = np.sum(a * weights, axis=axis, dtype=dtype, keepdims=keepdims) / total
    if not returned:
        return mean
    if np.shape(total) != mean.shape:
        total = np.copy(np.broadcast_to(total, mean.shape))
    return mean, total


def weights_like(a: Array, weights: Array, axis: Axis) -> Array:
    """Bring weights along some axes of `a` to a shape that broadcasts to it."""
    if weights.shape == a.shape:
        return weights
    if axis is None:
        raise TypeError("Axis must be specified when shapes of a and weights differ.")
    axes = axes_of(a.ndim, axis)
    if weights.shape != tuple(a.shape[i] for i in axes):
        raise ShapeError(
            f"np.average: weights of shape {weights.shape} do not fit axis {axis} of an array of "
            f"shape {a.shape}; give them the lengths of those axes, or the array's shape"
        )
    order = sorted(range(len(axes)), key=lambda i: axes[i])
    shape = [a.shape[i] if i in axes else 1 for i in range(-a.ndim, 0)]
    return np.reshape(np.transpose(weights, order), shape)


ROW_STAYS = np.lib.NumpyVersion(np.__version__) < "2.2.0"
"""Whether `numpy.cov` takes a matrix of one row for one variable, even with ``rowvar=False``."""


def cov(
    m: Array,
    y: Any = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: int | None = None,
    fweights: Any = None,
    aweights: Any = None,
    *,
    dtype: Any = None,
) -> Array:
    """Estimate a covariance matrix; the data and `aweights` may be handles."""
    if ddof is not None and ddof != int(ddof):
        raise ValueError("ddof must be integer")
    m = as_array(m)
    y = None if y is None else as_array(y)
    if dtype is None:
        dtype = np.result_type(m.dtype, np.float64, *([] if y is None else [y.dtype]))
    one = m.ndim < 2 or (ROW_STAYS and m.shape[0] == 1)
    x = variables(m, dtype, transposed=not rowvar and not one)
    if x.shape[0] == 0:
        return np.zeros((0, 0))
    if np.dtype(dtype).kind not in "fc":
        raise TypeError(f"np.cov: dtype= got {np.dtype(dtype)}, which cannot hold deviations")
    if y is not None:
        more = variables(y, dtype, transposed=False)
        if not rowvar and more.shape[0] != 1:
            more = np.swapaxes(more, 0, 1)
        x = np.concatenate((x, more), axis=0)
    if ddof is None:
        ddof = 0 if bias else 1
    if aweights is not None:
        aweights = as_array(aweights)
        aweights = aweights if aweights.dtype == np.float64 else aweights.astype(np.float64)
    weights = observation_weights(x.shape[1], fweights, aweights)
    mean, total = np.average(x, axis=1, weights=weights, returned=True)
    x = x - mean[:, None]
    freedom = degrees_of_freedom(x.shape[1], total[0], weights, aweights, ddof)
    products = np.matmul(x if weights is None else x * weights, np.swapaxes(x, 0, 1).conjugate())
    with np.errstate(all="ignore"):
        found = np.squeeze(products * np.true_divide(1, freedom))
    return found if found.dtype == products.dtype else found.astype(products.dtype)


def variables(m: Array, dtype: Any, *, transposed: bool) -> Array:
    """Bring samples to a matrix of one variable a row."""
    if m.ndim > 2:
        raise ValueError("m has more than 2 dimensions")
    if m.dtype != dtype:
        m = m.astype(dtype)
    if m.ndim < 2:
        m = np.reshape(m, (1, -1))
    return np.swapaxes(m, 0, 1) if transposed else m


def observation_weights(n: int, fweights: Any, aweights: Any) -> Any:
    """Multiply the weights by how often, and by how much, each observation counts."""
    weights = None
    if fweights is not None:
        weights = np.asarray(fweights, dtype=float)
        if not np.all(weights == np.around(weights)):
            raise TypeError("fweights must be integer")
    for name, each in (("fweights", weights), ("aweights", aweights)):
        if each is not None and np.ndim(each) > 1:
            raise RuntimeError(f"cannot handle multidimensional {name}")
        if each is not None and np.shape(each) != (n,):
            raise RuntimeError(f"incompatible numbers of samples and {name}")
        if each is not None and certainly(np.any(np.less(each, 0))):
            raise ValueError(f"{name} cannot be negative")
    if aweights is None:
        return weights
    return aweights if weights is None else weights * aweights


def degrees_of_freedom(n: int, total: Any, weights: Any, aweights: Any, ddof: int) -> Any:
    """Count what the sums of products are divided by."""
    if weights is None:
        freedom: Any = n - ddof
    elif ddof == 0:
        freedom = total
    elif aweights is None:
        freedom = total - ddof
    else:
        freedom = total - ddof * np.sum(weights * aweights) / total
    if freedom <= 0:
        # The frames between this and the caller are those of the dispatch.
        warnings.warn("Degrees of freedom <= 0 for slice", RuntimeWarning, stacklevel=2)
        return 0.0
    return freedom


def corrcoef(
    x: Array,
    y: Any = None,
    rowvar: bool = True,
    bias: Any = None,
    ddof: Any = None,
    *,
    dtype: Any = None,
) -> Array:
    """Compute correlation coefficients; 1 with itself, whatever the variable.

    Older releases of NumPy take `bias` and `ddof`, and do nothing with them.
    """
    covariances = np.cov(x, y, rowvar, dtype=dtype)
    if covariances.ndim == 0:
        return covariances / covariances
    places = np.arange(covariances.shape[0])
    deviations = np.sqrt(np.real(covariances[places, places]))
    c = covariances / deviations[:, None] / deviations
    if c.dtype.kind == "c":
        return within(c.real, -1, 1) + 1j * within(c.imag, -1, 1)
    return within(c, -1, 1)


STATISTICS: dict[Any, Entry] = {
    np.average: Derivation(average),
    np.cov: Derivation(cov),
    np.corrcoef: Derivation(corrcoef),
}
