"""Compiled functions in threads, tasks and within themselves, and what they leave behind."""

import asyncio
import gc
import threading
import tracemalloc
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad.base.arrays.overridable import ACTIVE
from tape_ad.errors import CaptureError
from tests.programs.comparing import counting

X = np.array([0.5, -1.5, 2.0])
THREADS = 8


def together(action: Callable[[int], Any]) -> list[Any]:
    """Run something in eight threads that begin at once; give the results, or raise an error."""
    barrier = threading.Barrier(THREADS)

    def run(number: int) -> Any:
        barrier.wait()
        return action(number)

    with ThreadPoolExecutor(THREADS) as pool:
        return [found.result() for found in [pool.submit(run, n) for n in range(THREADS)]]


def loss(x: Any) -> Any:
    total = np.sum(np.tanh(x) * np.exp(-x * x))
    for _ in range(3):
        total = total * 0.5 + np.sum(x[1:] * x[:-1]) if total > 0.1 else total + np.sum(x**3)
    return total


POINTS = [np.linspace(-a, a + 1, n) for a in (0.1, 0.7, 1.3, -2.0) for n in (3, 4, 50)]


@pytest.mark.usefixtures("restless")
def test_eight_threads_get_what_one_gets() -> None:
    function = ta.value_and_grad(loss)
    wanted = [function(x) for x in POINTS]
    fast = ta.compile(function, engine="numpy")

    def action(number: int) -> int:
        right = 0
        for step in range(60):
            place = (number * 5 + step * 7) % len(POINTS)
            value, gradient = fast(POINTS[place])
            right += value == wanted[place][0] and np.array_equal(gradient, wanted[place][1])
        return right

    assert together(action) == [60] * THREADS
    assert all(path.replay is not None for paths in fast._paths.values() for path in paths.all)
    counts = [len(paths.all) for paths in fast._paths.values()]
    routes = {(len(x), loss_route(x)) for x in POINTS}
    assert sorted(counts) == sorted([sum(n == m for n, _ in routes) for m in (3, 4, 50)])


def loss_route(x: Any) -> tuple[bool, ...]:
    """List how the conditions of `loss` come out."""
    route = []
    total = np.sum(np.tanh(x) * np.exp(-x * x))
    for _ in range(3):
        route.append(bool(total > 0.1))
        total = total * 0.5 + np.sum(x[1:] * x[:-1]) if route[-1] else total + np.sum(x**3)
    return tuple(route)


@pytest.mark.usefixtures("restless")
def test_capturing_in_eight_threads_at_once() -> None:
    for _ in range(20):
        fast = ta.compile(ta.grad(lambda x: np.sum(np.sin(x))), engine="numpy")
        for outs in together(lambda number: [fast(X * number) for _ in range(4)]):  # noqa: B023 - called at once
            assert len(outs) == 4
        assert len(fast.programs) == 1
        assert np.array_equal(fast(X), np.cos(X))


@pytest.mark.usefixtures("restless")
def test_clearing_while_others_call() -> None:
    fast = ta.compile(lambda x: x * 2 if np.sum(x) > 0 else x * 3)

    def action(number: int) -> None:
        for step in range(100):
            if number == 0:
                fast.clear()
            x = X if (number + step) % 2 else -X
            assert np.array_equal(fast(x), x * 2 if np.sum(x) > 0 else x * 3)

    together(action)


def test_a_function_that_waits_for_another_thread_which_calls_it() -> None:
    def function(x: Any) -> Any:
        main = threading.current_thread() is threading.main_thread()
        if main and ACTIVE.get().capture is not None:
            with ThreadPoolExecutor(1) as pool:
                assert np.array_equal(pool.submit(fast, X).result(timeout=10), X * 2)
        return x * 2

    fast = ta.compile(function)
    for _ in range(3):
        assert np.array_equal(fast(X), X * 2)


@pytest.mark.parametrize("transform", [lambda f: f, ta.grad, ta.jacobian])
def test_a_function_that_computes_in_other_threads_is_refused(transform: Any) -> None:
    def function(x: Any) -> Any:
        with ThreadPoolExecutor(2) as pool:
            return sum(pool.map(lambda factor: np.sum(x * factor), [1.0, 2.0]))

    fast = ta.compile(transform(function))
    with pytest.raises(CaptureError, match="is called in another thread"):
        fast(X)


