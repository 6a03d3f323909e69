"""`qmc_quad` on handles: the same sum over the same points."""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.integrate

from tape_ad.base.errors import UnsupportedArgumentError
from tape_ad.transforms.implicit import any_handle, joined, on_plain_arrays, plain, valued

__all__ = ["qmc_quad"]


def qmc_quad(
    func: Callable[..., Any],
    a: Any,
    b: Any,
    *,
    n_estimates: int = 8,
    n_points: int = 1024,
    qrng: Any = None,
    log: bool = False,
) -> Any:
    """Integrate by a quasi-Monte Carlo method, as `scipy.integrate.qmc_quad` does.

    Parameters
    ----------
    func : callable
        ``func(x)`` of points, shape (d, n), written in NumPy where derivatives are asked for. It
        may close over handles.
    a, b : array or Tensor, shape (d,)
        The limits.
    n_estimates, n_points, qrng
        As in SciPy.
    log : bool
        Not where there are handles.

    Returns
    -------
    QMCQuadResult
        SciPy's; with handles, `integral` and `standard_error` are. The points stay where they are
        between the limits.

    Raises
    ------
    UnsupportedArgumentError
        For handles with `log`, with a function of one point, and with limits that are equal.

    Examples
    --------
    >>> import tape_ad as ta
    >>> area = lambda b: qmc_quad(lambda x: x[0] * 0 + 3.0, 0.0, b).integral
    >>> ta.grad(area)(2.0).round(9)
    np.float64(3.0)
    """
    searched = on_plain_arrays(func)
    visited: list[Any] = []

    def watched(x: Any) -> Any:
        visited.append(np.array(x))
        del visited[: -n_estimates if n_estimates else None]
        return searched(x)

    limits = joined(a), joined(b)
    options = {"n_estimates": n_estimates, "n_points": n_points, "qrng": qrng, "log": log}
    found = scipy.integrate.qmc_quad(watched, *plain(limits), **options)
    if not (searched.found or any_handle(limits)):
        return found
    low, high = np.broadcast_arrays(*(np.atleast_1d(each) for each in limits))
    if log or visited[-1].ndim < 2 or np.any(low == high):
        raise UnsupportedArgumentError(
            "qmc_quad: with handles, log= is to be False, the function one of several points at "
            "once, x of shape (d, n), and no limit equal to the other; pass .data of handles"
        )
    first, last = (plain(each)[:, None] for each in (low, high))
    volume = np.prod(high - low)
    estimates = []
    for x in visited:
        share = (x - first) / (last - first)
        values = joined(func(low[:, None] + (high - low)[:, None] * share))
        estimates.append(np.sum(values) * volume / n_points)
    several = np.stack(estimates)
    error = np.std(several, ddof=1) / n_estimates**0.5
    return type(found)(
        valued(np.mean(several), found.integral), valued(error, found.standard_error)
    )
