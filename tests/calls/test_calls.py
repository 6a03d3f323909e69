"""A fixed small sample of the documented calls: none is wrong, cryptic, or loses the gradient.

All of them are counted by ``python -m tests.calls``, for docs/coverage.md.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.calls.counting import WAYS

pytest.importorskip("scipy")

ROOT = Path(__file__).parents[2]

SAMPLE = (
    *("scipy.fft.dct", "scipy.integrate.simpson", "scipy.interpolate.Akima1DInterpolator"),
    *("scipy.linalg.expm", "scipy.linalg.solve", "scipy.linalg.toeplitz"),
    *("scipy.ndimage.gaussian_filter", "scipy.ndimage.map_coordinates", "scipy.optimize.brentq"),
    *("scipy.signal.chirp", "scipy.signal.savgol_filter", "scipy.sparse.linalg.spsolve"),
    *("scipy.spatial.distance.cdist", "scipy.spatial.distance.cosine", "scipy.special.erf"),
    *("scipy.special.kolmogorov", "scipy.special.gammaln", "scipy.stats.gmean"),
    *("scipy.stats.norm", "scipy.stats.theilslopes"),
)


def tried(flagged: bool) -> list[dict[str, Any]]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"}
    environment.pop("SCIPY_ARRAY_API", None)
    done = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-m", "tests.calls.worker", *SAMPLE],
        env=environment | ({"SCIPY_ARRAY_API": "1"} if flagged else {}),
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize(("flagged", "least"), [(False, 0.3), (True, 0.05)])
def test_no_call_of_the_sample_goes_wrong(flagged: bool, least: float) -> None:
    lines = tried(flagged)
    assert {line["name"] for line in lines} > {
        "scipy.fft.dct",
        "scipy.linalg.expm",
        "scipy.stats.norm",
    }
    bad = ("wrong", "detached", "cryptic")
    assert [line for line in lines for way in WAYS if line.get(way, ["right"])[0] in bad] == []
    right = [line for line in lines if any(line.get(way, [""])[0] == "right" for way in WAYS)]
    assert len(right) > least * len(lines)
