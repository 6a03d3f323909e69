"""What releases of SciPy compute differently is on handles what the installed one computes."""

from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad.errors import NoRuleError, UnsupportedArgumentError
from tape_ad.scipy import interpolate, signal, stats
from tests.rules.checks import central_difference

scipy = pytest.importorskip("scipy")

NEWER = np.lib.NumpyVersion(scipy.__version__) >= "1.18.0"

SAMPLE = np.array([0.3, 2.1, 1.2, 0.8, 1.9])
TABLE = np.array([[0.3, 2.1, 1.2, 0.8], [1.7, 0.4, 0.9, 1.1], [0.2, 0.6, 1.5, 2.0]])
SINGLE = TABLE.astype(np.float32)
SQUARE = np.array([[-0.5, 0.2], [0.1, -0.7]], np.float32)
CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])


def parts_of(result: Any) -> list[Any]:
    if isinstance(result, (tuple, list)):
        return [part for each in result for part in parts_of(each)]
    return [getattr(result, "data", result) if isinstance(result, ta.Tensor) else result]


def outcome(call: Any, modules: Any, operand: Any) -> Any:
    """Give what comes of a call: the shapes, dtypes and values, or the kind of the error."""
    try:
        parts = parts_of(call(*modules, operand))
    except ValueError:
        return ValueError
    return [(np.shape(x), np.asarray(x).dtype, np.float32(x).tolist()) for x in parts]


CALLS = [
    (lambda g, s, x: g.sawtooth(x, 0.4), SINGLE),
    (lambda g, s, x: g.sawtooth(x, np.float32(0.4)), SINGLE),
    (lambda g, s, x: g.abcd_normalize(x, x[:, :1], x[:1]), SQUARE),
    (lambda g, s, x: g.abcd_normalize(x, np.ones((2, 1)), np.ones((1, 2)), 0.5), SQUARE),
    (lambda g, s, x: g.ss2tf(x, np.ones((2, 1)), np.ones((1, 2)), 0.5), SQUARE),
    (lambda g, s, x: g.cont2discrete((x, x[:, :1], np.ones((1, 2)), np.ones((1, 1))), 0.5), SQUARE),
    (lambda g, s, x: g.impulse((x, x[:, :1], x[:1], x[:1, :1]), N=3), SQUARE),
    (lambda g, s, x: g.dbode((x[0, :1], x[1], 0.5), n=3), SQUARE),
    (lambda g, s, x: g.lfilter_zi([1.0, 0.5], x), np.array([0.0, 1.0, 0.5])),
    (lambda g, s, x: g.minimum_phase(x, n_fft=8), np.array([0.1, 0.5, 1.2, 0.5, 0.1])),
    (lambda g, s, x: g.minimum_phase(x, n_fft=9), np.array([0.1, 0.5, 1.2, 0.5, 0.1])),
    (lambda g, s, x: s.expectile(x, 0.3), TABLE),
    (lambda g, s, x: s.expectile(x, 0.3, weights=[1.0, 2.0, 3.0, 1.0, 1.0]), SAMPLE),
    (lambda g, s, x: s.expectile(x, 0.3), SINGLE[0]),
    (lambda g, s, x: tuple(s.relfreq(x, 3, weights=[1.0, 2.0, 0.5, 0.3, 0.4])), SAMPLE),
    (lambda g, s, x: tuple(s.relfreq(x, 3, (0.5, 2.0))), TABLE),
    (lambda g, s, x: tuple(s.cumfreq(x, 3)), SINGLE),
    (lambda g, s, x: tuple(s.cumfreq(x, 3, (2.0, 1.0))), SAMPLE),
    (lambda g, s, x: tuple(s.kstest(x, "norm"))[:2], SINGLE[0]),
    (lambda g, s, x: tuple(s.kstest(x, "norm"))[:2], SAMPLE),
    (lambda g, s, x: tuple(s.shapiro(x)), TABLE[0]),
    (lambda g, s, x: s.obrientransform(x, x[::-1]), SAMPLE),
]


@pytest.mark.parametrize(("call", "operand"), CALLS)
def test_it_is_what_the_installed_release_gives(call: Any, operand: Any) -> None:
    handle = ta.ComputationRecord().tensor(operand)
    found = outcome(call, (signal, stats), handle)
    expected = outcome(call, (scipy.signal, scipy.stats), operand)
    if found != expected:  # to the last bit they need not be
        assert [each[:2] for each in found] == [each[:2] for each in expected]
        for (*_, one), (*_, other) in zip(found, expected, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-7)


