"""Differences, averages, covariances and histograms at special points, and their refusals."""

from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad.errors import UnsupportedArgumentError
from tests.rules.checks import close
from tests.shorthand import handle

numpy: Any = np  # called here with what its annotations do not foresee


def test_coordinates_that_are_evenly_spaced_by_chance() -> None:
    values = np.array([0.3, -1.0, 2.0, 0.7])
    record = ta.ComputationRecord()
    even = record.tensor([0.0, 1.0, 2.0, 3.0])
    nearly = record.tensor([0.0, 1.0, 2.0, 3.0 + 1e-9])
    seed = np.array([1.0, -0.5, 2.0, 0.3])
    one: Any = np.gradient(values, even)
    other: Any = np.gradient(values, nearly)
    close([one.data], [np.gradient(values, even.data)], 1e-15)
    close([one.grad(seed).wrt(even)], [other.grad(seed).wrt(nearly)], 1e-7)


def test_the_gradient_keeps_single_precision() -> None:
    x = handle(np.array([0.5, 1.0, 4.0], np.float32))
    assert np.gradient(x, np.array([0.0, 1.0, 3.0])).dtype == np.float32
    assert np.gradient(x, 0.5).dtype == np.float32


def test_gradient_refuses_what_numpy_refuses() -> None:
    x = handle(np.ones((3, 2)))
    with pytest.raises(TypeError, match="invalid number of arguments"):
        np.gradient(x, 1.0, 2.0, 3.0)
    with pytest.raises(ValueError, match="edge_order"):
        numpy.gradient(x, edge_order=3)
    with pytest.raises(ValueError, match="at least"):
        np.gradient(x, edge_order=2)
    with pytest.raises(ValueError, match="must match the length"):
        np.gradient(x, [1.0, 2.0], 1.0)
    with pytest.raises(ValueError, match="scalars or 1d"):
        np.gradient(x, np.ones((3, 1)), 1.0)


def test_an_integral_over_a_step_that_is_a_handle() -> None:
    step = handle(0.5)
    area: Any = np.trapezoid([1.0, 2.0, 4.0], dx=step)
    assert area.grad().wrt(step) == 4.5


def test_what_is_joined_to_differences_gets_its_gradient() -> None:
    record = ta.ComputationRecord()
    x, before = record.tensor([1.0, 4.0]), record.tensor(0.5)
    out: Any = np.diff(x, prepend=before, append=9.0)
    np.testing.assert_array_equal(out.data, [0.5, 3, 5])
    taken = out.grad([1.0, 10.0, 100.0]).wrt({"x": x, "before": before})
    np.testing.assert_array_equal(taken["x"], [-9, -90])
    assert taken["before"] == -1


def test_ediff1d_refuses_other_dtypes() -> None:
    with pytest.raises(TypeError, match="to_end"):
        np.ediff1d(handle([1.0, 2.0]), to_end=[1j])


def test_averages_refuse_weights_that_do_not_fit() -> None:
    x = handle(np.ones((2, 3)))
    with pytest.raises(TypeError, match="Axis must be specified"):
        np.average(x, weights=[1.0, 2.0])
    with pytest.raises(ValueError, match=r"Shape of weights must [\s\S]* of shapes \(2, 3\)"):
        np.average(x, axis=1, weights=[1.0, 2.0])
    with pytest.raises(ZeroDivisionError, match="sum to zero"):
        np.average(x, axis=0, weights=[1.0, -1.0])


def test_covariances_refuse_weights_that_do_not_fit() -> None:
    x = handle(np.ones((2, 3)))
    with pytest.raises(TypeError, match="must be integer"):
        numpy.cov(x, fweights=[0.5, 1.0, 1.0])
    with pytest.raises(ValueError, match="aweights cannot be negative"):
        np.cov(x, aweights=[-0.5, 1.0, 1.0])
    with pytest.raises(RuntimeError, match="numbers of samples and fweights"):
        np.cov(x, fweights=[1, 1])
    with pytest.raises(ValueError, match="ddof must be integer"):
        numpy.cov(x, ddof=0.5)


