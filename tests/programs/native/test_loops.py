"""Inner loops: how operands lie, tails of every length, all dtypes, all kinds of endings."""

import ctypes
import functools
import itertools
import math
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest

from tape_ad.programs.engines.native.codegen import CompiledLoop, compiled_loops
from tape_ad.programs.engines.native.codegen.loads_stores import ANY, SAME, STEPS, UNIT
from tape_ad.programs.engines.native.codegen.loops import (
    ASSIGN,
    BLOCK,
    EACH,
    JOIN,
    Epilogue,
    Loop,
    lanes_of,
)
from tape_ad.programs.engines.native.ir import Argument, Literal, Op, cast, kind_of
from tape_ad.programs.engines.native.runtime.compiling import host
from tests.programs.native.hosts import narrowed
from tests.sampling import some

Array = Any
DTYPES = [np.dtype(char) for char in "?bBhHiIqQfdFD"]
BOOL, DOUBLE, SINGLE, COMPLEX = (np.dtype(char) for char in "?dfD")
LOOP = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 4)
MOST = 64  # lanes that any register has


WIDTHS = ["", "256", "128"]


@pytest.fixture(params=WIDTHS, autouse=True)
def bits(request: pytest.FixtureRequest) -> Iterator[str]:
    """Make code for this machine, and for those with registers of 256 and of 128 bits."""
    with narrowed(int(request.param)) if request.param else nullcontext():
        yield request.param


def one(loop: Loop) -> CompiledLoop:
    """Compile a loop alone."""
    return compiled_loops([loop])[loop]


def call(made: CompiledLoop, *operands: Array) -> None:
    """Call a loop with arrays of one dimension, or of none for what all elements share."""
    size = max((x.shape[0] for x in operands if x.ndim), default=1)
    pointers = np.array([x.__array_interface__["data"][0] for x in operands])
    steps = np.array([x.strides[0] if x.ndim else 0 for x in operands])
    lengths = np.array([size])
    LOOP(made.address)(*(x.ctypes.data for x in (pointers, lengths, steps)), None)


def sample(dtype: np.dtype[Any], size: int, seed: int = 0) -> Array:
    """Draw elements; they are the first ones of those that are drawn for larger sizes."""
    return drawn(dtype, seed)[:size].copy()


@functools.cache
def drawn(dtype: np.dtype[Any], seed: int, size: int = 1000) -> Array:
    rng = np.random.default_rng([seed, dtype.num])
    if dtype.kind == "b":
        return rng.random(size) > 0.5
    if dtype.kind in "iu":
        return rng.integers(0 if dtype.kind == "u" else -5, 6, size).astype(dtype)
    values = rng.normal(size=size)
    return (values + 1j * rng.normal(size=size) if dtype.kind == "c" else values).astype(dtype)


def lying(values: Array, access: str, gap: int = 3) -> Array:
    """Lay elements side by side, or backwards and apart."""
    if access == UNIT:
        return values.copy()
    padded = np.full(gap * len(values) + 1, 7, values.dtype)
    padded[::-gap][: len(values)] = values
    return padded[::-gap][: len(values)]


def around(dtype: np.dtype[Any], size: int, access: str) -> tuple[Array, Array]:
    """Make an array for results, and give all of it besides, to see what else is written."""
    if access == UNIT:
        padded = np.full(size + MOST, 7).astype(dtype)
        return padded[:size], padded
    padded = np.full(3 * size + 1, 7).astype(dtype)
    return padded[::-3][:size], padded


def op(function: Any, dtypes: str, *args: Argument) -> Op:
    return Op(kind_of(function, tuple(map(np.dtype, dtypes))), args)


def total(ufunc: Any, dtype: np.dtype[Any], mode: str = ASSIGN, access: str = SAME) -> Epilogue:
    return Epilogue(ufunc, -1, dtype, mode, access)


