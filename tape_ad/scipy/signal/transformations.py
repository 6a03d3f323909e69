"""Filters moved to other bands, and made digital, by their zeros and poles."""

from typing import Any

import numpy as np

from tape_ad.extend.arrays import Array, as_array
from tape_ad.extend.rules import Entry
from tape_ad.scipy.counterparts import is_handle, scipy_composition
from tape_ad.scipy.installed import scipy

__all__ = [
    "TRANSFORMATIONS",
    "Zpk",
    "bilinear_zpk",
    "lp2bp_zpk",
    "lp2bs_zpk",
    "lp2hp_zpk",
    "lp2lp_zpk",
    "weak",
]

TRANSFORMATIONS: dict[Any, Entry] = {}

Zpk = tuple[Array, Array, Array]

SMOOTH = "z p k wo"


def roots_of(z: Array, p: Array) -> tuple[Array, Array, int]:
    """Take zeros and poles to arrays, and count how many more poles there are.

    Raises
    ------
    ValueError
        When there are more zeros.
    """
    z, p = (x.reshape((1,)) if x.ndim == 0 else x for x in (as_array(z), as_array(p)))
    degree = p.shape[0] - z.shape[0]
    if degree < 0:
        raise ValueError("Improper transfer function. Must have at least as many poles as zeros.")
    return z, p, degree


def weak(number: Any, like: Any) -> Any:
    """Let a handle promote nothing, as SciPy makes a number of Python's of what stands there."""
    if not is_handle(number) or not hasattr(like, "dtype") or like.dtype.kind not in "fc":
        return number
    return number.astype(np.empty(0, like.dtype).real.dtype)


@scipy_composition(TRANSFORMATIONS, scipy.signal.lp2lp_zpk, SMOOTH)
def lp2lp_zpk(z: Array, p: Array, k: Any, wo: Any = 1.0) -> Zpk:
    """Move the cutoff of a lowpass filter, as `scipy.signal.lp2lp_zpk` does.

    Parameters
    ----------
    z, p : array or Tensor, shapes (m,) and (n,)
    k, wo : number or Tensor

    Returns
    -------
    tuple of array or Tensor
        The zeros, the poles and the gain.
    """
    z, p, degree = roots_of(z, p)
    return weak(wo, z) * z, weak(wo, p) * p, k * weak(wo, k) ** degree


@scipy_composition(TRANSFORMATIONS, scipy.signal.lp2hp_zpk, SMOOTH)
def lp2hp_zpk(z: Array, p: Array, k: Any, wo: Any = 1.0) -> Zpk:
    """Make a highpass filter of a lowpass one, as `scipy.signal.lp2hp_zpk` does.

    Parameters
    ----------
    z, p, k, wo
        As for `lp2lp_zpk`.

    Returns
    -------
    tuple of array or Tensor
        The zeros, the poles and the gain.
    """
    z, p, degree = roots_of(z, p)
    gain = k * np.real(np.prod(-z) / np.prod(-p))
    zeros = np.concatenate((weak(wo, z) / z, np.zeros(degree)))
    return zeros, weak(wo, p) / p, gain


@scipy_composition(TRANSFORMATIONS, scipy.signal.lp2bp_zpk, f"{SMOOTH} bw")
def lp2bp_zpk(z: Array, p: Array, k: Any, wo: Any = 1.0, bw: Any = 1.0) -> Zpk:
    """Make a bandpass filter of a lowpass one, as `scipy.signal.lp2bp_zpk` does.

    Parameters
    ----------
    z, p, k, wo
        As for `lp2lp_zpk`.
    bw : number or Tensor
        The width of the band.

    Returns
    -------
    tuple of array or Tensor
        The zeros, the poles and the gain.
    """
    z, p, degree = roots_of(z, p)
    zeros, poles = split(z * bw / 2, wo), split(p * bw / 2, wo)
    return np.concatenate((zeros, np.zeros(degree))), poles, k * weak(bw, k) ** degree


@scipy_composition(TRANSFORMATIONS, scipy.signal.lp2bs_zpk, f"{SMOOTH} bw")
def lp2bs_zpk(z: Array, p: Array, k: Any, wo: Any = 1.0, bw: Any = 1.0) -> Zpk:
    """Make a bandstop filter of a lowpass one, as `scipy.signal.lp2bs_zpk` does.

    Parameters
    ----------
    z, p, k, wo, bw
        As for `lp2bp_zpk`.

    Returns
    -------
    tuple of array or Tensor
        The zeros, the poles and the gain.
    """
    z, p, degree = roots_of(z, p)
    zeros, poles = split(bw / 2 / z, wo), split(bw / 2 / p, wo)
    middle = 1j * wo * np.repeat([1.0, -1.0], degree)
    gain = k * np.real(np.prod(-z) / np.prod(-p))
    return np.concatenate((zeros, middle)), poles, gain


def split(roots: Array, wo: Any) -> Array:
    """Move roots to both sides of a band."""
    roots = roots.astype(np.complex128)
    away = np.sqrt(roots**2 - wo**2)
    return np.concatenate((roots + away, roots - away))


@scipy_composition(TRANSFORMATIONS, scipy.signal.bilinear_zpk, "z p k fs")
def bilinear_zpk(z: Array, p: Array, k: Any, fs: Any) -> Zpk:
    """Make a digital filter of an analog one, as `scipy.signal.bilinear_zpk` does.

    Parameters
    ----------
    z, p : array or Tensor, shapes (m,) and (n,)
    k, fs : number or Tensor

    Returns
    -------
    tuple of array or Tensor
        The zeros, the poles and the gain.
    """
    z, p, degree = roots_of(z, p)
    of_zeros, of_poles = 2.0 * weak(fs, z), 2.0 * weak(fs, p)
    gain = k * np.real(np.prod(of_zeros - z) / np.prod(of_poles - p))
    zeros = np.concatenate(((of_zeros + z) / (of_zeros - z), -np.ones(degree)))
    return zeros, (of_poles + p) / (of_poles - p), gain
