"""Gradients as values: what is kept, what is freed, seeds."""

import gc
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad.errors import RecordMismatchError, SeedError
from tape_ad.rules import FAST_RULES

# What is kept


def test_leaves_and_intermediates_that_are_held_keep_their_gradient() -> None:
    rec: Any = ta.ComputationRecord()
    x = rec.tensor([1.0, 2.0])
    y = x * x
    loss = np.sum(y * 3.0)
    grads = loss.grad()
    np.testing.assert_array_equal(grads.wrt(loss), 1.0)
    np.testing.assert_array_equal(grads.wrt(y), [3.0, 3.0])
    np.testing.assert_array_equal(grads.wrt(x), [6.0, 12.0])


def test_only_held_handles_are_kept() -> None:
    rec: Any = ta.ComputationRecord()
    x = rec.tensor(np.ones(3))
    loss = np.sum(np.exp(np.sin(x)))
    assert [handle.index for handle in loss.grad()] == [0, 3]


def test_a_cotangent_that_nobody_holds_is_freed_during_the_sweep(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    alive: list[Any] = []
    most = 0

    class Counting:
        broadcasts = True

        def push(self, t: Any) -> Any:
            return t

        def pull(self, ct: Any) -> Any:
            nonlocal most
            contribution = ct + 0.0
            alive.append(weakref.ref(contribution))
            most = max(most, sum(each() is not None for each in alive))
            return contribution

    table: dict[Any, Any] = FAST_RULES
    monkeypatch.setitem(table, np.positive, (lambda out, x: Counting(),))
    rec: Any = ta.ComputationRecord()
    x = y = rec.tensor(np.ones(3))
    for _ in range(50):
        y = +y
    grads = y.grad(seed=np.ones(3))
    assert len(alive) == 50
    assert most <= 2
    assert sum(each() is not None for each in alive) == 1
    np.testing.assert_array_equal(grads.wrt(x), np.ones(3))


def test_a_handle_made_after_the_sweep_is_not_reached() -> None:
    rec: Any = ta.ComputationRecord()
    x = rec.tensor(2.0)
    grads = (x * x).grad()
    later = x * 3.0
    assert later not in grads
    assert grads.wrt(later) == 0.0


def test_a_handle_dropped_after_the_sweep_does_not_disturb_the_others() -> None:
    rec: Any = ta.ComputationRecord()
    x = rec.tensor(2.0)
    y = x * x
    grads = (y * 3.0).grad()
    del y
    gc.collect()
    assert grads.wrt(x) == 12.0


def test_gradients_keep_neither_the_record_nor_its_arrays_alive() -> None:
    rec: Any = ta.ComputationRecord()
    x = rec.tensor(np.ones(5))
    y = np.exp(x)
    grads = np.sum(y * y).grad()
    record, array = weakref.ref(rec), weakref.ref(y.data)
    del rec, x, y
    gc.collect()
    assert record() is None
    assert array() is None
    assert "3 handles" in repr(grads)


def test_gradients_outlive_the_record_for_handles_that_keep_it() -> None:
    x: Any = ta.ComputationRecord().tensor(3.0)
    grads = (x * x).grad()
    assert grads.wrt(x) == 6.0


def test_gradients_of_a_dead_record_do_not_answer_for_another() -> None:
    x: Any = ta.ComputationRecord().tensor(3.0)
    grads = (x * x).grad()
    del x
    gc.collect()
    stranger: Any = ta.ComputationRecord().tensor(3.0)
    with pytest.raises(RecordMismatchError, match="belongs to another record"):
        grads.wrt(stranger)


# Asking


def test_contains_tells_whether_the_result_depends_on_a_handle() -> None:
    rec: Any = ta.ComputationRecord()
    x, y = rec.tensor(2.0), rec.tensor(3.0)
    z = x * x
    unrelated = y * y
    grads = z.grad()
    assert x in grads
    assert z in grads
    assert y not in grads
    assert unrelated not in grads


def test_a_handle_with_a_zero_derivative_is_still_reached() -> None:
    rec: Any = ta.ComputationRecord()
    x = rec.tensor(2.0)
    grads = (x * 0.0).grad()
    assert x in grads
    assert grads.wrt(x) == 0.0


def test_an_integer_function_of_a_handle_is_not_reached() -> None:
    rec: Any = ta.ComputationRecord()
    x, y = rec.tensor(2.5), rec.tensor(1.0)
    grads = (y * np.floor(x)).grad()
    assert x not in grads
    assert grads.wrt(x) == 0.0
    assert grads.wrt(y) == 2.0


def test_a_tree_of_handles_gives_the_same_tree_of_arrays() -> None:
    rec: Any = ta.ComputationRecord()
    p = rec.bind({"layers": [(np.ones(2), None), (np.ones(3), "name")], "scale": 2.0})
    loss = p["scale"] * (np.sum(p["layers"][0][0]) + np.sum(p["layers"][1][0]))
    got = loss.grad().wrt(p)
    assert list(got) == ["layers", "scale"]
    np.testing.assert_array_equal(got["layers"][0][0], [2.0, 2.0])
    np.testing.assert_array_equal(got["layers"][1][0], [2.0, 2.0, 2.0])
    assert got["layers"][0][1] is None
    assert got["layers"][1][1] == "name"
    assert got["scale"] == 5.0


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        *((2.0, np.float64), (2, np.float64), (np.float64(2), np.float64)),
        *((np.float32(2), np.float32), (np.array(2.0), np.ndarray)),
    ],
)
def test_the_gradient_of_a_number_is_a_number(data: Any, kind: type) -> None:
    rec: Any = ta.ComputationRecord()
    x, unreached = rec.bind((data, data))
    grads = (x * x).grad()
    assert type(grads.wrt(x)) is type(grads.wrt(unreached)) is kind
    assert grads.wrt({"x": x, "none": unreached}) == {"x": 4.0, "none": 0.0}
    assert grads.wrt(x).shape == ()
    assert not grads.wrt(x).flags.writeable
    stacked = (x * x).grad(seed=np.ones(3)).wrt(x)
    np.testing.assert_array_equal(stacked, np.full(3, 4, stacked.dtype), strict=True)


