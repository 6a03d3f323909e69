"""Linear maps made of other maps: chains, adjoints, and maps that are made when needed.

A cotangent of 0 may say that a branch was not taken: ``np.where(x > 0, np.sqrt(x), 0)`` does not
choose the root of a negative number, so nothing of its partial, nan, may be seen in the gradient;
but 0 times nan is nan. Such cotangents go through `pull_chosen`.
"""

from collections.abc import Callable
from typing import Any

import attrs
import numpy as np
from attrs import define

from tape_ad.base.arrays.overridable import certainly
from tape_ad.rules.maps.base import Array, LinearMap, Shape, broadcasts, rearranges
from tape_ad.rules.maps.elementwise import cut
from tape_ad.rules.maps.patterns import Maker, Pattern, composed, elementwise, pattern_of, reads


def pull_chosen(linear: LinearMap, ct: Array) -> Array:
    """Pull a cotangent whose zeros count for nothing, even where the partial is nan or inf.

    A map that `multiplies` with the arrays that it holds pulls through them without what is nan or
    inf there, and an element is what `pull` gives only where a cotangent other than 0 meets such a
    one. Any other, without a ``pull_chosen`` of its own, is left to its `pull`.
    """
    own: Any = getattr(linear, "pull_chosen", None)
    if callable(own):
        pulled: Array = own(ct)
        return pulled
    plain: Array = linear.pull(ct)
    if getattr(linear, "multiplies", None) is not True or certainly(np.isfinite(plain).all()):
        return plain
    finite, broken = of_finite(linear)
    met = broken.pull(np.where(np.equal(ct, 0), 0.0, 1.0))
    return np.where(np.equal(met, 0), finite.pull(ct), plain)


def unless_all_zero(ct: Array, pulled: Array, axes: tuple[int, ...]) -> Array:
    """Give what a cotangent pulls to, and 0 where it is 0 everywhere along some axes."""
    unseen = np.logical_and.reduce(np.equal(ct, 0), axis=axes, keepdims=True)
    return cut(unseen, ct, pulled)


def of_finite(linear: Any) -> tuple[Any, Any]:
    """Make a map of what is finite in a map's arrays, and one with 1 for what is not, else 0."""
    held = {
        field.alias: value
        for field in attrs.fields(type(linear))
        if field.init and holds_numbers(value := getattr(linear, field.name))
    }
    finite = {name: each(value, finite_part) for name, value in held.items()}
    broken = {name: each(value, not_finite) for name, value in held.items()}
    return attrs.evolve(linear, **finite), attrs.evolve(linear, **broken)


def holds_numbers(held: Any) -> bool:
    """Tell whether a field of a map is an array of real or complex numbers, or has some in it."""
    if isinstance(held, tuple):
        return any(map(holds_numbers, held))
    dtype = getattr(held, "dtype", None)
    return dtype is not None and hasattr(held, "ndim") and dtype.kind in "fc"


def each(held: Any, change: Callable[[Array], Array]) -> Any:
    """Change the arrays of numbers in a field of a map."""
    if isinstance(held, tuple):
        return tuple(each(inner, change) for inner in held)
    return change(held) if holds_numbers(held) else held


def finite_part(array: Array) -> Array:
    """Give 0 for what is nan or inf."""
    return np.where(np.isfinite(array), array, 0)


def not_finite(array: Array) -> Array:
    """Give 1 for what is nan or inf, and 0 for numbers."""
    return np.where(np.isfinite(array), 0.0, 1.0)


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
        return all(map(broadcasts, self.maps))

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
