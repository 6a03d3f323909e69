"""Copies of classes: each derives from its original, and has copies of the methods."""

import abc
import contextlib
import copy
import copyreg
import enum
import functools
import sys
import types
import weakref
from typing import Any, Protocol

import numpy as np

from tape_ad.base.arrays.adapters import adapter
from tape_ad.base.errors import NoRuleError
from tape_ad.record.messages.callers import is_copied
from tape_ad.record.operands import REFLECTING
from tape_ad.record.primals import primal
from tape_ad.transforms.differentiable import copying
from tape_ad.transforms.differentiable.compiled import giving_plain_results, plain_call
from tape_ad.transforms.differentiable.kinds import KNOWN, real, type_of
from tape_ad.transforms.differentiable.reach import reaches
from tape_ad.transforms.differentiable.settling import note_shared
from tape_ad.transforms.differentiable.table import ABSENT, ORIGINALS, WeakIdentities, original_of
from tape_ad.transforms.differentiable.watching import CLASSES, PLAIN

__all__: list[str] = []

HEAP_TYPE = 1 << 9

LEFT = frozenset({"__dict__", "__weakref__", "__slots__", "__init_subclass__", "__class_getitem__"})
"""What a copy of a class inherits in any case."""


class Plain:
    """What a copy is made from first where the bases would note that they have a subclass."""


class Silent:
    """What comes first among the bases of a copy with slots while it is made, and tells nobody."""

    __slots__ = ()

    def __init_subclass__(cls, **options: Any) -> None:
        pass


def is_noted(kind: type) -> bool:
    """Tell whether a class, or one that it derives from, is told of its subclasses."""
    told = (
        owner
        for owner in kind.__mro__
        if "__init_subclass__" in vars(owner) and owner.__module__ not in ("builtins", "typing")
    )
    return next(told, None) is not None


def is_copied_class(kind: type) -> bool:
    """Tell whether a class is copied: one of Python code, in a package whose functions are."""
    if not kind.__flags__ & HEAP_TYPE or not copying.is_copied_module(kind.__module__):
        return False
    if issubclass(kind, (BaseException, enum.Enum, np.ndarray, np.generic, type)):
        return False
    if issubclass(kind, tuple) and not computes(kind):
        return False
    if getattr(kind, "_is_protocol", False) or kind in ORIGINALS:
        return False
    if type(type(kind)).__module__ != "builtins" or type(kind).__name__.startswith("pybind11"):
        return False  # of a metaclass in C
    own = (is_code(value) for name, value in vars(kind).items() if name not in LEFT)
    return any(own) or any(map(is_copied_class, kind.__bases__))


def is_code(value: Any) -> bool:
    """Tell whether an attribute of a class is a function, or an object that stands for one."""
    if isinstance(value, FUNCTIONS):
        return True
    kind: Any = type(value)
    decorates = type(getattr(kind, "__get__", None)) is types.FunctionType
    return decorates and copying.is_copied_module(kind.__module__)


def computes(kind: type) -> bool:
    """Tell whether a class of tuples has methods besides those that are made for named tuples."""
    return any(
        type(each) is types.FunctionType
        and not each.__code__.co_filename.startswith("<string")
        and copying.is_copied_module(copying.module_of(each))
        for name, each in vars(kind).items()
        if name[:2] != "__"
    )


FUNCTIONS = (
    *(types.FunctionType, staticmethod, classmethod, property, functools.cached_property),
    *(functools.singledispatchmethod, functools.partialmethod),
)


def copied_class(kind: type) -> Any:
    """Copy a class, or give it as it is where none of it is code that is copied."""
    if issubclass(kind, np.ndarray) and kind is not np.ndarray and is_users(kind):
        return copying.memoized(kind, of_plain_arrays)
    if not is_copied_class(kind):
        return kind
    with copying.LOCK:
        found = copying.COPIES.get(kind)
        return make_class(kind) if found is None else found


def is_users(kind: type) -> bool:
    """Tell whether a class is one of a package that is copied, and no copy itself."""
    return copying.is_copied_module(kind.__module__) and kind not in ORIGINALS


