"""Sparse Jacobians are the dense ones, whatever the function, and know their pattern."""

from collections.abc import Callable
from typing import Any

import attrs
import numpy as np
import pytest
from attrs import frozen
from scipy.sparse import csr_array, eye_array

import tape_ad as ta
import tape_ad.scipy.ndimage
import tape_ad.scipy.stats
from tape_ad.errors import OutputError, PatternError
from tape_ad.rules.maps.patterns import Pattern
from tape_ad.scipy import optimize
from tape_ad.sparse_derivatives import dependencies as found_dependencies
from tape_ad.sparse_derivatives.dependencies import FlatFunction
from tape_ad.transforms.tracing import trace

Array = Any
MATRIX = eye_array(6, k=1, format="csr") + 2 * eye_array(6, format="csr")


def filled(x: Array) -> Array:
    out = np.zeros_like(x)
    out[1:] = x[:-1] * x[1:]
    return out


def written_over(x: Array) -> Array:
    y = np.copy(x)
    y[2] = 3
    return y[1:] * y[:-1]


FUNCTIONS: dict[str, Callable[[Array], Array]] = {
    "elementwise": lambda x: np.sin(x) * x**2,
    "a constant factor of zero": lambda x: x * np.array([0.0, 1, 1, 1, 1, 1]),
    "neighbours": lambda x: x[1:] * x[:-1],
    "np.diff": lambda x: np.diff(x, 2),
    "np.roll": lambda x: np.roll(x, 2) - x,
    "np.convolve": lambda x: np.convolve(x, [1.0, 2, 3]),
    "np.pad": lambda x: np.pad(x, 2, mode="edge") ** 2,
    "cumulative": lambda x: np.cumsum(x)[::2],
    "a sparse matrix": lambda x: MATRIX @ x**2,
    "a dense matrix": lambda x: np.arange(12.0).reshape(2, 6) @ x,
    "rows": lambda x: np.prod(x.reshape(3, 2), axis=1),
    "a scalar": lambda x: np.sum(x[::3] ** 2),
    "a full row and a full column": lambda x: np.concatenate([x * x[0], [1.0] @ x[None, 3:]]),
    "gathered": lambda x: x[[0, 0, 5, 1]] * x[[1, 2, 3, 4]],
    "gathered twice": lambda x: x[[0, 1, 5]] * x[[0, 2, 5]] * x[1:4],
    "picked of what is picked": lambda x: np.sin(x[1:]).sum() * x.reshape(2, 3).T[1:, 0] * x[::3],
    "moved alone": lambda x: x[::-1][:4],
    "a part without elements": lambda x: np.concatenate([np.sin(x[:0]), x[1:] * x[:-1]]),
    "written over": written_over,
    "sorted": lambda x: np.sort(x) * np.arange(6),
    "a mask": lambda x: x[x > 0] ** 2,
    "np.where": lambda x: np.where(x > 0, x**2, np.roll(x, 1)),
    "np.interp": lambda x: np.interp([0.5, 3.2], np.arange(6.0), x),
    "einsum": lambda x: np.einsum("ij,ij->i", x.reshape(2, 3), x.reshape(2, 3)),
    "filled": filled,
    "a checkpoint": lambda x: ta.checkpoint(np.sin)(x[:3]),
    "nothing": lambda x: np.zeros(4),
    "integers": lambda x: np.sign(x).astype(int),
}


@pytest.fixture(params=FUNCTIONS)
def function(request: pytest.FixtureRequest) -> Callable[[Array], Array]:
    return FUNCTIONS[request.param]


X = np.array([0.3, -1.2, 2.0, 0.7, -0.4, 1.1])


