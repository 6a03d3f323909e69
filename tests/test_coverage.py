"""The page on coverage: it is fresh, and whatever it says of a function is about one there is."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.coverage import __main__ as command
from tests.coverage.conventions import CONVENTIONS
from tests.coverage.document import Line, changes, documents, lines
from tests.coverage.topics import INNER, NEWER, OTHERS, PAGES

DOCS = Path(__file__).parents[1] / "docs"


@pytest.fixture(name="written", scope="module")
def written_lines() -> list[Line]:
    return list(lines())


def test_the_page_is_fresh() -> None:
    assert changes(DOCS) == []  # else: python -m tests.coverage


def test_every_function_has_one_line_and_a_topic(written: list[Line]) -> None:
    assert [
        name for name, count in Counter(line.name for line in written).items() if count > 1
    ] == []
    assert [line.name for line in written if line.topic == OTHERS] == []
    listed = {topic for _, topics, _ in PAGES.values() for topic in topics}
    assert {line.topic for line in written} <= {*listed, INNER}


def test_conventions_are_about_functions_that_have_a_rule(written: list[Line]) -> None:
    named = CONVENTIONS.keys() - NEWER.keys()
    assert sorted(named - {line.name for line in written}) == []


def write(folder: Path, pages: Mapping[str, str]) -> None:
    (folder / "coverage").mkdir()
    for name, text in pages.items():
        (folder / name).write_text(text, encoding="utf-8")


def test_a_page_that_is_stale_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pages = documents()
    mathematics = "coverage/numpy-mathematics.md"
    pages[mathematics] = pages[mathematics].replace("`np.tanh` | rule", "`np.tanh` | refused")
    write(tmp_path, {**pages, "coverage/scipy-odr.md": "# scipy.odr"})
    monkeypatch.setattr(command, "DOCS", tmp_path)
    monkeypatch.setattr("sys.argv", ["coverage", "--check"])
    told = r"(?s)np.tanh`.*scipy-odr.md is no page any more\n.*stale: run python -m tests.coverage$"
    with pytest.raises(SystemExit, match=told):
        command.main()


@pytest.mark.parametrize("library", ["NumPy", "SciPy"])
def test_what_only_a_newer_release_has_is_not_missed(library: str, tmp_path: Path) -> None:
    pages = documents()
    pages["coverage/sklearn.md"] += f"| `futures` ({library} 9.1+) | rule |\n"
    write(tmp_path, pages)
    assert changes(tmp_path) == []
