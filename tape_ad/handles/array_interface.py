"""What makes a handle look like an ndarray, from outside."""

import dis
import sys
from collections.abc import Callable, Iterator
from typing import Any, NoReturn, Self, SupportsIndex

import numpy as np

from tape_ad.errors import ConversionError
from tape_ad.handles.array_methods import ArrayMethods
from tape_ad.handles.array_operators import ArrayOperators

__all__ = ["ArrayInterface"]

NO_ARRAY = np.array(None, dtype=object)
"""What tells a `scipy.sparse` matrix in ``matrix @ handle`` to leave the product to the handle."""

WRITING = frozenset(
    ("fill", "itemset", "partition", "put", "resize", "setfield", "setflags", "sort", "byteswap")
)
"""The ndarray methods that write to the array."""


class ArrayInterface(ArrayOperators, ArrayMethods):
    """The ndarray's operators, methods and properties, in terms of one dispatch.

    A subclass gives `data`, the primal, `index`, its place in the record, `_call`, which computes
    and records a NumPy function, and `_item`, which does the same for ``x[key]``.
    """

    __slots__ = ()

    data: Any
    index: int
    _call: Callable[..., Any]
    _item: Callable[..., Any]

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

    def __repr__(self) -> str:
        value = self.data
        if not isinstance(value, ArrayInterface):
            value = np.array2string(np.asarray(value), precision=6, threshold=8, edgeitems=2)
            value = " ".join(value.split())
        return f"Tensor(%{self.index}, {self.dtype}{list(self.shape)}, {value})"

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
        return self._item(self, key)

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
            "np.stack([...]) to join handles, or np.concatenate([...]), for a function that takes "
            "one array; np.broadcast_to(t, shape) for an array full of one; rec.constant(array) to "
            "fill an array with them; or call a NumPy function on the handle itself"
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
