"""Nests: in which order a space is gone over, and what is brought together along its axes."""

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad.programs.engines.native.ir import IterationSpace, iteration_space

Array = Any


def visited(space: IterationSpace, operand: int) -> list[int]:
    """Give the offsets of an operand's elements in the order in which they are gone over."""
    iterations = itertools.product(*map(range, space.dims))
    return [
        sum(i * s for i, s in zip(iteration, space.outer[operand], strict=True))
        + k * space.steps[operand]
        for iteration in iterations
        for k in range(space.length)
    ]


def everywhere(shape: Sequence[int], strides: Sequence[int]) -> list[int]:
    """Give the offsets of all elements."""
    ways = [[i * stride for i in range(n)] for n, stride in zip(shape, strides, strict=True)]
    return [sum(each) for each in itertools.product(*ways)]


SPACES: list[tuple[tuple[int, ...], list[tuple[int, ...]]]] = [
    ((), [(), ()]),
    ((5,), [(8,), (0,)]),
    ((3, 4), [(32, 8), (32, 8)]),
    ((3, 4), [(8, 24), (32, 8)]),
    ((3, 4), [(-32, -8), (-32, -8)]),
    ((3, 4), [(32, -8), (32, 8)]),
    ((3, 4, 5), [(160, 40, 8), (0, 40, 8)]),
    ((3, 4, 5), [(160, 40, 8), (8, 0, 24)]),
    ((40, 3), [(24, 8), (0, 8)]),
    ((2, 40, 3), [(960, 24, 8), (8, 0, 0)]),
]


@pytest.mark.parametrize(("shape", "strides"), SPACES)
def test_each_element_is_visited_once_with_those_of_the_other_operands(
    shape: tuple[int, ...], strides: list[tuple[int, ...]]
) -> None:
    space = iteration_space(shape, strides)
    together = list(zip(*(visited(space, k) for k in range(len(strides))), strict=True))
    expected = list(zip(*(everywhere(shape, each) for each in strides), strict=True))
    assert sorted(together) == sorted(expected)
    assert math.prod(space.dims) * space.length == math.prod(shape)


def test_axes_that_lie_one_in_the_other_are_one() -> None:
    space = iteration_space((3, 4, 5), [(160, 40, 8), (160, 40, 8)])
    assert (space.dims, space.length, space.steps) == ((), 60, [8, 8])


def test_the_inner_loop_goes_along_memory() -> None:
    space = iteration_space((100, 200), [(8, 800), (8, 800)])
    assert (space.dims, space.length, space.steps) == ((), 20_000, [8, 8])


def test_the_inner_loop_is_long() -> None:
    space = iteration_space((1000, 3), [(24, 8), (0, 8)])
    assert space.length == 1000


def total(function: Any, axis: Any, view: Callable[[Array], Array]) -> Callable[[Array], Any]:
    def reduced(x: Array) -> Any:
        return function(view(x), axis=axis)

    return reduced


VIEWS: dict[str, Callable[[Array], Array]] = {
    "as it is": lambda x: x,
    "transposed": lambda x: x.T,
    "backwards": lambda x: x[::-1, :, ::-1],
    "with steps": lambda x: x[:, ::2, ::3],
    "repeated": lambda x: np.broadcast_to(x[:, :1], x.shape),
    "computed": lambda x: x * x[:1] - x[:, :, :1],
}
SHAPES = [(3, 5, 7), (2, 300, 4), (1, 1, 9), (70, 2, 130)]


def native(f: Any, *args: Array) -> Any:
    """Give the result of a replay."""
    compiled = ta.compile(f, engine="native")
    for _ in range(3):
        result = compiled(*args)
    return result


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("axis", [None, 0, 1, 2, (0, 1), (0, 2), (1, 2)], ids=str)
def test_sums_and_the_like_along_axes(view: str, axis: Any) -> None:
    arrays = [np.random.default_rng(0).normal(size=shape) for shape in SHAPES]
    sums = total(np.sum, axis, VIEWS[view])
    for x, found in zip(arrays, native_of_each(sums, arrays), strict=True):
        values = VIEWS[view](x).astype(np.longdouble)
        exact, size = np.sum(values, axis=axis), np.sum(np.abs(values), axis=axis)
        ours, theirs = np.abs(found - exact), np.abs(sums(x) - exact)
        assert np.all(ours <= np.maximum(4 * np.finfo(float).eps * size, theirs)), x.shape
    extremes = [total(function, axis, VIEWS[view]) for function in (np.max, np.min)]
    flags = total(np.any, axis, lambda x: VIEWS[view](x) > 1.5)
    for function in (*extremes, flags):
        for x, found in zip(arrays, native_of_each(function, arrays), strict=True):
            np.testing.assert_array_equal(found, function(x), err_msg=str(x.shape))


def native_of_each(f: Callable[[Array], Any], arrays: Sequence[Array]) -> Sequence[Any]:
    """Give the results for several arrays, from one program: to make one takes longest."""
    results: Sequence[Any] = native(lambda *each: tuple(map(f, each)), *arrays)
    return results


@pytest.mark.parametrize("size", [4095, 4096, 4097, 5000, 8192, 8193, 100_003])
def test_several_reductions_of_long_arrays_at_once(size: int) -> None:
    x = np.random.default_rng(size).normal(size=size)
    value, most, least, some, each = native(
        lambda x: (np.sum(x * x), np.max(x), np.min(x), np.any(x > 4.2), x + 1), x
    )
    assert abs(value - math.fsum(x * x)) <= 4 * np.finfo(float).eps * value
    assert (most, least, some) == (np.max(x), np.min(x), np.any(x > 4.2))
    np.testing.assert_array_equal(each, x + 1)


@pytest.mark.parametrize("shape", [(1,), (2,), (3, 1), (1, 4), (5, 3)], ids=str)
@pytest.mark.parametrize("axis", [None, 0, -1], ids=str)
def test_a_sum_of_negative_zeros_is_zero_as_numpy_has_it(shape: tuple[int, ...], axis: Any) -> None:
    result = native(lambda x: np.sum(x, axis=axis), np.full(shape, -0.0))
    assert not np.any(result)
    assert not np.any(np.signbit(result))


@pytest.mark.parametrize("size", [10**3, 10**4, 10**5, 10**6, 10**7])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_long_sums_are_no_worse_than_numpys(size: int, dtype: Any) -> None:
    compiled = ta.compile(np.sum, engine="native")
    ours, theirs = [], []
    for seed in range(min(max(3 * 10**6 // size, 4), 300)):
        x = np.random.default_rng(seed).uniform(0, 1, size).astype(dtype)
        if seed < 2:  # the calls that are captured
            compiled(x)
            continue
        exact = exact_sum(x)
        ours.append(abs(float(compiled(x)) - exact))
        theirs.append(abs(float(np.sum(x)) - exact))
    unit = float(np.spacing(dtype(size / 2)))  # a result is rounded to whole ones
    chance = 2 * unit / math.sqrt(len(ours))
    assert np.mean(ours) <= np.mean(theirs) + chance


def exact_sum(x: Array) -> float:
    """Add numbers that are drawn between 0 and 1, which are whole multiples of 2**-53."""
    whole = (x.astype(np.float64) * 2.0**53).astype(np.int64)
    high, low = np.sum(whole >> 30), np.sum(whole & (2**30 - 1))
    return (int(high) * 2**30 + int(low)) / 2**53


def test_an_exact_sum_is_rounded_once() -> None:
    for dtype in (np.float64, np.float32):
        x = np.random.default_rng(0).uniform(0, 1, 1000).astype(dtype)
        assert exact_sum(x) == math.fsum(x)
