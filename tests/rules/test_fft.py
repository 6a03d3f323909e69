"""What the rows do not say about `numpy.fft`."""

from typing import Any

import numpy as np
import pytest

from tape_ad.errors import InPlaceError
from tests.shorthand import handle

Array = Any

RNG = np.random.default_rng(9)


def pulled(out: Any, seed: Array, handle: Any) -> Array:
    return out.grad(seed=seed).wrt(handle)


@pytest.mark.parametrize("n", [6, 7])
def test_there_and_back_is_the_identity(n: int) -> None:
    x = handle(RNG.standard_normal(n))
    seed = RNG.standard_normal(n)
    ways: tuple[Any, ...] = (
        np.fft.irfft(np.fft.rfft(x), n),
        np.fft.ifft(np.fft.fft(x)).real,
        np.fft.hfft(np.fft.ihfft(x), n),
        np.fft.ifftshift(np.fft.fftshift(x)),
    )
    for back in ways:
        np.testing.assert_allclose(pulled(back, seed, x), seed, atol=1e-14)


@pytest.mark.parametrize("n", [6, 7])
def test_the_energy_of_a_spectrum_is_that_of_the_signal(n: int) -> None:
    x = handle(RNG.standard_normal(n))
    energy: Any = np.sum(np.abs(np.fft.fft(x, norm="ortho")) ** 2)
    np.testing.assert_allclose(energy.grad().wrt(x), 2 * x.data, atol=1e-14)


def test_what_a_real_transform_ignores_has_no_gradient() -> None:
    z = handle(RNG.standard_normal(4) + 1j * RNG.standard_normal(4))
    energy: Any = np.sum(np.fft.irfft(z) ** 2)
    gradient = energy.grad().wrt(z)
    np.testing.assert_array_equal(gradient[[0, -1]].imag, 0)
    assert np.all(gradient[1:-1].imag != 0)


def test_out_is_refused() -> None:
    x = handle(np.ones(4))
    with pytest.raises(InPlaceError, match="into a plain array"):
        np.fft.fft(x, out=np.empty(4, complex))


def test_a_transform_over_no_axes_is_the_identity() -> None:
    x = handle(RNG.standard_normal((2, 3)))
    seed = RNG.standard_normal((2, 3))
    np.testing.assert_array_equal(pulled(np.fft.fftn(x, axes=()), seed, x), seed)
