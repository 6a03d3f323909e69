"""Functions of trees that are recorded as one node, whose derivative is known as a whole."""

import functools
import itertools
import math
import weakref
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Protocol

import attrs
import numpy as np
from attrs import define, field

from tape_ad.base.arrays.interpreter import Batch, looked_through, unwrapped
from tape_ad.base.arrays.overridable import asarray, is_traced
from tape_ad.base.errors import (
    InPlaceError,
    MutatedInputError,
    OutputError,
    RecomputationError,
    RecordMismatchError,
)
from tape_ad.base.naming import called
from tape_ad.base.trees import flatten, map_leaves, unflatten
from tape_ad.record.arena import Arena
from tape_ad.record.dispatch import record_call
from tape_ad.record.mutation import linked
from tape_ad.record.primals import PLAIN_TYPES, is_view, memory_of, primal, read_only
from tape_ad.record.spaces import unbroadcast
from tape_ad.record.tensor import Tensor
from tape_ad.record.watching import few_bytes
from tape_ad.rules.base import Call, Rule
from tape_ad.rules.maps import Array
from tape_ad.transforms.tracing import Transformed

Plain = np.ndarray[Any, Any]
Sums = Sequence[Plain | None]

WAVES = (1.1, 1.7, 2.3, 2.9)
"""The frequencies of the waves that elements are multiplied by, in radians from one to the next."""


def sums_of(leaves: Sequence[Any]) -> Sums:
    """Sum each array with weights; there is None for what is not NumPy's, or is captured."""
    return [summed(leaf) for leaf in leaves]


def summed(leaf: Any) -> Plain | None:
    """Sum an array, or what is behind a handle or a batch, with a few weights for each place.

    So every element counts, and where it is does too: a mask is told from one with as many zeros
    at other places. A few elements are given as they are.
    """
    leaf = primal(leaf)
    if is_traced(leaf):  # which is computed at once, and what is drawn is to be seen
        leaf = leaf.data
    if type(leaf) is not np.ndarray and hasattr(leaf, "batch_here"):  # which may go one by one
        members = [summed(leaf.stack[i]) for i in range(leaf.batch_here.size)]
        found = [each for each in members if each is not None]
        return np.stack(found) if found and len(found) == len(members) else None
    if type(leaf) is not np.ndarray:
        return np.array(leaf) if isinstance(leaf, np.generic) else None
    if leaf.size <= len(WAVES):
        return leaf.copy()
    flat = leaf.ravel("K")
    if leaf.dtype.itemsize < 4:
        flat = flat.astype(np.float32)  # half floats would soon be infinite
    with np.errstate(all="ignore"):
        total = weighted(flat)
        if np.isfinite(total[0]):
            return total
        return weighted(np.where(np.isfinite(flat), flat, 0))


def weighted(flat: Plain) -> Plain:
    """Sum an array with weights: the products of one for its row and one for its column.

    The array is taken as a matrix about as wide as high, so that the weights are few.
    """
    rows = math.isqrt(flat.size)
    columns = flat.size // rows
    weights, places = waves(rows, flat.dtype), waves(columns, flat.dtype)
    end = rows * columns
    total: Plain = weights @ (flat[:end].reshape(rows, columns) @ places[0])
    if end < flat.size:
        total -= places[:, : flat.size - end] @ flat[end:]
    return total


@functools.lru_cache(64)
def waves(size: int, dtype: np.dtype[Any]) -> Plain:
    """Make a row of weights of either sign for each frequency."""
    return np.cos(np.multiply.outer(WAVES, np.arange(size))).astype(dtype)


