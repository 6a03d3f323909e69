"""Rules for cumulative sums, products and extrema, and linear recurrences.

A scan ``y[k] = f(y[k-1], x[k])`` is differentiated by the chain rule, as the linear recurrence
``dy[k] = f_1 * dy[k-1] + f_2 * dx[k]``; so nothing need be divided, and any factor of a cumulative
product may be 0. Elements that tie for a running maximum or minimum share its gradient equally.
"""

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from attrs import define

from tape_ad.base.arrays.overridable import overridable, whole
from tape_ad.rules import facts
from tape_ad.rules.base import (
    Call,
    Entry,
    Maker,
    Signature,
    along,
    arguments_of,
    axes_of,
    refuse,
    rule,
    stated,
)
from tape_ad.rules.maps import Array, Chain, LinearMap, Mask, Reshape, Scale, pull_chosen
from tape_ad.rules.maps.patterns import in_order
from tape_ad.rules.numpy.bodies import own
from tape_ad.rules.numpy.continued import all_finite, difference, greatest, least
from tape_ad.rules.numpy.elementwise import nonzero
from tape_ad.rules.numpy.reductions import SMALLEST, as_cast, reaches

Coefficients = Callable[[Array, Array, int], tuple[Array, Array]]
"""``(y, x, axis)`` to what y[k] takes of y[k-1], for k > 0, and what it takes of x[k]."""

BACKWARDS = slice(None, None, -1)

MODERATE = 2.0**60
"""A factor below this, and above its reciprocal, is divided by: what that could make of products
that were too small to be kept is still next to nothing."""


# Linear recurrences


