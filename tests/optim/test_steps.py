"""Steps: their formulas, what is kept, and in which memory it happens."""

import copy
import tracemalloc
from collections.abc import Callable, Iterator, MutableMapping
from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad.optim import SGD, Optimizer
from tape_ad.optim.optimizers import PIECE

Array = np.ndarray[Any, Any]
Maker = Callable[..., Optimizer]


def test_plain_descent() -> None:
    params = {"w": np.array([1.0, 2.0]), "b": np.array(3.0)}
    arrays = dict(params)
    optimizer = SGD(lr=0.5)
    optimizer.step(params, {"b": np.array(-2.0), "w": np.array([4.0, 0.0])})
    np.testing.assert_array_equal(params["w"], [-1.0, 2.0])
    np.testing.assert_array_equal(params["b"], 4.0)
    assert all(params[name] is arrays[name] for name in arrays)
    assert optimizer.state == {}


def test_momentum_is_pytorchs() -> None:
    params = {"w": np.array([1.0])}
    optimizer = SGD(lr=0.1, momentum=0.5)
    seen = []
    for gradient in (1.0, 1.0, 0.0):
        optimizer.step(params, {"w": np.array([gradient])})
        seen.append((optimizer.state["momentum_buffer.w"].item(), params["w"].item()))
    np.testing.assert_allclose(seen, [(1.0, 0.9), (1.5, 0.75), (0.75, 0.675)], rtol=1e-15)


def test_the_rate_may_change_between_steps_and_leaves_the_velocity_alone() -> None:
    params = {"w": np.array([1.0])}
    optimizer = SGD(lr=0.5, momentum=0.5)
    optimizer.step(params, {"w": np.array([1.0])})
    optimizer.lr = 0.25
    optimizer.step(params, {"w": np.array([0.0])})
    assert params["w"].item() == 1 - 0.5 - 0.25 * 0.5


def test_a_step_of_what_a_record_gives() -> None:
    params = {"w": np.array([[1.0], [2.0]])}
    p = ta.ComputationRecord().bind(params)
    loss = np.sum((np.array([[1.0, 1.0]]) @ p["w"] - 1) ** 2)
    SGD(lr=0.125).step(params, loss.grad().wrt(p))
    np.testing.assert_array_equal(params["w"], [[0.5], [1.5]])


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.complex64, ">f8"])
@pytest.mark.parametrize("gradient_dtype", [np.float64, np.float32, np.int64, np.bool_])
def test_the_dtype_of_the_parameter_stays(
    dtype: type[Any], gradient_dtype: type[Any], maker: Maker
) -> None:
    params = {"w": np.ones(3, dtype)}
    expected = {"w": np.ones(3)}
    optimizer, reference = maker(lr=np.float64(0.25)), maker(lr=0.25)
    optimizer.step(params, {"w": np.ones(3, gradient_dtype)})
    reference.step(expected, {"w": np.ones(3)})
    assert params["w"].dtype == dtype
    np.testing.assert_allclose(params["w"], expected["w"], rtol=2e-3)
    assert {v.dtype for k, v in optimizer.state.items() if k != "step"} <= {np.dtype(dtype)}


def test_complex_parameters_descend(maker: Maker) -> None:
    params = {"z": np.array([3.0 + 4.0j])}
    optimizer = maker(lr=0.02)
    losses = []
    for _ in range(6):
        z = ta.ComputationRecord().tensor(params["z"])
        loss = np.sum(np.abs(z - (1 - 2j)) ** 2)
        optimizer.step(params, {"z": loss.grad().wrt(z)})
        losses.append(loss.item())
    assert losses == sorted(losses, reverse=True)
    assert losses[-1] < losses[0]


