"""Arrays that end right before memory that nobody may touch, or begin right behind some.

NumPy is given an allocator (NEP 49) that puts every array there: the inputs of a program, what it
returns and what it computes in. Whoever reads or writes one byte too far ends the process.
"""

import ctypes
import functools
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

from tape_ad.programs.engines.native.runtime.compiling import Module, compiled

__all__ = ["guarded"]

SET_HANDLER = 304
"""The place of PyDataMem_SetHandler in NumPy's table of functions for C."""

ALLOCATOR = """
declare ptr @mmap(ptr, i64, i32, i32, i32, i64)
declare i32 @munmap(ptr, i64)
declare i32 @mprotect(ptr, i64, i32)
declare ptr @memset(ptr, i32, i64)
declare ptr @memmove(ptr, ptr, i64)

; A page with two numbers, a page that may not be touched, those of the array, and one more that may
; not be touched. What nobody has written to is full of bytes of 1, so that it is no zero by chance.
define ptr @take(ptr %at_end, i64 %asked) {
  %none = icmp eq i64 %asked, 0
  %size = select i1 %none, i64 1, i64 %asked
  %up = add i64 %size, 4095
  %inner = and i64 %up, -4096
  %whole = add i64 %inner, 12288
  %base = call ptr @mmap(ptr null, i64 %whole, i32 0, i32 34, i32 -1, i64 0)
  call i32 @mprotect(ptr %base, i64 4096, i32 3)
  store i64 %whole, ptr %base
  %size.at = getelementptr i64, ptr %base, i64 1
  store i64 %size, ptr %size.at
  %pages = getelementptr i8, ptr %base, i64 8192
  call i32 @mprotect(ptr %pages, i64 %inner, i32 3)
  call ptr @memset(ptr %pages, i32 1, i64 %inner)
  %rest = sub i64 %inner, %size
  %end = ptrtoint ptr %at_end to i64
  %shift = mul i64 %rest, %end
  %start = getelementptr i8, ptr %pages, i64 %shift
  ret ptr %start
}

define ptr @take_zeros(ptr %at_end, i64 %count, i64 %each) {
  %size = mul i64 %count, %each
  %start = call ptr @take(ptr %at_end, i64 %size)
  call ptr @memset(ptr %start, i32 0, i64 %size)
  ret ptr %start
}

define ptr @base_of(ptr %start) {
  %number = ptrtoint ptr %start to i64
  %page = and i64 %number, -4096
  %before = sub i64 %page, 8192
  %base = inttoptr i64 %before to ptr
  ret ptr %base
}

define void @give(ptr %at_end, ptr %start, i64 %size) {
  %none = icmp eq ptr %start, null
  br i1 %none, label %done, label %some
some:
  %base = call ptr @base_of(ptr %start)
  %whole = load i64, ptr %base
  call i32 @munmap(ptr %base, i64 %whole)
  br label %done
done:
  ret void
}

define ptr @take_again(ptr %at_end, ptr %start, i64 %size) {
  %new = call ptr @take(ptr %at_end, i64 %size)
  %none = icmp eq ptr %start, null
  br i1 %none, label %done, label %some
some:
  %base = call ptr @base_of(ptr %start)
  %size.at = getelementptr i64, ptr %base, i64 1
  %before = load i64, ptr %size.at
  %less = icmp ult i64 %before, %size
  %kept = select i1 %less, i64 %before, i64 %size
  call ptr @memmove(ptr %new, ptr %start, i64 %kept)
  call void @give(ptr %at_end, ptr %start, i64 0)
  br label %done
done:
  ret ptr %new
}
"""


class Allocator(ctypes.Structure):
    """PyDataMemAllocator of numpy/ndarraytypes.h."""

    _fields_: ClassVar = [
        (name, ctypes.c_void_p) for name in ("ctx", "malloc", "calloc", "realloc", "free")
    ]


class Handler(ctypes.Structure):
    """PyDataMem_Handler."""

    _fields_: ClassVar = [
        ("name", ctypes.c_char * 127),
        ("version", ctypes.c_uint8),
        ("allocator", Allocator),
    ]


@functools.cache
def allocator() -> Module:
    """Compile the allocator, which stays: an array may be given back at any time."""
    return compiled([ALLOCATOR])


@functools.cache
def handler(at_end: bool) -> Handler:
    """Make what NumPy calls; its allocator is told by a pointer that is 0 or 1."""
    names = ("take", "take_zeros", "take_again", "give")
    functions = [allocator().address(name) for name in names]
    return Handler(b"guarded", 1, Allocator(int(at_end), *functions))


def function_of_numpy(place: int) -> Any:
    """Find a function that NumPy has for C, of an object and giving one."""
    table = vars(sys.modules["numpy._core._multiarray_umath"])["_ARRAY_API"]
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    functions = ctypes.cast(pointer(table, None), ctypes.POINTER(ctypes.c_void_p))
    return ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object)(functions[place])


@contextmanager
def guarded(at_end: bool = True) -> Iterator[None]:
    """Let all arrays that are made meanwhile lie beside memory that may not be touched.

    Linux alone has it, as the numbers of its system calls stand in the code.

    Parameters
    ----------
    at_end : bool
        Whether they end there; else they begin behind it.
    """
    new = ctypes.pythonapi.PyCapsule_New
    new.restype = ctypes.py_object
    new.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    use = function_of_numpy(SET_HANDLER)
    before = use(new(ctypes.addressof(handler(at_end)), b"mem_handler", None))
    try:
        yield
    finally:
        use(before)
