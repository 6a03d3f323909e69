"""Vector libraries: which symbols there are for which registers, and what is said without any."""

import ctypes

import numpy as np
import pytest

from tape_ad.programs.engines.native.codegen.vectors import (
    LIBMVEC,
    NO_LIBRARY,
    Registers,
    VectorLibrary,
    addresses,
    library,
)
from tests.programs.native.hosts import narrowed, using

DOUBLE, SINGLE, HALF = np.dtype(np.float64), np.dtype(np.float32), np.dtype(np.float16)

with_libmvec = pytest.mark.skipif(not LIBMVEC.registers, reason="there is no libmvec here")


def test_single_elements_are_libms() -> None:
    assert NO_LIBRARY.scalar_symbol("exp", DOUBLE) == "exp"
    assert NO_LIBRARY.scalar_symbol("exp", SINGLE) == "expf"
    assert NO_LIBRARY.scalar_symbol("exp", HALF) is None
    assert NO_LIBRARY.scalar_symbol("system", DOUBLE) is None


def test_a_function_of_libm_that_is_not_accurate_is_not_used() -> None:
    assert NO_LIBRARY.scalar_symbol("erfc", DOUBLE) is None
    assert NO_LIBRARY.scalar_symbol("erfc", SINGLE) == "erfcf"


def test_the_address_is_that_of_the_function() -> None:
    function = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(addresses(["cos"])["cos"])
    assert function(0.0) == 1


def test_an_unknown_symbol_is_refused() -> None:
    with pytest.raises(KeyError, match="_ZGVeN3v_exp"):
        addresses(["_ZGVeN3v_exp"])


@with_libmvec
def test_every_register_has_functions_of_both_precisions() -> None:
    for registers in LIBMVEC.registers:
        lanes = registers.bits // 64
        names = [
            LIBMVEC.vector_symbol("exp", DOUBLE, lanes),
            LIBMVEC.vector_symbol("exp", SINGLE, 2 * lanes),
            LIBMVEC.vector_symbol("pow", DOUBLE, lanes),
        ]
        letter = registers.letter
        assert names == [
            f"_ZGV{letter}N{lanes}v_exp",
            f"_ZGV{letter}N{2 * lanes}v_expf",
            f"_ZGV{letter}N{lanes}vv_pow",
        ]


@with_libmvec
def test_the_widest_register_comes_first() -> None:
    widths = [registers.bits for registers in LIBMVEC.registers]
    assert widths == sorted(widths, reverse=True)


@pytest.mark.parametrize(
    ("name", "dtype", "lanes"),
    [
        ("exp", DOUBLE, 3),
        ("exp", HALF, 8),
        ("exp", DOUBLE, 64),
        ("floor", DOUBLE, 2),
        ("erf", SINGLE, 16),
    ],
)
def test_there_is_none_of_other_sizes_types_and_names(
    name: str, dtype: np.dtype[np.generic], lanes: int
) -> None:
    assert LIBMVEC.vector_symbol(name, dtype, lanes) is None


def test_a_function_that_the_library_lacks_is_not_promised() -> None:
    older = VectorLibrary("libm.so.6", (Registers("e", 512),))
    assert older.vector_symbol("exp", DOUBLE, 8) is None
    absent = VectorLibrary("libabsent.so", (Registers("e", 512),))
    assert absent.vector_symbol("exp", DOUBLE, 8) is None


def test_without_a_library_vectors_have_no_functions() -> None:
    assert NO_LIBRARY.vector_symbol("exp", DOUBLE, 8) is None
    assert NO_LIBRARY.vector_symbol("exp", DOUBLE, 2) is None


def test_the_library_can_be_changed_for_a_while() -> None:
    with using(NO_LIBRARY):
        assert library() is NO_LIBRARY
    assert library() is LIBMVEC


@with_libmvec
@pytest.mark.parametrize("bits", [256, 128])
def test_narrower_registers_have_no_wider_functions(bits: int) -> None:
    with narrowed(bits):
        assert library().registers[0].bits == min(bits, LIBMVEC.registers[0].bits)
        wider = [8 * bits // 512 * k for k in (2, 4)]
        assert [library().vector_symbol("exp", DOUBLE, lanes) for lanes in wider] == [None, None]
        assert library().vector_symbol("exp", DOUBLE, bits // 64) is not None
    assert library() is LIBMVEC
