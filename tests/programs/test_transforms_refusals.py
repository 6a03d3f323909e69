"""What a compiled function may not do, and what it says then: the function and the user's line."""

import math
import operator
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad import nn
from tape_ad.errors import CaptureError, InPlaceError
from tape_ad.optim import SGD
from tests.programs.replaying import assert_replays, same_trees

Array = Any
X = np.array([0.5, 1.5, -2.0])
BUFFER = np.zeros(3)


def refusal(function: Callable[..., Any], *calls: tuple[Any, ...]) -> str:
    """Give the message of the error that some call raises, which names this file."""
    compiled = ta.compile(function)

    def call_all() -> None:
        for args in calls:
            compiled(*args)

    with pytest.raises(CaptureError) as raised:
        call_all()
    message = str(raised.value)
    assert function.__name__ in message
    return message


def names_a_line(message: str) -> bool:
    """Tell whether an error names a line of this file."""
    return "of test_transforms_refusals.py" in message


# What is returned


def test_a_handle_is_not_returned() -> None:
    def f(x: Array) -> Any:
        return ta.ComputationRecord().tensor(x) * 2

    assert "a handle; return its .data or its gradient" in refusal(f, (X,))


def test_a_pull_is_not_returned() -> None:
    def f(x: Array) -> Any:
        return ta.vjp(np.sin, x)

    assert "which cannot be made again by a replay" in refusal(f, (X,))


def test_a_push_is_not_returned() -> None:
    def f(x: Array) -> Any:
        return {"push": ta.linearize(np.sin, x)[1]}

    message = refusal(f, (X,))
    assert "['push']" in message
    assert "which cannot be made again by a replay" in message


# Handles from elsewhere


def test_a_handle_in_a_closure() -> None:
    rec = ta.ComputationRecord()
    t = rec.tensor(X)

    def f(x: Array) -> Any:
        return np.sum(x * t)

    compiled = ta.compile(f)
    with pytest.raises(CaptureError, match=r"^f cannot be compiled: .*handle"):
        compiled(X)


def test_what_was_captured_is_not_used_later() -> None:
    kept: list[Any] = []

    def f(x: Array) -> Any:
        kept.append(x * 2)
        return np.sum(x)

    compiled = ta.compile(f)
    compiled(X)
    with pytest.raises(CaptureError, match="which has been captured and has returned"):
        np.sin(kept[0])
    with pytest.raises(CaptureError, match="which has been captured and has returned"):
        ta.grad(lambda y: np.sum(y * kept[0]))(X)


# Writing


def add_one(x: Array) -> Array:
    x += 1
    return x


def set_first(x: Array) -> Array:
    x[0] = 0.0
    return x


def sort_it(x: Array) -> Array:
    x.sort()
    return x


def fill_it(x: Array) -> Array:
    x.fill(0)
    return x


def copy_to(x: Array) -> Array:
    np.copyto(x, 0)
    return x


def add_at(x: Array) -> Array:
    np.add.at(x, [0], 1)
    return x


def into_out(x: Array) -> Array:
    return np.multiply(x, 2, out=x)


@pytest.mark.parametrize("function", [add_one, set_first, fill_it, copy_to, add_at, into_out])
def test_arguments_are_not_written_to(function: Callable[..., Any]) -> None:
    x = X.copy()
    message = refusal(function, (x,))
    assert names_a_line(message)
    assert "write" in message


def test_arguments_are_not_sorted_in_place() -> None:
    with pytest.raises((AttributeError, CaptureError), match="sort"):
        ta.compile(sort_it)(X.copy())


def test_a_plain_array_is_not_written_to() -> None:
    buffer = np.zeros(3)

    def by_out(x: Array) -> Array:
        np.multiply(x, 2, out=buffer)
        return buffer

    def by_key(x: Array) -> Array:
        buffer[:] = x
        return buffer

    def by_global(x: Array) -> Array:
        BUFFER[:] = x
        return BUFFER

    for function in (by_out, by_key, by_global):
        assert names_a_line(refusal(function, (X,)))


# Written for plain arrays: a copy of the function is captured


def rows(x: Array) -> Array:
    made = np.zeros((2, 3))
    made[0] = x
    return made


def elements(x: Array) -> Array:
    made = np.zeros(3)
    for i in range(3):
        made[i] = x[i] * 2
    return made


def in_place(x: Array) -> Array:
    made = np.ones(3)
    made *= x
    return made


def matrix(x: Array) -> Array:
    return np.array([[x[0], 1.0], [0.0, x[1]]]) @ x[:2]


