"""SciPy's elliptic integrals: Legendre's incomplete ones, Jacobi's functions, Carlson's; harmonics.

A derivative of one of Carlson's integrals is an integral

    K = integral of (t+x)**(-i-1/2) (t+y)**(-j-1/2) (t+z)**(-k-1/2) (t+p)**-l  over t > 0

with one exponent larger, DLMF 19.16 and 19.18, so K is all that is needed for every order, also
where arguments are equal. SciPy has R_F, R_D and R_J; the others are done by the trapezoidal
rule in log(t), whose error falls exponentially with the number of points (Trefethen and Weideman
2014, "The exponentially convergent trapezoidal rule", SIAM Review 56), to some 1e-15.
"""

import math
from typing import Any

import numpy as np

from tape_ad.errors import UnsupportedArgumentError
from tape_ad.extend import facts
from tape_ad.extend.arrays import Array, as_array, possibly, primal
from tape_ad.extend.rules import Maker, arguments_of, overridable, quiet, rule
from tape_ad.scipy.counterparts import counterpart
from tape_ad.scipy.special.shared import sp, where_found

# Carlson's integrals give the derivatives of the complete elliptic integrals without cancellation:
# K - E = m R_D(0, p, 1) / 3 and E - p K = m p R_D(0, 1, p) / 3 with p = 1 - m, DLMF 19.25.1


def complete_first(m: Array) -> Array:
    """dE / dm = -R_D(0, 1 - m, 1) / 6, without its sign and the 6."""
    return sp.elliprd(0.0, 1 - m, 1.0)


def complete_last(m: Array) -> Array:
    """dK / dm = R_D(0, 1, 1 - m) / 6, without the 6."""
    return sp.elliprd(0.0, 1.0, 1 - m)


DIGITS = 37.0
"""The ends of the integral are cut where exp(-DIGITS) is left of it."""

NARROWEST = 0.05
"""The nearest that arguments may come to the branch cut, in radians; beyond it, nan is given."""

BLOCK = 4096
"""How many integrals are done at once."""

Powers = tuple[int, ...]


@overridable
def algebraic(x: Array, y: Array, z: Array, p: Array, powers: Powers) -> Array:
    """The integral K of the module's docstring, with powers (i, j, k, l).

    Parameters
    ----------
    x, y, z, p : array
        Real and positive, or complex and not on the negative real axis. One of x, y, z may be 0
        where its power is 0.
    powers : tuple of int

    Returns
    -------
    array, of double precision; infinite where it diverges, and 0 where an argument is infinite
    """
    operands = np.broadcast_arrays(x, y, z, p)
    kind = np.complex128 if any(each.dtype.kind == "c" for each in operands) else np.float64
    columns = [each.astype(kind).reshape(-1, 1) for each in operands]
    out = np.empty(operands[0].size, kind)
    with np.errstate(all="ignore"):
        for start in range(0, out.size, BLOCK):
            part = slice(start, start + BLOCK)
            out[part] = trapezoidal([each[part] for each in columns], powers)
    return out.reshape(operands[0].shape)[()]


def trapezoidal(columns: list[Array], powers: Powers) -> Array:
    """Do the integrals of a block, with the points along the last axis."""
    exponents = [power + 0.5 for power in powers[:3]] + [powers[3]]
    used = [(x, power) for x, power in zip(columns, exponents, strict=True) if power]
    sizes = np.concatenate([np.abs(x) for x, _ in used], axis=1)
    angles = np.concatenate([np.abs(np.angle(x)) for x, _ in used], axis=1)
    at_zero = np.concatenate([(x == 0) * power for x, power in used], axis=1).sum(1)
    outside = np.isnan(sizes).any(1) | (angles.max(1) > math.pi - NARROWEST)
    vanishes = np.isinf(sizes).any(1)
    safe = ~outside & ~vanishes & (at_zero < 1)
    out = np.where(outside, np.nan, np.where(vanishes, 0.0, np.inf)).astype(columns[0].dtype)
    if not safe.any():
        return out
    sizes = sizes[safe]
    step = min(0.4, 2 * math.pi * (math.pi - angles[safe].max()) / DIGITS)
    low = np.log(sizes[sizes > 0].min()) - DIGITS / (1 - at_zero[safe].max())
    high = np.log(sizes.max()) + DIGITS / (sum(exponents) - 1)
    t = np.exp(np.arange(low, high + step, step))
    total: Array = step * t
    for x, power in used:
        total = total * (t + x[safe]) ** -power
    out[safe] = np.sum(total, axis=1)
    return out


