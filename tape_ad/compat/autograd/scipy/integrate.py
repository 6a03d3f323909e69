"""`scipy.integrate`, with `tape_ad.integrate` in front."""

import tape_ad.integrate
from tape_ad.compat.autograd.fallback import falling_back
from tape_ad.rules.scipy.installed import scipy

__all__ = list(scipy.integrate.__all__)

__getattr__ = falling_back(globals(), tape_ad.integrate, scipy.integrate)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
