"""Variables that a compiled function reads: bound anew, they are seen."""

import functools
import random
import types
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad.errors import CaptureError, CompileWarning
from tape_ad.programs.capture.code_names import names_used
from tape_ad.programs.capture.free_variables import FreeVariables

X = np.array([0.5, -1.5, 2.0])

scale = np.ones(3)
rate = 0.5
settings: dict[str, Any] = {"powers": [2, 3], "scale": np.ones(3)}
steps = 0


class Model:
    """A model of the old kind, that keeps its parameters to itself."""

    def __init__(self) -> None:
        self.weight = np.ones(3)
        self.calls = 0

    def net(self, x: Any) -> Any:
        return self.weight * x

    def loss(self, x: Any) -> Any:
        return np.sum(self.net(x) ** 2)

    @ta.compile
    def fast(self, x: Any) -> Any:
        return np.sum(self.net(x) ** 2)

    def __call__(self, x: Any) -> Any:
        return self.loss(x) * 2


model = Model()


def of_module(x: Any) -> Any:
    return np.sum(np.sin(x) * scale) * rate


def of_helper(x: Any) -> Any:
    return of_module(x * x)


def of_entries(x: Any) -> Any:
    return np.sum(x ** settings["powers"][1] * settings["scale"])


def of_instance(x: Any) -> Any:
    return model(x) + model.loss(x)


def binding(name: str, value: Any) -> Callable[[], None]:
    """Make a function that binds a variable of this module."""
    return functools.partial(globals().__setitem__, name, value)


CHANGES: dict[str, tuple[Callable[..., Any], Callable[[], Any]]] = {
    "an array of the module": (of_module, binding("scale", np.full(3, 2.0))),
    "a number of the module": (of_module, binding("rate", 0.75)),
    "what another function reads": (of_helper, binding("rate", 1.25)),
    "an entry of a list": (of_entries, lambda: settings["powers"].__setitem__(1, 5)),
    "an entry of a dict": (of_entries, lambda: settings.__setitem__("scale", 3 * X)),
    "an attribute": (of_instance, lambda: setattr(model, "weight", 2 * X)),
    "an attribute, in a method": (model.loss, lambda: setattr(model, "weight", 3 * X)),
    "an attribute, in an instance that is called": (
        model,
        lambda: setattr(model, "weight", 4 * X),
    ),
    "a function": (of_helper, binding("of_module", np.sum)),
}


@pytest.mark.parametrize("name", CHANGES)
@pytest.mark.parametrize("transform", [ta.grad, functools.partial, ta.value_and_grad])
def test_what_is_bound_anew_is_seen(name: str, transform: Any) -> None:
    function, change = CHANGES[name]
    fast = ta.compile(transform(function), engine="numpy")
    before = [np.copy(part) for part in parts(fast(X))]
    fast(X), fast(X)
    assert [path.replays for paths in fast._paths.values() for path in paths.all] == [1]
    module, weight = dict(globals()), model.weight
    entries, powers = dict(settings), list(settings["powers"])
    change()
    try:
        for _ in range(4):
            assert all(map(np.array_equal, parts(fast(X)), parts(transform(function)(X))))
    finally:
        globals().update(module)
        model.weight = weight
        settings.update(entries)
        settings["powers"][:] = powers
    for _ in range(2):
        assert all(map(np.array_equal, parts(fast(X)), before))
    assert len(fast.programs) == 2


def parts(result: Any) -> tuple[Any, ...]:
    """Give the arrays of a result."""
    return result if isinstance(result, tuple) else (result,)


def test_a_compiled_method_sees_the_attributes_of_its_instance() -> None:
    one = Model()
    for weight in (1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 1.0):
        one.weight = one.weight if one.weight[0] == weight else np.full(3, weight)
        assert one.fast(X) == one.loss(X)


def test_cells_of_a_closure_are_seen() -> None:
    factor = np.ones(3)

    def function(x: Any) -> Any:
        return factor * x

    fast = ta.compile(function)
    for value in (1.0, 1.0, 1.0, 5.0, 5.0, 5.0, 7.0):
        factor = np.full(3, value)
        assert np.array_equal(fast(X), value * X)


def test_what_a_function_changes_itself_does_not_count() -> None:
    log: list[int] = []

    def function(x: Any) -> Any:
        global steps  # noqa: PLW0603 - a counter is what this is about
        steps += 1
        log.append(steps)
        return x * 2

    fast = ta.compile(function)
    for _ in range(6):
        fast(X)
    assert len(log) == 2


