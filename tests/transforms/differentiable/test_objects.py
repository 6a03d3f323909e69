"""Objects, containers and classes of the original code, as copies see and change them."""

import abc
import argparse
import collections
import dataclasses
import enum
import functools
import gc
import math
import sys
import types
import typing
import weakref
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

import attrs
import numpy as np
import pytest

import tape_ad as ta

X = np.array([1.0, 2.0, 3.0])
T = TypeVar("T")


def slopes(function: Any) -> Any:
    return ta.grad(lambda x: np.sum(ta.differentiable(function)(x)))(X)


def asking(x: Any) -> Any:
    """Give what is wrong by far where a handle is not taken for an array."""
    return 2.0 * x if isinstance(x, np.ndarray) else 99.0 * x


class Method:
    def times(self, x: Any) -> Any:
        return asking(x)


class Slots:
    __slots__ = ("factor",)

    def __init__(self, factor: Any) -> None:
        self.factor = factor

    def times(self, x: Any) -> Any:
        return self.factor * asking(x)

    def put(self, x: Any) -> Any:
        self.factor = np.zeros(3)
        return asking(x)


class SlotsAndDict(Slots, Method):
    pass


@attrs.define
class Attrs:
    factor: float = 1.0

    def times(self, x: Any) -> Any:
        return self.factor * asking(x)


@attrs.frozen
class Frozen:
    factor: float = 1.0

    def times(self, x: Any) -> Any:
        return self.factor * asking(x)


@dataclasses.dataclass(slots=True, frozen=True)
class Data:
    factor: float = 1.0

    def times(self, x: Any) -> Any:
        return self.factor * asking(x)


class Tuple(NamedTuple):
    factor: float = 1.0

    def times(self, x: Any) -> Any:
        return self.factor * asking(x)


class Dict(dict[str, Any], Method):
    def add(self, x: Any) -> Any:
        super().__setitem__("added", asking)
        return asking(x)


class List(list[Any], Method):
    pass


class Number(float, Method):
    pass


class Text(str, Method):
    __slots__ = ()


class Deque(collections.deque[Any], Method):
    pass


class Ordered(collections.OrderedDict[str, Any], Method):
    pass


class Titled(Method):
    @property
    def __name__(self) -> str:
        return "titled"


class Meta(type):
    def times(cls, x: Any) -> Any:
        return asking(x)


class OfMeta(metaclass=Meta):
    pass


class Plain:
    """Has nothing but attributes."""


def with_attributes(thing: Any) -> Any:
    thing.times = asking
    return thing


MADE_BEFORE: dict[str, Any] = {
    "slots": Slots(1.0),
    "slots and a dict": SlotsAndDict(1.0),
    "attrs": Attrs(),
    "frozen attrs": Frozen(),
    "dataclass with slots": Data(),
    "named tuple": Tuple(),
    "dict": Dict(),
    "list": List(),
    "number": Number(),
    "text": Text(),
    "deque": Deque(),
    "ordered dict": Ordered(),
    "metaclass": OfMeta,
    "name of its own": Titled(),
    "settings": with_attributes(Plain()),
    "namespace": types.SimpleNamespace(times=asking),
    "arguments": argparse.Namespace(times=asking),
    "in a deque": collections.deque([Method()])[0],
}


@pytest.mark.parametrize("name", MADE_BEFORE)
def test_a_method_of_an_object_that_was_made_before_is_copied(name: str) -> None:
    thing = MADE_BEFORE[name]

    np.testing.assert_array_equal(slopes(lambda x: 1.0 * thing.times(x)), [2, 2, 2])
    np.testing.assert_array_equal(thing.times(X), 2 * X)


class Held(NamedTuple):
    function: Any


HELD: Any = Held  # whose constructor mypy takes for that of a tuple

