"""How a function of one of a batch is computed for all: one line for each function that is known.

An entry is called as ``entry(batch, function, args, kwargs)`` and gives the results for all, with
the axis of the batch in front. It raises `Looped` where it does not know how, and the function is
called for one after the other then.
"""

from typing import Any

import numpy as np

from tape_ad.batching.basics import Function, Handler
from tape_ad.batching.derived import (
    cast,
    derived,
    filled,
    first_of,
    norm,
    quantiles,
    rolled,
)
from tape_ad.batching.indexing import (
    added,
    counted,
    nonzero,
    scattered,
    searched,
    taken,
    taken_along,
    updated_for_all,
    viewed_in_all,
)
from tape_ad.batching.products import (
    contracted,
    sharing,
    sparse_product,
)
from tape_ad.batching.shapes import (
    broadcast,
    diagonal_matrix,
    expanded,
    joined,
    on_matrices,
    padded,
    ravelled,
    reshaped,
    spaced,
    squeezed,
    tiled,
    transposed,
)
from tape_ad.rules import RULES, entry_of
from tape_ad.rules.maps.indexing import added_at, scatter
from tape_ad.rules.numpy.building import filled_like, geomspace, linspace
from tape_ad.rules.numpy.einsum import contract
from tape_ad.rules.numpy.updates import updated, viewed
from tape_ad.rules.sparse_products import matmul_sparse, sparse_matmul

HANDLERS: dict[Any, Handler] = {
    **dict.fromkeys((np.zeros_like, np.ones_like, np.empty_like, filled_like), filled),
    **dict.fromkeys((np.quantile, np.percentile, np.nanquantile, np.nanpercentile), quantiles),
    np.astype: cast,
    np.nonzero: nonzero,
    np.roll: rolled,
    np.reshape: reshaped,
    np.ravel: ravelled,
    np.transpose: transposed,
    np.expand_dims: expanded,
    np.squeeze: squeezed,
    np.broadcast_to: broadcast,
    np.diagonal: on_matrices,
    np.diag: diagonal_matrix,
    np.tile: tiled,
    np.pad: padded,
    np.concatenate: joined,
    np.stack: joined,
    **dict.fromkeys((linspace, geomspace), spaced),
    np.take: taken,
    np.take_along_axis: taken_along,
    np.searchsorted: searched,
    np.bincount: counted,
    updated: updated_for_all,
    viewed: viewed_in_all,
    scatter: scattered,
    added_at: added,
    contract: contracted,
    np.may_share_memory: sharing,
    np.linalg.norm: norm,
    sparse_matmul: sparse_product,
    matmul_sparse: sparse_product,
}

KNOWN: dict[Any, Handler] = {}
"""The handlers of the table, and those that have been derived."""


def handler_of(function: Function) -> Handler | None:
    """Find how a function is computed for all; None if neither table nor facts say it."""
    handler = KNOWN.get(function)
    if handler is None:
        handler = derived(function, entry_of(function).facts)
        own = HANDLERS.get(function)
        if own is not None:
            handler = own if handler is None else first_of(own, handler)
        if handler is not None and function in RULES:
            KNOWN[function] = handler
    return handler
