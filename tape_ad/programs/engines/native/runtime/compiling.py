"""LLVM: text made into functions in memory, which stay as long as somebody holds their module."""

import ctypes
import functools
import re
from collections.abc import Iterable, Mapping, Sequence
from contextvars import ContextVar
from typing import Any, ClassVar

import llvmlite.binding as llvm
import numpy as np
from attrs import define, frozen

from tape_ad.programs.engines.native.ir import Callee
from tape_ad.programs.program import Value


@frozen(eq=False)
class Host:
    """The machine that code is made for.

    Attributes
    ----------
    triple, name : str
        As LLVM calls the platform and the processor.
    features : dict of str to bool
        What the processor can do.
    """

    triple: str
    name: str
    features: Mapping[str, bool]

    @property
    def key(self) -> tuple[str, ...]:
        """The name and the features that are on, by which compiled code is kept."""
        return (self.name, *(name for name, on in self.features.items() if on))

    def machine(self, level: int) -> Any:
        """Make what writes code; each module takes one for itself."""
        target = llvm.Target.from_triple(self.triple)
        written = ",".join(f"{'+' if on else '-'}{name}" for name, on in self.features.items())
        return target.create_target_machine(cpu=self.name, features=written, opt=level, jit=True)


@functools.cache
def this_machine() -> Host:
    """Find out what this machine is."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    features = dict(llvm.get_host_cpu_features())
    return Host(llvm.get_process_triple(), llvm.get_host_cpu_name(), features)


CHOSEN: ContextVar[Host | None] = ContextVar("host", default=None)
"""The machine that code is made for, if it is not this one: one with narrower registers, say."""


def host() -> Host:
    """Say which machine code is made for."""
    return CHOSEN.get() or this_machine()


@define(eq=False)
class Module:
    """Compiled functions.

    Attributes
    ----------
    engine
        LLVM's, which owns the code.
    """

    engine: Any

    def address(self, name: str) -> int:
        """Say where a function is."""
        return int(self.engine.get_function_address(name))


@functools.cache
def known(name: str, address: int) -> None:
    """Tell LLVM where a function is that is not its own."""
    llvm.add_symbol(name, address)


def compiled(
    functions: Iterable[str],
    declarations: Iterable[str] = (),
    symbols: Mapping[str, int] | None = None,
    level: int = 1,
) -> Module:
    """Compile functions.

    Parameters
    ----------
    functions : iterable of str
        The text of each.
    declarations : iterable of str
        What they call.
    symbols : mapping of str to int
        Where that is, if it is not LLVM's own.
    level : int
        How much the code generator tries, 0 to 3.

    Returns
    -------
    Module
    """
    machine = host().machine(level)
    for name, address in (symbols or {}).items():
        known(name, address)
    module = llvm.parse_assembly("\n".join([*declarations, *functions]))
    module.triple = host().triple
    module.data_layout = str(machine.target_data)
    engine = llvm.create_mcjit_compiler(module, machine)
    engine.finalize_object()
    return Module(engine)


def python_symbols(*names: str) -> dict[str, int]:
    """Say where functions of Python's own C library are."""
    return {name: address_of(getattr(ctypes.pythonapi, name)) for name in names}


def address_of(function: Any) -> int:
    """Say where a function of ctypes is."""
    return int(ctypes.cast(function, ctypes.c_void_p).value or 0)


def capsule_address(capsule: Any, signature: str) -> int | None:
    """Say where a function is that Cython has put into a capsule, if it takes what is expected.

    Parameters
    ----------
    capsule : PyCapsule
    signature : str
        Its declaration, with Cython's names of C types written short: ``void (char *, d *)``.
    """
    name_of = ctypes.pythonapi.PyCapsule_GetName
    name_of.restype, name_of.argtypes = ctypes.c_char_p, [ctypes.py_object]
    name = name_of(capsule) or b""
    kind = r"__pyx_t_\w*?_?([sdcz]|(?:float|double)_complex) "
    if re.sub(kind, r"\1 ", name.decode()) != signature:
        return None
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return int(pointer(capsule, name) or 0) or None


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


def with_fields(text: str) -> str:
    """Write out fields: ``%x = field i64 %p, 2`` loads the third integer from where %p points.

    Examples
    --------
    >>> print(with_fields("%x = field i64 %p, 2"))
    %x.at = getelementptr i64, ptr %p, i64 2
      %x = load i64, ptr %x.at
    """
    at = r"\1.at = getelementptr \2, ptr \3, i64 \4"
    return re.sub(r"(%\S+) = field (\w+) (%\S+), (\S+)", at + r"\n  \1 = load \2, ptr \1.at", text)


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


TEXT = """
define ptr @fits(ptr %self, ptr %args, i64 %count) {{
start:
  %table = load ptr, ptr %args
  %words = field ptr %table, {data}
  br label %next
next:
  %i = phi i64 [1, %start], [%i.next, %fit]
  %word = phi ptr [%words, %start], [%word.next, %fit]
  %more = icmp ult i64 %i, %count
  br i1 %more, label %kind, label %all
kind:
  %arg = field ptr %args, %i
  %type = field ptr %arg, {type}
  %is.array = icmp eq ptr %type, @PyArray_Type
  br i1 %is.array, label %array, label %sub
sub:
  %derived = call i32 @PyType_IsSubtype(ptr %type, ptr @PyArray_Type)
  %is.sub = icmp ne i32 %derived, 0
  br i1 %is.sub, label %array, label %other
array:
  %nd32 = field i32 %arg, {nd}
  %nd = zext i32 %nd32 to i64
  %descr = field ptr %arg, {descr}
  %number32 = field i32 %descr, {number}
  %number = zext i32 %number32 to i64
  %order8 = field i8 %descr, {order}
  %order = zext i8 %order8 to i64
  %flags32 = field i32 %arg, {flags}
  %flags = and i32 %flags32, {aligned}
  %aligned = icmp ne i32 %flags, 0
  %number.is = load i64, ptr %word
  %order.is = field i64 %word, 1
  %nd.is = field i64 %word, 2
  %a = icmp eq i64 %number, %number.is
  %b = icmp eq i64 %order, %order.is
  %c = icmp eq i64 %nd, %nd.is
  %ab = and i1 %a, %b
  %abc = and i1 %ab, %c
  %alike = and i1 %abc, %aligned
  br i1 %alike, label %sizes, label %other
sizes:
  %dims = field ptr %arg, {dims}
  %strides = field ptr %arg, {strides}
  %first = getelementptr i64, ptr %word, i64 3
  %second = getelementptr i64, ptr %first, i64 %nd
  %word.next = getelementptr i64, ptr %second, i64 %nd
  br label %axis
axis:
  %k = phi i64 [0, %sizes], [%k.next, %same]
  %left = icmp ult i64 %k, %nd
  br i1 %left, label %look, label %fit
look:
  %dim = field i64 %dims, %k
  %dim.is = field i64 %first, %k
  %stride = field i64 %strides, %k
  %stride.is = field i64 %second, %k
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
    head = object.__basicsize__ // 8
    # PyArrayObject_fields: data, nd, dimensions, strides, base, descr, flags;
    # PyArray_Descr: typeobj, kind, type, byteorder, a byte, type_num
    places = {"type": head - 1, "data": head, "dims": head + 2, "strides": head + 3}
    places |= {"descr": head + 5, "nd": 2 * head + 2, "flags": 2 * head + 12}
    places |= {"order": 8 * head + 10, "number": 2 * head + 3}
    text = with_fields(TEXT.format(aligned=ALIGNED, **places))
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
