"""Activations that NumPy lacks, each one node, stable for large inputs.

They are functions of real arrays like NumPy's own: plain arrays in, plain arrays out, and recorded
when they meet a handle. `tape_ad.nn` publishes them. The formulas are the usual ones, as in
Goodfellow, Bengio & Courville, *Deep Learning*, chapter 6.

What several layers take is here too: on plain arrays in the quickest way, on others by NumPy alone.
What each saves stands in docs/performance.md.
"""

from typing import Any, ClassVar

import numpy as np
from attrs import define

from tape_ad.base.arrays.overridable import SYMBOLS, composition, overridable, same_kind
from tape_ad.base.errors import DtypeError
from tape_ad.rules import facts
from tape_ad.rules.base import Entry, arguments_of, as_array, axes_of, quiet, rule
from tape_ad.rules.maps import (
    Array,
    LinearMap,
    Shape,
    add_reduce,
    expanding_key,
    unless_all_zero,
    unless_zero,
)
from tape_ad.rules.maps.patterns import Pattern, along, joined, numbered, pairs, reads, reduced


def spare(array: Array) -> Any:
    """Give a new array of floats to be written over as ``out=``; None if it is of another kind."""
    return array if type(array) is np.ndarray and array.dtype.kind == "f" else None


def highest(x: Array, axis: Any) -> Array:
    """Find the largest elements along axes, which are kept with length one.

    The place of the largest of a row is found in half the time that the largest itself takes.
    """
    last = axis == -1 or axis == x.ndim - 1
    if last and type(x) is np.ndarray and x.ndim > 1 and x.size and x.flags.c_contiguous:
        rows = x.reshape(-1, x.shape[-1])
        return rows[np.arange(len(rows)), rows.argmax(-1)].reshape(*x.shape[:-1], 1)
    return np.maximum.reduce(x, axis=axis, keepdims=True)


@composition
def inner(x: Array, y: Array, axes: tuple[int, ...]) -> Array:
    """Add up products along axes, negative ones, which are kept with length one."""
    if axes == (-1,) and type(x) is type(y) is np.ndarray:
        return np.vecdot(x, y)[..., None]
    return add_reduce(x * y, axis=axes, keepdims=True)


def reach(dtype: np.dtype[Any]) -> float:
    """Say up to where exp(x) does not overflow; beyond it sigmoid(x) is 1, and softplus(x) is x."""
    return 11.0 if dtype.char == "e" else 80.0


def exponential(x: Array) -> Array:
    """Compute exp(x), no further than it can `reach`; there with a slope as well."""
    limit = reach(x.dtype)
    if type(x) is not np.ndarray and type(x) not in SYMBOLS:
        return np.exp(np.where(np.greater(x, limit), limit, x))
    limited = np.minimum(x, limit)
    return np.exp(limited, out=spare(limited))


def replaced(old: Array, mask: Array, new: Any) -> Array:
    """Put `new` where a mask says so: of a plain array in its place, quick for a few places."""
    if type(old) is not np.ndarray or spare(old) is None:
        return np.where(mask, new, old)
    np.copyto(old, new, where=mask)
    return old


def either(mask: Array, one: float, other: float, dtype: np.dtype[Any]) -> Array:
    """Choose between two numbers by a mask, without a branch for each element."""
    if type(mask) is np.ndarray:
        return np.array([other, one], dtype).take(mask.view(np.int8))
    return np.where(mask, dtype.type(one), dtype.type(other))


def logistic_slope(s: Array) -> Array:
    """Differentiate the logistic function, of which s are values: s (1 - s)."""
    rest = 1 - s
    return np.multiply(rest, s, out=spare(rest))


Axis = int | tuple[int, ...] | None


@same_kind
@overridable
def relu(x: Array, /) -> Array:
    """Rectify: max(x, 0), with derivative 0 at the kink.

    Parameters
    ----------
    x : array or Tensor, any shape

    Returns
    -------
    array or Tensor, shape of `x`

    Examples
    --------
    >>> relu(np.array([-1.0, 0.0, 2.0]))
    array([0., 0., 2.])
    """
    x = real(x, "relu")
    if type(x) is np.ndarray and x.ndim and x.dtype == np.float32 and x.flags.c_contiguous:
        out = np.zeros(x.shape, x.dtype)  # NumPy's loop is thrice as quick here as with a number
        return np.maximum(x, out, out=out)
    return np.maximum(x, 0)


@same_kind
@overridable
def sigmoid(x: Array, /) -> Array:
    """Compute the logistic function 1 / (1 + exp(-x)) without overflow.

    Parameters
    ----------
    x : array or Tensor, any shape

    Returns
    -------
    array or Tensor, shape of `x`

    Examples
    --------
    >>> sigmoid(np.array([-1e4, 0.0, 1e4]))
    array([0. , 0.5, 1. ])
    """
    e = exponential(real(x, "sigmoid"))
    return np.divide(e, 1 + e, out=spare(e))


