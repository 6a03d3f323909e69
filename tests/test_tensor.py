"""Handles as containers, numbers and text, and as arguments of NumPy's functions."""

import copy
import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad.errors import TapeError

X = np.array([[0.5, -1.5, 2.0], [3.0, 0.25, -0.75]])
Y = np.array([[1.5, 2.0, 0.5], [-1.0, 3.0, 2.0]])


def handle(data: Any = X) -> Any:
    return ta.ComputationRecord().tensor(data)


def check(got: Any, expected: Any) -> None:
    """Compare values, shapes and dtypes, of handles or of plain data."""
    value = got.data if isinstance(got, ta.Tensor) else got
    np.testing.assert_array_equal(value, expected)
    assert np.shape(value) == np.shape(expected)
    assert np.asarray(value).dtype == np.asarray(expected).dtype


# Containers and iteration


def test_iteration_unpacks_into_handles() -> None:
    x = handle([1.0, 2.0, 3.0])
    a, b, c = x
    np.testing.assert_array_equal((a * b * c).grad().wrt(x), [6.0, 3.0, 2.0])


def test_pythons_own_functions() -> None:
    x = handle([3.0, 1.0, 2.0])
    assert sum(x).item() == 6.0
    assert max(x).item() == 3.0
    assert min(x).item() == 1.0
    assert [h.item() for h in sorted(x)] == [1.0, 2.0, 3.0]
    np.testing.assert_array_equal(max(x).grad().wrt(x), [1.0, 0.0, 0.0])


def test_scalars_have_no_length() -> None:
    with pytest.raises(TypeError, match=r"len\(\) of a handle with no axes"):
        len(handle(1.0))
    with pytest.raises(TypeError, match="iteration over a handle with no axes"):
        iter(handle(1.0))


def test_an_empty_handle_iterates_over_nothing() -> None:
    assert list(handle(np.zeros((0, 3)))) == []


def test_handles_are_not_hashable() -> None:
    with pytest.raises(TypeError, match="unhashable"):
        hash(handle())


# Reading the primal on purpose


def test_numbers() -> None:
    assert float(handle(2.5)) == 2.5
    assert int(handle(2.5)) == 2
    assert complex(handle(1 + 2j)) == 1 + 2j
    assert complex(handle(2.5)) == 2.5
    assert type(handle(2.5).item()) is float
    assert type(handle(np.float32(2.5)).item()) is float
    assert float(handle([[2.5]])) == 2.5
    assert math.sqrt(handle(4.0)) == 2.0
    assert handle([1.0, 2.0]).tolist() == [1.0, 2.0]


def test_a_complex_handle_is_no_float() -> None:
    with pytest.raises(TypeError):
        float(handle(1j))


def test_a_handle_of_several_elements_is_no_number() -> None:
    for convert in (float, int, complex):
        with pytest.raises(ValueError, match="size 1"):
            convert(handle())


def test_truth() -> None:
    assert handle(2.0)
    assert not handle(0.0)
    assert handle([[3.0]])


def test_rounding() -> None:
    assert round(handle(2.567), 1) == 2.6
    np.testing.assert_array_equal(round(handle([1.4, 1.6])), [1.0, 2.0])
    assert math.floor(handle(2.5)) == 2


def test_formatting() -> None:
    x = handle(2.0)
    assert f"{x:.3f}" == "2.000"
    assert f"{x}" == str(x) == repr(x) == "Tensor(%0, float64[], 2.)"
    assert f"{x:e}" == "2.000000e+00"


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (1.0, "Tensor(%0, float64[], 1.)"),
        ([1, 2], "Tensor(%0, float64[2], [1. 2.])"),
        (np.zeros((0, 3)), "Tensor(%0, float64[0, 3], [])"),
        (np.array([1 / 3], "f4"), "Tensor(%0, float32[1], [0.333333])"),
        ([1j], "Tensor(%0, complex128[1], [0.+1.j])"),
        (np.arange(1000.0), "Tensor(%0, float64[1000], [ 0. 1. ... 998. 999.])"),
        (
            np.eye(100),
            "Tensor(%0, float64[100, 100], "
            "[[1. 0. ... 0. 0.] [0. 1. ... 0. 0.] ... [0. 0. ... 1. 0.] [0. 0. ... 0. 1.]])",
        ),
    ],
)
def test_repr_summarises(data: Any, text: str) -> None:
    assert repr(handle(data)) == text


def test_repr_names_the_node() -> None:
    x = handle([1.0, 2.0])
    assert repr(np.sum(x * 2)) == "Tensor(%2, float64[], 6.)"


def test_pythons_copies_are_the_handle_itself() -> None:
    x = handle()
    assert copy.copy(x) is x
    assert copy.deepcopy(x) is x
    assert copy.deepcopy({"a": [x]})["a"][0] is x


# NumPy's calls


@pytest.mark.parametrize(
    "call",
    [
        lambda x: np.add(x, 1, dtype=np.float32),
        lambda x: np.add(x, 1, dtype="f4", casting="same_kind"),
        lambda x: np.multiply(x, x, dtype=complex),
        lambda x: np.exp(x, dtype=np.longdouble),
        lambda x: np.exp(x, order="F"),
        lambda x: np.exp(x, out=None),
        lambda x: np.exp(x, where=True),
    ],
)
def test_options_of_a_ufunc(call: Callable[[Any], Any]) -> None:
    y = call(handle())
    assert isinstance(y, ta.Tensor)
    check(y, call(X))


