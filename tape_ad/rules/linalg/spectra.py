"""Rules for eigenvalues and eigenvectors.

Conventions, for what the functions themselves leave open, singular values and vectors included:

- Eigenvectors and singular vectors are determined up to a factor of magnitude 1, and the
  derivative is the one that does not turn them (for singular vectors, turns both of a pair by
  opposite halves), as in JAX and PyTorch. So the gradient is right for every function that does
  not depend on that factor.
- Values that are equal up to rounding leave their vectors open, and 1 / (w_j - w_i) is not there.
  In the vectors that a caller of NumPy's functions gets, it is nan for whatever turns two such
  vectors among themselves, as in JAX and PyTorch, for no number is right in all of: a projection
  on the space that they span, one of them alone, and `(v * w) @ v.T`. Nothing else is touched: a
  vector whose own value is apart has its gradient.
- So the second derivatives of functions of values alone are nan where values are equal; but that
  of the sum of eigenvalues, which is the trace, is 0.
- Rules that need the product of left and right singular vectors themselves, those of norms, say
  `ties=0.0`, and 1 / (w_j - w_i) counts as 0: the two turn oppositely, and the rest cancels.
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

from tape_ad.base.arrays.overridable import is_plain, overridable
from tape_ad.rules import facts
from tape_ad.rules.base import (
    Derivation,
    Entry,
    add_facts,
    arguments_of,
    constants,
    outputs,
    rule,
    stated,
)
from tape_ad.rules.linalg.triangles import HermitianFromTriangle, digits_lost, ill_conditioned
from tape_ad.rules.maps import Array, Chain, Deferred, LinearMap, RealPart, adjoint
from tape_ad.rules.maps.patterns import batched, elementwise
from tape_ad.rules.numpy.elementwise import is_complex

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


def inverse_differences(values: Array, ties: float, free: int = 0) -> Array:
    """Compute 1 / (w_j - w_i), and `ties` for equal values.

    It is 0 for a value with itself, and between any two of the last `free` ones.
    """
    same, n = indistinct(values), values.shape[-1]
    last = np.arange(n) >= n - free
    open_anyway = np.eye(n, dtype=bool) | (last & last[:, None])
    apart = np.where(same, ties, 1 / np.where(same, 1, differences(values)))
    return np.where(open_anyway, 0, apart)


@overridable
def scaled(c: Array, factor: Array) -> Array:
    """Multiply, and keep zeros: what turns nothing may meet a factor of nan.

    Parameters
    ----------
    c, factor : array, shape (..., n, n)
    """
    return np.where(np.equal(c, 0), 0, c * factor)


@define(eq=False, repr=False)
class Scaled:
    """The derivative of `scaled` in its first operand, which keeps zeros too.

    So a second derivative is nan as well where the first has met a zero by chance.
    """

    broadcasts: ClassVar[bool] = True
    pattern = elementwise
    factor: Array

    def push(self, t: Array) -> Array:
        return scaled(t, self.factor)

    def pull(self, ct: Array) -> Array:
        return scaled(ct, self.factor.conjugate())


# Values


@define(eq=False, repr=False)
class DiagonalBetween:
    """The diagonal of left* t right: what values are in the matrix, their vectors held.

    Parameters
    ----------
    left : array, shape (..., m, k)
    right : array, shape (..., n, k)
    is_trace : bool
        Whether the sum of the values is the trace. What weighs them all alike then pulls back to a
        multiple of the identity, and does not change with the vectors, be they determined or not.
    """

    pattern = batched(2, 1)
    left: Array
    right: Array
    is_trace: bool = False

    def push(self, t: Array) -> Array:
        return np.add.reduce(self.left.conjugate() * (t @ self.right), axis=-2)

    def pull(self, ct: Array) -> Array:
        if self.is_trace and is_even(ct):
            return ct[..., :1, None] * np.eye(ct.shape[-1], dtype=ct.dtype)
        return (self.left * ct[..., None, :]) @ adjoint(self.right)


def is_even(ct: Array) -> bool:
    """Tell whether all weights are the same; a program has that as a guard."""
    return is_plain(ct) and bool(np.equal(ct, ct[..., :1]).all())


def real_values(left: Array, right: Array, *before: LinearMap, is_trace: bool = False) -> LinearMap:
    """Make the partial of real values, behind what comes before it."""
    after = (RealPart(),) if is_complex(left) else ()
    return Chain((*before, DiagonalBetween(left, right, is_trace), *after))


# Hermitian matrices


@define(eq=False, repr=False)
class HermitianEigenvectors:
    """The derivative of the eigenvectors v of a Hermitian matrix with eigenvalues w.

    v (F * (v* t v)) with F_ij = 1 / (w_j - w_i).
    """

    pattern = batched(2, 2)
    w: Array
    v: Array
    ties: float

    def push(self, t: Array) -> Array:
        """Rotate the vectors among themselves."""
        v = self.v
        return v @ scaled(adjoint(v) @ t @ v, inverse_differences(self.w, self.ties))

    def pull(self, ct: Array) -> Array:
        """Turn back, the other way round."""
        v = self.v
        return v @ scaled(adjoint(v) @ ct, inverse_differences(self.w, self.ties)) @ adjoint(v)


@overridable
def hermitian_eigenpairs(a: Array, uplo: Any, *, ties: float) -> Any:
    """Compute `numpy.linalg.eigh`, and say what 1 / (w_j - w_i) counts as for equal values."""
    return np.linalg.eigh(a, uplo)


def triangle(uplo: str) -> LinearMap:
    """Make the map from an array to the Hermitian matrix that `UPLO` says."""
    return HermitianFromTriangle(upper=uplo.upper() == "U")


def hermitian_partial(output: int, outs: Any, a: Array, uplo: str, ties: float) -> LinearMap:
    """Make the partial of the eigenvalues or of the eigenvectors of a Hermitian matrix."""
    w, v = outs
    if output == 0:
        return real_values(v, v, triangle(uplo), is_trace=True)
    return Chain((triangle(uplo), HermitianEigenvectors(w, v, ties)))


def eigvalsh_map(a: Array, uplo: Any) -> LinearMap:
    """Make the partial of the eigenvalues of a Hermitian matrix, which takes its vectors."""
    v = hermitian_eigenpairs(a, uplo, ties=np.nan)[1]
    return real_values(v, v, triangle(uplo), is_trace=True)


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

    pattern = batched(2, 2)
    w: Array
    v: Array
    ties: float

    def push(self, t: Array) -> Array:
        factor = inverse_differences(self.w, self.ties)
        turned = scaled(inverse_vectors(self.v) @ t @ self.v, factor)
        return self._of_length_one(self.v @ turned)

    def pull(self, ct: Array) -> Array:
        back = adjoint(self.v)
        factor = inverse_differences(self.w, self.ties).conjugate()
        turned = scaled(back @ self._of_length_one(ct), factor)
        return adjoint(inverse_vectors(self.v)) @ turned @ back

    def _of_length_one(self, t: Array) -> Array:
        along = np.add.reduce((self.v.conjugate() * t).real, axis=-2, keepdims=True)
        return t - self.v * along


@overridable
def eigenpairs(a: Array, *, ties: float) -> Any:
    """Compute `numpy.linalg.eig`, and say what 1 / (w_j - w_i) counts as for equal values."""
    return np.linalg.eig(a)


def eig_partial(output: int, outs: Any, a: Array, ties: float) -> LinearMap:
    """Make the partial of the eigenvalues or of the eigenvectors."""
    w, v = outs
    if output == 1:
        return Eigenvectors(w, v, ties)
    if type(a) is np.ndarray:
        return Deferred(eigenvalues_map, (v, v), batched(2, 1))
    return Deferred(eigvals_map, (a,), batched(2, 1))


def eigenvalues_map(v: Array, same: Array) -> LinearMap:
    """Make the partial of the eigenvalues, the diagonal of inv(v) t v."""
    return DiagonalBetween(adjoint(inverse_vectors(v)), same, is_trace=True)


def eigvals_map(a: Array) -> LinearMap:
    """Make the partial of the eigenvalues, which takes their vectors.

    On a handle the vectors on both sides are nodes of their own. In one node, what turns those of
    equal values would cancel exactly, and leave a number where nan is due.
    """
    v = eigenpairs(a, ties=np.nan)[1]
    return eigenvalues_map(v, v if type(a) is np.ndarray else eigenpairs(a, ties=np.nan)[1])


SPECTRA: dict[Any, Entry] = {
    **stated(
        facts.cores("(n,n)->..."),
        {
            np.linalg.eigh: Derivation(
                lambda a, UPLO="L": hermitian_eigenpairs(a, UPLO, ties=np.nan)  # noqa: N803 - NumPy's name
            ),
            hermitian_eigenpairs: outputs(
                hermitian_partial, signature=arguments_of(hermitian_eigenpairs, "a")
            ),
            np.linalg.eigvalsh: rule(
                lambda out, a, UPLO: Deferred(eigvalsh_map, (a, UPLO), batched(2, 1)),  # noqa: N803 - NumPy's name
                signature=arguments_of(np.linalg.eigvalsh, "a", "UPLO"),
            ),
            np.linalg.eig: Derivation(lambda a: eigenpairs(a, ties=np.nan)),
            eigenpairs: outputs(eig_partial, signature=arguments_of(eigenpairs, "a")),
            np.linalg.eigvals: rule(
                lambda out, a: Deferred(eigvals_map, (a,), batched(2, 1)),
                signature=arguments_of(np.linalg.eigvals, "a", ""),
            ),
        },
    ),
    scaled: rule(
        lambda out, c, factor: Scaled(factor), lambda out, c, factor: c, facts=facts.ELEMENTWISE
    ),
    **constants(indistinct, facts=facts.cores("(n)->(n,n)")),
    **constants(ill_conditioned, facts=facts.composed(lambda *given: np.any(digits_lost(*given)))),
}

add_facts(SPECTRA, (np.linalg.eig, np.linalg.eigvals, eigenpairs), dtype_by_values=True)
