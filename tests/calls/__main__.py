"""Count what comes of the public examples' calls when they are made with handles.

python -m tests.calls                            try all, and print the table
python -m tests.calls --write                    and keep it for docs/coverage.md
python -m tests.calls --module scipy.signal      one module alone, with each call that goes wrong
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from attrs import asdict

from tests.calls.counting import Case, cases_of, summary_of
from tests.calls.names import MODULES
from tests.calls.page import RESULTS, table

__all__: list[str] = []

SECONDS_PER_MODULE = 1200


def lines_of(module: str, flagged: bool) -> Iterator[dict[str, Any]]:
    """Try a module in a process of its own, where SciPy's flag is set before SciPy is imported."""
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    environment.pop("SCIPY_ARRAY_API", None)
    if flagged:
        environment["SCIPY_ARRAY_API"] = "1"
    done = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-m", "tests.calls.worker", module],
        env=environment,
        capture_output=True,
        text=True,
        timeout=SECONDS_PER_MODULE,
        check=False,
    )
    if done.returncode:
        print(f"{module} (flag {flagged}):", done.stderr[-2000:], file=sys.stderr)
    for line in done.stdout.splitlines():
        if line.startswith("{"):
            yield json.loads(line)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.calls", description=__doc__)
    parser.add_argument("--module", action="append", choices=MODULES, help="these alone")
    parser.add_argument("--write", action="store_true", help=f"keep the counts in {RESULTS.name}")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--stories", help="write every case to this file")
    chosen = parser.parse_args()
    modules = chosen.module or list(MODULES)

    def of_module(module: str) -> list[Case]:
        return cases_of(list(lines_of(module, False)), list(lines_of(module, True)))

    results: dict[str, Any] = json.loads(RESULTS.read_text("utf-8")) if RESULTS.exists() else {}
    with (
        ThreadPoolExecutor(chosen.jobs) as pool,
        Path(chosen.stories or os.devnull).open("w", encoding="utf-8") as stories,
    ):
        for module, cases in zip(modules, pool.map(of_module, modules), strict=True):
            results[module] = summary_of(module, cases)
            stories.writelines(f"{json.dumps(asdict(case))}\n" for case in cases)
            if chosen.write:
                kept = {each: results[each] for each in MODULES if each in results}
                RESULTS.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
            if chosen.module:
                print(*(case for case in cases if case.is_bad), sep="\n")
    print("\n".join(table({module: results[module]["counts"] for module in modules})))


if __name__ == "__main__":
    main()
