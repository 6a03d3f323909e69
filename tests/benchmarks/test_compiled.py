import math
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from benchmarks.beside import Beside
from benchmarks.c_loop import COMPILER, compiled_loop
from benchmarks.compiled import (
    calls_until_paid,
    compiled_section,
    compiled_targets,
    printed_compiled,
)
from benchmarks.libraries import (
    BY_HAND,
    COMPILED,
    OURS,
    OURS_COMPILED,
    OURS_NATIVE,
    TORCH_COMPILED,
)
from benchmarks.native import native_section
from benchmarks.overhead import OVERHEADS, overhead_seconds, overhead_targets
from benchmarks.page import pages
from benchmarks.results import Result
from benchmarks.threads import two_threads_beside_one
from benchmarks.timing import Times
from benchmarks.workloads import WORKLOADS
from tape_ad.programs.engines import Report
from tests.benchmarks.engines import ENGINES
from tests.benchmarks.results import function, run_of, timed


def compiled(name: str, **seconds: float) -> Result:
    result = timed(name, **seconds)
    result.first = {OURS_COMPILED: 3e-3, COMPILED: 0.2}
    result.calls = 20
    return result


def test_compiling_has_paid_when_what_was_saved_makes_up_for_the_first_calls() -> None:
    both = {OURS: 4e-4, OURS_COMPILED: 1e-4, "jax_eager": 2e-3, COMPILED: 1e-5}
    result = compiled("Hessian, 50", **both)
    assert calls_until_paid(result, OURS_COMPILED) == pytest.approx(10)
    assert calls_until_paid(result, COMPILED) == pytest.approx(100.5, rel=1e-3)
    assert printed_compiled(result) == [
        "tape_ad, compiled: first calls 3 ms, paid after 10 calls",
        "JAX compiled (jit): first calls 200 ms, paid after 101 calls",
    ]
    slower = compiled("Hessian, 50", **{OURS: 4e-4, OURS_COMPILED: 5e-4, COMPILED: 1e-5})
    assert calls_until_paid(slower, OURS_COMPILED) == math.inf
    assert math.isnan(calls_until_paid(slower, COMPILED))
    assert printed_compiled(slower)[0].endswith("first calls 3 ms, which never pays")


def test_a_compiled_workload_is_bounded_in_time() -> None:
    result = compiled("Hessian, 50", **{OURS: 4e-4, OURS_COMPILED: 1.2e-4})
    (time,) = run_of(result).compiled_targets()
    assert (time.bound, time.met) == (0.25, False)
    assert time.measured == pytest.approx(0.3)
    large = compiled("least squares, 512", **{OURS: 5e-4, OURS_COMPILED: 5e-4})
    assert [target.met for target in run_of(large).compiled_targets()] == [True]


def test_a_compiled_function_may_take_no_more_memory_than_an_eager_one() -> None:
    result = Result(WORKLOADS["elementwise, 10^6"], peaks={OURS: 40, OURS_COMPILED: 50})
    step = Result(WORKLOADS["step, 64x784x128x10"], peaks={OURS: 40, OURS_COMPILED: 50})
    (target,) = compiled_targets([result, step], [], {})
    assert (target.measured, target.met) == (1.25, False)


def test_the_worst_of_the_compiled_functions_has_a_bound() -> None:
    functions = [
        function("np.exp", **{OURS: 2.0, OURS_COMPILED: 1.0}),
        function("np.sin", **{OURS: 2.0, OURS_COMPILED: 2.2}),
    ]
    (target,) = compiled_targets([], functions, {})
    assert (target.measured, target.met) == (1.1, False)


def test_the_page_has_the_compiled_column_beside_jit() -> None:
    result = compiled(
        "Hessian, 50",
        **{
            OURS: 4e-4,
            OURS_COMPILED: 1.6e-4,
            BY_HAND: 2e-4,
            "jax_eager": 2e-3,
            COMPILED: 2e-5,
        },
    )
    found = run_of(result)
    found.overheads = {"numpy": {"1 array": 1e-6}}
    page = "".join(pages(found, "bars.png", "chart.png").values()).splitlines()
    row = "| Hessian, 50 | 400 us | 160 us | **0.4** | 0.25 | 0.5 | 3 ms | 20 | 13 |"
    assert f"{row} 20 us | 200 ms | 102 | 8 |" in page
    assert "## Compiled: 1 of 2 targets met" in page
    assert "- Hessian, 50: compiled time / eager: 0.4 (at most 0.25)" in page
    assert "| 1 array | 1.00 | 2.0 |" in page
    assert compiled_section([timed("Hessian, 50", **{OURS: 1.0})], [], {}) == []


