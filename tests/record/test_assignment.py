"""Assignment to parts of a handle: it makes a new node, and lets the handle stand for it."""

import copy
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad.testing import check_grads
from tests.shorthand import X, Y, handle

SINCE_NUMPY_2_1 = pytest.mark.skipif(
    np.lib.NumpyVersion(np.__version__) < "2.1.0", reason="NumPy 2.0 wants a bound"
)


def test_assignment_writes_to_no_array_and_changes_no_other_handle() -> None:
    x = handle([1.0, 2.0, 3.0])
    y = x * 2.0
    array = y.data
    z = y + 1.0
    y[0] = 10.0
    np.testing.assert_array_equal(y.data, [10.0, 4.0, 6.0])
    np.testing.assert_array_equal(array, [2.0, 4.0, 6.0])
    np.testing.assert_array_equal(z.data, [3.0, 5.0, 7.0])
    np.testing.assert_array_equal(z.grad(seed=np.ones(3)).wrt(x), [2.0, 2.0, 2.0])
    np.testing.assert_array_equal(y.grad(seed=np.ones(3)).wrt(x), [0.0, 2.0, 2.0])


ASSIGNMENTS: dict[str, Callable[[Any, Any], None]] = {
    "element": lambda a, v: operator.setitem(a, (0, 1), v[0, 0]),
    "row": lambda a, v: operator.setitem(a, 1, v[0]),
    "column from the end": lambda a, v: operator.setitem(a, (slice(None), -1), v[:, 0]),
    "everything": lambda a, v: operator.setitem(a, ..., v),
    "broadcast": lambda a, v: operator.setitem(a, slice(None), v[0]),
    "number": lambda a, v: operator.setitem(a, (slice(None), 1), 5),
    "negative step": lambda a, v: operator.setitem(a, (0, slice(None, None, -1)), v[1]),
    "mask": lambda a, v: operator.setitem(a, X > 0.3, v[0, 0]),
    "mask of a comparison": lambda a, v: operator.setitem(a, a > 0.3, 0.0),
    "integer array": lambda a, v: operator.setitem(a, (slice(None), [2, 0]), v[:, :2]),
    "repeated": lambda a, v: operator.setitem(a, ([0, 1, 0], [1, 1, 1]), v[0]),
    "ellipsis": lambda a, v: operator.setitem(a, (..., 1), v[:, 0]),
    "ellipsis and an array": lambda a, v: operator.setitem(a, (..., 1, 1), v[0, :1]),
    "NumPy's integers": lambda a, v: operator.setitem(a, (np.int64(1), np.uint8(2)), v[0, 0]),
    "plain array": lambda a, v: operator.setitem(a, 0, Y[1]),
}


@pytest.mark.parametrize("name", ASSIGNMENTS)
def test_assignment_is_numpys_and_is_differentiated(name: str) -> None:
    def run(x: Any, y: Any) -> Any:
        a = np.sin(x)
        ASSIGNMENTS[name](a, y * y)
        return a * np.arange(1, 7).reshape(2, 3)

    rec: Any = ta.ComputationRecord()
    x, y = rec.tensor(X), rec.tensor(Y)
    out = run(x, y)
    np.testing.assert_array_equal(out.data, run(X, Y), strict=True)
    grads = out.grad(seed=np.ones(X.shape))
    rng, h = np.random.default_rng(2), 1e-6
    dx, dy = rng.normal(size=X.shape), rng.normal(size=Y.shape)
    slope = np.sum(run(X + h * dx, Y + h * dy) - run(X - h * dx, Y - h * dy)) / (2 * h)
    got = np.sum(grads.wrt(x) * dx) + np.sum(grads.wrt(y) * dy)
    np.testing.assert_allclose(got, slope, rtol=1e-7, atol=1e-7)


def test_augmented_assignment_to_a_part() -> None:
    x = handle([1.0, 2.0, 3.0])
    y = x * 1.0
    y[0] += x[2]
    y[1:] *= 3.0
    np.testing.assert_array_equal(y.data, [4.0, 6.0, 9.0])
    np.testing.assert_array_equal(y.grad(seed=np.ones(3)).wrt(x), [1.0, 3.0, 4.0])


def test_assignment_keeps_the_dtype() -> None:
    y = handle(np.ones(2, np.float32)) * 2
    y[0] = np.float64(1 / 3)
    assert y.dtype == np.float32


