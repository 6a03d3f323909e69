"""Calls of compiled functions, for as many elements at once as there are functions for."""

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from tape_ad.programs.engines.native.codegen.notation import element_type, shuffle_mask, vector_type

__all__ = ["Library", "call", "call_of_library"]

WIDTHS = (2, 4, 8, 16)


class Library(Protocol):
    """Where compiled functions of vectors and of single elements are found."""

    @property
    def convention(self) -> str:
        """Say how functions of vectors are called; mostly nothing."""

    def vector_symbol(self, name: str, dtype: Any, lanes: int, /) -> str | None:
        """Give the symbol of a function that takes so many elements at once."""

    def __hash__(self) -> int: ...

    def scalar_symbol(self, name: str, dtype: Any, /) -> str | None:
        """Give the symbol of a function of single elements."""


class Writer(Protocol):
    """What writes instructions: `IRBuilder`."""

    lanes: int
    library: Library
    declarations: dict[str, str]

    def emit(self, instruction: str) -> str:
        """Write an instruction, and give its result a name."""


def call(writer: Writer, name: str, kind: str, kinds: Sequence[str], names: Sequence[str]) -> str:
    """Call a function.

    Parameters
    ----------
    writer : Writer
    name : str
    kind : str
        The result's type, with the convention before it, if there is one.
    kinds, names : sequence of str
        The operands' types, and the operands.

    Returns
    -------
    str
        The result's name.
    """
    if name not in writer.declarations:
        writer.declarations[name] = f"declare {kind} {name}({', '.join(kinds)})"
    given = ", ".join([f"{each} {x}" for each, x in zip(kinds, names, strict=True)])
    return writer.emit(f"call {kind} {name}({given})")


def call_of_library(writer: Writer, name: str, dtype: np.dtype[Any], args: Sequence[str]) -> str:
    """Call a function of the library; in parts, where it takes fewer elements at once.

    Parameters
    ----------
    writer : Writer
    name : str
        As C has it: ``exp``, ``atan2``, also for single precision.
    dtype : dtype
    args : sequence of str
        Floats of that dtype.

    Returns
    -------
    str
        The result's name.

    Raises
    ------
    LookupError
        The library has no such function.
    """
    width = writer.lanes
    while width > 1 and not writer.library.vector_symbol(name, dtype, width):
        width //= 2
    if width == 1 and not writer.library.scalar_symbol(name, dtype):
        return single_in_a_vector(writer, name, dtype, args)
    found = []
    for start in range(0, writer.lanes, width):
        parts = [part(writer, x, dtype, start, width) for x in args]
        found.append(call_at_once(writer, name, dtype, width, parts))
    return joined(writer, found, dtype, width)


def call_at_once(
    writer: Writer, name: str, dtype: np.dtype[Any], width: int, args: Sequence[str]
) -> str:
    """Call the function that takes so many elements."""
    kind, library = vector_type(element_type(dtype), width), writer.library
    if width == 1:
        symbol, how = library.scalar_symbol(name, dtype), kind
    else:
        symbol, how = library.vector_symbol(name, dtype, width), f"{library.convention} {kind}"
    return call(writer, f"@{symbol}", how, [kind] * len(args), args)


def single_in_a_vector(writer: Writer, name: str, dtype: np.dtype[Any], args: Sequence[str]) -> str:
    """Call a function of a single element that the library has for vectors alone."""
    element = element_type(dtype)
    for width in WIDTHS:
        if writer.lanes == 1 and writer.library.vector_symbol(name, dtype, width):
            kind = vector_type(element, width)
            wide = [
                writer.emit(f"insertelement {kind} zeroinitializer, {element} {x}, i32 0")
                for x in args
            ]
            found = call_at_once(writer, name, dtype, width, wide)
            return writer.emit(f"extractelement {kind} {found}, i32 0")
    raise LookupError(f"the library has no {name} of {dtype}")


def part(writer: Writer, x: str, dtype: np.dtype[Any], start: int, width: int) -> str:
    """Take some of a vector's elements."""
    if width == writer.lanes:
        return x
    whole = vector_type(element_type(dtype), writer.lanes)
    if width == 1:
        return writer.emit(f"extractelement {whole} {x}, i32 {start}")
    return writer.emit(
        f"shufflevector {whole} {x}, {whole} poison, {shuffle_mask(start, start + width)}"
    )


def joined(writer: Writer, parts: Sequence[str], dtype: np.dtype[Any], width: int) -> str:
    """Make one vector of several."""
    if len(parts) == 1:
        return parts[0]
    element = element_type(dtype)
    if width == 1:
        whole, found = vector_type(element, writer.lanes), "poison"
        for i, one in enumerate(parts):
            found = writer.emit(f"insertelement {whole} {found}, {element} {one}, i32 {i}")
        return found
    kind, every = vector_type(element, width), shuffle_mask(0, 2 * width)
    pairs = zip(parts[::2], parts[1::2], strict=True)
    wider = [writer.emit(f"shufflevector {kind} {a}, {kind} {b}, {every}") for a, b in pairs]
    return joined(writer, wider, dtype, 2 * width)
