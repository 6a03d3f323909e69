"""Checkpoints: the same derivatives, with less memory and a known amount of recomputation."""

import functools
import gc
import math
import time
import tracemalloc
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad.base.trees import flatten
from tape_ad.errors import (
    InPlaceError,
    MutatedInputError,
    OutputError,
    RecomputationError,
    RecordMismatchError,
)
from tape_ad.transforms.recomputation import advance_by
from tests.sampling import one_share_in_three

Function = Callable[..., Any]

RNG = np.random.default_rng(4)
PARAMS = {"w": RNG.normal(size=(3, 4)), "v": RNG.normal(size=2)}
Y = RNG.normal(size=4)


def same(got: Any, expected: Any) -> None:
    for one, other in zip(flatten(got), flatten(expected), strict=True):
        if other is None:
            assert one is None
        else:
            np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-12)


def model(p: Any, y: Any, factor: int = 2) -> Any:
    """Give a tree with everything in it: arrays, scalars, ints and None."""
    return {
        "a": np.sin(p["w"] @ y) * factor,
        "b": (np.sum(p["v"] * y[:2] ** 2), factor, None, 0.5),
    }


def loss(model: Function) -> Function:
    def of(p: Any, y: Any) -> Any:
        out = model(p, y, factor=3)
        return np.sum(out["a"] ** 2) * out["b"][0] * out["b"][1] + out["b"][3]

    return of


DERIVATIVES: dict[str, Callable[[Function], Any]] = {
    "value": lambda model: model(PARAMS, Y),
    "gradient": lambda model: ta.grad(loss(model), (0, 1))(PARAMS, Y),
    "hessian": lambda model: ta.hessian(loss(model), (0, 1))(PARAMS, Y),
    "product": lambda model: ta.hvp(lambda y: loss(model)(PARAMS, y), Y, Y),
    "reverse over reverse": lambda model: ta.jacobian(ta.grad(loss(model), 1), 1, "reverse")(
        PARAMS, Y
    ),
    "reverse over forward": lambda model: ta.jacobian(
        ta.jacobian(loss(model), 1, "forward"), 1, "reverse"
    )(PARAMS, Y),
    "jacobian, forward": lambda model: ta.jacobian(model, (0, 1), "forward")(PARAMS, Y),
    "jacobian, reverse": lambda model: ta.jacobian(model, (0, 1), "reverse")(PARAMS, Y),
    "third order": lambda model: ta.grad(
        lambda y: np.sum(ta.grad(lambda y: np.sum(ta.grad(loss(model), 1)(PARAMS, y) ** 2))(y) ** 2)
    )(Y),
}


@pytest.mark.parametrize("name", DERIVATIVES)
def test_derivatives_of_a_checkpoint(name: str) -> None:
    same(DERIVATIVES[name](ta.checkpoint(model)), DERIVATIVES[name](model))


@pytest.mark.parametrize("name", DERIVATIVES)
def test_derivatives_of_checkpoints_within_checkpoints(name: str) -> None:
    inner = ta.checkpoint(lambda v, y: np.sum(v * y[:2] ** 2))

    def nested(p: Any, y: Any, factor: int = 2) -> Any:
        return model({**p, "v": p["v"]}, y, factor) | {
            "b": (inner(p["v"], y), factor, None, 0.5),
        }

    same(DERIVATIVES[name](ta.checkpoint(nested)), DERIVATIVES[name](model))


def test_a_checkpoint_on_an_explicit_record_is_one_node_that_is_swept_any_number_of_times() -> None:
    rec = ta.ComputationRecord()
    x = rec.tensor(Y)
    y = ta.checkpoint(lambda x, n: np.sum(np.sin(x) ** n))(x, 2)
    assert [node.parents for node in rec] == [(), (0,)]
    assert str(rec[1]) == "%1: float64[] = <lambda> %0"
    for _ in range(2):
        np.testing.assert_allclose(y.grad().wrt(x), np.sin(2 * Y))


def test_a_checkpoint_on_a_record_that_watches_its_inputs() -> None:
    rec = ta.ComputationRecord(check_inputs=True)
    data = Y.copy()
    x = rec.tensor(data)
    y = np.sum(ta.checkpoint(np.sin)(x))
    np.testing.assert_allclose(y.grad().wrt(x), np.cos(Y))
    data[0] = 9.0
    with pytest.raises(MutatedInputError, match="sin"):
        y.grad()


