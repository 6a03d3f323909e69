"""Special cases of indexing by functions, and what writes to its argument."""

from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad.errors import ConversionError, InPlaceError, NoRuleError, UnsupportedArgumentError
from tape_ad.rules.maps import FEW, Index, scatter
from tape_ad.rules.maps.memory import places
from tests.shorthand import handle


def gradient(result: Any, handle: Any) -> Any:
    return np.sum(result).grad().wrt(handle)


APART = (np.array([[0], [1]]), slice(1, None), np.array([3, -1, 0]))
KEYS: dict[str, tuple[Any, ...]] = {
    "one": (np.array([0, 1, 0]), slice(None), slice(None)),
    "negative": (slice(None), np.array([-1, 1, 2]), slice(None, None, -2)),
    "apart": APART,
    "behind": (slice(None), np.array([0, 0]), np.array([1, 1])),
    "integer": (slice(None), 1, np.array([3, 3, 2])),
    "new axis": (np.array([1, 1]), None, slice(None), slice(2)),
    "mask": (np.array([True, False]), np.array([1, 1]), slice(None)),
    "mask of two": (np.eye(2, 3, dtype=bool), np.array([1, 3])),
    "unsigned": (np.array([1, 0, 1], np.uint8), slice(None), slice(None)),
}


@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS.keys())
@pytest.mark.parametrize("stack", [(), (2,)], ids=["alone", "stacked"])
def test_places_are_where_numpy_picks(key: tuple[Any, ...], stack: tuple[int, ...]) -> None:
    shape = (*stack, 2, 3, 4)
    whole = (slice(None),) * len(stack) + key
    expected = np.arange(np.prod(shape)).reshape(shape)[whole]
    np.testing.assert_array_equal(places(whole, shape, front=key is APART), expected)


def test_many_and_few_elements_are_scattered_alike() -> None:
    rng = np.random.default_rng(0)
    key = (rng.integers(-5, 5, (FEW, 1)), rng.integers(0, 3, 2))
    index = Index(key, (5, 3), (FEW, 2), repeats=True)
    ct = rng.standard_normal((FEW, 2))
    total = np.zeros((5, 3))
    np.add.at(total, key, ct)
    np.testing.assert_allclose(scatter(ct, index), total, rtol=1e-12)


def test_a_matrix_of_indices_built_by_ix_is_plain() -> None:
    x = handle(np.arange(6.0).reshape(2, 3))
    picked = x[np.ix_([1, 0], [2, 2])]
    np.testing.assert_array_equal(picked.data, [[5.0, 5.0], [2.0, 2.0]])
    np.testing.assert_array_equal(gradient(picked, x), [[0, 0, 2], [0, 0, 2]])
    with pytest.raises(UnsupportedArgumentError, match="pass plain ones"):
        np.ix_(x[0])


@pytest.mark.parametrize("mode", ["wrap", "clip"])
def test_indices_out_of_range(mode: Any) -> None:
    data = np.arange(3.0)
    x = handle(data)
    indices = [-4, -1, 0, 2, 3, 7]
    picked: Any = np.take(x, indices, mode=mode)
    np.testing.assert_array_equal(picked.data, np.take(data, indices, mode=mode))
    expected = np.zeros(3)
    np.add.at(expected, picked.data.astype(int), 1)
    np.testing.assert_array_equal(gradient(picked, x), expected)
    with pytest.raises(IndexError, match="out of bounds"):
        np.take(x, indices)


def test_choices_may_be_one_array() -> None:
    x = handle(np.arange(6.0).reshape(2, 3))
    picked = np.choose([0, 1, 1], x)
    np.testing.assert_array_equal(picked.data, [0.0, 4.0, 5.0])
    np.testing.assert_array_equal(gradient(picked, x), [[1, 0, 0], [0, 1, 1]])


@pytest.mark.parametrize("beside", [1, 1.5, 2j, np.float64(2), np.int8(1), [1, 2], True])
def test_choices_have_the_dtype_that_numpy_finds(beside: Any) -> None:
    single = np.array([2.0, 3.0], np.float32)
    x = ta.ComputationRecord().tensor(single)
    for call in (
        lambda x: np.choose([0, 1], [x, beside]),
        lambda x: np.select([[True, False], [False, True]], [x, beside], 1.5),
        lambda x: np.select([[True, False]], [x], beside),
    ):
        expected: Any = call(single)
        assert call(x).dtype == expected.dtype
        np.testing.assert_array_equal(call(x).data, expected)


