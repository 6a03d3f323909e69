"""`RotationSpline`, whose times and rotations may be handles.

Between two rotations the vector of the rotation that is left to do, φ, is a cubic polynomial of
time. Its rates at the ends make the angular velocity ω and the angular acceleration α continuous:

    ω = R(φ) φ'        α = R(φ) φ'' + (dR(φ)/dt) φ'        R(φ) = 1 - a [φ]ₓ + b [φ]ₓ²

with a = (1 - cos|φ|)/|φ|² and b = (|φ| - sin|φ|)/|φ|³. SciPy iterates for the rates; here the
equations for α give them their derivatives.
"""

import math
from typing import Any

import numpy as np
import scipy.spatial
import scipy.spatial.transform

from tape_ad.base.errors import UnsupportedArgumentError
from tape_ad.extend.arrays import Array, in_double, plain, primal
from tape_ad.extend.solvers import implicit
from tape_ad.scipy.counterparts import joined
from tape_ad.scipy.interpolate.polynomials import PPoly, piece_of
from tape_ad.scipy.interpolate.shared import is_plain
from tape_ad.scipy.spatial.rotations import Rotation, from_host

__all__ = ["RotationSpline", "Slerp", "geometric_slerp"]

SMALL = 0.5
"""Below which square of an angle the factors are summed up as series."""


def factor(square: Array, start: int, order: int = 0) -> Array:
    """Compute Σ (-s)ᵏ / (2k + start)!, or its derivative by s.

    It is (1 - cos √s)/s for a start of 2, and (√s - sin √s)/√s³ for 3.
    """
    near = np.less(square, SMALL)
    s = np.where(near, 1.0, square)
    root = np.sqrt(s)
    cosine, sine = (1 - np.cos(root)) / s, (root - np.sin(root)) / (s * root)
    if order == 0:
        far = cosine if start == 2 else sine
    elif start == 2:
        far = (np.sin(root) / (2 * root) - cosine) / s
    else:
        far = (cosine - 3 * sine) / (2 * s)
    return np.where(near, series(square, start, order), far)


def series(square: Array, start: int, order: int) -> Array:
    """Sum up the series of `factor` where the square is small; elsewhere it is of no use."""
    s = np.where(np.less(square, SMALL), square, 0.0)
    total: Any = 0.0
    for k in range(9, order - 1, -1):
        scale = k if order else 1
        total = total * s + (-1.0) ** k * scale / math.factorial(2 * k + start)
    return total


def turned(phi: Array, v: Array) -> Array:
    """Multiply vectors on the last axis by the rotation vector's Jacobian: R(φ) v."""
    square = np.add.reduce(phi * phi, axis=-1, keepdims=True)
    once = np.cross(phi, v)
    return v - factor(square, 2) * once + factor(square, 3) * np.cross(phi, once)


def unturned(phi: Array, omega: Array) -> Array:
    """Multiply angular rates by the inverse of the rotation vector's Jacobian: R(φ)⁻¹ ω."""
    square = np.add.reduce(phi * phi, axis=-1, keepdims=True)
    once = np.cross(phi, omega)
    share = factor(square, 2, 1) / factor(square, 2)
    return omega + once / 2 - share * np.cross(phi, once)


def acceleration(phi: Array, rate: Array, second: Array) -> Array:
    """Compute the angular acceleration at given times."""
    square = np.add.reduce(phi * phi, axis=-1, keepdims=True)
    rising = 2 * np.add.reduce(phi * rate, axis=-1, keepdims=True)
    once = np.cross(phi, rate)
    twice = np.cross(rate, once)  # and what is left of d[φ]ₓ²/dt φ' is φ × (φ' × φ') = 0
    change = (
        factor(square, 3, 1) * rising * np.cross(phi, once)
        - factor(square, 2, 1) * rising * once
        + factor(square, 3) * twice
    )
    return turned(phi, second) + change


