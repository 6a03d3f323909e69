"""SciPy's functions on handles, under SciPy's names.

A subpackage is imported when it is first asked for; it needs SciPy, which
``pip install 'tape-ad[scipy]'`` installs.
"""

from typing import TYPE_CHECKING

from tape_ad.extend.packages import attributes_of, listed

if TYPE_CHECKING:
    from tape_ad.scipy import (
        fft,
        integrate,
        interpolate,
        linalg,
        ndimage,
        optimize,
        signal,
        sparse,
        spatial,
        special,
        stats,
    )

__all__ = [
    "fft",
    "integrate",
    "interpolate",
    "linalg",
    "ndimage",
    "optimize",
    "signal",
    "sparse",
    "spatial",
    "special",
    "stats",
]

__getattr__ = attributes_of(__name__, packages=__all__)
__dir__ = listed(__all__)
