"""`qmc_quad` on handles: values as SciPy's, and derivatives of the sum over the same points."""

from typing import Any

import numpy as np
import pytest
import scipy.integrate
from scipy.stats import qmc

import tape_ad as ta
from tape_ad.errors import UnsupportedArgumentError
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


def test_what_is_not_given_says_so() -> None:
    a = ta.ComputationRecord().tensor(A)
    with pytest.raises(UnsupportedArgumentError, match="qmc_quad: with handles, log="):
        found(integrate, a, B, 0.7, log=True)
