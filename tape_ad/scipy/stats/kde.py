"""Densities estimated by kernels, on handles."""

import math
from typing import Any

import numpy as np

from tape_ad.base.errors import UnsupportedArgumentError
from tape_ad.extend.arrays import Array, as_array
from tape_ad.extend.rules import takes_over
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.linalg.solvers import solve_triangular
from tape_ad.scipy.special.logarithms import log_sum_exp
from tape_ad.scipy.special.shared import sp
from tape_ad.scipy.stats.samples import floating

__all__ = ["gaussian_kde"]


class gaussian_kde:  # noqa: N801 - SciPy's name
    """Estimate a density by a normal kernel at each point of a sample; see SciPy's of that name.

    Parameters
    ----------
    dataset : array or Tensor, shape (n,) or (d, n)
    bw_method : str, number, Tensor or callable, optional
        ``"scott"``, ``"silverman"``, the factor that the deviation of the sample is multiplied
        with, or a function that gives it for this object.
    weights : array or Tensor, shape (n,), optional

    Attributes
    ----------
    dataset : array or Tensor
    covariance : array or Tensor
    d : int
    n : int
    neff : number or Tensor
    factor : number or Tensor

    Examples
    --------
    >>> import tape_ad as ta
    >>> from tape_ad.scipy import stats
    >>> sample = ta.ComputationRecord().tensor([-1.0, 1.0])
    >>> density = stats.gaussian_kde(sample, bw_method=0.5)
    >>> density(0.0)[0].grad().wrt(sample).round(3)
    array([ 0.104, -0.104])
    """

    def __init__(self, dataset: Any, bw_method: Any = None, weights: Any = None) -> None:
        self.dataset = as_points(dataset)
        self.d, self.n = self.dataset.shape
        if self.dataset.size <= 1:
            raise ValueError("`dataset` input should have multiple elements.")
        self._weights: Array = np.full(self.n, 1 / self.n) if weights is None else floating(weights)
        if self._weights.shape != (self.n,):
            raise ValueError(f"`weights` input should be of length {self.n}")
        self._weights = self._weights / np.sum(self._weights)
        self.neff = 1 / np.sum(self._weights * self._weights)
        self.set_bandwidth(bw_method)

    @property
    def weights(self) -> Array:
        """The weights, which add up to one."""
        return self._weights

    def scotts_factor(self) -> Array:
        """Compute Scott's bandwidth factor."""
        return self.neff ** (-1.0 / (self.d + 4))

    def silverman_factor(self) -> Array:
        """Compute Silverman's bandwidth factor."""
        return (self.neff * (self.d + 2.0) / 4.0) ** (-1.0 / (self.d + 4))

    def set_bandwidth(self, bw_method: Any = None) -> None:
        """Choose the factor that the deviation of the sample is multiplied with."""
        if bw_method is None or (isinstance(bw_method, str) and bw_method == "scott"):
            self.factor: Any = self.scotts_factor()
        elif isinstance(bw_method, str):
            if bw_method != "silverman":
                raise ValueError("`bw_method` is 'scott', 'silverman', a number or a callable")
            self.factor = self.silverman_factor()
        else:
            self.factor = bw_method(self) if callable(bw_method) else bw_method
        weighed = self.dataset * self._weights
        centred = self.dataset - np.sum(weighed, axis=1, keepdims=True)
        spread = np.matmul(centred * self._weights, np.transpose(centred))
        spread = spread / (1 - np.sum(self._weights * self._weights))
        self.covariance = spread * (self.factor * self.factor)
        self._root = np.linalg.cholesky(self.covariance)

    def _plain(self, *others: Any) -> Any:
        """SciPy's own object where nothing takes calls over; else None."""
        parts = (self.dataset, self._weights, self.factor, *others)
        if any(takes_over(type(part)) for part in parts):
            return None
        return scipy.stats.gaussian_kde(self.dataset, float(self.factor), self._weights)

    def evaluate(self, points: Any) -> Array:
        """Give the density at points.

        Parameters
        ----------
        points : array or Tensor, shape (m,) or (d, m)

        Returns
        -------
        array or Tensor, shape (m,)
        """
        plain = self._plain(points)
        return np.exp(self.logpdf(points)) if plain is None else plain.evaluate(points)

    __call__ = pdf = evaluate

    def logpdf(self, x: Any) -> Array:
        """Give the logarithm of the density at points, also where that is too small for a float."""
        plain = self._plain(x)
        if plain is not None:
            return plain.logpdf(x)
        points = as_points(x)
        if points.shape[0] != self.d:
            if points.shape != (1, self.d):
                raise ValueError(
                    f"points have dimension {points.shape[0]}, dataset has dimension {self.d}"
                )
            points = np.reshape(points, (self.d, 1))
        at, nodes = (
            solve_triangular(self._root, each, lower=True) for each in (points, self.dataset)
        )
        energies = np.sum((at[:, :, None] - nodes[:, None, :]) ** 2, axis=0) / 2
        weights = np.broadcast_to(self._weights, energies.shape)
        constant = self.d / 2 * math.log(2 * math.pi) + np.sum(np.log(np.diagonal(self._root)))
        return log_sum_exp(-energies, weights, 1, False) - constant

    def integrate_box_1d(self, low: Any, high: Any) -> Array:
        """Integrate a density of one variable between two bounds."""
        if self.d != 1:
            raise ValueError("integrate_box_1d() only handles 1D pdfs")
        deviation = self._root[0, 0]
        ends = ((bound - self.dataset[0]) / deviation for bound in (high, low))
        above, below = (sp.ndtr(end) for end in ends)
        return np.sum(self._weights * (above - below))

    def integrate_gaussian(self, mean: Any, cov: Any) -> Array:
        """Integrate the product with a normal density.

        Parameters
        ----------
        mean : array or Tensor, shape (d,)
        cov : array or Tensor, shape (d, d)
        """
        mean, cov = as_points(mean).reshape(-1), as_points(cov)
        if mean.shape != (self.d,) or cov.shape != (self.d, self.d):
            raise ValueError(f"mean or covariance does not have dimension {self.d}")
        return self._overlap(np.reshape(mean, (-1, 1)), np.ones(1), cov)

    def integrate_kde(self, other: Any) -> Array:
        """Integrate the product with another density that is estimated so.

        Parameters
        ----------
        other : gaussian_kde
            Ours or SciPy's.
        """
        if other.d != self.d:
            raise ValueError("KDEs are not the same dimensionality")
        return self._overlap(other.dataset, other.weights, other.covariance)

    def _overlap(self, points: Array, weights: Array, covariance: Array) -> Array:
        """Integrate the product with normal densities of one covariance at points."""
        root = np.linalg.cholesky(self.covariance + covariance)
        here, there = (solve_triangular(root, each, lower=True) for each in (self.dataset, points))
        energies = np.sum((here[:, :, None] - there[:, None, :]) ** 2, axis=0) / 2
        total = np.sum(np.exp(-energies) * self._weights[:, None] * weights)
        return total / ((2 * math.pi) ** (self.d / 2) * np.prod(np.diagonal(root)))

    def covariance_factor(self) -> Any:
        """Give the factor that the deviation of the sample is multiplied with."""
        return self.factor

    def marginal(self, dimensions: Any) -> "gaussian_kde":
        """Give the density of some of the variables.

        Parameters
        ----------
        dimensions : int or sequence of int
        """
        chosen = np.atleast_1d(dimensions)
        if chosen.dtype.kind not in "iu":
            raise ValueError(
                "Elements of `dimensions` must be integers - the indices of the marginal "
                "variables being retained."
            )
        numbers = np.where(chosen < 0, chosen + self.d, chosen)
        if len(np.unique(numbers)) != len(numbers):
            raise ValueError("All elements of `dimensions` must be unique.")
        if np.any((numbers < 0) | (numbers >= self.d)):
            raise ValueError(f"Dimensions {chosen} are invalid for {self.d} dimensions.")
        return gaussian_kde(self.dataset[numbers], self.factor, self._weights)

    def __getattr__(self, name: str) -> Any:
        """Give another method of SciPy's, for plain arrays."""
        if name.startswith("_") or not hasattr(scipy.stats.gaussian_kde, name):
            raise AttributeError(f"gaussian_kde has no {name}")
        plain = self._plain()
        if plain is None:
            raise UnsupportedArgumentError(
                f"scipy.stats.gaussian_kde.{name} does not take handles; build it from .data of "
                "those that are meant as constants"
            )
        return getattr(plain, name)


def as_points(points: Any) -> Array:
    """Take points to columns of floats."""
    points = floating(as_array(points))
    points = points if points.dtype == np.float64 else points.astype(np.float64)
    return np.reshape(points, (1, -1)) if points.ndim < 2 else points
