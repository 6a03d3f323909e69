"""Other rates of samples, and the analytic signal."""

import inspect
from typing import Any

import numpy as np

from tape_ad.base.errors import DtypeError, ShapeError, UnsupportedArgumentError
from tape_ad.extend.arrays import Array, as_array, axis_of
from tape_ad.extend.rules import Entry
from tape_ad.scipy.counterparts import holds, joined, scipy_composition
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.signal.filters import from_last, to_last

__all__ = [
    "RESAMPLING",
    "hilbert",
    "hilbert2",
    "resample",
]

RESAMPLING: dict[Any, Entry] = {}


# The analytic signal


@scipy_composition(RESAMPLING, scipy.signal.hilbert, "x")
def hilbert(x: Array, N: int | None = None, axis: int = -1) -> Array:  # noqa: N803 - SciPy's name
    """Compute the analytic signal, as `scipy.signal.hilbert` does.

    Parameters
    ----------
    x : array or Tensor, real
    N : int, optional
        The number of Fourier components; as many as samples when left out.
    axis : int

    Returns
    -------
    array or Tensor, complex

    Examples
    --------
    >>> np.abs(hilbert(np.array([1.0, 0.0, -1.0, 0.0])))
    array([1., 1., 1., 1.])
    """
    x = real_signal("hilbert", x)
    axis = axis_of(x.ndim, axis)
    n = x.shape[axis] if N is None else N
    if n <= 0:
        raise ValueError("N must be positive.")
    weights = positive(n, x.dtype).reshape((n,) + (1,) * (-axis - 1))
    return np.fft.ifft(np.fft.fft(x, n, axis=axis) * weights, axis=axis)


@scipy_composition(RESAMPLING, scipy.signal.hilbert2, "x")
def hilbert2(x: Array, N: Any = None, axes: Any = (-2, -1)) -> Array:  # noqa: N803 - SciPy's name
    """Compute the analytic signal of images, as `scipy.signal.hilbert2` does.

    Parameters
    ----------
    x : array or Tensor, real
    N : int or tuple of two ints, optional
        The numbers of Fourier components.
    axes : tuple of two ints

    Returns
    -------
    array or Tensor, complex
    """
    x = np.atleast_2d(real_signal("hilbert2", x))
    if x.ndim != 2 and "axes" not in inspect.signature(scipy.signal.hilbert2).parameters:
        raise ShapeError(f"hilbert2 takes two axes before SciPy 1.17, got shape {x.shape}")
    first, second = (axis_of(x.ndim, axis) for axis in axes)
    sizes = (x.shape[first], x.shape[second]) if N is None else np.broadcast_to(N, 2).tolist()
    # Releases differ in what they do with the highest frequencies; what SciPy makes of an impulse
    # has the weights as its spectrum, which are whole numbers
    impulse = np.zeros(sizes)
    impulse[0, 0] = 1
    weights = np.rint(np.fft.fft2(scipy.signal.hilbert2(impulse)).real).astype(x.dtype)
    spectrum = np.moveaxis(np.fft.fft2(x, sizes, axes=(first, second)), (first, second), (-2, -1))
    return np.moveaxis(np.fft.ifft2(spectrum * weights), (-2, -1), (first, second))


