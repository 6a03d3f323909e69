"""Tools in other processes, timed beside ours."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from benchmarks.gradbench import other_tools
from benchmarks.gradbench.inputs import bundle, clusters, hand, mixture, text
from benchmarks.gradbench.other_tools import RUNNER, beside_cpp, missing
from benchmarks.gradbench.protocol import Tool
from benchmarks.gradbench.tasks import plain

TOOL = """
import json, os, sys

assert sys.argv[1:] == ["manual"]
for message in map(json.loads, sys.stdin):
    response = {"id": message["id"]}
    if message["kind"] == "define":
        response["success"] = message["module"] != "det"
        response["error"] = "not by " + os.environ["CXX"]
    if message["kind"] == "evaluate":
        names = ("prepare", 1), ("evaluate", 4000), ("evaluate", 3000)
        response["timings"] = [{"name": name, "nanoseconds": taken} for name, taken in names]
        response["success"], response["output"] = True, 2.0
    print(json.dumps(response), flush=True)
"""
"""Says that every derivative is 2, in three microseconds, and has no determinants."""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    place = tmp_path / RUNNER
    place.parent.mkdir(parents=True)
    place.write_text(TOOL)
    return tmp_path


@pytest.fixture
def compiler(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("CXX", "some-compiler")
    monkeypatch.setattr(shutil, "which", lambda name: name)
    return "some-compiler"


def test_least_times_are_compared(checkout: Path, compiler: str) -> None:
    assert missing(checkout) is None
    (row,) = beside_cpp(checkout, [("hello", "one number", 1.0)])
    assert not row.problem
    assert row.what == "hello double, one number"
    assert row.theirs == pytest.approx(3e-6)
    assert row.ours > 0
    assert f"ratio {row.ours / 3e-6:.3g}, aim 1" in str(row)


@pytest.mark.usefixtures("compiler")
def test_other_derivatives_are_told(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(other_tools, "SECONDS", 0)
    (row,) = beside_cpp(checkout, [("lse", "n 1", {"x": [3.0]})])
    assert str(row).endswith("the derivatives differ")


def test_what_a_tool_cannot_compile_is_told(checkout: Path, compiler: str) -> None:
    (row,) = beside_cpp(checkout, [("det", "1 row", {"A": [3.0], "ell": 1})])
    assert str(row).endswith(f"not by {compiler}")


def test_what_is_missing_is_told_in_a_line(
    checkout: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "is no checkout of GradBench" in str(missing(tmp_path_factory.mktemp("empty")))
    monkeypatch.delenv("CXX", raising=False)
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert "neither g++ nor clang++" in str(missing(checkout))
    monkeypatch.setattr(shutil, "which", lambda name: name if name == "clang++" else None)
    assert str(missing(checkout)).endswith("there is no make")


@pytest.mark.parametrize(
    ("module", "given"),
    [
        ("ba", bundle(2, 3, 5)),
        ("gmm", mixture(3, 2, 5)),
        ("ht", hand(4, 6)),
        ("ht", hand(4, 6, simple=True)),
        ("kmeans", clusters(2, 6, 3)),
        ("lstm", text(2, 4, bits=3)),
    ],
)
def test_inputs_are_what_the_evals_take(module: str, given: dict[str, Any]) -> None:
    function = "dir" if module == "kmeans" else "jacobian"
    message = {"id": 1, "kind": "evaluate", "module": module, "function": function}
    response = Tool("eager", compiled=False).answer(message | {"input": plain(given)})
    assert response["success"], response["error"]
