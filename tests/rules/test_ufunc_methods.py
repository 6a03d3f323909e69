"""Methods of ufuncs on handles."""

from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad.base.naming import function_name
from tape_ad.errors import InPlaceError, NoRuleError, ShapeError
from tape_ad.rules import RULES, load_lazy_tables
from tape_ad.rules.base import Rule
from tests.rules.checks import close
from tests.shorthand import handle

load_lazy_tables()

BINARY = [
    function
    for function, entry in RULES.items()
    if isinstance(function, np.ufunc) and isinstance(entry, Rule) and None not in entry.makers
    if function.nin == 2 and function.nout == 1 and function.signature is None
    if getattr(np, function.__name__, None) is function  # SciPy's are there once it is imported
]


@pytest.mark.parametrize("ufunc", BINARY, ids=function_name)
def test_outer_is_the_broadcast_call(ufunc: np.ufunc) -> None:
    rng = np.random.default_rng(5)
    one, other = rng.uniform(0.5, 2.0, (2, 3)), rng.uniform(0.5, 2.0, 4)
    record = ta.ComputationRecord()
    x, y = record.tensor(one), record.tensor(other)
    outer: Any = ufunc.outer(x, y)
    usual = ufunc(x[:, :, None], y)
    np.testing.assert_array_equal(outer.data, ufunc.outer(one, other))
    seed = rng.standard_normal((2, 3, 4))
    close(outer.grad(seed).wrt([x, y]), usual.grad(seed).wrt([x, y]), 1e-15)


def test_outer_of_a_handle_and_others() -> None:
    x = ta.ComputationRecord().tensor([1.0, 2.0])
    np.testing.assert_array_equal(
        np.multiply.outer(x, [[3.0], [5.0]]).data, [[[3], [5]], [[6], [10]]]
    )
    np.testing.assert_array_equal(np.subtract.outer(3.0, x).data, [2.0, 1.0])
    np.testing.assert_array_equal(np.less.outer(x, [1.5]), [[True], [False]])
    assert np.add.outer(x, x, dtype=np.float32).dtype == np.float32


def pulled(result: Any, x: Any) -> Any:
    return result.grad(np.ones(result.shape)).wrt(x)


TIES = [1.0, 3.0, 3.0, 2.0, 3.0, 5.0]


def test_what_ties_in_a_running_maximum_shares_equally() -> None:
    x = handle(TIES)
    last: Any = np.maximum.accumulate(x)[4]
    np.testing.assert_allclose(last.grad().wrt(x), [0, 1 / 3, 1 / 3, 0, 1 / 3, 0], rtol=1e-15)
    np.testing.assert_allclose(pulled(np.maximum.accumulate(x), x), [1, 7 / 3, 4 / 3, 0, 1 / 3, 1])
    np.testing.assert_array_equal(np.minimum.accumulate(-x)[4].grad().wrt(x), -last.grad().wrt(x))


def test_what_ties_in_a_segment_shares_equally() -> None:
    x = handle(TIES)
    out = np.maximum.reduceat(x, [0, 3, 1])
    np.testing.assert_array_equal(out.data, [3, 2, 5])
    np.testing.assert_array_equal(out[0].grad().wrt(x), [0, 0.5, 0.5, 0, 0, 0])


def test_running_extrema_meet_nan() -> None:
    x = handle([2.0, np.nan, 1.0, 4.0])
    with np.errstate(invalid="ignore"):
        spoilt, passed = np.maximum.accumulate(x), np.fmax.accumulate(x)
    np.testing.assert_array_equal(pulled(spoilt, x), [1, 0, 0, 0])
    np.testing.assert_array_equal(pulled(passed, x), [3, 0, 0, 1])


@pytest.mark.parametrize("ufunc", [np.logaddexp, np.logaddexp2])
def test_sums_of_exponentials_of_nothing(ufunc: np.ufunc) -> None:
    x = handle([-np.inf, -np.inf, 0.0])
    np.testing.assert_array_equal(pulled(ufunc.reduce(x), x), [0, 0, 1])
    np.testing.assert_array_equal(pulled(ufunc.accumulate(x)[2:], x), [0, 0, 1])