def test_what_a_record_holds_for_a_checkpoint() -> None:
    rec = ta.ComputationRecord()
    x = rec.tensor(np.ones(1000))
    ta.checkpoint(hundred_steps)(x)
    assert rec[1].nbytes < 8000 + 100
    kept = ta.checkpoint_sequential(step, 100, x, slots=5)
    assert 6 * 8000 <= rec[kept.index].nbytes < 8 * 8000


def test_a_checkpoint_of_plain_arrays_just_runs() -> None:
    checkpointed = ta.checkpoint(model)
    assert checkpointed.__name__ == "model"
    assert checkpointed(PARAMS, Y)["b"][1:] == (2, None, 0.5)
    assert type(checkpointed(PARAMS, Y)["a"]) is np.ndarray


def test_the_function_is_called_once_more_in_the_sweep() -> None:
    calls = []

    def f(x: Any, y: Any) -> Any:
        calls.append(type(x))
        return np.sum(x * y)

    ta.grad(ta.checkpoint(f), (0, 1))(Y, Y + 1)
    assert calls == [np.ndarray, ta.Tensor]


def test_mixed_dtypes_come_back_as_they_were() -> None:
    def f(x: Any, z: Any) -> Any:
        return x * 2, np.exp(z), np.float32(3) * x

    x, z = np.ones(2, np.float32), np.array([1j, 2.0])
    rec = ta.ComputationRecord()
    outs = ta.checkpoint(f)(rec.tensor(x), rec.tensor(z))
    assert [out.dtype for out in outs] == [np.float32, np.complex128, np.float32]

    def gradient(f: Function) -> Any:
        return ta.grad(lambda x, z: np.sum(f(x, z)[0] * np.abs(f(x, z)[1])), (0, 1))(x, z)

    same(gradient(ta.checkpoint(f)), gradient(f))
    assert gradient(ta.checkpoint(f))[0].dtype == np.float32


def test_a_handle_that_is_closed_over_is_an_error() -> None:
    rec = ta.ComputationRecord()
    x, w = rec.tensor(Y), rec.tensor(Y)
    with pytest.raises(RecordMismatchError, match="must not close over handles: pass them"):
        ta.checkpoint(lambda x: x * w)(x)
    with pytest.raises(RecordMismatchError, match="must not close over handles"):
        ta.checkpoint(lambda x: (x * w, x))(x)
    with pytest.raises(RecordMismatchError, match="must not close over handles"):
        ta.grad(lambda w: np.sum(ta.checkpoint_sequential(lambda x: x * w, 3, w)))(Y)


def test_a_handle_of_an_outer_record_may_be_closed_over() -> None:
    def f(w: Any) -> Any:
        return np.sum(ta.grad(lambda x: np.sum(ta.checkpoint(lambda x: x**2 * w)(x)))(Y))

    same(ta.grad(f)(Y), 2 * Y)


@pytest.mark.parametrize("function", [lambda x, b: b, lambda x, b: (b[::-1], x)])
def test_what_shows_a_constants_memory_is_not_assigned_to(function: Function) -> None:
    buffer = np.zeros(2)  # which would not see it
    shown = flatten(ta.checkpoint(function)(ta.ComputationRecord().tensor([1.0, 2.0]), buffer))[0]
    with pytest.raises(InPlaceError, match=r"is read-only.*x\.copy\(\)"):
        shown[0] = 1.0


def test_a_constant_of_an_outer_record_is_not_assigned_to_through_a_checkpoint() -> None:
    swapped = ta.checkpoint(lambda a, b: (b, a))

    def total(x: Any) -> Any:
        filled, cube = x * 1.0, x**3
        filled[...] = 2.5
        alias, _ = swapped(cube, filled)
        alias[...] = cube
        return np.sum(filled)

    np.testing.assert_array_equal(ta.grad(total)(np.array([1.0, 2.0])), [3.0, 12.0])
    with pytest.raises(InPlaceError, match="is read-only"):  # and gives no other function's curve
        ta.hessian(total)(np.array([1.0, 2.0]))


def test_what_a_checkpoint_returns() -> None:
    rec = ta.ComputationRecord()
    with pytest.raises(OutputError, match="> returned a str; it has to return an array"):
        ta.checkpoint(lambda x: "text")(rec.tensor(Y))
    out = ta.checkpoint(lambda x: {"sum": np.sum(x), "name": "text"})(rec.tensor(Y))
    assert out["name"] == "text"


