"""Loops that are found in programs: to the bit what their iterations are one by one."""

import io
import operator
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad.base.trees import flatten
from tape_ad.programs.engines import engine_named
from tape_ad.programs.engines.native.schedule.loops import with_native_loops
from tape_ad.programs.passes import rolling, simplified
from tape_ad.programs.program import COMPUTED, Call, Constant, Program, Value, interpret
from tape_ad.programs.program.loops import Loop, unrolled
from tape_ad.programs.replay import explaining
from tape_ad.scipy import special
from tests.programs.looping_functions import RandomLoops, arguments
from tests.sampling import falls

STEPS, ROWS = 12, 60


@pytest.fixture(autouse=True)
def any_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let native code go round in short loops too, as no program of a test is long."""
    pytest.importorskip("llvmlite")
    monkeypatch.setattr("tape_ad.programs.engines.native.schedule.loops.FEW", 0)


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


def assert_owners_are_there(program: Program) -> None:
    """Memory that a view shows is known to be in use as long as its owner is one of the program."""
    there = {*program.inputs, *(each.value for each in program.constants)}
    for call in program.calls:
        for out in call.outputs:
            assert out.owner is None or out.owner in there
            there.add(out)


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


def with_much_that_stays(x: Any, a: Any) -> Any:
    for k in range(ROWS):
        offset = np.exp(a[0]) * np.eye(2)  # which is new in each iteration, and the same
        x = np.tanh(offset @ x + a[k] * np.ones(2)) * a[k]
    return x


@pytest.mark.parametrize("engine", ["numpy", "native"])
def test_what_is_the_same_in_all_iterations_is_computed_once(engine: str) -> None:
    args = np.array([0.3, 0.5]), np.linspace(0.5, 1.5, ROWS)
    program = captured(with_much_that_stays, *args)
    (loop,) = loops_of(program)
    functions = [call.function for call in loop.body.calls]
    assert np.exp not in functions
    assert functions.count(operator.getitem) == 1
    assert [call.function for call in program.calls].count(np.exp) == 1
    others = [x * 1.1 for x in args]
    assert_same(engine_named("numpy")(program)(*others), with_much_that_stays(*others))
    (found,) = flatten(engine_named(engine)(program)(*others))
    np.testing.assert_allclose(found, with_much_that_stays(*others), rtol=1e-12)


def covariance(x: Any) -> Any:
    transition = np.array([[1.0, 0.1], [0.0, 1.0]])
    now = np.eye(2) * x[1]
    for _ in range(STEPS):
        now = transition @ now @ transition.T + np.exp(x[0])
        now = now - np.outer(now[0], now[0]) / (now[0, 0] + 1)
    return now[0, 0]


def test_views_that_are_the_same_in_all_iterations_have_their_owner() -> None:
    program = captured(ta.hessian(covariance), np.array([0.3, 0.5]))
    assert loops_of(program)
    assert_owners_are_there(program)
    other = np.array([0.7, 0.2])
    assert_same(engine_named("numpy")(program)(other), ta.hessian(covariance)(other))


def test_what_is_returned_stays_one_array_each() -> None:
    x = np.array([0.3, 0.5])
    compiled = ta.compile(lambda x: [np.exp(x) * 2 for _ in range(2 * ROWS)], engine="numpy")
    for _ in range(3):
        found = compiled(x)
    found[3][:] = 0.0
    assert_same(found[4], np.exp(x) * 2)


def test_few_iterations_stay_as_they_are() -> None:
    def few(x: Any) -> Any:
        for _ in range(3):
            x = np.sin(x) * x + 1
        return x

    assert not loops_of(captured(few, np.ones(3)))


def test_views_of_what_a_loop_keeps_have_owners() -> None:
    def function(x: Any) -> Any:
        kept = []
        for _ in range(150):
            x = np.tanh(x * 0.9 + 0.1)
            kept.append(np.sin(x))
        views = [each[1:][::-1] for each in kept[10:13]]
        return np.sum(np.stack(views)) + np.sum(np.stack(kept) * x)

    program = captured(function, np.linspace(0.1, 1, 5))
    assert loops_of(program)
    assert_owners_are_there(unrolled(program))


@pytest.mark.parametrize("seed", [n for n in range(60) if falls(n, 24)])
@pytest.mark.parametrize("transform", [lambda f: f, lambda f: ta.grad(f, argnums=(0, 1, 2))])
def test_loops_give_the_bits_of_their_iterations(
    seed: int, transform: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rolling, "LEAST", 30)
    monkeypatch.setattr(rolling, "SHORT", 30)
    args = arguments(STEPS, seed)
    program = captured(transform(RandomLoops(seed, STEPS)), *args)
    others = [x * 1.1 for x in args]
    _, as_captured = program.history[0]
    wanted = interpret(as_captured, others)
    flat = unrolled(program)
    assert_owners_are_there(flat)
    for each in (program, flat, rolling.roll(flat)):
        assert_same(interpret(each, others), wanted)
    assert_same(engine_named("numpy")(program)(*others), wanted)
    native = engine_named("native")
    assert_same(native(program)(*others), native(flat)(*others))


def shifting(x: Any, a: Any, b: Any) -> Any:
    before = x * 0.5
    for _ in range(70):
        x, before = np.sin(x) + a * before, x
    return np.sum(x * before + b)


def swapping(x: Any, a: Any, b: Any) -> Any:
    x, y = x.copy(), x * 2
    for _ in range(70):
        x[:] = y * a + np.sin(x) * b
        x, y = y, x
    return np.sum(x) - np.sum(y * y)


def in_rows(x: Any, a: Any, b: Any) -> Any:
    matrix = np.outer(x, np.cos(x))
    for _ in range(70):
        matrix = np.sin(matrix * x[:, None]) + matrix.T * a
    return np.sum(matrix * b)


@pytest.mark.parametrize("function", [shifting, swapping, in_rows])
@pytest.mark.parametrize("transform", [lambda f: f, ta.grad, ta.hessian])
def test_loops_are_native_that_move_what_they_carry(function: Any, transform: Any) -> None:
    args = np.linspace(-1, 1, 4), np.array(0.8), np.array(0.4)
    program = captured(transform(function), *args)
    assert with_native_loops(program)[1]
    others = [np.array(x * 1.1) for x in args]
    (found,) = flatten(engine_named("native")(program)(*others))
    np.testing.assert_allclose(found, transform(function)(*others), rtol=1e-9, atol=1e-9)


PLACES = [*range(20), *range(39, 19, -1), *range(40, ROWS)]


def out_of_order(x: Any) -> Any:
    total = x[0]
    for place in PLACES:
        total = np.tanh(total + x[place]) * 1.5
    return total


def with_one_that_branches(x: Any) -> Any:
    total = x[0]
    for k in range(ROWS):
        total = np.tanh(total + x[k]) * 1.5
        total = total * x[3] if k == 30 else total
    return total


def back_and_forth(x: Any) -> Any:
    total, place = x[0], 10
    for k in range(ROWS):
        place += 1 if (k // 20) % 2 == 0 else -1
        total = np.tanh(total + x[place]) * 1.5
    return total


def crossing(x: Any) -> Any:
    x = x.copy()
    for k in range(ROWS):
        before = x[-1 - k] * 0.5
        x[k] = np.sin(x[k]) + before
        x[-1 - k] = x[k] * x[-1 - k]
    return x


def crossing_rows(x: Any) -> Any:
    rows = np.outer(x, np.cos(x))
    for k in range(ROWS):
        rows[k], rows[-1 - k] = rows[-1 - k] * 1.1, rows[k] * 0.9
    return rows


def overlapping(x: Any) -> Any:
    x = x.copy()
    for k in range(ROWS - 4):
        x[k : k + 3] = np.sin(x[k : k + 3]) + 0.5 * x[ROWS - 4 - k : ROWS - 1 - k]
    return x


IRREGULAR = (
    out_of_order,
    with_one_that_branches,
    back_and_forth,
    crossing,
    crossing_rows,
    overlapping,
)


@pytest.mark.parametrize("function", IRREGULAR)
@pytest.mark.parametrize("transform", [lambda f: f, lambda f: ta.grad(lambda x: np.sum(f(x)))])
def test_keys_that_move_as_no_others_do(
    function: Any, transform: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rolling, "LEAST", 30)
    x = np.linspace(0.1, 1, ROWS)
    program = captured(transform(function), x)
    wanted = transform(function)(x * 1.1)
    for engine in "numpy", "native":
        (found,) = engine_named(engine)(program)(x * 1.1)
        np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize(
    ("moving", "native"),
    [
        (lambda x, k: x[k], True),
        (lambda x, k: x[k : k + 2][1], True),
        (lambda x, k: x[0] * k, True),
        (lambda x, k: np.roll(x, k)[0], False),
        (np.take, False),
    ],
)
def test_only_keys_may_move_in_native_loops(moving: Any, native: bool) -> None:
    def function(x: Any) -> Any:
        total = np.sin(x[0])
        for k in range(2, 90):
            total = np.tanh(total + moving(x, k)) * 1.5
        return total

    x = np.linspace(0.1, 1, 100)
    program = captured(function, x)
    assert loops_of(program)
    assert bool(with_native_loops(program)[1]) is native
    (found,) = engine_named("native")(program)(x * 1.1)
    np.testing.assert_allclose(found, function(x * 1.1), rtol=1e-12)


def solving(x: Any, a: Any) -> Any:
    for _ in range(40):
        x = np.tanh(np.linalg.solve(a, x))
    return np.sum(x * x)


def test_loops_that_solve_equations_are_native() -> None:
    x, a = np.linspace(-1, 1, 3), np.eye(3) + 0.1
    slope = ta.grad(solving, argnums=(0, 1))
    program = captured(slope, x, a)
    loops = loops_of(program)
    assert len(loops) >= 2
    assert with_native_loops(program)[1].keys() == {*loops}
    found, wanted = engine_named("native")(program)(x * 1.1, a), slope(x * 1.1, a)
    for ours, theirs in zip(found, wanted, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)


def permuting(x: Any) -> Any:
    for _ in range(100):
        x = np.sin(x[[1, 0, 2]]) * 0.9
    return x


def factorizing(x: Any) -> Any:
    for _ in range(100):
        x = np.linalg.qr(x * 0.5 + np.eye(3))[1]
    return x


@pytest.mark.parametrize("function", [permuting, factorizing])
def test_native_loops_share_the_tables_of_their_iterations(function: Any) -> None:
    """Of integers in keys, for example, or of what is above a diagonal."""
    x = np.arange(9.0).reshape(3, 3) / 10
    program = captured(function, x)
    (body,) = with_native_loops(program)[1].values()
    assert body.constants
    (found,) = engine_named("native")(program)(x * 1.1)
    np.testing.assert_allclose(found, function(x * 1.1), rtol=1e-12)


def choosing(x: Any, limits: Any) -> Any:
    for k in range(60):
        x = np.sin(x) + 0.6 if np.sum(x) > limits[k] else np.cos(x)
        if np.max(x) > 10:
            break
    return x


@pytest.mark.parametrize("place", [0, 1, 17, 42, 59])
@pytest.mark.parametrize("engine", ["numpy", "native"])
def test_a_guard_keeps_its_place_in_the_iteration(place: int, engine: str) -> None:
    x, limits = np.array([0.3, 0.5]), np.zeros(60)
    program = captured(choosing, x, limits)
    other = limits.copy()
    other[place] = 5.0
    replay = engine_named(engine)(program)
    (loop,) = loops_of(program)
    assert len(program.guards) == 2 * 60
    assert len(loop.body.guards) == 2
    assert with_native_loops(program)[1]
    assert type(replay(x, limits)) is tuple
    wanted = interpret(unrolled(program), (x, other))
    assert wanted.answer is False
    assert wanted.guard == 2 * place
    for diverged in (interpret(program, (x, other)), replay(x, other)):
        assert (diverged.guard, bool(diverged.answer)) == (wanted.guard, False)


@pytest.mark.parametrize("place", [0, 17, 59])
def test_a_guard_that_numpy_asks_keeps_its_number(place: int) -> None:
    def shifting(x: Any, flags: Any) -> Any:
        for k in range(60):
            x = np.tanh(np.roll(x, k)) * (0.9, 0.5)[flags[k]]
            x = np.cos(x) * (0.8, 0.6)[flags[k]]
        return x

    x, flags = np.array([0.3, 0.5, 0.2]), np.zeros(60, int)
    program = captured(shifting, x, flags)
    assert loops_of(program)
    assert not with_native_loops(program)[1]
    replay = engine_named("native")(program)
    np.testing.assert_allclose(replay(x * 1.1, flags)[0], shifting(x * 1.1, flags), rtol=1e-12)
    other = flags.copy()
    other[place] = 1
    found, wanted = replay(x, other), interpret(unrolled(program), (x, other))
    assert (found.guard, found.answer) == (wanted.guard, 1)


def test_each_count_of_iterations_is_a_program() -> None:
    def halving(x: Any) -> Any:
        total = 0.0
        while x > 1e-3:
            x = x * 0.9 + 1e-6 * np.sin(x)
            total = total + x * np.cos(x)
        return total

    slope = ta.grad(halving)
    compiled = ta.compile(slope, engine="native")
    for x in (1.0, 1.0, 2.0, 2.0, 1.0001, 2.0001, 5.0, 5.0, 1.0002):
        np.testing.assert_allclose(compiled(np.array(x)), slope(np.array(x)), rtol=1e-12)
    assert len(compiled.programs) == 3
    assert all(map(loops_of, compiled.programs))


@pytest.mark.parametrize("threads", [1, 2])
def test_threads_go_round_together(threads: int) -> None:
    def steps(x: Any, big: Any) -> Any:
        for _ in range(60):
            x = x * 1.05 + np.sum(x) * 0.001
            if x[0] > 100:
                return x
        return np.sum(np.tanh(big) * x[0])

    x, big = np.full(4, 0.01), np.linspace(0, 1, 120_000)
    program = captured(steps, x, big)
    assert loops_of(program)
    replay = engine_named("native")(program, threads)
    np.testing.assert_allclose(replay(x, big)[0], steps(x, big), rtol=1e-12)
    found, wanted = (each(x * 1e3, big) for each in (replay, engine_named("numpy")(program)))
    assert found.guard == wanted.guard > 20


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("patience", "told"), [(0.0, True), (1000.0, False)])
def test_somebody_at_a_terminal_is_told_what_takes_long(
    patience: float, told: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(explaining, "PATIENCE", patience)
    with explaining.progress("tape_ad compiles wave, 300 steps"):
        time.sleep(0.2 * told)
    text = terminal.getvalue()
    assert text.startswith("tape_ad compiles wave, 300 steps ...") is told
    assert text.endswith(" s\n") is told


def test_explain_counts_loops() -> None:
    compiled = ta.compile(wave)
    for x in (0.3, 0.4, 0.5):
        compiled(np.float64(x), np.float64(0.9), np.float64(0.1))
    assert "calls, 1 loop, 0 guards" in compiled.explain()
    assert "times, " in compiled.explain(passes=True)
    module: dict[str, Any] = {}
    exec(compiled.to_source(), module)  # noqa: S102 - which the library has written
    assert module["wave"](np.float64(0.4), np.float64(0.9), np.float64(0.1)) == wave(0.4, 0.9, 0.1)


SERIES = np.random.default_rng(3).normal(size=(80, 3))
WEIGHTS = np.cos(SERIES[:, 0])


def row_by_row(a: Any) -> Any:
    h = np.zeros(3)
    for k in range(80):
        h = np.tanh(a * h + SERIES[k])
    return np.sum(h)


def in_pairs(a: Any) -> Any:
    h, total = np.zeros(3), 0.0
    for row, weight in zip(SERIES[::-1], WEIGHTS, strict=True):
        h = np.tanh(a * h + row)
        total = total + weight * np.sum(h * SERIES[0])
    return total


def windows_of_the_series(a: Any) -> Any:
    total = 0.0
    for k in range(70):
        total = np.tanh(total + np.sum(SERIES[k : k + 5, 0]) * a[0] + SERIES[k + 3, 1] * a[1])
    return total


def with_the_time(a: Any) -> Any:
    y, step = np.ones(3), 0.05
    for k in range(80):
        time = k * step
        y = y + step * (np.sin(time) * a - time * y / (k + 1))
    return np.sum(y)


def of_rows_made_anew(a: Any) -> Any:
    h = np.zeros(3)
    for k in range(80):
        h = np.tanh(a * h) + np.eye(3)[k * k % 3] + np.exp(SERIES[k])
    return np.sum(h)


@pytest.mark.parametrize("engine", ["numpy", "native"])
@pytest.mark.parametrize(
    "function",
    [row_by_row, in_pairs, windows_of_the_series, with_the_time, of_rows_made_anew],
)
def test_constants_in_a_row_are_read_by_a_loop(function: Any, engine: str) -> None:
    a = np.array([0.3, -0.2, 0.1])
    compiled = ta.compile(ta.value_and_grad(function), engine=engine)
    for scale in 1.0, 1.1, 0.9:
        for ours, theirs in zip(
            compiled(a * scale), ta.value_and_grad(function)(a * scale), strict=True
        ):
            np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-14)
    (program,) = compiled.programs
    assert len(loops_of(program)) == 2
    assert len(program.constants) < 30


@pytest.mark.parametrize("function", [row_by_row, in_pairs, windows_of_the_series])
def test_rows_are_read_where_they_are(function: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    a = np.array([0.3, -0.2, 0.1])
    compiled = ta.compile(ta.value_and_grad(function))
    for _ in range(3):
        compiled(a)
    before = SERIES.copy()
    try:
        SERIES[...] = np.sin(SERIES * 3)
        for ours, theirs in zip(compiled(a), ta.value_and_grad(function)(a), strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-14)
    finally:
        SERIES[...] = before


@pytest.mark.parametrize("dtype", [np.float32, np.complex64, np.int64])
def test_numbers_stay_weak_in_loops(dtype: Any) -> None:
    def function(x: Any) -> Any:
        for k in range(60):
            x = x * (k % 7) + (0.25 * k if x.dtype.kind != "i" else k * k)
        return x

    x = np.arange(3).astype(dtype)
    compiled = ta.compile(function, engine="numpy")
    for scale in 1, 2, 3:
        found, wanted = compiled(x * scale), function(x * scale)
        assert found.dtype == wanted.dtype
        np.testing.assert_array_equal(found, wanted)


def test_whole_numbers_stay_whole_beside_others() -> None:
    def function(x: Any) -> Any:
        for k in range(80):
            degree = (2, 3.0, 1, 2.5, 4)[k * k % 5]
            x = np.sin(x) * 0.5 + special.eval_legendre(degree, np.cos(x)) * 0.1
        return x

    x = np.array([0.4, 0.5, 0.6])
    (found,) = engine_named("numpy")(captured(function, x))(x * 1.1)
    np.testing.assert_array_equal(found, function(x * 1.1))


def test_zeros_of_complex_numbers_keep_their_signs() -> None:
    def along_a_cut(x: Any) -> Any:
        total = x
        for k in range(200):
            side = complex(0.0, -0.0 if k in (150, 151, 170) else 0.0)
            total = 0.5 * total + np.sqrt(x + side)
        return total

    x = np.array([complex(-1.0, -0.0)])
    program = captured(along_a_cut, x)
    assert loops_of(program)
    assert_same(interpret(program, [x]), along_a_cut(x))


def test_a_loop_that_starts_from_ones_does_not_stay_there() -> None:
    x = np.array([0.1, 0.2, 0.3])
    given, start = Value.like(x), Value.like(x)
    factor, state, sine, product, doubled = (given.fresh() for _ in range(5))
    calls = (
        Call(np.sin, (state,), {}, (sine,)),
        Call(np.multiply, (factor, sine), {}, (product,)),
        Call(np.multiply, (factor, 2.0), {}, (doubled,)),
    )
    body = Program("doubling", (factor, state), (), calls, (doubled, product))
    outs = given.fresh(), given.fresh()
    call = Call(Loop(body, 5, 2), (start, given), {}, outs, several=True)
    ones = Constant(start, np.ones(3), COMPUTED)
    program = Program("doubling", (given,), (ones,), (call,), outs)
    wanted = x
    for k in range(5):
        wanted = 2.0**k * np.sin(wanted)
    for each in (program, simplified(program)):
        np.testing.assert_allclose(interpret(each, [x])[1], wanted, rtol=1e-14)


@pytest.mark.parametrize("function", [row_by_row, with_the_time, of_rows_made_anew])
def test_loops_that_are_written_out_read_no_elements_of_constants(function: Any) -> None:
    a = np.array([0.3, -0.2, 0.1])
    program = captured(ta.value_and_grad(function), a)
    flat = rolling.unroll(program)
    there = {each.value for each in program.constants}
    assert all(
        there.isdisjoint(call.operands) for call in flat.calls if call.function is operator.getitem
    )
    assert_same(interpret(flat, [a * 1.1]), interpret(program, [a * 1.1]))
