"""Copies of classes: each derives from its original, and has copies of the methods."""

import abc
import builtins
import copyreg
import enum
import functools
import operator
import sys
import types
from contextvars import ContextVar
from typing import Any, Protocol

import numpy as np

from tape_ad.base.errors import NoRuleError
from tape_ad.base.naming import OPERATORS
from tape_ad.record.messages.callers import is_copied
from tape_ad.record.operands import REFLECTING
from tape_ad.transforms.differentiable import copying
from tape_ad.transforms.differentiable.compiled import giving_plain_results, plain_call
from tape_ad.transforms.differentiable.kinds import KNOWN, real, type_of
from tape_ad.transforms.differentiable.questions import asks_of_numbers
from tape_ad.transforms.differentiable.reach import reaches
from tape_ad.transforms.differentiable.settling import CALLS, CONTAINERS, calling, note_attribute
from tape_ad.transforms.differentiable.table import (
    ABSENT,
    ORIGINALS,
    copy_of,
    keep,
    note_source,
    note_stand_in,
    original_of,
    source_of,
)
from tape_ad.transforms.differentiable.watching import CLASSES

__all__: list[str] = []

HEAP_TYPE = 1 << 9

LEFT = frozenset(
    {
        *("__dict__", "__weakref__", "__slots__", "__slotnames__"),
        *("__init_subclass__", "__class_getitem__"),
    }
)
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
    defined_within_one = any(map(is_copied_function, vars(kind).values()))
    return not defined_within_one and (
        any(own) or any(map(is_copied_class, kind.__bases__)) or has_code(type(kind))
    )


def has_code(meta: type) -> bool:
    """Tell whether a metaclass has methods that are copied."""
    left = LEFT | MAKING
    return copying.is_copied_module(meta.__module__) and any(
        is_code(value) for name, value in vars(meta).items() if name not in left
    )


def is_copied_function(value: Any) -> bool:
    """Tell whether something is the copy of a function."""
    return type(value) is types.FunctionType and copying.is_copy(value)


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
    found = copy_of(kind)
    if found is not ABSENT:
        return found
    if issubclass(kind, np.ndarray) and kind is not np.ndarray and is_users(kind):
        return copying.memoized(kind, of_plain_arrays)
    if not is_copied_class(kind):
        refuse_to_ask(kind)
        return kind
    with copying.LOCK:
        found = copy_of(kind)
        return make_class(kind) if found is ABSENT else found


def refuse_to_ask(kind: type) -> None:
    """Refuse an enum or exception with a method that would take a handle for no number.

    Raises
    ------
    NoRuleError
    """
    if not issubclass(kind, (enum.Enum, BaseException)):
        return
    for owner in kind.__mro__:
        if not owner.__flags__ & HEAP_TYPE or not copying.is_copied_module(owner.__module__):
            continue
        for name, value in vars(owner).items():
            inner = value.fget if type(value) is property else getattr(value, "__func__", value)
            if (name[0] == "_" and name not in COMPUTING) or type(inner) is not types.FunctionType:
                continue
            if asks_of_numbers(inner.__code__):
                raise NoRuleError(
                    f"{owner.__module__}.{owner.__qualname__}.{name} asks whether something is an "
                    "array or a number, for which it would not take a handle: enums and exceptions "
                    "are not copied by ta.differentiable; write it as a function of the module"
                )


COMPUTING = frozenset({"__call__", "__getitem__"})
"""The special methods by which objects compute something for others."""


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
        if name not in LEFT and is_of_metaclass(meta, name):  # which could not be assigned later
            body.setdefault(name, attribute(name, value))
    named = {name for owner in kind.__mro__[:-1] for name in vars(owner)}
    if named.isdisjoint(("__reduce_ex__", "__setstate__")):
        body |= {"__reduce_ex__": reduced_object, "__setstate__": set_state}
    made = class_of(maker, meta, kind, tuple(bases), body)
    if made is None:
        return kind
    ORIGINALS[made] = kind
    keep(kind, made)
    for name, value in vars(kind).items():
        if name not in LEFT and name not in body:
            put(made, name, value)
    if not kind.__module__.startswith("scipy."):
        CLASSES[made] = dict(vars(kind))
    note_operators(made)
    if getattr(kind, "__abstractmethods__", None):
        type.__setattr__(made, "__abstractmethods__", kind.__abstractmethods__)  # type: ignore[attr-defined]  # ABCMeta's
    return made