def require_same(
    function: Any,
    before: Sums,
    leaves: Sequence[Any],
    again: Callable[[], Sequence[Any]],
    recorded_again: Callable[[], Sequence[Any]],
) -> None:
    """Refuse to go on where a function has not computed what it did the first time.

    A sweep records the function, and so it may round otherwise than NumPy alone does. What differs
    by more than that is computed again, without a record and with one, which gives the same bits
    each time where it was rounding, and may give them once by chance where something is drawn.

    Parameters
    ----------
    function : callable
        For the error.
    before : sequence of array or None
        What `sums_of` gave of the arrays that it returned then.
    leaves : sequence
        The arrays that it has returned now, or handles of them.
    again, recorded_again : callable
        They compute them without a record and with one.

    Raises
    ------
    RecomputationError
    """
    now = sums_of(leaves)
    if are_close(before, now) or all(
        are_close(before, sums_of(again()), 16) and are_close(now, sums_of(recorded_again()), 16)
        for _ in range(2)
    ):
        return
    raise RecomputationError(
        f"{called(function)} gives other values in the sweep, which computes it again, than it "
        "gave before, so the gradient would be of something else; what it draws from or counts in "
        "has to be an argument: pass a seed, or rng.bit_generator.state, and make the generator "
        "in the function"
    )


def are_close(before: Sums, now: Sums, rounding: float = math.inf) -> bool:
    """Tell whether sums are the same up to so many roundings, by default half of the digits."""
    return all(
        one is None or two is None or is_close(one, two, rounding)
        for one, two in zip(before, now, strict=False)
    )


def is_close(one: Plain, two: Plain, rounding: float) -> bool:
    """Compare the sums of one array, relative to the largest of them; of a batch, with any."""
    if one.ndim == two.ndim + 1:
        return any(is_close(each, two, rounding) for each in one)
    if one.shape != two.shape or one.dtype != two.dtype or one.tobytes() == two.tobytes():
        return bool(one.shape == two.shape and one.dtype == two.dtype)
    eps = float(np.finfo(one.dtype).eps)
    scale = np.max(np.abs(one), initial=0, where=np.isfinite(one))
    close: bool = np.allclose(
        one, two, rtol=0, atol=min(rounding * eps, eps**0.5) * scale, equal_nan=True
    )
    return close


Function = Callable[..., Any]
Shape = tuple[int, ...]

BARE = PLAIN_TYPES | {Tensor}
"""The types of arguments that are no structures."""

ZERO = read_only(np.zeros((), np.clongdouble))
"""The memory of arrays that take none, as long as the longest number."""


