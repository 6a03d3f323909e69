"""`qmc_quad` on handles: values as SciPy's, and derivatives of the sum over the same points."""

from typing import Any

import numpy as np
import pytest
import scipy.integrate
from scipy.stats import qmc

import tape_ad as ta
from tape_ad.errors import TieError
from tape_ad.scipy import integrate

A, B = np.array([0.0, 1.5]), np.array([1.0, 0.5])


def found(module: Any, a: Any, b: Any, k: Any, **options: Any) -> Any:
    def bump(x: Any) -> Any:
        return np.exp(-k * np.sum(x**2, axis=0))

    engine = qmc.Halton(2, seed=3)
    return module.qmc_quad(bump, a, b, n_estimates=3, n_points=8, qrng=engine, **options)


def test_values_and_derivatives() -> None:
    theirs = found(scipy.integrate, A, B, 0.7)
    record = ta.ComputationRecord()
    for a, k in ((record.tensor(A), 0.7), (A, record.tensor(0.7))):
        ours = found(integrate, a, B, k)
        assert (ours.integral.data, ours.standard_error.data) == tuple(theirs)
    assert tuple(found(integrate, A, B, 0.7)) == tuple(theirs)

    def of(a: Any, b: Any, k: Any) -> Any:
        return np.stack(tuple(found(integrate, a, b, k)))

    ta.testing.check_grads(of, (A, B, 0.7), order=2, rtol=1e-6, atol=1e-8)


def test_logarithms() -> None:
    def of(module: Any, k: Any) -> Any:
        engine = qmc.Halton(2, seed=3)
        options = {"n_estimates": 3, "n_points": 8, "qrng": engine, "log": True}
        return module.qmc_quad(lambda x: -k * np.sum(x**2, axis=0), 0 * A, B, **options).integral

    rise = of(scipy.integrate, 0.7 + 1e-5) - of(scipy.integrate, 0.7 - 1e-5)
    assert ta.grad(lambda k: of(integrate, k))(0.7) == pytest.approx(rise / 2e-5, rel=1e-7)


def test_equal_limits_are_a_tie() -> None:
    a = ta.ComputationRecord().tensor(B)
    with pytest.raises(TieError, match=r"qmc_quad of scipy\.integrate branches"):
        found(integrate, a, B, 0.7)
