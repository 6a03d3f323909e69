"""Random functions of whole-array views, partial views and in-place operations, for the engines.

``python -m tests.fuzz.native --kind views`` looks for functions that go wrong: NumPy's engine is
compared with the function itself, to the bit, and native code with NumPy's engine.

Lines are drawn on plain arrays, one after the other, so that nearly all of them run. Few of the
names are returned: what the others stand for is memory that may be used again.
"""

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from attrs import define, field, frozen

import tape_ad as ta
from tape_ad.errors import CaptureError
from tape_ad.programs.engines import plans
from tests.fuzz.replays import differing, outcome
from tests.fuzz.statements import listed

__all__ = ["Function", "drawn_function", "small_parts", "unlike_eager"]

Array = Any
Point = tuple[Array, Array]

SHAPES = ((3,), (3,), (4,), (1,), (), (2, 3), (3, 3), (3, 1), (2, 1, 3), (65,), (8, 9), (9_000,))
DTYPES = ("f8", "f8", "f8", "f4", "c16")

WHOLE = listed(
    """
    {a}[:]; {a}[...]; {a}.ravel(); np.ravel({a}); {a}.reshape(-1); {a}.reshape({a}.shape);
    np.reshape({a}, {a}.shape[::-1]); np.squeeze({a}); {a}.T; {a}.mT; {a}.real; np.real({a});
    np.atleast_1d({a}); np.atleast_2d({a}); np.atleast_3d({a}); {a}[None]; {a}[..., None];
    np.expand_dims({a}, 0); np.swapaxes({a}, 0, -1); np.moveaxis({a}, 0, -1); np.transpose({a});
    {a}.T.T; {a}.astype({a}.dtype, copy=False); {a}[()]; np.positive({a});
    np.broadcast_to({a}, {a}.shape); {a}.squeeze(); {a}.conj()
    """
)
PARTIAL = listed(
    """
    {a}[1:]; {a}[:-1]; {a}[::-1]; {a}[::2]; {a}[0]; {a}[-1]; {a}[..., 0]; {a}[..., 1:];
    {a}[..., ::-1]; np.diagonal({a}); {a}.imag; {a}[:2]; np.flip({a}); {a}.T[0]; {a}[None, 1:];
    np.split({a}, 1)[0]; np.broadcast_to({a}, (2, *{a}.shape)); {a}.reshape(-1)[1:2];
    {a}.ravel()[::-1]; {a}[1:][:1]
    """
)
FRESH = listed(
    """
    {a} * {b}; {a} + {b}; {a} - {b}; {a} * 0.5; {a} + 1; {b} * {a} * {b}; np.tanh({a}); {a} * {a};
    {a}.copy(); np.copy({a}); np.where({a}.real > {b}.real, {a}, {b}); np.negative({a});
    np.sum({a}, axis=0); np.sum({a}); {a} @ {b}; np.cumsum({a}); np.sort({a}.real);
    np.concatenate([{a}, {b}]); np.zeros_like({a}); np.full_like({a}, 0.25); np.sin({a});
    {a}[i % len({a})]; np.maximum({a}.real, {b}.real); np.stack([{a}, {a}]); np.max({a}.real)
    """
)
CHANGES = listed(
    """
    {a} += 1; {a} *= 0.5; {a} -= {b}; {a} += {b}; {a} *= {b}; {a} /= 2; {a} += {a}; {a} *= {a};
    {a}[0] = {b}[-1]; {a}[k] = {b}[m]; {a}[k] *= 2; {a}[k] += {b}[m]; {a}[:] = {b};
    {a}[...] = 0.5; {a}[...] += {b}; {a}[:] *= {b}; {a}[1:] = {a}[:-1]; {a}[:-1] = {a}[1:];
    {a}[::-1] += {a}; {a}[:] = {a}[::-1]; {a}[1:] += {b}[1:]; {a}[:1] = {b}[:1] * 0.5;
    np.add({a}, {b}, out={a}); np.multiply({b}, {b}, out={a}); np.tanh({b}, out={a});
    np.negative({a}, out={a}); np.add({a}[1:], {a}[:-1], out={a}[1:]);
    np.multiply({a}, 2.0, out={a}[...]); {a}[{a}.real > 0.3] = 0.25; {a}[{b}.real > 0] *= 0.5;
    {a}[i % len({a})] = {b}[i % len({b})]; {a}[i[:1] % len({a})] += 0.5;
    {a}.real = 0.5; {a}.T[0] = 0.25; {a}.ravel()[0] = 2.0; {a}.reshape(-1)[1:] += 1; {a}[()] = {b};
    {a}.real[...] *= 2; np.sum({b}, axis=0, out={a}); {a}[..., 0] = {b}[..., -1];
    {a}[k], {a}[m] = {a}[m], {a}[k]; {a}[:], {b}[:] = {b}, {a}; np.subtract({b}, {a}, {a});
    np.sin({a}, out={b})
    """
)
KINDS = ((0.25, WHOLE), (0.38, PARTIAL), (0.64, FRESH), (1.0, CHANGES))


@frozen(eq=False)
class Function:
    """A function of two arrays and integers, with arguments.

    Attributes
    ----------
    lines : list of str
    given : callable
        The function.
    points : list of tuple
    """

    lines: list[str]
    given: Callable[..., Any]
    points: list[tuple[Any, ...]]

    def __str__(self) -> str:
        return "\n".join(self.lines)


