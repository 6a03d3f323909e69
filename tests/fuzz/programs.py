"""Random programs of views, copies and assignments, compared with NumPy and with differences.

python -m tests.fuzz.programs --seconds 3600 --seed 0     look for programs that go wrong
python -m tests.fuzz.programs --seed 0 --number 123       try one program again

A program is a few lines of Python. They run on arrays and on handles; a line that fails is left
out, in the same way by both. What goes wrong is shown with as few lines as do it.
"""

import argparse
import copy
import re
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from types import CodeType
from typing import Any

import numpy as np
from attrs import define, field, frozen

import tape_ad as ta
from tape_ad.errors import TapeError
from tests.fuzz.statements import HELPERS, Drawer, is_array

__all__ = ["Problem", "Program", "Run", "problem_of", "random_program", "tried"]

Array = Any

SHAPES = ((), (1,), (3,), (4,), (2, 2), (2, 3), (3, 3), (2, 1, 2), (3, 2, 2), (0, 2), (0,))
ORDERS: tuple[Callable[[Array], Array], ...] = (
    lambda x: x,
    lambda x: x,
    np.asfortranarray,
    lambda x: np.repeat(x, 2, axis=-1)[..., ::2] if x.ndim else x,
    lambda x: x[::-1].copy()[::-1] if x.ndim else x,
)
"""Ways for an array to lie in memory."""

COMMON: dict[str, Any] = {"np": np, "ta": ta, "copy": copy}
COMMON["sliding"] = np.lib.stride_tricks.sliding_window_view
exec(HELPERS, COMMON)  # noqa: S102 - our own lines
STRICT = ("output array is not acceptable",)
"""What NumPy refuses for how an array lies in memory."""


@frozen
class Problem:
    """What is wrong with a program: a kind of problem in a word, and the rest of the story."""

    kind: str
    story: str


@frozen(eq=False)
class Program:
    """Lines that run on a leaf.

    Attributes
    ----------
    lines : tuple of str
        They use the leaf `x`, and ``a0 = x * 1.0``.
    leaf : array
    """

    lines: tuple[str, ...]
    leaf: Array
    codes: tuple[CodeType, ...] = field(init=False)

    @codes.default
    def _codes(self) -> tuple[CodeType, ...]:
        return tuple(compile(line, "<program>", "exec") for line in ("a0 = x * 1.0", *self.lines))

    def without(self, line: int) -> "Program":
        return Program(self.lines[:line] + self.lines[line + 1 :], self.leaf)

    def __str__(self) -> str:
        leaf = self.leaf
        head = f"x: {leaf.dtype}{leaf.shape}, strides {leaf.strides}"
        return "\n".join([head, "a0 = x * 1.0", *self.lines])


@define(eq=False)
class Run:
    """A program under way.

    Attributes
    ----------
    program : Program
    names : dict
        What the lines see.
    record : ComputationRecord or None
        That of the leaf, where it is a handle.
    errors : list
        What each line has raised so far, or None.
    """

    program: Program
    names: dict[str, Any]
    record: Any = None
    errors: list[Exception | None] = field(factory=list, init=False)

    @classmethod
    def on(cls, program: Program, leaf: Array, record: Any = None) -> "Run":
        """Begin a run on an array or a handle."""
        constant = copy.copy if record is None else record.constant
        return cls(program, {**COMMON, "x": leaf, "constant": constant}, record)

    @classmethod
    def recorded(cls, program: Program) -> "Run":
        """Begin a run on a handle of a fresh record."""
        record = ta.ComputationRecord()
        return cls.on(program, record.tensor(program.leaf.copy("K")), record)

    def step(self) -> None:
        """Run the next line."""
        try:
            exec(self.program.codes[len(self.errors)], self.names)  # noqa: S102 - our own lines
            self.errors.append(None)
        except Exception as error:
            self.errors.append(error.with_traceback(None))  # whose frames would keep handles alive

    def finish(self, skipped: Sequence[int] = ()) -> "Run":
        """Run the lines that are left, but for some."""
        while len(self.errors) < len(self.program.codes):
            if len(self.errors) in skipped:
                self.errors.append(None)
            else:
                self.step()
        return self

    def arrays(self) -> dict[str, Array]:
        """Give what is assigned to names: handles, or arrays."""
        return {
            name: value
            for name, value in self.names.items()
            if name[0] in "ax" and name[1:].isdigit() and hasattr(value, "dtype")
        }

    def values(self) -> dict[str, Array]:
        """Give copies of the arrays."""
        return {name: np.copy(primal(value)) for name, value in self.arrays().items()}

    def total(self, seed: int = 0) -> Any:
        """Add up all arrays with random weights."""
        total: Any = np.zeros(())
        for name, value in self.arrays().items():
            if value.dtype.kind in "fc":
                total = total + np.sum(np.real(value * weights(name, value, seed)))
        return total


def primal(value: Any) -> Any:
    while isinstance(value, ta.Tensor):
        value = value.data
    return value


