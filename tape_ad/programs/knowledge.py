"""What capture has to know of some functions."""

import operator
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tape_ad.handles.callers import caller
from tape_ad.naming import called
from tape_ad.programs.captured import is_captured
from tape_ad.programs.noting import NUMBERS

__all__ = ["FACTS", "SHAPED_BY_VALUES", "WRITING", "check_capturable", "masked"]

Function = Callable[..., Any]
TRUTH = np.dtype(bool)

FACTS: frozenset[Any] = frozenset(
    {
        np.shape,
        np.ndim,
        np.size,
        np.result_type,
        np.can_cast,
        np.common_type,
        np.iscomplexobj,
        np.isrealobj,
        np.broadcast_shapes,
        np.shares_memory,
        np.may_share_memory,
    }
)
"""Functions about shapes, dtypes and memory, which are the same at each replay."""

SHAPED_BY_VALUES: frozenset[Any] = frozenset(
    {
        np.argwhere,
        np.bincount,
        np.compress,
        np.delete,
        np.extract,
        np.flatnonzero,
        np.insert,
        np.intersect1d,
        np.nonzero,
        np.repeat,
        np.setdiff1d,
        np.setxor1d,
        np.trim_zeros,
        np.union1d,
        np.unique,
        np.unique_all,
        np.unique_counts,
        np.unique_inverse,
        np.unique_values,
        np.poly1d,
        np.roots,
        np.polymul,
        np.polydiv,
        np.arange,
        np.histogram,
        np.histogram_bin_edges,
    }
)
"""Functions whose results have shapes that depend on the values."""

WRITING: frozenset[Any] = frozenset(
    {np.copyto, np.fill_diagonal, np.place, np.put, np.put_along_axis, np.putmask}
)
"""Functions that write to their first argument."""


def masked(function: Function, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> bool:
    """Tell whether a mask decides about the shape of a result."""
    if function is np.where:
        return len(args) == 1
    if function is not operator.getitem:
        return False
    key = args[1] if type(args[1]) is tuple else (args[1],)
    return any(is_captured(k) and getattr(k, "dtype", None) == TRUTH for k in key)


def check_capturable(capture: Any, function: Function, out: Any) -> None:
    """Refuse a function that cannot be replayed.

    Raises
    ------
    CaptureError
    """
    outs = out if isinstance(out, (tuple, list)) else (out,)
    if all(isinstance(each, (np.ndarray, np.generic)) or type(each) in NUMBERS for each in outs):
        return
    raise capture.refusal(
        f"{called(function)} ({caller()}) gives a {type(out).__name__}, which cannot be captured"
    )
