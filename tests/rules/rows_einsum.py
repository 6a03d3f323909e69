"""Rows for `numpy.einsum`."""

from typing import Any

import numpy as np

from tape_ad.rules.numpy.einsum import contract
from tests.rules.table import REAL, Row, Shape

__all__ = ["CONSTANTS", "ROWS"]

# Subscripts, and the operands' shapes
SUBSCRIPTS: tuple[tuple[str, tuple[Shape, ...]], ...] = (
    # One operand
    ("ij->ji", ((2, 3),)),
    ("ij->", ((2, 3),)),
    ("ij->j", ((2, 3),)),
    ("ii->i", ((3, 3),)),
    ("ii", ((3, 3),)),
    ("ii->", ((3, 3),)),
    ("iji->j", ((2, 3, 2),)),
    ("iij->ji", ((2, 2, 3),)),
    ("iii->i", ((2, 2, 2),)),
    ("ba", ((2, 3),)),
    ("...i->...", ((2, 3, 4),)),
    ("i...->...i", ((2, 3, 4),)),
    ("i...i->...", ((2, 3, 2),)),
    ("...", ((2, 3),)),
    ("->", ((),)),
    # Two
    ("ij,jk->ik", ((2, 3), (3, 4))),
    ("ij,jk", ((2, 3), (3, 4))),
    ("ij,j", ((2, 3), (3,))),
    ("ij,j->", ((2, 3), (3,))),
    ("ij,kl->ik", ((2, 3), (2, 2))),
    ("ij,k->i", ((2, 3), (4,))),
    ("i,j->ij", ((2,), (3,))),
    ("i,i->i", ((3,), (3,))),
    ("ii,i->i", ((3, 3), (3,))),
    ("ii,jj->ij", ((2, 2), (3, 3))),
    ("ij,ij->ji", ((2, 3), (2, 3))),
    ("bij,bjk->bik", ((2, 2, 3), (2, 3, 4))),
    ("...ij,...jk->...ik", ((2, 2, 3), (3, 4))),
    ("...ij,...jk", ((5, 1, 2, 3), (2, 3, 4))),
    ("ij,...j->...i", ((2, 3), (4, 3))),
    ("i...,i->...", ((2, 3), (2,))),
    ("...,...", ((2, 3), (3,))),
    (",ij->ij", ((), (2, 3))),
    (",", ((), ())),
    (" ij , jk -> ki ", ((2, 3), (3, 4))),
    # An axis of length one is stretched
    ("ij,jk->ik", ((2, 1), (3, 4))),
    ("ij,ij->ij", ((2, 1), (1, 3))),
    ("ij,ij->", ((2, 1), (2, 3))),
    ("...i,...i->...i", ((1, 3), (2, 1))),
    # Three and more
    ("ij,jk,kl->il", ((2, 3), (3, 4), (4, 2))),
    ("i,i,i->", ((3,), (3,), (3,))),
    ("ij,j,k->ik", ((2, 3), (3,), (4,))),
    ("...i,ij,...j->...", ((2, 3), (3, 4), (2, 4))),
    ("ab,bc,cd,de->ae", ((2, 3), (3, 2), (2, 4), (4, 2))),
    ("i,j,k,l->lkji", ((2,), (3,), (2,), (2,))),
    # Nothing in it
    ("ij,jk->ik", ((2, 0), (0, 3))),
    ("ij->i", ((0, 3),)),
)


def named(subscripts: str, *shapes: Shape, **fields: Any) -> Row:
    """Make the row of subscripts."""
    return Row(
        np.einsum,
        [REAL(*shape) for shape in shapes],
        call=lambda f, *operands, **options: f(subscripts, *operands, **options),
        note=subscripts,
        nodes=max(1, len(shapes) - 1),
        **fields,
    )


def contraction(subscripts: str, *shapes: Shape) -> Row:
    """Make the row of a contraction of two operands, large enough to be a matrix product."""
    terms, _, output = subscripts.partition("->")
    return Row(
        contract,
        [REAL(*shape) for shape in shapes],
        call=lambda f, *operands: f(*operands, inputs=tuple(terms.split(",")), output=output),
        note=subscripts,
        complex=True,
        mixed=False,
        jax=einsum_of_jax,
    )


