"""Operators, choices and helpers in native programs: what they give, and that they are native."""

import operator
from typing import Any

import numpy as np
import pytest

pytest.importorskip("llvmlite")

import tape_ad as ta
from tape_ad.nn import elu, gelu, leaky_relu, relu, selu, sigmoid, silu, softplus
from tape_ad.programs.engines import engine_named
from tests.programs.native.running import agree_to_the_bit


def points(*codes: str) -> list[list[Any]]:
    """Draw arguments for captures and replays: arrays by their dtypes, and Python's numbers."""
    rng = np.random.default_rng(0)
    numbers: dict[str, Any] = {
        "float": lambda: float(rng.normal()),
        "int": lambda: int(rng.integers(1, 50)),
    }

    def one(code: str) -> Any:
        if code in numbers:
            return numbers[code]()
        return (3 * rng.normal(size=(5, 21))).astype(code)

    return [[one(code) for code in codes] for _ in range(5)]


def natively(function: Any, calls: int, *arguments: list[Any]) -> None:
    """Capture at two points, and compare native replays at all; so many calls are NumPy's."""
    compiled = ta.compile(function)
    for point in arguments[:2]:
        compiled(*point)
    (program,) = compiled.programs
    replay: Any = engine_named("native")(program)
    left = sum(sum(names.values()) for names in replay.report.left.values())
    assert (left, replay.report.native > 0) == (calls, True), replay.report
    for point in arguments:
        (given,), wanted = replay(*point), function(*point)
        assert type(given) is type(wanted)
        np.testing.assert_allclose(given, wanted, rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize(
    "function",
    [
        *(operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv),
        *(operator.mod, operator.eq, operator.lt, operator.ge),
    ],
)
@pytest.mark.parametrize("codes", ["dd", "ff", "ll", "dl"])
@np.errstate(all="ignore")
def test_operators_of_arrays(function: Any, codes: str) -> None:
    natively(function, 0, *points(*codes))


@pytest.mark.parametrize("dtype", [np.float64, np.float32, "complex128"])
def test_a_dtype_that_is_asked_for(dtype: Any) -> None:
    natively(lambda x, y: np.add(x, y, dtype=dtype), 0, *points("f", "f"))
    natively(lambda x: np.subtract(x > 0, x < 0, dtype=dtype), 0, *points("d"))


@pytest.mark.parametrize("exponent", [2, 3, -1, 2.5, 0])
def test_powers(exponent: float) -> None:
    natively(lambda x: abs(x) ** exponent, 0, *points("d"))


@pytest.mark.parametrize("exponent", [0, 1, 2, 3, 10])
@pytest.mark.parametrize("dtype", ["l", "i", "B"])
def test_powers_of_integers(exponent: int, dtype: str) -> None:
    natively(lambda x: x * x**exponent, 0, *points(dtype))


@pytest.mark.parametrize(
    "function",
    [
        lambda x: np.where(x > 0, x, 0),
        lambda x: np.where(x > 0, 1.5, x),
        lambda x: np.where(x, x, -x),
        lambda x: np.clip(x, -1, 1),
        lambda x: np.clip(x, None, 0.5),
        lambda x: np.clip(x, -0.5, None),
        lambda x: np.clip(x, x - 1, 0.25),
        lambda x: np.round(x, 1),
        lambda x: np.isclose(x, x[:, ::-1]),
        np.sinc,
        lambda x: np.nan_to_num(x / (x * 0), nan=2.0),
        *(relu, sigmoid, softplus, elu, selu, silu, leaky_relu),
        lambda x: gelu(x, approximate="tanh"),
        lambda x: leaky_relu(x, negative_slope=0.25),
        lambda x: softplus(x, 2.0, threshold=3.0),
    ],
)
@np.errstate(all="ignore")
def test_choices_and_activations(function: Any) -> None:
    natively(function, 0, *points("d"))


@pytest.mark.parametrize(
    "function",
    [
        lambda n, m: n + m,
        lambda n, m: n - 2.5,
        lambda n, m: 3 * n,
        lambda n, m: n / m,
        lambda n, m: n // m,
        lambda n, m: n % m,
        lambda n, m: -abs(n) * +m,
    ],
)
@pytest.mark.parametrize("codes", [("float", "float"), ("int", "int"), ("float", "int")])
def test_pythons_numbers(function: Any, codes: tuple[str, str]) -> None:
    natively(lambda x, n, m: x * function(n, m), 0, *points("d", *codes))


@pytest.mark.parametrize(
    ("function", "first", "then"),
    [
        (lambda n: n * n, 3, 2**40),
        (lambda n: n + n, 3, 2**62),
        (lambda n: n / 3, 3, 2**60 + 1),
        (lambda n: -n, 3, -(2**63)),
        (lambda n: n**2.0, 3.0, 1.5),
    ],
)
def test_numbers_that_native_code_cannot_hold(function: Any, first: Any, then: Any) -> None:
    compiled = ta.compile(lambda x, n: x * function(n), engine="native")
    x = np.arange(4.0)
    for n in (first, first, first, then, first):
        assert np.array_equal(compiled(x, n), x * function(n))


def test_a_division_by_zero_is_pythons_error() -> None:
    compiled = ta.compile(lambda x, n: x * (1.0 / n), engine="native")
    x = np.arange(4.0)
    for n in (2.0, 3.0, 4.0):
        assert np.array_equal(compiled(x, n), x * (1.0 / n))
    with pytest.raises(ZeroDivisionError):
        compiled(x, 0.0)
    assert np.array_equal(compiled(x, 5.0), x * (1.0 / 5.0))


def test_numbers_that_stand_in_the_program_may_be_large() -> None:
    natively(lambda x, n: x * (2.0**70 + n), 0, *points("d", "float"))
    compiled = ta.compile(lambda x, n: x * (2**70 + n), engine="native")
    for n in (1, 2, 3, 4):
        assert np.array_equal(compiled(np.arange(3.0), n), np.arange(3.0) * (2**70 + n))


def test_derivatives_of_powers() -> None:
    slopes = ta.grad(lambda x, y: np.sum(abs(x) ** y), (0, 1))
    compiled = ta.compile(slopes, engine="native")
    for x, y in points("d", "d"):
        for given, wanted in zip(compiled(x, y), slopes(x, y), strict=True):
            np.testing.assert_allclose(given, wanted, rtol=1e-12)


@pytest.mark.parametrize("order", [np.inf, -np.inf])
def test_the_largest_of_complex_numbers_is_found_again(order: float) -> None:
    slopes = ta.grad(lambda x: np.linalg.norm(x, order))  # compares with what NumPy has found
    compiled = ta.compile(slopes, engine="native")
    rng = np.random.default_rng(0)
    for _ in range(50):
        x = rng.normal(size=4) + 1j * rng.normal(size=4)
        np.testing.assert_allclose(compiled(x), slopes(x), rtol=1e-14)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("exponent", [0.5, 1.5, 2.0])
def test_an_exponent_that_is_given_takes_numpys_way(exponent: float, dtype: str) -> None:
    x = np.array([-np.inf, -0.0, 0.0, np.inf, np.nan, 4.0], dtype)
    agree_to_the_bit(lambda x, s: (x**s, x ** np.full(6, 0.5, dtype)), x, exponent)


@pytest.mark.filterwarnings("ignore")
def test_float_power_takes_no_root() -> None:
    agree_to_the_bit(lambda x: np.float_power(x, 0.5), np.array([-np.inf, -0.0, 4.0]))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("exponent", [-1, 2])
def test_powers_of_complex_numbers_keep_the_signs_of_zeros(exponent: int) -> None:
    x = np.array([complex(-0.0, 0.0), 2 - 0j, complex(2.0, -0.0), 1 + 1j])
    agree_to_the_bit(lambda x: x**exponent, x)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("bound", [0.0, -0.0, 1.0, np.nan])
def test_clipping_by_two_numbers_keeps_the_signs_of_zeros(bound: float) -> None:
    x = np.array([-0.0, 0.0, -1.0, 2.0, 0.5])
    agree_to_the_bit(
        lambda x, s: (np.clip(x, 0.0, s), np.clip(x, s, 3), np.clip(x, 0, 1)), x, bound
    )
    agree_to_the_bit(lambda x, s: np.clip(x, np.full(5, 0.0), s), x, bound)


@pytest.mark.parametrize("options", [{}, {"axis": 0}, {"axisa": 0, "axisb": 1, "axisc": 0}])
def test_cross_products(options: dict[str, int]) -> None:
    x, y = np.random.default_rng(0).normal(size=(2, 3, 3, 3))
    agree_to_the_bit(lambda x, y: np.cross(x, y, **options), x, y)
    agree_to_the_bit(lambda x, y: np.cross(x, y[0, 0]), x, y)


def test_polynomials() -> None:
    p, x = np.random.default_rng(0).normal(size=5), np.linspace(-1, 1, 7)
    agree_to_the_bit(np.polyval, p, x)
