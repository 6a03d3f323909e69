"""Functions that reduce axes, sum along them, or search and sort in them."""

from typing import Any, NamedTuple

import numpy as np

from tape_ad.interop.array_api.wrapping import gives_handles


class UniqueAll(NamedTuple):
    """What `unique_all` gives."""

    values: Any
    indices: Any
    inverse_indices: Any
    counts: Any


class UniqueCounts(NamedTuple):
    """What `unique_counts` gives."""

    values: Any
    counts: Any


class UniqueInverse(NamedTuple):
    """What `unique_inverse` gives."""

    values: Any
    inverse_indices: Any


@gives_handles
def all(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:  # noqa: A001 - the standard's
    """Tell whether all elements are true; see ``all`` in the standard."""
    return np.all(x, axis=axis, keepdims=keepdims)


@gives_handles
def any(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:  # noqa: A001 - the standard's
    """Tell whether any element is true; see ``any`` in the standard."""
    return np.any(x, axis=axis, keepdims=keepdims)


@gives_handles
def argmax(x: Any, /, *, axis: int | None = None, keepdims: bool = False) -> Any:
    """Find the maximum; see ``argmax`` in the standard."""
    return np.argmax(x, axis=axis, keepdims=keepdims)


@gives_handles
def argmin(x: Any, /, *, axis: int | None = None, keepdims: bool = False) -> Any:
    """Find the minimum; see ``argmin`` in the standard."""
    return np.argmin(x, axis=axis, keepdims=keepdims)


@gives_handles
def argsort(x: Any, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Any:
    """Find the order; see ``argsort`` in the standard."""
    if not descending:
        return np.argsort(x, axis=axis, stable=stable)
    order = np.argsort(np.flip(x, axis), axis=axis, stable=stable)
    return x.shape[axis] - 1 - np.flip(order, axis) if x.ndim else order


@gives_handles
def sort(x: Any, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Any:
    """Sort; see ``sort`` in the standard."""
    out = np.sort(x, axis=axis, stable=stable)
    return np.flip(out, axis) if descending else out


@gives_handles
def count_nonzero(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    """Count what is not zero; see ``count_nonzero`` in the standard."""
    return np.asarray(np.count_nonzero(x, axis=axis, keepdims=keepdims))


@gives_handles
def nonzero(x: Any, /) -> Any:
    """Find what is not zero; see ``nonzero`` in the standard."""
    return np.nonzero(x)


@gives_handles
def searchsorted(x1: Any, x2: Any, /, *, side: Any = "left", sorter: Any = None) -> Any:
    """Find where values belong; see ``searchsorted`` in the standard."""
    return np.searchsorted(x1, x2, side=side, sorter=sorter)


@gives_handles
def where(condition: Any, x1: Any = None, x2: Any = None, /) -> Any:
    """Choose element by element; see ``where`` in the standard.

    A condition alone gives the places where it holds, which is NumPy's and is written in
    scikit-learn.
    """
    return np.where(condition, *(x for x in (x1, x2) if x is not None))


@gives_handles
def isin(x1: Any, x2: Any, /, *, invert: bool = False) -> Any:
    """Tell which elements are among others; see ``isin`` in the standard."""
    return np.isin(x1, x2, invert=invert)


@gives_handles
def unique_all(x: Any, /) -> UniqueAll:
    """Find the distinct values, and where they stand; see ``unique_all`` in the standard."""
    return UniqueAll(*np.unique_all(x))


@gives_handles
def unique_counts(x: Any, /) -> UniqueCounts:
    """Find the distinct values, and how many of each; see ``unique_counts`` in the standard."""
    return UniqueCounts(*np.unique_counts(x))


@gives_handles
def unique_inverse(x: Any, /) -> UniqueInverse:
    """Find the distinct values, and which ones stand where; see ``unique_inverse``."""
    return UniqueInverse(*np.unique_inverse(x))


@gives_handles
def unique_values(x: Any, /) -> Any:
    """Find the distinct values; see ``unique_values`` in the standard.

    They are sorted, which NumPy leaves open from release 2.3 on, and scikit-learn counts on.
    """
    return np.unique(x, equal_nan=False)


@gives_handles
def max(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:  # noqa: A001 - the standard's
    """Take the maximum over axes; see ``max`` in the standard."""
    return np.max(x, axis=axis, keepdims=keepdims)


@gives_handles
def min(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:  # noqa: A001 - the standard's
    """Take the minimum over axes; see ``min`` in the standard."""
    return np.min(x, axis=axis, keepdims=keepdims)


@gives_handles
def mean(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    """Average over axes; see ``mean`` in the standard."""
    return np.mean(x, axis=axis, keepdims=keepdims)


@gives_handles
def sum(  # noqa: A001 - the standard's
    x: Any, /, *, axis: Any = None, dtype: Any = None, keepdims: bool = False
) -> Any:
    """Sum over axes; see ``sum`` in the standard."""
    return np.sum(x, axis=axis, dtype=dtype, keepdims=keepdims)


@gives_handles
def prod(x: Any, /, *, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
    """Multiply over axes; see ``prod`` in the standard."""
    return np.prod(x, axis=axis, dtype=dtype, keepdims=keepdims)


@gives_handles
def std(x: Any, /, *, axis: Any = None, correction: float = 0.0, keepdims: bool = False) -> Any:
    """Compute the standard deviation over axes; see ``std`` in the standard."""
    return np.std(x, axis=axis, ddof=correction, keepdims=keepdims)


@gives_handles
def var(x: Any, /, *, axis: Any = None, correction: float = 0.0, keepdims: bool = False) -> Any:
    """Compute the variance over axes; see ``var`` in the standard."""
    return np.var(x, axis=axis, ddof=correction, keepdims=keepdims)


@gives_handles
def cumulative_sum(
    x: Any, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False
) -> Any:
    """Add up along an axis, keeping every sum; see ``cumulative_sum`` in the standard."""
    return accumulated(np.cumsum, 0, x, axis, dtype, include_initial)


@gives_handles
def cumulative_prod(
    x: Any, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False
) -> Any:
    """Multiply along an axis, keeping every product; see ``cumulative_prod`` in the standard."""
    return accumulated(np.cumprod, 1, x, axis, dtype, include_initial)


def accumulated(
    function: Any, start: int, x: Any, axis: int | None, dtype: Any, include_initial: bool
) -> Any:
    """Accumulate along an axis, which has to be named where there are several.

    Raises
    ------
    ValueError
    """
    if axis is None:
        if x.ndim != 1:
            raise ValueError(f"axis= has to be named for an array of {x.ndim} axes")
        axis = 0
    out = function(x, axis=axis, dtype=dtype)
    if not include_initial:
        return out
    first = list(out.shape)
    first[axis] = 1
    return np.concatenate([np.full(first, start, out.dtype), out], axis=axis)


@gives_handles
def diff(x: Any, /, n: int = 1, *, axis: int = -1, prepend: Any = None, append: Any = None) -> Any:
    """Take differences along an axis; see ``diff`` in the standard.

    Their number may be given by position, which is NumPy's and is written in scikit-learn.
    """
    ends = {"prepend": prepend, "append": append}
    return np.diff(x, n, axis, **{k: v for k, v in ends.items() if v is not None})


FUNCTIONS: dict[str, Any] = {
    each.__name__: each
    for each in (
        all,
        any,
        argmax,
        argmin,
        argsort,
        count_nonzero,
        cumulative_prod,
        cumulative_sum,
        diff,
        isin,
        max,
        mean,
        min,
        nonzero,
        prod,
        searchsorted,
        sort,
        std,
        sum,
        unique_all,
        unique_counts,
        unique_inverse,
        unique_values,
        var,
        where,
    )
}
