"""What a function finds around itself: variables of a closure, of its module and of its instance.

A program keeps the arrays that it has met there, and numbers are part of it. So a variable that is
bound to something else makes it another function, as a changed guard does.
"""

import array
import builtins
import collections
import contextvars
import enum
import functools
import gc
import io
import operator
import pickle
import random
import re
import sys
import threading
import types
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import Any, Self

import numpy as np
from attrs import define, field

from tape_ad.base.arrays.overridable import is_traced
from tape_ad.base.trees import FIELDS, flatten, names_given, slots_of, structure_of
from tape_ad.programs.capture.code_names import Names, codes_in, names_in, names_used
from tape_ad.programs.capture.generators import access_to, generator_of
from tape_ad.programs.capture.reads import Reads, operands_alone
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
    guarded_replay,
    word_of,
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
FEW = 2**12
"""How many where the program reads it as well."""
FOLLOWED = 2
"""After how many changes that leave the program as it is such an array is compared no more, if
nothing else than the program reads it."""
REPLAYS = 4
"""How many replays pay for a capture after such a change."""
REACHED = r"[\w.]+(\[[^]]*\])*"
"""What titles are of that by which code reaches a thing by one name, which may be a container's."""
DEPTH = 6
"""How deep nested dicts, lists and objects are opened."""
ENTRIES = 64
"""How many entries dicts and lists may have to be noted one by one."""
ELEMENTS = 4096
"""How many elements a container may have to be noted as a whole."""
ROUNDS = 8
"""How often all is searched again with the names that the methods found then read."""
STALE: Any = object()
"""What a replay gives where it is not for now."""

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
class FreeVariables:
    """The variables that a function reads and does not write to itself.

    Attributes
    ----------
    variables : list of Variable
    numbers : list of WatchedArray
        Small arrays among them: plain NumPy may have computed something from them.
    state : list of Variable or WatchedArray
        Those that it writes to and makes use of.
    full : bool
        Whether there are more variables than are watched.
    """

    variables: list[Variable] = field(factory=list)
    numbers: list[WatchedArray] = field(factory=list)
    state: list[Variable | WatchedArray] = field(factory=list)
    full: bool = False
    _names: set[str] = field(factory=set)
    _codes: set[types.CodeType] = field(factory=set)
    _doubtful: set[str] = field(factory=set)
    _by_text: bool = False
    _whole: bool = False
    _missing: dict[int, tuple[Any, set[str]]] = field(factory=dict)
    _arrays: dict[int, WatchedArray] = field(factory=dict)
    _held: dict[int, set[str]] = field(factory=dict)
    _seen: set[Any] = field(factory=set)

    @classmethod
    def of(cls, function: Any, objects: Any = ()) -> "FreeVariables":
        """Find the variables of a function, and those of the functions that it calls.

        Parameters
        ----------
        function : callable
        objects : iterable
            Further objects whose attributes it may read: arguments that are no arrays.
        """
        found, known = cls(), -1
        for _ in range(ROUNDS):  # as any function may read attributes of any object
            if (size := len(found._names) + len(found._doubtful)) == known:
                break
            known = size
            found.variables, found._seen, found._missing, found.full = [], set(), {}, False
            found._arrays, found._held = {}, {}
            found.enter(function)
            for each in objects:
                names = frozenset(found._names)
                if isinstance(each, types.ModuleType):
                    found.attributes(each, each.__name__, names, DEPTH)
                found.follow(each, title_of(each), names, DEPTH)
            for holder, missing in found._missing.values():
                keys = vars(holder).keys() if isinstance(holder, type) else holder.keys()
                found.append(Variable(keys, frozenset(missing), "", PRESENT, ()))
        found.watch_numbers()
        return found

    def forget_changed(self) -> Self:
        """Forget the variables that the function has changed itself, when it has run.

        What it has changed and goes by is its `state`.
        """
        written = [each for each in self.numbers if not each.holds()]
        self._arrays = {at: each for at, each in self._arrays.items() if each not in written}
        changed = [each for each in self.variables if not each.holds()]
        iterators = [each for each in self.variables if is_iterator(each.value)]
        touched: list[Variable | WatchedArray] = [*written, *changed, *iterators]
        self.state = [each for each in touched if self.uses(each)]
        logs = tuple(
            [f"{each.title}[" for each in changed if each.kind == CONTENTS and not self.uses(each)]
        )
        self.variables = [
            each
            for each in self.variables
            if each not in changed and not each.title.startswith(logs)
        ]
        return self

    def uses(self, variable: Variable | WatchedArray) -> bool:
        """Tell whether a variable is read for more than to be counted up or written down."""
        word = word_of(variable.title)
        return not word.isidentifier() or any(word in names_used(each) for each in self._codes)

    def append(self, variable: Variable) -> None:
        """Watch a variable, unless there are too many."""
        if len(self.variables) >= MOST:
            self.full = True
            return
        self.variables.append(variable)

    def bound_to_tracer(self) -> str:
        """Name a variable that is bound to what is captured, and put back all those that are."""
        found = [each for each in self.variables if is_traced(each.now())]
        for each in found:
            each.restore()
        return found[0].title if found else ""

    def changed(self) -> str:
        """Name a variable that is bound to something else now; nothing if there is none."""
        places: list[Variable | WatchedArray] = [*self.variables, *self.numbers]
        return next((each.named() for each in places if not each.holds()), "")

    def watch_numbers(self, read: Iterable[Any] = ()) -> None:
        """Look at what is in the small arrays, and in smaller ones that a program reads, too.

        For plain NumPy may have computed one of its numbers from these, which would be half old and
        half new, or the function may branch on them. Where they change and nothing else does, they
        are followed.

        Parameters
        ----------
        read : iterable of ndarray
        """
        constants, self.numbers = list(read), []
        for each in self._arrays.values():
            in_program = any(np.may_share_memory(each.array, constant) for constant in constants)
            if each.array.nbytes <= (FEW if in_program else SMALL):
                each.contents, each.read = each.now(), in_program or each.within
                self.numbers.append(each)

    def follow_as(self, earlier: "FreeVariables") -> None:
        """Look no more at the numbers that are followed since an earlier call."""
        changes = {id(each.array): each.changes for each in earlier.numbers}
        followed = earlier._arrays.keys() - changes.keys()
        self.numbers = [each for each in self.numbers if id(each.array) not in followed]
        for each in self.numbers:
            each.changes = changes.get(id(each.array), 0)

    def outgrown(self) -> bool:
        """Tell whether nothing has changed but numbers in arrays that the program reads."""
        changed = [each for each in self.numbers if not each.holds()]
        return bool(changed) and all(each.read for each in changed) and self.bound()

    def nearly_followed(self) -> list[Any]:
        """List the arrays that are followed after this change, if they are only read."""
        return [
            each.array for each in self.numbers if each.changes == FOLLOWED - 1 and not each.holds()
        ]

    def follow_numbers(self, reads: Reads, *, effectless: bool) -> None:
        """Take other numbers for the same program.

        Where that happens repeatedly, they are looked at no more if all that the function does with
        them is noted.

        Parameters
        ----------
        reads : Reads
            Where the calls of the program read arrays.
        effectless : bool
            Whether such changes have led to no other program, and count.
        """
        for each in self.numbers:
            if not each.holds():
                each.contents, each.changes = each.now(), each.changes + effectless
        self.numbers[:] = [
            each
            for each in self.numbers
            if each.changes < FOLLOWED or not self.only_noted(each, reads)
        ]

    def only_noted(self, watched: WatchedArray, reads: Reads) -> bool:
        """Tell whether an array is read by arithmetic that is noted, and by nothing else."""
        titles = self.every_title(watched)
        plain = all(re.fullmatch(REACHED, each) for each in titles)
        if self._by_text or self._whole or watched.within or not plain:
            return False
        words = set(map(word_of, titles))
        named: set[str] = set()
        for code in {each for one in self._codes for each in codes_in(one)}:
            if not words.isdisjoint(code.co_names + code.co_varnames + code.co_freevars):
                places = reads.always_at(watched.array, code)
                leaves = reads.always_at(watched.array, code, as_leaf=True)
                found = operands_alone(code, words, places, leaves)
                if found is None:
                    return False
                named |= found
        return named == words  # else something else reaches it, as ``total = w.sum`` does

    def every_title(self, watched: WatchedArray) -> set[str]:
        """List the titles of an array, and of the containers that it is in."""
        found: set[str] = set()
        more = set(watched.titles)
        while not more <= found:
            found |= more
            for titles in self._held.values():
                if any(each.startswith(f"{title}[") for each in found for title in titles):
                    more |= titles
        return found

    def unfollowed(self, replays: int, most: int) -> str:
        """Name an array whose numbers have changed too often for so many replays, if any has."""
        return next(
            (
                each.title
                for each in self.numbers
                if each.changes > most and replays < REPLAYS * each.changes
            ),
            "",
        )

    def draws(self) -> dict[str, bytes]:
        """Give the states of the generators of random numbers that the function reads."""
        places = {each.title: each.value for each in self.variables}
        if "random" in self._names:  # it may be a module
            places |= {"np.random": np.random, "random": random}
        states = {title: state_of_generator(value) for title, value in places.items()}
        return {title: state for title, state in states.items() if state is not None}

    def asks(self, question: Callable[[types.CodeType], bool]) -> bool:
        """Tell whether any of the code asks a question: `asks_type` or `asks_identity`."""
        return any(question(part) for code in self._codes for part in codes_in(code))

    def places(self) -> frozenset[int]:
        """Give the ids of what holds the variables, and of what they are bound to."""
        return frozenset(id(each) for one in self.variables for each in (one.holder, one.value))

    def bound(self) -> bool:
        """Tell whether all variables are what they were, whatever numbers are in their arrays."""
        return all(each.holds() for each in self.variables)

    def hold(self) -> bool:
        """Tell whether all variables are what they were."""
        return self.bound() and all(each.holds() for each in self.numbers)

    def guarding(self, replay: Callable[..., Any]) -> Callable[..., Any]:
        """Let a replay say that it is not for now, by `STALE`, where a variable has changed."""
        if not self.variables:
            return replay
        return guarded_replay(self.variables, self.numbers, replay, self.hold, STALE)

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
        self.attributes(function, function.__name__, frozenset(self._names), DEPTH)
        if is_of_library(function):
            return
        own = names_in(function.__code__)
        self._codes.add(function.__code__)
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
        self._by_text |= own.by_text
        texts = own.texts if self._by_text else frozenset()
        self._names |= own.read | texts
        self._doubtful |= own.doubtful | texts
        self._whole |= own.whole

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
        if self._by_text and type(value) is str and value.isidentifier():
            self._names.add(value)
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
            self._names.update(names_got(value))
        elif callable(value) and not isinstance(value, type):
            self.enter(value)
        else:
            self.look_at(value, title, names, depth)

    def watch(self, value: Any, title: str, *, weakly: bool = False, within: bool = False) -> None:
        """Look at the numbers of what is a small array, perhaps `within` an object of a library."""
        if not is_small(value) or len(self._arrays) >= MOST:
            return
        array = weakref.proxy(value) if weakly else value
        known = self._arrays.setdefault(id(value), WatchedArray(array, within=within))
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
            self._held.setdefault(id(value), set()).add(title)
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
            self.attributes(value, title, frozenset(self._doubtful), depth)
            return
        self.attributes(value, title, names | self._names, depth)
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
        for name in sorted({*(own if type(own) is dict else ()), *slots_of(type(value))}):
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
        if self._whole and not module and type(own) is dict:
            self.entries(own, title, names, depth)
        if self._whole:
            names |= {name for kind in kinds for name in slots_of(kind)}
        missing = []
        if isinstance(value, type):  # which gives another proxy of its dict each time
            names -= {"__dict__"}
        makes_up = any("__getattr__" in each for each in (own, *map(vars, kinds)))
        doubtful = names if makes_up else self._doubtful
        for name in sorted(names):
            holder = next((each for each in kinds if name in vars(each)), None)
            method = holder is not None and bool(functions_of(vars(holder)[name]))
            if (holder is not None and not method) or (name in own and not isinstance(value, type)):
                variable = Variable(value, name, f"{title}.{name}", ATTRIBUTE)
                self.note(variable, names, depth - 1, empty=name in self._doubtful)
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
            if "__subclasses__" in self._names:
                below = Variable(each, None, f"{each.__name__}.__subclasses__", SUBCLASSES)
                self.elements(below, frozenset(self._names), DEPTH)
            for name, found in list(vars(each).items()):
                special = name.startswith("__") and name.endswith("__") and name not in UNREAD
                functions = functions_of(found)
                if isinstance(found, functools.partialmethod):
                    self.look_at((found.args, found.keywords), name, frozenset(), DEPTH)
                making = name in ("__init__", "__new__")
                read = name in self._names or (special and (made or not making))
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


def is_iterator(value: Any) -> bool:
    """Tell whether something gives another element each time; a file is for writing."""
    kind = type(value)
    lasting = issubclass(kind, io.IOBase) or kind in weakref.ProxyTypes
    return hasattr(kind, "__next__") and not lasting


def names_got(getter: Any) -> Iterator[str]:
    """Give the names that one of the functions of `operator` looks up."""
    for each in getter.__reduce__()[1]:
        if isinstance(each, str):
            yield from each.split(".")


def title_of(value: Any) -> str:
    """Say what the user calls an object that has no name: after its class."""
    return str(value.__name__) if isinstance(value, type) else type(value).__name__


def state_of_generator(value: Any) -> bytes | None:
    """Give the state of a generator of random numbers, which each draw changes."""
    try:
        generator = generator_of(value)
    except Exception:  # of a class that raises anything where it is asked
        return None
    return None if generator is None else pickle.dumps(access_to(generator)[0]())


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
