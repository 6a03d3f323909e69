"""A few thousand random calls, the same in every run."""

import time

import pytest

from tests.fuzz.calls import tried
from tests.fuzz.known import is_known
from tests.fuzz.problems import in_time

PART = 400
"""How many calls there are in a test."""


@pytest.mark.parametrize("part", range(12))
def test_random_calls_are_numpys_and_their_derivatives_right(part: int) -> None:
    for number in range(part * PART, (part + 1) * PART):
        call, problem = tried(7, number)
        if problem is None or problem.kind == "refused" or is_known(call, problem):
            continue
        pytest.fail(f"--seed 7 --number {number}: {problem.kind} of {call}\n{problem.story}")


def test_a_call_is_the_same_for_the_same_numbers() -> None:
    assert str(tried(0, 5)[0]) == str(tried(0, 5)[0])
    assert str(tried(0, 5)[0]) != str(tried(0, 6)[0])


def test_a_call_that_takes_very_long_is_a_problem() -> None:
    def look() -> None:
        time.sleep(3)

    problem = in_time(look, seconds=1)

    assert problem is not None
    assert problem.kind == "slow"
