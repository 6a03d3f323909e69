"""Sparse Jacobians and Hessians: a pattern, colours, and one sweep of as many seeds as colours."""

from collections.abc import Callable, Iterable
from typing import Any, ClassVar

import numpy as np
from attrs import define, evolve, field

from tape_ad.base.naming import counted
from tape_ad.rules.maps import Array, Index
from tape_ad.sparse_derivatives.colouring import (
    Split,
    column_colors,
    least_split,
    row_colors,
    rows_of_entries,
    split_colors,
    star_colors,
    symmetric,
)
from tape_ad.sparse_derivatives.dependencies import (
    NONE,
    Dependencies,
    FlatFunction,
    dependencies,
    longest_column,
)
from tape_ad.sparse_derivatives.derivatives import SparseDerivative, Sweeps, as_pattern
from tape_ad.transforms.gradients import grad
from tape_ad.transforms.tracing import Transformed, as_argnums, check_callable, chosen, trace

Function = Callable[..., Any]
Sparse = Any


def sparsity(f: Function, argnums: int | Iterable[int] = 0) -> Function:
    """Make the function that finds which derivatives of a function may be other than zero.

    The pattern comes from the structure of the calls and never from values: a factor that happens
    to be 0 counts. It holds for all arguments for which the function makes the same calls and picks
    the same elements, as a median or an interpolation does by values.

    Parameters
    ----------
    f : callable
        A function of arrays or trees of them, which returns an array or a tree.
    argnums : int or iterable of int
        The positional arguments to differentiate with respect to.

    Returns
    -------
    callable
        It takes the arguments of `f`, and returns a `scipy.sparse.csr_array` of bools: a row for
        each element of the output and a column for each element of the arguments, the arrays of a
        tree one after another.

    Examples
    --------
    >>> sparsity(lambda x: x[1:] - x[:-1])(np.zeros(4)).toarray().astype(int)
    array([[1, 1, 0, 0],
           [0, 1, 1, 0],
           [0, 0, 1, 1]])
    """
    check_callable("sparsity", f)
    return Sparsity(f, as_argnums(argnums))


@define(eq=False, repr=False)
class Sparsity(Transformed):
    """The sparsity pattern that `sparsity` returns."""

    made_by: ClassVar[str] = "sparsity"
    argnums: int | tuple[int, ...]

    def __call__(self, /, *args: Any, **kwargs: Any) -> Sparse:
        """Find where entries may be other than zero."""
        traced = trace(self.function, args, kwargs, chosen(self.argnums, args))
        return dependencies(FlatFunction(traced))


def sparse_jacobian(
    f: Function,
    argnums: int | Iterable[int] = 0,
    mode: str = "auto",
    pattern: Any = None,
    *,
    check: bool = False,
) -> "SparseJacobian":
    """Make the function that computes a Jacobian of which most entries are zero.

    The first call finds the pattern and colours it: columns that have no row in common get one
    colour, and are computed by one tangent; or rows, by one cotangent, that have no copy of an
    element in common, as ``x[1:]`` is one and ``x[:-1]`` another. Later calls record the function
    and sweep once, with as many seeds as there are colours. Where the function has made other calls
    than before (another branch, other shapes or indices), the pattern is found anew.

    Parameters
    ----------
    f : callable
        A function of real arrays or trees of them, which returns an array or a tree.
    argnums : int or iterable of int
        The positional arguments to differentiate with respect to.
    mode : {"auto", "forward", "reverse", "both"}
        Push tangents of columns, pull cotangents of rows, or some entries this way and some that;
        "auto" takes the one with the fewest colours.
    pattern : array_like or sparse array, optional
        Where entries may be other than zero, if that is known; it is not found then.
    check : bool
        Compare each result with a product along a random direction, and raise if an entry is
        outside the pattern. It costs one more sweep.

    Returns
    -------
    SparseJacobian
        Called with the arguments of `f`, it returns a `scipy.sparse.csr_array` of shape
        (elements of the output, elements of the arguments), the arrays of a tree one after another.
        It has ``.pattern``, ``.colors`` and ``.explain()``.

    Raises
    ------
    OutputError
        By the returned function, for complex arguments or results.
    PatternError
        By the returned function, when a pattern that was given does not fit, or with `check` when
        it lacks an entry.

    Examples
    --------
    >>> jacobian = sparse_jacobian(lambda x: x[1:] ** 2 - x[:-1])
    >>> jacobian(np.arange(4.0)).toarray()
    array([[-1.,  2.,  0.,  0.],
           [ 0., -1.,  4.,  0.],
           [ 0.,  0., -1.,  6.]])
    >>> jacobian.colors
    1
    """
    check_callable("sparse_jacobian", f)
    if mode not in {"auto", *WAYS}:
        raise ValueError(f"mode is 'auto', 'forward', 'reverse' or 'both', not {mode!r}")
    return SparseJacobian(f, as_argnums(argnums), as_pattern(pattern), check, mode)


