"""Transforms of functions: what each gives, how they nest, and what they refuse."""

import asyncio
import contextvars
import math
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import attrs
import numpy as np
import pytest

import tape_ad as ta
from tape_ad.errors import DtypeError, OutputError, RecordMismatchError, SeedError
from tape_ad.tracing import CURRENT

Function = Callable[..., Any]


class Pair(NamedTuple):
    left: Any
    right: Any


@attrs.frozen
class Layer:
    weight: Any
    bias: Any
    name: str = "layer"


X = np.array([0.5, -1.5, 2.0])


def keeping(kept: list[Any], f: Function) -> Function:
    """Make a function that does what it should not: it lets its handles out."""

    def leaky(x: Any) -> Any:
        kept.append(f(x))
        return kept[-1]

    return leaky


# grad and value_and_grad


def test_the_gradient_of_a_function_of_an_array() -> None:
    gradient = ta.grad(lambda x: np.sum(x**3))(X)
    np.testing.assert_array_equal(gradient, 3 * X**2, strict=True)
    assert not gradient.flags.writeable


def test_a_number_and_an_integer_count_as_float64() -> None:
    for at in (3.0, 3, np.float64(3), np.array(3)):
        np.testing.assert_array_equal(ta.grad(lambda x: x * x)(at), np.array(6.0), strict=True)


def test_the_gradient_has_the_dtype_of_the_argument() -> None:
    gradient = ta.grad(lambda x: np.sum(np.sin(x)))(X.astype(np.float32))
    assert gradient.dtype == np.float32


def test_the_gradient_of_a_real_loss_of_a_complex_argument_descends() -> None:
    z = np.array([1 + 2j])
    np.testing.assert_array_equal(ta.grad(lambda z: np.sum(np.abs(z) ** 2))(z), 2 * z)


def test_argnums() -> None:
    def f(x: Any, y: Any, z: Any) -> Any:
        return x * y**2 * z**3

    assert ta.grad(f, 1)(2.0, 3.0, 1.0) == 12.0
    assert ta.grad(f, -1)(2.0, 3.0, 1.0) == 54.0
    assert ta.grad(f, (2, 0))(2.0, 3.0, 1.0) == (54.0, 9.0)
    assert ta.grad(f, [0])(2.0, 3.0, z=1.0) == (9.0,)


@pytest.mark.parametrize("argnums", [3, -4, (0, 3)])
def test_argnums_out_of_range(argnums: Any) -> None:
    with pytest.raises(TypeError, match=r"there are 3; an argument given by name is a constant"):
        ta.grad(lambda x, y, z: x * y * z, argnums)(1.0, 2.0, 3.0)


def test_argnums_of_numpys_integers() -> None:
    zero: Any = np.int64(0)
    assert ta.grad(lambda x, y: x * y**2, zero)(2.0, 3.0) == 9.0
    assert ta.grad(lambda x, y: x * y**2, (zero, 1))(2.0, 3.0) == (9.0, 12.0)


@pytest.mark.parametrize("argnums", ["1", 1.0, None, (0, "y")])
@pytest.mark.parametrize("transform", [ta.grad, ta.value_and_grad, ta.jacobian, ta.hessian])
def test_argnums_that_are_no_numbers(transform: Any, argnums: Any) -> None:
    with pytest.raises(TypeError, match="argnums is an int or a tuple of them, not"):
        transform(np.multiply, argnums)


def test_argnums_twice() -> None:
    with pytest.raises(TypeError, match="names an argument twice"):
        ta.grad(lambda x, y: x * y, (1, -1))(1.0, 2.0)


def test_arguments_by_name_are_constants() -> None:
    assert ta.grad(lambda x, power: x**power)(2.0, power=3) == 12.0


