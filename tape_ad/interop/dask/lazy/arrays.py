"""A Dask array that answers NumPy's protocols in the way in which rules and sweeps ask."""

import operator
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any, NoReturn, Self

import dask.array as da
import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from tape_ad.errors import ConversionError, UnsupportedArgumentError
from tape_ad.extend.packages import caller

__all__ = ["LazyArray", "item", "lazy", "operand", "plain", "unknown", "unwritable"]

Function = Callable[..., Any]
OPERANDS = (np.ndarray, np.generic, int, float, complex, list, tuple)


class LazyArray(NDArrayOperatorsMixin, da.Array):
    """A Dask array below a record.

    It is one: ``compute()``, ``dask.compute`` with others, ``chunks`` and the rest are Dask's own.
    NumPy's functions give LazyArrays too. No rule, map or sweep asks for its values; users may.
    """

    __slots__ = ()

    answer: Function
    """``answer(function, args, kwargs)`` makes a call; `calls` puts it here."""

    def __array_ufunc__(self, numpy_ufunc: Any, method: Any, *inputs: Any, **kwargs: Any) -> Any:
        if not all(isinstance(x, (da.Array, *OPERANDS)) for x in inputs):
            return NotImplemented
        function = numpy_ufunc if method == "__call__" else getattr(numpy_ufunc, method)
        return self.answer(function, inputs, kwargs)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if not all(issubclass(kind, (da.Array, np.ndarray)) for kind in types):
            return NotImplemented
        return self.answer(function, args, kwargs)

    def __getitem__(self, key: Any) -> Self:
        picked: Self = self.answer(item, (self, key), {})
        return picked

    # Methods that rules call, where Dask's have another signature, or give a plain Dask array

    def astype(self, dtype: Any, *options: Any, **named: Any) -> Any:
        """See `numpy.ndarray.astype`."""
        return lazy(plain(self).astype(dtype, *options, **named))

    def reshape(self, *shape: Any, **options: Any) -> Any:
        """See `numpy.reshape`."""
        return self.answer(np.reshape, (self, shape[0] if len(shape) == 1 else shape), options)

    def ravel(self, order: str = "C") -> Any:
        """See `numpy.ravel`."""
        return self.answer(np.reshape, (self, -1), {"order": order})

    def transpose(self, *axes: Any) -> Any:
        """See `numpy.transpose`."""
        return self.answer(np.transpose, (self, axes[0] if len(axes) == 1 else axes or None), {})

    def conjugate(self) -> Any:
        """See `numpy.conjugate`."""
        return lazy(da.conj(plain(self))) if self.dtype.kind == "c" else self

    conj = conjugate

    def copy(self, *_: Any) -> Any:
        """Give the array itself, as it is never written to."""
        return self

    @property
    def T(self) -> Any:  # noqa: N802 - NumPy's name
        """See `numpy.ndarray.T`."""
        return self.transpose()

    @property
    def mT(self) -> Any:  # noqa: N802 - NumPy's name
        """See `numpy.ndarray.mT`."""
        return self.answer(np.swapaxes, (self, -1, -2), {})

    @property
    def real(self) -> Any:
        """See `numpy.real`."""
        return lazy(da.real(plain(self))) if self.dtype.kind == "c" else self

    @property
    def imag(self) -> Any:
        """See `numpy.imag`."""
        return lazy(da.imag(plain(self)))

    def __setitem__(self, key: Any, value: Any) -> NoReturn:
        raise unwritable("an assignment")

    # Questions

    def __bool__(self) -> bool:
        return bool(asked_for(self, "a branch"))

    def __float__(self) -> float:
        return float(asked_for(self, "float()"))

    def __complex__(self) -> complex:
        return complex(asked_for(self, "complex()"))

    def __int__(self) -> int:
        return int(asked_for(self, "int()"))

    def __index__(self) -> int:
        return operator.index(asked_for(self, "an index"))

    def __array__(self, dtype: Any = None, copy: bool | None = None, **_: Any) -> Any:
        return np.asarray(asked_for(self, "np.asarray()"), dtype)

    def __format__(self, spec: str) -> str:
        return format(asked_for(self, "a format"), spec) if spec else str(self)

    def item(self, *place: Any) -> Any:
        """Give an element as a Python number, after computing all."""
        return asked_for(self, "item()").item(*place)

    def tolist(self) -> Any:
        """Give nested lists of Python numbers."""
        return asked_for(self, "tolist()").tolist()

    def as_gradient(self, found: Any) -> Any:
        """Give a gradient with respect to this array, in its chunks."""
        stack = found.ndim - self.ndim
        chunks = (*((length,) for length in found.shape[:stack]), *self.chunks)
        found = plain(found) if isinstance(found, da.Array) else da.from_array(found, chunks)
        return lazy(found.rechunk(chunks))


for _name in ("sum", "prod", "min", "max", "any", "all", "mean", "cumsum", "dot", "squeeze"):

    def _method(self: Any, *args: Any, _name: str = _name, **options: Any) -> Any:
        return lazy(getattr(plain(self), _name)(*args, **options))

    setattr(LazyArray, _name, _method)


def operand(value: Any) -> LazyArray:
    """Take a Dask array below records.

    Raises
    ------
    UnsupportedArgumentError
        For other collections of Dask's, and arrays of unknown shape.
    """
    if not isinstance(value, da.Array):
        raise UnsupportedArgumentError(
            f"a {type(value).__name__} of Dask's is no array; make a Dask array of it, or give it "
            "to ta.interop.dask.value_and_grad"
        )
    if any(np.isnan(length) for length in value.shape):
        raise UnsupportedArgumentError(
            "the shape of a Dask array is not known before it is computed; call "
            "x.compute_chunk_sizes() first"
        )
    below: LazyArray = lazy(value)
    return below


def asked_for(array: LazyArray, what: str) -> Any:
    """Compute an array as Dask does where its values are asked for, but for nothing of ours.

    Raises
    ------
    ConversionError
        When this library asks: a handle, a rule, or a function that a transform has called.
    """
    frame: FrameType | None = sys._getframe(2)
    while frame is not None:
        if str(frame.f_globals.get("__name__")).partition(".")[0] == "tape_ad":
            raise unknown(what)
        frame = frame.f_back
    return plain(array).compute()


def unknown(what: str) -> ConversionError:
    """Make the error for code that asks for values."""
    return ConversionError(
        f"{what} ({caller()}) asks for the values of a Dask array, which are not computed yet; "
        "write np.where to choose, or compute the array first"
    )


def unwritable(what: str) -> UnsupportedArgumentError:
    """Make the error for code that writes to an array."""
    return UnsupportedArgumentError(
        f"{what} ({caller()}) writes to a Dask array, which is only described yet; write it in "
        "functions that give new arrays, such as np.where and np.concatenate, or compute it first"
    )


def item(array: Any, key: Any) -> Any:
    """Pick elements of a plain Dask array."""
    return array[key]


def lazy(array: Any) -> Any:
    """Make a Dask array one that lies below records; anything else stays."""
    if type(array) is not da.Array:
        return array
    return LazyArray(  # type: ignore[no-untyped-call]  # Dask has no types
        array.dask, array.name, array.chunks, meta=array._meta, shape=array.shape
    )


def plain(array: Any) -> Any:
    """Give the Dask array itself; anything else stays."""
    if type(array) is not LazyArray:
        return array
    return da.Array(array.dask, array.name, array.chunks, meta=array._meta, shape=array.shape)
