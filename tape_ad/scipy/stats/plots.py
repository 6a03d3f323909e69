"""Samples beside the quantiles of distributions: what plots of them show, on handles."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tape_ad.extend.arrays import any_handle, joined, plain
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.stats.distributions import Distribution
from tape_ad.scipy.stats.powers import (
    boxcox_at,
    on_handles,
    order_medians,
    pearsonr,
    stationary,
    yeojohnson_at,
)
from tape_ad.scipy.stats.rules import PUBLISHED

__all__ = ["boxcox_normplot", "ppcc_max", "ppcc_plot", "probplot", "yeojohnson_normplot"]

linregress = PUBLISHED["linregress"]


def quantiles_of(dist: Any, shares: Any, *shapes: Any) -> Any:
    """Give the quantiles of a distribution, which has a name or is SciPy's or ours."""
    if not any_handle(shapes):
        theirs = getattr(scipy.stats, dist) if isinstance(dist, str) else dist
        return theirs.ppf(shares, *shapes)
    name = dist if isinstance(dist, str) else getattr(dist, "name", None)
    ours = dist if isinstance(dist, Distribution) or name is None else Distribution(name)
    return ours.ppf(shares, *shapes)


def as_tuple(parameters: Any) -> tuple[Any, ...]:
    """Take the parameters of a distribution, which may be a number, to a tuple."""
    if parameters is None:
        return ()
    return tuple(parameters) if np.ndim(parameters) else (parameters,)


@on_handles("x sparams")
def probplot(
    x: Any,
    sparams: Any = (),
    dist: Any = "norm",
    fit: bool = True,
    plot: Any = None,
    rvalue: bool = False,
) -> Any:
    """Set a sample in its order beside the quantiles of a distribution, with a line through both.

    Parameters
    ----------
    x : array or Tensor, shape (n,)
    sparams : tuple, number or Tensor
        The parameters of the distribution: shapes, and loc and scale behind them.
    dist, fit, plot, rvalue
        See `scipy.stats.probplot`.

    Returns
    -------
    tuple
        The quantiles and the sample; and slope, intercept and correlation of the line if `fit`.
    """
    shapes = as_tuple(sparams)
    if plot is not None:
        scipy.stats.probplot(plain(x), plain(shapes), dist, fit, plot, rvalue)
    x = joined(x)
    theirs, own = quantiles_of(dist, order_medians(x.shape[0]), *shapes), np.sort(x)
    if not fit:
        return theirs, own
    slope, intercept, r, *_ = linregress(theirs, own)
    return (theirs, own), (slope, intercept, r)


@on_handles("x a b")
def ppcc_plot(
    x: Any,
    a: Any,
    b: Any,
    dist: Any = "tukeylambda",
    plot: Any = None,
    N: int = 80,  # noqa: N803 - SciPy's name
) -> Any:
    """Correlate a sample with the quantiles of a distribution, for shapes between two numbers.

    Parameters
    ----------
    x : array or Tensor, shape (n,)
    a, b : number or Tensor
        The least and the greatest shape.
    dist, plot, N
        See `scipy.stats.ppcc_plot`.

    Returns
    -------
    shapes, correlations : array or Tensor, shape (N,)
    """
    if b <= a:
        raise ValueError("`b` has to be larger than `a`.")
    if plot is not None:
        scipy.stats.ppcc_plot(plain(x), plain(a), plain(b), dist, plot, N)
    x, shapes = joined(x), np.linspace(a, b, num=N)
    theirs = quantiles_of(dist, order_medians(x.shape[0]), shapes[:, None])
    return shapes, pearsonr(theirs, np.sort(x), axis=-1)[0]


@on_handles("x")
def ppcc_max(x: Any, brack: Any = (0.0, 1.0), dist: Any = "tukeylambda") -> Any:
    """Find the shape with which a distribution's quantiles correlate best with a sample.

    Parameters
    ----------
    x : array or Tensor, shape (n,)
    brack : tuple
    dist : str or object

    Returns
    -------
    number or Tensor
    """
    found = scipy.stats.ppcc_max(plain(x), brack, dist)
    own, shares = np.sort(x), order_medians(x.shape[0])
    return stationary(
        lambda shape: pearsonr(quantiles_of(dist, shares, shape), own)[0], found, "ppcc_max"
    )


def normplot_of(name: str, transform: Callable[..., Any], authors: str) -> Callable[..., Any]:
    """Make the function that stands for one of SciPy's plots of powers."""

    def lines(x: Any, la: Any, lb: Any, plot: Any = None, N: int = 80) -> Any:  # noqa: N803 - SciPy's name
        if plot is not None:
            getattr(scipy.stats, name)(plain(x), plain(la), plain(lb), plot, N)
        return normplot(transform, x, la, lb, N)

    lines.__name__ = lines.__qualname__ = name
    lines.__doc__ = f"""Correlate a sample with a normal one, for {authors} between two numbers.

    Parameters
    ----------
    x : array or Tensor, shape (n,)
    la, lb : number or Tensor
    plot, N
        See `scipy.stats.{name}`.

    Returns
    -------
    powers, correlations : array or Tensor, shape (N,)
    """
    return on_handles("x la lb")(lines)


def normplot(transform: Callable[..., Any], x: Any, la: Any, lb: Any, count: int) -> Any:
    """Give powers, and how well the sample correlates with a normal one."""
    if lb <= la:
        raise ValueError("`lb` has to be larger than `la`.")
    x, powers = joined(x), np.linspace(la, lb, num=count)
    normal = scipy.stats.norm.ppf(order_medians(x.shape[0]))
    transformed = np.sort(transform(x, powers[:, None]), axis=-1)
    return powers, pearsonr(normal, transformed, axis=-1)[0]


boxcox_normplot = normplot_of("boxcox_normplot", boxcox_at, "powers of Box and Cox")
yeojohnson_normplot = normplot_of("yeojohnson_normplot", yeojohnson_at, "powers of Yeo and Johnson")
