"""A batched function gives what a loop over the function gives, with its derivatives."""

import copy
import itertools
import tracemalloc
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad import nn
from tape_ad.errors import (
    BatchWarning,
    InPlaceError,
    ShapeError,
    UnsupportedArgumentError,
)
from tape_ad.scipy import interpolate

Array = Any
RNG = np.random.default_rng(0)
X = RNG.normal(size=(5, 3))
A = RNG.normal(size=(4, 3))
GRIDS = RNG.normal(size=(5, 3, 3)) + 3 * np.eye(3)


def filled(x: Array) -> Array:
    out = np.zeros_like(x)
    out[1:] = x[:-1] * x[1:]
    out[0] += x[-1]
    out[[0, 2]] *= 2.0
    return out


def kept(x: Array) -> Array:
    y = x * 1.0
    part = y[1:]
    part[...] = 7.0
    number = y[0]
    number += 1.0
    return y + number


def without_names(x: Array) -> Array:
    y = 2 * x
    y += x[0]
    y -= 1
    return y


def filled_like_it(x: Array) -> Array:
    out = np.zeros((2, 3), like=x)
    out[0] = x[::-1]
    out[1, 1:] = x[0] * np.asarray(x, like=x)[:2]
    return out


FUNCTIONS: dict[str, Callable[[Array], Array]] = {
    "elementwise": lambda x: np.sin(x) * x**2 - 1 / (2 + x),
    "a number": lambda x: np.sum(x**2),
    "np.newaxis": lambda x: x[:, np.newaxis] * x,
    "x.T": lambda x: (x[:, None] * A.T).T,
    "len and shape": lambda x: x / len(x) + x.shape[0] + x.ndim + x.size,
    "from the end": lambda x: x[..., 0] * x[-1] + x[::-1],
    "numbers by numbers": lambda x: [a * b for a, b in itertools.pairwise(x)],
    "a matrix and a vector": lambda x: A @ x,
    "a vector and a matrix": lambda x: x @ A.T,
    "two vectors": lambda x: x @ x,
    "a vector and itself as a matrix": lambda x: np.outer(x, x) @ x,
    "np.linalg.solve": lambda x: np.linalg.solve(np.outer(x, x) + np.eye(3), x),
    "np.linalg.norm": lambda x: np.linalg.norm(x) + np.linalg.norm(np.outer(x, x), axis=0),
    "np.einsum": lambda x: np.einsum("ij,j->i", A, x) + np.einsum("i,i", x, x),
    "np.stack": lambda x: np.stack([x[0], x[1] * x[2], np.sum(x)]),
    "np.concatenate": lambda x: np.concatenate([x, np.ones(2), x[:1]]),
    "np.where": lambda x: np.where(x > 0, x, x**2),
    "a constant": lambda x: np.arange(3.0),
    "a number that is constant": lambda x: 3.0,
    "several": lambda x: {"a": x, "b": (np.sum(x), x.max())},
    "a batched place": lambda x: x[np.argmin(x)] * np.outer(x, x)[:, np.argmax(x)],
    "batched places": lambda x: np.exp(np.outer(x, x)[np.argsort(x), ::2] + x[np.argsort(x)[:1]]),
    "np.take of batched places": lambda x: np.exp(np.take(x, np.argsort(x)[:2])),
    "an order": lambda x: np.take_along_axis(A, np.argsort(x)[np.newaxis], axis=1) * np.sort(x),
    "assignment": filled,
    "views": kept,
    "in place": without_names,
    "np.split": lambda x: np.split(x, [1])[1],
    "booleans": lambda x: np.where(np.isfinite(x) & ~(x < 0), x, 0),
    "reshape": lambda x: np.outer(x, x).reshape(-1)[2:4].reshape((2, 1)),
    "masked by what is the same": lambda x: x[np.array([True, False, True])],
    "complex": lambda x: np.abs(x * np.exp(1j * x)) + np.real(x + 2j),
    "indices apart": lambda x: np.multiply.outer(x, A)[[0, 2], :, [1, 2]],
    "a fill": lambda x: np.full_like(x, 2.0) * x,
    "np.zeros(like=)": filled_like_it,
    "activations": lambda x: [
        each(x) for each in (nn.relu, nn.sigmoid, nn.gelu, nn.elu, nn.selu, nn.silu, nn.softplus)
    ],
    "a slope": lambda x: nn.leaky_relu(x, 0.2),
    "softmax": lambda x: nn.softmax(np.outer(x, x)) * nn.log_softmax(np.outer(x, x), (0, 1)),
    "logsumexp": lambda x: nn.logsumexp(x) + nn.logsumexp(np.outer(x, x), 0, keepdims=True),
    "np.convolve": lambda x: [np.convolve(x, x), np.convolve([2.0, 1, 3, 4], x, "same")],
    "np.convolve of a long one": lambda x: np.convolve(x, [2.0, 1.0, 0.0, 3.0, 5.0], "valid"),
    "np.correlate": lambda x: [
        np.correlate(x, x[:2]),
        np.correlate(x, x[:2], "same"),
        np.correlate(A[:, 0], x, "full"),
    ],
    "np.block": lambda x: np.block([[np.outer(x, x), x[:, None]], [x, 1.0]]),
    "np.insert": lambda x: [np.insert(x, 1, x[:2]), np.insert(np.outer(x, x), 1, x, axis=1)],
    "np.insert at several": lambda x: np.insert(np.outer(x, x), [0, -1], [[1.0], [2.0]], axis=0),
    "np.insert in a slice": lambda x: np.insert(np.arange(3), slice(0, 2), 10 * x[:2]) + x[0],
    "np.linspace": lambda x: [np.linspace(x[0], 1, 4), np.linspace(0, x, num=3, axis=-1)],
}


