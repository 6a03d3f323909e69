"""Polynomials as NumPy's sequences of coefficients, from the highest power to the constant."""

import math
import warnings
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from attrs import define

from tape_ad.base.arrays.overridable import anywhere
from tape_ad.base.errors import ShapeError, UnsupportedArgumentError
from tape_ad.rules import facts
from tape_ad.rules.base import Call, Derivation, Entry, as_array, rule
from tape_ad.rules.maps import (
    Adjoint,
    Array,
    Chain,
    Divide,
    Index,
    LinearMap,
    MatmulLeft,
    MatmulRight,
    Negate,
    RealPart,
    Reshape,
    Scale,
    Stretch,
)
from tape_ad.rules.maps.patterns import dense
from tape_ad.rules.numpy import bodies
from tape_ad.rules.numpy.convolution import convolved
from tape_ad.rules.signatures import arguments_of

__all__ = ["POLYNOMIALS"]


def coefficients(name: str, *polynomials: Any) -> tuple[Array, ...]:
    """Take polynomials to arrays; the result of a function of handles is never a `poly1d`.

    Raises
    ------
    ShapeError
        When one has more than one axis.
    """
    arrays = tuple(map(as_array, polynomials))
    for a in arrays:
        if a.ndim > 1:
            raise ShapeError(f"np.{name} takes coefficients along one axis, got shape {a.shape}")
    return arrays


def placed(parent: Array, node: int, start: int) -> list[LinearMap]:
    """Make the maps that put a sequence, or a number, among zeros."""
    maps: list[LinearMap] = [] if parent.ndim else [Reshape((), (1,))]
    if parent.size != node:
        key = (slice(start, start + parent.size),)
        maps.append(Adjoint(Index(key, (node,), (parent.size,))))
    return maps


def real_like(p: Array) -> np.dtype[Any]:
    """Tell the dtype of real factors that leave the precision of an array as it is."""
    return np.finfo(p.dtype).dtype if p.dtype.kind in "fc" else np.dtype(float)


# Values


@define(eq=False, repr=False)
class Values:
    """The values of a polynomial of `n` coefficients at `x`, in its coefficients."""

    broadcasts: ClassVar[bool] = False
    pattern = dense
    x: Array
    n: int

    def push(self, t: Array) -> Array:
        values = np.zeros(t.shape[:-1] + self.x.shape, t.dtype)
        for i in range(self.n):
            coefficient = t[(..., i, *(None,) * self.x.ndim)]
            values = values * self.x + coefficient
        return values

    def pull(self, ct: Array) -> Array:
        axes, x = tuple(range(-self.x.ndim, 0)), self.x.conjugate()
        sums = []
        for _ in range(self.n):
            sums.append(np.add.reduce(ct, axis=axes))
            ct = ct * x
        return (
            np.stack(sums[::-1], axis=-1) if sums else np.zeros((*ct.shape[: ct.ndim - x.ndim], 0))
        )


def polyval_signature(p: Any, x: Any) -> Call:
    """Sort the arguments of `numpy.polyval`."""
    if isinstance(x, np.poly1d):
        raise UnsupportedArgumentError(
            "np.polyval of a poly1d composes polynomials, which is not supported on handles; "
            "evaluate the inner one first and pass its values"
        )
    return (*coefficients("polyval", p), as_array(x)), {}


def slope(out: Array, p: Array, x: Array) -> Array:
    """Make the partial with respect to where the polynomial is evaluated."""
    return np.polyval(p[:-1] * np.arange(p.size - 1, 0, -1, dtype=real_like(p)), x)


# Arithmetic


def added(position: int, *last: LinearMap) -> Callable[..., LinearMap]:
    """Make the maker of a partial of a sum; what the map ends with is its sign."""

    def partial(out: Array, *operands: Array) -> LinearMap:
        parent = operands[position]
        return Chain((*placed(parent, out.size, out.size - parent.size), *last))

    return partial


def multiplied(position: int) -> Callable[..., LinearMap]:
    """Make the maker of a partial of a product, in which leading zeros have no part."""

    def partial(out: Array, *operands: Array) -> LinearMap:
        parent, other = operands[position], np.ravel(operands[1 - position])
        if parent.size == 0:
            return Chain(tuple(placed(parent, out.size, 0)))
        flat = np.ravel(parent)
        trimmed = flat[leading_zeros(flat) :]
        other = other[leading_zeros(other) :] if other.size else np.zeros(1, other.dtype)
        key = (slice(parent.size - trimmed.size, None),)
        return Chain(
            (
                Reshape(parent.shape, flat.shape),
                Index(key, flat.shape, trimmed.shape),
                convolved(trimmed, other, 0, out.size),
            )
        )

    return partial


