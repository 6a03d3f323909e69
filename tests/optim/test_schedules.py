"""Schedules: their values at the steps where something changes."""

import numpy as np
import pytest

from tape_ad.optim import SGD, Constant, Cosine, StepDecay, WarmUp
from tape_ad.optim.schedules import Schedule


@pytest.mark.parametrize(
    ("schedule", "expected"),
    [
        (Constant(0.5), [0.5] * 7),
        (StepDecay(1.0, step_size=3), [1.0, 1.0, 1.0, 0.1, 0.1, 0.1, 0.01]),
        (
            Cosine(1.0, steps=4, eta_min=0.5),
            [1, 0.75 + 0.125**0.5 / 2 * 1, 0.75, 0.75 - 0.125**0.5 / 2, 0.5, 0.5, 0.5],
        ),
        (WarmUp(Constant(0.9), steps=2), [0.3, 0.6, 0.9, 0.9, 0.9, 0.9, 0.9]),
        (
            WarmUp(StepDecay(1.0, step_size=2, gamma=0.5), steps=2, start_factor=0.0),
            [0.0, 0.5, 1.0, 1.0, 0.5, 0.5, 0.25],
        ),
    ],
    ids=str,
)
def test_the_rate_of_each_step(schedule: Schedule, expected: list[float]) -> None:
    np.testing.assert_allclose([schedule(step) for step in range(7)], expected, rtol=1e-15)


def test_an_optimizer_is_told_its_rate() -> None:
    params = {"w": np.array([0.0])}
    optimizer = SGD()
    schedule = StepDecay(1.0, step_size=1, gamma=0.5)
    for step in range(3):
        optimizer.lr = schedule(step)
        optimizer.step(params, {"w": np.array([-1.0])})
    assert params["w"].item() == 1 + 0.5 + 0.25


def test_what_makes_no_sense_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^Constant: lr must be a finite number, 0 or above"):
        Constant(-1.0)
    with pytest.raises(ValueError, match=r"^StepDecay: step_size must be at least 1, got 0$"):
        StepDecay(1.0, step_size=0)
    with pytest.raises(ValueError, match=r"^Cosine: steps must be at least 1, got 0$"):
        Cosine(1.0, steps=0)
    with pytest.raises(ValueError, match=r"^WarmUp: steps must be at least 1, got -2$"):
        WarmUp(Constant(1.0), steps=-2)