def of_plain_arrays(kind: type) -> Any:
    """Derive from a subclass of ndarray one that refuses handles, which it could not hold."""

    def new(cls: type, *args: Any, **kwargs: Any) -> Any:
        given, named = plain_call(args, kwargs)
        if reaches((given, named)):
            raise NoRuleError(
                f"{kind.__module__}.{kind.__qualname__} is a subclass of numpy.ndarray, whose "
                "memory holds plain numbers, so the gradient would be lost; use functions of plain "
                "arrays in its place, or pass t.data if no gradient is meant to flow"
            )
        return kind(*given, **named) if cls is made else kind.__new__(cls, *given, **named)

    body = {"__new__": new, "__module__": kind.__module__, "__qualname__": kind.__qualname__}
    made: Any = type(kind)(kind.__name__, (kind,), body)
    ORIGINALS[made] = kind
    KNOWN[kind] = made
    return made


def make_class(kind: type) -> Any:
    """Make the copy of a class: the original comes first among its bases, then their copies."""
    bases = [kind]
    for base in kind.__bases__:
        copy = copied_class(base)
        if copy is not base:
            bases.append(copy)
    meta: Any = type(kind)
    maker: Any = abc.ABCMeta if issubclass(meta, abc.ABCMeta) else type
    meta = equal_to_originals(meta)
    body: dict[str, Any] = {"__slots__": (), "__module__": kind.__module__}
    body |= {"__qualname__": kind.__qualname__, "__doc__": kind.__doc__}
    for name, value in vars(kind).items():
        if hasattr(getattr(meta, name, None), "__set__"):  # which could not be assigned later
            body.setdefault(name, attribute(name, value))
    made = class_of(maker, meta, kind, tuple(bases), body)
    if made is None:
        return kind
    copying.COPIES[kind] = made
    ORIGINALS[made] = kind
    KNOWN[kind] = made
    for name, value in vars(kind).items():
        if name not in LEFT and name not in body:
            put(made, name, value)
    if not kind.__module__.startswith("scipy."):
        CLASSES[made] = dict(vars(kind))
    note_operators(made)
    if getattr(kind, "__abstractmethods__", None):
        made.__abstractmethods__ = kind.__abstractmethods__  # type: ignore[attr-defined]  # ABCMeta's
    return made


def put(made: type, name: str, value: Any) -> None:
    """Give the copy of a class its own of an attribute of the original, if it needs one."""
    kind = original_of(made)
    own = attribute(name, value)
    if own is not value and type(value) in (list, dict):
        own = Live(kind, name)
    if name == "__array__" and own is not value:
        own = giving_an_array(own)
    if name in COMPARISONS and type(own) is types.FunctionType:
        own = comparing(own, kind)
    if own is not value or name in ("__hash__", "__eq__"):
        type.__setattr__(made, name, own)
    elif name in vars(made):
        type.__delattr__(made, name)


def put_anew(made: type, seen: dict[str, Any]) -> None:
    """Give the copy of a class what was assigned to the original since it was looked at."""
    now = dict(vars(original_of(made)))
    for name in {**now, **seen}:
        value = now.get(name, ABSENT)
        if value is seen.get(name, ABSENT) or name in LEFT:
            continue
        if hasattr(getattr(type(made), name, None), "__set__"):
            continue
        if value is not ABSENT:
            put(made, name, value)
        elif name in vars(made):
            type.__delattr__(made, name)
    seen.clear()
    seen.update(now)
    note_operators(made)


copying.PUT_ANEW.append(put_anew)


def note_operators(made: type) -> None:
    """Let handles leave sums and products with objects of a copied class to its code."""
    if "__radd__" in vars(made):
        REFLECTING.add(made)


@functools.cache
def equal_to_originals(meta: Any) -> Any:
    """Derive a metaclass whose classes are equal to what they are copies of, as keys of tables.

    They have the same instances, for code that is not copied asks for them too.
    """

    def equal(cls: Any, other: Any) -> Any:
        return original_of(cls) is original_of(other) or NotImplemented

    def has_instance(cls: Any, value: Any) -> Any:
        original = original_of(cls)
        if original is cls:  # a class that a user derives
            return meta.__instancecheck__(cls, value)
        return isinstance(value, original)

    def making(cls: Any, *args: Any, **kwargs: Any) -> Any:
        if not is_copied(sys._getframe(1)):  # of the user, who may have objects of the originals
            copying.bring_up_to_date()
            args = tuple(map(copying.converted, args))
            kwargs = {name: copying.converted(value) for name, value in kwargs.items()}
        return meta.__call__(cls, *args, **kwargs)

    body: dict[str, Any] = {
        "__call__": making,
        "__instancecheck__": has_instance,
        "__eq__": equal,
        "__hash__": lambda cls: type.__hash__(original_of(cls)),
    }
    if not hasattr(meta, "__getitem__"):
        body["__getitem__"] = parametrized
    bases = [equal_to_originals(base) for base in meta.__bases__ if issubclass(base, type)]
    body |= {"__module__": meta.__module__, "__qualname__": meta.__qualname__}
    derived = type(meta)(meta.__name__, (meta, *bases), body)
    copyreg.pickle(derived, reduced)
    return derived


