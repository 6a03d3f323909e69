"""A batched function gives what a loop over the function gives, with its derivatives."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad.errors import BatchWarning, InPlaceError, ShapeError
from tape_ad.scipy import interpolate
from tests.batching.cases import FUNCTIONS, A, Array, X, filled, same, total


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


@pytest.mark.filterwarnings("ignore::tape_ad.errors.BatchWarning")
def test_solvers_in_c_are_called_one_by_one() -> None:
    def root(a: Array) -> Array:
        return ta.scipy.optimize.root(lambda z: z**3 - a, np.ones(1), method="lm").x[0]

    def total_of_roots(a: Array) -> Array:
        return np.sum(ta.batched(root)(a))

    slopes = ta.grad(total_of_roots)(np.array([1.0, 8.0]))

    np.testing.assert_allclose(slopes, [1 / 3, 1 / 12])


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


@pytest.mark.parametrize("shape", [(3,), (3, 2)])
def test_a_stack_of_matrices_that_is_the_same_for_each_solves_for_what_is_not(shape: Any) -> None:
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 3, 3)), rng.normal(size=(5, *shape))
    found = ta.batched(lambda b: np.linalg.solve(a, b))(b)
    np.testing.assert_allclose(found, [np.linalg.solve(a, x) for x in b])


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