@same_kind
@overridable
def logsumexp(x: Array, /, axis: Axis = None, keepdims: bool = False) -> Array:
    """Compute log(sum(exp(x))) without overflow; -inf where all elements are.

    Parameters
    ----------
    x : array or Tensor, any shape
    axis : int, tuple of int or None
        The axes to reduce; None for all.
    keepdims : bool
        Keep the reduced axes with length one.

    Returns
    -------
    array or Tensor

    Examples
    --------
    >>> logsumexp(np.array([1e4, 1e4]))
    np.float64(10000.69314718056)
    """
    return logsumexp_and_more(x, axis, keepdims)[0]


@same_kind
@overridable
def softmax(x: Array, /, axis: Axis = -1) -> Array:
    """Compute exp(x) / sum(exp(x)) along axes without overflow.

    Parameters
    ----------
    x : array or Tensor, any shape
    axis : int, tuple of int or None
        The axes that sum to one; None for all.

    Returns
    -------
    array or Tensor, shape of `x`

    Examples
    --------
    >>> softmax(np.array([1e4, 1e4, -1e4]))
    array([0.5, 0.5, 0. ])
    """
    x = floats(x, "softmax")
    shifted = x - highest(x, axis)
    e = np.exp(shifted, out=spare(shifted))
    return np.divide(e, add_reduce(e, axis=axis, keepdims=True), out=spare(e))


@same_kind
@overridable
def log_softmax(x: Array, /, axis: Axis = -1) -> Array:
    """Compute log(softmax(x)) along axes, finite also for large inputs.

    Parameters
    ----------
    x : array or Tensor, any shape
    axis : int, tuple of int or None
        The axes that sum to one after `exp`; None for all.

    Returns
    -------
    array or Tensor, shape of `x`

    Examples
    --------
    >>> log_softmax(np.array([1e4, -1e4]))
    array([     0., -20000.])
    """
    x = floats(x, "log_softmax")
    shifted = x - highest(x, axis)
    totals = add_reduce(np.exp(shifted), axis=axis, keepdims=True)
    return np.subtract(shifted, np.log(totals), out=spare(shifted))


def logsumexp_and_more(x: Array, axis: Axis, keepdims: bool) -> tuple[Array, Any]:
    """Compute logsumexp, and what its partial is made of: exp(x) up to a factor, and its sums."""
    out, e, totals = exponentials(floats(x, "logsumexp"), axis, keepdims)
    return out, (e, totals)


@composition
def exponentials(x: Array, axis: Axis, keepdims: bool) -> tuple[Array, Array, Array]:
    """Compute logsumexp, exp(x) up to a factor, and its sums."""
    top = highest(x, axis)
    shifted = x - np.where(np.isfinite(top), top, 0)
    e = np.exp(shifted, out=spare(shifted))
    totals = add_reduce(e, axis=axis, keepdims=True)
    with np.errstate(divide="ignore"):  # log(0) is the -inf that is meant
        out = np.log(totals) + top
    return out if keepdims else np.squeeze(out, axis=axis)[()], e, totals


def real(x: Any, name: str) -> Array:
    """Refuse complex numbers, which have no order and no largest one."""
    x = as_array(x)
    if x.dtype.kind == "c":
        raise DtypeError(
            f"{name} takes real arrays, got one of dtype {x.dtype}; apply it to x.real and x.imag, "
            "or to np.abs(x), whichever is meant"
        )
    return x


def floats(x: Any, name: str) -> Array:
    """Convert integers to floats, and refuse complex numbers."""
    return inexact(real(x, name))


def inexact(x: Array) -> Array:
    """Convert integers and bools to floats, as sums and products of a narrow dtype wrap around."""
    return x if x.dtype.kind in "fc" else x.astype(np.float64)


@define(eq=False, repr=False)
class SoftmaxMap:
    """The derivative of softmax, p * (t - sum(p * t)); symmetric."""

    fresh: ClassVar[bool] = True
    pattern = along("axes")
    p: Array
    axes: tuple[int, ...]

    def push(self, t: Array) -> Array:
        return softmax_change(t, self.p, self.axes)

    pull = push

    def pull_chosen(self, ct: Array) -> Array:
        return unless_all_zero(ct, self.pull(ct), self.axes)


@define(eq=False, repr=False)
class LogSoftmaxMap:
    """The derivative of log_softmax, t - sum(p * t)."""

    fresh: ClassVar[bool] = True
    pattern = along("axes")
    p: Array
    axes: tuple[int, ...]

    def push(self, t: Array) -> Array:
        return log_softmax_change(t, self.p, self.axes)

    def pull(self, ct: Array) -> Array:
        return log_softmax_pulled(ct, self.p, self.axes)

    def pull_chosen(self, ct: Array) -> Array:
        return unless_all_zero(ct, self.pull(ct), self.axes)


