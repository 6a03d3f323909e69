"""Python's own numbers: native results are Python's, or are told to be none."""

import operator
from typing import Any

import numpy as np
import pytest

pytest.importorskip("llvmlite")

from tape_ad.programs.engines.native.codegen.elementwise import (
    FAILURES,
    Failing,
    can_lower,
    lowered,
)
from tape_ad.programs.engines.native.codegen.ir_builder import BOOL, IRBuilder, VectorValue
from tape_ad.programs.engines.native.codegen.vectors import LIBMVEC
from tests.programs.native.looping import looped
from tests.programs.native.numbers import drawn

DTYPES = {"f": np.dtype(np.float64), "i": np.dtype(np.int64)}
BOUNDS = np.iinfo(np.int64)
CALLS = [(kind, function) for kind, table in FAILURES.items() for function in table]
ONE_OPERAND = {operator.neg, operator.pos, operator.abs, operator.invert}
FAILED = object()


def result_of(function: Any, args: Any, kind: type) -> Any:
    """Call a function of Python's numbers; give what stands for a failure where it has one."""
    try:
        found = function(*args)
    except (ZeroDivisionError, OverflowError):
        return FAILED
    if type(found) is int and not BOUNDS.min <= found <= BOUNDS.max:
        return FAILED
    return found if type(found) in {kind, bool, float} else FAILED


def same(one: Any, other: Any) -> bool:
    return type(one) is type(other) and (repr(one) == repr(other))


@pytest.mark.parametrize(("kind", "function"), CALLS)
def test_results_are_pythons_or_failures(kind: str, function: Any) -> None:
    count = 1 if function in ONE_OPERAND else 2
    given = [DTYPES[kind]] * count
    operands = drawn(given, np.random.default_rng(0))
    sample = function(*[type(operands[0].item(0))(1)] * count)
    dtypes = [*given, np.dtype(type(sample))]
    assert can_lower(function, tuple(dtypes), LIBMVEC)

    def fails(builder: IRBuilder, *args: VectorValue) -> VectorValue:
        result = lowered(builder, function, dtypes, args)
        return lowered(builder, Failing(function), [*dtypes, BOOL], [*args, result])

    flags = looped(fails, [*given, BOOL], 1)(*operands)
    got = looped(lambda e, *args: lowered(e, function, dtypes, args), dtypes, 1)(*operands)
    for place in range(got.size):
        args = [x[place].item() for x in operands]
        wanted = result_of(function, args, type(args[0]))
        assert flags[place] or same(got[place].item(), wanted), args
    assert np.mean(flags) < 0.8


@pytest.mark.parametrize("dtype", [*DTYPES.values(), np.dtype(bool), np.dtype(complex)])
def test_a_function_that_is_not_known_is_left_to_python(dtype: Any) -> None:
    assert not can_lower(Failing(operator.matmul), (dtype, dtype, dtype, BOOL), LIBMVEC)
