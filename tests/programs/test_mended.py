"""What compiled functions once did otherwise than the functions themselves, one of each kind."""

import copy
import functools
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import attrs
import numpy as np
import pytest

import tape_ad as ta
from tape_ad.errors import CaptureError
from tests.fuzz.replays import Problem, Replays

X, Y = np.array([1.0, 2.0, 3.0]), np.array([3.0, -1.0, 0.5])


def problems(function: Callable[..., Any], *calls: Any) -> list[Problem]:
    """Call a function three times with each arguments, and then in turns; it has to be replayed."""
    made = [lambda call=call: copy.deepcopy(call) for call in calls]
    replays = Replays(lambda: function)
    found = list(replays.problems([each for each in made for _ in range(3)] + made * 2))
    assert replays.refusal == ""
    assert replays.replays >= len(calls)
    return found


def test_an_error_that_the_function_catches_is_caught_in_a_replay() -> None:
    def inverse(a: Any) -> Any:
        try:
            return np.linalg.inv(a)
        except np.linalg.LinAlgError:
            return a + 1

    assert problems(inverse, (np.eye(2),), (np.zeros((2, 2)),), (2 * np.eye(2),)) == []


def test_numbers_are_rounded_to_integers() -> None:
    assert problems(lambda n: (round(n), round(n, 1)), (2.5,), (3.5,), (-0.4,)) == []
    assert problems(lambda x: (round(x[0]), round(x[0], 1)), (X,), (Y / 4,)) == []


def test_what_is_written_as_text_is_asked() -> None:
    assert problems(lambda x: (repr(x), repr(x[0]), str(x), f"{x[0]:.3f}"), (X,), (Y,)) == []


def test_python_knows_the_types_of_captured_arrays_and_numbers() -> None:
    def kinds(x: Any, n: Any) -> Any:
        return (
            x * 2 if isinstance(x, np.ndarray) else x * 3,
            isinstance(x[0], float),
            np.isscalar(x[0]),
            isinstance(n, int),
        )

    assert problems(kinds, (X, 1), (Y, 2)) == []


def test_a_list_times_a_number_is_a_longer_list() -> None:
    assert problems(lambda n: ([0.5] * n, "ab" * n, n * (1,)), (2,), (3,), (0,)) == []
    assert problems(lambda n: [0.5] * n, (np.int64(2),), (np.int64(3),)) == []


def test_methods_of_numbers_are_told_the_number() -> None:
    assert problems(lambda n: (n.hex(), n.is_integer(), n.as_integer_ratio()), (2.0,), (0.5,)) == []
    assert problems(lambda x: (x[0].is_integer(), x[0].hex()), (X,), (Y / 4,)) == []
    assert problems(lambda n: (n.bit_length(), n << 2, n >> 1, pow(n, 3, 5)), (4,), (9,)) == []


def test_large_integers_are_told_apart_from_their_neighbours() -> None:
    near = {2**60: 1.0, 2**60 + 1: 2.0}

    assert problems(lambda n: near[n], (2**60,), (2**60 + 1,)) == []


def test_what_is_made_anew_at_each_call_is_the_callers_own() -> None:
    def filled(n: Any, m: Any) -> Any:
        z = np.zeros((2, 3), order="F")
        z[0, 1:] = n
        return z, z[0], z.T, np.ones(m)

    assert problems(filled, (2.0, 3), (3.0, 1)) == []


def test_an_array_from_elsewhere_is_returned_itself() -> None:
    weights = np.ones(3)
    fast = ta.compile(lambda x: (weights, weights[1:], x))

    for _ in range(4):
        whole, part, _ = fast(X)
        assert whole is weights
        assert np.shares_memory(part, weights)


def test_an_array_that_is_kept_from_an_earlier_call_is_refused() -> None:
    kept: list[Any] = []

    def first(x: Any) -> Any:
        kept.append(x * 2)
        return kept[0]

    fast = ta.compile(first)
    fast(X)
    with pytest.raises(CaptureError, match="an array of an earlier call"):
        fast(Y)


def test_zeros_keep_their_signs_where_an_index_adds_to_a_part() -> None:
    def parts(x: Any) -> Any:
        return np.sum(x[2:] * 3.0) + np.sum(x[:-1] * -0.0)

    assert list(np.signbit(ta.grad(parts)(X))) == [True, True, False]
    assert problems(ta.grad(parts), (X,), (Y,)) == []


