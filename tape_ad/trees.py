"""The one walker over nested structures: dict, list, tuple, attrs class and dataclass."""

import copy
import dataclasses
import copy
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import attrs

__all__ = ["flatten", "map_leaves", "unflatten", "with_paths"]


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
    if isinstance(tree, Mapping):
        return {k: map_leaves(function, v, f"{path}[{k!r}]") for k, v in tree.items()}
    if isinstance(tree, (list, tuple)):
        items = [map_leaves(function, v, f"{path}[{i}]") for i, v in enumerate(tree)]
        if hasattr(tree, "_fields"):
            return kind(*items)
        return items if isinstance(tree, list) else tuple(items)
    names = fields_of(kind)
    if names is None:
        return function(tree, path)
    changed = copy.copy(tree)
    for name in names:  # past validators and converters, which were made for arrays
        value = map_leaves(function, getattr(tree, name), f"{path}.{name}")
        object.__setattr__(changed, name, value)
    return changed


def fields_of(kind: type) -> list[str] | None:
    """List the fields of an attrs class or a dataclass; None for any other."""
    fields: Iterable[Any]
    if attrs.has(kind):
        fields = attrs.fields(kind)
    elif dataclasses.is_dataclass(kind):
        fields = dataclasses.fields(kind)
    else:
        return None
    return [field.name for field in fields if field.init]


def flatten(tree: Any) -> list[Any]:
    """List the leaves of a nested structure, in the order in which `map_leaves` meets them.

    Examples
    --------
    >>> flatten({"a": [1, 2], "b": 3})
    [1, 2, 3]
    """
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


def unflatten(tree: Any, leaves: Iterable[Any]) -> Any:
    """Rebuild a nested structure with other leaves, given in the order of `flatten`.

    Examples
    --------
    >>> unflatten({"a": [1, 2], "b": 3}, [4, 5, 6])
    {'a': [4, 5], 'b': 6}
    """
    following = iter(leaves)
    return map_leaves(lambda leaf, path: next(following), tree)
