"""Handles among the arrays of other libraries: values are taken, or an error says what to write."""

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad.errors import CaptureError, ConversionError, DtypeError, InPlaceError
from tests.shorthand import gradient, handle

matplotlib = pytest.importorskip("matplotlib")
pd = pytest.importorskip("pandas")
preprocessing = pytest.importorskip("sklearn.preprocessing")
scipy = pytest.importorskip("scipy")
interpolate = pytest.importorskip("scipy.interpolate")
integrate = pytest.importorskip("scipy.integrate")
optimize = pytest.importorskip("scipy.optimize")
hierarchy = pytest.importorskip("scipy.cluster.hierarchy")
vq = pytest.importorskip("scipy.cluster.vq")
distance = pytest.importorskip("scipy.spatial.distance")
signal = pytest.importorskip("scipy.signal")
stats = pytest.importorskip("scipy.stats")

X = np.array([0.5, 1.5, 2.0])
SERIES = pd.Series([1.0, 2.0, 3.0], index=["a", "b", "c"])
FRAME = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": [0.5, 0.25, 2.0]})

# What is pandas'


@pytest.mark.parametrize(
    "operate",
    [
        operator.add,
        operator.sub,
        operator.mul,
        operator.truediv,
        operator.pow,
        np.multiply,
        np.maximum,
        np.hypot,
    ],
)
@pytest.mark.parametrize("swapped", [False, True])
def test_a_series_as_an_operand(operate: Callable[..., Any], swapped: bool) -> None:
    def of(series: Any) -> Callable[[Any], Any]:
        return lambda t: operate(series, t) if swapped else operate(t, series)

    expected = of(SERIES.to_numpy())
    np.testing.assert_array_equal(of(SERIES)(handle(X)).data, expected(X))
    np.testing.assert_array_equal(gradient(of(SERIES), X), gradient(expected, X))


@pytest.mark.parametrize("operate", [operator.add, operator.mul, operator.sub])
@pytest.mark.parametrize("swapped", [False, True])
def test_a_frame_as_an_operand(operate: Callable[..., Any], swapped: bool) -> None:
    def of(frame: Any) -> Callable[[Any], Any]:
        return lambda t: operate(frame, t) if swapped else operate(t, frame)

    expected = gradient(of(FRAME.to_numpy()), X[:2])
    np.testing.assert_array_equal(gradient(of(FRAME), X[:2]), expected)


def test_comparisons_with_a_series_are_plain() -> None:
    np.testing.assert_array_equal(np.asarray(operator.gt(SERIES, handle(X))), SERIES > X)
    np.testing.assert_array_equal(np.asarray(handle(X) > SERIES), SERIES < X)


def test_a_series_of_words() -> None:
    with pytest.raises((DtypeError, TypeError)):
        handle(X) * pd.Series(["a", "b", "c"])


@pytest.mark.parametrize(
    "call",
    [
        lambda t: FRAME.T @ t,
        SERIES.dot,
        lambda t: np.dot(SERIES, t),
        pd.Series,
        lambda t: pd.DataFrame({"a": t}),
        lambda t: FRAME.assign(c=t),
        lambda t: SERIES.where(SERIES > 1, t),
    ],
)
def test_what_pandas_computes_itself(call: Callable[[Any], Any]) -> None:
    with pytest.raises(ConversionError, match=r"^\S+ of pandas turns .*\.to_numpy\(\)"):
        call(handle(X))


# What is drawn


@pytest.mark.parametrize("draw", ["plot", "scatter", "bar", "fill_between"])
def test_drawing(draw: str) -> None:
    axes = pytest.importorskip("matplotlib.figure").Figure().subplots()
    with pytest.raises(ConversionError, match=rf"^Axes\.{draw} of mat.*write t\.data"):
        getattr(axes, draw)(X, handle(X))


