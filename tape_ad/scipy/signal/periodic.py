"""Waves that repeat, envelopes, and delays of groups."""

import warnings
from typing import Any

import numpy as np

from tape_ad.base.arrays.overridable import SHAPED_BY_VALUES
from tape_ad.base.errors import UnsupportedArgumentError
from tape_ad.rules.base import Constant, Entry, as_array
from tape_ad.rules.maps import Array
from tape_ad.scipy.counterparts import is_handle, joined, scipy_composition, scipy_function
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.signal.filters import coefficients

__all__ = ["PERIODIC", "check_COLA", "check_NOLA", "group_delay", "sawtooth", "square"]

check_COLA, check_NOLA, square = (  # noqa: N816 - SciPy's names
    scipy_function(function, "tape_ad.scipy.signal")
    for function in (scipy.signal.check_COLA, scipy.signal.check_NOLA, scipy.signal.square)
)

PERIODIC: dict[Any, Entry] = {each: Constant() for each in (check_COLA, check_NOLA, square)}


@scipy_composition(PERIODIC, scipy.signal.sawtooth, "t width")
def sawtooth(t: Array, width: Any = 1) -> Array:
    """Make a wave of two slopes, as `scipy.signal.sawtooth` does.

    Parameters
    ----------
    t : array or Tensor
        The times; the period is 2 pi.
    width : number, array or Tensor
        The share of the period in which it rises, between 0 and 1.

    Returns
    -------
    array or Tensor
    """
    alike = (np.zeros(x.shape, x.dtype) if hasattr(x, "dtype") else x for x in (t, width))
    dtype = scipy.signal.sawtooth(*alike).dtype  # double precision, in releases before 1.18
    t, width = as_array(t), as_array(width)
    common = min(dtype, np.result_type(t.dtype, width.dtype, np.float16))
    t, width = t.astype(common), width.astype(common)
    inside = (width >= 0) & (width <= 1)
    turn = np.mod(t, 2 * np.pi)
    rises = turn < width * 2 * np.pi
    up = turn / (np.pi * np.where(rises, width, 1.0)) - 1
    falls = ~rises
    down = (np.pi * (width + 1) - turn) / (np.pi * (1 - np.where(falls, width, 0.0)))
    out = np.where(inside, np.where(rises, up, down), np.nan)
    return out.astype(dtype)


@scipy_composition(PERIODIC, scipy.signal.group_delay, "system w", trees="system")
def group_delay(
    system: Any, w: Any = 512, whole: bool = False, fs: float = 2 * np.pi
) -> tuple[Array, Array]:
    """Compute how long a filter delays groups of waves, as `scipy.signal.group_delay` does.

    Parameters
    ----------
    system : tuple of array or Tensor
        The numerator and the denominator.
    w : int, array or Tensor
        The number of frequencies, or the frequencies in units of `fs`.
    whole : bool
    fs : float

    Returns
    -------
    tuple of array or Tensor
        The frequencies and the delays, in samples.
    """
    b, a = (coefficients("group_delay", joined(each)) for each in system)
    if w is None or isinstance(w, (int, np.integer)):
        angles = np.linspace(0, (2 if whole else 1) * np.pi, 512 if w is None else w, False)
    else:
        angles = as_array(w)
        angles = (angles.reshape((1,)) if angles.ndim == 0 else angles) * (2 * np.pi / fs)
    c = np.convolve(b, np.conjugate(a[::-1]))
    powers = np.exp(-1j * angles)
    den = np.polyval(c[::-1], powers)
    num = np.polyval((c * np.arange(c.shape[0]))[::-1], powers)
    singular = np.abs(den) < 10 * np.finfo(float).eps
    if bool(singular.any()):
        if is_handle(den):
            raise UnsupportedArgumentError(
                "tape_ad.scipy.signal.group_delay: there is no delay, and no derivative, at a "
                "frequency w= where the filter has a zero or a pole on the circle; leave it out"
            )
        warnings.warn("The group delay is singular at some frequencies", stacklevel=5)
    return angles * (fs / (2 * np.pi)), np.real(num / den) - a.shape[0] + 1


SHAPED_BY_VALUES.add(group_delay)
