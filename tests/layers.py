"""The layers of the package by the contract, and their table in docs/contributing.md.

python -m tests.layers    writes the table anew
"""

import ast
import re
import tomllib
from pathlib import Path

__all__ = ["LAYERS", "PAGE", "with_table"]

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "contributing.md"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
CONTRACT = PROJECT["tool"]["importlinter"]["contracts"][0]
LAYERS = [layer.split(" | ") for layer in reversed(CONTRACT["layers"])]
"""The packages of each layer, from the lowest one up."""


def summary(package: str) -> str:
    """Give the first line of what a package, or a module, says of itself."""
    path = ROOT / "tape_ad" / package
    path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return docstring.splitlines()[0].rstrip(".")


def with_table(page: str) -> str:
    """Give the text of the page with the table as the contract and the packages have it."""
    rows = [
        f"| {number} | `{package}` | {summary(package)} |\n"
        for number, layer in reversed([*enumerate(LAYERS, 1)])
        for package in layer
    ]
    head = "| layer | package | what is in it |\n|---|---|---|\n"
    return re.sub(r"^\| layer .*\n(\|.*\n)*", head + "".join(rows), page, flags=re.MULTILINE)


if __name__ == "__main__":
    PAGE.write_text(with_table(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
