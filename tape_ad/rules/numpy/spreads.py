"""Variances and standard deviations, about their own mean or a given one.

The derivative of `std` is 0 where all elements are equal.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from tape_ad.base.errors import ShapeError
from tape_ad.rules import facts
from tape_ad.rules.base import NO_VALUE, Call, Entry, Maker, Signature, axes_of, quiet, rule
from tape_ad.rules.maps import (
    Array,
    Chain,
    LinearMap,
    RealPart,
    Stretch,
    WeightedSum,
    expanding_key,
)
from tape_ad.rules.numpy import bodies
from tape_ad.rules.numpy.continued import unit
from tape_ad.rules.numpy.elementwise import is_complex
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
        if correction is not NO_VALUE and ddof != 0:
            raise ValueError("ddof and correction can't be provided simultaneously.")
        options["ddof"] = ddof if correction is NO_VALUE else correction
        if mean is NO_VALUE or mean is None:
            return (a,), options
        check_mean(name, np.shape(mean), np.shape(a))
        return (a, mean), options

    return signature


def check_mean(name: str, mean: tuple[int, ...], shape: tuple[int, ...]) -> None:
    """Refuse a mean that stretches the array, whose elements NumPy then counts wrongly.

    Raises
    ------
    ShapeError
        When the shapes broadcast to another one than the array's.
    """
    if len(mean) > len(shape) or np.broadcast_shapes(mean, shape) != shape:
        raise ShapeError(
            f"np.{name}: a mean of shape {mean} does not broadcast to an array of shape {shape}; "
            "take it with keepdims=True"
        )


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
    so are all derivatives; unless a real ``dtype=`` drops the imaginary part of its mean.
    """
    if mean is None:
        if where is True:
            one = a[tuple(slice(1) if i in axes else slice(None) for i in range(-a.ndim, 0))]
            alone = count(a.shape, axes) == 1
        else:
            one = np.max(a, axis=axes, keepdims=True, where=where, initial=-np.inf)
            alone = np.equal(counts(where, a, axes, keepdims=True), 1)
        a = a - (one if dtype is None else as_mean(one, dtype))
        if dtype is None or not is_complex(a) or np.dtype(dtype).kind == "c":
            out = np.where(alone, 1, out)  # where the mean has all of it
    return unit(deviation(a, mean, axes, dtype, where), out * freedom(a, axes, ddof, where))


def as_mean(one: Array, dtype: Any) -> Array:
    """Drop the imaginary part of what the mean is measured from, if NumPy's mean has none."""
    return one if np.dtype(dtype).kind == "c" else np.real(one)


def spread_partials(weigh: Callable[..., Array], *, casting: bool) -> tuple[Maker, Maker]:
    """Make the makers of a variance: of its elements, and of a mean that is given.

    About a complex mean, NumPy adds up the squares of what is real themselves, and not those of
    their magnitudes; where it passes nan over, it drops the imaginary part of that mean, which is
    what `casting` says.
    """

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
        squared = about_complex(a, *mean)
        if squared and casting:
            mean = tuple(each.real for each in mean)
        weights, axes = weighted(out, a, *mean, **options)
        if squared and not casting:
            linear: LinearMap = WeightedSum(weights, a.ndim, axes, options["keepdims"])
        else:
            linear = without_imaginary_part(
                out, real_weighted_sum(weights, a, axes, options["keepdims"])
            )
        return selecting(options.get("where", True), linear)

    def of_mean(out: Array, a: Array, mean: Array, **options: Any) -> LinearMap:
        before: tuple[LinearMap, ...] = (Stretch(np.shape(mean), a.shape),)
        squared = about_complex(a, mean)
        if squared and casting:
            mean, before = mean.real, (RealPart(), *before)
        weights, axes = weighted(out, a, mean, **options)
        if squared and not casting:
            return Chain((*before, WeightedSum(-weights, a.ndim, axes, options["keepdims"])))
        linear = real_weighted_sum(-weights, weights, axes, options["keepdims"])
        return Chain((*before, without_imaginary_part(out, linear)))

    return quiet(of_elements), quiet(of_mean)


def about_complex(a: Array, mean: Any = None) -> bool:
    """Tell whether it is about real numbers and a complex mean."""
    return hasattr(mean, "dtype") and is_complex(mean) and a.dtype.kind != "c"


def given_mean(function: Callable[..., Array]) -> Callable[..., Array]:
    """Pass a mean that stands among the operands as the keyword that it is."""

    def compute(a: Array, *mean: Array, **options: Any) -> Array:
        return function(a, mean=mean[0], **options) if mean else function(a, **options)

    return compute


def spread_rule(
    function: Callable[..., Array],
    weigh: Callable[..., Array],
    passing: Callable[[Maker], Maker] | None = None,
    body: Callable[..., Array] | None = None,
) -> Entry:
    """Make the rule of a variance or a standard deviation.

    Parameters
    ----------
    function : callable
    weigh : callable
        `var_weights` or `std_weights`.
    passing : callable, optional
        What the makers are changed by, of a function that passes nan over.
    body : callable, optional
    """
    makers = spread_partials(weigh, casting=passing is not None)
    return rule(
        *(makers if passing is None else map(passing, makers)),
        signature=spread_signature(function.__name__),
        compute=given_mean(function),
        facts=facts.along(none="all", beside=("where", "mean")).also(body=body),
    )


SPREADS: dict[Any, Entry] = {
    np.var: spread_rule(np.var, var_weights, body=bodies.variance),
    np.std: spread_rule(np.std, std_weights, body=bodies.deviation),
}
