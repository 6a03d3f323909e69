"""What a linear map is."""

from typing import Any, Protocol

__all__ = ["Array", "LinearMap", "Partial", "Shape"]

Array = Any
"""An ndarray, a NumPy scalar, or anything that speaks NEP 13 and NEP 18 (handles do)."""

Shape = tuple[int, ...]


class LinearMap(Protocol):
    """The local partial of a node with respect to one parent."""

    @property
    def broadcasts(self) -> bool:
        """Whether the parent broadcasts against the node from the right, as elementwise ones do.

        A forward sweep then inserts the axes that a stacked tangent lacks.
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
        array, shape stack + parent.shape, or one that `conform` sums to it
            It may be a view of `ct`, and is not to be written to afterwards.
        """


Partial = LinearMap | Array
"""A local partial. An array stands for its `Scale`: it is the derivative, element by element."""
