"""Objects that the original code has made, as copies see them: of the copied class, of one state.

An object in Python alone has a twin with the very attributes, a container a copy that hands on what
is written to it.
"""

import abc
import collections
import contextlib
import enum
import functools
import itertools
import operator
import types
import weakref
from argparse import Namespace
from collections.abc import Callable, MutableMapping, MutableSet
from typing import Any

import numpy as np

from tape_ad.base.arrays.adapters import adapter
from tape_ad.record.primals import primal
from tape_ad.transforms.differentiable.classes import (
    HEAP_TYPE,
    class_of,
    copied_class,
    is_copied_class,
    make_class,
    refuse_to_ask,
)
from tape_ad.transforms.differentiable.copying import (
    IN_PROGRESS,
    LOCK,
    MAKERS,
    converted,
    is_copied_module,
    is_copy,
    listed,
)
from tape_ad.transforms.differentiable.kinds import KNOWN
from tape_ad.transforms.differentiable.settling import (
    CONTAINERS,
    STAYING,
    members_of,
    note_shared,
    note_twin,
)
from tape_ad.transforms.differentiable.table import (
    BUILTINS,
    ORIGINALS,
    TWINS,
    note_stand_in,
    original_of,
    source_of,
)
from tape_ad.transforms.differentiable.watching import ELEMENTS, PLAIN


def copied_object(value: Any) -> Any:  # noqa: PLR0911 - one for each kind
    """Give an object of a class that is copied as one of the copy, with the same attributes.

    A function that `numba.jit` has compiled is the copy of the one that it was made of.
    """
    kind = type(value)
    inner = (attributes_of(value) or {}).get("py_func")
    if type(inner) is types.FunctionType and callable(value):
        return converted(inner)
    if kind.__module__ == "attr.validators" or kind.__name__ == "_AndValidator":
        return lambda instance, attribute, given: value(instance, attribute, primal(given))
    layout = layout_of(kind)
    if layout is types.SimpleNamespace:
        note_shared(value)
        return noted(value, lambda: layout.__new__(viewing_of(kind)))
    if layout in CONTAINERS and is_copied_module(kind.__module__):
        return converted_container(value, layout, copied_class(kind) if has_methods(kind) else kind)
    if layout is tuple and not is_copied_class(kind):
        return listed(value)
    if layout not in CONTENTS or issubclass(kind, enum.Enum):
        refuse_to_ask(kind)
        return value
    if is_copy(kind):
        return value
    note_shared(value)
    if not has_methods(kind) and not holds_code(value):
        return value
    if kind.__module__.startswith("scipy."):
        found = adapter("scipy").like_object(value)
        if found is not None:
            return found
    owner = copied_class(kind)
    if owner is kind and has_methods(kind) and kind not in HOLDERS:
        return value
    alone = layout is object and is_compared(kind) and not members_of(kind)
    return noted(value, lambda: twin(value, owner if alone else viewing_of(owner), layout))


def is_compared(kind: Any) -> bool:
    """Tell whether objects of a class are compared by code of its own, as units are.

    What they are compared with, and what they hold, may be objects of the original class.
    """
    generated = hasattr(kind, "__dataclass_fields__") or hasattr(kind, "__attrs_attrs__")
    return bool(kind.__flags__ & HEAP_TYPE) and not (
        generated or kind.__hash__ in (object.__hash__, None)
    )


def noted(value: Any, make: Callable[[], Any]) -> Any:
    """Give the twin of an object that there is, or another."""
    with LOCK:
        found = TWINS.get(id(value))
        if found is None or original_of(type(found)) is not type(value):
            found = make()
            with contextlib.suppress(TypeError):  # of a tuple, which cannot be weakly referred to
                ORIGINALS[found] = value  # which is there as long as its twin is
                TWINS[id(value)] = found
    note_twin(found)
    return found


def holds_code(value: Any) -> bool:
    """Tell whether an object without methods, as of settings, may hold what is converted."""
    kind = type(value)
    if not is_copied_module(kind.__module__) and kind not in HOLDERS:
        return False
    held = [*(attributes_of(value) or {}).values()]
    held += [getattr(value, name, None) for name in members_of(kind)]
    return not STAYING.issuperset(map(type, held))


HOLDERS = (Namespace, collections.UserDict, collections.UserList, collections.ChainMap)
"""Classes of Python's own whose objects are seen as ones that give what they hold as copies."""

OF_ONE_VALUE: tuple[Any, ...] = (int, float, complex, str, bytes)
"""Types in C of objects that do not change."""

CONTENTS: dict[type, Callable[[Any], tuple[Any, ...]]] = {
    object: lambda value: (),
    tuple: lambda value: (map(converted, value),),
    **{kind: kind.__getnewargs__ for kind in OF_ONE_VALUE},
    frozenset: lambda value: (value,),
}
"""Of what an object is made that is an object of Python's code, by the type in C beneath."""


