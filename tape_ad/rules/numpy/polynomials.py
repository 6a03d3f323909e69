"""Polynomials, by their coefficients from the highest power on, and convolution.

Convolution and correlation of two sequences, in NumPy's three modes, are each a section of the full
convolution: ``convolve(a, v)[start : start + size]``. The adjoint of that is a section of a
convolution too, with the conjugate of the other sequence reversed.
"""

import math
from collections.abc import Callable
from operator import attrgetter
from typing import Any, ClassVar

import numpy as np
from attrs import define

from tape_ad.base.arrays.overridable import anywhere
from tape_ad.base.errors import ShapeError, UnsupportedArgumentError
from tape_ad.rules import facts
from tape_ad.rules.base import Call, Derivation, Entry, add_facts, arguments_of, as_array, rule
from tape_ad.rules.maps import (
    Array,
    Chain,
    Conjugate,
    Divide,
    Index,
    LinearMap,
    MatmulLeft,
    MatmulRight,
    RealPart,
    Reshape,
    Shape,
)
from tape_ad.rules.maps.patterns import Pattern, banded, dense, reads, separable
from tape_ad.rules.numpy import bodies

Function = Callable[..., Array]


@define(eq=False, repr=False)
class Convolution:
    """A section of the full convolution with a sequence.

    Parameters
    ----------
    other : array, shape (m,)
        The sequence that is held.
    n : int
        The parent's length.
    start, size : int
        The section.
    """

    multiplies: ClassVar[bool] = True
    kept = property(attrgetter("other"))
    other: Array
    n: int
    start: int
    size: int

    @reads("other.shape", "n", "start", "size")
    def pattern(self, parent: Shape, node: Shape) -> Pattern:
        """Tell which elements depend on which."""
        offsets = range(self.start - self.other.shape[-1] + 1, self.start + 1)
        return separable(parent, node, {-1: banded(self.n, self.size, offsets)})

    def push(self, t: Array) -> Array:
        return section(t, self.other, self.start, self.size)

    def pull(self, ct: Array) -> Array:
        reversed_ = self.other[::-1].conjugate()
        return section(ct, reversed_, len(self.other) - 1 - self.start, self.n)


def section(x: Array, v: Array, start: int, size: int) -> Array:
    """Convolve the last axis of `x` with `v`, and give part of it.

    Parameters
    ----------
    x : array, shape stack + (n,)
    v : array, shape (m,)
    start, size : int
        Which part of the n + m - 1 elements.

    Returns
    -------
    array, shape stack + (size,)
    """
    stack, n, m = x.shape[:-1], x.shape[-1], v.shape[0]
    if math.prod(stack) == 0:
        return np.zeros((*stack, size), x.dtype)
    if start == min(n, m) - 1 and size == max(n, m) - start:
        mode, key = "valid", slice(None)
    elif max(n, m) > 2 * size and not (has_infinities(x) or has_infinities(v)):
        mode, key = "valid", slice(None)
        if n < m:
            v = around(v, start + 1 - n, start + size)
        else:
            x = around(x, start + 1 - m, start + size)
    else:
        mode, key = "full", slice(start, start + size)
    convolve: Function = np.convolve
    if not stack:
        return convolve(x, v, mode)[key]
    rows = [convolve(row, v, mode)[key] for row in x.reshape((-1, x.shape[-1]))]
    return np.stack(rows).reshape((*stack, size))


def has_infinities(x: Array) -> bool:
    """Tell whether an element is infinite or nan, so that even 0 times it is nan."""
    return anywhere(~np.isfinite(x))


def around(x: Array, start: int, stop: int) -> Array:
    """Give part of the last axis, with zeros for what lies before it and behind."""
    n = x.shape[-1]
    part = x[..., max(start, 0) : stop]
    before, after = max(-start, 0), max(stop - n, 0)
    return np.pad(part, [(0, 0)] * (x.ndim - 1) + [(before, after)]) if before or after else part


