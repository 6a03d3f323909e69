"""Which names the code of a function looks up, binds and makes use of."""

import dis
import functools
import types
from collections.abc import Iterator
from typing import Any

from attrs import frozen

from tape_ad.record.messages.callers import variables_bound

__all__ = ["Names", "names_in"]

LOOKUPS = frozenset(
    ("getattr", "hasattr", "vars", "globals", "__dict__", "attrgetter", "methodcaller")
)
"""Names of what looks up a name that is given as text."""
WHOLE = frozenset(("vars", "__dict__", "dir"))
"""Names of what gives all attributes of an object."""
OUTSIDE = frozenset(("LOAD_GLOBAL", "LOAD_NAME"))


@frozen
class Names:
    """The names in a function's code, with those of functions inside it.

    Attributes
    ----------
    read : frozenset of str
        All that it looks up: variables of the module, attributes, and what stands as text where
        something looks up text.
    outside : frozenset of str
        Those of them that are variables of the module.
    bound : frozenset of str
        The variables outside that it binds, as a counter does.
    used : frozenset of str
        Those whose values go into more than a count or a call that gives nothing, like a log.
    doubtful : frozenset of str
        Those that it looks up where they may be missing.
    by_text : bool
        Whether it may look up any text.
    whole : bool
        Whether it may look at all attributes of an object.
    """

    read: frozenset[str]
    outside: frozenset[str]
    bound: frozenset[str]
    used: frozenset[str]
    doubtful: frozenset[str]
    by_text: bool
    whole: bool


@functools.lru_cache(maxsize=1024)
def names_in(code: types.CodeType) -> Names:
    """Find the names in a function's code."""
    codes = list(codes_in(code))
    names = frozenset(name for each in codes for name in each.co_names)
    by_text = not LOOKUPS.isdisjoint(names)
    texts = frozenset(text for each in codes for text in texts_in(each.co_consts) if by_text)
    steps = [step for each in codes for step in dis.get_instructions(each)]
    doubtful = frozenset(name for each in codes if each.co_exceptiontable for name in each.co_names)
    return Names(
        names | texts,
        frozenset(step.argval for step in steps if step.opname in OUTSIDE),
        frozenset(variables_bound(code)),
        frozenset(name for each in codes for name in used_by(each)),
        doubtful | texts,
        by_text,
        not WHOLE.isdisjoint(names),
    )


def codes_in(code: types.CodeType) -> Iterator[types.CodeType]:
    """Give a function's code and that of all functions inside it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from codes_in(constant)


def texts_in(constants: Any) -> Iterator[str]:
    """Give the names in strings, as of ``getattr(x, "name")`` and ``attrgetter("one.other")``."""
    for each in constants:
        if isinstance(each, (tuple, frozenset)):
            yield from texts_in(each)
        elif isinstance(each, str):
            yield from (part for part in each.split(".") if part.isidentifier())


def used_by(code: types.CodeType) -> Iterator[str]:
    """Give the names whose values are used for more than to be counted up or written down.

    A statement that ends in a value which is thrown away is a call like ``log.append(step)``, and
    one that binds what it has read is a count, ``self.step += 1``. Any other counts as a use.
    """
    steps = list(dis.get_instructions(code))
    for place, step in enumerate(steps):
        if type(step.argval) is not str or not step.opname.startswith("LOAD"):
            continue
        if is_local(code, step) or step.opname in ("LOAD_CONST", "LOAD_CLOSURE"):
            continue
        end = next(filter(is_end, steps[place + 1 :]), None)
        if end is None or not (end.opname == "POP_TOP" or binds_again(code, end, step)):
            yield step.argval


def is_local(code: types.CodeType, step: dis.Instruction) -> bool:
    """Tell whether a variable is the function's own; Python 3.14 counts cells among the locals."""
    cells = (*code.co_freevars, *code.co_cellvars)
    return step.opcode in dis.haslocal and step.argval not in cells


def is_end(step: dis.Instruction) -> bool:
    """Tell whether a statement ends or branches here."""
    jumps = step.opcode in dis.hasjrel or step.opcode in dis.hasjabs
    return jumps or step.opname.startswith(("POP_TOP", "STORE", "RETURN", "YIELD"))


def binds_again(code: types.CodeType, end: dis.Instruction, step: dis.Instruction) -> bool:
    """Tell whether a statement binds the place that it has read."""
    if not end.opname.startswith("STORE"):
        return False
    if end.argval == step.argval and not is_local(code, end):
        return True
    place, within = step.positions, end.positions
    if place is None or within is None or None in (*place, *within):
        return False
    first, last = (within.lineno, within.col_offset), (within.end_lineno, within.end_col_offset)
    begin, finish = (place.lineno, place.col_offset), (place.end_lineno, place.end_col_offset)
    return bool(first <= begin and finish <= last)
