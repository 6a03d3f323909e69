"""Small compiled loops: one function of contiguous arrays, element by element or by vectors."""

import ctypes
import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from attrs import frozen

from tape_ad.programs.engines.native.codegen.ir_builder import (
    ComplexVector,
    IRBuilder,
    VectorValue,
    element_type,
    vector_type,
)
from tape_ad.programs.engines.native.codegen.vectors import LIBMVEC, addresses
from tape_ad.programs.engines.native.runtime.compiling import Module, compiled

__all__ = ["looped", "looped_together"]

Array = Any
Formula = Callable[..., VectorValue]


def looped(formula: Formula, dtypes: Sequence[Any], lanes: int) -> Callable[..., Array]:
    """Compile a function of arrays whose length is a multiple of `lanes`.

    Parameters
    ----------
    formula : callable
        Of an emitter and the operands' lanes.
    dtypes : sequence of dtype
        Of the operands and the result.
    lanes : int
    """
    (run,) = looped_together([(formula, dtypes, lanes)])
    return run


def looped_together(
    wanted: Iterable[tuple[Formula, Sequence[Any], int]],
) -> list[Callable[..., Array]]:
    """Compile functions in one module, as making one takes longer than what is in it.

    Parameters
    ----------
    wanted : iterable of tuple
        What `looped` takes, for each.
    """
    loops = [Loop.of(f"loop{i}", *one) for i, one in enumerate(wanted)]
    declarations = {name: line for loop in loops for name, line in loop.declarations.items()}
    symbols = addresses([name[1:] for name in declarations if not name.startswith("@llvm.")])
    module = compiled([loop.text for loop in loops], declarations.values(), symbols)
    return [functools.partial(run, module, loop) for loop in loops]


@frozen
class Loop:
    """The text of one function.

    Attributes
    ----------
    name : str
    dtypes : sequence of dtype
        Of the operands and the result.
    text : str
    declarations : dict of str to str
        What it calls.
    """

    name: str
    dtypes: Sequence[np.dtype[Any]]
    text: str
    declarations: dict[str, str]

    @classmethod
    def of(cls, name: str, formula: Formula, dtypes: Sequence[Any], lanes: int) -> "Loop":
        """Write it."""
        *given, wanted = dtypes = list(map(np.dtype, dtypes))
        builder = IRBuilder(lanes, LIBMVEC)
        operands = [loaded(builder, str(i), dtype) for i, dtype in enumerate(given)]
        result = formula(builder, *operands)
        assert result.dtype == wanted
        store(result, "out")
        names = [f"%x{name}" for i, dtype in enumerate(given) for name in planes(str(i), dtype)]
        names += [f"%{name}" for name in planes("out", wanted)]
        return cls(name, dtypes, text_of(name, builder, names), builder.declarations)


def run(module: Module, loop: Loop, *arrays: Array) -> Array:
    """Call a compiled function; the module that it is given owns the code."""
    *given, wanted = loop.dtypes
    parts = [part for x, dtype in zip(arrays, given, strict=True) for part in split(x, dtype)]
    outs = [np.empty(arrays[0].size, x.dtype) for x in split(np.empty(0, wanted), wanted)]
    pointers = [ctypes.c_void_p] * (len(parts) + len(outs))
    function = ctypes.CFUNCTYPE(None, *pointers, ctypes.c_int64)(module.address(loop.name))
    function(*(x.ctypes.data for x in [*parts, *outs]), arrays[0].size)
    return joined(outs, wanted)


def planes(name: str, dtype: np.dtype[Any]) -> list[str]:
    """Name the arrays that hold an operand: complex numbers are in two."""
    return [f"{name}.{i}" for i in range(2)] if dtype.kind == "c" else [name]


def split(x: Array, dtype: np.dtype[Any]) -> list[Array]:
    assert x.dtype == dtype
    return [
        np.ascontiguousarray(part) for part in ((x.real, x.imag) if dtype.kind == "c" else (x,))
    ]


def joined(parts: list[Array], dtype: np.dtype[Any]) -> Array:
    return np.stack(parts, axis=1).view(dtype)[:, 0] if dtype.kind == "c" else parts[0]


def in_memory(dtype: np.dtype[Any]) -> str:
    return "i8" if dtype.kind == "b" else element_type(dtype)


def loaded(builder: IRBuilder, operand: str, dtype: np.dtype[Any]) -> VectorValue:
    """Read an operand's next elements."""
    if dtype.kind == "c":
        part = np.dtype(f"f{dtype.itemsize // 2}")
        return ComplexVector.of(*(loaded(builder, name, part) for name in planes(operand, dtype)))
    element = in_memory(dtype)
    place = builder.emit(f"getelementptr {element}, ptr %x{operand}, i64 %i")
    name = builder.emit(f"load {vector_type(element, builder.lanes)}, ptr {place}, align 1")
    if dtype.kind == "b":
        memory = vector_type("i8", builder.lanes)
        name = builder.emit(f"trunc {memory} {name} to {builder.type_of(dtype)}")
    return VectorValue(builder, name, dtype)


def store(result: VectorValue, place: str) -> None:
    """Write a result's next elements."""
    if isinstance(result, ComplexVector):
        for part, name in zip((result.re, result.im), planes(place, result.dtype), strict=True):
            store(part, name)
        return
    builder, name = result.builder, result.name
    memory = vector_type(in_memory(result.dtype), builder.lanes)
    if result.dtype.kind == "b":
        name = builder.emit(f"zext {builder.type_of(result.dtype)} {name} to {memory}")
    pointer = builder.emit(f"getelementptr {in_memory(result.dtype)}, ptr %{place}, i64 %i")
    builder.lines.append(f"store {memory} {name}, ptr {pointer}, align 1")


def text_of(name: str, builder: IRBuilder, operands: list[str]) -> str:
    """Write the loop around some instructions."""
    pointers = ", ".join(f"ptr {name}" for name in operands)
    return "\n".join(
        [
            f"define void @{name}({pointers}, i64 %n) {{",
            "start:\n br label %more\nmore:\n %i = phi i64 [0, %start], [%next, %more]",
            *builder.lines,
            f"%next = add i64 %i, {builder.lanes}\n%on = icmp slt i64 %next, %n",
            "br i1 %on, label %more, label %end\nend:\n ret void\n}",
        ]
    )
