"""Loops that are found in programs: to the bit what their iterations are one by one."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad.base.trees import flatten
from tape_ad.programs.engines import engine_named
from tape_ad.programs.passes import rolling
from tape_ad.programs.program import Program, interpret
from tape_ad.programs.program.loops import Loop, unrolled
from tests.programs.looping_functions import RandomLoops, arguments
from tests.sampling import falls

STEPS = 12


def captured(function: Callable[..., Any], *args: Any) -> Program:
    """Capture a function, and give what is replayed, with its loops."""
    compiled = ta.compile(function, engine="numpy")
    for _ in range(2):
        compiled(*args)
    return compiled.programs[0]


def loops_of(program: Program) -> list[Loop]:
    return [call.function for call in program.calls if isinstance(call.function, Loop)]


def assert_same(one: Any, two: Any) -> None:
    for ours, theirs in zip(flatten(one), flatten(two), strict=True):
        np.testing.assert_array_equal(ours, theirs)


def wave(x: Any, a: Any, b: Any) -> Any:
    total = 0.0
    for _ in range(100):
        x = np.sin(x) * a + b
        total = total + x
    return total


def test_a_loop_is_one_call() -> None:
    program = captured(wave, np.float64(0.3), np.float64(0.9), np.float64(0.1))
    listing = str(program)
    (loop,) = loops_of(program)
    assert loop.count >= 98
    assert "for k in range(" in listing
    assert len(listing.splitlines()) < 30


def test_a_gradient_is_a_loop_forward_and_one_backward() -> None:
    slope = ta.grad(wave, argnums=(0, 1, 2))
    forward, backward = loops_of(captured(slope, np.array(0.3), np.array(0.9), np.array(0.1)))
    assert forward.stackings
    assert not backward.stackings


def test_few_iterations_stay_as_they_are() -> None:
    def few(x: Any) -> Any:
        for _ in range(3):
            x = np.sin(x) * x + 1
        return x

    assert not loops_of(captured(few, np.ones(3)))


@pytest.mark.parametrize("seed", [n for n in range(60) if falls(n, 12)])
@pytest.mark.parametrize("transform", [lambda f: f, lambda f: ta.grad(f, argnums=(0, 1, 2))])
def test_loops_give_the_bits_of_their_iterations(
    seed: int, transform: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rolling, "LEAST", 30)
    args = arguments(STEPS, seed)
    program = captured(transform(RandomLoops(seed, STEPS)), *args)
    others = [x * 1.1 for x in args]
    flat = unrolled(program)
    wanted = interpret(flat, others)
    assert len(rolling.roll(flat)) == len(program)
    assert_same(interpret(program, others), wanted)
    assert_same(engine_named("numpy")(program)(*others), wanted)
    native = engine_named("native")
    assert_same(native(program)(*others), native(flat)(*others))
