"""Taps of filters by windows."""

from typing import Any

from tape_ad.extend.arrays import Array
from tape_ad.extend.packages import copied
from tape_ad.extend.rules import Entry
from tape_ad.scipy.counterparts import constant_beside, is_handle, scipy_composition
from tape_ad.scipy.installed import scipy

__all__ = ["TAPS", "firwin"]

TAPS: dict[Any, Entry] = {}

multiplied_in_place = copied(scipy.signal.firwin)


@scipy_composition(TAPS, multiplied_in_place, "cutoff width fs window", trees="window")
def firwin(
    numtaps: int,
    cutoff: Any,
    *,
    width: Any = None,
    window: Any = "hamming",
    pass_zero: Any = True,
    scale: bool = True,
    fs: Any = None,
) -> Array:
    """Design the taps of a filter by a window, as `scipy.signal.firwin` does.

    Parameters
    ----------
    numtaps : int
    cutoff, width, fs : number, array or Tensor
    window : str, tuple or Tensor
        Its parameters may be handles. SciPy's older releases multiply plain taps by it in place.
    pass_zero, scale
        As in SciPy.

    Returns
    -------
    array or Tensor, shape (numtaps,)
    """
    handle = next(filter(is_handle, window if isinstance(window, tuple) else (window, width)), None)
    if handle is not None and not is_handle(cutoff):
        cutoff = constant_beside(cutoff, handle)
    options = {"pass_zero": pass_zero, "scale": scale, "fs": fs}
    return multiplied_in_place(numtaps, cutoff, width=width, window=window, **options)
