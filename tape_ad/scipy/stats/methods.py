"""The methods of SciPy's distributions as functions that handles can take over."""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.stats
from attrs import frozen

from tape_ad.extend.arrays import Array
from tape_ad.extend.packages import copied_object
from tape_ad.scipy.counterparts import takes_lists


def distributions_of(*kinds: type) -> list[str]:
    """List the distributions of some kinds that the installed SciPy has, by its names."""
    return sorted(name for name, each in vars(scipy.stats).items() if isinstance(each, kinds))


def method_of_scipy(method: str) -> Callable[..., Any]:
    """Make ``method(x, *parameters, name)``: that method of SciPy's distribution of that name.

    The parameters are the shapes, loc and scale, as many as the distribution has; a discrete one
    has no scale.
    """

    def function(x: Array, *parameters: Array, name: str) -> Array:
        return getattr(getattr(scipy.stats, name), method)(x, *parameters)

    function.__name__ = function.__qualname__ = method
    return takes_lists(function)


pdf = method_of_scipy("pdf")
logpdf = method_of_scipy("logpdf")
pmf = method_of_scipy("pmf")
logpmf = method_of_scipy("logpmf")
cdf = method_of_scipy("cdf")
logcdf = method_of_scipy("logcdf")
sf = method_of_scipy("sf")
logsf = method_of_scipy("logsf")
ppf = method_of_scipy("ppf")
isf = method_of_scipy("isf")

METHODS: dict[str, Callable[..., Any]] = {
    each.__name__: each for each in (pdf, logpdf, pmf, logpmf, cdf, logcdf, sf, logsf, ppf, isf)
}
"""The functions by their names."""


def lines_of(method: str) -> Callable[..., Any]:
    """Make what a compiler may look into: SciPy's own lines for a method, and where they hold.

    They have the bits of SciPy's method. Those that branch on values, or call what is no ufunc,
    raise an error when they meet a symbol, and the method is called as it is.
    """
    outside = -np.inf if method.startswith("log") else 0.0
    certain = 0.0 if method.startswith("log") else 1.0

    def body(x: Any, *parameters: Any, name: str) -> Any:
        own: Any = copied_object(getattr(scipy.stats, name))
        operands = [np.asarray(each) if type(each) in DOUBLE else each for each in parameters]
        if not all(each.dtype in DOUBLE.values() for each in (x, *operands)):
            raise TypeError("SciPy computes in single precision what it adds up in double")
        if isinstance(own, scipy.stats.rv_discrete):
            if method[-3:] != "pmf":
                raise TypeError("SciPy's steps depend on values")
            *shapes, loc = operands
            k = x - loc
            low, high = own._get_support(*shapes)
            valid = own._argcheck(*shapes) & np.equal(k, k)
            inside = (k >= low) & (k <= high) & own._nonzero(k, *shapes)
            value = getattr(own, f"_{method}")(k, *shapes)
            return np.where(valid, np.where(inside, value, outside), np.nan)
        *shapes, loc, scale = operands
        y = (x - loc) / scale
        valid = own._argcheck(*shapes) & (scale > 0) & np.equal(y, y)
        value = getattr(own, f"_{method}")(y, *shapes)
        if method == "logpdf":
            value = value - np.log(scale)
        elif method == "pdf":
            value = value / scale
        if method[-3:] == "pdf":
            found = np.where(own._support_mask(y, *shapes), value, outside)
        else:
            low, high = own._get_support(*shapes)
            first, last = (certain, outside) if method[-2:] == "sf" else (outside, certain)
            value = np.where(own._open_support_mask(y, *shapes), value, outside)
            found = np.where(y <= low, first, np.where(y >= high, last, value))
        return np.where(valid, found, np.nan)

    return body


DOUBLE = {float: np.dtype(float), int: np.dtype(int), bool: np.dtype(bool)}
"""The dtypes of which SciPy computes in double precision alone."""


@frozen(eq=False, repr=False)
class FrozenDistribution:
    """A distribution with its parameters.

    Attributes
    ----------
    dist : Distribution
    parameters : tuple
        The shapes, loc and scale.

    Examples
    --------
    >>> from tape_ad.scipy import stats
    >>> stats.norm(1.0, 2.0).mean()
    np.float64(1.0)
    """

    dist: Any
    parameters: tuple[Any, ...]

    def __repr__(self) -> str:
        pairs = zip(self.dist.parameters, self.parameters, strict=True)
        return f"{self.dist!r}({', '.join(f'{name}={value!r}' for name, value in pairs)})"

    def __getattr__(self, name: str) -> Any:
        """Give a method of the distribution with these parameters."""
        method = getattr(self.dist, name)
        if name == "expect":
            shapes, *place = self.dist.split(self.parameters, {})
            named = dict(zip(("loc", "scale"), place, strict=False))
            return lambda func=None, **options: method(func, shapes, **named, **options)
        if name in METHODS or name in LEADING:
            return lambda x, **options: method(x, *self.parameters, **options)
        if callable(method):
            return lambda *args, **options: method(*args, *self.parameters, **options)
        return method


LEADING = {"interval", "moment"}
"""Methods besides those of `METHODS` that take one argument before the parameters."""
