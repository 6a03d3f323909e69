"""Functions, modules and classes of other people's code, copied so that they take handles."""

import asyncio
import collections
import functools
import gc
import inspect
import math
import pickle
import sys
import threading
import types
import typing
import weakref
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
import scipy.integrate
import scipy.interpolate
import scipy.linalg

import tape_ad as ta
from tape_ad.scipy import stand_ins
from tape_ad.transforms.differentiable import copying
from tape_ad.transforms.differentiable.reach import DEPTH
from tests.transforms.differentiable import foreign_code as foreign
from tests.transforms.differentiable import foreign_kinds as kinds

X = np.array([1.0, 2.0, 3.0])


def slopes(function: Any, x: Any = X) -> Any:
    return ta.grad(lambda x: np.sum(function(x)))(x)


def test_a_function_and_its_defaults_keep_gradients() -> None:
    f = ta.differentiable(foreign.scaled)

    np.testing.assert_allclose(slopes(f), 2 * np.exp(X))
    np.testing.assert_allclose(slopes(lambda x: f(x, kernel=np.sin)), 2 * np.cos(X))


def test_signatures_of_copies_are_those_of_the_originals() -> None:
    copy = copying.copied_function(foreign.scaled)

    assert inspect.signature(copy) == inspect.signature(foreign.scaled)
    assert typing.get_type_hints(copy) == typing.get_type_hints(foreign.scaled)
    assert inspect.getsource(copy) == inspect.getsource(foreign.scaled)


def test_globals_that_are_bound_anew_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    f = ta.differentiable(foreign.scaled)
    slopes(f)
    monkeypatch.setattr(foreign, "LIMIT", 5.0)

    np.testing.assert_allclose(slopes(f), 5 * np.exp(X))


def test_a_function_of_the_module_that_is_bound_anew_is_seen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    f = ta.differentiable(foreign.counted)
    slopes(f)
    monkeypatch.setattr(foreign, "scaled", lambda x: np.asarray(x) * 7)

    np.testing.assert_allclose(slopes(f), [7, 7, 7])


