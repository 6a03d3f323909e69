"""Frequency responses of linear systems in any of their forms."""

from typing import Any

import numpy as np

from tape_ad.base.errors import ShapeError
from tape_ad.extend.arrays import Array
from tape_ad.extend.rules import Entry
from tape_ad.scipy.counterparts import joined, scipy_composition
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.signal.forms import normalize, ss2tf
from tape_ad.scipy.signal.responses import freqs, freqs_zpk, freqz, freqz_zpk, like_ones
from tape_ad.scipy.signal.simulations import discrete_parts

__all__ = ["SYSTEM_RESPONSES", "bode", "dbode", "dfreqresp", "freqresp"]

SYSTEM_RESPONSES: dict[Any, Entry] = {}


def form_of(parts: Any) -> tuple[Any, ...]:
    """Take a system of one input and one output to a transfer function, or zeros and poles.

    A transfer function stays one, for roots that meet have no derivative.
    """
    if hasattr(parts, "to_ss"):
        parts = (parts,)
    if len(parts) == 1:
        system = parts[0]
        if hasattr(system, "gain"):
            return system.zeros, system.poles, system.gain
        system = system.to_tf()
        parts = system.num, system.den
    if len(parts) == 3:
        return tuple(map(joined, parts))
    if len(parts) not in (2, 4):
        raise ValueError("a system is a tuple of 2, 3 or 4 arrays")
    num, den = normalize(*parts) if len(parts) == 2 else ss2tf(*map(joined, parts))
    if num.ndim == 2:
        if num.shape[0] != 1:
            raise ShapeError("a frequency response is that of one input and one output")
        num = num[0]
    return num, den


@scipy_composition(SYSTEM_RESPONSES, scipy.signal.freqresp, "system w", trees="system")
def freqresp(system: Any, w: Any = None, n: int = 10000) -> tuple[Array, Array]:
    """Compute the frequency response of a continuous system, as `scipy.signal.freqresp` does.

    Parameters
    ----------
    system : tuple of array or Tensor
        A numerator and a denominator; zeros, poles and a gain; or four matrices.
    w : array or Tensor, optional
        The angular frequencies.
    n : int
        Their number, where they are left out.

    Returns
    -------
    tuple of array or Tensor
        The frequencies and the response.
    """
    return of_continuous(system, w, n)


def of_continuous(system: Any, w: Any, n: int) -> tuple[Array, Array]:
    """Compute a frequency response; see `freqresp`."""
    form = form_of(system)
    if len(form) == 3:
        return freqs_zpk(*form, worN=n if w is None else w)
    num, den = form
    w, h = freqs(num, den, n if w is None else w)
    # SciPy makes a transfer function zeros and poles first, which may be in another precision
    like = scipy.signal.freqresp(tuple(map(like_ones, form)), w=np.ones(1, w.dtype))[1]
    return w, h.astype(like.dtype)


@scipy_composition(SYSTEM_RESPONSES, scipy.signal.bode, "system w", trees="system")
def bode(system: Any, w: Any = None, n: int = 100) -> tuple[Array, Array, Array]:
    """Compute magnitude and phase of a continuous system, as `scipy.signal.bode` does.

    Parameters
    ----------
    system, w, n
        As for `freqresp`.

    Returns
    -------
    tuple of array or Tensor
        The frequencies, the magnitude in decibels and the phase in degrees.
    """
    w, y = of_continuous(system, w, n)
    return w, 20.0 * np.log10(np.abs(y)), np.unwrap(np.angle(y)) * 180.0 / np.pi


@scipy_composition(SYSTEM_RESPONSES, scipy.signal.dfreqresp, "system w", trees="system")
def dfreqresp(
    system: Any, w: Any = None, n: int = 10000, whole: bool = False
) -> tuple[Array, Array]:
    """Compute the frequency response of a discrete system, as `scipy.signal.dfreqresp` does.

    Parameters
    ----------
    system : tuple of array or Tensor
        As for `freqresp`, with the step behind.
    w, n
        As for `freqresp`, in radians to a sample.
    whole : bool
        Whether to go all the way round.

    Returns
    -------
    tuple of array or Tensor
        The frequencies and the response.
    """
    return of_discrete(system, w, n, whole)


def of_discrete(system: Any, w: Any, n: int, whole: bool = False) -> tuple[Array, Array]:
    """Compute a frequency response; see `dfreqresp`."""
    parts, _ = discrete_parts(system)
    form = form_of(parts)
    w = n if w is None else w
    if len(form) == 3:
        return freqz_zpk(*form, worN=w, whole=whole)
    num, den = form
    size = max(num.shape[0], den.shape[0])
    # What is filled up is in double precision, as SciPy's
    num, den = (
        c if c.shape[0] == size else np.concatenate((np.zeros(size - c.shape[0]), c))
        for c in (num, den)
    )
    return freqz(num, den, w, whole)


@scipy_composition(SYSTEM_RESPONSES, scipy.signal.dbode, "system w", trees="system")
def dbode(system: Any, w: Any = None, n: int = 100) -> tuple[Array, Array, Array]:
    """Compute magnitude and phase of a discrete system, as `scipy.signal.dbode` does.

    Parameters
    ----------
    system, w, n
        As for `dfreqresp`.

    Returns
    -------
    tuple of array or Tensor
        The frequencies in radians to a unit of time, the magnitude in decibels and the phase in
        degrees.
    """
    w, y = of_discrete(system, w, n)
    dt = discrete_parts(system)[1]
    return w / dt, 20.0 * np.log10(np.abs(y)), np.unwrap(np.angle(y)) * (180.0 / np.pi)
