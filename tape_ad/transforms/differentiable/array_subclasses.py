"""What stands for NumPy's own subclasses of arrays where there are handles.

A handle is no subclass of ndarray. So a matrix of one holds it, has two axes at all times, and
gives matrices of what NumPy computes of it where that has two axes; and a masked array without a
masked element is an array like any other.
"""

import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tape_ad.base.arrays.interpreter import unwrapped
from tape_ad.base.errors import NoRuleError
from tape_ad.base.trees import map_leaves
from tape_ad.record.array_interface import IN_COPIES, Absent, ArrayInterface
from tape_ad.record.messages.callers import is_at
from tape_ad.record.primals import primal
from tape_ad.record.ties import asker
from tape_ad.transforms.differentiable.kinds import KNOWN, standing
from tape_ad.transforms.differentiable.numpy_names import as_array_handle, holds
from tape_ad.transforms.differentiable.reach import is_active
from tape_ad.transforms.differentiable.table import replaced, stands_in_for

__all__: list[str] = []


class Matrix(np.lib.mixins.NDArrayOperatorsMixin):
    """A matrix of a handle.

    Attributes
    ----------
    A : Tensor
        The handle, an array of two axes.
    """

    __array_priority__ = 10.0  # as that of numpy.matrix
    A: Any

    def __init__(self, data: Any) -> None:
        handle = data.A if type(data) is Matrix else as_array_handle(data)
        if handle.ndim > 2:
            raise ValueError("matrix must be 2-dimensional")
        self.A = np.reshape(handle, (1, -1)) if handle.ndim < 2 else handle

    def __array__(self, *_: Any, **__: Any) -> Any:
        return np.asarray(self.A)  # which says what is lost

    __array__.keeping = lambda self: self.A  # type: ignore[attr-defined]  # as that of a copied class

    @property  # type: ignore[misc]  # for isinstance, also of code that is not copied
    def __class__(self) -> Any:
        return np.matrix

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *args: Any, **kwargs: Any) -> Any:
        by_array = ufunc is np.multiply and type(args[0]) is not Matrix and np.ndim(args[0])
        if by_array and is_at(asker(sys._getframe(1)), "x * x"):  # not asked by its `__rmul__`
            return self.__rmul__(args[0])
        function = ufunc if method == "__call__" else getattr(ufunc, method)
        return as_matrix(function(*map_leaves(handle_of, args), **map_leaves(handle_of, kwargs)))

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return as_matrix(function(*map_leaves(handle_of, args), **map_leaves(handle_of, kwargs)))

    def __getattr__(self, name: str) -> Any:
        if name == "A":  # of an object that is being made
            raise AttributeError(name)
        found = getattr(self.A, name)
        if not callable(found):
            return as_matrix(found)
        return lambda *args, **kwargs: as_matrix(found(*map_leaves(handle_of, args), **kwargs))

    def __mul__(self, other: Any) -> Any:
        if np.ndim(other) or isinstance(other, (list, tuple)):
            return self @ as_two_axes(other)
        return np.multiply(self, other)

    def __rmul__(self, other: Any) -> Any:
        return as_two_axes(other) @ self if np.ndim(other) else np.multiply(other, self)

    def __imul__(self, other: Any) -> Any:
        return self * other

    def __pow__(self, other: Any) -> Any:
        return np.linalg.matrix_power(self, other)

    def __getitem__(self, key: Any) -> Any:
        found = self.A[map_leaves(handle_of, key)]
        if np.ndim(found) != 1:
            return as_matrix(found)
        is_column = isinstance(key, tuple) and len(key) > 1 and np.ndim(key[1]) == 0
        is_column = is_column and not isinstance(key[1], slice)
        return Matrix(found).T if is_column else Matrix(found)

    def __setitem__(self, key: Any, value: Any) -> None:
        self.A[map_leaves(handle_of, key)] = handle_of(value)

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    def __len__(self) -> int:
        return len(self.A)

    def __bool__(self) -> bool:
        return bool(self.A)

    def __repr__(self) -> str:
        return f"matrix of {self.A!r}"

    @property
    def I(self) -> Any:  # noqa: E743, N802 - NumPy's name
        """The inverse, or the pseudo-inverse."""
        square = self.A.shape[0] == self.A.shape[1]
        return (np.linalg.inv if square else np.linalg.pinv)(self)

    @property
    def H(self) -> Any:  # noqa: N802 - NumPy's name
        """The conjugate transpose."""
        return np.conj(self).T

    @property
    def A1(self) -> Any:  # noqa: N802 - NumPy's name
        """The elements as an array of one axis."""
        return np.reshape(self.A, -1)

    def flatten(self, order: Any = "C") -> Any:
        """Give the elements as a row."""
        return Matrix(self.A.flatten(order))

    ravel = flatten

    def ptp(self, axis: Any = None) -> Any:
        """Give the largest element less the smallest; see `numpy.ptp`."""
        return self.max(axis) - self.min(axis)

    def tolist(self) -> Any:
        """Give the elements as nested lists."""
        return self.A.tolist()