HOLDING: dict[str, Any] = {
    "deque": (collections.deque([asking]), 0),
    "ordered dict": (collections.OrderedDict(f=asking), "f"),
    "defaultdict": (collections.defaultdict[str, Any](list, f=asking), "f"),
    "user's dict": (collections.UserDict({"f": asking}), "f"),
    "chain": (collections.ChainMap({}, {"f": asking}), "f"),
    "mapping proxy": (types.MappingProxyType({"f": asking}), "f"),
    "large list": ([asking] * 1000, 500),
    "large dict": (dict.fromkeys(range(1000), asking), 500),
    "named tuple": (HELD(asking), 0),
}


@pytest.mark.parametrize("name", HOLDING)
def test_a_function_in_a_container_is_copied(name: str) -> None:
    container, key = HOLDING[name]

    np.testing.assert_array_equal(slopes(lambda x: 1.0 * container[key](x)), [2, 2, 2])
    assert container[key] is asking


def test_one_object_stays_one() -> None:
    slots, table = Slots(1.0), dict[str, Any](f=asking)

    def compared(x: Any) -> Any:
        one, other = slots, table
        other["g"] = math.exp
        return asking(x) * (one is slots and "g" in table and other is table)

    np.testing.assert_array_equal(slopes(compared), [2, 2, 2])
    assert table == {"f": asking, "g": math.exp}


def test_what_a_method_of_a_dict_adds_is_there() -> None:
    own = Dict(first=asking)

    np.testing.assert_array_equal(slopes(lambda x: own.add(x) + own["added"](x)), [4, 4, 4])
    assert own == {"first": asking, "added": asking}


def test_a_class_that_is_assigned_is_that_of_the_object() -> None:
    class First:
        def times(self, x: Any) -> Any:
            self.__class__ = Second
            return self.times(x)

    class Second(First):
        def times(self, x: Any) -> Any:
            return asking(x)

    thing = First()
    np.testing.assert_array_equal(slopes(lambda x: 1.0 * thing.times(x)), [2, 2, 2])
    assert type(thing) is Second


class Kind(enum.Enum):
    ONE = 1

    def times(self, x: Any) -> Any:
        return x if isinstance(x, np.ndarray) else 99 * x


class Known(enum.Enum):
    ONE = 1

    @classmethod
    def of(cls, value: Any) -> Any:
        return value if isinstance(value, cls) else cls(value)

    def times(self, x: Any) -> Any:
        return self.value * np.exp(x)


def test_an_enum_is_refused_where_its_methods_ask_for_numbers() -> None:
    np.testing.assert_allclose(slopes(lambda x: Known.of(1).times(x)), np.exp(X))
    with pytest.raises(ta.errors.NoRuleError, match=r"Kind.times asks whether"):
        slopes(lambda x: 1.0 * Kind.ONE.times(x))


class Left:
    """What a call leaves behind, in objects of every kind."""

    def __init__(self) -> None:
        self.slots = Slots(1.0)
        self.deque: Any = collections.deque()
        self.default: Any = collections.defaultdict(list)
        self.ordered: Any = collections.OrderedDict(first=1)
        self.large = [0.0] * 1000
        self.nested: Any = {"in": {}}
        self.plain: Any = Plain()
        self.namespace = types.SimpleNamespace()
        self.set: Any = set()

    def leave(self, x: Any) -> Any:
        zeros, offset = np.zeros(3), 1.0
        self.slots.put(x)
        self.deque.append(np.zeros(3))
        self.default["a"].append(zeros)
        self.ordered["b"] = np.zeros(3)
        self.large[500] = np.zeros(3)  # type: ignore[call-overload]  # no number
        self.nested["in"]["w"] = {"x": [np.zeros(3), (np.zeros(3),)], "f": float}
        self.plain.kind, self.plain.zeros, self.plain.module = float, np.zeros(3), np
        self.namespace.zeros, self.namespace.me = np.zeros(3), self
        self.method, self.function, self.of = self.leave, asking, Method
        self.made = Method()
        self.inner: Any = lambda y: zeros + offset + y
        self.set |= {asking, float}
        return asking(x)


