"""Going from one rotation, or one direction, to another at a constant rate."""

import numpy as np
import scipy.spatial

from tape_ad.base.errors import UnsupportedArgumentError
from tape_ad.record.primals import primal
from tape_ad.rules.maps import Array
from tape_ad.rules.numpy.interpolation import in_double
from tape_ad.scipy.interpolate.shared import is_plain
from tape_ad.scipy.spatial.rotations import Rotation, from_host

__all__ = ["Slerp", "geometric_slerp"]


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
            "geometric_slerp of handles: start and end are opposite, between which there are many "
            "ways; move one of them"
        )
    if primal(sine) == 0:  # the series in the sine, to its third power
        square = across @ across
        bend = 1 + (1 - t**2) / 6 * square
        return start * (1 - t**2 / 2 * square) + t * across * bend
    angle = np.arctan2(sine, cosine)
    return start * np.cos(t * angle) + across / sine * np.sin(t * angle)
