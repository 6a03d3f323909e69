"""What stands for NumPy's masked arrays where there are handles, and for what it would mask.

A handle is no subclass of ndarray: a masked array without a masked element is one like any other.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from tape_ad.base.arrays.interpreter import unwrapped
from tape_ad.base.errors import NoRuleError
from tape_ad.record.array_interface import IN_COPIES, Absent, ArrayInterface
from tape_ad.record.primals import primal
from tape_ad.transforms.differentiable.numpy_names import holds
from tape_ad.transforms.differentiable.reach import is_active
from tape_ad.transforms.differentiable.table import replaced, stands_in_for

__all__: list[str] = []


class Yielding(np.ma.MaskedArray):
    """A masked array that leaves it to a handle what comes of the two."""

    def _delegate_binop(self, other: Any) -> bool:
        # mypy does not know the method, which NumPy asks whether the other operand is to answer
        return is_active(other) or bool(super()._delegate_binop(other))  # type: ignore[misc]


Yielding.__name__ = Yielding.__qualname__ = np.ma.MaskedArray.__name__


def making_masked(function: Callable[..., Any]) -> None:
    """Let a function that makes a masked array keep handles, which have no mask."""
    kept: Callable[..., Any] = replaced(getattr(np, function.__name__))
    if not callable(kept):
        kept = getattr(np, function.__name__)

    @stands_in_for(function)
    def calling(a: Any, *args: Any, **options: Any) -> Any:
        if not holds(a):
            out = function(unwrapped(a), *unwrapped(args), **unwrapped(options))
            return out.view(Yielding) if type(out) is np.ma.MaskedArray else out
        refuse_masked(function, options.pop("mask", np.ma.nomask))
        return kept(a, *args, **options)


def refuse_masked(function: Callable[..., Any], mask: Any) -> None:
    """Refuse a mask in which something is masked.

    Raises
    ------
    NoRuleError
    """
    if np.any(primal(mask)):
        raise NoRuleError(
            f"np.ma.{function.__name__} with a mask takes no handles; write np.where(mask, "
            "0.0, x), and count what is left by np.sum(~mask)"
        )


for _name in ("array", "asarray", "asanyarray", "atleast_1d", "atleast_2d", "atleast_3d"):
    making_masked(getattr(np.ma, _name))


def asking(function: Callable[..., Any], answer: Callable[[Any], Any]) -> None:
    """Let a function that asks for a mask, or for what is behind one, take handles."""

    @stands_in_for(function)
    def calling(a: Any, *args: Any, **options: Any) -> Any:
        if holds(a):
            return answer(a)
        return function(unwrapped(a), *args, **options)


asking(np.ma.getmask, lambda a: np.ma.nomask)
asking(np.ma.getmaskarray, lambda a: np.zeros(np.shape(a), bool))
asking(np.ma.is_masked, lambda a: False)
asking(np.ma.isMaskedArray, lambda a: False)
asking(np.ma.getdata, lambda a: a)
asking(np.ma.filled, lambda a: a)

OF_MASKED: dict[str, Callable[[Any], Any]] = {
    "mask": lambda handle: np.ma.nomask,
    "filled": lambda handle: lambda fill_value=None: handle,
    "compressed": lambda handle: lambda: np.ravel(handle),
}
"""Attributes of masked arrays, of which those of handles have nothing masked."""

IN_COPIES.update(OF_MASKED)
for _name in OF_MASKED:
    setattr(ArrayInterface, _name, Absent(_name))
