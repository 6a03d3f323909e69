"""Rules for NumPy functions that reduce axes: sums, products, means, extrema.

Where several elements tie for a maximum or minimum, they share the gradient equally, with
``initial=`` too; where the extremum is nan, nothing gets any. A product is divided by its factors
only where that loses nothing, so any of them may be 0. The derivative of `std` is 0 where all
elements are equal. What ``where=`` leaves out gets no gradient, even where it is nan or inf.
"""

import math
from typing import Any, ClassVar

import numpy as np
from attrs import define

from tape_ad.base.arrays.overridable import certainly, whole
from tape_ad.rules import facts
from tape_ad.rules.base import (
    NO_VALUE,
    Call,
    Entry,
    Signature,
    add_facts,
    axes_of,
    constants,
    refuse,
    rule,
    stated,
)
from tape_ad.rules.maps import (
    Adjoint,
    Array,
    Chain,
    Deferred,
    Divide,
    LinearMap,
    Mask,
    RealPart,
    Sum,
    WeightedSum,
    add_reduce,
    expanding_key,
    selected,
)
from tape_ad.rules.maps.patterns import reduced
from tape_ad.rules.maps.rearrangements import inverse
from tape_ad.rules.numpy import bodies
from tape_ad.rules.numpy.continued import all_finite, least
from tape_ad.rules.numpy.elementwise import is_complex
from tape_ad.rules.numpy.indexing import unaliased

SMALLEST = 2.0**-960
"""A product that never falls below this has lost no digits of double precision on its way."""


@whole
def shares_of_product(product: Array | None, a: Array, axes: tuple[int, ...]) -> Array:
    """Give for each element the product of all the others, in the quickest way that is exact.

    Parameters
    ----------
    product : array or None
        With the axes or without them, if it is known.
    a : array
    axes : tuple of int
        The axes to multiply along, negative.

    Returns
    -------
    array, shape of `a`
    """
    weights = product_by_each(product, a, axes)
    return product_of_others(a, axes) if weights is None else weights


def product_of_others(a: Array, axes: tuple[int, ...]) -> Array:
    """Multiply for each element all the others, from both ends, so that nothing is divided.

    Parameters
    ----------
    a : array
    axes : tuple of int
        The axes to multiply along, negative.

    Returns
    -------
    array, shape of `a`
    """
    if a.size == 0:
        return a
    order = (*(i for i in range(-a.ndim, 0) if i not in axes), *axes)
    moved = np.transpose(a, order)
    kept = moved.shape[: a.ndim - len(axes)]
    rows = moved.reshape((*kept, -1))
    one = np.ones((*kept, 1), a.dtype)
    before = np.concatenate((one, np.cumprod(rows[..., :-1], axis=-1)), axis=-1)
    after = np.concatenate((one, np.cumprod(rows[..., :0:-1], axis=-1)), axis=-1)[..., ::-1]
    return np.transpose((before * after).reshape(moved.shape), inverse(order))


def product_by_each(product: Array | None, a: Array, axes: tuple[int, ...]) -> Array | None:
    """Divide the product by each factor, if no part of it is too small to have all its digits.

    Parameters
    ----------
    product : array or None
        With the axes or without them, if it is known.
    a : array
    axes : tuple of int
    """
    if type(a) is not np.ndarray or a.dtype.char not in "df":
        return None
    wide = a.astype(np.float64, copy=False)
    with np.errstate(all="ignore"):
        if product is None or product.dtype is not wide.dtype:
            product = np.multiply.reduce(wide, axis=axes, keepdims=True)
        elif product.ndim < a.ndim:
            product = product[expanding_key(a.ndim, axes)]
        small = np.multiply.reduce(np.minimum(np.abs(wide), 1), axis=axes)
        if least(small) > SMALLEST and all_finite(product):
            return (product / wide).astype(a.dtype, copy=False)
    return None


Axis = int | tuple[int, ...] | None
FLOAT64, FLOAT32 = np.dtype(np.float64), np.dtype(np.float32)

EXACT = 2**24
"""Below it, single precision holds every integer, and NumPy's division in double gives the same."""


# Signatures


def reduction_options(
    name: str, out: Any, axis: Axis, dtype: Any, keepdims: Any, initial: Any, where: Any
) -> dict[str, Any]:
    """Sort the options of a reduction; what is left out stays out, as most calls are plain."""
    if out is not None:
        refuse(name, out=out)
    options = {"axis": axis, "keepdims": keepdims is not NO_VALUE and keepdims}
    if dtype is not None:
        options["dtype"] = dtype
    if initial is not NO_VALUE and initial is not None:
        options["initial"] = initial
    if where is not NO_VALUE and where is not True:
        options["where"] = unaliased(where if hasattr(where, "dtype") else np.asarray(where, bool))
    return options


def sum_signature(name: str, default: Axis = None) -> Signature:
    """Make the signature of `numpy.sum` and its like; that of ``ufunc.reduce`` with axis 0."""

    def signature(
        a: Array,
        axis: Axis = default,
        dtype: Any = None,
        out: None = None,
        keepdims: Any = False,
        initial: Any = NO_VALUE,
        where: Any = True,
    ) -> Call:
        return (a,), reduction_options(name, out, axis, dtype, keepdims, initial, where)

    return signature


