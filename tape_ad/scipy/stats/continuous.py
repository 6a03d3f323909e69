"""How each continuous distribution of `scipy.stats` depends on its variable and its shapes."""

import numpy as np

from tape_ad.extend.arrays import Array, ratio
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.special.incomplete import betainc_slope, gammainc_slope
from tape_ad.scipy.special.logarithms import root_slope
from tape_ad.scipy.special.shared import sp
from tape_ad.scipy.stats.continuous_formulas import (
    argus_shape,
    ball_parts,
    ball_score,
    bessel_ratio,
    burr_move,
    by_part,
    centred,
    exponnorm_slope,
    half_logistic,
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
    pearson_score,
    pearson_slope,
    smirnov_score,
    trapezoid_first,
    trapezoid_second,
    tukey_move,
    tukey_score,
    tukey_shape,
)
from tape_ad.scipy.stats.families import (
    COMMON,
    Family,
    Shape,
    by_power,
    end_move,
    gennorm_shape,
    mills,
    power_slope,
    share,
    share_over,
)
from tape_ad.scipy.stats.noncentral import NONCENTRAL, family_of

__all__ = ["CONTINUOUS", "FAMILIES"]


def gengamma_slope(y: Array, a: Array, c: Array) -> Array:
    """Differentiate the distribution function of gengamma, P(a, y**c), or Q where c < 0."""
    return np.sign(c) * gammainc_slope(a, y**c, 1)


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
    "argus": Family(
        lambda y, chi: 1 / y - y / (1 - y * y) + chi * chi * y,
        (Shape(centred("argus", argus_shape)),),
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

FAMILIES: dict[str, Family] = {
    **COMMON,
    **dict.fromkeys(
        ("dgamma", "dweibull", "laplace_asymmetric", "skewcauchy"),
        Family(kink=lambda shape: 0.0 * shape),
    ),
    "crystalball": Family(
        ball_score,
        (
            Shape(lambda y, beta, m: ball_parts(y, beta, m)[0]),
            Shape(lambda y, beta, m: ball_parts(y, beta, m)[1]),
        ),
        kink=lambda beta, m: -beta,
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
    "betaprime": Family(
        shapes=(
            Shape(slope=lambda y, a, b: betainc_slope(a, b, y / (1 + y), 1, 0)),
            Shape(slope=lambda y, a, b: betainc_slope(a, b, y / (1 + y), 0, 1)),
        ),
    ),
    "rice": Family(
        shapes=(Shape(slope=lambda y, b: -y * np.exp(-0.5 * (y - b) ** 2) * sp.i1e(b * y)),)
    ),
    "wrapcauchy": Family(
        shapes=(Shape(move=lambda y, c: -2 * np.sin(y) / ((1 - c) * (1 + c))),),
    ),
    "gibrat": Family(lambda y: -(1 + np.log(y)) / y),
    "cosine": Family(lambda y: -np.tan(0.5 * y)),
    "loglaplace": Family(
        lambda y, c: ratio(np.where(np.less(y, 1), c, -c) - 1, y),
        (Shape(lambda y, c: 1 / c - np.absolute(np.log(y)), move=by_power),),
        kink=lambda c: 0.0 * c + 1.0,
    ),
    "genlogistic": Family(
        lambda y, c: (c + 1) * sp.expit(-y) - 1,
        (
            Shape(
                lambda y, c: 1 / c + sp.log_expit(y),
                move=lambda y, c: -sp.log_expit(y) / (c * sp.expit(-y)),
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
    "erlang": Family(COMMON["gamma"].score, (None,)),
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
    "vonmises_line": COMMON["vonmises"],
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
"""What is known of continuous distributions beside SciPy's own lines, by SciPy's names."""

GENERAL = scipy.stats.rv_continuous

CONTINUOUS = sorted(
    name for name in dir(scipy.stats) if isinstance(getattr(scipy.stats, name), GENERAL)
)
"""The continuous distributions that the installed SciPy has, by its names."""
