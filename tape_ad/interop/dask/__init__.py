"""Gradients of a mean or a sum over data that lie on many workers, by Dask.

`value_and_grad` takes Dask's collections, tasks or files for the data, and computes on the workers
what one process would: each partition has a record of its own, the gradients are added on the
workers in an order that depends on nothing but the number of partitions, and one gradient comes
back. See docs/distributed.md. Dask is needed: pip install 'tape-ad[distributed]'.
"""

import typing as _typing

from tape_ad.extend.packages import extra as _extra
from tape_ad.extend.packages import listed as _listed

try:
    import distributed as _  # noqa: F401 - the modules below need it, and only they
except ImportError:

    def __getattr__(name: str) -> _typing.Any:
        """Say which extra has what is not here."""
        if name not in __all__:
            raise AttributeError(f"module 'tape_ad.interop.dask' has no attribute {name!r}")
        with _extra("distributed", f"tape_ad.interop.dask.{name}"):
            raise ImportError(name)

else:
    from tape_ad.interop.dask.steps import Distributed, value_and_grad

__all__ = ["Distributed", "value_and_grad"]
__dir__ = _listed(__all__)
