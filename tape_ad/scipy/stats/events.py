"""How many of several events happen: SciPy's `poisson_binom`, on handles."""

from typing import Any

import numpy as np
from attrs import field, frozen

from tape_ad.errors import UnsupportedArgumentError
from tape_ad.extend.arrays import any_handle, as_array, joined
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.stats.distributions import primal
from tape_ad.scipy.stats.tabulated import Frozen, Tabulated

__all__ = ["PoissonBinomial"]


@frozen(eq=False, repr=False)
class PoissonBinomial:
    """How many of several events happen, of which each has its own probability.

    On plain arrays every method gives what SciPy's `poisson_binom` gives; the probabilities may be
    handles, in one dimension.
    """

    name: str = field(default="poisson_binom")

    def __repr__(self) -> str:
        return f"tape_ad.scipy.stats.{self.name}"

    @property
    def scipy(self) -> Any:
        """SciPy's own object."""
        return getattr(scipy.stats, self.name)

    def table(self, p: Any) -> Tabulated:
        """Compute the probabilities of all numbers."""
        p = as_array(joined(p))
        if p.ndim != 1:
            raise UnsupportedArgumentError(
                f"scipy.stats.poisson_binom: on handles, p has one dimension; got shape {p.shape}"
            )
        chances = as_array(np.ones(1))
        for i in range(p.shape[0]):
            none = np.zeros(1)
            chances = np.concatenate([chances * (1 - p[i]), none]) + np.concatenate(
                [none, chances * p[i]]
            )
        return Tabulated(self.name, self.scipy(primal(p)), np.arange(p.shape[0] + 1.0), chances)

    def __call__(self, p: Any, loc: Any = 0) -> Any:
        """Freeze the probabilities of the events."""
        if not any_handle((p, loc)):
            return self.scipy(p, loc)
        return Frozen(self.table(p), (loc,), {})

    def __getattr__(self, name: str) -> Any:
        """Return a method of the frozen distribution."""
        theirs = getattr(self.scipy, name)
        first = name in WITH_ONE_BEFORE

        def method(*args: Any, **kwargs: Any) -> Any:
            if not any_handle((args, kwargs)):
                return theirs(*args, **kwargs)
            rest = list(args)
            p = kwargs.pop("p") if "p" in kwargs else rest.pop(1 if first else 0)
            return getattr(self.table(p), name)(*rest, **kwargs)

        method.__name__ = name
        return method


WITH_ONE_BEFORE = {"pmf", "logpmf", "cdf", "logcdf", "sf", "logsf", "ppf", "interval", "moment"}
"""The methods that take something else before the probabilities."""
