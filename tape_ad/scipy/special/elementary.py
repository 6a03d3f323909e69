"""SciPy's functions of logarithms, powers and sines: entropies, logits, penalties, sums, Lambert.

Where a derivative is infinite at 0, as that of ``entr(x) = -x log x``, it is inf: the limit from
inside. Where both operands are 0, the functions are not continuous, and xlogy, rel_entr and kl_div
have derivative 0 in the first; so a term ``x log y`` with x = 0 never sends nan to y.
"""

import math
from typing import Any

import numpy as np

from tape_ad.extend import facts
from tape_ad.extend.arrays import Array, as_array, axes_of, ratio, unit
from tape_ad.extend.maps import Divide, LinearMap, WeightedSum
from tape_ad.extend.rules import Call, Rule, arguments_of, overridable, quiet, rule
from tape_ad.rules.numpy.elementwise import LN2, LN10, cbrt, power_base, power_exponent
from tape_ad.scipy.counterparts import refuse_elsewhere, scipy_function
from tape_ad.scipy.special.shared import BERNOULLI, HOME, sp, ufuncs, with_body

Axis = int | tuple[int, ...] | None


@overridable
def log_beside(x: Array, y: Array) -> Array:
    """log y, and 0 where x is 0 as well: what an x times it is to be 0 with."""
    with np.errstate(all="ignore"):
        return np.log(np.where(np.equal(x, 0) & np.equal(y, 0), 1, y))


@overridable
def log1p_beside(x: Array, y: Array) -> Array:
    """log(1 + y), and 0 where x is 0 and y is -1."""
    with np.errstate(all="ignore"):
        return np.log1p(np.where(np.equal(x, 0) & np.equal(y, -1), 0, y))


@overridable
def log_ratio(x: Array, y: Array) -> Array:
    """log(x / y), and 0 where both are 0."""
    with np.errstate(all="ignore"):
        both = np.equal(x, 0) & np.equal(y, 0)
        return np.log(np.where(both, 1, x) / np.where(both, 1, y))


def power_slope(log: Array, lmbda: Array) -> Array:
    """Differentiate (exp(lmbda log) - 1) / lmbda with respect to lmbda, also at 0.

    It is log**2 g'(lmbda log) with g(z) = (exp(z) - 1) / z, whose derivative is half of Kummer's
    function M(2, 3, z), DLMF 13.6.1 and 13.3.15. SciPy's takes forever where z is infinite.
    """
    z = lmbda * log
    endless = np.isinf(z)
    slope = 0.5 * log * log * sp.hyp1f1(2.0, 3.0, np.where(endless, 0, z))
    limit = np.where(np.greater(z, 0), np.inf, 1 / np.where(endless, lmbda, 1) ** 2)
    return np.where(endless, limit, slope)


def root_slope(y: Array, lmbda: Array) -> Array:
    """Differentiate log(1 + lmbda y) / lmbda with respect to lmbda, also at 0.

    It is y**2 g'(lmbda y) with g(z) = log(1 + z) / z, near 0 by the hypergeometric function,
    DLMF 15.4.1 and 15.5.1.
    """
    z = lmbda * y
    near = np.less(np.absolute(z), 0.5)
    inner, outer, side = np.where(near, z, 0), np.where(near, 1, z), np.where(near, y, 0)
    direct = (outer / (1 + outer) - np.log1p(outer)) / np.where(near, 1, lmbda) ** 2
    return np.where(near, -0.5 * side * side * sp.hyp2f1(2.0, 2.0, 3.0, -inner), direct)


@overridable
def log_sum_exp(a: Array, b: Array | None, axis: Axis, keepdims: bool) -> Array:
    """Compute log(sum(b exp(a))); both have one shape."""
    return sp.logsumexp(a, axis=axis, b=b, keepdims=keepdims)


@overridable
def log_abs_sum_exp(a: Array, b: Array | None, axis: Axis, keepdims: bool) -> tuple[Array, Array]:
    """Compute the logarithm of abs(sum(b exp(a))), and the sum's sign, for real operands."""
    log, sign = sp.logsumexp(a, axis=axis, b=b, keepdims=keepdims, return_sign=True)
    return log, sign


def log_sum_exp_body(a: Array, b: Array | None, axis: Axis, keepdims: bool) -> Array:
    """Compute log(sum(b exp(a))), with the largest exponent set apart."""
    top = np.max(a if b is None else np.where(np.equal(b, 0), -np.inf, a), axis, keepdims=True)
    shifted = np.exp(a - np.where(np.isfinite(top), top, 0))
    out = np.log(np.sum(shifted if b is None else b * shifted, axis, keepdims=True)) + top
    return out if keepdims else np.squeeze(out, axis)[()]


def sum_signature(a: Array, b: Array | None, axis: Axis, keepdims: bool) -> Call:
    """Sort the arguments of the two sums."""
    options = {"axis": axis, "keepdims": bool(keepdims)}
    return ((a,) if b is None else (a, b)), options