def leading_zeros(p: Array) -> int:
    """Count the zeros that a polynomial starts with, but for its constant."""
    if p.size > 1 and not anywhere(np.equal(p[0], 0)):
        return 0
    found = np.flatnonzero(np.not_equal(p[:-1], 0))
    return int(found[0]) if found.size else int(p.size - 1)


def two_polynomials(name: str) -> Callable[..., Call]:
    """Make the signature of a function of two polynomials."""
    return lambda a1, a2: (coefficients(name, a1, a2), {})


# Calculus


def derived(out: Array, p: Array, m: int) -> LinearMap:
    """Make the partial of `numpy.polyder`: a power d gets the factor d! / (d - m)!."""
    powers = range(p.size - 1, p.size - 1 - out.size, -1)
    factors = np.array([math.perm(d, m) for d in powers], real_like(p))
    return Chain((Index((slice(0, out.size),), p.shape, out.shape), Scale(factors)))


def integrated(out: Array, p: Array, *k: Array, m: int) -> LinearMap:
    """Make the partial of `numpy.polyint`: a power d gets the factor d! / (d + m)!."""
    factors = np.array([1 / math.perm(d + m, m) for d in range(p.size - 1, -1, -1)], real_like(p))
    return Chain((Scale(factors), *placed(p, out.size, 0)))


def constant_terms(out: Array, p: Array, k: Array, m: int) -> LinearMap:
    """Make the partial with respect to the integration constants."""
    maps: list[LinearMap] = [] if k.ndim else [Reshape((), (1,))]
    if k.size == 1 < m:
        maps.append(Stretch((1,), (m,)))
    elif k.size > m:
        maps.append(Index((slice(0, m),), k.shape, (m,)))
    factors = np.array([1 / math.factorial(i) for i in range(m - 1, -1, -1)], real_like(k))
    return Chain((*maps, Scale(factors), *placed(factors, out.size, p.size)))


def polyint_signature(p: Any, m: int = 1, k: Any = None) -> Call:
    """Sort the arguments of `numpy.polyint`."""
    return coefficients("polyint", p, *(() if k is None else (k,))), {"m": int(m)}


# Roots


def root_partial(out: Array, p: Array) -> LinearMap | None:
    """Make the partial of the roots: p(r) stays 0, so that dr = -dp(r) / p'(r).

    That is not finite for a double root.

    The implicit function theorem; see Wilkinson, "The evaluation of the zeros of ill-conditioned
    polynomials" (1959).
    """
    if out.size == 0:
        return None
    powers = np.vander(out, p.size)
    return Chain((MatmulRight(powers, 1), Divide(-slope(out, p, out))))


def product_partial(out: Array, zeros: Array) -> LinearMap | None:
    """Make the partial of the coefficients of a polynomial in its roots, or in a matrix."""
    if zeros.size == 0:
        return None
    slopes = without_each(zeros) if zeros.ndim == 1 else adjugates(out, zeros)
    maps: list[LinearMap] = [
        Reshape(zeros.shape, (zeros.size,)),
        MatmulLeft(-slopes, 1),
    ]
    if out.dtype.kind != "c" and zeros.dtype.kind == "c":  # of conjugate roots
        maps.append(RealPart())
    return Chain(tuple(maps))


def without_each(zeros: Array) -> Array:
    """Multiply polynomials out, row by row without one of the roots, with a zero in front.

    Division of the whole by (x - root) is less work, and loses all digits of higher orders.
    """
    rows = np.ones((zeros.size, 1), zeros.dtype)
    nothing = np.zeros((zeros.size, 1), zeros.dtype)
    for i in range(zeros.size):
        later = np.concatenate((nothing, rows), axis=1)
        others = np.concatenate((rows, nothing), axis=1) - zeros[i] * later
        rows = np.where((np.arange(zeros.size) == i)[:, None], later, others)
    return rows


def adjugates(out: Array, matrix: Array) -> Array:
    """Compute the matrices of Faddeev and LeVerrier, whose traces with dA move the coefficients.

    So eigenvalues that coincide are points as all others.
    """
    unit = np.eye(matrix.shape[0], dtype=matrix.dtype)
    columns, product = [np.ravel(0 * unit)], unit
    for i in range(1, out.size):
        columns.append(np.ravel(product.mT))
        product = matrix @ product + out[i] * unit
    return np.stack(columns, axis=1)


