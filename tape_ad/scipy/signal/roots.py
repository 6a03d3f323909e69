"""Roots of filters' polynomials, and what is made of them; those that are not simple."""

from typing import Any, NoReturn

import numpy as np
from attrs import define

from tape_ad import differentiable
from tape_ad.errors import SingularJacobianError, UnsupportedArgumentError
from tape_ad.extend import facts
from tape_ad.extend.arrays import Array, as_array, is_handle, primal
from tape_ad.extend.maps import SAME
from tape_ad.extend.packages import note_stand_in
from tape_ad.extend.patterns import dense
from tape_ad.extend.rules import Constant, Entry, add_facts, overridable, rule
from tape_ad.scipy.counterparts import counterpart
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.signal.convolution import convolve, convolved
from tape_ad.scipy.signal.filters import coefficients, filtered

__all__ = ["ROOTS"]


CLOSE = 100.0
"""How many roundings of the coefficients may lie between what is one root: a double one is found
as two that are up to about 10 of them apart, and the roots of usable filters are over 1e4."""


@define(eq=False, repr=False)
class Inseparable:
    """What stands for the derivative of roots of which some are one: there is none."""

    pattern = dense
    name: str

    def push(self, t: Array) -> NoReturn:
        raise SingularJacobianError(
            f"tape_ad.scipy.signal.{self.name}: a root that is not simple has no derivative, for "
            "it moves by a root of what a coefficient changes by; keep the filter as sections, or "
            "as zeros and poles, from the beginning (output='sos' or 'zpk' of what designs it)"
        )

    pull = push


def roots_of_filter(name: str, p: Array) -> Array:
    """Find the roots of a polynomial for a function of `scipy.signal`.

    Parameters
    ----------
    name : str
        The function, for the error.
    p : array or Tensor, shape (n + 1,)
        The highest coefficient first.

    Returns
    -------
    array or Tensor, shape (n,)
        A derivative is an error where a root is not simple, to rounding; see `numpy.roots`.
    """
    return held_apart(np.roots(p), p, name)


@overridable
def held_apart(roots: Array, p: Array, name: str) -> Array:
    """Give the roots of a polynomial as they are."""
    return roots


def apart(out: Array, roots: Array, p: Array, name: str) -> Any:
    """Make the partial of `held_apart`, as Wilkinson's condition of the roots tells it."""
    if roots.shape[-1] < 2:
        return SAME
    between = np.abs(roots[..., np.newaxis] - roots[..., np.newaxis, :])
    gaps = np.min(between + np.diag(np.full(roots.shape[-1], np.inf)), axis=-1)
    degrees = np.arange(p.shape[-1] - 1, 0, -1)
    slopes = np.abs(along_roots(p[..., :-1] * degrees, roots))
    sizes = along_roots(np.abs(p), np.abs(roots))
    least = CLOSE * np.finfo(roots.dtype).eps * sizes
    return Inseparable(name) if bool(np.any(slopes * gaps <= least)) else SAME


def along_roots(p: Array, roots: Array) -> Array:
    """Evaluate polynomials, of which the last axis has the coefficients, each at its roots."""
    total = np.zeros_like(roots)
    for k in range(p.shape[-1]):
        total = total * roots + p[..., k, np.newaxis]
    return total


ROOTS: dict[Any, Entry] = {
    held_apart: rule(
        apart,
        None,
        signature=lambda roots, p, name: ((roots, p), {"name": name}),
        facts=facts.cores("(n),(m)->(n)"),
    )
}


normalize = differentiable(scipy.signal.normalize)
zpk2sos = differentiable(scipy.signal.zpk2sos)


