"""Checks of derivatives against differences, for those who write rules of their own."""

import math
import numbers
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from attrs import frozen

from tape_ad.base.errors import GradientCheckError, OutputError
from tape_ad.base.naming import called
from tape_ad.base.trees import flatten, map_leaves, unflatten, with_paths
from tape_ad.record.spaces import float_to_array
from tape_ad.rules.maps import Array
from tape_ad.transforms.blocks import has_derivative
from tape_ad.transforms.gradients import jvp, vjp
from tape_ad.transforms.tracing import check_callable

Function = Callable[..., Any]


def check_grads(
    f: Function,
    args: Any,
    order: int = 2,
    modes: Iterable[str] = ("fwd", "rev"),
    *,
    atol: float | None = None,
    rtol: float | None = None,
    eps: float | None = None,
) -> None:
    """Compare the derivatives of a function with central differences, entry by entry.

    The first derivatives are compared with differences of the function, in each mode. Those of
    the next order are compared with differences of a derivative of the function along a random
    direction, once for each way to compute that; and so on.

    Parameters
    ----------
    f : callable
        A function of arrays or trees of them, which returns an array or a tree. It is evaluated
        twice for every element of the arguments, so these should be small.
    args : tuple or list
        The arguments. Integers in them are constants.
    order : int
        Up to which order.
    modes : iterable of {"fwd", "rev"}
        Which modes to check, and to nest in each other.
    atol, rtol : float, optional
        The tolerance is ``atol + rtol * (the largest derivative by that argument)``, both
        cbrt(machine epsilon) / 4 when left out: 1.5e-6 for float64 and 1.2e-3 for float32.
    eps : float, optional
        The step, relative to an element's size where that is above 1; cbrt(machine epsilon) when
        left out, with the epsilon of the coarsest dtype among arguments and outputs.

    Raises
    ------
    GradientCheckError
        It says which entry of which output, by which entry of which argument, in which mode and
        of which order is off the most, and by how much.
    OutputError
        When `f` returns nothing that has a derivative.

    Examples
    --------
    >>> check_grads(np.sin, (np.linspace(0, 1, 5),), order=3)
    """
    check_callable("check_grads", f)
    if not isinstance(args, (tuple, list)):
        raise TypeError("check_grads takes the arguments as a tuple: check_grads(f, (x,))")
    chosen = tuple(modes)
    if not isinstance(order, numbers.Integral):
        raise TypeError(f"check_grads takes the highest order as an int, not order={order!r}")
    for name, value in (("atol", atol), ("rtol", rtol), ("eps", eps)):
        if value is not None and not value >= 0:
            raise ValueError(f"check_grads: {name} must be at least 0, got {value!r}")
    if order < 1 or not chosen or not set(chosen) <= {"fwd", "rev"}:
        raise ValueError(f"order={order} is at least 1 and modes={modes!r} some of 'fwd' and 'rev'")
    args = map_leaves(float_to_array, tuple(args))
    named = [(path, leaf) for path, leaf in with_paths(args) if has_derivative(leaf)]
    slots = [i for i, leaf in enumerate(flatten(args)) if has_derivative(leaf)]

    def inside(*values: Array) -> dict[str, Array]:
        leaves = flatten(args)
        for slot, value in zip(slots, values, strict=True):
            leaves[slot] = value
        return by_path(f(*unflatten(args, leaves)))

    values = [leaf for _, leaf in named]
    outputs = inside(*values)
    if not outputs:
        raise OutputError(f"{called(f)} returned no array of numbers, so there is nothing to check")
    epsilon = max(np.finfo(each.dtype).eps for each in [*values, *outputs.values()])
    fraction = float(np.cbrt(epsilon)) / 4
    check = Check(
        called(f),
        [f"argument {path[1:].replace(']', '', 1)}" for path, _ in named],
        chosen,
        fraction if atol is None else atol,
        fraction if rtol is None else rtol,
        float(np.cbrt(epsilon)) if eps is None else eps,
    )
    check.up_to(order, inside, values, ())


