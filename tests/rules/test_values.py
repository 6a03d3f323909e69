"""What stands beside a handle may be anything that NumPy takes beside an array.

A partial is as exact as the result's dtype, whatever the dtype of the other operand is: squares of
small unsigned integers, say, must not overflow on their way into it.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tests.rules.checks import close

Function = Callable[..., Any]

OF_COMPLEX: list[Any] = [np.add, np.subtract, np.multiply, np.divide, np.power, np.matmul, np.dot]
OF_REAL: list[Any] = [
    *(np.remainder, np.arctan2, np.hypot, np.logaddexp, np.logaddexp2),
    *(np.maximum, np.minimum, np.fmax, np.fmin, np.inner, np.outer),
]
OF_ARRAYS = {np.matmul}

REAL: dict[str, Any] = {
    "int": 2,
    "float": 2.25,
    "bool": True,
    "np.float32": np.float32(2.3),
    "np.float64": np.float64(2.3),
    "np.int64": np.int64(-2),
    "np.bool": np.bool(True),
    "0-d array": np.array(2.3),
    "list": [1, 2, 4],
    "tuple": (0.25, 1.75, 2.3),
    "int array": np.array([1, -2, 4]),
    "uint8 array": np.array([1, 2, 200], np.uint8),
    "bool array": np.array([True, True, True]),
    "float16 array": np.array([0.3, 1.7, 300.0], np.float16),
    "longdouble array": np.array([0.3, 1.7, 2.3], np.longdouble),
}
COMPLEX: dict[str, Any] = {
    "complex": 1.5 + 0.5j,
    "complex64 array": np.array([0.3, 1.7j, 2.3], np.complex64),
}
ORDERS: dict[str, Callable[[Function], Function]] = {
    "handle first": lambda function: function,
    "handle second": lambda function: lambda x, other: function(other, x),
}

PAIRS = [
    pytest.param(function, other, id=f"{function.__name__}-{name}")
    for function in OF_COMPLEX + OF_REAL
    for name, other in (REAL if function in OF_REAL else REAL | COMPLEX).items()
    if np.ndim(other) or function not in OF_ARRAYS
]

every_pair = pytest.mark.parametrize(("function", "other"), PAIRS)
both_orders = pytest.mark.parametrize("order", ORDERS.values(), ids=ORDERS.keys())


@both_orders
@every_pair
@np.errstate(all="ignore")  # some pairs have no finite value
def test_dtypes_are_numpys(function: Function, other: Any, order: Any) -> None:
    for dtype in (np.float32, np.float64):
        data = np.array([0.5, 1.5, 2.0], dtype)
        x = ta.ComputationRecord().tensor(data)
        result, expected = order(function)(x, other), order(function)(data, other)
        assert result.dtype == expected.dtype
        np.testing.assert_array_equal(result.data, expected)
        assert result.grad(seed=np.ones_like(expected)).wrt(x).dtype == dtype


@both_orders
@every_pair
@np.errstate(all="ignore")  # some pairs have no finite value
def test_gradients_are_as_exact_as_the_result(function: Function, other: Any, order: Any) -> None:
    record = ta.ComputationRecord()
    x, y = record.tensor([0.5, 1.5, 2.0]), record.tensor([0.5, 1.5, 2.0])
    result = order(function)(x, other)
    usual = order(function)(y, np.asarray(other).astype(result.dtype))
    seed = np.ones_like(result.data)
    close([result.grad(seed=seed).wrt(x)], [usual.grad(seed=seed).wrt(y)], 1e-15)
