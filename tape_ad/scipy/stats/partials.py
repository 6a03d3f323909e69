"""The partials of the methods of distributions, made of what `families` and `discrete` know.

With f the density, F the distribution function and y = (x - loc) / scale, everything follows from
(log f)' and the derivatives of log f and F by the shape parameters; that of the inverse of F from
the implicit function theorem: dx = (dq - dF) / f. Where the density is 0 nothing moves it, so that
its derivatives are 0 and those of its logarithm, which is -inf, too.
"""

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from attrs import field, frozen

from tape_ad import grad, stop_gradient
from tape_ad.errors import (
    CaptureError,
    ConversionError,
    InPlaceError,
    NoRuleError,
    UnsupportedArgumentError,
)
from tape_ad.extend import facts
from tape_ad.extend.arrays import Array, as_array, is_traced, ratio
from tape_ad.extend.packages import copied_object
from tape_ad.extend.rules import Call, Entry, Makers, jointly
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.stats.continuous import FAMILIES, LINES
from tape_ad.scipy.stats.discrete import COUNTED_LINES, DISCRETE
from tape_ad.scipy.stats.expectations import (
    LANDMARKS,
    MOST_TERMS,
    counted_range,
    has_bounds_that_move,
    partial_integral,
    quartiles,
    total,
)
from tape_ad.scipy.stats.families import DERIVED, PLAIN, Family, Shape
from tape_ad.scipy.stats.methods import METHODS, isf, lines_of, logpdf, pdf, pmf, ppf


def parameter_names(name: str) -> tuple[str, ...]:
    """List the parameters of a distribution: the shapes, loc and, for a continuous one, scale."""
    distribution = getattr(scipy.stats, name)
    shapes = distribution.shapes.split(", ") if distribution.shapes else []
    return (*shapes, "loc", "scale") if name not in DISCRETE else (*shapes, "loc")


def refused(name: str, method: str, argument: str) -> UnsupportedArgumentError:
    """Say that there is no derivative for an argument."""
    return UnsupportedArgumentError(
        f"scipy.stats.{name}.{method} cannot be differentiated with respect to {argument}; pass "
        f"{argument}.data there if it is meant as a constant"
    )


def constant_shapes(name: str) -> list[int]:
    """List the shapes of a distribution that nothing is differentiated by."""
    known = DISCRETE.get(name) or FAMILIES.get(name, PLAIN)
    return [k for k, shape in enumerate(known.shapes) if shape is None]


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
    """slope * y, and 0 where the slope is and y is infinite."""
    return np.where(np.equal(slope, 0) & np.isinf(y), 0.0, slope * y)


def at_pole(density: Array, y: Array) -> Array:
    """Tell where a density is infinite at 0: y times it is 0, and no shape moves the place."""
    return np.isinf(density) & np.equal(y, 0)


@functools.cache
def body_of(name: str, method: str) -> Callable[..., Any] | None:
    """Give what SciPy computes a method with in standard form, on handles.

    None stands for what a distribution leaves to the classes that all have in common.
    """
    lines = LINES.get((name, method)) or COUNTED_LINES.get((name, method))
    if lines is not None:
        return lines
    distribution = getattr(scipy.stats, name)
    general = next(kind for kind in GENERAL if isinstance(distribution, kind))
    own, general = (getattr(kind, f"_{method}") for kind in (type(distribution), general))
    if own is not general:
        return getattr(copied_object(distribution), f"_{method}")  # type: ignore[no-any-return]  # SciPy's
    below = body_of(name, "ppf") if method == "isf" else None
    return below and (lambda q, *shapes: below(1.0 - q, *shapes))  # as those classes have it


INFRASTRUCTURE = scipy.stats._distn_infrastructure
GENERAL = (INFRASTRUCTURE.rv_continuous, INFRASTRUCTURE.rv_discrete)


WITHOUT: set[tuple[str, str, tuple[int, ...]]] = set()
"""The methods whose bodies have no derivative by some operands, as they call what is compiled."""


