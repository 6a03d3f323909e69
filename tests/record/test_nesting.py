"""Records within records: derivatives of derivatives, and no confusion between them."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad.errors import RecordMismatchError, ReleasedError, SeedError
from tests.shorthand import derivative

Function = Callable[[Any], Any]


# Orders


@pytest.mark.parametrize(("order", "expected"), [(1, 4 * 8), (2, 12 * 4), (3, 24 * 2), (4, 24)])
def test_derivatives_of_the_fourth_power(order: int, expected: float) -> None:
    records: list[ta.ComputationRecord] = []
    leaves: list[Any] = [2.0]
    for _ in range(order):
        records.append(ta.ComputationRecord(within=records[-1] if records else None))
        leaves.append(records[-1].tensor(leaves[-1]))
    y = leaves[-1] ** 4
    for leaf in reversed(leaves[1:]):
        y = y.grad().wrt(leaf)
    assert y == expected


@pytest.mark.parametrize(
    ("function", "third"),
    [
        (np.sin, lambda x: -np.cos(x)),
        (np.exp, np.exp),
        (np.log, lambda x: 2 / x**3),
        (np.sqrt, lambda x: 3 / 8 * x**-2.5),
        (np.reciprocal, lambda x: -6 / x**4),
        (lambda x: x * np.abs(x) ** 3, lambda x: 24 * x),
        (lambda x: np.maximum(x, 0.0) ** 3, lambda x: 6.0),
    ],
    ids=["sin", "exp", "log", "sqrt", "reciprocal", "absolute", "maximum"],
)
def test_third_derivatives(function: Function, third: Callable[[float], float]) -> None:
    one: Any = ta.ComputationRecord()
    two: Any = ta.ComputationRecord(within=one)
    three: Any = ta.ComputationRecord(within=two)
    a = one.tensor(0.7)
    b = two.tensor(a)
    c = three.tensor(b)
    first = function(c).grad().wrt(c)
    second = first.grad().wrt(b)
    np.testing.assert_allclose(second.grad().wrt(a), third(0.7), rtol=1e-13)


def test_an_inner_gradient_is_a_handle_of_the_outer_record() -> None:
    outer: Any = ta.ComputationRecord()
    x = outer.tensor(np.array([1.0, 2.0], np.float32))
    inner: Any = ta.ComputationRecord(within=outer)
    h = inner.tensor(x)
    gradient = np.sum(h**3).grad().wrt(h)
    assert isinstance(gradient, ta.Tensor)
    assert gradient.record is outer
    assert gradient.dtype == np.float32
    np.testing.assert_array_equal(gradient.data, [3.0, 12.0])


def test_a_gradient_that_does_not_depend_on_the_outer_handle_is_plain() -> None:
    outer: Any = ta.ComputationRecord()
    x = outer.tensor([1.0, 2.0])
    inner: Any = ta.ComputationRecord(within=outer)
    h, k = inner.tensor(x), inner.tensor([3.0, 4.0])
    gradient = np.sum(h * k).grad().wrt(h)
    np.testing.assert_array_equal(gradient, [3.0, 4.0])
    assert isinstance(gradient, np.ndarray)


def test_zeros_for_the_unreached_are_plain_in_an_inner_record() -> None:
    outer: Any = ta.ComputationRecord()
    inner: Any = ta.ComputationRecord(within=outer)
    h, unreached = inner.tensor(outer.tensor(1.0)), inner.tensor(outer.tensor([1.0, 2.0]))
    np.testing.assert_array_equal((h * h).grad().wrt(unreached), [0.0, 0.0], strict=True)


# No perturbation confusion


def test_an_inner_derivative_with_respect_to_another_variable() -> None:
    """d/dx of x * (d/dy of x + y) is 1, where a confused one gives 2."""
    outer: Any = ta.ComputationRecord()
    x = outer.tensor(1.0)
    inner: Any = ta.ComputationRecord(within=outer)
    y = inner.tensor(1.0)
    slope = (x + y).grad().wrt(y)
    assert (x * slope).grad().wrt(x) == 1.0


def test_an_inner_derivative_that_depends_on_the_outer_variable() -> None:
    """d/dx of x * (d/dy of x * y at y = 2) = d/dx of x**2."""
    outer: Any = ta.ComputationRecord()
    x = outer.tensor(3.0)
    slope = derivative(lambda y: x * y, 2.0, within=outer)
    assert (x * slope).grad().wrt(x) == 6.0


def test_an_inner_derivative_at_the_outer_variable() -> None:
    """d/dx of x * (d/dy of x * y**2 at y = x) = d/dx of 2 x**3."""
    outer: Any = ta.ComputationRecord()
    x = outer.tensor(3.0)
    slope = derivative(lambda y: x * y * y, x, within=outer)
    assert slope.data == 18.0
    assert (x * slope).grad().wrt(x) == 54.0


def test_a_constant_inner_derivative_beside_the_same_value() -> None:
    """d/dx of (d/dy of y * (d/dz of x * z)) keeps all three apart: d/dx of x = 1."""
    one: Any = ta.ComputationRecord()
    x = one.tensor(1.0)
    two: Any = ta.ComputationRecord(within=one)
    y = two.tensor(1.0)
    slope = derivative(lambda z: x * z, 1.0, within=two)
    middle = (y * slope).grad().wrt(y)
    assert middle.data == 1.0
    assert middle.grad().wrt(x) == 1.0


def test_a_shift_operator_is_differentiated_at_the_right_place() -> None:
    """The derivative of ``s -> f(x + s)`` is a function that may itself be differentiated.

    With D f(y) = d/ds f(y + s) at s = 0, D(D sin)(0.5) = -sin(0.5), also when the inner one is
    called on an argument that carries the outer perturbation.
    """

    def shifted(function: Function, y: Any, within: ta.ComputationRecord | None) -> Any:
        return derivative(lambda s: function(y + s), 0.0, within=within)

    outer: Any = ta.ComputationRecord()
    s = outer.tensor(0.0)
    first = shifted(np.sin, 0.5 + s, within=outer)
    np.testing.assert_allclose(first.grad().wrt(s), -np.sin(0.5), rtol=1e-15)


def test_three_levels_on_the_innermost_record() -> None:
    """A product of handles of three nested records belongs to the innermost."""
    one: Any = ta.ComputationRecord()
    two: Any = ta.ComputationRecord(within=one)
    three: Any = ta.ComputationRecord(within=two)
    a, b, c = one.tensor(2.0), two.tensor(3.0), three.tensor(5.0)
    y = np.einsum(",,->", a, c, b)
    assert y.record is three
    assert y.data.record is two
    assert y.data.data.record is one
    by_c = y.grad().wrt(c)
    by_cb = by_c.grad().wrt(b)
    assert by_cb.grad().wrt(a) == 1.0
    assert y.item() == 30.0


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0), (0, 2, 1)])
def test_the_order_of_the_operands_does_not_matter(order: tuple[int, ...]) -> None:
    joined: Any
    one: Any = ta.ComputationRecord()
    two: Any = ta.ComputationRecord(within=one)
    three: Any = ta.ComputationRecord(within=two)
    handles = [one.tensor([2.0, 1.0]), two.tensor([3.0, 1.0]), three.tensor([5.0, 1.0])]
    joined = np.concatenate([handles[i] for i in order])
    assert joined.record is three
    seed = np.arange(6.0)
    place = order.index(2)
    np.testing.assert_array_equal(
        joined.grad(seed=seed).wrt(handles[2]), [2.0 * place, 2.0 * place + 1]
    )
    middle = order.index(1)
    np.testing.assert_array_equal(
        joined.data.grad(seed=seed).wrt(handles[1]), [2.0 * middle, 2.0 * middle + 1]
    )


# What does not mix


def test_unrelated_records_do_not_mix() -> None:
    x, y = ta.ComputationRecord().tensor([1.0]), ta.ComputationRecord().tensor([1.0])
    with pytest.raises(RecordMismatchError, match=r"np\.add got handles of two records"):
        x + y
    with pytest.raises(RecordMismatchError, match=r"np\.concatenate got handles of two"):
        np.concatenate([x, y])


def test_sibling_records_do_not_mix() -> None:
    outer: Any = ta.ComputationRecord()
    x = outer.tensor(1.0)
    one: Any = ta.ComputationRecord(within=outer).tensor(x)
    other: Any = ta.ComputationRecord(within=outer).tensor(x)
    with pytest.raises(RecordMismatchError, match="neither is within the other"):
        one * other
    with pytest.raises(RecordMismatchError, match="neither is within the other"):
        np.einsum(",,", x, one, other)


def test_a_gradient_map_of_the_inner_record_does_not_know_outer_handles() -> None:
    outer: Any = ta.ComputationRecord()
    x = outer.tensor(2.0)
    inner: Any = ta.ComputationRecord(within=outer)
    h = inner.tensor(x)
    grads = (h * h).grad()
    with pytest.raises(RecordMismatchError, match="belongs to another record"):
        grads.wrt(x)


def test_an_inner_seed_for_an_outer_handle() -> None:
    outer: Any = ta.ComputationRecord()
    x = outer.tensor(2.0)
    seed: Any = ta.ComputationRecord(within=outer).tensor(1.0)
    with pytest.raises(RecordMismatchError, match="a seed may be a handle only of a record that"):
        x.grad(seed=seed)


def test_a_released_inner_record_leaves_the_outer_one_whole() -> None:
    outer: Any = ta.ComputationRecord()
    x = outer.tensor(2.0)
    inner: Any = ta.ComputationRecord(within=outer)
    h = inner.tensor(x)
    y = h**3
    slope = y.grad(release=True).wrt(h)
    assert slope.grad().wrt(x) == 12.0
    with pytest.raises(ReleasedError, match="power"):
        y.grad()


# Seeds that are outer handles


def test_an_outer_handle_as_seed() -> None:
    """The pullback is linear in the seed: its derivative with respect to it is the Jacobian."""
    outer: Any = ta.ComputationRecord()
    x, v = outer.tensor([1.0, 2.0]), outer.tensor([3.0, 5.0])
    inner: Any = ta.ComputationRecord(within=outer)
    h = inner.tensor(x)
    pulled = (h * h * h).grad(seed=v).wrt(h)
    np.testing.assert_array_equal(pulled.data, [9.0, 60.0])
    np.testing.assert_array_equal(pulled.grad(seed=np.eye(2)).wrt(v), np.diag([3.0, 12.0]))
    np.testing.assert_array_equal(pulled.grad(seed=np.eye(2)).wrt(x), np.diag([18.0, 60.0]))


def test_an_outer_seed_of_a_wrong_shape() -> None:
    outer: Any = ta.ComputationRecord()
    h: Any = ta.ComputationRecord(within=outer).tensor([1.0, 2.0])
    with pytest.raises(SeedError, match=r"seed has shape \(3,\)"):
        h.grad(seed=outer.tensor(np.ones(3)))


def test_plain_contributions_are_added_to_before_and_after_an_outer_handle() -> None:
    """An accumulated plain array must not be added to in place by a handle."""
    outer: Any = ta.ComputationRecord()
    w = outer.tensor([2.0, 3.0])
    inner: Any = ta.ComputationRecord(within=outer)
    x = inner.tensor([1.0, 1.0])
    terms = [x * w, x * np.ones(2), x * np.full(2, 5.0), x * w * w, x + 0.0, x * np.ones(2), +x]
    gradient = np.sum(sum(terms)).grad().wrt(x)
    np.testing.assert_array_equal(gradient.data, [2 + 1 + 5 + 4 + 3, 3 + 1 + 5 + 9 + 3])
    np.testing.assert_array_equal(gradient.grad(seed=np.ones(2)).wrt(w), [5.0, 7.0])


# Derivatives inside a computation


def test_descent_through_descent() -> None:
    """The derivative of two steps of descent on a*(x-1)**2 with respect to a and the start."""
    rate = 0.1
    outer: Any = ta.ComputationRecord()
    a, start = outer.tensor(0.5), outer.tensor(3.0)
    x: Any = start
    for _ in range(2):
        step = derivative(lambda y: a * (y - 1.0) ** 2, x, within=outer)
        x = x - rate * step
    grads = x.grad()
    factor = 1 - 2 * rate * 0.5
    np.testing.assert_allclose(x.data, 1 + factor**2 * 2.0, rtol=1e-15)
    np.testing.assert_allclose(grads.wrt(start), factor**2, rtol=1e-15)
    np.testing.assert_allclose(grads.wrt(a), 2 * factor * (-2 * rate) * 2.0, rtol=1e-14)


def test_operations_on_an_inner_handle_see_outer_constants() -> None:
    outer: Any = ta.ComputationRecord()
    w, x = outer.tensor(np.ones((2, 2))), np.ones(2)
    inner: Any = ta.ComputationRecord(within=outer)
    h = inner.tensor(x)
    y = np.sum(np.where(w > 0, w, 0.0) @ h)
    gradient = y.grad().wrt(h)
    np.testing.assert_array_equal(gradient.grad(seed=np.ones(2)).wrt(w), np.ones((2, 2)))


def test_constant_functions_of_an_inner_handle_are_plain_to_the_bottom() -> None:
    outer: Any = ta.ComputationRecord()
    h: Any = ta.ComputationRecord(within=outer).tensor(outer.tensor([1.5, -2.5]))
    for plain in (h > 0, np.floor(h), np.argmax(h), np.isnan(h), h == h, np.shape(h)):
        assert not isinstance(plain, ta.Tensor)


def test_an_inner_handle_shows_its_value_down_to_the_numbers() -> None:
    outer: Any = ta.ComputationRecord()
    h: Any = ta.ComputationRecord(within=outer).tensor(outer.tensor(2.0))
    assert repr(h) == "Tensor(%0, float64[], Tensor(%0, float64[], 2.))"
    assert h.item() == 2.0
    assert h.tolist() == 2.0
    assert bool(h)
    assert f"{h:.2f}" == "2.00"


def test_bind_takes_outer_handles() -> None:
    outer: Any = ta.ComputationRecord()
    p = outer.bind({"w": np.ones(2), "n": 3.0})
    inner: Any = ta.ComputationRecord(within=outer)
    q = inner.bind(p)
    gradient = np.sum(q["w"] ** 2 * q["n"]).grad().wrt(q)
    np.testing.assert_array_equal(gradient["w"].grad(seed=np.ones(2)).wrt(p)["n"], 4.0)


def test_plain_contributions_and_handles_are_summed_in_one_cotangent() -> None:
    outer = ta.ComputationRecord()
    inner = ta.ComputationRecord(within=outer)
    x, w = inner.tensor([1.0, 1.0]), outer.tensor([2.0, 3.0])
    gradient = np.sum(x * w + x * np.ones(2) + x * np.ones(2)).grad().wrt(x)
    np.testing.assert_array_equal(gradient.data, [4.0, 5.0])
    np.testing.assert_array_equal(np.sum(gradient).grad().wrt(w), [1.0, 1.0])


def test_a_sweep_turns_a_view_that_a_partial_holds() -> None:
    outer = ta.ComputationRecord()
    x = outer.tensor([2.0, 3.0, 3.0, 2.0])
    view = (x * 1.0).reshape(2, 2)
    y: Any = ta.ComputationRecord(within=outer).tensor([1.0, 2.0])
    solution: Any = np.linalg.solve(view, y)
    gradient = solution.grad(seed=np.ones(2)).wrt(y)  # which transposes the view
    np.testing.assert_allclose(gradient.data, [0.2, 0.2])
