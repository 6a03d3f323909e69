"""What a call leaves behind in objects of the original code: plain arrays in place of constants.

Copies put what they make into the lists, dicts, attributes and globals that the code says, which
are those of the original. When the outermost call is over, the original code may come to them.
"""

import threading
from collections.abc import Callable
from typing import Any

from tape_ad.record.constants import CONSTANTS, given_away
from tape_ad.transforms.differentiable.reach import reaches

__all__ = ["calling", "note_global", "note_shared", "settled"]

MOST = 256
"""How many entries a container may have to be looked through."""


class Calls(threading.local):
    """The calls of a thread that are going on, and the objects that they share with others."""

    depth = 0

    def __init__(self) -> None:
        self.shared: dict[int, Any] = {}
        self.names: list[tuple[dict[str, Any], str]] = []


CALLS = Calls()


def note_shared(thing: Any) -> None:
    """Note a list, dict or set of the original code that a copy has come to."""
    if CALLS.depth:
        CALLS.shared[id(thing)] = thing


def note_global(module: dict[str, Any], name: str) -> None:
    """Note that a copy has assigned to a global of the original code."""
    CALLS.names.append((module, name))
    if not CALLS.depth:
        settle_all()


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
    """Settle what the calls that are over have shared with the original code."""
    while CALLS.names:
        module, name = CALLS.names.pop()
        if name in module:
            module[name] = settled(module[name])
    while CALLS.shared:
        settle(CALLS.shared.popitem()[1])


def settle(thing: Any) -> None:
    """Put plain arrays in place of constants, and leave out what is found by handles alone."""
    attributes = getattr(thing, "__dict__", None)
    if isinstance(attributes, dict):
        settle(attributes)
    if not isinstance(thing, (dict, set, list)) or len(thing) > MOST:
        return
    if isinstance(thing, dict):
        kept = [pair for pair in thing.items() if type(pair[0]) is str or not reaches(pair[0])]
        if len(kept) < len(thing):
            thing.clear()  # for a handle is hashed in copies alone
            thing.update(kept)
        for key, value in [*thing.items()]:
            if type(value) in HOLDING:
                found = settled(value)
                if found is not value:
                    thing[key] = found
    elif isinstance(thing, set):
        kept = [each for each in thing if not reaches(each)]
        if len(kept) < len(thing):
            thing.clear()
            thing.update(kept)
    else:
        for i, value in enumerate(thing):
            if type(value) in HOLDING:
                thing[i] = settled(value)


HOLDING = frozenset({*CONSTANTS, list, tuple})


def settled(value: Any) -> Any:
    """Give a plain array in place of a constant, also within a list or tuple."""
    if type(value) in CONSTANTS:
        return given_away(value) if value.data.flags.writeable else value.data
    if type(value) is tuple:
        found = tuple(map(settled, value))
        return value if all(a is b for a, b in zip(found, value, strict=True)) else found
    if type(value) is list and len(value) <= MOST:
        settle(value)
    return value
