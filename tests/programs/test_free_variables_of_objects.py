"""Variables in objects, classes, containers and default arguments: changed, they are seen."""

import collections
import dataclasses
import functools
import importlib
import math
import random
import sys
import threading
import types
from collections.abc import Callable
from typing import Any

import attrs
import numpy as np
import pytest

import tape_ad as ta
from tape_ad.errors import CaptureError

X = np.array([0.5, -1.5])


class Slotted:
    """A number in a slot, that methods read."""

    __slots__ = ("rate",)

    def __init__(self) -> None:
        self.rate = 2.0

    def step(self, x: Any) -> Any:
        return x * self.rate


@attrs.define
class Settings:
    """The same, written by attrs."""

    rate: float = 2.0


@dataclasses.dataclass
class Shape:
    """Fields that are listed."""

    wide: float
    high: float = 1.0


class Model:
    """A model whose attributes are read in all the ways that there are."""

    power = 2.0

    def __init__(self) -> None:
        self.scale = 3.0
        self.inner = types.SimpleNamespace(shift=Settings())

    @property
    def doubled(self) -> float:
        return self.scale * 2

    def __call__(self, x: Any) -> Any:
        return x * self.scale + self.inner.shift.rate

    def __getitem__(self, place: int) -> float:
        return self.scale + place

    def loss(self, x: Any) -> Any:
        return self(x) ** 2

    def raised(self, x: Any) -> Any:
        return x**self.power

    @classmethod
    def of_class(cls, x: Any) -> Any:
        return x * cls.power


class Special(Model):
    """A model that asks its base class."""

    def raised(self, x: Any) -> Any:
        return super().raised(x) + 1


class Ball:
    """An object that the compiled function makes itself."""

    gravity = 9.81

    def __init__(self, x: Any) -> None:
        self.x = x

    def step(self) -> None:
        self.x = self.x - self.gravity


def fall(x: Any) -> Any:
    ball = Ball(x)
    ball.step()
    return ball.x


def by_default(x: Any, options: Any = {"rate": 2.0}, *, more: Any = {"shift": 1.0}) -> Any:  # noqa: B006 - which users write
    return x * options["rate"] + more["shift"]


def decorated(function: Callable[..., Any], factor: list[float]) -> Callable[..., Any]:
    """Wrap a function in one that reads something too."""

    @functools.wraps(function)
    def wrapper(x: Any) -> Any:
        return function(x) * factor[0]

    return wrapper


def of_containers() -> list[tuple[Callable[..., Any], Callable[[], Any]]]:
    """Make functions that read containers, each with a change."""
    grown, many, queue = [1.0, 2.0], [1.0] * 100, collections.deque([1.0])
    numbers, ordered = {1.0, 2.0}, collections.OrderedDict(rate=1.0)
    large = dict.fromkeys(range(100), 1.0)
    entries, inside, factor = {"a": 1.0}, ([1.0], 2.0), [1.0]
    given = functools.partial(lambda options, x: x * options["rate"], {"rate": 1.0})
    return [
        (lambda x: x * len(grown), lambda: grown.append(3.0)),
        (lambda x: x * many[70], lambda: many.__setitem__(70, 2.0)),
        (lambda x: x * queue[0], lambda: queue.appendleft(4.0)),
        (lambda x: x * sum(numbers), lambda: numbers.add(5.0)),
        (lambda x: x * ordered["rate"], lambda: ordered.update(rate=6.0)),
        (lambda x: x * sum(entries.values()), lambda: entries.update(b=7.0)),
        (lambda x: x * large[70], lambda: large.update({70: 2.0})),
        (lambda x: x * inside[0][0], lambda: inside[0].__setitem__(0, 8.0)),
        (given, lambda: given.args[0].update(rate=9.0)),
        (decorated(np.sin, factor), lambda: factor.__setitem__(0, 10.0)),
    ]


