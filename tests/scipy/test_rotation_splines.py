"""`RotationSpline`: values as SciPy's, and derivatives by all that it is made of."""

import functools
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation as Host
from scipy.spatial.transform import RotationSpline as HostSpline

import tape_ad as ta
from tape_ad.scipy.spatial.rotations import factor
from tape_ad.scipy.spatial.transform import Rotation, RotationSpline, Slerp

VECTORS = np.array([[0.4, -1.1, 0.7], [0.3, 0.9, -0.6], [0.3, 0.9, -0.6], [1.9, 0.2, 0.4]])
TIMES = np.array([0.0, 0.8, 2.0, 2.9])
AT = np.array([-0.2, 0.0, 0.5, 0.8, 2.4, 2.9])


def taken(spline: Any, at: Any) -> Any:
    parts = spline(at).as_matrix(), spline(at, 1), spline(at, 2)
    return np.concatenate([part.reshape(-1) for part in parts])


@pytest.mark.parametrize("count", [2, 3, 4])
def test_values_are_those_of_scipy(count: int) -> None:
    host = Host.from_rotvec(VECTORS[:count])
    theirs = HostSpline(TIMES[:count], host)
    times = ta.ComputationRecord().tensor(TIMES[:count])
    for spline in (
        RotationSpline(times, host),
        RotationSpline(times, Rotation.from_rotvec(VECTORS[:count])),
        RotationSpline(TIMES[:count], host),
    ):
        got = taken(spline, AT)
        np.testing.assert_allclose(getattr(got, "data", got), taken(theirs, AT), atol=1e-13)
        assert spline(0.5, 1).shape == (3,)
        assert spline(0.5).as_matrix().shape == (3, 3)


def test_derivatives(monkeypatch: pytest.MonkeyPatch) -> None:
    # Differences want more than SciPy's iteration stops at
    monkeypatch.setattr(HostSpline, "TOL", 1e-14)
    monkeypatch.setattr(HostSpline, "MAX_ITER", 50)

    def of(vectors: Any, times: Any, at: Any) -> Any:
        return taken(RotationSpline(times, Rotation.from_rotvec(vectors)), at)

    # Two equal rotations in a row are among them: a turn by nothing
    check = functools.partial(ta.testing.check_grads, rtol=1e-5, atol=1e-5)
    check(of, (VECTORS, TIMES, np.array([0.5])), order=1)
    times, weights = TIMES[:3], np.sin(np.arange(15.0))
    check(lambda vectors: weights @ of(vectors, times, 1.3), (VECTORS[:3],), order=2)
    check(lambda times: weights @ of(VECTORS[:3], times, 1.3), (times,), order=2)


def test_factors_where_the_series_ends() -> None:
    for start in (2, 3):
        for order in (0, 1):
            near, far = factor(np.array([0.5 - 1e-9, 0.5 + 1e-9]), start, order)
            np.testing.assert_allclose(near, far, rtol=1e-8)
        slope = ta.grad(lambda s, start=start: factor(s, start))(0.3)
        np.testing.assert_allclose(slope, factor(np.array(0.3), start, 1), rtol=1e-13)


def test_what_scipy_refuses_is_refused() -> None:
    times = ta.ComputationRecord().tensor(TIMES)
    turns = Rotation.from_rotvec(VECTORS)
    spline = RotationSpline(times, turns)
    refused: Any = (
        (lambda: RotationSpline(times, turns[0]), "must be a sequence"),
        (lambda: RotationSpline(times[:2], turns), "equal to number"),
        (lambda: RotationSpline(times[::-1], turns), "strictly increasing"),
        (lambda: spline(0.5, 3), "must be 0, 1 or 2"),
        (lambda: spline(AT[None]), "at most 1-dimensional"),
    )
    for call, says in refused:
        with pytest.raises(ValueError, match=says):
            call()


def test_turns_at_a_constant_rate_take_rotations_of_scipy() -> None:
    times = ta.ComputationRecord().tensor(TIMES)
    ours = Slerp(times, Host.from_rotvec(VECTORS))(0.5).as_matrix()
    plain = Slerp(TIMES, Rotation.from_rotvec(VECTORS))(0.5).as_matrix()
    np.testing.assert_allclose(ours.data, plain)
