"""Random programs of views and assignments on constants, of which some become handles."""

from typing import Any

import numpy as np
import pytest

import tape_ad as ta
import tape_ad.interop.array_api as xp

X = np.array([0.3, -0.7, 1.1, 0.5])
MOST = 9
"""How many arrays a program has."""

VIEWS = [
    lambda a: a[1:],
    lambda a: a[::-1],
    lambda a: a.T,
    lambda a: a.reshape(-1),
    lambda a: a[..., :1],
    lambda a: a[:, None],
    lambda a: a[::2],
    lambda a: a.swapaxes(0, -1),
    lambda a: a.real,
    lambda a: a[...],
]


def assign(a: Any, b: Any, x: Any, u: float, k: int) -> None:
    a[k % len(a)] = u


def assign_handle(a: Any, b: Any, x: Any, u: float, k: int) -> None:
    a[...] = x[k % 4] * u


def assign_element(a: Any, b: Any, x: Any, u: float, k: int) -> None:
    a[(k % len(a),) + (0,) * (a.ndim - 1)] = x[k % 4] ** 2


def add(a: Any, b: Any, x: Any, u: float, k: int) -> None:
    a += u


def add_handle(a: Any, b: Any, x: Any, u: float, k: int) -> None:
    a += x[k % 4]


def multiply(a: Any, b: Any, x: Any, u: float, k: int) -> None:
    a *= b if a.shape == b.shape else u


def assign_row(a: Any, b: Any, x: Any, u: float, k: int) -> None:
    a[0] = b[-1] if a.shape == b.shape else u


CHANGES = [assign, assign_handle, assign_element, add, add_handle, multiply, assign_row]


def spread(a: Any) -> Any:
    """Lay an array out with gaps."""
    return np.repeat(np.repeat(a, 2, 0), 2, -1).T[::2].T[::2]


def results(seed: int, make: Any, x: Any) -> tuple[Any, list[Any]]:
    """Run a program: give a number that depends on all that is there, and the arrays."""
    rng = np.random.default_rng(seed)
    wide, long = np.arange(1.0, 7.0).reshape(2, 3), np.linspace(0, 1, 5)
    pool = [make(spread(wide) if seed % 2 else wide.copy()), make(long)]
    total: Any = 0.0
    for _ in range(rng.integers(3, 14)):
        kind, i, j, k = rng.integers([5, len(pool), len(pool), 10**6])
        u, a, b = rng.uniform(), pool[i], pool[j]
        if kind == 0 and len(pool) < MOST:
            pool.append(VIEWS[k % len(VIEWS)](a))
        elif kind == 1 and len(pool) < MOST:
            pool.append(a * u + 1.0)
        elif kind == 2:
            total = total + (x[0] * a).sum()  # what is there now, whatever is assigned later
        elif a.size:
            CHANGES[k % len(CHANGES)](a, b, x, u, int(k))
    for i, a in enumerate(pool):
        total = total + (a * np.cos(np.arange(a.size) + i).reshape(a.shape)).sum()
    return total, pool


@pytest.mark.parametrize("first", range(0, 200, 20))
def test_a_program_gives_what_it_gives_on_arrays(first: int) -> None:
    for seed in range(first, first + 20):
        _, pool = results(seed, lambda a: a, X.copy())
        x = ta.ComputationRecord().tensor(X)
        ours, arrays = results(seed, xp.asarray, x)
        for one, other in zip(pool, arrays, strict=True):
            np.testing.assert_allclose(ta.stop_gradient(other), one, rtol=1e-12, atol=1e-12)
        direction = np.array([1.0, -0.5, 0.25, 2.0])
        ends = [results(seed, lambda a: a, X + step * direction)[0] for step in (1e-6, -1e-6)]
        slope = np.sum(ours.grad().wrt(x) * direction) if type(ours) is ta.Tensor else 0.0
        np.testing.assert_allclose(slope, np.subtract(*ends) / 2e-6, rtol=1e-4, atol=1e-5)
