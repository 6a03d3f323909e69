"""Densities that are estimated by a normal kernel at each point: the step of SciPy's in C."""

import functools
import math
from typing import Any

import numpy as np

from tape_ad.extend.arrays import Array, any_handle, plain
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.linalg.systems import solve_triangular
from tape_ad.scipy.special.elementary import log_sum_exp
from tape_ad.scipy.stand_ins import stands_for

__all__: list[str] = []


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
