"""What is computed later than it is called: arrays of Dask's."""

import importlib
from typing import Any

from tape_ad.base.arrays.overridable import is_dask
from tape_ad.base.trees import flatten, unflatten

__all__ = ["computed"]


def computed(tree: Any) -> Any:
    """Compute the arrays of Dask's in a tree, all of them in one graph; leave everything else."""
    leaves = flatten(tree)
    if not any(is_dask(type(leaf)) for leaf in leaves):
        return tree
    dask = importlib.import_module("dask")  # which is here if there are arrays of it
    return unflatten(tree, list(dask.compute(*leaves)))
