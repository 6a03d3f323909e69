"""Dask arrays below records: what is called on their handles becomes a part of Dask's graph."""

from tape_ad.interop.dask.lazy import calls  # noqa: F401 - which says how arrays answer
from tape_ad.interop.dask.lazy.arrays import LazyArray, operand

__all__ = ["LazyArray", "operand"]
