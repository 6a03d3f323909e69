"""Whether a replay gives what the function gives."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from attrs import define, field

from tape_ad.base.errors import ProgramMismatchError
from tape_ad.base.trees import paired
from tape_ad.programs.capture.capture import Capture
from tape_ad.programs.capture.comparison import alike_functions
from tape_ad.programs.capture.constants import Constants
from tape_ad.programs.program.program import Call, Guard, Program, Step, Value, replaced, written
from tape_ad.record.messages.callers import caller

__all__ = ["check_alike", "differ", "first_difference", "same_numbers"]


@define(eq=False)
class CallSites:
    """What stands in place of a comparison, and notes the line of each step."""

    lines: list[str] = field(factory=list)

    def check(self, capture: Capture, step: Step) -> None:
        """Note where a step is from."""
        self.lines.append(caller())


def first_difference(
    program: Program,
    function: Callable[..., Any],
    rebuild: Callable[[Sequence[Any]], tuple[tuple[Any, ...], dict[str, Any]]],
    leaves: Sequence[Any],
) -> str:
    """Name the first call of a program that gives something else than the function has there.

    Parameters
    ----------
    program : Program
        As it was captured.
    function : callable
    rebuild : callable
        Makes the arguments, positional and by name, out of the leaves.
    leaves : sequence of array and number

    Returns
    -------
    str
        The value, the call and the line; nothing where all are alike.
    """
    lines = CallSites()
    comparison: Any = lines
    capture = Capture(program.name, comparison, Constants(program.name, ()))
    inputs = zip(leaves, program.inputs, strict=True)
    args, kwargs = rebuild([capture.input(leaf, value.name) for leaf, value in inputs])
    try:
        now = capture.program(capture.run(function, args, kwargs))
    except Exception as error:
        return f"when it is captured once more, it raises {type(error).__name__}: {error}"
    ours, theirs = Run(program, leaves), Run(now, leaves)
    for step, other, line in zip(program.steps, now.steps, lines.lines, strict=False):
        with np.errstate(all="ignore"):
            try:
                what = ours.parted(step, theirs, other)
            except Exception as error:
                what = f"there, the program raises {type(error).__name__}: {error}"
        if what:
            return f"they part in {line}: {what}"
    if len(program.steps) != len(now.steps):
        return f"the function does {len(now.steps)} steps now, in place of {len(program.steps)}"
    if differ(replaced(program.output, ours.values), replaced(now.output, theirs.values)):
        return "the calls are the same, and what is no result of them has changed"
    return ""


@define(eq=False, init=False)
class Run:
    """A program that is run step by step.

    Attributes
    ----------
    values : dict
    numbers : dict
    """

    values: dict[Value, Any]
    numbers: dict[Value, int]

    def __init__(self, program: Program, leaves: Sequence[Any]) -> None:
        self.values = dict(zip(program.inputs, leaves, strict=True))
        self.values |= {constant.value: constant.data for constant in program.constants}
        self.numbers = program.numbers()

    def parted(self, step: Step, theirs: "Run", other: Step) -> str:
        """Do a step, and the function's in its place; say in what they differ."""
        if isinstance(step, Guard) or isinstance(other, Guard):
            both = isinstance(step, Guard) and isinstance(other, Guard)
            return "" if both else "Python asks for a value in one of them only"
        if not alike_functions(step.function, other.function):
            return (
                f"{self.shown(step)} in the program is "
                f"{written(other, theirs.numbers)} in the function now"
            )
        ours, now = self.done(step), theirs.done(other)
        for one, two in zip(ours, now, strict=False):
            if what := difference_of(one, two, same_bits):
                return f"{self.shown(step)} gives another value: {what}"
        return ""

    def shown(self, step: Call) -> str:
        """Write a call as the listing of the program does."""
        given = ", ".join(f"%{self.numbers[value]}: {value}" for value in step.outputs)
        return f"{given} = {written(step, self.numbers)}"

    def done(self, step: Call) -> tuple[Any, ...]:
        """Do a call."""
        with np.errstate(**(step.errors or {})):
            args, kwargs = replaced(step.args, self.values), replaced(step.kwargs, self.values)
            out = step.function(*args, **kwargs)
        outs = tuple(out) if step.several else (out,)
        self.values |= zip(step.outputs, outs, strict=True)
        return outs


