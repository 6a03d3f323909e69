"""Indices, masks and counts that depend on arguments: a replay takes the new ones."""

import itertools
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad.errors import CaptureError
from tests.programs.bits import replayed
from tests.sampling import some

Array = Any
Function = Callable[..., Any]

HERE = np.array([3.0, -1.0, 2.0, 0.5, -2.0])
THERE = np.array([-0.3, 4.0, 1.0, -1.0, 2.5])
WEIGHTS = np.array([1.0, 2.0, -3.0, 0.5, 4.0])
MATRIX = np.arange(20.0).reshape(4, 5) - 7.5


def assigned(x: Array, key: Any, value: Any) -> Array:
    """Give a copy with some elements replaced."""
    y = x * 1.0
    y[key] = value
    return y


def masked_in_place(x: Array) -> Array:
    y = x**2
    y[x < 0] *= 3.0
    return y


BY_VALUES: dict[str, Function] = {
    "order": lambda x: x[np.argsort(x)] * WEIGHTS,
    "order from the back": lambda x: x[np.argsort(-x)[::-1]],
    "greatest": lambda x: x[np.argmax(x)] * x,
    "greatest by method": lambda x: x[x.argmax()] + x[x.argmin()] * x,
    "a number for an axis": lambda x: np.outer(x, WEIGHTS)[:, np.argmax(x)],
    "a number beside an array": lambda x: np.outer(x, x * x)[np.argsort(x)[:2], np.argmax(x)],
    "a number and None": lambda x: (x * x)[None, np.argmax(x)],
    "lengths kept": lambda x: np.outer(x, x)[[np.argmax(x)]],
    "take": lambda x: np.take(x, np.argsort(x)[:3]),
    "take clipped": lambda x: np.take(x, np.argsort(x) * 3, mode="clip"),
    "take along": lambda x: np.take_along_axis(x * 2, np.argsort(x), 0),
    "of a constant": lambda x: np.take_along_axis(WEIGHTS, np.argsort(x), 0) * x,
    "where": lambda x: np.where(x > 0.4, x * x, -x),
    "select": lambda x: np.select([x > 1, x > 0], [x, 2 * x], -x),
    "choose": lambda x: np.choose((x > 0).astype(int), [x * x, 3 * x]),
    "piecewise": lambda x: np.piecewise(x, [x < 0, x >= 0], [lambda v: v * v, lambda v: 2 * v]),
    "mask": lambda x: np.sum(x[x > 0]) * x,
    "mask of rows": lambda x: np.outer(x, WEIGHTS)[x > 0],
    "compress": lambda x: np.sum(np.compress(x > 0, x**2)) * x,
    "extract": lambda x: np.sum(np.extract(x > 0, x**2)) * x,
    "nonzero": lambda x: x[np.nonzero(x > 0)] ** 2,
    "flatnonzero": lambda x: x[np.flatnonzero(x > 0)] ** 2,
    "argwhere": lambda x: x[np.argwhere(x > 0)[:, 0]] ** 2,
    "delete": lambda x: np.delete(x * x, np.argmax(x)),
    "insert": lambda x: np.insert(x * x, np.argmax(x), 7.0),
    "roll": lambda x: np.roll(x * x, np.argmax(x)),
    "repeat": lambda x: np.repeat(x * x, (x > 0) + 1),
    "unique": lambda x: np.unique(np.round(x)) * np.sum(x),
    "digitize": lambda x: np.digitize(x, [-1.0, 0.0, 1.0]) * x,
    "searchsorted": lambda x: x[np.minimum(np.searchsorted(np.sort(x), x), 4)],
    "bincount": lambda x: np.bincount((x > 0).astype(int), weights=x * x),
    "assigned by order": lambda x: assigned(x, np.argsort(x)[:2], 5.0) * x,
    "assigned by number": lambda x: assigned(x, np.argmax(x), x[0]) * x,
    "assigned by mask": lambda x: assigned(x, x > 0, 1.5) * x,
    "changed by mask": masked_in_place,
    "median": lambda x: np.median(x) * x,
    "quantile": lambda x: np.quantile(x, 0.3) * x,
    "partition": lambda x: np.partition(x, 2)[:2] ** 2,
    "sort": lambda x: np.sort(x) * WEIGHTS,
    "trim_zeros": lambda x: np.trim_zeros(np.where(x > 0, x, 0.0)) ** 2,
    "a slice up to a place": lambda x: np.sum(x[: np.argmax(x) + 1] ** 2) * x,
    "arange up to a place": lambda x: np.sum(np.arange(int(np.argmax(x)) + 1.0)) * x,
    "a loop over places": lambda x: sum(x[i] * k for k, i in enumerate(np.argsort(x))) * x,
    "zip": lambda x: sum(w * v if v > 0 else v * v for w, v in zip(WEIGHTS, x, strict=True)) * x,
    "linspace": lambda x: np.linspace(x[0], x[1], 4) ** 2,
    "full": lambda x: np.full_like(x, np.max(x)) * x,
    "full of a number": lambda x: np.full(3, 2.0) * x[:3],
    "interp": lambda x: np.interp(x, np.sort(x), WEIGHTS) * x,
    "polyval": lambda x: np.polyval(x, np.array([0.5, 2.0])),
    "histogram": lambda x: np.histogram(x, 3, (-3.0, 5.0), weights=x * x)[0],
    "vectorized by hand": lambda x: np.stack([v**2 if v > 0 else -v for v in x]),
    "along an axis": lambda x: np.apply_along_axis(lambda v: v * np.max(v), 0, x),
    "allclose": lambda x: x * 2 if np.allclose(x, HERE) else x * x,
    "array_equal": lambda x: x * 2 if np.array_equal(x, HERE) else x * x,
    "in": lambda x: x * 2 if 3.0 in x else x * x,
    "any": lambda x: x * 2 if np.any(x > 3.5) else x * x,
    "count": lambda x: x * np.count_nonzero(x > 0.75),
    "isin": lambda x: np.where(np.isin(x, [2.0, 4.0]), x * x, x),
    "sorted by Python": lambda x: sorted(x)[1] * x,
    "a polynomial": lambda x: np.poly1d(np.round(x))(2.0) * x,
    "max by Python": lambda x: max(*x) * x,
    "round": lambda x: np.round(x) * x,
    "astype": lambda x: x.astype(int) * x,
    "divmod": lambda x: divmod(x, 0.7)[1] * x,
    "lexsort": lambda x: x[np.lexsort((x, np.sign(x)))] ** 2,
    "cumulated": lambda x: np.cumsum(x)[np.argmax(np.cumsum(x))] * x,
    "ravel and unravel": lambda x: np.outer(x, x)[np.unravel_index(np.argmax(x) + 6, (5, 5))] * x,
    "diagonals": lambda x: np.diag(x * x)[np.argsort(x)],
}


