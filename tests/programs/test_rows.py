"""Every row of the test table, captured at one point and replayed at others: the same bits."""

import zlib
from collections.abc import Callable
from typing import Any

import numpy as np

import tape_ad as ta
from tape_ad.naming import called
from tests.programs.bits import all_same, nearly_same, replayed
from tests.rules.checks import pairing
from tests.rules.grouping import for_each
from tests.rules.rows import ROWS
from tests.rules.table import Case, Row, cases

Array = Any

SMALL = 200
"""Up to how many entries a Jacobian is taken."""

ALIGNED: dict[str, str] = dict.fromkeys(
    ("logm", "logm_derivative"),
    "SciPy's own code gives other last digits when its operands lie elsewhere in memory",
)
"""Functions of which two eager calls on copies of the same arrays differ, and why."""

OPEN: set[str] = {"attend", "cross_entropy", "normalize", "softmax", "standardize"}
"""Functions with quick ways for plain arrays that are still to be noted as one call."""


def one_of(row: Row) -> Case:
    """Choose, by its name, one of the dtypes that a row is checked with elsewhere."""
    every = cases([row])
    return every[zlib.crc32(repr(row).encode()) % len(every)]


CASES = [one_of(row) for row in ROWS if called(row.function) not in OPEN]


def orders(case: Case) -> Callable[..., Any]:
    """Make the function of all operands that gives value, gradient, Jacobian and second order."""
    row, places = case.row, case.row.differentiable
    every = tuple(range(len(places)))
    values = row.apply(case.primals())
    weights, along = case.cotangents([np.asarray(value) for value in values]), case.tangents()
    size = sum(np.size(v) for v in values) * sum(v.size for v in case.leaves())
    with_jacobian = case.kind == "real" and size <= SMALL

    def function(*operands: Array) -> dict[str, Any]:
        def outputs(*leaves: Array) -> list[Array]:
            filled = list(operands)
            for place, leaf in zip(places, leaves, strict=True):
                filled[place] = leaf
            return row.apply(filled)

        slopes = ta.grad(lambda *leaves: pairing(weights, outputs(*leaves)), every)
        leaves = [operands[place] for place in places]
        return {
            "value": outputs(*leaves),
            "gradient": slopes(*leaves),
            "second": ta.grad(lambda *leaves: pairing(along, slopes(*leaves)), every)(*leaves),
            "jacobian": ta.jacobian(outputs, every)(*leaves) if with_jacobian else None,
        }

    return function


@for_each(CASES)
@np.errstate(all="ignore")
def test_replays_give_the_bits_of_eager_calls(case: Case) -> None:
    function, here = orders(case), case.primals()
    there = case.row.operands
    other = [x.sample(np.random.default_rng(7), v.dtype) for x, v in zip(there, here, strict=True)]
    same = nearly_same if called(case.row.function) in ALIGNED else all_same
    replayed(function, here, other, same=same)
