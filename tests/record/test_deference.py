"""Handles leave arithmetic to the arrays of other libraries just as NumPy's arrays do."""

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tape_ad.record.dispatch import record_call
from tests.shorthand import handle


class Labelled:
    """An array with a label, as xarray's are: it takes part in ufuncs."""

    def __init__(self, values: Any, label: str) -> None:
        self.values, self.label = values, label

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        plain = [each.values if isinstance(each, Labelled) else each for each in inputs]
        return Labelled(getattr(ufunc, method)(*plain, **options), self.label)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return self.label, function.__name__


class Outside:
    """Something that takes part in no ufunc, and has operators."""

    __array_ufunc__ = None

    def __rmul__(self, other: Any) -> Any:
        return "rmul", other

    def __rmatmul__(self, other: Any) -> Any:
        return "rmatmul", other

    def __gt__(self, other: Any) -> Any:
        return "gt", other


OPERATORS: list[Callable[[Any, Any], Any]] = [
    operator.add,
    operator.mul,
    operator.truediv,
    operator.pow,
    np.multiply,
    np.arctan2,
]


@pytest.mark.parametrize("op", OPERATORS)
def test_an_array_that_takes_part_in_ufuncs_keeps_the_gradient(op: Callable[..., Any]) -> None:
    x, other = handle([1.0, 2.0]), Labelled(np.array([3.0, 0.5]), "metres")
    result = op(x, other)
    assert result.label == "metres"
    plain = op(x, other.values)
    np.testing.assert_array_equal(result.values.data, plain.data)
    seed = np.ones(2)
    np.testing.assert_array_equal(result.values.grad(seed).wrt(x), plain.grad(seed).wrt(x))


def test_comparisons_too() -> None:
    below = handle([1.0, 2.0]) < Labelled(np.array([3.0, 0.5]), "metres")
    assert below.label == "metres"
    np.testing.assert_array_equal(below.values, [True, False])


def test_what_takes_part_in_no_ufunc_has_its_own_operators() -> None:
    x, other = handle([1.0, 2.0]), Outside()
    multiply: Any = np.multiply  # whose types know what it refuses
    assert x * other == ("rmul", x)
    assert x @ other == ("rmatmul", x)
    assert (x < other)[0] == "gt"
    with pytest.raises(TypeError, match="unsupported operand"):
        x + other
    with pytest.raises(TypeError, match="does not support ufuncs"):
        multiply(x, other)


def test_an_unknown_type_answers_numpys_functions_itself() -> None:
    x = handle([1.0, 2.0])
    assert np.concatenate([x, Labelled(np.ones(1), "metres")]) == ("metres", "concatenate")


def test_a_call_from_within_says_which_types_do_not_go_together() -> None:
    with pytest.raises(TypeError, match=r"np\.matmul of Labelled, tape_ad\.Tensor"):
        record_call(np.matmul, (handle([1.0, 2.0]), Labelled(np.ones(2), "metres")))
