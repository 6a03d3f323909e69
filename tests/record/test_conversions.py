"""What would turn a handle into numbers unasked is an error that names the caller's line."""

import cmath
import math
import operator
import statistics
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq

from tape_ad.errors import ConversionError
from tests.shorthand import handle

HERE = r"line \d+ of test_conversions\.py"


ZEROS: Any = np.zeros(3)


def structured() -> Any:
    return np.zeros(2, dtype=[("u", float)])


CONVERSIONS: dict[str, Callable[[Any], Any]] = {
    "float": float,
    "int": int,
    "complex": complex,
    "math.exp": lambda t: t * math.exp(t),
    "cmath.exp": cmath.exp,
    "math.floor": math.floor,
    "np.float64": lambda t: np.float64(t) * t,
    "np.asarray": np.asarray,
    "np.array of handles": lambda t: np.array([t, t]),
    "quad": lambda t: quad(lambda u: u * t, 0, 1),
    "a bound of quad": lambda t: quad(lambda u: u, 0, t),
    "fmean": lambda t: statistics.fmean([t, t]),
    "interp": lambda t: np.interp(-1.0, [0.0, 1.0], [1.0, 2.0], left=t),
    "field of a structured array": lambda t: operator.setitem(structured(), "u", t),
}

# NumPy puts a ValueError of its own before what a sequence raises, and handles can be indexed.
WRAPPED: dict[str, Callable[[Any], Any]] = {
    "operator.setitem": lambda t: operator.setitem(ZEROS, 0, t),
    "fill": lambda t: np.zeros(3).fill(t),
    "initial of a sum": lambda t: np.sum(np.zeros(3), initial=t),
    "initial of a maximum": lambda t: np.max(np.zeros(3), initial=t),
    "fromiter": lambda t: np.fromiter([t, t], float),
    "row of a structured array": lambda t: operator.setitem(structured(), 0, (t,)),
}


@pytest.mark.parametrize("name", CONVERSIONS)
def test_a_conversion_names_the_line_and_what_to_write(name: str) -> None:
    with pytest.raises(ConversionError, match=HERE) as caught:
        CONVERSIONS[name](handle(2.0))
    assert "would drop" in str(caught.value)
    assert "t.item()" in str(caught.value) or "t.data" in str(caught.value)


def test_a_conversion_in_a_root_finder_of_scipy() -> None:
    t = handle(2.0)
    with pytest.raises(ConversionError, match=r"^brentq of scipy\.optimize .*write tape_ad"):
        brentq(lambda u: u - t, 0, 5)


@pytest.mark.parametrize("name", WRAPPED)
def test_a_conversion_that_numpy_wraps_has_ours_as_its_cause(name: str) -> None:
    with pytest.raises(ValueError, match="setting an array element") as caught:
        WRAPPED[name](handle(2.0))
    assert isinstance(caught.value.__cause__, ConversionError)


def test_what_reads_the_number_on_purpose() -> None:
    t = handle(2.5)
    assert t.item() == t.tolist() == t.data == 2.5
    assert f"{t:.1f}" == "{:.1f}".format(t) == "%.1f" % t == "2.5"  # noqa: UP031, UP032 - each way
    assert bool(t)
    assert t > 2
