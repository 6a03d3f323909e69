"""The workload `elementwise, 10^6` beside the same loop written by hand in C."""

import ctypes
import functools
import importlib
import os
import platform
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numpy as np

from benchmarks.beside import Beside
from benchmarks.libraries import OURS_NATIVE
from benchmarks.timing import in_turns, seconds_of
from benchmarks.workers import compiled_program
from benchmarks.workloads import WORKLOADS

__all__ = ["beside_c"]

NAME = "elementwise, 10^6"

COMPILER = os.environ.get("CC", "gcc")
FLAGS = (
    "-O3",
    "-mcpu=native" if platform.machine() == "aarch64" else "-march=native",
    "-ffp-contract=off",
)
"""Nothing of `-ffast-math`: what C computes is what IEEE 754 says, one operation at a time."""

SOURCE = r"""
#include <stddef.h>
#include <string.h>

#if defined(__AVX512F__)
#define LANES 8
#define VECTOR(name) _ZGVeN8v_##name
#elif defined(__AVX2__)
#define LANES 4
#define VECTOR(name) _ZGVdN4v_##name
#elif defined(__x86_64__)
#define LANES 2
#define VECTOR(name) _ZGVbN2v_##name
#elif defined(__aarch64__)
#define LANES 2
#define VECTOR(name) _ZGVnN2v_##name
#endif
#if defined(__aarch64__)
#define CALLED __attribute__((aarch64_vector_pcs))
#else
#define CALLED
#endif

typedef double lanes __attribute__((vector_size(8 * LANES)));
CALLED lanes VECTOR(tanh)(lanes);
CALLED lanes VECTOR(exp)(lanes);

/* sum(tanh(x) * exp(-x * x)), and its gradient; the size is a multiple of all widths. */
double value_and_gradient(size_t size, const double *x, double *gradient)
{
    double total = 0;
    lanes sum = {0};
    for (size_t i = 0; i < size; i += LANES) {
        lanes v, slope;
        memcpy(&v, x + i, sizeof v);
        lanes t = VECTOR(tanh)(v), e = VECTOR(exp)(-v * v);
        sum += t * e;
        slope = (1 - t * t) * e - 2 * v * (t * e);
        memcpy(gradient + i, &slope, sizeof slope);
    }
    for (int lane = 0; lane < LANES; lane++)
        total += sum[lane];
    return total;
}
"""

Loop = Callable[[np.ndarray], tuple[float, np.ndarray]]


def beside_c() -> Beside:
    """Time both in turns; each makes a new array for its gradient at every call."""
    what = f"{NAME}: native time / that of a loop in C"
    with tempfile.TemporaryDirectory() as folder:
        try:
            loop = compiled_loop(Path(folder))
        except (OSError, subprocess.CalledProcessError) as error:
            return Beside(what, 1.3, reason=f"there is no C loop here: {said(error)}")
        p, _ = WORKLOADS[NAME].inputs()
        native, by_hand = (
            compiled_program(native_library(), NAME, "float64"),
            functools.partial(loop, p["x"]),
        )
        (value, derivatives), (total, gradient) = native(), by_hand()
        np.testing.assert_allclose(value, total, rtol=1e-9)
        np.testing.assert_allclose(derivatives["x"], gradient, rtol=1e-12, atol=1e-15)
        times = in_turns(
            {
                "native": functools.partial(seconds_of, native),
                "C": functools.partial(seconds_of, by_hand),
            }
        )
    return Beside(what, 1.3, times["native"], times["C"], f"{COMPILER} {' '.join(FLAGS)}")


def native_library() -> ModuleType:
    """Import it where it is needed, for LLVM may be missing."""
    return importlib.import_module(f"benchmarks.libraries.{OURS_NATIVE}")


def compiled_loop(folder: Path) -> Loop:
    """Compile the C, and make a function of it that takes an array."""
    if shutil.which(COMPILER) is None:
        raise FileNotFoundError(f"no {COMPILER}")
    source, library = folder / "loop.c", folder / "loop.so"
    source.write_text(SOURCE)
    command = [
        COMPILER,
        *FLAGS,
        "-shared",
        "-fPIC",
        str(source),
        "-lmvec",
        "-lm",
        "-o",
        str(library),
    ]
    subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603  # our own
    function = ctypes.CDLL(str(library)).value_and_gradient
    function.argtypes = (ctypes.c_size_t, ctypes.c_void_p, ctypes.c_void_p)
    function.restype = ctypes.c_double

    def loop(x: np.ndarray) -> tuple[float, np.ndarray]:
        gradient = np.empty_like(x)
        return function(x.size, x.ctypes.data, gradient.ctypes.data), gradient

    return loop


def said(error: Exception) -> str:
    """Say in a line what went wrong."""
    text = getattr(error, "stderr", None) or str(error)
    return str(text).strip().splitlines()[-1]
