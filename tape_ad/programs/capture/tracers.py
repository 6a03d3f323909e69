"""What arrays and numbers that are captured have in common: questions, and NumPy's protocols."""

import functools
import operator
import sys
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from tape_ad.base.errors import CaptureError
from tape_ad.programs.program.program import Value
from tape_ad.record.messages.callers import caller, is_at

__all__ = [
    "NUMBERS",
    "Tracer",
    "cast",
    "complex_code",
    "defers_ufuncs",
    "exact_question",
    "failure_of",
    "float_code",
    "item_of",
]

Function = Callable[..., Any]

NUMBERS = frozenset({bool, int, float, complex})
"""Python's numbers, which are weak: they take the dtype of what they are computed with."""


def item_of(array: Any, *place: Any) -> Any:
    """Give an element of an array as a Python number."""
    return array.item(*place)


def cast(array: Any, dtype: Any, **options: Any) -> Any:
    """Cast an array, as its method does."""
    return array.astype(dtype, **options)


def failure_of(function: Function, args: Any, kwargs: Any) -> str:
    """Name the error that a call raises; nothing where it raises none."""
    try:
        function(*args, **kwargs)
    except Exception as error:
        return type(error).__name__
    return ""


def float_code(number: Any) -> str:
    """Write a number so that two are equal if they are the same, nan and signed zeros too.

    Examples
    --------
    >>> float_code(0.5), float_code(-0.0) == float_code(0.0)
    ('0x1.0000000000000p-1', False)
    """
    return float(number).hex()


def complex_code(number: Any) -> tuple[str, str]:
    """Write a complex number as `float_code` does a real one."""
    whole = complex(number)
    return whole.real.hex(), whole.imag.hex()


CODES: dict[type, Function] = {
    bool: bool,
    int: int,
    float: float_code,
    complex: complex_code,
}
"""What is asked of a Python number that becomes a plain one."""


def exact_question(number: Any) -> Function:
    """Choose the question that tells a number from all others."""
    kind = getattr(number, "dtype", np.dtype(type(number))).kind
    return {"f": float_code, "c": complex_code}.get(kind, int)


class Tracer:
    """What arrays and numbers that are captured have in common.

    Attributes
    ----------
    data : array or number
        The concrete one.
    value : Value
        Its place in the program.
    capture : Capture
        What notes the calls.
    """

    __slots__ = ()

    data: Any
    value: Value
    capture: Any
    interpreter: Any
    _two: Function

    # Questions, whose answers are guarded

    def __bool__(self) -> bool:
        if getattr(self.data, "size", 1) != 1:
            bool(self.data)  # raises what NumPy says
        answer: bool = self.capture.ask(bool, self)
        return answer

    def __int__(self) -> int:
        answer: int = self.capture.ask(int, self)
        return answer

    def __index__(self) -> int:
        answer: int = self.capture.ask(operator.index, self)
        return answer

    def __float__(self) -> float:
        self.capture.ask(float_code, self)
        return float(self.data)

    def __complex__(self) -> complex:
        self.capture.ask(complex_code, self)
        return complex(self.data)

    def __str__(self) -> str:
        answer: str = self.capture.ask(str, self)
        return answer

    def __format__(self, spec: str) -> str:
        plain = self.data.__class__ in NUMBERS or np.ndim(self.data) > 0
        self.capture.ask(str if plain else repr_of, self)
        return format(self.data, spec)

    def __trunc__(self) -> int:
        return int(self)

    # Of Python's operators, those that handles do not have

    def __round__(self, ndigits: Any = None) -> Any:
        return self.capture.call(round, (self,) if ndigits is None else (self, ndigits), {})

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        """Give a whole number to C code, which is guarded then; refuse arrays.

        Raises
        ------
        CaptureError
        """
        kind = type(self.data)
        if kind in CODES or issubclass(kind, np.integer):
            self.capture.ask(CODES.get(kind, int), self)
            return np.asarray(self.data, dtype)
        frame = sys._getframe(1)
        if is_list(self.data) and not is_at(frame, "x[x]", "x[x] = x"):
            self.capture.ask(listed, self)
            return np.array(self.data, dtype)
        if is_at(frame, "x[x]"):
            raise self.capture.refusal(
                f"a plain array is indexed with one that depends on an argument ({caller()}); "
                "pass the array as an argument too, or write np.take_along_axis(array, index, axis)"
            )
        raise self.capture.refusal(
            "turning an argument of a compiled function, or what was computed from one, into a "
            f"plain ndarray ({caller()}) would freeze its value; leave np.asarray out, write "
            "np.stack([...]) in place of np.array([...]), and fill an array made by "
            "np.zeros_like(x)"
        )

    def __reduce__(self) -> NoReturn:
        raise CaptureError("what is being captured cannot be pickled; return it instead")

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if not all(issubclass(kind, Tracer) or is_plain(kind) for kind in types):
            return NotImplemented  # a handle's turn
        return self.capture.call(function, args, kwargs)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        for x in (*inputs, *kwargs["out"]) if kwargs.get("out") else inputs:
            if not isinstance(x, Tracer) and not defers_ufuncs(x.__class__):
                return NotImplemented  # a handle's turn
        if method == "at":
            raise self.capture.refusal(
                f"np.{ufunc.__name__}.at ({caller()}) writes to its first argument, which a "
                "compiled function cannot replay; write x[i] += v where no index occurs twice, or "
                "np.bincount"
            )
        function = ufunc if method == "__call__" else getattr(ufunc, method)
        return self.capture.call(function, inputs, kwargs)


FEW = 64
"""How many whole numbers may be a list: of axes, bounds or counts."""


def is_list(data: Any) -> bool:
    """Tell whether an array is of a few whole numbers, which may decide about shapes."""
    return isinstance(data, np.ndarray) and data.dtype.kind in "iub" and data.size <= FEW


def listed(array: Any) -> tuple[Any, ...]:
    """Give the elements of an array."""
    return tuple(array.ravel().tolist())


def contents(array: Any) -> bytes:
    """Give the bytes of an array."""
    return bytes(array.tobytes())


def repr_of(number: Any) -> str:
    """Write a NumPy number with all its digits."""
    return repr(number.item()) if hasattr(number, "item") else repr(number)


@functools.cache
def is_plain(kind: type) -> bool:
    """Tell whether a type is NumPy's own array, or inherits how that answers to functions."""
    own = getattr(kind, "__array_function__", None)
    return own is None or own is np.ndarray.__array_function__


@functools.cache
def defers_ufuncs(kind: type) -> bool:
    """Tell whether a type leaves ufuncs to others, as plain arrays and numbers do."""
    own = getattr(kind, "__array_ufunc__", np.ndarray.__array_ufunc__)
    return own is np.ndarray.__array_ufunc__ or issubclass(kind, np.generic)
