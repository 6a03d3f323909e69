"""Generators of random numbers among the arguments of compiled functions."""

import copy
import functools
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad.base.trees import flatten
from tape_ad.errors import CaptureError, MissingParameterError, RecomputationError
from tests.programs.replaying import Counted, same_trees

Array = Any
Function = Callable[..., Any]
RNG = np.random.Generator
POINTS = [np.linspace(0, scale, 40) for scale in (1.0, 2.0, 3.0, 4.0)]


def shuffled(x: Array, rng: RNG) -> Array:
    y = x * 2
    rng.shuffle(y)
    return y - x


def branching(x: Array, rng: RNG) -> Array:
    if rng.random() < 0.5:
        return x * rng.normal()
    return x - rng.normal(size=40)


def walk(x: Array, rng: RNG) -> Array:
    total = x
    while True:
        total = total + rng.normal(size=40)
        if np.sum(total) > x[-1] * 5:
            return total


DRAWS: dict[str, Function] = {
    "an array": lambda x, rng: x + rng.normal(size=x.shape),
    "unused": lambda x, rng: (rng.normal(size=3), x * 2)[1],
    "several": lambda x, rng: (
        x * rng.normal(size=40) + rng.uniform(size=40) - x * rng.normal(size=40)
    ),
    "numbers": lambda x, rng: x * rng.normal() + rng.random(),
    "indices": lambda x, rng: x[rng.integers(0, 40, 5)] * rng.integers(3),
    "with parameters": lambda x, rng: rng.normal(x, np.exp(x)),
    "permutations": lambda x, rng: x[rng.permutation(40)] - rng.permutation(x),
    "choices": lambda x, rng: rng.choice(x, 5, replace=False, p=np.exp(x) / np.sum(np.exp(x))),
    "single precision": lambda x, rng: rng.random(40, np.float32) * x,
    "in place": shuffled,
    "branches": branching,
    "loops": walk,
    "in a structure": lambda x, rng: {"sample": rng.standard_normal(3), "x": x},
}


def state(rng: Any) -> str:
    return str(rng.bit_generator.state if isinstance(rng, RNG) else rng.get_state(legacy=False))


def assert_draws_alike(function: Function, make: Function, *points: Any, **options: Any) -> Any:
    """Call a compiled function and the function itself with generators alike, and compare."""
    compiled: Any = ta.compile(function, max_programs=100, **options)
    ours, theirs = make(7), make(7)
    for call in range(16):
        point = points[call % len(points)]
        got, wanted = compiled(*point, ours), function(*point, theirs)
        if options["engine"] == "numpy":
            same_trees(got, wanted)
        else:
            pairs = zip(flatten(got), flatten(wanted), strict=True)
            assert all(np.allclose(*pair, rtol=1e-6) for pair in pairs)
        assert state(ours) == state(theirs)
        if call % 3 == 2:  # somebody else draws as well
            assert ours.normal() == theirs.normal()
    return compiled


@pytest.mark.parametrize("engine", ["numpy", "native"])
@pytest.mark.parametrize("name", DRAWS)
def test_draws(name: str, engine: str) -> None:
    if engine == "native":
        pytest.importorskip("llvmlite")
    points = [(x,) for x in POINTS]
    compiled = assert_draws_alike(DRAWS[name], np.random.default_rng, *points, engine=engine)
    assert len(compiled.programs) == (2 if name == "branches" else 1) or name == "loops"


@pytest.mark.parametrize("engine", ["numpy", "native"])
def test_the_same_numbers_again_and_checks(engine: str) -> None:
    if engine == "native":
        pytest.importorskip("llvmlite")
    for every in (None, 0, 1):
        assert_draws_alike(
            DRAWS["several"], np.random.default_rng, POINTS[:1], engine=engine, check_every=every
        )


def test_legacy_generators() -> None:
    def draws(x: Array, rng: Any) -> Array:
        return x + rng.randn(40) + rng.normal() + rng.rand() + rng.normal(size=40)

    points = [(x,) for x in POINTS]
    assert_draws_alike(draws, np.random.RandomState, *points, engine="numpy", check_every=2)