def is_of_metaclass(meta: type, name: str) -> bool:
    """Tell whether what is assigned to an attribute of a class goes to its metaclass."""
    return any(hasattr(vars(owner).get(name), "__set__") for owner in meta.__mro__)


def put(made: type, name: str, value: Any) -> None:
    """Give the copy of a class its own of an attribute of the original, if it needs one."""
    kind = original_of(made)
    own: Any = own_of(kind, name, value)
    if type(own) is property and own is not value:
        own = Live(made, name, value, own).as_property()
    elif name not in FIXED and (
        type(value) in CONTAINERS or (own is not value and isinstance(own, BINDING))
    ):
        own = Live(made, name, value, own)
    if own is not value:
        note_source(value, own)
    if own is not value or name in ("__hash__", "__eq__"):
        type.__setattr__(made, name, own)
    elif name in vars(made):
        type.__delattr__(made, name)


def own_of(kind: type, name: str, value: Any) -> Any:
    """Convert an attribute of a class, with what special methods need beside."""
    own = attribute(name, value)
    if name == "__array__" and own is not value:
        own = giving_an_array(own)
    if name in COMPARISONS and type(own) is types.FunctionType:
        own = comparing(own, kind)
    if name in REFLECTED and type(own) is types.FunctionType:
        own = reflecting(own, kind, name)
    return own


BINDING = (types.FunctionType, staticmethod, classmethod)
"""What is bound to an object or a class when it is looked up."""

FIXED = frozenset(
    {"__new__", "__get__", "__set__", "__delete__"}  # which Python calls as they are found
    | {"__annotations__", "__dataclass_fields__", "__match_args__"}
)
"""What does not change in a class once it is made."""


def put_anew(made: type, seen: dict[str, Any]) -> None:
    """Give the copy of a class what was assigned to the original since it was looked at."""
    now = dict(vars(original_of(made)))
    for name in {**now, **seen}:
        value = now.get(name, ABSENT)
        if value is seen.get(name, ABSENT) or name in LEFT:
            continue
        if is_of_metaclass(type(made), name):
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
    """Let handles leave sums and products with objects of a copied class to its code.

    An object that is multiplied alone may be added as the array that it stands for.
    """
    own = vars(made).keys() & REFLECTED.keys()
    if "__radd__" in own or (own and not hasattr(made, "__array__")):
        type.__setattr__(made, REFLECTING, True)