def einsum_of_jax(jax: Any) -> Any:
    """Write JAX's function as `contract`."""
    return lambda *operands, inputs, output: jax.numpy.einsum(
        f"{','.join(inputs)}->{output}", *operands
    )


def without_a_path(torch: Any) -> Any:
    def einsum(*call: Any, optimize: Any) -> Any:
        return torch.einsum(*call)

    return einsum


ROWS: list[Row] = [
    *(named(subscripts, *shapes, complex=True, mixed=False) for subscripts, shapes in SUBSCRIPTS),
    named("ij,kj->ki", (2, 3), (4, 3), complex=True),
    named("ij,jk,ki->j", (2, 3), (3, 4), (4, 2), complex=True),
    named("ij,jk->ik", (2, 3), (3, 4), options={"optimize": True}),
    named("ij,jk,kl->il", (2, 3), (3, 4), (4, 2), options={"optimize": True}),
    named("ij,jk,kl->il", (2, 3), (3, 4), (4, 2), options={"optimize": "optimal"}),
    Row(
        np.einsum,
        [REAL(2, 3), REAL(3, 4), REAL(4, 2)],
        call=lambda f, *abc: f("ij,jk,kl", *abc, optimize=["einsum_path", (0, 1), (0, 1)]),
        note="a given path",
        nodes=2,
        no_jax="JAX writes a path in another way",
        torch=without_a_path,
    ),
    *(
        named(
            subscripts,
            *shapes,
            options={"dtype": np.float64, "order": "C", "casting": "safe"},
            no_jax="JAX has no such options",
        )
        for subscripts, shapes in (("ij,jk", ((2, 3), (3, 4))), ("i,ij,j", ((2,), (2, 3), (3,))))
    ),
    Row(
        np.einsum,
        [REAL(2, 3), REAL(3, 4)],
        call=lambda f, a, b: f(a, [0, 1], b, [1, 2], [2, 0]),
        note="lists",
    ),
    Row(
        np.einsum,
        [REAL(2, 3), REAL(3, 4)],
        call=lambda f, a, b: f(a, [30, 1], b, [1, 2]),
        note="lists, implicit",
    ),
    Row(
        np.einsum,
        [REAL(2, 2, 3), REAL(3)],
        call=lambda f, a, b: f(a, [..., 0], b, [0], [...]),
        note="lists with ellipsis",
    ),
    Row(np.einsum, [REAL(3, 3)], call=lambda f, a: f(a, [0, 0], [0]), note="list, diagonal"),
    contraction("ij,jk->ik", (16, 17), (17, 18)),
    contraction("ji,kj->ki", (17, 16), (18, 17)),
    contraction("bij,bjk->kib", (4, 9, 10), (4, 10, 12)),
    contraction("ibj,kjb->bik", (9, 4, 10), (12, 10, 4)),
    contraction("ijkl,kmj->mli", (4, 5, 6, 7), (6, 8, 5)),
    contraction("ij,j->i", (70, 60), (60,)),
    contraction("i,ij->j", (70,), (70, 60)),
    contraction("ijk,j->ki", (17, 16, 18), (16,)),
    contraction("ij,ij->", (70, 60), (70, 60)),
    contraction("ij,ij->ji", (70, 60), (70, 60)),
    contraction("ij,kl->il", (8, 9), (10, 11)),
    contraction("iij,jk->ik", (16, 16, 17), (17, 18)),
    contraction("ij,jk->ik", (16, 1), (17, 18)),
    contraction("bij,bjk->bik", (4, 9, 10), (1, 10, 12)),
    contraction("bij,bjk->bik", (4, 1, 10), (4, 10, 120)),
    contraction("ij,jk->ik", (16, 17), (17, 0)),
]

CONSTANTS: list[Row] = [
    Row(
        np.einsum_path,
        [REAL(2, 3), REAL(3, 4), REAL(4, 2)],
        call=lambda f, *abc: f("ij,jk,kl", *abc)[1],
        note="what it says",
    ),
]
