"""Handles: `Tensor`, the array that records what is computed with it."""

import importlib
import re
import sys
import warnings
from types import FrameType, ModuleType
from typing import TYPE_CHECKING, Any, Never, Self
from weakref import ref

import numpy as np
from attrs import define, field

from tape_ad.base.arrays.adapters import adapter
from tape_ad.base.arrays.interpreter import boxes
from tape_ad.base.errors import GrowthWarning, RecordMismatchError
from tape_ad.record.arena import Arena
from tape_ad.record.array_interface import IN_COPIES, ArrayInterface
from tape_ad.record.gradients import Gradients
from tape_ad.record.inspection.pages.figures import array_html, shown_by_repr
from tape_ad.record.messages.callers import is_copied
from tape_ad.record.messages.libraries import answer_to_scipy
from tape_ad.record.messages.migration_hints import CalledOnly, there, unexpected, with_hints
from tape_ad.record.mutation import unmarked
from tape_ad.record.spaces import seed_of
from tape_ad.record.sweeps import reverse_sweep

if TYPE_CHECKING:
    from _tape_ad_stubs import AsArray  # is there where the stubs have been written, else Any


VERSIONS = frozenset({"2021.12", "2022.12", "2023.12", "2024.12", "2025.12"})
"""The versions of the standard that the namespace follows."""


def namespace_beside_arrays(frame: FrameType) -> ModuleType | None:
    """Give NumPy's namespace to SciPy, where it asks about handles and plain arrays at once.

    It has that of both for everything where SCIPY_ARRAY_API is not set, and so its functions do
    what they do then: they keep the gradient, or say what to write.

    Parameters
    ----------
    frame : frame
        That asks a handle for its namespace: ``array_namespace(*xs)`` of array-api-compat, of which
        SciPy has a copy.

    Returns
    -------
    module or None
        None where it is another library that asks, or no plain array is there.
    """
    name = str(frame.f_globals.get("__name__"))
    if not name.startswith("scipy.") or not name.endswith(".common._helpers"):
        return None
    if not any(isinstance(each, np.ndarray) for each in frame.f_locals.get("xs", ())):
        return None
    return importlib.import_module(f"{name.removesuffix('.common._helpers')}.numpy")


def namespace_of(record: Any, api_version: str | None) -> ModuleType:
    """Give the namespace to the code that works with handles of a record.

    From now on, what has no derivative is a handle on that record as well, and on those around it.

    Parameters
    ----------
    record : Arena or None
    api_version : str or None

    Raises
    ------
    ValueError
        When the namespace does not follow that version.
    """
    if api_version is not None and api_version not in VERSIONS:
        raise ValueError(
            f"handles have no array namespace of version {api_version!r}; there are "
            f"{', '.join(sorted(VERSIONS))}"
        )
    while record is not None:
        record.namespaced = True
        record = record.within
    return adapter("array_api")


def warn_of_growth(record: Any) -> None:
    """Warn once if a record still grows when it has given many gradients.

    It is asked at every `OFTEN` gradients, and compares the second time with the first. What a
    Jacobian adds that is taken row by row, a node for each, is not meant. Threads that take
    gradients at once may go past the first time, and then there is nothing to compare with.
    """
    size = len(record.functions)
    if record.gradients == OFTEN:
        record.halfway = size
    elif record.gradients == 2 * OFTEN and size - getattr(record, "halfway", size) > 2 * OFTEN:
        warnings.warn(
            f"{record.gradients} gradients were taken on one record, which grows with each: it has "
            f"{size:,} nodes, and keeps their arrays; make a fresh one for every step: rec = "
            "ta.ComputationRecord(); p = rec.bind(params)",
            GrowthWarning,
            stacklevel=4,
        )


# Handles: `Tensor`, the array that records what is computed with it

OFTEN = 50
"""At every so many gradients of a record `warn_of_growth` looks at its size."""

INNER = frozenset(["answer_with", "earlier", "interpreter", "mark", "memory", "snapshot"])
"""What only the library asks a handle for."""


