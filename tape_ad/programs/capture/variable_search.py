"""The search for what a function reads: in its closure, its module and its instance."""

import array
import builtins
import collections
import contextvars
import enum
import functools
import gc
import operator
import sys
import threading
import types
import weakref
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any

import numpy as np
from attrs import define, field

from tape_ad.base.trees import FIELDS, flatten, names_given, slots_of, structure_of
from tape_ad.programs.capture.code_names import Names, names_in, names_used
from tape_ad.programs.capture.variables import (
    ATTRIBUTE,
    BYTES,
    CALLED,
    CELL,
    CONTENTS,
    CONTEXT,
    MISSING,
    OBJECTS,
    PRESENT,
    SUBCLASSES,
    VALUES,
    Variable,
    WatchedArray,
)
from tape_ad.programs.program.keys import varies
from tape_ad.record.messages.callers import (
    is_library_module,
    is_library_name,
    is_library_place,
)

MOST = 1024
"""How many variables are looked at; beyond that, a function is too large to be followed."""
SMALL = 2**16
"""How many bytes an array may have whose contents are compared at each replay."""
DEPTH = 6
"""How deep nested dicts, lists and objects are opened."""
ENTRIES = 64
"""How many entries dicts and lists may have to be noted one by one."""
ELEMENTS = 4096
"""How many elements a container may have to be noted as a whole."""
ROUNDS = 8
"""How often all is searched again with the names that the methods found then read."""

CONTAINERS = (dict, list, set, collections.deque, types.MappingProxyType)
KEYED = (dict, types.MappingProxyType)
BUFFERS = (array.array, bytearray, memoryview)
INSIDE: dict[type, tuple[str, ...]] = {
    collections.UserDict: ("data",),
    collections.UserList: ("data",),
    collections.UserString: ("data",),
    collections.ChainMap: ("maps",),
    collections.abc.MappingView: ("_mapping",),
    weakref.WeakKeyDictionary: ("data",),
    weakref.WeakValueDictionary: ("data",),
    weakref.WeakSet: ("data",),
    enum.Enum: ("_value_",),
    functools.partial: ("func", "args", "keywords"),
    np.vectorize: ("pyfunc",),
    types.BuiltinMethodType: ("__self__",),
    types.MethodWrapperType: ("__self__",),
}
"""The attributes in which a container of Python's own library keeps its elements, a partial what it
is made of, and a method written in C what it belongs to."""
DICT_VIEWS: Any = (type({}.keys()), type({}.values()), type({}.items()))
GETTERS = (operator.attrgetter, operator.methodcaller)
SCALARS = (str, bytes, int, float, complex, np.generic, np.ndarray, types.NoneType)
UNREAD = frozenset(
    f"__{name}__"
    for name in (
        *("repr", "str", "eq", "ne", "lt", "le", "gt", "ge", "hash", "setattr", "delattr"),
        *("init_subclass", "getstate", "setstate", "reduce", "reduce_ex", "del", "replace"),
        *("post_init", "attrs_post_init", "annotate", "annotate_func"),
    )
)
"""Special methods that say nothing about what is computed, or run when an instance is made."""