def test_trees_of_every_kind() -> None:
    tree = {
        "layers": [Layer(np.ones(2), 0.5), Layer(2 * np.ones(2), 1.5, "last")],
        "pair": Pair(3.0, (4.0, None)),
        "flag": True,
    }

    def f(tree: Any) -> Any:
        assert tree["flag"] is True
        assert tree["layers"][1].name == "last"
        first, last = tree["layers"]
        return np.sum(first.weight * last.weight) * tree["pair"].left * tree["pair"].right[0]

    gradient = ta.grad(f)(tree)
    np.testing.assert_array_equal(gradient["layers"][0].weight, [24.0, 24.0])
    np.testing.assert_array_equal(gradient["layers"][1].weight, [12.0, 12.0])
    assert gradient["layers"][1].name == "last"
    assert gradient["layers"][0].bias == 0.0
    assert gradient["pair"] == Pair(16.0, (12.0, None))
    assert gradient["flag"] is True


def test_value_and_grad() -> None:
    value, gradient = ta.value_and_grad(lambda x: np.sum(x**2))(X)
    assert value == 6.5
    assert not isinstance(value, ta.Tensor)
    np.testing.assert_array_equal(gradient, 2 * X)


def test_aux() -> None:
    def f(x: Any) -> Any:
        y = x * x
        return np.sum(y), {"squares": y, "text": "any", "file": object}

    gradient, aux = ta.grad(f, has_aux=True)(X)
    np.testing.assert_array_equal(gradient, 2 * X)
    assert isinstance(aux["squares"], np.ndarray)
    assert aux["text"] == "any"
    (value, aux), gradient = ta.value_and_grad(f, has_aux=True)(X)
    assert value == 6.5
    np.testing.assert_array_equal(aux["squares"], X**2)
    _, _, aux = ta.vjp(f, X, has_aux=True)
    assert aux["text"] == "any"
    _, _, aux = ta.linearize(f, X, has_aux=True)
    np.testing.assert_array_equal(aux["squares"], X**2)
    _, tangent, aux = ta.jvp(f, (X,), (X,), has_aux=True)
    assert tangent == 13.0
    with pytest.raises(OutputError, match=r"<lambda> must return a pair: \(output, the rest\)"):
        ta.grad(lambda x: x, has_aux=True)(1.0)


def test_a_transform_is_named_like_its_function() -> None:
    def loss(x: Any) -> Any:
        """Compute."""
        return x

    assert ta.grad(loss).__name__ == "loss"
    assert ta.jacobian(loss).__doc__ == "Compute."


@pytest.mark.parametrize(
    "transform", [ta.grad, ta.value_and_grad, ta.jacobian, ta.hessian, ta.checkpoint]
)
def test_what_is_no_function(transform: Any) -> None:
    with pytest.raises(TypeError, match=rf"{transform.__name__} takes a function"):
        transform(3.0)


# What a function may return


def test_a_plain_number_has_a_zero_gradient() -> None:
    for constant in (3.0, np.float64(3), np.array(3.0)):
        gradient = ta.grad(lambda x, c=constant: c)(X)
        np.testing.assert_array_equal(gradient, np.zeros(3), strict=True)


def test_a_value_that_was_taken_out_on_purpose_has_a_zero_gradient() -> None:
    np.testing.assert_array_equal(ta.grad(lambda x: np.sum(x.data))(X), np.zeros(3))
    np.testing.assert_array_equal(ta.grad(lambda x: np.sum(ta.stop_gradient(x)))(X), np.zeros(3))


def test_an_outer_handle_has_a_zero_gradient() -> None:
    assert ta.grad(lambda x: x * ta.grad(lambda y: x)(1.0) + x)(3.0) == 1.0


