"""NumPy's names for programs that write ``import autograd.numpy as np``.

Handles answer NumPy's own functions, so nearly all of them stand here as NumPy has them. The others
take nested lists of handles, as HIPS autograd's do.
"""

from typing import Any

import numpy as np

from tape_ad.interop.autograd import arrays
from tape_ad.interop.autograd.modules import falling_back, publish

ARRAYS = arrays.__name__
__version__ = numpy_version = np.__version__

NAMES = sorted({*np.__all__, *arrays.__all__, *arrays.MAKING, *arrays.TAKING_LISTS} - {"test"})
__all__ = list(NAMES)
__getattr__ = falling_back(globals(), ARRAYS, "numpy")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


fft: Any
linalg: Any
random: Any

publish(
    __name__,
    {
        "fft": ["numpy.fft"],
        "linalg": [f"{ARRAYS}.LinearAlgebra", "numpy.linalg"],
        "numpy_boxes": [f"{ARRAYS}:ArrayBox", "tape_ad.interop.autograd.extend:Box"],
        "numpy_jvps": [],
        "numpy_vjps": [
            "tape_ad.interop.autograd.spaces:balanced_eq match_complex repeat_to_match_shape "
            "replace_zero unbroadcast unbroadcast_f"
        ],
        "numpy_vspaces": ["tape_ad.interop.autograd.spaces:VSpace"],
        "numpy_wrapper": [ARRAYS, __name__],
        "random": ["numpy.random"],
    },
)
