"""`tape_ad.scipy.fft`, and SciPy's own functions, which ask it for handles."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
import scipy.fft

import tape_ad as ta
from tape_ad.errors import ConversionError, TapeError, UnsupportedArgumentError
from tape_ad.scipy import fft
from tape_ad.testing import check_grads

Array = Any

X = np.array([0.5, -1.0, 2.0, 0.25])
TRANSFORMS = sorted(name for name in fft.__all__ if name[-1] in "t2n" and "fft" in name)
TRIGONOMETRIC = sorted(name for name in fft.__all__ if name.strip("in") in ("dct", "dst"))


class Other:
    """A backend of somebody else."""

    __ua_domain__ = "numpy.scipy.fft"

    @staticmethod
    def __ua_function__(method: Any, args: Any, kwargs: Any) -> str:
        return "other"


def tensor(values: Array = X) -> Any:
    """Make a leaf of a record of its own."""
    return ta.ComputationRecord().tensor(values)


@pytest.mark.parametrize("name", [*TRANSFORMS, *TRIGONOMETRIC])
def test_scipys_own_functions_take_handles(name: str) -> None:
    x = tensor(np.outer(X, X) + 1.0)
    own, ours = getattr(scipy.fft, name)(x), getattr(fft, name)(x)
    assert np.array_equal(own.data, getattr(scipy.fft, name)(x.data))
    seed = np.ones_like(ours.data)
    assert np.array_equal(own.grad(seed).wrt(x), ours.grad(seed).wrt(x))


def test_a_handle_by_keyword_is_seen() -> None:
    x = tensor()
    assert scipy.fft.dct(x=x, type=3).record is x.record


def test_plain_arrays_go_to_scipy() -> None:
    assert type(scipy.fft.fft(X)) is np.ndarray
    assert type(scipy.fft.dctn([1.0, 2.0])) is np.ndarray
    assert fft.Backend.__ua_function__(scipy.fft.fft, (X,), {"n": 3}) is NotImplemented


def test_a_users_backend_comes_first() -> None:
    with scipy.fft.set_backend(Other):
        assert scipy.fft.fft(X) == "other"
        assert scipy.fft.fft(tensor()) == "other"
    assert scipy.fft.fft(tensor()).shape == (4,)


@pytest.mark.parametrize(
    "without",
    [
        lambda: scipy.fft.skip_backend(fft.Backend),
        lambda: scipy.fft.set_backend("scipy", only=True),
    ],
)
def test_without_our_backend_a_handle_is_refused(without: Any) -> None:
    x = tensor()
    with without(), pytest.raises(ConversionError):
        scipy.fft.fft(x)


def test_threads_have_records_of_their_own() -> None:
    def gradient(scale: float) -> Array:
        x = tensor(scale * X)
        return np.sum(scipy.fft.dct(x) ** 2).grad().wrt(x)

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(gradient, [1.0, 2.0, 3.0, 4.0] * 4))
    for i, each in enumerate(found):
        np.testing.assert_allclose(each, found[0] * (i % 4 + 1), rtol=1e-12)


def test_a_compiled_function_calls_scipys_own() -> None:
    compiled = ta.compile(lambda x: scipy.fft.dct(x) * 2)
    for values in (X, X + 1, X - 2):
        np.testing.assert_allclose(compiled(values), scipy.fft.dct(values) * 2)


def test_second_order_through_scipys_own_names() -> None:
    check_grads(lambda x: np.sum(np.abs(scipy.fft.rfft(x)) ** 4), (X,), order=2)


@pytest.mark.parametrize("function", [fft.dct, fft.dst, fft.idct, fft.idst])
@pytest.mark.parametrize("kind", [1, 2, 3, 4])
def test_scipy_forgets_what_to_make_orthogonal_for_complex_data(function: Any, kind: int) -> None:
    z = X + 1j * X[::-1]
    for norm in (None, "ortho", "forward"):
        for orthogonalize in (None, True, False):
            options = {"type": kind, "norm": norm, "orthogonalize": orthogonalize}
            rec = ta.ComputationRecord()
            x = rec.tensor(z)
            out = function(x, **options)
            matrix = function(np.eye(4, dtype=complex), axis=0, **options)
            ct = np.array([1.0, 2.0j, -1.0, 0.5])
            np.testing.assert_allclose(out.data, matrix @ z)
            np.testing.assert_allclose(out.grad(ct).wrt(x), matrix.conj().T @ ct)


def test_the_spacing_of_frequencies_has_a_gradient() -> None:
    d = tensor(np.array(0.5))
    np.testing.assert_allclose(fft.fftfreq(4, d).grad(np.ones(4)).wrt(d), 0.5 / 0.25)
    np.testing.assert_allclose(fft.rfftfreq(4, d=d).grad(np.ones(3)).wrt(d), -0.75 / 0.25)


@pytest.mark.parametrize(
    "call",
    [
        lambda t: fft.fft(X, t),
        lambda t: fft.dct(X, n=t),
        lambda t: fft.fftn(X, axes=t),
        fft.fftfreq,
        lambda t: fft.dct(X, 2, 4, t),
    ],
)
def test_a_handle_where_there_is_no_derivative_is_an_error(call: Any) -> None:
    with pytest.raises((TapeError, TypeError), match=r"handle|Tensor"):
        call(tensor(np.array(2.0)))


def test_the_limit_of_a_hankel_transform_is_refused() -> None:
    with pytest.raises(
        UnsupportedArgumentError, match=r"tape_ad\.scipy\.fft\.fht: .*mu= and bias="
    ):
        fft.fht(tensor(), 0.1, 0.0, bias=-1.0)


def test_a_hankel_transform_and_back() -> None:
    check_grads(
        lambda a, mu: np.sum(fft.ifht(fft.fht(a, 0.3, mu, 0.1), 0.3, mu, 0.1) ** 2),
        (X, np.array(0.7)),
        order=2,
    )
