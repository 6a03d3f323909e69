"""`numpy.random` for programs that write ``import autograd.numpy.random``."""

import numpy.random

from tape_ad.interop.autograd.fallback import falling_back

__all__ = list(numpy.random.__all__)

__getattr__ = falling_back(globals(), numpy.random)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
