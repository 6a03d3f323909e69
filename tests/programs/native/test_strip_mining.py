"""Loops of NumPy's and SciPy's between our own: how nests are divided, and what they give."""

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from scipy import special

import tape_ad as ta
from tape_ad.base.trees import flatten
from tape_ad.programs.engines.native.codegen.vectors import NO_LIBRARY
from tape_ad.programs.engines.native.ir import Literal, LoopNest, MemRef, Reduction
from tape_ad.programs.engines.native.native_engine import assembled
from tape_ad.programs.engines.native.runtime.compiling import inner_loop
from tape_ad.programs.engines.native.schedule.strip_mining import LEAST, MOST, StripMined
from tape_ad.programs.program import Value
from tests.programs.native.hosts import narrowed, using
from tests.programs.native.running import natively

Array = Any
DOUBLE, SINGLE = np.dtype(float), np.dtype("f4")
SHAPE = (1000,)


@pytest.fixture(params=["libmvec", "none"])
def _library(request: pytest.FixtureRequest) -> Iterator[None]:
    """Make programs with the vector library that there is, and with none."""
    if request.param == "libmvec":
        yield
        return
    with using(NO_LIBRARY):
        yield


def ref(dtype: Any = DOUBLE) -> MemRef:
    dtype = np.dtype(dtype)
    return MemRef.whole(Value(np.ndarray, SHAPE, dtype, (dtype.itemsize,)))


def found(ufunc: np.ufunc, *dtypes: Any) -> Any:
    return inner_loop(ufunc, tuple(dtypes))


def chain() -> tuple[LoopNest, MemRef, MemRef]:
    """Make a nest: ours, NumPy's, ours, NumPy's."""
    nest, x, y = LoopNest(SHAPE), ref(), ref()
    doubled = nest.op(np.add, (DOUBLE,) * 3, nest.read(x), nest.read(x))
    logarithm = nest.op(found(special.gammaln, DOUBLE, DOUBLE), (DOUBLE,) * 2, doubled)
    square = nest.op(np.multiply, (DOUBLE,) * 3, logarithm, logarithm)
    nest.write(nest.op(found(special.erf, DOUBLE, DOUBLE), (DOUBLE,) * 2, square), y)
    return nest, x, y


def roots(part: LoopNest) -> tuple[set[Value], set[Value]]:
    return part.read_roots, part.written_roots


def test_a_nest_is_divided_where_other_loops_come() -> None:
    nest, x, y = chain()
    parts = StripMined(nest).parts
    assert [part.callee is None for part in parts] == [True, False, True, False, True]
    assert roots(parts[0])[0] == {x.root}
    assert roots(parts[-1])[1] == {y.root}
    for before, part in itertools.pairwise(parts):
        assert roots(part)[0] == roots(before)[1]


def test_a_loop_writes_its_result_itself_where_it_can() -> None:
    nest, _, y = chain()
    parts = StripMined(nest, {y}).parts
    assert [part.callee is None for part in parts] == [True, False, True, False]
    assert parts[-1].writes[0][1] is y


def test_what_is_read_too_is_written_last() -> None:
    nest, x, _ = chain()
    nest.writes = [(nest.ops.index(nest.ops[0]), x)]
    nest.write(3, ref())
    parts = StripMined(nest, {x}).parts
    assert [x.root in part.written_roots for part in parts] == [False] * 4 + [True]


def test_what_nobody_needs_is_not_called() -> None:
    nest, _, _ = chain()
    nest.writes = [(0, ref())]
    (part,) = StripMined(nest).parts
    assert part.callee is None


def test_a_number_is_given_to_another_loop_in_a_buffer() -> None:
    nest, x, y = LoopNest(SHAPE), ref(), ref()
    beta = found(special.beta, DOUBLE, DOUBLE, DOUBLE)
    two = Literal.of(2.0, DOUBLE)
    nest.write(nest.op(beta, (DOUBLE,) * 3, nest.read(x), two), y)
    ours, theirs = StripMined(nest, {y}).parts
    assert ours.writes == [(two, theirs.reads[1])]
    assert theirs.reads[0] == x


def test_a_reduction_ends_the_stage_in_which_its_operand_is_there() -> None:
    nest, _, _ = chain()
    total = MemRef(Value(np.ndarray, (), DOUBLE, ()), 0, SHAPE, (0,), DOUBLE)
    nest.reductions.append(Reduction(np.add, 2, total))
    parts = StripMined(nest).parts
    assert [bool(part.reductions) for part in parts] == [False, False, True, False, False]


def test_buffers_are_apart_as_long_as_they_are_needed() -> None:
    nest, _, _ = chain()
    stages = StripMined(nest)
    offsets, size = stages.settled(100)
    assert len(offsets) == 4
    assert len(set(offsets.values())) == 2  # one loop's operand and result at a time
    assert size == 2 * 832  # 800 bytes, by whole lines of the cache
    assert max(offsets.values()) == 832


