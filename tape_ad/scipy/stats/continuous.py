"""How each continuous distribution of `scipy.stats` depends on its variable and its shapes."""

import math

import numpy as np

from tape_ad.extend.arrays import Array, ratio
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.special.densities import gamma_density
from tape_ad.scipy.special.gamma_functions import digamma_step
from tape_ad.scipy.special.incomplete import betainc_slope, gammainc_slope
from tape_ad.scipy.special.logarithms import root_slope
from tape_ad.scipy.special.shared import sp
from tape_ad.scipy.stats.continuous_formulas import (
    alpha_slope,
    argus_shape,
    asymmetric_slope,
    ball_parts,
    ball_score,
    bessel_ratio,
    breit_shape,
    burr_move,
    by_part,
    centred,
    cosine_distance,
    exponnorm_slope,
    foldcauchy_score,
    foldcauchy_shape,
    foldcauchy_slope,
    half_logistic,
    hazard,
    hazard_slope,
    irwin_score,
    jones_terms,
    kappa_first,
    kappa_first_move,
    kappa_move,
    kappa_score,
    kappa_second,
    kolmogorov_score,
    landau_score,
    lognormal_terms,
    mielke_move,
    mielke_second,
    pearson_score,
    pearson_slope,
    rdist_slope,
    skewcauchy_score,
    skewcauchy_shape,
    skewcauchy_slope,
    smirnov_score,
    trapezoid_first,
    trapezoid_second,
    truncpareto_bound,
    truncpareto_slope,
    truncweibull_slope,
    tukey_move,
    tukey_score,
    tukey_shape,
    weibull_edge,
    weibull_part,
    weibull_part_slope,
)
from tape_ad.scipy.stats.families import (
    COMMON,
    Family,
    Shape,
    by_power,
    end_move,
    gennorm_shape,
    invgauss_slope,
    mills,
    power_slope,
    share,
    share_over,
    weibull_score,
    weibull_shape,
)
from tape_ad.scipy.stats.noncentral import NONCENTRAL, family_of

__all__ = ["CONTINUOUS"]


def burr12_move(y: Array, c: Array, d: Array) -> Array:
    """The move of ``(1 + y**c)**-d`` with d."""
    power = y**c
    zero = np.equal(power, 0)
    return -np.where(zero, 1.0, ratio(np.log1p(power), power)) * (1 + power) * y / (c * d)


def bounded_normal(y: Array, a: Array, b: Array) -> Array:
    """The normal variable behind johnsonsb."""
    return a + b * sp.logit(y)


def unbounded_normal(y: Array, a: Array, b: Array) -> Array:
    """The normal variable behind johnsonsu."""
    return a + b * np.arcsinh(y)


def log_fraction(y: Array, a: Array, b: Array) -> Array:
    """How far from log(a) to log(b) the logarithm of a variable is, as a fraction."""
    return np.log(y / a) / np.log(b / a)


def bradford_shape(y: Array, c: Array) -> Array:
    """Differentiate the logarithm of the density of bradford by its parameter."""
    return 1 / c - y / (1 + c * y) - 1 / ((1 + c) * np.log1p(c))


def bradford_move(y: Array, c: Array) -> Array:
    """The move of ``log(1 + c y) / log(1 + c)``."""
    return (np.log1p(c * y) / np.log1p(c) * (1 + c * y) / (1 + c) - y) / c


def nakagami_slope(y: Array, nu: Array) -> Array:
    """Differentiate the distribution function of nakagami, P(nu, nu y**2)."""
    square = y * y
    return gammainc_slope(nu, nu * square, 1) + gamma_density(nu, nu * square) * square


def gengamma_slope(y: Array, a: Array, c: Array) -> Array:
    """Differentiate the distribution function of gengamma, P(a, y**c), or Q where c < 0."""
    return np.sign(c) * gammainc_slope(a, y**c, 1)


def betaprime_slope(i: int, j: int, y: Array, a: Array, b: Array) -> Array:
    """Differentiate the distribution function of betaprime, I(a, b) at y / (1 + y)."""
    return betainc_slope(a, b, y / (1 + y), i, j)


def doubled(y: Array, slope: Array) -> Array:
    """Spread what is known for positive y to both sides."""
    return np.sign(y) * slope