def of_objects() -> list[tuple[Callable[..., Any], Callable[[], Any]]]:
    """Make functions that read attributes, each with a change."""
    slotted, settings, one, special = Slotted(), Settings(), Model(), Special()
    shape, names = Shape(2.0), ("wide", "high")
    several = (Slotted(), Slotted())
    return [
        (slotted.step, lambda: setattr(slotted, "rate", 3.0)),
        (lambda x: x * settings.rate, lambda: setattr(settings, "rate", 4.0)),
        (lambda x: x * attrs.asdict(settings)["rate"], lambda: setattr(settings, "rate", 5.0)),
        (lambda x: x * sum(dataclasses.astuple(shape)), lambda: setattr(shape, "wide", 3.0)),
        (
            lambda x: x * sum(getattr(shape, each.name) for each in dataclasses.fields(shape)),
            lambda: setattr(shape, "high", 4.0),
        ),
        (
            lambda x: x * sum(getattr(shape, name) for name in names),
            lambda: setattr(shape, "high", 5.0),
        ),
        (one.loss, lambda: setattr(one, "scale", 5.0)),
        (one.loss, lambda: setattr(one.inner.shift, "rate", 6.0)),
        (lambda x: x * one.doubled, lambda: setattr(one, "scale", 7.0)),
        (lambda x: x * one[1], lambda: setattr(one, "scale", 8.0)),
        (one.raised, lambda: setattr(one, "power", 3.0)),
        (special.raised, lambda: setattr(special, "power", 4.0)),
        (lambda x: several[1].step(several[0].step(x)), lambda: setattr(several[1], "rate", 9.0)),
    ]


def assert_seen(function: Callable[..., Any], change: Callable[[], Any]) -> None:
    """Check that a change makes another result, and that the compiled function gives it."""
    fast = ta.compile(function, engine="numpy")
    for _ in range(4):
        before = fast(X)
    assert [path.replays for paths in fast._paths.values() for path in paths.all] == [2]
    change()
    for _ in range(4):
        after = fast(X)
        assert np.array_equal(after, function(X))
    assert not np.array_equal(before, after)


@pytest.mark.parametrize("number", range(len(of_containers())))
def test_containers_that_change_are_seen(number: int) -> None:
    assert_seen(*of_containers()[number])


@pytest.mark.parametrize("number", range(len(of_objects())))
def test_attributes_that_change_are_seen(number: int) -> None:
    assert_seen(*of_objects()[number])


@pytest.mark.parametrize(
    ("function", "kind", "name"),
    [(Model.of_class, Model, "power"), (Model().raised, Model, "power"), (fall, Ball, "gravity")],
)
def test_attributes_of_classes_are_seen(
    monkeypatch: pytest.MonkeyPatch, function: Callable[..., Any], kind: type, name: str
) -> None:
    assert_seen(function, lambda: monkeypatch.setattr(kind, name, 3.0))


def test_defaults_that_change_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    defaults: Any = by_default.__defaults__, by_default.__kwdefaults__
    assert_seen(by_default, lambda: monkeypatch.setitem(defaults[0][0], "rate", 3.0))
    assert_seen(by_default, lambda: monkeypatch.setitem(defaults[1]["more"], "shift", 4.0))


def test_attributes_of_arguments_are_seen() -> None:
    slotted = Slotted()
    fast = ta.compile(lambda options, x: x * options["step"].rate)
    for rate in (2.0, 2.0, 2.0, 2.0, 5.0, 5.0, 5.0, 5.0):
        slotted.rate = rate
        assert np.array_equal(fast({"step": slotted}, X), rate * X)


def test_an_attribute_that_the_first_call_sets_is_seen() -> None:
    class Lazy:
        kept: Any

        def scaled(self, x: Any) -> Any:
            if not hasattr(self, "kept"):
                self.kept = 2.0
            return x * self.kept

    lazy = Lazy()
    assert_seen(lazy.scaled, lambda: setattr(lazy, "kept", 3.0))