@frozen
class Check:
    """What is the same for all orders of one check."""

    name: str
    places: list[str]
    modes: tuple[str, ...]
    atol: float
    rtol: float
    eps: float

    def up_to(self, order: int, f: Function, values: list[Array], way: tuple[str, ...]) -> None:
        """Check the derivatives of a function that is itself a derivative taken in some way."""
        expected = self.differences(f, values)
        for mode in self.modes:
            found = by_pushing(f, values) if mode == "fwd" else by_pulling(f, values)
            self.compare(found, expected, f(*values), values, (mode, *way))
        if order == 1:
            return
        rng = np.random.default_rng(len(way))
        tangents = tuple(random_like(value, rng) for value in values)
        cotangents = {path: random_like(out, rng) for path, out in f(*values).items()}

        def pushed(*values: Array) -> dict[str, Array]:
            result: dict[str, Array] = jvp(f, values, tangents)[1]
            return result

        def pulled(*values: Array) -> dict[str, Array]:
            return by_path(vjp(f, *values)[1](cotangents))

        for mode in self.modes:
            self.up_to(order - 1, pushed if mode == "fwd" else pulled, values, (mode, *way))

    def differences(self, f: Function, values: list[Array]) -> list[Array]:
        """Compute, for each argument, a matrix of central differences over its real numbers."""
        found = []
        for i, value in enumerate(values):
            columns = []
            for j, at in enumerate(as_reals(value)):
                step = self.eps * max(1.0, abs(at))
                sides = []
                for moved in (at + step, at - step):
                    reals = as_reals(value).copy()
                    reals[j] = moved
                    there = reals.view(value.dtype).reshape(value.shape)
                    out = f(*values[:i], there, *values[i + 1 :])
                    sides.append((reals[j], np.concatenate([*map(as_reals, out.values()), []])))
                (right, above), (left, below) = sides
                columns.append((above - below) / (right - left))
            found.append(np.stack(columns, axis=1) if columns else np.zeros((0, 0)))
        return found

    def compare(
        self,
        found: list[Array],
        expected: list[Array],
        outputs: dict[str, Array],
        values: list[Array],
        way: tuple[str, ...],
    ) -> None:
        """Compare the matrices for all arguments.

        Raises
        ------
        GradientCheckError
        """
        for place, value, got, want in zip(self.places, values, found, expected, strict=True):
            if want.size == 0:
                continue
            tolerance = self.atol + self.rtol * np.max(np.abs(want))
            apart = np.abs(got - want)
            apart[np.isnan(apart)] = np.inf
            off = ~(apart <= tolerance)
            if not off.any():
                continue
            row, column = map(int, np.unravel_index(np.argmax(apart), apart.shape))
            raise GradientCheckError(
                f"{self.name}, order {len(way)}, {' over '.join(way)}: the derivative of "
                f"{entry_of_outputs(outputs, row)} by {place}, {entry(value, column)}, is "
                f"{got[row, column]:.8g}, where differences give {want[row, column]:.8g}: off by "
                f"{apart[row, column]:.2g}, with a tolerance of {tolerance:.2g}; "
                f"{np.count_nonzero(off)} of {off.size} entries are off"
            )


def by_pushing(f: Function, values: list[Array]) -> list[Array]:
    """Compute, for each argument, the matrix of derivatives over real numbers in forward mode."""
    found = []
    for i, value in enumerate(values):
        tangents = [None] * i + [unit_rows(value)] + [None] * (len(values) - i - 1)
        pushed = jvp(f, values, tangents)[1]
        rows = [as_reals(t, stack=1) for t in pushed.values()]
        found.append(np.concatenate(rows, axis=1).T)
    return found


def by_pulling(f: Function, values: list[Array]) -> list[Array]:
    """Check derivatives in reverse mode: pull cotangents, and compare."""
    outputs, pull = vjp(f, *values)
    found: list[list[Array]] = [[] for _ in values]
    for path, out in outputs.items():
        cotangents = dict.fromkeys(outputs) | {path: unit_rows(out)}
        for rows, ct in zip(found, pull(cotangents), strict=True):
            rows.append(as_reals(ct, stack=1))
    return [np.concatenate(rows) for rows in found]


def by_path(tree: Any) -> dict[str, Array]:
    """List the arrays of a tree that have derivatives, by their places."""
    pairs = with_paths(map_leaves(float_to_array, tree))
    return {path: leaf for path, leaf in pairs if has_derivative(leaf)}


def as_reals(array: Array, stack: int = 0) -> Array:
    """View an array as real numbers, in one axis behind a stack; a complex number is two."""
    lengths = np.shape(array)
    flat = (*lengths[:stack], math.prod(lengths[stack:]))
    reals = np.ascontiguousarray(array).reshape(flat)
    return reals.view(reals.real.dtype)


def unit_rows(space: Array) -> Array:
    """Make the unit vectors of a space over the real numbers: 1, and for complex numbers 1j."""
    real = np.zeros((), space.dtype).real.dtype
    rows = np.eye(as_reals(space).size, dtype=real).view(space.dtype)
    return rows.reshape(rows.shape[0], *space.shape)


def random_like(space: Array, rng: np.random.Generator) -> Array:
    """Draw a direction in a space."""
    reals = rng.normal(size=as_reals(space).size).astype(np.zeros((), space.dtype).real.dtype)
    return reals.view(space.dtype).reshape(space.shape)


def entry(space: Array, number: int) -> str:
    """Name an entry by its index, given its number among the real numbers of the space."""
    parts = 2 if space.dtype.kind == "c" else 1
    index = tuple(int(i) for i in np.unravel_index(number // parts, space.shape))
    part = ("real part of ", "imaginary part of ")[number % 2] if parts == 2 else ""
    return f"{part}entry {index}" if index else f"{part}its value"


def entry_of_outputs(outputs: dict[str, Array], number: int) -> str:
    """Name an entry of one of the outputs, given its number among all."""
    paths, sizes = list(outputs), [as_reals(out).size for out in outputs.values()]
    which = int(np.searchsorted(np.cumsum(sizes), number, side="right"))
    before = sum(sizes[:which])
    return f"output{paths[which]}, {entry(outputs[paths[which]], number - before)},"
