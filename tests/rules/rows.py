"""Every row of the test table, from the files that mirror `tape_ad.rules`."""

from tests.rules import (
    rows_activations,
    rows_convolution,
    rows_decompositions,
    rows_einsum,
    rows_elementwise,
    rows_fft,
    rows_indexing,
    rows_joining,
    rows_linalg,
    rows_matrices,
    rows_norms,
    rows_polynomials,
    rows_products,
    rows_reductions,
    rows_scipy_linalg,
    rows_shaping,
    rows_sparse,
    rows_special,
    rows_special_gamma,
    rows_specials_numpy,
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
    *rows_convolution.ROWS,
    *rows_polynomials.ROWS,
    *rows_fft.ROWS,
    *rows_sparse.ROWS,
    *rows_scipy_linalg.ROWS,
    *rows_matrices.ROWS,
    *rows_linalg.ROWS,
    *rows_decompositions.ROWS,
    *rows_norms.ROWS,
    *rows_specials_numpy.ROWS,
    *rows_special.ROWS,
    *rows_special_gamma.ROWS,
    *rows_activations.ROWS,
]

CONSTANTS: list[Row] = [
    *rows_elementwise.CONSTANTS,
    *rows_reductions.CONSTANTS,
    *rows_shaping.CONSTANTS,
    *rows_einsum.CONSTANTS,
    *rows_linalg.CONSTANTS,
    *rows_decompositions.CONSTANTS,
    *rows_special.CONSTANTS,
]

FILLED: list[Row] = [*rows_shaping.FILLED]
