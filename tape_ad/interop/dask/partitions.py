"""What data are made of: partitions that a worker makes, reads or holds, and blocks of them."""

from collections import Counter
from collections.abc import Callable, Mapping
from glob import glob
from pathlib import Path
from typing import Any

import numpy as np
from attrs import evolve, frozen
from dask import config
from dask.base import optimize
from dask.core import get_dependencies, istask
from dask.delayed import Delayed
from distributed import Client, Future

from tape_ad.errors import PartitionError
from tape_ad.extend.packages import extra
from tape_ad.interop.dask.working import Partition

SHOWN = 60
"""How much of a key an error shows."""


@frozen(eq=False)
class Source:
    """One argument of the loss, as tasks of Dask's.

    Attributes
    ----------
    graph : dict
    keys : list
        That of each partition.
    frames : bool
        Whether those are data frames.
    collection : dask collection, optional
        What these are the partitions of.
    """

    graph: Mapping[Any, Any]
    keys: list[Any]
    frames: bool = False
    collection: Any = None


@frozen(eq=False)
class Data:
    """All partitions, and what workers hold of them.

    Attributes
    ----------
    partitions : list of Partition
    futures : dict
        By the keys in `Partition.held`.
    """

    partitions: list[Partition]
    futures: dict[Any, Any]

    @property
    def placed(self) -> bool:
        """Whether some partitions are made of what workers hold for them, and not for all."""
        holding = [set(part.held) for part in self.partitions]
        return any(held != holding[0] for held in holding)


def data_of(given: tuple[Any, ...], columns: Callable[..., Any] | None, client: Client) -> Data:
    """Divide data into partitions.

    Raises
    ------
    TypeError
        When there are no data, or some that are not divided.
    ValueError
        When two of them are divided in different ways.
    """
    if not given:
        raise TypeError(
            "a distributed gradient needs data behind the parameters: Dask's collections, lists of "
            "tasks or futures, or paths"
        )
    sources = [source_of(each, columns) for each in given]
    counts = [len(source.keys) for source in sources]
    if len(set(counts)) > 1:
        raise ValueError(f"the data have {counts} partitions; all of them need the same number")
    sources = together(sources)
    data = joined(sources)
    shared = shared_keys(data)
    if not shared:
        return data
    return joined([with_shared_held(source, shared, client) for source in sources])


def together(sources: list[Source]) -> list[Source]:
    """Let Dask join the steps of each collection into few tasks."""
    lazy = [source.collection for source in sources if source.collection is not None]
    graphs = iter([dict(each.__dask_graph__()) for each in optimize(*lazy)])
    return [
        source
        if source.collection is None
        # Optimizing leaves out what workers hold
        else evolve(source, graph={**source.graph, **next(graphs)}, collection=None)
        for source in sources
    ]


def joined(sources: list[Source]) -> Data:
    """Make partitions of what the arguments of the loss are."""
    partitions: list[Partition] = []
    futures: dict[Any, Any] = {}
    for keys in zip(*(source.keys for source in sources), strict=True):
        graph: dict[Any, Any] = {}
        for source, key in zip(sources, keys, strict=True):
            graph |= needed(source.graph, key)
        held = {key: task for key, task in graph.items() if isinstance(task, Future)}
        futures |= held
        partitions.append(
            Partition(
                name_of(keys[0]),
                {key: task for key, task in graph.items() if key not in held},
                keys,
                tuple(source.frames for source in sources),
                tuple(held),
            )
        )
    return Data(partitions, futures)


def needed(graph: Mapping[Any, Any], key: Any) -> dict[Any, Any]:
    """Take out of a graph what one of its keys needs."""
    found: dict[Any, Any] = {}
    waiting = [key]
    while waiting:
        each = waiting.pop()
        if each not in found:
            found[each] = graph[each]
            if not isinstance(found[each], Future):
                waiting += get_dependencies(graph, each)
    return found


def shared_keys(data: Data) -> set[Any]:
    """Find the tasks that several partitions need."""
    counts = Counter(
        key for part in data.partitions for key, task in part.graph.items() if not is_value(task)
    )
    return {key for key, count in counts.items() if count > 1}


def is_value(task: Any) -> bool:
    """Tell what is in a graph as it is from what is to be computed."""
    return type(task).__name__ == "DataNode" or not (istask(task) or hasattr(task, "dependencies"))


