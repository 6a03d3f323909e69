"""scikit-learn's estimators and functions on handles, compared with differences of themselves.

python -m tests.calls.estimators

A process of its own, for SciPy has to be imported with SCIPY_ARRAY_API=1. It prints a line of JSON
for each: the name, what came of it, and by how much it is off.
"""

import json
import os
import warnings
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np
import sklearn
from sklearn import discriminant_analysis, linear_model, mixture, preprocessing
from sklearn import metrics as scores
from sklearn.decomposition import PCA
from sklearn.kernel_approximation import Nystroem
from sklearn.metrics import pairwise
from sklearn.pipeline import make_pipeline

import tape_ad as ta

__all__ = ["RIGHT", "judged"]

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(12, 3)), RNG.normal(size=(5, 3))
TARGET = X @ [1.0, 2.0, -1.0] + 0.1 * RNG.normal(size=12)
LABELS = np.arange(12) % 3 % 2
POSITIVE = np.abs(TARGET) + 0.1
GUESS = 1.3 * POSITIVE + 0.1 * X[:, 0] ** 2

Call = Callable[[Any, Callable[[Any], Any]], Any]
"""What is tried: of the argument, and of what makes constants in its namespace."""

SCALERS = {
    "StandardScaler": preprocessing.StandardScaler(),
    "MinMaxScaler": preprocessing.MinMaxScaler(),
    "MaxAbsScaler": preprocessing.MaxAbsScaler(),
    "Normalizer l1": preprocessing.Normalizer("l1"),
    "Normalizer l2": preprocessing.Normalizer("l2"),
    "Normalizer max": preprocessing.Normalizer("max"),
    "PolynomialFeatures": preprocessing.PolynomialFeatures(2),
    "FunctionTransformer": preprocessing.FunctionTransformer(),
    "Binarizer": preprocessing.Binarizer(),
    "Nystroem": Nystroem(n_components=3, random_state=0),
}
PROJECTIONS = {
    "PCA full": PCA(2, svd_solver="full"),
    "PCA covariance_eigh": PCA(2, svd_solver="covariance_eigh"),
    "PCA randomized": PCA(2, svd_solver="randomized", random_state=0),
    "PCA whitened": PCA(2, svd_solver="full", whiten=True),
}
KERNELS = (
    *("additive_chi2_kernel", "chi2_kernel", "cosine_distances", "cosine_similarity"),
    *("euclidean_distances", "laplacian_kernel", "linear_kernel", "manhattan_distances"),
    *("polynomial_kernel", "rbf_kernel", "sigmoid_kernel"),
)
ERRORS = (
    *("d2_absolute_error_score", "d2_pinball_score", "explained_variance_score"),
    *("mean_absolute_error", "mean_absolute_percentage_error", "mean_pinball_loss"),
    *("mean_squared_error", "mean_squared_log_error", "r2_score"),
    *("root_mean_squared_error", "root_mean_squared_log_error"),
)


def fitted(estimator: Any, method: str, *targets: Any) -> Call:
    """Fit an estimator to the argument, and call a method of it with the same."""

    def call(x: Any, constant: Any) -> Any:
        own = sklearn.base.clone(estimator).fit(x, *map(constant, targets))
        return getattr(own, method)(x)

    return call


def ridge(x: Any, constant: Any, **given: Any) -> Any:
    """Fit a Ridge to what stands in place of the argument, and give its coefficients."""
    weights = given.pop("weights", None)
    model = linear_model.Ridge(solver="svd", **given)
    return model.fit(x, constant(TARGET), sample_weight=weights).coef_


def scored(name: str) -> Call:
    """Score a prediction for each output, as an array."""
    score = getattr(scores, name)
    return lambda t, k: score(k(POSITIVE[:, None]), t, multioutput="raw_values")


def beside(name: str, others: Any) -> Call:
    """Compare the argument with other points."""
    return lambda t, k: getattr(pairwise, name)(t, k(others)) ** 2


LDA = discriminant_analysis.LinearDiscriminantAnalysis()
MIXTURES = {
    kind: mixture.GaussianMixture(
        2, covariance_type=kind, init_params="random", random_state=0, max_iter=3
    )
    for kind in ("full", "tied", "diag", "spherical")
}

