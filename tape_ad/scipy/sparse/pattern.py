"""Where the elements of a sparse array are, of which a handle holds the values."""

from typing import Any

import numpy as np
import scipy.sparse
from attrs import frozen

from tape_ad.extend.arrays import Array
from tape_ad.extend.maps import Gather

__all__ = ["Pattern", "coordinates", "merged"]


@frozen(eq=False)
class Pattern:
    """Where the elements of a sparse matrix are.

    Attributes
    ----------
    rows, columns : array of int, shape (nnz,)
    shape : tuple of int
    """

    rows: Array
    columns: Array
    shape: tuple[int, int]

    def transposed(self) -> "Pattern":
        """Give the pattern of the transpose."""
        return Pattern(self.columns, self.rows, (self.shape[1], self.shape[0]))

    def matrix(self, data: Array) -> Any:
        """Make SciPy's matrix of plain elements; SuperLU takes indices of few bits."""
        few = np.intc if max(self.shape) < np.iinfo(np.intc).max else np.intp
        rows, columns = self.rows.astype(few), self.columns.astype(few)
        return scipy.sparse.csc_array((data, (rows, columns)), shape=self.shape)

    def times(self, data: Array, x: Array) -> Array:
        """Multiply the matrix with elements `data` by matrices, shape (..., n, k)."""
        m, n = self.shape
        products = data[..., :, None] * Gather(-2, self.columns, n).push(x)
        return Gather(-2, self.rows, m).pull(products)

    def gradient(self, g: Array, x: Array) -> Array:
        """Compute the gradient of <g, M x> by the elements of M."""
        m, n = self.shape
        outer = Gather(-2, self.rows, m).push(g) * Gather(-2, self.columns, n).push(x).conjugate()
        return np.add.reduce(outer, axis=-1)

    def places(self) -> Array:
        """Number the places, row by row."""
        return self.rows.astype(np.intp) * self.shape[1] + self.columns

    def positions(self, layout: str = "coo", first: int = 1) -> Any:
        """Make SciPy's array of the elements' numbers, which stand for them where they move."""
        numbers = np.arange(first, first + len(self.rows))
        made = scipy.sparse.coo_array((numbers, (self.rows, self.columns)), shape=self.shape)
        return made.asformat(layout)

    @classmethod
    def of(cls, matrix: Any) -> "Pattern":
        """Tell where a matrix of SciPy's has the elements of ``matrix.tocoo().data``."""
        rows, columns = coordinates(matrix)
        return cls(rows, columns, matrix.shape)


def coordinates(matrix: Any) -> tuple[Array, Array]:
    """Give the rows and columns of a matrix of coordinates, which SciPy names in two ways."""
    whole = matrix.tocoo()
    return whole.coords if hasattr(whole, "coords") else (whole.row, whole.col)


def merged(data: Array, pattern: Pattern) -> tuple[Array, Pattern]:
    """Add up the elements that are at the same place, and sort them row by row."""
    places, which = np.unique(pattern.places(), return_inverse=True)
    rows, columns = np.divmod(places, max(pattern.shape[1], 1))
    total = Gather(-1, which, len(places)).pull(data)
    return total, Pattern(rows, columns, pattern.shape)