def slopes_of(
    name: str, method: str, positions: Sequence[int], operands: Sequence[Array]
) -> list[Array] | None:
    """Differentiate a body by some of its operands, element by element; None where it has none."""
    body, key = body_of(name, method), (name, method, tuple(positions))
    if body is None or key in WITHOUT:
        return None
    shape = np.broadcast_shapes(*(x.shape for x in operands))
    # Flat, as SciPy's public methods call it
    flat = [np.reshape(np.broadcast_to(x, shape), -1) for x in operands]
    try:
        slopes = grad(lambda *given: np.sum(body(*given)), key[2])(*flat)
    except (CaptureError, ConversionError, InPlaceError):  # which may come of these operands
        return None
    except (AttributeError, NoRuleError, UnsupportedArgumentError):  # .ctypes is asked for too
        WITHOUT.add(key)
        return None
    return [np.reshape(each, shape) for each in slopes]


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
    wanted : tuple of int
        The positions among the variable and the shapes that something is differentiated by.
    family : Family
        What is known of the distribution beside SciPy's own lines.
    """

    out: Array
    x: Array
    shapes: list[Array]
    loc: Array
    scale: Array
    name: str
    method: str
    wanted: tuple[int, ...]
    family: Family
    found: dict[str, dict[int, Array] | None] = field(factory=dict, init=False)

    @property
    def y(self) -> Array:
        """The variable in standard form."""
        return (self.x - self.loc) / self.scale

    @property
    def certain(self) -> Array:
        """Tell where a probability is 0 or 1, and the variable at an end of the support."""
        return np.equal(self.x, 0) | np.equal(self.x, 1)

    def standard(self, function: Callable[..., Array], x: Array) -> Array:
        """Call another method of the distribution in standard form."""
        place = (0.0,) if self.name in DISCRETE else (0.0, 1.0)
        return function(x, *self.shapes, *place, name=self.name)

    def density(self, y: Array) -> Array:
        """The density in standard form: 0 at infinity, and by its logarithm where it overflows."""
        density = self.standard(pdf, y)
        lost = ~np.isfinite(density) | np.equal(density, 0)
        if is_traced(lost) or np.count_nonzero(lost):
            density = np.where(lost, np.exp(self.standard(logpdf, y)), density)
        return np.where(np.isinf(y), 0.0, density)

    def shape(self, k: int) -> Shape:
        """What is known of the k-th shape."""
        shape = self.family.shapes[k] if k < len(self.family.shapes) else DERIVED
        if shape is None:
            raise refused(self.name, self.method, parameter_names(self.name)[k])
        return shape

    def derived(self, method: str, x: Array, position: int) -> Array | None:
        """Differentiate SciPy's lines for a method by the variable, or by a shape."""
        if method not in self.found:
            still = constant_shapes(self.name)
            positions = [i for i in self.wanted if i - 1 not in still]
            slopes = slopes_of(self.name, method, positions, (x, *self.shapes))
            found = None if slopes is None else dict(zip(positions, slopes, strict=True))
            self.found[method] = found
        slopes_by = self.found[method]
        return slopes_by and slopes_by[position]

    def alive(self, y: Array, dead: Array) -> Array:
        """Put another point where nothing has a derivative, and SciPy's lines may have none."""
        if not is_traced(dead) and not np.count_nonzero(dead):  # no tie decides
            return y
        return np.where(dead, self.inner(), y)

    def ends(self) -> list[Array]:
        """Give the ends of the support, which nothing is differentiated by."""
        ends = copied_object(getattr(scipy.stats, self.name))._get_support(*self.shapes)
        return [stop_gradient(as_array(end).astype(np.float64)) for end in ends]

    def inner(self) -> Array:
        """Give a point of the support, at none of its ends."""
        low, high = self.ends()
        if self.name in DISCRETE:
            return np.where(np.isinf(low), 0.0, low)
        bounded = np.where(np.isinf(high), low + 0.7, low + 0.4 * (high - low))
        return np.where(np.isinf(low), np.where(np.isinf(high), 0.3, high - 0.7), bounded)

    def score(self, y: Array, position: int, dead: Array) -> Array:
        """Differentiate the logarithm of the density, or the density, by variable or shape."""
        log, density = self.method.startswith("log"), pmf if self.name in DISCRETE else pdf
        formula = self.shape(position - 1).score if position else self.family.score
        if formula is not None:
            score = formula(y, *self.shapes)
            return score if log else self.out * score
        y = self.alive(y, dead)
        found = self.derived(f"log{density.__name__}", y, position)
        if found is not None:
            return found if log else self.out * found
        found = self.derived(density.__name__, y, position)
        if found is None:
            raise refused(self.name, self.method, ("x", *parameter_names(self.name))[position])
        return found / (self.standard(density, y) if log else self.scale)

    def weight(self, y: Array) -> tuple[Array, Array]:
        """Give the density, over what the method is the logarithm of, and tell where it is 0."""
        if not self.method.startswith("log"):
            density = self.density(y)
            return density, np.equal(density, 0) | at_pole(density, y)
        logs = self.standard(logpdf, y)
        none = np.equal(logs, -np.inf)
        if body_of(self.name, self.method) is not None:  # which has the slope of what is lost
            none = none & ~(np.isfinite(self.out) & np.less(self.out, FAR))
        return np.exp(logs - self.out), none | at_pole(logs, y)

    def farther(self, slope: Array, y: Array, position: int, still: Array) -> Array:
        """Replace the derivative of a large logarithm, of which a difference has no digits."""
        far = np.less(self.out, FAR) & self.method.startswith("log")
        if not is_traced(far) and not np.count_nonzero(far):
            return slope
        try:
            found = self.derived(self.method, self.alive(y, still), position)
        except CaptureError:  # where SciPy's lines for the ends of the support pick by values
            return slope
        return slope if found is None else np.where(far & ~still, found, slope)

    def slope(self, k: int, y: Array) -> Array:
        """Differentiate a distribution function, or what the method is of it, by the k-th shape."""
        shape = self.shape(k)
        method, sign = self.method, -1.0 if self.method.endswith("sf") else 1.0
        log = method.startswith("log")
        weight, still = self.weight(y)
        if shape.move is not None:
            weight = self.farther(sign * weight, y, 0, still)
            none = still | np.equal(weight, 0)
            return np.where(none, 0.0, -weight * shape.move(y, *self.shapes))
        slope: Array | None = None
        if shape.slope is not None:
            slope = sign * shape.slope(y, *self.shapes)
        elif log and shape.score is None:
            slope = self.derived(method, self.alive(y, still), k + 1)
            log = slope is None
        if slope is None:
            slope = self.tail("sf" if sign < 0 else "cdf", y, k, still)
        if log:
            slope = slope * np.exp(-self.out)
        return self.farther(np.where(still, 0.0, slope), y, k + 1, still)

    def tail(self, method: str, y: Array, k: int, still: Array) -> Array:
        """Differentiate the distribution function, or the survival function, by the k-th shape."""
        other = "cdf" if method == "sf" else "sf"
        if self.shape(k).score is None:
            at = self.alive(y, still)
            for body, sign in ((method, 1.0), (other, -1.0)):
                slope = self.derived(body, at, k + 1)
                if slope is not None:
                    return sign * slope
        slope = self.integrated(y, k)
        return -slope if method == "sf" else slope

    def counted(self, k: int, y: Array) -> Array:
        """Differentiate the distribution function at a whole number by the k-th shape."""
        low, high = self.ends()
        still = np.less(y, low) | np.greater_equal(y, high)
        if self.shape(k).score is None:
            at = np.where(still, self.inner(), y)
            for method, sign in (("cdf", 1.0), ("sf", -1.0)):
                slope = self.derived(method, at, k + 1)
                if slope is not None:
                    return np.where(still, 0.0, sign * slope)
        return self.added(y, k)

    def added(self, y: Array, k: int) -> Array:
        """Add up the derivatives of the probabilities of all numbers up to y by the k-th shape."""
        columns = [np.expand_dims(each, -1) for each in self.shapes]
        low, high = counted_range(*self.shapes, name=self.name)
        numbers = np.arange(low, min(high, np.max(y, initial=low)) + 1)
        if numbers.size > MOST_TERMS:
            raise UnsupportedArgumentError(
                f"scipy.stats.{self.name}: the derivative at k = {numbers[-1]:g} is a sum of too "
                "many terms"
            )
        chances = pmf(numbers, *columns, 0, name=self.name)
        at = At(chances, numbers, columns, LOC, SCALE, self.name, "pmf", (k + 1,), self.family)
        terms = at.score(numbers, k + 1, np.equal(chances, 0))
        return total(np.less_equal(numbers, np.expand_dims(y, -1)), terms, np.True_)

    def moved(self, y: Array, k: int) -> Array:
        """Differentiate the inverse of a distribution function by the k-th shape."""
        shape = self.shape(k)
        if shape.move is not None:
            return shape.move(y, *self.shapes)
        if shape.slope is None and shape.score is None:
            still = self.certain & (not has_bounds_that_move(self.name))
            found = self.derived(self.method, np.where(still, 0.5, self.x), k + 1)
            if found is not None:
                return np.where(still, np.where(np.isinf(y), np.nan, 0.0), found)
        if has_bounds_that_move(self.name):  # beyond which it may be rounded, to a density of 0
            y = np.clip(y, *self.ends())
        density = self.density(y)
        still = np.equal(density, 0) | at_pole(density, y)
        slope = (
            self.tail("cdf", y, k, still) if shape.slope is None else shape.slope(y, *self.shapes)
        )
        return -ratio(np.where(still, 0.0, slope), density)

    def inverse_slope(self, y: Array, sign: float) -> Array:
        """Differentiate the inverse of a distribution function by the probability.

        SciPy's lines for it serve where the density is no number, or is none of the right size.
        """
        by_density = sign / self.density(y)
        lost = np.equal(by_density, 0) | ~np.isfinite(by_density) | (self.name == "tukeylambda")
        if is_traced(lost) or np.count_nonzero(lost):
            found = self.derived(self.method, np.where(self.certain, 0.5, self.x), 0)
            if found is not None:
                return np.where(lost & np.isfinite(found) & ~self.certain, found, by_density)
        return by_density

    def integrated(self, y: Array, k: int) -> Array:
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
            density = pdf(x, *shapes, 0.0, 1.0, name=self.name)
            at = At(density, x, shapes, LOC, SCALE, self.name, "pdf", (k + 1,), self.family)
            return at.score(x, k + 1, np.equal(density, 0))

        found = partial_integral(moved, np.where(inside, y, middle), end, width)
        return np.where((below & inside)[..., 0], found, np.where(inside[..., 0], -found, 0.0))


