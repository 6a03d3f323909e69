"""The record: an arena with leaves, made afresh for every step."""

import operator
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Never, NoReturn, Self

import numpy as np
from attrs import define, field

from tape_ad.base.arrays.interpreter import NO_OPTIONS, is_box, plain
from tape_ad.base.arrays.overridable import ACTIVE, asarray
from tape_ad.base.errors import ConversionError, DtypeError, RecordMismatchError
from tape_ad.base.memory import UNDECIDED, decide_on_freed_memory
from tape_ad.base.trees import flatten, map_leaves
from tape_ad.record.arena import CONSTANT, held_arrays, held_bytes, wait_until_free
from tape_ad.record.constants import promote
from tape_ad.record.dispatch import recorded
from tape_ad.record.inspection.observing import observer_for
from tape_ad.record.inspection.pages.figures import shown_by_repr
from tape_ad.record.inspection.pages.lines import Node
from tape_ad.record.inspection.views_of_records import Shown, node_of
from tape_ad.record.messages.migration_hints import unexpected, with_hints
from tape_ad.record.messages.refusals import no_derivative
from tape_ad.record.operands import as_operand, lifted
from tape_ad.record.primals import is_number_like, primal
from tape_ad.record.tensor import Tensor
from tape_ad.record.watching import Hashed, elements_of

if TYPE_CHECKING:
    from tape_ad.base.trees import OverLeaves
    from tape_ad.record.inspection.profiling import profile

ndarray = np.ndarray

__all__ = ["ComputationRecord", "Node"]


def binds(method: Any) -> "OverLeaves[np.ndarray | np.number | complex | Tensor, Tensor]":
    """Say what becomes of the types of trees; the method stays as it is."""
    bind: OverLeaves[Any, Tensor] = method
    return bind


FLOAT = np.dtype(np.float64)
PUBLIC = (
    *("bind", "check_inputs", "constant", "debug_nans", "nbytes", "profile", "show", "tensor"),
    *("trace_source", "within"),
)
new = object.__new__


