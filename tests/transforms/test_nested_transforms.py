"""Transforms within transforms, and together with explicit records."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad.errors import RecordMismatchError

Function = Callable[..., Any]


X = np.array([0.5, -1.5, 2.0])


# Nesting


@pytest.mark.parametrize("order", range(1, 6))
def test_orders(order: int) -> None:
    f: Function = lambda x: np.exp(2 * x) * np.sin(x)  # noqa: E731 - it is wrapped in a loop
    expected = ((2 + 1j) ** order * np.exp((2 + 1j) * 0.3)).imag
    for _ in range(order):
        f = ta.grad(f)
    np.testing.assert_allclose(f(0.3), expected, rtol=1e-13)


def by_jvp(f: Function) -> Function:
    return lambda x: ta.jvp(f, (x,), (1.0,))[1]


def by_vjp(f: Function) -> Function:
    return lambda x: ta.vjp(f, x)[1](1.0)[0]


def by_linearize(f: Function) -> Function:
    return lambda x: ta.linearize(f, x)[1](1.0)


WAYS: list[Any] = [ta.grad, by_jvp, by_vjp, by_linearize, ta.jacobian]


@pytest.mark.parametrize("outer", WAYS)
@pytest.mark.parametrize("middle", WAYS)
@pytest.mark.parametrize("inner", WAYS)
def test_third_order_in_all_ways(outer: Any, middle: Any, inner: Any) -> None:
    third = outer(middle(inner(lambda x: np.sin(x) * x)))
    np.testing.assert_allclose(third(0.7), -3 * np.sin(0.7) - 0.7 * np.cos(0.7), rtol=1e-13)


def test_a_hessian_of_a_function_that_calls_grad() -> None:
    def f(x: Any) -> Any:
        slope = ta.grad(lambda y: np.sum(y**3 * x))(x)
        return np.sum(slope * x)

    np.testing.assert_allclose(ta.hessian(f)(X), np.diag(3 * 12 * X**2), rtol=1e-14)


def test_a_pull_that_is_differentiated_later_on() -> None:
    _, pull = ta.vjp(lambda x: x**3, X)
    jacobian = ta.jacobian(lambda ct: pull(ct)[0])(np.ones(3))
    np.testing.assert_array_equal(jacobian, np.diag(3 * X**2))
    _, push = ta.linearize(lambda x: x**3, X)
    np.testing.assert_array_equal(ta.jacobian(push)(np.ones(3)), np.diag(3 * X**2))


def test_a_pull_made_inside_and_used_inside() -> None:
    def f(x: Any) -> Any:
        out, pull = ta.vjp(lambda y: y**2 * x, x)
        return np.sum(pull(out)[0])  # 2 x² x³

    np.testing.assert_allclose(ta.grad(f)(X), 10 * X**4, rtol=1e-14)


# No perturbation confusion


def test_siskind_and_pearlmutter_2005() -> None:
    """d/dx of x * (d/dy of x + y at 1) at 1 is 1, where confused perturbations give 2.

    The example of "Perturbation confusion and referential transparency", equation 1.
    """
    for one in WAYS:
        for other in WAYS:
            assert one(lambda x, d=other: x * d(lambda y: x + y)(1.0))(1.0) == 1.0


def test_manzyuk_and_others_2019() -> None:
    """The derivative of a function of which the value is a function.

    With s(u)(f)(x) = f(x + u), D = d/du s(u) at 0 is d/dx, and D(D h) is h'': Perturbation
    confusion in forward automatic differentiation of higher-order functions, section 3.
    """

    def derivative(d: Any) -> Function:
        return lambda f: lambda x: d(lambda u: f(x + u))(0.0)

    for one in WAYS:
        for other in WAYS:
            twice = derivative(one)(derivative(other)(np.exp))
            np.testing.assert_allclose(twice(1.0), math.e, rtol=1e-15)


def test_an_inner_derivative_by_a_variable_of_the_same_value() -> None:
    """d/dx of x * (d/dy of x * y at y = 2) is 2 x."""
    for one in WAYS:
        for other in WAYS:
            got = one(lambda x, d=other: x * d(lambda y: x * y)(2.0))(3.0)
            np.testing.assert_array_equal(got, 6.0)


def test_the_inner_function_may_ignore_its_argument() -> None:
    for one in WAYS:
        for other in WAYS:
            assert one(lambda x, d=other: x + d(lambda y: x * x)(x))(3.0) == 1.0


def test_three_levels_close_over_each_other() -> None:
    """d/dx d/dy d/dz of x y² z³ = 6 y z²."""
    third = ta.grad(lambda x: ta.grad(lambda y: ta.grad(lambda z: x * y**2 * z**3)(3.0))(2.0))(1.0)
    assert third == 2 * 2 * 3 * 9


# Together with explicit records


def test_a_handle_that_is_passed_in() -> None:
    rec = ta.ComputationRecord()
    a = rec.tensor(2.0)
    slope = ta.grad(lambda x: x**3)(a)
    assert isinstance(slope, ta.Tensor)
    assert slope.record is rec
    assert slope.grad().wrt(a) == 12.0


@pytest.mark.parametrize("way", WAYS)
def test_a_handle_that_is_closed_over(way: Any) -> None:
    rec = ta.ComputationRecord()
    a = rec.tensor(2.0)
    slope = way(lambda x: np.sin(x) * x + a * x**2)(3.0)
    assert slope.record is rec
    assert slope.grad(np.ones(slope.shape)).wrt(a) == 6.0


def test_a_handle_closed_over_three_levels_down() -> None:
    rec = ta.ComputationRecord()
    a = rec.tensor(2.0)
    third = ta.grad(ta.grad(ta.grad(lambda x: np.exp(x) + a * x**4)))(1.0)
    np.testing.assert_allclose(third.data, math.e + 48)
    assert third.grad().wrt(a) == 24.0


def test_handles_of_two_nested_explicit_records() -> None:
    outer = ta.ComputationRecord()
    a = outer.tensor(2.0)
    inner = ta.ComputationRecord(within=outer)
    b = inner.tensor(a)
    slope = ta.grad(lambda x: a * b * x**2)(3.0)  # 6 a b
    by_b = slope.grad().wrt(b)  # 6 a
    assert by_b.grad().wrt(a) == 6.0


def test_a_record_within_the_one_of_a_transform() -> None:
    def f(x: Any) -> Any:
        rec = ta.ComputationRecord(within=x.record)
        t = rec.tensor(x)
        slope = ta.grad(lambda z: z**2 * t * x)(1.0)  # 2 t x
        return slope.grad().wrt(t) * x  # 2 x²

    assert ta.grad(f)(3.0) == 12.0


def test_an_argument_of_the_function_that_is_a_constant_handle() -> None:
    rec = ta.ComputationRecord()
    a = rec.tensor(2.0)
    assert ta.grad(lambda x, y: x**2 * y)(3.0, a).grad().wrt(a) == 6.0
    assert ta.grad(lambda x, y: x**2 * y)(3.0, y=a).grad().wrt(a) == 6.0


def test_records_that_have_nothing_to_do_with_each_other() -> None:
    a, b = ta.ComputationRecord().tensor(1.0), ta.ComputationRecord().tensor(2.0)
    with pytest.raises(RecordMismatchError, match=r"write ComputationRecord\(within=outer\)"):
        ta.grad(lambda x: x * a * b)(1.0)
    with pytest.raises(RecordMismatchError, match="make that with ComputationRecord"):
        ta.vjp(lambda x, y: x * y, a, b)


def test_a_record_made_in_a_transform_nests_in_it_by_time() -> None:
    def f(x: Any) -> Any:
        t = ta.ComputationRecord().tensor(x)
        return (t * t * x).grad().wrt(t) * x  # 2 x³

    assert ta.grad(f)(3.0) == 54.0


def test_a_handle_of_a_record_made_in_a_transform_is_not_returned() -> None:
    with pytest.raises(RecordMismatchError, match="nested within the one it was traced in"):
        ta.grad(lambda x: ta.ComputationRecord().tensor(x))(1.0)
