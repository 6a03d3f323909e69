"""Distributions by tables of numbers, on handles: probabilities of values, and histograms."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from attrs import frozen

from tape_ad.errors import UnsupportedArgumentError
from tape_ad.extend.arrays import Array, any_handle, as_array, joined
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.special.shared import sp
from tape_ad.scipy.stats.distributions import primal

__all__ = ["Frozen", "Tabulated", "rv_discrete"]


def rv_discrete(*args: Any, values: Any = None, **kwargs: Any) -> Any:
    """Make a discrete distribution; see SciPy's of that name.

    Parameters
    ----------
    values : tuple of arrays or Tensors, optional
        The numbers, and their probabilities. Without it, and without handles, the distribution is
        SciPy's.

    Examples
    --------
    >>> import tape_ad as ta
    >>> from tape_ad.scipy import stats
    >>> chances = ta.ComputationRecord().tensor([0.2, 0.8])
    >>> stats.rv_discrete(values=([1, 3], chances)).mean().grad().wrt(chances)
    array([1., 3.])
    """
    if values is None or not any_handle(values):
        return scipy.stats.rv_discrete(*args, values=values, **kwargs)
    numbers, chances = (np.ravel(as_array(joined(each))) for each in values)
    plain = scipy.stats.rv_discrete(*args, values=(primal(numbers), primal(chances)), **kwargs)
    order = np.argsort(primal(numbers))
    return Tabulated("rv_discrete", plain, numbers[order], chances[order])


def moments_of(letters: str, moment: Callable[[int], Array], loc: Array, scale: Array) -> Any:
    """Give what letters ask for, of the moments about 0."""
    first = moment(1)
    central = [first, moment(2) - first * first]
    if set(letters) & set("sk"):
        central.append(moment(3) - first * (3 * moment(2) - 2 * first * first))
        fourth = moment(4) - 4 * first * moment(3) + 6 * first * first * moment(2) - 3 * first**4
        central.append(fourth)
    found = {
        "m": lambda: loc + scale * first,
        "v": lambda: scale * scale * central[1],
        "s": lambda: central[2] / central[1] ** 1.5,
        "k": lambda: central[3] / central[1] ** 2 - 3,
    }
    asked = tuple(found[letter]() for letter in "mvsk" if letter in letters)
    return asked if len(asked) != 1 else asked[0]


@frozen(eq=False, repr=False)
class Table:
    """What distributions by tables have in common.

    Attributes
    ----------
    name : str
        SciPy's.
    plain : any
        SciPy's own, of the plain values.
    """

    name: str
    plain: Any

    def __repr__(self) -> str:
        return f"tape_ad.scipy.stats.{self.name}(...)"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Freeze loc, and scale where there is one."""
        return Frozen(self, args, kwargs)

    def __getattr__(self, name: str) -> Any:
        """Refuse a method of SciPy's that has no derivative here, or give what is no method."""
        theirs = getattr(self.plain, name)
        if not callable(theirs):
            return theirs

        def method(*args: Any, **kwargs: Any) -> Any:
            if not any_handle((self.parts, args, kwargs)):
                return theirs(*args, **kwargs)
            raise UnsupportedArgumentError(
                f"scipy.stats.{self.name}.{name} does not take handles; build the distribution "
                "of .data of those that are meant as constants"
            )

        return method

    @property
    def parts(self) -> tuple[Array, Array]:
        """The two arrays that the table is of."""
        raise NotImplementedError

    def raw(self, n: int) -> Array:
        """Give a moment about 0 in standard form."""
        raise NotImplementedError

    def mean(self, loc: Any = 0, scale: Any = 1) -> Array:
        """Give the mean."""
        return moments_of("m", self.raw, loc, scale)

    def var(self, loc: Any = 0, scale: Any = 1) -> Array:
        """Give the variance."""
        return moments_of("v", self.raw, loc, scale)

    def std(self, loc: Any = 0, scale: Any = 1) -> Array:
        """Give the standard deviation."""
        return np.sqrt(self.var(loc, scale))

    def stats(self, loc: Any = 0, scale: Any = 1, moments: str = "mv") -> Any:
        """Give the mean, variance, skewness and kurtosis, as far as letters ask for them."""
        return moments_of(moments, self.raw, loc, scale)

    def moment(self, order: int, loc: Any = 0, scale: Any = 1) -> Array:
        """Give a moment about 0."""
        terms = [
            math.comb(order, k) * scale**k * loc ** (order - k) * (self.raw(k) if k else 1.0)
            for k in range(order + 1)
        ]
        return sum(terms)

    def median(self, *args: Any, **kwargs: Any) -> Array:
        """Compute the median of the table."""
        return self.ppf(0.5, *args, **kwargs)

    def interval(self, confidence: Any, *args: Any, **kwargs: Any) -> tuple[Array, Array]:
        """Give the ends of the interval around the median that has a given probability."""
        ends = (1 - confidence) / 2, (1 + confidence) / 2
        low, high = (self.ppf(end, *args, **kwargs) for end in ends)
        return low, high