def test_the_gradient_of_a_number_is_a_handle_where_a_record_encloses_its_own() -> None:
    outer: Any = ta.ComputationRecord()
    x = outer.tensor(2.0)
    inner: Any = ta.ComputationRecord(within=outer)
    y = inner.tensor(x)
    slope = (y**3).grad().wrt(y)
    assert type(slope) is ta.Tensor
    assert type(slope.grad().wrt(x)) is np.float64
    assert slope.grad().wrt(x) == 12.0


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x + 1.0,
        lambda x: x * 2.0,
        np.sum,
        lambda x: x + x,
        lambda x: x.T,
        lambda x: 0.0 * np.sum(x) + x[0],
    ],
)
def test_the_arrays_are_read_only(function: Callable[[Any], Any]) -> None:
    rec: Any = ta.ComputationRecord()
    x, unreached = rec.tensor(np.ones((2, 2))), rec.tensor(np.ones(2))
    y = function(x)
    grads = y.grad(seed=np.ones(y.shape))
    for array in grads.wrt([x, y, unreached]):
        with pytest.raises((ValueError, TypeError), match=r"read-only|item assignment"):
            array[...] = 0.0


def test_the_seed_stays_writeable_and_the_gradients_are_not_changed_by_writing_to_it() -> None:
    rec: Any = ta.ComputationRecord()
    x = rec.tensor(np.ones(2))
    seed = np.array([1.0, 2.0])
    y = x + 1.0
    grads = y.grad(seed=seed)
    seed[...] = 7.0
    np.testing.assert_array_equal(grads.wrt(x), [1.0, 2.0])
    np.testing.assert_array_equal(grads.wrt(y), [1.0, 2.0])


def test_any_handle_may_be_swept_any_number_of_times() -> None:
    rec: Any = ta.ComputationRecord()
    x = rec.tensor([1.0, 2.0])
    y = x * x
    loss = np.sum(y * x)
    first = loss.grad().wrt(x)
    of_y = y.grad(seed=np.ones(2)).wrt(x)
    of_x = x.grad(seed=np.ones(2)).wrt(x)
    np.testing.assert_array_equal(first, [3.0, 12.0])
    np.testing.assert_array_equal(of_y, [2.0, 4.0])
    np.testing.assert_array_equal(of_x, [1.0, 1.0])
    np.testing.assert_array_equal(loss.grad().wrt(x), first)
    assert loss not in y.grad(seed=np.ones(2))


