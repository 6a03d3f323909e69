"""The ends of the supports that move with shape parameters."""

from collections.abc import Callable

import numpy as np

from tape_ad.extend.arrays import Array

__all__ = ["ENDS"]

Formula = Callable[..., Array]
"""``formula(*shapes)``; what it gives counts where SciPy's end is finite."""


def first_of_kappa(h: Array, k: Array) -> Array:
    """The lower end of kappa4, (1 - h**-k) / k, or 1 / k where h is not positive."""
    positive = np.greater(h, 0)
    log = np.log(np.where(positive, h, 1.0))
    flat = np.equal(k, 0)
    some = np.where(flat, 1.0, k)
    powered = np.where(flat, log - 0.5 * k * log * log, -np.expm1(-some * log) / some)
    return np.where(positive, powered, 1 / some)


ENDS: dict[str, tuple[Formula | None, Formula | None]] = {
    "genextreme": (lambda c: 1 / c, lambda c: 1 / c),
    "genhalflogistic": (None, lambda c: 1 / c),
    "genpareto": (None, lambda c: -1 / c),
    "kappa4": (first_of_kappa, lambda h, k: 1 / k),
    **dict.fromkeys(
        ("loguniform", "reciprocal", "truncnorm"),
        (lambda a, b: a + 0.0 * b, lambda a, b: b + 0.0 * a),
    ),
    "truncexpon": (None, lambda b: b),
    "truncpareto": (None, lambda b, c: c + 0.0 * b),
    "truncweibull_min": (lambda c, a, b: a + 0.0 * c, lambda c, a, b: b + 0.0 * c),
    "tukeylambda": (lambda lam: -1 / lam, lambda lam: 1 / lam),
}
"""By SciPy's names; None where the end does not move."""
