"""Power spectra, averaged over segments; see `segments`."""

from typing import Any

import numpy as np

from tape_ad.base.errors import ShapeError
from tape_ad.extend.arrays import Array, as_array, axis_of
from tape_ad.extend.rules import Constant, Entry, overridable
from tape_ad.scipy.counterparts import scipy_composition, with_value
from tape_ad.scipy.installed import asked, scipy
from tape_ad.scipy.signal.filters import from_last, to_last
from tape_ad.scipy.signal.sections import beside_nothing
from tape_ad.scipy.signal.segments import (
    frequencies,
    overlap_of,
    scale_of,
    spectra,
    window_of,
)

__all__ = [
    "SPECTRA",
    "UNEVENLY",
    "coherence",
    "csd",
    "lombscargle",
    "periodogram",
    "vectorstrength",
    "welch",
]

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


UNEVENLY: dict[Any, Entry] = {}

NORMALISED: dict[Any, str] = {False: "power", True: "normalize"}
TINY = np.finfo(float).epsneg


@overridable
def turned_by(cs: Array, cc: Array, ss: Array) -> Array:
    """Compute the phases at which sine and cosine are orthogonal: 0.5 atan2(2 cs, cc - ss)."""
    return 0.5 * np.arctan2(2.0 * cs, cc - ss)


UNEVENLY[turned_by] = Constant()


@scipy_composition(UNEVENLY, scipy.signal.lombscargle, "x y freqs weights")
def lombscargle(
    x: Array,
    y: Array,
    freqs: Array,
    precenter: bool = False,
    normalize: Any = False,
    *,
    weights: Any = None,
    floating_mean: bool = False,
) -> Array:
    """Compute a periodogram of samples at any times, as `scipy.signal.lombscargle` does.

    Parameters
    ----------
    x, y : array or Tensor, shape (n,)
        The times and the samples.
    freqs : array or Tensor, shape (m,)
        The angular frequencies.
    precenter : bool
        Whether to subtract the mean.
    normalize : bool or str
        "power", "normalize" or "amplitude".
    weights : array or Tensor, optional, shape (n,)
    floating_mean : bool
        Whether a constant is fitted too.

    Returns
    -------
    array or Tensor, shape (m,)

    Notes
    -----
    SciPy turns the phase of each frequency so far that sine and cosine are orthogonal. The fit is
    the same at any phase where their product is kept, so that the phase is a constant here.
    """
    given: dict[str, Any] = {"precenter": True} if precenter else {}  # which is going, in SciPy
    given |= {"weights": weights} if weights is not None else {}
    given |= {"floating_mean": True} if floating_mean else {}
    composed = fitted(x, y, freqs, precenter, normalize, weights, floating_mean)
    if SQUEEZES and composed.shape == (1,):
        composed = composed[0]
    # At frequencies close to 0 the order of rounding is seen in SciPy's value
    return with_value(composed, None, lombscargle, (x, y, freqs), {"normalize": normalize, **given})


def fitted(
    x: Any, y: Any, freqs: Any, precenter: bool, normalize: Any, weights: Any, floating_mean: bool
) -> Array:
    """Fit a sine and a cosine of each frequency."""
    x, y, freqs = (as_array(each).astype(np.float64) for each in (x, y, freqs))
    weights = np.ones(y.shape) if weights is None else as_array(weights).astype(np.float64)
    if not (x.ndim == 1 and x.size and x.shape == y.shape == weights.shape and freqs.ndim == 1):
        raise ShapeError(
            "lombscargle takes times, samples and weights of one axis and length, and frequencies "
            f"of one axis, got shapes {x.shape}, {y.shape}, {weights.shape} and {freqs.shape}"
        )
    if not bool((weights >= 0).all()) or not bool(np.sum(weights) > 0):
        raise ValueError("weights must not be negative, and sum to a positive value")
    kind = NORMALISED.get(normalize, normalize)
    if kind not in ("power", "normalize", "amplitude"):
        raise ValueError(f"normalize must be one of 'power', 'normalize', 'amplitude': {kind!r}")
    weights = weights / np.sum(weights)
    total = np.sum(weights * y * y)  # before the mean is gone, in the oldest release
    if precenter:
        y = y - np.mean(y)
        total = total if OLDEST else np.sum(weights * y * y)
    mean = weights @ y if floating_mean else 0.0
    angles = freqs[:, None] * x
    tau = turned_by(*second_moments(np.cos(angles), np.sin(angles), weights, floating_mean))
    angles = angles - tau[:, None]
    cos, sin = np.cos(angles), np.sin(angles)
    cs, cc, ss = second_moments(cos, sin, weights, floating_mean)
    cc, ss = (np.where(each < TINY, TINY, each) for each in (cc, ss))
    yc, ys = cos @ (weights * y), sin @ (weights * y)
    if floating_mean:
        yc, ys = yc - mean * (cos @ weights), ys - mean * (sin @ weights)
    area = cc * ss - cs * cs
    a, b = (yc * ss - ys * cs) / area, (ys * cc - yc * cs) / area
    if kind == "amplitude":
        return (a + 1j * b) * np.exp(1j * tau)
    power = 2.0 * (a * yc + b * ys)
    if kind == "power":
        return power * (x.shape[0] / 4.0)
    return power * (0.5 / (total - mean * mean))


SQUEEZES = asked(lambda: scipy.signal.lombscargle(np.arange(2.0), np.ones(2), np.ones(1)).ndim) == 0
"""Whether what one frequency has is a number, as in newer releases."""

OLDEST = not scipy.signal.freqz_sos
"""Whether it is a release that normalizes by the samples as they came."""


def second_moments(
    cos: Array, sin: Array, weights: Array, centred: bool
) -> tuple[Array, Array, Array]:
    """Compute the weighted means of products: of both, of the cosine's and of the sine's square."""
    cs, cc = (cos * sin) @ weights, (cos * cos) @ weights
    ss = 1.0 - cc
    if not centred:
        return cs, cc, ss
    c, s = cos @ weights, sin @ weights
    return cs - c * s, cc - c * c, ss - s * s


@scipy_composition(UNEVENLY, scipy.signal.vectorstrength, "events period")
def vectorstrength(events: Array, period: Any) -> tuple[Array, Array]:
    """Tell how strongly events keep to a period, as `scipy.signal.vectorstrength` does.

    Parameters
    ----------
    events : array or Tensor, shape (n,)
        Their times.
    period : number or Tensor, or an array of them, shape (k,)

    Returns
    -------
    tuple of array or Tensor
        The strength, from 0 to 1, and the phase in radians.
    """
    events, period = as_array(events), as_array(period)
    if events.ndim > 1 or period.ndim > 1:
        raise ValueError("events and period cannot have more than one axis")
    if not bool((period > 0).all()):
        raise ValueError("periods must be positive")
    turns = (2j * np.pi / period.reshape((-1, 1))) * events.reshape((-1,))
    mean = np.mean(np.exp(turns), axis=-1)
    mean = mean[0] if period.ndim == 0 else mean
    like, _ = scipy.signal.vectorstrength(
        np.ones(1, events.dtype), np.ones(period.shape, period.dtype)
    )
    return np.abs(mean).astype(like.dtype), np.angle(mean).astype(like.dtype)
