"""Random variables as SciPy has had them since its release 1.15, on handles."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from attrs import frozen

from tape_ad.errors import UnsupportedArgumentError
from tape_ad.extend.arrays import Array, any_handle, as_array, joined
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.special.logarithms import log_sum_exp
from tape_ad.scipy.stats.continuous import CONTINUOUS
from tape_ad.scipy.stats.discrete import DISCRETE
from tape_ad.scipy.stats.distributions import Distribution, primal

__all__ = ["VARIABLES", "Mixed", "Variable"]

NAMED: dict[str, str] = {
    "pdf": "pdf",
    "logpdf": "logpdf",
    "pmf": "pmf",
    "logpmf": "logpmf",
    "cdf": "cdf",
    "logcdf": "logcdf",
    "ccdf": "sf",
    "logccdf": "logsf",
    "icdf": "ppf",
    "iccdf": "isf",
    "median": "median",
    "mean": "mean",
    "variance": "var",
    "standard_deviation": "std",
    "entropy": "entropy",
    "support": "support",
}
"""The methods, and what the distributions of before call them."""


def standardized(raw: Callable[[int], Array], order: int) -> Array:
    """Make a moment about the mean, in units of the standard deviation, of those about 0."""
    mean = raw(1)
    terms = (
        math.comb(order, k) * (raw(k) if k else 1.0) * (-mean) ** (order - k)
        for k in range(order + 1)
    )
    return sum(terms) / (raw(2) - mean * mean) ** (order / 2)


class Operations:
    """What random variables have in common."""

    plain: Any
    __array_ufunc__ = None  # so that arrays and handles leave sums and products to the variable

    def own(self, name: str) -> Callable[..., Any] | None:
        """Give a method that takes handles; None where there is none."""
        raise NotImplementedError

    @property
    def is_plain(self) -> bool:
        """Whether no parameter is a handle."""
        raise NotImplementedError

    def __getattr__(self, name: str) -> Any:
        """Give a method: SciPy's own where no handle is concerned."""
        theirs = getattr(self.plain, name)
        if name.startswith("_") or not callable(theirs):
            return theirs

        def method(*args: Any, **kwargs: Any) -> Any:
            if self.is_plain and not any_handle((args, kwargs)):
                return theirs(*args, **kwargs)
            own = self.own(name)
            if own is None:
                raise UnsupportedArgumentError(
                    f"{self!r}.{name} does not take handles; build the variable of .data of "
                    "those that are meant as constants"
                )
            kwargs.pop("method", None)
            return own(*(joined(each) for each in args), **kwargs)

        method.__name__ = name
        return method


