"""SciPy's elliptic integrals: Legendre's incomplete ones, Jacobi's functions, and Carlson's.

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
from tape_ad.extend.rules import Entry, Maker, Rule, arguments_of, overridable, quiet, rule
from tape_ad.scipy.special.shared import no_partial, sp, where_found

__all__ = ["ELLIPTIC", "INTEGRALS"]


def expn(out: Array, n: Array, x: Array) -> Array:
    """-E_(n-1)(x), DLMF 8.19.13; for n = 0, of exp(-x) / x itself.

    SciPy drops what there is of `n` behind the point.
    """
    n = np.trunc(n)
    lowest = np.equal(n, 0)
    lower = -sp.expn(np.where(lowest, 0, np.subtract(n, 1)), x)
    return np.where(lowest, -out * (1 + 1 / x), lower) if lowest.any() else lower


def sici(k: int, outs: tuple[Array, Array], x: Array) -> Array:
    """sin(x) / x for Si and cos(x) / x for Ci, DLMF 6.2."""
    return np.cos(x) / x if k else np.sinc(x * (1 / math.pi))


def shichi(k: int, outs: tuple[Array, Array], x: Array) -> Array:
    """sinh(x) / x = sin(ix) / (ix) for Shi and cosh(x) / x for Chi, DLMF 6.2."""
    if k:
        return np.cosh(x) / x
    sinhc = np.sinc(x * (1j / math.pi))
    return sinhc if x.dtype.kind == "c" else sinhc.real


def spence(out: Array, z: Array) -> Array:
    """log(z) / (1 - z), near 1 by the hypergeometric function, DLMF 15.4.1."""
    near = np.less(np.absolute(z - 1), 0.5)
    inner, outer = np.where(near, 1 - z, 0), np.where(near, 2, z)
    series = -sp.hyp2f1(1.0, 1.0, 2.0, inner)
    return np.where(near, series, np.log(outer) / (1 - outer))


# Carlson's integrals give the derivatives of the complete elliptic integrals without cancellation:
# K - E = m R_D(0, p, 1) / 3 and E - p K = m p R_D(0, 1, p) / 3 with p = 1 - m, DLMF 19.25.1


@overridable
def carlson_first(p: Array) -> Array:
    """R_D(0, p, 1), which is -6 dE/dm at m = 1 - p."""
    return sp.elliprd(0.0, p, 1.0)


@overridable
def carlson_last(p: Array) -> Array:
    """R_D(0, 1, p), which is 6 dK/dm at m = 1 - p."""
    return sp.elliprd(0.0, 1.0, p)


def carlson_first_slope(out: Array, p: Array) -> Array:
    """6 d2E/dm2, from Legendre's equation DLMF 19.4.9; near m = 0 by 19.5.2."""
    near, inner, outer = around_one(p)
    series = (-9 * math.pi / 32) * sp.hyp2f1(1.5, 2.5, 3.0, 1 - inner)
    first = carlson_first(outer)
    direct = (outer * first - 1.5 * sp.ellipe(1 - outer)) / (outer * (1 - outer))
    return np.where(near, series, direct)


def carlson_last_slope(out: Array, p: Array) -> Array:
    """-6 d2K/dm2, from Legendre's equation DLMF 19.4.8; near m = 0 by 19.5.1."""
    near, inner, outer = around_one(p)
    series = (-27 * math.pi / 32) * sp.hyp2f1(2.5, 2.5, 3.0, 1 - inner)
    last = carlson_last(outer)
    direct = ((2 * outer - 1) * last - 1.5 * sp.ellipkm1(outer)) / (outer * (1 - outer))
    return np.where(near, series, direct)


def around_one(p: Array) -> tuple[Array, Array, Array]:
    """Tell where p is near 1, and give p there and elsewhere, filled up with harmless numbers."""
    near = np.less(np.absolute(p - 1), 0.5)
    return near, np.where(near, p, 1), np.where(near, 2, p)


INTEGRALS: dict[Any, Entry] = {
    sp.expi: rule(quiet(lambda out, x: np.exp(x) / x)),
    sp.exp1: rule(quiet(lambda out, z: -np.exp(-z) / z)),
    sp.expn: rule(no_partial("expn", "n"), quiet(expn)),
    sp.sici: Rule(makers=(quiet(sici),), multiple=True),
    sp.shichi: Rule(makers=(quiet(shichi),), multiple=True),
    sp.spence: rule(quiet(spence)),
    sp.ellipk: rule(quiet(lambda out, m: carlson_last(1 - m) / 6)),
    sp.ellipkm1: rule(quiet(lambda out, p: carlson_last(p) / -6)),
    sp.ellipe: rule(quiet(lambda out, m: carlson_first(1 - m) / -6)),
    carlson_first: rule(quiet(carlson_first_slope), facts=facts.ELEMENTWISE),
    carlson_last: rule(quiet(carlson_last_slope), facts=facts.ELEMENTWISE),
    sp.hyp1f1: rule(
        no_partial("hyp1f1", "a"),
        no_partial("hyp1f1", "b"),
        quiet(lambda out, a, b, x: a / b * sp.hyp1f1(a + 1, b + 1, x)),
    ),
    sp.hyp2f1: rule(
        no_partial("hyp2f1", "a"),
        no_partial("hyp2f1", "b"),
        no_partial("hyp2f1", "c"),
        quiet(lambda out, a, b, c, z: a * b / c * sp.hyp2f1(a + 1, b + 1, c + 1, z)),
    ),
}


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

    return quiet(maker)


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


