"""Systems of linear equations ``op(A) x = b`` with a structured A, and their two partials.

With x = op(A)^-1 b, a change of b gives op(A)^-1 db, and a change of A gives -op(A)^-1 op(dA) x
(Giles 2008, "Collected matrix derivative results for forward and reverse mode algorithmic
differentiation", section 2.3.1). The two maps say this once; a `System` says how an array holds A.
"""

import math
from collections.abc import Callable
from typing import Any, ClassVar, Protocol, Self

import numpy as np
from attrs import define

from tape_ad.extend.arrays import Array, Shape
from tape_ad.extend.maps import adjoint
from tape_ad.extend.patterns import Pattern, by_batch, dense, reads

__all__ = [
    "ADJOINT",
    "TRANS",
    "Coefficients",
    "RightHandSide",
    "System",
    "in_columns",
    "outer",
    "triangle",
]

TRANS = {0: "N", 1: "T", 2: "C", "N": "N", "T": "T", "C": "C"}
"""What SciPy's `trans` means."""

ADJOINT = {"N": "C", "C": "N"}
"""The conjugate transpose of A and of A^H; that of A^T is the conjugate of A."""


class System(Protocol):
    """A matrix A and which of A, its transpose and its conjugate transpose is solved with.

    Everything but `gradient` is about matrices of right-hand sides, shape (..., n, k).
    """

    @property
    def trans(self) -> str:
        """What op is: "N" for A itself, "T" for its transpose, "C" for the conjugate of that."""

    def solve(self, b: Array) -> Array:
        """Solve a system: op(A)^-1 b."""

    def adjoint(self) -> Self:
        """Give the system of the conjugate transpose of op(A)."""

    def times(self, t: Array, x: Array) -> Array:
        """Compute dA x for a change `t` of the array that holds A."""

    def adjoint_times(self, t: Array, x: Array) -> Array:
        """Compute dA^H x for a change `t` of the array that holds A."""

    def gradient(self, g: Array, x: Array) -> Array:
        """Compute the gradient of <g, dA x> with respect to the array that holds A."""


@define(eq=False, repr=False)
class RightHandSide:
    """The solution of a system in its right-hand side."""

    broadcasts: ClassVar[bool] = True
    system: System
    vector: bool

    @reads("vector")
    def pattern(self, parent: Shape, node: Shape) -> Pattern:
        """Tell that all of a solution depends on all of its right-hand side, as in Sylvester's."""
        axes = 1 if self.vector else 2
        return by_batch(parent, node, axes, axes)

    def push(self, t: Array) -> Array:
        """Solve with the tangent of the matrix: -op(A)^-1 op(dA) x."""
        if self.vector:
            return self.system.solve(t[..., None])[..., 0]
        return self.system.solve(t)

    def pull(self, ct: Array) -> Array:
        """Solve with the adjoint."""
        if self.vector:
            return self.system.adjoint().solve(ct[..., None])[..., 0]
        return self.system.adjoint().solve(ct)


@define(eq=False, repr=False)
class Coefficients:
    """The solution of a system in the array that holds its matrix.

    Parameters
    ----------
    system : System
    x : array, shape (..., n) or (..., n, k)
        The solution.
    vector : bool
        Whether it is a vector.
    """

    broadcasts: ClassVar[bool] = True
    pattern = dense
    system: System
    x: Array
    vector: bool

    def push(self, t: Array) -> Array:
        """Compute -op(A)^-1 op(dA) x."""
        x = self.x[..., None] if self.vector else self.x
        if self.system.trans == "N":
            change = self.system.times(t, x)
        elif self.system.trans == "C":
            change = self.system.adjoint_times(t, x)
        else:
            change = self.system.adjoint_times(t, x.conjugate()).conjugate()
        out = -self.system.solve(change)
        return out[..., 0] if self.vector else out

    def pull(self, ct: Array) -> Array:
        """Compute the gradient of <g, op(dA) x> for the g that the adjoint system gives."""
        x = self.x[..., None] if self.vector else self.x
        g = -self.system.adjoint().solve(ct[..., None] if self.vector else ct)
        # <g, dA^H x> is <x, dA g>, and <g, dA^T x> is <conj(x), dA conj(g)>
        if self.system.trans == "C":
            g, x = x, g
        elif self.system.trans == "T":
            g, x = x.conjugate(), g.conjugate()
        return self.system.gradient(g, x)


def in_columns(solve: Callable[[Array], Array], ndim: int, b: Array) -> Array:
    """Solve with one matrix for a stack of right-hand sides, which become columns.

    Parameters
    ----------
    solve : callable
        Takes shape (n, k).
    ndim : int
        The number of axes of what holds the matrix. Where it is a stack itself, `solve` takes
        the stack as it is.
    b : array, shape stack + (n, k)

    Returns
    -------
    array, shape stack + (n, k)
    """
    stack = b.shape[:-2]
    if ndim > 2 or not stack:
        return solve(b)
    n, k = b.shape[-2:]
    columns = np.moveaxis(b, -2, 0).reshape((n, math.prod(stack) * k))
    return np.moveaxis(solve(columns).reshape((n, *stack, k)), 0, -2)


def triangle(n: int, *, lower: bool, unit_diagonal: bool = False) -> np.ndarray[Any, Any]:
    """Make the mask of a triangle, with the diagonal or without."""
    mask = np.tri(n, k=-1 if unit_diagonal else 0, dtype=bool)
    return mask if lower else mask.T


def outer(g: Array, x: Array) -> Array:
    """Compute the outer product g x^H."""
    return np.matmul(g, adjoint(x))
