"""Fits of polynomials in windows and over whole signals, and averages of windows."""

from typing import Any, ClassVar

import numpy as np
from attrs import define

from tape_ad.base.errors import DtypeError
from tape_ad.extend import facts
from tape_ad.extend.arrays import Array, as_array, axes_of, axis_of
from tape_ad.extend.patterns import along
from tape_ad.extend.rules import Call, Entry, rule
from tape_ad.scipy.counterparts import is_handle, scipy_composition, takes_lists
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.signal.filters import from_last, to_last
from tape_ad.scipy.signal.sections import convolved

__all__ = ["SMOOTHING", "detrend", "savgol_coeffs", "savgol_filter", "wiener"]

SMOOTHING: dict[Any, Entry] = {}

PADDED: dict[str, Any] = {
    "mirror": "reflect",
    "nearest": "edge",
    "wrap": "wrap",
    "constant": "constant",
}
"""NumPy's words for what a signal is continued with."""


@scipy_composition(SMOOTHING, scipy.signal.savgol_coeffs, "delta")
def savgol_coeffs(
    window_length: int,
    polyorder: int,
    deriv: int = 0,
    delta: Any = 1.0,
    pos: int | None = None,
    use: str = "conv",
) -> Array:
    """Compute the taps of a Savitzky-Golay filter, as `scipy.signal.savgol_coeffs` does.

    Parameters
    ----------
    window_length, polyorder, deriv, pos, use
        As in SciPy.
    delta : number or Tensor
        The spacing of the samples.

    Returns
    -------
    array or Tensor, shape (window_length,)
    """
    taps = scipy.signal.savgol_coeffs(window_length, polyorder, deriv=deriv, pos=pos, use=use)
    return taps * as_array(delta) ** -deriv


@scipy_composition(SMOOTHING, scipy.signal.savgol_filter, "x delta cval")
def savgol_filter(
    x: Array,
    window_length: int,
    polyorder: int,
    deriv: int = 0,
    delta: Any = 1.0,
    axis: int = -1,
    mode: str = "interp",
    cval: Any = 0.0,
) -> Array:
    """Fit polynomials in a moving window, as `scipy.signal.savgol_filter` does.

    Parameters
    ----------
    x : array or Tensor
        Not complex; SciPy would take the real part.
    window_length, polyorder, deriv : int
    delta : number or Tensor
        The spacing of the samples.
    axis : int
    mode : str
        What is beyond the ends: "interp" for the polynomials of the last whole windows, "mirror",
        "nearest", "wrap", or "constant" for `cval`.
    cval : number or Tensor

    Returns
    -------
    array or Tensor, shape of `x`
    """
    x = as_array(x)
    if x.dtype.kind == "c":
        raise DtypeError(
            f"savgol_filter takes real signals, got dtype {x.dtype}; filter x.real and x.imag"
        )
    if x.dtype not in (np.float64, np.float32):
        x = x.astype(np.float64)
    axis = axis_of(x.ndim, axis)
    x = to_last(x, axis)
    taps = scipy.signal.savgol_coeffs(window_length, polyorder, deriv=deriv).astype(x.dtype)
    taps = taps.reshape((1,) * (x.ndim - 1) + taps.shape)
    if mode == "interp":
        y = with_fitted_ends(x, taps, window_length, polyorder, deriv)
    elif mode in PADDED:
        y = with_margins(x, taps, mode, cval)
    else:
        raise ValueError("mode must be 'mirror', 'constant', 'nearest' 'wrap' or 'interp'.")
    if deriv and (is_handle(delta) or delta != 1):
        y = y * (as_array(delta).astype(x.dtype) ** -deriv)
    return from_last(y, axis)


def with_fitted_ends(x: Array, taps: Array, length: int, order: int, deriv: int) -> Array:
    """Filter the last axis, where the first and the last window are fitted as a whole."""
    n, half = x.shape[-1], length // 2
    if length > n:
        raise ValueError(
            "If mode is 'interp', window_length must be less than or equal to the size of x."
        )
    middle = convolved(x, taps, (length - 1 + (length + 1) % 2,), (n - 2 * half,), "direct")
    first = fitted(x[..., :length], np.arange(half), order, deriv)
    last = fitted(x[..., n - length :], np.arange(length - half, length), order, deriv)
    return np.concatenate((first, middle, last), axis=-1)