def test_a_variable_correlates_with_itself_whatever_it_is() -> None:
    x = handle([[1.0, 2.0, 4.0], [3.0, -1.0, 0.5]])
    c: Any = np.corrcoef(x)
    np.testing.assert_allclose(c[0, 0].grad().wrt(x), np.zeros((2, 3)), atol=1e-15)


def test_covariances_without_freedom_warn_as_numpy_does() -> None:
    with pytest.warns(RuntimeWarning, match="Degrees of freedom <= 0"):
        assert np.isnan(np.cov(handle([1.0])).data)


# Histograms

SAMPLE = np.array([0.1, 0.4, 0.4, 0.9, 1.0, -0.3])


@pytest.mark.parametrize("density", [False, True])
@pytest.mark.parametrize("bins", [4, [0.0, 0.4, 0.5, 1.0], "sqrt"])
def test_edges_move_with_the_ends_of_the_sample(bins: Any, density: bool) -> None:
    moves = not isinstance(bins, list)
    found = np.histogram(handle(SAMPLE), bins, density=density)
    for got, expected, move in zip(
        found,
        np.histogram(SAMPLE, bins, density=density),
        (moves and density, moves),
        strict=True,
    ):
        assert isinstance(got, ta.Tensor) == move
        np.testing.assert_array_equal(got.data if move else got, expected, strict=True)


@pytest.mark.parametrize("values", [[2.0, 2.0], [2.0], []])
def test_edges_of_a_sample_without_width(values: list[float]) -> None:
    sample = np.array(values)
    jacobian = ta.jacobian(lambda x: np.histogram_bin_edges(x, 3) + 0 * x.sum())(sample)
    slopes = [[0.5, 0.5], [1.0], []][[2, 1, 0].index(len(values))]
    np.testing.assert_array_equal(jacobian, [slopes] * 4)
    edges = np.histogram_bin_edges(handle(sample), 3)
    np.testing.assert_array_equal(getattr(edges, "data", edges), np.histogram(sample, 3)[1])


def test_histograms_of_handles_in_two_dimensions_count() -> None:
    x, y = handle(SAMPLE), SAMPLE[::-1]
    heights, first, second = numpy.histogram2d(x, y, bins=[0.0, 0.4, 0.5, 1.0])
    expected = numpy.histogram2d(SAMPLE, y, bins=[0.0, 0.4, 0.5, 1.0])
    np.testing.assert_array_equal(heights, expected[0], strict=True)
    np.testing.assert_array_equal([first, second], expected[1:])
    several, edges = np.histogramdd(handle(np.stack((SAMPLE, y), axis=1)), bins=(2, 3))
    np.testing.assert_array_equal(
        several, np.histogramdd(np.stack((SAMPLE, y), axis=1), bins=(2, 3))[0], strict=True
    )
    assert [edge.size for edge in edges] == [3, 4]


def test_bins_cannot_be_handles() -> None:
    bins = handle([0.0, 0.5, 1.0])
    with pytest.raises(UnsupportedArgumentError, match=r"np\.histogram: bins= got a handle"):
        np.histogram(SAMPLE, bins)
    with pytest.raises(UnsupportedArgumentError, match=r"np\.histogramdd: bins= got a handle"):
        np.histogramdd((SAMPLE, SAMPLE), [bins, bins])


def test_weights_of_a_histogram_have_the_shape_of_the_sample() -> None:
    with pytest.raises(ValueError, match="same shape as a"):
        np.histogram(SAMPLE, weights=handle([1.0, 2.0]))


def test_bincount_adds_up_weights() -> None:
    weights = handle([1.0, 2.0, 4.0])
    sums: Any = np.bincount([2, 0, 2], weights, minlength=4)
    np.testing.assert_array_equal(sums.data, [2, 0, 5, 0])
    np.testing.assert_array_equal(sums.grad([1.0, 10.0, 100.0, 1e3]).wrt(weights), [100, 1, 100])
