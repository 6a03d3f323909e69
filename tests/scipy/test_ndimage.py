"""`tape_ad.scipy.ndimage`: all modes against matrices and differences, and what its errors say."""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.ndimage

import tape_ad as ta
from tape_ad.errors import UnsupportedArgumentError
from tape_ad.scipy import ndimage
from tape_ad.scipy.ndimage.extension import MODES
from tape_ad.scipy.ndimage.interpolation import SplineFilter
from tape_ad.testing import check_grads

Array = Any

RNG = np.random.default_rng(3)
every_mode = pytest.mark.parametrize("mode", [*MODES, "grid-mirror"])
IMAGE = RNG.normal(size=(4, 5))


def matrix_of(function: Any, shape: tuple[int, ...]) -> Array:
    """Make the matrix of a linear function of images, from images with one 1 each."""
    units = np.eye(int(np.prod(shape))).reshape((-1, *shape))
    return np.stack([function(unit).reshape(-1) for unit in units], axis=-1)


def pulled(function: Any, shape: tuple[int, ...]) -> Array:
    """Make the matrix of its transpose, from the gradients of its results."""
    x = ta.ComputationRecord().tensor(np.zeros(shape))
    y = function(x)
    seeds = np.eye(y.size).reshape((y.size, *y.shape))
    return y.grad(seeds).wrt(x).reshape((y.size, -1))


WINDOWS = [((5,), (3,)), ((4,), (2,)), ((3, 4), (2, 3)), ((1, 3), (3, 2)), ((2, 2), (5, 4))]


@every_mode
@pytest.mark.parametrize(("shape", "window"), WINDOWS)
@pytest.mark.parametrize("name", ["correlate", "convolve"])
def test_a_filter_pulls_by_its_transpose(name: str, shape: Any, window: Any, mode: str) -> None:
    weights = RNG.normal(size=window)
    ours, theirs = getattr(ndimage, name), getattr(scipy.ndimage, name)
    for place in itertools.product(*map(range, window)):
        origin = tuple(k - m // 2 for k, m in zip(place, window, strict=True))
        if name == "convolve":  # which counts the other way
            origin = tuple(m - 1 - k - m // 2 for k, m in zip(place, window, strict=True))
        given = {"weights": weights, "mode": mode, "origin": origin}
        expected = matrix_of(lambda x, given=given: theirs(x, **given), shape)
        found = pulled(lambda x, given=given: ours(x, **given), shape)
        np.testing.assert_allclose(found, expected, atol=1e-13)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("order", range(2, 6))
@pytest.mark.parametrize("n", [1, 2, 5, 31, 32, 33, 40])
def test_a_spline_filter_pulls_by_its_transpose(order: int, mode: str, n: int) -> None:
    linear = SplineFilter(order, -1, MODES.index(mode))
    forward, backward = linear.forward(np.eye(n)), linear.backward(np.eye(n))
    np.testing.assert_allclose(backward, forward.T, atol=1e-12)


@every_mode
@pytest.mark.parametrize("order", range(6))
@pytest.mark.parametrize("prefilter", [False, True])
def test_the_sums_of_splines_are_scipys_values(mode: str, order: int, prefilter: bool) -> None:
    c = np.concatenate([RNG.uniform(-9, 14, (2, 80)), RNG.integers(-14, 28, (2, 80)) / 2], axis=1)
    given = {"order": order, "mode": mode, "prefilter": prefilter}
    expected = scipy.ndimage.map_coordinates(IMAGE, c, cval=0.7, **given)
    x = ta.ComputationRecord().tensor(IMAGE)
    found = ndimage.map_coordinates(x, c, cval=0.7, **given)
    np.testing.assert_array_equal(found.data, expected)
    sums = ta.jvp(lambda x: ndimage.map_coordinates(x, c, **given), (IMAGE,), (IMAGE,))[1]
    # Which is linear in the image, so that these are the sums that its derivative is made of
    zero = scipy.ndimage.map_coordinates(IMAGE, c, **given)
    np.testing.assert_allclose(sums, zero, atol=1e-10)


@every_mode
@pytest.mark.parametrize("order", range(6))
@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("shift", {"shift": (1.3, -2)}),
        ("zoom", {"zoom": (1.5, 0.7)}),
        ("zoom", {"zoom": 1.5, "grid_mode": True}),
        ("rotate", {"angle": -45.0}),
        ("rotate", {"angle": 30.0, "reshape": False}),
        ("affine_transform", {"matrix": np.array([[0.9, 0.2, 1.0], [-0.3, 1.1, 0.5]])}),
    ],
)
@pytest.mark.filterwarnings("ignore:It is recommended to use mode")
def test_moved_images_are_scipys(mode: str, order: int, name: str, given: Any) -> None:
    x = ta.ComputationRecord().tensor(IMAGE)
    options = {**given, "order": order, "mode": mode, "cval": 0.3}
    expected = getattr(scipy.ndimage, name)(IMAGE, **options)
    found = getattr(ndimage, name)(x, **options)
    np.testing.assert_allclose(found.data, expected, atol=1e-14)


