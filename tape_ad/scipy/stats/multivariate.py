"""The multivariate distributions of `scipy.stats`, as compositions.

SciPy takes the pseudo-inverse of a covariance by its eigenvectors; here it is Cholesky's factor,
which reads the same triangle, and which a matrix that is not positive definite does not have.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tape_ad.base.errors import UnsupportedArgumentError
from tape_ad.extend.arrays import Array, as_array, primal
from tape_ad.extend.rules import Derivation, Entry
from tape_ad.scipy.counterparts import takes_lists
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.linalg.systems import solve_triangular
from tape_ad.scipy.special.shared import sp
from tape_ad.scipy.stats.matrices import MATRICES
from tape_ad.scipy.stats.samples import floating

__all__ = ["DISTRIBUTED", "MULTIVARIATE"]

LOG_2PI = math.log(2 * math.pi)


def in_double(x: Any) -> Array:
    """Take an operand to double precision, in which SciPy computes with vectors."""
    x = as_array(x)
    return x if x.dtype == np.float64 else x.astype(np.float64)


def of_scipy(name: str, method: str) -> Callable[..., Any]:
    """Make a method of one of SciPy's multivariate distributions one that handles can take over."""

    def function(*args: Any) -> Any:
        numbers = (x[()] if isinstance(x, np.ndarray) else x for x in args)  # Wishart's df is one
        return getattr(getattr(scipy.stats, name), method)(*numbers)

    function.__name__ = function.__qualname__ = f"{name}_{method}"
    return takes_lists(function)


# Vectors with a centre and a matrix


def matrix_and_centre(centre: Any, matrix: Any) -> tuple[Array, Array]:
    """Take a centre and a matrix, a variance or several, to a vector and a matrix."""
    if isinstance(matrix, scipy.stats.Covariance):
        matrix = matrix.covariance
    matrix = in_double(1.0 if matrix is None else matrix)
    if centre is None:
        centre = np.zeros(1 if matrix.ndim < 2 else matrix.shape[0])
    centre = in_double(centre)
    dim = centre.size
    if dim == 1:
        centre, matrix = np.reshape(centre, 1), np.reshape(matrix, (1, 1))
    if matrix.ndim == 0:
        matrix = matrix * np.eye(dim)
    elif matrix.ndim == 1:
        matrix = np.diag(matrix)
    if centre.ndim != 1 or matrix.shape != (dim, dim):
        raise ValueError(
            f"the mean is a vector and the covariance a matrix of its length; got shapes "
            f"{centre.shape} and {matrix.shape}"
        )
    return centre, matrix


def whitened(x: Any, centre: Array, factor: Array) -> Array:
    """The squares of what is left of points in units of a factor, SciPy's shape of them."""
    x = in_double(x)
    dim = centre.shape[0]
    if x.ndim == 0:
        x = np.reshape(x, (1, 1))
    elif x.ndim == 1:
        x = np.reshape(x, (-1, 1) if dim == 1 else (1, -1))
    shape = [length for length in x.shape[:-1] if length != 1]
    differences = np.reshape(x - centre, (-1, dim))
    solved = solve_triangular(factor, np.transpose(differences), lower=True)
    return np.reshape(np.sum(solved * solved, axis=0), shape)


def log_determinant(factor: Array) -> Array:
    """That of the matrix whose Cholesky factor this is."""
    return 2 * np.sum(np.log(np.diagonal(factor)))


def refuse_singular(allow_singular: bool, cov: Any) -> None:
    """Refuse matrices that are singular; around any other the rank is the same.

    Raises
    ------
    UnsupportedArgumentError
    """
    if not allow_singular:
        return
    sizes = np.linalg.eigvalsh(primal(cov))
    if np.any(sizes <= 1e6 * np.finfo(float).eps * np.max(np.abs(sizes))):  # as SciPy has it
        raise UnsupportedArgumentError(
            "scipy.stats.multivariate_normal: allow_singular=True is not supported with handles "
            "and a singular matrix, as its rank does not move smoothly; write the density in fewer "
            "dimensions"
        )


def normal_logpdf(x: Any, mean: Any = None, cov: Any = 1, allow_singular: bool = False) -> Array:
    """The logarithm of the density of a normal distribution."""
    mean, cov = matrix_and_centre(mean, cov)
    refuse_singular(allow_singular, cov)
    factor = np.linalg.cholesky(cov)
    constant = mean.shape[0] * LOG_2PI + log_determinant(factor)
    return -0.5 * (constant + whitened(x, mean, factor))


