"""Filters designed by their critical frequencies."""

import math
from typing import Any

import numpy as np

from tape_ad.base.errors import DtypeError, ShapeError, UnsupportedArgumentError
from tape_ad.extend import facts
from tape_ad.extend.arrays import Array, as_array
from tape_ad.extend.rules import TYPED_BY_VALUES, Entry, constants
from tape_ad.scipy.counterparts import is_handle, joined, scipy_composition, scipy_function
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.signal.convolution import convolve
from tape_ad.scipy.signal.filters import coefficients
from tape_ad.scipy.signal.recursion import filtered
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
    "ORDER",
    "argrelextrema",
    "argrelmax",
    "argrelmin",
    "bessel",
    "butter",
    "cheby1",
    "cheby2",
    "deconvolve",
    "ellip",
    "firwin",
    "iirfilter",
    "medfilt",
    "medfilt2d",
    "order_filter",
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


argrelextrema, argrelmax, argrelmin = (
    scipy_function(function, "tape_ad.scipy.signal")
    for function in (scipy.signal.argrelextrema, scipy.signal.argrelmax, scipy.signal.argrelmin)
)

ORDER: dict[Any, Entry] = constants(
    argrelextrema, argrelmax, argrelmin, facts=facts.SHAPED_BY_VALUES
)


@scipy_composition(ORDER, scipy.signal.order_filter, "a")
def order_filter(a: Array, domain: Any, rank: int) -> Array:
    """Take the element of a rank in each window, as `scipy.signal.order_filter` does.

    Parameters
    ----------
    a : array or Tensor, real
        Beyond its edges there are zeros.
    domain : array
        The window: what is not 0 belongs to it. Each length is odd.
    rank : int
        0 for the least.

    Returns
    -------
    array or Tensor, shape of `a`
        Its derivative is that of the elements chosen.
    """
    return chosen("order_filter", as_array(a), np.asarray(domain) != 0, rank)


@scipy_composition(ORDER, scipy.signal.medfilt, "volume")
def medfilt(volume: Array, kernel_size: Any = None) -> Array:
    """Take the median of each window, as `scipy.signal.medfilt` does.

    Parameters
    ----------
    volume : array or Tensor, real
    kernel_size : int or sequence of int, optional
        Odd; 3 on all axes when left out.

    Returns
    -------
    array or Tensor, shape of `volume`
    """
    volume = as_array(volume)
    volume = volume.reshape((1,)) if volume.ndim == 0 else volume
    size = 3 if kernel_size is None else np.asarray(kernel_size)
    return median("medfilt", volume, np.broadcast_to(size, (volume.ndim,)))


@scipy_composition(ORDER, scipy.signal.medfilt2d, "input")
def medfilt2d(input: Array, kernel_size: Any = 3) -> Array:  # noqa: A002 - SciPy's name
    """Take the median of each window of an image, as `scipy.signal.medfilt2d` does.

    Parameters
    ----------
    input : array or Tensor, real, shape (m, n)
    kernel_size : int or sequence of two ints
        Odd.

    Returns
    -------
    array or Tensor, shape of `input`
    """
    size = 3 if kernel_size is None else np.asarray(kernel_size)
    return median("medfilt2d", as_array(input), np.broadcast_to(size, (2,)))


@scipy_composition(ORDER, scipy.signal.deconvolve, "signal divisor")
def deconvolve(signal: Array, divisor: Array) -> tuple[Any, Array]:
    """Divide a sequence by another one, as `scipy.signal.deconvolve` does.

    Parameters
    ----------
    signal, divisor : array or Tensor, shapes (m,) and (n,)

    Returns
    -------
    tuple of array or Tensor
        Quotient and remainder: ``signal = convolve(divisor, quotient) + remainder``.
    """
    signal, divisor = coefficients("deconvolve", signal), coefficients("deconvolve", divisor)
    size = signal.shape[0] - divisor.shape[0] + 1
    if size < 1:
        return [], signal
    quotient = filtered(signal, divisor, np.eye(1, size)[0])
    return quotient, signal - convolve(divisor, quotient)


def median(name: str, volume: Array, size: Array) -> Array:
    """Take the median of each window."""
    window = np.ones(tuple(int(k) for k in size), bool)
    return chosen(name, volume, window, math.prod(window.shape) // 2)


def chosen(name: str, a: Array, window: Array, rank: int) -> Array:
    """Take the element of a rank in each window of an array with zeros around it.

    Raises
    ------
    DtypeError, ShapeError, ValueError
    """
    if a.dtype not in (np.float32, np.float64):
        raise DtypeError(f"{name} takes float32 and float64, got {a.dtype}")
    if window.ndim != a.ndim:
        raise ShapeError(f"{name}: a window of {window.ndim} axes for the shape {a.shape}")
    if any(k % 2 == 0 for k in window.shape):
        raise ValueError(f"{name}: each length of the window is odd, got {window.shape}")
    if not -window.sum() <= rank < window.sum():
        raise ValueError(f"{name}: rank {rank} of {window.sum()} elements")
    padded = np.pad(a, [(k // 2, k // 2) for k in window.shape])
    views = np.lib.stride_tricks.sliding_window_view(padded, window.shape)
    return np.sort(views[(..., window)], axis=-1)[..., rank]
