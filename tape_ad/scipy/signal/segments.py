"""Spectra of a signal's segments, which overlap and are weighted with a window."""

import warnings
from typing import Any

import numpy as np

from tape_ad.base.errors import ShapeError
from tape_ad.extend.arrays import Array, as_array
from tape_ad.scipy.counterparts import is_handle, joined
from tape_ad.scipy.signal.smoothing import detrend as without_trend
from tape_ad.scipy.signal.window_functions import window_taps

__all__ = [
    "framed",
    "frequencies",
    "overlap_of",
    "scale_of",
    "spectra",
    "window_of",
]


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
        return window_taps(name, window, length, periodic=True), length
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
        x = without_trend(x, axis=-1, type=trend)
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
