"""Values and gradients over distributed data, one step after the other."""

import itertools
import logging
import tempfile
import time
import uuid
import warnings
import weakref
from collections.abc import Callable
from concurrent.futures import CancelledError
from typing import Any, Literal, Self

import numpy as np
from attrs import define, field
from distributed import Client, KilledWorker, LocalCluster
from distributed import TimeoutError as TakesLong

from tape_ad.errors import ClusterError, PartitionError
from tape_ad.extend.solvers import check_callable
from tape_ad.extend.trees import flatten, unflatten
from tape_ad.interop.dask.adding import Failure, Sum
from tape_ad.interop.dask.partitions import (
    COARSE,
    FINE,
    Blocks,
    Data,
    data_of,
    large_graphs,
    size_of_blocks,
)
from tape_ad.interop.dask.working import Block, Sent, add_up, as_it_is, gradient_of_block, opened

AGAIN = "make a new one, and go on from the last checkpoint"


@define(eq=False)
class Workers:
    """A client: the current one of the program's, or one of a local cluster.

    Attributes
    ----------
    own : Client, optional
        That of the local cluster, which is closed by `close` or at the end of the program.
    found : bool
        Whether there was a current client. When it is lost, what it computed is not gone on with on
        this machine alone.
    """

    own: Any = None
    found: bool = False
    _closing: Any = field(default=None, init=False)

    def client(self) -> Any:
        """Give the client, after starting a cluster if there is none.

        Raises
        ------
        ClusterError
            When the current client has lost its scheduler.
        """
        if self.own is not None:
            self.replace()
            return self.own
        try:
            client = Client.current()
        except ValueError:
            if self.found:
                raise ClusterError(f"Dask's client is gone: {AGAIN}") from None
            return self.start()
        self.found = True
        if client.status != "running":
            raise ClusterError(f"Dask's client is {client.status}: {AGAIN}")
        return client

    def start(self) -> Any:
        """Start a process for each core."""
        folder = tempfile.TemporaryDirectory(prefix="tape_ad-")
        cluster = LocalCluster(
            threads_per_worker=1,
            dashboard_address="localhost:0",  # whichever port is free, on this machine alone
            local_directory=folder.name,
            silence_logs=logging.ERROR,
        )
        self.own = Client(cluster, set_as_default=False)
        self._closing = weakref.finalize(self, closed, self.own, cluster, folder)
        return self.own

    def replace(self) -> None:
        """Start workers in the local cluster for those that Dask has given up.

        It does so with one that is not back within ``distributed.deploy.lost-worker-timeout``.
        """
        if self.own is not None:
            cluster = self.own.cluster
            if len(cluster.workers) < len(cluster.worker_spec):
                cluster.scale(len(cluster.worker_spec))

    def close(self) -> None:
        """End the processes that were started, if there are any."""
        if self._closing is not None:
            self._closing()
        self.own = self._closing = None


def closed(client: Client, cluster: LocalCluster, folder: Any) -> None:
    """End a cluster, in its order."""
    client.close()
    cluster.close()
    folder.cleanup()


def dashboard_of(client: Client) -> str | None:
    """Give the address of the dashboard, if the scheduler has one."""
    services = client.scheduler_info().get("services", {})
    return client.dashboard_link if "dashboard" in services else None


LONG = 0.2
"""How many seconds a long step takes."""

TOGETHER = 8
"""How many sums one task adds. A power of two, so that the tree is the same."""

SMALL = 2**16
"""How many bytes of parameters go along with each task, instead of as a task of their own."""

ATTEMPTS = 4
"""How often a step is tried, where workers lose what only the client has."""

PATIENCE = 20.0
"""After how many seconds the client looks whether there are any workers."""

LOOKS = 3
"""How many times it looks again, where there is none; a busy machine takes long to start one."""

REMEMBERED = 4
"""How many tuples of data have their blocks on workers."""


