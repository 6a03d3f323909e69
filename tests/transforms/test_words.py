"""All orders of `grad`, `batched` and `compile`, and of records between them, against loops."""

import itertools
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import tape_ad as ta
import tape_ad.interop.array_api as xp
from tape_ad.errors import CaptureError, InPlaceError, RecordMismatchError

Function = Callable[..., Any]

X = np.array([0.3, 0.7, -0.4])
LETTERS = "gbc"
WORDS = [
    "".join(word)
    for length in (1, 2, 3, 4)
    for word in itertools.product(LETTERS, repeat=length)
    if word.count("b") <= 2
]


def quartic(x: Any) -> Any:
    """Compute x⁴ + sin(x): all that the words differentiate and batch, element by element."""
    return x**4 + np.sin(x)


def slope(order: int, x: Any) -> Any:
    """Give a derivative of `quartic`."""
    powers = [x**4, 4 * x**3, 12 * x**2, 24 * x, 24.0, 0.0]
    return powers[order] + np.sin(x + order * np.pi / 2)


def slope_of(f: Function) -> Function:
    """Differentiate the sum of what a function gives, over what has been batched already."""

    def summed(x: Any) -> Any:
        return np.sum(f(x))

    return ta.grad(summed)


def made(word: str, f: Function = quartic) -> tuple[Function, int]:
    """Read a word from its end: what is done to the function first stands last."""
    steps: dict[str, Function] = {"g": slope_of, "b": ta.batched, "c": ta.compile}
    for letter in reversed(word):
        f = steps[letter](f)
    return f, word.count("b")


def argument(axes: int) -> Any:
    """Give an argument with so many axes for batches."""
    return [np.float64(0.3), X, np.stack([X, X + 1.0])][axes]


@pytest.mark.parametrize("word", WORDS)
def test_a_word(word: str) -> None:
    f, axes = made(word)
    x = argument(axes)
    expected = slope(word.count("g"), x)
    for _ in range(2):  # captured, and replayed
        np.testing.assert_allclose(f(x), expected, rtol=1e-12)


@pytest.mark.parametrize("word", [word for word in WORDS if "c" not in word])
def test_a_variable_that_is_closed_over_at_every_depth(word: str) -> None:
    """d/dt of t³ f'(t x), by a `t` that no function in between gets as an argument."""

    def outer(t: Any) -> Any:
        def times(f: Function) -> Function:
            return lambda x: f(x) * t

        f = times(quartic)
        for letter in reversed(word):
            f = times(slope_of(f)) if letter == "g" else ta.batched(f)
        return np.sum(f(x) * t)

    _, axes = made(word)
    x = argument(axes)
    power = 2 + word.count("g")
    expected = slope(word.count("g"), x)
    np.testing.assert_allclose(ta.grad(outer)(1.5), power * 1.5 ** (power - 1) * np.sum(expected))


@pytest.mark.parametrize("word", [word for word in WORDS if len(word) <= 3])
def test_a_word_within_an_explicit_record(word: str) -> None:
    f, axes = made(word)
    x = argument(axes)
    rec = ta.ComputationRecord()
    t = rec.tensor(x)
    expected = slope(word.count("g") + 1, x)
    out: Any = np.sum(f(t))
    np.testing.assert_allclose(out.grad().wrt(t), expected, rtol=1e-12)


@pytest.mark.parametrize("word", [word for word in WORDS if len(word) <= 3])
def test_an_explicit_record_within_a_word(word: str) -> None:
    def by_record(x: Any) -> Any:
        rec = ta.ComputationRecord()
        t = rec.tensor(x)
        return quartic(t).grad().wrt(t)

    f, axes = made(word, by_record)
    x = argument(axes)
    expected = slope(word.count("g") + 1, x)
    for _ in range(2):
        np.testing.assert_allclose(f(x), expected, rtol=1e-12)


# What is right, or refused, since the level says whose call it is


def test_a_record_made_in_a_transform_meets_what_is_closed_over() -> None:
    def f(x: Any) -> Any:
        t = ta.ComputationRecord().tensor(2.0)
        return (t**3 * x).grad().wrt(t)  # 3 t² x

    assert ta.grad(f)(5.0) == 12.0


