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
)
from tests.rules.table import Row

__all__ = ["CONSTANTS", "ROWS"]

FILES = (
    rows_activations,
    rows_einsum,
    rows_elementwise,
    rows_indexing,
    rows_joining,
    rows_products,
    rows_reductions,
    rows_shaping,
)

ROWS: list[Row] = [row for file in FILES for row in file.ROWS]
CONSTANTS: list[Row] = [row for file in FILES for row in file.CONSTANTS]
