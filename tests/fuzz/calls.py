"""Random calls of every function, compared with NumPy's value and with differences.

python -m tests.fuzz.calls --seconds 3600 --seed 0     look for calls that go wrong
python -m tests.fuzz.calls --seed 0 --number 123       try one call again
"""

import argparse
import copy
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
from attrs import frozen

import tape_ad as ta
from tape_ad.errors import TapeError
from tape_ad.trees import flatten, unflatten
from tests.fuzz.drawing import Call, draw_call
from tests.rules.checks import central_difference, magnitude, pairing

__all__ = ["Problem", "problems_of", "tried"]

Array = Any


@frozen
class Problem:
    """What is wrong with a call: a kind of problem in a word, and the rest of the story."""

    kind: str
    story: str


@frozen(eq=False)
class Attempt:
    """A call, with those of its arrays that are differentiated.

    Attributes
    ----------
    call : Call
    leaves : list
        All leaves of the arguments.
    active : tuple of int
        Which of them are handles.
    """

    call: Call
    leaves: list[Any]
    active: tuple[int, ...]

    @property
    def values(self) -> list[Array]:
        """The arrays to differentiate by."""
        return [self.leaves[i] for i in self.active]

    def result(self, *values: Array) -> Any:
        """Call the function with other values for the active leaves."""
        leaves = [copy.copy(x) if type(x) is np.ndarray else x for x in self.leaves]
        for i, value in zip(self.active, values, strict=True):
            leaves[i] = value
        args, kwargs = unflatten((self.call.args, self.call.kwargs), leaves)
        return self.call.run(*args, **kwargs)

    def outputs(self, *values: Array) -> list[Array]:
        """List the results that are numbers."""
        return [leaf for leaf in flatten(self.result(*values)) if is_inexact(leaf)]


def is_inexact(leaf: Any) -> bool:
    return isinstance(leaf, (np.ndarray, np.generic, ta.Tensor)) and leaf.dtype.kind in "fc"


def tried(seed: int, number: int) -> tuple[Call, Problem | None]:
    """Draw a call and look for a problem with it; the same for the same numbers."""
    rng = np.random.default_rng([seed, number])
    call = draw_call(rng)
    leaves = flatten((call.args, call.kwargs))
    can = [i for i, leaf in enumerate(leaves) if type(leaf) is np.ndarray and is_inexact(leaf)]
    if not can:
        return call, None
    chosen = [i for i in can if rng.random() < 0.7] or can[:1]
    attempt = Attempt(call, leaves, tuple(chosen))
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return call, next(problems_of(attempt, rng), None)


def problems_of(attempt: Attempt, rng: np.random.Generator) -> Iterator[Problem]:
    """Compare a call with NumPy, and its derivatives with each other and with differences."""
    plain: Any = None
    refusal: Exception | None = None
    try:
        plain = attempt.result(*map(np.copy, attempt.values))
    except Exception as error:
        refusal = error
    record = ta.ComputationRecord()
    try:
        ours = attempt.result(*map(record.tensor, attempt.values))
    except TapeError:
        return  # a refusal of ours, which says so
    except Exception as error:
        if refusal is None:
            yield Problem("raises", f"{type(error).__name__}: {error}; NumPy gives {plain!r}")
        return
    if refusal is not None:
        yield Problem("silent", f"gives {ours!r}; NumPy raises {refusal!r}")
        return
    yield from differing(flatten(plain), flatten(ours))
    yield from wrong_derivatives(attempt, rng)


def differing(plain: list[Any], ours: list[Any]) -> Iterator[Problem]:
    """Compare what NumPy gives with what handles give."""
    if len(plain) != len(ours):
        yield Problem("structure", f"gives {len(ours)} results; NumPy {len(plain)}")
        return
    for expected, found in zip(plain, ours, strict=True):
        value = found.data if isinstance(found, ta.Tensor) else found
        if not isinstance(expected, (np.ndarray, np.generic)):
            continue
        shape, dtype = np.shape(value), np.asarray(value).dtype
        if shape != expected.shape or dtype != expected.dtype:
            yield Problem("kind", f"{dtype}{shape}; NumPy {expected.dtype}{expected.shape}")
        elif dtype.kind in "fc" and not agree(value, expected, 64 * precision([expected])):
            yield Problem("value", f"gives {value!r}; NumPy {expected!r}")


