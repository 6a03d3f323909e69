"""scikit-learn's scores and distances on handles, compared with itself and with differences."""

import inspect
from typing import Any

import numpy as np
import pytest
from attrs import evolve, frozen

import tape_ad as ta
from tape_ad.errors import ConversionError, UnsupportedArgumentError
from tape_ad.interop import sklearn
from tape_ad.interop.sklearn import pairwise

theirs = pytest.importorskip("sklearn.metrics")

RNG = np.random.default_rng(0)
ONE, TWO = RNG.uniform(0.3, 2, (6,)), RNG.uniform(0.3, 2, (6,))
WIDE, BROAD = RNG.uniform(0.3, 2, (6, 2)), RNG.uniform(0.3, 2, (6, 2))
WEIGHTS = RNG.uniform(0.5, 2, 6)
OUTPUTS = np.array([0.3, 0.9])
BINARY, LETTERS = np.array([0, 1, 1, 0, 1, 0]), np.array(list("abcabc"))
HALF = RNG.uniform(0.1, 0.9, 6)
THIRDS = RNG.dirichlet([2, 2, 2], 6)
SCORES = np.array([[0.3, 0.1, 0.3, 0.9], [0.2, 0.7, 0.5, 0.6]])
GAINS = RNG.uniform(0.1, 3, (2, 4))


@frozen(eq=False)
class Case:
    """A call, and which of its arguments it is smooth in."""

    name: str
    given: dict[str, Any]
    smooth: tuple[str, ...]
    module: Any = sklearn

    def __str__(self) -> str:
        options = (f"{k}={v}" for k, v in self.given.items() if np.ndim(v) == 0)
        return ",".join((self.name, *options, *self.smooth))

    @property
    def theirs(self) -> Any:
        home = theirs if self.module is sklearn else theirs.pairwise
        return getattr(home, self.name)

    def call(self, **values: Any) -> Any:
        return getattr(self.module, self.name)(**(self.given | values))

    @property
    def is_there(self) -> bool:
        """Tell whether the installed release has the function, and the arguments."""
        home = theirs if self.module is sklearn else theirs.pairwise
        if not hasattr(home, self.name):
            return False
        parameters = inspect.signature(self.theirs).parameters
        several = np.ndim(self.given.get("y_proba", 0)) < 2 or self.name in MANY_CLASSES
        return several and ("metric" in parameters or parameters.keys() >= self.given.keys())


def regression(name: str, **options: Any) -> list[Case]:
    """Call a score of one output, and of two in three ways."""
    one = Case(name, {"y_true": ONE, "y_pred": TWO, **options}, ("y_true", "y_pred"))
    weighted = Case(
        name,
        {**one.given, "sample_weight": WEIGHTS},
        ("y_true", "y_pred", "sample_weight") if name not in STEPS else ("y_true", "y_pred"),
    )
    two = {**weighted.given, "y_true": WIDE, "y_pred": BROAD}
    several = [
        Case(name, {**two, "multioutput": OUTPUTS}, (*weighted.smooth, "multioutput")),
        Case(name, {**two, "multioutput": "raw_values"}, weighted.smooth),
        Case(name, {**two, "multioutput": "uniform_average"}, weighted.smooth),
    ]
    return [one, weighted, *(several if "power" not in options else [])]


MANY_CLASSES = (
    ("log_loss", "d2_log_loss_score", "d2_brier_score")
    if "labels" not in inspect.signature(theirs.brier_score_loss).parameters
    else ("log_loss", "d2_log_loss_score", "brier_score_loss", "d2_brier_score")
)
"""Those that take probabilities of several classes in the installed release."""

STEPS = ("median_absolute_error",)
"""The weights decide which sample it is that counts."""

X, Y = RNG.uniform(0.2, 1, (4, 3)), RNG.uniform(0.2, 1, (2, 3))

