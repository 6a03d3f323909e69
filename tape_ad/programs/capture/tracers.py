"""Arrays and Python numbers that note what is done with them, in the program being captured."""

import functools
import math
import operator
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar, NoReturn, Self, SupportsIndex

import numpy as np
from attrs import define, field

from tape_ad.base.arrays.interpreter import boxes
from tape_ad.base.arrays.overridable import TRACERS
from tape_ad.base.errors import CaptureError
from tape_ad.base.naming import PYTHON_OPERATORS
from tape_ad.base.trees import flatten, map_leaves, structure_of
from tape_ad.programs.capture.constants import contents
from tape_ad.programs.program import Value
from tape_ad.record.array_interface import IN_COPIES, Absent, ArrayInterface
from tape_ad.record.array_operators import ArrayOperators, BitsInPlace, Shifts
from tape_ad.record.messages.callers import OPERATOR_LINES, caller, is_at, is_copied, method_called
from tape_ad.record.messages.libraries import (
    AS_ARRAYS,
    OWN,
    answer_to_scipy,
    traced_in_a_library,
)
from tape_ad.record.ties import flags_of

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


def filling_code(number: Any) -> str:
    """Write a number as `float_code` does, where it is asked for to be put into a plain array."""
    return float_code(number)


def fills(frame: Any) -> bool:
    """Tell whether a frame puts a number into an array: ``a[i] = x``, ``np.array([x, y])``."""
    return is_at(frame, "x[x] = x") or method_called(frame) in FILLING


FILLING = frozenset({"array", "asarray", "fill", "full"})


def complex_code(number: Any) -> tuple[str, str]:
    """Write a complex number as `float_code` does a real one."""
    whole = complex(number)
    return whole.real.hex(), whole.imag.hex()


def exact_question(number: Any) -> Function:
    """Choose the question that tells a number from all others."""
    kind = getattr(number, "dtype", np.dtype(type(number))).kind
    return {"f": float_code, "c": complex_code}.get(kind, int)


EQUAL_TO_NO_NUMBER = (type(None), str, bytes, list, tuple)
"""The types of what is not comparable and equals no number; sequences are of text then."""


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
        self.capture.ask(filling_code if fills(sys._getframe(1)) else float_code, self)
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

    def _is(self, function: Any, other: Any) -> Any:
        equality: Any = type(other).__eq__
        if hasattr(type(other), "__array__"):  # whose answer may be none: identities count then
            other = np.asarray(other)
            known = other.dtype.kind in "SUM"  # while whole numbers may equal a timedelta
        else:
            known = isinstance(other, EQUAL_TO_NO_NUMBER) or equality is object.__eq__
        if known:
            return super()._is(function, other)  # type: ignore[misc]  # whatever the numbers are
        return self._two(function, self, other)

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
        if kind in NUMBERS or issubclass(kind, np.integer):
            self.capture.ask(exact_question(self.data), self)
            return np.asarray(self.data, dtype)
        answer = answer_to_scipy("array", self)
        if answer is not OWN:
            return answer
        frame = sys._getframe(1)
        if is_list(self.data) and not is_at(frame, "x[x]", "x[x] = x"):
            self.capture.ask(listed, self)
            return np.array(self.data, dtype)
        if is_at(frame, "x[x]"):
            raise self.capture.refusal(
                f"a plain array is indexed with one that depends on an argument ({caller()}); "
                "pass the array as an argument too, or write "
                "np.take_along_axis(array, index, axis)",
                in_copies=True,
            )
        raise self.capture.refusal(
            traced_in_a_library(AS_ARRAYS)
            or "turning an argument of a compiled function, or what was computed from one, into a "
            f"plain ndarray ({caller()}) would freeze its value; leave np.asarray out, write "
            "np.stack([...]) in place of np.array([...]), and fill an array made by "
            "np.zeros_like(x)",
            in_copies=True,
        )

    def __reduce__(self) -> NoReturn:
        raise CaptureError("what is being captured cannot be pickled; return it instead")

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if not all(issubclass(kind, Tracer) or defers_functions(kind) for kind in types):
            return NotImplemented  # which a handle answers
        return self.capture.call(function, args, kwargs)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        for x in (*inputs, *kwargs["out"]) if kwargs.get("out") else inputs:
            if not isinstance(x, Tracer) and not defers_ufuncs(x.__class__):
                return NotImplemented  # which a handle answers
        if method == "at":
            raise self.capture.refusal(
                f"np.{ufunc.__name__}.at ({caller()}) writes to its first argument, which a "
                "compiled function cannot replay; write x[i] += v where no index occurs twice, or "
                "np.bincount"
            )
        function = ufunc if method == "__call__" else getattr(ufunc, method)
        return self.capture.call(function, inputs, kwargs)


