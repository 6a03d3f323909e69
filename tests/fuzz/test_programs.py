"""Random programs, the same in every run: some parts of a few thousand."""

import pytest

from tests.fuzz.interrupts import interrupted
from tests.fuzz.programs import tried
from tests.sampling import some

PART = 120
"""How many programs there are in a test."""


@pytest.mark.parametrize("part", some(range(16), 8))
def test_random_programs_are_numpys_and_their_derivatives_right(part: int) -> None:
    for number in range(part * PART, (part + 1) * PART):
        program, problem = tried(11, number)
        if problem is not None:
            pytest.fail(f"--seed 11 --number {number}: {problem}\n{program}")


@pytest.mark.parametrize("part", range(2))
def test_an_interrupted_line_has_run_or_has_not(part: int) -> None:
    for number in range(part * PART, (part + 1) * PART):
        program, problem = interrupted(11, number)
        if problem is not None:
            pytest.fail(f"--seed 11 --number {number}: {problem}\n{program}")


def test_a_program_is_the_same_for_the_same_numbers() -> None:
    assert str(tried(0, 5)[0]) == str(tried(0, 5)[0])
    assert str(tried(0, 5)[0]) != str(tried(0, 6)[0])