def leaves(tree: Any) -> list[Any]:
    """List the arrays in a structure."""
    if isinstance(tree, dict):
        tree = list(tree.values())
    if isinstance(tree, (list, tuple)):
        return [leaf for each in tree for leaf in leaves(each)]
    return [tree]


def same(found: Any, each: list[Any]) -> None:
    """Compare a batched result with those of one after the other."""
    for leaf, parts in zip(leaves(found), zip(*map(leaves, each), strict=True), strict=True):
        expected = np.stack([np.asarray(part) for part in parts])
        assert leaf.dtype == expected.dtype
        np.testing.assert_allclose(leaf, expected, rtol=1e-12, atol=1e-14)


def total(tree: Any) -> Any:
    """Add up everything in a structure, each with a factor of its own."""
    return sum(
        np.sum(leaf * np.cos(np.arange(np.size(leaf))).reshape(np.shape(leaf)))
        for leaf in leaves(tree)
    )


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_batched_function_gives_what_a_loop_gives(name: str) -> None:
    same(ta.batched(FUNCTIONS[name])(X), [FUNCTIONS[name](x) for x in X])


@pytest.mark.parametrize("name", FUNCTIONS)
def test_gradients_of_one_are_batched(name: str) -> None:
    slope = ta.grad(lambda x: total(FUNCTIONS[name](x)) + np.sum(x))

    same(ta.batched(slope)(X), [slope(x) for x in X])


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_batched_function_is_differentiated(name: str) -> None:
    one = ta.grad(lambda x: total(FUNCTIONS[name](x)) + np.sum(x))
    whole = ta.batched(lambda x: total(FUNCTIONS[name](x)) + np.sum(x))

    same(ta.grad(lambda x: np.sum(whole(x)))(X), [one(x) for x in X])


@pytest.mark.parametrize("name", ["elementwise", "np.linalg.solve", "assignment", "np.where"])
def test_jacobians_and_hessians_come_as_blocks(name: str) -> None:
    f = FUNCTIONS[name]

    same(ta.batched(ta.jacobian(f))(X), [ta.jacobian(f)(x) for x in X])
    curvature = ta.hessian(lambda x: np.sum(f(x)))
    same(ta.batched(curvature)(X), [curvature(x) for x in X])


@pytest.mark.parametrize("name", ["elementwise", "a matrix and a vector", "np.linalg.solve"])
def test_a_sparse_jacobian_has_blocks_and_a_colour_for_each_column_of_one(name: str) -> None:
    f = FUNCTIONS[name]
    jacobian = ta.sparse_jacobian(ta.batched(f))
    matrix = jacobian(X).toarray()
    expected = np.zeros_like(matrix)
    size = len(matrix) // 5
    for i, x in enumerate(X):
        expected[size * i : size * (i + 1), 3 * i : 3 * (i + 1)] = ta.jacobian(f)(x)

    np.testing.assert_allclose(matrix, expected, rtol=1e-12, atol=1e-14)
    assert jacobian.colors is not None
    assert jacobian.colors <= 3


def test_what_is_compiled_gives_the_same() -> None:
    def loss(x: Array) -> Array:
        return total(filled(x) @ A.T)

    slope = ta.batched(ta.grad(loss))
    compiled = ta.compile(slope, engine="numpy")

    for factor in (1.0, 2.0, 3.0):
        np.testing.assert_allclose(compiled(factor * X), slope(factor * X), rtol=1e-12)


def test_batches_nest() -> None:
    def distance(x: Array, y: Array) -> Array:
        return np.sum((x - y) ** 2)

    pairs = ta.batched(ta.batched(distance, (None, 0)), (0, None))
    slopes = ta.batched(ta.batched(ta.grad(distance), (None, 0)), (0, None))

    np.testing.assert_allclose(pairs(X, A), ((X[:, None] - A) ** 2).sum(-1))
    np.testing.assert_allclose(slopes(X, A), 2 * (X[:, None] - A))
    np.testing.assert_allclose(ta.grad(lambda x: pairs(x, A).sum())(X), 2 * (4 * X - A.sum(0)))


