"""Constants: handles that depend on nothing."""

import sys
from typing import Any

import numpy as np
import pytest

import tape_ad as ta
import tape_ad.interop.array_api as xp
from tape_ad.errors import InPlaceError, RecordMismatchError
from tape_ad.record.constants import ConstantTensor


def handle(*numbers: float) -> Any:
    return ta.ComputationRecord().tensor(np.array(numbers))


def test_what_depends_on_nothing_is_a_constant() -> None:
    assert type(xp.asarray([1.0, 2.0])) is ConstantTensor


def test_among_constants_operators_give_constants() -> None:
    x = xp.asarray([1, 2, 6])
    assert type(x + x) is ConstantTensor
    assert ((x << 1) | 1).tolist() == [3, 5, 13]
    assert (~x & 3).tolist() == [2, 1, 1]


@pytest.mark.parametrize("function", [np.add, np.multiply, np.arctan2, np.maximum])
def test_with_a_handle_a_constant_is_its_array(function: Any) -> None:
    x, c = handle(1.0, 2.0), np.array([3.0, -4.0])
    both = function(xp.asarray(c), x), function(x, xp.asarray(c))
    plain = function(c, x), function(x, c)
    for one, other in zip(both, plain, strict=True):
        np.testing.assert_array_equal(one.data, other.data)
        np.testing.assert_array_equal(one.grad(np.ones(2)).wrt(x), other.grad(np.ones(2)).wrt(x))


def test_a_constant_is_an_index_of_a_handle() -> None:
    x = handle(1.0, 2.0, 3.0)
    y = x[xp.asarray([True, False, True])] * x[xp.asarray([1, 2])]
    assert np.sum(y).grad().wrt(x).tolist() == [2.0, 1.0, 6.0]


def test_a_slice_keeps_the_number_that_a_constant_had() -> None:
    x, end = handle(1.0, 2.0, 3.0), xp.asarray(2)
    y = np.sum(x[:end])
    end += 1
    assert y.grad().wrt(x).tolist() == [1.0, 1.0, 0.0]


def test_gradients_are_plain_arrays() -> None:
    x = handle(1.0, 2.0)
    x.__array_namespace__()
    g = np.sum(np.where(x > 1, x, 0) * xp.asarray([1.0, 5.0])).grad().wrt(x)
    assert type(g) is np.ndarray
    assert g.tolist() == [0.0, 5.0]


def test_an_assigned_handle_makes_a_handle_of_a_constant() -> None:
    x, out = handle(1.0, 2.0), xp.zeros(3)
    out[1] = x[0] * 3
    assert type(out) is ta.Tensor
    assert np.sum(out * out).grad().wrt(x).tolist() == [18.0, 0.0]


def test_an_assigned_handle_is_seen_through_all_views() -> None:
    x, out = handle(1.0, 2.0), xp.zeros((2, 2))
    row, column = out[0], out.T[0]
    row[...] = x
    assert out.tolist() == [[1.0, 2.0], [0.0, 0.0]]
    assert column.tolist() == [1.0, 0.0]
    assert np.sum(column * 5 + out[0]).grad().wrt(x).tolist() == [6.0, 1.0]


def test_a_handle_is_added_in_place() -> None:
    x, out = handle(1.0, 2.0), xp.ones(2)
    out += x * x
    assert np.sum(out).grad().wrt(x).tolist() == [2.0, 4.0]
    many = xp.ones(3)
    many[1:] *= x
    assert np.sum(many).grad().wrt(x).tolist() == [1.0, 1.0]


def test_a_partial_keeps_what_was_there_before_an_assignment() -> None:
    x, c = handle(1.0, 2.0), xp.asarray([3.0, 4.0])
    view = c[:1]
    y = np.sum(x * c)
    c[0] = 100.0
    view += 1
    assert c.tolist() == [101.0, 4.0]
    assert y.grad().wrt(x).tolist() == [3.0, 4.0]


def test_an_assignment_is_seen_through_views() -> None:
    c = xp.asarray([3.0, 4.0])
    view = c[1:]
    held = np.asarray(c)
    view[0] = 7.0
    assert c.tolist() == [3.0, 7.0]
    c[1] = 8.0
    assert view.tolist() == [8.0]
    assert held.tolist() == [3.0, 4.0]


def test_an_integer_cannot_come_to_depend_on_anything() -> None:
    with pytest.raises(InPlaceError, match="dtype int64"):
        xp.asarray([1, 2])[0] = handle(1.0)[0]


def test_a_constant_has_no_gradient() -> None:
    with pytest.raises(RecordMismatchError, match="depends on nothing"):
        xp.sum(xp.ones(3)).grad()


def test_numbers_of_a_constant_may_be_taken() -> None:
    x = xp.asarray(2.0)
    assert float(x) == 2.0
    assert np.asarray(x).tolist() == 2.0
    assert [10, 20, 30][xp.argmax(xp.asarray([1, 5]))] == 20


def test_a_transform_gives_plain_arrays() -> None:
    def f(x: Any) -> Any:
        n = x.__array_namespace__()
        return n.sum(x * n.arange(3.0)), n.argmax(x)

    (_, where), g = ta.value_and_grad(f, has_aux=True)(np.array([1.0, 2.0, 0.0]))
    assert type(g) is type(np.asarray(where)) is np.ndarray
    assert not isinstance(where, ta.Tensor)
    np.testing.assert_array_equal(g, np.arange(3.0))


def test_second_derivatives_go_through_the_namespace() -> None:
    def f(x: Any) -> Any:
        n = x.__array_namespace__()
        out = n.zeros(3)
        out[1:] = n.where(x[1:] > 0, x[1:] ** 3, n.asarray(0.0))
        return n.sum(out * n.asarray([1.0, 2.0, 3.0]))

    h = ta.hessian(f)(np.array([1.0, 2.0, 3.0]))
    np.testing.assert_allclose(h, np.diag([0.0, 24.0, 54.0]))


def test_what_shows_the_whole_is_a_view_as_well() -> None:
    x, out = handle(1.0, 2.0), xp.zeros(2)
    same, reverse = out.real, out[::-1]
    same += x
    assert out.tolist() == [1.0, 2.0]
    out[0] = 5.0
    assert same.tolist() == [5.0, 2.0]
    assert np.sum(reverse * same * 3).grad().wrt(x).tolist() == [0.0, 30.0]


def calls_of(action: Any) -> int:
    """Count the calls of Python functions that something makes."""
    count = 0

    def look(frame: Any, event: str, argument: Any) -> None:
        nonlocal count
        count += event == "call"

    action()
    before = sys.getprofile()
    sys.setprofile(look)
    try:
        action()
    finally:
        sys.setprofile(before)
    return count - 2  # the action itself, and what is given to it


@pytest.mark.parametrize(
    ("action", "most"),
    [(lambda x: x > 0, 2), (np.sum, 20), (np.sin, 4)],
)
def test_who_asks_for_a_namespace_slows_no_other_record(action: Any, most: int) -> None:
    handle(1.0).__array_namespace__()
    x = handle(1.0, 2.0)
    assert calls_of(lambda: action(x)) <= most


def test_handles_of_inner_records_give_constants_where_the_outer_was_asked() -> None:
    x = handle(1.0, 2.0)
    x.__array_namespace__()
    inner = ta.ComputationRecord(within=x.record).tensor(x)
    above: Any = inner > 1
    assert type(above) is ConstantTensor
    place: Any = np.argmax(inner)
    assert type(place) is ConstantTensor
