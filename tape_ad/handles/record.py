"""The record: an arena with leaves, made afresh for every step."""

import operator
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NoReturn

import numpy as np
from attrs import define, field, frozen

from tape_ad.core.arena import CONSTANT, Arena, held_arrays
from tape_ad.core.watching import Watch
from tape_ad.errors import ConversionError, DtypeError, RecordMismatchError
from tape_ad.handles.dispatch import NO_OPTIONS
from tape_ad.handles.operands import as_operand
from tape_ad.handles.primals import memory_of, primal
from tape_ad.handles.refusals import no_derivative
from tape_ad.handles.tensor import Tensor
from tape_ad.naming import function_name
from tape_ad.overrides import CAPTURES, asarray, boxed
from tape_ad.threads import NEXT
from tape_ad.trees import map_leaves

__all__ = ["ComputationRecord", "Node"]

FLOAT = np.dtype(np.float64)
new = object.__new__


@frozen
class Node:
    """A look at one node of a record.

    Attributes
    ----------
    index : int
    function : callable or None
        The NumPy function that made it; None for a leaf.
    parents : tuple of int
        The nodes it was computed from.
    shape : tuple of int
    dtype : numpy.dtype
    nbytes : int
        The bytes of the arrays that its partials hold; an array that several nodes hold is
        counted for each.
    """

    index: int
    function: Any
    parents: tuple[int, ...]
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    nbytes: int

    def __str__(self) -> str:
        shape = ",".join(map(str, self.shape))
        call = " ".join([function_name(self.function), *(f"%{p}" for p in self.parents)])
        return f"%{self.index}: {self.dtype}[{shape}] = {call}"