@pytest.mark.parametrize("name", BY_VALUES)
def test_a_value_is_taken_anew(name: str) -> None:
    replayed(BY_VALUES[name], [HERE], [THERE], [HERE])


@pytest.mark.filterwarnings("ignore:trim_zeros leaves out")  # zeros that depend on nothing
@pytest.mark.parametrize("name", some(BY_VALUES, 3))
def test_a_gradient_is_taken_anew(name: str) -> None:
    def loss(x: Array) -> Array:
        return np.sum(np.sin(1.0 * BY_VALUES[name](x)))

    replayed(ta.value_and_grad(loss), [HERE], [THERE], [HERE])


@pytest.mark.filterwarnings("ignore:trim_zeros leaves out")  # zeros that depend on nothing
@pytest.mark.parametrize("name", some(BY_VALUES, 5, 1))
def test_second_order_is_taken_anew(name: str) -> None:
    def loss(x: Array) -> Array:
        return np.sum(np.sin(1.0 * BY_VALUES[name](x)))

    replayed(ta.hessian(loss), [HERE], [THERE])


KEYS: dict[str, tuple[Any, Any]] = {
    "an array": (np.array([0, 3, 1]), np.array([2, 2, 0])),
    "negative": (np.array([-1, 3]), np.array([1, -4])),
    "small integers": (np.array([1, 2], np.int8), np.array([3, 3], np.int8)),
    "two axes": (np.array([[0, 1], [2, 3]]), np.array([[3, 3], [0, 0]])),
    "a number of NumPy's": (np.int64(2), np.int64(0)),
    "0-d": (np.array(2), np.array(-1)),
    "a Python number": (2, 3),
    "a mask": (np.array([True, False, True, True]), np.array([False, True, False, True])),
    "no elements": (np.array([], int), np.array([], int)),
    "a pair": ((np.array([0, 1]), np.array([4, 2])), (np.array([3, 3]), np.array([0, 0]))),
    "a number and an array": ((1, np.array([4, 2])), (3, np.array([0, 0]))),
    "a mask of elements": (MATRIX > 3, MATRIX < 3),
}

USES: dict[str, Function] = {
    "read": lambda x, key: x[key] ** 2,
    "written": lambda x, key: assigned(x, key, 2.5) ** 2,
    "added": lambda x, key: x * 2 + assigned(x * x, key, x[key]),
}


@pytest.mark.parametrize(("use", "key"), some(itertools.product(USES, KEYS), 4))
def test_a_key_may_be_an_argument(use: str, key: str) -> None:
    def loss(x: Array, key: Any) -> Array:
        return np.sum(USES[use](x, key))

    here, there = KEYS[key]
    slope = ta.grad(loss)
    replayed(USES[use], [MATRIX, here], [MATRIX, there])
    replayed(slope, [MATRIX, here], [MATRIX, there])
    replayed(ta.grad(lambda x, k: np.sum(slope(x, k) ** 2)), [MATRIX, here], [MATRIX, there])


MODEL = SimpleNamespace(weights=WEIGHTS)

REFUSED: dict[str, Function] = {
    "an array of an object": lambda x: MODEL.weights[np.argsort(x)] * x,
    "addition at places": lambda x: np.add.at(x * 1.0, [0, 0], 1.0),
    "putting": lambda x: np.put(x * 1.0, [0], 1.0),
    "copying": lambda x: np.copyto(x * 1.0, 1.0),
    "by position into an argument": lambda x: np.dot(np.eye(5), x, x),
    "into an argument": lambda x: np.exp(x, out=x),
    "overwriting": lambda x: np.median(x, overwrite_input=True),
    "cleaned in place": lambda x: np.nan_to_num(x, copy=False),
    "the smallest type": lambda x: np.zeros(2, np.min_scalar_type(x[0])),
    "sorting in place": lambda x: (x * 1.0).sort(),
    "bytes": lambda x: np.frombuffer((x * 1.0).tobytes()),
    "C code": memoryview,
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_captured_is_an_error_and_names_the_line(name: str) -> None:
    with pytest.raises((CaptureError, AttributeError, TypeError)) as caught:
        ta.compile(REFUSED[name])(HERE.copy())
    ours = isinstance(caught.value, CaptureError)
    assert not ours or "test_captured_indices.py" in str(caught.value)
