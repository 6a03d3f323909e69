import importlib
import math

import numpy as np
import pytest

from benchmarks.agreement import disagreements
from benchmarks.compiled import (
    calls_until_paid,
    compiled_section,
    compiled_targets,
    printed_compiled,
)
from benchmarks.found import Run, losses
from benchmarks.functions import functions_section
from benchmarks.growth import GROWTHS, RecordCost
from benchmarks.libraries import (
    BY_HAND,
    COMPILED,
    FORWARD,
    LIBRARIES,
    OURS,
    OURS_COMPILED,
    PLAIN,
    TORCH,
)
from benchmarks.overhead import OVERHEADS, overhead_seconds, overhead_targets
from benchmarks.page import markdown
from benchmarks.results import Result
from benchmarks.timing import Times, in_turns
from benchmarks.workers import Desk
from benchmarks.workloads import EVERY, FUNCTIONS, WORKLOADS

ONE = np.array(1.0)


def run_of(*results: Result) -> Run:
    return Run(setting={}, versions={}, missing={}, results=list(results))


def timed(name: str, **medians: float) -> Result:
    return Result(WORKLOADS[name], times={k: Times([v, v, v]) for k, v in medians.items()})


def test_equal_derivatives_agree() -> None:
    outcome = [(ONE, {"x": np.array([1.0, 2.0])})]
    assert disagreements(outcome, {"other": outcome}) == []


def test_a_derivative_that_is_off_by_more_than_a_millionth_is_named() -> None:
    ours = [(ONE, {"x": np.array([1.0, 2.0])})]
    other = [(ONE, {"x": np.array([1.0, 2.00001])})]
    (found,) = disagreements(ours, {"other": other})
    assert "other: derivative by x in call 0" in found


@pytest.mark.parametrize("wrong", [np.array([1.0, np.nan]), np.array([[1.0, 2.0]])])
def test_nan_and_another_shape_disagree(wrong: np.ndarray) -> None:
    ours = [(ONE, {"x": np.array([1.0, 2.0])})]
    assert disagreements(ours, {"other": [(ONE, {"x": wrong})]})


def test_a_missing_derivative_disagrees() -> None:
    ours = [(ONE, {"x": ONE, "y": ONE})]
    assert disagreements(ours, {"other": [(ONE, {"x": ONE})]})


def test_a_value_alone_is_compared() -> None:
    ours = [(ONE, {"x": ONE})]
    assert disagreements(ours, {"forward": [(ONE, {})]}) == []
    assert disagreements(ours, {"forward": [(2 * ONE, {})]})


def test_programs_are_timed_in_turns_after_a_first_look() -> None:
    asked: list[str] = []

    def timer(name: str, seconds: float, calls: int) -> float:
        asked.append(name)
        return seconds

    times = in_turns(
        {
            "one": lambda calls: timer("one", 2.0, calls),
            "two": lambda calls: timer("two", 4.0, calls),
        }
    )
    assert times["two"].median == 2 * times["one"].median
    assert asked[-4:] == ["two", "one", "one", "two"]


def test_ratios_are_of_medians_and_bounds_are_checked() -> None:
    result = timed("Gaussian mixture, d=10, K=25", **{OURS: 3.0, TORCH: 2.0})
    (target,) = run_of(result).targets()
    assert target.measured == 1.5
    assert not target.met


def test_small_workloads_have_to_be_five_times_faster_than_python_peers() -> None:
    result = timed("determinant, 8x8", **{OURS: 1.0, "my_grad": 5.5, "hips_autograd": 4.0})
    met = {target.what: target.met for target in run_of(result).targets()}
    assert met == {
        "determinant, 8x8: time / MyGrad": True,
        "determinant, 8x8: time / HIPS autograd": False,
    }


def test_a_missed_target_that_numpy_by_hand_misses_too_is_dropped_and_the_page_says_so() -> None:
    result = timed("elementwise, 10^6", **{OURS: 1.2, TORCH: 1.0, BY_HAND: 0.8})
    found = run_of(result)
    assert found.targets() == []
    (dropped,) = found.dropped()
    assert (dropped.measured, dropped.bound, dropped.by_hand) == (1.2, 0.7, 0.8)
    row = "| elementwise, 10^6: time / PyTorch eager | 1.2 | 0.7 | 0.8 |  |  |"
    assert row in markdown(found, "chart.png").splitlines()


