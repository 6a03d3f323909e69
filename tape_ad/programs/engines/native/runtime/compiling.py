"""LLVM: text made into functions in memory, which stay as long as somebody holds their module."""

import ctypes
import functools
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import llvmlite.binding as llvm
from attrs import define, frozen

__all__ = ["Host", "Module", "builtin", "compiled", "host", "narrowed", "this_machine"]


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
        """Tell it from others."""
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


_chosen: ContextVar[Host | None] = ContextVar("host", default=None)


def host() -> Host:
    """Say which machine code is made for."""
    return _chosen.get() or this_machine()


@contextmanager
def narrowed(bits: int) -> Iterator[None]:
    """Make code as for a processor of Intel's kind whose registers are not as wide.

    Parameters
    ----------
    bits : {256, 128}
        With 256, as before AVX-512; with 128, as before AVX. Where the registers are not wider,
        nothing changes.

    Examples
    --------
    >>> with narrowed(128):
    ...     host().features.get("avx2", False)
    False
    """
    whole = this_machine()
    left_out = ("avx512", "avx10", "amx") if bits == 256 else BEYOND_SSE
    features = {name: on and not name.startswith(left_out) for name, on in whole.features.items()}
    name = "x86-64" if features != whole.features else whole.name
    token = _chosen.set(Host(whole.triple, name, features))
    try:
        yield
    finally:
        _chosen.reset(token)


BEYOND_SSE = ("avx", "amx", "fma", "f16c", "vaes", "vpclmulqdq", "xop", "sha512", "sm3", "sm4")
"""What the names of features begin with that need AVX."""


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
