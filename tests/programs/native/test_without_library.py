"""Native code where there is no vector library: arrays by NumPy's loops, numbers by libm."""

import math
from typing import Any

import numpy as np
import pytest
import scipy.special

pytest.importorskip("llvmlite")

import tape_ad as ta
from tape_ad.programs.engines.native.codegen.vectors import NO_LIBRARY
from tests.accuracy.computing import native
from tests.programs.native.hosts import using

CALLS = [np.exp, np.log1p, np.tanh, np.sin, np.arctan, np.cbrt]


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("function", CALLS, ids=lambda function: function.__name__)
def test_arrays_have_numpys_bits(function: Any, dtype: str) -> None:
    x = np.random.default_rng(0).uniform(0.1, 3, (50, 40)).astype(dtype)
    with using(NO_LIBRARY):
        compiled = native(function, x)
        np.testing.assert_array_equal(compiled(x), function(x))


def test_scipys_functions_are_libms() -> None:
    x = np.linspace(0.1, 6, 200)
    with using(NO_LIBRARY):
        found = native(scipy.special.erf, x)(x)
    np.testing.assert_array_equal(found, [math.erf(each) for each in x])


@pytest.mark.parametrize("function", CALLS, ids=lambda function: function.__name__)
def test_numbers_are_close(function: Any) -> None:
    x = np.float64(1.25)
    with using(NO_LIBRARY):
        compiled = native(function, x)
        assert abs(compiled(x) / function(x) - 1) <= 4 * np.finfo(float).eps


def test_operands_of_several_kinds() -> None:
    def function(x: Any, y: Any, n: Any) -> Any:
        e = np.exp(x) * y[:, None] + np.power(n, 1.5)
        return np.sum(np.tanh(e.T[::2]) + np.arctan2(x.T[::2], 2.0) + np.exp(n.T[::2]))

    rng = np.random.default_rng(0)
    args = rng.normal(size=(30, 20)), rng.normal(size=30), rng.integers(0, 5, (30, 20))
    with using(NO_LIBRARY):
        compiled = native(ta.value_and_grad(function), *args)
        value, slope = compiled(*args)
    expected, wanted = ta.value_and_grad(function)(*args)
    np.testing.assert_allclose(value, expected, rtol=1e-14)
    np.testing.assert_allclose(slope, wanted, rtol=1e-13)


def test_numpys_loops_take_views() -> None:
    x = np.random.default_rng(0).normal(size=(40, 60))
    for view in (x.T, x[::-1], x[:, ::3], np.broadcast_to(x[0], (40, 60))):
        with using(NO_LIBRARY):
            compiled = native(np.tanh, view)
            np.testing.assert_allclose(compiled(view), np.tanh(view), rtol=1e-15)
