"""What may be wrong with a call: its value, its derivatives of first and second order, its time."""

import copy
import signal
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import numpy as np
from attrs import frozen

import tape_ad as ta
from tape_ad.base.trees import flatten, unflatten
from tape_ad.errors import TapeError
from tests.fuzz.drawing import Call
from tests.rules.checks import central_difference, magnitude, pairing

__all__ = ["Attempt", "Problem", "in_time", "is_inexact", "problems_of"]

Array = Any

SECONDS = 60
"""How long all that is done about a call may take; most take a few milliseconds."""


@frozen
class Problem:
    """What is wrong with a call: a kind of problem in a word, and the rest of the story.

    Attributes
    ----------
    kind : str
        "refused" where NumPy computes and we say that we do not, which may be as it should;
        "raises" and "sweep" where we raise anything else; "silent" where NumPy raises and we do
        not; "structure", "kind" and "value" of the result; "adjoint", "stack", "difference",
        "second" and "single" of its derivatives; "slow".
    story : str
    """

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

    def in_double(self) -> "Attempt":
        """Make the same attempt in double precision."""
        return Attempt(self.call, [doubled(leaf) for leaf in self.leaves], self.active)


def is_inexact(leaf: Any) -> bool:
    return isinstance(leaf, (np.ndarray, np.generic, ta.Tensor)) and leaf.dtype.kind in "fc"


def doubled(leaf: Any) -> Any:
    return leaf.astype(np.result_type(leaf, np.float64)) if is_inexact(leaf) else leaf


def is_refusal(error: BaseException | None) -> bool:
    """Tell whether an error says that there is no derivative, maybe through one of NumPy's."""
    if isinstance(error, np.linalg.LinAlgError) and "no derivative" in str(error):
        return True
    return error is not None and (isinstance(error, TapeError) or is_refusal(error.__cause__))


class OutOfTime(BaseException):
    """No `Exception`, so that nothing on the way takes it for an answer."""


def in_time(look: Callable[[], Problem | None], seconds: int = SECONDS) -> Problem | None:
    """Look for a problem; taking very long is one."""

    def stop(*_: Any) -> NoReturn:
        raise OutOfTime

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        return look()
    except OutOfTime:
        return Problem("slow", f"took more than {seconds} seconds")
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


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
    except Exception as error:
        if refusal is None:
            kind = "refused" if is_refusal(error) else "raises"
            yield Problem(kind, f"{type(error).__name__}: {error}; NumPy gives {plain!r}")
        return
    if refusal is not None:
        yield Problem("silent", f"gives {ours!r}; NumPy raises {refusal!r}")
        return
    yield from differing(flatten(plain), flatten(ours), attempt)
    yield from wrong_derivatives(attempt, rng)


def differing(plain: list[Any], ours: list[Any], attempt: Attempt) -> Iterator[Problem]:
    """Compare what NumPy gives with what handles give.

    Of a function that stands for SciPy's, which is a composition here and there, each step may
    round to the precision of the operands, and what cancels leaves what it does of numbers near 1.
    """
    composed = attempt.call.name.startswith("tape_ad.")
    rounded, floor = (attempt.leaves, 1.0) if composed else ([], 0.0)
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
        elif dtype.kind in "fc" and not agree(
            value, expected, 64 * precision([expected, *rounded]), floor
        ):
            yield Problem("value", f"gives {value!r}; NumPy {expected!r}")


def agree(one: Array, other: Array, tolerance: float, floor: float = 0.0) -> bool:
    """Tell whether arrays agree relative to their largest finite element, and in what is not.

    `floor` is what that element counts as at least.
    """
    scale = np.max(np.abs(other), initial=floor, where=np.isfinite(other))
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
        both = random_like(rng, values, 2), random_like(rng, outs, 2)
        stacked = [*push(*both[0]), *pull(both[1])]
        rows = [[*push(*(t[i] for t in both[0])), *pull([c[i] for c in both[1]])] for i in (0, 1)]
    except Exception as error:
        if not is_refusal(error):
            yield Problem("sweep", f"{type(error).__name__}: {error}")
        return
    yield from misfitting([*pushed, *pulled], [*outs, *values])
    if not all(np.isfinite(a).all() for a in [*outs, *pushed, *pulled]) or not outs:
        return
    tolerance = 1e3 * precision([*values, *outs, *attempt.leaves])
    yield from unpaired(tangents, pushed, cts, pulled, tolerance)
    for row, alone in enumerate(rows):
        for one, other in zip(stacked, alone, strict=True):
            if not agree(one[row], other, tolerance, floor=1 / 16):
                yield Problem("stack", f"{one[row]!r} and {other!r}")
    if not attempt.call.smooth:
        return
    if tolerance < 1e-10:
        moving = [v.astype(v.dtype.newbyteorder("=")) for v in values]
        yield from unlike("difference", attempt.outputs, moving, tangents, pushed)
        if rng.random() < 0.3:
            yield from wrong_second(attempt, moving, cts, rng)
    elif tolerance < 1e-3:
        yield from unlike_double(attempt, outs, tangents, pushed)


