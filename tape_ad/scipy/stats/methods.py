"""The methods of SciPy's distributions as functions that handles can take over."""

from collections.abc import Callable
from typing import Any

from tape_ad.rules.maps import Array
from tape_ad.scipy.counterparts import takes_lists
from tape_ad.scipy.installed import scipy

__all__ = [
    "METHODS",
    "cdf",
    "isf",
    "logcdf",
    "logpdf",
    "logpmf",
    "logsf",
    "pdf",
    "pmf",
    "ppf",
    "sf",
]


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
