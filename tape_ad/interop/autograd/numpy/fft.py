"""`numpy.fft` for programs that write ``import autograd.numpy.fft``."""

import numpy.fft

from tape_ad.interop.autograd.fallback import falling_back

__all__ = list(numpy.fft.__all__)

__getattr__ = falling_back(globals(), numpy.fft)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
