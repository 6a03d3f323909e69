"""Discrete Fourier transforms, as the extension of the standard has them."""

from typing import TYPE_CHECKING, Any

import numpy as np

from tape_ad.interop.array_api.wrapping import check_device, of_standard
from tape_ad.record.constants import as_constants

if TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        """Tell a type checker that there are more names than it sees."""


def along_several(of: Any) -> Any:
    """Make a transform along several axes."""

    def function(x: Any, /, *, s: Any = None, axes: Any = None, norm: Any = "backward") -> Any:
        if s is not None and axes is None:
            axes = tuple(range(x.ndim))[-len(s) :]
        return of(x, s=s, axes=axes, norm=norm)

    return function


def fftfreq(n: int, /, *, d: float = 1.0, dtype: Any = None, device: Any = None) -> Any:
    """Give the frequencies of `fft`; see ``fftfreq`` in the standard."""
    check_device(device)
    return as_constants(np.fft.fftfreq(n, d).astype(dtype or np.float64))


def rfftfreq(n: int, /, *, d: float = 1.0, dtype: Any = None, device: Any = None) -> Any:
    """Give the frequencies of `rfft`; see ``rfftfreq`` in the standard."""
    check_device(device)
    return as_constants(np.fft.rfftfreq(n, d).astype(dtype or np.float64))


SAME = ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft", "fftshift", "ifftshift")
ALONG_SEVERAL = ("fftn", "ifftn", "rfftn", "irfftn")

FUNCTIONS = of_standard(
    {
        **{name: vars(np.fft)[name] for name in SAME},
        **{name: along_several(vars(np.fft)[name]) for name in ALONG_SEVERAL},
    },
    np.fft,
)
globals().update(FUNCTIONS)

__all__ = sorted([*FUNCTIONS, "fftfreq", "rfftfreq"])  # noqa: PLE0605 - a list
