"""The median of each window of an image, and where the extremes are."""

from typing import Any

import numpy as np

from tape_ad import differentiable
from tape_ad.extend import facts
from tape_ad.extend.arrays import Array
from tape_ad.extend.rules import Entry, constants
from tape_ad.scipy.counterparts import scipy_function
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.stand_ins import stands_for

argrelextrema, argrelmax, argrelmin = (
    scipy_function(function, "tape_ad.scipy.signal")
    for function in (scipy.signal.argrelextrema, scipy.signal.argrelmax, scipy.signal.argrelmin)
)

ORDER: dict[Any, Entry] = constants(
    argrelextrema, argrelmax, argrelmin, facts=facts.SHAPED_BY_VALUES
)


@stands_for(scipy.signal._sigtools._medfilt2d)
def median_of_image(image: Array, size: Any) -> Array:
    """Take the median of each window of an image."""
    return differentiable(scipy.signal.medfilt)(image, np.asarray(size))
