"""SciPy's functions on handles, with SCIPY_ARRAY_API and without."""

import json
import os
import subprocess
import sys
from functools import partial
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy

import tape_ad as ta
from tests.interop.array_api.scipy_calls import CALLS, vendored

ROOT = Path(__file__).parents[3]


def release(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")[:2]))


RELEASE = release(scipy.__version__)
SKLEARN = release(version("scikit-learn")) if find_spec("sklearn") else (0, 0)


def run(flag: str, *arguments: str) -> "subprocess.CompletedProcess[str]":
    environment = {**os.environ, "SCIPY_ARRAY_API": flag, "PYTHONPATH": str(ROOT)}
    return subprocess.run(  # noqa: S603 - our own programs
        [sys.executable, "-W", "error", *arguments],
        env=environment,
        text=True,
        capture_output=True,
        check=True,
        cwd=ROOT,
    )


@pytest.mark.parametrize(("flag", "name"), [("1", "flagged"), ("", "plain")])
def test_calls_give_values_and_gradients(flag: str, name: str) -> None:
    result = json.loads(run(flag, "-m", "tests.interop.array_api.scipy_calls", name).stdout)
    assert result["faults"] == {}
    assert result["tried"] == sum(getattr(call, name) <= RELEASE for call in CALLS) > 30


@pytest.mark.skipif(SKLEARN < (1, 8), reason="scikit-learn 1.8 supports more than those before it")
def test_scikit_learn_gives_values_and_gradients() -> None:
    result = json.loads(run("1", "-m", "tests.interop.array_api.sklearn_calls").stdout)
    assert result["faults"] == {}
    assert result["tried"] > 25


def test_what_scipy_takes_for_a_function_of_plain_arrays_says_where_ours_is() -> None:
    text = (
        "import tape_ad as ta, scipy.special\n"
        "x = ta.ComputationRecord().tensor([0.5])\n"
        "try:\n    print(scipy.special.erf(x).grad([1.0]).wrt(x))\n"
        "except ta.errors.ConversionError as error:\n    print(error)\n"
        "import scipy.stats\n"
        "try:\n    scipy.stats.cramervonmises(x.record.tensor([0.5, 1.5]), 'norm')\n"
        "except (TypeError, ValueError) as error:\n    print(error)\n"
        "try:\n    scipy.special.logsumexp(x[0] * 1.0 + x * 0.0, b=x - 0.5)\n"
        "except ta.errors.ConversionError as error:\n    print(error)\n"
        "import tape_ad.scipy.special\n"
        "print(tape_ad.scipy.special.erf(x).grad([1.0]).wrt(x))\n"
    )
    *first, named, weighed, last = run("1", "-c", text).stdout.splitlines()
    assert "`cdf` must be a callable" in named or "write tape_ad.scipy.stats in place" in named
    assert "write tape_ad.scipy.special in place" in weighed
    assert (RELEASE < (1, 17)) or "leaves out what has the weight 0" in weighed
    assert last == "[0.87878258]"
    assert first == [last] or "write tape_ad.scipy.special in place" in first[0]
    assert (RELEASE < (1, 17)) or first == [last]


def test_beside_plain_arrays_scipy_is_given_numpys_namespace() -> None:
    text = (
        "import numpy as np, tape_ad as ta\n"
        "from scipy import interpolate, ndimage, signal, special\n"
        "from tests.interop.array_api.scipy_calls import vendored\n"
        "array_namespace = vendored('array_api_compat').array_namespace\n"
        "x, y = ta.ComputationRecord().tensor([0.5, 2.0, 1.0]), np.arange(3.0)\n"
        "print(array_namespace(x, y).__name__)\n"
        "print(np.sum(special.xlogy(y, x)).grad().wrt(x))\n"
        "calls = (lambda: signal.sosfilt(np.array([[1.0, 0.5, 0.2, 1.0, 0.1, 0.3]]), x),\n"
        "         lambda: interpolate.CubicSpline(y, x),\n"
        "         lambda: ndimage.map_coordinates(y, x[None]))\n"
        "for call in calls:\n"
        "    try:\n        call()\n    except TypeError as error:\n        print(error)\n"
    )
    namespace, gradient, *errors = run("1", "-c", text).stdout.splitlines()
    assert namespace.endswith(".array_api_compat.numpy")
    assert gradient == "[0.  0.5 2. ]"
    for error, name in zip(errors, ("signal", "interpolate", "ndimage"), strict=True):
        assert f"write tape_ad.scipy.{name} in place" in error


def test_another_librarys_two_namespaces_say_what_to_write() -> None:
    compat = pytest.importorskip("sklearn.externals.array_api_compat")
    with pytest.raises(TypeError, match=r"write tape_ad\.interop\.array_api\.asarray\(array\)"):
        compat.array_namespace(ta.ComputationRecord().tensor([0.5]), np.zeros(1))


def test_the_namespace_of_special_functions_has_those_that_have_rules() -> None:
    xp = ta.ComputationRecord().tensor([0.5]).__array_namespace__()
    assert type(xp.special.erf(xp.asarray([0.0]))) is type(xp.asarray([0.0]))
    with pytest.raises(AttributeError, match="has no attribute 'no_such_function'"):
        partial(getattr, xp.special)("no_such_function")


def test_second_derivatives_of_a_call() -> None:
    compat = vendored("array_api_compat")

    def f(x: Any) -> Any:
        xp = compat.array_namespace(x)
        return xp.sum(xp.where(x > 0, x, xp.zeros_like(x)) ** 3) / compat.size(x)

    h = ta.hessian(f)(np.array([1.0, -2.0, 3.0]))
    np.testing.assert_allclose(h, np.diag([2.0, 0.0, 6.0]))


def test_what_scipy_searches_for_and_entropy_at_0_are_refused() -> None:
    pytest.importorskip("scipy.optimize.elementwise", reason="SciPy 1.15 has it")
    program = """
import numpy as np, scipy.stats, tape_ad as ta
from scipy.optimize import elementwise
calls = (
    (lambda a: elementwise.find_root(lambda x, a: x - a, (a - 2, a + 2), args=(a,)).x, 1.0),
    (lambda a: elementwise.find_minimum(lambda x, a: (x - a)**2, (a - 2, a, a + 3), args=(a,)).x,
     1.0),
    (lambda p: scipy.stats.entropy(p), np.array([0.0, 0.3, 0.7])),
)
for f, at in calls:
    try:
        print(ta.grad(f)(at))
    except ta.errors.ConversionError as error:
        print(str(error).partition("; ")[2])
print(np.isfinite(ta.grad(scipy.stats.entropy)(np.array([0.1, 0.3, 0.6]))).all())
"""
    environment = os.environ | {"SCIPY_ARRAY_API": "1"}
    printed = subprocess.run(  # noqa: S603  # our own code in our own interpreter
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert printed[0].startswith("write tape_ad.scipy.optimize in place")
    assert printed[1].startswith("write tape_ad.scipy.optimize in place")
    assert "tape_ad.scipy.stats in place" in printed[2]
    assert printed[3] == "True"
