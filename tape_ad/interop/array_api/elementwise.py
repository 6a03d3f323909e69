"""Functions of each element by itself."""

from typing import Any

import numpy as np

from tape_ad.interop.array_api.wrapping import binary, gives_handles, unary

UNARY = {
    "abs": np.abs,
    "acos": np.arccos,
    "acosh": np.arccosh,
    "asin": np.arcsin,
    "asinh": np.arcsinh,
    "atan": np.arctan,
    "atanh": np.arctanh,
    "bitwise_invert": np.invert,
    "conj": np.conjugate,
    "cos": np.cos,
    "cosh": np.cosh,
    "exp": np.exp,
    "expm1": np.expm1,
    "imag": np.imag,
    "isfinite": np.isfinite,
    "isinf": np.isinf,
    "isnan": np.isnan,
    "log": np.log,
    "log10": np.log10,
    "log1p": np.log1p,
    "log2": np.log2,
    "logical_not": np.logical_not,
    "negative": np.negative,
    "positive": np.positive,
    "real": np.real,
    "reciprocal": np.reciprocal,
    "round": np.round,
    "sign": np.sign,
    "signbit": np.signbit,
    "sin": np.sin,
    "sinh": np.sinh,
    "sqrt": np.sqrt,
    "square": np.square,
    "tan": np.tan,
    "tanh": np.tanh,
}

BINARY = {
    "add": np.add,
    "atan2": np.arctan2,
    "bitwise_and": np.bitwise_and,
    "bitwise_left_shift": np.left_shift,
    "bitwise_or": np.bitwise_or,
    "bitwise_right_shift": np.right_shift,
    "bitwise_xor": np.bitwise_xor,
    "copysign": np.copysign,
    "divide": np.divide,
    "equal": np.equal,
    "floor_divide": np.floor_divide,
    "greater": np.greater,
    "greater_equal": np.greater_equal,
    "hypot": np.hypot,
    "less": np.less,
    "less_equal": np.less_equal,
    "logaddexp": np.logaddexp,
    "logical_and": np.logical_and,
    "logical_or": np.logical_or,
    "logical_xor": np.logical_xor,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "multiply": np.multiply,
    "nextafter": np.nextafter,
    "not_equal": np.not_equal,
    "pow": np.power,
    "remainder": np.remainder,
    "subtract": np.subtract,
}

ROUNDING = {"ceil": np.ceil, "floor": np.floor, "trunc": np.trunc}


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
    **{name: unary(name, ufunc) for name, ufunc in UNARY.items()},
    **{name: binary(name, ufunc) for name, ufunc in BINARY.items()},
    **{name: rounding(name, ufunc) for name, ufunc in ROUNDING.items()},
    "clip": clip,
}