def normal_entropy(mean: Any = None, cov: Any = 1) -> Array:
    """The entropy of a normal distribution."""
    mean, cov = matrix_and_centre(mean, cov)
    factor = np.linalg.cholesky(cov)
    return 0.5 * (mean.shape[0] * (LOG_2PI + 1) + log_determinant(factor))


def student_entropy(loc: Any = None, shape: Any = 1, df: Any = 1) -> Array:
    """The entropy of Student's distribution of vectors."""
    df = in_double(1 if df is None else df)
    if np.isinf(df):
        return normal_entropy(loc, shape)
    loc, shape = matrix_and_centre(loc, shape)
    dim, factor = loc.shape[0], np.linalg.cholesky(shape)
    half = 0.5 * (df + dim)
    constant = sp.gammaln(0.5 * df) - sp.gammaln(half) + dim / 2 * np.log(df * np.pi)
    digammas = half * (sp.digamma(half) - sp.digamma(0.5 * df))
    return constant + digammas + 0.5 * log_determinant(factor)


def student_logpdf(x: Any, loc: Any = None, shape: Any = 1, df: Any = 1) -> Array:
    """The logarithm of the density of Student's distribution of vectors."""
    df = in_double(1 if df is None else df)
    if np.isinf(df):
        return normal_logpdf(x, loc, shape)
    loc, shape = matrix_and_centre(loc, shape)
    dim, factor = loc.shape[0], np.linalg.cholesky(shape)
    half = 0.5 * (df + dim)
    constant = sp.gammaln(half) - sp.gammaln(0.5 * df) - dim / 2 * np.log(df * np.pi)
    constant = constant - 0.5 * log_determinant(factor)
    return constant - half * np.log1p(whitened(x, loc, factor) / df)


# Shares


def log_beta(alpha: Array) -> Array:
    """The logarithm of the beta function of several arguments."""
    return np.sum(sp.gammaln(alpha)) - sp.gammaln(np.sum(alpha))


def checked_alpha(alpha: Any) -> Array:
    """Take the parameters of a Dirichlet distribution, as SciPy checks them."""
    alpha = floating(alpha)
    if np.min(alpha) <= 0:
        raise ValueError("All parameters must be greater than 0")
    if alpha.ndim != 1:
        raise ValueError(f"Parameter vector 'a' must be one dimensional, got shape {alpha.shape}")
    return alpha


def completed_shares(x: Any, alpha: Array) -> Array:
    """Take shares, of which the last may be missing, as SciPy checks them."""
    x = floating(x)
    if x.shape[0] + 1 == alpha.shape[0]:
        x = np.concatenate([x, 1 - np.sum(x, axis=0, keepdims=True)])
    if x.shape[0] != alpha.shape[0]:
        raise ValueError(
            "Vector 'x' must have as many entries as 'alpha' or one fewer, got shapes "
            f"{x.shape} and {alpha.shape}"
        )
    if np.min(x) < 0 or np.max(x) > 1 or np.any(np.absolute(np.sum(x, axis=0) - 1.0) > 10e-10):
        raise ValueError("The input vector 'x' must lie within the normal simplex")
    small = np.less(np.reshape(alpha, (-1, *[1] * (x.ndim - 1))), 1)
    if np.any(np.equal(x, 0) & small):
        raise ValueError(
            "Each entry in 'x' must be greater than zero if its alpha is less than one"
        )
    return x


def dirichlet_logpdf(x: Any, alpha: Any) -> Array:
    """The logarithm of the density of a Dirichlet distribution."""
    alpha = checked_alpha(alpha)
    x = completed_shares(x, alpha)
    powers = np.reshape(alpha - 1, (-1, *[1] * (x.ndim - 1)))
    return np.squeeze(np.sum(sp.xlogy(powers, x), axis=0) - log_beta(alpha))


def dirichlet_entropy(alpha: Any) -> Array:
    """The entropy of a Dirichlet distribution."""
    alpha = checked_alpha(alpha)
    total = np.sum(alpha)
    digamma = (total - alpha.shape[0]) * sp.digamma(total)
    return log_beta(alpha) + digamma - np.sum((alpha - 1) * sp.digamma(alpha))


def dirichlet_mean(alpha: Any) -> Array:
    """The mean of a Dirichlet distribution."""
    alpha = checked_alpha(alpha)
    return alpha / np.sum(alpha)


def dirichlet_var(alpha: Any) -> Array:
    """The variances of a Dirichlet distribution."""
    alpha = checked_alpha(alpha)
    total = np.sum(alpha)
    return (alpha * (total - alpha)) / ((total * total) * (total + 1))