@counterpart(ROOTS, scipy.signal.tf2zpk, "b a")
def tf2zpk(b: Array, a: Array) -> tuple[Array, Array, Array]:
    """Find zeros, poles and the gain of coefficients, as `scipy.signal.tf2zpk` does.

    Parameters
    ----------
    b, a : array or Tensor, shapes (k,) and (l,)

    Returns
    -------
    tuple of array or Tensor
        The zeros, the poles and the gain. A derivative of those among which a root is not simple
        is an error.
    """
    b = as_array(b)
    b = b[0] if b.ndim == 2 and b.shape[0] == 1 else coefficients("tf2zpk", b)
    a = coefficients("tf2zpk", a)
    like = scipy.signal.tf2zpk(*(np.ones(c.shape, c.dtype) for c in (b, a)))
    given = b
    b, a = normalize(b, without_zeros(a))
    given = given[given.shape[0] - b.shape[0] :]  # whose roots do not depend on the denominator
    z, p = roots_of_filter("tf2zpk", given / given[0]), roots_of_filter("tf2zpk", a)
    return in_precision(z, like[0]), in_precision(p, like[1]), b[0]


@counterpart(ROOTS, scipy.signal.tf2sos, "b a")
def tf2sos(b: Array, a: Array, pairing: str | None = None, *, analog: bool = False) -> Array:
    """Make second-order sections of a transfer function, as `scipy.signal.tf2sos` does.

    Parameters
    ----------
    b, a : array or Tensor, shapes (k,) and (l,)
    pairing, analog
        As for `scipy.signal.zpk2sos`.

    Returns
    -------
    array or Tensor, shape (sections, 6)
        Where a root is not simple a derivative is an error, but for filters of one section, which
        has the coefficients themselves.
    """
    if not analog and pairing in {None, "nearest", "keep_odd"}:
        ahead, behind = normalize(
            coefficients("tf2sos", b), without_zeros(coefficients("tf2sos", a))
        )
        lengths = ahead.shape[0], behind.shape[0]
        if 1 < max(lengths) <= 3:
            sides = (x.astype(np.result_type(x, np.float64)) for x in (ahead, behind))
            return np.concatenate([np.pad(x, (0, 3 - x.shape[0])) for x in sides])[np.newaxis]
    return zpk2sos(*tf2zpk(b, a), pairing=pairing, analog=analog)


@counterpart(ROOTS, scipy.signal.sos2tf, "sos")
def sos2tf(sos: Array) -> tuple[Array, Array]:
    """Multiply sections out, as `scipy.signal.sos2tf` does.

    Parameters
    ----------
    sos : array or Tensor, shape (sections, 6)

    Returns
    -------
    tuple of array or Tensor
        The numerator and the denominator.
    """
    sos = as_array(sos)
    b = a = np.ones(1, sos.dtype)
    for section in sos:
        b = convolve(b, section[:3], method="direct")
        a = convolve(a, section[3:], method="direct")
    return (
        b[sum(zeros_in_front(section[:3]) for section in sos) :],
        a[sum(zeros_in_front(section[3:]) for section in sos) :],
    )


def in_precision(x: Array, like: Array) -> Array:
    """Take a real or complex array to the precision that SciPy gives in this release."""
    real = like.real.dtype
    return x.astype(np.result_type(real, np.complex64) if x.dtype.kind == "c" else real)


def zeros_in_front(c: Array) -> int:
    """Count the zeros that a polynomial begins with; the last coefficient is none of them."""
    values = primal(c)
    count = 0
    while count < values.shape[0] - 1 and values[count] == 0:
        count += 1
    return count


def without_zeros(c: Array) -> Array:
    """Drop zeros in front of a denominator, as SciPy does.

    Raises
    ------
    UnsupportedArgumentError
        For handles, as poles move by a coefficient that is dropped.
    """
    count = zeros_in_front(c)
    if count and is_handle(c):
        raise UnsupportedArgumentError(
            "a denominator of handles begins with a coefficient that is exactly 0, which has a "
            "slope that would be lost; leave it out, a[1:]"
        )
    return c[count:]


@counterpart(ROOTS, scipy.signal.residue, "b a")
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
    check_reduction(rtype)
    b, a = doubles("residue", b), without_zeros(doubles("residue", a))
    poles = simple_poles("residue", a, tol)
    k, rest = divided(b, a)
    return residues_at(poles, rest) / a[0], poles, k[zeros_in_front(b) :]