SPECIAL_FAMILIES: dict[str, Family] = {
    **NONCENTRAL,
    "kappa4": Family(
        kappa_score,
        (
            Shape(kappa_first, move=kappa_first_move),
            Shape(kappa_second, move=lambda y, h, k: end_move(y, k)),
        ),
    ),
    "pearson3": Family(
        lambda y, skew: -(2 * y + skew) / (2 + skew * y),
        (Shape(pearson_score, slope=pearson_slope),),
    ),
    "crystalball": Family(
        ball_score,
        (
            Shape(lambda y, beta, m: ball_parts(y, beta, m)[0]),
            Shape(lambda y, beta, m: ball_parts(y, beta, m)[1]),
        ),
        kink=lambda beta, m: -beta,
    ),
    "argus": Family(
        lambda y, chi: 1 / y - y / (1 - y * y) + chi * chi * y,
        (Shape(centred("argus", argus_shape)),),
    ),
    "rel_breitwigner": Family(
        lambda y, rho: -4 * y * (y * y - rho * rho) / ((y * y - rho * rho) ** 2 + rho * rho),
        (Shape(breit_shape),),
    ),
    "gausshyper": Family(
        lambda y, a, b, c, z: ratio(a - 1, y) - ratio(b - 1, 1 - y) - c * z / (1 + z * y),
        (
            Shape(centred("gausshyper", lambda y, a, b, c, z: np.log(y))),
            Shape(centred("gausshyper", lambda y, a, b, c, z: np.log1p(-y))),
            Shape(centred("gausshyper", lambda y, a, b, c, z: -np.log1p(z * y))),
            Shape(centred("gausshyper", lambda y, a, b, c, z: -c * y / (1 + z * y))),
        ),
    ),
    "jf_skew_t": family_of(jones_terms, 2),
    "dpareto_lognorm": family_of(lognormal_terms, 4),
    "irwinhall": Family(irwin_score, (None,)),
    "tukeylambda": Family(tukey_score, (Shape(tukey_shape, move=tukey_move),)),
    "ksone": Family(smirnov_score, (None,)),
    "kstwo": Family(None, (None,)),
    "kstwobign": Family(kolmogorov_score),
    "landau": Family(landau_score),
    "levy_stable": Family(None, (None, None)),
    "studentized_range": Family(None, (None, None)),
}
"""Those that a release of SciPy may not have."""

