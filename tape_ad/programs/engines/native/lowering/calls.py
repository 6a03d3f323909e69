"""The table of lowerings, by function, and the look-up in it."""

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tape_ad.programs.engines.native.codegen.elementwise import operands_of
from tape_ad.programs.engines.native.ir.memory_map import MemoryMap, MemRef
from tape_ad.programs.engines.native.lowering import (
    applying,
    assigning,
    contractions,
    indexing,
    moving,
    products,
    reductions,
    scans,
)
from tape_ad.programs.engines.native.lowering.copying import copy
from tape_ad.programs.engines.native.lowering.lowering import Lowering, NotLowerable, Work, as_ufunc
from tape_ad.programs.engines.out_support import is_c
from tape_ad.programs.passes.inlining import NotInlined, body_of, traced_body
from tape_ad.programs.program.program import Call, Value
from tape_ad.record.sweeps import all_finite

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
}
"""How functions are lowered that are no elementwise ufuncs; each module has a table of its own."""


def sums_are_finite(arrays: Sequence[Any]) -> Any:
    """Tell whether arrays are finite by their sums of squares; see `all_finite`."""
    answers = [np.isfinite(np.add.reduce(each * each, axis=None)) for each in arrays]
    return functools.reduce(np.logical_and, answers)


BODIES: Mapping[Any, Callable[..., Any]] = {all_finite: sums_are_finite}
"""What is lowered by other lines of NumPy than its own."""

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
    elif operands_of(function) is not None:
        applying.composed(lowering)
    else:
        body = BODIES.get(function) or body_of(function)
        if body is None:
            raise NotLowerable("no native code for it")
        lower_body(lowering, body)
    return lowering.work


def lower_body(lowering: Lowering, body: Callable[..., Any]) -> None:
    """Lower a function by the calls of its body, the last of which give the results themselves."""
    call, memory_map = lowering.call, lowering.memory_map
    try:
        calls, results = traced_body(body, call.args, call.kwargs)
    except NotInlined as reason:
        raise NotLowerable(str(reason)) from reason
    outs = lowering.outs
    if len(results) != len(outs):
        raise NotLowerable("a body with other results")
    made = {out for each in calls for out in each.outputs if out.owner is None}
    copies: list[tuple[Value, MemRef]] = []
    for found, out, target in zip(results, call.outputs, outs, strict=True):
        if found.dtype != target.dtype or math.prod(found.shape) != math.prod(out.shape):
            raise NotLowerable("operands of such shapes and dtypes")
        root = found if found.owner is None else found.owner
        is_whole = is_c(found) and is_c(out) and math.prod(root.shape) == math.prod(out.shape)
        if root in made and is_whole:
            made.discard(root)  # which is the memory of one result only
            memory_map.put(root, target.along(root.shape, root.strides))
        else:
            copies.append((found, target))
    for each in calls:
        fixed = (lowering.constant(x).root if type(x) is np.ndarray else x for x in each.args)
        step = Call(each.function, tuple(fixed), each.kwargs, each.outputs)
        if not memory_map.look(step):
            lowering.work += lowered(step, memory_map)
    for found, target in copies:
        copy(lowering, lowering.ref(found), target)
