"""SciPy's ellipsoidal harmonics of the first kind, Lame's functions of whole degrees.

Such a function is a product of some of s, sqrt(abs(s**2 - h2)) and sqrt(abs(s**2 - k2)) with a
polynomial in u = s**2, whose first coefficient is 1. Lame's equation, DLMF 29.2.2, is then

    u (u - h2) (u - k2) P'' + b(u) P' + (c - d u) P = 0,

where c is an eigenvalue of the matrix that the equation makes of the coefficients of P.
"""

from typing import Any

import numpy as np

from tape_ad.errors import UnsupportedArgumentError
from tape_ad.extend.arrays import Array, as_array
from tape_ad.extend.rules import Entry, quiet
from tape_ad.scipy.counterparts import counterpart
from tape_ad.scipy.special.shared import sp

__all__ = ["ELLIPSOIDAL", "ELLIPSOIDAL_FUNCTIONS"]


def kind(n: int, p: int) -> tuple[int, int, int, int]:
    """Tell which one of its class the p-th function is, and whether it has each of the factors."""
    r, odd = n // 2, n % 2
    classes = ((r + 1, odd, 0, 0), (n - r, 1 - odd, 1, 0), (n - r, 1 - odd, 0, 1), (r, odd, 1, 1))
    for size, *factors in classes:
        if p <= size:
            return p - 1, *factors  # type: ignore[return-value]  # of three factors
        p -= size
    raise UnsupportedArgumentError("scipy.special.ellip_harm: p is to be from 1 to 2 n + 1")


def ellip_harm(h2: Array, k2: Array, n: Any, p: Any, s: Array, signm: Any, signn: Any) -> Array:
    """Compose the function of numbers h2, k2, n and p."""
    if any(np.ndim(each) for each in (h2, k2, n, p)):
        raise UnsupportedArgumentError(
            "scipy.special.ellip_harm: h2, k2, n and p cannot be arrays when an argument is a "
            "handle; call it for each of them, and write np.stack around the results"
        )
    index, *factors = kind(int(n), int(p))
    size = (int(n) - sum(factors)) // 2
    coefficients = polynomial(as_array(h2), as_array(k2), size, factors, index)
    s = as_array(s)
    square = s * s
    value: Array = 1.0
    for coefficient in coefficients:
        value = value * square + coefficient
    if factors[0]:
        value = value * s
    if factors[1]:
        value = value * (signm * np.sqrt(np.abs(square - h2)))
    if factors[2]:
        value = value * (signn * np.sqrt(np.abs(square - k2)))
    return value + 0 * square


def polynomial(h2: Array, k2: Array, size: int, factors: list[int], index: int) -> list[Array]:
    """Give the coefficients of the polynomial below the first, from the highest down.

    Parameters
    ----------
    h2, k2 : array, shape ()
    size : int
        Its degree.
    factors : list of int
        Which factors stand before it.
    index : int
        Which of the polynomials of this degree.
    """
    zero, first, second = (0.5 + each for each in factors)
    total = zero + first + second
    j = np.arange(size + 1.0)
    inner = zero * (h2 + k2) + first * k2 + second * h2
    diagonal = -(h2 + k2) * j * (j - 1) - inner * j
    above = h2 * k2 * ((j + zero) * (j + 1))
    below = j * (j - 1) + total * j - size * (size - 1 + total)
    matrix = np.diag(diagonal) + np.diag(above[:-1], 1) + np.diag(below[:-1], -1)
    values = np.linalg.eigvals(matrix).real
    value = values[np.argsort(values)[-1 - index]]  # SciPy begins with the largest
    found: list[Array] = [1.0, 0.0]
    for row in range(size, 0, -1):
        higher = above[row] * found[1] if row < size else 0.0
        found.insert(0, ((value - diagonal[row]) * found[0] - higher) / below[row - 1])
    return found[-3::-1]


ELLIPSOIDAL: dict[Any, Entry] = {}

ELLIPSOIDAL_FUNCTIONS: dict[str, Any] = {
    "ellip_harm": counterpart(ELLIPSOIDAL, sp.ellip_harm, "h2 k2 s", quiet(ellip_harm))
}
"""Ours, by their names."""
