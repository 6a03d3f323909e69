"""The few words that many tests are written in."""

from collections.abc import Callable
from typing import Any

import numpy as np

import tape_ad as ta
from tape_ad.errors import TapeError

__all__ = ["X", "Y", "derivative", "gradient", "gradients_of", "handle", "told"]

X = np.array([[0.5, -1.5, 2.0], [3.0, 0.25, -0.75]])
Y = np.array([[1.5, 2.0, 0.5], [-1.0, 3.0, 2.0]])


def handle(data: Any = X, within: ta.ComputationRecord | None = None) -> Any:
    """Make a leaf of a record of its own; "any", as NumPy's types do not know handles."""
    return ta.ComputationRecord(within=within).tensor(data)


def gradients_of(function: Callable[..., Any], *values: Any) -> list[Any]:
    """Differentiate the real part of the sum of a function with respect to each operand."""
    record = ta.ComputationRecord()
    handles = [record.tensor(value) for value in values]
    total: Any = np.sum(np.real(function(*handles)))
    return list(total.grad().wrt(handles))


def gradient(function: Callable[[Any], Any], value: Any) -> Any:
    """Differentiate the real part of the sum of a function of one operand."""
    return gradients_of(function, value)[0]


def derivative(
    function: Callable[[Any], Any], at: Any, within: ta.ComputationRecord | None = None
) -> Any:
    """Differentiate a scalar function, which may be constant, within a record."""
    rec: Any = ta.ComputationRecord(within=within)
    x = rec.tensor(at)
    y = function(x)
    if not isinstance(y, ta.Tensor) or y.record is not rec:
        return 0.0
    return y.grad().wrt(x)


def told(error: BaseException) -> str:
    """Give what an error of ours says, before which a release of SciPy may put one of its own."""
    return str(error if isinstance(error, TapeError) else error.__cause__)