def layout_of(kind: type) -> Any:
    """Give the type in C that a class of Python derives from; None for such a type itself."""
    if not kind.__flags__ & HEAP_TYPE:
        return kind if kind is types.SimpleNamespace else None
    return next(each for each in kind.__mro__ if type(vars(each).get("__new__")) is IN_C)


IN_C = types.BuiltinFunctionType


def has_methods(kind: type) -> bool:
    """Tell whether a class has methods to be called, and so is no mere mark."""
    return any(
        type(each) in METHODS and (name[:2] != "__" or name in CALLED)
        for owner in kind.__mro__
        for name, each in vars(owner).items()
    )


CALLED = frozenset({"__call__", "__get__", "__set__", "__getitem__", "__enter__", "__iter__"})
"""The methods by which objects without another compute something for others."""


METHODS = (types.FunctionType, staticmethod, classmethod, property)
"""The types of what makes a class one that computes."""


def twin(value: Any, kind: Any, layout: Any) -> Any:
    """Make an object of another class with the very attributes of this one."""
    copy = layout.__new__(kind, *CONTENTS[layout](value))
    share_attributes(value, copy)
    return copy


def share_attributes(value: Any, copy: Any) -> None:
    """Give two objects the same dict of attributes, if they have one."""
    names = attributes_of(value)
    if names is not None:
        object.__setattr__(copy, "__dict__", names)


def attributes_of(value: Any) -> Any:
    """Give the dict of an object's own attributes; None where it has none of its own."""
    if not type(value).__dictoffset__:
        return None
    names = getattr(value, "__dict__", None)
    return names if isinstance(names, dict) else None


VIEWING: "weakref.WeakValueDictionary[int, Any]" = weakref.WeakValueDictionary()
"""What derives from classes for objects that were made by the originals, by their identity."""

VIEWED = "__viewing__"
"""Where the copy of a class keeps that."""


def viewing_of(owner: Any) -> Any:
    """Give what derives from a class, most often a copied one, for objects of its original."""
    found = VIEWING.get(id(owner))
    if found is None:
        found = VIEWING[id(owner)] = viewing(owner)
        if is_copy(owner):
            type.__setattr__(owner, VIEWED, found)
    return found


def viewing(owner: Any) -> Any:
    """Derive from a class one whose objects give what others have put into them as copies.

    An object of the original class may hold functions, and objects of other original classes.
    """
    get, members = owner.__getattribute__, members_of(original_of(owner))
    has_dict, base = bool(owner.__dictoffset__), layout_of(owner) or owner

    def attribute(self: Any, name: str) -> Any:
        value = get(self, name)
        if type(value) in PLAIN or type(value) is np.ndarray:
            return value
        own = object.__getattribute__(self, "__dict__") if has_dict else {}
        if name not in own and name not in members:
            return value
        if type(value) is types.MethodType and getattr(value.__self__, "__dict__", None) is own:
            return types.MethodType(converted(value.__func__), self)  # a method of its own
        return converted(value)

    slots = () if owner.__weakrefoffset__ or owner.__itemsize__ else ("__weakref__",)
    body = {"__getattribute__": attribute, "__class__": property(lambda _: owner, change_class)}
    body |= {name: through(member) for name, member in members.items()}
    if owner.__eq__ is object.__eq__ and owner.__hash__ is object.__hash__:
        body |= SAME
    if base in CONTAINERS:
        slots = (*slots, "given", "found", "sources")
        body |= handing_on(owner, base)
    if base is types.SimpleNamespace:
        body |= NAMESPACE
    body |= {"__slots__": slots, "__module__": owner.__module__}
    body |= {"__qualname__": owner.__qualname__}
    maker: Any = abc.ABCMeta if isinstance(owner, abc.ABCMeta) else type
    kind: Any = class_of(maker, type(owner), owner, (owner,), body)
    ORIGINALS[kind] = original_of(owner)
    return kind


SAME: dict[str, Any] = {
    "__eq__": lambda self, other: original_of(self) is original_of(other) or NotImplemented,
    "__hash__": lambda self: object.__hash__(original_of(self)),
}
"""The methods by which an object is the same as its twin for tables, also weak ones."""


def change_class(self: Any, kind: type) -> None:
    """Give the twin of an object, and the object, another class."""
    original, change = original_of(self), vars(object)["__class__"].__set__
    if original is self:
        change(self, kind)
    else:
        original.__class__ = original_of(kind)
        change(self, viewing_of(copied_class(original_of(kind))))


