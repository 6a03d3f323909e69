"""What of the arguments a program is made for, and what may vary."""

import dataclasses
import enum
from collections import OrderedDict, defaultdict
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import attrs
import numpy as np
import pytest

import tape_ad as ta
from tape_ad.base.trees import flatten
from tape_ad.errors import CaptureError
from tape_ad.programs.program.keys import key_of
from tape_ad.programs.replay.matching import matcher
from tape_ad.programs.replay.verifying import check_alike
from tests.programs.comparing import assert_like_eager, counting

X = np.array([0.5, -1.5, 2.0])


@attrs.frozen
class Layer:
    """Parameters of a layer."""

    weight: Any
    bias: Any
    name: str = "layer"


@dataclasses.dataclass
class Batch:
    """Data."""

    x: Any
    y: Any = None


class Pair(NamedTuple):
    """Two things."""

    one: Any
    two: Any


class Mode(enum.Enum):
    """How to reduce."""

    MEAN = "mean"
    SUM = "sum"


# Arguments of all kinds give what eager gives


def scale(x: Any, y: Any = 2.5) -> Any:
    return x * y


def frozen(array: Any) -> Any:
    copied = array.copy()
    copied.flags.writeable = False
    return copied


ARGUMENTS: dict[str, list[tuple[Any, ...]]] = {
    "weak floats": [(X.astype(np.float32), 0.1 * k) for k in range(4)],
    "weak integers": [(X.astype(np.float32), k) for k in range(4)],
    "weak complex numbers": [(X.astype(np.float32), 1j * k) for k in range(4)],
    "numbers alone": [(2.0 * k, 3) for k in range(4)],
    "integers alone": [(2 * k, 3) for k in range(4)],
    "NumPy's numbers": [(X.astype(np.float32), np.float64(0.1 * k)) for k in range(4)],
    "single numbers": [(np.float32(0.1), 0.1 * k) for k in range(4)],
    "0-d arrays": [(np.array(1.0 * k), np.array(k)) for k in range(4)],
    "integers": [(np.arange(3) * k, k) for k in range(4)],
    "bools as arrays": [(k < X, X) for k in range(4)],
    "NumPy's bools": [(np.bool_(k % 2), X) for k in range(4)],
    "empty arrays": [(np.zeros((0, 3)), np.zeros(3) * k) for k in range(4)],
    "other bytes": [((X * k).astype(">f8"), k) for k in range(4)],
    "every other": [((np.arange(6.0) * k)[::2], k) for k in range(4)],
    "backwards": [((np.arange(3.0) * k)[::-1], k) for k in range(4)],
    "of Fortran's": [(np.asfortranarray(np.outer(X, X) * k), X) for k in range(4)],
    "broadcast": [(np.broadcast_to(X * k, (2, 3)), X) for k in range(4)],
    "read-only": [(frozen(X * k), 2.0) for k in range(4)],
    "unaligned": [(np.frombuffer(b"x" + X.tobytes(), offset=1), k) for k in range(4)],
    "half": [(X.astype(np.float16), k) for k in range(4)],
    "long double": [(X.astype(np.longdouble), k) for k in range(4)],
}


@pytest.mark.parametrize("name", ARGUMENTS)
def test_arguments_of_one_kind_have_one_program(name: str) -> None:
    fast = assert_like_eager(scale, ARGUMENTS[name], runs=2)
    assert len(fast.programs) == 1


MIXED: dict[str, tuple[list[tuple[Any, ...]], int]] = {
    "an integer and a float": ([(X, 2), (X, 2.0), (X, np.float64(2.0)), (X, 2j)], 4),
    "bools": ([(X, True), (X, False), (X, 1)], 3),
    "single and double": ([(X,), (X.astype(np.float32),), (np.float32(1.5),), (1.5,)], 4),
    "strides": ([(X,), (np.arange(6.0)[::2],), (X[::-1],)], 3),
    "shapes": ([(X,), (X[:2],), (X[:, None],), (np.array(1.0),), (np.zeros(0),)], 5),
    "by name": ([(X, 2.0), (X,)], 2),
}


