"""Products of matrices, by NumPy's own loops, which call BLAS, and sums over named axes."""

import functools
import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from attrs import frozen

from tape_ad.programs.engines.native.codegen.gathers import ADD
from tape_ad.programs.engines.native.ir import (
    Argument,
    Literal,
    LoopNest,
    MemRef,
    Reduction,
    iteration_space,
    strides_of,
)
from tape_ad.programs.engines.native.lowering.calls import (
    Lowering,
    NotLowerable,
    converted,
    copy,
    loop_dtypes,
    moved,
    with_axis,
)
from tape_ad.programs.engines.native.lowering.generalized import over_stack
from tape_ad.programs.engines.native.lowering.indexing import led, picked
from tape_ad.programs.engines.native.lowering.reductions import brought_together
from tape_ad.programs.engines.native.lowering.thin_products import in_pieces
from tape_ad.programs.program import Value
from tape_ad.record.spaces import times_ones
from tape_ad.rules.base import along
from tape_ad.rules.maps.matrix_products import scaled_rows, times_matrix
from tape_ad.rules.numpy.einsum import contract
from tape_ad.rules.numpy.padding import Margins
from tape_ad.rules.numpy.rearranging import Windows
from tape_ad.rules.plain_maps import pulled

CORES: frozenset[Any] = frozenset(
    getattr(np, name) for name in ("matmul", "vecdot", "matvec", "vecmat") if hasattr(np, name)
)
"""Generalized ufuncs that multiply."""


def as_product(lowering: Lowering) -> None:
    """Lower one of NumPy's generalized ufuncs, by its own loop."""
    call = lowering.call
    ufunc: Any = call.function
    if call.kwargs or len(call.args) != ufunc.nin:
        raise NotLowerable("it has options")
    x, y = call.args
    product_of(lowering, ufunc, x, y, lowering.out)


def product_of(lowering: Lowering, ufunc: np.ufunc, x: Any, y: Any, out: MemRef) -> None:
    """Multiply two operands of a call."""
    dtypes = loop_dtypes(ufunc, (x, y))
    if dtypes[-1] != out.dtype:
        raise NotLowerable("of such dtypes")
    operands = [
        converted(lowering, lowering.source(arg), dtype)
        for arg, dtype in zip((x, y), dtypes, strict=False)
    ]
    multiplied(lowering, ufunc, operands, out)


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
    if ufunc is np.matmul and is_many_small(*refs):
        by_terms(lowering, *refs)
        return
    if ufunc is np.matmul and any(map(has_windows, refs[:2])) and len(refs[2].shape) == 2:
        x, _, result = refs
        sizes = {"i": result.shape[0], "j": result.shape[1], "k": x.shape[1]}
        named = [
            NamedAxes.of(ref, of, sizes) for ref, of in zip(refs, ("ik", "kj", "ij"), strict=True)
        ]
        if of_windows(lowering, named[:2], named[2], "ij", sizes):
            return
    if ufunc is np.matmul and has_columns_in_stack(*refs) and side_by_side(lowering, refs):
        return
    if ufunc is not np.matmul or not in_pieces(lowering, *refs):
        over_stack(lowering, ufunc, refs[:-1], refs[-1:], packs=False)


FEW_COLUMNS = 8
"""With how many columns on a product takes longer than to read the matrix from memory."""


def has_columns_in_stack(x: MemRef, y: MemRef, out: MemRef) -> bool:
    """Tell whether one large matrix is multiplied with a stack of others of few columns.

    So are the tangents of a matrix with few columns, when they are multiplied from the left.
    """
    *stack, rows, columns = out.shape
    length = x.shape[-1]
    few = columns <= FEW_COLUMNS and 4 * columns <= length
    if out.dtype.kind not in "fc" or not few or rows * length < LARGE:
        return False
    refs = x.broadcast((*stack, rows, length)), y.broadcast((*stack, length, columns))
    ways = zip(stack, *[ref.strides[:-2] for ref in refs], strict=True)
    return any(n > 1 and not of_x and of_y for n, of_x, of_y in ways)


