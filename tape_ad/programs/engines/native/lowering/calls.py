"""The table of lowerings, by function, and the look-up in it."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tape_ad.programs.engines.native.ir.memory_map import MemoryMap
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
from tape_ad.programs.engines.native.lowering.lowering import Lowering, NotLowerable, Work, as_ufunc
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
"""How functions are lowered that are no elementwise ufuncs; each module has a table of its own."""

LOUD = frozenset({"raise", "call", "print", "log"})
"""What `numpy.errstate` may ask for that native code does not do."""


def lowered(call: Call, memory_map: MemoryMap) -> Sequence[Work]:
    """Lower a call to loop nests, external calls and runtime checks.

    Parameters
    ----------
    call : Call
        No view.
    memory_map : MemoryMap

    Returns
    -------
    list of LoopNest, ExternalCall and RuntimeCheck
        To be done in this order.

    Raises
    ------
    NotLowerable
        NumPy has to do it.
    """
    if call.errors and not LOUD.isdisjoint(call.errors.values()):
        raise NotLowerable("numpy.errstate asks to be told")
    function, lowering = call.function, Lowering(call, memory_map)
    own = LOWERINGS.get(function) if type(function).__hash__ is not None else None
    if own is not None:
        own(lowering)
    elif type(function) is np.ufunc and function.signature is None:
        as_ufunc(lowering)
    else:
        raise NotLowerable("no native code for it")
    return lowering.work
