"""Powers that make a sample more like a normal one: Box and Cox, Yeo and Johnson.

SciPy branches where a power is 0 or 2, and logarithms take the place of powers; these go on
smoothly there. What looks for the likeliest power is SciPy's own code.
"""

from typing import Any

import numpy as np

from tape_ad.extend.arrays import Array, primal
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.special.shared import sp
from tape_ad.scipy.stand_ins import stands_for, unwrapped
from tape_ad.scipy.stats.samples import as_told, floating

__all__: list[str] = []


@stands_for(scipy.stats._morestats._yeojohnson_transform)
def yeojohnson(x: Any, lmbda: Any, xp: Any = None) -> Array:
    """Transform by a power, numbers below 0 by another; Yeo & Johnson 2000."""
    x = floating(x)
    above = np.greater_equal(x, 0)
    positive, negative = np.where(above, x, 0.0), np.where(above, 0.0, -x)
    return np.where(above, sp.boxcox1p(positive, lmbda), -sp.boxcox1p(negative, 2.0 - lmbda))


def likelihood(data: Any, axis: int = 0, *, lmb: Any) -> Array:
    """The logarithm of the likelihood of a power of Box and Cox, with SciPy's value.

    The geometric mean is divided out first, so that no power of the data overflows.
    """
    told = OF_A_SAMPLE(primal(data), axis=axis, lmb=primal(lmb)) if OF_A_SAMPLE else None
    told = scipy.stats.boxcox_llf(primal(lmb), primal(data)) if told is None else told
    logs = np.log(floating(data))
    centred = logs - np.mean(logs, axis=axis, keepdims=True)
    spread = np.log(np.var(sp.boxcox(np.exp(centred), lmb), axis=axis))
    return as_told(-np.sum(logs, axis=axis) - logs.shape[axis] / 2 * spread, told)


OF_A_SAMPLE = unwrapped(scipy.stats._morestats._boxcox_llf)
if OF_A_SAMPLE:
    stands_for(OF_A_SAMPLE)(likelihood)
else:  # before SciPy 1.16
    stands_for(scipy.stats.boxcox_llf)(lambda lmb, data: likelihood(data, lmb=lmb))
