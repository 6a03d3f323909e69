"""Lowering of neural-network functions, which are captured as one call each."""

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tape_ad.programs.engines.native.ir.memory_map import MemRef
from tape_ad.programs.engines.native.lowering.lowering import Lowering, NotLowerable
from tape_ad.programs.engines.native.lowering.stages import Stages, shaped
from tape_ad.programs.program.program import Value
from tape_ad.record.sweeps import all_finite
from tape_ad.rules.nn.cross_entropies import loss_change, loss_of_classes, loss_pulled

__all__ = ["LOWERINGS"]

DOUBLE, INTEGER = np.dtype(np.float64), np.dtype(np.int64)


def floats(stages: Stages, arg: Any) -> MemRef:
    """Give a real operand; integers become floats."""
    ref = stages.lowering.source(arg)
    if ref.dtype.kind == "c" or not ref.shape:
        raise NotLowerable("operands of such shapes and dtypes")
    return ref if ref.dtype.kind == "f" else stages.cast(ref, DOUBLE)


def class_mask(stages: Stages, chosen: Any, shape: tuple[int, ...]) -> MemRef:
    """Mark in each row of logits the one of its class, whose number has been checked before."""
    *_, targets = chosen
    ref = stages.lowering.source(targets)
    if ref.shape != shape[:-1]:
        raise NotLowerable("operands of such shapes and dtypes")
    numbers = stages.lowering.constant(np.arange(shape[-1]))
    column = MemRef(ref.root, ref.offset, (*ref.shape, 1), (*ref.strides, 0), ref.dtype)
    return stages.do(np.equal, stages.cast(column, INTEGER), numbers)


def lower_loss_of_classes(lowering: Lowering) -> None:
    """Lower `loss_of_classes`."""
    stages, (logits, chosen, size) = Stages(lowering), lowering.call.args
    out, e, totals = lowering.outs
    x = floats(stages, logits)
    if type(size) is Value:
        raise NotLowerable("a size that varies")
    shifted = stages.do(np.subtract, x, stages.reduce(np.maximum, x, -1))
    picked = stages.choose(class_mask(stages, chosen, x.shape), shifted, 0)
    total = stages.reduce(np.add, picked, -1)
    stages.do(np.exp, shifted, out=e)
    stages.reduce(np.add, e, -1, out=totals)
    losses = stages.do(np.subtract, stages.do(np.log, totals), total)
    average = stages.do(np.divide, stages.reduce(np.add, losses, None), size)
    stages.cast(shaped(average, ()), out.dtype, out=out)


def lower_loss_pulled(lowering: Lowering) -> None:
    """Lower `loss_pulled`."""
    stages, (ct, e, totals, chosen, scale) = Stages(lowering), lowering.call.args
    e, totals, out = lowering.source(e), lowering.source(totals), lowering.out
    ct = lowering.source(ct)
    ones = (1,) * len(e.shape)
    ct = MemRef(ct.root, ct.offset, ct.shape + ones, ct.strides + (0,) * len(ones), ct.dtype)
    ct = stages.do(np.multiply, ct, stages.ref(scale))
    pulled = stages.do(np.multiply, stages.do(np.divide, ct, totals), e)
    if pulled.dtype != out.dtype:
        raise NotLowerable("operands of such shapes and dtypes")
    less = stages.choose(class_mask(stages, chosen, e.shape), stages.cast(ct, out.dtype), 0)
    stages.do(np.subtract, pulled, less, out=out)


def lower_loss_change(lowering: Lowering) -> None:
    """Lower `loss_change`."""
    stages, (t, e, totals, chosen, scale) = Stages(lowering), lowering.call.args
    t, e, totals, out = *map(lowering.source, (t, e, totals)), lowering.out
    mean = stages.do(np.divide, stages.inner(e, t, (-1,)), totals)
    picked = stages.choose(class_mask(stages, chosen, e.shape), t, 0)
    differences = stages.do(np.subtract, mean, stages.reduce(np.add, picked, -1))
    axes = tuple(range(-len(e.shape), 0))
    total = stages.do(np.multiply, stages.reduce(np.add, differences, axes), stages.ref(scale))
    stages.cast(shaped(total, out.shape), out.dtype, out=out)


def lower_all_finite(lowering: Lowering) -> None:
    """Lower `all_finite`: a sum of squares, or a sum, of each array."""
    stages, (arrays,) = Stages(lowering), lowering.call.args
    total: MemRef | None = None
    for array in arrays:
        ref = lowering.ref(array) if type(array) is Value else None
        if ref is None or ref.dtype.kind != "f":
            raise NotLowerable("operands of such shapes and dtypes")
        squares = stages.do(np.multiply, ref, ref)
        one = stages.do(np.isfinite, shaped(stages.reduce(np.add, squares, None), ()))
        total = one if total is None else stages.do(np.logical_and, total, one)
    if total is None:
        raise NotLowerable("no arrays")
    out = lowering.out
    stages.cast(total, out.dtype, out=out)


FUNCTIONS: Mapping[Any, Callable[[Lowering], None]] = {
    loss_of_classes: lower_loss_of_classes,
    loss_pulled: lower_loss_pulled,
    loss_change: lower_loss_change,
    all_finite: lower_all_finite,
}

LOWERINGS: Mapping[Any, Callable[[Lowering], None]] = {
    captured: lower
    for function, lower in FUNCTIONS.items()
    for captured in (function, inspect.unwrap(function))
}
"""By the functions that are captured: those that others call, or what is within them."""
