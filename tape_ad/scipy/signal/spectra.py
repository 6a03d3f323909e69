"""Power spectra, averaged over segments; see `segments`."""

from typing import Any

import numpy as np

from tape_ad.rules.base import Entry, as_array, axis_of
from tape_ad.rules.maps import Array
from tape_ad.scipy.counterparts import scipy_composition
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.signal.filters import from_last, to_last
from tape_ad.scipy.signal.sections import beside_nothing
from tape_ad.scipy.signal.segments import (
    frequencies,
    overlap_of,
    scale_of,
    spectra,
    window_of,
)

__all__ = ["SPECTRA", "coherence", "csd", "periodogram", "welch"]

SPECTRA: dict[Any, Entry] = {}


@scipy_composition(SPECTRA, scipy.signal.csd, "x y fs window", trees="window")
def csd(
    x: Array,
    y: Array,
    fs: Any = 1.0,
    window: Any = "hann",
    nperseg: int | None = None,
    noverlap: int | None = None,
    nfft: int | None = None,
    detrend: Any = "constant",
    return_onesided: bool = True,
    scaling: str = "density",
    axis: int = -1,
    average: str = "mean",
) -> tuple[Array, Array]:
    """Estimate a cross spectral density by Welch's method, as `scipy.signal.csd` does.

    Parameters
    ----------
    x, y : array or Tensor
        The shorter is filled up with zeros.
    fs : number or Tensor
        The sampling frequency.
    window : str, tuple, array or Tensor
    nperseg, noverlap, nfft : int, optional
    detrend : str, callable or False
    return_onesided : bool
    scaling : str
        "density" or "spectrum".
    axis : int
    average : str
        "mean" or "median" over segments.

    Returns
    -------
    tuple of array or Tensor
        The frequencies, and the density along the axis.
    """
    same = x is y
    x, y = as_array(x), as_array(y)
    axis = axis_of(x.ndim, axis)
    x, y = to_last(x, axis), to_last(y, axis) if y.ndim > 1 else y
    if x.size == 0 or y.size == 0:
        outer = np.broadcast_shapes(x.shape[:-1], y.shape[:-1])
        empty = from_last(np.empty((*outer, min(x.shape[-1], y.shape[-1]))), axis)
        return empty, beside_nothing(empty, x, y)
    dtype = np.result_type(x, y, np.complex64)
    n = max(x.shape[-1], y.shape[-1])
    win, nperseg = window_of("csd", window, nperseg, n)
    nfft = nperseg if nfft is None else int(nfft)
    if nfft < nperseg:
        raise ValueError("nfft must be greater than or equal to nperseg.")
    step = nperseg - overlap_of("csd", noverlap, nperseg, nperseg // 2)
    onesided = return_onesided and not (x.dtype.kind == "c" or y.dtype.kind == "c")
    win = win.astype(np.empty(0, dtype).real.dtype)
    one = spectra(filled(x, n), win, step, nfft, detrend, axis, onesided)
    other = one if same else spectra(filled(y, n), win, step, nfft, detrend, axis, onesided)
    out = np.conjugate(one) * other
    out = (out.real if same else out) * scale_of(win, fs, scaling)
    if onesided:
        out = out * pairs(nfft, win.dtype)
    out = averaged(out, average).astype(dtype)
    out = np.moveaxis(out, -1, axis) if axis != -1 else out
    return frequencies(nfft, fs, onesided), out.real if same else out


@scipy_composition(SPECTRA, scipy.signal.welch, "x fs window", trees="window")
def welch(
    x: Array,
    fs: Any = 1.0,
    window: Any = "hann",
    nperseg: int | None = None,
    noverlap: int | None = None,
    nfft: int | None = None,
    detrend: Any = "constant",
    return_onesided: bool = True,
    scaling: str = "density",
    axis: int = -1,
    average: str = "mean",
) -> tuple[Array, Array]:
    """Estimate a power spectral density by Welch's method, as `scipy.signal.welch` does.

    Parameters
    ----------
    x, fs, window, nperseg, noverlap, nfft, detrend, return_onesided, scaling, axis, average
        As for `csd`.

    Returns
    -------
    tuple of array or Tensor
        The frequencies, and the density along the axis.
    """
    return csd(
        x,
        x,
        fs,
        window,
        nperseg,
        noverlap,
        nfft,
        detrend,
        return_onesided,
        scaling,
        axis,
        average,
    )


@scipy_composition(SPECTRA, scipy.signal.periodogram, "x fs window", trees="window")
def periodogram(
    x: Array,
    fs: Any = 1.0,
    window: Any = "boxcar",
    nfft: int | None = None,
    detrend: Any = "constant",
    return_onesided: bool = True,
    scaling: str = "density",
    axis: int = -1,
) -> tuple[Array, Array]:
    """Estimate a power spectral density by one transform, as `scipy.signal.periodogram` does.

    Parameters
    ----------
    x, fs, window, nfft, detrend, return_onesided, scaling, axis
        As for `csd`; an `nfft` less than the length cuts the signal short.

    Returns
    -------
    tuple of array or Tensor
        The frequencies, and the density along the axis.
    """
    x = as_array(x)
    if x.size == 0:
        return np.empty(x.shape), beside_nothing(np.empty(x.shape), x)
    axis = axis_of(x.ndim, axis)
    n = x.shape[axis]
    if nfft is not None and nfft < n:
        x = x[(..., slice(nfft), *(slice(None),) * (-axis - 1))]
        n = nfft
    window = "boxcar" if window is None else window
    return csd(x, x, fs, window, n, 0, nfft, detrend, return_onesided, scaling, axis)


@scipy_composition(SPECTRA, scipy.signal.coherence, "x y fs window", trees="window")
def coherence(
    x: Array,
    y: Array,
    fs: Any = 1.0,
    window: Any = "hann",
    nperseg: int | None = None,
    noverlap: int | None = None,
    nfft: int | None = None,
    detrend: Any = "constant",
    axis: int = -1,
) -> tuple[Array, Array]:
    """Estimate the magnitude squared coherence, as `scipy.signal.coherence` does.

    Parameters
    ----------
    x, y, fs, window, nperseg, noverlap, nfft, detrend, axis
        As for `csd`.

    Returns
    -------
    tuple of array or Tensor
        The frequencies, and the coherence along the axis.
    """
    x, y = as_array(x), as_array(y)
    options = (fs, window, nperseg, noverlap, nfft, detrend)
    f, both = csd(x, y, *options, axis=axis)
    powers = [csd(each, each, *options, axis=axis)[1] for each in (x, y)]
    return f, np.abs(both) ** 2 / powers[0] / powers[1]


def filled(x: Array, n: int) -> Array:
    """Fill the last axis up with zeros."""
    short = n - x.shape[-1]
    return np.pad(x, [(0, 0)] * (x.ndim - 1) + [(0, short)]) if short else x


def pairs(nfft: int, dtype: Any) -> Array:
    """Make the weights of frequencies that stand for two."""
    weights = np.full(nfft // 2 + 1, 2, dtype)
    weights[0] = 1
    if nfft % 2 == 0:
        weights[-1] = 1
    return weights


def averaged(out: Array, average: str) -> Array:
    """Average over segments, which are on the last axis but one.

    Raises
    ------
    ValueError
        When there is no such average.
    """
    count = out.shape[-2]
    if count == 1:
        return out[..., 0, :]
    if average == "mean":
        return np.mean(out, axis=-2)
    if average != "median":
        raise ValueError(f"average must be 'mean' or 'median', got {average!r}")
    # The expectation of the median of such a number of exponential variables
    even = 2.0 * np.arange(1, (count - 1) // 2 + 1)
    bias = 1 + np.sum(1 / (even + 1) - 1 / even)
    if out.dtype.kind != "c":
        return np.median(out, axis=-2) / bias
    return (np.median(out.real, axis=-2) + 1j * np.median(out.imag, axis=-2)) / bias