def test_a_record_within_a_transform_that_closes_over_an_older_record() -> None:
    a = ta.ComputationRecord().tensor(3.0)

    def f(x: Any) -> Any:
        t = ta.ComputationRecord(within=x.record).tensor(x)
        return (t * t * a).grad().wrt(t)  # 2 a x

    found: Any = ta.grad(f)(5.0)  # 2 a
    assert found.data == 6.0
    assert found.grad().wrt(a) == 2.0


def test_a_handle_of_a_transform_in_threads() -> None:
    def f(x: Any) -> Any:
        with ThreadPoolExecutor(2) as pool:
            return sum(pool.map(lambda a: ta.grad(lambda y: y**3 * x)(a) * x, [1.0, 2.0]))

    assert ta.grad(f)(3.0) == 2 * 3.0 * (3 + 12)


def test_an_older_record_gets_no_leaf_of_a_batch() -> None:
    rec = ta.ComputationRecord()
    with pytest.raises(RecordMismatchError, match="made; make the record in it"):
        ta.batched(lambda x: rec.tensor(x) * 2)(X)
    assert len(rec) == 0


def test_an_older_record_gets_no_leaf_of_a_capture() -> None:
    rec = ta.ComputationRecord()
    with pytest.raises(CaptureError, match="make the record in it"):
        ta.compile(lambda x: rec.tensor(x).data * 2)(X)


def test_a_leaked_handle_of_a_transform_meets_nothing() -> None:
    kept: list[Any] = []

    def f(x: Any) -> Any:
        kept.append(x)
        return x * x

    ta.grad(f)(1.0)
    other = ta.ComputationRecord().tensor(2.0)
    with pytest.raises(RecordMismatchError, match=r"np\.multiply got handles of two records"):
        other * kept[0]
    with pytest.raises(RecordMismatchError):
        ta.grad(lambda y: y * kept[0])(1.0)


