"""Nested structures: what the walker rebuilds, and what bind and wrt make of them."""

import dataclasses
from collections import OrderedDict, UserDict, defaultdict
from types import MappingProxyType
from typing import Any, NamedTuple

import attrs
import numpy as np
import pytest

import tape_ad as ta
from tape_ad.base.trees import flatten, map_leaves, paired, unflatten, with_paths
from tape_ad.errors import DtypeError, RecordMismatchError

X = np.array([1.0, 2.0])


class Pair(NamedTuple):
    left: Any
    right: Any


@attrs.define
class Layer:
    weight: Any
    bias: Any = None
    name: str = "layer"


@attrs.frozen
class Frozen:
    _hidden: Any
    constant: int = attrs.field(init=False, default=7)


# The walker


@pytest.mark.parametrize(
    "tree",
    [
        1,
        None,
        "text",
        [],
        {},
        (),
        [1, [2, (3, {"a": 4})]],
        Pair(1, [2]),
        Layer(1, [2]),
        Frozen({"a": 1}),
        {1: {(2, 3): 4}},
    ],
    ids=str,
)
def test_the_identity_rebuilds_the_structure(tree: Any) -> None:
    rebuilt = map_leaves(lambda leaf, path: leaf, tree)
    assert rebuilt == tree
    assert type(rebuilt) is type(tree)


@attrs.define
class Listed:
    items: list[Any] = []  # noqa: RUF008 - a default that has no hash is what is tested


def test_a_field_may_have_a_default_without_a_hash() -> None:
    assert map_leaves(lambda leaf, path: path, Listed([1])) == Listed([".items[0]"])


@pytest.mark.parametrize("tree", [(), (1,), (1, None), (1, [2]), [1, 2], Pair(1, 2), {"a": 1}])
def test_a_tree_is_paired_with_itself_leaf_by_leaf(tree: Any) -> None:
    assert paired(tree, tree) == [(path, leaf, leaf) for path, leaf in with_paths(tree)]


@pytest.mark.parametrize(
    ("tree", "other"), [((1, 2), (1,)), ((1, 2), (1, [2])), ((1, [2]), (1, 2)), ((), 1), (1, ())]
)
def test_trees_of_different_structure_are_no_pair(tree: Any, other: Any) -> None:
    with pytest.raises(ValueError, match=r"missing|not expected|instead of"):
        paired(tree, other)


@pytest.mark.parametrize("tree", [1, {"a": [1, (2, 3)], "b": Layer(4, {5: 6})}, Frozen([7])])
def test_the_leaves_come_in_one_order(tree: Any) -> None:
    met: list[tuple[str, Any]] = []
    map_leaves(lambda leaf, path: met.append((path, leaf)), tree)
    assert with_paths(tree) == met
    assert flatten(tree) == [leaf for _, leaf in met]
    assert unflatten(tree, flatten(tree)) == tree


def test_the_containers_are_new() -> None:
    tree = {"a": [1, 2]}
    rebuilt = map_leaves(lambda leaf, path: leaf, tree)
    rebuilt["a"].append(3)
    assert tree == {"a": [1, 2]}


def test_paths_are_written_as_python_would() -> None:
    tree = {"net": [Layer(0, Pair(0, (0,)))], 3: Frozen(0)}
    paths: list[str] = []
    map_leaves(lambda leaf, path: paths.append(path), tree)
    assert paths == [
        "['net'][0].weight",
        "['net'][0].bias[0]",
        "['net'][0].bias[1][0]",
        "['net'][0].name",
        "[3]._hidden",
    ]


def test_a_bare_leaf_has_an_empty_path() -> None:
    assert map_leaves(lambda leaf, path: (leaf, path), 5) == (5, "")


def test_mappings_keep_their_class_and_order() -> None:
    for tree in (OrderedDict(b=1, a=2), MappingProxyType({"b": 1, "a": 2}), UserDict(b=1, a=2)):
        rebuilt = map_leaves(lambda leaf, path: leaf, tree)
        assert type(rebuilt) is type(tree)
        assert list(rebuilt) == ["b", "a"]


class AttributeDict(dict[str, Any]):
    """A dict whose entries are attributes."""

    __getattr__ = dict.__getitem__
    __setattr__ = dict.__setitem__


class OneDict(dict[str, Any]):
    """The same, by one dict for both."""

    def __init__(self, **entries: Any) -> None:
        super().__init__(entries)
        self.__dict__ = self


