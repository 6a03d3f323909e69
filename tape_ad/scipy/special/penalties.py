"""SciPy's loss functions of Huber, powers less one, and angles in degrees."""

import math
from typing import Any

import numpy as np

from tape_ad.rules.base import Entry, quiet, rule
from tape_ad.rules.maps import Array
from tape_ad.rules.numpy.continued import unit
from tape_ad.rules.numpy.elementwise import power_base, power_exponent
from tape_ad.scipy.special.functions import sp

__all__ = ["PENALTIES"]

DEGREE = math.pi / 180


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


PENALTIES: dict[Any, Entry] = {
    sp.huber: rule(quiet(huber_first), quiet(huber_second)),
    sp.pseudo_huber: rule(quiet(pseudo_huber_first), quiet(pseudo_huber_second)),
    sp.powm1: rule(
        lambda out, x, y: power_base(out + 1, x, y),
        lambda out, x, y: power_exponent(out + 1, x, y),
    ),
    sp.radian: rule(  # d degrees, m minutes and s seconds
        lambda out, d, m, s: np.full_like(out, DEGREE),
        lambda out, d, m, s: np.full_like(out, DEGREE / 60),
        lambda out, d, m, s: np.full_like(out, DEGREE / 3600),
    ),
}
