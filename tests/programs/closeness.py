"""Whether a replay is as close to eager as rounding allows."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from attrs import define, field

from tape_ad.programs.program import Diverged, Program
from tests.programs.noise import Noise, Sample, parts_of

__all__ = ["Reference"]

Array = Any

FACTOR = 8
"""How much farther than a noisy run another implementation may lie."""
ULPS = 8
"""How many units in the last place of the result it may lie farther still."""
RUNS = (6, 48)
"""How many noisy runs are looked at; and how many more before a difference is believed."""


@define(eq=False)
class Reference:
    """What a program gives for certain inputs, with what rounding may make of it.

    There is a noisy run only where something differs by more than `ULPS`.

    Attributes
    ----------
    program : Program
    inputs : sequence of array and number
    wanted : tuple, Diverged or Exception
        What eager gives: a leaf for each of the program's outputs.
    samples : list of Sample
    """

    program: Program
    inputs: Sequence[Any]
    wanted: Any
    samples: list[Sample] = field(factory=list, init=False)

    def problem(self, given: Any) -> str:
        """Say what is wrong with what a replay gives; nothing where it is close enough."""
        found = self.problem_now(given)
        for runs in RUNS:
            if not found:
                break
            for seed in range(len(self.samples), runs):
                self.samples.append(Noise(seed).run(self.program, self.inputs))
            found = self.problem_now(given)
        return found

    def problem_now(self, given: Any) -> str:
        """Compare with the noisy runs that there are."""
        wanted = self.wanted
        if not (type(given) is type(wanted) is tuple):
            kinds = {type(given), type(wanted)}
            if tuple not in kinds and kinds != {Diverged}:
                return ""  # an error, before a guard or behind it: the function itself runs then
            turns = {repr(sample.turn) for sample in self.samples}
            if turn_of(given) == turn_of(wanted) or turns - {repr(turn_of(wanted))}:
                return ""
            return f"{shown(given)} in place of {shown(wanted)}"
        if len(given) != len(wanted):
            return f"{len(given)} results in place of {len(wanted)}"
        runs = [sample.leaves for sample in self.samples if sample.leaves]
        for place, (one, other) in enumerate(zip(given, wanted, strict=True)):
            found = problem_of(one, other, [leaves[place] for leaves in runs])
            if found:
                return f"result {place}: {found}"
        return ""


def turn_of(outcome: Any) -> tuple[Any, Any] | None:
    """Say where a replay has ended, if it has not come to a result."""
    if isinstance(outcome, Diverged):
        return outcome.guard, outcome.answer
    return None if type(outcome) is tuple else (None, type(outcome))


def shown(outcome: Any) -> str:
    """Write what a replay has given, if it is no result."""
    if isinstance(outcome, Diverged):
        return f"another answer to guard {outcome.guard}: {outcome.answer!r}"
    return "a result" if type(outcome) is tuple else repr(outcome)


def problem_of(one: Any, other: Any, samples: Sequence[Any]) -> str:
    """Compare two leaves."""
    if type(one) is not type(other):
        return f"a {type(one).__name__} in place of a {type(other).__name__}"
    ours, theirs = np.asarray(one), np.asarray(other)
    if theirs.dtype.kind not in "biufc":
        return "" if one is other or one == other else f"{one!r} in place of {other!r}"
    if (ours.dtype, ours.shape) != (theirs.dtype, theirs.shape):
        return f"{ours.dtype}{list(ours.shape)} in place of {theirs.dtype}{list(theirs.shape)}"
    alike = [np.asarray(x) for x in samples]
    alike = [x for x in alike if (x.dtype, x.shape) == (theirs.dtype, theirs.shape)]
    if len(alike) < len(samples):
        return ""  # with noise it is another kind of result: of eigenvalues, for example
    wrong = ~close(ours, theirs, alike)
    if not wrong.any():
        return ""
    place = tuple(int(i) for i in np.argwhere(wrong)[0])
    return (
        f"{np.count_nonzero(wrong)} of {wrong.size} elements of {theirs.dtype}"
        f"{list(theirs.shape)}; at {list(place)} {ours[place]!r} in place of {theirs[place]!r}, "
        f"which noise makes {[x[place].item() for x in alike[:4]]}"
    )


def close(ours: Array, theirs: Array, samples: Sequence[Array]) -> Array:
    """Tell of each element whether it is close enough."""
    if theirs.dtype.kind not in "fc":
        near = np.asarray(ours == theirs)
        for sample in samples:  # what noise makes another may be another
            near = near | (sample != theirs)
        return near
    with np.errstate(all="ignore"):
        size = np.maximum.reduce([np.abs(part) for part in parts_of(theirs)])
        size = np.where(np.isfinite(size), size, 0)
        parts = [parts_of(x) for x in (ours, theirs, *samples)]
        near = np.ones(theirs.shape, bool)
        for one, other, *noisy in zip(*parts, strict=True):
            near &= close_parts(one, other, size, noisy)
    return near


def close_parts(ours: Array, theirs: Array, size: Array, samples: Sequence[Array]) -> Array:
    """Tell of each real number whether it is close enough."""
    bound = ULPS * np.spacing(size)
    same = kind_of(ours) == kind_of(theirs)
    for sample in samples:
        bound = np.maximum(bound, FACTOR * np.abs(sample - theirs) + ULPS * np.spacing(size))
        same |= kind_of(sample) != kind_of(theirs)
    finite = np.isfinite(ours) & np.isfinite(theirs)
    signs = (ours != 0) | (theirs != 0) | (np.signbit(ours) == np.signbit(theirs))
    for sample in samples:
        signs |= (sample != 0) | (np.signbit(sample) != np.signbit(theirs))
    return same & signs & (~finite | ~(np.abs(ours - theirs) > bound))


def kind_of(part: Array) -> Array:
    """Tell finite numbers, nan, inf and -inf apart."""
    infinite = np.isinf(part) * np.where(np.signbit(part), 2, 1)
    return np.where(np.isnan(part), 3, infinite)