@frozen(eq=False, repr=False)
class Frozen:
    """A distribution by a table with loc, and scale where there is one."""

    table: Table
    args: tuple[Any, ...]
    kwargs: dict[str, Any]

    def __getattr__(self, name: str) -> Any:
        """Give a method with these parameters."""
        method = getattr(self.table, name)
        if name in ("mean", "var", "std", "stats", "entropy", "support", "median"):
            return lambda **options: method(*self.args, **self.kwargs, **options)
        return lambda x, **options: method(x, *self.args, **self.kwargs, **options)


@frozen(eq=False, repr=False)
class Tabulated(Table):
    """Numbers in their order with their probabilities."""

    numbers: Array
    chances: Array

    @property
    def parts(self) -> tuple[Array, Array]:
        """The numbers and their probabilities."""
        return self.numbers, self.chances

    def raw(self, n: int) -> Array:
        """Give a moment about 0."""
        return np.sum(self.numbers**n * self.chances)

    def pmf(self, k: Any, loc: Any = 0) -> Array:
        """Give the probability of a number."""
        at = self._place(k, loc, "pmf")
        found = np.equal(np.expand_dims(at, -1), primal(self.numbers))
        return np.sum(np.where(found, self.chances, 0.0), axis=-1)

    def logpmf(self, k: Any, loc: Any = 0) -> Array:
        """Give its logarithm."""
        return logarithm(self.pmf(k, loc))

    def cdf(self, k: Any, loc: Any = 0) -> Array:
        """Give the probability of a number or a lower one."""
        at = self._place(k, loc, "cdf")
        numbers = primal(self.numbers)
        below = np.sum(np.less_equal(numbers, np.expand_dims(at, -1)), axis=-1)
        sums = np.concatenate([np.zeros(1), np.cumsum(self.chances)[:-1], np.ones(1)])
        return sums[below]

    def sf(self, k: Any, loc: Any = 0) -> Array:
        """Give the probability of a higher number."""
        return 1 - self.cdf(k, loc)

    def logcdf(self, k: Any, loc: Any = 0) -> Array:
        """Give the logarithm of the distribution function."""
        return logarithm(self.cdf(k, loc))

    def logsf(self, k: Any, loc: Any = 0) -> Array:
        """Give the logarithm of the survival function."""
        return logarithm(self.sf(k, loc))

    def ppf(self, q: Any, loc: Any = 0) -> Array:
        """Give the number whose probability, with those of lower ones, reaches another."""
        found = self.plain.ppf(primal(q))
        places = np.searchsorted(primal(self.numbers), found)
        inside = np.isin(found, primal(self.numbers))
        numbers = self.numbers[np.where(inside, places, 0)]
        return np.where(inside, numbers, found) + loc

    def support(self, loc: Any = 0) -> tuple[Array, Array]:
        """Give the least and the greatest number."""
        return self.numbers[0] + loc, self.numbers[-1] + loc

    def entropy(self, loc: Any = 0) -> Array:
        """Give the entropy."""
        shares = self.chances / np.sum(self.chances)
        return np.sum(sp.entr(shares))

    def expect(self, func: Any = None, args: Any = (), loc: Any = 0) -> Array:
        """Give the expectation of a function of the number."""
        numbers = self.numbers + loc
        values = numbers if func is None else func(numbers)
        return np.sum(values * self.chances)

    def _place(self, k: Any, loc: Any, method: str) -> Any:
        if any_handle((k, loc)):
            raise UnsupportedArgumentError(
                f"scipy.stats.{self.name}.{method} cannot be differentiated with respect to k or "
                "loc; pass .data there if it is meant as a constant"
            )
        return np.asarray(k) - loc


def logarithm(x: Array) -> Array:
    """Take a logarithm, which is -inf at 0 and has no slope there."""
    some = np.not_equal(x, 0)
    return np.where(some, np.log(np.where(some, x, 1.0)), -np.inf)