class RotationSpline:
    """Rotations with a continuous acceleration, as `scipy.spatial.transform.RotationSpline`.

    Parameters
    ----------
    times : array or Tensor, shape (n,)
        Increasing.
    rotations : Rotation
        As many; ours, or SciPy's.

    Examples
    --------
    >>> turns = Rotation.from_rotvec([[0, 0, 0], [0, 0, 40], [0, 0, 90]], degrees=True)
    >>> round(float(RotationSpline([0.0, 1.0, 2.0], turns)(0.5).magnitude()), 6)
    0.338158
    """

    def __init__(self, times: Array, rotations: Any) -> None:
        times, rotations = in_double(joined(times)), from_host(rotations)
        self._host = None
        host = getattr(rotations, "_host", None)
        if is_plain(times) and host is not None:
            self._host = scipy.spatial.transform.RotationSpline(times, host)
            self.interpolator = PPoly(self._host.interpolator.c, self._host.interpolator.x)
            self.times, self.rotations = times, rotations
            return
        if rotations.single or len(rotations) == 1:
            raise ValueError("`rotations` must be a sequence of at least 2 rotations.")
        if times.shape != (len(rotations),):
            raise ValueError(
                "Expected number of rotations to be equal to number of timestamps given, got "
                f"{len(rotations)} rotations and {times.shape} timestamps."
            )
        dt = (times[1:] - times[:-1])[:, None]
        if np.any(dt <= 0):
            raise ValueError("Values in `times` must be in a strictly increasing order.")
        phi = (rotations[:-1].inv() * rotations[1:]).as_rotvec()
        made = scipy.spatial.transform.RotationSpline(
            plain(times), scipy.spatial.transform.Rotation.from_quat(plain(rotations.as_quat()))
        )
        inner = made.interpolator.c[2, 1:]

        def coefficients(rates: Any) -> Any:
            first = phi[:1] / dt[:1]
            last = phi[-1:] / dt[-1:]
            start = np.concatenate((first, rates))
            # The rates at the ends are those of a turn at a constant rate
            end = np.concatenate((unturned(phi[:-1], rates), last))
            cubic = (-2 * phi + dt * (start + end)) / dt**3
            square = (3 * phi - dt * (2 * start + end)) / dt**2
            return cubic, square, start, end

        def jumps(rates: Any) -> Any:
            cubic, square, _, end = coefficients(rates)
            second = 6 * cubic * dt + 2 * square
            return (acceleration(phi, end, second)[:-1] - 2 * square[1:]) * dt[1:]

        rates = implicit(jumps, inner, "RotationSpline") if len(rotations) > 2 else inner
        cubic, square, start, _ = coefficients(rates)
        self.interpolator = PPoly(np.stack((cubic, square, start, 0 * start)), times)
        self.times, self.rotations = times, rotations

    def __call__(self, times: Array, order: int = 0) -> Any:
        """Give what there is at times, one or several.

        Parameters
        ----------
        times : float, array or Tensor, shape () or (m,)
        order : int
            0 for the rotation, 1 for the angular velocity and 2 for the angular acceleration.

        Returns
        -------
        Rotation, array or Tensor, shape (3,) or (m, 3)
        """
        times = joined(times)
        if self._host is not None and is_plain(times):
            return from_host(self._host(times, order))
        if order not in (0, 1, 2):
            raise ValueError("`order` must be 0, 1 or 2.")
        times = in_double(times)
        if times.ndim > 1:
            raise ValueError("`times` must be at most 1-dimensional.")
        phi, rate, second = (self.interpolator(times, nu) for nu in range(3))
        if order == 0:
            return self.rotations[piece_of(self.times, times)] * Rotation.from_rotvec(phi)
        return turned(phi, rate) if order == 1 else acceleration(phi, rate, second)