LOC, SCALE = np.zeros(()), np.ones(())

FAR = -100.0
"""Below which logarithm of a probability its slope is that of SciPy's own lines for it."""


def densities(at: At, position: int, last: int) -> Array:
    """The partials of the density, or of its logarithm."""
    log = at.method == "logpdf"
    dead, y = np.equal(at.out, -np.inf if log else 0), (at.x - at.loc) / at.scale
    score = at.score(y, position if position < last - 1 else 0, dead)
    if position == last:
        score = (1.0 if log else at.out) + nothing(score, y)
    if position >= last - 1:
        score = -score
    if not 0 < position < last - 1:
        score = score / at.scale
    return held(at.out, dead, score)


def distribution_functions(at: At, position: int, last: int) -> Array:
    """The partials of the distribution function, the survival function, or of a logarithm."""
    log = at.method.startswith("log")
    y = at.y
    dead = np.equal(at.out, -np.inf) if log else np.False_
    if 0 < position < last - 1:
        return held(at.out, dead, at.slope(position - 1, y))
    formula, still = at.weight(y)
    sign = -1.0 if at.method.endswith("sf") else 1.0
    formula = at.farther(sign * formula, y, 0, still)
    if position == last:
        formula = np.where(at_pole(formula, y), 0.0, nothing(formula, -y))
    formula = (-formula if position == last - 1 else formula) / at.scale
    return held(at.out, dead, formula)


