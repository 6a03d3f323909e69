"""Percentiles, powers, densities and distances of samples; what functions of these take and give.

Of SciPy's own code these are the steps that are compiled, or branch on values.
"""

import functools
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from attrs import frozen

from tape_ad import differentiable, stop_gradient
from tape_ad.extend.arrays import Array, any_handle, as_array, joined, plain, primal
from tape_ad.extend.packages import copied
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.linalg.systems import solve_triangular
from tape_ad.scipy.special.elementary import log_sum_exp
from tape_ad.scipy.special.shared import sp
from tape_ad.scipy.stand_ins import stands_for, unwrapped

__all__: list[str] = []


def as_one(tree: Any) -> Any:
    """Stack what stands in a list or tuple, if there are handles in it and it makes an array."""
    try:
        return joined(tree)
    except ValueError:  # of shapes that differ, which SciPy's function then has to take
        return tree


def as_told(x: Any, value: Any) -> Any:
    """Give what was computed here the value that SciPy gives, where its constants are rounded."""
    own, value = stop_gradient((x, value))
    return x + np.where(np.equal(own, value), 0.0, value - own)


def floating(x: Any) -> Array:
    """Take an operand to an array of floats, as SciPy does."""
    x = as_array(x)
    return x.astype(np.float64) if x.dtype.kind in "biu" else x


def floats(operands: Sequence[Any]) -> list[Array]:
    """Take operands to arrays of floats; Python's numbers take the precision of the arrays."""
    arrays = [floating(x) for x in operands]
    strong = [x.dtype for x, given in zip(arrays, operands, strict=True) if hasattr(given, "dtype")]
    if not strong or np.result_type(*strong) != np.float32:
        return arrays
    weak = (np.float64, np.float32)
    return [
        x.astype(weak[type(given) in (int, float)]) if not hasattr(given, "dtype") else x
        for x, given in zip(arrays, operands, strict=True)
    ]


# Results


class SignificanceResult(NamedTuple):
    """A statistic, and how likely one as extreme is."""

    statistic: Array
    pvalue: Array


@frozen
class OutcomeResult:
    """The same where SciPy does not give a tuple."""

    statistic: Array
    pvalue: Array


class ConfidenceInterval(NamedTuple):
    """The bounds of what a parameter may be."""

    low: Array
    high: Array


# Percentiles of a sorted sample, also by their shares


@stands_for(scipy.stats._stats_py._compute_qth_percentile)
def percentile(ordered: Any, per: Any, interpolation_method: str, axis: int) -> Array:
    """Give a percentile, or one for each of several shares; on an element with its right slope.

    SciPy takes the element there, which does not depend on the share.
    """
    if np.ndim(per):
        return np.stack([percentile(ordered, each, interpolation_method, axis) for each in per])
    original = scipy.stats._stats_py._compute_qth_percentile
    told = original(primal(ordered), primal(per), interpolation_method, axis)  # or its errors
    last = ordered.shape[axis] - 1
    index = per / 100.0 * last
    place = float(primal(index))
    rounding = {"lower": math.floor, "higher": math.ceil}
    round_to = rounding.get(interpolation_method)
    below = round_to(place) if round_to else min(math.floor(place), max(last - 1, 0))
    low = np.take(ordered, below, axis=axis).astype(told.dtype)
    if round_to or not last or (place == below and not any_handle(index)):
        return low
    above = np.take(ordered, below + 1, axis=axis).astype(told.dtype)
    return low + (index - below) * (above - low)


range_of = copied(scipy.stats.iqr)


@stands_for(scipy.stats.iqr)
def iqr(
    x: Any, axis: Any = None, rng: Any = (25, 75), scale: Any = 1.0, *args: Any, **options: Any
) -> Any:
    """Give the distance between two percentiles; SciPy does not divide by a scale of just 1."""
    if not any_handle(scale):
        return range_of(x, axis, rng, scale, *args, **options)
    return range_of(x, axis, rng, 1.0, *args, **options) / scale


# Bins, whose places depend on the sample


