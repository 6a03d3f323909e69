"""Lowering of neural-network functions, which are captured as one call each."""

import inspect
import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tape_ad.programs.engines.native.ir.memory_map import MemRef
from tape_ad.programs.engines.native.lowering.lowering import Lowering, NotLowerable
from tape_ad.programs.engines.native.lowering.stages import Stages, shaped
from tape_ad.programs.program.program import Value
from tape_ad.record.sweeps import all_finite
from tape_ad.rules.nn.activations import (
    exponentials,
    log_softmax,
    log_softmax_change,
    log_softmax_pulled,
    logsumexp,
    softmax,
    softmax_change,
)
from tape_ad.rules.nn.cross_entropies import loss_change, loss_of_classes, loss_pulled
from tape_ad.rules.nn.normalization import normalized, standardized, standardized_change
from tape_ad.rules.nn.steps import inner

__all__ = ["LOWERINGS"]

DOUBLE, INTEGER = np.dtype(np.float64), np.dtype(np.int64)


def floats(stages: Stages, arg: Any) -> MemRef:
    """Give a real operand; integers become floats."""
    ref = stages.lowering.source(arg)
    if ref.dtype.kind == "c" or not ref.shape:
        raise NotLowerable("operands of such shapes and dtypes")
    return ref if ref.dtype.kind == "f" else stages.cast(ref, DOUBLE)


def lower_softmax(lowering: Lowering) -> None:
    """Lower `softmax`."""
    stages, found = Stages(lowering), lowering.options("x", "axis")
    x, axis = floats(stages, found["x"]), found.get("axis", -1)
    e = stages.do(np.exp, stages.do(np.subtract, x, stages.reduce(np.maximum, x, axis)))
    stages.do(np.divide, e, stages.reduce(np.add, e, axis), out=lowering.out)


def lower_log_softmax(lowering: Lowering) -> None:
    """Lower `log_softmax`."""
    stages, found = Stages(lowering), lowering.options("x", "axis")
    x, axis = floats(stages, found["x"]), found.get("axis", -1)
    shifted = stages.do(np.subtract, x, stages.reduce(np.maximum, x, axis))
    totals = stages.reduce(np.add, stages.do(np.exp, shifted), axis)
    stages.do(np.subtract, shifted, stages.do(np.log, totals), out=lowering.out)


def lower_exponentials(lowering: Lowering) -> None:
    """Lower `exponentials`."""
    lower_exponentials_to(lowering, *lowering.outs)


def lower_logsumexp(lowering: Lowering) -> None:
    """Lower `logsumexp`."""
    lower_exponentials_to(lowering, lowering.out)


def lower_exponentials_to(
    lowering: Lowering, out: MemRef, e: MemRef | None = None, totals: MemRef | None = None
) -> None:
    """Lower `exponentials`, of which only the first result may be wanted."""
    stages, found = Stages(lowering), lowering.options("x", "axis", "keepdims")
    x, axis = floats(stages, found["x"]), found.get("axis")
    top = stages.reduce(np.maximum, x, axis)
    finite = stages.choose(stages.do(np.isfinite, top), top, 0)
    e = stages.do(np.exp, stages.do(np.subtract, x, finite), out=e)
    totals = stages.reduce(np.add, e, axis, out=totals)
    result = stages.do(np.add, stages.do(np.log, totals), top)
    stages.cast(shaped(result, out.shape), out.dtype, out=out)


def lower_softmax_change(lowering: Lowering) -> None:
    """Lower `softmax_change`."""
    stages, (t, p, axes) = Stages(lowering), lowering.call.args
    t, p = lowering.source(t), lowering.source(p)
    rest = stages.do(np.subtract, t, stages.inner(p, t, axes))
    stages.do(np.multiply, rest, p, out=lowering.out)