def test_more_buffers_make_shorter_blocks() -> None:
    nest, x = LoopNest(SHAPE), ref()
    gammaln = found(special.gammaln, DOUBLE, DOUBLE)
    values = [
        nest.op(gammaln, (DOUBLE,) * 2, nest.op(np.multiply, (DOUBLE,) * 3, nest.read(x), number))
        for number in (Literal.of(float(k), DOUBLE) for k in range(12))
    ]
    nest.write(values[0], ref())
    few = StripMined(nest).block()
    for value in values[1:]:
        nest.write(value, ref())
    many = StripMined(nest).block()
    assert LEAST <= many < few <= MOST
    assert StripMined(nest).settled(many)[1] <= 32 * 1024


def shaped(size: int) -> Array:
    return np.random.default_rng(size).uniform(0.1, 3.0, size)


def mixed(x: Array) -> Any:
    single = x.astype("f4")
    return (
        np.sum(special.gammaln(x) * np.exp(-x * x)),
        special.digamma(x) * 2,
        special.erf(x).astype("f4"),
        special.gammaln(single) + np.tanh(single),
        np.max(special.gammaln(special.gammaln(x) ** 2 + 1)),
        special.beta(x, 2.5),
    )


@pytest.mark.usefixtures("_library")
@pytest.mark.parametrize("size", [1, 2, 7, 64, 129, 1000, 2049, 5000, 100_003])
def test_values_of_any_length(size: int) -> None:
    agrees(mixed, shaped(size))


ROOM: dict[str, Callable[[Array], Any]] = {
    "over rows": lambda x: np.sum(special.gammaln(x), axis=1),
    "over columns": lambda x: np.sum(np.exp(special.erf(x)), axis=0),
    "over columns of a transposed one": lambda x: np.max(special.digamma(x.T), axis=0),
    "backwards with steps": lambda x: special.gammaln(x[::-1, ::3]) + 1,
    "a row and a column": lambda x: special.gammaln(x[:1]) * np.exp(special.erf(x[:, :1])),
    "a row repeated": lambda x: special.beta(x, np.exp(x[:1])),
    "a single element": lambda x: special.gammaln(np.sum(x)) + special.erf(x[0, 0]),
    "complex": lambda x: np.exp(x * 1j) * special.gammaln(x),
    "other dtypes": lambda x: (np.exp((x * 3).astype("i4")), special.expit(x > 1)),
    "several sums": lambda x: (np.sum(special.erf(x)), np.max(x), np.sum(x), np.any(x > 2.9)),
}


@pytest.mark.usefixtures("_library")
@pytest.mark.parametrize("name", ROOM)
@pytest.mark.parametrize("shape", [(40, 300), (3, 5000), (5000, 3), (1, 7)])
def test_values_in_any_space(name: str, shape: tuple[int, int]) -> None:
    agrees(ROOM[name], shaped(shape[0] * shape[1]).reshape(shape))


@pytest.mark.usefixtures("_library")
def test_gradients() -> None:
    agrees(ta.value_and_grad(lambda x: np.sum(np.tanh(x) * np.exp(-x * x))), shaped(30_000))
    agrees(ta.grad(lambda x: np.sum(special.gammaln(x) * special.digamma(x))), shaped(30_000))


@pytest.mark.parametrize("bits", [256, 128])
def test_values_and_gradients_with_narrower_registers(bits: int) -> None:
    with narrowed(bits):
        agrees(mixed, shaped(5000))
        for f in ROOM.values():
            agrees(f, shaped(12_000).reshape(40, 300))
        agrees(ta.value_and_grad(lambda x: np.sum(np.tanh(x) * np.exp(-x * x))), shaped(30_000))


@pytest.mark.parametrize("threads", [2, 3])
def test_each_thread_has_buffers_of_its_own(threads: int) -> None:
    x = shaped(200_003)
    compiled = ta.compile(mixed, engine="native", threads=threads)
    alone = ta.compile(mixed, engine="native")
    for _ in range(4):
        result, expected = compiled(x), alone(x)
    for mine, theirs in zip(result, expected, strict=True):
        assert mine.tobytes() == theirs.tobytes()


def agrees(f: Callable[[Array], Any], x: Array) -> None:
    """Assert that all ufuncs run natively, and that results are the same but for rounding."""
    compiled = ta.compile(f, engine="native")
    for _ in range(3):
        result = compiled(x)
    left = [step for step, _ in assembled(compiled.programs[0]).left]
    assert not [step for step in left if type(getattr(step, "function", None)) is np.ufunc]
    for found, expected in zip(flatten(result), flatten(f(x)), strict=True):
        assert found.dtype == expected.dtype
        eps = np.finfo(expected.dtype).eps if expected.dtype.kind in "fc" else 0
        least = 32 * eps * np.max(np.abs(expected))
        np.testing.assert_allclose(found, expected, rtol=32 * eps, atol=least)


def test_a_number_is_there_before_the_first_loop_that_reads_it() -> None:
    """The loop that comes later was captured first."""
    x = np.array([4.0 - 3j, 3.0 + 1j, 1.0 + 0j, -1.0 + 0j])
    found, expected = natively(lambda x: (np.minimum(x, x + 1) > 0, x > 0), x)
    assert [each.tolist() for each in found] == [each.tolist() for each in expected]
