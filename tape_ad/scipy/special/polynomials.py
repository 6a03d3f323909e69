"""SciPy's orthogonal polynomials, Legendre functions, spherical harmonics and quadrature nodes.

Degrees and orders refuse handles.

By x, the formulas are those of DLMF 18.9.15 to 18.9.26: a derivative is a polynomial of the next
family, one degree lower. By a parameter, it is a sum over all lower degrees of the same family
(Froehlich 1994, "Parameter derivatives of the Jacobi polynomials and the Gaussian hypergeometric
function", Integral Transforms and Special Functions 2), for whole degrees alone.
"""

import functools
import inspect
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tape_ad.errors import UnsupportedArgumentError
from tape_ad.extend.arrays import Array, as_array
from tape_ad.extend.rules import Entry, Maker, Rule, arguments_of, quiet, rule
from tape_ad.scipy.counterparts import counterpart, scipy_function
from tape_ad.scipy.special.shared import HOME, no_partial, sp


def below(name: str, lower: Callable[..., Array]) -> Maker:
    """Make the maker from ``lower(n, m, *parameters, x)``: m is n - 1, and 0 where n is 0.

    Whole degrees are given as integers, for which SciPy takes the recurrence. Below 0 it reflects
    some families; of others, which it gives as 0 or as nan, the slope is nan.
    """
    shift, sign = REFLECTED.get(name, (0, np.nan))

    def partial(out: Array, n: Array, *rest: Array) -> Array:
        degree = as_array(n)
        whole = degree.astype(np.int64)
        degree = whole if np.all(whole == degree) else degree
        negative = (degree < 0) & (degree == whole)
        degree = np.where(negative, -degree - shift, degree)
        constant = np.equal(degree, 0) | np.equal(degree, -1)
        slope = np.where(constant, 0.0, lower(degree, np.where(constant, 0, degree - 1), *rest))
        return slope * np.where(negative, sign, 1.0) if negative.any() else slope

    return partial


REFLECTED = {
    **dict.fromkeys(("eval_chebyt", "eval_chebyc", "eval_sh_chebyt"), (0, 1.0)),
    **dict.fromkeys(("eval_chebyu", "eval_chebys", "eval_sh_chebyu"), (2, -1.0)),
    **dict.fromkeys(("eval_legendre", "eval_sh_legendre"), (1, 1.0)),
}
"""Of a degree n below 0, the polynomial is that of degree -n - shift, times a sign."""


def family(name: str, parameters: str, lower: Callable[..., Array]) -> Entry:
    """Make the rule of one family: the degree, and some parameters, refuse handles."""
    terms = BY_PARAMETERS.get(name)
    names = parameters.split()
    if terms is None:
        makers = [no_partial(name, each) for each in names]
    else:
        makers = [quiet(summed(name, *each)) for each in zip(names, terms, strict=True)]
    return rule(no_partial(name, "n"), *makers, below(name, lower))


LOWER: dict[str, tuple[str, Callable[..., Array]]] = {
    "eval_jacobi": (
        "alpha beta",
        lambda n, m, a, b, x: 0.5 * (n + a + b + 1) * sp.eval_jacobi(m, a + 1, b + 1, x),
    ),
    "eval_sh_jacobi": ("p q", lambda n, m, p, q, x: n * sp.eval_sh_jacobi(m, p + 2, q + 1, x)),
    "eval_gegenbauer": ("alpha", lambda n, m, a, x: 2 * a * sp.eval_gegenbauer(m, a + 1, x)),
    "eval_legendre": ("", lambda n, m, x: 0.5 * (n + 1) * sp.eval_jacobi(m, 1.0, 1.0, x)),
    "eval_sh_legendre": ("", lambda n, m, x: (n + 1) * sp.eval_jacobi(m, 1.0, 1.0, 2 * x - 1)),
    "eval_chebyt": ("", lambda n, m, x: n * sp.eval_chebyu(m, x)),
    "eval_chebyu": ("", lambda n, m, x: 2 * sp.eval_gegenbauer(m, 2.0, x)),
    "eval_chebyc": ("", lambda n, m, x: n * sp.eval_chebyu(m, 0.5 * x)),
    "eval_chebys": ("", lambda n, m, x: sp.eval_gegenbauer(m, 2.0, 0.5 * x)),
    "eval_sh_chebyt": ("", lambda n, m, x: 2 * n * sp.eval_chebyu(m, 2 * x - 1)),
    "eval_sh_chebyu": ("", lambda n, m, x: 4 * sp.eval_gegenbauer(m, 2.0, 2 * x - 1)),
    "eval_hermite": ("", lambda n, m, x: 2 * n * sp.eval_hermite(m, x)),
    "eval_hermitenorm": ("", lambda n, m, x: n * sp.eval_hermitenorm(m, x)),
    "eval_laguerre": ("", lambda n, m, x: -sp.eval_genlaguerre(m, 1.0, x)),
    "eval_genlaguerre": ("alpha", lambda n, m, a, x: -sp.eval_genlaguerre(m, a + 1, x)),
}


