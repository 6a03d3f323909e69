"""Gains of rankings, as formulas in NumPy; and the names of scores that only count and sort."""

from typing import Any

import numpy as np

from tape_ad.extend.arrays import Array
from tape_ad.interop.sklearn.counterparts import Formula, numbers, of_values
from tape_ad.interop.sklearn.regression import average

__all__ = ["CONSTANT", "FORMULAS"]


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


FORMULAS: dict[str, Formula] = {
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