def forward(found: Dependencies) -> Split:
    """Compute all entries by forward sweeps."""
    none = np.full(found.pattern.shape[0], -1)
    return Split(none, column_colors(found.pattern), np.zeros(found.pattern.nnz, bool))


def reverse(found: Dependencies) -> Split:
    """Compute all entries by reverse sweeps, to the copies that a function makes of its inputs."""
    none = np.full(found.pattern.shape[1], -1)
    return Split(row_colors(found.on_copies), none, np.ones(found.pattern.nnz, bool))


def both(found: Dependencies) -> Split:
    """Compute some entries by forward sweeps, and some by reverse ones."""
    return split_colors(found.pattern)


WAYS: dict[str, Callable[[Dependencies], Split]] = {
    "forward": forward,
    "reverse": reverse,
    "both": both,
}

WORTH = 0.6
"""Another way is tried if it can have that many times as few colours as the best one found."""

BOTH = 2
"""So many colours it takes at least to compute entries both ways."""


def fewest(found: Dependencies) -> Split:
    """Colour the columns, the rows or both, whichever takes the fewest colours.

    A way takes at least as many as the entries of the longest row, or column, that it colours.
    """
    most_in_column = longest_column(found.on_copies)
    most_in_row = int(np.diff(found.pattern.indptr).max(initial=0))
    (_, first), (bound, second) = sorted(
        [(most_in_row, forward), (most_in_column, reverse)], key=lambda pair: pair[0]
    )
    best = first(found)
    if bound < WORTH * best.count:
        best = min(best, second(found), key=lambda split: split.count)
    worth = WORTH * best.count
    if worth > BOTH and least_split(found.pattern) < worth:
        best = min(best, both(found), key=lambda split: split.count)
    return best


def unit_sums(colors: Array) -> Array:
    """Add up the unit vectors of each colour."""
    return (np.arange(colors.max(initial=-1) + 1)[:, None] == colors).astype(float)