@pytest.mark.parametrize("name", MIXED)
def test_kinds_in_turn_have_a_program_each(name: str) -> None:
    calls, count = MIXED[name]
    fast = assert_like_eager(scale, calls * 5, runs=2 * count)
    assert len(fast.programs) == count


FOREIGN: dict[str, Callable[[Path], Any]] = {
    "objects": lambda path: X.astype(object),
    "dates": lambda path: np.array(["2020-01-01"], "M8[D]"),
    "masked": lambda path: np.ma.masked_array(X, [False, True, False]),
    "matrices": lambda path: np.eye(3).view(np.matrix),
    "of a file": lambda path: np.memmap(path / "numbers", dtype=float, mode="w+", shape=3),
    "structured": lambda path: np.zeros(2, [("a", float)]),
    "strings": lambda path: np.array(["a", "b"]),
}


@pytest.mark.parametrize("name", FOREIGN)
def test_other_arrays_run_the_function(name: str, tmp_path: Path) -> None:
    array = FOREIGN[name](tmp_path)
    fast, runs = counting(lambda x: (x, x[:1]))
    for _ in range(3):
        whole, part = fast(array)
        assert whole is array
        assert type(part) is type(array[:1])
    assert len(runs) == 3
    assert "ran by itself 3 times: the argument x is" in fast.explain()


# Trees


TREES: dict[str, Callable[[float], Any]] = {
    "dict": lambda k: {"a": X * k, "b": {"c": k, "d": [X, (X * k,)]}},
    "attrs": lambda k: [Layer(X * k, k), Layer(X, None, "other")],
    "dataclass": lambda k: Batch(X * k, Batch(k)),
    "named tuple": lambda k: Pair(X * k, Pair(1.0, None)),
    "empty": lambda k: ({}, [], (), k),
    "ordered": lambda k: OrderedDict(b=X, a=X * k),
    "keys of all kinds": lambda k: {1: X, "1": X * k, (0, 1): k, None: X},
    "statics": lambda k: ("text", b"bytes", None, True, ..., np.float32, X, k),
}


def number(leaf: Any) -> bool:
    return hasattr(leaf, "dtype") or (isinstance(leaf, (int, float)) and leaf is not True)


@pytest.mark.parametrize("name", TREES)
def test_trees_go_in_and_come_out(name: str) -> None:
    def function(tree: Any, *, other: Any = None) -> Any:
        return {"it": doubled_of(tree), "same": tree, "other": other}

    def doubled_of(tree: Any) -> Any:
        return [leaf * 2 for leaf in flatten(tree) if number(leaf) and leaf is not np.float32]

    fast, runs = counting(function)
    for step in range(5):
        tree = TREES[name](1.5 * step)
        got, wanted = fast(tree, other=X), function(tree, other=X)
        check_alike("it", got["it"], wanted["it"])
        assert flatten(got["same"])[0] is flatten(tree)[0]
        assert type(got["same"]) is type(tree)
    assert len(runs) == 2


def test_structures_in_turn_have_a_program_each() -> None:
    trees = [{"a": X}, {"b": X}, {"a": X, "b": X}, {"b": X, "a": X}, [X], (X,), Pair(X, X), X, {}]
    fast, runs = counting(lambda tree: [leaf * 2 for leaf in flatten(tree)])
    for tree in trees * 4:
        check_alike("it", fast(tree), [leaf * 2 for leaf in flatten(tree)])
    assert len(runs) == 2 * len(trees)


STATICS = [
    *("sum", "mean", b"sum", None, True, False, Mode.SUM, Mode.MEAN, np.dtype("f4"), np.float32),
    *(
        Fraction(1, 2),
        frozenset({1}),
        slice(0, 2),
        slice(2),
        slice(None, None, 2),
        ...,
        np.sum,
        len,
    ),
]


