"""What a call leaves behind in objects of the original code: plain arrays, and no copies.

Copies put what they make into the lists, dicts, attributes and globals that the code says, which
are those of the original. When the outermost call is over, the original code may come to them.
"""

import collections
import contextlib
import operator
import threading
import types
import weakref
from collections.abc import Callable
from sys import getrefcount
from typing import Any

import numpy as np

from tape_ad.base.trees import MISSING, content_of
from tape_ad.record.constants import CONSTANTS, given_away
from tape_ad.rules.numpy.bodies import bound_to
from tape_ad.transforms.differentiable.reach import is_active, reaches
from tape_ad.transforms.differentiable.table import ORIGINALS, original_of, source_of
from tape_ad.transforms.differentiable.watching import PLAIN

MOST = 1 << 16
"""How many entries a container may have to be looked through, and how many objects are."""


class Calls(threading.local):
    """The calls of a thread that are going on, and the objects that they share with others."""

    depth = 0

    def __init__(self) -> None:
        self.shared: dict[int, Any] = {}
        self.twins: dict[int, Any] = {}
        self.names: list[tuple[Any, str]] = []


CALLS = Calls()


def note_shared(thing: Any) -> None:
    """Note a container or object of the original code that a copy has come to."""
    if CALLS.depth:
        CALLS.shared[id(thing)] = thing


def is_shared(thing: Any) -> bool:
    """Tell whether something has been noted; outside of calls nothing is."""
    return not CALLS.depth or CALLS.shared.get(id(thing)) is thing


def note_twin(twin: Any) -> None:
    """Keep what is seen in place of an object until the calls are over, also where it is weakly."""
    if CALLS.depth:
        CALLS.twins[id(twin)] = twin


def note_global(module: dict[str, Any], name: str) -> None:
    """Note that a copy has assigned to a global of the original code."""
    CALLS.names.append((module, name))
    if not CALLS.depth:
        settle_all()


def note_attribute(kind: type, name: str) -> None:
    """Note that a copy has assigned to an attribute of a class of the original code."""
    if CALLS.depth:
        CALLS.names.append((kind, name))


def calling(function: Callable[..., Any], *args: Any) -> Any:
    """Call a function, and settle what it leaves behind if no other is going on around it."""
    CALLS.depth += 1
    try:
        return function(*args)
    finally:
        CALLS.depth -= 1
        if not CALLS.depth:
            settle_all()


def settle_all() -> None:
    """Settle what the calls that are over have shared with the original code.

    What copies have made is settled like it where nothing but what is settled holds it. What others
    hold too, as an object that a user has of a copied class, keeps the copies that are in it.
    """
    waiting: list[Any] = []
    while CALLS.names:
        owner, name = CALLS.names.pop()
        if isinstance(owner, type):
            if name in vars(owner):
                setattr(owner, name, settled(vars(owner)[name], waiting))
        elif name in owner:
            owner[name] = settled(owner[name], waiting)
    seen = dict(CALLS.shared)
    CALLS.shared.clear()
    CALLS.twins.clear()
    for thing in [*seen.values()]:
        settle(thing, waiting)
    while waiting and len(seen) < MOST:
        alone = references(waiting) == ALONE
        thing = waiting.pop()
        if id(thing) not in seen:
            seen[id(thing)] = thing
            if alone and type(thing) in ORIGINALS and not reaches(thing):
                with contextlib.suppress(TypeError):  # of another layout
                    vars(object)["__class__"].__set__(thing, original_of(type(thing)))
            if alone or type(thing) in CONTAINERS:
                settle(thing, waiting, alone)


def references(things: list[Any]) -> int:
    """Count the references to the last of some things."""
    return getrefcount(things[-1])


HELD: list[Any] = [[]]
ALONE = references([*HELD])
"""The references to what nothing but one container holds, and the list of what is to be settled."""


def settle(thing: Any, waiting: list[Any], alone: bool = True) -> None:
    """Put plain arrays and originals in place of constants and copies in a container or object.

    What is found by handles alone is left out. What else has to be settled is put on a list. Copies
    stay where others hold the container too.
    """
    kind = type(thing)
    if kind.__dictoffset__ and isinstance(vars(thing), dict):
        settle_dict(vars(thing), dict, waiting, alone)
    for member in members_of(kind).values():
        with contextlib.suppress(AttributeError):  # of one that nothing was assigned to
            value = member.__get__(thing)
            found = settled(value, waiting, alone)
            if found is not value:
                member.__set__(thing, found)
    base: Any = next((each for each in CONTAINERS if issubclass(kind, each)), None)
    if base is None or len(thing) > MOST:
        return
    if issubclass(base, (dict, set)):
        settle_keys(thing, base, waiting, alone)
    if issubclass(base, dict):
        settle_dict(thing, base, waiting, alone)
    elif base is not set:
        for i, value in enumerate([*base.__iter__(thing)]):
            found = settled(value, waiting, alone)
            if found is not value:
                base.__setitem__(thing, i, found)


