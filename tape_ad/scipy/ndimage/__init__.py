"""Filters and geometric transforms of images: functions of `scipy.ndimage` on handles.

They have SciPy's names and arguments. SciPy's own turn what they get into plain arrays; these give
SciPy's results for plain arrays, and record what they do for handles. ``import
tape_ad.scipy.ndimage`` needs SciPy, which ``pip install 'tape-ad[scipy]'`` installs.

What stands here is what SciPy compiles: correlations, choices by rank, splines, factors in Fourier
space; the distances of transforms by the size of an element, and lengths that may be 0, whose roots
have no derivative there; and what is piecewise constant. All else is SciPy's own code.
"""

from tape_ad.extend.packages import extra

with extra("scipy", "tape_ad.scipy.ndimage"):
    import scipy.ndimage

from tape_ad.extend.rules import add_rules, constants, merged
from tape_ad.scipy.counterparts import scipy_function
from tape_ad.scipy.faces import face, with_rules
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.ndimage.filters import CORRELATION, RANKS
from tape_ad.scipy.ndimage.functions import DISTANCES
from tape_ad.scipy.ndimage.interpolation import CHECKED, INTERPOLATION, SPLINES

PLACES = {
    name: scipy_function(getattr(scipy.ndimage, name), __name__)
    for name in (
        *("binary_closing", "binary_dilation", "binary_erosion", "binary_fill_holes"),
        *("binary_hit_or_miss", "binary_opening", "binary_propagation", "histogram", "label"),
        *("distance_transform_cdt", "maximum_position", "minimum_position"),
    )
    if getattr(scipy.ndimage, name)
}
"""What is piecewise constant."""

RULES = merged(CORRELATION, RANKS, SPLINES, INTERPOLATION, DISTANCES, constants(*PLACES.values()))

add_rules(RULES)

__getattr__, __dir__ = face(__name__, with_rules(__name__, RULES), around=CHECKED)
