"""Compiled functions as methods."""

import functools
import types
from typing import Any

from attrs import define

__all__ = ["Bound"]


@define(eq=False, repr=False, slots=False)
class Bound:
    """A compiled method of an instance.

    Attributes
    ----------
    compiled : Compiled
    instance : any
        Its first argument.
    """

    compiled: Any
    instance: Any

    def __attrs_post_init__(self) -> None:
        functools.update_wrapper(self, types.MethodType(self.compiled, self.instance), updated=())

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        """Call the method."""
        return self.compiled(self.instance, *args, **kwargs)

    def check(self, /, *args: Any, **kwargs: Any) -> None:
        """Do what `Compiled.check` does."""
        self.compiled.check(self.instance, *args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.compiled, name)

    def __repr__(self) -> str:
        return f"<method of {self.instance!r}: {self.compiled!r}>"