@frozen(eq=False, repr=False, slots=False)
class Variable(Operations):
    """A random variable with the distribution of `dist`.

    Attributes
    ----------
    dist : Distribution
    parameters : tuple
        Its shapes, loc and scale, of which any may be a handle.
    plain : any
        SciPy's own, of the plain values.

    Examples
    --------
    >>> import tape_ad as ta
    >>> from tape_ad.scipy import stats
    >>> mu = ta.ComputationRecord().tensor(1.0)
    >>> float(stats.Normal(mu=mu, sigma=2.0).logpdf(5.0).grad().wrt(mu))
    1.0
    """

    dist: Distribution
    parameters: tuple[Any, ...]
    plain: Any

    def __repr__(self) -> str:
        return f"tape_ad.scipy.stats.{type(self.plain).__name__}(...)"

    @property
    def is_plain(self) -> bool:
        """Whether no parameter is a handle."""
        return not any_handle(self.parameters)

    def own(self, name: str) -> Callable[..., Any] | None:
        """Give a method that takes handles."""
        if name in NAMED:
            function = getattr(self.dist, NAMED[name])
            if name == "support":  # of floats, also where the variable is a count
                return lambda: tuple(1.0 * end for end in function(*self.parameters))
            if name in ("cdf", "ccdf"):
                return lambda x, y=None: self._between(function, x, y, name)
            return lambda *args: function(*args, *self.parameters)
        further: dict[str, Callable[..., Any]] = {
            "skewness": lambda: self._letter("s"),
            "kurtosis": self._kurtosis,
            "moment": self._moment,
        }
        return further.get(name)

    def _kurtosis(self, *, convention: str = "non-excess") -> Any:
        return self._letter("k") + (3 if convention == "non-excess" else 0)

    def _between(self, function: Any, x: Any, y: Any, name: str) -> Any:
        if y is None:
            return function(x, *self.parameters)
        low, high = (self.dist.cdf(end, *self.parameters) for end in (x, y))
        return high - low if name == "cdf" else 1 - (high - low)

    def _letter(self, letter: str) -> Any:
        return self.dist.stats(*self.parameters, moments=letter)

    def _moment(self, order: int = 1, kind: str = "raw") -> Any:
        if kind == "standardized":
            return standardized(self._moment, order)
        if kind == "central":
            return self._moment(order, "standardized") * self._moment_scale(order)
        return self.dist.moment(order, *self.parameters)

    def _moment_scale(self, order: int) -> Any:
        return self.dist.var(*self.parameters) ** (order / 2)

    def _moved(self, scale: Any, loc: Any, plain: Any) -> "Variable":
        if not np.all(primal(as_array(scale)) > 0):
            raise UnsupportedArgumentError(
                f"{self!r}: on handles a random variable is multiplied by positive numbers alone"
            )
        *shapes, old, width = self.parameters
        return Variable(self.dist, (*shapes, old * scale + loc, width * scale), plain)

    def __add__(self, other: Any) -> "Variable":
        return self._moved(1.0, other, self.plain + primal(other))

    __radd__ = __add__

    def __sub__(self, other: Any) -> "Variable":
        return self._moved(1.0, -other, self.plain - primal(other))

    def __mul__(self, other: Any) -> "Variable":
        return self._moved(other, 0.0, self.plain * primal(other))

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> "Variable":
        return self._moved(1 / other, 0.0, self.plain / primal(other))


@frozen(eq=False, repr=False, slots=False)
class Mixed(Operations):
    """A mixture of random variables.

    Attributes
    ----------
    components : tuple of Variable
    weights : array or Tensor
    plain : any
        SciPy's own, of the plain values.
    """

    components: tuple[Any, ...]
    weights: Array
    plain: Any

    def __repr__(self) -> str:
        return "tape_ad.scipy.stats.Mixture(...)"

    @property
    def is_plain(self) -> bool:
        """Whether no parameter is a handle."""
        return not any_handle(self.weights) and all(x.is_plain for x in self.components)

    def _sum(self, name: str, *args: Any) -> Any:
        parts = [getattr(component, name)(*args) for component in self.components]
        return sum(self.weights[i] * part for i, part in enumerate(parts))

    def own(self, name: str) -> Callable[..., Any] | None:
        """Give a method that takes handles."""
        if name in ("pdf", "cdf", "ccdf", "mean", "moment"):
            return lambda *args: self._sum(name, *args)
        further: dict[str, Callable[..., Any]] = {
            "logpdf": lambda x: self._logarithm("logpdf", x),
            "logcdf": lambda x: self._logarithm("logcdf", x),
            "logccdf": lambda x: self._logarithm("logccdf", x),
            "icdf": lambda p: self._inverse("icdf", "cdf", 1.0, p),
            "iccdf": lambda p: self._inverse("iccdf", "ccdf", -1.0, p),
            "median": lambda: self._inverse("icdf", "cdf", 1.0, 0.5),
            "variance": self._variance,
            "standard_deviation": lambda: np.sqrt(self._variance()),
            "skewness": lambda: standardized(self._raw, 3),
            "kurtosis": lambda: standardized(self._raw, 4),
        }
        return further.get(name)

    def _raw(self, order: int) -> Any:
        return self._sum("moment", order)

    def _variance(self) -> Any:
        return self._raw(2) - self._raw(1) ** 2

    def _logarithm(self, name: str, x: Any) -> Any:
        parts = [getattr(component, name)(x) for component in self.components]
        logs = np.stack(np.broadcast_arrays(*parts), axis=-1)
        return log_sum_exp(logs, np.broadcast_to(self.weights, logs.shape), -1, False)

    def _inverse(self, name: str, function: str, sign: float, p: Any) -> Any:
        """Go two steps of Newton's from SciPy's solution: with its slope to the third order."""
        x = getattr(self.plain, name)(primal(p))
        for _ in range(2):
            x = x - sign * (self._sum(function, x) - p) / self._sum("pdf", x)
        return x


