"""`batched`: a function of one, run over a batch of them at once."""

import functools
import inspect
import operator
import warnings
from collections.abc import Callable
from typing import Any, ParamSpec

import numpy as np
from attrs import define, field

from tape_ad.base.arrays.interpreter import NO_OPTIONS, Batch
from tape_ad.base.arrays.overridable import ACTIVE, Active, below_records
from tape_ad.base.errors import (
    BatchWarning,
    InPlaceError,
    NoRuleError,
    ShapeError,
    UnsupportedArgumentError,
)
from tape_ad.base.naming import called
from tape_ad.base.trees import flatten, map_leaves, structure_of, unflatten
from tape_ad.batching.arrays import BatchedArray, UnbatchableError
from tape_ad.batching.basics import is_of, spread
from tape_ad.batching.decisions import FEW, AgainError, doubt, grouped, members_of, watch
from tape_ad.batching.dispatch import answer_in_batch
from tape_ad.batching.generators import BatchedGenerator, is_generator
from tape_ad.batching.parts import (
    Part,
    check_structures,
    has_written,
    joined_parts,
    one_alone,
    part_of,
    picked,
    the_same,
)
from tape_ad.record.primals import is_number_like
from tape_ad.rules.base import as_array

Function = Callable[..., Any]
Rest = ParamSpec("Rest")

RATIO = 2
"""How many of a batch a run has to be for, on average, to be better than a run for each."""


OF_ALL = (UnbatchableError, NoRuleError, UnsupportedArgumentError)
"""What may be raised for all of a batch, and for none of it alone."""


