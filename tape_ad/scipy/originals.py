"""Which of SciPy's functions, classes and distributions have a counterpart here."""

import sys
import types
from collections.abc import Iterator
from typing import Any

import numpy as np

import tape_ad.scipy
from tape_ad.scipy.stand_ins import KNOWN, OBJECTS

__all__ = ["counterpart", "like_object"]

MODULES = (
    *("fft", "integrate", "interpolate", "linalg", "ndimage", "optimize", "signal", "sparse"),
    *("spatial", "special", "stats", "signal.windows", "sparse.linalg", "spatial.distance"),
    *("spatial.transform", "optimize.elementwise"),
)

PENDING = list(MODULES)
"""Those that had not been imported when somebody last asked."""


def counterpart(original: Any, default: Any = None) -> Any:
    """Give the counterpart of an object of SciPy's, found by its identity.

    Parameters
    ----------
    original : object
    default : object
        What is given where there is none.
    """
    if any(f"scipy.{name}" in sys.modules for name in PENDING):
        enter()
    pair = KNOWN.get(id(original))
    return pair[1] if pair is not None and pair[0] is original else default


def like_object(value: Any) -> Any:
    """Make of an object of SciPy's the same of ours; None where there is none."""
    make = next((make for kind, make in OBJECTS.items() if isinstance(value, kind)), None)
    return None if make is None else make(value)


def enter() -> None:
    """Enter the modules of SciPy that have been imported by now."""
    for name in list(PENDING):
        module = sys.modules.get(f"scipy.{name}")
        if module is None:
            continue
        PENDING.remove(name)
        ours: Any = tape_ad.scipy
        for part in name.split("."):
            ours = getattr(ours, part, None)
        if ours is not None:
            KNOWN.update((id(one), (one, other)) for one, other in pairs(module, ours))


def pairs(module: Any, ours: Any) -> Iterator[tuple[Any, Any]]:
    """Give what both modules have under one name, and differs; ufuncs take handles themselves."""
    for name in dir(ours):
        original = getattr(module, name, None)
        if original is None or name[0] == "_" or isinstance(original, NOT_REPLACED):
            continue
        if name not in vars(ours):  # a copy of SciPy's own code, made when it is asked for
            continue
        if str(getattr(original, "__module__", "")).startswith("scipy."):
            other = getattr(ours, name)
            if other is not original and callable(other):
                yield original, other


NOT_REPLACED = (types.ModuleType, np.ufunc, str, int, float)
