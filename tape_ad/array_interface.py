"""What makes a handle look like an ndarray: operators, methods and properties."""

import dis
import operator
import sys
from collections.abc import Callable, Iterator
from typing import Any, ClassVar, NoReturn, Self, SupportsIndex

import numpy as np

from tape_ad.arguments import primal
from tape_ad.errors import ConversionError
from tape_ad.rules.sparse import is_sparse, matmul_sparse, sparse_matmul

__all__ = ["ArrayInterface"]

Axis = int | tuple[int, ...] | None
Flags = np.ndarray[Any, np.dtype[np.bool_]]

NO_ARRAY = np.array(None, dtype=object)
"""What tells a `scipy.sparse` matrix in ``matrix @ handle`` to leave the product to the handle."""

WRITING = frozenset(
    (
        "fill",
        "itemset",
        "partition",
        "put",
        "resize",
        "setfield",
        "setflags",
        "sort",
        "byteswap",
    )
)


class ArrayInterface:
    """The ndarray's operators, methods and properties, in terms of one dispatch.

    A subclass gives `data`, the primal, and `_call`, which computes and records a NumPy function.
    There is no in-place operator: ``x += y`` makes a new handle and binds the name to it.
    """

    __slots__ = ()
    __hash__: ClassVar[None]  # type: ignore[assignment]  # == is elementwise, as for ndarray

    data: Any
    _call: Callable[..., Any]

    # The array's outside

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of the axes."""
        shape: tuple[int, ...] = self.data.shape
        return shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the primal."""
        dtype: np.dtype[Any] = self.data.dtype
        return dtype

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return int(self.data.ndim)

    @property
    def size(self) -> int:
        """The number of elements."""
        return int(self.data.size)

    @property
    def itemsize(self) -> int:
        """The bytes of one element."""
        return int(self.data.itemsize)

    @property
    def nbytes(self) -> int:
        """The bytes of all elements."""
        return int(self.data.nbytes)

    @property
    def T(self) -> Self:  # noqa: N802 - the name that ndarray gives it
        """The array with its axes reversed."""
        return self._call(np.transpose, (self,))

    @property
    def mT(self) -> Self:  # noqa: N802 - the name that ndarray gives it
        """The array with its last two axes swapped."""
        return self._call(np.matrix_transpose, (self,))

    @property
    def real(self) -> Self:
        """The real part."""
        return self._call(np.real, (self,))

    @property
    def imag(self) -> Self:
        """The imaginary part."""
        return self._call(np.imag, (self,))

    def __len__(self) -> int:
        if self.ndim == 0:
            raise TypeError("len() of a handle with no axes")
        return self.shape[0]

    def __iter__(self) -> Iterator[Self]:
        if self.ndim == 0:
            raise TypeError("iteration over a handle with no axes")
        return (self[i] for i in range(self.shape[0]))

    def __contains__(self, value: Any) -> bool:
        return bool(np.any(np.equal(self, value)))

    def __getitem__(self, key: Any) -> Self:
        return self._call(operator.getitem, (self, key))

    # Conversions read the primal, and only where that is plainly meant

    def item(self, *args: SupportsIndex) -> Any:
        """Give an element of the primal as a Python number."""
        return self.data.item(*args)

    def tolist(self) -> Any:
        """Give the primal as nested lists of Python numbers."""
        return self.data.tolist()

    def __float__(self) -> float:
        refuse_assignment()
        return float(self.item())

    def __int__(self) -> int:
        refuse_assignment()
        return int(self.item())

    def __complex__(self) -> complex:
        refuse_assignment()
        return complex(self.item())

    def __bool__(self) -> bool:
        if self.size != 1:
            raise ValueError(
                f"the truth value of a handle of shape {self.shape} is ambiguous; write np.any(t) "
                "or np.all(t) of a comparison, or np.where to choose element by element"
            )
        return bool(self.item())

    def __format__(self, spec: str) -> str:
        return format(self.data, spec) if spec else str(self)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        if sys._getframe(1).f_code.co_name == "_matmul_dispatch":
            return NO_ARRAY
        raise ConversionError(
            "turning a handle into an ndarray would drop its gradient; write t.data for the value, "
            "np.stack([...]) to join handles, rec.constant(array) to fill an array with them, or "
            "call a NumPy function on the handle itself"
        )

    def __reduce__(self) -> NoReturn:
        raise ConversionError(
            "a handle cannot be pickled, for it is an index into a record; pickle t.data"
        )

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def copy(self, order: str = "C") -> Self:
        """Give a new handle of the same value, which can be assigned to; see `numpy.copy`."""
        return self._call(np.copy, (self,))

    # Operators

    def __add__(self, other: Any) -> Self:
        return self._call(np.add, (self, other))

    def __radd__(self, other: Any) -> Self:
        return self._call(np.add, (other, self))

    def __sub__(self, other: Any) -> Self:
        return self._call(np.subtract, (self, other))

    def __rsub__(self, other: Any) -> Self:
        return self._call(np.subtract, (other, self))

    def __mul__(self, other: Any) -> Self:
        return self._call(np.multiply, (self, other))

    def __rmul__(self, other: Any) -> Self:
        return self._call(np.multiply, (other, self))

    def __truediv__(self, other: Any) -> Self:
        return self._call(np.divide, (self, other))

    def __rtruediv__(self, other: Any) -> Self:
        return self._call(np.divide, (other, self))

    def __floordiv__(self, other: Any) -> Any:
        return self._call(np.floor_divide, (self, other))

    def __rfloordiv__(self, other: Any) -> Any:
        return self._call(np.floor_divide, (other, self))

    def __mod__(self, other: Any) -> Self:
        return self._call(np.remainder, (self, other))

    def __rmod__(self, other: Any) -> Self:
        return self._call(np.remainder, (other, self))

    def __divmod__(self, other: Any) -> tuple[Any, Self]:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> tuple[Any, Self]:
        return other // self, other % self

    def __pow__(self, other: Any) -> Self:
        return self._call(np.power, (self, other))

    def __rpow__(self, other: Any) -> Self:
        return self._call(np.power, (other, self))

    def __matmul__(self, other: Any) -> Self:
        if type(other) is not type(self) and is_sparse(other):
            return self._call(matmul_sparse, (self, other))
        return self._call(np.matmul, (self, other))

    def __rmatmul__(self, other: Any) -> Self:
        if is_sparse(other):
            return self._call(sparse_matmul, (other, self))
        return self._call(np.matmul, (other, self))

    def __neg__(self) -> Self:
        return self._call(np.negative, (self,))

    def __pos__(self) -> Self:
        return self._call(np.positive, (self,))

    def __abs__(self) -> Self:
        return self._call(np.absolute, (self,))

    def __round__(self, ndigits: int = 0) -> Any:
        return self._call(np.round, (self, ndigits))

    # Comparisons give plain boolean arrays

    def __eq__(self, other: object) -> Flags:  # type: ignore[override]  # elementwise, as ndarray
        return primal(self.data) == primal(other)

    def __ne__(self, other: object) -> Flags:  # type: ignore[override]  # elementwise, as ndarray
        return primal(self.data) != primal(other)

    def __lt__(self, other: Any) -> Flags:
        return primal(self.data) < primal(other)

    def __le__(self, other: Any) -> Flags:
        return primal(self.data) <= primal(other)

    def __gt__(self, other: Any) -> Flags:
        return primal(self.data) > primal(other)

    def __ge__(self, other: Any) -> Flags:
        return primal(self.data) >= primal(other)

    # Methods, each NumPy's function of the same name

    def sum(self, axis: Axis = None, *more: Any, **options: Any) -> Self:
        """Sum over axes; see `numpy.sum`."""
        return self._call(np.sum, (self, axis, *more), options)

    def mean(self, axis: Axis = None, *more: Any, **options: Any) -> Self:
        """Average over axes; see `numpy.mean`."""
        return self._call(np.mean, (self, axis, *more), options)

    def prod(self, axis: Axis = None, *more: Any, **options: Any) -> Self:
        """Multiply over axes; see `numpy.prod`."""
        return self._call(np.prod, (self, axis, *more), options)

    def max(self, axis: Axis = None, *more: Any, **options: Any) -> Self:
        """Take the maximum over axes; see `numpy.max`."""
        return self._call(np.max, (self, axis, *more), options)

    def min(self, axis: Axis = None, *more: Any, **options: Any) -> Self:
        """Take the minimum over axes; see `numpy.min`."""
        return self._call(np.min, (self, axis, *more), options)

    def var(self, axis: Axis = None, *more: Any, **options: Any) -> Self:
        """Compute the variance over axes; see `numpy.var`."""
        return self._call(np.var, (self, axis, *more), options)

    def std(self, axis: Axis = None, *more: Any, **options: Any) -> Self:
        """Compute the standard deviation over axes; see `numpy.std`."""
        return self._call(np.std, (self, axis, *more), options)

    def any(self, axis: Axis = None, *more: Any, **options: Any) -> Any:
        """Tell whether any element is not zero, as plain data; see `numpy.any`."""
        return self._call(np.any, (self, axis, *more), options)

    def all(self, axis: Axis = None, *more: Any, **options: Any) -> Any:
        """Tell whether all elements are not zero, as plain data; see `numpy.all`."""
        return self._call(np.all, (self, axis, *more), options)

    def argmax(self, axis: int | None = None, *more: Any, **options: Any) -> Any:
        """Find the maximum, as plain indices; see `numpy.argmax`."""
        return self._call(np.argmax, (self, axis, *more), options)

    def argmin(self, axis: int | None = None, *more: Any, **options: Any) -> Any:
        """Find the minimum, as plain indices; see `numpy.argmin`."""
        return self._call(np.argmin, (self, axis, *more), options)

    def round(self, decimals: int = 0) -> Any:
        """Round, as plain data; see `numpy.round`."""
        return self._call(np.round, (self, decimals))

    def reshape(self, *shape: Any, **options: Any) -> Self:
        """Reshape, to ``reshape(2, 3)`` or ``reshape((2, 3))``; see `numpy.reshape`."""
        return self._call(np.reshape, (self, shape[0] if len(shape) == 1 else shape), options)

    def ravel(self, order: str = "C") -> Self:
        """Flatten; see `numpy.ravel`."""
        return self._call(np.ravel, (self, order))

    def flatten(self, order: str = "C") -> Self:
        """Flatten; on handles the same as `ravel`."""
        return self._call(np.ravel, (self, order))

    def transpose(self, *axes: Any) -> Self:
        """Permute the axes, ``transpose(1, 0)`` or ``transpose((1, 0))``; see `numpy.transpose`."""
        order = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes or None
        return self._call(np.transpose, (self, order))

    def swapaxes(self, axis1: int, axis2: int) -> Self:
        """Swap two axes; see `numpy.swapaxes`."""
        return self._call(np.swapaxes, (self, axis1, axis2))

    def squeeze(self, axis: Axis = None) -> Self:
        """Remove axes of length one; see `numpy.squeeze`."""
        return self._call(np.squeeze, (self, axis))

    def dot(self, b: Any) -> Self:
        """Multiply; see `numpy.dot`."""
        return self._call(np.dot, (self, b))

    def clip(self, min: Any = None, max: Any = None) -> Self:  # noqa: A002 - ndarray's names
        """Limit the values; see `numpy.clip`."""
        return self._call(np.clip, (self, min, max))

    def conjugate(self) -> Self:
        """Give the complex conjugate, which for a real handle is the handle."""
        return self._call(np.conjugate, (self,)) if self.dtype.kind == "c" else self

    def conj(self) -> Self:
        """Give the complex conjugate, which for a real handle is the handle."""
        return self.conjugate()

    def astype(self, dtype: Any, **options: Any) -> Any:
        """Cast: a handle for floating and complex dtypes, plain data for others."""
        return self._call(np.astype, (self, np.dtype(dtype)), options)


