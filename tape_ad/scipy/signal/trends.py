"""Signals without their means or lines."""

from typing import Any, ClassVar

from attrs import define

from tape_ad.extend import facts
from tape_ad.extend.arrays import Array, axes_of, axis_of
from tape_ad.extend.patterns import along
from tape_ad.extend.rules import Entry, arguments_of, rule
from tape_ad.scipy.counterparts import scipy_function
from tape_ad.scipy.installed import scipy

__all__ = ["TRENDS"]

detrend = scipy_function(scipy.signal.detrend, "tape_ad.scipy.signal", "data")


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


TRENDS: dict[Any, Entry] = {
    detrend: rule(
        lambda out, data, axis, **options: Residual(trend_axes(data.ndim, axis), **options),
        signature=arguments_of(detrend, "data", "axis type bp", ignored="overwrite_data"),
        facts=facts.along(none="all"),
    )
}
