"""Functions that reduce axes.

Where several elements tie for a maximum or minimum, they share the gradient equally. The
derivative of `std` is 0 where all elements are equal.
"""

import math
from typing import Any

import numpy as np

from tape_ad.linear_maps import (
    Array,
    Chain,
    LinearMap,
    RealPart,
    Sum,
    WeightedSum,
    expanding_key,
)
from tape_ad.rules.base import Call, Derivation, Entry, axes_of, constants, quiet, refuse, rule
from tape_ad.rules.elementwise import is_complex, nonzero

__all__ = ["REDUCTIONS"]

Axis = int | tuple[int, ...] | None


def reduction(
    a: Array,
    axis: Axis = None,
    dtype: Any = None,
    out: None = None,
    keepdims: Any = False,
    initial: Any = None,
    where: Any = None,
) -> Call:
    """Sort the arguments of `numpy.sum`, `numpy.mean` and their like."""
    refuse("reductions", out=out, initial=initial, where=None if where is True else where)
    keepdims = False if keepdims is np._NoValue else keepdims
    return (a,), {"axis": axis, "dtype": dtype, "keepdims": keepdims}


def extremum(
    a: Array,
    axis: Axis = None,
    out: None = None,
    keepdims: Any = False,
    initial: Any = None,
    where: Any = None,
) -> Call:
    """Sort the arguments of `numpy.max` and `numpy.min`, which take no dtype."""
    return reduction(a, axis, None, out, keepdims, initial, where)


def ufunc_reduction(
    array: Array,
    axis: Axis = 0,
    dtype: Any = None,
    out: None = None,
    keepdims: Any = False,
    initial: Any = None,
    where: Any = None,
) -> Call:
    """Sort the arguments of ``ufunc.reduce``, whose axis is 0 when none is given."""
    return reduction(array, axis, dtype, out, keepdims, initial, where)


def spread_signature(
    a: Array,
    axis: Axis = None,
    dtype: Any = None,
    out: None = None,
    ddof: float = 0,
    keepdims: bool = False,
    *,
    where: Any = None,
    mean: Any = None,
    correction: Any = None,
) -> Call:
    """Sort the arguments of `numpy.var` and `numpy.std`."""
    operands, options = reduction(a, axis, dtype, out, keepdims, None, where)
    refuse("var", mean=None if mean is np._NoValue else mean)
    given = correction is not None and correction is not np._NoValue
    return operands, {**options, "ddof": correction if given else ddof}


def count(shape: tuple[int, ...], axes: tuple[int, ...]) -> int:
    """Count the elements that are reduced to one."""
    return math.prod(shape[axis] for axis in axes)


def sum_partial(
    out: Array, a: Array, axis: Axis = 0, dtype: Any = None, keepdims: bool = False
) -> LinearMap:
    """Make the partial of a sum."""
    return Sum(a.shape, axes_of(a.ndim, axis), keepdims)


def mean_partial(
    out: Array, a: Array, axis: Axis = None, dtype: Any = None, keepdims: bool = False
) -> LinearMap:
    """Make the partial of a mean."""
    axes = axes_of(a.ndim, axis)
    return Sum(a.shape, axes, keepdims, 1 / max(count(a.shape, axes), 1))


def extremum_partial(
    out: Array, a: Array, axis: Axis = 0, dtype: Any = None, keepdims: bool = False
) -> LinearMap:
    """Share the gradient equally among all the elements that are the extremum."""
    axes = axes_of(a.ndim, axis)
    chosen = a == (out if keepdims else out[expanding_key(a.ndim, axes)])
    ties = np.add.reduce(chosen, axis=axes, keepdims=True, dtype=out.dtype)
    return WeightedSum(chosen / nonzero(ties), a.ndim, axes, keepdims)


