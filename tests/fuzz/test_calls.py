"""A few thousand random calls, the same in every run."""

import time

import pytest

from tests.fuzz.calls import tried
from tests.fuzz.known import is_known
from tests.fuzz.problems import in_time
from tests.sampling import some

PART = 400
"""How many calls there are in a test."""


@pytest.mark.parametrize("part", some(range(12), 4))
def test_random_calls_are_numpys_and_their_derivatives_right(part: int) -> None:
    for number in range(part * PART, (part + 1) * PART):
        call, problem = tried(7, number)
        if problem is None or problem.kind == "refused" or is_known(call, problem):
            continue
        pytest.fail(f"--seed 7 --number {number}: {problem.kind} of {call}\n{problem.story}")


@pytest.mark.parametrize("part", some(range(4), 2))
def test_random_calls_of_what_stands_for_scipys_are_right(part: int) -> None:
    # What SciPy computes of arguments that make no sense, and what it refuses, is left to it
    telling = {"structure", "value", "adjoint", "stack", "difference", "second", "single"}
    for number in range(part * 60, (part + 1) * 60):
        call, problem = tried(7, number, "tape_ad.")
        if problem is not None and problem.kind in telling and not is_known(call, problem):
            pytest.fail(f"--module tape_ad. --seed 7 --number {number}: {problem.kind} of {call}")


def test_a_call_is_the_same_for_the_same_numbers() -> None:
    assert str(tried(0, 5)[0]) == str(tried(0, 5)[0])
    assert str(tried(0, 5)[0]) != str(tried(0, 6)[0])


def test_a_call_that_takes_very_long_is_a_problem() -> None:
    def look() -> None:
        time.sleep(3)

    problem = in_time(look, seconds=1)

    assert problem is not None
    assert problem.kind == "slow"
