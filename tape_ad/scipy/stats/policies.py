"""What is done with nan in samples, and with samples that are too short: `nan_policy` of SciPy.

A formula is written for samples along their last axis that have no gaps. Here they are left out, a
slice after the other, or make the result nan.
"""

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tape_ad.extend.arrays import Array

__all__ = ["by_policy", "each_slice", "mapped"]

Compute = Callable[..., Any]

PAIRED = frozenset(
    {
        *("gmean", "hmean", "pmean", "entropy", "combine_pvalues"),
        *("power_divergence", "chisquare", "expectile"),
        *("ttest_rel", "linregress", "pointbiserialr", "theilslopes", "siegelslopes"),
    }
)
"""Functions of samples that belong together element by element."""

TOO_SHORT: dict[str, int] = {
    **dict.fromkeys(("skewtest", "normaltest"), 7),
    **dict.fromkeys(("kurtosistest", "epps_singleton_2samp"), 4),
    "shapiro": 2,
    **dict.fromkeys(("sem", "alexandergovern", "pointbiserialr", "linregress"), 1),
    **dict.fromkeys(("theilslopes", "siegelslopes", "cramervonmises"), 1),
    **dict.fromkeys(("power_divergence", "chisquare", "entropy", "lmoment"), -1),
}
"""Lengths of samples that make all that a function gives nan; 0 if they are not here."""

WITHOUT = frozenset({"describe", "gstd", "pearsonr"})
"""Functions to which SciPy leaves it what nan and an empty sample do: nan by what they compute."""


def mapped(function: Callable[[Any], Any], result: Any) -> Any:
    """Do something with each array of a result, which is one, or a tuple or list of them."""
    if type(result) in (tuple, list):
        return type(result)(mapped(function, part) for part in result)
    return function(result)


def nothing(arrays: Sequence[Array], parts: int) -> Any:
    """Give nan for each slice, which depends on the samples, so that it is a handle as they are."""
    with np.errstate(invalid="ignore"):
        nan = sum(np.sum(x, axis=-1) for x in arrays) * np.nan
    return (nan,) * parts if parts else nan


def by_policy(name: str, compute: Compute, arrays: Sequence[Array], policy: str, parts: int) -> Any:
    """Compute with what a policy leaves of samples.

    Parameters
    ----------
    name : str
        That of SciPy's function.
    compute : callable
        ``compute(*arrays)``.
    arrays : sequence of array
        The samples, along their last axes.
    policy : str
        "propagate", "omit" or "raise".
    parts : int
        How many results `compute` gives as a tuple; 0 where it gives one that is none.
    """
    if policy not in ("propagate", "omit", "raise"):
        raise ValueError("nan_policy must be one of {'propagate', 'raise', 'omit'}")
    gaps = [np.isnan(x) for x in arrays]
    if not any(gap.any() for gap in gaps):
        return of_enough(name, compute, arrays, parts)
    if policy == "raise":
        raise ValueError("The input contains nan values")
    if policy == "omit":
        return by_slices(name, compute, arrays, parts)
    result = of_enough(name, compute, arrays, parts)
    if name in WITHOUT:
        return result
    spoilt = functools.reduce(np.logical_or, [gap.any(axis=-1) for gap in gaps])
    factor = np.where(spoilt, np.nan, 1.0)

    def spoil(part: Any) -> Any:
        if isinstance(part, float):
            return part * factor
        return part * factor.astype(part.dtype) if hasattr(part, "dtype") else part

    return mapped(spoil, result)


def of_enough(name: str, compute: Compute, arrays: Sequence[Array], parts: int) -> Any:
    """Compute, unless a sample is too short."""
    least = -1 if name in WITHOUT else TOO_SHORT.get(name, 0)
    if any(x.shape[-1] <= least for x in arrays if x.ndim):
        return nothing([x for x in arrays if x.ndim], parts)
    return compute(*arrays)


def by_slices(name: str, compute: Compute, arrays: Sequence[Array], parts: int) -> Any:
    """Compute for one slice after the other, without its gaps, and join the results."""
    arrays = [x if x.ndim else np.reshape(x, 1) for x in arrays]
    if name in PAIRED:
        shape = np.broadcast_shapes(*(x.shape for x in arrays))
        arrays = [np.broadcast_to(x, shape) for x in arrays]
    lead = np.broadcast_shapes(*(x.shape[:-1] for x in arrays))
    arrays = [np.broadcast_to(x, (*lead, x.shape[-1])) for x in arrays]
    results = [
        of_enough(name, compute, whole_of(name, [x[place] for x in arrays]), parts)
        for place in np.ndindex(lead)
    ]
    return results[0] if not lead else stacked(results, lead)


def whole_of(name: str, samples: list[Array]) -> list[Array]:
    """Leave out the gaps of samples; where these are pairs, what stands beside a gap too."""
    kept = [~np.isnan(x) for x in samples]
    if name in PAIRED:
        kept = [functools.reduce(np.logical_and, kept)] * len(kept)
    return [x[here] for x, here in zip(samples, kept, strict=True)]


def stacked(results: Sequence[Any], lead: tuple[int, ...]) -> Any:
    """Join the numbers that were computed for each slice."""
    if type(results[0]) in (tuple, list):
        return type(results[0])(stacked(part, lead) for part in zip(*results, strict=True))
    return np.reshape(np.stack(results), lead)


def each_slice(compute: Compute) -> Compute:
    """Make a formula for single samples one for samples along the last axis."""

    def over(*arrays: Array) -> Any:
        lead = np.broadcast_shapes(*(x.shape[:-1] for x in arrays))
        if not lead:
            return compute(*arrays)
        every = [np.broadcast_to(x, (*lead, x.shape[-1])) for x in arrays]
        return stacked([compute(*(x[place] for x in every)) for place in np.ndindex(lead)], lead)

    return over
