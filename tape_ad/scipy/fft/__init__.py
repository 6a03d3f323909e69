"""Discrete transforms: functions of `scipy.fft` on handles.

They have SciPy's names and arguments, give SciPy's results for plain arrays, and record one node
for handles. ``import tape_ad.scipy.fft`` needs SciPy, which ``pip install 'tape-ad[scipy]'``
installs.

Once this module has been imported, SciPy's own functions take handles too: `scipy.fft` asks the
backends that are registered with it, and one of them is ours, which answers for handles alone.
Plain arrays give what they gave, a microsecond later, and the backends that a user sets come first,
as they did.

Examples
--------
>>> import numpy as np
>>> import scipy.fft
>>> import tape_ad as ta
>>> import tape_ad.scipy.fft
>>> x = ta.ComputationRecord().tensor(np.array([1.0, 2.0, 3.0]))
>>> scipy.fft.dct(x)[0].grad().wrt(x)
array([2., 2., 2.])
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from tape_ad.extend.packages import extra, published

with extra("scipy", "tape_ad.scipy.fft"):
    import scipy.fft  # asked for first, so that its absence has one message

from tape_ad import Tensor
from tape_ad.extend.arrays import is_traced
from tape_ad.extend.rules import add_rules, merged
from tape_ad.scipy.fft import legacy  # noqa: F401 - which stands for steps of SciPy's own code
from tape_ad.scipy.fft.fourier import *
from tape_ad.scipy.fft.hankel import *
from tape_ad.scipy.installed import scipy

add_rules(merged(FOURIER, TRIGONOMETRIC, HANKEL))


class Backend:
    """What `scipy.fft` asks for its functions on handles; see uarray, which it is built on."""

    __ua_domain__ = "numpy.scipy.fft"

    @staticmethod
    def __ua_function__(method: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        """Answer a call of a function of SciPy's, if a handle is among its arguments."""
        if len(args) == 1 and not kwargs and type(args[0]) is np.ndarray:
            return NotImplemented  # the usual call loses little time here
        for argument in (*args, *kwargs.values()):
            if type(argument) is Tensor or is_traced(argument):
                return globals()[method.__name__](*args, **kwargs)
        return NotImplemented


if scipy.fft.register_backend:
    scipy.fft.register_backend(Backend)

UNCHANGED = ("get_workers", "next_fast_len", "prev_fast_len", "set_workers")

__getattr__, __dir__ = published(
    __name__, TRANSFORMS, {name: getattr(scipy.fft, name) for name in UNCHANGED}
)
