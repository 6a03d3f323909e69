"""The blocks of the documents, each document as one program."""

import re
from pathlib import Path

from tests.typing.checkers import ROOT

__all__ = ["DOCUMENTS", "as_program", "program_name"]

DOCUMENTS = (
    ROOT / "README.md",
    *sorted((ROOT / "docs" / "tutorial").glob("*.md")),
    *sorted((ROOT / "docs" / "how-to").glob("*.md")),
)

BLOCK = re.compile(r"(?ms)^(?:```python|<!-- invisible-code-block: python)\n(.*?)^(?:```|-->)")


def program_name(document: Path) -> str:
    """Name a document's program, as ``README`` or ``docs_tutorial_05_scipy``."""
    return re.sub(r"\W", "_", str(document.relative_to(ROOT).with_suffix("")))


def as_program(document: Path) -> str:
    """Put each block of a document on the lines that it has there; of a session, what is typed."""
    text = document.read_text(encoding="utf-8")
    lines = [""] * text.count("\n")
    for block in BLOCK.finditer(text):
        start = text.count("\n", 0, block.start(1))
        code = block[1].splitlines()
        if any(line.startswith(">>> ") for line in code):
            code = [line[4:] if re.match(r">>>|\.\.\.", line) else "" for line in code]
        lines[start : start + len(code)] = code
    return "\n".join([*lines, ""])
