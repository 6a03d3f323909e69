"""Distributions, special functions, solvers and convolutions under SciPy's names."""

from typing import Any

import autograd.numpy as np
import autograd.scipy.stats.multivariate_normal as mvn
import autograd.scipy.stats.t as student
from autograd import elementwise_grad, grad, jacobian
from autograd.builtins import tuple as make_tuple
from autograd.scipy import special
from autograd.scipy.integrate import odeint
from autograd.scipy.linalg import solve_triangular, sqrtm
from autograd.scipy.signal import convolve
from autograd.scipy.stats import beta, chi2, dirichlet, gamma, norm, poisson

METHODS: list[tuple[Any, tuple[Any, ...], tuple[int, ...]]] = [
    (norm.pdf, (0.3, 0.1, 1.5), (0, 1, 2)),
    (norm.logpdf, (0.3, 0.1, 1.5), (0, 1, 2)),
    (norm.cdf, (0.3, 0.1, 1.5), (0, 1, 2)),
    (norm.logcdf, (0.3, 0.1, 1.5), (0, 1, 2)),
    (norm.sf, (0.3, 0.1, 1.5), (0, 1, 2)),
    (norm.logsf, (0.3, 0.1, 1.5), (0, 1, 2)),
    (student.pdf, (0.3, 3.5, 0.1, 1.5), (0, 1, 2, 3)),
    (student.logpdf, (0.3, 3.5, 0.1, 1.5), (0, 1, 2, 3)),
    (student.cdf, (0.3, 3.5, 0.1, 1.5), (0, 2)),
    (student.logcdf, (0.3, 3.5, 0.1, 1.5), (0, 2)),
    (gamma.logpdf, (0.7, 2.5), (0, 1)),
    (gamma.pdf, (0.7, 2.5), (0, 1)),
    (gamma.cdf, (0.7, 2.5), (0,)),
    (beta.logpdf, (0.7, 2.5, 1.5), (0, 1, 2)),
    (beta.pdf, (0.7, 2.5, 1.5), (0, 1, 2)),
    (beta.cdf, (0.7, 2.5, 1.5), (0,)),
    (chi2.logpdf, (0.7, 4.0), (0,)),
    (chi2.pdf, (0.7, 4.0), (0,)),
    (chi2.cdf, (0.7, 4.0), (0,)),
    (poisson.logpmf, (3.0, 2.5), (1,)),
    (poisson.pmf, (3.0, 2.5), (1,)),
    (poisson.cdf, (3.0, 2.5), (1,)),
]

SPECIAL = (
    *("gamma", "gammaln", "digamma", "rgamma", "j0", "y0", "j1", "y1", "i0", "i1"),
    *("erf", "erfc", "erfinv", "erfcinv", "logit", "expit"),
)


def densities() -> Any:
    rs = np.random.RandomState(5)
    root = rs.randn(3, 3)
    cov, mean, x = root @ root.T + np.eye(3), rs.randn(3), rs.randn(4, 3)
    shares, alpha = np.array([0.2, 0.5, 0.3]), np.array([1.5, 2.0, 3.0])
    singular = np.diag([1.0, 2.0, 0.0])
    flat = np.array([0.3, -0.4, 0.0])
    return [
        [method(*args) for method, args, _ in METHODS],
        [grad(method, argnums)(*args) for method, args, argnums in METHODS],
        mvn.logpdf(x, mean, cov),
        jacobian(mvn.logpdf, 1)(x[0], mean, cov),
        jacobian(lambda m: mvn.pdf(x, m, cov))(mean),
        grad(lambda c: np.sum(mvn.logpdf(x, mean, 0.5 * (c + c.T))))(cov),
        grad(lambda c: np.sum(mvn.entropy(mean, 0.5 * (c + c.T))))(cov),
        grad(mvn.logpdf)(flat, np.zeros(3), singular, True),
        grad(dirichlet.logpdf, (0, 1))(shares, alpha),
        grad(dirichlet.pdf, (0, 1))(shares, alpha),
    ]


def solutions() -> Any:
    def spring(y: Any, t: Any, pull: Any, drag: Any) -> Any:
        return np.array([y[1], -pull * y[0] - drag * y[1] + np.sin(t)])

    def end(y0: Any, t: Any, pull: Any, drag: Any) -> Any:
        path = odeint(spring, y0, t, make_tuple((pull, drag)), rtol=1e-12, atol=1e-12)
        return np.sum(path**2)

    args = np.array([1.0, 0.2]), np.linspace(0.0, 1.0, 4), 2.0, 0.3
    return end(*args), grad(end, (0, 1, 2, 3))(*args)


def products() -> Any:
    rs = np.random.RandomState(6)
    a, b = rs.randn(5, 2, 4), rs.randn(3, 2, 2)
    spd = np.eye(3) + 0.1 * np.ones((3, 3))
    lower, side = np.tril(rs.rand(3, 3)) + np.eye(3), rs.randn(3)
    results = []
    for mode in ("full", "valid", "same"):
        options = {"axes": ([0, 2], [0, 2]), "dot_axes": ([1], [1]), "mode": mode}
        both = lambda a, b, o=options: np.sum(np.sin(convolve(a, b, **o)))  # noqa: E731 - as above
        kept = lambda a, b, m=mode: np.sum(np.sin(convolve(a, b, axes=([0], [0]), mode=m)))  # noqa: E731 - as above
        results += [convolve(a, b, **options), grad(both, (0, 1))(a, b), grad(kept, (0, 1))(a, b)]
    solve = lambda a, b: np.sum(np.sin(solve_triangular(a, b, lower=True)))  # noqa: E731 - as above
    return [
        results,
        convolve(side, a[:, 0, 0]),
        grad(solve, (0, 1))(lower, side),
        grad(lambda a: np.sum(np.sin(sqrtm(a))))(spd),
        special.multigammaln(np.array([2.5, 4.0]), 2),
        [elementwise_grad(getattr(special, name))(np.array([0.3, 0.8])) for name in SPECIAL],
        [grad(f, 1)(2, 0.7) for f in (special.jn, special.yn, special.iv, special.polygamma)],
        grad(lambda x: special.logsumexp(x, b=np.array([0.5, 2.0, 1.0])))(side),
    ]


def run() -> Any:
    return densities(), solutions(), products()
