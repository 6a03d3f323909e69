"""Rows for windows, taps, orders, splines and peaks of `tape_ad.scipy.signal`."""

from typing import Any

import numpy as np

from tape_ad.scipy import signal
from tape_ad.scipy.signal import windows
from tape_ad.scipy.signal.peaks import based, crossed, distant, maxima
from tape_ad.scipy.signal.roots import groups_of
from tests.rules.rows_scipy_signal import made
from tests.rules.table import REAL, Domain, Row, fixed, uniform

__all__ = ["CONSTANTS", "REFUSED", "ROWS"]

WAVE = fixed([0.0, 1.0, 0.2, 2.1, 1.4, 1.6, 0.3])
AT = np.array([1, 3])
LOW, HIGH = fixed(0.2), fixed(0.4)
BAND = fixed([0.25, 0.5])
BASES = np.array([0, 0]), np.array([2, 6])


def some_twice(rng: np.random.Generator, shape: Any) -> Any:
    """Draw frequencies of which two may be the same."""
    return np.array([0.0, 0.3, rng.choice([0.3, 0.8]), 1.0])


TWICE = Domain(some_twice, some_twice)


def zero_or_one(rng: np.random.Generator, shape: Any) -> Any:
    """Draw windows that are on or off."""
    return rng.integers(0, 2, shape).astype(float)


ZERO_OR_ONE = Domain(zero_or_one, zero_or_one)


CONSTANTS = [
    Row(signal.find_peaks_cwt, [WAVE], call=lambda f, x: f(x, np.arange(1, 3))),
    Row(maxima, [WAVE], call=lambda f, x: f(x)[0]),
    Row(distant, [REAL(2)], call=lambda f, heights: f(AT, heights, 3.0)),
    Row(based, [WAVE], call=lambda f, x: f(x, AT, -1)),
    Row(
        crossed,
        [WAVE],
        call=lambda f, x: f(x, AT, np.array([0.8, 1.8]), *BASES, rel_height=0.5),
    ),
    Row(signal.square, [uniform(0.0, 6.0)(3)]),
    *(
        Row(function, [ZERO_OR_ONE(4)], call=lambda f, window: f(window, 4, 2))
        for function in (signal.check_COLA, signal.check_NOLA)
    ),
    Row(groups_of, [fixed([1.0, 1.0004, 2.0])], call=lambda f, p: f(p, 1e-3)),
]

REFUSED: dict[Row, str] = {
    Row(
        signal.remez, [fixed([0.0, 0.1, 0.2, 0.5])], call=lambda f, bands: f(5, bands, [1, 0])
    ): signal.EXCHANGED.instead
}


def made_of(function: Any, *parameters: float, count: int = 5, **options: Any) -> Row:
    """Make the row of a window with parameters."""
    return made(
        function,
        [fixed(each) for each in parameters],
        call=lambda f, *given: f(count, *given, **options),
        note=f"{count} {options}",
    )


def of_one_dtype(*operands: Any) -> list[Any]:
    """Promote operands to the dtype that they have together."""
    arrays = [np.array(each) if isinstance(each, list) else each for each in operands]
    one = np.ones((), np.result_type(*arrays))
    return [np.multiply(each, one) for each in operands]


OF_IMAGES = [signal.firwin_2d] if hasattr(signal, "firwin_2d") else []

