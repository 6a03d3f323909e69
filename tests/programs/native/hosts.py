"""Machines and vector libraries other than those that are there."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

pytest.importorskip("llvmlite")

from tape_ad.programs.engines.native.codegen import vectors
from tape_ad.programs.engines.native.codegen.vectors import VectorLibrary
from tape_ad.programs.engines.native.runtime import compiling
from tape_ad.programs.engines.native.runtime.compiling import Host, this_machine

__all__ = ["narrowed", "using"]


@contextmanager
def using(chosen: VectorLibrary) -> Iterator[None]:
    """Make kernels with another vector library, or with `NO_LIBRARY`."""
    token = vectors.CHOSEN.set(chosen)
    try:
        yield
    finally:
        vectors.CHOSEN.reset(token)


@contextmanager
def narrowed(bits: int) -> Iterator[None]:
    """Make code as for a processor of Intel's kind whose registers are not as wide.

    Parameters
    ----------
    bits : {256, 128}
        With 256, as before AVX-512; with 128, as before AVX. Where the registers are not wider,
        nothing changes.
    """
    whole = this_machine()
    left_out = ("avx512", "avx10", "amx") if bits == 256 else BEYOND_SSE
    features = {name: on and not name.startswith(left_out) for name, on in whole.features.items()}
    name = "x86-64" if features != whole.features else whole.name
    token = compiling.CHOSEN.set(Host(whole.triple, name, features))
    try:
        yield
    finally:
        compiling.CHOSEN.reset(token)


BEYOND_SSE = ("avx", "amx", "fma", "f16c", "vaes", "vpclmulqdq", "xop", "sha512", "sm3", "sm4")
"""What the names of features begin with that need AVX."""