@define(eq=False, repr=False)
class Search:
    """What has been found of a function, and of the functions that it calls.

    Attributes
    ----------
    variables : list of Variable
    arrays : dict of int to WatchedArray
        Small arrays, by their ids.
    held : dict of int to set of str
        What the user calls each container, by their ids.
    full : bool
        Whether there are more variables than are watched.
    names : set of str
        All that the code names.
    codes : set of code
    doubtful : set of str
        Those of the names that may be missing where they are looked up.
    by_text : bool
        Whether it may look up any text.
    whole : bool
        Whether it may look at all attributes of an object.
    """

    variables: list[Variable] = field(factory=list)
    arrays: dict[int, WatchedArray] = field(factory=dict)
    held: dict[int, set[str]] = field(factory=dict)
    full: bool = False
    names: set[str] = field(factory=set)
    codes: set[types.CodeType] = field(factory=set)
    doubtful: set[str] = field(factory=set)
    by_text: bool = False
    whole: bool = False
    _missing: dict[int, tuple[Any, set[str]]] = field(factory=dict)
    _seen: set[Any] = field(factory=set)

    @classmethod
    def of(cls, function: Any, objects: Any = ()) -> "Search":
        """Find what a function reads, and the functions that it calls.

        Parameters
        ----------
        function : callable
        objects : iterable
            Further objects whose attributes it may read: arguments that are no arrays.
        """
        found, known = cls(), -1
        for _ in range(ROUNDS):  # as any function may read attributes of any object
            if (size := len(found.names) + len(found.doubtful)) == known:
                break
            known = size
            found.variables, found._seen, found._missing, found.full = [], set(), {}, False
            found.arrays, found.held = {}, {}
            found.enter(function)
            for each in objects:
                names = frozenset(found.names)
                if isinstance(each, types.ModuleType):
                    found.attributes(each, each.__name__, names, DEPTH)
                found.follow(each, title_of(each), names, DEPTH)
            for holder, missing in found._missing.values():
                keys = vars(holder).keys() if isinstance(holder, type) else holder.keys()
                found.append(Variable(keys, frozenset(missing), "", PRESENT, ()))
        return found

    def append(self, variable: Variable) -> None:
        """Watch a variable, unless there are too many."""
        if len(self.variables) >= MOST:
            self.full = True
            return
        self.variables.append(variable)

    def is_new(self, *thing: Any) -> bool:
        """Tell whether something is met for the first time, and remember it."""
        if thing in self._seen:
            return False
        self._seen.add(thing)
        return True

    def enter(self, function: Any) -> None:
        """Note what a function reads, with what it wraps."""
        while self.is_new("function", id(function)):
            self.read(function)
            registry = vars(function).get("registry") if is_function(function) else None
            if isinstance(registry, types.MappingProxyType):  # of `functools.singledispatch`
                self.look_at(registry, f"{function.__name__}.registry", frozenset(), DEPTH)
            wrapped = attribute(function, "__wrapped__") or attribute(function, "func")
            if wrapped is None or isinstance(function, type):
                return
            function = wrapped

    def read(self, function: Any) -> None:
        """Note what the code of a function reads."""
        bound = isinstance(function, types.MethodType)
        owner = function.__self__ if bound else None
        function = function.__func__ if bound else function
        if not is_function(function):
            owner = function if owner is None else owner
            calls = [
                vars(each)["__call__"] for each in classes_of(owner) if "__call__" in vars(each)
            ]
            if owner is not None:
                self.look_at(owner, title_of(owner), frozenset(), DEPTH)
            if isinstance(function, np.ufunc):  # which `np.frompyfunc` makes of a function
                calls = [*filter(is_function, gc.get_referents(function))]
            function = next(iter(calls), None)
            if not is_function(function):
                return
        self.attributes(function, function.__name__, frozenset(self.names), DEPTH)
        if is_of_library(function):
            return
        own = names_in(function.__code__)
        self.codes.add(function.__code__)
        self.take(own)
        self.made_of(function, own.read)
        self.variables_of(function, own)
        if owner is not None:
            self.look_at(owner, title_of(owner), own.read, DEPTH)

    def made_of(self, function: Any, names: frozenset[str]) -> None:
        """Note the parts of a function that may be replaced, and its defaults and attributes."""
        for part in ("__code__", "__defaults__", "__kwdefaults__"):
            if getattr(function, part) is not None and self.is_new(part, id(function)):
                title, value = f"{function.__name__}.{part}", getattr(function, part)
                self.append(Variable(function, part, title, ATTRIBUTE, value))
        for each in function.__defaults__ or ():
            self.follow(each, f"a default of {function.__name__}", names, DEPTH)
        if function.__kwdefaults__:
            self.entries(function.__kwdefaults__, f"{function.__name__}.defaults", names, DEPTH)

    def variables_of(self, function: Any, own: Names) -> None:
        """Note the variables of a function's closure and of its module."""
        names, outside = own.read, function.__globals__
        cells = function.__closure__ or ()
        counted = own.bound and own.bound - names_used(function.__code__)
        for name, cell in zip(function.__code__.co_freevars, cells, strict=True):
            if name not in counted:
                self.note(Variable(cell, None, name, CELL), names, DEPTH, empty=True)
        for name in sorted(names - counted):
            if name in outside and (name in own.outside or own.by_text):  # no attribute alone
                self.note(Variable(outside, name, name), names, DEPTH)
            elif name in own.outside or ("globals" in names and name in own.doubtful):
                self.missing(outside, (name,))
                if attribute(vars(builtins).get(name), "__module__") != "builtins":
                    self.note(Variable(vars(builtins), name, name), names, DEPTH)
            self.imported(name, str(outside.get("__package__") or ""), names)
        if own.doubtful:
            self.missing(sys.modules, own.doubtful - sys.modules.keys())

    def take(self, own: Names) -> None:
        """Add the names in the code of a function to those of the others."""
        self.by_text |= own.by_text
        texts = own.texts if self.by_text else frozenset()
        self.names |= own.read | texts
        self.doubtful |= own.doubtful | texts
        self.whole |= own.whole

    def missing(self, holder: Any, names: Iterable[str]) -> None:
        """Note that names are missing in a dict, as of a module or an object, or in a class."""
        self._missing.setdefault(id(holder), (holder, set()))[1].update(names)

    def imported(self, name: str, package: str, names: frozenset[str]) -> None:
        """Note a module that is imported while the function runs."""
        for key in (name, f"{package}.{name}"):
            module = sys.modules.get(key)
            if isinstance(module, types.ModuleType):
                self.note(Variable(sys.modules, key, key), names, DEPTH)

    def note(
        self, variable: Variable, names: frozenset[str], depth: int, *, empty: bool = False
    ) -> None:
        """Note a variable, and what is within; one that is `empty` too, if it may be filled."""
        value = variable.value = variable.now()
        library = is_library(value)
        if library and isinstance(value, types.ModuleType):
            self.look_at(value, variable.title, names, depth)
        imported = library and variable.title == variable.name  # which few bind anew
        if imported or (value is MISSING and not empty):
            return
        if self.is_new(variable.kind, id(variable.holder), variable.name):
            self.append(variable)
        if not library and value is not MISSING and len(self.variables) < MOST:
            self.follow(value, variable.title, names, depth)

    def follow(self, value: Any, title: str, names: frozenset[str], depth: int) -> None:
        """Note what is within a thing, or what it reads if it is a function."""
        if self.by_text and type(value) is str and value.isidentifier():
            self.names.add(value)
        self.watch(value, title)
        if attribute(value, "__class__") is None:  # which its `__getattribute__` does not know
            with suppress(AttributeError):  # of slots
                self.look_at(object.__getattribute__(value, "__dict__"), title, names, depth)
        elif isinstance(value, contextvars.ContextVar):
            self.note(Variable(value, None, title, CONTEXT), names, depth - 1, empty=True)
        elif isinstance(value, weakref.ref):
            self.note(Variable(value, None, title, CALLED), names, depth - 1)
            self.behind_reference(value(), title, names, depth - 1)
        elif isinstance(value, GETTERS):
            self.names.update(names_got(value))
        elif callable(value) and not isinstance(value, type):
            self.enter(value)
        else:
            self.look_at(value, title, names, depth)

    def watch(self, value: Any, title: str, *, weakly: bool = False, within: bool = False) -> None:
        """Look at the numbers of what is a small array, perhaps `within` an object of a library."""
        if not is_small(value) or len(self.arrays) >= MOST:
            return
        array = weakref.proxy(value) if weakly else value
        known = self.arrays.setdefault(id(value), WatchedArray(array, within=within))
        known.titles.append(title)

    def behind_reference(self, value: Any, title: str, names: frozenset[str], depth: int) -> None:
        """Note what is within an object that is only referred to weakly, and stays so."""
        self.watch(value, title, weakly=True)
        if is_function(value) or isinstance(value, types.MethodType):
            self.enter(value)
        elif value is not None and depth > 0 and not isinstance(value, SCALARS):
            self.look_at(weakref.proxy(value), title, names, depth)
            self.methods(type(value))

    def look_at(self, value: Any, title: str, names: frozenset[str], depth: int) -> None:
        """Note what is within an object: entries of containers, attributes that are read."""
        if isinstance(value, (tuple, frozenset, np.ndarray, *CONTAINERS)):
            self.held.setdefault(id(value), set()).add(title)
        if depth == 0 or not self.is_new(id(value), depth):
            return
        if isinstance(value, np.ndarray) and value.dtype.hasobject:
            self.elements(Variable(value, None, title, OBJECTS), names, depth)
        if isinstance(value, BUFFERS) and len(value) * getattr(value, "itemsize", 1) <= SMALL:
            whole = Variable(value, None, title, BYTES)
            whole.value = whole.now()
            self.append(whole)
        if isinstance(value, SCALARS) and attribute(value, "__dict__") is None:
            return
        if isinstance(value, (tuple, frozenset)):
            for place, each in enumerate(value):
                self.follow(each, f"{title}[{place}]", names, depth - 1)
        elif isinstance(value, CONTAINERS):
            self.entries(value, title, names, depth)
        self.look_within(value, title, names, depth)
        if is_library(value):  # a module, of which the function may ask what it has
            self.attributes(value, title, frozenset(self.doubtful), depth)
            return
        self.attributes(value, title, names | self.names, depth)
        if not isinstance(value, types.ModuleType):
            self.methods(value)

    def look_within(self, value: Any, title: str, names: frozenset[str], depth: int) -> None:
        """Note what a container keeps, and an object of a library: its fields and its arrays.

        Such are the learning rate of an optimizer, and the coefficients of a spline.
        """
        kind: Any = type(value)
        inside = [each for one, parts in INSIDE.items() if isinstance(value, one) for each in parts]
        for inner in inside:
            if not is_library(getattr(value, inner, None)):
                self.note(Variable(value, inner, title, ATTRIBUTE), names, depth)
        if isinstance(value, DICT_VIEWS):
            self.look_at(value.mapping, title, names, depth)
        if FIELDS in map(structure_of, filter(is_library_class, kind.__mro__)):
            for name in names_given(kind):
                self.note(Variable(value, name, f"{title}.{name}", ATTRIBUTE), names, depth - 1)
        if is_library_class(kind) and not is_library_name(package_of(value)):
            self.arrays_within(value, title, names, depth)

    def arrays_within(self, value: Any, title: str, names: frozenset[str], depth: int) -> None:
        """Note the arrays of an object of a library, and of those of its package that it has."""
        own = attribute(value, "__dict__")
        kind: Any = type(value)
        for name in sorted({*(own if type(own) is dict else ()), *slots_of(kind)}):
            held = attribute(value, name)
            known = isinstance(held, (np.ndarray, np.generic))  # such as a mask that is not there
            if known and self.is_new(ATTRIBUTE, id(value), name):
                self.append(Variable(value, name, f"{title}.{name}", ATTRIBUTE, held))
                self.watch(held, f"{title}.{name}", within=True)
            elif package_of(held) == package_of(value):  # which stands for it, perhaps
                self.look_at(held, f"{title}.{name}", names, depth - 1)

    def entries(self, value: Any, title: str, names: frozenset[str], depth: int) -> None:
        """Note the elements of a container, or the entries of a dict."""
        if len(value) > ELEMENTS:
            return
        few = len(value) <= ENTRIES
        if few and isinstance(value, (*KEYED, list)):
            for key in list(value) if isinstance(value, KEYED) else range(len(value)):
                self.note(Variable(value, key, f"{title}[{key!r}]"), names, depth - 1)
        for kind in (CONTENTS, VALUES) if isinstance(value, KEYED) and not few else (CONTENTS,):
            self.elements(Variable(value, None, title, kind), names, depth)

    def elements(self, whole: Variable, names: frozenset[str], depth: int) -> None:
        """Note all that is in a container at once."""
        whole.value = whole.now()
        if self.is_new(whole.kind, id(whole.holder)):
            self.append(whole)
        for place, each in enumerate(() if whole.value is MISSING else whole.value):
            self.follow(each, f"{whole.title}[{place}]", names, depth - 1)

    def attributes(self, value: Any, title: str, names: frozenset[str], depth: int) -> None:
        """Note attributes of an object, its own and those of its classes."""
        own = attribute(value, "__dict__")
        own = {} if own is None else own
        module = isinstance(value, types.ModuleType)
        if module and "__getattr__" in own:
            self.enter(own["__getattr__"])
        kinds = [] if module else classes_of(value)
        if kinds and not isinstance(value, type) and self.is_new("class", id(value)):
            kind = attribute(value, "__class__")  # of a weak proxy, what it stands for
            self.append(Variable(value, "__class__", f"{title}.__class__", ATTRIBUTE, kind))
        if self.whole and not module and type(own) is dict:
            self.entries(own, title, names, depth)
        if self.whole:
            names |= {name for kind in kinds for name in slots_of(kind)}
        missing = []
        if isinstance(value, type):  # which gives another proxy of its dict each time
            names -= {"__dict__"}
        makes_up = any("__getattr__" in each for each in (own, *map(vars, kinds)))
        doubtful = names if makes_up else self.doubtful
        for name in sorted(names):
            holder = next((each for each in kinds if name in vars(each)), None)
            method = holder is not None and bool(functions_of(vars(holder)[name]))
            if (holder is not None and not method) or (name in own and not isinstance(value, type)):
                variable = Variable(value, name, f"{title}.{name}", ATTRIBUTE)
                self.note(variable, names, depth - 1, empty=name in self.doubtful)
            elif method or name in doubtful:
                missing.append(name)
                for each in () if method else kinds:
                    self.missing(each, (name,))
        if isinstance(value, threading.local):  # whose dict is another in each thread
            for name in missing:
                self.note(Variable(value, name, f"{title}.{name}", ATTRIBUTE), names, 1, empty=True)
        elif type(own) is dict and missing:
            self.missing(own, missing)

    def methods(self, value: Any) -> None:
        """Enter what may be called of an object or a class: methods named, and special ones."""
        made = isinstance(value, type)  # by the function, perhaps
        kind = value if made else type(value)
        kinds = classes_of(kind)
        if not self.is_new("methods", kind, made) or not kinds:
            return
        if self.is_new("bases", kind):
            self.append(Variable(kind, "__mro__", kind.__name__, ATTRIBUTE, kind.__mro__))
        lower: list[type] = []
        for each in kinds:
            if "__subclasses__" in self.names:
                below = Variable(each, None, f"{each.__name__}.__subclasses__", SUBCLASSES)
                self.elements(below, frozenset(self.names), DEPTH)
            for name, found in list(vars(each).items()):
                special = name.startswith("__") and name.endswith("__") and name not in UNREAD
                functions = functions_of(found)
                if isinstance(found, functools.partialmethod):
                    self.look_at((found.args, found.keywords), name, frozenset(), DEPTH)
                making = name in ("__init__", "__new__")
                read = name in self.names or (special and (made or not making))
                if not functions or not read:
                    continue
                if self.is_new("method", each, name):
                    self.append(Variable(vars(each), name, f"{each.__name__}.{name}", value=found))
                for function in functions:
                    self.enter(function)
                for under in lower:
                    if name not in vars(under):
                        self.missing(under, (name,))
            lower.append(each)


