"""What workers know of data: blocks of partitions, each of them one task of a step."""

from typing import Any

from attrs import frozen
from dask import config
from distributed import Client

from tape_ad.interop.dask.partitions import Data

__all__ = ["COARSE", "FINE", "Blocks", "large_graphs", "size_of_blocks"]

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
