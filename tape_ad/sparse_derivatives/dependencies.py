"""Which results depend on which arguments: by the structure of blocks, and when it is the same."""

import functools
import itertools
import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from operator import attrgetter
from types import FunctionType
from typing import Any, Self

import attrs
import numpy as np
from attrs import define, evolve, field, frozen
from scipy.sparse import csr_array, eye_array, vstack

from tape_ad.base.arrays.overridable import is_traced
from tape_ad.base.errors import OutputError
from tape_ad.base.trees import content_of, flatten
from tape_ad.record.arena import Arena
from tape_ad.record.primals import is_number_like
from tape_ad.record.spaces import shape_of
from tape_ad.record.tensor import Tensor
from tape_ad.record.watching import require_unchanged
from tape_ad.rules.maps import Array, Deferred, Shape
from tape_ad.rules.maps.patterns import ALL, READS, Pattern, pattern_of
from tape_ad.sparse_derivatives.colouring import matrix_of, rows_of_entries
from tape_ad.sparse_derivatives.copies import Copies, shared, side_by_side
from tape_ad.transforms.blocks import BlockPartial, Use, has_derivative
from tape_ad.transforms.custom_rules import Custom
from tape_ad.transforms.opaque import Recorded
from tape_ad.transforms.recomputation import Recomputed, Repeated, of_operands
from tape_ad.transforms.recomputation import arrays as as_arrays
from tape_ad.transforms.tracing import Trace, trace

Part = tuple[Any, slice]

IN_CACHE = 2**17
"""How many elements of seeds are swept at once, unless one seed has more.

A stack of many that are large goes through memory at each node, where one after another stays in
the cache."""


@define(eq=False, slots=False)  # for the property that is cached
class FlatFunction:
    """The columns and the rows of a traced function's Jacobian.

    Attributes
    ----------
    traced : Trace
    inputs, outputs : list of (leaf, slice)
        The leaves that are arrays, and where their elements are among all columns or all rows.
    """

    traced: Trace
    inputs: list[Part] = field(init=False)
    outputs: list[Part] = field(init=False)

    @inputs.default
    def _inputs(self) -> list[Part]:
        leaves = flatten(self.traced.inputs)
        return placed([leaf for leaf in leaves if type(leaf) is Tensor])

    @outputs.default
    def _outputs(self) -> list[Part]:
        return placed([leaf for leaf in flatten(self.traced.output) if is_number_like(leaf)])

    @property
    def columns(self) -> int:
        """The number of all inputs' elements."""
        return self.inputs[-1][1].stop if self.inputs else 0

    @property
    def rows(self) -> int:
        """The number of all outputs' elements."""
        return self.outputs[-1][1].stop if self.outputs else 0

    def pushed(self, seeds: Array) -> Array:
        """Push a stack of tangents of all inputs.

        Parameters
        ----------
        seeds : array, shape (p, columns)

        Returns
        -------
        array, shape (p, rows)
        """
        return in_parts(self._pushed, seeds)

    def _pushed(self, seeds: Array) -> Array:
        starts = {
            leaf.index: seeds[:, part]
            .reshape((len(seeds), *leaf.shape))
            .astype(leaf.dtype, copy=False)
            for leaf, part in self.inputs
        }
        reached = self.traced.pushed(starts)
        return joined(
            [self.traced.tangent(leaf, reached, (len(seeds),)) for leaf, _ in self.outputs],
            len(seeds),
        )

    def pulled(self, seeds: Array) -> Array:
        """Pull a stack of cotangents of all outputs.

        Parameters
        ----------
        seeds : array, shape (q, rows)

        Returns
        -------
        array, shape (q, columns)
        """
        places = {leaf.index: part for leaf, part in self.inputs}
        return in_parts(lambda part: self._pulled(part, self.traced.record, places), seeds)

    def pulled_to_copies(self, seeds: Array, places: Mapping[int, slice]) -> Array:
        """Pull a stack of cotangents of all outputs to the copies of inputs, and not further.

        Parameters
        ----------
        seeds : array, shape (q, rows)
        places : mapping of int to slice
            Where the elements of each copy are among all columns; those in one place are added up.

        Returns
        -------
        array, shape (q, columns)
        """
        require_unchanged(self.traced.record, self.ends)
        return in_parts(lambda part: self._pulled(part, self.copies.arena, places), seeds)

    def _pulled(self, seeds: Array, arena: Arena, places: Mapping[int, slice]) -> Array:
        count = len(seeds)
        pairs = []
        for leaf, part in self.outputs:
            if self.traced.depends(leaf):
                ct = seeds[:, part].reshape((count, *leaf.shape)).astype(leaf.dtype, copy=False)
                pairs.append((leaf, ct))
        kept = self.traced.swept(pairs, release=False, arena=arena)
        found: dict[tuple[int, int], Array] = {}
        for node, place in places.items():
            ct = kept.get(node)
            if ct is None:
                ct = np.zeros((count, *arena.shapes[node]), arena.dtypes[node])
            flat, where = ct.reshape((count, place.stop - place.start)), (place.start, place.stop)
            found[where] = found[where] + flat if where in found else flat
        return joined(list(found.values()), count)

    @functools.cached_property
    def copies(self) -> Copies:
        """What there is of the inputs' elements before anything is computed with them."""
        return Copies.of(self.traced.record, [leaf.index for leaf, _ in self.inputs], self.ends)

    @property
    def ends(self) -> set[int]:
        """The nodes of the outputs."""
        return {leaf.index for leaf, _ in self.outputs if self.traced.depends(leaf)}

    @property
    def dtype(self) -> Any:
        """What the entries of the Jacobian are."""
        leaves = [leaf.dtype for leaf, _ in (*self.inputs, *self.outputs) if hasattr(leaf, "dtype")]
        return np.result_type(np.float32, *(each for each in leaves if each.kind == "f"))

    def check_plain(self) -> None:
        """Refuse complex numbers, and what is to be differentiated once more.

        Raises
        ------
        OutputError
        """
        for leaf, _ in (*self.inputs, *self.outputs):
            if getattr(leaf, "dtype", np.dtype(float)).kind == "c":
                raise OutputError(
                    f"{self.traced.name} has complex arrays among its arguments or results, and "
                    "one number for each pair of elements does not say it all; take the real and "
                    "imaginary parts as arrays of their own"
                )
            if type(getattr(leaf, "data", None)) is Tensor:
                raise OutputError(
                    f"a sparse Jacobian of {self.traced.name} holds plain numbers, and cannot be "
                    "differentiated itself; use ta.jacobian there"
                )


