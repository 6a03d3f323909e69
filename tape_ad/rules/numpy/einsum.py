"""`numpy.einsum`: with a letter for each axis, and two operands at a time.

Three and more operands are contracted along the path that `numpy.einsum_path` finds, which adds
a node for each pair, so that a sweep reuses what was computed on the way.
"""

import functools
from collections import Counter
from collections.abc import Sequence
from string import ascii_lowercase, ascii_uppercase
from typing import Any, ClassVar

import numpy as np
from attrs import define

from tape_ad.base.errors import ShapeError
from tape_ad.rules.base import Derivation, Entry, as_array, constants, each, refuse
from tape_ad.rules.maps import Array, Index, LinearMap, Shape, scatter
from tape_ad.rules.maps.patterns import Pattern, dense_blocks, numbered, reads
from tape_ad.rules.numpy.contractions import Terms, contract

__all__ = ["EINSUM", "contraction"]

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

    broadcasts: ClassVar[bool] = False
    multiplies: ClassVar[bool] = True
    own: str
    output: str
    others: Terms
    held: tuple[Array, ...]
    shape: tuple[int, ...]

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
