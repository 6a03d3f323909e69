"""Handles over Dask arrays: NumPy's values and gradients, in the arrays' chunks, computed later."""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

pytest.importorskip("distributed")

import dask
import dask.array as da
from dask.delayed import delayed
from distributed import Client

import tape_ad as ta
from tape_ad import nn
from tape_ad.errors import ConversionError, InPlaceError, UnsupportedArgumentError
from tests.interop.dask.curvature import curvature
from tests.interop.dask.outcomes import LISTED, SOME, listed, never, outcome, public_name
from tests.rules.grouping import for_each
from tests.rules.rows import ROWS
from tests.rules.table import Case, cases
from tests.sampling import EVERY_ROW, some

Array = Any
RNG = np.random.default_rng(0)
X = RNG.normal(size=(6, 4))
W = RNG.normal(size=4)
M = RNG.normal(size=(4, 3))
CHUNKS = (2, 4)
MARKED = np.array([True, False, True, False])
RIGHT = 313
"""How many functions docs/dask-arrays.md lists as right in all rows, which each row tests."""
RIGHT_ROWS = 4_000
"""How many of the cases of the table are right, at least, of about 7,000."""
compute = functools.partial(dask.base.compute, scheduler="synchronous")


FUNCTIONS: dict[str, Callable[[Array], Array]] = {
    "elementwise": lambda x: np.sin(x) * x**2 - 1 / (2 + x**2) + np.exp(-x) + np.tanh(x),
    "powers": lambda x: np.abs(x) ** 2.5 + np.sqrt(np.abs(x)) + np.power(2.0, x),
    "of two": lambda x: np.hypot(x, x[::-1]) + np.arctan2(x, 2.0) + np.logaddexp(x, 0),
    "broadcasting": lambda x: x * W + x[:, :1] + x[0],
    "np.sum": lambda x: np.sum(x**2, axis=0) * np.sum(x, axis=(0, 1), keepdims=True)[0],
    "np.mean": lambda x: x - np.mean(x, axis=0),
    "np.std": lambda x: np.std(x, axis=1) + np.var(x),
    "np.max": lambda x: np.max(x, axis=1) + np.min(x),
    "np.prod": lambda x: np.prod(x, axis=0),
    "np.cumsum": lambda x: np.cumsum(x, axis=0) ** 2,
    "np.linalg.norm": lambda x: np.linalg.norm(x) + np.linalg.norm(x, axis=1),
    "x.sum": lambda x: x.sum(axis=1) * x.mean() + x.max(),
    "x @ w": lambda x: x @ W,
    "w @ x": lambda x: np.ones(6) @ x,
    "x @ m": lambda x: np.tanh(x @ M),
    "x.T @ x": lambda x: x.T @ x,
    "np.dot": lambda x: np.dot(x, M) + np.dot(x, W)[:, None],
    "np.tensordot": lambda x: np.tensordot(x, x, (0, 0)) ** 3,
    "np.einsum": lambda x: np.einsum("ij,kj->ik", x, x) + np.einsum("ij,j->i", x, W),
    "np.outer": lambda x: np.outer(x[:, 0], x[0]),
    "a slice": lambda x: x[1:, 0] * x[:-1, 1],
    "a slice with steps": lambda x: x[::2] * x[1::2, ::-1],
    "an element": lambda x: x[1, 2] ** 2 + x[-1, 0],
    "np.newaxis": lambda x: x[:, np.newaxis] * x[np.newaxis, ..., :2].sum(),
    "a list": lambda x: x[[0, 2, 2]] ** 2,
    "two lists": lambda x: x[[0, 2], [1, 3]] ** 2,
    "a mask": lambda x: x[np.array([True, False] * 3)] ** 2,
    "np.take": lambda x: np.take(x, [0, 2, 2], axis=1) ** 2,
    "np.stack": lambda x: np.stack([x, 2 * x, X]) ** 2,
    "np.concatenate": lambda x: np.concatenate([x, x**2], axis=1) ** 2,
    "np.hstack": lambda x: np.hstack([x, x]) * np.vstack([x, x])[:6, :1],
    "np.where": lambda x: np.where(x > 0, np.log(np.where(x > 0, x, 1)), x**2),
    "np.clip": lambda x: np.clip(x, -0.5, 0.5) * x,
    "np.maximum": lambda x: np.maximum(x, 0.3) * np.minimum(x, x[::-1]),
    "np.transpose": lambda x: np.transpose(x) * W[:, None],
    "np.swapaxes": lambda x: np.swapaxes(x, 0, 1)[1],
    "np.reshape": lambda x: x.reshape(3, 8) ** 2 + np.ravel(x)[:8],
    "np.squeeze": lambda x: np.squeeze(np.expand_dims(x, 1), 1) ** 2,
    "np.broadcast_to": lambda x: np.broadcast_to(x[0], (3, 4)) ** 2,
    "np.flip": lambda x: np.flip(x, 0) * x,
    "np.roll": lambda x: np.roll(x, 1, 0) * x,
    "np.diff": lambda x: np.diff(x, axis=0) ** 2,
    "x.astype": lambda x: x.astype(np.float32) ** 2,
    "complex": lambda x: np.abs(x * np.exp(1j * x)) + np.real((x + 2j) ** 2),
    "activations": lambda x: nn.relu(x) + nn.sigmoid(x) + nn.gelu(x) + nn.softplus(x),
    "softmax": lambda x: nn.softmax(x, 1) + nn.log_softmax(x, 1) + nn.logsumexp(x),
    "a network": lambda x: nn.cross_entropy(nn.linear(x, M, W[:3]), np.tile(np.eye(3), (2, 1))),
    "np.zeros_like": lambda x: np.zeros_like(x) + x * np.ones_like(x),
}


