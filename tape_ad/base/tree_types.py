"""What functions do to the types of arrays and trees. For checkers only, not used at run time.

Types cannot say "the same structure with other leaves" for structures of any depth. Those of arrays
in a dict, list or tuple, and of such in one more, are listed here. Deeper ones keep the outermost
kind. An instance of a class, which an attrs store is, keeps its class, as it does at run time; what
the class says of its fields is then what checkers go by.
"""

from collections.abc import Mapping, Sequence
from typing import Any, ParamSpec, Protocol, TypeVar, overload

__all__ = ["OverLeaves", "SameKind"]

Operand = TypeVar("Operand")
Options = ParamSpec("Options")

Old_contra = TypeVar("Old_contra", contravariant=True)
New = TypeVar("New")
Key = TypeVar("Key")
Inner = TypeVar("Inner")
Tree = TypeVar("Tree")
Named = TypeVar("Named", bound="NamedTupleLike")


class NamedTupleLike(Protocol):
    """An instance of a named tuple's class."""

    def _asdict(self) -> dict[str, Any]: ...


class OverLeaves(Protocol[Old_contra, New]):
    """A function that takes trees of one kind of leaves to trees of another."""

    @overload
    def __call__(self, tree: Old_contra) -> New: ...
    @overload
    def __call__(self, tree: Named) -> Named: ...
    @overload
    def __call__(self, tree: tuple[Old_contra, Old_contra]) -> tuple[New, New]: ...
    @overload
    def __call__(self, tree: tuple[Old_contra, Old_contra, Old_contra]) -> tuple[New, New, New]: ...
    @overload
    def __call__(self, tree: tuple[Old_contra, ...]) -> tuple[New, ...]: ...
    @overload
    def __call__(self, tree: Sequence[Old_contra]) -> list[New]: ...
    @overload
    def __call__(self, tree: Mapping[Key, Old_contra]) -> dict[Key, New]: ...
    @overload
    def __call__(
        self, tree: Mapping[Key, tuple[Old_contra, Old_contra]]
    ) -> dict[Key, tuple[New, New]]: ...
    @overload
    def __call__(
        self, tree: Mapping[Key, tuple[Old_contra, ...]]
    ) -> dict[Key, tuple[New, ...]]: ...
    @overload
    def __call__(self, tree: Mapping[Key, Sequence[Old_contra]]) -> dict[Key, list[New]]: ...
    @overload
    def __call__(
        self, tree: Mapping[Key, Mapping[Inner, Old_contra]]
    ) -> dict[Key, dict[Inner, New]]: ...
    @overload
    def __call__(self, tree: Sequence[tuple[Old_contra, Old_contra]]) -> list[tuple[New, New]]: ...
    @overload
    def __call__(self, tree: Sequence[Mapping[Key, Old_contra]]) -> list[dict[Key, New]]: ...
    @overload
    def __call__(self, tree: Mapping[Key, object]) -> dict[Key, Any]: ...
    @overload
    def __call__(self, tree: list[Any]) -> list[Any]: ...
    @overload
    def __call__(self, tree: tuple[Any, ...]) -> tuple[Any, ...]: ...
    @overload
    def __call__(self, tree: Tree) -> Tree: ...


class SameKind(Protocol[Options]):
    """A function that makes a handle of a handle, and an array of an array."""

    __name__: str

    def __call__(self, x: Operand, /, *args: Options.args, **kwargs: Options.kwargs) -> Operand:
        """Compute it."""
        ...
