"""Functions of arrays as wholes: reductions, sorting, joining, and other shapes."""

from typing import Any

import numpy as np

from tape_ad.extend.arrays import primal
from tape_ad.interop.array_api.wrapping import of_standard


def reducing(of: Any) -> Any:
    """Make a reduction."""
    return lambda x, /, *, axis=None, keepdims=False: of(x, axis=axis, keepdims=keepdims)


def summing(of: Any) -> Any:
    """Make a reduction that is computed in a dtype."""
    return lambda x, /, *, axis=None, dtype=None, keepdims=False: of(
        x, axis=axis, dtype=dtype, keepdims=keepdims
    )


def spreading(of: Any) -> Any:
    """Make a reduction that takes a correction of the number of elements."""
    return lambda x, /, *, axis=None, correction=0.0, keepdims=False: of(
        x, axis=axis, ddof=correction, keepdims=keepdims
    )


def accumulating(of: Any, start: int) -> Any:
    """Make what accumulates along an axis, which has to be named where there are several."""

    def function(
        x: Any, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False
    ) -> Any:
        if axis is None:
            if x.ndim != 1:
                raise ValueError(f"axis= has to be named for an array of {x.ndim} axes")
            axis = 0
        out = of(x, axis=axis, dtype=dtype)
        if not include_initial:
            return out
        first = list(out.shape)
        first[axis] = 1
        return np.concatenate([np.full(first, start, out.dtype), out], axis=axis)

    return function


def argsort(x: Any, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Any:
    """Find the order, in which elements that are equal stay as they are."""
    if not descending:
        return np.argsort(x, axis=axis, stable=stable)
    order = np.argsort(np.flip(x, axis), axis=axis, stable=stable)
    return x.shape[axis] - 1 - np.flip(order, axis) if x.ndim else order


def sort(x: Any, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Any:
    """Sort."""
    out = np.sort(x, axis=axis, stable=stable)
    return np.flip(out, axis) if descending else out


def where(condition: Any, x1: Any = None, x2: Any = None, /) -> Any:
    """Choose element by element; a condition alone gives the places where it holds.

    That is NumPy's, and is written in scikit-learn.
    """
    return np.where(condition, *(x for x in (x1, x2) if x is not None))


def diff(x: Any, /, n: int = 1, *, axis: int = -1, prepend: Any = None, append: Any = None) -> Any:
    """Take differences along an axis.

    Their number may be given by position, which is NumPy's and is written in scikit-learn.
    """
    ends = {"prepend": prepend, "append": append}
    return np.diff(x, n, axis, **{k: v for k, v in ends.items() if v is not None})


def broadcast_arrays(*arrays: Any) -> Any:
    """Broadcast arrays against each other."""
    shape = np.broadcast_shapes(*map(np.shape, arrays))
    return tuple([np.broadcast_to(each, shape) for each in arrays])


def reshape(x: Any, /, shape: Any, *, copy: bool | None = None) -> Any:
    """Reshape an array.

    Raises
    ------
    ValueError
        When ``copy=False`` and there is no such view.
    """
    out = np.reshape(np.copy(x) if copy else x, shape)
    if copy is False and out.size and not np.shares_memory(*map(primal, (x, out))):
        raise ValueError("reshape cannot give this without a copy, and copy=False forbids one")
    return out


def broadcast_shapes(*shapes: Any) -> tuple[int, ...]:
    """Broadcast shapes against each other; see ``broadcast_shapes`` in the standard."""
    return np.broadcast_shapes(*shapes)


FUNCTIONS: dict[str, Any] = of_standard(
    {
        **{of.__name__: reducing(of) for of in (np.argmax, np.argmin, np.mean)},
        "all": reducing(np.all),
        "any": reducing(np.any),
        "max": reducing(np.max),
        "min": reducing(np.min),
        "sum": summing(np.sum),
        "prod": summing(np.prod),
        "std": spreading(np.std),
        "var": spreading(np.var),
        "cumulative_sum": accumulating(np.cumsum, 0),
        "cumulative_prod": accumulating(np.cumprod, 1),
        "count_nonzero": reducing(lambda x, **options: np.asarray(np.count_nonzero(x, **options))),
        "nonzero": lambda x, /: np.nonzero(x),
        "searchsorted": lambda x1, x2, /, *, side="left", sorter=None: np.searchsorted(
            x1, x2, side=side, sorter=sorter
        ),
        "isin": lambda x1, x2, /, *, invert=False: np.isin(x1, x2, invert=invert),
        "unique_all": lambda x, /: np.unique_all(x),
        "unique_counts": lambda x, /: np.unique_counts(x),
        "unique_inverse": lambda x, /: np.unique_inverse(x),
        # Sorted, which NumPy leaves open from release 2.3 on, and scikit-learn counts on
        "unique_values": lambda x, /: np.unique(x, equal_nan=False),
        "argsort": argsort,
        "sort": sort,
        "where": where,
        "diff": diff,
        "broadcast_arrays": broadcast_arrays,
        "broadcast_to": lambda x, /, shape: np.broadcast_to(x, shape),
        "concat": lambda arrays, /, *, axis=0: np.concatenate(arrays, axis=axis),
        "expand_dims": lambda x, /, axis=0: np.expand_dims(x, axis),
        "flip": lambda x, /, *, axis=None: np.flip(x, axis),
        "moveaxis": lambda x, source, destination, /: np.moveaxis(x, source, destination),
        "permute_dims": lambda x, /, axes: np.transpose(x, axes),
        "repeat": lambda x, repeats, /, *, axis=None: np.repeat(x, repeats, axis),
        "reshape": reshape,
        "roll": lambda x, /, shift, *, axis=None: np.roll(x, shift, axis),
        "squeeze": lambda x, /, axis: np.squeeze(x, axis),
        "stack": lambda arrays, /, *, axis=0: np.stack(arrays, axis),
        "take": lambda x, indices, /, *, axis=None: np.take(x, indices, axis),
        "take_along_axis": lambda x, indices, /, *, axis=-1: np.take_along_axis(x, indices, axis),
        "tile": lambda x, repetitions, /: np.tile(x, repetitions),
        "tril": lambda x, /, *, k=0: np.tril(x, k),
        "triu": lambda x, /, *, k=0: np.triu(x, k),
        "unstack": lambda x, /, *, axis=0: tuple(np.moveaxis(x, axis, 0)),
    }
) | {"broadcast_shapes": broadcast_shapes}
