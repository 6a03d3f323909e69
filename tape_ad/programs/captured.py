"""Arrays and numbers that note what is done with them, in the program that is being captured."""

import math
import operator
from collections.abc import Callable, Iterator
from typing import Any, ClassVar, NoReturn, Self, SupportsIndex

import numpy as np
from attrs import define, field

from tape_ad.errors import CaptureError
from tape_ad.handles.array_interface import ArrayInterface
from tape_ad.handles.array_operators import ArrayOperators
from tape_ad.handles.callers import caller
from tape_ad.naming import called
from tape_ad.programs.program import Value

__all__ = ["Captured", "CapturedNumber", "Noting", "complex_code", "float_code", "item_of"]

Function = Callable[..., Any]

PYTHONS: dict[Any, Function] = {
    np.add: operator.add,
    np.subtract: operator.sub,
    np.multiply: operator.mul,
    np.divide: operator.truediv,
    np.floor_divide: operator.floordiv,
    np.remainder: operator.mod,
    np.divmod: divmod,
    np.power: operator.pow,
    np.negative: operator.neg,
    np.positive: operator.pos,
    np.absolute: operator.abs,
    np.equal: operator.eq,
    np.not_equal: operator.ne,
    np.less: operator.lt,
    np.less_equal: operator.le,
    np.greater: operator.gt,
    np.greater_equal: operator.ge,
    np.bitwise_and: operator.and_,
    np.bitwise_or: operator.or_,
    np.bitwise_xor: operator.xor,
    np.invert: operator.invert,
    np.round: round,
}
"""What Python computes of two of its own numbers, which are weak then as they were."""

NUMBERS = frozenset({bool, int, float, complex})


def item_of(array: Any, *place: Any) -> Any:
    """Give an element of an array as a Python number."""
    return array.item(*place)


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
    both = complex(number)
    return both.real.hex(), both.imag.hex()


class Noting:
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
        self.capture.ask(str if self.data.__class__ in NUMBERS else repr_of, self)
        return format(self.data, spec)

    def __trunc__(self) -> int:
        return int(self)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NoReturn:
        raise self.capture.refusal(
            "turning an argument of a compiled function, or what was computed from one, into a "
            f"plain ndarray ({caller()}) would freeze its value; leave np.asarray out, write "
            "np.stack([...]) in place of np.array([...]), and fill an array made by "
            "np.zeros_like(x)"
        )

    def __reduce__(self) -> NoReturn:
        raise CaptureError("what is being captured cannot be pickled; return it instead")

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if not all(issubclass(kind, Noting) or is_plain(kind) for kind in types):
            return NotImplemented  # a handle's turn
        return self.capture.call(function, args, kwargs)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if not all(isinstance(x, Noting) or leaves_it(type(x)) for x in inputs):
            return NotImplemented
        if method == "at":
            raise self.capture.refusal(
                f"np.{ufunc.__name__}.at ({caller()}) writes to its first argument, which a "
                "compiled function cannot replay; write x[i] += v where no index occurs twice, or "
                "np.bincount"
            )
        function = ufunc if method == "__call__" else getattr(ufunc, method)
        return self.capture.call(function, inputs, kwargs)


def repr_of(number: Any) -> str:
    """Write a NumPy number with all its digits."""
    return repr(number.item()) if hasattr(number, "item") else repr(number)


def is_plain(kind: type) -> bool:
    """Tell whether a type is NumPy's own array, or inherits how that answers to functions."""
    own = getattr(kind, "__array_function__", None)
    return own is None or own is np.ndarray.__array_function__


def leaves_it(kind: type) -> bool:
    """Tell whether a type leaves ufuncs to others, as plain arrays and numbers do."""
    own = getattr(kind, "__array_ufunc__", np.ndarray.__array_ufunc__)
    return own is np.ndarray.__array_ufunc__ or issubclass(kind, np.generic)


@define(eq=False, repr=False, weakref_slot=True)
class Captured(Noting, ArrayInterface):
    """An array of a function that is being captured.

    It is a box: assigning to it changes which value it stands for, and what it shows.

    Attributes
    ----------
    data, value, capture
        As `Noting` has them.
    origin : Captured or None
        For a view, whose memory it shows.
    views : list of weakref
        For what owns its memory, the views of it.
    """

    data: Any
    value: Value
    capture: Any
    origin: Any = None
    views: list[Any] = field(factory=list, init=False)

    @property
    def index(self) -> int:  # type: ignore[override]  # which is worked out where it is asked for
        """The number of the step that made it, for a listing."""
        return int(self.capture.place(self.value))

    @property
    def strides(self) -> tuple[int, ...]:
        """The bytes from one element to the next on each axis."""
        return tuple(self.data.strides)

    @property
    def flags(self) -> Any:
        """How the array lies in memory."""
        return self.data.flags

    def __repr__(self) -> str:
        return f"Captured({self.value})"

    def __hash__(self) -> int:  # type: ignore[override]  # of NumPy's numbers there is one
        if isinstance(self.data, np.generic):
            self.capture.ask(complex_code if self.data.dtype.kind == "c" else float_code, self)
        return hash(self.data)

    def __len__(self) -> int:
        return len(self.data)

    def __iter__(self) -> Iterator[Any]:
        if self.ndim == 0:
            raise TypeError("iteration over a 0-d array")
        return (self[i] for i in range(self.shape[0]))

    def item(self, *args: SupportsIndex) -> Any:
        """Give an element, as a captured number."""
        return self.capture.call(item_of, (self, *args), {})

    def tolist(self) -> Any:
        """Give nested lists of captured numbers."""
        return [part.tolist() for part in self] if self.ndim else self.item()

    def __pow__(self, other: Any) -> Any:
        return by_operator(operator.pow, self, other)

    def __rpow__(self, other: Any) -> Any:
        return by_operator(operator.pow, other, self)

    def fill(self, value: Any) -> None:
        """Assign a number to all elements."""
        self[...] = value

    # From two parents; Noting's is meant

    __bool__ = Noting.__bool__
    __int__ = Noting.__int__
    __float__ = Noting.__float__
    __complex__ = Noting.__complex__
    __format__ = Noting.__format__


