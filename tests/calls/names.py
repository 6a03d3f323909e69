"""Which functions are counted: those of SciPy's modules, and what of scikit-learn takes arrays."""

import importlib
from collections.abc import Iterator
from typing import Any

from tape_ad import differentiable

__all__ = ["MODULES", "copied", "named", "ours", "things_of"]

MODULES: dict[str, str | None] = {
    "scipy.fft": "tape_ad.scipy.fft",
    "scipy.integrate": "tape_ad.scipy.integrate",
    "scipy.interpolate": "tape_ad.scipy.interpolate",
    "scipy.linalg": "tape_ad.scipy.linalg",
    "scipy.ndimage": "tape_ad.scipy.ndimage",
    "scipy.optimize": "tape_ad.scipy.optimize",
    "scipy.signal": "tape_ad.scipy.signal",
    "scipy.sparse": "tape_ad.scipy.sparse",
    "scipy.sparse.linalg": "tape_ad.scipy.sparse.linalg",
    "scipy.spatial": "tape_ad.scipy.spatial",
    "scipy.spatial.distance": "tape_ad.scipy.spatial.distance",
    "scipy.spatial.transform": "tape_ad.scipy.spatial.transform",
    "scipy.special": "tape_ad.scipy.special",
    "scipy.stats": "tape_ad.scipy.stats",
    "sklearn": None,
}
"""Each module, and the package that has functions under the same names."""

PACKAGES: dict[str, str | None] = {
    **MODULES,
    "sklearn.metrics": "tape_ad.interop.sklearn",
    "sklearn.metrics.pairwise": "tape_ad.interop.sklearn.pairwise",
}
"""The same of the parts of scikit-learn that have a package."""

SKLEARN: dict[str, str] = {
    "sklearn.decomposition": "PCA",
    "sklearn.discriminant_analysis": "LinearDiscriminantAnalysis",
    "sklearn.linear_model": "Ridge RidgeCV RidgeClassifier RidgeClassifierCV LogisticRegression",
    "sklearn.mixture": "GaussianMixture",
    "sklearn.neighbors": "NearestCentroid",
    "sklearn.naive_bayes": "GaussianNB",
    "sklearn.kernel_approximation": "Nystroem",
    "sklearn.preprocessing": """
        Binarizer FunctionTransformer KernelCenterer LabelBinarizer LabelEncoder MaxAbsScaler
        MinMaxScaler Normalizer PolynomialFeatures SplineTransformer StandardScaler maxabs_scale
        minmax_scale normalize scale binarize
    """,
    "sklearn.metrics": """
        accuracy_score balanced_accuracy_score brier_score_loss cohen_kappa_score confusion_matrix
        d2_absolute_error_score d2_brier_score d2_log_loss_score d2_pinball_score d2_tweedie_score
        det_curve dcg_score explained_variance_score f1_score fbeta_score hamming_loss hinge_loss
        jaccard_score log_loss matthews_corrcoef max_error mean_absolute_error
        mean_absolute_percentage_error mean_gamma_deviance mean_pinball_loss mean_poisson_deviance
        mean_squared_error mean_squared_log_error mean_tweedie_deviance median_absolute_error
        multilabel_confusion_matrix ndcg_score precision_recall_curve precision_score r2_score
        recall_score roc_auc_score roc_curve root_mean_squared_error
        root_mean_squared_log_error zero_one_loss
    """,
    "sklearn.metrics.pairwise": """
        additive_chi2_kernel chi2_kernel cosine_distances cosine_similarity euclidean_distances
        laplacian_kernel linear_kernel manhattan_distances paired_cosine_distances
        paired_euclidean_distances pairwise_distances pairwise_distances_argmin pairwise_kernels
        polynomial_kernel rbf_kernel sigmoid_kernel
    """,
}
"""What scikit-learn's guide lists as taking arrays of other libraries."""


def things_of(module: str) -> Iterator[tuple[str, Any]]:
    """Find the public functions, classes and instances of a module, with their full names."""
    groups = SKLEARN if module == "sklearn" else {module: ""}
    for path, names in groups.items():
        holder = importlib.import_module(path)
        for name in names.split() or sorted(holder.__all__):
            thing = getattr(holder, name, None)
            skipped = isinstance(thing, type) and issubclass(thing, (Warning, Exception))
            if callable(thing) and not skipped:
                yield f"{path}.{name}", thing


def named(name: str) -> Any:
    """Import what has a full name."""
    path, _, last = name.rpartition(".")
    return getattr(importlib.import_module(path), last)


def copied(name: str) -> Any:
    """Give what stands under a name in a module that has been made differentiable."""
    path, _, last = name.rpartition(".")
    return getattr(differentiable(importlib.import_module(path)), last, None)


def ours(name: str) -> Any:
    """Give the function of ours that stands for one of SciPy's; None where there is none."""
    path, _, last = name.rpartition(".")
    package = PACKAGES.get(path)
    return getattr(importlib.import_module(package), last, None) if package else None
