"""Products with what is known when a program is simplified."""

from typing import Any

import numpy as np

from tape_ad.programs.passes.rewriting import Rewriting, Rule
from tape_ad.programs.program.program import Call, Value
from tape_ad.rules.maps.matrix_products import one_in_each, scaled_rows, times_matrix

__all__ = ["UNIT_ROWS"]


def scale_by_unit_rows(call: Call, rewriting: Rewriting) -> Call | None:
    """Write a product of known unit vectors, as a Jacobian starts with, as what it picks."""
    if len(call.args) != 2 or call.kwargs:
        return None
    rows, right = call.args
    known = rewriting.literals.get(rows) if type(rows) is Value else None
    if type(known) is not np.ndarray or type(right) is not Value or right.kind is not np.ndarray:
        return None
    found = one_in_each(known) if known.ndim == len(right.shape) == 2 else None
    if found is None:
        return None
    factors, columns = found
    begin = int(columns[0])
    if (columns != np.arange(begin, begin + len(columns))).any():
        return None
    args = (rows, right, factors, begin)
    return Call(scaled_rows, args, {}, call.outputs, errors=call.errors)


UNIT_ROWS: dict[Any, Rule] = {times_matrix: scale_by_unit_rows}
"""What finds products that only scale the rows of a matrix, for arrays that nobody can change."""
