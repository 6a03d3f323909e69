"""The one walker over nested structures: dict, list, tuple, attrs class and dataclass."""

import copy
import dataclasses
import functools
import operator
import types
from collections import OrderedDict, UserDict, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, Sequence
from typing import Any, Protocol, TypeVar, overload

import attrs
import numpy as np
from attrs import frozen

SHOWN = 8
"""How many paths an error lists."""
MISSING = object()
HEAP_TYPE = 1 << 9
"""The flag of classes that Python code has made (`inspect.getattr_static` tells by it as well)."""


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
        The same structure. Dicts, lists and tuples of classes of their own keep these, with all
        their attributes; other mappings come back as plain dicts. The order is the same.

    Examples
    --------
    >>> map_leaves(lambda leaf, path: (path, leaf), {"a": [1, 2]})
    {'a': [("['a'][0]", 1), ("['a'][1]", 2)]}
    """
    structure = structure_of(tree.__class__)
    if structure is None:
        return function(tree, path)
    if tree.__class__ is dict:  # as most stores are, in fewer steps
        return {key: map_leaves(function, v, f"{path}[{key!r}]") for key, v in tree.items()}
    below = zip(structure.steps(tree), structure.values(tree), strict=True)
    return structure.rebuilt(tree, [map_leaves(function, v, path + step) for step, v in below])


@frozen
class Structure:
    """What can be opened and put together again.

    Attributes
    ----------
    values : callable
        ``values(tree)``: what is in it, in order.
    steps : callable
        ``steps(tree)``: how Python writes the way to each of them.
    rebuilt : callable
        ``rebuilt(tree, values)``: the same with other values.
    """

    values: Callable[[Any], Iterable[Any]]
    steps: Callable[[Any], Iterable[str]]
    rebuilt: Callable[[Any, list[Any]], Any]


def fields_of(tree: Any) -> Any:
    """List the fields of an instance of an attrs class or a dataclass."""
    kind = type(tree)
    return attrs.fields(kind) if attrs.has(kind) else dataclasses.fields(tree)


def given(fields: Any) -> list[Any]:
    """Pick the fields that an instance is made of."""
    return [field for field in fields if field.init]


@functools.lru_cache(maxsize=1024)
def names_given(kind: type) -> tuple[str, ...]:
    """Name the fields that an instance of a class is made of, once for each class."""
    fields = attrs.fields(kind) if attrs.has(kind) else dataclasses.fields(kind)
    return tuple([field.name for field in given(fields)])


def values_given(tree: Any) -> Iterable[Any]:
    """List what the fields of an instance hold."""
    return field_getter(tree.__class__)(tree)


@functools.lru_cache(maxsize=1024)
def field_getter(kind: type) -> Callable[[Any], Iterable[Any]]:
    """Make what lists the fields of an instance, once for each class."""
    names = names_given(kind)
    if len(names) > 1:
        return operator.attrgetter(*names)  # which gives a tuple only for several
    return lambda tree: [getattr(tree, name) for name in names]


def with_fields(tree: Any, values: list[Any]) -> Any:
    """Make another instance of an attrs class or a dataclass.

    Validators and converters were made for arrays, so they are passed by, unless the class has to
    work out some fields from the others. A field with ``init=False`` that is not what the class
    makes of the others has been set from outside, and is kept.

    Raises
    ------
    ValueError
        When the class works out some fields, and changes others each time it makes an instance.
    """
    names, own = names_given(tree.__class__), FIELDS.values(tree)
    others = [field.name for field in fields_of(tree) if not field.init]
    if not others:
        changed = copy.copy(tree)
        for name, value in zip(names, values, strict=True):
            object.__setattr__(changed, name, value)  # also where the class is frozen
        return changed
    changed = made_anew(tree, values)
    try:
        same = made_anew(tree, list(own))
    except Exception:  # what stands in it now may be no arrays, of which the class makes nothing
        return changed
    for name in names:
        if not alike(getattr(tree, name), getattr(same, name, MISSING)):
            raise ValueError(
                f"{type(tree).__name__} has fields with init=False, so it is made anew with other "
                f"values, but that changes the field {name!r} each time; change it before the "
                "instance is made, or let all fields have init=True"
            )
    for name in others:
        value = getattr(tree, name, MISSING)
        if value is not MISSING and not alike(value, getattr(same, name, MISSING)):
            object.__setattr__(changed, name, value)
    return changed


def made_anew(tree: Any, values: list[Any]) -> Any:
    """Let the class of an instance with fields make another one."""
    changes = zip(given(fields_of(tree)), values, strict=True)
    if attrs.has(type(tree)):
        return attrs.evolve(tree, **{field.alias: value for field, value in changes})
    return dataclasses.replace(tree, **{field.name: value for field, value in changes})


def alike(one: Any, two: Any) -> bool:
    """Tell whether two fields have the same plain values; of others, whether they are of a kind."""
    ours, theirs = flatten(one), flatten(two)
    return len(ours) == len(theirs) and all(map(same_leaf, ours, theirs))


def same_leaf(one: Any, two: Any) -> bool:
    """Tell whether two leaves are the same, as far as that can be seen without their values."""
    if one is two:
        return True
    if type(one) is not type(two):
        return False
    if isinstance(one, (np.ndarray, np.generic)):
        if one.dtype != two.dtype or one.shape != two.shape:
            return False
        return one.dtype.hasobject or one.tobytes() == two.tobytes()
    if isinstance(one, (int, float, complex, str, bytes)):
        return repr(one) == repr(two)
    return True  # handles, and objects that the class makes for each instance


def instance_dict(tree: Any) -> Any:
    """Give the ``__dict__`` of an object, whatever its class makes of attributes; None for none."""
    try:
        return object.__getattribute__(tree, "__dict__")
    except AttributeError:
        return None


@functools.lru_cache(maxsize=1024)
def slots_of(kind: type) -> dict[str, Any]:
    """Find what gets and sets the attributes that a class has in slots, with their names."""
    members = [vars(base).items() for base in kind.__mro__]
    return {
        name: member
        for each in members
        for name, member in each
        if type(member) is types.MemberDescriptorType
    }


def slots_filled(tree: Any) -> dict[str, Any]:
    """List what is in the slots of an object; `MISSING` where there is nothing."""
    found = {}
    for name, member in slots_of(tree.__class__).items():
        try:
            found[name] = member.__get__(tree)
        except AttributeError:
            found[name] = MISSING
    return found


def content_of(cell: types.CellType, default: Any = MISSING) -> Any:
    """Give what a variable of an enclosing function holds; `MISSING` where it is not bound yet."""
    try:
        return cell.cell_contents
    except ValueError:
        return default


def like(tree: Any, base: type, *args: Any) -> Any:
    """Make an instance of the class of another, with its attributes, as `base` makes one."""
    made = base.__new__(tree.__class__, *args)
    for name, value in slots_filled(tree).items():
        if value is not MISSING:
            slots_of(tree.__class__)[name].__set__(made, value)
    own = instance_dict(tree)
    if own is tree:  # so that entries are attributes too
        object.__setattr__(made, "__dict__", made)
    elif own:
        instance_dict(made).update(own)
    return made


def with_entries(tree: Any, values: list[Any]) -> Any:
    """Make another mapping with the same keys, passing by what its class does with new entries."""
    kind, pairs = tree.__class__, zip(tree, values, strict=True)
    if kind is dict:
        return dict(pairs)
    if kind is types.MappingProxyType:
        return types.MappingProxyType(dict(pairs))
    if issubclass(kind, UserDict):
        made = like(tree, object)
        made.data = dict(pairs)
        return made
    if not issubclass(kind, dict):
        return dict(pairs)
    base: Any = next(each for each in kind.__mro__ if each in (OrderedDict, defaultdict, dict))
    made = like(tree, base)
    for key, value in pairs:
        base.__setitem__(made, key, value)
    return made


def with_elements(tree: Any, values: list[Any]) -> Any:
    """Make a list of another list's type with other elements."""
    if tree.__class__ is list:
        return values
    made = like(tree, list)
    list.extend(made, values)
    return made


