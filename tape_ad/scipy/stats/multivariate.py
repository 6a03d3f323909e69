"""Distributions of vectors and matrices: SciPy's own code, with the steps that have no derivative.

SciPy takes the pseudo-inverse of a covariance by its eigenvectors, whose derivatives do not exist
where eigenvalues are equal; here it is Cholesky's factor, which reads the same triangle.
"""

import functools
import inspect
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from attrs import frozen

from tape_ad.errors import UnsupportedArgumentError
from tape_ad.extend.arrays import (
    Array,
    any_handle,
    as_array,
    holds,
    is_traced,
    joined,
    primal,
    whole,
)
from tape_ad.extend.packages import copied_object
from tape_ad.extend.rules import takes_over
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.linalg.systems import solve_triangular
from tape_ad.scipy.special.gamma_functions import multigammaln
from tape_ad.scipy.special.shared import sp
from tape_ad.scipy.stand_ins import stands_for
from tape_ad.scipy.stats.methods import distributions_of

GENERATORS = scipy.stats._multivariate
"""Where SciPy has its distributions of vectors and matrices."""


@stands_for(GENERATORS._PSD.__init__)
def factor(self: Any, M: Array, *args: Any, allow_singular: bool = True, **options: Any) -> None:
    """Factor the inverse of a positive definite matrix, and compute its determinant.

    Raises
    ------
    UnsupportedArgumentError
        For a singular matrix, which may be one for SciPy.
    """
    sizes = np.absolute(np.linalg.eigvalsh(primal(M)))
    bound = 1e6 * np.finfo(float).eps * np.max(sizes, axis=-1)  # as SciPy has it
    singular = np.less_equal(np.min(sizes, axis=-1), bound) & allow_singular
    if not is_traced(singular) and singular:
        raise UnsupportedArgumentError(
            "scipy.stats: allow_singular=True is not supported with handles and a singular matrix, "
            "as its rank does not move smoothly; write the density in fewer dimensions"
        )
    root, size = np.linalg.cholesky(M), M.shape[-1]
    self.rank, self.eps, self.V, self._M, self._pinv = size, 0.0, np.zeros((size, 0)), M, None
    self.U = np.transpose(solve_triangular(root, np.eye(size), lower=True))
    self.log_pdet = 2 * np.sum(np.log(np.diagonal(root))) * np.where(singular, np.nan, 1.0)


def of_wishart(
    x: Array, dim: int, df: Array, log_det_scale: Array, others: int, ratio: Array
) -> Array:
    """The logarithm of a density of Wishart's, by the trace of the ratio of scale and points."""
    logs = 2 * np.sum(np.log(np.diagonal(np.linalg.cholesky(x), axis1=-2, axis2=-1)), axis=-1)
    constant = df * dim * math.log(2) / 2 + multigammaln(0.5 * df, dim)
    sign = 1 if others > 0 else -1
    powers = (sign * df - dim - 1) * logs - sign * df * log_det_scale
    return 0.5 * (powers - np.trace(ratio, axis1=-2, axis2=-1)) - constant


@stands_for(GENERATORS.wishart_gen._logpdf)
def wishart(
    self: Any, x: Array, dim: int, df: Array, scale: Array, log_det_scale: Array, *_: Any
) -> Array:
    """The logarithm of Wishart's density, of all points at once."""
    x = np.moveaxis(x, -1, 0)
    return of_wishart(x, dim, df, log_det_scale, 1, np.linalg.solve(mirrored(scale), x))


@stands_for(GENERATORS.invwishart_gen._logpdf)
def inverse_wishart(
    self: Any, x: Array, dim: int, df: Array, log_det_scale: Array, C: Array
) -> Array:
    """The logarithm of the density of the inverse of such a matrix."""
    x = np.moveaxis(x, -1, 0)
    scales = np.broadcast_to(np.matmul(C, np.transpose(C)), x.shape)
    return of_wishart(x, dim, df, log_det_scale, -1, np.linalg.solve(mirrored(x), scales))


