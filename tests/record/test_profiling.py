"""Where time and bytes go."""

import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad.record.inspection.profiling import LISTENING

PAUSE = 0.01


def slow_pull(ct: Any, out: Any, x: Any) -> Any:
    time.sleep(2 * PAUSE)
    return ct


@ta.custom_rule(pull=slow_pull)
def slow(x: Any) -> Any:
    time.sleep(PAUSE)
    return np.array(x)


def model(x: Any) -> Any:
    y = slow(x)
    return np.sum(y * y)


def rows(table: Any) -> dict[str, Any]:
    return {row.name: row for row in table}


def test_times_are_those_of_the_function_and_its_pull() -> None:
    with ta.profile() as p:
        for _ in range(2):
            ta.grad(model)(np.ones(100))
    found = rows(p.by_function)
    assert p.by_function[0].name == "slow"
    assert found["slow"].calls == 2
    assert 2 * PAUSE <= found["slow"].forward <= p.wall - 4 * PAUSE
    assert 4 * PAUSE <= found["slow"].sweep <= p.wall - 2 * PAUSE
    assert found["multiply"].seconds <= p.wall - 6 * PAUSE
    assert p.counted + p.overhead <= p.wall
    assert p.counted == pytest.approx(sum(row.seconds for row in p.by_node))


def test_bytes_are_of_results_and_of_what_partials_hold() -> None:
    with ta.profile() as p:
        ta.grad(model)(np.ones(100))
    found = rows(p.by_function)
    assert (found["multiply"].bytes, found["multiply"].held) == (800, 800)  # one array, held twice
    assert (found["sum"].bytes, found["sum"].held) == (8, 0)


def test_lines_are_the_users() -> None:
    with ta.profile() as p:
        ta.grad(model)(np.ones(100))
    first = model.__code__.co_firstlineno
    found = rows(p.by_line)
    assert found[f"test_profiling.py:{first + 1} in model"].seconds >= 3 * PAUSE
    assert found[f"test_profiling.py:{first + 2} in model"].calls == 2
    assert any(stack[-1] == "slow, backward" for stack in p.stacks)
    assert any(stack[-2].startswith("model (test_profiling.py:") for stack in p.stacks)


def test_the_same_node_of_many_records_is_one_entry() -> None:
    with ta.profile() as p:
        for _ in range(5):
            ta.grad(lambda x: np.sum(x * x))(np.ones(3))
    assert [row.calls for row in p.by_node if "multiply" in row.name] == [5]


def test_what_runs_within_a_node_is_not_counted_twice() -> None:
    with ta.profile() as p:
        ta.grad(lambda x: np.sum(ta.checkpoint(slow)(x)))(np.ones(3))
        ta.hessian(model)(np.ones(2))
    assert p.counted <= p.wall


def test_one_record_alone() -> None:
    rec: Any = ta.ComputationRecord()
    y = model(rec.tensor(np.ones(100)))
    p = rec.profile()
    assert rows(p.by_function)["multiply"].held == 800
    assert p.counted == 0
    assert "no time was taken" in str(p)
    with p:
        y.grad()
        ta.grad(model)(np.ones(3))  # of another record
    assert 2 * PAUSE <= rows(p.by_function)["slow"].sweep <= p.wall - 3 * PAUSE
    assert len(p.by_node) <= len(rec) + 1


def test_gradients_are_the_very_same() -> None:
    def gradient() -> Any:
        x = np.random.default_rng(0).normal(size=(8, 5))
        return ta.grad(lambda x: np.sum(np.where(x > 0, np.tanh(x @ x.T @ x), x)))(x)

    plain = gradient()
    with ta.profile(), ta.profile():
        profiled = gradient()
    assert np.array_equal(plain, profiled)


def test_it_leaves_nothing_behind() -> None:
    before = ta.Tensor._two
    with pytest.raises(ZeroDivisionError), ta.profile():
        1 / int(ta.Tensor._two is before)
    assert ta.Tensor._two is before
    assert LISTENING == []
    assert ta.ComputationRecord().observer is None


def test_another_thread_is_not_counted() -> None:
    with ta.profile() as p:
        thread = threading.Thread(target=ta.grad(model), args=(np.ones(3),))
        thread.start()
        thread.join()
    assert p.by_node == []


def test_a_nan_is_found_under_a_profile_too() -> None:
    root = ta.grad(lambda x: np.sum(np.sqrt(x)))
    error = pytest.raises(ta.errors.NonFiniteError)
    with error, ta.profile() as p, ta.debug_nans(), np.errstate(all="ignore"):
        root(np.zeros(2))
    assert rows(p.by_function)["sqrt"].calls == 1


def test_it_prints_as_a_table() -> None:
    with ta.profile() as p:
        ta.grad(model)(np.ones(100))
    text = str(p)
    (line,) = [line for line in text.splitlines() if line.startswith("slow ")]
    assert "1" in line.split()
    assert "800 bytes" in line
    assert "function" in text
    assert "ms for profiling itself" in text


def test_all_of_the_time_is_told() -> None:
    fast = ta.compile(model)
    with ta.profile() as p:
        for _ in range(3):
            fast(np.ones(100))
            ta.grad(model)(np.ones(100))
    assert p.elsewhere > 0
    (row,) = [row for row in p.by_function if row.name == "compiled model"]
    assert row.calls == 3
    assert row.seconds > 0
    assert "compiled model" in p.collapsed
    assert p.counted + p.overhead + p.elsewhere == pytest.approx(p.wall)
    assert f"{p.elsewhere * 1e3:.1f} ms elsewhere" in str(p)


def test_a_page_has_the_tables_and_the_flame_graph(tmp_path: Path) -> None:
    namespace: dict[str, Any] = {"np": np}
    exec(  # noqa: S102 - a function whose name has to be escaped
        compile("def größe(x):\n    return np.sum(x * x)\n", "<script>.py", "exec"), namespace
    )
    with ta.profile() as p:
        ta.grad(namespace["größe"])(np.ones(10_000))
    page = p.save(tmp_path / "profile.html").read_text("utf-8")
    assert "<svg" in page
    assert "&lt;script&gt;.py:2 in größe" in page
    assert "<script" not in page
    assert "http://" not in page.replace("http://www.w3.org/2000/svg", "")
    assert "multiply, backward" in page
    lines = p.save(tmp_path / "stacks.txt").read_text("utf-8").splitlines()
    assert all(line.rpartition(" ")[2].isdigit() for line in lines)
    assert "<table" in p._repr_html_()


def test_nothing_at_all() -> None:
    with ta.profile() as p:
        pass
    assert p.by_line == []
    assert p.collapsed == ""
    assert "<svg" in p._page()
    assert "0.0 ms on nodes" in repr(p) or "0.0 ms of them on nodes" in repr(p)