@define(eq=False, repr=False)
class BatchedFunction:
    """What `batched` makes of a function.

    Attributes
    ----------
    function : callable
    in_axes, out_axes : int, None or tree of them
    axis_size, batch_size : int or None
        How many there are, where no argument tells; how many are computed at once.
    looped : dict of str to int
        What was called for one after the other, for it cannot be batched, and how often.
    parted : set of str
        The lines at which values decided how to go on, so that parts were run one after the other.
    """

    function: Function
    in_axes: Any
    out_axes: Any
    axis_size: int | None = None
    batch_size: int | None = None
    looped: dict[str, int] = field(factory=dict, init=False)
    parted: set[str] = field(factory=set, init=False)
    __dict__: dict[str, Any] = field(init=False)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function for all, or for a part of the batch after the other."""
        leaves, axes, size = self._stacks(args, kwargs)
        fronts = [
            leaf
            if axis is None
            else leaf.spawn(size)
            if is_generator(leaf)
            else to_front(leaf, axis)
            for leaf, axis in zip(leaves, axes, strict=True)
        ]
        step = self.batch_size or size
        if size <= step:
            return self._at_once((args, kwargs), fronts, axes, size)
        outs = []
        for start in range(0, size, step):
            stop = min(start + step, size)
            part = [
                front if axis is None else front[start:stop]
                for front, axis in zip(fronts, axes, strict=True)
            ]
            outs.append(self._at_once((args, kwargs), part, axes, stop - start))
        check_structures(called(self.function), outs)
        places = axes_of_tree(self.out_axes, outs[0], "out_axes")
        columns = zip(*map(flatten, outs), strict=True)
        whole = [
            np.concatenate(column, axis)
            if axis is not None
            else column[0]
            if is_batchable(column[0])
            else the_same(column)
            for column, axis in zip(columns, places, strict=True)
        ]
        return unflatten(outs[0], whole)

    def _at_once(self, tree: Any, fronts: list[Any], axes: list[Any], size: int) -> Any:
        """Call the function for some, of whose arguments the batch is in front."""
        batch, output = self._run(tree, fronts, axes, size)
        if batch.again is not None or batch.others:
            return self._in_parts(tree, fronts, axes, size, (batch, output))
        places = axes_of_tree(self.out_axes, output, "out_axes")
        outs = [
            self._given(leaf, axis, batch)
            for leaf, axis in zip(flatten(output), places, strict=True)
        ]
        return unflatten(output, outs)

    def _run(self, tree: Any, fronts: list[Any], axes: list[Any], size: int) -> tuple[Batch, Any]:
        """Call the function for some; the batch tells whom what it gives is right for."""
        batch = Batch(size, answer, self._told, spread_over)
        stacks = [
            front
            if axis is None
            else BatchedGenerator(batch, front)
            if type(front) is list
            else BatchedArray(front, batch)
            for front, axis in zip(fronts, axes, strict=True)
        ]
        batch.given = stacks
        given, named = unflatten(tree, stacks)
        output = None
        with np.errstate():
            try:
                output = run_over(batch, self.function, given, named)
            except (Exception, AgainError, UnbatchableError) as error:
                if isinstance(error, AgainError) and batch.again is None:
                    raise  # it is for another batch
                doubt(batch)
                if batch.again is None:
                    if not (isinstance(error, OF_ALL) or batch.asked):
                        raise
                    batch.again = groups_of(error, batch)
            else:
                doubtful = batch.asked and batch.again is None  # as an error has been caught
                if doubtful and batch.counted is None:
                    batch.again = groups_of(None, batch)
                elif doubtful:
                    batch.again = [batch.counted]
        if any(outer.counted is not None for outer in ACTIVE.get().batches):
            watch()
        return batch, output

    def _in_parts(
        self, tree: Any, fronts: list[Any], axes: list[Any], size: int, first: tuple[Batch, Any]
    ) -> Any:
        """Call the function for some after the others, as values in it have decided."""
        name = called(self.function)
        if size == 0:
            raise ValueError(
                f"batched({name}) has to call it for one after the other, and an empty batch has "
                "none to tell the shapes by"
            )
        parts: list[Part] = []
        todo, line, alone = [np.arange(size)], "", 0
        for run, places in enumerate(todo):
            if run and (len(places) == 1 or (run > FEW and size < RATIO * run)):
                alone += len(places)
                parts += [self._alone(tree, fronts, axes, place) for place in places.tolist()]
                continue
            some = [
                front if axis is None or not run else picked(front, places)
                for front, axis in zip(fronts, axes, strict=True)
            ]
            batch, output = self._run(tree, some, axes, len(places)) if run else first
            line = line or batch.question
            others = [*(batch.again or ()), *batch.others]
            wrote = [x for x in batch.given if type(x) is BatchedArray and has_written(batch, x)]
            if wrote and others:
                raise InPlaceError(
                    f"{name} has written to its argument before values decided how it goes on"
                    f"{line and f' ({line})'}, so that it cannot be called again; write x = "
                    "x.copy() before the assignment"
                )
            if run:
                for front, given in zip(fronts, batch.given, strict=True):
                    if any(given is x for x in wrote):
                        front[places] = given.stack
            if batch.again is None:
                parts.append(part_of(places[members_of(batch)], output, batch))
            todo += [places[each] for each in others]
        self._tell_of_parts(name, line, size, alone)
        output, joined = joined_parts(name, parts)
        stands = axes_of_tree(self.out_axes, output, "out_axes")
        outs = []
        for (leaf, each), axis in zip(joined, stands, strict=True):
            self._refuse_each(axis is None and each)
            plain = not is_batchable(leaf)
            outs.append(leaf if plain else leaf[0] if axis is None else from_front(leaf, axis))
        return unflatten(output, outs)

    def _alone(self, tree: Any, fronts: list[Any], axes: list[Any], place: int) -> Part:
        """Call the function itself for one."""
        one = [
            front if axis is None else one_alone(front, place)
            for front, axis in zip(fronts, axes, strict=True)
        ]
        given, named = unflatten(tree, one)
        output = self.function(*given, **named)
        leaves = [
            np.expand_dims(leaf, 0) if is_batchable(leaf) else leaf for leaf in flatten(output)
        ]
        return Part(np.array([place]), output, leaves, [False] * len(leaves))

    def _tell_of_parts(self, name: str, line: str, size: int, alone: int) -> None:
        """Note that values have decided, and warn once where it made the batch a loop."""
        line = line or "a library"
        self.parted.add(line)
        if alone < size and (alone <= FEW or RATIO * alone < size):
            return
        self.looped[name] = self.looped.get(name, 0) + 1
        if self.looped[name] == 1:
            warnings.warn(
                f"{name} is called for one of the batch after the other, as {line} asks for "
                "values that are others for each",
                BatchWarning,
                stacklevel=4,
            )

    def _refuse_each(self, each: bool) -> None:
        """Refuse to give once what is another for each."""
        if each:
            raise ValueError(
                f"out_axes is None for what {called(self.function)} computes of the batch; "
                "None is for what is the same for each"
            )

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def __repr__(self) -> str:
        return f"<batched {called(self.function)}>"

    def explain(self) -> str:
        """Say what was done for one after the other so far.

        Returns
        -------
        str
        """
        lines = [f"{name}: {count} times" for name, count in self.looped.items()]
        if lines:
            lines.insert(0, "called for one of the batch after the other:")
        if self.parted:
            lines += ["run for parts of the batch, as values decide at", *sorted(self.parted)]
        return "\n".join(lines) or "everything was computed for the whole batch at once"

    def _told(self, name: str) -> None:
        """Note what is looped over, and warn of it once."""
        self.looped[name] = self.looped.get(name, 0) + 1
        if self.looped[name] == 1:
            warnings.warn(
                f"{called(self.function)} calls {name}, which cannot be batched and is called for "
                "one of the batch after the other",
                BatchWarning,
                stacklevel=2,
            )

    def _stacks(self, args: tuple[Any, ...], kwargs: Any) -> tuple[list[Any], list[Any], int]:
        """List the arguments' leaves, and which axis of each is the batch's, or None."""
        in_axes = self.in_axes
        if isinstance(in_axes, (tuple, list)):
            if len(in_axes) != len(args):
                raise ValueError(
                    f"in_axes of batched({called(self.function)}) has {len(in_axes)} entries for "
                    f"{len(args)} positional arguments: {in_axes!r}"
                )
            in_axes = tuple(in_axes)
        axes = axes_of_tree(in_axes, args, "in_axes")
        leaves = flatten(args)
        for leaf in flatten(kwargs) if kwargs else ():
            leaves.append(leaf)
            axes.append(0 if is_batchable(leaf) else None)
        sizes: dict[int, int] = {}
        for place, (leaf, axis) in enumerate(zip(leaves, axes, strict=True)):
            if axis is None or is_generator(leaf):
                continue
            shape = leaf.shape if hasattr(leaf, "shape") else np.shape(leaf)
            if not -len(shape) <= axis < len(shape):
                name = self._names(args, kwargs)[place]
                raise ShapeError(
                    f"batched({called(self.function)}): {name} has shape {shape} and no axis "
                    f"{axis} for the batch; write None for it in in_axes if it is the same for each"
                    + (", and hand it over by place" if name in kwargs else "")
                )
            sizes.setdefault(shape[axis], place)
        if len(sizes) > 1:
            names = self._names(args, kwargs)
            told = [f"{names[i]} has {size} along axis {axes[i]}" for size, i in sizes.items()]
            raise ShapeError(
                f"batched({called(self.function)}): the sizes of the batch disagree: "
                f"{', '.join(told)}"
            )
        size = next(iter(sizes), self.axis_size)
        if size is None:
            raise ValueError(
                f"batched({called(self.function)}): no argument has an axis for the batch; in_axes "
                f"is {self.in_axes!r}; where there is none, axis_size= tells the size"
            )
        if self.axis_size not in (None, size):
            name = self._names(args, kwargs)[sizes[size]]
            raise ShapeError(
                f"batched({called(self.function)}): axis_size is {self.axis_size}, and {name} has "
                f"{size} along axis {axes[sizes[size]]}"
            )
        return leaves, axes, size

    def _names(self, args: tuple[Any, ...], kwargs: Any) -> list[str]:
        """Name the arguments' leaves, as the function's parameters are named."""
        try:
            parameters = list(inspect.signature(self.function).parameters.values())
        except (TypeError, ValueError):
            parameters = []
        names = [p.name for p in parameters if p.kind <= p.POSITIONAL_OR_KEYWORD]
        paths: list[str] = []
        for i, arg in enumerate(args):
            name = names[i] if i < len(names) else f"argument {i}"
            map_leaves(lambda leaf, path: paths.append(path), arg, name)
        for name, arg in kwargs.items():
            map_leaves(lambda leaf, path: paths.append(path), arg, name)
        return paths

    def _given(self, leaf: Any, axis: int | None, batch: Batch) -> Any:
        """Give a leaf of the output for all, with the batch on an axis of it."""
        self._refuse_each(axis is None and is_of(leaf, batch))
        if type(leaf) is BatchedArray and leaf.batch_here is batch:
            return leaf.stack if axis is None else from_front(leaf.stack, axis)
        if axis is None or not is_batchable(leaf):
            return leaf
        out = np.broadcast_to(leaf, (batch.size, *np.shape(leaf)))
        return from_front(out.copy() if type(out) is np.ndarray else out, axis)


def groups_of(error: BaseException | None, batch: Batch) -> list[Any]:
    """List whom a function is called for together, after a library has asked for values."""
    each = np.arange(batch.size)
    if isinstance(error, UnbatchableError) and error.batch is batch and error.answers is not None:
        groups = grouped(error.answers, each)
        if len(groups) > 1:  # which what is nan is not, though it is not equal
            return groups
    return grouped(each, each)


def is_batchable(leaf: Any) -> bool:
    """Tell whether there is one of something for each of a batch: of arrays, and of generators."""
    return is_number_like(leaf) or isinstance(leaf, bool) or is_generator(leaf)


def answer(
    batch: Batch, function: Function, args: tuple[Any, ...], kwargs: Any = NO_OPTIONS
) -> Any:
    """Compute a function for all of a batch, and record it as one node where that is one of one."""
    over = None if isinstance(function, np.ufunc) else getattr(function, "over", None)
    if over is None:
        return answer_in_batch(batch, function, args, kwargs)
    tree = args, dict(kwargs)
    leaves = flatten(tree)
    axes = tuple([0 if is_of(leaf, batch) else None for leaf in leaves])

    def for_all(f: Function) -> Function:
        def of_leaves(*each: Any) -> Any:
            args, kwargs = unflatten(tree, each)
            return f(*args, **kwargs)

        return BatchedFunction(functools.update_wrapper(of_leaves, f), axes, 0)

    node = over(for_all)
    if node is None:
        return answer_in_batch(batch, function, args, kwargs)
    stacks = [leaf if axis is None else leaf.stack for leaf, axis in zip(leaves, axes, strict=True)]
    return map_leaves(
        lambda leaf, path: BatchedArray(leaf, batch) if is_batchable(leaf) else leaf, node(*stacks)
    )


def to_front(leaf: Any, axis: int) -> Any:
    """Bring the axis of the batch to the front."""
    if type(leaf) is not np.ndarray:
        leaf = below_records(as_array(leaf))
        if isinstance(leaf, np.generic):
            leaf = np.asarray(leaf)
    return leaf if axis % leaf.ndim == 0 else np.moveaxis(leaf, axis, 0)


def from_front(stack: Any, axis: int) -> Any:
    """Bring the axis of the batch from the front to where it is wanted."""
    if not -stack.ndim <= axis < stack.ndim:
        raise ShapeError(
            f"out_axes has {axis} for an array that has {stack.ndim} axes with that of the batch"
        )
    return stack if axis == 0 else np.moveaxis(stack, 0, axis)


def axes_of_tree(axes: Any, tree: Any, what: str) -> list[int | None]:
    """List the axis for each leaf; one stands for all leaves below it.

    Raises
    ------
    ValueError
        When the structures differ.
    """
    if axes is None:
        return [None] * len(flatten(tree))
    structure = structure_of(axes.__class__)
    if structure is None:
        try:
            axis = operator.index(axes)
        except TypeError:
            raise TypeError(f"{what} is an int, None, or a tree of them, not {axes!r}") from None
        return [axis if is_batchable(leaf) else None for leaf in flatten(tree)]
    other = structure_of(tree.__class__)
    parts = list(structure.values(axes))
    if other is None or list(structure.steps(axes)) != list(other.steps(tree)):
        if isinstance(axes, dict) and isinstance(tree, dict) and set(axes) == set(tree):
            return [a for key in tree for a in axes_of_tree(axes[key], tree[key], what)]
        given = "a leaf" if other is None else f"{' '.join(other.steps(tree)) or 'nothing'}"
        raise ValueError(
            f"{what} has the structure {axes!r}, which does not fit what it is for: {given}"
        )
    below = zip(parts, other.values(tree), strict=True)
    return [axis for part, sub in below for axis in axes_of_tree(part, sub, what)]


def run_over(batch: Batch, function: Function, args: Any, kwargs: Any) -> Any:
    """Call a function of batched arrays."""
    before = ACTIVE.get()
    try:  # twice, for an interrupt may come before the first instruction of one
        try:
            ACTIVE.set(
                Active(before.capture, before.record, before.wishes, (*before.batches, batch))
            )
            return function(*args, **kwargs)
        finally:
            leave(batch, before)
    finally:
        leave(batch, before)


def spread_over(batch: Batch, array: Any) -> BatchedArray:
    """Give an array that is the same for each as one of the batch."""
    return BatchedArray(spread(batch, array), batch)


def leave(batch: Batch, before: Active) -> None:
    """Note that the function has returned."""
    batch.ended = True
    ACTIVE.set(before)


def batched(
    f: Callable[Rest, Any],
    in_axes: Any = 0,
    out_axes: Any = 0,
    *,
    axis_size: int | None = None,
    batch_size: int | None = None,
) -> BatchedFunction:
    """Turn a function of one thing into a function of a batch of them, computed all at once.

    Parameters
    ----------
    f : callable
        A function of arrays or trees of them, written for one: inside it, arrays have the shapes
        of one.
    in_axes : int, None, or a tuple with an entry for each positional argument
        Which axis of each argument is the batch. None is for what is the same for all; an entry
        may be a tree of ints and None like its argument. Keyword arguments have it on axis 0.
    out_axes : int, None, or a tree of them like the output
        Where the batch's axis stands in the results; None for what does not depend on the batch.
    axis_size : int, optional
        The size of the batch, for a function of which no argument has a batch axis.
    batch_size : int, optional
        How many are computed at once, as in ``jax.lax.map``, which limits the memory for what is
        computed on the way. All at once if left out.

    Returns
    -------
    BatchedFunction
        It takes the arguments of `f` with one more axis each, and returns its output with one
        more. NumPy is called once for all, by a leading axis; what cannot be batched is called
        for one after the other, which a `BatchWarning` says once, and ``explain()`` any time.
        Where `f` decides by values, it is called once for each path that any of the batch takes.
        A random generator among the arguments draws for each separately, as one of its
        ``spawn(size)`` does; with None in `in_axes`, and where it is no argument, it draws what
        is the same for all.

    Raises
    ------
    ShapeError
        By the returned function, when arguments disagree about the size of the batch, or when
        its results have different shapes.

    Examples
    --------
    >>> def distance(point, target):
    ...     return np.linalg.norm(point - target)
    >>> points = np.array([[3.0, 4.0], [0.0, 1.0], [1.0, 0.0]])
    >>> batched(distance, in_axes=(0, None))(points, np.zeros(2))
    array([5., 1., 1.])
    """
    if not callable(f):
        raise TypeError(
            f"batched takes a function and gives a function, but it got a {type(f).__name__}; "
            "write batched(f)(x)"
        )
    for name, size in (("axis_size", axis_size), ("batch_size", batch_size)):
        if size is not None and operator.index(size) < (name == "batch_size"):
            raise ValueError(f"batched: {name} has to be positive, not {size}")
    made = BatchedFunction(f, in_axes, out_axes, axis_size, batch_size)
    functools.update_wrapper(made, f)
    return made
