"""Each linear map by itself: one identity checks both its methods."""

import inspect
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from attrs import frozen

import tape_ad as ta
from tape_ad.rules import maps
from tape_ad.rules.maps import (
    Adjoint,
    Chain,
    Conjugate,
    Deferred,
    Divide,
    ImaginaryPart,
    Index,
    Join,
    LinearMap,
    Mask,
    MatmulLeft,
    MatmulRight,
    Negate,
    Part,
    RealPart,
    Reshape,
    Same,
    Scale,
    Shield,
    Stretch,
    Sum,
    Transpose,
    WeightedSum,
)

Array = Any
Shape = tuple[int, ...]
Hold = Callable[[Array], Array]
STACKS: list[Shape] = [(), (2,), (0,), (2, 3)]

FACTOR = np.array([[1.5, -0.5, 2.0], [0.25, 3.0, -1.0]])
PHASE = FACTOR + 1j * FACTOR[::-1]
MASK = np.array([[True, False, True], [False, False, True]])
PICKS = np.array([0, 2, 0])
ALL = slice(None)
CC = ("c", "c")


@frozen(eq=False)
class Case:
    """A map between two spaces; `make` is given what turns an array into what the map holds."""

    name: str
    make: Callable[[Hold], LinearMap]
    parent: Shape = (2, 3)
    node: Shape = (2, 3)
    kinds: tuple[str, str] = ("f", "f")

    def __str__(self) -> str:
        return self.name

    def vectors(self, stack: Shape) -> tuple[Array, Array]:
        """Draw a tangent of the parent and a cotangent of the node, which nobody can write to."""
        rng = np.random.default_rng(7)
        t, ct = (
            draw(rng, stack + shape, kind)
            for shape, kind in zip((self.parent, self.node), self.kinds, strict=True)
        )
        return t, ct


def draw(rng: np.random.Generator, shape: Shape, kind: str) -> Array:
    array = rng.standard_normal(shape)
    if kind == "c":
        array = array + 1j * rng.standard_normal(shape)
    array = np.asarray(array)
    array.flags.writeable = False
    return array


def read_only(array: Array) -> Array:
    copy = np.array(array)
    copy.flags.writeable = False
    return copy


def pairing(u: Array, v: Array) -> float:
    return float(np.sum(np.real(np.conj(u) * v)))


