"""Filters, convolution and resampling: functions of `scipy.signal` on handles.

They have SciPy's names and arguments. SciPy's own turn what they get into plain arrays; these give
SciPy's results for plain arrays, and record what they do for handles. ``import
tape_ad.scipy.signal`` needs SciPy, which ``pip install 'tape-ad[scipy]'`` installs.

What stands here is what SciPy compiles (recursions, convolutions, ranks, peaks, spline filters),
and what has a better derivative than its steps: `lfilter_zi`, `lsim`, `sos2tf`, `tf2sos`, `tf2zpk`
and `residue`, where SciPy asks whether numbers are exactly equal, or roots are not simple; `csd`
and `ShortTimeFFT`, which go through many segments at once; and `bilinear`, `firwin`, `lp2lp_zpk`
and `lp2hp_zpk`, whose operands would be lost or change their precision. All else is SciPy's own
code.
"""

from tape_ad.extend.packages import extra

with extra("scipy", "tape_ad.scipy.signal"):
    import scipy.signal

import tape_ad.scipy.linalg  # noqa: F401 - which adds the rules
from tape_ad.extend.rules import Refused, add_rules, constants, merged
from tape_ad.scipy.counterparts import scipy_function
from tape_ad.scipy.faces import face, with_rules
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.signal import spectra  # noqa: F401 - which stands for steps of SciPy's
from tape_ad.scipy.signal import windows as windows
from tape_ad.scipy.signal.convolution import CONVOLUTION, SECTIONS
from tape_ad.scipy.signal.design import SYSTEMS, TAPS, TRANSFORMATIONS
from tape_ad.scipy.signal.filters import FILTERS, RECURSION
from tape_ad.scipy.signal.peaks import PEAKS
from tape_ad.scipy.signal.rates import RATES
from tape_ad.scipy.signal.roots import ROOTS
from tape_ad.scipy.signal.spline_filters import SPLINE_FILTERS

check_COLA, check_NOLA, findfreqs, square = (  # noqa: N816 - SciPy's names
    scipy_function(getattr(scipy.signal, name), __name__)
    for name in ("check_COLA", "check_NOLA", "findfreqs", "square")
)
remez = scipy_function(scipy.signal.remez, __name__)
EXCHANGED = Refused(
    "exchanges of extreme points are not given a derivative by bands=, "
    "desired= and weight=; pass their values, .data, or write firls(...), which has one"
)

RULES = merged(
    SECTIONS,
    CONVOLUTION,
    RECURSION,
    FILTERS,
    RATES,
    ROOTS,
    PEAKS,
    SPLINE_FILTERS,
    SYSTEMS,
    TRANSFORMATIONS,
    TAPS,
    constants(check_COLA, check_NOLA, findfreqs, square),
    {remez: EXCHANGED},
)

add_rules(RULES)

__getattr__, __dir__ = face(__name__, with_rules(__name__, RULES), packages=["windows"])