def side_by_side(lowering: Lowering, refs: Sequence[MemRef]) -> bool:
    """Multiply a matrix with the columns of a stack side by side, if they can be brought there."""
    sizes = dict(zip(LETTERS, (*refs[2].shape, refs[0].shape[-1]), strict=False))
    *stack, i, j, k = sizes
    names = [[*stack, i, k], [*stack, k, j], [*stack, i, j]]
    x, y, out = [
        NamedAxes.of(ref.broadcast(tuple([sizes[name] for name in of])), "".join(of), sizes)
        for ref, of in zip(refs, names, strict=True)
    ]
    return by_matrices(lowering, [x, y], out, "".join(names[2]), sizes)


def stacked(ufunc: np.ufunc, operands: Sequence[MemRef], out: MemRef) -> list[MemRef]:
    """Give all operands the axes of matrices, and those of the result before them."""
    refs = [*operands, out]
    if ufunc is np.matmul:  # which takes vectors too
        vectors = [len(ref.shape) == 1 for ref in operands]
        if vectors[0]:
            refs[0] = with_axis(refs[0], 0)
            refs[2] = with_axis(refs[2], len(refs[2].shape) - (not vectors[1]))
        if vectors[1]:
            refs[1] = with_axis(refs[1], 1)
            refs[2] = with_axis(refs[2], len(refs[2].shape))
    return refs


def by_rows(lowering: Lowering) -> None:
    """Lower `times_matrix`, unless it may only pick rows of a matrix, which NumPy looks into.

    More rows than the matrix has would pick some of them again, as no Jacobian begins with.
    """
    x, y = lowering.arguments("rows", "right")
    rows, right = lowering.source(x).shape[:-1], lowering.source(y).shape
    if len(right) == 2 and math.prod(rows) <= right[0]:
        raise NotLowerable("it may only pick rows")
    product_of(lowering, np.matmul, x, y, lowering.out)


def by_elements(lowering: Lowering, x: MemRef, y: MemRef, out: MemRef) -> None:
    """Multiply columns with rows, each pair of elements once.

    A product of matrices adds each to 0, after which no zero is negative.
    """
    nest, kinds = lowering.nest(out.shape), [out.dtype] * 3
    product = multiply_all(nest, (x, y))
    if out.dtype.kind in "fc":
        product = nest.op(np.add, kinds, product, Literal.of(0, out.dtype))
    nest.write(product, out)


TINY, STACK = 4, 16
"""Up to how many rows and columns matrices are so small, and from how many in a stack on so many,
that BLAS spends its time on being called."""


def is_many_small(x: MemRef, y: MemRef, out: MemRef) -> bool:
    """Tell whether it is a stack of products of very small matrices."""
    if out.dtype.kind != "f" or max(*x.shape[-2:], y.shape[-1]) > TINY:
        return False
    return math.prod(out.shape[:-2]) >= STACK


def by_terms(lowering: Lowering, x: MemRef, y: MemRef, out: MemRef) -> None:
    """Multiply matrices with all their terms written out, one element of each at a time."""
    columns = [x.part((..., slice(k, k + 1))) for k in range(x.shape[-1])]
    rows = [y.part((..., slice(k, k + 1), slice(None))) for k in range(x.shape[-1])]
    add_up(lowering, [*zip(columns, rows, strict=True)], out)


def as_dot(lowering: Lowering) -> None:
    """Lower `numpy.dot`."""
    x, y = lowering.sources("a", "b")
    if not x.shape or not y.shape or (len(y.shape) > 2 and len(x.shape) > 1):
        raise NotLowerable("a product of such arrays")
    if not elements_multiplied(lowering, (x, y)):
        a, b = lowering.arguments("a", "b")
        product_of(lowering, np.matmul, a, b, lowering.out)


