"""Maps made of maps."""

from typing import ClassVar

from attrs import define

from tape_ad.linear_maps.base import Array, LinearMap, rearranges
from tape_ad.linear_maps.chosen import pull_chosen

__all__ = ["Adjoint", "Chain"]


@define(eq=False, repr=False)
class Chain:
    """One map after another: the first is applied to the parent's tangent."""

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
    """A map turned around: its push is the other's pull."""

    broadcasts: ClassVar[bool] = False
    map: LinearMap

    def push(self, t: Array) -> Array:
        return self.map.pull(t)

    def pull(self, ct: Array) -> Array:
        return self.map.push(ct)
