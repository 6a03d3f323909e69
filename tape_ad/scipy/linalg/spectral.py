"""Eigenvalues and singular values, whose vectors are SciPy's, and the partials made of them."""

import functools
from typing import Any

import numpy as np

from tape_ad.errors import UnsupportedArgumentError
from tape_ad.extend import facts
from tape_ad.extend.arrays import Array, as_array, is_plain
from tape_ad.extend.maps import Deferred, LinearMap, adjoint
from tape_ad.extend.patterns import batched
from tape_ad.extend.rules import Constant, Entry, add_facts, arguments_of, outputs, overridable
from tape_ad.rules.linalg.decompositions import triplets_partial
from tape_ad.rules.linalg.spectra import eig_partial, eigenvalues_map, hermitian_partial
from tape_ad.scipy.counterparts import composition_of, counterpart
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.linalg.basics import as_assumed, refuse

SPECTRAL: dict[Any, Entry] = {}


@overridable
def hermitian_vectors(
    a: Array, *, lower: bool = True, options: Any = None, ties: float = np.nan
) -> Any:
    """Compute SciPy's `eigh` of one matrix.

    Parameters
    ----------
    a : array or Tensor, shape (..., n, n)
    lower : bool
    options : dict, optional
        Further arguments of SciPy's.
    ties : float
        What 1 / (w_j - w_i) counts as for equal values.

    Returns
    -------
    w : array or Tensor, shape (..., n)
    v : array or Tensor, shape (..., n, n)
    """
    return scipy.linalg.eigh(a, lower=lower, **(options or {}))


@overridable
def vectors(a: Array, *, ties: float = np.nan) -> Any:
    """Compute SciPy's `eig` of one matrix, with the vectors on the right; see above."""
    return scipy.linalg.eig(a)


@overridable
def singular_vectors(
    a: Array, full_matrices: bool, *, driver: str = "gesdd", ties: float = np.nan
) -> Any:
    """Compute SciPy's `svd` with vectors; see above."""
    return scipy.linalg.svd(a, full_matrices=full_matrices, lapack_driver=driver)


def hermitian_spectrum(
    a: Array,
    b: Array | None = None,
    *,
    lower: bool = True,
    eigvals_only: bool = False,
    type: int = 1,
    subset_by_index: Any = None,
    subset_by_value: Any = None,
    driver: Any = None,
    **overwrite: Any,
) -> Any:
    """Compute eigenvalues, and vectors; of two matrices by the factor of the second."""
    a, upper = as_array(a), np.eye(1)  # which is not used then
    if b is not None:
        upper = np.linalg.cholesky(as_assumed(as_array(b), "her", lower), upper=True)
        a = as_assumed(a, "her", lower)
        back = np.linalg.inv(upper)
        a = adjoint(back) @ a @ back if type == 1 else upper @ a @ adjoint(upper)
    w, v = hermitian_vectors(a, lower=lower)
    if b is not None and not eigvals_only:
        v = np.linalg.solve(upper, v) if type in (1, 2) else adjoint(upper) @ v
    if subset_by_index is not None:
        low, high = subset_by_index
        w, v = w[..., low : high + 1], v[..., low : high + 1]
    if subset_by_value is not None:
        low, high = subset_by_value
        kept = np.flatnonzero((w > low) & (w <= high))
        w, v = w[kept], v[:, kept]
    return w if eigvals_only else (w, v)


def general_spectrum(a: Array, b: Any, left: bool, right: bool, *options: bool) -> Any:
    """Compute eigenvalues, and the vectors on either side; of two by their quotient."""
    homogeneous_eigvals = options[-1]  # SciPy 1.18 has one option more before it
    a = as_array(a)
    if b is None:
        w, v = vectors(a)
    else:
        refuse("eig", homogeneous_eigvals=homogeneous_eigvals)
        b = as_array(b)
        order = as_generalised(a, b)
        if np.any(np.less(order, 0)):
            raise UnsupportedArgumentError(
                "tape_ad.scipy.linalg.eig: b= is singular, and eigenvalues that are infinite have "
                "no derivative; exchange the two for the reciprocals of the eigenvalues"
            )
        w, v = vectors(np.linalg.solve(b, a))
        w = np.take_along_axis(w, order, axis=-1)
        v = np.take_along_axis(v, order[..., np.newaxis, :], axis=-1)
    if homogeneous_eigvals:
        w = np.stack([w, np.ones_like(w)], axis=-2)
    if not left:
        return (w, v) if right else w
    other = adjoint(np.linalg.inv(v if b is None else b @ v))
    other = other / np.linalg.norm(other, axis=-2, keepdims=True)
    return (w, other, v) if right else (w, other)


@overridable
def as_generalised(a: Array, b: Array) -> Array:
    """Find where SciPy's eigenvalues of two matrices stand among those of their quotient.

    Returns
    -------
    array of int, shape (..., n)
        -1 where the second one is singular, so that an eigenvalue is infinite.
    """
    return order_of_two(a, b)