def test_handles_of_all_records_meet_batched_values() -> None:
    def inner(w: Array, x: Array) -> Array:
        return np.sum(ta.grad(lambda y: np.sum(np.sin(y * w) * w))(x))

    w = np.array([1.0, 2.0, 3.0])
    found = ta.grad(lambda w: np.sum(ta.batched(lambda x: inner(w, x))(X)))(w)
    by_w = ta.batched(lambda x: ta.grad(inner)(w, x))(X)

    np.testing.assert_allclose(found, ta.grad(lambda w: sum(inner(w, x) for x in X))(w))
    same(by_w, [ta.grad(inner)(w, x) for x in X])


def test_axes_are_told_by_trees() -> None:
    def f(p: Any, scale: Array) -> Any:
        return {"sum": scale * (p["a"] + p["b"][0]), "b": p["b"][1]}

    p = {"a": X.T, "b": (A[0], np.arange(5))}
    found = ta.batched(f, ({"a": 1, "b": (None, 0)}, None), {"sum": -1, "b": 0})(p, 2.0)

    np.testing.assert_allclose(found["sum"], 2 * (X + A[0]).T)
    np.testing.assert_array_equal(found["b"], np.arange(5))


def test_what_is_the_same_for_each_may_come_out_once() -> None:
    found = ta.batched(lambda x, y: (x + y, 2 * y), (0, None), (0, None))(X, A[0])

    np.testing.assert_array_equal(found[1], 2 * A[0])
    with pytest.raises(ValueError, match="out_axes is None"):
        ta.batched(np.sin, out_axes=None)(X)
    with pytest.raises(ValueError, match="out_axes has 5 for an array that has 2 axes"):
        ta.batched(np.sin, out_axes=5)(X)


def test_arguments_by_name_are_batched() -> None:
    found = ta.batched(lambda x, *, y: x + y)(X, y=np.arange(5.0))

    np.testing.assert_allclose(found, X + np.arange(5.0)[:, None])


