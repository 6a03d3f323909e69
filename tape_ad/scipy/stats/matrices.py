"""The distributions of matrices of `scipy.stats`, as compositions."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tape_ad.extend.arrays import Array, as_array
from tape_ad.scipy.special.gamma_functions import multigammaln
from tape_ad.scipy.special.shared import sp

__all__ = ["MATRICES"]

LN2 = math.log(2)


def in_double(x: Any) -> Array:
    """Take an operand to double precision, in which SciPy computes with matrices."""
    x = as_array(x)
    return x if x.dtype == np.float64 else x.astype(np.float64)


def log_determinants(matrices: Array) -> Array:
    """Those of positive definite matrices."""
    factors = np.linalg.cholesky(matrices)
    return 2 * np.sum(np.log(np.diagonal(factors, axis1=-2, axis2=-1)), axis=-1)


def squeezed(x: Array) -> Array:
    """Leave out the axes of length 1, as SciPy does."""
    return np.reshape(x, [length for length in x.shape if length != 1])


def mirrored(a: Array) -> Array:
    """Make a symmetric matrix of the lower triangle, which is what SciPy reads."""
    return np.tril(a) + np.swapaxes(np.tril(a, -1), -1, -2)


# Wishart's


def square(scale: Any) -> Array:
    """Take the scale of a distribution, which may be a number or a diagonal, to a matrix."""
    scale = in_double(1.0 if scale is None else scale)
    if scale.ndim == 0:
        return np.reshape(scale, (1, 1))
    if scale.ndim == 1:
        return np.diag(scale)
    if scale.ndim > 2 or scale.shape[0] != scale.shape[1]:
        raise ValueError(f"the scale is a square matrix; got shape {scale.shape}")
    return scale


def degrees(df: Any, dim: int) -> Array:
    """Take degrees of freedom, as SciPy checks them."""
    df = in_double(dim if df is None else df)
    if df.ndim:
        raise ValueError("Degrees of freedom must be a scalar.")
    if df <= dim - 1:
        raise ValueError("df must be greater than the dimension of the scale matrix minus 1.")
    return df


def points(x: Any, dim: int) -> Array:
    """Take SciPy's matrices, of which there may be several along a last axis, to a stack."""
    x = in_double(x)
    if x.ndim == 0:
        return np.reshape(x * np.eye(dim), (1, dim, dim))
    if x.ndim == 1:
        return np.reshape(x, (-1, 1, 1)) if dim == 1 else np.reshape(np.diag(x), (1, dim, dim))
    x = x[..., None] if x.ndim == 2 else x
    if x.ndim != 3 or x.shape[:2] != (dim, dim):
        raise ValueError(f"the points are matrices of shape {(dim, dim)}; got shape {x.shape}")
    return np.moveaxis(x, -1, 0)


def trace_of_ratio(a: Array, b: Array) -> Array:
    """The trace of b**-1 a."""
    return np.trace(np.linalg.solve(b, a), axis1=-2, axis2=-1)


def wishart_logpdf(x: Any, df: Any, scale: Any) -> Array:
    """The logarithm of the density of a Wishart distribution."""
    scale = square(scale)
    dim = scale.shape[0]
    x, df = points(x, dim), degrees(df, dim)
    logs = (df - dim - 1) * log_determinants(x) - df * log_determinants(scale)
    constant = df * dim * LN2 / 2 + multigammaln(0.5 * df, dim)
    return squeezed(0.5 * (logs - trace_of_ratio(x, mirrored(scale))) - constant)


def invwishart_logpdf(x: Any, df: Any, scale: Any) -> Array:
    """The logarithm of the density of the inverse of such a matrix."""
    scale = square(scale)
    dim = scale.shape[0]
    x, df = points(x, dim), degrees(df, dim)
    logs = df * log_determinants(scale) - (df + dim + 1) * log_determinants(x)
    constant = df * dim * LN2 / 2 + multigammaln(0.5 * df, dim)
    scales = np.broadcast_to(mirrored(scale), x.shape)
    return squeezed(0.5 * (logs - trace_of_ratio(scales, mirrored(x))) - constant)


def digammas(df: Array, dim: int) -> Array:
    """The derivative of the logarithm of the gamma function of matrices, at df / 2."""
    return np.sum(sp.digamma(0.5 * (df - np.arange(dim))))


def wishart_entropy(df: Any, scale: Any) -> Array:
    """The entropy of a Wishart distribution."""
    scale = square(scale)
    dim = scale.shape[0]
    df = degrees(df, dim)
    logs = 0.5 * (dim + 1) * (log_determinants(scale) + dim * LN2) + multigammaln(0.5 * df, dim)
    return logs - 0.5 * (df - dim - 1) * digammas(df, dim) + 0.5 * df * dim


def invwishart_entropy(df: Any, scale: Any) -> Array:
    """The entropy of the inverse of such a matrix, with SciPy's multiple of log(2)."""
    scale = square(scale)
    dim = scale.shape[0]
    df = degrees(df, dim)
    logs = 0.5 * (dim + 1) * (log_determinants(scale) - LN2) + multigammaln(0.5 * df, dim)
    return logs - 0.5 * (df + dim + 1) * digammas(df, dim) + 0.5 * df * dim


def wishart_mean(df: Any, scale: Any) -> Array:
    """The mean of a Wishart distribution."""
    scale = square(scale)
    return squeezed(degrees(df, scale.shape[0]) * scale)


def wishart_var(df: Any, scale: Any) -> Array:
    """The variances of its entries."""
    scale = square(scale)
    own = np.diagonal(scale)
    return squeezed(degrees(df, scale.shape[0]) * (scale * scale + np.outer(own, own)))


