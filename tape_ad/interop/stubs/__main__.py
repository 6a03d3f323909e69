"""The command that writes the stubs."""

import argparse
import sys
from pathlib import Path

import numpy as np

import tape_ad.interop.stubs
from tape_ad.interop.stubs import write_stubs


def main() -> None:
    """Write the stubs into the folder that the command names."""
    summary = (tape_ad.interop.stubs.__doc__ or "").splitlines()[0]
    parser = argparse.ArgumentParser(prog="python -m tape_ad.interop.stubs", description=summary)
    parser.add_argument(
        "folder", nargs="?", type=Path, default=Path("typings"), help='"typings" when left out'
    )
    folder = parser.parse_args().folder
    found = write_stubs(folder)
    sys.stdout.write(
        f"{folder / 'numpy'}: the stubs of NumPy {np.__version__}, of which {len(found)} functions "
        "take handles\n"
    )


if __name__ == "__main__":
    main()