def test_a_cumulative_product_with_zeros_is_exact() -> None:
    x = handle([2.0, 0.0, 3.0, 0.0, 5.0])
    out: Any = np.cumprod(x)
    np.testing.assert_array_equal(
        out.grad(np.eye(5)).wrt(x),
        [[1, 0, 0, 0, 0], [0, 2, 0, 0, 0], [0, 6, 0, 0, 0], [0, 0, 0, 0, 0], [0, 0, 0, 0, 0]],
    )


def test_writing_methods_are_refused() -> None:
    with pytest.raises(InPlaceError, match=r"np\.add\.at writes to its first argument"):
        np.add.at(handle([1.0, 2.0]), [0], 1.0)


@pytest.mark.parametrize("ufunc", [np.maximum, np.minimum, np.fmax, np.fmin], ids=function_name)
def test_an_extremum_is_found_in_the_dtype_that_it_was_computed_in(ufunc: np.ufunc) -> None:
    x = handle([0.1, 0.7, 0.3])
    np.testing.assert_array_equal(pulled(ufunc.reduce(x, dtype="f4"), x).sum(), 1)
    np.testing.assert_array_equal(pulled(ufunc.accumulate(x, dtype="f4"), x).sum(), 3)
    np.testing.assert_array_equal(pulled(ufunc.reduceat(x, [0, 1], dtype="f4"), x).sum(), 2)


OUTS: dict[str, Any] = {
    "cumsum": lambda x, out: np.cumsum(x, out=out),
    "multiply.accumulate": lambda x, out: np.multiply.accumulate(x, out=out),
    "logaddexp.reduce": lambda x, out: np.logaddexp.reduce(x, out=out),
    "add.reduceat": lambda x, out: np.add.reduceat(x, [0], out=out),
    "sum": lambda x, out: np.sum(x, out=out),
    "nanmax": lambda x, out: np.nanmax(x, out=out),
    "std": lambda x, out: np.std(x, out=out),
    "median": lambda x, out: np.median(x, out=out),
    "nanquantile": lambda x, out: np.nanquantile(x, 0.5, out=out),
}


@pytest.mark.parametrize("name", OUTS)
def test_results_are_assigned_to_a_handle(name: str) -> None:
    x = handle([1.0, 2.0])
    shape = np.shape(OUTS[name](np.array([1.0, 2.0]), None))
    out = x.record.constant(np.zeros(shape))
    assert OUTS[name](x, out) is out
    plain = OUTS[name](x, None)
    np.testing.assert_array_equal(out.data, plain.data)
    seed = np.ones(shape)
    np.testing.assert_array_equal(out.grad(seed).wrt(x), plain.grad(seed).wrt(x))


@pytest.mark.parametrize("name", OUTS)
def test_results_are_not_assigned_to_another_shape(name: str) -> None:
    x = handle([1.0, 2.0])
    out = x.record.constant(np.zeros((3, 2)))
    with pytest.raises(ShapeError, match="does not go into a handle of shape"):
        OUTS[name](x, out)
    np.testing.assert_array_equal(out.data, np.zeros((3, 2)))


@pytest.mark.parametrize("ufunc", [np.divide, np.logaddexp, np.logaddexp2], ids=function_name)
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_left_out_of_a_reduction_is_left_out_of_tangents(
    ufunc: np.ufunc, bad: float
) -> None:
    def reduced(x: Any) -> Any:
        return ufunc.reduce(x, initial=1.0, where=np.array([False, True, True]))

    x, t = np.array([bad, 2.0, 3.0]), np.array([1.0, -1.0, 0.5])
    slopes = ta.grad(reduced)(x)
    np.testing.assert_allclose(ta.jvp(reduced, (x,), (t,))[1], slopes @ t, rtol=1e-14)
    curvature = ta.jvp(ta.grad(reduced), (x,), (t,))[1]
    np.testing.assert_allclose(curvature, ta.hessian(reduced)(x) @ t, rtol=1e-14)
    assert slopes[0] == curvature[0] == 0


def test_a_method_without_a_rule_says_so() -> None:
    with pytest.raises(NoRuleError, match=r"np\.arctan2\.accumulate has no rule"):
        np.arctan2.accumulate(handle([1.0, 2.0]))
