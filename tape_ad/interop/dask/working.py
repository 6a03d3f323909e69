"""What runs on a worker: a block of partitions, each on a record of its own."""

import pickle
import threading
import traceback
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
from attrs import evolve, field, frozen
from dask.core import get
from threadpoolctl import ThreadpoolController

from tape_ad import compile as compiled
from tape_ad import value_and_grad
from tape_ad.base.memory import UNDECIDED, decide_on_freed_memory
from tape_ad.extend.trees import flatten
from tape_ad.interop.dask.adding import Failure, Sum, Summing, added

Function = Callable[..., Any]

COMPILED = 16
"""How many compiled functions a worker keeps."""


@frozen(eq=False)
class Sent:
    """Something that Dask is to leave as it is, instead of looking for tasks in it."""

    value: Any


@frozen(eq=False)
class Partition:
    """How a part of the data is made or read.

    Attributes
    ----------
    name : str
        What an error calls it.
    graph : dict
        Tasks of Dask's, which are run one after the other where the part is needed.
    keys : tuple
        What each argument of the loss is in the graph, behind the parameters.
    frames : tuple of bool
        Which of them are data frames.
    held : tuple
        Keys of what workers hold already; no part of the graph.
    values : tuple, optional
        The arguments themselves, where they are kept.
    """

    name: str
    graph: dict[Any, Any]
    keys: tuple[Any, ...]
    frames: tuple[bool, ...]
    held: tuple[Any, ...] = ()
    values: tuple[Any, ...] | None = None

    def read(self, columns: Function | None, held: Mapping[Any, Any]) -> tuple[Any, ...]:
        """Make or read the arguments of the loss."""
        if self.values is not None:
            return self.values
        graph = dict(self.graph)
        for key in self.held:
            graph[key] = (getattr, Sent(held[key]), "value")
        values = get(graph, list(self.keys))
        return tuple(
            arrays_of(value, columns if frame else None)
            for value, frame in zip(values, self.frames, strict=True)
        )


def arrays_of(value: Any, columns: Function | None) -> Any:
    """Give a partition as the loss takes it."""
    if columns is not None:
        return columns(value)
    iterator = hasattr(value, "__next__")  # as the partition of a bag may be
    return list(value) if iterator else value


@frozen(eq=False)
class Block:
    """Partitions in a row that a worker goes through in one task.

    Attributes
    ----------
    token : str
        Tells the loss from others.
    loss, has_aux, mean, compile, columns
        See `tape_ad.interop.dask.value_and_grad`; `mean` is whether the reduction is that.
    first : int
        The number of the first partition here.
    partitions : tuple of Partition
    failure : Failure, optional
        What happened when they were to be kept.
    """

    token: str
    loss: Function
    has_aux: bool
    mean: bool
    compile: bool
    columns: Function | None
    first: int
    partitions: tuple[Partition, ...]
    failure: Failure | None = None

    @property
    def stop(self) -> int:
        """Give the number of the partition that follows."""
        return self.first + len(self.partitions)

    def known(self, held: tuple[Any, ...]) -> dict[Any, Any]:
        """Tell what each key stands for that workers hold already."""
        keys = [key for part in self.partitions for key in part.held]
        return dict(zip(keys, held, strict=True))


@frozen(eq=False)
class Workshop:
    """What a process of a worker keeps.

    Attributes
    ----------
    compiled : dict of str to callable
        By the tokens of losses, the one that was used last at the end.
    """

    compiled: OrderedDict[str, Function] = field(factory=OrderedDict)
    lock: Any = field(factory=threading.Lock)

    def function_of(self, block: Block) -> Function:
        """Give the function that computes the loss and its gradient, compiled once where it is."""
        plain = value_and_grad(block.loss, has_aux=block.has_aux)
        if not block.compile:
            return plain
        with self.lock:
            if block.token not in self.compiled:
                self.compiled[block.token] = compiled(plain)
                while len(self.compiled) > COMPILED:
                    self.compiled.popitem(last=False)
            self.compiled.move_to_end(block.token)
            return self.compiled[block.token]


class OneThread:
    """Lets BLAS use one thread as long as a task runs, whichever of several ends last.

    Dask's nanny sees to that in the processes that it starts; a worker may be without one.
    """

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.tasks = 0
        self.controller: Any = None
        self.limits: Any = None

    @contextmanager
    def __call__(self) -> Iterator[None]:
        """Hold the limits while a task runs, and lift them after the last one."""
        with self.lock:
            if self.tasks == 0:
                self.limits = self.limited()
            self.tasks += 1
        try:
            yield
        finally:
            with self.lock:
                self.tasks -= 1
                if self.tasks == 0 and self.limits is not None:
                    self.limits.restore_original_limits()

    def limited(self) -> Any:
        """Limit the number of threads; threadpoolctl looks for libraries once."""
        if self.controller is None:
            self.controller = ThreadpoolController().select(user_api="blas")
        if all(pool.num_threads == 1 for pool in self.controller.lib_controllers):
            return None
        return self.controller.limit(limits=1)


