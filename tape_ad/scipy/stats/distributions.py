"""SciPy's distributions as objects whose methods take handles.

Means, variances, skewness, kurtosis and entropies are those of the standard form by SciPy's own
lines, where they exist; where they are infinite or do not exist is left to SciPy.
"""

import functools
import inspect
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from attrs import field, frozen

from tape_ad.errors import UnsupportedArgumentError
from tape_ad.extend.arrays import Array, any_handle, as_array, plain, primal, reaches
from tape_ad.extend.packages import copied_object
from tape_ad.scipy.counterparts import with_value
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.stats.continuous import FAMILIES
from tape_ad.scipy.stats.discrete import DISCRETE
from tape_ad.scipy.stats.expectations import moment_of
from tape_ad.scipy.stats.families import PLAIN
from tape_ad.scipy.stats.methods import METHODS, FrozenDistribution
from tape_ad.scipy.stats.partials import body_of, constant_shapes, parameter_names, refused

__all__ = ["Distribution", "primal"]


LOOSE = 1e-6
"""How far the sum of a quadrature rule may be off SciPy's own value, which may be one, too."""


DEFAULTS: dict[str, Any] = {"loc": 0, "scale": 1}
"""The parameters that may be left out, and what they are then."""


@frozen(eq=False, repr=False)
class Distribution:
    """A distribution of `scipy.stats`, whose methods take handles for any argument that is smooth.

    On plain arrays every method gives what SciPy's gives. Call the distribution with its parameters
    to freeze them.

    Attributes
    ----------
    name : str
    parameters : tuple of str
        The shapes, loc and scale; a discrete distribution has no scale.

    Examples
    --------
    >>> import tape_ad as ta
    >>> from tape_ad.scipy import stats
    >>> mu = ta.ComputationRecord().tensor(0.0)
    >>> float(stats.norm.logpdf(2.0, loc=mu).grad().wrt(mu))
    2.0
    """

    name: str
    parameters: tuple[str, ...] = field(init=False)

    @parameters.default
    def _name_parameters(self) -> tuple[str, ...]:
        return parameter_names(self.name)

    @property
    def scipy(self) -> Any:
        """SciPy's own object."""
        return getattr(scipy.stats, self.name)

    def __repr__(self) -> str:
        return f"tape_ad.scipy.stats.{self.name}"

    def __call__(self, *args: Any, **kwargs: Any) -> "FrozenDistribution":
        """Freeze the parameters; see `scipy.stats.rv_continuous.__call__`."""
        return FrozenDistribution(self, self.sorted(args, kwargs))

    def sorted(self, args: Any, kwargs: Any) -> tuple[Any, ...]:
        """List all parameters in their order."""
        rest = self.parameters[len(args) :]
        given = {**DEFAULTS, **kwargs}
        if len(args) <= len(self.parameters) and kwargs.keys() <= {*rest} <= given.keys():
            return (*args, *map(given.__getitem__, rest))
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        signature = inspect.Signature(
            [
                inspect.Parameter(each, kind, default=DEFAULTS.get(each, inspect.Parameter.empty))
                for each in self.parameters
            ]
        )
        bound = signature.bind(*args, **kwargs)  # which raises the error, 30 calls later
        bound.apply_defaults()
        return bound.args

    def __getattr__(self, name: str) -> Any:
        """Give one of SciPy's methods, or something of its that is no method."""
        if name in METHODS:
            return method_of(self, name)
        theirs = getattr(self.scipy, name)
        if name.startswith("_"):  # which SciPy's own code asks for, where that is copied
            return getattr(copied_object(self.scipy), name)
        if not callable(theirs):
            return theirs

        @functools.wraps(theirs)
        def method(*args: Any, **kwargs: Any) -> Any:
            if not reaches((args, kwargs)):
                return theirs(*args, **kwargs)
            refuse_counts(self.scipy, name, args, kwargs)
            return getattr(copied_object(self.scipy), name)(*args, **kwargs)

        return method

    def median(self, *args: Any, **kwargs: Any) -> Any:
        """Compute the median, ``ppf(0.5)``."""
        return self.ppf(0.5, *args, **kwargs)

    def interval(self, confidence: Array, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
        """Give the ends of the interval around the median that has a given probability."""
        ends: tuple[Any, Any] = self.scipy.interval(*plain((confidence, *args)), **plain(kwargs))
        if any_handle((confidence, args, kwargs)):
            low, high = (1.0 - confidence) / 2, (1.0 + confidence) / 2
            return self.ppf(low, *args, **kwargs), self.ppf(high, *args, **kwargs)
        return ends

    def rvs(self, *args: Any, size: Any = None, random_state: Any = None, **kwargs: Any) -> Any:
        """Draw random numbers; see `scipy.stats.rv_continuous.rvs`.

        With handles for loc and scale they are ``loc + scale * draws``, where the draws, in
        standard form, do not depend on handles: the reparametrised gradient.

        Raises
        ------
        UnsupportedArgumentError
            For handles among the shapes, and for those of a discrete distribution.
        """
        parameters = self.sorted(args[: len(self.parameters)], kwargs)
        if len(args) > len(self.parameters):
            size = args[len(self.parameters)]
        if not any_handle(parameters):
            return self.scipy.rvs(*parameters, size=size, random_state=random_state)
        if self.parameters[-1] != "scale" or any_handle(parameters[:-2]):
            raise UnsupportedArgumentError(
                f"scipy.stats.{self.name}.rvs: only loc and scale of a continuous distribution can "
                f"be handles; write stats.{self.name}.ppf(rng.uniform(size=...), ...) where the "
                "inverse of the distribution function is smooth, or pass .data"
            )
        *shapes, loc, scale = parameters
        zero, one = np.zeros(np.shape(loc)), np.ones(np.shape(scale))
        draws = self.scipy.rvs(*shapes, zero, one, size=size, random_state=random_state)
        drawn = draws * scale + loc
        if self.name == "vonmises":  # angles, which SciPy takes to the circle
            return np.mod(drawn + np.pi, 2 * np.pi) - np.pi
        return drawn

    def mean(self, *args: Any, **kwargs: Any) -> Any:
        """Compute the mean of the distribution."""
        return self._moments("mean", "m", args, kwargs)

    def var(self, *args: Any, **kwargs: Any) -> Any:
        """Compute the variance of the distribution."""
        return self._moments("var", "v", args, kwargs)

    def std(self, *args: Any, **kwargs: Any) -> Any:
        """Compute the standard deviation of the distribution."""
        if not any_handle((args, kwargs)):
            return self.scipy.std(*args, **kwargs)
        return np.sqrt(self.var(*args, **kwargs))

    def stats(self, *args: Any, moments: str = "mv", **kwargs: Any) -> Any:
        """Give the mean, variance, skewness and kurtosis, as far as letters ask for them."""
        if not any_handle((args, kwargs)):
            return self.scipy.stats(*args, moments=moments, **kwargs)
        asked = "".join(letter for letter in "mvsk" if letter in moments)
        parameters = self.sorted(args, kwargs)
        with np.errstate(all="ignore"):
            exact = theirs(self.scipy, asked, [primal(x) for x in parameters])
        exact = exact if len(asked) > 1 else (exact,)
        found = tuple(
            self._moment(*parameters, method="stats", letter=letter, exact=value)
            for letter, value in zip(asked, exact, strict=True)
        )
        return found if len(found) != 1 else found[0]

    def entropy(self, *args: Any, **kwargs: Any) -> Any:
        """Give the differential entropy, or that of a discrete distribution."""
        return self._moments("entropy", "e", args, kwargs)

    def moment(self, order: int, *args: Any, **kwargs: Any) -> Any:
        """Give a moment about 0."""
        if not any_handle((args, kwargs)):
            return self.scipy.moment(order, *args, **kwargs)
        if order not in (1, 2, 3, 4):
            shapes, *place = self.split(args, kwargs)
            named = dict(zip(("loc", "scale"), place, strict=False))
            return self.expect(lambda x: x**order, shapes, **named)
        letters = "mvsk"[:order]
        mean, *rest = (self._moments("moment", letter, args, kwargs) for letter in letters)
        central = [1.0, 0.0]
        if order > 1:
            central.append(rest[0])
        if order > 2:
            central.append(rest[1] * rest[0] ** 1.5)
        if order > 3:
            central.append((rest[2] + 3) * rest[0] ** 2)
        return sum(math.comb(order, k) * central[k] * mean ** (order - k) for k in range(order + 1))

    def split(self, args: Any, kwargs: Any) -> tuple[Any, ...]:
        """Give the tuple of shapes, loc and, where there is one, scale."""
        parameters = self.sorted(args, kwargs)
        count = len(self.parameters) - (2 if self.parameters[-1] == "scale" else 1)
        return (parameters[:count], *parameters[count:])

    def _moments(self, method: str, letter: str, args: Any, kwargs: Any) -> Any:
        """Give the moment that SciPy has a letter for, or the entropy."""
        if not any_handle((args, kwargs)):
            return getattr(self.scipy, method)(*args, **kwargs)
        return self._moment(*self.sorted(args, kwargs), method=method, letter=letter)

    def _moment(self, *parameters: Any, method: str, letter: str, exact: Any = None) -> Any:
        """Give a moment of all parameters; SciPy's value, with the derivative of a formula."""
        if not any_handle(parameters):
            return theirs(self.scipy, letter, parameters)
        shapes, loc, *rest = self.split(parameters, {})
        scale = rest[0] if rest else 1.0
        for position in constant_shapes(self.name):
            if any_handle(shapes[position]):
                raise refused(self.name, method, self.parameters[position])
        plain = [primal(x) for x in parameters]
        with np.errstate(all="ignore"):
            exact = theirs(self.scipy, letter, plain) if exact is None else exact
            known = np.isfinite(exact)
            value = self._standard(method, letter, shapes, known)
            if letter == "e":
                value = value + np.log(scale) if rest else value
            elif letter in "mv":
                value = loc + scale * value if letter == "m" else scale * scale * value
            value = value * np.where(
                known, 1.0, np.nan
            )  # a moment that does not exist has no slope
        loose = {"s": 1e-5, "k": 1e-4}.get(letter, LOOSE)  # SciPy's are of up to four integrals
        at = primal(value)
        self._check(np.where(known, at, 0.0), np.where(known, exact, 0.0), method, loose)
        if not any_handle(value):
            return exact
        if np.all(known):
            return value + (exact - at)
        again = functools.partial(self._moment, method=method, letter=letter)
        return with_value(value, None, again, parameters, {})

    def _check(self, found: Any, exact: Any, method: str, loose: float = LOOSE) -> None:
        """Refuse what a quadrature rule gives where that is not what SciPy gives."""
        off = np.absolute(found - exact) > loose * np.maximum(1, np.absolute(exact))
        if np.any(off):
            raise UnsupportedArgumentError(
                f"scipy.stats.{self.name}.{method} cannot be differentiated at these parameters, "
                "as it is not found there by quadrature; pass .data of those that are constants"
            )

    def _standard(self, method: str, letter: str, shapes: tuple[Any, ...], known: Any) -> Any:
        """Give a moment of the standard form."""
        if not any_handle(shapes):
            return theirs(self.scipy, letter, shapes)
        if not np.any(known):
            return sum(0.0 * as_array(shape) for shape in shapes)
        found = moment_by_lines(letter, [as_array(x) for x in shapes], self.name)
        if found is not None:
            return found
        kink = FAMILIES.get(self.name, PLAIN).kink
        at = None if kink is None else kink(*shapes)
        return moment_of(letter, [as_array(x) for x in shapes], self.name, at)


def refuse_counts(distribution: Any, method: str, args: Any, kwargs: Any) -> None:
    """Refuse handles for data that are whole numbers, as `fit` and `nnlf` take them."""
    given = args[1] if len(args) > 1 else kwargs.get("data", kwargs.get("x"))
    counted = distribution.name in DISCRETE and method in ("fit", "nnlf")
    if counted and any_handle(given):
        raise refused(distribution.name, method, "data")


@functools.cache
def method_of(distribution: Distribution, name: str) -> Callable[..., Any]:
    """Make a method of a distribution that takes handles, where SciPy's has one of that name."""
    function, sorted_, own = METHODS[name], distribution.sorted, distribution.name
    getattr(distribution.scipy, name)  # which raises where a distribution has no such method

    def method(x: Array, *args: Any, **kwargs: Any) -> Any:
        return function(x, *sorted_(args, kwargs), name=own)

    method.__name__ = name
    method.__doc__ = f"See `scipy.stats.{own}.{name}`."
    return method


def theirs(distribution: Any, letter: str, parameters: Any) -> Any:
    """Ask SciPy for a moment, or for the entropy."""
    if letter == "e":
        return distribution.entropy(*parameters)
    return distribution.stats(*parameters, moments=letter)


# Moments and entropies


def central(letter: str, raw: Callable[[int], Array]) -> Array:
    """Make a moment about the mean of those about 0."""
    first = raw(1)
    if letter == "m":
        return first
    second = raw(2)
    var = second - first * first
    if letter == "v":
        return var
    third = raw(3)
    if letter == "s":
        return (third - 3 * first * second + 2 * first**3) / var**1.5
    fourth = raw(4) - 4 * first * third + 6 * first * first * second - 3 * first**4
    return fourth / (var * var) - 3


def moment_by_lines(letter: str, shapes: Sequence[Array], name: str) -> Array | None:
    """Give a moment by the letter that SciPy has for it, or the entropy for "e".

    None stands for one that SciPy integrates, or computes by what is compiled.
    """
    arrays = np.broadcast_arrays(*shapes)
    flat = [np.reshape(x, -1) for x in arrays]  # as SciPy's public methods call its lines
    try:
        found = by_lines(letter, flat, name)
    except (TypeError, ValueError):  # of arrays made of handles, of functions without a rule
        return None
    if found is None:
        return None
    still = sum(0.0 * np.where(np.isfinite(x), x, 0.0) for x in flat)  # a moment may be a number
    return np.reshape(found + still, arrays[0].shape)


def by_lines(letter: str, shapes: Sequence[Array], name: str) -> Array | None:
    """Look for lines of SciPy's that compute a moment."""
    if letter == "e" and name == "pearson3":  # which is a gamma variable, and has no lines for it
        (skew,) = shapes
        normal = np.equal(skew, 0)  # around which a series in the inverse of gamma's shape serves
        u, bent = 0.25 * np.where(normal, skew, 0.0) ** 2, np.where(normal, 1.0, skew)
        lost = u * (1 / 3 + u * (1 / 12 + u * (1 / 90 - u / 120)))
        whole = by_lines("e", [4 / (bent * bent)], "gamma") + np.log(0.5 * np.absolute(bent))
        return np.where(normal, 0.5 * np.log(2 * np.pi) + 0.5 - lost, whole)
    if letter != "e" and name == "genextreme":  # whose lines lose all digits around 0
        (c,) = shapes
        near = np.less(np.absolute(c), NEAR)
        around = moment_of(letter, [np.where(near, c, 0.0)], name)
        return np.where(near, around, lines_for(letter, [np.where(near, 1.0, c)], name))
    return lines_for(letter, shapes, name)


NEAR = 0.1
"""How far around 0 the moments of genextreme are integrals."""


def lines_for(letter: str, shapes: Sequence[Array], name: str) -> Array | None:
    """Compute a moment by SciPy's lines, or give None."""
    if letter == "e":
        entropy = body_of(name, "entropy")
        return None if entropy is None else entropy(*shapes)
    stats, moment = body_of(name, "stats"), body_of(name, "munp")
    if stats is not None:
        asked = "moments" in inspect.signature(stats).parameters
        found = stats(*shapes, **({"moments": letter} if asked else {}))["mvsk".index(letter)]
        if found is not None:
            return found
    return None if moment is None else central(letter, lambda n: moment(n, *shapes))
