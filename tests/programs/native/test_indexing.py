"""Picking, putting and adding by keys, in native code and by NumPy: the same bits, and errors."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad.base.naming import called
from tape_ad.programs.engines.native.native_engine import assembled
from tape_ad.programs.program import Call
from tests.programs.bits import all_same
from tests.programs.native.layouts import DTYPES, LAYOUTS, laid, numbers
from tests.programs.native.running import agree_to_the_bit, leaves

Function = Callable[..., Any]

SHAPE = (3, 4, 5)
KEYS: dict[str, Function] = {
    "first axis": lambda i, j: (i,),
    "middle axis": lambda i, j: (slice(None), i),
    "last axis": lambda i, j: (..., i),
    "two together": lambda i, j: (slice(None), i, j),
    "two apart": lambda i, j: (i, slice(None), j),
    "an ellipsis that stands for none": lambda i, j: (slice(None), i, ..., j),
    "beside a number": lambda i, j: (slice(None), 1, i),
    "apart from a number": lambda i, j: (-1, slice(None), i),
    "with new axes": lambda i, j: (None, i, None, slice(None, None, -2)),
    "of two axes": lambda i, j: (i[:, None], j[None, :2]),
    "of one element": lambda i, j: (i[:1], slice(1, 3)),
    "of no axes": lambda i, j: (i[0], 1, j[1]),
    "three": lambda i, j: (i, j, i),
}
I, J = np.array([0, -3, 2, 2, 0]), np.array([3, 0, -4, 1, 1])  # noqa: E741 - as in mathematics


def put(x: Any, i: Any) -> Any:
    z = x.copy()
    z[i] = 1.0
    return z


@pytest.mark.parametrize("layout", LAYOUTS)
def test_picking(layout: str) -> None:
    def function(x: Any, i: Any, j: Any) -> Any:
        return {name: x[key(i, j)] * 1.0 for name, key in KEYS.items()}

    agree_to_the_bit(function, laid(SHAPE, "f8", layout), I, J % 3)


@pytest.mark.parametrize("key", KEYS)
def test_adding_where_elements_have_been_picked(key: str) -> None:
    def function(x: Any, i: Any, j: Any) -> Any:
        picked = x[KEYS[key](i, j)]
        return (picked * picked).sum() + (x * x).sum() * 0.5

    agree_but_for_the_last_call(ta.grad(function), numbers(SHAPE, "f8"), I, J % 3)


def agree_but_for_the_last_call(function: Function, *args: Any) -> None:
    """Assert what `agree_to_the_bit` does of a gradient, which NumPy makes a read-only view of."""
    fast = ta.compile(function, engine="native")
    for _ in range(3):
        all_same(fast(*args), function(*args))
    left = [step for step, _ in assembled(fast.programs[0]).left]
    assert left == fast.programs[0].calls[-1:]


@pytest.mark.parametrize("dtype", DTYPES)
def test_putting(dtype: str) -> None:
    def function(x: Any, value: Any, i: Any, j: Any) -> Any:
        copies = {name: x.copy() for name in KEYS}
        for name, key in KEYS.items():
            copies[name][key(i, j)] = value
        return copies

    value = numbers((4, 5), dtype, 1)[0, 0]
    agree_to_the_bit(function, numbers(SHAPE, dtype), value, I, J % 3)


@pytest.mark.parametrize("key", KEYS)
def test_what_has_been_put_over_has_no_gradient(key: str) -> None:
    def function(x: Any, value: Any, i: Any, j: Any) -> Any:
        z = x * 1.0
        z[KEYS[key](i, j)] = value
        return (z * z).sum()

    point = numbers(SHAPE, "f8"), np.float64(2.0), I, J % 3
    agree_but_for_the_last_call(ta.grad(function), *point)


@pytest.mark.parametrize("kind", ["i1", "i2", "i4", "i8", "u1", "u4"])
def test_integers_of_all_kinds(kind: str) -> None:
    places = np.array([2, 0, 1]).astype(kind)
    agree_to_the_bit(lambda x, i: x[i] * 2, numbers((3, 2), "f8"), places)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_take(layout: str, dtype: str) -> None:
    x = laid((3, 4), dtype, layout)
    agree_to_the_bit(
        lambda x, i: (np.take(x, i), np.take(x, i, axis=0), np.take(x, i[:2], axis=-1)), x, I
    )


@pytest.mark.parametrize("shape", [(3, 2), (1, 2), (3, 1), (3, 6)])
def test_take_along_axis(shape: tuple[int, ...]) -> None:
    places = np.random.default_rng(0).integers(-4, 4, shape)
    agree_to_the_bit(
        lambda x, i: np.take_along_axis(x, i, axis=1) * 2, numbers((3, 4), "f8"), places
    )
    gradient = ta.grad(lambda x, i: (np.take_along_axis(x, i, axis=1) ** 2).sum())
    agree_but_for_the_last_call(gradient, numbers((3, 4), "f8"), places)


@pytest.mark.parametrize("dtype", ["f8", "f4", "i4"])
@pytest.mark.parametrize("least", [0, 7, 12])
def test_counts_in_bins(least: int, dtype: str) -> None:
    x, weights = np.random.default_rng(0).integers(0, 7, 60), numbers((60,), dtype)
    agree_to_the_bit(lambda x, w: np.bincount(x, w, least), np.append(x, 6)[:-1], weights)
    agree_to_the_bit(lambda x: np.bincount(x[::-2], minlength=least), np.append(x, 6))
    fast = ta.compile(lambda x: np.bincount(x, minlength=least), engine="native")
    for other in (x, x, x, x // 2, x + 1, x * 0, x[:0]):  # of other lengths, some of them
        np.testing.assert_array_equal(fast(other), np.bincount(other, minlength=least))
    with pytest.raises(ValueError, match="negative"):
        fast(x - 1)


def test_choices_in_turn() -> None:
    x, y = numbers((40,), "f8"), numbers((4, 40), "f8")
    agree_to_the_bit(lambda x: np.select([x < -1, x < 1], [x * x, 2 * x], x - 1), x)
    agree_to_the_bit(lambda x: np.select([x < -1, x < 1], [x * x, 2.0]), x.astype("f4"))
    agree_to_the_bit(lambda y: np.select([y[0] < 0, y < 1], [y * y, y[1]], 3), y[:, ::-1])


MASKED: dict[str, Function] = {
    "picked": lambda x, mask: x[mask],
    "picked twice": lambda x, mask: np.sum(x[mask]) * x[~mask],
    "assigned": lambda x, mask: np.sum(changed(x, mask, np.copy(x)[mask] * 2)),
    "added": lambda x, mask: changed(x, mask, x[mask] + 1),
    "counted": lambda x, mask: np.sum(x[mask]) / len(x[mask]),
    "extracted": lambda x, mask: np.extract(mask, x),
}


def changed(x: Any, mask: Any, value: Any) -> Any:
    z = x * 1
    z[mask] = value
    return z * x


@pytest.mark.parametrize("dtype", ["f8", "f4", "c16", "i4", "?"])
@pytest.mark.parametrize("layout", [lambda x: x, lambda x: x.T, lambda x: x[::-1, ::2]])
@pytest.mark.parametrize("function", MASKED.values(), ids=MASKED)
def test_what_a_mask_chooses(function: Function, layout: Any, dtype: str) -> None:
    if dtype == "?" and function in (MASKED["picked twice"], MASKED["counted"]):
        return
    draw, rng = numbers((6, 8), dtype), np.random.default_rng(0)
    functions = [function]
    if dtype == "f8":
        functions.append(ta.value_and_grad(lambda x, mask: np.sum(function(x, mask))))
    for each in functions:
        fast = ta.compile(each, engine="native")
        for share in (0.5, 0.5, 0.5, 0.5, 0.2, 0.9):  # of masks that choose other numbers
            x, mask = layout(draw * 1), layout(rng.random((6, 8)) < share)
            for found, expected in zip(leaves(fast(x, mask)), leaves(each(x, mask)), strict=True):
                np.testing.assert_allclose(found, expected, rtol=1e-5 if dtype == "f4" else 1e-12)


def test_masks_that_choose_as_many_run_natively() -> None:
    x, mask = numbers((6, 8), "f8"), np.tri(6, 8) > 0
    agree_to_the_bit(lambda x, mask: x[mask], x, mask)
    agree_to_the_bit(lambda x, mask: changed(x, mask, x[mask] + 1), x, mask)
    fast = ta.compile(lambda x, mask: x[mask], engine="native")
    for none in (mask, mask, mask, mask & False, mask | True):
        np.testing.assert_array_equal(fast(x, none), x[none])


def test_a_mask_is_counted_once() -> None:
    def used_thrice(x: Any, mask: Any) -> Any:
        doubled = x[mask] * 2
        len((x * 3)[mask])  # of which nothing is needed but that
        return doubled, changed(x, mask, x[mask] + 1)

    x, mask = numbers((6, 8), "f8"), np.tri(6, 8) > 0
    agree_to_the_bit(used_thrice, x, mask)
    fast = ta.compile(used_thrice, engine="native")
    for _ in range(3):
        fast(x, mask)
    text = fast.explain(passes=True).partition("dead store elimination:")[2]
    text = text.partition("scheduling:")[0]
    assert text.count("check ") == 1
    assert text.count("call collect") == 1
    for other in (mask.T.reshape(6, 8), ~mask, mask & False):
        for found, expected in zip(fast(x, other), used_thrice(x, other), strict=True):
            np.testing.assert_array_equal(found, expected)


def test_a_mask_that_is_changed_is_counted_again() -> None:
    def in_between(x: Any, mask: Any, number: Any) -> Any:
        mask = mask.copy()
        first = x[mask]
        mask[0, 0] = number > 0
        return first, x[mask]

    x, mask = numbers((6, 8), "f8"), np.tri(6, 8) > 0
    fast = ta.compile(in_between, engine="native")
    for number in (1.0, 1.0, 1.0, -1.0, 1.0, -1.0):
        given = x, mask, np.array(number)
        for found, expected in zip(fast(*given), in_between(*given), strict=True):
            np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("shape", [(3,), (3, 4), (3, 4, 5)])
def test_assigning_by_a_mask(shape: tuple[int, ...]) -> None:
    def function(x: Any, mask: Any, value: Any) -> Any:
        z = x.copy()
        z[mask] = value
        return z

    mask = numbers(shape, "?")
    for value in (np.array(2.5), np.array([2.5])):
        agree_to_the_bit(function, numbers(SHAPE, "f8"), mask, value)


def test_rows_are_copied_at_once() -> None:
    agree_to_the_bit(lambda x, i: x[i] * 1.0, numbers((50, 300), "f8"), np.arange(-50, 50, 3))


@pytest.mark.parametrize("columns", [1, 3, 64, 65])
@pytest.mark.parametrize("dtype", DTYPES)
def test_rows_are_put_and_added_at_once(dtype: str, columns: int) -> None:
    def function(x: Any, i: Any, value: Any) -> Any:
        z = x.copy()
        z[i] = value
        return z

    x, i = numbers((50, columns), dtype), np.arange(-50, 50, 3)
    agree_to_the_bit(function, x, i, numbers((34, columns), dtype, 1))
    if x.dtype.kind in "fc":
        pulled = ta.grad(lambda x, i, w: np.sum(np.real(x[i] * w)))
        for places in (i, i // 2):  # each once, and some twice
            agree_but_for_the_last_call(pulled, x, places, numbers((34, columns), dtype, 1))


def test_integers_that_name_each_place_once_keep_the_sign_of_a_zero() -> None:
    pulled = ta.grad(lambda x, i, w: (x[i] * w).sum())
    fast = ta.compile(pulled, engine="native")
    weights = np.array([-0.0, 1.0, -0.0])
    for places in ([0, 1, 2], [0, 1, 0], [2, 0, 1]):
        for _ in range(3):
            point = (np.ones(4), np.array(places), weights)
            all_same(fast(*point), pulled(*point))


@pytest.mark.parametrize(
    "function",
    [
        lambda x, i: x[i] * 2,
        lambda x, i: x[:, i] * 2,
        lambda x, i: np.take(x, i, axis=1) * 2,
        lambda x, i: np.take_along_axis(x, i[:, None], axis=1) * 2,
        ta.grad(lambda x, i: (x[i, i] ** 2).sum()),
        put,
    ],
)
@pytest.mark.parametrize("wrong", [3, -4, 2**40, -(2**62)])
def test_an_index_that_is_out_of_bounds_raises_what_numpy_raises(
    function: Function, wrong: int
) -> None:
    x, good = numbers((3, 3), "f8"), np.array([0, -3, 2])
    fast = ta.compile(function, engine="native")
    for _ in range(3):
        fast(x, good)
    bad = np.array([0, wrong, 1])
    with pytest.raises(IndexError) as expected:
        function(x, bad)
    with pytest.raises(IndexError) as given:
        fast(x, bad)
    assert str(given.value) == str(expected.value)
    all_same(fast(x, good), function(x, good))


def test_indices_that_are_used_again_say_nothing_of_others() -> None:
    fast = ta.compile(lambda x, y, i, j: x[i] + y[i] + x[j], engine="native")
    x, good = numbers((9,), "f8"), np.array([0, -9, 8])
    for _ in range(3):
        all_same(fast(x, x + 1, good, good), x[good] * 3 + 1)
    with pytest.raises(IndexError, match="9 is out of bounds"):
        fast(x, x + 1, good, good + 1)


@pytest.mark.parametrize("places", [[0, 4999, 3], [0, 4999, 4999]])
def test_a_few_places_of_many(places: list[int]) -> None:
    pulled = ta.grad(lambda x, i: (x[i] ** 2).sum())
    agree_but_for_the_last_call(pulled, numbers((5000, 4), "f8"), np.array(places))


def left_of(fast: Any) -> set[str]:
    """Name the functions that NumPy runs."""
    steps = [step for step, _ in assembled(fast.programs[0]).left]
    return {called(step.function) if isinstance(step, Call) else "a guard" for step in steps}


def weighted(x: Any, value: Any, *places: Any) -> Any:
    z = x * 1.0
    z[places] = value * 2
    return (z * z * np.arange(x.size).reshape(x.shape)).sum()


def weighted_in_a_view(x: Any, value: Any, i: Any, j: Any) -> Any:
    z = x * 1.0
    z[:, 1:].T[i, j] = value * 2
    return (z * z * np.arange(x.size).reshape(x.shape)).sum()


@pytest.mark.parametrize("places", [[0, 3, 5], [1, 1, 2], [-1, -7, 0], [4, 4, 4]])
@pytest.mark.parametrize("captured", [[0, 3, 5], [2, 0, 0]])
def test_where_a_value_lands_whatever_the_integers(captured: list[int], places: list[int]) -> None:
    function = ta.grad(weighted, argnums=(0, 1))
    x, value = numbers((7,), "f8"), numbers((3,), "f8", 1)
    fast = ta.compile(function, engine="native")
    for integers in (captured, captured, captured, places, captured, places):
        point = x, value, np.array(integers)
        all_same(fast(*point), function(*point))
    assert left_of(fast) == {"through_buffer"}


@pytest.mark.parametrize("function", [weighted, weighted_in_a_view])
def test_where_a_value_lands_in_two_axes(function: Function) -> None:
    gradient = ta.grad(function, argnums=(0, 1))
    x, value = numbers((3, 4), "f8"), numbers((3,), "f8", 1)
    i, j = np.array([0, 2, 1]), np.array([1, 0, 2])
    fast = ta.compile(gradient, engine="native")
    for point in ((i, j), (i, j), (i, j), (j, i), (-i - 1, j), (i * 0, j * 0), (i, j)):
        all_same(fast(x, value, *point), gradient(x, value, *point))
    assert left_of(fast) == {"through_buffer"}