CONTINUOUS: dict[str, Family] = {
    **COMMON,
    "gibrat": Family(lambda y: -(1 + np.log(y)) / y),
    "wald": Family(lambda y: (0.5 / y - 1.5) / y - 0.5),
    "moyal": Family(lambda y: 0.5 * np.expm1(-y)),
    "semicircular": Family(lambda y: -y / (1 - y * y)),
    "anglit": Family(lambda y: -2 * np.tan(2 * y)),
    "cosine": Family(lambda y: -np.tan(0.5 * y)),
    "levy_l": Family(lambda y: (-0.5 / y - 1.5) / y),
    "invweibull": Family(
        lambda y, c: (c * y**-c - (c + 1)) / y,
        (Shape(lambda y, c: 1 / c - np.log(y) * (1 - y**-c), move=by_power),),
    ),
    "loglaplace": Family(
        lambda y, c: ratio(np.where(np.less(y, 1), c, -c) - 1, y),
        (Shape(lambda y, c: 1 / c - np.absolute(np.log(y)), move=by_power),),
        kink=lambda c: 0.0 * c + 1.0,
    ),
    "burr12": Family(
        lambda y, c, d: ratio(c - 1, y) - (d + 1) * c * share_over(y, c),
        (
            Shape(
                lambda y, c, d: 1 / c + np.log(y) * (1 - (d + 1) * share(y, c)),
                move=lambda y, c, d: by_power(y, c),
            ),
            Shape(lambda y, c, d: 1 / d - np.log1p(y**c), move=burr12_move),
        ),
    ),
    "johnsonsb": Family(
        lambda y, a, b: (2 * y - 1 - b * bounded_normal(y, a, b)) / (y * (1 - y)),
        (
            Shape(
                lambda y, a, b: -bounded_normal(y, a, b),
                move=lambda y, a, b: -y * (1 - y) / b,
            ),
            Shape(
                lambda y, a, b: 1 / b - bounded_normal(y, a, b) * sp.logit(y),
                move=lambda y, a, b: -sp.logit(y) * y * (1 - y) / b,
            ),
        ),
    ),
    "johnsonsu": Family(
        lambda y, a, b: -(y / np.hypot(1.0, y) + b * unbounded_normal(y, a, b)) / np.hypot(1.0, y),
        (
            Shape(
                lambda y, a, b: -unbounded_normal(y, a, b),
                move=lambda y, a, b: -np.hypot(1.0, y) / b,
            ),
            Shape(
                lambda y, a, b: 1 / b - unbounded_normal(y, a, b) * np.arcsinh(y),
                move=lambda y, a, b: -np.arcsinh(y) * np.hypot(1.0, y) / b,
            ),
        ),
    ),
    **dict.fromkeys(
        ("loguniform", "reciprocal"),
        Family(
            lambda y, a, b: -1 / y,
            (
                Shape(
                    lambda y, a, b: 1 / (a * np.log(b / a)),
                    move=lambda y, a, b: y * (1 - log_fraction(y, a, b)) / a,
                ),
                Shape(
                    lambda y, a, b: -1 / (b * np.log(b / a)),
                    move=lambda y, a, b: y * log_fraction(y, a, b) / b,
                ),
            ),
        ),
    ),
    "bradford": Family(lambda y, c: -c / (1 + c * y), (Shape(bradford_shape, move=bradford_move),)),
    "genlogistic": Family(
        lambda y, c: (c + 1) * sp.expit(-y) - 1,
        (
            Shape(
                lambda y, c: 1 / c + sp.log_expit(y),
                move=lambda y, c: -sp.log_expit(y) / (c * sp.expit(-y)),
            ),
        ),
    ),
    "dweibull": Family(
        lambda y, c: doubled(y, ratio(c - 1, np.absolute(y)) - c * np.absolute(y) ** (c - 1)),
        (
            Shape(
                lambda y, c: 1 / c + np.log(np.absolute(y)) * (1 - np.absolute(y) ** c),
                move=lambda y, c: doubled(y, by_power(np.absolute(y), c)),
            ),
        ),
        kink=lambda c: 0.0 * c,
    ),
    "dgamma": Family(
        lambda y, a: doubled(y, ratio(a - 1, np.absolute(y)) - 1),
        (
            Shape(
                lambda y, a: np.log(np.absolute(y)) - sp.digamma(a),
                slope=lambda y, a: 0.5 * doubled(y, gammainc_slope(a, np.absolute(y), 1)),
            ),
        ),
        kink=lambda a: 0.0 * a,
    ),
    "betaprime": Family(
        lambda y, a, b: ratio(a - 1, y) - (a + b) / (1 + y),
        (
            Shape(
                lambda y, a, b: np.log(y) - np.log1p(y) + digamma_step(a, b),
                slope=lambda y, a, b: betaprime_slope(1, 0, y, a, b),
            ),
            Shape(
                lambda y, a, b: digamma_step(b, a) - np.log1p(y),
                slope=lambda y, a, b: betaprime_slope(0, 1, y, a, b),
            ),
        ),
    ),
    "nakagami": Family(
        lambda y, nu: ratio(2 * nu - 1, y) - 2 * nu * y,
        (
            Shape(
                lambda y, nu: np.log(nu) + 1 - sp.digamma(nu) + 2 * np.log(y) - y * y,
                slope=nakagami_slope,
            ),
        ),
    ),
    "gengamma": Family(
        lambda y, a, c: ratio(c * a - 1, y) - c * y ** (c - 1),
        (
            Shape(lambda y, a, c: c * np.log(y) - sp.digamma(a), slope=gengamma_slope),
            Shape(
                lambda y, a, c: 1 / c + np.log(y) * (a - y**c),
                move=lambda y, a, c: by_power(y, c),
            ),
        ),
    ),
    "truncexpon": Family(
        lambda y, b: 0.0 * y - 1.0,
        (
            Shape(
                lambda y, b: -1 / np.expm1(b) + 0.0 * y,
                slope=lambda y, b: np.expm1(-y) / np.expm1(-b) / -np.expm1(b),
            ),
        ),
    ),
    "powernorm": Family(
        lambda y, c: -y - (c - 1) * mills(-y),
        (
            Shape(
                lambda y, c: 1 / c + sp.log_ndtr(-y),
                move=lambda y, c: sp.log_ndtr(-y) / (c * mills(-y)),
            ),
        ),
    ),
    "powerlognorm": Family(
        lambda y, c, s: -(1 + (np.log(y) / s + (c - 1) * mills(-np.log(y) / s)) / s) / y,
        (
            Shape(
                lambda y, c, s: 1 / c + sp.log_ndtr(-np.log(y) / s),
                move=lambda y, c, s: (
                    s * y * sp.log_ndtr(-np.log(y) / s) / (c * mills(-np.log(y) / s))
                ),
            ),
            Shape(
                lambda y, c, s: (
                    (np.log(y) / s * (np.log(y) / s + (c - 1) * mills(-np.log(y) / s)) - 1) / s
                ),
                move=lambda y, c, s: y * np.log(y) / s,
            ),
        ),
    ),
    "foldnorm": Family(
        lambda y, c: c * np.tanh(c * y) - y,
        (
            Shape(
                lambda y, c: y * np.tanh(c * y) - c,
                slope=lambda y, c: (
                    (np.exp(-0.5 * (y + c) ** 2) - np.exp(-0.5 * (y - c) ** 2))
                    / math.sqrt(2 * math.pi)
                ),
            ),
        ),
    ),
    "rice": Family(
        lambda y, b: 1 / y - y + b * sp.i1e(b * y) / sp.i0e(b * y),
        (
            Shape(
                lambda y, b: y * sp.i1e(b * y) / sp.i0e(b * y) - b,
                slope=lambda y, b: -y * np.exp(-0.5 * (y - b) ** 2) * sp.i1e(b * y),
            ),
        ),
    ),
    "erlang": Family(COMMON["gamma"].score, (None,)),
    "alpha": Family(
        lambda y, a: (-2 - (a - 1 / y) / y) / y,
        (Shape(lambda y, a: 1 / y - a - mills(a), slope=alpha_slope),),
    ),
    "burr": Family(
        lambda y, c, d: ratio(c * d - 1, y) - (d + 1) * c * share_over(y, c),
        (
            Shape(
                lambda y, c, d: 1 / c + np.log(y) * ((d + 1) * share(y, -c) - 1),
                move=lambda y, c, d: by_power(y, c),
            ),
            Shape(lambda y, c, d: 1 / d - np.log1p(y**-c), move=burr_move),
        ),
    ),
    "mielke": Family(
        lambda y, k, s: ratio(k - 1, y) - (s + k) * share_over(y, s),
        (
            Shape(lambda y, k, s: 1 / k - np.log1p(y**-s) / s, move=mielke_move),
            Shape(
                lambda y, k, s: (
                    k / (s * s) * np.log1p(y**s) - (1 + k / s) * share(y, s) * np.log(y)
                ),
                move=mielke_second,
            ),
        ),
    ),
    "exponnorm": Family(
        lambda y, k: mills(y - 1 / k) - 1 / k,
        (
            Shape(
                lambda y, k: ((y - 1 / k + mills(y - 1 / k)) / k - 1) / k,
                slope=exponnorm_slope,
            ),
        ),
    ),
    "exponpow": Family(
        lambda y, b: ratio(b - 1 - b * y**b * np.expm1(y**b), y),
        (Shape(lambda y, b: 1 / b + np.log(y) * (1 - y**b * np.expm1(y**b)), move=by_power),),
    ),
    "fatiguelife": Family(
        lambda y, c: 1 / (y + 1) - 1.5 / y - (1 - 1 / (y * y)) / (2 * c * c),
        (
            Shape(
                lambda y, c: ((y - 1) ** 2 / (y * c * c) - 1) / c,
                move=lambda y, c: 2 * y * (y - 1) / (c * (y + 1)),
            ),
        ),
    ),
    "foldcauchy": Family(foldcauchy_score, (Shape(foldcauchy_shape, slope=foldcauchy_slope),)),
    "truncweibull_min": Family(
        lambda y, c, a, b: weibull_score(y, c),
        (
            Shape(
                lambda y, c, a, b: (
                    weibull_shape(y, c) - weibull_part_slope(c, a, b) / weibull_part(c, a, b)
                ),
                slope=truncweibull_slope,
            ),
            Shape(
                lambda y, c, a, b: weibull_edge(a, c, a, b),
                slope=lambda y, c, a, b: (
                    -weibull_edge(a, c, a, b) * weibull_part(c, y, b) / weibull_part(c, a, b)
                ),
            ),
            Shape(
                lambda y, c, a, b: -weibull_edge(b, c, a, b),
                slope=lambda y, c, a, b: (
                    -weibull_edge(b, c, a, b) * weibull_part(c, a, y) / weibull_part(c, a, b)
                ),
            ),
        ),
    ),
    "genexpon": Family(
        lambda y, a, b, c: b * c * np.exp(-c * y) / hazard(y, a, b, c) - hazard(y, a, b, c),
        (
            Shape(
                lambda y, a, b, c: 1 / hazard(y, a, b, c) - y,
                move=lambda y, a, b, c: -y / hazard(y, a, b, c),
            ),
            Shape(
                lambda y, a, b, c: -np.expm1(-c * y) * (1 / hazard(y, a, b, c) + 1 / c) - y,
                move=lambda y, a, b, c: -(y + np.expm1(-c * y) / c) / hazard(y, a, b, c),
            ),
            Shape(
                lambda y, a, b, c: (
                    b * y * np.exp(-c * y) / hazard(y, a, b, c) - hazard_slope(y, a, b, c)
                ),
                move=lambda y, a, b, c: -hazard_slope(y, a, b, c) / hazard(y, a, b, c),
            ),
        ),
    ),
    "genhalflogistic": Family(
        lambda y, c: (half_logistic(y, c) + c) / (1 - c * y),
        (
            Shape(
                lambda y, c: y / (1 - c * y) - half_logistic(y, c) * root_slope(y, -c),
                move=end_move,
            ),
        ),
    ),
    "norminvgauss": Family(
        lambda y, a, b: b - (a * bessel_ratio(y, a) + 2 / np.hypot(1.0, y)) * y / np.hypot(1.0, y),
        (
            Shape(
                lambda y, a, b: a / np.sqrt(a * a - b * b) - np.hypot(1.0, y) * bessel_ratio(y, a)
            ),
            Shape(lambda y, a, b: y - b / np.sqrt(a * a - b * b)),
        ),
    ),
    "laplace_asymmetric": Family(
        lambda y, kappa: np.where(np.less(y, 0), 1 / kappa, -kappa),
        (
            Shape(
                lambda y, kappa: (
                    -y * np.where(np.less(y, 0), 1 / (kappa * kappa), 1.0)
                    - (kappa - 1 / kappa) / (kappa * kappa + 1)
                ),
                slope=asymmetric_slope,
            ),
        ),
        kink=lambda kappa: 0.0 * kappa,
    ),
    "kappa3": Family(
        lambda y, a: -(a + 1) * y ** (a - 1) / (a + y**a),
        (
            Shape(
                lambda y, a: (
                    (np.log(a + y**a) / a - (a + 1) * (1 + sp.xlogy(y**a, y)) / (a + y**a) + 1) / a
                ),
                move=kappa_move,
            ),
        ),
    ),
    "rdist": Family(
        lambda y, c: -(c - 2) * y / (1 - y * y),
        (
            Shape(
                lambda y, c: 0.5 * (np.log1p(-y * y) + digamma_step(c / 2, 0.5)),
                slope=rdist_slope,
            ),
        ),
    ),
    "recipinvgauss": Family(
        lambda y, mu: 0.5 * ((1 / (mu * mu * y) - 1) / y - 1),
        (
            Shape(
                lambda y, mu: (1 / (mu * y) - 1) / (mu * mu),
                slope=lambda y, mu: -invgauss_slope(1 / y, mu),
            ),
        ),
    ),
    "skewcauchy": Family(
        skewcauchy_score,
        (Shape(skewcauchy_shape, slope=skewcauchy_slope),),
        kink=lambda a: 0.0 * a,
    ),
    "trapezoid": Family(
        lambda y, c, d: by_part(y, c, d, 1 / y, 0.0 * y, -1 / (1 - y)),
        (
            Shape(
                lambda y, c, d: 1 / (d - c + 1) - np.where(np.less(y, c), 1 / c, 0.0),
                slope=trapezoid_first,
            ),
            Shape(
                lambda y, c, d: np.where(np.greater(y, d), 1 / (1 - d), 0.0) - 1 / (d - c + 1),
                slope=trapezoid_second,
            ),
        ),
    ),
    "truncpareto": Family(
        lambda y, b, c: -(b + 1) / y,
        (
            Shape(
                lambda y, b, c: 1 / b - np.log(y) - np.log(c) / np.expm1(b * np.log(c)),
                slope=truncpareto_slope,
            ),
            Shape(
                lambda y, b, c: -b / (c * np.expm1(b * np.log(c))),
                slope=truncpareto_bound,
            ),
        ),
    ),
    "vonmises_line": COMMON["vonmises"],
    "wrapcauchy": Family(
        lambda y, c: -2 * c * np.sin(y) / cosine_distance(y, c),
        (
            Shape(
                lambda y, c: (
                    2 * (np.cos(y) - c) / cosine_distance(y, c) - 2 * c / ((1 - c) * (1 + c))
                ),
                move=lambda y, c: -2 * np.sin(y) / ((1 - c) * (1 + c)),
            ),
        ),
    ),
    "halfgennorm": Family(
        lambda y, beta: -beta * y ** (beta - 1),
        (
            Shape(
                gennorm_shape,
                slope=lambda y, beta: 2 * power_slope(y, beta),
            ),
        ),
    ),
    **{name: family for name, family in SPECIAL_FAMILIES.items() if getattr(scipy.stats, name)},
}
"""All continuous distributions that are known, by SciPy's names; shapes stand in its order.

A shape parameter that is None here is one that nothing can be differentiated by.
"""
