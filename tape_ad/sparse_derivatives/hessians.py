"""Sparse Hessians: products with one vector for each colour, from which every entry is read off."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from attrs import define, frozen

from tape_ad.rules.maps import Array
from tape_ad.sparse_derivatives.checks import as_pattern
from tape_ad.sparse_derivatives.colouring import star_colors
from tape_ad.sparse_derivatives.dependencies import dependencies
from tape_ad.sparse_derivatives.derivatives import SparseDerivative
from tape_ad.sparse_derivatives.flat_functions import FlatFunction
from tape_ad.sparse_derivatives.jacobians import unit_sums
from tape_ad.sparse_derivatives.matrices import rows_of_entries, symmetric
from tape_ad.transforms.gradients import grad
from tape_ad.transforms.tracing import as_argnums, check_callable, chosen, trace

__all__ = ["SparseHessian", "sparse_hessian"]

Function = Callable[..., Any]
Sparse = Any


def sparse_hessian(
    f: Function,
    argnums: int | Iterable[int] = 0,
    pattern: Any = None,
    *,
    check: bool = False,
) -> "SparseHessian":
    """Make the function that computes a Hessian of which most entries are zero.

    The first call finds the pattern of the gradient's Jacobian, and colours it so that each entry,
    or the one on the other side of the diagonal, is the only one of its colour in its row. Later
    calls record the gradient and sweep once, with as many seeds as there are colours.

    Parameters
    ----------
    f : callable
        A function of real arrays or trees of them, which returns one real number.
    argnums : int or iterable of int
        The positional arguments to differentiate with respect to.
    pattern : array_like or sparse array, optional
        Where entries may be other than zero, on one side of the diagonal at least, if that is
        known; it is not found then.
    check : bool
        Compare each result with a product along a random direction, and raise if an entry is
        outside the pattern. It costs one more sweep.

    Returns
    -------
    SparseHessian
        Called with the arguments of `f`, it returns a symmetric `scipy.sparse.csr_array` with a
        row and a column for each element of the arguments, the arrays of a tree one after another.
        It has ``.pattern``, ``.colors`` and ``.explain()``.

    Raises
    ------
    OutputError
        By the returned function, when `f` does not return one real number, or for complex
        arguments.
    PatternError
        By the returned function, when a pattern that was given does not fit, or with `check` when
        it lacks an entry.

    Examples
    --------
    >>> hessian = sparse_hessian(lambda x: np.sum(x[1:] * x[:-1] ** 2))
    >>> hessian(np.arange(4.0)).toarray()
    array([[2., 0., 0., 0.],
           [0., 4., 2., 0.],
           [0., 2., 6., 4.],
           [0., 0., 4., 0.]])
    >>> hessian.colors
    3
    """
    check_callable("sparse_hessian", f)
    given = as_pattern(pattern)
    if given is not None and given.shape[0] == given.shape[1]:
        given = symmetric(given)
    return SparseHessian(f, as_argnums(argnums), given, check)


@frozen(eq=False)
class Symmetric:
    """Products with a vector for each colour.

    Attributes
    ----------
    seeds : array, shape (colours, n)
        Each a sum of the unit vectors of one colour.
    read_at : array of int
        For each entry, the place of the colour and the row that it is read at among all products,
        one behind the other.
    """

    seeds: Array
    read_at: Array

    @property
    def count(self) -> int:
        """The number of seeds, one for each colour."""
        return len(self.seeds)

    def entries(self, flat: FlatFunction) -> Array:
        """Sweep, and read each entry off."""
        if not self.count:
            return np.zeros(0, flat.dtype)
        return flat.pulled(self.seeds).reshape(-1)[self.read_at]

    def explain(self) -> str:
        """Describe how many seeds there are."""
        return f"{self.count} products with the Hessian"


@define(eq=False, repr=False)
class SparseHessian(SparseDerivative):
    """A function that computes a sparse Hessian, made by `sparse_hessian`."""

    def traced(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> FlatFunction:
        """Record the gradient of the function at a point."""
        gradient = grad(self.function, self.argnums)
        return FlatFunction(trace(gradient, args, kwargs, chosen(self.argnums, args)))

    def found(self, flat: FlatFunction) -> Sparse:
        """Find what the gradient depends on."""
        return symmetric(dependencies(flat))

    def way(self, pattern: Sparse) -> Symmetric:
        """Colour the vertices of the graph, and choose for each entry where to read it."""
        colors = star_colors(pattern)
        rows, columns = rows_of_entries(pattern), pattern.indices
        low, high = np.minimum(rows, columns), np.maximum(rows, columns)
        count = int(colors.max(initial=-1)) + 1
        seen, times = np.unique(rows * count + colors[columns], return_counts=True)
        alone = times[np.searchsorted(seen, low * count + colors[high])] == 1
        row, column = np.where(alone, low, high), np.where(alone, high, low)
        return Symmetric(unit_sums(colors), colors[column] * len(colors) + row)