def test_an_equal_number_is_the_same_number() -> None:
    factor = 1000.0

    def function(x: Any) -> Any:
        return x * factor

    fast = ta.compile(function)
    for _ in range(5):
        factor = float(str(factor))
        assert np.array_equal(fast(X), 1000 * X)
    assert len(fast.programs) == 1


def test_a_variable_that_changes_at_each_call_is_named_in_the_end() -> None:
    factor = 0.0

    def function(x: Any) -> Any:
        return x * factor

    fast = ta.compile(function, max_programs=3)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for i in range(8):
            factor = float(i)
            assert np.array_equal(fast(X), i * X)
    assert len(caught) == 1
    assert "the variable factor is bound to something else" in str(caught[0].message)


def test_libraries_are_not_looked_into() -> None:
    titles = {variable.title for variable in FreeVariables.of(of_instance).variables}
    assert {title.partition(".")[0] for title in titles} == {
        *("", "model", "Model", "of_instance", "__call__", "loss", "net")
    }


def test_functions_that_call_themselves_and_each_other() -> None:
    scale = 2.0

    def even(x: Any, n: int) -> Any:
        return x * scale if n == 0 else odd(x, n - 1)

    def odd(x: Any, n: int) -> Any:
        return even(-x, n - 1) if n else odd(x, 1)

    fast = ta.compile(lambda x: even(x, 4))
    for _ in range(4):
        assert np.array_equal(fast(X), X * 2)
    scale = 3.0
    assert np.array_equal(fast(X), X * 3)


@pytest.mark.parametrize(
    "generator",
    [
        np.random.default_rng(0),
        np.random.RandomState(0),
        random.Random(0),  # noqa: S311 - nothing is kept secret here
    ],
    ids=lambda generator: type(generator).__name__,
)
def test_a_branch_on_a_random_number_is_refused(generator: Any) -> None:
    fast = ta.compile(lambda x: x + 1 if generator.random() < 2.0 else x - 1)
    fast(X)
    with pytest.raises(CaptureError, match="draws random numbers from generator"):
        fast(X)


def test_a_model_that_changes_itself_is_refused_and_left_as_it_was() -> None:
    one = Model()
    weight = one.weight

    def train(x: Any) -> Any:
        one.weight = one.weight - 0.1 * x
        return np.sum(one.weight)

    with pytest.raises(CaptureError, match=r"binds .*weight to what depends on an argument"):
        ta.compile(train)(X)
    assert one.weight is weight


def test_what_plain_numpy_computes_of_small_arrays_is_seen() -> None:
    weights = np.ones(3)
    fast = ta.compile(ta.grad(lambda x: np.sum(x * (weights * 2))))
    for value in (1.0, 1.0, 1.0, 9.0, 9.0, 9.0, 1.0):
        weights[0] = value
        assert np.array_equal(fast(X), [2 * value, 2.0, 2.0])
    assert len(fast.programs) == 2


def test_numbers_that_change_at_each_call_are_named_in_the_end() -> None:
    weights = np.ones(3)
    fast = ta.compile(lambda x: x * (weights * 2), max_programs=2)
    for value in (1.0, 1.0, 2.0):
        weights[0] = value
        fast(X)
    weights[0] = 3.0
    with pytest.warns(CompileWarning, match="the variable weights"):
        assert np.array_equal(fast(X), X * [6.0, 2.0, 2.0])


class Counter:
    """Whose method goes by nothing of its own."""

    def up(self: Any, step: int) -> None:
        self.count += step
        self.step = step
        self.__total = self.__total + 1
        self.seen[self.place] = step
        self.log.append(self.last)


def gone_by(self: Any, step: int) -> Any:
    count = self.count = self.count + 1
    step, self.step = self.step, step
    self.log.append(self.last if self.first else 0)
    if self.flag:
        self.total += self.part
    return count


def test_a_name_is_used_unless_its_value_is_counted_up_or_thrown_away() -> None:
    assert names_used(Counter.up.__code__) == set()
    used = {"count", "step", "log", "append", "last", "first", "flag", "part"}
    assert names_used(gone_by.__code__) == used
    assert "flag" in names_used((lambda self: self.flag).__code__)
    assert names_used(eval("lambda x: log.append(x)").__code__) == {"log", "append"}  # noqa: S307 - the line is here


def test_a_variable_that_has_the_name_of_an_attribute(monkeypatch: pytest.MonkeyPatch) -> None:
    held, x = types.SimpleNamespace(X=2.0), X.copy()
    fast = ta.compile(lambda x: x * held.X, engine="numpy")
    for step in range(5):
        monkeypatch.setitem(globals(), "X", x + step)
        assert np.array_equal(fast(x), x * 2)
    assert [path.replays for paths in fast._paths.values() for path in paths.all] == [3]