def test_integers_truth_values_and_single_precision_keep_their_kinds() -> None:
    counts = np.arange(15).reshape(5, 3)

    same(ta.batched(lambda n: n // 2 + n.sum())(counts), [n // 2 + n.sum() for n in counts])
    same(ta.batched(np.any)(counts > 3), [np.any(n > 3) for n in counts])
    assert ta.batched(lambda x: 2 * x[0])(X.astype(np.float32)).dtype == np.float32


@pytest.mark.parametrize("name", ["elementwise", "np.linalg.solve", "assignment", "reshape"])
def test_an_empty_batch_gives_empty_arrays(name: str) -> None:
    f = FUNCTIONS[name]

    assert ta.batched(f)(X[:0]).shape == (0, *np.shape(f(X[0])))
    assert ta.batched(ta.jacobian(f))(X[:0]).shape == (0, *np.shape(f(X[0])), 3)


def test_an_assignment_shows_in_the_argument_as_in_a_loop() -> None:
    stack = X.copy()

    def double(x: Array) -> None:
        x *= 2

    ta.batched(double)(stack)

    np.testing.assert_array_equal(stack, 2 * X)


def test_a_function_with_a_rule_of_its_own_is_called_for_one_after_the_other() -> None:
    @ta.custom_rule(pull=lambda ct, out, x: ct * 10)
    def triple(x: Array) -> Array:
        return 3 * x

    with pytest.warns(BatchWarning, match="triple") as told:
        found = ta.grad(lambda x: np.sum(ta.batched(triple)(x)))(X)

    np.testing.assert_array_equal(found, np.full((5, 3), 10.0))
    assert len(told) == 1


def test_what_is_called_in_a_loop_is_listed_and_told_once() -> None:
    def pieces(x: Array) -> Array:
        return np.piecewise(x, [x < 0], [np.negative, np.square])

    f = ta.batched(pieces)
    with pytest.warns(BatchWarning, match=r"np\.piecewise"):
        found = f(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        f(X)

    same(found, [pieces(x) for x in X])
    assert f.looped == {"np.piecewise": 2}
    assert "np.piecewise: 2 times" in f.explain()
    assert "at once" in ta.batched(np.sin).explain()


def test_what_stops_a_gradient_stops_it_in_a_batch() -> None:
    def f(x: Array) -> Array:
        return ta.stop_gradient(x) * x

    def of_all(x: Array) -> Array:
        return np.sum(ta.batched(f)(x))

    def of_one(x: Array) -> Array:
        return np.sum(f(x))

    np.testing.assert_array_equal(ta.grad(of_all)(X), X)
    np.testing.assert_array_equal(ta.batched(ta.grad(of_one))(X), X)


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


@pytest.mark.filterwarnings("ignore::tape_ad.errors.BatchWarning")
def test_solvers_in_c_are_called_one_by_one() -> None:
    def root(a: Array) -> Array:
        return ta.scipy.optimize.root(lambda z: z**3 - a, np.ones(1), method="lm").x[0]

    def total_of_roots(a: Array) -> Array:
        return np.sum(ta.batched(root)(a))

    slopes = ta.grad(total_of_roots)(np.array([1.0, 8.0]))

    np.testing.assert_allclose(slopes, [1 / 3, 1 / 12])


def test_what_has_written_to_its_argument_is_not_called_again() -> None:
    def f(x: Array) -> Array:
        x *= 2
        return ta.scipy.optimize.root(lambda z: z**3 - x[0], np.ones(1), method="lm").x

    with pytest.raises(InPlaceError, match=r"x\.copy"):
        ta.batched(f)(X.copy())


@pytest.mark.parametrize(
    ("function", "error", "words"),
    [
        (lambda x: x[x > 0], ShapeError, "np.where"),
        (lambda x: [1, {"a": 2}][int(x[0] > 0)], ValueError, "structures"),
        (lambda x: [0, 1, 2][x], TypeError, "integer"),
        (lambda x: x.reshape(2, 2), ValueError, "size 3"),
        (lambda x: x[0, 0], IndexError, "too many"),
        (lambda x: x + np.ones(5), ValueError, "broadcast"),
        (hash, TypeError, "unhashable"),
    ],
)
def test_what_cannot_be_done_for_each_says_so(
    function: Callable[[Array], Any], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        ta.batched(function)(X)


def test_sizes_that_disagree_are_named() -> None:
    def f(x: Array, p: Any) -> Array:
        return x + p["w"]

    with pytest.raises(ShapeError, match=r"x has 5 along axis 0, p\['w'\] has 3 along axis 1"):
        ta.batched(f, (0, 1))(X, {"w": np.ones((5, 3))})
    with pytest.raises(ShapeError, match=r"p\['w'\] has shape \(\)"):
        ta.batched(f)(X, {"w": 1.0})
    with pytest.raises(ValueError, match="2 positional"):
        ta.batched(f, (0,))(X, {"w": 1.0})
    with pytest.raises(ValueError, match="no argument"):
        ta.batched(f, None)(X, {"w": 1.0})
    with pytest.raises(TypeError, match="in_axes"):
        ta.batched(f, "x")(X, {"w": 1.0})
    with pytest.raises(TypeError, match="batched"):
        ta.batched(3)  # type: ignore[arg-type]  # the error is the test


def test_a_value_that_is_kept_says_that_its_batch_has_ended() -> None:
    held: list[Array] = []

    def f(x: Array) -> Array:
        held.append(x)
        return x

    ta.batched(f)(X)

    with pytest.raises(ValueError, match="has returned"):
        held[0] + 1


def test_a_handle_from_outside_cannot_hold_a_batched_value() -> None:
    def f(y: Array) -> Array:
        y = y * 1.0

        def write(x: Array) -> Array:
            y[0] = x[0]
            return x

        return np.sum(ta.batched(write)(X)) + np.sum(y)

    with pytest.raises(InPlaceError, match="batched"):
        ta.grad(f)(A[0])


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@pytest.mark.parametrize("length", [2, 3, 5])
def test_what_is_infinite_stays_where_it_slides(mode: Any, length: int) -> None:
    rows = np.array([[np.inf, 2.0, 1.0], [1.0, 2.0, 3.0], [1.0, 2.0, np.inf]])
    plain = np.arange(1.0, length + 1.0)
    slides: list[Callable[[Any], Any]] = [
        lambda x: np.convolve(plain, x, mode),
        lambda x: np.convolve(x, plain, mode),
    ]
    for f in slides:
        np.testing.assert_array_equal(ta.batched(f)(rows), np.stack([f(row) for row in rows]))


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


@pytest.mark.parametrize("size", [4, 40])
def test_gradients_of_checkpoints_in_a_batch(size: int) -> None:
    x = np.random.default_rng(0).random((3, size))

    @ta.checkpoint
    def loss(z: Any) -> Any:
        return np.sum(np.sin(z) * z)

    batched = ta.batched(ta.grad(loss))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BatchWarning)
        found = batched(x)
    np.testing.assert_allclose(found, np.sin(x) + x * np.cos(x))


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int16, np.float16, np.float32])
@pytest.mark.parametrize(
    "function",
    [
        lambda x: np.convolve(x, x[:2], "same"),
        lambda x: np.correlate(x, x[:2]),
        lambda x: np.polyval(x, 2),
        lambda x: np.linalg.lstsq(x[:4].reshape(2, 2) + np.float32(1), np.ones(2))[3],
    ],
)
def test_dtypes_in_a_batch_are_those_of_one(function: Any, dtype: Any) -> None:
    x = (np.random.default_rng(0).random((3, 5)) * 4).astype(dtype)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BatchWarning)
        found = ta.batched(function)(x)
    expected = np.stack([function(each) for each in x])
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, rtol=1e-3)


# Numbers that only place others, and integers


SAMPLES, WEIGHTS = np.random.default_rng(0).uniform(0.1, 1.0, (2, 3, 6))
EDGES = np.array([[0.0, 0.4, 1.0], [0.1, 0.5, 0.9], [0.2, 0.3, 1.2]])


def weighed_quantile(x: Any, w: Any) -> Any:
    return np.quantile(x, 0.3, weights=w, method="inverted_cdf") ** 2


def weighed_histogram(w: Any, edges: Any) -> Any:
    return np.sum(np.histogram(SAMPLES[0], bins=edges, weights=w)[0] ** 2)