def weights(name: str, value: Array, seed: int = 0) -> Array:
    """Draw weights for an array, always the same for the same name and shape."""
    rng = np.random.default_rng([seed, int(name[1:]), *value.shape])
    drawn: Any = rng.uniform(0.5, 1.5, value.shape)
    if value.dtype.kind == "c":
        drawn = drawn + 1j * rng.uniform(0.5, 1.5, value.shape)
    return drawn.astype(value.dtype) if value.dtype.itemsize < 8 else drawn


def random_program(seed: int, number: int) -> Program:
    """Draw a program, most lines of which NumPy runs."""
    rng = np.random.default_rng([seed, number])
    drawer = Drawer(rng, {})
    shape = drawer.one(SHAPES)
    leaf: Any = rng.uniform(-1.5, 1.5, shape)
    dtype = drawer.one(("f8", "f8", "f4", "c16"))
    if dtype == "c16":
        leaf = leaf + 1j * rng.uniform(-1.5, 1.5, shape)
    program = Program((), drawer.one(ORDERS)(np.asarray(leaf).astype(dtype)))
    run = Run.on(program, program.leaf.copy("K")).finish()
    for _ in range(int(rng.integers(3, 15))):
        drawer.names = run.arrays()
        longer = Program((*program.lines, drawer.line()), program.leaf)
        ahead = Run.on(longer, longer.leaf.copy("K")).finish()
        keeps = ahead.errors[-1] is None or rng.random() < 0.1
        if keeps and all(moderate(value) for value in ahead.arrays().values()):
            program, run = longer, ahead
    return program


def moderate(value: Any) -> bool:
    """Tell whether an array is small, and its numbers too."""
    if not is_array(value):
        return True
    return value.size <= 200 and value.ndim <= 6 and bool(np.all(np.abs(value) < 1e3))


def problem_of(program: Program, found: Counter[str] | None = None) -> Problem | None:
    """Look for a problem with a program."""
    found = Counter() if found is None else found
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return next(problems_of(program, found), None)


def problems_of(program: Program, found: Counter[str]) -> Iterator[Problem]:
    """Compare a program's values after each line, and its derivatives in the end."""
    plain = Run.on(program, program.leaf.copy("K"))
    ours = Run.recorded(program)
    middle = len(program.codes) // 2
    kept: list[tuple[Any, Array]] = []
    grads: Any = None
    for number in range(len(program.codes)):
        plain.step()
        ours.step()
        expected, error = plain.errors[-1], ours.errors[-1]
        if (expected is None) != (error is None):
            line = program.lines[number - 1]
            if any(words in str(expected) for words in STRICT):
                found["stricter"] += 1
                return
            if isinstance(error, TapeError) or refuses(error):
                found[f"refused: {kind_of(error)}"] += 1
                return
            yield Problem("raises", f"{line}: ours {error!r}; NumPy's {expected!r}")
            return
        yield from differing(plain, ours, number)
        if number == middle:
            total = ours.total()
            if isinstance(total, ta.Tensor):
                grads = total.grad()
                handles = [a for a in ours.arrays().values() if type(a) is ta.Tensor]
                kept = [(a, grads.wrt(a)) for a in handles if is_variable(a)]
    for handle, before in kept:
        if not np.array_equal(grads.wrt(handle), before, equal_nan=True):
            yield Problem("earlier", f"{handle!r} has another gradient after it was assigned to")
    yield from wrong_derivatives(program, ours, found)


def is_variable(handle: Any) -> bool:
    return bool(handle.record[handle.index].function != "constant")


def refuses(error: Any) -> bool:
    return isinstance(error, (AttributeError, NotImplementedError)) and "handle" in str(error)


def kind_of(error: Any) -> str:
    """Sort a refusal of ours by its words, without the numbers of nodes."""
    words = re.sub(r"%?\d+|\(.*?\)|np\.\S+", "", str(error).partition(";")[0])
    return f"{type(error).__name__}: {' '.join(words.split())[:100]}"


def differing(plain: Run, ours: Run, number: int) -> Iterator[Problem]:
    """Compare all arrays after a line."""
    line = ("a0 = x * 1.0", *plain.program.lines)[number]
    here, there = plain.arrays(), ours.arrays()
    if here.keys() != there.keys():
        yield Problem("names", f"{line}: {sorted(here)} and {sorted(there)}")
        return
    for name, expected in here.items():
        value = primal(there[name])
        if np.shape(value) != expected.shape or np.asarray(value).dtype != expected.dtype:
            story = f"{np.asarray(value).dtype}{np.shape(value)}; {expected.dtype}{expected.shape}"
            yield Problem("kind", f"{name} after {line}: {story}")
        elif isinstance(value, np.generic) != isinstance(expected, np.generic):
            yield Problem("number", f"{name} after {line}: {value!r}; NumPy has {expected!r}")
        elif not np.allclose(value, expected, rtol=precision(expected), atol=1e-13, equal_nan=True):
            yield Problem("value", f"{name} after {line}: {value!r}; NumPy has {expected!r}")


def precision(value: Array) -> float:
    return 1e-13 if value.dtype.itemsize >= 8 else 1e-5