PLAINLY: dict[str, Callable[..., Any]] = {
    "rows": rows,
    "elements": elements,
    "in place": in_place,
    "matrix": matrix,
    "asarray": lambda x: np.asarray(x) * 2,
    "array": lambda x: np.array([x[0], x[1]]),
    "array of one": lambda x: 2 * np.array(x),
    "joined": lambda x: np.sum(np.concatenate([np.asarray(x), x])),
    "full": lambda x: np.full(4, x[0]),
    "picked": lambda x: np.eye(3)[np.argsort(x)] @ x,
    "masked": lambda x: np.arange(3.0)[x > x[1]] * x[1],
    "of a type": lambda x: x * 2 if type(x) is np.ndarray else x * 3,
}


@pytest.mark.parametrize("name", PLAINLY)
def test_code_for_plain_arrays(name: str) -> None:
    function = PLAINLY[name]
    compiled: Any = ta.compile(function, engine="numpy", check_every=2)
    for scale in (1.0, 2.0, 3.0, 1.0, 2.0, 4.0):
        same_trees(compiled(scale * X), function(scale * X))
    assert len(compiled.programs) == 1


@pytest.mark.parametrize("name", PLAINLY)
@pytest.mark.parametrize("transform", [ta.value_and_grad, ta.hessian])
def test_derivatives_beside_code_for_plain_arrays(name: str, transform: Any) -> None:
    function = transform(lambda x, y: np.sum(np.sin(x) * np.sum(PLAINLY[name](y))))
    compiled: Any = ta.compile(function, engine="numpy", check_every=2)
    for scale in (1.0, 2.0, 3.0, 1.0, 2.0, 4.0):
        same_trees(compiled(X, scale * X), function(X, scale * X))
    assert len(compiled.programs) == 1


def test_types_that_stand_for_others_are_told() -> None:
    def function(x: Array, n: Any) -> Array:
        return x * (2 if type(n) is float else 3 if type(x[0]) is np.float64 else 4)

    compiled: Any = ta.compile(function)
    for n in (1.0, 2.0, 3.0, 1, 2, 3):
        np.testing.assert_allclose(compiled(X * n, n), function(X * n, n), rtol=1e-12)
    with pytest.raises(CaptureError, match="write isinstance"):
        compiled(X, np.float64(1))


FACTOR = 2.0


