"""`numpy.einsum`: with a letter for each axis, and two operands at a time.

Two operands are contracted as the matrix product that they mostly are. Three and more are taken
along the path that `numpy.einsum_path` finds, which adds a node for each pair, so that a sweep
reuses what was computed on the way.
"""

import functools
import math
from collections import Counter
from collections.abc import Sequence
from string import ascii_lowercase, ascii_uppercase
from typing import Any, ClassVar

import numpy as np
from attrs import define, frozen

from tape_ad.base.arrays.overridable import overridable
from tape_ad.base.errors import ShapeError
from tape_ad.rules.base import Derivation, Entry, as_array, constants, each, refuse
from tape_ad.rules.maps import Array, Index, LinearMap, Shape, scatter
from tape_ad.rules.maps.patterns import Pattern, dense_blocks, numbered, reads

Terms = tuple[str, ...]
"""The indices of some arrays: a string each, and in it a letter an axis."""

TINY = 4096
"""Up to this many multiplications `numpy.einsum` goes over all indices in a loop.

That loop takes a few microseconds then, as long as to bring the operands into the order that a
product of matrices needs."""


@overridable
def contract(*operands: Array, inputs: Terms, output: str, **options: Any) -> Array:
    """Compute `numpy.einsum` of one or two operands.

    NumPy's own loop goes over all indices at once. This sums first what concerns one operand
    alone, and leaves the rest to `numpy.matmul` where it is a product of matrices.

    Parameters
    ----------
    operands : array
    inputs : tuple of str
        The indices of each operand.
    output : str
        The indices of the result.
    options
        Those of `numpy.einsum`, except ``out`` and ``optimize``.

    Returns
    -------
    array

    Examples
    --------
    >>> contract(np.eye(2), np.array([3.0, 4.0]), inputs=("ij", "j"), output="i")
    array([3., 4.])
    """
    if len(operands) == 2 and not options:
        a, b = operands
        plan = planned(inputs, output, (a.shape, b.shape))
        if plan is not None and a.dtype.kind in "fc" and b.dtype.kind in "fc":
            return plan.follow(a, b)
    return np.einsum(f"{','.join(inputs)}->{output}", *operands, **options)


contract.__name__ = "einsum"  # what errors and printed records call it, as it is all that it does


@frozen(eq=False, repr=False)
class Matrices:
    """How an operand becomes a stack of matrices.

    Attributes
    ----------
    order : tuple of int
        The permutation of its axes that comes first.
    shape : tuple of int
        The shape that it then takes: the axes of the matrices, behind one for a stack of them.
    swap : bool
        Whether the last two of those are swapped at the end, which copies nothing.
    """

    order: Shape
    shape: Shape
    swap: bool

    def of(self, a: Array) -> Array:
        """Make the stack of operands that a contraction multiplies."""
        a = np.transpose(a, self.order).reshape(self.shape)
        return np.swapaxes(a, -1, -2) if self.swap else a


@frozen(eq=False, repr=False)
class Plan:
    """How to contract two operands.

    Attributes
    ----------
    reductions : tuple of str
        For each operand, subscripts that leave the indices that matter to the other or to the
        result; empty where that is all of them.
    subscripts : str
        What remains to be done, for `numpy.einsum`.
    elementwise : bool
        Whether that is a product element by element, which `numpy.multiply` is faster at.
    factors : tuple of Matrices, or None
        Both operands as matrices, where what remains is their product.
    shape, order : tuple of int
        The axes of that product, and the permutation to those of the result.
    """

    reductions: Terms
    subscripts: str
    elementwise: bool
    factors: tuple[Matrices, Matrices] | None
    shape: Shape
    order: Shape

    def follow(self, *operands: Array) -> Array:
        """Compute the contraction of operands along the planned path."""
        a, b = (
            np.einsum(reduction, operand) if reduction else operand
            for reduction, operand in zip(self.reductions, operands, strict=True)
        )
        if self.factors is None:
            return a * b if self.elementwise else np.einsum(self.subscripts, a, b)
        left, right = self.factors
        product = np.matmul(left.of(a), right.of(b)).reshape(self.shape)
        return np.transpose(product, self.order)[()]


