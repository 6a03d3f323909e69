"""Functions that values decide in: those of a batch with one path are computed at once."""

import logging
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.optimize
import scipy.stats

import tape_ad as ta
from tape_ad.errors import BatchWarning, InPlaceError

Array = Any

X = np.random.default_rng(0).normal(size=(6, 3))
NUMBERS = np.array([2.0, 100.0, 3.0, 1e4, 5.0, 2.0])


def branch(x: Array) -> Array:
    return 2 * x * x[0] if x[0] > 0 else np.sin(x)


def branches(x: Array) -> Array:
    if x[0] > 0:
        if x[1] > 0:
            return np.log(x[0]) * x
        return 3 * x**2
    return np.sqrt(-x[0]) * x


def square_root(a: Array) -> Array:
    root = 1.0 + 0 * a
    while abs(root * root - a) > 1e-10:
        root = root - (root * root - a) / (2 * root)
    return root


def masked(x: Array) -> Array:
    return np.sum(x[x > 0] ** 2)


def mask_assigned(x: Array) -> Array:
    y = x**2
    y[x > 0] = 3 * x[x > 0]
    return y


def chosen(x: Array) -> Array:
    return [np.sin, np.cos, np.exp][int(np.argmax(x))](x)


def repeated(x: Array) -> Array:
    for _ in range(np.argmax(x)):
        x = np.sin(x)
    return x


def different(x: Array) -> Array:
    return np.sum(np.unique(np.round(x)) ** 2) * x


def tried(x: Array) -> Array:
    try:
        return np.linalg.cholesky(np.diag(x) + np.eye(3)) @ x
    except np.linalg.LinAlgError:
        return 7 * x**2


def constant(x: Array) -> Array:
    return x**2 if np.all(np.abs(x) < 1) else np.zeros(3)


FUNCTIONS: list[tuple[Callable[[Array], Array], Array]] = [
    (branch, X),
    (branches, X),
    (square_root, NUMBERS),
    (masked, X),
    (mask_assigned, X),
    (chosen, X),
    (repeated, X),
    (different, X),
    (tried, X),
    (constant, X),
]
every_function = pytest.mark.parametrize(
    ("f", "xs"), FUNCTIONS, ids=[f.__name__ for f, _ in FUNCTIONS]
)
looping = pytest.mark.filterwarnings("ignore::tape_ad.errors.BatchWarning")


def same(found: Array, each: list[Array]) -> None:
    """Compare a result of all with those of one after the other."""
    np.testing.assert_allclose(found, np.stack(each), rtol=1e-12, atol=1e-14)


@looping
@every_function
def test_values_and_derivatives_are_those_of_one_after_the_other(
    f: Callable[[Array], Array], xs: Array
) -> None:
    def total(x: Array) -> Array:
        return np.sum(f(x))

    def squares(x: Array) -> Array:
        return np.sum(ta.grad(total)(x) ** 2)

    def all_squares(x: Array) -> Array:
        return np.sum(ta.batched(ta.grad(total))(x) ** 2)

    same(ta.batched(f)(xs), [f(x) for x in xs])
    if f is constant:
        return  # which is no handle for all of them
    slopes = [ta.grad(total)(x) for x in xs]
    same(ta.batched(ta.grad(total))(xs), slopes)
    same(ta.grad(lambda x: np.sum(ta.batched(f)(x)))(xs), slopes)
    same(ta.batched(ta.hessian(total))(xs), [ta.hessian(total)(x) for x in xs])
    same(ta.batched(ta.jacobian(f))(xs), [ta.jacobian(f)(x) for x in xs])
    same(ta.grad(all_squares)(xs), [ta.grad(squares)(x) for x in xs])


@looping
@every_function
def test_in_nested_batches_and_compiled(f: Callable[[Array], Array], xs: Array) -> None:
    for_all = ta.batched(f)
    nested = np.stack([xs, 1.01 * xs[::-1]])
    same(ta.batched(for_all)(nested), [for_all(part) for part in nested])
    fast = ta.compile(for_all)
    for part in (xs, 1.01 * xs[::-1], xs):
        same(fast(part), [f(x) for x in part])


def test_there_is_a_run_for_each_path_and_no_loop() -> None:
    calls: list[Any] = []

    def f(x: Array) -> Array:
        calls.append(x.shape)
        return branch(x)

    for_all = ta.batched(f)
    for_all(np.random.default_rng(1).normal(size=(100, 3)))

    assert len(calls) == 2
    assert not for_all.looped
    assert for_all.explain().endswith("test_decisions.py")


def test_steps_that_end_apart_take_a_run_for_each_number_of_them() -> None:
    calls: list[Any] = []

    def f(x: Array) -> Array:
        calls.append(x)
        return square_root(x)

    numbers = np.linspace(1.5, 4000.0, 200)
    same(ta.batched(f)(numbers), [square_root(x) for x in numbers])
    assert len(calls) <= 8 + 200


