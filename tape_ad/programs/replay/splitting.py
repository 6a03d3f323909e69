"""A program that gives a value and a pull, in two: what it takes to know the value, and the rest.

What the pull needs of the first part is kept in arrays, its residuals.
"""

from collections.abc import Callable, Sequence
from typing import Any

from attrs import define, field

from tape_ad.base.trees import flatten
from tape_ad.programs.engines import engine_named
from tape_ad.programs.passes import simplified
from tape_ad.programs.program import Call, Program, Step, Value, root_of, values_in
from tape_ad.programs.replay.matching import builder, matcher
from tape_ad.programs.replay.paths import Path, Paths

Replay = Callable[..., Any]


@define(eq=False)
class Split:
    """A program in two parts.

    Attributes
    ----------
    paths : Paths
    path : Path
        Its output is a pair, of a value and of what depends on the seeds, its first argument.
    engine, threads
        As of the compiled function.
    match, match_seeds : callable
        See `matching.matcher`: for the arguments without the seeds, and for the seeds.
    forward : callable
        ``forward(*inputs)``, without the seeds, gives the leaves of the value, and the residuals.
    second : list of Step
        Those of the second part.
    residuals : list of Value
    count : int
        How many arrays there are in the value.
    """

    paths: Paths
    path: Path
    engine: str
    threads: int
    match: Replay
    match_seeds: Replay
    forward: Replay
    second: list[Step]
    residuals: list[Value]
    count: int
    _builders: tuple[Replay, Replay] = field(init=False)
    _backward: tuple[list[Any], Replay] | None = field(default=None, init=False)

    @_builders.default
    def _(self) -> tuple[Replay, Replay]:
        value, rest = self.program.output
        return builder(value), builder(rest)

    @property
    def program(self) -> Program:
        """The whole, simplified."""
        simple = self.path.simple
        assert simple is not None  # noqa: S101 - of a path that is replayed
        return simple

    @classmethod
    def of(
        cls, paths: Paths, path: Path, args: tuple[Any, ...], engine: str, threads: int
    ) -> "Split | None":
        """Divide the program of a path; None where it cannot be."""
        program: Any = path.simple
        seeds = len(flatten(args[0]))
        late = set(program.inputs[:seeds])
        first: list[Step] = []
        second: list[Step] = []
        for step in program.steps:
            if late.isdisjoint(step.operands):
                first.append(step)
                continue
            second.append(step)
            if isinstance(step, Call):
                if any(out.owner is not None and root_of(out) not in late for out in step.outputs):
                    return None  # it shows memory of the first part
                late.update(step.outputs)
        value, rest = program.output
        outputs = values_in((value,))
        if not late.isdisjoint(outputs):
            return None
        known = {*program.inputs, *(each.value for each in program.constants)}
        needed = [each for step in second for each in step.operands] + values_in((rest,))
        residuals = [each for each in dict.fromkeys(needed) if each not in late | known]
        given, output = program.inputs[seeds:], (*outputs, *residuals)
        replay = path.free_variables.guarding(made(program, given, first, output, engine, threads))
        matchers = matcher(args[1:], {}), matcher(args[:1], {})
        return cls(paths, path, engine, threads, *matchers, replay, second, residuals, len(outputs))

    def run(self, args: tuple[Any, ...]) -> Any:
        """Give the value, what pulls, and what is read; None where it is not for now."""
        path, leaves = self.path, self.match(args, {})
        if leaves is None or path.replays + 1 >= path.due or path not in self.paths.all:
            return None
        try:
            out = self.forward(*leaves)
        except Exception:  # which the function itself will raise, or catch
            return None
        if type(out) is not tuple:
            return None
        path.replays += 1
        kept = out[self.count :]

        def pull(seeds: Any) -> Any:
            given = self.match_seeds((seeds,), {})
            if given is None:
                return None
            rest = self.backward(kept)(*given, *leaves, *kept)
            return self._builders[1](rest) if type(rest) is tuple else None

        return self._builders[0](out[: self.count]), pull, path.free_variables

    def backward(self, residuals: Sequence[Any]) -> Replay:
        """Give ``backward(*inputs, *residuals)``, for residuals that lie as these do."""
        layouts = [layout_of(each) for each in residuals]
        known = self._backward
        if known is None or known[0] != layouts:
            fresh = [Value.like(each) for each in residuals]
            by = dict(zip(self.residuals, fresh, strict=True))
            steps = [step.replaced(by) for step in self.second]
            rest = tuple([by.get(each, each) for each in values_in((self.program.output[1],))])
            inputs = (*self.program.inputs, *fresh)
            replay = made(self.program, inputs, steps, rest, self.engine, self.threads)
            known = self._backward = layouts, replay
        return known[1]


def layout_of(array: Any) -> Any:
    """Describe how an array or a number lies in memory."""
    return type(array), getattr(array, "shape", ()), getattr(array, "strides", ())


def made(
    program: Program,
    inputs: Sequence[Value],
    steps: Sequence[Step],
    output: Any,
    engine: str,
    threads: int,
) -> Replay:
    """Make a replay of a part of a program."""
    used = {each for step in steps for each in step.operands} | set(values_in(output))
    constants = tuple([each for each in program.constants if each.value in used])
    part = Program(program.name, tuple(inputs), constants, tuple(steps), output)
    replay: Replay = engine_named(engine)(simplified(part), threads)
    return replay
