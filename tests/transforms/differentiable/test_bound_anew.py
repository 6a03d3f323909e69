"""Variables of enclosing functions that are bound anew, or changed, between calls of copies."""

import functools
import gc
import math
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tape_ad as ta

X = np.array([1.0, 2.0, 3.0])


def first_slope(function: Any) -> float:
    return float(ta.grad(function)(X)[0])


class Times:
    def __init__(self, factor: float) -> None:
        self.factor = factor

    def __call__(self, w: Any) -> Any:
        return np.asarray(w) * self.factor


def times(k: float) -> Callable[[Any], Any]:
    return lambda w: np.asarray(w) * k


def array(k: float) -> Any:
    return np.full(3, k)


def apply(held: Any, w: Any) -> Any:
    if isinstance(held, dict):
        held = held["f"]
    if isinstance(held, (list, tuple)):
        return sum(apply(each, w) for each in held)
    return held(w) if callable(held) else w * held


KINDS: dict[str, Callable[[float], Any]] = {
    "number": float,
    "array": array,
    "function": times,
    "instance": Times,
    "method": lambda k: Times(k).__call__,
    "list": lambda k: [times(k)],
    "tuple": lambda k: (times(k), times(0.0)),
    "dict": lambda k: {"f": times(k)},
    "partial": lambda k: functools.partial(apply, [times(k)]),
    "nested": lambda k: [({"f": [times(k)]},)],
}


