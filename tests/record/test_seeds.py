"""Numbers worked out by hand, and bugs of earlier programs that have to stay dead."""

import time
from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad.rules.nn.activations import log_softmax, relu


def test_product_plus_constant() -> None:
    rec: Any = ta.ComputationRecord()
    x, y = rec.tensor(2.0), rec.tensor(3.0)
    out = (x * y) + 4
    grads = out.grad()
    assert out.data == 10
    assert grads.wrt(x) == 3
    assert grads.wrt(y) == 2


def test_the_expression_of_micrograds_readme() -> None:
    rec: Any = ta.ComputationRecord()
    a, b = rec.tensor(-4.0), rec.tensor(2.0)
    c = a + b
    d = a * b + b**3
    c += c + 1
    c += 1 + c + (-a)
    d += d * 2 + relu(b + a)
    d += 3 * d + relu(b - a)
    e = c - d
    f = e**2
    g = f / 2.0
    g += 10.0 / f
    grads = g.grad()
    assert round(g.item(), 4) == 24.7041
    assert round(grads.wrt(a).item(), 4) == 138.8338
    assert round(grads.wrt(b).item(), 4) == 645.5773


def test_two_steps_of_descent_on_a_product() -> None:
    x, y = 2.0, 3.0
    values = []
    for _ in range(2):
        rec: Any = ta.ComputationRecord()
        hx, hy = rec.tensor(x), rec.tensor(y)
        z = hx * hy
        values.append(z.item())
        x -= 0.1 * z.grad().wrt(hx).item()
    np.testing.assert_allclose(values, [6.0, 5.1], rtol=1e-15)
    assert x == pytest.approx(1.4, rel=1e-15)
    assert values[1] / y == pytest.approx(1.7, rel=1e-15)


def test_linear_relu_sum_loses_042_each_step() -> None:
    rng = np.random.default_rng(0)
    w = rng.uniform(0.5, 1.0, (3, 3))
    x = np.array([[1.0, 2.0, 3.0]])
    losses = []
    for _ in range(5):
        rec: Any = ta.ComputationRecord()
        hw = rec.tensor(w)
        out = x @ hw
        active = relu(out)
        loss = np.sum(active)
        grads = loss.grad()
        losses.append(loss.item())
        np.testing.assert_array_equal(grads.wrt(out), np.ones((1, 3)))
        w = w - 0.01 * grads.wrt(hw)
    np.testing.assert_allclose(np.diff(losses), -0.42, rtol=0, atol=1e-14)


def test_a_reused_node_gets_both_contributions() -> None:
    rec: Any = ta.ComputationRecord()
    x = rec.tensor(3.0)
    y = 2 * x
    out = y * y
    grads = out.grad()
    assert grads.wrt(x) == 24
    assert grads.wrt(y) == 12


def test_sixty_doublings_take_no_time() -> None:
    start = time.perf_counter()
    rec: Any = ta.ComputationRecord()
    x = v = rec.tensor(1.0)
    for _ in range(60):
        v = v + v
    gradient = v.grad().wrt(x)
    assert gradient == 2.0**60
    assert len(rec) == 61
    assert time.perf_counter() - start < 1.0


def test_asking_appends_nothing() -> None:
    rec: Any = ta.ComputationRecord()
    p = rec.bind({"w": np.ones(3), "unused": np.ones(2)})
    loss = np.sum(p["w"] * p["w"])
    before = str(rec)
    grads = loss.grad()
    grads.wrt(p)
    grads.wrt(p["unused"])
    assert str(rec) == before


def test_an_unreached_handle_gives_zeros_of_its_shape() -> None:
    rec: Any = ta.ComputationRecord()
    x, other = rec.tensor(2.0), rec.tensor(np.ones((2, 3), np.float32))
    grads = (x * x).grad()
    np.testing.assert_array_equal(grads.wrt(other), np.zeros((2, 3), np.float32), strict=True)


def test_log_softmax_of_large_logits() -> None:
    rec: Any = ta.ComputationRecord()
    logits = rec.tensor([[1e4, 0.0, -1e4], [-1e4, -1e4, -1e4]])
    out = log_softmax(logits)
    gradient = out.grad(seed=[[0.0, 1.0, 0.0], [0.0, 1.0, 0.0]]).wrt(logits)
    np.testing.assert_array_equal(out.data[0], [0.0, -1e4, -2e4])
    np.testing.assert_allclose(out.data[1], -np.log(3), rtol=1e-15)
    np.testing.assert_allclose(
        gradient, [[-1.0, 1.0, 0.0], [-1 / 3, 2 / 3, -1 / 3]], rtol=1e-15, atol=0
    )


def test_log_softmax_composed_of_numpy_functions() -> None:
    rec: Any = ta.ComputationRecord()
    logits = rec.tensor([1e4, 0.0, -1e4])
    shifted = logits - np.max(logits)
    out = shifted - np.log(np.sum(np.exp(shifted)))
    gradient = out.grad(seed=np.array([0.0, 1.0, 0.0])).wrt(logits)
    np.testing.assert_array_equal(out.data, [0.0, -1e4, -2e4])
    np.testing.assert_allclose(gradient, [-1.0, 1.0, 0.0], rtol=0, atol=1e-15)
