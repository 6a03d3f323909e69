"""Activations against mpmath, near 0 and far out, and where there are no numbers to compare."""

import sys
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest
import scipy.special

import tape_ad as ta
from tape_ad import nn
from tape_ad.rules.maps import pull_chosen
from tape_ad.rules.nn.rectifiers import SELU_ALPHA, SELU_SCALE, normal_cdf
from tests.shorthand import gradient, gradients_of

Array = Any
Function = Callable[[Any], Any]

INF = np.inf
NAN = np.nan


def logistic(x: Any) -> Any:
    return 1 / (1 + mpmath.exp(-x))


def soft_plus(x: Any) -> Any:
    return mpmath.log1p(mpmath.exp(x))


def bent(x: Any, alpha: float, scale: float) -> Any:
    return scale * (x if x > 0 else alpha * mpmath.expm1(x))


def by_tanh(x: Any) -> Any:
    inner = mpmath.sqrt(2 / mpmath.pi) * (x + mpmath.mpf("0.044715") * x**3)
    return x * logistic(2 * inner)


# A function, the same in mpmath, and by how many units of rounding its second derivative may be
# off: in 1 - s the rounding of s shows, and the approximate gelu multiplies it with x u'(x)**2
AGAINST_MPMATH: list[tuple[str, Function, Function, float]] = [
    ("sigmoid", nn.sigmoid, logistic, 2),
    ("softplus", lambda x: nn.softplus(x, threshold=INF), soft_plus, 2),
    ("softplus 3", lambda x: nn.softplus(x, 3.0, INF), lambda x: soft_plus(3 * x) / 3, 8),
    ("silu", nn.silu, lambda x: x * logistic(x), 8),
    ("elu", nn.elu, lambda x: bent(x, 1.0, 1.0), 2),
    ("elu 0.5", lambda x: nn.elu(x, 0.5), lambda x: bent(x, 0.5, 1.0), 2),
    ("selu", nn.selu, lambda x: bent(x, SELU_ALPHA, SELU_SCALE), 2),
    ("gelu", nn.gelu, lambda x: x * mpmath.ncdf(x), 8),
    ("gelu tanh", lambda x: nn.gelu(x, "tanh"), by_tanh, 500),
]

POINTS = [0.0, 1e-30, -1e-30, 1e-3, -1e-3, 0.3, -0.3, 1.7, -1.7, 6.0, 12.0, -12.0, 19.0, 21.0]
POINTS += [36.0, 79.0, 81.0, 700.0, 1e4, 1e30]

every_function = pytest.mark.parametrize(
    ("function", "exact", "units"),
    [row[1:] for row in AGAINST_MPMATH],
    ids=[row[0] for row in AGAINST_MPMATH],
)
in_both_precisions = pytest.mark.parametrize("dtype", [np.float64, np.float32])


def at_points(function: Function, x: Array) -> Array:
    with mpmath.workdps(60):
        return np.array([float(function(mpmath.mpf(float(each)))) for each in x])


def slopes(function: Function, order: int) -> Function:
    """Differentiate one of mpmath's functions from the left."""
    return lambda x: mpmath.diff(function, x, order, direction=-1)


@every_function
@in_both_precisions
def test_values_are_those_of_a_rounded_argument(
    function: Function, exact: Any, units: float, dtype: Any
) -> None:
    x = np.array(POINTS, dtype)
    expected, slope = at_points(exact, x), at_points(slopes(exact, 1), x)
    allowed = 3 * float(np.finfo(dtype).eps) * (np.abs(expected) + np.abs(x * slope))
    error = np.abs(function(x) - expected)
    assert (error <= allowed + float(np.finfo(dtype).smallest_subnormal)).all()


@every_function
@in_both_precisions
def test_slopes_are_within_rounding(
    function: Function, exact: Any, units: float, dtype: Any
) -> None:
    x = np.array(POINTS, dtype)
    x = x[np.abs(x) < 1e3]
    eps = float(np.finfo(dtype).eps)
    first = at_points(slopes(exact, 1), x)
    np.testing.assert_allclose(gradient(function, x), first, rtol=8 * eps, atol=2 * eps)
    second = ta.grad(lambda v: np.sum(ta.grad(lambda u: np.sum(function(u)))(v)))(x)
    expected = at_points(slopes(exact, 2), x)
    np.testing.assert_allclose(second, expected, rtol=8 * eps, atol=units * eps)


