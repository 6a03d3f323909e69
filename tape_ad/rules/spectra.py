"""Eigenvalues, singular values and their vectors.

Conventions, for what the functions themselves leave open:

- Eigenvectors and singular vectors are determined up to a factor of magnitude 1, and the
  derivative is the one that does not turn them (for singular vectors, turns both of a pair by
  opposite halves), as in JAX and PyTorch. So the gradient is right for every function that does
  not depend on that factor.
- Values that are equal up to rounding turn no vectors among themselves: 1 / (w_j - w_i) counts as
  0 there. Right then too are the gradients of the values' sum, of the space that their vectors
  span, and of the product of left and right singular vectors, which turn oppositely as they should.
- The further vectors of a full decomposition are determined up to a rotation; the gradient is
  right for every function of the space that they span.
- `eigh` and its kin read one triangle of the array, and the other one gets no gradient.

The formulae are those of Giles, "Collected matrix derivative results for forward and reverse mode
algorithmic differentiation" (2008), for singular vectors with Townsend, "Differentiating the
singular value decomposition" (2016).
"""

from typing import Any, ClassVar

import numpy as np
from attrs import define

from tape_ad.linear_maps import Array, Chain, LinearMap, RealPart, Scale
from tape_ad.overrides import overridable
from tape_ad.rules.base import Call, Derivation, Entry, constants, outputs, rule
from tape_ad.rules.elementwise import is_complex, nonzero
from tape_ad.rules.products import adjoint
from tape_ad.rules.triangles import (
    ConjugateTranspose,
    Deferred,
    HermitianFromTriangle,
    ill_conditioned,
)

__all__ = [
    "SPECTRA",
    "indistinct",
    "singular_triplets",
    "singular_values",
    "singular_values_map",
]

DEFECTIVE = (
    "np.linalg.eig: the matrix is defective (its eigenvectors are linearly dependent), and so its "
    "eigenvalues and eigenvectors have no derivative"
)


@overridable
def indistinct(values: Array) -> Any:
    """Tell which pairs of values are equal up to rounding, each with itself among them.

    Parameters
    ----------
    values : array, shape (..., n)

    Returns
    -------
    array of bool, shape (..., n, n)
        Where two values differ by at most n units in the last place of the largest one.
    """
    largest = np.abs(values).max(axis=-1, initial=0)[..., None, None]
    unit = float(np.finfo(values.dtype).eps) * values.shape[-1]
    return np.less_equal(np.abs(differences(values)), largest * unit)


def differences(values: Array) -> Array:
    """Subtract the i-th value from the j-th in row i and column j."""
    return values[..., None, :] - values[..., :, None]


def inverse_differences(values: Array) -> Array:
    """Compute 1 / (w_j - w_i), and 0 for equal values."""
    same = indistinct(values)
    return np.where(same, 0, 1 / np.where(same, 1, differences(values)))


# Values


@define(eq=False, repr=False)
class DiagonalBetween:
    """The diagonal of left* t right: what values are in the matrix, their vectors held.

    Parameters
    ----------
    left : array, shape (..., m, k)
    right : array, shape (..., n, k)
    """

    broadcasts: ClassVar[bool] = False
    left: Array
    right: Array

    def push(self, t: Array) -> Array:
        return np.add.reduce(self.left.conjugate() * (t @ self.right), axis=-2)

    def pull(self, ct: Array) -> Array:
        return (self.left * ct[..., None, :]) @ adjoint(self.right)


def real_values(left: Array, right: Array, *before: LinearMap) -> LinearMap:
    """Make the partial of real values, behind what comes before it."""
    after = (RealPart(),) if is_complex(left) else ()
    return Chain((*before, DiagonalBetween(left, right), *after))


# Hermitian matrices


@define(eq=False, repr=False)
class HermitianEigenvectors:
    """The derivative of the eigenvectors v of a Hermitian matrix with eigenvalues w.

    v (F * (v* t v)) with F_ij = 1 / (w_j - w_i).
    """

    broadcasts: ClassVar[bool] = False
    w: Array
    v: Array

    def push(self, t: Array) -> Array:
        v = self.v
        return v @ (inverse_differences(self.w) * (adjoint(v) @ t @ v))

    def pull(self, ct: Array) -> Array:
        v = self.v
        return v @ (inverse_differences(self.w) * (adjoint(v) @ ct)) @ adjoint(v)


def eigh_signature(a: Array, UPLO: str = "L") -> Call:  # noqa: N803 - NumPy's name
    """Sort the arguments of `numpy.linalg.eigh` and `numpy.linalg.eigvalsh`."""
    return (a,), {"UPLO": UPLO}


