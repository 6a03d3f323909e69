"""The one dispatch of batched arrays: a call on those of one, made once for all of them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import getitem
from typing import Any
from weakref import ref

import numpy as np
from attrs import define

from tape_ad.base.arrays import interpreter
from tape_ad.base.arrays.interpreter import NO_OPTIONS, Batch, looked_through, unwrapped
from tape_ad.base.errors import InPlaceError, NoRuleError, UnsupportedArgumentError
from tape_ad.base.naming import called
from tape_ad.base.trees import flatten, map_leaves
from tape_ad.batching.arrays import (
    ENDED,
    BatchedArray,
    Members,
    OneByOneError,
    UnbatchableError,
    asked_by_library,
    shape_of_one,
)
from tape_ad.batching.basics import Handler, Looped, blank_of_one, is_argument, is_of
from tape_ad.batching.decisions import AgainError, doubt, members_of, part
from tape_ad.batching.derived import elementwise, like_one
from tape_ad.batching.indexing import item_of_all, written_to_all
from tape_ad.batching.products import generalized
from tape_ad.batching.shapes import laid_out, layout_of
from tape_ad.batching.tables import handler_of
from tape_ad.record.dispatch import record_call
from tape_ad.record.messages.callers import caller
from tape_ad.record.mutation import (
    assign_outputs,
    check_fit,
    in_dtype_of,
    out_by_name,
    unlinked,
)
from tape_ad.record.operands import PRODUCTS, beside_sparse, meets_sparse, without_wrapping
from tape_ad.record.primals import is_number, memory_of, primal
from tape_ad.rules import entry_of, known_facts
from tape_ad.rules.base import Derivation
from tape_ad.rules.maps.memory import Layout
from tape_ad.rules.numpy.bodies import is_place_or_slice
from tape_ad.rules.numpy.building import filled_like
from tape_ad.rules.numpy.updates import updated, viewed

Function = Callable[..., Any]
Options = Mapping[str, Any]


def call(function: Function, args: tuple[Any, ...], kwargs: Options = NO_OPTIONS) -> Any:
    """Compute a function of what batched arrays are among, for all of the batch.

    Where there is a box of something further in, that has the say.
    """
    return interpreter.call(function, args, kwargs, record_call)


def answer_in_batch(
    batch: Batch, function: Function, args: tuple[Any, ...], kwargs: Options = NO_OPTIONS
) -> Any:
    """Compute a function for all of a batch: at once if it is known how, or else in a loop."""
    if batch.ended:
        raise ValueError(ENDED)
    if function is getitem:
        return item_in_batch(batch, *args)
    if function is np.where and len(args) == 1:
        function = np.nonzero  # which is what it does with a condition alone
    if batch.counted is None:
        return for_all(batch, function, args, kwargs)
    try:
        return for_all(batch, function, args, kwargs)
    except Exception as error:
        doubt(batch)  # it may come of numbers that do not count
        raise AgainError from error


def for_all(
    batch: Batch, function: Function, args: tuple[Any, ...], kwargs: Options = NO_OPTIONS
) -> Any:
    """Compute a function for all of a batch."""
    args, kwargs = out_by_name(function, args, kwargs)
    if kwargs.get("out") is not None:
        return assigned_out(batch, function, args, dict(kwargs))
    facts = known_facts(function)
    if facts.about_shapes:
        return function(*map_leaves(like_one, args), **map_leaves(like_one, dict(kwargs)))
    if facts.writes:
        target = args[0] if args and not batch.picked else None
        batch.written.append(memory_to_write(batch, target))
    try:
        if isinstance(function, np.ufunc):
            general = elementwise if function.signature is None else generalized
            return wrapped(batch, general(batch, function, args, kwargs))
        handler = handler_of(function)
        if handler is not None:
            try:
                return handled(batch, handler, function, args, kwargs)
            except Looped:
                pass
        entry = entry_of(function)
        if type(entry) is Derivation:
            operands, options = args, kwargs
            if entry.signature is not None:
                operands, options = entry.signature(*args, **kwargs)
            return entry.compute(*operands, **options)
    except OneByOneError:
        raise
    except UnbatchableError:
        batch.asked = False
    except (Looped, NoRuleError, UnsupportedArgumentError, InPlaceError, *OF_VALUES):
        pass
    return looped(batch, function, args, kwargs)


def handled(batch: Batch, handler: Handler, function: Function, args: Any, kwargs: Any) -> Any:
    """Compute a function for all in the way that is known for it."""
    out = handler(batch, function, args, kwargs)
    if is_of(out, batch):
        raise Looped  # as there are arrays of the batch in a list that it has not looked at
    if args and keeps_order(function, args, kwargs) and is_of(args[0], batch):
        order, found = layout_of(args[0], "A"), BatchedArray(out, batch)
        out = out if layout_of(found, "A") == order else laid_out(found, order)
    view = known_facts(function).view
    kept = view or function is np.astype
    number = kept and is_number(args[0])
    whole = function in WHOLE or (kept and not number)
    result = wrapped(batch, unlinked(out) if number else out, whole)
    if view and not number and is_of(args[0], batch) and function is not viewed:
        note_copied(function, args, kwargs, result)
    return result


def keeps_order(function: Function, args: Any, kwargs: Options) -> bool:
    """Tell whether a result lies in Fortran's order just where the first argument does."""
    if function is np.delete:
        return is_place_or_slice(args[1] if len(args) > 1 else kwargs["obj"])
    return function in (np.pad, np.insert, np.round, np.around)


