"""What is known of the rarer continuous distributions of `scipy.stats`; see `families`.

A shape parameter that is None here is one that nothing can be differentiated by.
"""

import numpy as np

from tape_ad.rules.numpy.continued import ratio
from tape_ad.scipy.special.functions import sp
from tape_ad.scipy.special.gamma_functions import digamma_step
from tape_ad.scipy.special.logarithms import root_slope
from tape_ad.scipy.stats.families import (
    COMMON,
    Family,
    Shape,
    by_power,
    gennorm_shape,
    invgauss_slope,
    weibull_score,
    weibull_shape,
)
from tape_ad.scipy.stats.formulas import end_move, mills, power_slope, share, share_over
from tape_ad.scipy.stats.rarer_formulas import (
    alpha_slope,
    asymmetric_slope,
    bessel_ratio,
    burr_move,
    by_part,
    cosine_distance,
    exponnorm_slope,
    foldcauchy_score,
    foldcauchy_shape,
    foldcauchy_slope,
    half_logistic,
    hazard,
    hazard_slope,
    kappa_move,
    mielke_move,
    mielke_second,
    rdist_slope,
    skewcauchy_score,
    skewcauchy_shape,
    skewcauchy_slope,
    trapezoid_first,
    trapezoid_second,
    truncpareto_bound,
    truncpareto_slope,
    truncweibull_slope,
    weibull_edge,
    weibull_part,
    weibull_part_slope,
)

__all__ = ["RARER"]

RARER: dict[str, Family] = {
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
}
"""The rarer ones by SciPy's names; shapes stand in SciPy's order."""