def value_and_grad(
    loss: Callable[..., Any],
    reduce: Literal["mean", "sum"] = "mean",
    has_aux: bool = False,
    *,
    columns: Callable[..., Any] | None = None,
    keep: bool = False,
    compile: bool = False,  # noqa: A002 - named as ta.compile is
) -> "Distributed":
    """Make the function that computes a loss over distributed data and its gradient together.

    Parameters
    ----------
    loss : callable
        ``loss(params, *arrays)``, written in NumPy, of the parameters and one partition of the
        data. It returns one real number: the mean over the rows it is given, or their sum.
    reduce : {"mean", "sum"}
        What the losses of partitions make: their mean, each counting as often as it has rows, or
        their sum. A partition without rows is passed over.
    has_aux : bool
        Whether `loss` returns a pair, of the number and of anything else that can be pickled.
    columns : callable, optional
        What makes the argument of `loss` out of a part of a data frame: an array, or a tree of
        them. Data frames need one.
    keep : bool
        Whether workers keep the partitions that they have read or computed. Without it each step
        reads them again, so that data may be larger than all memory.
    compile : bool
        Whether each worker compiles the loss and its gradient by `tape_ad.compile`, and keeps them.

    Returns
    -------
    Distributed
        ``step(params, *data)`` computes the value and the gradient.

    Raises
    ------
    ImportError
        When Dask is not installed.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> client = Client(processes=False, dashboard_address=":0")
    >>> x = da.arange(10.0, chunks=4)
    >>> step = value_and_grad(lambda p, x: np.mean((x - p["a"]) ** 2))
    >>> step({"a": np.array(4.0)}, x)
    (np.float64(8.5), {'a': array(-1.)})
    >>> client.close()
    """
    check_callable("distributed.value_and_grad", loss)
    if columns is not None and not callable(columns):
        raise TypeError(f"columns is a function of a frame, or None, and not {columns!r}")
    if reduce not in {"mean", "sum"}:
        raise ValueError(f"reduce is 'mean' or 'sum', not {reduce!r}")
    return Distributed(loss, reduce, bool(has_aux), columns, bool(keep), bool(compile))


