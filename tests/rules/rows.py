"""Every row of the test table, from the files that mirror `tape_ad.rules`."""

from tests.rules import (
    rows_activations,
    rows_einsum,
    rows_elementwise,
    rows_indexing,
    rows_joining,
    rows_products,
    rows_reductions,
    rows_shaping,
    rows_updates,
)
from tests.rules.table import Row

__all__ = ["CONSTANTS", "FILLED", "ROWS"]

ROWS: list[Row] = [
    *rows_elementwise.ROWS,
    *rows_reductions.ROWS,
    *rows_shaping.ROWS,
    *rows_indexing.ROWS,
    *rows_updates.ROWS,
    *rows_joining.ROWS,
    *rows_products.ROWS,
    *rows_einsum.ROWS,
    *rows_activations.ROWS,
]

CONSTANTS: list[Row] = [
    *rows_elementwise.CONSTANTS,
    *rows_reductions.CONSTANTS,
    *rows_shaping.CONSTANTS,
]

FILLED: list[Row] = [*rows_shaping.FILLED]
