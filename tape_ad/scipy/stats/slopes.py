"""Lines through points, by medians of slopes; and means that are compared by their weights."""

from typing import Any

import numpy as np

from tape_ad.extend.arrays import Array
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.stand_ins import stands_for, unwrapped
from tape_ad.scipy.stats.families import log_root
from tape_ad.scipy.stats.methods import sf
from tape_ad.scipy.stats.samples import floats

__all__: list[str] = []


@stands_for(scipy.stats._stats_pythran.siegelslopes)
def siegelslopes(y: Array, x: Array, method: str) -> tuple[Array, Array]:
    """The median of the medians of the slopes from each point; Siegel 1982."""
    dx, dy = x[:, None] - x, y[:, None] - y
    apart = np.not_equal(dx, 0)
    slope = np.median(medians(dy, dx, apart))
    if method == "hierarchical":
        return (slope, np.median(y - slope * x))
    return (slope, np.median(medians(y * x[:, None] - y[:, None] * x, dx, apart)))


def medians(numerators: Array, denominators: Array, apart: Any) -> Array:
    """The median of the quotients in each row, without those by zero."""
    counts = np.sum(apart, axis=1)
    if np.all(counts == counts[0]):
        shape = (len(counts), -1)
        return np.median(np.reshape(numerators[apart] / denominators[apart], shape), axis=1)
    rows = zip(numerators, denominators, apart, strict=True)
    return np.stack([np.median(one[here] / other[here]) for one, other, here in rows])


@stands_for(unwrapped(scipy.stats.alexandergovern))
def alexandergovern(*samples: Any, nan_policy: str = "propagate", axis: int = 0) -> Any:
    """Compare the means of several samples of different variances; Alexander & Govern 1994.

    SciPy takes the root of c squared, which has no slope where a mean is the common one; there is
    one factor of t in it, and z is an odd function of it.
    """
    if len(samples) < 2:
        raise TypeError(f"2 or more inputs required, got {len(samples)}")
    arrays = [np.moveaxis(x, axis, -1) for x in floats(samples)]
    means = np.stack(np.broadcast_arrays(*(np.mean(x, axis=-1) for x in arrays)))
    squares = np.stack(
        np.broadcast_arrays(*(np.var(x, axis=-1, ddof=1) / x.shape[-1] for x in arrays))
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        errors = np.sqrt(squares)
        alike = np.less_equal(errors, np.absolute(np.finfo(errors.dtype).eps * means))
        weights = 1 / squares
        weights = weights / np.sum(weights, axis=0, keepdims=True)
        t = (means - np.sum(weights * means, axis=0, keepdims=True)) / errors
        t = t * np.where(alike, np.nan, np.ones((), t.dtype))
    free = np.array([x.shape[-1] - 1 for x in arrays], t.dtype)
    free = np.reshape(free, (-1, *(1,) * (t.ndim - 1)))
    ratio = t / np.sqrt(free)
    c = ratio * np.sqrt((free - 0.5) * log_root(np.ones((), ratio.dtype), ratio * ratio))
    b = 48 * (free - 0.5) ** 2
    high = (4 * c**7 + 33 * c**5 + 240 * c**3 + 855 * c) / (b**2 * 10 + 8 * b * c**4 + 1000 * b)
    z = c + (c**3 + 3 * c) / b - high
    statistic = np.sum(z * z, axis=0)
    p = sf(statistic, np.float64(len(samples) - 1), 0.0, 1.0, name="chi2")
    return scipy.stats._stats_py.AlexanderGovernResult(statistic, p.astype(statistic.dtype))