def test_a_square_root_in_complex_numbers() -> None:
    x = handle([-4.0, 4.0])
    y = np.sqrt(x, dtype=complex)
    check(y, np.sqrt(x.data, dtype=complex))
    np.testing.assert_allclose(y.grad(seed=np.array([1j, 1.0])).wrt(x), [-0.25, 0.25], rtol=1e-15)


def test_casting_is_numpys() -> None:
    with pytest.raises(TypeError, match="casting rule"):
        np.add(handle(), 1, dtype=np.int64)
    with pytest.raises(TypeError, match="casting rule"):
        np.add(handle(), 1, dtype=np.float32, casting="no")


def test_a_ufunc_reduction() -> None:
    x = handle()
    check(np.add.reduce(x), np.add.reduce(X))
    check(np.add.reduce(x, axis=None), np.add.reduce(X, axis=None))
    check(np.multiply.reduce(x, axis=1, keepdims=True), np.multiply.reduce(X, 1, keepdims=True))
    check(np.maximum.reduce(x, 1), np.maximum.reduce(X, 1))
    np.testing.assert_array_equal(np.add.reduce(x).grad(seed=[1, 2, 3]).wrt(x), [[1, 2, 3]] * 2)


def test_plain_arrays_meet_handles_from_the_left() -> None:
    x = handle()
    for got, expected in [
        (Y + x, Y + X),
        (Y @ x.T, Y @ X.T),
        (np.float32(2) * x, np.float32(2) * X),
        (np.arange(3) / x, np.arange(3) / X),
    ]:
        assert isinstance(got, ta.Tensor)
        check(got, expected)


def test_ours_and_numpys_spelling_give_the_same_node() -> None:
    rec: Any = ta.ComputationRecord()
    x = rec.tensor(X)
    x.sum(axis=0)
    np.sum(x, axis=0)
    np.sum(a=x, axis=0)
    assert {str(node)[4:] for node in list(rec)[1:]} == {"float64[3] = sum %0"}


@pytest.mark.parametrize(
    "call",
    [
        lambda t: np.sum(a=t),
        lambda t: np.sum(t, -1, None, None, False),
        lambda t: np.mean(t, axis=(0,), dtype=None, out=None),
        lambda t: np.clip(t, a_min=-1, a_max=1),
        lambda t: np.clip(a=t, min=-1, max=1),
        lambda t: np.clip(t, None, 1),
        lambda t: np.concatenate((t, X)),
        lambda t: np.concatenate([t, X.tolist()], axis=None),
        lambda t: np.stack([X, t, t], axis=-1),
        lambda t: np.where(X > 0, t, 0),
        lambda t: np.where((X > 0).tolist(), t, X.tolist()),
        lambda t: np.transpose(a=t, axes=(1, 0)),
        lambda t: np.expand_dims(t, (0, -1)),
        lambda t: np.squeeze(t[None]),
        lambda t: np.moveaxis(t, 0, -1),
        lambda t: np.moveaxis(t, [0, 1], [1, 0]),
        lambda t: np.broadcast_to(t, (4, 2, 3)),
        lambda t: np.dot(t, Y.T),
        lambda t: np.dot(t, 2),
        lambda t: np.dot(Y.T.tolist(), t),
        lambda t: np.inner(t, Y),
        lambda t: np.inner([1, 2, 3], t),
        lambda t: np.outer([1, 2], t),
        lambda t: np.tensordot(t, Y.tolist(), axes=2),
        lambda t: np.einsum("ij,kj", t, Y),
        lambda t: np.einsum(t, [0, 1], [1, 0]),
        lambda t: np.std(t, ddof=1, axis=1),
        lambda t: np.reshape(t, (3, 2), order="F"),
        lambda t: np.ravel(t, order="F"),
        lambda t: np.real(t * 1j),
        lambda t: np.astype(t, np.float32),
        lambda t: np.hypot(3, t),
        lambda t: np.power(2, t),
    ],
)
def test_calls_are_spelled_as_numpy_has_them(call: Callable[[Any], Any]) -> None:
    got = call(handle())
    assert isinstance(got, ta.Tensor)
    check(got, call(X))


@pytest.mark.parametrize(
    "call",
    [
        np.where,
        np.shape,
        np.ndim,
        np.size,
        np.result_type,
        np.iscomplexobj,
        np.argmax,
        np.isnan,
        np.floor,
        np.sign,
        np.count_nonzero,
        lambda t: np.any(t > 0, axis=0),
        lambda t: np.array_equal(t, X),
        lambda t: np.allclose(X, t),
        lambda t: np.isclose(t, X + 1e-12),
        lambda t: np.where(t, 1.0, 2.0),
        lambda t: np.round(t, decimals=1),
        lambda t: np.logical_and(t, t > 0),
        lambda t: X[t > 0],
    ],
)
def test_piecewise_constant_functions_give_plain_data(call: Callable[[Any], Any]) -> None:
    x = handle()
    got, expected = call(x), call(X)
    assert type(got) is type(expected)
    np.testing.assert_array_equal(got, expected)
    assert len(x.record) == 1


def test_piecewise_constant_functions_do_not_write_to_handles_either() -> None:
    data = X.copy()
    x = handle(data)
    with pytest.raises((TapeError, ValueError), match="out"):
        np.round(Y, 0, x)
    with pytest.raises(TapeError, match="out"):
        np.floor(Y, x)
    np.testing.assert_array_equal(data, X)


# Assignment makes a new node, and lets the handle stand for it


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
    check(out, run(X, Y))
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
    check(out, run(X))
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
        lambda a: np.reshape(a, (3, 2), copy=True),
        lambda a: np.clip(a, None, None),
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
