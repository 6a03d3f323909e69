"""The user's lines that nodes were made in."""

import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad.record.messages.callers import kind_of


def squared(x: Any) -> Any:
    return x**2


def test_each_node_has_its_line() -> None:
    rec: Any = ta.ComputationRecord(trace_source=True)
    x = rec.tensor(np.ones(2))
    np.var(squared(x))  # a composition, of several nodes
    file, line, function = rec[1].source
    assert (file, function) == (__file__, "squared")
    assert line == squared.__code__.co_firstlineno + 1
    lines = {node.source[1:] for node in list(rec)[2:]}
    assert lines == {(line + 6, "test_each_node_has_its_line")} or len(lines) == 1
    assert str(rec[1]) == f"%1: float64[2] = power %0, 2  # test_sources.py:{line} in squared"


def test_without_being_asked_no_line_is_kept() -> None:
    rec: Any = ta.ComputationRecord()
    squared(rec.tensor(1.0))
    assert rec.sources == {}
    assert [node.source for node in rec] == [None, None]


def test_lines_of_installed_code_are_those_of_who_calls_it(tmp_path: Path) -> None:
    folder = tmp_path / "site-packages"
    folder.mkdir()
    (folder / "installed.py").write_text("def cubed(x):\n    return x * x * x\n")
    cubed = runpy.run_path(str(folder / "installed.py"))["cubed"]
    rec: Any = ta.ComputationRecord(trace_source=True)
    cubed(rec.tensor(2.0))
    assert {node.source[0] for node in rec} == {__file__}


def test_whose_code_a_file_is() -> None:
    assert kind_of("tape_ad.nn", "/src/tape_ad/nn.py") == "library"
    assert kind_of("numpy.lib", "/env/site-packages/numpy/lib.py") == "library"
    assert kind_of("functools", "/usr/lib/functools.py") == "library"
    assert kind_of("sklearn.x", "/env/site-packages/sklearn/x.py") == "installed"
    assert kind_of("__main__", "<stdin>") == "user"


def test_an_error_of_the_sweep_names_the_node_and_its_line() -> None:
    def pull(ct: Any, out: Any, x: Any) -> Any:
        raise ZeroDivisionError("mine")

    @ta.custom_rule(pull=pull)
    def twice(x: Any) -> Any:
        return 2 * x

    rec: Any = ta.ComputationRecord(trace_source=True)
    y = twice(rec.tensor(3.0)) + 1
    with pytest.raises(ZeroDivisionError, match="mine") as caught:
        y.grad()
    (note,) = caught.value.__notes__
    assert note.startswith("this was in the reverse sweep from %2, at node %1 (twice), made at ")
    assert note.endswith(" in test_an_error_of_the_sweep_names_the_node_and_its_line")


def test_the_error_of_an_array_that_was_written_to_has_the_line() -> None:
    rec: Any = ta.ComputationRecord(check_inputs=True)
    array = np.ones(3)
    y = np.sum(np.sin(rec.tensor(array)))
    array[0] = 3
    with pytest.raises(ta.errors.MutatedInputError, match=r"node %1 \(sin\), made at test_sources"):
        y.grad()


def test_a_released_record_names_the_line() -> None:
    rec: Any = ta.ComputationRecord(trace_source=True)
    y = squared(rec.tensor(3.0))
    y.grad(release=True)
    with pytest.raises(ta.errors.ReleasedError) as caught:
        y.grad()
    assert "in squared" in caught.value.__notes__[0]


def test_observed_sweeps_give_the_very_same_gradients() -> None:
    def swept(**asked: Any) -> Any:
        rec: Any = ta.ComputationRecord(**asked)
        x = rec.tensor(np.random.default_rng(0).normal(size=(5, 4)))
        y = np.tanh(x @ x.T) + x[1:, 2].sum()
        return np.sum(np.where(y > 0, y, y**2)).grad(release=True).wrt(x)

    assert np.array_equal(swept(), swept(trace_source=True))
