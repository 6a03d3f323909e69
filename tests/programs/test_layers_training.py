"""Layers with their stores, training steps, `linalg` and `special`, compiled."""

import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad import nn
from tape_ad.scipy import linalg, special
from tests.programs.replaying import assert_replays

Array = Any
RNG = np.random.default_rng(0)

LAYERS: dict[str, tuple[Any, tuple[int, ...]]] = {
    "linear": (nn.Linear("a", 4, 3), (5, 4)),
    "convolution": (nn.Conv2d("a", 2, 3, 3, padding=1), (2, 2, 5, 5)),
    "layer norm": (nn.LayerNorm("a", 4), (5, 4)),
    "batch norm": (nn.BatchNorm1d("a", 4), (5, 4)),
    "pooling": (
        nn.Sequential(nn.Conv1d("a", 2, 3, 3), nn.MaxPool1d(2), nn.AvgPool1d(2)),
        (2, 2, 9),
    ),
    "attention": (nn.MultiHeadAttention("a", 4, num_heads=2), (2, 16, 4)),
    "a network": (
        nn.Sequential(
            nn.Flatten(),
            nn.Linear("a", 6, 8),
            nn.gelu,
            nn.Residual(nn.Sequential(nn.LayerNorm("n", 8), nn.Linear("b", 8, 8), nn.silu)),
            nn.Dropout(0.5),
            nn.Linear("c", 8, 3),
        ),
        (4, 2, 3),
    ),
}


def stores(layer: Any, dtype: Any = np.float64) -> list[dict[str, Array]]:
    """Draw parameters for several calls."""
    found = []
    for seed in range(4):
        store = nn.init(layer, np.random.default_rng(seed))
        found.append({name: array.astype(dtype) for name, array in store.items()})
    return found


def inputs(*shape: int, dtype: Any = np.float64) -> list[Array]:
    """Draw inputs for several calls."""
    return [RNG.normal(size=shape).astype(dtype) for _ in range(4)]


@pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["double", "single"])
@pytest.mark.parametrize("name", LAYERS)
def test_layers_and_their_gradients(name: str, dtype: Any) -> None:
    layer, shape = LAYERS[name]

    def loss(store: Any, x: Array) -> Array:
        return np.mean(layer(store, x) ** 2)

    points = list(zip(stores(layer, dtype), inputs(*shape, dtype=dtype), strict=True))
    assert_replays(layer, *points)
    trained = [(nn.partition(layer, s)[0], nn.partition(layer, s)[1], x) for s, x in points]
    assert_replays(ta.value_and_grad(lambda p, rest, x: loss(p | rest, x)), *trained)


def test_batch_norm_of_its_batch() -> None:
    layer = nn.BatchNorm2d("a", 3, track_running_stats=False)
    points = list(zip(stores(layer), inputs(2, 3, 4, 4), strict=True))
    step = ta.value_and_grad(lambda p, x: np.sum(np.sin(layer(p, x, training=True))))
    assert_replays(step, *points)


@pytest.mark.parametrize("kind", [nn.RNNCell, nn.GRUCell, nn.LSTMCell])
@pytest.mark.parametrize("batch", [(), (3,)], ids=["alone", "batch"])
def test_recurrent_cells(kind: Any, batch: tuple[int, ...]) -> None:
    cell = kind("cell", 2, 4)
    pair = kind is nn.LSTMCell

    def loss(p: Any, xs: Array) -> Array:
        h = np.zeros((*batch, 4))
        state = (h, h) if pair else h
        for t in range(3):
            state = cell(p, xs[t], state)
        return np.sum(np.sin(state[0] if pair else state))

    points = list(zip(stores(cell), inputs(3, *batch, 2), strict=True))
    assert_replays(ta.value_and_grad(loss, argnums=(0, 1)), *points)
    assert_replays(lambda p, x: ta.hvp(lambda x: loss(p, x), x, x), *points)


def test_training_steps_with_momentum_and_adam() -> None:
    layer = nn.Sequential(nn.Linear("a", 4, 8), nn.relu, nn.Linear("b", 8, 3))

    def loss(p: Any, x: Array, y: Array) -> Array:
        return nn.cross_entropy(layer(p, x), y)

    def step(p: Any, m: Any, v: Any, t: int, x: Array, y: Array, rate: float) -> Any:
        value, grads = ta.value_and_grad(loss)(p, x, y)
        m = {k: 0.9 * m[k] + 0.1 * grads[k] for k in p}
        v = {k: 0.999 * v[k] + 0.001 * grads[k] ** 2 for k in p}
        scale = rate * np.sqrt(1 - 0.999**t) / (1 - 0.9**t)
        return value, {k: p[k] - scale * m[k] / (np.sqrt(v[k]) + 1e-8) for k in p}, m, v

    points = []
    for t, (p, x) in enumerate(zip(stores(layer), inputs(5, 4), strict=True)):
        zeros = {name: np.abs(np.sin(array)) for name, array in p.items()}
        points.append((p, zeros, zeros, t + 1, x, RNG.integers(3, size=5), 0.1 / (t + 1)))
    assert_replays(step, *points)


