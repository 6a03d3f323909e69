"""The methods of `scipy.stats.beta`."""

import scipy.stats

import tape_ad.stats
from tape_ad.compat.autograd.fallback import falling_back

__all__: list[str] = []

__getattr__ = falling_back(globals(), tape_ad.stats.beta, scipy.stats.beta)