def elements_multiplied(lowering: Lowering, refs: Sequence[MemRef]) -> bool:
    """Lower the product of two elements, which NumPy does not add to 0.0: it may be -0.0."""
    if any(math.prod(ref.shape) != 1 for ref in refs):
        return False
    shape = lowering.out.shape
    seen = [ref.seen(lambda element: element.reshape(shape)) for ref in refs]
    dtypes = loop_dtypes(np.multiply, lowering.arguments("a", "b"))
    lowering.apply(np.multiply, dtypes, seen, lowering.out)
    return True


TERMS = 12
"""How many terms of a sum one loop adds up."""


def multiply_all(nest: LoopNest, factors: Sequence[MemRef]) -> Argument:
    """Multiply what memory references show."""
    args: list[Argument] = [nest.read(each.broadcast(nest.shape)) for each in factors]
    kinds = [factors[0].dtype] * 3
    return functools.reduce(lambda x, y: nest.op(np.multiply, kinds, x, y), args)


def add_up(lowering: Lowering, terms: Sequence[Sequence[MemRef]], out: MemRef) -> None:
    """Add products of memory references to 0, one after the other."""
    for begin in range(0, len(terms), TERMS):
        nest = lowering.nest(out.shape)
        total: Argument = nest.read(out) if begin else Literal.of(0, out.dtype)
        for factors in terms[begin : begin + TERMS]:
            total = nest.op(np.add, [out.dtype] * 3, total, multiply_all(nest, factors))
        nest.write(total, out)


def windows_added(lowering: Lowering, ct: MemRef, linear: Windows) -> None:
    """Add up what each element of the parent has in windows, in the order of `Windows.backward`."""
    out, axis = lowering.out, linear.axis
    fewer, more = sorted((axis - 1, -1), key=lambda each: ct.shape[each])
    factors = lowering.memory_map.products.get(ct, [ct])
    lines = [
        each.seen(lambda array: np.moveaxis(array, (fewer, more), (0, axis))) for each in factors
    ]
    count, n = lines[0].shape[0], lines[0].shape[axis]
    if count > WRITTEN_OUT:
        raise NotLowerable("so many windows")
    inside = count - 1, max(n, count - 1)  # elements that all of them have, if there are any
    parts = [*((i, i + 1) for i in range(count - 1)), inside]
    parts += [(i, i + 1) for i in range(inside[1], n + count - 1)]
    for begin, end in parts:
        terms = [
            [each.part((k, *along(axis, slice(begin - k, end - k)))) for each in lines]
            for k in range(count)
            if begin - k >= 0 and end - k <= n
        ]
        if begin < end:
            add_up(lowering, terms, out.part(along(axis, slice(begin, end))))


def margins_added(lowering: Lowering, ct: MemRef, linear: Margins) -> None:
    """Add what margins repeat to the elements that they repeat."""
    out, axis, before = lowering.out, linear.axis, linear.before
    stop = before + linear.length
    copy(lowering, ct.part(along(axis, slice(before, stop))), out)
    shape = list(ct.shape)
    shape[axis] -= linear.length
    margins = lowering.temporary(tuple(shape), ct.dtype)
    sides = slice(before), slice(before, None)
    for side, there in zip((slice(before), slice(stop, None)), sides, strict=True):
        if 0 not in (source := ct.part(along(axis, side))).shape:
            copy(lowering, source, margins.part(along(axis, there)))
    at = picked(lowering, out, along(axis, linear.index))
    led(lowering, ADD, at, margins, at.base)


def pulled_plainly(lowering: Lowering) -> None:
    """Lower the pull of a map of plain arrays."""
    given, linear = lowering.arguments("ct", "linear")
    ct = lowering.source(given)
    lower = PULLS.get(type(linear))
    if lower is None or ct.dtype != lowering.out.dtype:
        raise NotLowerable(f"the pull of {type(linear).__name__}")
    lower(lowering, ct, linear)


