"""The two sweeps on arenas and arrays alone: agreement, stacks, conforming, releasing."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad.errors import ReleasedError
from tape_ad.record.spaces import unbroadcast
from tape_ad.record.sweeps import forward_sweep, reverse_sweep

Arrays = list[Any]


def inner(u: Any, v: Any) -> float:
    return float(np.sum(np.conj(u) * v).real)


def draw(rng: np.random.Generator, shape: tuple[int, ...], dtype: Any) -> Any:
    values = rng.normal(size=shape)
    if np.dtype(dtype).kind == "c":
        values = values + 1j * rng.normal(size=shape)
    return values.astype(dtype)


def diamonds(x: Any, y: Any) -> Any:
    a = x * y
    b = a + x
    c = a * b + b * a
    return c - a / (2 + c * c)


PROGRAMS: dict[str, tuple[Callable[..., Any], list[tuple[int, ...]]]] = {
    "elementwise": (lambda x, y: np.sin(x * y) / (2 + y * y), [(2, 3), (2, 3)]),
    "broadcasting": (lambda x, y, z: x * y + z - x / (3 + z * z), [(2, 1, 4), (3, 1), ()]),
    "reductions": (lambda x, y: np.sum(x * y, axis=(0, 2)) * np.mean(x), [(2, 3, 4), (3, 1)]),
    "products": (lambda x, y, z: (x @ y) @ z, [(5, 2, 3), (3, 4), (4,)]),
    "vectors": (lambda x, y, z: x @ y @ z + np.outer(z, x)[0, :1], [(3,), (3, 4), (4,)]),
    "einsum": (lambda x, y: np.einsum("ijk,kj->ik", x, y), [(2, 3, 4), (4, 3)]),
    "indexing": (
        lambda x, y: x[[0, 0, 1], :, ::-1] * y[None, ..., [2, 1, 1, 0]],
        [(2, 3, 4), (3,)],
    ),
    "joining": (
        lambda x, y: np.stack([np.concatenate([x, y], axis=1), np.concatenate([y, x], 1)]),
        [(2, 3), (2, 1)],
    ),
    "shaping": (lambda x, y: np.swapaxes(x.reshape(3, 2, 2) * y, 0, -1).T[0], [(4, 3), (2, 1)]),
    "diamonds": (diamonds, [(3,), (3,)]),
    "where": (lambda x, y: np.where(np.eye(3) > 0, x, x * y), [(3, 3), (3,)]),
}

DTYPES = ["f8", "c16"]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("stack", [(), (4,), (2, 3)])
def test_forward_and_reverse_are_adjoint(name: str, dtype: str, stack: tuple[int, ...]) -> None:
    rng = np.random.default_rng(3)
    function, shapes = PROGRAMS[name]
    rec: Any = ta.ComputationRecord()
    leaves = [rec.tensor(draw(rng, shape, dtype)) for shape in shapes]
    out = function(*leaves)
    tangents = {h.index: draw(rng, stack + h.shape, dtype) for h in leaves}
    seeds = draw(rng, stack + out.shape, dtype)

    pushed = forward_sweep(rec, tangents, out.index)[out.index]
    pulled = reverse_sweep(rec, out.index, seeds)

    assert pushed.shape == seeds.shape
    for place in np.ndindex(stack):
        forward = inner(seeds[place], pushed[place])
        backward = sum(inner(pulled[i][place], t[place]) for i, t in tangents.items())
        np.testing.assert_allclose(forward, backward, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_stack_of_tangents_is_a_loop_over_tangents(name: str) -> None:
    rng = np.random.default_rng(4)
    function, shapes = PROGRAMS[name]
    rec: Any = ta.ComputationRecord()
    leaves = [rec.tensor(rng.normal(size=shape)) for shape in shapes]
    out = function(*leaves)
    tangents = {h.index: rng.normal(size=(5, *h.shape)) for h in leaves}
    stacked = forward_sweep(rec, tangents, out.index)[out.index]
    for k in range(5):
        single = {i: t[k] for i, t in tangents.items()}
        one = forward_sweep(rec, single, out.index)[out.index]
        np.testing.assert_allclose(stacked[k], one, rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_push_is_a_central_difference(name: str) -> None:
    rng = np.random.default_rng(5)
    function, shapes = PROGRAMS[name]
    values = [rng.normal(size=shape) for shape in shapes]
    steps = [rng.normal(size=shape) for shape in shapes]
    rec: Any = ta.ComputationRecord()
    leaves = [rec.tensor(value) for value in values]
    out = function(*leaves)
    tangents = {h.index: step for h, step in zip(leaves, steps, strict=True)}
    pushed = forward_sweep(rec, tangents, out.index)[out.index]
    h = 1e-6
    above = function(*(v + h * s for v, s in zip(values, steps, strict=True)))
    below = function(*(v - h * s for v, s in zip(values, steps, strict=True)))
    np.testing.assert_allclose(pushed, (above - below) / (2 * h), rtol=1e-7, atol=1e-8)


# The forward sweep


def test_forward_gives_the_tangent_of_every_node_reached() -> None:
    rec: Any = ta.ComputationRecord()
    x, y = rec.tensor(2.0), rec.tensor(3.0)
    a = x * y
    b = np.sin(y)
    c = a * a
    assert forward_sweep(rec, {x.index: np.ones(())}, c.index) == {0: 1.0, 2: 3.0, 4: 36.0}
    assert b.index not in forward_sweep(rec, {x.index: np.ones(())}, c.index)


def test_forward_stops_at_the_last_node_asked_for() -> None:
    rec: Any = ta.ComputationRecord()
    x = rec.tensor(2.0)
    y = x * x
    z = y * y
    assert z.index not in forward_sweep(rec, {0: np.ones(())}, y.index)


def test_forward_from_an_intermediate_node() -> None:
    rec: Any = ta.ComputationRecord()
    x = rec.tensor(2.0)
    y = x * x
    z = y * x
    assert forward_sweep(rec, {y.index: np.ones(())}, z.index)[z.index] == 2.0


def test_forward_of_nothing_is_nothing() -> None:
    rec: Any = ta.ComputationRecord()
    x = rec.tensor(2.0)
    assert forward_sweep(rec, {}, x.index) == {}


def test_forward_does_not_write_to_the_tangents_given() -> None:
    rec: Any = ta.ComputationRecord()
    x = rec.tensor([1.0, 2.0])
    y = x + x + x
    tangents = {0: np.array([1.0, 1.0])}
    forward_sweep(rec, tangents, y.index)
    np.testing.assert_array_equal(tangents[0], [1.0, 1.0])
    assert list(tangents) == [0]


def test_forward_meets_a_released_node() -> None:
    rec: Any = ta.ComputationRecord()
    x = rec.tensor(2.0)
    y = x * x
    y.grad(release=True)
    with pytest.raises(ReleasedError, match=r"node %1 \(multiply\)"):
        forward_sweep(rec, {0: np.ones(())}, y.index)


def test_forward_passes_a_released_node_that_does_not_matter() -> None:
    rec: Any = ta.ComputationRecord()
    x, y = rec.tensor(2.0), rec.tensor(3.0)
    (x * x).grad(release=True)
    z = y * y
    assert forward_sweep(rec, {y.index: np.ones(())}, z.index)[z.index] == 6.0


def test_a_real_tangent_of_a_complex_leaf() -> None:
    rec: Any = ta.ComputationRecord()
    z = rec.tensor(1 + 2j)
    w = z * z
    pushed = forward_sweep(rec, {0: np.asarray(1.0)}, w.index)[w.index]
    assert pushed == 2 + 4j


def test_forward_keeps_dtypes() -> None:
    rec: Any = ta.ComputationRecord()
    x = rec.tensor(np.ones(2, np.float32))
    y = x * 2.0 + np.float32(1)
    pushed = forward_sweep(rec, {0: np.ones(2, np.float32)}, y.index)
    assert pushed[y.index].dtype == np.float32


# The reverse sweep


def test_reverse_gives_the_cotangents_of_held_handles_only() -> None:
    rec: Any = ta.ComputationRecord()
    x = rec.tensor(2.0)
    y = np.exp(np.sin(x) * 1.0)
    got = reverse_sweep(rec, y.index, np.ones(()))
    assert sorted(got) == [x.index, y.index]


def test_a_seed_is_never_written_to() -> None:
    rec: Any = ta.ComputationRecord()
    x = rec.tensor(np.ones(3))
    y = (x + x) + (x - 1.0) + (x + 2.0)
    seed = np.array([1.0, 2.0, 3.0])
    seed.flags.writeable = False
    np.testing.assert_array_equal(reverse_sweep(rec, y.index, seed)[0], [4.0, 8.0, 12.0])


def test_contributions_that_alias_are_summed_apart() -> None:
    rec: Any = ta.ComputationRecord()
    x, y = rec.tensor(np.ones(3)), rec.tensor(np.ones(3))
    a = x + y  # hands the same cotangent to both
    b = a + x
    c = b + y
    d = c + a
    got = reverse_sweep(rec, d.index, np.ones(3))
    np.testing.assert_array_equal(got[x.index], [3.0, 3.0, 3.0])
    np.testing.assert_array_equal(got[y.index], [3.0, 3.0, 3.0])
    np.testing.assert_array_equal(got[a.index], [2.0, 2.0, 2.0])
    np.testing.assert_array_equal(got[b.index], [1.0, 1.0, 1.0])


def test_broadcast_cotangents_are_not_summed_into_in_place() -> None:
    rec: Any = ta.ComputationRecord()
    x = rec.tensor(np.ones((2, 3)))
    y = np.sum(x) + np.sum(x, axis=0) @ np.ones(3) + np.sum(x * x) + np.mean(x)
    np.testing.assert_allclose(reverse_sweep(rec, y.index, np.ones(()))[0], 4 + 1 / 6, rtol=1e-15)


def test_a_released_node_stops_the_sweep() -> None:
    rec: Any = ta.ComputationRecord()
    y = np.sin(rec.tensor(2.0))
    reverse_sweep(rec, y.index, np.ones(()), release=True)
    with pytest.raises(ReleasedError, match=r"node %1 \(sin\)"):
        reverse_sweep(rec, y.index, np.ones(()))


# Conforming


@pytest.mark.parametrize(
    ("have", "stack", "want"),
    [
        ((2, 3), 0, (2, 3)),
        ((2, 3), 0, (3,)),
        ((2, 3), 0, ()),
        ((2, 3), 0, (1,)),
        ((2, 3), 0, (2, 1)),
        ((2, 3), 0, (1, 1)),
        ((4, 2, 3), 1, (3,)),
        ((4, 2, 3), 1, (2, 1)),
        ((4, 2, 3), 1, ()),
        ((4, 5, 2, 3), 2, (1,)),
        ((0, 3), 0, (3,)),
        ((0, 3), 0, (1, 3)),
    ],
)
def test_conform_sums_what_broadcasting_stretched(
    have: tuple[int, ...], stack: int, want: tuple[int, ...]
) -> None:
    rng = np.random.default_rng(6)
    array = rng.normal(size=have)
    got = unbroadcast(array, want, np.dtype("f8"), stack)
    assert got.shape == have[:stack] + want
    # The adjoint of broadcasting: <array, broadcast(t)> = <unbroadcast(array), t>
    t = rng.normal(size=have[:stack] + want)
    spread = t.reshape(have[:stack] + (1,) * (len(have) - stack - len(want)) + want)
    np.testing.assert_allclose(np.sum(array * spread), np.sum(got * t), rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize(
    ("have", "stack", "want"),
    [((), 0, (2, 3)), ((3,), 0, (2, 3)), ((2, 1), 0, (2, 3)), ((4, 1, 1), 1, (2, 3))],
)
def test_conform_broadcasts_what_is_still_to_be_stretched(
    have: tuple[int, ...], stack: int, want: tuple[int, ...]
) -> None:
    array = np.random.default_rng(7).normal(size=have)
    got = unbroadcast(array, want, np.dtype("f8"), stack)
    np.testing.assert_array_equal(got, np.broadcast_to(array, have[:stack] + want))


def test_conform_leaves_alone_what_fits() -> None:
    array = np.ones((2, 3))
    assert unbroadcast(array, (2, 3), array.dtype, 0) is array
    assert unbroadcast(array, (3,), array.dtype, 1) is array


@pytest.mark.parametrize(
    ("have", "want"), [("c16", "f8"), ("c16", "f4"), ("f8", "f4"), ("f4", "f8"), ("f8", "c16")]
)
def test_conform_casts_and_takes_the_real_part_of_complex_numbers(have: str, want: str) -> None:
    array = np.array([1.5, -2.0], have) * (1 + 2j if have == "c16" else 1)
    got = unbroadcast(array, (2,), np.dtype(want), 0)
    np.testing.assert_array_equal(got, np.array([1.5, -2.0], want), strict=True)


def test_a_mask_hides_what_is_behind_it_and_nothing_else() -> None:
    rec: Any = ta.ComputationRecord()
    x = rec.tensor(np.zeros(1))
    with np.errstate(divide="ignore", invalid="ignore"):
        unhidden = (np.sqrt(x) * 0.0).sum()
        hidden = np.where(x.data > 0, np.sqrt(x), 0.0).sum()
        assert np.isnan((unhidden + hidden).grad().wrt(x))
        assert np.isnan((hidden + unhidden).grad().wrt(x))
        assert hidden.grad().wrt(x) == 0


def test_elements_read_one_by_one_are_summed_in_place() -> None:
    rec: Any = ta.ComputationRecord()
    x = rec.tensor(np.arange(1.0, 6.0))
    total = sum(x[i] * x[i + 1] for i in range(4)) + np.sum(x[[0, 0, 2]]) + np.sum(x[1:3])
    np.testing.assert_array_equal(total.grad().wrt(x), [4.0, 5.0, 8.0, 8.0, 4.0])


@pytest.mark.parametrize("size", [3, 20_000])
@pytest.mark.parametrize("dtype", ["float64", "float32", "complex128"])
def test_memory_that_is_used_again_changes_nothing_else(size: int, dtype: str) -> None:
    rec: Any = ta.ComputationRecord()
    data = (np.linspace(1.1, 1.5, size) * (1 + 1j if dtype == "complex128" else 1)).astype(dtype)
    x = rec.tensor(data)
    y = x * x
    z = (y * y) * x + (-(y / x))
    held = y * z
    out = np.sum((held * 2.0 + z) * data)
    grads = out.grad(seed=np.ones((), dtype))
    again = out.grad(seed=np.ones((), dtype))
    one, two, five = data.conj(), 2 * data.conj(), 5 * data.conj() ** 4 - 1
    dz = one * (2 * data.conj() ** 2 + 1)
    dy_alone = two * (data.conj() ** 5 - data.conj())
    close = np.testing.assert_allclose
    rtol = 1e-5 if dtype == "float32" else 1e-12
    close(grads.wrt(held), np.broadcast_to(two, data.shape), rtol=rtol)
    close(grads.wrt(z), dz, rtol=rtol)
    close(grads.wrt(x), dz * five + dy_alone * 2 * data.conj(), rtol=rtol)
    for each in (x, y, z, held):
        np.testing.assert_array_equal(grads.wrt(each), again.wrt(each))


def test_memory_that_was_handed_on_is_not_used_again() -> None:
    rec: Any = ta.ComputationRecord()
    y = rec.tensor(np.linspace(0.5, 1.5, 20_000))

    def twice(z: Any) -> Any:
        return np.sum((z - z) * y)

    np.testing.assert_allclose(twice(np.sin(y) * 2.0).grad().wrt(y), np.zeros(20_000), atol=1e-15)


def test_what_a_boolean_key_leaves_out_contributes_nothing() -> None:
    rec: Any = ta.ComputationRecord()
    x = rec.tensor([0.0, 2.0])
    with np.errstate(divide="ignore"):
        logarithms = np.log(x)
    np.testing.assert_array_equal(np.sum(logarithms[x > 0]).grad().wrt(x), [0.0, 0.5])
    both = np.sum(logarithms[x > 0]) + np.sum(logarithms[x > 1])
    np.testing.assert_array_equal(both.grad().wrt(x), [0.0, 1.0])
