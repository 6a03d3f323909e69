"""Short-time Fourier transforms of all of a signal's segments at once, which overlap.

SciPy's goes through them one by one, and so do all spectral densities that are made of it.
"""

import copy
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from tape_ad import differentiable
from tape_ad.extend.arrays import Array, as_array, joined
from tape_ad.extend.packages import copied, note_stand_in
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.stand_ins import stands_for

stands_for(scipy.signal.get_window)(copied(scipy.signal.get_window))  # itself, by plain parameters

PADDED: dict[str, dict[str, Any]] = {
    "zeros": {"mode": "constant"},
    "edge": {"mode": "edge"},
    "even": {"mode": "reflect"},
    "odd": {"mode": "reflect", "reflect_type": "odd"},
}
"""How `numpy.pad` continues a signal in each of SciPy's ways."""


@stands_for(scipy.signal.ShortTimeFFT.stft_detrend)
def transformed(
    self: Any,
    x: Array,
    detr: str | Callable[[Array], Array] | None,
    p0: int | None = None,
    p1: int | None = None,
    *,
    k_offset: int = 0,
    padding: str = "zeros",
    axis: int = -1,
) -> Array:
    """Transform a signal without its trends."""
    x = as_array(joined(x))
    if self.onesided_fft and x.dtype.kind == "c":
        raise ValueError(f"Complex-valued `x` not allowed for {self.fft_mode=}'!")
    x = np.moveaxis(x, axis, -1)
    n, hop, size = x.shape[-1], self.hop, self.m_num
    if n < size - self.m_num_mid:
        raise ValueError(f"{n} samples must be at least {size - self.m_num_mid}")
    first, last = self.p_range(n, p0, p1)
    start = first * hop - self.m_num_mid + k_offset
    stop = start + (last - first - 1) * hop + size
    margins = [(0, 0)] * (x.ndim - 1) + [(max(-start, 0), max(stop - n, 0))]
    kept = x[..., max(start, 0) : min(stop + hop, n)]
    segments = framed(np.pad(kept, margins, **PADDED[padding]), size, hop)[..., : last - first, :]
    if isinstance(detr, str):
        segments = differentiable(scipy.signal.detrend)(segments, type=detr)
    elif detr is not None:
        segments = detr(segments)
    spectra = self._fft_func(segments * np.conjugate(self.win)) + 0j
    found = np.moveaxis(spectra, -1, axis - 1 if axis < 0 else axis)
    return found if hasattr(found, "record") else np.copy(found, order="C")  # as SciPy's lies


transformed.always = True  # type: ignore[attr-defined]  # of constants too, which SciPy's has one by one


def by_support(original: Any) -> Any:
    """Let a method count where a window is not 0, which it asks of each of its elements."""

    def method(self: Any, *args: Any) -> Any:
        like = copy.copy(self)
        like._win = np.where(np.equal(self.win, 0), 0.0, 1.0)
        return inspect.unwrap(original)(like, *args)

    return method


for _name in ("_pre_padding", "_post_padding"):
    _method = getattr(scipy.signal.ShortTimeFFT, _name)
    _method = getattr(_method, "func", _method)  # of a property that is kept
    stands_for(_method)(by_support(_method))

MANY_PARTS = 32
"""From how many steps in a segment on they are cut out one by one."""


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
