"""Losses, stable for large inputs. Names and default values are PyTorch's.

Where there are classes they are on the last axis; PyTorch has them on the second one.
"""

import math
from typing import Any

import numpy as np

from tape_ad.errors import ShapeError
from tape_ad.extend.arrays import Array, as_array, as_constant, item
from tape_ad.nn.calls import of_two
from tape_ad.nn.stores import check_probability, is_number
from tape_ad.rules.nn import cross_entropies
from tape_ad.rules.nn.activations import floats, inexact, log_softmax, real
from tape_ad.rules.nn.cross_entropies import checked_batch, places
from tape_ad.rules.nn.rectifiers import softplus

__all__ = [
    "binary_cross_entropy_with_logits",
    "cross_entropy",
    "huber_loss",
    "kl_div",
    "l1_loss",
    "mse_loss",
    "nll_loss",
]


@of_two
def cross_entropy(
    logits: Array,
    targets: Array,
    weight: Array | None = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Array:
    """Average -log(softmax(logits)) of the targets over a batch.

    Parameters
    ----------
    logits : array or Tensor, shape (..., classes)
    targets : array of int, shape (...), or array or Tensor of float, shape (..., classes)
        Class numbers, or a probability for each class. A class of probability 0 contributes 0,
        also where its logit is -inf.
    weight : array, shape (classes,), optional
        A weight for each class; the mean is then the weighted one, if the targets are numbers.
    ignore_index : int
        A class number that is left out, and out of the mean.
    reduction : "mean", "sum" or "none"
    label_smoothing : float
        How much of each target is spread evenly over all classes: Szegedy et al.,
        https://arxiv.org/abs/1512.00567, section 7.

    Returns
    -------
    array or Tensor, shape (); shape (...) without a reduction

    Raises
    ------
    ShapeError
        When the shapes do not fit, or there is nothing to take the mean of.
    IndexError
        When a class number is not one of the classes.
    ValueError
        When `label_smoothing` is not between 0 and 1.

    Examples
    --------
    >>> cross_entropy(np.array([[1e4, -1e4], [0.0, 0.0]]), np.array([0, 1]))
    np.float64(0.34657359027997264)
    >>> cross_entropy(np.array([[1e4, -1e4], [0.0, 0.0]]), np.array([0, -100]))
    np.float64(0.0)
    """
    if label_smoothing:
        check_probability("cross_entropy: label_smoothing", label_smoothing)
    targets = as_array(targets)
    numbers = targets.dtype.kind in "iu"
    kept = np.not_equal(targets, ignore_index) if numbers else np.True_
    plain = weight is None and reduction == "mean" and not label_smoothing
    if plain and (not numbers or np.count_nonzero(kept) == kept.size):
        return cross_entropies.cross_entropy(logits, targets)
    logits = real(logits, "cross_entropy")
    if numbers:
        targets = np.where(kept, targets, 0)
    checked_batch(logits, targets)
    classes = logits.shape[-1]
    shares = targets
    if numbers:
        shares = np.equal(targets[..., None], np.arange(classes)).astype(logits.dtype)
    each = np.ones(classes, logits.dtype) if weight is None else weights_of(weight)
    counted = item(each, targets) * kept if numbers else np.ones(targets.shape[:-1], logits.dtype)
    if label_smoothing:
        shares = shares * (1 - label_smoothing) + label_smoothing / classes
    shares = shares * (each * as_constant(kept)[..., None])
    losses = -np.sum(shares * beside(shares, log_softmax(logits)), axis=-1)
    return reduced("cross_entropy", losses, reduction, counted)


@of_two
def nll_loss(
    log_p: Array,
    targets: Array,
    weight: Array | None = None,
    ignore_index: int = -100,
    reduction: str = "mean",
) -> Array:
    """Average the negative log-probability of the targets over a batch.

    Parameters
    ----------
    log_p : array or Tensor, shape (..., classes)
        From `log_softmax`; `cross_entropy` does both in one.
    targets : array of int, shape (...)
        Class numbers.
    weight : array, shape (classes,), optional
        A weight for each class; the mean is then the weighted one.
    ignore_index : int
        A class number that is left out, and out of the mean.
    reduction : "mean", "sum" or "none"

    Returns
    -------
    array or Tensor, shape (); shape (...) without a reduction

    Raises
    ------
    ShapeError, IndexError
        As `cross_entropy`.

    Examples
    --------
    >>> nll_loss(np.log([[0.5, 0.5], [0.25, 0.75]]), np.array([0, 0]), reduction="sum")
    np.float64(2.0794415416798357)
    """
    log_p = floats(log_p, "nll_loss")
    targets = as_constant(targets)
    if targets.dtype.kind not in "iu":
        raise TypeError(f"nll_loss: the targets must be class numbers, got dtype {targets.dtype}")
    kept = np.not_equal(targets, ignore_index)
    targets = np.where(kept, targets, 0)
    checked_batch(log_p, targets)
    each = np.ones(log_p.shape[-1], log_p.dtype) if weight is None else weights_of(weight)
    counted = item(each, targets) * kept
    picked = log_p[places(targets)]
    losses = -counted * np.where(np.equal(counted, 0), 0, picked)
    return reduced("nll_loss", losses, reduction, counted)


@of_two
def binary_cross_entropy_with_logits(
    logits: Array,
    targets: Array,
    weight: Array | None = None,
    reduction: str = "mean",
    pos_weight: Array | None = None,
) -> Array:
    """Average -t * log(sigmoid(x)) - (1 - t) * log(1 - sigmoid(x)) over all elements.

    Parameters
    ----------
    logits : array or Tensor, any shape
    targets : array or Tensor, shape of `logits`
        Probabilities.
    weight : array, optional
        A weight for each element; it broadcasts.
    reduction : "mean", "sum" or "none"
    pos_weight : array, optional
        A weight for the first term; it broadcasts.

    Returns
    -------
    array or Tensor, shape (); the shape of `logits` without a reduction

    Raises
    ------
    ShapeError
        When the shapes differ.

    Examples
    --------
    >>> binary_cross_entropy_with_logits(np.array([1e4, 0.0]), np.array([1.0, 0.0]))
    np.float64(0.34657359027997264)
    """
    name = "binary_cross_entropy_with_logits"
    logits, targets = checked_pair(name, logits, targets)
    positive = targets * softplus(-logits, threshold=math.inf)
    if pos_weight is not None:
        positive = positive * pos_weight
    losses = positive + (1 - targets) * softplus(logits, threshold=math.inf)
    return reduced(name, losses if weight is None else losses * weight, reduction)


@of_two
def mse_loss(x: Array, target: Array, reduction: str = "mean") -> Array:
    """Average (x - target)² over all elements.

    Parameters
    ----------
    x, target : array or Tensor, of one shape
    reduction : "mean", "sum" or "none"

    Returns
    -------
    array or Tensor, shape (); the shape of `x` without a reduction

    Raises
    ------
    ShapeError
        When the shapes differ.

    Examples
    --------
    >>> mse_loss(np.array([1.0, 2.0]), np.array([1.0, 4.0]))
    np.float64(2.0)
    """
    x, target = checked_pair("mse_loss", x, target)
    return reduced("mse_loss", np.square(x - target), reduction)


@of_two
def l1_loss(x: Array, target: Array, reduction: str = "mean") -> Array:
    """Average ``|x - target|`` over all elements; its derivative at 0 is 0.

    Parameters
    ----------
    x, target : array or Tensor, of one shape
    reduction : "mean", "sum" or "none"

    Returns
    -------
    array or Tensor, shape (); the shape of `x` without a reduction

    Raises
    ------
    ShapeError
        When the shapes differ.

    Examples
    --------
    >>> l1_loss(np.array([1.0, 2.0]), np.array([1.0, 4.0]))
    np.float64(1.0)
    """
    x, target = checked_pair("l1_loss", x, target)
    return reduced("l1_loss", np.abs(x - target), reduction)


@of_two
def huber_loss(x: Array, target: Array, reduction: str = "mean", delta: float = 1.0) -> Array:
    """Average d² / 2 with d = ``|x - target|``, or delta * (d - delta / 2) where d is above delta.

    Parameters
    ----------
    x, target : array or Tensor, of one shape
    reduction : "mean", "sum" or "none"
    delta : float
        Where the parabola goes over into a straight line.

    Returns
    -------
    array or Tensor, shape (); the shape of `x` without a reduction

    Raises
    ------
    ShapeError
        When the shapes differ.
    ValueError
        When `delta` is not above 0.

    Notes
    -----
    Huber, "Robust estimation of a location parameter", 1964.

    Examples
    --------
    >>> huber_loss(np.array([1.0, 2.0]), np.array([1.0, 4.0]))
    np.float64(0.75)
    """
    x, target = checked_pair("huber_loss", x, target)
    if not is_number(delta) or not delta > 0:
        raise ValueError(f"huber_loss: delta must be a number above 0, got {delta!r}")
    error = x - target
    bounded = np.clip(error, -delta, delta)  # no magnitude, which has no curvature at 0
    return reduced("huber_loss", bounded * (error - bounded / 2), reduction)


@of_two
def kl_div(log_p: Array, target: Array, reduction: str = "mean", log_target: bool = False) -> Array:
    """Average t * (log(t) - log_p) over all elements: the Kullback-Leibler divergence of t from p.

    Parameters
    ----------
    log_p : array or Tensor, any shape
        Log-probabilities.
    target : array or Tensor, shape of `log_p`
        Probabilities; one of 0 contributes 0.
    reduction : "mean", "batchmean", "sum" or "none"
        The divergence itself is "batchmean", the sum divided by the length of the first axis.
    log_target : bool
        Whether `target` holds logarithms.

    Returns
    -------
    array or Tensor, shape (); the shape of `log_p` without a reduction

    Raises
    ------
    ShapeError
        When the shapes differ.

    Examples
    --------
    >>> kl_div(np.log([0.5, 0.5]), np.array([1.0, 0.0]), reduction="sum")
    np.float64(0.6931471805599453)
    """
    log_p, target = checked_pair("kl_div", log_p, target)
    if log_target:
        losses = np.exp(target) * (target - log_p)
    else:
        log_t = np.log(np.where(np.greater(target, 0), target, 1))
        losses = target * (log_t - beside(target, log_p))
    if reduction == "batchmean":
        return np.sum(losses) / log_p.shape[0]
    return reduced("kl_div", losses, reduction)


def beside(share: Array, log_p: Array) -> Array:
    """Replace -inf by 0 where the share that it is multiplied with is 0."""
    return np.where(np.equal(share, 0) & np.isneginf(log_p), 0, log_p)


def weights_of(weight: Any) -> Array:
    """Take the weights of the classes, which nothing is differentiated by."""
    return inexact(as_constant(weight))


def checked_pair(name: str, x: Any, target: Any) -> tuple[Array, Array]:
    """Refuse two arrays that would broadcast: (n,) beside (n, 1) is hardly ever meant."""
    x, target = floats(x, name), real(target, name)
    if x.shape != target.shape:
        raise ShapeError(
            f"{name}: the input has shape {x.shape}, but the target has {target.shape}; reshape "
            "one of them, or broadcast it with np.broadcast_to if that is meant"
        )
    return x, target


def reduced(name: str, losses: Array, reduction: str, counted: Array | None = None) -> Array:
    """Apply a reduction; `counted` says how much each loss counts in the mean."""
    if reduction == "none":
        return losses
    if reduction == "sum":
        return np.sum(losses)
    if reduction != "mean":
        raise ValueError(f'{name}: reduction must be "mean", "sum" or "none", got {reduction!r}')
    total = losses.size if counted is None else np.sum(counted)
    if not total:
        raise ShapeError(f"{name}: there is nothing to take the mean of, shape {losses.shape}")
    return np.sum(losses) / total
