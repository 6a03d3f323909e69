"""Boxes of one array, shifted against one another, that native code writes in one pass."""

import math
from typing import Any

import numpy as np
import pytest

pytest.importorskip("llvmlite")

import tape_ad as ta
from tape_ad.programs.engines.native import stencils
from tape_ad.programs.engines.native.ir import LoopNest
from tape_ad.programs.engines.native.native_engine import passes
from tests.programs.native.running import leaves, same_bits

Array = Any


def laplacian(u: Array) -> Array:
    around = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2]
    return np.sum((around - 4 * u[1:-1, 1:-1]) ** 2)


def differences(u: Array) -> Array:
    return np.sum((u[1:] - u[:-1]) ** 2) + np.sum((u[:, 1:] - u[:, :-1]) ** 2)


def smoothed(u: Array) -> Array:
    for _ in range(3):
        new = u * 0.5
        new[1:] += u[:-1]
        new[:-1] -= u[1:] * u[1:]
        new[0] = 1.0  # too little to be in one pass with the others
        new[:, 1:] *= u[:, :-1]
        new[:, 2:] = new[:, 2:] + 1.0
        u = new
    return u


def across(u: Array) -> Array:
    new = u * 1.0
    new[1:] += u[:-1]
    new[:-1] += new[1:]  # reads what was written
    new[1:] += u[:-1]
    return new, new[2:-2] * 2.0


def changing(u: Array) -> Array:
    source, new = u * 2.0, u * 1.0
    new[1:] += source[:-1]
    source[3:] = 0.0  # behind one reader, and before another
    new[:-1] += source[1:]
    return new


def through_one_row(u: Array) -> Array:
    """Let boxes of two rows share one."""
    return np.sum(u[1:3] * u[:2] * u[1:3])


def real_parts(u: Array) -> Array:
    """Write to parts of complex numbers, which lie where those do."""
    new = u + 1j * u[::-1]
    new.real[1:] += u[:-1]
    new[:-1] += 1j
    new.imag[1:] -= u[:-1]
    return new


def agree(function: Any, *args: Any) -> None:
    fast = ta.compile(function, engine="native")
    for _ in range(3):
        found = fast(*args)
    for one, other in zip(leaves(found), leaves(function(*args)), strict=True):
        assert same_bits(one, other)


FUNCTIONS = [
    *(ta.grad(laplacian), ta.grad(differences), ta.grad(through_one_row)),
    *(smoothed, across, changing, real_parts),
]


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize(("smallest", "dtype"), [(1, "f8"), (1, "f4"), (stencils.SMALL, "f8")])
def test_the_bits_are_those_of_one_pass_each(
    function: Any, smallest: int, dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stencils, "SMALL", smallest)
    shape = (9, 7) if smallest == 1 else (90, 70)
    agree(function, np.random.default_rng(0).normal(size=shape).astype(dtype))


@pytest.mark.parametrize(("function", "count"), [(laplacian, 2), (differences, 3)])
def test_large_arrays_are_written_once(function: Any, count: int) -> None:
    fast = ta.compile(ta.grad(function), engine="native")
    u = np.random.default_rng(0).normal(size=(90, 80))
    for _ in range(3):
        fast(u)
    stages = dict(passes(fast.programs[0]))
    nests = [each for each in stages["dead store elimination"].slots if isinstance(each, LoopNest)]
    assert sum(math.prod(nest.shape) > 4000 for nest in nests) == count


@pytest.mark.parametrize("seed", range(6))
def test_programs_drawn_at_random(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stencils, "SMALL", 4)
    rng = np.random.default_rng(seed)
    shape = ((12,), (9, 7), (5, 6, 4))[seed % 3]
    widths = rng.integers(1, 3, len(shape))

    def box() -> tuple[slice, ...]:
        begins = [int(rng.integers(0, w + 1)) for w in widths]
        return tuple(
            slice(begin, begin + n - int(w))
            for begin, n, w in zip(begins, shape, widths, strict=True)
        )

    moves = [(box(), box(), int(rng.integers(0, 5)), bool(rng.random() < 0.2)) for _ in range(9)]

    def function(x: Array, weights: Array) -> Array:
        found, other = x * 1.0, x * 0.0
        for number, (to, at, how, elsewhere) in enumerate(moves):
            target = other if elsewhere else found
            if how == 0:
                target[to] = x[at]
            elif how == 1:
                target[to] *= weights[number % 3]
            elif how == 2:
                target[to] -= x[at] * weights[number % 3]
            elif how == 3:
                target[to] += other[at]
            else:
                target[to] += x[at] * x[to]
        return found, other

    x, weights = rng.normal(size=shape), rng.normal(size=3)
    agree(function, x, weights)
    loss = ta.grad(lambda x: sum(np.sum(each * x) for each in function(x, weights)))
    agree(loss, x)