def parts(thing: Any, met: dict[int, Any]) -> dict[int, Any]:
    """Give all that an object holds."""
    if id(thing) in met or isinstance(thing, (type, types.ModuleType, np.ndarray)):
        return met | {id(thing): thing}
    met |= {id(thing): thing}
    held = [*thing.values()] if isinstance(thing, dict) else []
    held += [*thing] if isinstance(thing, (list, tuple, set, collections.deque)) else []
    held += [*getattr(thing, "__dict__", {}).values()]
    held += [cell.cell_contents for cell in getattr(thing, "__closure__", None) or ()]
    held += [getattr(thing, name) for name in getattr(type(thing), "__slots__", ())]
    for each in held:
        met |= parts(each, met)
    return met


def test_what_a_call_leaves_behind_is_what_the_original_would_leave() -> None:
    copied, own = Left(), Left()
    np.testing.assert_array_equal(slopes(copied.leave), [2, 2, 2])
    own.leave(X)

    assert [type(each) for each in vars(copied).values()] == [
        type(each) for each in vars(own).values()
    ]
    kinds = [
        sorted(
            f"{type(each).__module__}.{type(each).__name__}" for each in parts(thing, {}).values()
        )
        for thing in (vars(copied), vars(own))
    ]
    assert kinds[0] == kinds[1]
    assert copied.plain.kind is float
    assert copied.plain.module is np
    assert copied.namespace.me is copied
    assert copied.of is Method
    assert copied.function is asking
    assert type(copied.made) is Method
    assert {id(each) for each in copied.set} == {id(asking), id(float)}
    assert type(copied.inner(1.0)) is np.ndarray
    np.testing.assert_array_equal(copied.inner(1.0), own.inner(1.0))
    np.testing.assert_array_equal(slopes(copied.leave), [2, 2, 2])


class Single(Method):
    only: ClassVar[Any] = None
    by_name: ClassVar[dict[str, Any]] = {}
    count: ClassVar[int] = 0

    def __new__(cls, name: str = "") -> "Single":
        if name:
            if name not in cls.by_name:
                cls.by_name[name] = super().__new__(cls)
            return cls.by_name[name]  # type: ignore[no-any-return]  # of any kind
        if cls.only is None:
            cls.only = super().__new__(cls)
        return cls.only  # type: ignore[no-any-return]  # of any kind

    def times(self, x: Any) -> Any:
        type(self).count += 1
        return super().times(x)


class Registry(type):
    made: ClassVar[dict[type, Any]] = {}

    def __call__(cls, *args: Any) -> Any:
        if cls not in cls.made:
            cls.made[cls] = super().__call__(*args)
        return cls.made[cls]


class Registered(Method, metaclass=Registry):
    pass


@pytest.mark.parametrize("before", [True, False])
@pytest.mark.parametrize("make", [Single, functools.partial(Single, "one"), Registered])
def test_there_is_one_object_of_a_class_that_makes_one(
    make: Any, before: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Single, "only", None)
    monkeypatch.setattr(Single, "by_name", {})
    monkeypatch.setattr(Registry, "made", {})
    first = make() if before else None

    np.testing.assert_array_equal(slopes(lambda x: make().times(x) * (make() is make())), [2, 2, 2])
    assert type(make()) in (Single, Registered)
    assert make() is (first if before else make())
    assert len(Single.by_name) + len(Registry.made) + (Single.only is not None) == 1


def test_what_is_assigned_to_a_class_in_a_copy_reaches_the_original(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Single, "count", 0)

    def counting(x: Any) -> Any:
        Single.zeros = np.zeros(3)  # type: ignore[attr-defined]  # as some code does
        return Single().times(x) + Single.count

    np.testing.assert_array_equal(slopes(counting), [2, 2, 2])
    Single().times(X)
    assert Single.count == 2
    assert type(Single.zeros) is np.ndarray  # type: ignore[attr-defined]  # the same
    del Single.zeros  # type: ignore[attr-defined]  # the same


