"""scikit-learn's estimators keep the gradient where they take other arrays, or raise."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("sklearn")

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def lines() -> list[dict[str, Any]]:
    done = subprocess.run(
        [sys.executable, "-m", "tests.calls.estimators"],
        env=os.environ | {"SCIPY_ARRAY_API": "1", "PYTHONPATH": str(ROOT)},
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_gradients_are_those_of_differences(lines: list[dict[str, Any]]) -> None:
    right = [line for line in lines if line["kind"] == "right"]
    assert [line for line in right if "error" in line] == []
    assert [line["name"] for line in right if line["value"] > 1e-8] == []
    off = {line["name"]: (line["slope"], line["expected"]) for line in right}
    wrong = {n: (a, b) for n, (a, b) in off.items() if abs(a - b) > 1e-6 * max(1.0, abs(b))}
    assert wrong == {}
    flat = sorted(name for name, (_, expected) in off.items() if expected == 0.0)
    assert flat == ["Binarizer"]


def test_what_gives_plain_numbers_says_so(lines: list[dict[str, Any]]) -> None:
    refused = [line for line in lines if line["kind"] == "refused"]
    assert len(refused) == 5
    assert {line.get("error") for line in refused} == {"ConversionError"}
    assert all(" of sklearn" in line["text"] for line in refused)
    assert all("t.data" in line["text"] for line in refused)