def test_a_sweep_does_not_write_into_what_an_earlier_one_gave() -> None:
    rec: Any = ta.ComputationRecord()
    x = rec.tensor(np.ones(3))
    parts = [x + 1.0, x * 2.0, x - 3.0, +x]
    loss = np.sum(parts[0] + parts[1] + parts[2] + parts[3])
    first = loss.grad()
    before = [g.copy() for g in first.wrt([x, *parts])]
    loss.grad()
    np.testing.assert_array_equal(np.stack(first.wrt([x, *parts])), np.stack(before))
    np.testing.assert_array_equal(first.wrt(x), [5.0, 5.0, 5.0])
    np.testing.assert_array_equal(np.stack(first.wrt(parts)), np.ones((4, 3)))


# Asking wrongly


def test_a_handle_of_another_record_is_refused() -> None:
    rec, other = ta.ComputationRecord(), ta.ComputationRecord()
    x, y = rec.tensor(1.0), other.tensor(1.0)
    grads = (x * x).grad()
    with pytest.raises(RecordMismatchError, match=r"handle %0 belongs to another record than"):
        grads.wrt(y)
    with pytest.raises(RecordMismatchError, match=r"%0 \(at \['layers'\]\[1\]\) belongs to"):
        grads.wrt({"layers": [x, y]})
    with pytest.raises(RecordMismatchError, match="belongs to another record"):
        y in grads  # noqa: B015 - the question itself raises


@pytest.mark.parametrize("asked", [np.ones(2), np.float64(1.0)])
def test_an_array_instead_of_a_handle_is_refused(asked: Any) -> None:
    x: Any = ta.ComputationRecord().tensor(1.0)
    grads = (x * x).grad()
    with pytest.raises(TypeError, match=r"asked with a handle, got .*not the array"):
        grads.wrt(asked)
    with pytest.raises(TypeError, match=r"got .* \(at \['w'\]\)"):
        grads.wrt({"w": asked})
    with pytest.raises(TypeError, match="asked with a handle"):
        asked in grads  # noqa: B015 - the question itself raises


# Seeds


def test_a_seed_weighs_the_entries() -> None:
    rec: Any = ta.ComputationRecord()
    x = rec.tensor([1.0, 2.0, 3.0])
    gradient = (x * x).grad(seed=[1, 0, -1]).wrt(x)
    np.testing.assert_array_equal(gradient, [2.0, 0.0, -6.0], strict=True)


@pytest.mark.parametrize("stack", [(), (4,), (2, 3), (0,), (1, 1)])
def test_stacked_seeds_are_a_loop_over_seeds(stack: tuple[int, ...]) -> None:
    rng = np.random.default_rng(1)
    rec: Any = ta.ComputationRecord()
    a, b = rec.tensor(rng.normal(size=(3, 4))), rec.tensor(rng.normal(size=4))
    unreached = rec.tensor(np.ones((2, 2)))
    y = np.tanh(a @ b) + a[:, 0] * np.max(a) - np.mean(b * a, axis=1)
    seeds = rng.normal(size=(*stack, 3))
    got = y.grad(seed=seeds).wrt([a, b, unreached, y])
    assert [g.shape for g in got] == [(*stack, 3, 4), (*stack, 4), (*stack, 2, 2), (*stack, 3)]
    for place in np.ndindex(stack):
        one = y.grad(seed=seeds[place]).wrt([a, b, unreached, y])
        for stacked, single in zip(got, one, strict=True):
            np.testing.assert_allclose(stacked[place], single, rtol=1e-13, atol=1e-15)


def test_the_identity_as_seed_gives_the_jacobian() -> None:
    rng = np.random.default_rng(2)
    a = rng.normal(size=(3, 4))
    rec: Any = ta.ComputationRecord()
    x = rec.tensor(rng.normal(size=4))
    y = np.sin(a @ x)
    jacobian = y.grad(seed=np.eye(3)).wrt(x)
    np.testing.assert_allclose(jacobian, np.cos(a @ x.data)[:, None] * a, rtol=1e-14)