def wrong_derivatives(program: Program, ours: Run, found: Counter[str]) -> Iterator[Problem]:
    """Compare the gradient of the total with a jvp and with differences, and for second order."""
    total, leaf = ours.total(), program.leaf
    gradient = (
        total.grad().wrt(ours.names["x"]) if type(total) is ta.Tensor else np.zeros_like(leaf)
    )
    rng = np.random.default_rng(1)
    along: Any = rng.uniform(0.5, 1.0, leaf.shape)
    if leaf.dtype.kind == "c":
        along = along + 1j * rng.uniform(0.5, 1.0, leaf.shape)
    along = along.astype(leaf.dtype)

    def traced(x: Any) -> Any:
        return Run.on(program, x, getattr(x, "record", None)).finish().total()

    pulled = float(np.sum(np.real(np.conj(gradient) * along)))
    if not np.isfinite(pulled) or abs(pulled) > 1e6:
        found["large"] += 1
        return
    single = leaf.dtype == np.float32
    pushed = float(ta.jvp(traced, (leaf,), (along,))[1])
    scale = 1.0 + abs(pulled) + abs(float(primal(total)))
    if abs(pulled - pushed) > (1e-3 if single else 1e-9) * scale:
        yield Problem("modes", f"pulls {pulled}, pushes {pushed}")
    double = leaf.astype(np.float64) if single else leaf
    slopes = [slope(traced, double, along, step) for step in (1e-4, 5e-5)]
    if not abs(slopes[0] - slopes[1]) < 1e-6 * scale:
        found["rough"] += 1
        return
    if abs(slopes[1] - pulled) > (1e-2 if single else 3e-6) * scale:
        yield Problem("difference", f"pulls {pulled}, differences give {slopes[1]}")
    found["differentiated"] += 1
    if found["differentiated"] % 4 or single:
        return
    seconds, second = second_order(traced, leaf, along)
    if abs(seconds[0] - seconds[1]) > 1e-5 * (scale + abs(second)) or abs(second) > 1e5:
        found["rough twice"] += 1
    elif abs(second - seconds[1]) > 1e-4 * (scale + abs(second)):
        yield Problem("second", f"second {second}, differences give {seconds[1]}")
    else:
        found["differentiated twice"] += 1


def slope(f: Callable[[Array], Any], x: Array, along: Array, step: float) -> float:
    """Difference a function of an array along a direction."""
    ends = []
    for side in (step, -step):
        moved = x.copy("K")  # in the same order, for which views there are depends on that
        moved += side * along
        ends.append(float(f(moved)))
    return (ends[0] - ends[1]) / (2 * step)


def second_order(
    total: Callable[[Any], Any], leaf: Array, along: Array
) -> tuple[list[float], float]:
    """Differentiate a directional derivative, by nesting and by differences."""

    def first(x: Any) -> Any:
        return np.sum(np.real(np.conj(ta.grad(guarded)(x)) * along))

    def guarded(x: Any) -> Any:
        return total(x) + 0.0 * np.sum(np.real(x))

    gradient = ta.grad(lambda x: first(x) + 0.0 * np.sum(np.real(x)))(leaf)
    found = float(np.sum(np.real(np.conj(gradient) * along)))
    return [slope(first, leaf, along, step) for step in (1e-4, 5e-5)], found


def smallest(program: Program, problem: Problem) -> tuple[Program, Problem]:
    """Leave out lines while the problem stays of its kind."""
    shrinks = True
    while shrinks:
        shrinks = False
        for line in reversed(range(len(program.lines))):
            shorter = program.without(line)
            left = found_in(shorter)
            if left is not None and left.kind == problem.kind:
                program, problem, shrinks = shorter, left, True
                break
    return program, problem


def found_in(program: Program, found: Counter[str] | None = None) -> Problem | None:
    """Look for a problem with a program; an error outside of its lines is one too."""
    try:
        return problem_of(program, found)
    except Exception as error:
        return Problem(f"sweep {type(error).__name__}", str(error))


def tried(
    seed: int, number: int, found: Counter[str] | None = None
) -> tuple[Program, Problem | None]:
    """Draw a program and look for a problem with it; the same for the same numbers."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        program = random_program(seed, number)
    return program, found_in(program, found)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.programs", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--number", type=int, help="try one program alone")
    chosen = parser.parse_args()
    end, found, kinds = time.monotonic() + chosen.seconds, Counter[str](), Counter[str]()
    number = chosen.number or 0
    while time.monotonic() < end:
        program, problem = tried(chosen.seed, number, found)
        if problem is not None:
            kinds[problem.kind] += 1
            if kinds[problem.kind] <= 20:
                program, problem = smallest(program, problem)
                print(f"--seed {chosen.seed} --number {number}: {problem.kind}: {problem.story}")
                print(f"{program}\n", flush=True)
        number += 1
        if chosen.number is not None and chosen.seconds == 60.0:
            break
    print(f"{number} programs, {sum(kinds.values())} problems: {dict(kinds)}")
    for kind, count in found.most_common():
        print(f"{count:8} {kind}")


if __name__ == "__main__":
    main()