def test_unit_vectors_pick_the_rows_of_a_large_matrix() -> None:
    matrix = np.eye(100)
    slope = ta.jacobian(lambda x: -(matrix @ x))
    assert np.signbit(slope(np.ones(100))).all()  # which a product would not give
    assert problems(slope, (np.ones(100),), (np.zeros(100),)) == []


def test_a_view_that_an_index_chooses_is_written_to_where_the_index_says() -> None:
    def changed(x: Any, k: Any) -> Any:
        y = x * 1.0
        row = y[k]
        y[k] += 1.0
        y *= 2.0
        return y, row

    assert problems(changed, (np.eye(3), 0), (np.eye(3), 1), (np.eye(3), -1)) == []


@pytest.mark.parametrize("size", [1, 3])
def test_complex_numbers_round_as_they_do_in_place(size: int) -> None:
    rng = np.random.default_rng(size)
    z = rng.normal(size=(9, size)) + 1j * rng.normal(size=(9, size))

    def changed(z: Any) -> Any:
        y = z * 1.0
        y *= y
        np.multiply(y, z, out=y)
        return y, y[0] * z[0], abs(y[0]), y.sum() * z.sum()

    assert problems(changed, *((row,) for row in z)) == []


def test_a_power_in_place_is_the_one_that_numpy_takes() -> None:
    def changed(z: Any) -> Any:
        y, s = z * 1.0, np.abs(z) - 1.0
        y **= 2
        s **= 0.5
        return y, s

    z = np.array([0.3 - 0.7j, -0.0 + 0.0j, 1.7 + 0.2j])
    assert problems(changed, (z,), (z * 1j,), (np.zeros(3, complex),)) == []


def test_out_decides_how_numpy_computes() -> None:
    def filled(x: Any, z: Any) -> Any:
        total, copy, part = np.zeros_like(x, float), z * 1.0, x * 1.0
        np.sum(x, axis=0, keepdims=True, out=total[:1])
        np.einsum("...->...", copy, out=copy)
        np.multiply(part, 2.0, out=part, where=part > 1.0)
        return total, copy, part

    x = np.array([16777216.0, 1.0, 1.0], "f4")
    z = np.array([complex(-0.0, 0.0), complex(0.0, -0.0)])
    assert problems(filled, (x, z), (x[::-1].copy(), -z)) == []


@pytest.mark.parametrize("imaginary", [0.0, 1j])
def test_large_cotangents_are_summed_over_broadcast_axes(imaginary: complex) -> None:
    x = np.random.default_rng(0).normal(size=(300, 40)) * (1 + imaginary)

    def slopes(b: Any) -> Any:
        return ta.grad(lambda b: np.sum(np.abs(np.sin(x + b))))(b)

    b = np.ones(40) * (1 + imaginary)
    assert problems(slopes, (b,), (2 * b,)) == []


def test_a_gradient_lies_in_memory_as_it_does_without_a_program() -> None:
    assert problems(ta.grad(lambda x: np.sum(x) * 0.5), (X,), (Y,)) == []
    assert problems(ta.grad(lambda x: np.sum(x) * 0.5), (np.ones((40, 30)),)) == []


def test_numbers_that_are_captured_do_not_stay_in_caches() -> None:
    def slope(x: Any, k: Any) -> Any:
        return ta.grad(lambda z: np.sum(np.cumsum(z, axis=k) ** 2 * x))(x)

    assert problems(slope, (np.eye(2), 0), (np.eye(2), 1), (np.eye(2), -1)) == []
    assert problems(lambda x, k: slope(x * 2, k), (np.eye(2), 1), (np.eye(2), 0)) == []


def test_a_table_that_is_looked_up_by_number_may_outlive_a_capture() -> None:
    @functools.cache
    def weights(n: int) -> Any:
        return {0: X, 1: Y}[n]

    assert problems(lambda x, n: weights(n) * x, (X, 0), (X, 1)) == []


def test_a_repeated_index_adds_to_a_cotangent_one_element_after_the_other() -> None:
    rng = np.random.default_rng(0)
    w, v = rng.normal(size=(3, 3)), rng.normal(size=(2, 3))

    def slope(x: Any) -> Any:
        return ta.grad(lambda z: np.sum(z * w) + np.sum(z[[0, -3]] * v))(x)

    assert problems(slope, (rng.normal(size=(3, 3)),)) == []


