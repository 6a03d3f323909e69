"""Packages that import autograd give the same numbers on us, in processes of their own."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

from tape_ad.base.trees import with_paths
from tests.oracle.oracles import oracle

ROOT = Path(__file__).parents[2]
PACKAGES = Path(__file__).parent / "packages"

RUN = """
import json, runpy, sys
import numpy as np

def listed(value):
    array = np.asarray(value)
    return [array.real.tolist(), array.imag.tolist()] if array.dtype.kind == "c" else array.tolist()

path, ours = sys.argv[1:]
if ours == "True":
    from tape_ad.interop import install_as_autograd
    install_as_autograd()
found = runpy.run_path(path)["run"]()
import autograd
assert ("tape_ad" in autograd.__file__) is (ours == "True")
print("FOUND", json.dumps(found, default=listed))
"""


def numbers_of(name: str, *, ours: bool) -> Any:
    """Run a program with a package, on our autograd or on its own."""
    oracle("autograd")
    command = [sys.executable, "-c", RUN, str(PACKAGES / f"{name}.py"), str(ours)]
    done = subprocess.run(  # noqa: S603 - the programs stand beside this file
        command,
        cwd=ROOT,
        env={**os.environ, "MPLBACKEND": "Agg"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.partition("FOUND ")[2])


def same(ours: Any, theirs: Any, rtol: float, atol: float = 0.0) -> None:
    found, expected = with_paths(ours), with_paths(theirs)
    assert [path for path, _ in found] == [path for path, _ in expected]
    for (path, one), (_, other) in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=rtol, atol=atol, err_msg=path)


def test_pymanopt_optimizes_on_manifolds_in_the_same_steps() -> None:
    oracle("pymanopt")
    same(numbers_of("manifolds", ours=True), numbers_of("manifolds", ours=False), 1e-9, 1e-11)


def test_reliability_fits_life_data_by_the_same_derivatives() -> None:
    oracle("reliability.Fitters")
    ours, theirs = numbers_of("life_data", ours=True), numbers_of("life_data", ours=False)
    same(ours["derivatives"], theirs["derivatives"], 1e-9)
    likelihoods = [[each[0] for each in found["fits"]] for found in (ours, theirs)]
    same(likelihoods[0], likelihoods[1], 1e-9)
    # A likelihood that is flat to 1e-9 at its top leaves its place open to the root of that.
    same(ours["fits"], theirs["fits"], np.sqrt(1e-9))
