"""`scipy.fftpack` in copies of code: its transforms are those of `scipy.fft`."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tape_ad as ta

fftpack = pytest.importorskip("scipy.fftpack")

X = np.array([0.3, 0.5, 0.7, 0.2, -0.4])

Function = Callable[[Any], Any]


def of_a_kind(name: str, kind: int) -> Function:
    return lambda x: getattr(fftpack, name)(x, kind)


def of_two_axes(name: str) -> Function:
    return lambda x: getattr(fftpack, name)(np.outer(x, x[:2]))


def of_two_lengths(name: str) -> Function:
    return lambda x: getattr(fftpack, name)(x, 0.5, 0.6)


TRANSFORMS: dict[str, Function] = {
    **{name: getattr(fftpack, name) for name in ("fft", "ifft", "rfft", "irfft")},
    **{
        f"{name} of type {kind}": of_a_kind(name, kind)
        for name in ("dct", "idct", "dst", "idst")
        for kind in (1, 2, 3)
    },
    "norm": lambda x: fftpack.dct(x, norm="ortho"),
    "longer": lambda x: fftpack.rfft(x, 8),
    "shorter": lambda x: fftpack.irfft(x, 3),
    "of a list": lambda x: fftpack.rfft([x[0], x[1] ** 2, 1.0]),
    "along an axis": lambda x: fftpack.rfft(np.outer(x, x[:3]), axis=0),
    "back along an axis": lambda x: fftpack.irfft(np.outer(x[:4], x), axis=0),
    **{
        name: of_two_axes(name)
        for name in ("fft2", "ifft2", "fftn", "ifftn", "dctn", "idctn", "dstn", "idstn")
    },
    "fftshift": fftpack.fftshift,
    **{name: getattr(fftpack, name) for name in ("hilbert", "ihilbert", "diff")},
    "second derivative": lambda x: fftpack.diff(x[:4], 2, period=3.0),
    "tilbert": lambda x: fftpack.tilbert(x, 0.5),
    "itilbert": lambda x: fftpack.itilbert(x, 0.5),
    **{name: of_two_lengths(name) for name in ("cs_diff", "sc_diff", "ss_diff", "cc_diff")},
    "shift": lambda x: fftpack.shift(x, 0.3),
    "shift of an even length": lambda x: fftpack.shift(x[:4], 0.3),
}


@pytest.mark.parametrize("name", TRANSFORMS)
def test_the_legacy_transforms_keep_gradients(name: str) -> None:
    def loss(x: Any) -> Any:
        out = TRANSFORMS[name](x)
        weights = np.cos(np.arange(out.size)).reshape(out.shape)
        return np.sum(weights * np.abs(out) ** 3)

    value, slopes = ta.value_and_grad(ta.differentiable(loss))(X)
    steps = 1e-6 * np.eye(5)

    np.testing.assert_allclose(value, loss(X), rtol=1e-12)
    np.testing.assert_allclose(
        slopes, [(loss(X + h) - loss(X - h)) / 2e-6 for h in steps], rtol=1e-6, atol=1e-8
    )