def test_an_exponent_that_is_an_argument_has_the_slope_of_one_that_is_not() -> None:
    x = np.random.default_rng(0).normal(size=50)

    assert problems(ta.grad(lambda x, k: np.sum(x**k * X[0] * 0.3)), (x, 3), (x, 2), (x, 0)) == []


def test_a_view_of_a_handle_that_an_index_chooses_is_written_to_where_the_index_says() -> None:
    def total(z: Any, k: Any) -> Any:
        y = z * 1.0
        column = y[..., k % 2]
        column += 2.5
        return np.sum(y**2) + np.sum(column**3)

    x = np.arange(6.0).reshape(3, 2)
    assert problems(ta.grad(total), (x, 0), (x, 1), (x, 2)) == []


def scale_rows(y: Any, row: Any) -> None:
    for each in y:
        each[...] *= 1.25


def scale(y: Any, row: Any) -> None:
    y *= 0.5


def scale_part(y: Any, row: Any) -> None:
    row[-2:, ...] *= 0.5


def write_element(y: Any, row: Any) -> None:
    row[0] = y[2, 1] * 3.0


def write_row(y: Any, row: Any) -> None:
    y[1] = y[2] * 3.0


@pytest.mark.parametrize("change", [scale_rows, scale, scale_part, write_element, write_row])
@pytest.mark.parametrize("transform", [ta.grad, ta.hessian])
def test_a_row_of_a_handle_that_an_index_chooses_is_at_that_index(
    change: Any, transform: Any
) -> None:
    def total(z: Any, k: Any) -> Any:
        y = z * 1.0
        row = y[k]
        change(y, row)
        return np.sum(y**3) + np.sum(row**2 * np.array([1.0, -2.0]))

    x = np.arange(6.0).reshape(3, 2)
    calls = [(x + i, k) for i, k in enumerate((1, 1, 2, 0, 1, 2, 0))]
    for engine in ("numpy", "auto"):
        fast = ta.compile(transform(total), engine=engine, check_every=0)
        for args in calls:
            np.testing.assert_allclose(fast(*args), transform(total)(*args), rtol=1e-12)


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
def test_a_copy_that_shows_elements_several_times_is_not_written_to() -> None:
    def spread(x: Any) -> Any:
        rows, _ = np.meshgrid(x[::-1].T * 1.0, x, copy=False)
        rows[0, 1] += 0.5
        return rows * 1.0

    assert problems(spread, (X,), (Y,)) == []  # by way of the memory that they show
    with pytest.raises(CaptureError, match="shows elements several times"):
        ta.compile(spread)(np.arange(4.0).reshape(2, 2))


def test_a_number_that_is_an_argument_fills_an_array_like_a_handle() -> None:
    def filled(x: Any, n: Any) -> Any:
        return ta.grad(lambda z: np.sum(np.real(z * np.full_like(z, n))))(x)

    assert problems(filled, (X, 2.0), (X, 3.0)) == []
    assert problems(filled, (X + 1j, 2.0), (X + 1j, 3.0)) == []


def test_what_a_caller_writes_to_a_result_changes_no_view_of_it_in_the_program() -> None:
    def scaled(x: Any) -> Any:
        steps = np.arange(3.0)
        return steps, steps.reshape(3, 1) * x

    assert problems(scaled, (X,), (Y,)) == []


def test_masks_and_integers_change_in_place() -> None:
    def changed(x: Any, n: Any) -> Any:
        mask, counts = x > 0, n * 1
        same, part = mask, counts[1:]
        same &= x < 2.5
        same |= x == 3.0
        same ^= n > 1
        part <<= 1
        part >>= n[:1]
        return mask, same, counts, part

    n = np.array([1, 2, 3])
    assert problems(changed, (X, n), (Y, n[::-1].copy())) == []


def test_numbers_are_keys_of_what_is_returned() -> None:
    def keyed(x: Any, n: Any) -> Any:
        return {n: x * n, x[0]: [{(n, "sum"): x.sum()}]}

    assert problems(keyed, (X, 2), (Y, 3), (X, 3)) == []


def test_attributes_that_cannot_be_captured_name_the_line() -> None:
    fast = ta.compile(lambda x: x.flat[0])

    with pytest.raises(AttributeError, match=r"\.flat \(line \d+ of test_mended.py\).*x.ravel"):
        fast(X)


