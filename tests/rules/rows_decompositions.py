"""Rows for decompositions.

Complex vectors are determined up to a factor of magnitude 1, and those that complete a basis up to
a rotation: the rows call functions that do not depend on it.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from tape_ad.rules.linalg.decompositions import qr_factors, singular_triplets, singular_values
from tape_ad.rules.linalg.spectra import eigenpairs, hermitian_eigenpairs, indistinct, scaled
from tape_ad.rules.linalg.triangles import ill_conditioned
from tests.rules.rows_linalg import REGULAR, of_lower, of_upper
from tests.rules.table import DISTINCT, Row, fixed, plain

__all__ = ["CONSTANTS", "ROWS"]

Array = Any


def products(left: Array, right: Array) -> Array:
    """Multiply each column of one matrix with the conjugate of each of another, as matrices."""
    return left.mT[..., :, :, None] * right.conj().mT[..., :, None, :]


def eigen(function: Callable[..., Any], a: Array, **options: Any) -> list[Array]:
    """Call a function for eigenvalues and eigenvectors."""
    w, v = function(a, **options)
    return [w, products(v, v)]


def singular(function: Callable[..., Any], a: Array, *args: Any, **options: Any) -> list[Array]:
    """Call a function for singular values and vectors."""
    u, s, vh = function(a, *args, **options)
    k = s.shape[-1]
    return [s, products(u[..., :k], vh.conj().mT[..., :k])]


def completed(function: Callable[..., Any], a: Array, *args: Any, **options: Any) -> list[Array]:
    """Call a function for full singular vectors; project on what completes their bases."""
    u, s, vh = function(a, *args, **options)
    k = s.shape[-1]
    left, right = u[..., k:], vh[..., k:, :]
    return [*singular(lambda a: (u, s, vh), a), left @ left.conj().mT, right.conj().mT @ right]


def factors(function: Callable[..., Any], a: Array, *args: Any, **options: Any) -> list[Array]:
    """Call a function for Q and R; project on what completes the basis of a complete Q."""
    q, r = function(a, *args, **options)
    k = min(a.shape[-2:])
    return [q[..., :k], r, q[..., k:] @ q[..., k:].conj().mT]


def real_eigvals(jax: Any) -> Any:
    """Make JAX's function, whose values are complex even where they are all real."""
    jnp = jax.numpy
    return lambda a: jnp.linalg.eigvals(a) if jnp.iscomplexobj(a) else jnp.linalg.eigvals(a).real


def real_eig(torch: Any) -> Any:
    """Make PyTorch's function, whose values are complex even where they are all real."""

    def function(a: Any) -> tuple[Any, Any]:
        w, v = torch.linalg.eig(a)
        return (w, v) if a.is_complex() else (w.real, v.real)

    return function


PAIRED = fixed([[1.0, 2.0, 0.3], [-1.5, 0.8, 0.2], [0.1, -0.4, 3.0]])
NO_VECTORS = "JAX has no derivative of these vectors, unless asked for"