PULLS: Mapping[type, Callable[[Lowering, MemRef, Any], None]] = {
    Windows: windows_added,
    Margins: margins_added,
}


def summed_by_ones(lowering: Lowering) -> None:
    """Add up along axes, whose elements lie before `columns` others each."""
    ref, first, last, columns = (*lowering.call.args, None, None, None)[:4]
    source, out = lowering.source(ref), lowering.out
    if columns is None or len(out.shape) != 3:
        raise NotLowerable("it has options")
    axes = tuple(range(first, last))
    shape = (*source.shape[:first], *source.shape[last:])
    target = out.along(shape, strides_of(shape, out.dtype.itemsize))
    brought_together(lowering, np.add, source, axes, target, out.dtype)


def rows_scaled(lowering: Lowering) -> None:
    """Scale rows, which is NumPy's to do where some are not finite."""
    rows, right, factors, begin = lowering.arguments("rows", "right", "factors", "begin")
    x, y, out = lowering.source(rows), lowering.source(right), lowering.out
    if type(factors) is Value or type(begin) is Value or not x.dtype == y.dtype == out.dtype:
        raise NotLowerable("of such operands")
    lowering.require_all(np.isfinite, y)
    count = len(factors)
    along = x.along((count, 1), (sum(x.strides), 0), begin * x.strides[1])
    right_rows = y.part(slice(begin, begin + count))
    lowering.apply(np.multiply, [out.dtype] * 3, (along, right_rows), out)


SMALL, LARGE = 512, 100_000
"""Up to how many multiplications a nest is quicker than BLAS, and from how many on it is never."""

LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


@frozen
class NamedAxes:
    """A memory reference whose axes have names.

    Attributes
    ----------
    ref : MemRef
    strides : dict of str to int
        Of each name; of one that stands for several axes, together.
    """

    ref: MemRef
    strides: Mapping[str, int]

    @classmethod
    def of(cls, ref: MemRef, names: str, sizes: Mapping[str, int]) -> "NamedAxes":
        """Name the axes of a contraction."""
        strides = dict.fromkeys(names, 0)
        for name, length, stride in zip(names, ref.shape, ref.strides, strict=True):
            if length == sizes[name]:
                strides[name] += stride
        return cls(ref, strides)

    def over(self, names: Sequence[str], sizes: Mapping[str, int]) -> MemRef:
        """Give the reference with an axis for each name, along which it may be repeated."""
        shape = tuple([sizes[name] for name in names])
        strides = tuple([self.strides.get(name, 0) for name in names])
        return self.ref.along(shape, strides)

    def merged(
        self, stack: Sequence[str], groups: Sequence[str], sizes: Mapping[str, int]
    ) -> MemRef | None:
        """Give it with one axis for each group of names; None where strides cannot say that."""
        ref = self.over(stack, sizes)
        shape, strides = list(ref.shape), list(ref.strides)
        for group in groups:
            part = self.over(group, sizes)
            space = iteration_space(part.shape, [part.strides])
            if space.dims:
                return None
            order = [s for n, s in zip(part.shape, part.strides, strict=True) if n > 1]
            if order != sorted(order, key=lambda s: -abs(s)):
                return None
            shape.append(math.prod(part.shape))
            strides.append(space.steps[0] if part.shape else 0)
        return ref.along(tuple(shape), tuple(strides))