def raised(position: int) -> Maker:
    """Make the maker for one argument of `algebraic`: its own power rises by one."""

    def maker(out: Array, x: Array, y: Array, z: Array, p: Array, powers: Powers) -> Any:
        higher = tuple(power + (i == position) for i, power in enumerate(powers))
        factor = powers[position] + (0.5 if position < 3 else 0.0)
        return -factor * algebraic(x, y, z, p, higher) if factor else None

    return maker


# Carlson's: R_F = K(0, 0, 0, 0) / 2, R_D = 3/2 K(0, 0, 1, 0), R_J = 3/2 K(0, 0, 0, 1)


def symmetric_second(x: Array, y: Array, z: Array) -> Array:
    """dR_G / dz = (R_F - z R_D / 3) / 4, as R_(-1/2)(1/2, 1/2, 3/2), DLMF 19.16.9, 19.18.4.

    Where x and y are 0, R_G is sqrt(z) / 2, and the terms of the sum are infinite.
    """
    zero = np.equal(z, 0)
    root = np.equal(primal(x), 0) & np.equal(primal(y), 0) & ~np.equal(primal(z), 0)
    steep = np.sqrt(np.where(root, x, 0)) + np.sqrt(np.where(root, y, 0))  # 0 with no end of slope
    x, y = np.where(root, 1, x), np.where(root, 1, y)
    product = np.where(zero, 0, z * sp.elliprd(x, y, np.where(zero, 1, z)))
    slope = 0.25 * (sp.elliprf(x, y, z) - product * (1 / 3))
    if not possibly(root):
        return slope
    return np.where(root, 0.25 / np.sqrt(np.where(root, z, 1)) - steep, slope)


def symmetric_first(x: Array, y: Array, z: Array) -> Array:
    """dR_F / dz = -R_D / 6; where one of the others is infinite, R_F is 0 for any z."""
    endless = np.isinf(primal(x)) | np.isinf(primal(y))
    slope = sp.elliprd(x, y, z) * (-1 / 6)
    return np.where(endless, 0.0, slope) if possibly(endless) else slope


def of_second_kind(*powers: int) -> Maker:
    """Make the maker for one argument of R_D, which has no limit where z is 0 and others inf."""
    factor = -1.5 * (powers[0] * 0.5 + powers[1] * 0.5 + (powers[2] - 1) * 1.5)

    def maker(out: Array, x: Array, y: Array, z: Array) -> Array:
        slope = factor * algebraic(x, y, z, 1.0, (*powers, 0))
        nowhere = np.isinf(primal(x) + primal(y)) & np.equal(primal(z), 0)
        return slope * np.where(nowhere, np.nan, 1.0) if possibly(nowhere) else slope

    return maker


def degenerate_first(out: Array, x: Array, y: Array) -> Array:
    """dR_C / dx, with R_C(x, y) = R_F(x, y, y), and DLMF 19.2.20 where y < 0."""
    negative, root, u, w = continued(x, y)
    slope = symmetric_first(w, w, u)
    if not negative.any():
        return slope
    return np.where(negative, 0.5 * out * (1 / as_array(x) - 1 / u) + root * slope, slope)