TELLING_APART = ("tape_ad.", "scipy.sparse.")
"""The modules for which a captured array is none: SciPy's leave ``A @ x`` to what is no array."""

FEW = 64
"""How many whole numbers may be a list: of axes, bounds or counts."""


def is_list(data: Any) -> bool:
    """Tell whether an array is of a few whole numbers, which may decide about shapes."""
    return isinstance(data, np.ndarray) and data.dtype.kind in "iub" and data.size <= FEW


def listed(array: Any) -> tuple[Any, ...]:
    """Give the elements of an array."""
    return tuple(array.ravel().tolist())


def repr_of(number: Any) -> str:
    """Write a NumPy number with all its digits."""
    return repr(number.item()) if hasattr(number, "item") else repr(number)


@functools.cache
def defers_functions(kind: type) -> bool:
    """Tell whether a type leaves functions to others, as plain arrays and numbers do."""
    own = getattr(kind, "__array_function__", None)
    return own is None or own is np.ndarray.__array_function__


@functools.cache
def defers_ufuncs(kind: type) -> bool:
    """Tell whether a type leaves ufuncs to others, as plain arrays and numbers do."""
    own = getattr(kind, "__array_ufunc__", np.ndarray.__array_ufunc__)
    return own is np.ndarray.__array_ufunc__ or issubclass(kind, np.generic)


@boxes("capture")
@define(eq=False, repr=False)
class TracedScalar(Tracer, Shifts, ArrayOperators):
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
        self.capture.ask(exact_question(self.data), self)
        return hash(self.data)

    def __eq__(self, other: object) -> Any:
        if has_ended(self) or has_ended(other):
            return self is other  # what a cache has kept for it is of the other capture as well
        return super().__eq__(other)

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

    def __getattr__(self, name: str) -> Any:
        """Give another method of Python's numbers, which is told what the number is."""
        found = getattr(self.data, name)
        self.capture.ask(exact_question(self.data), self)
        return found

    def item(self) -> Self:
        """Give the number itself, as the method of an array would."""
        return self

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __pow__(self, other: Any, modulus: Any = None) -> Any:
        if modulus is None:
            return self._two(np.power, self, other)
        return self.capture.call(pow, (self, other, modulus), {})

    def __floor__(self) -> int:
        return math.floor(float(self))

    def __ceil__(self) -> int:
        return math.ceil(float(self))


def has_ended(number: Any) -> bool:
    """Tell whether something is a number that a cache has kept from an earlier capture."""
    known = type(number) is TracedScalar or type(number) is TracedArray
    return known and number.capture.ended and not isinstance(number.data, np.ndarray)


def real_of(number: complex) -> float:
    """Give the real part of a Python number."""
    return number.real


def imaginary_of(number: complex) -> float:
    """Give the imaginary part of a Python number."""
    return number.imag


def conjugate_of(number: complex) -> complex:
    """Give the conjugate of a Python number."""
    return number.conjugate()


def is_python(x: Any) -> bool:
    """Tell whether an operand is a Python number, captured or not."""
    return type(x) is TracedScalar or type(x) in NUMBERS


def as_python(function: Function) -> Function:
    """Give what Python does of its own numbers in place of a ufunc."""
    return PYTHON_OPERATORS.get(function, function)


