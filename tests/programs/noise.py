"""Running a program with a little noise in each result, to see how far rounding may take it.

The interpreter's calls are done as they are, and whatever rounds has its result moved by a few
units in the last place. What is exact in any correct implementation (what is only moved, chosen,
compared or counted) is left alone, so that ties stay ties.
"""

import operator
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from attrs import define, field, frozen

from tape_ad.base.trees import flatten
from tape_ad.programs.capture.opaque_calls import is_opaque
from tape_ad.programs.program import Call, Guard, Program, Value, replaced
from tape_ad.rules.maps.indexing import added_at, scatter

__all__ = ["Noise", "Sample", "parts_of"]

Array = Any

ULPS = 4
"""By how many units in the last place a result is moved at most."""

CLIP = vars(sys.modules["numpy._core.umath"])["clip"]
"""The ufunc, which NumPy shows by no public name."""

EXACT: frozenset[Any] = frozenset(
    {
        *(np.maximum, np.minimum, np.fmax, np.fmin, np.clip, np.positive, np.negative, np.fabs),
        *(np.copysign, np.conjugate, np.floor, np.ceil, np.trunc, np.rint, np.sign, np.heaviside),
        *(np.ldexp, np.frexp, np.modf, np.fmod, np.floor_divide, np.nextafter, np.spacing),
        CLIP,
        *(operator.neg, operator.pos, operator.abs, operator.floordiv),
    }
)
"""What gives the same number in each correct implementation, besides all that gives no float."""

OF_ZEROS: frozenset[Any] = frozenset(
    {
        *(np.maximum, np.minimum, np.fmax, np.fmin, np.max, np.min, np.ptp, np.nanmax, np.nanmin),
        *(scatter, added_at),
    }
)
"""What gives one of two zeros; or adds -0.0 to 0.0 where an index comes twice, else stores it."""

ARITHMETIC: frozenset[Any] = frozenset(
    {
        *(np.add, np.subtract, np.multiply, np.divide, np.square, np.sqrt, np.reciprocal),
        *(np.remainder, operator.add, operator.sub, operator.mul, operator.truediv, operator.mod),
    }
)
"""What is rounded correctly, for real numbers: a unit in the last place is noise enough."""

PARTWISE: frozenset[Any] = frozenset({np.add, np.subtract, operator.add, operator.sub})
"""What rounds real and imaginary parts each for itself; else by the size of the number."""


@frozen(eq=False)
class Sample:
    """What a noisy run has given.

    Attributes
    ----------
    leaves : list
        One for each of the program's outputs; empty where a call has failed.
    turn : tuple or None
        The first guard that got another answer, and what it got, after which the run goes on as if
        it had not; (None, type) of an error.
    """

    leaves: list[Any]
    turn: tuple[Any, Any] | None


@define(eq=False)
class Noise:
    """A source of noise, the same for the same seed.

    Attributes
    ----------
    seed : int
    rng : Generator
    """

    seed: int
    rng: np.random.Generator = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.rng = np.random.default_rng(self.seed)

    def run(self, program: Program, inputs: Sequence[Any]) -> Sample:
        """Run a program with noise."""
        values: dict[Value, Any] = dict(zip(program.inputs, inputs, strict=True))
        values |= {constant.value: constant.data for constant in program.constants}
        guards, turn = 0, None
        try:
            for step in program.steps:
                if isinstance(step, Guard):
                    answer = step.question(values[step.value])
                    turn = turn or ((guards, answer) if answer != step.answer else None)
                    guards += 1
                    continue
                with np.errstate(**(step.errors or {})):
                    outs = self.called(step, values)
                values |= zip(step.outputs, outs, strict=True)
        except Exception as error:  # which noise may lead to, as of a Cholesky decomposition
            return Sample([], turn or (None, type(error)))
        return Sample([values[value] for value in program.outputs], turn)

    def called(self, call: Call, values: dict[Value, Any]) -> Sequence[Any]:
        """Do a call with noise."""
        args, kwargs = replaced(call.args, values), replaced(call.kwargs, values)
        out = call.function(*args, **kwargs)
        outs = list(out) if call.several else [out]
        given = [leaf for leaf in flatten((args, dict(kwargs))) if is_number(leaf)]
        exact = [is_exact(call.function, one, given) for one in outs]
        if all(exact):
            return outs
        function, others = call.function, outs
        alone = is_opaque(function) or (
            isinstance(function, np.ufunc) and function.signature is None
        )
        if not alone and function not in ARITHMETIC:
            others = self.called_with_moved_operands(call, values, outs)
        return [
            one if same else self.moved(other, one, function, given)
            for one, other, same in zip(outs, others, exact, strict=True)
        ]

    def called_with_moved_operands(
        self, call: Call, values: dict[Value, Any], outs: list[Any]
    ) -> list[Any]:
        """Do a call of a sum of products or the like, which rounds within: with other operands."""
        operands = {value: values[value] for value in call.operands}
        arrays = [x for x in operands.values() if isinstance(x, np.ndarray)]
        if any(np.may_share_memory(out, x) for out in outs for x in arrays):
            return outs
        moved = {
            value: self.moved(x, x, call.function, ()) if is_inexact(x) else x
            for value, x in operands.items()
        }
        out = call.function(*replaced(call.args, moved), **replaced(call.kwargs, moved))
        return list(out) if call.several else [out]

    def moved(self, x: Any, plain: Any, function: Any, given: Sequence[Any]) -> Any:
        """Move each element that is not exact by some units in the last place.

        Parameters
        ----------
        x : array or number
        plain : array or number
            What the call has given without noise, of which the exact elements are taken.
        function : callable
        given : sequence of array and number
            What it was called with.
        """
        array = np.array(x, order="K")
        if (np.shape(plain), np.asarray(plain).dtype) != (array.shape, array.dtype):
            return x  # another kind of result, as of eigenvalues that are complex now
        real = array.dtype.kind == "f"
        ulps = 1 if real and function in ARITHMETIC else ULPS
        size = np.abs(array) if real else np.maximum(np.abs(array.real), np.abs(array.imag))
        before = np.asarray(plain)
        known = settled(before, function, given)
        varies, ordered = signs_vary(before, function), chooses_zeros(function, given)
        every = not real and function not in PARTWISE and all(map(is_full, given))
        with np.errstate(all="ignore"):
            for part, old, kept in zip(parts_of(array), parts_of(before), known, strict=True):
                steps = self.rng.integers(-ulps, ulps + 1, size=array.shape)
                by = steps * np.spacing(np.abs(part) if function in PARTWISE else size)
                if real:  # a denormal number keeps its sign
                    by = np.clip(by, -size / 2, size / 2)
                moves = np.isfinite(by) & (every | (part != 0))
                part[...] = np.where(kept, old, np.where(moves, part + by, part))
                if varies or ordered:
                    part[...] = np.where(part == 0, np.copysign(0, steps + 0.5), part)
        if isinstance(x, np.ndarray):
            array.flags.writeable = x.flags.writeable
            return array
        return array[()] if isinstance(x, np.generic) else type(x)(array[()])


