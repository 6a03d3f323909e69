"""Errors and scores of predicted numbers: which of their arguments may be handles.

scikit-learn puts a constant 1 in the place of a share of variance where a prediction is perfect,
which has no curvature, and so these have formulas.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from tape_ad.extend.arrays import Array
from tape_ad.interop.sklearn.counterparts import numbers


def columns(*targets: Any) -> list[Array]:
    """Give targets the axis of outputs, if they have none."""
    return [each[:, None] if each.ndim == 1 else each for each in numbers(*targets)]


def average(errors: Array, weights: Any = None) -> Array:
    """Average over the samples, which are the first axis."""
    if weights is None:
        return np.mean(errors, axis=0)
    (weights,) = numbers(weights)
    weights = weights.reshape(-1, *(1,) * (errors.ndim - 1))
    return np.sum(weights * errors, axis=0) / np.sum(weights)


def of_outputs(scores: Array, multioutput: Any) -> Array:
    """Average over the outputs, unless each is asked for."""
    if isinstance(multioutput, str):
        return scores if multioutput == "raw_values" else np.mean(scores)
    return average(scores, multioutput)


def explained(numerator: Array, denominator: Array, multioutput: Any, force_finite: bool) -> Any:
    """Give one less a ratio, and what scikit-learn gives instead where there is none."""
    there = denominator != 0
    if force_finite:
        ratio = numerator / np.where(there, denominator, 1)
        scores = np.where(there, 1 - ratio, np.where(numerator != 0, 0.0, 1.0))
    else:
        scores = 1 - numerator / denominator
    if isinstance(multioutput, str) and multioutput == "variance_weighted":
        multioutput = denominator if np.any(there) else "uniform_average"
    return of_outputs(scores, multioutput)


def r2_score(
    y_true: Any, y_pred: Any, sample_weight: Any, multioutput: Any, force_finite: bool
) -> Any:
    """Give the share of the variance that is explained."""
    true, pred = columns(y_true, y_pred)
    if len(pred) < 2:
        return np.nan
    rest, total = (
        average((true - each) ** 2, sample_weight) for each in (pred, average(true, sample_weight))
    )
    return explained(rest, total, multioutput, force_finite)


def explained_variance_score(
    y_true: Any, y_pred: Any, sample_weight: Any, multioutput: Any, force_finite: bool
) -> Any:
    """Compute the share of the targets' variance that the predictions explain."""
    true, pred = columns(y_true, y_pred)
    rest, total = (
        average((each - average(each, sample_weight)) ** 2, sample_weight)
        for each in (true - pred, true)
    )
    return explained(rest, total, multioutput, force_finite)


FORMULAS: dict[str, Callable[..., Any]] = {
    "r2_score": r2_score,
    "explained_variance_score": explained_variance_score,
}
"""Scores that are computed otherwise than scikit-learn does."""


TARGETS = "y_true y_pred"
WEIGHTED = f"{TARGETS} sample_weight"
OUTPUTS = f"{WEIGHTED} multioutput"

SMOOTH = {
    "max_error": TARGETS,
    **dict.fromkeys(
        (
            *("mean_absolute_error", "mean_squared_error", "root_mean_squared_error"),
            *("mean_squared_log_error", "root_mean_squared_log_error", "r2_score"),
            *("mean_absolute_percentage_error", "explained_variance_score"),
            *("median_absolute_error", "d2_absolute_error_score"),
        ),
        OUTPUTS,
    ),
    **dict.fromkeys(("mean_pinball_loss", "d2_pinball_score"), f"{OUTPUTS} alpha"),
    **dict.fromkeys(
        (
            *("mean_tweedie_deviance", "mean_poisson_deviance", "mean_gamma_deviance"),
            "d2_tweedie_score",
        ),
        WEIGHTED,
    ),
}
"""The arguments that may be handles, by the names of the scores."""
