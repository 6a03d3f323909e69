"""Random programs made of the rows of the test table, with reuse and diamonds.

A row is called on its own operands, each of them moved a little by a value of the program: so
whatever the values are, every function is met inside of its domain and away from its kinks. What
joins the rows is written with operators and methods, so that a program runs on handles, on plain
arrays and on another library's arrays.
"""

import functools
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from attrs import frozen
from hypothesis import strategies as st

from tests.rules.rows import ROWS
from tests.rules.table import Case, Row

__all__ = ["Step", "cases_by_function", "every_kind", "programs", "run"]

Array = Any

SINGLE = {"f": np.float32, "c": np.complex64}


@frozen
class Step:
    """One call of a program.

    Attributes
    ----------
    case : Case
        The row, and whether it is called on real or on complex numbers.
    operands : tuple of int
        Which values its operands take turns in being moved by, counted back from the last one.
    """

    case: Case
    operands: tuple[int, ...]


def every_kind(row: Row) -> Sequence[str]:
    """List the dtypes that a row takes."""
    return ("real", "complex") if row.complex else ("real",)


def is_usable(row: Row) -> bool:
    """Tell whether a row has operands to move, all of them with elements."""
    sizes = [np.prod(row.operands[i].shape, dtype=int) for i in row.differentiable]
    return 0 < len(sizes) < 4 and min(sizes) > 0


def cases_by_function(choose: Callable[[Row], Sequence[str]]) -> list[list[Case]]:
    """List for each function the cases of its rows, with the dtypes that are chosen for each."""
    by_function: dict[Any, list[Case]] = defaultdict(list)
    for row in filter(is_usable, ROWS):
        by_function[row.function] += [Case(row, kind) for kind in choose(row)]
    return [cases for cases in by_function.values() if cases]


def programs(choose: Callable[[Row], Sequence[str]], steps: int) -> st.SearchStrategy[list[Step]]:
    """Make a strategy for programs of some steps; each function is as likely as any other.

    Parameters
    ----------
    choose : callable
        ``choose(row)`` lists the dtypes to call it with: "real", "complex", both or none.
    steps : int
        The largest number of them.
    """
    cases = st.sampled_from(cases_by_function(choose)).flatmap(st.sampled_from)
    operands = st.tuples(st.integers(0, 5), st.integers(0, 5))
    return st.lists(st.builds(Step, cases, operands), min_size=1, max_size=steps)


def moved(operand: Array, value: Array) -> Array:
    """Move an operand by at most 0.025, smoothly, in the precision and the dtype of the value."""
    flat = value.reshape(-1)
    picked = flat[np.arange(operand.size) % flat.size].reshape(operand.shape)
    if operand.dtype.kind != "c":
        picked = picked.real
    bounded = picked / (1 + (picked * picked.conj()).real)
    if value.dtype in SINGLE.values():
        operand = operand.astype(SINGLE[operand.dtype.kind])
    return operand + 0.05 * bounded


@functools.cache
def sizes(case: Case) -> list[float]:
    """Tell how large the outputs of a row are; 0 for one that is no number or has no elements."""
    with np.errstate(all="ignore"):
        outputs = case.row.apply(case.primals())
    return [
        1 + float(np.max(np.abs(out))) if out.dtype.kind in "fc" and np.size(out) else 0
        for out in outputs
    ]


EXTENDED = (np.dtype(np.longdouble), np.dtype(np.clongdouble))
"""What linear algebra does not take; sqrtm of SciPy 1.14 gives it where complex roots are real."""


def run(
    program: Sequence[Step],
    leaves: Sequence[Array],
    counterpart: Callable[[Row], Any] = lambda row: row.function,
) -> Array:
    """Run a program, and give a real number that depends on every value in it.

    Parameters
    ----------
    program : list of Step
    leaves : list of array
    counterpart : callable, optional
        ``counterpart(row)`` gives another library's function in the place of the row's.
    """
    values = list(leaves)
    for step in program:
        case, operands = step.case, step.case.primals()
        for turn, position in enumerate(case.row.differentiable):
            value = values[-1 - step.operands[turn % 2] % len(values)]
            operands[position] = moved(operands[position], value)
        outputs = case.row.apply(operands, counterpart(case.row))
        values += [
            out / size
            for out, size in zip(outputs, sizes(case), strict=True)
            if size > 0 and out.dtype not in EXTENDED
        ]
    return sum(weighted(value) for value in values)


def weighted(value: Array) -> Array:
    """Add up the elements of an array, of both parts of it, each with a weight of its own."""
    flat = value.reshape(-1)
    weights = np.cos(np.arange(flat.size, dtype=float))
    imaginary = (flat.imag * weights[::-1]).sum() if value.dtype.kind == "c" else 0.0
    return (flat.real * weights).sum() + imaginary