@pytest.mark.filterwarnings("ignore::tape_ad.errors.BatchWarning")
@pytest.mark.parametrize(
    ("function", "beside"), [(weighed_quantile, WEIGHTS), (weighed_histogram, EDGES)]
)
def test_what_places_others_may_be_batched_in_a_gradient(function: Any, beside: Any) -> None:
    slope = ta.grad(function)
    expected = np.stack([slope(x, b) for x, b in zip(SAMPLES, beside, strict=True)])
    np.testing.assert_allclose(ta.batched(slope)(SAMPLES, beside), expected, rtol=1e-14)


@pytest.mark.filterwarnings("ignore::tape_ad.errors.BatchWarning")
def test_a_handle_places_nothing_in_a_batch_either() -> None:
    def of_all(w: Any) -> Any:
        return np.sum(ta.batched(weighed_quantile)(SAMPLES, w))

    with pytest.raises(UnsupportedArgumentError, match="piecewise constant in it"):
        ta.grad(of_all)(WEIGHTS)


@pytest.mark.filterwarnings("ignore::tape_ad.errors.BatchWarning")
def test_of_no_numbers_how_many_kinds_there_are_cannot_be_told() -> None:
    with pytest.raises(ValueError, match="an empty batch has none to tell the shapes by"):
        ta.batched(np.bincount)(np.zeros((0, 3), int))


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x**2,
        lambda x: x**2.0,
        lambda x: np.power(x, 2),
        lambda x: x << 1,
        lambda x: 1 << x,
        lambda x: x >> x,
        lambda x: (x << 2) + 1,
    ],
)
@pytest.mark.parametrize("dtype", [bool, np.int8, np.int64])
def test_operators_of_integers_have_the_dtype_of_one(function: Any, dtype: Any) -> None:
    x = np.array([[0, 1, 1], [1, 0, 1]], dtype)
    given, expected = ta.batched(function)(x), function(x)
    assert given.dtype == expected.dtype
    np.testing.assert_array_equal(given, expected)


@pytest.mark.filterwarnings("ignore::tape_ad.errors.BatchWarning")
def test_places_are_those_in_each() -> None:
    def picked(x: Array) -> Any:
        return np.sum(x[np.where(x > x[0])[0]] ** 2)

    x = np.array([[0.3, 0.5, 0.7, 0.2], [0.3, 0.1, 0.6, 0.8]])
    np.testing.assert_allclose(ta.batched(picked)(x), [*map(picked, x)])
    np.testing.assert_allclose(ta.batched(ta.grad(picked))(x), np.where(x > 0.3, 2 * x, 0))


# The size of the batch, parts of it, and random generators


def noise(x: Array, rng: Any) -> Array:
    return x + rng.normal(size=3) * rng.uniform(x[0], x[0] + 1.0)


def test_what_has_no_axis_is_computed_for_as_many_as_are_told() -> None:
    axes = {"sum": 0, "x": -1}
    found = ta.batched(lambda x: {"sum": np.sum(x), "x": x}, None, axes, axis_size=2)(X)
    np.testing.assert_array_equal(found["sum"], [np.sum(X)] * 2)
    np.testing.assert_array_equal(found["x"], np.stack([X, X], -1))


def test_a_size_that_is_not_that_of_the_arguments_is_an_error() -> None:
    with pytest.raises(ShapeError, match="axis_size is 4, and x has 5 along axis 0"):
        ta.batched(lambda x: x, axis_size=4)(X)
    with pytest.raises(ValueError, match="axis_size= tells the size"):
        ta.batched(lambda x: x, None)(X)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_parts_of_a_batch_give_what_all_of_it_does(name: str) -> None:
    same(ta.batched(FUNCTIONS[name], batch_size=2)(X), [FUNCTIONS[name](x) for x in X])


@pytest.mark.parametrize("batch_size", [1, 2, 5, 7])
def test_parts_of_a_batch_are_differentiated(batch_size: int) -> None:
    one = ta.grad(lambda x: np.sum(filled(x) ** 2))
    parts = ta.batched(filled, batch_size=batch_size)

    same(ta.grad(lambda x: np.sum(parts(x) ** 2))(X), [one(x) for x in X])


def test_parts_are_joined_along_the_axes_of_the_results() -> None:
    def f(x: Array, y: Array, scale: float) -> dict[str, Any]:
        return {"rows": [x * scale, y], "sum": np.sum(x), "same": scale, "name": "f"}

    axes = {"rows": [1, -1], "sum": 0, "same": None, "name": None}
    found = ta.batched(f, (1, 0, None), axes, batch_size=2)(X, X.T, 2.0)
    expected = ta.batched(f, (1, 0, None), axes)(X, X.T, 2.0)
    assert found["name"] == "f"
    assert found["same"] == 2.0
    np.testing.assert_allclose(found["sum"], expected["sum"], rtol=1e-15)
    for one, other in zip(found["rows"], expected["rows"], strict=True):
        np.testing.assert_array_equal(one, other)