def test_nothing_of_a_sweep_stays_behind_in_the_record() -> None:
    outer = ta.ComputationRecord()
    inner = ta.ComputationRecord(within=outer)
    x, constant = inner.tensor(Y), outer.tensor(Y)
    y = ta.checkpoint(lambda a, b: a * b)(x, constant)
    before = inner.nbytes
    ct = np.ones(4)
    remembered = weakref.ref(ct)
    y.grad(ct)
    del ct
    gc.collect()
    assert remembered() is None
    assert inner.nbytes == before


def test_threads_that_sweep_one_checkpoint() -> None:
    rec = ta.ComputationRecord()
    p, y = rec.bind(PARAMS), rec.tensor(Y)
    value = loss(ta.checkpoint(model))(p, y)
    expected = value.grad().wrt([p, y])
    with ThreadPoolExecutor(4) as pool:
        for got in pool.map(lambda _: value.grad().wrt([p, y]), range(50)):
            same(got, expected)


# The binomial schedule


def total(steps: int, slots: int) -> int:
    """Compute the fewest steps that have to be computed, from the recursion that defines them."""
    if steps == 1:
        return 0
    if slots == 1:
        return steps * (steps - 1) // 2
    return min(
        first + cached_total(steps - first, slots - 1) + cached_total(first, slots)
        for first in range(1, steps)
    )


cached_total = functools.cache(total)


def beta(slots: int, repetitions: int) -> int:
    return math.comb(slots + repetitions, slots)


def griewank_and_walther(steps: int, slots: int) -> int:
    """Evaluate r l - beta(c + 1, r - 1), where r is the least with beta(c, r) >= l."""
    r = next(r for r in range(steps) if beta(slots, r) >= steps)
    return r * steps - beta(slots + 1, r - 1) if r else 0


def test_the_formula_is_the_optimum() -> None:
    for steps in range(1, 50):
        for slots in range(1, 12):
            assert griewank_and_walther(steps, slots) == cached_total(steps, slots)


def test_every_advance_is_optimal() -> None:
    for steps in range(2, 60):
        for slots in range(2, 12):
            first = advance_by(steps, slots)
            assert 1 <= first < steps
            rest = griewank_and_walther(steps - first, slots - 1)
            again = griewank_and_walther(first, slots)
            assert first + rest + again == griewank_and_walther(steps, slots)


# Algorithm 799, and chapter 12 of Evaluating Derivatives: l steps, c slots, and their number t
TABLE = [
    *[(10, 1, 45), (10, 2, 20), (10, 3, 15), (10, 4, 14), (10, 5, 13), (10, 10, 9)],
    *[(56, 3, 210), (56, 5, 140), (35, 4, 84), (20, 3, 45), (100, 10, 222)],
]


@pytest.mark.parametrize(("n", "slots", "expected"), TABLE)
def test_the_number_of_recomputed_steps(n: int, slots: int, expected: int) -> None:
    plain, recorded = 0, 0

    def step(x: Any) -> Any:
        nonlocal plain, recorded
        if type(x) is ta.Tensor:
            recorded += 1
        else:
            plain += 1
        return np.sin(x)

    ta.grad(lambda x: ta.checkpoint_sequential(step, n, x, slots=slots))(0.5)
    assert expected == griewank_and_walther(n, slots)
    assert recorded == n
    assert plain == expected + 1  # the last step, for its value, is not counted in the table


@pytest.mark.parametrize("n", [0, 1, 2, 7, 30])
@pytest.mark.parametrize("slots", [1, 2, 3, 30, 100, None])
def test_the_gradient_of_repeated_steps(n: int, slots: int | None) -> None:
    def step(x: Any, p: Any) -> Any:
        return np.sin(x) * p["a"] + p["b"]

    def plain(x: Any, p: Any) -> Any:
        for _ in range(n):
            x = step(x, p)
        return np.sum(x)

    def kept(x: Any, p: Any) -> Any:
        return np.sum(ta.checkpoint_sequential(step, n, x, p, slots=slots))

    p = {"a": 1.1, "b": 0.2}
    same(ta.grad(kept, (0, 1))(Y, p), ta.grad(plain, (0, 1))(Y, p))
    assert kept(Y, p) == plain(Y, p)


def recurrent(s: Any, p: Any) -> Any:
    """Step with a counter, an input for each step, and a sum that starts as a plain number."""
    h = np.tanh(p["w"] @ s["h"] + p["inputs"][s["i"]])
    return {"i": s["i"] + 1, "h": h, "sum": s["sum"] + np.sum(h**2)}


