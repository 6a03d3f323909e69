"""Rows for `tape_ad.scipy.signal`, and for what its functions are made of."""

from typing import Any

import numpy as np

from tape_ad.scipy import signal
from tape_ad.scipy.signal.convolution import convolved
from tape_ad.scipy.signal.filters import filtered, filtered_from, recursed
from tape_ad.scipy.signal.rates import polyphase
from tests.rules.table import DISTINCT, POSITIVE, REAL, Row, fixed

__all__ = ["CONSTANTS", "ROWS"]

Array = Any

OURS = "it is a function of ours"
NONE = "JAX has no such function"

B, A = fixed([0.5, 0.3, -0.2]), fixed([1.5, -0.6, 0.2])


def made(function: Any, operands: Any, *, nodes: int = 150, **fields: Any) -> Row:
    """Make the row of a function that is a composition."""
    fields.setdefault("note", "of SciPy")  # NumPy has some of that name
    fields.setdefault("no_jax", "" if "jax" in fields else NONE)
    return Row(function, operands, nodes=nodes, **fields)


SOS = fixed([[0.5, 0.3, -0.2, 0.0, -0.4, 0.1], [1.0, 0.5, 0.25, 0.0, 0.3, -0.2]])
ONES = np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0])


def sections(sos: Array, *operands: Array) -> list[Array]:
    """Put the ones into sections that have to be there, whatever is asked of the others."""
    return [sos * (1 - ONES) + ONES, *operands]


CONSTANTS = [
    Row(signal.choose_conv_method, [REAL(4), REAL(3)]),
    Row(signal.argrelmax, [DISTINCT(6)]),
    Row(signal.argrelmin, [DISTINCT(6)]),
    Row(signal.argrelextrema, [DISTINCT(6)], call=lambda f, x: f(x, np.greater)),
]

