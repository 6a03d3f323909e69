"""What the parameters of NumPy's functions stand for, by their names."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

__all__ = ["OPERANDS", "OPTIONS", "SPECIAL_MODES"]

Draw = Callable[[Any], Any]


def first(d: Any) -> Any:
    return d.array(d.shape)


def related(d: Any) -> Any:
    return d.array()


def several(d: Any) -> Any:
    return d.arrays()


def vector(d: Any) -> Any:
    return d.array((d.whole(0, 5),))


def truths(d: Any) -> Any:
    return d.values(d.related_shape(), "?")


def places(d: Any) -> Any:
    n = max(d.shape[0] if d.shape else 1, 1)
    return d.rng.integers(-n, n, d.one_of([(), (2,), (3,), (2, 2), (0,)]))


def increasing(d: Any) -> Any:
    knots = d.array()
    return np.sort(knots) if isinstance(knots, np.ndarray) and knots.ndim else knots


def boundaries(d: Any) -> Any:
    return d.one_of([1, 2, 3, [1], [1, 2], [0, 2, 2], np.array([1, -1])])


def axis(d: Any) -> Any:
    choice = d.rng.random()
    if choice < 0.25:
        return None
    if choice < 0.75:
        return d.axis()
    if choice < 0.85:
        return np.int64(d.axis())
    return d.axes(d.whole(0, max(len(d.shape), 1)))


def one_axis(d: Any) -> Any:
    return d.axis()


def truth(d: Any) -> Any:
    return d.one_of([True, False, np.True_])


def dtype(d: Any) -> Any:
    return d.one_of(["f8", "f4", "c16", "i8", np.float64, np.complex128, None, ">f8", "f2"])


def number(d: Any) -> Any:
    return d.one_of([0, 1, 2.5, -1.0, np.float64(0.5), np.float32(1.5), 1j, np.array(0.75)])


def whole(low: int, high: int) -> Draw:
    return lambda d: d.whole(low, high)


def among(*choices: Any) -> Draw:
    return lambda d: d.one_of(choices)


def probabilities(d: Any) -> Any:
    q = d.rng.uniform(0, 1, d.one_of([(), (3,), (2, 2), (0,)]))
    return q.item() if q.ndim == 0 and d.chance(0.5) else q


def shape(d: Any) -> Any:
    size = int(np.prod(d.shape))
    return d.one_of(
        [(-1,), size, d.shape[::-1], (1, *d.shape), (*d.shape, 1), (2, -1), (3, *d.shape)]
    )


def pad_width(d: Any) -> Any:
    return d.one_of([0, 1, 2, (1, 2), ((1, 0),), [(0, 1)] * len(d.shape), [(2, 3)] * len(d.shape)])


def permutation(d: Any) -> Any:
    return d.one_of([None, d.axes(len(d.shape)), list(d.axes(len(d.shape)))])


OPERANDS: Mapping[str, Draw] = {
    **dict.fromkeys(("a", "x", "array", "arr", "m", "v", "ary", "x1", "a1", "A"), first),
    **dict.fromkeys(("filt", "z", "val", "p", "ar1", "ar", "c", "f", "y", "element"), first),
    **dict.fromkeys(("x2", "b", "a2", "ar2", "test_elements", "values", "fp"), related),
    "xp": increasing,  # NumPy does not look whether it is
    **dict.fromkeys(("arrays", "tup", "arrs", "choices", "choicelist"), several),
    **dict.fromkeys(("start", "stop"), related),
    **dict.fromkeys(("c_or_r", "r", "weights"), vector),
    "condition": truths,
    "condlist": lambda d: [truths(d), truths(d)],
    "indices": places,
    "n": related,
    "k": related,
    "d": whole(1, 3),
}
"""Arrays that a function is about."""

OPTIONS: Mapping[str, Draw] = {
    "axis": axis,
    **dict.fromkeys(
        ("axis1", "axis2", "axisa", "axisb", "axisc", "source", "destination"), one_axis
    ),
    **dict.fromkeys(("keepdims", "bias", "rowvar", "increasing", "retstep", "endpoint"), truth),
    **dict.fromkeys(("full_matrices", "compute_uv", "hermitian", "upper", "lower"), truth),
    "copy": truth,
    **dict.fromkeys(("return_index", "return_inverse", "return_counts", "sorted"), truth),
    **dict.fromkeys(("equal_nan", "assume_unique", "returned", "invert", "sparse", "full"), truth),
    **dict.fromkeys(("include_initial", "stable", "density", "unit_diagonal", "right"), truth),
    "axes": permutation,
    "dtype": dtype,
    "order": among("C", "F", "A", "K", None),
    "initial": number,
    "where": truths,
    "ddof": among(0, 1, 0.5),
    "correction": among(0, 1, 2.5),
    "mean": related,
    "n": whole(-1, 4),
    "s": among(None, (3,), (2, 4), 3),
    "N": whole(0, 4),
    "k": whole(-2, 2),
    "offset": whole(-2, 2),
    "norm": among(None, "backward", "ortho", "forward"),
    "ord": among(None, 1, 2, -1, 0, 3.5, np.inf, -np.inf, "fro", "nuc"),
    "q": probabilities,
    "method": among("linear", "lower", "higher", "midpoint", "nearest", "hazen", "weibull"),
    "kth": whole(-1, 2),
    "kind": among(None, "stable", "quicksort"),
    "shift": among(0, 1, -2, 7, (1, 2), np.int64(1)),
    "repeats": among(0, 1, 2, [1, 2, 0], np.array([2])),
    "reps": among(0, 1, 2, (2, 1), (1, 2, 2), ()),
    "indices_or_sections": boundaries,
    "obj": among(0, -1, 1, [0, 1], slice(0, 2), slice(None, None, 2), np.array([0])),
    **dict.fromkeys(("shape", "newshape", "new_shape"), shape),
    "pad_width": pad_width,
    "mode": among("raise", "wrap", "clip"),
    "num": whole(0, 5),
    "base": number,
    "left": number,
    "right_value": number,
    "period": among(None, 2.0, 6.28),
    "discont": among(None, 1.0),
    "dx": among(1.0, 0.5, 2),
    "edge_order": among(1, 2),
    **dict.fromkeys(("prepend", "append", "to_end", "to_begin"), related),
    "deg": among(0, 1, 2, True),
    "decimals": whole(-1, 2),
    **dict.fromkeys(("min", "max", "a_min", "a_max"), number),
    **dict.fromkeys(("nan", "posinf", "neginf", "fill_value"), number),
    "weights": related,
    "aweights": vector,
    "fweights": among(None, np.array([1, 2, 1])),
    "bins": among(3, [0.0, 0.5, 1.0], "auto"),
    "range": among(None, (0.0, 1.0)),
    "minlength": whole(0, 4),
    "side": among("left", "right"),
    "trim": among("fb", "f", "b"),
    "UPLO": among("L", "U"),
    "rcond": among(None, 1e-10),
    "rtol": among(None, 1e-8),
    "tol": among(None, 1e-8),
    "optimize": among(False, True, "greedy"),
    "indexing": among("xy", "ij"),
    "ind": whole(1, 2),
    "constant_values": number,
    "deg_": whole(0, 2),
}
"""What else may be said to a function."""

SPECIAL_MODES: Mapping[str, tuple[str, ...]] = {
    "pad": ("constant", "edge", "reflect", "symmetric", "wrap", "linear_ramp", "mean", "maximum"),
    "convolve": ("full", "same", "valid"),
    "correlate": ("full", "same", "valid"),
    "qr": ("reduced", "complete", "r", "raw"),
}
"""The modes of functions for which they are other words than those of `take`."""