@pytest.mark.parametrize("ask", [float, lambda x: np.asarray(x).item(), lambda x: x.tolist()])
def test_numbers_that_are_others_for_each_are_asked_of_one_after_the_other(
    ask: Callable[[Array], float],
) -> None:
    with pytest.warns(BatchWarning, match=r"line \d+ of test_decisions\.py"):
        found = ta.batched(lambda x: 2 * ask(x[0]))(X)

    same(found, [2 * x[0] for x in X])


def test_a_number_that_would_drop_a_gradient_is_refused_as_for_one() -> None:
    with pytest.raises(ta.errors.ConversionError):
        ta.grad(lambda x: np.sum(ta.batched(lambda one: float(one[0]) * one)(x)))(X)


def test_numbers_of_those_that_went_another_way_are_no_warning() -> None:
    def f(x: Array) -> Array:
        if x > 0:
            return np.log(x)
        return np.sqrt(-x)

    xs = np.array([1.0, 2.0, 3.0, -4.0, -5.0])
    same(ta.batched(f)(xs), [f(x) for x in xs])


def test_what_is_raised_for_some_is_raised() -> None:
    def f(x: Array) -> Array:
        if x < 0:
            raise LookupError("negative")
        return x

    with pytest.raises(LookupError, match="negative"):
        ta.batched(f)(np.array([1.0, 2.0, -1.0]))


@pytest.mark.parametrize("xs", [np.array([1.0, 2.0, -3.0, 4.0, -5.0]), np.array([1.0, -2.0])])
def test_what_is_written_to_an_argument_is_seen_as_in_a_loop(xs: Array) -> None:
    def f(x: Array) -> Array:
        if x[0] > 0:
            x *= 2
        return x + 1

    found, stack = ta.batched(f), xs[:, np.newaxis].copy()
    same(found(stack), list(np.where(xs > 0, 2 * xs, xs)[:, np.newaxis] + 1))
    same(stack[:, 0], list(np.where(xs > 0, 2 * xs, xs)))


def test_what_was_written_before_it_was_decided_is_not_called_again() -> None:
    def f(x: Array) -> Array:
        x *= 2
        return x if x[0] > 0 else -x

    with pytest.raises(InPlaceError, match=r"x\.copy"):
        ta.batched(f)(X.copy())


def test_random_numbers_begin_again() -> None:
    def f(x: Array, rng: Any) -> Array:
        return x + rng.normal() if rng.normal() > 0 else rng.normal(size=3) * x

    found = ta.batched(f)(X, np.random.default_rng(0))
    same(found, [f(x, r) for x, r in zip(X, np.random.default_rng(0).spawn(6), strict=True)])


def test_outputs_stand_where_they_are_wanted() -> None:
    def f(x: Array) -> Any:
        return (x, "name", 1.0) if x[0] > 0 else (-x, "name", 1.0)

    first, name, number = ta.batched(f, out_axes=(1, 0, None))(X)
    same(first.T, [f(x)[0] for x in X])
    assert (name, number) == ("name", 1.0)
    with pytest.raises(ValueError, match="out_axes is None"):
        ta.batched(branch, out_axes=None)(X)


def test_parts_of_a_batch_that_come_after_each_other_decide_by_themselves() -> None:
    same(ta.batched(branch, batch_size=4)(X), [branch(x) for x in X])


def test_a_batch_of_what_is_compiled_decides() -> None:
    fast = ta.compile(branch)
    same(ta.batched(fast)(X), [branch(x) for x in X])
    same(ta.batched(ta.compile(square_root))(NUMBERS), [square_root(x) for x in NUMBERS])


@looping
def test_what_is_nan_for_all_is_no_endless_question() -> None:
    def unwrapped(x: Array) -> Array:
        return np.unwrap(x, period=x[0] * np.nan)

    np.testing.assert_array_equal(ta.batched(unwrapped)(X), np.stack([unwrapped(x) for x in X]))


def root_or_line(x: Array) -> Array:
    return np.sqrt(x) if x > 0 else 3 * x


@pytest.mark.filterwarnings("ignore::tape_ad.errors.TieWarning")
def test_derivatives_of_a_branch_that_one_has_not_taken_are_left_out() -> None:
    xs, slopes = np.array([0.0, 1.0, 4.0]), [3.0, 0.5, 0.25]
    assert ta.grad(lambda x: np.sum(ta.batched(root_or_line)(x)))(xs).tolist() == slopes
    assert ta.jacobian(ta.batched(root_or_line))(xs).tolist() == np.diag(slopes).tolist()
    assert ta.batched(ta.grad(root_or_line))(xs).tolist() == slopes


@pytest.mark.filterwarnings("ignore::tape_ad.errors.BatchWarning")
@pytest.mark.parametrize(
    "ask",
    [
        lambda x: scipy.stats.trim_mean(x, 0.1),
        lambda x: scipy.optimize.brentq(lambda t: t**3 - x[0], -10, 10),
    ],
)
def test_a_function_does_not_catch_what_a_library_asks_of_a_batch(ask: Any) -> None:
    def asking(x: Array) -> Array:
        try:
            return ask(x)
        except Exception:
            return -1.0

    assert ta.batched(asking)(X).tolist() == [asking(x) for x in X]


