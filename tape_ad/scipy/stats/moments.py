"""Means, variances, skewness, kurtosis and entropies of distributions, by SciPy's own lines.

They are those of the standard form, where they exist; where they are infinite or do not exist is
left to SciPy.
"""

import inspect
from collections.abc import Callable, Sequence

import numpy as np

from tape_ad.extend.arrays import Array
from tape_ad.scipy.stats.expectations import moment_of
from tape_ad.scipy.stats.partials import body_of


def central(letter: str, raw: Callable[[int], Array]) -> Array:
    """Make a moment about the mean of those about 0."""
    first = raw(1)
    if letter == "m":
        return first
    second = raw(2)
    var = second - first * first
    if letter == "v":
        return var
    third = raw(3)
    if letter == "s":
        return (third - 3 * first * second + 2 * first**3) / var**1.5
    fourth = raw(4) - 4 * first * third + 6 * first * first * second - 3 * first**4
    return fourth / (var * var) - 3


def moment_by_lines(letter: str, shapes: Sequence[Array], name: str) -> Array | None:
    """Give a moment by the letter that SciPy has for it, or the entropy for "e".

    None stands for one that SciPy integrates, or computes by what is compiled.
    """
    arrays = np.broadcast_arrays(*shapes)
    flat = [np.reshape(x, -1) for x in arrays]  # as SciPy's public methods call its lines
    try:
        found = by_lines(letter, flat, name)
    except (TypeError, ValueError):  # of arrays made of handles, of functions without a rule
        return None
    if found is None:
        return None
    still = sum(0.0 * np.where(np.isfinite(x), x, 0.0) for x in flat)  # a moment may be a number
    return np.reshape(found + still, arrays[0].shape)


def by_lines(letter: str, shapes: Sequence[Array], name: str) -> Array | None:
    """Look for lines of SciPy's that compute a moment."""
    if letter == "e" and name == "pearson3":  # which is a gamma variable, and has no lines for it
        (skew,) = shapes
        normal = np.equal(skew, 0)  # around which a series in the inverse of gamma's shape serves
        u, bent = 0.25 * np.where(normal, skew, 0.0) ** 2, np.where(normal, 1.0, skew)
        lost = u * (1 / 3 + u * (1 / 12 + u * (1 / 90 - u / 120)))
        whole = by_lines("e", [4 / (bent * bent)], "gamma") + np.log(0.5 * np.absolute(bent))
        return np.where(normal, 0.5 * np.log(2 * np.pi) + 0.5 - lost, whole)
    if letter != "e" and name == "genextreme":  # whose lines lose all digits around 0
        (c,) = shapes
        near = np.less(np.absolute(c), NEAR)
        around = moment_of(letter, [np.where(near, c, 0.0)], name)
        return np.where(near, around, lines_for(letter, [np.where(near, 1.0, c)], name))
    return lines_for(letter, shapes, name)


NEAR = 0.1
"""How far around 0 the moments of genextreme are integrals."""


def lines_for(letter: str, shapes: Sequence[Array], name: str) -> Array | None:
    """Compute a moment by SciPy's lines, or give None."""
    if letter == "e":
        entropy = body_of(name, "entropy")
        return None if entropy is None else entropy(*shapes)
    stats, moment = body_of(name, "stats"), body_of(name, "munp")
    if stats is not None:
        asked = "moments" in inspect.signature(stats).parameters
        found = stats(*shapes, **({"moments": letter} if asked else {}))["mvsk".index(letter)]
        if found is not None:
            return found
    return None if moment is None else central(letter, lambda n: moment(n, *shapes))
