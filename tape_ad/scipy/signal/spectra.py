"""Spectral densities, averaged over a signal's segments, which overlap and are weighted."""

import warnings
from typing import Any

import numpy as np

from tape_ad import differentiable
from tape_ad.errors import ShapeError
from tape_ad.extend.arrays import Array, as_array, axis_of, is_handle, joined
from tape_ad.extend.packages import note_stand_in
from tape_ad.extend.rules import Entry
from tape_ad.scipy.counterparts import counterpart
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.signal.convolution import beside_nothing
from tape_ad.scipy.signal.filters import from_last, to_last
from tape_ad.scipy.signal.trends import detrend as detrended

__all__ = ["SPECTRA", "csd", "framed"]

SPECTRA: dict[Any, Entry] = {}

get_window = differentiable(scipy.signal.get_window)


@counterpart(SPECTRA, scipy.signal.csd, "x y fs window", trees="window")
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


MANY_PARTS = 32
"""From how many steps in a segment on they are cut out one by one."""


def window_of(name: str, window: Any, nperseg: int | None, n: int) -> tuple[Array, int]:
    """Make the window of segments, and tell their length.

    Parameters
    ----------
    name : str
        The function's.
    window : str, tuple, array or Tensor
    nperseg : int or None
        256 for a window with a name, which a shorter signal makes shorter, with a warning.
    n : int
        The length of the signal.
    """
    if isinstance(window, (str, tuple)):
        length = 256 if nperseg is None else int(nperseg)
        if length < 1:
            raise ValueError("nperseg must be a positive integer")
        if length > n:
            warnings.warn(
                f"nperseg = {length} is greater than the length of the signal {n}, "
                f"using nperseg = {n}",
                stacklevel=6,
            )
            length = n
        return get_window(window, length), length
    window = as_array(joined(window))
    if window.ndim != 1 or nperseg not in (None, window.shape[0]):
        raise ShapeError(f"{name}: a window of {nperseg} weights, got shape {window.shape}")
    if window.shape[0] > n:
        raise ShapeError(f"{name}: a window of {window.shape[0]} weights for {n} samples")
    return window, window.shape[0]


def overlap_of(name: str, noverlap: int | None, nperseg: int, default: int) -> int:
    """Tell by how much segments overlap.

    Raises
    ------
    ValueError
        When they stand still.
    """
    overlap = default if noverlap is None else int(noverlap)
    if overlap >= nperseg:
        raise ValueError(f"{name}: noverlap must be less than nperseg.")
    return overlap


def framed(x: Array, nperseg: int, step: int) -> Array:
    """Cut the last axis into segments: (..., n) -> (..., segments, nperseg)."""
    count = (x.shape[-1] - nperseg) // step + 1
    if step == nperseg:
        return x[..., : count * nperseg].reshape((*x.shape[:-1], count, nperseg))
    parts = -(-nperseg // step)
    if parts > MANY_PARTS:
        return np.lib.stride_tricks.sliding_window_view(x, nperseg, axis=-1)[..., ::step, :]
    # Side by side from steps that are whole, so that what comes back is no larger than the segments
    short = (count + parts - 1) * step - x.shape[-1]
    if short > 0:
        x = np.pad(x, [(0, 0)] * (x.ndim - 1) + [(0, short)])
    blocks = x[..., : (count + parts - 1) * step]
    blocks = blocks.reshape((*x.shape[:-1], count + parts - 1, step))
    shifted = [blocks[..., i : i + count, :] for i in range(parts)]
    return np.concatenate(shifted, axis=-1)[..., :nperseg]


def spectra(
    x: Array, window: Array, step: int, nfft: int, trend: Any, axis: int, onesided: bool
) -> Array:
    """Transform the segments of the last axis: (..., n) -> (..., segments, frequencies).

    Parameters
    ----------
    x, window : array or Tensor
    step, nfft : int
    trend : str, callable or False
        What is taken off each segment.
    axis : int
        Where a callable expects the samples.
    onesided : bool
    """
    x = framed(x, window.shape[-1], step)
    if callable(trend):
        x = trend(x) if axis == -1 else np.moveaxis(trend(np.moveaxis(x, -1, axis)), axis, -1)
    elif trend:
        x = detrended(x, axis=-1, type=trend)
    transform = np.fft.rfft if onesided else np.fft.fft
    return transform(x * window, nfft)


def scale_of(window: Array, fs: Any, scaling: str) -> Any:
    """Compute what a power spectrum is multiplied with.

    Raises
    ------
    ValueError
        When there is no such scaling.
    """
    if scaling == "density":
        return 1.0 / (fs * np.sum(window * window))
    if scaling == "spectrum":
        return 1.0 / np.sum(window) ** 2
    raise ValueError(f"Unknown scaling: {scaling!r}")


def frequencies(nfft: int, fs: Any, onesided: bool) -> Array:
    """List the frequencies of a transform."""
    own = np.fft.rfftfreq if onesided else np.fft.fftfreq
    return own(nfft) * fs if is_handle(fs) else own(nfft, 1 / fs)


def least_squares_periodogram(x: Array, y: Array, freqs: Array) -> Array:
    """Fit a sine and a cosine of each frequency, as the compiled loop of older releases does."""
    angles = freqs[:, None] * x
    cos, sin = np.cos(angles), np.sin(angles)
    yc, ys = cos @ y, sin @ y
    cc, ss, cs = (np.sum(product, axis=1) for product in (cos * cos, sin * sin, cos * sin))
    phase = np.arctan2(2 * cs, cc - ss) / 2
    c, s = np.cos(phase), np.sin(phase)
    one = (c * yc + s * ys) ** 2 / (c * c * cc + 2 * c * s * cs + s * s * ss)
    other = (c * ys - s * yc) ** 2 / (c * c * ss - 2 * c * s * cs + s * s * cc)
    return 0.5 * (one + other)


if scipy.signal._spectral._lombscargle:  # until SciPy 1.14
    note_stand_in(scipy.signal._spectral._lombscargle, least_squares_periodogram)
