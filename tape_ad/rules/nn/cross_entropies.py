"""Cross-entropy, as one node that is stable for large inputs."""

from typing import Any, ClassVar

import numpy as np
from attrs import define

from tape_ad.base.arrays.overridable import SYMBOLS, anywhere, composition, is_later, overridable
from tape_ad.base.errors import ShapeError
from tape_ad.rules import facts
from tape_ad.rules.base import Entry, as_array, axes_of, rule
from tape_ad.rules.maps import Array, LinearMap, WeightedSum, add_reduce, unless_zero
from tape_ad.rules.maps.patterns import dense
from tape_ad.rules.nn.activations import floats, highest, inner, log_softmax, real, spare


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


def cross_entropy_and_more(logits: Array, targets: Array) -> tuple[Array, Any]:
    """Compute the cross entropy, and what its partials are made of.

    That is log_softmax(logits), or for class numbers exp(logits) up to a factor, its sums, and the
    index of the classes' elements.
    """
    logits, targets = floats(logits, "cross_entropy"), real(targets, "cross_entropy")
    size = checked_batch(logits, targets)
    if targets.dtype.kind not in "iu":
        log_p = log_softmax(logits)
        return -np.sum(targets * np.where(targets == 0, 0, log_p)) / size, log_p
    chosen = places(targets)
    loss, e, totals = loss_of_classes(logits, chosen, size)
    return loss, (e, totals, chosen)


@composition
def loss_of_classes(
    logits: Array, chosen: tuple[Array, ...], size: int
) -> tuple[Array, Array, Array]:
    """Compute the cross entropy for class numbers, exp(logits) up to a factor, and its sums."""
    shifted = logits - highest(logits, -1)
    picked = picked_from(shifted, chosen)
    e = np.exp(shifted, out=spare(shifted))
    totals = add_reduce(e, axis=-1, keepdims=True)
    losses = np.log(totals)[..., 0] - picked
    return add_reduce(losses, axis=None) / size, e, totals


def picked_from(rows: Array, chosen: tuple[Array, ...]) -> Array:
    """Pick from each row the element of its class; a compiler marks it, and needs no gather."""
    if type(rows) not in SYMBOLS:
        return rows[(..., *chosen)]
    return add_reduce(np.where(one_hot(chosen, rows.shape[-1]), rows, 0), axis=-1)


def one_hot(chosen: tuple[Array, ...], classes: int) -> Array:
    """Mark in each row the element of its class."""
    return np.equal(chosen[-1][..., None], np.arange(classes))


def places(targets: Array) -> tuple[Array, ...]:
    """Make the index that picks from each row of logits the one of its class, as a copy."""
    if targets.ndim == 1:  # what nearly all batches are
        return np.arange(targets.size), targets
    if isinstance(targets, np.generic):  # at which an array has a view
        targets = np.asarray(targets)
    return (*np.indices(targets.shape, sparse=True), targets)


def checked_batch(logits: Array, targets: Array) -> int:
    """Give the number of samples in a batch whose shapes and class numbers fit."""
    by_number = targets.dtype.kind in "iu"
    expected = logits.shape[:-1] if by_number else logits.shape
    if logits.ndim == 0 or targets.shape != expected:
        kind = "class numbers" if by_number else "probabilities"
        whole = not by_number and targets.shape == logits.shape[:-1]
        remedy = "; write targets.astype(int) if these are class numbers" if whole else ""
        raise ShapeError(
            f"cross_entropy: logits of shape {logits.shape} need {kind} of shape {expected}, "
            f"got targets of shape {targets.shape}{remedy}"
        )
    if logits.size == 0:
        raise ShapeError(f"cross_entropy: the batch of shape {logits.shape} is empty")
    if by_number:
        numbers = targets.astype(np.uint64)  # where a negative one is huge
        beyond = np.maximum.reduce(numbers, axis=None) >= logits.shape[-1]
        if not is_later(beyond) and anywhere(beyond):
            raise IndexError(
                f"cross_entropy: class numbers must lie in 0..{logits.shape[-1] - 1}, "
                f"got {np.min(targets)}..{np.max(targets)}"
            )
    return int(logits.size // logits.shape[-1])


@define(eq=False, repr=False)
class CrossEntropyMap:
    """The derivative for class numbers, the sum of (softmax - one-hot rows) * t, times a number."""

    fresh: ClassVar[bool] = True
    pattern = dense
    e: Array
    totals: Array
    chosen: tuple[Array, ...]
    scale: float

    def push(self, t: Array) -> Array:
        return loss_change(t, self.e, self.totals, self.chosen, self.scale)

    def pull(self, ct: Array) -> Array:
        return loss_pulled(ct, self.e, self.totals, self.chosen, self.scale)

    def pull_chosen(self, ct: Array) -> Array:
        return unless_zero(np.reshape(ct, ct.shape + (1,) * self.e.ndim), self.pull(ct))


@composition
def loss_change(
    t: Array, e: Array, totals: Array, chosen: tuple[Array, ...], scale: float
) -> Array:
    """Push a tangent through `loss_of_classes`."""
    differences = (inner(e, t, (-1,)) / totals)[..., 0] - picked_from(t, chosen)
    return add_reduce(differences, axis=tuple(range(1 - e.ndim, 0))) * scale


@composition
def loss_pulled(
    ct: Array, e: Array, totals: Array, chosen: tuple[Array, ...], scale: float
) -> Array:
    """Pull a cotangent through `loss_of_classes`."""
    ct = np.reshape(ct, ct.shape + (1,) * e.ndim) * scale
    pulled = ct / totals * e
    if is_later(pulled) or type(pulled) in SYMBOLS:  # nobody writes to what is computed later
        return pulled - np.where(one_hot(chosen, e.shape[-1]), ct, 0)
    pulled[(..., *chosen)] -= ct[..., 0]
    return pulled


def cross_entropy_logits(saved: Any, logits: Array, targets: Array) -> LinearMap:
    """(softmax(logits) * sum(targets) - targets) / n; a class number stands for a one-hot row."""
    scale = logits.shape[-1] / logits.size
    targets = as_array(targets)
    if targets.dtype.kind in "iu":
        e, totals, (*rows, numbers) = saved
        chosen = (*rows, numbers.copy())  # whose array the next batch may be put into
        return CrossEntropyMap(e, totals, chosen, scale)
    weights = (np.exp(saved) * np.sum(targets, axis=-1, keepdims=True) - targets) * scale
    return WeightedSum(weights, logits.ndim, axes_of(logits.ndim, None), False)


def cross_entropy_targets(saved: Any, logits: Array, targets: Array) -> LinearMap:
    """The derivative by the targets: -log(softmax(logits)) / n."""
    weights = saved * (-logits.shape[-1] / logits.size)
    return WeightedSum(weights, targets.ndim, axes_of(targets.ndim, None), False)


CROSS_ENTROPY: dict[Any, Entry] = {
    cross_entropy: rule(
        cross_entropy_logits,
        cross_entropy_targets,
        compute=cross_entropy_and_more,
        saves=True,
        facts=facts.composed(cross_entropy),
    ),
}