@shown_by_repr
@with_hints
@define(eq=False, repr=False)
class ComputationRecord(Shown):
    """An arena of nodes with their local partials: the graph, apart from the data.

    Make a fresh one for every step. Threads that compute on one take turns; records know nothing of
    each other, except that one may be made `within` another for higher derivatives.

    Parameters
    ----------
    within : ComputationRecord, optional
        An enclosing record. Leaves of this one may then hold its handles as data, and gradients
        taken here are handles there, to be differentiated again.
    check_inputs : bool, optional
        Which arrays a sweep compares with what they were, to raise `MutatedInputError` if one was
        written to. The record never copies the arrays that it is given, so without a check the
        gradient would belong to other numbers. When left out, a few elements are compared, of
        what each leaf was made of and of the plain arrays beside handles that a derivative is made
        of: small arrays as a whole, and of large ones the first and last element and some
        between. That takes a fraction of a microsecond. With True, all elements of leaves and of
        every other array that an operation used, constants among them, at the price of hashing
        each of them at each use and in the sweep. With False, none.
    trace_source : bool
        Keep the line of your code that each node was made in. `print` shows it, and so do errors
        of the sweep.
    debug_nans : bool
        Raise `NonFiniteError` at the first value or derivative that is nan or inf, as
        `tape_ad.debug_nans` does for all records made in it.

    Examples
    --------
    >>> rec = ComputationRecord()
    >>> x = rec.tensor([1.0, 2.0, 3.0])
    >>> y = np.sum(np.exp(x) * 2)
    >>> print(rec)
    %0: float64[3] = leaf
    %1: float64[3] = exp %0
    %2: float64[3] = multiply %1, 2
    %3: float64[] = sum %2
    """

    check_inputs: bool | None = field(default=None, kw_only=True)
    trace_source: bool = field(default=False, kw_only=True)
    debug_nans: bool = field(default=False, kw_only=True)

    def __attrs_post_init__(self) -> None:
        if UNDECIDED:
            decide_on_freed_memory()
        active, within, checks = ACTIVE.get(), self.within, self.check_inputs
        self.ambient = active.capture
        if within is not None and not isinstance(within, ComputationRecord):
            raise TypeError(f"within= takes a ComputationRecord, got {type(within).__name__}")
        if checks is not None and type(checks) is not bool:
            raise TypeError(
                "check_inputs= is True for all elements, False for none, or None for a few of each "
                f"leaf, got {type(checks).__name__}"
            )
        asked = checks or self.trace_source or self.debug_nans or active.wishes
        if asked or (within is not None and within.observer is not None):
            self.observer = observer_for(
                within,
                check_inputs=bool(checks),
                trace_source=self.trace_source,
                debug_nans=self.debug_nans,
            )

    def tensor(self, data: Any, **unknown: Never) -> Tensor:
        """Make a leaf: something to differentiate with respect to.

        Parameters
        ----------
        data : array_like, any shape, or a Tensor of an enclosing record
            Floating and complex dtypes are kept; integers and bools become float64. An array is
            not copied and never written to: do not write to it either before the sweep, which
            would raise `MutatedInputError`.

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
        if unknown:
            raise unexpected("ComputationRecord.tensor", unknown)
        return self._leaf(data, "")

    def constant(self, data: Any) -> Tensor:
        """Make a handle that nothing is differentiated with respect to, to be filled by code.

        Parameters
        ----------
        data : array_like, any shape
            Floating and complex dtypes are kept; integers and bools become float64.

        Returns
        -------
        Tensor
            Assigning handles to its parts makes it depend on them.

        Raises
        ------
        DtypeError
            When the data has no derivative: objects, strings, dates, masked arrays, matrices.
        RecordMismatchError
            When the data is a handle of a record that does not enclose this one.

        Examples
        --------
        >>> rec = ComputationRecord()
        >>> x = rec.tensor(3.0)
        >>> powers = rec.constant(np.zeros(3))
        >>> for i in range(3):
        ...     powers[i] = x**i
        >>> np.sum(powers).grad().wrt(x)
        np.float64(7.0)
        """
        return self.note(CONSTANT, (), NO_OPTIONS, self._data_of(data, ""))

    @binds
    def bind(self, tree: Any) -> Any:
        """Make a leaf of every array in a nested structure.

        Parameters
        ----------
        tree : dict, list, tuple, named tuple, attrs class or dataclass of arrays, nested
            A parameter store, for example. Python numbers count as arrays; None, strings, bools
            and other objects stay as they are.

        Returns
        -------
        The same structure, with handles.

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
        length, bound = len(self), 0

        def leaf_of(leaf: Any, path: str) -> Any:
            if type(leaf) is not ndarray and not is_number_like(leaf):
                return leaf
            nonlocal bound
            handle = self._leaf(leaf, path)
            bound += 1
            return handle

        try:
            return map_leaves(leaf_of, tree)
        except BaseException:
            self._withdraw(length, bound)
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
        beside: Any = None,
    ) -> Tensor:
        """Append the node of a call and make its handle: the one place where that is done.

        Either all of the node is there afterwards or, when an interrupt comes between, nothing.
        Several threads may do so at once: they take turns.

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
        beside : object, optional
            What stood beside the handles, or the path of a leaf, in an object of its own; see
            `tape_ad.record.call_metadata`.

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
        handle.mark = mark = object() if beside is None else beside
        shape, dtype = data.shape, data.dtype
        if dtype is not FLOAT and dtype.kind not in "fc":
            raise no_derivative(function, dtype)
        while self.appending is not None:
            wait_until_free(self)
        index = None
        try:
            self.appending = handle
            index = len(functions)
            handle.record, handle.index, handle.data = self, index, data
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
            self.appending = None
        except BaseException:  # no call here, as this may be the end of stack or memory
            if self.appending is handle:
                if index is not None:
                    del functions[index:], self.marks[index:]
                    del self.dtypes[index:], self.shapes[index:], self.starts[index + 1 :]
                    del self.parents[self.starts[index] :], self.partials[self.starts[index] :]
                self.appending = None
            raise
        if self.observer is not None:
            self.observer.noted(handle, function, operands, options)
        return handle

    def call(self, function: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """Compute a function of handles of this record, and of what is further out, and record it.

        Constants among what ``out=`` names become handles.
        """
        if kwargs and (out := kwargs.get("out")) is not None:
            for each in out if isinstance(out, tuple) else (out,):
                if is_box(each) and each.interpreter.level == 0:
                    promote(each, self)
        return recorded(function, args, kwargs, self.ambient)

    def lift(self, value: Any, function: Any = None) -> Any:
        """Give what this record holds of an operand that is a constant in it; see `lifted`."""
        return lifted(self, value, function)

    def keep(self, node: int, array: Any) -> None:
        """Note a few elements of an array that the partial of a node holds, as of a leaf."""
        if self.check_inputs is None:
            self._note_array(node, array, elements_of)

    def compare_all(self, node: int, arrays: Any) -> None:
        """Note all elements of the plain arrays that a node was made with, if they are compared."""
        if self.check_inputs:
            for array in flatten(map_leaves(primal, arrays)):
                if isinstance(array, ndarray):
                    self._note_array(node, array, Hashed)

    def _note_array(self, node: int, array: Any, elements: Any) -> None:
        """Note that a node has met an array, beside those that met it with the same elements."""
        found = self.latest.get(id(array))
        if found is not None and found[1].tobytes() == found[2]:
            found[0].append(node)
            return
        seen = elements(array)
        self.latest[id(array)] = noted = [node], seen, seen.tobytes(), array
        self.noted.append(noted)

    def _withdraw(self, length: int, count: int) -> None:
        """Take `count` nodes back, if those from `length` on are these and no other thread's."""
        while self.appending is not None:
            wait_until_free(self)
        try:
            self.appending = self
            if len(self) == length + count:
                self.truncate(length)
        finally:
            if self.appending is self:
                self.appending = None

    def __enter__(self) -> Self:
        """Give the record: ``with ComputationRecord() as rec``, which begins and ends nothing."""
        return self

    def __exit__(self, *_: object) -> None:
        """Leave the record as it is: it lives as long as its handles."""

    def __len__(self) -> int:
        """Count the nodes of the record."""
        return len(self.functions)

    def __getitem__(self, index: int) -> Node:
        """Look at a node; negative indices count from the end."""
        if isinstance(index, str):
            raise TypeError(
                "a record's nodes are asked for by their numbers, rec[0]; handles by name are in "
                f"what rec.bind(params) returned: p[{index!r}]"
            )
        at = operator.index(index)
        if not -len(self) <= at < len(self):
            raise IndexError(f"there is no node {at} in a record of {len(self)}")
        return node_of(self, at % len(self))

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

    def profile(self) -> "profile":
        """Look at the bytes of this record's nodes, and take times of what runs on it in a context.

        Returns
        -------
        profile
            As `tape_ad.profile` gives for all records made in it: ``with rec.profile() as p: ...``.
        """
        from tape_ad.record.inspection.profiling import profile  # noqa: PLC0415 - it knows records' handles

        return profile.of(self)

    def __reduce__(self) -> NoReturn:
        raise ConversionError(
            "a record cannot be copied or pickled, for handles belong to the very one; copy or "
            "pickle the parameters, and make a fresh record from them"
        )

    def __dir__(self) -> list[str]:
        """List what users ask a record for; the arena's columns are for the library."""
        return [*filter(lambda name: name[:2] == "__", object.__dir__(self)), *PUBLIC]

    def __repr__(self) -> str:
        leaves = sum(function is None for function in self.functions)
        nested = ", within another" if self.within is not None else ""
        return (
            f"<ComputationRecord: {len(self)} nodes, {leaves} leaves, {self.nbytes} bytes{nested}>"
        )

    def _leaf(self, given: Any, path: str) -> Tensor:
        """Append a leaf, and note a few elements of what it is made of, which a sweep compares."""
        plain = type(given) is ndarray and given.dtype.kind == "f" and self.ambient is None
        data = given if plain else self._data_of(given, path)  # nearly all are plain
        leaf = self.note(None, (), NO_OPTIONS, data, (), (), None, path or None)
        array = data if plain else primal(data)
        if self.check_inputs is None and type(array) is ndarray:
            few = elements_of(array)
            self.noted.append(([leaf.index], few, few.tobytes(), array))
        return leaf

    def _data_of(self, leaf: Any, path: str) -> Any:
        if type(leaf) is not Tensor:
            if is_box(leaf) and leaf.interpreter.level > self.level:
                refusal = getattr(leaf.interpreter, "refusal", RecordMismatchError)
                raise refusal(
                    f"{place(path)} is an array of a function that is run over a batch, or "
                    "captured, and was entered after this record was made; make the record in it"
                )
            data = as_data(plain(leaf), path)
            return data if self.ambient is None else self.ambient.lift(data)
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


def as_data(data: Any, path: str) -> Any:
    """Take array-likes to arrays that can be differentiated; copies floating arrays never."""
    try:
        data = as_operand(data)
    except DtypeError as error:
        raise DtypeError(f"{place(path)} cannot be differentiated: {error}") from None
    if not hasattr(data, "dtype"):
        data = asarray(data)[()]
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