def test_numpys_word_about_a_sequence_has_a_cause_that_names_what_draws() -> None:
    axes = pytest.importorskip("matplotlib.figure").Figure().subplots()
    circle = pytest.importorskip("matplotlib.patches").Circle((handle(2.0), 0.0), 1.0)
    with pytest.raises(ValueError, match="setting an array element") as caught:
        axes.add_patch(circle)
    assert isinstance(caught.value.__cause__, ConversionError)
    assert str(caught.value.__cause__).startswith("Axes.add_patch of matplotlib.axes takes")
    assert str(caught.value.__cause__).endswith("write t.data, for what is drawn is the value")


# SciPy's and scikit-learn's functions


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda t: scipy.linalg.expm(t[:, None] * X), r"expm of scipy\.linalg"),
        (scipy.linalg.toeplitz, r"toeplitz of scipy\.linalg"),
        (lambda t: scipy.signal.lfilter(t, [1.0, -0.5], X), r"lfilter of scipy\.signal"),
        (lambda t: optimize.ridder(lambda x: x - t[0], 0, 5), r"ridder of scipy\.optimize"),
        (
            lambda t: stats.binomtest(3, 9).proportion_ci(t[0] / 2),
            r".*_ci of scipy\.stats",
        ),
    ],
)
def test_what_has_a_function_of_ours_in_its_place(call: Callable[[Any], Any], name: str) -> None:
    ours = rf"tape_ad\.{name.rpartition(' ')[2]}"
    with pytest.raises(
        ConversionError, match=rf"^{name} .*\(line \d+ of test_other.*write {ours} in place"
    ):
        call(handle(X))


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (hierarchy.maxdists, r"maxdists of scipy\.cluster\.hierarchy"),
        (vq.whiten, r"whiten of scipy\.cluster\.vq"),
    ],
)
def test_what_has_none(call: Callable[[Any], Any], name: str) -> None:
    with pytest.raises(ConversionError, match=rf"^{name} .*t\.data.*ta\.custom_rule"):
        call(handle(X))


def test_the_method_of_an_estimator() -> None:
    scaler = preprocessing.QuantileTransformer(n_quantiles=2)
    with pytest.raises(ConversionError, match=r"fit of sklearn\S+ turns .*array_api_dispatch=True"):
        scaler.fit(handle(X[:, None]))


def test_a_callback_of_the_users() -> None:
    def slope(_: float, y: Any) -> Any:
        return -np.asarray(handle(y))

    with pytest.raises(ConversionError, match=r"^turning a handle into an ndarray \(line \d+ of"):
        integrate.solve_ivp(slope, (0.0, 1.0), [1.0])


def test_an_attribute_that_a_library_asks_for() -> None:
    spline = interpolate.CubicSpline(X, X)
    with pytest.raises(ConversionError, match=r"^CubicSpline of scipy\.interpolate "):
        spline(handle(X))


@pytest.mark.parametrize(
    "call",
    [
        lambda t: signal.iirnotch(0.2, 3.0, fs=t),
        lambda t: stats.pmean(X, t),
        lambda t: stats.pmean(X, t * 0),
        lambda t: optimize.root_scalar(np.cos, method="brentq", bracket=np.stack([t, t])),
        lambda t: stats.gaussian_kde(X, bw_method=t),
        lambda t: optimize.least_squares(lambda p: p, [1.0], x_scale=np.stack([t])),
    ],
)
def test_a_handle_that_scipy_refuses_in_words_of_its_own(call: Callable[[Any], Any]) -> None:
    with pytest.raises((TypeError, ValueError)):
        call(handle(1.5))


def test_the_type_of_a_handle() -> None:
    t = handle(1.5)
    assert not np.isscalar(t)
    assert t.__class__ is type(t)
    assert not isinstance(t, (int, float, np.ndarray))
    for args in (2.0, handle(2.0)):
        with pytest.raises(ConversionError, match=r"^root_scalar of scipy\.optimize turns"):
            optimize.root_scalar(lambda x, a: x - a, args=(args,), x0=t)


