"""The rules for `scipy.signal`, which `tape_ad.scipy.signal` imports and publishes."""

from typing import Any

from tape_ad.rules.base import Entry
from tape_ad.scipy.signal.cascades import CASCADES
from tape_ad.scipy.signal.convolution import CONVOLUTION
from tape_ad.scipy.signal.design import DESIGN
from tape_ad.scipy.signal.filters import FILTERS
from tape_ad.scipy.signal.forms import FORMS
from tape_ad.scipy.signal.fractions import FRACTIONS
from tape_ad.scipy.signal.notches import NOTCHES
from tape_ad.scipy.signal.order import ORDER
from tape_ad.scipy.signal.peaks import PEAKS
from tape_ad.scipy.signal.periodic import PERIODIC
from tape_ad.scipy.signal.rates import RATES
from tape_ad.scipy.signal.recursion import RECURSION
from tape_ad.scipy.signal.resampling import RESAMPLING
from tape_ad.scipy.signal.responses import RESPONSES
from tape_ad.scipy.signal.sections import SECTIONS
from tape_ad.scipy.signal.sections_of_roots import SECTIONS_OF_ROOTS
from tape_ad.scipy.signal.short_time import SHORT_TIME
from tape_ad.scipy.signal.simple_roots import SIMPLE_ROOTS
from tape_ad.scipy.signal.simulations import SIMULATIONS
from tape_ad.scipy.signal.sliding import SLIDING
from tape_ad.scipy.signal.smoothing import SMOOTHING
from tape_ad.scipy.signal.spectra import SPECTRA
from tape_ad.scipy.signal.spirals import SPIRALS
from tape_ad.scipy.signal.spline_filters import SPLINE_FILTERS
from tape_ad.scipy.signal.system_responses import SYSTEM_RESPONSES
from tape_ad.scipy.signal.taps import TAPS
from tape_ad.scipy.signal.transformations import TRANSFORMATIONS
from tape_ad.scipy.signal.unevenly import UNEVENLY
from tape_ad.scipy.signal.waveforms import WAVEFORMS
from tape_ad.scipy.signal.window_functions import WINDOWS

__all__ = ["SIGNAL"]

SIGNAL: dict[Any, Entry] = {
    **SECTIONS,
    **CONVOLUTION,
    **RECURSION,
    **FILTERS,
    **CASCADES,
    **SMOOTHING,
    **RESAMPLING,
    **RATES,
    **SPECTRA,
    **SHORT_TIME,
    **ORDER,
    **SIMPLE_ROOTS,
    **RESPONSES,
    **TRANSFORMATIONS,
    **DESIGN,
    **WAVEFORMS,
    **FORMS,
    **SIMULATIONS,
    **SYSTEM_RESPONSES,
    **FRACTIONS,
    **NOTCHES,
    **SPIRALS,
    **UNEVENLY,
    **SECTIONS_OF_ROOTS,
    **WINDOWS,
    **TAPS,
    **PEAKS,
    **SPLINE_FILTERS,
    **SLIDING,
    **PERIODIC,
}