def membership(a: Array, edges: Any) -> Any:
    """Say with 0 and 1 which elements are in which bin, in rows; the last bin has both its ends."""
    numbers: Any = np.searchsorted(edges, a, side="right") - 1
    numbers = np.where(np.equal(a, edges[-1]), len(edges) - 2, numbers)
    return np.equal(numbers, np.arange(len(edges) - 1)[:, None]).astype(float)


@stands_for(scipy.stats._stats_py._histogram)
def histogram(
    a: Any, numbins: int = 10, defaultlimits: Any = None, weights: Any = None, **options: Any
) -> Any:
    """Count what is in bins of one size, which SciPy's function does; their edges are handles.

    Since SciPy 1.18 it also takes ``density`` and ``cumulative``, for `relfreq` and `cumfreq`.
    """
    told = scipy.stats._stats_py._histogram(*plain((a, numbins, defaultlimits, weights)), **options)
    counts, low, size, _ = told
    a = np.reshape(floating(a), -1).astype(size.dtype)
    given = defaultlimits
    if given is None:
        start, stop = (np.min(a), np.max(a)) if a.size else (0.0, 1.0)
        margin = (stop - start) / (2.0 * (numbins - 1.0)) if a.size else 0.0
        given = start - margin, stop + margin
    edges = np.linspace(given[0], given[1], numbins + 1)
    if weights is not None:
        share = np.matmul(membership(primal(a), primal(edges)), np.reshape(weights, -1))
        if options.get("density"):
            share = share / np.sum(weights)
        counts = (np.cumsum(share) if options.get("cumulative") else share).astype(counts.dtype)
    low = given[0].astype(size.dtype) if any_handle(given[0]) else low
    return type(told)(counts, low, (edges[1] - edges[0]).astype(size.dtype), told[3])


@stands_for(scipy.stats._binned_statistic._bin_numbers)
def bin_numbers(*args: Any) -> Any:
    """Number the bins that points are in, which is piecewise constant."""
    return scipy.stats._binned_statistic._bin_numbers(*plain(args))


# Powers that make a sample more like a normal one: Box and Cox, Yeo and Johnson.
#
# SciPy branches where a power is 0 or 2, and logarithms take the place of powers; these go on
# smoothly there. What looks for the likeliest power is SciPy's own code.


@stands_for(scipy.stats._morestats._yeojohnson_transform)
def yeojohnson(x: Any, lmbda: Any, xp: Any = None) -> Array:
    """Transform by a power, numbers below 0 by another; Yeo & Johnson 2000."""
    x = floating(x)
    above = np.greater_equal(x, 0)
    positive, negative = np.where(above, x, 0.0), np.where(above, 0.0, -x)
    return np.where(above, sp.boxcox1p(positive, lmbda), -sp.boxcox1p(negative, 2.0 - lmbda))


def likelihood(data: Any, axis: int = 0, *, lmb: Any) -> Array:
    """The logarithm of the likelihood of a power of Box and Cox, with SciPy's value.

    The geometric mean is divided out first, so that no power of the data overflows.
    """
    told = OF_A_SAMPLE(primal(data), axis=axis, lmb=primal(lmb)) if OF_A_SAMPLE else None
    told = scipy.stats.boxcox_llf(primal(lmb), primal(data)) if told is None else told
    logs = np.log(floating(data))
    centred = logs - np.mean(logs, axis=axis, keepdims=True)
    spread = np.log(np.var(sp.boxcox(np.exp(centred), lmb), axis=axis))
    return as_told(-np.sum(logs, axis=axis) - logs.shape[axis] / 2 * spread, told)


OF_A_SAMPLE = unwrapped(scipy.stats._morestats._boxcox_llf)
if OF_A_SAMPLE:
    stands_for(OF_A_SAMPLE)(likelihood)
else:  # before SciPy 1.16
    stands_for(scipy.stats.boxcox_llf)(lambda lmb, data: likelihood(data, lmb=lmb))


# Densities that are estimated by a normal kernel at each point: the step of SciPy's in C.


