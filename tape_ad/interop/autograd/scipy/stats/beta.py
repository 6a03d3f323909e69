"""The methods of `scipy.stats.beta`."""

import scipy.stats

import tape_ad.scipy.stats
from tape_ad.interop.autograd.fallback import falling_back

__all__: list[str] = []

__getattr__ = falling_back(globals(), tape_ad.scipy.stats.beta, scipy.stats.beta)
