"""Filters made of others, by another cutoff or digital ones of analog ones; windows; systems."""

from typing import Any

import numpy as np

from tape_ad import differentiable
from tape_ad.extend.arrays import Array, as_array, is_handle
from tape_ad.extend.packages import copied
from tape_ad.extend.rules import Entry, add_facts
from tape_ad.scipy.counterparts import constant_beside, counterpart
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.linalg.functions import expm
from tape_ad.scipy.signal.filters import coefficients
from tape_ad.scipy.signal.roots import normalize, without_zeros

TRANSFORMATIONS: dict[Any, Entry] = {}


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


@counterpart(TRANSFORMATIONS, scipy.signal.lp2lp_zpk, "z p k wo")
def lp2lp_zpk(z: Array, p: Array, k: Any, wo: Any = 1.0) -> tuple[Array, Array, Array]:
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


@counterpart(TRANSFORMATIONS, scipy.signal.lp2hp_zpk, "z p k wo")
def lp2hp_zpk(z: Array, p: Array, k: Any, wo: Any = 1.0) -> tuple[Array, Array, Array]:
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


@counterpart(TRANSFORMATIONS, scipy.signal.bilinear, "b a fs")
def bilinear(b: Array, a: Array, fs: Any = 1.0) -> Any:
    """Make a digital filter of an analog one, as `scipy.signal.bilinear` does.

    Parameters
    ----------
    b, a : array or Tensor, shapes (k,) and (l,)
    fs : number or Tensor
        The sampling frequency.

    Returns
    -------
    tuple of array or Tensor
        The numerator and the denominator.
    """
    b, a = coefficients("bilinear", b), coefficients("bilinear", a)
    order = max(b.shape[0], a.shape[0]) - 1
    # Row q is (z + 1)^(order - q) (z - 1)^q, the highest power first
    rows = np.stack(
        [np.atleast_1d(np.poly([-1] * (order - q) + [1] * q)) for q in range(order + 1)]
    )
    factors = (2 * as_array(fs)) ** (np.arange(order + 1) - order / 2)
    both = [
        (c[::-1] * factors[: c.shape[0]]) @ rows[: c.shape[0]].astype(np.float64) for c in (b, a)
    ]
    return normalize(both[0], without_zeros(both[1]))


add_facts(TRANSFORMATIONS, (bilinear,), shape_by_values=True)


# Taps of filters by windows

TAPS: dict[Any, Entry] = {}

multiplied_in_place = copied(scipy.signal.firwin)


@counterpart(TAPS, multiplied_in_place, "cutoff width fs window", trees="window")
def firwin(
    numtaps: int,
    cutoff: Any,
    *,
    width: Any = None,
    window: Any = "hamming",
    pass_zero: Any = True,
    scale: bool = True,
    fs: Any = None,
) -> Array:
    """Design the taps of a filter by a window, as `scipy.signal.firwin` does.

    Parameters
    ----------
    numtaps : int
    cutoff, width, fs : number, array or Tensor
    window : str, tuple or Tensor
        Its parameters may be handles. SciPy's older releases multiply plain taps by it in place.
    pass_zero, scale
        As in SciPy.

    Returns
    -------
    array or Tensor, shape (numtaps,)
    """
    handle = next(filter(is_handle, window if isinstance(window, tuple) else (window, width)), None)
    if handle is not None and not is_handle(cutoff):
        cutoff = constant_beside(cutoff, handle)
    options = {"pass_zero": pass_zero, "scale": scale, "fs": fs}
    return multiplied_in_place(numtaps, cutoff, width=width, window=window, **options)


# Linear systems in time


SYSTEMS: dict[Any, Entry] = {}

from_zero = copied(scipy.signal.lsim)


@counterpart(SYSTEMS, from_zero, "system U T X0", trees="system")
def lsim(system: Any, U: Any, T: Any, X0: Any = None, interp: bool = True) -> Any:
    """Simulate a continuous system, as `scipy.signal.lsim` does.

    Parameters
    ----------
    system : tuple of array or Tensor, or a system
        A numerator and a denominator; zeros, poles and a gain; or four matrices.
    U : array or Tensor, or None
        The input at each time, with an axis for several inputs.
    T : array or Tensor, shape (n,)
        The times, evenly spaced. SciPy asks whether the first one is 0, where the state is the same
        to the first order on no side: here it is always moved on by that time.
    X0 : array or Tensor, optional
        The state at first.
    interp : bool
        Whether the input is linear between the times, or constant.

    Returns
    -------
    tuple of array or Tensor
        The times, the outputs and the states.
    """
    times = as_array(T)
    if not is_handle(times) or times.ndim != 1 or bool(times[0] < 0):
        return from_zero(system, U, T, X0, interp)
    system = system if hasattr(system, "to_ss") else differentiable(scipy.signal.lti)(*system)
    a = system.to_ss().A
    start = np.zeros(a.shape[0]) if X0 is None else as_array(X0)
    start = (start @ expm(a.T * times[0])).astype(np.result_type(start, a))
    _, out, states = from_zero(
        system, U, np.concatenate(([0.0], times[1:] - times[0])), start, interp
    )
    return times, out, states
