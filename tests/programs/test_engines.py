import operator
import threading
from typing import Any

import numpy as np
import pytest

from tape_ad import nn
from tape_ad.programs.engines import engine_named
from tape_ad.programs.program import Diverged, Program, interpret
from tape_ad.rules.nn.affine import two_linear
from tests.programs.building import Builder, same_bits

RNG = np.random.default_rng(0)


def replay_of(program: Program) -> Any:
    return engine_named("numpy")(program)


def agrees(program: Program, *inputs: Any) -> None:
    """Compare a replay with the interpreter, twice, as the second may find other memory."""
    replay = replay_of(program)
    wanted = interpret(program, inputs)
    for _ in range(2):
        given = replay(*inputs)
        assert len(given) == len(wanted)
        for one, other in zip(given, wanted, strict=True):
            same_bits(one, other)


ARRAY = RNG.normal(size=(4, 5))
WHOLE = RNG.integers(-5, 5, size=(4, 5))

CALLS: dict[str, tuple[Any, tuple[Any, ...], dict[str, Any]]] = {
    "ufunc": (np.tanh, (), {}),
    "sum": (np.sum, (), {}),
    "sum of an axis": (np.sum, (0,), {}),
    "sum that keeps axes": (np.sum, (), {"axis": (0, 1), "keepdims": True}),
    "sum that keeps none": (np.sum, (0,), {"keepdims": 0}),
    "sum with an option that is not given": (np.sum, (0,), {"keepdims": np._NoValue}),
    "sum of its own that keeps none": (np.add.reduce, (1,), {"keepdims": 0}),
    "sum in another dtype": (np.sum, (1,), {"dtype": np.float32}),
    "sum with a start": (np.sum, (), {"initial": 3.0}),
    "prod": (np.prod, (-1,), {}),
    "max": (np.max, (), {"axis": 1, "keepdims": True}),
    "min": (np.min, (), {}),
    "any": (np.any, (0,), {}),
    "all": (np.all, (), {"axis": 1, "keepdims": True}),
    "mean": (np.mean, (1,), {"keepdims": True}),
    "reshape": (np.reshape, ((5, 4),), {}),
    "reshape in another order": (np.reshape, ((5, 4), "F"), {}),
    "reshape by names": (np.reshape, ((20,),), {"order": "F"}),
    "ravel": (np.ravel, (), {"order": "F"}),
    "transpose": (np.transpose, (), {}),
    "transpose of axes": (np.transpose, ((1, 0),), {}),
    "transpose by name": (np.transpose, (), {"axes": (1, 0)}),
    "swapaxes": (np.swapaxes, (0, 1), {}),
    "moveaxis": (np.moveaxis, (0, -1), {}),
    "moveaxis of several": (np.moveaxis, ((0, 1), (1, 0)), {}),
    "expand_dims": (np.expand_dims, ((0, 2),), {}),
    "squeeze": (np.squeeze, (), {}),
    "take": (np.take, ([0, 2, 2],), {"axis": 1}),
    "repeat": (np.repeat, (2,), {"axis": 0}),
    "cumsum": (np.cumsum, (1,), {}),
    "argmax": (np.argmax, (), {"axis": 0}),
    "argmin": (np.argmin, (), {}),
    "diagonal": (np.diagonal, (1,), {}),
    "real": (np.real, (), {}),
    "imag": (np.imag, (), {}),
    "a reduction of its own": (np.multiply.reduce, (), {"axis": 0}),
    "accumulate": (np.add.accumulate, (1,), {}),
    "key": (operator.getitem, ((slice(None, None, -2), 3),), {}),
    "key with all kinds": (operator.getitem, ((..., None, [0, 2]),), {}),
    "number": (operator.getitem, ((1, -2),), {}),
    "empty key": (operator.getitem, ((),), {}),
    "several": (np.split, (2,), {}),
    "nan": (np.add, (float("nan"),), {}),
    "minus infinity": (np.maximum, (-np.inf,), {}),
    "complex number": (np.multiply, (-0.0 + 1j,), {}),
    "scalar": (np.multiply, (np.float32(0.1),), {}),
    "dtype": (operator.methodcaller("astype", "float32"), (), {}),
}