WORKSHOP = Workshop()
ONE_THREAD = OneThread()


def as_it_is(value: Any) -> Any:
    """Be a task, so that a value is kept on workers and comes back when one is lost."""
    return value


def opened(block: Block, *held: Any) -> Block:
    """Read all partitions of a block, to keep them from step to step."""
    known = block.known(held)
    kept = []
    for number, part in enumerate(block.partitions, block.first):
        try:
            values = part.read(block.columns, known)
        except Exception as error:
            return evolve(block, failure=failure_of(number, "reading", error))
        kept.append(evolve(part, graph={}, held=(), values=values))
    return evolve(block, partitions=tuple(kept))


def gradient_of_block(block: Block, sent: Sent, *held: Any) -> Sum:
    """Add up the losses of the partitions of a block, and their gradients."""
    if block.failure is not None:
        return Sum(block.first, block.stop, failure=block.failure)
    if UNDECIDED:
        decide_on_freed_memory()
    function = WORKSHOP.function_of(block)
    known = block.known(held)
    summing = Summing()
    with ONE_THREAD():
        for number in range(block.first, block.stop):
            one = gradient_of_partition(block, number, known, function, sent.value)
            if one.failure is not None:
                return Sum(block.first, block.stop, failure=one.failure)
            summing.add(one)
    return summing.total()


def gradient_of_partition(
    block: Block, number: int, known: Mapping[Any, Any], function: Function, params: Any
) -> Sum:
    """Compute the loss and the gradient of one partition, times its weight."""
    doing = "reading"
    try:
        values = block.partitions[number - block.first].read(block.columns, known)
        rows = rows_of(values)
        if rows == 0:
            return Sum(number, number + 1)
        doing = "computing"
        value, slopes = function(params, *values)
    except Exception as error:
        return Sum(number, number + 1, failure=failure_of(number, doing, error))
    value, aux = value if block.has_aux else (value, None)
    weight = float(rows) if block.mean else 1.0
    leaves = flatten(slopes)
    nan = [name for name, arrays in (("loss", [value]), ("gradient", leaves)) if has_nan(arrays)]
    return Sum(
        number,
        number + 1,
        rows,
        weight,
        weight * float(value),
        np.asarray(value).dtype,
        [weighted(leaf, weight) for leaf in leaves],
        {number: aux} if block.has_aux else {},
        ((number, nan[0]),) if nan else (),
    )


def has_nan(leaves: list[Any]) -> bool:
    """Tell whether there is a nan in an array."""
    return any(
        bool(np.isnan(leaf).any()) for leaf in leaves if isinstance(leaf, (np.ndarray, np.generic))
    )


def weighted(leaf: Any, weight: float) -> Any:
    """Multiply an array with a weight; half precision has too few numbers for sums of many."""
    if not isinstance(leaf, (np.ndarray, np.generic)):
        return leaf
    if leaf.dtype == np.float16:
        leaf = leaf.astype(np.float32)
    return leaf * weight if weight != 1 else leaf


def rows_of(values: tuple[Any, ...]) -> int:
    """Count the rows of a partition.

    Raises
    ------
    ValueError
        When the arguments have no rows, or not as many.
    """
    counts = [count_of(value) for value in values]
    if len(set(counts)) > 1:
        raise ValueError(f"the data have {counts} rows here; all of them need the same number")
    return counts[0]


def count_of(value: Any) -> int:
    """Count the rows of an array, a list, a data frame, or of the first array in a structure."""
    if isinstance(value, (list, np.ndarray)) or hasattr(value, "iloc"):
        rows = value
    else:
        rows = next((leaf for leaf in flatten(value) if hasattr(leaf, "__len__")), value)
    try:
        return len(rows)
    except TypeError:
        raise ValueError(
            f"a partition is {type(value).__name__}, which has no rows to count"
        ) from None


def failure_of(number: int, doing: str, error: Exception) -> Failure:
    """Describe an exception, with the traceback below this file."""
    trace = error.__traceback__.tb_next if error.__traceback__ else None
    lines = traceback.format_exception(type(error), error, trace)
    sendable: Exception | None = error.with_traceback(None)
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301 - made here
    except Exception:  # whatever its class does
        sendable = None
    return Failure(number, doing, sendable, "".join(lines))


def add_up(*sums: Sum) -> Sum:
    """Add the sums of blocks in a row."""
    return added(sums)