@pytest.mark.parametrize(
    ("result", "what"),
    [
        (lambda x: 3, "returned a number of dtype int64"),
        (lambda x: True, "returned a number of dtype bool"),
        (np.argmax, "returned a number of dtype int64"),
        (lambda x: x, r"returned an array of shape \(3,\); take np.sum"),
        (lambda x: np.zeros(3), r"returned an array of shape \(3,\)"),
        (lambda x: np.sum(x) * 1j, "returned a complex number; return its real or imaginary"),
        (lambda x: None, "returned None; does it lack a return statement"),
        (lambda x: [np.sum(x)], "returned a list; return the number alone, or see has_aux="),
        (lambda x: (np.sum(x), 1.0), "returned a tuple; return the number alone"),
        (lambda x: {"loss": np.sum(x)}, "returned a dict; return the number alone"),
        (lambda x: "text", "returned a str; a function that is differentiated returns"),
        (lambda x: (y for y in x), "returned a generator; a function"),
        (lambda x: object(), "returned a object"),
    ],
)
def test_what_has_no_gradient(result: Function, what: str) -> None:
    with pytest.raises(OutputError, match=what):
        ta.grad(result)(X)


def test_a_handle_of_a_dead_inner_record() -> None:
    def f(x: Any) -> Any:
        kept: list[Any] = []
        ta.grad(keeping(kept, lambda y: y * x))(x)
        return kept[0]

    with pytest.raises(RecordMismatchError, match="nested within the one it was traced in"):
        ta.grad(f)(1.0)


def test_a_handle_that_outlives_its_transform() -> None:
    kept: list[Any] = []
    ta.grad(keeping(kept, lambda x: x))(1.0)
    with pytest.raises(RecordMismatchError, match="of a transform that has ended"):
        ta.grad(np.sin)(kept[0])
    with pytest.raises(RecordMismatchError, match="neither is within the other"):
        ta.grad(lambda x: x * kept[0])(1.0)
    with pytest.raises(RecordMismatchError, match="or has nothing to do with it"):
        ta.grad(lambda x: kept[0])(1.0)


@pytest.mark.parametrize(
    "argument", [True, "text", {1.0}, object()], ids=lambda x: type(x).__name__
)
def test_an_argument_that_is_no_number(argument: Any) -> None:
    for transform in (ta.grad, ta.jacobian, ta.hessian):
        with pytest.raises(DtypeError, match=rf"the argument 1 is a {type(argument).__name__}"):
            transform(lambda x, y: np.sum(x), (0, 1))(X, argument)
    assert ta.vjp(lambda x, y: np.sum(x), X, argument)[1](1.0)[1] is argument


def test_an_argument_that_is_left_out() -> None:
    slopes = ta.grad(lambda x, bias: np.sum(x), (0, 1))(X, None)
    assert slopes[1] is None
    assert ta.vjp(lambda x, bias: np.sum(x), X, None)[1](1.0)[1] is None


def test_an_output_that_is_no_array_of_numbers() -> None:
    def of_objects(x: Any) -> Any:
        out = np.zeros(2, object)
        out[0] = x[0]
        return out

    for transform in (ta.jacobian, lambda f: lambda x: ta.vjp(f, x), ta.grad):
        with pytest.raises(OutputError, match=r"array of dtype object, .*; write np\.stack"):
            transform(of_objects)(X)
    with pytest.raises(OutputError, match=r"of dtype <U1 \(at \['label'\]\)"):
        ta.vjp(lambda x: {"x": x, "label": np.array("x")}, X)


def test_an_argument_that_has_no_derivative() -> None:
    with pytest.raises(DtypeError, match=r"the entry \['a'\] has dtype <U1"):
        ta.grad(lambda x: x)({"a": np.array("b")})


# vjp


def test_vjp_of_trees() -> None:
    def f(p: Any, y: Any) -> Any:
        return {"product": p["x"] * y, "rest": (p["x"] + y, 7, None)}

    out, pull = ta.vjp(f, {"x": X}, 2.0)
    np.testing.assert_array_equal(out["product"], 2 * X)
    assert out["rest"][1:] == (7, None)
    cts = {"product": np.ones(3), "rest": (10 * np.ones(3), None, None)}
    for _ in range(2):  # any number of times
        p, y = pull(cts)
        np.testing.assert_array_equal(p["x"], [12.0, 12.0, 12.0])
        np.testing.assert_array_equal(y, np.sum(X) + 30)


