"""The distributions of `scipy.stats` that HIPS autograd has, each a module with its methods."""

from tape_ad.interop.autograd.scipy.stats import (
    beta,
    chi2,
    dirichlet,
    gamma,
    multivariate_normal,
    norm,
    poisson,
    t,
)

__all__ = ["beta", "chi2", "dirichlet", "gamma", "multivariate_normal", "norm", "poisson", "t"]