def test_arrays_that_are_one_stay_one() -> None:
    table: dict[str, Any] = {}

    def make(x: Any) -> Any:
        table["a"] = made = np.zeros(4)
        table["part"] = made[:2]
        return asking(x), made

    found = ta.differentiable(make)(ta.ComputationRecord().tensor(X))[1]
    assert found is table["a"]
    found[0] = 5.0
    assert table["part"][0] == 5.0


def test_the_subclasses_of_a_class_are_those_of_the_original() -> None:
    class Base:
        def times(self, x: Any) -> Any:
            return 0.0 * x

    class One(Base):
        def times(self, x: Any) -> Any:
            return asking(x)

    class Other(Base):
        def times(self, x: Any) -> Any:
            return 3.0 * asking(x)

    def all_of_them(x: Any) -> Any:
        return sum(kind().times(x) for kind in Base.__subclasses__())

    assert Other.__base__ is One.__base__
    np.testing.assert_array_equal(slopes(all_of_them), [8, 8, 8])
    np.testing.assert_array_equal(slopes(all_of_them), [8, 8, 8])


def test_an_abstract_class_has_the_same_subclasses_where_a_copy_exists() -> None:
    class Base(abc.ABC):  # noqa: B024 - what counts is what is registered
        def times(self, x: Any) -> Any:
            return asking(x)

    class Derived(Base):
        def times(self, x: Any) -> Any:
            return 2.0 * asking(x)

    def times(self: Any, x: Any) -> Any:
        return isinstance(x, np.ndarray)

    copied: Any = ta.differentiable(Base)
    users: Any = type("Users", (copied,), {})
    stops = [type("Stop", (each, Exception), {"times": times}) for each in (Base, users)]
    to_derived, to_copy, to_users, other = (type(name, (), {}) for name in "abcd")
    Derived.register(to_derived)
    copied.register(to_copy)
    users.register(to_users)
    for kind in (Base, copied):
        found = [issubclass(each, kind) for each in (to_derived, to_copy, to_users, other, *stops)]
        assert found == [True, True, True, False, True, True]
        assert [isinstance(each(), kind) for each in (to_copy, other)] == [True, False]
    found = [issubclass(each, users) for each in (to_users, stops[1], to_copy)]
    assert found == [True, True, False]


def test_an_object_of_a_copy_sees_what_is_assigned_to_the_class_at_once() -> None:
    class Model(Method):
        @property
        def factor(self) -> Any:
            return float(np.asarray(1.0))

        @classmethod
        def of(cls, x: Any) -> Any:
            return np.asarray(x)

        def __call__(self, x: Any) -> Any:
            return np.asarray(x)

        def __add__(self, x: Any) -> Any:
            return np.asarray(x)

    kind: Any = Model
    model = ta.differentiable(Model)()
    functions = [model, model.__class__.of, lambda x: model.factor * x, lambda x: model + x]
    found = [ta.grad(lambda x, f=f: np.sum(f(x)))(X)[0] for f in functions]
    kind.__call__ = kind.__add__ = lambda self, x: 5.0 * np.asarray(x)
    kind.of = classmethod(lambda cls, x: 5.0 * np.asarray(x))
    kind.factor = property(lambda self: float(np.asarray(5.0)))
    functions[1] = model.__class__.of
    found += [ta.grad(lambda x, f=f: np.sum(f(x)))(X)[0] for f in functions]

    assert found == [1.0] * 4 + [5.0] * 4


def test_the_cache_of_a_function_serves_its_copy() -> None:
    @functools.lru_cache
    def table(n: int, x: Any = 1.0) -> Any:
        return [np.full(n, 2.0), asking, x]

    def using(x: Any) -> Any:
        weights, function, _ = table(3)
        return weights * function(x) * (table(3) is table(3)) + 0.0 * table(3, x[0])[2]

    first = table(3)
    np.testing.assert_array_equal(slopes(using), [4, 4, 4])
    assert table(3) is first
    assert table.cache_info().currsize == 1
    assert type(first[0]) is np.ndarray
    assert first[1] is asking


