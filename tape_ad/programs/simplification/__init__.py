"""Making programs simpler, in small passes, each of which gives a program with the same results.

They are the same to the bit, for all arguments: nan, inf, signed zeros, dtypes and layouts too.
"""

from collections.abc import Callable, Iterable

from attrs import evolve

from tape_ad.programs.program import Program
from tape_ad.programs.simplification.equal import without_repetitions
from tape_ad.programs.simplification.factors import with_squares, without_idle_operands
from tape_ad.programs.simplification.literals import with_literals_computed
from tape_ad.programs.simplification.unchanged import without_empty_calls
from tape_ad.programs.simplification.unused import without_unused

__all__ = ["PASSES", "simplified"]

Pass = Callable[[Program], Program]

PASSES: dict[str, Pass] = {
    "what nobody uses goes": without_unused,
    "calls that give what they are given go": without_empty_calls,
    "factors of 1 go": without_idle_operands,
    "calls on literals are computed": with_literals_computed,
    "powers of 2 are squares": with_squares,
    "equal calls become one": without_repetitions,
    "what nobody uses any more goes": without_unused,
}
"""The passes by what they do, in their order."""


def simplified(program: Program, passes: Iterable[tuple[str, Pass]] | None = None) -> Program:
    """Simplify a program.

    Parameters
    ----------
    program : Program
    passes : iterable of (str, callable), optional
        What to do, in order, in place of all of `PASSES`.

    Returns
    -------
    Program
        Its `history` has the name of each pass that changed something, with the program before it.
    """
    history = list(program.history)
    for name, simplify in PASSES.items() if passes is None else passes:
        simpler = simplify(program)
        if simpler is not program:
            history.append((name, program))
            program = simpler
    return evolve(program, history=tuple(history))
