"""The types that a handle stands for: `isinstance`, `type`, `float` and others in copies."""

import copyreg
import functools
import operator
import sys
import types
from collections.abc import Mapping
from typing import Any

import numpy as np

from tape_ad.base.arrays.overridable import TRACERS
from tape_ad.base.errors import ConversionError, NoRuleError
from tape_ad.record.array_operators import ArrayOperators
from tape_ad.record.constants import CONSTANTS
from tape_ad.record.messages.callers import caller
from tape_ad.record.primals import is_number, primal
from tape_ad.transforms.differentiable.questions import beside_type
from tape_ad.transforms.differentiable.reach import is_active
from tape_ad.transforms.differentiable.table import (
    ABSENT,
    BUILTINS,
    ORIGINALS,
    copy_of,
    note_stand_in,
    original_of,
    stands_in_for,
)

__all__ = ["KNOWN", "Standing", "as_number", "real", "type_of"]


def is_array_like(value: Any) -> bool:
    """Tell whether something is a handle or a constant."""
    return is_active(value) or type(value) in CONSTANTS


def is_pythons(handle: Any) -> bool:
    """Tell whether something is one of Python's numbers, captured."""
    return type(handle) in TRACERS and not hasattr(type(handle), "shape")


def as_pythons(number: Any) -> Any:
    """Give a captured number as one of Python's; anything else as it is."""
    return number.item() if type(number) in TRACERS else number


def model_of(handle: Any) -> Any:
    """Give an array or a number of the kind that a handle stands for."""
    if is_pythons(handle):
        return handle.__class__(0)
    if isinstance(handle, ArrayOperators) and is_number(handle):
        dtype: np.dtype[Any] = getattr(handle, "dtype")  # noqa: B009 - operators alone declare none
        return dtype.type(0)
    return AN_ARRAY


AN_ARRAY = np.zeros(())


def real(kinds: Any) -> Any:
    """Give the original classes in place of copies and stand-ins."""
    if isinstance(kinds, tuple):
        return tuple(map(real, kinds))
    if isinstance(kinds, types.UnionType):
        return functools.reduce(lambda a, b: a | b, map(real, kinds.__args__))
    return original_of(kinds)


@stands_in_for(isinstance)
def isinstance_(value: Any, kinds: Any) -> bool:
    """Stand in for `isinstance`, of a handle for the array or number that it stands for."""
    if is_array_like(value):
        return isinstance(model_of(value), real(kinds))
    if isinstance(value, real(kinds)) or isinstance(original_of(value), real(kinds)):
        return True
    several = kinds if isinstance(kinds, tuple) else (kinds,)
    return any(type(value) is each for each in several)


@stands_in_for(issubclass)
def issubclass_(kind: Any, kinds: Any) -> bool:
    """Stand in for `issubclass`, with the original classes."""
    return issubclass(real(kind), real(kinds))


@stands_in_for(hasattr)
def hasattr_(value: Any, name: str) -> bool:
    """Stand in for `hasattr`, of a handle for the array or number that it stands for."""
    return hasattr(model_of(value) if is_array_like(value) else value, name)


@stands_in_for(getattr)
def getattr_(value: Any, name: str, *default: Any) -> Any:
    """Stand in for `getattr`, which gives the default for what handles alone have."""
    if default and is_array_like(value) and not hasattr_(value, name):
        return default[0]
    return getattr(value, name, *default)


def type_of(value: Any) -> Any:
    """Give the type of what a handle stands for, under the name that it has in copies."""
    kind = type(model_of(value)) if is_array_like(value) else type(value)
    found = KNOWN.get(kind)
    if found is not None:
        return found
    if str(kind.__module__).startswith("tape_ad."):  # a counterpart of ours
        return kind
    original = original_of(kind)
    found = copy_of(original)
    return original if found is ABSENT else found


KNOWN: dict[type, type] = {}
"""The classes that have a stand-in, and that."""


class Standing(type):
    """The type of classes that stand for others: equal to them, and with the same instances."""

    original: type

    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance_(value, cls.original)

    def __subclasscheck__(cls, kind: type) -> bool:
        return issubclass(real(kind), cls.original)

    def __eq__(cls, other: object) -> bool:
        return True if other is cls or other is cls.original else NotImplemented

    def __hash__(cls) -> int:
        return hash(cls.original)

    def __repr__(cls) -> str:
        return repr(cls.original)


def standing(original: type, **body: Any) -> Any:
    """Make a class that stands for another."""
    body |= {"__module__": original.__module__, "__qualname__": original.__qualname__}
    stand_in = Standing(original.__name__, (original,), body)
    stand_in.original = original
    ORIGINALS[stand_in], KNOWN[original] = original, stand_in
    note_stand_in(original, stand_in)
    return stand_in