class Names(list[Any]):
    """A list with an attribute."""

    title = "none"


class Point(tuple[Any, ...]):
    """A tuple with a method."""

    def first(self) -> Any:
        return self[0]


def test_dicts_of_a_class_keep_their_lookups() -> None:
    stores: list[Any] = [AttributeDict(w=X, dtype=2.0), OneDict(w=X, dtype=2.0)]
    for store in stores:
        gradients = ta.grad(lambda p: np.sum(p.w**2) * p.dtype)(store)
        assert type(gradients) is type(store)
        assert np.array_equal(gradients.w, 4 * X)
        fast = ta.compile(lambda p: p.w * p.dtype, engine="numpy")
        for _ in range(4):
            assert np.array_equal(fast(store), 2 * X)


def test_a_default_factory_is_kept() -> None:
    store: Any = defaultdict(lambda: 3.0, {"w": X})
    gradients = ta.grad(lambda p: np.sum(p["w"] * p["missing"]))(store)
    assert type(gradients) is defaultdict
    assert gradients.keys() == {"w"}
    assert np.array_equal(gradients["w"], [3.0, 3.0])
    assert store.keys() == {"w"}


def test_an_ordered_dict_can_be_reordered() -> None:
    def last(p: Any) -> Any:
        p.move_to_end("a")
        return np.sum(next(reversed(p.values())) ** 2)

    gradients = ta.grad(last)(OrderedDict(a=X, b=X))
    assert type(gradients) is OrderedDict
    assert list(gradients) == ["a", "b"]
    assert np.array_equal(gradients["a"], 2 * X)


def test_lists_and_tuples_of_a_class_keep_it() -> None:
    names = Names([X])
    names.title = "some"
    assert ta.grad(lambda p: np.sum(p[0]) * (p.title == "some"))(names)[0].tolist() == [1.0, 1.0]
    assert ta.grad(lambda p: np.sum(p.first()))(Point((X,))).first().tolist() == [1.0, 1.0]


def test_what_a_function_does_to_its_structure_is_not_done_to_the_gradient() -> None:
    gradients = ta.grad(lambda p: np.sum(p.pop("w") ** 2))({"w": X})
    assert np.array_equal(gradients["w"], 2 * X)


def test_arrays_and_handles_are_leaves() -> None:
    x: Any = ta.ComputationRecord().tensor([1.0, 2.0])
    leaves: list[Any] = []
    map_leaves(lambda leaf, path: leaves.append(leaf), [np.ones(3), x])
    assert [type(leaf) for leaf in leaves] == [np.ndarray, ta.Tensor]


# bind


def test_bind_makes_a_leaf_of_every_array_and_number() -> None:
    rec: Any = ta.ComputationRecord()
    store = {
        "w": np.ones((2, 3)),
        "scale": 2,
        "layers": [Layer(np.ones(4, np.float32), np.int64(3)), Pair(1.5, (2j,))],
    }
    p = rec.bind(store)
    assert len(rec) == 6
    assert p["w"].data is store["w"]
    assert isinstance(p["layers"][0], Layer)
    assert isinstance(p["layers"][1], Pair)
    assert p["layers"][0].weight.dtype == np.float32
    assert p["layers"][0].bias.dtype == np.float64
    assert p["layers"][1].right[0].dtype == np.complex128
    assert [node.index for node in rec] == [
        p["w"].index,
        p["scale"].index,
        p["layers"][0].weight.index,
        p["layers"][0].bias.index,
        p["layers"][1].left.index,
        p["layers"][1].right[0].index,
    ]


@pytest.mark.parametrize(
    "other",
    [None, "text", b"bytes", True, False, len, np.float32, np.dtype("f4"), slice(3)],
    ids=str,
)
def test_bind_and_wrt_leave_other_things_as_they_are(other: Any) -> None:
    rec: Any = ta.ComputationRecord()
    p = rec.bind({"w": 1.0, "other": other})
    assert p["other"] is other
    assert len(rec) == 1
    assert (p["w"] * 2).grad().wrt(p)["other"] is other


def test_bind_of_a_bare_array() -> None:
    w: Any = ta.ComputationRecord().bind(np.ones(2))
    assert isinstance(w, ta.Tensor)


