"""Copies see what is bound anew in the modules of their originals."""

import inspect
import math
import traceback
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad.transforms.differentiable import (
    copying,
    decorator,  # noqa: F401 - which fills the tables
)
from tests.transforms.differentiable import foreign_loops as foreign

X = np.array([0.3, 0.5, 0.7])


@pytest.fixture(autouse=True)
def kept(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Bring back what is bound anew."""
    for name in ("RATE", "state", "rated"):
        monkeypatch.setattr(foreign, name, getattr(foreign, name))
    yield
    vars(foreign).pop("len", None)


def copy_of(name: str, *args: Any) -> Any:
    """Give the copy of a function, which has been called before."""
    copy: Any = copying.copied_function(getattr(foreign, name))
    copy(*args)
    return copy


def slopes(function: Any, x: Any = X) -> Any:
    return ta.grad(lambda x: np.sum(function(x)))(x)


def test_gradients_and_all_kinds_of_arguments() -> None:
    copy = copy_of("summed", X)
    expected = 2 * (foreign.RATE * np.cos(X) + foreign.RATE)

    np.testing.assert_allclose(slopes(lambda x: copy(x, 2, start=x[0] * 0, a=1)), expected)
    assert copy(X, 2, 0.1, start=3.0, a=1) == foreign.summed(X, 2, 0.1, start=3.0, a=1)
    assert inspect.signature(copy) == inspect.signature(foreign.summed)
    assert inspect.getsource(copy) == inspect.getsource(foreign.summed)
    with pytest.raises(TypeError, match=r"summed\(\) missing 1 required positional"):
        copy()


def test_a_number_and_a_function_that_are_bound_anew_are_seen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    copy = copy_of("summed", X)
    monkeypatch.setattr(foreign, "RATE", 5.0)
    np.testing.assert_allclose(slopes(copy), 5 * np.cos(X) + 5)

    monkeypatch.setattr(foreign, "rated", lambda x: x * 7)
    np.testing.assert_allclose(slopes(copy), 5 * np.cos(X) + 7)
    monkeypatch.setattr(foreign, "RATE", np.ones(3))
    np.testing.assert_allclose(slopes(copy), 3 * (np.cos(X) + 7))


def test_a_function_of_a_module_that_is_bound_anew_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    copy = copy_of("summed", X)
    monkeypatch.setattr(math, "sin", lambda x: x)
    np.testing.assert_allclose(slopes(copy), [4, 4, 4])


def test_a_name_that_appears_later_hides_a_builtin() -> None:
    copy = copy_of("summed", X)
    foreign.len = lambda _: 100.0  # type: ignore[attr-defined]  # which it has not yet

    assert copy(X) == foreign.summed(X)


def test_a_name_that_is_gone_is_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    copy = copy_of("summed", X)
    monkeypatch.delattr(foreign, "RATE")

    with pytest.raises(NameError, match="RATE"):
        copy(X)


def test_what_global_assigns_is_seen_by_what_it_calls() -> None:
    copy_of("with_state", 2.0)
    copy = copy_of("count_on", X)
    before = foreign.state

    assert copy(X) == X[0] * (before + 3)
    assert foreign.state == before + 3
    np.testing.assert_allclose(slopes(copying.copied_function(foreign.with_state)), foreign.state)


def test_what_a_call_assigns_to_its_own_module_is_seen_within_it() -> None:
    copy = copy_of("by_own_module", X)
    foreign.RATE = 2.0
    expected = foreign.by_own_module(X)
    foreign.RATE = 2.0

    assert copy(X) == expected
    assert foreign.RATE == 2.0


def test_the_traceback_has_the_original_lines() -> None:
    copy = copying.copied_function(foreign.failing)
    with pytest.raises(ValueError, match="no such x") as caught:
        copy(X)

    last = traceback.extract_tb(caught.value.__traceback__)[-1]
    assert (last.name, last.line) == ("failing", 'raise ValueError("no such x")')
    assert last.filename == foreign.__file__


def test_generators_see_what_is_bound_anew_while_they_wait() -> None:
    copy = copy_of("in_turn", X)
    waiting = copy(X)
    next(waiting)
    foreign.RATE = 3.0

    np.testing.assert_allclose([*waiting], 3 * X[1:])


def test_the_names_of_a_copy_are_listed_as_the_originals() -> None:
    copy: Any = copying.copied_function(foreign.rated)
    names = copy.__globals__
    assert len(names) == len([*names]) == len(set(names))
    assert {*vars(foreign)} <= {*names}
