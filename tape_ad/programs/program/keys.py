"""What of a call's arguments a program is made for."""

import types
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from attrs import field, frozen

from tape_ad.base.errors import CaptureError
from tape_ad.base.trees import (
    FIELDS,
    Structure,
    attributes_beside,
    fields_of,
    flatten,
    instance_dict,
    made_anew,
    structure_of,
)

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
TOLD_BY_EQUALITY = frozenset({int, bool, str, bytes, type(None), type(Ellipsis)})
"""Types of which two equal instances cannot be told apart."""
ONE_OF_ITS_KIND = (type, types.FunctionType, types.BuiltinFunctionType, np.ndarray)
"""Types of which only the very same instance is the same."""
GENERATORS = (np.random.Generator, np.random.RandomState)
"""What draws random numbers, and is an input of a program that does."""
DEEPEST = 20
"""How deep objects are compared; those that lie deeper have to be the very same."""


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

    Two that are equal may be different all the same: ``1`` and ``True``, a time in two zones, an
    object whose ``__eq__`` leaves out an attribute.

    Attributes
    ----------
    leaf : any
    kind : type
        Its class, which may be replaced later.
    code : int
        Its hash.
    """

    leaf: Any
    kind: type = field(init=False)
    code: int = field(init=False)

    def __attrs_post_init__(self) -> None:
        object.__setattr__(self, "kind", type(self.leaf))
        object.__setattr__(self, "code", hash(self.leaf))

    def __hash__(self) -> int:
        return self.code

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Static) or self.kind is not other.kind:
            return False
        if self.leaf is other.leaf:
            return True
        if not self.leaf == other.leaf:
            return False
        return bool(content_of(self.leaf) == content_of(other.leaf))


@frozen(eq=False)
class VerySame:
    """Something that equals nothing but itself."""

    thing: Any

    def __eq__(self, other: object) -> bool:
        return isinstance(other, VerySame) and self.thing is other.thing

    def __hash__(self) -> int:
        return id(self.thing)


def content_of(thing: Any, depth: int = DEEPEST) -> Any:  # noqa: PLR0911 - one for each kind
    """Describe all that tells an object from an equal one, as pickling does.

    Examples
    --------
    >>> content_of(0.0) == content_of(-0.0), content_of((1, "a")) == content_of((1, "a"))
    (False, True)
    """
    kind: Any = type(thing)
    if kind in TOLD_BY_EQUALITY:
        return kind, thing
    if kind in (float, complex):
        return kind, repr(thing)
    if kind in (tuple, list, frozenset, set):
        return kind, contents_of(thing, depth)
    if kind is dict:
        return kind, contents_of(thing.items(), depth)
    if kind is types.MethodType:
        return kind, VerySame(thing.__self__), VerySame(thing.__func__)
    parts = None if depth == 0 or isinstance(thing, ONE_OF_ITS_KIND) else pickled(thing)
    if not isinstance(parts, tuple):  # a name of what there is one of, or nothing
        return VerySame(thing)
    own = instance_dict(thing) or {}  # which a class's own way to be pickled may leave out
    return kind, contents_of((*map(opened, parts), dict(own)), depth)


def pickled(thing: Any) -> Any:
    """Take an object to what it is pickled as; None where it cannot be."""
    try:
        return thing.__reduce_ex__(4)
    except Exception:  # a class may raise anything
        return None


def contents_of(things: Iterable[Any], depth: int) -> tuple[Any, ...]:
    """Describe several objects."""
    return tuple([content_of(each, depth - 1) for each in things])


def opened(part: Any) -> Any:
    """List what an iterator gives, as pickling has it for the elements of a container."""
    return list(part) if isinstance(part, Iterator) else part


def varies(leaf: Any) -> bool:
    """Tell whether a leaf is an input: an array, a number other than a bool, or a generator."""
    kind = type(leaf)
    return kind is np.ndarray or kind in NUMBERS or isinstance(leaf, (np.generic, *GENERATORS))


def source_of(generator: Any) -> Any:
    """Give what two generators have in common that draw from one stream.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> source_of(rng) is source_of(np.random.Generator(rng.bit_generator))
    True
    """
    of_generator = isinstance(generator, np.random.Generator)
    return generator.bit_generator if of_generator else generator._bit_generator


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
    by_name = [(key_alone(name), form_of(kwargs[name], name, leaves, names)) for name in kwargs]
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
        if isinstance(tree, GENERATORS):
            return kind, first_alike(leaves)
        return (kind, tree.shape, dtype, tree.strides) if kind is np.ndarray else (kind, dtype)
    structure = structure_of(tree.__class__)
    if structure is None:
        return static(tree, name)
    beside = tuple([(own, content_of(each)) for own, each in attributes_beside(tree).items()])
    if isinstance(tree, Mapping):
        pairs = [
            (key_alone(key), form_of(tree[key], f"{name}[{key!r}]", leaves, names)) for key in tree
        ]
        return (kind, beside, tuple(pairs))
    steps = zip(structure.steps(tree), structure.values(tree), strict=True)
    parts = tuple([form_of(value, name + step, leaves, names) for step, value in steps])
    if structure is FIELDS:
        check_fields(tree, structure, name)
    return (kind, beside, parts)


def first_alike(leaves: Sequence[Any]) -> int:
    """Give the place of the first generator that draws from the stream of the last leaf."""
    source = source_of(leaves[-1])
    alike = [isinstance(x, GENERATORS) and source_of(x) is source for x in leaves]
    return alike.index(True)


def key_alone(key: Any) -> Any:
    """Describe the key of a mapping, of whose class others may be equal to it."""
    return key if type(key) is str else Static(key)


def check_fields(tree: Any, structure: Structure, name: str) -> None:
    """Refuse an instance with a field that its class works out, where that has been set instead.

    Raises
    ------
    CaptureError
    """
    others = [field.name for field in fields_of(tree) if not field.init]
    made = made_anew(tree, list(structure.values(tree))) if others else tree
    for other in others:
        ours, theirs = flatten(getattr(tree, other, None)), flatten(getattr(made, other, None))
        if len(ours) != len(theirs) or not all(map(equal_leaves, ours, theirs)):
            raise CaptureError(
                f"the field {name}.{other} has init=False, but is not what the class makes it; a "
                "compiled function is given an instance that is made anew, so let it have init=True"
            )


def equal_leaves(one: Any, two: Any) -> bool:
    """Tell whether two leaves are the same."""
    if isinstance(one, np.ndarray) and isinstance(two, np.ndarray):
        return one.dtype == two.dtype and one.tobytes() == two.tobytes()
    return bool(content_of(one) == content_of(two))


def static(leaf: Any, name: str) -> Any:
    """Describe a leaf that does not vary."""
    kind: Any = type(leaf)
    if kind is slice:
        return (kind, *(static(each, name) for each in (leaf.start, leaf.stop, leaf.step)))
    if any(hasattr(kind, protocol) for protocol in PROTOCOLS):
        raise ForeignError(f"the argument {name} is a {kind.__name__}")
    try:
        return Static(leaf)
    except TypeError:
        raise CaptureError(
            f"the argument {name} is a {kind.__name__}, which has no hash, so a compiled function "
            "cannot tell whether it is the same at the next call; pass what it is made of, as "
            "arrays and numbers, or let the function close over it"
        ) from None