@pytest.mark.parametrize("mode", ["auto", "forward", "reverse", "both"])
def test_a_sparse_jacobian_is_the_dense_one(function: Callable[[Array], Array], mode: str) -> None:
    jacobian = ta.sparse_jacobian(function, mode=mode, check=True)
    dense = ta.jacobian(function)(X).reshape(-1, 6)
    np.testing.assert_allclose(jacobian(X).toarray(), dense, atol=1e-14)
    again = X[::-1].copy()
    dense = ta.jacobian(function)(again).reshape(-1, 6)
    np.testing.assert_allclose(jacobian(again).toarray(), dense, atol=1e-14)


def test_the_pattern_has_every_entry(function: Callable[[Array], Array]) -> None:
    pattern = ta.sparsity(function)(X)
    assert pattern.dtype == bool
    dense = ta.jacobian(function)(X).reshape(-1, 6)
    assert pattern.toarray()[dense != 0].all()


@pytest.mark.parametrize(
    ("name", "entries"),
    [
        ("elementwise", 6),
        ("a constant factor of zero", 6),
        ("neighbours", 10),
        ("np.roll", 12),
        ("np.convolve", 18),
        ("a sparse matrix", 11),
        ("rows", 6),
        ("a scalar", 2),
        ("gathered", 8),
        ("gathered twice", 6),
        ("written over", 8),
        ("sorted", 6),
        ("filled", 10),
        ("nothing", 0),
        ("integers", 0),
    ],
)
def test_the_pattern_is_no_larger_than_the_structure_says(name: str, entries: int) -> None:
    assert ta.sparsity(FUNCTIONS[name])(X).nnz == entries


def band(x: Array) -> Array:
    return x[2:] * x[1:-1] - x[:-2] + np.sin(x[1:-1])


def test_a_band_takes_three_tangents_or_one_cotangent() -> None:
    pushed = ta.sparse_jacobian(band, mode="forward")
    pulled = ta.sparse_jacobian(band)
    x = np.arange(100.0)
    np.testing.assert_allclose(pulled(x).toarray(), pushed(x).toarray(), rtol=1e-15)
    assert pushed.colors == 3
    assert "3 tangents pushed" in pushed.explain()
    assert "98 x 100" in repr(pushed)
    assert pushed.pattern.shape == pulled.pattern.shape == (98, 100)
    assert "1 cotangent pulled" in pulled.explain()


def test_copies_that_one_row_has_together_are_added_and_others_stay_apart() -> None:
    def apart(x: Array) -> Array:
        return np.concatenate([x[1:] ** 2, x[1:] ** 3])

    for function in (band, apart):
        jacobian = ta.sparse_jacobian(function)
        np.testing.assert_array_equal(jacobian(X).toarray(), ta.jacobian(function)(X))
        assert jacobian.colors == 1


def test_what_depends_on_too_many_copies_is_pulled_to_the_inputs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def means(x: Array) -> Array:
        return np.mean(x[np.arange(60).reshape(3, 20) % 6], axis=1) * x[:3]

    few, many = ta.sparse_jacobian(means), ta.sparse_jacobian(means)
    few(X)
    assert few.colors == 1
    monkeypatch.setattr(found_dependencies, "MANY", 50)
    monkeypatch.setattr(found_dependencies, "MOST_EACH", 10)
    np.testing.assert_allclose(many(X).toarray(), ta.jacobian(means)(X), rtol=1e-14)
    assert many.colors == 3


def test_other_copies_than_those_of_plain_arrays_are_not_pulled_to() -> None:
    jacobian: Any = ta.sparse_jacobian(np.sin)
    flat, plain = (
        FlatFunction(trace(function, (X,), {}, (0,)))
        for function in (lambda x: np.sin(x[::-1])[::-1], lambda x: np.sin(x)[:])
    )
    way = jacobian.prepared(None, flat, plain).way
    np.testing.assert_array_equal(way.entries(flat), np.cos(X))


def test_an_array_that_is_written_to_before_the_sweep_is_noticed() -> None:
    given = X.copy()

    def f(x: Array) -> Array:
        out = x[1:] * x[:-1]
        given[2] = 5
        return out

    with pytest.raises(ta.errors.MutatedInputError, match="written to"):
        ta.sparse_jacobian(f)(given)


