"""Methods of ufuncs: ``reduce`` where NumPy has no function for it, and ``reduceat``.

``accumulate`` is a scan, and ``outer`` a broadcast call, which the dispatch writes as one. A
segment of ``reduceat`` is reduced like any array: ties share an extremum equally, and factors may
be 0.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tape_ad.base.arrays.overridable import shaped_by_values
from tape_ad.rules import facts
from tape_ad.rules.base import Call, Entry, Maker, Signature, along, axes_of, quiet, refuse, rule
from tape_ad.rules.maps import (
    SAME,
    Adjoint,
    Array,
    Chain,
    Index,
    LinearMap,
    Mask,
    Scale,
    WeightedSum,
    expanding_key,
)
from tape_ad.rules.numpy.continued import difference
from tape_ad.rules.numpy.elementwise import nonzero
from tape_ad.rules.numpy.reductions import as_cast, reaches, selecting, sum_signature
from tape_ad.rules.numpy.scans import recurrence

Exponential = Callable[[Array], Array]


# Reductions


def logarithm_partial(exp: Exponential) -> Maker:
    """Weigh each element by its share of the sum of exponentials."""

    def partial(
        out: Array, a: Array, axis: Any, keepdims: bool, where: Any = True, **options: Any
    ) -> LinearMap:
        a, axes = as_cast(a, out), axes_of(a.ndim, axis)
        kept = out if keepdims else out[expanding_key(a.ndim, axes)]
        weights = exp(difference(np.where(where, a, kept), kept))
        return selecting(where, WeightedSum(weights, a.ndim, axes, keepdims))

    return quiet(partial)


def first_of(a: Array, axis: int) -> Any:
    """Tell which elements are the first along an axis."""
    return np.equal(np.arange(a.shape[axis]), 0).reshape((-1, *(1,) * (-axis - 1)))


def difference_partial(
    out: Array,
    a: Array,
    axis: Any,
    keepdims: bool,
    initial: Any = None,
    where: Any = True,
    **options: Any,
) -> LinearMap:
    """a[0] - a[1] - ... - a[n], where an initial value is the first."""
    axes = axes_of(a.ndim, axis)
    signs = np.full((1,) * a.ndim, -1, a.dtype.type().real.dtype)
    if initial is None:
        signs = np.where(first_of(a, axes[0]), -signs, signs) if axes else -signs
    return selecting(where, WeightedSum(signs, a.ndim, axes, keepdims))


def quotient_partial(
    out: Array,
    a: Array,
    axis: Any,
    keepdims: bool,
    initial: Any = None,
    where: Any = True,
    **options: Any,
) -> LinearMap:
    """a[0] / a[1] / ... / a[n], where an initial value is the first."""
    axes = axes_of(a.ndim, axis)
    if initial is None and not axes:
        return selecting(where, SAME)
    a = np.where(where, as_cast(a, out), 1)
    kept = out if keepdims else out[expanding_key(a.ndim, axes)]
    weights = -kept / a
    if initial is None:
        rest = a[along(axes[0], slice(1, None))]
        first = np.divide.reduce(rest, axis=axes[0], keepdims=True, initial=1.0)
        weights = np.where(first_of(a, axes[0]), first, weights)
    return selecting(where, WeightedSum(weights, a.ndim, axes, keepdims))


# Reductions of segments


def segments_signature(name: str) -> Signature:
    """Make the signature of ``ufunc.reduceat``."""

    def signature(
        array: Array, indices: Any, axis: int = 0, dtype: Any = None, out: None = None
    ) -> Call:
        refuse(name, out=out)
        return (array,), {"indices": indices, "axis": axis, "dtype": dtype}

    return signature


def segments_reduced(ufunc: np.ufunc) -> Callable[..., Array]:
    """Let ``ufunc.reduceat`` take its indices by keyword, which it does not."""

    def compute(a: Array, indices: Any, **options: Any) -> Array:
        return ufunc.reduceat(a, indices, **options)

    return compute


@shaped_by_values
def segments_of(indices: Sequence[int], n: int) -> tuple[Any, Any]:
    """List the elements of all segments, and for each the segment that it is in.

    A segment whose end is not behind its start has one element.

    Examples
    --------
    >>> segments_of([0, 2, 1], 4)
    (array([0, 1, 2, 1, 2, 3]), array([0, 0, 1, 2, 2, 2]))
    """
    starts = np.asarray(indices, np.intp)
    sizes = np.maximum(np.append(starts[1:], n) - starts, 1)
    labels = np.repeat(np.arange(starts.size), sizes)
    begins = np.cumsum(sizes) - sizes
    return np.arange(labels.size) + (starts - begins)[labels], labels


Weigh = Callable[[Array, Array, Any, int], Array]
"""``(x, out, labels, axis)``: the elements of the segments, what they are reduced to, repeated."""


def segments_partial(weigh: Weigh | None) -> Maker:
    """Make the maker of a partial that picks the elements, weighs them and sums each segment."""

    def partial(out: Array, a: Array, indices: Any, axis: Any, **options: Any) -> LinearMap:
        (axis,) = axes_of(a.ndim, axis)
        elements, labels = segments_of(indices, a.shape[axis])
        shape = list(a.shape)
        shape[axis] = labels.size
        pick = Index(at(axis, elements, a.ndim), a.shape, tuple(shape), repeats=True)
        spread = Index(at(axis, labels, a.ndim), out.shape, tuple(shape), repeats=True)
        if weigh is None:
            return Chain((pick, Adjoint(spread)))
        key = along(axis, elements)
        weights = weigh(as_cast(a, out)[key], out[along(axis, labels)], labels, axis)
        kept = (Mask(np.not_equal(weights, 0)),) if weigh is share_of_segment else ()
        return Chain((pick, *kept, Scale(weights), Adjoint(spread)))

    return quiet(partial)


def at(axis: int, places: Any, ndim: int) -> tuple[Any, ...]:
    """Make the full key of an array that takes some places along a negative axis."""
    key: list[Any] = [slice(None)] * ndim
    key[axis] = places
    return tuple(key)


def starts_of(labels: Any, axis: int) -> Any:
    """Tell which elements start a segment, along a negative axis."""
    starts = np.diff(labels, prepend=-1) != 0
    return starts.reshape((-1, *(1,) * (-axis - 1)))


def share_of_segment(x: Array, out: Array, labels: Any, axis: int) -> Array:
    """Share an extremum among the elements that it is."""
    chosen = reaches(x, out)
    begins = np.flatnonzero(np.diff(labels, prepend=-1))
    ties = np.add.reduceat(chosen, begins, axis=axis, dtype=out.dtype.type().real.dtype)
    return chosen / nonzero(ties)[along(axis, labels)]


def others_of_segment(x: Array, out: Array, labels: Any, axis: int) -> Array:
    """Multiply for each element all the others of its segment, from both ends."""
    key = along(axis, slice(None, None, -1))
    before = products_before(x, starts_of(labels, axis), axis)
    after = products_before(x[key], starts_of(labels[::-1], axis), axis)[key]
    return before * after


def products_before(x: Array, starts: Any, axis: int) -> Array:
    """Multiply all that stands before each element in its segment."""
    one = starts.astype(x.dtype)
    carried = x[along(axis, slice(-1))] * ~starts[along(axis, slice(1, None))]
    return recurrence(carried, np.broadcast_to(one, x.shape), axis)


def quotients_of_segment(x: Array, out: Array, labels: Any, axis: int) -> Array:
    """-out / x, and for what starts a segment 1 over all the others."""
    starts = starts_of(labels, axis)
    begins = np.flatnonzero(starts)
    of_one = np.divide.reduceat(np.where(starts, 1, x), begins, axis=axis)
    return np.where(starts, of_one[along(axis, labels)], -out / x)


def shares_of_logarithm(exp: Exponential) -> Weigh:
    """Weigh each element by its share of the sum of its segment's exponentials."""
    return lambda x, out, labels, axis: exp(difference(x, out))


