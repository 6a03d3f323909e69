"""Second derivatives of rows of the table on Dask arrays, where first derivatives are 0.

Of a choice among squares of ``f(x) - f(a)``, the gradient at ``a`` is 0, and the second derivative
is what first derivatives of ``f`` say.
"""

from collections.abc import Sequence
from typing import Any

import dask
import numpy as np

import tape_ad as ta
from tape_ad.errors import TapeError
from tests.interop.dask.outcomes import FAILING_LATER, in_chunks, never
from tests.rules.checks import close
from tests.rules.table import Case

__all__ = ["curvature"]

Array = Any


def real_outputs(case: Case, leaves: Sequence[Array]) -> list[Any]:
    """Call the row, and give the real parts of its outputs."""
    outs = [
        out for found in case.apply(leaves) for out in (found if type(found) is list else [found])
    ]
    return [np.real(out) for out in outs if getattr(out, "dtype", np.dtype("O")).kind in "fc"]


def chosen(value: Array) -> Array:
    """Choose some elements of an array."""
    return np.cos(np.arange(value.size)).reshape(value.shape) <= 0.3


def product(case: Case, leaves: list[Any], values: list[Array], vs: list[Array]) -> list[Any]:
    """Multiply the second derivative of the choice by vectors."""
    outer = ta.ComputationRecord()
    at = [outer.tensor(leaf) for leaf in leaves]
    inner = ta.ComputationRecord(within=outer)
    handles = [inner.tensor(each) for each in at]
    total: Any = sum(
        np.sum(np.where(chosen(value), (out - value) ** 2, 0.0)) / 2
        for out, value in zip(real_outputs(case, handles), values, strict=True)
    )
    slopes = total.grad().wrt(handles)
    along: Any = sum(
        np.sum(np.real(np.conjugate(v) * slope)) for slope, v in zip(slopes, vs, strict=True)
    )
    gradients: list[Any] = along.grad().wrt(at)
    return gradients


def expected_product(
    case: Case, leaves: list[Any], values: list[Array], vs: list[Array]
) -> list[Any]:
    """Compute it of first derivatives, of plain arrays."""

    def outputs(*each: Array) -> list[Any]:
        return real_outputs(case, each)

    _, changes = ta.jvp(outputs, tuple(leaves), tuple(vs))
    record = ta.ComputationRecord()
    handles = [record.tensor(leaf) for leaf in leaves]
    total: Any = sum(
        np.sum(out * np.where(chosen(value), change, 0.0))
        for out, value, change in zip(outputs(*handles), values, changes, strict=True)
    )
    gradients: list[Any] = total.grad().wrt(handles)
    return gradients


def curvature(case: Case) -> str:
    """Try a row: "right", "refused", or "none" where it has nothing to differentiate.

    Raises
    ------
    AssertionError
        When the second derivative is another one, of plain arrays or of Dask's.
    """
    leaves = case.leaves()
    vs = [np.cos(1 + np.arange(x.size)).reshape(x.shape).astype(x.dtype) for x in leaves]
    try:
        values = [np.asarray(out) for out in real_outputs(case, leaves)]
        expected = expected_product(case, leaves, values, vs)
        plain = product(case, leaves, values, vs)
    except (AttributeError, TapeError, ValueError):
        return "none"
    close(plain, expected, 1e-6)
    if repr(case) in FAILING_LATER:
        return "refused"
    try:
        with dask.config.set(scheduler=never):
            lazy = product(case, [in_chunks(leaf) for leaf in leaves], values, vs)
    except (TapeError, AttributeError, np.exceptions.AxisError):
        return "refused"
    close(dask.base.compute(*lazy, scheduler="synchronous"), expected, 1e-6)
    return "right"
