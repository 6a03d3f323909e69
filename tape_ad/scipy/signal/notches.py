"""Filters of one frequency and its multiples: notches, peaks, combs, and that of the ear."""

import math
import warnings
from typing import Any

import numpy as np

from tape_ad.base.errors import UnsupportedArgumentError
from tape_ad.extend.arrays import Array, as_array
from tape_ad.extend.rules import Entry
from tape_ad.scipy.counterparts import is_handle, scipy_composition
from tape_ad.scipy.installed import scipy

__all__ = ["NOTCHES", "gammatone", "iircomb", "iirnotch", "iirpeak"]

NOTCHES: dict[Any, Entry] = {}

Two = tuple[Array, Array]


def double(name: str, value: Any) -> Any:
    """Take a number to double precision.

    Raises
    ------
    TypeError
        When it is complex.
    """
    value = as_array(value)
    if value.ndim or value.dtype.kind not in "fiu":
        raise TypeError(f"{name} must be a real number, got {value.dtype} of shape {value.shape}")
    return value.astype(np.float64)


def shaped(w0: Any, Q: Any, fs: Any) -> tuple[Array, Array, Array]:  # noqa: N803 - SciPy's name
    """Compute cosine of the frequency, the gain of the design, and its share that is left."""
    w0, quality, fs = double("w0", w0), double("Q", Q), double("fs", fs)
    w0 = 2 * w0 / fs
    if not bool((w0 <= 1.0) & (w0 >= 0.0)):
        raise ValueError("w0 should be such that 0 < w0 < 1")
    gain = 1.0 / (1.0 + np.tan(w0 / quality * np.pi / 2.0))
    return np.cos(w0 * np.pi), gain, 1.0 - gain


@scipy_composition(NOTCHES, scipy.signal.iirnotch, "w0 Q fs")
def iirnotch(w0: Any, Q: Any, fs: Any = 2.0) -> Two:  # noqa: N803 - SciPy's name
    """Design a filter that takes one frequency out, as `scipy.signal.iirnotch` does.

    Parameters
    ----------
    w0, Q, fs : number or Tensor
        The frequency, how narrow the notch is, and the sampling frequency.

    Returns
    -------
    tuple of array or Tensor
        The numerator and the denominator.
    """
    cos, gain, _ = shaped(w0, Q, fs)
    return (
        np.stack((gain, -2.0 * gain * cos, gain)),
        np.stack((np.ones(()), -2.0 * gain * cos, 2.0 * gain - 1.0)),
    )


@scipy_composition(NOTCHES, scipy.signal.iirpeak, "w0 Q fs")
def iirpeak(w0: Any, Q: Any, fs: Any = 2.0) -> Two:  # noqa: N803 - SciPy's name
    """Design a filter that lets one frequency through, as `scipy.signal.iirpeak` does.

    Parameters
    ----------
    w0, Q, fs : number or Tensor
        As for `iirnotch`.

    Returns
    -------
    tuple of array or Tensor
        The numerator and the denominator.
    """
    cos, gain, rest = shaped(w0, Q, fs)
    return (
        np.stack((rest, 0.0 * rest, -rest)),
        np.stack((np.ones(()), -2.0 * gain * cos, 2.0 * gain - 1.0)),
    )


@scipy_composition(NOTCHES, scipy.signal.iircomb, "Q")
def iircomb(
    w0: float,
    Q: Any,  # noqa: N803 - SciPy's name
    ftype: str = "notch",
    fs: float = 2.0,
    *,
    pass_zero: bool = False,
) -> Two:
    """Design a comb, as `scipy.signal.iircomb` does.

    Parameters
    ----------
    w0, fs : float
        The spacing of the teeth, and the sampling frequency, a multiple of it.
    Q : number or Tensor
        How narrow they are.
    ftype : str
        "notch" or "peak".
    pass_zero : bool

    Returns
    -------
    tuple of array or Tensor
        The numerator and the denominator.
    """
    like, _ = scipy.signal.iircomb(w0, 30.0, ftype, fs, pass_zero=pass_zero)
    order = like.shape[0] - 1
    beta = np.tan(order * (2 * np.pi * w0 / fs) / double("Q", Q) / 4)
    notch = ftype.lower() == "notch"
    low, high = (1.0, 0.0) if notch else (0.0, 1.0)
    sign = -1.0 if pass_zero != notch else 1.0
    between = np.zeros(order - 1)
    ends = [
        ((low + high * beta) / (1 + beta), sign * (low - high * beta) / (1 + beta)),
        (np.ones(()), sign * (1 - beta) / (1 + beta)),
    ]
    b, a = (np.concatenate((np.stack((x,)), between, np.stack((y,)))) for x, y in ends)
    return b, a