def test_variables_of_code_for_plain_arrays_are_watched(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = ta.compile(lambda x: np.array([x[0], FACTOR * x[1]]), engine="numpy")
    slope = ta.compile(ta.grad(lambda a, x: a * np.array([x[0], FACTOR * x[1]])[1]), engine="numpy")
    for factor in (2.0, 2.0, 2.0, 3.0, 3.0, 3.0):
        monkeypatch.setattr(f"{__name__}.FACTOR", factor)
        assert compiled(X).tolist() == [X[0], factor * X[1]]
        assert slope(1.0, X) == factor * X[1]


TABLE = np.arange(6.0).reshape(3, 2)


@pytest.mark.parametrize("engine", ["numpy", "native"])
def test_tables_that_arguments_pick_from_are_watched(
    engine: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def function(x: Array, labels: Array) -> Array:
        return np.sum(TABLE[labels, 1] * x)

    monkeypatch.setattr(f"{__name__}.TABLE", TABLE.copy())
    slope = ta.compile(ta.grad(function), engine=engine)
    for step in range(9):
        labels = np.random.default_rng(step).integers(0, 3, 4)
        if step == 4:
            TABLE[1] = 7.0
        if step == 6:
            monkeypatch.setattr(f"{__name__}.TABLE", TABLE * 2)
        np.testing.assert_array_equal(slope(np.ones(4), labels), TABLE[labels, 1])


def test_numbers_in_an_array() -> None:
    compiled: Any = ta.compile(lambda a, b: np.array([a, b, 1.0]), engine="numpy")
    for a in (1.0, 2.0, 3.0, 4.0):
        assert compiled(a, 2 * a).tolist() == [a, 2 * a, 1.0]
    assert len(compiled.programs) == 1


def test_parameters_are_not_updated_in_place() -> None:
    def step(params: dict[str, Array], x: Array) -> Any:
        value, grads = ta.value_and_grad(lambda p: np.sum((p["w"] * x) ** 2))(params)
        SGD(0.1).step(params, grads)
        return value

    params = {"w": X.copy()}
    message = refusal(step, (params, X))
    assert names_a_line(message)
    assert "the parameter 'w'" in message
    np.testing.assert_array_equal(params["w"], X)


def test_running_statistics_are_not_updated_in_place() -> None:
    layer = nn.BatchNorm1d("norm", 2)
    store = nn.init(layer, np.random.default_rng(0))

    def step(store: dict[str, Array], x: Array) -> Array:
        return layer(store, x, training=True)

    message = refusal(step, (store, np.array([[1.0, 2.0], [3.0, 5.0]])))
    assert names_a_line(message)
    assert "the running statistics of the layer 'norm'" in message


def test_running_statistics_in_a_closure_are_left_alone() -> None:
    layer = nn.BatchNorm1d("norm", 2)
    store = nn.init(layer, np.random.default_rng(0))

    def step(x: Array) -> Array:
        return layer(store, x, training=True)

    message = refusal(step, (np.array([[1.0, 2.0], [3.0, 5.0]]),))
    assert "the running statistics of the layer 'norm'" in message
    assert store["norm.num_batches_tracked"] == 0


# Leaving NumPy


def test_mathematics_of_c_is_guarded() -> None:
    def f(x: Array) -> Any:
        return np.sum(x) * math.exp(x[0])

    compiled = ta.compile(f, max_programs=3)
    for scale in (1.0, 2.0, 1.0, 2.0, 1.0, 2.0):
        same_trees(compiled(scale * X), f(scale * X))
    same_trees(compiled(3 * X), f(3 * X))
    with pytest.warns(ta.errors.CompileWarning, match=r"line \d+ of test_transforms_refusals.py"):
        same_trees(compiled(4 * X), f(4 * X))
    same_trees(compiled(5 * X), f(5 * X))


# What is made anew


def test_random_draws_are_refused() -> None:
    rng = np.random.default_rng(0)

    def drawn(x: Array) -> Array:
        return x + rng.normal(size=3)

    message = refusal(drawn, (X,), (X,), (X,))
    assert names_a_line(message)
    assert "pass it as an argument" in message


def test_dropout_by_a_mask_among_the_arguments() -> None:
    def dropped(x: Array, kept: Array) -> Array:
        return np.where(kept, x / 0.5, 0)

    rng = np.random.default_rng(0)
    points = [(rng.normal(size=8), rng.random(8) < 0.5) for _ in range(4)]
    assert_replays(ta.grad(lambda x, kept: np.sum(dropped(x, kept) ** 2)), *points)


def test_a_clock_is_refused() -> None:
    def timed(x: Array) -> Array:
        return x * time.perf_counter()

    message = refusal(timed, (X,), (X,), (X,))
    assert names_a_line(message)


def test_a_counter_is_refused() -> None:
    count = [0.0]

    def counted(x: Array) -> Array:
        count[0] += 1
        return x * count[0]

    assert names_a_line(refusal(counted, (X,), (X,), (X,)))


@pytest.mark.parametrize("change", [operator.iadd, operator.imul, operator.ipow])
def test_a_handle_is_not_written_into_a_plain_array(change: Callable[..., Any]) -> None:
    def f(x: Array, w: Array) -> Array:
        buffer = w * 2.0
        change(buffer[:], x)
        return np.sum(buffer * x)

    for slope in (ta.grad(f), ta.compile(ta.grad(f)), ta.grad(ta.compile(f))):
        with pytest.raises(InPlaceError, match="would write a handle into a plain array"):
            slope(X, X + 3.0)


def test_a_handle_is_not_assigned_to_a_plain_array() -> None:
    def filled(x: Array) -> Array:
        buffer = np.zeros_like(x.data) * x.data
        buffer[0] = x[0]
        return np.sum(buffer)

    message = refusal(ta.grad(filled), (X,))
    assert names_a_line(message)
    assert "would drop its gradient" in message

    def mended(x: Array) -> Array:
        buffer = np.zeros_like(x)
        buffer[0] = x[0]
        return np.sum(buffer**2)

    assert_replays(ta.grad(mended), (X,), (X + 1.0,), (X + 2.0,))


def test_derivatives_of_a_compiled_function_pick_of_a_plain_array_too() -> None:
    table, places, x = np.arange(1.0, 5.0), np.array([0, 2, 2]), np.array([1.0, 2.0, 3.0])

    def picked(k: Array, x: Array) -> Array:
        return np.sum(np.sin(table[k] * x))

    compiled = ta.compile(picked, engine="numpy")
    for transform in (ta.grad, ta.hessian):
        np.testing.assert_allclose(
            transform(compiled, argnums=1)(places, x), transform(picked, argnums=1)(places, x)
        )
