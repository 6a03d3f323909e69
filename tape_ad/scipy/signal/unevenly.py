"""Spectra of samples at any times, and how strongly events keep to a period."""

from typing import Any

import numpy as np

from tape_ad.base.arrays.overridable import overridable
from tape_ad.base.errors import ShapeError
from tape_ad.rules.base import Constant, Entry, as_array
from tape_ad.rules.maps import Array
from tape_ad.scipy.counterparts import scipy_composition, with_value
from tape_ad.scipy.installed import asked, scipy

__all__ = ["UNEVENLY", "lombscargle", "vectorstrength"]

UNEVENLY: dict[Any, Entry] = {}

NORMALISED: dict[Any, str] = {False: "power", True: "normalize"}
TINY = np.finfo(float).epsneg


@overridable
def turned_by(cs: Array, cc: Array, ss: Array) -> Array:
    """Compute the phases at which sine and cosine are orthogonal: 0.5 atan2(2 cs, cc - ss)."""
    return 0.5 * np.arctan2(2.0 * cs, cc - ss)


UNEVENLY[turned_by] = Constant()


@scipy_composition(UNEVENLY, scipy.signal.lombscargle, "x y freqs weights")
def lombscargle(
    x: Array,
    y: Array,
    freqs: Array,
    precenter: bool = False,
    normalize: Any = False,
    *,
    weights: Any = None,
    floating_mean: bool = False,
) -> Array:
    """Compute a periodogram of samples at any times, as `scipy.signal.lombscargle` does.

    Parameters
    ----------
    x, y : array or Tensor, shape (n,)
        The times and the samples.
    freqs : array or Tensor, shape (m,)
        The angular frequencies.
    precenter : bool
        Whether to subtract the mean.
    normalize : bool or str
        "power", "normalize" or "amplitude".
    weights : array or Tensor, optional, shape (n,)
    floating_mean : bool
        Whether a constant is fitted too.

    Returns
    -------
    array or Tensor, shape (m,)

    Notes
    -----
    SciPy turns the phase of each frequency so far that sine and cosine are orthogonal. The fit is
    the same at any phase where their product is kept, so that the phase is a constant here.
    """
    given: dict[str, Any] = {"precenter": True} if precenter else {}  # which is going, in SciPy
    given |= {"weights": weights} if weights is not None else {}
    given |= {"floating_mean": True} if floating_mean else {}
    composed = fitted(x, y, freqs, precenter, normalize, weights, floating_mean)
    if SQUEEZES and composed.shape == (1,):
        composed = composed[0]
    # At frequencies close to 0 the order of rounding is seen in SciPy's value
    return with_value(composed, None, lombscargle, (x, y, freqs), {"normalize": normalize, **given})


def fitted(
    x: Any, y: Any, freqs: Any, precenter: bool, normalize: Any, weights: Any, floating_mean: bool
) -> Array:
    """Fit a sine and a cosine of each frequency."""
    x, y, freqs = (as_array(each).astype(np.float64) for each in (x, y, freqs))
    weights = np.ones(y.shape) if weights is None else as_array(weights).astype(np.float64)
    if not (x.ndim == 1 and x.size and x.shape == y.shape == weights.shape and freqs.ndim == 1):
        raise ShapeError(
            "lombscargle takes times, samples and weights of one axis and length, and frequencies "
            f"of one axis, got shapes {x.shape}, {y.shape}, {weights.shape} and {freqs.shape}"
        )
    if not bool((weights >= 0).all()) or not bool(np.sum(weights) > 0):
        raise ValueError("weights must not be negative, and sum to a positive value")
    kind = NORMALISED.get(normalize, normalize)
    if kind not in ("power", "normalize", "amplitude"):
        raise ValueError(f"normalize must be one of 'power', 'normalize', 'amplitude': {kind!r}")
    weights = weights / np.sum(weights)
    total = np.sum(weights * y * y)  # before the mean is gone, in the oldest release
    if precenter:
        y = y - np.mean(y)
        total = total if OLDEST else np.sum(weights * y * y)
    mean = weights @ y if floating_mean else 0.0
    angles = freqs[:, None] * x
    tau = turned_by(*second_moments(np.cos(angles), np.sin(angles), weights, floating_mean))
    angles = angles - tau[:, None]
    cos, sin = np.cos(angles), np.sin(angles)
    cs, cc, ss = second_moments(cos, sin, weights, floating_mean)
    cc, ss = (np.where(each < TINY, TINY, each) for each in (cc, ss))
    yc, ys = cos @ (weights * y), sin @ (weights * y)
    if floating_mean:
        yc, ys = yc - mean * (cos @ weights), ys - mean * (sin @ weights)
    area = cc * ss - cs * cs
    a, b = (yc * ss - ys * cs) / area, (ys * cc - yc * cs) / area
    if kind == "amplitude":
        return (a + 1j * b) * np.exp(1j * tau)
    power = 2.0 * (a * yc + b * ys)
    if kind == "power":
        return power * (x.shape[0] / 4.0)
    return power * (0.5 / (total - mean * mean))


SQUEEZES = asked(lambda: scipy.signal.lombscargle(np.arange(2.0), np.ones(2), np.ones(1)).ndim) == 0
"""Whether what one frequency has is a number, as in newer releases."""

OLDEST = not scipy.signal.freqz_sos
"""Whether it is a release that normalizes by the samples as they came."""


def second_moments(
    cos: Array, sin: Array, weights: Array, centred: bool
) -> tuple[Array, Array, Array]:
    """Compute the weighted means of products: of both, of the cosine's and of the sine's square."""
    cs, cc = (cos * sin) @ weights, (cos * cos) @ weights
    ss = 1.0 - cc
    if not centred:
        return cs, cc, ss
    c, s = cos @ weights, sin @ weights
    return cs - c * s, cc - c * c, ss - s * s


@scipy_composition(UNEVENLY, scipy.signal.vectorstrength, "events period")
def vectorstrength(events: Array, period: Any) -> tuple[Array, Array]:
    """Tell how strongly events keep to a period, as `scipy.signal.vectorstrength` does.

    Parameters
    ----------
    events : array or Tensor, shape (n,)
        Their times.
    period : number or Tensor, or an array of them, shape (k,)

    Returns
    -------
    tuple of array or Tensor
        The strength, from 0 to 1, and the phase in radians.
    """
    events, period = as_array(events), as_array(period)
    if events.ndim > 1 or period.ndim > 1:
        raise ValueError("events and period cannot have more than one axis")
    if not bool((period > 0).all()):
        raise ValueError("periods must be positive")
    turns = (2j * np.pi / period.reshape((-1, 1))) * events.reshape((-1,))
    mean = np.mean(np.exp(turns), axis=-1)
    mean = mean[0] if period.ndim == 0 else mean
    like, _ = scipy.signal.vectorstrength(
        np.ones(1, events.dtype), np.ones(period.shape, period.dtype)
    )
    return np.abs(mean).astype(like.dtype), np.angle(mean).astype(like.dtype)
