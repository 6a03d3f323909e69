"""Tests by resampling, and a correlation of ranks that is compiled.

What is resampled is counted, so that p-values are piecewise constant; statistics are handles.
"""

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from attrs import field, frozen

from tape_ad.errors import UnsupportedArgumentError
from tape_ad.extend.arrays import any_handle, array_of, joined, plain, refuse_handles
from tape_ad.scipy.installed import scipy

__all__ = ["monte_carlo_test", "permutation_test", "weightedtau"]


@frozen(eq=False)
class ResamplingResult:
    """A statistic of samples, beside those of others.

    Attributes
    ----------
    statistic : Tensor
    pvalue : number or array
    """

    statistic: Any
    pvalue: Any
    _others: Any = field(repr=False)

    @property
    def null_distribution(self) -> Any:
        """The statistics of the resampled data.

        Raises
        ------
        UnsupportedArgumentError
            Where they are made of handles.
        """
        if self._others is None:
            raise UnsupportedArgumentError(
                "scipy.stats.permutation_test: there are no derivatives of null_distribution; ask "
                "for it with .data of the samples"
            )
        return self._others


def observed(statistic: Callable[..., Any], data: Sequence[Any], vectorized: Any, axis: int) -> Any:
    """Compute the statistic of samples as they are."""
    samples = [array_of(x) for x in data]
    if vectorized is None:
        vectorized = "axis" in inspect.signature(statistic).parameters
    if vectorized:
        return statistic(*(np.moveaxis(x, axis, -1) for x in samples), axis=-1)
    if any(x.ndim > 1 for x in samples):
        raise UnsupportedArgumentError(
            "scipy.stats: on handles with several axes the statistic has to take axis="
        )
    return statistic(*samples)


def permutation_test(data: Any, statistic: Callable[..., Any], **options: Any) -> Any:
    """Compare a statistic with those of permuted samples; see `scipy.stats.permutation_test`.

    Parameters
    ----------
    data : sequence of array or Tensor
    statistic : callable
        Of NumPy functions, as it is called with the handles.
    **options
        See SciPy's.

    Returns
    -------
    ResamplingResult
    """
    return resampled(scipy.stats.permutation_test, data, (statistic,), options)


def monte_carlo_test(data: Any, rvs: Any, statistic: Callable[..., Any], **options: Any) -> Any:
    """Compare a statistic with those of random samples; see `scipy.stats.monte_carlo_test`.

    Parameters
    ----------
    data : array, Tensor or sequence of these
        A sample, or one for each of the functions in `rvs`.
    rvs : callable or tuple of callable
    statistic : callable
        Of NumPy functions, as it is called with the handles.
    **options
        See SciPy's.

    Returns
    -------
    ResamplingResult
    """
    return resampled(scipy.stats.monte_carlo_test, data, (rvs, statistic), options)


def resampled(test: Callable[..., Any], data: Any, functions: Any, options: Any) -> Any:
    """Let SciPy resample plain data, and compute the statistic of handles."""
    if not any_handle((data, options)):
        return test(data, *functions, **options)
    refuse_handles(f"scipy.stats.{test.__name__}", options)
    alone = len(functions) == 2 and callable(functions[0])
    samples = [joined(data)] if alone else [joined(x) for x in data]
    told = test(plain(samples[0] if alone else tuple(samples)), *functions, **options)
    vectorized, axis = options.get("vectorized"), options.get("axis", 0)
    found = observed(functions[-1], samples, vectorized, axis)
    return ResamplingResult(
        found, told.pvalue, told.null_distribution if len(functions) == 2 else None
    )


def weightedtau(*args: Any, **kwargs: Any) -> Any:
    """Compute Vigna's tau, which depends on the order of samples alone."""
    return scipy.stats.weightedtau(*plain(args), **plain(kwargs))
