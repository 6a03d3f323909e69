"""Digital filters by second-order sections, one after another."""

from typing import Any

import numpy as np

from tape_ad.base.errors import ShapeError
from tape_ad.extend.arrays import Array, as_array, axis_of, primal
from tape_ad.extend.rules import Entry
from tape_ad.scipy.counterparts import scipy_composition
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.signal.filters import (
    continued,
    filtered_with_state,
    from_last,
    lfilter_zi,
    to_last,
)
from tape_ad.scipy.signal.recursion import filtered

__all__ = ["CASCADES", "sosfilt", "sosfilt_zi", "sosfiltfilt"]

CASCADES: dict[Any, Entry] = {}


@scipy_composition(CASCADES, scipy.signal.sosfilt, "sos x zi")
def sosfilt(sos: Array, x: Array, axis: int = -1, zi: Any = None) -> Any:
    """Filter along one axis by second-order sections, as `scipy.signal.sosfilt` does.

    Parameters
    ----------
    sos : array or Tensor, shape (sections, 6)
        The three coefficients of the numerator of each, and those of the denominator, of which
        the first is 1.
    x : array or Tensor
    axis : int
    zi : array or Tensor, optional
        The state of the delays at first, of the shape ``(sections, ..., 2, ...)``, where the 2
        stands in the place of the axis.

    Returns
    -------
    array or Tensor, shape of `x`
        With the state at the end behind it where `zi` is given.
    """
    sos, x = sections_of("sosfilt", sos), as_array(x)
    axis = axis_of(x.ndim, axis)
    x = to_last(x, axis)
    if zi is None:
        for section in sos:
            x = filtered(section[:3], section[3:], x)
        return from_last(x, axis)
    zi = as_array(zi)
    states = to_last(zi, axis) if zi.ndim == x.ndim + 1 else zi
    if states.shape != (sos.shape[0], *x.shape[:-1], 2):
        raise ShapeError(
            f"zi of sosfilt has the shape {(sos.shape[0], *x.shape[:-1], 2)}, with the axis of "
            f"the 2 where x is filtered; got {zi.shape}"
        )
    y, zf = through_sections(sos, x, states)
    return from_last(y, axis), from_last(zf, axis)


@scipy_composition(CASCADES, scipy.signal.sosfilt_zi, "sos")
def sosfilt_zi(sos: Array) -> Array:
    """Compute the state in which sections answer a step at once, as SciPy's `sosfilt_zi` does.

    Parameters
    ----------
    sos : array or Tensor, shape (sections, 6)

    Returns
    -------
    array or Tensor, shape (sections, 2)
    """
    sos = sections_of("sosfilt_zi", sos)
    scale: Any = 1.0
    states = []
    for section in sos:
        b, a = section[:3], section[3:]
        states.append(lfilter_zi(b, a) * scale)
        scale = scale * (np.sum(b) / np.sum(a))
    return np.stack(states)


@scipy_composition(CASCADES, scipy.signal.sosfiltfilt, "sos x")
def sosfiltfilt(
    sos: Array, x: Array, axis: int = -1, padtype: str | None = "odd", padlen: int | None = None
) -> Array:
    """Filter forwards and backwards by sections, as `scipy.signal.sosfiltfilt` does.

    Parameters
    ----------
    sos : array or Tensor, shape (sections, 6)
    x : array or Tensor
    axis : int
    padtype, padlen
        How `x` is continued at its ends, and how far.

    Returns
    -------
    array or Tensor, shape of `x`
    """
    sos, x = sections_of("sosfiltfilt", sos), as_array(x)
    axis = axis_of(x.ndim, axis)
    zeros = min((sos[:, 2] == 0).sum(), (sos[:, 5] == 0).sum())
    edge, x = continued(to_last(x, axis), padtype, padlen, 2 * sos.shape[0] + 1 - int(zeros))
    zi = sosfilt_zi(sos)
    zi = zi.reshape((sos.shape[0], *(1,) * (x.ndim - 1), 2))
    for _ in range(2):
        y, _ = through_sections(sos, x, zi * x[..., :1])
        x = y[..., ::-1]
    return from_last(x[..., edge : x.shape[-1] - edge], axis)


def sections_of(name: str, sos: Array) -> Array:
    """Check the shape of sections, and that their denominators begin with 1.

    Raises
    ------
    ShapeError
    ValueError
        When one does not.
    """
    sos = as_array(sos)
    if sos.ndim != 2 or sos.shape[1] != 6:
        raise ShapeError(f"{name} takes sections of shape (n, 6), got {sos.shape}")
    if not (primal(sos)[:, 3] == 1).all():
        raise ValueError("sos[:, 3] should be all ones")
    return sos


def through_sections(sos: Array, x: Array, states: Array) -> tuple[Array, Array]:
    """Filter the last axis from states, and give the last states too."""
    ends = []
    for section, zi in zip(sos, states, strict=True):
        x, zf = filtered_with_state(section[:3], section[3:], x, zi)
        ends.append(zf)
    return x, np.stack(ends)
