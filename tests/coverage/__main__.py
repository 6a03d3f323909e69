"""Write docs/coverage.md and its pages from the tables of rules and tests, or check them.

python -m tests.coverage            write them
python -m tests.coverage --check    fail where one is stale
"""

import argparse
import sys
from pathlib import Path

from tests.coverage.document import changes, documents

DOCS = Path(__file__).parents[2] / "docs"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.coverage", description=__doc__)
    parser.add_argument("--check", action="store_true", help="only say what is stale")
    if not parser.parse_args().check:
        for name, text in documents().items():
            path = DOCS / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return
    stale = changes(DOCS)
    if stale:
        sys.exit("\n".join([*stale, "pages are stale: run python -m tests.coverage"]))


if __name__ == "__main__":
    main()
