"""Singular values and their vectors, by the conventions of `tape_ad.rules.linalg.spectra`."""

from typing import Any, ClassVar

import numpy as np
from attrs import define

from tape_ad.base.arrays.overridable import overridable
from tape_ad.rules import facts
from tape_ad.rules.base import Derivation, Entry, outputs, rule, stated
from tape_ad.rules.linalg.spectra import (
    HermitianEigenvectors,
    indistinct,
    inverse_differences,
    real_values,
    scaled,
)
from tape_ad.rules.linalg.triangles import ConjugateTranspose, HermitianFromTriangle
from tape_ad.rules.maps import Array, Chain, Deferred, LinearMap, Scale, adjoint
from tape_ad.rules.maps.patterns import batched
from tape_ad.rules.numpy.elementwise import nonzero
from tape_ad.rules.signatures import arguments_of

__all__ = [
    "SINGULAR_VALUES",
    "singular_triplets",
    "singular_values",
    "singular_values_map",
    "widened",
]


@define(eq=False, repr=False)
class SingularVectors:
    """The derivative of the left singular vectors; with the roles exchanged, of the right ones.

    Parameters
    ----------
    left : array, shape (..., m, p)
        The vectors in question; p is k = min(m, n), or m where the decomposition is full.
    s : array, shape (..., k)
    right : array, shape (..., n, k)
        Their partners.
    ties : float
        What 1 / (s_j - s_i) counts as for equal values, and 1 / s for 0.
    """

    broadcasts: ClassVar[bool] = False
    pattern = batched(2, 2)
    left: Array
    s: Array
    right: Array
    ties: float

    def push(self, t: Array) -> Array:
        u = self.left
        x = t @ self.right
        c = adjoint(u) @ x
        wide = widened(c, u.shape[-1])
        apart, together = self._inverses()
        back = adjoint(wide)
        change = u @ (scaled(wide, apart) + scaled(back, apart) + together * (wide - back))
        if self._is_full():
            return change
        return change + scaled(x - u @ c, self._outward())

    def pull(self, ct: Array) -> Array:
        u = self.left
        h = adjoint(u) @ ct
        apart, together = self._inverses()
        hermitian, skew = scaled(h, apart), together * h
        c = hermitian + adjoint(hermitian) + skew - adjoint(skew)
        x = u @ c[..., : self.s.shape[-1]]
        if not self._is_full():
            x = x + scaled(ct - u @ h, self._outward())
        return x @ adjoint(self.right)

    def _is_full(self) -> bool:
        """Tell whether the vectors span the whole space, so that they only turn within it."""
        return bool(self.left.shape[-2] == self.left.shape[-1])

    def _inverses(self) -> tuple[Array, Array]:
        """Compute 1 / 2(s_j - s_i) and 1 / 2(s_j + s_i); the further values are 0.

        The first turns the two vectors of a pair alike. The second turns
        them oppositely, so that it is there for equal values too, but not between values of 0; its
        diagonal turns complex vectors by half of what the pair of them has to turn.
        """
        s = widened(self.s, self.left.shape[-1])
        vanishing = indistinct(widened(s, s.shape[-1] + 1))[..., :-1, -1]
        both = vanishing[..., None, :] & vanishing[..., :, None]
        sums = s[..., None, :] + s[..., :, None]
        apart = inverse_differences(s, self.ties, free=s.shape[-1] - self.s.shape[-1]) / 2
        return apart, np.where(both, 0, 0.5 / np.where(both, 1, sums))

    def _outward(self) -> Array:
        """Compute 1 / s, which turns vectors out of the space that they span."""
        s = self.s[..., None, :]
        return np.where(np.equal(s, 0), self.ties, 1 / nonzero(s))


def widened(x: Array, size: int) -> Array:
    """Append zeros to the last axis until it has the given length."""
    missing = size - x.shape[-1]
    if not missing:
        return x
    return np.concatenate([x, np.zeros((*x.shape[:-1], missing), x.dtype)], axis=-1)


def svd(
    a: Array, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False
) -> Any:
    """Decompose into singular vectors and values, or into values alone."""
    hermitian = bool(hermitian)
    if compute_uv:
        return singular_triplets(a, full_matrices, hermitian, ties=np.nan)
    return singular_values(a, hermitian)


@overridable
def singular_triplets(
    a: Array, full_matrices: bool, hermitian: bool = False, *, ties: float
) -> Any:
    """Compute `numpy.linalg.svd` with vectors: a function of three outputs.

    `ties` says what 1 / (s_j - s_i) counts as for equal values.
    """
    return np.linalg.svd(a, full_matrices=full_matrices, hermitian=hermitian)


@overridable
def singular_values(a: Array, hermitian: bool = False) -> Array:
    """Compute `numpy.linalg.svd` without vectors: a function of one output."""
    return np.linalg.svd(a, compute_uv=False, hermitian=hermitian)


def triplets_partial(
    output: int, outs: Any, a: Array, hermitian: bool, ties: float, **options: Any
) -> LinearMap:
    """Make the partial of the left vectors, of the values, or of the right vectors."""
    u, s, vh = outs
    k = s.shape[-1]
    v = adjoint(vh)
    if output == 1:
        before = (HermitianFromTriangle(upper=False),) if hermitian else ()
        return real_values(u[..., :k], v[..., :k], *before)
    if hermitian:
        return hermitian_vectors(output, u, s, v, ties)
    if output == 0:
        return SingularVectors(u, s, v[..., :k], ties)
    turned = SingularVectors(v, s, u[..., :k], ties)
    return Chain((ConjugateTranspose(), turned, ConjugateTranspose()))


def hermitian_vectors(output: int, u: Array, s: Array, v: Array, ties: float) -> LinearMap:
    """Make the partial of singular vectors of a Hermitian matrix, which are eigenvectors.

    The right ones have the signs of the eigenvalues.
    """
    signs = np.sign(np.add.reduce((u.conjugate() * v).real, axis=-2))
    turned = Chain((HermitianFromTriangle(upper=False), HermitianEigenvectors(s * signs, u, ties)))
    if output == 0:
        return turned
    return Chain((turned, Scale(signs[..., None, :]), ConjugateTranspose()))


def singular_values_map(a: Array, hermitian: bool = False) -> LinearMap:
    """Make the partial of singular values, which takes their vectors."""
    u, _, vh = singular_triplets(a, full_matrices=False, hermitian=hermitian, ties=np.nan)
    return real_values(u, adjoint(vh), *((HermitianFromTriangle(upper=False),) * hermitian))


SINGULAR_VALUES: dict[Any, Entry] = stated(
    facts.cores("(m,n)->..."),
    {
        np.linalg.svd: Derivation(svd),
        np.linalg.svdvals: Derivation(lambda x, /: singular_values(x)),
        singular_triplets: outputs(
            triplets_partial, signature=arguments_of(singular_triplets, "a")
        ),
        singular_values: rule(
            lambda out, a, hermitian: Deferred(singular_values_map, (a, hermitian), batched(2, 1)),
            signature=arguments_of(singular_values, "a"),
        ),
    },
)