def test_other_things_in_a_structure_stay_as_they_are() -> None:
    def f(x: Any) -> Any:
        return {"y": x * 2, "name": "y", "flag": True}

    out, pull = ta.vjp(f, X)
    assert (out["name"], out["flag"]) == ("y", True)
    np.testing.assert_array_equal(pull({"y": X, "name": None, "flag": None})[0], 2 * X)
    np.testing.assert_array_equal(pull(out)[0], 4 * X)
    assert ta.jvp(f, (X,), (X,))[1]["name"] == "y"
    assert ta.jacobian(f)(X)["name"] == "y"
    nested = ta.hessian(lambda p: p["a"] ** 3)({"a": 2.0, "name": "p"})
    assert nested == {"a": {"a": 12.0, "name": "p"}, "name": "p"}


def test_vjp_with_a_part_of_the_output_left_out() -> None:
    _, pull = ta.vjp(lambda x: (x * 2, x * 3), 1.0)
    assert pull((None, 1.0)) == (3.0,)
    assert pull((None, None)) == (0.0,)


def test_vjp_of_the_same_handle_twice_in_the_output() -> None:
    _, pull = ta.vjp(lambda x: [x, x, x * x, x], 3.0)
    assert pull([1.0, 10.0, 100.0, 1000.0]) == (1 + 10 + 600 + 1000,)


def test_vjp_with_stacked_cotangents() -> None:
    _, pull = ta.vjp(lambda x: (x**2, np.sum(x)), X)
    cts = (np.eye(3)[:2], np.array([0.0, 5.0]))
    np.testing.assert_array_equal(pull(cts)[0], [[1.0, 0, 0], [5.0, 2.0, 5.0]])


def test_a_cotangent_is_copied_and_not_handed_out() -> None:
    _, pull = ta.vjp(lambda x: x, X)
    ct = np.ones(3)
    (pulled,) = pull(ct)
    ct[:] = 9
    np.testing.assert_array_equal(pulled, np.ones(3))


@pytest.mark.parametrize(
    ("ct", "message"),
    [
        (np.ones(2), r"the cotangent of the output has shape \(2,\); it must be \(3,\)"),
        (1j * np.ones(3), "has dtype complex128, which does not fit float64"),
        (np.array(["a", "b", "c"]), "has dtype <U1"),
        ([1.0, 1.0, 1.0], r"leaves at \[0\], \[1\], \[2\] instead of one array"),
    ],
)
def test_a_cotangent_that_does_not_fit(ct: Any, message: str) -> None:
    _, pull = ta.vjp(np.sin, X)
    with pytest.raises(SeedError, match=message):
        pull(ct)


def test_stacks_that_differ() -> None:
    _, pull = ta.vjp(lambda x: (x, 2 * x), 1.0)
    with pytest.raises(SeedError, match=r"output\[1\] has shape \(3,\); it must be \(\) behind"):
        pull((np.ones(2), np.ones(3)))


# jvp and linearize


def test_jvp_of_trees() -> None:
    out, tangent = ta.jvp(
        lambda p, y: [p["x"] * y, np.sum(p["x"]), 3, None],
        ({"x": X}, 2.0),
        ({"x": np.ones(3)}, 10.0),
    )
    np.testing.assert_array_equal(out[0], 2 * X)
    np.testing.assert_array_equal(tangent[0], 2 + 10 * X)
    assert tangent[1:] == [3.0, 0.0, None]


def test_jvp_with_stacked_tangents_and_a_zero() -> None:
    _, tangent = ta.jvp(lambda x, y: x * y, (X, 2.0), (np.eye(3), None))
    np.testing.assert_array_equal(tangent, 2 * np.eye(3))
    _, tangent = ta.jvp(lambda x, y: np.ones(4), (X, 2.0), (np.eye(3), None))
    np.testing.assert_array_equal(tangent, np.zeros((3, 4)))