def product(a: Array, axis: Axis = 0, dtype: Any = None, keepdims: bool = False) -> Array:
    """Multiply along axes by halving, so that no zero is ever divided by."""
    axes = axes_of(a.ndim, axis)
    if dtype is not None:
        a = np.astype(a, np.dtype(dtype))
    kept = tuple(n for i, n in enumerate(a.shape) if i - a.ndim not in axes)
    ones = tuple(1 if i - a.ndim in axes else n for i, n in enumerate(a.shape))
    order = (*(i for i in range(-a.ndim, 0) if i not in axes), *axes)
    factors = np.transpose(a, order).reshape((*kept, count(a.shape, axes)))
    while factors.shape[-1] > 1:
        half = factors.shape[-1] // 2
        paired = factors[..., :half] * factors[..., half : 2 * half]
        if factors.shape[-1] % 2:
            paired = np.concatenate([paired, factors[..., -1:]], axis=-1)
        factors = paired
    if factors.shape[-1] == 0:
        return np.ones(ones if keepdims else kept, a.dtype)
    return factors.reshape(ones if keepdims else kept)


def deviation(a: Array, axes: tuple[int, ...], dtype: Any) -> Array:
    """Subtract the mean."""
    return a - np.mean(a, axis=axes, dtype=dtype, keepdims=True)


def inverse(freedom: float) -> float:
    """Invert the degrees of freedom; with none, NumPy's var is nan or inf and so is this."""
    return 1 / freedom if freedom > 0 else math.inf


def var_partial(
    out: Array, a: Array, axis: Axis, dtype: Any, keepdims: bool, ddof: float
) -> LinearMap:
    """2 (a - mean) / (n - ddof); the mean's own derivative drops out, as deviations sum to 0."""
    axes = axes_of(a.ndim, axis)
    weights = deviation(a, axes, dtype) * (2 * inverse(count(a.shape, axes) - ddof))
    return real_weighted_sum(weights, a, axes, keepdims)


def std_partial(
    out: Array, a: Array, axis: Axis, dtype: Any, keepdims: bool, ddof: float
) -> LinearMap:
    """(a - mean) / (std * (n - ddof)), and 0 where all elements are equal.

    The mean of equal elements may be one rounding error off them. Measured from the first of them,
    all are exactly 0, and so is their mean.
    """
    axes = axes_of(a.ndim, axis)
    scale = nonzero(out if keepdims else out[expanding_key(a.ndim, axes)])
    first = a[tuple(slice(1) if i in axes else slice(None) for i in range(-a.ndim, 0))]
    weights = deviation(a - first, axes, dtype) / scale * inverse(count(a.shape, axes) - ddof)
    return real_weighted_sum(weights, a, axes, keepdims)


def real_weighted_sum(weights: Array, a: Array, axes: tuple[int, ...], keepdims: bool) -> LinearMap:
    """Make the partial of a real function of `a`: Re(sum(conj(weights) * t))."""
    if not is_complex(a):
        return WeightedSum(weights, a.ndim, axes, keepdims)
    return Chain((WeightedSum(weights.conjugate(), a.ndim, axes, keepdims), RealPart()))


REDUCTIONS: dict[Any, Entry] = {
    np.add.reduce: rule(sum_partial, signature=ufunc_reduction),
    np.sum: rule(sum_partial, signature=reduction, compute=np.add.reduce),
    np.mean: rule(mean_partial, signature=reduction),
    np.multiply.reduce: Derivation(product, signature=ufunc_reduction),
    np.prod: Derivation(product, signature=reduction),
    np.maximum.reduce: rule(extremum_partial, signature=ufunc_reduction),
    np.minimum.reduce: rule(extremum_partial, signature=ufunc_reduction),
    np.max: rule(extremum_partial, signature=extremum, compute=np.maximum.reduce),
    np.min: rule(extremum_partial, signature=extremum, compute=np.minimum.reduce),
    np.var: rule(quiet(var_partial), signature=spread_signature),
    np.std: rule(quiet(std_partial), signature=spread_signature),
    # Piecewise constant
    **constants(
        *(np.argmax, np.argmin, np.any, np.all, np.count_nonzero),
        *(np.logical_and.reduce, np.logical_or.reduce, np.array_equal, np.allclose),
    ),
}
