"""Partial fractions of rational functions whose poles are simple."""

from typing import Any

import numpy as np

from tape_ad.base.errors import UnsupportedArgumentError
from tape_ad.extend.arrays import Array, primal
from tape_ad.extend.rules import TYPED_BY_VALUES, Entry, add_facts
from tape_ad.scipy.counterparts import scipy_composition
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.signal.design import deconvolve
from tape_ad.scipy.signal.filters import coefficients
from tape_ad.scipy.signal.responses import without_zeros, zeros_in_front
from tape_ad.scipy.signal.simple_roots import roots_of_filter

__all__ = ["FRACTIONS", "residue", "residuez"]

FRACTIONS: dict[Any, Entry] = {}


@scipy_composition(FRACTIONS, scipy.signal.residue, "b a")
def residue(b: Array, a: Array, tol: float = 1e-3, rtype: str = "avg") -> tuple[Array, ...]:
    """Expand ``b(s) / a(s)`` in partial fractions, as `scipy.signal.residue` does.

    Parameters
    ----------
    b, a : array or Tensor, shapes (k,) and (l,)
        The highest power first.
    tol, rtype
        As in SciPy. Of handles, no two poles may be as close as `tol`.

    Returns
    -------
    tuple of array or Tensor
        The residues, the poles, and the coefficients of the polynomial that is left.
    """
    b, a = doubles("residue", b), without_zeros(doubles("residue", a))
    poles = simple_poles("residue", a, tol)
    k, rest = divided(b, a)
    return residues_at(poles, rest) / a[0], poles, k[zeros_in_front(b) :]


@scipy_composition(FRACTIONS, scipy.signal.residuez, "b a")
def residuez(b: Array, a: Array, tol: float = 1e-3, rtype: str = "avg") -> tuple[Array, ...]:
    """Expand ``b(z) / a(z)`` in partial fractions, as `scipy.signal.residuez` does.

    Parameters
    ----------
    b, a : array or Tensor, shapes (k,) and (l,)
        By rising powers of 1 / z.
    tol, rtype
        As for `residue`.

    Returns
    -------
    tuple of array or Tensor
        The residues, the poles, and the coefficients of the polynomial that is left.
    """
    b, a = doubles("residuez", b)[::-1], without_zeros(doubles("residuez", a)[::-1])
    if bool(primal(a[-1]) == 0):
        raise ValueError("First coefficient of determinant `a` must be non-zero.")
    poles = simple_poles("residuez", a[::-1], tol)
    k, rest = divided(b, a)
    return -poles * residues_at(1 / poles, rest) / a[0], poles, k[zeros_in_front(b) :][::-1]


def doubles(name: str, x: Array) -> Array:
    """Take coefficients to double precision, in which SciPy expands them."""
    x = coefficients(name, x)
    return x.astype(np.result_type(x, np.float64))


def simple_poles(name: str, a: Array, tol: float) -> Array:
    """Find the roots of a denominator in SciPy's order.

    Raises
    ------
    UnsupportedArgumentError
        When two of them count as one.
    """
    poles = roots_of_filter(name, a)
    poles = poles[np.argsort(np.abs(poles))]
    gaps = np.abs(poles[:, np.newaxis] - poles) + np.diag(np.full(poles.shape[0], np.inf))
    if bool(np.any(gaps < tol)):
        raise UnsupportedArgumentError(
            f"tape_ad.scipy.signal.{name}: poles within tol={tol} of each other count as one of a "
            "higher "
            "order, which has no derivative; pass a smaller tol= or plain coefficients, .data"
        )
    return poles


def divided(b: Array, a: Array) -> Any:
    """Divide polynomials: what is left over has a lower degree than the divisor."""
    return (np.empty(0), b) if b.shape[0] < a.shape[0] else deconvolve(b, a)


def residues_at(poles: Array, numerator: Array) -> Array:
    """Divide a polynomial at each pole by the distances to all others."""
    apart = poles[:, np.newaxis] - poles + np.eye(poles.shape[0])
    return np.polyval(numerator, poles) / np.prod(apart, axis=1)


TYPED_BY_VALUES.update((residue, residuez))

add_facts(FRACTIONS, (residue, residuez), shape_by_values=True)
