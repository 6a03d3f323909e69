"""`tape_ad.scipy.signal.ShortTimeFFT` beside SciPy's."""

from typing import Any

import numpy as np
import pytest
import scipy.signal

import tape_ad as ta
from tape_ad.scipy import signal
from tape_ad.testing import check_grads

RNG = np.random.default_rng(0)
X, SEVERAL = RNG.normal(size=20), RNG.normal(size=(2, 20, 3))
WINDOW = scipy.signal.get_window(("gaussian", 2.0), 8, fftbins=False)


def tensor(values: Any) -> Any:
    """Make a leaf of a record of its own."""
    return ta.ComputationRecord().tensor(np.asarray(values, float))


@pytest.mark.parametrize("hop", [3, 8])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"mfft": 11},
        {"fft_mode": "onesided2X", "scale_to": "psd"},
        {"fft_mode": "onesided2X", "scale_to": "magnitude", "phase_shift": 2},
        {"fft_mode": "twosided", "phase_shift": None},
        {"fft_mode": "centered"},
    ],
    ids=str,
)
def test_it_transforms_as_scipys_does(options: dict[str, Any], hop: int) -> None:
    theirs = scipy.signal.ShortTimeFFT(WINDOW, hop, 2.0, **options)
    of_signal = signal.ShortTimeFFT(WINDOW, hop, 2.0, **options)
    of_window = signal.ShortTimeFFT(tensor(WINDOW), hop, 2.0, **options)
    calls: tuple[dict[str, Any], ...] = (
        *({"padding": padding} for padding in ("zeros", "edge", "even", "odd")),
        {"p0": 1, "p1": 3},
        {"k_offset": 2},
    )
    for call in calls:
        expected = theirs.stft(X, **call)
        for made in (of_signal.stft(tensor(X), **call), of_window.stft(X, **call)):
            assert made.dtype == expected.dtype
            np.testing.assert_allclose(made.data, expected, atol=1e-13)
    made = of_signal.spectrogram(tensor(X), X[::-1], "linear")
    np.testing.assert_allclose(made.data, theirs.spectrogram(X, X[::-1], "linear"), atol=1e-12)
    assert np.array_equal(of_signal.stft(X), theirs.stft(X))
    assert of_signal.delta_f == theirs.delta_f


def test_an_axis_of_several_signals() -> None:
    ours, theirs = (own.ShortTimeFFT(WINDOW, 3, 2.0) for own in (signal, scipy.signal))
    made, expected = ours.stft(tensor(SEVERAL), axis=1), theirs.stft(SEVERAL, axis=1)
    np.testing.assert_allclose(made.data, expected, atol=1e-13)


def test_a_loss_of_a_window_and_a_signal() -> None:
    def loss(window: Any, x: Any) -> Any:
        return np.sum(signal.ShortTimeFFT(window, 3, 2.0, scale_to="psd").spectrogram(x) ** 2)

    check_grads(loss, (WINDOW[1:6], X[:7]), order=2)


def test_a_transform_goes_back_by_a_window_that_moves() -> None:
    def loss(window: Any, x: Any, fs: Any) -> Any:
        made = signal.ShortTimeFFT(window, 3, fs, scale_to="psd")
        return np.sum(made.istft(made.stft(x) ** 2, k1=6) ** 2) + np.sum(made.dual_win**3)

    check_grads(loss, (WINDOW[1:6], X[:7], np.array(2.0)), order=2)


def test_a_window_with_zeros_that_a_handle_scales() -> None:
    def loss(fs: Any) -> Any:
        made = signal.ShortTimeFFT(WINDOW * np.arange(WINDOW.size), 3, fs, scale_to="psd")
        return np.sum(np.abs(made.stft(X)) ** 2)

    check_grads(loss, (np.array(2.0),), order=2)