def dirichlet_cov(alpha: Any) -> Array:
    """The covariances of a Dirichlet distribution."""
    alpha = checked_alpha(alpha)
    total = np.sum(alpha)
    share = alpha / total
    return (np.diag(share) - np.outer(share, share)) / (total + 1)


def multinomial_mean(n: Any, p: Any) -> Array:
    """Compute the means of multinomial counts."""
    n, p = as_array(n), completed(in_double(p))
    return np.expand_dims(n, -1) * p


def multinomial_cov(n: Any, p: Any) -> Array:
    """Compute the covariance matrix of multinomial counts."""
    n, p = as_array(n), completed(in_double(p))
    products = p[..., :, None] * p[..., None, :]
    each = p[..., None] * np.eye(p.shape[-1]) - products
    return np.expand_dims(n, (-1, -2)) * each


def completed(p: Array) -> Array:
    """Take shares, of which the last is what the others leave where they do not add up to 1."""
    total = np.sum(p, axis=-1, keepdims=True)
    off = np.greater(np.absolute(1 - total), 10 * np.finfo(p.dtype).eps)
    last = np.where(off, 1.0 - np.sum(p[..., :-1], axis=-1, keepdims=True), p[..., -1:])
    return np.concatenate([p[..., :-1], last], axis=-1)


def mixed_logpmf(x: Any, alpha: Any, n: Any) -> Array:
    """The logarithm of the probability of counts whose shares are Dirichlet's."""
    x, alpha, n = in_double(x), in_double(alpha), in_double(n)
    total = np.sum(alpha, axis=-1)
    whole = sp.gammaln(total) + sp.gammaln(n + 1) - sp.gammaln(n + total)
    each = sp.gammaln(x + alpha) - sp.gammaln(alpha) - sp.gammaln(x + 1)
    possible = np.equal(np.sum(x, axis=-1), n)
    return np.where(possible, whole + np.sum(each, axis=-1), -np.inf)


def mixed_mean(alpha: Any, n: Any) -> Array:
    """The means of counts whose shares are Dirichlet's."""
    alpha, n = in_double(alpha), np.expand_dims(in_double(n), -1)
    return n * alpha / np.sum(alpha, axis=-1, keepdims=True)


def mixed_var(alpha: Any, n: Any) -> Array:
    """Compute the variances of Dirichlet multinomial counts."""
    alpha, n = in_double(alpha), np.expand_dims(in_double(n), -1)
    total = np.sum(alpha, axis=-1, keepdims=True)
    share = alpha / total
    return n * share * (1 - share) * (n + total) / (1 + total)


def mixed_cov(alpha: Any, n: Any) -> Array:
    """Compute the covariance matrix of Dirichlet multinomial counts."""
    alpha, n = in_double(alpha), np.expand_dims(in_double(n), (-1, -2))
    total = np.expand_dims(np.sum(alpha, axis=-1), (-1, -2))
    share = alpha / total[..., 0]
    each = share[..., None] * np.eye(alpha.shape[-1]) - share[..., :, None] * share[..., None, :]
    return n * (n + total) / (1 + total) * each


# Directions


def direction_norm(dim: int, kappa: Array) -> Array:
    """The logarithm of what makes the density of vonmises_fisher one."""
    half = 0.5 * dim
    bessel = np.log(sp.ive(half - 1, kappa)) + kappa
    return (half - 1) * np.log(kappa) - half * LOG_2PI - bessel


def refuse_other_lengths(name: str, x: Array) -> None:
    """Refuse vectors that are no directions, as SciPy does."""
    if not np.allclose(np.sqrt(np.sum(x * x, axis=-1)), 1):
        raise ValueError(f"{name!r} must be unit vectors of norm 1 along last dimension.")


def direction_logpdf(x: Any, mu: Any = None, kappa: Any = 1) -> Array:
    """The logarithm of the density of a direction around another."""
    x, mu, kappa = in_double(x), in_double(mu), in_double(kappa)
    refuse_other_lengths("x", x)
    refuse_other_lengths("mu", mu)
    return kappa * np.sum(x * mu, axis=-1) + direction_norm(mu.shape[-1], kappa)


def direction_entropy(mu: Any = None, kappa: Any = 1) -> Array:
    """The entropy of a direction around another."""
    dim, kappa = np.shape(mu)[-1], in_double(kappa)
    ratio = sp.ive(0.5 * dim, kappa) / sp.ive(0.5 * dim - 1, kappa)
    return -direction_norm(dim, kappa) - kappa * ratio