@functools.lru_cache(maxsize=1024)
def planned(inputs: Terms, output: str, shapes: tuple[Shape, ...]) -> Plan | None:
    """Plan the contraction of two operands; None where NumPy's loop is as good."""
    sizes: dict[str, int] = {}
    for term, shape in zip(inputs, shapes, strict=True):
        for i, n in zip(term, shape, strict=True):
            sizes[i] = n if sizes.get(i, 1) == 1 else sizes[i]
    if math.prod(sizes.values()) <= TINY:
        return None
    whole = [  # an axis of length one that is stretched is summed over, which removes it
        "".join(i for i in dict.fromkeys(term) if shape[term.index(i)] == sizes[i])
        for term, shape in zip(inputs, shapes, strict=True)
    ]
    a, b = (
        "".join(i for i in term if i in output or i in other)
        for term, other in (whole, reversed(whole))
    )
    reductions = tuple(
        "" if term == kept else f"{term}->{kept}" for term, kept in zip(inputs, (a, b), strict=True)
    )
    product = matrix_product(a, b, output, sizes)
    elementwise = a == b == output
    if product is None and not elementwise and reductions == ("", ""):
        return None
    factors, axes = product or (None, "")
    return Plan(
        reductions=reductions,
        subscripts=f"{a},{b}->{output}",
        elementwise=elementwise,
        factors=factors,
        shape=tuple(sizes[i] for i in axes),
        order=tuple(axes.index(i) for i in output) if factors else (),
    )


def matrix_product(
    a: str, b: str, output: str, sizes: dict[str, int]
) -> tuple[tuple[Matrices, Matrices], str] | None:
    """Write a contraction as a product of matrices, if it is worth it.

    Returns
    -------
    factors : tuple of Matrices
    axes : str
        The indices of the product, in its own order.
    """
    larger = max(a, b, key=lambda term: math.prod(sizes[i] for i in term))
    batch = "".join(i for i in larger if i in a and i in b and i in output)
    inner = "".join(i for i in larger if i in a and i in b and i not in output)
    rows = "".join(i for i in a if i not in b)
    columns = "".join(i for i in b if i not in a)
    if not inner or (batch and not (rows or columns)):
        return None  # no sums, or a stack of inner products: NumPy's loop is what there is
    left, right = matrices(a, batch, rows, inner, sizes), matrices(b, batch, inner, columns, sizes)
    both = left, right
    heavy = (left if larger == a else right,) if rows or columns else both
    if not (rows and columns) and any(m.order != tuple(range(len(m.order))) for m in heavy):
        return None  # moving a matrix about takes as long as multiplying it by a vector
    return both, batch + rows + columns


def matrices(term: str, batch: str, first: str, second: str, sizes: dict[str, int]) -> Matrices:
    """Bring the axes of an operand to the order batch, first, second, moving none if possible."""
    swap = bool(first and second) and term.index(first[0]) > term.index(second[0])
    groups = (batch, second, first) if swap else (batch, first, second)
    lengths = tuple(math.prod(sizes[i] for i in group) for group in groups)
    return Matrices(
        order=tuple(term.index(i) for i in "".join(groups)),
        shape=lengths if batch else lengths[1:],
        swap=swap,
    )


LETTERS = ascii_uppercase + ascii_lowercase  # in ASCII order, as NumPy sorts implicit outputs

Shapes = tuple[tuple[int, ...], ...]


# The partial


