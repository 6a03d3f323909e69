"""Every name and every view of an array sees an assignment, and no copy of it does: as in NumPy."""

import copy
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad.errors import InPlaceError, ShapeError
from tests.shorthand import X, handle

Program = Callable[[Any], Any]


def decremented(x: Any) -> None:
    x -= 1


def through_a_name(a: Any) -> Any:
    b = a
    b += 1
    return a


def through_a_row(a: Any) -> Any:
    row = a[0]
    row += a[1]
    return a


def through_a_loop(a: Any) -> Any:
    for row in a:
        row *= row + 2  # noqa: PLW2901 - it is the array's row that changes
    return a


def through_a_function(a: Any) -> Any:
    decremented(a)
    return a * a


def through_numbers(a: Any) -> Any:
    number = a[0, 0]
    same = number
    number += a[1, 1]  # a number is no array, so this is another one
    return a * same + number


def through_a_transpose(a: Any) -> Any:
    a.T[1:, ::-1] *= 3
    return a


def through_two_reshapes(a: Any) -> Any:
    flat = a.reshape(-1)
    flat[1:4].reshape(3, 1)[:] = a[:, :1].sum()
    return a * flat.reshape(2, 3)


def through_a_ravel(a: Any) -> Any:
    np.ravel(a)[2] = 5.0
    return a


def through_a_ravel_that_copies(a: Any) -> Any:
    column = a[:, 0].ravel()
    a[0] = 7.0
    return a * column.sum()


def through_a_copy_in_fortrans_order(a: Any) -> Any:
    turned = a.T.copy()
    turned.ravel()[0] = 100.0
    return a + turned.T


def through_views_of_views(a: Any) -> Any:
    inner = a[0][1:][::-1]
    a[0] = a[1] * 2
    inner[0] += 1
    a[0, 1] = 9.0
    return a * inner.sum()


def through_an_operator_in_place(a: Any) -> Any:
    same = a
    a /= 2
    a **= 2
    a %= 3
    return same


def through_an_output(a: Any) -> Any:
    row = a[1]
    np.multiply(a[0], 3.0, out=row)
    np.add(a, 1.0, out=a)
    return a


def through_an_output_and_a_mask(a: Any) -> Any:
    np.exp(a, out=a, where=X > 0.3)
    return a


def through_a_reduction_with_an_output(a: Any) -> Any:
    np.sum(a, axis=1, keepdims=True, out=a[:, 1:2])
    return a


def through_an_overlap(a: Any) -> Any:
    a[:, 1:] += a[:, :-1]
    return a


def through_blocks_that_overlap(a: Any) -> Any:
    part, over = np.split(a, [2], axis=1)  # as SciPy's oaconvolve adds up its blocks
    part = part[1:, :1]
    part += over[:-1]
    return a


def through_a_swap(a: Any) -> Any:
    a[0], a[1] = a[1], a[0].copy()
    return a


PROGRAMS: list[Program] = [
    through_a_name,
    through_a_row,
    through_a_loop,
    through_a_function,
    through_numbers,
    through_a_transpose,
    through_two_reshapes,
    through_a_ravel,
    through_a_ravel_that_copies,
    through_a_copy_in_fortrans_order,
    through_views_of_views,
    through_an_operator_in_place,
    through_an_output,
    through_an_output_and_a_mask,
    through_a_reduction_with_an_output,
    through_an_overlap,
    through_blocks_that_overlap,
    through_a_swap,
]


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_program_computes_what_it_computes_with_arrays(program: Program) -> None:
    def run(x: Any) -> Any:
        return program(x * 1.0)

    rng = np.random.default_rng(0)
    seed, direction, h = rng.normal(size=(2, 3)), rng.normal(size=(2, 3)), 1e-6
    x = handle()
    out = run(x)
    np.testing.assert_array_equal(out.data, run(X), strict=True)
    slope = np.sum(seed * (run(X + h * direction) - run(X - h * direction))) / (2 * h)
    np.testing.assert_allclose(np.sum(out.grad(seed).wrt(x) * direction), slope, rtol=1e-7)
    np.testing.assert_allclose(np.sum(ta.jvp(run, (X,), (direction,))[1] * seed), slope, rtol=1e-7)