def poly_signature(seq_of_zeros: Any) -> Call:
    """Sort the arguments of `numpy.poly`."""
    zeros = np.atleast_1d(as_array(seq_of_zeros))
    if zeros.ndim > 2 or (zeros.ndim == 2 and zeros.shape[0] != zeros.shape[1]):
        raise ShapeError(
            f"np.poly takes roots of one axis or a square matrix, got shape {zeros.shape}"
        )
    return (zeros,), {}


# Least squares


def polyfit(
    x: Any,
    y: Any,
    deg: int,
    rcond: float | None = None,
    full: bool = False,
    w: Any = None,
    cov: bool | str = False,
) -> Any:
    """Fit a polynomial as `numpy.polyfit` does: least squares with columns of length one."""
    order = int(deg) + 1
    x, y = as_array(x) + 0.0, as_array(y) + 0.0
    if deg < 0:
        raise ValueError("expected deg >= 0")
    if x.ndim != 1 or x.size == 0 or y.ndim not in (1, 2) or y.shape[0] != x.shape[0]:
        raise ShapeError(
            f"np.polyfit takes x of shape (m,) and y of shape (m,) or (m, k), not empty; got "
            f"shapes {x.shape} and {y.shape}"
        )
    if rcond is None:
        rcond = len(x) * np.finfo(x.dtype).eps
    lhs, rhs = np.vander(x, order), y
    if w is not None:
        w = as_array(w) + 0.0
        if w.shape != x.shape:
            raise ShapeError(f"np.polyfit: w has shape {w.shape}, and x has {x.shape}")
        # NumPy multiplies in place, and so in their own precision
        lhs = (lhs * w[:, None]).astype(lhs.dtype, casting="same_kind")
        rhs = (rhs * (w[:, None] if y.ndim == 2 else w)).astype(rhs.dtype, casting="same_kind")
    scale = np.sqrt(np.sum(lhs * lhs, axis=0))
    lhs = lhs / scale
    c, residuals, rank, s = np.linalg.lstsq(lhs, rhs, rcond)
    c = c / (scale[:, None] if y.ndim == 2 else scale)
    if full:
        return c, residuals, rank, s, rcond
    if rank != order:
        warnings.warn("Polyfit may be poorly conditioned", np.exceptions.RankWarning, stacklevel=2)
    if not cov:
        return c
    covariance = np.linalg.inv(np.matmul(lhs.T, lhs)) / (scale[:, None] * scale)
    if cov != "unscaled":
        if len(x) <= order:
            raise ValueError(
                "the number of data points must exceed order to scale the covariance matrix"
            )
        residuals = residuals / (len(x) - order)
    else:
        residuals = 1
    return c, (covariance if y.ndim == 1 else covariance[:, :, None]) * residuals


POLYNOMIALS: dict[Any, Entry] = {
    np.roots: rule(
        root_partial, signature=arguments_of(np.roots, "p", ""), facts=facts.SHAPED_BY_VALUES
    ),
    np.poly: rule(
        product_partial, signature=poly_signature, facts=facts.Facts(dtype_by_values=True)
    ),
    np.polyval: rule(
        lambda out, p, x: Values(x, p.size),
        slope,
        signature=polyval_signature,
        body=bodies.polynomial,
    ),
    np.polyadd: rule(added(0), added(1), signature=two_polynomials("polyadd"), body=bodies.polyadd),
    np.polysub: rule(
        added(0), added(1, Negate()), signature=two_polynomials("polysub"), body=bodies.polysub
    ),
    np.polymul: rule(
        multiplied(0),
        multiplied(1),
        signature=two_polynomials("polymul"),
        facts=facts.SHAPED_BY_VALUES,
        body=bodies.polymul,
    ),
    np.polyder: rule(
        derived,
        signature=lambda p, m=1: (coefficients("polyder", p), {"m": int(m)}),
        body=bodies.polyder,
    ),
    np.polyint: rule(
        integrated,
        constant_terms,
        signature=polyint_signature,
        compute=lambda p, *k, m: np.polyint(p, m, *k),
        body=bodies.polyint,
    ),
    # With full=True, what is left over is empty where the rank is too low
    np.polyfit: Derivation(polyfit, facts=facts.SHAPED_BY_VALUES),
}
