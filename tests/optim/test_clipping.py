"""Clipping: by value and by the norm of all gradients together, and nothing is written to."""

from typing import Any

import numpy as np
import pytest

from tape_ad.base.trees import flatten, with_paths
from tape_ad.optim import clip_by_global_norm, clip_by_value, global_norm

Array = np.ndarray[Any, Any]


def test_values_are_clipped_on_both_sides_and_dtypes_stay() -> None:
    gradients = {
        "w": np.array([-3.0, 0.25, np.inf], np.float32),
        "z": np.array([3 - 0.5j]),
        "b": np.array(-7.0),
    }
    gradients["w"].flags.writeable = False
    clipped = clip_by_value(gradients, 0.5)
    np.testing.assert_array_equal(clipped["w"], np.array([-0.5, 0.25, 0.5], np.float32))
    np.testing.assert_array_equal(clipped["z"], [0.5 - 0.5j])
    np.testing.assert_array_equal(clipped["b"], -0.5)
    assert {name: g.dtype for name, g in clipped.items()} == {
        name: g.dtype for name, g in gradients.items()
    }
    assert gradients["w"][0] == -3


def test_the_norm_is_that_of_all_gradients_together() -> None:
    gradients = {"w": np.array([[3.0, 0.0]], np.float32), "z": np.array([4j]), "b": np.array(12.0)}
    clipped, norm = clip_by_global_norm(gradients, 6.5), global_norm(gradients)
    assert norm == 13.0
    factor = 6.5 / (13.0 + 1e-6)
    np.testing.assert_allclose(clipped["w"], [[3 * factor, 0]], rtol=1e-7)
    np.testing.assert_allclose(clipped["z"], [4j * factor], rtol=1e-15)
    np.testing.assert_allclose(clipped["b"], 12 * factor, rtol=1e-15)
    assert [g.dtype for g in clipped.values()] == [np.float32, np.complex128, np.float64]


def test_a_norm_that_is_small_enough_changes_nothing() -> None:
    gradients = {"w": np.array([3.0, 4.0])}
    clipped, norm = clip_by_global_norm(gradients, 5.1), global_norm(gradients)
    assert norm == 5.0
    assert clipped["w"] is gradients["w"]
    assert clipped is not gradients


def test_squares_that_half_precision_cannot_hold() -> None:
    gradients = {"w": np.full(4, 3e4, np.float16)}
    clipped, norm = clip_by_global_norm(gradients, 1.0), global_norm(gradients)
    assert norm == 2 * float(np.float16(3e4))
    np.testing.assert_allclose(clipped["w"], 0.5, rtol=1e-3)


def test_integers_become_floating_and_long_floats_stay() -> None:
    gradients = {"n": np.array([3, -4]), "long": np.zeros(1, np.longdouble)}
    by_value = clip_by_value(gradients, 0.5)
    by_norm, norm = clip_by_global_norm(gradients, 1.0), global_norm(gradients)
    assert norm == 5.0
    np.testing.assert_array_equal(by_value["n"], [0.5, -0.5])
    np.testing.assert_allclose(by_norm["n"], [0.6, -0.8], rtol=1e-6)
    assert by_value["long"].dtype == by_norm["long"].dtype == np.longdouble


def test_no_gradients_and_gradients_of_zero() -> None:
    assert (clip_by_global_norm({}, 1.0), global_norm({})) == ({}, 0.0)
    gradients = {"w": np.zeros(3), "e": np.zeros((0, 2))}
    clipped, norm = clip_by_global_norm(gradients, 0.0), global_norm(gradients)
    assert norm == 0.0
    np.testing.assert_array_equal(clipped["w"], [0.0, 0.0, 0.0])


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_norm_that_is_not_finite_does_not_go_unseen(bad: float) -> None:
    gradients = {"w": np.array([1.0, bad])}
    clipped, norm = clip_by_global_norm(gradients, 1.0), global_norm(gradients)
    assert not np.isfinite(norm)
    assert np.isnan(clipped["w"][1])


@pytest.mark.parametrize("limit", [-1.0, np.nan])
def test_a_limit_below_zero_is_refused(limit: float) -> None:
    with pytest.raises(ValueError, match=r"^clip_by_value: clip_value must be 0 or above, got "):
        clip_by_value({"w": np.ones(1)}, limit)
    with pytest.raises(ValueError, match=r"^clip_by_global_norm: max_norm must be 0 or above, "):
        clip_by_global_norm({"w": np.ones(1)}, limit)


TREES = {
    "list": [np.array([3.0, 4.0]), np.array(12.0)],
    "nested": {"hidden": {"weight": np.array([3.0, 4.0])}, "out": (np.array(12.0),)},
    "array": np.array([3.0, 4.0, 12.0]),
}


@pytest.mark.parametrize("tree", TREES.values(), ids=TREES)
def test_trees_of_any_kind_are_clipped(tree: Any) -> None:
    assert global_norm(tree) == 13.0
    for clip in (clip_by_value, clip_by_global_norm):
        clipped = clip(tree, 6.5)
        assert [path for path, _ in with_paths(clipped)] == [path for path, _ in with_paths(tree)]
    assert global_norm(clip_by_global_norm(tree, 6.5)) == pytest.approx(6.5, rel=1e-6)
    assert max(map(np.max, flatten(clip_by_value(tree, 6.5)))) == 6.5
