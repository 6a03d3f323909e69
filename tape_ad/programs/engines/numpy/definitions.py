"""Objects written as Python that makes them again, to the bit, with NumPy alone."""

import base64
import builtins
import importlib
import math
import textwrap
from collections.abc import Callable
from typing import Any

import numpy as np

from tape_ad.base.errors import CaptureError

__all__ = ["definition", "home_of", "refusal"]

FEW = 24
"""Up to how many elements an array is written as a list."""

HOMES = ("numpy", "numpy.linalg", "numpy.fft", "numpy.lib.stride_tricks", "operator", "types")
"""The modules in which functions are looked for first."""


def definition(thing: Any, what: str) -> tuple[str, str]:
    """Write an expression that makes an object again, and the module that it needs.

    Parameters
    ----------
    thing : any
        A function of a public module, an array, a NumPy scalar, a dtype or a number.
    what : str
        What it is used in, for an error.

    Raises
    ------
    CaptureError
        When it cannot be written.
    """
    for kind, text_of in DISPLAYS.items():
        if isinstance(thing, kind):
            return text_of(thing, what), "numpy" if kind.__module__ == "numpy" else ""
    owner = getattr(thing, "__self__", None)
    if isinstance(owner, np.ufunc):
        text, module = definition(owner, what)
        return f"{text}.{thing.__name__}", module
    home = home_of(thing)
    if home is None:
        raise refusal(what, f"{thing!r} is no NumPy function, array or number")
    module, name = home
    of_numpy = module.startswith("numpy")
    path = f"np{module[5:]}." if of_numpy else f"{module}." * (module != "builtins")
    return path + name, module if path else ""


def refusal(what: str, why: str) -> CaptureError:
    """Make an error for a program that cannot be written."""
    return CaptureError(
        f"{what} cannot be written as NumPy alone: {why}; write the function with NumPy's own "
        "functions, or ship tape_ad with it"
    )


def home_of(thing: Any) -> tuple[str, str] | None:
    """Find the public module that a function or type belongs to, and its name there."""
    name = getattr(thing, "__name__", None)
    if not isinstance(name, str):
        return None
    if getattr(builtins, name, None) is thing:
        return "builtins", name
    module = getattr(thing, "__module__", None) or ""
    for home in (*HOMES, module, module.rpartition(".")[0], "scipy.special", "scipy.linalg"):
        if home and not home.startswith(("tape_ad", "__main__")) and is_public(home):
            try:
                found = importlib.import_module(home)
            except ImportError:
                continue
            if getattr(found, name, None) is thing:
                return home, name
    return None


def is_public(module: str) -> bool:
    """Tell whether the modules' names say that users may import it."""
    return (
        module.split(".", maxsplit=1)[0] in {"numpy", "scipy", "operator", "math", "types"}
        and "._" not in module
    )


def float_text(number: float) -> str:
    """Write a Python number that may be nan or infinite."""
    return repr(number) if math.isfinite(number) else f"float({str(number)!r})"


def scalar_text(scalar: Any, what: str = "") -> str:
    """Write a NumPy scalar."""
    if are_written_exactly(np.asarray(scalar)):
        return f"np.{type(scalar).__name__}({scalar.item()!r})"
    return f"np.frombuffer(bytes.fromhex({scalar.tobytes().hex()!r}), {scalar.dtype.str!r})[0]"


def are_written_exactly(array: Any) -> bool:
    """Tell whether elements come back as they were when Python's numbers for them are written."""
    if array.dtype.kind in "iub":
        return True
    return array.dtype.kind == "f" and array.dtype.itemsize <= 8 and bool(np.isfinite(array).all())


def array_text(array: Any, what: str) -> str:
    """Write an array in its own layout."""
    if array.dtype.hasobject:
        raise refusal(what, "it uses an array of objects")
    shape, dtype, in_order = array.shape, array.dtype.str, array.flags.c_contiguous
    if array.dtype.names:
        raise refusal(what, "it uses an array with fields")
    if array.size == 0:
        return f"np.zeros({shape}, {dtype!r})"
    if in_order and array.size <= FEW and are_written_exactly(array):
        return f"np.array({array.tolist()!r}, {dtype!r})"
    if in_order and array.tobytes() == array.reshape(-1)[:1].tobytes() * array.size:
        return f"np.full({shape}, {scalar_text(array.reshape(-1)[0])}, {dtype!r})"
    if array.size > 0 and not any(array.strides):
        one = array_text(array.reshape(-1)[:1].copy(), what)
        return f"np.broadcast_to({one}, {shape})"
    offset, data = memory_text(array)
    where = "" if in_order else f", {offset}, {array.strides}"
    return f"np.ndarray({shape}, {dtype!r}, base64.b64decode({data}){where})"


def memory_text(array: Any) -> tuple[int, str]:
    """Write the bytes between an array's ends, and say where in them its first element is."""
    low, high = np.lib.array_utils.byte_bounds(array)
    first = array.__array_interface__["data"][0]
    memory = np.zeros(high - low, np.uint8)
    np.ndarray(array.shape, array.dtype, memory, first - low, array.strides)[...] = array
    text = base64.b64encode(memory.tobytes()).decode()
    lines = textwrap.wrap(text, 88) or [""]
    return first - low, "\n    " + "\n    ".join(repr(line) for line in lines) + "\n"


DISPLAYS: dict[Any, Callable[[Any, str], str]] = {
    np.ndarray: array_text,
    np.generic: scalar_text,
    np.dtype: lambda dtype, what: f"np.dtype({dtype.descr if dtype.names else dtype.str!r})",
    float: lambda number, what: float_text(number),
    complex: lambda number, what: f"complex({float_text(number.real)}, {float_text(number.imag)})",
}
"""How objects of a kind are written."""
