"""Rates of samples in whole proportions, by filters between an expansion and a reduction."""

import math
from typing import Any, ClassVar

import numpy as np
from attrs import define

from tape_ad.base.errors import UnsupportedArgumentError
from tape_ad.extend import facts
from tape_ad.extend.arrays import Array, as_array, axis_of
from tape_ad.extend.maps import Chain, Index, LinearMap, Reshape
from tape_ad.extend.patterns import rows_of
from tape_ad.extend.rules import Entry, arguments_of, overridable, rule
from tape_ad.scipy.counterparts import holds, is_handle, joined, scipy_composition
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.signal.cascades import sosfilt, sosfiltfilt
from tape_ad.scipy.signal.filters import coefficients, filtfilt, from_last, lfilter, to_last
from tape_ad.scipy.signal.sections import Convolution, convolved

__all__ = ["RATES", "decimate", "polyphase", "resample_poly", "upfirdn"]

RATES: dict[Any, Entry] = {}


@overridable
def polyphase(h: Array, x: Array, up: int, down: int) -> Array:
    """Put zeros between samples along the last axis, filter, and leave samples out.

    Parameters
    ----------
    h : array or Tensor, shape (k,)
    x : array or Tensor, shape (..., n)
    up, down : int

    Returns
    -------
    array or Tensor, shape (..., ceil(((n - 1) up + k) / down))
    """
    return scipy.signal.upfirdn(h, x, up, down)


def spread_and_convolved(h: Array, x: Array, up: int, down: int) -> Array:
    """Compute `polyphase` with its zeros, for as many filters as signals."""
    n, k = x.shape[-1], h.shape[-1]
    zeros = np.zeros_like(x)
    spread = np.reshape(np.stack([x, *[zeros] * (up - 1)], axis=-1), (*x.shape[:-1], n * up))
    length = (n - 1) * up + k
    return convolved(spread[..., : (n - 1) * up + 1], h, (0,), (length,))[..., ::down]


@define(eq=False, repr=False)
class Polyphase:
    """`polyphase` as a map of the signal; its adjoint has the rates exchanged."""

    broadcasts: ClassVar[bool] = False
    pattern = rows_of
    h: Array
    up: int
    down: int
    length: int

    def push(self, t: Array) -> Array:
        return polyphase(self.h, t, self.up, self.down)

    def pull(self, ct: Array) -> Array:
        # Taps are added until their number is right for turning them round
        rest = -(self.h.shape[0] - 1) % self.up
        h = np.concatenate((self.h, np.zeros(rest, self.h.dtype))) if rest else self.h
        skipped = (h.shape[0] - 1) // self.up
        back = polyphase(h[::-1].conjugate(), ct, self.down, self.up)[..., skipped:]
        back = back[..., : self.length]
        short = self.length - back.shape[-1]
        if not short:
            return back
        return np.concatenate((back, np.zeros((*back.shape[:-1], short), back.dtype)), -1)


def by_taps(out: Array, h: Array, x: Array, up: int, down: int) -> LinearMap | None:
    """Make the partial of `polyphase` in the taps."""
    if out.size == 0:
        return None
    lead, n, k = x.shape[:-1], x.shape[-1], h.shape[0]
    stuffed = x
    if up > 1:
        between = np.zeros((*x.shape, up - 1), x.dtype)
        stuffed = np.concatenate((x[..., None], between), -1).reshape((*lead, n * up))
    size = (n - 1) * up + k
    whole, row = (*lead, size), (1,) * len(lead) + (k,)
    taken = (*(slice(None),) * len(lead), slice(None, None, down))
    return Chain(
        (
            Reshape((k,), row),
            Convolution(stuffed, row, whole, (0,), "auto"),
            Index(taken, whole, out.shape),
        )
    )


def by_signal(out: Array, h: Array, x: Array, up: int, down: int) -> LinearMap | None:
    """Make the partial of `polyphase` in the signal."""
    return Polyphase(h, up, down, x.shape[-1]) if out.size else None


RATES[polyphase] = rule(
    by_taps,
    by_signal,
    signature=arguments_of(polyphase, "h x"),
    facts=facts.cores("(k)!,(n)->(m)").also(body=spread_and_convolved),
)

