"""What of a call's arguments a program is made for, and a quick way to tell."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from attrs import define, frozen

from tape_ad.errors import CaptureError
from tape_ad.trees import structure_of

__all__ = ["NOT_FOR_US", "Key", "key_of", "matcher", "rebuilder"]

Leaves = tuple[Any, ...]
NOT_FOR_US = None
NUMBERS = frozenset({int, float, complex})


@frozen
class Key:
    """Structure, shapes, dtypes and layouts of the arguments, and what in them is no number.

    Attributes
    ----------
    form : hashable
        All of that.
    names : tuple of str
        What the user calls the leaves that vary.
    """

    form: Any
    names: tuple[str, ...]


class ForeignError(Exception):
    """An argument is neither an array nor a number nor a plain object: nothing is captured."""


def key_of(args: tuple[Any, ...], kwargs: dict[str, Any], parameters: Sequence[str]) -> Any:
    """Find the key of a call and the leaves that vary.

    Parameters
    ----------
    args, kwargs
    parameters : sequence of str
        The names of the positional parameters.

    Returns
    -------
    tuple of Key and list, or None
        None where an argument is a handle, or an array of another library.

    Raises
    ------
    CaptureError
        When an argument that is no number cannot be told from another, for it has no hash.
    """
    leaves: list[Any] = []
    names: list[str] = []
    forms = []
    try:
        for place, arg in enumerate(args):
            name = parameters[place] if place < len(parameters) else f"args[{place}]"
            forms.append(form_of(arg, name, leaves, names))
        by_name = [(name, form_of(kwargs[name], name, leaves, names)) for name in kwargs]
    except ForeignError:
        return NOT_FOR_US
    return Key((tuple(forms), tuple(by_name)), tuple(names)), leaves


def form_of(tree: Any, name: str, leaves: list[Any], names: list[str]) -> Any:
    """Describe an argument, and list its leaves that vary."""
    kind = type(tree)
    if kind is np.ndarray:
        leaves.append(tree)
        names.append(name)
        return (np.ndarray, tree.shape, tree.dtype, tree.strides)
    if kind in NUMBERS or isinstance(tree, np.generic):
        leaves.append(tree)
        names.append(name)
        return (kind, getattr(tree, "dtype", None))
    structure = structure_of(tree.__class__)
    if structure is None:
        if hasattr(kind, "__array_function__") or hasattr(kind, "__array_ufunc__"):
            raise ForeignError
        try:
            hash(tree)
        except TypeError:
            raise CaptureError(
                f"the argument {name} is a {kind.__name__}, which has no hash, so a compiled "
                "function cannot tell whether it is the same at the next call; pass arrays and "
                "numbers, or let the function close over it"
            ) from None
        return Static(kind, tree)
    if isinstance(tree, dict):
        pairs = [(k, form_of(v, f"{name}[{k!r}]", leaves, names)) for k, v in tree.items()]
        return (kind, tuple(pairs))
    steps = zip(structure.steps(tree), structure.values(tree), strict=True)
    return (kind, tuple([form_of(v, name + step, leaves, names) for step, v in steps]))


@frozen
class Static:
    """An argument that is part of the key itself."""

    kind: type
    leaf: Any


@define
class Lines:
    """The lines of a matcher's source, and what they refer to."""

    lines: list[str]
    bound: dict[str, Any]

    def add(self, line: str) -> None:
        """Append a line."""
        self.lines.append(f"    {line}")

    def bind(self, thing: Any) -> str:
        """Give a name to an object."""
        name = f"c{len(self.bound)}"
        self.bound[name] = thing
        return name


