"""Random programs, compiled: what they give, call after call, beside what they give themselves.

python -m tests.fuzz.compiled --seconds 3600 --seed 0     look for programs that go wrong
python -m tests.fuzz.compiled --seed 0 --number 123       try one program again

A program is a function of two arrays, a float and an int, a few lines long: views, assignments,
branches and loops that depend on values. It is called with other values of the same shapes, with
zeros, ties, infinities and nan among them.
"""

import argparse
import functools
import time
import warnings
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
from attrs import frozen

import tape_ad as ta
from tests.fuzz.programs import COMMON, ORDERS, SHAPES, moderate, weights
from tests.fuzz.replays import Problem, Replays
from tests.fuzz.statements import Drawer, listed

__all__ = ["Program", "random_program", "tried"]

Array = Any

CONTROL = listed(
    """
    if np.sum({a}).real > 0.3: {a} *= 2.0; if np.any({a}.real > 1): {a}[...] = {b} * 0.5;
    while 2 < np.abs(np.sum({a})) < 99: {a} *= 0.5;
    for i in range(abs(int({a}.real.sum())) % 4): {a} += n; if {a}.real.max() > n: {a} -= 1.0;
    {a}[int(np.argmax({a})) % len({a})] += 1.0;
    for v in {a}.ravel(): n = max(n, v.real) if v == v else n; if k > 1: {a} **= 2;
    n = n * 2 if k % 2 else n - 1; k += int(n > 0); n = float({a}.real.sum()); {a}[k % 3] = n;
    {a} += k; {a} *= n; {a} = {a} ** k; {a} = {a} + n * {b}; {a} = k * {a} - n;
    {a} = np.where({a}.real > n, {a}, {b}); {a}[{a}.real > n] = k; {a} = {a}[{a}.real > 0];
    {a} = np.take({b}, k % 2, axis=0); {a} = np.roll({b}, k); {a} = np.repeat({b}, k % 3);
    {a} = {b}[np.argsort({b}.real, axis=None) % len({b})]; {a} = np.cumsum({b}, axis=k % 2);
    {a} = sum({b}); {a} = max({b}.ravel(), key=lambda v: v.real) * 1.0;
    {a} = np.linspace(n, n + 1, 3); {a} = np.stack([{a}.sum(), {b}.sum()]);
    {a} = np.full_like({b}, n); {a} = np.full({b}.shape, n); {a} = np.zeros({b}.shape);
    {a} = np.ones((k % 3, 2)); {a} = np.arange(3.0); {a} = np.eye(2) * n;
    {a} = np.arange(4.0).reshape(2, 2)[k % 2]; {a} = np.unique({b}.real) * 1.0; {a} = y; {a} = x;
    {a} = y[::-1]; {a} = np.linalg.inv({b}); {a} = recovered({b});
    {a} = np.clip({b}.real, 0, abs(n)); {a} = {b}[k];
    {a} = np.array([[1.0, 2.0], [3.0, 4.0]]).T * k; {a} = {b}.astype('f4'); {a} = {b} / n;
    {a} = n / {b}; {a} = np.nonzero({b})[0] * 1.0; {a} = ({b}.real > n) * 1.0;
    {a} = np.mod({b}.real, n); {a} = {b} * np.float64(n); {a} = {b} * np.float32(n);
    {a} = np.float64(n) * {b}.sum(); {a} = np.median({b}.real, axis=0);
    {a} = np.sort({b}.real, axis=None)[k:]; {a} = {b}.real.std();
    {a} = np.concatenate([{a}.ravel(), np.zeros(2)]);
    {a} = np.einsum('i,j', {b}.ravel(), {a}.ravel()); {a} = np.exp(np.clip({b}.real, -3, 3));
    {a} = np.tanh({b}); {a} = np.sqrt(np.abs({b})); {a} = {b} * y; {a} = np.outer({b}, y);
    {a} = np.dot({b}.ravel(), {b}.ravel()); {a} = np.prod({b}); {a} = x @ y;
    {a} = np.log1p(np.abs({b})) + y; {a} = np.maximum({b}.real, y.real);
    {a} = np.sum({b} * y, axis=-1); {a}[k % 2] += 1.0; {a}[k % 2] *= {b}[k % 2]; {a} = {b}[k % 2];
    {a}[k % 2:] -= n; np.add({a}[k % 2], 1.0, out={a}[0]); {a} = {b}[..., k % 2];
    {a}[..., k % 2] /= 2
    """
)
"""What depends on values, on numbers, on the other argument."""

SPECIAL = (0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 2.0)

MORE = """
def recovered(a):
    try:
        return np.linalg.inv(a)
    except (np.linalg.LinAlgError, ValueError):
        return a + 1.0
"""
exec(MORE, COMMON)  # noqa: S102 - our own lines


