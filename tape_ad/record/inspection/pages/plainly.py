"""What rich shows of an object: its repr, and not the fields of an attrs class."""

import re
from collections.abc import Iterator
from typing import Any, TypeVar

__all__ = ["shown_by_repr"]

Class = TypeVar("Class", bound=type)


class Written(str):
    """Text whose repr is the text."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def shown_by_repr(cls: Class) -> Class:
    """Let rich show an object as its repr does; it is a decorator.

    rich, and Python and IPython where it is installed in them, write out all fields of an attrs
    class, of what they hold, and so on: of a handle, the whole of its record.
    """

    def __rich_repr__(self: Any) -> Iterator[Any]:  # noqa: N807 - it becomes one
        text = repr(self)
        yield Written(re.sub(r"^<?[\w.]+[ :(]+|[)>]$", "", text))

    setattr(__rich_repr__, "angular", True)  # noqa: B010 - it is how rich wants to be told
    setattr(cls, "__rich_repr__", __rich_repr__)  # noqa: B010 - no class in general may be assigned to
    return cls