@counterpart(ROOTS, scipy.signal.residuez, "b a")
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
    check_reduction(rtype)
    b, a = doubles("residuez", b)[::-1], without_zeros(doubles("residuez", a)[::-1])
    if bool(primal(a[-1]) == 0):
        raise ValueError("First coefficient of determinant `a` must be non-zero.")
    poles = simple_poles("residuez", a[::-1], tol)
    k, rest = divided(b, a)
    return -poles * residues_at(1 / poles, rest) / a[0], poles, k[zeros_in_front(b) :][::-1]


def check_reduction(rtype: str) -> None:
    """Refuse what no reduction of multiple roots is called."""
    if rtype not in REDUCED:
        raise ValueError(f"`rtype` must be one of {set(REDUCED)}")


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
    size = b.shape[0] - a.shape[0] + 1
    if size < 1:
        return np.empty(0), b
    quotient = filtered(b, a, np.eye(1, size)[0])
    return quotient, b - convolved(a, quotient, (0,), b.shape)


def residues_at(poles: Array, numerator: Array) -> Array:
    """Divide a polynomial at each pole by the distances to all others."""
    apart = poles[:, np.newaxis] - poles + np.eye(poles.shape[0])
    return np.polyval(numerator, poles) / np.prod(apart, axis=1)


REDUCED = {"max": -1, "maximum": -1, "min": 0, "minimum": 0, "avg": None, "mean": None}
"""Which root, in order, stands for those that are close."""


@overridable
def groups_of(p: Array, tol: float) -> Array:
    """Put roots that are close into groups.

    Returns
    -------
    array of int, shape (2, n)
        The group of each root, and its place there in order of the values.
    """
    groups = np.full((2, p.shape[0]), -1)
    for i in range(p.shape[0]):
        if groups[0, i] < 0:
            group = np.flatnonzero((groups[0] < 0) & (np.abs(p - p[i]) <= tol))
            groups[0, group] = groups[0].max() + 1
            groups[1, group[np.argsort(p[group], kind="stable")]] = np.arange(group.size)
    return groups


ROOTS[groups_of] = Constant()


@counterpart(ROOTS, scipy.signal.unique_roots, "p")
def unique_roots(p: Array, tol: float = 1e-3, rtype: str = "min") -> tuple[Array, Array]:
    """Take roots that are close for one, as `scipy.signal.unique_roots` does.

    Parameters
    ----------
    p : array or Tensor, shape (n,)
    tol : float
        How close.
    rtype : str
        "max", "min" or "avg": which of them, or their mean.

    Returns
    -------
    tuple of array or Tensor
        The roots, and how many each stands for.
    """
    check_reduction(rtype)
    p = as_array(p)
    labels, places = groups_of(p, tol)
    counts = np.bincount(labels)
    member = labels == np.arange(counts.shape[0])[:, None]
    if REDUCED[rtype] is not None:
        member = member & (places == (0 if REDUCED[rtype] == 0 else counts[:, None] - 1))
    members = [np.flatnonzero(each) for each in member]
    return np.stack([np.mean(p[each]) for each in members]), counts


add_facts(ROOTS, (tf2zpk, tf2sos, sos2tf, residue, residuez, unique_roots), shape_by_values=True)
add_facts(ROOTS, (tf2zpk, residue, residuez), dtype_by_values=True)


def poly(seq_of_zeros: Array, *, xp: Any) -> Any:
    """Stand in for the copy of `numpy.poly` that SciPy has, which asks whether roots are equal."""
    out = np.poly(seq_of_zeros)
    if not is_handle(seq_of_zeros) and seq_of_zeros.dtype.kind in "iu":
        return np.rint(out).astype(seq_of_zeros.dtype)  # whole numbers stay such
    if np.ndim(out) == 0:  # of no roots
        return np.asarray(out)
    imaginary = np.imag(primal(seq_of_zeros))
    paired = bool((np.sort(imaginary) == np.sort(-imaginary)).all())
    return out.real if out.dtype.kind == "c" and paired else out


if scipy.signal._polyutils.poly:  # since SciPy 1.17
    note_stand_in(scipy.signal._polyutils.poly, poly)