ROWS: list[Row] = [
    # Cholesky
    *(
        Row(np.linalg.cholesky, [REGULAR(*shape)], complex=True, jax=of_lower("cholesky"))
        for shape in ((1, 1), (3, 3), (2, 4, 4))
    ),
    Row(np.linalg.cholesky, [REGULAR(0, 0)]),
    Row(
        np.linalg.cholesky,
        [REGULAR(3, 3)],
        options={"upper": True},
        complex=True,
        jax=of_upper("cholesky", upper=True),
    ),
    # QR
    *(
        Row(np.linalg.qr, [REGULAR(*shape)], nodes=2, complex=True)
        for shape in ((1, 1), (3, 3), (4, 2), (2, 4, 3))
    ),
    *(
        Row(np.linalg.qr, [REGULAR(*shape)], options={"mode": mode}, nodes=2, complex=True)
        for shape, mode in (((4, 2), "r"), ((2, 3), "r"), ((3, 3), "complete"))
    ),
    *(Row(np.linalg.qr, [REGULAR(*shape)], nodes=2, complex=True) for shape in ((2, 3), (2, 2, 4))),
    Row(np.linalg.qr, [REGULAR(0, 0)], nodes=2),
    *(
        Row(
            np.linalg.qr,
            [REGULAR(*shape)],
            options={"mode": "complete"},
            call=factors,
            nodes=9,
            complex=True,
        )
        for shape in ((4, 2), (2, 4, 3), (2, 3))
    ),
    Row(
        qr_factors,
        [REGULAR(3, 2)],
        call=lambda f, a: factors(f, a, "reduced"),
        nodes=9,
        complex=True,
        no_jax="it is qr",
    ),
    # Eigenvalues
    *(
        Row(np.linalg.eigh, [REGULAR(*shape)], nodes=2, jax=of_lower("eigh"), note="vectors")
        for shape in ((1, 1), (3, 3), (2, 4, 4), (0, 0))
    ),
    *(
        Row(
            np.linalg.eigh,
            [REGULAR(*shape)],
            call=eigen,
            nodes=9,
            complex=True,
            jax=of_lower("eigh"),
        )
        for shape in ((3, 3), (2, 4, 4))
    ),
    *(
        Row(
            np.linalg.eigh,
            [REGULAR(3, 3)],
            options={"UPLO": uplo},
            call=eigen,
            nodes=9,
            complex=True,
            jax=of_lower("eigh") if uplo == "L" else of_upper("eigh"),
        )
        for uplo in ("L", "U", "u")
    ),
    *(
        Row(np.linalg.eigvalsh, [REGULAR(*shape)], complex=True, jax=of_lower("eigvalsh"))
        for shape in ((1, 1), (3, 3), (2, 4, 4))
    ),
    Row(
        np.linalg.eigvalsh,
        [REGULAR(3, 3)],
        options={"UPLO": "U"},
        complex=True,
        jax=of_upper("eigvalsh"),
    ),
    *(
        Row(
            np.linalg.eig,
            [REGULAR(*shape)],
            call=eigen,
            nodes=9,
            complex=True,
            no_jax=NO_VECTORS,
            torch=real_eig,
        )
        for shape in ((1, 1), (3, 3), (2, 4, 4))
    ),
    *(
        Row(np.linalg.eigvals, [REGULAR(*shape)], complex=True, jax=real_eigvals)
        for shape in ((1, 1), (3, 3), (2, 4, 4))
    ),
    Row(
        np.linalg.eig,
        [PAIRED],
        call=eigen,
        nodes=9,
        note="a pair",
        no_jax=NO_VECTORS,
        torch="linalg.eig",
    ),
    Row(np.linalg.eigvals, [PAIRED], note="a pair"),
    Row(
        hermitian_eigenpairs,
        [REGULAR(3, 3)],
        call=lambda f, a: eigen(lambda a: f(a, "L", ties=np.nan), a),
        nodes=9,
        complex=True,
        no_jax="it is eigh",
    ),
    Row(
        eigenpairs,
        [REGULAR(3, 3)],
        call=lambda f, a: eigen(lambda a: f(a, ties=np.nan), a),
        nodes=9,
        complex=True,
        no_jax="it is eig",
    ),
    Row(scaled, [REGULAR(3, 3), DISTINCT(3, 3)], complex=True, no_jax="it is multiply"),
    # Singular values
    *(
        Row(
            np.linalg.svd,
            [REGULAR(*shape)],
            options={"full_matrices": False},
            nodes=3,
            note="vectors",
        )
        for shape in ((1, 1), (3, 3), (4, 2), (2, 4), (2, 4, 3), (0, 3))
    ),
    *(
        Row(
            np.linalg.svd,
            [REGULAR(*shape)],
            options={"full_matrices": False},
            call=singular,
            nodes=14,
            complex=True,
        )
        for shape in ((3, 3), (4, 2), (2, 4), (2, 4, 3))
    ),
    *(
        Row(
            np.linalg.svd,
            [REGULAR(*shape)],
            call=completed,
            note="full",
            nodes=24,
            complex=True,
            no_jax="JAX has no derivative of full vectors" if shape[-1] != shape[-2] else "",
        )
        for shape in ((3, 3), (4, 2), (2, 4), (2, 4, 3))
    ),
    Row(
        singular_triplets,
        [REGULAR(3, 2)],
        call=lambda f, a: completed(f, a, True, ties=np.nan),
        nodes=24,
        complex=True,
        no_jax="it is svd",
    ),
    *(
        Row(
            np.linalg.svd,
            [REGULAR(*shape)],
            options={"hermitian": True},
            call=singular,
            nodes=14,
            complex=True,
            jax=of_lower("svd"),
        )
        for shape in ((3, 3), (2, 4, 4))
    ),
    *(
        Row(
            np.linalg.svd,
            [fixed([[1.5, 9.0, 9.0], [0.2, -2.5, 9.0], [-0.3, 0.4, 0.7]])],
            options={"hermitian": True, "compute_uv": uv},
            call=call,
            nodes=14,
            complex=True,
            note="signs",
            jax=of_lower("svd"),
        )
        for uv, call in (
            (True, singular),
            (False, lambda f, a, **options: f(a, **options)),
        )
    ),
    *(
        Row(np.linalg.svd, [REGULAR(*shape)], options={"compute_uv": False}, complex=True)
        for shape in ((3, 3), (4, 2))
    ),
    *(
        Row(np.linalg.svdvals, [REGULAR(*shape)], complex=True)
        for shape in ((1, 1), (3, 3), (4, 2), (2, 2, 4))
    ),
    Row(singular_values, [REGULAR(2, 3)], complex=True, no_jax="it is svdvals"),
]

CONSTANTS: list[Row] = [
    Row(indistinct, [DISTINCT(2, 3)]),
    Row(indistinct, [fixed([1.0, 1.0, 0.0])]),
    Row(ill_conditioned, [REGULAR(3, 3), REGULAR(3, 3), plain(0.5)]),
]
