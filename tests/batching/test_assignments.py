"""Arrays of a batch that are written to, and views of them."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad.errors import BatchWarning, InPlaceError
from tests.batching.cases import Array, X, same


def test_an_assignment_shows_in_the_argument_as_in_a_loop() -> None:
    stack = X.copy()

    def double(x: Array) -> None:
        x *= 2

    ta.batched(double)(stack)

    np.testing.assert_array_equal(stack, 2 * X)


def assigned_view(x: Array) -> Array:
    y = np.outer(x, x)
    turned = y.T[1:]
    turned[0] = 7 * x
    turned[:, 1] += x[0]
    return np.sum(y**2)


def assigned_mask(x: Array) -> Array:
    y = x**2
    y[x < 0] = 0.0
    return np.sum(y * x)


def assigned_part(x: Array) -> Array:
    y = x * 1j
    y.real = x
    y.imag[1:] += 2 * x[1:]
    return np.sum(np.abs(y) ** 2)


@pytest.mark.filterwarnings("ignore::tape_ad.errors.BatchWarning")
@pytest.mark.parametrize("f", [assigned_view, assigned_mask, assigned_part])
def test_assignments_to_views_are_followed_or_made_one_by_one(f: Callable[[Array], Array]) -> None:
    slope = ta.grad(f)

    same(ta.batched(slope)(X), [slope(x) for x in X])
    same(ta.grad(lambda x: np.sum(ta.batched(f)(x)))(X), [slope(x) for x in X])


def test_what_has_written_to_its_argument_is_not_called_again() -> None:
    def f(x: Array) -> Array:
        x *= 2
        return ta.scipy.optimize.root(lambda z: z**3 - x[0], np.ones(1), method="lm").x

    with pytest.raises(InPlaceError, match=r"x\.copy"):
        ta.batched(f)(X.copy())


@pytest.mark.parametrize("size", [1, 2, 3, 4])
@pytest.mark.parametrize(
    "key",
    [np.array([2, 0, 1]), [2, 0, 1], np.s_[:], np.s_[::-1]],
    ids=["array", "list", "all", "turned"],
)
def test_a_record_in_a_batch_assigns_by_the_keys_of_one(size: int, key: Any) -> None:
    def f(x: Any) -> Any:
        y = np.zeros_like(x) * x
        y[key] = x[::-1]
        y[0:1] = y[2:3]
        return np.sum(y**2 * np.array([1.0, 2.0, 3.0]))

    xs = np.arange(3.0 * size).reshape(size, 3)
    found = ta.batched(ta.grad(f))(xs)
    np.testing.assert_array_equal(found, np.stack([ta.grad(f)(x) for x in xs]))


@pytest.mark.filterwarnings("ignore::tape_ad.errors.BatchWarning")
@pytest.mark.parametrize("size", [1, 4])
def test_a_view_in_a_batch_that_cannot_be_followed_is_made_one_by_one(size: int) -> None:
    def f(x: Any) -> Any:
        y = x * 2
        turned = ta.checkpoint(lambda a: a[::-1])(y)
        y[np.array([2, 0, 1])] = x
        return np.sum(turned * y)

    xs = np.arange(3.0 * size).reshape(size, 3)
    same(ta.batched(ta.grad(f))(xs), [ta.grad(f)(x) for x in xs])


CHANGED = """
r = a[1, 1, ...]; r += 2
r = np.squeeze(a[1:2, 2:3]); r += 2
r = a[0, 1:2].reshape(()); r *= 3; a[0] -= r
r = np.squeeze(a[1, 1:2])[...]; r[...] = 7; r = r.T
r = a[1, 1, ...].real; np.add(r, 2, out=r)
r = np.moveaxis(a[1, 1, ...], (), ()); r -= 1
r = a[1, 1]; r += 2; s = a[0, 0]; a[0, 0] = a[1, 1]; a[1, 1] = s
r = a[1, 1]; a[1, 1] = 9; a[0] *= r
r = a[1, 1].reshape(-1); r += 1; a[0] *= r
r = np.where(a[0, 0] > 4, a[1, 1], 2); s = r; r += 3; a[0] *= s
r = np.zeros_like(a[1, 1]); s = r; r += a[0, 0]; a[0] *= s
r = np.tensordot(a, a, 2); s = r; r += 3; a[0] *= s
r = a[1, 1].astype(np.float32); s = r; r += 3; a[0] *= s
r = a[1, 1, ...].astype(np.float32); s = r; r += 3; a[0] *= s
r = np.reshape(a[0], -1, order="F"); r[0] = 4; r = np.ravel(r, "F"); r[r > 3] = 1
r = a[i]; r += 1; s = r[1:]; s *= 2
r = a[:, i]; r[1] += 1; a[0] *= 2; a[1] += r
r = a[i, 1:]; a[i] = 4; a[0, 1:] *= r
r = a[i, i, ...]; r += 1; a[0] *= r
r = a.T[i]; s = a[np.argmin(x[:, 0])]; r += 2; s *= 3; a[0] -= r * s
r = a[i]; r[r > 1] = 0.5
r = a[..., i, None]; r *= 2; a[0, 0] = 3; a[1] *= r[0]
a[i] += 1; a[i, 1:] *= a[0, 1:]; r = a[i].copy(); a[i] = a[0]; a[0] = r
r = a[[i]]; r += 1; a[0] *= r[0]
r = a[0][[1, 0]]; s = r.ravel(); r += 1; a[0, :2] *= s
r = a.T[[1, 0]]; s = r.ravel(); s += 1; a[0] *= r[0]
r = a[:, i].ravel(); a -= r; a[0] *= r
r = np.reshape(a[0].T, -1, order="F"); r[i, ...] += 1; a[0] *= r
r = np.reshape(a[0], -1, order="F"); a[1:1] *= 2; a[1] *= 3; r[()] = 2
r = a[np.int64(1)]; r += 1; a[0] *= r
r = a[0, 0]; s = r[None]; s += 1; a[0] *= r
"""
"""What is done to an array, with an index that is another for each."""


def changed(lines: str) -> Callable[[Array], Array]:
    code = compile(lines + "\nr = r * np.sin(a[0, 0])" * ("r =" in lines), "<changed>", "exec")

    def f(x: Array) -> Array:
        found = {"np": np, "x": x, "a": x * 1.0, "i": np.argmax(x[:, 0])}
        exec(code, found)  # noqa: S102 - lines of the table above
        return np.sum(np.cos(found["a"]) * np.arange(9.0).reshape(3, 3)) + np.sum(found.get("r", 0))

    return f


@pytest.mark.filterwarnings("ignore::tape_ad.errors.BatchWarning")
@pytest.mark.parametrize("lines", CHANGED.split("\n")[1:-1])
def test_an_array_of_a_batch_is_changed_where_numpys_is(lines: str) -> None:
    f, xs = changed(lines), np.arange(36.0).reshape(4, 3, 3) % 7

    slopes = [ta.grad(f)(x) for x in xs]
    same(ta.batched(f)(xs), [f(x) for x in xs])
    same(ta.batched(ta.grad(f))(xs), slopes)
    same(ta.grad(lambda x: np.sum(ta.batched(f)(x)))(xs), slopes)


def test_a_number_of_a_batch_is_not_assigned_to() -> None:
    def f(x: Array) -> Array:
        doubled = x * 2.0
        doubled[0][...] = 3
        return np.sum(doubled)

    for function in f, ta.grad(f):
        with pytest.raises(ta.errors.InPlaceError, match="a number"):
            ta.batched(function)(np.ones((2, 3)))


@pytest.mark.filterwarnings("ignore::tape_ad.errors.BatchWarning")
@pytest.mark.parametrize("to_view", [False, True])
def test_a_view_by_a_loop_sees_what_is_written_to_its_array(to_view: bool) -> None:
    def f(x: Any) -> Any:
        y = x * 2
        turned = ta.checkpoint(lambda a: a[::-1])(y)
        (turned if to_view else y)[...] = x * 5
        return turned + 10 * y

    xs = np.arange(6.0).reshape(2, 3)
    np.testing.assert_array_equal(ta.batched(f)(xs), np.stack([f(x) for x in xs]))


@pytest.mark.parametrize("order", ["C", "F", "A", "K"])
def test_what_is_copied_lies_in_the_order_that_is_asked_for(order: Any) -> None:
    def copies(x: Any) -> Any:
        square = x.reshape(2, 2).T
        made = np.copy(square, order=order), square.copy(order), np.multiply(x, x, order=order)
        parts = [each.ravel("K") for each in (*made, square.astype(float, order=order))]
        return np.concatenate([*parts, made[0].reshape(4, order="A")])

    x = np.arange(1.0, 13.0).reshape(3, 4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BatchWarning)  # of orders that are taken one by one
        found = ta.batched(copies)(x)
    np.testing.assert_array_equal(found, [copies(each) for each in x])


@pytest.mark.parametrize("order", ["C", "F", "A", "K"])
@pytest.mark.parametrize(
    "flatten", [np.ravel, lambda x, order: x.reshape(-1, order="A" if order == "K" else order)]
)
@pytest.mark.parametrize(
    "show",
    [
        lambda b: b,
        lambda b: b[::2],
        lambda b: b[::-1],
        lambda b: b.reshape(2, 2),
        lambda b: b.reshape(2, 2).T,
        lambda b: b.reshape(2, 2)[:, :1],
        lambda b: b.reshape(2, 2)[:1],
    ],
)
def test_what_is_flattened_is_a_view_where_numpys_is(show: Any, flatten: Any, order: Any) -> None:
    def changed(x: Any) -> Any:
        b = x * 1.0
        flat = flatten(show(b), order)
        flat += np.arange(10.0, 10.0 + flat.size)
        return b

    x = np.arange(1.0, 13.0).reshape(3, 4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BatchWarning)  # of orders that are taken one by one
        found = ta.batched(changed)(x)
    np.testing.assert_array_equal(found, [changed(each) for each in x])


GRID = np.arange(12.0).reshape(3, 4)
MADE: dict[str, Callable[[Any], Any]] = {
    "a product": lambda x: x * GRID,
    "a turned product": lambda x: x.T * GRID.T,
    "concatenate": lambda x: np.concatenate([x[:1], GRID]),
    "concatenate turned ones": lambda x: np.concatenate([x.T, GRID.T], 1),
    "stack": lambda x: np.stack([x, GRID]),
    "meshgrid": lambda x: np.meshgrid(x[0], GRID[0])[0],
    "gradient": lambda x: np.gradient(x.T, axis=0),
    "partition": lambda x: np.partition(x.T, 1, axis=0),
    "delete": lambda x: np.delete(x, [0, 2], axis=1),
    "pad a turned one": lambda x: np.pad((x + 1).T, 1),
    "round a turned one": lambda x: np.round((x + 1).T, 1) * (x + 1).T,
    "vander": lambda x: np.vander(x[0]),
}


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("name", MADE)
def test_what_is_made_is_seen_by_a_view_where_numpys_is(name: str, axis: int) -> None:
    def changed(x: Any) -> Any:
        made = MADE[name](x)
        flat = made.reshape(-1)
        flat += np.arange(10.0, 10.0 + flat.size)
        return made

    x = np.arange(72.0).reshape(2, 3, 3, 4) % 7
    results = [[changed(each) for each in some] for some in x]
    with warnings.catch_warnings():
        if axis:  # as each is copied where one is viewed
            warnings.simplefilter("ignore", BatchWarning)
        found = ta.batched(changed, in_axes=axis)(np.moveaxis(x[0], 0, axis).copy())
        nested = ta.batched(ta.batched(changed, in_axes=axis))(np.moveaxis(x, 1, 1 + axis).copy())
    np.testing.assert_array_equal(found, results[0])
    np.testing.assert_array_equal(nested, results)
    np.testing.assert_array_equal(ta.vjp(changed, x[0, 0])[0], results[0][0])


def written_through_ravel(x: Any) -> Any:
    flat = np.ravel(x)
    flat[0] += 100.0
    return flat[:2] * x[0, 0]


@pytest.mark.parametrize(
    "show",
    [
        written_through_ravel,
        lambda x: np.ravel(x, order="A") * np.arange(12.0),
        lambda x: np.reshape(x[:, :2], -1, order="A"),
        lambda x: np.ravel(2 * x, order="A"),
        lambda x: np.ravel(np.copy(x, "A"), order="K"),
        lambda x: np.ravel(np.delete(x.T, 1, axis=0), order="K"),
        lambda x: np.ravel(np.delete(x.T, obj=[1], axis=0), order="K"),
        lambda x: np.ravel(np.insert(x.T, 1, x[0, 0], axis=0), order="K"),
        lambda x: np.ravel(np.gradient(x, axis=1), order="K"),
        lambda x: np.ravel(np.full_like(x.T, x[0, 0]) * np.arange(3.0), order="K"),
        lambda x: np.ravel(np.add(x, 1, order="A"), order="K"),
        lambda x: np.ravel(np.sin(2 * x, order="A"), order="K"),
        lambda x: np.ravel(x.astype(np.float32, order="A"), order="K"),
    ],
)
@pytest.mark.parametrize("lead", [(0, 1, 2), (1, 2, 0), (2, 1, 0), (2, 0, 1)])
def test_an_argument_is_taken_to_lie_as_a_part_of_what_was_given(
    show: Any, lead: tuple[int, ...]
) -> None:
    def given() -> Any:
        x = np.arange(36.0).reshape(3, 3, 4)
        return np.transpose(np.transpose(x, lead).copy(), np.argsort(lead))

    looped, batched = given(), given()
    np.testing.assert_array_equal(ta.batched(show)(batched), [show(x) for x in looped])
    np.testing.assert_array_equal(batched, looped)


@pytest.mark.filterwarnings("ignore::tape_ad.errors.BatchWarning")
@pytest.mark.parametrize(
    "write",
    [
        lambda y, x: np.put(y, [0, 2], x[:2]),
        lambda y, x: np.place(y, y > 1, x),
        lambda y, x: np.putmask(y, y > 1, x),
        lambda y, x: np.copyto(y, x, where=y > 1),
        lambda y, x: np.put_along_axis(y, np.array([1]), x[:1], 0),
        lambda y, x: np.fill_diagonal(y.reshape(1, 3), x[0]),
    ],
)
def test_a_plain_array_is_filled_for_each(write: Any) -> None:
    def filled(x: Array) -> Array:
        y = np.arange(3.0)
        write(y, x)
        return y

    assert ta.batched(filled)(X[:, :3]).tolist() == [filled(x).tolist() for x in X[:, :3]]


@pytest.mark.parametrize(
    "fill",
    [
        lambda x, y: np.concatenate([x[1:], x[:1]], 0, y),
        lambda x, y: np.stack([x[0], x[1], x[2]], 0, y),
        lambda x, y: np.take(x, [2, 1, 0], 0, y),
        lambda x, y: np.cumsum(x, 0, None, y),
    ],
)
def test_an_array_to_write_to_may_be_given_by_position(fill: Any) -> None:
    def filled(x: Array) -> Array:
        y = np.zeros_like(x)
        fill(x, y)
        return y

    assert ta.batched(filled)(X).tolist() == [filled(x).tolist() for x in X]


def test_a_batch_that_is_compiled_picks_from_what_is_alike_for_all() -> None:
    def largest(x: Array) -> Array:
        return np.sum(ta.nn.max_pool1d(x, 2, 1) ** 2)

    slopes = ta.compile(ta.batched(ta.grad(largest)))
    np.testing.assert_array_equal(slopes(X), [ta.grad(largest)(x) for x in X])


def test_what_is_alike_for_all_is_computed_into_an_array_of_the_batch_at_once() -> None:
    def written(x: Array) -> Array:
        ones, y = np.ones(3), np.copy(x)
        np.add(ones, ones, out=y, where=np.array([True, False, True]))
        np.cumsum(ones, out=y[:3])
        return y + x

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(ta.batched(written)(X), [written(x) for x in X])


def add_to_one(x: Array) -> Array:
    y = np.zeros(3)
    y += x
    y[1:] *= x[:2]
    np.add.at(y, [0, 0, 2], x)
    np.subtract(y, 1, out=y)
    np.cumsum(x, out=y[::-1])
    return y


@pytest.mark.filterwarnings("ignore::tape_ad.errors.BatchWarning")
def test_what_is_written_into_a_plain_array_is_computed_for_one_after_the_other() -> None:
    np.testing.assert_array_equal(ta.batched(add_to_one)(X), [add_to_one(x) for x in X])
    slopes = ta.jacobian(add_to_one)
    with pytest.raises(InPlaceError, match="would write a handle into a plain array"):
        ta.batched(slopes)(X)


@pytest.mark.filterwarnings("ignore::tape_ad.errors.BatchWarning")
def test_a_plain_array_outside_sees_all_of_a_batch() -> None:
    def added(total: Array, x: Array) -> Array:
        total += x
        return np.sum(total)

    total = np.zeros(3)
    sums = ta.batched(added, (None, 0))(total, X)
    np.testing.assert_allclose(total, X.sum(axis=0), rtol=1e-12)
    assert len(set(sums)) == len(X)