@pytest.mark.parametrize("share", [0.0, 0.25, 1.0])
@in_both_precisions
def test_curvature_of_a_cross_entropy_keeps_its_digits_on_both_sides(
    share: float, dtype: Any
) -> None:
    x = np.array([-70.0, -30.0, -16.0, -1.0, 0.5, 12.0, 17.0, 39.5, 70.0], dtype)

    def total(v: Array) -> Array:
        targets = np.full(x.shape, share, dtype)
        return np.sum(nn.binary_cross_entropy_with_logits(v, targets, reduction="none"))

    expected = at_points(lambda v: logistic(v) * logistic(-v), x)
    second = ta.grad(lambda v: np.sum(ta.grad(total)(v)))(x)
    np.testing.assert_allclose(second, expected, rtol=8 * float(np.finfo(dtype).eps))


FALLING: list[tuple[str, Function, Function]] = [
    ("sigmoid", nn.sigmoid, logistic),
    ("softplus", nn.softplus, soft_plus),
    ("elu", nn.elu, lambda x: bent(x, 1.0, 1.0)),
]


@pytest.mark.parametrize(
    ("function", "exact"), [row[1:] for row in FALLING], ids=[row[0] for row in FALLING]
)
@pytest.mark.parametrize(("dtype", "ends"), [(np.float64, -740.0), (np.float32, -100.0)])
def test_slopes_far_to_the_left_keep_all_their_digits(
    function: Function, exact: Any, dtype: Any, ends: float
) -> None:
    x = np.array([-1.0, -17.0, -40.0, -80.0, -85.0], dtype)
    rtol = 4 * float(np.finfo(dtype).eps)
    np.testing.assert_allclose(gradient(function, x), at_points(slopes(exact, 1), x), rtol=rtol)
    last = function(np.array([ends], dtype)) - function(np.array([-INF], dtype))
    assert (last > 0) | (function is nn.elu)  # down to the smallest number


# The function, and its value, slope and second derivative at -inf, inf and nan

ENDS: list[tuple[str, Function, list[list[float]]]] = [
    ("sigmoid", nn.sigmoid, [[0, 1, NAN], [0, 0, NAN], [0, 0, NAN]]),
    ("softplus", nn.softplus, [[0, INF, NAN], [0, 1, NAN], [0, 0, NAN]]),
    (
        "softplus without a threshold",
        lambda x: nn.softplus(x, threshold=INF),
        [[0, INF, NAN], [0, 1, NAN], [0, 0, NAN]],
    ),
    ("elu", nn.elu, [[-1, INF, NAN], [0, 1, NAN], [0, 0, NAN]]),
    ("leaky_relu", lambda x: nn.leaky_relu(x, 0.5), [[-INF, INF, NAN], [0.5, 1, 0.5], [0, 0, 0]]),
    ("silu", nn.silu, [[NAN, INF, NAN], [0, 1, NAN], [0, 0, NAN]]),
    ("gelu", nn.gelu, [[NAN, INF, NAN], [0, 1, NAN], [0, 0, NAN]]),
]


@pytest.mark.parametrize(
    ("function", "expected"), [row[1:] for row in ENDS], ids=[row[0] for row in ENDS]
)
@in_both_precisions
def test_infinities_and_nan(function: Function, expected: list[list[float]], dtype: Any) -> None:
    x = np.array([-INF, INF, NAN], dtype)
    with np.errstate(invalid="ignore"):  # -inf times 0
        value = function(x)
        first = gradient(function, x)
        second = ta.grad(lambda v: np.sum(ta.grad(lambda u: np.sum(function(u)))(v)))(x)
    found = np.array([value, first, second])
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-190)  # gelu takes -30 for -inf


@pytest.mark.parametrize("function", [nn.sigmoid, nn.softplus, nn.silu, nn.elu])
def test_half_precision_does_not_overflow(function: Function) -> None:
    x = np.array([-6e4, -12.0, -1.0, 0.0, 1.0, 10.5, 11.5, 15.0, 6e4], np.float16)
    exact = function(x.astype(np.float64))
    assert function(x).dtype == np.float16
    np.testing.assert_allclose(function(x), exact, rtol=2e-3, atol=1e-7)
    slope = gradient(function, x.astype(np.float64))
    np.testing.assert_allclose(gradient(function, x), slope, rtol=4e-3, atol=1e-3)


@pytest.mark.parametrize("function", [nn.sigmoid, nn.softplus, nn.silu, nn.elu, nn.softmax])
@pytest.mark.parametrize("dtype", [np.int64, np.int8, np.uint8])
def test_integers_are_numbers(function: Function, dtype: Any) -> None:
    x = np.array([0, 1, 100], dtype)
    given = x.copy()
    np.testing.assert_allclose(function(x), function(x.astype(float)), rtol=2e-3)
    np.testing.assert_array_equal(x, given)


