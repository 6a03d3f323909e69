"""Arrays that are written to before the sweep: `ComputationRecord(check_inputs=...)`."""

import contextlib
import pathlib
from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad.errors import MutatedInputError
from tests.rules.checks import recorded
from tests.rules.rows import ROWS
from tests.rules.table import Case, Row
from tests.sampling import some


def test_an_update_between_two_losses_of_one_record_is_an_error() -> None:
    params = {"a": np.array(2.0), "b": np.array(3.0)}
    q = ta.ComputationRecord().bind(params)
    first, second = q["a"] * q["b"], q["a"] * q["b"] ** 2
    params["a"] -= 0.5 * first.grad().wrt(q)["a"]
    with pytest.raises(MutatedInputError, match=r"leaf a \(%0: float64\[\]\).*before the update"):
        second.grad()


def test_an_update_after_the_sweep_is_none() -> None:
    params = {"w": np.array([1.0, 2.0])}
    for _ in range(3):
        p = ta.ComputationRecord().bind(params)
        params["w"] -= 0.1 * np.sum(p["w"] ** 2).grad().wrt(p)["w"]
    np.testing.assert_allclose(params["w"], [0.512, 1.024])


def test_a_second_sweep_after_the_update_is_an_error() -> None:
    data = np.array([1.0, 2.0])
    x = ta.ComputationRecord().tensor(data)
    y = np.sum(x * x)
    y.grad()
    data -= 1.0
    with pytest.raises(MutatedInputError, match=r"leaf \(%0: float64\[2\]\)"):
        y.grad()


def test_a_record_for_all_steps_is_asked_only_for_what_a_loss_depends_on() -> None:
    data, rec = np.array([1.0, 2.0]), ta.ComputationRecord()
    for _ in range(3):
        x = rec.tensor(data)
        data -= 0.1 * np.sum(x * x).grad().wrt(x)
    np.testing.assert_allclose(data, [0.512, 1.024])


def test_without_the_check_a_mutated_input_is_not_noticed() -> None:
    data = np.array([1.0, 2.0])
    x = ta.ComputationRecord(check_inputs=False).tensor(data)
    y = np.sum(x * x)
    data[0] = 100.0
    assert y.grad().wrt(x)[0] == 200.0


W = np.array([[0.5, 2.0], [1.0, -1.0]])
BESIDE: dict[str, Any] = {
    "h * w": lambda h, w: h * w,
    "w * h": lambda h, w: w * h,
    "h / w": lambda h, w: h / w,
    "h @ w": lambda h, w: h @ w,
    "w @ h": lambda h, w: w @ h,
    "h @ w.T": lambda h, w: h @ w.T,
    "h * w[0]": lambda h, w: h * w[0],
    "np.dot": lambda h, w: np.dot(w, h),
    "np.tensordot": lambda h, w: np.tensordot(h, w, 1),
    "np.einsum": lambda h, w: np.einsum("ij,jk->ik", w, h),
    "nn.linear": lambda h, w: ta.nn.linear(w, h, np.zeros(2)),
    "np.average": lambda h, w: np.average(h, weights=np.abs(w)) * w,
    "np.outer": np.outer,
    "np.outer of views": lambda h, w: np.outer(h[0], w[0]),
    "np.vdot": np.vdot,
    "np.convolve": lambda h, w: np.convolve(h[0], w[0]),
    "np.linalg.solve": lambda h, w: np.linalg.solve(w, h),
    "np.ldexp": lambda h, w: np.ldexp(h, np.ones((2, 2), int)) * w,
    "an einsum of three": lambda h, w: np.einsum("ij,jk,kl->il", h, w, h),
    "a block of an operand": lambda h, w: ta.nn.linear(h, w, w[0]),
}


@pytest.mark.parametrize("name", BESIDE)
def test_a_plain_array_that_a_partial_holds_is_looked_at(name: str) -> None:
    w = W.copy()
    h = ta.ComputationRecord().tensor(W + 1)
    y = np.sum(BESIDE[name](h, w) ** 2)
    before = y.grad().wrt(h)
    np.testing.assert_array_equal(y.grad().wrt(h), before)
    w[0] = 7.0
    with pytest.raises(
        MutatedInputError, match=r"an array of shape .* was written to after node %.*copy"
    ):
        y.grad()


