"""What random calls are known to find, and is not asked of them again."""

from collections.abc import Callable

import numpy as np
import scipy.linalg
from attrs import frozen

from tape_ad.trees import flatten
from tests.fuzz.drawing import Call
from tests.fuzz.problems import Problem

__all__ = ["KNOWN", "is_known"]


@frozen
class Known:
    """A kind of problem with some functions which is none, or not one of ours.

    Attributes
    ----------
    kinds : tuple of str
        As in `Problem`.
    reason : str
    when : callable
        Tells whether a call is one of those that it is about.
    """

    kinds: tuple[str, ...]
    reason: str
    when: Callable[[Call], bool] = lambda call: True


def is_empty(call: Call) -> bool:
    return any(isinstance(leaf, np.ndarray) and not leaf.size for leaf in flatten(call.args))


def is_on_branch_cut(call: Call) -> bool:
    values = np.linalg.eigvals(np.asarray(call.args[0], complex))
    return bool(np.any((values.real < 0) & (np.abs(values.imag) < 1e-12 * np.abs(values))))


def is_in_disorder(call: Call) -> bool:
    knots, period = np.ravel(call.args[1]), call.kwargs.get("period")
    if period:
        knots = np.sort(knots % abs(period))
    return bool(np.any(np.diff(knots) <= 0))


def is_of_short_floats(call: Call) -> bool:
    leaves = flatten((call.args, call.kwargs))
    return any(getattr(leaf, "dtype", None) in (np.float16, np.float32) for leaf in leaves)


def is_singular(call: Call) -> bool:
    s = scipy.linalg.svdvals(np.asarray(call.args[0], complex))
    return bool(s.size and s[-1] <= 1e-10 * max(s[0], 1))


EDGES = Known(("difference", "second"), "edges made from the sample count as constants")
VECTORS = Known(
    ("difference", "second"), "vectors are free in a factor, and in a null space in a rotation"
)

KNOWN: dict[str, tuple[Known, ...]] = {
    "np.histogram_bin_edges": (EDGES,),
    "np.histogram": (
        EDGES,
        Known(
            ("value", "single"),
            "we add weights up in double precision, and NumPy between uneven bins in their own",
            is_of_short_floats,
        ),
    ),
    "np.interp": (
        Known(
            ("value", "difference", "second", "single"),
            "the knots must increase, and NumPy does not look",
            is_in_disorder,
        ),
    ),
    "np.histogram2d": (EDGES,),
    "np.histogramdd": (EDGES,),
    "np.nextafter": (Known(("difference",), "counts as piecewise constant"),),
    "np.linalg.eig": (VECTORS,),
    "np.linalg.eigh": (VECTORS,),
    "np.linalg.svd": (VECTORS,),
    "np.partition": (Known(("value",), "the order beside the chosen element is open"),),
    "np.unique": (
        Known(("value",), "the order is open", lambda call: call.kwargs.get("sorted") is not True),
    ),
    "np.trim_zeros": (
        Known(
            ("silent", "value", "kind", "structure"),
            "NumPy before 2.2 trims along one axis alone",
            lambda call: (
                np.ndim(call.args[0]) != 1 and np.lib.NumpyVersion(np.__version__) < "2.2.0"
            ),
        ),
    ),
    "np.empty_like": (Known(("value",), "whatever is in the memory"),),
    **dict.fromkeys(
        ("np.fft.hfft", "np.fft.irfft", "np.fft.irfft2", "np.fft.irfftn"),
        (Known(("value",), "NumPy gives whatever is in the memory", is_empty),),
    ),
    **dict.fromkeys(
        ("np.intersect1d", "np.setdiff1d", "np.setxor1d", "np.isin"),
        (
            Known(
                ("raises", "value", "structure", "kind"),
                "the elements are said to be distinct and are not",
                lambda call: call.kwargs.get("assume_unique", False),
            ),
        ),
    ),
    **dict.fromkeys(
        ("np.linalg.norm", "np.linalg.vector_norm", "np.linalg.matrix_norm"),
        (
            Known(
                ("silent",),
                "NumPy takes np.True_ for some orders and not for others; we for all",
                lambda call: call.kwargs.get("keepdims") is np.True_,
            ),
        ),
    ),
    "np.can_cast": (Known(("silent",), "NumPy finds the dtype of a handle before any dispatch"),),
    "tape_ad.linalg.cho_factor": (Known(("value",), "SciPy leaves the other triangle as it is"),),
    "tape_ad.linalg.logm": (
        Known(
            ("adjoint", "difference", "second", "stack"),
            "on the branch cut rounding decides which side a value is on",
            is_on_branch_cut,
        ),
    ),
    "tape_ad.linalg.sqrtm": (
        Known(
            ("adjoint", "difference", "second", "stack"),
            "the derivative at a singular matrix is infinite",
            is_singular,
        ),
    ),
}
"""For functions by the names that users write, what is known of them."""


def is_known(call: Call, problem: Problem) -> bool:
    """Tell whether a problem with a call is a known one."""
    entries = KNOWN.get(call.name.partition(" ")[0], ())
    return any(problem.kind in known.kinds and known.when(call) for known in entries)
