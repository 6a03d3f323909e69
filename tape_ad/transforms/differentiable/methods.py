"""Attributes of arrays that handles have in copies alone: `x.flat`, `x.sort()`, `x.fill(v)`."""

import functools
import math
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tape_ad.base.arrays.overridable import is_traced
from tape_ad.base.errors import InPlaceError, NoRuleError
from tape_ad.record.array_interface import IN_COPIES, Absent, ArrayInterface
from tape_ad.record.constants import CONSTANTS, ArrayConstant
from tape_ad.record.messages.callers import is_copied
from tape_ad.record.mutation import base_index, boxes_beside, commit
from tape_ad.record.primals import primal
from tape_ad.transforms.differentiable.copying import copied_module
from tape_ad.transforms.differentiable.kinds import real
from tape_ad.transforms.differentiable.numpy_names import assign_flat, put, round_

__all__: list[str] = []


class Flat:
    """The elements of a handle in their order, as `ndarray.flat` gives them."""

    def __init__(self, base: Any) -> None:
        self.base = base
        self.index = 0

    def __len__(self) -> int:
        return int(self.base.size)

    def __iter__(self) -> Iterator[Any]:
        return iter(np.reshape(self.base, -1))

    def __next__(self) -> Any:
        if self.index == len(self):
            raise StopIteration
        self.index += 1
        return self[self.index - 1]

    def __getitem__(self, key: Any) -> Any:
        return np.copy(np.reshape(self.base, -1))[key]  # ndarray.flat gives copies too

    def __setitem__(self, key: Any, value: Any) -> None:
        assign_flat(self.base, np.reshape(np.arange(len(self))[key], -1), value)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.array(self[:], dtype=dtype, copy=copy)  # which says what is lost

    def copy(self) -> Any:
        """Give the elements as an array of one axis."""
        return self[:]

    def __eq__(self, other: object) -> Any:
        return self[:] == other

    def __ne__(self, other: object) -> Any:
        return self[:] != other

    def __lt__(self, other: Any) -> Any:
        return self[:] < other

    def __le__(self, other: Any) -> Any:
        return self[:] <= other

    def __gt__(self, other: Any) -> Any:
        return self[:] > other

    def __ge__(self, other: Any) -> Any:
        return self[:] >= other

    __hash__ = None  # type: ignore[assignment]  # as that of ndarray.flat


def filling(handle: Any) -> Callable[[Any], None]:
    """Give ``handle.fill``."""

    def fill(value: Any) -> None:
        handle[...] = value

    return fill


def putting(handle: Any) -> Callable[..., None]:
    """Give ``handle.put``."""
    return lambda indices, values, mode="raise": put(handle, indices, values, mode)


def sorting(handle: Any) -> Callable[..., None]:
    """Give ``handle.sort``."""

    def sort(axis: int = -1, **options: Any) -> None:
        handle[...] = np.sort(handle, axis, **options)

    return sort


def partitioning(handle: Any) -> Callable[..., None]:
    """Give ``handle.partition``."""

    def partition(kth: Any, axis: int = -1, **options: Any) -> None:
        handle[...] = np.partition(handle, kth, axis, **options)

    return partition


def viewing(handle: Any) -> Callable[..., Any]:
    """Give ``handle.view``."""

    def view(*kinds: Any, **named: Any) -> Any:
        for kind in (*kinds, *named.values()):
            if real(kind) is not np.ndarray and handle.dtype != real(kind):
                raise NoRuleError(
                    f"x.view({getattr(kind, '__name__', kind)}) reads the bytes of an array as "
                    "something else, which has no gradient; write x.real and x.imag for the parts "
                    "of complex numbers, and x.astype(dtype) for other ones"
                )
        return handle[...]

    return view


def flags_of(handle: Any) -> Any:
    """Give the flags of a handle, which is read-only where it stands for the user's array."""
    if hasattr(handle, "batch_here") and len(handle.stack):
        one = handle.stack[0, ...]
        return one.flags if type(one) is np.ndarray else flags_of(one)
    array = primal(handle)
    array = array.view() if type(array) is np.ndarray else np.empty(np.shape(array))
    functions = getattr(getattr(handle, "record", None), "functions", None)
    if functions is None or functions[base_index(handle)] is None:
        array.flags.writeable = False
    return array.flags