CASES = [
    *(
        case
        for name in (
            *("mean_absolute_error", "mean_squared_error", "root_mean_squared_error"),
            *("mean_squared_log_error", "root_mean_squared_log_error", "median_absolute_error"),
            *("mean_absolute_percentage_error", "r2_score", "explained_variance_score"),
            "d2_absolute_error_score",
        )
        for case in regression(name)
    ),
    *regression("mean_pinball_loss", alpha=0.3)[:3],
    *regression("d2_pinball_score", alpha=0.3)[:3],
    *(
        Case(
            name, {"y_true": WIDE, "y_pred": BROAD, "multioutput": "variance_weighted"}, ("y_true",)
        )
        for name in ("r2_score", "explained_variance_score")
    ),
    Case("max_error", {"y_true": ONE, "y_pred": TWO}, ("y_true", "y_pred")),
    *(
        case
        for name in ("mean_tweedie_deviance", "d2_tweedie_score")
        for power in (-0.5, 0, 1, 1.5, 2, 3)
        for case in regression(name, power=power)[1:]
    ),
    *(
        Case(name, {"y_true": ONE, "y_pred": TWO, "sample_weight": WEIGHTS}, ("y_true", "y_pred"))
        for name in ("mean_poisson_deviance", "mean_gamma_deviance")
    ),
    *(
        Case(name, {"y_true": labels, "y_proba": proba, "sample_weight": WEIGHTS}, smooth)
        for name in ("log_loss", "d2_log_loss_score", "brier_score_loss", "d2_brier_score")
        for labels, proba in ((BINARY, HALF), (LETTERS, THIRDS))
        for smooth in [("y_proba", "sample_weight")]
    ),
    Case("log_loss", {"y_true": BINARY, "y_proba": HALF, "normalize": False}, ("y_proba",)),
    Case(
        "brier_score_loss",
        {"y_true": LETTERS, "y_proba": THIRDS, "labels": list("abc"), "scale_by_half": True},
        ("y_proba",),
    ),
    Case(
        "hinge_loss",
        {"y_true": BINARY, "pred_decision": ONE - 1, "sample_weight": WEIGHTS},
        ("pred_decision", "sample_weight"),
    ),
    Case("hinge_loss", {"y_true": LETTERS, "pred_decision": THIRDS}, ("pred_decision",)),
    Case("auc", {"x": np.cumsum(ONE), "y": TWO}, ("x", "y")),
    Case("auc", {"x": -np.cumsum(ONE), "y": TWO}, ("x", "y")),
    *(
        Case(name, {"y_true": GAINS, "y_score": SCORES, **options}, ("y_true",))
        for name in ("dcg_score", "ndcg_score")
        for options in ({}, {"k": 2}, {"ignore_ties": True, "sample_weight": WEIGHTS[:2]})
    ),
    Case("dcg_score", {"y_true": GAINS, "y_score": SCORES, "log_base": 3.0}, ("log_base",)),
    *(
        Case(name, {"X": X, "Y": other}, ("X", "Y") if other is not None else ("X",), pairwise)
        for name in pairwise.FORMULAS
        for other in ((X[::-1] ** 2,) if name.startswith("paired") else (Y, None))
    ),
    *(
        Case(name, {"X": X, "Y": Y, "gamma": 0.7}, ("gamma",), pairwise)
        for name in ("rbf_kernel", "laplacian_kernel", "sigmoid_kernel", "chi2_kernel")
    ),
    Case(
        "polynomial_kernel",
        {"X": X, "Y": Y, "gamma": 0.7, "coef0": 0.4, "degree": 2.5},
        ("X", "gamma", "coef0", "degree"),
        pairwise,
    ),
    *(
        Case("pairwise_distances", {"X": X, "Y": Y, "metric": metric}, ("X",), pairwise)
        for metric in ("l1", "cosine", "sqeuclidean", "chebyshev")
    ),
    Case("pairwise_kernels", {"X": X, "metric": "rbf", "gamma": 0.4}, ("X", "gamma"), pairwise),
    Case("euclidean_distances", {"X": X, "Y": Y, "squared": True}, ("X", "Y"), pairwise),
]


