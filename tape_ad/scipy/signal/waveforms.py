"""Signals made of formulas: sweeps of frequency and pulses."""

import warnings
from typing import Any

import numpy as np

from tape_ad.base.errors import ShapeError, UnsupportedArgumentError
from tape_ad.extend.arrays import Array, as_array, primal
from tape_ad.extend.rules import Constant, Entry, add_facts
from tape_ad.scipy.counterparts import is_handle, joined, scipy_composition, scipy_function
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.signal.filters import coefficients
from tape_ad.scipy.signal.transformations import weak

__all__ = [
    "PERIODIC",
    "WAVEFORMS",
    "check_COLA",
    "check_NOLA",
    "chirp",
    "gausspulse",
    "group_delay",
    "sawtooth",
    "square",
    "sweep_poly",
]

WAVEFORMS: dict[Any, Entry] = {}

KINDS = {
    name: names[0]
    for names in (
        ("linear", "lin", "li"),
        ("quadratic", "quad", "q"),
        ("logarithmic", "log", "lo"),
        ("hyperbolic", "hyp"),
    )
    for name in names
}


def number(name: str, value: Any, t: Array) -> Any:
    """Take a number, which promotes the times no more than one of Python's.

    Raises
    ------
    ShapeError
        When it has an axis.
    """
    if np.ndim(value):
        raise ShapeError(f"{name} must be a number, got shape {np.shape(value)}")
    if not is_handle(value):
        return float(value)
    return weak(value, t) if t.dtype.kind in "fc" else value


@scipy_composition(WAVEFORMS, scipy.signal.chirp, "t f0 t1 f1")
def chirp(
    t: Array,
    f0: Any,
    t1: Any,
    f1: Any,
    method: str = "linear",
    phi: float = 0,
    vertex_zero: bool = True,
    *,
    complex: bool = False,  # noqa: A002 - SciPy's name
) -> Array:
    """Sweep the frequency of a cosine, as `scipy.signal.chirp` does.

    Parameters
    ----------
    t : array or Tensor
        The times.
    f0, t1, f1 : number or Tensor
        The frequency at 0, and the one at the time `t1`.
    method : str
        "linear", "quadratic", "logarithmic" or "hyperbolic".
    phi : float
        The phase, in degrees.
    vertex_zero, complex : bool

    Returns
    -------
    array or Tensor, of the shape of `t`

    Raises
    ------
    UnsupportedArgumentError
        When the two frequencies are equal handles in a sweep that is not a power's.
    """
    t = as_array(t)
    kind = KINDS.get(method)
    if kind is None:
        raise ValueError(f"method must be one of {', '.join(KINDS)}, but {method!r} was given")
    if (
        kind in ("logarithmic", "hyperbolic")
        and bool(f0 == f1)
        and (is_handle(f0) or is_handle(f1))
    ):
        raise UnsupportedArgumentError(
            f"tape_ad.scipy.signal.chirp: the {kind} sweep has another formula where f0= and f1= "
            "are "
            "equal, and no derivative by them there; move one of them, or pass their values, .data"
        )
    f0, t1, f1 = (number(name, x, t) for name, x in (("f0", f0), ("t1", t1), ("f1", f1)))
    phase = phase_of(kind, t, f0, t1, f1, vertex_zero) + phi * (np.pi / 180)
    # Whether the phase promotes single precision is another thing in each release of SciPy
    phase = phase.astype(scipy.signal.chirp(np.ones(1, t.dtype), 1, 2, 3, method, phi).dtype)
    return np.exp(1j * phase) if complex else np.cos(phase)


def phase_of(kind: str, t: Array, f0: Any, t1: Any, f1: Any, vertex_zero: bool) -> Any:
    """Integrate the frequency of a sweep over the time."""
    if kind == "linear":
        return 2 * np.pi * (f0 * t + 0.5 * ((f1 - f0) / t1) * t * t)
    if kind == "quadratic":
        bend = (f1 - f0) / (t1**2)
        if vertex_zero:
            return 2 * np.pi * (f0 * t + bend * t**3 / 3)
        return 2 * np.pi * (f1 * t + bend * ((t1 - t) ** 3 - t1**3) / 3)
    if not bool(f0 * f1 > 0) and (kind == "logarithmic" or bool(primal(f0 * f1) == 0)):
        raise ValueError("f0 and f1 must be nonzero, and of the same sign if logarithmic")
    if bool(f0 == f1):
        return 2 * np.pi * f0 * t
    if kind == "logarithmic":
        ratio = f1 / f0
        return 2 * np.pi * (t1 / np.log(ratio)) * f0 * (ratio ** (t / t1) - 1.0)
    pole = -f1 * t1 / (f0 - f1)
    return 2 * np.pi * (-pole * f0) * np.log(np.abs(1 - t / pole))


@scipy_composition(WAVEFORMS, scipy.signal.sweep_poly, "t poly")
def sweep_poly(t: Array, poly: Any, phi: float = 0) -> Array:
    """Make a cosine whose frequency is a polynomial, as `scipy.signal.sweep_poly` does.

    Parameters
    ----------
    t : array or Tensor
        The times.
    poly : array, Tensor or numpy.poly1d
        The coefficients, the one of the highest power first.
    phi : float
        The phase, in degrees.

    Returns
    -------
    array or Tensor, of the shape of `t`
    """
    t = as_array(t)
    poly = as_array(poly.coeffs if isinstance(poly, np.poly1d) else poly)
    if poly.ndim != 1:
        raise ShapeError(f"sweep_poly takes coefficients of one axis, got shape {poly.shape}")
    integral = np.concatenate((poly / np.arange(poly.shape[0], 0, -1), np.zeros(1)))
    return np.cos(2 * np.pi * np.polyval(integral, t) + phi * (np.pi / 180))


