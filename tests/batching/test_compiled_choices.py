"""Compiled functions of batches whose derivatives pick elements by values."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tape_ad as ta

X = np.array([[3.0, 1.0, 2.0], [1.0, 5.0, 2.0]])
SCALE = np.arange(3.0)


def assigned(x: Any, key: Any, value: Any) -> Any:
    y = x * 0.5
    y[key] = value
    return np.sum(y**3 * SCALE)


FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "grad of sort": ta.grad(lambda x: np.sum(np.sort(x) * SCALE)),
    "grad of partition": ta.grad(lambda x: np.sum(np.partition(x, 1) * SCALE)),
    "grad by an index": ta.grad(lambda x: np.sum(x[np.argsort(x)] * SCALE)),
    "grad of take_along_axis": ta.grad(
        lambda x: np.sum(np.take_along_axis(x, np.argsort(x), 0) * SCALE)
    ),
    "grad of one element": ta.grad(lambda x: x[np.argmax(x)]),
    "jvp of sort": lambda x: ta.jvp(np.sort, (x,), (SCALE,))[1],
    "Jacobian of sort, reverse": ta.jacobian(np.sort, mode="reverse"),
    "Jacobian of sort, forward": ta.jacobian(np.sort, mode="forward"),
    "grad of what is assigned by integers": ta.grad(
        lambda x: assigned(x, np.array([2, 0, 1]), x[::-1])
    ),
    "grad of what is assigned by a mask": ta.grad(
        lambda x: assigned(x, np.array([True, False, True]), x[:2] ** 2)
    ),
    "Hessian": ta.hessian(lambda x: np.sum(np.sort(x) ** 3 * SCALE)),
    "grad of a slice by a count": ta.grad(lambda x: np.sum(x[: np.count_nonzero(x > 1.5)] ** 2)),
    "Hessian of what is assigned to a slice": ta.hessian(
        lambda x: assigned(x, slice(np.count_nonzero(x > 1.5)), x[0])
    ),
}


@pytest.mark.parametrize("engine", ["numpy", "native"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_it_gives_what_it_gives_uncompiled(name: str, engine: str) -> None:
    if engine == "native":
        pytest.importorskip("llvmlite")
    one = ta.batched(FUNCTIONS[name])
    fast = ta.compile(one, engine=engine)
    for step in range(4):
        point = np.roll(X, step, axis=1) + step
        assert np.allclose(fast(point), one(point), rtol=1e-14)