@pytest.mark.parametrize("part", ["real", "imag"])
def test_parts_of_a_complex_array_are_views(part: str) -> None:
    z = handle(X * (1 + 2j)) * 1.0
    plain = z.data.copy()
    for array in (z, plain):
        seen = getattr(array, part)
        seen[0, 0] = 5.0
        array[1] = 2j
        seen *= 3.0
        setattr(array, part, getattr(array, part) + 1.0)
        array.real += 2.0
    np.testing.assert_array_equal(z.data, plain)
    np.testing.assert_array_equal(getattr(z, part).data, getattr(plain, part))


def test_a_view_of_a_view_of_a_number_follows_every_assignment() -> None:
    x = handle(np.array(2.0)).copy()
    assert isinstance(x.data, np.ndarray)
    view = x[...][None][0, ...]
    for value in (3.0, 4.0):
        x[...] = value
        assert view.data == value


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, np.copy, lambda a: a.flatten()])
def test_a_copy_is_a_copy(copied: Callable[[Any], Any]) -> None:
    a = handle([1.0, 2.0]) * 1.0
    other = copied(a)
    other += 5.0
    a[0] = 9.0
    np.testing.assert_array_equal(a.data, [9.0, 2.0])
    np.testing.assert_array_equal(other.data, [6.0, 7.0])


def test_a_gradient_is_of_the_node_that_a_handle_stood_for() -> None:
    x = handle([1.0, 2.0])
    y = x * 3.0
    grads = np.sum(y * y).grad()
    y[0] = 0.0
    y += 1.0
    np.testing.assert_array_equal(grads.wrt(y), [6.0, 12.0])
    assert y in grads
    np.testing.assert_array_equal(np.sum(y * y).grad().wrt(y), [2.0, 14.0])


def test_a_view_out_of_a_rule_follows_and_its_derivative_is_not_applied_to_the_value() -> None:
    reverse = ta.custom_rule(pull=lambda ct, out, x: -ct)(lambda x: x)
    x = handle([1.0, 2.0])
    y = x * 1.0
    z = reverse(y)
    y[0] = x[1] * 5.0
    np.testing.assert_array_equal(z.data, [10.0, 2.0])
    np.testing.assert_array_equal(np.sum(z).grad().wrt(x), [0.0, 4.0])


@pytest.mark.parametrize("several", [False, True])
def test_a_view_out_of_a_checkpoint_follows(several: bool) -> None:
    rows = ta.checkpoint(lambda x: (x[0], x[1] * 2) if several else x[0])
    x = handle()
    y = x * 1.0
    row: Any = rows(y)[0] if several else rows(y)
    y[0, 0] = 50.0
    row[1] = 7.0
    np.testing.assert_array_equal(row.data, [50.0, 7.0, X[0, 2]])
    np.testing.assert_array_equal(y.data[0], row.data)
    np.testing.assert_array_equal(np.sum(row).grad().wrt(x), [[0.0, 0.0, 1.0], [0.0, 0.0, 0.0]])


def test_what_a_transform_gives_may_be_written_to_before_its_map_is_used() -> None:
    output, pull = ta.vjp(np.exp, np.ones(2))
    output *= 0.0
    np.testing.assert_allclose(pull(np.ones(2))[0], np.exp(np.ones(2)))
    outer = handle([1.0, 2.0])
    output, push = ta.linearize(np.exp, outer * 1.0)
    output *= 0.0
    np.testing.assert_allclose(push(np.ones(2)).data, np.exp([1.0, 2.0]))


def test_a_stopped_gradient_is_read_only() -> None:
    x = handle([1.0, 2.0]) * 1.0
    stopped = ta.stop_gradient(x)
    with pytest.raises(ValueError, match="read-only"):
        stopped += 1.0
    np.testing.assert_array_equal(x.data, [1.0, 2.0])


def test_a_record_within_keeps_what_an_outer_handle_was() -> None:
    outer: Any = ta.ComputationRecord()
    x = outer.tensor([1.0, 2.0])
    y = x * 3.0
    inner: Any = ta.ComputationRecord(within=outer)
    t = inner.tensor(y)
    product = np.sum(t * y)
    y[0] = 100.0
    np.testing.assert_array_equal(product.grad().wrt(t).data, [3.0, 6.0])
    np.testing.assert_array_equal(product.grad().wrt(t).grad(np.ones(2)).wrt(x), [3.0, 3.0])