@pytest.mark.parametrize(
    "function",
    [
        lambda x, s: ndimage.gaussian_filter(x, [s, 2 * s]),
        lambda x, s: ndimage.shift(x, (s, 0.4)),
        lambda x, s: ndimage.map_coordinates(x, [[s, 1.2 * s], [2.3, s]]),
        lambda x, s: ndimage.rotate(x, 20 * s, reshape=False, order=2),
        lambda x, s: ndimage.geometric_transform(x, lambda i: (i[0] * s, i[1] - s), order=2),
        lambda x, s: ndimage.generic_laplace(
            x, lambda *a: ndimage.gaussian_filter1d(a[0], a[5], a[1], 0, a[2]), extra_arguments=(s,)
        ),
    ],
)
def test_handles_inside_of_lists_and_in_functions(function: Any) -> None:
    check_grads(function, (IMAGE[:3, :3], np.array(0.83)), order=1)


def test_equal_elements_give_the_gradient_to_the_first() -> None:
    x = ta.ComputationRecord().tensor(np.zeros(4))
    y = ndimage.maximum_filter(x, 3, mode="constant", cval=-1.0)
    np.testing.assert_array_equal(np.sum(y).grad().wrt(x), [2, 1, 1, 0])


def test_the_length_of_a_gradient_that_is_zero() -> None:
    x = ta.ComputationRecord().tensor(np.ones((3, 3)))
    y = ndimage.gaussian_gradient_magnitude(x, 1.0)
    np.testing.assert_array_equal(np.sum(y * 0 + y).grad().wrt(x) * 0, np.zeros((3, 3)))
    labels = np.ones((3, 3), int)
    deviation = ndimage.standard_deviation(x, labels, 1)
    np.testing.assert_array_equal(deviation.grad().wrt(x), np.zeros((3, 3)))


def test_an_empty_image() -> None:
    x = ta.ComputationRecord().tensor(np.zeros((0, 3)))
    assert ndimage.gaussian_filter(x, 1.0).shape == (0, 3)
    assert ndimage.correlate(x, np.ones((3, 3))).shape == (0, 3)


def test_an_image_that_is_not_contiguous() -> None:
    x = ta.ComputationRecord().tensor(IMAGE)
    turned = ndimage.gaussian_filter(x.T[::-1], 1.0)
    np.testing.assert_array_equal(turned.data, scipy.ndimage.gaussian_filter(IMAGE.T[::-1], 1.0))


T: Any = ta.ComputationRecord().tensor(IMAGE)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: ndimage.sobel(T, output=np.zeros((4, 5))), "output= is an array"),
        (lambda: ndimage.correlate(T, np.ones((1, 3)), output=int), "rounds the result"),
        (lambda: ndimage.gaussian_filter(np.arange(4), T[0, 0]), "int64"),
        (lambda: ndimage.zoom(IMAGE, T[0, 0]), "zoom="),
        (lambda: ndimage.median_filter(IMAGE, T[0, 0]), "median_filter"),
        (
            lambda: ndimage.distance_transform_edt(
                IMAGE > 0, sampling=T[0, :2], distances=np.zeros(IMAGE.shape)
            ),
            "edt: distances= and indices=",
        ),
        (lambda: ndimage.generic_filter(np.arange(4), lambda w, t=T[0, 0]: t * w[0], 3), "int64"),
        (lambda: ndimage.fourier_ellipsoid(IMAGE, T[0, 0]), "fourier_ellipsoid"),
    ],
)
def test_what_has_no_derivative_says_so(call: Any, says: str) -> None:
    with pytest.raises(UnsupportedArgumentError, match=says):
        call()


def test_coordinates_that_scipy_would_crash_on() -> None:
    with pytest.raises(ValueError, match="not finite"):
        ndimage.map_coordinates(IMAGE, np.full((2, 3), np.nan))
    with pytest.raises(ValueError, match="diagonal"):
        ndimage.affine_transform(IMAGE, np.array([0.0, 1.0]))


def test_distances_by_the_size_of_an_element() -> None:
    image = np.array([[1, 1, 0], [1, 1, 1], [0, 1, 1]])
    record = ta.ComputationRecord()
    sampling, handle = record.tensor([1.0, 2.5]), record.tensor(image)
    for function in (ndimage.distance_transform_edt, ndimage.distance_transform_bf):
        theirs = getattr(scipy.ndimage, function.__name__)
        ours, nearest = function(image, sampling=sampling, return_indices=True)
        expected = theirs(image, sampling=[1.0, 2.5], return_indices=True)
        np.testing.assert_array_equal(ours.data, expected[0])
        np.testing.assert_array_equal(nearest, expected[1])
        only = {"return_distances": False, "return_indices": True}
        np.testing.assert_array_equal(function(image, sampling=sampling, **only), expected[1])
        np.testing.assert_array_equal(function(handle), theirs(image))
        one = ta.grad(lambda s, f=function: f(image, sampling=s).sum())(1.5)
        np.testing.assert_allclose(one, theirs(image).sum())
    steps = ndimage.distance_transform_bf(image, "taxicab", sampling)
    np.testing.assert_array_equal(
        steps, scipy.ndimage.distance_transform_bf(image, "taxicab", [1.0, 2.5])
    )