class Block(Protocol):
    """What a block computes, and the derivative of that."""

    keeps_output: ClassVar[bool]
    """Whether `Use.saved` is to be the output, in place of what `run` gives for it. Otherwise the
    output is computed again in a sweep, and `Use.sums` says what it was."""

    def run(self, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
        """Compute the output, a tree, and whatever the derivative would like to have kept."""

    def pull(self, use: "Use", cotangents: Any, stack: Shape, chosen: bool) -> list[Any]:
        """Take cotangents of the output, a tree with a stack, to those of the operands.

        An operand whose cotangent is zero may get None. Where `chosen` is true, the zeros of the
        cotangents are of what was not chosen, see `tape_ad.LinearMap`.
        """

    def push(self, use: "Use", position: int, tangent: Array, stack: Shape) -> Any:
        """Take a tangent of one operand, with a stack, to those of the output."""


@define(eq=False, repr=False)
class Use:
    """One call of a function that is recorded as a block, and what a sweep needs of it.

    Attributes
    ----------
    public : callable
        The function that was called.
    block : Block
    tree : tuple or None
        Its arguments, ``(args, kwargs)``, with placeholders for the leaves; None where the leaves
        themselves are the arguments, in their order.
    leaves : list
        The leaves of the arguments, with None where the operands were.
    slots : tuple of int
        Which of the leaves are operands.
    values : tuple of array
        The operands' values.
    output : any
        The function's output, with placeholders for the arrays that have derivatives.
    spaces : sequence
        Those placeholders.
    saved : any
        What the block has kept; in the use that the function was called with, that of its last
        computation.
    sums : sequence of array or None
        Of an output that is computed again, the sums of parts of each array.
    last : int
        The last position that there is a partial for.
    errors : dict
        How NumPy was set to treat floating-point errors at the call, for a user's own derivative.
    latest : tuple or None
        The cotangent that was pulled last and whether its zeros were of what was not chosen, and
        the operands' cotangents for it: a sweep asks for them one by one.
    views : list of tuple
        Which of several arrays of the output are views of operands: its number, the array itself
        and the position of the operand.
    turned : list of tuple
        Which of several have memory of their own in another order than C's: number and array.
    fixed : list of int
        Which show memory of constants, or what may not be written to: the numbers.
    noted : list of pairs of array and bytes
        The operands' values and what was kept of a user's function, and a few elements of each at
        the time of the call.
    """

    public: Function
    block: Block
    tree: Any
    leaves: list[Any]
    slots: tuple[int, ...]
    values: tuple[Array, ...] = ()
    output: Any = None
    spaces: Sequence[Any] = ()
    saved: Any = None
    errors: Any = None
    sums: Sequence[Any] = ()
    last: int = field(default=0, init=False)
    latest: tuple[Array, bool, list[Any]] | None = field(default=None, init=False)
    views: list[tuple[int, Array, int]] = field(factory=list, init=False)
    turned: list[tuple[int, Array]] = field(factory=list, init=False)
    fixed: list[int] = field(factory=list, init=False)
    noted: list[tuple[Plain, bytes]] = field(factory=list, init=False)

    def arguments(self, values: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Fill the operands into the arguments."""
        leaves = list(values)
        if len(values) < len(self.leaves):  # there are constants among them
            leaves = self.leaves.copy()
            for slot, value in zip(self.slots, values, strict=True):
                leaves[slot] = value
        if self.tree is None:
            return tuple(leaves), {}
        args, kwargs = unflatten(self.tree, leaves)
        return args, kwargs

    def form(self) -> "Use":
        """Give the form of the call without the operands' values and what was kept.

        A function that a sweep records holds that, as the values are handles of the same record
        in a derivative of higher order: a cycle.
        """
        return attrs.evolve(self, values=(), saved=None)

    def beside(self, constants: list[Any]) -> "Use":
        """Give the form of the call with other constants, as those of a batch are in its sweep."""
        return attrs.evolve(self, leaves=constants)

    def compute(self, *values: Array) -> tuple[Array, "Use"]:
        """Compute the output as one array, with which a node can be made.

        Where values are handles of an outer record, the block is called again, and stands there
        as one node too.
        """
        args, kwargs = self.arguments(values)
        users = self.block.keeps_output
        noted = [(x, few_bytes(x)) for x in values if type(x) is np.ndarray] if users else []
        if Tensor in map(type, values):
            output, saved = self.public(*args, **kwargs), None
        else:
            output, saved = self.block.run(*args, **kwargs)
        for x, before in noted:
            if few_bytes(x) != before:
                raise InPlaceError(
                    f"{called(self.public)} writes to an argument, which stands for an array that "
                    "the derivative needs as it was; let it copy that first, x = x.copy()"
                )
        if type(output) is np.ndarray and output.dtype.kind in "fc":  # as of most
            arrays, self.output = [output], without_data(output)
            self.spaces = [self.output]
        else:
            output = map_leaves(functools.partial(as_leaf, self.public), output)
            arrays = list(filter(has_derivative, flatten(output)))
            self.output = map_leaves(without_data, output)
            self.spaces = list(filter(has_derivative, flatten(self.output)))
        self.saved = output if users else saved
        if len(arrays) > 1:
            pairs = itertools.product(enumerate(arrays), enumerate(values))
            self.views = [(i, a, j) for (i, a), (j, value) in pairs if is_view(a, value)]
            seen = {i for i, _, _ in self.views}
            self.turned = [(i, a) for i, a in enumerate(arrays) if i not in seen and is_turned(a)]
        self.fixed = fixed_among(arrays, self.leaves)
        asked = self.public, self.block, self.tree, self.leaves, self.slots
        compared = not self.block.keeps_output and getattr(self.block, "compares", True)
        sums = sums_of(arrays) if compared else ()
        used = Use(*asked, values, self.output, self.spaces, self.saved, np.geterr(), sums)
        if users:
            used.noted = noted
            noted += [(x, few_bytes(x)) for x in arrays if type(x) is np.ndarray]
        return arrays[0] if len(arrays) == 1 else joined(arrays), used

    def filled(self, parts: list[Any], otherwise: Callable[[Any], Any]) -> Any:
        """Put something in place of the output's arrays, and of its other leaves."""
        if self.spaces and self.output is self.spaces[0]:
            return parts[0]
        following = iter(parts)
        return map_leaves(
            lambda leaf, path: next(following) if has_derivative(leaf) else otherwise(leaf),
            self.output,
        )

    def require_unchanged(self) -> None:
        """Refuse the derivative of a user's function where what it is made of was written to.

        Raises
        ------
        MutatedInputError
        """
        for array, before in self.noted:
            if few_bytes(array) != before:
                raise MutatedInputError(
                    f"an array that {called(self.public)} was given, or gave, was written to "
                    "after the call, so the derivative would be of something else; let a function "
                    "with a rule of its own give new arrays, and its derivative write to none"
                )

    def unpacked(self, flat: Array, stack: Shape = ()) -> list[Array]:
        """Take the array that `compute` gives, or a cotangent of it, to the output's arrays."""
        if len(self.spaces) == 1:
            return [flat]
        parts, start = [], 0
        for space in self.spaces:
            if isinstance(space, np.generic):  # a number: nothing that can be written to
                part = flat[(..., start) if stack else start]
            else:
                part = flat[..., start : start + space.size].reshape(stack + space.shape)
            parts.append(unbroadcast(part, space.shape, space.dtype, len(stack)))
            start += space.size
        return parts

    def packed(self, tree: Any, stack: Shape) -> Array:
        """Take tangents in the tree of the output to one array."""
        leaves = zip(flatten(tree), flatten(self.output), strict=True)
        arrays = [leaf for leaf, space in leaves if has_derivative(space)]
        return arrays[0] if len(arrays) == 1 else joined(arrays, stack)

    def pull(self, position: int, ct: Array, chosen: bool) -> Array:
        """Give the cotangent of one operand; the first one asked for pulls for all."""
        latest = self.latest  # read once, for another thread may sweep the same record
        if latest is None or latest[0] is not ct or latest[1] is not chosen:
            stack = self.stack_of(ct)
            cotangents = self.filled(self.unpacked(ct, stack), lambda leaf: None)
            latest = (ct, chosen, self.block.pull(self, cotangents, stack, chosen))
            self.require_unchanged()
            self.latest = latest
        if position == self.last:
            self.latest = None
        pulled = latest[2][position]
        if pulled is None:
            value = self.values[position]
            return np.zeros(self.stack_of(ct) + value.shape, value.dtype)
        return pulled

    def push(self, position: int, t: Array) -> Array:
        """Push the tangent of one operand."""
        stack = t.shape[: t.ndim - self.values[position].ndim]
        pushed = self.packed(self.block.push(self, position, t, stack), stack)
        self.require_unchanged()
        return pushed

    def stack_of(self, ct: Array) -> Shape:
        """Give the leading axes of a cotangent of the node."""
        ndim = self.spaces[0].ndim if len(self.spaces) == 1 else 1
        stack: Shape = ct.shape[: ct.ndim - ndim]
        return stack


@define(eq=False, repr=False)
class BlockPartial:
    """The partial of a block with respect to one operand."""

    use: Use
    position: int

    def push(self, t: Array) -> Array:
        """Push a tangent; see `LinearMap.push`."""
        return self.use.push(self.position, t)

    def pull(self, ct: Array) -> Array:
        """Pull a cotangent; see `LinearMap.pull`."""
        return self.use.pull(self.position, ct, False)

    def pull_chosen(self, ct: Array) -> Array:
        """Pull a cotangent whose zeros are of what was not chosen."""
        return self.use.pull(self.position, ct, True)


def make_partials(
    positions: Sequence[int], used: Use, *values: Array, use: Use
) -> list[BlockPartial]:
    """Make the partials for some operands."""
    used.last = positions[-1]
    return [BlockPartial(used, position) for position in positions]


def operands_and_use(*operands: Any, use: Use) -> Call:
    """Sort the arguments of a block's node."""
    return operands, {"use": use}


BLOCK_RULE = Rule(
    variadic=make_partials,
    signature=operands_and_use,
    compute=lambda *values, use: use.compute(*values),
    saves=True,
)
"""How a block is recorded: like any function with a rule, except that it carries the rule itself.

So functions can be made into blocks at any time, and are forgotten when nobody uses them.
"""


def block(function: Function, behind: Block) -> Function:
    """Make the public function of a block.

    Parameters
    ----------
    function : callable
        What it is named and documented like.
    behind : Block

    Returns
    -------
    callable
        Without handles among its arguments it just runs. The arguments may be trees; handles in
        them are operands, and the result is a tree of handles.
    """
    return BlockFunction(function, behind)


@define(eq=False, repr=False)
class BlockFunction(Transformed):
    """The public function of a block.

    Attributes
    ----------
    behind : Block
    """

    made_by: ClassVar[str] = "block"
    tape_ad_rule: ClassVar[Rule] = BLOCK_RULE
    behind: Block
    call: Any = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.call = functools.update_wrapper(Recording(self.behind), self.function)
        self.call.function_called = weakref.ref(self)
        Transformed.__attrs_post_init__(self)

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        """Run the block, and record it as one node."""
        return self.call(*args, **kwargs)


@define(eq=False, repr=False, slots=False)
class Recording:
    """What stands in records for the public function of a block, without being held by it in turn.

    A function that named itself would be a cycle, with the records that it is in.
    """

    behind: Block
    function_called: Any = field(default=None, init=False)
    tape_ad_rule: ClassVar[Rule] = BLOCK_RULE

    @property
    def tape_ad_public(self) -> Any:
        """The function that was called, for who asks a record."""
        return self if self.function_called is None else self.function_called() or self

    def over(self, transform: Callable[[Function], Function]) -> "Recording | None":
        """Make the block of the function that a transform makes of this one's, where it can be."""
        made = getattr(self.behind, "over", None)
        if made is None:
            return None
        node = Recording(made(transform))
        functools.update_wrapper(node, self, ("__name__",), ())
        return node

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"function_called": None}  # a weak reference cannot be pickled

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the block, as one node where there are handles among the arguments."""
        bare = not kwargs and BARE.issuperset(map(type, args))
        if not bare:
            found, depends_on_nothing = looked_through(args, kwargs)
            if depends_on_nothing:
                args, kwargs = unwrapped((args, kwargs))
        leaves = list(args) if bare else flatten((args, kwargs))
        handles_there = Tensor in map(type, leaves)
        if not bare and answers_itself(found, handles_there):
            return found.call(self, args, kwargs)
        if not handles_there:
            return self.behind.run(*args, **kwargs)[0]
        tree = None if bare else unflatten((args, kwargs), itertools.repeat(None))
        constants, slots, handles = list(leaves), [], []
        for i, leaf in enumerate(leaves):
            if type(leaf) is Tensor:
                slots.append(i)
                handles.append(leaf)
                constants[i] = None
        use = Use(self, self.behind, tree, constants, tuple(slots))
        flat = recorded(self, tuple(handles), use)
        value = flat.data if type(flat) is Tensor else flat
        if type(value) is Tensor and not flat.record.is_within(value.record):
            raise RecordMismatchError(
                f"{called(self)} is recorded as one node, so it must not close over handles: "
                "pass them as arguments, on which the derivative depends"
            )
        if type(flat) is Tensor and flat.record.observer is not None:
            flat.record.compare_all(flat.index, (constants, use.saved))
        parts = use.unpacked(flat)
        if type(flat) is Tensor:
            for i, array, position in use.views:
                parts[i].data = array  # the same values, in the memory that NumPy would show
                linked(parts[i], handles[position], handles[position].index)
            for i, array in use.turned:
                parts[i].data = array  # the same values; what views it has depends on the order
                parts[i].memory = None
            for i in use.fixed:
                fix(parts[i])
        return use.filled(parts, lambda leaf: leaf)


def answers_itself(found: Any, handles_there: bool) -> bool:
    """Tell whether a block's call is answered by another interpreter than a record.

    What notes calls goes through the block, as plain arrays do, and meets no handle further out.
    """
    return type(found) is Batch or (handles_there and not isinstance(found, Arena))


def recorded(public: Function, handles: tuple[Tensor, ...], use: Use) -> Any:
    """Record the call of a block: in straight lines where its operands are of one record."""
    record = handles[0].record
    for x in handles:
        if x.record is not record:
            return record_call(public, handles, {"use": use})
    out, used = use.compute(*[x.data for x in handles])
    used.last = len(handles) - 1
    partials = [BlockPartial(used, position) for position in range(len(handles))]
    parents = [x.index for x in handles]
    handle = record.note(public, handles, {"use": use}, out, parents, partials)
    for x in handles:
        if is_view(out, x.data):
            linked(handle, x, x.index)
    return handle


def as_leaf(function: Function, leaf: Any, path: str) -> Any:
    """Check a leaf of a block's output, and take floats to numbers of NumPy.

    Raises
    ------
    OutputError
    """
    if isinstance(leaf, (float, complex)):
        return asarray(leaf)[()]  # no array: nobody can assign to a number
    if path or isinstance(leaf, int) or hasattr(leaf, "dtype"):
        return leaf
    raise OutputError(
        f"{called(function)} returned a {type(leaf).__name__}; it has to return an array or a "
        "number, or nested dicts, lists, tuples and attrs classes of them"
    )


def has_derivative(leaf: Any) -> bool:
    """Tell whether a leaf is an array of a floating or complex dtype."""
    return hasattr(leaf, "dtype") and leaf.dtype.kind in "fc"


def is_turned(leaf: Any) -> bool:
    """Tell whether a plain array lies in memory in another order than C's."""
    plain = isinstance(leaf, np.ndarray) or is_traced(leaf)
    return plain and not leaf.flags.c_contiguous


def fixed_among(arrays: list[Any], constants: list[Any]) -> list[int]:
    """List which arrays may not be written to, or show the memory of constants."""
    if len(constants) == 1 and len(arrays) == 1 and type(arrays[0]) is np.ndarray:  # as of most
        return [] if arrays[0].flags.writeable else [0]
    constants = [each for each in constants if isinstance(each, np.ndarray)]
    found = []
    for i, array in enumerate(arrays):
        memory = array if type(array) is np.ndarray else memory_of(array)
        if isinstance(memory, np.ndarray) and (
            not memory.flags.writeable
            or (constants and any(np.may_share_memory(memory, each) for each in constants))
        ):
            found.append(i)
    return found


def fix(handle: Any) -> None:
    """Let a handle be read and not assigned to, which others of its memory would not see."""
    while type(handle.data) is Tensor:
        handle = handle.data
    if isinstance(handle.data, np.ndarray):
        handle.data = read_only(handle.data)


def without_data(leaf: Any, path: str = "") -> Any:
    """Give an array of the same shape and dtype that takes no memory."""
    if not has_derivative(leaf):
        return leaf
    if isinstance(memory_of(leaf), np.generic):
        return leaf.dtype.type(0)
    shape = leaf.shape
    return np.ndarray(shape, leaf.dtype, ZERO, 0, (0,) * len(shape))


def joined(arrays: list[Array], stack: Shape = ()) -> Array:
    """Ravel arrays behind a stack, and join them."""
    flat = [each.reshape((*stack, math.prod(each.shape[len(stack) :]))) for each in arrays]
    return np.concatenate(flat, axis=-1) if flat else np.zeros((*stack, 0))
