"""Threads with a record each do not meet."""

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad.record.tensor import OFTEN


def gradient(start: float, barrier: threading.Barrier | None = None) -> tuple[float, int, str]:
    rec: Any = ta.ComputationRecord()
    x = y = rec.tensor(start)
    for i in range(20):
        if barrier is not None:
            barrier.wait()
        y = np.sin(y) * x + i
    return (y * y).grad().wrt(x).item(), len(rec), str(rec)


def second_derivative(start: float) -> float:
    outer: Any = ta.ComputationRecord()
    x = outer.tensor([start, 1.0])
    inner: Any = ta.ComputationRecord(within=outer)
    h = inner.tensor(x)
    slopes = np.sum(np.exp(h) * h[::-1]).grad().wrt(h)
    return float(np.sum(slopes.grad(seed=np.eye(2)).wrt(x)))


def test_two_threads_step_by_step() -> None:
    barrier = threading.Barrier(2, timeout=30)
    with ThreadPoolExecutor(2) as pool:
        got = list(pool.map(lambda start: gradient(start, barrier), [0.5, 1.5]))
    assert got == [gradient(0.5), gradient(1.5)]


@pytest.mark.usefixtures("restless")
@pytest.mark.parametrize("work", [gradient, second_derivative])
def test_many_threads_with_many_records(work: Any) -> None:
    starts = np.linspace(-2, 2, 8 * 50).tolist()
    expected = [work(start) for start in starts]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(work, starts)) == expected


@pytest.mark.usefixtures("restless")
def test_threads_that_count_gradients_past_a_look_at_the_size() -> None:
    rec = ta.ComputationRecord()
    x = rec.tensor(2.0)
    y = x * x
    rec.gradients = 2 * OFTEN - 1
    assert y.grad().wrt(x) == 4.0


def test_threads_that_sweep_one_finished_record() -> None:
    rec: Any = ta.ComputationRecord()
    x = rec.tensor(np.linspace(0, 1, 5))
    y = np.sum(np.sin(x) * np.exp(x))
    expected = y.grad().wrt(x)
    with ThreadPoolExecutor(8) as pool:
        for got in pool.map(lambda _: y.grad().wrt(x), range(100)):
            np.testing.assert_array_equal(got, expected)