def test_what_a_record_costs_stands_beside_a_target_and_drops_none() -> None:
    result = timed("elementwise, 10^6", **{OURS: 1.2, TORCH: 1.0, BY_HAND: 0.5})
    result.nodes = 20
    found = run_of(result)
    found.cost = RecordCost(record=0.1, node=0.01)
    (target,) = found.targets()
    assert (target.met, target.by_hand) == (False, 0.5)
    assert target.recorded == pytest.approx(0.8)


def test_a_target_is_kept_where_it_is_met_whatever_numpy_takes() -> None:
    result = timed("elementwise, 10^6", **{OURS: 0.6, TORCH: 1.0, BY_HAND: 0.8})
    assert [target.met for target in run_of(result).targets()] == [True]


def test_layers_in_plain_numpy_are_a_fraction_of_ours_and_no_loss() -> None:
    result = timed("loop, 50 steps of 256 units", **{OURS: 2.0, PLAIN: 2.4})
    (target,) = run_of(result).targets()
    assert (target.what, target.met) == (
        "loop, 50 steps of 256 units: time in plain NumPy / with nn",
        False,
    )
    assert target.measured == pytest.approx(1.2)
    faster = timed("loop, 50 steps of 256 units", **{OURS: 2.0, PLAIN: 1.0})
    assert losses(run_of(faster)) == {}


def test_each_growth_has_a_line_and_a_bound_of_its_own() -> None:
    found = run_of()
    found.growths = {
        "a chain of cheap functions": {100: 10.0, 1_000: 13.0},
        "for v in x": {100: 13.0, 1_000: 10.0},
    }
    assert [(t.bound, t.met) for t in found.targets()] == [(1.25, False), (2.0, True)]
    page = markdown(found, "chart.png")
    assert "| for v in x | 13 | 10 | 1.30 |" in page


@pytest.mark.parametrize("name", GROWTHS)
def test_what_grows_can_be_run(name: str) -> None:
    GROWTHS[name].program(10)


def test_losses_name_who_needs_less_of_what_and_not_the_forward_pass() -> None:
    result = timed(
        "determinant, 8x8",
        **{OURS: 2.0, TORCH: 1.0, "jax_jit": 0.5, BY_HAND: 3.0, FORWARD: 0.1, OURS_COMPILED: 0.2},
    )
    memory = timed("least squares, 512", **{OURS: 1.0, TORCH: 2.0})
    memory.peaks = {OURS: 30, TORCH: 20}
    found = run_of(result, memory)
    found.imports = {"tape_ad": 40.0, "autograd": 20.0, "torch": 900.0}
    assert losses(found) == {
        "PyTorch eager": ["2.00 x determinant, 8x8", "1.50 x least squares, 512, allocated memory"],
        "JAX compiled (jit)": ["4.00 x determinant, 8x8"],
        "autograd": ["2.00 x import"],
    }


@pytest.mark.parametrize("workload", EVERY.values(), ids=EVERY)
def test_a_library_without_array_functions_needs_a_formula_of_its_own(workload: object) -> None:
    assert isinstance(workload, type(WORKLOADS["determinant, 8x8"]))
    bare = [name for name, library in LIBRARIES.items() if not library.has_functions]
    for name in bare:
        assert bool(workload.reason_against(name)) == (name not in workload.own)
    assert BY_HAND in bare


def function(name: str, **seconds: float) -> Result:
    return Result(FUNCTIONS[name], times={k: Times([v, 9.0, 9.0]) for k, v in seconds.items()})


def test_the_median_is_of_all_functions_and_the_worst_of_those_that_numpy_does_not_bound() -> None:
    found = run_of()
    found.functions = [
        function("np.exp", **{OURS: 1.0, TORCH: 2.0, FORWARD: 0.5}),
        function("np.add", **{OURS: 1.4, TORCH: 1.0, FORWARD: 0.1}),
        function("np.sin", **{OURS: 3.0, TORCH: 1.0, FORWARD: 0.9, BY_HAND: 1.6}),
        function("x**3", **{OURS: 8.0, TORCH: 1.0, FORWARD: 7.0}),
        function("np.abs", **{OURS: 1.3, TORCH: 1.0, FORWARD: 1.2}),
    ]
    median, worst = found.targets()
    assert (median.measured, median.met) == (1.4, False)
    assert (worst.measured, worst.met) == (1.4, True)


