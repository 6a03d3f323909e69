"""A traced function of one flat vector: its inputs and outputs, one leaf after another."""

from collections.abc import Callable
from typing import Any

import numpy as np
from attrs import define, field

from tape_ad.base.errors import OutputError
from tape_ad.base.trees import flatten
from tape_ad.record.primals import is_number_like
from tape_ad.record.spaces import shape_of
from tape_ad.record.tensor import Tensor
from tape_ad.rules.maps import Array
from tape_ad.transforms.tracing import Trace

__all__ = ["FlatFunction"]

Part = tuple[Any, slice]

IN_CACHE = 2**17
"""How many elements of seeds are swept at once, unless one seed has more.

A stack of many that are large goes through memory at each node, where one after another stays in
the cache."""


@define(eq=False)
class FlatFunction:
    """The columns and the rows of a traced function's Jacobian.

    Attributes
    ----------
    traced : Trace
    inputs, outputs : list of (leaf, slice)
        The leaves that are arrays, and where their elements are among all columns or all rows.
    """

    traced: Trace
    inputs: list[Part] = field(init=False)
    outputs: list[Part] = field(init=False)

    @inputs.default
    def _inputs(self) -> list[Part]:
        leaves = flatten(self.traced.inputs)
        return placed([leaf for leaf in leaves if type(leaf) is Tensor])

    @outputs.default
    def _outputs(self) -> list[Part]:
        return placed([leaf for leaf in flatten(self.traced.output) if is_number_like(leaf)])

    @property
    def columns(self) -> int:
        """The number of all inputs' elements."""
        return self.inputs[-1][1].stop if self.inputs else 0

    @property
    def rows(self) -> int:
        """The number of all outputs' elements."""
        return self.outputs[-1][1].stop if self.outputs else 0

    def pushed(self, seeds: Array) -> Array:
        """Push a stack of tangents of all inputs.

        Parameters
        ----------
        seeds : array, shape (p, columns)

        Returns
        -------
        array, shape (p, rows)
        """
        return in_parts(self._pushed, seeds)

    def _pushed(self, seeds: Array) -> Array:
        starts = {
            leaf.index: seeds[:, part]
            .reshape((len(seeds), *leaf.shape))
            .astype(leaf.dtype, copy=False)
            for leaf, part in self.inputs
        }
        reached = self.traced.pushed(starts)
        return joined(
            [self.traced.tangent(leaf, reached, (len(seeds),)) for leaf, _ in self.outputs],
            len(seeds),
        )

    def pulled(self, seeds: Array) -> Array:
        """Pull a stack of cotangents of all outputs.

        Parameters
        ----------
        seeds : array, shape (q, rows)

        Returns
        -------
        array, shape (q, columns)
        """
        return in_parts(self._pulled, seeds)

    def _pulled(self, seeds: Array) -> Array:
        count = len(seeds)
        pairs = []
        for leaf, part in self.outputs:
            if self.traced.depends(leaf):
                ct = seeds[:, part].reshape((count, *leaf.shape)).astype(leaf.dtype, copy=False)
                pairs.append((leaf, ct))
        kept = self.traced.swept(pairs, release=False)
        zeros = (np.zeros((count, *leaf.shape), leaf.dtype) for leaf, _ in self.inputs)
        return joined(
            [
                kept.get(leaf.index, zero)
                for (leaf, _), zero in zip(self.inputs, zeros, strict=True)
            ],
            count,
        )

    @property
    def dtype(self) -> Any:
        """What the entries of the Jacobian are."""
        leaves = [leaf.dtype for leaf, _ in (*self.inputs, *self.outputs) if hasattr(leaf, "dtype")]
        return np.result_type(np.float32, *(each for each in leaves if each.kind == "f"))

    def check_plain(self) -> None:
        """Refuse complex numbers, and what is to be differentiated once more.

        Raises
        ------
        OutputError
        """
        for leaf, _ in (*self.inputs, *self.outputs):
            if getattr(leaf, "dtype", np.dtype(float)).kind == "c":
                raise OutputError(
                    f"{self.traced.name} has complex arrays among its arguments or results, and "
                    "one number for each pair of elements does not say it all; take the real and "
                    "imaginary parts as arrays of their own"
                )
            if type(getattr(leaf, "data", None)) is Tensor:
                raise OutputError(
                    f"a sparse Jacobian of {self.traced.name} holds plain numbers, and cannot be "
                    "differentiated itself; use ta.jacobian there"
                )


def in_parts(sweep: Callable[[Array], Array], seeds: Array) -> Array:
    """Sweep as many seeds at a time as stay in the cache."""
    step = max(1, IN_CACHE // max(1, seeds.shape[1]))
    parts = [sweep(seeds[start : start + step]) for start in range(0, len(seeds), step)]
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def placed(leaves: list[Any]) -> list[Part]:
    """Give each leaf its elements' places in a vector of all."""
    parts, start = [], 0
    for leaf in leaves:
        size = int(np.prod(shape_of(leaf), dtype=int))
        parts.append((leaf, slice(start, start + size)))
        start += size
    return parts


def joined(arrays: list[Array], count: int) -> Array:
    """Put the elements of stacked arrays behind each other."""
    flat = [
        array.reshape((count, -1)) if array.size else array.reshape((count, 0)) for array in arrays
    ]
    return flat[0] if len(flat) == 1 else np.concatenate(flat, axis=1)
