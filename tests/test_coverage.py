"""The page on coverage: it is fresh, and whatever it says of a function is about one there is."""

from collections import Counter
from pathlib import Path

import pytest

from tests.coverage import __main__ as command
from tests.coverage.conventions import CONVENTIONS
from tests.coverage.document import OTHERS, Line, changes, document, lines
from tests.coverage.topics import NEWER

PAGE = Path(__file__).parents[1] / "docs" / "coverage.md"


@pytest.fixture(name="written", scope="module")
def written_lines() -> list[Line]:
    return list(lines())


def test_the_page_is_fresh() -> None:
    assert changes(PAGE.read_text(encoding="utf-8")) == []  # else: python -m tests.coverage


def test_every_function_has_one_line_and_a_topic(written: list[Line]) -> None:
    assert [
        name for name, count in Counter(line.name for line in written).items() if count > 1
    ] == []
    assert [line.name for line in written if line.topic == OTHERS] == []


def test_conventions_are_about_functions_that_have_a_rule(written: list[Line]) -> None:
    named = CONVENTIONS.keys() - NEWER.keys()
    assert sorted(named - {line.name for line in written}) == []


def test_a_page_that_is_stale_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = tmp_path / "coverage.md"
    monkeypatch.setattr(command, "COVERAGE", page)
    monkeypatch.setattr("sys.argv", ["coverage", "--check"])
    page.write_text(document().replace("`np.tanh` | rule", "`np.tanh` | refused"), "utf-8")
    with pytest.raises(SystemExit, match=r"(?s)np.tanh`.*stale: run python -m tests.coverage$"):
        command.main()


@pytest.mark.parametrize("library", ["NumPy", "SciPy"])
def test_what_only_a_newer_release_has_is_not_missed(library: str) -> None:
    newer = document().replace("## Handles", f"| `futures` ({library} 9.1+) | rule |\n## Handles")
    assert changes(newer) == []