def degenerate_second(out: Array, x: Array, y: Array) -> Array:
    """dR_C / dy; see `degenerate_first`."""
    negative, root, u, w = continued(x, y)
    slope = sp.elliprd(u, w, w) * (-1 / 3)
    if not negative.any():
        return slope
    both = slope - sp.elliprd(w, w, u) * (1 / 6)
    return np.where(negative, 0.5 * out / u - root * both, slope)


def continued(x: Array, y: Array) -> tuple[Array, Array, Array, Array]:
    """Tell where R_C is Cauchy's principal value, sqrt(x / (x - y)) R_C(x - y, -y)."""
    y = as_array(y)
    at = primal(y)  # real or not, which is no tie: the value is the principal one there
    negative = np.equal(at.imag, 0) & np.less(at.real, 0)
    if not negative.any():
        return negative, x, x, y
    u = np.where(negative, x - y, x)
    return negative, np.sqrt(x / u), u, np.where(negative, -y, y)


def of_third_kind(position: int) -> Maker:
    """Make the maker for one argument of R_J, whose last is positive."""

    def maker(out: Array, x: Array, y: Array, z: Array, p: Array) -> Array:
        p = as_array(p)
        if p.dtype.kind != "c" and np.less(p, 0).any():
            raise UnsupportedArgumentError(
                "scipy.special.elliprj: of p < 0, where it is Cauchy's principal value, there is "
                "no derivative; write it by DLMF 19.20.14, with R_J of a positive argument"
            )
        factor, powers = ((1.5, [0, 0, 0, 2]), (0.75, [0, 0, 0, 1]))[position < 3]
        powers[position] += position < 3
        return -factor * algebraic(x, y, z, p, tuple(powers))

    return maker


def mean_slope(out: Array, a: Array, b: Array) -> Array:
    """d agm(a, b) / da, from agm = pi b / (2 K(1 - a**2 / b**2)), DLMF 19.8.5, and dK/dm."""
    nothing = np.equal(primal(b), 0) & np.not_equal(primal(a), 0)  # of 0 and any number
    b = np.where(nothing, 1, b) if possibly(nothing) else b
    ratio = a / b
    slope = (2 / (3 * math.pi)) * (out / b) ** 2 * ratio * sp.elliprd(0.0, 1.0, ratio * ratio)
    return np.where(nothing, 0, slope) if possibly(nothing) else slope


# Legendre's, in the notation s = sin(phi), d = 1 - m s**2; DLMF 19.25.5, 19.25.9 and 19.4


def turns(phi: Array) -> tuple[Array, Array, Array]:
    """Take an angle apart into half turns and the sine of the rest, with the sine's square."""
    n = np.rint(phi * (1 / math.pi))
    s = np.sin(phi - math.pi * n)
    return n, s, s * s


def turned(n: Array, complete: Array) -> Array:
    """Multiply what is complete by the number of half turns; 0 of them are of no infinity."""
    none = np.equal(n, 0)
    return np.where(none, 0, n * np.where(none, 1, complete))


@overridable
def first_by_m(phi: Array, m: Array) -> Array:
    """dF / dm = s**3 / 6 R_D(1 - s**2, 1, d)."""
    n, s, square = turns(phi)
    part = sp.elliprd(1 - square, 1.0, 1 - m * square) * (s * square / 6)
    return turned(n, complete_last(m) / 3) + part


@overridable
def second_by_m(phi: Array, m: Array) -> Array:
    """dE / dm = -s**3 / 6 R_D(1 - s**2, d, 1)."""
    n, s, square = turns(phi)
    part = sp.elliprd(1 - square, 1 - m * square, 1.0) * (s * square / 6)
    return -turned(n, complete_first(m) / 3) - part


def first_by_m_again(out: Array, phi: Array, m: Array) -> Array:
    """The second derivative of F by m: 3/8 s**5 K."""
    n, s, square = turns(phi)
    part = algebraic(1 - square, 1.0, 1 - m * square, 1.0, (0, 0, 2, 0))
    complete = 0.75 * algebraic(0.0, 1.0, 1 - m, 1.0, (0, 0, 2, 0))
    return turned(n, complete) + 0.375 * s * square * square * part


