"""Roots of filters' polynomials, and what is said of those that are not simple."""

from typing import Any, ClassVar, NoReturn

import numpy as np
from attrs import define

from tape_ad.base.errors import SingularJacobianError
from tape_ad.extend.arrays import Array
from tape_ad.extend.maps import SAME
from tape_ad.extend.patterns import dense
from tape_ad.extend.rules import Entry, overridable, rule

__all__ = ["SIMPLE_ROOTS", "roots_of_filter"]

CLOSE = 100.0
"""How many roundings of the coefficients may lie between what is one root: a double one is found
as two that are up to about 10 of them apart, and the roots of usable filters are over 1e4."""


@define(eq=False, repr=False)
class Inseparable:
    """What stands for the derivative of roots of which some are one: there is none."""

    broadcasts: ClassVar[bool] = False
    pattern = dense
    name: str

    def push(self, t: Array) -> NoReturn:
        raise SingularJacobianError(
            f"tape_ad.scipy.signal.{self.name}: a root that is not simple has no derivative, for "
            "it "
            "moves by a root of what a coefficient changes by; keep the filter as sections, or as "
            "zeros and poles, from the beginning (output='sos' or 'zpk' of what designs it)"
        )

    pull = push


def roots_of_filter(name: str, p: Array) -> Array:
    """Find the roots of a polynomial for a function of `scipy.signal`.

    Parameters
    ----------
    name : str
        The function, for the error.
    p : array or Tensor, shape (n + 1,)
        The highest coefficient first.

    Returns
    -------
    array or Tensor, shape (n,)
        A derivative is an error where a root is not simple, to rounding; see `numpy.roots`.
    """
    return held_apart(np.roots(p), p, name)


@overridable
def held_apart(roots: Array, p: Array, name: str) -> Array:
    """Give the roots of a polynomial as they are."""
    return roots


def apart(out: Array, roots: Array, p: Array, name: str) -> Any:
    """Make the partial of `held_apart`, as Wilkinson's condition of the roots tells it."""
    if roots.size < 2:
        return SAME
    gaps = np.abs(roots[:, np.newaxis] - roots) + np.diag(np.full(roots.size, np.inf))
    slopes = np.abs(np.polyval(np.polyder(p), roots))
    sizes = np.polyval(np.abs(p), np.abs(roots))
    least = CLOSE * np.finfo(roots.dtype).eps * sizes
    return Inseparable(name) if bool(np.any(slopes * np.min(gaps, axis=0) <= least)) else SAME


SIMPLE_ROOTS: dict[Any, Entry] = {
    held_apart: rule(apart, None, signature=lambda roots, p, name: ((roots, p), {"name": name})),
}