def fitted(window: Array, places: Array, order: int, deriv: int) -> Array:
    """Fit a polynomial to the last axis, and evaluate a derivative of it, in the steps of SciPy."""
    length = window.shape[-1]
    columns = np.reshape(window, (-1, length)).T
    coefficients = np.polyfit(np.arange(length), columns, order)
    if deriv > order:
        coefficients = coefficients[:1] * 0
    for _ in range(min(deriv, order)):
        powers = np.arange(len(coefficients) - 1, 0, -1)
        coefficients = coefficients[:-1] * powers[:, None]
    values = np.zeros((len(places), 1))
    for coefficient in coefficients:
        values = values * places[:, None] + coefficient
    return np.reshape(values.T, (*window.shape[:-1], len(places))).astype(window.dtype)


def with_margins(x: Array, taps: Array, mode: str, cval: Any) -> Array:
    """Filter the last axis, continued at both ends."""
    length = taps.shape[-1]
    margins = (length - 1 - length // 2, length // 2)
    widths = [(0, 0)] * (x.ndim - 1) + [margins]
    padded = np.pad(x, widths, mode=PADDED[mode])
    if mode == "constant" and (is_handle(cval) or cval != 0):
        there = np.pad(np.zeros(x.shape[-1], x.dtype), margins, constant_values=1)
        padded = padded + there * as_array(cval).astype(x.dtype)
    return convolved(padded, taps, (length - 1,), (x.shape[-1],), "direct")


@takes_lists
def detrend(
    data: Array,
    axis: int = -1,
    type: str = "linear",  # noqa: A002 - SciPy's name
    bp: Any = 0,
    overwrite_data: bool = False,
) -> Array:
    """Take a mean, or lines, off a signal, as `scipy.signal.detrend` does.

    Parameters
    ----------
    data : array or Tensor
    axis : int
    type : str
        "linear" or "constant".
    bp : sequence of int
        Between them each line goes.
    overwrite_data : bool
        A handle is never overwritten.

    Returns
    -------
    array or Tensor, shape of `data`

    Examples
    --------
    >>> detrend(np.array([1.0, 3.0, 2.0]), type="constant")
    array([-1.,  1.,  0.])
    """
    return scipy.signal.detrend(data, axis, type, bp, overwrite_data)


@define(eq=False, repr=False)
class Residual:
    """What a signal is without its trend: a projection at right angles, which is its own adjoint.

    Parameters
    ----------
    axis : int
        Negative.
    type, bp
        As for `detrend`.
    """

    broadcasts: ClassVar[bool] = False
    pattern = along("axis")
    axis: int
    type: str
    bp: Any

    def push(self, t: Array) -> Array:
        return detrend(t, self.axis, self.type, self.bp)

    def pull(self, ct: Array) -> Array:
        return detrend(ct, self.axis, self.type, self.bp)


def trend_axes(ndim: int, axis: Any) -> Any:
    """Count axes from the end; of a mean they may be several, or all."""
    several = axis is None or isinstance(axis, tuple)
    return axes_of(ndim, axis) if several else axis_of(ndim, axis)


def detrend_signature(
    data: Array,
    axis: int = -1,
    type: str = "linear",  # noqa: A002 - SciPy's name
    bp: Any = 0,
    overwrite_data: bool = False,
) -> Call:
    """Sort the arguments of `detrend`."""
    return (as_array(data),), {"axis": axis, "type": type, "bp": bp}


SMOOTHING[detrend] = rule(
    lambda out, data, axis, **options: Residual(trend_axes(data.ndim, axis), **options),
    signature=detrend_signature,
    facts=facts.along(none="all"),
)


@scipy_composition(SMOOTHING, scipy.signal.wiener, "im noise")
def wiener(im: Array, mysize: Any = None, noise: Any = None) -> Array:
    """Filter by Wiener's local statistics, as `scipy.signal.wiener` does.

    Parameters
    ----------
    im : array or Tensor
    mysize : int or sequence of int, optional
        The window, 3 on all axes when left out.
    noise : number or Tensor, optional
        The power of the noise; the mean of the local variances when left out.

    Returns
    -------
    array or Tensor, shape of `im`

    Notes
    -----
    Where the local variance is less than the noise the result is the local mean; where the two
    are equal, the derivative is that of this side.
    """
    im = as_array(im)
    sizes = np.broadcast_to(3 if mysize is None else np.asarray(mysize), (im.ndim,))
    start = tuple(int(k - 1) // 2 for k in sizes)
    ones, count = np.ones(tuple(sizes)), int(np.prod(sizes))
    mean = convolved(im, ones, start, im.shape, "direct") / count
    variance = convolved(im**2, ones, start, im.shape, "direct") / count - mean**2
    if noise is None:
        noise = np.mean(variance)
    signal = variance >= noise
    safe = np.where(signal, variance, 1.0)
    return np.where(signal, mean + (im - mean) * (1 - noise / safe), mean)