def test_the_page_sorts_functions_and_names_those_that_numpy_bounds() -> None:
    page = functions_section(
        [
            function("np.exp", **{OURS: 1.0, TORCH: 2.0, FORWARD: 0.5}),
            function("x**3", **{OURS: 8.0, TORCH: 1.0, FORWARD: 7.0}),
        ]
    )
    assert "- x**3 (float64): NumPy alone 7.00, tape_ad 8.00" in page
    rows = [line.split(" | ")[:2] for line in page if line.startswith("| ")]
    assert rows[2:] == [["| x**3", "8.00"], ["| np.exp", "0.50"]]


def test_a_page_without_functions_has_no_section_for_them() -> None:
    assert functions_section([]) == []
    assert functions_section([Result(FUNCTIONS["np.exp"])]) == []


def test_no_function_has_the_name_of_a_workload() -> None:
    assert len(EVERY) == len(WORKLOADS) + len(FUNCTIONS)
    assert len(FUNCTIONS) == 81


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


def test_a_compiled_workload_is_bounded_in_time_and_in_its_first_calls() -> None:
    result = compiled("Hessian, 50", **{OURS: 4e-4, OURS_COMPILED: 1.2e-4})
    time, capture = run_of(result).compiled_targets()
    assert (time.bound, time.met, capture.met) == (0.25, False, False)
    assert time.measured == pytest.approx(0.3)
    assert capture.measured == pytest.approx(3e-3 / (2.4e-3 + 4e-4))
    large = compiled("least squares, 512", **{OURS: 5e-4, OURS_COMPILED: 5e-4})
    assert [target.met for target in run_of(large).compiled_targets()] == [True, True]


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
    found.overheads = {"1 array": 1e-6}
    page = markdown(found, "chart.png").splitlines()
    row = "| Hessian, 50 | 400 us | 160 us | **0.4** | 0.25 | 0.5 | 3 ms | 2.8 ms | 20 | 13 |"
    assert f"{row} 20 us | 200 ms | 102 | 8 |" in page
    assert "## Compiled: 1 of 3 targets met" in page
    assert "- Hessian, 50: compiled time / eager: 0.4 (at most 0.25)" in page
    assert "| 1 array | 1.00 | 2.0 |" in page
    assert compiled_section([timed("Hessian, 50", **{OURS: 1.0})], [], {}) == []


def test_a_compiled_call_may_take_so_much_besides_its_program() -> None:
    bounds = [target.bound for target in overhead_targets(dict.fromkeys(OVERHEADS, 3e-6))]
    assert bounds == pytest.approx([2.0, 2.0, 6.5, 3.5])


@pytest.mark.parametrize("name", OVERHEADS)
def test_what_a_call_takes_besides_its_program_is_measured(name: str) -> None:
    assert 0 < overhead_seconds(name) < 1e-3


LONG = {
    "chain, 10,000 elements",
    "chain of 1,000 steps, 10^5 elements",
    "elementwise, 10^6",
    "step, 256x784x1024x10",
    "attention, 8x256x256",
    "transformer block, 8x256x256",
    "CNN, 64x28x28",
    "Gaussian mixture, d=64, K=100",
    "LSTM, 1,024 characters",
    "determinant, 8x8",
    "Hessian of a network, 500",
    "Hessian of a network, 2,000",
    "stack of 1,000",
    "stack of 10,000",
}
"""Which take seconds: `python -m benchmarks` compares them."""


@pytest.mark.parametrize("name", [name for name in EVERY if name not in LONG])
def test_compiled_programs_give_the_bits_of_eager_ones(name: str) -> None:
    eager, replayed = (
        Desk(importlib.import_module(f"benchmarks.libraries.{library}")).outcomes(name, 4)
        for library in (OURS, OURS_COMPILED)
    )
    for (value, derivatives), (other, others) in zip(eager, replayed, strict=True):
        np.testing.assert_array_equal(other, value, strict=True)
        assert others.keys() == derivatives.keys()
        for by, derivative in derivatives.items():
            np.testing.assert_array_equal(others[by], derivative, strict=True)