def extremum_signature(name: str) -> Signature:
    """Make the signature of `numpy.max` and its like, which take no dtype."""

    def signature(
        a: Array,
        axis: Axis = None,
        out: None = None,
        keepdims: Any = False,
        initial: Any = NO_VALUE,
        where: Any = True,
    ) -> Call:
        return (a,), reduction_options(name, out, axis, None, keepdims, initial, where)

    return signature


# Sums


def count(shape: tuple[int, ...], axes: tuple[int, ...]) -> int:
    """Count the elements that are reduced to one."""
    return math.prod([shape[axis] for axis in axes])


def counts(where: Any, a: Array, axes: tuple[int, ...], keepdims: bool) -> Any:
    """Count the elements that are reduced to each one, in the dtype that they have."""
    chosen = np.broadcast_to(where, a.shape)
    return np.sum(chosen, axis=axes, keepdims=keepdims, dtype=real_dtype(a))


def real_dtype(a: Array) -> Any:
    """Give the dtype of the real part."""
    return a.dtype.type().real.dtype


def as_cast(a: Array, out: Array) -> Array:
    """Give the numbers that NumPy computed with: those of a real ``dtype=`` are real parts."""
    return a.real if is_complex(a) and not is_complex(out) else a


def selecting(where: Any, linear: LinearMap) -> LinearMap:
    """Let a map see only what is selected."""
    return linear if where is True else Chain((Mask(where), linear))


def mean(a: Array, axis: Axis, keepdims: bool, **options: Any) -> Array:
    """Compute `numpy.mean`, which is mostly a sum and a division."""
    known = a.dtype is FLOAT64 or (a.dtype is FLOAT32 and a.size < EXACT)
    if options or not known or a.size == 0 or a.ndim == 0:
        return np.mean(a, axis=axis, keepdims=keepdims, **options)
    return add_reduce(a, axis=axis, keepdims=keepdims) / count(a.shape, axes_of(a.ndim, axis))


def sum_partial(
    out: Array, a: Array, axis: Axis, keepdims: bool, where: Any = True, **options: Any
) -> LinearMap:
    """Make the partial of a sum."""
    linear = Sum(a.shape, axes_of(a.ndim, axis), keepdims)
    return linear if where is True else Chain((Mask(where), linear))


def mean_partial(
    out: Array, a: Array, axis: Axis, keepdims: bool, where: Any = True, **options: Any
) -> LinearMap:
    """Make the partial of a mean."""
    axes = axes_of(a.ndim, axis)
    if where is True:
        return Sum(a.shape, axes, keepdims, 1 / max(count(a.shape, axes), 1))
    chosen = counts(where, a, axes, keepdims)
    return Chain((Mask(where), Sum(a.shape, axes, keepdims), Divide(np.maximum(chosen, 1))))


# Extrema


def reaches(a: Array, extremum: Array) -> Array:
    """Tell which elements are the extremum, which may have been found in another dtype."""
    return np.equal(a if a.dtype == extremum.dtype else a.astype(extremum.dtype), extremum)


def chosen_and_ties(
    out: Array, a: Array, axes: tuple[int, ...], initial: Any, where: Any
) -> tuple[Array, Array]:
    """Tell which elements are the extremum, and how many share it, the initial value like one.

    Parameters
    ----------
    out : array
        The extremum, with the reduced axes kept.
    a : array
    axes : tuple of int
    initial, where
        As in `numpy.max`.
    """
    chosen = reaches(a, out)
    if where is not True:
        chosen = chosen & where
    ties = np.add.reduce(chosen, axis=axes, keepdims=True, dtype=real_dtype(out))
    if initial is not None:
        ties = ties + np.equal(out, initial)
    return chosen, np.maximum(ties, 1)


@define(eq=False, repr=False)
class Extremum:
    """The sum over `axes` of the elements that are the extremum, divided by how many they are.

    Parameters
    ----------
    chosen : array of bool, shape of the parent
    ties : array, shape of the node, or None
        How many they are; None where it is one everywhere.
    axes : tuple of int
        Negative.
    keepdims : bool
        Whether the node keeps those axes, with length one.
    """

    hides: ClassVar[bool] = True
    pattern = reduced
    chosen: Array
    ties: Array | None
    axes: tuple[int, ...]
    keepdims: bool

    def push(self, t: Array) -> Array:
        total = add_reduce(selected(t, self.chosen), axis=self.axes, keepdims=self.keepdims)
        return total if self.ties is None else total / self.ties

    def pull(self, ct: Array) -> Array:
        ct = ct if self.ties is None else ct / self.ties
        if ct.ndim and not self.keepdims:
            ct = ct[expanding_key(self.chosen.ndim, self.axes)]
        return selected(np.asarray(ct) if isinstance(ct, np.generic) else ct, self.chosen)


