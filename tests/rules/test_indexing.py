"""Random keys of all kinds: what they pick, its derivatives, and assignment to it."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tape_ad as ta
from tape_ad.record.sweeps import forward_sweep, reverse_sweep

Array = Any

SHAPES = st.lists(st.integers(0, 3), max_size=4).map(tuple)
WITHOUT_AXIS = st.sampled_from([None, True, False, np.True_, np.array(True), np.array(False)])


@st.composite
def entries(draw: Any, n: int) -> Any:
    """Draw what stands in a key for one axis of length n."""
    steps = st.sampled_from([None, 1, 2, -1, -2])
    ends = st.none() | st.integers(-n - 1, n + 1)
    kinds = [st.builds(slice, ends, ends, steps), st.just([])]
    kinds += [st.lists(st.booleans(), min_size=n, max_size=n).map(lambda m: np.array(m, bool))]
    if n:
        numbers = st.integers(-n, n - 1)
        kinds += [numbers, numbers.map(np.int8), numbers.map(np.array)]
        kinds += [st.lists(numbers, min_size=1, max_size=3)]
        kinds += [st.lists(numbers, min_size=2, max_size=2).map(lambda k: np.array(k)[:, None])]
    return draw(st.one_of(kinds))


@st.composite
def keys(draw: Any) -> tuple[tuple[int, ...], Any]:
    """Draw a shape, and a key for an array of it."""
    shape = draw(SHAPES)
    key = [draw(entries(n)) for n in shape[: draw(st.integers(0, len(shape)))]]
    places = st.integers(0, len(key))
    for entry in draw(st.lists(WITHOUT_AXIS, max_size=2)):
        key.insert(draw(places), entry)
    if draw(st.booleans()):
        key.insert(draw(places), ...)
    return shape, tuple(key)


NO_KEY = (IndexError, DeprecationWarning)
"""NumPy 2.0 only warns of a place outside of an array that is empty anyway."""


def picked(x: Array, key: Any) -> Array:
    """Index an array, if NumPy can do it with that key."""
    try:
        return x[key]
    except NO_KEY:
        return None


def numbers(*shape: int) -> Array:
    return np.asarray(np.random.default_rng(3).standard_normal(shape))


@given(keys())
@settings(max_examples=400, deadline=None)
def test_any_key_picks_what_numpy_picks(drawn: tuple[tuple[int, ...], Any]) -> None:
    shape, key = drawn
    x, t = numbers(*shape), numbers(2, *shape) + 1
    record = ta.ComputationRecord()
    handle = record.tensor(x)
    expected = picked(x, key)
    if expected is None:
        with pytest.raises(NO_KEY):
            handle[key]
        return
    out = handle[key]
    np.testing.assert_array_equal(out.data, expected)
    pushed = forward_sweep(record, {handle.index: t}, len(record) - 1)[out.index]
    np.testing.assert_array_equal(pushed, [each[key] for each in t])
    ct = numbers(2, *out.shape)
    pulled = reverse_sweep(record, out.index, ct)[handle.index]
    np.testing.assert_allclose(np.sum(pulled * t), np.sum(ct * pushed), atol=1e-12)
    np.testing.assert_allclose(pulled[1], reverse_sweep(record, out.index, ct[1])[handle.index])


@given(keys(), st.integers(0, 4))
@settings(max_examples=400, deadline=None)
def test_assigning_to_any_key_is_numpys(drawn: tuple[tuple[int, ...], Any], ndim: int) -> None:
    shape, key = drawn
    x, t = numbers(*shape), numbers(2, *shape) + 1
    expected = picked(x, key)
    if expected is None:
        return
    value = numbers(*np.shape(expected)[max(np.ndim(expected) - ndim, 0) :])
    record = ta.ComputationRecord()
    leaf, written = record.tensor(x), record.tensor(value)
    copy = leaf.copy()
    copy[key] = written
    x = np.array(x)
    x[key] = value
    np.testing.assert_array_equal(copy.data, x)
    s = numbers(2, *value.shape) - 1
    start = {leaf.index: t, written.index: s}
    pushed = forward_sweep(record, start, len(record) - 1)[copy.index]
    changed = np.array(t)
    for i in range(2):
        changed[i, ...][key] = s[i]
    np.testing.assert_array_equal(pushed, changed)
    ct = numbers(2, *shape)
    pulled = reverse_sweep(record, copy.index, ct)
    back = np.sum(pulled[leaf.index] * t) + np.sum(pulled[written.index] * s)
    np.testing.assert_allclose(back, np.sum(ct * pushed), atol=1e-12)


def test_pushed_stacks_lie_in_order() -> None:
    # What comes behind goes over them; NumPy puts an axis that it picks along first in memory.
    record = ta.ComputationRecord()
    rows = np.array([2, 0, 1, 1])
    x = record.tensor(np.arange(6.0).reshape(3, 2))
    y = x[rows]
    tangents = np.arange(30.0).reshape(5, 3, 2)
    pushed = forward_sweep(record, {x.index: tangents}, y.index)[y.index]
    assert np.array_equal(pushed, tangents[:, rows])
    assert pushed.flags.c_contiguous
