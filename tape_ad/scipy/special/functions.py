"""SciPy's special functions themselves, which answer NEP 13 whatever SCIPY_ARRAY_API says.

With that environment variable set, each public ufunc of `scipy.special` stands behind a function
in Python, which asks its operands for an array namespace and refuses handles before NumPy is asked
anything. The ufunc behind it is what rules are about, and what they are written in.
"""

import inspect
from types import SimpleNamespace
from typing import Any

import numpy as np
import scipy.special

from tape_ad.scipy.installed import Missing

__all__ = ["sp"]


def itself(function: Any) -> Any:
    """Give the ufunc behind a function of SciPy's; one without is given as it is."""
    inner = inspect.unwrap(function) if callable(function) else function
    return inner if isinstance(inner, np.ufunc) else function


class Functions(SimpleNamespace):
    """The names of `scipy.special`; see `Missing` for those that it has not."""

    def __getattr__(self, name: str) -> Missing:
        return Missing(f"scipy.special.{name}")


sp: Any = Functions(**{name: itself(each) for name, each in vars(scipy.special).items()})

sp.zeta = inspect.unwrap(sp.zeta)  # which calls one of two ufuncs
sp.sinc = np.sinc