def positive(n: int, dtype: Any) -> Array:
    """Make the weights that drop negative frequencies and double positive ones."""
    weights = np.zeros(n, dtype)
    weights[0] = 1
    weights[1 : (n + 1) // 2] = 2
    if n % 2 == 0:
        weights[n // 2] = 1
    return weights


def real_signal(name: str, x: Array) -> Array:
    """Take a signal to an array.

    Raises
    ------
    DtypeError
        When it is complex.
    """
    x = as_array(x)
    if x.dtype.kind == "c":
        raise DtypeError(f"{name} takes real signals, got dtype {x.dtype}")
    return x


# By Fourier's method


@scipy_composition(RESAMPLING, scipy.signal.resample, "x t window", trees="window")
def resample(
    x: Array,
    num: int,
    t: Any = None,
    axis: Any = 0,
    window: Any = None,
    domain: str = "time",
) -> Any:
    """Resample by Fourier's method, as `scipy.signal.resample` does.

    Parameters
    ----------
    x : array or Tensor
    num : int
        The number of samples to make.
    t : array or Tensor, optional
        The equally spaced times of the samples in `x`.
    axis : int, or tuple of one
    window : array, Tensor, str, tuple or callable, optional
        What to multiply the spectrum with; handles are taken as an array.
    domain : str
        "time", or "freq" for an `x` that is the spectrum.

    Returns
    -------
    array or Tensor
        With its times behind it where `t` is given.
    """
    x = as_array(x)
    if domain not in ("time", "freq"):
        raise ValueError(f"Parameter domain={domain!r} not in ('time', 'freq')!")
    axis = axis_of(x.ndim, *axis) if type(axis) is tuple else axis_of(x.ndim, axis)
    x = to_last(x, axis)
    if x.dtype.kind == "c" or domain == "freq":
        out = by_whole_spectrum(x, num, window, domain)
    else:
        out = by_half_spectrum(x, num, window)
    out = from_last(out, axis)
    if t is None:
        return out
    t = as_array(t)
    return out, t[0] + (t[1] - t[0]) * (x.shape[-1] / num) * np.arange(num)


def by_half_spectrum(x: Array, num: int, window: Any) -> Array:
    """Resample the last axis of a real signal."""
    n, m = x.shape[-1], min(num, x.shape[-1])
    spectrum = np.fft.rfft(x)
    if window is not None:
        spectrum = spectrum * spectral_window(window, n, x.dtype)[: spectrum.shape[-1]]
    spectrum = spectrum[..., : m // 2 + 1] * (num / n)
    if m % 2 == 0 and num != n:  # the last frequency is a pair on one side, and single on the other
        weights = np.ones(m // 2 + 1, x.dtype)
        weights[-1] = 2.0 if num < n else 0.5
        spectrum = spectrum * weights
    return np.fft.irfft(spectrum, num)


def by_whole_spectrum(x: Array, num: int, window: Any, domain: str) -> Array:
    """Resample the last axis of a complex signal, or make the signal of a spectrum."""
    n, m = x.shape[-1], min(num, x.shape[-1])
    if domain == "freq" and x.dtype.kind != "c":
        if scipy.signal.resample(np.ones(2), 2, domain="freq").dtype.kind != "c":
            raise DtypeError(
                "resample: older releases of SciPy than 1.17 take a real x with domain='freq' for "
                "half of a spectrum; pass a complex one"
            )
        x = x.astype(np.result_type(x, np.complex64))
    spectrum = np.fft.fft(x) if domain == "time" else x
    if window is not None:
        spectrum = spectrum * spectral_window(window, n, x.dtype)
    spectrum = spectrum * (num / n)
    half = m // 2 + 1
    first, last = spectrum[..., :half], spectrum[..., n + half - m :]
    if num == n or m % 2:
        pass
    elif num < n:  # a pair becomes one frequency
        first = np.concatenate(
            (first[..., :-1], first[..., -1:] + spectrum[..., -(m // 2), None]), -1
        )
    else:  # one frequency becomes a pair
        middle = first[..., -1:] / 2
        first, last = (
            np.concatenate((first[..., :-1], middle), -1),
            np.concatenate((middle, last), -1),
        )
    zeros = np.zeros((*x.shape[:-1], num - first.shape[-1] - last.shape[-1]), spectrum.dtype)
    return np.fft.ifft(np.concatenate((first, zeros, last), -1))


def spectral_window(window: Any, n: int, dtype: Any) -> Array:
    """Make the window of a spectrum of `n` frequencies, folded for a real signal."""
    window = as_array(joined(window)) if type(window) is list else window
    if type(window) is tuple and holds(window):
        raise UnsupportedArgumentError(
            "resample: the shape parameter of a named window= cannot be a handle; pass the window "
            "as an array, made of it"
        )
    if not hasattr(window, "shape"):
        # What SciPy makes of it is what it makes of an impulse, whose spectrum is flat
        impulse = np.zeros(n, dtype)
        impulse[0] = 1
        answer = scipy.signal.resample(impulse, n, window=window)
        return np.fft.fft(answer).real.astype(answer.real.dtype)
    if window.shape != (n,):
        raise ShapeError(f"window has the shape {window.shape}, and not {(n,)}, that of a spectrum")
    if np.dtype(dtype).kind == "c":
        return window
    return np.concatenate((window[:1], (window[1:] + window[:0:-1]) / 2)).astype(dtype)