@functools.cache
def equal_to_originals(meta: Any) -> Any:
    """Derive a metaclass whose classes are equal to what they are copies of, as keys of tables.

    They have the same instances and subclasses, for code that is not copied asks for them too.
    """
    if meta in METACLASSES:
        return meta

    def equal(cls: Any, other: Any) -> Any:
        return original_of(cls) is original_of(other) or NotImplemented

    def has_instance(cls: Any, value: Any) -> Any:
        original = original_of(cls)
        if original is cls:  # a class that a user derives
            return meta.__instancecheck__(cls, value)
        return isinstance(value, original)

    def making(cls: Any, *args: Any, **kwargs: Any) -> Any:
        if is_copied(sys._getframe(1)):
            found = call(cls, *args, **kwargs)
        else:  # by the user, who may have objects of the originals
            copying.bring_up_to_date()
            args = tuple(map(copying.converted, args))  # for good: the new object keeps them
            kwargs = {name: copying.converted(value) for name, value in kwargs.items()}
            found = calling(lambda: call(cls, *args, **kwargs))
        is_made = original_of(cls) is cls or type(found) in ORIGINALS
        if is_made or cls.__module__.startswith("scipy."):  # whose own code has its own objects
            return found
        return copying.converted(found)  # one that was there before

    def assign(cls: Any, name: str, *value: Any) -> None:
        original, change = original_of(cls), setattr if value else delattr
        if original is cls or name in LEFT:  # as what pickling notes of a class
            getattr(meta, f"__{change.__name__}__")(cls, name, *value)
            return
        change(original, name, *map(attribute_of_original, value))
        note_attribute(original, name)
        if value:
            put(cls, name, vars(original)[name])
        elif name in vars(cls):
            type.__delattr__(cls, name)

    def subclasses(cls: Any) -> list[Any]:
        if cls in ASKED.get():  # which is no reason to copy them
            return type.__subclasses__(cls)
        kinds = {id(each): each for each in (original_of(cls), cls)}.values()
        found = [each for kind in kinds for each in type.__subclasses__(kind)]
        return [copied_class(each) for each in found if original_of(each) is each]

    call = attribute("__call__", meta.__call__)
    body: dict[str, Any] = {
        "__call__": making,
        "__setattr__": assign,
        "__delattr__": assign,
        "__subclasses__": subclasses,
        "__instancecheck__": has_instance,
        "__subclasscheck__": lambda cls, kind: has_subclass(cls, kind, meta),
        "__eq__": equal,
        "__hash__": lambda cls: type.__hash__(original_of(cls)),
    }
    if issubclass(meta, abc.ABCMeta):
        body["register"] = lambda cls, kind: register(cls, kind, meta)
    if not hasattr(meta, "__getitem__"):
        body["__getitem__"] = parametrized
    bases = [equal_to_originals(base) for base in meta.__bases__ if issubclass(base, type)]
    body |= {"__module__": meta.__module__, "__qualname__": meta.__qualname__}
    if copying.is_copied_module(meta.__module__):
        for name, value in vars(meta).items():
            own = attribute(name, value)
            if own is not value and name not in body and name not in LEFT | MAKING:
                body[name] = own
    derived = type(meta)(meta.__name__, (meta, *bases), body)
    METACLASSES.add(derived)
    KNOWN[derived] = KNOWN.get(meta, meta)
    copyreg.pickle(derived, reduced)
    return derived


def has_subclass(cls: Any, kind: Any, meta: Any) -> Any:
    """Ask the original of a copy; an abstract one asks its subclasses, of which the copy is one."""
    asked = ASKED.get()
    if cls in asked:
        own = type.__subclasses__(cls)
        return type.__subclasscheck__(cls, kind) or any(issubclass(kind, each) for each in own)
    token = ASKED.set((*asked, cls))
    try:
        original = original_of(cls)
        is_derived = original is cls  # one that a user derives
        return meta.__subclasscheck__(cls, kind) if is_derived else issubclass(kind, original)
    finally:
        ASKED.reset(token)


ASKED: ContextVar[tuple[Any, ...]] = ContextVar("ASKED", default=())
"""The classes that are being asked whether something is a subclass."""


def register(cls: Any, kind: Any, meta: Any) -> Any:
    """Register a class with the original of an abstract one."""
    meta.register(original_of(cls), original_of(kind))
    return kind


METACLASSES: set[Any] = set()
"""The metaclasses of copies."""

MAKING = frozenset({"__new__", "__init__", "__prepare__", "mro"})
"""The methods of metaclasses that make classes."""


def parametrized(kind: Any, key: Any) -> Any:
    """Give ``kind[key]`` of a copy; those of originals are kept, and are equal to it.

    What is cached, as by `typing`, is of the original: to the cache the copy is equal.
    """
    original = original_of(kind)
    if not hasattr(original, "__class_getitem__"):
        raise TypeError(f"type '{kind.__name__}' is not subscriptable")
    found = original.__class_getitem__(key)
    if original is kind:
        return found
    if getattr(found, "__origin__", None) is not original:
        return copying.converted(found)
    if isinstance(found, types.GenericAlias):
        return types.GenericAlias(kind, found.__args__)
    own = found.copy_with(found.__args__)  # copy.copy would give the cached one itself
    object.__setattr__(own, "__origin__", kind)
    return own


def reduced(kind: type) -> Any:
    """Say how a copied class is pickled: by its original; one that a user derives, by its name."""
    original = original_of(kind)
    again = sys.modules[f"{__package__}.decorator"].copied_again  # with which all is imported
    return kind.__qualname__ if original is kind else (again, (original,))