@frozen(eq=False)
class Program:
    """Lines that run on arguments of certain shapes.

    Attributes
    ----------
    lines : tuple of str
    mode : str
        A key of `MODES`: what is compiled.
    seed : int
        From which the arguments are drawn.
    """

    lines: tuple[str, ...]
    mode: str
    seed: int

    def function(self) -> Callable[..., Any]:
        """Make the function."""
        body = "\n    ".join(("a0 = x * 1.0", *self.lines, "return results(locals())"))
        space = {**COMMON, "results": results, "constant": np.copy}
        exec(f"def program(x, y, n, k):\n    {body}", space)  # noqa: S102 - our own lines
        function: Callable[..., Any] = MODES[self.mode](space["program"])
        return function

    def arguments(self, number: int) -> tuple[Array, Array, float, int]:
        """Draw the arguments of a call, always the same for the same number."""
        form = np.random.default_rng(self.seed)
        drawer = Drawer(form, {})
        shape = drawer.one(SHAPES)
        dtype = drawer.one(("f8", "f8", "f8", "f4", "c16"))
        order = drawer.one(ORDERS)
        other = drawer.one((shape, shape, shape[1:], (), tuple(1 for _ in shape)))
        overlap = form.random()
        rng = np.random.default_rng([self.seed, number])
        x = order(drawn(rng, shape, dtype, number))
        y = drawn(rng, other, dtype, number)
        if overlap < 0.1 and x.ndim:
            y = x[::-1]
        elif overlap < 0.15:
            y = x
        return x, y, float(drawn(rng, (), "f8", number)), int(rng.integers(0, 4))

    def without(self, line: int) -> "Program":
        return Program(self.lines[:line] + self.lines[line + 1 :], self.mode, self.seed)

    def __str__(self) -> str:
        x, y, *_ = self.arguments(0)
        head = f"{self.mode} of x: {x.dtype}{x.shape}@{x.strides}, y: {y.dtype}{y.shape}"
        return "\n".join([head, "a0 = x * 1.0", *self.lines])


def drawn(rng: np.random.Generator, shape: tuple[int, ...], dtype: str, number: int) -> Array:
    """Draw an array: every third one has special numbers, and some have ties."""
    values: Any = rng.uniform(-1.5, 1.5, shape)
    if dtype == "c16":
        values = values + 1j * rng.uniform(-1.5, 1.5, shape)
    if number % 3 == 2:
        values = np.where(rng.random(shape) < 0.4, rng.choice(SPECIAL, shape), values)
    elif number % 5 == 4:
        values = np.round(values)
    return np.asarray(values).astype(dtype)


def results(names: dict[str, Any]) -> dict[str, Any]:
    """Give what is assigned to names."""
    arrays = "ax"
    return {
        name: value
        for name, value in names.items()
        if name in {"n", "k"} or (name[0] in arrays and name[1:].isdigit())
    }


def total(given: dict[str, Any]) -> Any:
    """Add up all arrays with random weights."""
    found: Any = 0.0
    for name, value in given.items():
        if name[0] == "a" and hasattr(value, "dtype") and value.dtype.kind in "fc":
            found = found + np.sum(np.real(value * weights(name, value)))
    return found


def plain(program: Callable[..., Any]) -> Callable[..., Any]:
    return program


def gradient(program: Callable[..., Any]) -> Callable[..., Any]:
    def scalar(x: Any, y: Any, n: Any, k: Any) -> Any:
        return total(program(x, y, n, k)) + 0.0 * np.sum(np.real(x))

    return ta.value_and_grad(scalar)


def second(program: Callable[..., Any]) -> Callable[..., Any]:
    def product(x: Any, y: Any, n: Any, k: Any) -> Any:
        def scalar(z: Any) -> Any:
            return total(program(z, y, n, k)) + 0.0 * np.sum(np.real(z))

        def along(z: Any) -> Any:
            return np.sum(np.real(ta.grad(scalar)(z) * 0.5)) + 0.0 * np.sum(np.real(z))

        return ta.grad(along)(x)

    return product


def pushed(program: Callable[..., Any]) -> Callable[..., Any]:
    def both(x: Any, y: Any, n: Any, k: Any) -> Any:
        def scalar(x: Any, y: Any) -> Any:
            return total(program(x, y, n, k)) + 0.0 * np.sum(np.real(x)) + 0.0 * np.sum(np.real(y))

        return ta.jvp(scalar, (x, y), (x * 0.5, y + 1.0))

    return both


