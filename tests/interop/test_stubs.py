"""The stubs of NumPy with overloads for handles; tests/typing asks the checkers about them."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from tape_ad.interop.stubs import File, overloads, write_stubs
from tape_ad.rules import RULES
from tape_ad.rules.base import Refused


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    folder = tmp_path_factory.mktemp("typings")
    return folder, write_stubs(folder)


def test_every_file_is_python(written: tuple[Path, list[str]]) -> None:
    files = list(written[0].rglob("*.pyi"))
    assert len(files) > 100
    for file in files:
        ast.parse(file.read_text(encoding="utf-8"))


def test_most_functions_with_a_rule_are_found(written: tuple[Path, list[str]]) -> None:
    found = {name.rpartition(".")[2] for name in written[1]}
    wanted = {
        function.__name__
        for function, entry in RULES.items()
        if getattr(function, "__module__", None) == "numpy" and not isinstance(entry, Refused)
    }
    aliases = {name for name in wanted - found if name.startswith("nan")}
    assert len(found) > 280
    assert wanted - found - aliases <= {"max", "min", "round", "polymul", "quantile", "trapezoid"}


def test_a_handle_may_stand_in_the_place_of_any_array() -> None:
    file = File("def solve(a: ArrayLike, b: ArrayLike, rcond: float = 1.0) -> NDArray[Any]: ...")
    node = file.tree.body[0]
    assert isinstance(node, ast.FunctionDef)
    assert overloads(file, [node], plain=False) == [
        "def solve(a: _Tensor, b: ArrayLike | _Tensor, rcond: float = ...) -> _Tensor: ...",
        "def solve(a: ArrayLike, b: _Tensor, rcond: float = ...) -> _Tensor: ...",
    ]


def test_the_command_writes_into_the_folder_that_it_is_given(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tape_ad.interop.stubs", "here"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)  # noqa: S603 - written here
    assert "functions take handles" in done.stdout
    assert (tmp_path / "here" / "numpy" / "__init__.pyi").exists()
