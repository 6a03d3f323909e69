"""What a transform gives: a function made of another, that is pickled wherever that one can be."""

import functools
import types
from collections.abc import Callable
from typing import Any, ClassVar

from attrs import define, field, fields

from tape_ad.base.naming import called, global_name

__all__ = ["Transformed"]


@define(eq=False, repr=False)
class Transformed:
    """A function made of another one, whose name and attributes it has.

    Unlike a closure, it is pickled and sent to other processes as what it is made of.

    Attributes
    ----------
    function : callable
        What it is made of.
    """

    made_by: ClassVar[str] = "transform"
    function: Callable[..., Any]
    __dict__: dict[str, Any] = field(init=False)  # for what a user's wrapper may copy: names alone

    def __attrs_post_init__(self) -> None:
        me: Any = self
        functools.update_wrapper(me, self.function, updated=())
        if isinstance(self.function, types.FunctionType):
            for name, attribute in vars(self.function).items():
                self.__dict__.setdefault(name, attribute)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        """Bind to an instance, as functions of a class do."""
        return self if instance is None else types.MethodType(self, instance)  # type: ignore[arg-type]  # the subclasses can be called

    def __reduce__(self) -> Any:
        return global_name(self) or (
            type(self),
            tuple([getattr(self, each.name) for each in fields(type(self)) if each.init]),
        )

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, memo: Any) -> Any:
        return self

    def __repr__(self) -> str:
        return f"<{self.made_by} of {called(self.function)}>"
