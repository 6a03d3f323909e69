"""Count what comes of other people's packages when handles go through `ta.differentiable`.

python -m tests.calls.libraries                      try all, and print the table
python -m tests.calls.libraries --write              and put it into docs/other-libraries.md
python -m tests.calls.libraries --package fluids     one alone, with each call that is not right
python -m tests.calls.libraries --own                as they stand, without `ta.differentiable`

The packages are in tests/calls/libraries/requirements.txt.
"""

import argparse
import importlib.metadata
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.calls.libraries.packages import LIBRARIES

__all__ = ["counts_of", "lines_of", "table"]

PAGE = Path(__file__).parents[3] / "docs" / "other-libraries.md"
BEGIN, END = "<!-- table: begin -->\n", "<!-- table: end -->"
KINDS = {
    "right": "right",
    "clear": "clear error",
    "cryptic": "unclear error",
    "wrong": "wrong",
    "detached": "gradient lost",
}
SECONDS_PER_PACKAGE = 900


def lines_of(package: str, *ways: str) -> list[dict[str, Any]]:
    """Try the calls of a package in a process of its own."""
    done = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-m", "tests.calls.libraries.worker", package, *ways],
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "SECONDS_PER_CALL": "4"},
        capture_output=True,
        text=True,
        timeout=SECONDS_PER_PACKAGE,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"{package}: {done.stderr[-2000:]}")
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def counts_of(lines: list[dict[str, Any]]) -> Counter[str]:
    """Count the kinds, and the calls with plain arrays alone that give the original's bits.

    A refusal of an argument that the result does not depend on is not counted.
    """
    counts: Counter[str] = Counter()
    for line in lines:
        if "plain" in line:
            settled = line["plain"] != "unsettled"
            counts.update({"plain": settled, "same": line["plain"] == "same"})
        elif line["kind"] != "clear" or line["smooth"] == "smooth":
            counts[line["kind"]] += 1
    return counts


def table(counts: Mapping[str, Mapping[str, int]]) -> str:
    """Write the table."""
    titles = ("package", "calls", *KINDS.values(), "right", "same bits on plain arrays")
    lines = [f"| {' | '.join(titles)} |", "|---" * len(titles) + "|"]
    total: Counter[str] = Counter()
    for name, each in sorted(counts.items(), key=lambda pair: pair[0].lower()):
        total.update(each)
        lines.append(row(f"{name} {importlib.metadata.version(name)}", each))
    return "\n".join([*lines, row("all", total), ""])


def row(title: str, counts: Mapping[str, int]) -> str:
    """Write a line of the table."""
    numbers = [counts.get(kind, 0) for kind in KINDS]
    calls = sum(numbers)
    share = f"{100 * numbers[0] / calls:.0f} %" if calls else ""
    same = f"{counts.get('same', 0)} of {counts.get('plain', 0)}"
    return f"| {' | '.join(map(str, (title, calls, *numbers, share, same)))} |"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.calls.libraries", description=__doc__)
    parser.add_argument("--package", action="append", choices=LIBRARIES, help="these alone")
    parser.add_argument("--own", action="store_true", help="without ta.differentiable")
    parser.add_argument("--write", action="store_true", help=f"put the table into {PAGE.name}")
    chosen = parser.parse_args()
    found = {}
    for package in chosen.package or LIBRARIES:
        lines = lines_of(package, *["own"] * chosen.own)
        found[package] = counts_of(lines)
        print(package, dict(found[package]), flush=True)
        if chosen.package:
            bad = [each for each in lines if each.get("kind", each.get("plain")) not in OKAY]
            print(*map(json.dumps, bad), sep="\n")
    text = table(found)
    print(text)
    if chosen.write:
        page = PAGE.read_text("utf-8")
        before, rest = page.split(BEGIN)
        PAGE.write_text(f"{before}{BEGIN}{text}{END}{rest.partition(END)[2]}", encoding="utf-8")


OKAY = ("right", "same", "unsettled")

if __name__ == "__main__":
    main()