def total(out: Array) -> Array:
    return np.sum(out * np.cos(np.arange(out.size)).reshape(out.shape))


def close(found: Array, expected: Array) -> None:
    found = np.asarray(found)
    assert found.dtype == expected.dtype
    rtol = 1e-5 if expected.dtype == np.float32 else 1e-10
    np.testing.assert_allclose(found, expected, rtol=rtol, atol=1e-12)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_values_and_gradients_are_numpys(name: str) -> None:
    function = FUNCTIONS[name]
    record, plain = ta.ComputationRecord(), ta.ComputationRecord().tensor(X)
    expected = function(plain)
    with dask.config.set(scheduler=never):
        handle = record.tensor(da.from_array(X, CHUNKS))
        out = function(handle)
        gradient = total(out).grad().wrt(handle)
    assert isinstance(out.data, da.Array)
    assert isinstance(gradient, da.Array)
    held: Any = handle.data
    assert gradient.chunks == held.chunks
    value, slope = compute(out.data, gradient)
    close(value, expected.data)
    close(slope, total(expected).grad().wrt(plain).astype(slope.dtype))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_nested_records_give_numpys_second_derivatives(name: str) -> None:
    def loss(x: Array) -> Array:
        return total(FUNCTIONS[name](x))

    v = RNG.normal(size=X.shape)
    with dask.config.set(scheduler=never):
        x = da.from_array(X, CHUNKS)
        forward = ta.hvp(loss, x, da.from_array(v, CHUNKS))
        reverse = ta.grad(lambda x: np.sum(ta.grad(loss)(x) * v))(x)
        assert reverse.chunks == x.chunks
    for found in compute(forward, reverse):
        close(found, ta.hvp(loss, X, v).astype(found.dtype))


@for_each(some(cases(ROWS), 30))
def test_a_row_is_right_or_refused(case: Case) -> None:
    found = outcome(case)
    assert found in {"right", "refused", "none"}
    assert found != "refused" or public_name(case.row.function) not in listed(LISTED)


