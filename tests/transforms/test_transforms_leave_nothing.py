"""Nothing of a transform stays behind: after errors, in generators, tasks and threads."""

import asyncio
import contextvars
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad.base.arrays.overridable import ACTIVE

Function = Callable[..., Any]


def test_a_function_that_raises_leaves_nothing_behind() -> None:
    def f(x: Any) -> Any:
        assert ACTIVE.get().record is x.record
        raise KeyError("mine")

    def g(x: Any) -> Any:
        with pytest.raises(KeyError, match="mine"):
            ta.grad(f)(x)
        assert ACTIVE.get().record is x.record
        return x * x

    transforms: list[Function] = [ta.grad(f), ta.jacobian(f)]
    transforms += [lambda x: ta.vjp(f, x), lambda x: ta.hvp(f, x, x)]
    for transform in transforms:
        with pytest.raises(KeyError, match="mine"):
            transform(1.0)
        assert ACTIVE.get().record is None
    assert ta.grad(g)(3.0) == 6.0
    assert ACTIVE.get().record is None


def test_generators_that_are_suspended_between_transforms() -> None:
    def slopes(start: float) -> Iterator[Any]:
        x = start
        while True:
            yield ta.grad(lambda y: ta.grad(lambda z: z**3 * y)(y))(x)  # d/dy of 3 y³ = 9 y²
            x += 1.0

    def f(x: Any) -> Any:
        ones, twos = slopes(1.0), slopes(2.0)
        return sum(next(ones) * next(twos) for _ in range(2)) * x

    assert ta.grad(f)(1.0) == 9 * 36 + 36 * 81
    left_open = slopes(1.0)
    next(left_open)
    assert ACTIVE.get().record is None


def test_a_generator_made_inside_a_transform_and_used_after_it() -> None:
    made: list[Iterator[Any]] = []

    def later() -> Iterator[Any]:
        yield ta.grad(np.sin)(0.0)

    def f(x: Any) -> Any:
        made.append(later())
        return x

    ta.grad(f)(1.0)
    assert next(made[0]) == 1.0


def test_asyncio_tasks() -> None:
    async def work(start: float) -> float:
        total = 0.0
        for i in range(20):
            await asyncio.sleep(0)
            assert ACTIVE.get().record is None
            total += float(ta.grad(lambda x: x * ta.grad(lambda y: x * y**2)(start))(start + i))
        return total

    async def everything() -> list[float]:
        return await asyncio.gather(*(work(float(start)) for start in range(5)))

    expected = [sum(4 * start * (start + i) for i in range(20)) for start in range(5)]
    assert asyncio.run(everything()) == expected


def test_an_asyncio_task_that_outlives_the_transform_that_started_it() -> None:
    async def later() -> tuple[Any, Any]:
        await asyncio.sleep(0)
        rec = ACTIVE.get().record
        return ta.grad(ta.grad(lambda x: x**3))(2.0), rec

    async def everything() -> tuple[Any, Any]:
        started: list[Any] = []

        def f(x: Any) -> Any:
            started.append(asyncio.get_running_loop().create_task(later()))
            return x * x

        assert ta.grad(f)(3.0) == 6.0
        result: tuple[Any, Any] = await started[0]
        return result

    value, copied = asyncio.run(everything())
    assert value == 12.0
    assert isinstance(value, float)
    assert copied.ended


@pytest.mark.usefixtures("restless")
def test_eight_threads_that_nest_two_hundred_times() -> None:
    def work(start: float) -> list[float]:
        points = start + np.arange(200) / 100
        nested = ta.grad(lambda x: x * ta.grad(lambda y: ta.grad(lambda z: x * y**2 * z**3)(y))(x))
        return [float(nested(point)) for point in points.tolist()]

    # d/dz x y² z³ at z = y is 3 x y⁴, its d/dy at y = x is 12 x⁴, and d/dx of 12 x⁵ is 60 x⁴
    starts = [float(i) for i in range(8)]
    with ThreadPoolExecutor(8) as pool:
        got = list(pool.map(work, starts))
    for start, values in zip(starts, got, strict=True):
        np.testing.assert_allclose(values, 60 * (start + np.arange(200) / 100) ** 4, rtol=1e-13)


def test_threads_with_a_handle_that_is_passed_in() -> None:
    def f(x: Any) -> Any:
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(ta.grad(lambda y: y**3), x).result()

    assert ta.grad(f)(2.0) == 12.0


def test_threads_with_a_handle_that_is_closed_over() -> None:
    def f(x: Any, run: Function) -> Any:
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(run, ta.grad(lambda y: y**3 * x), 2.0).result()

    assert ta.grad(lambda x: f(x, contextvars.copy_context().run))(1.0) == 12.0
    assert ta.grad(lambda x: f(x, lambda g, at: g(at)))(1.0) == 12.0
