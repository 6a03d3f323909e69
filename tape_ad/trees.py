"""The one walker over nested structures: dict, list, tuple, attrs class and dataclass."""

import copy
import dataclasses
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import attrs

__all__ = ["flatten", "map_leaves", "paired", "unflatten", "with_paths"]


SHOWN = 8
"""How many paths an error lists."""


def map_leaves(function: Callable[[Any, str], Any], tree: Any, path: str = "") -> Any:
    """Rebuild a nested structure with every leaf replaced.

    Parameters
    ----------
    function : callable
        Called as ``function(leaf, path)``, where `path` says where the leaf stands, written as
        Python would (``"['layer'][0].weight"``); for a bare leaf it is empty.
    tree : any
        A mapping, list, tuple, named tuple, attrs class or dataclass, nested to any depth. All else
        is a leaf, and so is every array, even one whose class is made with attrs.
    path : str
        What to put before each path.

    Returns
    -------
    any
        The same structure. Mappings come back as plain dicts, in the same order.

    Examples
    --------
    >>> map_leaves(lambda leaf, path: (path, leaf), {"a": [1, 2]})
    {'a': [("['a'][0]", 1), ("['a'][1]", 2)]}
    """
    kind = type(tree)
    if hasattr(kind, "__array_function__"):
        return function(tree, path)
    if kind is dict or isinstance(tree, Mapping):
        return {k: map_leaves(function, v, f"{path}[{k!r}]") for k, v in tree.items()}
    if isinstance(tree, (list, tuple)):
        items = [map_leaves(function, v, f"{path}[{i}]") for i, v in enumerate(tree)]
        if hasattr(tree, "_fields"):
            return kind(*items)
        return items if isinstance(tree, list) else tuple(items)
    if attrs.has(kind) or dataclasses.is_dataclass(kind):
        return map_fields(function, tree, path)
    return function(tree, path)


def map_fields(function: Callable[[Any, str], Any], tree: Any, path: str) -> Any:
    """Do what `map_leaves` does for an instance of an attrs class or a dataclass.

    Validators and converters were made for arrays, so they are passed by, unless the class has to
    work out some fields from the others.
    """
    kind = type(tree)
    fields: Any = attrs.fields(kind) if attrs.has(kind) else dataclasses.fields(tree)
    changes = {
        field: map_leaves(function, getattr(tree, field.name), f"{path}.{field.name}")
        for field in fields
        if field.init
    }
    if len(changes) == len(fields):
        changed = copy.copy(tree)
        for field, value in changes.items():
            object.__setattr__(changed, field.name, value)  # also where the class is frozen
        return changed
    if attrs.has(kind):
        return attrs.evolve(tree, **{field.alias: value for field, value in changes.items()})
    return dataclasses.replace(tree, **{field.name: value for field, value in changes.items()})


def flatten(tree: Any) -> list[Any]:
    """List the leaves of a nested structure, in the order in which `map_leaves` meets them.

    Examples
    --------
    >>> flatten({"a": [1, 2], "b": 3})
    [1, 2, 3]
    """
    if hasattr(type(tree), "__array_function__"):  # as most trees are one bare array
        return [tree]
    return [leaf for _, leaf in with_paths(tree)]


def with_paths(tree: Any) -> list[tuple[str, Any]]:
    """List the leaves of a nested structure, each behind its path.

    Examples
    --------
    >>> with_paths({"a": [1, 2], "b": 3})
    [("['a'][0]", 1), ("['a'][1]", 2), ("['b']", 3)]
    """
    pairs: list[tuple[str, Any]] = []

    def note(leaf: Any, path: str) -> Any:
        pairs.append((path, leaf))
        return leaf

    map_leaves(note, tree)
    return pairs


def paired(tree: Any, other: Any) -> list[tuple[str, Any, Any]]:
    """Pair the leaves of two nested structures of one kind, whatever the order of their keys.

    Returns
    -------
    list of tuple of str, any and any
        A path with both leaves, in the order of `tree`.

    Raises
    ------
    ValueError
        It names the leaves that are in one of them only.

    Examples
    --------
    >>> paired({"a": 1, "b": 2}, {"b": 20, "a": 10})
    [("['a']", 1, 10), ("['b']", 2, 20)]
    """
    ours, theirs = with_paths(tree), with_paths(other)
    given = dict(theirs)
    if len(given) == len(theirs) == len(ours) and given.keys() == dict(ours).keys():
        return [(path, leaf, given[path]) for path, leaf in ours]
    raise ValueError(difference([path for path, _ in ours], [path for path, _ in theirs]))


def difference(wanted: list[str], given: list[str]) -> str:
    """Say in which leaves two structures differ, given their paths."""
    if [""] in (wanted, given):
        return f"{places_of(given)} instead of {places_of(wanted)}"
    differing = (("missing", wanted, set(given)), ("not expected", given, set(wanted)))
    parts = [
        (what, [path for path in ones if path not in others]) for what, ones, others in differing
    ]
    named = [f"{places_of(paths)} {what}" for what, paths in parts if paths]
    return " and ".join(named) or "two keys are written alike"


def places_of(paths: list[str]) -> str:
    """Describe some leaves by their paths, for an error."""
    if paths == [""]:
        return "one array"
    shown = ", ".join(paths[:SHOWN]) + ", ..." * (len(paths) > SHOWN)
    return f"leaves at {shown}" if paths else "no leaves"


def unflatten(tree: Any, leaves: Iterable[Any]) -> Any:
    """Rebuild a nested structure with other leaves, given in the order of `flatten`.

    Examples
    --------
    >>> unflatten({"a": [1, 2], "b": 3}, [4, 5, 6])
    {'a': [4, 5], 'b': 6}
    """
    following = iter(leaves)
    return map_leaves(lambda leaf, path: next(following), tree)
