"""What a compiled function reads besides its arguments: changed in place, it is seen."""

import array
import collections
import contextvars
import cProfile
import enum
import functools
import inspect
import operator
import sys
import types
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

import tape_ad as ta
from tape_ad.errors import CompileWarning

X = np.array([0.5, -1.5])

Change = Callable[[], Any]
Case = tuple[Callable[..., Any], tuple[Any, ...], Change]


class Model:
    """A model with a method to be passed, and attributes that may be missing."""

    training = True
    rate = 2.0

    def loss(self, x: Any) -> Any:
        return x * (2.0 if self.training else 3.0)

    def scaled(self, x: Any) -> Any:
        return x * self.scale if hasattr(self, "scale") else x

    def tried(self, x: Any) -> Any:
        try:
            return x * vars(self)["scale"]
        except KeyError:
            return x

    def of_class(self, x: Any) -> Any:
        return x * getattr(type(self), "power", 1.0)

    def looked_up(self, x: Any) -> Any:
        return x * getattr(self, "scale", 1.0)

    def whole(self, x: Any) -> Any:
        return self.loss(x) + 1

    @property
    def factor(self) -> float:
        return 2.0

    def __getitem__(self, place: int) -> float:
        return 2.0 + place


class Other:
    """What an instance may become."""

    training = False

    def loss(self, x: Any) -> Any:
        return x * 5.0


class Looked:
    """Whose attributes come out of a dict."""

    def __init__(self) -> None:
        self.store = {"rate": 2.0}

    def __getattribute__(self, name: str) -> Any:
        store = object.__getattribute__(self, "__dict__")["store"]
        return store[name] if name in store else object.__getattribute__(self, name)


class Strict(Looked):
    """Which has no attributes but those, not even those of any object."""

    def __getattribute__(self, name: str) -> Any:
        return object.__getattribute__(self, "__dict__")["store"][name]


class MadeUp:
    """Whose attributes are made up while they are missing."""

    def __getattr__(self, name: str) -> Any:
        return 2.0


class Slotted:
    """An attribute that may be missing, in a slot."""

    __slots__ = ("__weakref__", "scale")

    def scaled(self, x: Any) -> Any:
        return x * getattr(self, "scale", 2.0)


def defined_later(x: Any) -> Any:
    try:
        return x * name_of_later  # type: ignore[name-defined]  # which is the test
    except NameError:
        return x


def with_builtin(x: Any) -> Any:
    return x * len((1, 2))


def with_module(x: Any) -> Any:
    import module_of_a_user  # type: ignore[import-not-found]  # noqa: PLC0415 - which is the test

    return x * module_of_a_user.factor


def from_module(x: Any) -> Any:
    from module_of_a_user import factor  # noqa: PLC0415 - the same

    return x * factor


def with_late_module(x: Any) -> Any:
    try:
        import late_module_of_a_user as module  # type: ignore[import-not-found]  # noqa: PLC0415 - the same
    except ImportError:
        return x
    return x * module.factor


def by_name(x: Any) -> Any:
    return x * globals()["factor_of_module"]


factor_of_module = 2.0


def with_defaults(x: Any, factor: float = 2.0, *, shift: float = 1.0) -> Any:
    return x * factor + shift


