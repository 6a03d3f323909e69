"""The partials of the methods of distributions, made of what `families` and `discrete` know.

With f the density, F the distribution function and y = (x - loc) / scale, everything follows from
(log f)' and the derivatives of log f and F by the shape parameters; that of the inverse of F from
the implicit function theorem: dx = (dq - dF) / f. Where the density is 0 nothing moves it, so that
its derivatives are 0 and those of its logarithm, which is -inf, too.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from attrs import frozen

from tape_ad.base.errors import UnsupportedArgumentError
from tape_ad.extend import facts
from tape_ad.extend.arrays import Array, as_array, ratio
from tape_ad.extend.rules import Call, Entry, Makers, jointly
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.stats.continuous import CONTINUOUS
from tape_ad.scipy.stats.discrete import DISCRETE
from tape_ad.scipy.stats.expectations import (
    LANDMARKS,
    MOST_TERMS,
    counted_range,
    partial_integral,
    quartiles,
    total,
)
from tape_ad.scipy.stats.families import Family, Shape
from tape_ad.scipy.stats.methods import METHODS, isf, logpdf, pdf, pmf, ppf

__all__ = ["DISTRIBUTIONS", "parameter_names"]


def parameter_names(name: str) -> tuple[str, ...]:
    """List the parameters of a distribution: the shapes, loc and, for a continuous one, scale."""
    distribution = getattr(scipy.stats, name)
    shapes = distribution.shapes.split(", ") if distribution.shapes else []
    return (*shapes, "loc", "scale") if name in CONTINUOUS else (*shapes, "loc")


def refused(name: str, method: str, argument: str) -> UnsupportedArgumentError:
    """Say that there is no derivative for an argument."""
    return UnsupportedArgumentError(
        f"scipy.stats.{name}.{method} cannot be differentiated with respect to {argument}; pass "
        f"{argument}.data there if it is meant as a constant"
    )


def in_double(x: Any) -> Array:
    """Take an operand to double precision, in which SciPy's distributions compute."""
    if type(x) is np.ndarray and x.dtype == np.float64:
        return x
    if type(x) in (int, float):
        return np.asarray(x, np.float64)
    x = as_array(x)
    return x if x.dtype == np.float64 else x.astype(np.float64)


def held(out: Array, dead: Array, formula: Array) -> Array:
    """Give a derivative, 0 where nothing moves the value, and nan where that is nan."""
    return np.where(dead, 0.0, formula * np.where(np.isnan(out), np.nan, 1.0))


def nothing(slope: Array, y: Array) -> Array:
    """slope * y, and 0 where the slope is, at infinity too."""
    return np.where(np.equal(slope, 0), 0.0, slope * y)


def at_pole(density: Array, y: Array) -> Array:
    """Tell where a density is infinite at 0: y times it is 0, and no shape moves the place."""
    return np.isinf(density) & np.equal(y, 0)


@frozen(eq=False, repr=False)
class At:
    """Where a method of a continuous distribution is called, and what it gave.

    Attributes
    ----------
    out : array
    x : array
        The variable, or the probability that the variable is asked for.
    shapes : list of array
    loc, scale : array
    name, method : str
    family : Family
    """

    out: Array
    x: Array
    shapes: list[Array]
    loc: Array
    scale: Array
    name: str
    method: str
    family: Family

    @property
    def y(self) -> Array:
        """The variable in standard form."""
        return (self.x - self.loc) / self.scale

    def standard(self, function: Callable[..., Array], x: Array) -> Array:
        """Call another method of the distribution in standard form."""
        return function(x, *self.shapes, 0.0, 1.0, name=self.name)

    def density(self, y: Array) -> Array:
        """The density in standard form, which is 0 at infinity, where SciPy may give nan."""
        return np.where(np.isinf(y), 0.0, self.standard(pdf, y))

    def shape(self, k: int) -> Shape:
        """What is known of the k-th shape."""
        shape = self.family.shapes[k]
        if shape is None:
            raise refused(self.name, self.method, parameter_names(self.name)[k])
        return shape

    def slope(self, k: int, y: Array, log_out: Array | None = None) -> Array:
        """Differentiate the distribution function by the k-th shape.

        That of its logarithm if it is given; where that is a survival function's, its negative.
        """
        shape = self.shape(k)
        if shape.move is not None:
            if log_out is None:
                weight = self.density(y)
            else:
                weight = np.exp(self.standard(logpdf, y) - log_out)
            still = np.equal(weight, 0) | at_pole(weight, y)
            return -np.where(still, 0.0, weight * shape.move(y, *self.shapes))
        slope = self.integrated(shape, y) if shape.slope is None else shape.slope(y, *self.shapes)
        if log_out is not None:
            slope = slope * np.exp(-log_out)
        density = self.density(y)
        return np.where(np.equal(density, 0) | at_pole(density, y), 0.0, slope)

    def integrated(self, shape: Shape, y: Array) -> Array:
        """Integrate the derivative of the density by a shape, over the tail that y is in."""
        shapes = [np.expand_dims(each, -1) for each in self.shapes]
        if self.name == "vonmises":
            y = y - 2 * np.pi * np.rint(y / (2 * np.pi))
        y = np.expand_dims(np.broadcast_arrays(y, *self.shapes)[0], -1)
        low, first, middle, third, high = quartiles(*shapes, name=self.name)
        below = np.less(y, middle if self.family.kink is None else self.family.kink(*shapes))
        end = np.where(below, low, high)
        width = np.where(below, first - third, third - first)
        inside = np.greater(y, low) & np.less(y, high)

        def moved(x: Array) -> Array:
            return pdf(x, *shapes, 0.0, 1.0, name=self.name) * shape.score(x, *shapes)

        found = partial_integral(moved, np.where(inside, y, middle), end, width)
        return np.where((below & inside)[..., 0], found, np.where(inside[..., 0], -found, 0.0))


