"""What makes a handle look like an ndarray, from outside."""

import sys
from collections.abc import Callable, Iterator
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NoReturn, Self, SupportsIndex

import numpy as np

from tape_ad.base.arrays.overridable import TRACERS, is_later, lies_below
from tape_ad.base.errors import ConversionError, TapeError
from tape_ad.record.array_operators import ArrayOperators
from tape_ad.record.messages.callers import caller, is_at, is_copied, is_read, method_called
from tape_ad.record.messages.libraries import (
    AS_ARRAYS,
    OWN,
    answer_to_scipy,
    dropped_in_a_library,
    in_place_of_call,
    refuse_a_library,
)
from tape_ad.record.messages.migration_hints import MigrationHint
from tape_ad.record.messages.refusals import written_to
from tape_ad.record.mutation import go_one_by_one
from tape_ad.record.primals import PLAIN_TYPES, is_number, primal
from tape_ad.rules.base import as_array

Axis = int | tuple[int, ...] | None


class ArrayMethods:
    """The methods that have rules.

    A subclass gives `data`, the primal, and `_call`, which computes and records a NumPy function.
    """

    __slots__ = ()

    data: Any
    _call: Callable[..., Any]

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

    def cumsum(self, axis: int | None = None, *more: Any, **options: Any) -> Self:
        """Add up along an axis, keeping every sum; see `numpy.cumsum`."""
        return self._call(np.cumsum, (self, axis, *more), options)

    def cumprod(self, axis: int | None = None, *more: Any, **options: Any) -> Self:
        """Multiply along an axis, keeping every product; see `numpy.cumprod`."""
        return self._call(np.cumprod, (self, axis, *more), options)

    def trace(self, offset: int = 0, *more: Any, **options: Any) -> Self:
        """Add up a diagonal; see `numpy.trace`."""
        return self._call(np.trace, (self, offset, *more), options)

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

    def argsort(self, axis: int | None = -1, *more: Any, **options: Any) -> Any:
        """Find the order, as plain indices; see `numpy.argsort`."""
        return self._call(np.argsort, (self, axis, *more), options)

    def argpartition(self, kth: Any, *more: Any, **options: Any) -> Any:
        """Find a partial order, as plain indices; see `numpy.argpartition`."""
        return self._call(np.argpartition, (self, kth, *more), options)

    def searchsorted(self, v: Any, *more: Any, **options: Any) -> Any:
        """Find where values belong, as plain indices; see `numpy.searchsorted`."""
        return self._call(np.searchsorted, (self, v, *more), options)

    def nonzero(self) -> Any:
        """Find what is not zero, as plain indices; see `numpy.nonzero`."""
        return self._call(np.nonzero, (self,))

    def round(self, decimals: int = 0, out: Any = None) -> Any:
        """Round, as plain data; see `numpy.round`."""
        if decimals > 0 and "round" in IN_COPIES and is_copied(sys._getframe(1)):
            return IN_COPIES["round"](self)(decimals, out)
        return self._call(np.round, (self, decimals), {"out": out} if out is not None else {})

    def reshape(self, *shape: Any, **options: Any) -> Self:
        """Reshape, to ``reshape(2, 3)`` or ``reshape((2, 3))``; see `numpy.reshape`."""
        if not shape:
            raise TypeError("reshape() takes a shape; write reshape(()) for no axes")
        return self._call(np.reshape, (self, shape[0] if len(shape) == 1 else shape), options)

    def ravel(self, order: str = "C") -> Self:
        """Flatten; see `numpy.ravel`."""
        return self._call(np.ravel, (self, order))

    def flatten(self, order: str = "C") -> Self:
        """Flatten into a copy; see `ndarray.flatten`."""
        return self._call(np.copy, (self._call(np.ravel, (self, order)),))

    def transpose(self, *axes: Any) -> Self:
        """Permute the axes, ``transpose(1, 0)`` or ``transpose((1, 0))``; see `numpy.transpose`."""
        order = axes[0] if len(axes) == 1 else axes or None
        return self._call(np.transpose, (self, order))

    def swapaxes(self, axis1: int, axis2: int) -> Self:
        """Swap two axes; see `numpy.swapaxes`."""
        return self._call(np.swapaxes, (self, axis1, axis2))

    def squeeze(self, axis: Axis = None) -> Self:
        """Remove axes of length one; see `numpy.squeeze`."""
        return self._call(np.squeeze, (self, axis))

    def take(self, indices: Any, *more: Any, **options: Any) -> Self:
        """Take elements along an axis; see `numpy.take`."""
        return self._call(np.take, (self, indices, *more), options)

    def compress(self, condition: Any, *more: Any, **options: Any) -> Self:
        """Select slices along an axis; see `numpy.compress`."""
        return self._call(np.compress, (condition, self, *more), options)

    def choose(self, choices: Any, *more: Any, **options: Any) -> Any:
        """Choose among arrays with this one as the index; see `numpy.choose`."""
        return self._call(np.choose, (self, choices, *more), options)

    def repeat(self, repeats: Any, axis: int | None = None) -> Self:
        """Repeat elements; see `numpy.repeat`."""
        return self._call(np.repeat, (self, repeats, axis))

    def diagonal(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Self:
        """Take a diagonal; see `numpy.diagonal`."""
        return self._call(np.diagonal, (self, offset, axis1, axis2))

    def dot(self, b: Any, out: Any = None) -> Self:
        """Multiply; see `numpy.dot`."""
        return self._call(np.dot, (self, b), {"out": out} if out is not None else {})

    def clip(
        self,
        min: Any = None,  # noqa: A002 - ndarray's name
        max: Any = None,  # noqa: A002 - ndarray's name
        out: Any = None,
        **options: Any,
    ) -> Self:
        """Limit the values; see `numpy.clip`."""
        if out is not None:
            options["out"] = out
        return self._call(np.clip, (self, min, max), options)

    def conjugate(self) -> Self:
        """Give the complex conjugate, which for a real handle is the handle."""
        return self._call(np.conjugate, (self,)) if self.data.dtype.kind == "c" else self

    def conj(self) -> Self:
        """Give the complex conjugate, which for a real handle is the handle."""
        return self.conjugate()

    def astype(
        self, dtype: Any, order: str = "K", casting: Any = "unsafe", *more: Any, **options: Any
    ) -> Any:
        """Cast: a handle for floating and complex dtypes, plain data for others."""
        names = ("subok", "copy")
        options = {"order": order, **dict(zip(names, more, strict=False)), **options}
        return self._call(np.astype, (self, np.dtype(dtype)), {"casting": casting, **options})


# What makes a handle look like an ndarray, from outside

Function = Callable[..., Any]
ABSENT: Any = object()

GIVING_PLACES = frozenset({"searchsorted"})
"""The methods of plain arrays that take other arrays, and give integers."""

WRITING = frozenset(
    ("fill", "itemset", "partition", "put", "resize", "setfield", "setflags", "sort", "byteswap")
)
"""The ndarray methods that write to the array."""


IN_COPIES: dict[str, Callable[[Any], Any]] = {}
"""The attributes of ndarrays that handles have in copies of code, and what gives them."""

LIKE = frozenset(
    {
        *(np.array, np.asarray, np.asanyarray, np.ascontiguousarray, np.asfortranarray),
        *(np.arange, np.empty, np.eye, np.frombuffer, np.fromfile, np.fromfunction, np.fromiter),
        *(np.fromstring, np.full, np.genfromtxt, np.identity, np.loadtxt, np.ones, np.require),
        *(np.tri, np.zeros),
    }
)
"""NumPy's functions that take ``like=``, and come here for no other reason."""


class ArrayInterface(ArrayOperators, ArrayMethods):
    """The ndarray's operators, methods and properties, in terms of one dispatch.

    A subclass gives `data`, the primal, and `index`, its place in a record, and says by
    `answer_with` what computes and records:

    - ``_call(function, args, kwargs)``: a NumPy function; ``_answer`` the same, but NotImplemented
      where another library is to have the say
    - ``_one(function, x)``, ``_two(function, x, y)``: a NumPy function of as many operands
    - ``_item(x, key)``: ``x[key]``
    - ``_assign(x, key, value)``: ``x[key] = value``
    - ``_change(function, x, other)``: ``x += other`` and its kind
    - ``_create(x, function, args, kwargs)``: ``function(..., like=x)``
    """

    __slots__ = ()

    data: Any
    index: int
    interpreter: Any
    _call: Function
    _answer: Function
    _item: Function
    _assign: Function
    _create: Function

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
        """The real part; assigning to it changes that of the handle."""
        return self._call(np.real, (self,))

    @real.setter
    def real(self, value: Any) -> None:
        self.real[...] = value

    @property
    def imag(self) -> Self:
        """The imaginary part; assigning to it changes that of the handle."""
        return self._call(np.imag, (self,))

    @imag.setter
    def imag(self, value: Any) -> None:
        self.imag[...] = value

    @property
    def device(self) -> Any:
        """Where the primal lies: "cpu" for NumPy's arrays."""
        return getattr(primal(self.data), "device", "cpu")

    def to_device(self, device: Any, /, *, stream: Any = None) -> Self:
        """Give the handle itself, if that is where it lies.

        Raises
        ------
        ValueError
            For any other device.
        """
        if device != self.device or stream is not None:
            raise ValueError(
                f"a handle cannot be moved to the device {device!r}; it stays where the array that "
                f"it was made from lies, on {self.device!r}"
            )
        return self

    def __repr__(self) -> str:
        value = self.data
        if hasattr(value, "batch_here"):
            value = repr(value)  # whose text, of a number, is that of each
        elif not isinstance(value, ArrayInterface) and not is_later(value):
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
        return bool(np.any(self == value))

    def __getitem__(self, key: Any) -> Self:
        kind = type(key)
        fixed = kind in IMMUTABLE or (kind is tuple and IMMUTABLE.issuperset(map(type, key)))
        if not fixed and is_copied(sys._getframe(1)):
            key = as_it_is(key)
        return self._item(self, key)

    # Conversions read the primal, and only where that is plainly meant

    def item(self, *args: SupportsIndex) -> Any:
        """Give an element of the primal as a Python number; to users, but not to libraries."""
        frame = sys._getframe(1)
        if is_copied(frame):
            return element(self, args)
        refuse_a_library(frame)
        return self.data.item(*args)

    def tolist(self) -> Any:
        """Give the primal as nested lists of Python numbers; to users, but not to libraries."""
        frame = sys._getframe(1)
        if is_copied(frame):
            return elements(self)
        refuse_a_library(frame)
        return self.data.tolist()

    def __float__(self) -> float:
        return float(number_of(self, "float"))

    def __int__(self) -> int:
        return int(number_of(self, "int"))

    def __complex__(self) -> complex:
        return complex(number_of(self, "complex"))

    def __index__(self) -> int:
        raise TypeError(
            "a handle is no whole number to count or to index with, which has no derivative; "
            "write int(t.data), as in range(int(t.data))"
        )

    def __bool__(self) -> bool:
        if self.size != 1:
            raise ValueError(
                f"the truth value of a handle of shape {self.shape} is ambiguous; write np.any(t) "
                "or np.all(t) of a comparison, or np.where to choose element by element"
            )
        return bool(self.item()) or bool(self != 0)  # which tells of a branch on a tie

    def __format__(self, spec: str) -> str:
        if not spec:
            answer_to_scipy("format", self)
            return str(self)
        text = format(self.data, spec)
        # A copy of code might make a number again of a text, which would have no gradient
        return f"Tensor({text})" if is_copied(sys._getframe(1)) else text

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        answer = answer_to_scipy("array", self)
        if answer is not OWN:
            return answer
        frame = sys._getframe(1)
        method = method_called(frame) if is_copied(frame) else ""
        if method in GIVING_PLACES:
            return np.asarray(primal(self), dtype)
        if method == "__array__":  # called by its name, and not by NumPy
            return self if dtype is None else self.astype(dtype)
        instead = (
            BY_COMPILED_CODE
            if is_copied(frame)
            else in_place_of_call(frame)
            or "write np.stack([...]) to join handles, or np.concatenate([...]), for a function "
            "that takes one array; np.broadcast_to(t, shape) for an array full of one; "
            "rec.constant(array) to fill an array with them; t.data for the value alone; or call a "
            "NumPy function on the handle itself"
        )
        raise dropped_in_a_library(AS_ARRAYS) or ConversionError(
            f"turning a handle into an ndarray ({caller()}) would drop its gradient; {instead}"
        )

    @classmethod
    def __torch_function__(cls, function: Any, *_: Any) -> Any:
        """Refuse PyTorch's functions; its operators leave it to the handle to answer."""
        name = function.__name__
        if name.startswith("__"):
            return NotImplemented
        instead = f"np.{name}(t)" if hasattr(np, name) else "a function of NumPy's"
        raise TypeError(f"torch.{name} takes no handles; write {instead}, or t.data for the value")

    @property
    def __jax_array__(self) -> NoReturn:
        """What JAX asks for; its operators get no answer, and leave it to the handle."""
        asking = str(sys._getframe(1).f_globals.get("__name__"))
        if asking.startswith("jax.") and not asking.endswith(".array_methods"):
            raise TapeError(  # by no TypeError, which JAX would hide
                f"a function of JAX takes no handles ({caller()}); write NumPy's, as in np.sin(t) "
                "for jnp.sin(t), or t.data for the value"
            )
        name = "__jax_array__"
        raise AttributeError(name)

    def __dlpack__(
        self,
        /,
        *,
        stream: Any = None,
        max_version: Any = None,
        dl_device: Any = None,
        copy: bool | None = None,
    ) -> Any:
        raise ConversionError(
            f"handing a handle to another library ({caller()}) would drop its gradient; write "
            "t.data for the value"
        )

    def __dlpack_device__(self) -> Any:
        return self.__dlpack__()

    if not TYPE_CHECKING:  # for checkers, what has this is an ArrayLike, and so a plain operand

        def __buffer__(self, flags: int) -> NoReturn:  # asked for since Python 3.12
            raise dropped_in_a_library(AS_ARRAYS) or ConversionError(
                f"giving away the memory of a handle ({caller()}) would drop its gradient; write "
                "t.data for the value"
            )

    @property
    def __pandas_priority__(self) -> int:
        """What lets a pandas Series or DataFrame in ``series * handle`` leave it to the handle."""
        return 5000

    def __reduce__(self) -> NoReturn:
        raise ConversionError(
            "a handle cannot be pickled, for it is an index into a record; pickle t.data"
        )

    def __copy__(self) -> Self:
        return self.copy("K")

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self.copy("K")

    def copy(self, order: str = "C") -> Self:
        """Give a new handle of the same value, which can be assigned to; see `numpy.copy`.

        Of a number the copy is a number too, as NumPy's scalars have it.
        """
        if is_number(self.data):
            answer_to_scipy("copy", self)
            if self.data.dtype.kind == "b":  # of which there is no positive
                return self._one(np.logical_not, np.logical_not(self))
            return self._one(np.positive, self)
        return self._call(np.copy, (self,), {"order": order})

    # NumPy's protocols, and assignment

    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, x: Any, y: Any = ABSENT, *more: Any, **kwargs: Any
    ) -> Any:
        if method == "__call__" and not (more or kwargs):
            if y is ABSENT:
                return self._one(ufunc, x)
            other = type(y) if x is self else type(x)
            if other in PLAIN_TYPES or other is type(self):
                return self._two(ufunc, x, y)
        inputs = (x,) if y is ABSENT else (x, y, *more)
        if method == "__call__":
            return self._answer(ufunc, inputs, kwargs)
        if method == "at":
            if hasattr(self, "batch_here"):
                go_one_by_one(self)
            raise written_to(ufunc)
        if method == "outer":
            x, y = map(as_array, inputs)
            return self._answer(ufunc, (x[(..., *(None,) * y.ndim)], y), kwargs)
        return self._answer(getattr(ufunc, method), inputs, kwargs)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        for kind in types:
            if kind is type(self):
                continue
            own = kind.__array_function__ is not np.ndarray.__array_function__
            if own and not (
                issubclass(kind, (ArrayInterface, type(primal(self.data))))
                or kind in TRACERS
                or lies_below(kind)
            ):
                return NotImplemented  # as NEP 18 has it for types that one does not know
        if function in LIKE:
            return self._create(self, function, args, kwargs)
        if function is np.atleast_1d:  # after which some of SciPy's code in C asks no more
            answer_to_scipy("atleast_1d", self)
        return self._answer(function, args, kwargs)

    def __setitem__(self, key: Any, value: Any) -> None:
        """Change the array that the handle stands for, and all views of it, in the graph."""
        kind = type(key)
        fixed = kind in IMMUTABLE or (kind is tuple and IMMUTABLE.issuperset(map(type, key)))
        if not fixed and is_copied(sys._getframe(1)):
            key = as_it_is(key)
        self._assign(self, key, value)

    @classmethod
    def answer_with(
        cls,
        *,
        call: Function,
        answer: Function,
        one: Function,
        two: Function,
        item: Function,
        assign: Function,
        change: Function,
    ) -> None:
        """Say what computes and records: see the attributes of this class."""
        cls._call, cls._answer = staticmethod(call), staticmethod(answer)
        cls._one, cls._two, cls._item = staticmethod(one), staticmethod(two), staticmethod(item)
        cls._assign, cls._change = staticmethod(assign), staticmethod(change)


