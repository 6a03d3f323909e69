"""`numpy.linalg` for programs that write ``import autograd.numpy.linalg``."""

import numpy.linalg

from tape_ad.interop.autograd.fallback import falling_back
from tape_ad.interop.autograd.numpy.lists import taking_lists

__all__ = list(numpy.linalg.__all__)

norm = taking_lists(numpy.linalg.norm)

__getattr__ = falling_back(globals(), numpy.linalg)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