def test_an_array_that_stands_twice_is_two_leaves() -> None:
    w = np.ones(2)
    rec: Any = ta.ComputationRecord()
    p = rec.bind([w, w])
    grads = np.sum(p[0] * 3.0 + p[1]).grad()
    np.testing.assert_array_equal(grads.wrt(p), [[3.0, 3.0], [1.0, 1.0]])


def test_the_gradients_have_the_structure_of_the_store() -> None:
    store = {"layers": [Layer(np.ones((2, 2)), np.ones(2)), Frozen(3.0)], "none": None}
    p: Any = ta.ComputationRecord().bind(store)
    layer, factor = p["layers"]
    loss = np.sum((np.ones(2) @ layer.weight + layer.bias) * factor._hidden)
    got = loss.grad().wrt(p)
    np.testing.assert_array_equal(got["layers"][0].weight, np.full((2, 2), 3.0))
    np.testing.assert_array_equal(got["layers"][0].bias, [3.0, 3.0])
    assert got["layers"][0].name == "layer"
    assert got["layers"][1]._hidden == 6.0
    assert got["layers"][1].constant == 7
    assert got["none"] is None


# Errors name the place, and nothing is recorded


def test_bind_names_the_entry_without_a_derivative() -> None:
    rec: Any = ta.ComputationRecord()
    with pytest.raises(DtypeError, match=r"the entry \['b'\]\[1\]\.weight has dtype <U1"):
        rec.bind({"a": np.ones(2), "b": [1.0, Layer(np.array(["x"]))]})
    assert len(rec) == 0


def test_bind_names_the_masked_entry() -> None:
    rec: Any = ta.ComputationRecord()
    with pytest.raises(DtypeError, match=r"\['b'\].*MaskedArray"):
        rec.bind({"a": 1.0, "b": np.ma.masked_array([1.0], [True])})
    assert len(rec) == 0


def test_bind_names_the_handle_of_another_record() -> None:
    rec, other = ta.ComputationRecord(), ta.ComputationRecord()
    with pytest.raises(RecordMismatchError, match=r"the entry \['b'\] is a handle of another"):
        rec.bind({"a": 1.0, "b": other.tensor(1.0)})
    assert len(rec) == 0


def test_bind_names_the_handle_of_this_very_record() -> None:
    rec: Any = ta.ComputationRecord()
    x = rec.tensor(1.0)
    with pytest.raises(RecordMismatchError, match=r"the entry \[1\] is a handle of this very"):
        rec.bind([np.ones(2), x])
    assert len(rec) == 1


def test_wrt_names_the_array_that_is_no_handle() -> None:
    rec: Any = ta.ComputationRecord()
    x = rec.tensor(1.0)
    with pytest.raises(TypeError, match=r"got ndarray \(at \['a'\]\.bias\)"):
        x.grad().wrt({"a": Layer(x, np.ones(2))})


@attrs.frozen
class Checked:
    weight: Any = attrs.field(
        converter=np.asarray, validator=attrs.validators.instance_of(np.ndarray)
    )


@dataclasses.dataclass(frozen=True)
class PairOfData:
    first: Any
    second: Any


def test_classes_that_check_their_fields_and_dataclasses_are_bound() -> None:
    rec: Any = ta.ComputationRecord()
    store: dict[str, Any] = {"a": Checked([1.0, 2.0]), "b": PairOfData(np.ones(2), None)}
    p = rec.bind(store)
    grads = np.sum(p["a"].weight * p["b"].first * 3.0).grad().wrt(p)
    assert isinstance(grads["b"], PairOfData)
    np.testing.assert_array_equal(grads["a"].weight, [3.0, 3.0])
    np.testing.assert_array_equal(grads["b"].first, [3.0, 6.0])
    assert grads["b"].second is None
    assert isinstance(store["a"].weight, np.ndarray)


@attrs.define
class WithNorm:
    weight: Any
    norm: Any = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self.norm = np.sqrt(np.sum(self.weight**2))


@dataclasses.dataclass
class WithSum:
    weight: Any
    total: Any = dataclasses.field(init=False)

    def __post_init__(self) -> None:
        self.total = np.sum(self.weight)


def test_what_a_class_works_out_from_its_fields_is_worked_out_from_their_handles() -> None:
    slopes = ta.grad(lambda layer: layer.norm)(WithNorm(np.array([3.0, 4.0])))
    np.testing.assert_allclose(slopes.weight, [0.6, 0.8])
    slopes = ta.grad(lambda layer: layer.total)(WithSum(np.array([3.0, 4.0])))
    np.testing.assert_array_equal(slopes.weight, [1.0, 1.0])


