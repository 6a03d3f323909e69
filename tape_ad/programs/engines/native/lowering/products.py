"""Products of matrices and vectors, by NumPy's own loops, which call BLAS."""

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tape_ad.programs.engines.native.codegen.unit_rows import row_selecting_product
from tape_ad.programs.engines.native.ir.iteration_space import iteration_space
from tape_ad.programs.engines.native.ir.loop_nests import (
    Callee,
    ExternalCall,
    Literal,
    RuntimeCheck,
)
from tape_ad.programs.engines.native.ir.memory_map import SIMPLE, MemRef
from tape_ad.programs.engines.native.lowering.lowering import (
    Lowering,
    NotLowerable,
)
from tape_ad.programs.engines.native.lowering.reductions import brought_together, ended
from tape_ad.programs.engines.native.runtime.inner_loops import inner_loop
from tape_ad.programs.passes.inlining import kind_of, resolved
from tape_ad.programs.program.program import Value
from tape_ad.record.spaces import times_ones
from tape_ad.rules.maps.matrix_products import scaled_rows, times_matrix
from tape_ad.rules.nn.affine import linear, two_linear

__all__ = ["LOWERINGS", "converted", "moved", "multiplied", "product_of", "with_axis"]

MANY = 128
"""Up to how many calls of BLAS's are written for stacks that lie so that one does not do."""

CORES: dict[Any, tuple[str, str, str]] = {
    np.matmul: ("nk", "km", "nm"),
    np.vecdot: ("n", "n", ""),
    **{
        getattr(np, name): core
        for name, core in {"matvec": ("mn", "n", "m"), "vecmat": ("n", "nm", "m")}.items()
        if hasattr(np, name)
    },
}
"""The axes that a product goes over, of its operands and of its result."""

BOOL = np.dtype(bool)


def as_product(lowering: Lowering) -> None:
    """Do what one of NumPy's generalized ufuncs does."""
    call = lowering.call
    ufunc: Any = call.function
    if call.kwargs or len(call.args) != ufunc.nin:
        raise NotLowerable("it has options")
    x, y = call.args
    product_of(lowering, ufunc, x, y, lowering.out)


def product_of(lowering: Lowering, ufunc: np.ufunc, x: Any, y: Any, out: MemRef) -> None:
    """Multiply two operands of a call."""
    dtypes = resolved(ufunc, (kind_of(x), kind_of(y)))
    if dtypes is None or dtypes[-1] != out.dtype:
        raise NotLowerable("of such dtypes")
    operands = [
        converted(lowering, lowering.source(arg), dtype)
        for arg, dtype in zip((x, y), dtypes, strict=False)
    ]
    multiplied(lowering, ufunc, operands, out)


def converted(lowering: Lowering, ref: MemRef, dtype: np.dtype[Any]) -> MemRef:
    """Give elements the dtype and the strides that NumPy's loops take; keep the axes' order."""
    if ref.dtype == dtype and not any(stride % dtype.alignment for stride in ref.strides):
        return ref
    order = sorted(range(len(ref.shape)), key=lambda axis: -abs(ref.strides[axis]))
    packed = lowering.temporary(tuple(ref.shape[axis] for axis in order), dtype)
    strides = [0] * len(order)
    for axis, stride in zip(order, packed.strides, strict=True):
        strides[axis] = stride
    target = MemRef(packed.root, 0, ref.shape, tuple(strides), dtype)
    nest = lowering.nest(ref.shape)
    nest.write(nest.read(ref), target)
    return target


def multiplied(
    lowering: Lowering, ufunc: np.ufunc, operands: Sequence[MemRef], out: MemRef
) -> None:
    """Multiply what is in memory, whose dtypes are those of the loop.

    Parameters
    ----------
    lowering : Lowering
    ufunc : numpy.ufunc
        One of `CORES`.
    operands : sequence of MemRef
    out : MemRef
    """
    refs = stacked(ufunc, operands, out)
    if ufunc is np.matmul and refs[0].shape[-1] == 1 and out.dtype.kind != "c":
        by_elements(lowering, *refs)
        return
    dtypes = tuple(ref.dtype for ref in refs)
    loop = inner_loop(ufunc, dtypes)
    if loop is None or not all(dtype.char in SIMPLE for dtype in dtypes):
        raise NotLowerable("a product of such dtypes")
    sizes: dict[str, int] = {}
    core: list[int] = []
    for ref, names in zip(refs, CORES[ufunc], strict=True):
        last = len(ref.shape) - len(names)
        for name, length, stride in zip(names, ref.shape[last:], ref.strides[last:], strict=True):
            sizes[name] = length
            core.append(stride if length > 1 else 0)  # as NumPy has it
    stack = refs[-1].shape[: len(refs[-1].shape) - len(CORES[ufunc][-1])]
    space = iteration_space(stack, [ref.strides[: len(stack)] for ref in refs])
    if math.prod(space.dims) > MANY:
        raise NotLowerable("a stack of matrices that do not lie in a row")
    for key in np.ndindex(*space.dims):
        parts = [moved(ref, key, strides) for ref, strides in zip(refs, space.outer, strict=True)]
        lowering.work.append(
            ExternalCall(
                loop,
                parts[:-1],
                parts[-1:],
                (space.length, *sizes.values()),
                (*space.steps, *core),
                cost=space.length * math.prod(sizes.values()) // 4,
            )
        )