@pytest.mark.parametrize("make", [np.zeros_like, np.ones_like, np.empty_like])
def test_arrays_like_a_handle_are_there_to_be_filled(make: Callable[[Any], Any]) -> None:
    x = handle([1.0, 2.0])
    filled = make(x)
    filled[0], filled[1] = x[1], x[0] * x[1]
    np.testing.assert_array_equal(filled.grad(seed=np.eye(2)).wrt(x), [[0.0, 1.0], [2.0, 1.0]])


def test_constants_to_be_filled() -> None:
    rec: Any = ta.ComputationRecord()
    x = rec.tensor(2.0)
    powers = rec.constant(np.ones(4))
    for i in range(1, 4):
        powers[i] = powers[i - 1] * x
    np.testing.assert_array_equal(powers.data, [1.0, 2.0, 4.0, 8.0])
    np.testing.assert_array_equal(powers.grad(seed=np.eye(4)).wrt(x), [0.0, 1.0, 4.0, 12.0])


@pytest.mark.parametrize(
    "make",
    [
        lambda x: np.concatenate([x, x]),
        lambda x: np.stack([x, x]),
        lambda x: np.where(X > 0, x, 0.0),
        lambda x: np.outer(x, x),
        lambda x: x.copy(),
        lambda x: x[[0, 1]],
        lambda x: x.sum(axis=0),
        lambda x: np.einsum("ij,ij->j", x, x),
    ],
)
def test_a_result_with_memory_of_its_own_may_be_assigned_to(make: Callable[[Any], Any]) -> None:
    y = make(handle())
    y[0] = 7.0
    assert np.all(y.data[0] == 7.0)


def test_a_view_follows_the_array_that_is_assigned_to() -> None:
    def run(x: Any) -> Any:
        a = x * 1.0
        row, turned, far = a[1], a.T, a.reshape(3, 2)[1:][0]
        a[1, :2] = x[0, :2] * 10.0
        return np.concatenate([row, turned.ravel(), far])

    x = handle()
    out = run(x)
    np.testing.assert_array_equal(out.data, run(X), strict=True)
    seed = np.arange(1.0, out.size + 1)
    h = 1e-6
    slopes = [
        np.sum(seed * (run(X + h * e) - run(X - h * e))) / (2 * h)
        for e in np.eye(6).reshape(6, 2, 3)
    ]
    np.testing.assert_allclose(out.grad(seed=seed).wrt(x).ravel(), slopes, rtol=1e-8)


def test_rows_are_moved_within_an_array() -> None:
    x = handle()
    a = x * 1.0
    a[0] = a[1]
    a[:, 1:] = a[:, :-1]
    expected = X.copy()
    expected[0] = expected[1]
    expected[:, 1:] = expected[:, :-1]
    np.testing.assert_array_equal(a.data, expected)
    np.testing.assert_array_equal(
        a.grad(seed=np.ones((2, 3))).wrt(x), [[0.0, 0.0, 0.0], [4.0, 2.0, 0.0]]
    )


@pytest.mark.parametrize(
    "view", [np.diag, lambda a: np.lib.stride_tricks.sliding_window_view(a[:, 0], 2)[0]]
)
def test_a_view_by_arrays_is_assigned_to_a_part(view: Callable[[Any], Any]) -> None:
    def run(x: Any) -> Any:
        a = x * 1.0
        a[0] = view(a)
        a[:, 1] = view(a)
        return a * a

    x = X[:, :2]
    np.testing.assert_array_equal(run(handle(x)).data, run(x))
    check_grads(run, (x,))


@pytest.mark.parametrize("more", [(1,), (1, 1)])
def test_a_view_of_no_axes_takes_an_array_of_one_element(more: Any) -> None:
    def run(x: Any) -> Any:
        a = x * 1.0
        a[0, -1, ...][...] = np.reshape(x[1, 1] ** 2, more)
        return a

    for x in (X, X + 1j):
        np.testing.assert_array_equal(run(handle(x)).data, run(x))
        check_grads(run, (x,))


def test_an_alias_follows_the_array_that_is_assigned_to_and_each_keeps_its_gradient() -> None:
    x = handle([1.0, 2.0])
    a = x * 1.0
    alias = np.real(a)
    a[0] = 5.0 * x[1]
    np.testing.assert_array_equal(alias.data, [10.0, 2.0])
    out = np.sum(a * 3.0)
    del alias
    grads = out.grad()
    np.testing.assert_array_equal(grads.wrt(a), [3.0, 3.0])
    np.testing.assert_array_equal(grads.wrt(x), [0.0, 18.0])