def test_a_complex_parameter_is_two_real_ones(maker: Maker) -> None:
    rng = np.random.default_rng(0)
    together = {"z": rng.normal(size=4) + 1j * rng.normal(size=4)}
    apart = {"x": together["z"].real.copy(), "y": together["z"].imag.copy()}
    one, two = maker(), maker()
    for _ in range(3):
        g = rng.normal(size=4) + 1j * rng.normal(size=4)
        one.step(together, {"z": g})
        two.step(apart, {"x": g.real, "y": g.imag})
    np.testing.assert_array_equal(together["z"], apart["x"] + 1j * apart["y"])


def test_parameters_of_no_axes_and_gradients_that_are_numpy_scalars(maker: Maker) -> None:
    params: dict[str, Array] = {"a": np.array(1.0), "z": np.array(1.0 + 1j)}
    vectors: dict[str, Array] = {"a": np.array([1.0]), "z": np.array([1.0 + 1j])}
    one, two = maker(), maker()
    for size in (2.0, -1.0, 0.5):
        scalars: dict[str, Any] = {"a": np.float64(size), "z": np.complex128(1j * size)}
        one.step(params, scalars)
        two.step(vectors, {"a": np.array([size]), "z": np.array([1j * size])})
    assert params["a"] == vectors["a"][0]
    assert params["z"] == vectors["z"][0]
    assert params["a"].shape == params["z"].shape == ()


class GivesCopies(MutableMapping[str, Array]):
    """A store that keeps bytes, as one on a disk or in a database does."""

    def __init__(self) -> None:
        self.kept: dict[str, bytes] = {}

    def __getitem__(self, name: str) -> Array:
        return np.frombuffer(self.kept[name]).copy()

    def __setitem__(self, name: str, value: Array) -> None:
        self.kept[name] = value.tobytes()

    def __delitem__(self, name: str) -> None:
        del self.kept[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.kept)

    def __len__(self) -> int:
        return len(self.kept)


def test_a_store_may_give_out_copies(maker: Maker) -> None:
    store, plain = GivesCopies(), {"w": np.array([1.0, -2.0]), "b": np.array([0.5])}
    store.update(plain)
    gradients = {"w": np.array([0.25, 1.0]), "b": np.array([-1.0])}
    one, two = maker(), maker()
    for _ in range(3):
        one.step(store, gradients)
        two.step(plain, gradients)
    np.testing.assert_array_equal(store["w"], plain["w"])
    np.testing.assert_array_equal(store["b"], plain["b"])


def test_a_gradient_may_be_the_parameter_itself(maker: Maker) -> None:
    shared, apart = {"w": np.array([1.0, -2.0])}, {"w": np.array([1.0, -2.0])}
    one, two = maker(), maker()
    for _ in range(3):
        one.step(shared, {"w": shared["w"]})
        two.step(apart, {"w": apart["w"].copy()})
    np.testing.assert_array_equal(shared["w"], apart["w"])


def test_views_and_fortran_order_are_updated_in_place(maker: Maker) -> None:
    rng = np.random.default_rng(0)
    whole, before = np.zeros((4, 6)), np.zeros((4, 6))
    params = {"view": whole[::2, ::3], "fortran": np.asfortranarray(np.zeros((2, 3)))}
    plain = {"view": np.zeros((2, 2)), "fortran": np.zeros((2, 3))}
    one, two = maker(), maker()
    for _ in range(2):
        gradients = {"view": rng.normal(size=(2, 2)), "fortran": rng.normal(size=(2, 3))}
        one.step(params, gradients)
        two.step(plain, gradients)
    before[::2, ::3] = plain["view"]
    np.testing.assert_array_equal(whole, before)
    np.testing.assert_array_equal(params["fortran"], plain["fortran"])


def test_empty_stores_and_empty_parameters(maker: Maker) -> None:
    maker().step({}, {})
    params = {"w": np.zeros((0, 3))}
    maker().step(params, {"w": np.zeros((0, 3))})
    assert params["w"].shape == (0, 3)


def test_a_rate_of_zero_moves_nothing(maker: Maker) -> None:
    params = {"w": np.array([1.0, -2.0])}
    maker(lr=0).step(params, {"w": np.array([3.0, 0.0])})
    np.testing.assert_array_equal(params["w"], [1.0, -2.0])


