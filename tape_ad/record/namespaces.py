"""Who asks for the namespace of the array API standard."""

import importlib
from types import FrameType, ModuleType
from typing import Any

import numpy as np

from tape_ad.base.arrays.adapters import adapter

__all__ = ["namespace_beside_arrays", "namespace_of"]

VERSIONS = frozenset({"2021.12", "2022.12", "2023.12", "2024.12", "2025.12"})
"""The versions of the standard that the namespace follows."""


def namespace_beside_arrays(frame: FrameType) -> ModuleType | None:
    """Give NumPy's namespace to SciPy, where it asks about handles and plain arrays at once.

    It has that of both for everything where SCIPY_ARRAY_API is not set, and so its functions do
    what they do then: they keep the gradient, or say what to write.

    Parameters
    ----------
    frame : frame
        That asks a handle for its namespace: ``array_namespace(*xs)`` of array-api-compat, of which
        SciPy has a copy.

    Returns
    -------
    module or None
        None where it is another library that asks, or no plain array is there.
    """
    name = str(frame.f_globals.get("__name__"))
    if not name.startswith("scipy.") or not name.endswith(".common._helpers"):
        return None
    if not any(isinstance(each, np.ndarray) for each in frame.f_locals.get("xs", ())):
        return None
    return importlib.import_module(f"{name.removesuffix('.common._helpers')}.numpy")


def namespace_of(record: Any, api_version: str | None) -> ModuleType:
    """Give the namespace to the code that works with handles of a record.

    From now on, what has no derivative is a handle on that record as well, and on those around it.

    Parameters
    ----------
    record : Arena or None
    api_version : str or None

    Raises
    ------
    ValueError
        When the namespace does not follow that version.
    """
    if api_version is not None and api_version not in VERSIONS:
        raise ValueError(
            f"handles have no array namespace of version {api_version!r}; there are "
            f"{', '.join(sorted(VERSIONS))}"
        )
    while record is not None:
        record.namespaced = True
        record = record.within
    return adapter("array_api")
