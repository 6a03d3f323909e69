"""Gradients: releasing, dtypes, complex numbers and odd places."""

import copy
import pickle
import weakref
from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad.errors import ConversionError, MutatedInputError, ReleasedError, SeedError
from tape_ad.rules import FAST_RULES

# Releasing


def test_release_frees_memory_and_forbids_another_sweep() -> None:
    rec: Any = ta.ComputationRecord()
    x = rec.tensor(np.ones(1000))
    y = np.sum(np.exp(x) * np.sin(x))
    held = rec.nbytes
    array = weakref.ref(rec.partials[0])
    gradient = y.grad(release=True).wrt(x)
    assert held >= 3 * 8000
    assert rec.nbytes == 0
    assert array() is None
    np.testing.assert_allclose(gradient, np.e * (np.sin(1) + np.cos(1)), rtol=1e-14)
    with pytest.raises(ReleasedError, match=r"node %4 \(sum\) were freed.*release=True"):
        y.grad()


@pytest.mark.parametrize("hides", [False, True])
def test_release_frees_the_arrays_beside_handles(hides: bool) -> None:
    rec: Any = ta.ComputationRecord()
    x = rec.tensor(np.ones(1000))
    aside, data, other = 3.0 * x, np.full(2000, 2.0), np.ones(2000)
    y = np.sum((np.where(other[:1000] > 0, x, 0) if hides else x) * data[::2])
    late, array = np.sum(aside * other[::2]), weakref.ref(data)
    del data
    np.testing.assert_array_equal(y.grad(release=True).wrt(x), 2.0)
    assert array() is None
    other[0] = 7.0
    with pytest.raises(MutatedInputError, match="was written to after node"):
        late.grad()


def test_release_spares_what_the_sweep_did_not_meet() -> None:
    rec: Any = ta.ComputationRecord()
    x = rec.tensor(2.0)
    y = x * x
    aside = np.sin(x)
    y.grad(release=True)
    assert aside.grad().wrt(x) == np.cos(2.0)
    with pytest.raises(ReleasedError, match=r"node %1 \(multiply\)"):
        (y * aside).grad()


def test_a_leaf_cannot_be_released() -> None:
    rec: Any = ta.ComputationRecord()
    x = rec.tensor(2.0)
    assert x.grad(release=True).wrt(x) == 1.0
    assert x.grad(release=True).wrt(x) == 1.0


def test_a_released_record_still_prints() -> None:
    rec: Any = ta.ComputationRecord()
    x = rec.tensor(2.0)
    y = x * x
    y.grad(release=True)
    assert str(rec) == "%0: float64[] = leaf\n%1: float64[] = multiply %0, %0"
    assert rec[1].nbytes == 0


def test_release_frees_while_the_sweep_is_under_way(monkeypatch: pytest.MonkeyPatch) -> None:
    freed: list[bool] = []
    rec: Any = ta.ComputationRecord()
    x = rec.tensor(np.ones(3))

    class Asking:
        broadcasts = True

        def push(self, t: Any) -> Any:
            return t

        def pull(self, ct: Any) -> Any:
            freed.append(array() is None)
            return ct

    table: dict[Any, Any] = FAST_RULES
    monkeypatch.setitem(table, np.positive, (lambda out, x: Asking(),))
    loss = np.sum(np.exp(+x))
    array = weakref.ref(rec.partials[1])
    loss.grad()
    loss.grad(release=True)
    assert freed == [False, True]


# Dtypes


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "g"])
def test_a_real_dtype_is_kept(dtype: str) -> None:
    rec: Any = ta.ComputationRecord()
    x = rec.tensor(np.array([0.5, 0.25], dtype))
    y = np.sum(np.sin(x) * 2 + x**2 / 3.0)
    grads = y.grad()
    assert y.dtype == np.dtype(dtype)
    assert grads.wrt(x).dtype == np.dtype(dtype)
    assert grads.wrt(y).dtype == np.dtype(dtype)


@pytest.mark.parametrize("dtype", ["F", "D", "G"])
def test_a_complex_dtype_is_kept(dtype: str) -> None:
    rec: Any = ta.ComputationRecord()
    z = rec.tensor(np.array([0.5 + 1j, 0.25], dtype))
    y = np.sum(np.sin(z) * 2 + z**2 / 3.0)
    gradient = y.grad(seed=1.0).wrt(z)
    expected = np.conj(2 * np.cos(z.data) + 2 * z.data / 3.0)
    assert y.dtype == np.dtype(dtype)
    assert gradient.dtype == np.dtype(dtype)
    np.testing.assert_allclose(gradient, expected, rtol=10 * float(np.finfo(dtype).eps))


