"""Second-order sections of zeros, poles and a gain, and back.

SciPy puts roots into sections, and sections in order, by where they are. Which root is in which
section is piecewise constant, and read from what SciPy makes of the values; the coefficients are
then made of the roots themselves.
"""

from typing import Any

import numpy as np

from tape_ad.extend.arrays import Array, as_array, primal
from tape_ad.extend.rules import Constant, Entry, overridable
from tape_ad.scipy.counterparts import scipy_composition
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.signal.cascades import sections_of
from tape_ad.scipy.signal.filters import coefficients
from tape_ad.scipy.signal.responses import simplified, tf2zpk

__all__ = ["SECTIONS_OF_ROOTS", "sos2zpk", "tf2sos", "zpk2sos"]

SECTIONS_OF_ROOTS: dict[Any, Entry] = {}


@overridable
def arrangement(z: Array, p: Array, pairing: Any, analog: bool) -> Array:
    """Tell where each root is used: for each section, two zeros and two poles.

    Returns
    -------
    array of int, shape (sections, 4)
        -1 for a root that is not there, -2 for one at 0 that SciPy has added; of a pair of
        conjugate roots both.
    """
    sos = scipy.signal.zpk2sos(z, p, 1.0, pairing, analog=analog)
    return np.concatenate(
        [placed(side, roots) for side, roots in ((sos[:, :3], z), (sos[:, 3:], p))], axis=1
    )


SECTIONS_OF_ROOTS[arrangement] = Constant()


def placed(sections: Array, roots: Array) -> Array:
    """Find the roots of each section among those that there are."""
    wanted = [(i, j, root) for i, s in enumerate(sections) for j, root in enumerate(np.roots(s))]
    # Those at zero stand last in what `np.roots` gives; sections have them in the place of none
    out = np.full((sections.shape[0], 2), -1)
    free = dict(enumerate(roots))
    added = len(wanted) - len(free)
    # The nearest of all pairs first, so that roots close to others do not take their places
    pairs = sorted(
        (abs(root - each), i, j, k) for i, j, root in wanted for k, each in enumerate(roots)
    )
    for _, i, j, k in pairs:
        if out[i, j] == -1 and k in free:
            out[i, j] = k
            del free[k]
    for i, j, _ in wanted:
        if out[i, j] == -1 and added > 0:
            out[i, j] = -2
    return out


@scipy_composition(SECTIONS_OF_ROOTS, scipy.signal.zpk2sos, "z p k")
def zpk2sos(
    z: Array, p: Array, k: Any, pairing: str | None = None, *, analog: bool = False
) -> Array:
    """Make second-order sections of zeros, poles and a gain, as `scipy.signal.zpk2sos` does.

    Parameters
    ----------
    z, p : array or Tensor, shapes (m,) and (n,)
        Real, or in conjugate pairs.
    k : number or Tensor
    pairing : str, optional
    analog : bool

    Returns
    -------
    array or Tensor, shape (sections, 6)
    """
    z, p, k = as_array(z), as_array(p), np.real(k)
    if not z.size and not p.size:
        none, one = (scipy.signal.zpk2sos([], [], x, pairing, analog=analog) for x in (0.0, 1.0))
        return none + k * (one - none)
    rows: list[list[Any]] = []
    for places in arrangement(z, p, pairing, analog):
        b, a = quadratic(z, places[:2]), quadratic(p, places[2:])
        rows.append([*b, *a] if rows else [*[k * each for each in b], *a])
    return np.stack([np.stack([each * np.ones(()) for each in row]) for row in rows])


def quadratic(roots: Array, places: Array) -> list[Any]:
    """Multiply two roots out, and average them first where they are conjugate."""
    there = [roots[i] if i >= 0 else 0.0 for i in places if i != -1]
    if not there:
        return [0.0, 0.0, 1.0]
    if len(there) == 1:
        return [0.0, 1.0, -np.real(there[0])]
    one, other = there
    if not bool(primal(np.imag(one)) == 0) and bool(np.imag(one) * np.imag(other) < 0):
        root = (one + np.conjugate(other)) / 2
        return [1.0, -2.0 * np.real(root), np.real(root) ** 2 + np.imag(root) ** 2]
    one, other = np.real(one), np.real(other)
    return [1.0, -(one + other), one * other]


@scipy_composition(SECTIONS_OF_ROOTS, scipy.signal.tf2sos, "b a")
def tf2sos(b: Array, a: Array, pairing: str | None = None, *, analog: bool = False) -> Array:
    """Make second-order sections of a transfer function, as `scipy.signal.tf2sos` does.

    Parameters
    ----------
    b, a : array or Tensor, shapes (k,) and (l,)
    pairing, analog
        As for `zpk2sos`.

    Returns
    -------
    array or Tensor, shape (sections, 6)
        Where a root is not simple a derivative is an error, but for filters of one section, which
        has the coefficients themselves.
    """
    if not analog and pairing in {None, "nearest", "keep_odd"}:
        ahead, behind = simplified(coefficients("tf2sos", b), coefficients("tf2sos", a))
        lengths = ahead.shape[0], behind.shape[0]
        if 1 < max(lengths) <= 3:
            sides = (x.astype(np.result_type(x, np.float64)) for x in (ahead, behind))
            return np.concatenate([np.pad(x, (0, 3 - x.shape[0])) for x in sides])[np.newaxis]
    return zpk2sos(*tf2zpk(b, a), pairing=pairing, analog=analog)


@scipy_composition(SECTIONS_OF_ROOTS, scipy.signal.sos2zpk, "sos")
def sos2zpk(sos: Array) -> tuple[Array, Array, Array]:
    """Find zeros, poles and the gain of sections, as `scipy.signal.sos2zpk` does.

    Parameters
    ----------
    sos : array or Tensor, shape (sections, 6)

    Returns
    -------
    tuple of array or Tensor
        The zeros, the poles and the gain.
    """
    sos = sections_of("sos2zpk", sos)
    zeros, poles, gain = [], [], 1.0
    for section in sos:
        z, p, k = tf2zpk(section[:3], section[3:])
        zeros.append(np.pad(z + 0j, (0, 2 - z.shape[0])))
        poles.append(np.pad(p + 0j, (0, 2 - p.shape[0])))
        gain = gain * k
    return np.concatenate(zeros), np.concatenate(poles), gain