def summed(name: str, parameter: str, term: Callable[..., Array]) -> Maker:
    """Make the maker for a parameter from the terms ``term(k, n, out, *parameters, x)``."""

    def partial(out: Array, n: Array, *rest: Array) -> Array:
        degree = as_array(n)
        if not np.all((degree >= 0) & (degree == np.floor(degree))):
            raise UnsupportedArgumentError(
                f"scipy.special.{name}: there is a derivative by {parameter} for whole degrees "
                f"alone; pass {parameter}.data if it is meant as a constant"
            )
        degree = degree.astype(np.int64)  # for which SciPy takes the recurrence
        total: Array = 0.0 * out
        for k in range(int(np.max(degree, initial=0))):
            below = np.less(k, degree)
            lower = term(k, np.where(below, degree, k + 1), out, *rest)
            total = total + np.where(below, lower, 0)
        return total

    return partial


def jacobi_by(
    k: int, n: Array, out: Array, a: Array, b: Array, x: Array, other: Array, sign: int
) -> Array:
    """One term of dP / da, or of dP / db with `other` and `sign` changed.

    For k = 0, numerator and denominator have a factor a + b + 1, which is left out of both.
    """
    both = a + b + 1
    weight = (2 * k + both) / sp.poch(both + k, n - k) if k else 1 / sp.poch(both + 1, n - 1)
    weight = weight * sp.poch(other + k + 1, n - k) * float(sign) ** (n - k) / (n - k)
    return (out + weight * sp.eval_jacobi(k, a, b, x)) / (n + k + both)


def gegenbauer_by(k: int, n: Array, out: Array, a: Array, x: Array) -> Array:
    """One term of dC / da; for k = 0, where a may be 0, with C / a by Jacobi's polynomial."""
    lower = 2 * (1 + (-1.0) ** (n - k)) * (k + a) / ((k + n + 2 * a) * (n - k))
    lower = lower * (sp.eval_gegenbauer(k, a, x) if k else 1) + 2 / (k + n + 2 * a) * out
    if k:
        return lower + 2 * (k + 1) / ((k + 2 * a) * (2 * k + 1 + 2 * a)) * out
    over_a = 2 * sp.poch(2 * a + 1, n - 1) / sp.poch(a + 0.5, n)
    return lower + over_a * sp.eval_jacobi(n, a - 0.5, a - 0.5, x) / (1 + 2 * a)


BY_PARAMETERS: dict[str, tuple[Callable[..., Array], ...]] = {
    "eval_jacobi": (
        lambda k, n, out, a, b, x: jacobi_by(k, n, out, a, b, x, b, 1),
        lambda k, n, out, a, b, x: jacobi_by(k, n, out, a, b, x, a, -1),
    ),
    "eval_gegenbauer": (gegenbauer_by,),
    "eval_genlaguerre": (lambda k, n, out, a, x: sp.eval_genlaguerre(k, a, x) / (n - k),),
}

POLYNOMIALS: dict[Any, Any] = {
    getattr(sp, name): family(name, *described) for name, described in LOWER.items()
}


# SciPy's Legendre functions and spherical harmonics, with respect to the argument or the angles


def bare(n: Array, k: Array, x: Array) -> Array:
    """The k-th derivative of P_n, (n + 1)_k / 2**k P_(n-k)^(k, k)."""
    degree = as_array(n) - k
    whole = degree.astype(np.int64)
    gone = (whole == degree) & (whole < 0)
    degree = whole if np.all(whole == degree) else degree
    value = sp.poch(n + 1.0, k) * 0.5**k * sp.eval_jacobi(np.where(gone, 0, degree), k, k, x)
    return np.where(gone, 0, value)


def powers(w: Array, half: Array, count: int) -> list[Array]:
    """Give w**half and, without their factors, its derivatives by w; 1 where the factor is 0."""
    out, factor = [w**half], half
    for i in range(1, count):
        out.append(w ** np.where(np.equal(factor, 0), 0, half - i))
        factor = factor * (half - i)
    return out


def lpmv(out: Array, m: Array, v: Array, x: Array) -> Array:
    """The derivative of (-1)**m (1 - x**2)**(m/2) times the m-th derivative of P_v."""
    order = np.abs(m)
    v = np.where(np.less(v, 0), -1.0 - v, v)  # DLMF 14.9.5
    negative = np.less(m, 0)
    sign = (-1.0) ** order
    scale = np.where(negative, 1 / sp.poch(v - order + 1, 2 * order), sign)  # DLMF 14.9.3
    first, second = powers(1 - x * x, 0.5 * order, 2)
    slope = scale * (first * bare(v, order + 1, x) - order * x * second * bare(v, order, x))
    outside = np.greater(np.absolute(x), 1) & np.not_equal(m, 0)  # as SciPy's
    return np.where(outside, np.nan * x, slope)