ROWS: list[Row] = [
    # Windows
    made_of(windows.kaiser, 3.0),
    made_of(windows.kaiser_bessel_derived, 3.0, count=4),
    made_of(windows.gaussian, 1.3),
    made_of(windows.general_gaussian, 1.3, 1.2),
    made_of(windows.general_hamming, 0.54, sym=False),
    made(windows.general_cosine, [fixed([0.4, 0.5, 0.1])], call=lambda f, a: f(4, a)),
    made_of(windows.exponential, 1.8, 2.0, sym=False),
    made_of(windows.tukey, 0.6),
    made_of(windows.chebwin, 60.0),
    made_of(windows.chebwin, 60.0, count=4),
    made(windows.taylor, [fixed(30.0)], call=lambda f, sll: f(5, 3, sll)),
    made(signal.get_window, [fixed(3.0)], call=lambda f, beta: f(beta, 4)),
    # Taps and orders
    made(
        signal.firls,
        [fixed([0.05, 0.3, 0.5, 0.9]), fixed([1.0, 0.9, 0.2, 0.1]), fixed([1, 0.5])],
        call=lambda f, bands, gains, w: f(5, bands, gains, weight=w),
    ),
    made(
        signal.firwin2,
        [fixed([0.3, 0.8]), fixed([0.2, 1.0, 0.6, 0.1])],
        prepare=lambda freq, gain: [np.concatenate((np.zeros(1), freq, np.ones(1))), gain],
        call=lambda f, freq, gain: f(3, freq, gain),
    ),
    made(
        signal.minimum_phase,
        [fixed([0.1, 0.3])],
        prepare=lambda h: [np.concatenate((h, np.ones(1), h[::-1]))],
        options={"n_fft": 8},
    ),
    *(
        made(function, [LOW], call=lambda f, wp: f(wp, 0.4, 1.0, 20.0)[1:])
        for function in (signal.buttord, signal.cheb1ord, signal.cheb2ord, signal.ellipord)
    ),
    made(signal.buttord, [BAND], call=lambda f, wp: f(wp, [0.15, 0.6], 1.0, 20.0)[1:]),
    made(signal.iirdesign, [LOW], call=lambda f, wp: f(wp, 0.4, 1.0, 9.0, ftype="butter")),
    *(
        made(
            function,
            [fixed(3.0)],
            call=lambda f, beta: f((3, 4), ("kaiser", beta), fc=0.4, circular=True),
        )
        for function in OF_IMAGES
    ),
    # Waves and delays
    made(signal.sawtooth, [fixed([0.3, 2.2, 5.0, -1.0]), fixed(0.4)]),
    made(
        signal.group_delay,
        [fixed([1.0, 0.3, 0.2]), fixed([1.0, -0.5]), fixed([0.3, 1.2])],
        call=lambda f, b, a, w: f((b, a), w),
    ),
    # Splines
    made(signal.cspline1d, [REAL(4)]),
    made(signal.cspline1d, [REAL(3)], options={"lamb": 0.3}),
    made(signal.qspline1d, [REAL(4)]),
    *(
        made(function, [REAL(4), fixed([0.3, -2.2, 7.4]), fixed(1.1), fixed(0.2)])
        for function in (signal.cspline1d_eval, signal.qspline1d_eval)
    ),
    made(signal.gauss_spline, [REAL(3)], options={"n": 3}),
    made(
        signal.symiirorder1,
        [REAL(3), fixed(0.6)],
        call=lambda f, x, c0: f(x, c0, -0.1, 0.5),
    ),
    made(signal.symiirorder2, [REAL(6)], call=lambda f, x: f(x, 0.1, 0.3, 0.5)),
    made(signal.cspline2d, [REAL(4, 3)], call=lambda f, x: f(x, 0.0, 0.1)),
    made(signal.qspline2d, [REAL(3, 3)], call=lambda f, x: f(x, 0.0, 0.1)),
    made(
        signal.sepfir2d,
        [REAL(3, 4), REAL(3), REAL(3)],
        prepare=of_one_dtype,
    ),
    made(signal.spline_filter, [REAL(14, 13)], options={"lmbda": 0.0}, single=2e-3),
    # Peaks
    made(signal.find_peaks, [WAVE], call=lambda f, x: f(x, height=0.0)[1]["peak_heights"]),
    made(signal.find_peaks, [WAVE], call=lambda f, x: f(x, width=0.0)[1]["widths"], note="widths"),
    made(signal.peak_prominences, [WAVE], call=lambda f, x: f(x, AT)[0]),
    made(signal.peak_widths, [WAVE, fixed(0.45)], call=lambda f, x, height: f(x, AT, height)),
    *(
        made(
            signal.unique_roots,
            [fixed([-1.3, -1.25, 2.8])],
            call=lambda f, p, kind=kind: f(p, 0.2, kind)[0],
            note=kind,
        )
        for kind in ("min", "avg")
    ),
]
