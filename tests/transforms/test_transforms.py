"""Gradients of functions: what they are, what a function may return, what is refused."""

from collections.abc import Callable
from typing import Any, NamedTuple

import attrs
import numpy as np
import pytest

import tape_ad as ta
from tape_ad.errors import DtypeError, OutputError, RecordMismatchError

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
    transform: Any = ta.grad
    with pytest.raises(TypeError, match=r"there are 3; an argument given by name is a constant"):
        transform(lambda x, y, z: x * y * z, argnums)(1.0, 2.0, 3.0)


def test_argnums_of_numpys_integers() -> None:
    zero = np.int64(0)
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
