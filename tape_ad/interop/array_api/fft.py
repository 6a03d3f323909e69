"""Discrete Fourier transforms, as the extension of the standard has them."""

from typing import Any

import numpy as np

from tape_ad.interop.array_api.wrapping import check_device, gives_handles
from tape_ad.record.constants import as_constants

__all__ = [
    "fft",
    "fftfreq",
    "fftn",
    "fftshift",
    "hfft",
    "ifft",
    "ifftn",
    "ifftshift",
    "ihfft",
    "irfft",
    "irfftn",
    "rfft",
    "rfftfreq",
    "rfftn",
]


def along_one(of: Any) -> Any:
    """Make a transform along one axis."""

    def function(x: Any, /, *, n: int | None = None, axis: int = -1, norm: Any = "backward") -> Any:
        return of(x, n=n, axis=axis, norm=norm)

    return described(function, of)


def along_several(of: Any) -> Any:
    """Make a transform along several axes."""

    def function(x: Any, /, *, s: Any = None, axes: Any = None, norm: Any = "backward") -> Any:
        if s is not None and axes is None:
            axes = tuple(range(x.ndim))[-len(s) :]
        return of(x, s=s, axes=axes, norm=norm)

    return described(function, of)


def shifting(of: Any) -> Any:
    """Make what moves the frequency zero."""

    def function(x: Any, /, *, axes: Any = None) -> Any:
        return of(x, axes=axes)

    return described(function, of)


def described(function: Any, of: Any) -> Any:
    """Give a function the name and the document of NumPy's."""
    function.__name__ = function.__qualname__ = of.__name__
    function.__doc__ = f"Compute `numpy.fft.{of.__name__}` of handles and constants."
    return gives_handles(function)


fft, ifft, rfft, irfft, hfft, ihfft = map(
    along_one,
    (np.fft.fft, np.fft.ifft, np.fft.rfft, np.fft.irfft, np.fft.hfft, np.fft.ihfft),
)
fftn, ifftn, rfftn, irfftn = map(
    along_several, (np.fft.fftn, np.fft.ifftn, np.fft.rfftn, np.fft.irfftn)
)
fftshift, ifftshift = map(shifting, (np.fft.fftshift, np.fft.ifftshift))


def fftfreq(n: int, /, *, d: float = 1.0, dtype: Any = None, device: Any = None) -> Any:
    """Give the frequencies of `fft`; see ``fftfreq`` in the standard."""
    check_device(device)
    return as_constants(np.fft.fftfreq(n, d).astype(dtype or np.float64))


def rfftfreq(n: int, /, *, d: float = 1.0, dtype: Any = None, device: Any = None) -> Any:
    """Give the frequencies of `rfft`; see ``rfftfreq`` in the standard."""
    check_device(device)
    return as_constants(np.fft.rfftfreq(n, d).astype(dtype or np.float64))
