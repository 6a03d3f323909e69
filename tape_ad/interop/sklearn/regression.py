"""Errors and scores of predicted numbers, as formulas in NumPy."""

import importlib
from typing import Any

import numpy as np

from tape_ad.extend.arrays import Array
from tape_ad.interop.sklearn.counterparts import Formula, numbers, of_values

AVERAGED_QUANTILES = (1, 9)
"""The release of scikit-learn from which on a quantile of targets is one of the weights' steps."""


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


def mean_absolute_error(y_true: Any, y_pred: Any, sample_weight: Any, multioutput: Any) -> Any:
    """Compute the mean absolute error."""
    true, pred = columns(y_true, y_pred)
    return of_outputs(average(np.abs(pred - true), sample_weight), multioutput)


def mean_squared_error(y_true: Any, y_pred: Any, sample_weight: Any, multioutput: Any) -> Any:
    """Average the squares of the distances."""
    true, pred = columns(y_true, y_pred)
    return of_outputs(average((true - pred) ** 2, sample_weight), multioutput)


def root_mean_squared_error(y_true: Any, y_pred: Any, sample_weight: Any, multioutput: Any) -> Any:
    """Take the root of the average of squares, for each output."""
    squares = mean_squared_error(y_true, y_pred, sample_weight, "raw_values")
    return of_outputs(np.sqrt(squares), multioutput)


def mean_squared_log_error(y_true: Any, y_pred: Any, sample_weight: Any, multioutput: Any) -> Any:
    """Average the squares of the distances of the logarithms."""
    true, pred = map(np.log1p, numbers(y_true, y_pred))
    return mean_squared_error(true, pred, sample_weight, multioutput)


def root_mean_squared_log_error(
    y_true: Any, y_pred: Any, sample_weight: Any, multioutput: Any
) -> Any:
    """Take the root of that average."""
    true, pred = map(np.log1p, numbers(y_true, y_pred))
    return root_mean_squared_error(true, pred, sample_weight, multioutput)


def mean_absolute_percentage_error(
    y_true: Any, y_pred: Any, sample_weight: Any, multioutput: Any
) -> Any:
    """Average the distances as shares of the true values."""
    true, pred = columns(y_true, y_pred)
    shares = np.abs(pred - true) / np.maximum(np.abs(true), np.finfo(float).eps)
    return of_outputs(average(shares, sample_weight), multioutput)


def mean_pinball_loss(
    y_true: Any, y_pred: Any, sample_weight: Any, alpha: Any, multioutput: Any
) -> Any:
    """Average the distances, those below weighed by `alpha` and those above by the rest."""
    true, pred = columns(y_true, y_pred)
    distance = true - pred
    losses = np.where(distance >= 0, alpha * distance, (alpha - 1) * distance)
    return of_outputs(average(losses, sample_weight), multioutput)


def max_error(y_true: Any, y_pred: Any) -> Any:
    """Compute the largest absolute difference between targets and predictions."""
    true, pred = columns(y_true, y_pred)
    return np.max(np.abs(true - pred))


# Quantiles, in which the samples that decide are chosen by scikit-learn


def quantile(values: Array, weights: Any, alpha: Any) -> Array:
    """Interpolate between the two values of each output that scikit-learn does, down the samples.

    Parameters
    ----------
    values : array, shape (samples, outputs)
    weights : array, shape (samples,), or None
        It decides where the quantile is, and no more.
    alpha : float or None
        Which; None for the median, as `median_absolute_error` has it.
    """
    low, high, share = of_values(places, values, weights, alpha)
    outputs = np.arange(values.shape[1])
    return (1 - share) * values[low, outputs] + share * values[high, outputs]


def places(values: Any, weights: Any, alpha: Any) -> tuple[Any, Any, Any]:
    """Find between which two samples a quantile is, and how far, by asking for that of ranks."""
    kept = np.arange(len(values)) if weights is None else np.flatnonzero(np.asarray(weights))
    weights = None if weights is None else np.asarray(weights, float)[kept]
    order = np.argsort(values[kept], axis=0, kind="stable")
    ranks = np.argsort(order, axis=0).astype(float)
    at = rank_of_quantile(ranks, weights, alpha)
    low = np.floor(at).astype(int)
    high, outputs = np.minimum(low + 1, len(kept) - 1), np.arange(values.shape[1])
    share = (at - low).astype(np.result_type(values.dtype, np.float16))
    return kept[order[low, outputs]], kept[order[high, outputs]], share


