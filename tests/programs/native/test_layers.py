"""Our layers' functions in native code, beside eager."""

from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad.base.naming import called
from tape_ad.base.trees import flatten
from tape_ad.programs.engines.native.codegen.vectors import NO_LIBRARY
from tape_ad.programs.engines.native.native_engine import assembled
from tape_ad.record.sweeps import are_finite
from tape_ad.rules.nn.activations import (
    exponentials,
    log_softmax,
    log_softmax_change,
    log_softmax_pulled,
    logsumexp,
    softmax,
    softmax_change,
)
from tape_ad.rules.nn.cross_entropies import (
    cross_entropy,
    loss_change,
    loss_of_classes,
    loss_pulled,
    places,
)
from tape_ad.rules.nn.normalization import normalized, standardized, standardized_change
from tests.programs.native.hosts import using
from tests.programs.native.running import agree
from tests.programs.native.test_products import numbers

INF, NAN = np.inf, np.nan
ROWS = np.array(
    [
        [0.0, -0.0, 1.0, 2.0],
        [1e4, 1e4, -1e4, 0.0],
        [-INF, 0.0, 1.0, -INF],
        [-INF, -INF, -INF, -INF],
        [INF, 0.0, 1.0, 2.0],
        [NAN, 0.0, 1.0, 2.0],
        [0.0, INF, NAN, -INF],
        [700.0, -745.0, 710.0, -710.0],
    ]
)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("function", [softmax, log_softmax, logsumexp])
@pytest.mark.parametrize("axis", [-1, 0, (0, 1), None])
def test_special_values(function: Any, axis: Any) -> None:
    agree(lambda x: function(x, axis=axis), ROWS, units=16)
    agree(lambda x: function(x, axis=axis), ROWS.T.astype("f4"), units=16)


@pytest.mark.parametrize("dtype", ["f8", "f4", "i4"])
@pytest.mark.parametrize("axis", [-1, 1, (0, 2), None])
@pytest.mark.parametrize("function", [softmax, log_softmax, logsumexp])
def test_normalized_exponentials(function: Any, axis: Any, dtype: str) -> None:
    x = numbers((3, 4, 70), dtype) / np.dtype(dtype).type(1 if dtype == "i4" else 5)
    x = x.astype(dtype)
    scale = 1 + np.abs(function(x, axis=axis)) + np.abs(x).max()
    agree(lambda x: function(x, axis=axis), x, units=8, scale=scale)


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("axis", [-1, (0, 1), None])
def test_exponentials(axis: Any, keepdims: bool) -> None:
    agree(lambda x: exponentials(x, axis, keepdims), numbers((3, 5), "f8"), units=8)


@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.parametrize("function", [softmax_change, log_softmax_change, log_softmax_pulled])
@pytest.mark.parametrize("axes", [(-1,), (-2,), (-2, -1)])
def test_changes_of_softmax(function: Any, axes: Any, dtype: str) -> None:
    p = softmax(numbers((4, 30), dtype) / 5, axis=axes).astype(dtype)
    for shape in ((4, 30), (3, 4, 30)):
        t = numbers(shape, dtype, 1)
        agree(lambda t, p: function(t, p, axes), t, p, scale=np.abs(t).sum())


@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.parametrize("shape", [(7, 10), (1, 3), (5, 1), (2, 3, 10)])
def test_losses_of_classes(shape: Any, dtype: str) -> None:
    rng = np.random.default_rng(0)
    logits = numbers(shape, dtype)
    for kind in ("i8", "u1"):
        targets = rng.integers(0, shape[-1], shape[:-1]).astype(kind)
        scale = np.abs(logits).max() + 1
        agree(lambda x, t: loss_of_classes(x, places(t), 7), logits, targets, units=16, scale=scale)
        _, e, totals = loss_of_classes(logits, places(targets), 7)
        for ct in (np.array(2.0, dtype), numbers((3,), dtype)):
            agree(
                lambda ct, e, totals, t: loss_pulled(ct, e, totals, places(t), 0.5),
                ct,
                e,
                totals,
                targets,
                units=8,
                scale=np.abs(ct).max(),
            )
        agree(
            lambda t, e, totals, n: loss_change(t, e, totals, places(n), 0.5),
            numbers((2, *shape), dtype),
            e,
            totals,
            targets,
            units=16,
            scale=scale * totals.size * 100,
        )


