"""Calls that random ones found to go wrong, one of each kind."""

import warnings
from typing import Any

import numpy as np
import pytest
import scipy.special
from attrs import frozen

import tape_ad as ta
from tape_ad import nn
from tape_ad.base.trees import flatten
from tape_ad.errors import ConversionError, DtypeError, ShapeError, TapeError
from tape_ad.scipy import fft, integrate, linalg, ndimage, signal, spatial, stats
from tests.fuzz.drawing import Call
from tests.fuzz.problems import Attempt, is_inexact, problems_of


@frozen(eq=False)
class Mended:
    """A function, and arguments of which every array of floats is differentiated."""

    function: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]

    def __str__(self) -> str:
        return getattr(self.function, "__name__", "")


def mended(function: Any, *args: Any, **kwargs: Any) -> Mended:
    return Mended(function, args, kwargs)


def normal(*shape: int) -> Any:
    return np.random.default_rng(len(shape)).standard_normal(shape)


X = normal(3, 2)
Z = normal(3, 2) + 1j * normal(2, 3).T
SWAPPED = normal(4, 5).astype(">f8")
SINGLE = normal(3, 5).astype("f4")

CALLS = [
    mended(np.var, X, mean=Z[:1], axis=0),
    mended(np.var, X, dtype=complex, mean=Z),
    mended(np.std, X, mean=Z[:1], axis=0, where=X > -1),
    mended(np.nanvar, X, mean=Z[:1], axis=0),
    mended(np.nanstd, X, mean=Z[:1], axis=0, dtype=complex),
    mended(np.nanstd, Z, mean=Z[:1], axis=0),
    mended(np.nanstd, Z[:1, 0], dtype=float, ddof=0.5),
    mended(np.std, Z[:1], dtype=float, axis=0, ddof=0.5),
    mended(np.geomspace, Z[0] + 2, Z[1] + 4, 5, dtype=float),
    mended(np.geomspace, np.abs(X[0]), np.abs(X[1]), 5, dtype="f4"),
    mended(np.linalg.matrix_power, SWAPPED[:, :4], 0),
    mended(np.ediff1d, SWAPPED[:0]),
    mended(np.nan_to_num, Z.astype(">c16")),
    mended(np.nan_to_num, np.array([1 + np.inf * 1j, 2 - 1j]), posinf=np.inf),
    mended(np.compress, np.array([True, False, True]), np.zeros((2, 0)), axis=1),
    mended(linalg.expm, SINGLE[:3, :3].astype("f2")),
    mended(linalg.cho_factor, (np.eye(3) * 2).astype("f2")),
    mended(np.clip, SWAPPED),
    mended(np.linalg.norm, X, keepdims=np.True_),
    mended(np.linalg.matrix_norm, X, keepdims=np.True_),
    mended(np.linalg.vector_norm, X, keepdims=np.True_),
    mended(nn.logsumexp, X, keepdims=np.True_),
    mended(np.linalg.svd, X.T @ X, compute_uv=False, hermitian=np.True_),
    mended(np.linalg.pinv, np.zeros((0, 3)), hermitian=True),
    mended(np.sign, X, dtype="f8"),
    mended(np.sign, X, dtype=complex),
    mended(linalg.cho_factor, np.array([2.0])),
    mended(linalg.expm, np.array([2.0])),
    mended(linalg.toeplitz, np.zeros(0)),
    mended(linalg.toeplitz, np.zeros(0), normal(3)),
    mended(linalg.sqrtm, (np.eye(3) + 0.1 * normal(3, 3)).astype(">f8")),
    mended(np.nan_to_num, SWAPPED),
    mended(np.nan_to_num, np.array([np.nan, 1.5, np.inf]), 2.0, posinf=3.0),
    mended(np.gradient, SWAPPED),
    mended(np.gradient, SWAPPED, np.array([0.1, 0.4, 0.9, 1.1]), 2.0),
    mended(np.cov, SINGLE, aweights=np.abs(SINGLE[0])),
    mended(np.cov, SINGLE.astype("f8"), dtype="f4"),
    mended(np.cov, normal(5), aweights=np.abs(normal(5)) * (1 + 1j)),
    mended(np.corrcoef, normal(1, 4), dtype="f4"),
    mended(np.polyfit, np.arange(5.0), SINGLE.T, 2, w=normal(5)),
    mended(np.einsum, "ij,j,k->ik", SINGLE.T, SINGLE[:, 0], normal(4)),
    mended(np.emath.logn, normal(3).astype("f2"), normal(3) + 2),
    mended(np.emath.power, -np.abs(normal(3)).astype("f2"), 2.5),
    mended(np.histogram, normal(4), bins=[-2.0, 0.0, 2.0], weights=normal(4).astype(">f8")),
    mended(scipy.special.boxcox1p, np.array([True, False]), np.array([0.2, 0.6])),
    mended(scipy.special.boxcox, np.array([2, 3], "i1"), np.array([0.2, 0.6])),
    mended(scipy.special.jv, np.array([0, 2], "u1"), np.array([0.2, 0.6])),
    mended(scipy.special.kv, np.array([0, 2], "u1"), np.array([0.2, 0.6])),
    mended(scipy.special.xlogy, np.array([0.2, 0.6]), np.array([3, 2], "i1")),
    mended(linalg.orthogonal_procrustes, normal(2, 3, 2), normal(2, 3, 2)[::-1]),
    mended(linalg.subspace_angles, normal(2, 4, 2), normal(2, 4, 2)[::-1]),
    mended(linalg.eigvals_banded, normal(3, 1)),
    mended(linalg.cholesky_banded, np.abs(normal(3, 1))),
    mended(fft.rfftn, normal(3, 4), s=3, axes=1),
    mended(fft.hfft, normal(4, 2) + 0j, n=0, axis=0),
    mended(fft.irfft2, normal(1, 1) + 0j),
    mended(fft.fht, normal(4).astype("f4"), 0.3, 0.5),
    mended(fft.fht, normal(4), 0.3, 0.5, bias=0.2),
    mended(integrate.cumulative_simpson, normal(3, 1), axis=-1, initial=0.5),
    mended(signal.bilinear, np.array([0.3]), np.array([0.7])),
    mended(signal.convolve, np.ones((1, 1), "f4"), np.zeros((3, 0)), mode="same"),
    mended(signal.detrend, normal(4, 2), axis=None, type="constant"),
    mended(signal.hilbert2, normal(4)),
    mended(signal.lfiltic, np.array([0.5, 0.3]), SINGLE[0, :2] + 2, SINGLE[0, :1]),
    mended(signal.spectrogram, np.zeros((0, 3))),
    mended(signal.tf2sos, np.array([0.5]), np.array([2.0])),
    mended(spatial.distance.squareform, np.array(0.5)),
    mended(stats.gmean, np.array(2.0), keepdims=True),
    mended(stats.kstat, normal(1, 3)[0], n=3),
    mended(stats.tstd, Z, axis=1),
]