def test_parts_take_memory_for_so_many() -> None:
    def f(x: Array) -> Array:
        return np.sum(np.exp(x * np.ones((100, 100))))

    x = np.linspace(0.0, 1.0, 256)
    peaks = []
    for batch_size in (None, 8):
        tracemalloc.start()
        ta.batched(f, batch_size=batch_size)(x)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < peaks[0] / 10


@pytest.mark.parametrize("sizes", [{"batch_size": 0}, {"batch_size": -1}, {"axis_size": -1}])
def test_a_size_has_to_be_positive(sizes: Any) -> None:
    with pytest.raises(ValueError, match="has to be positive"):
        ta.batched(np.sin, **sizes)


@pytest.mark.parametrize("batch_size", [None, 2])
def test_a_random_generator_draws_for_each_by_itself(batch_size: int | None) -> None:
    found = ta.batched(noise, batch_size=batch_size)(X, np.random.default_rng(7))
    children = np.random.default_rng(7).spawn(5)
    np.testing.assert_array_equal(
        found, [noise(x, rng) for x, rng in zip(X, children, strict=True)]
    )


def test_a_random_generator_in_nested_batches_and_by_name() -> None:
    def inner(x: Array, *, rng: Any) -> Array:
        return ta.batched(lambda number, rng: number * rng.normal())(x, rng)

    found = ta.batched(inner)(X, rng=np.random.default_rng(7))
    expected = [
        [number * rng.normal() for number, rng in zip(x, own.spawn(3), strict=True)]
        for x, own in zip(X, np.random.default_rng(7).spawn(5), strict=True)
    ]
    np.testing.assert_array_equal(found, expected)


def test_a_random_generator_begins_again_where_one_comes_after_the_other() -> None:
    def f(x: Array, rng: Any) -> Array:
        drawn = rng.normal(size=1)
        return ta.scipy.optimize.root(lambda z: z**3 - x[0], np.ones(1), method="lm").x + drawn

    with pytest.warns(BatchWarning):
        found = ta.batched(f)(X, np.random.default_rng(7))
    children = np.random.default_rng(7).spawn(5)
    np.testing.assert_array_equal(found, [f(x, rng) for x, rng in zip(X, children, strict=True)])


def test_a_random_generator_that_is_the_same_for_each_draws_once() -> None:
    shared = ta.batched(lambda x, rng: x + rng.normal(size=3), (0, None))
    found = shared(0 * X, np.random.default_rng(7))
    np.testing.assert_array_equal(found, np.broadcast_to(found[0], (5, 3)))


def test_gradients_with_random_generators() -> None:
    def loss(x: Array, rng: Any) -> Array:
        return np.sum(x**2 * rng.normal(size=3))

    found = ta.batched(ta.grad(loss))(X, np.random.default_rng(7))
    children = np.random.default_rng(7).spawn(5)
    expected = [ta.grad(loss)(x, rng) for x, rng in zip(X, children, strict=True)]
    np.testing.assert_allclose(found, expected, rtol=1e-14)


# Checkpoints


def remembered(x: Array, t: dict[str, Array], *, scale: float) -> dict[str, Array]:
    return {"sum": np.sum(np.sin(x) * x) * scale, "rows": t["w"] * x}


def loss_of_checkpoint(x: Array, t: dict[str, Array]) -> Array:
    out = ta.checkpoint(remembered)(x, t, scale=2.0)
    return out["sum"] ** 2 + np.sum(out["rows"] ** 2)


def loss_without_checkpoint(x: Array, t: dict[str, Array]) -> Array:
    out = remembered(x, t, scale=2.0)
    return out["sum"] ** 2 + np.sum(out["rows"] ** 2)


def test_a_checkpoint_is_batched_at_once_in_every_order() -> None:
    t = {"w": np.array([0.5, -1.0, 2.0])}
    for transform in (ta.grad, ta.hessian):
        found = ta.batched(transform(loss_of_checkpoint), (0, None))
        same(found(X, t), [transform(loss_without_checkpoint)(x, t) for x in X])
        assert found.looped == {}


def wave_of_both(x: Array, b: Array) -> Array:
    return np.sum(np.sin(x * b) * b)


BESIDE: dict[str, Any] = {
    "checkpoint": lambda x, b: ta.checkpoint(wave_of_both)(x, b) ** 2,
    "by keyword": lambda x, b: ta.checkpoint(wave_of_both)(b=b, x=x),
    "checkpoint_sequential": lambda x, b: np.sum(
        ta.checkpoint_sequential(lambda state, b: np.sin(state * b), 5, x, b, slots=2)
    ),
}


@pytest.mark.parametrize("argnums", [0, 1])
@pytest.mark.parametrize("name", BESIDE)
def test_what_a_checkpoint_is_not_differentiated_by_may_be_one_of_a_batch(
    name: str, argnums: int
) -> None:
    def twice(x: Array, b: Array) -> Array:
        return np.sum(ta.grad(BESIDE[name], argnums)(x, b) ** 2)

    def pushed(x: Array, b: Array) -> Array:
        return ta.jvp(lambda x: BESIDE[name](x, b), (x,), (b,))[1]

    other = np.cos(X) + 0.5
    for function in (ta.grad(BESIDE[name], argnums), ta.grad(twice, 1), pushed):
        found = ta.batched(function)(X, other)
        same(found, [function(x, b) for x, b in zip(X, other, strict=True)])