def test_an_array_is_noted_once_for_all_that_is_computed_with_it() -> None:
    rec: Any = ta.ComputationRecord()
    h, w = rec.tensor(W), W + 1.0
    early = np.sum(h * w * w)
    assert len(rec.noted) == 2
    w[...] = 3.0
    late = np.sum(h * w * w)
    assert len(rec.noted) == 3
    np.testing.assert_array_equal(late.grad().wrt(h), np.full((2, 2), 9.0))
    with pytest.raises(MutatedInputError, match=r"node %1 \(multiply\) was computed with it"):
        early.grad()


@pytest.mark.parametrize("check_inputs", [None, True])
def test_an_array_that_is_filled_anew_between_its_uses(check_inputs: bool | None) -> None:
    memory, rec = np.array([3.0, 4.0]), ta.ComputationRecord(check_inputs=check_inputs)
    x = rec.tensor(np.array([1.0, 2.0]))
    early = np.sum(x * memory)
    memory[:] = [10.0, 20.0]
    late = np.sum(x * memory)
    np.testing.assert_array_equal(late.grad().wrt(x), [10.0, 20.0])
    memory[:] = [3.0, 4.0]  # as it was for one of them
    np.testing.assert_array_equal(early.grad().wrt(x), [3.0, 4.0])
    with pytest.raises(MutatedInputError, match=r"after node %3 \(multiply\)"):
        (early + late).grad()


def test_plain_arrays_of_classes_of_their_own_are_looked_at(tmp_path: pathlib.Path) -> None:
    w = np.memmap(tmp_path / "w", float, "w+", shape=(2, 2))
    w[...] = W
    h = ta.ComputationRecord().tensor(W)
    y = np.sum(h * w)
    w[0] = 7.0
    with pytest.raises(MutatedInputError, match=r"node %1 \(multiply\) was computed with it"):
        y.grad()


def with_an_update(x: Any, w: Any) -> Any:
    w = w.copy()
    y = np.sum(x * w)
    w += 1.0
    return y


def with_an_update_of_a_view(x: Any, w: Any) -> Any:
    w = w.copy()
    y = np.sum(np.outer(x, w[...]))
    w += 1.0
    return y


@pytest.mark.parametrize(
    "slope_of",
    [
        lambda f: ta.batched(ta.grad(f)),
        lambda f: ta.batched(ta.batched(ta.grad(f))),
        lambda f: ta.compile(ta.grad(f)),
        lambda f: ta.compile(ta.batched(ta.grad(f))),
        lambda f: ta.grad(ta.compile(f)),
    ],
    ids=["batched", "batched twice", "compiled", "batched and compiled", "of compiled"],
)
@pytest.mark.parametrize("loss", [with_an_update, with_an_update_of_a_view])
def test_an_array_that_is_no_plain_one_is_looked_at(slope_of: Any, loss: Any) -> None:
    slope, w = slope_of(loss), W[None] + np.zeros((2, 1, 1))
    for _ in range(3):
        with pytest.raises(MutatedInputError, match=r"node %1 \(\w+\) was computed with it"):
            slope(w, w)


WATCHED = [
    pytest.param(row, plain, id=f"{row}-{plain}")
    for row in ROWS
    if row.prepare is None and row.function not in {np.nan_to_num, np.unwrap, ta.scipy.signal.welch}
    for plain in range(len(row.operands))
    if {*row.differentiable} - {plain}
]
"""Rows, and an operand to be plain; the functions left out take no handles beside it."""