def by_operator(function: Function, x: Any, y: Any) -> Any:
    """Note one of Python's operators on arrays, where NumPy's own has quicker ways than a ufunc."""
    for each in (x, y):
        if not isinstance(each, Noting) and not leaves_it(type(each)):
            return NotImplemented
    noting = x if isinstance(x, Noting) else y
    return noting.capture.call(function, (x, y), {})


@define(eq=False, repr=False)
class CapturedNumber(Noting, ArrayOperators):
    """A Python number of a function that is being captured.

    It says that it is a float (or int, complex, bool) when asked by `isinstance`, and what is
    computed from it and other Python numbers is one too.
    """

    data: Any
    value: Value
    capture: Any
    owner: ClassVar[None] = None

    @property  # type: ignore[misc]  # isinstance looks at it after the type
    def __class__(self) -> type:
        return type(self.data)

    def __repr__(self) -> str:
        return str(self)

    def __hash__(self) -> int:  # type: ignore[override]  # numbers have one
        self.capture.ask(complex_code if type(self.data) is complex else float_code, self)
        return hash(self.data)

    @property
    def real(self) -> Any:
        """The real part."""
        return self if type(self.data) is not complex else self._one(real_of, self)

    @property
    def imag(self) -> Any:
        """The imaginary part."""
        return 0 * self if type(self.data) is not complex else self._one(imaginary_of, self)

    def conjugate(self) -> Any:
        """Give the complex conjugate."""
        return self if type(self.data) is not complex else self._one(conjugate_of, self)

    def is_integer(self) -> bool:
        """Tell whether it is a whole number."""
        return float(self).is_integer()

    def item(self) -> Self:
        """Give the number itself, as the method of an array would."""
        return self

    def __floor__(self) -> int:
        return math.floor(float(self))

    def __ceil__(self) -> int:
        return math.ceil(float(self))


def real_of(number: complex) -> float:
    """Give the real part of a Python number."""
    return number.real


def imaginary_of(number: complex) -> float:
    """Give the imaginary part of a Python number."""
    return number.imag


def conjugate_of(number: complex) -> complex:
    """Give the conjugate of a Python number."""
    return number.conjugate()


# What computes and notes, in the terms of ArrayInterface


def call(function: Function, args: tuple[Any, ...], kwargs: Any = None) -> Any:
    """Note a NumPy function with a captured array among its arguments."""
    if not all(map(yields, args)):
        return function(*args, **(kwargs or {}))  # a handle's turn
    return first_of(args).capture.call(function, args, kwargs or {})


def answer(function: Function, args: tuple[Any, ...], kwargs: Any = None) -> Any:
    """Do what `call` does; NotImplemented where a handle is among the arguments."""
    return call(function, args, kwargs) if all(map(yields, args)) else NotImplemented


def one(function: Function, x: Any) -> Any:
    """Note a function of one captured array or number."""
    if type(x) is CapturedNumber:
        function = PYTHONS.get(function, function)
    return x.capture.call(function, (x,), {})


def two(function: Function, x: Any, y: Any) -> Any:
    """Note a function of two operands, one of them captured."""
    if not (yields(x) and yields(y)):
        return NotImplemented
    if is_python(x) and is_python(y):
        function = PYTHONS.get(function, function)
    noting = x if isinstance_noting(x) else y
    return noting.capture.call(function, (x, y), {})


def item(x: Captured, key: Any) -> Any:
    """Note ``x[key]``."""
    return x.capture.call(operator.getitem, (x, key), {})


def assign(x: Captured, key: Any, value: Any) -> None:
    """Note ``x[key] = value``."""
    x.capture.assign(x, key, value)


def change(function: Function, x: Any, other: Any) -> Any:
    """Note ``x += other`` and its kind."""
    return x.capture.change(function, x, other)


def isinstance_noting(x: Any) -> bool:
    """Tell whether something is captured; `isinstance` would ask a number for its class."""
    kind = type(x)
    return kind is Captured or kind is CapturedNumber


def yields(x: Any) -> bool:
    """Tell whether an operand leaves arithmetic to a captured one."""
    return isinstance_noting(x) or leaves_it(type(x))


def is_python(x: Any) -> bool:
    """Tell whether an operand is a Python number, captured or not."""
    return type(x) is CapturedNumber or type(x) in NUMBERS


def first_of(args: tuple[Any, ...]) -> Any:
    """Find the first captured argument of a method, which is nearly always the first of all."""
    for arg in args:
        if isinstance_noting(arg):
            return arg
    raise CaptureError(f"no captured array among the arguments of {called(args)}")


for _kind in (Captured, CapturedNumber):
    _kind._one, _kind._two = staticmethod(one), staticmethod(two)
    _kind._change = staticmethod(change)
Captured._call, Captured._answer = staticmethod(call), staticmethod(answer)
Captured._item, Captured._assign = staticmethod(item), staticmethod(assign)
