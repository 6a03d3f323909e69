"""Sparse derivatives for SciPy's solvers, and for others that take rows, columns and values."""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.optimize
from attrs import frozen

from tape_ad import sparse_hessian, sparse_jacobian
from tape_ad.base.errors import PatternError, UnsupportedArgumentError
from tape_ad.extend.arrays import Array, any_handle, is_number_like
from tape_ad.extend.solvers import check_callable
from tape_ad.extend.trees import flatten, vector_of
from tape_ad.scipy.optimize.objectives import ScipyObjective, in_a_row

__all__ = ["Structure", "fitted_over_tree", "structure"]

Function = Callable[..., Any]
Sparse = Any


SMALL = 100, 1_000_000
"""Up to how many unknowns, and entries, a Jacobian is a dense array, with which SciPy takes exact
steps; with a sparse one it iterates."""

KNOWN = frozenset({"sparse", "2-point", "3-point"})


def fitted_over_tree(
    fun: Function,
    x0: Any,
    jac: Any,
    bounds: Any,
    args: tuple[Any, ...],
    kwargs: Any,
    **options: Any,
) -> Any:
    """Fit parameters in a nested structure, or with a sparse Jacobian, by `least_squares`.

    Raises
    ------
    UnsupportedArgumentError
        For handles among the arguments.
    ValueError
        For a `jac` that there is not.
    """
    if not (jac is None or callable(jac) or (isinstance(jac, str) and jac in KNOWN)):
        raise ValueError(
            f"least_squares: with a tree, jac is 'sparse', '2-point', '3-point' or a function, or "
            f"left out for exact derivatives; not {jac!r}"
        )
    if any_handle((x0, args, kwargs)):
        raise UnsupportedArgumentError(
            "least_squares: with a tree, or with jac='sparse', nothing is differentiated through "
            "the fit; give x0 as one array, and leave jac out, for derivatives by the arguments"
        )

    def residuals(tree: Any) -> Any:
        return fun(tree, *args, **kwargs)

    packed = ScipyObjective(residuals, x0)
    slopes: Any = jac
    if callable(jac):

        def slopes(x: Array) -> Array:
            return jac(packed.tree(x), *args, **kwargs)

    elif jac in {None, "sparse"}:
        exact = sparse_jacobian(residuals, pattern=options.pop("jac_sparsity", None))
        asked = options.get("method") == "lm" or options.get("tr_solver") == "exact"

        def slopes(x: Array) -> Array:
            found = exact(packed.tree(x))
            return found.toarray() if jac is None and (asked or is_small(found)) else found

    result = scipy.optimize.least_squares(
        lambda x: flat(residuals(packed.tree(x))),
        packed.x0,
        slopes,
        bounds=ends(bounds, x0),
        **options,
    )
    result.x = packed.tree(result.x)
    return result


def is_small(matrix: Sparse) -> bool:
    """Tell whether a Jacobian is worth no sparse steps."""
    unknowns, entries = SMALL
    rows, columns = matrix.shape
    return bool(columns <= unknowns and rows * columns <= entries)


def flat(tree: Any) -> Array:
    """Put the numbers of a tree into one vector, in the order of a sparse Jacobian's rows."""
    return vector_of([np.asarray(leaf) for leaf in flatten(tree) if is_number_like(leaf)])


def ends(bounds: Any, x0: Any) -> Any:
    """Take bounds like a tree, with a pair in place of each array, to SciPy's pair of vectors."""
    pairs = in_a_row(bounds, x0)
    if pairs is bounds:
        return bounds
    lower, upper = zip(*pairs, strict=True)
    return (
        [-np.inf if bound is None else bound for bound in lower],
        [np.inf if bound is None else bound for bound in upper],
    )


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
