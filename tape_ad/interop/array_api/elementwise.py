"""Functions of each element by itself."""

from typing import Any

import numpy as np

from tape_ad.interop.array_api.wrapping import binary, gives_handles, unary

# The names that the standard has, which NumPy has too

UNARY = (
    *("abs", "acos", "acosh", "asin", "asinh", "atan", "atanh", "bitwise_invert", "conj", "cos"),
    *("cosh", "exp", "expm1", "imag", "isfinite", "isinf", "isnan", "log", "log10", "log1p"),
    *("log2", "logical_not", "negative", "positive", "real", "reciprocal", "round", "sign"),
    *("signbit", "sin", "sinh", "sqrt", "square", "tan", "tanh"),
)
BINARY = (
    *("add", "atan2", "bitwise_and", "bitwise_left_shift", "bitwise_or", "bitwise_right_shift"),
    *("bitwise_xor", "copysign", "divide", "equal", "floor_divide", "greater", "greater_equal"),
    *("hypot", "less", "less_equal", "logaddexp", "logical_and", "logical_or", "logical_xor"),
    *("maximum", "minimum", "multiply", "nextafter", "not_equal", "pow", "remainder", "subtract"),
)
ROUNDING = ("ceil", "floor", "trunc")


def rounding(name: str, ufunc: np.ufunc) -> Any:
    """Make a function that leaves integers as they are, which NumPy 2.0 makes floats of."""

    def rounded(x: Any) -> Any:
        return np.copy(x) if np.result_type(x).kind in "biu" else ufunc(x)

    rounded.__name__ = name
    return unary(name, rounded)


@gives_handles
def clip(
    x: Any,
    /,
    min: Any = None,  # noqa: A002 - the standard's name
    max: Any = None,  # noqa: A002 - the standard's name
) -> Any:
    """Limit the values of an array, which keeps its dtype; see ``clip`` in the standard."""
    dtype = x.dtype
    bounds = [bound_of(dtype, bound) for bound in (min, max)]
    shape = np.broadcast_shapes(x.shape, *(np.shape(each) for each in bounds if each is not None))
    x = np.broadcast_to(x, shape) if shape != x.shape else x
    out = np.clip(x, *bounds)
    return out if out.dtype == dtype else out.astype(dtype)


def bound_of(dtype: Any, bound: Any) -> Any:
    """Give a bound that an integer array can have: beyond its range there is none."""
    if bound is None or dtype.kind not in "iu" or not isinstance(bound, (int, float)):
        return bound
    info = np.iinfo(dtype)
    return np.minimum(np.maximum(bound, info.min), info.max)


FUNCTIONS: dict[str, Any] = {
    **{name: unary(name, vars(np)[name]) for name in UNARY},
    **{name: binary(name, vars(np)[name]) for name in BINARY},
    **{name: rounding(name, vars(np)[name]) for name in ROUNDING},
    "clip": clip,
}
