"""Random programs of arithmetic, views, reductions and assignments, beside the interpreter."""

import contextlib
import operator
import tracemalloc
from typing import Any

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from tape_ad.programs.engines import engine_named, plans
from tape_ad.programs.engines.plans import Plan
from tape_ad.programs.program import Program, Value, interpret
from tape_ad.rules.maps.indexing import Index, added_at, scatter
from tape_ad.rules.maps.memory import Window
from tape_ad.rules.numpy.updates import updated, viewed
from tests.programs.building import Builder, same_bits

UNARY = [np.tanh, np.exp, np.negative, np.square, np.absolute, np.sin, np.sqrt, np.conjugate]
BINARY = [np.add, np.subtract, np.multiply, np.divide, np.maximum, np.greater, np.arctan2]
KEYS: list[Any] = [
    (slice(1, None),),
    (slice(None, None, -1),),
    (0,),
    (..., 0),
    (..., None),
    ([0, 1, 0],),
    (-1, ..., slice(None, None, 2)),
]
SHAPES = [(3,), (4, 3), (1,), (2, 3, 4), (5, 1), (1, 1)]


class Maker:
    """Draws a program, computing it as it grows."""

    def __init__(self, data: st.DataObject) -> None:
        self.data, self.b = data, Builder()
        self.values: list[Value] = []

    def draw(self, options: list[Any]) -> Any:
        return options[self.data.draw(st.integers(0, len(options) - 1))]

    def arrays(self) -> list[Value]:
        return [v for v in self.values if v.kind is np.ndarray and v.shape]

    def add(self, out: Any) -> None:
        self.values += out if isinstance(out, tuple) else (out,)

    def input(self, array: Any) -> None:
        self.add(self.b.input(array, f"x{len(self.values)}"))

    def unary(self) -> None:
        self.add(self.b(self.draw(UNARY), self.draw(self.values)))

    def binary(self) -> None:
        x, y = self.draw(self.values), self.draw([*self.values, 2, 0.5, -1.0])
        try:
            np.broadcast_shapes(x.shape, getattr(y, "shape", ()))
        except ValueError:
            y = 3.0
        x, y = self.draw([(x, y), (y, x)])
        self.add(self.b(self.draw(BINARY), x, y))

    def item(self) -> None:
        x, key = self.draw(self.arrays()), self.draw(KEYS)
        if x.shape[0] > 1:
            self.add(self.b.item(x, key))

    def rearranged(self) -> None:
        x = self.draw(self.arrays())
        calls = [
            (np.reshape, x, (-1,)),
            (np.transpose, x),
            (np.expand_dims, x, 0),
            (np.broadcast_to, x, (2, *x.shape)),
            (np.moveaxis, x, 0, -1),
            (np.matrix_transpose, x) if len(x.shape) > 1 else (np.ravel, x),
            (np.concatenate, (x, x), -1),
            (np.stack, (x, x), 1),
        ]
        self.add(self.b(*self.draw(calls)))

    def reduced(self) -> None:
        x = self.draw(self.arrays())
        calls: list[Any] = [
            (np.sum, {"axis": 0}),
            (np.sum, {"axis": -1, "keepdims": True}),
            (np.add.reduce, {"axis": None}),
            (np.max, {"axis": 0}),
            (np.maximum.reduce, {}),
            (np.add.accumulate, {"axis": -1}),
            (np.mean, {"axis": -1}),
        ]
        function, options = self.draw(calls)
        self.add(self.b(function, x, **options))

    def product(self) -> None:
        x = self.draw(self.arrays())
        if len(x.shape) > 1:
            self.add(self.b(np.matmul, x, self.b(np.matrix_transpose, x)))
            self.add(self.b(np.dot, x, np.ones(x.shape[-1])))

    def assigned(self) -> None:
        owners = [v for v in self.arrays() if v.owner is None and v not in self.b.inputs]
        if owners:
            base = self.draw(owners)
            key = self.draw([(0,), (slice(None, None, 2),), ..., ([0],)])
            value = self.draw([0.0, 2, base])
            value = value if value is not base else self.b.item(base, (-1,))
            new = self.b(updated, base, value, key)
            self.add(new)
            view = self.b.concrete[new][::-1]
            window = Window.of(self.b.concrete[new], view)
            self.add(self.b(viewed, new, window))
            self.add(self.b(updated, new, -1.0, (0,), window=window))

    def scattered(self) -> None:
        x = self.draw(self.arrays())
        n = x.shape[-1]
        indices = [
            Index((slice(0, n),), (n + 2,), (n,)),
            Index((np.zeros(n, int),), (3,), (n,), repeats=True),
            Index((np.arange(n),), (n + 1,), (n,), repeats=True),
        ]
        index = self.draw(indices)
        total = self.b(scatter, x, index)
        self.add(total)
        more = self.b(added_at, total, self.b(np.negative, x), index)
        self.add(more)
        self.add(self.b(added_at, more, x, linear=index))

    def several(self) -> None:
        self.add(self.b(np.divmod, self.draw(self.arrays()), 0.75))

    def guarded(self) -> None:
        self.b.guard(operator.attrgetter("shape"), self.draw(self.arrays()))


