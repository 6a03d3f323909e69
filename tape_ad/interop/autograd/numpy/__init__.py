"""NumPy's names for programs that write ``import autograd.numpy as np``.

Handles answer NumPy's own functions, so nearly all of them stand here as NumPy has them. The others
take nested lists of handles, as HIPS autograd's do.
"""

import numpy as np

from tape_ad.interop.autograd.fallback import falling_back
from tape_ad.interop.autograd.numpy import (  # noqa: F401 - all of them come with the package
    fft,
    integers,
    linalg,
    lists,
    numpy_boxes,
    numpy_jvps,
    numpy_vjps,
    numpy_vspaces,
    numpy_wrapper,
    random,
)

__all__ = list(numpy_wrapper.NAMES)

__version__ = np.__version__

__getattr__ = falling_back(globals(), lists, integers, np)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