def normal(*, mu: Any = 0.0, sigma: Any = 1.0, **kwds: Any) -> Variable:
    """Make a normal variable; see `scipy.stats.Normal`."""
    plain = scipy.stats.Normal(mu=primal(mu), sigma=primal(sigma), **kwds)
    return Variable(Distribution("norm"), (mu, sigma), plain)


def uniform(*, a: Any, b: Any, **kwds: Any) -> Variable:
    """Make a uniform variable; see `scipy.stats.Uniform`."""
    plain = scipy.stats.Uniform(a=primal(a), b=primal(b), **kwds)
    return Variable(Distribution("uniform"), (a, b - a), plain)


def logistic(**kwds: Any) -> Variable:
    """Make a logistic variable; see `scipy.stats.Logistic`."""
    return Variable(Distribution("logistic"), (0.0, 1.0), scipy.stats.Logistic(**kwds))


def binomial(*, n: Any, p: Any, **kwds: Any) -> Variable:
    """Make a binomial variable; see `scipy.stats.Binomial`."""
    plain = scipy.stats.Binomial(n=primal(n), p=primal(p), **kwds)
    return Variable(Distribution("binom"), (n, p, 0), plain)


def make_distribution(dist: Any) -> Any:
    """Make of a distribution of `scipy.stats`, or of ours, what makes random variables of it.

    Its parameters are given by name; see `scipy.stats.make_distribution`.
    """
    theirs = dist.scipy if isinstance(dist, Distribution) else dist
    make = scipy.stats.make_distribution(theirs)
    name = str(getattr(theirs, "name", ""))
    if name not in {*CONTINUOUS, *DISCRETE} or getattr(scipy.stats, name) is not theirs:
        return make
    ours = Distribution(name)

    def variable(**parameters: Any) -> Variable:
        plain = make(**{key: primal(value) for key, value in parameters.items()})
        place = (0.0, 1.0) if ours.parameters[-1] == "scale" else (0,)
        shapes = (parameters[key] for key in ours.parameters[: -len(place)])
        return Variable(ours, (*shapes, *place), plain)

    variable.__name__ = make.__name__
    return variable


def wrapped(component: Any) -> Any:
    """Take one of SciPy's variables to ours, which take handles."""
    kind = type(component).__name__
    if isinstance(component, Operations):
        return component
    if kind == "Normal":
        return normal(mu=component.mu, sigma=component.sigma)
    if kind == "StandardNormal":
        return normal()
    if kind == "Uniform":
        return uniform(a=component.a, b=component.b)
    if kind == "Logistic":
        return logistic()
    raise UnsupportedArgumentError(
        f"tape_ad.scipy.stats.Mixture: a component of type {kind} takes no handles; make it by "
        "tape_ad.scipy.stats, as by make_distribution"
    )


def mixture(components: Sequence[Any], *, weights: Any = None) -> Any:
    """Mix random variables; see `scipy.stats.Mixture`."""
    plain_parts = [getattr(each, "plain", each) for each in components]
    given = joined(weights)
    plain = scipy.stats.Mixture(plain_parts, weights=primal(given))
    if not any_handle(given) and not any(isinstance(each, Operations) for each in components):
        return plain
    count = len(components)
    shares = np.full(count, 1 / count) if given is None else as_array(given)
    return Mixed(tuple(map(wrapped, components)), shares, plain)


MADE: dict[str, Callable[..., Any]] = {
    "Normal": normal,
    "Uniform": uniform,
    "Logistic": logistic,
    "Binomial": binomial,
    "Mixture": mixture,
    "make_distribution": make_distribution,
}

VARIABLES = {name: make for name, make in MADE.items() if getattr(scipy.stats, name)}
"""What makes random variables, by SciPy's names, as far as the installed SciPy has them."""