def test_local_classes_and_functions_are_freed() -> None:
    def made() -> list[weakref.ref[Any]]:
        table: list[Any] = []

        class Local(Method):
            def times(self, x: Any) -> Any:
                table.append(None)
                return super().times(x)

            def __radd__(self, other: Any) -> Any:
                return other

        def through(x: Any) -> Any:
            return table[0](x) if table[1:] else Local().times(x)

        table.append(through)
        thing = Local()
        np.testing.assert_array_equal(slopes(through), [2, 2, 2])
        np.testing.assert_array_equal(slopes(thing.times), [2, 2, 2])
        kept = ta.differentiable(Local)
        assert isinstance(thing, kept)
        return [*map(weakref.ref, (Local, through, thing, kept))]

    noted = made()
    slopes(asking)  # as the last call's objects may be looked at in its errors
    for _ in range(2):  # first what keeps the originals, then those
        gc.collect()

    assert [each() for each in noted] == [None] * 4


SOURCE = """
import sys
import numpy as np
K, A = 1.0, None

def times(x):
    return K * x if isinstance(x, np.ndarray) else 99 * x

class Kind:
    def times(self, x):
        return times(x)

def loop(x, change):
    total = 0.0
    for i in range(3000):
        total = total + K
        if i == 1999:
            change()
    return x * total
"""


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> Any:
    """Make a module of its own file."""
    found: Any = types.ModuleType("of_an_own_file")
    found.__file__ = str(tmp_path / "of_an_own_file.py")
    (tmp_path / "of_an_own_file.py").write_text(SOURCE)
    exec(compile(SOURCE, found.__file__, "exec"), vars(found))  # noqa: S102 - as a package is
    monkeypatch.setitem(sys.modules, "of_an_own_file", found)
    return found


WRITING = {
    "update": "globals().update(K=2.0, A=np.zeros(3))",
    "item": "globals()['K'] = 2.0; globals()['A'] = np.zeros(3)",
    "setdefault": "del globals()['K'], globals()['A']; globals().setdefault('K', 2.0)\n"
    " globals().setdefault('A', np.zeros(3))",
    "exec": "exec('K, A = 2.0, np.zeros(3)', globals())",
    "vars": "v = vars(sys.modules[__name__]); v['K'] = 2.0; v['A'] = np.zeros(3)",
    "setattr": "m = sys.modules[__name__]; setattr(m, 'K', 2.0); setattr(m, 'A', np.zeros(3))",
    "attribute": "import of_an_own_file as m; m.K = 2.0; m.A = np.zeros(3)",
}


@pytest.mark.parametrize("name", WRITING)
def test_what_is_written_to_globals_in_another_manner_reaches_the_module(
    name: str, module: Any
) -> None:
    exec(f"def write(x):\n {WRITING[name]}\n return times(x)\n", vars(module))  # noqa: S102 - as above

    np.testing.assert_array_equal(slopes(module.write), [2, 2, 2])
    assert module.K == 2.0
    assert type(module.A) is np.ndarray


@pytest.mark.parametrize(
    "text",
    [
        *("globals()['K']", "globals().get('K')", "dict(globals())['K']"),
        *("eval('K * np.ones(1)[0]')", "1.0 * ('K' in globals().keys())"),
        "[v for k, v in globals().items() if k == 'K'][0]",
        "(lambda names: exec('L = K', globals(), names) or names['L'])({})",
    ],
)
def test_globals_are_read_as_those_of_the_module(text: str, module: Any) -> None:
    exec(f"def read(x):\n return {text} * times(x)\n", vars(module))  # noqa: S102 - as above

    np.testing.assert_array_equal(slopes(module.read), [1, 1, 1])