def reduced_object(thing: Any, protocol: Any) -> Any:
    """Say how an object of a copied class is pickled: with the originals of functions in it."""
    found = object.__reduce_ex__(thing, protocol)
    if isinstance(found, str):
        return found
    make, args, *others = found
    args = tuple(thing.__class__ if each is type(thing) else each for each in args)
    if others:
        others[0] = in_state(others[0], source_of, types.FunctionType)
    return make, args, *others


def set_state(thing: Any, state: Any) -> None:
    """Give the attributes to an object of a copied class that is loaded, functions as copies."""
    state = in_state(state, copying.converted, object)
    own, slots = state if isinstance(state, tuple) else (state, {})
    if own:
        vars(thing).update(own)
    for name, value in slots.items():
        object.__setattr__(thing, name, value)


def in_state(state: Any, change: Any, kind: type) -> Any:
    """Change the objects of a kind among attributes: in a dict, or one that slots hold beside it.

    Containers stay the very ones that they are.
    """
    if isinstance(state, tuple):
        return tuple(in_state(each, change, kind) for each in state)
    return state and {
        name: change(value)
        if isinstance(value, kind) and not isinstance(value, (tuple, *CONTAINERS))
        else value
        for name, value in state.items()
    }


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
    """Let ``__array__``, which C code calls, give a plain array, or say that it cannot.

    What is in its place in copies is found under `keeping`.
    """
    plain = giving_plain_results(method)

    @functools.wraps(method)
    def array(*args: Any, **kwargs: Any) -> Any:
        return np.asarray(plain(*args, **kwargs))

    array.keeping = method  # type: ignore[attr-defined]  # as of no other function
    return array


def comparing(method: Any, original: type) -> Any:
    """Let a comparison see an object of the original class as one of the copy."""

    @functools.wraps(method)
    def compare(self: Any, other: Any) -> Any:
        return method(self, copying.converted(other) if isinstance(other, original) else other)

    return compare


REFLECTED: dict[str, Any] = {
    "__rdivmod__": divmod,
    **{f"__r{name}__": getattr(operator, f"__{name}__") for name, _ in OPERATORS.values()},
}
"""The methods of operators with the object on the right, and the operators."""


def reflecting(method: Any, original: type, name: str) -> Any:
    """Let an object of an original class on the left be asked first, as it is among originals.

    Python asks that of the copy first, as the copy derives from the class of the other.
    """

    @functools.wraps(method)
    def reflect(self: Any, other: Any, *modulus: Any) -> Any:
        kind = type(other)
        if kind in LEAVING or copy_of(kind) is ABSENT:
            return method(self, other, *modulus)
        left = copying.converted(other)
        derives = kind is not original and issubclass(original, kind)
        if left is other or (derives and getattr(original, name) is not getattr(kind, name, None)):
            return method(self, left, *modulus)
        return REFLECTED[name](left, self)

    return reflect


LEAVING = frozenset({int, float, complex, bool, str, list, tuple, np.ndarray, np.float64})
"""The commonest types of what stands on the left of a copied object and has no copy."""


def is_outside(frame: types.FrameType) -> bool:
    """Tell whether code that is no copy, and within no call of one, has come to something."""
    return not CALLS.depth and not is_copied(frame)


def entered(function: Any, /, *args: Any, **kwargs: Any) -> Any:
    """Call a copy for code outside, which may have objects of the original classes.

    What that leaves behind in them is settled, as after a call of what is decorated.
    """

    def run() -> Any:
        named = {name: copying.converted(value) for name, value in kwargs.items()}
        return function(*map(copying.converted, args), **named)

    return calling(run)


def entering(function: Any, made: type) -> Any:
    """Let code outside call a method of a copied class; an object of that class is one already."""

    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        if args and made in type(args[0]).__mro__:
            return entered(functools.partial(function, args[0]), *args[1:], **kwargs)
        return entered(function, *args, **kwargs)

    return called