def unrolled(p: Any, h: Any) -> Any:
    s = {"i": 0, "h": h, "sum": 0.0}
    for _ in range(6):
        s = recurrent(s, p)
    return s["sum"]


def rolled(p: Any, h: Any) -> Any:
    s = {"i": 0, "h": h, "sum": 0.0}
    return ta.checkpoint_sequential(recurrent, 6, s, p, slots=2)["sum"]


NETWORK = {"w": RNG.normal(size=(3, 3)), "inputs": RNG.normal(size=(6, 3))}
H = RNG.normal(size=3)


@pytest.mark.parametrize(
    "derivative",
    [
        lambda f: ta.grad(f, (0, 1))(NETWORK, H),
        lambda f: ta.jacobian(f, (0, 1), "forward")(NETWORK, H),
        lambda f: ta.hessian(f, 1)(NETWORK, H),
        lambda f: ta.jacobian(ta.grad(f, 1), 1, "reverse")(NETWORK, H),
        lambda f: ta.jacobian(ta.jacobian(f, 1, "forward"), 1, "reverse")(NETWORK, H),
        lambda f: ta.grad(lambda p: np.sum(ta.grad(f, 1)(p, H)))(NETWORK),
    ],
)
def test_derivatives_of_a_recurrent_network(derivative: Callable[[Function], Any]) -> None:
    same(derivative(rolled), derivative(unrolled))


def test_a_sweep_may_be_repeated() -> None:
    rec = ta.ComputationRecord()
    p, h = rec.bind(NETWORK), rec.tensor(H)
    out = rolled(p, h)
    expected = ta.grad(unrolled, (0, 1))(NETWORK, H)
    for _ in range(3):
        same(out.grad().wrt((p, h)), expected)


def test_what_makes_no_sense() -> None:
    for n, slots in ((-1, 2), (3, 0)):
        with pytest.raises(ValueError, match="n is at least 0 and slots at least 1"):
            ta.checkpoint_sequential(np.sin, n, Y, slots=slots)
    with pytest.raises(TypeError, match="checkpoint_sequential takes a function"):
        ta.checkpoint_sequential(3, 1, Y)  # type: ignore[arg-type]  # on purpose


# Memory and time

STEPS = 10_000
START = np.linspace(0.0, 1.0, 1000)


def step(x: Any) -> Any:
    return np.sin(x) * 1.01


def hundred_steps(x: Any) -> Any:
    for _ in range(100):
        x = step(x)
    return x