def triangle(uplo: str) -> LinearMap:
    """Make the map from an array to the Hermitian matrix that `UPLO` says."""
    return HermitianFromTriangle(upper=uplo.upper() == "U")


def eigh_partial(output: int, outs: Any, a: Array, UPLO: str) -> LinearMap:  # noqa: N803
    """Make the partial of the eigenvalues or of the eigenvectors of a Hermitian matrix."""
    w, v = outs
    if output == 0:
        return real_values(v, v, triangle(UPLO))
    return Chain((triangle(UPLO), HermitianEigenvectors(w, v)))


def eigvalsh_map(a: Array, uplo: Any) -> LinearMap:
    """Make the partial of the eigenvalues of a Hermitian matrix, which takes its vectors."""
    v = np.linalg.eigh(a, uplo)[1]
    return real_values(v, v, triangle(uplo))


# Any square matrix


def inverse_vectors(v: Array) -> Array:
    """Invert the matrix of eigenvectors.

    Raises
    ------
    numpy.linalg.LinAlgError
        When they are linearly dependent, up to rounding.
    """
    try:
        inverse = np.linalg.inv(v)
    except np.linalg.LinAlgError as error:
        raise np.linalg.LinAlgError(DEFECTIVE) from error
    if ill_conditioned(v, inverse, 1.0):
        raise np.linalg.LinAlgError(DEFECTIVE)
    return inverse


@define(eq=False, repr=False)
class Eigenvectors:
    """The derivative of eigenvectors v of length 1 with eigenvalues w.

    The change v (F * (inv(v) t v)) with F_ij = 1 / (w_j - w_i), less what would change the length.
    """

    broadcasts: ClassVar[bool] = False
    w: Array
    v: Array

    def push(self, t: Array) -> Array:
        turned = inverse_differences(self.w) * (inverse_vectors(self.v) @ t @ self.v)
        return self._of_length_one(self.v @ turned)

    def pull(self, ct: Array) -> Array:
        back = adjoint(self.v)
        turned = inverse_differences(self.w).conjugate() * (back @ self._of_length_one(ct))
        return adjoint(inverse_vectors(self.v)) @ turned @ back

    def _of_length_one(self, t: Array) -> Array:
        along = np.add.reduce((self.v.conjugate() * t).real, axis=-2, keepdims=True)
        return t - self.v * along


def eig_partial(output: int, outs: Any, a: Array) -> LinearMap:
    """Make the partial of the eigenvalues or of the eigenvectors."""
    w, v = outs
    return Deferred(eigenvalues_map, (v,)) if output == 0 else Eigenvectors(w, v)


def eigenvalues_map(v: Array) -> LinearMap:
    """Make the partial of the eigenvalues, the diagonal of inv(v) t v."""
    return DiagonalBetween(adjoint(inverse_vectors(v)), v)


def eigvals_map(a: Array) -> LinearMap:
    """Make the partial of the eigenvalues, which takes their vectors."""
    return eigenvalues_map(np.linalg.eig(a)[1])