@pytest.mark.parametrize(
    "array", [ARRAY, WHOLE, ARRAY.T.copy().T, RNG.normal(size=(8, 5))[::2, ::-1], ARRAY > 0]
)
@pytest.mark.parametrize("name", CALLS)
def test_a_replay_gives_the_bits_and_the_layout_that_a_call_gives(name: str, array: Any) -> None:
    function, args, kwargs = CALLS[name]
    b = Builder()
    x = b.input(array, "x")
    out = b(function, x, *args, **kwargs)
    outs = out if isinstance(out, tuple) else (out,)
    agrees(b.program(outs), array)


SCALARS: list[Any] = [np.float64(-0.7), np.float64(np.inf), np.float64(np.nan), np.float64(-0.0)]
OTHERS: list[Any] = [np.float64(1.3), 2, -2.0, 0.0, np.float32(0.1), np.float64(-np.inf)]
BINARY = [np.add, np.subtract, np.multiply, np.divide, np.less, np.equal, np.power, np.maximum]


@pytest.mark.parametrize("function", BINARY)
@pytest.mark.parametrize("other", OTHERS)
@pytest.mark.parametrize("scalar", SCALARS)
def test_numbers_are_what_numpy_makes_of_them(function: Any, scalar: Any, other: Any) -> None:
    b = Builder()
    x = b.input(scalar, "x")
    y = b.input(other, "y")
    with np.errstate(all="ignore"):
        outs = (b(function, x, y), b(function, y, x), b(function, x, other), b(np.negative, y))
        agrees(b.program(outs), scalar, other)


LAYERS: dict[str, tuple[Any, list[tuple[int, ...]]]] = {
    "relu": (nn.relu, [(3, 4)]),
    "relu of one element": (nn.relu, [(1,)]),
    "sigmoid": (nn.sigmoid, [(2, 3, 4)]),
    "sigmoid of a number": (nn.sigmoid, [()]),
    "linear": (nn.linear, [(6, 4), (4, 3), (3,)]),
    "linear of stacks": (nn.linear, [(2, 6, 4), (4, 3), (6, 1)]),
    "linear of a row": (nn.linear, [(4,), (4, 3), (3,)]),
    "linear with a wide bias": (nn.linear, [(1, 4), (4, 3), (5, 3)]),
    "two_linear": (two_linear, [(6, 4), (4, 3), (6, 2), (2, 3), (3,)]),
    "two_linear of unlike rows": (two_linear, [(1, 4), (4, 3), (6, 2), (2, 3), (3,)]),
}


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16, int])
@pytest.mark.parametrize("name", LAYERS)
def test_layers_give_their_own_bits(name: str, dtype: Any) -> None:
    function, shapes = LAYERS[name]
    arrays = [(100 * RNG.normal(size=shape)).astype(dtype)[...] for shape in shapes]
    arrays[0].reshape(-1)[:1] = -0.0
    b = Builder()
    x, *others = [b.input(array, f"x{i}") for i, array in enumerate(arrays)]
    with np.errstate(all="ignore"):
        last = b(np.negative, b(function, b(np.add, x, x), *others))
        kept = b(function, x, *others)
        agrees(b.program((last, b(np.add, kept, kept), b(function, x, *others))), *arrays)


def test_python_numbers_stay_python_numbers() -> None:
    b = Builder()
    x = b.input(3.0, "rate")
    y = b(operator.mul, x, -2.0)
    z = b(operator.pow, -2, b(operator.neg, y))
    agrees(b.program((y, z, b(np.add, x, 1.0), b(np.less, x, 1.0))), 3.0)