class Slerp:
    """Rotation at a constant rate between given ones, as `scipy.spatial.transform.Slerp`.

    Parameters
    ----------
    times : array or Tensor, shape (n,)
        Increasing.
    rotations : Rotation
        As many; ours, or SciPy's.

    Examples
    --------
    >>> turns = Rotation.from_rotvec([[0, 0, 0], [0, 0, 90]], degrees=True)
    >>> round(float(Slerp([0.0, 1.0], turns)(0.5).magnitude()), 6)  # pi / 4
    0.785398
    """

    def __init__(self, times: Array, rotations: Rotation) -> None:
        rotations = from_host(rotations)
        if not isinstance(rotations, Rotation):
            raise TypeError("`rotations` must be a `Rotation` instance.")
        if rotations.single or len(rotations) <= 1:
            raise ValueError("`rotations` must be a sequence of at least 2 rotations.")
        self.times = in_double(times)
        if self.times.shape != (len(rotations),):
            raise ValueError(
                "Expected number of rotations to be equal to number of timestamps given, got "
                f"{len(rotations)} rotations and {self.times.shape} timestamps."
            )
        self.timedelta = self.times[1:] - self.times[:-1]
        if np.any(self.timedelta <= 0):
            raise ValueError("Times must be in strictly increasing order.")
        self.rotations = rotations[:-1]
        self.rotvecs = (self.rotations.inv() * rotations[1:]).as_rotvec()

    def __call__(self, times: Array) -> Rotation:
        """Give the rotations at times, one or several."""
        times = in_double(times)
        if times.ndim > 1:
            raise ValueError("`times` must be at most 1-dimensional.")
        if np.any((times < self.times[0]) | (times > self.times[-1])):
            raise ValueError(
                f"Interpolation times must be within the range [{self.times[0]}, "
                f"{self.times[-1]}], both inclusive."
            )
        number = np.maximum(np.searchsorted(self.times, times, side="left") - 1, 0)
        share = (times - self.times[number]) / self.timedelta[number]
        turned: Rotation = Rotation.from_rotvec(self.rotvecs[number] * share[..., None])
        rotation: Rotation = self.rotations[number] * turned
        return rotation


def geometric_slerp(start: Array, end: Array, t: Array, tol: float = 1e-7) -> Array:
    """Go along a great circle at a constant rate, as `scipy.spatial.geometric_slerp` does.

    Parameters
    ----------
    start, end : array or Tensor, shape (d,)
        Of length 1.
    t : array or Tensor, shape () or (n,)
        From 0 to 1.
    tol : float

    Returns
    -------
    array or Tensor, shape (d,) or (n, d)

    Examples
    --------
    >>> geometric_slerp([1.0, 0.0], [0.0, 1.0], 0.5).round(3)
    array([0.707, 0.707])
    """
    if is_plain(start, end, t):
        return scipy.spatial.geometric_slerp(start, end, t, tol)
    start, end, t = in_double(start), in_double(end), in_double(t)
    if start.ndim != 1 or start.shape != end.shape or start.shape[0] < 2:
        raise ValueError("The dimensions of start and end must match (have same size)")
    for each in (start, end):
        if not np.allclose(np.linalg.norm(each), 1.0, rtol=1e-9, atol=0):
            raise ValueError("start and end are not on a unit n-sphere")
    if np.any((t < 0) | (t > 1)):
        raise ValueError("interpolation parameter must be in [0, 1]")
    cosine = start @ end
    across = end - cosine * start
    sine = np.linalg.norm(across)
    t = t[..., None]
    if primal(sine) == 0 and cosine < 0:
        raise UnsupportedArgumentError(
            "geometric_slerp of handles: start and end are opposite, so the path between them is "
            "not unique; move one of them"
        )
    if primal(sine) == 0:  # the series in the sine, to its third power
        square = across @ across
        bend = 1 + (1 - t**2) / 6 * square
        return start * (1 - t**2 / 2 * square) + t * across * bend
    angle = np.arctan2(sine, cosine)
    return start * np.cos(t * angle) + across / sine * np.sin(t * angle)