def legendre_p(n: Any, z: Array, diff_n: int) -> Array:
    """Stack P_n and its derivatives."""
    n = as_array(n)
    return np.stack([bare(n, np.asarray(k), z) for k in range(diff_n + 1)])


def assoc_legendre_p(n: Any, m: Any, z: Array, branch_cut: Any, norm: bool, diff_n: int) -> Array:
    """Stack P_n^m and its derivatives, by Leibniz's rule."""
    n, m, branch_cut = as_array(n), as_array(m), as_array(branch_cut)
    order = np.abs(m)
    sign = np.where(np.equal(branch_cut, 2), -1.0, 1.0)  # of w = sign (z**2 - 1)
    scale = np.where(np.less(m, 0), 1.0, sign**order) * ratio(n, m, norm)
    half = 0.5 * order
    if z.dtype.kind == "c":
        near = powers(np.where(sign < 0, 1 - z * z, 1.0), half, diff_n + 1)
        left, right = (
            powers(np.where(sign < 0, 1.0, z + one), half, diff_n + 1) for one in (1, -1)
        )
        raised = [a * b * c for a, b, c in zip(near, left, right, strict=True)]
    else:
        raised = powers(sign * (z * z - 1), half, diff_n + 1)
    outer = [raised[0]]
    if diff_n:
        outer.append(2 * sign * half * z * raised[1])
    if diff_n > 1:
        bent = 4 * half * (half - 1) * z * z * raised[2]
        outer.append(2 * sign * half * raised[1] + bent)
    return scale * leibniz(outer, [bare(n, order + k, z) for k in range(diff_n + 1)])


def ratio(n: Array, m: Array, norm: Any) -> Array:
    """The factor that a negative order brings, but for its sign, or that of the norm."""
    order = np.abs(m)
    quotient = np.where(
        order > n, 0, 1 / sp.poch(np.where(order > n, order, n) - order + 1.0, 2 * order)
    )
    if norm:
        return np.sqrt((n + 0.5) * quotient)
    return np.where(m < 0, quotient, 1.0)


def leibniz(outer: list[Array], inner: list[Array]) -> Array:
    """Stack the derivatives of a product from those of its factors."""
    return np.stack(
        [
            sum(math.comb(k, i) * outer[i] * inner[k - i] for i in range(k + 1))
            for k in range(len(inner))
        ]
    )


def sph_legendre_p(n: Any, m: Any, theta: Array, diff_n: int) -> Array:
    """Stack the function of the angle and its derivatives: no quotient is in them."""
    return np.stack(of_angle(as_array(n), as_array(m), theta, diff_n))


def of_angle(n: Array, m: Array, theta: Array, count: int) -> list[Array]:
    """sin(theta)**m Q_m(cos theta) and derivatives, with the norm of spherical harmonics."""
    order = np.abs(m)
    sign = np.where(np.less(np.sin(theta), 0), -1.0, 1.0)  # SciPy takes abs(sin)
    s, c = sign * np.sin(theta), np.cos(theta)
    scale = np.where(m < 0, 1.0, (-1.0) ** order) * ratio(n, order, True)
    scale = scale / math.sqrt(2 * math.pi)
    q = [bare(n, order + k, c) for k in range(count + 1)]
    out = [s**order * q[0]]
    if count:
        below = order * s ** np.maximum(order - 1, 0)
        out.append(sign * (below * c * q[0] - s ** (order + 1) * q[1]))
    if count > 1:
        lowest = order * (order - 1) * s ** np.maximum(order - 2, 0)
        first = (lowest * c * c - order * s**order) * q[0]
        out.append(first - (2 * order + 1) * s**order * c * q[1] + s ** (order + 2) * q[2])
    return [scale * each for each in out]


def sph_harm_y(n: Any, m: Any, theta: Array, phi: Array, diff_n: int) -> Any:
    """Y = S(theta) exp(i m phi), its gradient and its Hessian matrix."""
    n, m = as_array(n), as_array(m)
    turn = np.exp(1j * (m * phi))
    parts = [each * turn for each in of_angle(n, m, theta, diff_n)]
    if not diff_n:
        return parts[0]
    by_phi = [1j * m * each for each in parts]
    out = [parts[0], np.stack([parts[1], by_phi[0]], axis=-1)]
    if diff_n > 1:
        mixed = by_phi[1]
        rows = [parts[2], mixed], [mixed, 1j * m * by_phi[0]]
        out.append(np.stack([np.stack(row, axis=-1) for row in rows], axis=-2))
    return tuple(out)