for _name in ("shape", "dtype"):  # which everybody asks for: without a frame of Python's
    _told = vars(ArrayInterface)[_name].__doc__
    setattr(ArrayInterface, _name, property(attrgetter(f"data.{_name}"), doc=_told))


def element(handle: Any, index: tuple[Any, ...]) -> Any:
    """Give an element of a handle as a handle of a number: what a copy of code gets by ``.item()``.

    Raises
    ------
    ValueError
        When no index is given and there are several elements.
    """
    if len(index) == 1 and isinstance(index[0], tuple):
        index = index[0]
    if len(index) == 1 and handle.ndim != 1:
        return handle.reshape(-1)[index]
    if not index and handle.size != 1:
        raise ValueError("can only convert an array of size 1 to a Python scalar")
    return handle.reshape(-1)[0] if not index else handle[index]


def elements(handle: Any) -> Any:
    """Give nested lists of handles of numbers: what a copy of code gets by ``.tolist()``."""
    return handle[()] if handle.ndim == 0 else [elements(each) for each in handle]


DIGITS = 2**50
"""From where on an integer is the digits of a number, as `math.frexp` and a shift give them."""


IMMUTABLE = frozenset({int, slice, type(...), type(None), bool})
"""The kinds of what stands in a key and cannot be written to later."""


