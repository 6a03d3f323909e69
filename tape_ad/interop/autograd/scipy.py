"""SciPy's functions under HIPS autograd's names, where this library has rules for them.

Each module has the names of `tape_ad.scipy`'s, and SciPy's own where those have none.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.special
import scipy.stats

import tape_ad.scipy.stats
from tape_ad import Tensor
from tape_ad.errors import UnsupportedArgumentError
from tape_ad.interop.autograd.modules import publish
from tape_ad.interop.autograd.spaces import holds_handles, plain

__all__ = ["integrate", "linalg", "signal", "special", "stats"]

Axes = Sequence[int]


def convolve(
    A: Any,
    B: Any,
    axes: Sequence[Axes] | None = None,
    dot_axes: Sequence[Axes] = ((), ()),
    mode: str = "full",
) -> Any:
    """Convolve two arrays along some axes, sum over others, and keep the rest.

    Parameters
    ----------
    A, B : array or Tensor
    axes : pair of sequence of int, optional
        Which axes of the one are convolved with which of the other; all when left out.
    dot_axes : pair of sequence of int
        Which are multiplied and summed.
    mode : {"full", "valid", "same"}
        All sums; those in which the one array is within the other; as many as `A` has elements.

    Returns
    -------
    array or Tensor
        Its axes are the other ones of `A`, the other ones of `B`, and the convolved ones.
    """
    if mode not in {"full", "valid", "same"}:
        raise ValueError(f"mode is 'full', 'valid' or 'same', not {mode!r}")
    along = axes or (range(np.ndim(A)), range(np.ndim(B)))
    a, kept_a, a_sizes = grouped(A, along[0], dot_axes[0])
    b, kept_b, b_sizes = grouped(B, along[1], dot_axes[1])
    ahead = [not b < a for a, b in zip(a_sizes, b_sizes, strict=True)]
    behind = [not a < b for a, b in zip(a_sizes, b_sizes, strict=True)]
    if mode == "valid" and not (all(ahead) or all(behind)):
        raise ValueError("one array must be larger than the other along all convolved axes")
    within = [(0, 0), (0, 0), *[(n - 1, n - 1) for n in b_sizes]]
    padded = np.pad(a, within)
    places = tuple(range(2, 2 + len(b_sizes)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, tuple(b_sizes), axis=places)
    full_sizes = [m + n - 1 for m, n in zip(a_sizes, b_sizes, strict=True)]
    spread = windows.reshape(*a.shape[:2], math.prod(full_sizes), math.prod(b_sizes))
    turned = b[(..., *[slice(None, None, -1)] * len(b_sizes))].reshape(*b.shape[:2], -1)
    full = np.einsum("idok,jdk->ijo", spread, turned).reshape(*kept_a, *kept_b, *full_sizes)
    pairs = zip(a_sizes, b_sizes, strict=True)
    return full[(..., *[section(mode, m, n) for m, n in pairs])]


def grouped(array: Any, along: Axes, dotted: Axes) -> tuple[Any, list[int], list[int]]:
    """Bring an array to the axes: all that are kept as one, all that are summed, the convolved."""
    ndim, shape = np.ndim(array), np.shape(array)
    convolved, summed = ([axis % ndim for axis in each] for each in (along, dotted))
    kept = [axis for axis in range(ndim) if axis not in convolved and axis not in summed]
    sizes = [shape[axis] for axis in convolved]
    joined = [math.prod(shape[axis] for axis in each) for each in (kept, summed)]
    moved = np.transpose(array, (*kept, *summed, *convolved))
    return np.reshape(moved, (*joined, *sizes)), [shape[axis] for axis in kept], sizes


def section(mode: str, m: int, n: int) -> slice:
    """Choose the sums of a mode along one axis."""
    if mode == "full":
        return slice(None)
    if mode == "same":
        start = (n - 1) // 2
        return slice(start, start + m)
    return slice(min(m, n) - 1, max(m, n))


def yn(n: Any, x: Any) -> Any:
    """Compute the Bessel function of the second kind of whole order; of handles, by `yv`."""
    return scipy.special.yv(n, x) if type(x) is Tensor else scipy.special.yn(n, x)


class MultivariateNormal:
    """The methods of `scipy.stats.multivariate_normal`, also for a covariance without inverse."""

    @staticmethod
    def logpdf(x: Any, mean: Any, cov: Any, allow_singular: bool = False) -> Any:
        """Compute the logarithm of the density.

        Parameters
        ----------
        x : array or Tensor, shape (..., n)
        mean : array or Tensor, shape (n,)
        cov : array or Tensor, shape (n, n)
        allow_singular : bool
            Whether `cov` may have no inverse, and then has no derivative.

        Returns
        -------
        array or Tensor, shape (...)

        Raises
        ------
        UnsupportedArgumentError
            When `cov` is a handle and `allow_singular` is true.
        """
        if not allow_singular or not any(map(holds_handles, (x, mean, cov))):
            return tape_ad.scipy.stats.multivariate_normal.logpdf(x, mean, cov, allow_singular)
        if holds_handles(cov):
            raise UnsupportedArgumentError(
                "multivariate_normal has no derivative with respect to cov for "
                "allow_singular=True; leave that out, and give a covariance matrix that has an "
                "inverse"
            )
        away = np.atleast_1d(x - mean)
        greatest = scipy.stats.multivariate_normal.logpdf(
            np.zeros(away.shape[-1]), cov=cov, allow_singular=True
        )
        inverse = np.linalg.pinv(cov, hermitian=True)
        exact = scipy.stats.multivariate_normal.logpdf(plain(away), cov=cov, allow_singular=True)
        inside = greatest - 0.5 * np.sum((away @ inverse) * away, axis=-1)
        return np.where(np.isneginf(exact), exact, inside)

    @staticmethod
    def pdf(x: Any, mean: Any, cov: Any, allow_singular: bool = False) -> Any:
        """Compute the density; see `logpdf`."""
        if allow_singular and any(map(holds_handles, (x, mean, cov))):
            return np.exp(MultivariateNormal.logpdf(x, mean, cov, allow_singular))
        return tape_ad.scipy.stats.multivariate_normal.pdf(x, mean, cov, allow_singular)


DISTRIBUTIONS = ("beta", "chi2", "dirichlet", "gamma", "norm", "poisson", "t")
"""Each is a module with its methods, as `MultivariateNormal` is."""

integrate: Any
linalg: Any
signal: Any
special: Any
stats: Any

publish(
    __name__,
    {
        "integrate": ["tape_ad.scipy.integrate", "scipy.integrate"],
        "linalg": ["tape_ad.scipy.linalg", "scipy.linalg"],
        "misc": ["tape_ad.scipy.special:logsumexp"],
        "signal": [f"{__name__}:convolve", "tape_ad.scipy.signal", "scipy.signal"],
        "special": [f"{__name__}:yn", "tape_ad.scipy.special", "scipy.special"],
        "stats": [],
        **{
            f"stats.{name}": [f"tape_ad.scipy.stats.{name}", f"scipy.stats.{name}"]
            for name in DISTRIBUTIONS
        },
        "stats.multivariate_normal": [
            f"{__name__}.MultivariateNormal",
            "tape_ad.scipy.stats.multivariate_normal",
            "scipy.stats.multivariate_normal",
        ],
    },
)