ROWS: list[Row] = [
    # What the functions are made of
    *(
        Row(
            convolved,
            [REAL(*a), REAL(*b)],
            call=lambda f, a, b, o=(start, size, method): f(a, b, *o),
            note=f"{start} {size} {method}",
            complex=True,
            no_jax=OURS,
        )
        for a, b, start, size, method in (
            ((5,), (3,), (0,), (7,), "direct"),
            ((3,), (5,), (-1,), (3,), "direct"),
            ((4,), (3,), (4,), (4,), "auto"),
            ((2, 4), (1, 3), (1,), (4,), "fft"),
            ((1, 4), (2, 3), (2,), (2,), "direct"),
            ((2, 4), (2, 3), (0,), (6,), "direct"),
            ((3, 4), (2, 2), (1, 0), (2, 5), "oa"),
            ((3, 3), (2, 3), (1, 2), (2, 1), "direct"),
            ((2, 2), (3, 2), (0, 0), (4, 3), "direct"),
            ((3,), (0,), (0,), (0,), "auto"),
        )
    ),
    *(
        Row(filtered, [b, a, REAL(*x)], complex=True, no_jax=OURS)
        for b, a, x in ((B, A, (5,)), (B, A, (2, 4)), (fixed([0.5, 1]), A, (1,)), (B, A, (0,)))
    ),
    *(
        Row(recursed, [a, REAL(*z)], complex=True, no_jax=OURS)
        for a, z in ((A, (5,)), (A, (2, 4)), (REAL(2, 1, 3), (2, 2, 5)), (REAL(2, 3), (2, 2)))
    ),
    Row(filtered, [B, fixed([1.5]), REAL(2, 4)], complex=True, no_jax=OURS, note="no feedback"),
    *(
        Row(filtered_from, [B, A, REAL(*x), REAL(*s)], complex=True, no_jax=OURS)
        for x, s in (((5,), (2,)), ((2, 4), (2, 2)), ((1,), (2,)))
    ),
    *(
        Row(
            polyphase,
            [REAL(4), REAL(*x)],
            call=lambda f, h, x, rates=(up, down): f(h, x, *rates),
            note=f"{up} to {down}",
            complex=True,
            no_jax=OURS,
        )
        for up, down, x in ((1, 1, (5,)), (3, 2, (4,)), (2, 3, (2, 5)), (1, 4, (6,)), (5, 1, (2,)))
    ),
    # Convolution
    *(
        made(
            function,
            [REAL(*a), REAL(*b)],
            options={"mode": mode},
            complex=True,
            jax=f"scipy.signal.{function.__name__}",
            no_complex_jax="the mode is NumPy's there" if mode == "same" else "",
        )
        for function in (signal.convolve, signal.correlate, signal.fftconvolve)
        for a, b, mode in (
            ((5,), (3,), "full"),
            ((5,), (2,), "same"),
            ((4,), (3,), "valid"),
        )
    ),
    *(
        made(function, [REAL(3, 4), REAL(2, 3)], options={"mode": mode}, complex=True)
        for function in (signal.convolve, signal.correlate)
        for mode in ("full", "valid")
    ),
    *(made(function, [REAL(), REAL()]) for function in (signal.convolve, signal.correlate)),
    *(
        made(function, [REAL(*a), REAL(*b)], options={"mode": mode, "axes": axes}, complex=True)
        for function in (signal.fftconvolve, signal.oaconvolve)
        for a, b, mode, axes in (
            ((2, 5), (2, 3), "full", 1),
            ((4, 1), (2, 2), "same", 0),
            ((2, 4), (1, 2), "valid", (-1,)),
            ((3, 3), (2, 2), "full", None),
        )
    ),
    *(
        made(
            function,
            [REAL(3, 3), REAL(2, 2)],
            options={"mode": mode, "boundary": boundary},
            complex=True,
        )
        for function in (signal.convolve2d, signal.correlate2d)
        for mode, boundary in (("full", "fill"), ("same", "wrap"), ("valid", "symm"))
    ),
    *(
        made(
            function,
            [REAL(2, 3), REAL(2, 2), REAL()],
            call=lambda f, a, b, c: f(a, b, "same", "fill", c),
        )
        for function in (signal.convolve2d, signal.correlate2d)
    ),
    made(signal.correlate2d, [REAL(2, 2), REAL(3, 3)], options={"mode": "valid"}, complex=True),
    # Filters
    *(
        made(signal.lfilter, [B, A, REAL(*x)], options={"axis": axis}, complex=True)
        for x, axis in (((5,), -1), ((4, 2), 0))
    ),
    *(
        made(
            signal.lfilter,
            [B, A, REAL(*x), REAL(*zi)],
            call=lambda f, b, a, x, zi, axis=axis: f(b, a, x, axis, zi),
            note=f"axis {axis}",
            complex=True,
        )
        for x, zi, axis in (((4,), (2,), -1), ((4, 2), (2, 1), 0), ((1,), (2,), -1))
    ),
    made(signal.lfilter_zi, [B, A], complex=True),
    made(signal.lfilter_zi, [fixed([0.5, 1]), A]),
    made(signal.lfiltic, [B, A, REAL(3), REAL(1)], complex=True),
    made(signal.lfiltic, [B, A, REAL(1)]),
    *(
        made(signal.filtfilt, [B, A, REAL(*x)], options=options, complex="method" not in options)
        for x, options in (
            ((6,), {"padlen": 2}),
            ((2, 5), {"padtype": "even", "padlen": 3}),
            ((5, 2), {"padtype": "constant", "padlen": 2, "axis": 0}),
            ((4,), {"padtype": None}),
            ((7,), {"method": "gust"}),
            ((9,), {"method": "gust", "irlen": 4}),
        )
    ),
    made(signal.sosfilt, [SOS, REAL(2, 4)], prepare=sections, complex=True),
    made(
        signal.sosfilt,
        [SOS, REAL(4), REAL(2, 2)],
        prepare=sections,
        call=lambda f, *operands: f(*operands[:-1], zi=operands[-1]),
        complex=True,
    ),
    made(signal.sosfilt_zi, [SOS], prepare=sections),
    made(
        signal.sosfiltfilt,
        [SOS, REAL(7)],
        prepare=sections,
        options={"padlen": 2},
        complex=True,
    ),
    made(
        signal.sosfiltfilt,
        [SOS, REAL(5)],
        prepare=sections,
        options={"padtype": "even", "padlen": 2},
    ),
    # Smoothing
    *(
        made(
            signal.savgol_filter,
            [REAL(*x)],
            options={
                "window_length": n,
                "polyorder": 2,
                "deriv": deriv,
                "mode": mode,
                "axis": axis,
            },
        )
        for x, n, deriv, mode, axis in (
            ((6,), 5, 0, "interp", -1),
            ((5, 2), 4, 1, "interp", 0),
            ((2, 5), 3, 0, "mirror", -1),
            ((5,), 5, 2, "nearest", -1),
            ((5,), 3, 0, "wrap", -1),
        )
    ),
    made(
        signal.savgol_filter,
        [REAL(5), POSITIVE(), REAL()],
        call=lambda f, x, delta, cval: f(x, 3, 2, 1, delta, -1, "constant", cval),
    ),
    made(signal.savgol_coeffs, [POSITIVE()], call=lambda f, delta: f(5, 3, 2, delta)),
    *(
        made(signal.detrend, [REAL(*x)], options=options, complex=True, jax="scipy.signal.detrend")
        for x, options in (((5,), {}), ((4, 2), {"axis": 0, "type": "constant"}))
    ),
    made(signal.detrend, [REAL(6)], options={"bp": [3]}, complex=True),
    made(signal.wiener, [REAL(3, 3)], options={"mysize": 3}),
    made(signal.wiener, [REAL(5), POSITIVE()], call=lambda f, im, noise: f(im, 3, noise)),
    # Other rates
    *(
        made(signal.hilbert, [REAL(*x)], options=options)
        for x, options in (((5,), {}), ((4, 2), {"axis": 0}), ((4,), {"N": 6}), ((5,), {"N": 3}))
    ),
    made(signal.hilbert2, [REAL(3, 4)]),
    made(signal.hilbert2, [REAL(4, 3)], options={"N": (3, 4)}),
    *(
        made(signal.resample, [REAL(*x)], options=options, complex=True)
        for x, options in (
            ((6,), {"num": 4}),
            ((4, 2), {"num": 6}),
            ((2, 5), {"num": 3, "axis": 1, "window": "hamming"}),
            ((4,), {"num": 4}),
        )
    ),
    made(
        signal.resample,
        [REAL(6), REAL(2), POSITIVE(6)],
        call=lambda f, x, t, window: f(x, 4, t, 0, window),
        complex=True,
        mixed=False,
    ),
    *(
        made(signal.upfirdn, [REAL(3), REAL(*x)], options=options, complex=True)
        for x, options in (
            ((5,), {"up": 2, "down": 3}),
            ((4, 2), {"up": 3, "axis": 0}),
            *(
                ((5,), {"up": 2, "down": 3, "mode": mode})
                for mode in ("symmetric", "antireflect", "antisymmetric", "smooth", "line")
            ),
        )
    ),
    made(
        signal.upfirdn,
        [REAL(3), REAL(4), REAL()],
        call=lambda f, h, x, cval: f(h, x, 2, 3, cval=cval),
    ),
    *(
        made(signal.resample_poly, [REAL(*x)], options={"up": 2, "down": 3, **options})
        for x, options in (((6,), {}), ((4, 2), {"padtype": "mean"}), ((4,), {"padtype": "line"}))
    ),
    made(signal.resample_poly, [DISTINCT(5)], options={"up": 3, "down": 2, "padtype": "median"}),
    made(
        signal.resample_poly,
        [REAL(5), REAL(5), REAL()],
        call=lambda f, x, window, cval: f(x, 3, 2, 0, window, "constant", cval),
    ),
    made(signal.decimate, [REAL(12)], options={"q": 2, "n": 2}),
    made(signal.decimate, [REAL(8)], options={"q": 2, "ftype": "fir"}),
    made(signal.decimate, [REAL(8)], options={"q": 2, "n": 3, "zero_phase": False}),
    # Spectra
    made(signal.welch, [REAL(8)], options={"nperseg": 4}, complex=False, jax="scipy.signal.welch"),
    made(
        signal.welch,
        [REAL(2, 9), POSITIVE(), POSITIVE(4)],
        call=lambda f, x, fs, w: f(x, fs, w, 4, 2, 5, "linear", scaling="spectrum")[1],
    ),
    made(
        signal.welch,
        [REAL(10), POSITIVE()],
        call=lambda f, x, fs: f(x, fs, nperseg=3, average="median"),
    ),
    made(
        signal.csd,
        [REAL(8), REAL(8)],
        options={"nperseg": 4},
        jax="scipy.signal.csd",
    ),
    made(
        signal.csd,
        [REAL(7, 2), REAL(5, 2)],
        options={"nperseg": 4, "axis": 0, "return_onesided": False},
        complex=True,
    ),
    made(
        signal.csd,
        [REAL(9), REAL(9)],
        options={"nperseg": 3, "average": "median", "detrend": False},
    ),
    made(signal.coherence, [REAL(8), REAL(8)], options={"nperseg": 4}),
    *(
        made(signal.periodogram, [REAL(2, 6)], options=options)
        for options in ({}, {"nfft": 4, "axis": 1}, {"nfft": 7, "window": "hann"})
    ),
    *(
        made(signal.stft, [REAL(9)], options={"nperseg": 4, **options})
        for options in (
            {},
            {"boundary": None, "padded": False, "noverlap": 3},
            {"boundary": "odd", "scaling": "psd", "detrend": "constant"},
        )
    ),
    made(
        signal.stft,
        [REAL(2, 6), POSITIVE(), POSITIVE(4)],
        call=lambda f, x, fs, window: f(x, fs, window, 4),
    ),
    *(
        made(signal.spectrogram, [REAL(9)], options={"nperseg": 4, "noverlap": 1, "mode": mode})
        for mode in ("psd", "complex", "magnitude", "angle", "phase")
    ),
    made(signal.istft, [REAL(3, 4)], complex=True, call=lambda f, z: f(z)[1]),
    made(
        signal.istft,
        [REAL(4, 2, 3), POSITIVE(), POSITIVE(4)],
        call=lambda f, z, fs, window: f(
            z, fs, window, noverlap=3, time_axis=0, freq_axis=-1, scaling="psd"
        ),
    ),
]
