"""Activations and losses that NumPy lacks, each one node, stable for large inputs.

They are functions of real arrays like NumPy's own: plain arrays in, plain arrays out, and recorded
when they meet a handle. `tape_ad.nn` publishes them. The formulas are the usual ones, as in
Goodfellow, Bengio & Courville, *Deep Learning*, chapter 6.
"""

from typing import Any, ClassVar

import numpy as np
from attrs import define

from tape_ad.errors import DtypeError, ShapeError
from tape_ad.linear_maps import Array, LinearMap, WeightedSum, unless_all_zero
from tape_ad.overrides import overridable
from tape_ad.rules.base import Entry, as_array, axes_of, quiet, rule
from tape_ad.rules.signatures import arguments_of

__all__ = [
    "ACTIVATIONS",
    "cross_entropy",
    "log_softmax",
    "logsumexp",
    "relu",
    "sigmoid",
    "softmax",
]

Axis = int | tuple[int, ...] | None


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
    x = real(x, "sigmoid")
    e = np.exp(-np.abs(x))
    return np.where(np.greater_equal(x, 0), 1, e) / (1 + e)


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
    x = real(x, "softmax")
    e = np.exp(x - np.maximum.reduce(x, axis=axis, keepdims=True))
    return e / np.add.reduce(e, axis=axis, keepdims=True)


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
    x = real(x, "log_softmax")
    shifted = x - np.maximum.reduce(x, axis=axis, keepdims=True)
    return shifted - np.log(np.add.reduce(np.exp(shifted), axis=axis, keepdims=True))


@overridable
def cross_entropy(logits: Array, targets: Array, /) -> Array:
    """Average -log(softmax(logits)) of the targets over a batch.

    Parameters
    ----------
    logits : array or Tensor, shape (..., classes)
    targets : array of int, shape (...), or array or Tensor of float, shape (..., classes)
        Class numbers, or a probability for each class. A class of probability 0 contributes 0,
        also where its logit is -inf.

    Returns
    -------
    array or Tensor, shape ()

    Raises
    ------
    ShapeError
        When the shapes do not fit, or the batch is empty.
    IndexError
        When a class number is not one of the classes.

    Examples
    --------
    >>> cross_entropy(np.array([[1e4, -1e4], [0.0, 0.0]]), np.array([0, 1]))
    np.float64(0.34657359027997264)
    """
    return cross_entropy_and_more(logits, targets)[0]


def logsumexp_and_more(x: Array, axis: Axis, keepdims: bool) -> tuple[Array, Any]:
    """Compute logsumexp, and what its partial is made of: exp(x) up to a factor, and its sums."""
    x = real(x, "logsumexp")
    top = np.max(x, axis=axis, keepdims=True)
    top = np.where(np.isfinite(top), top, 0)
    e = np.exp(x - top)
    totals = np.add.reduce(e, axis=axis, keepdims=True)
    with np.errstate(divide="ignore"):  # log(0) is the -inf that is meant
        out = np.log(totals) + top
    return out if keepdims else np.squeeze(out, axis=axis)[()], (e, totals)


def cross_entropy_and_more(logits: Array, targets: Array) -> tuple[Array, Any]:
    """Compute the cross entropy, and what its partials are made of.

    That is log_softmax(logits), or for class numbers exp(logits) up to a factor, its sums, and the
    index of the classes' elements.
    """
    logits, targets = real(logits, "cross_entropy"), real(targets, "cross_entropy")
    size = checked_batch(logits, targets)
    if targets.dtype.kind not in "iu":
        log_p = log_softmax(logits)
        return -np.sum(targets * np.where(targets == 0, 0, log_p)) / size, log_p
    shifted = logits - np.maximum.reduce(logits, axis=-1, keepdims=True)
    e = np.exp(shifted)
    totals = np.add.reduce(e, axis=-1, keepdims=True)
    chosen = places(targets)
    losses = np.log(totals)[..., 0] - shifted[chosen]
    return np.add.reduce(losses, axis=None) / size, (e, totals, chosen)


def real(x: Any, name: str) -> Array:
    """Refuse complex numbers, which have no order and no largest one."""
    x = as_array(x)
    if x.dtype.kind == "c":
        raise DtypeError(
            f"{name} takes real arrays, got one of dtype {x.dtype}; apply it to x.real and x.imag, "
            "or to np.abs(x), whichever is meant"
        )
    return x


def places(targets: Array) -> tuple[Array, ...]:
    """Make the index that picks from each row of logits the one of its class."""
    if targets.ndim == 1:  # what nearly all batches are
        return np.arange(targets.size), targets
    return (*np.indices(targets.shape, sparse=True), targets)


