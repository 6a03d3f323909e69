"""What of a call's arguments a program is made for."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from attrs import field, frozen

from tape_ad.errors import CaptureError
from tape_ad.trees import structure_of

__all__ = ["ForeignError", "Key", "Static", "key_of", "rebuilder", "varies"]

NUMBERS = frozenset({int, float, complex})
KINDS = frozenset("biufc")
"""The dtypes that are captured: those of numbers."""
PROTOCOLS = (
    "__array_function__",
    "__array_ufunc__",
    "__array__",
    "__array_interface__",
    "__array_priority__",
    "__dlpack__",
)
"""What tells that an object is an array of another library, or one that is more than an array."""


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
    """An argument is neither an array of numbers nor a number nor a plain object.

    Nothing is captured then. The text says what it is.
    """


@frozen(eq=False)
class Static:
    """An argument that is part of the key itself.

    Attributes
    ----------
    kind : type
        Which tells ``1`` and ``True`` apart.
    leaf : any
    code : int
        Its hash.
    """

    kind: type
    leaf: Any
    code: int = field(init=False)

    def __attrs_post_init__(self) -> None:
        object.__setattr__(self, "code", hash(self.leaf))

    def __hash__(self) -> int:
        return self.code

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Static) or self.kind is not other.kind:
            return False
        return self.leaf is other.leaf or self.leaf == other.leaf


def varies(leaf: Any) -> bool:
    """Tell whether a leaf is an input of a program: an array, or a number other than a bool."""
    kind = type(leaf)
    return kind is np.ndarray or kind in NUMBERS or isinstance(leaf, np.generic)


def key_of(
    args: tuple[Any, ...], kwargs: Mapping[str, Any], parameters: Sequence[str]
) -> tuple[Key, list[Any]]:
    """Find the key of a call and the leaves that vary.

    Parameters
    ----------
    args, kwargs
    parameters : sequence of str
        The names of the positional parameters.

    Returns
    -------
    tuple of Key and list

    Raises
    ------
    ForeignError
        When an argument is a handle, or an array of another library, or not of numbers.
    CaptureError
        When an argument that is no number cannot be told from another, for it has no hash.
    """
    leaves: list[Any] = []
    names: list[str] = []
    forms = []
    for place, arg in enumerate(args):
        name = parameters[place] if place < len(parameters) else f"args[{place}]"
        forms.append(form_of(arg, name, leaves, names))
    by_name = [(name, form_of(kwargs[name], name, leaves, names)) for name in kwargs]
    return Key((tuple(forms), tuple(by_name)), tuple(names)), leaves


def form_of(tree: Any, name: str, leaves: list[Any], names: list[str]) -> Any:
    """Describe an argument, and list its leaves that vary."""
    kind = type(tree)
    if varies(tree):
        dtype = getattr(tree, "dtype", None)
        if dtype is not None and dtype.kind not in KINDS:
            raise ForeignError(f"the argument {name} is of dtype {dtype}")
        leaves.append(tree)
        names.append(name)
        return (kind, tree.shape, dtype, tree.strides) if kind is np.ndarray else (kind, dtype)
    structure = structure_of(tree.__class__)
    if structure is None:
        return static(tree, name)
    if isinstance(tree, Mapping):
        pairs = [(key, form_of(tree[key], f"{name}[{key!r}]", leaves, names)) for key in tree]
        return (kind, tuple(pairs))
    steps = zip(structure.steps(tree), structure.values(tree), strict=True)
    return (kind, tuple([form_of(value, name + step, leaves, names) for step, value in steps]))


def static(leaf: Any, name: str) -> Any:
    """Describe a leaf that does not vary."""
    kind: Any = type(leaf)
    if kind is slice:
        return (kind, *(static(each, name) for each in (leaf.start, leaf.stop, leaf.step)))
    if any(hasattr(kind, protocol) for protocol in PROTOCOLS):
        raise ForeignError(f"the argument {name} is a {kind.__name__}")
    try:
        return Static(kind, leaf)
    except TypeError:
        raise CaptureError(
            f"the argument {name} is a {kind.__name__}, which has no hash, so a compiled function "
            "cannot tell whether it is the same at the next call; pass what it is made of, as "
            "arrays and numbers, or let the function close over it"
        ) from None


def rebuilder(
    args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> Callable[[Sequence[Any]], tuple[tuple[Any, ...], dict[str, Any]]]:
    """Make a function that puts other leaves in place of those that vary."""

    def rebuilt(leaves: Sequence[Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        following = iter(leaves)
        filled = tuple([refilled(arg, following) for arg in args])
        return filled, {name: refilled(arg, following) for name, arg in kwargs.items()}

    return rebuilt


def refilled(tree: Any, following: Iterator[Any]) -> Any:
    """Rebuild a tree with what follows in place of the leaves that vary."""
    if varies(tree):
        return next(following)
    structure = structure_of(tree.__class__)
    if structure is None:
        return tree
    return structure.rebuilt(tree, [refilled(each, following) for each in structure.values(tree)])