@pytest.mark.parametrize(("row", "plain"), some(WATCHED, 40))
def test_a_gradient_is_of_what_a_plain_operand_was_or_an_error(row: Row, plain: int) -> None:
    values = [np.array(value) for value in Case(row, "real").primals()]
    run = recorded(row, values, active=[i for i in row.differentiable if i != plain])
    seeds = [np.ones_like(value) for value in run.values]
    before = run.pull(seeds)
    values[plain][...] = values[plain] == 0
    with contextlib.suppress(MutatedInputError):
        for now, then in zip(run.pull(seeds), before, strict=True):
            np.testing.assert_array_equal(now, then)


@pytest.mark.parametrize("size", [2, 4000])
def test_a_batch_whose_memory_is_filled_anew_before_the_sweep(size: int) -> None:
    batch = np.ones((size, 2))
    w = ta.ComputationRecord().tensor(np.ones(2))
    loss: Any = np.mean((batch @ w) ** 2)
    batch[:] = 3.0
    with pytest.raises(MutatedInputError, match=r"node %1 \(matmul\) was computed with it"):
        loss.grad()
    again: Any = np.mean((batch @ w) ** 2)  # what is swept from now on has not changed since
    np.testing.assert_allclose(again.grad().wrt(w), [36.0, 36.0])


UNHELD: dict[str, Any] = {
    "h + w": lambda h, w: h + w,
    "h - w": lambda h, w: (h - w) ** 2,
    "np.maximum": lambda h, w: np.maximum(h, w) * h,
    "h ** w": lambda h, w: np.abs(h) ** w,
    "w / h": lambda h, w: w / h,
    "np.where": lambda h, w: np.where(w > 0, h * 2, h),
    "a copy": lambda h, w: h * w.copy(),
    "what nothing is swept through": lambda h, w: (h * w, h)[1],
}


@pytest.mark.parametrize("name", UNHELD)
def test_an_array_that_no_partial_holds_may_be_written_to(name: str) -> None:
    w = W.copy()
    h = ta.ComputationRecord().tensor(W + 3)
    y = np.sum(UNHELD[name](h, w))
    before = y.grad().wrt(h)
    w[:] = -7.0
    np.testing.assert_array_equal(y.grad().wrt(h), before)


def test_an_array_between_whose_elements_others_lie_is_looked_at_alone() -> None:
    table = np.ones((3, 4))
    h = ta.ComputationRecord().tensor(W)
    y = np.sum(ta.nn.linear(h, table[:2, ::2], table[0, 1::2]))
    table[:, 1::2] = 7.0
    np.testing.assert_array_equal(y.grad().wrt(h), [[2.0, 2.0], [2.0, 2.0]])
    table[:, ::2] = 7.0
    with pytest.raises(MutatedInputError, match=r"node %1 \(linear\) was computed with it"):
        y.grad()


def test_a_plain_array_is_not_looked_at_where_that_is_turned_off() -> None:
    w = np.ones(2)
    h = ta.ComputationRecord(check_inputs=False).tensor(W)
    y = np.sum(h * w)
    w[:] = 2.0
    np.testing.assert_array_equal(y.grad().wrt(h), np.full((2, 2), 2.0))


def test_a_tangent_is_not_pushed_through_an_array_that_has_changed() -> None:
    w = np.ones(2)
    push = ta.linearize(lambda x: x * w, np.ones(2))[1]
    np.testing.assert_array_equal(push(np.ones(2)), 1.0)
    w[:] = 2.0
    with pytest.raises(MutatedInputError):
        push(np.ones(2))


LAYOUTS: dict[str, Any] = {
    "small": np.ones((3, 4)),
    "no axes": np.ones(()),
    "large": np.ones((300, 40)),
    "of Fortran": np.ones((300, 40), order="F"),
    "every other": np.ones((300, 40))[::2, ::2],
    "many axes": np.ones((3, 4, 5, 6, 7))[:, ::-1],
    "vector": np.ones(2_001),
    "single": np.ones((50, 60), np.float32),
    "half": np.ones(7, np.float16),
    "long": np.ones((50, 60), np.longdouble),
    "complex": np.ones((50, 60), complex),
    "other bytes": np.ones(5, ">f8"),
}


