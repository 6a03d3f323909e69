"""Padding at its special points: margins longer than the array, ties, values that are handles."""

from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad.rules.numpy import padding
from tests.rules.checks import close

pad: Any = np.pad  # NumPy's types do not know handles

LINEAR: dict[str, dict[str, Any]] = {
    "edge": {"mode": "edge"},
    "wrap": {"mode": "wrap"},
    "linear_ramp": {"mode": "linear_ramp"},
    "mean": {"mode": "mean", "stat_length": 2},
    "reflect even": {"mode": "reflect"},
    "reflect odd": {"mode": "reflect", "reflect_type": "odd"},
    "symmetric even": {"mode": "symmetric"},
    "symmetric odd": {"mode": "symmetric", "reflect_type": "odd"},
}


@pytest.mark.parametrize("options", LINEAR.values(), ids=LINEAR.keys())
@pytest.mark.parametrize("length", range(1, 6))
def test_a_linear_mode_is_its_own_partial_for_all_widths(
    length: int, options: dict[str, Any]
) -> None:
    x = np.random.default_rng(length).normal(size=(length, 2))
    for width in np.ndindex(12, 12):
        widths = (width, (1, 0))
        value, tangent = ta.jvp(lambda x, widths=widths: pad(x, widths, **options), (x,), (x,))
        np.testing.assert_array_equal(value, pad(x, widths, **options))
        close([tangent], [value], 1e-14)


@pytest.mark.parametrize("mode", ["maximum", "minimum"])
def test_ties_share_the_gradient(mode: str) -> None:
    x = ta.ComputationRecord().tensor([1.0, 2.0, 1.0, 2.0])
    seed = np.array([1.0, 0.0, 0.0, 0.0, 0.0])
    gradient = pad(x, (1, 0), mode).grad(seed=seed).wrt(x)
    np.testing.assert_array_equal(gradient, (x.data == (1.0 if mode == "minimum" else 2.0)) / 2)


def test_an_even_median_is_half_of_each_of_the_middle_elements() -> None:
    x = ta.ComputationRecord().tensor([4.0, 1.0, 3.0, 2.0])
    padded = pad(x, (0, 1), "median")
    gradient = padded.grad(seed=np.array([0.0, 0.0, 0.0, 0.0, 1.0])).wrt(x)
    np.testing.assert_array_equal(gradient, [0.0, 0.0, 0.5, 0.5])


def test_an_extremum_that_is_nan_has_no_gradient() -> None:
    x = ta.ComputationRecord().tensor([np.nan, 1.0])
    gradient = pad(x, (1, 0), "maximum").grad(seed=np.ones(3)).wrt(x)
    np.testing.assert_array_equal(gradient, [1.0, 1.0])


def test_the_undefined_margins_of_empty_have_no_gradient() -> None:
    x = ta.ComputationRecord().tensor([1.0, 2.0])
    gradient = pad(x, 2, "empty").grad(seed=np.arange(6.0)).wrt(x)
    np.testing.assert_array_equal(gradient, [2.0, 3.0])


def test_a_corner_belongs_to_the_last_axis() -> None:
    x = ta.ComputationRecord().tensor(np.zeros((1, 1)))
    values = np.zeros((2, 2)) + np.sum(x)
    gradient = pad(x, 1, constant_values=values).grad(seed=np.ones((3, 3))).wrt(values)
    np.testing.assert_array_equal(gradient, [[1.0, 1.0], [3.0, 3.0]])


@pytest.mark.parametrize("mode", ["constant", "linear_ramp"])
def test_values_of_an_enclosing_record_are_differentiated_there(mode: str) -> None:
    outer = ta.ComputationRecord()
    value = outer.tensor(2.0)
    inner = ta.ComputationRecord(within=outer)
    x = inner.tensor([1.0, 3.0])
    name = padding.VALUES[mode]
    squares = pad(x, (1, 0), mode, **{name: value}) ** 2
    assert squares.grad(seed=np.ones(3)).wrt(x).record is outer or mode == "constant"
    np.testing.assert_array_equal(squares.data.data, [4.0, 1.0, 9.0])
    assert squares.data.grad(seed=np.ones(3)).wrt(value) == 4.0


def test_values_are_cast_to_the_dtype_of_the_array() -> None:
    record = ta.ComputationRecord()
    x, value = record.tensor(np.ones(2, np.float32)), record.tensor(2.5)
    padded = pad(x, 1, constant_values=value)
    assert padded.dtype == np.float32
    gradient = padded.grad(seed=np.ones(4, np.float32)).wrt(value)
    assert gradient.dtype == np.float64
    assert gradient == 2.0


def test_padding_with_a_constant_is_one_node() -> None:
    record = ta.ComputationRecord()
    x = record.tensor(np.ones((2, 3)))
    pad(x, 2)
    assert len(record) == 2


def test_widths_by_axis() -> None:
    assert padding.widths_of(3, {0: 1, -1: (2, 3)}) == [(1, 1), (0, 0), (2, 3)]


def test_a_function_as_mode_is_refused() -> None:
    x = ta.ComputationRecord().tensor([1.0, 2.0])
    with pytest.raises(ta.errors.UnsupportedArgumentError, match="a function as mode="):
        pad(x, 1, lambda *args: None)


def test_wrong_modes_and_options_are_numpys_errors() -> None:
    x = ta.ComputationRecord().tensor([1.0, 2.0])
    with pytest.raises(ValueError, match="mode 'mirror' is not supported"):
        pad(x, 1, "mirror")
    with pytest.raises(ValueError, match="unsupported keyword arguments"):
        pad(x, 1, "edge", stat_length=2)


SIMPLE = [0, 1, 3, (2, 1), ((1, 0), (0, 2)), [(1, 0), (0, 2)], ((1,), (2,)), np.int64(1)]
if np.lib.NumpyVersion(np.__version__) >= "2.4.0":  # NumPy 2.0 takes no dict
    SIMPLE.append({1: 2})


@pytest.mark.parametrize("widths", SIMPLE, ids=str)
@pytest.mark.parametrize("dtype", ["f4", "f8", "c16"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_zeros_around_an_array_lie_as_numpy_lays_them(widths: Any, dtype: str, order: Any) -> None:
    x = np.asarray(np.arange(1.0, 7.0).reshape(2, 3), dtype, order=order)
    padded = pad(ta.ComputationRecord().tensor(x), widths).data
    expected = pad(x, widths)
    np.testing.assert_array_equal(padded, expected)
    assert padded.dtype == expected.dtype
    assert padded.strides == expected.strides


@pytest.mark.parametrize("widths", [-1, ((-1, 0), (0, 0)), 1.5, ((1, 1), (1.5, 0)), ((1, 1),) * 3])
def test_widths_that_numpy_refuses(widths: Any) -> None:
    x = np.ones((2, 3))
    with pytest.raises((ValueError, TypeError)) as expected:
        pad(x, widths)
    with pytest.raises(expected.type):
        pad(ta.ComputationRecord().tensor(x), widths)