def contracted(
    lowering: Lowering, refs: Sequence[MemRef], terms: Sequence[str], output: str
) -> None:
    """Lower `numpy.einsum`."""
    out = lowering.out
    if out.dtype.kind == "b" or [len(p.shape) for p in refs] != [*map(len, terms)]:
        raise NotLowerable("such operands")
    sizes: dict[str, int] = {}
    for ref, term in zip(refs, terms, strict=True):
        for name, length in zip(term, ref.shape, strict=True):
            sizes[name] = max(length, sizes.get(name, 1))
    if len(set(output)) != len(output) or not set(output) <= sizes.keys():
        raise NotLowerable("such indices")
    named = [
        NamedAxes.of(converted(lowering, ref, out.dtype), term, sizes)
        for ref, term in zip(refs, terms, strict=True)
    ]
    target = NamedAxes.of(out, output, sizes)
    work = math.prod(sizes.values())
    windows = any(has_windows(each.ref) for each in named)
    if windows and of_windows(lowering, named, target, output, sizes):
        return
    if len(named) == 2 and work > SMALL and by_matrices(lowering, named, target, output, sizes):
        return
    summed = [name for name in sizes if name not in output]
    if work > LARGE and (summed or len(named) > 2):
        raise NotLowerable("so large a sum of products")
    names = [*output, *summed]
    nest = lowering.nest(tuple([sizes[name] for name in names]))
    product = multiply_all(nest, [each.over(names, sizes) for each in named])
    if summed:
        nest.reduce(np.add, product, range(len(output), len(names)), target.over(output, sizes))
    else:
        if len(named) > 1 and out.dtype.kind in "fc":  # NumPy adds it to 0.0: -0.0 is 0.0 then
            product = nest.op(np.add, [out.dtype] * 3, product, Literal.of(0.0, out.dtype))
        nest.write(product, target.over(names, sizes))


def has_windows(ref: MemRef) -> bool:
    """Tell whether elements are shown again along another axis, as in sliding windows."""
    strides = [abs(s) for n, s in zip(ref.shape, ref.strides, strict=True) if s and n > 1]
    return len(set(strides)) < len(strides)


WRITTEN_OUT = 64
"""Up to how many terms of a sum, or results, are written out one by one."""


def of_windows(
    lowering: Lowering,
    named: Sequence[NamedAxes],
    target: NamedAxes,
    output: str,
    sizes: Mapping[str, int],
) -> bool:
    """Lower a contraction of sliding windows: a copy of them would be many times their memory."""
    summed = [name for name in sizes if name not in output]
    few = summed if math.prod(sizes[name] for name in summed) <= WRITTEN_OUT else output
    many = output if few is summed else summed
    if math.prod(sizes[name] for name in few) > WRITTEN_OUT:
        return False
    keys = [*np.ndindex(*(sizes[name] for name in few))]

    def at(each: NamedAxes, key: Sequence[int]) -> MemRef:
        return moved(each.over(many, sizes), key, [each.strides.get(name, 0) for name in few])

    if few is summed:
        add_up(lowering, [[at(each, key) for each in named] for key in keys], at(target, keys[0]))
        return True
    for key in keys:
        nest = lowering.nest(tuple([sizes[name] for name in many]))
        nest.apart = True
        product = multiply_all(nest, [at(each, key) for each in named])
        nest.reductions.append(Reduction(np.add, product, at(target, key)))
    return True


def by_matrices(
    lowering: Lowering,
    named: Sequence[NamedAxes],
    target: NamedAxes,
    output: str,
    sizes: Mapping[str, int],
) -> bool:
    """Lower a contraction as a product of stacks of matrices, if it is one."""
    a, b = ({name for name, s in each.strides.items() if s} for each in named)
    summed = "".join(name for name in sizes if name not in output)
    stack = "".join(name for name in output if name in a and name in b)
    rows = "".join(name for name in output if name in a and name not in b)
    columns = "".join(name for name in output if name in b and name not in a)
    known = set(stack + rows + columns)
    if not summed or not (rows or columns) or set(summed) - (a & b) or set(output) - known:
        return False
    left = placed(lowering, named[0], stack, (rows, summed), sizes)
    right = placed(lowering, named[1], stack, (summed, columns), sizes)
    result = target.merged(stack, (rows, columns), sizes)
    if result is not None:
        multiplied(lowering, np.matmul, [left, right], result)
        return True
    names = stack + rows + columns
    shape = tuple(sizes[name] for name in names)
    product = NamedAxes.of(lowering.temporary(shape, target.ref.dtype), names, sizes)
    merged = product.merged(stack, (rows, columns), sizes)
    assert merged is not None  # noqa: S101 - for mypy: it is in C order
    multiplied(lowering, np.matmul, [left, right], merged)
    copy(lowering, product.ref, target.over(names, sizes))
    return True


