"""Random programs over the whole table: central differences, both modes, second order, dtypes."""

import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tape_ad as ta
from tape_ad.record.sweeps import forward_sweep, reverse_sweep
from tests.rules.checks import central_difference, gradients, magnitude, pairing
from tests.rules.programs import Step, cases_by_function, every_kind, programs, run
from tests.rules.table import Case, normal
from tests.sampling import some

Array = Any

pytestmark = pytest.mark.usefixtures("memory_used_again")

EXAMPLES = settings(
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)

SHAPES = [(), (1,), (3,), (2, 3), (2, 1, 2)]
DTYPES = ["f8", "c16", "f4", "c8"]


FUNCTIONS = cases_by_function(every_kind)

table_programs = programs(every_kind, 5)
seeds = st.integers(0, 2**16)
double_leaves = st.lists(
    st.tuples(st.sampled_from(SHAPES), st.sampled_from(["f8", "c16"])), min_size=1, max_size=3
)
any_leaves = st.lists(
    st.tuples(st.sampled_from(SHAPES), st.sampled_from(DTYPES)), min_size=1, max_size=3
)


def draw(rng: np.random.Generator, kinds: Sequence[tuple[Any, str]]) -> list[Array]:
    return [normal(rng, shape, dtype) for shape, dtype in kinds]


def check_gradients(program: Sequence[Step], values: list[Array], along: list[Array]) -> None:
    """Compare the gradients of a program with central differences along a direction."""
    record: Any = ta.ComputationRecord()
    leaves = record.bind(values)
    found = pairing(gradients(run(program, leaves), leaves), along)
    (expected,) = central_difference(lambda at: [run(program, at)], values, along)
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-8)


@settings(EXAMPLES, max_examples=200)
@given(table_programs, double_leaves, seeds)
def test_gradients_are_central_differences(
    program: list[Step], kinds: list[tuple[Any, str]], seed: int
) -> None:
    rng = np.random.default_rng(seed)
    check_gradients(program, draw(rng, kinds), draw(rng, kinds))


@pytest.mark.parametrize("cases", some(FUNCTIONS, 12), ids=lambda cases: str(cases[0]))
def test_every_function_between_two_others(cases: list[Case]) -> None:
    rng = np.random.default_rng(zlib.crc32(f"{cases[0]}".encode()))
    kinds = [((2, 3), "f8"), ((3,), "c16")]
    before, after = (FUNCTIONS[i][0] for i in rng.integers(len(FUNCTIONS), size=2))
    for case in (cases[0], cases[-1]):
        program = [Step(before, (0, 1)), Step(case, (1, 0)), Step(after, (0, 2))]
        check_gradients(program, draw(rng, kinds), draw(rng, kinds))


@settings(EXAMPLES, max_examples=200)
@given(table_programs, any_leaves, st.sampled_from([(), (2,), (2, 2)]), seeds)
def test_forward_and_reverse_sweeps_are_adjoint_in_mixed_dtypes(
    program: list[Step], kinds: list[tuple[Any, str]], stack: tuple[int, ...], seed: int
) -> None:
    rng = np.random.default_rng(seed)
    record: Any = ta.ComputationRecord()
    leaves = record.bind(draw(rng, kinds))
    out = run(program, leaves)
    tangents = draw(rng, [(stack + shape, dtype) for shape, dtype in kinds])
    cotangent = normal(rng, stack, out.dtype)
    start = {leaf.index: t for leaf, t in zip(leaves, tangents, strict=True)}
    pushed = forward_sweep(record, start, out.index)[out.index]
    kept = reverse_sweep(record, out.index, cotangent)
    pulled = [kept[leaf.index] for leaf in leaves]
    difference = pairing([cotangent], [pushed]) - pairing(pulled, tangents)
    scale = 1 + magnitude([cotangent], [pushed]) + magnitude(pulled, tangents)
    single = any(dtype in {"f4", "c8"} for _, dtype in kinds)
    assert abs(difference) <= (1e-4 if single else 1e-12) * scale
    assert [p.dtype for p in pulled] == [leaf.dtype for leaf in leaves]
    assert [p.shape for p in pulled] == [stack + leaf.shape for leaf in leaves]


@settings(EXAMPLES, max_examples=100)
@given(programs(every_kind, 3), double_leaves, seeds)
def test_second_derivatives_are_symmetric_and_those_of_forward_over_reverse(
    program: list[Step], kinds: list[tuple[Any, str]], seed: int
) -> None:
    rng = np.random.default_rng(seed)
    values, u, v = draw(rng, kinds), draw(rng, kinds), draw(rng, kinds)
    outer: Any = ta.ComputationRecord()
    leaves = outer.bind(values)
    handles: Any = ta.ComputationRecord(within=outer).bind(leaves)
    first = run(program, handles).grad().wrt(handles)
    along_u, along_v = pairing(first, u), pairing(first, v)
    u_h_v, v_h_u = (
        pairing(gradients(along, leaves), d) for along, d in ((along_u, v), (along_v, u))
    )
    np.testing.assert_allclose(u_h_v, v_h_u, rtol=1e-8, atol=1e-9)
    if isinstance(along_u, ta.Tensor):
        tangents = {leaf.index: d for leaf, d in zip(leaves, v, strict=True)}
        pushed = forward_sweep(outer, tangents, along_u.index).get(along_u.index, 0.0)
        np.testing.assert_allclose(u_h_v, pushed, rtol=1e-8, atol=1e-9)
