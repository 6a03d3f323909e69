from typing import Any

import numpy as np
import pytest
import scipy.spatial as host
import scipy.spatial.distance as scipy_distance

import tape_ad as ta
from tape_ad.errors import InPlaceError, UnsupportedArgumentError
from tape_ad.scipy import spatial
from tape_ad.scipy.spatial import distance

POINTS = np.array([[0.0, 0.0, 1.0], [1.0, 2.0, 2.0], [1.0, 2.0, 2.0], [3.0, -1.0, 0.5]])


@pytest.mark.parametrize(
    "metric", ["euclidean", "sqeuclidean", "cityblock", "chebyshev", "minkowski", "seuclidean"]
)
def test_equal_points_have_a_gradient_of_zero(metric: str) -> None:
    options = {"V": np.ones(3)} if metric == "seuclidean" else {}
    x = ta.ComputationRecord().tensor(POINTS[1:3])
    np.testing.assert_array_equal(distance.pdist(x, metric, **options).sum().grad().wrt(x), 0.0)


def test_a_root_at_zero_has_no_second_derivative() -> None:
    def lengths(x: Any) -> Any:
        return np.sum(distance.cdist(x, POINTS[:1]))

    with np.errstate(all="ignore"):
        hessian = ta.hessian(lengths)(POINTS[:1])
    assert np.all(np.isnan(hessian) | np.isinf(hessian))


def test_the_second_derivative_of_squares_at_zero_is_two() -> None:
    def squares(x: Any) -> Any:
        return np.sum(distance.cdist(x, POINTS[:1], "sqeuclidean"))

    np.testing.assert_array_equal(ta.hessian(squares)(POINTS[:1])[0, :, 0], 2 * np.eye(3))


def test_cosine_of_equal_vectors_has_its_second_derivative() -> None:
    u = np.array([1.0, 2.0, 2.0])
    hessian = ta.hessian(lambda v: distance.cosine(u, v))(u)
    expected = (np.eye(3) - np.outer(u, u) / 9) / 9
    np.testing.assert_allclose(hessian, expected, atol=1e-14)


def test_many_points_are_taken_some_rows_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    a, b, weights = rng.normal(size=(7, 3)), rng.normal(size=(5, 3)), rng.normal(size=(7, 5))

    def loss(a: Any, b: Any) -> Any:
        return np.sum(weights * distance.cdist(a, b))

    whole = ta.grad(loss, (0, 1))(a, b)
    monkeypatch.setattr("tape_ad.scipy.spatial.metrics.LARGE", 30)
    by_rows = ta.grad(loss, (0, 1))(a, b)
    np.testing.assert_allclose(by_rows[0], whole[0], rtol=1e-14)
    np.testing.assert_allclose(by_rows[1], whole[1], rtol=1e-14)


def test_ways_to_differ_that_do_not_occur_have_a_slope() -> None:
    u, v, w = np.array([1.0, 1, 0, 0]), np.array([0.0, 1, 0, 0]), np.array([2.0, 3.0, 1.0, 5.0])
    assert scipy_distance.yule(u, v, w) == 0
    for position in range(2):
        slope = ta.grad(lambda u, v: distance.yule(u, v, w), position)(u, v)
        ends = [[u, v], [u, v]]
        for end, step in zip(ends, (1e-5, -1e-5), strict=True):
            end[position] = end[position] + step * np.arange(4)
        high, low = (scipy_distance.yule(*end, w) for end in ends)
        np.testing.assert_allclose(slope @ np.arange(4), (high - low) / 2e-5, rtol=1e-6)


def test_metrics_of_truth_values_are_refused() -> None:
    x = ta.ComputationRecord().tensor(POINTS)
    with pytest.raises(UnsupportedArgumentError, match="'jaccard' compares truth values"):
        distance.pdist(x, "jaccard")
    with pytest.raises(ValueError, match="Unknown Distance Metric: nothing"):
        distance.pdist(x, "nothing")


def test_an_array_for_the_result_is_refused() -> None:
    x = ta.ComputationRecord().tensor(POINTS)
    with pytest.raises(InPlaceError, match="plain array"):
        distance.cdist(x, x, out=np.zeros((4, 4)))


@pytest.mark.parametrize("metric", sorted(scipy_distance._METRICS_NAMES))
def test_plain_arrays_get_scipys_result(metric: str) -> None:
    rng = np.random.default_rng(0)
    points = rng.uniform(0.2, 1.0, (9, 3))
    expected = scipy_distance.cdist(points, points, metric)
    np.testing.assert_array_equal(distance.cdist(points, points, metric), expected)


