"""What the checks of a row are made of: recorded calls, inner products, central differences."""

from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np
from attrs import frozen

import tape_ad as ta
from tape_ad.record.sweeps import forward_sweep, reverse_sweep
from tests.rules.table import Row

__all__ = [
    "Run",
    "central_difference",
    "close",
    "gradients",
    "like",
    "magnitude",
    "pairing",
    "recorded",
]

Array = Any


@frozen(eq=False)
class Run:
    """A call of a row's function, recorded.

    Attributes
    ----------
    record : ComputationRecord
    leaves : list of Tensor
        The operands that are handles.
    outputs : list
        What the function returned: handles, and plain data where nothing is to be differentiated.
    """

    record: ta.ComputationRecord
    leaves: list[ta.Tensor]
    outputs: list[Any]

    @property
    def values(self) -> list[Array]:
        """The primals of the outputs."""
        return [out.data if self._holds(out) else out for out in self.outputs]

    def push(self, tangents: Sequence[Array]) -> list[Array]:
        """Push a tangent of each leaf forward to each output."""
        start = {leaf.index: t for leaf, t in zip(self.leaves, tangents, strict=True)}
        reached = forward_sweep(self.record, start, len(self.record) - 1)
        stack = stack_of(tangents, self.leaves)
        return [
            reached[out.index]
            if self._holds(out) and out.index in reached
            else np.zeros(stack + out.shape, out.dtype)
            for out in self.outputs
        ]

    def pull(self, cotangents: Sequence[Array]) -> list[Array]:
        """Pull a cotangent of each output back to each leaf, and add up."""
        stack = stack_of(cotangents, self.outputs)
        totals: list[Array] = [np.zeros(stack + leaf.shape, leaf.dtype) for leaf in self.leaves]
        for out, ct in zip(self.outputs, cotangents, strict=True):
            if self._holds(out):
                kept = reverse_sweep(self.record, out.index, ct)
                totals = [
                    kept[leaf.index] + total if leaf.index in kept else total
                    for leaf, total in zip(self.leaves, totals, strict=True)
                ]
        return totals

    def _holds(self, out: Any) -> bool:
        return isinstance(out, ta.Tensor) and out.record is self.record


def recorded(
    row: Row,
    values: Sequence[Array],
    *,
    active: Collection[int] | None = None,
    within: ta.ComputationRecord | None = None,
) -> Run:
    """Call a row's function on handles and record it.

    Parameters
    ----------
    row : Row
    values : list of array
        One for each operand; those of an enclosing record are handles.
    active : list of int, optional
        The positions of the operands to make handles; all the differentiable ones when left out.
    within : ComputationRecord, optional
        The enclosing record.
    """
    record = ta.ComputationRecord(within=within)
    chosen = row.differentiable if active is None else active
    operands = [record.tensor(v) if i in chosen else v for i, v in enumerate(values)]
    outputs = row.apply(operands)
    return Run(record, [operands[i] for i in chosen], outputs)


def stack_of(arrays: Sequence[Array], targets: Sequence[Array]) -> tuple[int, ...]:
    """Tell the stack that tangents or cotangents have in front of their own axes."""
    return tuple(arrays[0].shape[: arrays[0].ndim - np.ndim(targets[0])])


def pairing(us: Sequence[Array], vs: Sequence[Array]) -> Array:
    """Compute <u, v> = Re(sum(conj(u) * v)) over all the arrays."""
    return sum(np.sum(np.real(np.conjugate(u) * v)) for u, v in zip(us, vs, strict=True))


def magnitude(us: Sequence[Array], vs: Sequence[Array]) -> float:
    """Compute what rounding errors of the pairing are relative to."""
    return float(sum(np.sum(np.abs(u) * np.abs(v)) for u, v in zip(us, vs, strict=True)))


def gradients(value: Any, handles: Sequence[ta.Tensor]) -> list[Array]:
    """Differentiate a value that may not depend on any handle, as for a linear function."""
    if not isinstance(value, ta.Tensor):
        return [np.zeros(handle.shape, handle.dtype) for handle in handles]
    return list(value.grad().wrt(handles))


def central_difference(
    function: Callable[..., Sequence[Array]],
    at: Sequence[Array],
    along: Sequence[Array],
    step: float = 2e-4,
) -> list[Array]:
    """Differentiate by the five-point formula, whose error is of the order of step**4."""
    near, far = (
        [
            plus - minus
            for plus, minus in zip(
                function([x + h * t for x, t in zip(at, along, strict=True)]),
                function([x - h * t for x, t in zip(at, along, strict=True)]),
                strict=True,
            )
        ]
        for h in (step, 2 * step)
    )
    return [(8 * a - b) / (12 * step) for a, b in zip(near, far, strict=True)]


def like(arrays: Sequence[Array], targets: Sequence[Array]) -> list[Array]:
    """Cast arrays to the dtypes of others."""
    return [a.astype(target.dtype) for a, target in zip(arrays, targets, strict=True)]


def close(actual: Sequence[Array], expected: Sequence[Array], tolerance: float) -> None:
    """Assert that arrays agree, relative to the largest element of each, or to 1."""
    for one, other in zip(actual, expected, strict=True):
        assert np.shape(one) == np.shape(other)
        allowed = tolerance * np.max(np.abs(other), initial=1.0)
        if not np.all(np.abs(one - other) <= allowed):  # which is all that passing takes
            np.testing.assert_allclose(one, other, rtol=0, atol=allowed)