def agree(one: Array, other: Array, tolerance: float) -> bool:
    """Tell whether arrays agree relative to their largest finite element, and in what is not."""
    scale = np.max(np.abs(other), initial=0.0, where=np.isfinite(other))
    return bool(np.allclose(one, other, rtol=tolerance, atol=tolerance * scale, equal_nan=True))


def precision(arrays: list[Array]) -> float:
    """Give the largest machine epsilon among arrays."""
    return max((float(np.finfo(a.dtype).eps) for a in arrays if is_inexact(a)), default=0.0)


def random_like(rng: np.random.Generator, arrays: list[Array], *stack: int) -> list[Array]:
    """Draw normal arrays of the shapes and dtypes of others, behind a stack."""
    found = []
    for a in arrays:
        numbers: Any = rng.standard_normal((*stack, *np.shape(a)))
        if a.dtype.kind == "c":
            numbers = numbers + 1j * rng.standard_normal((*stack, *np.shape(a)))
        found.append(np.asarray(numbers).astype(a.dtype))
    return found


def wrong_derivatives(attempt: Attempt, rng: np.random.Generator) -> Iterator[Problem]:
    """Check push against pull, stacks against loops, and push against differences."""
    values = attempt.values
    try:
        outs, push = ta.linearize(attempt.outputs, *values)
        _, pull = ta.vjp(attempt.outputs, *values)
        tangents, cts = random_like(rng, values), random_like(rng, outs)
        pushed, pulled = push(*tangents), list(pull(cts))
        stacked = list(pull(random_like(np.random.default_rng(0), outs, 2)))
    except TapeError:
        return
    except Exception as error:
        yield Problem("sweep", f"{type(error).__name__}: {error}")
        return
    if not all(np.isfinite(a).all() for a in [*outs, *pushed, *pulled]) or not outs:
        return
    tolerance = 1e3 * precision([*values, *outs, *attempt.leaves])
    scale = magnitude(cts, pushed) + magnitude(pulled, tangents)
    if abs(pairing(cts, pushed) - pairing(pulled, tangents)) > tolerance * scale:
        yield Problem("adjoint", f"{pairing(cts, pushed)} and {pairing(pulled, tangents)}")
    both = random_like(np.random.default_rng(0), outs, 2)
    for i in range(2):
        for one, other in zip(stacked, pull([ct[i] for ct in both]), strict=True):
            if not agree(one[i], other, tolerance):
                yield Problem("stack", f"{one[i]!r} and {other!r}")
    if attempt.call.smooth and tolerance < 1e-10:
        yield from unlike_differences(attempt, tangents, pushed)


def unlike_differences(
    attempt: Attempt, tangents: list[Array], pushed: list[Array]
) -> Iterator[Problem]:
    """Compare with central differences of two steps, where these agree: elsewhere is a kink."""
    values = [v.astype(v.dtype.newbyteorder("=")) for v in attempt.values]
    try:
        near, far = (
            central_difference(lambda x: attempt.outputs(*x), values, tangents, step)
            for step in (2e-4, 5e-5)
        )
    except Exception:
        return
    for one, other, found in zip(near, far, pushed, strict=True):
        if not one.shape == other.shape == found.shape:
            return  # as many elements as differ
        scale = np.max(np.abs(one), initial=1.0)
        if np.all(np.abs(one - other) <= 1e-7 * scale) and not np.all(
            np.abs(found - one) <= 1e-5 * scale
        ):
            yield Problem("difference", f"pushes {found!r}; differences give {one!r}")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.calls", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--number", type=int, help="try one call alone")
    chosen = parser.parse_args()
    end, seen = time.monotonic() + chosen.seconds, Counter[tuple[str, str]]()
    number = chosen.number or 0
    while time.monotonic() < end:
        call, problem = tried(chosen.seed, number)
        if problem is not None:
            key = (call.name, problem.kind)
            seen[key] += 1
            if seen[key] == 1:
                print(f"--seed {chosen.seed} --number {number}: {problem.kind}", flush=True)
                print(f"    {call}\n    {problem.story}"[:1500], flush=True)
        if chosen.number is not None:
            break
        number += 1
    print(f"{number} calls, {sum(seen.values())} problems of {len(seen)} kinds")


if __name__ == "__main__":
    main()