def wishart_mode(df: Any, scale: Any) -> Array | None:
    """Where its density is greatest."""
    scale = square(scale)
    dim = scale.shape[0]
    df = degrees(df, dim)
    return squeezed((df - dim - 1) * scale) if df >= dim + 1 else None


def invwishart_mean(df: Any, scale: Any) -> Array | None:
    """The mean of the inverse of such a matrix."""
    scale = square(scale)
    dim = scale.shape[0]
    df = degrees(df, dim)
    return squeezed(scale / (df - dim - 1)) if df > dim + 1 else None


def invwishart_var(df: Any, scale: Any) -> Array | None:
    """The variances of its entries."""
    scale = square(scale)
    dim, own = scale.shape[0], np.diagonal(scale)
    df = degrees(df, dim)
    if df <= dim + 3:
        return None
    rest = df - dim
    both = (rest + 1) * scale * scale + (rest - 1) * np.outer(own, own)
    return squeezed(both / (rest * (rest - 1) ** 2 * (rest - 3)))


def invwishart_mode(df: Any, scale: Any) -> Array:
    """Where its density is greatest."""
    scale = square(scale)
    dim = scale.shape[0]
    return squeezed(scale / (degrees(df, dim) + dim + 1))


# Matrices with a mean, and with covariances of rows and of columns


def spreads(mean: Any, row: Any, column: Any) -> tuple[Array, Array, Array]:
    """Take a mean and two covariances, which may be numbers or diagonals, to matrices."""
    sides = [in_double(1.0 if each is None else each) for each in (row, column)]
    shape: list[Any] = [side.shape[0] if side.ndim else None for side in sides]
    if mean is not None:
        mean = in_double(mean)
        shape = list(mean.shape)
    shape = [length or 1 for length in shape]
    for i, length in enumerate(shape):
        if sides[i].ndim == 0:
            sides[i] = sides[i] * np.eye(length)
        elif sides[i].ndim == 1:
            sides[i] = np.diag(sides[i])
        if sides[i].shape != (length, length):
            raise ValueError(
                f"the mean has shape {tuple(shape)}, and the matrices of its rows and columns are "
                f"square; got shape {sides[i].shape}"
            )
    centre = np.zeros(shape) if mean is None else mean
    return centre, mirrored(sides[0]), mirrored(sides[1])


def both_sides(x: Any, mean: Array, row: Array, column: Array) -> Array:
    """Give column**-1 d' row**-1 d, of the differences d of points and a mean."""
    d = in_double(x) - mean
    turned = np.swapaxes(d, -1, -2)
    rows = np.broadcast_to(row, (*d.shape[:-2], *row.shape))
    solved = np.matmul(turned, np.linalg.solve(rows, d))
    return np.linalg.solve(np.broadcast_to(column, solved.shape), solved)


def normal_logpdf(X: Any, mean: Any = None, rowcov: Any = 1, colcov: Any = 1) -> Array:  # noqa: N803 - SciPy's name
    """The logarithm of the density of a normal distribution of matrices."""
    mean, row, column = spreads(mean, rowcov, colcov)
    m, n = mean.shape
    logs = m * n * math.log(2 * math.pi) + n * log_determinants(row) + m * log_determinants(column)
    squares = np.trace(both_sides(X, mean, row, column), axis1=-2, axis2=-1)
    return squeezed(-0.5 * (logs + squares))


def normal_entropy(rowcov: Any = 1, colcov: Any = 1) -> Array:
    """The entropy of a normal distribution of matrices."""
    _, row, column = spreads(None, rowcov, colcov)
    m, n = row.shape[0], column.shape[0]
    logs = n * log_determinants(row) + m * log_determinants(column)
    return 0.5 * (m * n * (1 + math.log(2 * math.pi)) + logs)


def student_logpdf(
    X: Any,  # noqa: N803 - SciPy's name
    mean: Any = None,
    row_spread: Any = 1,
    col_spread: Any = 1,
    df: Any = 1,
) -> Array:
    """The logarithm of the density of Student's distribution of matrices."""
    mean, row, column = spreads(mean, row_spread, col_spread)
    m, n = mean.shape
    df = in_double(1 if df is None else df)
    half = (df + m + n - 1) / 2
    logs = np.linalg.slogdet(np.eye(n) + both_sides(X, mean, row, column))[1]
    constant = multigammaln(half, n) - multigammaln((df + n - 1) / 2, n)
    constant = constant - m * n / 2 * math.log(math.pi)
    sides = n * log_determinants(row) + m * log_determinants(column)
    return squeezed(constant - 0.5 * sides - half * logs)


MATRICES: dict[tuple[str, str], Callable[..., Any]] = {
    ("wishart", "logpdf"): wishart_logpdf,
    ("wishart", "entropy"): wishart_entropy,
    ("wishart", "mean"): wishart_mean,
    ("wishart", "var"): wishart_var,
    ("wishart", "mode"): wishart_mode,
    ("invwishart", "logpdf"): invwishart_logpdf,
    ("invwishart", "entropy"): invwishart_entropy,
    ("invwishart", "mean"): invwishart_mean,
    ("invwishart", "var"): invwishart_var,
    ("invwishart", "mode"): invwishart_mode,
    ("matrix_normal", "logpdf"): normal_logpdf,
    ("matrix_normal", "entropy"): normal_entropy,
    ("matrix_t", "logpdf"): student_logpdf,
}
"""The lines by the names of distribution and method."""