@overridable
def recurrence(a: Array, b: Array, axis: int) -> Array:
    """Solve ``y[0] = b[0]``, ``y[k] = a[k-1] * y[k-1] + b[k]`` along an axis.

    Steps are taken two at a time, and two of those at a time, so it takes O(n) operations in
    O(log n) calls (Blelloch, "Prefix sums and their applications", 1990).

    Parameters
    ----------
    a : array, shape of the last axes of `b` but for n - 1 along `axis`
    b : array, n elements along `axis`
    axis : int
        A negative one.

    Returns
    -------
    array, shape of `b`
    """
    n = b.shape[axis]
    lead = np.broadcast_shapes(a.shape[:axis], b.shape[:axis])
    if lead != b.shape[:axis]:
        b = np.broadcast_to(b, (*lead, *b.shape[axis:]))
    if n < 2:
        return np.copy(b)
    even, odd = along(axis, slice(0, n - 1, 2)), along(axis, slice(1, n, 2))
    later = along(axis, slice(2, n, 2))
    first, second = a[even], a[odd]
    paired = second[along(axis, slice(n // 2 - 1))] * first[along(axis, slice(1, None))]
    at_odd = recurrence(paired, first * b[even] + b[odd], axis)
    y = np.empty(b.shape, at_odd.dtype)
    y[along(axis, 0)] = b[along(axis, 0)]
    y[odd] = at_odd
    y[later] = second * at_odd[along(axis, slice((n - 1) // 2))] + b[later]
    return y


@define(eq=False, repr=False)
class Recurrence:
    """The recurrence with given coefficients, as a map of its right side.

    Parameters
    ----------
    coefficients : array, n - 1 elements along the axis
    axis : int
        A negative one.
    """

    pattern = in_order
    coefficients: Array
    axis: int

    def push(self, t: Array) -> Array:
        """Run the recurrence forwards."""
        return recurrence(self.coefficients, t, self.axis)

    def pull(self, ct: Array) -> Array:
        """Run the recurrence backwards."""
        key = along(self.axis, BACKWARDS)
        return recurrence(self.coefficients.conjugate()[key], ct[key], self.axis)[key]


@define(eq=False, repr=False)
class OfCoefficients:
    """The partial of a recurrence with respect to its coefficients.

    Parameters
    ----------
    coefficients : array, n - 1 elements along the axis
    y : array
        The solution.
    axis : int
        A negative one.
    """

    broadcasts: ClassVar[bool] = True
    pattern = in_order
    coefficients: Array
    y: Array
    axis: int

    def push(self, t: Array) -> Array:
        """Let each change of a coefficient act on the element that it multiplies."""
        right = t * self.y[along(self.axis, slice(-1))]
        shape = list(right.shape)
        shape[self.axis] = 1
        right = np.concatenate((np.zeros(shape, right.dtype), right), axis=self.axis)
        return recurrence(self.coefficients, right, self.axis)

    def pull(self, ct: Array) -> Array:
        """Run backwards, and see what each coefficient has multiplied."""
        cts = Recurrence(self.coefficients, self.axis).pull(ct)
        kept = self.y[along(self.axis, slice(-1))].conjugate()
        return cts[along(self.axis, slice(1, None))] * kept


# Sums


@define(eq=False, repr=False)
class RunningSum:
    """The cumulative sum along an axis, a negative one."""

    pattern = in_order
    axis: int

    def push(self, t: Array) -> Array:
        """Sum from the front."""
        return np.cumsum(t, axis=self.axis)

    def pull(self, ct: Array) -> Array:
        """Sum from the back."""
        return summed_backwards(ct, self.axis)


def summed_backwards(ct: Array, axis: int) -> Array:
    """Sum from the back along an axis, a negative one."""
    key = along(axis, BACKWARDS)
    return np.cumsum(ct[key], axis=axis)[key]


# Products


@define(eq=False, repr=False)
class RunningProduct:
    """The partial of a cumulative product ``y`` along an axis, a negative one.

    What one factor gets is the sum of ``ct * y`` from it on, divided by it, if it is neither too
    small nor too large for that; else the recurrence that divides by nothing is run.
    """

    pattern = in_order
    y: Array
    x: Array
    axis: int

    def recurrence(self) -> LinearMap:
        """Make the map that holds everywhere."""
        carried, taken = of_product(self.y, self.x, self.axis)
        return Chain((Scale(taken), Recurrence(carried, self.axis)))

    def push(self, t: Array) -> Array:
        """Run the recurrence forwards."""
        return self.recurrence().push(t)

    def pull(self, ct: Array) -> Array:
        """Divide what is summed from the back, or run the recurrence backwards."""
        return pulled_through(ct, self)

    def pull_chosen(self, ct: Array) -> Array:
        """Pull a cotangent whose zeros count for nothing."""
        return pull_chosen(self.recurrence(), ct)

    def divided(self, ct: Array) -> Array | None:
        """Pull by division, in double precision, if the result has all its digits."""
        x, y = self.x, self.y
        if x.dtype.char == "f":
            x = x.astype(np.float64)
            y = np.multiply.accumulate(x, axis=self.axis)
        elif x.dtype.char != "d":
            return None
        size = np.abs(x)
        if not (least(size) > 1 / MODERATE and greatest(size) < MODERATE):
            return None
        if not least(np.abs(y)) > SMALLEST:
            return None
        pulled = summed_backwards(ct * y, self.axis) / x
        return pulled.astype(ct.dtype, copy=False) if all_finite(pulled) else None


@whole
def pulled_through(ct: Array, product: RunningProduct) -> Array:
    """Pull through a running product."""
    x, y, pulled = product.x, product.y, None
    if type(ct) is type(x) is np.ndarray and ct.dtype is x.dtype is y.dtype:
        with np.errstate(all="ignore"):
            pulled = product.divided(ct)
    return product.recurrence().pull(ct) if pulled is None else pulled


# Coefficients


def of_product(y: Array, x: Array, axis: int) -> tuple[Array, Array]:
    """y[k] = y[k-1] * x[k]."""
    return x[along(axis, slice(1, None))], starting_with_one(y[along(axis, slice(-1))], axis)


def of_quotient(y: Array, x: Array, axis: int) -> tuple[Array, Array]:
    """y[k] = y[k-1] / x[k]."""
    rest = x[along(axis, slice(1, None))]
    return 1 / rest, starting_with_one(-y[along(axis, slice(1, None))] / rest, axis)


def of_extremum(y: Array, x: Array, axis: int) -> tuple[Array, Array]:
    """The running extremum is what it was, or the new element, or both.

    The number of elements that have tied for it so far is a recurrence too.
    """
    former, latter = along(axis, slice(-1)), along(axis, slice(1, None))
    stayed, reached = np.equal(y[former], y[latter]), reaches(x, y)
    dtype = y.dtype.type().real.dtype
    ties = nonzero(recurrence(stayed.astype(dtype), reached.astype(dtype), axis))
    return stayed * ties[former] / ties[latter], reached / ties


def of_logarithm(exp: Callable[..., Array]) -> Coefficients:
    """y[k] = log(exp(y[k-1]) + exp(x[k])), for one base or another."""

    def coefficients(y: Array, x: Array, axis: int) -> tuple[Array, Array]:
        former, latter = along(axis, slice(-1)), along(axis, slice(1, None))
        return exp(difference(y[former], y[latter])), exp(difference(x, y))

    return coefficients


def starting_with_one(a: Array, axis: int) -> Array:
    """Put a 1 before the first element."""
    shape = list(a.shape)
    shape[axis] = 1
    return np.concatenate((np.ones(shape, a.dtype), a), axis=axis)


# Makers


def scan_partial(coefficients: Coefficients) -> Callable[..., LinearMap]:
    """Make the maker of a scan's partial."""

    def linear(out: Array, x: Array, axis: int) -> LinearMap:
        if out.shape[axis] == 0:
            return RunningSum(axis)
        with np.errstate(all="ignore"):  # at singular points, as in `quiet`
            carried, taken = coefficients(out, as_cast(x, out), axis)
        kept = (Mask(np.not_equal(taken, 0)),) if coefficients is of_extremum else ()
        return Chain((*kept, Scale(taken), Recurrence(carried, axis)))

    return flattening(linear)


def flattening(linear: Callable[[Array, Array, int], LinearMap]) -> Callable[..., LinearMap]:
    """Let a scan without an axis run over all the elements in C order."""

    def partial(out: Array, x: Array, axis: Any, **options: Any) -> LinearMap:
        if axis is None or x.ndim == 0:
            return Chain((Reshape(x.shape, (x.size,)), linear(out, np.ravel(x), -1)))
        return linear(out, x, axes_of(x.ndim, axis)[0])

    return partial


def running_sum(out: Array, x: Array, axis: int) -> LinearMap:
    """Make the partial of a cumulative sum."""
    return RunningSum(axis)


def running_product(out: Array, x: Array, axis: int) -> LinearMap:
    """Make the partial of a cumulative product."""
    return RunningProduct(out, as_cast(x, out), axis) if out.shape[axis] else RunningSum(axis)


def running_difference(out: Array, x: Array, axis: int) -> LinearMap:
    """y[k] = x[0] - x[1] - ... - x[k]."""
    signs = np.full((x.shape[axis], *(1,) * (-axis - 1)), -1, x.dtype.type().real.dtype)
    signs[:1] = 1
    return Chain((Scale(signs), RunningSum(axis)))


def passing_nan(maker: Callable[..., LinearMap], neutral: int) -> Maker:
    """Make the maker of a scan that takes nan for its neutral element."""

    def partial(out: Array, x: Array, **options: Any) -> LinearMap:
        valid = ~np.isnan(x)
        return Chain((Mask(valid), maker(out, np.where(valid, x, neutral), **options)))

    return partial


def accumulate_signature(name: str) -> Signature:
    """Make the signature of ``ufunc.accumulate``."""

    def signature(a: Array, axis: int = 0, dtype: Any = None, out: None = None) -> Call:
        refuse(name, out=out)
        return (a,), {"axis": axis, "dtype": dtype}

    return signature


SUMMED = flattening(running_sum)
MULTIPLIED = flattening(running_product)
ACCUMULATED: dict[np.ufunc, Maker] = {
    np.add: SUMMED,
    np.subtract: flattening(running_difference),
    np.multiply: MULTIPLIED,
    np.divide: scan_partial(of_quotient),
    **dict.fromkeys((np.maximum, np.minimum, np.fmax, np.fmin), scan_partial(of_extremum)),
    np.logaddexp: scan_partial(of_logarithm(np.exp)),
    np.logaddexp2: scan_partial(of_logarithm(np.exp2)),
}

SCANS: dict[Any, Entry] = {
    **stated(
        facts.along(),
        {
            np.cumsum: rule(
                SUMMED, signature=arguments_of(np.cumsum, "a", "axis dtype"), compute=np.cumsum
            ),
            np.cumprod: rule(MULTIPLIED, signature=arguments_of(np.cumprod, "a", "axis dtype")),
            np.nancumsum: rule(
                passing_nan(SUMMED, 0), signature=arguments_of(np.nancumsum, "a", "axis dtype")
            ),
            np.nancumprod: rule(
                passing_nan(MULTIPLIED, 1), signature=arguments_of(np.nancumprod, "a", "axis dtype")
            ),
            **{
                ufunc.accumulate: rule(
                    maker, signature=accumulate_signature(f"{ufunc.__name__}.accumulate")
                )
                for ufunc, maker in ACCUMULATED.items()
            },
        },
    ),
    recurrence: rule(
        lambda out, a, b, axis: OfCoefficients(a, out, axis),
        lambda out, a, b, axis: Recurrence(a, axis),
        signature=arguments_of(recurrence, "a b"),
        facts=facts.depending(
            lambda given: facts.cores("{0},{0}->{0}".format(facts.letters(-given["axis"])))
        ),
    ),
}
if hasattr(np, "cumulative_sum"):  # since NumPy 2.1
    SCANS |= own(np.cumulative_sum, np.cumulative_prod)
