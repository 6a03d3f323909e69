"""Filters designed by their critical frequencies."""

from typing import Any

import numpy as np

from tape_ad.base.arrays.overridable import TYPED_BY_VALUES
from tape_ad.base.errors import ShapeError, UnsupportedArgumentError
from tape_ad.rules.base import Entry, as_array
from tape_ad.rules.maps import Array
from tape_ad.scipy.counterparts import is_handle, joined, scipy_composition
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.signal.responses import zpk2tf
from tape_ad.scipy.signal.sections_of_roots import zpk2sos
from tape_ad.scipy.signal.transformations import (
    bilinear_zpk,
    lp2bp_zpk,
    lp2bs_zpk,
    lp2hp_zpk,
    lp2lp_zpk,
)
from tape_ad.scipy.signal.window_functions import window_taps

__all__ = [
    "DESIGN",
    "bessel",
    "butter",
    "cheby1",
    "cheby2",
    "ellip",
    "firwin",
    "iirfilter",
]

DESIGN: dict[Any, Entry] = {}


@scipy_composition(DESIGN, scipy.signal.iirfilter, "Wn fs")
def iirfilter(
    N: int,  # noqa: N803 - SciPy's name
    Wn: Any,  # noqa: N803 - SciPy's name
    rp: float | None = None,
    rs: float | None = None,
    btype: str = "band",
    analog: bool = False,
    ftype: str = "butter",
    output: str = "ba",
    fs: Any = None,
) -> Any:
    """Design a recursive filter of an order, as `scipy.signal.iirfilter` does.

    Parameters
    ----------
    N : int
    Wn : number, array or Tensor
        The critical frequency, or the two of a band.
    rp, rs : float, optional
        The ripple of the passband and the attenuation of the stopband, in decibels.
    btype, ftype : str
    analog : bool
    output : str
        "ba", "zpk" or "sos".
    fs : number or Tensor, optional
        The sampling frequency.

    Returns
    -------
    tuple of array or Tensor
    """
    wn = as_array(Wn)
    if wn.dtype.kind == "c" or (is_handle(fs) and fs.dtype.kind == "c"):
        raise TypeError("iirfilter: critical frequencies and fs must be real, got complex numbers")
    wn = wn if fs is None else wn / (fs / 2)
    # A lowpass with the cutoff 1 is what the others are made of; SciPy also checks all the rest
    kind = btype.lower()
    limits = np.array([0.25, 0.5]) if wn.ndim and wn.shape[0] == 2 else 0.5
    scipy.signal.iirfilter(N, limits, rp, rs, kind, analog, ftype, output)
    z, p, k = scipy.signal.iirfilter(N, 1.0, rp, rs, "low", True, ftype, "zpk")
    if not bool((wn > 0).all()) or not (analog or bool((wn < 1).all())):
        raise ValueError("critical frequencies must be 0 < Wn < fs/2, or 0 < Wn of analog filters")
    warped = wn if analog else 4.0 * np.tan(np.pi * wn / 2.0)
    if wn.size == 1:
        transform = lp2lp_zpk if kind in ("low", "lowpass", "lp", "l") else lp2hp_zpk
        zpk = transform(z, p, k, warped if warped.ndim == 0 else warped[0])
    else:
        if not bool(wn[0] < wn[1]):
            raise ValueError("Wn[0] must be less than Wn[1]")
        band = kind in ("band", "bandpass", "pass", "bp")
        width, middle = warped[1] - warped[0], np.sqrt(warped[0] * warped[1])
        zpk = (lp2bp_zpk if band else lp2bs_zpk)(z, p, k, middle, width)
    zpk = zpk if analog else bilinear_zpk(*zpk, 2.0)
    if output == "zpk":
        return zpk
    return zpk2tf(*zpk) if output == "ba" else zpk2sos(*zpk, analog=analog)


@scipy_composition(DESIGN, scipy.signal.butter, "Wn fs")
def butter(
    N: int,  # noqa: N803 - SciPy's name
    Wn: Any,  # noqa: N803 - SciPy's name
    btype: str = "low",
    analog: bool = False,
    output: str = "ba",
    fs: Any = None,
) -> Any:
    """Design a Butterworth filter, as `scipy.signal.butter` does.

    Parameters
    ----------
    N, Wn, btype, analog, output, fs
        As for `iirfilter`.

    Returns
    -------
    tuple of array or Tensor
    """
    return iirfilter(N, Wn, None, None, btype, analog, "butter", output, fs)


@scipy_composition(DESIGN, scipy.signal.cheby1, "Wn fs")
def cheby1(
    N: int,  # noqa: N803 - SciPy's name
    rp: float,
    Wn: Any,  # noqa: N803 - SciPy's name
    btype: str = "low",
    analog: bool = False,
    output: str = "ba",
    fs: Any = None,
) -> Any:
    """Design a Chebyshev filter of type I, as `scipy.signal.cheby1` does.

    Parameters
    ----------
    N, rp, Wn, btype, analog, output, fs
        As for `iirfilter`.

    Returns
    -------
    tuple of array or Tensor
    """
    return iirfilter(N, Wn, rp, None, btype, analog, "cheby1", output, fs)


