"""Compiled functions that are called with handles: one node each, with compiled derivatives."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad.base.trees import flatten
from tape_ad.errors import ProgramMismatchError, RecomputationError
from tests.programs.replaying import Counted

Array = Any
Function = Callable[..., Any]
X = np.linspace(-1, 1, 7)


def layers(x: Array) -> Array:
    for _ in range(5):
        x = np.tanh(x) * 1.1
    return x


def mixed(x: Array, p: Any) -> Any:
    return {"a": np.sin(x) * p["w"], "n": 3, "b": [np.cumsum(x) @ p["w"], None]}


def branching(x: Array) -> Array:
    return np.sum(np.exp(x)) if np.sum(x) > 0 else np.sum(x**3)


def assert_agrees(make: Function, function: Function, *points: Any, engine: str = "numpy") -> Any:
    """Compare what a transform makes of a compiled function and of the function itself."""
    fast: Any = ta.compile(function, engine=engine)
    through, plainly = make(fast), make(function)
    for point in (*points, *points, *points):
        for got, wanted in zip(flatten(through(point)), flatten(plainly(point)), strict=True):
            assert np.asarray(got).dtype == np.asarray(wanted).dtype
            np.testing.assert_allclose(got, wanted, rtol=1e-10, atol=1e-12)
    return fast


def summed(f: Function) -> Function:
    return lambda x: np.sum(f(x) * np.cos(x)) + np.sum(x)


def both(f: Function) -> Function:
    def total(x: Array) -> Array:
        out = f(x, {"w": x * x})
        return np.sum(out["a"]) * out["b"][0] * out["n"]

    return ta.value_and_grad(total)


def on_a_record(f: Function) -> Function:
    def slope(x: Array) -> Array:
        h = ta.ComputationRecord().tensor(x)
        return np.sum(f(h * h)).grad().wrt(h)

    return slope


MAKES: dict[str, Function] = {
    "gradient": lambda f: ta.value_and_grad(summed(f)),
    "hessian": lambda f: ta.hessian(summed(f)),
    "third order": lambda f: ta.grad(
        lambda x: np.sum(ta.grad(lambda z: np.sum(ta.grad(summed(f))(z) ** 2))(x) ** 2)
    ),
    "hvp": lambda f: lambda x: ta.hvp(summed(f), x, np.cos(x)),
    "jvp": lambda f: lambda x: ta.jvp(f, (x,), (np.cos(x),)),
    "jacobian": ta.jacobian,
    "forward jacobian": lambda f: ta.jacobian(f, mode="forward"),
    "twice": lambda f: ta.grad(lambda x: np.sum(f(f(x)) * f(x * x))),
    "a record": on_a_record,
}
POINTS = [X * scale for scale in (1.0, 0.5, 2.0, 1.5)]


@pytest.mark.parametrize("engine", ["numpy", "native"])
@pytest.mark.parametrize("name", MAKES)
def test_derivatives(name: str, engine: str) -> None:
    if engine == "native":
        pytest.importorskip("llvmlite")
    assert_agrees(MAKES[name], layers, *POINTS, engine=engine)


def test_structures() -> None:
    assert_agrees(both, mixed, *POINTS)


@pytest.mark.parametrize("make", [ta.value_and_grad, ta.hessian])
def test_branches(make: Function) -> None:
    points = [X + shift for shift in (1.0, -1.0, 2.0, -2.0)]
    fast = assert_agrees(make, branching, *points)
    assert len(fast.programs) == 2


def test_single_precision_and_other_shapes() -> None:
    points = [*[x.astype(np.float32) for x in POINTS], np.ones(3), np.ones((2, 2)), *POINTS]
    assert_agrees(MAKES["gradient"], layers, *points)


def test_the_function_itself_rests() -> None:
    counted = Counted(layers)
    fast = ta.compile(counted, engine="numpy", check_every=0)
    slope = ta.grad(summed(fast))
    for scale in range(1, 12):
        slope(X * scale)
    runs = counted.runs
    assert runs <= 6
    for scale in range(1, 12):
        x = X * scale / 3
        np.testing.assert_allclose(slope(x), ta.grad(summed(layers))(x), rtol=1e-12)
    assert counted.runs == runs


def test_one_node() -> None:
    fast = ta.compile(layers)
    record = ta.ComputationRecord()
    h = record.tensor(X)
    assert type(fast(h)) is ta.Tensor
    assert len(record) == 2


def test_handles_that_are_closed_over() -> None:
    def outer(x: Array) -> Array:
        h = np.sin(x)
        return ta.compile(lambda y: np.sum(y * h))(x * 2)

    for x in POINTS:
        wanted = ta.grad(lambda x: np.sum(x * 2 * np.sin(x)))(x)
        np.testing.assert_allclose(ta.grad(outer)(x), wanted, rtol=1e-12)


def test_a_closure_that_gets_a_handle_later() -> None:
    factor: Any = np.ones(7)
    fast = ta.compile(lambda y: np.sum(y * factor))
    for x in POINTS:
        np.testing.assert_allclose(ta.grad(fast)(x), factor)

    def outer(x: Array) -> Array:
        nonlocal factor
        factor = x * x
        return fast(x)

    for x in POINTS:
        np.testing.assert_allclose(ta.grad(outer)(x), 3 * x * x, rtol=1e-12)


def test_variables_are_watched() -> None:
    power = 2
    fast = ta.compile(lambda x: np.sum(x**power), engine="numpy")
    for power in (2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 2, 2):
        for scale in (1.0, 2.0, 3.0):
            x = X * scale
            np.testing.assert_allclose(ta.grad(fast)(x), power * x ** (power - 1), rtol=1e-12)


def test_draws_are_not_made_again() -> None:
    def noisy(x: Array, rng: np.random.Generator) -> Array:
        return np.sum(x * rng.normal(size=7))

    fast = ta.compile(noisy)
    one, two = np.random.default_rng(0), np.random.default_rng(0)
    for x in POINTS:
        got, wanted = ta.grad(fast)(x, one), ta.grad(noisy)(x, two)
        assert got.tobytes() == wanted.tobytes()
    rng = np.random.default_rng(3)
    kept: list[Array] = []

    @ta.custom_rule(pull=lambda ct, out, x: ct * kept[-1])
    def drawn(x: Array) -> Array:
        kept.append(rng.normal(size=7) + 0 * float(x[0]))
        return x * kept[-1]

    random = ta.compile(lambda x: np.sum(drawn(x)))
    for x in POINTS:
        slope = ta.grad(random)(x)
        assert slope.tobytes() == kept[-1].tobytes()


def test_draws_from_elsewhere() -> None:
    rng = np.random.default_rng(5)
    kept: list[Array] = []

    def noisy(x: Array) -> Array:
        noise = rng.normal(size=7)
        kept.append(noise)
        return np.sum(x * noise)

    slope = ta.grad(ta.compile(noisy))
    for x in POINTS:
        assert slope(x).tobytes() == kept[-1].tobytes()


COUNT = [0.0]


def test_what_is_computed_otherwise_in_the_sweep() -> None:
    def counting(x: Array) -> Array:
        eval("COUNT").append(1.0)  # noqa: S307 - which no watching sees
        return np.sum(x * x * len(eval("COUNT")))  # noqa: S307 - as above

    with pytest.raises(RecomputationError, match="gives other values in the sweep"):
        ta.grad(ta.compile(counting))(X)


EXPONENT = 2.0


def powers(x: Array) -> Array:
    return np.sum(x**EXPONENT)


@pytest.mark.parametrize("calls", [1, 2, 3, 12])
def test_a_variable_that_is_bound_anew_before_the_sweep(
    calls: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    fast = ta.compile(powers)
    for k in range(1, calls):
        ta.grad(fast)(np.ones(3) * k)
    h = ta.ComputationRecord().tensor(np.ones(3))
    before = fast(h)
    monkeypatch.setattr(f"{__name__}.EXPONENT", 3.0)  # of which the value is the same
    if calls > 3:  # where what the pull needs is kept
        np.testing.assert_array_equal(before.grad().wrt(h), np.full(3, 2.0))
    else:
        with pytest.raises(RecomputationError, match="EXPONENT is bound to something else"):
            before.grad()
    _, push = ta.linearize(fast, np.ones(3))
    monkeypatch.setattr(f"{__name__}.EXPONENT", 4.0)
    with pytest.raises(RecomputationError, match="EXPONENT is bound to something else"):
        push(np.ones(3))


def test_residuals_that_are_nearly_zero_may_be_rounded_otherwise() -> None:
    pytest.importorskip("llvmlite")
    optimize = pytest.importorskip("tape_ad.scipy.optimize")

    def residual(x: Array, a: Array) -> Array:
        return np.exp(x) + np.sin(x) * x - a

    fast = ta.compile(residual, engine="native")
    for scale in np.linspace(1, 2, 8):
        a = np.linspace(1.1, 4, 3) * scale
        got, wanted = (
            ta.grad(lambda a, f=f: np.sum(optimize.root(f, np.full(3, 0.7), args=(a,)).x))(a)
            for f in (fast, residual)
        )
        np.testing.assert_allclose(got, wanted, rtol=1e-8)


HIDDEN = {"factor": 2.0}


def test_checks_go_on() -> None:
    def scaled(x: Array) -> Array:
        return np.sum(x * x * eval("HIDDEN")["factor"])  # noqa: S307 - which no watching sees

    slope = ta.grad(ta.compile(scaled, check_every=5))

    def run(count: int) -> None:
        for shift in range(count):
            np.testing.assert_allclose(slope(X + shift), 4 * (X + shift))

    run(30)
    HIDDEN["factor"] = 3.0
    with pytest.raises(ProgramMismatchError):
        run(60)


def test_sparsity_is_seen_through() -> None:
    square = ta.compile(lambda x: x**2)
    for x in POINTS:
        assert ta.sparse_jacobian(square)(x).nnz == 7


def test_threads() -> None:
    fast = ta.compile(layers, engine="numpy")

    def run(shift: float) -> bool:
        slope, plainly = ta.grad(summed(fast)), ta.grad(summed(layers))
        return all(np.allclose(slope(X + shift * i), plainly(X + shift * i)) for i in range(30))

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(run, np.linspace(0.1, 1, 8)))


def test_within_a_capture_it_is_its_function() -> None:
    inner = ta.compile(layers)
    whole = ta.compile(ta.grad(summed(inner)), engine="numpy")
    for x in POINTS:
        np.testing.assert_allclose(whole(x), ta.grad(summed(layers))(x), rtol=1e-12)
    assert not inner.programs
