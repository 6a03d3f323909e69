"""The rules for `scipy.ndimage`, which `tape_ad.scipy.ndimage` imports and publishes."""

from typing import Any

from tape_ad.rules.base import Entry
from tape_ad.scipy.ndimage.correlation import CORRELATION
from tape_ad.scipy.ndimage.extension import SLIDING
from tape_ad.scipy.ndimage.filters import FILTERS
from tape_ad.scipy.ndimage.fourier import FOURIER
from tape_ad.scipy.ndimage.interpolation import INTERPOLATION
from tape_ad.scipy.ndimage.measurements import MEASUREMENTS
from tape_ad.scipy.ndimage.morphology import MORPHOLOGY
from tape_ad.scipy.ndimage.ranks import RANKS
from tape_ad.scipy.ndimage.splines import SPLINES
from tape_ad.scipy.ndimage.transforms import TRANSFORMS
from tape_ad.scipy.ndimage.user_functions import USER_FUNCTIONS

__all__ = ["NDIMAGE"]

NDIMAGE: dict[Any, Entry] = {
    **SLIDING,
    **CORRELATION,
    **FILTERS,
    **SPLINES,
    **INTERPOLATION,
    **TRANSFORMS,
    **RANKS,
    **MORPHOLOGY,
    **FOURIER,
    **MEASUREMENTS,
    **USER_FUNCTIONS,
}
