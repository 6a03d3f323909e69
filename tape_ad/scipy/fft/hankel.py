"""The fast Hankel transform of logarithmically spaced samples (Hamilton 2000, appendix B)."""

import functools
from typing import Any

import numpy as np

from tape_ad.errors import UnsupportedArgumentError
from tape_ad.extend.arrays import Array, as_array
from tape_ad.extend.rules import Entry
from tape_ad.scipy.counterparts import counterpart
from tape_ad.scipy.installed import scipy

__all__ = ["HANKEL", "fht", "fhtoffset", "ifht"]

HANKEL: dict[Any, Entry] = {}

LOG_2 = np.log(2)


@functools.cache
def is_always_real() -> bool:
    """Tell whether this release takes the last frequency of an odd number of samples for one alone.

    It is a pair; older ones do so, and so do the values then.
    """
    impulse = scipy.fft.fht(np.array([1.0, 0.0, 0.0]), 0.1, 0.5)
    return bool(abs(np.fft.rfft(impulse[::-1])[-1].imag) < 1e-9)


@counterpart(HANKEL, scipy.fft.fht, "a dln mu offset bias")
def fht(a: Array, dln: Any, mu: Any, offset: Any = 0.0, bias: Any = 0.0) -> Array:
    """Compute the fast Hankel transform of real samples, as `scipy.fft.fht` does.

    Parameters
    ----------
    a : array or Tensor, shape (..., n)
        Logarithmically spaced samples.
    dln, mu, offset, bias : number or Tensor
        The spacing, the order, the offset of the output, and the exponent of the bias.

    Returns
    -------
    array or Tensor, shape (..., n)
    """
    a, (dln, mu, offset, bias) = as_array(a), map(as_array, (dln, mu, offset, bias))
    n = a.shape[-1]
    steps = np.arange(n) - (n - 1) / 2
    weights = coefficients("fht", n, dln, mu, offset, bias)
    out = transformed(a * np.exp(-bias * steps * dln), weights)
    return in_precision(out * np.exp(-bias * (steps * dln + offset)), a, bias)


@counterpart(HANKEL, scipy.fft.ifht, "A dln mu offset bias")
def ifht(A: Array, dln: Any, mu: Any, offset: Any = 0.0, bias: Any = 0.0) -> Array:
    """Compute the inverse of `fht`, as `scipy.fft.ifht` does.

    Parameters
    ----------
    A, dln, mu, offset, bias
        As for `fht`.

    Returns
    -------
    array or Tensor, shape (..., n)
    """
    a, (dln, mu, offset, bias) = as_array(A), map(as_array, (dln, mu, offset, bias))
    n = a.shape[-1]
    steps = np.arange(n) - (n - 1) / 2
    weights = 1 / np.conjugate(coefficients("ifht", n, dln, mu, offset, bias))
    out = transformed(a * np.exp(bias * (steps * dln + offset)), weights)
    return in_precision(out * np.exp(bias * steps * dln), a, bias)


@counterpart(HANKEL, scipy.fft.fhtoffset, "dln mu initial bias")
def fhtoffset(dln: Any, mu: Any, initial: Any = 0.0, bias: Any = 0.0) -> Any:
    """Find the offset near to a given one at which `fht` rings least, as SciPy's does.

    Parameters
    ----------
    dln, mu, initial, bias : number or Tensor

    Returns
    -------
    number or Tensor
    """
    dln, mu, initial, bias = map(as_array, (dln, mu, initial, bias))
    angle = 0.0
    for half in ((mu + 1 + bias) / 2, (mu + 1 - bias) / 2):
        angle = angle + scipy.special.loggamma(half + 1j * (np.pi / (2 * dln))).imag
    turns = (LOG_2 - initial) / dln + angle / np.pi
    return initial + (turns - np.round(turns)) * dln


def coefficients(name: str, n: int, dln: Any, mu: Any, offset: Any, bias: Any) -> Array:
    """Compute what the spectrum is multiplied with.

    Raises
    ------
    UnsupportedArgumentError
        Where a gamma function has a pole, and SciPy takes a limit.
    """
    upper, lower = (mu + 1 + bias) / 2, (mu + 1 - bias) / 2
    frequencies = np.arange(n // 2 + 1) * (2 * np.pi / (2 * n)) / dln
    if any(is_pole(half) for half in (upper, lower)):
        raise UnsupportedArgumentError(
            f"tape_ad.scipy.fft.{name}: the transform of this order mu= and bias= is a limit, at a "
            "pole of the gamma function, which has no derivative here; change the bias"
        )
    top = scipy.special.loggamma(upper + 1j * frequencies)
    bottom = scipy.special.loggamma(lower + 1j * frequencies)
    phase = top.imag + bottom.imag + 2 * (LOG_2 - offset) * frequencies
    size = np.exp(top.real - bottom.real + LOG_2 * bias)
    sines = np.sin(phase)
    if n % 2 == 0 or is_always_real():  # the last frequency is real
        sines = sines * (np.arange(n // 2 + 1) < n // 2)
    return size * (np.cos(phase) + 1j * sines)


def is_pole(half: Any) -> bool:
    """Tell whether a number is one at which the gamma function has a pole."""
    return bool((half <= 0) & (half == np.round(half)))


def in_precision(out: Array, a: Array, bias: Any) -> Array:
    """Give samples of single precision back as such where SciPy does: without a bias."""
    return out.astype(np.float32) if a.dtype == np.float32 and bias == 0 else out


def transformed(a: Array, weights: Array) -> Array:
    """Multiply the spectrum of the last axis, and turn what that gives round."""
    n = a.shape[-1]
    return np.fft.irfft(np.fft.rfft(a) * weights, n)[..., ::-1]