def test_a_function_of_what_has_a_label() -> None:
    x, labels = np.array([[1.0, 4.0, 2.0], [8.0, 5.0, 7.0]]), [[1, 2, 1], [3, 2, 0]]
    handle = ta.ComputationRecord().tensor(x)

    def weighed(x: Any, places: Any) -> Any:
        return np.sum(x * places)

    for given in (
        (labels, [2, 1, 9], np.max, float, -1.0),
        (labels, 2, np.ptp, float, 0),
        (labels, None, np.mean, float, 0),
        (None, None, np.sum, float, 0),
        (labels, np.array([1, 2]), weighed, float, 0, True),
    ):
        ours = ndimage.labeled_comprehension(handle, *given)
        theirs = scipy.ndimage.labeled_comprehension(x, *given)
        np.testing.assert_allclose(ours.data, theirs, rtol=1e-14)
        assert ours.shape == np.shape(theirs)
    with pytest.raises(ValueError, match="index without"):
        ndimage.labeled_comprehension(handle, None, 1, np.sum, float, 0)


class Weighing:
    """A sum of a window, times what it holds."""

    def __init__(self, factor: Any) -> None:
        self.factor = factor

    def __call__(self, window: Any) -> Any:
        return self.factor * window.sum()


CLOSING: dict[str, Callable[[Any, Any], Any]] = {
    "generic_filter": lambda module, t: module.generic_filter(IMAGE, lambda w: t * w.sum(), 3),
    "generic_filter, an object": lambda module, t: module.generic_filter(
        IMAGE, Weighing(t), (1, 2)
    ),
    "geometric_transform": lambda module, t: module.geometric_transform(
        IMAGE, lambda place: (place[0] - 0.3 * t, place[1] * t)
    ),
    "labeled_comprehension": lambda module, t: module.labeled_comprehension(
        IMAGE, IMAGE > 0.5, [0, 1], lambda x: t**2 * x.sum(), float, 0.0
    ),
    "labeled_comprehension, integers": lambda module, t: module.labeled_comprehension(
        np.arange(4), [1, 1, 2, 2], [1, 2], lambda x: t**2 * x.sum(), float, 0.0
    ),
}


@pytest.mark.parametrize("name", CLOSING)
def test_a_function_that_closes_over_a_handle_keeps_the_gradient(name: str) -> None:
    def f(t: Any) -> Any:
        return CLOSING[name](ndimage, t)

    plain = CLOSING[name](scipy.ndimage, 1.1)
    np.testing.assert_array_equal(f(1.1), plain)
    t = ta.ComputationRecord().tensor(1.1)
    out = f(t)
    np.testing.assert_allclose(out.data, plain, rtol=1e-12)
    weights = np.random.default_rng(2).normal(size=plain.shape)
    slope = np.sum(weights * (f(1.1 + 1e-6) - f(1.1 - 1e-6))) / 2e-6
    np.testing.assert_allclose(np.sum(weights * out).grad().wrt(t), slope, rtol=1e-6)
    second = ta.grad(ta.grad(lambda t: np.sum(weights * f(t))))(1.1)
    ends = [ta.grad(lambda t: np.sum(weights * f(t)))(1.1 + h) for h in (1e-6, -1e-6)]
    np.testing.assert_allclose(second, (ends[0] - ends[1]) / 2e-6, rtol=1e-5, atol=1e-6)


def test_filters_by_a_function_of_an_empty_image() -> None:
    empty: Any = ta.ComputationRecord().tensor(np.zeros((0, 3)))
    assert ndimage.generic_filter(empty, np.sum, 3).shape == (0, 3)
    assert ndimage.generic_filter1d(empty, lambda line, out: None, 3).shape == (0, 3)


def test_a_handle_is_written_to_a_line_of_a_plain_image() -> None:
    t = ta.ComputationRecord().tensor(1.1)

    def into(line: Any, out: Any) -> None:
        out[...] = t * line[1:-1]

    for image in (IMAGE, t.record.constant(IMAGE)):
        out: Any = ndimage.generic_filter1d(image, into, 3)
        np.testing.assert_allclose(np.sum(out).grad().wrt(t), np.sum(IMAGE))
    np.testing.assert_array_equal(ndimage.gaussian_filter(IMAGE, 1.0, truncate=t * 2).shape, (4, 5))


def test_what_is_written_to_an_array_again_is_seen_by_its_views() -> None:
    @ta.differentiable
    def f(x: Any) -> Any:
        out: Any = np.zeros(5)
        part = out[1:3]
        scipy.ndimage.correlate1d(x, [1.0, 2.0, 1.0], output=out)
        first = part.sum() * out[0]
        scipy.ndimage.correlate1d(x**2, [1.0, 3.0, 1.0], output=out)
        alone = np.zeros(5)
        scipy.ndimage.correlate1d(out, [1.0, 2.0, 1.0], output=alone)
        scipy.ndimage.correlate1d(alone, [0.5, 2.0, 1.0], output=alone)
        return first * alone.sum() + part.sum()

    check_grads(f, (IMAGE[0],), order=2)