def settle_keys(thing: Any, base: Any, waiting: list[Any], alone: bool) -> None:
    """Settle the keys of a dict or what is in a set; handles are hashed in copies alone."""
    keys = [*base.__iter__(thing)]
    if STAYING.issuperset(map(type, keys)):
        return
    found = {key: settled(key, waiting, alone) for key in keys if not has_a_handle(key)}
    if len(found) == len(keys) and all(map(operator.is_, found.values(), keys)):
        return
    own: Any = found.values()
    if base is not set:
        own = {found[key]: base.__getitem__(thing, key) for key in found}
    base.clear(thing)
    base.update(thing, own)


def has_a_handle(key: Any) -> bool:
    """Tell whether the key of a dict is a handle, or a tuple with one in it."""
    return any(map(has_a_handle, key)) if isinstance(key, (tuple, frozenset)) else is_active(key)


def settle_dict(thing: Any, base: Any, waiting: list[Any], alone: bool) -> None:
    """Settle the values of a dict."""
    if len(thing) <= MOST and not STAYING.issuperset(map(type, base.values(thing))):
        for key, value in [*base.items(thing)]:
            found = settled(value, waiting, alone)
            if found is not value:
                base.__setitem__(thing, key, found)


CONTAINERS = (collections.OrderedDict, collections.defaultdict, dict, list, set, collections.deque)
"""The types in C of containers that are converted with what is in them."""

STAYING = PLAIN | {np.ndarray, np.float64, np.bool_, np.int64, np.float32, np.complex128}
"""Types of what is left as it is."""


def members_of(kind: type) -> dict[str, Any]:
    """Give the slots that a class and those it derives from have under their names."""
    named = {
        name: member for owner in reversed(kind.__mro__) for name, member in vars(owner).items()
    }
    return {
        name: member for name, member in named.items() if type(member) is types.MemberDescriptorType
    }


def settled(value: Any, waiting: list[Any], alone: bool = True) -> Any:  # noqa: PLR0911 - one for each kind
    """Give a plain array in place of a constant, and the original in place of a copy."""
    kind = type(value)
    if kind in STAYING:
        return value
    if kind in CONSTANTS:
        return plain_array(value)
    if isinstance(value, tuple):
        found = [settled(each, waiting, alone) for each in value]
        return value if all(map(operator.is_, found, value)) else tuple.__new__(kind, found)
    if kind in CONTAINERS:
        waiting.append(value)
    if not alone:
        return value
    if kind is types.MethodType:
        function, owner = settled(value.__func__, waiting), settled(value.__self__, waiting)
        same = function is value.__func__ and owner is value.__self__
        return value if same else types.MethodType(function, owner)
    source = source_of(value)
    if source is not value:
        module = str(getattr(value, "__module__", ""))
        is_counterpart = module.startswith("tape_ad.") and not module.startswith(__package__)
        return value if is_counterpart else source
    if kind is types.FunctionType and hasattr(value.__globals__, "original"):
        return of_original_code(value, waiting)
    if kind in ORIGINALS:
        waiting.append(value)
    return value


GIVEN: "weakref.WeakValueDictionary[int, Any]" = weakref.WeakValueDictionary()
"""The arrays that have been given to the original code and to users, by their identity."""


def plain_array(constant: Any) -> Any:
    """Give the array of a constant, and the same again where it, or a view, is given once more."""
    if type(constant.data) is not np.ndarray or not constant.data.flags.writeable:
        return constant.data
    base = memory_of(constant.data)
    if GIVEN.get(id(base)) is not base:
        given_away(constant)
        base = memory_of(constant.data)
        GIVEN[id(base)] = base
    return constant.data


def memory_of(array: Any) -> Any:
    """Give the array that has the memory of a view."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def of_original_code(copy: Any, waiting: list[Any]) -> Any:
    """Give a function that was defined within a copy as the original would have defined it."""
    cells = []
    for cell in copy.__closure__ or ():
        value = content_of(cell)
        stays = value is copy or value is MISSING  # as what is defined later is
        found = value if stays else settled(value, waiting)
        cells.append(cell if found is value else types.CellType(found))
    made = bound_to(copy, copy.__globals__.original, tuple(cells) or None)
    made.__dict__ = copy.__dict__
    made.__defaults__ = copy.__defaults__ and tuple(
        settled(each, waiting) for each in copy.__defaults__
    )
    return made