@define(eq=False)
class Distributed:
    """A loss over distributed data; call it for its value and its gradient.

    It uses the current client of Dask's. Where there is none, it starts a local cluster with a
    process for each core, which ends with ``close()``, with a ``with`` statement around its use, or
    with the program.

    Attributes
    ----------
    loss, reduce, has_aux, columns, keep, compile
        As `value_and_grad` takes them.
    """

    loss: Callable[..., Any]
    reduce: str = "mean"
    has_aux: bool = False
    columns: Callable[..., Any] | None = None
    keep: bool = False
    compile: bool = False
    _workers: Workers = field(factory=Workers, init=False)
    _known: list[Blocks] = field(factory=list, init=False)
    _long: bool = field(default=False, init=False)
    _warm: bool = field(default=False, init=False)
    _token: str = field(factory=lambda: uuid.uuid4().hex, init=False)
    _steps: Any = field(factory=itertools.count, init=False)

    def __call__(self, params: Any, *data: Any) -> tuple[Any, Any]:
        """Compute the value and the gradient.

        Parameters
        ----------
        params : array or tree
        *data : dask.array, dask.dataframe or dask.bag, list of Delayed or of Future, or path
            Each is divided into as many partitions: arrays into their chunks of rows, files of
            .npy and Parquet into files (a list, or a pattern such as ``"x-*.npy"``), a Zarr array
            into its chunks.

        Returns
        -------
        value : float, or pair of it and list
            With `has_aux`, the list has what the loss gave besides, or None for a partition
            without rows.
        gradient : array or tree
            It has the structure of `params`. The arrays are read-only.

        Raises
        ------
        PartitionError
            When the loss fails on a partition, or that cannot be read. It names the partition, has
            the traceback in its text and the exception for its cause.
        ClusterError
            When there is no scheduler or no worker left.
        ValueError, TypeError
            When the data are not divided, or not alike.

        Warns
        -----
        RuntimeWarning
            When the loss or its gradient is nan on a partition, which it names.
        """
        client = self._workers.client()
        size = None
        for attempt in range(ATTEMPTS):
            blocks = self._blocks(client, data, size)
            start = time.perf_counter()
            try:
                total = self._total(client, blocks, params)
            except KilledWorker as error:
                self._known.clear()
                found = self._range(blocks, error)
                if attempt + 1 == ATTEMPTS or (found is not None and len(found) == 1):
                    raise self._killed(blocks, found, error) from error
                if found is not None:
                    size = 1  # so that the error names one partition
                # else Dask counts, for tasks that stay, all workers that were ever lost with them
            except CancelledError as error:
                self._known.clear()  # a worker had what nobody can make again
                if attempt + 1 == ATTEMPTS or client.status != "running":
                    raise self._lost(client, blocks) from error
            else:
                if size is not None:
                    self._known.clear()  # these were to find a fault with
                self._look(time.perf_counter() - start)
                return self._result(total, blocks, params)
        raise AssertionError("every attempt returns or raises")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Let workers forget the data, and end the local cluster, if one was started."""
        self._known.clear()
        self._workers.close()

    @property
    def dashboard(self) -> str | None:
        """The address of Dask's dashboard, where the scheduler has one."""
        return dashboard_of(self._workers.client())

    def _blocks(self, client: Client, given: tuple[Any, ...], size: int | None) -> Blocks:
        """Give what workers know of these data, after telling them."""
        for blocks in self._known if size is None else []:
            if blocks.are_of(client, given):
                return blocks
        data = data_of(given, self.columns, client)
        if size is None:
            threads = sum(client.nthreads().values())
            held = data.placed and not self.keep
            wanted = max(threads, 1) * (FINE if self._long and not self.keep else COARSE)
            size = 1 if held else size_of_blocks(len(data.partitions), wanted)
        made = self._placed(client, given, data, size)
        self._known = [made, *self._known[: REMEMBERED - 1]]
        return made

    def _look(self, seconds: float) -> None:
        """Have more blocks from the next step on, if this one was long; the sum has the same bits.

        What workers keep stays where it is.
        """
        if seconds > LONG and self._warm and not self._long:
            self._long = True
            if not self.keep:
                self._known.clear()
        self._warm = True  # the first has workers import what they need

    def _placed(self, client: Client, given: tuple[Any, ...], data: Data, size: int) -> Blocks:
        name = uuid.uuid4().hex
        ranges, futures, held = [], [], []
        for first in range(0, len(data.partitions), size):
            partitions = tuple(data.partitions[first : first + size])
            block = Block(
                self._token,
                self.loss,
                self.has_aux,
                self.reduce == "mean",
                self.compile,
                self.columns,
                first,
                partitions,
            )
            needs = [data.futures[key] for part in partitions for key in part.held]
            with large_graphs():
                future = client.submit(as_it_is, block, key=f"partitions-{name}-{first}")
            if self.keep:
                future = client.submit(opened, future, *needs, key=f"kept-{name}-{first}")
                needs = []
            ranges.append(range(first, first + len(partitions)))
            futures.append(future)
            held.append(needs)
        return Blocks(given, client, data, ranges, futures, held)

    def _total(self, client: Client, blocks: Blocks, params: Any) -> Sum:
        """Compute the sum over all partitions, on the workers."""
        name = f"{self._token}-{next(self._steps)}"
        sent: Any = Sent(params)
        if sum(getattr(leaf, "nbytes", 0) for leaf in flatten(params)) > SMALL:
            with large_graphs():
                sent = client.submit(as_it_is, sent, key=f"params-{name}")
        sums = [
            client.submit(gradient_of_block, block, sent, *held, key=f"gradient-{name}-{place}")
            for place, (block, held) in enumerate(zip(blocks.futures, blocks.held, strict=True))
        ]
        level = 0
        while len(sums) > 1:
            groups = [sums[i : i + TOGETHER] for i in range(0, len(sums), TOGETHER)]
            sums = [
                client.submit(add_up, *group, key=f"sum-{name}-{level}-{place}")
                for place, group in enumerate(groups)
            ]
            level += 1
        total: Sum = self._gathered(client, sums[0])
        return total

    def _gathered(self, client: Client, future: Any) -> Any:
        """Wait for a result, as long as there is anybody to compute it."""
        looks = 0
        while True:
            try:
                return future.result(timeout=PATIENCE)
            except TakesLong:
                if client.status != "running":
                    raise CancelledError(future.key) from None
                self._workers.replace()
                looks = 0 if client.nthreads() else looks + 1
                if looks > LOOKS:
                    raise ClusterError(
                        f"there has been no worker for {LOOKS * PATIENCE:.0f} seconds"
                    ) from None
            except KeyboardInterrupt:
                client.cancel([future])
                raise

    def _range(self, blocks: Blocks, error: KilledWorker) -> range | None:
        """Tell which block workers were killed by, from the name of its task."""
        kind, _, rest = str(error.task).partition("-")
        return blocks.ranges[int(rest.rsplit("-", 1)[1])] if kind == "gradient" else None

    def _killed(self, blocks: Blocks, found: range | None, error: KilledWorker) -> PartitionError:
        if found is None:
            where = f"the task {error.task!r}, which partitions are made of"
        elif len(found) == 1:
            where = self._name(blocks, found[0])
        else:
            where = f"partitions {found[0]} to {found[-1]} of {len(blocks.data.partitions)}"
        return PartitionError(
            f"{error.allowed_failures + 1} workers in a row were killed while they computed "
            f"{where}; if they were short of memory, make smaller partitions"
        )

    def _lost(self, client: Client, blocks: Blocks) -> ClusterError | PartitionError:
        """Make the error of a step that was lost again and again, by a partition if one is gone."""
        if client.status != "running":
            return ClusterError(f"the client has lost its scheduler: {AGAIN}")
        gone = {key for key, future in blocks.data.futures.items() if future.cancelled()}
        for number, partition in enumerate(blocks.data.partitions):
            if not gone.isdisjoint(partition.held):
                return PartitionError(
                    f"{self._name(blocks, number)} was held by a worker that is gone, and Dask "
                    "cannot make it again: give data as tasks or files, which it can"
                )
        return ClusterError(f"the workers have lost a step {ATTEMPTS} times: {AGAIN}")

    def _name(self, blocks: Blocks, number: int) -> str:
        partitions = blocks.data.partitions
        return f"partition {number} of {len(partitions)} ({partitions[number].name})"

    def _result(self, total: Sum, blocks: Blocks, params: Any) -> tuple[Any, Any]:
        """Make of a sum what the caller gets, or the error."""
        count = len(blocks.data.partitions)
        if (total.first, total.stop) != (0, count):
            raise RuntimeError(f"{total.stop - total.first} of {count} partitions were counted")
        if total.failure is not None:
            raise self._error(blocks, total.failure) from total.failure.error
        if total.slopes is None:
            raise ValueError("the data have no rows in any partition")
        if total.nan:
            self._warn_of_nan(blocks, total.nan)
        divisor = total.weight if self.reduce == "mean" else 1.0
        value = total.dtype.type(total.value / divisor)
        leaves = [
            slope_of(slope, divisor, leaf)
            for slope, leaf in zip(total.slopes, flatten(params), strict=True)
        ]
        aux = [total.aux.get(number) for number in range(count)]
        return (value, aux) if self.has_aux else value, unflatten(params, leaves)

    def _error(self, blocks: Blocks, failure: Failure) -> PartitionError:
        name = self._name(blocks, failure.partition)
        return PartitionError(f"{failure.doing} {name} failed on a worker:\n\n{failure.text}")

    def _warn_of_nan(self, blocks: Blocks, found: tuple[tuple[int, str], ...]) -> None:
        number, what = found[0]
        others = f", and on {len(found) - 1} others" if len(found) > 1 else ""
        warnings.warn(
            f"the {what} is nan on {self._name(blocks, number)}{others}",
            RuntimeWarning,
            stacklevel=4,
        )


def slope_of(slope: Any, divisor: float, leaf: Any) -> Any:
    """Give the gradient of a mean, in the precision of its array, not to be written to."""
    if not isinstance(slope, (np.ndarray, np.generic)):
        return slope
    mean = np.asarray(slope)
    mean = np.asarray(mean / divisor) if divisor != 1 else mean
    dtype = getattr(leaf, "dtype", mean.dtype)
    if dtype == np.float16:  # which was added up in single precision
        mean = mean.astype(dtype)
    mean = mean.view()
    mean.setflags(write=False)
    return mean