@pytest.mark.parametrize("layout", ["C", "F", "strided", "0-d"])
@pytest.mark.parametrize(
    "function",
    [nn.sigmoid, nn.softplus, nn.silu, nn.elu, nn.leaky_relu, nn.softmax, nn.log_softmax],
)
def test_no_layout_changes_a_number_and_nothing_is_written_to(
    function: Function, layout: str
) -> None:
    x = np.random.default_rng(0).normal(size=(3, 4)) * 20
    given = {"C": x, "F": np.asfortranarray(x), "strided": np.repeat(x, 2, 1)[:, ::2], "0-d": x[1]}
    array = given[layout] if layout != "0-d" else np.array(x[1, 2])
    expected = function(x) if layout != "0-d" else function(x[1, 2:3])[0]
    before = array.copy()
    np.testing.assert_allclose(function(array), expected, rtol=1e-15)
    np.testing.assert_array_equal(array, before)


def test_the_normal_distribution_of_single_precision_is_scipys() -> None:
    x = np.concatenate([np.linspace(-14, 14, 20001), [0.0, -0.0, 1e-30, -1e-40]]).astype(np.float32)
    double = x.astype(np.float64)
    exact = scipy.special.ndtr(double)
    found = normal_cdf(x)
    assert found.dtype == np.float32
    allowed = (4 + double * double) * float(np.finfo(np.float32).eps) * exact
    smallest = float(np.finfo(np.float32).smallest_subnormal)
    assert (np.abs(found - exact) <= allowed + smallest).all()
    np.testing.assert_array_equal(normal_cdf(x.reshape(-1, 5, 1).T), found.reshape(-1, 5, 1).T)
    np.testing.assert_array_equal([normal_cdf(each) for each in x[::999]], found[::999])
    far = np.array([-INF, -1e30, -15.0, 15.0, 1e30, INF, NAN], np.float32)
    np.testing.assert_array_equal(normal_cdf(far), [0, 0, 0, 1, 1, 1, NAN])


def test_gelu_of_single_precision_needs_no_scipy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy.special", None)
    x = np.array([-1.0, 0.0, 1.0], np.float32)
    np.testing.assert_allclose(nn.gelu(x), [-0.15865525, 0.0, 0.84134475], rtol=3e-7)
    with pytest.raises(ImportError, match=r"^gelu needs the extra scipy"):
        nn.gelu(x.astype(np.float64))


# Functions of rows


@pytest.mark.parametrize("function", [nn.softmax, nn.log_softmax, nn.logsumexp])
@pytest.mark.parametrize("axis", [-1, 1, 0, (0, 1), None])
@in_both_precisions
def test_rows_with_nan_and_infinities(function: Any, axis: Any, dtype: Any) -> None:
    rows = np.array([[1.0, 2.0, 2.0], [NAN, 1.0, 3.0], [-INF, 1.0, 0.0], [3.0, NAN, NAN]], dtype)
    hit = np.isnan(rows).any(axis=axis, keepdims=True)
    out = np.broadcast_to(
        function(rows, axis=axis) if function is not nn.logsumexp else function(rows, axis, True),
        rows.shape,
    )
    np.testing.assert_array_equal(np.isnan(out), np.broadcast_to(hit, rows.shape))


def test_the_largest_of_rows_without_elements_is_refused() -> None:
    with pytest.raises(ValueError, match="zero-size array to reduction operation maximum"):
        nn.softmax(np.ones((3, 0)))


@pytest.mark.parametrize("axis", [-1, 0, None])
def test_logsumexp_leaves_out_what_was_not_chosen(axis: Any) -> None:
    rows = np.array([[INF, 1.0], [2.0, 3.0]])
    record = ta.ComputationRecord()
    out: Any = nn.logsumexp(record.tensor(rows), axis=axis)
    ((_, linear),) = record.edges(out.index)
    with np.errstate(invalid="ignore"):
        pulled = pull_chosen(linear, np.zeros(out.shape))
    np.testing.assert_array_equal(pulled, np.zeros((2, 2)))


def test_cross_entropy_leaves_out_what_was_not_chosen() -> None:
    record = ta.ComputationRecord()
    with np.errstate(invalid="ignore"):
        out: Any = nn.cross_entropy(record.tensor([[INF, 1.0], [2.0, 3.0]]), np.array([1, 0]))
        ((_, linear),) = record.edges(out.index)
        pulled = pull_chosen(linear, np.zeros(()))
    np.testing.assert_array_equal(pulled, np.zeros((2, 2)))


