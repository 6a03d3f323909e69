"""`numpy.einsum`, with repeated and missing indices, ellipsis, and both ways to write them."""

from collections import Counter
from collections.abc import Sequence
from string import ascii_lowercase, ascii_uppercase
from typing import Any, ClassVar

import numpy as np
from attrs import define

from tape_ad.linear_maps import Array, Index, LinearMap, scatter
from tape_ad.rules.base import Call, Entry, as_array, each, refuse

__all__ = ["EINSUM"]

LETTERS = ascii_uppercase + ascii_lowercase  # in ASCII order, as NumPy sorts implicit outputs


@define(eq=False)
class Contraction:
    """What `einsum` is in one of its operands, the others held.

    Parameters
    ----------
    inputs : list of str
        The indices of each operand, a letter an axis.
    output : str
        The indices of the node.
    operands : list of array
        All operands, with None in the parent's place.
    position : int
        The parent's place.
    shape : tuple of int
        The parent's shape.
    optimize : bool
        Whether NumPy should look for a contraction path.
    """

    broadcasts: ClassVar[bool] = False
    inputs: list[str]
    output: str
    operands: list[Array]
    position: int
    shape: tuple[int, ...]
    optimize: bool

    def push(self, t: Array) -> Array:
        operands, terms = list(self.operands), list(self.inputs)
        operands[self.position] = t
        terms[self.position] = "..." + terms[self.position]
        subscripts = f"{','.join(terms)}->...{self.output}"
        return np.einsum(subscripts, *operands, optimize=self.optimize)

    def pull(self, ct: Array) -> Array:
        own = self.inputs[self.position]
        distinct = "".join(dict.fromkeys(own))
        others = [i for i in range(len(self.inputs)) if i != self.position]
        known = set(self.output).union(*(self.inputs[i] for i in others))
        found = "".join(i for i in distinct if i in known)
        terms = ["..." + self.output, *(self.inputs[i] for i in others)]
        conjugates = [self.operands[i].conjugate() for i in others]
        subscripts = f"{','.join(terms)}->...{found}"
        ct = np.einsum(subscripts, ct, *conjugates, optimize=self.optimize)
        return self._spread(ct, distinct, found)

    def _spread(self, ct: Array, distinct: str, found: str) -> Array:
        """Bring a cotangent with the axes `found` to the parent's own axes."""
        own = self.inputs[self.position]
        sizes = tuple(self.shape[own.index(i)] for i in distinct)
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
        if distinct == own:
            return ct
        steps = [
            np.arange(n).reshape((n,) + (1,) * (len(sizes) - 1 - i)) for i, n in enumerate(sizes)
        ]
        key = tuple(steps[distinct.index(i)] for i in own)
        return scatter(ct, Index(key, parent=self.shape, node=sizes))


def contraction(
    position: int,
    out: Array,
    *operands: Array,
    subscripts: str,
    optimize: Any,
    **options: Any,
) -> LinearMap:
    """Make the partial with respect to one operand."""
    inputs, output = explicit(subscripts, [a.ndim for a in operands])
    return Contraction(
        inputs=inputs,
        output=output,
        operands=[None if i == position else a for i, a in enumerate(operands)],
        position=position,
        shape=operands[position].shape,
        optimize=bool(optimize) or len(operands) > 2,
    )


def explicit(subscripts: str, ndims: Sequence[int]) -> tuple[list[str], str]:
    """Write subscripts with a letter for each axis, an output, and no ellipsis.

    Examples
    --------
    >>> explicit("...ij,j", [3, 1])
    (['Aij', 'j'], 'Ai')
    """
    left, arrow, output = subscripts.replace(" ", "").replace("...", ".").partition("->")
    terms = left.split(",")
    if not arrow:
        counts = Counter(left)
        output = "." * ("." in left) + "".join(
            sorted(i for i in counts if i not in ",." and counts[i] == 1)
        )
    hidden = [n - len(term) + 1 if "." in term else 0 for term, n in zip(terms, ndims, strict=True)]
    unused = [letter for letter in LETTERS if letter not in subscripts]
    dots = "".join(unused[: max(hidden)])
    inputs = [
        term.replace(".", dots[len(dots) - n :]) for term, n in zip(terms, hidden, strict=True)
    ]
    return inputs, output.replace(".", dots)


def einsum_signature(
    *arguments: Any, out: None = None, optimize: Any = False, **options: Any
) -> Call:
    """Sort the arguments of `numpy.einsum`; index lists are written as a string."""
    refuse("einsum", out=out)
    if isinstance(arguments[0], str):
        subscripts, operands = arguments[0], arguments[1:]
    else:
        operands = arguments[: len(arguments) // 2 * 2 : 2]
        subscripts = ",".join(spelled(indices) for indices in arguments[1::2])
        if len(arguments) % 2:
            subscripts += "->" + spelled(arguments[-1])
    arrays = tuple(map(as_array, operands))
    return arrays, {"subscripts": subscripts, "optimize": optimize, **options}


def spelled(indices: Sequence[Any]) -> str:
    """Write a list of integers and ellipses as a term of subscripts."""
    return "".join("..." if i is Ellipsis else LETTERS[i] for i in indices)


EINSUM: dict[Any, Entry] = {
    np.einsum: each(
        contraction,
        signature=einsum_signature,
        compute=lambda *operands, subscripts, **options: np.einsum(
            subscripts, *operands, **options
        ),
    ),
}