def test_a_guard_that_gets_another_answer_ends_the_replay() -> None:
    b = Builder()
    x = b.input(np.array([1.0, 2.0]), "x")
    b.guard(bool, b(np.any, x))
    b.guard(float, b.item(x, 1))
    replay = replay_of(b.program((b(np.exp, x),)))
    assert replay(np.array([1.0, 2.0]))[0][0] == np.exp(1.0)
    first, second = replay(np.array([0.0, 0.0])), replay(np.array([0.0, 3.0]))
    assert (type(first), first.guard, first.answer) == (Diverged, 0, False)
    assert (type(second), second.guard, second.answer) == (Diverged, 1, 3.0)


def test_neighbours_share_the_errstate_that_they_ran_in() -> None:
    b = Builder()
    x = b.input(np.array([1.0, 2.0]), "x")
    half = b.call(np.divide, (x, 2.0), {}, {"all": "ignore"})
    quiet = b.call(np.log, (half,), {}, {"all": "ignore"})
    loud = b.call(np.log, (half,), {}, {"all": "raise"})
    agrees(b.program((quiet, loud)), np.array([3.0, 4.0]))
    with pytest.raises(FloatingPointError):
        replay_of(b.program((quiet, loud)))(np.array([0.0, 1.0]))
    b.steps.pop()
    (given,) = replay_of(b.program((quiet,)))(np.array([0.0, 1.0]))  # and no warning
    assert given[0] == -np.inf


def test_constants_are_read_at_each_replay() -> None:
    table = np.array([1.0, 2.0])
    b = Builder()
    x = b.input(np.array([3.0, 4.0]), "x")
    replay = replay_of(b.program((b(np.multiply, x, b.constant(table)),)))
    table[0] = 10.0
    assert replay(np.array([3.0, 4.0]))[0].tolist() == [30.0, 8.0]


def test_names_that_are_no_names_are_made_some() -> None:
    b = Builder()
    names = ["params['w'].x", "tanh", "class", "v1", "x y", "", "sum", "x y"]
    values = [b.input(np.array([float(i)]), name) for i, name in enumerate(names)]
    total = values[0]
    for value in values[1:]:
        total = b(np.tanh, b(np.add, total, value))
    agrees(b.program((total,)), *(np.array([float(i)]) for i in range(len(names))))


def test_eight_threads_get_what_one_gets() -> None:
    b = Builder()
    x = b.input(np.ones(1000), "x")
    y = x
    for _ in range(50):
        y = b(np.sin, b(np.multiply, b(np.add, y, x), 0.5))
    replay = replay_of(b.program((y,)))
    inputs = [RNG.normal(size=1000) for _ in range(8)]
    wanted = [replay(x)[0] for x in inputs]
    given: list[Any] = [None] * 8

    def run(i: int) -> None:
        given[i] = [replay(inputs[i])[0] for _ in range(50)]

    threads = [threading.Thread(target=run, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for many, one in zip(given, wanted, strict=True):
        assert all(np.array_equal(each, one) for each in many)


@pytest.mark.parametrize("join", [np.concatenate, np.stack])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_what_is_joined_in_a_dtype_is_written_into_memory(join: Any, dtype: Any) -> None:
    b = Builder()
    x = b.input(ARRAY, "x")
    joined = b(join, (x, b(np.sin, x)), axis=1, dtype=dtype, casting="same_kind")
    agrees(b.program((b(np.sum, joined, axis=0),)), ARRAY + 1)


def test_the_quickest_engine_compiles_one_program_after_the_other() -> None:
    pytest.importorskip("llvmlite")
    b = Builder()
    program = b.program((b(np.add, b.input(np.ones(3), "x"), 1.0),))
    for _ in range(2):
        assert engine_named("auto")(program).report.native == 1


@pytest.mark.parametrize("name", ["", "jax", None, ["numpy"]])
def test_an_engine_that_there_is_not_is_an_error(name: Any) -> None:
    with pytest.raises(ValueError, match="there are 'auto', 'numpy' and 'native'"):
        engine_named(name)