def test_mixed_precision_gives_every_handle_its_own_dtype() -> None:
    rec: Any = ta.ComputationRecord()
    half, single, double = (rec.tensor(np.ones(2, d)) for d in ("f2", "f4", "f8"))
    y = half * single
    z = np.sum(y * double)
    grads = z.grad()
    got = grads.wrt([half, single, y, double])
    assert [g.dtype.char for g in got] == ["e", "f", "f", "d"]


def test_a_foreign_byte_order_is_kept() -> None:
    rec: Any = ta.ComputationRecord()
    x = rec.tensor(np.array([1.0, 2.0], ">f8"))
    gradient = np.sum(x * x).grad().wrt(x)
    assert gradient.dtype == np.dtype(">f8")
    np.testing.assert_array_equal(gradient, [2.0, 4.0])


# Complex numbers, by the real inner product


def test_descent_along_the_gradient_lowers_a_real_loss_of_complex_numbers() -> None:
    c = np.array([1 - 2j, 0.5 + 0.25j])
    z = np.array([0j, 3 + 1j])
    losses = []
    for _ in range(20):
        rec: Any = ta.ComputationRecord()
        h = rec.tensor(z)
        loss = np.sum(np.abs(h - c) ** 2)
        losses.append(loss.item())
        z = z - 0.25 * loss.grad().wrt(h)
    assert all(np.diff(losses) < 0)
    np.testing.assert_allclose(z, c, atol=1e-5)


def test_the_gradient_of_a_squared_distance() -> None:
    rec: Any = ta.ComputationRecord()
    z = rec.tensor(3 + 4j)
    gradient = ((np.abs(z - (1 + 1j))) ** 2).grad().wrt(z)
    np.testing.assert_allclose(gradient, 2 * (2 + 3j), rtol=1e-15)


def test_a_complex_scalar_needs_a_seed() -> None:
    z: Any = ta.ComputationRecord().tensor(1 + 1j)
    with pytest.raises(SeedError, match=r"complex scalar needs a seed.*t\.real\.grad\(\).*seed=1j"):
        (z * z).grad()


def test_the_seeds_named_in_that_message_do_what_it_says() -> None:
    rec: Any = ta.ComputationRecord()
    z = rec.tensor(1 + 2j)
    y = z * z
    # f = u + iv of z = a + ib: u = a^2 - b^2, v = 2ab, and the gradient of u is u_a + i u_b
    assert y.real.grad().wrt(z) == 2 - 4j
    assert y.imag.grad().wrt(z) == 4 + 2j
    assert y.grad(seed=1).wrt(z) == 2 - 4j
    assert y.grad(seed=1j).wrt(z) == 4 + 2j


def test_a_real_parent_of_a_complex_computation_has_a_real_gradient() -> None:
    rec: Any = ta.ComputationRecord()
    x = rec.tensor([1.0, 2.0])
    loss = np.sum(np.abs(x * (3 + 4j)) ** 2)
    gradient = loss.grad().wrt(x)
    np.testing.assert_allclose(gradient, [50.0, 100.0], rtol=1e-15)
    assert gradient.dtype == np.dtype("f8")


def test_stacked_complex_seeds() -> None:
    rec: Any = ta.ComputationRecord()
    z = rec.tensor([1 + 1j, 2.0])
    w = z * z
    gradient = w.grad(seed=np.array([[1, 0], [0, 1j]])).wrt(z)
    np.testing.assert_array_equal(gradient, [[2 - 2j, 0], [0, 4j]])


# Odd places


def test_nan_reaches_only_what_it_touches() -> None:
    rec: Any = ta.ComputationRecord()
    x = rec.tensor([np.nan, 2.0])
    gradient = np.sum(x * x).grad().wrt(x)
    np.testing.assert_array_equal(gradient, [np.nan, 4.0])


def test_where_keeps_nan_out_of_the_other_branch() -> None:
    rec: Any = ta.ComputationRecord()
    x = rec.tensor([-1.0, 0.0, 4.0])
    with np.errstate(invalid="ignore"):
        y: Any = np.sum(np.where(x > 0, np.sqrt(x), 0.0) * 3.0)
    np.testing.assert_array_equal(y.grad().wrt(x), [0.0, 0.0, 0.75])


