"""Copies of other people's code within and around the other transforms."""

import cmath
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.interpolate
import scipy.optimize

import tape_ad as ta
from tape_ad.errors import ProgramMismatchError

X = np.array([0.3, 0.5, 0.7])


def decay(x: Any) -> Any:
    """Fill a plain array with what a loop and `math` give."""
    left = np.zeros(4)
    left[0] = float(x[0])
    for i in range(3):
        left[i + 1] = left[i] * math.exp(-float(x[1])) + math.sin(x[2]) ** 2
    return np.asarray(left)


def total(x: Any) -> Any:
    return np.sum(decay(x) ** 2)


def steps(function: Callable[[Any], Any], x: Any, h: float = 1e-5) -> Any:
    """Give central differences, the last axis being that of the argument."""
    return np.stack([(function(x + d) - function(x - d)) / (2 * h) for d in np.eye(3) * h], axis=-1)


copied = ta.differentiable(decay)
copied_total = ta.differentiable(total)


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_jacobians(mode: Any) -> None:
    found = ta.jacobian(copied, mode=mode)(X)

    np.testing.assert_allclose(found, steps(decay, X), rtol=1e-8, atol=1e-10)


def test_sparse_jacobians() -> None:
    found = ta.sparse_jacobian(copied)(X)

    np.testing.assert_allclose(found.toarray(), steps(decay, X), rtol=1e-8, atol=1e-10)


def test_second_derivatives() -> None:
    expected = steps(ta.grad(copied_total), X)

    np.testing.assert_allclose(ta.hessian(copied_total)(X), expected, rtol=1e-7)
    np.testing.assert_allclose(
        ta.grad(lambda x: np.sum(ta.grad(copied_total)(x) * X))(X), expected @ X, rtol=1e-7
    )


@pytest.mark.parametrize("transform", [ta.grad, ta.value_and_grad, ta.jacobian, ta.hessian])
def test_a_copy_of_a_derivative_is_the_derivative_of_a_copy(transform: Any) -> None:
    found, expected = ta.differentiable(transform(total))(X), transform(copied_total)(X)

    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)


def test_checkpoints_and_copies_of_what_has_them() -> None:
    expected = steps(total, X)

    np.testing.assert_allclose(ta.grad(ta.checkpoint(copied_total))(X), expected, rtol=1e-8)
    np.testing.assert_allclose(
        ta.grad(ta.differentiable(ta.checkpoint(copied_total)))(X), expected, rtol=1e-8
    )


def test_compiled() -> None:
    slopes = ta.compile(ta.grad(copied_total))
    expected = ta.grad(copied_total)

    for x in (X, 2 * X, X + 1):
        np.testing.assert_allclose(slopes(x), expected(x), rtol=1e-12)


def test_batched() -> None:
    xs = np.stack([X, 2 * X, X + 1])
    mean = ta.differentiable(lambda x: np.asarray(x).sum() ** 2 + np.float64(x[0]) * math.pi)

    np.testing.assert_allclose(ta.batched(mean)(xs), [mean(x) for x in xs])
    np.testing.assert_allclose(
        ta.batched(ta.grad(copied_total))(xs), [ta.grad(copied_total)(x) for x in xs], rtol=1e-12
    )


def test_a_copy_within_a_copy() -> None:
    both = ta.differentiable(lambda x: copied_total(x) * math.cos(x[0]))

    np.testing.assert_allclose(
        ta.grad(both)(X), steps(lambda x: total(x) * math.cos(x[0]), X), rtol=1e-8
    )


@pytest.mark.parametrize("method", ["BFGS", "L-BFGS-B", "Newton-CG", "trust-constr"])
def test_an_optimum_moves_as_the_implicit_function_theorem_says(method: str) -> None:
    def lowest(x: Any) -> Any:
        def height(z: Any) -> Any:
            return (z[0] - x[0]) ** 2 + math.exp(z[1] - x[1]) - z[1] * x[2] + 0.1 * z[0] ** 4

        def slopes(z: Any) -> Any:
            return np.array(
                [2 * (z[0] - x[0]) + 0.4 * z[0] ** 3, math.exp(z[1] - x[1]) - x[2]], dtype=float
            )

        start = np.array([0.2, 0.2])
        return scipy.optimize.minimize(height, start, method=method, jac=slopes, tol=1e-12).x

    z = lowest(X)
    by_hand = np.zeros((2, 3))
    by_hand[0, 0] = 2 / (2 + 1.2 * z[0] ** 2)
    by_hand[1, 1:] = 1.0, 1 / X[2]

    np.testing.assert_allclose(ta.jacobian(ta.differentiable(lowest))(X), by_hand, atol=1e-7)


