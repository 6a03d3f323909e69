"""Functions that put sparse arrays together, of ours where a handle is among what they are given.

SciPy puts the elements' numbers together; see `arrays`.
"""

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from tape_ad.extend.arrays import Array, as_array, joined, refuse_handles
from tape_ad.extend.rules import takes_over
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.sparse.arrays import FORMATS, Pattern, SparseArray, made_in, sparse_of, taken

__all__ = ["REARRANGED", "find", "kron", "kronsum"]

Function = Callable[..., Any]


class Numbering:
    """Numbers the elements of all that a call is given, and keeps them."""

    def __init__(self) -> None:
        self.parts: list[Any] = []
        self.count = 1

    def of(self, elements: Array) -> int:
        """Keep elements, and give the number of the first."""
        first = self.count
        self.parts.append(elements.reshape(-1))
        self.count += elements.size
        return first

    def elements(self, dtype: Any) -> Array:
        """Return the stored elements of all blocks, in one array."""
        every = np.concatenate(self.parts)
        is_given = dtype is not None and type(dtype) is not object  # SciPy has one for no dtype
        return every.astype(dtype) if is_given else every

    def positions(self, given: Any) -> Any:
        """Give numbers in the place of the elements of an array, or of a tree of such."""
        given = sparse_of(given)
        if isinstance(given, SparseArray):
            numbers = given.pattern.positions(given.format, self.of(given.elements))
            matrix = getattr(scipy.sparse, f"{given.format}_matrix")
            return matrix(numbers) if given.is_matrix else numbers
        if isinstance(given, (list, tuple)) and not is_numeric(given):
            return type(given)(map(self.positions, given))
        if given is None:
            return None
        array = as_array(joined(given))
        return self.of(array) + np.arange(array.size).reshape(array.shape)


def is_numeric(given: Any) -> bool:
    """Tell whether a list is one of numbers alone."""
    return all(
        np.ndim(each) == 0
        and each is not None
        and not (isinstance(each, (list, tuple, SparseArray)) or scipy.sparse.issparse(each))
        for each in given
    )


def has_handle(tree: Any) -> bool:
    """Tell whether a handle is in a tree, or a sparse array of ours."""
    if isinstance(tree, (list, tuple)):
        return any(map(has_handle, tree))
    return isinstance(tree, SparseArray) or takes_over(type(tree))


def published(function: Function) -> Callable[[Function], Function]:
    """Publish lines for handles under the name and with the signature of SciPy's function.

    Parameters
    ----------
    function : callable
        SciPy's. Its first parameter, or the first two of `kron` and `kronsum`, may hold handles.
    """
    name = function.__name__
    signature = inspect.signature(function)

    def decorate(lines: Function) -> Function:
        several = 2 if name.startswith("kron") else 1

        def public(*args: Any, **kwargs: Any) -> Any:
            if not any(map(has_handle, (*args, *kwargs.values()))):
                return function(*args, **kwargs)
            bound = signature.bind(*args, **kwargs)
            bound.apply_defaults()
            constant = dict(list(bound.arguments.items())[several:])
            refuse_handles(f"tape_ad.scipy.sparse.{name}", constant)
            return lines(**bound.arguments)

        functools.update_wrapper(public, lines)
        public.__name__ = public.__qualname__ = name
        public.__module__ = "tape_ad.scipy.sparse"
        public.__doc__ = (
            f"The counterpart of `scipy.sparse.{name}`, with its arguments and defaults.\n\n    "
            f"{', '.join(list(signature.parameters)[:several])} may have handles in it. Without "
            "one, SciPy's own result is given."
        )
        public.__signature__ = signature  # type: ignore[attr-defined]  # as inspect looks for it
        return public

    return decorate


def rearranged(name: str, given: Any, dtype: Any = None, **options: Any) -> Any:
    """Let SciPy's function put numbers where elements are to stand."""
    numbering = Numbering()
    if name.startswith("diags"):
        options["dtype"] = np.int64
    positions = getattr(scipy.sparse, name)(numbering.positions(given), **options)
    matrix = isinstance(positions, scipy.sparse.spmatrix)
    return taken(positions, numbering.elements(dtype), positions.format, matrix=matrix)


def rearranging(name: str) -> Function:
    """Publish a function whose first argument alone has elements."""
    function = getattr(scipy.sparse, name)
    first = next(iter(inspect.signature(function).parameters))

    def lines(**arguments: Any) -> Any:
        given = arguments.pop(first)
        return rearranged(name, given, **arguments)

    return published(function)(lines)


REARRANGED: dict[str, Function] = {
    name: rearranging(name)
    for name in (
        *("block_array", "block_diag", "bmat", "diags", "diags_array", "hstack", "spdiags", "tril"),
        *("triu", "vstack"),
    )
}


@published(scipy.sparse.kron)
def kron(A: Any, B: Any, format: Any) -> Any:
    """Multiply each element of the one with each of the other."""
    a, b = constant_too(A), constant_too(B)
    (m, n), pa, pb = b.shape, a.pattern, b.pattern
    rows = np.add.outer(pa.rows.astype(np.intp) * m, pb.rows).reshape(-1)
    columns = np.add.outer(pa.columns.astype(np.intp) * n, pb.columns).reshape(-1)
    elements = (a.elements[:, None] * b.elements).reshape(-1)
    pattern = Pattern(rows, columns, (a.shape[0] * m, a.shape[1] * n))
    matrix = a.is_matrix and b.is_matrix
    return made_in(format or "coo", matrix).of(elements, pattern)


@published(scipy.sparse.kronsum)
def kronsum(A: Any, B: Any, format: Any) -> Any:
    """Add the Kronecker products with identities."""
    a, b = constant_too(A), constant_too(B)
    if a.shape[0] != a.shape[1] or b.shape[0] != b.shape[1]:
        raise ValueError("A and B must be square")
    first = kron(scipy.sparse.eye_array(b.shape[0]), a, "csr")
    total = first + kron(b, scipy.sparse.eye_array(a.shape[0]), "csr")
    return made_in(format or "csr", a.is_matrix and b.is_matrix).of(total.elements, total.pattern)


def constant_too(a: Any) -> Any:
    """Take a sparse or dense array to one of ours."""
    a = sparse_of(a)
    if isinstance(a, SparseArray):
        return a
    made = FORMATS["coo_array"]
    dense = as_array(joined(a))
    dense = dense if dense.ndim == 2 else dense.reshape((1, -1))
    if takes_over(type(dense)):
        return made(dense)
    return sparse_of(scipy.sparse.coo_array(dense))


@published(scipy.sparse.find)
def find(A: Any) -> Any:
    """Give the places and values of what is not 0."""
    a = constant_too(A)
    there = np.flatnonzero(a.elements != 0)
    return a.pattern.rows[there], a.pattern.columns[there], a.elements[there]