def test_generators_left_open_and_errors_half_way() -> None:
    def steps(x: Any) -> Iterator[Any]:
        while True:
            yield ta.grad(lambda y: y**3 * x)(x)  # 3 x³

    def f(x: Any) -> Any:
        opened = steps(x)
        first = next(opened)
        with pytest.raises(ZeroDivisionError):
            ta.grad(lambda y: y * (1 // 0) * x)(x)
        with pytest.raises(ZeroDivisionError):
            ta.batched(lambda y: y * (1 // 0) * x)(X)
        return first + next(opened)

    assert ta.grad(f)(2.0) == 2 * 9 * 4


# Each kind of box beside each other, wherever it may stand


def beside(x: Any, y: Any) -> list[Any]:
    """Use two arrays, each wherever NumPy takes one."""
    filled = np.zeros_like(x * y)
    filled[1:] = (x * y)[1:]
    filled += y
    return [
        x * y,
        np.arctan2(y, x),
        np.concatenate([x, y]),
        np.where(y > 0.5, x, y),
        np.clip(x, a_min=0.0, a_max=np.max(y)),
        np.take_along_axis(y, np.argsort(x), 0),
        np.take(x, np.argmax(y)),
        x[np.argsort(y)],
        np.add(x, 1, out=x * y),
        filled,
        np.stack([x, [1.0, 2.0, 3.0], y]),
        np.einsum("i,i->", x, y),
    ]


def total(x: Any, y: Any) -> Any:
    """Add up all that `beside` gives, each with a weight."""
    return sum((i + 1) * np.sum(np.sin(each)) for i, each in enumerate(beside(x, y)))


def by_differences(f: Function, x: Any, h: float = 1e-6) -> Any:
    """Differentiate a function by central differences."""
    units = np.eye(len(x)) * h
    return np.array([(f(x + unit) - f(x - unit)) / (2 * h) for unit in units])


A, B = np.array([0.3, 0.9, 0.6]), np.array([0.8, 0.2, 0.55])
EXPECTED = by_differences(lambda x: total(x, B), A), by_differences(lambda y: total(A, y), B)


@pytest.mark.parametrize("turned", [False, True])
def test_handles_of_nested_records_beside_each_other(turned: bool) -> None:
    def nested(x: Any, y: Any) -> Any:
        return (
            ta.grad(lambda z: total(z, y))(x) if not turned else ta.grad(lambda z: total(x, z))(y)
        )

    np.testing.assert_allclose(nested(A, B), EXPECTED[turned], rtol=1e-6)
    closed = ta.jacobian(lambda x: nested(x, B) if not turned else nested(A, x))
    mixed = ta.jacobian(lambda x: nested(A, x) if not turned else nested(x, B))
    both = ta.hessian(lambda v: total(v[:3], v[3:]))(np.concatenate([A, B]))
    first, second = both[:3, :3], both[3:, 3:]
    np.testing.assert_allclose(closed(A if not turned else B), second if turned else first)
    across = both[:3, 3:] if not turned else both[3:, :3]
    np.testing.assert_allclose(mixed(B if not turned else A), across)


@pytest.mark.filterwarnings("ignore::tape_ad.errors.BatchWarning")
@pytest.mark.parametrize("turned", [False, True])
def test_batched_arrays_beside_handles(turned: bool) -> None:
    xs = np.stack([A, A[::-1], A + 0.1])
    one: Function = (lambda z, x: total(x, z)) if turned else total
    loop = np.array([by_differences(lambda v, x=x: one(x, v), B) for x in xs])
    inner = ta.batched(lambda x: ta.grad(lambda v: one(x, v))(B))(xs)
    outer = ta.jacobian(lambda v: ta.batched(lambda x: one(x, v))(xs))(B)
    np.testing.assert_allclose(inner, loop, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(outer, inner, rtol=1e-12)


@pytest.mark.parametrize("turned", [False, True])
def test_captured_arrays_beside_handles(turned: bool) -> None:
    f: Function = (lambda z, x: total(x, z)) if turned else total
    compiled = ta.compile(lambda x, y: ta.grad(lambda v: f(x, v))(y))
    for x in (A, A[::-1].copy()):
        np.testing.assert_allclose(
            compiled(x, B), by_differences(lambda v, x=x: f(x, v), B), rtol=1e-6, atol=1e-8
        )


def test_captured_numbers_beside_batched_arrays() -> None:
    f = ta.compile(lambda x, s: ta.batched(lambda row: np.where(row > 0, row, s) * s)(x))
    for s in (2.0, 3.0):
        np.testing.assert_array_equal(f(X, s), np.where(X > 0, X, s) * s)


def test_constants_of_the_array_api_beside_every_other_kind() -> None:
    c: Any = xp.asarray(B)
    key: Any = xp.asarray([2, 0, 1])
    end: Any = xp.asarray(2)

    def f(x: Any, c: Any, key: Any, end: Any) -> Any:
        joined = np.concatenate([x * c, np.stack([c, x])[0], c[:end] * x[:end]])
        return np.sum(np.sin(joined)) + np.sum(x[key] * c**2)

    constant: Function = lambda x: f(x, c, key, end)  # noqa: E731 - as the one beside it
    plain: Function = lambda x: f(x, B, np.array([2, 0, 1]), 2)  # noqa: E731 - as the one beside it
    xs = np.stack([A, A[::-1]])
    for transform in (ta.grad, ta.compile, lambda g: ta.grad(lambda x: np.sum(ta.grad(g)(x) ** 2))):
        np.testing.assert_allclose(transform(constant)(A), transform(plain)(A), rtol=1e-14)
    for g in (lambda g: g, ta.grad):
        np.testing.assert_allclose(ta.batched(g(constant))(xs), ta.batched(g(plain))(xs))


def test_an_argument_that_holds_itself() -> None:
    x = ta.ComputationRecord().tensor(A)
    held: list[Any] = [1.0]
    held.append(held)
    with pytest.raises(RecursionError, match="or itself"):
        np.concatenate([x, held])


def test_an_error_names_the_function() -> None:
    x, y = ta.ComputationRecord().tensor(A), ta.ComputationRecord().tensor(B)
    calls: list[tuple[Function, str]] = [
        (lambda: np.arctan2(x, y), "arctan2"),
        (lambda: np.concatenate([x, y]), "concatenate"),
        (lambda: np.where(A > 0, x, y), "where"),
        (lambda: x @ y, "matmul"),
    ]
    for call, name in calls:
        with pytest.raises(RecordMismatchError, match=rf"np\.{name} got handles of two records"):
            call()


def test_a_batched_value_goes_into_no_older_handle() -> None:
    held: Any = ta.ComputationRecord().constant(np.zeros(3))
    with pytest.raises(InPlaceError, match="batched value"):
        ta.batched(lambda x: held.__setitem__(0, x))(X)
    with pytest.raises(InPlaceError, match="batched value"):
        ta.batched(held.__iadd__)(X)
