"""Distributions by tables of numbers, on handles: SciPy's own code, with two of its steps."""

import functools
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np

from tape_ad.errors import UnsupportedArgumentError
from tape_ad.extend.arrays import Array, any_handle, as_array, joined, primal
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.stand_ins import stands_for


def with_numbers(copy: Callable[..., Any]) -> Callable[..., Any]:
    """Let numbers be handles, besides their probabilities, of which SciPy's code takes care."""

    @functools.wraps(scipy.stats.rv_discrete)
    def rv_discrete(*args: Any, values: Any = None, **kwargs: Any) -> Any:
        if values is None or not any_handle(values):
            return scipy.stats.rv_discrete(*args, values=values, **kwargs)
        numbers, chances = (np.ravel(as_array(joined(each))) for each in values)
        table = copy(*args, values=(primal(numbers), chances), **kwargs)
        if any_handle(numbers):  # which SciPy looks for in a set, whether there are equal ones
            table.xk = numbers[np.argsort(primal(numbers))]
            table.a, table.b = table.xk[0], table.xk[-1]
        table._rvs = refuse_draws
        return table

    return rv_discrete


def refuse_draws(*args: Any, **options: Any) -> NoReturn:
    """Refuse to draw numbers, of which no slope would tell how likely they are."""
    raise UnsupportedArgumentError(
        "scipy.stats.rv_discrete.rvs does not take handles; build the distribution of .data of "
        "those that are meant as constants"
    )


def chances_of(p: Sequence[Array]) -> Array:
    """How likely each number of several events is, along a first axis."""
    none = np.zeros((1, *p[0].shape))
    chances: Array = none + 1
    for each in p:
        chances = np.concatenate([chances * (1 - each), none]) + np.concatenate(
            [none, chances * each]
        )
    return chances


def picked(chances: Array, k: Any) -> Array:
    """Give what is known of each number."""
    return np.take_along_axis(chances, k.astype(int)[None], axis=0)[0]


@stands_for(scipy.stats._discrete_distns.poisson_binom_gen._pmf)
def events_pmf(self: Any, k: Any, *p: Array) -> Array:
    """The probability that so many events happen, of which each has its own."""
    k, *events = np.broadcast_arrays(primal(k), *p)
    return picked(chances_of(events), primal(k))


@stands_for(scipy.stats._discrete_distns.poisson_binom_gen._cdf)
def events_cdf(self: Any, k: Any, *p: Array) -> Array:
    """The probability that so many events or fewer happen."""
    k, *events = np.broadcast_arrays(primal(k), *p)
    return picked(np.cumsum(chances_of(events), axis=0), primal(k))