def as_it_is(key: Any) -> Any:
    """Copy the arrays in a key, which code that is not written for handles may write to later."""
    if type(key) is tuple:
        return tuple(map(as_it_is, key))
    plain = type(key) is np.ndarray and key.flags.writeable
    return key.copy() if plain or hasattr(key, "batch_here") else key


def number_of(handle: Any, kind: str) -> Any:
    """Give the primal as a number to ``"%f" % handle``, which is there to be read; refuse others.

    C code asks for a number in the same way whether it prints it or goes on computing with it. What
    tells the two apart is the instruction that the caller is at.

    Raises
    ------
    ConversionError
    """
    answer = answer_to_scipy("number", handle)
    if answer is not OWN:
        return answer
    frame = sys._getframe(2)
    copied, read = is_copied(frame), is_at(frame, "x % x", "x %= x")
    if copied and read and kind != "int" and not is_read(frame):
        raise ConversionError(
            f"a text made of a handle ({caller()}) has no gradient, and may become a number again; "
            "write t.data where it is only to be read"
        )
    if copied and kind == "int" and np.any(np.abs(handle.data) >= DIGITS):
        raise ConversionError(
            f"int(handle) of a number as large as {handle.data:.3g} ({caller()}) is no count but "
            "the digits of the number, and would drop the gradient; write t.data if none is meant "
            "to flow"
        )
    if copied and kind == "int":
        return int(primal(handle))
    if read:
        return handle.data.item()
    instead = (
        BY_COMPILED_CODE
        if copied
        else "write t.item() for the number, a function of NumPy, np.exp(t) in place of "
        "math.exp(t), for the gradient, and make an array that is filled with handles by "
        "rec.constant(array)"
    )
    raise dropped_in_a_library("takes what it gets as plain numbers") or ConversionError(
        f"{kind}(handle) ({caller()}) would drop the gradient; {instead}"
    )