@pytest.mark.parametrize("momentum", [0.0, 0.9])
def test_gradients_that_are_not_finite_are_applied_without_a_warning(momentum: float) -> None:
    params: dict[str, Array] = {
        "w": np.array([1.0, np.inf, 1e308]),
        "f": np.ones(1, np.float32),
    }
    gradients = {"w": np.array([np.nan, np.inf, -1e308]), "f": np.array([1e300])}
    optimizer = SGD(lr=1e3, momentum=momentum)
    with np.errstate(all="raise"):
        optimizer.step(params, gradients)
    np.testing.assert_array_equal(params["w"], [np.nan, np.nan, np.inf])
    np.testing.assert_array_equal(params["f"], np.array([-np.inf], np.float32))


@pytest.mark.parametrize(
    ("maker", "temporaries"),
    [
        ("SGD", 1),
        ("SGD, momentum", 1),
        ("SGD, everything", 2),
        ("Adam", 1),
        ("Adam, everything", 2),
        ("AdamW", 1),
        ("RMSprop", 1),
        ("RMSprop, everything", 2),
        ("Adagrad", 1),
    ],
    indirect=["maker"],
)
def test_temporaries_are_few_and_small(maker: Maker, temporaries: int) -> None:
    params = {name: np.zeros(1_000_000, np.float32) for name in "abc"}
    gradients = {name: np.ones(1_000_000) for name in "abc"}  # float64, to be cast on the way
    optimizer = maker()
    optimizer.step(params, gradients)
    tracemalloc.start()
    optimizer.step(params, gradients)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    casting = 200_000  # NumPy's buffers
    assert peak < temporaries * PIECE + casting


@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
def test_pieces_and_other_layouts_change_nothing(maker: Maker, dtype: Any) -> None:
    rng = np.random.default_rng(0)
    size = PIECE // 4 + 30  # in three pieces
    value, gradient = (rng.normal(size=(size // 10, 10)).astype(dtype) for _ in range(2))
    params = {
        "pieces": value.copy(),
        "columns": np.asfortranarray(value),
        **{f"row {i}": row.copy() for i, row in enumerate(value[:3])},
    }
    gradients = {
        "pieces": gradient,
        "columns": gradient,
        **{f"row {i}": row for i, row in enumerate(gradient[:3])},
    }
    optimizer = maker()
    for _ in range(3):
        optimizer.step(params, gradients)
    assert np.any(params["pieces"] != value)
    np.testing.assert_array_equal(params["pieces"], params["columns"])
    for i in range(3):
        np.testing.assert_array_equal(params["pieces"][i], params[f"row {i}"])


def test_state_goes_on_after_saving_and_loading(maker: Maker) -> None:
    rng = np.random.default_rng(0)
    start = {"w": rng.normal(size=3)}
    gradients = [{"w": rng.normal(size=3)} for _ in range(4)]
    straight, halved = copy.deepcopy(start), copy.deepcopy(start)
    optimizer = maker()
    for gradient in gradients:
        optimizer.step(straight, gradient)

    first = maker()
    first.step(halved, gradients[0])
    first.step(halved, gradients[1])
    second = maker(state=copy.deepcopy(first.state))
    second.step(halved, gradients[2])
    second.step(halved, gradients[3])
    np.testing.assert_array_equal(halved["w"], straight["w"])


def test_a_momentum_that_is_set_later_begins_then() -> None:
    params = {"w": np.array([1.0])}
    optimizer = SGD(lr=0.5)
    optimizer.step(params, {"w": np.array([1.0])})
    optimizer.momentum = 0.5
    optimizer.step(params, {"w": np.array([1.0])})
    optimizer.step(params, {"w": np.array([0.0])})
    assert params["w"].item() == 1 - 0.5 - 0.5 - 0.5 * 0.5