@define(eq=False, repr=False)
class SparseJacobian(SparseDerivative):
    """A function that computes a sparse Jacobian, made by `sparse_jacobian`."""

    mode: str = field(default="auto")

    def traced(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> FlatFunction:
        """Record the function at a point."""
        return FlatFunction(trace(self.function, args, kwargs, chosen(self.argnums, args)))

    def found(self, flat: FlatFunction) -> Dependencies:
        """Find what depends on what."""
        if self.mode == "forward":
            return Dependencies.direct(dependencies(flat))
        return Dependencies.through_copies(flat)

    def way(self, found: Dependencies) -> Sweeps:
        """Colour the columns, the rows or both; of those, what has the fewest colours."""
        split, pattern = WAYS.get(self.mode, fewest)(found), found.pattern
        pushed = ~split.pulled
        rows, columns = rows_of_entries(pattern)[pushed], pattern.indices[pushed]
        terms = found.terms()
        of_terms, copies, entries = (each[split.pulled[terms[-1]]] for each in terms)
        pulled, to = np.unique(entries, return_inverse=True)
        return Sweeps(
            unit_sums(split.column_colors),
            unit_sums(split.row_colors),
            split.column_colors[columns] * pattern.shape[0] + rows,
            split.row_colors[of_terms] * found.on_copies.shape[1] + copies,
            np.argsort(np.argsort(split.pulled, kind="stable")),
            found.places,
            added(to, len(pulled)) if len(pulled) < len(to) else None,
        )


def added(to: Array, count: int) -> Index:
    """Give the index whose pull adds terms up: to each of so many sums those that name it."""
    return Index((to,), (count,), to.shape, repeats=True)


def sparse_hessian(
    f: Function, argnums: int | Iterable[int] = 0, pattern: Any = None, *, check: bool = False
) -> "SparseHessian":
    """Make the function that computes a Hessian of which most entries are zero.

    The first call finds the pattern of the gradient's Jacobian, and colours it so that each entry,
    or the one on the other side of the diagonal, is the only one of its colour in its row; or it
    colours the rows as `sparse_jacobian` does, if that takes far fewer. Later calls record the
    gradient and sweep once, with as many seeds as there are colours.

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


class Products(Sweeps):
    """Sweeps of a gradient, whose cotangents are vectors that the Hessian is multiplied with.

    Entries on both sides of the diagonal are read at one place.
    """

    def entries(self, flat: FlatFunction) -> Array:
        """Sweep, and read each entry off."""
        pulled = self.pulled(flat)
        return pulled if self.sums is None else pulled[self.order]

    def explain(self) -> str:
        """Describe how many of them there are."""
        return f"{counted(self.count, 'product')} with the Hessian"


@define(eq=False, repr=False)
class SparseHessian(SparseDerivative):
    """A function that computes a sparse Hessian, made by `sparse_hessian`."""

    def traced(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> FlatFunction:
        """Record the gradient of the function at a point."""
        gradient = grad(self.function, self.argnums)
        return FlatFunction(trace(gradient, args, kwargs, chosen(self.argnums, args)))

    def found(self, flat: FlatFunction) -> Dependencies:
        """Find what the gradient depends on."""
        found = Dependencies.through_copies(flat)
        return evolve(found, pattern=symmetric(found.pattern))

    def way(self, found: Dependencies) -> Products:
        """Colour the vertices of the graph, or the rows if that takes far fewer colours."""
        colors, rows = star_colors(found.pattern), NONE
        if longest_column(found.on_copies) < WORTH * number_of(colors):
            rows = row_colors(found.on_copies)
        if found.places is not None and 0 < number_of(rows) < WORTH * number_of(colors):
            return products_on_copies(found, rows)
        return products(found.pattern, colors)


def number_of(colors: Array) -> int:
    """Count colours."""
    return int(colors.max(initial=-1)) + 1


def products(pattern: Sparse, colors: Array) -> Products:
    """Choose for each entry in which product, one for each colour of columns, to read it."""
    rows, columns = rows_of_entries(pattern), pattern.indices
    low, high, count = np.minimum(rows, columns), np.maximum(rows, columns), number_of(colors)
    seen, times = np.unique(rows * count + colors[columns], return_counts=True)
    alone = times[np.searchsorted(seen, low * count + colors[high])] == 1
    row, column = np.where(alone, low, high), np.where(alone, high, low)
    read_at = colors[column] * len(colors) + row
    return Products(unit_sums(NONE - 1), unit_sums(colors), NONE, read_at, NONE)


def products_on_copies(found: Dependencies, colors: Array) -> Products:
    """Read entries above the diagonal off where rows are pulled to; the others are the same.

    A row that is known not to depend on a column is that column's too.
    """
    pattern = found.pattern
    rows, columns, width = rows_of_entries(pattern), pattern.indices, pattern.shape[0]
    low, high = np.minimum(rows, columns), np.maximum(rows, columns)
    above = np.searchsorted(rows * width + columns, low * width + high)
    of_terms, copies, entries = found.terms()
    has = np.bincount(entries, minlength=pattern.nnz) > 0
    kept = (entries == above[entries]) | ~has[above[entries]]
    chosen, order = np.unique(above, return_inverse=True)
    return Products(
        unit_sums(NONE - 1),
        unit_sums(colors),
        NONE,
        colors[of_terms[kept]] * found.on_copies.shape[1] + copies[kept],
        order,
        found.places,
        added(np.searchsorted(chosen, above[entries[kept]]), len(chosen)),
    )
