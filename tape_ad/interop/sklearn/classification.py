"""Losses of predicted probabilities and decisions: which of their arguments may be handles.

The true labels are plain: they say which probability is meant, and have no derivative.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from tape_ad.extend.arrays import Array
from tape_ad.interop.sklearn.counterparts import numbers, of_values


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
    found = gains(true, y_score, k, ignore_ties)
    return np.log(log_base) * np.average(found, weights=sample_weight)


def ndcg_score(y_true: Any, y_score: Any, k: Any, sample_weight: Any, ignore_ties: bool) -> Any:
    """Average the discounted gains as shares of the best that there can be."""
    (true,) = numbers(y_true)
    best = gains(true, true, k, True)
    shares = gains(true, y_score, k, ignore_ties) / np.where(best == 0, 1, best)
    return np.average(np.where(best == 0, 0, shares), weights=sample_weight)


FORMULAS: dict[str, Callable[..., Any]] = {"dcg_score": dcg_score, "ndcg_score": ndcg_score}
"""What is computed otherwise than scikit-learn does, in compiled code or in arrays of its own."""

SMOOTH = {
    "auc": "x y",
    "dcg_score": "y_true y_score log_base sample_weight",
    "ndcg_score": "y_true y_score sample_weight",
    "hinge_loss": "pred_decision sample_weight",
    **dict.fromkeys(
        ("log_loss", "d2_log_loss_score", "brier_score_loss", "d2_brier_score"),
        "y_proba y_prob y_pred sample_weight",
    ),
}
"""The arguments that may be handles, by the names of the scores, in every release."""

CONSTANT = (
    *("accuracy_score", "average_precision_score", "balanced_accuracy_score"),
    *("cohen_kappa_score", "confusion_matrix", "coverage_error", "f1_score", "fbeta_score"),
    *("hamming_loss", "jaccard_score", "label_ranking_average_precision_score"),
    *("label_ranking_loss", "matthews_corrcoef", "multilabel_confusion_matrix"),
    *("precision_score", "recall_score", "roc_auc_score", "top_k_accuracy_score"),
    "zero_one_loss",
)
"""Scores that are piecewise constant in labels and in the scores that they are ranked by."""