def test_what_is_written_to_globals_reaches_the_module(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(foreign, "calls", 0)
    monkeypatch.setattr(foreign, "COUNTS", {})

    slopes(ta.differentiable(foreign.counted))

    assert foreign.calls == 1
    assert foreign.COUNTS == {"scaled": 1}


@pytest.mark.parametrize(
    ("function", "derivative"),
    [
        (lambda x: foreign.by_name("doubled", x), [2, 2, 2]),
        (foreign.make_adder(np.ones(3)), [1, 1, 1]),
        (foreign.decorated, 4 * X),
        (lambda x: foreign.cached(x[1]), [0, np.cos(2.0), 0]),
        (foreign.importing, [-np.sin(1.0), 0, 0]),
        (lambda x: sum(foreign.generated(x)), np.exp(X)),
        (lambda x: foreign.factorial(3, x[1]), [0, 12, 0]),
        (foreign.branching, [2, 4, 0]),
        (foreign.elements_are_numbers, [8, 8, 8]),
        (foreign.undoing, [1, 3, 3]),
        (lambda x: foreign.Point(x[0], x[1]).norm(), [1 / 5**0.5, 2 / 5**0.5, 0]),
        (lambda x: foreign.Slotted(x[1]).root(), [0, 0.5 / 2**0.5, 0]),
        (lambda x: foreign.Square(x[2]).doubled(), [0, 0, 12]),
        (lambda x: foreign.Derived(x[0], 1.0).forward(np.ones(2)), [2, 0, 0]),
        (lambda x: foreign.Derived.make(x[0]).total, [0.5, 0, 0]),
        (foreign.Derived.squared, 2 * X),
    ],
)
def test_what_a_users_function_calls_is_copied(function: Any, derivative: Any) -> None:
    np.testing.assert_allclose(slopes(ta.differentiable(function)), derivative, atol=1e-12)


def through_slots(x: Any) -> Any:
    slotted = kinds.Slotted(x[0])
    return slotted.total() + slotted.doubled().total() + (slotted < kinds.Slotted(x[1])) * x[2]


def through_a_setter(x: Any) -> Any:
    temperature = kinds.Temperature(x[0])
    temperature.celsius = temperature.celsius * x[1]
    return temperature.celsius


OF_ALL_KINDS: dict[str, Any] = {
    "attrs": lambda x: kinds.Fitted(x[0], scale=x[1], rate=x[2]).total(),
    "dataclass with slots": through_slots,
    "slots and a property": through_a_setter,
    "descriptor": lambda x: kinds.Described(x[0]).grown(),
    "metaclass": lambda x: kinds.Wave(x[0]).value() + kinds.Louder(x[1]).value(),
    "singledispatchmethod": lambda x: (
        kinds.Dispatching().applied(x[0]) + kinds.Dispatching().applied([x[1], x[2]])
    ),
    "generic": lambda x: kinds.Box[int]().opened(x[0]) + kinds.Box().opened(x[1]),
    "named tuple": lambda x: kinds.Pair(x[0], x[1])._replace(first=x[2]).product(),
    "decorator that is a class": lambda x: kinds.twice_as_large(x[0]) + kinds.Large().size(x[1]),
    "generator that is told": kinds.telling,
    "yield from": lambda x: sum(kinds.handed_on(x)),
    "coroutines": lambda x: asyncio.run(kinds.together(x)),
    "context manager": kinds.in_context,
    "lru_cache": kinds.through_window,
}


@pytest.mark.parametrize("name", OF_ALL_KINDS)
def test_code_of_every_kind_keeps_gradients(name: str) -> None:
    function, h = OF_ALL_KINDS[name], 1e-6
    registered = dict(kinds.Registering.registry)
    differences = [(function(X + d) - function(X - d)) / (2 * h) for d in h * np.eye(3)]

    value, found = ta.value_and_grad(ta.differentiable(function))(X)
    np.testing.assert_allclose(value, function(X), rtol=1e-13)
    np.testing.assert_allclose(found, differences, rtol=1e-6, atol=1e-7)
    assert kinds.Registering.registry == registered


def test_a_validator_of_attrs_looks_at_the_number() -> None:
    with pytest.raises(ValueError, match="'rate' must be > 0"):
        ta.grad(ta.differentiable(lambda x: kinds.Fitted(1.0, rate=-x).total()))(0.5)


def test_a_jitted_function_is_that_of_python() -> None:
    np.testing.assert_allclose(ta.grad(ta.differentiable(kinds.jitted))(0.5), 2 * np.exp(0.5))
    np.testing.assert_allclose(
        ta.grad(ta.differentiable(lambda x: kinds.jitted(x) ** 2))(0.5), 8 * np.exp(1.0)
    )


def test_copies_are_not_kept_without_the_original() -> None:
    def made(factor: float) -> Any:
        return lambda x: math.exp(x) * factor

    function = made(2.0)
    copy = copying.copied_function(function)
    assert copying.copied_function(function) is copy
    gone = [weakref.ref(function), weakref.ref(copy)]
    del function, copy
    gc.collect()
    assert [each() for each in gone] == [None, None]


def test_a_debugger_is_shown_the_original_lines() -> None:
    lines: list[tuple[str, int]] = []

    def trace(frame: Any, event: str, _: Any) -> Any:
        if frame.f_code.co_filename == foreign.__file__ and event == "line":
            lines.append((frame.f_code.co_name, frame.f_lineno))
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        slopes(ta.differentiable(foreign.scaled))
    finally:
        sys.settrace(before)

    first = foreign.scaled.__code__.co_firstlineno
    assert lines == [("scaled", first + 1)]


def test_a_class_is_copied_and_derives_from_its_original() -> None:
    made = list(foreign.Base.made)
    kind = ta.differentiable(foreign.Derived)

    assert issubclass(kind, foreign.Derived)
    assert foreign.Base.made == made
    assert foreign.Derived(2.0, 0.0).forward([1.0]) == kind(2.0, 0.0).forward([1.0])
    np.testing.assert_allclose(slopes(lambda x: kind(x[0], x[1]).forward(X)), [6, 3, 0])


def test_subclasses_of_users_are_told_as_usual() -> None:
    kind = ta.differentiable(foreign.Derived)
    before = len(foreign.Base.made)

    class Own(kind):  # type: ignore[misc, valid-type]  # a copy is made at run time
        pass

    assert len(foreign.Base.made) == before + 1
    assert Own(2.0, 1.0).forward(1.0) == 3.0


def test_bound_methods_partials_and_modules() -> None:
    layer = foreign.Derived(2.0, 0.0)
    module = ta.differentiable(foreign)

    np.testing.assert_allclose(slopes(ta.differentiable(layer.forward)), [2, 2, 2])
    doubled = functools.partial(foreign.by_name, "doubled")
    np.testing.assert_allclose(slopes(ta.differentiable(doubled)), [2, 2, 2])
    np.testing.assert_allclose(slopes(module.scaled), 2 * np.exp(X))
    assert module.LIMIT == 2.0


def test_a_handle_is_what_it_stands_for() -> None:
    kinds = ta.differentiable(foreign.kinds)
    x = ta.ComputationRecord().tensor(X)

    assert kinds(x) == foreign.kinds(X)
    assert kinds(x[0]) == foreign.kinds(X[0])


def test_the_original_runs_on_plain_arrays() -> None:
    def told(x: Any) -> Any:
        return type(told.__globals__).__name__, isinstance(x, np.ndarray)

    assert ta.differentiable(told)(X) == ("dict", True)


def test_the_cache_of_lru_cache_holds_no_handles() -> None:
    foreign.cached.cache_clear()
    f = ta.differentiable(lambda x: foreign.cached(x[0]))

    slopes(f)

    assert foreign.cached.cache_info().currsize == 0


def test_functions_are_pickled_by_the_name_of_the_original() -> None:
    f = ta.differentiable(foreign.scaled)

    np.testing.assert_allclose(slopes(pickle.loads(pickle.dumps(f))), 2 * np.exp(X))


def test_threads_get_one_copy() -> None:
    found: list[Any] = []

    def look() -> None:
        found.append(ta.differentiable(foreign.Square))

    threads = [threading.Thread(target=look) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(set(map(id, found))) == 1


def test_transforms_compose() -> None:
    f = ta.differentiable(lambda x: np.sum(foreign.undoing(x) * foreign.scaled(x)))
    values = ta.grad(f)(X)

    np.testing.assert_allclose(ta.grad(ta.checkpoint(f))(X), values)
    np.testing.assert_allclose(ta.compile(ta.grad(f))(X), values)
    np.testing.assert_allclose(
        ta.jacobian(ta.differentiable(foreign.scaled))(X), np.diag(2 * np.exp(X))
    )
    np.testing.assert_allclose(
        ta.hessian(ta.differentiable(lambda x: np.sum(foreign.scaled(x))))(X),
        np.diag(2 * np.exp(X)),
    )
    rows = np.stack([X, X + 1])
    np.testing.assert_allclose(
        ta.batched(ta.grad(ta.differentiable(lambda x: np.sum(foreign.scaled(x)))))(rows),
        2 * np.exp(rows),
    )


def test_what_cannot_be_copied_is_said() -> None:
    with pytest.raises(TypeError, match="takes a function, a bound method"):
        ta.differentiable(3)
    with pytest.raises(TypeError, match="nothing to copy"):
        ta.differentiable(int)


def test_explain_lists_what_is_copied() -> None:
    told = ta.differentiable.explain(foreign.counted)

    assert told.copied == (
        "tests.transforms.differentiable.foreign_code.counted",
        "tests.transforms.differentiable.foreign_code.scaled",
    )
    assert "np.asarray" in told.rules
    assert told.stops == ()
    assert "copied (2):\n  tests.transforms.differentiable.foreign_code: counted, scaled" in repr(
        told
    )


def test_explain_tells_what_is_left_and_where_it_would_stop() -> None:
    table = types.SimpleNamespace(lookup=np.frompyfunc(math.sin, 1, 1))

    def pictured(x: Any) -> Any:
        return plotted(lookup(np.exp(x)))

    plotted, lookup = pytest.importorskip("matplotlib.pyplot").plot, table.lookup
    told = ta.differentiable.explain(pictured)

    assert told.left == ("matplotlib.pyplot.plot",)
    assert told.stops == ("sin (vectorized)",)


def test_a_view_of_a_module_equals_the_module_and_others_like_it() -> None:
    view, other = copying.view_of(foreign), copying.view_of(foreign)
    assert view == foreign
    assert view == other
    assert {foreign: 1}[view] == 1
    assert view != math


def test_objects_that_are_equal_have_copies_of_their_own() -> None:
    np.testing.assert_array_equal(slopes(ta.differentiable(foreign.by_equal_objects)), [2, 3, 0])


def test_what_is_appended_to_a_list_of_functions_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(foreign, "STEPS", [math.exp])
    ta.differentiable(foreign.add_step)(math.sin)
    assert [math.exp, math.sin] == foreign.STEPS
    np.testing.assert_allclose(slopes(ta.differentiable(foreign.all_steps)), np.exp(X) + np.cos(X))


def test_a_list_of_a_class_is_that_of_now(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(foreign.Hooks, "called", [math.exp])
    hooks = ta.differentiable(foreign.Hooks)()
    np.testing.assert_allclose(slopes(hooks.run), np.exp(X))
    foreign.Hooks.called.append(math.sin)
    np.testing.assert_allclose(slopes(hooks.run), np.exp(X) + np.cos(X))


def test_keys_and_objects_in_containers_are_those_of_the_copies() -> None:
    np.testing.assert_array_equal(slopes(ta.differentiable(foreign.by_marks)), [6, 6, 6])
    assert [*foreign.WEIGHTS] == [foreign.Mark, foreign.add_step]


MODEL_SLOPES = 5 * (2 * X + 2 * np.exp(X)) + np.sqrt(2) * 2 * X


def model_of(kind: Any) -> Any:
    point = foreign.Point(1.0, 1.0)
    return kind(foreign.Model(foreign.Model(point)), foreign.Model(None), foreign.Model(None))


def test_objects_within_an_object_run_as_copies() -> None:
    np.testing.assert_allclose(slopes(ta.differentiable(model_of(foreign.Model).run)), MODEL_SLOPES)
    made = model_of(ta.differentiable(foreign.Model))
    np.testing.assert_allclose(slopes(made.run), MODEL_SLOPES)


def test_code_that_is_not_copied_finds_instances_of_a_copied_class() -> None:
    point = ta.differentiable(foreign.Point)
    assert isinstance(foreign.Point(1.0, 2.0), point)
    assert isinstance(point(1.0, 2.0), (point, foreign.Point))
    assert not isinstance(foreign.Mark(1), point)


def test_a_list_of_objects_is_changed_as_the_code_says() -> None:
    model = foreign.Model(None, foreign.Model(None))
    own, first = model.parts, model.parts[0]
    np.testing.assert_array_equal(slopes(ta.differentiable(model.take)), [2, 2, 2])
    assert model.parts is own
    assert [type(each).__name__ for each in own] == ["Model", "Model"]
    assert first not in own
    np.testing.assert_array_equal(model.run(X), 3 * foreign.Model(None).run(X))


def test_a_table_of_functions_is_changed_as_the_code_says(monkeypatch: pytest.MonkeyPatch) -> None:
    table: Any = {"one": foreign.scaled, "other": foreign.counted, 3: 1.0}
    monkeypatch.setattr(foreign, "KERNELS", table)

    def change(x: Any) -> Any:
        kernels: Any = foreign.KERNELS
        kernels.update(third=math.exp)
        return x * kernels.pop(3) * len(kernels)

    np.testing.assert_array_equal(slopes(ta.differentiable(change)), [3, 3, 3])
    assert table == {"one": foreign.scaled, "other": foreign.counted, "third": math.exp}


def test_objects_are_not_kept_by_their_copies() -> None:
    model = foreign.Model(None)
    model.parts.append(model)
    f = ta.differentiable(lambda model, x: np.sum(x) + len(model.parts))
    ta.grad(functools.partial(f, model))(X)
    gone = weakref.ref(model)
    del model
    gc.collect()
    assert gone() is None


def test_an_array_asked_for_by_name_is_the_handle() -> None:
    np.testing.assert_array_equal(slopes(ta.differentiable(foreign.by_its_name)), [2, 1, 1])


def test_classes_with_slots_tell_nobody_of_their_copies() -> None:
    before = list(foreign.Registered.names)

    np.testing.assert_allclose(
        ta.grad(lambda x: ta.differentiable(foreign.Squared)(x).result())(3.0), 6
    )
    assert foreign.Registered.names == before


def test_properties_of_a_metaclass_and_of_a_class_under_one_name() -> None:
    cube = ta.differentiable(foreign.Cube)

    np.testing.assert_allclose(ta.grad(cube().volume)(2.0), 12)
    assert (cube.title, cube().title) == ("cube", "a cube")


def test_a_copied_class_is_its_original_as_a_key_and_when_it_is_pickled() -> None:
    mark = ta.differentiable(foreign.Mark)

    assert mark == foreign.Mark
    assert {foreign.Mark: 1}[mark] == 1
    assert pickle.loads(pickle.dumps(mark)) is mark
    f = ta.differentiable(lambda x: foreign.by_type(foreign.MARK, x))
    np.testing.assert_allclose(ta.grad(f)(2.0), 1)


def test_attributes_of_a_function_are_seen_in_its_own_code() -> None:
    np.testing.assert_allclose(ta.grad(ta.differentiable(foreign.with_an_own_version))(2.0), 3)


def test_a_refusal_that_the_code_has_turned_into_another_error_is_told() -> None:
    with pytest.raises(TypeError, match="unhashable"):
        ta.grad(ta.differentiable(lambda x: hash(x[0])))(X)

    def hiding(x: Any) -> Any:
        try:
            return round(x[0], 2)
        except ta.errors.NoRuleError:
            raise ValueError("did not converge")  # noqa: B904 - as it is often written

    with pytest.raises(ta.errors.NoRuleError, match="constant between its steps"):
        ta.grad(ta.differentiable(hiding))(X)


def test_handles_are_not_assigned_to_arrays_that_the_caller_has() -> None:
    given = np.ones(3)
    f = ta.differentiable(lambda x: np.sum(foreign.halved_in_place(given)) * x[0])
    g = ta.differentiable(lambda x, a: np.sum(filled(a, x)))

    def filled(a: Any, x: Any) -> Any:
        a[0] = x[1]
        return a

    assert np.isfinite(slopes(f)).all()
    assert given[0] == 0.5  # as NumPy's own would be
    with pytest.raises(ta.errors.InPlaceError, match="array of plain numbers"):
        ta.grad(g)(X, given)


def test_code_in_c_gets_arrays_from_copied_objects() -> None:
    f = ta.differentiable(lambda x: np.sin(foreign.Holding(np.ones(2))).sum() * x[0])
    holding = ta.differentiable(foreign.Holding)

    assert np.isfinite(slopes(f)).all()
    np.testing.assert_allclose(slopes(lambda x: holding(x).total()), [1, 1, 1])
    with pytest.raises(ta.errors.ConversionError):
        ta.grad(lambda x: np.sum(np.sin(holding(x))))(X)


def test_a_handle_that_is_hidden_deeper_is_said_to_be() -> None:
    @ta.differentiable
    def dug_out(deep: Any) -> Any:
        while isinstance(deep, dict):
            deep = deep["inside"]
        return np.sum(np.asarray(deep) ** 2)

    def buried(x: Any, depth: int) -> Any:
        return x if not depth else {"inside": buried(x, depth - 1)}

    np.testing.assert_array_equal(slopes(lambda x: dug_out(buried(x, 2))), 2 * X)
    assert dug_out(buried(X, DEPTH + 1)) == 14.0
    with pytest.raises(ta.errors.ConversionError) as caught:
        slopes(lambda x: dug_out(buried(x, DEPTH + 1)))
    assert f"no handle within {DEPTH} steps" in caught.value.__notes__[0]


def test_a_rule_that_refuses_is_not_followed_by_a_copy() -> None:
    @ta.differentiable
    def decayed(x: Any) -> Any:
        return scipy.integrate.odeint(lambda y, t: -x[0] * y, 1.0, [0.0, 1.0])[-1, 0]

    with pytest.raises(ta.errors.UnsupportedArgumentError, match="closes over a handle"):
        slopes(decayed)


def test_a_module_with_numpys_names_is_not_taken_for_numpy() -> None:
    other: Any = types.ModuleType("like_numpy")
    exec("import numpy\ndef sin(x): return numpy.asarray(x) ** 2\n", vars(other))  # noqa: S102 - as a package is
    f = ta.differentiable(lambda x: other.sin(x) + np.sin(x))

    np.testing.assert_allclose(slopes(f), 2 * X + np.cos(X))


def test_a_relative_import_within_a_function() -> None:
    np.testing.assert_allclose(slopes(ta.differentiable(kinds.imported_beside)), 2 * np.exp(X))


def test_classes_that_are_compiled_stay_as_they_are() -> None:
    corners, values = np.array([[0.0, 0], [1, 0], [0, 1], [1, 1]]), np.arange(4.0)
    f = copying.copied_function(scipy.interpolate.griddata)

    np.testing.assert_allclose(f(corners, values, [[0.2, 0.3]]), [0.8])


@pytest.mark.parametrize(
    "giving",
    [
        lambda x: (each for each in x),
        lambda x: iter([*x]),
        lambda x: map(abs, x),
        collections.deque,
        lambda x: dict(enumerate(x)).values(),
        lambda x: types.MappingProxyType(dict(enumerate(x))).values(),
        lambda x: collections.OrderedDict(enumerate(x)).values(),
    ],
)
def test_a_handle_is_found_in_what_gives_one_after_the_other(giving: Any) -> None:
    @ta.differentiable
    def total(values: Any) -> Any:
        return sum(v * 100 if isinstance(v, float) else v for v in values)

    np.testing.assert_array_equal(slopes(lambda x: total(giving(x))), np.full(X.shape, 100.0))


def test_threads_enter_the_modules_of_scipy_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stand_ins, "KNOWN", {})
    monkeypatch.setattr(stand_ins, "PENDING", stand_ins.MODULES)
    original = scipy.linalg.solve
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as pool:
            found = [*pool.map(stand_ins.counterpart, [original] * 64)]
    finally:
        sys.setswitchinterval(interval)
    assert {*map(id, found)} == {id(ta.scipy.linalg.solve)}
