"""Making programs simpler, in small passes, each of which gives a program with the same results.

They are the same to the bit, for all arguments: nan, inf, signed zeros, dtypes and layouts too.
"""

from collections.abc import Callable
from typing import Any

from attrs import evolve

from tape_ad.programs.passes.rewriting import Rule
from tape_ad.programs.passes.rolling import roll
from tape_ad.programs.passes.simplifications import (
    IDENTITIES,
    NEUTRAL_OPERANDS,
    SQUARES,
    UNIT_ROWS,
    copy_returned_constants,
    eliminate_common_subexpressions,
    eliminate_dead_code,
    fold_constants,
)
from tape_ad.programs.program import Program
from tape_ad.programs.program.trace import Trace

Pass = Callable[[Program], Program]

RULES: dict[Any, Rule] = {**IDENTITIES, **NEUTRAL_OPERANDS, **SQUARES, **UNIT_ROWS}
"""What is found by a look at one call, all in one go through the program."""


def simplify_calls(program: Program) -> Program:
    """Fold constants, and apply all rules to the other calls of a program, once."""
    return fold_constants(program, RULES)


PASSES: dict[str, Pass] = {
    "copy of returned constants": copy_returned_constants,
    "rolling of loops": roll,
    "constant folding, identities and strength reduction": simplify_calls,
    "common subexpression elimination": eliminate_common_subexpressions,
    "dead code elimination": eliminate_dead_code,
}
"""The passes by what they do, in their order."""

OF_TRACES = frozenset({copy_returned_constants, roll})
"""The passes that do not go through all steps of a trace, which would be made by each anew."""

LISTED = 10_000
"""How many steps a program has at most that is kept in a history: a longer one takes megabytes."""


def simplified(program: Program) -> Program:
    """Put a program through each of the passes once.

    Returns
    -------
    Program
        Its `history` has the name of each pass that changed something, with the program before it
        unless that is very long.
    """
    history = list(program.history)
    for name, simplify in PASSES.items():
        if simplify not in OF_TRACES and isinstance(program.steps, Trace):
            program = evolve(program, steps=tuple(program.steps))
        simpler = simplify(program)
        if simpler is not program:
            history += [(name, program)] * (len(program.steps) <= LISTED)
            program = simpler
    return evolve(program, history=tuple(history))
