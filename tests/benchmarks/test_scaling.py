"""The simulation of steps over many workers, where it can be worked out by hand."""

import pytest

pytest.importorskip("distributed")

from benchmarks.scaling import Costs, Setting, levels_of, simulated

COSTS = Costs(step=0.01, task=0.001, byte=1e-8, add=0.0)


def test_a_task_adds_eight() -> None:
    assert levels_of(1) == [1]
    assert levels_of(8) == [8, 1]
    assert levels_of(65) == [65, 9, 2, 1]


@pytest.mark.parametrize(
    ("setting", "seconds"),
    [
        (Setting(1, 1, work=1.0), 0.01 + 0.001 + 1.0),
        (Setting(2, 2, work=1.0), 0.01 + 2 * 0.001 + 1.0 + 0.001),
        (Setting(1, 2, work=1.0), 0.01 + 0.001 + 2.0 + 0.001),
        (Setting(1, 1, nbytes=1e6), 0.01 + 0.001 + 2 * 0.01),
        (Setting(2, 2, nbytes=1e6), 0.01 + 0.001 + 2 * 0.01 + 0.001 + 0.01 + 0.01),
    ],
)
def test_a_step_takes_its_longest_way(setting: Setting, seconds: float) -> None:
    assert simulated(setting, COSTS) == pytest.approx(seconds)


def test_more_workers_help_until_the_scheduler_is_busy() -> None:
    times = [simulated(Setting(n, n, 10 / n), COSTS) for n in (1, 10, 100, 1000, 10_000)]
    assert times[0] > times[1] > times[2]
    assert times[4] > times[3]
