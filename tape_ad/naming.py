"""What functions are called, in a printed record and in errors."""

from typing import Any

import numpy as np

__all__ = ["called", "function_name"]


def function_name(function: Any) -> str:
    """Name a node's function as a user would: ``matmul``, ``add.reduce``; a leaf is ``leaf``.

    Examples
    --------
    >>> function_name(np.add.reduce)
    'add.reduce'
    """
    if function is None:
        return "leaf"
    name = str(getattr(function, "__name__", function))
    owner = getattr(function, "__self__", None)
    return f"{owner.__name__}.{name}" if isinstance(owner, np.ufunc) else name


def called(function: Any) -> str:
    """Name a function for an error, with the module that a user would write before it.

    Examples
    --------
    >>> called(np.linalg.inv), called(np.add.reduce), called(len)
    ('np.linalg.inv', 'np.add.reduce', 'len')
    """
    name = function_name(function)
    owner = getattr(function, "__self__", None)
    ufunc = owner if isinstance(owner, np.ufunc) else function
    namesake = getattr(np, name.partition(".")[0], None)
    if namesake is not None and (namesake is ufunc or not isinstance(ufunc, np.ufunc)):
        return f"np.{name}"
    module = str(getattr(function, "__module__", None))
    return f"np{module[5:]}.{name}" if module.startswith("numpy") else name
