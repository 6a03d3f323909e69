"""`scipy.integrate`, with `tape_ad.integrate` in front."""

import scipy.integrate

import tape_ad.integrate
from tape_ad.compat.autograd.fallback import falling_back

__all__ = list(scipy.integrate.__all__)

__getattr__ = falling_back(globals(), tape_ad.integrate, scipy.integrate)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
