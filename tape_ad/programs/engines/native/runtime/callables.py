"""Compiled functions as builtins of Python, which are called without `ctypes`."""

import ctypes
from typing import Any

__all__ = ["builtin"]

FASTCALL = 0x0080
"""METH_FASTCALL of Python's methodobject.h."""


class MethodDef(ctypes.Structure):
    """PyMethodDef of Python's methodobject.h."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("method", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


def builtin(name: str, address: int, owner: Any) -> Any:
    """Make a builtin of a compiled function.

    Parameters
    ----------
    name : str
    address : int
        Where it is: ``ptr name(ptr self, ptr args, i64 count)``.
    owner : any
        What has to stay as long as the builtin does; it holds the code.
    """
    method = MethodDef(name.encode(), address, FASTCALL, None)
    # It is read when the builtin goes, at the very end of Python too
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(method))
    make = ctypes.pythonapi.PyCFunction_NewEx
    make.restype = ctypes.py_object
    make.argtypes = [ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p]
    return make(ctypes.addressof(method), owner, None)
