"""SciPy's functions on handles, under SciPy's names.

A subpackage is imported when it is first asked for; it needs SciPy, which
``pip install 'tape-ad[scipy]'`` installs.
"""

import typing as _typing

from tape_ad.extend.packages import attributes_of as _attributes_of
from tape_ad.extend.packages import listed as _listed

if _typing.TYPE_CHECKING:
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

__getattr__ = _attributes_of(__name__, packages=__all__)
__dir__ = _listed(__all__)