@pytest.mark.parametrize("place", [0, -1], ids=["first", "last"])
@pytest.mark.parametrize("name", LAYOUTS)
def test_of_any_layout_the_first_and_the_last_element_are_looked_at(name: str, place: int) -> None:
    data = LAYOUTS[name].copy(order="K")
    x = ta.ComputationRecord().tensor(data)
    y = np.sum(np.abs(x) ** 2)
    data.flat[place] += 1
    with pytest.raises(MutatedInputError, match=r"leaf \(%0: "):
        y.grad()


@pytest.mark.parametrize("name", LAYOUTS)
def test_an_array_that_did_not_change_is_none(name: str) -> None:
    data = LAYOUTS[name] * np.nan
    x = ta.ComputationRecord().tensor(data)
    assert np.isnan(np.sum(x.real * 2).grad().wrt(x)).sum() == 0


def test_a_change_of_everything_is_seen_in_a_view_of_another_array() -> None:
    memory = np.arange(20_000.0)
    part = memory[100:12_000].reshape(100, 119).T
    x = ta.ComputationRecord().tensor(part)
    y = np.sum(x.T @ np.ones(119))
    del part
    memory *= 2
    with pytest.raises(MutatedInputError, match=r"float64\[119,100\]"):
        y.grad()


def test_what_no_sweep_could_see_is_no_error() -> None:
    empty, integers, memory = np.ones((0, 3)), np.arange(3), [1.0, 2.0]
    rec = ta.ComputationRecord()
    x, y, z = rec.bind([empty, integers, np.array(memory)])
    integers += 1
    memory[0] = 3.0
    total = np.sum(x) + np.sum(y * y) + np.sum(z)
    np.testing.assert_array_equal(total.grad().wrt(y), [0.0, 2.0, 4.0])


def test_a_file_mapped_into_memory(tmp_path: Any) -> None:
    data = np.memmap(tmp_path / "data", np.float64, "w+", shape=(3_000,))
    data[:] = 2.0
    x = ta.ComputationRecord().tensor(data)
    y = np.sum(x * x)
    assert y.grad().wrt(x)[7] == 4.0
    data[:] = 5.0
    with pytest.raises(MutatedInputError):
        y.grad()


def test_the_array_behind_a_handle_of_an_outer_record() -> None:
    data = np.array([1.0, 2.0])
    outer = ta.ComputationRecord()
    inner = ta.ComputationRecord(within=outer)
    x = inner.tensor(outer.tensor(data))
    y = np.sum(x**3)
    data += 1
    with pytest.raises(MutatedInputError):
        y.grad()


@pytest.mark.parametrize(
    ("transform", "sweep"),
    [
        (lambda f, x: ta.vjp(f, x)[1], lambda pull: pull(1.0)),
        (lambda f, x: ta.linearize(f, x)[1], lambda push: push(np.ones(2))),
    ],
    ids=["vjp", "linearize"],
)
def test_an_argument_that_changes_before_its_derivative_is_asked_for(
    transform: Any, sweep: Any
) -> None:
    data = np.array([1.0, 2.0])
    linear = transform(lambda x: np.sum(x * x), data)
    before = sweep(linear)
    np.testing.assert_array_equal(np.sum(before), np.sum(2 * data))
    data += 1
    with pytest.raises(MutatedInputError):
        sweep(linear)


def test_a_compiled_function_is_not_asked() -> None:
    data = np.arange(1.0, 3.0)
    fast = ta.compile(lambda x: ta.grad(lambda y: np.sum(y**3))(x * 1.0), engine="numpy")
    for _ in range(4):
        np.testing.assert_array_equal(fast(data), 3 * data**2)
        data += 1


def test_a_leaf_that_is_withdrawn_is_forgotten() -> None:
    rec: Any = ta.ComputationRecord()
    data = np.array([1.0, 2.0])
    with pytest.raises(ta.errors.DtypeError):
        rec.bind({"a": data, "b": np.array(["no number"])})
    x = rec.tensor(np.ones(2))
    data += 1
    np.testing.assert_array_equal(np.sum(x * x).grad().wrt(x), [2.0, 2.0])


