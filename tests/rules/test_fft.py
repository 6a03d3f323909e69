"""What the rows do not say about `numpy.fft`."""

from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad.errors import InPlaceError
from tape_ad.rules.maps import Chain
from tape_ad.rules.maps.patterns import pattern_of
from tape_ad.rules.numpy import fft
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


OF_REAL: dict[str, tuple[tuple[int, ...], Any]] = {
    "fft": ((3, 6), np.fft.fft),
    "an odd number": ((5, 3), lambda x: np.fft.fft(x, axis=0, norm="ortho")),
    "one": ((4, 1), np.fft.fft),
    "filled up": ((2, 6), lambda x: np.fft.fft(x, 9, norm="forward")),
    "cut": ((7, 3), lambda x: np.fft.fft(x, 4, 0)),
    "fft2": ((2, 4, 5), np.fft.fft2),
    "the other order": ((3, 4, 2), lambda x: np.fft.fft2(x, axes=(1, 0), norm="ortho")),
    "fftn": ((3, 4, 5), lambda x: np.fft.fftn(x, (2, 5, -1), (0, 1, 2), norm="forward")),
    "an axis twice": ((4, 5), lambda x: np.fft.fftn(x, axes=(0, 1, 0))),
}


@pytest.mark.parametrize("name", OF_REAL)
def test_pulls_to_real_numbers_take_half_of_the_frequencies(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    shape, transform = OF_REAL[name]
    x, t = RNG.standard_normal((2, *shape))

    def powers(x: Array) -> Any:
        spectrum = transform(x)
        return np.sum(spectrum.real * (spectrum.imag + 1) + np.abs(spectrum) ** 4)

    def slopes() -> list[Array]:
        columns = ta.jacobian(lambda x: transform(x) * (1 + 0.5j))(x)
        return [ta.grad(powers)(x), ta.hvp(powers, x, t), columns, ta.jvp(transform, (x,), (t,))[1]]

    expected = slopes()
    monkeypatch.setattr(fft, "LARGE", 0)
    for one, other in zip(slopes(), expected, strict=True):
        np.testing.assert_allclose(one, other, 1e-12, 1e-12 * np.abs(other).max())


def test_large_real_numbers_are_pulled_to_as_complex_ones_are() -> None:
    x = RNG.standard_normal((96, 128)).astype(np.float32)
    seed = RNG.standard_normal((96, 128)) + 1j * RNG.standard_normal((96, 128))
    real, complex_one = handle(x), handle(x + 0j)
    found = pulled(np.fft.fft2(real), seed.astype(np.complex64), real)
    expected = pulled(np.fft.fft2(complex_one), seed.astype(np.complex64), complex_one)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected.real, 0, 1e-6 * np.abs(expected).max())


def test_the_pattern_of_transforms_of_real_numbers_is_that_of_complex_ones() -> None:
    shape = (3, 2, 4)
    one_by_one = [fft.Transform(np.fft.fft, shape[axis], axis, None) for axis in (-1, -3)]
    found, expected = (
        pattern_of(each, shape, shape)
        for each in (fft.OfReal((-1, -3), (4, 3), None), Chain(tuple(one_by_one)))
    )
    assert sorted(zip(found.rows, found.columns, strict=True)) == sorted(
        zip(expected.rows, expected.columns, strict=True)
    )


def test_out_is_refused() -> None:
    x = handle(np.ones(4))
    with pytest.raises(InPlaceError, match="into a plain array"):
        np.fft.fft(x, out=np.empty(4, complex))


def test_a_transform_over_no_axes_is_the_identity() -> None:
    x = handle(RNG.standard_normal((2, 3)))
    seed = RNG.standard_normal((2, 3))
    np.testing.assert_array_equal(pulled(np.fft.fftn(x, axes=()), seed, x), seed)
