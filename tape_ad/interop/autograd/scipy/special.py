"""`scipy.special`, with `tape_ad.scipy.special` in front."""

from typing import Any

import scipy.special

import tape_ad.scipy.special
from tape_ad import Tensor
from tape_ad.interop.autograd.fallback import falling_back

__all__ = list(scipy.special.__all__)


def yn(n: Any, x: Any) -> Any:
    """Compute the Bessel function of the second kind of whole order; of handles, by `yv`."""
    return scipy.special.yv(n, x) if type(x) is Tensor else scipy.special.yn(n, x)


__getattr__ = falling_back(globals(), tape_ad.scipy.special, scipy.special)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