class KernelEstimate:
    """What `scipy.stats` sums kernels with, by the type that it is compiled for.

    Parameters
    ----------
    original : callable
    finish : callable
        What is done with the logarithm of the density.
    """

    def __init__(self, original: Any, finish: Any) -> None:
        self.original, self.finish = original, finish

    def __getitem__(self, kind: Any) -> Any:
        return functools.partial(self.at, kind)

    def at(self, kind: Any, points: Any, values: Any, xi: Any, root: Any, *options: Any) -> Array:
        """Estimate at each of some places, in rows, from points and their weights, in rows."""
        if not any_handle((points, values, xi, root)):
            given = (np.asarray(plain(x)) for x in (points, values, xi, root))
            return self.original[kind](*given, *options)
        at, nodes = (solve_triangular(root, x.T, lower=True) for x in (xi, points))
        energies = np.sum((at[:, :, None] - nodes[:, None, :]) ** 2, axis=0) / 2
        weights = np.broadcast_to(values[:, 0], energies.shape)
        constant = points.shape[1] / 2 * math.log(2 * math.pi)
        constant = constant + np.sum(np.log(np.diagonal(root)))
        found = self.finish(log_sum_exp(-energies, weights, 1, False) - constant)
        return np.reshape(found, (-1, 1))


for _name, _finish in (
    ("gaussian_kernel_estimate", np.exp),
    ("gaussian_kernel_estimate_log", lambda density: density),
):
    _original = getattr(scipy.stats._stats, _name)
    stands_for(_original)(KernelEstimate(_original, _finish))


# How far distributions of points are from one another.


@stands_for(scipy.stats.wasserstein_distance_nd)
def wasserstein_distance_nd(
    u_values: Any, v_values: Any, u_weights: Any = None, v_weights: Any = None
) -> Array:
    """How far one distribution of points has to be moved to become the other.

    What is moved from where to where is a corner of a polytope, so that the distance is a sum over
    a tree of pairs of points, and how much is moved along each follows from the weights.
    """
    u, v = floating(u_values), floating(v_values)
    if u.ndim == v.ndim == 1:
        flat = differentiable(scipy.stats.wasserstein_distance)
        return flat(u, v, u_weights, v_weights)
    if u.ndim != 2 or v.ndim != 2 or u.shape[1] != v.shape[1]:
        raise ValueError("Invalid input values. The inputs must have the same number of columns.")
    shares = [
        np.full(len(points), 1 / len(points)) if weights is None else weights / np.sum(weights)
        for points, weights in ((u, u_weights), (v, v_weights))
    ]
    rows, columns = pairs_of(primal(u), primal(v), *map(primal, shares))
    lengths = np.linalg.norm(u[rows] - v[columns], axis=-1)
    ends = np.concatenate([np.eye(len(u))[:, rows], np.eye(len(v))[:, columns]])
    moved = np.matmul(np.linalg.pinv(ends), np.concatenate(shares))
    return np.sum(moved * lengths)


def pairs_of(u: Any, v: Any, u_shares: Any, v_shares: Any) -> tuple[Any, Any]:
    """Find the pairs of points along which mass is moved, filled up to a tree."""
    m, n = len(u), len(v)
    cost = np.linalg.norm(u[:, None] - v, axis=-1)
    sources = scipy.sparse.kron(scipy.sparse.eye(m), np.ones((1, n)))
    targets = scipy.sparse.kron(np.ones((1, m)), scipy.sparse.eye(n))
    found = scipy.optimize.linprog(
        cost.ravel(),
        A_eq=scipy.sparse.vstack([sources, targets]).tocsr(),
        b_eq=np.concatenate([u_shares, v_shares]),
        method="highs",
    )
    spare = cost - np.add.outer(found.eqlin.marginals[:m], found.eqlin.marginals[m:])
    moved = np.reshape(found.x, (m, n))
    order = np.lexsort((spare.ravel(), -moved.ravel()))
    group = np.arange(m + n)  # which points are joined already
    chosen = []
    for pair in order:
        one, other = group[pair // n], group[m + pair % n]
        if one != other:
            group[group == other] = one
            chosen.append(pair)
    return np.divmod(np.array(chosen), n)