def test_generators_that_are_one() -> None:
    def draws(x: Array, one: Any, other: Any) -> Array:
        return x + one.normal(size=40) - 2 * other.normal(size=40) + one.random()

    fast = ta.compile(draws, engine="numpy")
    for call in range(12):
        make = functools.partial(np.random.default_rng, call)
        pairs = []
        for _ in range(2):
            one = make()
            pairs.append((one, one if call % 3 else make()))
        same_trees(fast(POINTS[call % 4], *pairs[0]), draws(POINTS[call % 4], *pairs[1]))
    assert len(fast.programs) == 2
    one, alike = np.random.default_rng(0), np.random.default_rng(0)
    got = fast(POINTS[0], one, np.random.Generator(one.bit_generator))
    same_trees(got, draws(POINTS[0], alike, alike))
    with pytest.raises(CaptureError, match="bit generator of another one"):
        fast(POINTS[0], one, np.random.RandomState(one.bit_generator))


def loss(w: Array, x: Array, rng: RNG) -> Array:
    return np.sum(ta.nn.dropout(np.tanh(x * w), 0.3, rng=rng) ** 2)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    "transform",
    [
        ta.value_and_grad,
        lambda f: lambda w, x, rng: ta.hvp(lambda w: f(w, x, rng), w, np.cos(w)),
        lambda f: lambda w, x, rng: ta.jvp(lambda w: f(w, x, rng), (w,), (x,)),
    ],
    ids=["gradient", "hvp", "jvp"],
)
def test_dropout_in_training(transform: Any, dtype: Any) -> None:
    points = [(x.astype(dtype) + dtype(1), x.astype(dtype)) for x in POINTS]
    compiled = assert_draws_alike(
        transform(loss), np.random.default_rng, *points, engine="numpy", check_every=3
    )
    assert len(compiled.programs) == 1


def test_runs_by_seeds_of_its_own() -> None:
    counted = Counted(DRAWS["several"])
    fast: Any = ta.compile(counted, engine="numpy", check_every=0)
    for seed in range(8):
        got = fast(POINTS[seed % 4], rng=np.random.default_rng(seed))
        same_trees(got, DRAWS["several"](POINTS[seed % 4], rng=np.random.default_rng(seed)))
    assert counted.runs == 2


def test_an_error_in_the_middle_draws_once() -> None:
    def solved(x: Array, rng: RNG) -> Array:
        noise = rng.normal(size=(2, 2))
        return np.linalg.inv(x) + noise

    fast = ta.compile(solved)
    ours, theirs = np.random.default_rng(1), np.random.default_rng(1)
    for matrix in [np.eye(2), 2 * np.eye(2), np.zeros((2, 2)), 3 * np.eye(2)] * 2:
        outcomes = []
        for function, rng in ((fast, ours), (solved, theirs)):
            try:
                outcomes.append(function(matrix, rng))
            except np.linalg.LinAlgError:
                outcomes.append(None)
        np.testing.assert_array_equal(*outcomes)
        assert state(ours) == state(theirs)


def test_threads_with_generators_of_their_own() -> None:
    fast = ta.compile(DRAWS["several"], engine="numpy", check_every=2)

    def run(seed: int) -> bool:
        ours, theirs = np.random.default_rng(seed), np.random.default_rng(seed)
        return all(
            fast(POINTS[i % 4], ours).tobytes() == DRAWS["several"](POINTS[i % 4], theirs).tobytes()
            for i in range(40)
        )

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(run, range(8)))


def test_check_draws_once() -> None:
    fast = ta.compile(DRAWS["several"], engine="numpy")
    rng = np.random.default_rng(2)
    fast.check(POINTS[0], rng)
    before = copy.deepcopy(rng)
    fast.check(POINTS[1], rng)
    DRAWS["several"](POINTS[1], before)
    assert state(rng) == state(before)