def refuse_assignment() -> None:
    """Raise if a handle is being turned into a number by ``array[i] = handle``.

    NumPy fills one element of a plain array by way of ``__float__``, as ``float(handle)`` does;
    what tells the two apart is the instruction that the caller is at.
    """
    frame = sys._getframe(2)
    if frame.f_code.co_code[frame.f_lasti] == dis.opmap["STORE_SUBSCR"]:
        raise ConversionError(
            "array[i] = handle would drop the gradient, for the array is a plain one; make it "
            "with rec.constant(array), which can be filled with handles"
        )


class Absent:
    """An attribute that ndarrays have and handles do not; asking for it says why.

    Descriptors, and not ``__getattr__``, because a class with that method has slow attributes.
    """

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, handle: Any, owner: type) -> NoReturn:
        if self.name in WRITING:
            raise AttributeError(
                f"a handle is never written to, so it has no .{self.name}(); if NumPy has it as a "
                f"function, write np.{self.name}(t), or use t.data"
            )
        raise AttributeError(
            f"handles do not have the ndarray attribute .{self.name}, for it has no rule; "
            f"t.data.{self.name} is the primal's"
        )


for _name in dir(np.ndarray):
    if not _name.startswith("__") and not hasattr(ArrayInterface, _name) and _name != "data":
        setattr(ArrayInterface, _name, Absent(_name))
