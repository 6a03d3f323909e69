"""Functions of SciPy's that compute one formula for some elements, and another for the others."""

from typing import Any

import numpy as np
import pytest

import tape_ad as ta
import tape_ad.scipy.stats

choosing = pytest.importorskip("scipy._lib.array_api_extra")
if not hasattr(choosing, "apply_where"):
    pytest.skip("SciPy 1.16 has it", allow_module_level=True)


def roots(x: Any, y: Any) -> Any:
    """A square root where it is there, else y."""
    return choosing.apply_where(x > 0, (x, y), lambda x, y: np.sqrt(x) * y, lambda x, y: y)


def known(x: Any) -> Any:
    """A logarithm where it is there."""
    return choosing.apply_where(x != 0, (x,), np.log, fill_value=-np.inf)


@pytest.mark.parametrize("values", [[4.0, -1.0, 9.0, 0.0], [4.0, 9.0], [-4.0, -9.0]])
def test_each_element_has_the_derivative_of_its_formula(values: list[float]) -> None:
    x, y = np.array(values), np.linspace(1.0, 2.0, len(values))
    by_x, by_y = ta.grad(lambda x, y: np.sum(ta.differentiable(roots)(x, y)), (0, 1))(x, y)
    above = x > 0
    some = np.sqrt(np.where(above, x, 1.0))
    np.testing.assert_allclose(by_x, np.where(above, 0.5 * y / some, 0.0))
    np.testing.assert_allclose(by_y, np.where(above, some, 1.0))
    second = ta.grad(lambda x: np.sum(ta.grad(lambda x: np.sum(ta.differentiable(roots)(x, y)))(x)))
    np.testing.assert_allclose(second(x), np.where(above, -0.25 * y / some**3, 0.0))


def test_what_is_filled_has_no_slope() -> None:
    f = ta.differentiable(known)
    np.testing.assert_allclose(ta.grad(lambda x: np.sum(f(x)))(np.array([2.0, 0.0])), [0.5, 0.0])
