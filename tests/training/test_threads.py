"""BLAS threads: how many there are inside and outside, and the one word about too many."""

import itertools
import logging
import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad.base import threads
from tape_ad.optim import hints
from tape_ad.training import blas_threads

threadpoolctl = pytest.importorskip("threadpoolctl")

Params = dict[str, np.ndarray]


def counts() -> set[int]:
    pools = threadpoolctl.threadpool_info()
    return {pool["num_threads"] for pool in pools if pool["user_api"] == "blas"}


@pytest.fixture(autouse=True)
def two_threads() -> Iterator[None]:
    with threadpoolctl.threadpool_limits(2, user_api="blas"):
        if counts() != {2}:
            pytest.skip("this BLAS has one thread only, or is not known to threadpoolctl")
        yield


def test_inside_there_is_one_thread_and_outside_as_many_as_before() -> None:
    with blas_threads():
        assert counts() == {1}
    assert counts() == {2}


@blas_threads()
def fails_inside() -> None:
    raise ArithmeticError(f"with {counts()} threads")


def test_an_exception_brings_the_threads_back() -> None:
    with pytest.raises(ArithmeticError, match=r"with .1. threads"):
        fails_inside()
    assert counts() == {2}


def test_nested_blocks_each_bring_back_what_they_found() -> None:
    with blas_threads():
        with blas_threads(2):
            assert counts() == {2}
        assert counts() == {1}
    assert counts() == {2}


def test_it_decorates_a_function_too() -> None:
    assert blas_threads()(counts)() == {1}
    assert counts() == {2}


@pytest.mark.parametrize("n", [0, -1])
def test_less_than_one_thread_is_refused(n: int) -> None:
    with pytest.raises(ValueError, match="at least 1"), blas_threads(n):
        pass
    assert counts() == {2}


def test_without_threadpoolctl_an_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "threadpoolctl", None)
    with pytest.raises(ImportError, match=r"tape-ad\[threads\]"), blas_threads():
        pass
    assert threads.blas_thread_count() == 1


# The hint


@pytest.fixture(autouse=True)
def fresh_hint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tape_ad.optim.base.HINT", hints.Hint())


def store(*widths: int) -> Params:
    return {f"w{i}": np.full(each, 0.01) for i, each in enumerate(itertools.pairwise(widths))}


def train(params: Params, rows: int, steps: int) -> None:
    x, sgd = np.ones((rows, len(params["w0"]))), ta.optim.SGD(1e-6)
    h: Any
    for _ in range(steps):
        rec = ta.ComputationRecord()
        p = rec.bind(params)
        h = x
        for w in p.values():
            h = np.maximum(h @ w, 0)
        sgd.step(params, np.sum(h).grad().wrt(p))


SMALL = (64, 256, 8), 64
"""The widths of a network and its rows: a million multiplications in the largest product."""


def test_small_products_are_mentioned_once(caplog: pytest.LogCaptureFixture) -> None:
    widths, rows = SMALL
    train(store(*widths), rows, steps=5)
    train(store(*widths), rows, steps=5)
    (said,) = caplog.records
    assert (said.name, said.levelno) == ("tape_ad.training", logging.WARNING)
    assert "BLAS uses 2 threads" in said.getMessage()
    assert "1e+06 multiplications" in said.getMessage()
    assert "tape_ad.training.blas_threads()" in said.getMessage()


@pytest.mark.parametrize(
    ("widths", "rows", "steps"),
    [
        (*SMALL, 1),  # a single step is no loop
        ((512, 512, 8), 64, 3),  # large enough for several threads
        ((64, 32, 8), 2, 3),  # so small that BLAS takes one thread by itself
    ],
)
def test_nothing_is_said_of_other_products(
    widths: tuple[int, ...], rows: int, steps: int, caplog: pytest.LogCaptureFixture
) -> None:
    train(store(*widths), rows, steps)
    assert caplog.records == []


def test_nothing_is_said_with_one_thread(caplog: pytest.LogCaptureFixture) -> None:
    widths, rows = SMALL
    with blas_threads():
        train(store(*widths), rows, steps=3)
    assert caplog.records == []


def test_nothing_is_said_without_a_loop_of_records(caplog: pytest.LogCaptureFixture) -> None:
    params, sgd = store(64, 256), ta.optim.SGD(1e-6)
    for _ in range(3):
        sgd.step(params, {"w0": np.ones((64, 256))})
    assert caplog.records == []
    assert not threads.NEXT.asked


def test_a_record_is_asked_for_once_and_not_kept_alive(caplog: pytest.LogCaptureFixture) -> None:
    params, sgd = store(64, 256, 8), ta.optim.SGD(1e-6)

    def gradients() -> Params:
        rec = ta.ComputationRecord()
        p: Any = rec.bind(params)
        found: Params = np.sum(np.ones((64, 64)) @ p["w0"] @ p["w1"]).grad().wrt(p)
        return found

    sgd.step(params, gradients())
    assert threads.NEXT.asked
    sgd.step(params, gradients())  # whose record is gone
    assert not threads.NEXT.asked
    assert caplog.records == []


def test_the_logger_silences_it(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.ERROR, logger="tape_ad.training")
    widths, rows = SMALL
    train(store(*widths), rows, steps=3)
    assert caplog.records == []


PROGRAM = """
import numpy as np
import tape_ad as ta

params, sgd = {"w": np.ones((64, 256))}, ta.optim.SGD(1e-6)
for _ in range(4):
    rec = ta.ComputationRecord()
    p = rec.bind(params)
    sgd.step(params, np.sum(np.ones((64, 64)) @ p["w"]).grad().wrt(p))
print("done")
"""


def test_warnings_made_errors_do_not_stop_a_loop() -> None:
    done = subprocess.run(  # noqa: S603  # our own code in our own interpreter
        [sys.executable, "-W", "error", "-c", PROGRAM],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"OPENBLAS_NUM_THREADS": "2", "MKL_NUM_THREADS": "2"},
    )
    assert done.stdout == "done\n"
    assert done.stderr.count("blas_threads()") <= 1  # a machine of one core has one thread


@pytest.mark.parametrize(
    ("compute", "count"),
    [
        (lambda p: np.ones((5, 2)) @ p["m"], 5 * 2 * 3),
        (lambda p: p["m"] @ np.ones((3, 7)), 2 * 3 * 7),
        (lambda p: p["m"] @ p["m"].T, 2 * 3 * 2),
        (lambda p: p["m"] @ p["v"], 2 * 3),
        (lambda p: ta.nn.linear(np.ones((5, 2)), p["m"], p["v"]), 5 * 2 * 3),
        (lambda p: np.tensordot(p["m"], np.ones((3, 4)), 1), 2 * 3 * 4),
    ],
)
def test_the_multiplications_of_a_product_are_counted(compute: object, count: int) -> None:
    assert callable(compute)
    rec = ta.ComputationRecord()
    compute(rec.bind({"m": np.ones((2, 3)), "v": np.ones(3)}))
    (product,) = hints.products(rec)
    assert hints.multiplications(product) == count