@pytest.mark.parametrize(("read", "write"), [*itertools.product([UNIT, ANY], repeat=2)])
def test_elements_are_copied_and_nothing_beside_them(read: str, write: str) -> None:
    loops = {dtype: Loop(((dtype, read),), (), ((-1, dtype, write),)) for dtype in DTYPES}
    made = compiled_loops(loops.values())
    for dtype, loop in loops.items():
        for size in range(1, 3 * loop.lanes + 2):
            values = sample(dtype, size)
            out, padded = around(dtype, size, write)
            expected = padded.copy()
            call(made[loop], lying(values, read), out)
            (expected[:size] if write == UNIT else expected[::-3][:size])[...] = values
            assert np.array_equal(padded, expected), (dtype, size, padded, expected)


@pytest.mark.parametrize("access", STEPS)
def test_one_in_a_few_elements_is_copied_and_none_of_the_others(access: str) -> None:
    step, dtypes = STEPS[access], [dtype for dtype in DTYPES if dtype.char in "iIqQfd"]
    loops = {dtype: Loop(((dtype, access),), (), ((-1, dtype, access),)) for dtype in dtypes}
    made = compiled_loops(loops.values())
    for dtype, loop in loops.items():
        for size in range(1, 3 * loop.lanes + 2):
            given, out = sample(dtype, step * size), np.full(step * (size + 9), 7, dtype)
            expected = out.copy()
            call(made[loop], given[::step], out[::step][:size])
            expected[::step][:size] = given[::step]
            assert np.array_equal(out, expected), (dtype, size, out, expected)


def test_one_element_is_given_to_all() -> None:
    loops = {dtype: Loop(((dtype, SAME),), (), ((-1, dtype, UNIT),)) for dtype in DTYPES}
    made = compiled_loops(loops.values())
    for dtype, loop in loops.items():
        value = sample(dtype, 1)
        for size in (1, loop.lanes, loop.lanes + 1):
            out, padded = around(dtype, size, UNIT)
            call(made[loop], value.reshape(()), out)
            assert np.all(out == value), (dtype, size)
            assert np.all(padded[size:] == np.array(7).astype(dtype)), (dtype, size)


@pytest.mark.parametrize(("first", "second"), [*itertools.product([UNIT, ANY, SAME], repeat=2)])
def test_operands_that_lie_in_different_ways(first: str, second: str) -> None:
    ops = (op(np.subtract, "ddd", -1, -2), op(np.multiply, "ddd", 0, Literal.of(2.0, DOUBLE)))
    made = one(Loop(((DOUBLE, first), (DOUBLE, second)), ops, ((1, DOUBLE, UNIT),)))
    x, y = sample(DOUBLE, 29), sample(DOUBLE, 29, seed=1)
    out, _ = around(DOUBLE, 29, UNIT)
    operands = [
        np.array(values[0]) if access == SAME else lying(values, access)
        for values, access in ((x, first), (y, second))
    ]
    call(made, *operands, out)
    np.testing.assert_array_equal(out, 2 * (operands[0] - operands[1]))


def test_dtypes_of_many_sizes_in_one_loop() -> None:
    reads = tuple((np.dtype(char), UNIT) for char in "?bfdD")
    ops = (
        op(cast, "?d", -1),
        op(cast, "bd", -2),
        op(cast, "fd", -3),
        op(np.add, "ddd", 0, 1),
        op(np.add, "ddd", 3, 2),
        op(np.add, "ddd", 4, -4),
        op(cast, "dD", 5),
        op(np.add, "DDD", 6, -5),
        op(cast, "dh", 1),
        op(np.less, "dd?", 0, -4),
    )
    writes = ((7, COMPLEX, UNIT), (8, np.dtype("h"), ANY), (9, BOOL, UNIT))
    made = one(Loop(reads, ops, writes))
    for size in (1, 3, 8, 13, 40):
        operands = [sample(dtype, size, seed=k) for k, (dtype, _) in enumerate(reads)]
        b, i, f, d, c = operands
        outs = [around(dtype, size, access)[0] for _, dtype, access in writes]
        call(made, *operands, *outs)
        np.testing.assert_array_equal(outs[0], (b.astype("d") + i + f.astype("d") + d) + c)
        np.testing.assert_array_equal(outs[1], i.astype("h"))
        np.testing.assert_array_equal(outs[2], b < d)


