"""Transforms on a spiral of points: the chirp z-transform, and a part of the spectrum."""

from typing import Any

import numpy as np

from tape_ad.base.errors import ShapeError
from tape_ad.extend.arrays import Array, as_array
from tape_ad.extend.rules import Entry
from tape_ad.scipy.counterparts import is_handle, joined, scipy_composition
from tape_ad.scipy.installed import scipy

__all__ = ["CZT", "SPIRALS", "ZoomFFT", "czt", "czt_points", "zoom_fft"]

SPIRALS: dict[Any, Entry] = {}


@scipy_composition(SPIRALS, scipy.signal.czt_points, "w a")
def czt_points(m: int, w: Any = None, a: Any = 1 + 0j) -> Array:
    """List the points of a chirp z-transform, as `scipy.signal.czt_points` does.

    Parameters
    ----------
    m : int
    w, a : complex number or Tensor
        The ratio from one point to the next, and the first point.

    Returns
    -------
    array or Tensor, shape (m,)
    """
    k = np.arange(sizes(1, m))
    return a * (np.exp(2j * np.pi * k / m) if w is None else w**-k)


def sizes(n: int, m: int | None) -> int:
    """Check the numbers of samples and of points.

    Raises
    ------
    ValueError
        When one is not a positive number.
    """
    m = n if m is None else m
    if n < 1 or n != int(n):
        raise ValueError(f"Invalid number of CZT data points ({n}) specified. n must be positive.")
    if m < 1 or m != int(m):
        raise ValueError(f"Invalid number of CZT output points ({m}) specified.")
    return int(m)


@scipy_composition(SPIRALS, scipy.signal.czt, "x w a")
def czt(x: Array, m: int | None = None, w: Any = None, a: Any = 1 + 0j, *, axis: int = -1) -> Array:
    """Compute the chirp z-transform, as `scipy.signal.czt` does.

    Parameters
    ----------
    x : array or Tensor
    m : int, optional
        The number of points.
    w, a : complex number or Tensor
        The ratio from one point to the next, and the first point.
    axis : int

    Returns
    -------
    array or Tensor, complex

    Notes
    -----
    It is a convolution with a chirp (Bluestein 1970).
    """
    x = as_array(x)
    if not -x.ndim <= axis < x.ndim:
        raise ShapeError(f"czt: there is no axis {axis} in the shape {x.shape}")
    n = x.shape[axis]
    m = sizes(n, m)
    k = np.arange(max(m, n))
    if w is None:
        chirp = np.exp(-1j * np.pi * (k**2 % (2 * m)) / m)
    else:
        chirp = (w + 0j) ** (k**2 / 2.0)
    size = scipy.fft.next_fast_len(n + m - 1)
    back = np.fft.fft(1 / np.concatenate((chirp[n - 1 : 0 : -1], chirp[:m])), size)
    weighted = np.moveaxis(x, axis, -1) * ((a + 0j) ** -k[:n] * chirp[:n])
    out = np.fft.ifft(back * np.fft.fft(weighted, size))[..., n - 1 : n + m - 1] * chirp[:m]
    return np.moveaxis(out, -1, axis)


@scipy_composition(SPIRALS, scipy.signal.zoom_fft, "x fn fs")
def zoom_fft(
    x: Array, fn: Any, m: int | None = None, *, fs: Any = 2, endpoint: bool = False, axis: int = -1
) -> Array:
    """Compute a part of the discrete Fourier transform, as `scipy.signal.zoom_fft` does.

    Parameters
    ----------
    x : array or Tensor
    fn : number or pair of numbers, or Tensor
        The last frequency, or the first and the last one.
    m : int, optional
        The number of frequencies.
    fs : number or Tensor
        The sampling frequency.
    endpoint : bool
        Whether the last frequency is one of them.
    axis : int

    Returns
    -------
    array or Tensor, complex
    """
    x = as_array(x)
    n = x.shape[axis]
    m = sizes(n, m)
    fn = as_array(fn)
    w, a = around_circle(fn, m, fs, endpoint)
    out = czt(x, m, w, a, axis=axis)
    # In single precision as long as the squares of the numbers of samples are small
    band = np.arange(fn.size, dtype=fn.dtype).reshape(fn.shape)
    rate = np.ones((), fs.dtype)[()] if is_handle(fs) else 1
    like = scipy.signal.zoom_fft(np.ones(n, x.dtype), band, m, fs=rate, endpoint=endpoint)
    return out.astype(like.dtype)


def around_circle(fn: Any, m: int, fs: Any, endpoint: bool) -> tuple[Any, Any]:
    """Make the ratio of points on the unit circle, and the first one."""
    fn = as_array(fn)
    if fn.ndim > 1 or fn.size not in (1, 2):
        raise ValueError("fn must be a scalar or 2-length sequence")
    fn = fn.reshape((-1,))
    first, last = (0.0, fn[0]) if fn.shape[0] == 1 else (fn[0], fn[1])
    scale = (last - first) * m / (fs * (m - 1)) if endpoint else (last - first) / fs
    return np.exp(-2j * np.pi / m * scale), np.exp(2j * np.pi * first / fs)


class CZT:
    """A chirp z-transform that is done again and again, as `scipy.signal.CZT`.

    Parameters
    ----------
    n : int
        The number of samples.
    m, w, a
        As for `czt`.
    """

    __slots__ = ("a", "m", "n", "w")

    def __init__(self, n: int, m: int | None = None, w: Any = None, a: Any = 1 + 0j) -> None:
        self.n, self.m, self.w, self.a = n, sizes(n, m), w, a

    def __call__(self, x: Array, *, axis: int = -1) -> Array:
        """Transform a signal along an axis."""
        x = as_array(joined(x))
        if x.shape[axis] != self.n:
            raise ValueError(f"CZT defined for length {self.n}, not {x.shape[axis]}")
        return self.transformed(x, axis)

    def transformed(self, x: Array, axis: int) -> Array:
        """Transform a signal of the right length."""
        return czt(x, self.m, self.w, self.a, axis=axis)

    def points(self) -> Array:
        """List the points at which it is computed."""
        return czt_points(self.m, self.w, self.a)


class ZoomFFT(CZT):
    """A part of the discrete Fourier transform, as `scipy.signal.ZoomFFT`.

    Parameters
    ----------
    n : int
        The number of samples.
    fn, m, fs, endpoint
        As for `zoom_fft`.
    """

    __slots__ = ("endpoint", "f1", "f2", "fn", "fs")

    def __init__(
        self, n: int, fn: Any, m: int | None = None, *, fs: Any = 2, endpoint: bool = False
    ) -> None:
        m = sizes(n, m)
        fn = as_array(joined(fn))
        super().__init__(n, m, *around_circle(fn, m, fs, endpoint))
        self.f1: Any = 0.0 if fn.ndim == 0 else fn[0]
        self.f2: Any = fn if fn.ndim == 0 else fn[-1]
        self.fn, self.fs, self.endpoint = fn, fs, endpoint

    def transformed(self, x: Array, axis: int) -> Array:
        """Transform a signal of the right length."""
        return zoom_fft(x, self.fn, self.m, fs=self.fs, endpoint=self.endpoint, axis=axis)
