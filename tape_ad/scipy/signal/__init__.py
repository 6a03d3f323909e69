"""Filters, convolution and resampling: functions of `scipy.signal` on handles.

They have SciPy's names and arguments. SciPy's own turn what they get into plain arrays; these give
SciPy's results for plain arrays, and record what they do for handles. ``import
tape_ad.scipy.signal`` needs SciPy, which ``pip install 'tape-ad[scipy]'`` installs.
"""

from tape_ad.extend.packages import extra, published

with extra("scipy", "tape_ad.scipy.signal"):
    import scipy.signal  # noqa: F401 - asked for first, so that its absence has one message

import tape_ad.scipy.linalg  # noqa: F401 - which adds the rules
from tape_ad.extend.rules import add_rules, merged
from tape_ad.scipy.signal import windows as windows
from tape_ad.scipy.signal.cascades import *
from tape_ad.scipy.signal.convolution import *
from tape_ad.scipy.signal.design import *
from tape_ad.scipy.signal.filters import *
from tape_ad.scipy.signal.forms import *
from tape_ad.scipy.signal.fractions import *
from tape_ad.scipy.signal.notches import *
from tape_ad.scipy.signal.peaks import *
from tape_ad.scipy.signal.rates import *
from tape_ad.scipy.signal.recursion import RECURSION
from tape_ad.scipy.signal.resampling import *
from tape_ad.scipy.signal.responses import *
from tape_ad.scipy.signal.sections import SECTIONS
from tape_ad.scipy.signal.sections_of_roots import *
from tape_ad.scipy.signal.short_time import *
from tape_ad.scipy.signal.simple_roots import SIMPLE_ROOTS
from tape_ad.scipy.signal.simulations import *
from tape_ad.scipy.signal.sliding import *
from tape_ad.scipy.signal.smoothing import *
from tape_ad.scipy.signal.spectra import *
from tape_ad.scipy.signal.spirals import *
from tape_ad.scipy.signal.spline_filters import *
from tape_ad.scipy.signal.system_responses import *
from tape_ad.scipy.signal.systems import *
from tape_ad.scipy.signal.taps import *
from tape_ad.scipy.signal.transformations import *
from tape_ad.scipy.signal.waveforms import *
from tape_ad.scipy.signal.window_functions import *

add_rules(
    merged(
        SECTIONS,
        CONVOLUTION,
        RECURSION,
        FILTERS,
        CASCADES,
        SMOOTHING,
        RESAMPLING,
        RATES,
        SPECTRA,
        SHORT_TIME,
        ORDER,
        SIMPLE_ROOTS,
        RESPONSES,
        TRANSFORMATIONS,
        DESIGN,
        WAVEFORMS,
        FORMS,
        SIMULATIONS,
        SYSTEM_RESPONSES,
        FRACTIONS,
        NOTCHES,
        SPIRALS,
        UNEVENLY,
        SECTIONS_OF_ROOTS,
        WINDOWS,
        TAPS,
        PEAKS,
        SPLINE_FILTERS,
        SLIDING,
        PERIODIC,
    )
)

__getattr__, __dir__ = published(__name__, packages=["windows"])