STEPS = [
    Maker.unary,
    Maker.binary,
    Maker.binary,
    Maker.item,
    Maker.rearranged,
    Maker.reduced,
    Maker.product,
    Maker.assigned,
    Maker.scattered,
    Maker.several,
    Maker.guarded,
]


def check(program: Program, inputs: list[Any], others: list[Any]) -> None:
    """Replay with two sets of inputs, one after the other, and look at all results in the end."""
    replay = engine_named("numpy")(program)
    before = [array.copy("K") for array in inputs]
    pairs = [(replay(*each), interpret(program, each)) for each in (inputs, others, inputs)]
    for ours, wanted in pairs:
        for one, other in zip(ours, wanted, strict=True):
            same_bits(one, other)
    for array, copy in zip(inputs, before, strict=True):
        same_bits(array, copy)


@settings(max_examples=150, deadline=None, phases=[Phase.reuse, Phase.generate])
@given(st.data(), st.sampled_from([None, 1, 2, 5]), st.sampled_from([8, 2**16]))
def test_random_programs_give_the_bits_of_the_interpreter(
    data: st.DataObject, part: int | None, heavy: int
) -> None:
    with np.errstate(all="ignore"), pytest.MonkeyPatch.context() as patch:
        patch.setattr(plans, "HEAVY", heavy)
        if part is not None:  # in which arrays are taken, as if they were large
            patch.setattr(plans, "LARGE", 2)
            patch.setattr(plans, "PART", part)
            patch.setattr(plans, "LINE", 1)
        maker = Maker(data)
        rng = np.random.default_rng(data.draw(st.integers(0, 5)))
        dtype = maker.draw([float, float, np.float32, complex])
        arrays = [rng.normal(size=maker.draw(SHAPES)).astype(dtype) for _ in range(2)]
        if dtype is complex:
            maker_steps = [Maker.unary, Maker.item, Maker.rearranged, Maker.assigned]
        else:
            maker_steps = STEPS
        for array in arrays:
            maker.input(array)
        for _ in range(data.draw(st.integers(1, 12))):
            with contextlib.suppress(TypeError, ValueError, IndexError):  # NumPy's own
                maker.draw(maker_steps)(maker)
        count = len(maker.values)
        outputs = tuple(
            maker.values[i]
            for i in data.draw(st.lists(st.integers(0, count - 1), min_size=1, max_size=4))
        )
        check(maker.b.program(outputs), arrays, [2 * array + 1 for array in arrays])


def chain(length: int, size: int = 1000) -> tuple[Program, np.ndarray[Any, Any]]:
    array = np.linspace(0.9, 1.1, size)
    b = Builder()
    y = x = b.input(array, "x")
    for _ in range(length):
        y = b(np.add, b(np.multiply, b(np.sin, y), x), 0.5)
    return b.program((y,)), array


def test_a_chain_needs_the_memory_of_its_result_alone() -> None:
    program, array = chain(300)
    assert Plan.of(program).nbytes == array.nbytes


