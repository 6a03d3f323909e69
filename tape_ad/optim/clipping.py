"""Clipping: gradients that are too large are made smaller before a step."""

from typing import Any

import numpy as np

from tape_ad.base.trees import flatten, map_leaves
from tape_ad.optim.fitting import Plain

__all__ = ["clip_by_global_norm", "clip_by_value", "global_norm"]


def clip_by_value(gradients: Any, clip_value: float) -> Any:
    """Bring every element of the gradients into [-clip_value, clip_value].

    Parameters
    ----------
    gradients : mapping of str to array, or another tree of arrays
        What ``grads.wrt(p)`` gives. Of complex ones, both parts are clipped.
    clip_value : float
        0 or above.

    Returns
    -------
    dict of str to array, or the same tree
        The same names, shapes and dtypes.

    Raises
    ------
    ValueError
        When `clip_value` is below 0 or nan.

    Notes
    -----
    As PyTorch's ``clip_grad_value_`` does, but nothing is written to.

    Examples
    --------
    >>> clip_by_value({"w": np.array([-3.0, 0.5])}, 1.0)
    {'w': array([-1. ,  0.5])}
    """
    limit = checked_limit("clip_by_value: clip_value", clip_value)

    def clipped(gradient: Plain, path: str) -> Plain:
        g = as_floating(gradient).copy()
        for part in (g,) if g.dtype.kind != "c" else (g.real, g.imag):
            np.clip(part, -limit, limit, out=part)
        return g

    return map_leaves(clipped, gradients)


def clip_by_global_norm(gradients: Any, max_norm: float) -> Any:
    """Scale all gradients together so that their norm, as of one long vector, is no larger.

    Parameters
    ----------
    gradients : mapping of str to array, or another tree of arrays
        What ``grads.wrt(p)`` gives.
    max_norm : float
        0 or above.

    Returns
    -------
    dict of str to array, or the same tree
        The same names, shapes and dtypes; the arrays themselves where nothing had to be done.
        `global_norm` gives the norm before.

    Raises
    ------
    ValueError
        When `max_norm` is below 0 or nan.

    Notes
    -----
    As PyTorch's ``clip_grad_norm_`` does, with its factor max_norm / (norm + 1e-6), but nothing
    is written to. A norm that is not finite gives gradients that are not.

    Examples
    --------
    >>> clipped = clip_by_global_norm({"w": np.array([30.0]), "b": np.array([40.0])}, 5.0)
    >>> clipped["w"].round(3), clipped["b"].round(3)
    (array([3.]), array([4.]))
    """
    limit = checked_limit("clip_by_global_norm: max_norm", max_norm)
    norm = np.float64(global_norm(gradients))
    with np.errstate(all="ignore"):
        factor = float(limit / (norm + 1e-6))

    def scaled(gradient: Plain, path: str) -> Plain:
        g = as_floating(gradient)
        with np.errstate(all="ignore"):
            return g if factor >= 1 else np.asarray(np.multiply(g, factor, dtype=g.dtype))

    return map_leaves(scaled, gradients)


def global_norm(gradients: Any) -> float:
    """Give the norm of all gradients together, as of one long vector.

    Parameters
    ----------
    gradients : mapping of str to array, or another tree of arrays
        Real or complex.

    Returns
    -------
    float
        The squares are added in float64 whatever the dtypes are.

    Examples
    --------
    >>> global_norm({"w": np.array([3.0]), "b": [np.array([4.0j])]})
    5.0
    """
    with np.errstate(all="ignore"):
        return float(np.sqrt(sum(sum_of_squares(as_floating(g)) for g in flatten(gradients))))


def sum_of_squares(array: Plain) -> float:
    """Add up |x|² in float64, without an array of them."""
    parts = (array,) if array.dtype.kind != "c" else (array.real, array.imag)
    flats = (part.reshape(-1) for part in parts)
    return sum(
        float(np.einsum("i,i->", flat, flat, dtype=np.float64, casting="same_kind"))
        for flat in flats
    )


def as_floating(gradient: Plain) -> Plain:
    """Take integers and bools to float64, since a clipped one is none; the rest stays as it is."""
    array = np.asarray(gradient)
    return array if array.dtype.kind in "fc" else array.astype(np.float64)


def checked_limit(what: str, value: float) -> float:
    """Check the size that gradients are clipped to."""
    if not value >= 0:
        raise ValueError(f"{what} must be 0 or above, got {value}")
    return float(value)