OPERATORS = tuple(f"__{name}__" for name in ("add", "sub", "mul", "truediv", "pow", "neg", "abs"))
"""Methods that code calls by the names of classes: ``float.__mul__(x, y)``."""


def by_operator(original: type, name: str) -> Any:
    """Make a method of a stand-in, which of a handle is the operator."""
    method, operation = getattr(original, name), getattr(operator, name)

    @stands_in_for(method)
    def calling(*operands: Any) -> Any:
        return (operation if any(map(is_array_like, operands)) else method)(*operands)

    return calling


def number_of(value: Any, kind: type) -> Any:
    """Give what an object of Python's says it is as a number, which may be a handle."""
    name = "__complex__" if issubclass(kind, (complex, np.complexfloating)) else "__float__"
    method: Any = getattr(type(value), name, None)
    is_code = type(method) is types.FunctionType and not is_array_like(value)
    return method(value) if is_code else value


def standing_for(original: type, make: Any) -> None:
    """Let a class stand for a type of numbers, which gives handles when it is called with them."""

    def new(cls: type, *args: Any, **kwargs: Any) -> Any:
        args = tuple(number_of(each, original) for each in args)
        if args and is_array_like(args[0]):
            return make(args[0])
        if args and isinstance(args[0], str) and args[0].startswith("Tensor("):
            raise ConversionError(
                f"{original.__name__} of a text made of a handle ({caller()}) has no gradient; "
                "calculate with the handle, or make the text of t.data"
            )
        if cls is not stand_in:
            return original.__new__(cls, *args, **kwargs)
        return original(*args, **kwargs)

    body: dict[str, Any] = {"__slots__": (), "__doc__": original.__doc__}
    if not issubclass(original, np.generic):
        body["dtype"] = np.dtype(original)
        body |= {name: by_operator(original, name) for name in OPERATORS}
    stand_in = standing(original, __new__=new, **body)


def as_number(handle: Any, dtype: Any = None) -> Any:
    """Give a handle of one element as a number, of another dtype if that is said.

    Raises
    ------
    TypeError
        When there are several elements, or complex ones where real ones are asked for.
    """
    if is_pythons(handle):
        handle = np.positive(handle)
    if handle.size != 1:
        raise TypeError("only 0-dimensional arrays can be converted to Python scalars")
    if type(handle) in CONSTANTS:
        return np.dtype(dtype or handle.dtype).type(handle.data.item())
    if handle.ndim:
        handle = handle.reshape(-1)[0]
    elif not is_number(handle):
        handle = handle[()]
    if dtype is None or handle.dtype == dtype:
        return handle
    if handle.dtype.kind == "c" and np.dtype(dtype).kind != "c":
        raise TypeError("float() argument must be a string or a real number, not 'complex'")
    return handle.astype(dtype)


def as_array_of(dtype: Any) -> Any:
    """Make what NumPy's scalar types do with handles: numbers of numbers, arrays of arrays."""

    def convert(handle: Any) -> Any:
        is_one = is_pythons(handle) or handle.ndim == 0
        return as_number(handle, dtype) if is_one else handle.astype(dtype)

    return convert


def as_real(handle: Any) -> Any:
    """Stand in for `float`; of a plain constant or what is captured it gives Python's number."""
    if is_pythons(handle) and handle.__class__ is float:
        return handle
    found = as_number(handle, np.dtype(float))
    return float(found) if isinstance(found, np.generic) else as_pythons(found)


def complex_(*args: Any, **kwargs: Any) -> Any:
    """Stand in for `complex`, of one handle or of two parts."""
    args = tuple(number_of(each, complex) for each in args)
    if not any(map(is_active, (*args, *kwargs.values()))):
        return complex(*args, **kwargs)
    real_part, imaginary = (
        [*args, 0][:2]
        if not kwargs
        else (kwargs.get("real", args[0] if args else 0), kwargs.get("imag", 0))
    )
    if is_active(imaginary):
        return real_part + 1j * imaginary
    return as_number(real_part, np.dtype(complex)) + 1j * imaginary


standing_for(float, as_real)
standing_for(np.float64, as_array_of(np.dtype(np.float64)))
standing_for(np.float32, as_array_of(np.dtype(np.float32)))
standing_for(np.complex128, as_array_of(np.dtype(np.complex128)))
standing_for(np.complex64, as_array_of(np.dtype(np.complex64)))


