"""The documents: their links, and what a package index shows of the README."""

import re
import tomllib
from pathlib import Path
from urllib.parse import urlsplit

import pytest

ROOT = Path(__file__).parent.parent
BUILT = ROOT / "docs" / "_build"
DOCUMENTS = sorted(
    path
    for path in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    if not path.is_relative_to(BUILT)
)
RUN = ["README.md", "docs/*.md", "docs/tutorial/*.md", "docs/how-to/*.md"]
"""Whose blocks Sybil runs, as conftest.py says."""

HOSTS = [
    *("arxiv.org", "data-apis.org", "docs.scipy.org", "keepachangelog.com", "semver.org"),
    "tutorials.sciml.ai",
]
RELATIVE_LINK = re.compile(r"\]\((?!https?://|#)([^)#\s]+)[^)]*\)")


def prose(document: Path) -> str:
    """Give what a document says outside of code and comments."""
    return re.sub(r"(?ms)^```.*?^```|<!--.*?-->|`[^`]*`", "", document.read_text(encoding="utf-8"))


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_link_leads_to_a_file(document: Path) -> None:
    links = RELATIVE_LINK.findall(prose(document))
    assert [link for link in links if not (document.parent / link).exists()] == []


def anchors(document: Path) -> set[str]:
    """List the anchors that code hosting gives the headings of a document."""
    text = re.sub(r"(?ms)^```.*?^```", "", document.read_text(encoding="utf-8"))
    titles = [title.lower() for title in re.findall(r"(?m)^#+ (.*)$", text)]
    return {re.sub(r"[^\w\- ]", "", title).strip().replace(" ", "-") for title in titles}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_link_leads_to_a_heading(document: Path) -> None:
    links = re.findall(r"\]\((?!https?://)([^)#\s]*)#([^)\s]+)\)", prose(document))
    targets = {link: anchors(document.parent / link if link else document) for link, _ in links}
    assert [(link, anchor) for link, anchor in links if anchor not in targets[link]] == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_link_to_elsewhere_leads_to_a_known_host(document: Path) -> None:
    links = re.findall(r"\]\((https?:[^)\s]*)\)", prose(document))
    assert [link for link in links if urlsplit(link).netloc not in HOSTS] == []
    assert not [link for link in links if urlsplit(link).scheme != "https"]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_block_is_run_or_is_no_python(document: Path) -> None:
    text = document.read_text(encoding="utf-8")
    text = re.sub(r"(?ms)^```py\n(?:(?!^```).)*torch\..*?^```", "", text)  # PyTorch, shown beside
    fences = re.findall(r"(?m)^ *(?:```|~~~)(\S+)", text)
    assert set(fences) <= {"python", "output", "bash", "text", "{toctree}", "{include}"}
    assert re.findall(r"(?m)^ +```python", text) == []  # an indented one would not be run
    run = any(document.relative_to(ROOT).match(pattern) for pattern in RUN)
    assert run or "python" not in fences


def test_a_package_index_shows_no_link_that_leads_nowhere() -> None:
    hooks = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["metadata"]
    shown = (ROOT / "README.md").read_text(encoding="utf-8")
    assert RELATIVE_LINK.search(shown)
    for substitution in hooks["hooks"]["fancy-pypi-readme"]["substitutions"]:
        shown = re.sub(substitution["pattern"], substitution["replacement"], shown)
    assert RELATIVE_LINK.findall(shown) == []
    assert "the first gradient" in shown


def beside_pytorch() -> dict[str, float]:
    """Read how many times as long as PyTorch's eager mode each workload takes."""
    table = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8").split("## Medians")[1]
    header, _, *rows = [line for line in table.split("\n## ")[0].splitlines() if line[:1] == "|"]
    column = [name.strip() for name in header.split("|")].index("PyTorch eager")
    cells = [[cell.strip() for cell in row.split("|")] for row in rows]
    return {row[1]: float(row[column].split("<br>")[1]) for row in cells if "<br>" in row[column]}


@pytest.mark.parametrize(
    ("what", "workloads"),
    [
        (r"chains of small operations take (\S+) to (\S+) of", r"chain, (1|100) elements?"),
        (r"Jacobians and Hessians (\S+) to (\S+),", r"Jacobian|Hessian(,| of)"),
        (r"step of a dense network (\S+) to (\S+),", r"step, \S+x\S+x|step, digits|dense network"),
        (r"transformer block (\S+)\. ", "transformer block"),
    ],
)
def test_the_readme_says_what_the_benchmarks_say(what: str, workloads: str) -> None:
    readme = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    (found,) = re.finditer(what, readme)
    said = [float(number) for number in found.groups()]
    measured = [ratio for name, ratio in beside_pytorch().items() if re.match(workloads, name)]
    assert said[0] == pytest.approx(min(measured), rel=0.15)
    assert said[-1] == pytest.approx(max(measured), rel=0.15)