def renamed(case: Case) -> Case:
    """Call the probabilities what the installed release calls them."""
    if "y_proba" in case.given and hasattr(theirs, case.name):
        names = inspect.signature(case.theirs).parameters
        if "y_proba" not in names:
            proba = case.given["y_proba"]
            kept = {k: v for k, v in case.given.items() if k != "y_proba"}
            smooth = tuple("y_pred" if each == "y_proba" else each for each in case.smooth)
            return evolve(case, given={**kept, "y_pred": proba}, smooth=smooth)
    return case


THERE = [case for case in map(renamed, CASES) if case.is_there]


@pytest.mark.filterwarnings("ignore:The y_[a-z]+ values do not sum to one")  # beside a point
@pytest.mark.parametrize("case", THERE, ids=str)
def test_values_and_derivatives_are_those_of_scikit_learn(case: Case) -> None:
    rng = np.random.default_rng(1)
    points = {name: np.asarray(case.given[name], float) for name in case.smooth}
    along = {name: rng.normal(size=each.shape) for name, each in points.items()}
    expected = case.theirs(**case.given)
    weights = rng.normal(size=np.shape(expected))

    def total(point: Any) -> Any:
        return np.sum(weights * case.call(**point))

    def moved(h: float) -> dict[str, Any]:
        return {name: each + h * along[name] for name, each in points.items()}

    def slope(h: float) -> Any:
        grads = ta.grad(total)(moved(h))
        return sum(np.sum(grads[name] * along[name]) for name in points)

    value = case.call(**ta.ComputationRecord().bind(points))
    assert isinstance(value, ta.Tensor)
    np.testing.assert_allclose(value.data, expected, rtol=1e-12, atol=3e-8)
    first = sum(
        sign * np.sum(weights * case.theirs(**(case.given | scalars(moved(sign * 1e-5))))) / 2e-5
        for sign in (1, -1)
    )
    np.testing.assert_allclose(slope(0), first, rtol=1e-5, atol=1e-7)
    second = (slope(1e-5) - slope(-1e-5)) / 2e-5
    _, by_rule = ta.jvp(ta.grad(total), (points,), (along,))
    exact = sum(np.sum(by_rule[name] * along[name]) for name in points)
    np.testing.assert_allclose(exact, second, rtol=1e-5, atol=1e-6)


def test_every_formula_has_a_case() -> None:
    assert {*sklearn.SMOOTH, *pairwise.FORMULAS} <= {case.name for case in CASES}


def scalars(point: dict[str, Any]) -> dict[str, Any]:
    """Give numbers where scikit-learn checks that they are."""
    return {name: each[()] for name, each in point.items()}


def handle(values: Any) -> Any:
    return ta.ComputationRecord().tensor(values)


def test_plain_arrays_give_what_scikit_learn_gives() -> None:
    score = sklearn.mean_squared_error([1.0, 2.0], [1.5, 2.0])
    assert score == 0.125
    assert type(score) is type(theirs.mean_squared_error([1.0, 2.0], [1.5, 2.0]))


@pytest.mark.parametrize("name", sorted(filter(sklearn.functions().get, sklearn.NAMES)))
def test_what_scikit_learn_refuses_is_refused_of_handles(name: str) -> None:
    score = getattr(sklearn, name)
    with pytest.raises((ValueError, TypeError)):
        score(handle([1.0, 2.0]), handle([1.0, 2.0, 3.0]))


def test_scores_that_count_are_plain_and_refuse_weights() -> None:
    assert sklearn.roc_auc_score(BINARY, handle(HALF)) == theirs.roc_auc_score(BINARY, HALF)
    with pytest.raises(UnsupportedArgumentError, match=r"sklearn\.roc_auc_score: .*weight="):
        sklearn.roc_auc_score(BINARY, HALF, sample_weight=handle(WEIGHTS))
    with pytest.raises(UnsupportedArgumentError, match="beta="):
        sklearn.fbeta_score(BINARY, BINARY[::-1], beta=handle(0.5))


def test_labels_that_are_handles_count_as_the_numbers_that_they_are() -> None:
    with pytest.raises(UnsupportedArgumentError, match="y_true="):
        sklearn.log_loss(handle(BINARY * 1.0), handle(HALF))


