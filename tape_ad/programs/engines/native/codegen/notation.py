"""How LLVM's text writes types, numbers and instructions."""

import struct
from typing import Any

import numpy as np

__all__ = [
    "COMPARISONS",
    "FAMILY",
    "INSTRUCTIONS",
    "element_type",
    "literal",
    "part_of",
    "shuffle_mask",
    "vector_type",
    "width_of",
]

FLOAT_TYPES = {4: "float", 8: "double"}

INSTRUCTIONS: dict[str, tuple[str, str, str]] = {
    "+": ("fadd", "add", "add"),
    "-": ("fsub", "sub", "sub"),
    "*": ("fmul", "mul", "mul"),
    "/": ("fdiv", "sdiv", "udiv"),
    "%": ("frem", "srem", "urem"),
    "&": ("", "and", "and"),
    "|": ("", "or", "or"),
    "^": ("", "xor", "xor"),
    "<<": ("", "shl", "shl"),
    ">>": ("", "ashr", "lshr"),
    "<": ("fcmp olt", "icmp slt", "icmp ult"),
    "<=": ("fcmp ole", "icmp sle", "icmp ule"),
    ">": ("fcmp ogt", "icmp sgt", "icmp ugt"),
    ">=": ("fcmp oge", "icmp sge", "icmp uge"),
    "==": ("fcmp oeq", "icmp eq", "icmp eq"),
    "!=": ("fcmp une", "icmp ne", "icmp ne"),
}
"""What an operator is for floats, for signed integers, and for unsigned ones and bools."""

COMPARISONS = frozenset({"<", "<=", ">", ">=", "==", "!="})
FAMILY = {"f": 0, "i": 1, "u": 2, "b": 2}


def literal(value: Any, dtype: np.dtype[Any]) -> str:
    """Write a number as LLVM does."""
    if dtype.kind == "b":
        return "true" if value else "false"
    if dtype.kind == "f":  # by its bits; those of the double, in single precision too
        return f"0x{struct.unpack('<Q', struct.pack('<d', dtype.type(value)))[0]:016X}"
    return str(int(value))


def element_type(dtype: np.dtype[Any]) -> str:
    """Write the type of one element, as a value."""
    return FLOAT_TYPES[dtype.itemsize] if dtype.kind == "f" else f"i{width_of(dtype)}"


def width_of(dtype: np.dtype[Any]) -> int:
    """Count the bits of an element, as a value."""
    return 1 if dtype.kind == "b" else 8 * dtype.itemsize


def part_of(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Give the dtype of a complex number's parts."""
    return np.dtype(f"f{dtype.itemsize // 2}")


def vector_type(element: str, lanes: int) -> str:
    """Write the type of so many elements."""
    return element if lanes == 1 else f"<{lanes} x {element}>"


def shuffle_mask(start: int, stop: int) -> str:
    """Write which elements a shuffle takes."""
    return f"<{stop - start} x i32> <{', '.join(f'i32 {i}' for i in range(start, stop))}>"
