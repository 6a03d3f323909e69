"""Run the notebooks of examples/ and store what they show.

Run from the repository's root, after a change to a notebook or to what it shows::

    python -m tests.notebooks                             # all of them
    python -m tests.notebooks examples/fit_a_model.ipynb  # one

The test suite compares what they show with what is stored. Needs the extras `examples` and
`jupyter`.
"""

import argparse
import json
from pathlib import Path

from tests.notebooks.running import NOTEBOOKS, differences, load, run


def main() -> None:
    parser = argparse.ArgumentParser("python -m tests.notebooks", description="Run notebooks.")
    parser.add_argument("notebooks", nargs="*", type=Path, default=NOTEBOOKS)
    for path in parser.parse_args().notebooks:
        stored = load(path)
        found = run(stored)
        path.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        told = differences(stored, found)
        print("\n    ".join([f"{path}: {len(told)} cells show something else", *told]))


if __name__ == "__main__":
    main()