def test_jvp_takes_tuples() -> None:
    with pytest.raises(TypeError, match=r"jvp\(f, \(x,\), \(t,\)\)"):
        ta.jvp(np.sin, X, X)
    with pytest.raises(SeedError, match=r"tangents for np\.sin have another structure"):
        ta.jvp(np.sin, (X,), (X, X))
    with pytest.raises(SeedError, match=r"the tangent of the argument \[0\] has shape \(2,\)"):
        ta.jvp(np.sin, (X,), (X[:2],))


def test_linearize_runs_the_function_once() -> None:
    calls = []

    def f(x: Any) -> Any:
        calls.append(1)
        return np.sin(x)

    out, push = ta.linearize(f, X)
    np.testing.assert_array_equal(out, np.sin(X))
    for t in np.eye(3):
        np.testing.assert_array_equal(push(t), np.cos(X) * t)
    np.testing.assert_array_equal(push(np.eye(3)), np.diag(np.cos(X)))
    assert len(calls) == 1


def test_a_forward_sweep_gives_tangents_up_after_their_last_use() -> None:
    def f(x: Any) -> Any:
        y = x
        for _ in range(100):
            y = np.sin(y) * x
        return y

    x = np.ones(1000)
    _, push = ta.linearize(f, x)
    tangents = np.ones((50, 1000))
    tracemalloc.start()
    pushed = push(tangents)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 10 * tangents.nbytes
    np.testing.assert_allclose(pushed, np.broadcast_to(push(np.ones(1000)), (50, 1000)))


def test_push_and_pull_are_adjoint() -> None:
    rng = np.random.default_rng(0)
    w = rng.normal(size=(4, 3))

    def f(x: Any) -> Any:
        return np.tanh(w @ x) * np.sum(x)

    t, ct = rng.normal(size=3), rng.normal(size=4)
    _, push = ta.linearize(f, X)
    _, pull = ta.vjp(f, X)
    np.testing.assert_allclose(ct @ push(t), pull(ct)[0] @ t, rtol=1e-14)


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


WAYS = [ta.grad, by_jvp, by_vjp, by_linearize, ta.jacobian]


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


def test_a_handle_of_a_transform_in_a_record_beside_it() -> None:
    def f(x: Any) -> Any:
        return ta.ComputationRecord().tensor(x)

    with pytest.raises(RecordMismatchError, match=r"within=\.\.\.\) to differentiate through"):
        ta.grad(f)(1.0)


# stop_gradient


def test_stop_gradient_stops_every_order_and_keeps_the_structure() -> None:
    def f(x: Any) -> Any:
        held = ta.stop_gradient({"a": [x, 2], "b": None})
        assert isinstance(held["a"][0], np.ndarray)
        assert held["a"][1] == 2
        return x**2 * held["a"][0]

    assert ta.grad(f)(3.0) == 18.0
    assert ta.grad(ta.grad(f))(3.0) == 6.0
    np.testing.assert_array_equal(ta.stop_gradient(X), X)


# Nothing leaks


def test_a_function_that_raises_leaves_nothing_behind() -> None:
    def f(x: Any) -> Any:
        assert CURRENT.get() is x.record
        raise KeyError("mine")

    def g(x: Any) -> Any:
        with pytest.raises(KeyError, match="mine"):
            ta.grad(f)(x)
        assert CURRENT.get() is x.record
        return x * x

    transforms: list[Function] = [ta.grad(f), ta.jacobian(f)]
    transforms += [lambda x: ta.vjp(f, x), lambda x: ta.hvp(f, x, x)]
    for transform in transforms:
        with pytest.raises(KeyError, match="mine"):
            transform(1.0)
        assert CURRENT.get() is None
    assert ta.grad(g)(3.0) == 6.0
    assert CURRENT.get() is None