def in_parts(sweep: Callable[[Array], Array], seeds: Array) -> Array:
    """Sweep as many seeds at a time as stay in the cache."""
    step = max(1, IN_CACHE // max(1, seeds.shape[1]))
    parts = [sweep(seeds[start : start + step]) for start in range(0, len(seeds), step)]
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def placed(leaves: list[Any]) -> list[Part]:
    """Give each leaf its elements' places in a vector of all."""
    parts, start = [], 0
    for leaf in leaves:
        size = int(np.prod(shape_of(leaf), dtype=int))
        parts.append((leaf, slice(start, start + size)))
        start += size
    return parts


def joined(arrays: list[Array], count: int) -> Array:
    """Put the elements of stacked arrays behind each other."""
    flat = [
        array.reshape((count, -1)) if array.size else array.reshape((count, 0)) for array in arrays
    ]
    return flat[0] if len(flat) == 1 else np.concatenate(flat, axis=1)


@frozen(eq=False)
class Step:
    """A record of what a block computes, or of one step of it.

    Attributes
    ----------
    traced : Trace
    slots : list of int
        Which leaves of the block's arguments its inputs are. Where there is a next step, the leaves
        of the output are its first ones.
    """

    traced: Trace
    slots: list[int]


def steps_of(partial: BlockPartial) -> Iterator[Step] | None:
    """Record what a block computes, step by step; None for a function that nobody records."""
    use, block = partial.use, partial.use.block
    if isinstance(block, Recomputed):
        return iter([recomputed(block, use)])
    return repeated(block, use) if isinstance(block, Repeated) else None


def recomputed(block: Recomputed, use: Use) -> Step:
    """Record again what a checkpoint has left out."""
    with np.errstate(all="ignore"):
        traced = trace(of_operands(block.function, use), use.values, {}, range(len(use.values)))
    return Step(traced, list(use.slots))


def repeated(block: Repeated, use: Use) -> Iterator[Step]:
    """Record the steps of a checkpointed sequence one after the other."""
    form = use.form()
    (state, *params), _ = form.arguments(use.values)
    state = as_arrays(state)
    for _ in range(block.n):
        with np.errstate(all="ignore"):
            traced, slots, _ = block.recorded_step(state, params, form)
            state = as_arrays(traced.value(traced.output))
        yield Step(traced, slots)


def maps_of(partial: BlockPartial) -> list[Any] | None:
    """Give the maps of a custom rule, for each operand; None where it is a pull or a push."""
    use, block = partial.use, partial.use.block
    if not isinstance(block, Custom) or block.partials is None:
        return None
    args, kwargs = use.arguments(use.values)
    return block.maps(use, args, kwargs)


def structure_key(arena: Arena) -> list[Hashable]:
    """List the functions, parents and shapes of a record's nodes, and what its patterns read.

    Of a map that is what stands in `READS`: axes, lengths, keys, the indices that elements are
    picked by. Where a map does not say what its pattern reads, the pattern itself is listed. Two
    records with equal lists have equal patterns.
    """
    nodes: list[Hashable] = [tuple(arena.parents), tuple(arena.starts), tuple(arena.shapes)]
    nodes += [name_of(function) for function in arena.functions]
    try:
        nodes += [structure(partial) for partial in arena.partials]
    except Unsaid:
        for node, shape in enumerate(arena.shapes):
            for edge in range(*arena.starts[node : node + 2]):
                parent = arena.shapes[arena.parents[edge]]
                nodes.append(structure_or_pattern(arena.partials[edge], parent, shape))
    return nodes


class Unsaid(Exception):  # noqa: N818 - it is no error, and never leaves this module
    """A map does not say what its pattern reads."""


def name_of(function: Any) -> Hashable:
    """Name a function; the ufuncs of NumPy 2.0, and blocks of them, have the short name alone."""
    short = getattr(function, "__name__", function)
    name: Hashable = getattr(function, "__qualname__", short)
    return name


def structure(partial: Any) -> Hashable:
    """Return all attributes of a partial that its sparsity pattern depends on.

    Raises
    ------
    Unsaid
        Where that is not known of a map, or of one that it is made of.
    """
    return None if is_elementwise(type(partial)) else read(partial)


def structure_or_pattern(partial: Any, parent: Shape, node: Shape) -> Hashable:
    """Give what a partial's pattern reads of it, or else the pattern."""
    try:
        return structure(partial)
    except Unsaid:
        maps = maps_of(partial) if type(partial) is BlockPartial else None
        pattern = pattern_of(partial if maps is None else maps[partial.position], parent, node)
        return read(pattern.rows), read(pattern.columns)


Reader = Callable[[Any], Hashable]


def read(held: Any) -> Hashable:
    """Read all that a map, or something in it, has, but real and complex numbers."""
    kind = type(held)
    reader = READERS.get(kind)
    if reader is None:
        reader = READERS[kind] = reader_for(kind)
    return reader(held)


READERS: dict[type, Reader] = {}
"""Kept for good: there are few kinds, and looking at one takes longer than reading it."""


def reader_for(kind: type) -> Reader:
    """Find out how what is of a kind is read."""
    if is_array(kind):
        return of_array
    if issubclass(kind, (float, complex, np.inexact)):
        return of_number
    if kind is BlockPartial:
        return of_block
    if kind is Deferred:
        return of_deferred
    if hasattr(kind, "push") and hasattr(kind, "pull"):
        return reader_for_map(kind)
    parts = next((own for base, own in PARTS.items() if issubclass(kind, base)), None)
    if parts is None and attrs.has(kind):
        parts = attributes([each.name for each in attrs.fields(kind)])
    if parts is None and hasattr(kind, "tocsr"):
        parts = of_matrix
    return plain if parts is None else whole(kind, parts)


def reader_for_map(kind: type) -> Reader:
    """Find out how a map's pattern, which may be that of a dense one, reads it."""
    pattern = getattr(kind, "pattern", None)
    names = () if pattern is None else READS.get(pattern)
    if names is None:
        return unsaid
    if ALL in names:
        names = tuple(each.name for each in attrs.fields(kind))
    return whole(kind, attributes(names))


def unsaid(_held: Any) -> Hashable:
    """Tell that a map does not say what its pattern reads."""
    raise Unsaid


def is_elementwise(kind: type) -> bool:
    """Tell whether partials of a kind are factors, whose pattern is no matter of what they hold.

    A number is one as well: what is a number in a plain call may be an array in a captured one.
    """
    return is_array(kind) or issubclass(kind, (int, float, complex, np.generic))


def is_array(kind: type) -> bool:
    """Tell whether things of a kind are arrays."""
    return hasattr(kind, "__array_function__")


def of_array(held: Any) -> Hashable:
    """Read the shape of an array, and the numbers that may pick elements."""
    if held.dtype.kind in "iub":
        return (held.shape, held.dtype.str, held.tobytes())  # a program that is captured notes it
    shape: Hashable = held.shape
    return shape


def of_number(held: Any) -> Hashable:
    """Tell that there is a number."""
    return ()


def of_deferred(deferred: Deferred) -> Hashable:
    """Read the map that is made, unless shapes decide about its pattern."""
    return Deferred if deferred.by_shapes is not None else read(deferred.made)


def behind(leaf: Any, _path: str = "") -> Any:
    """Give the array that a captured one stands for."""
    return leaf.data if is_traced(leaf) else leaf


def of_block(partial: BlockPartial) -> Hashable:
    """Read the records and maps that a block holds, once for all of its operands."""
    if partial.position != partial.use.last:
        return None
    if isinstance(partial.use.block, Recorded) and partial.use.saved is not None:
        return tuple(structure_key(behind(partial.use.saved)[()].record))
    steps, maps = steps_of(partial), maps_of(partial)
    if steps is not None:
        return tuple(tuple(structure_key(step.traced.record)) for step in steps)
    return None if maps is None else tuple(map(structure, maps))


def plain(held: Any) -> Hashable:
    """Read what is not looked into; what cannot be compared is never equal to another."""
    return held if isinstance(held, Hashable) else object()


def whole(kind: type, parts: Callable[[Any], Iterable[Any]]) -> Reader:
    """Make what reads all parts of something."""

    def read_parts(held: Any) -> Hashable:
        return (kind, *[read(part) for part in parts(held)])

    return read_parts


def attributes(names: Iterable[str]) -> Callable[[Any], Iterable[Any]]:
    """Make what gives the attributes of those names, which may be attributes of attributes."""
    getters = [attrgetter(name) for name in names]
    return lambda held: [get(held) for get in getters]


def of_matrix(held: Any) -> Iterable[Any]:
    """List what a sparse matrix has, but its numbers."""
    entries = held.tocoo()
    return held.shape, entries.row, entries.col


PARTS: dict[Any, Callable[[Any], Iterable[Any]]] = {
    (tuple, list): lambda held: held,
    dict: lambda held: itertools.chain.from_iterable(held.items()),
    slice: lambda held: (held.start, held.stop, held.step),
    # another one each time that a maker runs
    FunctionType: lambda held: (held.__code__, *map(content_of, held.__closure__ or ())),
    functools.partial: lambda held: (held.func, held.args, tuple(sorted(held.keywords.items()))),
}
"""What things are made of."""


Sparse = Any
"""A `scipy.sparse.csr_array` of bools: a row for each element, a column for each of the inputs."""


def dependencies(flat: FlatFunction) -> Sparse:
    """Find which elements of a traced function's output depend on which of its inputs.

    Parameters
    ----------
    flat : FlatFunction

    Returns
    -------
    csr_array of bool, shape (flat.rows, flat.columns)
    """
    places = {leaf.index: part for leaf, part in flat.inputs}
    return swept_to_outputs(flat, flat.traced.record, places, flat.columns)


def swept_to_outputs(
    flat: FlatFunction,
    arena: Arena,
    places: Mapping[int, slice],
    columns: int,
    most: float = math.inf,
) -> Sparse:
    """Find which elements of a traced function's output depend on which of some nodes.

    Parameters
    ----------
    flat : FlatFunction
    arena : Arena
        The record, or one with the same nodes.
    places : dict of int to slice
        Where the elements of those nodes are among all columns.
    columns : int
    most : float
        See `swept_patterns`.
    """
    starts: dict[int, Sparse] = {}
    for node, place in places.items():
        numbers = np.arange(place.stop - place.start)
        pattern = Pattern(numbers, numbers + place.start)
        starts[node] = matrix_of(pattern, (len(numbers), columns))
    found = swept_patterns(arena, starts, list(flat.ends), columns, most)
    blocks = [
        found[leaf.index]
        if flat.traced.depends(leaf) and leaf.index in found
        else csr_array((part.stop - part.start, columns), dtype=bool)
        for leaf, part in flat.outputs
    ]
    whole = csr_array(vstack(blocks, "csr", bool) if blocks else (0, columns), dtype=bool)
    whole.sum_duplicates()
    whole.sort_indices()
    return whole


@frozen(eq=False)
class Dependencies:
    """Which elements of outputs depend on which of inputs, and through which copies.

    Attributes
    ----------
    pattern : csr_array of bool, shape (rows, columns)
    on_copies : csr_array of bool, shape (rows, copies)
        The pattern itself, where nothing is known of copies.
    sources : array of int, shape (copies,)
        For each copy, the column that it is a copy of; -1 for a constant.
    places : dict of int to slice, or None
        Where the elements of each node are among all copies, if there are any.
    """

    pattern: Sparse
    on_copies: Sparse
    sources: Array
    places: dict[int, slice] | None = None

    @classmethod
    def direct(cls, pattern: Sparse) -> Self:
        """Take a pattern of which nobody knows through which copies."""
        return cls(pattern, pattern, np.arange(pattern.shape[1]))

    @classmethod
    def through_copies(cls, flat: FlatFunction) -> Self:
        """Find which copies outputs depend on; or which inputs alone, where that is too much."""
        columns = {leaf.index: np.arange(part.start, part.stop) for leaf, part in flat.inputs}
        of_nodes = flat.copies.sources(columns)
        sources, places = np.concatenate([NONE, *of_nodes.values()]), side_by_side(of_nodes)
        try:
            on_copies = swept_to_outputs(flat, flat.copies.arena, places, len(sources), MOST_EACH)
        except TooMany:
            return cls.direct(dependencies(flat))
        known = np.flatnonzero(sources >= 0)
        taken = matrix_of(Pattern(known, sources[known]), (len(sources), flat.columns))
        pattern = csr_array(on_copies @ taken, dtype=bool)
        pattern.sort_indices()
        return cls(pattern, on_copies, sources, places).merged(shared(of_nodes))

    def merged(self, places: dict[int, slice]) -> Self:
        """Give the copies other places, if no column gets longer by what it has in common."""
        numbers = [np.arange(place.start, place.stop) for place in places.values()]
        merged = np.concatenate([NONE, *numbers])
        sources = np.zeros(merged.max(initial=-1) + 1, int)
        sources[merged] = self.sources
        pairs = Pattern(rows_of_entries(self.on_copies), merged[self.on_copies.indices])
        on_copies = matrix_of(pairs, (self.pattern.shape[0], len(sources)))
        if longest_column(on_copies) > longest_column(self.on_copies):
            return self
        return evolve(self, on_copies=on_copies, sources=sources, places=places)

    def terms(self) -> tuple[Array, Array, Array]:
        """List the entries on copies, ordered by what they are added to.

        Returns
        -------
        rows, copies, entries : array of int
            Where each is, and the number of the pattern's entry that it is a term of.
        """
        width = self.pattern.shape[1]
        kept = self.sources[self.on_copies.indices] >= 0
        rows, copies = rows_of_entries(self.on_copies)[kept], self.on_copies.indices[kept]
        places = rows_of_entries(self.pattern) * width + self.pattern.indices
        entries = np.searchsorted(places, rows * width + self.sources[copies])
        order = np.argsort(entries, kind="stable")
        return rows[order], copies[order], entries[order]


def longest_column(pattern: Sparse) -> int:
    """Count the entries of the longest column."""
    return int(np.bincount(pattern.indices, minlength=1).max())


NONE = np.zeros(0, int)

MOST_EACH = 100
"""On how many copies each element may depend on average, where there are many."""

MANY = 10**6
"""So many pairs are never too many."""


class TooMany(Exception):  # noqa: N818 - it is no error, and never leaves this module
    """A node depends on more elements than it is worth to know."""


def swept_patterns(
    arena: Arena, starts: dict[int, Sparse], ends: list[int], columns: int, most: float = math.inf
) -> dict[int, Sparse]:
    """Push patterns forward, from some nodes to others.

    Parameters
    ----------
    arena : Arena
    starts : dict of int to csr_array
        What the elements of some nodes depend on.
    ends : list of int
        The nodes that are asked for.
    columns : int
    most : float
        On how many columns the elements of a large node may depend on average.

    Returns
    -------
    dict of int to csr_array
        An absent one depends on nothing.

    Raises
    ------
    TooMany
    """
    reached = dict(starts)
    last = max(ends, default=-1)
    last_use = dict.fromkeys(ends, last + 1)
    for node in range(last + 1):
        for edge in range(*arena.starts[node : node + 2]):
            last_use[arena.parents[edge]] = max(node, last_use.get(arena.parents[edge], 0))
    dying: dict[int, list[int]] = {}
    for parent, node in last_use.items():
        dying.setdefault(node, []).append(parent)
    for node in range(min(starts, default=0), last + 1):
        total: Sparse = reached.get(node)
        for edge in range(*arena.starts[node : node + 2]):
            parent = arena.parents[edge]
            own = reached.get(parent)
            if own is None:
                continue
            linear = arena.map_at(node, edge)
            pushed = carried(linear, own, arena.shapes[parent], arena.shapes[node], most)
            if total is None:
                total = pushed
            elif total is not pushed:
                total = total + pushed
        if total is not None:
            reached[node] = total
        for parent in dying.get(node, ()):
            reached.pop(parent, None)
    return reached


def carried(linear: Any, own: Sparse, parent: Any, node: Any, most: float) -> Sparse:
    """Push what a parent depends on through a map; see `swept_patterns`."""
    limit = max(most * math.prod(node), MANY)
    if type(linear) is BlockPartial:
        steps, maps = steps_of(linear), maps_of(linear)
        if steps is not None:
            block = through(linear, steps)
            require_few(block.indices, own, limit)
            return block @ own
        linear = linear if maps is None else maps[linear.position]
        if linear is None:
            return csr_array((math.prod(node), own.shape[1]), dtype=bool)
    pattern = pattern_of(linear, parent, node)
    if pattern.one_each:
        same = len(pattern.columns) == own.shape[0]
        if same and np.array_equal(pattern.columns, pattern.rows):
            return own
        return own[pattern.columns]
    require_few(pattern.columns, own, limit)
    return matrix_of(pattern, (math.prod(node), own.shape[0])) @ own


def require_few(places: Array, own: Sparse, limit: float) -> None:
    """Refuse to go through too many pairs.

    Raises
    ------
    TooMany
    """
    if np.diff(own.indptr)[places].sum() > limit:
        raise TooMany


def through(partial: BlockPartial, steps: Iterable[Step]) -> Sparse:
    """Find what the elements of a block's node depend on of one operand's.

    Parameters
    ----------
    partial : BlockPartial
    steps : iterable of Step

    Returns
    -------
    csr_array of bool, shape (the node's size, the operand's size)
    """
    use = partial.use
    columns, own = use.values[partial.position].size, use.slots[partial.position]
    known = {own: csr_array(eye_array(columns, dtype=bool))}
    results: list[Sparse | None] = []
    for step in steps:
        inputs = zip(step.slots, step.traced.inputs, strict=True)
        starts = {leaf.index: known[slot] for slot, leaf in inputs if slot in known}
        leaves = flatten(step.traced.output)
        ends = [leaf.index for leaf in leaves if step.traced.depends(leaf)]
        found = swept_patterns(step.traced.record, starts, ends, columns)
        results = [found.get(leaf.index) if step.traced.depends(leaf) else None for leaf in leaves]
        kept = {slot: each for slot, each in known.items() if slot >= len(leaves)}
        known = kept | {slot: each for slot, each in enumerate(results) if each is not None}
    spaces = zip(results, flatten(use.output), strict=True)
    blocks = [
        csr_array((space.size, columns), dtype=bool) if result is None else result
        for result, space in spaces
        if has_derivative(space)
    ]
    return csr_array(vstack(blocks, "csr", bool) if blocks else (0, columns), dtype=bool)