def test_replays_within_a_replay() -> None:
    inner = ta.compile(lambda x: np.exp(x) * 2)

    def apply(row: Any) -> Any:
        return inner(row) + 1

    fast = ta.compile(lambda x: np.apply_along_axis(apply, 0, x) * 2)
    for scale in range(5):
        assert np.array_equal(fast(X * scale), (np.exp(X * scale) * 2 + 1) * 2)


def test_tasks_of_one_loop_do_not_meet() -> None:
    fast, runs = counting(lambda x: x * 2 if np.sum(x) > 0 else x * 3)

    async def task(x: Any) -> list[Any]:
        found = []
        for _ in range(6):
            found.append(fast(x))
            await asyncio.sleep(0)
        return found

    async def several() -> list[list[Any]]:
        return await asyncio.gather(*[task(x) for x in (X, -X, X * 2)])

    for x, found in zip((X, -X, X * 2), asyncio.run(several()), strict=True):
        assert all(np.array_equal(each, x * 2 if np.sum(x) > 0 else x * 3) for each in found)
    assert len(runs) == 4


# Errors


class FailingError(Exception):
    """What the functions below raise."""


@pytest.mark.parametrize("bad", range(5))
def test_an_error_at_any_call_leaves_the_function_usable(bad: int) -> None:
    calls: list[int] = []

    def function(x: Any) -> Any:
        calls.append(1)
        if x[0] > 5:
            raise FailingError
        return x * 2

    fast = ta.compile(function)
    for call in range(8):
        if call == bad:
            with pytest.raises(FailingError):
                fast(X + 10)
        assert ACTIVE.get().capture is None
        assert np.array_equal(fast(X * call), X * call * 2)
    assert len(fast.programs) == 1


def test_an_error_in_the_middle_of_a_capture_ends_it() -> None:
    kept: list[Any] = []

    def function(x: Any) -> Any:
        kept.append(x * 2)
        raise FailingError

    fast = ta.compile(function)
    with pytest.raises(FailingError):
        fast(X)
    assert ACTIVE.get().capture is None
    with pytest.raises(ta.errors.CaptureError, match="has been captured and has returned"):
        kept[0] + 1


# Memory


def test_ten_thousand_replays_leave_nothing_behind() -> None:
    fast = ta.compile(ta.value_and_grad(lambda p, x: np.mean((np.tanh(x @ p["w"]) - p["b"]) ** 2)))
    params, x = {"w": np.ones((3, 2)), "b": np.zeros(2)}, np.ones((4, 3))

    def replay(count: int) -> None:
        for _ in range(count):
            fast(params, x)

    replay(100)
    gc.collect()
    tracemalloc.start()
    replay(100)
    gc.collect()
    objects, (before, _) = len(gc.get_objects()), tracemalloc.get_traced_memory()
    replay(10_000)
    gc.collect()
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert abs(len(gc.get_objects()) - objects) < 50
    assert after - before < 2_000


def test_paths_that_alternate_leave_nothing_behind() -> None:
    fast = ta.compile(lambda x: x * 2 if np.sum(x) > 0 else x * 3)
    for _ in range(10):
        fast(X), fast(-X)
    gc.collect()
    objects = len(gc.get_objects())
    for _ in range(2_000):
        fast(X), fast(-X)
    gc.collect()
    assert abs(len(gc.get_objects()) - objects) < 50


def test_what_was_captured_goes_with_the_capture() -> None:
    references: list[Any] = []

    def function(x: Any) -> Any:
        middle = np.exp(x)
        references.append(weakref.ref(middle))
        references.append(weakref.ref(middle.data))
        return np.sum(middle)

    fast = ta.compile(function)
    for _ in range(3):
        array = X * 2
        references.append(weakref.ref(array))
        fast(array)
    del array
    gc.collect()
    assert [reference() for reference in references] == [None] * 7


def test_a_compiled_function_goes_with_its_last_name() -> None:
    fast = ta.compile(lambda x: x * 2)
    for _ in range(3):
        fast(X)
    reference = weakref.ref(fast)
    del fast
    gc.collect()
    assert reference() is None


def test_statics_are_let_go_by_clear() -> None:
    def option(x: Any) -> Any:
        return x * 2

    reference = weakref.ref(option)
    fast = ta.compile(lambda x, f: f(x))
    for _ in range(3):
        fast(X, option)
    fast.clear()
    del option
    gc.collect()
    assert reference() is None
