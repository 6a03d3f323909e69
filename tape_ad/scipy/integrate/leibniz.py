"""Leibniz' rule for integrals of functions that depend on handles in ways unknown.

    d/dp ∫ f(x, p) dx  =  f(b) db/dp - f(a) da/dp + ∫ ∂f/∂p dx

The last integral is computed by the same function and to the same tolerances as the first one. For
records within records the rule is applied from the outside in, so that each derivative is an
integral that has derivatives in its turn.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from attrs import define, field

from tape_ad import Tensor
from tape_ad.base.errors import DtypeError
from tape_ad.extend.arrays import primal
from tape_ad.extend.solvers import nested, outside, records_of, up_to
from tape_ad.scipy.integrate.runge_kutta import Functional
from tape_ad.transforms.excerpts import Watched

__all__ = ["by_leibniz"]

Function = Callable[..., Any]


def by_leibniz(watched: Watched, value: Any, a: Any, b: Any, integrals: Function) -> Any:
    """Give an integral its derivatives.

    Parameters
    ----------
    watched : Watched
        The integrand, which has been called at the points that the integral was computed from.
    value : array
        The integral.
    a, b : float or Tensor
        The limits.
    integrals : callable
        ``integrals(integrand, size, a, b)`` integrates a function that gives so many numbers,
        of plain arrays or of handles, shape (size,).

    Returns
    -------
    Tensor, or `value` where nothing is a handle
    """
    shape = np.shape(value)
    for record in nested([*watched.records, *records_of(a), *records_of(b)]):
        if value.dtype.kind == "c":
            raise DtypeError(
                f"{watched.name}: the derivatives of a complex integral are not given; integrate "
                "the real and the imaginary part as functions of their own"
            )
        ends = outside(record, a), outside(record, b)
        parents, partials = [], []
        for end, below, sign in zip((a, b), ends, (-1.0, 1.0), strict=True):
            at = up_to(record, end)
            if type(at) is Tensor and at.record is record:
                parents.append(at.index)
                slope = end_value(watched, record, below, shape)
                partials.append(Functional(sign * slope.reshape(-1, 1), shape, ()))
        slopes = Slopes(watched, record, watched.sources_in(record), shape)
        if slopes.nodes:
            size = int(np.prod(shape))
            matrix = integrals(slopes, size * slopes.width, *ends).reshape(size, slopes.width)
            parents += slopes.nodes
            partials += slopes.maps(matrix)
        if parents:
            value = record.note(by_leibniz, (), {}, value, parents, partials)
    return value


def end_value(watched: Watched, record: Any, end: Any, shape: Any) -> Any:
    """Give the integrand at a limit; 0 at an infinite one, where there is no other."""
    if np.isinf(primal(end)):
        return np.zeros(shape)
    return outside(record, watched.evaluated(end)[0])


@define(eq=False)
class Slopes:
    """The derivatives of an integrand by nodes of a record, as a function of a number.

    Attributes
    ----------
    watched : Watched
    record : ComputationRecord
    nodes : list of int
    shape : tuple of int
        That of what the integrand gives.
    width : int
        How many numbers all nodes are, a complex one being two.
    """

    watched: Watched
    record: Any
    nodes: list[int]
    shape: tuple[int, ...]
    width: int = field(init=False)
    _known: dict[float, Any] = field(factory=dict, init=False)

    def __attrs_post_init__(self) -> None:
        self.width = sum(size * (2 if is_complex else 1) for _, size, is_complex in self._spaces())

    def _spaces(self) -> list[tuple[Any, int, bool]]:
        """List the shape and the size of each node, and whether it is complex."""
        record = self.record
        return [
            (record.shapes[node], math.prod(record.shapes[node]), record.dtypes[node].kind == "c")
            for node in self.nodes
        ]

    def __call__(self, x: Any) -> Any:
        """Derive all elements by all nodes, shape (elements * width,)."""
        if type(x) is float and x in self._known:  # the integrals of all elements begin alike
            return self._known[x]
        size = math.prod(self.shape)
        seed = np.eye(size).reshape(size, *self.shape)
        rows = []
        found = self.watched.cotangents(self.record, x, self.nodes, seed)
        for ct, (_, length, is_complex) in zip(found, self._spaces(), strict=True):
            if ct is None:
                rows.append(np.zeros((size, length * (2 if is_complex else 1))))
                continue
            block = outside(self.record, ct).reshape(size, length)
            rows += [block.real, block.imag] if is_complex else [block]
        derivatives: Any = np.concatenate(rows, axis=1).reshape(-1)
        if type(x) is float and type(derivatives) is not Tensor:
            self._known[x] = derivatives
        return derivatives

    def maps(self, matrix: Any) -> list[Functional]:
        """Make the maps of the nodes from all their derivatives, shape (elements, width)."""
        maps, start = [], 0
        for shape, size, is_complex in self._spaces():
            part = matrix[:, start : start + size]
            start += size
            if is_complex:
                part = part + 1j * matrix[:, start : start + size]
                start += size
            maps.append(Functional(part, self.shape, shape))
        return maps
