"""The verifier: it finds each way in which storage can be used again too early."""

from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad.base.naming import called
from tape_ad.programs.engines import engine_named, storage
from tape_ad.programs.engines.native import fusion
from tape_ad.programs.engines.native.lowering import LoweringCache
from tape_ad.programs.engines.plans import Plan
from tape_ad.programs.engines.storage import LiveRanges
from tape_ad.programs.program import Program, Value
from tests.programs.building import Builder
from tests.programs.verifier import (
    StorageError,
    verify_owners,
    verify_plan,
    verify_ranges,
)

X = np.array([1.0, 2.0, 3.0])


def by_name(value: Value) -> Value:
    """Take each name for memory of its own, and so a view for no use of what it shows."""
    return value


@pytest.fixture
def blind_to_views(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let liveness be by value."""
    monkeypatch.setattr(storage, "root_of", by_name)


def seen_by_a_view() -> Program:
    b = Builder()
    y = b(np.add, b.input(X, "x"), 1.0)
    view = b.item(y, slice(None, None, -1))
    return b.program((b(np.multiply, b(np.tanh, y), view),))


def test_a_plan_by_memory_holds() -> None:
    verify_plan(Plan.of(seen_by_a_view()))


@pytest.mark.usefixtures("blind_to_views")
def test_a_plan_by_value_is_refused() -> None:
    with pytest.raises(StorageError, match=r"multiply reads float64\[3\], but"):
        verify_plan(Plan.of(seen_by_a_view()))


@pytest.mark.usefixtures("blind_to_views")
def test_engines_refuse_it_in_tests() -> None:
    with pytest.raises(StorageError):
        engine_named("numpy")(seen_by_a_view())


def test_what_the_caller_gets_lies_in_no_workspace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LiveRanges, "of", lambda steps, outputs: LiveRanges())
    b = Builder()
    program = b.program((b(np.add, b.input(X, "x"), 1.0),))
    with pytest.raises(StorageError, match="which lies in a workspace"):
        verify_plan(Plan.of(program))


def test_ranges_that_overlap_while_both_are_needed() -> None:
    one, other = Value(np.ndarray), Value(np.ndarray)
    verify_ranges([[one], [other]], {one: (0, 8), other: (4, 8)})
    with pytest.raises(StorageError, match="step 2 of native code"):
        verify_ranges([[one], [other], [one]], {one: (0, 8), other: (4, 8)})


def mixed(x: Any) -> Any:
    y = x * 2
    z = x * y
    return z * x + z * y


def natively(function: Any) -> None:
    fast = ta.compile(function, engine="native")
    for _ in range(3):
        fast(X)


def test_a_loop_that_reads_another_operand(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("llvmlite")

    found = LoweringCache.find

    def careless(self: Any, key: Any, call: Any) -> Any:
        nest = found(self, key, call)
        if nest is not None:
            nest.reads = nest.reads[:1] * len(nest.reads)
        return nest

    monkeypatch.setattr(LoweringCache, "find", careless)
    with pytest.raises(StorageError, match=r"the loop for np\.multiply does not read"):
        natively(mixed)


def test_an_array_that_is_written_over_too_early(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("llvmlite")

    def careless(program: Any) -> Any:
        return {call: call.args[0] for call in program.calls if called(call.function) == "updated"}

    def shown_later(x: Any) -> Any:
        y = x * 2
        z = y.copy()
        z[0] = 5.0
        return np.sum(z * y)

    monkeypatch.setattr(fusion, "last_uses", careless)
    with pytest.raises(StorageError, match=r"over which .* has been written"):
        natively(shown_later)


def test_native_storage_for_too_short_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("llvmlite")

    def first_use(self: LiveRanges, value: Value, number: int) -> None:
        self.ends.setdefault(value, number)

    def sums(a: Any) -> Any:
        rows, columns = np.sum(a, axis=0), np.sum(a * 2, axis=1)
        return np.sum(np.cumsum(rows) * columns) + np.sum(np.cumsum(columns) * rows)

    monkeypatch.setattr(LiveRanges, "use", first_use)
    fast = ta.compile(sums, engine="native")
    fast(np.ones((7, 7)))
    with pytest.raises(StorageError, match="of native code reads"):
        fast(np.ones((7, 7)))


def test_what_is_written_to_no_elements_is_not_waited_for() -> None:
    pytest.importorskip("llvmlite")

    def of_the_first(x: Any) -> Any:
        y = x.copy()
        y[1:] = 0.0
        return np.tanh(y)

    fast = ta.compile(of_the_first, engine="native")
    for _ in range(3):
        assert fast(X[:1])[0] == pytest.approx(np.tanh(1.0), rel=1e-15)


def test_views_that_nobody_knows_of() -> None:
    b = Builder()
    x = b.input(X, "x")
    y = b(np.add, x, 1.0)
    view = b.item(y, slice(1, None))
    verify_owners(b.program((view,)), [X])
    view.owner = None
    with pytest.raises(StorageError, match="an unknown view of"):
        verify_owners(b.program((view,)), [X])


def test_two_constants_of_one_memory_are_no_unknown_view() -> None:
    b = Builder()
    k = b.input(1, "k")
    base = b.constant(np.arange(6.0))
    view = b.constant(np.arange(6.0).reshape(3, 2))
    row = b.item(view, k)
    verify_owners(b.program((row,)), [1])
    row.owner = base
    verify_owners(b.program((row,)), [1])
    row.owner = None
    with pytest.raises(StorageError, match="an unknown view of"):
        verify_owners(b.program((row,)), [1])
