"""Sums of products over named axes: by the products of matrices that they mostly are."""

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from attrs import frozen

from tape_ad.programs.engines.native.ir.iteration_space import iteration_space
from tape_ad.programs.engines.native.ir.loop_nests import Argument, Literal
from tape_ad.programs.engines.native.ir.memory_map import MemRef
from tape_ad.programs.engines.native.lowering.lowering import Lowering, NotLowerable
from tape_ad.programs.engines.native.lowering.products import converted, multiplied
from tape_ad.programs.engines.native.lowering.reductions import ended
from tape_ad.programs.program.program import Value
from tape_ad.rules.numpy.contractions import contract

__all__ = ["LOWERINGS"]

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
        """Name the axes."""
        strides = dict.fromkeys(names, 0)
        for name, length, stride in zip(names, ref.shape, ref.strides, strict=True):
            if length == sizes[name]:
                strides[name] += stride
        return cls(ref, strides)

    def over(self, names: Sequence[str], sizes: Mapping[str, int]) -> MemRef:
        """Give the reference with an axis for each name, along which it may be repeated."""
        shape = tuple([sizes[name] for name in names])
        strides = tuple([self.strides.get(name, 0) for name in names])
        return MemRef(self.ref.root, self.ref.offset, shape, strides, self.ref.dtype)

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
        return MemRef(ref.root, ref.offset, tuple(shape), tuple(strides), ref.dtype)


def contracted(
    lowering: Lowering, refs: Sequence[MemRef], terms: Sequence[str], output: str
) -> None:
    """Do what `numpy.einsum` does."""
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
    if len(named) == 2 and work > SMALL and by_matrices(lowering, named, target, output, sizes):
        return
    summed = [name for name in sizes if name not in output]
    if work > LARGE and (summed or len(named) > 2):
        raise NotLowerable("so large a sum of products")
    names = [*output, *summed]
    nest = lowering.nest(tuple([sizes[name] for name in names]))
    args: list[Argument] = [nest.read(each.over(names, sizes)) for each in named]
    product = args[0]
    for arg in args[1:]:
        product = nest.op(np.multiply, [out.dtype] * 3, product, arg)
    if summed:
        ended(nest, np.add, product, range(len(output), len(names)), target.over(output, sizes))
    else:
        if len(named) > 1 and out.dtype.kind in "fc":  # NumPy adds it to 0.0: -0.0 is 0.0 then
            product = nest.op(np.add, [out.dtype] * 3, product, Literal.of(0.0, out.dtype))
        nest.write(product, target.over(names, sizes))


def by_matrices(
    lowering: Lowering,
    named: Sequence[NamedAxes],
    target: NamedAxes,
    output: str,
    sizes: Mapping[str, int],
) -> bool:
    """Do it as a product of stacks of matrices, if it is one."""
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
    nest = lowering.nest(shape)
    nest.write(nest.read(product.ref), target.over(names, sizes))
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
    copy = NamedAxes.of(lowering.temporary(source.shape, source.dtype), names, sizes)
    nest = lowering.nest(source.shape)
    nest.write(nest.read(source), copy.ref)
    found = copy.merged(stack, groups, sizes)
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
    found = lowering.options("a", "b", "axes")
    x, y = lowering.source(found["a"]), lowering.source(found["b"])
    axes = found.get("axes", 2)
    if type(axes) is Value:
        raise NotLowerable("axes that vary")
    if isinstance(axes, int):
        axes = range(len(x.shape) - axes, len(x.shape)), range(axes)
    first, second = ([*each] if np.iterable(each) else [each] for each in axes)
    names = LETTERS[: len(x.shape)]
    others = [*LETTERS[len(x.shape) : len(x.shape) + len(y.shape)]]
    for i, j in zip(first, second, strict=True):
        others[j] = names[i]
    summed = {names[i] for i in first}
    output = [name for name in (*names, *others) if name not in summed]
    contracted(lowering, [x, y], [names, "".join(others)], "".join(output))


def over_last_axes(lowering: Lowering) -> None:
    """Lower `numpy.inner`."""
    found = lowering.options("a", "b")
    x, y = lowering.source(found["a"]), lowering.source(found["b"])
    if not x.shape or not y.shape:
        raise NotLowerable("a product of such arrays")
    names = LETTERS[: len(x.shape)]
    others = LETTERS[len(x.shape) : len(x.shape) + len(y.shape) - 1]
    contracted(lowering, [x, y], [names, others + names[-1]], names[:-1] + others)


LOWERINGS: Mapping[Any, Callable[[Lowering], None]] = {
    contract: named_by_options,
    inspect.unwrap(contract): named_by_options,
    np.einsum: named_by_text,
    np.tensordot: over_axes,
    np.inner: over_last_axes,
}