def cut(x: Any, n: Any) -> Any:
    y = x * 1.0
    y[n:] = 0.0
    return np.sum(y**2)


BOUNDS: dict[str, Callable[..., Any]] = {
    "stop": lambda x, n: np.sum(x[:n] ** 2),
    "start": lambda x, n: np.sum(x[n - 4 :] ** 2),
    "both": lambda x, n: np.sum(np.outer(x, x)[:n, 1 : n + 1]),
    "written to": cut,
}


@pytest.mark.filterwarnings("ignore::tape_ad.errors.BatchWarning")
@pytest.mark.parametrize("function", BOUNDS.values(), ids=BOUNDS)
def test_bounds_of_slices_for_each_are_compiled(function: Callable[..., Any]) -> None:
    x, numbers = np.arange(12.0).reshape(3, 4) + 1, np.array([1, 2, 3])
    for of in (lambda f: f, ta.grad):
        fast = ta.compile(ta.batched(of(function)))
        for n in (numbers, numbers, numbers[::-1], np.array([2, 2, 2]), numbers):
            expected = [of(function)(row, stop) for row, stop in zip(x, n, strict=True)]
            np.testing.assert_allclose(fast(x, n), expected, rtol=1e-12)


def by_text(x: Array) -> Array:
    scale = {"-": 2.0}.get(str(x[0])[0], 3.0)
    return x * scale * len(f"{float(x[1]):.0f}") * (f"{x[2]}" < "0")


@pytest.mark.filterwarnings("ignore::tape_ad.errors.BatchWarning")
@pytest.mark.parametrize("made", [ta.differentiable, lambda f: f])
def test_texts_are_of_each(made: Callable[..., Any]) -> None:
    expected = np.stack([by_text(x) for x in X])

    np.testing.assert_array_equal(ta.batched(made(by_text))(X), expected)


def test_what_is_printed_or_logged_is_no_number_of_one(
    capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    def square(x: Array) -> Array:
        print("at", x)  # noqa: T201 - what is printed is looked at
        logging.warning("at %s", x)
        return x * x

    for transform, shown in ((lambda f: f, "at {}"), (ta.grad, "at Tensor(%0, float64[], {})")):
        ta.batched(transform(square))(NUMBERS)
        text = shown.format("BatchedArray(float64[] in each of 6)")
        assert (capsys.readouterr().out, caplog.messages) == (f"{text}\n", [text])
        caplog.clear()


@pytest.mark.parametrize("batch_size", [None, 2, 1])
def test_outputs_of_several_structures_are_refused(batch_size: Any) -> None:
    def named(x: Array) -> Any:
        return {"a": x, "b": 2 * x} if x[0] > 0 else {"b": 2 * x, "a": x}

    with pytest.raises(ValueError, match="several structures"):
        ta.batched(named, batch_size=batch_size)(X)


def few(x: Array) -> Array:
    return np.sum(x[x > 0] ** 2)


def placed(x: Array) -> Array:
    y = np.outer(x, x)
    y[x > 0, 0] = x[x > 0]
    y[:, x < 0.2] *= x[0]
    return np.sum(y * x)


def through_view(x: Array) -> Array:
    y = np.outer(x, x)
    view = y.T[1:]
    view[x[1:] < 0] = x[0]
    y[0][x > 0] = 0.5
    return np.sum(y * x)


def listed(x: Array) -> Array:
    kept = np.compress(x > 0, np.outer(x, x), axis=1)
    return np.sum(kept) + np.sum(np.extract(x > 0.1, x) ** 2) + np.sum(x[np.flatnonzero(x < 0)])


@pytest.mark.filterwarnings("ignore::tape_ad.errors.BatchWarning")
@pytest.mark.parametrize("function", [few, placed, through_view, listed])
@pytest.mark.parametrize("transform", [lambda f: f, ta.grad, ta.hessian])
def test_masks_of_each_pick_and_assign(function: Any, transform: Any) -> None:
    xs = np.random.default_rng(6).normal(size=(9, 4))  # the first has not as many as most
    expected = np.stack([transform(function)(x) for x in xs])

    np.testing.assert_allclose(ta.batched(transform(function))(xs), expected)
    np.testing.assert_allclose(ta.batched(ta.batched(transform(function)))(xs[None])[0], expected)


def test_masks_with_as_many_elements_are_computed_at_once() -> None:
    batched = ta.batched(ta.grad(few))
    batched(np.array([[1.0, -2.0, 3.0], [-1.0, 2.0, 3.0], [1.0, 2.0, -3.0]]))

    assert batched.explain() == "everything was computed for the whole batch at once"


def test_a_mask_does_not_fit_other_axes() -> None:
    with pytest.raises(IndexError):
        ta.batched(lambda x: np.outer(x, x)[0, np.append(x, 1) > 0])(X)