def test_a_handle_that_a_library_looks_up() -> None:
    with pytest.raises(TypeError, match="a handle is unhashable"):
        stats.rv_discrete(values=(handle(X), [0.5, 0.25, 0.25]))


def test_a_constant_beside_a_handle_of_which_c_code_forgets_the_error() -> None:
    knots, constants = np.array([0.0, 0, 0, 0, 2, 2, 2, 2]), ta.interop.array_api.asarray
    with pytest.raises(ConversionError, match=r"^insert of scipy\.interpolate .*write tape_ad"):
        interpolate.insert(1.0, (handle(knots), constants(np.arange(8.0)), 3))
    with pytest.raises(ConversionError, match=r"^insert of scipy\.interpolate .*write tape_ad"):
        interpolate.insert(1.0, (constants(knots), handle(np.arange(8.0)), 3))
    plain = interpolate.insert(1.0, (knots, np.arange(8.0), 3))
    found = interpolate.insert(1.0, (constants(knots), constants(np.arange(8.0)), 3))
    np.testing.assert_array_equal(found[0], plain[0])


def test_what_c_code_says_of_a_handle() -> None:
    t = handle(2.5)
    with pytest.raises((ConversionError, IndexError)):  # the second is f2py's, until SciPy 1.18
        interpolate.UnivariateSpline(np.arange(5.0), np.arange(5.0), s=t)
    with pytest.raises(TypeError, match=r"p=Tensor\(%0, float64"):
        distance.pdist(np.ones((3, 2)), "minkowski", p=t)
    with pytest.raises(IndexError, match="scalar"):
        t[0]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: interpolate.CubicSpline(X, x)(1.2), r"CubicSpline of .* tape_ad\.scipy\.int"),
        (interpolate.CubicSpline(X, X), r"CubicSpline of .*ta\.differentiable\(f\)"),
        (
            lambda x: ta.scipy.interpolate.CubicSpline(X, x)(1.2),
            r"CubicSpline of scipy\.interpolate assigns .*write ta\.differentiable\(f\)",
        ),
    ],
)
def test_a_program_that_cannot_hold_a_librarys_function_names_it(call: Any, message: str) -> None:
    with pytest.raises((CaptureError, InPlaceError), match=message):
        ta.compile(call)(X)


@pytest.mark.filterwarnings("ignore::tape_ad.errors.BatchWarning")
@pytest.mark.parametrize(
    "call",
    [
        lambda x: ta.scipy.interpolate.CubicSpline(X, x)(1.2),
        lambda x: ta.scipy.interpolate.Akima1DInterpolator(X, x)(1.2),
        lambda x: ta.scipy.signal.istft(x[:, None] * np.ones((1, 3)), nperseg=4)[1],
    ],
)
def test_what_fills_arrays_of_its_own_is_right_in_a_batch(call: Any) -> None:
    xs = np.stack([X, X**2])
    np.testing.assert_allclose(ta.batched(call)(xs), [call(x) for x in xs], rtol=1e-12)

    def total(x: Any) -> Any:
        return np.sum(call(x) ** 2)

    slopes = [ta.grad(total)(x) for x in xs]
    np.testing.assert_allclose(ta.batched(ta.grad(total))(xs), slopes, rtol=1e-12)
    np.testing.assert_allclose(
        ta.grad(lambda x: np.sum(ta.batched(call)(x) ** 2))(xs), slopes, rtol=1e-12
    )


def test_a_function_that_adds_to_plain_arrays_is_compiled() -> None:
    def call(x: Any) -> Any:
        return ta.scipy.signal.istft(x[:, None] * np.ones((1, 3)), nperseg=4)[1]

    compiled = ta.compile(call)
    for x in (X, X**2, X + 1):
        np.testing.assert_allclose(compiled(x), call(x), rtol=1e-14)