@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0)])
def test_empty_arrays(shape: tuple[int, ...]) -> None:
    rec: Any = ta.ComputationRecord()
    x = rec.tensor(np.zeros(shape))
    total = np.sum(np.sin(x) * x + x.T.reshape(shape))
    assert total.item() == 0.0
    assert total.grad().wrt(x).shape == shape


def test_negative_strides_and_transposed_memory() -> None:
    base = np.arange(12.0).reshape(3, 4)
    rec: Any = ta.ComputationRecord()
    x, y = rec.tensor(base[::-1, ::-2]), rec.tensor(np.asfortranarray(base))
    grads = (np.sum(x * x) + np.sum(y[:, ::-1] * base)).grad()
    np.testing.assert_array_equal(grads.wrt(x), 2 * base[::-1, ::-2])
    np.testing.assert_array_equal(grads.wrt(y), base[:, ::-1])


def test_gradients_of_a_root_that_is_a_leaf() -> None:
    rec: Any = ta.ComputationRecord()
    x, y = rec.tensor(5.0), rec.tensor(1.0)
    grads = x.grad()
    assert grads.wrt(x) == 1.0
    assert grads.wrt(y) == 0.0


def test_gradients_are_copied_and_not_pickled() -> None:
    x = ta.ComputationRecord().tensor([1.0, 2.0])
    grads = np.sum(x * x).grad()

    np.testing.assert_array_equal(copy.deepcopy(copy.copy(grads)).wrt(x), [2.0, 4.0])
    with pytest.raises(ConversionError, match=r"pickle the arrays, grads\.wrt"):
        pickle.dumps(grads)


def test_arrays_given_out_can_be_pickled() -> None:
    x: Any = ta.ComputationRecord().tensor([1.0, 2.0])
    gradient = np.sum(x * x).grad().wrt(x)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(gradient)), [2.0, 4.0])


# Memory that entries share


class Held:
    """A map that gives an array that somebody else has."""

    broadcasts = False

    def __init__(self, array: Any) -> None:
        self.array = array

    def push(self, t: Any) -> Any:
        return t * self.array

    def pull(self, ct: Any) -> Any:
        return self.array


CONSTANT = np.array([[2.0, 3.0], [5.0, 7.0]])
held = ta.custom_rule(partials=lambda out, x: Held(CONSTANT))(lambda x: x * CONSTANT)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x + x,
        lambda x: np.sum(x) * np.ones((2, 2)),
        lambda x: x.T,
        lambda x: x.reshape(4)[::-1].reshape(2, 2),
        lambda x: np.broadcast_to(x[0], (2, 2)),
        lambda x: x * CONSTANT,
        lambda x: x @ CONSTANT,
        held,
        lambda x: x.astype(np.float32),
    ],
)
@pytest.mark.parametrize("dtype", [np.float64, np.float16, ">f8", np.longdouble])
def test_no_entry_can_be_made_writeable(function: Any, dtype: Any) -> None:
    x = ta.ComputationRecord().tensor(np.ones((2, 2), dtype))
    y = function(x)
    z = y + 0
    for seed in (np.ones((2, 2), z.dtype), np.ones((3, 2, 2), z.dtype)):
        for gradient in z.grad(seed=seed).wrt([x, y, z]):
            assert not gradient.flags.writeable
            for array in (gradient, gradient.view(), gradient[...], gradient.T):
                with pytest.raises(ValueError, match="cannot set WRITEABLE flag"):
                    array.setflags(write=True)
    np.testing.assert_array_equal(CONSTANT, [[2.0, 3.0], [5.0, 7.0]])


@pytest.mark.parametrize("shape", [(), (0,), (2, 0)])
def test_a_gradient_that_is_a_number_or_empty_shares_nothing(shape: tuple[int, ...]) -> None:
    x = ta.ComputationRecord().tensor(np.ones(shape))
    y = x * 1.0
    grads = y.grad(seed=np.ones(shape))
    for gradient in grads.wrt([x, y]):
        if type(gradient) is np.ndarray:  # a number of NumPy's cannot be written to
            with pytest.raises(ValueError, match="cannot set WRITEABLE flag"):
                gradient.setflags(write=True)
        assert not gradient.flags.writeable
    np.testing.assert_array_equal(np.sum(x).grad().wrt(x), np.ones(shape))


def test_a_gradient_is_no_copy() -> None:
    x = ta.ComputationRecord().tensor(np.ones(1000))
    grads = np.sum(x * x).grad()
    assert np.shares_memory(grads.wrt(x), grads.wrt(x))
