"""Arrays and numbers from elsewhere: read where they are, or refused where a replay would not."""

import gc
import itertools
import time
import tracemalloc
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad.errors import CaptureError
from tape_ad.programs.capture import constants
from tape_ad.programs.capture.constants import contents as contents_of
from tape_ad.programs.capture.constants import fingerprint
from tape_ad.programs.replay.verifying import check_alike
from tests.programs.comparing import counting

X = np.array([0.5, -1.5, 2.0])

LAYOUTS: dict[str, Callable[[Path], Any]] = {
    "contiguous": lambda path: np.array([1.0, 2.0, 3.0]),
    "every other": lambda path: np.arange(6.0)[::2],
    "backwards": lambda path: np.arange(6.0)[::-2],
    "a row": lambda path: np.ones((4, 3))[1],
    "a column": lambda path: np.ones((3, 4))[:, 2],
    "of Fortran's": lambda path: np.asfortranarray(np.ones((2, 3)))[0],
    "of other bytes": lambda path: np.arange(3.0).astype(">f8"),
    "float32": lambda path: np.arange(3, dtype=np.float32),
    "complex": lambda path: np.arange(3) * 1j,
    "of two axes": lambda path: np.arange(12.0).reshape(4, 3).copy(order="F"),
    "0-d": lambda path: np.array(2.0),
    "in a file": lambda path: np.memmap(path / "numbers", dtype=float, mode="w+", shape=3),
}


WITH_CHANGES = 4
"""How often a function runs whose small constants change: for the first two changes it is captured
again, to see whether they make another program."""


@pytest.mark.parametrize("layout", LAYOUTS)
def test_what_is_updated_in_place_is_seen(layout: str, tmp_path: Path) -> None:
    array = LAYOUTS[layout](tmp_path)
    fast, runs = counting(lambda x: (x * array, x + array[..., None]))
    for step in range(6):
        plain = np.asarray(array)
        check_alike("it", fast(X), (X * plain, X + plain[..., None]))
        array += 1 + step
    assert len(runs) == WITH_CHANGES


def test_read_only_constants_and_views_made_anew_are_read_where_they_are() -> None:
    array = np.arange(6.0)
    frozen = array.view()
    frozen.flags.writeable = False
    fast, runs = counting(
        lambda x: x * frozen[1:4] + array.reshape(2, 3)[1] * np.broadcast_to(x, 3)
    )
    for _ in range(5):
        assert np.array_equal(fast(X), X * array[1:4] + array[3:] * X)
        array += 1
    assert len(runs) == WITH_CHANGES


def test_arrays_made_anew_with_the_same_numbers_are_fine() -> None:
    fast, runs = counting(lambda x: x * np.arange(3.0) + np.array([1.0, np.nan, -0.0]))
    for scale in range(5):
        check_alike("it", fast(X * scale), X * scale * np.arange(3.0) + [1.0, np.nan, -0.0])
    assert len(runs) == 2
    assert fast.explain().count("made by the function, and kept") == 2


def test_an_array_put_in_place_of_another_with_the_same_numbers_is_the_one_that_is_read() -> None:
    held = {"scale": np.ones(3)}
    fast, _ = counting(lambda x: x * held["scale"])
    fast(X)
    held["scale"] = np.ones(3)
    fast(X)
    held["scale"] += 1
    assert np.array_equal(fast(X), 2 * X)


def drawing() -> Callable[[Any], Any]:
    rng = np.random.default_rng(0)
    return lambda x: x * rng.normal(size=3)


def drawing_a_number() -> Callable[[Any], Any]:
    rng = np.random.default_rng(0)
    return lambda x: x + rng.normal()


def counting_up() -> Callable[[Any], Any]:
    numbers = itertools.count()
    return lambda x: x * next(numbers)


def timing() -> Callable[[Any], Any]:
    return lambda x: x * time.perf_counter()


def returning_a_draw() -> Callable[[Any], Any]:
    rng = np.random.default_rng(0)
    return lambda x: (x, rng.normal(size=2))


