"""BLAS threads: how many there are inside and outside."""

import sys
from collections.abc import Iterator

import pytest

from tape_ad.training import blas_threads, threads

threadpoolctl = pytest.importorskip("threadpoolctl")


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
