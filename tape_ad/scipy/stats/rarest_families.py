"""What is known of the rarest continuous distributions of `scipy.stats`; see `families`."""

import numpy as np

from tape_ad.rules.numpy.continued import ratio
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.stats.families import Family, Shape
from tape_ad.scipy.stats.formulas import end_move
from tape_ad.scipy.stats.noncentral import NONCENTRAL, family_of
from tape_ad.scipy.stats.rarer_formulas import kappa_score
from tape_ad.scipy.stats.rarest_formulas import (
    argus_shape,
    ball_parts,
    ball_score,
    breit_shape,
    centred,
    irwin_score,
    jones_terms,
    kappa_first,
    kappa_first_move,
    kappa_second,
    kolmogorov_score,
    landau_score,
    lognormal_terms,
    pearson_score,
    pearson_slope,
    smirnov_score,
    tukey_move,
    tukey_score,
    tukey_shape,
)

__all__ = ["RAREST"]

KNOWN: dict[str, Family] = {
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

RAREST = {name: family for name, family in KNOWN.items() if getattr(scipy.stats, name)}
"""Those that the installed SciPy has, by its names; shapes stand in its order."""