def test_a_nan_is_noticed_where_that_is_asked_for() -> None:
    jacobian = ta.sparse_jacobian(lambda x: np.sqrt(x[1:]))
    inf = pytest.raises(ta.errors.NonFiniteError, match="sqrt")
    with np.errstate(all="ignore"), ta.debug_nans(), inf:
        jacobian(np.zeros(3))


def test_both_sides_take_fewer_colours_than_one() -> None:
    def arrow(x: Array) -> Array:
        return np.concatenate([np.sum(x**2)[None], x[1:] * x[0]])

    x = np.arange(1.0, 51)
    jacobian = ta.sparse_jacobian(arrow)
    np.testing.assert_array_equal(jacobian(x).toarray(), ta.jacobian(arrow)(x))
    assert jacobian.colors == 3


def test_a_branch_and_other_indices_are_noticed() -> None:
    def f(x: Array) -> Array:
        i = int(np.argmax(x))
        return x**2 if x[0] > 0 else x * x[i]

    jacobian = ta.sparse_jacobian(f)
    for x in (np.array([1.0, 2, 3]), np.array([-1.0, 2, 3]), np.array([-1.0, 4, 3])):
        np.testing.assert_array_equal(jacobian(x).toarray(), ta.jacobian(f)(x))


def test_other_shapes_are_noticed() -> None:
    jacobian = ta.sparse_jacobian(np.diff)
    assert jacobian(np.zeros(4)).shape == (3, 4)
    assert jacobian(np.zeros(7)).shape == (6, 7)


def test_a_pattern_is_found_once() -> None:
    jacobian = ta.sparse_jacobian(lambda x: np.roll(np.exp(x), 1))
    jacobian(X)
    known = jacobian.pattern
    jacobian(X + 1)
    assert jacobian.pattern is known


@frozen
class Pair:
    a: Array
    b: Array


def test_trees_are_one_array_after_another() -> None:
    def f(p: Pair, scale: float) -> dict[str, Array]:
        return {"x": p.a[:, 0] * scale, "y": p.b**2}

    p = Pair(np.arange(4.0).reshape(2, 2), np.array([1.0, 3.0]))
    found = ta.sparse_jacobian(f)(p, 5.0).toarray()
    expected = np.zeros((4, 6))
    expected[0, 0] = expected[1, 2] = 5
    expected[2, 4], expected[3, 5] = 2, 6
    np.testing.assert_array_equal(found, expected)
    both = ta.sparse_jacobian(f, argnums=(0, 1))(p, 5.0)
    np.testing.assert_array_equal(both.toarray()[:, 6], [0, 2, 0, 0])


def test_a_result_may_be_an_argument_or_a_part_of_it() -> None:
    def f(p: tuple[Array, Array]) -> list[Array]:
        x, y = p
        return [x, y[1:], x * y[::-1], x]

    x, y = X[:3], X[3:]
    found = ta.sparse_jacobian(f)((x, y)).toarray()
    one, turned = np.eye(3), np.eye(3)[::-1]
    parts = [[one, 0 * one], [0 * one[1:], one[1:]], [np.diag(y[::-1]), x[:, None] * turned]]
    np.testing.assert_array_equal(found, np.block([*parts, [one, 0 * one]]))


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.longdouble])
def test_the_precision_stays(dtype: Any) -> None:
    x = np.ones(3, dtype)
    for function in (np.sin, lambda x: x[[0, 1]] * x[[0, 2]]):
        found = ta.sparse_jacobian(function)(x)
        assert found.dtype == dtype
        dense = ta.jacobian(function)(x)
        np.testing.assert_array_equal(found.data, dense[dense != 0])


def test_what_a_user_knows_is_taken() -> None:
    jacobian = ta.sparse_jacobian(np.diff, pattern=np.eye(3, 4) + np.eye(3, 4, 1))
    difference: Any = np.diff
    dense = ta.jacobian(difference)(X[:4])
    np.testing.assert_array_equal(jacobian(X[:4]).toarray(), dense)