def counted(x: Any) -> Any:
    return x[0] * (math.floor(x[1] * 7) + 10 * math.ceil(x[1] * 7) + 100 * round(x[1] * 7))


def guarded(x: Any) -> Any:
    """Go another way where a number has no logarithm, or too large an exponential."""
    total = 0.0
    for each in x:
        try:
            total += math.log(each - 0.45) + math.exp(each * 1000.0) * 1e-300
        except (ValueError, OverflowError) as error:
            total += each * (2 if isinstance(error, ValueError) else 3)
    return total


POINTS = X + np.array([[0.0], [0.11], [-0.21], [0.3]])


@pytest.mark.filterwarnings("ignore::tape_ad.errors.BatchWarning")
@pytest.mark.parametrize("function", [counted, guarded])
@pytest.mark.parametrize("transform", [ta.compile, lambda f: lambda x: ta.batched(f)(x[None])[0]])
def test_what_pythons_numbers_answer_and_raise_is_asked_again(
    function: Any, transform: Any
) -> None:
    values, slopes = (transform(f) for f in pair(ta.differentiable(function)))

    for x in POINTS:
        np.testing.assert_allclose(values(x), function(x), rtol=1e-12)
        np.testing.assert_allclose(slopes(x), ta.grad(ta.differentiable(function))(x))


def pair(function: Any) -> tuple[Any, Any]:
    return function, ta.grad(function)


@pytest.mark.filterwarnings("ignore::tape_ad.errors.BatchWarning")
@pytest.mark.parametrize("function", [counted, guarded])
def test_members_of_a_batch_go_each_its_way(function: Any) -> None:
    copy = ta.differentiable(function)

    np.testing.assert_allclose(ta.batched(copy)(POINTS), [*map(function, POINTS)], rtol=1e-12)
    np.testing.assert_allclose(ta.batched(ta.grad(copy))(POINTS), [*map(ta.grad(copy), POINTS)])


