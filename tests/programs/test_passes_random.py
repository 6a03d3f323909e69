"""Random programs with much to be left out, before and after all passes."""

import contextlib
import operator
from typing import Any

import numpy as np
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from tape_ad.base.trees import flatten
from tape_ad.programs.engines import engine_named
from tape_ad.programs.passes import simplified
from tape_ad.programs.program import Call, Diverged, Program, Value, interpret
from tape_ad.rules.numpy.updates import updated
from tests.programs.building import same_bits
from tests.programs.test_engine_storage import STEPS, Maker

SPECIAL = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 1e-310, 3e38, 0.1])
IDENTITIES: list[tuple[Any, tuple[Any, ...]]] = [
    (np.positive, ()),
    (np.conjugate, ()),
    (np.real, ()),
    (np.copy, ()),
    (np.multiply, (1.0,)),
    (np.divide, (1,)),
    (np.subtract, (0,)),
    (np.add, (0.0,)),
    (np.power, (2,)),
    (operator.getitem, (...,)),
]


class Wasteful(Maker):
    """Draws programs that do things twice, or for nothing."""

    def empty(self) -> None:
        function, more = self.draw(IDENTITIES)
        self.add(self.b(function, self.draw(self.values), *more))

    def reshaped(self) -> None:
        x = self.draw(self.arrays())
        order = tuple(range(len(x.shape)))
        function, argument = self.draw(
            [(np.reshape, x.shape), (np.transpose, order), (np.broadcast_to, x.shape)]
        )
        self.add(self.b(function, x, argument))

    def again(self) -> None:
        calls = [step for step in self.b.steps if type(step) is Call]
        call = self.draw(calls)
        self.add(self.b.call(call.function, call.args, call.kwargs))

    def literal(self) -> None:
        x = self.draw(self.arrays())
        data = self.draw([np.ones(x.shape), np.full(x.shape, 2.0), np.broadcast_to(1.0, x.shape)])
        one = self.b.literal(data)
        del data  # so that nobody has it but the program
        self.add(self.b(np.multiply, one, x))
        self.add(self.b(np.add, self.b(np.negative, one), x))

    def overwritten(self) -> None:
        x = self.draw([v for v in self.arrays() if v.owner is None and v not in self.b.inputs])
        self.add(self.b(updated, x, self.b(np.tanh, x), ...))


WASTE = [
    Wasteful.empty,
    Wasteful.empty,
    Wasteful.reshaped,
    Wasteful.again,
    Wasteful.literal,
    Wasteful.overwritten,
]


def shared(arrays: list[Any]) -> list[tuple[int, int]]:
    """List the pairs of arrays that are one, or views of one memory."""
    kept = [(i, x) for i, x in enumerate(arrays) if type(x) is np.ndarray and x.size]
    return [(i, j) for i, x in kept for j, y in kept if i < j and np.may_share_memory(x, y)]


def check(program: Program, simpler: Program, inputs: list[Any]) -> None:
    """Run both, as they stand and by the engine, and see what is shared with whom."""
    wanted, found = interpret(program, inputs), interpret(simpler, inputs)
    if type(wanted) is Diverged:
        assert (found.guard, found.answer) == (wanted.guard, wanted.answer)
        return
    for one, other in zip(flatten(wanted), flatten(found), strict=True):
        same_bits(one, other)
    assert set(shared([*inputs, *flatten(found)])) <= set(shared([*inputs, *flatten(wanted)]))
    replayed = engine_named("numpy")(simpler)(*inputs)
    for one, other in zip(flatten(wanted), replayed, strict=True):
        same_bits(one, other)


def drawn(data: st.DataObject) -> tuple[Program, list[Any]]:
    """Draw a program, and the inputs that it has been written with."""
    maker = Wasteful(data)
    rng = np.random.default_rng(data.draw(st.integers(0, 5)))
    dtype = maker.draw([float, float, np.float32, complex])
    shapes: list[Any] = [(3,), (4, 3), (1,), (2, 3, 4), (5, 1)]
    arrays = [rng.normal(size=maker.draw(shapes)).astype(dtype) for _ in range(2)]
    for array in arrays:
        maker.input(array)
    steps = [Maker.unary, Maker.item] if dtype is complex else STEPS
    for _ in range(data.draw(st.integers(1, 14))):
        with contextlib.suppress(TypeError, ValueError, IndexError):  # NumPy's own
            maker.draw([*steps, *WASTE, *WASTE])(maker)
    places = st.lists(st.integers(0, len(maker.values) - 1), min_size=1, max_size=4)
    outputs: tuple[Value, ...] = tuple([maker.values[i] for i in data.draw(places)])
    return maker.b.program(outputs), arrays


@settings(max_examples=200, deadline=None, phases=[Phase.reuse, Phase.generate])
@given(st.data())
def test_simpler_programs_give_the_same_bits_and_share_no_more(data: st.DataObject) -> None:
    with np.errstate(all="ignore"):
        program, arrays = drawn(data)
        simpler = simplified(program)
        assert len(simpler) <= len(program)
        special = [np.resize(SPECIAL, array.shape).astype(array.dtype) for array in arrays]
        for inputs in (arrays, special, [array[::-1] * -1 for array in arrays]):
            check(program, simpler, inputs)
