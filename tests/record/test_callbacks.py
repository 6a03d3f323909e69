"""Functions of the users' that close over a handle, and are called by another library or NumPy.

What joins their results to a plain array says so, and what to write.
"""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad.errors import ConversionError, InPlaceError, TapeError

pytest.importorskip("scipy")

from scipy import integrate, ndimage, optimize, spatial, stats
from scipy.spatial import distance

X = np.array([1.0, 2.5, 0.7, 3.2])
GRID = np.arange(12.0).reshape(3, 4)

Call = Callable[[Any], Any]


def handle(data: Any) -> Any:
    return ta.ComputationRecord().tensor(data)


def shifted(t: Any) -> Call:
    def into(line: Any, out: Any) -> None:
        out[...] = t * line[1:-1]

    return lambda image: ndimage.generic_filter1d(image, into, 3)


def slope(t: Any) -> Call:
    return lambda line, axis, *_: t * ndimage.sobel(line, axis)


REFUSED: dict[str, Call] = {
    "scipy.ndimage.generic_filter": lambda t: ndimage.generic_filter(GRID, lambda w: t * w[0], 3),
    "scipy.ndimage.geometric_transform": lambda t: ndimage.geometric_transform(
        GRID, lambda c: (c[0] + t, c[1])
    ),
    "scipy.ndimage.labeled_comprehension": lambda t: ndimage.labeled_comprehension(
        X, [1, 1, 2, 2], [1, 2], lambda x: t * x.sum(), float, 0
    ),
    "scipy.stats.binned_statistic": lambda t: stats.binned_statistic(X, X, lambda x: t * x.sum()),
    "scipy.spatial.distance.pdist": lambda t: distance.pdist(GRID, lambda u, v: t * u @ v),
    "scipy.integrate.quad": lambda t: integrate.quad(lambda x: t * x, 0, 1),
    "scipy.optimize.fsolve": lambda t: optimize.fsolve(lambda x: x - t, [0.5, 0.5]),
    "scipy.optimize.leastsq": lambda t: optimize.leastsq(lambda x: x - t, [0.5, 0.5]),
    "scipy.optimize.broyden1": lambda t: optimize.broyden1(lambda x: x - t, [0.5, 0.5]),
}
"""What SciPy's functions do with such functions, and those in C with handles themselves."""


@pytest.mark.parametrize("name", REFUSED)
def test_a_function_of_scipys_is_named_and_ours(name: str) -> None:
    with pytest.raises((TapeError, ValueError, SystemError)) as caught:
        REFUSED[name](handle(1.3))
    error: BaseException | None = caught.value
    while error is not None and not isinstance(error, TapeError):
        error = error.__cause__  # of what NumPy says of it, and Python where SciPy's code goes on
    package, _, function = name.rpartition(".")
    assert re.match(rf"(\w+\.)?{function} of {package} t", str(error))
    words = f"test_callbacks.py), which would drop the gradient; write tape_ad.{package} in place"
    assert words in str(error)


@pytest.mark.parametrize(
    "call",
    [
        lambda t: np.apply_along_axis(lambda x: t * x, 0, GRID),
        lambda t: np.piecewise(X, [X > 1], [lambda x: t * x]),
        lambda t: np.vectorize(lambda x: t * x)(X),
        lambda t: spatial.cKDTree(t * GRID),
        lambda t: optimize.linear_sum_assignment(t * GRID),
        lambda t: optimize.least_squares(lambda x: np.array([x[0] - t]), [1.0]),
        lambda t: shifted(t)(GRID),
    ],
)
def test_what_has_no_frame_of_its_own(call: Call) -> None:
    words = r"^turning a handle into an ndarray \(line \d+ of test_call.*"
    instead = r"(rec\.constant\(array\)|whole arrays, with np\.where for its branches)"
    with pytest.raises(ConversionError, match=words + instead):
        call(handle(0.1))


def test_what_adds_to_an_array_of_its_own_is_named() -> None:
    with pytest.raises(InPlaceError, match=r"^generic_laplace of scipy\.ndimage takes plain"):
        ndimage.generic_laplace(GRID, slope(handle(0.1)))


def test_a_constant_in_place_of_the_array_keeps_the_gradient() -> None:
    t = handle(0.1)
    grid, x = (t.record.constant(each) for each in (GRID, X))
    along = np.apply_along_axis(lambda row: t * row, 1, grid)
    pieces = np.piecewise(x, [X > 1], [lambda x: t * x, 0.0])
    np.testing.assert_allclose(np.sum(along).grad().wrt(t), GRID.sum())
    np.testing.assert_allclose(np.sum(pieces).grad().wrt(t), X[X > 1].sum())


@pytest.mark.parametrize("change", ["__iadd__", "__isub__", "__imul__", "__itruediv__"])
def test_a_series_is_not_changed_in_place(change: str) -> None:
    pandas = pytest.importorskip("pandas")
    for t in (handle(2.0), handle(X)):
        with pytest.raises(AttributeError):
            getattr(pandas.Series(X), change)(t)
    np.testing.assert_array_equal((pandas.Series(X) + handle(X)).data, 2 * X)


def test_cross_validation_does_not_take_an_error_for_a_fit_that_fails() -> None:
    ridge = pytest.importorskip("sklearn.linear_model").Ridge
    pairwise = pytest.importorskip("sklearn.metrics.pairwise")
    selection = pytest.importorskip("sklearn.model_selection")
    t, rows = handle(1.0), GRID.repeat(4, 0)
    calls: tuple[Callable[[], Any], ...] = (
        lambda: selection.cross_val_score(ridge(), t * rows, rows[:, 0]),
        lambda: selection.cross_val_score(ridge(alpha=t), rows, rows[:, 0]),
        lambda: selection.GridSearchCV(ridge(), {"alpha": [t]}).fit(rows, rows[:, 0]),
        lambda: selection.GridSearchCV(ridge(), {"alpha": [1.0]}).fit(t * rows, rows[:, 0]),
    )
    for call in calls:
        with pytest.raises(ValueError, match="All the 5 fits failed"):
            call()
    assert isinstance(selection.train_test_split(t * rows)[0], ta.Tensor)
    with pytest.raises(ValueError, match=r"Got Tensor\(%0, "):
        pairwise.rbf_kernel(rows, gamma=t)