def test_a_metric_may_have_a_handle_built_in() -> None:
    scale = ta.ComputationRecord().tensor(2.0)
    for distances in (
        distance.cdist(POINTS, POINTS[:1], lambda u, v: scale * np.abs(u - v).sum()),
        distance.pdist(POINTS[:2], lambda u, v: scale * np.abs(u - v).sum()),
    ):
        np.testing.assert_allclose(distances.sum().grad().wrt(scale) * 2, distances.data.sum())


@pytest.mark.parametrize("boxsize", [1.0, [1.0, 0.0]])
def test_the_distances_of_neighbours_in_a_box_that_repeats(boxsize: Any) -> None:
    points = np.random.default_rng(0).uniform(size=(20, 2))
    x = np.array([[0.05, 0.95], [0.98, 0.5], [0.3, 1.2]])
    record = ta.ComputationRecord()
    tree, handle = record.tensor(points), record.tensor(x)
    distances, numbers = spatial.KDTree(tree, boxsize=boxsize).query(handle, 2)
    expected, chosen = host.KDTree(points, boxsize=boxsize).query(x, 2)
    np.testing.assert_allclose(distances.data, expected, rtol=1e-12)
    np.testing.assert_array_equal(numbers, chosen)
    gradients, step = distances.sum().grad(), np.array([1e-6, 0.0])
    moved = [host.KDTree(points, boxsize=boxsize).query(x + d, 2)[0].sum() for d in (step, -step)]
    slope = (moved[0] - moved[1]) / 2e-6
    np.testing.assert_allclose(gradients.wrt(handle)[:, 0].sum(), slope, rtol=1e-6)
    np.testing.assert_allclose(gradients.wrt(tree).sum(0), -gradients.wrt(handle).sum(0))


def test_a_matrix_of_distances_is_checked() -> None:
    d = ta.ComputationRecord().tensor([[0.0, 1.0], [2.0, 0.0]])
    with pytest.raises(ValueError, match="symmetric"):
        distance.squareform(d)
    assert distance.num_obs_dm((d + d.T) / 2) == 2
    assert distance.num_obs_y(d[0, 1:]) == 2
    assert distance.is_valid_y(d[0, 1:])


@pytest.mark.parametrize("k", [1, 2, [2], 5])
def test_the_distances_of_neighbours(k: Any) -> None:
    x = np.array([[0.4, 0.3, 0.9], [2.0, -0.5, 0.1]])
    record = ta.ComputationRecord()
    points, handle = record.tensor(POINTS), record.tensor(x)
    distances, numbers = spatial.KDTree(points).query(handle, k)
    expected, chosen = host.KDTree(POINTS).query(x, k)
    np.testing.assert_allclose(distances.data, expected, rtol=1e-14)
    np.testing.assert_array_equal(numbers, chosen)
    near = np.where(np.isfinite(expected), distances, 0.0)
    gradients = near.sum().grad()
    assert np.all(np.isfinite(gradients.wrt(points)))
    np.testing.assert_allclose(gradients.wrt(points).sum(0), -gradients.wrt(handle).sum(0))


def test_the_rest_of_a_tree_takes_no_handles() -> None:
    points = ta.ComputationRecord().tensor(POINTS)
    with pytest.raises(UnsupportedArgumentError, match="query_ball_point takes no handles"):
        spatial.KDTree(points).query_ball_point(POINTS[0], 1.0)
    assert spatial.KDTree(POINTS).query_ball_point(POINTS[0], 1.0) == [0]
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = spatial.KDTree(POINTS).nothing


def test_points_that_do_not_spread_have_no_shape() -> None:
    x = ta.ComputationRecord().tensor(np.ones((3, 2)))
    with pytest.raises(ValueError, match=">1 unique points"):
        spatial.procrustes(x, x)


@pytest.mark.filterwarnings("ignore:.*deprecated:DeprecationWarning")  # SciPy 1.18
@pytest.mark.parametrize("p", [1, 2, 3.5, np.inf])
def test_plain_points_get_scipys_distances(p: float) -> None:
    for name in ("minkowski_distance", "minkowski_distance_p", "distance_matrix"):
        ours, theirs = (
            getattr(module, name)(POINTS, POINTS[::-1], p) for module in (spatial, host)
        )
        np.testing.assert_allclose(ours, theirs, rtol=1e-14)