class ComplexKind(Standing):
    """The type of what stands for `complex`, which has two arguments."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        return as_pythons(complex_(*args, **kwargs))


standing_for(complex, as_array_of(np.dtype(complex)))
KNOWN[complex].__class__ = ComplexKind


def stand_in_of(original: type) -> Any:
    """Give the class that stands for another; by this it is found again where it was pickled."""
    return KNOWN[original]


def reduced_stand_in(kind: Standing) -> Any:
    """Say how a class that stands for another is pickled."""
    return stand_in_of, (kind.original,)


for _meta in (Standing, ComplexKind):
    copyreg.pickle(_meta, reduced_stand_in)


def tells_apart(frame: types.FrameType) -> bool:
    """Tell whether what code asks of a type sets Python's numbers apart from NumPy's."""
    for expression, words in beside_type(frame.f_code, frame.f_lasti):
        if expression is None:
            if words & {"float", "complex"}:
                return True
            continue
        names: dict[str, Any] = {}
        for space in (frame.f_globals, frame.f_locals):
            names |= {name: space[name] for name in expression.co_names if name in space}
        try:
            value = eval(expression, {"__builtins__": BUILTINS}, names)  # noqa: S307 - of the code itself
            asked = value if isinstance(value, TABLES) else (value,)
            if any(is_set_apart(asked, *pair) for pair in ALIKE):
                return True
        except Exception:  # what the code itself will raise, or code of the object's
            return True
    return False


TABLES = (Mapping, set, frozenset, list, tuple)

ALIKE = (
    *((KNOWN[float], KNOWN[np.float64]), (KNOWN[complex], KNOWN[np.complex128])),
    *(("float", "float64"), ("complex", "complex128")),
)
"""Types that a handle stands for both of, and their names."""


def is_set_apart(asked: Any, one: Any, other: Any) -> bool:
    """Tell whether a table or list has another answer for one thing than for another."""
    if isinstance(asked, Mapping):
        return one in asked and asked[one] is not asked.get(other)
    return one in asked and other not in asked


class TypeKind(type):
    """The type of what stands for `type`: called with one object, it says what that is.

    A metaclass that a copy derives from that is an ordinary one.
    """

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        if cls is not Type:
            return super().__call__(*args, **kwargs)
        if len(args) != 1 or kwargs:
            return type(*args, **kwargs)
        if is_active(args[0]) and getattr(args[0], "ndim", None) == 0:
            frame = sys._getframe(1)
            if tells_apart(frame):
                raise NoRuleError(
                    f"type(x) of a handle ({caller()}) is compared with Python's float or complex, "
                    "or is the key of a table that has another entry for that than for np.float64, "
                    "and a handle stands for the numbers of both; write isinstance"
                )
        return type_of(args[0])

    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, type) if cls is Type else super().__instancecheck__(value)

    def __eq__(cls, other: object) -> bool:
        return True if other is original_of(cls) else super().__eq__(other)

    def __hash__(cls) -> int:
        return type.__hash__(original_of(cls))


class Type(type, metaclass=TypeKind):
    """What stands for `type` in copies."""


Type.__name__ = Type.__qualname__ = "type"
Type.__module__ = "builtins"
ORIGINALS[Type] = type
KNOWN.update(dict.fromkeys((type, Type, TypeKind), Type))
note_stand_in(type, Type)


class SuperKind(type):
    """The type of what stands for `super`."""

    def __call__(cls, *args: Any) -> Any:
        if args:
            return super(original_of(args[0]), *args[1:])
        frame = sys._getframe(1)
        names = frame.f_code.co_varnames or frame.f_code.co_cellvars
        values = frame.f_locals
        return super(values["__class__"], values[names[0]])


class Super(super, metaclass=SuperKind):
    """What stands for `super` in copies: it starts from the original of a copied class.

    So ``super(Name, self)``, in which the name means the copy, goes to the next class and not to
    the original of the same one.
    """


@stands_in_for(round)
def round_(value: Any, ndigits: Any = None) -> Any:
    """Stand in for `round`; an integer is a plain number."""
    if not is_array_like(value):
        return round(value, ndigits) if ndigits is not None else round(value)
    if ndigits is not None and is_active(value):
        raise NoRuleError(
            f"round(x, {ndigits}) is constant between its steps, so the gradient of what it rounds "
            "would end there; write t.data if none is meant to flow"
        )
    number = as_number(value)
    plain = primal(number).item() if is_active(number) else number
    return round(plain) if ndigits is None else round(plain, ndigits)


@stands_in_for(np.issubdtype)
def issubdtype(one: Any, other: Any) -> bool:
    """Stand in for `numpy.issubdtype`."""
    return np.issubdtype(real(one), real(other))


@stands_in_for(np.isscalar)
def isscalar(element: Any) -> bool:
    """Stand in for `numpy.isscalar`; a leaf of no axes stands for a number of the user's."""
    if not is_active(element) or is_pythons(element):
        return np.isscalar(model_of(element) if is_active(element) else element)
    functions = getattr(getattr(element, "record", None), "functions", None)
    is_leaf = functions is not None and functions[element.index] is None
    return element.ndim == 0 if is_leaf else is_number(element)


note_stand_in(super, Super)