def stacked(ufunc: np.ufunc, operands: Sequence[MemRef], out: MemRef) -> list[MemRef]:
    """Give all operands the axes of matrices, and those of the result before them."""
    cores = CORES[ufunc]
    refs = [*operands, out]
    if ufunc is np.matmul:  # which takes vectors too
        vectors = [len(ref.shape) == 1 for ref in operands]
        if vectors[0]:
            refs[0] = with_axis(refs[0], 0)
            refs[2] = with_axis(refs[2], len(refs[2].shape) - (not vectors[1]))
        if vectors[1]:
            refs[1] = with_axis(refs[1], 1)
            refs[2] = with_axis(refs[2], len(refs[2].shape))
    stack = refs[2].shape[: len(refs[2].shape) - len(cores[2])]
    return [
        ref.broadcast((*stack, *ref.shape[len(ref.shape) - len(core) :]))
        for ref, core in zip(refs, cores, strict=True)
    ]


def with_axis(ref: MemRef, axis: int, length: int = 1, stride: int = 0) -> MemRef:
    """Insert an axis, by default of one element."""
    shape, strides = list(ref.shape), list(ref.strides)
    shape.insert(axis, length)
    strides.insert(axis, stride)
    return MemRef(ref.root, ref.offset, tuple(shape), tuple(strides), ref.dtype)


def selected_rows_product(lowering: Lowering) -> None:
    """Lower `times_matrix`, which tests first whether it only selects and scales rows."""
    call = lowering.call
    if call.kwargs or len(call.args) != 2:
        raise NotLowerable("it has options")
    refs = [*map(lowering.source, call.args), lowering.out]
    product_of(lowering, np.matmul, *call.args, lowering.out)
    plain = len({ref.dtype for ref in refs}) == 1 and refs[2].dtype.kind == "f"
    last = lowering.work[-1]
    if len(refs[1].shape) != 2:
        return  # these are never only picked
    if not plain or not isinstance(last, ExternalCall):
        raise NotLowerable("a product of such operands")
    address = last.callee.function
    assert isinstance(address, int)  # noqa: S101 - for mypy: it is NumPy's loop
    selecting = row_selecting_product(last.writes[0].dtype)
    last.callee = Callee(selecting, address, "times_matrix")


def moved(ref: MemRef, key: Sequence[int], strides: Sequence[int]) -> MemRef:
    """Give the memory reference at one iteration."""
    offset = sum(i * stride for i, stride in zip(key, strides, strict=True))
    return MemRef(ref.root, ref.offset + offset, ref.shape, ref.strides, ref.dtype)


def by_elements(lowering: Lowering, x: MemRef, y: MemRef, out: MemRef) -> None:
    """Multiply columns with rows, each pair of elements once.

    A product of matrices adds each to 0, after which no zero is negative.
    """
    nest = lowering.nest(out.shape)
    kinds = [out.dtype] * 3
    product = nest.op(
        np.multiply, kinds, *(nest.read(each.broadcast(out.shape)) for each in (x, y))
    )
    if out.dtype.kind in "fc":
        product = nest.op(np.add, kinds, product, Literal.of(0, out.dtype))
    nest.write(product, out)


def as_dot(lowering: Lowering) -> None:
    """Do what `numpy.dot` does."""
    found = lowering.options("a", "b")
    x, y = lowering.source(found["a"]), lowering.source(found["b"])
    if not x.shape or not y.shape or (len(y.shape) > 2 and len(x.shape) > 1):
        raise NotLowerable("a product of such arrays")
    product_of(lowering, np.matmul, found["a"], found["b"], lowering.out)


def as_outer(lowering: Lowering) -> None:
    """Multiply each element of one vector with each of another."""
    found = lowering.options("a", "b")
    x, y = found["a"], found["b"]
    dtypes = resolved(np.multiply, (kind_of(x), kind_of(y)))
    refs = [lowering.source(x), lowering.source(y)]
    out = lowering.out
    if dtypes is None or any(len(ref.shape) != 1 for ref in refs):
        raise NotLowerable("a product of such arrays")
    nest = lowering.nest(out.shape)
    column, row = with_axis(refs[0], 1).broadcast(out.shape), refs[1].broadcast(out.shape)
    args = [nest.cast(nest.read(p), d) for p, d in zip((column, row), dtypes, strict=False)]
    nest.write(nest.op(np.multiply, dtypes, *args), out)