class Live:
    """An attribute of a class, converted when it is asked for, as it may have changed."""

    def __init__(self, made: type, name: str, value: Any, own: Any) -> None:
        self.made, self.name, self.value, self.own = made, name, value, own
        self.names = vars(original_of(made))
        self.outside: Any = None

    def now(self) -> Any:
        """Give what the attribute is now; ABSENT where there is none any more."""
        value = self.names.get(self.name, ABSENT)
        if value is not self.value or type(value) in CONTAINERS:
            self.value, self.own = value, own_of(original_of(self.made), self.name, value)
        return self.own

    def __get__(self, instance: Any, owner: type) -> Any:
        own = self.now()
        if own is ABSENT:
            return getattr(super(self.made, owner if instance is None else instance), self.name)
        if isinstance(own, BINDING):
            if is_outside(sys._getframe(1)):
                own = self.of_users(own)
            return own.__get__(instance, owner)
        return own.__get__(instance, owner) if isinstance(own, property) else own

    def of_users(self, own: Any) -> Any:
        """Give the attribute as one that code outside of the copies calls."""
        if self.outside is None or self.outside[0] is not own:
            function = getattr(own, "__func__", own)
            if type(function) is types.FunctionType:
                function = entering(function, self.made)
                if self.name in REFLECTED:
                    function = reflecting(function, original_of(self.made), self.name)
            self.outside = own, type(own)(function) if isinstance(own, BINDING[1:]) else function
        return self.outside[1]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.now()(*args, **kwargs)

    def as_property(self) -> property:
        """Give the attribute as a property, which is asked for before what an object has."""

        def get(instance: Any) -> Any:
            if is_outside(sys._getframe(1)):
                return calling(self.__get__, instance, type(instance))
            return self.__get__(instance, type(instance))

        def put(instance: Any, value: Any) -> None:
            self.now().__set__(instance, value)

        def delete(instance: Any) -> None:
            self.now().__delete__(instance)

        found = LiveProperty(get, put, delete, self.value.__doc__)
        found.value = self.value
        return found


class LiveProperty(property):
    """A property of a class, converted when it is asked for."""

    value: Any


def attribute_of_original(value: Any) -> Any:
    """Give what is assigned to the original of a class, as what was taken from its copy before."""
    return value.value if isinstance(value, (Live, LiveProperty)) else source_of(value)


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
    return copying.unbound(copying.converted(value), value)


def dispatching_method(method: Any) -> Any:
    """Dispatch, as `functools.singledispatchmethod` does, by the type that a handle stands for."""

    @functools.wraps(method.func)
    def dispatching(self: Any, *args: Any, **kwargs: Any) -> Any:
        kind = original_of(type_of(args[0]))
        found = attribute("", method.dispatcher.dispatch(real(kind)))
        return found.__get__(self, type(self))(*args, **kwargs)

    dispatching.register = method.register  # type: ignore[attr-defined]  # as the original has it
    return dispatching


def build_class(body: Any, name: str, *bases: Any, **options: Any) -> Any:
    """Build a class of a body that looks names up without asking for missing ones."""
    namespace = body.__globals__
    added: dict[str, Any] = {}
    if METACLASSES.intersection(map(type, bases)) and isinstance(options.get("metaclass"), type):
        options["metaclass"] = equal_to_originals(options["metaclass"])  # as its bases have it
    with copying.LOCK:
        if type(namespace) is copying.Globals:
            missing = [
                each
                for each in body.__code__.co_names
                if each in namespace and not dict.__contains__(namespace, each)
            ]
            added = {each: namespace.__missing__(each) for each in missing}
            namespace.fixed |= added.keys()
            dict.update(namespace, added)
        try:
            made = builtins.__build_class__(body, name, *bases, **options)
        finally:
            for each in added:
                namespace.fixed.discard(each)
                dict.pop(namespace, each, None)
    for each, value in [*vars(made).items()] if isinstance(made, type) else ():
        own = copying.unbound(value, source_of(value))
        if own is not value:
            type.__setattr__(made, each, own)
    return made


note_stand_in(builtins.__build_class__, build_class)
copying.MAKERS[type] = copied_class
copying.MAKERS[abc.ABCMeta] = copied_class
copying.MAKERS[type(Protocol)] = copied_class