def with_shared_held(source: Source, shared: set[Any], client: Client) -> Source:
    """Let workers make once, and hold, what several partitions are made of.

    Of what is shared, tasks that are not need the ends alone: a mean, and not what it is made of.
    """
    ends: dict[Any, None] = {}
    for partition in source.keys:
        for key, task in needed(source.graph, partition).items():
            if key not in shared and not isinstance(task, Future):
                wanted = get_dependencies(source.graph, key)
                ends |= dict.fromkeys(each for each in wanted if each in shared)
        if partition in shared:
            ends[partition] = None
    if not ends:
        return source
    futures = client.get(dict(source.graph), list(ends), sync=False)
    return evolve(source, graph={**source.graph, **dict(zip(ends, futures, strict=True))})


def name_of(key: Any) -> str:
    """Name a partition for an error."""
    name = key if isinstance(key, str) else str(key)
    return name if len(name) <= SHOWN else "..." + name[3 - SHOWN :]


def source_of(data: Any, columns: Callable[..., Any] | None) -> Source:
    """Read one argument of the loss as tasks of Dask's.

    Raises
    ------
    TypeError
    """
    if isinstance(data, (str, Path)):
        return of_paths([data], columns)
    if isinstance(data, (list, tuple)):
        if data and all(isinstance(each, (str, Path)) for each in data):
            return of_paths(data, columns)
        if data and all(isinstance(each, (Delayed, Future)) for each in data):
            return of_tasks(data)
    kind = type(data).__module__
    if kind.startswith("dask.array"):
        return of_array(data)
    if kind.startswith(("dask.dataframe", "dask_expr")):
        return of_frame(data, columns)
    if kind.startswith("dask.bag"):
        return of_collection(data, data.to_delayed(optimize_graph=False))
    if isinstance(data, np.ndarray):
        what, instead = "a NumPy array", "; dask.array.from_array(x, chunks=...) divides it"
    else:
        what, instead = f"{type(data).__name__}", ""
    raise TypeError(
        "the data of a distributed gradient are Dask's arrays, data frames or bags, lists of "
        f"Delayed or of futures, or paths of .npy, Parquet or Zarr, not {what}{instead}"
    )


def of_array(array: Any) -> Source:
    """Take chunks of rows; a row is whole in its chunk.

    Raises
    ------
    TypeError
        When there are no rows.
    """
    if array.ndim == 0:
        raise TypeError("the data have rows, but this Dask array has no axes")
    if any(count > 1 for count in array.numblocks[1:]):
        array = array.rechunk(dict.fromkeys(range(1, array.ndim), -1))
    return of_collection(array, array.to_delayed(optimize_graph=False).ravel())


def of_frame(frame: Any, columns: Callable[..., Any] | None) -> Source:
    """Take the partitions of a data frame.

    Raises
    ------
    TypeError
        When it is not said what arrays to make of them.
    """
    if columns is None:
        raise TypeError(
            "a loss takes arrays: say what to make of a part of this data frame, as in "
            "value_and_grad(loss, columns=lambda frame: (frame[['a', 'b']].to_numpy(), "
            "frame['y'].to_numpy()))"
        )
    if hasattr(frame, "optimize"):  # an expression, which older releases of Dask's need not have
        frame = frame.optimize()
    source = of_collection(frame, frame.to_delayed(optimize_graph=False))
    return evolve(source, frames=True)


def of_collection(collection: Any, tasks: Any) -> Source:
    """Take the tasks that make the partitions of a collection."""
    keys = [task.key for task in tasks]
    return Source(dict(collection.__dask_graph__()), keys, collection=collection)


def of_tasks(tasks: Any) -> Source:
    """Take what each task or future gives for a partition."""
    graph: dict[Any, Any] = {}
    for task in tasks:
        graph |= {task.key: task} if isinstance(task, Future) else dict(task.dask)
    return Source(graph, [task.key for task in tasks])