def inverses(at: At, position: int, last: int) -> Array:
    """The partials of the inverse of the distribution function, or of the survival function."""
    if position == last - 1:
        return held(at.out, np.False_, np.ones(np.shape(at.out)))
    sign, function = (1.0, ppf) if at.method == "ppf" else (-1.0, isf)
    y = at.standard(function, at.x)
    if position == last:
        return held(at.out, np.False_, y)
    if position == 0:
        return held(at.out, np.False_, at.scale * at.inverse_slope(y, sign))
    return held(at.out, np.False_, at.scale * at.moved(y, position - 1))


CONTINUOUS_PARTIALS: dict[str, Callable[[At, int, int], Array]] = {
    **dict.fromkeys(("pdf", "logpdf"), densities),
    **dict.fromkeys(("cdf", "sf", "logcdf", "logsf"), distribution_functions),
    **dict.fromkeys(("ppf", "isf"), inverses),
}


def of_counts(at: At, position: int, last: int) -> Array:
    """The partials of a method of a discrete distribution by one of its shapes."""
    if not 0 < position < last:
        raise refused(at.name, at.method, ("k", *parameter_names(at.name))[position])
    log = at.method.startswith("log")
    dead = np.equal(at.out, -np.inf if log else 0)
    if at.method.endswith("pmf"):
        return held(at.out, dead, at.score(at.y, position, dead))
    slope = at.counted(position - 1, np.floor(at.y))
    slope = -slope if at.method.endswith("sf") else slope
    return held(at.out, dead & log, slope * np.exp(-at.out) if log else slope)


def makers_of(method: str) -> Makers:
    """Make what makes the partials of a method, of all distributions that have it."""

    def partials(
        positions: Sequence[int], out: Array, *operands: Array, name: str
    ) -> list[Array | None]:
        with np.errstate(all="ignore"):
            x, *parameters = map(in_double, operands)
            discrete, last = name in DISCRETE, len(parameters)
            if discrete and method in ("ppf", "isf"):
                return [None] * len(positions)
            family = DISCRETE[name] if discrete else FAMILIES.get(name, PLAIN)
            *shapes, loc, scale = [*parameters, SCALE] if discrete else parameters
            asked = positions if discrete else (0, *positions)
            wanted = tuple(sorted({*asked}.intersection(range(len(shapes) + 1))))
            at = At(out, x, shapes, loc, scale, name, method, wanted, family)
            partial = of_counts if discrete else CONTINUOUS_PARTIALS[method]
            return [partial(at, position, last) for position in positions]

    return partials


def signature(x: Array, *parameters: Array, name: str) -> Call:
    """Tell the operands from the name."""
    return (x, *parameters), {"name": name}


DISTRIBUTIONS: dict[Any, Entry] = {
    function: jointly(
        makers_of(method),
        signature=signature,
        facts=facts.ELEMENTWISE.also(body=None if method in ("ppf", "isf") else lines_of(method)),
    )
    for method, function in METHODS.items()
} | LANDMARKS
"""The rules for the methods of distributions."""
