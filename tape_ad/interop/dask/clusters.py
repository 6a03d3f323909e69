"""The cluster that steps run on: one that is there, or a local one for as long as it is needed."""

import logging
import tempfile
import weakref
from typing import Any

from attrs import define, field
from distributed import Client, LocalCluster

from tape_ad.errors import ClusterError

__all__ = ["AGAIN", "Workers", "dashboard_of"]

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