def returning_a_count() -> Callable[[Any], Any]:
    numbers = itertools.count()
    return lambda x: {"x": x, "n": next(numbers)}


def drawing_an_index() -> Callable[[Any], Any]:
    numbers = itertools.count()
    return lambda x: x[next(numbers) :]


def drawing_a_mask() -> Callable[[Any], Any]:
    rng = np.random.default_rng(0)
    return lambda x: x[rng.permutation(3)] + np.where(rng.normal(size=3) > 0, x, 0)


def drawing_in_a_derivative() -> Callable[[Any], Any]:
    rng = np.random.default_rng(0)
    return ta.grad(lambda x: np.sum(x * x * rng.normal(size=3)))


@pytest.mark.parametrize(
    "maker",
    [
        *(drawing, drawing_a_number, counting_up, timing, returning_a_draw, returning_a_count),
        *(drawing_an_index, drawing_a_mask, drawing_in_a_derivative),
    ],
)
def test_what_is_drawn_or_counted_anew_is_an_error_of_the_second_call(maker: Any) -> None:
    fast = ta.compile(maker())
    fast(X)
    line = maker.__code__.co_firstlineno + 2 - (maker is timing)
    for _ in range(3):
        with pytest.raises(CaptureError, match="pass it as an argument") as caught:
            fast(X)
        where = "what it returns" if "returning" in maker.__name__ else f"line {line} of test_const"
        assert where in str(caught.value)


def test_a_draw_on_a_path_that_is_taken_later_is_an_error_as_well() -> None:
    rng = np.random.default_rng(0)
    fast = ta.compile(lambda x: x * rng.normal(size=3) if x[0] > 0 else x)
    for _ in range(3):
        fast(-X)
    fast(X)
    with pytest.raises(CaptureError, match="pass it as an argument"):
        fast(X)
    assert np.array_equal(fast(-X), -X)


def test_a_number_too_deep_to_be_watched_is_an_error_where_it_is_noticed() -> None:
    held: Any = [[[[[[[[2.0]]]]]]]]

    def function(x: Any) -> Any:
        scaled = np.sum(x) * held[0][0][0][0][0][0][0][0]
        return scaled if x[0] > 0 else scaled - 1

    fast = ta.compile(function)
    fast(X), fast(X), fast(X)
    held[0][0][0][0][0][0][0][0] = 3.0
    with pytest.raises(CaptureError, match=r"the number 3.0 in np.multiply \(line"):
        fast(-X)  # on another path, which begins as the first one does
    held[0][0][0][0][0][0][0][0] = 2.0
    assert fast(-X) == -np.sum(X) * 2.0 - 1


def usual(x: Any) -> Any:
    y = np.exp(x)
    return np.sum(np.multiply(2.0, y) * np.arange(3.0))


FIRST: dict[str, Callable[[Any], Any]] = {
    "another operand": lambda x: np.sum(np.multiply(0.5, (x, np.exp(x))[0]) * np.arange(3.0)),
    "another function": lambda x: np.prod(np.multiply(0.5, np.exp(x)) * np.arange(3.0)),
    "another step": lambda x: np.sum(np.multiply(0.5, np.exp(x)) * np.arange(3.0)) + x[0],
    "fewer steps": lambda x: np.multiply(0.5, np.exp(x)),
    "another function of another array": lambda x: np.prod(
        np.multiply(2.0, np.exp(x)) * np.ones(3)
    ),
}


@pytest.mark.parametrize("warm_up", FIRST)
def test_a_first_call_that_goes_another_way_may_have_other_numbers(warm_up: str) -> None:
    prepared: set[str] = set()

    def function(x: Any) -> Any:
        if warm_up in prepared:
            return usual(x)
        prepared.add(warm_up)
        return FIRST[warm_up](x)

    fast, runs = counting(function)
    for point in (X, X, X, X, 2 * X, X):
        found = fast(point)
    assert found == usual(X)
    assert len(runs) == 4  # the last one beside a replay, of the first numbers that are others


