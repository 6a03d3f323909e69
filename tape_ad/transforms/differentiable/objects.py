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
from contextvars import ContextVar
from typing import Any

import numpy as np

from tape_ad.base.arrays.adapters import adapter
from tape_ad.record.constants import CONSTANTS
from tape_ad.record.primals import primal
from tape_ad.record.tensor import Tensor
from tape_ad.transforms.differentiable.classes import (
    COMPARISONS,
    HEAP_TYPE,
    REFLECTED,
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
    memoized,
)
from tape_ad.transforms.differentiable.kinds import KNOWN, is_array_like
from tape_ad.transforms.differentiable.settling import (
    CONTAINERS,
    STAYING,
    is_shared,
    members_of,
    note_shared,
    note_twin,
)
from tape_ad.transforms.differentiable.table import (
    ORIGINALS,
    TWINS,
    note_stand_in,
    original_of,
    source_of,
    stands_in_for,
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
    return noted(value, lambda: twin(value, viewing_of(owner), layout))


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


CALLED = COMPARISONS | REFLECTED.keys() | {f"__{name[3:]}" for name in REFLECTED}
CALLED |= {"__call__", "__get__", "__set__", "__getitem__", "__enter__", "__iter__"}
"""The methods by which objects without another compute something for others."""


METHODS = (types.FunctionType, staticmethod, classmethod, property, functools.cached_property)
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
    alone = base is object and is_compared(original_of(owner)) and not members

    def attribute(self: Any, name: str) -> Any:
        value = get(self, name)
        if type(value) in PLAIN or type(value) is np.ndarray:
            return value
        own = object.__getattribute__(self, "__dict__") if has_dict else {}
        if name not in own and name not in members:
            return value
        if type(value) is types.MethodType and getattr(value.__self__, "__dict__", None) is own:
            return types.MethodType(converted(value.__func__), self)  # a method of its own
        if alone and (isinstance(value, (tuple, *CONTAINERS)) or is_compared(type(value))):
            return value
        return converted(value)

    slots = () if owner.__weakrefoffset__ or owner.__itemsize__ else ("__weakref__",)
    body = {"__getattribute__": attribute, "__class__": property(lambda _: owner, change_class)}
    body |= {name: through(member) for name, member in members.items()}
    if owner.__eq__ is object.__eq__ and owner.__hash__ is object.__hash__:
        body |= SAME
    if base in CONTAINERS:
        slots = (*slots, "seen")
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


PLAIN_TYPES = STAYING | CONSTANTS | {Tensor}
"""Types of what is not converted."""


def is_plain(value: Any) -> bool:
    """Tell whether something is certainly not converted, nor anything in it."""
    kind: Any = type(value)
    if kind in PLAIN_TYPES or is_array_like(value) or is_copy(kind):
        return True
    if kind is dict and len(value) <= ELEMENTS:
        return all(map(is_plain, value.values())) and all(map(is_plain, value))
    return kind in (list, tuple, set) and len(value) <= ELEMENTS and all(map(is_plain, value))


def holds_plain(values: Any) -> bool:
    """Tell at a glance that nothing in a container is converted; in a large one by a sample."""
    if len(values) > ELEMENTS and not isinstance(values, (list, tuple)):
        values = [*itertools.islice(values, ELEMENTS)]
    elif len(values) > ELEMENTS:
        values = values[:: len(values) // 32]
    return PLAIN_TYPES.issuperset(map(type, values)) or all(map(is_plain, values))


Entries = tuple[list[Any], ...]


def entries_of(container: Any, base: Any) -> Entries:
    """List what is in a container, by the methods of its type in C: of a dict keys and values."""
    keys = [*base.__iter__(container)]
    return (keys, [*base.values(container)]) if issubclass(base, dict) else (keys,)


def are_same(entries: Entries, others: Entries) -> bool:
    """Tell whether the very same objects are at the same places."""
    return all(
        len(one) == len(other) and all(map(operator.is_, one, other))
        for one, other in zip(entries, others, strict=True)
    )


def fill(container: Any, base: Any, entries: Entries) -> None:
    """Put entries in place of what is in a container, by the methods of its type in C."""
    keys = entries[0]
    if base is list:
        list.__setitem__(container, slice(None), keys)
        return
    if not issubclass(base, dict) or not are_same(([*base.__iter__(container)],), (keys,)):
        base.clear(container)
    if issubclass(base, dict):
        for key, value in zip(*entries, strict=True):
            base.__setitem__(container, key, value)
    else:
        (base.update if base is set else base.extend)(container, keys)


def is_steady(value: Any, each: Any) -> bool:
    """Tell whether an entry of a container stays what it is in copies, until the calls are over."""
    if type(value) is tuple:
        return all(map(is_steady, value, each))
    if is_plain(value):
        return True
    is_watched = type(value) is types.FunctionType and value.__closure__ is not None
    return each is not value and not is_watched and not isinstance(value, CONTAINERS)


class Seen:
    """What was in a container and in its copy when they were last alike.

    Attributes
    ----------
    given, found : tuple of lists
        The entries of the original and those of the copy.
    sources : dict
        What entries of the copy were converted from, by their identity.
    restless : list of tuple
        Entries, and what they were converted to, that may be converted to something else later.
    """

    __slots__ = ("found", "given", "restless", "sources")

    given: Entries
    found: Entries

    def __init__(self) -> None:
        self.note((), ())

    def note(self, given: Entries, found: Entries) -> None:
        """Note all entries anew."""
        self.given, self.found = given, found
        self.sources: dict[int, tuple[Any, Any]] = {}
        self.restless: list[tuple[Any, Any]] = []
        for part, own in zip(given, found, strict=True):
            for value, each in zip(part, own, strict=True):
                self.compare(value, each)

    def compare(self, value: Any, each: Any) -> None:
        """Note one entry of the original, and what it is in the copy."""
        if each is not value:
            self.sources[id(each)] = each, value
        if not is_steady(value, each):
            self.restless.append((value, each))

    def add(self, given: tuple[Any, ...], found: tuple[Any, ...]) -> None:
        """Note an entry that both have got at their end."""
        for part, own, value, each in zip(self.given, self.found, given, found, strict=True):
            part.append(value)
            own.append(each)
            self.compare(value, each)

    def source(self, each: Any) -> Any:
        """Give what an entry of the copy is in the original."""
        return self.sources.get(id(each), (each, source_of(each)))[1]


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
    copy: Any = TWINS.get(id(values))
    is_seen = (
        copy is not None
        and is_shared(values)
        and are_same(entries_of(values, base), copy.seen.given)
    )
    if is_seen and all(converted(each) is own for each, own in copy.seen.restless):
        return copy
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
            found = tuple([*map(converted, part)] for part in given)
        finally:
            del IN_PROGRESS[id(values)]
        if stays and are_same(found, given):
            return values
        copy = noted(values, lambda: empty_copy(values, base, owner, own_factory))
        if not copy.seen.found or not are_same(found, copy.seen.found):
            fill(copy, base, found)
        copy.seen.note(given, found)
    return copy


def empty_copy(values: Any, base: Any, owner: Any, factory: Any) -> Any:
    """Make the copy of a container, with nothing in it as yet."""
    copy = base.__new__(viewing_of(owner))
    if base is collections.deque:
        collections.deque.__init__(copy, (), values.maxlen)
    share_attributes(values, copy)
    if base is collections.defaultdict:
        copy.default_factory = factory
    copy.seen = Seen()
    return copy


def hand_on(copy: Any, base: Any) -> None:
    """Write what is in the copy of a container to the original, if it is another than before."""
    found, seen = entries_of(copy, base), copy.seen
    if are_same(found, seen.found):
        return
    now = tuple([*map(seen.source, part)] for part in found)
    fill(original_of(copy), base, now)
    seen.note(now, found)


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

    def adding(method: Any) -> Any:
        """Hand on an entry that is added at the end without looking at the others."""

        @functools.wraps(method)
        def add(self: Any, *entry: Any) -> None:
            original = original_of(self)
            if original is self:
                method(self, *entry)
                return
            entry = tuple(each if is_plain(each) else converted(each) for each in entry)
            method(self, *entry)
            seen, size = self.seen, base.__len__(self)
            if size == len(seen.found[0]) + 1 and size == base.__len__(original) + 1:
                given = tuple(map(seen.source, entry))
                getattr(base, method.__name__)(original, *given)
                if size == base.__len__(original):
                    seen.add(given, entry)
                    return
            hand_on(self, base)

        return add

    names = {name for name in WRITING if hasattr(base, name)}
    for each in owner.__mro__[: owner.__mro__.index(base)]:
        names |= {name for name in vars(each) if type(vars(each)[name]) is types.FunctionType}
    names -= {"__new__", "__init__", "__getattribute__", "__getattr__"}
    last = "__setitem__" if issubclass(base, dict) else "append" if base is list else None
    return {
        name: (adding if name == last and method is getattr(base, name) else changing)(method)
        for name in names
        for method in (getattr(owner, name),)
    }


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
        """Make one, of a plain reference that the original code would have."""
        plain = weakref.ref(source_of(thing), call)
        made = super().__new__(cls, source_of(thing))
        ORIGINALS[made] = plain
        return made

    def __init__(self, thing: Any, call: Any = None) -> None:
        pass  # the callback is of the plain reference

    def __call__(self) -> Any:
        """Give what copies see in place of the object."""
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
"""The methods of weak containers that are given keys and values."""

WEAK: dict[Any, Any] = {
    weakref.WeakKeyDictionary: weakly(weakref.WeakKeyDictionary, MutableMapping),
    weakref.WeakValueDictionary: weakly(weakref.WeakValueDictionary, MutableMapping),
    weakref.WeakSet: weakly(weakref.WeakSet, MutableSet),
}
"""What derives from weak containers for copies."""


def referring(reference: Any) -> Any:
    """Give a weak reference as copies see it; one to what is gone stays."""
    thing = reference()
    return reference if thing is None else noted(reference, lambda: Reference(thing))


MAKERS[weakref.ref] = referring
ORIGINALS[Reference] = weakref.ref
note_stand_in(weakref.ref, Reference)


class Variable:
    """A context variable as copies see it: of what the original code has put into it."""

    def __init__(self, variable: ContextVar[Any]) -> None:
        self.variable, self.name, self.reset = variable, variable.name, variable.reset

    def get(self, *default: Any) -> Any:
        """Give the value as copies see it."""
        return converted(self.variable.get(*default))

    def set(self, value: Any) -> Any:
        """Put in what the original code would."""
        return self.variable.set(source_of(value))


MAKERS[ContextVar] = lambda variable: memoized(variable, Variable)


@stands_in_for(id)
def identity(thing: Any, /) -> int:
    """Stand in for `id`, and give that of what something is a copy of."""
    return id(source_of(thing))


MAKERS[object] = copied_object
for _kind in CONTAINERS:
    MAKERS[_kind] = functools.partial(converted_container, base=_kind, owner=_kind)

MAKERS[frozenset] = lambda values: frozenset(converted(set(values)))
MAKERS[types.MappingProxyType] = lambda names: types.MappingProxyType(converted(dict(names)))
MAKERS[types.SimpleNamespace] = MAKERS[Namespace] = copied_object

note_stand_in(np.poly1d, make_class(np.poly1d))