def test_zeros_of_another_sign_are_other_numbers() -> None:
    factor = [0.0]
    fast = ta.compile(lambda x: np.copysign(x, factor[0]))
    for _ in range(3):
        assert not np.signbit(fast(X)).any()
    factor[0] = -0.0
    assert np.signbit(fast(X)).all()


of_module, of_class = np.random.rand, random.random


@pytest.mark.parametrize(
    "drawing",
    [
        lambda: np.random.rand(),  # noqa: NPY002, PLW0108 - which users write
        lambda: random.random(),  # noqa: S311, PLW0108 - for a branch, not for a secret
        lambda: of_module(),  # noqa: PLW0108 - what it reads is the test
        lambda: of_class(),  # noqa: PLW0108 - the same
    ],
)
def test_numbers_drawn_from_a_shared_generator_for_a_branch_are_refused(drawing: Any) -> None:
    fast = ta.compile(lambda x: x if drawing() < 2 else -x)
    fast(X)
    with pytest.raises(CaptureError, match="draws random numbers from"):
        fast(X)


class Factor(float):
    """A number with attributes."""


class Grid(np.ndarray):
    """An array with attributes."""


class Tracked(threading.local):
    """A thread-local of the user's own class."""


def identity(y: Any) -> Any:
    return y


def holders() -> dict[str, Any]:
    """Make things that attributes may be added to."""
    return {
        "namespace": types.SimpleNamespace(),
        "function": lambda y: y,
        "partial": functools.partial(identity),
        "cached function": functools.lru_cache(identity),
        "thread-local": threading.local(),
        "thread-local of a class": Tracked(),
        "float": Factor(2.0),
        "array": np.zeros(2).view(Grid),
        "error": ValueError(),
        "class": type("Empty", (), {}),
        "instance": type("Empty", (), {})(),
        "module": types.ModuleType("of_user"),
        "library": types.ModuleType("tape_ad.of_library"),
    }


def caught(o: Any, x: Any) -> Any:
    try:
        return x * o.late
    except AttributeError:
        return x


def matched(o: Any, x: Any) -> Any:
    match o:
        case object(late=factor):
            return x * factor
    return x


WAYS_TO_ASK: dict[str, Callable[[Any, Any], Any]] = {
    "hasattr": lambda o, x: x * o.late if hasattr(o, "late") else x,
    "getattr": lambda o, x: x * getattr(o, "late", 1.0),
    "vars": lambda o, x: x * vars(o).get("late", 1.0),
    "__dict__": lambda o, x: x * o.__dict__.get("late", 1.0),
    "except": caught,
    "match": matched,
}


def assert_each_change_is_seen(function: Callable[[Any], Any], holder: Any) -> None:
    """Check that an attribute is seen to appear, to change and to go."""
    fast = ta.compile(function, engine="numpy")
    for factor in (None, 3.0, 4.0, None, 5.0):
        if factor is not None:
            holder.late = factor
        elif "late" in vars(holder):
            del holder.late
        for _ in range(5):
            wanted = X if factor is None else factor * X
            assert np.array_equal(fast(X), wanted)
            assert np.array_equal(function(X), wanted)


@pytest.mark.parametrize("ask", WAYS_TO_ASK.values(), ids=WAYS_TO_ASK)
@pytest.mark.parametrize("name", holders())
def test_an_attribute_that_appears_later_is_seen(name: str, ask: Callable[[Any, Any], Any]) -> None:
    holder = holders()[name]
    assert_each_change_is_seen(lambda x: ask(holder, x), holder)


def test_an_attribute_that_appears_on_a_bound_method_is_seen() -> None:
    class Bound:
        def method(self) -> None:
            pass

    bound = Bound().method
    assert_each_change_is_seen(lambda x: x * getattr(bound, "late", 1.0), Bound.method)


BY_TEXT: dict[str, Callable[[Any], Any]] = {
    "import_module": lambda x: x * importlib.import_module("a_module.within").factor,
    "__import__": lambda x: x * __import__("a_module").within.factor,
    "sys.modules": lambda x: x * sys.modules["a_module.within"].factor,
    "globals, later": lambda x: x * globals().get("a_late_variable", 2.0),
}


