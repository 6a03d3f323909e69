"""NumPy's names, where HIPS autograd wraps them; here as NumPy has them, but for `lists`."""

from typing import Any

import numpy as np

from tape_ad.interop.autograd.fallback import falling_back
from tape_ad.interop.autograd.numpy import integers, lists

NAMES = sorted({*np.__all__, *lists.__all__, *lists.TAKING_LISTS, *lists.JOINING} - {"test"})
__all__ = list(NAMES)

numpy_version = np.__version__

_array_from_scalar_or_array = lists.array_from_scalar_or_array

__getattr__ = falling_back(globals(), lists, integers, np)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def wrap_namespace(old: dict[str, Any], new: dict[str, Any]) -> None:
    """Copy the public names of a module into another: handles answer its functions themselves."""
    new.update({name: value for name, value in old.items() if not name.startswith("_")})
