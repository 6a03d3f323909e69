"""Losses of predicted probabilities and decisions, as formulas in NumPy.

The true labels are plain: they say which probability is meant, and have no derivative.
"""

import importlib
from typing import Any

import numpy as np

from tape_ad.extend.arrays import Array
from tape_ad.interop.sklearn.counterparts import Formula, numbers, of_values
from tape_ad.interop.sklearn.regression import average, undefined

USUAL = ({0}, {-1}, {1}, {0, 1}, {-1, 1})
"""Sets of labels of which 1 is the positive one."""


def binarized(labels: Any, known: Any, negative: int) -> Any:
    """Mark the label of each sample, in a column for each of the labels."""
    binarizer = importlib.import_module("sklearn.preprocessing").LabelBinarizer
    marks = binarizer(neg_label=negative).fit(labels if known is None else known)
    return marks.transform(labels)


def one_hot(labels: Any, known: Any) -> Any:
    """Mark the label of each sample, in two columns or more."""
    marks = binarized(labels, known, 0)
    return np.append(1 - marks, marks, axis=1) if marks.shape[1] == 1 else marks


def positive(labels: Any, label: Any) -> Any:
    """Mark whether each sample has the positive label, in the second of two columns."""
    labels = np.asarray(labels).ravel()
    if label is None:
        usual = labels.dtype.kind not in "OUS" and set(labels.tolist()) in USUAL
        label = 1 if usual else np.unique(labels)[-1]
    marks = (labels == label).astype(int)
    return np.stack([1 - marks, marks], axis=1)


def of_classes(y_proba: Any) -> Array:
    """Give the probabilities of two classes a column each."""
    (proba,) = numbers(y_proba)
    proba = proba[:, None] if proba.ndim == 1 else proba
    return np.concatenate([1 - proba, proba], axis=1) if proba.shape[1] == 1 else proba


def summed_log_losses(marks: Any, proba: Array) -> Array:
    """Compute the loss of each sample, of probabilities that are not quite 0 or 1."""
    eps = np.finfo(proba.dtype).eps
    logs = np.log(np.clip(proba, eps, 1 - eps))
    return -np.sum(np.where(marks == 0, 0, marks * logs), axis=1)


def log_loss(y_true: Any, y_proba: Any, normalize: bool, sample_weight: Any, labels: Any) -> Any:
    """Average the logarithms of the probabilities of the true labels."""
    losses = summed_log_losses(of_values(one_hot, y_true, labels), of_classes(y_proba))
    if normalize:
        return average(losses, sample_weight)
    return np.sum(losses) if sample_weight is None else losses @ numbers(sample_weight)[0]


def d2_log_loss_score(y_true: Any, y_proba: Any, sample_weight: Any, labels: Any) -> Any:
    """Give the share of the loss that is less than that of the labels' frequencies."""
    proba = of_classes(y_proba)
    if len(proba) < 2:
        return undefined(proba)
    marks = of_values(one_hot, y_true, labels)
    frequencies = np.broadcast_to(average(marks, sample_weight), marks.shape)
    ours, whole = (
        average(summed_log_losses(marks, each), sample_weight) for each in (proba, frequencies)
    )
    return 1 - ours / whole


def marks_of(y_true: Any, y_proba: Array, pos_label: Any, labels: Any) -> Any:
    """Mark the true labels, as Brier's score has them."""
    if y_proba.ndim == 1 or y_proba.shape[1] == 1:
        return of_values(positive, y_true, pos_label)
    return of_values(one_hot, y_true, labels)


def brier_score_loss(
    y_true: Any,
    y_proba: Any,
    sample_weight: Any,
    pos_label: Any = None,
    labels: Any = None,
    scale_by_half: Any = "auto",
) -> Any:
    """Average the squares of the distances of the probabilities from the true ones."""
    (proba,) = numbers(y_proba)
    marks, proba = marks_of(y_true, proba, pos_label, labels), of_classes(proba)
    score = average(np.sum((marks - proba) ** 2, axis=1), sample_weight)
    half = proba.shape[1] < 3 if isinstance(scale_by_half, str) else scale_by_half
    return score * 0.5 if half else score


def d2_brier_score(
    y_true: Any, y_proba: Any, sample_weight: Any, pos_label: Any, labels: Any
) -> Any:
    """Give the share of Brier's score that is less than that of the labels' frequencies."""
    (proba,) = numbers(y_proba)
    if len(proba) < 2:
        return undefined(proba)
    marks, proba = marks_of(y_true, proba, pos_label, labels), of_classes(proba)
    ours, whole = (
        average(np.sum((marks - each) ** 2, axis=1), sample_weight)
        for each in (proba, average(marks, sample_weight))
    )
    return 1 - ours / whole


