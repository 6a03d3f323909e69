"""Python's own `isinstance`, `type`, `tuple`, `list` and `dict`, which see through handles.

Structures of handles are plain dicts, lists and tuples here, so the last three only make them.
"""

import builtins
from typing import Any

from tape_ad.interop.autograd.extend import getval, subvals

__all__ = ["dict", "isinstance", "list", "subvals", "tuple", "type"]

tuple: Any = builtins.tuple  # noqa: A001 - the names are what this module is for
list: Any = builtins.list  # noqa: A001 - as above
dict: Any = builtins.dict  # noqa: A001 - as above


def isinstance(instance: Any, class_or_tuple: Any) -> bool:  # noqa: A001 - as above
    """Tell whether a value, or what is behind a handle, is of a class."""
    value = getval(instance)
    return builtins.isinstance(value, class_or_tuple) or (
        value is not instance and builtins.isinstance(instance, class_or_tuple)
    )


def type(value: Any) -> builtins.type:  # noqa: A001 - as above
    """Give the class of a value, or of what is behind a handle."""
    return builtins.type(getval(value))