@boxes("capture")
@define(eq=False, repr=False, weakref_slot=True)
class TracedArray(Tracer, ArrayInterface, BitsInPlace):
    """An array of a function that is being captured.

    It is a box: assigning to it changes which value it stands for, and what it shows.

    Attributes
    ----------
    data, value, capture
        As `Tracer` has them.
    memory : Memory or None
        What else shows the memory of the array; None before there is a view.
    chosen_by : tuple of captured integers
        For a view, what says which part of the memory it shows.
    """

    data: Any
    value: Value
    capture: Any
    memory: Any = None
    chosen_by: tuple[Any, ...] = field(default=(), init=False)

    @property  # type: ignore[misc]  # isinstance looks at it after the type
    def __class__(self) -> type:
        """The type of the array, for users' ``isinstance``; some modules tell the two apart."""
        apart = str(sys._getframe(1).f_globals.get("__name__")).startswith(TELLING_APART)
        return type(self) if apart else self.data.__class__

    @property
    def index(self) -> int:  # type: ignore[override]  # which is worked out where it is asked for
        """The number of the step that made it, for a listing."""
        values, number = [*self.capture.inputs], self.value.number
        if number is not None:
            return len(values) + number if number >= 0 else values.index(self.value)
        for step in self.capture.steps:
            values += step.outputs
        return values.index(self.value) if self.value in values else -1

    @property
    def strides(self) -> tuple[int, ...]:
        """The bytes from one element to the next on each axis."""
        return tuple(self.data.strides)

    @property
    def flags(self) -> Any:
        """How the array lies in memory."""
        return self.data.flags

    def snapshot(self) -> "TracedArray":
        """Give a box of the same value, which nobody assigns to."""
        return TracedArray(self.data.copy(), self.value, self.capture)

    def __array_namespace__(self, /, *, api_version: str | None = None) -> Any:
        return self.data.__array_namespace__(api_version=api_version)

    def _guard_window(self) -> None:
        """Rely on which part of the memory a view shows, as a window does that is noted."""
        for number in self.chosen_by:
            self.capture.ask(exact_question(number.data), number)

    def __repr__(self) -> str:
        answer: str = self.capture.ask(repr, self)
        return answer

    def __hash__(self) -> int:  # type: ignore[override]  # of NumPy's numbers there is one
        if isinstance(self.data, np.generic):
            self.capture.ask(exact_question(self.data), self)
        return hash(self.data)

    def __eq__(self, other: object) -> Any:
        if has_ended(self) or has_ended(other):
            return self is other
        return super().__eq__(other)

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

    def tobytes(self, order: Any = "C") -> bytes:
        """Give the numbers of one that picks elements, which are guarded then; refuse others."""
        if self.data.dtype.kind not in "iub":
            raise uncaptured("tobytes")
        self.capture.ask(contents, self)
        return bytes(self.data.tobytes(order))

    def __pow__(self, other: Any) -> Any:
        return by_operator(operator.pow, self, other)

    def __rpow__(self, other: Any) -> Any:
        return by_operator(operator.pow, other, self)

    def astype(
        self, dtype: Any, order: str = "K", casting: Any = "unsafe", *more: Any, **options: Any
    ) -> Any:
        """Cast; see `ndarray.astype`."""
        options |= zip(("subok", "copy"), more, strict=False)
        if order != "K":
            options["order"] = order
        if casting != "unsafe":
            options["casting"] = casting
        return self.capture.call(cast, (self, np.dtype(dtype)), options)

    def fill(self, value: Any) -> None:
        """Assign a number to all elements."""
        self[...] = value

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if not kwargs and method == "__call__" and TAKEN_AT_ONCE.issuperset(map(type, inputs)):
            return self.capture.call(ufunc, inputs, kwargs)  # as most are
        if method == "__call__" and issubclass(type(inputs[0]), np.complexfloating) and not kwargs:
            of_numbers = len(inputs) == 2 and is_complex_number(inputs[1])
            if of_numbers and is_at(sys._getframe(1), *OPERATOR_LINES):
                return by_operator(as_python(ufunc), *inputs)
        return Tracer.__array_ufunc__(self, ufunc, method, *inputs, **kwargs)

    # From two parents; Tracer's is meant

    __bool__ = Tracer.__bool__
    __int__ = Tracer.__int__
    __float__ = Tracer.__float__
    __complex__ = Tracer.__complex__
    __format__ = Tracer.__format__
    __round__ = Tracer.__round__


def by_operator(function: Function, x: Any, y: Any) -> Any:
    """Note one of Python's operators on arrays, where NumPy's own has quicker ways than a ufunc."""
    for each in (x, y):
        if not isinstance(each, Tracer) and not defers_ufuncs(each.__class__):
            return NotImplemented
    tracer = x if isinstance(x, Tracer) else y
    return tracer.capture.call(function, (x, y), {})


UNQUESTIONED = frozenset({np.ndarray, np.float64, np.float32, float, int})
"""The types of arrays and numbers beside captured ones of which there is nothing to ask."""
TAKEN_AT_ONCE = UNQUESTIONED | {TracedArray, TracedScalar}

