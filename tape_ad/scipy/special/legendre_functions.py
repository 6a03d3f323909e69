"""SciPy's Legendre functions and spherical harmonics, with respect to the argument or the angles.

The derivatives of a Legendre function are Jacobi's, DLMF 18.9.15 and 14.3.21, so that nothing is
divided by 1 - x**2 more often than the derivative itself is; see 14.6.1 and 14.6.3.
Degrees and orders refuse handles.
"""

import inspect
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tape_ad.extend.arrays import Array, as_array
from tape_ad.extend.rules import Entry, Rule, arguments_of, quiet, rule
from tape_ad.scipy.counterparts import counterpart, scipy_function
from tape_ad.scipy.special.shared import no_partial, sp

__all__ = ["LEGENDRE", "LEGENDRE_FUNCTIONS"]

MODULE = "tape_ad.scipy.special"


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

LEGENDRE_FUNCTIONS: dict[str, Any] = {
    name: scipy_function(getattr(sp, name), MODULE, "z") for name in ("lqn", "lqmn")
}
"""Ours, by their names."""

LEGENDRE: dict[Any, Entry] = {
    sp.lpmv: rule(no_partial("lpmv", "m"), no_partial("lpmv", "v"), quiet(lpmv)),
    **{
        function: Rule(
            makers=(quiet(second_kind),),
            signature=arguments_of(function, "z"),
            compute=lambda z, function=function, **orders: function(z=z, **orders),
            multiple=True,
        )
        for function in LEGENDRE_FUNCTIONS.values()
    },
}

for name, (parameters, handles, options, composition) in NEWER.items():
    for every in (False, True):
        public_name = f"{name}_all" if every else name
        if getattr(sp, public_name):  # which is false of what that release has not
            lines = of_all(composition, "m" in parameters.split()) if every else composition
            LEGENDRE_FUNCTIONS[public_name] = counterpart(
                LEGENDRE, signed(public_name, parameters, options), handles, quiet(lines)
            )
