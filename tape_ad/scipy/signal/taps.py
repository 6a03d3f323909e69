"""Taps of filters by least squares, by interpolation and by two windows; filters by their edges."""

import math
from typing import Any

import numpy as np

from tape_ad.base.errors import ShapeError, UnsupportedArgumentError
from tape_ad.extend.arrays import Array, as_array
from tape_ad.extend.rules import TYPED_BY_VALUES, Constant, Entry, Refused, overridable
from tape_ad.scipy.counterparts import joined, scipy_composition, scipy_function, with_value
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.signal.design import firwin, iirfilter
from tape_ad.scipy.signal.window_functions import window_taps

__all__ = [
    "TAPS",
    "buttord",
    "cheb1ord",
    "cheb2ord",
    "ellipord",
    "firls",
    "firwin2",
    "iirdesign",
    "minimum_phase",
    "remez",
]

TAPS: dict[Any, Entry] = {}

remez = scipy_function(scipy.signal.remez, "tape_ad.scipy.signal")
TAPS[remez] = Refused(
    "exchanges of extreme points are not given a derivative by bands=, "
    "desired= and weight=; pass their values, .data, or write firls(...), which has one"
)


@scipy_composition(TAPS, scipy.signal.firls, "bands desired weight")
def firls(
    numtaps: int, bands: Array, desired: Array, *, weight: Any = None, fs: Any = None
) -> Array:
    """Design the taps of a filter by least squares, as `scipy.signal.firls` does.

    Parameters
    ----------
    numtaps : int
        Odd.
    bands, desired : array or Tensor, of an even number of elements
        The edges of the bands, and the gains there.
    weight : array or Tensor, optional
        One for each band.
    fs : float, optional
        The sampling frequency.

    Returns
    -------
    array or Tensor, shape (numtaps,)
    """
    if numtaps % 2 == 0 or numtaps < 1:
        raise ValueError("numtaps must be odd and >= 1")
    bands, desired = (as_array(each).reshape((-1, 2)) for each in (bands, desired))
    if bands.shape != desired.shape:
        raise ShapeError(f"firls: {desired.size} gains for {bands.size} frequencies")
    edges = bands / (1.0 if fs is None else 0.5 * fs)
    check_bands(edges, desired)
    weights = np.ones(bands.shape[0]) if weight is None else as_array(weight).reshape((-1,))
    half = (numtaps - 1) // 2
    n = np.arange(numtaps)[:, None, None]
    cosines = np.diff(np.sinc(edges * n) * edges, axis=2)[:, :, 0] @ weights
    places = np.arange(half + 1)
    system = cosines[np.abs(places[:, None] - places)] + cosines[places[:, None] + places]
    slope = np.diff(desired, axis=1) / np.diff(edges, axis=1)
    start = desired[:, :1] - edges[:, :1] * slope
    first = edges * (slope * edges + start) - slope * edges * edges / 2.0
    n = n[1 : half + 1]
    later = edges * (slope * edges + start) * np.sinc(edges * n)
    later = later + slope * np.cos(n * np.pi * edges) / (np.pi * n) ** 2
    sides = np.diff(np.concatenate((first[None], later)), axis=2)[:, :, 0] @ weights
    a = np.linalg.solve(system, sides)
    taps = np.concatenate((a[:0:-1], 2 * a[:1], a[1:]))
    options = {"fs": fs} if weight is None else {"fs": fs, "weight": weight}
    # The system may be close to a singular one, so that the order of rounding is seen
    return with_value(taps, None, firls, (numtaps, bands, desired), options)


def check_bands(edges: Array, desired: Array) -> None:
    """Check the bands of a design, as fractions of half the sampling frequency.

    Raises
    ------
    ValueError
    """
    flat = edges.reshape((-1,))
    if bool((flat < 0).any() | (flat > 1).any()):
        raise ValueError("bands must be between 0 and 1 relative to Nyquist")
    if bool((edges[:, 1] <= edges[:, 0]).any() | (edges[1:, 0] < edges[:-1, 1]).any()):
        raise ValueError("bands must be in order, must not overlap, and must have a width > 0.")
    if bool((desired < 0).any()):
        raise ValueError("desired must be non-negative.")


