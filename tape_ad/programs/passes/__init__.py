"""Making programs simpler, in small passes, each of which gives a program with the same results.

They are the same to the bit, for all arguments: nan, inf, signed zeros, dtypes and layouts too.
"""

from collections.abc import Callable
from typing import Any

from attrs import evolve

from tape_ad.programs.passes.constant_folding import literals_of, with_literals_computed
from tape_ad.programs.passes.copy_outputs import with_copies_for_the_caller
from tape_ad.programs.passes.cse import without_repetitions
from tape_ad.programs.passes.dead_code import without_unused
from tape_ad.programs.passes.identities import EMPTY
from tape_ad.programs.passes.products import UNITS
from tape_ad.programs.passes.rewriting import Rule, rewritten
from tape_ad.programs.passes.strength_reduction import IDLE, SQUARES
from tape_ad.programs.program.program import Program

__all__ = ["PASSES", "simplified"]

Pass = Callable[[Program], Program]

RULES: dict[Any, Rule] = {**EMPTY, **IDLE, **SQUARES, **UNITS}
"""What is found by a look at one call, all in one go through the program."""


def with_rules(program: Program) -> Program:
    """Apply all rules."""
    return rewritten(program, RULES, literals_of(program))


PASSES: dict[str, Pass] = {
    "what the function makes anew is copied for the caller": with_copies_for_the_caller,
    "calls on literals are computed": with_literals_computed,
    "calls that change nothing go": with_rules,
    "equal calls become one": without_repetitions,
    "what nobody uses goes": without_unused,
}
"""The passes by what they do, in their order."""


def simplified(program: Program) -> Program:
    """Simplify a program.

    Returns
    -------
    Program
        Its `history` has the name of each pass that changed something, with the program before it.
    """
    history = list(program.history)
    for name, simplify in PASSES.items():
        simpler = simplify(program)
        if simpler is not program:
            history.append((name, program))
            program = simpler
    return evolve(program, history=tuple(history))