CONTINUED: dict[str, dict[str, str]] = {
    "symmetric": {"mode": "symmetric"},
    "reflect": {"mode": "reflect"},
    "edge": {"mode": "edge"},
    "wrap": {"mode": "wrap"},
    "antisymmetric": {"mode": "symmetric"},
    "antireflect": {"mode": "reflect", "reflect_type": "odd"},
}
"""How `numpy.pad` continues a signal in the modes of `upfirdn`."""


@scipy_composition(RATES, scipy.signal.upfirdn, "h x cval")
def upfirdn(
    h: Array,
    x: Array,
    up: int = 1,
    down: int = 1,
    axis: int = -1,
    mode: str = "constant",
    cval: Any = 0,
) -> Array:
    """Put zeros between samples, filter, and leave samples out, as `scipy.signal.upfirdn` does.

    Parameters
    ----------
    h : array or Tensor, shape (k,)
        The impulse response.
    x : array or Tensor
    up, down : int
    axis : int
    mode : str
        What is beyond the ends.
    cval : number or Tensor
        That, for the mode "constant".

    Returns
    -------
    array or Tensor
    """
    h, x = coefficients("upfirdn", h), as_array(x)
    axis = axis_of(x.ndim, axis)
    x = to_last(x, axis)
    if mode == "constant" and not is_handle(cval) and cval == 0:
        return from_last(polyphase(h, x, up, down), axis)
    n, k = x.shape[-1], h.shape[0]
    size = -(-((n - 1) * up + k) // down)
    # As far beyond the ends as the taps reach, and a whole number of samples taken
    step = down // math.gcd(up, down)
    margin = -(-((k - 1) // up + 1) // step) * step
    y = polyphase(h, beyond_ends(x, margin, mode, cval), up, down)
    first = margin * up // down
    return from_last(y[..., first : first + size], axis)


def beyond_ends(x: Array, margin: int, mode: str, cval: Any) -> Array:
    """Continue the last axis at both ends in one of the modes of `upfirdn`."""
    n = x.shape[-1]
    widths = [(0, 0)] * (x.ndim - 1) + [(margin, margin)]
    steps = np.arange(1, margin + 1, dtype=x.real.dtype)
    if mode in CONTINUED:
        options: Any = CONTINUED[mode]
        padded = np.pad(x, widths, **options)
        if mode == "antisymmetric":  # each mirror image has the other sign
            images = np.arange(-margin, n + margin) // n
            padded = padded * (1 - 2 * (images % 2)).astype(steps.dtype)
        return padded
    if mode == "constant":
        ends = as_array(cval).astype(x.dtype) * np.ones((*x.shape[:-1], margin), x.dtype)
        return np.concatenate((ends, x, ends), -1)
    if mode == "smooth":
        first, last = x[..., 1:2] - x[..., :1], x[..., -1:] - x[..., -2:-1]
    elif mode == "line":
        first = last = (x[..., -1:] - x[..., :1]) / (n - 1)
    else:
        raise ValueError(f"upfirdn: there is no mode {mode!r}")
    before = x[..., :1] - first * steps[::-1]
    return np.concatenate((before, x, x[..., -1:] + last * steps), -1)


BACKGROUNDS: dict[str, Any] = {
    "mean": np.mean,
    "median": np.median,
    "minimum": np.min,
    "maximum": np.max,
}
"""What `resample_poly` may subtract first, and add again."""


@scipy_composition(RATES, scipy.signal.resample_poly, "x window cval", trees="window")
def resample_poly(
    x: Array,
    up: int,
    down: int,
    axis: int = 0,
    window: Any = ("kaiser", 5.0),
    padtype: str = "constant",
    cval: Any = None,
) -> Array:
    """Resample by a filter between two rates, as `scipy.signal.resample_poly` does.

    Parameters
    ----------
    x : array or Tensor
    up, down : int
    axis : int
    window : array, Tensor, str or tuple
        The taps, or the window that they are designed with.
    padtype : str
        What is beyond the ends, as for `upfirdn`, or "mean", "median", "minimum" or "maximum".
    cval : number or Tensor, optional
        For the type "constant".

    Returns
    -------
    array or Tensor
    """
    x = as_array(x)
    if up != int(up) or down != int(down) or up < 1 or down < 1:
        raise ValueError("up and down must be integers and >= 1")
    if cval is not None and padtype != "constant":
        raise ValueError("cval has no effect when padtype is ", padtype)
    common = math.gcd(int(up), int(down))
    up, down = int(up) // common, int(down) // common
    if up == down == 1:
        return x.copy()
    axis = axis_of(x.ndim, axis)
    x = to_last(x, axis)
    h = interpolating_taps(window, up, down, x.dtype) * up
    half, n = (h.shape[0] - 1) // 2, x.shape[-1]
    before = down - half % down  # so that the middle of the taps meets the samples taken
    first, size = (half + before) // down, -(-n * up // down)
    # As many taps as it takes for the samples that are wanted
    after = max(0, (first + size - 1) * down + 1 - (n - 1) * up - h.shape[0] - before)
    zeros = (np.zeros(before, h.dtype), np.zeros(after, h.dtype))
    h = np.concatenate((zeros[0], h, zeros[1]))
    if padtype in BACKGROUNDS:
        level = BACKGROUNDS[padtype](x, axis=-1, keepdims=True)
        y = polyphase(h, x - level, up, down)[..., first : first + size] + level
    else:
        value = 0 if cval is None else cval
        y = upfirdn(h, x, up, down, mode=padtype, cval=value)[..., first : first + size]
    return from_last(y, axis)


def interpolating_taps(window: Any, up: int, down: int, dtype: Any) -> Array:
    """Take the taps that are given, or design those of a window, as SciPy does."""
    if type(window) is tuple and holds(window):
        raise UnsupportedArgumentError(
            "resample_poly: the shape parameter of a named window= cannot be a handle; pass the "
            "taps as an array, made of it"
        )
    if type(window) is list or hasattr(window, "shape"):
        taps = as_array(joined(window))
        return coefficients("resample_poly", taps)
    rate = max(up, down)
    taps = scipy.signal.firwin(2 * 10 * rate + 1, 1.0 / rate, window=window)
    return taps.astype(dtype) if np.dtype(dtype).kind in "fc" else taps


@scipy_composition(RATES, scipy.signal.decimate, "x")
def decimate(
    x: Array,
    q: int,
    n: int | None = None,
    ftype: Any = "iir",
    axis: int = -1,
    zero_phase: bool = True,
) -> Array:
    """Filter, and take each q-th sample, as `scipy.signal.decimate` does.

    Parameters
    ----------
    x : array or Tensor
    q : int
    n : int, optional
        The order of the filter.
    ftype : str or scipy.signal.dlti
        "iir", "fir", or a filter.
    axis : int
    zero_phase : bool

    Returns
    -------
    array or Tensor
    """
    x = as_array(x)
    axis = axis_of(x.ndim, axis)
    x = to_last(x, axis)
    dtype = x.dtype if x.dtype.kind in "fc" and x.dtype != np.float16 else np.dtype(float)
    kind, first, second = decimating(q, n, ftype)
    if kind == "fir":
        b = (first / second).astype(dtype if isinstance(ftype, str) else None)
        if zero_phase:
            y = resample_poly(x, 1, q, axis=-1, window=b)
        else:
            y = polyphase(b, x, 1, q)[..., : -(-x.shape[-1] // q)]
        return from_last(y, axis)
    if kind == "sos":
        sos = first.astype(dtype)
        y = sosfiltfilt(sos, x) if zero_phase else sosfilt(sos, x)
    else:
        y = filtfilt(first, second, x) if zero_phase else lfilter(first, second, x)
    return from_last(y[..., ::q], axis)


def decimating(q: int, n: int | None, ftype: Any) -> tuple[str, Any, Any]:
    """Design the filter that keeps what is beyond the new rate out, as SciPy does."""
    if isinstance(ftype, scipy.signal.dlti):
        system = ftype.to_zpk()
        transfer = ftype.to_tf()
        if system.poles.shape[0] == 0:
            return "fir", transfer.num, transfer.den
        if np.iscomplex(system.poles).any() or np.iscomplex(system.gain):
            return "tf", transfer.num, transfer.den
        return "sos", scipy.signal.zpk2sos(system.zeros, system.poles, system.gain), None
    if ftype == "fir":
        length = (20 * q if n is None else n) + 1
        return "fir", scipy.signal.firwin(length, 1.0 / q, window="hamming"), 1.0
    if ftype == "iir":
        return "sos", scipy.signal.cheby1(8 if n is None else n, 0.05, 0.8 / q, output="sos"), None
    raise ValueError("invalid ftype")