def shares(a: Array, log: Array) -> Array:
    """exp(a - log), and 0 where the sum is 0, as it is when every a is -inf."""
    with np.errstate(all="ignore"):
        return np.exp(a - np.where(np.equal(log, -np.inf), 0, log))


def beside_terms(out: Array, a: Array, axis: Axis, keepdims: bool) -> Array:
    """Give what comes of terms the axes that they were added along."""
    return out if keepdims else np.expand_dims(out, axes_of(a.ndim, axis))


def log_sum_first(
    out: Array, a: Array, b: Array | None = None, *, axis: Axis, keepdims: bool
) -> LinearMap:
    """Weigh the sum by the share that each term has in it."""
    share = shares(a, beside_terms(out, a, axis, keepdims))
    return WeightedSum(share if b is None else share * b, a.ndim, axes_of(a.ndim, axis), keepdims)


def log_sum_second(out: Array, a: Array, b: Array, *, axis: Axis, keepdims: bool) -> LinearMap:
    """Weigh the sum by the share that each term has in it, divided by its b."""
    weights = np.exp(a - beside_terms(out, a, axis, keepdims))
    return WeightedSum(weights, a.ndim, axes_of(a.ndim, axis), keepdims)


def log_abs_sum_first(
    k: int, outs: Any, a: Array, b: Array | None = None, *, axis: Axis, keepdims: bool
) -> LinearMap | None:
    """Weigh as for `log_sum_exp`, with the sum's sign; which itself is piecewise constant."""
    if k == 1:
        return None
    log, sign = (beside_terms(out, a, axis, keepdims) for out in outs)
    share = sign * shares(a, log)
    return WeightedSum(share if b is None else share * b, a.ndim, axes_of(a.ndim, axis), keepdims)


def log_abs_sum_second(
    k: int, outs: Any, a: Array, b: Array, *, axis: Axis, keepdims: bool
) -> LinearMap | None:
    """The partial of log(abs(sum(b * exp(a)))) with respect to b."""
    if k == 1:
        return None
    log, sign = (beside_terms(out, a, axis, keepdims) for out in outs)
    with np.errstate(all="ignore"):
        weights = sign * np.exp(a - log)
    return WeightedSum(weights, a.ndim, axes_of(a.ndim, axis), keepdims)


# Hypergeometric functions of `scipy.special`, and trigonometric ones: of degrees, Dirichlet's


DEGREE = math.pi / 180


def exprel(out: Array, x: Array) -> Array:
    """1F1(2; 3; x) / 2, DLMF 13.3.15; elsewhere from the quotient, which cancels near 0.

    SciPy's 1F1 does not return where x is infinite.
    """
    near = np.less(np.absolute(x), 20)
    inner, outer = np.where(near, x, 0), np.where(near, 20, x)
    far = out + (1 - out) / outer
    far = np.where(np.isinf(out), out, far)
    return np.where(near, 0.5 * sp.hyp1f1(2.0, 3.0, inner), far)


diric = scipy_function(sp.diric, HOME, "x")
sort_diric = arguments_of(diric, "x")


def diric_call(*args: Any, **kwargs: Any) -> Call:
    """Refuse handles for n, which is a whole number."""
    (x,), options = sort_diric(*args, **kwargs)
    refuse_elsewhere(diric, options)
    return (as_array(x),), options


# n cot(n h) - cot(h) is the sum of COTANGENTS[k - 1] (n**(2 k) - 1) h**(2 k - 1), DLMF 4.19.6
COTANGENTS = [-abs(b) * 4**k / math.factorial(2 * k) for k, b in enumerate(BERNOULLI, 1)]


def diric_slope(out: Array, x: Array, n: Array) -> Array:
    """Differentiate sin(n x / 2) / (n sin(x / 2)), also at multiples of 2 pi."""
    half, n = x / 2, as_array(n)
    turns = np.round(half / math.pi)
    h = half - turns * math.pi
    near = np.less(n * np.abs(h), 0.2)
    inner, outer = np.where(near, h, 0), np.where(near, 1, half)
    series: Array = 0.0
    for k in range(len(COTANGENTS), 0, -1):
        series = series + COTANGENTS[k - 1] * (n ** (2.0 * k) - 1) * inner ** (2 * k - 1)
    direct = (np.cos(n * outer) - out * np.cos(outer)) / np.sin(outer)
    return 0.5 * np.where(near, out * series, direct)


def huber_first(out: Array, delta: Array, r: Array) -> Array:
    """Differentiate by delta: nothing within, abs(r) - delta beyond; nan where delta < 0."""
    slope = np.where(np.less_equal(np.abs(r), delta), 0.0, np.abs(r) - delta)
    return np.where(np.less(delta, 0), np.nan, slope)


def huber_second(out: Array, delta: Array, r: Array) -> Array:
    """Differentiate by r: r within, and delta with its sign beyond."""
    slope = np.where(np.less_equal(np.abs(r), delta), r, delta * np.sign(r))
    return np.where(np.less(delta, 0), np.nan, slope)


