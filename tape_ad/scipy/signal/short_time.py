"""Spectra of segments one by one, and the signal of such spectra; see `segments`."""

import warnings
from typing import Any

import numpy as np

from tape_ad.base.errors import ShapeError
from tape_ad.extend.arrays import Array, as_array, axis_of
from tape_ad.extend.rules import Entry
from tape_ad.scipy.counterparts import is_handle, scipy_composition
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.signal.filters import to_last
from tape_ad.scipy.signal.sections import beside_nothing
from tape_ad.scipy.signal.segments import (
    frequencies,
    overlap_of,
    scale_of,
    spectra,
    window_of,
)
from tape_ad.scipy.signal.spectra import pairs

__all__ = ["SHORT_TIME", "istft", "spectrogram", "stft"]

SHORT_TIME: dict[Any, Entry] = {}

Three = tuple[Array, Array, Array]


@scipy_composition(SHORT_TIME, scipy.signal.stft, "x fs window", trees="window")
def stft(
    x: Array,
    fs: Any = 1.0,
    window: Any = "hann",
    nperseg: int | None = 256,
    noverlap: int | None = None,
    nfft: int | None = None,
    detrend: Any = False,
    return_onesided: bool = True,
    boundary: str | None = "zeros",
    padded: bool = True,
    axis: int = -1,
    scaling: str = "spectrum",
) -> Three:
    """Compute the short-time Fourier transform, as `scipy.signal.stft` does.

    Parameters
    ----------
    x : array or Tensor
    fs : number or Tensor
        The sampling frequency.
    window : str, tuple, array or Tensor
    nperseg, noverlap, nfft : int, optional
    detrend : str, callable or False
    return_onesided : bool
    boundary : str or None
        What is beyond the ends: "zeros", "even", "odd" or "constant".
    padded : bool
        Whether zeros make the last segment whole.
    axis : int
    scaling : str
        "spectrum" or "psd".

    Returns
    -------
    tuple of array or Tensor
        The frequencies, the times, and the transform: frequencies are in the place of the axis,
        and times on the last.
    """
    x = as_array(x)
    if scaling not in ("spectrum", "psd"):
        raise ValueError(f"Parameter scaling={scaling!r} not in ['spectrum', 'psd']!")
    if x.size == 0:
        return np.empty(x.shape), np.empty(x.shape), beside_nothing(np.empty(x.shape), x)
    scaling = "density" if scaling == "psd" else scaling
    nperseg = 256 if nperseg is None and isinstance(window, (str, tuple)) else nperseg
    win, nperseg = window_of("stft", window, nperseg, x.shape[axis])
    overlap = overlap_of("stft", noverlap, nperseg, nperseg // 2)
    return by_segments(
        x, fs, win, overlap, nfft, detrend, return_onesided, boundary, padded, axis, scaling, False
    )


@scipy_composition(SHORT_TIME, scipy.signal.spectrogram, "x fs window", trees="window")
def spectrogram(
    x: Array,
    fs: Any = 1.0,
    window: Any = ("tukey", 0.25),
    nperseg: int | None = None,
    noverlap: int | None = None,
    nfft: int | None = None,
    detrend: Any = "constant",
    return_onesided: bool = True,
    scaling: str = "density",
    axis: int = -1,
    mode: str = "psd",
) -> Three:
    """Compute a spectrogram, as `scipy.signal.spectrogram` does.

    Parameters
    ----------
    x, fs, window, nperseg, noverlap, nfft, detrend, return_onesided, axis
        As for `stft`.
    scaling : str
        "density" or "spectrum".
    mode : str
        "psd", "complex", "magnitude", "angle" or "phase".

    Returns
    -------
    tuple of array or Tensor
        As those of `stft`.
    """
    if mode not in ("psd", "complex", "magnitude", "angle", "phase"):
        raise ValueError(f"unknown value for mode {mode}")
    x = as_array(x)
    if not x.size:
        return np.empty(x.shape), np.empty(x.shape), x.real
    axis = axis_of(x.ndim, axis)
    win, nperseg = window_of("spectrogram", window, nperseg, x.shape[axis])
    overlap = overlap_of("spectrogram", noverlap, nperseg, nperseg // 8)
    f, t, out = by_segments(
        x,
        fs,
        win,
        overlap,
        nfft,
        detrend,
        return_onesided,
        None,
        False,
        axis,
        scaling,
        mode == "psd",
    )
    if mode == "magnitude":
        out = np.abs(out)
    elif mode == "angle":
        out = np.angle(out)
    elif mode == "phase":
        out = np.unwrap(np.angle(out), axis=axis - 1)
    return f, t, out


def by_segments(
    x: Array,
    fs: Any,
    win: Array,
    overlap: int,
    nfft: int | None,
    detrend: Any,
    return_onesided: bool,
    boundary: str | None,
    padded: bool,
    axis: int,
    scaling: str,
    power: bool,
) -> Three:
    """Transform the segments of a signal, and square what that gives if its power is wanted."""
    axis, nperseg = axis_of(x.ndim, axis), win.shape[0]
    nfft = nperseg if nfft is None else int(nfft)
    if nfft < nperseg:
        raise ValueError("nfft must be greater than or equal to nperseg.")
    step = nperseg - overlap
    x = to_last(x, axis)
    if boundary is not None:
        x = beyond_ends(x, nperseg // 2, boundary)
    if padded:
        short = (-(x.shape[-1] - nperseg) % step) % nperseg
        x = np.pad(x, [(0, 0)] * (x.ndim - 1) + [(0, short)])
    onesided = return_onesided and x.dtype.kind != "c"
    if return_onesided and not onesided:
        warnings.warn("Input data is complex, switching to return_onesided=False", stacklevel=6)
    dtype = np.result_type(x, np.complex64)
    win = win.astype(np.empty(0, dtype).real.dtype)
    scale = scale_of(win, fs, scaling)
    out = spectra(x, win, step, nfft, detrend, axis, onesided)
    if power:
        out = (np.conjugate(out) * out).real * scale
        out = out * pairs(nfft, win.dtype) if onesided else out
    else:
        out = out * np.sqrt(scale)
    times = np.arange(nperseg / 2, x.shape[-1] - nperseg / 2 + 1, step)
    times = times - (nperseg / 2 if boundary is not None else 0)
    out = out.astype(win.dtype if power else dtype)
    return frequencies(nfft, fs, onesided), times / fs, np.moveaxis(out, -1, axis - 1)


def beyond_ends(x: Array, margin: int, boundary: str) -> Array:
    """Continue the last axis at both ends.

    Raises
    ------
    ValueError
        When there is no such way.
    """
    options: dict[str, dict[str, Any]] = {
        "zeros": {"mode": "constant"},
        "constant": {"mode": "edge"},
        "even": {"mode": "reflect"},
        "odd": {"mode": "reflect", "reflect_type": "odd"},
    }
    if boundary not in options:
        raise ValueError(f"Unknown boundary option '{boundary}'")
    if margin >= x.shape[-1] and boundary in ("even", "odd"):
        raise ValueError(
            f"The extension length n ({margin}) is too big. It must not exceed x.shape[axis]-1, "
            f"which is {x.shape[-1] - 1}."
        )
    return np.pad(x, [(0, 0)] * (x.ndim - 1) + [(margin, margin)], **options[boundary])


@scipy_composition(SHORT_TIME, scipy.signal.istft, "Zxx fs window", trees="window")
def istft(
    Zxx: Array,  # noqa: N803 - SciPy's name
    fs: Any = 1.0,
    window: Any = "hann",
    nperseg: int | None = None,
    noverlap: int | None = None,
    nfft: int | None = None,
    input_onesided: bool = True,
    boundary: bool = True,
    time_axis: int = -1,
    freq_axis: int = -2,
    scaling: str = "spectrum",
) -> tuple[Array, Array]:
    """Make the signal of a short-time Fourier transform, as `scipy.signal.istft` does.

    Parameters
    ----------
    Zxx : array or Tensor
    fs, window, nperseg, noverlap, nfft, scaling
        As for `stft`.
    input_onesided, boundary : bool
        Whether the transform has one side of the spectrum, and margins at its ends.
    time_axis, freq_axis : int

    Returns
    -------
    tuple of array or Tensor
        The times, and the signal.
    """
    z = as_array(Zxx) + 0j
    if z.ndim < 2:
        raise ShapeError(f"istft takes two axes at least, got shape {z.shape}")
    time, frequency = axis_of(z.ndim, time_axis), axis_of(z.ndim, freq_axis)
    if time == frequency:
        raise ValueError("Must specify differing time and frequency axes!")
    count, default = z.shape[time], z.shape[frequency]
    default = 2 * (default - 1) if input_onesided else default
    nperseg = default if nperseg is None else int(nperseg)
    odd = input_onesided and nperseg == default + 1
    nfft = (nperseg if odd else default) if nfft is None else int(nfft)
    if nfft < nperseg:
        raise ValueError("nfft must be greater than or equal to nperseg.")
    step = nperseg - overlap_of("istft", noverlap, nperseg, nperseg // 2)
    win, _ = window_of("istft", window, nperseg, nperseg)
    z = np.moveaxis(z, (time, frequency), (-2, -1))
    segments = (np.fft.irfft if input_onesided else np.fft.ifft)(z, nfft)[..., :nperseg]
    win = win.astype(segments.real.dtype)
    if scaling not in ("spectrum", "psd"):
        raise ValueError(f"Parameter scaling={scaling!r} not in ['spectrum', 'psd']!")
    gain = np.sum(win) if scaling == "spectrum" else np.sqrt(fs * np.sum(win**2))
    x = added_up(segments * (win * gain).astype(win.dtype), step)
    norm = added_up(np.broadcast_to(win**2, (count, nperseg)), step)
    if boundary:
        kept = slice(nperseg // 2, x.shape[-1] - nperseg // 2)
        x, norm = x[..., kept], norm[kept]
    there = norm > 1e-10
    if not there.all():
        warnings.warn(
            "NOLA condition failed, STFT may not be invertible."
            + ("" if boundary else " Possibly due to missing boundary"),
            stacklevel=5,
        )
    x = x / np.where(there, norm, 1.0)
    if time != -1:  # where it is when that of the frequencies is gone
        x = np.moveaxis(x, -1, time if frequency < time else time + 1)
    return np.arange(x.shape[0]) / (fs if is_handle(fs) else float(fs)), x


def added_up(segments: Array, step: int) -> Array:
    """Add segments up where they overlap: (..., segments, n) -> (..., (segments - 1) step + n)."""
    *lead, count, n = segments.shape
    parts = -(-n // step)
    none = [(0, 0)] * len(lead)
    segments = np.pad(segments, [*none, (0, 0), (0, parts * step - n)])
    blocks = segments.reshape((*lead, count, parts, step))
    total: Any = 0
    for i in range(parts):
        total = total + np.pad(blocks[..., i, :], [*none, (i, parts - 1 - i), (0, 0)])
    flat = total.reshape((*lead, (count + parts - 1) * step))
    return flat[..., : (count - 1) * step + n]
