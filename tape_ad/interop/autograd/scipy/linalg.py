"""`scipy.linalg`, with `tape_ad.scipy.linalg` in front."""

import scipy.linalg

import tape_ad.scipy.linalg
from tape_ad.interop.autograd.fallback import falling_back

__all__ = list(scipy.linalg.__all__)

__getattr__ = falling_back(globals(), tape_ad.scipy.linalg, scipy.linalg)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
