"""The problems of benchmarks.sparse are right, and memory goes with the nonzeros."""

import pytest

from benchmarks import sparse
from benchmarks.timing import Pace

PROBLEMS = {problem.name: problem for problem in sparse.problems(quick=True)}


@pytest.mark.parametrize("name", PROBLEMS)
def test_a_matrix_that_is_timed_is_right(name: str) -> None:
    problem = PROBLEMS[name]
    sparse.check(problem, problem.derivative(problem.function))


def test_a_wrong_matrix_is_told() -> None:
    problem = PROBLEMS["chained Rosenbrock, Hessian"]
    other = problem.derivative(sparse.extended_rosenbrock)
    with pytest.raises(AssertionError):
        sparse.check(problem, other)


def test_a_problem_is_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sparse, "ENGINES", ["numpy"])
    row = sparse.timed(PROBLEMS["extended Rosenbrock, Hessian"], Pace(seconds=1e-4, rounds=3))
    assert row[:4] == ["extended Rosenbrock, Hessian", "1000", "2000", "2"]
    assert len(row) == len(sparse.HEAD)


def test_memory_goes_with_the_nonzeros() -> None:
    small, large = sparse.memory([2_000, 20_000])
    for few, many in zip(small[4:], large[4:], strict=True):
        assert int(many) <= 1.2 * int(few)
