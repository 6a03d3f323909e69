"""NumPy's functions that take nested lists of handles, and its types of whole numbers.

NumPy makes an array of a list before it asks what is in it, which handles refuse.
"""

import functools
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from tape_ad import Tensor
from tape_ad.errors import UnsupportedArgumentError
from tape_ad.interop.autograd.extend import notrace_primitive
from tape_ad.interop.autograd.spaces import holds_handles, plain

__all__ = [
    "append",
    "array",
    "asanyarray",
    "asarray",
    "ascontiguousarray",
    "c_",
    "full",
    "full_like",
    "make_diagonal",
    "metadata",
    "r_",
    "row_stack",
    "select",
    "where",
]

Function = Callable[..., Any]

TAKING_LISTS = (
    *("sum", "prod", "mean", "std", "var", "median", "average", "ptp", "nansum", "nanmean"),
    *("max", "min", "amax", "amin", "cumsum", "cumprod", "diff", "trapezoid"),
    *("ravel", "reshape", "transpose", "squeeze", "expand_dims", "tile", "repeat", "roll"),
    *("dot", "inner", "outer", "tensordot", "vdot", "kron", "cross", "diag", "trace"),
    *("atleast_1d", "atleast_2d", "atleast_3d", "clip", "shape", "ndim", "size"),
)
"""Functions that programs call with lists of handles. No ufunc is among them."""

JOINING = ("vstack", "hstack", "dstack", "column_stack", "stack", "concatenate")
"""Those that take a sequence of arrays anyway, each of which may be a list."""


def gathered(value: Any) -> Any:
    """Join what nested lists and tuples, or an array of objects, have of handles to one array."""
    if type(value) is Tensor or not holds_handles(value):
        return value
    if type(value) is np.ndarray:
        return np.stack(list(value.flat)).reshape(value.shape)
    return np.stack([gathered(each) for each in value])


def taking_lists(function: Function) -> Function:
    """Let a function of NumPy's take nested lists of handles."""

    @functools.wraps(function)
    def public(*args: Any, **kwargs: Any) -> Any:
        return function(*map(gathered, args), **kwargs)

    return public


def joining(function: Function) -> Function:
    """Let a function of NumPy's that takes a sequence of arrays take lists of handles in it."""

    @functools.wraps(function)
    def public(arrays: Iterable[Any], *args: Any, **kwargs: Any) -> Any:
        if type(arrays) is Tensor or not isinstance(arrays, (list, tuple)):
            return function(arrays, *args, **kwargs)
        return function([gathered(each) for each in arrays], *args, **kwargs)

    return public


def array(
    A: Any,  # noqa: N803 - HIPS autograd's name
    dtype: Any = None,
    *,
    copy: bool | None = True,
    order: Any = "K",
    subok: bool = False,
    ndmin: int = 0,
    like: Any = None,
) -> Any:
    """Make an array, also of nested lists and tuples with handles in them; see `numpy.array`."""
    made = gathered(A)
    if type(made) is not Tensor:
        options = {} if like is None else {"like": like}
        return np.array(A, dtype, copy=copy, order=order, subok=subok, ndmin=ndmin, **options)
    if dtype is not None and np.dtype(dtype) != made.dtype:
        made = made.astype(dtype)
    elif made is A and copy:
        made = made.copy("K" if order is None else order)
    return made[(None,) * (ndmin - made.ndim)] if ndmin > made.ndim else made


def asarray(a: Any, dtype: Any = None, order: Any = None, **kwargs: Any) -> Any:
    """Make an array of what is none; see `numpy.asarray`."""
    made = gathered(a)
    if type(made) is not Tensor:
        return np.asarray(a, dtype, order, **kwargs)
    return made if dtype is None or np.dtype(dtype) == made.dtype else made.astype(dtype)


def append(arr: Any, values: Any, axis: int | None = None) -> Any:
    """Join two arrays; see `numpy.append`."""
    return np.append(gathered(arr), gathered(values), axis=axis)


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


def full(shape: Any, fill_value: Any, dtype: Any = None, **kwargs: Any) -> Any:
    """Make an array full of one number, which may be a handle; see `numpy.full`."""
    value = gathered(fill_value)
    if type(value) is not Tensor:
        return np.full(shape, fill_value, dtype, **kwargs)
    return asarray(np.broadcast_to(value, shape), dtype).copy()


def full_like(a: Any, fill_value: Any, dtype: Any = None, shape: Any = None, **kwargs: Any) -> Any:
    """Make an array like another, full of one number; see `numpy.full_like`."""
    value = gathered(fill_value)
    if type(value) is not Tensor:
        return np.full_like(a, fill_value, dtype, shape=shape, **kwargs)
    return full(np.shape(a) if shape is None else shape, value, dtype or np.result_type(a))


def select(condlist: Any, choicelist: Any, default: Any = 0) -> Any:
    """Choose among arrays by conditions; see `numpy.select`."""
    conditions = [np.asarray(each) for each in condlist]
    return np.select(conditions, [gathered(each) for each in choicelist], default=default)


def make_diagonal(D: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:  # noqa: N803 - HIPS autograd's name
    """Put the last axis of an array on the diagonal of two, with ``axis1=-1, axis2=-2``."""
    if (offset, axis1, axis2) != (0, -1, -2):
        raise NotImplementedError("make_diagonal takes offset=0, axis1=-1 and axis2=-2 only")
    return D[..., None] * np.eye(D.shape[-1])


@notrace_primitive
def metadata(A: Any) -> tuple[Any, ...]:  # noqa: N803 - HIPS autograd's name
    """Give shape, number of axes and dtype of an array, and whether it is complex."""
    return np.shape(A), np.ndim(A), np.result_type(A), np.iscomplexobj(A)


class Joined:
    """``r_[...]`` and ``c_[...]``, also of handles."""

    def __init__(self, plainly: Any, axis: int) -> None:
        self.plainly = plainly
        self.axis = axis

    def __getitem__(self, key: Any) -> Any:
        parts = key if isinstance(key, tuple) else (key,)
        if not any(map(holds_handles, parts)):
            return self.plainly[key]
        if any(isinstance(part, str) for part in parts):
            raise UnsupportedArgumentError(
                "r_ and c_ take no directive in a string together with handles; write "
                "np.concatenate"
            )
        arrays = [self.plainly[part] if isinstance(part, slice) else part for part in parts]
        if self.axis:
            return joining(np.column_stack)(arrays)
        return joining(np.concatenate)([np.atleast_1d(gathered(each)) for each in arrays])


r_ = Joined(np.r_, 0)
c_ = Joined(np.c_, 1)
asanyarray = asarray
ascontiguousarray = asarray
row_stack = joining(np.vstack)

vars().update({name: taking_lists(getattr(np, name)) for name in TAKING_LISTS})
vars().update({name: joining(getattr(np, name)) for name in JOINING})


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
