"""Lists with handles in them, where SciPy's functions take lists of numbers."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad.errors import ConversionError

MATRIX = [[2.0, 0.5], [0.25, 1.5]]
VECTOR = [1.0, 3.0, 2.0, 4.0, 3.5]
SHARES = [[0.2, 0.3, 0.5], [0.1, 0.4, 0.5]]

CALLS: list[tuple[Callable[[Any], Any], Any]] = [
    (ta.scipy.linalg.expm, MATRIX),
    (ta.scipy.linalg.sqrtm, MATRIX),
    (lambda a: ta.scipy.linalg.toeplitz(a, r=a), VECTOR),
    (lambda a: ta.scipy.linalg.block_diag(a, [[1.0]]), MATRIX),
    (lambda a: ta.scipy.linalg.lu_factor(a)[0], MATRIX),
    (lambda b: ta.scipy.linalg.solve_triangular(np.array(MATRIX), b), MATRIX),
    (lambda y: ta.scipy.integrate.simpson(y, dx=0.5), VECTOR),
    (lambda x: ta.scipy.integrate.trapezoid(VECTOR, x=x), VECTOR),
    (lambda y: ta.scipy.integrate.cumulative_simpson(y, initial=0), VECTOR),
    (lambda x: ta.scipy.signal.detrend(x) ** 2, VECTOR),
    (lambda x: ta.scipy.spatial.distance.cdist(x, np.array(SHARES) - 1), SHARES),
    (lambda x: ta.scipy.spatial.distance.jensenshannon(x[0], x[1]), SHARES),
    (ta.scipy.special.logsumexp, VECTOR),
    (lambda b: ta.scipy.special.logsumexp(VECTOR, b=b), VECTOR),
    (lambda x: ta.scipy.stats.norm.logpdf(x, loc=VECTOR[::-1]), VECTOR),
]


@pytest.mark.parametrize(("call", "values"), CALLS)
def test_a_list_with_handles_counts_as_the_array_that_they_make(
    call: Callable[[Any], Any], values: Any
) -> None:
    array = np.array(values)
    expected = ta.grad(lambda x: np.sum(call(x)))(array)
    assert np.any(expected)
    of_lists = ta.grad(lambda x: np.sum(call(as_lists(x))))(array)
    np.testing.assert_allclose(of_lists, expected, rtol=1e-14)


def as_lists(x: Any) -> Any:
    return [as_lists(each) for each in x] if x.ndim else x


def test_numbers_may_stand_beside_handles_in_a_list() -> None:
    x = ta.ComputationRecord().tensor(2.0)
    found = ta.scipy.linalg.toeplitz([x, 1.0, 3 * x])
    np.testing.assert_array_equal(np.sum(found).grad().wrt(x), 3 + 6)


def test_where_no_list_is_taken_the_error_says_what_to_write() -> None:
    handle = ta.ComputationRecord().tensor(1.0)
    with pytest.raises(ConversionError, match=r"write .*np\.stack\(\[\.\.\.\]\)"):
        ta.scipy.interpolate.make_interp_spline([0.0, 1.0, 2.0], [handle, 2.0, 3.0], k=2)