def pseudo_huber_first(out: Array, delta: Array, r: Array) -> Array:
    """Differentiate delta (s - delta) by delta, with s = hypot(delta, r): (s - delta)**2 / s.

    0 where both are 0.
    """
    s = np.hypot(delta, r)
    excess = r * unit(r, s + delta)
    return np.where(np.less(delta, 0), np.nan, excess * unit(excess, s))


def pseudo_huber_second(out: Array, delta: Array, r: Array) -> Array:
    """Differentiate by r: delta r / s, and 0 where both are 0."""
    return np.where(np.less(delta, 0), np.nan, delta * unit(r, np.hypot(delta, r)))


ELEMENTARY: dict[Any, Any] = {
    sp.exp2: rule(lambda out, x: out * LN2),
    sp.exp10: rule(lambda out, x: out * LN10),
    sp.expm1: rule(quiet(lambda out, x: np.exp(x))),
    sp.log1p: rule(lambda out, x: Divide(1 + x)),
    sp.cbrt: cbrt,
    sp.logit: lambda out, x: 1 / (x * (1 - x)),
    sp.expit: rule(lambda out, x: out * sp.expit(-x)),
    sp.log_expit: rule(lambda out, x: sp.expit(-x)),
    ufuncs._log1mexp: lambda out, x: -1 / np.expm1(-x),
    sp.entr: lambda out, x: -np.log(x) - 1,
    sp.rel_entr: rule(
        lambda out, x, y: log_ratio(x, y) + np.logical_or(x, y), lambda out, x, y: -ratio(x, y)
    ),
    sp.kl_div: rule(lambda out, x, y: log_ratio(x, y), lambda out, x, y: 1 - ratio(x, y)),
    sp.xlogy: rule(lambda out, x, y: log_beside(x, y), lambda out, x, y: ratio(x, y)),
    sp.xlog1py: rule(lambda out, x, y: log1p_beside(x, y), lambda out, x, y: ratio(x, 1 + y)),
    log_beside: with_body(None, lambda out, x, y: 1 / y, of=log_beside),
    log1p_beside: with_body(None, lambda out, x, y: 1 / (1 + y), of=log1p_beside),
    log_ratio: with_body(lambda out, x, y: 1 / x, lambda out, x, y: -1 / y, of=log_ratio),
    sp.boxcox: (
        lambda out, x, lmbda: x ** (lmbda - 1.0),
        lambda out, x, lmbda: power_slope(np.log(x), lmbda),
    ),
    sp.boxcox1p: (
        lambda out, x, lmbda: (1 + x) ** (lmbda - 1.0),
        lambda out, x, lmbda: power_slope(np.log1p(x), lmbda),
    ),
    sp.inv_boxcox: (
        lambda out, y, lmbda: out / (1 + lmbda * y),
        lambda out, y, lmbda: out * root_slope(y, lmbda),
    ),
    sp.inv_boxcox1p: (
        lambda out, y, lmbda: sp.inv_boxcox(y, lmbda) / (1 + lmbda * y),
        lambda out, y, lmbda: sp.inv_boxcox(y, lmbda) * root_slope(y, lmbda),
    ),
    ufuncs._lambertw: (lambda out, z, k, tol: np.exp(-out) / (1 + out), "k", "tol"),
    log_sum_exp: rule(
        log_sum_first,
        quiet(log_sum_second),
        signature=sum_signature,
        compute=lambda a, b=None, *, axis, keepdims: log_sum_exp(a, b, axis, keepdims),
        facts=facts.along(none="all", beside=("b",)).also(body=log_sum_exp_body),
    ),
    log_abs_sum_exp: Rule(
        makers=(log_abs_sum_first, log_abs_sum_second),
        signature=sum_signature,
        compute=lambda a, b=None, *, axis, keepdims: log_abs_sum_exp(a, b, axis, keepdims),
        multiple=True,
        facts=facts.along(none="all", beside=("b",)),
    ),
    diric: rule(quiet(diric_slope), signature=diric_call, facts=facts.elementwise("x", "n")),
    sp.sindg: rule(lambda out, x: DEGREE * sp.cosdg(x)),
    sp.cosdg: rule(lambda out, x: -DEGREE * sp.sindg(x)),
    sp.tandg: lambda out, x: DEGREE * (1 + out * out),
    sp.cotdg: lambda out, x: -DEGREE * (1 + out * out),
    sp.cosm1: rule(lambda out, x: -np.sin(x)),
    sp.exprel: exprel,
    sp.wrightomega: lambda out, z: out / (1 + out),  # of w + log w = z
    sp.huber: (huber_first, huber_second),
    sp.pseudo_huber: (pseudo_huber_first, pseudo_huber_second),
    sp.powm1: (
        lambda out, x, y: power_base(x**y, x, y),
        lambda out, x, y: power_exponent(x**y, x, y),
    ),
    sp.radian: (  # d degrees, m minutes and s seconds
        lambda out, d, m, s: np.full_like(out, DEGREE),
        lambda out, d, m, s: np.full_like(out, DEGREE / 60),
        lambda out, d, m, s: np.full_like(out, DEGREE / 3600),
    ),
}