OF_VALUES = (ValueError, ArithmeticError, IndexError)
"""What may be raised for some of a batch alone."""


def wrapped(batch: Batch, out: Any, whole: bool = False) -> Any:
    """Let the results of a call for all stand for those of one."""
    if isinstance(out, (tuple, list)):
        parts = [wrapped(batch, part, whole) for part in out]
        return out._make(parts) if hasattr(out, "_make") else type(out)(parts)
    plain = out is NotImplemented or out is None or type(out) is bool
    return out if plain else BatchedArray(out, batch, whole)


WHOLE = frozenset(
    {
        *(np.pad, np.roll, np.real_if_close, np.diff, updated),
        *(np.copy, np.zeros_like, np.ones_like, np.empty_like, filled_like),
        *(np.where, np.piecewise, np.tensordot, np.cov, np.i0),
    }
)
"""Functions that give arrays of no axes; views of such arrays are arrays as well."""


def looped(batch: Batch, function: Function, args: Any, kwargs: Any) -> Any:
    """Compute a function for one after the other, and stack what they give."""
    if batch.size == 0:
        batch.loops(called(function))
        raise UnbatchableError

    outs = called_for_each(batch, function, one_by_one(batch, (args, dict(kwargs))))
    parts = list(zip(*map(flatten, outs), strict=True))
    results = [joined(batch, function, column) for column in parts]
    given = [leaf for leaf in flatten((args, dict(kwargs))) if is_of(leaf, batch)]
    for column, result in zip(parts, results, strict=True):
        if is_of(result, batch):
            note_parted(given, column, result)
    following = iter(results)
    return map_leaves(lambda leaf, path: next(following), outs[0])


def called_for_each(batch: Batch, function: Function, calls: Iterator[Any]) -> list[Any]:
    """Call a function for one after the other; where it raises for some, go on for a part."""
    outs: list[Any] = []
    for args, kwargs in calls:
        try:
            outs.append(function(*args, **kwargs))
        except Exception as error:
            outs.append(error)
    failed = np.array([isinstance(out, Exception) for out in outs])
    if not np.any(failed):
        batch.loops(called(function))
    else:
        out = outs[part(batch, failed, caller)]
        if isinstance(out, Exception):
            raise out
        outs = [out if bad else each for each, bad in zip(outs, failed, strict=True)]
    return outs


def note_parted(given: Sequence[BatchedArray], parts: Sequence[Any], result: BatchedArray) -> None:
    """Note what views of what was given have been copied to join them."""
    views = [each for each in map(memory_of, parts) if isinstance(each, np.ndarray)]
    for source in given:
        memory = memory_of(source.stack)
        if any(np.may_share_memory(view, memory) for view in views):
            note_pair(source, result)


def note_pair(source: BatchedArray, result: BatchedArray) -> None:
    """Note that one array is a copy of another that is a view of it in each."""
    result.source = source
    stacks = source.stack, result.stack
    pairs = [(ref(each), ref(owner(memory_of(each)))) for each in stacks]
    result.batch_here.parted.append(pairs)