# Singular values


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
    """

    broadcasts: ClassVar[bool] = False
    left: Array
    s: Array
    right: Array

    def push(self, t: Array) -> Array:
        u = self.left
        x = t @ self.right
        c = adjoint(u) @ x
        wide = widened(c, u.shape[-1])
        apart, together = self._inverses()
        change = u @ (apart * (wide + adjoint(wide)) + together * (wide - adjoint(wide)))
        if self._is_full():
            return change
        return change + (x - u @ c) * inverse_or_zero(self.s[..., None, :])

    def pull(self, ct: Array) -> Array:
        u = self.left
        h = adjoint(u) @ ct
        apart, together = self._inverses()
        hermitian, skew = apart * h, together * h
        c = hermitian + adjoint(hermitian) + skew - adjoint(skew)
        x = u @ c[..., : self.s.shape[-1]]
        if not self._is_full():
            x = x + (ct - u @ h) * inverse_or_zero(self.s[..., None, :])
        return x @ adjoint(self.right)

    def _is_full(self) -> bool:
        """Tell whether the vectors span the whole space, so that they only turn within it."""
        return bool(self.left.shape[-2] == self.left.shape[-1])

    def _inverses(self) -> tuple[Array, Array]:
        """Compute 1 / 2(s_j - s_i) and 1 / 2(s_j + s_i); the further values are 0.

        The first turns the two vectors of a pair alike and is 0 for equal values. The second turns
        them oppositely, so that it is there for equal values too, but not between values of 0; its
        diagonal turns complex vectors by half of what the pair of them has to turn.
        """
        s = widened(self.s, self.left.shape[-1])
        vanishing = indistinct(widened(s, s.shape[-1] + 1))[..., :-1, -1]
        both = vanishing[..., None, :] & vanishing[..., :, None]
        sums = s[..., None, :] + s[..., :, None]
        return inverse_differences(s) / 2, np.where(both, 0, 0.5 / np.where(both, 1, sums))


def widened(x: Array, size: int) -> Array:
    """Append zeros to the last axis until it has the given length."""
    missing = size - x.shape[-1]
    if not missing:
        return x
    return np.concatenate([x, np.zeros((*x.shape[:-1], missing), x.dtype)], axis=-1)


def inverse_or_zero(s: Array) -> Array:
    """Compute 1 / s, and 0 for 0."""
    return np.where(np.equal(s, 0), 0, 1 / nonzero(s))


def svd(
    a: Array, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False
) -> Any:
    """Decompose into singular vectors and values, or into values alone."""
    if compute_uv:
        return singular_triplets(a, full_matrices, hermitian)
    return singular_values(a, hermitian)


@overridable
def singular_triplets(a: Array, full_matrices: bool, hermitian: bool) -> Any:
    """Compute `numpy.linalg.svd` with vectors: a function of three outputs."""
    return np.linalg.svd(a, full_matrices=full_matrices, hermitian=hermitian)


@overridable
def singular_values(a: Array, hermitian: bool = False) -> Array:
    """Compute `numpy.linalg.svd` without vectors: a function of one output."""
    return np.linalg.svd(a, compute_uv=False, hermitian=hermitian)


def triplets_signature(a: Array, full_matrices: bool, hermitian: bool) -> Call:
    """Sort the arguments of `singular_triplets`."""
    return (a,), {"full_matrices": full_matrices, "hermitian": hermitian}


def triplets_partial(
    output: int, outs: Any, a: Array, full_matrices: bool, hermitian: bool
) -> LinearMap:
    """Make the partial of the left vectors, of the values, or of the right vectors."""
    u, s, vh = outs
    k = s.shape[-1]
    v = adjoint(vh)
    if output == 1:
        before = (HermitianFromTriangle(upper=False),) if hermitian else ()
        return real_values(u[..., :k], v[..., :k], *before)
    if hermitian:
        return hermitian_vectors(output, u, s, v)
    if output == 0:
        return SingularVectors(u, s, v[..., :k])
    turned = SingularVectors(v, s, u[..., :k])
    return Chain((ConjugateTranspose(), turned, ConjugateTranspose()))


def hermitian_vectors(output: int, u: Array, s: Array, v: Array) -> LinearMap:
    """Make the partial of singular vectors of a Hermitian matrix, which are eigenvectors.

    The right ones have the signs of the eigenvalues.
    """
    signs = np.sign(np.add.reduce((u.conjugate() * v).real, axis=-2))
    turned = Chain((HermitianFromTriangle(upper=False), HermitianEigenvectors(s * signs, u)))
    if output == 0:
        return turned
    return Chain((turned, Scale(signs[..., None, :]), ConjugateTranspose()))


def singular_values_map(a: Array, hermitian: bool = False) -> LinearMap:
    """Make the partial of singular values, which takes their vectors."""
    u, _, vh = np.linalg.svd(a, full_matrices=False, hermitian=hermitian)
    return real_values(u, adjoint(vh), *((HermitianFromTriangle(upper=False),) * hermitian))


SPECTRA: dict[Any, Entry] = {
    np.linalg.eigh: outputs(eigh_partial, signature=eigh_signature),
    np.linalg.eigvalsh: rule(
        lambda out, a, UPLO: Deferred(eigvalsh_map, (a, UPLO)),  # noqa: N803 - NumPy's name
        signature=eigh_signature,
    ),
    np.linalg.eig: outputs(eig_partial, signature=lambda a: ((a,), {})),
    np.linalg.eigvals: rule(
        lambda out, a: Deferred(eigvals_map, (a,)), signature=lambda a: ((a,), {})
    ),
    np.linalg.svd: Derivation(svd),
    np.linalg.svdvals: Derivation(lambda x, /: singular_values(x)),
    singular_triplets: outputs(triplets_partial, signature=triplets_signature),
    singular_values: rule(
        lambda out, a, hermitian: Deferred(singular_values_map, (a, hermitian)),
        signature=lambda a, hermitian=False: ((a,), {"hermitian": hermitian}),
    ),
    **constants(indistinct, ill_conditioned),
}