def check_alike(name: str, ours: Any, theirs: Any, exactly: bool = True) -> None:
    """Compare what a replay gives with what the function gives.

    Parameters
    ----------
    name : str
        The function's.
    ours, theirs : tree
        The replay's result first.
    exactly : bool
        To the bit; else up to what rounding may have done, half of the digits of an array's
        largest number.

    Raises
    ------
    ProgramMismatchError
    """
    try:
        pairs = paired(theirs, ours)
    except ValueError as error:
        raise ProgramMismatchError(
            f"a replay of {name} gives another structure than the function: {error}"
        ) from None
    for path, wanted, got in pairs:
        difference = difference_of(got, wanted, same_bits if exactly else same_numbers)
        if difference:
            where = f" at {path}" if path else ""
            raise ProgramMismatchError(
                f"a replay of {name} gives other numbers than the function{where}: {difference}"
            )


def differ(one: Any, other: Any) -> bool:
    """Tell whether two results are not the same bits."""
    try:
        check_alike("", one, other)
    except ProgramMismatchError:
        return True
    return False


def difference_of(got: Any, wanted: Any, same: Callable[[Any, Any], Any]) -> str:
    """Say in what two leaves differ; nothing where they do not."""
    if type(got) is not type(wanted):
        return f"a {type(got).__name__} in place of a {type(wanted).__name__}"
    if not isinstance(wanted, (np.ndarray, np.generic, float, complex, int)):
        return "" if got == wanted else f"{got!r} in place of {wanted!r}"
    one, two = np.asarray(got), np.asarray(wanted)
    if (one.shape, one.dtype) != (two.shape, two.dtype):
        return f"{one.dtype}{list(one.shape)} in place of {two.dtype}{list(two.shape)}"
    differs = ~same(one, two)
    if not differs.any():
        return ""
    place = most_different(one, two, differs)
    at = f" at {list(map(int, place))}" if place else ""
    return (
        f"{np.count_nonzero(differs)} of {differs.size}; the largest difference{at} is "
        f"{one[place]!r} in place of {two[place]!r}"
    )


def same_bits(one: Any, two: Any) -> Any:
    """Tell for each element whether it is the same: nan is like nan, and -0.0 unlike 0.0."""
    if one.dtype.kind not in "fc":
        return np.asarray(one == two)
    same = np.asarray((one == two) | (np.isnan(one) & np.isnan(two)))
    for part in (np.real, np.imag) if one.dtype.kind == "c" else (np.real,):
        zero = (part(one) == 0) & (part(two) == 0)
        same &= ~zero | (np.signbit(part(one)) == np.signbit(part(two)))
    return same


def same_numbers(one: Any, two: Any) -> Any:
    """Tell for each element whether rounding may have made the difference, signs of 0 included."""
    same = np.asarray(one == two)
    if one.dtype.kind not in "fc":
        return same
    same |= np.isnan(one) & np.isnan(two)
    size = np.abs(two)
    largest = np.max(size, initial=0, where=np.isfinite(size))
    return same | (np.abs(gaps(one, two)) <= np.sqrt(np.finfo(one.dtype).eps) * largest)


def gaps(one: Any, two: Any) -> Any:
    """Subtract in the widest dtype that there is; nan for what is no number, or inf in both."""
    wide = np.complex128 if one.dtype.kind == "c" else np.longdouble
    with np.errstate(all="ignore"):
        return np.asarray(one.astype(wide) - two.astype(wide))


def most_different(one: Any, two: Any, differs: Any) -> tuple[Any, ...]:
    """Find where two arrays differ most; a nan on one side only is the most that there is."""
    sizes = np.abs(gaps(one, two))
    sizes = np.where(differs, np.where(np.isnan(sizes), np.inf, sizes), -1.0)
    return tuple(np.unravel_index(int(np.argmax(sizes)), sizes.shape))