@pytest.mark.skipif(not EVERY_ROW, reason="TAPE_AD_EVERY_ROW=1 counts them")
def test_rows_that_are_right_do_not_become_fewer() -> None:
    assert sum(outcome(case) == "right" for case in cases(ROWS)) >= RIGHT_ROWS


def test_a_share_of_the_rows_has_as_many_right_ones_as_it_should() -> None:
    every = cases(ROWS)
    share = [outcome(case) == "right" for case in some(every, 90)]
    assert sum(share) / len(share) >= 0.75 * RIGHT_ROWS / len(every)


def test_functions_all_of_whose_rows_are_right_do_not_become_fewer() -> None:
    assert len(listed(LISTED)) >= RIGHT


@pytest.mark.filterwarnings("ignore")  # of what NumPy computes as well
@for_each(some(cases(ROWS), 250, 7))
def test_a_row_keeps_second_derivatives_where_first_ones_are_zero(case: Case) -> None:
    assert curvature(case) in {"right", "refused", "none"}


@pytest.mark.parametrize(
    "function",
    [
        lambda x: np.sum(np.where(MARKED, 2 * x, (2 * x) ** 2)),
        lambda x: np.sum(np.maximum((2 * x) ** 2, -1.0)),
        lambda x: np.sum(np.clip((2 * x) ** 2, -1.0, 1.0)),
        lambda x: np.max((2 * x) ** 2 - np.arange(4)) + np.sum(nn.relu((2 * x) ** 2 + 1)),
        lambda x: np.sum(np.where(MARKED, x, nn.logsumexp((2 * x) ** 2, axis=0))),
        lambda x: np.sum(np.where(MARKED, x, nn.softmax((2 * x) ** 2 * np.arange(4.0)))),
        lambda x: np.sum(np.where(MARKED, x, np.cumprod(1 + (2 * x) ** 2))),
    ],
    ids=["where", "maximum", "clip", "max", "logsumexp", "softmax", "cumprod"],
)
def test_a_choice_keeps_second_derivatives_where_first_ones_are_zero(function: Any) -> None:
    with dask.config.set(scheduler=never):
        found = ta.hvp(function, da.from_array(np.zeros(4), 2), np.ones(4))
    expected = ta.hvp(function, np.zeros(4), np.ones(4))
    assert np.any(expected)
    close(compute(found)[0], expected)


def test_what_was_asked_for_is_on_the_list() -> None:
    asked = "add multiply exp where clip concatenate stack matmul tensordot einsum sum mean max"
    assert {f"np.{name}" for name in asked.split()} <= listed(LISTED) | listed(SOME)


def params() -> dict[str, Array]:
    return {"w": W.copy(), "b": np.array(0.1)}


def loss_of(p: Any, x: Array, y: Array) -> Array:
    return np.mean((np.tanh(x @ p["w"]) + p["b"] - y) ** 2)


Y = RNG.normal(size=6)
DATA = da.from_array(X, CHUNKS), da.from_array(Y, 2)


def test_transforms_take_plain_parameters_and_dask_data() -> None:
    value, slopes = compute(*ta.value_and_grad(loss_of)(params(), *DATA))
    expected, others = ta.value_and_grad(loss_of)(params(), X, Y)
    close(value, expected)
    for name in others:
        close(slopes[name], others[name])


def test_tangents_and_seeds_may_be_dask_arrays() -> None:
    x, y = DATA
    _, pushed = ta.jvp(lambda x: x @ W, (x,), (2 * x,))
    _, pull = ta.vjp(lambda x: x @ W, x)
    record = ta.ComputationRecord()
    handle = record.tensor(x)
    by_seed = (handle @ W).grad(seed=y).wrt(handle)
    close(compute(pushed)[0], 2 * X @ W)
    for found in compute(pull(y)[0], by_seed):
        close(found, np.outer(Y, W))