def test_a_compiled_call_may_take_so_much_besides_its_program() -> None:
    overheads = dict.fromkeys(OVERHEADS, 3e-6)
    bounds = [target.bound for target in overhead_targets(overheads, "native")]
    assert bounds == pytest.approx([2.0, 2.0, 6.5, 3.5])


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", OVERHEADS)
def test_what_a_call_takes_besides_its_program_is_measured(name: str, engine: str) -> None:
    assert -1e-5 < overhead_seconds(name, engine) < 1e-3


def native(name: str, **seconds: float) -> Result:
    result = compiled(name, **seconds)
    result.first |= {OURS_NATIVE: 0.03, TORCH_COMPILED: 3.0}
    result.report = Report(18, 2, 5, {"no native code for it": {"np.sort": 2, "np.fft.fft": 1}})
    return result


def test_native_time_and_first_calls_are_bounded_beside_jit() -> None:
    result = native("Hessian, 50", **{OURS: 4e-4, OURS_NATIVE: 3e-5, COMPILED: 5e-5})
    time, first = run_of(result).native_targets()
    assert time.measured == pytest.approx(0.6)
    assert (time.bound, time.met) == (0.5, False)
    assert first.measured == pytest.approx(0.15)
    assert (first.bound, first.met) == (1.0, True)
    large = native("least squares, 512", **{OURS: 4e-4, OURS_NATIVE: 3e-5, COMPILED: 5e-5})
    assert [target.bound for target in run_of(large).native_targets()] == [0.8, 1.0]
    beside_torch = native("CNN, 64x28x28", **{OURS: 4e-4, OURS_NATIVE: 3e-5})
    assert run_of(beside_torch).native_targets() == []


def test_the_native_engine_is_bounded_in_functions_in_calls_and_beside_c() -> None:
    found = run_of()
    found.functions = [
        function("np.exp", **{OURS: 2.0, OURS_COMPILED: 1.0, OURS_NATIVE: 0.5}),
        function("np.sin", **{OURS: 2.0, OURS_COMPILED: 1.0, OURS_NATIVE: 2.4}),
    ]
    found.overheads = {"numpy": {"1 array": 1e-6}, "native": {"1 array": 3e-6}}
    found.besides = [
        Beside("native / C", 1.3, Times([1.2, 1.2]), Times([1.0, 1.0])),
        Beside("two threads / one", 0.6, reason="there is one core alone"),
    ]
    targets = found.native_targets()
    assert [target.measured for target in targets] == pytest.approx([1.2, 1.2, 3.0])
    assert [target.met for target in targets] == [False, True, False]


def test_the_page_says_by_how_much_the_native_engine_misses_and_what_numpy_does() -> None:
    seconds = {
        OURS: 4e-4,
        OURS_COMPILED: 2e-4,
        OURS_NATIVE: 4e-5,
        COMPILED: 5e-5,
        TORCH_COMPILED: 8e-5,
    }
    found = run_of(native("Hessian, 50", **seconds))
    found.besides = [Beside("two threads / one", 0.6, reason="there is one core alone")]
    page = "".join(pages(found, "bars.png", "chart.png").values()).splitlines()
    row = "| Hessian, 50 | 200 us | 40 us | 50 us | **0.8** | 0.5 | 80 us | 0.5 |"
    assert f"{row} 30 ms | 200 ms | 0.15 | 1 | 3 s | 18 of 20, 2 |" in page
    assert "## Native: 1 of 2 targets met" in page
    missed = "- Hessian, 50: native time / jax.jit: 0.8 (at most 0.5), 1.6 times as much"
    assert missed in page
    assert "- Hessian, 50: np.sort (2 times), np.fft.fft: no native code for it" in page
    assert "| two threads / one |  |  |  | 0.6 | there is one core alone |" in page


def test_a_page_without_the_native_engine_has_no_section_for_it() -> None:
    assert native_section([timed("Hessian, 50", **{OURS: 1.0})], [], {}, []) == []


def test_a_loop_in_c_gives_what_the_formula_gives(tmp_path: Path) -> None:
    if shutil.which(COMPILER) is None:
        pytest.skip("there is no C compiler")
    try:
        loop = compiled_loop(tmp_path)
    except subprocess.CalledProcessError:
        pytest.skip("the C library has no functions of whole registers")
    x = np.linspace(-3, 3, 64)
    value, gradient = loop(x)
    tanh, exp = np.tanh(x), np.exp(-x * x)
    np.testing.assert_allclose(value, np.sum(tanh * exp), rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(gradient, (1 - tanh**2) * exp - 2 * x * tanh * exp, rtol=1e-12)


def test_one_core_is_not_asked_for_two_threads() -> None:
    assert two_threads_beside_one((0,)).reason == "there is one core alone"