def attribute(thing: Any, name: str) -> Any:
    """Give an attribute, whatever it raises to ask for one that is not there."""
    try:
        return getattr(thing, name, None)
    except Exception:  # as a class may do in its __getattr__
        return None


def is_function(thing: Any) -> bool:
    """Tell whether something is a function that Python code defines."""
    return isinstance(thing, types.FunctionType)


def names_got(getter: Any) -> Iterator[str]:
    """Give the names that one of the functions of `operator` looks up."""
    for each in getter.__reduce__()[1]:
        if isinstance(each, str):
            yield from each.split(".")


def title_of(value: Any) -> str:
    """Say what the user calls an object that has no name: after its class."""
    return str(value.__name__) if isinstance(value, type) else type(value).__name__


def is_small(value: Any) -> bool:
    """Tell whether something is an array that takes hardly any time to look at."""
    array = issubclass(type(value), np.ndarray)
    return array and value.nbytes <= SMALL and not value.dtype.hasobject


def objects_in(args: Iterable[Any]) -> list[Any]:
    """List what is among the arguments that is neither array nor number nor a plain structure."""
    given = tuple(args)
    leaves = [each for each in flatten(given) if not (varies(each) or is_library_class(each))]
    return [*leaves, *classes_in(given)]


def classes_in(tree: Any) -> list[type]:
    """List the user's classes that structures are made of."""
    structure = structure_of(tree.__class__)
    if structure is None:
        return []
    below = [kind for each in structure.values(tree) for kind in classes_in(each)]
    return [*classes_of(tree)[:1], *below]


