"""Random programs, compiled, the same in every run: some parts of a hundred."""

import pytest

from tests.fuzz.compiled import random_program, tried
from tests.sampling import some

PART = 25
"""How many programs there are in a test."""


@pytest.mark.parametrize("part", some(range(4), 4))
def test_random_programs_give_the_same_bits_when_they_are_compiled(part: int) -> None:
    for number in range(part * PART, (part + 1) * PART):
        program, problem = tried(1, number)
        if problem is not None:
            pytest.fail(f"--seed 1 --number {number}: {problem}\n{program}")


def test_a_program_is_the_same_for_the_same_numbers() -> None:
    assert str(random_program(0, 5)) == str(random_program(0, 5))
    assert str(random_program(0, 5)) != str(random_program(0, 6))