@pytest.mark.parametrize(
    "text", ["sys.modules[n].K = 2.0", "setattr(sys.modules[n], 'K', 2.0)", "vars(m)['K'] = 2.0"]
)
def test_a_loop_sees_what_is_bound_anew_in_its_module(text: str, module: Any) -> None:
    namespace: dict[str, Any] = {
        "sys": sys,
        "m": module,
        "n": "of_an_own_file",
        "__name__": "other",
    }
    exec(f"def change(): {text}", namespace)  # noqa: S102 - as above
    found = []
    for _ in range(3):
        module.K = 1.0
        found.append(slopes(lambda x: module.loop(x, namespace["change"]))[0])

    assert found == [2000.0 + 2 * 1000.0] * 3


class Interface:
    """Stands where a module would be, as some packages have it."""

    def __init__(self, module: Any) -> None:
        self.module = module

    def __getattr__(self, name: str) -> Any:
        return getattr(self.module, name)


class Lazy(types.ModuleType):
    """A module with methods."""

    def __getattr__(self, name: str) -> Any:
        if name[:2] == "__":
            raise AttributeError(name)
        return asking

    def method(self, x: Any) -> Any:
        return asking(x)

    def __call__(self, x: Any) -> Any:
        return asking(x)


def test_modules_with_classes_of_their_own(module: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    interface, lazy = Interface(module), Lazy("lazy")
    monkeypatch.setitem(sys.modules, "of_an_own_file", interface)
    module.K = 2.0

    def importing(x: Any) -> Any:
        import of_an_own_file as m  # type: ignore[import-not-found]  # noqa: PLC0415 - made here

        return m.times(x) + m.Kind().times(x)

    view = ta.differentiable(interface)
    np.testing.assert_array_equal(ta.grad(lambda x: np.sum(view.times(x)))(X), [2, 2, 2])
    np.testing.assert_array_equal(slopes(importing), [4, 4, 4])
    for function in (lazy, lazy.method, lazy.later):
        np.testing.assert_array_equal(slopes(function), [2, 2, 2])
    np.testing.assert_array_equal(slopes(lambda x: lazy.method(x) + lazy(x)), [4, 4, 4])


def test_a_tie_in_a_users_own_code_is_an_error_that_says_what_to_write() -> None:
    def scaled(x: Any, k: Any) -> Any:
        return np.sum(x) if k == 0 else np.sum(x) * k

    def meant(x: Any, k: Any) -> Any:
        return np.sum(x) if ta.stop_gradient(k) == 0 else np.sum(x) * k

    with pytest.raises(ta.errors.TieError, match=r"line \d+ of test_objects.py.*ta.stop_gradient"):
        ta.grad(lambda k: ta.differentiable(scaled)(X, k))(0.0)
    assert ta.grad(lambda k: ta.differentiable(meant)(X, k))(0.0) == 0.0


class Weighed:
    """An object that tables know by its identity."""

    def __init__(self, factor: float) -> None:
        self.factor = factor

    def times(self, x: Any) -> Any:
        return asking(x) * self.factor * WEIGHTS.get(self, 0.0)


def weigh(x: Any) -> Any:
    return 2.0 * x


FIRST, SECOND = Weighed(2.0), Weighed(3.0)
WEIGHTS = weakref.WeakKeyDictionary({FIRST: 5.0})
OF_FUNCTIONS = weakref.WeakKeyDictionary({weigh: 7.0})
BY_IDENTITY = {id(FIRST): 11.0, id(weigh): 13.0}
WEAK_SET, COUNTED = weakref.WeakSet([FIRST]), collections.Counter([FIRST, FIRST])
BY_WORD = weakref.WeakValueDictionary({"second": SECOND})
TO_FIRST: Any = weakref.ref(FIRST)
TO_NOTHING = weakref.ref(Weighed(1.0))
LEFT_BEHIND: list[Any] = []


def leaving_references(x: Any) -> Any:
    made: Any = weakref.WeakKeyDictionary()
    made[FIRST] = 3.0
    LEFT_BEHIND[:] = [weakref.ref(FIRST), weakref.WeakSet([SECOND]), made]
    assert LEFT_BEHIND[0]() is FIRST
    return made[FIRST] * LEFT_BEHIND[0]().times(x)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: FIRST.times(x) * WEIGHTS.get(FIRST, 0.0),
        lambda x: x * OF_FUNCTIONS.get(weigh, 0.0) * BY_IDENTITY.get(id(weigh), 0.0),
        lambda x: x * BY_IDENTITY.get(id(FIRST), 0.0) * COUNTED[FIRST],
        lambda x: x * (FIRST in WEAK_SET) + 2.0 * x * (TO_FIRST() is FIRST),
        lambda x: x * (TO_NOTHING() is None),
        lambda x: (
            TO_FIRST().times(x) + x * (BY_WORD["second"] is SECOND) * BY_WORD["second"].factor
        ),
        lambda x: sum(each.times(x) for each in WEAK_SET) * sum(WEIGHTS.values()) * len(BY_WORD),
        lambda x: (
            x * isinstance(WEIGHTS, weakref.WeakKeyDictionary) * (type(TO_FIRST) is weakref.ref)
        ),
        leaving_references,
    ],
)
def test_tables_by_identity_know_objects_and_functions(function: Any) -> None:
    expected = np.sum(function(np.ones(1)))
    np.testing.assert_allclose(slopes(function), expected)


