"""Solving with banded matrices; see `systems`."""

from typing import Any, ClassVar, Self

import numpy as np
import scipy.linalg
from attrs import define

from tape_ad.extend import facts
from tape_ad.extend.arrays import Array
from tape_ad.extend.rules import Call, Entry, rule
from tape_ad.scipy.counterparts import takes_lists
from tape_ad.scipy.linalg.systems import Coefficients, RightHandSide, in_columns

__all__ = ["BANDED", "solve_banded"]


@takes_lists
def solve_banded(
    l_and_u: tuple[int, int],
    ab: Array,
    b: Array,
    overwrite_ab: bool = False,
    overwrite_b: bool = False,
    check_finite: bool = True,
) -> Array:
    """Solve ``a @ x = b`` for a banded matrix a, as `scipy.linalg.solve_banded` does.

    Parameters
    ----------
    l_and_u : tuple of int
        The numbers l and u of diagonals below and above the main one.
    ab : array or Tensor, shape (l + u + 1, n)
        The diagonals: ``ab[u + i - j, j]`` is ``a[i, j]``. The corners stand for no element and
        have no gradient.
    b : array or Tensor, shape (n,) or (n, k)
    overwrite_ab, overwrite_b, check_finite : bool
        As in SciPy; a handle is never overwritten.

    Returns
    -------
    array or Tensor, shape of `b`

    Examples
    --------
    >>> ab = np.array([[0.0, 1.0, 1.0], [2.0, 2.0, 2.0], [1.0, 1.0, 0.0]])
    >>> solve_banded((1, 1), ab, np.array([3.0, 4.0, 3.0]))
    array([1., 1., 1.])
    """
    return scipy.linalg.solve_banded(
        l_and_u,
        ab,
        b,
        overwrite_ab=overwrite_ab,
        overwrite_b=overwrite_b,
        check_finite=check_finite,
    )


@define(eq=False, repr=False)
class Banded:
    """The system of a banded matrix of which an array holds the diagonals.

    Diagonal r of the array holds a[j + r - upper, j], so multiplying by one diagonal is
    multiplying by a column and shifting its elements.
    """

    trans: ClassVar[str] = "N"
    ab: Array
    lower: int
    upper: int

    def solve(self, b: Array) -> Array:
        return in_columns(
            lambda columns: solve_banded(
                (self.lower, self.upper), self.ab, columns, check_finite=False
            ),
            self.ab.ndim,
            b,
        )

    def adjoint(self) -> Self:
        rows = [
            shifted(diagonal.conjugate(), offset)[..., 0]
            for offset, diagonal in self._diagonals(self.ab)
        ]
        return type(self)(np.stack(rows[::-1], axis=-2), self.upper, self.lower)

    def times(self, t: Array, x: Array) -> Array:
        return sum(shifted(diagonal * x, offset) for offset, diagonal in self._diagonals(t))

    def adjoint_times(self, t: Array, x: Array) -> Array:
        return sum(
            diagonal.conjugate() * shifted(x, -offset) for offset, diagonal in self._diagonals(t)
        )

    def gradient(self, g: Array, x: Array) -> Array:
        conjugate = x.conjugate()
        rows = [
            np.add.reduce(shifted(g, -offset) * conjugate, axis=-1)
            for offset in range(-self.upper, self.lower + 1)
        ]
        return np.stack(rows, axis=-2)

    def _diagonals(self, ab: Array) -> list[tuple[int, Array]]:
        """List the diagonals as columns, each with how far below the main one it is."""
        return [(r - self.upper, ab[..., r, :, None]) for r in range(self.lower + self.upper + 1)]


def shifted(x: Array, down: int) -> Array:
    """Move the rows of matrices down, or up, and fill with zeros."""
    n = x.shape[-2]
    down = max(-n, min(n, down))
    if down == 0:
        return x
    zeros = np.zeros((*x.shape[:-2], abs(down), x.shape[-1]), x.dtype)
    parts = (zeros, x[..., : n - down, :]) if down > 0 else (x[..., -down:, :], zeros)
    return np.concatenate(parts, axis=-2)


def banded_signature(
    l_and_u: tuple[int, int],
    ab: Array,
    b: Array,
    overwrite_ab: bool = False,
    overwrite_b: bool = False,
    check_finite: bool = True,
) -> Call:
    """Sort the arguments of `solve_banded`."""
    return (ab, b), {"l_and_u": l_and_u, "check_finite": check_finite}


BANDED: dict[Any, Entry] = {
    solve_banded: rule(
        lambda out, ab, b, l_and_u, **options: Coefficients(Banded(ab, *l_and_u), out, b.ndim == 1),
        lambda out, ab, b, l_and_u, **options: RightHandSide(Banded(ab, *l_and_u), b.ndim == 1),
        signature=banded_signature,
        compute=lambda ab, b, l_and_u, **options: solve_banded(l_and_u, ab, b, **options),
        facts=facts.cores("(m,n),(n,k?)->(n,k?)", "ab", "b"),
    ),
}