def second_by_m_again(out: Array, phi: Array, m: Array) -> Array:
    """The second derivative of E by m: -1/8 s**5 K."""
    n, s, square = turns(phi)
    part = algebraic(1 - square, 1 - m * square, 1.0, 1.0, (0, 1, 1, 0))
    complete = -0.25 * algebraic(0.0, 1 - m, 1.0, 1.0, (0, 1, 1, 0))
    return turned(n, complete) - 0.125 * s * square * square * part


def leftover(phi: Array, m: Array) -> Array:
    """Give 1 - m sin(phi)**2, without cancellation at the end of a quarter where m is 1."""
    s, c = np.sin(phi), np.cos(phi)
    return c * c + (1 - m) * (s * s)


def jacobi(k: int, outs: tuple[Array, ...], u: Array, m: Array) -> Array:
    """sn', cn', dn' and am', DLMF 22.13.1 and 22.16.3."""
    sn, cn, dn, _ = outs
    return (lambda: cn * dn, lambda: -sn * dn, lambda: -m * sn * cn, lambda: dn)[k]()


def jacobi_by_m(k: int, outs: tuple[Array, ...], u: Array, m: Array) -> Array:
    """The same by m, from u = F(am, m)."""
    sn, cn, dn, amplitude = outs
    slope = -dn * first_by_m(amplitude, m)
    if k == 3:
        return slope
    if k == 2:
        return -sn * (0.5 * sn + m * cn * slope) / dn
    return -sn * slope if k else cn * slope


ELLIPTIC: dict[Any, Any] = {
    sp.ellipk: lambda out, m: complete_last(m) / 6,
    sp.ellipkm1: lambda out, p: sp.elliprd(0.0, 1.0, p) / -6,
    sp.ellipe: lambda out, m: complete_first(m) / -6,
    sp.agm: (mean_slope, lambda out, a, b: mean_slope(out, b, a)),
    algebraic: rule(
        *map(raised, range(4)),
        signature=arguments_of(algebraic, "x y z p"),
        facts=facts.elementwise("x", "y", "z", "p"),
    ),
    sp.elliprf: (
        lambda out, x, y, z: symmetric_first(y, z, x),
        lambda out, x, y, z: symmetric_first(x, z, y),
        lambda out, x, y, z: symmetric_first(x, y, z),
    ),
    sp.elliprd: (of_second_kind(1, 0, 1), of_second_kind(0, 1, 1), of_second_kind(0, 0, 2)),
    sp.elliprg: (
        lambda out, x, y, z: symmetric_second(y, z, x),
        lambda out, x, y, z: symmetric_second(x, z, y),
        lambda out, x, y, z: symmetric_second(x, y, z),
    ),
    sp.elliprc: (where_found(degenerate_first), where_found(degenerate_second)),
    sp.elliprj: rule(*map(of_third_kind, range(4))),
    first_by_m: (
        lambda out, phi, m: 0.5 * np.sin(phi) ** 2 / leftover(phi, m) ** 1.5,
        first_by_m_again,
    ),
    second_by_m: (
        lambda out, phi, m: -0.5 * np.sin(phi) ** 2 / np.sqrt(leftover(phi, m)),
        second_by_m_again,
    ),
    sp.ellipkinc: (  # DLMF 19.2.4 and 19.2.5, by the upper limit
        lambda out, phi, m: 1 / np.sqrt(leftover(phi, m)),
        lambda out, phi, m: first_by_m(phi, m),
    ),
    sp.ellipeinc: (
        lambda out, phi, m: np.sqrt(leftover(phi, m)),
        lambda out, phi, m: second_by_m(phi, m),
    ),
    sp.ellipj: (jacobi, jacobi_by_m),
}


# SciPy's ellipsoidal harmonics of the first kind, Lame's functions of whole degrees


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


counterpart(ELLIPTIC, sp.ellip_harm, "h2 k2 s", quiet(ellip_harm))
