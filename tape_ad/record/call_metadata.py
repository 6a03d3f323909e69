"""What stood beside the handles in a node's call, so that a node can be read as one."""

import functools
import inspect
import re
from ast import literal_eval
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any

import numpy as np
from attrs import define

from tape_ad.base.naming import function_name

HANDLE: Any = type("Handle", (), {"__slots__": (), "__repr__": lambda self: "%"})()
"""What stands in a call for the one operand that the node has an edge to."""

ARRAY: Any = type("Array", (), {"__slots__": ()})()
"""What begins the tuple that is kept of an array, with its shape and dtype behind it."""

NUMBERS = frozenset({float, int, np.float64, np.float32, complex})
"""The types of operands that are kept as they are: small, and they can be read."""

ATOMS = NUMBERS | {bool, str, type(None), type(...)}
SEQUENCES = frozenset({tuple, list})
ABSENT = object()
NAMELESS = "", ABSENT
LONGEST = 40
"""Of a text or a sequence that a user has passed, no more characters and entries are shown."""


@define(repr=False)
class Ref:
    """A handle of the same record."""

    index: int

    def __repr__(self) -> str:
        return f"%{self.index}"


class Words(str):
    """What is shown as it is, without quotation marks."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


@define(eq=False)
class Call:
    """What a function was called with, as far as it can be kept.

    Attributes
    ----------
    operands : tuple
        Numbers and texts as they are, `HANDLE` for the one operand that the node has an edge to,
        a `Ref` for one of several, and a tuple that begins with `ARRAY` for any other array.
    options : mapping of str to such things
    """

    operands: tuple[Any, ...]
    options: Mapping[str, Any]


def unary_metadata(x: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """Take down the call of a function of one handle, in as few steps as there can be."""
    options = {**kwargs}  # nobody else has it, as a mark must be
    for value in options.values():
        if type(value) not in ATOMS and not is_light(value):
            return call_of(x.record, (x.index,), args, kwargs)
    if len(args) == 1:
        return options
    operands = []
    for each in args:
        kind = type(each)
        if each is x:
            operands.append(HANDLE)
        elif kind in ATOMS or is_light(each):
            operands.append(each)
        elif kind is np.ndarray:
            operands.append((ARRAY, each.shape, each.dtype))
        else:
            return call_of(x.record, (x.index,), args, options)
    return Call(tuple(operands), options) if options else tuple(operands)


def is_light(value: Any) -> bool:
    """Tell whether an argument is a tuple that is kept as it is, such as axes."""
    return type(value) is tuple and len(value) <= LONGEST and ATOMS.issuperset(map(type, value))


def beside_several(
    record: Any, parents: Sequence[int], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> Any:
    """Take down the call of a function of several handles."""
    operands, met = [], []
    flat = args[0] if len(args) == 1 and type(args[0]) in SEQUENCES else args
    for each in flat:
        kind = type(each)
        if kind is np.ndarray:
            operands.append((ARRAY, each.shape, each.dtype))
        elif kind in ATOMS:
            operands.append(each)
        elif getattr(each, "record", ABSENT) is record:
            met.append(each.index)
            operands.append(HANDLE)
        else:
            return call_of(record, parents, args, kwargs)
    if met != parents or len(met) > LONGEST:
        return call_of(record, parents, args, kwargs)
    given = tuple(operands) if flat is args else (operands,)
    options = {**kwargs}
    for value in options.values():
        if type(value) not in ATOMS and not is_light(value):
            return call_of(record, parents, args, kwargs)
    return Call(given, options) if options else given


def call_of(
    record: Any, parents: Sequence[int], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> Call:
    """Take down a call of any kind."""
    operands = tuple([taken_down(record, each) for each in args])
    return Call(operands, {key: taken_down(record, value) for key, value in kwargs.items()})


def taken_down(record: Any, value: Any) -> Any:
    """Return what a record keeps of an argument, to show the call later."""
    kind = type(value)
    if kind in ATOMS:
        return value
    if getattr(value, "record", ABSENT) is record:
        return Ref(value.index)
    if kind in SEQUENCES:
        kept = [taken_down(record, each) for each in value[:LONGEST]]
        return kind([*kept, ...] if len(value) > LONGEST else kept)
    if hasattr(kind, "shape") and hasattr(kind, "dtype"):
        return (ARRAY, value.shape, value.dtype)
    return Words(in_words(value))


def in_words(value: Any) -> str:
    """Name an argument that is neither a number nor an array."""
    if type(value) is slice:
        return as_slice(value)
    if isinstance(value, (type, np.dtype)):
        return str(getattr(value, "__name__", value))
    return function_name(value) if callable(value) else f"<{type(value).__name__}>"


def key_of(partials: Iterable[Any]) -> Call | None:
    """Take down the key of what picks from an array, which its map has anyway."""
    keys = [partial.key for partial in partials if hasattr(partial, "key")]
    if not keys:
        return None
    shown = taken_down(None, keys[0])
    return Call((HANDLE, shown[0] if type(shown) is tuple and len(shown) == 1 else shown), {})


def as_slice(key: slice) -> str:
    """Write a slice as Python does between brackets; one that holds arrays by its parts' types."""
    parts = [
        "" if part is None else repr(part) if type(part) in ATOMS else f"<{type(part).__name__}>"
        for part in (key.start, key.stop, key.step)
    ]
    return ":".join(parts if parts[2] else parts[:2])


