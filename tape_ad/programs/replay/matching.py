"""Functions written for one key: what takes arguments apart, and what puts results together.

Both are Python text with a line or two for each leaf, as a walk over the trees would take longer
than many a program.
"""

import operator
from collections.abc import Callable, Iterator, Mapping
from itertools import count
from typing import Any

import numpy as np
from attrs import define, field

from tape_ad.base.trees import (
    FIELDS,
    MISSING,
    attributes_beside,
    fields_of,
    instance_dict,
    structure_of,
)
from tape_ad.programs.program import Value
from tape_ad.programs.program.keys import GENERATORS, source_of, varies

Leaves = tuple[Any, ...]
COMPARED = frozenset({str, bytes})
"""Types of static leaves that are compared by ``!=``. Others have to be the very same object, or
`key_of` finds out."""
EXACT = frozenset({str, bytes, int})
"""Types of keys that are compared by ``!=`` and by their types."""


@define
class Writer:
    """The lines of a function that is being written, and what they refer to.

    Attributes
    ----------
    lines : list of str
    bound : dict
        Objects by the names that stand for them.
    leaves : list of str
        The names of the leaves that vary.
    generators : list of tuple
        The names of the generators among them, each with one of the calls that it is written for.
    """

    lines: list[str] = field(factory=list)
    bound: dict[str, Any] = field(factory=dict)
    leaves: list[str] = field(factory=list)
    generators: list[tuple[str, Any]] = field(factory=list)
    _numbers: Iterator[int] = field(factory=count)

    def add(self, line: str) -> None:
        """Append a line to the source of the check."""
        self.lines.append(f"    {line}")

    def new(self) -> str:
        """Give a name that is still free."""
        return f"v{next(self._numbers)}"

    def bind(self, thing: Any) -> str:
        """Give a name to an object."""
        name = f"c{len(self.bound)}"
        self.bound[name] = thing
        return name

    def function(self, head: str) -> Callable[..., Any]:
        """Make the function of which this is the body."""
        source = "\n".join([f"def written({head}):", *self.lines])
        space = dict(self.bound)
        code = compile(source, "<written for a compiled function>", "exec")
        exec(code, space)  # noqa: S102 - written above, of nothing but names and numbers
        found: Callable[..., Any] = space.pop("written")  # no cycle of it and its names
        return found


