"""What random calls are known to find, and is not asked of them again."""

from collections.abc import Callable

import numpy as np
import scipy.linalg
from attrs import frozen

from tape_ad.base.trees import flatten
from tests.fuzz.drawing import IN_MODULES, ROWS_OF, Call
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


def is_complex(call: Call) -> bool:
    leaves = flatten((call.args, call.kwargs))
    return any(isinstance(each, complex) or np.iscomplexobj(each) for each in leaves)


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


def are_conjugate(call: Call) -> bool:
    roots = np.ravel(call.args[0])
    return is_complex(call) and np.array_equal(np.sort(roots), np.sort(roots.conj()))


EDGES = Known(("difference", "second"), "edges made from the sample count as constants")
TIES = Known(("difference", "second"), "its arguments are truth values, between which it jumps")
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
    "np.poly": (
        Known(
            ("difference", "second"),
            "NumPy gives the real parts of what conjugate roots make, and of no others nearby",
            are_conjugate,
        ),
    ),
    "np.linalg.eig": (VECTORS,),
    "np.linalg.eigh": (VECTORS,),
    "np.linalg.svd": (VECTORS,),
    "np.linalg.qr": (
        Known(
            ("difference", "second"),
            "the columns beside those of a tall matrix are free up to a rotation",
            lambda call: call.kwargs.get("mode") == "complete",
        ),
    ),
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
                ("raises", "silent", "value", "structure", "kind"),
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
    "tape_ad.scipy.linalg.expm_frechet": (
        Known(("value",), "the two ways in which SciPy computes it round differently"),
    ),
    "tape_ad.scipy.stats.circstd": (
        Known(("value", "adjoint", "single"), "a root of what rounding leaves"),
    ),
    **dict.fromkeys(
        (
            *(
                f"tape_ad.scipy.linalg.{name}"
                for name in ("eig", "eigh", "svd", "schur", "eig_banded")
            ),
            *(
                f"tape_ad.scipy.linalg.{name}"
                for name in ("qz", "ordqz", "null_space", "orth", "cossin")
            ),
            "tape_ad.scipy.linalg.orthogonal_procrustes",
            "tape_ad.scipy.spatial.procrustes",
        ),
        (VECTORS,),
    ),
    **dict.fromkeys(
        ("scipy.special.modfresnelp", "scipy.special.modfresnelm"),
        (Known(("difference", "second"), "SciPy's imaginary part is another number below 0"),),
    ),
    **dict.fromkeys(
        ("scipy.special.ncfdtrinc", "scipy.special.ncfdtridfn", "scipy.special.ncfdtridfd"),
        (Known(("difference", "second"), "SciPy looks for it to five digits or so"),),
    ),
    **dict.fromkeys(
        ("scipy.special.ncfdtr", "scipy.special.chndtr", "scipy.special.chndtridf"),
        (
            Known(
                ("difference", "second"),
                "SciPy before 1.16 sums to five digits or so, and looks for no small degrees",
                lambda call: np.lib.NumpyVersion(scipy.__version__) < "1.16.0",
            ),
        ),
    ),
    "tape_ad.scipy.linalg.rsf2csf": (
        Known(("difference", "second", "single"), "what it takes is triangular but for its blocks"),
    ),
    "tape_ad.scipy.linalg.subspace_angles": (
        Known(("difference", "second"), "spaces of many dimensions meet at an angle of 0"),
    ),
    **dict.fromkeys(
        (
            *(f"tape_ad.scipy.spatial.distance.{name}" for name in ("hamming", "jaccard", "dice")),
            *(
                f"tape_ad.scipy.spatial.distance.{name}"
                for name in ("rogerstanimoto", "russellrao")
            ),
            *(f"tape_ad.scipy.spatial.distance.{name}" for name in ("sokalsneath", "yule")),
        ),
        (TIES,),
    ),
    "tape_ad.scipy.linalg.logm": (
        Known(
            ("adjoint", "difference", "second", "stack"),
            "on the branch cut rounding decides which side a value is on",
            is_on_branch_cut,
        ),
    ),
    "tape_ad.scipy.linalg.sqrtm": (
        Known(
            ("adjoint", "difference", "second", "stack"),
            "the derivative at a singular matrix is infinite",
            is_singular,
        ),
    ),
}
"""For functions by the names that users write, what is known of them."""


def is_known(call: Call, problem: Problem) -> bool:
    """Tell whether a problem with a call is a known one.

    What SciPy's functions make of complex numbers where no row has them is theirs: some leave the
    imaginary part out, some square without a conjugate, as the release has it.
    """
    name = call.name.partition(" ")[0]
    rows = ROWS_OF[IN_MODULES[name]] if name in IN_MODULES else []
    if name in IN_MODULES and is_complex(call) and not any(row.complex for row in rows):
        return True
    entries = KNOWN.get(name, ())
    return any(problem.kind in known.kinds and known.when(call) for known in entries)
