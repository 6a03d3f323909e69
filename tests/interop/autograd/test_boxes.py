"""Handles where programs written for HIPS autograd look for its boxes, and lists of them."""

from typing import Any

import numpy as np
import pytest

import tape_ad as ta
import tape_ad.interop.autograd as ag
import tape_ad.interop.autograd.numpy as anp
from tape_ad.errors import UnsupportedArgumentError
from tape_ad.interop.autograd import builtins, extend, tracer
from tape_ad.interop.autograd.numpy.numpy_boxes import ArrayBox, Box

VECTOR = np.array([2.0, 3.0])


# Lists of handles


LISTS: list[tuple[Any, list[float]]] = [
    (lambda x: anp.array([x[0] * x[1], x[1]]).sum(), [3.0, 3.0]),
    (lambda x: anp.sum(anp.array([[x[0], 1.0], [2.0, x[1]]])[0]), [1.0, 0.0]),
    (lambda x: anp.sum(anp.array((x, 2 * x))), [3.0, 3.0]),
    (lambda x: anp.array(x, ndmin=2)[0, 1], [0.0, 1.0]),
    (lambda x: anp.array(x[0], dtype=complex).real, [1.0, 0.0]),
    (lambda x: anp.asarray([x[0], x[1]])[1], [0.0, 1.0]),
    (lambda x: anp.sum([x[0] * x[1], x[1]]), [3.0, 3.0]),
    (lambda x: anp.mean([x[0], x[1]]), [0.5, 0.5]),
    (lambda x: anp.linalg.norm([3 * x[0], 4 * x[0]]), [5.0, 0.0]),
    (lambda x: anp.where([True, False], [x[0], 1.0], x[1]).sum(), [1.0, 1.0]),
    (lambda x: anp.where(condition=x[0] > 5, x=x[0], y=x[1]), [0.0, 1.0]),
    (lambda x: x[anp.int64(x[1]) - 2], [0.0, 1.0]),
    (lambda x: anp.max([x[0], x[1]]), [0.0, 1.0]),
    (lambda x: anp.dot([x[0], x[1]], [1.0, 2.0]), [1.0, 2.0]),
    (lambda x: anp.sum(anp.vstack([[x[0], x[1]], x])), [2.0, 2.0]),
    (lambda x: anp.sum(anp.concatenate(([x[0]], [1.0], x))), [2.0, 1.0]),
    (lambda x: anp.stack([x[0], x[1]], axis=0)[0], [1.0, 0.0]),
    (lambda x: anp.sum(anp.append(x, [x[0]])), [2.0, 1.0]),
    (lambda x: anp.sum(anp.r_[x, 1.0, x[0], 0:2]), [2.0, 1.0]),
    (lambda x: anp.c_[x, x**2][0, 1], [4.0, 0.0]),
    (lambda x: anp.sum(anp.select([[True, False]], [[x[0], x[1]]])), [1.0, 0.0]),
    (lambda x: anp.sum(anp.full((2, 2), x[0])), [4.0, 0.0]),
    (lambda x: anp.sum(anp.full_like(x, x[1])), [0.0, 2.0]),
    (lambda x: anp.sum(anp.make_diagonal(x, axis1=-1, axis2=-2)[0]), [1.0, 0.0]),
]


@pytest.mark.parametrize(("function", "expected"), LISTS)
def test_lists_of_handles_are_arrays(function: Any, expected: list[float]) -> None:
    assert ag.grad(function)(VECTOR).tolist() == expected


def test_an_array_of_objects_may_hold_handles() -> None:
    def f(x: Any) -> Any:
        cells = np.empty(2, object)
        cells[0], cells[1] = x[1], x[0] ** 2
        return anp.sum(anp.array(cells) * VECTOR)

    assert ag.grad(f)(VECTOR).tolist() == [12.0, 2.0]


def test_on_plain_values_the_namespace_is_that_of_numpy() -> None:
    missing = [name for name in np.__all__ if not hasattr(anp, name)]
    assert missing == []
    assert anp.sin is np.sin
    assert anp.linalg.det is np.linalg.det
    assert anp.array([1, 2]).dtype == np.array([1, 2]).dtype
    assert anp.array([1, 2], dtype=float, ndmin=2).shape == (1, 2)
    assert anp.r_[0:3, 5].tolist() == [0, 1, 2, 5]
    assert anp.full(2, 7).tolist() == [7, 7]
    assert anp.where(True, 1.0, 2.0) == 1.0
    assert type(anp.where(False, 1, 2)) is int
    assert anp.where([True, False, True])[0].tolist() == [0, 2]
    assert np.zeros(2, anp.int32).dtype == np.int32
    assert isinstance(np.int64(3), anp.int64)
    with pytest.raises(ValueError, match="x and y"):
        anp.where(True, 1.0)
    assert anp.metadata(np.ones(2)) == ((2,), 1, np.float64, False)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        anp.nothing  # noqa: B018 - asking is what is tested
    assert {"exp", "array", "linalg"} <= set(dir(anp))


# Handles as boxes


def test_a_handle_is_a_box() -> None:
    seen: list[Any] = []

    def f(x: Any) -> Any:
        seen.append((isinstance(x, ArrayBox), isinstance(x, Box), tracer.isbox(x)))
        seen.append((type(x._value), tracer.getval(x), builtins.type(x)))
        seen.append((builtins.isinstance(x, float), builtins.isinstance(x, ArrayBox)))
        return x**2

    ag.grad(ag.grad(f))(3.0)
    value = (True, True, True)
    assert seen == [value, (ta.Tensor, 3.0, np.float64), (True, True)]
    assert not tracer.isbox(VECTOR)
    assert not isinstance(VECTOR, Box)
    assert builtins.isinstance(VECTOR, np.ndarray)


def test_boxes_of_other_types_are_refused() -> None:
    class Own(extend.Box):
        pass

    with pytest.raises(UnsupportedArgumentError, match="attrs class or a dataclass"):
        Own.register(set)