def step(p: Any, x: Any) -> Any:
    p["w"] = p["w"] - 0.1 * x
    return np.sum(p["w"])


def added(x: Any, *, p: Any) -> Any:
    p["deep"][0].append(x)
    return x


def emptied(x: Any, *rest: Any) -> Any:
    return x * rest[0].pop()


def replaced(x: Any, *, state: Any) -> Any:
    state.weight = x
    return x


@attrs.define
class State:
    weight: Any


@pytest.mark.parametrize(
    ("function", "args", "options", "where"),
    [
        (step, ({"w": X}, Y), {}, r"p\['w'\]"),
        (added, (X,), {"p": {"deep": ([1.0],)}}, r"p\['deep'\]\[0\]"),
        (emptied, (X, [1.0]), {}, r"args\[1\]"),
        (replaced, (X,), {"state": State(Y)}, r"state\.weight"),
    ],
)
def test_a_function_that_changes_a_structure_it_is_given_is_refused(
    function: Any, args: Any, options: Any, where: str
) -> None:
    fast = ta.compile(function)
    for _ in range(3):
        with pytest.raises(CaptureError, match=f"it changes its argument {where}, which no replay"):
            fast(*args, **options)


@pytest.mark.parametrize("dtype", ["f4", "f8", "c16"])
@pytest.mark.parametrize("exponents", [range(5), (2.5, 1.5, 3.0, 0.0, -0.5, 1.0, 2.0)])
def test_a_second_derivative_of_a_power_by_an_argument_has_the_bits_of_one_by_a_number(
    dtype: str, exponents: Any
) -> None:
    def function(x: Any, k: Any) -> Any:
        def slope(x: Any) -> Any:
            return np.sum(np.real(ta.grad(lambda x: np.sum(np.real(x**k * 0.3)))(x) * 0.7))

        return ta.grad(slope)(x)

    x = np.random.default_rng(0).normal(size=200).astype(dtype)
    assert problems(function, *((x, k) for k in exponents)) == []


@pytest.mark.parametrize("engine", ["numpy", "native"])
@pytest.mark.parametrize("other", [np.int64(10**6), np.array(10**6)], ids=["number", "array"])
def test_a_small_integer_of_no_axes_wraps_around_in_place(engine: Any, other: Any) -> None:
    def f(x: Any, count: Any) -> Any:
        count = count.copy()
        count -= other
        return x * count

    fast, x = ta.compile(f, engine=engine), np.arange(3.0)
    for count in (np.array(start, np.int16) for start in (5, 6, 7, 8)):
        np.testing.assert_array_equal(fast(x, count), f(x, count))


@pytest.mark.parametrize("engine", ["numpy", "native"])
def test_a_new_array_that_is_one_of_several_results_is_the_callers(engine: str) -> None:
    if engine == "native":
        pytest.importorskip("llvmlite")

    @functools.partial(ta.compile, engine=engine)
    def first(x: Any) -> Any:
        return np.broadcast_arrays(np.zeros(3), x * 1.0)[0]

    for _ in range(5):
        found = first(X)
        np.testing.assert_array_equal(found, np.zeros(3))
        found += 1.0  # which no later call sees


class Readings:
    """Numbers of another library, which knows no captured arrays."""

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.array([1.0, 2.0, 3.0])

    def __eq__(self, other: object) -> Any:
        return NotImplemented

    __hash__ = None  # type: ignore[assignment]  # as arrays have none


@pytest.mark.parametrize(
    "other",
    [[1.0, 2.0, 3.0], (1.0, 2.0, 3.0), [1, 5, None], Fraction(2), Decimal(3), Readings()],
    ids=lambda other: type(other).__name__,
)
def test_equality_with_what_is_no_array_is_asked_anew(other: Any) -> None:
    calls = [(X + 4,), (X + 5,), (X,), (X + 1,)]
    assert problems(lambda x: (x * (x == other), np.where(x != other, x, 0.0)), *calls) == []
    assert problems(ta.grad(lambda x: np.sum(np.where(x == other, x * x, x))), *calls) == []
    assert problems(lambda x: x * (x[1] == other), *calls) == []


@pytest.mark.parametrize("other", [None, "a", ["a", "b", "c"], object()])
def test_what_equals_no_number_is_asked_once(other: Any) -> None:
    assert problems(lambda x: (x * np.any(x == other), x[0] != other), (X,), (Y,)) == []