def placed(
    lowering: Lowering,
    named: NamedAxes,
    stack: str,
    groups: Sequence[str],
    sizes: Mapping[str, int],
) -> MemRef:
    """Give an operand as a stack of matrices, copied where it does not lie so."""
    found = named.merged(stack, groups, sizes)
    if found is not None:
        return found
    names = stack + "".join(groups)
    source = named.over(names, sizes)
    there = NamedAxes.of(lowering.temporary(source.shape, source.dtype), names, sizes)
    copy(lowering, source, there.ref)
    found = there.merged(stack, groups, sizes)
    assert found is not None  # noqa: S101 - for mypy: it is in C order
    return found


def named_by_options(lowering: Lowering) -> None:
    """Lower `contract`."""
    options = dict(lowering.call.kwargs)
    terms, output = options.pop("inputs"), options.pop("output")
    if options:
        raise NotLowerable("it has options")
    contracted(lowering, [*map(lowering.source, lowering.call.args)], terms, output)


def named_by_text(lowering: Lowering) -> None:
    """Lower `numpy.einsum`."""
    subscripts, *operands = lowering.call.args
    if type(subscripts) is not str or not lowering.call.kwargs.keys() <= {"optimize"}:
        raise NotLowerable("it has options")
    given, arrow, output = subscripts.replace(" ", "").partition("->")
    if not arrow or "." in subscripts:
        raise NotLowerable("such indices")
    contracted(lowering, [*map(lowering.source, operands)], given.split(","), output)


def over_axes(lowering: Lowering) -> None:
    """Lower `numpy.tensordot`."""
    x, y = map(lowering.source, lowering.arguments("a", "b", "axes")[:2])
    axes = lowering.options("a", "b", "axes").get("axes", 2)
    if type(axes) is Value:
        raise NotLowerable("axes that vary")
    if isinstance(axes, int):
        axes = range(len(x.shape) - axes, len(x.shape)), range(axes)
    over_pairs(lowering, x, y, *([*each] if np.iterable(each) else [each] for each in axes))


def over_pairs(
    lowering: Lowering, x: MemRef, y: MemRef, first: Sequence[int], second: Sequence[int]
) -> None:
    """Contract axes of one array with those of another."""
    names = LETTERS[: len(x.shape)]
    others = [*LETTERS[len(x.shape) : len(x.shape) + len(y.shape)]]
    for i, j in zip(first, second, strict=True):
        others[j] = names[i]
    summed = {names[i] for i in first}
    output = [name for name in (*names, *others) if name not in summed]
    contracted(lowering, [x, y], [names, "".join(others)], "".join(output))


def over_last_axes(lowering: Lowering) -> None:
    """Lower `numpy.inner`."""
    x, y = lowering.sources("a", "b")
    if not x.shape or not y.shape:
        raise NotLowerable("a product of such arrays")
    if elements_multiplied(lowering, (x, y)):
        return
    over_pairs(lowering, x, y, [-1], [-1])


LOWERINGS: Mapping[Any, Callable[[Lowering], None]] = {
    **dict.fromkeys(CORES, as_product),
    np.dot: as_dot,
    times_ones: summed_by_ones,
    times_matrix: by_rows,
    inspect.unwrap(times_matrix): by_rows,
    scaled_rows: rows_scaled,
    contract: named_by_options,
    inspect.unwrap(contract): named_by_options,
    np.einsum: named_by_text,
    np.tensordot: over_axes,
    np.inner: over_last_axes,
    pulled: pulled_plainly,
    inspect.unwrap(pulled): pulled_plainly,
}