@define(eq=False, repr=False)
class LogSumExpMap:
    """The derivative of logsumexp, sum(e * t) / totals, where e / totals is the softmax."""

    fresh: ClassVar[bool] = True
    pattern = reduced
    e: Array
    totals: Array
    axes: tuple[int, ...]
    keepdims: bool

    def push(self, t: Array) -> Array:
        mean = inner(self.e, t, self.axes) / self.totals
        return mean if self.keepdims else np.squeeze(mean, axis=self.axes)

    def pull(self, ct: Array) -> Array:
        return self._expanded(ct) / self.totals * self.e

    def pull_chosen(self, ct: Array) -> Array:
        return unless_zero(self._expanded(ct), self.pull(ct))

    def _expanded(self, ct: Array) -> Array:
        plain = self.keepdims or not ct.ndim
        return ct if plain else ct[expanding_key(self.e.ndim, self.axes)]


@composition
def softmax_change(t: Array, p: Array, axes: tuple[int, ...]) -> Array:
    """Push a tangent through softmax, p."""
    rest = t - inner(p, t, axes)
    return np.multiply(rest, p, out=spare(rest))


@composition
def log_softmax_change(t: Array, p: Array, axes: tuple[int, ...]) -> Array:
    """Push a tangent through the logarithm of softmax, p."""
    return t - inner(p, t, axes)


@composition
def log_softmax_pulled(ct: Array, p: Array, axes: tuple[int, ...]) -> Array:
    """Pull a cotangent through the logarithm of softmax, p."""
    shared = p * add_reduce(ct, axis=axes, keepdims=True)
    return np.subtract(ct, shared, out=spare(shared))


def blocks(x: Array, count: int, axis: int = -1) -> tuple[Array, ...]:
    """Cut an axis, a negative one, into parts of equal length."""
    n, behind = x.shape[axis] // count, (slice(None),) * (-axis - 1)
    return tuple([x[(..., slice(i * n, (i + 1) * n), *behind)] for i in range(count)])


@define(eq=False, repr=False)
class Blocks:
    """The sum of the parent's blocks on one axis, each times a factor; None stands for 0.

    Parameters
    ----------
    factors : tuple of array or None, of which each has the shape of the node
    axis : int
        Negative.
    """

    fresh: ClassVar[bool] = True
    factors: tuple[Array | None, ...]
    axis: int = -1

    @reads("factors", "axis")
    def pattern(self, parent: Shape, node: Shape) -> Pattern:
        """Tell which elements depend on which."""
        parts = blocks(numbered(parent), len(self.factors), self.axis)
        pairs_of = zip(self.factors, parts, strict=True)
        used = [part for factor, part in pairs_of if factor is not None]
        return joined(pairs(np.broadcast_to(part, node)) for part in used)

    def push(self, t: Array) -> Array:
        parts = zip(self.factors, blocks(t, len(self.factors), self.axis), strict=True)
        first, *others = [factor * part for factor, part in parts if factor is not None]
        return sum(others, first)

    def pull(self, ct: Array) -> Array:
        parts = [np.zeros_like(ct) if each is None else ct * each for each in self.factors]
        return np.concatenate(parts, self.axis)

    def pull_chosen(self, ct: Array) -> Array:
        return unless_zero(np.concatenate([ct] * len(self.factors), self.axis), self.pull(ct))


def logsumexp_partial(saved: Any, x: Array, axis: Axis, keepdims: bool) -> LinearMap:
    """Weigh the sum by softmax(x); by 0 where every element is -inf."""
    e, totals = saved
    totals = np.where(np.equal(totals, 0), 1, totals)
    return LogSumExpMap(e, totals, axes_of(x.ndim, axis), keepdims)


ACTIVATIONS: dict[Any, Entry] = {
    relu: rule(lambda out, x: np.greater(x, 0), facts=facts.ELEMENTWISE.composed_of(relu)),
    sigmoid: rule(lambda out, x: logistic_slope(out), facts=facts.ELEMENTWISE.composed_of(sigmoid)),
    logsumexp: rule(
        quiet(logsumexp_partial),
        signature=arguments_of(logsumexp, "x"),
        compute=logsumexp_and_more,
        saves=True,
        facts=facts.along(none="all").composed_of(logsumexp),
    ),
    softmax: rule(
        lambda out, x, axis: SoftmaxMap(out, axes_of(x.ndim, axis)),
        signature=arguments_of(softmax, "x"),
        facts=facts.along(none="all").composed_of(softmax),
    ),
    log_softmax: rule(
        lambda out, x, axis: LogSoftmaxMap(np.exp(out), axes_of(x.ndim, axis)),
        signature=arguments_of(log_softmax, "x"),
        facts=facts.along(none="all").composed_of(log_softmax),
    ),
}
