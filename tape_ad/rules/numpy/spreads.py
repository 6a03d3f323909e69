"""Variances and standard deviations, about their own mean or a given one.

The derivative of `std` is 0 where all elements are equal.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from tape_ad.linear_maps import Array, Chain, LinearMap, Stretch, expanding_key
from tape_ad.rules.base import NO_VALUE, Call, Entry, Maker, Signature, axes_of, quiet, rule
from tape_ad.rules.numpy.continued import unit
from tape_ad.rules.numpy.reductions import (
    Axis,
    count,
    counts,
    real_dtype,
    real_weighted_sum,
    reduction_options,
    selecting,
    without_imaginary_part,
)

__all__ = ["SPREADS", "spread_rule", "std_weights", "var_weights"]


def spread_signature(name: str) -> Signature:
    """Make the signature of `numpy.var` and `numpy.std`; a given mean is an operand."""

    def signature(
        a: Array,
        axis: Axis = None,
        dtype: Any = None,
        out: None = None,
        ddof: float = 0,
        keepdims: Any = False,
        *,
        where: Any = True,
        mean: Any = NO_VALUE,
        correction: Any = NO_VALUE,
    ) -> Call:
        options = reduction_options(name, out, axis, dtype, keepdims, None, where)
        options["dtype"] = dtype
        options["ddof"] = ddof if correction is NO_VALUE else correction
        return ((a,) if mean is NO_VALUE or mean is None else (a, mean)), options

    return signature


def deviation(a: Array, mean: Any, axes: tuple[int, ...], dtype: Any, where: Any) -> Array:
    """Subtract the mean; what is not selected deviates by 0."""
    if mean is None:
        total = np.add.reduce(a, axis=axes, dtype=dtype, keepdims=True, where=where)
        size = count(a.shape, axes) if where is True else counts(where, a, axes, keepdims=True)
        mean = total / (max(size, 1) if where is True else np.maximum(size, 1))
    return a - mean if where is True else np.where(where, a - mean, 0)


def freedom(a: Array, axes: tuple[int, ...], ddof: float, where: Any) -> Any:
    """Count the degrees of freedom; with none, NumPy's var is nan or inf, and so is its partial."""
    if where is True:
        degrees = count(a.shape, axes) - ddof
        return float(degrees) if degrees > 0 else real_dtype(a).type(0)
    return np.maximum(counts(where, a, axes, keepdims=True) - ddof, 0)


def var_weights(
    out: Array, a: Array, mean: Any, axes: tuple[int, ...], dtype: Any, ddof: float, where: Any
) -> Array:
    """2 (a - mean) / (n - ddof); the mean's own derivative drops out, as deviations sum to 0."""
    return deviation(a, mean, axes, dtype, where) * (2 / freedom(a, axes, ddof, where))


def std_weights(
    out: Array, a: Array, mean: Any, axes: tuple[int, ...], dtype: Any, ddof: float, where: Any
) -> Array:
    """(a - mean) / (std * (n - ddof)), and 0 where all elements are equal.

    The mean of equal elements may be one rounding error off them. Measured from one of them, all
    are exactly 0, and so is their mean. Of an only element the deviation is 0 whatever it is, and
    so are all derivatives.
    """
    if mean is None:
        if where is True:
            one = a[tuple(slice(1) if i in axes else slice(None) for i in range(-a.ndim, 0))]
            alone = count(a.shape, axes) == 1
        else:
            one = np.max(a, axis=axes, keepdims=True, where=where, initial=-np.inf)
            alone = np.equal(counts(where, a, axes, keepdims=True), 1)
        a = a - (one if dtype is None else as_mean(one, dtype))
        out = np.where(alone, 1, out)
    weights = unit(deviation(a, mean, axes, dtype, where), out)
    return weights / freedom(a, axes, ddof, where)


def as_mean(one: Array, dtype: Any) -> Array:
    """Drop the imaginary part of what the mean is measured from, if NumPy's mean has none."""
    return one if np.dtype(dtype).kind == "c" else np.real(one)


def spread_partials(weigh: Callable[..., Array]) -> tuple[Maker, Maker]:
    """Make the makers of a variance: of its elements, and of a mean that is given."""

    def weighted(
        out: Array,
        a: Array,
        mean: Any = None,
        *,
        axis: Axis,
        dtype: Any,
        keepdims: bool,
        ddof: float,
        where: Any = True,
    ) -> tuple[Array, tuple[int, ...]]:
        axes = axes_of(a.ndim, axis)
        kept = out if keepdims else out[expanding_key(a.ndim, axes)]
        return weigh(kept, a, mean, axes, dtype, ddof, where), axes

    def of_elements(out: Array, a: Array, *mean: Any, **options: Any) -> LinearMap:
        weights, axes = weighted(out, a, *mean, **options)
        linear = real_weighted_sum(weights, a, axes, options["keepdims"])
        return selecting(options.get("where", True), without_imaginary_part(out, linear))

    def of_mean(out: Array, a: Array, mean: Array, **options: Any) -> LinearMap:
        weights, axes = weighted(out, a, mean, **options)
        linear = real_weighted_sum(-weights, weights, axes, options["keepdims"])
        return Chain((Stretch(mean.shape, a.shape), without_imaginary_part(out, linear)))

    return quiet(of_elements), quiet(of_mean)


def given_mean(function: Callable[..., Array]) -> Callable[..., Array]:
    """Pass a mean that stands among the operands as the keyword that it is."""

    def compute(a: Array, *mean: Array, **options: Any) -> Array:
        return function(a, mean=mean[0], **options) if mean else function(a, **options)

    return compute


def spread_rule(
    function: Callable[..., Array],
    weigh: Callable[..., Array],
    passing: Callable[[Maker], Maker] = lambda maker: maker,
) -> Entry:
    """Make the rule of a variance or a standard deviation.

    Parameters
    ----------
    function : callable
    weigh : callable
        `var_weights` or `std_weights`.
    passing : callable
        What the makers are changed by.
    """
    return rule(
        *map(passing, spread_partials(weigh)),
        signature=spread_signature(function.__name__),
        compute=given_mean(function),
    )


SPREADS: dict[Any, Entry] = {
    np.var: spread_rule(np.var, var_weights),
    np.std: spread_rule(np.std, std_weights),
}
