"""What programs written for HIPS autograd may rely on: complex numbers, arguments, results."""

from typing import Any

import numpy as np
import pytest

import tape_ad as ta
import tape_ad.interop.autograd as ag
from tape_ad.errors import InPlaceError, OutputError
from tape_ad.interop.autograd import extend
from tests.interop.autograd.running import same

VECTOR = np.array([2.0, 3.0])


# Complex numbers: HIPS autograd's cotangents are the conjugates of ours


def test_a_complex_gradient_is_the_conjugate_of_ours() -> None:
    def f(z: Any) -> Any:
        return np.real(z**2) + np.abs(z)

    z = np.array([1 + 2j, -0.5j])
    same(ag.elementwise_grad(f)(z), np.conj(ta.vjp(f, z)[1](np.ones(2))[0]))
    same(ag.jacobian(f)(z), np.conj(ta.jacobian(f)(z)))


def test_a_vjp_of_a_holomorphic_function_multiplies_by_its_derivative() -> None:
    vjp, value = ag.make_vjp(np.sin)(1 + 2j)
    same(value, np.sin(1 + 2j))
    same(vjp(0.5 - 1j), (0.5 - 1j) * np.cos(1 + 2j))
    same(ag.make_jvp(np.sin)(1 + 2j)(0.5 - 1j)[1], (0.5 - 1j) * np.cos(1 + 2j))
    same(ag.holomorphic_grad(np.sin)(1 + 2j), np.cos(1 + 2j))


def test_a_primitive_of_complex_numbers_has_its_vjp_in_that_convention() -> None:
    sine = extend.primitive(np.sin)
    extend.defvjp(sine, lambda ans, z: lambda g: g * np.cos(z))
    same(ag.make_vjp(sine)(1 + 2j)[0](0.5 - 1j), (0.5 - 1j) * np.cos(1 + 2j))
    same(ag.grad(lambda z: np.imag(sine(z)))(1 + 2j), ag.grad(lambda z: np.imag(np.sin(z)))(1 + 2j))


def test_a_real_argument_has_a_real_gradient() -> None:
    found = ag.grad(lambda x: np.real(np.exp(1j * x)))(0.3)
    assert found.dtype == np.float64
    same(found, -np.sin(0.3))


def test_a_holomorphic_gradient_by_a_real_number_has_a_warning() -> None:
    with pytest.warns(UserWarning, match="not complex"):
        ag.holomorphic_grad(lambda x: x**2)(2.0)


# Arguments, results and their types


def test_a_number_has_a_number_for_its_gradient() -> None:
    assert type(ag.grad(np.sin)(0.5)) is np.float64
    assert type(ag.grad(np.sin)(np.float32(0.5))) is np.float32
    assert type(ag.grad(np.sin)(np.array(0.5))) is np.float64
    assert type(ag.value_and_grad(lambda x: x)(0.5)[0]) is np.float64


def test_a_gradient_may_be_written_to() -> None:
    gradient = ag.grad(lambda x, y: np.sum(x + y), (0, 1))(VECTOR, VECTOR)
    gradient[0][0] = 7.0
    same(gradient[1], [1.0, 1.0])


def test_a_value_may_be_written_to_before_the_pull() -> None:
    vjp, value = ag.make_vjp(np.exp)(np.array([0.0, 1.0]))
    value[:] = 100.0
    same(vjp(np.ones(2)), np.exp([0.0, 1.0]))


def test_a_result_of_one_element_is_a_number_whatever_its_axes() -> None:
    same(ag.grad(lambda x: x[:1, None] ** 2)(VECTOR), [4.0, 0.0])


@pytest.mark.parametrize("function", [lambda x: x, lambda x: 1j * x[0], lambda x: [x[0], x[1]]])
def test_a_gradient_of_anything_else_is_a_type_error(function: Any) -> None:
    with pytest.raises(OutputError, match="real scalar-output") as error:
        ag.grad(function)(VECTOR)
    assert isinstance(error.value, TypeError)


@pytest.mark.parametrize("operator", [ag.jacobian, ag.elementwise_grad])
def test_a_complex_result_is_refused_where_one_number_would_not_do(operator: Any) -> None:
    with pytest.raises(OutputError, match="make_vjp"):
        operator(lambda x: 1j * x)(VECTOR)


@pytest.mark.parametrize("constant", [3.0, np.float64(3.0), VECTOR[0]])
def test_a_result_that_does_not_depend_has_a_warning_and_zeros(constant: Any) -> None:
    with pytest.warns(UserWarning, match="independent of input"):
        same(ag.grad(lambda x: constant)(VECTOR), [0.0, 0.0])
    with pytest.warns(UserWarning, match="independent of input"):
        same(ag.jacobian(lambda x: constant)(VECTOR), [0.0, 0.0])