def test_a_draw_is_refused_also_where_each_call_goes_another_way() -> None:
    rng = np.random.default_rng(0)
    ways: Any = itertools.cycle((np.sum, np.prod, np.max))
    fast = ta.compile(lambda x: next(ways)(x * rng.normal()))
    fast(X), fast(X), fast(X), fast(X)
    with pytest.raises(CaptureError, match="it has done something else at each of 5 calls"):
        fast(X)


def test_a_number_that_decides_what_is_asked_next_is_refused_in_the_end() -> None:
    numbers = itertools.count()

    def function(x: Any) -> Any:
        number = next(numbers)
        total = np.sum(x * number)
        return total if (total > 3 if number % 2 else int(total) > 3) else -total

    fast = ta.compile(function)
    fast(X), fast(X)
    with pytest.raises(CaptureError, match="pass it as an argument"):
        fast(X)


# Writing


def test_a_buffer_that_is_written_to_is_refused() -> None:
    momentum = np.zeros(3)

    def function(x: Any) -> Any:
        out = x + momentum
        momentum[:] = 0.9 * momentum + 1
        return out

    fast = ta.compile(function)
    with pytest.raises(CaptureError, match="writes to an array that is no argument") as caught:
        fast(X)
    line = function.__code__.co_firstlineno + 1
    assert f"used in line {line} of test_constants.py" in str(caught.value)
    assert "return the new value" in str(caught.value)


def test_a_buffer_that_is_written_to_before_it_is_used_is_refused_at_the_second_call() -> None:
    counter = np.zeros(1)

    def function(x: Any) -> Any:
        counter[0] += 1
        return x + counter

    fast = ta.compile(function)
    assert np.array_equal(fast(X), X + 1)
    with pytest.raises(CaptureError, match="writes to an array that is no argument"):
        fast(X)


def test_assigning_a_captured_value_to_an_array_from_elsewhere_is_refused() -> None:
    state = np.zeros(3)

    def function(x: Any) -> Any:
        state[:] = x
        return x

    with pytest.raises(CaptureError, match="plain ndarray"):
        ta.compile(function)(X)


@pytest.mark.parametrize("kind", [np.matrix, np.ma.MaskedArray])
def test_arrays_that_compute_in_their_own_way_are_refused(kind: Any) -> None:
    other = np.eye(3).view(kind)
    with pytest.raises(CaptureError, match=r"computes in its own way|argument"):
        ta.compile(lambda x: x * other)(X)


# What is returned


def test_outputs_are_the_arrays_that_eager_gives() -> None:
    table = np.arange(4.0)
    fast, _ = counting(lambda x: (x, x[1:], table, table[2:], x + 1, {"again": x}))
    for _ in range(5):
        same, view, constant, part, fresh, again = fast(X)
        assert same is X
        assert view.base is X
        assert constant is table
        assert part.base is table
        assert fresh.flags.owndata
        assert fresh.flags.writeable
        assert again["again"] is X


def test_what_is_returned_is_never_written_to_by_later_replays() -> None:
    fast, _ = counting(lambda x: [x * 2, x * 2 + 1, np.exp(x), (x * 3)[1:], np.outer(x, x).T])
    kept = [fast(X * scale) for scale in range(6)]
    for scale, outs in enumerate(kept):
        x = X * scale
        check_alike("it", outs, [x * 2, x * 2 + 1, np.exp(x), (x * 3)[1:], np.outer(x, x).T])


def test_the_caller_may_write_to_what_is_returned() -> None:
    fast, _ = counting(lambda x: (x * 2, np.arange(3.0) + x, np.sum(x) * np.ones(3)))
    for _ in range(5):
        outs = fast(X)
        check_alike("it", outs, (X * 2, np.arange(3.0) + X, np.sum(X) * np.ones(3)))
        for out in outs:
            out[:] = -1