def parametrized(kind: Any, key: Any) -> Any:
    """Give ``kind[key]`` of a copy; those of originals are kept, and are equal to it."""
    if not hasattr(kind, "__class_getitem__"):
        raise TypeError(f"type '{kind.__name__}' is not subscriptable")
    found = kind.__class_getitem__(key)
    if original_of(kind) is kind or getattr(found, "__origin__", kind) is kind:
        return found
    own = copy.copy(found)
    object.__setattr__(own, "__origin__", kind)
    return own


def reduced(kind: type) -> Any:
    """Say how a copied class is pickled: by its original; one that a user derives, by its name."""
    original = original_of(kind)
    return kind.__qualname__ if original is kind else (copied_class, (original,))


def class_of(maker: Any, meta: Any, kind: type, bases: tuple[type, ...], body: Any) -> Any:
    """Make a class, of which no base is told that it has a subclass; None if that cannot be."""
    if not is_noted(kind):
        return maker.__new__(meta, kind.__name__, bases, body)
    for first in ((Plain,), (Silent, *bases)):
        try:
            made: Any = maker.__new__(meta, kind.__name__, first, dict(body))
            made.__bases__ = bases
        except TypeError:  # of another layout, as it has slots
            continue
        return made
    return None


COMPARISONS = frozenset({"__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"})
"""Methods that may ask whether both objects are of one class, as those of dataclasses do."""


def giving_an_array(method: Any) -> Any:
    """Let ``__array__``, which C code calls, give a plain array, or say that it cannot."""
    plain = giving_plain_results(method)

    @functools.wraps(method)
    def array(*args: Any, **kwargs: Any) -> Any:
        return np.asarray(plain(*args, **kwargs))

    return array


def comparing(method: Any, original: type) -> Any:
    """Let a comparison see an object of the original class as one of the copy."""

    @functools.wraps(method)
    def compare(self: Any, other: Any) -> Any:
        return method(self, copying.converted(other) if isinstance(other, original) else other)

    return compare


class Live:
    """A list or dict of a class, converted when it is asked for, as it may have changed."""

    def __init__(self, original: type, name: str) -> None:
        self.original, self.name = original, name

    def __get__(self, instance: Any, owner: type) -> Any:
        return copying.contained(vars(self.original)[self.name])


def attribute(name: str, value: Any) -> Any:  # noqa: PLR0911 - one for each kind
    """Convert an attribute of a class: functions in whatever they are wrapped in."""
    kind = type(value)
    if kind in (staticmethod, classmethod):
        inner = copying.converted(value.__func__)
        return value if inner is value.__func__ else kind(inner)
    if kind is property:
        parts = (value.fget, value.fset, value.fdel)
        own = [None if each is None else copying.converted(each) for each in parts]
        return value if tuple(own) == parts else property(own[0], own[1], own[2], value.__doc__)
    if kind is functools.cached_property:
        inner = copying.converted(value.func)
        if inner is value.func:
            return value
        copy = functools.cached_property(inner)
        copy.__set_name__(None, name)  # type: ignore[arg-type]  # the owner is not looked at
        return copy
    if kind is functools.singledispatchmethod:
        return dispatching_method(value)
    if kind is functools.partialmethod:
        inner = copying.converted(value.func)
        return functools.partialmethod(inner, *value.args, **value.keywords)
    if kind is types.MemberDescriptorType or kind is types.GetSetDescriptorType:
        return value
    function: Any = getattr(value, "fget", None)
    if isinstance(value, property) and function is not None:  # a subclass of property
        return value
    return copying.contained(value)


def dispatching_method(method: Any) -> Any:
    """Dispatch, as `functools.singledispatchmethod` does, by the type that a handle stands for."""

    @functools.wraps(method.func)
    def dispatching(self: Any, *args: Any, **kwargs: Any) -> Any:
        kind = original_of(type_of(args[0]))
        found = attribute("", method.dispatcher.dispatch(real(kind)))
        return found.__get__(self, type(self))(*args, **kwargs)

    dispatching.register = method.register  # type: ignore[attr-defined]  # as the original has it
    return dispatching