def test_an_element_that_is_no_loop() -> None:
    ops = (op(np.add, "DDD", -1, -1), op(np.less, "dd?", -2, Literal.of(1.0, DOUBLE)))
    reads = ((COMPLEX, UNIT), (DOUBLE, UNIT))
    loop = Loop(reads, ops, ((0, COMPLEX, UNIT), (1, BOOL, UNIT)), single=True)
    assert loop.lanes == 1
    out, less = np.zeros(1, "D"), np.zeros(1, bool)
    call(one(loop), np.array([1 + 2j]), np.array([0.5]), out, less)
    assert (out[0], less[0]) == (2 + 4j, True)


REDUCTIONS = [
    *itertools.product([np.add, np.multiply], [np.dtype(char) for char in "bBhHiIqQfdFD"]),
    *itertools.product([np.maximum, np.minimum], [np.dtype(char) for char in "?bBhHiIqQfd"]),
    *itertools.product([np.logical_or, np.logical_and], [BOOL]),
]
STEP = 5


@pytest.fixture
def reductions(bits: str) -> list[tuple[Any, np.dtype[Any]]]:
    """Give all for this machine, and for each of the others some (`tests.sampling`)."""
    return some(REDUCTIONS, STEP, WIDTHS.index(bits)) if bits else REDUCTIONS


@pytest.mark.parametrize("mode", [ASSIGN, JOIN])
def test_elements_are_brought_together(reductions: Any, mode: str) -> None:
    loops = [Loop(((dtype, UNIT),), (), (), (total(f, dtype, mode),)) for f, dtype in reductions]
    made = compiled_loops(loops)
    for (ufunc, dtype), loop in zip(reductions, loops, strict=True):
        before = sample(dtype, 1, seed=9)
        for size in [*range(1, 3 * loop.lanes + 1), 777]:
            values, out = sample(dtype, size), before.copy()
            call(made[loop], values, out.reshape(()))
            expected = ufunc.reduce(values, dtype=dtype)
            if mode == JOIN:
                expected = ufunc(before[0], expected)
            scale = np.sum(np.abs(values)) if ufunc is np.add else expected
            close(out[0], expected, dtype, scale, f"{ufunc} {dtype} {size}")


@pytest.mark.parametrize("access", [UNIT, ANY])
def test_each_element_is_brought_together_with_its_own(reductions: Any, access: str) -> None:
    loops = [
        Loop(((dtype, ANY),), (), (), (total(ufunc, dtype, EACH, access),))
        for ufunc, dtype in reductions
    ]
    made = compiled_loops(loops)
    for (ufunc, dtype), loop in zip(reductions, loops, strict=True):
        for size in range(1, 3 * loop.lanes + 1):
            values, before = sample(dtype, size), sample(dtype, size, seed=9)
            out, padded = around(dtype, size, access)
            out[...] = before
            expected = padded.copy()
            within = expected[:size] if access == UNIT else expected[::-3][:size]
            within[...] = ufunc(before, values)
            call(made[loop], lying(values, ANY), out)
            close(padded, expected, dtype, expected, f"{ufunc} {dtype} {size}")


def close(found: Any, expected: Any, dtype: np.dtype[Any], size: Any, name: str) -> None:
    """Compare; sums and products of floats are those of another order, and not of millions."""
    if dtype.kind not in "fc":
        assert np.array_equal(found, expected), (name, found, expected)
        return
    eps = np.finfo(dtype).eps
    allowed = 16 * eps * np.max(np.abs(size))
    near = np.allclose(found, expected, rtol=64 * eps, atol=allowed)
    assert near, (name, found, expected)