def everything_kept(x: Any) -> Any:
    for _ in range(STEPS // 100):
        x = hundred_steps(x)
    return np.sum(x)


def segments(x: Any) -> Any:
    segment = ta.checkpoint(hundred_steps)
    for _ in range(STEPS // 100):
        x = segment(x)
    return np.sum(x)


def scheduled(x: Any) -> Any:
    return np.sum(ta.checkpoint_sequential(step, STEPS, x))


def peak(f: Function) -> tuple[int, Any]:
    """Measure the most memory that a gradient takes, and give the gradient too."""
    tracemalloc.start()
    try:
        gradient = ta.grad(f)(START)
        return tracemalloc.get_traced_memory()[1], gradient
    finally:
        tracemalloc.stop()


def seconds(f: Function) -> float:
    start = time.process_time()
    ta.grad(f)(np.linspace(0.0, 1.0, 3000))  # the arithmetic is to count, not the bookkeeping
    return time.process_time() - start


@one_share_in_three(1)
def test_ten_thousand_steps_in_a_tenth_of_the_memory() -> None:
    plain, expected = peak(everything_kept)
    for f in (segments, scheduled):
        memory, gradient = peak(f)
        assert memory < plain / 10
        same(gradient, expected)


@one_share_in_three(2)
def test_ten_thousand_steps_in_little_more_than_twice_the_time() -> None:
    rounds = [(seconds(everything_kept), seconds(segments), seconds(scheduled)) for _ in range(3)]
    plain, checkpointed, planned = np.min(rounds, axis=0)
    assert checkpointed < 2.2 * plain
    assert planned < 3 * plain


@pytest.mark.parametrize("kind", [ValueError, KeyError, ta.errors.ShapeError])
def test_an_error_of_the_users_own_stays_what_it_is(kind: type[Exception]) -> None:
    def failing(x: Any) -> Any:
        raise kind("no step is this long")

    ruled = ta.custom_rule(pull=lambda ct: ct)(failing)
    for block in (ta.checkpoint(failing), ruled):
        for apart in (False, True):  # as one operand, or as two of different records
            with pytest.raises(kind) as raised:
                ta.grad(lambda x, block=block, apart=apart: within(block, x, apart))(np.ones(2))
            assert type(raised.value) is kind
            assert raised.value.args == ("no step is this long",)


def within(block: Any, x: Any, apart: bool) -> Any:
    return ta.grad(lambda y: np.sum(block((x, y) if apart else y)))(x)[0]


def thinned(x: Any, rng: Any) -> Any:
    return np.where(rng.random(x.shape) < 0.5, x, 0) ** 2


def drawing(x: Any, state: Any) -> Any:
    rng = np.random.default_rng()
    rng.bit_generator.state = state
    return np.sum(thinned(x, rng))


def fresh(x: Any) -> Any:
    return np.sum(thinned(x, RNG))


REDRAWN: dict[str, Callable[[Any, Any], Any]] = {
    "grad": lambda f, x: ta.grad(f)(x),
    "jvp": lambda f, x: ta.jvp(f, (x,), (x,))[1],
    "hvp": lambda f, x: ta.hvp(f, x, x),
    "grad of grad": lambda f, x: ta.grad(lambda x: np.sum(ta.grad(f)(x) ** 2))(x),
    "hessian": lambda f, x: ta.hessian(f)(x),
}


@pytest.mark.parametrize("name", REDRAWN)
def test_a_checkpoint_that_draws_anew_is_an_error(name: str) -> None:
    with pytest.raises(RecomputationError, match=r"fresh gives other values.*bit_generator\.state"):
        REDRAWN[name](ta.checkpoint(fresh), np.arange(1.0, 40.0))


@pytest.mark.parametrize("size", [20, 300, 10_001])
@pytest.mark.parametrize("seed", range(8))
def test_another_mask_of_few_zeros_is_an_error(size: int, seed: int) -> None:
    rng, masks = np.random.default_rng(seed), []

    def masked(x: Any) -> Any:
        masks.append(rng.random(size) > 0.02)
        return x * masks[-1]

    try:
        gradient = ta.grad(lambda x: np.sum(ta.checkpoint(masked)(x)))(np.ones(size))
    except RecomputationError:
        assert np.any(masks[0] != masks[1])
    else:
        np.testing.assert_array_equal(gradient, masks[0])


@pytest.mark.parametrize("name", REDRAWN)
def test_a_checkpoint_that_draws_from_a_state_among_its_arguments(name: str) -> None:
    x, state = np.arange(1.0, 40.0), np.random.default_rng(3).bit_generator.state
    kept = ta.checkpoint(drawing)
    found = REDRAWN[name](lambda x: kept(x, state), x)
    wanted = REDRAWN[name](lambda x: drawing(x, state), x)
    np.testing.assert_allclose(found, wanted, rtol=1e-12)


@pytest.mark.parametrize("number", [0, 3, 6])
def test_one_step_of_many_that_draws_anew_is_an_error(number: int) -> None:
    def step(state: Any) -> Any:
        x, i = state
        return (x * RNG.random(x.shape) if i == number else np.sin(x)), i + 1

    def last(x: Any) -> Any:
        return np.sum(ta.checkpoint_sequential(step, 7, (x, 0), slots=3)[0])

    with pytest.raises(RecomputationError, match="step gives other values"):
        ta.grad(last)(np.ones(5))


def test_rounding_that_is_all_there_is_of_a_value_is_no_error() -> None:
    def nothing(x: Any) -> Any:
        return np.var(x) - np.mean((x - np.mean(x)) ** 2) + np.std(x) - np.sqrt(np.var(x))

    x = np.random.default_rng(5).normal(size=(101, 7))
    plain, kept = ta.grad(nothing)(x), ta.grad(ta.checkpoint(nothing))(x)
    np.testing.assert_allclose(kept, plain, atol=1e-14)


def test_nan_that_is_computed_again_is_no_error() -> None:
    x = np.array([1.0, -1.0])
    with np.errstate(invalid="ignore"):
        found = ta.grad(ta.checkpoint(lambda x: np.sum(np.sqrt(x)[:1]) + np.sum(0.0 * np.sqrt(x))))(
            x
        )
    np.testing.assert_array_equal(found[0], 0.5)
