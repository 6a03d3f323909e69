"""Reductions at special points: ties, zeros, nan, what `where=` leaves out, and refusals."""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad.errors import UnsupportedArgumentError
from tape_ad.testing import check_grads
from tests.rules.checks import close
from tests.shorthand import gradient, handle

Function = Callable[..., Any]


# Extrema

TIES = np.array([1.0, 3.0, 3.0, 2.0, 3.0])


@pytest.mark.parametrize(
    "function", [np.max, np.amax, np.maximum.reduce, np.fmax.reduce, np.nanmax, np.ptp]
)
def test_ties_share_equally(function: Function) -> None:
    expected = [-1 if function is np.ptp else 0, 1 / 3, 1 / 3, 0, 1 / 3]
    np.testing.assert_allclose(gradient(function, TIES), expected, rtol=1e-15)


@pytest.mark.parametrize("function", [np.max, np.nanmax, np.maximum.reduce])
def test_the_initial_value_ties_like_an_element(function: Function) -> None:
    taken = gradient(lambda x: function(x, initial=3.0), TIES)
    np.testing.assert_array_equal(taken, [0, 0.25, 0.25, 0, 0.25])
    np.testing.assert_array_equal(gradient(lambda x: function(x, initial=9.0), TIES), np.zeros(5))


def test_what_is_left_out_does_not_tie() -> None:
    where = [True, True, False, True, False]
    taken = gradient(lambda x: np.max(x, where=where, initial=-np.inf), TIES)
    np.testing.assert_array_equal(taken, [0, 1, 0, 0, 0])


def test_the_range_of_equal_elements_has_gradient_zero() -> None:
    np.testing.assert_array_equal(gradient(np.ptp, [2.0, 2.0, 2.0]), np.zeros(3))


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_tie_in_one_row_and_nan_in_another_do_not_make_up_for_each_other(
    keepdims: bool, dtype: Any
) -> None:
    rows = np.array([[np.nan, 1.0, 0.0], [2.0, 2.0, 1.0], [3.0, 4.0, -np.inf]], dtype)
    taken = gradient(lambda x: np.max(x, axis=1, keepdims=keepdims), rows)
    expected = np.array([[0, 0, 0], [0.5, 0.5, 0], [0, 1, 0]], dtype)
    np.testing.assert_array_equal(taken, expected, strict=True)


def test_an_extremum_that_is_nan_has_gradient_zero() -> None:
    np.testing.assert_array_equal(gradient(np.max, [1.0, np.nan, 2.0]), np.zeros(3))
    np.testing.assert_array_equal(gradient(np.nanmax, [1.0, np.nan, 2.0]), [0, 0, 1])
    with pytest.warns(RuntimeWarning, match="All-NaN"):
        nothing = gradient(np.nanmin, [np.nan, np.nan])
    np.testing.assert_array_equal(nothing, np.zeros(2))


# Products


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ([2.0, 0.0, 3.0, 5.0], [0, 30, 0, 0]),
        ([2.0, 0.0, 3.0, 0.0], [0, 0, 0, 0]),
        ([0.0], [1]),
    ],
)
@pytest.mark.parametrize("function", [np.prod, np.nanprod, np.multiply.reduce])
def test_a_product_with_zeros_is_exact(function: Function, data: Any, expected: Any) -> None:
    np.testing.assert_array_equal(gradient(function, data), expected)


@pytest.mark.parametrize("function", [np.prod, np.multiply.reduce, lambda x: np.cumprod(x)[-1]])
def test_a_product_with_zeros_is_exact_at_second_order(function: Function) -> None:
    outer = ta.ComputationRecord()
    x = outer.tensor([2.0, 0.0, 3.0, 0.0])
    inner = ta.ComputationRecord(within=outer).tensor(x)
    slopes = function(inner).grad().wrt(inner)
    hessian = slopes.grad(np.eye(4)).wrt(x)
    np.testing.assert_array_equal(hessian, [[0, 0, 0, 0], [0, 0, 0, 6], [0, 0, 0, 0], [0, 6, 0, 0]])


