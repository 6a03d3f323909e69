"""The factors of `scipy.linalg.lu`, taken out of those that are packed into one array."""

from typing import Any

import numpy as np

from tape_ad.extend import facts
from tape_ad.extend.arrays import Array, as_array
from tape_ad.extend.rules import Constant, Entry, overridable
from tape_ad.scipy.counterparts import scipy_function, with_scipy_value
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.linalg.basics import MODULE
from tape_ad.scipy.linalg.lu_factors import lu_factor
from tape_ad.scipy.linalg.solvers import solve_triangular

__all__ = ["TRIANGULAR_FACTORS", "lu", "row_order"]

lu = scipy_function(scipy.linalg.lu, MODULE, "a")


def factors(
    a: Array, permute_l: bool, overwrite_a: bool, check_finite: bool, p_indices: bool
) -> Any:
    """Factorise matrices; how their rows are ordered is constant."""
    a = as_array(a)
    *stack, m, n = a.shape
    if a.size == 0:
        return scipy.linalg.lu(np.zeros(a.shape, a.dtype), permute_l, p_indices=p_indices)
    flat = a.reshape((-1, m, n))
    found = [of_one(flat[i]) for i in range(flat.shape[0])]
    rows = np.stack([each[0] for each in found])
    lower, upper = (
        np.stack(each).reshape((*stack, *each[0].shape))
        for each in list(zip(*found, strict=True))[1:]
    )
    if permute_l:
        return np.take_along_axis(lower, rows.reshape((*stack, m, 1)), axis=-2), upper
    if p_indices:
        return rows.reshape((*stack, m)), lower, upper
    return (
        np.take(np.eye(m, dtype=a.real.dtype), rows, axis=0).reshape((*stack, m, m)),
        lower,
        upper,
    )


def of_one(a: Array) -> tuple[Any, Array, Array]:
    """Factorise a matrix by its first square, once its rows are in order."""
    rows = row_order(a)
    a = a[np.argsort(rows)]
    k = min(a.shape)
    packed, _ = lu_factor(a[:k, :k])
    lower, upper = np.tril(packed, -1) + np.eye(k, dtype=packed.dtype), np.triu(packed)
    if a.shape[0] > k:
        below = solve_triangular(upper, np.matrix_transpose(a[k:]), trans="T")
        lower = np.concatenate([lower, np.matrix_transpose(below)])
    if a.shape[1] > k:
        beside = solve_triangular(lower, a[:, k:], lower=True, unit_diagonal=True)
        upper = np.concatenate([upper, beside], axis=1)
    return rows, lower, upper


@overridable
def row_order(a: Array) -> Array:
    """Find which row of the lower factor each row of the matrix is made by.

    Parameters
    ----------
    a : array, shape (m, n)

    Returns
    -------
    array of int, shape (m,)
    """
    return scipy.linalg.lu(a, p_indices=True)[0]


TRIANGULAR_FACTORS: dict[Any, Entry] = {
    lu: with_scipy_value(lu, factors),
    row_order: Constant(facts.cores("(m,n)->(m)")),
}
