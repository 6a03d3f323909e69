"""`logsumexp`, where SciPy and HIPS autograd had it once."""

from tape_ad.interop.autograd.scipy.special import logsumexp

__all__ = ["logsumexp"]
