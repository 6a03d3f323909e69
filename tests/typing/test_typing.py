"""What mypy and pyright make of programs with handles, given our stubs for NumPy.

They need pyright, so they are left out where it is not installed beside this Python, but where
TAPE_AD_TYPES says that they are required. Another pyright in PATH would do, but NumPy's own types
say less in older releases, so what the checkers find is true of the newest ones only.
"""

import os
import shutil
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.typing.checkers import CHECKERS, complaints, project
from tests.typing.documents import DOCUMENTS, as_program, program_name
from tests.typing.judging import judged

pytestmark = pytest.mark.skipif(
    shutil.which("pyright", path=str(Path(sys.executable).parent)) is None
    and os.environ.get("TAPE_AD_TYPES") != "required",
    reason="pyright is not installed",
)


KNOWN: dict[str, list[tuple[str, str]]] = {
    "mypy": [
        ("docs_tutorial_08_compile", "not callable"),  # a loop over a dict of unlike functions
        ("docs_tutorial_10_several_processes", "already defined"),  # a function, shown in two forms
    ],
    "pyright": [
        # A class of floats is given handles, which runs.
        *[("docs_tutorial_03_trees_and_parameters", 'type "Tensor" cannot be assigned')] * 4,
        # It guesses from the code of libraries without annotations, and guesses wrong.
        *[("docs_tutorial_04_training_loop", "Cannot access attribute")] * 2,
        ("docs_tutorial_09_sparse_and_large", 'type "list[int]" cannot be assigned'),
    ],
}
"""What the checkers say of the documents nevertheless, by document."""


@pytest.mark.parametrize("checker", CHECKERS)
def test_a_program_with_types_has_no_errors(checker: str, tmp_path: Path) -> None:
    program = Path(shutil.copy(Path(__file__).parent / "program.py", project(tmp_path)))
    assert complaints(checker, tmp_path, [program], untyped=False) == []


@pytest.mark.parametrize("checker", CHECKERS)
def test_the_blocks_of_the_documents_have_no_errors(checker: str, tmp_path: Path) -> None:
    project(tmp_path)
    files = [tmp_path / f"{program_name(document)}.py" for document in DOCUMENTS]
    for document, file in zip(DOCUMENTS, files, strict=True):
        file.write_text(as_program(document), encoding="utf-8")
    assert "ComputationRecord" in files[0].read_text(encoding="utf-8")
    found = complaints(checker, tmp_path, files, untyped=True)
    known = KNOWN[checker]
    for name, text in known:
        fitting = [line for line in found if f"{name}.py:" in line and text in line]
        assert fitting, f"{name} has no such error any more: {text}"
        found.remove(fitting[0])
    assert found == []


@pytest.mark.parametrize("checker", CHECKERS)
def test_as_many_expressions_are_right_as_the_documents_say(checker: str, tmp_path: Path) -> None:
    counts = Counter(kind for _, kind, _ in judged(checker, project(tmp_path)))
    assert counts["wrong"] == counts["error"] == 0
    assert counts["right"] >= 202
