"""NumPy's inner loops: the compiled functions in a ufunc, which native code may call by itself.

A ufunc keeps, for each combination of types, the address of a function ``void loop(char **args,
intp *dims, intp *steps, void *data)``. ``PyUFuncObject`` of numpy/ufuncobject.h says where.

A loop wants what the ufunc sees to before: operands that are aligned and do not overlap, but for an
output that is an input. Outputs are to be contiguous: with AVX-512 ``isfinite`` and ``signbit`` are
wrong otherwise, also when NumPy itself calls them so.
"""

import ctypes
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from tape_ad.programs.engines.native.ir import Callee

__all__ = ["inner_loop"]

NUMBERS = frozenset("?bBhHiIlLqQefdgFDG")
"""The types, by NumPy's letters, whose loops need nothing but memory: neither Python's objects, nor
the lengths of strings, nor the units of dates."""


RAISING = frozenset({np.power})
"""Functions of integers whose loops raise errors, of which only their ufuncs know."""


class UFuncFields(ctypes.Structure):
    """The first fields of ``PyUFuncObject``, the same from NumPy 2.0 on."""

    _fields_: ClassVar[Sequence[tuple[str, Any]]] = [
        ("head", ctypes.c_char * object.__basicsize__),
        ("nin", ctypes.c_int),
        ("nout", ctypes.c_int),
        ("nargs", ctypes.c_int),
        ("identity", ctypes.c_int),
        ("functions", ctypes.POINTER(ctypes.c_void_p)),
        ("data", ctypes.POINTER(ctypes.c_void_p)),
        ("ntypes", ctypes.c_int),
        ("flags", ctypes.c_int),
        ("name", ctypes.c_char_p),
        ("types", ctypes.POINTER(ctypes.c_ubyte)),
    ]


def inner_loop(ufunc: np.ufunc, dtypes: tuple[np.dtype[Any], ...]) -> Callee | None:
    """Find the inner loop of a ufunc for operands of some types, in the machine's byte order.

    Parameters
    ----------
    ufunc : numpy.ufunc
        Of NumPy, SciPy or any other library; a generalized one has the sizes of its core dimensions
        in ``dims[1:]``, and their strides after the ``nargs`` outer ones in ``steps``.
    dtypes : tuple of dtype
        Of the inputs and the outputs, as the ufunc would choose them: nothing is cast.

    Returns
    -------
    Callee or None
        None where there is no such loop, or none that needs numbers alone.

    Examples
    --------
    >>> double = np.dtype(float)
    >>> inner_loop(np.exp, (double, double)) is None
    False
    >>> inner_loop(np.exp, (np.dtype(object), np.dtype(object))) is None
    True
    """
    fields = UFuncFields.from_address(id(ufunc))
    known = (fields.nin, fields.nout, fields.nargs, fields.ntypes)
    if known != (ufunc.nin, ufunc.nout, ufunc.nargs, ufunc.ntypes):
        return None  # another layout than the one known
    if not all(dtype.char in NUMBERS and dtype.isnative for dtype in dtypes):
        return None
    if len(dtypes) != ufunc.nargs or (ufunc in RAISING and dtypes[0].kind == "i"):
        return None
    for wanted in (tuple(dtype.num for dtype in dtypes), None):
        for i in range(fields.ntypes):
            there = tuple(fields.types[i * fields.nargs : (i + 1) * fields.nargs])
            if there == wanted or (wanted is None and _same(there, dtypes)):
                return _loop(fields, i, ufunc.__name__)
    return None


def _loop(fields: UFuncFields, i: int, name: str) -> Callee | None:
    address = fields.functions[i]
    data = fields.data[i] if fields.data else None
    return Callee(address, data or 0, name) if address else None


NUMBERED: dict[int, np.dtype[Any]] = {np.dtype(char).num: np.dtype(char) for char in NUMBERS}


def _same(numbers: Sequence[int], dtypes: Sequence[np.dtype[Any]]) -> bool:
    """Compare where two names stand for one type, such as int64's ``l`` and ``q``."""
    return [NUMBERED.get(number) for number in numbers] == list(dtypes)