def test_generators_that_are_suspended_between_transforms() -> None:
    def slopes(start: float) -> Iterator[Any]:
        x = start
        while True:
            yield ta.grad(lambda y: ta.grad(lambda z: z**3 * y)(y))(x)  # d/dy of 3 y³ = 9 y²
            x += 1.0

    def f(x: Any) -> Any:
        ones, twos = slopes(1.0), slopes(2.0)
        return sum(next(ones) * next(twos) for _ in range(2)) * x

    assert ta.grad(f)(1.0) == 9 * 36 + 36 * 81
    left_open = slopes(1.0)
    next(left_open)
    assert CURRENT.get() is None


def test_a_generator_made_inside_a_transform_and_used_after_it() -> None:
    made: list[Iterator[Any]] = []

    def later() -> Iterator[Any]:
        yield ta.grad(np.sin)(0.0)

    def f(x: Any) -> Any:
        made.append(later())
        return x

    ta.grad(f)(1.0)
    assert next(made[0]) == 1.0


def test_asyncio_tasks() -> None:
    async def work(start: float) -> float:
        total = 0.0
        for i in range(20):
            await asyncio.sleep(0)
            assert CURRENT.get() is None
            total += float(ta.grad(lambda x: x * ta.grad(lambda y: x * y**2)(start))(start + i))
        return total

    async def everything() -> list[float]:
        return await asyncio.gather(*(work(float(start)) for start in range(5)))

    expected = [sum(4 * start * (start + i) for i in range(20)) for start in range(5)]
    assert asyncio.run(everything()) == expected


def test_an_asyncio_task_that_outlives_the_transform_that_started_it() -> None:
    async def later() -> tuple[Any, Any]:
        await asyncio.sleep(0)
        rec = CURRENT.get()
        return ta.grad(ta.grad(lambda x: x**3))(2.0), rec

    async def everything() -> tuple[Any, Any]:
        started: list[Any] = []

        def f(x: Any) -> Any:
            started.append(asyncio.get_running_loop().create_task(later()))
            return x * x

        assert ta.grad(f)(3.0) == 6.0
        result: tuple[Any, Any] = await started[0]
        return result

    value, copied = asyncio.run(everything())
    assert value == 12.0
    assert isinstance(value, np.ndarray)
    assert copied.ended


@pytest.fixture
def _restless() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("_restless")
def test_eight_threads_that_nest_two_hundred_times() -> None:
    def work(start: float) -> list[float]:
        points = start + np.arange(200) / 100
        nested = ta.grad(lambda x: x * ta.grad(lambda y: ta.grad(lambda z: x * y**2 * z**3)(y))(x))
        return [float(nested(point)) for point in points.tolist()]

    # d/dz x y² z³ at z = y is 3 x y⁴, its d/dy at y = x is 12 x⁴, and d/dx of 12 x⁵ is 60 x⁴
    starts = [float(i) for i in range(8)]
    with ThreadPoolExecutor(8) as pool:
        got = list(pool.map(work, starts))
    for start, values in zip(starts, got, strict=True):
        np.testing.assert_allclose(values, 60 * (start + np.arange(200) / 100) ** 4, rtol=1e-13)


def test_threads_with_a_handle_that_is_passed_in() -> None:
    def f(x: Any) -> Any:
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(ta.grad(lambda y: y**3), x).result()

    assert ta.grad(f)(2.0) == 12.0


def test_threads_with_a_handle_that_is_closed_over() -> None:
    def f(x: Any, run: Function) -> Any:
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(run, ta.grad(lambda y: y**3 * x), 2.0).result()

    assert ta.grad(lambda x: f(x, contextvars.copy_context().run))(1.0) == 12.0
    with pytest.raises(RecordMismatchError, match="neither is within the other"):
        ta.grad(lambda x: f(x, lambda g, at: g(at)))(1.0)