def test_what_is_needed_until_the_end_has_memory_of_its_own() -> None:
    array = np.ones(1000)
    b = Builder()
    values = [b.input(array, "x")]
    for _ in range(10):
        values.append(b(np.tanh, values[-1]))
    total = values[-1]
    for value in reversed(values[1:]):
        total = b(np.multiply, total, value)
    assert Plan.of(b.program((total,))).nbytes <= 10 * 8064 + array.nbytes


def test_ten_thousand_replays_leave_nothing_behind() -> None:
    program, array = chain(3)
    replay = engine_named("numpy")(program)
    replay(array)
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        for _ in range(10_000):
            replay(array)
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert after - before < array.nbytes


def test_a_replay_that_ends_in_an_error_leaves_the_next_one_right() -> None:
    b = Builder()
    x, i = b.input(np.arange(5.0), "x"), b.input(2, "i")
    out = b(updated, b(np.add, x, 1.0), b.item(x, i), (i,))
    replay = engine_named("numpy")(b.program((out,)))
    with pytest.raises(IndexError):
        replay(np.arange(5.0), 7)
    assert replay(np.arange(5.0), 0)[0].tolist() == [0.0, 2.0, 3.0, 4.0, 5.0]


def test_an_interrupted_replay_leaves_the_next_one_right() -> None:
    interrupts = [KeyboardInterrupt]

    def interrupted(x: Any) -> Any:
        if interrupts and calls:
            raise interrupts.pop()
        calls.append(None)
        return x + 1

    calls: list[None] = []
    b = Builder()
    x = b.input(np.arange(3.0), "x")
    out = b(np.tanh, b(interrupted, b(np.exp, x)))
    replay = engine_named("numpy")(b.program((out,)))
    with pytest.raises(KeyboardInterrupt):
        replay(np.arange(3.0))
    same_bits(replay(np.arange(3.0))[0], np.tanh(np.exp(np.arange(3.0)) + 1))


def test_what_is_seen_backwards_is_not_written_over_in_parts() -> None:
    array = np.linspace(0.1, 1.0, 100_000)
    b = Builder()
    x = b.input(array, "x")
    y = b(np.add.accumulate, x)
    out = b(np.multiply, y, b(np.add, y, b.item(y, slice(None, None, -1))))
    check(b.program((b(np.sum, out),)), [array], [array + 1])


@pytest.mark.parametrize("order", ["C", "F"])
def test_large_arrays_are_taken_in_parts_that_need_little_memory(order: Any) -> None:
    array = np.array(np.linspace(0.1, 1.0, 300_001 * 3).reshape(300_001, 3), order=order)
    b = Builder()
    x = b.input(array, "x")
    scale = b(np.max, x, axis=(0, 1), keepdims=True)
    y = b(np.exp, b(np.negative, b(np.multiply, b(np.divide, x, scale), x)))
    z = b.call(np.log, (b(np.greater, y, 0.9),), {}, {"all": "ignore"})
    program = b.program((b(np.multiply, z, y), b(np.sum, y, axis=0), b(np.sum, x)))
    check(program, [array], [array + 1])
    assert Plan.of(program).nbytes < 2.2 * array.nbytes


def test_a_large_array_without_a_place_goes_when_nothing_needs_it_any_more() -> None:
    array = np.linspace(0.0, 1.0, 20_000)
    b = Builder()
    y = b.input(array, "x")
    for _ in range(5):
        y = b(np.where, b(np.greater, y, 0.5), b(np.sort, y), b(np.cumsum, y))
    program = b.program((b(np.sum, y),))
    replay = engine_named("numpy")(program)
    replay(array)
    tracemalloc.start()
    try:
        replay(array)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 4.2 * array.nbytes
    assert peak <= 1.1 * Plan.of(program).nbytes


def test_no_workspace_stays_beside_arrays_that_are_larger_later() -> None:
    array = np.linspace(0.0, 1.0, 20_000)
    b = Builder()
    x = b.input(array, "x")
    early = b(np.sum, b(np.multiply, b(np.repeat, x, 4), 2.0))
    late = b(np.sum, b(np.sort, b(np.repeat, x, 4)))
    program = b.program((early, late))
    plan = Plan.of(program)
    assert plan.nbytes <= plans.peak_of(plan.steps, plan.live, {})  # of arrays of their own
    check(program, [array], [array + 1])