def shown(value: Any, edges: Iterator[int]) -> str:
    """Write an argument for a reader."""
    if value is HANDLE:
        return f"%{next(edges, '')}"
    if type(value) in SEQUENCES:
        if value[:1] == (ARRAY,):
            return f"{value[2]}[{','.join(map(str, value[1]))}]"
        parts = ", ".join(shown(each, edges) for each in value)
        lone = "," * (type(value) is tuple and len(value) == 1)
        return f"[{parts}]" if type(value) is list else f"({parts}{lone})"
    if value is ...:
        return "..."
    if type(value) is str and len(value) > LONGEST:
        value = value[:LONGEST] + "..."
    return str(value) if isinstance(value, np.generic) else repr(value)


def written(function: Any, parents: Sequence[int], call: Any) -> str:
    """Write a node's call, as ``power %4, 2`` or ``sum %5, axis=0``.

    Parameters
    ----------
    function : callable, None or str
        As an arena has it.
    parents : sequence of int
        The nodes at the node's edges.
    call : Call, tuple, dict, str or None
        What the arena has in `calls`: a tuple of operands and a dict of options are of calls that
        have no more to them, and a text is the path of a leaf.

    Returns
    -------
    str
    """
    operands: tuple[Any, ...] = (HANDLE,) * len(parents)
    options: Mapping[str, Any] = {}
    if isinstance(call, Call):
        operands, options = call.operands, call.options
    elif isinstance(call, tuple):
        operands = call
    elif isinstance(call, dict):
        options = call
    elif call:
        operands = (Words(name_of(call)),)
    edges = iter(parents)
    named = defaults_of(function)[: len(operands)]
    parts = []
    for each, (name, default) in zip_longest(operands, named, fillvalue=NAMELESS):
        by_name = name and (type(each) in ATOMS or is_light(each))
        if not by_name or each is not default:
            parts.append(f"{name}=" * bool(by_name) + shown(each, edges))
    parts += [f"{key}={shown(value, edges)}" for key, value in options.items()]
    return f"{function_name(function)} {', '.join(parts)}".rstrip()


@functools.lru_cache(64)
def defaults_of(function: Any) -> list[tuple[str, Any]]:
    """List the parameters of a function: a name and the default, or nothing where there is none."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # a ufunc, or nothing that is called
        return []
    empty = inspect.Parameter.empty
    return [NAMELESS if each.default is empty else (each.name, each.default) for each in parameters]


STEP = re.compile(r"\[(?P<key>'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|[^'\"\]]+)\]|\.(?P<field>\w+)")


def name_of(path: str) -> str:
    """Name a leaf by its way in a bound structure: ``['layers'][0].w`` is ``layers/0/w``.

    Examples
    --------
    >>> name_of("['layers'][0].w")
    'layers/0/w'
    """
    steps, end = [], 0
    for step in STEP.finditer(path):
        if step.start() != end:
            break
        end = step.end()
        key = step["key"]
        text = step["field"] if key is None else key
        steps.append(str(literal_eval(text)) if text[0] in "'\"" else text)
    return "/".join(steps) if end == len(path) else path
