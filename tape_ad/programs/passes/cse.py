"""Making equal calls once."""

import math
from typing import Any

import numpy as np

from tape_ad.base.trees import structure_of
from tape_ad.programs.passes.rewriting import Rewriting
from tape_ad.programs.program.program import Call, Program, Value

__all__ = ["eliminate_common_subexpressions"]

ITSELF = frozenset({Value, str, bool, int, type(None), type(Ellipsis), type})
"""Types whose instances are told apart by `==`, and from those of other types by their type."""

PLAIN = frozenset({dict, list, tuple})
SILENT = dict.fromkeys(("divide", "over", "under", "invalid"), "ignore")


def eliminate_common_subexpressions(program: Program) -> Program:
    """Let the first of several equal calls stand for all of them."""
    rewriting = Rewriting(program)
    first: dict[Any, Any] = {}
    for old in program.steps:
        step = rewriting.rewired(old) if rewriting.by else old
        if not isinstance(step, Call):
            rewriting.keep(step)
            continue
        mark = mark_of(step)
        try:
            earlier = first.get(mark)
        except TypeError:  # the function has no hash
            mark = (Alone(step.function), *mark[1:])
            earlier = first.get(mark)
        if earlier is None:
            first[mark] = rewriting.keep(step)
        elif not stands_for(earlier, step, rewriting):
            rewriting.keep(step)
    return rewriting.finished()


def stands_for(earlier: Call, call: Call, rewriting: Rewriting) -> bool:
    """Let what an earlier call has given stand for what an equal one would give, if it can."""
    if call.errors not in (earlier.errors, SILENT):
        return False  # it might warn where the earlier one does not
    pairs = list(zip(call.outputs, earlier.outputs, strict=True))
    if not all(rewriting.may_replace(ours, theirs) for ours, theirs in pairs):
        return False
    for ours, theirs in pairs:
        rewriting.replace(ours, theirs)
    return True


def mark_of(call: Call) -> Any:
    """Give what equal calls, and only those, have in common."""
    marks = [arg if type(arg) is Value else part(arg) for arg in call.args]
    if not call.kwargs:
        return (call.function, *marks)
    return (call.function, *marks, part(dict(call.kwargs)))


def part(tree: Any) -> Any:
    """Give what equal arguments, and only those, have in common."""
    kind: Any = type(tree)
    if kind is Value or kind in ITSELF:
        return kind, tree
    if kind is float:
        return kind, tree, math.copysign(1.0, tree)  # the zeros are equal, but not the same
    if kind is slice:
        return kind, part((tree.start, tree.stop, tree.step))
    if isinstance(tree, (np.bool_, np.number)):
        return kind, tree.dtype, tree.tobytes()
    structure = structure_of(kind)
    if structure is not None and (kind in PLAIN or kind.__module__.startswith("tape_ad.")):
        below = tuple([part(each) for each in structure.values(tree)])
        return (kind, below, part(tuple(tree))) if kind is dict else (kind, below)
    return (kind, tree) if isinstance(tree, np.dtype) else Alone(tree)


class Alone:
    """A mark of an object that is equal to itself only."""

    __slots__ = ("object",)

    def __init__(self, one: Any) -> None:
        self.object = one

    def __eq__(self, other: object) -> bool:
        """Tell whether it is the same object."""
        return type(other) is Alone and self.object is other.object

    def __hash__(self) -> int:
        """Hash the identity."""
        return id(self.object)
