"""How `numpy.einsum` is taken apart, and how it refuses."""

from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad.errors import InPlaceError, ShapeError
from tape_ad.rules.numpy import einsum as contractions
from tape_ad.rules.numpy.einsum import contract, planned

Array = Any

RNG = np.random.default_rng(8)


def leaves(*shapes: tuple[int, ...]) -> tuple[ta.ComputationRecord, list[ta.Tensor]]:
    record = ta.ComputationRecord()
    return record, [record.tensor(RNG.standard_normal(shape)) for shape in shapes]


def test_many_operands_are_contracted_in_pairs_along_the_path() -> None:
    record, (a, b, v) = leaves((20, 20), (20, 20), (20,))
    np.einsum("ij,jk,k", a, b, v)
    # The vector first: no product of matrices is ever made
    assert [record[i].shape for i in range(3, len(record))] == [(20,), (20,)]


def test_a_given_path_is_followed() -> None:
    record, (a, b, v) = leaves((20, 20), (20, 20), (20,))
    np.einsum("ij,jk,k", a, b, v, optimize=["einsum_path", (0, 1), (0, 1)])
    assert [record[i].shape for i in range(3, len(record))] == [(20, 20), (20,)]


def test_a_step_of_three_is_taken_pair_by_pair() -> None:
    record, (a, b, v) = leaves((2, 3), (3, 4), (4,))
    out = np.einsum("ij,jk,k->i", a, b, v, optimize=["einsum_path", (0, 1, 2)])
    assert len(record) == 5
    np.testing.assert_allclose(out.data, a.data @ b.data @ v.data, atol=1e-14)


def test_a_path_can_be_asked_for_first() -> None:
    _, operands = leaves((2, 3), (3, 4), (4,))
    path = np.einsum_path("ij,jk,k", *operands)[0]
    assert path == ["einsum_path", (1, 2), (0, 1)]
    assert np.einsum("ij,jk,k", *operands, optimize=path).shape == (2,)


def test_plain_operands_among_handles_are_contracted_without_a_node() -> None:
    record, (v,) = leaves((4,))
    path = ["einsum_path", (0, 1), (0, 1)]
    np.einsum("ij,jk,k->i", np.ones((2, 3)), np.ones((3, 4)), v, optimize=path)
    assert len(record) == 2


PLANS: dict[str, tuple[str, tuple[int, ...], tuple[int, ...]]] = {
    "product": ("ij,jk->ik", (50, 60), (60, 70)),
    "both turned": ("ji,kj->ki", (60, 50), (70, 60)),
    "in batches": ("bij,bjk->bik", (8, 20, 30), (8, 30, 40)),
    "merged axes": ("ijkl,klm->ijm", (5, 6, 7, 8), (7, 8, 9)),
    "matrix by vector": ("ij,j->i", (200, 300), (300,)),
    "inner product": ("ij,ij->", (200, 300), (200, 300)),
}


@pytest.mark.parametrize("name", PLANS)
def test_what_is_a_product_of_matrices_is_computed_as_one(name: str) -> None:
    subscripts, *shapes = PLANS[name]
    terms, _, output = subscripts.partition("->")
    plan = planned(tuple(terms.split(",")), output, tuple(shapes))
    assert plan is not None
    assert plan.factors is not None


@pytest.mark.parametrize(
    ("subscripts", "shapes"),
    [
        ("ij,jk->ik", ((2, 3), (3, 4))),
        ("ij,ji->ij", ((100, 100), (100, 100))),
        ("i,j->ij", ((100,), (100,))),
        ("ij,ij->i", ((100, 100), (100, 100))),
        ("ijk,j->ik", ((50, 50, 50), (50,))),
    ],
)
def test_numpys_loop_stays_where_it_is_as_good(
    subscripts: str, shapes: tuple[tuple[int, ...], ...]
) -> None:
    terms, _, output = subscripts.partition("->")
    assert planned(tuple(terms.split(",")), output, shapes) is None


def test_sums_over_one_operand_come_first() -> None:
    plan = planned(("ij", "kl"), "ik", ((10, 20), (30, 40)))
    assert plan is not None
    assert plan.reductions == ("ij->i", "kl->k")


@pytest.mark.parametrize("trial", range(60))
def test_random_contractions(trial: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contractions, "TINY", 0)
    contractions.planned.cache_clear()
    rng = np.random.default_rng(trial)
    sizes = dict(zip("abcde", rng.integers(1, 4, 5).tolist(), strict=True))
    terms = tuple("".join(rng.choice(list(sizes), rng.integers(0, 5))) for _ in range(2))
    letters = sorted(set("".join(terms)))
    output = "".join(rng.permutation(letters)[: rng.integers(0, len(letters) + 1)])
    operands = [rng.standard_normal([sizes[i] for i in term]) for term in terms]
    expected = np.einsum(f"{','.join(terms)}->{output}", *operands)
    np.testing.assert_allclose(
        contract(*operands, inputs=terms, output=output), expected, atol=1e-13
    )
    contractions.planned.cache_clear()


def test_integers_stay_integers() -> None:
    a, b = np.arange(4900).reshape(70, 70), np.ones((70, 70), int)
    product = contract(a, b, inputs=("ij", "jk"), output="ik")
    np.testing.assert_array_equal(product, a @ b, strict=True)


@pytest.mark.parametrize(
    ("subscripts", "shapes", "message"),
    [
        ("ij,jk", ((2, 3), (4, 5)), r"np\.einsum\('ij,jk'\) of shapes \(2, 3\), \(4, 5\)"),
        ("ij,jk,kl", ((2, 3), (3, 5), (4, 5)), "kl"),
        ("ij->k", ((2, 3),), "k"),
        ("ij,j", ((2, 3),), "operands"),
        ("ijk", ((2, 3),), "ijk"),
    ],
)
def test_what_does_not_fit_is_said_by_name(
    subscripts: str, shapes: tuple[tuple[int, ...], ...], message: str
) -> None:
    _, operands = leaves(*shapes)
    with pytest.raises(ShapeError, match=message):
        np.einsum(subscripts, *operands)


def test_out_is_refused() -> None:
    _, (a,) = leaves((2, 2))
    with pytest.raises(InPlaceError, match="into a plain array"):
        np.einsum("ij->i", a, out=np.empty(2))