@scipy_composition(TAPS, scipy.signal.firwin2, "freq gain window", trees="window")
def firwin2(
    numtaps: int,
    freq: Array,
    gain: Array,
    *,
    nfreqs: int | None = None,
    window: Any = "hamming",
    antisymmetric: bool = False,
    fs: Any = None,
) -> Array:
    """Design the taps of a filter by a window from its gains, as `scipy.signal.firwin2` does.

    Parameters
    ----------
    numtaps : int
    freq, gain : array or Tensor, shape (n,)
        The frequencies, and the gains there. The first and the last one are 0 and ``fs / 2``.
    nfreqs : int, optional
    window : str, tuple or None
        Its parameters may be handles.
    antisymmetric : bool
    fs : float, optional

    Returns
    -------
    array or Tensor, shape (numtaps,)
    """
    freq, gain = as_array(freq), as_array(gain)
    options = {"nfreqs": nfreqs, "antisymmetric": antisymmetric, "fs": fs}
    apart = separated(numtaps, freq, gain, **options)
    nyquist = 1.0 if fs is None else 0.5 * fs
    count = 1 + 2 ** math.ceil(math.log2(numtaps)) if nfreqs is None else nfreqs
    x = np.linspace(0.0, nyquist, count)
    wanted = np.interp(x, freq + apart, gain)
    shift = np.exp(-(numtaps - 1) / 2.0 * 1j * np.pi * x / nyquist) * (1j if antisymmetric else 1)
    taps = np.fft.irfft(wanted * shift)[:numtaps]
    if window is not None:
        taps = taps * window_taps("firwin2", window, numtaps, periodic=False)
    if antisymmetric and numtaps % 2:
        taps = taps * (np.arange(numtaps) != numtaps // 2)
    return taps


@overridable
def separated(numtaps: int, freq: Array, gain: Array, **options: Any) -> Array:
    """Tell how far frequencies that stand twice are put apart, once SciPy has checked them all."""
    scipy.signal.firwin2(numtaps, freq, gain, window=None, **options)
    nyquist = freq[-1]
    double = np.flatnonzero(np.diff(freq) == 0)
    apart = np.zeros(freq.shape)
    eps = np.finfo(float).eps * nyquist
    apart[double] -= eps
    apart[double + 1] += eps
    return apart


TAPS[separated] = Constant()

if scipy.signal.firwin_2d:  # since SciPy 1.17

    @scipy_composition(TAPS, scipy.signal.firwin_2d, "window fc fs", trees="window")
    def firwin_2d(
        hsize: tuple[int, int],
        window: Any,
        *,
        fc: Any = None,
        fs: Any = 2,
        circular: bool = False,
        pass_zero: Any = True,
        scale: bool = True,
    ) -> Array:
        """Design a filter for images by windows, as `scipy.signal.firwin_2d` does.

        Parameters
        ----------
        hsize : tuple of int
        window : str or tuple
            One, or that of the rows and that of the columns. Their parameters may be handles.
        fc, fs : number or Tensor
            The cutoff, and the sampling frequency.
        circular : bool
        pass_zero, scale
            Not looked at, as in SciPy.

        Returns
        -------
        array or Tensor, shape `hsize`
        """
        if len(hsize) != 2:
            raise ValueError("hsize must be a 2-element tuple or list")
        if circular:
            if fc is None:
                raise ValueError("Cutoff frequency `fc` must be provided when `circular` is True")
            count = max(hsize) * 8
            taps = firwin(count, fc, window=window, fs=fs)
            across, down = (np.linspace(-1, 1, size) for size in hsize)
            radius = np.sqrt(across**2 + down[:, None] ** 2)
            return np.interp(radius, np.linspace(0, 1, count), taps)
        if len(window) != 2:
            raise ValueError("window must be a 2-element tuple or list")
        rows, columns = (
            firwin(size, fc, window=each, fs=fs) for size, each in zip(hsize, window, strict=True)
        )
        return rows[:, None] * columns

    __all__ += ["firwin_2d"]


MIDDLE = int(np.lib.NumpyVersion(scipy.__version__) >= "1.18.0")
"""How often an even cepstrum's middle counts; older releases of SciPy forget it."""


@scipy_composition(TAPS, scipy.signal.minimum_phase, "h")
def minimum_phase(
    h: Array, method: str = "homomorphic", n_fft: int | None = None, *, half: bool = True
) -> Array:
    """Give a filter the least delay that its gains allow, as `scipy.signal.minimum_phase` does.

    Parameters
    ----------
    h : array or Tensor, shape (n,)
        Symmetric taps.
    method : str
        "homomorphic" or "hilbert".
    n_fft : int, optional
        The number of frequencies.
    half : bool
        Whether half of the taps are given, with the square root of the gains.

    Returns
    -------
    array or Tensor
    """
    h = as_array(h)
    if h.dtype.kind == "c":
        raise ValueError("Complex filters not supported")
    if h.ndim != 1 or h.size <= 2:
        raise ValueError("h must be 1-D and at least 2 samples long")
    # SciPy checks all the rest, and has one dtype or another
    like = scipy.signal.minimum_phase(np.ones(h.shape, h.dtype), method, n_fft, half=half)
    size = h.shape[0]
    middle = size // 2
    count = 2 ** math.ceil(math.log2(2 * (size - 1) / 0.01)) if n_fft is None else int(n_fft)
    spectrum = np.fft.fft(h, count)
    if method == "hilbert":
        turn = np.exp(1j * (np.arange(count) * (2 * np.pi / count * middle)))
        gains = np.real(spectrum * turn)
        above, below = np.max(gains) - 1, -np.min(gains)
        scale = 4.0 / (np.sqrt(1 + above + below) + np.sqrt(1 - above + below)) ** 2
        above_least = gains + below > 0  # elsewhere it is the least gain, which stays 0
        roots = np.sqrt(np.where(above_least, (gains + below) * scale, 1.0))
        gains = np.where(above_least, roots, 0.0) + 1e-10
        sign = np.zeros(count)
        sign[1 : count // 2], sign[count // 2 + 1 :] = 1, -1
        taps = np.real(np.fft.ifft(gains * np.exp(np.fft.fft(sign * np.fft.ifft(np.log(gains))))))
    else:
        gains = np.abs(spectrum)
        gains = np.log(gains + 1e-7 * np.min(gains[gains > 0])) * (0.5 if half else 1.0)
        fold = np.zeros(count)
        fold[0], fold[1 : count // 2] = 1, 2
        fold[count // 2] = MIDDLE + count % 2
        taps = np.real(np.fft.ifft(np.exp(np.fft.fft(np.real(np.fft.ifft(gains)) * fold))))
    taps = taps[: middle + size % 2 if half else size].astype(like.dtype)
    # Logarithms of gains close to 0 let the order of rounding be seen
    return with_value(taps, None, minimum_phase, (h, method, n_fft), {"half": half})


# Filters by the edges of their bands


@scipy_composition(TAPS, scipy.signal.iirdesign, "wp ws fs")
def iirdesign(
    wp: Any,
    ws: Any,
    gpass: float,
    gstop: float,
    analog: bool = False,
    ftype: str = "ellip",
    output: str = "ba",
    fs: Any = None,
) -> Any:
    """Design a filter by the edges of its bands, as `scipy.signal.iirdesign` does.

    Parameters
    ----------
    wp, ws : number, array or Tensor
        The edges of the passband and of the stopband.
    gpass, gstop : float
        The loss there at most, and at least, in decibels.
    analog : bool
    ftype, output : str
    fs : number or Tensor, optional
        The sampling frequency.

    Returns
    -------
    tuple of array or Tensor, or array or Tensor
    """
    if ftype not in ORDERS:
        raise ValueError(f"Invalid IIR filter type: {ftype}")
    edges = [x.reshape((1,)) if x.ndim == 0 else x for x in map(as_array, (wp, ws))]
    order, wn = ORDERS[ftype](wp, ws, gpass, gstop, analog, fs)
    passes, stops = edges
    kind = ("lowpass", "highpass", "bandstop", "bandpass")
    which = kind[2 * (passes.shape[0] - 1) + bool(passes[0] >= stops[0])]
    return iirfilter(order, wn, gpass, gstop, which, analog, ftype, output, fs)


@overridable
def order_of(name: str, wp: Any, ws: Any, gpass: Any, gstop: Any, analog: bool, fs: Any) -> Any:
    """Give the order of a filter, and the dtype of its frequencies."""
    function = getattr(scipy.signal, name)
    order, wn = function(wp, ws, gpass, gstop, analog, alpha_of(fs))
    return np.array([order, *np.shape(wn)]), np.zeros(0, np.asarray(wn).dtype)


def alpha_of(number: Any) -> Any:
    """Give a number of Python's for an array without axes."""
    return number.item() if hasattr(number, "item") else number


TAPS[order_of] = Constant()


def natural(name: str, wp: Any, ws: Any, gpass: Any, gstop: Any, analog: bool, fs: Any) -> Any:
    """Compute order and natural frequencies of a filter.

    Raises
    ------
    UnsupportedArgumentError
        For a stopband between two passbands, whose edges SciPy finds by a search.
    """
    wp, ws = (as_array(joined(each)) for each in (wp, ws))
    wp, ws = (each.reshape((1,)) if each.ndim == 0 else each for each in (wp, ws))
    chosen, like = order_of(name, wp, ws, gpass, gstop, analog, fs)
    order = int(chosen[0])
    high, band = bool(wp[0] >= ws[0]), wp.shape[0] == 2
    if fs is not None:
        wp = 2 * wp / fs
    edge = wp if analog else np.tan(np.pi * wp / 2)
    if band and not high:
        raise UnsupportedArgumentError(
            f"tape_ad.scipy.signal.{name}: the edges of a bandstop filter, wp= and ws=, are "
            "searched for "
            "and not given a derivative; pass their values, .data, and design it by iirfilter"
        )
    factor = shift_of(name, order, gpass, gstop)
    if not band:
        wn = edge / factor if high else edge * factor
    elif name in ("cheb1ord", "ellipord"):
        wn = edge
    else:
        width, middle = edge[1] - edge[0], edge[0] * edge[1]
        half = width * factor / 2.0
        root = np.sqrt(half**2 + middle)
        wn = np.stack((root - half, root + half))
    wn = wn if analog else np.arctan(wn) * 2.0 / np.pi
    wn = wn[0] if wn.shape[0] == 1 else wn
    return order, (wn if fs is None else wn * fs / 2).astype(like.dtype)


def shift_of(name: str, order: int, gpass: Any, gstop: Any) -> Any:
    """Tell how far beyond the edge of the passband the natural frequency of a lowpass is."""
    if name in ("cheb1ord", "ellipord"):
        return 1.0
    loss, least = (10 ** (0.1 * abs(each)) - 1.0 for each in (gpass, gstop))
    if name == "buttord":
        return loss ** (-1.0 / (2.0 * order)) if order else 1.0
    return math.cosh(math.acosh(math.sqrt(least / loss)) / order)


def order_function(name: str) -> Any:
    """Publish the function that chooses the order of one kind of filters."""

    def lines(
        wp: Any, ws: Any, gpass: float, gstop: float, analog: bool = False, fs: Any = None
    ) -> Any:
        return natural(name, wp, ws, gpass, gstop, analog, fs)

    lines.__name__ = lines.__qualname__ = name
    lines.__doc__ = (
        f"Choose order and natural frequency of a filter, as `scipy.signal.{name}` does.\n\n"
        "    The order is a whole number; the edges wp and ws and fs may be handles."
    )
    return scipy_composition(TAPS, getattr(scipy.signal, name), "wp ws fs")(lines)


buttord, cheb1ord, cheb2ord, ellipord = map(
    order_function, ("buttord", "cheb1ord", "cheb2ord", "ellipord")
)

ORDERS: dict[str, Any] = {
    **dict.fromkeys(("butter", "butterworth"), buttord),
    **dict.fromkeys(("cheby1", "chebyshev1", "chebyshevi"), cheb1ord),
    **dict.fromkeys(("cheby2", "chebyshev2", "chebyshevii"), cheb2ord),
    **dict.fromkeys(("ellip", "elliptic", "cauer"), ellipord),
}

TYPED_BY_VALUES.add(iirdesign)