@pytest.mark.parametrize(
    "view",
    [
        np.diagonal,
        np.linalg.diagonal,
        lambda a: a[1, 1, ...],
        lambda a: np.diagonal(a.T)[::-1],
        lambda a: a.ravel()[1:],
    ],
    ids=["diagonal", "linalg.diagonal", "element", "turned diagonal", "flat"],
)
def test_a_view_follows_every_assignment(view: Callable[[Any], Any]) -> None:
    x, plain = handle(np.eye(3)), np.eye(3)
    a = x * 1.0
    seen, expected = view(a), view(plain)
    for array in (a, plain):
        array[1, 1] = 50.0
        array[1] = array[1] * 2
        array[0, 0] = 1000.0
    np.testing.assert_array_equal(seen.data, expected)
    np.testing.assert_array_equal(view(a).data, expected)


@pytest.mark.parametrize(
    "copied",
    [
        lambda a: a.flatten(),
        lambda a: a.reshape((3, 2), copy=True),
        pytest.param(lambda a: np.clip(a, None, None), marks=SINCE_NUMPY_2_1),
    ],
    ids=["flatten", "reshape", "clip"],
)
def test_a_copy_stays_as_it_is(copied: Callable[[Any], Any]) -> None:
    a = handle() * 1.0
    copy = copied(a)
    value = copy.data.copy()
    a[0] = 9.0
    np.testing.assert_array_equal(copy.data, value)
    copy[0] = 3.0
    np.testing.assert_array_equal(a.data[0], 9.0)


def test_a_value_with_more_axes_than_its_place() -> None:
    x = handle([1.0, 2.0, 3.0])
    a = x * np.ones((2, 3))
    a[0] = x[None] * 2.0
    np.testing.assert_array_equal(a.sum().grad().wrt(x), [3.0, 3.0, 3.0])


@pytest.mark.parametrize("part", ["real", "imag"])
def test_real_and_imaginary_parts_are_assigned_to(part: str) -> None:
    z = handle(np.array([1.0 + 2.0j, 3.0 - 1.0j]))
    a, plain = z * 1.0, z.data * 1.0
    for array in (a, plain):
        setattr(array, part, getattr(array, part)[::-1] * 3.0)
    np.testing.assert_array_equal(a.data, plain)


def test_of_a_complex_value_a_real_part_takes_the_real_part() -> None:
    def assigned(z: Any) -> Any:
        a = z * 1.0
        a.real[...] = 2.0j * z
        return a

    z, t = np.array([1.0 + 2.0j]), np.array([0.5 - 0.25j])
    with pytest.warns(np.exceptions.ComplexWarning):
        _, pushed = ta.jvp(assigned, (z,), (t,))
    np.testing.assert_array_equal(pushed, [0.5 - 0.25j])


@pytest.mark.parametrize(
    "view",
    [
        lambda a: np.broadcast_to(a, (2, 2, 3))[:, None],
        lambda a: np.meshgrid(a[0], a[1], copy=False)[1],
        lambda a: np.broadcast_arrays(a[:, :1], a)[0],
    ],
    ids=["broadcast_to", "meshgrid", "broadcast_arrays"],
)
def test_a_view_that_repeats_elements_follows(view: Callable[[Any], Any]) -> None:
    x = handle()
    a = x * 1.0
    seen = view(a)
    a *= 2.0
    np.testing.assert_array_equal(seen.data, view(2.0 * X))
    found = seen.grad(seed=np.ones(seen.shape)).wrt(x)
    np.testing.assert_array_equal(found, view(x).sum().grad().wrt(x) * 2.0)


def test_a_number_from_a_checkpoint_is_no_array() -> None:
    x = handle(2.0)
    square = ta.checkpoint(lambda a: (a * a, a))(x)[0]
    same = square[...]
    same[...] = 1.0
    assert square.item() == 4.0


def test_views_that_a_checkpoint_gave_follow_twice() -> None:
    rows = ta.checkpoint(lambda a: (a[::-1], a[0]))
    a, plain = handle() * 1.0, X * 1.0
    (turned, first), (expected, last) = rows(a), rows(plain)
    for array in (turned, expected):
        array[0] = 5.0
        array[1] *= 2.0
    np.testing.assert_array_equal(turned.data, expected)
    np.testing.assert_array_equal(first.data, last)