def mirrored(a: Array) -> Array:
    """Make a symmetric matrix of the lower triangle, which is what SciPy reads."""
    return np.tril(a) + np.swapaxes(np.tril(a, -1), -1, -2)


# Where SciPy writes to elements that values choose, which cannot be done in a batch


@stands_for(GENERATORS.multivariate_t_gen._entropy)
def student_entropy(self: Any, dim: int, df: Any = 1, shape: Any = 1) -> Array:
    """The entropy of Student's distribution of vectors."""
    normal = copied_object(scipy.stats.multivariate_normal).entropy(None, shape)
    if np.isinf(df):
        return normal
    half, rest = 0.5 * (df + dim), 0.5 * df
    logs = sp.gammaln(rest) - sp.gammaln(half) + 0.5 * dim * (np.log(rest) - 1)
    return normal + logs + half * (sp.digamma(half) - sp.digamma(rest))


@stands_for(GENERATORS.multinomial_gen._process_parameters)
def shares(self: Any, n: Any, p: Array) -> tuple[Any, Array, Array]:
    """Take counts and shares, of which the last is what the others leave."""
    n, p = np.asarray(n, int), p.astype(np.float64)
    off = np.greater(np.absolute(1 - np.sum(p, axis=-1, keepdims=True)), 10 * np.finfo(float).eps)
    last = np.where(off, 1.0 - np.sum(p[..., :-1], axis=-1, keepdims=True), p[..., -1:])
    p = np.concatenate([p[..., :-1], last], axis=-1)
    return n, p, np.any(np.less(p, 0) | np.greater(p, 1), axis=-1) | np.less(n, 0)


@stands_for(GENERATORS.multinomial_gen._checkresult)
def checked(self: Any, result: Array, cond: Any, bad_value: float) -> Array:
    """Put a number where arguments are none of the distribution's."""
    cond = np.reshape(cond, np.shape(cond) + (1,) * (np.ndim(result) - np.ndim(cond)))
    return np.where(cond, bad_value, result)


def where_known(formula: Callable[..., Any], least: int, *operands: Any) -> Array:
    """Compute a formula of a normal mean and an inverse gamma variance; nan where it is not known.

    Parameters
    ----------
    formula : callable
        Of the operands.
    least : int
        What the last but one of them is greater than where it is known.
    *operands : array
        Of which the last three are lmbda, a and b.
    """
    operands = tuple(np.broadcast_arrays(*(1.0 * as_array(x) for x in operands)))
    *_, lmbda, a, b = operands
    known = np.greater(lmbda, 0) & np.greater(a, least) & np.greater(b, 0)
    return np.where(known, formula(*operands), np.nan)


@stands_for(GENERATORS.normal_inverse_gamma_gen.logpdf)
def conjugate_logpdf(
    self: Any, x: Any, s2: Any, mu: Any = 0, lmbda: Any = 1, a: Any = 1, b: Any = 1
) -> Array:
    """The logarithm of the density of a normal mean and an inverse gamma variance."""

    def density(x: Array, s2: Array, *parameters: Array) -> Array:
        inside = np.greater(s2, 0)
        return np.where(inside, self._logpdf(x, np.where(inside, s2, 1.0), *parameters), -np.inf)

    return where_known(density, 0, x, s2, mu, lmbda, a, b)


@stands_for(GENERATORS.normal_inverse_gamma_gen.pdf)
def conjugate_pdf(self: Any, *args: Any, **options: Any) -> Array:
    """The density of a normal mean and an inverse gamma variance."""
    return np.exp(self.logpdf(*args, **options))


@stands_for(GENERATORS.normal_inverse_gamma_gen.mean)
def conjugate_mean(
    self: Any, mu: Any = 0, lmbda: Any = 1, a: Any = 1, b: Any = 1
) -> tuple[Array, Array]:
    """Compute the means of a mean and a variance."""
    return (
        where_known(lambda mu, *_: mu, 1, mu, lmbda, a, b),
        where_known(lambda mu, _, a, b: b / (a - 1), 1, mu, lmbda, a, b),
    )