def densities(at: At, position: int, last: int) -> Array:
    """The partials of the density, or of its logarithm."""
    log = at.method == "logpdf"
    y, factor = at.y, 1.0 if log else at.out
    dead = np.equal(at.out, -np.inf if log else 0)
    if 0 < position < last - 1:
        formula = factor * at.shape(position - 1).score(y, *at.shapes)
    else:
        if at.family.score is None:
            raise refused(at.name, at.method, ("x", *parameter_names(at.name))[position])
        score = at.family.score(y, *at.shapes)
        if position == 0:
            formula = factor * score / at.scale
        elif position == last - 1:
            formula = -factor * score / at.scale
        else:
            formula = -factor * (1 + nothing(score, y)) / at.scale
    return held(at.out, dead, formula)


def distribution_functions(at: At, position: int, last: int) -> Array:
    """The partials of the distribution function, the survival function, or of a logarithm."""
    log = at.method.startswith("log")
    sign = -1.0 if at.method.endswith("sf") else 1.0
    y, log_out = at.y, at.out if log else None
    if 0 < position < last - 1:
        formula = at.slope(position - 1, y, log_out)
    else:
        formula = np.exp(at.standard(logpdf, y) - at.out) if log else at.density(y)
        if position == last:
            formula = np.where(at_pole(formula, y), 0.0, nothing(formula, -y))
        formula = (-formula if position == last - 1 else formula) / at.scale
    dead = np.equal(at.out, -np.inf) if log else np.False_
    return held(at.out, dead, sign * formula)


def inverses(at: At, position: int, last: int) -> Array:
    """The partials of the inverse of the distribution function, or of the survival function."""
    if position == last - 1:
        return held(at.out, np.False_, np.ones(np.shape(at.out)))
    sign, function = (1.0, ppf) if at.method == "ppf" else (-1.0, isf)
    y = at.standard(function, at.x)
    if position == last:
        return held(at.out, np.False_, y)
    if position == 0:
        return held(at.out, np.False_, sign * at.scale / at.density(y))
    shape = at.shape(position - 1)
    if shape.move is not None:
        moved = shape.move(y, *at.shapes)
    else:
        moved = -ratio(at.slope(position - 1, y), at.density(y))
    return held(at.out, np.False_, at.scale * moved)


CONTINUOUS_PARTIALS: dict[str, Callable[[At, int, int], Array]] = {
    **dict.fromkeys(("pdf", "logpdf"), densities),
    **dict.fromkeys(("cdf", "sf", "logcdf", "logsf"), distribution_functions),
    **dict.fromkeys(("ppf", "isf"), inverses),
}


def discrete_partial(
    out: Array, k: Array, parameters: Sequence[Array], position: int, name: str, method: str
) -> Array:
    """The partial of a method of a discrete distribution by one of its shapes."""
    *shapes, loc = parameters
    shape = DISCRETE[name].shapes[position - 1] if 0 < position <= len(shapes) else None
    if shape is None:
        raise refused(name, method, ("k", *parameter_names(name))[position])
    k = k - loc
    if method.endswith("pmf"):
        log = method == "logpmf"
        dead = np.equal(out, -np.inf if log else 0)
        score = shape.score(k, *shapes)
        return held(out, dead, score if log else out * score)
    if shape.slope is None:
        formula = accumulated(shape, np.floor(k), shapes, name)
    else:
        formula = shape.slope(np.floor(k), *shapes)
    formula = -formula if method.endswith("sf") else formula
    if not method.startswith("log"):
        return held(out, np.False_, formula)
    return held(out, np.equal(out, -np.inf), formula * np.exp(-out))


def accumulated(shape: Shape, k: Array, shapes: Sequence[Array], name: str) -> Array:
    """Add up the derivatives of the probabilities of all numbers up to k."""
    columns = [np.expand_dims(each, -1) for each in shapes]
    low, high = counted_range(*shapes, name=name)
    numbers = np.arange(low, min(high, np.max(k, initial=low)) + 1)
    if numbers.size > MOST_TERMS:
        raise UnsupportedArgumentError(
            f"scipy.stats.{name}: the derivative at k = {numbers[-1]:g} is a sum of too many terms"
        )
    terms = pmf(numbers, *columns, 0, name=name) * shape.score(numbers, *columns)
    return total(np.less_equal(numbers, np.expand_dims(k, -1)), terms, np.True_)


def makers_of(method: str) -> Makers:
    """Make what makes the partials of a method, of all distributions that have it."""

    def partials(
        positions: Sequence[int], out: Array, *operands: Array, name: str
    ) -> list[Array | None]:
        with np.errstate(all="ignore"):
            x, *parameters = map(in_double, operands)
            if name in DISCRETE:
                if method in ("ppf", "isf"):
                    return [None] * len(positions)
                return [
                    discrete_partial(out, x, parameters, position, name, method)
                    for position in positions
                ]
            *shapes, loc, scale = parameters
            at = At(out, x, shapes, loc, scale, name, method, CONTINUOUS[name])
            last = len(parameters)
            return [CONTINUOUS_PARTIALS[method](at, position, last) for position in positions]

    return partials


def signature(x: Array, *parameters: Array, name: str) -> Call:
    """Tell the operands from the name."""
    return (x, *parameters), {"name": name}


DISTRIBUTIONS: dict[Any, Entry] = {
    function: jointly(makers_of(method), signature=signature, facts=facts.ELEMENTWISE)
    for method, function in METHODS.items()
} | LANDMARKS
"""The rules for the methods of distributions."""
