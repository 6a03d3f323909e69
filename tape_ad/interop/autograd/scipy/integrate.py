"""`scipy.integrate`, with `tape_ad.scipy.integrate` in front."""

import scipy.integrate

import tape_ad.scipy.integrate
from tape_ad.interop.autograd.fallback import falling_back

__all__ = list(scipy.integrate.__all__)

__getattr__ = falling_back(globals(), tape_ad.scipy.integrate, scipy.integrate)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