@pytest.mark.parametrize("once", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_a_variable_that_is_bound_anew_is_seen(kind: str, once: bool) -> None:
    held = KINDS[kind](0.0)
    loss = lambda w: apply(held, w).sum()  # noqa: E731 - as users write it
    decorated = ta.differentiable(loss)
    found = []
    for k in (1.0, 2.0, 3.0):
        held = KINDS[kind](k)
        found.append(first_slope(decorated if once else ta.differentiable(loss)))

    assert found == [1.0, 2.0, 3.0]


@pytest.mark.parametrize("kind", KINDS)
def test_so_is_one_of_a_function_that_is_called(kind: str) -> None:
    held = KINDS[kind](0.0)

    def inner(w: Any) -> Any:
        return apply(held, w).sum()

    loss = ta.differentiable(lambda w: 2 * inner(w))
    found = []
    for k in (1.0, 2.0, 3.0):
        held = KINDS[kind](k)
        found.append(first_slope(loss))

    assert found == [2.0, 4.0, 6.0]


def test_so_is_one_of_functions_that_call_each_other() -> None:
    batch = array(0.0)

    def even(w: Any, n: int) -> Any:
        return (w * batch).sum() if n == 0 else odd(w, n - 1)

    def odd(w: Any, n: int) -> Any:
        return even(w, n - 1) + (w * batch).sum()

    loss = ta.differentiable(lambda w: even(w, 2))
    found = []
    for k in (1.0, 2.0, 3.0):
        batch = array(k)
        found.append((first_slope(loss), first_slope(lambda w: ta.differentiable(odd)(w, 1))))

    assert found == [(2.0, 2.0), (4.0, 4.0), (6.0, 6.0)]


def test_a_loop_of_training_sees_its_weights() -> None:
    w = np.ones(3)
    loss = ta.differentiable(lambda shift: ((w + shift) ** 2).sum())
    found = []
    for _ in range(3):
        g = ta.grad(loss)(np.zeros(3))
        found.append(float(g[0]))
        w = w - 0.25 * g

    assert found == [2.0, 1.0, 0.5]


@pytest.mark.parametrize("first", [True, False])
def test_functions_added_to_a_list_are_seen(first: bool) -> None:
    fs: list[Any] = [times(0.0)] if first else []
    loss = ta.differentiable(lambda w: sum((f(w) for f in fs), np.zeros(3)).sum())
    found = [first_slope(loss)]
    for k in (1.0, 2.0, 3.0):
        fs.append(times(k))
        found.append(first_slope(loss))

    assert found == [0.0, 1.0, 3.0, 6.0]


def test_what_is_changed_in_a_dict_is_seen() -> None:
    cfg: dict[str, Any] = {"f": np.sin, "k": 2.0}
    loss = ta.differentiable(lambda w: cfg["k"] * cfg["f"](w).sum())
    np.testing.assert_allclose(ta.grad(loss)(X), 2 * np.cos(X))
    cfg["f"] = np.exp
    np.testing.assert_allclose(ta.grad(loss)(X), 2 * np.exp(X))
    cfg["k"] = 3.0
    np.testing.assert_allclose(ta.grad(loss)(X), 3 * np.exp(X))


def test_what_is_changed_in_what_a_partial_is_given_is_seen() -> None:
    fs = [times(1.0)]
    part = functools.partial(apply, fs)
    loss = ta.differentiable(lambda w: part(w).sum())
    assert first_slope(loss) == 1.0
    fs.append(times(2.0))
    assert first_slope(loss) == 3.0


def test_a_function_in_place_of_a_number_is_copied() -> None:
    f: Any = None
    loss = ta.differentiable(lambda w: f(w[0]) if f else w[0])
    assert first_slope(loss) == 1.0
    f = math.exp
    assert first_slope(loss) == math.exp(1.0)


def test_what_a_copy_writes_to_a_list_stays() -> None:
    log: list[Any] = [times(1.0)]

    def loss(w: Any) -> Any:
        log.append(times(len(log) + 1.0))
        return sum(f(w) for f in log).sum()

    copy = ta.differentiable(loss)

    assert [first_slope(copy) for _ in range(3)] == [3.0, 6.0, 10.0]
    assert len(log) == 4


def test_an_array_that_a_function_that_is_called_binds_is_seen_at_once() -> None:
    total = np.zeros(3)

    def add(x: Any) -> None:
        nonlocal total
        total = total + x

    def loss(w: Any) -> Any:
        add(2 * w)
        return total.sum()

    copy = ta.differentiable(loss)
    found = []
    for _ in range(3):
        total = np.zeros(3)
        found.append(first_slope(copy))

    assert found == [2.0, 2.0, 2.0]


def test_what_is_assigned_to_a_class_is_seen() -> None:
    class Parent:
        def total(self, w: Any) -> Any:
            return np.asarray(w).sum()

    class Child(Parent):
        @property
        def factor(self) -> float:
            return 1.0

        @staticmethod
        def more(w: Any) -> Any:
            return np.asarray(w).sum()

    child: Any = Child()
    kind: Any = Child
    loss = ta.differentiable(lambda w: child.total(w) * child.factor + kind.more(w))
    found = [first_slope(loss)]
    changes: list[tuple[type, str, Any]] = [
        (Parent, "total", lambda self, w: 2 * np.asarray(w).sum()),
        (Child, "factor", property(lambda self: float(np.asarray(10.0)))),
        (Child, "more", staticmethod(lambda w: 3 * np.asarray(w).sum())),
        (Child, "total", lambda self, w: 4 * np.asarray(w).sum()),
    ]
    for owner, name, value in changes:
        setattr(owner, name, value)
        found.append(first_slope(loss))
    del kind.total
    found.append(first_slope(loss))

    assert found == [2.0, 3.0, 21.0, 23.0, 43.0, 23.0]


def test_defaults_and_code_that_are_assigned_are_seen() -> None:
    fs = [times(1.0)]

    def inner(w: Any, factor: float = 1.0, *, fs: Any = fs) -> Any:
        return factor * apply(fs, w).sum()

    def other(w: Any, factor: float, *, fs: Any) -> Any:
        return np.asarray(factor) * 10 * apply(fs, w).sum()

    loss = ta.differentiable(lambda w: inner(w) + 0.0)
    found = [first_slope(loss)]
    fs.append(times(1.0))
    found.append(first_slope(loss))
    inner.__defaults__ = (3.0,)
    found.append(first_slope(loss))
    inner.__kwdefaults__ = {"fs": [times(5.0)]}
    found.append(first_slope(loss))
    inner.__code__ = other.__code__
    found.append(first_slope(loss))

    assert found == [1.0, 2.0, 6.0, 15.0, 150.0]


def test_objects_of_a_copied_class_see_it_when_one_is_made() -> None:
    batch = array(0.0)

    class Model:
        def __call__(self, w: Any) -> Any:
            return (w * batch).sum()

    copy = ta.differentiable(Model)
    found = []
    for k in (1.0, 2.0, 3.0):
        batch = array(k)
        found.append(first_slope(copy()))

    assert found == [1.0, 2.0, 3.0]


def test_what_is_watched_is_freed() -> None:
    def made() -> list[weakref.ref[Any]]:
        data, before = array(2.0), array(1.0)
        noted = [weakref.ref(data), weakref.ref(before)]

        def one(w: Any) -> Any:
            return (w * data).sum()

        fs = (one, one)  # in a tuple, which no weak reference is made to
        loss = ta.differentiable(lambda w: fs[0](w) + fs[1](w) + before.sum())
        assert first_slope(loss) == 4.0
        before = data
        assert first_slope(loss) == 4.0
        return noted

    noted = made()
    gc.collect()

    assert [each() for each in noted] == [None, None]


def test_a_table_with_the_function_that_closes_over_it_is_seen_anew() -> None:
    table: dict[str, Any] = {"slope": lambda x: 2 * x}

    def through(x: Any) -> Any:
        return np.asarray(table["slope"](x))

    table["through"] = through
    loss = ta.differentiable(through)
    for factor in (2.0, 3.0, 4.0):
        table["slope"] = lambda x, factor=factor: factor * x
        found = ta.grad(lambda x: np.sum(loss(x)))(np.ones(2))
        np.testing.assert_array_equal(found, [factor, factor])
