"""Filters and geometric transforms of images: functions of `scipy.ndimage` on handles.

They have SciPy's names and arguments. SciPy's own turn what they get into plain arrays; these give
SciPy's results for plain arrays, and record what they do for handles. ``import
tape_ad.scipy.ndimage`` needs SciPy, which ``pip install 'tape-ad[scipy]'`` installs.
"""

from tape_ad.extend.packages import extra, published

with extra("scipy", "tape_ad.scipy.ndimage"):
    import scipy.ndimage

from tape_ad.extend.rules import add_rules, merged
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.ndimage.correlation import *
from tape_ad.scipy.ndimage.extension import SLIDING
from tape_ad.scipy.ndimage.filters import *
from tape_ad.scipy.ndimage.fourier import *
from tape_ad.scipy.ndimage.interpolation import *
from tape_ad.scipy.ndimage.measurements import *
from tape_ad.scipy.ndimage.morphology import *
from tape_ad.scipy.ndimage.ranks import *
from tape_ad.scipy.ndimage.splines import *
from tape_ad.scipy.ndimage.transforms import *

add_rules(
    merged(
        SLIDING,
        CORRELATION,
        FILTERS,
        SPLINES,
        INTERPOLATION,
        TRANSFORMS,
        RANKS,
        MORPHOLOGY,
        FOURIER,
        MEASUREMENTS,
        USER_FUNCTIONS,
    )
)

OF_INTEGERS = (
    *("find_objects", "generate_binary_structure", "iterate_structure", "value_indices"),
    "watershed_ift",
)
"""SciPy's own functions of integers and shapes, which handles are not."""

__getattr__, __dir__ = published(
    __name__, {name: getattr(scipy.ndimage, name) for name in OF_INTEGERS}
)
