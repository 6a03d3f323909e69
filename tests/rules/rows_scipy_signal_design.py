"""Rows for designs, responses and order filters of `tape_ad.scipy.signal`."""

from typing import Any

import numpy as np

from tape_ad.scipy import signal
from tape_ad.scipy.signal.roots import held_apart
from tests.rules.rows_scipy_signal import SOS, made, sections
from tests.rules.table import DISTINCT, POSITIVE, REAL, Row, fixed

__all__ = ["ROWS"]

B, A = fixed([0.5, 0.3, -0.2]), fixed([1.5, -0.6, 0.2])
ZEROS, POLES, GAIN = fixed([0.4, -0.7]), fixed([0.2, 0.6, -0.3]), fixed(0.8)
OMEGA = np.array([0.2, 1.0, 2.5])
LOW, BAND = fixed(0.3), fixed([0.25, 0.6])
CROSS = np.array([[0, 1, 0], [1, 1, 1], [0, 1, 0]])

RESPONSE_OF_SECTIONS: list[Any] = [
    getattr(signal, name) for name in ("sosfreqz", "freqz_sos") if hasattr(signal, name)
]


def with_gain(function: Any, *operands: Any) -> Any:
    """Call a function that gives zeros, poles and a gain, which may be a number of Python's."""
    zeros, poles, gain = function(*operands)
    return zeros, poles * gain


ROWS: list[Row] = [
    # The element of a rank
    made(signal.medfilt, [DISTINCT(5)]),
    made(signal.medfilt, [DISTINCT(4, 3)], options={"kernel_size": [1, 3]}),
    made(signal.medfilt2d, [DISTINCT(3, 4)]),
    made(signal.order_filter, [DISTINCT(3, 4)], call=lambda f, a: f(a, CROSS, 2)),
    made(signal.deconvolve, [REAL(5), fixed([1.5, 0.4, -0.2])]),
    # Responses
    *(
        made(signal.freqz, [B, A], options=options)
        for options in (
            {"worN": 4},
            {"worN": 3, "whole": True, "fs": 3.0},
            {"worN": 3, "include_nyquist": True},
        )
    ),
    made(signal.freqz, [B], options={"worN": 4}),
    made(signal.freqz, [B, A, POSITIVE(3)], call=lambda f, b, a, w: f(b, a, w, fs=5.0)),
    *(
        made(function, [SOS], prepare=sections, options={"worN": 3})
        for function in RESPONSE_OF_SECTIONS
    ),
    made(signal.freqz_zpk, [ZEROS, POLES, GAIN], options={"worN": 3}),
    made(signal.freqs, [B, A, POSITIVE(3)]),
    # Forms
    made(signal.zpk2tf, [ZEROS, POLES, GAIN]),
    made(signal.tf2zpk, [fixed([2.0, 1.0, -0.5]), fixed([1.5, 0.9, 0.1])]),
    Row(
        held_apart,
        [fixed([0.5, -0.25]), fixed([1.0, -0.25, -0.125])],
        options={"name": "tf2zpk"},
        no_jax="a function of ours, for an error",
    ),
    *(
        made(function, [fixed([2.0, 0.5, 1.0, 0.7]), fixed([1.0, 0.1, -0.3])])
        for function in (signal.residue, signal.residuez)
    ),
    made(signal.sos2tf, [SOS], prepare=sections),
    made(signal.bilinear, [B, A]),
    *(
        made(function, [ZEROS, POLES, GAIN, POSITIVE()], call=with_gain)
        for function in (signal.lp2lp_zpk, signal.lp2hp_zpk)
    ),
    *(
        made(function, [ZEROS, POLES, GAIN, fixed(1.3), fixed(1.6)], call=with_gain)
        for function in (signal.lp2bp_zpk, signal.lp2bs_zpk)
    ),
    made(signal.bilinear_zpk, [ZEROS, POLES, GAIN], options={"fs": 2.5}),
    # Designs
    *(
        made(signal.butter, [edges], call=lambda f, wn, kind=kind: f(2, wn, kind), note=kind)
        for kind, edges in (("low", LOW), ("high", LOW), ("band", BAND), ("stop", BAND))
    ),
    made(signal.butter, [LOW], call=lambda f, wn: f(3, wn, analog=True, output="zpk")[1]),
    made(signal.cheby1, [LOW], call=lambda f, wn: f(2, 1.0, wn, fs=1.5)),
    made(signal.cheby2, [LOW], call=lambda f, wn: f(2, 20.0, wn, "high", output="zpk")[:2]),
    made(signal.ellip, [LOW], call=lambda f, wn: f(2, 1.0, 20.0, wn)),
    made(signal.bessel, [LOW], call=lambda f, wn: f(2, wn, norm="mag")),
    made(signal.iirfilter, [BAND], call=lambda f, wn: f(1, wn, btype="bandstop")),
    *(
        made(signal.firwin, [edges], call=lambda f, c, o=options: f(5, c, **o), note=str(options))
        for edges, options in (
            (LOW, {}),
            (LOW, {"pass_zero": False, "width": 0.4}),
            (BAND, {"window": "hann", "scale": False}),
            (BAND, {"pass_zero": "bandpass"}),
        )
    ),
    # Waveforms
    *(
        made(
            signal.chirp,
            [REAL(3), fixed(0.7), fixed(1.5), fixed(1.2)],
            call=lambda f, t, f0, t1, f1, o=options: f(t, f0, t1, f1, phi=20.0, **o),
            note=str(options),
        )
        for options in (
            {},
            {"method": "quadratic"},
            {"method": "q", "vertex_zero": False},
            {"method": "log"},
            {"method": "hyperbolic"},
        )
    ),
    made(
        signal.sweep_poly,
        [REAL(3), fixed([0.3, -0.2, 0.5])],
        call=lambda f, t, poly: f(t, poly, 20.0),
    ),
    made(
        signal.gausspulse,
        [fixed([-0.4, 0.1, 0.3]), fixed(1.2), fixed(0.6)],
        options={"retquad": True, "retenv": True},
    ),
    made(signal.gausspulse, [fixed(1.2), fixed(0.6)], call=lambda f, fc, bw: f("cutoff", fc, bw)),
]