def test_a_batch_of_a_checkpoint_is_one_node() -> None:
    def wave(x: Array) -> Array:
        return np.sin(np.cos(np.exp(x)))

    record = ta.ComputationRecord()
    handle = record.tensor(X)
    out = ta.batched(ta.checkpoint(wave))(handle)
    assert len(record) == 2
    slope = -np.exp(X) * np.sin(np.exp(X)) * np.cos(np.cos(np.exp(X)))
    np.testing.assert_allclose(np.sum(out).grad().wrt(handle), slope, rtol=1e-12)


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


def shuffled(x: Array, rng: np.random.Generator) -> Array:
    order = np.arange(4)
    rng.shuffle(order)
    return x[order]


def into_buffer(x: Array, rng: np.random.Generator) -> Array:
    return x + rng.random(out=np.empty(4))


def from_any_seed(x: Array, rng: np.random.Generator) -> Array:
    return x + np.random.default_rng(rng).normal() + copy.deepcopy(rng).random()


@pytest.mark.filterwarnings("ignore::tape_ad.errors.BatchWarning")
@pytest.mark.parametrize("draw", [shuffled, into_buffer, from_any_seed])
def test_a_generator_in_a_batch_is_used_as_any(draw: Any) -> None:
    xs = np.arange(12.0).reshape(3, 4)
    found = ta.batched(draw)(xs, np.random.default_rng(1))
    each = zip(xs, np.random.default_rng(1).spawn(3), strict=True)
    assert found.tolist() == [draw(x, rng).tolist() for x, rng in each]


@pytest.mark.parametrize("shape", [(3,), (3, 2)])
def test_a_stack_of_matrices_that_is_the_same_for_each_solves_for_what_is_not(shape: Any) -> None:
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 3, 3)), rng.normal(size=(5, *shape))
    found = ta.batched(lambda b: np.linalg.solve(a, b))(b)
    np.testing.assert_allclose(found, [np.linalg.solve(a, x) for x in b])


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


def item_or_none(x: Array, i: Array) -> Array:
    try:
        return x[i]
    except IndexError:
        return -1.0 * x[0]


def taken_or_none(x: Array, i: Array) -> Array:
    try:
        return np.take(x, i)
    except IndexError:
        return -1.0 * x[0]


@ta.custom_rule(pull=lambda ct, out, x: ct)
def of_positive(x: Array) -> Array:
    if x[0] < 0:
        raise RuntimeError("no root")
    return 2 * x


def root_or_none(x: Array, i: Array) -> Array:
    try:
        return of_positive(x)
    except RuntimeError:
        return -1.0 * x


def logarithm_or_none(x: Array, i: Array) -> Array:
    with np.errstate(all="raise"):
        try:
            return np.log(x)
        except FloatingPointError:
            return -1.0 * x


@pytest.mark.filterwarnings("ignore::tape_ad.errors.BatchWarning")
@pytest.mark.parametrize("f", [item_or_none, taken_or_none, root_or_none, logarithm_or_none])
def test_errors_of_some_are_caught_for_those(f: Any) -> None:
    places = np.array([0, 5, 2, -7, 1])
    assert ta.batched(f)(X, places).tolist() == [
        np.asarray(f(x, i)).tolist() for x, i in zip(X, places, strict=True)
    ]


@pytest.mark.filterwarnings("ignore::tape_ad.errors.BatchWarning")
@pytest.mark.parametrize(
    "f",
    [
        lambda y: interpolate.CubicSpline(np.arange(5.0), y)(1.3),
        lambda y: interpolate.BarycentricInterpolator(y + 10 * np.arange(5.0), y)(1.3),
        lambda y: interpolate.make_smoothing_spline(np.arange(5.0), y)(1.3),
        lambda y: np.polydiv(y, [1.0, 2.0])[0],
    ],
)
def test_what_is_not_followed_is_called_one_by_one(f: Any) -> None:
    ys = np.random.default_rng(0).normal(size=(4, 5))
    np.testing.assert_allclose(ta.batched(f)(ys), [f(y) for y in ys])


@pytest.mark.parametrize("given", [(None, None, False, True), (None,), ()])
@pytest.mark.filterwarnings("ignore::tape_ad.errors.BatchWarning")
def test_axes_that_are_kept_of_the_flattened_array(given: tuple[Any, ...]) -> None:
    kept: dict[str, Any] = {} if len(given) == 4 else {"keepdims": True}
    x = np.random.default_rng(0).normal(size=(4, 2, 3))
    found = ta.batched(lambda x: np.median(x, *given, **kept))(x)
    np.testing.assert_array_equal(found, [np.median(one, *given, **kept) for one in x])