@scipy_composition(WAVEFORMS, scipy.signal.gausspulse, "t fc bw")
def gausspulse(
    t: Any,
    fc: Any = 1000,
    bw: Any = 0.5,
    bwr: float = -6,
    tpr: float = -60,
    retquad: bool = False,
    retenv: bool = False,
) -> Any:
    """Make a cosine under a bell, as `scipy.signal.gausspulse` does.

    Parameters
    ----------
    t : array or Tensor, or "cutoff"
        The times; "cutoff" asks for the time at which the envelope falls to `tpr`.
    fc, bw : number or Tensor
        The frequency, and the width of the band as a fraction of it.
    bwr, tpr : float
        Levels in decibels.
    retquad, retenv : bool
        Whether the sine and the envelope are returned too.

    Returns
    -------
    array or Tensor, or a tuple of them
    """
    if isinstance(t, str):
        # SciPy checks the word and the levels
        at_one = scipy.signal.gausspulse(t, fc=1.0, bw=1.0, bwr=bwr, tpr=tpr)
        return at_one / (fc * bw)
    t = as_array(t)
    fc, bw = number("fc", fc, t), number("bw", bw, t)
    if not bool(fc >= 0) or not bool(bw > 0) or not bwr < 0:
        raise ValueError("gausspulse takes fc >= 0, bw > 0 and bwr < 0")
    narrow = -((np.pi * fc * bw) ** 2) / (4.0 * np.log(10.0 ** (bwr / 20.0)))
    envelope = np.exp(-narrow * t * t)
    angle = 2 * np.pi * fc * t
    pulse = envelope * np.cos(angle)
    extra = [envelope * np.sin(angle)] if retquad else []
    extra += [envelope] if retenv else []
    return (pulse, *extra) if extra else pulse


check_COLA, check_NOLA, square = (  # noqa: N816 - SciPy's names
    scipy_function(function, "tape_ad.scipy.signal")
    for function in (scipy.signal.check_COLA, scipy.signal.check_NOLA, scipy.signal.square)
)

PERIODIC: dict[Any, Entry] = {each: Constant() for each in (check_COLA, check_NOLA, square)}


@scipy_composition(PERIODIC, scipy.signal.sawtooth, "t width")
def sawtooth(t: Array, width: Any = 1) -> Array:
    """Make a wave of two slopes, as `scipy.signal.sawtooth` does.

    Parameters
    ----------
    t : array or Tensor
        The times; the period is 2 pi.
    width : number, array or Tensor
        The share of the period in which it rises, between 0 and 1.

    Returns
    -------
    array or Tensor
    """
    alike = (np.zeros(x.shape, x.dtype) if hasattr(x, "dtype") else x for x in (t, width))
    dtype = scipy.signal.sawtooth(*alike).dtype  # double precision, in releases before 1.18
    t, width = as_array(t), as_array(width)
    common = min(dtype, np.result_type(t.dtype, width.dtype, np.float16))
    t, width = t.astype(common), width.astype(common)
    inside = (width >= 0) & (width <= 1)
    turn = np.mod(t, 2 * np.pi)
    rises = turn < width * 2 * np.pi
    up = turn / (np.pi * np.where(rises, width, 1.0)) - 1
    falls = ~rises
    down = (np.pi * (width + 1) - turn) / (np.pi * (1 - np.where(falls, width, 0.0)))
    out = np.where(inside, np.where(rises, up, down), np.nan)
    return out.astype(dtype)


@scipy_composition(PERIODIC, scipy.signal.group_delay, "system w", trees="system")
def group_delay(
    system: Any, w: Any = 512, whole: bool = False, fs: float = 2 * np.pi
) -> tuple[Array, Array]:
    """Compute how long a filter delays groups of waves, as `scipy.signal.group_delay` does.

    Parameters
    ----------
    system : tuple of array or Tensor
        The numerator and the denominator.
    w : int, array or Tensor
        The number of frequencies, or the frequencies in units of `fs`.
    whole : bool
    fs : float

    Returns
    -------
    tuple of array or Tensor
        The frequencies and the delays, in samples.
    """
    b, a = (coefficients("group_delay", joined(each)) for each in system)
    if w is None or isinstance(w, (int, np.integer)):
        angles = np.linspace(0, (2 if whole else 1) * np.pi, 512 if w is None else w, False)
    else:
        angles = as_array(w)
        angles = (angles.reshape((1,)) if angles.ndim == 0 else angles) * (2 * np.pi / fs)
    c = np.convolve(b, np.conjugate(a[::-1]))
    powers = np.exp(-1j * angles)
    den = np.polyval(c[::-1], powers)
    num = np.polyval((c * np.arange(c.shape[0]))[::-1], powers)
    singular = np.abs(den) < 10 * np.finfo(float).eps
    if bool(singular.any()):
        if is_handle(den):
            raise UnsupportedArgumentError(
                "tape_ad.scipy.signal.group_delay: there is no delay, and no derivative, at a "
                "frequency w= where the filter has a zero or a pole on the circle; leave it out"
            )
        warnings.warn("The group delay is singular at some frequencies", stacklevel=5)
    return angles * (fs / (2 * np.pi)), np.real(num / den) - a.shape[0] + 1


add_facts(PERIODIC, (group_delay,), shape_by_values=True)
