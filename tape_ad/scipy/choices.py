"""Functions of SciPy's that compute one formula for some elements, and another for the others."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tape_ad.extend.arrays import SYMBOLS, Array
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.stand_ins import stands_for

__all__: list[str] = []


@stands_for(scipy._lib.array_api_extra._lib._funcs._apply_where)
def chosen(
    cond: Any,
    f1: Callable[..., Array],
    f2: Callable[..., Array] | None,
    fill_value: Any,
    *args: Array,
    xp: Any = None,
) -> Array:
    """Compute a function of the elements where a condition holds, and another of the rest.

    Where it asks in a library whether numbers are equal, and some are, the tie is told.
    """
    if any(type(x) in SYMBOLS for x in (cond, *args)):
        return np.where(cond, f1(*args), fill_value if f2 is None else f2(*args))
    if np.all(cond):
        return f1(*args)
    bool(np.any(cond))  # which tells it
    parts = []
    for function, where in ((f1, cond), (f2, ~cond)):
        shape = (int(np.count_nonzero(where)),)
        if function is not None:
            parts.append(np.broadcast_to(function(*(x[where] for x in args)), shape))
        else:
            parts.append(np.broadcast_to(fill_value, cond.shape)[where])
    order = np.argsort(np.reshape(~cond, -1), kind="stable")
    return np.reshape(np.concatenate(parts)[np.argsort(order)], cond.shape)


@stands_for(scipy._lib._util._lazywhere)
def lazily(
    cond: Any,
    arrays: Any,
    f: Callable[..., Array],
    fillvalue: Any = None,
    f2: Callable[..., Array] | None = None,
) -> Array:
    """The same in releases before 1.16."""
    cond, *given = np.broadcast_arrays(cond, *arrays)
    return chosen(cond, f, f2, fillvalue, *given)