@define(eq=False, repr=False)
class Contraction:
    """What `contract` is in one of its operands, the other held.

    Parameters
    ----------
    own, output : str
        The indices of the parent and of the node.
    others : tuple of str
        The indices of the other operand, if there is one.
    held : tuple of array
        That operand.
    shape : tuple of int
        The parent's shape.
    """

    multiplies: ClassVar[bool] = True
    own: str
    output: str
    others: Terms
    held: tuple[Array, ...]
    shape: tuple[int, ...]

    @property
    def kept(self) -> Any:
        """The other operand, if there is one."""
        return self.held[0] if self.held else None

    @reads("own", "output")
    def pattern(self, parent: Shape, node: Shape) -> Pattern:
        """Tell which elements depend on which."""
        distinct = "".join(dict.fromkeys(self.own))
        numbers = np.einsum(f"...{self.own}->...{distinct}", numbered(parent))
        behind = len(distinct), len(self.output)
        axes = [
            (i - behind[0], self.output.index(name) - behind[1])
            for i, name in enumerate(distinct)
            if name in self.output
        ]
        stack = range(1, len(parent) - len(self.own) + 1)
        axes += [(-behind[0] - i, -behind[1] - i) for i in stack]
        pattern = dense_blocks(numbers.shape, node, axes)
        return Pattern(pattern.rows, numbers.reshape(-1)[pattern.columns])

    def push(self, t: Array) -> Array:
        stack = self._stack(t.ndim - len(self.own))
        inputs = (stack + self.own, *self.others)
        return contract(t, *self.held, inputs=inputs, output=stack + self.output)

    def pull(self, ct: Array) -> Array:
        stack = self._stack(ct.ndim - len(self.output))
        distinct = "".join(dict.fromkeys(self.own))
        found = "".join(i for i in distinct if i in self.output or i in "".join(self.others))
        inputs = (stack + self.output, *self.others)
        conjugates = (a.conjugate() for a in self.held)
        ct = contract(ct, *conjugates, inputs=inputs, output=stack + found)
        return self._spread(ct, distinct, found)

    def _stack(self, ndim: int) -> str:
        """Name the axes of a stack."""
        used = self.own + self.output + "".join(self.others)
        return "".join(i for i in LETTERS if i not in used)[:ndim]

    def _spread(self, ct: Array, distinct: str, found: str) -> Array:
        """Bring a cotangent with the axes `found` to the parent's own axes."""
        sizes = tuple(self.shape[self.own.index(i)] for i in distinct)
        if found != distinct:  # the operand was summed over the missing indices
            ct = ct[(Ellipsis, *(slice(None) if i in found else None for i in distinct))]
        stack = ct.ndim - len(sizes)
        stretched = tuple(
            stack + i for i, n in enumerate(sizes) if n == 1 and ct.shape[stack + i] != 1
        )
        if stretched:
            ct = np.add.reduce(ct, axis=stretched, keepdims=True)
        if found != distinct:
            ct = np.broadcast_to(ct, ct.shape[:stack] + sizes)
        if distinct == self.own:
            return ct
        steps = [
            np.arange(n).reshape((n,) + (1,) * (len(sizes) - 1 - i)) for i, n in enumerate(sizes)
        ]
        key = tuple(steps[distinct.index(i)] for i in self.own)
        return scatter(ct, Index(key, parent=self.shape, node=sizes))


def contraction(
    position: int, out: Array, *operands: Array, inputs: Terms, output: str, **options: Any
) -> LinearMap:
    """Make the partial of `contract` with respect to one operand."""
    return Contraction(
        own=inputs[position],
        output=output,
        others=inputs[:position] + inputs[position + 1 :],
        held=operands[:position] + operands[position + 1 :],
        shape=operands[position].shape,
    )


# The function


def einsum(*arguments: Any, out: None = None, optimize: Any = False, **options: Any) -> Array:
    """Contract two operands at a time, along a path where there are more."""
    refuse("einsum", out=out)
    subscripts, operands = sorted_out(arguments)
    shapes = tuple([a.shape for a in operands])
    terms, output = explicit(subscripts, shapes)
    if len(operands) <= 2:
        return contract(*operands, inputs=terms, output=output, **options)
    if not optimize:  # NumPy multiplies all of them at once, in their common precision
        operands = as_precise(operands)
    steps = path(
        terms,
        output,
        shapes,
        tuple(optimize) if isinstance(optimize, list) else optimize or "greedy",
    )
    left = list(zip(operands, terms, strict=True))
    for step in steps:
        (a, term), *rest = [left.pop(i) for i in sorted(step, reverse=True)]
        for i, (b, other) in enumerate(rest, 1):
            ahead = "".join(own for _, own in (*left, *rest[i:]))
            kept = "".join(dict.fromkeys(j for j in term + other if j in output + ahead))
            kept = kept if left or i < len(rest) else output
            a, term = contract(a, b, inputs=(term, other), output=kept, **options), kept
        left.append((a, term))
    return left[0][0]