# Pairing


class Namesake:
    """A key that is written like any other of its kind."""

    def __repr__(self) -> str:
        return "Namesake()"


def test_pairs_stand_in_the_order_of_the_first_tree() -> None:
    assert paired([{"a": 1, "b": (2, 3)}], [{"b": (20, 30), "a": 10}]) == [
        ("[0]['a']", 1, 10),
        ("[0]['b'][0]", 2, 20),
        ("[0]['b'][1]", 3, 30),
    ]


def test_keys_that_are_written_alike_are_not_mixed_up() -> None:
    one, two = Namesake(), Namesake()
    with pytest.raises(ValueError, match="two keys are written alike"):
        paired({one: 1, two: 2}, {two: 20, one: 10})


def test_many_leaves_that_are_missing_are_not_all_listed() -> None:
    with pytest.raises(ValueError, match=r"^leaves at \['0'\], .*\['7'\], \.\.\. missing$"):
        paired({str(i): i for i in range(20)}, {})


# What a class works out by itself


@pytest.mark.parametrize("kind", ["attrs", "dataclass"])
def test_a_field_without_init_that_was_set_from_outside_is_kept(kind: str) -> None:
    if kind == "attrs":
        made = attrs.make_class(
            "Made", {"x": attrs.field(), "by": attrs.field(init=False, default=2.0)}
        )
    else:
        by = ("by", Any, dataclasses.field(init=False, default=2.0))
        made = dataclasses.make_dataclass("Made", [("x", Any), by])
    tree = made(X)
    tree.by = 7.0
    assert np.array_equal(ta.grad(lambda t: np.sum(t.x * t.by))(tree).x, [7.0, 7.0])


@dataclasses.dataclass
class Shifted:
    x: Any
    twice: Any = dataclasses.field(init=False)

    def __post_init__(self) -> None:
        self.x = self.x + 1
        self.twice = 2 * self.x


def test_a_class_that_changes_its_fields_each_time_is_an_error() -> None:
    with pytest.raises(ValueError, match="changes the field 'x' each time"):
        ta.grad(lambda t: np.sum(t.x))(Shifted(X))


class Doubled(Pair):
    """A named tuple that changes what it is made of."""

    def __new__(cls, left: Any, right: Any) -> "Doubled":
        return super().__new__(cls, left * 2, right)


def test_a_named_tuple_is_not_changed_by_its_constructor_again() -> None:
    pair = Doubled(X, X)
    pair.tag = "mine"  # type: ignore[attr-defined]  # as any instance may have
    found = unflatten(pair, flatten(pair))
    assert type(found) is Doubled
    assert found.tag == "mine"  # type: ignore[attr-defined]  # as above
    np.testing.assert_array_equal(found.left, X * 2)


class Channel(list[Any]):
    __slots__ = ("__gain", "name", "unit")
    unit: str

    def __init__(self, items: Any, name: str) -> None:
        super().__init__(items)
        self.name, self.__gain = name, 2.0

    def gain(self) -> float:
        return self.__gain


class Labelled(dict[str, Any]):
    __slots__ = ("label",)
    label: str


def test_what_is_in_slots_is_kept() -> None:
    channel = map_leaves(lambda leaf, path: 2 * leaf, Channel([1.0, 2.0], "left"))
    assert (type(channel), channel, channel.name, channel.gain()) == (Channel, [2, 4], "left", 2.0)
    assert not hasattr(channel, "unit")
    labelled = Labelled(a=1.0)
    labelled.label = "x"
    assert map_leaves(lambda leaf, path: leaf, labelled).label == "x"


def test_what_is_in_slots_is_watched() -> None:
    fast = ta.compile(lambda c: c[0] * (2 if getattr(c, "unit", "V") == "V" else 3))
    channel = Channel([1.0, 2.0], "left")
    assert [fast(channel) for _ in range(3)] == [2.0] * 3
    channel.unit = "A"
    assert fast(channel) == 3.0
    del channel.unit
    assert fast(channel) == 2.0
    (by_leaf,) = ta.grad(lambda c: c[0] * len(c.name))(channel)[:1]
    assert by_leaf == 4.0
