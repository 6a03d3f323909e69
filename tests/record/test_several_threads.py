"""Several threads on one record: one after the other, and nothing is mixed up."""

import contextlib
import gc
import signal
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad.errors import DtypeError, RecordMismatchError
from tape_ad.record import arena
from tape_ad.rules import base
from tests.record.test_interrupts import assert_consistent

Array = Any
THREADS = 4
X = np.array([0.5, 1.5, -0.7])


@pytest.fixture(autouse=True)
def hurried() -> Iterator[None]:
    """Let threads take over from one another as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def part(x: Array, i: int) -> Array:
    y = x * (i + 1.0)
    for _ in range(40):
        y = np.sin(y) + np.where(y > 0.3, x * y, y)[:] * 0.5
    return y


def test_a_pool_in_a_transform() -> None:
    with ThreadPoolExecutor(THREADS) as pool:
        for _ in range(30):
            found = ta.grad(lambda x: sum(np.sum(y) for y in pool.map(part, [x] * 8, range(8))))(X)
            wanted = ta.grad(lambda x: sum(np.sum(part(x, i)) for i in range(8)))(X)
            np.testing.assert_allclose(found, wanted, rtol=1e-12)


def test_higher_derivatives_in_a_pool() -> None:
    def slope(x: Array, i: int) -> Array:
        return ta.grad(lambda y: np.sum(part(y, i) * x))(x)

    with ThreadPoolExecutor(THREADS) as pool:
        for _ in range(5):
            found = ta.jacobian(lambda x: sum(pool.map(slope, [x] * 4, range(4))))(X)
            wanted = ta.jacobian(lambda x: sum(slope(x, i) for i in range(4)))(X)
            np.testing.assert_allclose(found, wanted, rtol=1e-12)


def filled_by_rows(x: Array, number: int) -> Array:
    filled = np.zeros((number, x.size)) + 0 * x

    def fill(i: int) -> None:
        filled[i] = np.sin(x) * i

    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(fill, range(number)))
    return np.sum(filled)


def added_to_elements(x: Array, number: int) -> Array:
    total = 0 * x

    def add(i: int) -> None:
        for _ in range(number):
            total[i] += np.sin(x[i])

    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(add, range(x.size)))
    return np.sum(total) * (number - 1) / 2


def changed_in_views(x: Array, number: int) -> Array:
    square = (0 * x + 1).reshape(4, -1)

    def change(i: int) -> None:
        for j in range(square.shape[1]):
            square[i][j : j + 1] *= np.sin(x[square.shape[1] * i + j])
            square.T[:, i].reshape(2, -1)

    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(change, range(4)))
    return np.sum(square) * number * (number - 1) / 2


@pytest.mark.parametrize(
    ("function", "size", "repeats"),
    [
        (filled_by_rows, 16, 40),
        (filled_by_rows, 50_000, 3),
        (added_to_elements, 16, 40),
        (changed_in_views, 16, 40),
    ],
)
def test_threads_that_write_to_parts_of_their_own(function: Any, size: int, repeats: int) -> None:
    x, number = np.linspace(0, 1, size), 8
    for _ in range(repeats):
        value, gradient = ta.value_and_grad(lambda x: function(x, number))(x)
        np.testing.assert_allclose(value, 28 * np.sum(np.sin(x)), rtol=1e-12)
        np.testing.assert_allclose(gradient, 28 * np.cos(x), rtol=1e-12)


def test_threads_on_one_record_by_hand() -> None:
    record = ta.ComputationRecord()
    x = record.tensor(X)

    def gradient(i: int) -> Array:
        y = np.sum(part(x, i) * record.tensor(X))
        return y.grad().wrt(x)

    with ThreadPoolExecutor(THREADS) as pool:
        found = list(pool.map(gradient, range(60)))
    assert_consistent(record)
    for i, each in enumerate(found):
        wanted = ta.grad(lambda x, i=i: np.sum(part(x, i) * X))(X)
        np.testing.assert_allclose(each, wanted, rtol=1e-12)


def test_what_cannot_be_bound_takes_no_node_of_another_thread_away() -> None:
    record = ta.ComputationRecord()
    x = record.tensor(X)
    wrong = {"a": X, "b": X, "c": np.array(["no number"])}

    def binding(_: int) -> None:
        with contextlib.suppress(DtypeError):
            record.bind(wrong)

    def gradient(i: int) -> Array:
        return np.sum(part(x, i)).grad().wrt(x)

    with ThreadPoolExecutor(THREADS) as pool:
        failing = pool.map(binding, range(300))
        found = list(pool.map(gradient, range(30)))
        assert list(failing) == [None] * 300
    assert_consistent(record)
    for i, each in enumerate(found):
        np.testing.assert_allclose(each, ta.grad(lambda x, i=i: np.sum(part(x, i)))(X))


def test_a_record_that_is_still_appending_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arena, "PATIENCE", 0.01)
    record = ta.ComputationRecord()
    x = record.tensor(X)
    record.appending = x  # as a destructor in the middle of it would find it
    with pytest.raises(RecordMismatchError, match="a record was used while it was appending"):
        np.sum(x)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="signals as POSIX has them")
def test_a_signal_handler_that_uses_a_record_while_it_is_appending(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(arena, "PATIENCE", 0.01)
    record = ta.ComputationRecord()
    x = record.tensor(X)
    said = []

    def handle(*_: Any) -> None:
        try:
            assert np.sum(x * x).data == np.sum(X * X)
        except RecordMismatchError as error:
            said.append(str(error))
        if running:  # one after the other, however slow the machine is
            signal.setitimer(signal.ITIMER_REAL, 1e-4)

    running = [True]
    before = signal.signal(signal.SIGALRM, handle)
    signal.setitimer(signal.ITIMER_REAL, 1e-4)
    try:
        found = [np.sum(part(x, i)).grad().wrt(x) for i in range(40)]
    finally:
        running.clear()
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert_consistent(record)
    assert all("signal handler" in each for each in said)
    for i, each in enumerate(found):
        np.testing.assert_allclose(each, ta.grad(lambda x, i=i: np.sum(part(x, i)))(X))


def test_captures_in_several_threads_leave_the_collector_running() -> None:

    def one(i: int) -> Array:
        fast = ta.compile(ta.grad(lambda x: np.sum(part(x, i))), engine="numpy")
        for _ in range(3):
            fast(X)
        return fast(X)

    with ThreadPoolExecutor(THREADS) as pool:
        found = list(pool.map(one, range(12)))
    assert gc.isenabled()
    for i, each in enumerate(found):
        np.testing.assert_allclose(each, ta.grad(lambda x, i=i: np.sum(part(x, i)))(X))


def test_threads_that_were_started_by_hand() -> None:
    record = ta.ComputationRecord()
    x = record.tensor(X)
    found: dict[int, Array] = {}

    def work(i: int) -> None:
        found[i] = np.sum(part(x, i))

    threads = [threading.Thread(target=work, args=(i,)) for i in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    total = found[0] + found[1] + found[2] + found[3]
    wanted = ta.grad(lambda x: sum(np.sum(part(x, i)) for i in range(THREADS)))(X)
    np.testing.assert_allclose(total.grad().wrt(x), wanted, rtol=1e-12)


def test_a_signature_that_two_threads_call_first() -> None:
    shared: dict[str, Any] = {"roll": "what the other thread is making"}
    made = base.compiled(np.roll, "a", "shift axis", "", shared)
    assert made("x", 3) == (("x",), {"shift": 3, "axis": None})
    assert shared["roll"] == "what the other thread is making"
