"""The bound that native results are held to: it lets rounding pass, and catches what is wrong."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad.programs.program import Diverged, interpret
from tests.programs.building import Builder
from tests.programs.closeness import Reference
from tests.programs.noise import Noise

X = np.linspace(-2.0, 3.0, 37)
Written = Callable[[Builder, Any], Any]


def program_of(write: Written, x: Any = X) -> Any:
    b = Builder()
    with np.errstate(all="ignore"):
        return b.program((write(b, b.input(x, "x")),))


def problem(right: Written, other: Written, x: Any = X) -> str:
    """Compare what two programs give, as if the second were the first in another engine."""
    program = program_of(right, x)
    with np.errstate(all="ignore"):
        wanted = interpret(program, (x,))
        given = interpret(program_of(other, x), (x,))
        return Reference(program, (x,), wanted).problem(given)


def gaussian(b: Builder, x: Any) -> Any:
    return b(np.sum, b(np.multiply, b(np.tanh, x), b(np.exp, b(np.negative, b(np.square, x)))))


def slope_of_tanh(b: Builder, x: Any) -> Any:
    t = b(np.tanh, x)
    return b(np.subtract, 1.0, b(np.multiply, t, t))


def chain(length: int) -> Written:
    def write(b: Builder, x: Any) -> Any:
        y = x
        for _ in range(length):
            y = b(np.add, b(np.multiply, b(np.sin, y), x), 0.5)
        return y

    return write


def shifted(b: Builder, x: Any) -> Any:
    return b(np.multiply, b(np.exp, b.item(x, slice(1, None))), b.item(x, slice(-1)))


def elementwise(function: Callable[[Any], Any]) -> Written:
    """Make a program of one call of something that an engine might compute in place of NumPy."""
    return lambda b, x: b(function, x)


def with_tail(function: Callable[[Any], Any], tail: Callable[[Any], Any]) -> Written:
    def wrong(x: Any) -> Any:
        out = np.array(function(x))
        out[-1] = tail(out)
        return out

    return elementwise(wrong)


RIGHT: dict[str, tuple[Written, Written]] = {
    "another tanh": (
        elementwise(np.tanh),
        elementwise(lambda x: np.expm1(2 * x) / (np.expm1(2 * x) + 2)),
    ),
    "another exp": (elementwise(np.exp), elementwise(lambda x: np.exp2(x / np.log(2.0)))),
    "a sum backwards": (
        gaussian,
        lambda b, x: gaussian(b, b.item(x, slice(None, None, -1))),
    ),
    "a difference that cancels": (
        lambda b, x: b(np.divide, b(np.subtract, 1.0, b(np.cos, x)), 1e-9),
        lambda b, x: b(
            lambda x: (1.0 - np.cos(x.astype(np.longdouble)).astype(float)) / 1e-9,
            x,
        ),
    ),
    "the slope of tanh": (
        slope_of_tanh,
        elementwise(lambda x: (1 - np.tanh(x)) * (1 + np.tanh(x))),
    ),
}


@pytest.mark.parametrize("name", RIGHT)
def test_other_ways_of_rounding_pass(name: str) -> None:
    right, other = RIGHT[name]
    assert problem(right, other) == ""


@pytest.mark.parametrize("seed", range(100, 110))
@pytest.mark.parametrize("write", [gaussian, slope_of_tanh, chain(40), shifted])
def test_noise_itself_passes(write: Written, seed: int) -> None:
    program = program_of(write)
    given = tuple(Noise(seed).run(program, (X,)).leaves)
    assert Reference(program, (X,), interpret(program, (X,))).problem(given) == ""


def largest(b: Builder, x: Any) -> Any:
    y = b(np.exp, x)
    return b(np.equal, y, b(np.max, y))


WRONG: dict[str, tuple[Written, Written]] = {
    "a wrong formula": (slope_of_tanh, elementwise(lambda x: 1 - np.tanh(x))),
    "a small term dropped": (
        lambda b, x: b(np.add, b(np.exp, x), b(np.multiply, 1e-12, x)),
        elementwise(np.exp),
    ),
    "an element of a sum left out": (
        gaussian,
        lambda b, x: gaussian(b, b.item(x, slice(None, -1))),
    ),
    "an index one too far": (
        shifted,
        lambda b, x: b(
            np.multiply, b(np.exp, b.item(x, slice(1, None))), b.item(x, slice(1, None))
        ),
    ),
    "the tail of a vector": (elementwise(np.exp), with_tail(np.exp, lambda out: out[-2])),
    "a nan in the tail": (elementwise(np.exp), with_tail(np.exp, lambda out: np.nan)),
    "a nan lost": (
        lambda b, x: b(np.maximum, b(np.sqrt, x), 0.0),
        lambda b, x: b(np.fmax, b(np.sqrt, x), 0.0),
    ),
    "an infinity lost": (
        lambda b, x: b(np.divide, 1.0, b(np.multiply, 0.0, x)),
        elementwise(lambda x: np.copysign(np.finfo(float).max, x)),
    ),
    "an infinity of the other sign": (
        lambda b, x: b(np.divide, 1.0, b(np.multiply, 0.0, x)),
        elementwise(lambda x: np.full(x.shape, np.inf)),
    ),
    "the sign of a zero": (
        lambda b, x: b(np.multiply, -0.0, b(np.square, x)),
        elementwise(lambda x: x * 0 + 0.0),
    ),
    "single precision within": (
        chain(40),
        elementwise(lambda x: chained(x.astype(np.float32)).astype(float)),
    ),
    "denormal numbers flushed": (
        lambda b, x: b(np.multiply, x, 1e-310),
        elementwise(lambda x: x * 0.0),
    ),
    "another choice": (
        lambda b, x: b(np.where, b(np.greater, x, 0.5), x, 0.0),
        lambda b, x: b(np.where, b(np.less, x, 0.5), x, 0.0),
    ),
    "a count": (
        lambda b, x: b(np.count_nonzero, b(np.greater, b(np.sin, x), 0.5)),
        lambda b, x: b(np.count_nonzero, b(np.greater, b(np.sin, x), 0.3)),
    ),
    "a maximum that is not its own": (
        largest,
        elementwise(lambda x: x > 99),
    ),
    "a dtype": (elementwise(np.exp), elementwise(lambda x: np.exp(x).astype(np.float32))),
    "a shape": (elementwise(np.exp), elementwise(lambda x: np.exp(x)[None])),
    "a number in place of an array": (elementwise(np.sum), elementwise(lambda x: np.sum(x)[None])),
}


def chained(x: Any) -> Any:
    y = x
    for _ in range(40):
        y = np.sin(y) * x + np.float32(0.5)
    return y


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_caught(name: str) -> None:
    right, wrong = WRONG[name]
    assert problem(right, right) == ""
    assert problem(right, wrong)


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_complex_numbers_may_round_by_their_size_and_no_more(dtype: Any) -> None:
    z = (X + 1j * X[::-1]).astype(dtype)
    eps = np.finfo(dtype).eps

    def moved(by: float) -> Written:
        return lambda b, x: b(lambda x: (x * x + by * abs(x * x)).astype(dtype), x)

    assert problem(lambda b, x: b(np.multiply, x, x), moved(2 * eps), z) == ""
    assert problem(lambda b, x: b(np.multiply, x, x), moved(50 * eps), z)


def test_a_branch_near_a_tie_may_be_taken_the_other_way_and_no_other_may() -> None:
    def write(x: Any) -> Any:
        b = Builder()
        total = b(np.sum, b(np.sin, b.input(x, "x")))
        b.guard(bool, b(np.greater, total, float(np.sum(np.sin(X)))))
        return b.program((total,))

    program = write(X)
    reference = Reference(program, (X,), interpret(program, (X,)))
    assert reference.problem(Diverged(0, True)) == ""
    other = X + 0.1
    assert Reference(program, (other,), interpret(program, (other,))).problem(Diverged(0, False))
    wanted = Diverged(0, True)
    assert Reference(program, (other,), wanted).problem(wanted) == ""
    assert Reference(program, (other,), wanted).problem((1.0,))
    assert Reference(program, (other,), wanted).problem(IndexError("index 3")) == ""


def test_what_is_exact_has_no_noise() -> None:
    b = Builder()
    x = b.input(X, "x")
    y = b(np.tanh, x)
    outs = (
        b(np.maximum, x, 0.5),
        b(np.concatenate, (x, x)),
        b(np.add, x, 0.0),
        b(np.multiply, b(np.arange, 5.0), 3.0),
        b(np.floor, x),
        b.item(x, [3, 1]),
        b(np.sort, x),
        b(np.equal, y, b(np.max, y)),
    )
    program = b.program((*outs, y))
    *same, moved = Noise(0).run(program, (X,)).leaves
    for one, out in zip(same, outs, strict=True):
        assert np.array_equal(one, b.concrete[out])
    assert not np.array_equal(moved, np.tanh(X))
    assert np.allclose(moved, np.tanh(X), rtol=1e-15, atol=0)


def test_a_product_has_noise_of_the_size_of_its_terms() -> None:
    b = Builder()
    x = b.input(X, "x")
    cancels = b(np.dot, x, b(np.subtract, x, b(np.mean, x)))
    total = b(np.sum, b(np.subtract, x, b(np.mean, x)))
    program = b.program((cancels, total))
    leaves = [Noise(seed).run(program, (X,)).leaves for seed in range(8)]
    assert 1e-17 < np.std([leaf[1] for leaf in leaves]) < 1e-13
    assert np.std([leaf[0] for leaf in leaves]) < 1e-12


def test_noise_that_fails_says_that_it_goes_another_way() -> None:
    b = Builder()
    x = b.input(np.eye(2), "x")
    b(np.linalg.cholesky, b(np.subtract, x, 0.5))
    program = b.program((b.item(x, 0),))
    sample = Noise(0).run(program, (-np.eye(2),))
    assert (sample.leaves, sample.turn) == ([], (None, np.linalg.LinAlgError))
    assert Reference(program, (-np.eye(2),), (np.ones(2),)).problem((np.zeros(2),))


@pytest.mark.parametrize("offset", [3.0, 9.5, 14.0, 16.5])
def test_slopes_of_what_is_saturated_are_taken_for_rounding(offset: float) -> None:
    """Of 1 - tanh(x)**2, rounding of tanh(x) is all that is left."""
    pytest.importorskip("llvmlite")
    slope = ta.grad(lambda x: np.sum(np.tanh(x + offset)))
    compiled = ta.compile(slope, engine="native")
    for scale in (1.0, 1.0, 1.1):
        x = np.linspace(0.4, 0.6, 1000) * scale
        np.testing.assert_allclose(compiled(x), slope(x), atol=1e-15)