@define(eq=False, repr=False)
class ComputationRecord(Arena):
    """An arena of nodes with their local partials: the graph, apart from the data.

    Make a fresh one for every step. It belongs to one thread at a time; records know nothing of
    each other, except that one may be made `within` another for higher derivatives.

    Parameters
    ----------
    within : ComputationRecord, optional
        An enclosing record. Leaves of this one may then hold its handles as data, and gradients
        taken here are handles there, to be differentiated again.
    check_inputs : bool
        Fingerprint every array that an operation uses, and let `Tensor.grad` raise
        `MutatedInputError` if one was written to in between. The record never copies the arrays
        that it is given, so writing to one before the sweep gives a gradient of something else;
        this finds such a bug, at the price of hashing every array twice.

    Examples
    --------
    >>> rec = ComputationRecord()
    >>> x = rec.tensor([1.0, 2.0, 3.0])
    >>> y = np.sum(np.exp(x) * 2)
    >>> print(rec)
    %0: float64[3] = leaf
    %1: float64[3] = exp %0
    %2: float64[3] = multiply %1
    %3: float64[] = sum %2
    """

    check_inputs: bool = field(default=False, kw_only=True)

    def __attrs_post_init__(self) -> None:
        if self.within is not None and not isinstance(self.within, ComputationRecord):
            raise TypeError(f"within= takes a ComputationRecord, got {type(self.within).__name__}")
        if self.check_inputs:
            self.watch = Watch()

    def tensor(self, data: Any) -> Tensor:
        """Make a leaf: something to differentiate with respect to.

        Parameters
        ----------
        data : array_like, any shape, or a Tensor of an enclosing record
            Floating and complex dtypes are kept; integers and bools become float64. An array is
            not copied and never written to: do not write to it either before the sweep.

        Returns
        -------
        Tensor

        Raises
        ------
        DtypeError
            When the data has no derivative: objects, strings, dates, masked arrays, matrices.
        RecordMismatchError
            When the data is a handle of a record that does not enclose this one.

        Examples
        --------
        >>> ComputationRecord().tensor([1, 2])
        Tensor(%0, float64[2], [1. 2.])
        """
        return self.note(None, (), NO_OPTIONS, self._data_of(data, ""))

    def constant(self, data: Any) -> Tensor:
        """Make a handle that nothing is differentiated with respect to, to be filled by code.

        Parameters
        ----------
        data : array_like, any shape
            As for `tensor`.

        Returns
        -------
        Tensor
            Assigning handles to its parts makes it depend on them.

        Raises
        ------
        DtypeError, RecordMismatchError
            As for `tensor`.

        Examples
        --------
        >>> rec = ComputationRecord()
        >>> x = rec.tensor(3.0)
        >>> powers = rec.constant(np.zeros(3))
        >>> for i in range(3):
        ...     powers[i] = x**i
        >>> np.sum(powers).grad().wrt(x)
        array(7.)
        """
        return self.note(CONSTANT, (), NO_OPTIONS, self._data_of(data, ""))

    def bind(self, tree: Any) -> Any:
        """Make a leaf of every array in a nested structure.

        Parameters
        ----------
        tree : dict, list, tuple, named tuple, attrs class or dataclass of arrays, nested
            A parameter store, for example. Python numbers count as arrays; None, strings, bools
            and other objects stay as they are.

        Returns
        -------
        The same structure, with handles. Mappings come back as plain dicts.

        Raises
        ------
        DtypeError, RecordMismatchError
            As `tensor`, naming the place in the structure; nothing is recorded then.

        Examples
        --------
        >>> p = ComputationRecord().bind({"w": np.zeros((3, 2)), "b": np.zeros(2)})
        >>> p["w"].shape
        (3, 2)
        """
        if NEXT.asked:  # a training loop looks at one record, for a hint about threads
            NEXT.note(self)
        length = len(self)
        try:
            return map_leaves(self._leaf_of, tree)
        except BaseException:
            self.truncate(length)
            raise

    def note(
        self,
        function: Any,
        operands: tuple[Any, ...],
        options: Mapping[str, Any],
        data: Any,
        parents: Any = (),
        partials: Any = (),
        output: int | None = None,
    ) -> Tensor:
        """Append the node of a call and make its handle: the one place where that is done.

        Either all of the node is there afterwards or, when an interrupt comes between, nothing.

        Parameters
        ----------
        function : callable, None or str
            What was called; None for a leaf, `CONSTANT` for what nothing depends on.
        operands, options
            What it was called with; handles where the user passed handles.
        data : array
            What it gave.
        parents : int or sequence of int
        partials : LinearMap or array, or a sequence of them
            One edge each, to the nodes of this record that the result depends on; a lone edge is
            given as it is, as most nodes have just one.
        output : int, optional
            Which one of several outputs `data` is.

        Returns
        -------
        Tensor

        Raises
        ------
        DtypeError
            When the result is no number.
        """
        functions = self.functions
        handle: Tensor = new(Tensor)  # its __init__ would take as long again
        handle.record, handle.index, handle.data = self, len(functions), data
        handle.mark = mark = object()
        shape, dtype = data.shape, data.dtype
        if dtype is not FLOAT and dtype.kind not in "fc":
            raise no_derivative(function, dtype)
        try:
            edges = self.parents
            if type(parents) is int:
                edges.append(parents)
                self.partials.append(partials)
            else:
                edges += parents
                self.partials += partials
            self.starts.append(len(edges))
            self.shapes.append(shape)
            self.dtypes.append(dtype)
            self.marks.append(mark)
            functions.append(function)
        except BaseException:  # no call here, as this may be the end of stack or memory
            index = handle.index
            del functions[index:], self.marks[index:], self.dtypes[index:], self.shapes[index:]
            del self.starts[index + 1 :]
            del self.parents[self.starts[index] :], self.partials[self.starts[index] :]
            raise
        if self.watch is not None and operands:
            use = f"node %{handle.index} ({function_name(function)})"
            self.watch.see(map_leaves(primal, (operands, tuple(options.values()), data)), use)
        return handle

    def __len__(self) -> int:
        """Count the nodes."""
        return len(self.functions)

    def __getitem__(self, index: int) -> Node:
        """Look at a node; negative indices count from the end."""
        index = range(len(self))[operator.index(index)]
        edges = list(self.edges(index))
        return Node(
            index=index,
            function=self.functions[index],
            parents=tuple(parent for parent, _ in edges),
            shape=self.shapes[index],
            dtype=self.dtypes[index],
            nbytes=held_bytes(held_arrays([partial for _, partial in edges])),
        )

    def __contains__(self, handle: Any) -> bool:
        """Tell whether a handle is of this record."""
        return type(handle) is Tensor and handle.record is self

    def __iter__(self) -> Iterator[Node]:
        """Go through the nodes in the order of their making."""
        return (self[index] for index in range(len(self)))

    @property
    def nbytes(self) -> int:
        """The bytes of all arrays that the partials hold, each array counted once."""
        return held_bytes(held_arrays(self.partials))

    def __reduce__(self) -> NoReturn:
        raise ConversionError(
            "a record cannot be copied or pickled, for handles belong to the very one; copy or "
            "pickle the parameters, and make a fresh record from them"
        )

    def __str__(self) -> str:
        return "\n".join(map(str, self))

    def __repr__(self) -> str:
        leaves = sum(function is None for function in self.functions)
        nested = ", within another" if self.within is not None else ""
        return (
            f"<ComputationRecord: {len(self)} nodes, {leaves} leaves, {self.nbytes} bytes{nested}>"
        )

    def _leaf_of(self, leaf: Any, path: str) -> Any:
        if not (type(leaf) is np.ndarray or is_number_like(leaf)):
            return leaf
        return self.note(None, (), NO_OPTIONS, self._data_of(leaf, path))

    def _data_of(self, leaf: Any, path: str) -> Any:
        if type(leaf) is np.ndarray and leaf.dtype.kind == "f":  # nearly all are
            return boxed(leaf) if CAPTURES else leaf
        if type(leaf) is not Tensor:
            return boxed(as_data(leaf, path))
        if leaf.record is self:
            raise RecordMismatchError(
                f"{place(path)} is a handle of this very record; use it as it is, or pass .data "
                "for a new leaf of the same value"
            )
        if not self.is_within(leaf.record):
            raise RecordMismatchError(
                f"{place(path)} is a handle of another record; pass .data for its value alone, or "
                "make this record with ComputationRecord(within=...) to differentiate through it"
            )
        return leaf.snapshot()


def is_number_like(leaf: Any) -> bool:
    """Tell what `bind` makes a handle of: arrays and Python numbers, but no bools."""
    number = isinstance(leaf, (int, float, complex)) and not isinstance(leaf, bool)
    return number or (hasattr(leaf, "dtype") and not isinstance(leaf, type))


def as_data(data: Any, path: str) -> Any:
    """Take array-likes to arrays that can be differentiated; copies floating arrays never."""
    try:
        data = as_operand(data)
    except DtypeError as error:
        raise DtypeError(f"{place(path)} cannot be differentiated: {error}") from None
    if not hasattr(data, "dtype") or isinstance(memory_of(data), np.generic):
        data = asarray(data)
    if data.dtype.kind in "biu":
        return data.astype(np.float64)
    if data.dtype.kind not in "fc":
        raise DtypeError(
            f"{place(path)} has dtype {data.dtype}, which has no derivative; pass numbers, of a "
            "floating or complex dtype"
        )
    return data


def place(path: str) -> str:
    """Name a place in a structure, for an error."""
    return f"the entry {path}" if path else "the data of a leaf"


def held_bytes(arrays: Iterable[np.ndarray[Any, Any]]) -> int:
    """Add up the bytes of distinct arrays."""
    return sum({id(array): array.nbytes for array in arrays}.values())