@scipy_composition(DESIGN, scipy.signal.cheby2, "Wn fs")
def cheby2(
    N: int,  # noqa: N803 - SciPy's name
    rs: float,
    Wn: Any,  # noqa: N803 - SciPy's name
    btype: str = "low",
    analog: bool = False,
    output: str = "ba",
    fs: Any = None,
) -> Any:
    """Design a Chebyshev filter of type II, as `scipy.signal.cheby2` does.

    Parameters
    ----------
    N, rs, Wn, btype, analog, output, fs
        As for `iirfilter`.

    Returns
    -------
    tuple of array or Tensor
    """
    return iirfilter(N, Wn, None, rs, btype, analog, "cheby2", output, fs)


@scipy_composition(DESIGN, scipy.signal.ellip, "Wn fs")
def ellip(
    N: int,  # noqa: N803 - SciPy's name
    rp: float,
    rs: float,
    Wn: Any,  # noqa: N803 - SciPy's name
    btype: str = "low",
    analog: bool = False,
    output: str = "ba",
    fs: Any = None,
) -> Any:
    """Design an elliptic filter, as `scipy.signal.ellip` does.

    Parameters
    ----------
    N, rp, rs, Wn, btype, analog, output, fs
        As for `iirfilter`.

    Returns
    -------
    tuple of array or Tensor
    """
    return iirfilter(N, Wn, rp, rs, btype, analog, "elliptic", output, fs)


@scipy_composition(DESIGN, scipy.signal.bessel, "Wn fs")
def bessel(
    N: int,  # noqa: N803 - SciPy's name
    Wn: Any,  # noqa: N803 - SciPy's name
    btype: str = "low",
    analog: bool = False,
    output: str = "ba",
    norm: str = "phase",
    fs: Any = None,
) -> Any:
    """Design a Bessel filter, as `scipy.signal.bessel` does.

    Parameters
    ----------
    N, Wn, btype, analog, output, fs
        As for `iirfilter`.
    norm : str
        "phase", "delay" or "mag".

    Returns
    -------
    tuple of array or Tensor
    """
    return iirfilter(N, Wn, None, None, btype, analog, f"bessel_{norm}", output, fs)


@scipy_composition(DESIGN, scipy.signal.firwin, "cutoff fs window", trees="window")
def firwin(
    numtaps: int,
    cutoff: Any,
    *,
    width: float | None = None,
    window: Any = "hamming",
    pass_zero: Any = True,
    scale: bool = True,
    fs: Any = None,
) -> Array:
    """Design the taps of a filter by a window, as `scipy.signal.firwin` does.

    Parameters
    ----------
    numtaps : int
    cutoff : number, array or Tensor
        The edges of the bands.
    width, window, pass_zero, scale
        As in SciPy.
    fs : number or Tensor, optional
        The sampling frequency.

    Returns
    -------
    array or Tensor, shape (numtaps,)
    """
    cutoff = as_array(joined(cutoff))
    if cutoff.ndim > 1:
        raise ShapeError(f"firwin takes cutoffs of one axis, got shape {cutoff.shape}")
    cutoff = cutoff.reshape((-1,)) / (1.0 if fs is None else 0.5 * as_array(fs))
    if bool((cutoff <= 0).any() or (cutoff >= 1).any() or (np.diff(cutoff) <= 0).any()):
        raise ValueError("cutoff frequencies must be increasing, greater than 0, less than fs/2")
    passes = PASSES_ZERO.get(pass_zero)
    count = cutoff.shape[0]
    if passes is None or (isinstance(pass_zero, str) and ("band" in pass_zero) != (count > 1)):
        raise ValueError(f"firwin: pass_zero={pass_zero!r} with {count} cutoff frequencies")
    last = (count % 2 == 0) == passes
    if last and numtaps % 2 == 0:
        raise ValueError(
            "A filter with an even number of coefficients must have zero response at the "
            "Nyquist frequency."
        )
    if width is not None:
        if is_handle(fs):
            raise UnsupportedArgumentError(
                "tape_ad.scipy.signal.firwin: width= with an fs= that is a handle makes the window "
                "depend on it; pass the window"
            )
        across = width / (1.0 if fs is None else 0.5 * fs)
        window = ("kaiser", scipy.signal.kaiser_beta(scipy.signal.kaiser_atten(numtaps, across)))
    steps = np.arange(numtaps) - 0.5 * (numtaps - 1)
    edged = edges(cutoff, passes, last)
    taps = bands(edged, steps) * window_taps("firwin", window, numtaps, periodic=False)
    if not scale:
        return taps
    middle = 0.0 if passes else 1.0 if count == 1 else 0.5 * (cutoff[0] + cutoff[1])
    return taps / np.sum(taps * np.cos(np.pi * steps * middle))


PASSES_ZERO: dict[Any, bool] = {
    True: True,
    "lowpass": True,
    "bandstop": True,
    False: False,
    "highpass": False,
    "bandpass": False,
}
"""Whether the first band begins at zero."""


def edges(cutoff: Array, first: bool, last: bool) -> Array:
    """Add the ends of the spectrum to the edges of bands."""
    return np.concatenate((np.zeros(int(first)), cutoff, np.ones(int(last))))


def bands(edged: Array, steps: Array) -> Array:
    """Compute the taps of ideal bands."""
    total: Any = 0.0
    for i in range(0, edged.shape[0], 2):
        low, high = edged[i], edged[i + 1]
        total = total + (high * np.sinc(high * steps) - low * np.sinc(low * steps))
    return total


TYPED_BY_VALUES.update((iirfilter, butter, cheby1, cheby2, ellip, bessel))