def with_items(tree: Any, values: list[Any]) -> Any:
    """Make a tuple of another tuple's type with other items."""
    if tree.__class__ is tuple or tree.__class__.__flags__ & HEAP_TYPE == 0:
        return tuple(values)
    return like(tree, tuple, values)


def attributes_beside(tree: Any) -> dict[str, Any]:
    """List what an opened structure has beside what is in it: attributes that are no fields.

    Examples
    --------
    >>> attributes_beside(defaultdict(list, a=1)), attributes_beside({"a": 1})
    ({'default_factory': <class 'list'>}, {})
    """
    kind = tree.__class__
    if kind in (dict, list, tuple):
        return {}
    own = instance_dict(tree)
    beside = slots_filled(tree) | ({} if own is None or own is tree else own)
    if structure_of(kind) is FIELDS:
        for field in fields_of(tree):
            value = beside.pop(field.name, None)
            if not field.init and getattr(tree, field.name, MISSING) is field.default:
                beside[field.name] = value if value is not None else field.default
    elif issubclass(kind, UserDict):
        beside.pop("data", None)
    return beside


def places(tree: Any) -> list[str]:
    """Write the places in a list or tuple."""
    return [f"[{i}]" for i in range(len(tree))]


MAPPING = Structure(
    lambda tree: tree.values(),
    lambda tree: [f"[{key!r}]" for key in tree],
    with_entries,
)
LIST = Structure(iter, places, with_elements)
TUPLE = Structure(iter, places, with_items)
NAMED_TUPLE = Structure(iter, places, with_items)
FIELDS = Structure(
    values_given,
    lambda tree: [f".{name}" for name in names_given(tree.__class__)],
    with_fields,
)


