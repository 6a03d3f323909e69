"""NumPy's own Python where no rule is written for it: copied functions, and masked arrays."""

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from tape_ad.base.arrays.interpreter import unwrapped
from tape_ad.base.errors import NoRuleError
from tape_ad.record.primals import primal
from tape_ad.transforms.differentiable.copying import MAKERS, converted, make_function
from tape_ad.transforms.differentiable.numpy_names import Elementwise, holds
from tape_ad.transforms.differentiable.reach import is_handle, reaches
from tape_ad.transforms.differentiable.table import note_stand_in, replaced

__all__ = []


def copying_own_code(function: Callable[..., Any]) -> None:
    """Let a copy of a function's code run where there are handles."""
    code = inspect.unwrap(function)  # what NumPy dispatches to

    @functools.wraps(code)
    def calling(*args: Any, **kwargs: Any) -> Any:
        if not reaches((args, kwargs)):
            return function(*unwrapped(args), **unwrapped(kwargs))
        return copy()(*args, **kwargs)

    copy = functools.cache(lambda: make_function(code))
    note_stand_in(function, calling)


MAKERS[np.vectorize] = lambda function: Elementwise(
    converted(function.pyfunc), function, function.excluded
)

copying_own_code(np.polydiv)


class Yielding(np.ma.MaskedArray):
    """A masked array that leaves it to a handle what comes of the two."""

    def _delegate_binop(self, other: Any) -> bool:
        # mypy does not know the method, which NumPy asks whether the other operand is to answer
        return is_handle(other) or bool(super()._delegate_binop(other))  # type: ignore[misc]


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
        mask = options.pop("mask", np.ma.nomask)
        if np.any(primal(mask)):
            raise NoRuleError(
                f"np.ma.{function.__name__} with a mask takes no handles; write np.where(mask, "
                "0.0, x), and count what is left by np.sum(~mask)"
            )
        return kept(a, *args, **options)

    note_stand_in(function, calling)


for _name in ("array", "asarray", "asanyarray", "atleast_1d", "atleast_2d", "atleast_3d"):
    making(getattr(np.ma, _name))


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