def of_all(composition: Callable[..., Any], orders: bool) -> Callable[..., Any]:
    """Make the composition for all degrees up to n, and all orders up to m and from -m on."""

    def every(n: int, *arguments: Any, **options: Any) -> Any:
        m, *rest = arguments if orders else (0, *arguments)
        angles = 2 if composition is sph_harm_y else 1
        axes = max(np.ndim(x) for x in rest[:angles])
        degrees = np.arange(n + 1).reshape(-1, *(1,) * (axes + orders))
        if not orders:
            return composition(degrees, *rest, **options)
        both = np.concatenate([np.arange(m + 1), np.arange(-m, 0)])
        return composition(degrees, both.reshape(-1, *(1,) * axes), *rest, **options)

    return every


def second_kind(k: int, outs: tuple[Array, Array], z: Array, n: int, m: int = -1) -> Array:
    """Q' and, from Legendre's equation DLMF 14.2.2, Q''; m is below 0 where there are no orders."""
    value, slope = outs
    if not k:
        return slope
    inside = 1 - z * z
    degrees = np.arange(n + 1).reshape(-1, *(1,) * np.ndim(z))
    scale = degrees * (degrees + 1)
    if m >= 0:
        orders = np.arange(m + 1).reshape(-1, 1, *(1,) * np.ndim(z))
        scale = scale - orders * orders / inside
    return (2 * z * slope - scale * value) / inside


# As SciPy has these in C or as objects without a signature, theirs are written here


def signed(name: str, parameters: str, options: str) -> Callable[..., Any]:
    """Make the function that calls one of SciPy's, with a signature."""
    names = parameters.split()
    given = [inspect.Parameter(each, inspect.Parameter.POSITIONAL_OR_KEYWORD) for each in names]
    known = {"branch_cut": 2, "norm": False, "diff_n": 0}
    given += [
        inspect.Parameter(each, inspect.Parameter.KEYWORD_ONLY, default=known[each])
        for each in options.split()
    ]

    def function(*args: Any, **kwargs: Any) -> Any:
        return getattr(sp, name)(*args, **kwargs)

    function.__name__ = function.__qualname__ = name
    function.__module__ = "scipy.special"
    function.__signature__ = inspect.Signature(given)  # type: ignore[attr-defined]  # inspect's
    return function


NEWER: dict[str, tuple[str, str, str, Callable[..., Any]]] = {
    "legendre_p": ("n z", "z", "diff_n", legendre_p),
    "assoc_legendre_p": ("n m z", "z", "branch_cut norm diff_n", assoc_legendre_p),
    "sph_legendre_p": ("n m theta", "theta", "diff_n", sph_legendre_p),
    "sph_harm_y": ("n m theta phi", "theta phi", "diff_n", sph_harm_y),
}
"""Functions that SciPy has since its release 1.15: parameters, handles, options, composition."""

POLYNOMIALS |= {
    sp.lpmv: ("m", "v", lpmv),
    **{
        function: Rule(
            makers=(quiet(second_kind),),
            signature=arguments_of(function, "z"),
            compute=lambda z, function=function, **orders: function(z=z, **orders),
            multiple=True,
        )
        for function in (scipy_function(each, HOME, "z") for each in (sp.lqn, sp.lqmn))
    },
}

for name, (parameters, handles, options, composition) in NEWER.items():
    for every in (False, True):
        public_name = f"{name}_all" if every else name
        if getattr(sp, public_name):  # which is false of what that release has not
            lines = of_all(composition, "m" in parameters.split()) if every else composition
            counterpart(
                POLYNOMIALS, signed(public_name, parameters, options), handles, quiet(lines)
            )


# Nodes and weights of Gauss' quadrature, with respect to the parameters of the weight function


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


COMPOSITIONS: dict[str, tuple[Any, str]] = {
    "roots_jacobi": (jacobi, "alpha beta"),
    "roots_gegenbauer": (gegenbauer, "alpha"),
    "roots_genlaguerre": (genlaguerre, "alpha"),
    "roots_sh_jacobi": (sh_jacobi, "p1 q1"),
}


def with_array_sum(theirs: Callable[..., Any]) -> Callable[..., Any]:
    """Make the sum of the weights NumPy's number, which for some parameters is one of Python's."""

    @functools.wraps(theirs)
    def roots(*args: Any, **kwargs: Any) -> Any:
        out = theirs(*args, **kwargs)
        return tuple(np.float64(each) if type(each) is float else each for each in out)

    return roots


for name, (nodes_of, handles) in COMPOSITIONS.items():
    counterpart(POLYNOMIALS, with_array_sum(getattr(sp, name)), handles, nodes_of)