@boxes("record")
@shown_by_repr
@with_hints
@define(eq=False, repr=False, init=False, weakref_slot=True)
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
        The primal. It lives as long as the handle, or as a partial that needs it. It is there to
        be read: what is assigned to it reaches neither the record nor the array that a leaf was
        made of. Parameters are updated where they are stored, ``params["w"] -= rate * g``, and
        other handles by NumPy's assignment, ``t[...] = values``.

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

    if TYPE_CHECKING:

        def __array__(self, dtype: Any = None, copy: bool | None = None) -> AsArray:
            """Be no array-like to the stubs of `tape_ad.interop.stubs`, and one to NumPy's own."""

    record: Any
    index: int
    data: np.ndarray[tuple[int, ...], np.dtype[Any]]
    mark: object = field(init=False)
    """What the record has for this node too, see `Arena`; a snapshot has one of its own."""
    memory: Any = field(init=False)
    """What else shows the memory of the array, see `Memory`; not set before there is a view."""
    earlier: list[tuple[Any, int]] = field(init=False)
    """The records and indices that the handle stood for before it was assigned to, if it was."""

    def __init__(self, *_: Never, **__: Never) -> None:
        raise TypeError(
            "handles are made by a record: rec = ta.ComputationRecord(); x = rec.tensor(array)"
        )

    def grad(self, seed: Any = None, *, release: bool = False, **unknown: Never) -> Gradients:
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
            When an array that a leaf was made of was written to meanwhile; see `check_inputs` of
            `ComputationRecord`.
        """
        if unknown:
            raise unexpected("Tensor.grad", unknown)
        record: Arena = self.record
        if seed is not None and hasattr(seed, "record"):
            if seed.record is None:
                seed = seed.data
            elif not record.is_within(seed.record):
                raise RecordMismatchError(
                    "a seed may be a handle only of a record that encloses the one it is swept on; "
                    "pass seed.data if it is meant as a constant, and write t.grad().wrt(x) for "
                    "the gradient with respect to a handle"
                )
        record.gradients += 1
        if not record.gradients % OFTEN:
            warn_of_growth(record)
        start, stack = seed_of(self, seed)
        cotangents = reverse_sweep(record, self.index, start, release=release)
        return Gradients(ref(record), len(record.functions), self.index, stack, cotangents)

    def __hash__(self) -> int:  # type: ignore[override]  # == is elementwise, as for ndarray
        if self.ndim == 0 and is_copied(sys._getframe(1)):  # Python's numbers have one
            data: Any = self.data
            while type(data) is Tensor:
                data = data.data
            return hash(data[()])
        raise TypeError(
            "a handle is unhashable, for == compares its elements and it may be "
            "assigned to; write t.item() for a number to be looked up"
        )

    def _repr_html_(self) -> str:
        """Show the node, the range of the values and the values, in a notebook."""
        if self.record is None or self.index < 0:  # a constant
            return array_html(repr(self).partition(",")[0].removeprefix("Tensor("), self.data)
        return array_html(str(self.record[self.index]), self.data)

    def __array_namespace__(self, /, *, api_version: str | None = None) -> ModuleType:
        answer_to_scipy("namespace", self)
        frame = sys._getframe(1)
        if is_copied(frame):
            return IN_COPIES["__array_namespace__"](self)  # type: ignore[no-any-return]  # of any kind
        beside = namespace_beside_arrays(frame)
        return beside or namespace_of(self.record, api_version)

    def snapshot(self) -> Self:
        """Give a handle of the same node, which nobody assigns to; it gets no gradients."""
        return unmarked(self, self.index, self.data)

    def __dir__(self) -> list[str]:
        """List what users ask a handle for."""
        return [name for name in there(self) if name not in INNER and re.match("__|[^_]", name)]


AS_A_VALUE = (
    "t.grad is a method of what is differentiated, and no array: write grads = loss.grad() once, "
    "and grads.wrt(p) for the gradients with respect to p, in its structure"
)
setattr(Tensor, "grad", CalledOnly(Tensor.grad, AS_A_VALUE))  # noqa: B010 - to mypy it stays a method
Tensor.__name__ = "tape_ad.Tensor"  # C code says it: "argument 1 must be numpy.ndarray, not ..."