def test_jacobians_and_hessians() -> None:
    x, y = DATA
    slopes = ta.jacobian(lambda x: np.sin(x[0]) * x[1])(x)
    bends = ta.hessian(lambda w: np.sum((x @ w - y) ** 4))(W)
    close(compute(slopes)[0], ta.jacobian(lambda x: np.sin(x[0]) * x[1])(X))
    close(compute(bends)[0], ta.hessian(lambda w: np.sum((X @ w - Y) ** 4))(W))


def test_a_batch_may_be_a_dask_array() -> None:
    def f(x: Any) -> Any:
        return np.sum(np.sin(x) * x)

    x = np.linspace(0.0, 1.0, 12).reshape(4, 3)
    later = da.from_array(x, chunks=(2, 3))
    slopes: Any = ta.batched(ta.grad(f))(later)
    assert isinstance(slopes, da.Array)
    np.testing.assert_allclose(slopes.compute(), ta.batched(ta.grad(f))(x))
    whole: Any = ta.grad(lambda y: np.sum(ta.batched(f)(y)))(later)
    np.testing.assert_allclose(whole.compute(), slopes.compute())


def test_checkpoints_and_rules_of_users() -> None:
    squared = ta.custom_rule(pull=lambda ct, out, x: ct * 2 * x)(lambda x: x**2)
    slope = ta.grad(lambda x: np.sum(ta.checkpoint(np.sin)(x) + squared(x)))(DATA[0])
    close(compute(slope)[0], np.cos(X) + 2 * X)


def test_each_chunk_is_made_once_for_loss_and_gradient() -> None:
    made = []

    def chunk(number: int) -> Array:
        made.append(number)
        return np.full((2, 4), float(number))

    parts = [da.from_delayed(delayed(chunk)(i), (2, 4), float) for i in range(3)]
    record = ta.ComputationRecord()
    x = record.tensor(da.concatenate(parts))
    loss = np.sum(np.tanh(x) ** 2) * np.mean(x)
    compute(loss.data, loss.grad().wrt(x))
    assert sorted(made) == [0, 1, 2]


def test_workers_compute_what_was_described() -> None:
    with Client(processes=False, n_workers=2, threads_per_worker=1, dashboard_address=":0"):
        record = ta.ComputationRecord()
        x = record.tensor(DATA[0])
        loss = np.sum(nn.gelu(x[[0, 2], [1, 3]]) * np.mean(x, axis=0)[:2])
        slope = loss.grad().wrt(x).compute()
    close(slope, ta.grad(lambda x: np.sum(nn.gelu(x[[0, 2], [1, 3]]) * np.mean(x, axis=0)[:2]))(X))


def test_minimize_and_optimizers_compute_what_they_need() -> None:
    found = ta.scipy.optimize.minimize(lambda p: loss_of(p, *DATA), params())
    expected = ta.scipy.optimize.minimize(lambda p: loss_of(p, X, Y), params())
    np.testing.assert_allclose(found.fun, expected.fun, rtol=1e-6)
    store, other = params(), params()
    ta.optim.Adam(lr=0.1).step(store, ta.grad(loss_of)(store, *DATA))
    ta.optim.Adam(lr=0.1).step(other, ta.grad(loss_of)(other, X, Y))
    np.testing.assert_allclose(store["w"], other["w"], rtol=1e-12)


def test_who_asks_for_values_outside_gets_them() -> None:
    record = ta.ComputationRecord()
    x = record.tensor(DATA[0])
    loss = np.sum(x**2)
    assert float(loss.data) == pytest.approx(np.sum(X**2))
    assert f"{loss.data:.3f}" == f"{np.sum(X**2):.3f}"
    assert loss.data.item() == pytest.approx(np.sum(X**2))
    close(loss.grad().wrt(x), 2 * X)