@pytest.mark.parametrize("shape", [(3,), (2, 3), (2, 2, 3)])
def test_cross_entropy_of_a_stack_of_seeds(shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(0)
    record = ta.ComputationRecord()
    x = record.tensor(rng.normal(size=shape))
    targets = rng.integers(3, size=shape[:-1])
    out: Any = nn.cross_entropy(x, targets)
    seeds = rng.normal(size=(4, 5))
    one = out.grad().wrt(x)
    np.testing.assert_allclose(
        out.grad(seed=seeds).wrt(x), seeds.reshape(4, 5, *(1,) * len(shape)) * one, rtol=1e-14
    )


def test_targets_may_be_filled_anew_before_the_sweep() -> None:
    targets = np.array([0, 2])
    x: Any = ta.ComputationRecord().tensor(np.array([[1.0, 2.0, 0.5], [0.0, 1.0, 3.0]]))
    loss = nn.cross_entropy(x, targets)
    expected = loss.grad().wrt(x)
    targets[...] = 1
    np.testing.assert_array_equal(loss.grad().wrt(x), expected)


@pytest.mark.parametrize("axis", [-1, 0])
def test_glu_leaves_out_what_was_not_chosen(axis: int) -> None:
    x = np.array([[INF, 2.0, 0.0, 1.0], [3.0, 4.0, 0.0, -2.0]])
    given = x if axis else x.T
    chosen = np.isfinite(nn.glu(given, axis=axis))

    def total(t: Any) -> Any:
        return np.where(chosen, nn.glu(t, axis=axis), 0.0)

    aside = np.where(np.isinf(given), 1.0, given)
    assert not chosen.all()
    np.testing.assert_array_equal(gradient(total, given), gradient(total, aside))


@pytest.mark.parametrize("affine", [False, True])
def test_rows_that_were_not_chosen_are_not_normalised_for_anybody(affine: bool) -> None:
    x = np.array([[NAN, 1.0, 2.0], [3.0, 5.0, 4.0]])
    chosen = np.array([[False], [True]])
    parameters = [np.array([1.0, 2.0, 3.0]), np.ones(3)] if affine else []

    def total(rows: Any, *weight_and_bias: Any) -> Any:
        return np.where(chosen, nn.layer_norm(rows, 3, *weight_and_bias) * [1.0, 2.0, 4.0], 0.0)

    aside = np.where(np.isnan(x), 0.0, x)
    for found, expected in zip(
        gradients_of(total, x, *parameters), gradients_of(total, aside, *parameters), strict=True
    ):
        np.testing.assert_array_equal(found, expected)


def test_a_weight_that_is_no_number_is_left_out_where_it_was_not_chosen() -> None:
    x, chosen = np.array([[1.0, 5.0, 4.0], [2.0, 0.0, 7.0]]), np.array([True, True, False])

    def total(rows: Any, weight: Any, bias: Any) -> Any:
        return np.where(chosen, nn.layer_norm(rows, 3, weight, bias), 0.0)

    found = gradients_of(total, x, np.array([1.0, 2.0, NAN]), np.ones(3))
    expected = gradients_of(total, x, np.array([1.0, 2.0, 0.0]), np.ones(3))
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)


def test_half_precision_is_normalised_in_single() -> None:
    x = (np.random.default_rng(0).normal(size=(4, 3000)) * 20 + 300).astype(np.float16)
    weight, bias = np.full(3000, 2.0, np.float16), np.ones(3000, np.float16)
    out = nn.layer_norm(x, 3000, weight, bias)
    assert out.dtype == np.float16
    exact = nn.layer_norm(x.astype(float), 3000, weight, bias)
    np.testing.assert_allclose(out, exact, atol=2e-2)


@pytest.mark.parametrize(
    "function",
    [
        nn.softmax,
        nn.log_softmax,
        nn.logsumexp,
        nn.glu,
        lambda x: nn.layer_norm(x, 4),
        lambda x: nn.cross_entropy(x, np.array([1, 0])),
    ],
)
def test_pulls_share_memory_with_nothing(function: Any) -> None:
    record = ta.ComputationRecord()
    x = record.tensor(np.random.default_rng(0).normal(size=(2, 4)))
    out = function(x)
    ((_, linear),) = record.edges(out.index)
    ct = np.ones(out.shape)
    first = linear.pull(ct)
    given = first.copy()
    first += 1.0  # as a sweep may do
    np.testing.assert_array_equal(linear.pull(ct), given)
    np.testing.assert_array_equal(ct, np.ones(out.shape))
    np.testing.assert_array_equal(function(x).data, out.data)