def matcher(
    args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> Callable[[tuple[Any, ...], dict[str, Any]], Leaves | None]:
    """Make a function that gives the leaves of calls with the same key as this one, else None.

    It may give None for a call with this key too, for which `key_of` has the last word: it looks
    at what is quick to see.

    Parameters
    ----------
    args, kwargs
        Of a call with that key.

    Returns
    -------
    callable
        ``match(args, kwargs)``.
    """
    writer = Writer()
    writer.add(f"if len(args) != {len(args)} or len(kwargs) != {len(kwargs)}: return None")
    unpack(writer, "args", args)
    if kwargs:
        look_at_keys(writer, "kwargs", list(kwargs))
        unpack(writer, "kwargs.values()", tuple(kwargs.values()))
    writer.add(f"return ({''.join(leaf + ', ' for leaf in writer.leaves)})")
    return writer.function("args, kwargs")


def unpack(writer: Writer, source: str, items: tuple[Any, ...]) -> None:
    """Write what takes a sequence of known length apart, and looks at each of its items."""
    names = [writer.new() for _ in items]
    if names:
        writer.add(f"{', '.join(names)}, = {source}")
    for name, item in zip(names, items, strict=True):
        look(writer, name, item)


def look(writer: Writer, name: str, tree: Any) -> None:
    """Write what looks at one argument, or at a part of it."""
    kind, bind = type(tree), writer.bind
    if kind is np.ndarray:
        writer.leaves.append(name)
        dtype = tree.dtype  # of which there is one object, but for other orders of bytes
        other = "is not" if dtype is np.dtype(dtype.char) else "!="
        writer.add(
            f"if type({name}) is not {bind(kind)} or {name}.dtype {other} {bind(dtype)} or "
            f"{name}.shape != {tree.shape} or {name}.strides != {tree.strides}: return None"
        )
        return
    writer.add(f"if type({name}) is not {bind(kind)}: return None")
    if varies(tree):
        writer.leaves.append(name)
        if isinstance(tree, GENERATORS):
            look_at_stream(writer, name, tree)
        return
    structure = structure_of(tree.__class__)
    if structure is None:
        other = "!=" if kind in COMPARED else "is not"
        if kind is range:
            name, other, tree = f"repr({name})", "!=", repr(tree)
        writer.add(f"if {name} {other} {bind(tree)}: return None")
        return
    look_beside(writer, name, tree)
    if isinstance(tree, Mapping):
        look_at_keys(writer, name, list(tree))
        unpack(writer, f"{name}.values()", tuple(tree.values()))
    elif isinstance(tree, (list, tuple)):
        writer.add(f"if len({name}) != {len(tree)}: return None")
        unpack(writer, name, tuple(tree))
    else:
        if not all(field.init for field in fields_of(tree)):
            writer.add("return None")  # whether its class made those, `key_of` finds out
        unpack(writer, f"{bind(structure.values)}({name})", tuple(structure.values(tree)))


def look_at_stream(writer: Writer, name: str, generator: Any) -> None:
    """Write what looks whether a generator draws from the streams of the same others."""
    source = writer.bind(source_of)
    for other, before in writer.generators:
        same = source_of(before) is source_of(generator)
        different = "is not" if same else "is"
        writer.add(f"if {source}({name}) {different} {source}({other}): return None")
    writer.generators.append((name, generator))


def look_beside(writer: Writer, name: str, tree: Any) -> None:
    """Write what looks at the attributes that a structure has beside what is in it."""
    own = None if type(tree) in (dict, list, tuple) else instance_dict(tree)
    if own is not None and own is not tree:
        writer.add(f"if len({name}.__dict__) != {len(own)}: return None")
    for attribute, value in attributes_beside(tree).items():
        found = f"getattr({name}, {attribute!r}, {writer.bind(MISSING)})"
        if own is not None and attribute in own:
            found = f"{name}.__dict__.get({attribute!r})"
        writer.add(f"if {found} is not {writer.bind(value)}: return None")


def look_at_keys(writer: Writer, name: str, keys: list[Any]) -> None:
    """Write what looks at the keys of a mapping."""
    kinds = list(map(type, keys))
    if EXACT.issuperset(kinds):
        writer.add(f"if len({name}) != {len(keys)}: return None")
        found = [writer.new() for _ in keys]
        if keys:
            writer.add(f"{', '.join(found)}, = {name}")
        for each, key in zip(found, keys, strict=True):  # mostly the very same, which is quick
            same, kind = writer.bind(key), writer.bind(type(key))
            other = f"type({each}) is not {kind} or {each} != {same}"
            writer.add(f"if {each} is not {same} and ({other}): return None")
        return
    same, bound = writer.bind(operator.is_), writer.bind(keys)
    writer.add(f"if len({name}) != {len(keys)} or not all(map({same}, {name}, {bound})):")
    writer.add("    return None")


def builder(output: Any) -> Callable[[Leaves], Any]:
    """Make a function that puts leaves in place of the values in an output's tree.

    Parameters
    ----------
    output : tree
        With values in it, as `Program.output` is.

    Returns
    -------
    callable
        ``build(leaves)``, with a leaf for each value in the order of `Program.outputs`.
    """
    writer = Writer()
    result = put_together(writer, output)
    if writer.leaves:
        writer.lines.insert(0, f"    {', '.join(writer.leaves)}, = leaves")
    writer.add(f"return {result}")
    return writer.function("leaves")


def put_together(writer: Writer, tree: Any) -> str:
    """Write what makes one part of the output, and give its name."""
    if type(tree) is Value:
        writer.leaves.append(writer.new())
        return writer.leaves[-1]
    structure = structure_of(tree.__class__)
    if structure is None:
        return writer.bind(tree)
    items = [put_together(writer, each) for each in structure.values(tree)]
    name, joined = writer.new(), "".join(item + ", " for item in items)
    if type(tree) is dict:
        pairs = zip(tree, items, strict=True)
        writer.add(
            f"{name} = {{{''.join(f'{writer.bind(key)}: {item}, ' for key, item in pairs)}}}"
        )
    elif type(tree) is tuple:
        writer.add(f"{name} = ({joined})")
    elif type(tree) is list:
        writer.add(f"{name} = [{joined}]")
    elif has_fields_alone(tree, structure):
        set_field, kind = writer.bind(object.__setattr__), writer.bind(type(tree))
        writer.add(f"{name} = {writer.bind(object.__new__)}({kind})")
        for step, item in zip(structure.steps(tree), items, strict=True):
            writer.add(f"{set_field}({name}, {step[1:]!r}, {item})")
    else:
        writer.add(f"{name} = {writer.bind(structure.rebuilt)}({writer.bind(tree)}, [{joined}])")
    return name


def has_fields_alone(tree: Any, structure: Any) -> bool:
    """Tell whether an object is nothing but its fields, so that it can be made out of them."""
    if structure is not FIELDS:
        return False
    fields, made_of = fields_of(tree), set(structure.steps(tree))
    others = {f".{name}" for name in getattr(tree, "__dict__", {})} - made_of
    return len(fields) == len(made_of) and not others and not hasattr(type(tree), "__copy__")