def signs_of_segment(x: Array, out: Array, labels: Any, axis: int) -> Array:
    """1 for what starts a segment, -1 for the others."""
    return np.where(starts_of(labels, axis), 1, -1).astype(x.dtype.type().real.dtype)


REDUCED: dict[np.ufunc, Maker] = {
    np.logaddexp: logarithm_partial(np.exp),
    np.logaddexp2: logarithm_partial(np.exp2),
    np.subtract: difference_partial,
    np.divide: quiet(quotient_partial),
}
SEGMENTS: dict[np.ufunc, Weigh | None] = {
    np.add: None,
    np.subtract: signs_of_segment,
    np.multiply: others_of_segment,
    np.divide: quotients_of_segment,
    **dict.fromkeys((np.maximum, np.minimum, np.fmax, np.fmin), share_of_segment),
    np.logaddexp: shares_of_logarithm(np.exp),
    np.logaddexp2: shares_of_logarithm(np.exp2),
}

UFUNC_METHODS: dict[Any, Entry] = {
    **{
        ufunc.reduce: rule(
            maker,
            signature=sum_signature(f"{ufunc.__name__}.reduce", 0),
            facts=facts.along(none="all", beside=("where",)),
        )
        for ufunc, maker in REDUCED.items()
    },
    **{
        ufunc.reduceat: rule(
            segments_partial(weigh),
            signature=segments_signature(f"{ufunc.__name__}.reduceat"),
            compute=segments_reduced(ufunc),
            facts=facts.along(),
        )
        for ufunc, weigh in SEGMENTS.items()
    },
}
