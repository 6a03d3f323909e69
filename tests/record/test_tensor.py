"""Handles as containers, numbers and text, and as arguments of NumPy's functions."""

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad.errors import TapeError, TieWarning
from tests.shorthand import X, Y, handle

NUMPY = np.lib.NumpyVersion(np.__version__)


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
    assert handle(2.5).item() == 2.5
    assert handle(1 + 2j).item() == 1 + 2j
    assert type(handle(2.5).item()) is float
    assert type(handle(np.float32(2.5)).item()) is float
    assert handle([[2.5]]).item() == 2.5
    assert handle([1.0, 2.0]).tolist() == [1.0, 2.0]


def test_truth() -> None:
    assert handle(2.0)
    with pytest.warns(TieWarning, match="exactly equal"):
        truth = bool(handle(0.0))
    assert not truth
    assert handle([[3.0]])


def test_rounding() -> None:
    assert round(handle(2.567), 1) == 2.6
    np.testing.assert_array_equal(round(handle([1.4, 1.6])), [1.0, 2.0])


def test_formatting() -> None:
    x = handle(2.0)
    assert f"{x:.3f}" == "2.000"
    assert f"{x}" == str(x) == repr(x) == "Tensor(%0, float64[], 2.)"
    assert f"{x:e}" == "2.000000e+00"
    assert "%.1f" % x == "2.0"  # noqa: UP031 - the old way to format is what is tested
    text = "%d"
    text %= x
    assert text == "2"


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


@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda x: copy.deepcopy({"a": [x]})["a"][0]]
)
def test_pythons_copies_are_copies(copied: Callable[[Any], Any]) -> None:
    x = handle([1.0, 2.0]) * 1.0
    y = copied(x)
    y[0] = 7.0
    np.testing.assert_array_equal(x.data, [1.0, 2.0])
    np.testing.assert_array_equal(np.sum(y * y).grad().wrt(x), [0.0, 4.0])


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
    calls = ["sum %0, axis=0", "sum %0, axis=0", "sum a=%0, axis=0"]
    assert [str(node)[4:] for node in list(rec)[1:]] == [f"float64[3] = {call}" for call in calls]


@pytest.mark.parametrize(
    "call",
    [
        lambda t: np.sum(a=t),
        lambda t: np.sum(t, -1, None, None, False),
        lambda t: np.mean(t, axis=(0,), dtype=None, out=None),
        lambda t: np.clip(t, a_min=-1, a_max=1),
        pytest.param(
            lambda t: np.clip(a=t, min=-1, max=1),
            marks=pytest.mark.skipif(NUMPY < "2.1.0", reason="new names in NumPy 2.1"),
        ),
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
        lambda t: t.clip(-1, 1, out=None),
        lambda t: t.clip(max=1, out=None),
        lambda t: t.dot(Y.T, None),
        lambda t: t.transpose(np.array([1, 0])),
        lambda t: t.transpose(None),
        lambda t: t[0].transpose(0),
        lambda t: t.astype(np.float32, "C", "same_kind", True, False),
        lambda t: t.astype(np.complex128, casting="safe", copy=True),
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
        lambda t: t.round(1, None),
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
    with pytest.raises(TapeError, match="a leaf stands for"):
        np.floor(Y, x)
    np.testing.assert_array_equal(data, X)