def reducing(name: str) -> None:
    """Let a reduction along an axis keep two axes, and one of all elements give a number."""

    def reduce(self: Matrix, axis: Any = None, *args: Any, **kwargs: Any) -> Any:
        found = getattr(self.A, name)(axis, *args, **kwargs)
        return found if axis is None else as_matrix(np.expand_dims(found, axis))

    setattr(Matrix, name, reduce)


for _name in ("sum", "mean", "std", "var", "prod", "any", "all", "max", "min", "argmax", "argmin"):
    reducing(_name)


def as_two_axes(value: Any) -> Any:
    """Give a matrix, of a handle or of plain numbers."""
    return Matrix(value) if is_of_handles(value) else np.asmatrix(unwrapped(value))


def as_matrix(found: Any) -> Any:
    """Give what NumPy computes as a matrix, where it has two axes."""
    if isinstance(found, tuple):
        each = map(as_matrix, found)
        return type(found)(*each) if hasattr(found, "_make") else tuple(each)
    return Matrix(found) if holds(found) and np.ndim(found) == 2 else found


def handle_of(value: Any, path: str = "") -> Any:
    """Give the handle of a matrix, or the array of a plain one; anything else as it is."""
    if type(value) is Matrix:
        return value.A
    return np.asarray(value) if isinstance(value, np.matrix) else value


class PlainMatrix(np.matrix):
    """A matrix of plain numbers that leaves it to one of a handle what comes of the two."""

    def __mul__(self, other: Any) -> Any:
        if type(other) is Matrix:
            return NotImplemented
        return super().__mul__(Matrix(other) if holds(other) and np.ndim(other) else other)


def is_of_handles(data: Any) -> bool:
    """Tell whether a matrix of something is one of a handle."""
    return type(data) is Matrix or holds(data)


def making(cls: type, data: Any, *args: Any, **kwargs: Any) -> Any:
    """Stand in for `numpy.matrix`."""
    if is_of_handles(data):
        return Matrix(data)
    return np.matrix(unwrapped(data), *args, **kwargs).view(PlainMatrix)


KNOWN[PlainMatrix] = standing(np.matrix, __new__=making)


@stands_in_for(np.asmatrix)
def asmatrix(data: Any, dtype: Any = None) -> Any:
    """Stand in for `numpy.asmatrix`."""
    return Matrix(data) if is_of_handles(data) else making(np.matrix, data, dtype, False)


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


def masking(function: Callable[..., Any]) -> None:
    """Let a function that masks some numbers give a handle in which there are none of these."""

    @stands_in_for(function)
    def calling(*args: Any, **options: Any) -> Any:
        handles = [each for each in (*args, *options.values()) if holds(each)]
        plain = [primal(each) if holds(each) else unwrapped(each) for each in args]
        found = function(*plain, **{name: primal(options[name]) for name in options})
        if not handles:
            return found.view(Yielding) if type(found) is np.ma.MaskedArray else found
        refuse_masked(function, np.ma.getmaskarray(found))
        return as_array_handle(handles[-1])


for _name in ("equal", "greater", "inside", "invalid", "less", "not_equal", "outside", "where"):
    masking(getattr(np.ma, f"masked_{_name}"))


def new_masked_array(cls: type, data: Any, mask: Any = np.ma.nomask, *args: Any, **kw: Any) -> Any:
    """Stand in for `numpy.ma.MaskedArray`, the class."""
    if holds(data):
        return replaced(np.ma.array)(data, mask=mask)
    return np.ma.MaskedArray(unwrapped(data), unwrapped(mask), *args, **kw).view(Yielding)


KNOWN[Yielding] = standing(np.ma.MaskedArray, __new__=new_masked_array)


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