def rank_of_quantile(ranks: Any, weights: Any, alpha: Any) -> Any:
    """Let scikit-learn find the quantile of ranks, which tells where that of values is."""
    sklearn = importlib.import_module("sklearn")
    if alpha is None:
        median = importlib.import_module("sklearn.metrics").median_absolute_error
        return median(ranks, np.zeros_like(ranks), sample_weight=weights, multioutput="raw_values")
    averaged = tuple(map(int, sklearn.__version__.split(".")[:2])) >= AVERAGED_QUANTILES
    if weights is None and not averaged:
        return np.percentile(ranks, 100 * alpha, axis=0)
    percentile = importlib.import_module("sklearn.utils.stats")._weighted_percentile
    weights = np.ones(len(ranks)) if weights is None else weights
    return percentile(ranks, weights, 100 * alpha, **({"average": True} if averaged else {}))


def median_absolute_error(y_true: Any, y_pred: Any, multioutput: Any, sample_weight: Any) -> Any:
    """Find the median of the distances."""
    true, pred = columns(y_true, y_pred)
    return of_outputs(quantile(np.abs(pred - true), sample_weight, None), multioutput)


# Shares of what is explained


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
        return undefined(true, pred)
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


def undefined(*arrays: Array) -> Any:
    """Give nan, and nan for each slope."""
    return np.nan * sum(map(np.sum, arrays))


def d2_pinball_score(
    y_true: Any, y_pred: Any, sample_weight: Any, alpha: Any, multioutput: Any
) -> Any:
    """Give the share of the pinball loss of the quantile that is explained."""
    true, pred = columns(y_true, y_pred)
    if len(pred) < 2:
        return undefined(true, pred)
    middle = np.broadcast_to(quantile(true, sample_weight, alpha), true.shape)
    rest, total = (
        mean_pinball_loss(true, each, sample_weight, alpha, "raw_values") for each in (pred, middle)
    )
    return explained(rest, total, multioutput, True)


def d2_absolute_error_score(y_true: Any, y_pred: Any, sample_weight: Any, multioutput: Any) -> Any:
    """Give the share of the distances to the median that is explained."""
    return d2_pinball_score(y_true, y_pred, sample_weight, 0.5, multioutput)


# Deviances


def deviances(true: Array, pred: Array, power: Any) -> Array:
    """Compute Tweedie's deviance of each sample."""
    if power == 0:
        return (true - pred) ** 2
    if power == 1:
        xlogy = importlib.import_module("scipy.special").xlogy
        return 2 * (xlogy(true, true / pred) - true + pred)
    if power == 2:
        return 2 * (np.log(pred / true) + true / pred - 1)
    base = np.maximum(true, 0) if power < 0 else true
    return 2 * (
        base ** (2 - power) / ((1 - power) * (2 - power))
        - true * pred ** (1 - power) / (1 - power)
        + pred ** (2 - power) / (2 - power)
    )


def mean_tweedie_deviance(y_true: Any, y_pred: Any, sample_weight: Any, power: Any) -> Any:
    """Compute the mean Tweedie deviance."""
    true, pred = columns(y_true, y_pred)
    return average(deviances(true, pred, power), sample_weight)[0]


def mean_poisson_deviance(y_true: Any, y_pred: Any, sample_weight: Any) -> Any:
    """Average the deviances of counts."""
    return mean_tweedie_deviance(y_true, y_pred, sample_weight, 1)


def mean_gamma_deviance(y_true: Any, y_pred: Any, sample_weight: Any) -> Any:
    """Average the deviances of scales."""
    return mean_tweedie_deviance(y_true, y_pred, sample_weight, 2)


def d2_tweedie_score(y_true: Any, y_pred: Any, sample_weight: Any, power: Any) -> Any:
    """Give the share of the deviance from the mean that is explained."""
    true, pred = columns(y_true, y_pred)
    if len(pred) < 2:
        return undefined(true, pred)
    mean = np.broadcast_to(average(true, sample_weight), true.shape)
    ours, whole = (mean_tweedie_deviance(true, each, sample_weight, power) for each in (pred, mean))
    return 1 - ours / whole


TARGETS = "y_true y_pred"
WEIGHTED = f"{TARGETS} sample_weight"
OUTPUTS = f"{WEIGHTED} multioutput"

FORMULAS: dict[str, Formula] = {
    each.__name__: (each, smooth)
    for smooth, group in (
        (TARGETS, (max_error,)),
        (f"{TARGETS} multioutput sample_weight", (median_absolute_error,)),
        (
            OUTPUTS,
            (
                mean_absolute_error,
                mean_squared_error,
                root_mean_squared_error,
                mean_squared_log_error,
                root_mean_squared_log_error,
                mean_absolute_percentage_error,
                r2_score,
                explained_variance_score,
                d2_absolute_error_score,
            ),
        ),
        (f"{OUTPUTS} alpha", (mean_pinball_loss, d2_pinball_score)),
        (
            WEIGHTED,
            (mean_tweedie_deviance, mean_poisson_deviance, mean_gamma_deviance, d2_tweedie_score),
        ),
    )
    for each in group
}
"""The formulas by the names of the scores, each with the arguments that may be handles."""
