"""Layout checks: whether arrays from elsewhere have the strides that bytecode was made for."""

import functools
from collections.abc import Iterable
from typing import Any

import numpy as np

from tape_ad.programs.engines.native.runtime.compiling import builtin, compiled, python_symbols
from tape_ad.programs.program.program import Value

__all__ = ["fits", "layouts_of"]

TEXT = """
define ptr @fits(ptr %self, ptr %args, i64 %count) {{
start:
  %table = load ptr, ptr %args
  %words.at = getelementptr i8, ptr %table, i64 {data}
  %words = load ptr, ptr %words.at
  br label %next
next:
  %i = phi i64 [1, %start], [%i.next, %fit]
  %word = phi ptr [%words, %start], [%word.next, %fit]
  %more = icmp ult i64 %i, %count
  br i1 %more, label %kind, label %all
kind:
  %arg.at = getelementptr ptr, ptr %args, i64 %i
  %arg = load ptr, ptr %arg.at
  %type.at = getelementptr i8, ptr %arg, i64 {type}
  %type = load ptr, ptr %type.at
  %is.array = icmp eq ptr %type, @PyArray_Type
  br i1 %is.array, label %array, label %sub
sub:
  %derived = call i32 @PyType_IsSubtype(ptr %type, ptr @PyArray_Type)
  %is.sub = icmp ne i32 %derived, 0
  br i1 %is.sub, label %array, label %other
array:
  %nd.at = getelementptr i8, ptr %arg, i64 {nd}
  %nd32 = load i32, ptr %nd.at
  %nd = zext i32 %nd32 to i64
  %descr.at = getelementptr i8, ptr %arg, i64 {descr}
  %descr = load ptr, ptr %descr.at
  %number.at = getelementptr i8, ptr %descr, i64 {number}
  %number32 = load i32, ptr %number.at
  %number = zext i32 %number32 to i64
  %order.at = getelementptr i8, ptr %descr, i64 {order}
  %order8 = load i8, ptr %order.at
  %order = zext i8 %order8 to i64
  %flags.at = getelementptr i8, ptr %arg, i64 {flags}
  %flags32 = load i32, ptr %flags.at
  %flags = and i32 %flags32, {aligned}
  %aligned = icmp ne i32 %flags, 0
  %number.is = load i64, ptr %word
  %order.is.at = getelementptr i64, ptr %word, i64 1
  %order.is = load i64, ptr %order.is.at
  %nd.is.at = getelementptr i64, ptr %word, i64 2
  %nd.is = load i64, ptr %nd.is.at
  %a = icmp eq i64 %number, %number.is
  %b = icmp eq i64 %order, %order.is
  %c = icmp eq i64 %nd, %nd.is
  %ab = and i1 %a, %b
  %abc = and i1 %ab, %c
  %alike = and i1 %abc, %aligned
  br i1 %alike, label %sizes, label %other
sizes:
  %dims.at = getelementptr i8, ptr %arg, i64 {dims}
  %dims = load ptr, ptr %dims.at
  %strides.at = getelementptr i8, ptr %arg, i64 {strides}
  %strides = load ptr, ptr %strides.at
  %first = getelementptr i64, ptr %word, i64 3
  %second = getelementptr i64, ptr %first, i64 %nd
  %word.next = getelementptr i64, ptr %second, i64 %nd
  br label %axis
axis:
  %k = phi i64 [0, %sizes], [%k.next, %same]
  %left = icmp ult i64 %k, %nd
  br i1 %left, label %look, label %fit
look:
  %dim.at = getelementptr i64, ptr %dims, i64 %k
  %dim = load i64, ptr %dim.at
  %dim.is.at = getelementptr i64, ptr %first, i64 %k
  %dim.is = load i64, ptr %dim.is.at
  %stride.at = getelementptr i64, ptr %strides, i64 %k
  %stride = load i64, ptr %stride.at
  %stride.is.at = getelementptr i64, ptr %second, i64 %k
  %stride.is = load i64, ptr %stride.is.at
  %d = icmp eq i64 %dim, %dim.is
  %e = icmp eq i64 %stride, %stride.is
  %de = and i1 %d, %e
  br i1 %de, label %same, label %other
same:
  %k.next = add i64 %k, 1
  br label %axis
fit:
  %i.next = add i64 %i, 1
  br label %next
other:
  %no = call ptr @PyLong_FromLongLong(i64 -1)
  ret ptr %no
all:
  %yes = call ptr @PyLong_FromLongLong(i64 0)
  ret ptr %yes
}}
"""

DECLARATIONS = [
    "@PyArray_Type = external global i8",
    "declare i32 @PyType_IsSubtype(ptr, ptr)",
    "declare ptr @PyLong_FromLongLong(i64)",
]

ALIGNED = 0x0100
"""NPY_ARRAY_ALIGNED of numpy/ndarraytypes.h."""


@functools.cache
def fits() -> Any:
    """Compile what compares, once for all programs.

    Returns
    -------
    builtin
        ``fits(layouts, *arrays) -> int``: 0, or -1 where one of the arrays lies otherwise, or is
        none.
    """
    head = object.__basicsize__
    # PyArrayObject_fields: data, nd, dimensions, strides, base, descr, flags;
    # PyArray_Descr: typeobj, kind, type, byteorder, a byte, type_num
    text = TEXT.format(
        type=head - 8,
        data=head,
        nd=head + 8,
        dims=head + 16,
        strides=head + 24,
        descr=head + 40,
        flags=head + 48,
        order=head + 10,
        number=head + 12,
        aligned=ALIGNED,
    )
    symbols = python_symbols("PyType_IsSubtype", "PyLong_FromLongLong")
    symbols["PyArray_Type"] = id(np.ndarray)
    module = compiled([text], DECLARATIONS, symbols, 0)
    return builtin("fits", module.address("fits"), module)


def layouts_of(values: Iterable[Value]) -> Any:
    """Write how arrays lie.

    Returns
    -------
    array of int64
        For each the number and the byte order of its dtype, its axes, and the length and the
        stride of each.
    """
    words: list[int] = []
    for value in values:
        dtype = np.dtype(value.dtype)
        words += [dtype.num, ord(dtype.byteorder), len(value.shape)]
        words += [*value.shape, *value.strides]
    return np.array(words, np.int64)
