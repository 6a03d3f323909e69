"""Functions of arrays as wholes: reductions, sorting, joining, and other shapes."""

from typing import Any

import numpy as np

from tape_ad.extend.arrays import primal
from tape_ad.interop.array_api.wrapping import of_standard


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


def diff(x: Any, /, n: int = 1, *, axis: int = -1, prepend: Any = None, append: Any = None) -> Any:
    """Take differences along an axis.

    Their number may be given by position, which is NumPy's and is written in scikit-learn.
    """
    ends = {"prepend": prepend, "append": append}
    return np.diff(x, n, axis, **{k: v for k, v in ends.items() if v is not None})


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


SAME = (
    *("all", "any", "argmax", "argmin", "max", "mean", "min", "prod", "std", "sum", "var"),
    *("broadcast_arrays", "broadcast_to", "concat", "flip", "isin", "moveaxis", "nonzero"),
    *("permute_dims", "repeat", "roll", "searchsorted", "squeeze", "stack", "take", "tile"),
    *("tril", "triu", "unique_all", "unique_counts", "unique_inverse"),
)
"""Functions of which NumPy's own take all that those of the standard do."""

FUNCTIONS: dict[str, Any] = of_standard(
    {
        **{name: vars(np)[name] for name in SAME},
        "cumulative_sum": accumulating(np.cumsum, 0),
        "cumulative_prod": accumulating(np.cumprod, 1),
        "count_nonzero": lambda x, /, *, axis=None, keepdims=False: np.asarray(
            np.count_nonzero(x, axis, keepdims=keepdims)
        ),
        # Sorted, which NumPy leaves open from release 2.3 on, and scikit-learn counts on
        "unique_values": lambda x, /: np.unique(x, equal_nan=False),
        "argsort": argsort,
        "sort": sort,
        "diff": diff,
        "expand_dims": lambda x, /, axis=0: np.expand_dims(x, axis),
        "reshape": reshape,
        "take_along_axis": lambda x, indices, /, *, axis=-1: np.take_along_axis(x, indices, axis),
        "where": lambda condition, x1=None, x2=None, /: np.where(
            condition, *(x for x in (x1, x2) if x is not None)
        ),
        "unstack": lambda x, /, *, axis=0: tuple(np.moveaxis(x, axis, 0)),
    }
) | {"broadcast_shapes": broadcast_shapes}
