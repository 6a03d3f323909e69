"""The two checkers, run on programs as a user would."""

import json
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from tape_ad.interop.stubs import write_stubs

__all__ = ["CHECKERS", "complaints", "project", "revealed"]

ROOT = Path(__file__).parents[2]
CHECKERS = ("mypy", "pyright")

OF_LIBRARIES = (
    "[mypy-scipy.*,sklearn.*,llvmlite.*]\nignore_missing_imports = true\n"
    "[mypy-tape_ad.*]\nfollow_imports = silent\n"
)
"""What a program says of libraries without annotations, and of this one: it is not to be checked,
as it is not where it has been installed."""

OF_BLOCKS = (
    "reportMissingModuleSource",
    "reportPossiblyUnboundVariable",
    "reportPrivateImportUsage",
    "reportRedeclaration",
    "reportUndefinedVariable",
)
"""What pyright says of blocks that follow one another, each with a name that the last one had."""

UNTYPED = ("--allow-untyped-defs", "--allow-untyped-calls", "--allow-untyped-decorators")
"""What a program without annotations needs from mypy."""


def project(folder: Path, stubs: bool = True) -> Path:
    """Set up a user's project, with the stubs for handles or without."""
    paths = f"{'typings:' if stubs else ''}{ROOT}"
    (folder / "mypy.ini").write_text(f"[mypy]\nstrict = true\nmypy_path = {paths}\n{OF_LIBRARIES}")
    settings: dict[str, object] = {"stubPath": "typings", "extraPaths": [str(ROOT)]}
    settings |= dict.fromkeys(OF_BLOCKS, False)
    (folder / "pyrightconfig.json").write_text(json.dumps(settings))
    if stubs:
        write_stubs(folder / "typings")
    return folder


def said_by(checker: str, folder: Path, files: Sequence[Path], untyped: bool) -> str:
    """Run a checker, and give what it prints: each line with a file, and a line's number."""
    names = [str(file.relative_to(folder)) for file in files]
    if checker == "mypy":
        options = [*(UNTYPED if untyped else ()), "--allow-redefinition", "--no-error-summary"]
        command = [sys.executable, "-m", "mypy", "--cache-dir", ".cache", *options, *names]
    else:
        command = ["pyright", "--pythonpath", sys.executable, *names]
    # What they return says that they found something, which is what they are asked for.
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


def complaints(checker: str, folder: Path, files: Sequence[Path], untyped: bool) -> list[str]:
    """List the errors that a checker finds in programs."""
    lines = said_by(checker, folder, files, untyped).splitlines()
    return [line.strip() for line in lines if re.search(r"\berror\b[: ]", line) and ".py:" in line]


def revealed(checker: str, folder: Path, expressions: Sequence[str], preamble: str) -> list[str]:
    """Say which types a checker gives to expressions; "error" where it finds one."""
    start = preamble.count("\n") + 1
    text = preamble + "".join(f"reveal_type({each})\n" for each in expressions)
    (folder / "revealing.py").write_text(text)
    types = dict.fromkeys(range(start, start + len(expressions)), "")
    for line in said_by(checker, folder, [folder / "revealing.py"], False).splitlines():
        place = re.search(r"revealing\.py:(\d+)", line)
        if place is None or int(place[1]) not in types:
            continue
        told = re.search(r'Revealed type is "(.*)"|Type of ".*" is "(.*)"', line)
        if re.search(r"\berror\b", line):
            types[int(place[1])] = "error"
        elif told and types[int(place[1])] != "error":
            types[int(place[1])] = told[1] or told[2]
    return list(types.values())
