"""Linear maps made of other maps: chains, adjoints, and maps that are made when needed."""

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from attrs import define

from tape_ad.rules.maps.base import Array, LinearMap, Shape, rearranges
from tape_ad.rules.maps.chosen import pull_chosen
from tape_ad.rules.maps.patterns import (
    Maker,
    Pattern,
    composed,
    elementwise,
    pattern_of,
    reads,
)

__all__ = ["Adjoint", "Chain", "Deferred"]


@define(eq=False, repr=False)
class Chain:
    """One map after another: the first is applied to the parent's tangent.

    Parameters
    ----------
    maps : tuple of LinearMap

    Examples
    --------
    >>> from tape_ad.rules.maps.elementwise import Negate, Scale
    >>> Chain((Scale(2.0), Negate())).push(np.ones(2))
    array([-2., -2.])
    """

    maps: tuple[LinearMap, ...]

    @property
    def broadcasts(self) -> bool:
        return all(each.broadcasts for each in self.maps)

    @property
    def hides(self) -> bool:
        return any(getattr(each, "hides", None) is True for each in self.maps)

    @property
    def rearranges(self) -> bool:
        return all(map(rearranges, self.maps))

    @reads("maps")
    def pattern(self, parent: Shape, node: Shape) -> Pattern:
        """Tell which elements depend on which."""
        pattern: Pattern | None = None
        shape = parent
        for place, each in enumerate(self.maps, 1):
            pushed = node if place == len(self.maps) else each.push(np.zeros(shape)).shape
            own = pattern_of(each, shape, pushed)
            pattern = own if pattern is None else composed(pattern, own)
            shape = pushed
        return elementwise(self, parent, node) if pattern is None else pattern

    def push(self, t: Array) -> Array:
        for each in self.maps:
            t = each.push(t)
        return t

    def pull(self, ct: Array) -> Array:
        for each in reversed(self.maps):
            ct = each.pull(ct)
        return ct

    def pull_chosen(self, ct: Array) -> Array:
        for each in reversed(self.maps):
            ct = pull_chosen(each, ct)
        return ct


@define(eq=False, repr=False)
class Adjoint:
    """The adjoint of another map: its push is that one's pull.

    Parameters
    ----------
    map : LinearMap

    Examples
    --------
    >>> from tape_ad.rules.maps.elementwise import Scale
    >>> Adjoint(Scale(2j)).push(np.ones(1))
    array([0.-2.j])
    """

    broadcasts: ClassVar[bool] = False
    map: LinearMap

    @reads("map")
    def pattern(self, parent: Shape, node: Shape) -> Pattern:
        """Tell which elements depend on which."""
        return pattern_of(self.map, node, parent).transposed

    def push(self, t: Array) -> Array:
        return self.map.pull(t)

    def pull(self, ct: Array) -> Array:
        return self.map.push(ct)


@define(eq=False, repr=False)
class Deferred:
    """A map that is made when it is needed, for making it takes a factorisation.

    So the forward pass costs what NumPy's costs, and holds no more.

    Parameters
    ----------
    maker : callable
        ``maker(*arguments) -> LinearMap``
    arguments : tuple
    by_shapes : callable, optional
        The pattern, where the two shapes alone decide about it; see `patterns`. Else the map is
        made for that too.
    """

    broadcasts: ClassVar[bool] = False
    maker: Callable[..., LinearMap]
    arguments: tuple[Any, ...]
    by_shapes: Maker | None = None

    @property
    def made(self) -> LinearMap:
        """The map, made once more."""
        return self.maker(*self.arguments)

    @reads("by_shapes")
    def pattern(self, parent: Shape, node: Shape) -> Pattern:
        """Tell which elements depend on which."""
        if self.by_shapes is not None:
            return self.by_shapes(self, parent, node)
        return pattern_of(self.made, parent, node)

    def push(self, t: Array) -> Array:
        """Make the map, and push."""
        return self.made.push(t)

    def pull(self, ct: Array) -> Array:
        """Make the map, and pull."""
        return self.made.pull(ct)

    def pull_chosen(self, ct: Array) -> Array:
        """Make the map, and pull a cotangent whose zeros are of what was not chosen."""
        return pull_chosen(self.made, ct)
