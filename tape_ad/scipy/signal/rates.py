"""Rates of samples in whole proportions, by filters between an expansion and a reduction."""

import math
from typing import Any

import numpy as np
from attrs import define

from tape_ad.extend import facts
from tape_ad.extend.arrays import Array, as_array, axis_of, is_handle
from tape_ad.extend.maps import Chain, Index, LinearMap, Reshape
from tape_ad.extend.patterns import rows_of
from tape_ad.extend.rules import Entry, arguments_of, overridable, rule
from tape_ad.scipy.counterparts import counterpart
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.signal.convolution import Convolution, convolved
from tape_ad.scipy.signal.filters import coefficients, from_last, to_last

__all__ = ["RATES"]


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


@counterpart(RATES, scipy.signal.upfirdn, "h x cval")
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