def through(member: Any) -> Any:
    """Give a slot of an object as that of what it is a copy of."""

    def get(self: Any) -> Any:
        return member.__get__(original_of(self))

    def put(self: Any, value: Any) -> None:
        original = original_of(self)
        member.__set__(original, value if original is self else source_of(value))

    def delete(self: Any) -> None:
        member.__delete__(original_of(self))

    return property(get, put, delete)


def holds_plain(values: Any) -> bool:
    """Tell at a glance that nothing in a container is converted; in a large one by a sample."""
    if len(values) <= ELEMENTS:
        return PLAIN.issuperset(map(type, values))
    if not isinstance(values, (list, tuple)):
        values = [*itertools.islice(values, ELEMENTS)]
    return PLAIN.issuperset(map(type, values[:: len(values) // 32]))


def entries_of(container: Any, base: Any) -> list[Any]:
    """List what is in a container, by the methods of its type in C: of a dict keys, then values."""
    return [
        *base.__iter__(container),
        *(base.values(container) if issubclass(base, dict) else ()),
    ]


def fill(container: Any, base: Any, entries: list[Any]) -> None:
    """Put entries in place of what is in a container, by the methods of its type in C."""
    if base is list:
        list.__setitem__(container, slice(None), entries)
        return
    half = len(entries) // 2 if issubclass(base, dict) else len(entries)
    if not issubclass(base, dict) or [*base.__iter__(container)] != entries[:half]:
        base.clear(container)
    if issubclass(base, dict):
        for key, value in zip(entries[:half], entries[half:], strict=True):
            base.__setitem__(container, key, value)
    else:
        (base.update if base is set else base.extend)(container, entries)


def converted_container(values: Any, base: Any, owner: Any) -> Any:
    """Convert what is in a list, dict, set or deque; what is written to the copy goes to both.

    Containers of nothing that is converted stay, unless their class has methods that are copied.

    Parameters
    ----------
    base : type
        The type in C.
    owner : type
        What the copy derives from: that type, or the copy of a class that derives from it.
    """
    kind = type(values)
    if is_copy(kind):
        return values
    note_shared(values)
    parts = (values, values.values()) if isinstance(values, dict) else (values,)
    factory = getattr(values, "default_factory", None)
    own_factory = converted(factory)
    stays = owner is kind and own_factory is factory
    compared = base is set and any(is_compared(type(each)) for each in values)
    if stays and (compared or all(map(holds_plain, parts))):
        return values
    with LOCK:
        if id(values) in IN_PROGRESS:  # it is in itself
            return values
        given = entries_of(values, base)
        IN_PROGRESS[id(values)] = values
        try:
            found = [*map(converted, given)]
        finally:
            del IN_PROGRESS[id(values)]
        if stays and all(map(operator.is_, found, given)):
            return values
        copy: Any = noted(values, lambda: empty_copy(values, base, owner, own_factory))
        if len(found) != len(copy.found) or not all(map(operator.is_, found, copy.found)):
            fill(copy, base, found)
            pairs = zip(found, given, strict=True)
            copy.sources = {id(each): (each, value) for each, value in pairs if each is not value}
        copy.given, copy.found = given, found
    return copy


def empty_copy(values: Any, base: Any, owner: Any, factory: Any) -> Any:
    """Make the copy of a container, with nothing in it as yet."""
    copy = base.__new__(viewing_of(owner))
    if base is collections.deque:
        collections.deque.__init__(copy, (), values.maxlen)
    share_attributes(values, copy)
    if base is collections.defaultdict:
        copy.default_factory = factory
    copy.given, copy.found, copy.sources = [], [], {}
    return copy


def hand_on(copy: Any, base: type) -> None:
    """Write what is in the copy of a container to the original, if it is another than before."""
    found, sources = entries_of(copy, base), copy.sources
    if len(found) == len(copy.found) and all(map(operator.is_, found, copy.found)):
        return
    now = [sources.get(id(each), (each, source_of(each)))[1] for each in found]
    fill(original_of(copy), base, now)
    copy.given, copy.found = now, found


def handing_on(owner: Any, base: Any) -> dict[str, Any]:
    """Give the methods of containers that change what they are copies of, too."""

    def changing(method: Any) -> Any:
        @functools.wraps(method)
        def change(self: Any, *args: Any, **kwargs: Any) -> Any:
            try:
                return method(self, *args, **kwargs)
            finally:
                if original_of(self) is not self:
                    hand_on(self, base)

        return change

    names = {name for name in WRITING if hasattr(base, name)}
    for each in owner.__mro__[: owner.__mro__.index(base)]:
        names |= {name for name in vars(each) if type(vars(each)[name]) is types.FunctionType}
    names -= {"__new__", "__init__", "__getattribute__", "__getattr__"}
    return {name: changing(getattr(owner, name)) for name in names}


WRITING = frozenset(
    {"append", "appendleft", "extend", "extendleft", "insert", "remove", "pop", "popleft", "clear"}
    | {"sort", "reverse", "rotate", "update", "setdefault", "popitem", "move_to_end", "add"}
    | {"discard", "difference_update", "intersection_update", "symmetric_difference_update"}
    | {"__setitem__", "__delitem__", "__iadd__", "__imul__", "__ior__", "__iand__", "__isub__"}
    | {"__ixor__", "__missing__"}
)
"""Methods of containers that change them."""


def name_in_namespace(self: Any, name: str) -> Any:
    """Give an attribute of a namespace, which keeps them where they cannot be shared."""
    names = vars(original_of(self)) if original_of(self) is not self else {}
    if name == "__dict__" and names:
        return names
    return converted(names[name]) if name in names else object.__getattribute__(self, name)


NAMESPACE: dict[str, Any] = {
    "__getattribute__": name_in_namespace,
    "__setattr__": lambda self, name, value: vars(original_of(self)).update({name: value}),
    "__delattr__": lambda self, name: delattr(original_of(self), name),
    "__repr__": lambda self: repr(original_of(self)),
    "__eq__": lambda self, other: original_of(self) == original_of(other),
    "__hash__": None,
}
"""The methods of copies of `types.SimpleNamespace`."""


class Reference(weakref.ref[Any]):
    """A weak reference as copies see it: to what they see in place of the object."""

    def __new__(cls, thing: Any, call: Any = None) -> Any:
        plain = weakref.ref(source_of(thing), call)
        made = super().__new__(cls, source_of(thing))
        ORIGINALS[made] = plain
        return made

    def __init__(self, thing: Any, call: Any = None) -> None:
        pass  # for the object was given to the other one

    def __call__(self) -> Any:
        return converted(super().__call__())


def weak_view(values: Any) -> Any:
    """Give a weak set or mapping as one of what copies see, by what they were made of."""
    note_shared(values)
    return noted(values, lambda: twin(values, WEAK[type(values)], object))


def weakly(kind: Any, mixin: Any) -> Any:
    """Derive from a weak container one that looks up originals and gives copies."""

    def calling(name: str) -> Any:
        method = getattr(kind, name)
        return lambda self, *given: converted(method(self, *map(source_of, given)))

    def new(cls: Any, *given: Any) -> Any:
        return weak_view(kind()) if cls is made else kind.__new__(cls)

    def fill_in(self: Any, *given: Any) -> None:
        if type(self) is not made:
            kind.__init__(self, *given)
        elif given:
            self.update(*given)

    mixed = (item for owner in reversed(mixin.__mro__) for item in vars(owner).items())
    body = {name: value for name, value in mixed if name[0] != "_"}
    body |= {name: calling(name) for name in ONE_BY_ONE if hasattr(kind, name)}
    body["__iter__"] = lambda self: iter([converted(each) for each in kind.__iter__(self)])
    body |= {"__new__": new, "__init__": fill_in, "__module__": kind.__module__}
    made: Any = type(kind.__name__, (kind,), body)
    ORIGINALS[made], KNOWN[kind], KNOWN[made] = kind, made, made
    note_stand_in(kind, made)
    MAKERS[kind] = weak_view
    return made


ONE_BY_ONE = ("__getitem__", "__setitem__", "__delitem__", "__contains__", "add", "discard")

WEAK: dict[Any, Any] = {
    weakref.WeakKeyDictionary: weakly(weakref.WeakKeyDictionary, MutableMapping),
    weakref.WeakValueDictionary: weakly(weakref.WeakValueDictionary, MutableMapping),
    weakref.WeakSet: weakly(weakref.WeakSet, MutableSet),
}
"""What derives from weak containers for copies."""

MAKERS[weakref.ref] = lambda value: noted(value, lambda: Reference(value()))
ORIGINALS[Reference] = weakref.ref
note_stand_in(weakref.ref, Reference)


def identity(thing: Any, /) -> int:
    """Stand in for `id`, and give that of what something is a copy of."""
    return id(source_of(thing))


BUILTINS["id"] = identity
note_stand_in(id, identity)

MAKERS[object] = copied_object
for _kind in CONTAINERS:
    MAKERS[_kind] = functools.partial(converted_container, base=_kind, owner=_kind)

MAKERS[frozenset] = lambda values: frozenset(converted(set(values)))
MAKERS[types.MappingProxyType] = lambda names: types.MappingProxyType(converted(dict(names)))
MAKERS[types.SimpleNamespace] = MAKERS[Namespace] = copied_object

note_stand_in(np.poly1d, make_class(np.poly1d))