def section_of(mode: Any, n: int, m: int) -> tuple[int, int]:
    """Tell where the section of a mode of `numpy.convolve` starts, and its size.

    Examples
    --------
    >>> section_of("same", 5, 2)
    (0, 5)
    """
    shorter, longer = min(n, m), max(n, m)
    return {
        "full": (0, n + m - 1),
        "same": ((shorter - 1) // 2, longer),
        "valid": (shorter - 1, longer - shorter + 1),
    }[{0: "valid", 1: "same", 2: "full"}.get(mode, mode)]


def convolved(parent: Array, other: Array, start: int, size: int) -> LinearMap:
    """Make the map from a sequence to a section of its convolution with another.

    Either may be a number, which stands for a sequence of one.
    """
    linear = Convolution(np.ravel(other), parent.size, start, size)
    return linear if parent.ndim else Chain((Reshape((), (1,)), linear))


def correlate_left(out: Array, a: Array, v: Array, mode: Any) -> LinearMap:
    """Make the partial with respect to `a`: this is ``convolve(a, conj(v[::-1]))``."""
    return Convolution(v[::-1].conjugate(), a.size, *section_of_correlation(mode, a.size, v.size))


def correlate_right(out: Array, a: Array, v: Array, mode: Any) -> LinearMap:
    """Make the partial with respect to `v`, which is reversed and conjugated."""
    backwards = Index((slice(None, None, -1),), v.shape, v.shape)
    start, size = section_of_correlation(mode, a.size, v.size)
    return Chain((Conjugate(), backwards, Convolution(a, v.size, start, size)))


def section_of_correlation(mode: Any, n: int, m: int) -> tuple[int, int]:
    """See `section_of`; where there are two middles, correlation takes that of the longer one."""
    start, size = section_of(mode, n, m)
    return (n // 2 if mode in ("same", 1) and n < m else start), size


def signature(default: str) -> Callable[..., Call]:
    """Make a signature with a default for the mode."""

    def of_two(a: Array, v: Array, mode: Any = default) -> Call:
        return (as_array(a), as_array(v)), {"mode": mode}

    return of_two


CONVOLUTION: dict[Any, Entry] = {
    np.convolve: rule(
        lambda out, a, v, mode: convolved(a, v, *section_of(mode, a.size, v.size)),
        lambda out, a, v, mode: convolved(v, a, *section_of(mode, a.size, v.size)),
        signature=signature("full"),
        body=bodies.convolved,
    ),
    np.correlate: rule(
        correlate_left, correlate_right, signature=signature("valid"), body=bodies.correlated
    ),
}


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


def sequences(name: str, *polynomials: Any) -> list[Array]:
    """Take polynomials to arrays of one axis, of which a number is a constant one."""
    return [a if a.ndim else np.reshape(a, (1,)) for a in coefficients(name, *polynomials)]


def real_like(p: Array) -> np.dtype[Any]:
    """Tell the dtype of real factors that leave the precision of an array as it is."""
    return np.finfo(p.dtype).dtype if p.dtype.kind in "fc" else np.dtype(float)


# Values


@define(eq=False, repr=False)
class Values:
    """The values of a polynomial of `n` coefficients at `x`, in its coefficients."""

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


def polymul(a1: Any, a2: Any) -> Array:
    """Multiply two polynomials without the zeros that they begin with; see `numpy.polymul`."""
    given = sequences("polymul", a1, a2)
    whole = [a if len(a) else np.concatenate((a, np.zeros(1, a.dtype))) for a in given]
    x, y = (a[zeros:] if (zeros := leading_zeros(a)) else a for a in whole)
    return np.convolve(x, y)


def leading_zeros(p: Array) -> int:
    """Count the zeros that a polynomial starts with, but for its constant."""
    there = np.not_equal(p, 0)[:-1]
    if p.size > 1 and not anywhere(~there[0]):
        return 0
    found = np.flatnonzero(there)
    return int(found[0]) if found.size else int(p.size - 1)


def polyder(p: Any, m: int = 1) -> Array:
    """Differentiate a polynomial; see `numpy.polyder`."""
    (p,), m = coefficients("polyder", p), int(m)
    if m < 0:
        raise ValueError("Order of derivative must be positive (see polyint)")
    for _ in range(m):
        p = p[:-1] * np.arange(len(p) - 1, 0, -1)
    return p


def joined(parts: tuple[Any, ...]) -> Array:
    """Join coefficients, of which NumPy puts a constant into a list."""
    return np.concatenate([np.stack(part) if type(part) is list else part for part in parts])


polyint = bodies.own_lines(np.polyint, poly1d=(), concatenate=joined)


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

FITTED = bodies.own_lines(np.polyfit)


def polyfit(
    x: Any,
    y: Any,
    deg: int,
    rcond: float | None = None,
    full: bool = False,
    w: Any = None,
    cov: bool | str = False,
) -> Any:
    """Fit a polynomial by NumPy's own lines, which multiply by weights in place."""
    x, y = as_array(x) + 0.0, as_array(y) + 0.0
    if x.ndim != 1 or x.size == 0 or y.ndim not in (1, 2) or y.shape[0] != x.shape[0]:
        raise ShapeError(
            f"np.polyfit takes x of shape (m,) and y of shape (m,) or (m, k), not empty; got "
            f"shapes {x.shape} and {y.shape}"
        )
    if w is not None:
        w = as_array(w) + 0.0
        if w.shape != x.shape:
            raise ShapeError(f"np.polyfit: w has shape {w.shape}, and x has {x.shape}")
        nothing = np.zeros_like(w, dtype=x.dtype)  # of a handle it is one, which can be written to
        x = x + nothing
        y = y + (nothing[:, None] if y.ndim == 2 else nothing).astype(y.dtype)
    return FITTED(x, y, deg, rcond, full, w, cov)


POLYNOMIALS: dict[Any, Entry] = {
    np.roots: rule(
        root_partial,
        signature=arguments_of(np.roots, "p", ""),
        facts=facts.SHAPED_BY_VALUES,
        body=bodies.roots,
    ),
    np.poly: rule(
        product_partial,
        signature=poly_signature,
        facts=facts.Facts(dtype_by_values=True),
        body=bodies.from_roots,
    ),
    np.polyval: rule(
        lambda out, p, x: Values(x, p.size),
        slope,
        signature=polyval_signature,
        body=bodies.polynomial,
    ),
    **bodies.own(np.polyadd, np.polysub, poly1d=()),
    np.polyder: Derivation(polyder, facts=facts.composed(polyder)),
    np.polyint: Derivation(polyint, facts=facts.composed(polyint)),
    np.polymul: Derivation(polymul, facts=facts.SHAPED_BY_VALUES),
    # With full=True, what is left over is empty where the rank is too low
    np.polyfit: Derivation(polyfit, facts=facts.SHAPED_BY_VALUES),
}

add_facts(POLYNOMIALS, (np.roots, np.polyfit), may_raise=True)
add_facts(POLYNOMIALS, (np.roots,), dtype_by_values=True)
