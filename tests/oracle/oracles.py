"""Other libraries to compare with, which are optional extras.

Without one, the files that import it are skipped, unless the environment variable TAPE_AD_ORACLES
says ``required``.
"""

import importlib
import operator
import os
from typing import Any

import pytest

from tape_ad.base.naming import function_name
from tests.rules.table import Row

__all__ = ["counterpart", "oracle"]

REQUIRED = os.environ.get("TAPE_AD_ORACLES") == "required"


def oracle(name: str) -> Any:
    """Import an oracle; where it is missing, skip the file that asks for it, or fail."""
    if REQUIRED:
        return importlib.import_module(name)
    return pytest.importorskip(name, reason=f"{name} is in the group `oracle`")


def counterpart(row: Row, jax: Any) -> Any:
    """Get JAX's function for a row: that of the same name, where the row does not say otherwise."""
    if callable(row.jax):
        return row.jax(jax)
    module = getattr(row.function, "__module__", None) or "numpy"  # ufuncs have none in NumPy 2.0
    return operator.attrgetter(row.jax or f"{module}.{function_name(row.function)}")(jax)