@pytest.mark.parametrize("function", [np.compress, np.extract])
def test_a_condition_may_be_a_handle_and_is_constant(function: Any) -> None:
    record = ta.ComputationRecord()
    condition, a = record.tensor([0.0, 2.0, 1.0]), record.tensor([1.0, 2.0, 3.0])
    grads = np.sum(function(condition, a)).grad()
    np.testing.assert_array_equal(grads.wrt(a), [0.0, 1.0, 1.0])
    assert condition not in grads


@np.errstate(all="ignore")  # the root of a negative number is what the tests are about
def test_choices_not_taken_contribute_nothing() -> None:
    x = handle([-1.0, 4.0])
    for result in (
        np.select([x > 0], [np.sqrt(x)], 0.0),
        np.choose((x.data > 0).astype(int), [0.0, np.sqrt(x)]),
        np.piecewise(x, [x > 0], [np.sqrt, 0.0]),
        np.where(x > 0, np.sqrt(x), 0.0),
    ):
        np.testing.assert_array_equal(gradient(result, x), [0.0, 0.25])


def test_piecewise_with_one_condition_and_a_scalar() -> None:
    x = handle(3.0)
    result: Any = np.piecewise(x, x > 0, [lambda v: v**2, lambda v: -v])
    assert result.grad().wrt(x) == 6.0
    with pytest.raises(ValueError, match="either 1 or 2 functions"):
        np.piecewise(x, [x > 0], [1, 2, 3])


def test_functions_that_give_plain_data_along_an_axis() -> None:
    x = handle([[1.0, 3.0], [4.0, 2.0]])
    np.testing.assert_array_equal(np.apply_along_axis(np.argmax, 1, x), [1, 0])
    with pytest.raises(ValueError, match="iteration dimensions"):
        np.apply_along_axis(np.sum, 0, handle(np.zeros((2, 0))))
    with pytest.raises(ValueError, match="correct shape"):
        np.apply_over_axes(lambda a, axis: a[0, 0], x, 0)


def test_where_with_one_argument_finds_places() -> None:
    found = np.where(handle([0.0, 2.0, 3.0]))
    assert [type(part) for part in found] == [np.ndarray]
    np.testing.assert_array_equal(found[0], [1, 2])


ZEROS = np.zeros(3)
WRITERS: dict[str, Any] = {
    "put": lambda t: np.put(t, [0], 1.0),
    "put into an array": lambda t: np.put(ZEROS, [0, 1, 2], t),
    "place": lambda t: np.place(ZEROS, ZEROS == 0, t),
    "putmask": lambda t: np.putmask(ZEROS, ZEROS == 0, t),
    "put_along_axis": lambda t: np.put_along_axis(t, np.array([0]), 1.0, 0),
    "copyto": lambda t: np.copyto(ZEROS, t),
    "take": lambda t: np.take(t, [0, 1, 2], out=ZEROS),
    "compress": lambda t: np.compress([True], t, out=ZEROS),
    "choose": lambda t: np.choose([0, 0, 0], [t], out=ZEROS),
}


@pytest.mark.parametrize("write", WRITERS.values(), ids=WRITERS.keys())
def test_writing_is_refused_with_another_way(write: Any) -> None:
    x = handle([1.0, 2.0, 3.0])
    with pytest.raises((UnsupportedArgumentError, InPlaceError), match=r"write|assign"):
        write(x)
    np.testing.assert_array_equal(x.data, [1.0, 2.0, 3.0])
    np.testing.assert_array_equal(ZEROS, 0.0)


def test_the_way_named_instead_of_put_along_axis() -> None:
    t = handle(np.arange(6.0).reshape(2, 3)) * 1
    data, indices, axis = t.data.copy(), np.array([[2], [0]]), 1
    t = t.copy()
    key = list(np.ogrid[tuple(map(slice, t.shape))])
    key[axis] = indices
    t[tuple(key)] = 7.0
    np.put_along_axis(data, indices, 7.0, axis)
    np.testing.assert_array_equal(t.data, data)


CANNOT_DISPATCH: dict[str, Any] = {
    "r_": lambda t: np.r_[t, 1.0],
    "c_": lambda t: np.c_[t, t],
    "vectorize": np.vectorize(lambda x: x),
    "default of select": lambda t: np.select([np.array([True])], [np.array([1.0])], t),
    "indices": lambda t: np.take(ZEROS, t),
}


@pytest.mark.parametrize("call", CANNOT_DISPATCH.values(), ids=CANNOT_DISPATCH.keys())
def test_what_numpy_does_not_hand_over_is_an_error(call: Any) -> None:
    with pytest.raises(ConversionError, match=r"drop (its|the) gradient"):
        call(handle([0.0]))


def test_a_ufunc_of_a_users_own_has_no_rule() -> None:
    with pytest.raises(NoRuleError, match="has no rule"):
        np.frompyfunc(lambda x: x, 1, 1)(handle([1.0]))