RIGHT: Mapping[str, tuple[Call, Any]] = {
    **{name: (fitted(scaler, "transform"), X) for name, scaler in SCALERS.items()},
    "KernelCenterer": (fitted(preprocessing.KernelCenterer(), "transform"), X @ X.T),
    "maxabs_scale": (lambda t, k: preprocessing.maxabs_scale(t), X),
    "minmax_scale": (lambda t, k: preprocessing.minmax_scale(t), X),
    "normalize": (lambda t, k: preprocessing.normalize(t), X),
    **{
        f"{name}, {method}": (fitted(projection, method), X)
        for name, projection in PROJECTIONS.items()
        for method in ("transform", "score_samples")
    },
    "Ridge": (fitted(linear_model.Ridge(solver="svd"), "predict", TARGET), X),
    "Ridge, target": (lambda t, k: ridge(k(X), lambda _: t), TARGET),
    "Ridge, alpha": (lambda t, k: ridge(k(X), k, alpha=t), np.array(0.5)),
    "Ridge, weights": (lambda t, k: ridge(k(X), k, weights=t), POSITIVE),
    "RidgeCV": (fitted(linear_model.RidgeCV(), "predict", TARGET), X),
    "RidgeClassifier": (
        fitted(linear_model.RidgeClassifier(solver="svd"), "decision_function", LABELS),
        X,
    ),
    **{
        f"LinearDiscriminantAnalysis, {method}": (fitted(LDA, method, LABELS), X)
        for method in ("transform", "decision_function", "predict_proba", "predict_log_proba")
    },
    **{
        f"GaussianMixture {kind}, {method}": (fitted(model, method), X)
        for kind, model in MIXTURES.items()
        for method in ("score_samples", "predict_proba")
    },
    **{name: (beside(name, np.abs(Y)), np.abs(X)) for name in KERNELS},
    **{
        name: (beside(name, X[::-1].copy()), X)
        for name in ("paired_cosine_distances", "paired_euclidean_distances")
    },
    "pairwise_distances": (beside("pairwise_distances", Y), X),
    "pairwise_kernels": (
        lambda t, k: pairwise.pairwise_kernels(t, k(Y), metric="rbf"),
        X,
    ),
    **{name: (scored(name), GUESS[:, None]) for name in ERRORS},
    "a pipeline": (
        fitted(
            make_pipeline(preprocessing.StandardScaler(), PCA(2), linear_model.Ridge(solver="svd")),
            "predict",
            TARGET,
        ),
        X,
    ),
}
"""What keeps the gradient: the call, and the point to try it at."""

REFUSED: Mapping[str, tuple[Call, Any]] = {
    "mean_squared_error": (lambda t, k: scores.mean_squared_error(k(POSITIVE), t), GUESS),
    "log_loss": (lambda t, k: scores.log_loss(k(LABELS), t), 1 / (1 + np.exp(-TARGET))),
    "hinge_loss": (lambda t, k: scores.hinge_loss(k(LABELS), t), TARGET),
    "RobustScaler": (fitted(preprocessing.RobustScaler(), "transform"), X),
    "LinearRegression": (fitted(linear_model.LinearRegression(), "predict", TARGET), X),
}
"""What gives a Python number, or is not written for other arrays than NumPy's."""


def judged(call: Call, x: Any) -> dict[str, Any]:
    """Compare the gradient of a random projection with a difference, along a random direction."""
    handle = ta.ComputationRecord().tensor(x)
    try:
        out = call(handle, ta.interop.array_api.asarray)
    except Exception as error:
        return {"error": type(error).__name__, "text": str(error)}
    rng = np.random.default_rng(1)
    weights, direction, h = rng.normal(size=out.shape), rng.normal(size=np.shape(x)), 1e-5
    plain = call(x, lambda constant: constant)
    total: Any = np.sum(weights * out)
    if isinstance(total, ta.Tensor) and getattr(total, "record", None) is handle.record:
        slope = float(np.sum(total.grad().wrt(handle) * direction))
    else:
        slope = 0.0
    up, down = (call(x + s * h * direction, lambda constant: constant) for s in (1, -1))
    expected = float(np.sum(weights * (up - down)) / (2 * h))
    return {
        "slope": slope,
        "expected": expected,
        "value": float(np.max(np.abs(out.data - plain), initial=0.0)),
    }


def all_of(table: Mapping[str, tuple[Call, Any]]) -> Iterator[dict[str, Any]]:
    for name, (call, x) in table.items():
        yield {"name": name, **judged(call, x)}


def main() -> None:
    assert os.environ.get("SCIPY_ARRAY_API") == "1"
    tell = partial(print, flush=True)
    with sklearn.config_context(array_api_dispatch=True), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for line in all_of(RIGHT):
            tell(json.dumps({"kind": "right", **line}))
        for line in all_of(REFUSED):
            tell(json.dumps({"kind": "refused", **line}))


if __name__ == "__main__":
    main()