def called(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let a function be called by one that is compiled."""
    return lambda x: function(x)  # noqa: PLW0108 - which is what this is about


def of_arguments() -> dict[str, Case]:
    """Make functions that are called with something else than arrays."""
    model, factor, options = Model(), [2.0], {"rate": 2.0}
    fixed = functools.partial(lambda x, rate: x * rate, rate=2.0)
    module = types.ModuleType("module_among_arguments")
    module.scaled = lambda x: x * 2  # type: ignore[attr-defined]  # which a module takes
    kind = type("Kind", (), {"scaled": staticmethod(lambda x: x * 2)})
    return {
        "a bound method": (apply, (model.loss, X), lambda: setattr(model, "training", False)),
        "a function": (apply, (lambda x: x * factor[0], X), lambda: factor.__setitem__(0, 3.0)),
        "a partial": (apply, (fixed, X), lambda: fixed.keywords.update(rate=3.0)),
        "a dict in a function": (
            apply,
            (lambda x: x * options["rate"], X),
            lambda: options.update(rate=3.0),
        ),
        "a module": (
            lambda module, x: module.scaled(x),
            (module, X),
            lambda: setattr(module, "scaled", lambda x: x * 3),
        ),
        "a class": (
            lambda kind, x: kind.scaled(x),
            (kind, X),
            lambda: setattr(kind, "scaled", staticmethod(lambda x: x * 3)),
        ),
        "its class": (
            lambda model, x: model.loss(x),
            (model, X),
            lambda: setattr(model, "__class__", Other),
        ),
    }


def apply(function: Callable[..., Any], x: Any) -> Any:
    return function(x)


def of_missing_names(monkeypatch: pytest.MonkeyPatch) -> dict[str, Case]:
    """Make functions that look for names which are not there so far."""
    model: Any = Model()
    here, slotted, looked, strict = sys.modules[__name__], Slotted(), Looked(), Strict()
    lazy: Any = types.ModuleType("lazy_module_of_a_user")
    lazy.__getattr__ = lambda name: 2.0
    user = types.ModuleType("module_of_a_user")
    user.factor = 2.0  # type: ignore[attr-defined]  # which a module takes
    monkeypatch.setitem(sys.modules, "module_of_a_user", user)

    def later(name: str, value: Any) -> Change:
        return lambda: monkeypatch.setattr(here, name, value, raising=False)

    def scale() -> None:
        model.scale = 3.0

    return {
        "hasattr": (model.scaled, (X,), scale),
        "getattr": (model.looked_up, (X,), scale),
        "vars": (model.tried, (X,), scale),
        "of a class": (
            model.of_class,
            (X,),
            lambda: monkeypatch.setattr(Model, "power", 3.0, raising=False),
        ),
        "by __getattribute__": (
            lambda x: x * looked.rate,
            (X,),
            lambda: looked.store.update(rate=3.0),
        ),
        "by __getattribute__ alone": (
            lambda x: x * strict.rate,
            (X,),
            lambda: object.__getattribute__(strict, "store").update(rate=3.0),
        ),
        "instead of __getattr__": (
            lambda x: x * MadeUp().rate,
            (X,),
            lambda: monkeypatch.setattr(MadeUp, "rate", 3.0, raising=False),
        ),
        "instead of a module's __getattr__": (
            lambda x: x * lazy.rate,
            (X,),
            lambda: setattr(lazy, "rate", 3.0),
        ),
        "in a slot": (slotted.scaled, (X,), lambda: setattr(slotted, "scale", 3.0)),
        "a method of an instance": (
            model.whole,
            (X,),
            lambda: setattr(model, "loss", lambda x: x * 7),
        ),
        "of the module": (defined_later, (X,), later("name_of_later", 3.0)),
        "a builtin": (with_builtin, (X,), later("len", lambda x: 5.0)),
        "globals": (by_name, (X,), later("factor_of_module", 3.0)),
        "an import": (with_module, (X,), lambda: setattr(user, "factor", 3.0)),
        "an import that failed": (
            with_late_module,
            (X,),
            lambda: monkeypatch.setitem(sys.modules, "late_module_of_a_user", user),
        ),
        "an import of a name": (from_module, (X,), lambda: setattr(user, "factor", 3.0)),
    }


def of_replaced_parts(monkeypatch: pytest.MonkeyPatch) -> dict[str, Case]:
    """Make functions, objects and classes of which a part is replaced in place."""
    model = Model()
    function: Any = types.FunctionType(with_defaults.__code__, globals(), "copied", (2.0,))
    function.__kwdefaults__ = {"shift": 1.0}
    fixed = functools.partial(with_defaults, factor=4.0)
    placed = functools.partial(np.multiply, 2.0)
    dispatching = functools.singledispatch(lambda model, x: x)
    factor = [2.0]

    class Made:
        def __new__(cls, x: Any) -> Any:
            return x * factor[0]

    class Dispatching:
        @functools.singledispatchmethod
        def of(self, model: Any) -> float:
            return 2.0

        scaled = functools.partialmethod(lambda self, options, x: x * options["rate"], {"rate": 2})

    dispatcher, setting = Dispatching(), types.SimpleNamespace(dtype=np.float64, library=np)
    elementwise = np.vectorize(lambda y: y * factor[0])
    for_objects = np.frompyfunc(lambda y: y * factor[0], 1, 1)
    lazy = types.ModuleType("lazy_module")
    lazy.__dict__["__getattr__"] = lambda name: factor[0] if name == "rate" else None

    def replace(name: str, value: Any) -> Change:
        return lambda: monkeypatch.setattr(Model, name, value)

    return {
        "code": (called(function), (X,), lambda: setattr(function, "__code__", doubled.__code__)),
        "its own code": (function, (X,), lambda: setattr(function, "__code__", doubled.__code__)),
        "defaults": (called(function), (X,), lambda: setattr(function, "__defaults__", (3.0,))),
        "defaults by name": (
            called(function),
            (X,),
            lambda: setattr(function, "__kwdefaults__", {"shift": 3.0}),
        ),
        "a default by name": (
            called(function),
            (X,),
            lambda: function.__kwdefaults__.update(shift=4.0),
        ),
        "keywords of a partial": (fixed, (X,), lambda: fixed.keywords.update(factor=5.0)),
        "another keyword": (called(fixed), (X,), lambda: fixed.keywords.update(shift=5.0)),
        "arguments of a partial": (
            called(placed),
            (X,),
            lambda: placed.__setstate__((np.multiply, (3.0,), {}, None)),  # type: ignore[attr-defined]  # as it is unpickled
        ),
        "a method": (model.whole, (X,), replace("loss", lambda self, x: x * 9)),
        "a special method": (lambda x: x * model[1], (X,), replace("__getitem__", lambda *_: 9.0)),
        "a property": (
            lambda x: x * model.factor,
            (X,),
            replace("factor", property(lambda _: 9.0)),
        ),
        "a class": (lambda x: model.loss(x), (X,), lambda: setattr(model, "__class__", Other)),  # noqa: PLW0108 - a bound method keeps its function
        "what makes an instance": (
            lambda x: Made(x),  # noqa: PLW0108 - a class is not compiled
            (X,),
            lambda: factor.__setitem__(0, 3.0),
        ),
        "arguments of a partial method": (
            lambda x: dispatcher.scaled(x),  # noqa: PLW0108 - which is looked up at each call
            (X,),
            lambda: vars(Dispatching)["scaled"].args[0].update(rate=3),
        ),
        "what a library's class stands for": (
            lambda x: (x * 1.1).astype(setting.dtype).astype(float),
            (X,),
            lambda: setattr(setting, "dtype", np.float32),
        ),
        "what a library stands for": (
            lambda x: setting.library.sin(x),  # noqa: PLW0108 - the same
            (X,),
            lambda: setattr(setting, "library", types.SimpleNamespace(sin=np.cos)),
        ),
        "what np.vectorize calls": (
            lambda x: x * float(elementwise(1.0)),
            (X,),
            lambda: factor.__setitem__(0, 3.0),
        ),
        "what np.frompyfunc calls": (
            lambda x: x * for_objects(1.0),
            (X,),
            lambda: factor.__setitem__(0, 3.0),
        ),
        "what a module makes up": (
            lambda x: x * lazy.rate,
            (X,),
            lambda: factor.__setitem__(0, 3.0),
        ),
        "single dispatch of methods": (
            lambda x: x * dispatcher.of(model),
            (X,),
            lambda: vars(Dispatching)["of"].register(Model, lambda self, model: 3.0),
        ),
        "single dispatch": (
            lambda x: dispatching(model, x),
            (X,),
            lambda: dispatching.register(Model, lambda model, x: x * 2),
        ),
    }


def doubled(x: Any, factor: float = 2.0, *, shift: float = 1.0) -> Any:
    return x * factor * 2 + shift


def looked_up(holder: Any, name: str) -> Any:
    return getattr(holder, name)


class Kind(enum.Enum):
    LIST = [2.0]  # noqa: RUF012 - which changes


class Place:
    __match_args__ = ("x",)


PLACE: Any = Place()
PLACE.x = 2.0


def at_place(factor: Any) -> Any:
    match PLACE:
        case Place(x):
            return factor * x


def of_containers() -> dict[str, Case]:
    """Make functions that read containers of Python's own library, and through them."""
    users, listed = collections.UserDict(rate=2.0), collections.UserList([2.0])
    chained, below = collections.ChainMap({}, {"rate": 2.0}), {"rate": 2.0}
    proxy, numbers, raw = types.MappingProxyType(below), array.array("d", [2.0]), bytearray(b"\x02")
    setting: contextvars.ContextVar[float] = contextvars.ContextVar("setting", default=2.0)
    model: Any = Model()
    model.scale = 2.0
    reference, objects = weakref.ref(model), np.array([2.0, model], dtype=object)
    name, get = ["scale"], operator.attrgetter("scale")
    inner, options, weights = {"model": model}, {"rate": 2.0}, np.array([2.0, 1.0])
    total = weights.sum
    by_model = weakref.WeakKeyDictionary({model: 2.0})
    some, other = weakref.WeakSet([model]), Model()
    records = np.rec.array([(2.0, 1)], dtype=[("rate", float), ("number", int)])
    text, getters = collections.UserString("2"), (options.get, options.__getitem__)
    setting_of_words = types.SimpleNamespace(**{"lambda": 2.0})
    views = options.values(), options.items(), options.keys(), users.values()

    def more() -> None:
        options.update(more=3.0)

    return {
        "WeakKeyDictionary": (
            lambda x: x * by_model[model],
            (X,),
            lambda: by_model.update({model: 3.0}),
        ),
        "WeakSet": (lambda x: x * len(some), (X,), lambda: some.add(other)),
        "UserString": (lambda x: x * float(str(text)), (X,), lambda: setattr(text, "data", "3")),
        "values of a dict": (lambda x: x * sum(views[0]), (X,), more),
        "items of a dict": (lambda x: x * len(dict(views[1])), (X,), more),
        "keys of a dict": (lambda x: x * len(views[2]), (X,), more),
        "values of a UserDict": (
            lambda x: x * sum(views[3]),
            (X,),
            lambda: users.update(rate=3.0),
        ),
        "a method of a dict": (
            lambda x: x * getters[0]("rate"),
            (X,),
            lambda: options.update(rate=3.0),
        ),
        "a slot of a dict": (
            lambda x: x * getters[1]("rate"),
            (X,),
            lambda: options.update(rate=3.0),
        ),
        "a method of an array": (
            lambda x: x * total(),
            (X,),
            lambda: weights.fill(3.0),
        ),
        "recarray": (
            lambda x: x * float(records.rate[0]),
            (X,),
            lambda: records.rate.fill(3.0),
        ),
        "UserDict": (lambda x: x * users["rate"], (X,), lambda: users.update(rate=3.0)),
        "UserList": (lambda x: x * listed[0], (X,), lambda: listed.__setitem__(0, 3.0)),
        "ChainMap": (lambda x: x * chained["rate"], (X,), lambda: chained.update(rate=3.0)),
        "MappingProxyType": (lambda x: x * proxy["rate"], (X,), lambda: below.update(rate=3.0)),
        "array.array": (lambda x: x * numbers[0], (X,), lambda: numbers.__setitem__(0, 3.0)),
        "bytearray": (lambda x: x * raw[0], (X,), lambda: raw.__setitem__(0, 3)),
        "ContextVar": (lambda x: x * setting.get(), (X,), lambda: setting.set(3.0)),
        "weakref": (lambda x: x * reference().scale, (X,), lambda: setattr(model, "scale", 3.0)),  # type: ignore[union-attr]  # it is alive
        "weakref, of its class": (
            lambda x: x * reference().rate,  # type: ignore[union-attr]  # it is alive
            (X,),
            lambda: setattr(model, "rate", 3.0),
        ),
        "array of objects": (lambda x: x * objects[0], (X,), lambda: objects.__setitem__(0, 3.0)),
        "in one": (lambda x: x * objects[1].scale, (X,), lambda: setattr(model, "scale", 3.0)),
        "attrgetter": (lambda x: x * get(model), (X,), lambda: setattr(model, "scale", 3.0)),
        "getmembers": (
            lambda x: x * dict(inspect.getmembers(inner["model"]))["scale"],
            (X,),
            lambda: setattr(model, "scale", 3.0),
        ),
        "getattr_static": (
            lambda x: x * inspect.getattr_static(inner["model"], name[0]),
            (X,),
            lambda: setattr(model, "scale", 3.0),
        ),
        "getattr in another function": (
            lambda x: x * looked_up(inner["model"], "scale"),
            (X,),
            lambda: setattr(model, "scale", 3.0),
        ),
        "getattr": (
            lambda x: x * getattr(inner["model"], name[0]),
            (X,),
            lambda: setattr(model, "scale", 3.0),
        ),
        "getattr, of a word that no name may be": (
            lambda x: x * getattr(setting_of_words, "lambda"),
            (X,),
            lambda: vars(setting_of_words).update({"lambda": 3.0}),
        ),
    }


def assert_seen(case: Case) -> None:
    """Check that a change makes another result, and that the compiled function gives it."""
    function, args, change = case
    fast = ta.compile(function, engine="numpy")
    for _ in range(4):
        before = fast(*args)
    assert [path.replays for paths in fast._paths.values() for path in paths.all] == [2]
    change()
    for _ in range(4):
        after = fast(*args)
        assert np.array_equal(after, function(*args))
    assert not np.array_equal(before, after)


@pytest.mark.parametrize("name", of_arguments())
def test_what_is_among_the_arguments(name: str) -> None:
    assert_seen(of_arguments()[name])


MISSING = of_missing_names(pytest.MonkeyPatch()).keys()
sys.modules.pop("module_of_a_user")


@pytest.mark.parametrize("name", MISSING)
def test_names_that_appear_later(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_seen(of_missing_names(monkeypatch)[name])


@pytest.mark.parametrize("name", of_replaced_parts(pytest.MonkeyPatch()))
def test_parts_that_are_replaced_in_place(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_seen(of_replaced_parts(monkeypatch)[name])


@pytest.mark.parametrize("name", of_containers())
def test_containers_of_python(name: str) -> None:
    assert_seen(of_containers()[name])


def of_libraries() -> dict[str, Case]:
    """Make functions that ask objects of libraries, which keep arrays."""
    masked: Any = np.ma.array([2.0, 3.0], mask=[False, True])
    hidden = np.ma.array([2.0, 3.0])
    spline, other = [CubicSpline([0.0, 1.0, 2.0], [1.0, 2.0, 5.0]) for _ in range(2)]
    optimizer, inherited = ta.optim.SGD(lr=0.1), type("Own", (ta.optim.SGD,), {})(lr=0.1)
    power, series = np.poly1d([1.0, 2.0]), np.polynomial.Polynomial([1.0, 2.0])
    return {
        "a masked array": (
            lambda x: x * float(masked.sum()),
            (X,),
            lambda: masked.__setitem__(0, 5.0),
        ),
        "a mask": (
            lambda x: x * float(masked.count()),
            (X,),
            lambda: masked.mask.__setitem__(1, False),
        ),
        "what is masked": (
            lambda x: x * hidden.filled(7.0),
            (X,),
            lambda: hidden.__setitem__(0, np.ma.masked),
        ),
        "a spline": (
            lambda x: x * float(spline(0.5)),
            (X,),
            lambda: spline.c.__setitem__((2, 0), 7.0),
        ),
        "a spline's coefficients": (
            lambda x: x * float(other(0.5)),
            (X,),
            lambda: setattr(other, "c", other.c * 2),
        ),
        "an optimizer": (
            lambda x: optimizer.update({"w": x}, {"w": x}, {})[0]["w"],
            (X,),
            lambda: setattr(optimizer, "lr", 0.5),
        ),
        "an optimizer of the user's": (
            lambda x: inherited.update({"w": x}, {"w": x}, {})[0]["w"],
            (X,),
            lambda: setattr(inherited, "weight_decay", 0.5),
        ),
        "poly1d": (lambda x: x * power(3.0), (X,), lambda: power.coeffs.__setitem__(0, 4.0)),
        "Polynomial": (lambda x: x * series(3.0), (X,), lambda: setattr(series, "coef", X)),
    }


@pytest.mark.parametrize("name", of_libraries())
def test_arrays_in_objects_of_libraries(name: str) -> None:
    assert_seen(of_libraries()[name])


def test_subclasses() -> None:
    class Kernel:
        factor = 2.0

    class Wide(Kernel):
        pass

    def function(x: Any) -> Any:
        return sum(x * each.factor for each in Kernel.__subclasses__())

    more: list[type] = []
    changes: list[Callable[[], Any]] = [
        lambda: setattr(Wide, "factor", 3.0),
        lambda: more.append(type("More", (Kernel,), {"factor": 7.0})),
    ]
    fast = ta.compile(function)
    for change in changes:
        for _ in range(3):
            assert np.array_equal(fast(X), function(X))
        change()
    assert np.array_equal(fast(X), function(X))


def test_arrays_that_are_referred_to_weakly() -> None:
    weights, others = np.array([1.0, 2.0]), np.array([3.0, 4.0])
    reference, named = weakref.ref(weights), weakref.WeakValueDictionary(others=others)

    def function(x: Any) -> Any:
        kept = reference()
        return x * (1.0 if kept is None else kept.sum()) * named["others"].sum()

    fast = ta.compile(function, engine="numpy")
    for step in range(6):
        weights[0] = others[1] = step // 2
        assert np.array_equal(fast(X), X * weights.sum() * others.sum())
    del weights
    assert reference() is None
    assert np.array_equal(fast(X), X * others.sum())


def test_a_weak_reference_stays_weak() -> None:
    model: Any = Model()
    reference = weakref.ref(model)
    fast = ta.compile(lambda x: x if reference() is None else x * 2)
    for _ in range(4):
        assert np.array_equal(fast(X), X * 2)
    del model
    assert np.array_equal(fast(X), X)


def norm_of(weights: Any) -> Callable[[Any], Any]:
    return lambda x: np.sum(x * weights / np.linalg.norm(weights))


@pytest.mark.parametrize("transform", [lambda f: f, ta.grad, ta.value_and_grad])
def test_an_array_that_the_program_and_plain_numpy_read(transform: Any) -> None:
    weights = np.array([1.0, 2.0])
    function = transform(norm_of(weights))
    fast = ta.compile(function, engine="numpy")
    for value in (1.0, 1.0, 1.0, 5.0, 5.0, 5.0, 1.0):
        weights[0] = value

        assert str(fast(X)) == str(function(X))


ALIKE: dict[str, Callable[[Any], Any]] = {
    "np.sign": np.sign,
    "a mask": lambda w: w > 0,
    "an order": lambda w: np.argsort(w) + 1,
    "an integer": lambda w: w.astype(int)[0],
    "an index": lambda w: int(w[0]),
    "whether": lambda w: bool(w[0] > 0),
    "a branch": lambda w: 2 if w[0] > 0 else 3,
    "a norm": np.linalg.norm,
}


@pytest.mark.parametrize("name", ALIKE)
def test_an_array_of_which_plain_numpy_computes_whole_numbers_and_masks(name: str) -> None:
    weights = np.array([1.0, 2.0])
    function = ta.jacobian(lambda x: x * ALIKE[name](weights) * weights)
    fast = ta.compile(function, engine="numpy")
    for first in (1.0, 1.0, 1.0, 4.0, -3.0, -3.0, 1.0):  # of the same sign, in another order
        weights[0] = first
        assert np.array_equal(fast(X), function(X))


def length_of(held: Any) -> Callable[[Any], Any]:
    """Make a function of an array that is within something else, at the last place of it."""
    return lambda x: x * np.linalg.norm(held[len(held) - 1])


HELD: dict[str, Callable[[Any], Callable[[Any], Any]]] = {
    "a tuple": lambda w: length_of((1, w)),
    "a deque": lambda w: length_of(collections.deque([w])),
    "a long list": lambda w: length_of([w] * 80),
    "an array of objects": lambda w: length_of(np.array([None, w], dtype=object)),
    "a default": lambda w: lambda x, held=w: x * np.linalg.norm(held),
    "a partial": lambda w: functools.partial(lambda held, x: x * np.linalg.norm(held), w),
}


@pytest.mark.parametrize("name", HELD)
def test_numbers_of_an_array_are_seen_wherever_it_is_held(name: str) -> None:
    weights = np.array([1.0, 2.0])
    function = HELD[name](weights)
    fast = ta.compile(function, engine="numpy")
    for value in (1.0, 1.0, 1.0, 4.0, 1.0):
        weights[0] = value
        assert np.array_equal(fast(X), function(X))


@pytest.mark.parametrize("further", [lambda x: x, lambda x: x * 2 if x[0] > 0 else x - 3])
def test_an_array_that_has_led_to_another_program_is_looked_at_for_ever(further: Any) -> None:
    weights = np.ones(2)
    function = ta.grad(
        lambda x: np.sum(further(x * weights if weights[0] > 2 else np.sin(x) - weights) * x)
    )
    fast = ta.compile(function, engine="numpy")
    for value in (1.0, 1.0, 1.0, 3.0, 3.0, 1.5, 4.0, 1.1, 5.0, 1.2, 6.0, 1.3, 7.0):
        weights[:] = value
        for x in (X, -X, X):
            assert np.array_equal(fast(x), function(x))


def reading_twice(weights: Any) -> dict[str, Callable[[Any], Any]]:
    """Make functions that multiply by an array, and go by its numbers somewhere else."""
    model = types.SimpleNamespace(weights=weights)
    held = {"weights": weights}
    others = types.SimpleNamespace(held=held)
    total, spline = weights.sum, CubicSpline(np.arange(3.0), np.ones(3))
    spline.c = weights.reshape(1, 2)

    def parts(tree: Any, x: Any) -> Any:
        return np.sum(tree["weights"] * x)

    def energy(x: Any) -> Any:
        return np.sum(x * weights)

    def renamed(x: Any) -> Any:
        w = weights
        return x * w if w[0] > 0 else x - w

    def in_a_loop(x: Any) -> Any:
        for each in (x, np.ones(2)):
            product = each * weights
        return x * weights if product[0] > 0 else x - weights

    def listed(x: Any) -> Any:
        products = [each * weights for each in (x, np.ones(2))]
        return x * weights if products[1][0] > 0 else x - weights

    def given(x: Any, w: Any) -> Any:
        return x * w if w[0] > 0 else x - w

    def asking(x: Any) -> Any:
        first, second = np.sum(x) < 2, np.sum(x) < 0  # which are the same for X
        return x * weights if (first if weights[0] > 0 else second) else x - weights

    def energy_of(w: Any, x: Any, plain: Any = X) -> Any:
        return np.sum(w * x) if plain[0] > 0 else np.sum(w * w * x)

    return {
        "a branch": lambda x: x * weights if weights[0] > 0 else x - weights,
        "np.sign": lambda x: x * weights * np.sign(weights[0]),
        "what is asked": asking,
        "an attribute": lambda x: x * model.weights if model.weights[0] > 0 else x,
        "a name in a text": lambda x: x * weights if model.__dict__["weights"][0] > 0 else x,
        "a function that is called with plain numbers too": (
            lambda x: x * energy(x) if energy(np.ones(2)) > 0 else energy(x)
        ),
        "another name": renamed,
        "a loop": in_a_loop,
        "a list comprehension": listed,
        "an argument": lambda x: given(x, weights),
        "a method of it": lambda x: x * weights if total() > 0 else x,
        "a library": lambda x: x * 2 if spline(1.0) > 0 else x * 3,
        "a leaf": lambda x: ta.grad(energy_of)(weights, x) * (2 if weights[0] > 0 else 3),
        "a leaf, and something else": lambda x: ta.grad(energy_of)(weights, x, weights),
        "a part of a container, and of its other name": (
            lambda x: ta.grad(parts)(held, x)["weights"] if others.held["weights"][0] > 0 else -x
        ),
    }


@pytest.mark.parametrize("name", reading_twice(X))
def test_an_array_that_is_gone_by_after_changes_without_effect(name: str) -> None:
    weights = np.ones(2)
    function = ta.jacobian(reading_twice(weights)[name])
    fast = ta.compile(function, engine="numpy")
    for value in (1.0, 1.0, 1.0, 2.0, 3.0, 4.0, -1.0, 5.0, -2.0, -3.0):
        weights[:] = value
        for x in (X, X + 1):
            assert np.array_equal(fast(x), function(x))


def test_an_array_that_is_gone_by_and_changes_at_each_call() -> None:
    weights = np.ones(2)
    fast = ta.compile(lambda x: x * weights if weights[0] > 0 else x, engine="numpy")
    for _ in range(17):
        weights += 1
        assert np.array_equal(fast(X), X * weights)
    weights += 1
    with pytest.warns(CompileWarning, match="the numbers in weights change again and again"):
        fast(X)
    weights[:] = -1
    assert np.array_equal(fast(X), X)


def test_an_array_that_is_gone_by_and_changes_seldom() -> None:
    weights = np.ones(2)
    fast = ta.compile(lambda x: x * weights if weights[0] > 0 else x, engine="numpy")
    for step in range(100):
        weights += step % 10 == 0
        assert np.array_equal(fast(X), X * weights)
    assert len(fast.programs) == 1


def test_an_array_that_only_the_program_reads_is_followed() -> None:
    weights, runs = np.ones(2), []

    def function(x: Any) -> Any:
        runs.append(1)
        return np.sum(0.3 * x * weights)

    fast = ta.compile(ta.grad(function), engine="numpy")
    for step in range(20):
        weights -= 0.1
        assert np.array_equal(fast(X), 0.3 * weights), step
    assert len(runs) == 5  # two captures, two of the changed array, and one at numbers near by
    assert len(fast.programs) == 1


def training() -> dict[str, Callable[[Any], Callable[[Any], Any]]]:
    """Make steps that differentiate with respect to an array that they find in a model."""

    def step_of_record(model: Any) -> Callable[[Any], Any]:
        def step(x: Any) -> Any:
            w = ta.ComputationRecord().tensor(model.w)
            return np.sum(np.tanh(w * x)).grad().wrt(w)

        return step

    def step_beside(model: Any) -> Callable[[Any], Any]:
        w = model.w
        return lambda x: ta.grad(lambda y: np.sum(np.tanh(y * w)))(x) + x * w

    def loss(w: Any, x: Any) -> Any:
        return np.sum(np.tanh(w * x))

    def loss_of_tree(p: Any, x: Any) -> Any:
        return loss(p["w"], x)

    return {
        "an attribute": lambda model: lambda x: ta.grad(loss)(model.w, x),
        "a dict": lambda model: lambda x: ta.value_and_grad(loss_of_tree)(model.p, x)[1]["w"],
        "a dict that is written out": lambda model: (
            lambda x: next(iter(ta.grad(loss_of_tree)({"w": model.w}, x).values()))
        ),
        "a record": step_of_record,
        "beside its shape": lambda model: lambda x: x.reshape(model.w.shape) * model.w,
        "a closure in a closure": step_beside,
    }


@pytest.mark.parametrize("name", training())
def test_weights_that_are_trained_in_place_are_followed(name: str) -> None:
    weights = np.ones(2)
    step = training()[name](types.SimpleNamespace(w=weights, p={"w": weights}))
    fast = ta.compile(step, engine="numpy")
    for _ in range(20):
        slopes = fast(X)
        assert np.array_equal(slopes, step(X))
        weights -= 0.1 * slopes
    assert len(fast.programs) == 1


def test_weights_that_are_trained_in_place_are_followed_in_a_profile() -> None:
    weights = np.ones(2)
    fast = ta.compile(lambda x: np.sin(x * weights), engine="numpy")
    trace = sys.gettrace()
    sys.settrace(None)  # of a measurement of what the tests cover, which would count as a debugger
    try:
        with cProfile.Profile():
            before = sys.getprofile()
            for _ in range(20):
                assert np.array_equal(fast(X), np.sin(X * weights))
                weights -= 0.1
            assert sys.getprofile() is before
        assert sys.gettrace() is None
    finally:
        sys.settrace(trace)


def counting_up() -> dict[str, Callable[[], Callable[[Any], Any]]]:
    """Make functions that count their calls, and go by that."""

    class Counter:
        def __init__(self) -> None:
            self.step = 0

        def __call__(self, x: Any) -> Any:
            self.step += 1
            return x * 2 if self.step < 4 else x * 3

    def within(steps: Any) -> Callable[[Any], Any]:
        def function(x: Any) -> Any:
            steps[0] += 1
            return x * 2 if steps[0] < 4 else x * 3

        return function

    def in_a_cell() -> Callable[[Any], Any]:
        step = 0

        def function(x: Any) -> Any:
            nonlocal step
            step += 1
            return x * 2 if step < 4 else x * 3

        return function

    def by_growing() -> Callable[[Any], Any]:
        seen: list[int] = []

        def function(x: Any) -> Any:
            seen.append(1)
            return x * 2 if len(seen) < 4 else x * 3

        return function

    def by_an_iterator() -> Callable[[Any], Any]:
        steps = iter(range(100))
        return lambda x: x * 2 if next(steps) < 3 else x * 3

    return {
        "an attribute": Counter,
        "a list": lambda: within([0]),
        "an array": lambda: within(np.zeros(1)),
        "a cell": in_a_cell,
        "growing": by_growing,
        "an iterator": by_an_iterator,
    }


@pytest.mark.parametrize("name", counting_up())
def test_a_function_that_goes_by_its_own_count_is_not_replayed(name: str) -> None:
    make = counting_up()[name]
    function, fast = make(), ta.compile(make())
    assert np.array_equal(fast(X), function(X))
    with pytest.warns(CompileWarning, match="and goes by it, which no replay does"):
        assert np.array_equal(fast(X), function(X))
    for _ in range(4):
        assert np.array_equal(fast(X), function(X))


def test_a_count_that_is_only_written_down_is_no_state() -> None:
    class Counter:
        def __init__(self) -> None:
            self.calls = 0
            self.log: list[int] = []

        def __call__(self, x: Any) -> Any:
            self.calls += 1
            self.log.append(self.calls)
            return x * 2

    counter = Counter()
    fast = ta.compile(counter)
    for _ in range(5):
        assert np.array_equal(fast(X), X * 2)
    assert counter.log == [1, 2]


def test_too_many_variables_are_a_warning() -> None:
    many = [types.SimpleNamespace(k=float(i)) for i in range(1500)]

    def large(x: Any) -> Any:
        return x * sum(each.k for each in many)

    fast = ta.compile(large)
    with pytest.warns(CompileWarning, match="large reads more variables than are watched"):
        fast(X)
    for _ in range(3):  # without another
        fast(X)


def test_a_constant_of_records_is_no_seed() -> None:
    kept = np.array([(1.0, 2)], dtype=[("a", float), ("b", int)])
    fast = ta.compile(lambda x: (x * 2, kept), engine="numpy")
    for _ in range(4):
        assert np.array_equal(fast(X)[0], 2 * X)