def hinge_loss(y_true: Any, pred_decision: Any, labels: Any, sample_weight: Any) -> Any:
    """Average by how much the decisions stay below a margin of 1."""
    (decision,) = numbers(pred_decision)
    if of_values(count, y_true if labels is None else labels) > 2:
        marks = of_values(binarized, y_true, labels, 0).astype(bool)
        others = np.max(np.where(marks, -np.inf, decision), axis=1)
        margin = np.sum(np.where(marks, decision, 0), axis=1) - others
    else:
        margin = of_values(binarized, y_true, None, -1)[:, 0] * np.ravel(decision)
    return average(np.clip(1 - margin, 0, None), sample_weight)


def count(labels: Any) -> int:
    """Count the distinct labels."""
    return np.unique(labels).size


PROBABILITIES = "y_proba sample_weight"

FORMULAS: dict[str, Formula] = {
    **{
        each.__name__: (each, PROBABILITIES)
        for each in (log_loss, d2_log_loss_score, brier_score_loss, d2_brier_score)
    },
    "hinge_loss": (hinge_loss, "pred_decision sample_weight"),
}
"""The formulas by the names of the losses, each with the arguments that may be handles."""


def discounts(scores: Any, k: Any, ignore_ties: bool) -> Any:
    """Give each document what its gain counts: one over the logarithm of its place from 2 on.

    Parameters
    ----------
    scores : array, shape (samples, documents)
        They decide the places. Those of equal scores share what their places count.
    k : int or None
        From which place on nothing counts.
    ignore_ties : bool
        Whether equal scores have places of their own.
    """
    scores = np.asarray(scores)
    by_place = 1 / np.log(np.arange(scores.shape[1]) + 2)
    if k is not None:
        by_place[k:] = 0
    counts = np.empty(scores.shape)
    for row, each in zip(counts, scores, strict=True):
        row[np.argsort(each)[::-1]] = by_place
        if not ignore_ties:
            _, group, size = np.unique(each, return_inverse=True, return_counts=True)
            row[:] = (np.bincount(group, row) / size)[group]
    return counts


def gains(y_true: Array, scores: Any, k: Any, ignore_ties: bool) -> Array:
    """Sum up the discounted gains of each sample, to the base of the natural logarithm."""
    return np.sum(y_true * of_values(discounts, scores, k, ignore_ties), axis=1)


def dcg_score(
    y_true: Any, y_score: Any, k: Any, log_base: Any, sample_weight: Any, ignore_ties: bool
) -> Any:
    """Compute the mean discounted cumulative gain."""
    (true,) = numbers(y_true)
    return np.log(log_base) * average(gains(true, y_score, k, ignore_ties), sample_weight)


def ndcg_score(y_true: Any, y_score: Any, k: Any, sample_weight: Any, ignore_ties: bool) -> Any:
    """Average the discounted gains as shares of the best that there can be."""
    (true,) = numbers(y_true)
    best = gains(true, true, k, True)
    shares = gains(true, y_score, k, ignore_ties) / np.where(best == 0, 1, best)
    return average(np.where(best == 0, 0, shares), sample_weight)


def auc(x: Any, y: Any) -> Any:
    """Compute the area under a curve, by trapezoids."""
    across, along = numbers(y, x)
    area = np.trapezoid(across, along)
    return -area if np.any(np.diff(along) < 0) else area


FORMULAS |= {
    "auc": (auc, "x y"),
    "dcg_score": (dcg_score, "y_true y_score log_base sample_weight"),
    "ndcg_score": (ndcg_score, "y_true y_score sample_weight"),
}
"""The formulas by the names of the scores, each with the arguments that may be handles."""

CONSTANT = (
    *("accuracy_score", "average_precision_score", "balanced_accuracy_score"),
    *("cohen_kappa_score", "confusion_matrix", "coverage_error", "f1_score", "fbeta_score"),
    *("hamming_loss", "jaccard_score", "label_ranking_average_precision_score"),
    *("label_ranking_loss", "matthews_corrcoef", "multilabel_confusion_matrix"),
    *("precision_score", "recall_score", "roc_auc_score", "top_k_accuracy_score"),
    "zero_one_loss",
)
"""Scores that are piecewise constant in labels and in the scores that they are ranked by."""
