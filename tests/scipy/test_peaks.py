"""Peaks that are found in compiled functions, by SciPy's own code."""

from typing import Any

import numpy as np
import pytest
import scipy.signal

import tape_ad as ta
import tape_ad.scipy.signal

X = np.round(np.random.default_rng(0).standard_normal(40), 3)


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"height": (0.0, 1.5)}, "peak_heights"),
        ({"threshold": (0.1, 2.0)}, "left_thresholds"),
        ({"prominence": 0.5}, "prominences"),
        ({"width": 1.0}, "widths"),
    ],
)
def test_properties_are_bounded_in_a_compiled_function(options: Any, name: str) -> None:
    def found(x: Any) -> Any:
        return np.sum(np.sin(ta.scipy.signal.find_peaks(x, **options)[1][name]))

    expected = np.sum(np.sin(scipy.signal.find_peaks(X, **options)[1][name]))
    np.testing.assert_allclose(ta.compile(found, engine="numpy")(X), expected)
    slope = ta.compile(ta.grad(found), engine="numpy")(X)
    np.testing.assert_allclose(slope, ta.grad(found)(X))