REAL_CASES = [
    Case("Same", lambda hold: Same()),
    Case("Negate", lambda hold: Negate()),
    Case("Scale", lambda hold: Scale(hold(FACTOR))),
    Case("Scale, broadcast", lambda hold: Scale(hold(FACTOR[0]))),
    Case("Scale, number", lambda hold: Scale(2.5)),
    Case("Divide", lambda hold: Divide(hold(FACTOR))),
    Case("Mask", lambda hold: Mask(MASK)),
    Case("Mask, ties", lambda hold: Mask(MASK, MASK[::-1])),
    Case("Shield", lambda hold: Shield()),
    Case("Conjugate", lambda hold: Conjugate()),
    Case("WeightedSum", lambda hold: WeightedSum(hold(FACTOR), 2, (-1,), False), node=(2,)),
    Case(
        "WeightedSum, keepdims", lambda hold: WeightedSum(hold(FACTOR), 2, (-2,), True), node=(1, 3)
    ),
    Case("WeightedSum, all", lambda hold: WeightedSum(hold(FACTOR), 2, (-2, -1), False), node=()),
    Case("Sum", lambda hold: Sum((2, 3), (-2,), False), node=(3,)),
    Case("Sum, keepdims", lambda hold: Sum((2, 3), (-1,), True), node=(2, 1)),
    Case("Sum, scaled", lambda hold: Sum((2, 3), (-2, -1), False, 0.25), node=()),
    Case("Sum, no axis", lambda hold: Sum((2, 3), (), False)),
    Case("Reshape", lambda hold: Reshape((2, 3), (3, 2)), node=(3, 2)),
    Case("Reshape, to 0-d", lambda hold: Reshape((1, 1), ()), parent=(1, 1), node=()),
    Case("Reshape, empty", lambda hold: Reshape((0, 3), (2, 0)), parent=(0, 3), node=(2, 0)),
    Case("Transpose", lambda hold: Transpose((-1, -2)), node=(3, 2)),
    Case("Transpose, cycle", lambda hold: Transpose((-2, -1, -3)), (2, 3, 4), (3, 4, 2)),
    Case("Transpose, 0-d", lambda hold: Transpose(()), (), ()),
    Case(
        "Index, slice",
        lambda hold: Index((ALL, slice(None, None, -2)), (2, 3), (2, 2)),
        node=(2, 2),
    ),
    Case("Index, number", lambda hold: Index((1, ALL), (2, 3), (3,)), node=(3,)),
    Case(
        "Index, repeats",
        lambda hold: Index((ALL, PICKS), (2, 3), (2, 3), repeats=True),
    ),
    Case("Index, mask", lambda hold: Index((MASK,), (2, 3), (3,)), node=(3,)),
    Case(
        "Index, apart",
        lambda hold: Index((0, ALL, PICKS), (2, 3, 4), (3, 3), repeats=True, front=1),
        (2, 3, 4),
        (3, 3),
    ),
    Case("Stretch", lambda hold: Stretch((3,), (2, 3)), parent=(3,)),
    Case("Stretch, 1 to 3", lambda hold: Stretch((2, 1), (4, 2, 3)), (2, 1), (4, 2, 3)),
    Case("Stretch, 0-d", lambda hold: Stretch((), (2, 3)), parent=()),
    Case("Stretch, to nothing", lambda hold: Stretch((1, 3), (0, 3)), (1, 3), (0, 3)),
    Case("MatmulLeft", lambda hold: MatmulLeft(hold(FACTOR.T), 2), node=(2, 2)),
    Case("MatmulLeft, row", lambda hold: MatmulLeft(hold(FACTOR), 1), (2,), (3,)),
    Case("MatmulLeft, vector", lambda hold: MatmulLeft(hold(FACTOR[0]), 2), node=(2,)),
    Case("MatmulLeft, vectors", lambda hold: MatmulLeft(hold(FACTOR[0]), 1), (3,), ()),
    Case("MatmulRight", lambda hold: MatmulRight(hold(FACTOR.T), 2), node=(3, 3)),
    Case("MatmulRight, column", lambda hold: MatmulRight(hold(FACTOR), 1), (3,), (2,)),
    Case("MatmulRight, vector", lambda hold: MatmulRight(hold(FACTOR[:, 0]), 2), node=(3,)),
    Case("MatmulRight, vectors", lambda hold: MatmulRight(hold(FACTOR[0]), 1), (3,), ()),
    Case(
        "Part",
        lambda hold: Part(
            Join([(2, 3), (6,)], [(2, 3), (2, 3)], 2, partial(np.concatenate, axis=-1)),
            0,
            (ALL, slice(0, 3)),
        ),
        node=(2, 6),
    ),
    Case(
        "Part, reshaped",
        lambda hold: Part(
            Join([(2, 3), (6,)], [(2, 3), (2, 3)], 2, partial(np.concatenate, axis=-2)),
            1,
            (slice(2, 4),),
        ),
        parent=(6,),
        node=(4, 3),
    ),
    Case("Chain", lambda hold: Chain((Scale(hold(FACTOR)), Transpose((-1, -2)))), node=(3, 2)),
    Case("Adjoint", lambda hold: Adjoint(Index((1, ALL), (2, 3), (3,))), parent=(3,)),
    Case("Adjoint of a sum", lambda hold: Adjoint(Sum((2, 3), (-1,), True)), parent=(2, 1)),
    Case("Deferred", lambda hold: Deferred(Sum, ((2, 3), (-1,), True)), node=(2, 1)),
]
ALSO_COMPLEX = [
    Case(f"{case.name}, complex", case.make, case.parent, case.node, ("c", "c"))
    for case in REAL_CASES
]
COMPLEX_CASES = [
    Case("Scale by complex", lambda hold: Scale(hold(PHASE)), kinds=("c", "c")),
    Case("Divide by complex", lambda hold: Divide(hold(PHASE)), kinds=("c", "c")),
    Case("MatmulLeft by complex", lambda hold: MatmulLeft(hold(PHASE.T), 2), (2, 3), (2, 2), CC),
    Case("MatmulRight by complex", lambda hold: MatmulRight(hold(PHASE.T), 2), (2, 3), (3, 3), CC),
    Case("RealPart", lambda hold: RealPart(), kinds=("c", "f")),
    Case("ImaginaryPart", lambda hold: ImaginaryPart(), kinds=("c", "f")),
    Case(
        "WeightedSum by complex",
        lambda hold: WeightedSum(hold(PHASE), 2, (-1,), False),
        node=(2,),
        kinds=("c", "c"),
    ),
    Case(
        "Chain to the reals",
        lambda hold: Chain((Scale(hold(PHASE)), RealPart())),
        kinds=("c", "f"),
    ),
    Case("Adjoint of RealPart", lambda hold: Adjoint(RealPart()), kinds=("f", "c")),
]
CASES = REAL_CASES + ALSO_COMPLEX + COMPLEX_CASES

every_case = pytest.mark.parametrize("case", CASES, ids=str)


@every_case
@pytest.mark.parametrize("stack", STACKS, ids=str)
def test_pull_is_the_adjoint_of_push_and_nothing_is_written_to(case: Case, stack: Shape) -> None:
    linear_map = case.make(read_only)
    t, ct = case.vectors(stack)
    pushed, pulled = linear_map.push(t), linear_map.pull(ct)
    assert pushed.shape == stack + case.node
    assert pulled.shape == stack + case.parent
    assert pairing(ct, pushed) == pytest.approx(pairing(pulled, t), rel=1e-13, abs=1e-13)