def test_checked_inputs_that_did_not_change() -> None:
    rec: Any = ta.ComputationRecord(check_inputs=True)
    x = rec.tensor([1.0, np.nan])
    y = np.sum(np.sin(x) * np.array([2.0, 3.0]) + x[[0, 0]])
    first, second = y.grad().wrt(x), y.grad().wrt(x)
    np.testing.assert_array_equal(first, second)
    assert first[0] == 2 * np.cos(1.0) + 2


def test_a_mutated_leaf_is_detected() -> None:
    data = np.array([1.0, 2.0])
    rec: Any = ta.ComputationRecord(check_inputs=True)
    y = np.sum(np.sin(rec.tensor(data)))
    data[0] = 100.0
    with pytest.raises(MutatedInputError, match=r"leaf \(%0: .* written to after node %1 \(sin"):
        y.grad()


def test_an_element_of_many_is_detected_where_all_are_compared() -> None:
    data = np.ones(100_000)
    rec: Any = ta.ComputationRecord(check_inputs=True)
    p = rec.bind({"table": data})
    y = np.sum(p["table"] ** 2)
    data[77_777] = 100.0
    with pytest.raises(MutatedInputError, match=r"leaf table \(%0: float64\[100000\]\)"):
        y.grad()


def test_a_mutated_constant_is_detected() -> None:
    constant = np.array([1.0, 2.0])
    rec: Any = ta.ComputationRecord(check_inputs=True)
    y = np.sum(rec.tensor([3.0, 4.0]) * constant)
    constant *= 2
    with pytest.raises(MutatedInputError, match=r"node %1 \(multiply\)"):
        y.grad()


def test_a_mutated_operand_of_a_reduction_is_detected() -> None:
    data = np.ones((2, 3))
    rec: Any = ta.ComputationRecord(check_inputs=True)
    y = np.max(rec.tensor(data))
    data[0, 0] = 5.0
    with pytest.raises(MutatedInputError, match=r"shape \(2, 3\).*node %1 \(max\)"):
        y.grad()


def test_a_mutated_intermediate_is_detected() -> None:
    rec: Any = ta.ComputationRecord(check_inputs=True)
    y = np.sin(rec.tensor([1.0, 2.0]))
    z = np.sum(y * 2.0)
    y.data[0] = 7.0
    with pytest.raises(
        MutatedInputError, match=r"node %[12] \((sin|multiply)\), made at .* used it"
    ):
        z.grad()


def test_a_mutated_result_that_its_own_partial_holds_is_detected() -> None:
    rec: Any = ta.ComputationRecord(check_inputs=True)
    y = np.exp(rec.tensor([1.0, 2.0]))
    y.data[0] = 7.0
    with pytest.raises(MutatedInputError, match=r"node %1 \(exp\)"):
        y.grad(seed=np.ones(2))


def test_a_mutated_index_is_detected() -> None:
    places = np.array([0, 1])
    rec: Any = ta.ComputationRecord(check_inputs=True)
    y = rec.tensor([1.0, 2.0, 3.0])[places]
    places[0] = 2
    with pytest.raises(MutatedInputError, match=r"node %1 \(getitem\)"):
        y.grad(seed=np.ones(2))


@pytest.mark.filterwarnings("ignore:Setting the:DeprecationWarning")
@pytest.mark.parametrize("size", [4, 4000])
@pytest.mark.parametrize(
    ("attribute", "value"), [("dtype", np.int64), ("shape", (-1, 1)), ("shape", (1, -1))]
)
@pytest.mark.parametrize("check_inputs", [None, True])
def test_an_array_that_becomes_one_of_another_kind_is_an_error(
    check_inputs: bool | None, attribute: str, value: Any, size: int
) -> None:
    data = np.arange(float(size))
    x = ta.ComputationRecord(check_inputs=check_inputs).tensor(data)
    y = np.sum(x * x)
    setattr(data, attribute, value)  # of which no byte changes
    with pytest.raises(MutatedInputError):
        y.grad()
