"""Write docs/coverage.md from the rule tables and the test table, or check that it is fresh.

python -m tests.coverage            write it
python -m tests.coverage --check    fail where it is stale
"""

import argparse
import sys
from pathlib import Path

from tests.coverage.document import changes, document

COVERAGE = Path(__file__).parents[2] / "docs" / "coverage.md"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.coverage", description=__doc__)
    parser.add_argument("--check", action="store_true", help="only say what is stale")
    if not parser.parse_args().check:
        COVERAGE.write_text(document(), encoding="utf-8")
        return
    stale = changes(COVERAGE.read_text(encoding="utf-8"))
    if stale:
        sys.exit("\n".join([*stale, f"{COVERAGE} is stale: run python -m tests.coverage"]))


if __name__ == "__main__":
    main()