def is_number(leaf: Any) -> bool:
    return isinstance(leaf, (np.ndarray, np.generic, float, int, complex))


def is_inexact(leaf: Any) -> bool:
    return is_number(leaf) and np.asarray(leaf).dtype.kind in "fc"


def is_full(x: Any) -> bool:
    """Tell whether no real and no imaginary part is 0."""
    array = np.asarray(x)
    return array.dtype.kind == "c" and bool(np.all((array.real != 0) & (array.imag != 0)))


def parts_of(array: Array) -> list[Array]:
    """List the array, or of a complex one the real and the imaginary part."""
    return [array.real, array.imag] if array.dtype.kind == "c" else [array]


def is_exact(function: Callable[..., Any], out: Any, given: Sequence[Any]) -> bool:
    """Tell whether a whole result is what every implementation gives."""
    if not is_inexact(out):
        return True
    if isinstance(out, np.ndarray) and any(
        np.may_share_memory(out, x) for x in given if isinstance(x, np.ndarray)
    ):
        return True
    array = np.asarray(out)
    if chooses_zeros(function, given) and any(np.any(part == 0) for part in parts_of(array)):
        return False
    if function in EXACT or (function is np.absolute and np.asarray(given[0]).dtype.kind == "f"):
        return True
    if signs_vary(array, function) and any(np.any(part == 0) for part in parts_of(array)):
        return False
    return all(map(np.all, settled(array, function, given)))


def chooses_zeros(function: Callable[..., Any], given: Sequence[Any]) -> bool:
    """Tell whether a call chooses among zeros of both signs, which NumPy does as it comes."""
    if function not in OF_ZEROS and getattr(function, "__self__", None) not in OF_ZEROS:
        return False
    parts = [part for x in given if is_inexact(x) for part in parts_of(np.asarray(x))]
    signs = [np.signbit(part[part == 0]) for part in parts]
    found = np.concatenate([*(each.ravel() for each in signs), np.zeros(0, bool)])
    mixed = any(not is_inexact(x) for x in given)  # of which a zero has no sign
    return bool(found.any() and (mixed or not found.all()))


def signs_vary(out: Array, function: Callable[..., Any]) -> bool:
    """Tell whether the signs of zeros are those of sums of products in one order or another."""
    return out.dtype.kind == "c" and not isinstance(function, np.ufunc)


def settled(out: Array, function: Callable[..., Any], given: Sequence[Any]) -> list[Array]:
    """Tell of each part of each element whether it is chosen or counted, and not rounded."""
    parts = parts_of(out)
    if function in EXACT:
        return [np.ones(out.shape, bool)] * len(parts)
    if isinstance(function, np.ufunc) and function not in ARITHMETIC:
        return [np.zeros(out.shape, bool)] * len(parts)
    sizes = [np.abs(part) for part in parts]
    if all(np.all((size == 0) | (size == 1)) for size in sizes):
        return [np.ones(out.shape, bool)] * len(parts)
    pool = pooled(given, sizes[0].dtype)
    found = [np.isin(size, pool) for size in sizes]
    if np.all(pool == np.rint(pool)):
        found = [one | (size == np.rint(size)) for one, size in zip(found, sizes, strict=True)]
    return found


def pooled(given: Iterable[Any], dtype: Any) -> Array:
    """Collect the sizes of all finite numbers among the operands, and 0."""
    with np.errstate(all="ignore"):
        sizes = [
            np.abs(part).ravel().astype(dtype)
            for x in given
            for part in parts_of(np.asarray(x))
            if part.dtype.kind in "biuf"
        ]
    pool = np.unique(np.concatenate([*sizes, np.zeros(1, dtype)]))
    finite: Array = pool[np.isfinite(pool)]
    return finite