def test_what_is_no_number_belongs_to_the_key() -> None:
    fast, runs = counting(
        lambda x, option: (x * 2, [each is option for each in STATICS].index(True))
    )
    for number, option in enumerate(STATICS * 3):
        assert fast(X, option)[1] == number % len(STATICS)
    assert len(runs) == 2 * len(STATICS)


def test_equal_statics_need_not_be_the_same_object() -> None:
    fast, runs = counting(lambda x, option: x)
    for _ in range(4):
        fast(X, "".join(["s", "um"]))
        fast(X, Fraction(1, 3))
        fast(X, slice(0, 2))
    assert len(runs) == 6


class Options(dict[Any, Any]):
    """A dict with an attribute."""

    def __init__(self, rate: int) -> None:
        self.rate = rate


class Unlike:
    """Something that is compared element by element, as arrays are."""

    __hash__ = object.__hash__

    def __eq__(self, other: object) -> Any:
        return np.array([True, False])


def test_objects_without_an_array_protocol_are_told_apart_by_identity() -> None:
    one, two = Unlike(), Unlike()
    fast, runs = counting(lambda x, option: x)
    for option in (one, two) * 3:
        assert fast(X, option) is X
    assert len(runs) == 4


class Named:
    """Equal to another of the same name, whatever else it has."""

    def __init__(self, name: str, rate: float) -> None:
        self.name, self.rate = name, rate

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Named) and self.name == other.name

    def __hash__(self) -> int:
        return hash(self.name)


class Tagged(Fraction):
    """A number that is more than one."""

    tag = 1


def tagged(tag: int) -> Tagged:
    half = Tagged(1, 2)
    half.tag = tag
    return half


NOON = datetime(2020, 1, 1, 12, tzinfo=UTC)
EQUAL: dict[str, tuple[Any, Any]] = {
    "an __eq__ that leaves out a field": (Named("a", 1.0), Named("a", 2.0)),
    "inside a frozenset": (frozenset([Named("a", 1.0)]), frozenset([Named("a", 2.0)])),
    "a time in two zones": (NOON, NOON.astimezone(timezone(timedelta(hours=2)))),
    "a time with fold": (NOON.replace(tzinfo=None), NOON.replace(tzinfo=None, fold=1)),
    "ranges": (range(0, 3, 2), range(0, 4, 2)),
    "decimals": (Decimal("1.0"), Decimal("1.000")),
    "a subclass with an attribute": (tagged(1), tagged(2)),
    "bools and numbers in a frozenset": (frozenset([1]), frozenset([True])),
    "zeros in a frozenset": (frozenset([0.0]), frozenset([-0.0])),
    "bounds of slices": (slice(1, None), slice(True, None)),
    "the key 1": ({1: None}, {True: None}),
    "the key 1.0": ({1: None}, {1.0: None}),
    "the key 0.0": ({0.0: None}, {-0.0: None}),
    "a key that is a tuple": ({(1, 0.0): None}, {(1, -0.0): None}),
    "a default factory": (defaultdict(int), defaultdict(float)),
    "an attribute of a dict": (Options(1), Options(2)),
}


@pytest.mark.parametrize("name", EQUAL)
def test_equal_arguments_that_differ_have_programs_of_their_own(name: str) -> None:
    one, two = EQUAL[name]
    assert one == two
    fast, runs = counting(lambda x, option: x * 2)
    for _ in range(3):
        fast(X, one)
        fast(X, two)
    assert len(runs) == 4


def test_an_instance_whose_class_is_replaced_is_another_argument() -> None:
    instance: Any = Named("a", 1.0)
    fast, runs = counting(lambda x, option: x)
    for kind in (Named, Unlike):
        instance.__class__ = kind
        for _ in range(3):
            fast(X, instance)
    assert len(runs) == 4