def extremum_partial(
    out: Array,
    a: Array,
    axis: Axis,
    keepdims: bool,
    initial: Any = None,
    where: Any = True,
    **options: Any,
) -> LinearMap:
    """Share the gradient among the elements that are the extremum."""
    a = as_cast(a, out)
    axes = axes_of(a.ndim, axis)
    kept = out if keepdims else out[expanding_key(a.ndim, axes)]
    chosen = reaches(a, kept)
    plain = where is True and initial is None
    if plain and certainly(np.count_nonzero(chosen) == out.size) and not np.isnan(out).any():
        return Extremum(chosen, None, axes, keepdims)  # one each, as no element equals nan
    chosen, ties = chosen_and_ties(kept, a, axes, initial, where)
    return Extremum(chosen, ties.reshape(out.shape), axes, keepdims)


def ptp_partial(out: Array, a: Array, axis: Axis, keepdims: bool) -> LinearMap:
    """Make the partial of the maximum less the minimum."""
    axes = axes_of(a.ndim, axis)
    (high, highest), (low, lowest) = (
        chosen_and_ties(function(a, axis=axes, keepdims=True), a, axes, None, True)
        for function in (np.max, np.min)
    )
    weights = high / highest - low / lowest
    return Chain((Mask(high | low), WeightedSum(weights, a.ndim, axes, keepdims)))


# Products


def product_partial(
    out: Array,
    a: Array,
    axis: Axis,
    keepdims: bool,
    initial: Any = None,
    where: Any = True,
    **options: Any,
) -> LinearMap:
    """Make the partial of a product when it is needed."""
    a = as_cast(a, out)
    factors = a if where is True else np.where(where, a, 1)
    linear = Deferred(product_map, (out, factors, axes_of(a.ndim, axis), keepdims, initial))
    return selecting(where, linear)


def product_map(
    out: Array, a: Array, axes: tuple[int, ...], keepdims: bool, initial: Any
) -> LinearMap:
    """Weigh each factor by the product of all the others."""
    weights = shares_of_product(out if initial is None else None, a, axes)
    if initial is not None:
        weights = weights * initial
    return WeightedSum(weights, a.ndim, axes, keepdims)


# Real functions of what may be complex


def real_weighted_sum(weights: Array, a: Array, axes: tuple[int, ...], keepdims: bool) -> LinearMap:
    """Make the partial of a real function of `a`: Re(sum(conj(weights) * t))."""
    if not is_complex(a):
        return WeightedSum(weights, a.ndim, axes, keepdims)
    return Chain((WeightedSum(weights.conjugate(), a.ndim, axes, keepdims), RealPart()))


def without_imaginary_part(out: Array, linear: LinearMap) -> LinearMap:
    """Let a map to real numbers end at a node that may have a complex dtype."""
    return Chain((linear, Adjoint(RealPart()))) if is_complex(out) else linear


EXTREMA = {
    np.max: np.maximum.reduce,
    np.amax: np.maximum.reduce,
    np.min: np.minimum.reduce,
    np.amin: np.minimum.reduce,
}

ALONG = facts.along(none="all", beside=("where",))

REDUCTIONS: dict[Any, Entry] = {
    **stated(
        ALONG,
        {
            np.add.reduce: rule(sum_partial, signature=sum_signature("add.reduce", 0)),
            np.sum: rule(sum_partial, signature=sum_signature("sum"), compute=np.add.reduce),
            np.mean: rule(mean_partial, signature=sum_signature("mean"), compute=mean),
            np.multiply.reduce: rule(
                product_partial, signature=sum_signature("multiply.reduce", 0)
            ),
            np.prod: rule(
                product_partial, signature=sum_signature("prod"), compute=np.multiply.reduce
            ),
            **{
                ufunc.reduce: rule(
                    extremum_partial, signature=sum_signature(f"{ufunc.__name__}.reduce", 0)
                )
                for ufunc in (np.maximum, np.minimum, np.fmax, np.fmin)
            },
            **{
                function: rule(
                    extremum_partial,
                    signature=extremum_signature(function.__name__),
                    compute=reduce,
                )
                for function, reduce in EXTREMA.items()
            },
            np.ptp: rule(ptp_partial, signature=extremum_signature("ptp")),
            # Piecewise constant
            **constants(
                *(np.any, np.all, np.count_nonzero),
                *(np.logical_and.reduce, np.logical_or.reduce, np.logical_xor.reduce),
            ),
        },
    ),
    **constants(np.argmax, facts=facts.along().also(body=bodies.largest)),
    **constants(np.argmin, facts=facts.along().also(body=bodies.smallest)),
    **constants(np.array_equal, np.array_equiv),
    **constants(np.allclose, facts=facts.composed(bodies.all_close)),
}

BY_UFUNC: dict[Any, np.ufunc] = {
    np.sum: np.add,
    np.prod: np.multiply,
    np.max: np.maximum,
    np.min: np.minimum,
    np.any: np.logical_or,
    np.all: np.logical_and,
}
for function, ufunc in BY_UFUNC.items():
    add_facts(REDUCTIONS, (function,), reduces=ufunc)
