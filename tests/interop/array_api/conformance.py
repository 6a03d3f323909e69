"""Run the public conformance suite of the array API standard on `tape_ad.interop.array_api`.

    python -m tests.interop.array_api.conformance [OPTIONS OF PYTEST]

The suite, https://github.com/data-apis/array-api-tests, is no part of this project and has no
package: the environment variable ARRAY_API_TESTS says where a copy of a release of it is, and
without that ``../shared/array-api-tests`` beside the checkout is taken. It is run in a copy, with
what fails listed in ``xfails.txt`` and ``skips.txt`` here, each for its reason: a test listed in
the first that passes is an error, and so is one listed in either that the suite does not have.
"""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
CHECKOUT = HERE.parents[2]
LISTS = {"--xfails-file": HERE / "xfails.txt", "--skips-file": HERE / "skips.txt"}
LEAST = 1353
"""How many tests of the suite `array_api_strict` passes with as many examples."""
FOLLOWS = "2025.12"
"""The version of the standard that the suite follows."""
TESTS = "8371509cd04b9e4831d285a7917cd1acaf2daf910540d3d38ce7f1befeff34d8"
"""The SHA-256 of the copy's tests, of which the lists are; it has no number of a release."""


def found() -> Path | None:
    """Find the suite."""
    folder = Path(os.environ.get("ARRAY_API_TESTS") or CHECKOUT.parent / "shared/array-api-tests")
    return folder if (folder / "array_api_tests").is_dir() else None


def digest(folder: Path) -> str:
    """Give the SHA-256 of the names and the texts of a copy's tests."""
    whole = hashlib.sha256()
    for file in sorted((folder / "array_api_tests").glob("*.py")):
        whole.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
    return whole.hexdigest()


def partition_operands(folder: Path) -> str:
    """Say which copy of the suite it is."""
    versions = sorted(place.name for place in (folder / "array-api/spec").glob("*"))
    same = versions == [FOLLOWS] and digest(folder) == TESTS
    known = "the copy that the lists are of" if same else "another copy than the lists are of"
    return f"The suite follows {', '.join(versions)}, and is {known}."


def command(options: list[str]) -> list[str]:
    """Write the command that runs it, the same examples in every run."""
    return [
        *(sys.executable, "-m", "pytest", "array_api_tests", "-q", "-n", "2"),
        *("--derandomize", "--disable-deadline", "--max-examples", "10"),
        *("-o", "xfail_strict=True", "-p", "no:cacheprovider", "--disable-warnings"),
        *("-W", "error:.*ids in .* file don't match any collected tests"),
        *(f"{option}={file}" for option, file in LISTS.items()),
        *options,
    ]


def passes(folder: Path, options: list[str]) -> bool:
    """Run the suite in a copy, and tell whether it passes, and enough of it."""
    environment = {
        **os.environ,
        "ARRAY_API_TESTS_MODULE": "tape_ad.interop.array_api",
        "PYTHONPATH": str(CHECKOUT),
    }
    with tempfile.TemporaryDirectory() as place:
        copy = Path(place, "suite")
        shutil.copytree(folder, copy, copy_function=shutil.copyfile)
        copy.chmod(0o755)
        print(partition_operands(folder))
        run = subprocess.run(
            command(options), cwd=copy, env=environment, text=True, capture_output=True, check=False
        )
    print(run.stdout[-20_000:], run.stderr[-5_000:], sep="\n")
    counted = re.search(r"(\d+) passed", run.stdout)
    return run.returncode == 0 and counted is not None and int(counted[1]) >= LEAST


if __name__ == "__main__":
    suite = found()
    if suite is None:
        print("The conformance suite of the array API standard is not here, so it is not run.")
    elif not passes(suite, sys.argv[1:]):
        sys.exit(1)
