"""How each call is done natively: the tables of all modules, and what looks there."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tape_ad.programs.engines.native.ir.memory_map import Places
from tape_ad.programs.engines.native.lowering import (
    applying,
    assigning,
    contractions,
    indexing,
    layers,
    moving,
    products,
    reductions,
    scans,
)
from tape_ad.programs.engines.native.lowering.lowering import Lowering, Refusal, Work, as_ufunc
from tape_ad.programs.program.program import Call

__all__ = ["LOWERINGS", "lowered"]

LOWERINGS: Mapping[Any, Callable[[Lowering], None]] = {
    **moving.LOWERINGS,
    **indexing.LOWERINGS,
    **assigning.LOWERINGS,
    **applying.LOWERINGS,
    **reductions.LOWERINGS,
    **products.LOWERINGS,
    **contractions.LOWERINGS,
    **scans.LOWERINGS,
    **layers.LOWERINGS,
}
"""What goes before the way of ufuncs; each module has a table of its own."""

LOUD = frozenset({"raise", "call", "print", "log"})
"""What `numpy.errstate` may ask for that native code does not do."""


def lowered(call: Call, places: Places) -> Sequence[Work]:
    """Find out how a call is done natively.

    Parameters
    ----------
    call : Call
        No view.
    places : Places

    Returns
    -------
    list of Nest, Direct and Question
        To be done in this order.

    Raises
    ------
    Refusal
        NumPy has to do it.
    """
    if call.errors and not LOUD.isdisjoint(call.errors.values()):
        raise Refusal("numpy.errstate asks to be told")
    function, lowering = call.function, Lowering(call, places)
    own = LOWERINGS.get(function) if type(function).__hash__ is not None else None
    if own is not None:
        own(lowering)
    elif type(function) is np.ufunc and function.signature is None:
        as_ufunc(lowering)
    else:
        raise Refusal("no native code for it")
    return lowering.work
