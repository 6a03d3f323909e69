"""The methods of `scipy.stats.t`."""

import scipy.stats

import tape_ad.scipy.stats
from tape_ad.interop.autograd.fallback import falling_back

__all__: list[str] = []

__getattr__ = falling_back(globals(), tape_ad.scipy.stats.t, scipy.stats.t)
