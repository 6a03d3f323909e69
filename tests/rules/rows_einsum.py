"""Rows for `numpy.einsum`."""

import numpy as np

from tests.rules.table import REAL, Row, Shape

__all__ = ["ROWS"]

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


def named(subscripts: str, *shapes: Shape, complex: bool = False, **options: object) -> Row:
    """Make the row of subscripts."""
    return Row(
        np.einsum,
        [REAL(*shape) for shape in shapes],
        call=lambda f, *operands, **options: f(subscripts, *operands, **options),
        options=options,
        note=subscripts,
        complex=complex,
    )


ROWS: list[Row] = [
    *(named(subscripts, *shapes, complex=True) for subscripts, shapes in SUBSCRIPTS),
    named("ij,jk->ik", (2, 3), (3, 4), optimize=True),
    named("ij,jk,kl->il", (2, 3), (3, 4), (4, 2), optimize=True),
    named("ij,jk,kl->il", (2, 3), (3, 4), (4, 2), optimize="optimal"),
    Row(
        np.einsum,
        [REAL(2, 3), REAL(3, 4), REAL(4, 2)],
        call=lambda f, *abc: f("ij,jk,kl", *abc, optimize=["einsum_path", (0, 1), (0, 1)]),
        note="a given path",
        no_jax="JAX writes a path in another way",
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
]
