import numpy as np
import pytest

from benchmarks.agreement import disagreements
from benchmarks.found import losses
from benchmarks.functions import functions_section
from benchmarks.growth import GROWTHS, RecordCost
from benchmarks.libraries import (
    BY_HAND,
    FORWARD,
    LIBRARIES,
    OURS,
    OURS_COMPILED,
    PLAIN,
    TORCH,
)
from benchmarks.page import pages
from benchmarks.results import Result
from benchmarks.timing import in_turns
from benchmarks.workloads import EVERY, FUNCTIONS, WORKLOADS
from tests.benchmarks.engines import HAS_NATIVE
from tests.benchmarks.results import function, run_of, timed

ONE = np.array(1.0)


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
    assert row in "".join(pages(found, "bars.png", "chart.png").values()).splitlines()


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
    page = "".join(pages(found, "bars.png", "chart.png").values())
    assert "| for v in x | 13 | 10 | 1.30 |" in page


@pytest.mark.parametrize("name", GROWTHS)
def test_what_grows_can_be_run(name: str) -> None:
    if GROWTHS[name].native and not HAS_NATIVE:
        pytest.skip("there is no native engine")
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
        "PyTorch eager": ["2 x determinant, 8x8", "1.5 x least squares, 512, allocated memory"],
        "JAX compiled (jit)": ["4 x determinant, 8x8"],
        "autograd": ["2 x import"],
    }


@pytest.mark.parametrize("workload", EVERY.values(), ids=EVERY)
def test_a_library_without_array_functions_needs_a_formula_of_its_own(workload: object) -> None:
    assert isinstance(workload, type(WORKLOADS["determinant, 8x8"]))
    bare = [name for name, library in LIBRARIES.items() if not library.has_functions]
    for name in bare:
        assert bool(workload.reason_against(name)) == (name not in workload.own)
    assert BY_HAND in bare


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
