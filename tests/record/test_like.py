"""NumPy's functions that make arrays, with ``like=`` a handle."""

from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad.errors import UnsupportedArgumentError

CREATING: list[tuple[Any, tuple[Any, ...]]] = [
    (np.zeros, (3,)),
    (np.ones, ((2, 2),)),
    (np.empty, ((0,),)),
    (np.full, (2, 7.0)),
    (np.eye, (2,)),
    (np.identity, (2,)),
    (np.tri, (3,)),
    (np.arange, (0.0, 2.0)),
    (np.array, ([1.0, 2.0],)),
    (np.asarray, (np.array([1.0, 2.0]),)),
    (np.asanyarray, ([1.0, 2.0],)),
    (np.ascontiguousarray, ([1.0, 2.0],)),
    (np.asfortranarray, ([[1.0, 2.0]],)),
    (np.require, ([1.0, 2.0],)),
    (np.fromfunction, (lambda i: i * 2.0, (3,))),
    (np.fromiter, ([1.0, 2.0], float)),
    (np.frombuffer, (np.ones(2).tobytes(),)),
]


def handle(*numbers: float) -> Any:
    return ta.ComputationRecord().tensor(np.array(numbers))


@pytest.mark.parametrize(("function", "args"), CREATING)
def test_what_is_made_is_a_handle_that_can_be_filled(function: Any, args: tuple[Any, ...]) -> None:
    x = handle(3.0)
    made = function(*args, like=x)
    assert type(made) is ta.Tensor
    assert made.record is x.record
    np.testing.assert_array_equal(made.data, function(*args))


def test_a_filled_array_has_a_gradient() -> None:
    x = handle(3.0, 4.0)
    out: Any = np.zeros(2, like=x)
    out[0] = x[1] ** 2
    assert (out[0] + out[1]).grad().wrt(x).tolist() == [0.0, 8.0]


@pytest.mark.parametrize("function", [np.array, np.asarray, np.asanyarray, np.ascontiguousarray])
def test_a_handle_is_taken_as_it_is(function: Any) -> None:
    x = handle(3.0, 4.0)
    y = function(x, like=x)
    assert np.sum(y * y).grad().wrt(x).tolist() == [6.0, 8.0]


def test_lists_of_handles_are_joined() -> None:
    x = handle(3.0, 4.0)
    y = np.array([[x[0], 1.0], [2.0, x[1]]], dtype=np.float32, ndmin=3, like=x)
    assert y.shape == (1, 2, 2)
    assert y.dtype == np.float32
    assert np.sum(y * y).grad().wrt(x).tolist() == [6.0, 8.0]


def test_an_array_is_filled_with_a_handle() -> None:
    x = handle(3.0, 4.0)
    assert np.sum(np.full((3, 2), x, like=x)).grad().wrt(x).tolist() == [3.0, 3.0]


def test_a_copy_is_one_only_where_it_is_asked_for() -> None:
    x = handle(3.0)
    assert np.asarray(x, like=x) is x
    assert np.array(x, like=x) is not x
    with pytest.raises(ValueError, match="copy=False"):
        np.asarray(x, dtype=np.float32, copy=False, like=x)


def test_integers_are_plain() -> None:
    assert type(np.arange(3, like=handle(1.0))) is np.ndarray


def test_a_handle_that_is_no_value_is_refused() -> None:
    x = handle(3.0)
    with pytest.raises(UnsupportedArgumentError, match=r"arange with like=.*t\.data"):
        np.arange(x[0], like=x)


def test_a_function_of_places_may_calculate_with_handles() -> None:
    x = handle(3.0, 4.0)
    made: Any = np.fromfunction(lambda i: i * x, (2,), like=x)
    assert type(made.data) is np.ndarray
    assert np.sum(made).grad().wrt(x).tolist() == [0.0, 1.0]
    assert np.fromfunction(lambda i: 2.0, (2,), like=x) == 2.0
