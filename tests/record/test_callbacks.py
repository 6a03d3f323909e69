"""Functions of the users' that close over a handle, and are called by another library or NumPy.

What joins their results to a plain array says so, and what to write.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad.base.errors import ConversionError, InPlaceError, TapeError

pytest.importorskip("scipy")

from scipy import integrate, linalg, ndimage, optimize, spatial, special, stats
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
    "scipy.linalg.funm": lambda t: linalg.funm(np.diag(X), lambda x: t * x),
    "scipy.stats.binned_statistic": lambda t: stats.binned_statistic(X, X, lambda x: t * x.sum()),
    "scipy.spatial.distance.pdist": lambda t: distance.pdist(GRID, lambda u, v: t * u @ v),
    "scipy.integrate.quad": lambda t: integrate.quad(lambda x: t * x, 0, 1),
    "scipy.optimize.broyden1": lambda t: optimize.broyden1(lambda x: x - t, [0.5, 0.5]),
    "scipy.optimize.fsolve": lambda t: optimize.fsolve(lambda x: x - t, [0.5, 0.5]),
    "scipy.stats.multivariate_normal": lambda t: stats.multivariate_normal(cov=t * np.eye(2)),
    "scipy.special.sph_harm_y": lambda t: special.sph_harm_y(1, 1, t, 0.3),
    "scipy.optimize.linear_sum_assignment": lambda t: optimize.linear_sum_assignment(t * GRID),
}
"""What SciPy's functions do with such functions, and those in C with handles themselves."""


@pytest.mark.parametrize("name", REFUSED)
def test_a_function_of_scipys_is_named_and_ours(name: str) -> None:
    if name == "scipy.special.sph_harm_y" and not hasattr(special, "sph_harm_y"):
        pytest.skip("SciPy before 1.15 has no sph_harm_y")
    with pytest.raises((TapeError, ValueError, SystemError)) as caught:
        REFUSED[name](handle(1.3))
    error: BaseException | None = caught.value
    while error is not None and not isinstance(error, TapeError):
        error = error.__cause__  # of what NumPy says of it, and Python where SciPy's code goes on
    assert str(error).startswith(f"{name} t")
    ours = f"tape_ad.{name}"
    assert f"of test_callbacks.py), which would drop the gradient; write {ours}, " in str(error)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda t: np.apply_along_axis(lambda x: t * x, 0, GRID),
            r"^np\.apply_along_axis turns .*rec\.constant\(array\)",
        ),
        (lambda t: np.piecewise(X, [X > 1], [lambda x: t * x]), r"^np\.piecewise .*rec\.constant"),
        (lambda t: np.vectorize(lambda x: t * x)(X), r"^np\.vectorize .*np\.stack"),
        (
            lambda t: np.polynomial.Chebyshev.interpolate(lambda x: t * x, 2),
            r"^np\.polynomial\.Chebyshev\.interpolate turns .*chebinterpolate",
        ),
        (
            lambda t: spatial.cKDTree(t * GRID),
            r"^scipy\.spatial\.cKDTree turns .*ta\.scipy\.spatial\.KD",
        ),
        (
            lambda t: spatial.cKDTree(GRID).query(t * GRID),
            r"^scipy\.spatial\.cKDTree\.query turns .*ta\.scipy\.spatial\.KDTree",
        ),
        (lambda t: stats.qmc.scale(t * X[:, None], 0, 1), r"^scipy\.stats\.qmc\.scale .*lower \+"),
        (
            lambda t: integrate.RK45(lambda _, y: t * y, 0, [1.0], 1.0),
            r"^scipy\.integrate\.RK45 .*ta\.scipy\.integrate\.solve_ivp",
        ),
        (
            lambda t: optimize.least_squares(lambda x: np.array([x[0] - t]), [1.0]),
            r"^turning .*; and in a function that scipy\.optimize\.least_squares calls, write t",
        ),
        (
            lambda t: shifted(t)(GRID),
            r"^turning .* scipy\.ndimage\.generic_filter1d calls, write "
            r"tape_ad\.scipy\.ndimage\.gen",
        ),
    ],
)
def test_what_else_is_told(call: Call, words: str) -> None:
    with pytest.raises(ConversionError, match=words):
        call(handle(0.1))


def test_what_adds_to_an_array_of_its_own_is_named() -> None:
    words = (
        r"^scipy\.ndimage\.generic_laplace "
        r"\(write tape_ad\.scipy\.ndimage\.generic_laplace instead\)"
    )
    with pytest.raises(InPlaceError, match=words):
        ndimage.generic_laplace(GRID, slope(handle(0.1)))


def test_a_constant_in_place_of_the_array_keeps_the_gradient() -> None:
    t = handle(0.1)
    grid, x = (t.record.constant(each) for each in (GRID, X))
    along = np.apply_along_axis(lambda row: t * row, 1, grid)
    pieces = np.piecewise(x, [X > 1], [lambda x: t * x, 0.0])
    np.testing.assert_allclose(np.sum(along).grad().wrt(t), GRID.sum())
    np.testing.assert_allclose(np.sum(pieces).grad().wrt(t), X[X > 1].sum())


def test_a_line_without_its_source_says_no_name() -> None:
    space = {"t": handle(GRID), "KDTree": spatial.cKDTree}
    with pytest.raises(ConversionError, match=r"^turning a handle into an ndarray \(line 1 of"):
        exec("KDTree(t)", space)  # noqa: S102 - of what is typed in, Python keeps no source


@pytest.mark.parametrize("change", ["__iadd__", "__isub__", "__imul__", "__itruediv__"])
def test_a_series_is_not_changed_in_place(change: str) -> None:
    pandas = pytest.importorskip("pandas")
    for t in (handle(2.0), handle(X)):
        with pytest.raises(InPlaceError, match=r"of test_callbacks.*write series\.to_numpy\(\) \+"):
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
        with pytest.raises(ConversionError, match=r"^sklearn\.model_selection\..*KFold\(\)\.split"):
            call()
    assert isinstance(selection.train_test_split(t * rows)[0], ta.Tensor)
    words = r"Got Tensor\(%0, .*; a handle, sklearn\.metrics\.pairwise\.rbf_kernel \(write tape_ad"
    with pytest.raises(ValueError, match=words):
        pairwise.rbf_kernel(rows, gamma=t)
