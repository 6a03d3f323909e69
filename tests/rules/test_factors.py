"""Products and running products of factors of any size, beside sums of all their products."""

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import tape_ad as ta
from tape_ad.rules.numpy.reductions import product_by_each
from tape_ad.rules.numpy.scans import RunningProduct
from tests.shorthand import gradients_of, handle

Array = Any

INF, NAN = np.inf, np.nan
RNG = np.random.default_rng(0)

FACTORS: list[tuple[str, Array, tuple[bool, bool]]] = [
    ("ordinary", RNG.normal(size=12), (True, True)),
    ("many", RNG.normal(size=3000), (False, False)),
    ("one", [3.0], (True, True)),
    ("a zero", [2.0, 0.0, -3.0, 4.0], (False, False)),
    ("a negative zero", [2.0, -0.0, -3.0], (False, False)),
    ("two zeros", [2.0, 0.0, -3.0, 0.0], (False, False)),
    ("small", [1e-100, 2.0, -3e-5], (True, False)),
    ("tiny", [1e-300, 2.0, -3e-5], (False, False)),
    ("huge", [1e300, 2.0, -3e5], (True, False)),
    ("less than any number", [1e-200, -1e-200, 3.0], (False, False)),
    ("more than any number", [1e200, -1e200, 3.0], (False, False)),
    ("too small halfway", [1e-200, 3e-120, 1e200, 7.0], (False, False)),
    ("too large halfway", [1e200, 3e120, 1e-200, 7.0], (False, False)),
    ("without all digits", [5e-320, 3e10, 2.0], (False, False)),
    ("many small ones", np.full(40, 3e-10), (False, False)),
    ("many large ones", np.full(30, 3e10), (False, False)),
    ("infinity", [2.0, INF, 3.0], (False, False)),
    ("no number", [2.0, NAN, 3.0], (False, False)),
]
"""Factors, and whether their product and their running product are divided by them."""


def weights_of_product(x: Array) -> Array:
    """Multiply all factors but one, in a format of far wider range."""
    wide = np.asarray(x, np.longdouble)
    return np.array([np.prod(np.delete(wide, i)) for i in range(wide.size)])


def pulled_through_products(x: Array, ct: Array) -> Array:
    """Pull a cotangent back through all leading products, each by itself."""
    pulled = np.zeros(len(x), np.longdouble)
    for k in range(len(x)):
        pulled[: k + 1] += np.longdouble(ct[k]) * weights_of_product(x[: k + 1])
    return pulled


@pytest.mark.parametrize(
    ("x", "divided"), [(row[1], row[2][0]) for row in FACTORS], ids=[row[0] for row in FACTORS]
)
@np.errstate(all="ignore")
def test_a_product_is_divided_where_that_gives_all_digits(x: Array, divided: bool) -> None:
    x = np.array(x)
    found: Any = product_by_each(np.prod(x), x, (-1,))
    assert (found is not None) == divided
    if divided:
        assert_allclose(found, weights_of_product(x).astype(float), rtol=1e-14)


@pytest.mark.parametrize(
    ("x", "divided"), [(row[1], row[2][1]) for row in FACTORS], ids=[row[0] for row in FACTORS]
)
@pytest.mark.parametrize("scale", [1.0, 1e-290, 1e290])
@np.errstate(all="ignore")
def test_a_running_product_is_divided_where_that_gives_all_digits(
    x: Array, divided: bool, scale: float
) -> None:
    x = np.array(x)
    ct = RNG.normal(size=x.size) * scale
    found: Any = RunningProduct(np.cumprod(x), x, -1).divided(ct)
    assert (found is not None) == divided
    if divided:
        error = np.abs(found - pulled_through_products(x, ct))
        assert np.all(error <= 1e-14 * pulled_through_products(np.abs(x), np.abs(ct)))


@pytest.mark.parametrize("x", [row[1] for row in FACTORS], ids=[row[0] for row in FACTORS])
@np.errstate(all="ignore")
def test_single_precision_divides_in_double_precision(x: Array) -> None:
    single = np.array(x).clip(-1e20, 1e20).astype(np.float32)[:40]
    found = product_by_each(np.prod(single), single, (-1,))
    if found is not None:
        assert_array_equal(found, weights_of_product(single).astype(np.float32), strict=True)
    ct = np.ones_like(single)
    pulled = RunningProduct(np.cumprod(single), single, -1).divided(ct)
    if pulled is not None:
        expected = pulled_through_products(single, ct).astype(np.float32)
        assert_allclose(pulled, expected, rtol=1e-6, strict=True)


def test_products_that_single_precision_cannot_hold_are_divided_all_the_same() -> None:
    single = np.tile(np.array([1e-5, -2e-6, 3e5, 4e5], np.float32), 8)[::-1].copy()
    single[:8] = 1e-6
    (found,) = gradients_of(np.cumprod, single)
    expected = pulled_through_products(single, np.ones(32)).astype(np.float32)
    assert_allclose(found, expected, rtol=1e-6, strict=True)


def test_a_product_over_some_axes_with_a_start_and_a_selection() -> None:
    x, where = RNG.normal(size=(2, 3, 4)), RNG.random((2, 3, 4)) < 0.7
    found = ta.grad(lambda x: np.sum(np.prod(x, axis=(0, 2), initial=-2.0, where=where)))(x)
    columns = zip(*(np.moveaxis(each, 1, 0).reshape(3, 8) for each in (x, where)), strict=True)
    expected = [-2 * weights_of_product(np.where(w, c, 1)) * w for c, w in columns]
    assert_allclose(np.moveaxis(found, 1, 0).reshape(3, 8), np.array(expected, float), rtol=1e-12)


@np.errstate(all="ignore")
def test_the_others_are_multiplied_beside_a_factor_that_is_no_number() -> None:
    assert_array_equal(ta.grad(np.prod)(np.array([2.0, INF, 3.0])), [INF, 6, INF])
    assert_array_equal(ta.grad(np.prod)(np.array([2.0, NAN, 3.0])), [NAN, 6, NAN])
    running = ta.grad(lambda x: np.cumprod(x)[0])(np.array([2.0, 3.0, 0.0]))
    assert_array_equal(running, [1, 0, 0])


@pytest.mark.parametrize("axis", [0, 1])
def test_a_product_of_nothing_has_no_slopes(axis: int) -> None:
    nothing = np.zeros((0, 3))
    assert gradients_of(lambda x: np.prod(x, axis=axis), nothing)[0].shape == (0, 3)
    assert gradients_of(lambda x: np.cumprod(x, axis=axis), nothing)[0].shape == (0, 3)


@pytest.mark.parametrize("axis", [0, 1])
def test_stacked_seeds_of_running_products_are_pulled_one_by_one(axis: int) -> None:
    leaf = handle(RNG.normal(size=(5, 4)))
    seeds = RNG.normal(size=(3, 5, 4))
    product: Any = np.cumprod(leaf, axis=axis)
    together = product.grad(seed=seeds).wrt(leaf)
    assert_allclose(together, [product.grad(seed=each).wrt(leaf) for each in seeds], rtol=1e-12)


@np.errstate(all="ignore")
def test_what_was_not_chosen_of_running_products_hides_what_is_singular() -> None:
    def total(x: Array) -> Array:
        return np.sum(np.where(np.array([False, True, True]), np.cumprod(np.sqrt(x)), 0.0)[1:])

    assert_allclose(ta.grad(total)(np.array([1.0, 4.0, 9.0])), [0.5 * (2 + 6), 0.25 * 4, 1 / 3])