def test_an_argument_that_is_no_number_is_refused_by_name() -> None:
    with pytest.raises(UnsupportedArgumentError, match=r"mean_tweedie_deviance: .*power="):
        sklearn.mean_tweedie_deviance(ONE, TWO, power=handle(1.5))
    with pytest.raises(UnsupportedArgumentError, match="metric="):
        pairwise.pairwise_distances(handle(X[:, :2]), metric="haversine")
    with pytest.raises(UnsupportedArgumentError, match="X_norm_squared="):
        pairwise.euclidean_distances(handle(X), Y, X_norm_squared=np.sum(X**2, 1))


@pytest.mark.parametrize("name", ["mean_squared_error", "r2_score", "mean_pinball_loss"])
def test_the_error_of_scikit_learns_own_names_ours(name: str) -> None:
    with pytest.raises(ConversionError, match=rf"^{name} of sklearn\S* .*tape_ad\.interop\.sk"):
        getattr(theirs, name)(ONE, handle(TWO))


def test_the_error_of_a_kernel_names_ours() -> None:
    with pytest.raises(ConversionError, match=r"^rbf_kernel of .*tape_ad\.interop\.sklearn"):
        theirs.pairwise.rbf_kernel(handle(X))


def test_a_perfect_prediction_keeps_its_curvature() -> None:
    bend = ta.hessian(lambda pred: sklearn.r2_score(ONE, pred))(ONE)
    np.testing.assert_allclose(bend, -2 / np.sum((ONE - ONE.mean()) ** 2) * np.eye(6))


@pytest.mark.filterwarnings("ignore:R.2 score is not well-defined")
def test_where_there_is_no_score_there_is_none_of_handles() -> None:
    pred = handle([1.0])
    score = sklearn.r2_score([2.0], pred)
    assert np.isnan(score.data)
    assert np.isnan(score.grad().wrt(pred)).all()


def test_constant_targets_give_what_scikit_learn_gives() -> None:
    pred = handle([1.0, 2.0, 3.0])
    score = sklearn.r2_score([2.0, 2.0, 2.0], pred)
    assert score.data == theirs.r2_score([2.0, 2.0, 2.0], [1.0, 2.0, 3.0]) == 0
    assert not score.grad().wrt(pred).any()


def test_single_precision_stays() -> None:
    pred = handle(TWO.astype(np.float32))
    loss: Any = sklearn.mean_squared_error(np.arange(6), pred)
    assert loss.dtype == loss.grad().wrt(pred).dtype == np.float32
    assert pairwise.rbf_kernel(handle(X.astype(np.float32))).dtype == np.float32


def test_lists_of_handles_are_targets() -> None:
    t = handle(0.5)
    loss: Any = sklearn.mean_squared_error([1.0, 2.0], [t, 2.0 * t])
    assert loss.grad().wrt(t) == pytest.approx(-2.5)


def test_weights_of_zero_leave_samples_out_of_a_median() -> None:
    weights = np.array([1.0, 0, 2, 0, 1, 1])
    score: Any = sklearn.median_absolute_error(ONE, handle(TWO), sample_weight=weights)
    assert score.data == theirs.median_absolute_error(ONE, TWO, sample_weight=weights)


SHIFTS = np.array([3, 1, 2, 5, 4, 6])


def test_scores_are_compiled() -> None:
    slope = ta.compile(ta.grad(lambda pred: sklearn.median_absolute_error(ONE, pred)))
    for pred in (TWO, TWO, TWO[::-1].copy(), ONE + SHIFTS):
        expected = ta.grad(lambda pred: sklearn.median_absolute_error(ONE, pred))(pred)
        np.testing.assert_array_equal(slope(pred), expected)


@pytest.mark.parametrize("name", ["dcg_score", "ndcg_score"])
def test_gains_are_constant_in_the_scores_that_order_them(name: str) -> None:
    scores = handle(SCORES)
    found: Any = getattr(sklearn, name)(GAINS, scores)
    np.testing.assert_allclose(found.data, getattr(theirs, name)(GAINS, SCORES), rtol=1e-12)
    np.testing.assert_array_equal(found.grad().wrt(scores), np.zeros(SCORES.shape))