def test_an_entry_outside_of_a_given_pattern_is_named() -> None:
    jacobian = ta.sparse_jacobian(np.diff, pattern=np.eye(5, 6), check=True)
    with pytest.raises(PatternError, match=r"no entry \(0, 1\)"):
        jacobian(X)


def test_a_pattern_that_does_not_fit_is_refused() -> None:
    with pytest.raises(PatternError, match=r"shape \(3, 3\).*5 elements of output and 6"):
        ta.sparse_jacobian(np.diff, pattern=np.eye(3))(X)
    with pytest.raises(PatternError, match="has 1 axes"):
        ta.sparse_jacobian(np.diff, pattern=[1, 0])


def test_complex_numbers_are_refused() -> None:
    with pytest.raises(OutputError, match="real and imaginary parts"):
        ta.sparse_jacobian(np.sin)(np.zeros(2, complex))


def test_the_mode_is_checked() -> None:
    with pytest.raises(ValueError, match="'both', not 'fast'"):
        ta.sparse_jacobian(np.sin, mode="fast")


def test_nan_stays_in_its_row() -> None:
    with np.errstate(invalid="ignore"):
        found = ta.sparse_jacobian(np.sqrt)(np.array([4.0, -1.0, 1.0])).toarray()
    np.testing.assert_array_equal(np.isnan(found), [[0, 0, 0], [0, 1, 0], [0, 0, 0]])


@pytest.mark.parametrize("x", [np.zeros(0), np.float64(2.0), np.zeros((2, 0))])
def test_empty_arrays_and_numbers(x: Array) -> None:
    found = ta.sparse_jacobian(lambda x: x**2)(x)
    assert found.shape == (np.size(x), np.size(x))


def test_a_hundred_thousand_unknowns() -> None:
    x = np.linspace(0, 1, 100_000)
    jacobian = ta.sparse_jacobian(lambda x: np.diff(x**2, 2))
    found = jacobian(x)
    assert found.nnz == 3 * (100_000 - 2)
    v = np.cos(x)
    np.testing.assert_allclose(found @ v, np.diff(2 * x * v, 2), atol=1e-12)


def test_inside_another_transform_it_says_what_to_write() -> None:
    def f(x: Array) -> Array:
        return np.sum(ta.sparse_jacobian(np.sin)(x).data)

    with pytest.raises(OutputError, match=r"ta\.jacobian"):
        ta.grad(f)(X)


def test_the_result_is_the_users_own() -> None:
    jacobian = ta.sparse_jacobian(np.diff)
    first = jacobian(X)
    assert isinstance(first, csr_array)
    assert first.has_sorted_indices
    for held in (first.data, first.indices, first.indptr):
        held[:] = 0
    second = jacobian(X)
    np.testing.assert_array_equal(second.toarray(), np.eye(5, 6, 1) - np.eye(5, 6))