def note_copied(function: Function, args: Any, kwargs: Options, result: Any) -> None:
    """Note what is a copy for all, and is a view when there is one."""
    batch, memory = args[0].batch_here, memory_of(args[0].stack)
    for place, out in enumerate(flatten(result)):
        if out.size and batch.size and not np.may_share_memory(memory_of(out.stack), memory):
            (_, *rest), options = one_of_tree(batch, (args, dict(kwargs)), 0)
            one = blank_of_one(args[0])
            if one is not None and np.may_share_memory(
                flatten(function(one, *rest, **options))[place], one
            ):
                note_pair(args[0], out)


def owner(array: Any) -> Any:
    """Find the array whose memory another one shows."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def is_parted(batch: Batch, memory: Any) -> bool:
    """Tell whether what is written to an array would have to be seen in one that was joined."""
    for pair in batch.parted:
        arrays = [memory_of(stack()) if stack() is not None else own() for stack, own in pair]
        alive = all(each is not None for each in arrays)
        if alive and any(np.may_share_memory(each, memory) for each in arrays):
            return True
    return False


@define(eq=False)
class Picked:
    """A copy of a part that is at another place in each, and is a view when there is one.

    Attributes
    ----------
    source : BatchedArray
    key : any
    copy : weak reference to array or handle
    memory : weak reference to array
        That of the copy, which views of it may outlive.
    """

    source: BatchedArray
    key: Any
    copy: "ref[Any]"
    memory: "ref[Any]"


def is_view_in_each(entries: tuple[Any, ...]) -> bool:
    """Tell whether a key has a number that is another for each, and no array, so NumPy views."""
    batched = [entry for entry in entries if type(entry) is BatchedArray]
    return bool(batched) and all(
        is_number(entry) and entry.dtype != bool
        if hasattr(entry, "ndim")
        else type(entry) is not list and type(entry) is not bool
        for entry in entries
    )


def note_picked(source: BatchedArray, out: BatchedArray, key: Any) -> None:
    """Note what is a view in each, and a copy in all."""
    batch = source.batch_here
    out.source = source
    if len(batch.picked) % FEW == 0:
        batch.picked = [each for each in batch.picked if each.memory() is not None]
    memory, whole = memory_of(out.stack), memory_of(source.stack)
    entries = key if type(key) is tuple else (key,)
    apart = any(type(each) in BASIC and type(each) is not int for each in entries)
    if hasattr(out.stack, "record") and (apart or not whole[:1].flags.c_contiguous):
        copied: Any = lambda: None  # noqa: E731 - a reference to what cannot lie as one does
    else:
        copied = ref(out.stack)
    batch.picked.append(Picked(source, key, copied, ref(owner(memory))))


FEW = 64
"""The picked parts after which those are dropped that are gone."""


def write(batch: Batch, x: BatchedArray, key: Any, value: Any, done: list[Picked]) -> None:
    """Write to an array, and to all that share its memory in each."""
    written = memory_of(x.stack)
    if batch.parted and is_parted(batch, written):
        batch.question = caller()
        raise OneByOneError
    beside = []
    for each in batch.picked:
        memory, copy = each.memory(), each.copy()
        if memory is None or each in done:
            continue
        memory = memory if copy is None else memory_of(copy)
        up = np.may_share_memory(memory, written)
        if up or np.may_share_memory(memory_of(each.source.stack), written):
            if copy is None:
                batch.question = caller()
                raise OneByOneError
            beside.append((each, BatchedArray(copy, batch, whole=True), up))
    written_to_all(batch, x, key, value)
    done += [each for each, *_ in beside]
    for each, copy, up in beside:
        if up:
            write(batch, each.source, each.key, copy, done)
        else:
            part = BatchedArray(item_of_all(batch, each.source, each.key), batch, whole=True)
            write(batch, copy, ..., part, done)
        each.memory = ref(owner(memory_of(copy.stack)))


def one_by_one(batch: Batch, tree: Any) -> Iterator[Any]:
    """Yield what stands in a tree for one after the other."""
    for i in range(batch.size):
        yield one_of_tree(batch, tree, i)


def one_of_tree(batch: Batch, tree: Any, i: int) -> Any:
    """Give a tree as one of the batch has it."""
    return map_leaves(lambda leaf, path: one_of(leaf, batch, i), tree)


def one_of(leaf: Any, batch: Batch, i: int) -> Any:
    """Give what an array or a generator of a batch stands for in one of it."""
    if is_of(leaf, batch):
        return leaf.stack[i, ...] if leaf.whole else leaf.stack[i]
    if type(leaf) is slice:
        return slice(*(one_of(bound, batch, i) for bound in (leaf.start, leaf.stop, leaf.step)))
    own = isinstance(leaf, Members) and leaf.batch_of_members is batch
    return leaf.members[i] if own else leaf


def joined(batch: Batch, function: Function, parts: tuple[Any, ...]) -> Any:
    """Stack what a function gives for one after the other; what is no numbers has to agree."""
    first = parts[0]
    if not (hasattr(first, "dtype") or isinstance(first, (int, float, complex))):
        if not all(part == first for part in parts[1:]):
            raise UnbatchableError
        return first
    shapes = list(map(shape_of_one, parts))
    if any(shape != shapes[0] for shape in shapes):
        place = part(batch, np.array([shapes.index(shape) for shape in shapes]), caller)
        parts = tuple(
            [
                x if shape == shapes[place] else parts[place]
                for x, shape in zip(parts, shapes, strict=True)
            ]
        )
    number = is_number(first) or isinstance(first, (int, float, complex))
    return BatchedArray(np.stack(parts), batch, not number)


def assigned_out(
    batch: Batch, function: Function, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Compute a function, and write what it gives into what ``out=`` names."""
    out = kwargs.pop("out")
    targets = out if isinstance(out, tuple) else (out,)
    if any(target is not None and type(target) is not BatchedArray for target in targets):
        if asked_by_library():
            raise UnbatchableError
        batch.asked, batch.question = True, caller()
        raise OneByOneError
    if targets[0] is not None:
        args = in_dtype_of(targets[0], function, args, kwargs)
    if kwargs.get("where", True) is not True and targets[0] is not None:
        where = kwargs.pop("where")
        result = interpreter.call(function, args, kwargs)  # of which nothing need be batched
        result = call(np.where, (where, result, targets[0]))
    else:
        result = interpreter.call(function, args, kwargs)
    return assign_outputs(function, out, result, assign)