# Variance


@pytest.mark.parametrize("value", [0.1, 0.7, 1e9])
@pytest.mark.parametrize("function", [np.std, np.nanstd])
def test_std_of_equal_elements_has_gradient_zero(function: Function, value: float) -> None:
    data = np.full((2, 7), value)
    np.testing.assert_array_equal(gradient(lambda x: function(x, axis=1), data), np.zeros((2, 7)))
    where = np.arange(7) > 2
    taken = gradient(lambda x: function(x, axis=1, where=where), data)
    np.testing.assert_array_equal(taken, np.zeros((2, 7)))


@pytest.mark.parametrize("function", [np.var, np.std])
def test_a_mean_that_is_handed_on_gives_the_same_derivatives(function: Function) -> None:
    data = np.array([[0.3, -1.2, 2.0], [1.1, 0.4, -0.6]])
    outer = ta.ComputationRecord()
    x = outer.tensor(data)

    def slopes(compute: Function) -> Any:
        inner = ta.ComputationRecord(within=outer).tensor(x)
        return np.sum(compute(inner) * [1.0, -2.0, 0.5]).grad().wrt(inner)

    usual = slopes(lambda a: function(a, axis=0))
    handed = slopes(lambda a: function(a, axis=0, mean=np.mean(a, axis=0, keepdims=True)))
    seeds = np.eye(6).reshape(6, 2, 3)
    close([handed.data], [usual.data], 1e-15)
    close([handed.grad(seeds).wrt(x)], [usual.grad(seeds).wrt(x)], 1e-14)


def test_a_mean_is_handed_on_to_nanvar() -> None:
    data = np.array([0.3, np.nan, 2.0])
    handed = gradient(lambda x: np.nanvar(x, mean=np.nanmean(x, keepdims=True)), data)
    np.testing.assert_allclose(handed, gradient(np.nanvar, data), rtol=1e-15)


# What is left out contributes exactly 0, also where it is nan

SIGNS = np.array([-1.0, 4.0, 0.0, 9.0])
POSITIVE = SIGNS > 0


@np.errstate(invalid="ignore", divide="ignore")
@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda x: np.sum(np.sqrt(x), where=POSITIVE), [0, 1 / 4, 0, 1 / 6]),
        (lambda x: np.mean(np.sqrt(x), where=POSITIVE), [0, 1 / 8, 0, 1 / 12]),
        (lambda x: np.max(np.sqrt(x), where=POSITIVE, initial=-1), [0, 0, 0, 1 / 6]),
        (lambda x: np.var(np.sqrt(x), where=POSITIVE), [0, -1 / 8, 0, 1 / 12]),
        (lambda x: np.prod(np.sqrt(x), where=POSITIVE), [0, 3 / 4, 0, 1 / 3]),
        (lambda x: np.logaddexp.reduce(np.log(x), where=POSITIVE), [0, 1 / 13, 0, 1 / 13]),
        (lambda x: np.nansum(np.sqrt(x)[[0, 1, 3]]), [0, 1 / 4, 0, 1 / 6]),
        (lambda x: np.nancumsum(np.sqrt(x)[[0, 1, 3]]), [0, 1 / 2, 0, 1 / 6]),
        (lambda x: np.nanmedian(np.sqrt(x)[[0, 1, 3]]), [0, 1 / 8, 0, 1 / 12]),
    ],
)
def test_what_is_left_out_contributes_nothing(function: Function, expected: Any) -> None:
    np.testing.assert_allclose(gradient(function, SIGNS), expected, rtol=1e-14)


def test_nan_among_what_is_left_out() -> None:
    data, where = np.array([np.nan, 1.0, 4.0]), np.array([False, True, True])
    np.testing.assert_allclose(
        gradient(lambda x: np.var(x, where=where), data), [0, -1.5, 1.5], rtol=1e-15
    )
    np.testing.assert_array_equal(gradient(lambda x: np.prod(x, where=where), data), [0, 4, 1])


# Refusals and dtypes