def test_another_class_has_its_own_loss() -> None:
    step = ta.compile(ta.value_and_grad(cross_entropy), engine="native")
    logits = numbers((6, 4), "f8")
    for seed in range(5):
        targets = np.random.default_rng(seed).integers(0, 4, 6)
        loss, slopes = step(logits, targets)
        expected, wanted = ta.value_and_grad(cross_entropy)(logits, targets)
        assert np.isclose(loss, expected, rtol=1e-14)
        assert np.allclose(slopes, wanted, rtol=1e-13, atol=1e-16)


@pytest.mark.parametrize("wrong", [-1, 4, 2**40])
def test_a_class_that_is_none_is_an_error(wrong: int) -> None:
    step = ta.compile(ta.value_and_grad(cross_entropy), engine="native")
    logits, targets = numbers((6, 4), "f8"), np.arange(6) % 4
    for _ in range(3):
        step(logits, targets)
    targets[3] = wrong
    with pytest.raises(IndexError, match=r"must lie in 0\.\.3"):
        step(logits, targets)


@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.parametrize("axes", [(-1,), (-2, -1), (-3, -1)])
def test_normalization(axes: Any, dtype: str) -> None:
    x, t = numbers((3, 4, 30), dtype), numbers((3, 4, 30), dtype, 1)
    w, b = numbers(30, dtype, 2), numbers(30, dtype, 3)
    agree(lambda x: standardized(x, axes, 1e-5), x, units=16, scale=20)
    agree(lambda x, w, b: normalized(x, w, b, axes, 1e-5), x, w, b, units=16, scale=100)
    y, divisor = standardized(x, axes, 1e-5)
    agree(lambda t, y, d: standardized_change(t, y, d, axes), t, y, divisor, units=32, scale=20)


@pytest.mark.filterwarnings("ignore")
def test_sums_tell_whether_all_is_finite() -> None:
    def asked(x: Any, y: Any) -> Any:
        return x * 2 if are_finite([x, y]) else x * 3

    x, y = numbers((3, 4), "f8"), numbers(5, "f4")
    agree(asked, x, y)
    fast = ta.compile(asked, engine="native")
    for spoilt in (1.0, 2.0, NAN, 1.0, INF, -INF, 1.0):
        y[3] = spoilt
        assert np.array_equal(fast(x, y), x * (2 if np.isfinite(spoilt) else 3))


def test_layers_without_a_vector_library() -> None:
    x, w, b = numbers((4, 30), "f8"), numbers(30, "f8", 1), numbers(30, "f8", 2)
    with using(NO_LIBRARY):
        agree(lambda x: (softmax(x), log_softmax(x), logsumexp(x)), x / 5, units=64, scale=10)
        agree(lambda x, w, b: normalized(x, w, b, (-1,), 1e-5), x, w, b, units=16, scale=100)


@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_a_step_of_training_is_one_run(dtype: str) -> None:
    def loss(p: Any, x: Any) -> Any:
        return np.mean((np.tanh(x @ p["w"] + p["b"]) - 1) ** 2)

    def step(p: Any, state: Any, x: Any) -> Any:
        value, gradients = ta.value_and_grad(loss)(p, x)
        return value, gradients, *ta.optim.Adam().update(p, gradients, state)

    rng = np.random.default_rng(0)
    p = {"w": rng.normal(size=(3, 4)).astype(dtype), "b": np.zeros(4, dtype)}
    x = rng.normal(size=(6, 3)).astype(dtype)
    state = step(p, {}, x)[-1]
    fast = ta.compile(step, engine="native")
    for _ in range(3):
        found, expected = fast(p, state, x), step(p, state, x)
    for one, other in zip(flatten(found), flatten(expected), strict=True):
        near = 1e-13 if dtype == "f8" else 1e-5
        assert np.asarray(one).dtype == np.asarray(other).dtype
        np.testing.assert_allclose(one, other, rtol=near, atol=near)
    assert not any(each.flags.writeable for each in found[1].values())
    made = assembled(fast.programs[0])
    assert len(made.segments) == 1
    assert {called(getattr(step, "function", None)) for step, _ in made.left} == {"through_buffer"}