def misfitting(given: list[Array], spaces: list[Array]) -> Iterator[Problem]:
    """Compare shapes and dtypes, but for the byte order, which NumPy's numbers do not have."""
    for one, space in zip(given, spaces, strict=True):
        if one.shape != space.shape or one.dtype.type is not space.dtype.type:
            yield Problem("sweep", f"{one.dtype}{one.shape} for {space.dtype}{space.shape}")


def unpaired(
    tangents: list[Array],
    pushed: list[Array],
    cts: list[Array],
    pulled: list[Array],
    tolerance: float,
) -> Iterator[Problem]:
    """Compare <ct, push(t)> with <pull(ct), t>.

    What cancels exactly leaves rounding errors of what it is made of, which is about as large as
    the cotangents times the tangents.
    """
    one, other = pairing(cts, pushed), pairing(pulled, tangents)
    small = sum(np.abs(t).sum() for t in tangents) * sum(np.abs(ct).sum() for ct in cts) / 16
    if abs(one - other) > tolerance * (
        magnitude(cts, pushed) + magnitude(pulled, tangents) + small
    ):
        yield Problem("adjoint", f"{one} and {other}")


def wrong_second(
    attempt: Attempt, values: list[Array], cts: list[Array], rng: np.random.Generator
) -> Iterator[Problem]:
    """Compare the derivative of what is pulled with differences of it."""
    tangents = random_like(rng, values)

    def pulled(*x: Array) -> list[Array]:
        return list(ta.vjp(attempt.outputs, *x)[1](cts))

    try:
        first, pushed = ta.jvp(pulled, tuple(values), tuple(tangents))
    except Exception as error:
        if not is_refusal(error):
            yield Problem("second", f"{type(error).__name__}: {error}")
        return
    if all(np.isfinite(a).all() for a in [*first, *pushed]):
        yield from unlike("second", pulled, values, tangents, pushed)


def unlike(
    kind: str,
    function: Callable[..., list[Array]],
    values: list[Array],
    tangents: list[Array],
    pushed: list[Array],
) -> Iterator[Problem]:
    """Compare with central differences of two steps, where these agree: elsewhere is a kink."""
    try:
        near, far = (
            central_difference(lambda x: function(*x), values, tangents, step)
            for step in (2e-4, 5e-5)
        )
    except Exception:
        return
    if not len(near) == len(far) == len(pushed):
        return  # as many results as differ
    for one, other, found in zip(near, far, pushed, strict=True):
        if not one.shape == other.shape == found.shape:
            return  # as many elements as differ
        scale = np.max(np.abs(one), initial=1.0)
        if np.all(np.abs(one - other) <= 1e-7 * scale) and not np.all(
            np.abs(found - one) <= 1e-5 * scale
        ):
            yield Problem(kind, f"pushes {found!r}; differences give {one!r}")


def unlike_double(
    attempt: Attempt, outs: list[Array], tangents: list[Array], pushed: list[Array]
) -> Iterator[Problem]:
    """Compare single precision with double, where the value is well conditioned."""
    double = attempt.in_double()
    try:
        wide, push = ta.linearize(double.outputs, *double.values)
        found = push(*map(doubled, tangents))
    except Exception:
        return
    if [a.shape for a in wide] != [a.shape for a in outs]:
        return
    if not all(agree(a, b, 1e-5) for a, b in zip(outs, wide, strict=True)):
        return
    for one, other in zip(pushed, found, strict=True):
        if not agree(one, other, 1e-3, floor=1.0):
            yield Problem("single", f"pushes {one!r}; in double precision {other!r}")