def test_places_of_each_in_a_list() -> None:
    def picked(x: Array, k: Array) -> Array:
        return np.sum(np.take(x, [2, k, 0]) * np.cos([1.0, 2.0, 3.0]))

    places = np.array([0, 1, 2, 1, 0])
    for_all = ta.batched(picked)
    np.testing.assert_array_equal(
        for_all(X, places), [picked(*p) for p in zip(X, places, strict=True)]
    )
    slopes = [ta.grad(picked)(*pair) for pair in zip(X, places, strict=True)]
    np.testing.assert_array_equal(ta.grad(lambda x: np.sum(for_all(x, places)))(X), slopes)
    assert not for_all.looped


def middle(q: Array) -> Array:
    """Give a quantile that is one of the numbers, where the slope is that of what follows."""
    return np.quantile(np.array([1.0, 2.0, 5.0]), q)


def last(s: Array) -> Array:
    """Interpolate at the last knot, where the slope is that of what comes before."""
    return np.interp(1.0, np.array([0.0, 0.5, 1.0]) * s, np.array([1.0, 2.0, 5.0]) * s)


def knot(s: Array) -> Array:
    """Interpolate at a knot between others, where the slope is that of what follows."""
    return np.interp(0.5, np.array([0.0, 0.5, 1.0]) * s, np.array([1.0, 2.0, 5.0]) * s)


def test_lists_are_looked_up_in_what_is_batched() -> None:
    knots = np.array([[0.0, 0.5, 1.0], [-1.0, 0.0, 0.2]])
    found = ta.batched(lambda xp: np.searchsorted(xp, [0.1, 0.5], "right"))(knots)
    np.testing.assert_array_equal(found, [[1, 2], [2, 3]])
    unknown: Any = "middle"
    with pytest.raises(ValueError, match="search side must be"):
        ta.batched(lambda xp: np.searchsorted(xp, [0.1, 0.5], unknown))(knots)


@pytest.mark.parametrize(
    ("function", "at"), [(middle, 0.5), (middle, 1.0), (knot, 1.0), (last, 1.0)]
)
def test_slopes_at_kinks_are_those_of_one(function: Any, at: float) -> None:
    several = np.full(2, at)
    np.testing.assert_array_equal(ta.batched(function)(several), function(at))
    slopes = ta.grad(lambda s: np.sum(ta.batched(function)(s)))(several)
    np.testing.assert_allclose(slopes, ta.grad(function)(at), rtol=1e-12)


def test_knots_that_coincide_at_the_end_give_the_last_value() -> None:
    def at_ends(s: Array) -> Array:
        return np.interp([0.5, 1.0, 2.0], np.array([0.0, 1.0, 1.0]) * s, np.arange(3.0) * s)

    several = np.array([1.0, 2.0])
    np.testing.assert_array_equal(ta.batched(at_ends)(several), [at_ends(s) for s in several])
    slopes = ta.grad(lambda fp: np.sum(np.interp([0.5, 1.0, 2.0], [0.0, 1.0, 1.0], fp)))(np.ones(3))
    np.testing.assert_array_equal(slopes, [0.5, 0.5, 2.0])


def test_knots_beside_infinite_values_keep_theirs() -> None:
    def at_knots(s: Array) -> Array:
        return np.interp(np.arange(3.0), np.arange(3.0), np.array([3.0, 1.0, np.inf]) * s)

    several = np.array([1.0, 2.0])
    np.testing.assert_array_equal(ta.batched(at_knots)(several), [at_knots(s) for s in several])


def test_values_at_infinite_knots_are_those_of_one() -> None:
    def at_knots(s: Array) -> Array:
        ends = np.array([-np.inf, 0.0, np.inf])
        return np.interp(ends, ends, np.array([3.0, 1.0, 2.0]) * s)

    several = np.array([1.0, 2.0])
    np.testing.assert_array_equal(ta.batched(at_knots)(several), [at_knots(s) for s in several])


@pytest.mark.parametrize("transform", [lambda f: f, ta.grad, ta.hessian])
@pytest.mark.parametrize(
    "function",
    [
        lambda x: np.sum(np.unique(np.round(x)) + np.unique(x)[0]) + np.sum(np.unique(x * x)),
        lambda x: np.sum(np.poly(x)[1:]) + np.sum(np.real(np.poly(x * 1j))),
        lambda x: np.sum(np.poly(np.outer(x, x) + np.eye(3))),
        lambda x: np.sum(x[np.lexsort((x, np.round(x)))] * x),
        lambda x: np.sum(np.diff(x, prepend=x[1], append=1.0) ** 2),
        lambda x: np.sum(np.pad(x, 2, mode="median") ** 2),
        lambda x: np.sum(np.real_if_close(x + 0j) ** 2),
        lambda x: np.sum(np.select([x > x[0], [True, False, True]], [x * x, 1.0], default=x[0])),
    ],
)
def test_what_is_computed_at_once_by_lines_of_numpys_names(function: Any, transform: Any) -> None:
    f = transform(function)

    same(ta.batched(f)(X), [f(x) for x in X])
    if transform is not ta.hessian:
        same(ta.batched(ta.batched(f))(X[None])[0], [f(x) for x in X])
