"""Handles."""

from typing import Any, Self
from weakref import ref

from attrs import define, field

from tape_ad.core.arena import Arena
from tape_ad.core.spaces import seed_of
from tape_ad.core.sweeps import reverse_sweep
from tape_ad.errors import RecordMismatchError
from tape_ad.handles.array_interface import ArrayInterface
from tape_ad.handles.gradients import Gradients
from tape_ad.linear_maps import Array

__all__ = ["Tensor"]


@define(eq=False, repr=False, weakref_slot=True)
class Tensor(ArrayInterface):
    """A handle: an index into a record, and the primal that was computed there.

    It looks like an ndarray. Handles are made by `ComputationRecord.tensor`, by
    `ComputationRecord.bind`, and by calling NumPy on handles.

    Attributes
    ----------
    record : ComputationRecord
        The record that the node stands in.
    index : int
        The node's index there.
    data : array
        The primal. It lives as long as the handle, or as a partial that needs it.

    Examples
    --------
    >>> import numpy as np
    >>> import tape_ad as ta
    >>> x = ta.ComputationRecord().tensor([1.0, 2.0])
    >>> y = np.sum(x * x)
    >>> y
    Tensor(%2, float64[], 5.)
    >>> y.grad().wrt(x)
    array([2., 4.])
    """

    record: Any
    index: int
    data: Array
    mark: object = field(init=False)
    """What the record has for this node too, see `Arena`; a snapshot has one of its own."""
    view_base: Self = field(init=False)
    """For a view of what may be assigned to, the handle that it is a view of; else not set."""
    earlier: list[tuple[Any, int]] = field(init=False)
    """The records and indices that the handle stood for before it was assigned to, if it was."""

    def grad(self, seed: Any = None, *, release: bool = False) -> Gradients:
        """Sweep back from this handle and give the gradients of all handles that are alive.

        Parameters
        ----------
        seed : array, shape stack + self.shape, optional
            The cotangent to start from; 1 for a scalar when left out. Any leading axes are a
            stack of seeds, swept at once, and the gradients have them too.
        release : bool
            Free each partial as soon as it is used. Those nodes cannot be swept again.

        Returns
        -------
        Gradients
            The gradient of the real part of ``sum(conj(seed) * self)``. For complex handles it is
            the one under the real inner product, so that ``z -= rate * gradient`` descends.

        Raises
        ------
        SeedError
            When a handle that is not a real scalar gets no seed, or a seed does not fit.
        ReleasedError
            When the sweep meets a node that an earlier one has released.
        MutatedInputError
            With ``ComputationRecord(check_inputs=True)``, when an array was written to meanwhile.
        """
        record: Arena = self.record
        if hasattr(seed, "record") and not record.is_within(seed.record):
            raise RecordMismatchError(
                "a seed may be a handle only of a record that encloses the one it is swept on; "
                "pass seed.data if it is meant as a constant"
            )
        start, stack = seed_of(self, seed)
        if record.watch is not None:
            record.watch.check()
        cotangents = reverse_sweep(record, self.index, start, release=release)
        return Gradients(ref(record), len(record.functions), self.index, stack, cotangents)

    def snapshot(self) -> Self:
        """Give a handle of the same node, which nobody assigns to; it gets no gradients."""
        same = type(self)(self.record, self.index, self.data)
        same.mark = object()
        return same
