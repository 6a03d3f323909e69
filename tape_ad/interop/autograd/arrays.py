"""NumPy's functions that take nested lists of handles, and its types of whole numbers.

NumPy makes an array of a list before it asks what is in it, which handles refuse. So what stands
for its functions in the copies that `tape_ad.differentiable` makes is called in their place.
"""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from tape_ad import Tensor
from tape_ad.interop.autograd.extend import notrace_primitive
from tape_ad.interop.autograd.spaces import plain
from tape_ad.transforms.differentiable import (
    decorator,  # noqa: F401 - which fills the table
)
from tape_ad.transforms.differentiable.numpy_names import as_array_handle, holds
from tape_ad.transforms.differentiable.table import replaced

__all__ = ["c_", "make_diagonal", "metadata", "r_", "row_stack", "select", "where"]

MAKING = ("array", "asarray", "asanyarray", "ascontiguousarray", "full", "full_like")
"""Functions that make an array, and refuse a handle."""

TAKING_LISTS = (
    *("append", "vstack", "hstack", "dstack", "column_stack", "stack", "concatenate"),
    *("sum", "prod", "mean", "std", "var", "median", "average", "ptp", "nansum", "nanmean"),
    *("max", "min", "amax", "amin", "cumsum", "cumprod", "diff", "trapezoid"),
    *("ravel", "reshape", "transpose", "squeeze", "expand_dims", "tile", "repeat", "roll"),
    *("dot", "inner", "outer", "tensordot", "vdot", "kron", "cross", "diag", "trace"),
    *("atleast_1d", "atleast_2d", "atleast_3d", "clip", "shape", "ndim", "size"),
)
"""Functions that programs call with lists of handles. No ufunc is among them."""


def gathered(value: Any) -> Any:
    """Join what nested lists and tuples, or an array of objects, have of handles to one array."""
    return as_array_handle(value) if holds(value) else value


def is_listed(value: Any) -> bool:
    """Tell whether something is no handle, and has some in it."""
    return type(value) is not Tensor and holds(value)


def taking_lists(function: Any, refused: Callable[[Any], bool] = is_listed) -> Any:
    """Let a function of NumPy's take what it refuses, as it does in `tape_ad.differentiable`."""
    of_handles = replaced(function)

    @functools.wraps(function)
    def public(*args: Any, **kwargs: Any) -> Any:
        if any(map(refused, (*args, *kwargs.values()))):
            return of_handles(*args, **kwargs)
        return function(*args, **kwargs)

    return public


def where(condition: Any, *args: Any, **kwargs: Any) -> Any:
    """Choose element by element, see `numpy.where`; of Python's numbers, one of Python's numbers.

    The two choices may be given by name as well, `x` and `y`.
    """
    if not args and not kwargs:
        return np.where(gathered(condition))
    choices = [*args, *(kwargs.pop(name) for name in ("x", "y")[len(args) :] if name in kwargs)]
    if len(choices) != 2 or kwargs:
        raise ValueError("either both or neither of x and y should be given")
    chosen = np.where(*map(gathered, (condition, *choices)))
    plainly = not any(map(holds_arrays, (condition, *choices)))
    return chosen.tolist() if plainly and type(chosen) is np.ndarray else chosen


def holds_arrays(value: Any) -> bool:
    """Tell whether a handle, or an array or number of NumPy's, stands in nested lists."""
    if isinstance(value, (list, tuple)):
        return any(map(holds_arrays, value))
    return hasattr(value, "dtype")


def select(condlist: Any, choicelist: Any, default: Any = 0) -> Any:
    """Choose among arrays by conditions; see `numpy.select`."""
    conditions = [np.asarray(each) for each in condlist]
    return np.select(conditions, [gathered(each) for each in choicelist], default=default)


def make_diagonal(D: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """Put the last axis of an array on the diagonal of two, with ``axis1=-1, axis2=-2``."""
    if (offset, axis1, axis2) != (0, -1, -2):
        raise NotImplementedError("make_diagonal takes offset=0, axis1=-1 and axis2=-2 only")
    return D[..., None] * np.eye(D.shape[-1])


@notrace_primitive
def metadata(A: Any) -> tuple[Any, ...]:
    """Give shape, number of axes and dtype of an array, and whether it is complex."""
    return np.shape(A), np.ndim(A), np.result_type(A), np.iscomplexobj(A)


class Joined:
    """``r_[...]`` and ``c_[...]``, also of handles."""

    def __init__(self, plainly: Any) -> None:
        self.plainly = plainly

    def __getitem__(self, key: Any) -> Any:
        return (replaced(self.plainly) if holds(key) else self.plainly)[key]


r_ = Joined(np.r_)
c_ = Joined(np.c_)
row_stack = taking_lists(np.vstack)

vars().update({name: taking_lists(getattr(np, name)) for name in TAKING_LISTS})
vars().update({name: taking_lists(getattr(np, name), holds) for name in MAKING})


class OfIntegers(type):
    """Lets NumPy's own numbers be instances of these types."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, cls.__base__)  # type: ignore[arg-type]  # which is NumPy's


def taking_handles(kind: Any) -> Any:
    """Make a type like one of NumPy's, also as a dtype, which is called on handles as well."""

    def converted(cls: type, *args: Any) -> Any:
        return kind(*map(plain, args))

    return OfIntegers(kind.__name__, (kind,), {"__new__": converted, "__slots__": ()})


int8: Any = taking_handles(np.int8)
int16: Any = taking_handles(np.int16)
int32: Any = taking_handles(np.int32)
int64: Any = taking_handles(np.int64)
int_: Any = {np.int32: int32, np.int64: int64}[np.int_]


class LinearAlgebra:
    """What `numpy.linalg` has here in a form of its own."""

    norm = staticmethod(taking_lists(np.linalg.norm))


ArrayBox = Tensor
