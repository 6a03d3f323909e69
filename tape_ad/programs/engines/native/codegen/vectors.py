"""Vector libraries: elementary functions of whole registers, and libm's of single elements.

glibc's libmvec has a function per name, precision and width of register, whose symbol is made by
the vector function ABI: ``_ZGVeN8v_exp`` is ``exp`` of 8 doubles in a register of AVX-512.
"""

import ctypes
import ctypes.util
import functools
import platform
import sys
from collections.abc import Iterable, Mapping
from contextvars import ContextVar
from types import MappingProxyType
from typing import Any

import llvmlite.binding as llvm
import numpy as np
from attrs import evolve, frozen

from tape_ad.programs.engines.native.runtime.compiling import Host, host, this_machine

INVERSE = ("acos", "acosh", "asin", "asinh", "atan", "atanh", "log", "log10", "log1p", "log2")
DIRECT = ("cos", "cosh", "erf", "erfc", "exp", "exp2", "expm1", "sin", "sinh", "tan", "tanh")
SIMPLE = ("cbrt", "ceil", "fabs", "floor", "rint", "sqrt", "trunc")
ONE = (*INVERSE, *DIRECT, *SIMPLE)
TWO = ("atan2", "copysign", "fmod", "hypot", "nextafter", "pow")
OPERANDS: Mapping[str, int] = MappingProxyType(dict.fromkeys(ONE, 1) | dict.fromkeys(TWO, 2))
"""Functions by C's names for them, without the ``f`` of single precision."""

SUFFIXES = MappingProxyType({np.dtype(np.float64): "", np.dtype(np.float32): "f"})
"""What C appends to a name for a precision; the only dtypes with elementary functions."""

INACCURATE = frozenset({"_ZGVeN16v_erff", "erfc"})
"""Functions that are there, but not to be relied on for 4 units in the last place. The first is 1
from 3.6533 on, the next narrower is off by less than 2; libm's is off by more than 4 beside 1.2.
All others of glibc 2.36 on x86-64 were found to be within 4, in single precision at one in seven of
all numbers that there are."""


@frozen
class Registers:
    """A width of register for which a vector library has functions.

    Attributes
    ----------
    letter : str
        What the vector function ABI calls it.
    bits : int
        How wide it is.
    features : tuple of str
        What the processor must be able to do, in LLVM's words.
    """

    letter: str
    bits: int
    features: tuple[str, ...] = ()


X86 = (
    Registers("e", 512, ("avx512f", "avx512dq")),
    Registers("d", 256, ("avx2", "fma")),
    Registers("b", 128, ("sse2",)),
)
"""The wider ones first. libmvec's best code for AVX-512 is for processors with both features."""
AARCH64 = (Registers("n", 128, ("neon",)),)


@frozen(cache_hash=True)
class VectorLibrary:
    """A vector library, and the registers that this machine has for it.

    Attributes
    ----------
    file : str
        The shared library; nothing where there is none.
    registers : tuple of Registers
        The widest first.
    convention : str
        How LLVM's ``declare`` and ``call`` have to say that its functions are called; mostly
        nothing.
    """

    file: str = ""
    registers: tuple[Registers, ...] = ()
    convention: str = ""

    def vector_symbol(self, name: str, dtype: np.dtype[Any], lanes: int) -> str | None:
        """Say what to call.

        Parameters
        ----------
        name : str
            C's name of the function in double precision, such as ``exp``.
        dtype : dtype
            float64 or float32; for any other there is nothing.
        lanes : int
            How many elements at once.

        Returns
        -------
        str or None
            The symbol, or None where there is none that may be used.
        """
        dtype = np.dtype(dtype)
        if dtype not in SUFFIXES or name not in OPERANDS:
            return None
        for registers in self.registers:
            if registers.bits == 8 * dtype.itemsize * lanes:
                written = "v" * OPERANDS[name]
                made = f"_ZGV{registers.letter}N{lanes}{written}_{name}{SUFFIXES[dtype]}"
                return made if made not in INACCURATE and address(self.file, made) else None
        return None

    def scalar_symbol(self, name: str, dtype: np.dtype[Any]) -> str | None:
        """Say what libm calls a function of one element, or None if it has none to be used.

        Examples
        --------
        >>> LIBMVEC.scalar_symbol("sin", np.dtype("f4"))
        'sinf'
        """
        dtype = np.dtype(dtype)
        if dtype not in SUFFIXES or name not in OPERANDS:
            return None
        made = name + SUFFIXES[dtype]
        return made if made not in INACCURATE and address(LIBM, made) else None


def _libmvec() -> VectorLibrary:
    if not _opened("libmvec.so.1"):
        return NO_LIBRARY
    features = llvm.get_host_cpu_features()
    aarch64 = platform.machine() in {"aarch64", "arm64"}
    there = [
        registers
        for registers in (AARCH64 if aarch64 else X86)
        if all(features.get(name) for name in registers.features)
    ]
    return VectorLibrary("libmvec.so.1", tuple(there), "aarch64_vector_pcs" if aarch64 else "")


@functools.cache
def _opened(file: str) -> Any:
    try:
        return ctypes.CDLL(file or None)
    except OSError:
        return None


@functools.cache
def address(file: str, symbol: str) -> int:
    """Say where a function of a shared library is, or 0 if it has none of that name."""
    function = getattr(_opened(file), symbol, None)
    return (function and ctypes.cast(function, ctypes.c_void_p).value) or 0


NO_LIBRARY = VectorLibrary()
"""For where there is none: vectors have no functions, single elements have libm's."""
LIBMVEC = _libmvec()
"""glibc's, with the registers of this machine; `NO_LIBRARY` where glibc is not there."""
LIBM = "ucrtbase" if sys.platform == "win32" else ctypes.util.find_library("m") or ""

CHOSEN: ContextVar[VectorLibrary] = ContextVar("vector library", default=LIBMVEC)
"""The library that kernels are made with; another one, or none, to see what becomes of it."""


def library() -> VectorLibrary:
    """Say which vector library kernels are made with, on the machine that they are made for."""
    chosen, machine = CHOSEN.get(), host()
    return chosen if machine is this_machine() else within(chosen, machine)


@functools.lru_cache(maxsize=16)
def within(chosen: VectorLibrary, machine: Host) -> VectorLibrary:
    """Leave out the functions for registers that a machine does not have."""
    there = [each for each in chosen.registers if all(map(machine.features.get, each.features))]
    return evolve(chosen, registers=tuple(there))


def addresses(symbols: Iterable[str]) -> dict[str, int]:
    """Say where functions are, by the symbols that were given for them.

    Raises
    ------
    KeyError
        A symbol is none of libmvec's and none of libm's.
    """
    found = {
        symbol: address(LIBMVEC.file if symbol.startswith("_ZGV") else LIBM, symbol)
        for symbol in symbols
    }
    for symbol, place in found.items():
        if not place:
            raise KeyError(symbol)
    return found
