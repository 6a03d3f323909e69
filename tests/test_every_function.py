"""Every function of NumPy that answers to handles: a handle, plain data on purpose, or an error."""

import contextlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import overrides

import tape_ad as ta
from tape_ad.rules import RULES, load_further_rules
from tape_ad.rules.base import Constant, Filled

load_further_rules()

X = np.array([[0.5, -1.5, 2.0], [3.0, 0.25, -0.75]])


def handle(data: Any = X) -> Any:
    return ta.ComputationRecord().tensor(data)


def contains_handle(result: Any) -> bool:
    if isinstance(result, (list, tuple)):
        return any(map(contains_handle, result))
    return isinstance(result, ta.Tensor)


def contains_floats(result: Any) -> bool:
    if isinstance(result, (list, tuple)):
        return any(map(contains_floats, result))
    return np.asarray(result).dtype.kind in "fcO" if not isinstance(result, type) else False


def plain_on_purpose(function: Any) -> bool:
    return isinstance(RULES.get(function), (Constant, Filled)) or function.__name__ in (
        "sign",
        "where",  # of a condition that is a handle, and plain choices
        "tri",  # of a size
        "angle",  # of real numbers, which is 0 or pi
        "heaviside",  # of where the step is
        *("compress", "extract"),  # of a condition that is a handle, and a plain array
        "fromiter",  # of numbers, each read by float()
        *("histogram", "histogram2d", "histogramdd"),  # counts, and bins that are constant
    )


LEADING: list[Callable[[Callable[..., Any], Any], Any]] = [
    lambda f, t: f(t),
    lambda f, t: f(t, t),
    lambda f, t: f(t, t, t),
    lambda f, t: f([t]),
    lambda f, t: f([t, t]),
    lambda f, t: f([t, t.data.copy()], 0),
    lambda f, t: f([t.data.copy(), t]),
    lambda f, t: f(t, t.data.copy()),
    lambda f, t: f(t, 0),
    lambda f, t: f(t, 1),
    lambda f, t: f(t, (0,)),
    lambda f, t: f(t, 0, 0),
    lambda f, t: f(t, t.data.copy(), t),
    lambda f, t: f(t, t > 0),
    lambda f, t: f("ij,jk", t, t),
]

FOLLOWING: list[Callable[[Callable[..., Any], Any], Any]] = [
    lambda f, t: f(t.data.copy(), t),
    lambda f, t: f(0, t),
    lambda f, t: f(t > 0, t),
]

# In their second place stands a flag, a size, a dtype or a tolerance, not a value; or it decides
# only which sign, or which values of the first, are taken.
NOT_A_VALUE = {
    *("copysign", "intersect1d", "setdiff1d"),
    *("angle", "array", "asanyarray", "asarray", "ascontiguousarray", "asfortranarray", "empty"),
    *("frombuffer", "identity", "nan_to_num", "ones", "polyint", "real_if_close", "require"),
    *("unique", "zeros", "repack_fields", "require_fields", "stack_arrays", "full", "eye"),
    *("isposinf", "isneginf", "linspace", "geomspace", "logspace", "cov", "corrcoef", "average"),
}

FUNCTIONS = sorted(
    overrides.get_overridable_numpy_array_functions() | overrides.get_overridable_numpy_ufuncs(),
    key=lambda function: (getattr(function, "__module__", None) or "numpy", function.__name__),
)


def silent_calls(calls: list[Any], shape: tuple[int, ...]) -> list[tuple[str, int]]:
    """Call every function, and list the calls that give floats, no handle and no error."""
    silent = []
    for function in FUNCTIONS:
        for number, call in enumerate(calls):
            t = handle(np.random.default_rng(3).uniform(0.1, 0.9, shape))
            value = t.data.copy()
            with contextlib.suppress(Exception):
                result = call(function, t)
                if contains_floats(result) and not contains_handle(result):
                    silent.append((function.__name__, number))
            np.testing.assert_array_equal(t.data, value, err_msg=function.__name__)
    return [(name, number) for name, number in silent if not plain_on_purpose(name_of[name])]


name_of = {function.__name__: function for function in FUNCTIONS}


@pytest.mark.filterwarnings("ignore")  # these calls make little sense, and NumPy says so
@pytest.mark.parametrize("shape", [(), (3,), (3, 3)])
def test_no_function_drops_the_gradient_without_a_word(shape: tuple[int, ...]) -> None:
    assert silent_calls(LEADING, shape) == []
    following = silent_calls(FOLLOWING, shape)
    assert [(name, number) for name, number in following if name not in NOT_A_VALUE] == []


def test_there_are_many_functions_to_try() -> None:
    assert len(FUNCTIONS) > 250
    assert {np.add, np.sum, np.linalg.svd, np.einsum} <= set(FUNCTIONS)