def setting_flags(handle: Any) -> Any:
    """Give ``handle.setflags``, which leaves the user's array as it is."""
    array = primal(handle)
    if is_traced(array):
        own = array.value not in array.capture.inputs and array.value.owner is None
        return (array.data if own else array.data.view()).setflags
    return (array if flags_of(handle).writeable else array.view()).setflags


def reshaping(handle: Any, shape: Any) -> None:
    """Stand in for ``handle.shape = shape`` in copies, of an array that has no views.

    Raises
    ------
    AttributeError
        For users, as before.
    """
    if not is_copied(sys._getframe(1)):
        raise AttributeError("the shape of a handle is not assigned to; write x = x.reshape(shape)")
    if type(handle) in CONSTANTS:
        found = handle.data.reshape(shape)
        if found.size and not np.may_share_memory(found, handle.data):
            raise AttributeError("incompatible shape for in-place modification; write x.reshape")
        handle.data = found
        return
    become(handle, np.copy(np.reshape(handle, shape)))


def become(handle: Any, array: Any) -> None:
    """Let a handle stand for an array of another shape from now on.

    Raises
    ------
    InPlaceError
        When another array would have to see it.
    """
    record = handle.record
    leaf = getattr(record, "functions", None) is None or record.functions[handle.index] is None
    if leaf or base_index(handle) != handle.index or boxes_beside(handle):
        raise InPlaceError(
            "x.shape = shape and x.resize(shape), of an array that is a view, or has views, would "
            "be seen by one alone of them; write x = x.reshape(shape)"
        )
    commit(handle, array, [])


def resizing(handle: Any) -> Callable[..., None]:
    """Give ``handle.resize``, which puts zeros where there is nothing."""

    def resize(*shape: Any, refcheck: bool = True) -> None:
        shape = shape[0] if len(shape) == 1 and np.ndim(shape[0]) else shape
        flat, count = np.copy(np.ravel(handle)), math.prod(shape)
        missing = np.zeros(max(count - flat.shape[0], 0), handle.dtype)
        become(handle, np.reshape(np.concatenate([flat[:count], missing]), shape))

    return resize


ArrayInterface.shape = property(ArrayInterface.shape.fget, reshaping)  # type: ignore[assignment, attr-defined]  # it gets what it did


def base_of(handle: Any) -> Any:
    """Give ``handle.base``, which is None unless the memory is that of another array."""
    if getattr(handle, "record", None) is None:
        return primal(handle).base
    return None if base_index(handle) == handle.index else primal(handle)


IN_COPIES.update(
    base=base_of,
    setflags=setting_flags,
    flags=flags_of,
    flat=Flat,
    fill=filling,
    put=putting,
    resize=resizing,
    round=lambda handle: functools.partial(round_, handle),
    sort=sorting,
    partition=partitioning,
    view=viewing,
)


def integer_ratio(handle: Any) -> Callable[[], Any]:
    """Give ``number.as_integer_ratio``, which refuses."""

    def refuse() -> Any:
        raise NoRuleError(
            "x.as_integer_ratio() takes a number to two integers, which have no gradient; write "
            "t.data.as_integer_ratio() if none is meant to flow"
        )

    return refuse


ArrayInterface.is_integer = Absent("is_integer")  # type: ignore[attr-defined]  # Python's and NumPy's numbers have it
ArrayInterface.as_integer_ratio = Absent("as_integer_ratio")  # type: ignore[attr-defined]  # the same
IN_COPIES.update(
    is_integer=lambda handle: float(primal(handle)).is_integer, as_integer_ratio=integer_ratio
)
IN_COPIES["__array_namespace__"] = lambda handle: copied_module(np)


class FlatOfHandle(Absent):
    """``handle.flat``, which may also be assigned to."""

    __slots__ = ()

    def __set__(self, handle: Any, values: Any) -> None:  # type: ignore[override]  # others refuse
        Flat(handle)[:] = values


class FlatOfConstant(FlatOfHandle):
    """``constant.flat``, to whose elements handles may be assigned."""

    __slots__ = ()

    def __get__(self, constant: Any, owner: type) -> Any:
        return self if constant is None else Flat(constant)


ArrayInterface.flat = FlatOfHandle("flat")  # type: ignore[attr-defined]  # as the other absent ones
ArrayConstant.flat = FlatOfConstant("flat")  # type: ignore[attr-defined]  # the same
