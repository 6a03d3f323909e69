"""Sparse derivatives for solvers that take rows, columns and values."""

from collections.abc import Callable
from typing import Any

import numpy as np
from attrs import frozen

from tape_ad import sparse_hessian, sparse_jacobian
from tape_ad.base.errors import PatternError
from tape_ad.extend.arrays import Array
from tape_ad.extend.solvers import check_callable
from tape_ad.scipy.optimize.objectives import ScipyObjective

__all__ = ["Structure", "structure"]

Function = Callable[..., Any]


@frozen(eq=False)
class Structure:
    """A sparse matrix of derivatives as solvers take it: places once, values at each point.

    Attributes
    ----------
    rows, columns : array of int, shape (entries,)
        Where entries may be other than zero.
    shape : tuple of int
    values : callable
        ``values(x)`` gives the entries at a vector, shape (entries,).
    """

    rows: Array
    columns: Array
    shape: tuple[int, int]
    values: Callable[[Array], Array]


def structure(
    f: Function, x0: Any, *, args: tuple[Any, ...] = (), hessian: bool = False
) -> Structure:
    """Give a sparse Jacobian or Hessian in the form that interior-point solvers ask for.

    Parameters
    ----------
    f : callable
        ``f(x, *args)``, of an array or tree: constraints, which may be a tree, or with `hessian`
        one real number.
    x0 : array or tree of real arrays
        An example of its argument. The pattern is found there.
    args : tuple
        Further arguments.
    hessian : bool
        Whether second derivatives are asked for. Only the lower triangle is given then, as IPOPT
        takes it.

    Returns
    -------
    Structure
        Its ``values`` take the vector of all elements of the tree's arrays, one after another.

    Raises
    ------
    PatternError
        By ``values``, where the function makes other calls than at `x0`.

    Examples
    --------
    >>> jacobian = structure(lambda x: x[1:] * x[:-1], np.ones(3))
    >>> jacobian.rows, jacobian.columns
    (array([0, 0, 1, 1], dtype=int32), array([0, 1, 1, 2], dtype=int32))
    >>> jacobian.values(np.array([2.0, 3.0, 4.0]))
    array([3., 2., 4., 3.])
    """
    check_callable("structure", f)
    packed = ScipyObjective(f, x0, args)
    derivative: Any = sparse_hessian(f) if hessian else sparse_jacobian(f)
    found = derivative(packed.tree(packed.x0), *args)
    pattern = derivative.pattern
    rows, columns = (places.astype(np.int32) for places in pattern.tocoo().coords)
    kept = rows >= columns if hessian else np.ones(len(rows), bool)

    def values(x: Array) -> Array:
        matrix = derivative(packed.tree(np.asarray(x, float)), *args)
        if derivative.pattern is not pattern and (derivative.pattern != pattern).nnz:
            raise PatternError(
                "structure: the function made other calls here than at x0, and has other entries"
            )
        entries: Array = matrix.data[kept]
        return entries

    return Structure(rows[kept], columns[kept], found.shape, values)