def affine(lowering: Lowering) -> None:
    """Add products and a bias: the first product in the result's place, as `linear` does it."""
    call = lowering.call
    *factors, bias = call.args
    if call.kwargs:
        raise NotLowerable("it has options")
    out = lowering.out
    total: MemRef | None = None
    for x, y in zip(factors[::2], factors[1::2], strict=True):
        product = product_shaped(lowering, x, y)
        here = total is None and product == (out.shape, out.dtype)
        ref = out if here else lowering.temporary(*product)
        product_of(lowering, np.matmul, x, y, ref)
        if total is not None:
            both = lowering.temporary(*added_shaped(total, ref))
            added(lowering, total, ref, both)
            ref = both
        total = ref
    assert total is not None  # noqa: S101 - for mypy: there is at least one product
    ref = lowering.source(bias)
    if added_shaped(total, ref) != (out.shape, out.dtype):
        raise NotLowerable("of such shapes")
    added(lowering, total, ref, out)


def product_shaped(lowering: Lowering, x: Any, y: Any) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """Say of what shape and dtype a product is."""
    a, b = lowering.source(x).shape, lowering.source(y).shape
    dtypes = resolved(np.matmul, (kind_of(x), kind_of(y)))
    if dtypes is None or not a or not b:
        raise NotLowerable("a product of such arrays")
    stack = np.broadcast_shapes(a[:-2], b[:-2])
    return (*stack, *a[-2:-1], *(b[-1:] if len(b) > 1 else ())), dtypes[-1]


def added_shaped(x: MemRef, y: MemRef) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """Say of what shape and dtype a sum is."""
    dtypes = resolved(np.add, (x.dtype, y.dtype))
    if dtypes is None:
        raise NotLowerable("a sum of such dtypes")
    return np.broadcast_shapes(x.shape, y.shape), dtypes[-1]


def added(lowering: Lowering, x: MemRef, y: MemRef, out: MemRef) -> None:
    """Add up what two memory references show."""
    nest = lowering.nest(out.shape)
    args = [nest.cast(nest.read(each.broadcast(out.shape)), out.dtype) for each in (x, y)]
    nest.write(nest.op(np.add, [out.dtype] * 3, *args), out)


def summed_by_ones(lowering: Lowering) -> None:
    """Add up along axes, whose elements lie before `columns` others each."""
    ref, first, last, columns = (*lowering.call.args, None, None, None)[:4]
    source, out = lowering.source(ref), lowering.out
    if columns is None or len(out.shape) != 3:
        raise NotLowerable("it has options")
    axes = tuple(range(first, last))
    before = source.shape[:first]
    kept = source.shape[last:]
    strides = [math.prod((*before, *kept)[k + 1 :]) for k in range(len(before) + len(kept))]
    shape = (*before, *kept)
    target = MemRef(
        out.root, out.offset, shape, tuple(s * out.dtype.itemsize for s in strides), out.dtype
    )
    brought_together(lowering, np.add, source, axes, target, out.dtype)


def rows_scaled(lowering: Lowering) -> None:
    """Scale rows, which is NumPy's to do where some are not finite."""
    rows, right, factors, begin = lowering.call.args
    x, y, out = lowering.source(rows), lowering.source(right), lowering.out
    if type(factors) is Value or type(begin) is Value or not x.dtype == y.dtype == out.dtype:
        raise NotLowerable("of such operands")
    check = lowering.temporary((), BOOL)
    nest = lowering.nest(y.shape)
    finite = nest.op(np.isfinite, (y.dtype, BOOL), nest.read(y))
    ended(nest, np.logical_and, finite, range(len(y.shape)), check)
    lowering.work.append(RuntimeCheck(check, 1))
    count = len(factors)
    along = MemRef(
        x.root,
        x.offset + begin * x.strides[1],
        (count, 1),
        (sum(x.strides), 0),
        x.dtype,
    )
    product = lowering.nest(out.shape)
    args = [along.broadcast(out.shape), y.part(slice(begin, begin + count)).broadcast(out.shape)]
    product.write(product.op(np.multiply, [out.dtype] * 3, *map(product.read, args)), out)


LOWERINGS: Mapping[Any, Callable[[Lowering], None]] = {
    **dict.fromkeys(CORES, as_product),
    np.dot: as_dot,
    np.outer: as_outer,
    linear: affine,
    two_linear: affine,
    times_ones: summed_by_ones,
    times_matrix: selected_rows_product,
    inspect.unwrap(times_matrix): selected_rows_product,
    scaled_rows: rows_scaled,
}