# Legendre's, in the notation s = sin(phi), d = 1 - m s**2; DLMF 19.25.5, 19.25.9 and 19.4


def turns(phi: Array) -> tuple[Array, Array]:
    """Take an angle apart into half turns and the sine of the rest."""
    n = np.rint(phi * (1 / math.pi))
    return n, np.sin(phi - math.pi * n)


def turned(n: Array, complete: Array) -> Array:
    """Multiply what is complete by the number of half turns; 0 of them are of no infinity."""
    none = np.equal(n, 0)
    return np.where(none, 0, n * np.where(none, 1, complete))


@overridable
def first_by_m(phi: Array, m: Array) -> Array:
    """dF / dm = s**3 / 6 R_D(1 - s**2, 1, d)."""
    n, s = turns(phi)
    square = s * s
    part = sp.elliprd(1 - square, 1.0, 1 - m * square) * (s * square / 6)
    return turned(n, carlson_last(1 - m) / 3) + part


@overridable
def second_by_m(phi: Array, m: Array) -> Array:
    """dE / dm = -s**3 / 6 R_D(1 - s**2, d, 1)."""
    n, s = turns(phi)
    square = s * s
    part = sp.elliprd(1 - square, 1 - m * square, 1.0) * (s * square / 6)
    return -turned(n, carlson_first(1 - m) / 3) - part


def first_by_m_again(out: Array, phi: Array, m: Array) -> Array:
    """The second derivative of F by m: 3/8 s**5 K."""
    n, s = turns(phi)
    square = s * s
    part = algebraic(1 - square, 1.0, 1 - m * square, 1.0, (0, 0, 2, 0))
    complete = carlson_last_slope(out, 1 - m) / -3
    return turned(n, complete) + 0.375 * s * square * square * part


def second_by_m_again(out: Array, phi: Array, m: Array) -> Array:
    """The second derivative of E by m: -1/8 s**5 K."""
    n, s = turns(phi)
    square = s * s
    part = algebraic(1 - square, 1 - m * square, 1.0, 1.0, (0, 1, 1, 0))
    complete = carlson_first_slope(out, 1 - m) / 3
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


ELLIPTIC: dict[Any, Entry] = {
    algebraic: rule(
        *map(raised, range(4)),
        signature=arguments_of(algebraic, "x y z p"),
        facts=facts.elementwise("x", "y", "z", "p"),
    ),
    sp.elliprf: rule(
        quiet(lambda out, x, y, z: symmetric_first(y, z, x)),
        quiet(lambda out, x, y, z: symmetric_first(x, z, y)),
        quiet(lambda out, x, y, z: symmetric_first(x, y, z)),
    ),
    sp.elliprd: rule(of_second_kind(1, 0, 1), of_second_kind(0, 1, 1), of_second_kind(0, 0, 2)),
    sp.elliprg: rule(
        quiet(lambda out, x, y, z: symmetric_second(y, z, x)),
        quiet(lambda out, x, y, z: symmetric_second(x, z, y)),
        quiet(lambda out, x, y, z: symmetric_second(x, y, z)),
    ),
    sp.elliprc: rule(where_found(degenerate_first), where_found(degenerate_second)),
    sp.elliprj: rule(*map(of_third_kind, range(4))),
    first_by_m: rule(
        quiet(lambda out, phi, m: 0.5 * np.sin(phi) ** 2 / leftover(phi, m) ** 1.5),
        quiet(first_by_m_again),
        facts=facts.ELEMENTWISE,
    ),
    second_by_m: rule(
        quiet(lambda out, phi, m: -0.5 * np.sin(phi) ** 2 / np.sqrt(leftover(phi, m))),
        quiet(second_by_m_again),
        facts=facts.ELEMENTWISE,
    ),
    sp.ellipkinc: rule(  # DLMF 19.2.4 and 19.2.5, by the upper limit
        quiet(lambda out, phi, m: 1 / np.sqrt(leftover(phi, m))),
        quiet(lambda out, phi, m: first_by_m(phi, m)),
    ),
    sp.ellipeinc: rule(
        quiet(lambda out, phi, m: np.sqrt(leftover(phi, m))),
        quiet(lambda out, phi, m: second_by_m(phi, m)),
    ),
    sp.ellipj: Rule(makers=(quiet(jacobi), quiet(jacobi_by_m)), multiple=True),
}