@pytest.mark.filterwarnings("ignore:Output seems independent")
@pytest.mark.parametrize("constant", [3, True, np.True_])
def test_a_result_that_is_no_real_number_has_no_space(constant: Any) -> None:
    with pytest.raises(TypeError, match="no space for"):
        ag.grad(lambda x: constant)(VECTOR)


def test_empty_arrays_have_empty_derivatives() -> None:
    assert ag.grad(lambda x: np.sum(x**2))(np.zeros((0, 3))).shape == (0, 3)
    assert ag.jacobian(lambda x: x**2)(np.zeros(0)).shape == (0, 0)
    assert ag.jacobian(lambda x: x[:, None] * np.ones(3))(np.zeros(0)).shape == (0, 3, 0)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.longdouble, np.complex64])
@pytest.mark.parametrize("operator", [ag.elementwise_grad, ag.jacobian])
def test_derivatives_have_the_dtype_of_the_argument(operator: Any, dtype: Any) -> None:
    squared = operator(lambda x: np.real(x * np.conj(x)))
    assert squared(np.ones(2, dtype)).dtype == dtype


def test_argnum_is_a_position_or_several() -> None:
    def f(x: Any, y: Any, *, by: float = 1.0) -> Any:
        return x * y**2 * by

    assert ag.grad(f, argnum=1)(2.0, 3.0, by=10.0) == 120.0
    assert ag.grad(f, argnum=[1, 0])(2.0, 3.0) == (12.0, 9.0)
    assert ag.grad(f, (1,))(2.0, 3.0) == (12.0,)
    assert ag.grad_named(f, "y")(2.0, 3.0) == 12.0
    assert ag.jacobian(f, 1)(2.0, VECTOR).tolist() == [[8.0, 0.0], [0.0, 12.0]]
    with pytest.raises(TypeError, match="argnum"):
        ag.grad(f, "y")(2.0, 3.0)


def test_gradients_by_all_arguments_are_named() -> None:
    def f(x: Any, *rest: Any, y: Any = 3.0, **more: Any) -> Any:
        return x * y + rest[0] ** 2 + more["z"] * 5

    found = ag.multigrad_dict(f)(2.0, 4.0, z=1.0)
    assert found == {"x": 3.0, "rest": (8.0,), "y": 2.0, "more": {"z": 5.0}}
    assert list(found) == ["x", "rest", "y", "more"]


def test_operators_are_named_after_what_they_do() -> None:
    assert ag.grad(np.sin).__name__ == "grad_of_sin_wrt_argnum_0"
    assert "sin" in str(ag.jacobian(np.sin, (0, 1)).__doc__)


def test_the_second_derivatives_agree_with_each_other() -> None:
    def f(x: Any) -> Any:
        return np.sum(np.sin(x) * x[::-1] ** 2)

    v = np.array([0.5, -2.0])
    full = ta.hessian(f)(VECTOR)
    same(ag.hessian(f)(VECTOR), full)
    same(ag.hessian_vector_product(f)(VECTOR, v), full @ v)
    product, gradient = ag.make_hvp(f)(VECTOR)
    same(product(v), full @ v)
    same(gradient, ta.grad(f)(VECTOR))
    same(ag.hessian(lambda x: x**3)(VECTOR), ta.jacobian(ta.jacobian(lambda x: x**3))(VECTOR))


def test_products_with_the_jacobian_agree_with_it() -> None:
    def f(x: Any) -> Any:
        return np.stack([x[0] * x[1], x[1] ** 2, np.sin(x[0])])

    full, v = ag.jacobian(f)(VECTOR), np.array([0.5, -2.0])
    w = np.array([1.0, 2.0, 3.0])
    same(ag.make_jvp_reversemode(f)(VECTOR)(v), full @ v)
    same(ag.make_jvp(f)(VECTOR)(v)[1], full @ v)
    same(ag.deriv(f)(VECTOR), full @ np.ones(2))
    same(ag.vector_jacobian_product(f)(VECTOR, w), w @ full)
    same(ag.make_ggnvp(f)(VECTOR)(v), full.T @ (full @ v))
    weights = lambda y: np.sum(w * y**2)  # noqa: E731 - as such programs are written
    same(ag.make_ggnvp(f, weights)(VECTOR)(v), full.T @ (2 * w * (full @ v)))


def test_a_checkpointed_function_has_the_same_gradient() -> None:
    same(ag.grad(ag.checkpoint(np.sin))(0.3), np.cos(0.3))


def test_adding_to_a_number_makes_another_number() -> None:
    def f(x: Any) -> Any:
        y = x
        y += 1
        return x * y

    assert ag.grad(f)(2.0) == 5.0
    with pytest.raises(InPlaceError, match="x = x \\+ y"):
        ag.grad(lambda x: np.sum(f(x)))(VECTOR)
