"""Trigonometric and other functions of matrices, composed of the exponential and its like."""

import operator
from typing import Any

import numpy as np

from tape_ad.base.errors import UnsupportedArgumentError
from tape_ad.extend.arrays import Array, as_array
from tape_ad.extend.rules import Entry, Refused, add_facts, takes_over
from tape_ad.rules.linalg.spectra import indistinct
from tape_ad.scipy.counterparts import scipy_function, with_scipy_value
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.linalg.basics import MODULE
from tape_ad.scipy.linalg.functions import expm, expm_derivative, logm, sqrtm
from tape_ad.scipy.linalg.spectral import vectors

__all__ = [
    "COMPOSED_FUNCTIONS",
    "coshm",
    "cosm",
    "expm_cond",
    "expm_frechet",
    "fractional_matrix_power",
    "funm",
    "ordqz",
    "qz",
    "schur",
    "signm",
    "sinhm",
    "sinm",
    "tanhm",
    "tanm",
]

cosm = scipy_function(scipy.linalg.cosm, MODULE, "A")
sinm = scipy_function(scipy.linalg.sinm, MODULE, "A")
tanm = scipy_function(scipy.linalg.tanm, MODULE, "A")
coshm = scipy_function(scipy.linalg.coshm, MODULE, "A")
sinhm = scipy_function(scipy.linalg.sinhm, MODULE, "A")
tanhm = scipy_function(scipy.linalg.tanhm, MODULE, "A")
signm = scipy_function(scipy.linalg.signm, MODULE, "A")
fractional_matrix_power = scipy_function(scipy.linalg.fractional_matrix_power, MODULE, "A t")
expm_frechet = scipy_function(scipy.linalg.expm_frechet, MODULE, "A E")
expm_cond = scipy_function(scipy.linalg.expm_cond, MODULE, "A")
funm = scipy_function(scipy.linalg.funm, MODULE, "A")
ordqz = scipy_function(scipy.linalg.ordqz, MODULE)
qz = scipy_function(scipy.linalg.qz, MODULE)
schur = scipy_function(scipy.linalg.schur, MODULE)


def waves(a: Array) -> tuple[Array, Array]:
    """Compute the cosine and the sine."""
    a = as_array(a)
    if a.dtype.kind == "c":
        ahead, back = expm(1j * a), expm(-1j * a)
        return 0.5 * (ahead + back), -0.5j * (ahead - back)
    ahead = expm(1j * a)
    return np.real(ahead), np.imag(ahead)


def hyperbolic(a: Array) -> tuple[Array, Array]:
    """Compute the hyperbolic cosine and sine."""
    ahead, back = expm(as_array(a)), expm(-as_array(a))
    return 0.5 * (ahead + back), 0.5 * (ahead - back)


def quotient(parts: tuple[Array, Array]) -> Array:
    """Divide the second by the first, from the left."""
    return np.linalg.solve(*parts)


def sign(a: Array, *options: Any) -> Array:
    """Divide by the root of the square."""
    a = as_array(a)
    return a @ np.linalg.inv(sqrtm(a @ a))


def power(a: Array, t: Any) -> Array:
    """Multiply by itself, or take the exponential of a multiple of the logarithm."""
    a = as_array(a)
    if not takes_over(type(t)) and float(t).is_integer():
        return np.linalg.matrix_power(a, operator.index(int(t)))
    return expm(as_array(t) * logm(a))


def frechet(a: Array, e: Array, method: Any, compute_expm: bool, check_finite: bool) -> Any:
    """Compute the derivative of the exponential, and that."""
    a, e = as_array(a), as_array(e)
    derivative = expm_derivative(a, e)
    return (expm(a), derivative) if compute_expm else derivative


def condition(a: Array, check_finite: bool) -> Array:
    """Compute the norm of the derivative of the exponential, by its own norm and the matrix's."""
    a = as_array(a)
    n = a.shape[-1]
    units = np.eye(n * n).reshape((n * n, n, n))
    whole = np.matrix_transpose(expm_derivative(a, units)).reshape((n * n, n * n))
    return np.linalg.norm(whole, 2) * np.linalg.norm(a) / np.linalg.norm(expm(a))


def function_of_matrix(a: Array, func: Any, disp: bool) -> Any:
    """Call the function with the eigenvalues.

    Raises
    ------
    UnsupportedArgumentError
        Where two of them are equal, so that the derivative is not made of the function's values.
    """
    a = as_array(a)
    w, v = vectors(a)
    if np.any(np.add.reduce(indistinct(w), axis=-1) > 1):
        raise UnsupportedArgumentError(
            "tape_ad.scipy.linalg.funm: eigenvalues of this matrix are equal, where the derivative "
            "is not made of values of the function; write it with expm, logm, sqrtm or products"
        )
    out = np.linalg.solve(np.matrix_transpose(v), np.matrix_transpose(v * func(w)))
    out = np.matrix_transpose(out)
    size = 1e3 * float(np.finfo(out.dtype).eps) * max(1.0, np.max(np.abs(out)).item())
    if a.dtype.kind != "c" and np.all(np.abs(np.imag(out)) <= size):
        out = np.real(out)
    return out if disp else (out, None)


funm.closing = function_of_matrix  # type: ignore[attr-defined]  # which `scipy_function` looks for

BASES = (
    "the bases that it finds have no derivative here, as they may be others for a matrix near by; "
    "write what is made of them by np.linalg.svd, np.linalg.eigh or np.linalg.qr"
)

COMPOSED_FUNCTIONS: dict[Any, Entry] = {
    cosm: with_scipy_value(cosm, lambda a: waves(a)[0]),
    sinm: with_scipy_value(sinm, lambda a: waves(a)[1]),
    tanm: with_scipy_value(tanm, lambda a: quotient(waves(a))),
    coshm: with_scipy_value(coshm, lambda a: hyperbolic(a)[0]),
    sinhm: with_scipy_value(sinhm, lambda a: hyperbolic(a)[1]),
    tanhm: with_scipy_value(tanhm, lambda a: quotient(hyperbolic(a))),
    signm: with_scipy_value(signm, sign),
    fractional_matrix_power: with_scipy_value(fractional_matrix_power, power),
    expm_frechet: with_scipy_value(expm_frechet, frechet),
    **{function: Refused(BASES) for function in (ordqz, qz, schur)},
    funm: with_scipy_value(
        funm, function_of_matrix, anchor=False
    ),  # its function may close over handles
    expm_cond: with_scipy_value(expm_cond, condition),
}

add_facts(
    COMPOSED_FUNCTIONS,
    (funm, signm, tanm, tanhm, fractional_matrix_power),
    dtype_by_values=True,
)