@pytest.mark.parametrize("ufunc", [np.maximum, np.minimum])
@pytest.mark.parametrize("size", [1, 7, 8, 9, 100])
def test_a_nan_is_the_greatest_and_the_least(ufunc: Any, size: int) -> None:
    made = one(Loop(((DOUBLE, UNIT),), (), (), (total(ufunc, DOUBLE),)))
    for place in range(size):
        values = sample(DOUBLE, size)
        values[place] = np.nan
        out = np.zeros(())
        call(made, values, out)
        assert np.isnan(out)


@pytest.mark.parametrize("values", [[-0.0] * 11, [np.inf] * 3, [np.inf, -np.inf], [-np.inf] * 9])
@pytest.mark.parametrize("ufunc", [np.add, np.maximum, np.minimum])
def test_special_numbers_are_brought_together_as_by_numpy(ufunc: Any, values: list[float]) -> None:
    made = one(Loop(((DOUBLE, UNIT),), (), (), (total(ufunc, DOUBLE),)))
    out = np.zeros(())
    call(made, np.array(values), out)
    with np.errstate(invalid="ignore"):
        expected = ufunc.reduce(np.array(values))
    np.testing.assert_array_equal(out, expected)
    assert np.isnan(expected) or np.signbit(out) == np.signbit(expected)


def test_several_endings_beside_what_is_stored() -> None:
    epilogues = (
        Epilogue(np.add, 0, DOUBLE, ASSIGN),
        Epilogue(np.maximum, -1, DOUBLE, JOIN),
        Epilogue(np.add, -1, DOUBLE, EACH, UNIT),
        Epilogue(np.add, 1, COMPLEX, ASSIGN),
    )
    ops = (op(np.multiply, "ddd", -1, -1), op(cast, "dD", 0))
    made = one(Loop(((DOUBLE, UNIT),), ops, ((0, DOUBLE, UNIT),), epilogues))
    x, squares, each = sample(DOUBLE, 61), np.zeros(61), np.ones(61)
    results = [np.zeros(()), np.array(99.0), np.zeros((), "D")]
    call(made, x, squares, results[0], results[1], each, results[2])
    np.testing.assert_array_equal(squares, x * x)
    np.testing.assert_array_equal(each, 1 + x)
    assert results[1] == 99
    np.testing.assert_allclose(results[0], np.sum(x * x), rtol=1e-15)
    np.testing.assert_allclose(results[2], np.sum(x * x) + 0j, rtol=1e-15)


@pytest.mark.parametrize("dtype", [SINGLE, DOUBLE], ids=str)
def test_the_sum_of_a_block_is_no_worse_than_numpys(dtype: np.dtype[Any]) -> None:
    made = one(Loop(((dtype, UNIT),), (), (), (total(np.add, dtype),)))
    assert in_the_mean(made, BLOCK, dtype) <= 1.0


def in_the_mean(made: CompiledLoop, size: int, dtype: np.dtype[Any]) -> float:
    """Say how large errors are, in the mean over samples, beside those of `numpy.sum`."""
    ours, theirs = [], []
    for seed in range(300):
        values = np.random.default_rng(seed).uniform(0, 1, size).astype(dtype)
        exact, out = math.fsum(values.tolist()), np.zeros((), dtype)
        call(made, values, out)
        ours.append(abs(float(out) - exact))
        theirs.append(abs(float(np.sum(values)) - exact))
    return float(np.mean(ours) / np.mean(theirs))


def test_lanes_fill_the_widest_register() -> None:
    features = host().features
    wide = all(features.get(name) for name in ("avx512f", "avx512dq", "avx512bw"))
    size = 64 if wide else 32 if features.get("avx2") else 16
    dtypes: Sequence[np.dtype[Any]] = [SINGLE, BOOL]
    assert lanes_of(dtypes) == size // 4
    assert lanes_of([*dtypes, COMPLEX]) == size // 8
