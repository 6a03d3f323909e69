"""Assignment in the memory that is there: nobody who can see it may see a change there.

What is compared with is the same program on arrays, and where something has to stay as it was, a
copy that was taken before.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad.record.mutation import has_alone
from tests.shorthand import handle

START = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])


def filled() -> tuple[Any, Any, Any]:
    """Give a leaf, and a handle that has its memory alone, in one record."""
    rec: Any = ta.ComputationRecord()
    return rec, rec.tensor(START), rec.constant(START + 0.0)


def address(x: Any) -> Any:
    return x.data.__array_interface__["data"]


@pytest.mark.parametrize(
    "value",
    [lambda x: x[0], lambda x: np.ones(3), lambda x: 5.0, lambda x: 5],
    ids=["handle", "array", "float", "int"],
)
def test_memory_that_nobody_else_has_is_written_to(value: Callable[[Any], Any]) -> None:
    _, x, a = filled()
    there = address(a)
    a[1] = value(x)
    assert address(a) == there
    expected = START.copy()
    expected[1] = value(START)
    np.testing.assert_array_equal(a.data, expected)


def test_a_row_that_is_added_to_stays_where_it_is() -> None:
    _, x, a = filled()
    there = address(a)
    a[0] += x[1]
    row = a[1]
    row += x[0]
    assert address(a) == there
    assert np.shares_memory(row.data, a.data)
    np.testing.assert_array_equal(a.data, [[5.0, 7.0, 9.0], [5.0, 7.0, 9.0]])
    np.testing.assert_array_equal(row.data, [5.0, 7.0, 9.0])
    weights = np.array([[1.0, 2.0, 3.0], [10.0, 20.0, 30.0]])
    np.testing.assert_array_equal(np.sum(a * weights).grad().wrt(x), weights[::-1])
    np.testing.assert_array_equal(
        np.sum(row * weights[1]).grad().wrt(x), [[10.0, 20.0, 30.0], [0.0, 0.0, 0.0]]
    )


WITNESSES: dict[str, Callable[[Any], Any]] = {
    "the array": lambda a: a.data,
    "a part of the array": lambda a: a.data[1:, ::2],
    "a buffer": lambda a: np.asarray(memoryview(a.data)),
    "a reshaped part": lambda a: a.data[1].reshape(3, 1),
    "the array of a view": lambda a: WITNESSED.setdefault("view", a[1]).data,
    "an iterator": lambda a: next(iter(a.data[1:])),
}
WITNESSED: dict[str, Any] = {}
"""Handles that are to stay alive."""


@pytest.mark.parametrize("name", WITNESSES)
def test_what_somebody_has_taken_stays_as_it_was(name: str) -> None:
    _, x, a = filled()
    seen = WITNESSES[name](a)
    before = seen.copy()
    a[1] = x[0] * 7.0
    np.testing.assert_array_equal(seen, before)
    np.testing.assert_array_equal(a.data[1], START[0] * 7.0)
    WITNESSED.clear()


@pytest.mark.parametrize("part", [..., np.s_[1:], np.s_[:, ::-1]], ids=["all", "rows", "turned"])
def test_the_users_own_array_is_not_written_to(part: Any) -> None:
    rec: Any = ta.ComputationRecord()
    own = START.copy()
    a = rec.constant(own[part])
    a[0] = rec.tensor(7.0) * np.ones(3)
    a[0, 1] = 8.0
    np.testing.assert_array_equal(own, START)
    np.testing.assert_array_equal(a.data[0], [7.0, 8.0, 7.0])


READERS: dict[str, Callable[[Any], Any]] = {
    "operand": lambda a: a * a,
    "output": np.exp,
    "output of a view": lambda a: np.exp(a[1]),
    "row": lambda a: a[1] * a[0],
    "column": lambda a: a[:, 1] ** 2,
    "turned": lambda a: a.T @ a,
    "reshaped": lambda a: a.reshape(-1) ** 3,
    "element": lambda a: a[1, 1] ** 2,
    "checkpoint": ta.checkpoint(np.sin),
    "rule of one's own": ta.custom_rule(pull=lambda ct, out, a: ct * out)(np.exp),
    "transform": ta.grad(lambda a: np.sum(a**3)),
}


@pytest.mark.parametrize("name", READERS)
def test_a_partial_keeps_what_was_there(name: str) -> None:
    read = READERS[name]

    def run(x: Any, a: Any) -> Any:
        a[0] = x[1] * 2.0
        a[1] = x[0]
        first = read(a)
        a[0] = x[0]
        a[1] += first.sum() * x[0]
        return np.sum(a * a) + np.sum(first)

    _, x, a = filled()
    h, direction = 1e-6, np.array([[0.3, -1.0, 0.2], [0.7, 0.1, -0.4]])
    ends = [run(START / 4 + sign * h * direction, START / 4) for sign in (1, -1)]
    rec: Any = ta.ComputationRecord()
    x, a = rec.tensor(START / 4), rec.constant(START / 4)
    found = run(x, a)
    np.testing.assert_allclose(
        np.sum(found.grad().wrt(x) * direction), (ends[0] - ends[1]) / (2 * h), rtol=1e-7
    )
    np.testing.assert_array_equal(found.data, run(START / 4, START / 4))


def test_a_record_that_watches_its_inputs_is_written_to_nowhere() -> None:
    rec: Any = ta.ComputationRecord(check_inputs=True)
    x, a = rec.tensor(START), rec.constant(START + 0.0)
    for i in range(2):
        a[i] = x[1 - i]
        a[i] += x[i]
    np.testing.assert_array_equal(np.sum(a).grad().wrt(x), np.full((2, 3), 2.0))


def test_of_a_real_value_in_a_complex_array_the_gradient_is_real() -> None:
    rec: Any = ta.ComputationRecord()
    x = rec.tensor(np.array([1.0, 2.0]))
    a, twice = rec.constant(np.ones((2, 2)) * 1j), x * 2.0
    a[0] = twice
    a[1] = twice
    out = np.sum(a * np.array([[1.0, 2j], [3 + 1j, 4.0]])) + np.sum(twice)
    np.testing.assert_array_equal(out.real.grad().wrt(x), [10.0, 10.0])


def test_overlapping_parts_are_moved_as_numpy_moves_them() -> None:
    rec: Any = ta.ComputationRecord()
    x = rec.tensor(np.arange(5.0))
    a = rec.constant(np.zeros(5))
    a[:] = x
    there = address(a)
    a[1:] = a[:-1]
    assert address(a) == there
    np.testing.assert_array_equal(a.data, [0.0, 0.0, 1.0, 2.0, 3.0])
    weights = np.array([1.0, 2.0, 4.0, 8.0, 16.0])
    np.testing.assert_array_equal(np.sum(a * weights).grad().wrt(x), [3.0, 4.0, 8.0, 16.0, 0.0])


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex128, np.longdouble])
@pytest.mark.parametrize("value", [3, 0.5, np.float32(0.5), np.float64(0.1)], ids=repr)
def test_the_dtype_stays_and_values_are_cast_as_numpy_casts(dtype: Any, value: Any) -> None:
    rec: Any = ta.ComputationRecord()
    a, plain = rec.constant(np.ones(3, dtype)), np.ones(3, dtype)
    for array in (a, plain):
        array[1] = value
        array[2:] = value
    np.testing.assert_array_equal(a.data, plain, strict=True)


def test_what_does_not_fit_is_refused_and_changes_nothing() -> None:
    _, x, a = filled()
    row = a[0]
    for key, value in ((0, x), (5, x[0]), ((0, 0, 0), 1.0), (0, 10**400), (0, np.ones(2))):
        with pytest.raises((ValueError, IndexError, OverflowError)):
            a[key] = value
    np.testing.assert_array_equal(a.data, START)
    np.testing.assert_array_equal(row.data, START[0])


def test_an_outer_handle_is_a_value_for_the_inner_record() -> None:
    def inner(scale: Any) -> Any:
        def f(x: Any) -> Any:
            a = np.zeros_like(x)
            for i in range(3):
                a[i] = scale * x[i] ** 2
                a[i] += scale
            return np.sum(a)

        return np.sum(ta.grad(f)(np.array([1.0, 2.0, 3.0])))

    np.testing.assert_array_equal(ta.grad(inner)(5.0), 12.0)


@pytest.mark.parametrize("size", [3, 20_000])
def test_what_is_left_out_stays_out_of_a_gradient(size: int) -> None:
    x = handle(np.linspace(0.0, 1.0, size))
    roots = np.sqrt(x) * 1.0
    roots[0] = 5.0  # whose slope was inf
    gradient = np.sum(roots).grad().wrt(x)
    np.testing.assert_array_equal(gradient[0], 0.0)
    np.testing.assert_allclose(gradient[1:], 0.5 / np.sqrt(x.data[1:]))


@pytest.mark.parametrize("size", [3, 20_000])
def test_a_gradient_that_somebody_holds_is_not_cleared(size: int) -> None:
    x = handle(np.ones(size))
    a = x * 1.0
    first = a.snapshot()  # a name for the node that a is no more
    a[0] = x[1] * 2.0
    a[1] += x[2]
    grads = (a * 3.0).grad(seed=np.ones(size))
    np.testing.assert_array_equal(grads.wrt(a), np.full(size, 3.0))
    expected = np.full(size, 3.0)
    expected[:3] = [0.0, 9.0, 6.0]
    np.testing.assert_array_equal(grads.wrt(x), expected)
    assert first.index in range(len(x.record))


def test_what_a_snapshot_was_taken_of_keeps_its_value_and_gradient() -> None:
    x = handle([1.0, 2.0, 3.0])
    y = x * 2.0
    then = y.snapshot()
    part = then[1:]
    then[0] = 7.0
    part += 1.0
    np.testing.assert_array_equal(y.data, [2.0, 4.0, 6.0])
    np.testing.assert_array_equal(then.data, [7.0, 5.0, 7.0])
    np.testing.assert_array_equal(part.data, [5.0, 7.0])
    grads = np.sum(y * 3.0).grad()
    np.testing.assert_array_equal(grads.wrt([x, y]), [[6.0] * 3, [3.0] * 3])
    np.testing.assert_array_equal(np.sum(then).grad().wrt(x), [0.0, 2.0, 2.0])


def test_stacked_seeds_and_tangents_pass_a_loop_of_assignments() -> None:
    def run(x: Any) -> Any:
        a = np.zeros_like(x)
        for i in range(3):
            a[i] = x[i] ** 2
            a[2 - i] += 3.0 * x[i]
        return a

    x = np.array([1.0, 2.0, 3.0])
    expected = ta.jacobian(run, mode="forward")(x)
    np.testing.assert_array_equal(ta.jacobian(run)(x), expected)
    columns = [ta.jvp(run, (x,), (row,))[1] for row in np.eye(3)]
    np.testing.assert_array_equal(expected, np.stack(columns, axis=-1))


def test_only_references_that_are_counted_let_memory_be_written_to(monkeypatch: Any) -> None:
    _, x, a = filled()
    assert has_alone(a, [])
    monkeypatch.setattr("tape_ad.record.mutation.ALONE", 0)
    there = address(a)
    assert not has_alone(a, [])
    a[1] = x[0]
    assert address(a) != there
    np.testing.assert_array_equal(a.data[1], START[0])