REFUSED: dict[str, tuple[Function, str]] = {
    "spawn": (lambda x, rng: rng.spawn(2)[0].normal() + x, r"\.spawn"),
    "state": (lambda x, rng: x + len(rng.bit_generator.state), r"\.bit_generator"),
    "bytes": (lambda x, rng: len(rng.bytes(3)) * x, r"\.bytes"),
    "a plain list": (lambda x, rng: rng.shuffle([1, 2]), r"write x = rng\.permutation\(x\)"),
    "out": (lambda x, rng: rng.random(out=x * 2), r"out="),
    "returned": (lambda x, rng: (x, rng), "a Generator at .*leave it out"),
    "copied": (lambda x, rng: copy.deepcopy(rng).normal() + x, "copied or pickled"),
    "made again": (
        lambda x, rng: np.random.default_rng(rng).normal() + x,
        "leave .*default_rng out",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_followed(name: str) -> None:
    function, told = REFUSED[name]
    with pytest.raises(CaptureError, match=told):
        ta.compile(function)(POINTS[0], np.random.default_rng(0))


def test_solvers_that_draw() -> None:
    optimize = pytest.importorskip("tape_ad.scipy.optimize")

    def search(x: Array, rng: RNG) -> Any:
        return optimize.basinhopping(lambda p: np.sum((p - x[0]) ** 2), [1.0], rng=rng).x

    with pytest.raises(CaptureError, match="a generator of random numbers is given to"):
        ta.compile(search)(POINTS[1], np.random.default_rng(0))


def test_what_is_computed_again_draws_again() -> None:
    def noisy(x: Array, rng: RNG) -> Array:
        return np.sum(ta.checkpoint(lambda x, rng: x * rng.normal(size=40))(x, rng))

    with pytest.raises(RecomputationError, match="other values in the sweep"):
        ta.compile(ta.grad(noisy))(POINTS[0], np.random.default_rng(0))


# Layers with statistics, as pure functions

NORM = ta.nn.BatchNorm1d("norm", 8)
MODEL = ta.nn.Sequential(
    ta.nn.Linear("a", 4, 8),
    NORM,
    ta.nn.gelu,
    ta.nn.Dropout(0.2),
    NORM,
    ta.nn.Linear("b", 8, 2),
)


@pytest.mark.parametrize("momentum", [0.1, None])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_apply_gives_what_a_call_leaves(momentum: float | None, dtype: Any) -> None:
    layer = ta.nn.BatchNorm1d("norm", 3, momentum=momentum, dtype=dtype)
    store = ta.nn.init(layer, np.random.default_rng(0))
    for seed in range(3):
        x = np.random.default_rng(seed).normal(size=(5, 3)).astype(dtype)
        before = copy.deepcopy(store)
        y, statistics = layer.apply(store, x, training=True)
        same_trees(store, before)
        same_trees(y, layer(store, x, training=True))
        same_trees(statistics, {name: store[name] for name in statistics})
    assert layer.apply(store, x)[1]["norm.num_batches_tracked"] == 3


@pytest.mark.parametrize("engine", ["numpy", "native"])
def test_a_whole_step_of_training(engine: str) -> None:
    if engine == "native":
        pytest.importorskip("llvmlite")
    optimizer = ta.optim.SGD(0.05, momentum=0.5)

    def loss(params: Any, statistics: Any, x: Array, y: Array, rng: RNG) -> Any:
        out, statistics = MODEL.apply(params | statistics, x, rng=rng, training=True)
        return np.mean((out - y) ** 2), statistics

    def step(params: Any, statistics: Any, moved: Any, x: Array, y: Array, rng: RNG) -> Any:
        gradient = ta.value_and_grad(loss, has_aux=True)
        (value, statistics), slopes = gradient(params, statistics, x, y, rng)
        params, moved = optimizer.update(params, slopes, moved)
        return params, statistics, moved, value

    store = ta.nn.init(MODEL, np.random.default_rng(0))
    params, statistics = ta.nn.partition(MODEL, store)
    plainly: Any = step
    fast: Any = ta.compile(step, engine=engine)
    ours: Any = (params, statistics, {})
    theirs: Any = (params, statistics, {})
    data, one, two = (np.random.default_rng(seed) for seed in (1, 2, 2))
    for _ in range(8):
        x, y = data.normal(size=(16, 4)), data.normal(size=(16, 2))
        *ours, value = fast(*ours, x, y, one)
        *theirs, wanted = plainly(*theirs, x, y, two)
        np.testing.assert_allclose(value, wanted, rtol=1e-12)
        for got, other in zip(ours[1].values(), theirs[1].values(), strict=True):
            np.testing.assert_allclose(got, other, rtol=1e-10)
    assert len(fast.programs) == 2
    assert ours[1]["norm.num_batches_tracked"] == 16


def test_apply_puts_nothing_into_a_store() -> None:
    with pytest.raises(MissingParameterError, match="apply does not put into the store"):
        ta.nn.Linear("a", 2, 2).apply({}, np.ones(2), rng=np.random.default_rng(0))
