"""Rows for linear systems, notches, spirals and uneven samples of `tape_ad.scipy.signal`."""

from typing import Any

import numpy as np

from tape_ad.scipy import signal
from tests.rules.rows_scipy_signal import made, sections
from tests.rules.table import POSITIVE, REAL, Row, fixed

__all__ = ["CONSTANTS", "ROWS"]

NUM, DEN = fixed([1.0, 3.0, 0.5]), fixed([2.0, 2.4, 1.0])
ZEROS, POLES, GAIN = fixed([0.4]), fixed([-0.3, -0.7]), fixed(0.8)
A, B, C, D = fixed([[0.1, 1.0], [-0.6, -0.9]]), REAL(2, 1), REAL(1, 2), REAL(1, 1)
STATES = [A, B, C, D]
TIMES = np.linspace(0.0, 1.5, 4)
OMEGA = np.array([0.3, 1.2])

CONSTANTS = [
    Row(signal.findfreqs, [NUM, DEN], call=lambda f, b, a: f(b, a, 3)),
]


def of_system(function: Any, *operands: Any, parts: int, step: Any = (), **options: Any) -> Any:
    """Call a function with its first operands in a tuple, and a step behind them."""
    out = function((*operands[:parts], *step), *operands[parts:], **options)
    return [part for each in out for part in (each if isinstance(each, tuple) else (each,))]


def system(function: Any, parts: list[Any], *others: Any, note: str = "", **options: Any) -> Row:
    """Make the row of a function of a system."""
    return made(
        function,
        [*parts, *others],
        call=lambda f, *operands: of_system(f, *operands, parts=len(parts), **options),
        note=f"{note} of {len(parts)}",
    )


def discrete(function: Any, parts: list[Any], *others: Any, **options: Any) -> Row:
    """Make the row of a function of a discrete system."""
    return system(function, parts, *others, step=(0.5,), **options)


def with_gain(function: Any, *operands: Any) -> Any:
    """Call a function that gives zeros, poles and a gain, which may be a number of Python's."""
    zeros, poles, gain = function(*operands)
    return zeros, poles * gain


ROWS: list[Row] = [
    # Forms
    made(signal.normalize, [REAL(3), DEN]),
    made(signal.normalize, [REAL(2, 3), DEN]),
    made(signal.tf2ss, [NUM, DEN]),
    made(signal.abcd_normalize, [A, B, C, REAL()]),
    made(signal.ss2tf, STATES),
    made(signal.zpk2ss, [ZEROS, POLES, GAIN]),
    made(signal.ss2zpk, STATES, call=with_gain),
    made(
        signal.cont2discrete,
        [NUM, DEN, fixed(0.5)],
        call=lambda f, num, den, dt: f((num, den), dt)[:2],
    ),
    *(
        made(
            signal.cont2discrete,
            [*STATES, fixed(0.5)],
            call=lambda f, *parts, o=options: f(parts[:4], parts[4], **o)[:4],
            note=str(options),
        )
        for options in (
            {"method": "foh"},
            {"method": "bilinear"},
            {"method": "gbt", "alpha": 0.3},
        )
    ),
    # Sections
    made(signal.zpk2sos, [ZEROS, POLES, GAIN]),
    made(signal.tf2sos, [NUM, fixed([1.0, 0.9, 0.1])]),
    made(
        signal.sos2zpk,
        [fixed([[0.5, 0.6, 0.1, 0.0, 0.9, 0.14]])],
        prepare=sections,
        call=with_gain,
    ),
    made(
        signal.butter,
        [fixed(0.3)],
        call=lambda f, wn: f(3, wn, output="sos"),
        nodes=250,
        note="sos",
    ),
    # Simulations and responses
    system(signal.lsim, [NUM, DEN], REAL(4), T=TIMES),
    system(signal.lsim, STATES, REAL(4), T=TIMES + 0.5, X0=np.ones(2), interp=False),
    system(signal.impulse, STATES, T=TIMES),
    system(signal.step, [ZEROS, POLES, GAIN], T=TIMES),
    discrete(signal.dlsim, [NUM, DEN], REAL(4)),
    discrete(signal.dlsim, STATES, REAL(4), t=TIMES, x0=np.ones(2)),
    discrete(signal.dimpulse, [NUM, DEN], n=3),
    discrete(signal.dstep, STATES, n=3),
    system(signal.freqresp, [NUM, DEN], POSITIVE(2)),
    system(signal.freqresp, [ZEROS, POLES, GAIN], n=2),
    system(signal.bode, STATES, w=OMEGA),
    discrete(signal.dfreqresp, [NUM, DEN], w=OMEGA),
    discrete(signal.dbode, [ZEROS, POLES, GAIN], w=OMEGA),
    made(signal.freqs_zpk, [ZEROS, POLES, GAIN, POSITIVE(2)]),
    # Filters of one frequency
    made(signal.iirnotch, [fixed(0.3), fixed(3.0)]),
    made(signal.iirpeak, [fixed(0.3), fixed(3.0)]),
    made(signal.iircomb, [fixed(3.0)], call=lambda f, q: f(0.5, q)),
    made(signal.iircomb, [fixed(3.0)], call=lambda f, q: f(0.5, q, "peak"), note="peak"),
    made(signal.gammatone, [fixed(0.3)], call=lambda f, w: f(w, "fir", numtaps=4)[:1]),
    made(
        signal.gammatone,
        [fixed(44.0)],
        call=lambda f, w: f(w, "iir", fs=400.0),
        nodes=250,
        note="iir",
    ),
    # Spirals
    made(signal.czt, [REAL(3)]),
    made(signal.czt, [REAL(2, 3), fixed(0.9), fixed(1.1)], call=lambda f, x, w, a: f(x, 2, w, a)),
    made(signal.czt_points, [fixed(0.9), fixed(1.1)], call=lambda f, w, a: f(3, w, a)),
    made(signal.zoom_fft, [REAL(3), fixed([0.2, 0.7])], options={"endpoint": True}),
    # Samples at any times
    *(
        made(signal.lombscargle, [REAL(4), REAL(4), POSITIVE(2)], options=options)
        for options in ({}, {"normalize": True})
    ),
    made(signal.vectorstrength, [REAL(4), POSITIVE()]),
    made(signal.vectorstrength, [REAL(3), fixed([1.2, 2.1])]),
]
