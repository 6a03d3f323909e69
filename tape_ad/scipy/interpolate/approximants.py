"""Polynomials and fractions of polynomials that approximate a function."""

from collections.abc import Callable
from math import factorial
from typing import Any

import numpy as np
import scipy.interpolate

from tape_ad.extend.arrays import Array, in_double
from tape_ad.scipy.counterparts import joined
from tape_ad.scipy.interpolate.shared import is_plain
from tape_ad.scipy.interpolate.univariate import KroghInterpolator

__all__ = ["approximate_taylor_polynomial", "lagrange", "pade"]


def pade(an: Array, m: int, n: int | None = None) -> tuple[np.poly1d, np.poly1d]:
    """Approximate a power series by a quotient, as `scipy.interpolate.pade` does.

    Parameters
    ----------
    an : array or Tensor, shape (N,)
        The coefficients of the series, the lowest power first.
    m, n : int
        The degrees of the denominator and the numerator.

    Returns
    -------
    p, q : poly1d
        The numerator and the denominator, of handles if `an` is one.

    Examples
    --------
    >>> import tape_ad as ta
    >>> p, q = pade(ta.ComputationRecord().tensor([1.0, 1.0, 1 / 2, 1 / 6]), 1)
    >>> (p(0.5) / q(0.5)).round(5).item()
    1.65
    """
    an = joined(an)
    if is_plain(an):
        return scipy.interpolate.pade(an, m, n)  # type: ignore[no-any-return]  # a tuple
    if n is None:
        n = an.shape[0] - 1 - m
    if n < 0 or m + n > an.shape[0] - 1:
        raise ValueError("Order of q+p <m+n> must be smaller than len(an).")
    size = m + n + 1
    an = an[:size]
    beyond = np.concatenate((np.zeros(m), an))
    # Column j has the series from power j + 1 on
    shifted = [-beyond[m - j - 1 : m - j - 1 + size] for j in range(m)]
    columns = [*np.eye(size)[: n + 1], *shifted]
    both = np.linalg.solve(np.stack(columns, axis=1), an)
    q = np.concatenate((np.ones(1), both[n + 1 :]))
    return np.poly1d(both[n::-1]), np.poly1d(q[::-1])


def lagrange(x: Array, w: Array) -> np.poly1d:
    """Make the polynomial through points, as `scipy.interpolate.lagrange` does.

    Parameters
    ----------
    x, w : array or Tensor, shape (n,)

    Returns
    -------
    poly1d
        Of handles if one is given.

    Examples
    --------
    >>> import tape_ad as ta
    >>> w = ta.ComputationRecord().tensor([0.0, 1.0, 4.0])
    >>> lagrange([0.0, 1.0, 2.0], w).coeffs.data.round(9) + 0.0
    array([1., 0., 0.])
    """
    if is_plain(x, w):
        return scipy.interpolate.lagrange(x, w)  # type: ignore[no-any-return]  # a poly1d
    x, w = in_double(joined(x)), in_double(joined(w))
    total: Any = 0.0
    for j in range(x.shape[0]):
        term = w[j : j + 1]
        for k in range(x.shape[0]):
            if k != j:
                product = np.concatenate((term, np.zeros(1)))
                product = product - np.concatenate((np.zeros(1), x[k] * term))
                term = product / (x[j] - x[k])
        total = total + term
    return np.poly1d(total)


def approximate_taylor_polynomial(
    f: Callable[[Array], Array], x: Any, degree: int, scale: Any, order: int | None = None
) -> np.poly1d:
    """Approximate a Taylor polynomial, as `scipy.interpolate.approximate_taylor_polynomial` does.

    Parameters
    ----------
    f : callable
        In NumPy; it may close over handles.
    x, scale : float or Tensor
    degree : int
    order : int, optional

    Returns
    -------
    poly1d
        In powers of the distance from `x`; of handles if there are any.
    """
    n = (degree if order is None else order) + 1
    # SciPy's points, which leave the endpoint out
    xs = joined(scale) * np.cos(np.linspace(0, np.pi, n, endpoint=False)) + joined(x)
    derivatives = KroghInterpolator(xs, f(xs)).derivatives(x, degree + 1)
    factorials = np.array([factorial(i) for i in range(degree + 1)], float)
    return np.poly1d((derivatives / factorials)[::-1])