def as_precise(operands: list[Array]) -> list[Array]:
    """Cast each to the precision of all of them together; what is real stays real."""
    common = np.result_type(*operands)
    if common.kind not in "fc":
        return operands
    precision = np.finfo(common).dtype
    dtypes = [np.promote_types(a.dtype, precision) for a in operands]
    return [a if a.dtype == d else a.astype(d) for a, d in zip(operands, dtypes, strict=True)]


def sorted_out(arguments: tuple[Any, ...]) -> tuple[str, list[Array]]:
    """Tell subscripts from operands; index lists are written as a string."""
    if isinstance(arguments[0], str):
        subscripts, operands = arguments[0], arguments[1:]
    else:
        operands = arguments[: len(arguments) // 2 * 2 : 2]
        subscripts = ",".join(spelled(indices) for indices in arguments[1::2])
        if len(arguments) % 2:
            subscripts += "->" + spelled(arguments[-1])
    return subscripts, [as_array(a) for a in operands]


def spelled(indices: Sequence[Any]) -> str:
    """Write a list of integers and ellipses as a term of subscripts."""
    return "".join("..." if i is Ellipsis else LETTERS[i] for i in indices)


@functools.lru_cache(maxsize=1024)
def explicit(subscripts: str, shapes: Shapes) -> tuple[Terms, str]:
    """Write subscripts with a letter for each axis, an output, and no ellipsis.

    Raises
    ------
    ShapeError
        When NumPy does not take them for operands of these shapes.

    Examples
    --------
    >>> explicit("...ij,j", ((4, 2, 3), (3,)))
    (('Aij', 'j'), 'Ai')
    """
    try:
        np.einsum_path(subscripts, *stand_ins(shapes), optimize=False)
    except ValueError as error:
        listed = ", ".join(map(str, shapes))
        raise ShapeError(f"np.einsum({subscripts!r}) of shapes {listed}: {error}") from error
    left, arrow, output = subscripts.replace(" ", "").replace("...", ".").partition("->")
    terms = left.split(",")
    if not arrow:
        counts = Counter(left)
        output = "." * ("." in left) + "".join(
            sorted(i for i in counts if i not in ",." and counts[i] == 1)
        )
    hidden = [
        len(shape) - len(term) + 1 if "." in term else 0
        for term, shape in zip(terms, shapes, strict=True)
    ]
    unused = [letter for letter in LETTERS if letter not in subscripts]
    dots = "".join(unused[: max(hidden)])
    inputs = tuple(
        term.replace(".", dots[len(dots) - n :]) for term, n in zip(terms, hidden, strict=True)
    )
    return inputs, output.replace(".", dots)


@functools.lru_cache(maxsize=1024)
def path(terms: Terms, output: str, shapes: Shapes, optimize: Any) -> list[tuple[int, ...]]:
    """Find which operands to contract at each step, as `numpy.einsum_path` counts them."""
    subscripts = f"{','.join(terms)}->{output}"
    way = list(optimize) if isinstance(optimize, tuple) else optimize
    found: list[Any] = np.einsum_path(subscripts, *stand_ins(shapes), optimize=way)[0]
    return found[1:]


def stand_ins(shapes: Shapes) -> list[Array]:
    """Make arrays without memory, for functions that look at nothing but shapes."""
    return [np.broadcast_to(np.zeros(()), shape) for shape in shapes]


EINSUM: dict[Any, Entry] = {
    np.einsum: Derivation(einsum),
    contract: each(contraction, signature=lambda *operands, **options: (operands, options)),
    **constants(np.einsum_path),
}