@pytest.mark.parametrize("function", BY_TEXT.values(), ids=BY_TEXT)
def test_modules_and_variables_that_are_named_by_a_text_are_seen(
    function: Callable[[Any], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    module: Any = types.ModuleType("a_module")
    module.within = types.ModuleType("a_module.within")
    module.within.factor = 2.0
    for each in (module, module.within):
        monkeypatch.setitem(sys.modules, each.__name__, each)
    fast = ta.compile(function)
    for call in range(4):
        np.testing.assert_array_equal(fast(X + call), 2 * (X + call))
    module.within.factor = 3.0
    monkeypatch.setitem(globals(), "a_late_variable", 3.0)
    np.testing.assert_array_equal(fast(X), 3 * X)


def test_an_attribute_that_appears_in_a_module_imported_inside_is_seen() -> None:
    def function(x: Any) -> Any:
        import math  # noqa: PLC0415 - which users write

        return x * getattr(math, "late", 1.0)

    try:
        assert_each_change_is_seen(function, math)
    finally:
        del vars(math)["late"]


@pytest.mark.parametrize("name", ["function", "partial", "class", "instance", "module", "library"])
@pytest.mark.parametrize("ask", WAYS_TO_ASK.values(), ids=WAYS_TO_ASK)
def test_an_attribute_of_an_argument_that_appears_later_is_seen(
    name: str, ask: Callable[[Any, Any], Any]
) -> None:
    holder = holders()[name]
    fast = ta.compile(ask, engine="numpy")
    for factor in (None, 3.0, 4.0):
        if factor is not None:
            holder.late = factor
        for _ in range(4):
            assert np.array_equal(fast(holder, X), X if factor is None else factor * X)


def test_what_is_replaced_in_a_library_that_is_an_argument_is_seen() -> None:
    library: Any = holders()["library"]
    fast = ta.compile(lambda o, x: x * o.factor, engine="numpy")
    for factor in (2.0, 3.0):
        library.factor = factor
        for _ in range(4):
            assert np.array_equal(fast(library, X), factor * X)


def test_a_thread_local_is_asked_in_the_thread_that_calls() -> None:
    local = threading.local()
    fast = ta.compile(lambda x: x * getattr(local, "late", 1.0), engine="numpy")
    for _ in range(4):
        assert np.array_equal(fast(X), X)
    found: list[Any] = []

    def other() -> None:
        local.late = 3.0
        found.append(fast(X))

    thread = threading.Thread(target=other)
    thread.start()
    thread.join()
    assert np.array_equal(found[0], 3.0 * X)
    assert np.array_equal(fast(X), X)


def test_what_a_function_reads_of_a_module_that_it_is_handed_is_seen() -> None:
    module: Any = holders()["module"]
    module.late = 2.0
    assert_seen(lambda x: late(module, x), lambda: setattr(module, "late", 3.0))


def late(o: Any, x: Any) -> Any:
    return x * o.late


class Cached:
    """Methods that are objects themselves, made anew whenever they are looked up."""

    factor = 2.0

    def scale(self, x: Any) -> Any:
        return x * self.factor

    compiled = ta.compile(scale)
    remembered = functools.lru_cache(lambda self, y: y * 3)

    @classmethod
    @functools.cache
    def of_class(cls, y: float) -> float:
        return y * 4


@pytest.mark.parametrize(
    "function",
    [
        lambda held, x: held.compiled(x),
        lambda held, x: held.remembered(2.0) * held.scale(x),
        lambda held, x: held.of_class(2.0) * held.scale(x),
    ],
)
def test_methods_that_are_compiled_or_cached(function: Any) -> None:
    held = Cached()
    fast = ta.compile(lambda x: function(held, x), engine="numpy")
    for factor in (2.0, 5.0):
        held.factor = factor
        for _ in range(4):
            assert np.array_equal(fast(X), function(held, X))
    assert [path.replays for paths in fast._paths.values() for path in paths.all] == [2, 2]