def one(function: Any, x: Any) -> Any:
    """Compute a ufunc of one operand."""
    if function.signature is None and not x.batch_here.ended:
        try:
            return wrapped(x.batch_here, function(x.stack))
        except FloatingPointError:  # of some
            pass
    return call(function, (x,))


def two(function: Function, x: Any, y: Any) -> Any:
    """Compute a function of two operands."""
    batch = (x if type(x) is BatchedArray else y).batch_here
    if isinstance(function, np.ufunc) and function.signature is None and not batch.ended:
        try:
            if type(x) is type(y) and x.batch_here is y.batch_here and x.ndim == y.ndim:
                return wrapped(x.batch_here, function(x.stack, y.stack))
            if type(y) in NUMBERS:
                return wrapped(x.batch_here, function(x.stack, y))
            if type(x) in NUMBERS:
                return wrapped(y.batch_here, function(x, y.stack))
        except FloatingPointError:  # of some
            pass
    other = y if type(x) is BatchedArray else x
    if meets_sparse(function, x, y):
        return beside_sparse(function, x, y, two)
    known = isinstance(other, OPERANDS) or hasattr(type(other), "__array_ufunc__")
    if known or function in PRODUCTS or hasattr(other, "__array_wrap__"):
        return call(function, (without_wrapping(x), without_wrapping(y)))
    return NotImplemented


NUMBERS = frozenset((int, float, complex))
OPERANDS = (BatchedArray, np.ndarray, np.generic, int, float, complex, list, tuple)


def item(x: Any, key: Any) -> Any:
    """Compute ``x[key]``."""
    found, constants = looked_through((x, key))
    if constants:
        key = unwrapped(key)
    if type(found) is not Batch or found.ended:
        return found.call(getitem, (x, key), NO_OPTIONS)
    return item_in_batch(found, x, key)


