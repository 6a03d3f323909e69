"""Signals without their means or lines."""

from typing import Any, ClassVar

from attrs import define

from tape_ad.extend import facts
from tape_ad.extend.arrays import Array, as_array, axes_of, axis_of
from tape_ad.extend.patterns import along
from tape_ad.extend.rules import Call, Entry, rule
from tape_ad.scipy.counterparts import takes_lists
from tape_ad.scipy.installed import scipy

__all__ = ["TRENDS", "detrend"]


@takes_lists
def detrend(
    data: Array,
    axis: int = -1,
    type: str = "linear",  # noqa: A002 - SciPy's name
    bp: Any = 0,
    overwrite_data: bool = False,
) -> Array:
    """Take a mean, or lines, off a signal, as `scipy.signal.detrend` does.

    Parameters
    ----------
    data : array or Tensor
    axis : int
    type : str
        "linear" or "constant".
    bp : sequence of int
        Between them each line goes.
    overwrite_data : bool
        A handle is never overwritten.

    Returns
    -------
    array or Tensor, shape of `data`

    Examples
    --------
    >>> import numpy as np
    >>> detrend(np.array([1.0, 3.0, 2.0]), type="constant")
    array([-1.,  1.,  0.])
    """
    return scipy.signal.detrend(data, axis, type, bp, overwrite_data)


@define(eq=False, repr=False)
class Residual:
    """What a signal is without its trend: a projection at right angles, which is its own adjoint.

    Parameters
    ----------
    axis : int
        Negative.
    type, bp
        As for `detrend`.
    """

    broadcasts: ClassVar[bool] = False
    pattern = along("axis")
    axis: int
    type: str
    bp: Any

    def push(self, t: Array) -> Array:
        return detrend(t, self.axis, self.type, self.bp)

    def pull(self, ct: Array) -> Array:
        return detrend(ct, self.axis, self.type, self.bp)


def trend_axes(ndim: int, axis: Any) -> Any:
    """Count axes from the end; of a mean they may be several, or all."""
    several = axis is None or isinstance(axis, tuple)
    return axes_of(ndim, axis) if several else axis_of(ndim, axis)


def detrend_signature(
    data: Array,
    axis: int = -1,
    type: str = "linear",  # noqa: A002 - SciPy's name
    bp: Any = 0,
    overwrite_data: bool = False,
) -> Call:
    """Sort the arguments of `detrend`."""
    return (as_array(data),), {"axis": axis, "type": type, "bp": bp}


TRENDS: dict[Any, Entry] = {
    detrend: rule(
        lambda out, data, axis, **options: Residual(trend_axes(data.ndim, axis), **options),
        signature=detrend_signature,
        facts=facts.along(none="all"),
    ),
}