def test_an_argument_may_be_a_constant_too() -> None:
    data = np.array([1.0, 2.0, 3.0])
    fast, runs = counting(lambda x: x * data + x[::-1] * data.reshape(3) + x.reshape(3))
    for x in (data, data, data, X, data, X):
        check_alike("it", fast(x), x * data + x[::-1] * data + x)
        data += 1
    assert len(runs) == WITH_CHANGES


def test_arguments_may_share_memory() -> None:
    base = np.arange(6.0)
    fast, runs = counting(lambda x, y: (x * y + x, np.add(x, 1) * y))
    for x, y in [(base[:4], base[2:]), (base[:4], base[:4]), (base[2:], base[:4] * 2)] * 3:
        check_alike("it", fast(x, y), (x * y + x, (x + 1) * y))
    assert len(runs) == 3  # the last one beside a replay, as x was the same in both others


# How contents are compared


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_change_changes_the_fingerprint(layout: str, tmp_path: Path) -> None:
    array = LAYOUTS[layout](tmp_path)
    for place in np.ndindex(array.shape):
        before = fingerprint(array)
        array[place] += 1
        assert fingerprint(array) != before


def test_signs_order_and_pieces_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    array = np.arange(60.0).reshape(3, 4, 5)
    assert len({fingerprint(each) for each in (array, -array, array[::-1], array + 0.0)}) == 3
    monkeypatch.setattr(constants, "BLOCK", 16)
    strided = np.arange(120.0)[::2]
    before = fingerprint(strided)
    strided[-1] += 1
    assert fingerprint(strided) != before


@pytest.mark.parametrize("dtype", [np.longdouble, np.clongdouble])
@pytest.mark.parametrize("sum_up", [contents_of, fingerprint])
def test_what_pads_extended_precision_is_no_content(dtype: Any, sum_up: Any) -> None:
    array = np.array([1, -0.0, 2, 5], dtype) / dtype(3)
    other = array.copy()
    used = 10 if np.finfo(dtype).nmant == 63 else 16
    other.view(np.uint8).reshape(-1, 16)[:, used:] = 7
    assert sum_up(array) == sum_up(other)
    assert sum_up(array) != sum_up(array * np.array([1, -1, 1, 1], dtype))
    assert sum_up(array) != sum_up(np.nextafter(array.real, dtype(9).real) + 0 * other)


def test_large_constants_are_not_copied() -> None:
    large = np.ones(1_000_000)
    tracemalloc.start()
    fingerprint(large)
    fingerprint(large.reshape(1000, 1000).T)
    fingerprint(np.broadcast_to(large, (3, 1_000_000)).T)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 4_000_000


def test_cleared_programs_let_go_of_constants() -> None:
    held = {"array": np.ones(3)}
    reference = weakref.ref(held["array"])
    fast, _ = counting(lambda x: x * held["array"])
    fast(X), fast(X), fast(X)
    held.clear()
    gc.collect()
    assert reference() is not None
    fast.clear()
    gc.collect()
    assert reference() is None


def test_arrays_made_by_the_function_may_change_between_their_uses() -> None:
    def whole(x: Any) -> Any:
        step, y = np.zeros(3), x * 1
        for _ in range(3):
            step -= 2.5
            y = y + step
        return y

    def parts(x: Any) -> Any:
        step, y = np.ones(3), x * 1
        for k in range(3):
            step[:k] *= 2.0
            y[:2] += step[1:] * x[0]
        return y

    def masked(x: Any) -> Any:
        kept, total = np.ones(4, bool), 0.0
        for k in range(3):
            kept[k] = False
            total = total + np.sum(np.where(kept, x, 0.0) ** 2)
        return total

    for function, n in ((whole, 3), (parts, 3), (masked, 4)):
        fast = ta.compile(function)
        for k in range(4):
            x = np.arange(float(n)) + k
            np.testing.assert_allclose(fast(x), function(x), rtol=1e-14)
        assert len(fast.programs) == 1