@define(eq=False)
class Drawing:
    """A function while it is drawn, with what its names stand for."""

    rng: np.random.Generator
    space: dict[str, Any]
    lines: list[str] = field(factory=list)

    def one(self, of: Any) -> Any:
        """Choose one of a sequence."""
        return of[int(self.rng.integers(len(of)))]

    @property
    def names(self) -> list[str]:
        """The arrays that there are, the newest ones more often."""
        own = [name for name in self.space if name[0] == "a"]
        return [*own, *own[-2:]]

    def line(self) -> None:
        """Draw a line, and run it; one that NumPy refuses is left out."""
        share = self.rng.random()
        template = self.one(next(lines for most, lines in KINDS if share < most))
        a, b = self.one(self.names), self.one([*self.names, "y", "x"])
        line = template.replace("{a}", a).replace("{b}", b)
        for key in ("[k]", "[m]"):
            line = line.replace(key, f"[{self.one((0, -1, 1))}]")
        if template not in CHANGES:
            line = f"a{len(self.lines) + 1} = {line}"
        kept = {name: np.copy(value) for name, value in self.space.items() if name in {"x", "y"}}
        with contextlib.suppress(Exception):
            exec(line, {"np": np}, self.space)  # noqa: S102 - our own lines
            if all(is_small(value) for name, value in self.space.items() if name[0] == "a"):
                self.lines.append(line)
            else:
                self.space = {**kept, "i": self.space["i"]}
                exec("\n".join(self.lines), {"np": np}, self.space)  # noqa: S102 - the same

    def function(self) -> Callable[..., Any]:
        """Make a function that returns a few of the arrays."""
        names = list(dict.fromkeys(self.names[::-1]))
        count = int(self.rng.integers(1, 4))
        some = dict.fromkeys([names[0], *(self.one(names) for _ in range(count - 1))])
        self.lines.append(f"return {', '.join(some)},")
        body = "\n    ".join(self.lines)
        space: dict[str, Any] = {"np": np}
        exec(f"def function(x, y, i):\n    {body}", space)  # noqa: S102 - our own lines
        function: Callable[..., Any] = space["function"]
        return function


def is_small(value: Any) -> bool:
    """Tell whether an array and its numbers are small."""
    return bool(np.size(value) <= 20_000 and np.ndim(value) < 6 and np.all(np.abs(value) < 1e3))


def drawn_function(seed: int, number: int) -> Function:
    """Draw a function, and perhaps its gradient with it."""
    rng = np.random.default_rng([seed, number])
    drawing = Drawing(rng, {})
    shape, dtype = drawing.one(SHAPES), drawing.one(DTYPES)
    other = shape if rng.random() < 0.8 else shape[1:]
    points = [arguments(rng, shape, other, dtype) for _ in range(3)]
    x, y, i = points[0]
    drawing.space = {"x": x.copy(), "y": y.copy(), "i": i}
    for line in ("a0 = x.copy()", "a1 = x * y", "a2 = y + 0.5")[: int(rng.integers(1, 4))]:
        drawing.lines.append(line)
        exec(line, {"np": np}, drawing.space)  # noqa: S102 - our own lines
    for _ in range(int(rng.integers(3, 12))):
        drawing.line()
    plain = drawing.function()
    given = plain if rng.random() < 0.5 else with_gradient(plain)
    return Function(drawing.lines, given, [points[0], *points])


def arguments(
    rng: np.random.Generator, shape: tuple[int, ...], other: tuple[int, ...], dtype: str
) -> tuple[Array, Array, Array]:
    """Draw two arrays, and integers to index with."""
    arrays: list[Any] = []
    for each in (shape, other):
        drawn: Any = rng.uniform(-1.5, 1.5, each)
        if dtype == "c16":
            drawn = drawn + 1j * rng.uniform(-1.5, 1.5, each)
        arrays.append(np.asarray(drawn).astype(dtype))
    return arrays[0], arrays[1], rng.integers(0, 9, 2)


def with_gradient(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give what a function gives, and the gradient of the sum of all of it."""

    def total(x: Any, y: Any, i: Any) -> Any:
        parts = function(x, y, i)
        return sum([np.sum(np.real(part * (k + 0.5))) for k, part in enumerate(parts)]) + 0.0 * (
            np.sum(np.real(x)) + np.sum(np.real(y))
        )

    gradient = ta.grad(total, argnums=(0, 1))

    def both(x: Any, y: Any, i: Any) -> Any:
        return function(x, y, i), gradient(x, y, i)

    return both


def unlike_eager(function: Function, fast: Any) -> Iterator[str]:
    """Call a function and what it is compiled to, which is replayed for the last calls."""
    for point in function.points:
        wanted, given = outcome(function.given, point), outcome(fast, point)
        if isinstance(given, CaptureError):
            return
        for problem in differing(wanted, given, layouts=False):
            yield f"NumPy's engine: {problem.kind}: {problem.story}\n{function}"


@contextlib.contextmanager
def small_parts(function: Function, number: int) -> Iterator[None]:
    """Let every third function be gone through in parts, as if its arrays were large.

    Not those of complex numbers, the last of which NumPy multiplies in another way.
    """
    with pytest.MonkeyPatch.context() as patch:
        if number % 3 == 0 and function.points[0][0].dtype.kind == "f":
            patch.setattr(plans, "LARGE", 2)
            patch.setattr(plans, "PART", 8)
            patch.setattr(plans, "LINE", 8)
            patch.setattr(plans, "HEAVY", 8)
        yield