@functools.partial(np.vectorize, signature="(n,n),(n,n)->(n)")
def order_of_two(a: Array, b: Array) -> Array:
    """Find that of two matrices."""
    wanted = scipy.linalg.eigvals(a, b)
    if not np.all(np.isfinite(wanted)):
        return np.full(wanted.shape, -1)
    found = scipy.linalg.eig(np.linalg.solve(b, a))[0]
    order = []
    for each in wanted:
        nearest = int(np.argmin(np.abs(found - each)))
        order.append(nearest)
        found[nearest] = np.inf
    return np.array(order, dtype=int)


def general_values(a: Array, b: Any, *options: bool) -> Array:
    """Compute eigenvalues alone."""
    return general_spectrum(a, b, False, False, *options)


@composition_of(SPECTRAL, scipy.linalg.svd, "a", anchor=False)
def singular_parts(a: Array, full_matrices: bool, compute_uv: bool, *options: Any) -> Any:
    """Compute singular values, and vectors; the last option is LAPACK's routine."""
    if not compute_uv:
        return np.linalg.svdvals(as_array(a))
    return singular_vectors(as_array(a), bool(full_matrices), driver=options[-1])


@composition_of(SPECTRAL, scipy.linalg.subspace_angles, "A B", shape_by_values=True)
def angles(a: Array, b: Array) -> Array:
    """Compute the angles between the spaces that columns span, by sines where they are small.

    An angle of 0 is a corner, as a distance of 0 is, and has no slope. One that is rounding counts
    as 0, for its directions are rounding too.
    """
    a, b = np.linalg.qr(as_array(a))[0], np.linalg.qr(as_array(b))[0]
    cosines = np.linalg.svdvals(adjoint(a) @ b)
    outside = b - a @ (adjoint(a) @ b) if a.shape[-1] >= b.shape[-1] else a - b @ (adjoint(b) @ a)
    sines = np.linalg.svdvals(outside)
    k = cosines.shape[-1]
    rounding = 10 * outside.shape[-2] * np.finfo(outside.dtype).eps
    by_sine = np.arcsin(np.clip(np.where(sines <= rounding, 0.0, sines)[..., :k], -1.0, 1.0))
    by_cosine = np.arccos(np.clip(cosines[..., ::-1], -1.0, 1.0))
    return np.where(np.square(cosines[..., ::-1]) >= 0.5, by_sine, by_cosine)


def spectrum_partial(output: int, outs: Any, a: Array, ties: float) -> LinearMap:
    """Make the partial of the eigenvalues or of the vectors; see `eig_partial`."""
    if output == 1:
        return eig_partial(output, outs, a, ties)
    v = outs[1]
    if is_plain(a):
        return Deferred(eigenvalues_map, (v, v), batched(2, 1))
    return Deferred(values_map, (a,), batched(2, 1))


def values_map(a: Array) -> LinearMap:
    """Make the partial of the eigenvalues of a handle, with vectors that are nodes of their own."""
    return eigenvalues_map(vectors(a)[1], vectors(a)[1])


SPECTRAL |= {
    hermitian_vectors: outputs(
        lambda output, outs, a, lower, options, ties: hermitian_partial(
            output, outs, a, "L" if lower else "U", ties
        ),
        facts=facts.cores("(n,n)->(n),(n,n)"),
        signature=arguments_of(hermitian_vectors, "a"),
    ),
    vectors: outputs(
        spectrum_partial,
        signature=arguments_of(vectors, "a"),
        facts=facts.cores("(n,n)->(n),(n,n)"),
    ),
    singular_vectors: outputs(
        lambda output, outs, a, driver, ties, full_matrices: triplets_partial(
            output, outs, a, hermitian=False, ties=ties
        ),
        facts=facts.cores("(m,n)->..."),
        signature=arguments_of(singular_vectors, "a"),
    ),
    as_generalised: Constant(facts.cores("(n,n),(n,n)->(n)")),
}

eig = counterpart(
    SPECTRAL,
    scipy.linalg.eig,
    "a b",
    general_spectrum,
    axes={1: -2, 2: -2},
    anchor=lambda a, b=None, left=False, *args, **options: b is not None or left,
)
eigvals = counterpart(
    SPECTRAL,
    scipy.linalg.eigvals,
    "a b",
    general_values,
    anchor=lambda a, b=None, *args, **options: b is not None,
)
eigh = counterpart(
    SPECTRAL, scipy.linalg.eigh, "a b", hermitian_spectrum, axes={1: -2}, shape_by_values=True
)
eigvalsh = counterpart(
    SPECTRAL,
    scipy.linalg.eigvalsh,
    "a b",
    lambda a, b=None, **options: hermitian_spectrum(a, b, eigvals_only=True, **options),
    shape_by_values=True,
)
counterpart(SPECTRAL, scipy.linalg.svdvals, "a", lambda a, *options: np.linalg.svdvals(as_array(a)))

add_facts(SPECTRAL, (eig, eigvals, eigh, eigvalsh), signature="(n,n),(n,n)->...")
add_facts(SPECTRAL, (eig, eigvals, vectors), dtype_by_values=True)