@every_case
def test_a_stack_is_mapped_entry_by_entry(case: Case) -> None:
    linear_map = case.make(read_only)
    t, ct = case.vectors((2,))
    np.testing.assert_allclose(linear_map.push(t)[1], linear_map.push(t[1]), rtol=1e-15)
    np.testing.assert_allclose(linear_map.pull(ct)[1], linear_map.pull(ct[1]), rtol=1e-15)


@every_case
def test_push_is_linear(case: Case) -> None:
    linear_map = case.make(read_only)
    t, _ = case.vectors((2,))
    together = linear_map.push(2 * t[0] - 3 * t[1])
    apart = 2 * linear_map.push(t[0]) - 3 * linear_map.push(t[1])
    np.testing.assert_allclose(together, apart, rtol=1e-13, atol=1e-13)


@every_case
def test_what_is_held_may_be_a_handle(case: Case) -> None:
    plain = case.make(read_only)
    holding = case.make(ta.ComputationRecord().tensor)
    t, ct = case.vectors((2,))
    np.testing.assert_array_equal(primal(holding.push(t)), plain.push(t))
    np.testing.assert_array_equal(primal(holding.pull(ct)), plain.pull(ct))


@every_case
def test_a_recorded_push_is_swept_by_the_pull_and_the_other_way_round(case: Case) -> None:
    linear_map = case.make(read_only)
    t, ct = case.vectors((2,))
    record = ta.ComputationRecord()
    tangent, cotangent = record.tensor(t), record.tensor(ct)
    pushed, pulled = linear_map.push(tangent), linear_map.pull(cotangent)
    np.testing.assert_array_equal(pushed.data, linear_map.push(t))
    np.testing.assert_array_equal(pulled.data, linear_map.pull(ct))
    by_sweep = pushed.grad(seed=fitting(ct, pushed)).wrt(tangent)
    np.testing.assert_allclose(by_sweep, linear_map.pull(ct), rtol=1e-14)
    by_sweep = pulled.grad(seed=fitting(t, pulled)).wrt(cotangent)
    np.testing.assert_allclose(by_sweep, linear_map.push(t), rtol=1e-14)


def fitting(seed: Array, root: ta.Tensor) -> Array:
    """Leave out of a seed what the inner product with a real root is blind to."""
    return seed.real if root.dtype.kind == "f" else seed


def primal(value: Any) -> Array:
    return value.data if isinstance(value, ta.Tensor) else value


def test_a_mask_leaves_out_what_is_no_number() -> None:
    t = np.where(MASK, 1.0, np.nan)
    np.testing.assert_array_equal(Mask(MASK).push(t), MASK)
    np.testing.assert_array_equal(Mask(MASK).pull(t), MASK)


def test_a_sum_is_pulled_without_a_copy() -> None:
    assert Sum((1000, 1000), (-2, -1), False).pull(np.ones(())).strides == (0, 0)


def test_every_map_is_tested() -> None:
    kinds = {
        kind
        for _, kind in inspect.getmembers(maps, inspect.isclass)
        if hasattr(kind, "pull") and kind is not LinearMap
    }
    tested = {type(case.make(read_only)) for case in CASES}
    assert kinds == tested


@pytest.mark.parametrize("number", [np.float64(3), np.float32(3), np.array(3.0), np.complex64(3j)])
def test_a_large_sum_pulls_a_number_to_a_view_that_nobody_writes_to(number: Array) -> None:
    pulled = Sum((40, 50), (-2, -1), keepdims=False).pull(number)
    np.testing.assert_array_equal(pulled, np.full((40, 50), number), strict=True)
    assert pulled.strides == (0, 0)
    assert not pulled.flags.writeable


@pytest.mark.parametrize("axes", [(-1,), (-2,), (-3, -1), (-3, -2, -1)])
@pytest.mark.parametrize("stack", [(), (2,), (1, 3)])
@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("order", ["C", "F"])
def test_a_large_sum_over_axes_pulls_to_a_view_that_nobody_writes_to(
    axes: tuple[int, ...], stack: Shape, keepdims: bool, order: Any
) -> None:
    shape = (20, 1, 60)
    t = np.zeros((*stack, *shape))
    node: Array = np.sum(t, axis=axes, keepdims=keepdims)
    ct = np.array(np.random.default_rng(0).normal(size=node.shape), order=order)
    pulled = Sum(shape, axes, keepdims).pull(ct)
    expected = t + (ct if keepdims else np.expand_dims(ct, tuple(axes)))
    np.testing.assert_array_equal(pulled, expected, strict=True)
    assert not pulled.flags.writeable
    assert np.shares_memory(pulled, ct)
