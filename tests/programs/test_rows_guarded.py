"""Every row of the test table: shapes and dtypes that its program takes for granted are guarded."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from attrs import evolve

import tape_ad as ta
from tape_ad.base.naming import called
from tape_ad.programs.program import Call, Guard, Program, Value, replaced
from tape_ad.programs.replay.capturing import capture
from tape_ad.programs.replay.verifying import Arguments
from tests.programs.comparing import counting
from tests.programs.test_rows import CASES, UNCAPTURED, Checked, name_of, orders, refused_copies
from tests.rules.grouping import for_each

Array = Any


def with_tie(x: Array) -> Array:
    return np.full_like(x, x.flat[0]) if x.size else x


def with_first_negative(x: Array) -> Array:
    return np.where(np.arange(x.size).reshape(x.shape) == 0, -x, x).astype(x.dtype)


CHANGES: dict[str, Callable[[Array], Array]] = {
    "0": np.zeros_like,
    "nan": lambda x: np.full_like(x, np.nan),
    "ties": with_tie,
    "a negative number": with_first_negative,
    "the other sign": np.negative,
}
"""What is done to the operands between a capture and a replay."""


@for_each([one for one in CASES if name_of(one) not in UNCAPTURED], by=name_of)
@np.errstate(all="ignore")
@pytest.mark.filterwarnings("ignore")  # NumPy's, of nan and of what cannot be fitted
def test_shapes_and_dtypes_that_depend_on_values_are_guarded(one: Checked) -> None:
    operands = one.operands(0)
    with refused_copies(one):
        program = captured(orders(evolve(one, orders=set())), operands)
        look(program, operands)


def look(program: Program, operands: Sequence[Array]) -> None:
    for name, change in CHANGES.items():
        others = [change(x) if x.dtype.kind in "fc" else x for x in operands]
        assert not list(surprises(program, others)), name


def captured(function: Callable[..., Any], operands: Sequence[Array]) -> Program:
    names = [f"x{place}" for place in range(len(operands))]
    given = Arguments(tuple(operands), {}, operands)
    program, _, _ = capture(function, "it", given, names, [])
    return program


def surprises(program: Program, inputs: Sequence[Array]) -> Iterator[str]:
    """Run a program up to a guard that fails, and say which values are not what it says."""
    values: dict[Value, Any] = dict(zip(program.inputs, inputs, strict=True))
    values |= {constant.value: constant.data for constant in program.constants}
    found: dict[Value, str] = {}
    for step in program.steps:
        if isinstance(step, Guard):
            if step.question(values[step.value]) != step.answer:
                return
            continue
        yield from found.values()  # no guard stood between this call and the last one
        try:
            outs = outputs_of(step, values)
        except Exception:  # eager raises it as well
            return
        if any(out is None for out in outs):  # eager has none either, as there is no such moment
            return
        values |= zip(step.outputs, outs, strict=True)
        found = {
            value: f"{called(step.function)} gives {out.dtype}{out.shape} in place of {value}"
            for value, out in zip(step.outputs, outs, strict=True)
            if value.dtype is not None and (out.shape, out.dtype) != (value.shape, value.dtype)
        }
    yield from found.values()


def outputs_of(call: Call, values: dict[Value, Any]) -> Sequence[Any]:
    with np.errstate(**(call.errors or {})):
        out = call.function(*replaced(call.args, values), **replaced(call.kwargs, values))
    return out if call.several else (out,)


# Some of them, from the outside


def mean_of_values(function: Callable[..., Any]) -> Callable[..., Any]:
    """Take the mean of what a function gives of a handle."""
    return lambda x: np.mean(function(ta.ComputationRecord().tensor(x))).data


POINTS = [np.array(x) for x in ([1.0, 2.0, 5.0], [3.0, 2.0, 5.0], [1.0, 1.0, 2.0], [5.0, 5.0, 5.0])]


@pytest.mark.parametrize(
    "function",
    [
        *(np.unique, np.unique_values, lambda x: np.unique_counts(x).values),
        *(lambda x: np.intersect1d(x, [2.0, 5.0]), lambda x: np.union1d(x, [2.0])),
    ],
)
def test_the_mean_of_distinct_values_follows_their_number(function: Callable[..., Any]) -> None:
    mean = mean_of_values(function)
    fast, _ = counting(mean)
    for point in (*POINTS[:2] * 2, *POINTS[2:] * 3, *POINTS[:2]):
        assert fast(point) == mean(point)


def test_native_code_follows_their_number_too() -> None:
    pytest.importorskip("llvmlite")
    mean = mean_of_values(lambda x: np.exp(np.unique(np.exp(x))))
    fast, _ = counting(mean, engine="native")
    for point in (*POINTS[:2] * 2, *POINTS[2:] * 3, *POINTS[:2]):
        assert np.isclose(fast(point), mean(point), rtol=1e-14)
    assert "    native: " in fast.explain()


def test_a_gradient_through_distinct_values_is_captured_for_each_number_of_them() -> None:
    gradient = ta.grad(lambda x: np.sum(np.unique(x) * np.arange(1.0, np.unique(x).size + 1)))
    fast, runs = counting(gradient)
    for point in POINTS * 4:
        assert np.array_equal(fast(point), gradient(point))
    assert len(runs) == 6  # two captures for each of three numbers


def test_a_square_root_may_become_complex() -> None:
    fast, _ = counting(lambda a: ta.scipy.linalg.sqrtm(a) + 1.0)
    positive, negative = np.diag([1.0, 4.0]), np.diag([-1.0, 4.0])
    for a in (*[positive] * 3, *[negative] * 3, positive):
        assert np.allclose(fast(a), ta.scipy.linalg.sqrtm(a) + 1.0)
        assert fast(a).dtype == ta.scipy.linalg.sqrtm(a).dtype