def by_both(program: Callable[..., Any]) -> Callable[..., Any]:
    def scalar(x: Any, y: Any, n: Any, k: Any) -> Any:
        return (
            total(program(x, y, n, k)) + 0.0 * np.sum(np.real(x)) + 0.0 * np.sum(np.real(y)) + 0 * n
        )

    return ta.grad(scalar, argnums=(0, 1, 2))


MODES: dict[str, Callable[[Any], Any]] = {
    "values": plain,
    "gradient": gradient,
    "second order": second,
    "jvp": pushed,
    "gradient by both": by_both,
}


def random_program(seed: int, number: int, mode: str | None = None) -> Program:
    """Draw a program, most lines of which run and can be captured."""
    rng = np.random.default_rng([seed, number])
    drawn_mode = ("values", "values", *MODES)[int(rng.integers(len(MODES) + 2))]
    program = Program((), mode or drawn_mode, int(rng.integers(2**31)))
    values = program.function()
    drawer = Drawer(rng, {})
    for _ in range(int(rng.integers(2, 12))):
        values = Program(program.lines, "values", program.seed).function()
        args = program.arguments(0)
        drawer.names = arrays_of(values(*args))
        line: str = control(drawer) if rng.random() < 0.4 else drawer.line()
        longer = Program((*program.lines, line), program.mode, program.seed)
        if runs(longer, args):
            program = longer
    return program


def runs(program: Program, args: tuple[Any, ...]) -> bool:
    """Tell whether a program runs, gives small arrays, and can be captured."""
    try:
        found = Program(program.lines, "values", program.seed).function()(*args)
        ta.compile(program.function())(*args)
    except Exception:
        return False
    return all(moderate(value) for value in arrays_of(found).values())


def arrays_of(given: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in given.items() if hasattr(value, "dtype")}


def control(drawer: Drawer) -> str:
    """Draw a line that depends on values."""
    names = [name for name, value in drawer.names.items() if value.dtype.kind in "fc"]
    if not names:
        return drawer.line()
    template: str = drawer.one(CONTROL)
    a, b = str(drawer.one(names)), str(drawer.one(names))
    if template.startswith("{a} = ") and drawer.rng.random() < 0.7:
        a = f"a{drawer.count}"
        drawer.count += 1
        template = template.removeprefix("{a}").replace("{a}", b)
        return a + template.replace("{b}", b)
    return template.replace("{a}", a).replace("{b}", b)


CALLS = (0, 0, 0, 1, 2, 3, 4, 5, 5, 6, 7, 8, 2, 1, 0, 9, 10, 11)
"""The arguments of the calls: the first ones so that there is something to be replayed."""


def problem_of(program: Program, found: Counter[str] | None = None) -> Problem | None:
    """Look for a problem with a program."""
    replays = Replays(program.function)
    calls = [functools.partial(program.arguments, number) for number in CALLS]
    try:
        problem = next(replays.problems(calls), None)
    except Exception as error:
        problem = Problem(f"fails {type(error).__name__}", str(error))
    if found is not None:
        found["replays"] += replays.replays
        found["refused" if replays.refusal else "compiled"] += 1
        if replays.refusal:
            found[f"refused: {replays.refusal[:90]}"] += 1
    return problem


def smallest(program: Program, problem: Problem) -> tuple[Program, Problem]:
    """Leave out lines while the problem stays of its kind."""
    shrinks = True
    while shrinks:
        shrinks = False
        for line in reversed(range(len(program.lines))):
            shorter = program.without(line)
            left = problem_of(shorter)
            if left is not None and left.kind == problem.kind:
                program, problem, shrinks = shorter, left, True
                break
    return program, problem


def tried(
    seed: int, number: int, found: Counter[str] | None = None, mode: str | None = None
) -> tuple[Program, Problem | None]:
    """Draw a program and look for a problem with it; the same for the same numbers."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        program = random_program(seed, number, mode)
        return program, problem_of(program, found)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.compiled", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--mode", choices=[*MODES], help="compile only this")
    parser.add_argument("--number", type=int, help="try one program alone")
    chosen = parser.parse_args()
    end, found, kinds = time.monotonic() + chosen.seconds, Counter[str](), Counter[str]()
    number = chosen.number or 0
    while time.monotonic() < end:
        program, problem = tried(chosen.seed, number, found, chosen.mode)
        if problem is not None:
            kinds[problem.kind] += 1
            if kinds[problem.kind] <= 10:
                program, problem = smallest(program, problem)
                print(f"--seed {chosen.seed} --number {number}: {problem.kind}: {problem.story}")
                print(f"{program}\n", flush=True)
        number += 1
        if chosen.number is not None:
            break
    print(f"{number} programs, {sum(kinds.values())} problems: {dict(kinds)}")
    for kind, count in found.most_common(40):
        print(f"{count:8} {kind}")


if __name__ == "__main__":
    main()