def attempted(function: Any, *args: Any, **kwargs: Any) -> list[Any]:
    """List all problems with a call."""
    leaves = flatten((args, kwargs))
    active = [i for i, a in enumerate(leaves) if isinstance(a, np.ndarray) and is_inexact(a)]
    call = Call("", function, args, kwargs)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return list(problems_of(Attempt(call, leaves, tuple(active)), np.random.default_rng(0)))


@pytest.mark.parametrize("call", CALLS, ids=str)
def test_it_is_numpys_and_its_derivatives_are_right(call: Mended) -> None:
    assert attempted(call.function, *call.args, **call.kwargs) == []


@pytest.mark.parametrize("mean", [stats.gmean, stats.hmean])
def test_weights_are_spread_over_the_elements_that_they_are_of(mean: Any) -> None:
    pytest.importorskip("scipy", minversion="1.15", reason="before, weights have to fit")

    assert attempted(mean, np.abs(X) + 1, weights=np.abs(X[:, :1]), axis=1) == []


def test_the_whole_part_is_what_counts_of_the_order_of_expn() -> None:
    n = np.array([0.4, 1.7, 2.2])

    assert attempted(lambda x: scipy.special.expn(n, x), np.array([0.3, 0.7, 1.2])) == []


@pytest.mark.parametrize(
    ("function", "args", "kwargs", "error"),
    [
        (np.nanstd, (X,), {"ddof": 0.5, "correction": 0}, ValueError),
        (np.var, (X,), {"ddof": 1, "correction": 1}, ValueError),
        (np.var, (X[:, :1],), {"mean": np.zeros((1, 3))}, ShapeError),
        (np.cov, (X,), {"dtype": int}, TypeError),
        (np.nan_to_num, (X,), {"neginf": 1j}, TypeError),
        (np.linalg.tensorinv, (np.zeros((0, 0)),), {"ind": 1}, ValueError),
        (np.linalg.tensorinv, (np.ones(()),), {"ind": 1}, TypeError),
        (lambda h: np.gradient(np.zeros(3, bool), h), (normal(3),), {}, TypeError),
        (linalg.sqrtm, (np.ones(()),), {}, ShapeError),
        (linalg.logm, (np.ones(()),), {}, ShapeError),
        (linalg.solve_sylvester, (np.zeros((0, 0)), np.zeros((0, 0)), np.eye(2)), {}, ShapeError),
        (np.histogram, (X[:, 0],), {"bins": "auto", "weights": X[:, 1]}, TypeError),
        (np.histogram, (Z,), {}, DtypeError),
        (np.histogram2d, (X[:, 0], X[:, 1]), {"weights": Z[:, 0]}, DtypeError),
        (np.interp, (Z[:, 0], X[:, 0], X[:, 1]), {"period": 2.0}, DtypeError),
        (np.interp, (X[:, 0], X[:, 0], X[:, 1]), {"left": 1j}, DtypeError),
        (linalg.solve_sylvester, (np.eye(2), np.eye(2), np.zeros(0)), {}, ShapeError),
        (ndimage.fourier_gaussian, (X, Z[0, 0]), {}, np.exceptions.ComplexWarning),
        (spatial.procrustes, (X, Z), {}, np.exceptions.ComplexWarning),
        (stats.energy_distance, (X[0], Z[0]), {}, np.exceptions.ComplexWarning),
        (stats.kstat, (X[0],), {"n": 0}, ValueError),
        (stats.wasserstein_distance, (X[:0, 0], X[0]), {}, ValueError),
    ],
)
def test_it_is_refused(function: Any, args: Any, kwargs: Any, error: type[Exception]) -> None:
    record = ta.ComputationRecord()

    with pytest.raises(error):
        function(*map(record.tensor, args), **kwargs)


@pytest.mark.filterwarnings("ignore:Diagonal number 2")
def test_the_factors_of_a_singular_matrix_have_no_derivative() -> None:
    with pytest.raises(np.linalg.LinAlgError, match="no derivative"):
        ta.jacobian(lambda a: linalg.lu_factor(a)[0])(np.array([[1.0, 2.0], [2.0, 4.0]]))


def test_an_initial_value_that_is_a_handle_is_refused() -> None:
    handle: Any = ta.ComputationRecord().tensor(2.0)

    with pytest.raises((TapeError, ValueError)) as refused:
        np.sum(X, initial=handle)

    assert isinstance(refused.value.__cause__ or refused.value, ConversionError)


def test_silu_is_the_identity_at_infinity() -> None:
    x = np.array([-np.inf, -40.0, np.inf])
    first = ta.grad(lambda x: np.sum(nn.silu(x)))
    second = ta.grad(lambda x: np.sum(first(x)))

    with np.errstate(invalid="ignore"):
        np.testing.assert_allclose(first(x), [0, -39 * np.exp(-40), 1], rtol=1e-14)
        np.testing.assert_allclose(second(x), [0, -38 * np.exp(-40), 0], rtol=1e-14)