def test_a_stack_of_seeds_for_a_scalar() -> None:
    rec: Any = ta.ComputationRecord()
    x = rec.tensor([1.0, 2.0])
    gradient = np.sum(x * x).grad(seed=[1.0, 10.0, 100.0]).wrt(x)
    np.testing.assert_array_equal(gradient, np.outer([1.0, 10.0, 100.0], [2.0, 4.0]))


@pytest.mark.parametrize("shape", [(3,), (2, 1), (2, 4), (3, 2), ()])
def test_a_seed_of_a_wrong_shape(shape: tuple[int, ...]) -> None:
    x: Any = ta.ComputationRecord().tensor(np.ones((3, 4)))
    with pytest.raises(SeedError, match=r"the seed has shape .*it must be \(3, 4\)"):
        x.grad(seed=np.ones(shape))


def test_grad_of_a_non_scalar_needs_a_seed() -> None:
    x: Any = ta.ComputationRecord().tensor(np.ones((3, 4)))
    with pytest.raises(SeedError, match=r"of shape \(3, 4\) needs a seed.*np\.sum\(t\)\.grad\(\)"):
        x.grad()


def test_grad_of_one_element_with_an_axis_needs_a_seed() -> None:
    x: Any = ta.ComputationRecord().tensor([1.0])
    with pytest.raises(SeedError, match=r"of shape \(1,\) needs a seed"):
        x.grad()


def test_a_complex_seed_for_a_real_handle() -> None:
    x: Any = ta.ComputationRecord().tensor(1.0)
    with pytest.raises(SeedError, match=r"seed has dtype complex128, which does not fit float64"):
        x.grad(seed=1j)


@pytest.mark.parametrize("seed", ["a", None, np.array("2020", "M8[D]"), object()])
def test_a_seed_that_is_no_number(seed: Any) -> None:
    x: Any = ta.ComputationRecord().tensor(1.0)
    with pytest.raises(SeedError, match=r"seed has dtype .* does not fit"):
        x.grad(seed=np.array(seed))


def test_a_seed_of_an_unrelated_record() -> None:
    x, seed = ta.ComputationRecord().tensor(1.0), ta.ComputationRecord().tensor(1.0)
    with pytest.raises(RecordMismatchError, match="a seed may be a handle only of a record that"):
        x.grad(seed=seed)


def test_a_seed_of_the_same_record() -> None:
    rec: Any = ta.ComputationRecord()
    x, seed = rec.tensor(1.0), rec.tensor(1.0)
    with pytest.raises(RecordMismatchError, match=r"pass seed\.data"):
        x.grad(seed=seed)


@pytest.mark.parametrize("asked", [3.0, {"w": 0.5}, "w", None, [1, 2]])
def test_asking_with_what_is_no_handle(asked: Any) -> None:
    rec: Any = ta.ComputationRecord()
    x = rec.tensor(2.0)
    with pytest.raises(TypeError, match="gradients are asked with a handle"):
        (x * x).grad().wrt(asked)


def test_a_constant_with_a_record_of_its_own_stays_as_it_is() -> None:
    class Run:
        record = "the first"

    run = Run()
    x = ta.ComputationRecord().tensor(2.0)
    assert (x * x).grad().wrt({"x": x, "run": run}) == {"x": 4.0, "run": run}


@pytest.mark.parametrize("infinite", [np.inf, complex(np.inf, 0), complex(0, -np.inf)])
@pytest.mark.parametrize("rows", [50, 200])
def test_an_infinite_cotangent_is_summed_as_it_is(infinite: complex, rows: int) -> None:
    kind: Any = np.result_type(type(infinite))
    x = ta.ComputationRecord().tensor(np.ones(100, kind))
    seed = np.ones((rows, 100), kind)
    seed[3, 4] = infinite
    gradient = (x + np.zeros((rows, 100))).grad(seed).wrt(x)
    np.testing.assert_array_equal(gradient, np.add.reduce(seed, axis=0))