@pytest.mark.parametrize("shape", [(5,), (5, 2)])
def test_shuffling_moves_rows_or_is_refused(shape: tuple[int, ...]) -> None:
    data = np.arange(float(np.prod(shape))).reshape(shape)
    h = handle(data) * 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # NumPy's, that a handle is no Sequence
        if len(shape) == 1:
            np.random.default_rng(0).shuffle(h)
        else:
            with pytest.raises(InPlaceError, match=r"x\[rng\.permutation\(len\(x\)\)\]"):
                np.random.default_rng(0).shuffle(h)
    np.testing.assert_array_equal(np.sort(h.data, axis=0), data)


def test_plain_operands_are_written_into_a_handle_where_a_mask_says() -> None:
    y = handle([1.0, 2.0]) * 1.0
    np.add(np.array([5.0, 6.0]), 1.0, out=y, where=np.array([True, False]))
    np.testing.assert_array_equal(y.data, [6.0, 2.0])


def test_of_several_outputs_all_are_assigned_or_none() -> None:
    x = handle([1.5, -2.25])
    whole, part = x.record.constant(np.zeros(2)), x.record.constant(np.zeros(3))
    with pytest.raises(ShapeError, match="does not go into a handle of shape"):
        np.modf(x, out=(whole, part))
    with pytest.raises(InPlaceError, match="a leaf stands for"):
        np.modf(x, out=(whole, x))
    np.testing.assert_array_equal(whole.data, [0.0, 0.0])


def test_nothing_is_added_where_take_finds_nothing() -> None:
    x = handle(np.zeros((0, 0)))
    y = x.take([0], axis=1).sum() + x * 1.0
    assert y.grad(seed=np.zeros((0, 0))).wrt(x).shape == (0, 0)


@pytest.mark.parametrize("transform", [ta.jvp, lambda f, x, t: ta.vjp(f, *x)[1](f(*t))])
def test_what_take_finds_in_an_array_without_elements(transform: Callable[..., Any]) -> None:
    empty = np.zeros((0, 0))
    found = transform(lambda x: x.take([0], axis=-1) * 1.0, (empty,), (empty,))
    assert np.shape(found[-1]) in {(0, 0), (0, 1)}


def test_a_view_keeps_no_handle_alive_and_is_assigned_to_without_it() -> None:
    rec: Any = ta.ComputationRecord()
    x = rec.tensor(np.ones(3))
    y = x * 2.0
    index, view = y.index, y[1:]
    other = view[1:]
    del y
    assert not rec.is_held(index)
    view[...] = 3.0 * x[0]
    view[0] += x[1]
    other *= x[2]
    np.testing.assert_array_equal(view.data, [4.0, 3.0])
    np.testing.assert_array_equal(np.sum(view).grad().wrt(x), [6.0, 1.0, 3.0])


@pytest.mark.parametrize("viewed_before", [True, False])
def test_what_an_inner_record_has_computed_stays_where_the_array_is_assigned_to(
    viewed_before: bool,
) -> None:
    outer: Any = ta.ComputationRecord()
    t = outer.tensor(np.array([1.0, 2.0, 3.0]))
    h = t * 2.0
    kept = h[:2] if viewed_before else None
    k = ta.ComputationRecord(within=outer).tensor(h)
    part = k[1:]
    cubes = np.sum(part * part * part)
    h[:] = 7.0
    first = cubes.grad().wrt(k)
    np.testing.assert_array_equal(first.data, [0.0, 48.0, 108.0])
    np.testing.assert_array_equal(np.sum(first).grad().wrt(t), [0.0, 48.0, 72.0])
    assert kept is None or kept.data[0] == 7.0


def test_a_copy_of_a_number_is_a_number_in_any_record() -> None:
    def f(x: Any) -> Any:
        total = np.max(x).copy()
        total += x  # as NumPy's scalars have it: no array is changed
        return np.sum(total * total)

    hessian = ta.hessian(f)(np.array([1.0, 2.0, 3.0]))
    np.testing.assert_array_equal(hessian, [[2, 0, 2], [0, 2, 2], [2, 2, 12]])