@stands_for(GENERATORS.normal_inverse_gamma_gen.var)
def conjugate_var(
    self: Any, mu: Any = 0, lmbda: Any = 1, a: Any = 1, b: Any = 1
) -> tuple[Array, Array]:
    """Compute the variances of a mean and a variance."""
    return (
        where_known(lambda mu, lmbda, a, b: b / ((a - 1) * lmbda), 1, mu, lmbda, a, b),
        where_known(lambda mu, _, a, b: b * b / ((a - 1) ** 2 * (a - 2)), 2, mu, lmbda, a, b),
    )


COUNTS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("multinomial", "dirichlet_multinomial"), ("x", "n")),
    "poisson_binom": ("k",),  # with a vector of probabilities
}
"""Arguments that are counts, which nothing is differentiated by."""


WITH_FACTORS = frozenset({"multivariate_normal", "multivariate_t"})
"""Those of which SciPy's own lines are compiled, where the matrix that they factor is plain."""


def operand(x: Any) -> Any:
    """Take a list with handles to an array, and an array of no axes to a number."""
    if type(x) is np.ndarray or (is_traced(x) and not np.ndim(x)):
        return x[()]
    return joined(x)


@frozen(eq=False, repr=False)
class Multivariate:
    """A distribution of vectors or matrices, whose methods take handles for what is smooth.

    On plain arrays every method is SciPy's. Call the distribution with its parameters to freeze
    them.

    Attributes
    ----------
    name : str

    Examples
    --------
    >>> import tape_ad as ta
    >>> from tape_ad.scipy import stats
    >>> mean = ta.ComputationRecord().tensor([0.0, 1.0])
    >>> stats.multivariate_normal.logpdf([2.0, 2.0], mean).grad().wrt(mean)
    array([2., 1.])
    """

    name: str

    @property
    def scipy(self) -> Any:
        """SciPy's own object."""
        return getattr(scipy.stats, self.name)

    def __repr__(self) -> str:
        return f"tape_ad.scipy.stats.{self.name}"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Freeze the parameters of the distribution."""
        named = {key: operand(kwargs[key]) for key in kwargs}
        return copied_object(self.scipy)(*map(operand, args), **named)

    def __getattr__(self, name: str) -> Any:
        """Give one of SciPy's methods, or something of its that is no method."""
        theirs = getattr(self.scipy, name)
        if not callable(theirs):
            return theirs
        counts = COUNTS.get(self.name, ())

        @functools.wraps(theirs)
        def method(*args: Any, **kwargs: Any) -> Any:
            given = inspect.signature(theirs).bind(*args, **kwargs).arguments if counts else {}
            for argument in counts:
                if any_handle(given.get(argument)):
                    raise UnsupportedArgumentError(
                        f"scipy.stats.{self.name}.{name} cannot be differentiated with respect to "
                        f"{argument}; pass {argument}.data there if it is meant as a constant"
                    )
            taken, named = [*map(operand, args)], {key: operand(kwargs[key]) for key in kwargs}
            if not holds([*args, *kwargs.values()]):
                return theirs(*taken, **named)
            boxes = [x for x in (*taken, *named.values()) if takes_over(type(x))]
            matrix = [
                x for x in (*taken[2:3], named.get("cov"), named.get("shape")) if is_traced(x)
            ]
            plain = self.name in WITH_FACTORS and name in ("logpdf", "pdf") and not matrix
            if all(is_traced(x) for x in boxes) and not plain:
                return whole(theirs)(*taken, **named)  # SciPy's own bits
            return getattr(copied_object(self.scipy), name)(*taken, **named)

        return method


MULTIVARIATE: dict[str, Multivariate] = {
    name: Multivariate(name)
    for name in distributions_of(GENERATORS.multi_rv_generic, type(scipy.stats.poisson_binom))
    if name in COUNTS or hasattr(getattr(scipy.stats, name), "pdf")
}
"""By SciPy's names, as far as the installed SciPy has them."""
