"""A few packages of other people: nothing is wrong, lost or unclear, and most is right.

All of them are counted by ``python -m tests.calls.libraries``, for docs/other-libraries.md.
"""

import json

import pytest

from tests.calls.libraries.__main__ import PAGE, counts_of, lines_of
from tests.calls.libraries.packages import LIBRARIES
from tests.calls.page import RESULTS

pytest.importorskip("scipy")


@pytest.mark.parametrize("package", ["fluids", "numpy-financial", "pymanopt"])
def test_the_examples_of_a_package(package: str) -> None:
    pytest.importorskip(LIBRARIES[package].package)
    lines = lines_of(package)
    counts = counts_of(lines)

    assert [line for line in lines if line.get("kind") in ("wrong", "detached", "cryptic")] == []
    assert [line for line in lines if "/" in line.get("plain", "")] == []
    assert counts["right"] > 20
    assert counts["right"] > 0.85 * (counts["right"] + counts["clear"])


def test_the_page_has_the_counts_of_scipy_that_are_kept() -> None:
    counts = [result["counts"] for result in json.loads(RESULTS.read_text("utf-8")).values()]
    kinds = ("calls", "copy", "own", "wrong", "detached")
    calls, copy, own, *bad = (sum(each[kind] for each in counts) for kind in kinds)
    text = " ".join(PAGE.read_text("utf-8").split())
    assert f"{copy:,} of {calls:,} calls are right under `ta.differentiable`, {own:,} as" in text
    assert bad == [0, 0]