def test_a_field_that_is_set_where_the_class_works_it_out_is_refused() -> None:
    @dataclasses.dataclass
    class Layer:
        weight: Any
        factor: float = dataclasses.field(init=False, default=2.0)

    layer = Layer(X)
    fast = ta.compile(lambda layer: layer.weight * layer.factor)
    for _ in range(4):
        assert np.array_equal(fast(layer), X * 2)
    layer.factor = 3.0
    with pytest.raises(CaptureError, match=r"the field layer\.factor has init=False"):
        fast(layer)


# By position and by name


def test_arguments_by_position_and_by_name() -> None:
    def function(x: Any, /, y: Any = 1.0, *args: Any, z: Any = 2.0, **others: Any) -> Any:
        return x + y * z + sum(args) + sum(others.values())

    fast, _ = counting(function)
    for _ in range(4):
        given: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
            ((X,), {}),
            ((X, 3.0), {}),
            ((X,), {"y": 3.0}),
            ((X, 3.0, 4.0, 5.0), {"z": X}),
            ((X,), {"z": 1.0, "w": 2.0}),
            ((X,), {"w": 2.0, "z": 1.0, "self": X}),
        ]
        for args, kwargs in given:
            check_alike("it", fast(*args, **kwargs), function(*args, **kwargs))
    assert [value.name for value in fast.programs[3].inputs] == [
        "x",
        "y",
        "args[2]",
        "args[3]",
        "z",
    ]


def test_inputs_are_named_as_python_names_them() -> None:
    fast = ta.compile(lambda params, batch: params["a"][0] + batch.x)
    fast({"a": [X, 1.0]}, Batch(X))
    names = [value.name for value in fast.programs[0].inputs]
    assert names == ["params['a'][0]", "params['a'][1]", "batch.x"]


# The quick way and the thorough way agree


def calls() -> list[tuple[tuple[Any, ...], dict[str, Any]]]:
    found: list[tuple[Any, ...]] = [(tree(2.0),) for tree in TREES.values()]
    found += [(X, option) for option in STATICS]
    found += [args for each, _ in MIXED.values() for args in each]
    return [*((args, {}) for args in found), ((), {}), ((), {"x": X})]


def test_a_matcher_takes_no_call_of_another_key() -> None:
    keys = [key_of(args, kwargs, ())[0].form for args, kwargs in calls()]
    for (args, kwargs), key in zip(calls(), keys, strict=True):
        match = matcher(args, kwargs)
        for (others, by_name), other in zip(calls(), keys, strict=True):
            leaves = match(others, by_name)
            assert leaves is None or key == other
            assert leaves is None or len(leaves) == len(key_of(others, by_name, ())[1])
        again = match(args, kwargs)
        assert again is not None
        assert all(a is b for a, b in zip(again, key_of(args, kwargs, ())[1], strict=True))


def test_keys_in_turn_are_matched_quickly() -> None:
    fast, _ = counting(lambda x: x + 1)
    batches = [np.ones(count) for count in (3, 4, 5)]
    for batch in batches * 3:
        fast(batch)
    recent = fast._recent
    for batch in batches * 3:
        fast(batch)
    assert fast._recent is recent
    assert len(recent) == 3


class Name(str):
    """A name that equals the text that it is."""

    __slots__ = ()


@pytest.mark.parametrize("by_name", [False, True])
def test_keys_of_mappings_are_told_apart_by_their_classes(by_name: bool) -> None:
    def f(store: Any = None, **others: Any) -> Any:
        ((key, value),) = (others or store).items()
        return value * (100.0 if isinstance(key, Name) else 1.0)

    fast = ta.compile(f)
    stores: list[dict[Any, Any]] = [{"a": X}, {Name("a"): X}]
    for _ in range(3):
        for store in stores:
            found = fast(**store) if by_name else fast(store)
            assert np.array_equal(found, f(store))
