"""Interpolation: functions of `scipy.interpolate` on handles.

They have SciPy's names and arguments. SciPy's own turn what they get into plain arrays; these give
SciPy's results for plain arrays, and record what they do for handles.
``import tape_ad.scipy.interpolate`` needs SciPy, which ``pip install 'tape-ad[scipy]'`` installs.
"""

from tape_ad.extend.packages import extra

with extra("scipy", "tape_ad.scipy.interpolate"):
    import scipy.interpolate  # noqa: F401 - asked for first, so that its absence has one message

import tape_ad.scipy.interpolate.grids  # noqa: F401 - which stands for steps of SciPy's
from tape_ad.extend.rules import add_rules, merged
from tape_ad.scipy.faces import face
from tape_ad.scipy.interpolate.bsplines import *
from tape_ad.scipy.interpolate.fitpack import *
from tape_ad.scipy.interpolate.polynomials import *
from tape_ad.scipy.interpolate.scattered import *
from tape_ad.scipy.spatial.metrics import PAIRS

add_rules(merged(PIECES, SPLINES, FITPACK, RATIONAL, SCATTERED, ROOTS_OF_PIECES))
add_rules(PAIRS)  # distances, which radial functions are of

__getattr__, __dir__ = face(__name__)
