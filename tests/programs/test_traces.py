"""The steps of a long capture, which are kept as what is alike in them and what differs."""

import gc
import tracemalloc
from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad.programs.passes.tokens import Tokens
from tape_ad.programs.program import Call, Guard, Program, Value, interpret
from tape_ad.programs.program import trace as traces
from tape_ad.programs.program.trace import Trace
from tests.programs.looping_functions import RandomLoops, arguments
from tests.sampling import falls

STEPS = 12


@pytest.fixture
def short_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read steps early, and however different they are."""
    monkeypatch.setattr(traces, "CHUNK", 8)
    monkeypatch.setattr(traces, "REPEATED", 0)


def captured(function: Any, *args: Any) -> Program:
    """Capture a function once."""
    compiled = ta.compile(function, engine="numpy")
    compiled(*args)
    program: Program = compiled.programs[0]
    return program


@pytest.mark.parametrize("seed", [n for n in range(40) if falls(n, 16)])
@pytest.mark.parametrize("transform", [lambda f: f, lambda f: ta.grad(f, argnums=(0, 1, 2))])
def test_a_trace_lists_the_steps_that_a_tuple_has(
    seed: int, transform: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    args = arguments(STEPS, seed)
    function = transform(RandomLoops(seed, STEPS))
    monkeypatch.setattr(traces, "CHUNK", 100_000)
    plain = captured(function, *args)
    monkeypatch.setattr(traces, "CHUNK", 8)
    monkeypatch.setattr(traces, "REPEATED", 0)
    program = captured(function, *args)
    assert isinstance(plain.steps, tuple)
    assert isinstance(program.steps, Trace)
    assert len(program.steps) == len(plain.steps)
    assert str(program) == str(plain)
    others = [x * 1.1 for x in args]
    np.testing.assert_equal(interpret(program, others), interpret(plain, others))


@pytest.mark.usefixtures("short_chunks")
def test_a_value_is_one_in_all_steps_while_anyone_has_it() -> None:
    def function(x: Any) -> Any:
        rows = np.outer(x, x)
        for k in range(3):
            rows[k] = np.sin(rows[k]) + rows[k][1:].sum()
        return rows[0] if x[0] > 0 else rows

    program = captured(function, np.linspace(0.1, 1, 4))
    values = {*program.inputs, *(each.value for each in program.constants)}
    for step in program.steps:
        assert values.issuperset(step.operands)
        assert all(out.owner is None or out.owner in values for out in step.outputs)
        values.update(step.outputs)
    assert values.issuperset(program.outputs)
    steps = [*program.steps]
    (guard,) = program.guards
    assert [step for step in steps if isinstance(step, Guard)] == [guard]
    again = program.steps[3 : len(steps)]
    assert [out for step in again for out in step.outputs] == [
        out for step in steps[3:] for out in step.outputs
    ]
    assert program.steps[-2].outputs == steps[-2].outputs
    assert [step.outputs for step in program.steps[::-1]] == [step.outputs for step in steps[::-1]]


@pytest.mark.parametrize("chunk", [8, 4096])
def test_a_list_that_grows_later_is_kept_as_it_was(
    chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(traces, "CHUNK", chunk)

    def function(x: Any) -> Any:
        chosen, total = [0, 1], 0.0
        for k in range(60):
            total = total + np.sum(np.sin(x[chosen]) * k)
            if k == 30:
                chosen.append(2)
        return total

    x = np.linspace(0, 1, 5)
    compiled = ta.compile(function, engine="numpy")
    for scale in (1, 2, 3, 4, 5, 6):
        assert compiled(x * scale) == function(x * scale)


@pytest.mark.usefixtures("short_chunks")
def test_a_constant_that_changes_is_refused_in_a_long_program() -> None:
    rng = np.random.default_rng(0)

    def function(x: Any) -> Any:
        for k in range(40):
            x = np.sin(x) * 0.9
            if k == 30:
                x = x + rng.normal(size=3)
        return x

    compiled = ta.compile(function, engine="numpy")
    compiled(np.ones(3))
    with pytest.raises(ta.errors.CaptureError, match="pass it as an argument"):
        compiled(np.full(3, 0.5))


@pytest.mark.usefixtures("short_chunks")
def test_long_programs_branch_at_guards() -> None:
    def function(x: Any) -> Any:
        for _ in range(40):
            x = np.sin(x) * 0.9 if x[0] > 0.2 else np.cos(x)
        return x

    compiled = ta.compile(function, engine="numpy", max_programs=8)
    for start in (0.5, 0.6, 0.7, 0.5, 0.3, 0.3):
        np.testing.assert_array_equal(compiled(np.full(2, start)), function(np.full(2, start)))


def test_steps_that_are_all_different_are_kept_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(traces, "CHUNK", 8)

    def function(x: Any) -> Any:
        for _ in range(38):
            x = np.append(x, np.sin(x[:2]))
        return np.sum(x)

    program = captured(function, np.ones(2))
    assert isinstance(program.steps, tuple)
    x = np.linspace(0, 1, 2)
    assert interpret(program, [x]) == function(x)


def test_a_call_on_what_nothing_has_given_is_no_loop() -> None:
    x, other, out = (Value(np.ndarray, (2,), np.dtype(float), (8,)) for _ in range(3))
    program = Program("f", (x,), (), (Call(np.add, (x, other), {}, (out,)),), out)
    with pytest.raises(KeyError, match="nothing has given"):
        Tokens.of(program, {})


def test_first_calls_of_a_long_loop_take_little_memory() -> None:
    def total(x: Any, a: Any) -> Any:
        result = 0.0
        for _ in range(2_000):
            x = np.sin(x) * a
            result = result + x
        return result

    slope = ta.grad(total, argnums=(0, 1))
    args = np.array(0.3), np.array(0.9)
    compiled = ta.compile(slope, engine="numpy")
    captured(slope, *args)  # which loads what is imported then
    gc.collect()
    tracemalloc.start()
    try:
        compiled(*args)
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    (program,) = compiled.programs
    assert kept / len(program.steps) < 60  # where a call with its values takes 300 bytes


@pytest.mark.usefixtures("short_chunks")
@pytest.mark.parametrize(
    ("owner", "name", "place"),
    [(traces.Reading, "read_call", 20), (Trace, "read", 3), (Trace, "read", 1)],
)
def test_a_call_that_was_read_in_part_is_refused(
    owner: Any, name: str, place: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    original, calls = getattr(owner, name), []

    def interrupted(self: Any, *given: Any) -> Any:
        calls.append(original(self, *given))
        if len(calls) == place:
            raise KeyboardInterrupt
        return calls[-1]

    def function(x: Any) -> Any:
        for _ in range(40):
            try:
                x = np.sin(x)
            except KeyboardInterrupt:
                x = np.cos(x)
        return x

    compiled = ta.compile(function, engine="numpy")
    monkeypatch.setattr(owner, name, interrupted)
    with pytest.raises(ta.errors.CaptureError, match="call it again"):
        compiled(np.ones(2))
    for _ in range(3):
        np.testing.assert_array_equal(compiled(np.ones(2)), function(np.ones(2)))


@pytest.mark.usefixtures("short_chunks")
def test_a_chunk_whose_beginning_is_noted_twice_begins_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    begin, calls = Trace.begin, []

    def interrupted(self: Trace) -> None:
        begin(self)
        calls.append(self)
        if len(calls) == 3:
            raise KeyboardInterrupt

    def function(x: Any, y: Any) -> Any:
        for _ in range(40):
            try:
                x, y = np.sin(y), x
            except KeyboardInterrupt:
                x, y = np.sin(y), x
        return x + y

    plain = captured(function, np.ones(2), np.zeros(2))
    monkeypatch.setattr(Trace, "begin", interrupted)
    assert str(captured(function, np.ones(2), np.zeros(2))) == str(plain)