@pytest.mark.parametrize("engine", ["numpy", "native"])
def test_compiled_it_is_the_same(function: Callable[[Array], Array], engine: str) -> None:
    if engine == "native":
        pytest.importorskip("llvmlite")
    fast = ta.compile(ta.sparse_jacobian(function), engine=engine)
    for x in (X, X[::-1].copy(), X, np.roll(X, 1), -X, np.roll(X, 3), X):
        dense = ta.jacobian(function)(x).reshape(-1, 6)
        np.testing.assert_allclose(fast(x).toarray(), dense, rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize("size", [10, 1000])
@pytest.mark.parametrize("derivative", [ta.sparse_jacobian, ta.sparse_hessian])
def test_compiled_an_index_among_the_arguments_decides(derivative: Any, size: int) -> None:
    def picked(x: Array, one: Array, other: Array) -> Array:
        return np.sin(x[one]) * x[other]

    def total(x: Array, one: Array, other: Array) -> Array:
        return np.sum(picked(x, one, other))

    function = picked if derivative is ta.sparse_jacobian else total
    dense = ta.jacobian(picked) if derivative is ta.sparse_jacobian else ta.hessian(total)
    rng = np.random.default_rng(0)
    one, other, third = rng.integers(0, 6, (3, size))
    fast = ta.compile(derivative(function), engine="numpy")
    for pair in (
        (one, other),
        (one, other),
        (one, other),
        (third, one),
        (third, one),
        (one, other),
    ):
        for x in (X, -X):
            np.testing.assert_allclose(fast(x, *pair).toarray(), dense(x, *pair), atol=1e-11)
    assert len(fast.programs) == 2


def test_compiled_an_order_of_many_numbers_decides() -> None:
    def sorted_steps(x: Array) -> Array:
        return np.diff(x[np.argsort(x)]) ** 2

    x = np.random.default_rng(0).normal(size=100)
    fast = ta.compile(ta.sparse_jacobian(sorted_steps), engine="numpy")
    for y in (x, 2 * x, x + 1, -x, x):
        np.testing.assert_allclose(fast(y).toarray(), ta.jacobian(sorted_steps)(y), atol=1e-14)
    assert len(fast.programs) == 2
    (guard,) = [line for line in str(fast.programs[0]).splitlines() if "guard contents" in line]
    assert len(guard) < 100


def test_compiled_it_can_be_asked_the_same() -> None:
    fast = ta.compile(ta.sparse_jacobian(lambda x: np.convolve(x, [1.0, -1.0], "valid")))
    assert fast.colors is None
    for _ in range(4):
        fast(X)
    assert fast.colors == 2
    assert fast.pattern.nnz == 10
    assert len(fast.programs) == 1
    assert "2 tangents pushed" in fast.explain()
    assert "compiled" in repr(fast)


KERNEL = np.array([1.0, 2.0, 3.0])
BY_VALUE: dict[str, Callable[[Array], Array]] = {
    "np.median": lambda x: x - np.median(x),
    "np.nanmedian": lambda x: x - np.nanmedian(x),
    "np.quantile": lambda x: x * np.quantile(x, 0.3),
    "np.nanquantile": lambda x: x * np.nanquantile(x, [0.3, 0.8])[0],
    "np.percentile": lambda x: x[1:] - np.percentile(x, 40),
    "np.nanpercentile": lambda x: x[1:] - np.nanpercentile(x, 40),
    "a probability that moves": lambda x: np.quantile(x[1:], 0.5 + 0.2 * np.tanh(x[0])),
    "iqr": lambda x: x * ta.scipy.stats.iqr(x),
    "median_abs_deviation": lambda x: x * ta.scipy.stats.median_abs_deviation(x),
    "map_coordinates": lambda x: ta.scipy.ndimage.map_coordinates(
        x, [2 + x], order=1, mode="nearest"
    ),
    "shift": lambda x: ta.scipy.ndimage.shift(x, x[0], order=1),
    "the product of all but one": lambda x: np.prod(x) + x,
    "np.max": lambda x: x * np.max(x),
    "np.argsort": lambda x: np.diff(x[np.argsort(x)]),
    "np.partition": lambda x: np.partition(x, 2) * x,
    "np.interp": lambda x: np.interp(x, np.arange(-3.0, 3.0), x**2),
    "np.pad": lambda x: np.pad(x, 2, mode="median"),
    "a number that picks": lambda x: x * x[np.argmax(x)],
    "a fit of numbers in order": lambda x: optimize.isotonic_regression(x).x,
    "the same in a checkpoint": ta.checkpoint(lambda x: optimize.isotonic_regression(x).x),
}


@pytest.mark.parametrize("name", BY_VALUE)
def test_a_pattern_that_values_decide_is_found_at_each_point(name: str) -> None:
    f = BY_VALUE[name]
    jacobian, compiled = ta.sparse_jacobian(f), ta.compile(ta.sparse_jacobian(f))
    for x in (X, X, X[::-1].copy(), np.roll(X, 2), -X, np.full(6, 0.5), np.round(X), 2 * X, X):
        dense = np.atleast_2d(ta.jacobian(f)(x))
        np.testing.assert_allclose(jacobian(x).toarray(), dense, atol=1e-14)
        np.testing.assert_allclose(compiled(x).toarray(), dense, atol=1e-14)


@pytest.mark.parametrize("name", BY_VALUE)
def test_a_comparison_of_a_compiled_one_finds_the_same_pattern(name: str) -> None:
    f = BY_VALUE[name]
    fast = ta.compile(ta.sparse_jacobian(f), check_every=1)
    for x in (*[X] * 12, *[-X] * 12, 2 * X, np.full(6, 0.5), X):
        np.testing.assert_allclose(fast(x).toarray(), np.atleast_2d(ta.jacobian(f)(x)), atol=1e-14)


def test_a_captured_record_has_the_fingerprint_of_a_plain_one() -> None:
    found: list[int] = []

    class Counting(type(ta.sparse_jacobian(np.diff))):  # type: ignore[misc]  # found at run time
        def found(self, flat: Any) -> Any:
            found.append(1)
            return super().found(flat)

    fast = ta.compile(Counting(lambda x: x * np.max(x) * 3, 0, None, False), check_every=1)
    for x in (X, X, -X, 2 * X):
        fast(x)
    assert len(found) == 1


@pytest.mark.parametrize("mode", ["same", "valid"])
def test_the_length_of_what_is_convolved_with_decides(mode: Any) -> None:
    jacobian = ta.sparse_jacobian(lambda x, kernel: np.convolve(x, kernel, mode))
    for kernel in (KERNEL, np.ones(4), np.ones(2), KERNEL[::-1]):
        dense = ta.jacobian(lambda x, w=kernel: np.convolve(x, w, mode))(X)
        np.testing.assert_allclose(jacobian(X, kernel).toarray(), dense, atol=1e-14)


def test_numbers_do_not_decide() -> None:
    found: list[int] = []

    def f(x: Array) -> Array:
        return np.where(x > 0, np.sin(x), x**2) * np.arange(6) + np.maximum(x, x[::-1])

    class Counting(type(ta.sparse_jacobian(f))):  # type: ignore[misc]  # a class found at run time
        def found(self, flat: Any) -> Any:
            found.append(1)
            return super().found(flat)

    jacobian = Counting(f, 0, None, False)
    for x in (X, -X, np.abs(X), np.zeros(6)):
        jacobian(x)
    assert len(found) == 1


class Turning:
    """A map of one's own, whose pattern depends on a number that it holds."""

    broadcasts = False

    def __init__(self, steps: float) -> None:
        self.steps = steps

    def pattern(self, parent: Any, node: Any) -> Any:
        numbers = np.arange(6)
        return Pattern(numbers, np.roll(numbers, int(self.steps)))

    def push(self, t: Array) -> Array:
        return np.roll(t, int(self.steps), axis=-1)

    def pull(self, ct: Array) -> Array:
        return np.roll(ct, -int(self.steps), axis=-1)


@attrs.define
class TurningByField(Turning):
    """The same, with the number in a field."""

    steps: float


@pytest.mark.parametrize("kind", [Turning, TurningByField])
def test_a_map_of_ones_own_is_looked_at_anew(kind: Any) -> None:
    @ta.custom_rule(partials=lambda out, x: (kind(abs(x[0])),))
    def turned(x: Array) -> Array:
        return np.roll(x, int(abs(x[0])))

    jacobian = ta.sparse_jacobian(turned)
    for first in (1.0, 2.0, 3.0):
        x = np.array([first, *X[1:]])
        assert np.array_equal(jacobian(x).toarray(), ta.jacobian(turned)(x))
        assert jacobian.pattern.nnz == 6