def test_records_gradients_and_handles_show_themselves_uncomputed() -> None:
    with dask.config.set(scheduler=never):
        record = ta.ComputationRecord()
        x = record.tensor(DATA[0])
        loss = np.sum(x * 2)
        gradients = loss.grad()
        shown = [repr(x), str(record), repr(gradients), record._repr_html_()]
        shown.append(record.show(gradients=gradients).html)
    assert "dask.array<array, shape=(6, 4)" in shown[0]
    assert "%0: float64[6,4] = leaf" in shown[1]


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (lambda x: np.sum(x) if np.sum(x) > 0 else x, "a branch .*test_lazy.py.* asks for the"),
        (lambda x: np.sum(x).item(), r"item\(\) .* not computed yet; write np.where to choose"),
        (lambda x: np.sum(x[x > 0]), "not computed yet; write np.where to choose"),
        (lambda x: f"{np.sum(x):.2f}", "a format .* not computed yet"),
    ],
)
def test_code_that_asks_for_values_is_told(function: Any, said: str) -> None:
    with pytest.raises(ConversionError, match=said):
        ta.grad(function)(DATA[0])


@pytest.mark.parametrize(
    ("mode", "options"),
    [("reflect", {"reflect_type": "odd"}), ("mean", {}), ("maximum", {"stat_length": 2})],
)
def test_margins_that_are_computed(mode: Any, options: dict[str, Any]) -> None:
    gradient = ta.grad(lambda x: np.sum(np.pad(x, 2, mode, **options) ** 2))
    np.testing.assert_allclose(gradient(DATA[0]).compute(), gradient(X), rtol=1e-14)


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (np.sort, "Dask has no np.take_along_axis for its arrays"),
        (lambda x: np.sum(x, where=X > 0), "Dask's sum has no where; write np.where"),
        (lambda x: np.pad(x, 9, "wrap"), "an axis of 6 by no more than its elements"),
        (lambda x: np.reshape(x, (4, 6), order="F"), "C's order alone"),
        (lambda x: np.take(x, [0], mode="wrap"), "no mode='wrap'"),
        (lambda x: np.extract(np.ones(24) > 0, x), "depends on the values of a Dask array"),
    ],
)
def test_what_dask_does_not_do_is_told(function: Any, said: str) -> None:
    with pytest.raises((UnsupportedArgumentError, ValueError), match=said):
        ta.grad(lambda x: np.sum(np.abs(function(x))))(DATA[0][:, :4].rechunk((2, 2)))


def test_nothing_is_assigned_to() -> None:
    def filled(x: Array) -> Array:
        y = x * 2
        y[0] = 1.0
        return np.sum(y)

    with pytest.raises(InPlaceError, match=r"write np\.where or np\.concatenate"):
        ta.grad(filled)(DATA[0])


def test_nan_is_not_looked_for_in_what_is_not_computed() -> None:
    with ta.debug_nans(), pytest.raises(ConversionError, match="none before it is computed"):
        ta.grad(lambda x: np.sum(x**2))(DATA[0])


@pytest.mark.parametrize("function", [ta.grad(np.sum), lambda x: ta.ComputationRecord().tensor(x)])
@pytest.mark.parametrize(
    ("value", "said"),
    [
        (delayed(np.ones)(3), "a Delayed of Dask's is no array; make a Dask array of it"),
        (DATA[0][DATA[0][:, 0] > 0], r"call x.compute_chunk_sizes\(\) first"),
    ],
)
def test_what_is_no_array_yet_is_told(function: Any, value: Any, said: str) -> None:
    with pytest.raises(UnsupportedArgumentError, match=said):
        function(value)


def test_a_task_beside_a_handle_is_told() -> None:
    x = ta.ComputationRecord().tensor(np.ones(3))
    with pytest.raises(UnsupportedArgumentError, match="a Delayed of Dask's is no array"):
        x * delayed(np.ones)(3)


@pytest.mark.parametrize("shape", [(), (0, 3), (1,)])
def test_numbers_and_empty_arrays(shape: tuple[int, ...]) -> None:
    x = np.full(shape, 3.0)
    close(ta.grad(lambda x: np.sum(x**2))(da.from_array(x)), 2 * x)