def item_in_batch(found: Batch, x: Any, key: Any) -> Any:
    """Pick from each of a batch, or from what is the same for each by keys of each."""
    try:
        out = item_of_all(found, x, key)
    except IndexError:  # of some, perhaps
        return looped(found, getitem, (x, key), NO_OPTIONS)
    entries = key if type(key) is tuple else (key,)
    whole = any(entry is ... for entry in entries)
    if (out.ndim == 1 and not whole) or is_number(x):
        return BatchedArray(unlinked(out), found, whole or out.ndim > 1)
    if is_of(x, found) and not BASIC.issuperset(map(type, entries)):
        out = laid_out_as_one(found, out, x, key)
    picked = BatchedArray(out, found, whole)
    if is_of(x, found) and is_view_in_each(entries):
        note_picked(x, picked, key)
    return picked


BASIC = frozenset({int, slice, type(None), type(...)})
"""The types of what a view is picked by."""


def laid_out_as_one(batch: Batch, out: Any, x: BatchedArray, key: Any) -> Any:
    """Let what was picked from all lie in memory as from one, which tells what is a view of it."""
    array, source = primal(out), primal(x.stack)
    plain = type(array) is type(source) is np.ndarray and array.size
    if not plain or np.may_share_memory(array, source):
        return out
    first = int(members_of(batch)[0])
    layout = Layout.of(source[first][one_of_tree(batch, key, first)])
    length = sum(layout.span)
    laid_out = layout.over(len(array), length)
    if 0 not in layout.strides:  # of which many elements are one
        memory = np.empty(len(array) * length, np.uint8)
        array, copied = laid_out.on(memory, layout.span[0]), array
        array[...] = copied
    if not hasattr(out, "record"):
        return array
    holder = out
    while hasattr(holder.data, "record"):
        holder = holder.data
    if getattr(holder, "memory", None) is None:  # else it is a view of what was picked
        holder.data = array.copy(order="K")  # without gaps, as a record relies on
    return out


def assign(x: Any, key: Any, value: Any) -> None:
    """Do ``x[key] = value``, for all of the batch."""
    batch = x.batch_here
    if is_number(x):
        raise InPlaceError("a number, as NumPy's, is not assigned to; write x = ... in its place")
    found, constants = looked_through((x, key, value))
    if constants:
        key, value = unwrapped((key, value))
    if found is not batch:
        raise InPlaceError(
            "an array of a batch cannot hold what is further in: a handle of a record, or a value "
            "of a batch, that was made in its run; write np.stack([...]) or np.where(...)"
        )
    memory_to_write(batch, x)
    try:
        write(batch, x, key, value, [])
    except IndexError:  # of some, perhaps
        raise OneByOneError from None
    batch.written.append(memory_of(x.stack))


def memory_to_write(batch: Batch, x: Any) -> Any:
    """Give the memory of what is about to be written to, if it can hold what is of each."""
    if not is_of(x, batch) or (batch.parted and is_parted(batch, memory_of(x.stack))):
        batch.asked, batch.question = True, caller()
        raise OneByOneError
    memory = memory_of(x.stack)
    if batch.counted is not None and is_argument(batch, memory):
        doubt(batch)
        raise AgainError
    return memory


def change(function: Function, x: Any, other: Any) -> Any:
    """Do ``x += other`` and its kind; a number is no array, so it is not changed."""
    result = call(function, (x, other))
    if result is NotImplemented or is_number(x):
        return result
    check_fit(x, result, function)
    assign(x, ..., result)
    return x


def create(x: Any, function: Function, args: Any, kwargs: Options) -> Any:
    """Compute ``function(..., like=x)``: an array that may be filled with batched values."""
    if looked_through(args, kwargs)[0] is None:
        out = function(*args, **kwargs, like=x.stack)
        out = np.repeat(out[np.newaxis], x.batch_here.size, axis=0)
        return BatchedArray(out, x.batch_here, whole=True)
    if function in TAKING and type(args[0]) is BatchedArray and len(args) == 1 and not kwargs:
        return args[0] if function is np.asarray else call(np.copy, args)
    raise OneByOneError


TAKING = (np.array, np.asarray)

BatchedArray.answer_with(
    call=call, answer=call, one=one, two=two, item=item, assign=assign, change=change
)
BatchedArray._create = staticmethod(create)
