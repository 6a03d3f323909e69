"""Masked arrays without a masked element, which are arrays like any other."""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from tape_ad.base.arrays.interpreter import unwrapped
from tape_ad.base.errors import NoRuleError
from tape_ad.record.primals import primal
from tape_ad.transforms.differentiable.kinds import KNOWN, Standing
from tape_ad.transforms.differentiable.numpy_names import as_array_handle, holds
from tape_ad.transforms.differentiable.reach import is_active
from tape_ad.transforms.differentiable.table import ORIGINALS, note_stand_in, replaced

__all__: list[str] = []


class Yielding(np.ma.MaskedArray):
    """A masked array that leaves it to a handle what comes of the two."""

    def _delegate_binop(self, other: Any) -> bool:
        # mypy does not know the method, which NumPy asks whether the other operand is to answer
        return is_active(other) or bool(super()._delegate_binop(other))  # type: ignore[misc]


def making(function: Callable[..., Any]) -> None:
    """Let a function that makes a masked array keep handles, which have no mask."""
    kept: Callable[..., Any] = replaced(getattr(np, function.__name__))
    if not callable(kept):
        kept = getattr(np, function.__name__)

    @functools.wraps(function)
    def calling(a: Any, *args: Any, **options: Any) -> Any:
        if not holds(a):
            out = function(unwrapped(a), *unwrapped(args), **unwrapped(options))
            return out.view(Yielding) if type(out) is np.ma.MaskedArray else out
        refuse_masked(function, options.pop("mask", np.ma.nomask))
        return kept(a, *args, **options)

    note_stand_in(function, calling)


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
    making(getattr(np.ma, _name))


def masking(function: Callable[..., Any]) -> None:
    """Let a function that masks some numbers give a handle in which there are none of these."""

    @functools.wraps(function)
    def calling(*args: Any, **options: Any) -> Any:
        handles = [each for each in (*args, *options.values()) if holds(each)]
        plain = [primal(each) if holds(each) else unwrapped(each) for each in args]
        found = function(*plain, **{name: primal(options[name]) for name in options})
        if not handles:
            return found.view(Yielding) if type(found) is np.ma.MaskedArray else found
        refuse_masked(function, np.ma.getmaskarray(found))
        return as_array_handle(handles[-1])

    note_stand_in(function, calling)


for _name in ("equal", "greater", "inside", "invalid", "less", "not_equal", "outside", "where"):
    masking(getattr(np.ma, f"masked_{_name}"))


def new_masked_array(cls: type, data: Any, mask: Any = np.ma.nomask, *args: Any, **kw: Any) -> Any:
    """Stand in for `numpy.ma.MaskedArray`, the class."""
    if holds(data):
        return replaced(np.ma.array)(data, mask=mask)
    return np.ma.MaskedArray(unwrapped(data), unwrapped(mask), *args, **kw).view(Yielding)


STAND_IN: Any = Standing("MaskedArray", (np.ma.MaskedArray,), {"__new__": new_masked_array})
STAND_IN.original = np.ma.MaskedArray
ORIGINALS[STAND_IN] = np.ma.MaskedArray
KNOWN[np.ma.MaskedArray] = KNOWN[Yielding] = STAND_IN
note_stand_in(np.ma.MaskedArray, STAND_IN)


def asking(function: Callable[..., Any], answer: Callable[[Any], Any]) -> None:
    """Let a function that asks for a mask, or for what is behind one, take handles."""

    @functools.wraps(function)
    def calling(a: Any, *args: Any, **options: Any) -> Any:
        if holds(a):
            return answer(a)
        return function(unwrapped(a), *args, **options)

    note_stand_in(function, calling)


asking(np.ma.getmask, lambda a: np.ma.nomask)
asking(np.ma.getmaskarray, lambda a: np.zeros(np.shape(a), bool))
asking(np.ma.is_masked, lambda a: False)
asking(np.ma.isMaskedArray, lambda a: False)
asking(np.ma.getdata, lambda a: a)
asking(np.ma.filled, lambda a: a)
