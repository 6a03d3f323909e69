"""How many threads NumPy's linear algebra uses."""

from collections.abc import Iterator
from contextlib import contextmanager

from tape_ad.base.errors import extra


@contextmanager
def blas_threads(n: int = 1) -> Iterator[None]:
    """Let BLAS, NumPy's linear algebra, use `n` threads inside, and as many as before afterwards.

    A product of small matrices is done before its threads are awake: with one thread for each
    core, a training step of a small network takes several times as long as with one alone, and
    many times as long where other programs keep the cores busy. Put it around the training loop.
    Products of hundreds of millions of multiplications do gain from more threads, where cores are
    free. ``python -m benchmarks.blas_threads`` measures both on your machine.

    It holds for the process, so not for one thread of Python alone. It may be nested.

    Parameters
    ----------
    n : int

    Raises
    ------
    ValueError
        When `n` is below 1.
    ImportError
        When threadpoolctl is not installed. ``OPENBLAS_NUM_THREADS=1`` in the environment, for
        NumPy's usual BLAS, does the same for the whole of a process.

    Examples
    --------
    >>> import numpy as np
    >>> with blas_threads():
    ...     np.ones((2, 3)) @ np.ones((3, 1))
    array([[3.],
           [3.]])
    """
    if n < 1:
        raise ValueError(f"blas_threads: n must be at least 1, got {n}")
    with extra("threads", "blas_threads", instead="OPENBLAS_NUM_THREADS in the environment"):
        from threadpoolctl import threadpool_limits
    with threadpool_limits(n, user_api="blas"):
        yield


def blas_thread_count() -> int:
    """Give the number of threads that BLAS may use now: 1 where threadpoolctl does not tell."""
    try:
        from threadpoolctl import threadpool_info
    except ImportError:
        return 1
    counts = [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]
    return max(counts, default=1)
