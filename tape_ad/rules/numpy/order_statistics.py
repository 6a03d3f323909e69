"""Rules for medians, percentiles and quantiles.

Each is a weighted mean of two neighbours in sorted order. Where elements tie, the gradient goes to
the ones that a stable sort puts at those places, and what is not picked contributes exactly 0; a
result that is nan has gradient 0. With
respect to the probability, a quantile has the slope of the line between the two neighbours, or 0
for the methods that jump; where it has a kink, the slope on the right.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tape_ad.base.arrays.overridable import is_differentiated, whole
from tape_ad.base.errors import UnsupportedArgumentError
from tape_ad.rules import facts
from tape_ad.rules.base import (
    NO_VALUE,
    Call,
    Entry,
    Maker,
    Signature,
    add_facts,
    arguments_of,
    as_array,
    axes_of,
    refuse,
    rule,
)
from tape_ad.rules.maps import (
    SHIELD,
    Adjoint,
    Array,
    Chain,
    Deferred,
    Index,
    LinearMap,
    Mask,
    Reshape,
    Shape,
    Transpose,
    WeightedSum,
)
from tape_ad.rules.numpy.indexing import unaliased

Axis = int | tuple[int, ...] | None

PLOTTING: dict[str, tuple[float, float]] = {
    "interpolated_inverted_cdf": (0, 1),
    "hazen": (1 / 2, 1 / 2),
    "weibull": (0, 0),
    "linear": (1, 1),
    "median_unbiased": (1 / 3, 1 / 3),
    "normal_unbiased": (3 / 8, 3 / 8),
}
"""The methods that are continuous, by alpha and beta of Hyndman & Fan, "Sample quantiles in
statistical packages" (1996): the place of probability q among n is n q + alpha + q (1 - alpha -
beta) - 1."""

PASSING_NAN = frozenset({np.nanmedian, np.nanquantile, np.nanpercentile})


# Signatures


def quantile_signature(name: str) -> Signature:
    """Make the signature of `numpy.quantile` and `numpy.percentile`."""

    def signature(
        a: Array,
        q: Array,
        axis: Axis = None,
        out: None = None,
        overwrite_input: bool = False,
        method: str = "linear",
        keepdims: Any = False,
        *,
        weights: Any = None,
        interpolation: Any = None,
    ) -> Call:
        refuse(name, out=out, interpolation=interpolation)
        if is_differentiated(weights):
            raise UnsupportedArgumentError(
                f"np.{name}: weights= decides which element is taken, so the result is piecewise "
                "constant in it; pass weights.data"
            )
        options = {
            "axis": axis,
            "method": method,
            "keepdims": keepdims is not NO_VALUE and keepdims,
        }
        return (as_array(a), q), options if weights is None else {**options, "weights": weights}

    return signature


# Where the neighbours are


def sorted_rows(a: Array, axes: tuple[int, ...]) -> tuple[Array, Any, tuple[int, ...]]:
    """Bring the axes to be sorted to the end as one, and sort by indices, nan last.

    Parameters
    ----------
    a : array
    axes : tuple of int
        Negative ones.

    Returns
    -------
    rows : array, shape kept + (n,)
    order : array of int, shape kept + (n,)
    moved : tuple of int
        What the axes of `a` were transposed to.
    """
    moved = (*(i for i in range(-a.ndim, 0) if i not in axes), *axes)
    kept = tuple(a.shape[i] for i in moved[: a.ndim - len(axes)])
    n = math.prod(a.shape[i] for i in axes)
    rows = np.reshape(np.transpose(a, moved), (*kept, n))
    return rows, np.argsort(rows, axis=-1, kind="stable"), moved


def places_of(
    function: Callable[..., Array], rows: Array, order: Any, q: tuple[Any, ...], **options: Any
) -> Any:
    """Find where a quantile lies among the sorted elements of each row, between whole numbers.

    The function itself is asked for that of the ranks, so all methods are what NumPy says; but the
    most frequent one, as NumPy computes it.

    Parameters
    ----------
    function : callable
    rows, order
        From `sorted_rows`.
    q : tuple
        The probabilities, where the function takes any.
    options
        Of the function, but for axes.
    """
    n = order.shape[-1]
    linear = function is np.median or options == {"method": "linear"}
    if linear and function not in PASSING_NAN and rows.dtype == np.float64:
        (share,) = q or (0.5,)
        share = np.true_divide(share, QUANTILES.get(function, 1))
        nothing = np.logical_or.reduce(np.isnan(rows), axis=-1)
        place = np.reshape(share, (*np.shape(share), *(1,) * nothing.ndim)) * (n - 1)
        return np.where(nothing, np.nan, place)
    exact = rows.dtype == np.float32 and n < 2**20
    ranks, nothing = ranks_of(order, np.isnan(rows), np.float32 if exact else np.float64)
    return np.where(nothing, np.nan, function(ranks, *q, axis=-1, **options))


@whole
def ranks_of(order: Any, missing: Any, dtype: Any) -> tuple[Any, Any]:
    """Give the place of each element among the sorted ones of its row, and which rows have none."""
    ranks = np.empty_like(order, dtype)
    np.put_along_axis(ranks, order, np.arange(order.shape[-1], dtype=dtype), axis=-1)
    nothing = np.logical_and.reduce(missing, axis=-1)
    ranks[missing] = np.nan
    ranks[nothing] = 0  # for NumPy warns of rows of nan, and has done so already
    return ranks, nothing


def neighbours(places: Any, order: Any) -> tuple[tuple[Any, ...], Any]:
    """Give the index of the two neighbours of each place, and their weights.

    Parameters
    ----------
    places : array, shape s + kept
        From `places_of`.
    order : array of int, shape kept + (n,)

    Returns
    -------
    key : tuple of array
        What takes the neighbours, in an array of shape (2,) + s + kept, from the rows.
    weights : array, shape (2,) + s + kept
    """
    valid = ~np.isnan(places)
    lower = np.floor(np.where(valid, places, 0))
    upper = np.ceil(np.where(valid, places, 0))
    share = np.where(valid, places, 0) - lower
    grid = np.indices(order.shape[:-1], sparse=True)
    both = order[(*grid, np.stack((lower, upper)).astype(np.intp))]
    return (*grid, both), np.stack(((1 - share) * valid, share * valid))


# Makers


def elements_partial(function: Callable[..., Array]) -> Maker:
    """Make the maker of the partial with respect to the elements."""

    def partial(
        out: Array,
        a: Array,
        *q: Any,
        axis: Axis,
        keepdims: bool,
        weights: Any = None,
        **options: Any,
    ) -> LinearMap | None:
        if a.size == 0:
            return None
        axes = axes_of(a.ndim, axis)
        if weights is not None:
            options["weights"] = weights_of_rows(as_array(weights), a, axes)
        linear = Deferred(
            neighbours_map, (function, out, a, tuple(map(unaliased, q)), axes, options)
        )
        return Chain((Mask(~np.isnan(a)) if function in PASSING_NAN else SHIELD, linear))

    return partial


def neighbours_map(
    function: Callable[..., Array],
    out: Array,
    a: Array,
    q: tuple[Any, ...],
    axes: tuple[int, ...],
    options: dict[str, Any],
) -> LinearMap:
    """Make the map that takes the neighbours and averages them."""
    rows, order, moved = sorted_rows(a, axes)
    laid_out = layout(function, q, rows.shape[:-1], axes)
    key, shares = neighbours(places_of(function, rows, order, q, **options), order)
    shares = shares.astype(out.dtype)
    return Chain(
        (
            Transpose(moved),
            Reshape(tuple(a.shape[i] for i in moved), rows.shape),
            Index(key, rows.shape, shares.shape, repeats=True),
            WeightedSum(shares, shares.ndim, (-shares.ndim,), keepdims=False),
            *rearranging(laid_out, shares.shape[1:], out.shape),
        )
    )


def layout(
    function: Callable[..., Array], q: tuple[Any, ...], kept: Shape, axes: tuple[int, ...]
) -> Any:
    """Tell where NumPy puts the results for a matrix of probabilities.

    The functions that pass nan over mix its axes with those of the array, unless they reduce just
    one. Which goes where is read off results that number themselves.

    Returns
    -------
    array of int or None
        For each element of the result its place in an array of shape ``q.shape + kept``; None
        where that is in order.
    """
    if function not in PASSING_NAN or len(axes) == 1 or not kept or not q or np.ndim(q[0]) < 2:
        return None
    shape, n = np.shape(q[0]), np.size(q[0])
    numbers = np.arange(math.prod(kept) * n, dtype=float).reshape((*kept, n, 1))
    percent = QUANTILES[function]
    found = function(numbers, np.linspace(0, percent, n).reshape(shape), axis=(-2, -1))
    row, probability = np.divmod(np.rint(found).astype(np.intp).ravel(), n)
    return probability * math.prod(kept) + row


def rearranging(places: Any, natural: Shape, node: Shape) -> tuple[LinearMap, ...]:
    """Make the maps that bring results to where NumPy puts them."""
    if places is None:
        return (Reshape(natural, node),)
    flat = (places.size,)
    return (Reshape(natural, flat), Index((places,), flat, flat), Reshape(flat, node))


def along_axes(weights: Array, a: Array, axes: tuple[int, ...]) -> Array:
    """Bring weights along some axes of `a`, in the order of these, to a shape that broadcasts."""
    order = sorted(range(len(axes)), key=lambda i: axes[i])
    lengths = [a.shape[i] if i in axes else 1 for i in range(-a.ndim, 0)]
    return np.reshape(np.transpose(weights, order), lengths)


def weights_of_rows(weights: Any, a: Array, axes: tuple[int, ...]) -> Any:
    """Bring the weights of elements to the shape of the rows."""
    if weights.shape != a.shape:
        weights = np.broadcast_to(along_axes(weights, a, axes), a.shape)
    moved = (*(i for i in range(-a.ndim, 0) if i not in axes), *axes)
    weights = np.transpose(weights, moved)
    return weights.reshape((*weights.shape[: a.ndim - len(axes)], -1))


def probability_partial(function: Callable[..., Array], percent: float) -> Maker:
    """Make the maker of the partial with respect to the probability."""

    def partial(
        out: Array, a: Array, q: Array, axis: Axis, method: str, keepdims: bool, **options: Any
    ) -> LinearMap | None:
        if a.size == 0 or method not in PLOTTING or "weights" in options:
            return None
        axes = axes_of(a.ndim, axis)
        return Deferred(
            slope_map, (function, out, a, unaliased(q), axes, PLOTTING[method], percent)
        )

    return partial


def slope_map(
    function: Callable[..., Array],
    out: Array,
    a: Array,
    q: Array,
    axes: tuple[int, ...],
    plotting: tuple[float, float],
    percent: float,
) -> LinearMap:
    """Make the map that multiplies by the slope between the two neighbours."""
    rows, order, _ = sorted_rows(a, axes)
    laid_out = layout(function, (q,), rows.shape[:-1], axes)
    n = np.sum(~np.isnan(rows), axis=-1)
    alpha, beta = plotting
    wide = np.reshape(as_array(q), (*np.shape(q), *(1,) * n.ndim)) / percent
    rate = n + (1 - alpha - beta)
    place = wide * rate + (alpha - 1)
    inside = (place >= 0) & (place < n - 1)
    if function not in PASSING_NAN:
        inside = inside & (n == order.shape[-1])  # a result that is nan has no slope
    lower = np.where(inside, np.floor(place), 0).astype(np.intp)
    grid = np.indices(order.shape[:-1], sparse=True)
    low, high = (
        rows[(*grid, order[(*grid, np.minimum(lower + i, order.shape[-1] - 1))])] for i in (0, 1)
    )
    slope = np.where(inside, (high - low) * (rate / percent), 0)
    spread = Adjoint(
        WeightedSum(slope.astype(out.dtype), slope.ndim, tuple(range(-n.ndim, 0)), keepdims=False)
    )
    return Chain((spread, *rearranging(laid_out, slope.shape, out.shape)))


QUANTILES: dict[Any, float] = {
    np.quantile: 1.0,
    np.nanquantile: 1.0,
    np.percentile: 100.0,
    np.nanpercentile: 100.0,
}

ORDER_STATISTICS: dict[Any, Entry] = {
    **{
        function: rule(
            elements_partial(function),
            signature=arguments_of(function, "a", "axis keepdims", ignored="overwrite_input"),
            facts=facts.along(),
        )
        for function in (np.median, np.nanmedian)
    },
    **{
        function: rule(
            elements_partial(function),
            probability_partial(function, percent),
            signature=quantile_signature(function.__name__),
        )
        for function, percent in QUANTILES.items()
    },
}

add_facts(ORDER_STATISTICS, QUANTILES, may_raise=True)
add_facts(  # of nothing but nan in some place they have another precision
    ORDER_STATISTICS, (np.nanquantile, np.nanpercentile), dtype_by_values=True
)