def test_an_initial_value_cannot_be_a_handle() -> None:
    x = handle([1.0, 2.0])
    with pytest.raises(UnsupportedArgumentError, match=r"np\.sum got a handle in an argument"):
        np.sum(x, initial=x[0])


def test_where_cannot_be_a_handle() -> None:
    x = handle([1.0, 2.0])
    with pytest.raises(UnsupportedArgumentError, match=r"np\.mean got a handle in an argument"):
        np.mean(x, where=x)


@pytest.mark.parametrize(
    "function", [np.sum, np.mean, np.prod, np.max, np.var, np.std, np.ptp, np.nanstd, np.median]
)
def test_single_precision_is_kept(function: Function) -> None:
    x = handle(np.array([[0.5, 1.5, 2.0]], np.float32))
    result = function(x, axis=1)
    assert result.dtype == np.float32
    assert result.grad(np.ones(1, np.float32)).wrt(x).dtype == np.float32


# Other dtypes


MIXED: Any = np.array([[1.5 + 0.5j, -0.7 + 2j, 0.4 - 1j], [0.8 - 0.3j, 1.2 + 0.9j, -1.1 + 0.2j]])
DTYPED: dict[str, Function] = {
    **{
        f"{f.__name__}{' where' if where is not True else ''}": functools.partial(f, where=where)
        for f in (np.var, np.std, np.nanvar, np.nanstd)
        for where in (True, np.array([[True, True, False], [True, True, True]]))
    },
    **{f.__name__: f for f in (np.sum, np.mean, np.prod, np.nansum, np.nanmean, np.nanprod)},
    **{f.__name__: f for f in (np.cumsum, np.cumprod, np.nancumprod)},
    **{
        f"{ufunc.__name__}.{method}": getattr(ufunc, method)
        for ufunc in (np.add, np.multiply, np.subtract, np.divide, np.maximum)
        for method in ("reduce", "accumulate")
    },
    "logaddexp.reduce": np.logaddexp.reduce,
    "multiply.reduceat": lambda a, **options: np.multiply.reduceat(a, [0, 2], **options),
}


ORDERED = {"maximum.reduce", "maximum.accumulate", "logaddexp.reduce"}
"""What takes real numbers only, or compares them."""


@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
@pytest.mark.parametrize("data", [MIXED, MIXED.real], ids=["complex", "real"])
@pytest.mark.parametrize(
    ("name", "dtype"),
    [(name, float) for name in DTYPED]
    + [(name, complex) for name in DTYPED if name not in ORDERED],
)
def test_the_dtype_to_compute_in_decides_what_counts(name: str, dtype: Any, data: Any) -> None:
    check_grads(lambda a: DTYPED[name](a, axis=1, dtype=dtype), (data,))


def test_a_given_mean_of_complex_numbers_has_a_gradient_in_any_dtype() -> None:
    centre = np.array([0.3 + 0.2j, 0.5 - 0.4j, 1.0 + 0j])
    check_grads(lambda a, m: np.var(a, axis=0, mean=m, dtype=complex), (MIXED, centre[None]))


@pytest.mark.parametrize("function", [np.subtract.reduce, np.divide.reduce])
def test_reducing_no_axes_leaves_everything_as_it_is(function: Function) -> None:
    np.testing.assert_array_equal(gradient(lambda x: function(x, axis=()), TIES), np.ones(5))
    np.testing.assert_array_equal(gradient(lambda x: function(x, axis=0), 3.0), 1.0)


@pytest.mark.parametrize("axis", [None, -1, 0, (0, 2)])
@pytest.mark.parametrize("keepdims", [False, True])
def test_the_mean_of_single_precision_is_numpys_number(axis: Any, keepdims: bool) -> None:
    rng = np.random.default_rng(0)
    for shape in ((3, 7, 11), (49, 1, 23), (1, 999, 3)):
        x = rng.normal(size=shape).astype(np.float32) * np.float32(1e10)
        value = np.mean(handle(x), axis=axis, keepdims=keepdims).data
        np.testing.assert_array_equal(value, np.mean(x, axis=axis, keepdims=keepdims), strict=True)
