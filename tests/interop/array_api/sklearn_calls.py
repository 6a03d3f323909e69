"""Calls of scikit-learn's functions with its array_api_dispatch, as `scipy_calls` has SciPy's."""

import importlib
from typing import Any

import numpy as np
import pytest

from tests.interop.array_api.scipy_calls import Call, report

sklearn = pytest.importorskip("sklearn")
covariance, decomposition, discriminant_analysis, linear_model = (
    importlib.import_module(f"sklearn.{name}")
    for name in ("covariance", "decomposition", "discriminant_analysis", "linear_model")
)
metrics, mixture, naive_bayes, preprocessing = (
    importlib.import_module(f"sklearn.{name}")
    for name in ("metrics", "mixture", "naive_bayes", "preprocessing")
)

RNG = np.random.default_rng(0)
X = RNG.normal(size=(12, 3)) + 0.1
Y = X @ np.array([1.0, 2.0, -1.0]) + 0.1 * RNG.normal(size=12)
CLASSES = (np.median(Y) < Y).astype(float)


def beside(x: Any, array: Any) -> Any:
    """Make a plain array one of the namespace of another."""
    return x.__array_namespace__().asarray(array)


def scaled(name: str) -> Call:
    """Call a transformer."""
    return Call(name, (X,), lambda x: getattr(preprocessing, name)().fit_transform(x))


def raw(name: str) -> Call:
    """Call a metric of regression; without ``raw_values`` it would end in Python's ``float``."""

    def metric(x: Any) -> Any:
        truth = beside(x, np.abs(Y))
        return getattr(metrics, name)(truth, np.abs(x[:, 0]) + 0.1, multioutput="raw_values")

    return Call(name, (X,), metric)


def fitted(model: Any, target: Any = None) -> Any:
    """Fit a model of a fresh kind to handles."""

    def of(x: Any) -> Any:
        return model().fit(x) if target is None else model().fit(x, beside(x, target))

    return of


def ridge() -> Any:
    return linear_model.Ridge(alpha=0.5, solver="svd")


def components() -> Any:
    return decomposition.PCA(2, svd_solver="full")


def gaussian(x: Any) -> Any:
    """Fit a Gaussian, from given means on, for random ones are other each time."""
    start = {
        "means_init": beside(x, X[:1]),
        "precisions_init": beside(x, np.eye(3)[None]),
        "weights_init": beside(x, np.ones(1)),
    }
    return mixture.GaussianMixture(1, init_params="random", **start).fit(x)


LDA = discriminant_analysis.LinearDiscriminantAnalysis

CALLS = [
    *map(scaled, ("StandardScaler", "MinMaxScaler", "MaxAbsScaler", "Normalizer")),
    Call("PolynomialFeatures", (X,), preprocessing.PolynomialFeatures(2).fit_transform),
    Call(
        "roc_curve", (X,), lambda x: metrics.roc_curve(beside(x, CLASSES > 0) * 1, x[:, 0])[2][1:]
    ),
    *(
        Call(f"pairwise.{name}", (X,), getattr(metrics.pairwise, name))
        for name in (
            *("euclidean_distances", "manhattan_distances", "cosine_distances"),
            *("cosine_similarity", "rbf_kernel", "linear_kernel", "polynomial_kernel"),
            *("sigmoid_kernel", "laplacian_kernel"),
        )
    ),
    *map(
        raw,
        (
            *("mean_squared_error", "mean_absolute_error", "r2_score", "root_mean_squared_error"),
            *("mean_squared_log_error", "mean_absolute_percentage_error"),
            *("explained_variance_score", "mean_pinball_loss"),
        ),
    ),
    Call("Ridge", (X,), lambda x: fitted(ridge, Y)(x).coef_),
    Call("Ridge.predict", (X,), lambda x: fitted(ridge, Y)(x).predict(x)),
    Call("PCA", (X,), lambda x: np.abs(fitted(components)(x).transform(x))),
    Call("PCA variances", (X,), lambda x: fitted(components)(x).explained_variance_),
    Call("LDA", (X,), lambda x: fitted(LDA, CLASSES)(x).decision_function(x)),
    Call("GaussianMixture", (X,), lambda x: gaussian(x).score_samples(x)),
    Call("GaussianNB", (X,), lambda x: fitted(naive_bayes.GaussianNB, CLASSES)(x).theta_),
    Call("empirical_covariance", (X,), covariance.empirical_covariance),
]


if __name__ == "__main__":
    sklearn.set_config(array_api_dispatch=True)
    report(CALLS)