def slope_along(call: Any, sample: Any) -> None:
    handle = ta.ComputationRecord().tensor(sample)
    direction = np.cos(np.arange(sample.size)).reshape(sample.shape)
    found = np.sum(call(handle).sum().grad().wrt(handle) * direction)
    (expected,) = central_difference(lambda at: [call(at[0]).sum()], [sample], [direction])
    np.testing.assert_allclose(found, expected, rtol=1e-8)


@pytest.mark.skipif(not NEWER, reason="SciPy has them since 1.18")
@pytest.mark.parametrize(
    ("call", "operand"),
    [
        (lambda x: stats.expectile(x, 0.3, axis=1), TABLE),
        (lambda x: stats.expectile(x, 0.3, axis=None, keepdims=True), TABLE),
        (lambda x: stats.expectile(SAMPLE[:4], 0.7, weights=x, axis=1), TABLE),
        (lambda x: stats.obrientransform(x, TABLE[0])[0] ** 2, SAMPLE),
        (lambda x: stats.quantile_test(x, q=1.0, axis=1).confidence_interval(0.5).low ** 2, TABLE),
    ],
)
def test_what_newer_ones_take_is_differentiated(call: Any, operand: Any) -> None:
    slope_along(call, operand)


@pytest.mark.skipif(not NEWER, reason="SciPy has them since 1.18")
def test_gaps_are_left_out_before_clipping() -> None:
    sample = np.append(SAMPLE, np.nan)
    handle = ta.ComputationRecord().tensor(sample)
    found = stats.sigmaclip(handle, 1.5, 1.5, nan_policy="omit")
    expected = scipy.stats.sigmaclip(sample, 1.5, 1.5, nan_policy="omit")
    np.testing.assert_allclose(found.lower.data, expected.lower, rtol=1e-15)
    assert found.upper.grad().wrt(handle)[-1] == 0.0
    with pytest.raises(ValueError, match="contains nan"):
        stats.sigmaclip(handle, nan_policy="raise")


@pytest.mark.skipif(not NEWER, reason="SciPy has them since 1.18")
@pytest.mark.parametrize(
    "call",
    [
        lambda s, x: s.boxcox(np.exp(x), 0.5, nan_policy="omit"),
        lambda s, x: s.yeojohnson(x, 0.5, nan_policy="omit"),
        lambda s, x: s.obrientransform(x, nan_policy="omit")[0],
    ],
)
def test_gaps_in_samples_that_are_transformed_stay(call: Any) -> None:
    sample = np.append(SAMPLE, np.nan)
    handle = ta.ComputationRecord().tensor(sample)
    found, expected = call(stats, handle), call(scipy.stats, sample)
    np.testing.assert_allclose(found.data, expected, rtol=1e-14)
    slopes = np.sum(np.where(np.isnan(expected), 0.0, found) ** 2).grad().wrt(handle)
    direction = np.cos(np.arange(SAMPLE.size)).reshape(SAMPLE.shape)
    (change,) = central_difference(
        lambda at: [np.nansum(call(scipy.stats, np.append(at[0], np.nan)) ** 2)],
        [SAMPLE],
        [direction],
    )
    np.testing.assert_allclose(np.sum(slopes[:-1] * direction), change, rtol=1e-7)
    assert slopes[-1] == 0.0


@pytest.mark.skipif(not NEWER, reason="SciPy has them since 1.18")
def test_a_gap_does_not_move_an_optimum() -> None:
    slopes = ta.grad(lambda x: stats.yeojohnson_normmax(x, nan_policy="omit"))
    without = ta.grad(stats.yeojohnson_normmax)(SAMPLE)
    np.testing.assert_allclose(slopes(np.append(SAMPLE, np.nan)), np.append(without, 0.0))


@pytest.mark.skipif(not NEWER, reason="SciPy has them since 1.18")
@pytest.mark.parametrize(
    "call",
    [
        lambda x: interpolate.griddata(CORNERS, x[:3], CORNERS, simplex_tolerance=2.0),
        lambda x: interpolate.LinearNDInterpolator(CORNERS, x[:3])(CORNERS, simplex_tolerance=2.0),
        lambda x: interpolate.CloughTocher2DInterpolator(CORNERS, x[:3])(
            CORNERS, simplex_tolerance=2.0
        ),
    ],
)
def test_options_of_newer_ones_are_for_plain_arrays(call: Any) -> None:
    with pytest.raises(UnsupportedArgumentError, match="simplex_tolerance="):
        call(ta.ComputationRecord().tensor(SAMPLE))
    call(SAMPLE)


@pytest.mark.skipif(NEWER, reason="SciPy 1.18 gives a tuple")
def test_transformed_samples_of_two_lengths_make_no_array() -> None:
    with pytest.raises(NoRuleError, match="an array of objects with several axes"):
        stats.obrientransform(ta.ComputationRecord().tensor(SAMPLE), SAMPLE[:4])