# A mean and a variance


def conjugate_logpdf(x: Any, s2: Any, mu: Any = 0, lmbda: Any = 1, a: Any = 1, b: Any = 1) -> Array:
    """The logarithm of the density of a normal mean and an inverse gamma variance."""
    x, s2, mu, lmbda, a, b = map(floating, (x, s2, mu, lmbda, a, b))
    inside = np.greater(s2, 0)
    s2 = np.where(inside, s2, 1.0)
    constant = 0.5 * (np.log(lmbda) - LOG_2PI) + a * np.log(b) - sp.gammaln(a)
    logs = constant - (a + 1.5) * np.log(s2) - (2 * b + lmbda * (x - mu) ** 2) / (2 * s2)
    return np.where(inside, logs, -np.inf)


def conjugate_mean(mu: Any = 0, lmbda: Any = 1, a: Any = 1, b: Any = 1) -> tuple[Array, Array]:
    """Compute the means of mean and variance under the normal inverse gamma distribution."""
    mu, lmbda, a, b = np.broadcast_arrays(*map(floating, (mu, lmbda, a, b)))
    return mu + 0.0 * b, np.where(np.greater(a, 1), b / (a - 1), np.nan)


def conjugate_var(mu: Any = 0, lmbda: Any = 1, a: Any = 1, b: Any = 1) -> tuple[Array, Array]:
    """Compute the variances of mean and variance under the normal inverse gamma distribution."""
    mu, lmbda, a, b = np.broadcast_arrays(*map(floating, (mu, lmbda, a, b)))
    known = np.greater(a, 1), np.greater(a, 2)
    return (
        np.where(known[0], b / ((a - 1) * lmbda), np.nan),
        np.where(known[1], b * b / ((a - 1) ** 2 * (a - 2)), np.nan),
    )


def multinomial_logpmf(x: Any, n: Any, p: Any) -> Array:
    """The logarithm of the probability of counts; the last share is what the others leave."""
    x, n, p = as_array(x), as_array(n), in_double(p)
    p = completed(p)
    bad = np.any(np.less(p, 0) | np.greater(p, 1), axis=-1) | np.less(n, 0)
    whole = np.all(np.equal(np.floor(x), x) & np.greater_equal(x, 0), axis=-1)
    possible = whole & np.equal(np.sum(x, axis=-1), n)
    logs = sp.gammaln(n + 1.0) + np.sum(sp.xlogy(x, p) - sp.gammaln(x + 1.0), axis=-1)
    return np.where(possible, logs, -np.inf) * np.where(bad, np.nan, 1.0)


COMPOSED: dict[tuple[str, str], Callable[..., Any]] = {
    ("multivariate_normal", "logpdf"): normal_logpdf,
    ("multivariate_normal", "entropy"): normal_entropy,
    ("multivariate_t", "logpdf"): student_logpdf,
    ("multivariate_t", "entropy"): student_entropy,
    ("dirichlet", "cov"): dirichlet_cov,
    ("dirichlet", "logpdf"): dirichlet_logpdf,
    ("dirichlet", "entropy"): dirichlet_entropy,
    ("dirichlet", "mean"): dirichlet_mean,
    ("dirichlet", "var"): dirichlet_var,
    ("multinomial", "logpmf"): multinomial_logpmf,
    ("multinomial", "mean"): multinomial_mean,
    ("multinomial", "cov"): multinomial_cov,
    ("dirichlet_multinomial", "logpmf"): mixed_logpmf,
    ("dirichlet_multinomial", "mean"): mixed_mean,
    ("dirichlet_multinomial", "var"): mixed_var,
    ("dirichlet_multinomial", "cov"): mixed_cov,
    ("vonmises_fisher", "logpdf"): direction_logpdf,
    ("vonmises_fisher", "entropy"): direction_entropy,
    ("normal_inverse_gamma", "logpdf"): conjugate_logpdf,
    ("normal_inverse_gamma", "mean"): conjugate_mean,
    ("normal_inverse_gamma", "var"): conjugate_var,
    **MATRICES,
}

COMPOSED = {key: lines for key, lines in COMPOSED.items() if getattr(scipy.stats, key[0])}

MULTIVARIATE: dict[tuple[str, str], Callable[..., Any]] = {key: of_scipy(*key) for key in COMPOSED}
"""The methods by the names of distribution and method."""

DISTRIBUTED: dict[Any, Entry] = {
    MULTIVARIATE[key]: Derivation(compute) for key, compute in COMPOSED.items()
}
"""What they do with handles."""