class Measured:
    """Holds an array and answers for it, and may hold one of Dask's, as pint's quantities do."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __dask_graph__(self) -> None:
        return None

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *args: Any, **kwargs: Any) -> Any:
        plain = [each.value if isinstance(each, Measured) else each for each in args]
        return Measured(ufunc(*plain, **kwargs))


def test_what_may_hold_an_array_of_dasks_is_none() -> None:
    multiply: Any = np.multiply  # which gives what the other operand does
    slopes = ta.grad(lambda x: np.sum(multiply(x, Measured(x**2)).value))(X)

    np.testing.assert_allclose(slopes, 3 * X**2)


RESULTS: dict[str, tuple[Any, Any]] = {
    "float of an array": (lambda x: float(np.asarray(x).sum()) * 2.0, X),
    "math": (lambda x: math.sin(float(x[0])) / 3, X),
    "math of a number of NumPy's": (lambda x: math.atan2(x[0], x[1]), X),
    "a sum": (lambda x: math.fsum([float(v) for v in x]), X),
    "complex": (lambda x: complex(float(x[0]), 1.0) ** 2, X),
    "cmath": (lambda x: cmath.exp(complex(x[0])), X),
    "the angle": (lambda x: np.angle(complex(x[0], x[1])), X),
    "parts": (lambda x: (*math.modf(x[1]), math.frexp(x[0])[0]), X),
    "one of NumPy's": (lambda x: np.sin(x[0]) * float(x[1]), X),
    "beside float32": (lambda x: float(x.sum()) * np.ones(2, np.float32), X),
    "a number": (lambda x: abs(x) ** 2.5 - max(x, 1.0), 3.0),
    "a number and float": (lambda x: float(x) * 2, 3.0),
    "a number beside float32": (lambda x: x * np.float32(2), 3.0),
    "a whole number": (lambda x: float(x) / 2 + x * 2, 3),
    "a number and NumPy": (lambda x: np.exp(x) * x, 3.0),
    "the answer": (lambda x: (isinstance(x, float), type(x).__name__, np.isscalar(x), x), 3.0),
}


@pytest.mark.parametrize("name", RESULTS)
def test_a_compiled_copy_gives_pythons_numbers_where_the_function_does(name: str) -> None:
    function, x = RESULTS[name]
    compiled = ta.compile(ta.differentiable(function))
    wanted = function(x)
    for _ in range(4):
        for got, one in zip(leaves(compiled(x)), leaves(wanted), strict=True):
            assert type(got) is type(one)
            np.testing.assert_array_equal(got, one)
            assert getattr(got, "dtype", None) == getattr(one, "dtype", None)


def leaves(result: Any) -> Any:
    return result if isinstance(result, tuple) else (result,)


def filled(x: Any) -> Any:
    left = np.zeros(3)
    for i, each in enumerate(x):
        left[i] = each * 2
    return float(left.sum()) / 2


def test_a_compiled_copy_that_fills_arrays_gives_pythons_number_once_it_is_checked() -> None:
    compiled = ta.compile(ta.differentiable(filled), check_every=1)
    found = [compiled(X * k) for k in range(1, 6)]
    assert type(found[-1]) is float
    np.testing.assert_allclose(found, [filled(X * k) for k in range(1, 6)])


def rows_assigned(x: Any) -> Any:
    left = np.zeros((3, 2))
    left[0] = x[0], x[1]
    left[1] = [float(x[0]), 1.0]
    left[2, 0] = float(x[1]) * 3
    return np.sum(left**2) * 2


def number_assigned(x: Any) -> Any:
    left = np.zeros(2)
    left[0] = x
    return left.sum() ** 2


@pytest.mark.parametrize(("function", "x"), [(rows_assigned, X), (number_assigned, 0.3)])
def test_numbers_and_lists_that_are_assigned_are_followed_by_one_program(
    function: Any, x: Any
) -> None:
    compiled = ta.compile(ta.differentiable(function))
    for k in range(1, 8):
        assert math.isclose(compiled(x * k), function(x * k))
    assert repr(compiled).endswith(": 1 program>")
    slope = ta.compile(ta.grad(ta.differentiable(function)))
    for k in range(1, 4):
        np.testing.assert_allclose(slope(x * k), ta.grad(ta.differentiable(function))(x * k))


GRID = np.linspace(0, 1, 7)
PLACES = np.random.default_rng(0).random((20, 2))
VALUES = np.random.default_rng(1).random((7, 7))


@ta.differentiable
def interpolated(points: Any, method: str = "linear") -> Any:
    return scipy.interpolate.RegularGridInterpolator((GRID, GRID), VALUES, method=method)(points)


@pytest.mark.parametrize("engine", ["numpy", "native"])
def test_lines_in_the_place_of_compiled_code_may_have_other_last_digits(engine: Any) -> None:
    compiled = ta.compile(interpolated, engine=engine, check_every=1)
    for k in range(6):
        points = PLACES * (1 - k / 100)
        np.testing.assert_allclose(compiled(points), interpolated(points), rtol=1e-14)


def test_lines_that_part_from_compiled_code_by_more_are_told() -> None:
    compiled = ta.compile(interpolated, engine="numpy", check_every=2)
    for k in range(3):
        compiled(PLACES * (1 - k / 100), "cubic")  # SciPy solves for these splines by iteration
    with pytest.raises(ProgramMismatchError, match="compiled code, for which the program has lin"):
        compiled(PLACES, "cubic")


class Shifted:
    def __call__(self, x: Any) -> Any:
        return np.ones(3) + x


def test_what_objects_of_a_copied_class_give_is_compared_as_arrays() -> None:
    shifted = ta.differentiable(Shifted)()
    compiled = ta.compile(shifted, check_every=1)
    for k in range(6):
        assert np.array_equal(compiled(X * k), X * k + 1)