def copied_object(value: Any) -> Any:  # noqa: PLR0911 - one for each kind
    """Give an object of a class that is copied as one of the copy, with the same attributes.

    A function that `numba.jit` has compiled is the copy of the one that it was made of.
    """
    kind = type(value)
    inner = getattr(value, "__dict__", {}).get("py_func")
    if type(inner) is types.FunctionType and callable(value):
        return copying.converted(inner)
    if kind.__module__ == "attr.validators" or kind.__name__ == "_AndValidator":
        return lambda instance, attribute, given: value(instance, attribute, primal(given))
    if kind.__flags__ & (1 << 9) == 0 or not isinstance(getattr(value, "__dict__", None), dict):
        return value
    if not kind.__dictoffset__ or not made_by_object(kind):
        return value
    if not has_methods(kind):
        return value
    if kind.__module__.startswith("scipy."):
        found = adapter("scipy").like_object(value)
        if found is not None:
            return found
    owner = copied_class(kind)
    if owner is kind or copying.is_copy(kind):
        return value
    note_shared(value.__dict__)
    with copying.LOCK:
        found = TWINS.get(value, no_twin)()
        if found is None:
            found = twin(value, owner)
            with contextlib.suppress(TypeError):  # of what cannot be weakly referred to
                TWINS[value] = weakref.ref(found)
                ORIGINALS[found] = value
    return found


TWINS = WeakIdentities()
"""References to the copies of objects. Objects that are equal may hold other numbers."""


def no_twin() -> None:
    """Stand for the reference to a copy that is not there."""


def has_methods(kind: type) -> bool:
    """Tell whether a class has methods to be called, and so is no mere mark."""
    return any(
        type(each) in METHODS and (name[:2] != "__" or name in CALLED)
        for owner in kind.__mro__
        for name, each in vars(owner).items()
    )


CALLED = frozenset({"__call__", "__get__", "__set__", "__getitem__", "__enter__", "__iter__"})
"""The methods by which objects without another compute something for others."""


def is_compared(kind: Any) -> bool:
    """Tell whether objects of a class are keys, or are compared with others, as units are.

    What they are compared with may be objects of the original class.
    """
    return bool(kind.__flags__ & HEAP_TYPE) and kind.__hash__ not in (object.__hash__, None)


METHODS = (types.FunctionType, staticmethod, classmethod, property)
"""The types of what makes a class one that computes."""


def made_by_object(kind: type) -> bool:
    """Tell whether objects of a class are all in their attributes, and not arrays or numbers."""
    return all(owner.__flags__ & (1 << 9) for owner in kind.__mro__[:-1])


def twin(value: Any, owner: type) -> Any:
    """Make an object of another class with the very attributes of this one."""
    with copying.LOCK:
        kind = owner if is_compared(owner) else VIEWING.get(owner, None)
        if kind is None:
            kind = VIEWING[owner] = viewing(owner)
    copy: Any = object.__new__(kind)
    object.__setattr__(copy, "__dict__", value.__dict__)
    return copy


VIEWING = WeakIdentities()
"""What derives from copied classes for objects that were made by the originals."""


def viewing(owner: Any) -> Any:
    """Derive from a copied class one whose objects give what others have put into them as copies.

    An object of the original class may hold functions, and objects of other original classes.
    """
    get = owner.__getattribute__

    def attribute(self: Any, name: str) -> Any:
        value = get(self, name)
        if type(value) in PLAIN or type(value) is np.ndarray:
            return value
        own = object.__getattribute__(self, "__dict__")
        if name not in own:
            return value
        if type(value) is types.MethodType and getattr(value.__self__, "__dict__", None) is own:
            return types.MethodType(copying.converted(value.__func__), self)  # a method of its own
        return copying.converted(value)

    body = {"__getattribute__": attribute, "__class__": property(lambda _: owner), "__slots__": ()}
    body |= {"__module__": owner.__module__, "__qualname__": owner.__qualname__}
    maker: Any = abc.ABCMeta if isinstance(owner, abc.ABCMeta) else type
    kind: Any = class_of(maker, type(owner), owner, (owner,), body) or owner
    if kind is not owner:
        ORIGINALS[kind], KNOWN[kind] = original_of(owner), owner
    return kind


copying.MAKERS[object] = copied_object
copying.MAKERS[type] = copied_class
copying.MAKERS[abc.ABCMeta] = copied_class
copying.MAKERS[type(Protocol)] = copied_class