def matcher(
    args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Callable[[tuple[Any, ...], dict[str, Any]], Leaves | None]:
    """Make a function that gives the leaves of calls with the same key as this one, else None.

    It may give None for a call with this key too, for which `key_of` has the last word: it looks
    at what is cheap to see.
    """
    lines = Lines([], {})
    leaves: list[str] = []
    counter = iter(range(10**9))
    if args:
        names = [f"a{next(counter)}" for _ in args]
        lines.add(f"if len(args) != {len(args)} or len(kwargs) != {len(kwargs)}: return")
        lines.add(f"{', '.join(names)}, = args")
    else:
        names = []
        lines.add(f"if args or len(kwargs) != {len(kwargs)}: return")
    if kwargs:
        lines.add(f"if [*kwargs] != {lines.bind(list(kwargs))}: return")
    trees = list(zip(names, args, strict=True))
    for key, arg in kwargs.items():
        name = f"a{next(counter)}"
        lines.add(f"{name} = kwargs[{key!r}]")
        trees.append((name, arg))
    for name, arg in trees:
        check(lines, name, arg, leaves, counter)
    source = "\n".join(
        [
            "def match(args, kwargs):",
            *lines.lines,
            f"    return ({''.join(leaf + ', ' for leaf in leaves)})",
        ]
    )
    space: dict[str, Any] = {"ndarray": np.ndarray, **lines.bound}
    code = compile(source, "<matcher of a compiled function>", "exec")
    exec(code, space)  # noqa: S102 - written above, of nothing but reprs of numbers and strings
    found: Callable[[tuple[Any, ...], dict[str, Any]], Leaves | None] = space["match"]
    return found


def check(lines: Lines, name: str, tree: Any, leaves: list[str], counter: Iterator[int]) -> None:
    """Write the lines that look at one argument."""
    kind = type(tree)
    bind = lines.bind
    if kind is np.ndarray:
        leaves.append(name)
        shape, strides = repr(tree.shape), repr(tree.strides)
        lines.add(
            f"if type({name}) is not ndarray or {name}.dtype is not {bind(tree.dtype)} or "
            f"{name}.shape != {shape} or {name}.strides != {strides}: return"
        )
        return
    if kind in NUMBERS or isinstance(tree, np.generic):
        leaves.append(name)
        lines.add(f"if type({name}) is not {bind(kind)}: return")
        return
    structure = structure_of(tree.__class__)
    if structure is None:
        test = "is not" if tree is None or kind is bool or not same(tree) else "!="
        lines.add(f"if type({name}) is not {bind(kind)} or {name} {test} {bind(tree)}: return")
        return
    lines.add(f"if type({name}) is not {bind(kind)}: return")
    if isinstance(tree, dict):
        lines.add(f"if [*{name}] != {bind(list(tree))}: return")
        for key in tree:
            below = f"a{next(counter)}"
            lines.add(f"{below} = {name}[{bind(key)}]")
            check(lines, below, tree[key], leaves, counter)
        return
    if isinstance(tree, (list, tuple)):
        lines.add(f"if len({name}) != {len(tree)}: return")
        if len(tree) == 0:
            return
        below_all = [f"a{next(counter)}" for _ in tree]
        lines.add(f"{', '.join(below_all)}, = {name}")
        for below, each in zip(below_all, tree, strict=True):
            check(lines, below, each, leaves, counter)
        return
    values = bind(structure.values)
    items = list(structure.values(tree))
    if items:
        below_all = [f"a{next(counter)}" for _ in items]
        lines.add(f"{', '.join(below_all)}, = {values}({name})")
        for below, each in zip(below_all, items, strict=True):
            check(lines, below, each, leaves, counter)


def same(leaf: Any) -> bool:
    """Tell whether an object is equal to itself, so that `!=` can be asked."""
    return type(leaf) in (str, bytes, tuple, frozenset)


def rebuilder(
    args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Callable[[Sequence[Any]], tuple[tuple[Any, ...], dict[str, Any]]]:
    """Make a function that puts other leaves in place of those that vary."""

    def rebuilt(leaves: Sequence[Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        following = iter(leaves)

        def walk(tree: Any) -> Any:
            kind = type(tree)
            if kind is np.ndarray or kind in NUMBERS or isinstance(tree, np.generic):
                return next(following)
            structure = structure_of(tree.__class__)
            if structure is None:
                return tree
            return structure.rebuilt(tree, [walk(each) for each in structure.values(tree)])

        return tuple(map(walk, args)), {name: walk(arg) for name, arg in kwargs.items()}

    return rebuilt
