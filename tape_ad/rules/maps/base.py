"""What a linear map is."""

from typing import Any, Protocol

Array = Any
"""An ndarray, a NumPy scalar, or anything that speaks NEP 13 and NEP 18 (handles do)."""

Shape = tuple[int, ...]


class LinearMap(Protocol):
    """The local partial of a node with respect to one parent.

    `push` and `pull` are asked of every map. A map's class may have more, which tell a sweep how to
    go quicker or safer. Those that are True or not there:

    ``broadcasts`` : bool, or a property
        The parent broadcasts against the node from the right, as elementwise ones do: a forward
        sweep then inserts the axes that a stacked tangent lacks.
    ``identity`` : bool
        `push` and `pull` give what they are given.
    ``fresh`` : bool
        `pull` gives an array that nobody else has, so it may be added to in place.
    ``uniform`` : bool
        Every element is treated alike, so that `pull` may come after a sum over axes.
    ``hides`` : bool, or a property
        What `pull` leaves at 0 was not chosen: it stays 0 further back, even where it meets a
        partial that is nan or inf.
    ``rearranges`` : bool, or a property
        The node holds elements of the parent and nothing else, as `push` would give them.

    ``multiplies`` : bool
        `pull` gives sums of products of a cotangent's elements with those of the one array of
        numbers that the map holds, all with the same sign. So it is known what of the array meets
        a 0, and it need not be finite there.

    ``kept`` : array or None
        The other operand, where the map holds the very array that was given: a sweep tells whether
        it was written to. None says that the map holds nothing that was given; where a map has
        none of this, all that it holds is looked at.

    And methods:

    ``pull_chosen(ct)``
        `pull`, for a cotangent of which a 0 says that the element was not chosen.
    ``pull_into(ct)``
        `pull`, in the memory of a plain array that nobody needs any more where that fits.
    ``add_into(total, ct)``
        Add what `pull` gives to a plain array, without making it.
    ``pull_factors(ct)``
        Two matrices a and b of as many rows, if `pull` is ``adjoint(a) @ b`` and they are few
        elements beside it; else None. Many of them are multiplied at once.
    ``push_together(pairs)``
        The sum of what several maps push, given as pairs of map and tangent; a static method. Such
        maps are all the partials of a node, or none.
    """

    def push(self, t: Array) -> Array:
        """Take a tangent of the parent to the tangent of the node.

        Parameters
        ----------
        t : array, shape stack + parent.shape

        Returns
        -------
        array, shape stack + node.shape, or one that broadcasts to it
        """

    def pull(self, ct: Array) -> Array:
        """Take a cotangent of the node to its contribution to the parent's cotangent.

        Parameters
        ----------
        ct : array, shape stack + node.shape
            It may be somebody else's too: it is not to be written to.

        Returns
        -------
        array, shape stack + parent.shape, or one that `unbroadcast` sums to it
            It may be a view of `ct`, and is not to be written to afterwards.
        """


Partial = LinearMap | Array
"""A local partial. An array stands for its `Scale`: it is the derivative, element by element."""


def broadcasts(linear: LinearMap) -> bool:
    """Tell whether a map's parent broadcasts against its node; see `LinearMap`."""
    return getattr(linear, "broadcasts", None) is True


def rearranges(linear: LinearMap) -> bool:
    """Tell whether a map only moves elements; see `LinearMap`."""
    return getattr(linear, "rearranges", None) is True