COMPLEX = (np.complexfloating, complex)
"""The numbers for which Python's operators round in another way than ufuncs."""


def is_complex_number(x: Any) -> bool:
    """Tell whether something is such a number, captured or not."""
    return isinstance(concrete(x), COMPLEX)


TRACERS.update((TracedArray, TracedScalar))


def is_tracer(x: Any) -> bool:
    """Tell whether something is captured; `isinstance` would ask a number for its class."""
    kind = type(x)
    return kind is TracedArray or kind is TracedScalar


def as_index(entry: Any) -> Any:
    """Take the bound of a slice to an integer: the shape of the result depends on it."""
    return entry.__index__() if is_tracer(entry) else entry


def concrete(leaf: Any, path: str = "") -> Any:
    """Give the array or number behind what was captured."""
    return leaf.data if is_tracer(leaf) else leaf


def with_plain_keys(tree: Any) -> Any:
    """Give a structure in whose dicts no key is captured; as keys, they are guarded."""
    structure = structure_of(tree.__class__)
    if structure is None:
        return tree
    values = [with_plain_keys(value) for value in structure.values(tree)]
    if isinstance(tree, Mapping) and any(map(holds_key, tree)):
        keys = [map_leaves(concrete, key) for key in tree]
        return dict(zip(keys, values, strict=True))
    return structure.rebuilt(tree, values)


def holds_key(key: Any) -> bool:
    """Tell whether a key of a mapping is captured, or has something captured in it."""
    return type(key) is not str and any(map(is_tracer, flatten(key)))


def of_scalar(name: str) -> property:
    """Make an attribute that NumPy's numbers have and arrays do not, and that tells their value."""

    def found(self: TracedArray) -> Any:
        attribute = getattr(self.data, name)
        self.capture.ask(exact_question(self.data), self)
        return attribute

    return property(found)


class Uncaptured:
    """An attribute of arrays that cannot be captured; asking for it says so.

    Copies of code that `tape_ad.differentiable` makes have those that assignments can do for.
    """

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, array: Any, owner: type) -> Any:
        if self.name in BY_ASSIGNMENT and is_copied(sys._getframe(1)):
            return IN_COPIES[self.name](array)
        raise uncaptured(self.name)


BY_ASSIGNMENT = frozenset({"fill", "flat", "partition", "put", "setflags", "sort", "view"})
"""The attributes whose meaning in copies is calls and assignments, which are captured."""


def uncaptured(name: str) -> AttributeError:
    """Make the error for an attribute of arrays that cannot be captured."""
    write = INSTEAD.get(name, "pass what it gives as an argument")
    return AttributeError(
        f"a compiled function cannot use the ndarray attribute .{name} ({caller()}), which no "
        f"replay can follow; {write}"
    )


INSTEAD = {
    "flat": "write x.ravel() to read, and x[...] = value to write",
    "view": "write x.astype(dtype), or x[...]",
    "sort": "write x[...] = np.sort(x)",
    "partition": "write x[...] = np.partition(x, kth)",
    "resize": "write np.resize(x, shape)",
    "put": "write x[...] = value",
}

for _name, _found in vars(ArrayInterface).items():
    if isinstance(_found, Absent) and _name not in vars(TracedArray):
        setattr(TracedArray, _name, Uncaptured(_name))

for _name in {*dir(np.float64), *dir(np.int64)} - {*dir(np.ndarray)}:
    if not _name.startswith("__"):
        setattr(TracedArray, _name, of_scalar(_name))


def holds_tracer(leaf: Any) -> bool:
    """Tell whether a leaf is captured, or a slice up to what is."""
    if type(leaf) is slice:
        return any(map(is_tracer, (leaf.start, leaf.stop, leaf.step)))
    return is_tracer(leaf)


def is_index(tracer: Any) -> bool:
    """Tell whether something captured is a number, as one that an array is indexed with."""
    return type(tracer) is TracedScalar or tracer.data.ndim == 0


def is_of_memory(out: Any, operand: Any) -> bool:
    """Tell whether a result shows the memory of an operand."""
    if out is operand:
        return True
    operand = flags_of(operand)
    if type(operand) is not np.ndarray:
        return False
    base = out.base
    if type(base) is np.ndarray and (base is operand or base is operand.base):
        return True
    return out.size > 0 and np.may_share_memory(out, operand)