@functools.lru_cache(maxsize=1024)
def structure_of(kind: type) -> Structure | None:
    """Find out, once for each class, how its instances are opened; None for leaves."""
    if hasattr(kind, "__array_function__"):
        return None
    if issubclass(kind, Mapping):
        return MAPPING
    if issubclass(kind, (list, tuple)):
        if hasattr(kind, "_fields"):
            return NAMED_TUPLE
        return LIST if issubclass(kind, list) else TUPLE
    return FIELDS if attrs.has(kind) or dataclasses.is_dataclass(kind) else None


def flatten(tree: Any) -> list[Any]:
    """List the leaves of a nested structure, in the order in which `map_leaves` meets them.

    Examples
    --------
    >>> flatten({"a": [1, 2], "b": 3})
    [1, 2, 3]
    """
    structure = structure_of(tree.__class__)
    if structure is None:
        return [tree]
    leaves: list[Any] = []
    for value in structure.values(tree):
        if structure_of(value.__class__) is None:  # without a list for each
            leaves.append(value)
        else:
            leaves += flatten(value)
    return leaves


def with_paths(tree: Any, path: str = "") -> list[tuple[str, Any]]:
    """List the leaves of a nested structure, each behind its path; see `map_leaves`.

    Examples
    --------
    >>> with_paths({"a": [1, 2], "b": 3})
    [("['a'][0]", 1), ("['a'][1]", 2), ("['b']", 3)]
    """
    structure = structure_of(tree.__class__)
    if structure is None:
        return [(path, tree)]
    pairs: list[tuple[str, Any]] = []
    for step, value in zip(structure.steps(tree), structure.values(tree), strict=True):
        pairs += with_paths(value, path + step)
    return pairs


def is_leaf(thing: Any) -> bool:
    """Tell what is no nested structure."""
    return structure_of(thing.__class__) is None


def named(tree: Any) -> dict[str, Any]:
    """List the leaves of a nested structure by names, as a store has them.

    Raises
    ------
    ValueError
        When two of them have one name.

    Examples
    --------
    >>> named({"hidden": [1, 2], "out": {"weight": 3}})
    {'hidden.0': 1, 'hidden.1': 2, 'out.weight': 3}
    """
    names: dict[str, Any] = {}
    for name, leaf in with_names(tree):
        if name in names:
            raise ValueError(f"two leaves are named {name!r}; give their keys other names")
        names[name] = leaf
    return names


def by_name(tree: Any) -> Mapping[str, Any]:
    """Give a tree of arrays as a store: names, with dots for what is nested, and arrays."""
    if not isinstance(tree, Mapping):
        return named(tree)
    nested = isinstance(tree, dict) and not all(map(is_leaf, tree.values()))
    return named(tree) if nested else tree


def gives_copies(store: Any) -> bool:
    """Tell whether an array that was changed has to be put back into a store under its name."""
    own = type(store) is not dict and isinstance(store, MutableMapping)
    return own and by_name(store) is store


def with_names(tree: Any) -> list[tuple[str, Any]]:
    """List the leaves, each behind the keys, places and fields on the way to it."""
    structure = structure_of(tree.__class__)
    if structure is None:
        return [("", tree)]
    steps = (step.strip("[].'\"") for step in structure.steps(tree))
    return [
        (f"{step}.{name}" if name else step, leaf)
        for step, value in zip(steps, structure.values(tree), strict=True)
        for name, leaf in with_names(value)
    ]


