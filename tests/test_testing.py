"""The check of derivatives: it passes what is right, and says where and how much else is off."""

from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad.errors import GradientCheckError, NoModeError, OutputError
from tape_ad.testing import check_grads

RNG = np.random.default_rng(5)
X, Y = RNG.normal(size=(2, 3))


def tree(p: Any, n: int, y: Any) -> Any:
    assert type(n) is int
    return {"a": np.tanh(p["w"] @ y) ** n, "b": [np.sum(y), 3, None]}


@pytest.mark.parametrize("order", [1, 2, 3])
def test_what_is_right_passes(order: int) -> None:
    check_grads(np.sin, (X,), order)
    check_grads(np.multiply, (X, 2.0), order)
    check_grads(tree, ({"w": RNG.normal(size=(2, 3))}, 2, Y), order)
    check_grads(lambda x: np.linalg.inv(x), [RNG.normal(size=(3, 3)) + 3 * np.eye(3)], order)  # noqa: PLW0108 - a name without a module


@pytest.mark.parametrize("order", [1, 2])
def test_complex_and_single_precision(order: int) -> None:
    check_grads(lambda z: np.exp(z) * np.conj(z), (X + 1j * Y,), order)
    check_grads(np.abs, (X + 1j * Y,), order)
    check_grads(np.sin, (X.astype(np.float32),), order)
    check_grads(lambda z: np.exp(z) * z, ((X + 1j * Y).astype(np.complex64),), order)


def test_zero_size_and_constants() -> None:
    check_grads(np.sin, (np.zeros((0, 2)),))
    check_grads(lambda x: (np.ones(2), 3), (X,))


def test_a_check_of_one_mode_is_enough_for_a_rule_of_one_mode() -> None:
    f = ta.custom_rule(pull=lambda ct, out, x: ct * 2 * x)(lambda x: x * x)
    check_grads(f, (X,), modes=["rev"])
    with pytest.raises(NoModeError):
        check_grads(f, (X,))


def wrong_product() -> Any:
    """Make a product whose push is right, and whose pull is off in one entry."""

    def pull(ct: Any, out: Any, p: Any, y: Any) -> Any:
        return {"x": ct * y * np.array([1.0, 1.0, 1.01]), "name": None}, ct * p["x"]

    @ta.custom_rule(pull=pull, push=lambda ts, out, p, y: ts[0]["x"] * y + p["x"] * ts[1])
    def product(p: Any, y: Any) -> Any:
        return p["x"] * y

    return product


def test_it_says_where_the_derivative_is_off_and_by_how_much() -> None:
    product = wrong_product()
    args = ({"x": X, "name": "p"}, np.array([1.0, 2.0, 3.0]))
    check_grads(product, args, modes=["fwd"])
    with pytest.raises(
        GradientCheckError,
        match=r"product, order 1, rev: the derivative of output, entry \(2,\), by argument "
        r"0\['x'\], entry \(2,\), is 3\.03, where differences give 3: off by 0\.03, with a "
        r"tolerance of 6\.1e-06; 1 of 9 entries are off",
    ):
        check_grads(product, args)


def test_it_finds_what_is_off_in_the_second_order_only() -> None:
    f = ta.custom_rule(
        pull=lambda ct, out, x: ct * 2 * ta.stop_gradient(x),
        push=lambda ts, out, x: ts[0] * 2 * x,
    )(lambda x: x * x)
    check_grads(f, (X,), order=1)
    with pytest.raises(GradientCheckError, match=r"order 2, (fwd|rev) over rev: .* is 0, where"):
        check_grads(f, (X,), order=2)


def test_it_names_parts_of_complex_entries_and_scalars() -> None:
    f = ta.custom_rule(pull=lambda ct, out, z: ct)(lambda z: {"a": (1.0 * z[1], 2j * z[1])})
    wrong = ta.custom_rule(pull=lambda ct, out, z: 2j * ct)(lambda z: 2j * z)
    with pytest.raises(
        GradientCheckError,
        match=r"derivative of output\['a'\]\[1\], (real|imaginary) part of its value, by argument "
        r"0, (real|imaginary) part of entry \(1,\), is",
    ):
        check_grads(lambda z: {"a": [np.sum(z.real), wrong(z[1])]}, (X + 1j * Y,), modes=["rev"])
    assert f.__name__ == "<lambda>"


def test_a_derivative_that_is_not_a_number_is_off() -> None:
    f = ta.custom_rule(pull=lambda ct, out, x: ct * np.nan)(lambda x: x * 1.0)
    with pytest.raises(GradientCheckError, match=r"is nan, where differences give 1: off by inf"):
        check_grads(f, (X,), order=1, modes=["rev"])


def test_tolerances_and_step() -> None:
    f = ta.custom_rule(pull=lambda ct, out, x: ct * 2.002)(lambda x: 2 * x)
    check_grads(f, (X,), order=1, modes=["rev"], rtol=1.1e-3)
    check_grads(f, (X,), order=1, modes=["rev"], atol=2.1e-3)
    with pytest.raises(GradientCheckError, match=r"tolerance of 0\.001;"):
        check_grads(f, (X,), order=1, modes=["rev"], atol=1e-3, rtol=0.0)
    with pytest.raises(GradientCheckError):
        check_grads(lambda x: x**3, (X,), order=1, eps=1e-1)


def test_it_is_an_assertion() -> None:
    assert issubclass(GradientCheckError, AssertionError)


@pytest.mark.parametrize("function", [lambda x: None, np.argmax, lambda x: {"text": "x"}])
def test_a_function_that_gives_nothing_to_check(function: Any) -> None:
    with pytest.raises(OutputError, match="no array of numbers, so there is nothing to check"):
        check_grads(function, (X,))


@pytest.mark.parametrize(
    ("args", "options", "error", "message"),
    [
        (X, {}, TypeError, r"as a tuple: check_grads\(f, \(x,\)\)"),
        ((X,), {"order": 0}, ValueError, "order=0 is at least 1"),
        ((X,), {"order": np.nan}, TypeError, "as an int, not order=nan"),
        ((X,), {"order": 1.5}, TypeError, "as an int, not order=1.5"),
        ((X,), {"modes": ["both"]}, ValueError, r"modes=\['both'\] some of 'fwd' and 'rev'"),
        ((X,), {"modes": []}, ValueError, "some of 'fwd' and 'rev'"),
    ],
)
def test_what_makes_no_sense(
    args: Any, options: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        check_grads(np.sin, args, **options)
