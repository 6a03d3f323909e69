"""What functions of samples take and give where handles are among their arguments."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from attrs import frozen

from tape_ad.extend.arrays import Array, as_array, joined, primal


def as_one(tree: Any) -> Any:
    """Stack what stands in a list or tuple, if there are handles in it and it makes an array."""
    try:
        return joined(tree)
    except ValueError:  # of shapes that differ, which SciPy's function then has to take
        return tree


def as_told(x: Any, value: Any) -> Any:
    """Give what was computed here the value that SciPy gives, where its constants are rounded."""
    own = primal(x)
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