@scipy_composition(NOTCHES, scipy.signal.gammatone, "freq fs")
def gammatone(
    freq: Any, ftype: str, order: int | None = None, numtaps: int | None = None, fs: Any = None
) -> Two:
    """Design a filter like those of the ear, as `scipy.signal.gammatone` does.

    Parameters
    ----------
    freq : number or Tensor
        Its frequency.
    ftype : str
        "fir" or "iir".
    order, numtaps : int, optional
        For the type "fir".
    fs : number or Tensor, optional
        The sampling frequency.

    Returns
    -------
    tuple of array or Tensor
        The numerator and the denominator.
    """
    freq, fs = double("freq", freq), double("fs", 2.0 if fs is None else fs)
    if not bool((freq > 0) & (freq < fs / 2)):
        raise ValueError(f"The frequency must be between 0 and {fs / 2} (nyquist), got {freq}.")
    kind = ftype.lower()
    width = 1.019 * (24.7 + freq / 9.26449)  # Glasberg & Moore 1990
    if kind == "iir":
        return of_fourth_order(freq, width, fs, order, numtaps)
    if kind != "fir":
        raise ValueError("ftype must be either fir or iir.")
    if numtaps is None and is_handle(fs):
        raise UnsupportedArgumentError(
            "tape_ad.scipy.signal.gammatone: with an fs= that is a handle the number of taps "
            "depends on it; pass numtaps="
        )
    order = 4 if order is None else order
    if not 0 < order <= 24:
        raise ValueError("Invalid order: order must be > 0 and <= 24.")
    t = np.arange(max(int(float(fs) * 0.015), 15) if numtaps is None else numtaps) / fs
    decay = 2 * np.pi * width
    scale = 2 * decay**order / math.factorial(order - 1) / fs
    return t ** (order - 1) * np.exp(-decay * t) * np.cos(2 * np.pi * freq * t) * scale, ONE


ONE = np.ones(1)


def of_fourth_order(freq: Any, width: Any, fs: Any, order: Any, numtaps: Any) -> Two:
    """Design the recursive filter of Slaney 1993, four pairs of poles in one place."""
    for name, value in (("order", order), ("numtaps", numtaps)):
        if value is not None:
            warnings.warn(f"{name} is not used for IIR gammatone filter.", stacklevel=6)
    step = 1.0 / fs
    angle, damp = 2 * freq * np.pi * step, 2 * np.pi * width * step
    around = np.exp(2j * angle)
    there, back = -2 * around * step, 2 * np.exp(-damp + 1j * angle) * step
    gain: Any = 1.0
    for root in (3 + 2**1.5, 3 - 2**1.5):
        shift = np.sqrt(root) * np.sin(angle)
        for side in (shift, -shift):
            gain = gain * (there + back * (np.cos(angle) - side))
    gain = gain / (-2 / np.exp(2 * damp) - 2 * around + 2 * (1 + around) / np.exp(damp)) ** 4
    cosines = np.cos(np.arange(5) * angle)
    decays = np.exp(-damp * np.arange(9))
    b = step**4 / np.abs(gain) * np.array([1.0, -4.0, 6.0, -4.0, 1.0]) * cosines * decays[:5]
    c1, c2, c3, c4 = cosines[1], cosines[2], cosines[3], cosines[4]
    first = [np.ones(()), -8 * c1, 16 + 12 * c2, -48 * c1 - 8 * c3]
    a = np.stack((*first, 36 + 32 * c2 + 2 * c4, *first[::-1])) * decays
    return b, a
