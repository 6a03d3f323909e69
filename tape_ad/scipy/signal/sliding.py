"""Short-time Fourier transforms by an object that knows its window, its hop and its scaling."""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.signal

from tape_ad.errors import UnsupportedArgumentError
from tape_ad.extend.arrays import Array, as_array, axis_of, is_handle, joined
from tape_ad.extend.rules import Constant, Entry, overridable
from tape_ad.scipy.signal.spectra import framed
from tape_ad.scipy.signal.trends import detrend

__all__ = ["SLIDING", "ShortTimeFFT", "values_of"]


@overridable
def values_of(x: Array) -> Array:
    """Give an array of plain values."""
    return np.array(x)


SLIDING: dict[Any, Entry] = {values_of: Constant()}

PADDED: dict[str, dict[str, Any]] = {
    "zeros": {"mode": "constant"},
    "edge": {"mode": "edge"},
    "even": {"mode": "reflect"},
    "odd": {"mode": "reflect", "reflect_type": "odd"},
}
"""How `numpy.pad` continues a signal in each of SciPy's ways."""


class ShortTimeFFT:
    """A sliding window with its transform, as `scipy.signal.ShortTimeFFT`.

    Whatever is asked of it that is no transform of a handle is SciPy's answer for the window's
    values.

    Parameters
    ----------
    win : array or Tensor, shape (m,)
    hop : int
    fs : float
    fft_mode, mfft, dual_win, scale_to, phase_shift
        As in SciPy.
    """

    __slots__ = ("plain", "win")

    def __init__(
        self,
        win: Array,
        hop: int,
        fs: float,
        *,
        fft_mode: str = "onesided",
        mfft: int | None = None,
        dual_win: Any = None,
        scale_to: Any = None,
        phase_shift: int | None = 0,
    ) -> None:
        win = as_array(joined(win))
        if is_handle(dual_win) or (is_handle(fs) and scale_to == "psd"):
            raise UnsupportedArgumentError(
                "tape_ad.scipy.signal.ShortTimeFFT: dual_win=, and fs= with scale_to='psd', are "
                "not taken as handles; pass their values, .data"
            )
        self.plain = scipy.signal.ShortTimeFFT(
            values_of(win),
            hop,
            fs,
            fft_mode=fft_mode,
            mfft=mfft,
            dual_win=dual_win,
            scale_to=scale_to,
            phase_shift=phase_shift,
        )
        self.win = self.plain.win
        if is_handle(win):
            square = np.sum(np.real(win) ** 2 + np.imag(win) ** 2)
            scales = {"magnitude": np.abs(np.sum(win)), "psd": np.sqrt(square * fs)}
            self.win = win if scale_to is None else win / scales[scale_to]

    @classmethod
    def of(cls, plain: Any) -> Any:
        """Make one of SciPy's own."""
        made = object.__new__(cls)
        made.plain, made.win = plain, plain.win
        return made

    @classmethod
    def from_window(cls, *args: Any, **kwargs: Any) -> Any:
        """Make one by the name of its window, as SciPy's method does."""
        return cls.of(scipy.signal.ShortTimeFFT.from_window(*args, **kwargs))

    @classmethod
    def from_dual(cls, *args: Any, **kwargs: Any) -> Any:
        """Make one of the dual window, as SciPy's method does."""
        return cls.of(scipy.signal.ShortTimeFFT.from_dual(*args, **kwargs))

    def __getattr__(self, name: str) -> Any:
        if is_handle(self.win) and (name in UNKNOWN or name.startswith("_")):
            raise UnsupportedArgumentError(
                f"tape_ad.scipy.signal.ShortTimeFFT: .{name} of a window that is a handle is not "
                "given; make it of win.data"
            )
        return getattr(self.plain, name)

    def stft(self, x: Array, p0: int | None = None, p1: int | None = None, **options: Any) -> Array:
        """Transform a signal; see `scipy.signal.ShortTimeFFT.stft`."""
        return self.stft_detrend(x, None, p0, p1, **options)

    def stft_detrend(
        self,
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
        options: dict[str, Any] = {"k_offset": k_offset, "padding": padding, "axis": axis}
        if not (is_handle(x) or is_handle(self.win)):
            return self.plain.stft_detrend(x, detr, p0, p1, **options)
        # SciPy checks the arguments, and takes no complex signal for one side of a spectrum
        self.plain.stft_detrend(np.zeros(x.shape, x.dtype), None, p0, p1, **options)
        axis = axis_of(x.ndim, axis)
        x = np.moveaxis(x, axis, -1)
        n, hop, size = x.shape[-1], self.plain.hop, self.plain.m_num
        first, last = self.plain.p_range(n, p0, p1)
        start = first * hop - self.plain.m_num_mid + k_offset
        stop = start + (last - first - 1) * hop + size
        margins = [(0, 0)] * (x.ndim - 1) + [(max(-start, 0), max(stop - n, 0))]
        kept = x[..., max(start, 0) : min(stop + hop, n)]
        segments = framed(np.pad(kept, margins, **PADDED[padding]), size, hop)
        segments = segments[..., : last - first, :]
        if isinstance(detr, str):
            segments = detrend(segments, type=detr)
        elif detr is not None:
            segments = detr(segments)
        spectra = self.transformed(segments * np.conjugate(self.win)) + 0j
        return np.moveaxis(spectra, -1, axis - 1)

    def transformed(self, x: Array) -> Array:
        """Transform segments along the last axis."""
        own = self.plain
        count = own.mfft
        if own.phase_shift is not None:
            x = np.pad(x, [(0, 0)] * (x.ndim - 1) + [(0, count - x.shape[-1])])
            x = np.roll(x, -((own.phase_shift + own.m_num_mid) % own.m_num), axis=-1)
        if own.fft_mode == "twosided":
            return np.fft.fft(x, count)
        if own.fft_mode == "centered":
            return np.fft.fftshift(np.fft.fft(x, count), axes=-1)
        out = np.fft.rfft(x, count)
        return out if own.fft_mode == "onesided" else out * self.doubled()

    def doubled(self) -> Array:
        """Give the weights of frequencies that stand for two."""
        weights = np.ones(self.plain.f_pts)
        last = -1 if self.plain.mfft % 2 == 0 else None
        weights[1:last] = np.sqrt(2) if self.plain.scaling == "psd" else 2
        return weights

    def spectrogram(
        self, x: Array, y: Any = None, detr: str | Callable[[Array], Array] | None = None,
        **options: Any,
    ) -> Array:  # fmt: skip
        """Compute squares of a transform, or its products with another one."""
        one = self.stft_detrend(x, detr, **options)
        if y is None or y is x:
            return np.real(one) ** 2 + np.imag(one) ** 2
        return one * np.conjugate(self.stft_detrend(y, detr, **options))

    def istft(self, S: Array, *args: Any, **kwargs: Any) -> Array:  # noqa: N803 - SciPy's name
        """Make the signal of a transform; see `scipy.signal.ShortTimeFFT.istft`.

        Raises
        ------
        UnsupportedArgumentError
            When the transform or the window is a handle.
        """
        if is_handle(S) or is_handle(self.win):
            raise UnsupportedArgumentError(
                "tape_ad.scipy.signal.ShortTimeFFT.istft: a transform that is a handle is not "
                "turned back; write tape_ad.scipy.signal.istft, which keeps the gradient"
            )
        return self.plain.istft(S, *args, **kwargs)


UNKNOWN = frozenset({"dual_win", "fac_magnitude", "fac_psd", "scale_to"})
"""What depends on the values of the window."""