def of_paths(paths: Any, columns: Callable[..., Any] | None) -> Source:
    """Let workers open files: each is a partition, but a Zarr array, which is its chunks.

    Raises
    ------
    FileNotFoundError
        When a pattern matches nothing.
    TypeError
        When a file is of another kind.
    """
    names = [name for path in paths for name in matches(str(path))]
    kinds = {Path(name.rstrip("/")).suffix for name in names}
    if kinds == {".zarr"} and len(names) == 1:
        return of_zarr(names[0])
    if kinds == {".npy"}:
        tasks = {f"{name} (partition {i})": (read_npy, name) for i, name in enumerate(names)}
        return Source(tasks, list(tasks))
    if kinds == {".parquet"}:
        if columns is None:
            raise TypeError(
                "a loss takes arrays: say what to make of a data frame read from Parquet, by "
                "value_and_grad(loss, columns=...)"
            )
        tasks = {f"{name} (partition {i})": (read_parquet, name) for i, name in enumerate(names)}
        return Source(tasks, list(tasks), frames=True)
    raise TypeError(
        "paths are of .npy or .parquet files, each a partition, or of one .zarr array, not of "
        + ", ".join(sorted(kind or "files without a suffix" for kind in kinds))
    )


def of_zarr(path: str) -> Source:
    """Let workers open an array of Zarr's, whose chunks of rows are the partitions.

    Raises
    ------
    PartitionError
        When it cannot be opened here, to learn its chunks.
    TypeError
        When there are no rows.
    """
    zarr = import_zarr()
    try:
        array = zarr.open_array(path, mode="r")
    except Exception as error:  # which class it is depends on what is in the file, and on Zarr
        raise PartitionError(f"the Zarr array {path} cannot be opened: {error!r}") from error
    if not array.shape:
        raise TypeError(f"the data have rows, but the Zarr array {path} has no axes")
    rows, size = array.shape[0], array.chunks[0]
    tasks = {
        f"{path} (rows {first} to {min(first + size, rows)})": (read_zarr, path, first, size)
        for first in range(0, max(rows, 1), size)
    }
    return Source(tasks, list(tasks))


def matches(path: str) -> list[str]:
    """List the files that a pattern stands for, in order; a path stands for itself.

    Raises
    ------
    FileNotFoundError
    """
    if not any(sign in path for sign in "*?["):
        return [path]
    found = sorted(glob(path))  # noqa: PTH207 - Path.glob takes no absolute patterns
    if not found:
        raise FileNotFoundError(f"no file matches {path}")
    return found


def read_npy(path: str) -> Any:
    """Open an array where it lies; of its pages, those are read that are used."""
    return np.load(path, mmap_mode="r", allow_pickle=False)


def read_parquet(path: str) -> Any:
    """Read a data frame from Parquet files, as partitions."""
    with extra("files", "a Parquet file"):
        import pandas as pd

        return pd.read_parquet(path)  # which imports what knows the format


def read_zarr(path: str, first: int, count: int) -> Any:
    """Read some rows of an array."""
    return import_zarr().open_array(path, mode="r")[first : first + count]


def import_zarr() -> Any:
    """Import Zarr, or raise an error that names what to install."""
    with extra("files", "a Zarr array"):
        import zarr
    return zarr


COARSE, FINE = 1, 4
"""How many blocks of partitions there are for each thread of a worker, in quick and long steps.

Each is a task, which costs the scheduler about as long as a small step; and where they are more
than threads, a slow worker goes through fewer of them."""


@frozen(eq=False)
class Blocks:
    """What workers know of some data.

    Attributes
    ----------
    given : tuple
        The data, so that they are known again.
    client : Client
    data : Data
    blocks : list of Block
        Without what is in them.
    futures : list of Future
        The blocks on workers.
    held : list of list of Future
        What workers hold otherwise, for each block.
    """

    given: tuple[Any, ...]
    client: Client
    data: Data
    ranges: list[range]
    futures: list[Any]
    held: list[list[Any]]

    def are_of(self, client: Client, given: tuple[Any, ...]) -> bool:
        """Tell whether they are of these data, which is asked without computing any."""
        return client is self.client and same(self.given, given)


def same(known: Any, given: Any) -> bool:
    """Tell whether data are the ones that are known already."""
    if known is given:
        return True
    if isinstance(known, (list, tuple)) and isinstance(given, (list, tuple)):
        return len(known) == len(given) and all(map(same, known, given))
    return type(known) is type(given) and isinstance(known, str) and known == given


def large_graphs() -> Any:
    """Let data go to the workers without Dask's warning that they are large."""
    return config.set({"distributed.admin.large-graph-warning-threshold": "1 PB"})


def size_of_blocks(partitions: int, blocks: int) -> int:
    """Give the largest power of two that makes at least as many blocks, if there are as many."""
    size = 1
    while size < partitions and -(-partitions // (2 * size)) >= blocks:
        size *= 2
    return size
