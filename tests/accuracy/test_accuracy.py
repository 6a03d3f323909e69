"""What docs/accuracy.md says, on a smaller sample."""

from typing import Any

import mpmath
import numpy as np
import pytest

pytest.importorskip("llvmlite")

from tape_ad.programs.engines.native.codegen.elementwise import can_lower
from tape_ad.programs.engines.native.codegen.floats import FLOATING
from tests.accuracy.computing import alone, by_numpy, in_vectors
from tests.accuracy.document import MOST
from tests.accuracy.functions import COMPOSED, ROWS, Row
from tests.accuracy.points import points
from tests.accuracy.sums import COUNTS, DRAWS, errors
from tests.accuracy.units import units, worst
from tests.sampling import some

DTYPES = [np.dtype(np.float64), np.dtype(np.float32)]
COUNT = len(some(range(100), 4))
"""How many points of each range there are; `python -m tests.accuracy` takes more."""


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("row", ROWS, ids=str)
def test_no_function_is_off_by_more_than_the_page_says(row: Row, dtype: np.dtype[Any]) -> None:
    for name, operands in points(row, dtype, COUNT, seed=1).items():
        for way in (in_vectors, alone):
            error, at = worst(way(row.function, operands), row.reference, operands, dtype)
            assert error <= MOST, (name, at)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("row", COMPOSED, ids=str)
def test_functions_of_several_operations_are_as_close_as_eager_ones(
    row: Row, dtype: np.dtype[Any]
) -> None:
    for name, operands in points(row, dtype, COUNT, seed=1).items():
        eager, _ = worst(by_numpy(row.function, operands), row.reference, operands, dtype)
        for way in (in_vectors, alone):
            error, at = worst(way(row.function, operands), row.reference, operands, dtype)
            assert error <= max(MOST, 2 * eager), (name, at)


@pytest.mark.parametrize("draw", DRAWS)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_sums_are_as_close_as_pairwise_ones(dtype: np.dtype[Any], draw: str) -> None:
    for count in COUNTS[:3]:
        ours, numpys = errors(draw, dtype, count)
        assert ours <= max(1, numpys)


SPECIAL = [0.0, np.inf, np.nan, 0.5, 1.0, 2.0, 3.0, 1e-40, 1e300]
SPECIAL += [-x for x in SPECIAL]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("row", ROWS, ids=str)
@np.errstate(all="ignore")
def test_special_points_are_as_numpys(row: Row, dtype: np.dtype[Any]) -> None:
    eps = 2.0 ** -np.finfo(dtype).nmant
    grid = np.meshgrid(*[np.array(SPECIAL, dtype)] * row.operands)
    operands = [np.ravel(x) for x in grid]
    expected = row.function(*operands)
    for way in (in_vectors, alone):
        found = way(row.function, operands)
        np.testing.assert_allclose(found, expected, rtol=5 * eps)
        np.testing.assert_array_equal(
            np.signbit(found) & (found == 0), np.signbit(expected) & (expected == 0)
        )


class Asked:
    """A library that has every function, and keeps which it was asked for."""

    convention = ""

    def __init__(self) -> None:
        self.names: set[str] = set()

    def vector_symbol(self, name: str, *_: Any) -> str:
        self.names.add(name)
        return name

    scalar_symbol = vector_symbol


def functions_of_c(ufunc: Any) -> set[str]:
    asked = Asked()
    double = np.dtype(float)
    assert can_lower(ufunc, (double,) * (ufunc.nin + 1), asked, lanes=8)
    return asked.names


def test_every_function_of_the_library_is_measured() -> None:
    exact = {"fmod", "nextafter"}
    ufuncs = [f for f in FLOATING if set(f.types) & {"d->d", "dd->d"}]
    called = {name for ufunc in ufuncs for name in functions_of_c(ufunc)}
    measured = {
        name for row in ROWS if row.function in FLOATING for name in functions_of_c(row.function)
    }
    assert len(called) > 20
    assert called - measured == exact


def test_units_are_those_of_the_true_number() -> None:
    double = np.dtype(float)
    assert units(1.0, mpmath.mpf(1) + mpmath.mpf(2) ** -52, double) == 1
    assert units(1.0, mpmath.mpf(1) - mpmath.mpf(2) ** -53, double) == 1
    assert units(0.0, mpmath.mpf(5e-324), double) == 1
    assert units(np.inf, mpmath.mpf(2) ** 1024, double) == 0
    assert units(1.7976931348623157e308, mpmath.mpf(2) ** 5000, double) == 1
    assert units(np.nan, mpmath.mpf(1), double) == np.inf