def lower_log_softmax_change(lowering: Lowering) -> None:
    """Lower `log_softmax_change`."""
    stages, (t, p, axes) = Stages(lowering), lowering.call.args
    t, p = lowering.source(t), lowering.source(p)
    stages.do(np.subtract, t, stages.inner(p, t, axes), out=lowering.out)


def lower_log_softmax_pulled(lowering: Lowering) -> None:
    """Lower `log_softmax_pulled`."""
    stages, (ct, p, axes) = Stages(lowering), lowering.call.args
    ct, p = lowering.source(ct), lowering.source(p)
    shared = stages.do(np.multiply, p, stages.reduce(np.add, ct, axes))
    stages.do(np.subtract, ct, shared, out=lowering.out)


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


def lower_standardized_to(
    stages: Stages, x: Any, axes: Any, eps: Any, out: MemRef, divisor: MemRef
) -> None:
    """Lower `standardized`."""
    ref = stages.lowering.source(x)
    if ref.dtype.kind != "f":
        raise NotLowerable("operands of such shapes and dtypes")
    centred = stages.do(np.subtract, ref, stages.average(ref, axes))
    squares = stages.do(np.multiply, centred, centred)
    variance = stages.do(np.add, stages.average(squares, axes), stages.ref(eps))
    stages.do(np.sqrt, variance, out=divisor)
    stages.do(np.divide, centred, divisor, out=out)


def lower_standardized(lowering: Lowering) -> None:
    """Lower `standardized`."""
    x, axes, eps = lowering.call.args
    lower_standardized_to(Stages(lowering), x, axes, eps, *lowering.outs)


def lower_normalized(lowering: Lowering) -> None:
    """Lower `normalized`."""
    stages, (x, weight, bias, axes, eps) = Stages(lowering), lowering.call.args
    out, y, divisor = lowering.outs
    lower_standardized_to(stages, x, axes, eps, y, divisor)
    scaled = stages.do(np.multiply, y, lowering.source(weight))
    stages.do(np.add, scaled, lowering.source(bias), out=out)


def lower_standardized_change(lowering: Lowering) -> None:
    """Lower `standardized_change`."""
    stages, (t, y, divisor, axes) = Stages(lowering), lowering.call.args
    t, y, divisor = map(lowering.source, (t, y, divisor))
    count = math.prod(t.shape[axis] for axis in axes)
    average = stages.do(np.divide, stages.inner(y, t, axes), count)
    along = stages.do(np.multiply, y, average)
    along = stages.do(np.add, along, stages.average(t, axes))
    stages.do(np.divide, stages.do(np.subtract, t, along), divisor, out=lowering.out)


def lower_inner(lowering: Lowering) -> None:
    """Lower `inner`."""
    stages, (x, y, axes) = Stages(lowering), lowering.call.args
    x, y = lowering.source(x), lowering.source(y)
    if "c" in x.dtype.kind + y.dtype.kind:
        raise NotLowerable("operands of such shapes and dtypes")
    stages.reduce(np.add, stages.do(np.multiply, x, y), tuple(axes), out=lowering.out)


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
    softmax: lower_softmax,
    log_softmax: lower_log_softmax,
    exponentials: lower_exponentials,
    logsumexp: lower_logsumexp,
    softmax_change: lower_softmax_change,
    log_softmax_change: lower_log_softmax_change,
    log_softmax_pulled: lower_log_softmax_pulled,
    loss_of_classes: lower_loss_of_classes,
    loss_pulled: lower_loss_pulled,
    loss_change: lower_loss_change,
    standardized: lower_standardized,
    normalized: lower_normalized,
    standardized_change: lower_standardized_change,
    inner: lower_inner,
    all_finite: lower_all_finite,
}

LOWERINGS: Mapping[Any, Callable[[Lowering], None]] = {
    captured: lower
    for function, lower in FUNCTIONS.items()
    for captured in (function, inspect.unwrap(function))
}
"""By the functions that are captured: those that others call, or what is within them."""
