"""Colours for sparse matrices: what has one colour is computed by one sweep and told apart after.

A pattern is a boolean `scipy.sparse.csr_array`. Gebremedhin, Manne & Pothen, "What color is your
Jacobian? Graph coloring for computing derivatives", SIAM Review 47 (2005), is the survey that the
names are from.
"""

from tape_ad.sparse_derivatives.colouring.columns import column_colors, row_colors
from tape_ad.sparse_derivatives.colouring.split import Split, least_split, split_colors
from tape_ad.sparse_derivatives.colouring.stars import star_colors

__all__ = ["Split", "column_colors", "least_split", "row_colors", "split_colors", "star_colors"]