@pytest.mark.parametrize(
    "make",
    [
        copy.copy,
        copy.deepcopy,
        lambda a: np.sort(a, axis=0),
        lambda a: ta.checkpoint(lambda b: (b * 2.0, b * 3.0))(a)[1],
    ],
    ids=["copy", "deepcopy", "sort", "checkpoint"],
)
def test_a_result_keeps_numpys_order_in_memory_on_which_views_depend(
    make: Callable[[Any], Any],
) -> None:
    turned = np.asfortranarray(X)
    made, expected = make(handle(turned) * 1.0), make(turned * 1.0)
    flat, raveled = made.ravel("F"), expected.ravel("F")
    made *= 2.0
    expected *= 2.0
    np.testing.assert_array_equal(flat.data, raveled)


FILLS: dict[str, Callable[[Any, int, Any], None]] = {
    "integer": operator.setitem,
    "NumPy's integer": lambda a, i, v: operator.setitem(a, np.int64(i), v),
    "ellipsis": lambda a, i, v: operator.setitem(a, (..., i), v),
    "list": lambda a, i, v: operator.setitem(a, [i], v),
    "turned view": lambda a, i, v: operator.setitem(a[::-1], i, v),
}


@pytest.mark.parametrize("name", FILLS)
def test_an_array_filled_one_by_one_keeps_a_number_of_bytes_for_each_element(name: str) -> None:
    count = 200
    x = handle(np.arange(float(count)))
    filled = np.zeros_like(x)
    for i in range(count):
        FILLS[name](filled, i, 2 * x[i])
    assert x.record.nbytes <= 64 * count
    seed = np.arange(3.0 * count).reshape(3, count)
    grads = (filled * filled).grad(seed).wrt(x)
    turned = name == "turned view"
    expected = 8 * x.data * (seed[:, ::-1] if turned else seed)
    np.testing.assert_array_equal(grads, expected)


def test_what_is_written_over_in_few_places_holds_to_second_order() -> None:
    def f(x: Any) -> Any:
        a = x**3
        a[[1]] = np.log(x[0])
        a[::-1][:1] = x[2] ** 2
        return np.sum(a * a)

    x = np.linspace(0.5, 1.5, 40)
    check_grads(f, (x,), order=2)
    jacobian = ta.jacobian(ta.grad(f), mode="forward")(x)
    np.testing.assert_allclose(jacobian, ta.hessian(f)(x), rtol=1e-13)


WIDER = (*(np.sum, np.mean, np.var, np.std, np.ptp, np.median, np.nanmedian, np.nanvar, np.cumsum),)


@pytest.mark.parametrize("function", WIDER)
def test_a_wider_output_has_numpys_bits(function: Any) -> None:
    a = np.random.default_rng(0).normal(size=(6, 4)).astype(np.float32)
    shape = a.shape if function is np.cumsum else a.shape[1:]
    plain = function(a, axis=0, out=np.zeros(shape))
    rec = ta.ComputationRecord()
    x, out = rec.tensor(a), rec.constant(np.zeros(shape))
    function(x, axis=0, out=out)
    np.testing.assert_array_equal(out.data, plain)
    by_value = ta.grad(lambda x: np.sum(function(x, axis=0, out=None)))(a)
    np.testing.assert_allclose(out.grad(np.ones(shape)).wrt(x), by_value, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize(
    ("pick", "key"),
    [
        (lambda x, key: x[key], np.array([1, 2, 2])),
        (lambda x, key: x[key], np.array([True, False, True])),
        (lambda x, key: np.take_along_axis(x, key, 0), np.array([1, 2, 2])),
        (lambda x, key: np.sum(x, where=key), np.array([True, False, True])),
    ],
)
def test_an_index_may_be_written_to_after_its_use(pick: Any, key: Any) -> None:
    def loss(x: Any, key: Any) -> Any:
        key = key.copy()
        picked = pick(x, key)
        key[...] = 0
        return np.sum(picked * picked)

    x, seeds = np.array([2.0, 3.0, 5.0]), np.zeros(3)
    picked = 2 * pick(x, key)
    np.add.at(seeds, key if picked.shape else np.flatnonzero(key), picked)
    for gradient in (ta.grad(loss), ta.compile(ta.grad(loss))):
        np.testing.assert_array_equal(gradient(x, key), seeds)