def test_many_steps_as_a_user_takes_them() -> None:
    layer = nn.Sequential(nn.Linear("a", 4, 8), nn.tanh, nn.Linear("b", 8, 1))
    x, y = RNG.normal(size=(6, 4)), RNG.normal(size=(6, 1))

    def step(p: Any, rate: float) -> Any:
        value, grads = ta.value_and_grad(lambda p: nn.mse_loss(layer(p, x), y))(p)
        return value, {name: p[name] - rate * grads[name] for name in p}

    fast = ta.compile(step, engine="numpy")
    ours = theirs = stores(layer)[0]
    for i in range(20):
        value, ours = fast(ours, 0.1 / (i + 1))
        expected, theirs = step(theirs, 0.1 / (i + 1))
        assert value == expected
    assert all(np.array_equal(ours[name], theirs[name]) for name in ours)
    assert len(fast.programs) == 1


def peak(function: Callable[..., Any], *args: Any) -> int:
    """Measure how many bytes a call holds at once."""
    function(*args)
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        function(*args)
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()


def test_masks_of_layers_are_made_before_the_next_layer() -> None:
    layer = nn.Sequential(
        *(step for i in range(4) for step in (nn.Linear(f"{i}", 256, 256), nn.relu))
    )
    step = ta.value_and_grad(lambda p, x: np.sum(layer(p, x)))
    store, x = stores(layer, np.float32)[0], inputs(256, 256, dtype=np.float32)[0]
    compiled = ta.compile(step, engine="numpy")
    for _ in range(3):
        compiled(store, x)
    assert peak(compiled, store, x) <= peak(step, store, x)


# linalg and special


def definite(a: Array) -> Array:
    return a @ a.T + 4 * np.eye(len(a))


LINALG: dict[str, Callable[..., Any]] = {
    "solve": lambda a, b: np.linalg.solve(definite(a), b),
    "inv": lambda a, b: np.linalg.inv(definite(a)) @ b,
    "det": lambda a, b: np.linalg.det(definite(a)),
    "slogdet": lambda a, b: np.linalg.slogdet(definite(a))[1],
    "cholesky": lambda a, b: np.linalg.cholesky(definite(a)) @ b,
    "eigh": lambda a, b: np.linalg.eigh(definite(a))[0],
    "svd": lambda a, b: np.linalg.svd(a, full_matrices=False)[1],
    "qr": lambda a, b: np.linalg.qr(a)[1],
    "pinv": lambda a, b: np.linalg.pinv(a) @ b,
    "norm": lambda a, b: np.linalg.norm(a) + np.linalg.norm(b, axis=0),
    "expm": lambda a, b: linalg.expm(a) @ b,
    "solve_triangular": lambda a, b: linalg.solve_triangular(definite(a), b, lower=True),
    "cho_solve": lambda a, b: linalg.cho_solve(linalg.cho_factor(definite(a)), b),
    "lu_solve": lambda a, b: linalg.lu_solve(linalg.lu_factor(definite(a)), b),
    "sqrtm": lambda a, b: linalg.sqrtm(definite(a)) @ b,
    "block_diag": linalg.block_diag,
    "toeplitz": lambda a, b: linalg.toeplitz(a[0], b[:, 0]),
}


@pytest.mark.parametrize("name", LINALG)
def test_linear_algebra(name: str) -> None:
    def loss(a: Array, b: Array) -> Array:
        return np.sum(np.sin(LINALG[name](a, b)))

    points = list(zip(inputs(3, 3), inputs(3, 2), strict=True))
    assert_replays(ta.value_and_grad(loss, argnums=(0, 1)), *points)
    assert_replays(lambda a, b: ta.hvp(lambda a: loss(a, b), a, a), *points)


SPECIAL: dict[str, Callable[..., Any]] = {
    "gammaln": special.gammaln,
    "digamma": special.digamma,
    "erf": special.erf,
    "expit": special.expit,
    "betaln": lambda x: special.betaln(x, x + 1),
    "gammainc": lambda x: special.gammainc(2.0, x),
    "j0": special.j0,
    "logsumexp": special.logsumexp,
    "softmax": lambda x: special.softmax(x, axis=0),
    "log_softmax": lambda x: special.log_softmax(x, axis=0),
    "polygamma": lambda x: special.polygamma(1, x),
    "multigammaln": lambda x: special.multigammaln(x + 3, 2),
    "xlogy": lambda x: special.xlogy(x, x),
    "ndtr": special.ndtr,
    "zeta": lambda x: special.zeta(x + 2, 1.5),
}


@pytest.mark.parametrize("name", SPECIAL)
def test_special_functions(name: str) -> None:
    def loss(x: Array) -> Array:
        return np.sum(np.sin(SPECIAL[name](x)))

    points = [(np.abs(x) + 0.5,) for x in inputs(4)]
    assert_replays(ta.value_and_grad(loss), *points)
    assert_replays(ta.grad(lambda x: np.sum(np.sin(ta.grad(loss)(x)))), *points)