def checked_batch(logits: Array, targets: Array) -> int:
    """Give the number of samples in a batch whose shapes and class numbers fit."""
    by_number = targets.dtype.kind in "iu"
    expected = logits.shape[:-1] if by_number else logits.shape
    if logits.ndim == 0 or targets.shape != expected:
        kind = "class numbers" if by_number else "probabilities"
        raise ShapeError(
            f"cross_entropy: logits of shape {logits.shape} need {kind} of shape {expected}, "
            f"got targets of shape {targets.shape}"
        )
    if logits.size == 0:
        raise ShapeError(f"cross_entropy: the batch of shape {logits.shape} is empty")
    if by_number:
        numbers = targets.astype(np.uint64)  # where a negative one is huge
        if np.maximum.reduce(numbers, axis=None) >= logits.shape[-1]:
            raise IndexError(
                f"cross_entropy: class numbers must lie in 0..{logits.shape[-1] - 1}, "
                f"got {np.min(targets)}..{np.max(targets)}"
            )
    return int(logits.size // logits.shape[-1])


@define(eq=False, repr=False)
class SoftmaxMap:
    """The derivative of softmax, p * (t - sum(p * t)); symmetric."""

    broadcasts: ClassVar[bool] = False
    p: Array
    axes: tuple[int, ...]

    def push(self, t: Array) -> Array:
        weighted = self.p * t
        return weighted - self.p * np.add.reduce(weighted, axis=self.axes, keepdims=True)

    def pull(self, ct: Array) -> Array:
        return self.push(ct)

    def pull_chosen(self, ct: Array) -> Array:
        return unless_all_zero(ct, self.pull(ct), self.axes)


@define(eq=False, repr=False)
class LogSoftmaxMap:
    """The derivative of log_softmax, t - sum(p * t)."""

    broadcasts: ClassVar[bool] = False
    p: Array
    axes: tuple[int, ...]

    def push(self, t: Array) -> Array:
        return t - np.add.reduce(self.p * t, axis=self.axes, keepdims=True)

    def pull(self, ct: Array) -> Array:
        return ct - self.p * np.add.reduce(ct, axis=self.axes, keepdims=True)

    def pull_chosen(self, ct: Array) -> Array:
        return unless_all_zero(ct, self.pull(ct), self.axes)


def logsumexp_partial(saved: Any, x: Array, axis: Axis, keepdims: bool) -> LinearMap:
    """Weigh the sum by softmax(x); by 0 where every element is -inf."""
    weights, totals = saved
    weights = weights / np.where(np.equal(totals, 0), 1, totals)
    return WeightedSum(weights, x.ndim, axes_of(x.ndim, axis), keepdims)


def cross_entropy_logits(saved: Any, logits: Array, targets: Array) -> LinearMap:
    """(softmax(logits) * sum(targets) - targets) / n; a class number stands for a one-hot row."""
    scale = logits.shape[-1] / logits.size
    targets = as_array(targets)
    if targets.dtype.kind in "iu":
        weights, totals, chosen = saved
        weights = weights / totals
        weights[chosen] -= 1
        weights *= scale
    else:
        weights = (np.exp(saved) * np.sum(targets, axis=-1, keepdims=True) - targets) * scale
    return WeightedSum(weights, logits.ndim, axes_of(logits.ndim, None), False)


def cross_entropy_targets(saved: Any, logits: Array, targets: Array) -> LinearMap:
    """-log(softmax(logits)) / n."""
    weights = saved * (-logits.shape[-1] / logits.size)
    return WeightedSum(weights, targets.ndim, axes_of(targets.ndim, None), False)


ACTIVATIONS: dict[Any, Entry] = {
    relu: rule(lambda out, x: np.greater(x, 0)),
    sigmoid: rule(lambda out, x: out * (1 - out)),
    logsumexp: rule(
        quiet(logsumexp_partial),
        signature=arguments_of(logsumexp, "x"),
        compute=logsumexp_and_more,
        saves=True,
    ),
    softmax: rule(
        lambda out, x, axis: SoftmaxMap(out, axes_of(x.ndim, axis)),
        signature=arguments_of(softmax, "x"),
    ),
    log_softmax: rule(
        lambda out, x, axis: LogSoftmaxMap(np.exp(out), axes_of(x.ndim, axis)),
        signature=arguments_of(log_softmax, "x"),
    ),
    cross_entropy: rule(
        cross_entropy_logits,
        cross_entropy_targets,
        compute=cross_entropy_and_more,
        saves=True,
    ),
}