def is_library(value: Any) -> bool:
    """Tell whether a value is a module or a class that users do not look into."""
    module = issubclass(type(value), types.ModuleType) and is_library_module(value)
    return module or is_library_class(value)


def is_library_class(value: Any) -> bool:
    """Tell whether a value is a class that users do not look into."""
    return issubclass(type(value), type) and is_library_module(value)


def package_of(value: Any) -> str:
    """Name the package that defines the class of an object."""
    return str(type(value).__module__).partition(".")[0]


def is_of_library(function: types.FunctionType) -> bool:
    """Tell whether users do not look into a function, whatever `wraps` says of its module."""
    name = str(function.__globals__.get("__name__"))
    return is_library_place(name, function.__code__.co_filename)


def functions_of(found: Any) -> list[types.FunctionType]:
    """List the functions that an attribute of a class is made of, if it is a method."""
    inside = ("__func__", "func", "dispatcher")
    parts = [found, *[getattr(found, name, None) for name in inside]]
    if isinstance(found, property):
        parts = [found.fget]
    parts = [each if is_function(each) else getattr(each, "__wrapped__", None) for each in parts]
    return [each for each in parts if isinstance(each, types.FunctionType)]


def classes_of(value: Any) -> list[type]:
    """List the user's classes of an object, or those that a class is made of."""
    kind = type(value)
    kinds = (value.__class__ if kind in weakref.ProxyTypes else kind).__mro__
    if isinstance(value, type):  # whose attributes are those of its own class as well
        kinds = (*value.__mro__, *kinds)
    return [each for each in kinds if not is_library_module(each)]
