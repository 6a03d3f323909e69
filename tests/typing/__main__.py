"""Count what the checkers say of expressions with handles: ``python -m tests.typing``."""

from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.typing.checkers import CHECKERS, project
from tests.typing.judging import KINDS, judged


def main() -> None:
    """Print a table, and what is not right."""
    rows = {}
    for stubs in (False, True):
        for checker in CHECKERS:
            with TemporaryDirectory() as folder:
                rows[checker, stubs] = judged(checker, project(Path(folder), stubs))
    print(f"{'':30}", *(f"{kind:>7}" for kind in KINDS))
    for (checker, stubs), found in rows.items():
        counts = Counter(kind for _, kind, _ in found)
        title = f"{checker}, {'with' if stubs else 'without'} the stubs"
        print(f"{title:30}", *(f"{counts[kind]:7}" for kind in KINDS))
    for (checker, stubs), found in rows.items():
        for expression, kind, told in found:
            if stubs and kind != "right":
                print(f"{checker}: {expression} is {kind}: {told}")


if __name__ == "__main__":
    main()
