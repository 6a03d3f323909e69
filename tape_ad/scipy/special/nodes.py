"""Nodes and weights of Gauss' quadrature, with respect to the parameters of the weight function.

The nodes are eigenvalues of the tridiagonal matrix of the recurrence, DLMF 3.5.30 and 3.5.31, and
the weights follow from the first elements of its eigenvectors, DLMF 3.5.32 (Golub and Welsch 1969).
"""

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tape_ad.extend.arrays import Array
from tape_ad.extend.rules import Entry
from tape_ad.scipy.counterparts import counterpart
from tape_ad.scipy.special.shared import sp

__all__ = ["NODES", "NODES_FUNCTIONS"]


def quadrature(diagonal: Array, beside: Array, total: Array, mu: bool) -> tuple[Array, ...]:
    """Give nodes, weights and, if it is asked for, the sum of the weights."""
    matrix = np.diag(diagonal) + np.diag(beside, -1)  # of which eigh reads the lower half
    nodes, vectors = np.linalg.eigh(matrix)
    weights = total * vectors[0] ** 2
    return (nodes, weights, total) if mu else (nodes, weights)


def jacobi(n: int, alpha: Array, beta: Array, mu: bool) -> tuple[Array, ...]:
    """The recurrence of DLMF 18.9.2 for the monic polynomials, and the integral 18.3.1."""
    both = alpha + beta
    k = np.arange(1, n)
    first = np.reshape((beta - alpha) / (both + 2), 1)
    rest = both * (beta - alpha) / ((2 * k + both) * (2 * k + both + 2))
    above = k[1:]
    # Of k = 1, for which numerator and denominator have a factor alpha + beta + 1
    second = (1 + alpha) * (1 + beta) / (both + 3)
    quotient = (above + alpha) * (above + beta) * above * (above + both)
    quotient = quotient / ((2 * above + both + 1) * (2 * above + both - 1))
    squares = np.concatenate([np.reshape(second, 1)[: n - 1], quotient]) / (2 * k + both) ** 2
    logarithm = (both + 1) * math.log(2) + sp.betaln(alpha + 1, beta + 1)
    return quadrature(np.concatenate([first, rest]), 2 * np.sqrt(squares), np.exp(logarithm), mu)


def gegenbauer(n: int, alpha: Array, mu: bool) -> tuple[Array, ...]:
    """Those of Jacobi for equal parameters, DLMF 18.7.1."""
    return jacobi(n, alpha - 0.5, alpha - 0.5, mu)


def genlaguerre(n: int, alpha: Array, mu: bool) -> tuple[Array, ...]:
    """The recurrence of DLMF 18.9.2 for the monic polynomials, and the integral 18.3.1."""
    k = np.arange(1, n)
    diagonal = 2 * np.arange(n) + alpha + 1
    return quadrature(diagonal, np.sqrt(k * (k + alpha)), np.exp(sp.gammaln(alpha + 1)), mu)


def sh_jacobi(n: int, p1: Array, q1: Array, mu: bool) -> tuple[Array, ...]:
    """Those of Jacobi, moved to the interval from 0 to 1."""
    nodes, *sums = jacobi(n, p1 - q1, q1 - 1, mu)
    scale = 2.0**-p1
    return ((nodes + 1) / 2, *(each * scale for each in sums))


COMPOSITIONS: dict[str, tuple[Any, str, str]] = {
    "roots_jacobi": (jacobi, "alpha beta", "j_roots"),
    "roots_gegenbauer": (gegenbauer, "alpha", "cg_roots"),
    "roots_genlaguerre": (genlaguerre, "alpha", "la_roots"),
    "roots_sh_jacobi": (sh_jacobi, "p1 q1", "js_roots"),
}


def with_array_sum(theirs: Callable[..., Any]) -> Callable[..., Any]:
    """Make the sum of the weights NumPy's number, which for some parameters is one of Python's."""

    @functools.wraps(theirs)
    def roots(*args: Any, **kwargs: Any) -> Any:
        out = theirs(*args, **kwargs)
        return tuple(np.float64(each) if type(each) is float else each for each in out)

    return roots


NODES: dict[Any, Entry] = {}

NODES_FUNCTIONS: dict[str, Any] = {}
"""Ours, by their names, and by their older ones."""

for name, (composition, handles, old) in COMPOSITIONS.items():
    theirs = with_array_sum(getattr(sp, name))
    NODES_FUNCTIONS[name] = counterpart(NODES, theirs, handles, composition)
    NODES_FUNCTIONS[old] = NODES_FUNCTIONS[name]