def test_what_refers_weakly_is_left_as_the_original_would_leave_it() -> None:
    slopes(leaving_references)
    gc.collect()
    reference, kept, table = LEFT_BEHIND
    assert [type(each) for each in LEFT_BEHIND] == [
        weakref.ref,
        weakref.WeakSet,
        weakref.WeakKeyDictionary,
    ]
    assert reference() is FIRST
    assert [*kept] == [SECOND]
    assert table[FIRST] == 3.0


class Patched(Method):
    @property
    def doubled(self) -> float:
        return 2.0

    @staticmethod
    def sent(x: Any) -> Any:
        return asking(x)


def test_what_is_taken_from_a_class_and_put_back_is_the_original() -> None:
    names = ("times", "doubled", "sent")

    def patching(x: Any) -> Any:
        before = {name: vars(Patched)[name] for name in names if name in vars(Patched)}
        for name in before:
            setattr(Patched, name, None)
        for name, value in before.items():
            setattr(Patched, name, value)
        return Patched.sent(x) * Patched().doubled

    before = dict(vars(Patched))
    np.testing.assert_array_equal(slopes(patching), 4.0)
    assert {name: vars(Patched)[name] for name in before} == before


class Box(Generic[T]):
    def __init__(self, value: T) -> None:
        self.value = value

    def times(self, x: Any) -> Any:
        return asking(x) * self.value


def test_what_is_cached_of_a_generic_class_is_of_the_original() -> None:
    np.testing.assert_array_equal(slopes(lambda x: Box[float](3.0).times(x)), 6.0)
    assert typing.get_origin(Box[float]) is Box
    assert type(Box[float](3.0)) is Box


class Rational:
    __slots__ = ("factor", "power")
    factor: Any
    power: Any

    def times(self, x: Any) -> Any:
        return asking(x) * self.factor * self.power


class One(Rational):
    factor = 3.0
    power = property(lambda _: 5.0)


ONE = One()


def test_what_a_class_has_in_place_of_a_slot_counts() -> None:
    np.testing.assert_array_equal(slopes(ONE.times), 30.0)


class WithPrivateSlot:
    __slots__ = ("__held",)

    def __init__(self, held: Any) -> None:
        self.__held = held

    def exponential(self) -> Any:
        return math.exp(self.__held)


def test_a_handle_in_a_private_slot_is_found() -> None:
    called = ta.differentiable(lambda thing: thing.exponential())

    assert ta.grad(lambda x: called(WithPrivateSlot(x)))(0.0) == 1.0