def at_leaves(tree: Any, other: Any, path: str = "") -> list[tuple[str, Any, Any]]:
    """Find what stands in another structure where the leaves of one are; None stands for Nones.

    Raises
    ------
    ValueError
        When the two do not have the same keys, places or fields; it names where.

    Examples
    --------
    >>> at_leaves({"a": [1, 2], "b": 3}, {"a": [(0, 1), (0, 2)], "b": None})
    [("['a'][0]", 1, (0, 1)), ("['a'][1]", 2, (0, 2)), ("['b']", 3, None)]
    """
    structure = structure_of(tree.__class__)
    if structure is None or other is None:
        return [(path + deeper, leaf, other) for deeper, leaf in with_paths(tree)]
    if structure_of(other.__class__) is not structure:
        kinds = type(other).__name__, type(tree).__name__
        raise ValueError("a {} stands where {} is a {}".format(kinds[0], path or "all", kinds[1]))
    ours = dict(zip(structure.steps(tree), structure.values(tree), strict=True))
    theirs = dict(zip(structure.steps(other), structure.values(other), strict=True))
    if ours.keys() != theirs.keys():
        raise ValueError(difference([path + s for s in ours], [path + s for s in theirs]))
    pairs = [(path + step, value, theirs[step]) for step, value in ours.items()]
    return [found for at, value, each in pairs for found in at_leaves(value, each, at)]


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
    if structure_of(tree.__class__) is structure_of(other.__class__) is None:
        return [("", tree, other)]
    several = type(tree) is type(other) is tuple and len(tree) == len(other)
    if several and {structure_of(each.__class__) for each in tree + other} == {None}:
        return list(zip(places(tree), tree, other, strict=True))  # as arguments are
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
    return rebuilt(tree, iter(leaves))


def rebuilt(tree: Any, following: Iterator[Any]) -> Any:
    """Rebuild a nested structure with what follows in place of its leaves."""
    structure = structure_of(tree.__class__)
    if structure is None:
        return next(following)
    return structure.rebuilt(tree, [rebuilt(value, following) for value in structure.values(tree)])


Old_contra = TypeVar("Old_contra", contravariant=True)
New = TypeVar("New")
Key = TypeVar("Key")
Inner = TypeVar("Inner")
Tree = TypeVar("Tree")
Named = TypeVar("Named", bound="NamedTupleLike")


class NamedTupleLike(Protocol):
    """An instance of a named tuple's class."""

    def _asdict(self) -> dict[str, Any]: ...


class OverLeaves(Protocol[Old_contra, New]):
    """A function that takes trees of one kind of leaves to trees of another."""

    @overload
    def __call__(self, tree: Old_contra) -> New: ...
    @overload
    def __call__(self, tree: Named) -> Named: ...
    @overload
    def __call__(self, tree: tuple[Old_contra, Old_contra]) -> tuple[New, New]: ...
    @overload
    def __call__(self, tree: tuple[Old_contra, Old_contra, Old_contra]) -> tuple[New, New, New]: ...
    @overload
    def __call__(self, tree: tuple[Old_contra, ...]) -> tuple[New, ...]: ...
    @overload
    def __call__(self, tree: Sequence[Old_contra]) -> list[New]: ...
    @overload
    def __call__(self, tree: Mapping[Key, Old_contra]) -> dict[Key, New]: ...
    @overload
    def __call__(
        self, tree: Mapping[Key, tuple[Old_contra, Old_contra]]
    ) -> dict[Key, tuple[New, New]]: ...
    @overload
    def __call__(
        self, tree: Mapping[Key, tuple[Old_contra, ...]]
    ) -> dict[Key, tuple[New, ...]]: ...
    @overload
    def __call__(self, tree: Mapping[Key, Sequence[Old_contra]]) -> dict[Key, list[New]]: ...
    @overload
    def __call__(
        self, tree: Mapping[Key, Mapping[Inner, Old_contra]]
    ) -> dict[Key, dict[Inner, New]]: ...
    @overload
    def __call__(self, tree: Sequence[tuple[Old_contra, Old_contra]]) -> list[tuple[New, New]]: ...
    @overload
    def __call__(self, tree: Sequence[Mapping[Key, Old_contra]]) -> list[dict[Key, New]]: ...
    @overload
    def __call__(self, tree: Mapping[Key, object]) -> dict[Key, Any]: ...
    @overload
    def __call__(self, tree: list[Any]) -> list[Any]: ...
    @overload
    def __call__(self, tree: tuple[Any, ...]) -> tuple[Any, ...]: ...
    @overload
    def __call__(self, tree: Tree) -> Tree: ...
