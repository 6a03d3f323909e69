"""`numpy.einsum` of one or two operands, as the matrix product that it mostly is."""

import functools
import math
from typing import Any

import numpy as np
from attrs import frozen

from tape_ad.base.arrays.overridable import overridable
from tape_ad.rules.maps import Array

__all__ = ["Terms", "contract"]

Shape = tuple[int, ...]

Terms = tuple[str, ...]
"""The indices of some arrays: a string each, and in it a letter an axis."""

TINY = 4096
"""Up to this many multiplications `numpy.einsum` goes over all indices in a loop.

That loop takes a few microseconds then, as long as to bring the operands into the order that a
product of matrices needs."""


@overridable
def contract(*operands: Array, inputs: Terms, output: str, **options: Any) -> Array:
    """Compute `numpy.einsum` of one or two operands.

    NumPy's own loop goes over all indices at once. This sums first what concerns one operand
    alone, and leaves the rest to `numpy.matmul` where it is a product of matrices.

    Parameters
    ----------
    operands : array
    inputs : tuple of str
        The indices of each operand.
    output : str
        The indices of the result.
    options
        Those of `numpy.einsum`, except ``out`` and ``optimize``.

    Returns
    -------
    array

    Examples
    --------
    >>> contract(np.eye(2), np.array([3.0, 4.0]), inputs=("ij", "j"), output="i")
    array([3., 4.])
    """
    if len(operands) == 2 and not options:
        a, b = operands
        plan = planned(inputs, output, (a.shape, b.shape))
        if plan is not None and a.dtype.kind in "fc" and b.dtype.kind in "fc":
            return plan.follow(a, b)
    return np.einsum(f"{','.join(inputs)}->{output}", *operands, **options)


contract.__name__ = "einsum"  # what errors and printed records call it, as it is all that it does


@frozen(eq=False, repr=False)
class Matrices:
    """How an operand becomes a stack of matrices.

    Attributes
    ----------
    order : tuple of int
        The permutation of its axes that comes first.
    shape : tuple of int
        The shape that it then takes: the axes of the matrices, behind one for a stack of them.
    swap : bool
        Whether the last two of those are swapped at the end, which copies nothing.
    """

    order: Shape
    shape: Shape
    swap: bool

    def of(self, a: Array) -> Array:
        """Make the stack of operands that a contraction multiplies."""
        a = np.transpose(a, self.order).reshape(self.shape)
        return np.swapaxes(a, -1, -2) if self.swap else a


@frozen(eq=False, repr=False)
class Plan:
    """How to contract two operands.

    Attributes
    ----------
    reductions : tuple of str
        For each operand, subscripts that leave the indices that matter to the other or to the
        result; empty where that is all of them.
    subscripts : str
        What remains to be done, for `numpy.einsum`.
    elementwise : bool
        Whether that is a product element by element, which `numpy.multiply` is faster at.
    factors : tuple of Matrices, or None
        Both operands as matrices, where what remains is their product.
    shape, order : tuple of int
        The axes of that product, and the permutation to those of the result.
    """

    reductions: Terms
    subscripts: str
    elementwise: bool
    factors: tuple[Matrices, Matrices] | None
    shape: Shape
    order: Shape

    def follow(self, *operands: Array) -> Array:
        """Compute the contraction of operands along the planned path."""
        a, b = (
            np.einsum(reduction, operand) if reduction else operand
            for reduction, operand in zip(self.reductions, operands, strict=True)
        )
        if self.factors is None:
            return a * b if self.elementwise else np.einsum(self.subscripts, a, b)
        left, right = self.factors
        product = np.matmul(left.of(a), right.of(b)).reshape(self.shape)
        return np.transpose(product, self.order)[()]


@functools.lru_cache(maxsize=1024)
def planned(inputs: Terms, output: str, shapes: tuple[Shape, ...]) -> Plan | None:
    """Plan the contraction of two operands; None where NumPy's loop is as good."""
    sizes: dict[str, int] = {}
    for term, shape in zip(inputs, shapes, strict=True):
        for i, n in zip(term, shape, strict=True):
            sizes[i] = n if sizes.get(i, 1) == 1 else sizes[i]
    if math.prod(sizes.values()) <= TINY:
        return None
    whole = [  # an axis of length one that is stretched is summed over, which removes it
        "".join(i for i in dict.fromkeys(term) if shape[term.index(i)] == sizes[i])
        for term, shape in zip(inputs, shapes, strict=True)
    ]
    a, b = (
        "".join(i for i in term if i in output or i in other)
        for term, other in (whole, reversed(whole))
    )
    reductions = tuple(
        "" if term == kept else f"{term}->{kept}" for term, kept in zip(inputs, (a, b), strict=True)
    )
    product = matrix_product(a, b, output, sizes)
    elementwise = a == b == output
    if product is None and not elementwise and reductions == ("", ""):
        return None
    factors, axes = product or (None, "")
    return Plan(
        reductions=reductions,
        subscripts=f"{a},{b}->{output}",
        elementwise=elementwise,
        factors=factors,
        shape=tuple(sizes[i] for i in axes),
        order=tuple(axes.index(i) for i in output) if factors else (),
    )


def matrix_product(
    a: str, b: str, output: str, sizes: dict[str, int]
) -> tuple[tuple[Matrices, Matrices], str] | None:
    """Write a contraction as a product of matrices, if it is worth it.

    Returns
    -------
    factors : tuple of Matrices
    axes : str
        The indices of the product, in its own order.
    """
    larger = max(a, b, key=lambda term: math.prod(sizes[i] for i in term))
    batch = "".join(i for i in larger if i in a and i in b and i in output)
    inner = "".join(i for i in larger if i in a and i in b and i not in output)
    rows = "".join(i for i in a if i not in b)
    columns = "".join(i for i in b if i not in a)
    if not inner or (batch and not (rows or columns)):
        return None  # no sums, or a stack of inner products: NumPy's loop is what there is
    left, right = matrices(a, batch, rows, inner, sizes), matrices(b, batch, inner, columns, sizes)
    both = left, right
    heavy = (left if larger == a else right,) if rows or columns else both
    if not (rows and columns) and any(m.order != tuple(range(len(m.order))) for m in heavy):
        return None  # moving a matrix about takes as long as multiplying it by a vector
    return both, batch + rows + columns


def matrices(term: str, batch: str, first: str, second: str, sizes: dict[str, int]) -> Matrices:
    """Bring the axes of an operand to the order batch, first, second, moving none if possible."""
    swap = bool(first and second) and term.index(first[0]) > term.index(second[0])
    groups = (batch, second, first) if swap else (batch, first, second)
    lengths = tuple(math.prod(sizes[i] for i in group) for group in groups)
    return Matrices(
        order=tuple(term.index(i) for i in "".join(groups)),
        shape=lengths if batch else lengths[1:],
        swap=swap,
    )