BY_COMPILED_CODE = (
    "compiled code, such as that of array.array, struct and structured dtypes, asks for it: write "
    "lists or np.asarray([...]) in its place, give it a rule by ta.custom_rule around a function "
    "that calls it, or pass t.data if no gradient is meant to flow"
)
"""What to write where a copy hands a handle to what takes plain numbers and arrays alone."""


class Absent(MigrationHint):
    """An attribute that ndarrays have and handles do not; asking for it says why."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, handle: Any, owner: type) -> Any:
        if handle is not None and self.name in IN_COPIES and is_copied(sys._getframe(1)):
            return IN_COPIES[self.name](handle)
        if self.name in WRITING:
            raise AttributeError(
                f"handles have no .{self.name}(), which writes to the array; write "
                "t[...] = value, with NumPy's function of that name where it has one, or use t.data"
            )
        instead = "t.reshape(shape) is another shape, and " if self.name == "view" else ""
        raise AttributeError(
            f"handles do not have the ndarray attribute .{self.name}, for it has no rule; "
            f"{instead}t.data.{self.name} is the primal's"
        )


for _name in dir(np.ndarray):
    if not _name.startswith("__") and not hasattr(ArrayInterface, _name) and _name != "data":
        setattr(ArrayInterface, _name, Absent(_name))
